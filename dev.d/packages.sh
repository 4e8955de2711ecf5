# The Debian packages Pawl is built, tested and measured with: one table (package, for what, how to tell that it is
# there on a system without dpkg, why), and the installation of those that are missing. docs/dependencies.md says
# more. Sourced by the verbs that need packages.

# Columns: package, group, probe, why. clang-format is a group of its own since the quick check needs only that.
packages='
gcc                   build  cmd:gcc                     the C compiler
libc6-dev             build  file:/usr/include/stdio.h   the C library to compile against
meson                 build  cmd:meson                   describes the build
ninja-build           build  cmd:ninja                   runs the build
pkgconf               build  cmd:pkg-config              tells the build where the libraries are
libjansson-dev        build  pc:jansson                  reads and writes JSON (reports, --json)
libcmocka-dev         build  pc:cmocka                   runs the unit tests
libck-dev             bench  file:/usr/include/ck_rwlock.h   locks to measure beside ours (./dev bench locks)
liburcu-dev           bench  pc:liburcu                  RCU to measure beside ours
gnuplot-nox           bench  cmd:gnuplot                 draws what ./dev bench locks measured (--plot)
clang                 check  cmd:clang                   the second compiler; builds the fuzz targets
libclang-rt-dev       check  cmd:clang                   run-time part of the sanitizers and the fuzzer
llvm                  check  cmd:llvm-symbolizer         names functions in what the sanitizers report
clang-format          format cmd:clang-format            checks the layout of the code
clang-tidy            check  cmd:clang-tidy              checks the code for mistakes
g++                   check  cmd:g++                     compiles the lock headers as C++, beside clang++
unifdef               check  cmd:unifdef                 cuts the switches out of the lock headers, to compare the code
gcc-aarch64-linux-gnu arm64  cmd:aarch64-linux-gnu-gcc   compiles for arm64
qemu-user             arm64  cmd:qemu-aarch64            runs the arm64 tests on this machine
make                  field  cmd:make                    builds HAProxy
dpkg-dev              field  cmd:dpkg-source             unpacks source packages
'

# Packages of the groups named, one `package probe why` a line.
packages_of() {
    local group
    for group in "$@"; do
        awk -v group="$group" '$2 == group { printf "%s %s", $1, $3; for (i = 4; i <= NF; i++) printf " %s", $i; print "" }' \
            <<<"$packages"
    done
}

on_debian_12() {
    command -v apt-get >/dev/null && command -v dpkg-query >/dev/null &&
        (. /etc/os-release && [ "${ID-}" = debian ] && [ "${VERSION_ID-}" = 12 ]) 2>/dev/null
}

# is_there PACKAGE PROBE
is_there() {
    if on_debian_12; then
        [ "$(dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | sort -u)" = installed ]
        return
    fi
    case $2 in
        cmd:*) command -v "${2#cmd:}" >/dev/null ;;
        pc:*) pkg-config --exists "${2#pc:}" 2>/dev/null ;;
        file:*) [ -e "${2#file:}" ] ;;
    esac
}

# as_root COMMAND...: as root or through sudo; status 1 where neither is to be had.
as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        return 1
    fi
}

install_packages() {
    local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300)
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null ||
            die "not root and no sudo here; ask for: apt-get install --no-install-recommends $*"
        sudo -v || die "sudo refused; ask for: apt-get install --no-install-recommends $*"
    fi
    say 'installing them with apt-get (build/log/apt-*.log)'
    # A list that cannot be renewed may still do: the installation decides.
    logged apt-update as_root "${apt[@]}" -o APT::Update::Error-Mode=any update || true
    logged apt-install as_root "${apt[@]}" install --no-install-recommends "$@" ||
        die "apt-get could not install: $*. Is the package archive reachable? Run ./dev setup again when it is."
}

# need GROUP...: makes sure that the packages of these groups are there. Says nothing and asks nobody where they are.
need() {
    local missing=() listed='' package probe why
    while read -r package probe why; do
        is_there "$package" "$probe" && continue
        missing+=("$package")
        listed+=$(printf '  %-22s %s' "$package" "$why")$'\n'
    done < <(packages_of "$@")
    [ ${#missing[@]} -eq 0 ] && return
    printf 'missing packages:\n%s' "$listed"
    on_debian_12 ||
        die "this is not Debian 12, so nothing is installed; install these (Debian's names) and run ./dev again"
    install_packages "${missing[@]}"
}
