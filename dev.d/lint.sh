#: lint [FILE...] -- look for mistakes with clang-tidy (.clang-tidy says which), in all C sources or in those named
# shellcheck source=dev.d/builds.sh
. dev.d/builds.sh
# shellcheck source=dev.d/format.sh
. dev.d/format.sh

# lint_sources [FILE...]: needs the configured build clang, whose compile commands it reads.
lint_sources() {
    local files
    if [ $# -gt 0 ]; then
        files=("$@")
    else
        mapfile -t files < <(c_sources | grep '\.c$' | while read -r file; do
            grep -q "/$file\"" build/clang/compile_commands.json && printf '%s\n' "$file"
        done)
    fi
    printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy -p build/clang --quiet
}

verb_lint() {
    need build check
    configure clang || die 'the build clang could not be configured'
    lint_sources "$@"
}
