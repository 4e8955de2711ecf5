#: lint [FILE...] -- look for mistakes with clang-tidy (.clang-tidy says which), in all C sources or in those named
#:
#: Paths are relative to where you stand.
. dev.d/builds.sh
. dev.d/format.sh

# clang-tidy looks at a file once for each command that compiles it, and some are compiled for every lock there is: keeps
# the first command of each file.
lint_commands() {
    mkdir -p build/lint
    awk -v RS='\n *},?\n' '
        match($0, /"file": "[^"]*"/) {
            file = substr($0, RSTART, RLENGTH)
            if (!(file in seen)) {
                seen[file] = 1
                sub(/^\[\n/, "")
                printf "%s%s\n  }", n++ ? ",\n" : "[\n", $0
            }
        }
        END { print "\n]" }' build/clang/compile_commands.json >build/lint/compile_commands.json
}

# The headers that the build makes, which clang-tidy has to find.
lint_headers() {
    local made
    configure clang || return 1
    mapfile -t made < <(ninja -C build/clang -t targets all | sed -n 's,^\([^:]*\.lines\): .*,\1,p')
    make_build clang "${made[@]}"
}

# lint_sources [FILE...]: needs the configured build clang, whose compile commands it reads.
lint_sources() {
    local files
    lint_commands
    if [ $# -gt 0 ]; then
        files=("$@")
    else
        mapfile -t files < <(sed -n 's,^ *"file": "\(../\)*\(.*\)".*,\2,p' build/lint/compile_commands.json)
    fi
    printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 3 clang-tidy -p build/lint --quiet 2>&1 |
        sed "/^[0-9]* warnings* generated\.$/d" # of those it does not show
}

verb_lint() {
    local file files=()
    for file in "$@"; do
        file=$(given_path "$file")
        [ -f "$file" ] || bad_usage "there is no file '$file' to look at" lint
        files+=("$file")
    done
    need build check
    lint_headers || die 'the build clang could not be made ready'
    lint_sources "${files[@]}"
}
