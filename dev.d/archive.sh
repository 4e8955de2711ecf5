# Debian packages that are unpacked below build/ and never installed: the servers to compare with, and the arm64
# libraries. Uses apt-get with a configuration of its own (state, cache and an empty status file below build/), and
# the machine's own archive addresses and keys; the machine's configuration is read, never changed.

# The machine's sources of this Debian release itself, for any architecture: written to files in directory $1.
copy_sources() {
    local codename file
    codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
    rm -rf "$1" && mkdir -p "$1"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -r "$file" ] || continue
        sed -nE "s/^[[:space:]]*deb[[:space:]]/deb /; s/^(deb \[[^]]*)arch=[^] ]*/\1/
            /^deb (\[[^]]*\] )?[^ ]+ +(${codename}|stable)([-\/](updates|security))? /p" "$file" \
            >>"$1/lists.list"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [ -r "$file" ] || continue
        awk -v RS= -v ORS='\n\n' -v release="$codename" '
            $0 !~ ("(^|\n)Suites:([^\n]*[ \t])?(" release "|stable)([-/](updates|security))?([ \t\n]|$)") { next }
            { gsub(/\nArchitectures:[^\n]*/, ""); print }' "$file" >"$1/${file##*/}"
    done
}

# archive_apt NAME ARCHITECTURE COMMAND...: apt-get for that architecture, with its state below build/NAME/apt; it
# downloads into build/NAME/debs.
archive_apt() {
    local top=$root/build/$1 architecture=$2
    local state=$top/apt
    shift 2
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$top/debs"
    : >"$state/status"
    copy_sources "$state/sources"
    # Read after the machine's own configuration (which may name a proxy), so that it can undo parts of it.
    cat >"$state/apt.conf" <<CONF
#clear APT::Architectures;
#clear APT::Update;
#clear DPkg;
APT::Architecture "$architecture";
APT::Architectures "$architecture";
APT::Sandbox::User "root";
Dir::State "$state";
Dir::State::lists "$state/lists";
Dir::State::status "$state/status";
Dir::Cache "$state/cache";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$state/sources";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Acquire::Languages "none";
APT::Update::Error-Mode "any";
Acquire::Retries "2";
CONF
    (cd "$top/debs" && apt-get -c "$state/apt.conf" -q -y "$@")
}

# unpack_debs NAME ARCHITECTURE PACKAGE...: those packages, unpacked in build/NAME/sysroot; nothing is fetched when
# they are there already. Status 1, with a word why, when they cannot be fetched.
unpack_debs() {
    local name=$1 architecture=$2 deb
    local top=build/$name into=build/$name/sysroot
    shift 2
    [ "$(cat "$top/unpacked" 2>/dev/null)" = "$*" ] && return
    if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
        say "$name: fetching Debian's packages needs apt-get and dpkg-deb" >&2
        return 1
    fi
    say "fetching Debian's packages for $top (unpacked there, not installed): $*"
    rm -rf "$into" "$top/debs" "$top/unpacked"
    mkdir -p "$into"
    logged "$name-update" archive_apt "$name" "$architecture" update || return 1
    logged "$name-download" archive_apt "$name" "$architecture" download "$@" || return 1
    for deb in "$top"/debs/*.deb; do
        dpkg-deb -x "$deb" "$into" || return 1
    done
    relative_links "$into"
    rm -rf "$top/debs" "$top/apt"
    printf '%s' "$*" >"$top/unpacked"
}

# Links that start at / would lead out of the directory: makes them relative to it.
relative_links() {
    local link
    find "$1" -type l -lname '/*' | while read -r link; do
        ln -sfn "$(realpath -ms --relative-to="${link%/*}" "$1$(readlink "$link")")" "$link"
    done
}
