#!/bin/sh
# The public headers compile without a warning as an application would include them: strict C11 and C++17, both
# compilers, with and without optimisation, under every switch, alone and in any number of files of one program.
# Usage: headers_test.sh INCLUDE-DIRECTORY. Compilers that are not installed are left out (at least one must be).
set -eu
# shellcheck source=tests/lib/compilers.sh
. "$(dirname "$0")/compilers.sh"
include=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/use.c" <<'EOF'
#include "pawl/lock.h"
#include "pawl/lock.h"
#include "pawl/stats.h"
#ifdef __cplusplus
#    define NAME2(a) use_cxx_##a
#else
#    define NAME2(a) use_c_##a
#endif
#define NAME1(a) NAME2(a)
int NAME1(PART)(pawl_lock_t *a, pawl_lock64_t *b);
int NAME1(PART)(pawl_lock_t *a, pawl_lock64_t *b)
{
    int got = 0;
#define ALL(l)                                                                                          \
    pawl_read_lock(l), pawl_read_unlock(l), pawl_seek_lock(l), pawl_seek_to_write(l), pawl_write_to_seek(l), \
        pawl_seek_to_read(l), pawl_read_unlock(l), pawl_write_lock(l), pawl_write_to_read(l), pawl_read_unlock(l), \
        pawl_atomic_lock(l), pawl_atomic_unlock(l)
    ALL(a);
    ALL(b);
#define TRY(l, kind) (pawl_##kind##_trylock(l) ? (pawl_##kind##_unlock(l), 1) : 0)
#define TRIES(l) got += TRY(l, read), got += TRY(l, seek), got += TRY(l, write), got += TRY(l, atomic)
    TRIES(a);
    TRIES(b);
#define CLAIM(l, kind) (pawl_##kind##_claim(l) ? (pawl_##kind##_unlock(l), 1) : 0)
#define CLAIM_FROM_READ(l, kind) \
    (pawl_read_lock(l), pawl_read_claim_##kind(l) ? (pawl_##kind##_unlock(l), 1) : 0)
#define CLAIMS(l) \
    got += CLAIM(l, write), got += CLAIM(l, atomic), got += CLAIM(l, join), got += CLAIM_FROM_READ(l, write), \
        got += CLAIM_FROM_READ(l, atomic)
    CLAIMS(a);
    CLAIMS(b);
    pawl_lock_name(a, "a");
    pawl_lock_name_range(b, sizeof *b, "b");
    pawl_assert_not_held(a);
    pawl_lock_forget(a);
    pawl_lock_forget_range(b);
    return got;
}
EOF
cp "$dir/use.c" "$dir/use.cc"
cat >"$dir/main.c" <<'EOF'
#include "pawl/lock.h"
int use_c_1(pawl_lock_t *, pawl_lock64_t *), use_c_2(pawl_lock_t *, pawl_lock64_t *);
int main(void)
{
    pawl_lock_t a = PAWL_LOCK_INIT;
    pawl_lock64_t b = PAWL_LOCK64_INIT;
    return use_c_1(&a, &b) == 18 && use_c_2(&a, &b) == 18 && a.word == 0 && b.word == 0 ? 0 : 1;
}
EOF

# 32 bits: the C library's headers for it may not be installed; those for 64 bits do, with an empty list of stubs.
mkdir -p "$dir/stubs/gnu"
: >"$dir/stubs/gnu/stubs-32.h"
in_32_bits="-m32 -isystem $dir/stubs -isystem /usr/include/$(gcc -print-multiarch 2>/dev/null || echo x86_64-linux-gnu)"
echo 'int x;' >"$dir/empty.c"

tried=0
compile() { # COMPILER STANDARD FILE: with every switch, not optimised too, and for 32 bits
    compiler=$1 std=$2
    shift 2
    have "$compiler" || return 0
    tried=$((tried + 1))
    more=
    "$compiler" -m32 -c -o "$dir/empty.o" "$dir/empty.c" 2>/dev/null && more=$in_32_bits
    for switches in -O0 -O2 '-O2 -DPAWL_DISABLE_PARK' '-O2 -DPAWL_DEBUG'; do
        [ -n "$more" ] || break
        # shellcheck disable=SC2086
        "$compiler" "$std" $warn $switches $more -DPART=1 -I"$include" -c -o "$dir/1.o" "$1" ||
            fail "$compiler $std $switches, 32 bits: not clean"
    done
    for switches in -O0 -O2 '-O2 -DPAWL_DISABLE_EBO' '-O2 -DPAWL_DISABLE_PARK' \
        '-O2 -DPAWL_DISABLE_EBO -DPAWL_DISABLE_PARK' '-O2 -DPAWL_SHARED' \
        '-O2 -DPAWL_STATS' '-O2 -DPAWL_DEBUG'; do
        # shellcheck disable=SC2086
        "$compiler" "$std" $warn $switches -DPART=1 -I"$include" -c -o "$dir/1.o" "$1" ||
            fail "$compiler $std $switches: not clean"
    done
}
for compiler in gcc clang; do
    compile "$compiler" -std=c11 "$dir/use.c"
    have "$compiler" || continue
    # Users whose style forbids what the headers do are not told of it.
    printf '#include "pawl/lock.h"\n#include "pawl/plock.h"\nint nothing;\n' >"$dir/style.c"
    # shellcheck disable=SC2086
    "$compiler" -std=gnu99 -O2 $warn -Wdeclaration-after-statement -I"$include" -c -o "$dir/1.o" "$dir/style.c"
    # two files and a third that uses them: one program, no clash of names, and it runs
    "$compiler" -std=c11 -O2 -I"$include" -DPART=1 -c -o "$dir/1.o" "$dir/use.c"
    "$compiler" -std=c11 -O2 -I"$include" -DPART=2 -c -o "$dir/2.o" "$dir/use.c"
    # shellcheck disable=SC2086
    "$compiler" -std=c11 $warn -I"$include" -o "$dir/main" "$dir/main.c" "$dir/1.o" "$dir/2.o"
    "$dir/main" || fail "a program of three files built by $compiler fails"
done
for compiler in g++ clang++; do
    compile "$compiler" -std=c++17 "$dir/use.cc"
done

# A program's own macros may have any name that the headers build names from.
{
    printf '#include <%s>\n' errno.h stdbool.h stddef.h stdint.h stdio.h sys/syscall.h
    for word in READ SEEK WRITE ATOMIC JOIN CLAIM LOCK UNTIL TRY SURE STATE STATES HOW A C F J L N OP R S T W \
        $(cat "$include"/pawl/*.h | grep -o 'PAWL_[AF]([a-z_]*)' | sed 's/.*(//; s/)//' | grep -vx name | sort -u); do
        echo "#define $word a macro of the program ("
    done
    printf '#include "pawl/%s.h"\n' lock plock stats
    echo 'int nothing;'
} >"$dir/macros.c"
cp "$dir/macros.c" "$dir/macros.cc"
for compiler in gcc clang; do
    compile "$compiler" -std=c11 "$dir/macros.c"
done
for compiler in g++ clang++; do
    compile "$compiler" -std=c++17 "$dir/macros.cc"
done
[ "$tried" -gt 0 ] || fail 'neither gcc nor clang found'
echo "headers_test: $tried compilers and standards, all clean"
