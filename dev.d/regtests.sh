# HAProxy's own regression tests on both builds of it, by its own script with Debian's varnishtest, and what differs
# between the two. The script leaves out what these builds cannot do (TLS, Lua).
. dev.d/archive.sh

regtests_seconds=600
regtests_regressions=() regtests_flaky=()

need_varnishtest() {
    unpack_debs peers/varnish "$(dpkg --print-architecture)" varnish libvarnishapi3 libpcre2-8-0
}

# Runs them on both and tells what differs. Status 1 when a test fails with Pawl's locks alone, or none passes before.
regtests_compare() {
    local worse
    regtests_run before
    regtests_run after
    regtests_tell before
    regtests_tell after
    [ "$(regtests_count before passed)" -gt 0 ] || die "not one of HAProxy's regression tests passes before"
    mapfile -t worse < <(regtests_worse)
    [ ${#worse[@]} -eq 0 ] || regtests_judge "${worse[@]}"
    [ ${#regtests_flaky[@]} -eq 0 ] || say "  passed only when run again: ${regtests_flaky[*]}"
    if [ ${#regtests_regressions[@]} -gt 0 ]; then
        say "  worse with Pawl's locks: ${regtests_regressions[*]} (build/log/haproxy-regtests-after.log)"
        return 1
    fi
    say "  no test that passes before fails after"
}

# regtests_run SIDE [SUFFIX TEST...]: all of them or those, with their results in build/field/regtests-SIDE[SUFFIX], one
# `TEST RESULT` a line. The script's status only tells that some failed.
regtests_run() {
    local side=$1 suffix=${2-}
    local log=$logs/haproxy-regtests-$side$suffix.log result=build/field/regtests-$side$suffix
    mkdir -p "$logs"
    bounded "$regtests_seconds" env -C "build/field/haproxy-$side" \
        PATH="$root/build/field/haproxy-$side:$root/bench/field:$PATH" HAPROXY_PROGRAM=haproxy VTEST_PROGRAM=varnishtest \
        sh scripts/run-regtests.sh --v --j "$(nproc)" "${@:3}" >"$log" 2>&1 </dev/null || true
    awk '
        $1 == "Add" && $2 == "test:" { result[$3] = "not-run" }
        /^#+ +top +TEST .* (passed|FAILED|skipped|TIMED OUT)/ && $4 in result { result[$4] = tolower($5) }
        END { for (test in result) print test, result[test] }' "$log" | sort >"$result"
}

regtests_count() {
    awk -v side="build/field/regtests-$1" -v result="$2" '$2 == result { n++ } END { print n + 0 }' "build/field/regtests-$1"
}

regtests_tell() {
    local result counts=''
    for result in passed failed timed not-run skipped; do
        counts+=", $(regtests_count "$1" "$result") ${result/timed/timed out}"
    done
    say "regression tests $1: ${counts#, }"
}

# Tests that passed before and did not after.
regtests_worse() {
    awk 'NR == FNR { after[$1] = $2; next }
        $2 == "passed" && after[$1] != "passed" { print $1 }' \
        build/field/regtests-after build/field/regtests-before
}

# regtests_judge TEST...: runs them twice more on both sides. A test is worse when it fails again after and passes before
# each time; else it is flaky.
regtests_judge() {
    local test again
    say "  passed before and not after: $*; once more, twice on both"
    for again in 1 2; do
        regtests_run before "-again$again" "$@"
        regtests_run after "-again$again" "$@"
    done
    for test in "$@"; do
        if regtests_passed_twice before "$test" && ! regtests_passed_twice after "$test"; then
            regtests_regressions+=("$test")
        else
            regtests_flaky+=("$test")
        fi
    done
}

# Did test $2 pass on side $1 both times?
regtests_passed_twice() {
    [ "$(cat "build/field/regtests-$1-again1" "build/field/regtests-$1-again2" | grep -cxF "$2 passed")" -eq 2 ]
}

regtests_json() {
    local side comma=''
    printf '{\n'
    for side in before after; do
        printf '   "%s": {"passed": %s, "failed": %s, "timed_out": %s, "not_run": %s, "skipped": %s},\n' "$side" \
            "$(regtests_count "$side" passed)" "$(regtests_count "$side" failed)" "$(regtests_count "$side" timed)" \
            "$(regtests_count "$side" not-run)" "$(regtests_count "$side" skipped)"
    done
    printf '   "worse_after": %s,\n   "flaky": %s\n  }' "$(json_list "${regtests_regressions[@]}")" "$(json_list "${regtests_flaky[@]}")"
}

json_list() {
    local item comma=''
    printf '['
    for item in "$@"; do
        printf '%s%s' "$comma" "$(json_text "$item")"
        comma=', '
    done
    printf ']'
}
