#: format [--check] -- lay the C sources out as .clang-format says; --check only tells which differ
# shellcheck source=dev.d/packages.sh
. dev.d/packages.sh

# The C sources of the repository.
c_sources() {
    find . -path './build*' -prune -o -path ./.git -prune -o -name '*.[ch]' -print | sed 's,^\./,,' | sort
}

check_format() {
    c_sources | xargs clang-format --dry-run -Werror
}

verb_format() {
    case "$*" in
        '' | --check) ;;
        *) bad_usage "format does not know '$*'" format ;;
    esac
    need build format
    if [ $# -eq 0 ]; then
        c_sources | xargs clang-format -i
    else
        check_format
    fi
}
