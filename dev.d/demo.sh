#: demo -- the main job: set up, build, and compare pawld before and after (about 90 seconds after the build)
#:
#: Runs the testbed's scenarios round-robin and queue; the tables are printed, the figures are in build/report.json.
#: Further arguments go to `pawl testbed`.
# shellcheck source=dev.d/builds.sh
. dev.d/builds.sh

verb_demo() {
    local pawl=build/gcc/cli/pawl
    need build
    say 'building (build/gcc)'
    make_build gcc cli/pawl balancer/pawld balancer/pawld-no-backoff balancer/pawld-pthread ||
        die 'the build failed'
    exec "$pawl" testbed --scenario round-robin --scenario queue --out build/report.json "$@"
}
