#: check [--quick] -- build and run all tests; ends with a line `N passed, N failed`
#:
#: Every build is tested: gcc, clang, the sanitizers, the three kinds of locks, arm64 under qemu; then the headers by
#: themselves, layout, lint and a short fuzz run. A suite that fails does not stop the others. --quick: gcc's tests and
#: the layout, within five minutes. docs/testing.md has a table of the suites and their minutes.
. dev.d/builds.sh
. dev.d/arm64.sh
. dev.d/format.sh
. dev.d/lint.sh
. dev.d/fuzz.sh

passed=0 failed=0 skipped=0
short_fuzz_seconds=10

verb_check() {
    local start=$SECONDS
    case "$*" in
        '') need_for_check ;;
        --quick) need build format ;;
        *) bad_usage "check does not know '$*'" check ;;
    esac
    suite gcc tests_of gcc
    suite format one_test format check_format
    if [ $# -eq 0 ]; then
        suite locks check_locks
        suite headers run_tests gcc headers --suite compile
        suite clang tests_of clang
        suite lint one_test lint lint_sources
        suite asan tests_of asan --timeout-multiplier 3
        suite tsan tests_of tsan --timeout-multiplier 5
        suite no-backoff other_locks no-backoff
        suite pthread other_locks pthread
        suite fuzz short_fuzz
        suite arm64 arm64_tests
    fi
    say "all in $(minutes_since "$start") minutes"
    summary
    [ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
}

# The closing line, in the form that CI reads.
summary() {
    if [ "$skipped" -gt 0 ]; then
        say "$passed passed, $failed failed, $skipped skipped"
    else
        say "$passed passed, $failed failed"
    fi
}

# suite NAME COMMAND...: runs it, adds what it counted to the sums and prints a line. The command leaves its counts in
# suite_passed, suite_failed and suite_skipped; none at all counts as a failure.
suite() {
    local name=$1 start=$SECONDS line
    shift
    suite_passed=0 suite_failed=0 suite_skipped=0
    [ -t 1 ] && printf '%-11s ...\r' "$name"
    "$@" || [ "$suite_failed" -gt 0 ] || suite_failed=1
    if [ $((suite_passed + suite_failed + suite_skipped)) -eq 0 ]; then
        say "$name ran no test" >&2
        suite_failed=1
    fi
    passed=$((passed + suite_passed)) failed=$((failed + suite_failed)) skipped=$((skipped + suite_skipped))
    line="$suite_passed ok, $suite_failed bad"
    [ "$suite_skipped" -eq 0 ] || line+=", $suite_skipped left out"
    printf '%-11s %-32s %6s min\n' "$name" "$line" "$(minutes_since "$start")"
}

# one_test NAME COMMAND...: a check that passes or fails as a whole.
one_test() {
    if logged "$@"; then
        suite_passed=$((suite_passed + 1))
    else
        suite_failed=$((suite_failed + 1))
    fi
}

# tests_of BUILD [MESON-TEST-ARGUMENT...]: makes the build and runs its tests.
tests_of() {
    local name=$1
    shift
    make_build "$name" && run_tests "$name" "$name" --no-suite compile "$@"
}

# other_locks KIND: a build whose pawld has that kind of locks. That the balancer works with each kind is tested by every
# full build, which makes all three; here it is only that the option gives the right one, and that it serves.
other_locks() {
    make_build "$1" balancer/pawld tests/balancer/cli_test tests/balancer/reuse_test &&
        run_tests "$1" "$1" "balancer cli ($1)" 'balancer reuse'
}

# run_tests BUILD LOG [MESON-TEST-ARGUMENT...]: the tests of a build that is made; the log's name tells runs apart.
run_tests() {
    local dir log=$2 status=0 wrapper=()
    dir=$(build_dir "$1")
    # The thread sanitizer wants its memory in known places.
    [ "$1" = tsan ] && setarch "$(uname -m)" -R true 2>/dev/null && wrapper=(setarch "$(uname -m)" -R)
    shift 2
    rm -f "$dir/meson-logs/$log.json"
    logged "$log-tests" env \
        ASAN_OPTIONS=detect_stack_use_after_return=1 \
        UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
        TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 \
        "${wrapper[@]}" meson test -C "$dir" --no-rebuild --print-errorlogs --logbase "$log" "$@" || status=1
    [ -f "$dir/meson-logs/$log.json" ] || return 1
    count_tests "$dir/meson-logs/$log.json"
    return "$status"
}

# Adds the tests in a log of Meson's (a JSON object a line) to the suite's counts. A test program that names its test
# functions, as cmocka's do, counts each of them; another counts as one. One that failed counts at least one failure.
count_tests() {
    local ok bad out
    read -r ok bad out < <(awk '
        function count(text,    line) { line = $0; return gsub(text, "", line) }
        !/"result": "/ { next }
        { ok = count("\\[       OK \\]"); bad = count("\\[  FAILED  \\] [A-Za-z_]"); skip = count("\\[  SKIPPED \\] [A-Za-z_]") }
        # The summary names failed and skipped tests once more.
        { bad = int((bad + 1) / 2); skip = int((skip + 1) / 2) }
        /"result": "(OK|EXPECTEDFAIL)"/ { passed += ok + skip ? ok : 1; skipped += skip; next }
        /"result": "SKIP"/ { skipped++; next }
        { passed += ok; failed += bad ? bad : 1; skipped += skip }
        END { print passed + 0, failed + 0, skipped + 0 }' "$1")
    suite_passed=$((suite_passed + ok)) suite_failed=$((suite_failed + bad)) suite_skipped=$((suite_skipped + out))
}

# The unit tests on a CPU without the atomic instructions of ARMv8.1 and on one that has them.
arm64_tests() {
    local cpu status=0
    if ! cross_builds_here; then
        say 'arm64: the builds above are arm64 builds already; the cross build is left out'
        suite_skipped=1
        return
    fi
    if ! arm64_sysroot; then
        say 'arm64: left out, since its libraries cannot be fetched now'
        suite_skipped=1
        return
    fi
    make_build arm64 || return 1
    for cpu in cortex-a57 neoverse-n1; do
        QEMU_CPU=$cpu run_tests arm64 "arm64-$cpu" --suite unit --timeout-multiplier 5 || status=1
    done
    return "$status"
}

# The locks' source under the model checker: what does not take long, whole, and ten to the fifth of schedules of eight
# threads. `pawl check` by itself goes further.
check_locks() {
    local name
    make_build gcc cli/pawl || return 1
    for name in pairs exact eight; do
        one_test "check-$name" build/gcc/cli/pawl check --suite "$name"
    done
}

# Every fuzz target for some seconds.
short_fuzz() {
    local target
    make_fuzz_targets || return 1
    for target in $(fuzz_targets); do
        one_test "fuzz-$target" fuzz_one "$target" "$short_fuzz_seconds"
    done
}
