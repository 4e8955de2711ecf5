# The arm64 cross build: Debian's arm64 libraries unpacked below build/arm64/sysroot, and the Meson cross file. The
# tests run under qemu-user; the CPU is the environment variable QEMU_CPU's.
# shellcheck source=dev.d/archive.sh
. dev.d/archive.sh

arm64_packages=(libc6 libc6-dev linux-libc-dev libgcc-s1 libcrypt1 libcrypt-dev
    libcmocka0 libcmocka-dev libjansson4 libjansson-dev)

# On arm64 itself the plain builds are arm64 builds.
cross_builds_here() {
    [ "$(uname -m)" != aarch64 ]
}

# All packages of the whole check.
need_for_check() {
    if cross_builds_here; then
        need build bench format check arm64
    else
        need build bench format check
    fi
}

# Unpacks the libraries and writes the cross file; an unchanged file keeps its time, so that Meson rests.
arm64_sysroot() {
    local file=build/arm64/cross.ini
    unpack_debs arm64 arm64 "${arm64_packages[@]}" || return 1
    arm64_cross_file "$root/build/arm64/sysroot" >"$file.new"
    cmp -s "$file.new" "$file" || cp "$file.new" "$file"
    rm "$file.new"
}

arm64_cross_file() {
    cat <<INI
[binaries]
c = 'aarch64-linux-gnu-gcc'
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64', '-L', '$1']

[properties]
sys_root = '$1'
pkg_config_libdir = ['$1/usr/lib/aarch64-linux-gnu/pkgconfig', '$1/usr/share/pkgconfig']

[built-in options]
c_args = ['--sysroot=$1']
c_link_args = ['--sysroot=$1']

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'armv8-a'
endian = 'little'
INI
}
