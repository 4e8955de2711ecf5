#: field-test haproxy-locks [OPTION...] -- HAProxy on its own locks and on Pawl's: measure both, run its own tests
#:
#: Builds HAProxy from Debian's source package twice below build/field: as it is, and with its plock.h replaced by an
#: include of Pawl's. Measures both in interleaved rounds, 1000 connections for 40 places, then runs its regression tests
#: on both; a test that only fails with Pawl's locks gives status 1. Some 8 minutes. docs/field-test.md says more.
#:
#:   --threads N[,N...]   HAProxy threads (2,8,64)        --rounds N, --time T   rounds (5) and the load of one (4s)
#:   --out FILE           the report (build/field/haproxy-locks.json)   --json   print the report, not the table
#:   --regtests           only the regression tests       --no-regtests          only the measurement
. dev.d/builds.sh
. dev.d/processes.sh
. dev.d/haproxy.sh
. dev.d/regtests.sh

field_out=build/field/haproxy-locks.json
field_threads='' field_json=false field_measure=true field_regtests=true
field_load=(--time 4s)
field_regression_tests=null

verb_field-test() {
    local status=0
    field_arguments "$@"
    exec 3>&1
    "$field_json" && exec 1>&2 # standard output is the report's alone
    mkdir -p build/field
    { : >"$field_out.new"; } 2>/dev/null || die "no report can be written to $field_out"
    need build field
    trap processes_end EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    trap 'exit 129' HUP
    processes_begin
    make_build gcc cli/pawl || die 'the build failed'
    haproxy_builds
    "$field_regtests" && { need_varnishtest || die 'without varnishtest --no-regtests still measures'; }
    field_title
    rm -f build/field/testbed.json
    "$field_measure" && field_run
    if "$field_regtests"; then
        regtests_compare || status=1
        field_regression_tests=$(regtests_json)
        field_report
    fi
    "$field_json" && cat "$field_out" >&3
    return "$status"
}

field_arguments() {
    [ "${1-}" = haproxy-locks ] || bad_usage "no field test is called '${1-}'; there is haproxy-locks" field-test
    shift
    while [ $# -gt 0 ]; do
        case $1 in
            --json) field_json=true ;;
            --regtests) field_measure=false ;;
            --no-regtests) field_regtests=false ;;
            --threads=* | --rounds=* | --time=* | --out=*)
                set -- "${1%%=*}" "${1#*=}" "${@:2}"
                continue
                ;;
            --threads | --rounds | --time | --out)
                [ -n "${2-}" ] || bad_usage "$1 needs a value" field-test
                field_value "$1" "$2"
                shift
                ;;
            *) bad_usage "field-test does not know '$1'" field-test ;;
        esac
        shift
    done
    "$field_measure" || "$field_regtests" ||
        bad_usage '--regtests and --no-regtests leave nothing to do together' field-test
}

# Rounds and times are judged by `pawl testbed`, before it runs anything.
field_value() {
    local n
    case $1 in
        --out)
            field_out=$2
            if [ -d "$2" ]; then
                field_out=${2%/}/haproxy-locks.json
            fi
            ;;
        --threads)
            for n in ${2//,/ }; do
                # HAProxy 2.6 is built for 64 at most.
                whole_number "$n" 64 || bad_usage "--threads takes numbers from 1 to 64, such as 2,8,64, not '$2'" field-test
                field_threads+=" $n"
            done
            ;;
        *) field_load+=("$1" "$2") ;;
    esac
}

field_title() {
    say "HAProxy $(haproxy_version), Debian's source, $(haproxy_compiler)"
    say "before: its own plock.h; after: pawl/plock.h, commit $(field_commit)$(field_modified && echo ', modified')"
}

field_commit() {
    git rev-parse --short=12 HEAD 2>/dev/null || echo unknown
}

# Do the headers that HAProxy is built with differ from the commit's?
field_modified() {
    [ -n "$(git status --porcelain -- include 2>/dev/null)" ]
}

# The measurement. HAProxy's configuration is the testbed's; its maxconn is far above what is used, since HAProxy keeps
# no idle connection once a fifth of its descriptors are in use.
field_run() {
    local scenario=build/field/haproxy-locks.cfg table=1
    "$field_json" && exec {table}>/dev/null
    sed "s/^threads .*/threads        = ${field_threads:-2 8 64}/" bench/field/haproxy-locks.cfg >"$scenario"
    bounded 3600 build/gcc/cli/pawl testbed --scenario "$scenario" --out "$field_out" "${field_load[@]}" \
        >&"$table" || die 'the measurement failed'
    mv "$field_out" build/field/testbed.json
    field_report
}

# Writes the report: the testbed's with an object `field_test` in front, which says what was compared.
field_report() {
    local raw=build/field/testbed.json modified=false
    field_modified && modified=true
    {
        printf '{\n "field_test": {\n  "name": "haproxy-locks",\n  "haproxy": %s,\n  "compiler": %s,\n' \
            "$(json_text "$(haproxy_version)")" "$(json_text "$(haproxy_compiler)")"
        printf '  "make": %s,\n  "pawl_commit": %s,\n  "pawl_headers_modified": %s,\n  "regression_tests": %s\n }' \
            "$(json_text "$(haproxy_options)")" "$(json_text "$(field_commit)")" "$modified" "$field_regression_tests"
        if [ -f "$raw" ]; then
            printf ',\n'
            sed 1d "$raw"
        else
            printf '\n}\n'
        fi
    } >"$field_out.new" || die "the report could not be written to $field_out.new"
    mv "$field_out.new" "$field_out"
}

json_text() {
    local text=${1//\\/\\\\}
    text=${text//\"/\\\"}
    printf '"%s"' "${text//[[:cntrl:]]/ }"
}
