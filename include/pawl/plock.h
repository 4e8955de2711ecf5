/* plock's interface (pl_take_r, pl_stow, pl_lorw_rdlock, ...) on Pawl's locks: a program written for plock
 * builds against this header unchanged. docs/plock.md has every macro, what it does here and what differs.
 *
 * A lock is an integer of 4 bytes or of the size of a long, or a pointer, initially 0 but for its two lowest
 * bits: those are the application's, who may change them at any time with atomic operations; no lock
 * operation changes them. A lock of another size is refused by the compiler. Every macro is an expression,
 * evaluates its argument once, and declares nothing that could hide a caller's variable.
 *
 * Switches, before the first include of a Pawl header: PLOCK_DISABLE_EBO (as PAWL_DISABLE_EBO),
 * PLOCK_INLINE_EBO (as PAWL_INLINE_WAIT); PLOCK_LORW_INLINE_WAIT is accepted and does nothing by itself. */
#ifndef PAWL_PLOCK_H
#define PAWL_PLOCK_H

#ifndef __cplusplus /* declarations stand where they are first needed */
#    pragma GCC diagnostic push
#    pragma GCC diagnostic ignored "-Wdeclaration-after-statement"
#endif

#ifdef PL_PLOCK_H
#    error "pawl/plock.h stands in for plock.h: include one of them, not both"
#endif
#define PL_PLOCK_H

#if defined(PLOCK_DISABLE_EBO) && !defined(PAWL_DISABLE_EBO)
#    define PAWL_DISABLE_EBO
#endif
#if defined(PLOCK_INLINE_EBO) && !defined(PAWL_INLINE_WAIT)
#    define PAWL_INLINE_WAIT
#endif

#include "pawl/lock.h"
#include "pawl/plock_atomic.h"

#include <stddef.h>

/* Words that are read as integers whatever the application declared them as. */
typedef unsigned int __attribute__((may_alias)) pawl_pl_int_word_;
typedef unsigned long __attribute__((may_alias)) pawl_pl_long_word_;

/* The locks once more, as pawl_pl_read_lock_32() and so on, on bare words whose two lowest bits are not
 * theirs. */
#define PAWL_N       32
#define PAWL_L       pawl_word32_t
#define PAWL_WORD(l) (l)
#define PAWL_PREFIX  pawl_pl
#define PAWL_LOW     2
#include "pawl/lock_size.h"

#define PAWL_N       64
#define PAWL_L       pawl_word64_t
#define PAWL_WORD(l) (l)
#define PAWL_PREFIX  pawl_pl
#define PAWL_LOW     2
#include "pawl/lock_size.h"

/* The pointer as these take it, whatever it points to, const and volatile included. */
PAWL_INLINE pawl_word32_t *pawl_pl_word_32_(const volatile void *lock)
{
    return (pawl_word32_t *)(uintptr_t)lock;
}

PAWL_INLINE pawl_word64_t *pawl_pl_word_64_(const volatile void *lock)
{
    return (pawl_word64_t *)(uintptr_t)lock;
}

/* For each macro pl_NAME a function for each size: VOID for those that are statements, TAKE for the pl_take_
 * ones, whose value is 0 in plock, TRY for those whose value is a truth. */
#define PAWL_PL_VOID_N_(n, name, op)                                    \
    PAWL_INLINE void pawl_pl_do_##name##_##n(const volatile void *lock) \
    {                                                                   \
        op##_##n(pawl_pl_word_##n##_(lock));                            \
    }
#define PAWL_PL_TAKE_N_(n, name, op)                                   \
    PAWL_INLINE int pawl_pl_do_##name##_##n(const volatile void *lock) \
    {                                                                  \
        op##_##n(pawl_pl_word_##n##_(lock));                           \
        return 0;                                                      \
    }
#define PAWL_PL_TRY_N_(n, name, op)                                    \
    PAWL_INLINE int pawl_pl_do_##name##_##n(const volatile void *lock) \
    {                                                                  \
        return op##_##n(pawl_pl_word_##n##_(lock));                    \
    }
#define PAWL_PL_VOID_(name, op) \
    PAWL_PL_VOID_N_(32, name, op) PAWL_PL_VOID_N_(64, name, op) PAWL_PL_PICK_(void, name)
#define PAWL_PL_TAKE_(name, op) \
    PAWL_PL_TAKE_N_(32, name, op) PAWL_PL_TAKE_N_(64, name, op) PAWL_PL_PICK_(int, name)
#define PAWL_PL_TRY_(name, op) \
    PAWL_PL_TRY_N_(32, name, op) PAWL_PL_TRY_N_(64, name, op) PAWL_PL_PICK_(int, name)

/* Calls the one for the lock's size; for another size the compiler stops with an error that names the macro.
 * The choice is the compiler's front end's: even when nothing is optimised no other code comes near the lock.
 * (C has no template, C++ no type defined inside sizeof.) */
#define PAWL_PL_SIZE_TEXT_(name) #name ": a lock has 4 bytes or the size of a long"
#ifdef __cplusplus
#    define PAWL_PL_PICK_(type, name)                                      \
        template <size_t size>                                             \
        struct pawl_pl_pick_##name##_ {                                    \
            static_assert(size == sizeof(long), PAWL_PL_SIZE_TEXT_(name)); \
            static PAWL_PL_MEMBER_ type call(const volatile void *lock)    \
            {                                                              \
                return pawl_pl_do_##name##_64(lock);                       \
            }                                                              \
        };                                                                 \
        template <>                                                        \
        struct pawl_pl_pick_##name##_<4> {                                 \
            static PAWL_PL_MEMBER_ type call(const volatile void *lock)    \
            {                                                              \
                return pawl_pl_do_##name##_32(lock);                       \
            }                                                              \
        };
#    define PAWL_PL_MEMBER_         inline __attribute__((always_inline))
#    define PAWL_PL_DO_(name, lock) pawl_pl_pick_##name##_<sizeof(*(lock))>::call(lock)
#else
#    define PAWL_PL_PICK_(type, name)
#    define PAWL_PL_SIZE_(name, lock)                                               \
        __extension__ sizeof(struct {                                               \
            _Static_assert(sizeof(*(lock)) == 4 || sizeof(*(lock)) == sizeof(long), \
                           PAWL_PL_SIZE_TEXT_(name));                               \
            char value[sizeof(*(lock))];                                            \
        })
#    define PAWL_PL_DO_(name, lock)                                                     \
        __builtin_choose_expr((PAWL_PL_SIZE_(name, lock)) == 4, pawl_pl_do_##name##_32, \
                              pawl_pl_do_##name##_64)(lock)
#endif

PAWL_PL_TAKE_(pl_take_r, pawl_pl_read_lock)
PAWL_PL_TAKE_(pl_take_s, pawl_pl_seek_lock)
PAWL_PL_TAKE_(pl_take_w, pawl_pl_write_lock)
PAWL_PL_TAKE_(pl_take_a, pawl_pl_atomic_lock)
PAWL_PL_TAKE_(pl_take_j, pawl_pl_join_lock)
PAWL_PL_TRY_(pl_try_r, pawl_pl_read_trylock)
PAWL_PL_TRY_(pl_try_s, pawl_pl_seek_trylock)
PAWL_PL_TRY_(pl_try_w, pawl_pl_write_claim)
PAWL_PL_TRY_(pl_try_w_nowait, pawl_pl_write_trylock)
PAWL_PL_TRY_(pl_try_a, pawl_pl_atomic_claim)
PAWL_PL_TRY_(pl_try_j, pawl_pl_join_claim)
PAWL_PL_TRY_(pl_try_rtos, pawl_pl_read_try_to_seek)
PAWL_PL_TRY_(pl_try_rtow, pawl_pl_read_claim_write)
PAWL_PL_TRY_(pl_try_rtoa, pawl_pl_read_claim_atomic)
PAWL_PL_VOID_(pl_drop_r, pawl_pl_read_unlock)
PAWL_PL_VOID_(pl_drop_s, pawl_pl_seek_unlock)
PAWL_PL_VOID_(pl_drop_w, pawl_pl_write_unlock)
PAWL_PL_VOID_(pl_drop_a, pawl_pl_atomic_unlock)
PAWL_PL_VOID_(pl_drop_j, pawl_pl_join_unlock)
PAWL_PL_VOID_(pl_drop_c, pawl_pl_claim_unlock)
PAWL_PL_VOID_(pl_stow, pawl_pl_seek_to_write)
PAWL_PL_VOID_(pl_wtos, pawl_pl_write_to_seek)
PAWL_PL_VOID_(pl_wtor, pawl_pl_write_to_read)
PAWL_PL_VOID_(pl_stor, pawl_pl_seek_to_read)
PAWL_PL_VOID_(pl_rtoj, pawl_pl_read_to_join)
PAWL_PL_VOID_(pl_rtoc, pawl_pl_read_to_claim)
PAWL_PL_VOID_(pl_jtoc, pawl_pl_join_to_claim)
PAWL_PL_VOID_(pl_ctoa, pawl_pl_claim_to_atomic)
PAWL_PL_VOID_(pl_ator, pawl_pl_atomic_to_read)
PAWL_PL_VOID_(pl_atoj, pawl_pl_atomic_to_join)
PAWL_PL_TRY_(pl_last_writer, pawl_pl_last_writer)
#undef PAWL_PL_VOID_
#undef PAWL_PL_TAKE_
#undef PAWL_PL_TRY_
#undef PAWL_PL_VOID_N_
#undef PAWL_PL_TAKE_N_
#undef PAWL_PL_TRY_N_
#undef PAWL_PL_PICK_
#undef PAWL_PL_MEMBER_

/* R read, S seek, W write, A atomic, J join, C claim. take waits; drop gives back. */
#define pl_take_r(lock)       PAWL_PL_DO_(pl_take_r, lock)
#define pl_take_s(lock)       PAWL_PL_DO_(pl_take_s, lock)
#define pl_take_w(lock)       PAWL_PL_DO_(pl_take_w, lock)
#define pl_take_a(lock)       PAWL_PL_DO_(pl_take_a, lock)
#define pl_take_j(lock)       PAWL_PL_DO_(pl_take_j, lock)
#define pl_drop_r(lock)       PAWL_PL_DO_(pl_drop_r, lock)
#define pl_drop_s(lock)       PAWL_PL_DO_(pl_drop_s, lock)
#define pl_drop_w(lock)       PAWL_PL_DO_(pl_drop_w, lock)
#define pl_drop_a(lock)       PAWL_PL_DO_(pl_drop_a, lock)
#define pl_drop_j(lock)       PAWL_PL_DO_(pl_drop_j, lock)
#define pl_drop_c(lock)       PAWL_PL_DO_(pl_drop_c, lock)

/* Not 0 when it got the lock. These two, and w_nowait, never wait. */
#define pl_try_r(lock)        PAWL_PL_DO_(pl_try_r, lock)
#define pl_try_s(lock)        PAWL_PL_DO_(pl_try_s, lock)
#define pl_try_w_nowait(lock) PAWL_PL_DO_(pl_try_w_nowait, lock)

/* Fail at once when a holder stands in the way that may stay (S or W; for W also A) or a waiter is due, else
 * wait for the readers (J: and before that for the writers, and for those who are due). */
#define pl_try_w(lock)        PAWL_PL_DO_(pl_try_w, lock)
#define pl_try_a(lock)        PAWL_PL_DO_(pl_try_a, lock)
#define pl_try_j(lock)        PAWL_PL_DO_(pl_try_j, lock)

/* From R, which is still held after a failure and must then be dropped before another attempt. rtos never
 * waits; rtow and rtoa fail at once when S or W is claimed, else wait for the other readers. */
#define pl_try_rtos(lock)     PAWL_PL_DO_(pl_try_rtos, lock)
#define pl_try_rtow(lock)     PAWL_PL_DO_(pl_try_rtow, lock)
#define pl_try_rtoa(lock)     PAWL_PL_DO_(pl_try_rtoa, lock)

/* Transitions that cannot fail. stow waits for the readers, ator for the other atomic holders, rtoj and rtoc
 * for the readers to leave or join, ctoa for the other claimants; the rest wait for nothing. */
#define pl_stow(lock)         PAWL_PL_DO_(pl_stow, lock)
#define pl_wtos(lock)         PAWL_PL_DO_(pl_wtos, lock)
#define pl_wtor(lock)         PAWL_PL_DO_(pl_wtor, lock)
#define pl_stor(lock)         PAWL_PL_DO_(pl_stor, lock)
#define pl_rtoj(lock)         PAWL_PL_DO_(pl_rtoj, lock)
#define pl_rtoc(lock)         PAWL_PL_DO_(pl_rtoc, lock)
#define pl_jtoc(lock)         PAWL_PL_DO_(pl_jtoc, lock)
#define pl_ctoa(lock)         PAWL_PL_DO_(pl_ctoa, lock)
#define pl_ator(lock)         PAWL_PL_DO_(pl_ator, lock)
#define pl_atoj(lock)         PAWL_PL_DO_(pl_atoj, lock)

/* Whether the caller, who holds J, C or A, is the last of these. */
#define pl_last_writer(lock)  PAWL_PL_DO_(pl_last_writer, lock)

/* *p as an integer, whatever it was declared as. */
PAWL_INLINE unsigned long pawl_pl_deref_long_(const volatile void *p)
{
    return __atomic_load_n((const volatile pawl_pl_long_word_ *)p, __ATOMIC_RELAXED);
}

PAWL_INLINE unsigned int pawl_pl_deref_int_(const volatile void *p)
{
    return __atomic_load_n((const volatile pawl_pl_int_word_ *)p, __ATOMIC_RELAXED);
}

#define pl_deref_long(p)   pawl_pl_deref_long_(p)
#define pl_deref_int(p)    pawl_pl_deref_int_(p)

/* Waiting on words of the application's: these poll, ever more rarely, and give up the CPU now and then, but
 * never sleep, since nobody would wake them. */
#define PAWL_PL_POLL_MOST  64u   /* pauses between two looks, at most */
#define PAWL_PL_POLL_YIELD 1024u /* pauses after which the CPU is offered to others */

PAWL_INLINE void pawl_pl_poll_(unsigned *pauses, unsigned *total)
{
#ifdef PAWL_DISABLE_EBO
    *pauses = 1;
#endif
    for (unsigned n = *pauses; n; n--) {
        pawl_cpu_relax();
    }
    *total += *pauses;
    *pauses = *pauses < PAWL_PL_POLL_MOST ? *pauses * 2 : *pauses;
#ifndef PAWL_BACKEND_HEADER
    if (*total >= PAWL_PL_POLL_YIELD) {
        pawl_libc_syscall_(SYS_sched_yield);
        *total = 0;
    }
#endif
}

/* In the caller's own code where that is to show who waits. */
#if defined(PAWL_DISABLE_EBO) || defined(PAWL_INLINE_WAIT)
#    define PAWL_PL_WAIT_ PAWL_INLINE
#else
#    define PAWL_PL_WAIT_ static __attribute__((noinline, unused))
#endif

/* For a word of `type`: wait_unlock until no bit of mask is set, wait_new until the value is not prev, the
 * first look after a pause. Return the value that ended the wait, and acquire what was released with it. */
#define PAWL_PL_WAITS_(name, type)                                                                         \
    PAWL_PL_WAIT_ unsigned type pl_wait_unlock_##name(const volatile unsigned type *word,                  \
                                                      unsigned type mask)                                  \
    {                                                                                                      \
        unsigned pauses = 1, total = 0;                                                                    \
        unsigned type v;                                                                                   \
        while ((v = __atomic_load_n(word, __ATOMIC_ACQUIRE)) & mask) {                                     \
            pawl_pl_poll_(&pauses, &total);                                                                \
        }                                                                                                  \
        return v;                                                                                          \
    }                                                                                                      \
    PAWL_PL_WAIT_ unsigned type pl_wait_new_##name(const volatile unsigned type *word, unsigned type prev) \
    {                                                                                                      \
        unsigned pauses = 1, total = 0;                                                                    \
        unsigned type v;                                                                                   \
        do {                                                                                               \
            pawl_pl_poll_(&pauses, &total);                                                                \
        } while ((v = __atomic_load_n(word, __ATOMIC_ACQUIRE)) == prev);                                   \
        return v;                                                                                          \
    }
PAWL_PL_WAITS_(long, long)
PAWL_PL_WAITS_(int, int)
#undef PAWL_PL_WAITS_
#undef PAWL_PL_WAIT_

/* The low-overhead read/write lock: R and W only, in an unsigned long of which no bit is the application's.
 * unlock finds out by itself which of the two the caller holds: readers are counted exactly. SHR_BASE and
 * EXC_BASE are what a word of 0 becomes by one reader and by a writer; a program may take the lock by
 * exchanging 0 for one of them (HAProxy does). They follow from pawl/lock_size.h; a test compares. */
#if __SIZEOF_LONG__ == 8
#    define PAWL_PL_LORW_(op, lock) op##_64(pawl_pl_word_64_(lock))
#else
#    define PAWL_PL_LORW_(op, lock) op##_32(pawl_pl_word_32_(lock))
#endif
#define PLOCK_LORW_SHR_BASE (1UL << 8)
#define PLOCK_LORW_EXC_BASE (3UL << 6)

PAWL_INLINE void pl_lorw_rdlock(unsigned long *lock)
{
    PAWL_PL_LORW_(pawl_pl_read_lock_exact, lock);
}

PAWL_INLINE void pl_lorw_wrlock(unsigned long *lock)
{
    PAWL_PL_LORW_(pawl_pl_write_lock, lock);
}

PAWL_INLINE void pl_lorw_rdunlock(unsigned long *lock)
{
    PAWL_PL_LORW_(pawl_pl_read_unlock, lock);
}

PAWL_INLINE void pl_lorw_wrunlock(unsigned long *lock)
{
    PAWL_PL_LORW_(pawl_pl_write_unlock, lock);
}

PAWL_INLINE void pl_lorw_unlock(unsigned long *lock)
{
    PAWL_PL_LORW_(pawl_pl_unlock_any, lock);
}

/* They are functions, as in plock; in C, where a pointer to another type is only a warning, these see to it
 * that a lock of another size is an error, too. (A `void *` says nothing of the size, and is taken.) */
#ifndef __cplusplus
#    define PAWL_PL_LONG_(name, lock)                                                                       \
        __builtin_choose_expr(__extension__ sizeof(struct {                                                 \
                                  _Static_assert(__builtin_types_compatible_p(__typeof__(*(lock)), void) || \
                                                     sizeof(*(lock)) == sizeof(long),                       \
                                                 name ": a lock has the size of a long");                   \
                                  char checked;                                                             \
                              }) == 1,                                                                      \
                              (lock), (lock))
#    define pl_lorw_rdlock(lock)   pl_lorw_rdlock(PAWL_PL_LONG_("pl_lorw_rdlock", lock))
#    define pl_lorw_wrlock(lock)   pl_lorw_wrlock(PAWL_PL_LONG_("pl_lorw_wrlock", lock))
#    define pl_lorw_rdunlock(lock) pl_lorw_rdunlock(PAWL_PL_LONG_("pl_lorw_rdunlock", lock))
#    define pl_lorw_wrunlock(lock) pl_lorw_wrunlock(PAWL_PL_LONG_("pl_lorw_wrunlock", lock))
#    define pl_lorw_unlock(lock)   pl_lorw_unlock(PAWL_PL_LONG_("pl_lorw_unlock", lock))
#endif

#ifndef __cplusplus
#    pragma GCC diagnostic pop
#endif

#endif
