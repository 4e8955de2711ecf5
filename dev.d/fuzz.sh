#: fuzz [SECONDS [TARGET...]] -- feed the parsers made-up input (a minute each); a crash is kept below build/fuzz-found
#:
#: SECONDS is the time for each target. A target is a line in fuzz/meson.build; it starts from fuzz/corpus/TARGET, and
#: new inputs that reach new code are kept in build/fuzz-corpus/TARGET for the next run. The target `locks` is another
#: thing: ten million executions of eight threads on the locks under `pawl check`, from a new seed, however long they take.
. dev.d/builds.sh

# Builds the fuzz targets, and nothing else of that build.
make_fuzz_targets() {
    local programs
    configure fuzz || return 1
    mapfile -t programs < <(ninja -C build/fuzz -t targets all | sed -n 's,^\(fuzz/fuzz_[a-z0-9_]*\): .*,\1,p')
    [ ${#programs[@]} -gt 0 ] || return 1
    make_build fuzz "${programs[@]}"
}

# The targets, by the programs built for them.
fuzz_targets() {
    local program
    for program in build/fuzz/fuzz/fuzz_*; do
        [ -f "$program" ] && [ -x "$program" ] && echo "${program##*/fuzz_}"
    done
    return 0
}

# fuzz_one TARGET SECONDS
fuzz_one() {
    local corpus=build/fuzz-corpus/$1 seeds=fuzz/corpus/$1
    mkdir -p "$corpus" "build/fuzz-found"
    [ -d "$seeds" ] || seeds=
    "build/fuzz/fuzz/fuzz_$1" -max_total_time="$2" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
        -artifact_prefix="build/fuzz-found/$1-" "$corpus" ${seeds:+"$seeds"}
}

# Schedules of eight threads on the locks: as many for each of the suite's eight cases.
fuzz_locks() {
    build/gcc/cli/pawl check --suite eight -n 1250000 --seed "$1"
}

verb_fuzz() {
    local seconds=${1-60} target known seed status=0
    whole_number "$seconds" 100000 || bad_usage "fuzz takes a number of seconds from 1 to 100000, not '$seconds'" fuzz
    [ $# -eq 0 ] || shift
    for target in "$@"; do
        [ "$target" = locks ] && continue
        if [[ $target = */* ]] || [ ! -d "fuzz/corpus/$target" ] || [ ! -f "fuzz/$target.c" ]; then
            bad_usage "no fuzz target '$target'; there are: $(echo fuzz/corpus/* | sed 's,fuzz/corpus/,,g') locks" fuzz
        fi
    done
    need build check
    make_fuzz_targets || die 'the build of the fuzz targets failed'
    known=$(fuzz_targets)
    [ -n "$known" ] || die 'there is no fuzz target in build/fuzz/fuzz'
    # shellcheck disable=SC2086
    [ $# -gt 0 ] || set -- $known locks
    for target in "$@"; do
        if [ "$target" = locks ]; then
            seed=$(date +%s)
            make_build gcc cli/pawl || die 'the build of pawl failed'
            say "fuzz locks: ten million executions from seed $seed"
            logged fuzz-locks fuzz_locks "$seed" || status=1
            grep -h '^eight' build/log/fuzz-locks.log || true
            continue
        fi
        grep -qx -- "$target" <<<"$known" || die "the target '$target' has not been built; there are: ${known//$'\n'/ }"
        say "fuzz $target for $seconds s"
        logged "fuzz-$target" fuzz_one "$target" "$seconds" || status=1
        grep -h 'stat::number_of_executed_units' "build/log/fuzz-$target.log" || true
    done
    return "$status"
}
