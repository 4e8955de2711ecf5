#: clean -- remove build/, which holds everything that ./dev makes

verb_clean() {
    [ $# -eq 0 ] || bad_usage "clean takes no argument: '$1'" clean
    rm -rf build
}
