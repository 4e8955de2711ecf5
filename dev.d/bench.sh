#: bench [proxy|queue|locks] [OPTION...] -- measure pawld beside nginx and haproxy, what its queue costs, or the locks
#:
#: proxy: pawld, nginx and haproxy over four endpoints, at 64 and at 512 connections. queue: 1000 connections for 40
#: places, beside 40 connections that need not queue, with 2, 8 and 64 threads. Without a name: these two. Rounds of 4 s,
#: interleaved. The servers are Debian's, unpacked below build/peers, not installed. Options are those of
#: `pawl testbed` (--json, --rounds, --time, --out); the report is build/bench.json unless --out says otherwise.
#: Paths in options are relative to where you stand.
#:
#: locks: this library's locks beside other libraries'. Options are those of `pawl bench`: --quick takes a minute, the
#: default two hours, `./dev bench locks --list` names cases and locks.
. dev.d/builds.sh
. dev.d/peers.sh

more_help_bench() {
    case ${1-} in
        locks) help_of_pawl bench ;;
        *) help_of_pawl testbed ;;
    esac
}

# Tells whoever watches what it is that takes a while.
bench_build() {
    [ ! -t 2 ] || printf 'building (build/gcc) ...\r' >&2
    make_build gcc "$@" || die 'the build failed'
    [ ! -t 2 ] || printf '%24s\r' '' >&2
}

bench_locks() {
    need build bench >&2
    bench_build cli/pawl
    become_pawl bench "$@"
}

# The scenarios name the peers from the repository's top, where the user may not stand.
bench_peers() {
    local peer
    for peer in nginx haproxy; do
        printf '%s\n' --side "$peer=$(path_for_caller "bench/proxy/$peer")"
    done
}

verb_bench() {
    local scenarios=(connections-64 connections-512 queue) peers=true scenario arguments=()
    case ${1-} in
        proxy)
            scenarios=(connections-64 connections-512)
            shift
            ;;
        queue)
            scenarios=(queue) peers=false
            shift
            ;;
        locks)
            shift
            bench_locks "$@"
            ;;
        '' | -*) ;;
        *) bad_usage "no benchmark is called '$1'; there are proxy, queue and locks" bench ;;
    esac
    "$peers" && mapfile -t arguments < <(bench_peers)
    for scenario in "${scenarios[@]}"; do
        arguments+=(--scenario "$(path_for_caller "bench/proxy/$scenario.cfg")")
    done
    need build >&2
    bench_build cli/pawl
    judge_testbed "$@"
    "$peers" && need_peers >&2
    bench_build cli/pawl balancer/pawld
    become_pawl testbed "${arguments[@]}" --time 4s --out "$(path_for_caller build/bench.json)" "$@"
}
