# What the verbs of ./dev share: messages, paths, logged commands, time. Sourced by ./dev, which sets `root` and stands
# in it, so that paths here are relative to it, and `caller`, where the user stands.

logs=build/log

# The help of a verb: the `#:` lines of its file.
help_of() {
    sed -n 's/^#: \{0,1\}//p' "dev.d/$1.sh"
}

# The options of `pawl $1`, which a verb hands on: help is to be had before anything is built.
help_of_pawl() {
    say
    if [ -x build/gcc/cli/pawl ]; then
        build/gcc/cli/pawl "$1" --help
    else
        say "Once \`./dev build\` has been run, this lists the options of \`pawl $1\`, too."
    fi
}

say() {
    printf '%s\n' "$*"
}

die() {
    printf 'dev: %s\n' "$*" >&2
    exit 1
}

bad_usage() {
    printf 'dev: %s\n\n' "$1" >&2
    help_of "$2" >&2
    exit 2
}

# A path that the user gave, as seen from the repository.
given_path() {
    if [[ $1 = /* ]] || [ "$caller" = "$root" ]; then
        printf '%s\n' "$1"
    else
        printf '%s\n' "${caller%/}/$1"
    fi
}

# A path in the repository, as seen by the user.
path_for_caller() {
    if [ "$caller" = "$root" ]; then
        printf '%s\n' "$1"
    else
        printf '%s\n' "$root/$1"
    fi
}

# become_pawl ARGUMENT...: ends in the build's `pawl`, run where the user stands, which the paths among its arguments
# are relative to.
become_pawl() {
    cd "$caller" || die "the directory $caller is gone"
    exec "$root/build/gcc/cli/pawl" "$@"
}

# judge_testbed ARGUMENT...: has `pawl testbed`, once it is built, refuse what it would refuse later. With --list it reads
# everything and runs nothing; the option stands in front, where it is nobody's value.
judge_testbed() {
    build/gcc/cli/pawl testbed --list "$@" >/dev/null || exit
}

# Is $1 a whole number from 1 to $2?
whole_number() {
    [[ $1 =~ ^[1-9][0-9]{0,5}$ ]] && [ "$1" -le "$2" ]
}

# logged NAME COMMAND...: runs it with its output in build/log/NAME.log; shows what tells why when it fails.
logged() {
    local name=$1 status=0
    shift
    mkdir -p "$logs"
    "$@" >"$logs/$name.log" 2>&1 </dev/null || status=$?
    if [ "$status" -ne 0 ]; then
        {
            printf 'dev: %s failed (status %s):\n' "$name" "$status"
            telling_lines "$logs/$name.log" | sed 's/^/    /'
            printf 'dev: the whole output is in build/log/%s.log\n' "$name"
        } >&2
    fi
    return "$status"
}

# The lines of a log that tell what went wrong: ninja's first failure, or else the end (Meson's tells of all tests).
telling_lines() {
    if grep -q '^FAILED: ' "$1"; then
        sed -n '/^FAILED: /,$p' "$1" | sed 40q
    elif grep -q '^Summary of Failures' "$1"; then
        tail -n 80 "$1"
    else
        tail -n 15 "$1"
    fi
}

# Minutes since $1 (a value of $SECONDS), with one decimal.
minutes_since() {
    local tenths=$(((SECONDS - $1 + 3) / 6))
    printf '%d.%d' $((tenths / 10)) $((tenths % 10))
}
