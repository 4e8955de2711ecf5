#: demo -- the main job: set up, build, and compare pawld before and after (about 90 seconds after the build)
#:
#: Runs the testbed's scenarios round-robin and queue; the tables are printed, the figures are in build/report.json.
#: Further arguments go to `pawl testbed`; paths among them are relative to where you stand.
# shellcheck source=dev.d/builds.sh
. dev.d/builds.sh

more_help_demo() {
    help_of_pawl testbed
}

verb_demo() {
    need build >&2
    say 'building (build/gcc)' >&2
    make_build gcc cli/pawl || die 'the build failed'
    judge_testbed "$@"
    make_build gcc cli/pawl balancer/pawld balancer/pawld-no-backoff balancer/pawld-pthread ||
        die 'the build failed'
    become_pawl testbed --scenario round-robin --scenario queue --out "$(path_for_caller build/report.json)" "$@"
}
