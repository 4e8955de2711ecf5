#: bench [proxy|queue|locks] [OPTION...] -- measure pawld beside nginx and haproxy, what its queue costs, or the locks
#:
#: proxy: pawld, nginx and haproxy over four endpoints, at 64 and at 512 connections. queue: 1000 connections for 40
#: places, beside 40 connections that need not queue, with 2, 8 and 64 threads. Without a name: these two. Rounds of 4 s,
#: interleaved. The servers are Debian's, unpacked below build/peers, not installed. Options are those of
#: `pawl testbed` (--json, --rounds, --time, --out); the report is build/bench.json unless --out says otherwise.
#:
#: locks: this library's locks beside other libraries'. Options are those of `pawl bench`: --quick takes a minute, the
#: default two hours, `./dev bench locks --list` names cases and locks.
. dev.d/builds.sh
. dev.d/peers.sh

bench_locks() {
    need build bench >&2
    make_build gcc cli/pawl || die 'the build failed'
    exec build/gcc/cli/pawl bench "$@"
}

verb_bench() {
    local scenarios=(connections-64 connections-512 queue) scenario arguments=()
    case ${1-} in
        proxy)
            scenarios=(connections-64 connections-512)
            shift
            ;;
        queue)
            scenarios=(queue)
            shift
            ;;
        locks)
            shift
            bench_locks "$@"
            ;;
        '' | -*) ;;
        *) bad_usage "no benchmark is called '$1'" bench ;;
    esac
    for scenario in "${scenarios[@]}"; do
        arguments+=(--scenario "bench/proxy/$scenario.cfg")
    done
    need build >&2
    need_peers >&2
    make_build gcc cli/pawl balancer/pawld || die 'the build failed'
    exec build/gcc/cli/pawl testbed "${arguments[@]}" --time 4s --out build/bench.json "$@"
}
