# HAProxy from Debian's source package, built twice below build/field: haproxy-before as it is, haproxy-after with its
# copy of plock.h replaced by an include of Pawl's. Upstream's Makefile, its default optional parts, nothing patched.
. dev.d/archive.sh

haproxy_builds() {
    fetch_source field haproxy ||
        die 'no source of HAProxy to build (see above); fetching it needs the package archive, once'
    haproxy_build before
    haproxy_build after
    haproxy_tell_warnings
}

# A header that makes its user's build warn is a fault of ours.
haproxy_tell_warnings() {
    local before after
    before=$(grep -c 'warning:' "$logs/haproxy-before-build.log" || true)
    after=$(grep -c 'warning:' "$logs/haproxy-after-build.log" || true)
    [ "${after:-0}" -le "${before:-0}" ] ||
        say "the compiler warns $after times, before it was ${before:-0}: $logs/haproxy-after-build.log"
}

# Debian's version, as the source package has it.
haproxy_version() {
    sed -n 's/^Version: //p' build/field/source/haproxy_*.dsc | head -n 1
}

haproxy_compiler() {
    gcc --version | head -n 1
}

# What make is told, the same for both; paths are relative to the source.
haproxy_options() {
    local version
    version=$(haproxy_version)
    echo "TARGET=linux-glibc CC=gcc IGNOREGIT=1 VERSION=${version%-*} SUBVERS=-${version##*-} ADDINC=-I../../../include"
}

# haproxy_build before|after: nothing is done when it was made from the same before.
haproxy_build() {
    local dir=build/field/haproxy-$1 made_from options
    made_from=$(haproxy_made_from "$1")
    [ -x "$dir/haproxy" ] && [ "$(cat "$dir/dev-made-from" 2>/dev/null)" = "$made_from" ] && return
    say "building HAProxy $(haproxy_version), $1"
    rm -rf "$dir"
    logged "haproxy-$1-unpack" bounded 300 dpkg-source -x build/field/source/haproxy_*.dsc "$dir" ||
        die "HAProxy's source could not be unpacked"
    [ "$1" = before ] || haproxy_replace_locks "$dir"
    read -ra options < <(haproxy_options)
    logged "haproxy-$1-build" bounded 900 make -C "$dir" -j "$(nproc)" "${options[@]}" haproxy ||
        die "HAProxy ($1) could not be built"
    printf '%s' "$made_from" >"$dir/dev-made-from"
}

haproxy_made_from() {
    haproxy_options
    haproxy_compiler
    [ "$1" = before ] || cat include/pawl/*.h | sha256sum
}

haproxy_replace_locks() {
    local header=$1/include/import/plock.h
    [ -f "$header" ] || die "this HAProxy has no $header to replace"
    [ -f include/pawl/plock.h ] || die 'there is no include/pawl/plock.h to replace it with'
    printf '%s\n' '/* Written by ./dev field-test in the place of the copy that was here. */' '#include <pawl/plock.h>' \
        >"$header"
}
