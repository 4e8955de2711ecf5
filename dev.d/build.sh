#: build [NAME...] -- compile everything below build/ and say where the programs are
#:
#: NAME is one of gcc (the default: optimised, with symbols), clang, asan (address and undefined-behaviour
#: sanitizers), tsan (thread sanitizer), no-backoff and pthread (pawld itself with those locks), fuzz, arm64.
# shellcheck source=dev.d/builds.sh
. dev.d/builds.sh
# shellcheck source=dev.d/arm64.sh
. dev.d/arm64.sh

verb_build() {
    local name
    [ $# -gt 0 ] || set -- gcc
    for name in "$@"; do
        case $name in
            gcc | clang | asan | tsan | no-backoff | pthread | fuzz | arm64) ;;
            *) bad_usage "no build is called '$name'" build ;;
        esac
    done
    for name in "$@"; do
        case $name in
            gcc | no-backoff | pthread | asan) need build ;;
            clang | tsan | fuzz) need build check ;;
            arm64)
                need build arm64
                arm64_sysroot || die 'no arm64 libraries to build against (see above)'
                ;;
        esac
        make_build "$name" || die "the build $name failed"
        say_programs "$name"
    done
}

say_programs() {
    local dir program
    dir=$(build_dir "$1")
    for program in "$dir"/cli/pawl "$dir"/balancer/pawld*; do
        [ -f "$program" ] && [ -x "$program" ] && say "$program"
    done
    return 0
}
