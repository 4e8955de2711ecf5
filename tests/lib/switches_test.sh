#!/bin/sh
# What the switches may cost: nothing when they are off, no warning in any combination, and files built with and
# without libpawl go together, in C++ too.
# Usage: switches_test.sh INCLUDE-DIRECTORY LIBPAWL.A. Compilers that are not installed are left out (at least one must
# be); so is the comparison of machine code without unifdef.
set -eu
# shellcheck source=tests/lib/compilers.sh
. "$(dirname "$0")/compilers.sh"
lib=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
include=$dir/include # a copy: both sides of a comparison see the same, should somebody edit meanwhile
cp -r "$1" "$include"
all='PAWL_DISABLE_EBO PAWL_DISABLE_PARK PAWL_INLINE_WAIT PAWL_STATS PAWL_DEBUG'

# Every operation, on both sizes.
cat >"$dir/use.c" <<'SOURCE'
#include "pawl/lock.h"
#ifdef __cplusplus
extern "C" {
#endif
int use_all_32(pawl_lock_t *l, uint64_t d), use_all_64(pawl_lock64_t *l, uint64_t d);
#ifdef __cplusplus
}
#endif
#define ONE(kind) \
    (pawl_##kind##_lock(l), pawl_##kind##_unlock(l), \
     pawl_##kind##_trylock(l) ? (pawl_##kind##_unlock(l), 1) : 0) + \
        (pawl_##kind##_lock_until(l, d) ? (pawl_##kind##_unlock(l), 1) : 0)
#define BODY \
    { \
        int got = ONE(read) + ONE(seek) + ONE(write) + ONE(atomic) + ONE(join); \
        pawl_seek_lock(l), pawl_seek_to_write(l), pawl_write_to_seek(l), pawl_seek_to_read(l), pawl_read_unlock(l); \
        pawl_write_lock(l), pawl_write_to_read(l); \
        got += pawl_read_try_to_seek(l) && pawl_seek_to_write_until(l, d); \
        pawl_write_to_read(l); \
        got += pawl_read_try_to_write(l); \
        pawl_write_to_read(l); \
        got += pawl_read_to_write_until(l, d); \
        pawl_write_to_read(l); \
        got += pawl_read_try_to_atomic(l); \
        pawl_atomic_to_read(l), pawl_read_to_join(l), pawl_join_to_claim(l), pawl_claim_to_atomic(l); \
        pawl_atomic_to_join(l), pawl_join_to_claim(l), pawl_claim_unlock(l); \
        pawl_read_lock(l), pawl_read_to_claim(l), pawl_claim_unlock(l); \
        return got + pawl_read_is_held(l) + pawl_seek_is_held(l) + pawl_write_is_held(l) + pawl_atomic_is_held(l); \
    }
int use_all_32(pawl_lock_t *l, uint64_t d) BODY
int use_all_64(pawl_lock64_t *l, uint64_t d) BODY
SOURCE
cp "$dir/use.c" "$dir/use.cc"
cat >"$dir/main.c" <<'SOURCE'
#include "pawl/lock.h"
int use_all_32(pawl_lock_t *l, uint64_t d), use_all_64(pawl_lock64_t *l, uint64_t d);
int main(void)
{
    static pawl_lock_t a;
    static pawl_lock64_t b;
    return use_all_32(&a, 1) == 14 && use_all_64(&b, 1) == 14 && !a.word && !b.word ? 0 : 1;
}
SOURCE

# All 32 combinations: no warning; and in C the program runs, its objects built with different switches.
combinations() { # COMPILER STANDARD SOURCE
    n=0
    case $3 in
        *.cc) make='-fsyntax-only' ;;
        *) make="-c -o $dir/use.o" ;;
    esac
    while [ "$n" -lt 32 ]; do
        flags='' bit=1
        for switch in $all; do
            [ $((n & bit)) -eq 0 ] || flags="$flags -D$switch"
            bit=$((bit * 2))
        done
        # shellcheck disable=SC2086
        "$1" "$2" $warn -O1 $flags -I"$include" $make "$3" || fail "$1 $2$flags: not clean"
        n=$((n + 1))
        [ "$make" != -fsyntax-only ] || continue
        "$1" -pthread -o "$dir/use" "$dir/use.o" "$dir/main.o" "$lib" || fail "$1$flags: does not link"
        "$dir/use" || fail "$1$flags: the program fails"
    done
    echo "switches_test: $1: 32 combinations, all clean"
}

# With all off, the machine code is that of headers from which the switches were cut out.
same_code() { # COMPILER STANDARD SOURCE
    for level in -O0 -O2; do
        "$1" "$2" "$level" -I"$include" -c -o "$dir/with.o" "$3"
        "$1" "$2" "$level" -I"$dir/cut" -c -o "$dir/without.o" "$3"
        for o in with without; do
            objdump -dr "$dir/$o.o" | sed 1,3d >"$dir/$o.txt"
        done
        [ "$(wc -l <"$dir/with.txt")" -gt 300 ] || fail "$1 $level: hardly any code to compare"
        cmp -s "$dir/with.txt" "$dir/without.txt" ||
            fail "$1 $level: switches that are off change the code: $(diff "$dir/with.txt" "$dir/without.txt" | head -20)"
    done
    echo "switches_test: $1: the same machine code as without switches"
}

cut_headers() {
    mkdir -p "$dir/cut/pawl"
    for header in "$include"/pawl/*.h; do
        case ${header##*/} in watch.h | stats.h) continue ;; esac
        # status 1: something was cut
        unifdef -UPAWL_STATS -UPAWL_DEBUG -UPAWL_DISABLE_EBO -UPAWL_DISABLE_PARK -UPAWL_INLINE_WAIT \
            -o "$dir/cut/pawl/${header##*/}" "$header" || [ $? -eq 1 ] || fail "unifdef cannot read $header"
    done
    # plock.h sets some of them from plock's own
    if grep -En '^ *# *(el)?if.*PAWL_(STATS|DEBUG|DISABLE_|INLINE_WAIT)' "$dir"/cut/pawl/[!p]*.h "$dir/cut/pawl/park.h"; then
        fail 'switches are left in the headers that were to have none'
    fi
    if cmp -s "$include/pawl/lock.h" "$dir/cut/pawl/lock.h"; then
        fail 'no switch was found in pawl/lock.h'
    fi
}

# C++: names, counts and faults, as in C.
cat >"$dir/watched.cc" <<'SOURCE'
#include <cstring>
#include <thread>

#include "pawl/lock.h"
#include "pawl/stats.h"

static uint64_t acquisitions, readers;

static void look(const pawl_stats_class *c, void *)
{
    if (!std::strcmp(c->name, "from C++")) {
        acquisitions += c->state[PAWL_STATE_WRITE].acquisitions;
        readers += c->state[PAWL_STATE_READ].acquisitions;
    }
}

template <class Lock> struct guard {
    Lock &lock;
    explicit guard(Lock &l) : lock(l)
    {
        pawl_write_lock(&lock);
    }
    ~guard()
    {
        pawl_write_unlock(&lock);
    }
};

template <class Lock> static void use(Lock &l)
{
    pawl_lock_name(&l, "from C++");
    auto many = [&l] {
        for (int i = 0; i < 1000; i++) {
            guard<Lock> g(l);
            pawl_assert_write_held(&l);
        }
        pawl_read_lock(&l), pawl_read_unlock(&l);
    };
    std::thread one(many), two(many);
    one.join();
    two.join();
}

int main(int argc, char **)
{
    static pawl_lock_t a;
    static pawl_lock64_t b;
    use(a);
    use(b);
    pawl_stats_snapshot(look, nullptr);
#ifdef PAWL_STATS
    if (acquisitions != 4000 || readers != 4) {
        return 1;
    }
#endif
    if (argc > 1) {
        pawl_write_unlock(&a);
    }
    return 0;
}
SOURCE
watched_cxx() { # COMPILER
    for flags in -DPAWL_STATS -DPAWL_DEBUG '-DPAWL_STATS -DPAWL_DEBUG'; do
        # shellcheck disable=SC2086
        "$1" -std=c++17 $warn -O1 $flags -I"$include" -pthread -o "$dir/watched" "$dir/watched.cc" "$lib" ||
            fail "$1 $flags: not clean"
        "$dir/watched" || fail "$1 $flags: the program fails"
        case $flags in *DEBUG*) ;; *) continue ;; esac
        if (
            ulimit -c 0
            "$dir/watched" fault
            exit $?
        ) 2>"$dir/said"; then
            fail "$1 $flags: a fault was not caught"
        fi
        grep -q 'watched.cc:[0-9]* (main)' "$dir/said" || fail "$1 $flags: no place in: $(cat "$dir/said")"
    done
    echo "switches_test: $1: C++ is watched"
}

if have unifdef; then
    cut_headers
else
    echo 'switches_test: the machine code is not compared: no unifdef here'
fi
tried=0
for compiler in gcc clang g++ clang++; do
    have "$compiler" || continue
    tried=$((tried + 1))
    case $compiler in
        *++) standard=-std=c++17 source=$dir/use.cc ;;
        *)
            standard=-std=c11 source=$dir/use.c
            "$compiler" -std=c11 -I"$include" -c -o "$dir/main.o" "$dir/main.c"
            ;;
    esac
    combinations "$compiler" "$standard" "$source"
    have unifdef && same_code "$compiler" "$standard" "$source"
    case $compiler in *++) watched_cxx "$compiler" ;; esac
done
[ "$tried" -gt 0 ] || fail 'neither gcc nor clang found'
