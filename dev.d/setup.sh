#: setup -- install what is missing, naming each package and why (Debian 12; elsewhere it names them and stops)
#:
#: Packages come from apt-get, as root or through sudo; nothing is asked of the network when none is missing.
#: Demo, build and check install what they need by themselves: this verb only does it for all of them at once.
#: It also unpacks Debian's arm64 libraries below build/arm64 for the cross build; these are not installed.
# shellcheck source=dev.d/packages.sh
. dev.d/packages.sh
# shellcheck source=dev.d/arm64.sh
. dev.d/arm64.sh

verb_setup() {
    [ $# -eq 0 ] || bad_usage "setup takes no argument: '$1'" setup
    need_for_check
    if cross_builds_here; then
        arm64_sysroot || die 'no arm64 libraries to build against (see above)'
    fi
    say 'everything is installed'
}
