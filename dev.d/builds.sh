# The builds of Pawl, each in a directory below build/: what configures one and what makes one. Quiet, and nothing is
# done twice: a second run costs what ninja needs to see that all is made.
# shellcheck source=dev.d/packages.sh
. dev.d/packages.sh

# The options of a build, one a line; the first line is the compiler.
build_options() {
    case $1 in
        gcc) printf '%s\n' gcc ;;
        clang) printf '%s\n' clang ;;
        no-backoff) printf '%s\n' gcc -Dlocks=no-backoff ;;
        pthread) printf '%s\n' gcc -Dlocks=pthread ;;
        asan) printf '%s\n' gcc -Db_sanitize=address,undefined -Doptimization=1 ;;
        tsan) printf '%s\n' clang -Db_sanitize=thread -Db_lundef=false -Doptimization=1 ;;
        fuzz) printf '%s\n' clang -Dfuzz=true ;;
        arm64) printf '%s\n' aarch64-linux-gnu-gcc "--cross-file=$root/build/arm64/cross.ini" ;;
        *) die "no build is called '$1'" ;;
    esac
}

# Where a build's files are.
build_dir() {
    if [ "$1" = arm64 ]; then
        echo build/arm64/obj
    else
        echo "build/$1"
    fi
}

# What a build takes where it is there: it has to be configured again when one has come.
optional_libraries() {
    local library
    for library in ck liburcu; do
        if pkg-config --exists "$library" 2>/dev/null; then
            printf '%s ' "$library"
        fi
    done
}

configure() {
    local dir options made_with
    dir=$(build_dir "$1")
    mapfile -t options < <(build_options "$1")
    made_with="$root ${options[*]} $(optional_libraries)"
    if [ -f "$dir/build.ninja" ] && [ "$(cat "$dir/dev-options" 2>/dev/null)" = "$made_with" ]; then
        return
    fi
    rm -rf "$dir"
    if ! logged "$1-configure" env CC="${options[0]}" meson setup "$dir" "${options[@]:1}"; then
        rm -rf "$dir"
        return 1
    fi
    printf '%s' "$made_with" >"$dir/dev-options"
}

# make_build NAME [TARGET...]: configures where needed and makes it (all of it, or the targets named).
make_build() {
    local name=$1
    shift
    configure "$name" || return 1
    logged "$name-build" ninja -C "$(build_dir "$name")" "$@"
}
