# What the tests that try compilers share; sourced. The warnings that a user of the headers may have switched on, all
# errors; whether a compiler is there; a fault, told under the test's name.
# shellcheck shell=sh disable=SC2034
warn='-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wundef -Wcast-align -Wcast-qual -Werror'

fail() {
    echo "$(basename "$0" .sh): $*" >&2
    exit 1
}
have() {
    command -v "$1" >/dev/null 2>&1
}
