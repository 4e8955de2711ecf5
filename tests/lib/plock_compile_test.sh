#!/bin/sh
# What pawl/plock.h promises of compilation: no warning as an application would include it, in C11 and C++17, by both
# compilers, at any optimisation, under every switch, for 64 and 32 bits and arm64; a lock of a wrong size refused with
# the macro's name; a caller's variables never captured; every name that plock has, however the headers are combined.
# Usage: plock_compile_test.sh INCLUDE-DIRECTORY. Compilers that are not installed are left out (at least one must be).
set -eu
# shellcheck source=tests/lib/compilers.sh
. "$(dirname "$0")/compilers.sh"
include=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

ops='take_r take_s take_w take_a take_j drop_r drop_s drop_w drop_a drop_j drop_c stow wtos wtor stor rtoj rtoc jtoc ctoa
    ator atoj try_r try_s try_w try_w_nowait try_a try_j try_rtos try_rtow try_rtoa last_writer'
orders='_none _lax _acq _rel'
atomics='mb mb_load mb_store mb_ato mb_ato_load mb_ato_store barrier cpu_relax load load_lax store store_lax xadd xchg
    cmpxchg deref_long deref_int'
for op in inc dec add sub and or xor bts btr inc_noret dec_noret add_noret sub_noret and_noret or_noret xor_noret \
    ldadd ldsub ldand ldor ldxor; do
    for order in $orders; do
        [ "$order" = _none ] && order=
        atomics="$atomics $op$order"
    done
done
for op in inc_noret dec_noret add sub and or xor ldadd ldsub ldand ldor ldxor; do
    atomics="$atomics ${op}_relc"
done

# Every macro is there, and every lock macro compiles on every type of word.
{
    echo '#include "pawl/plock.h"'
    echo '#include "pawl/plock.h"'
    echo '#include "pawl/lock.h"'
    for name in $ops $atomics; do
        printf '#ifndef pl_%s\n#    error "pl_%s is missing"\n#endif\n' "$name" "$name"
    done
    for name in PLOCK_LORW_SHR_BASE PLOCK_LORW_EXC_BASE PL_PLOCK_H PL_ATOMIC_OPS_H; do
        printf '#ifndef %s\n#    error "%s is missing"\n#endif\n' "$name" "$name"
    done
    echo 'struct node { int value; };'
    echo 'extern struct node *node;'
    echo 'void use(int *, unsigned *, long *, unsigned long *, void **, const volatile long *);'
    echo 'void use(int *i, unsigned *u, long *l, unsigned long *ul, void **p, const volatile long *cv)'
    echo '{'
    for type in i u l ul p cv; do
        for op in $ops; do
            case $op in
            try_* | last_writer) echo "    if (pl_$op($type)) return;" ;;
            *) echo "    pl_$op($type);" ;;
            esac
        done
    done
    cat <<'END'
    signed char c = 1;
    int wide = 300;
    pl_add(&c, wide), pl_and_noret(u, ~wide), pl_inc(i), pl_or(ul, 1), pl_bts(l, wide - 299), pl_sub(p, 8);
    pl_store(&c, wide), pl_store(p, 0), pl_xchg(u, wide), pl_cmpxchg(ul, 0, PLOCK_LORW_SHR_BASE);
    if (pl_load(cv) == 1) {
        pl_mb(), pl_mb_load(), pl_mb_store(), pl_mb_ato(), pl_mb_ato_load(), pl_mb_ato_store(), pl_barrier();
    }
    struct node **np = &node;
    node = pl_add(np, 8), node = pl_ldor(np, 1), node = pl_and_rel(np, ~7L), node = pl_xor(np, 0), node = pl_load(np);
    *i = pl_sub(np, 8)->value + pl_xadd(np, 8)->value;
    pl_add(np, 8);
    pl_lorw_rdlock(ul), pl_lorw_rdunlock(ul), pl_lorw_wrlock(ul), pl_lorw_wrunlock(ul), pl_lorw_unlock(ul);
    *ul = pl_wait_unlock_long(ul, 4) + pl_wait_new_long(ul, 4) + pl_deref_long(l);
    *u = pl_wait_unlock_int(u, 4) + pl_wait_new_int(u, 4) + pl_deref_int(i);
    pl_cpu_relax();
}
END
} >"$dir/use.c"
cp "$dir/use.c" "$dir/use.cc"

tried=0
clean() { # COMPILER FLAGS... FILE
    "$@" -I"$include" -c -o "$dir/use.o" || fail "not clean: $*"
    tried=$((tried + 1))
}
for compiler in gcc clang; do
    have $compiler || continue
    for switches in -O0 -O1 -O2 -O3 '-O2 -DPLOCK_DISABLE_EBO' '-O2 -DPLOCK_INLINE_EBO' '-O2 -DPLOCK_LORW_INLINE_WAIT' \
        '-O2 -DPAWL_DISABLE_PARK' '-O0 -DPLOCK_DISABLE_EBO -DPAWL_DISABLE_PARK'; do
        # shellcheck disable=SC2086
        clean $compiler -std=c11 $warn $switches "$dir/use.c"
    done
    # shellcheck disable=SC2086
    clean $compiler -std=gnu99 $warn -O2 "$dir/use.c"
done
for compiler in g++ clang++; do
    have $compiler || continue
    for switches in -O0 -O2 '-O2 -DPLOCK_DISABLE_EBO'; do
        # shellcheck disable=SC2086
        clean $compiler -std=c++17 $warn $switches "$dir/use.cc"
    done
done
# 32 bits: the C library's headers for it may not be installed; those for 64 bits do, with an empty list of stubs.
mkdir -p "$dir/stubs/gnu"
: >"$dir/stubs/gnu/stubs-32.h"
for compiler in gcc clang; do
    have $compiler || continue
    echo 'int x;' >"$dir/empty.c"
    $compiler -m32 -c -o "$dir/empty.o" "$dir/empty.c" 2>/dev/null || continue
    for level in -O0 -O2; do
        # shellcheck disable=SC2086
        clean $compiler -m32 -std=c11 $warn $level -isystem "$dir/stubs" \
            -isystem "/usr/include/$(gcc -print-multiarch 2>/dev/null || echo x86_64-linux-gnu)" "$dir/use.c"
    done
done
if have aarch64-linux-gnu-gcc; then
    for level in -O0 -O2; do
        # shellcheck disable=SC2086
        clean aarch64-linux-gnu-gcc -std=c11 $warn $level "$dir/use.c"
    done
fi
[ "$tried" -gt 0 ] || fail 'neither gcc nor clang found'

# A wrong size is refused, by name, with and without optimisation.
refused() { # NAME COMPILER FLAGS...
    name=$1
    shift
    if "$@" -I"$include" -fsyntax-only 2>"$dir/errors"; then
        fail "pl_$name took a lock of a wrong size: $*"
    fi
    grep -q "error:.*pl_$name: a lock has" "$dir/errors" || {
        cat "$dir/errors" >&2
        fail "the error does not name pl_$name: $*"
    }
}
for op in $ops; do
    for type in char short 'struct { int a, b, c; }'; do
        printf '#include "pawl/plock.h"\nvoid f(void);\nvoid f(void)\n{\n    static %s word;\n    (void)pl_%s(&word);\n}\n' \
            "$type" "$op" | sed "s/(void)pl_\(take\|try\|last\)/(void)pl_\1/; s/(void)pl_\([^tl]\)/pl_\1/" >"$dir/bad.c"
        cp "$dir/bad.c" "$dir/bad.cc"
        [ "$type" = short ] || [ "$op" = take_r ] || continue # one type for most, to be quick
        for compiler in gcc clang; do
            have $compiler || continue
            refused "$op" $compiler -std=c11 -O0 "$dir/bad.c"
            [ "$op" = take_r ] && refused "$op" $compiler -std=c11 -O2 "$dir/bad.c"
        done
        for compiler in g++ clang++; do
            have $compiler && [ "$op" = take_r ] && refused "$op" $compiler -std=c++17 -O0 "$dir/bad.cc"
        done
    done
done
# Those of the read/write lock take an unsigned long and nothing else; a pointer that does not tell is the caller's word.
for op in lorw_rdlock lorw_wrlock lorw_rdunlock lorw_wrunlock lorw_unlock; do
    for type in int 'struct { int a, b, c; }'; do
        printf '#include "pawl/plock.h"\nvoid f(void);\nvoid f(void)\n{\n    static %s word;\n    pl_%s(&word);\n}\n' \
            "$type" "$op" >"$dir/bad.c"
        for compiler in gcc clang; do
            have $compiler || continue
            refused "$op" $compiler -std=c11 -O0 "$dir/bad.c"
            refused "$op" $compiler -std=gnu99 -O2 "$dir/bad.c"
        done
    done
    printf '#include "pawl/plock.h"\nvoid f(void *w);\nvoid f(void *w)\n{\n    pl_%s(w);\n}\n' "$op" >"$dir/good.c"
    for compiler in gcc clang; do
        have $compiler || continue
        # shellcheck disable=SC2086
        clean $compiler -std=c11 $warn -O0 "$dir/good.c"
    done
done
if have gcc && gcc -m32 -c -o "$dir/empty.o" "$dir/empty.c" 2>/dev/null; then
    printf '#include "pawl/plock.h"\nvoid f(long long *w);\nvoid f(long long *w)\n{\n    pl_take_w(w);\n}\n' >"$dir/bad.c"
    refused take_w gcc -m32 -std=c11 -O0 -isystem "$dir/stubs" -isystem "/usr/include/$(gcc -print-multiarch)" "$dir/bad.c"
fi

# No variable of the caller's is captured: locks behind such names, and macros inside macros' arguments.
{
    echo '#include "pawl/plock.h"'
    echo 'int main(void)'
    echo '{'
    echo '    static unsigned long words[4];'
    echo '    static int first, *chain = &first;'
    for name in l i r ret lock m loops p o s w v x n bit ptr word mask prev type op old new_ size value order pauses total \
        next name; do
        cat <<END
    {
        unsigned long *$name = &words[pl_load(&first)];
        pl_take_r($name), pl_drop_r($name), pl_take_s($name), pl_stow($name), pl_drop_w($name);
        if (!pl_try_w($name)) return 1;
        pl_wtor($name), pl_drop_r($name);
        pl_add($name, 4), pl_sub($name, pl_load(&first) + 4), pl_bts($name, pl_load(&first)), pl_btr($name, 0);
        if (pl_cmpxchg($name, pl_load(&first), pl_xchg($name, 0)) || pl_deref_long($name)) return 2;
        pl_lorw_rdlock($name), pl_lorw_unlock($name);
    }
END
    done
    cat <<'END'
    pl_take_r(&words[pl_load(pl_load(&chain))]);
    if (!pl_try_s(&words[pl_try_r(&words[1]) + pl_add(&first, pl_try_r(&words[2]))])) return 3;
    pl_drop_r(&words[0]), pl_drop_r(&words[1]), pl_drop_r(&words[2]), pl_drop_s(&words[2]);
    return words[0] || words[1] || words[2] ? 4 : 0;
}
END
} >"$dir/capture.c"
for compiler in gcc clang; do
    have $compiler || continue
    for level in -O0 -O2; do
        # shellcheck disable=SC2086
        $compiler -std=c11 $warn $level -I"$include" -o "$dir/capture" "$dir/capture.c" || fail "$compiler $level: capture"
        "$dir/capture" || fail "$compiler $level: a variable was captured (status $?)"
    done
done

# Beside the original companion header, first or last: whoever comes first defines the atomic operations.
printf '#ifndef PL_ATOMIC_OPS_H\n#define PL_ATOMIC_OPS_H\n#define pl_cpu_relax() original()\nvoid original(void);\n#endif\n' \
    >"$dir/atomic-ops.h"
for order in '"pawl/plock.h" "atomic-ops.h"' '"atomic-ops.h" "pawl/plock.h"' '"pawl/plock_atomic.h" "pawl/plock.h"'; do
    for header in $order; do
        echo "#include $header"
    done >"$dir/both.c"
    printf 'void f(int *w);\nvoid f(int *w)\n{\n    pl_take_s(w), pl_cpu_relax(), pl_drop_s(w);\n}\n' >>"$dir/both.c"
    for compiler in gcc clang; do
        have $compiler || continue
        # shellcheck disable=SC2086
        clean $compiler -std=c11 $warn -O1 -I"$dir" "$dir/both.c"
    done
done
printf '#define PL_PLOCK_H\n#include "pawl/plock.h"\n' >"$dir/twice.c"
for compiler in gcc clang; do
    have $compiler || continue
    if $compiler -I"$include" -c -o "$dir/twice.o" "$dir/twice.c" 2>"$dir/errors"; then
        fail "$compiler: both plock.h and pawl/plock.h in one file"
    fi
    grep -q 'stands in for plock.h' "$dir/errors" || fail "$compiler: the error does not tell of the two headers"
done
echo "plock_compile_test: $tried compilations, all clean"
