#: field-test haproxy-locks [OPTION...] -- HAProxy on its own locks and on Pawl's: measure both, run its own tests
#:
#: Builds HAProxy from Debian's source package twice below build/field: as it is, and with its plock.h replaced by an
#: include of Pawl's. Measures both in interleaved rounds, 1000 connections for 40 places, then runs its regression tests
#: on both; a test that only fails with Pawl's locks gives status 1. Some 8 minutes. docs/field-test.md says more.
#: A relative FILE is relative to where you stand.
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
    { : >"$field_out.new"; } 2>/dev/null || die "no report can be written to $field_out; name another place with --out"
    trap field_end EXIT
    need build field
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

field_end() {
    rm -f "$field_out.new"
    processes_end
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

# Judges all of it here, since `pawl testbed`, which would refuse the same, is built only after this.
field_value() {
    case $1 in
        --out)
            field_out=$(given_path "$2")
            if [ -d "$field_out" ]; then
                field_out=${field_out%/}/haproxy-locks.json
            fi
            ;;
        --threads)
            field_numbers "$2" ||
                bad_usage "--threads takes up to 8 different numbers from 1 to 64, such as 2,8,64, not '$2'" field-test
            field_threads=${2//,/ }
            ;;
        --rounds)
            whole_number "$2" 100 || bad_usage "--rounds takes a number from 1 to 100, not '$2'" field-test
            field_load+=("$1" "$2")
            ;;
        --time)
            field_duration "$2" || bad_usage "--time takes a time from 10ms to 60m, such as 4s, not '$2'" field-test
            field_load+=("$1" "$2")
            ;;
    esac
}

# Is $1 a list of numbers of threads? HAProxy 2.6 is built for 64 at most, a scenario takes 8 numbers.
field_numbers() {
    local list="$1," seen=' ' n count=0
    while [ -n "$list" ]; do
        n=${list%%,*} list=${list#*,} count=$((count + 1))
        whole_number "$n" 64 && [ "$count" -le 8 ] && [[ $seen != *" $n "* ]] || return 1
        seen+="$n "
    done
}

# Is $1 a time that `pawl testbed` takes for a round?
field_duration() {
    local -A us=([ms]=1000 [s]=1000000 [m]=60000000)
    [[ $1 =~ ^(0*[1-9][0-9]{0,7})(ms|s|m)$ ]] || return 1
    local span=$((10#${BASH_REMATCH[1]} * ${us[${BASH_REMATCH[2]}]}))
    [ "$span" -ge 10000 ] && [ "$span" -le 3600000000 ]
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
