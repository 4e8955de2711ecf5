# The servers to compare with: Debian's, with the libraries they need, unpacked below build/peers and never installed,
# so that no service starts. bench/proxy/haproxy and bench/proxy/nginx run them from there.
. dev.d/archive.sh

peer_packages=(haproxy liblua5.3-0 libopentracing-c-wrapper0 libopentracing1 nginx libssl3 libpcre2-8-0
    libcrypt1 zlib1g libsystemd0 libcap2 libgcrypt20 libgpg-error0 liblz4-1 liblzma5 libzstd1 libstdc++6 libgcc-s1)

need_peers() {
    unpack_debs peers "$(dpkg --print-architecture)" "${peer_packages[@]}" || die 'no servers to compare with (see above)'
}
