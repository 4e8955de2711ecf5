/* The atomic operations that plock's companion header (atomic-ops.h) gives, over integers of 1, 2, 4 and 8
 * bytes and pointers: pl_load, pl_store, pl_add and so on. Without a suffix an operation is sequentially
 * consistent; _lax is relaxed, _acq acquires, _rel (_relc is the same) releases. pl_load acquires, pl_store
 * releases.
 *
 * Each is an expression, evaluates its arguments once, and gives a value of the type of *ptr. On pointers,
 * add and sub count in bytes. A second operand is converted to the type of *ptr without a warning: its size
 * is not checked. Nothing is defined where the original header has been included already; and this one stands
 * in for it (same include guard). docs/plock.md has the table. */
#ifndef PL_ATOMIC_OPS_H
#define PL_ATOMIC_OPS_H

#include "pawl/atomic.h"

#ifndef __cplusplus /* declarations stand where they are first needed */
#    pragma GCC diagnostic push
#    pragma GCC diagnostic ignored "-Wdeclaration-after-statement"
#endif

/* A full barrier; _load and _store order loads or stores only. The _ato ones stand beside atomic operations,
 * which on x86 are barriers themselves. */
#if defined(__x86_64__) || defined(__i386__)
#    define PAWL_PL_BARRIERS_(X) \
        X(mb_load, "") X(mb_store, "") X(mb_ato, "") X(mb_ato_load, "") X(mb_ato_store, "")
#elif defined(__aarch64__)
#    define PAWL_PL_BARRIERS_(X)    \
        X(mb_load, "dmb ishld")     \
        X(mb_store, "dmb ishst")    \
        X(mb_ato, "dmb ish")        \
        X(mb_ato_load, "dmb ishld") \
        X(mb_ato_store, "dmb "      \
                        "ishst")
#endif

PAWL_INLINE void pawl_pl_mb_(void)
{
    __sync_synchronize();
}

/* For the compiler only. */
PAWL_INLINE void pawl_pl_barrier_(void)
{
    __asm__ __volatile__("" ::: "memory");
}

#ifdef PAWL_PL_BARRIERS_
#    define PAWL_PL_BARRIER_(name, instruction)             \
        PAWL_INLINE void pawl_pl_##name##_(void)            \
        {                                                   \
            __asm__ __volatile__(instruction ::: "memory"); \
        }
PAWL_PL_BARRIERS_(PAWL_PL_BARRIER_)
#    undef PAWL_PL_BARRIER_
#    undef PAWL_PL_BARRIERS_
#    define pl_mb_load()      pawl_pl_mb_load_()
#    define pl_mb_store()     pawl_pl_mb_store_()
#    define pl_mb_ato()       pawl_pl_mb_ato_()
#    define pl_mb_ato_load()  pawl_pl_mb_ato_load_()
#    define pl_mb_ato_store() pawl_pl_mb_ato_store_()
#else
#    define pl_mb_load()      pawl_pl_mb_()
#    define pl_mb_store()     pawl_pl_mb_()
#    define pl_mb_ato()       pawl_pl_mb_()
#    define pl_mb_ato_load()  pawl_pl_mb_()
#    define pl_mb_ato_store() pawl_pl_mb_()
#endif
#define pl_mb()        pawl_pl_mb_()
#define pl_barrier()   pawl_pl_barrier_()
#define pl_cpu_relax() pawl_cpu_relax()

/* PAWL_PL_T_: the type of *ptr without qualifiers. PAWL_PL_I_: the same, or long for a pointer: the type that
 * the arithmetic is done in. PAWL_PL_P_: the pointer's type; void * for an integer, where it is not used. */
#ifdef __cplusplus
template <typename pawl_pl_t_>
struct pawl_pl_type_ {
    typedef pawl_pl_t_ plain, integer;
};
template <typename pawl_pl_t_>
struct pawl_pl_type_<pawl_pl_t_ *> {
    typedef pawl_pl_t_ *plain;
    typedef long integer;
};
template <typename pawl_pl_t_>
struct pawl_pl_type_<const pawl_pl_t_> : pawl_pl_type_<pawl_pl_t_> {
};
template <typename pawl_pl_t_>
struct pawl_pl_type_<volatile pawl_pl_t_> : pawl_pl_type_<pawl_pl_t_> {
};
template <typename pawl_pl_t_>
struct pawl_pl_type_<const volatile pawl_pl_t_> : pawl_pl_type_<pawl_pl_t_> {
};
template <typename pawl_pl_t_>
PAWL_INLINE pawl_pl_t_ pawl_pl_result_(typename pawl_pl_type_<pawl_pl_t_>::integer v)
{
    return (pawl_pl_t_)v;
}
#    define PAWL_PL_T_(ptr) typename pawl_pl_type_<__typeof__(*(ptr))>::plain
#    define PAWL_PL_I_(ptr) typename pawl_pl_type_<__typeof__(*(ptr))>::integer
#    define PAWL_PL_OP_(op, ptr, x, order) \
        pawl_pl_result_<PAWL_PL_T_(ptr)>(op((volatile PAWL_PL_I_(ptr) *)(ptr), (PAWL_PL_I_(ptr))(x), order))
#else
#    define PAWL_PL_IS_POINTER_(ptr) (__builtin_classify_type(*(ptr)) == 5)
#    define PAWL_PL_T_(ptr)          __typeof__(__atomic_load_n((ptr), __ATOMIC_RELAXED))
#    define PAWL_PL_I_(ptr) \
        __typeof__(__builtin_choose_expr(PAWL_PL_IS_POINTER_(ptr), (long)0, (PAWL_PL_T_(ptr))0))
#    define PAWL_PL_P_(ptr) \
        __typeof__(__builtin_choose_expr(PAWL_PL_IS_POINTER_(ptr), (PAWL_PL_T_(ptr))0, (void *)0))
/* The value as that type, by a way that warns nobody of a value that is not used: clang warns unless it is a
 * call's. Each variable has a name of its own, so that none hides another when operations are nested. */
#    ifdef __clang__
#        define PAWL_PL_READ_(name) __atomic_load_n(&name, __ATOMIC_RELAXED)
#    else
#        define PAWL_PL_READ_(name) name
#    endif
#    define PAWL_PL_AS_(type, v, n) PAWL_PL_AS_N_(type, v, n)
#    define PAWL_PL_AS_N_(type, v, n)                     \
        __extension__({                                   \
            type pawl_pl_as_##n##_ = pawl_pl_pointer_(v); \
            PAWL_PL_READ_(pawl_pl_as_##n##_);             \
        })
#    define PAWL_PL_OP_(op, ptr, x, order)                                                        \
        __builtin_choose_expr(                                                                    \
            PAWL_PL_IS_POINTER_(ptr),                                                             \
            PAWL_PL_AS_(PAWL_PL_P_(ptr), (uint64_t)PAWL_PL_RAW_(op, ptr, x, order), __COUNTER__), \
            PAWL_PL_RAW_(op, ptr, x, order))
#endif
#define PAWL_PL_RAW_(op, ptr, x, order)   op((volatile PAWL_PL_I_(ptr) *)(ptr), (PAWL_PL_I_(ptr))(x), order)
#define PAWL_PL_NORET_(op, ptr, x, order) ((void)PAWL_PL_RAW_(op, ptr, x, order))
#define PAWL_PL_STEP_(op, ptr, order)     pawl_pl_nonzero_(PAWL_PL_RAW_(op, ptr, 1, order) != 0)

/* Calls, so that nobody is warned of a value that is not used. */
PAWL_INLINE void *pawl_pl_pointer_(uint64_t v)
{
    return (void *)(uintptr_t)v;
}

PAWL_INLINE int pawl_pl_nonzero_(int is)
{
    return is;
}

#define pl_load(ptr)         __atomic_load_n((ptr), __ATOMIC_ACQUIRE)
#define pl_load_lax(ptr)     __atomic_load_n((ptr), __ATOMIC_RELAXED)
#define pl_store(ptr, x)     __atomic_store_n((ptr), (PAWL_PL_T_(ptr))(x), __ATOMIC_RELEASE)
#define pl_store_lax(ptr, x) __atomic_store_n((ptr), (PAWL_PL_T_(ptr))(x), __ATOMIC_RELAXED)

/* Both give the value from before; cmpxchg stores `new_` if that was `old`. */
#define pl_xchg(ptr, x)      __atomic_exchange_n((ptr), (PAWL_PL_T_(ptr))(x), __ATOMIC_SEQ_CST)
#define pl_cmpxchg(ptr, old, new_) \
    __sync_val_compare_and_swap((ptr), (PAWL_PL_T_(ptr))(old), (PAWL_PL_T_(ptr))(new_))

/* One bit of a word of that many bytes: sets or clears it, and returns whether it was set. */
#define PAWL_PL_BIT_FUNCTIONS_(n)                                                                           \
    PAWL_INLINE int pawl_pl_bts_##n##_(volatile void *p, unsigned bit, int order)                           \
    {                                                                                                       \
        uint##n##_t mask = (uint##n##_t)((uint##n##_t)1 << bit);                                            \
        return (__atomic_fetch_or((volatile pawl_pl_u##n##_ *)p, mask, order) & mask) != 0;                 \
    }                                                                                                       \
    PAWL_INLINE int pawl_pl_btr_##n##_(volatile void *p, unsigned bit, int order)                           \
    {                                                                                                       \
        uint##n##_t mask = (uint##n##_t)((uint##n##_t)1 << bit);                                            \
        return (__atomic_fetch_and((volatile pawl_pl_u##n##_ *)p, (uint##n##_t) ~mask, order) & mask) != 0; \
    }
typedef uint8_t __attribute__((may_alias)) pawl_pl_u8_;
typedef uint16_t __attribute__((may_alias)) pawl_pl_u16_;
typedef uint32_t __attribute__((may_alias)) pawl_pl_u32_;
typedef uint64_t __attribute__((may_alias)) pawl_pl_u64_;
PAWL_PL_BIT_FUNCTIONS_(8)
PAWL_PL_BIT_FUNCTIONS_(16)
PAWL_PL_BIT_FUNCTIONS_(32)
PAWL_PL_BIT_FUNCTIONS_(64)
#undef PAWL_PL_BIT_FUNCTIONS_
#define PAWL_PL_BIT_(op, ptr, bit, order)                                      \
    (sizeof(*(ptr)) == 1   ? pawl_pl_##op##_8_((ptr), (unsigned)(bit), order)  \
     : sizeof(*(ptr)) == 2 ? pawl_pl_##op##_16_((ptr), (unsigned)(bit), order) \
     : sizeof(*(ptr)) == 4 ? pawl_pl_##op##_32_((ptr), (unsigned)(bit), order) \
                           : pawl_pl_##op##_64_((ptr), (unsigned)(bit), order))

/* Counts up or down; the value tells whether the result differs from 0. */
#define pl_inc(ptr)              PAWL_PL_STEP_(__atomic_add_fetch, ptr, __ATOMIC_SEQ_CST)
#define pl_inc_lax(ptr)          PAWL_PL_STEP_(__atomic_add_fetch, ptr, __ATOMIC_RELAXED)
#define pl_inc_acq(ptr)          PAWL_PL_STEP_(__atomic_add_fetch, ptr, __ATOMIC_ACQUIRE)
#define pl_inc_rel(ptr)          PAWL_PL_STEP_(__atomic_add_fetch, ptr, __ATOMIC_RELEASE)
#define pl_dec(ptr)              PAWL_PL_STEP_(__atomic_sub_fetch, ptr, __ATOMIC_SEQ_CST)
#define pl_dec_lax(ptr)          PAWL_PL_STEP_(__atomic_sub_fetch, ptr, __ATOMIC_RELAXED)
#define pl_dec_acq(ptr)          PAWL_PL_STEP_(__atomic_sub_fetch, ptr, __ATOMIC_ACQUIRE)
#define pl_dec_rel(ptr)          PAWL_PL_STEP_(__atomic_sub_fetch, ptr, __ATOMIC_RELEASE)

/* The same, without a value. */
#define pl_inc_noret(ptr)        PAWL_PL_NORET_(__atomic_add_fetch, ptr, 1, __ATOMIC_SEQ_CST)
#define pl_inc_noret_lax(ptr)    PAWL_PL_NORET_(__atomic_add_fetch, ptr, 1, __ATOMIC_RELAXED)
#define pl_inc_noret_acq(ptr)    PAWL_PL_NORET_(__atomic_add_fetch, ptr, 1, __ATOMIC_ACQUIRE)
#define pl_inc_noret_rel(ptr)    PAWL_PL_NORET_(__atomic_add_fetch, ptr, 1, __ATOMIC_RELEASE)
#define pl_inc_noret_relc(ptr)   PAWL_PL_NORET_(__atomic_add_fetch, ptr, 1, __ATOMIC_RELEASE)
#define pl_dec_noret(ptr)        PAWL_PL_NORET_(__atomic_sub_fetch, ptr, 1, __ATOMIC_SEQ_CST)
#define pl_dec_noret_lax(ptr)    PAWL_PL_NORET_(__atomic_sub_fetch, ptr, 1, __ATOMIC_RELAXED)
#define pl_dec_noret_acq(ptr)    PAWL_PL_NORET_(__atomic_sub_fetch, ptr, 1, __ATOMIC_ACQUIRE)
#define pl_dec_noret_rel(ptr)    PAWL_PL_NORET_(__atomic_sub_fetch, ptr, 1, __ATOMIC_RELEASE)
#define pl_dec_noret_relc(ptr)   PAWL_PL_NORET_(__atomic_sub_fetch, ptr, 1, __ATOMIC_RELEASE)

/* Operation and its result. */
#define pl_add(ptr, x)           PAWL_PL_OP_(__atomic_add_fetch, ptr, x, __ATOMIC_SEQ_CST)
#define pl_add_lax(ptr, x)       PAWL_PL_OP_(__atomic_add_fetch, ptr, x, __ATOMIC_RELAXED)
#define pl_add_acq(ptr, x)       PAWL_PL_OP_(__atomic_add_fetch, ptr, x, __ATOMIC_ACQUIRE)
#define pl_add_rel(ptr, x)       PAWL_PL_OP_(__atomic_add_fetch, ptr, x, __ATOMIC_RELEASE)
#define pl_add_relc(ptr, x)      PAWL_PL_OP_(__atomic_add_fetch, ptr, x, __ATOMIC_RELEASE)
#define pl_sub(ptr, x)           PAWL_PL_OP_(__atomic_sub_fetch, ptr, x, __ATOMIC_SEQ_CST)
#define pl_sub_lax(ptr, x)       PAWL_PL_OP_(__atomic_sub_fetch, ptr, x, __ATOMIC_RELAXED)
#define pl_sub_acq(ptr, x)       PAWL_PL_OP_(__atomic_sub_fetch, ptr, x, __ATOMIC_ACQUIRE)
#define pl_sub_rel(ptr, x)       PAWL_PL_OP_(__atomic_sub_fetch, ptr, x, __ATOMIC_RELEASE)
#define pl_sub_relc(ptr, x)      PAWL_PL_OP_(__atomic_sub_fetch, ptr, x, __ATOMIC_RELEASE)
#define pl_and(ptr, x)           PAWL_PL_OP_(__atomic_and_fetch, ptr, x, __ATOMIC_SEQ_CST)
#define pl_and_lax(ptr, x)       PAWL_PL_OP_(__atomic_and_fetch, ptr, x, __ATOMIC_RELAXED)
#define pl_and_acq(ptr, x)       PAWL_PL_OP_(__atomic_and_fetch, ptr, x, __ATOMIC_ACQUIRE)
#define pl_and_rel(ptr, x)       PAWL_PL_OP_(__atomic_and_fetch, ptr, x, __ATOMIC_RELEASE)
#define pl_and_relc(ptr, x)      PAWL_PL_OP_(__atomic_and_fetch, ptr, x, __ATOMIC_RELEASE)
#define pl_or(ptr, x)            PAWL_PL_OP_(__atomic_or_fetch, ptr, x, __ATOMIC_SEQ_CST)
#define pl_or_lax(ptr, x)        PAWL_PL_OP_(__atomic_or_fetch, ptr, x, __ATOMIC_RELAXED)
#define pl_or_acq(ptr, x)        PAWL_PL_OP_(__atomic_or_fetch, ptr, x, __ATOMIC_ACQUIRE)
#define pl_or_rel(ptr, x)        PAWL_PL_OP_(__atomic_or_fetch, ptr, x, __ATOMIC_RELEASE)
#define pl_or_relc(ptr, x)       PAWL_PL_OP_(__atomic_or_fetch, ptr, x, __ATOMIC_RELEASE)
#define pl_xor(ptr, x)           PAWL_PL_OP_(__atomic_xor_fetch, ptr, x, __ATOMIC_SEQ_CST)
#define pl_xor_lax(ptr, x)       PAWL_PL_OP_(__atomic_xor_fetch, ptr, x, __ATOMIC_RELAXED)
#define pl_xor_acq(ptr, x)       PAWL_PL_OP_(__atomic_xor_fetch, ptr, x, __ATOMIC_ACQUIRE)
#define pl_xor_rel(ptr, x)       PAWL_PL_OP_(__atomic_xor_fetch, ptr, x, __ATOMIC_RELEASE)
#define pl_xor_relc(ptr, x)      PAWL_PL_OP_(__atomic_xor_fetch, ptr, x, __ATOMIC_RELEASE)

/* Operation without a value. */
#define pl_add_noret(ptr, x)     PAWL_PL_NORET_(__atomic_add_fetch, ptr, x, __ATOMIC_SEQ_CST)
#define pl_add_noret_lax(ptr, x) PAWL_PL_NORET_(__atomic_add_fetch, ptr, x, __ATOMIC_RELAXED)
#define pl_add_noret_acq(ptr, x) PAWL_PL_NORET_(__atomic_add_fetch, ptr, x, __ATOMIC_ACQUIRE)
#define pl_add_noret_rel(ptr, x) PAWL_PL_NORET_(__atomic_add_fetch, ptr, x, __ATOMIC_RELEASE)
#define pl_sub_noret(ptr, x)     PAWL_PL_NORET_(__atomic_sub_fetch, ptr, x, __ATOMIC_SEQ_CST)
#define pl_sub_noret_lax(ptr, x) PAWL_PL_NORET_(__atomic_sub_fetch, ptr, x, __ATOMIC_RELAXED)
#define pl_sub_noret_acq(ptr, x) PAWL_PL_NORET_(__atomic_sub_fetch, ptr, x, __ATOMIC_ACQUIRE)
#define pl_sub_noret_rel(ptr, x) PAWL_PL_NORET_(__atomic_sub_fetch, ptr, x, __ATOMIC_RELEASE)
#define pl_and_noret(ptr, x)     PAWL_PL_NORET_(__atomic_and_fetch, ptr, x, __ATOMIC_SEQ_CST)
#define pl_and_noret_lax(ptr, x) PAWL_PL_NORET_(__atomic_and_fetch, ptr, x, __ATOMIC_RELAXED)
#define pl_and_noret_acq(ptr, x) PAWL_PL_NORET_(__atomic_and_fetch, ptr, x, __ATOMIC_ACQUIRE)
#define pl_and_noret_rel(ptr, x) PAWL_PL_NORET_(__atomic_and_fetch, ptr, x, __ATOMIC_RELEASE)
#define pl_or_noret(ptr, x)      PAWL_PL_NORET_(__atomic_or_fetch, ptr, x, __ATOMIC_SEQ_CST)
#define pl_or_noret_lax(ptr, x)  PAWL_PL_NORET_(__atomic_or_fetch, ptr, x, __ATOMIC_RELAXED)
#define pl_or_noret_acq(ptr, x)  PAWL_PL_NORET_(__atomic_or_fetch, ptr, x, __ATOMIC_ACQUIRE)
#define pl_or_noret_rel(ptr, x)  PAWL_PL_NORET_(__atomic_or_fetch, ptr, x, __ATOMIC_RELEASE)
#define pl_xor_noret(ptr, x)     PAWL_PL_NORET_(__atomic_xor_fetch, ptr, x, __ATOMIC_SEQ_CST)
#define pl_xor_noret_lax(ptr, x) PAWL_PL_NORET_(__atomic_xor_fetch, ptr, x, __ATOMIC_RELAXED)
#define pl_xor_noret_acq(ptr, x) PAWL_PL_NORET_(__atomic_xor_fetch, ptr, x, __ATOMIC_ACQUIRE)
#define pl_xor_noret_rel(ptr, x) PAWL_PL_NORET_(__atomic_xor_fetch, ptr, x, __ATOMIC_RELEASE)

/* Operation and the value from before it. pl_xadd: the old name of pl_ldadd. */
#define pl_ldadd(ptr, x)         PAWL_PL_OP_(__atomic_fetch_add, ptr, x, __ATOMIC_SEQ_CST)
#define pl_ldadd_lax(ptr, x)     PAWL_PL_OP_(__atomic_fetch_add, ptr, x, __ATOMIC_RELAXED)
#define pl_ldadd_acq(ptr, x)     PAWL_PL_OP_(__atomic_fetch_add, ptr, x, __ATOMIC_ACQUIRE)
#define pl_ldadd_rel(ptr, x)     PAWL_PL_OP_(__atomic_fetch_add, ptr, x, __ATOMIC_RELEASE)
#define pl_ldadd_relc(ptr, x)    PAWL_PL_OP_(__atomic_fetch_add, ptr, x, __ATOMIC_RELEASE)
#define pl_ldsub(ptr, x)         PAWL_PL_OP_(__atomic_fetch_sub, ptr, x, __ATOMIC_SEQ_CST)
#define pl_ldsub_lax(ptr, x)     PAWL_PL_OP_(__atomic_fetch_sub, ptr, x, __ATOMIC_RELAXED)
#define pl_ldsub_acq(ptr, x)     PAWL_PL_OP_(__atomic_fetch_sub, ptr, x, __ATOMIC_ACQUIRE)
#define pl_ldsub_rel(ptr, x)     PAWL_PL_OP_(__atomic_fetch_sub, ptr, x, __ATOMIC_RELEASE)
#define pl_ldsub_relc(ptr, x)    PAWL_PL_OP_(__atomic_fetch_sub, ptr, x, __ATOMIC_RELEASE)
#define pl_ldand(ptr, x)         PAWL_PL_OP_(__atomic_fetch_and, ptr, x, __ATOMIC_SEQ_CST)
#define pl_ldand_lax(ptr, x)     PAWL_PL_OP_(__atomic_fetch_and, ptr, x, __ATOMIC_RELAXED)
#define pl_ldand_acq(ptr, x)     PAWL_PL_OP_(__atomic_fetch_and, ptr, x, __ATOMIC_ACQUIRE)
#define pl_ldand_rel(ptr, x)     PAWL_PL_OP_(__atomic_fetch_and, ptr, x, __ATOMIC_RELEASE)
#define pl_ldand_relc(ptr, x)    PAWL_PL_OP_(__atomic_fetch_and, ptr, x, __ATOMIC_RELEASE)
#define pl_ldor(ptr, x)          PAWL_PL_OP_(__atomic_fetch_or, ptr, x, __ATOMIC_SEQ_CST)
#define pl_ldor_lax(ptr, x)      PAWL_PL_OP_(__atomic_fetch_or, ptr, x, __ATOMIC_RELAXED)
#define pl_ldor_acq(ptr, x)      PAWL_PL_OP_(__atomic_fetch_or, ptr, x, __ATOMIC_ACQUIRE)
#define pl_ldor_rel(ptr, x)      PAWL_PL_OP_(__atomic_fetch_or, ptr, x, __ATOMIC_RELEASE)
#define pl_ldor_relc(ptr, x)     PAWL_PL_OP_(__atomic_fetch_or, ptr, x, __ATOMIC_RELEASE)
#define pl_ldxor(ptr, x)         PAWL_PL_OP_(__atomic_fetch_xor, ptr, x, __ATOMIC_SEQ_CST)
#define pl_ldxor_lax(ptr, x)     PAWL_PL_OP_(__atomic_fetch_xor, ptr, x, __ATOMIC_RELAXED)
#define pl_ldxor_acq(ptr, x)     PAWL_PL_OP_(__atomic_fetch_xor, ptr, x, __ATOMIC_ACQUIRE)
#define pl_ldxor_rel(ptr, x)     PAWL_PL_OP_(__atomic_fetch_xor, ptr, x, __ATOMIC_RELEASE)
#define pl_ldxor_relc(ptr, x)    PAWL_PL_OP_(__atomic_fetch_xor, ptr, x, __ATOMIC_RELEASE)
#define pl_xadd(ptr, x)          PAWL_PL_OP_(__atomic_fetch_add, ptr, x, __ATOMIC_SEQ_CST)

/* Sets (bts) or clears (btr) one bit; the value tells whether it was set. bit: below the width of *ptr. */
#define pl_bts(ptr, bit)         PAWL_PL_BIT_(bts, ptr, bit, __ATOMIC_SEQ_CST)
#define pl_bts_lax(ptr, bit)     PAWL_PL_BIT_(bts, ptr, bit, __ATOMIC_RELAXED)
#define pl_bts_acq(ptr, bit)     PAWL_PL_BIT_(bts, ptr, bit, __ATOMIC_ACQUIRE)
#define pl_bts_rel(ptr, bit)     PAWL_PL_BIT_(bts, ptr, bit, __ATOMIC_RELEASE)
#define pl_btr(ptr, bit)         PAWL_PL_BIT_(btr, ptr, bit, __ATOMIC_SEQ_CST)
#define pl_btr_lax(ptr, bit)     PAWL_PL_BIT_(btr, ptr, bit, __ATOMIC_RELAXED)
#define pl_btr_acq(ptr, bit)     PAWL_PL_BIT_(btr, ptr, bit, __ATOMIC_ACQUIRE)
#define pl_btr_rel(ptr, bit)     PAWL_PL_BIT_(btr, ptr, bit, __ATOMIC_RELEASE)

#ifndef __cplusplus
#    pragma GCC diagnostic pop
#endif

#endif
