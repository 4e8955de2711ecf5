# Debian packages that are unpacked below build/ and never installed: the servers to compare with, the arm64
# libraries, a program's source. Uses apt-get with a configuration of its own (state, cache and an empty status file
# below build/), and the machine's own archive addresses and keys; the machine's configuration is read, never changed.

# copy_sources TYPE DIRECTORY: the machine's sources of this Debian release itself, as files in that directory. TYPE is
# deb (packages of any architecture, updates and security fixes among them) or deb-src (source packages of the main
# archive alone).
copy_sources() {
    local type=$1 to=$2 codename file pockets='([-/](updates|security))?' suite
    [ "$type" = deb ] || pockets='([-/]updates)?'
    codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
    suite="(${codename}|stable)$pockets"
    rm -rf "$to" && mkdir -p "$to"
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [ -r "$file" ] || continue
        sed -nE "s/^[[:space:]]*deb[[:space:]]/deb /; s/^(deb \[[^]]*)arch=[^] ]*/\1/
            \,^deb (\[[^]]*\] )?[^ ]+ +$suite ,s/^deb /$type /p" "$file" >>"$to/lists.list"
    done
    for file in /etc/apt/sources.list.d/*.sources; do
        [ -r "$file" ] || continue
        awk -v RS= -v type="$type" -v suite="^$suite\$" "$stanza_of_release" "$file" >"$to/${file##*/}"
    done
}

# Stanzas that give packages, with the suites that are wanted, for any architecture.
# shellcheck disable=SC2016
stanza_of_release='
    $0 !~ /(^|\n)Types:([^\n]*[ \t])?deb([ \t\n]|$)/ { next }
    {
        text = suites = ""
        n = split($0, lines, "\n")
        for (i = 1; i <= n; i++) {
            if (lines[i] ~ /^Suites:/) {
                m = split(lines[i], words)
                for (j = 2; j <= m; j++)
                    if (words[j] ~ suite)
                        suites = suites " " words[j]
            } else if (lines[i] !~ /^(Types|Architectures):/) {
                text = text lines[i] "\n"
            }
        }
        if (suites != "")
            printf "Types: %s\nSuites:%s\n%s\n", type, suites, text
    }'

# apt_configuration NAME ARCHITECTURE TYPE: a configuration for archive_apt, with its state below build/NAME/apt. TYPE
# is copy_sources'.
apt_configuration() {
    local state=$root/build/$1/apt architecture=$2
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
    : >"$state/status"
    copy_sources "$3" "$state/sources"
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
}

# archive_apt NAME COMMAND...: apt-get with that configuration; it downloads into build/NAME/debs.
archive_apt() {
    local top=$root/build/$1
    shift
    mkdir -p "$top/debs"
    (cd "$top/debs" && apt-get -c "$top/apt/apt.conf" -q -y "$@")
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
    apt_configuration "$name" "$architecture" deb
    logged "${name//\//-}-update" archive_apt "$name" update || return 1
    logged "${name//\//-}-download" archive_apt "$name" download "$@" || return 1
    for deb in "$top"/debs/*.deb; do
        dpkg-deb -x "$deb" "$into" || return 1
    done
    relative_links "$into"
    rm -rf "$top/debs" "$top/apt"
    printf '%s' "$*" >"$top/unpacked"
}

# fetch_source NAME PACKAGE: the newest source package of it that the main archive serves, in build/NAME/source (a .dsc
# and the files that it names); nothing is fetched when it is there. Status 1, with a word why, when it cannot be had.
fetch_source() {
    local name=$1 package=$2
    local top=build/$name
    compgen -G "$top/source/${package}_*.dsc" >/dev/null && return
    if ! command -v apt-get >/dev/null || ! command -v dpkg >/dev/null; then
        say "$name: fetching Debian's source package $package needs apt-get and dpkg" >&2
        return 1
    fi
    say "fetching Debian's source package $package for $top/source"
    rm -rf "$top/source" "$top/debs" "$top/apt"
    apt_configuration "$name" "$(dpkg --print-architecture)" deb-src
    if [ -z "$(cat "$top"/apt/sources/* 2>/dev/null)" ]; then
        say "$name: the sources in /etc/apt name no archive of this Debian release to fetch $package from" >&2
        return 1
    fi
    logged "$name-update" archive_apt "$name" update || return 1
    logged "$name-source" archive_apt "$name" source --download-only --only-source "$package" || return 1
    mv "$top/debs" "$top/source"
    rm -rf "$top/apt"
}

# Links that start at / would lead out of the directory: makes them relative to it.
relative_links() {
    local link
    find "$1" -type l -lname '/*' | while read -r link; do
        ln -sfn "$(realpath -ms --relative-to="${link%/*}" "$1$(readlink "$link")")" "$link"
    done
}
