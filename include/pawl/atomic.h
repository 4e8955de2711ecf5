/* Atomic operations on 4- and 8-byte words, the memory order in each name, and the world a lock stands in
 * (pause, futex, clock). Everything the locks ask of the machine goes through this file.
 *
 * PAWL_BACKEND_HEADER, if defined, names a header ("...") that provides all of it instead: the functions
 * below with the same names and meanings. Otherwise the compiler's C11 atomics and Linux are used. If it
 * defines PAWL_BACKEND_BACKOFF it has what pawl/backoff.h has, too, and if PAWL_BACKEND_TIMES, the numbers of
 * pawl/park.h.
 *
 * Compare-and-swap is strong, takes the expected value by pointer and updates it on failure. Failure is
 * relaxed. */
#ifndef PAWL_ATOMIC_H
#define PAWL_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#ifndef __cplusplus /* declarations stand where they are first needed */
#    pragma GCC diagnostic push
#    pragma GCC diagnostic ignored "-Wdeclaration-after-statement"
#endif

/* A deadline that never passes. */
#define PAWL_NEVER    UINT64_MAX

#define PAWL_INLINE   static inline __attribute__((always_inline, unused))
#define PAWL_NOINLINE static __attribute__((noinline, cold, unused))

/* Words as the operations see them: the compatibility header lays locks over integers and pointers. (A
 * uint64_t of 32-bit x86 need not be aligned to more than 4 bytes; a word must be.) */
typedef uint32_t __attribute__((may_alias)) pawl_word32_t;
typedef uint64_t __attribute__((may_alias, aligned(8))) pawl_word64_t;

#ifdef PAWL_BACKEND_HEADER
#    include PAWL_BACKEND_HEADER
#else

#    define PAWL_ATOMIC_OPS(bits)                                                                          \
        PAWL_INLINE uint##bits##_t pawl_load_relaxed_##bits(const pawl_word##bits##_t *p)                  \
        {                                                                                                  \
            return __atomic_load_n(p, __ATOMIC_RELAXED);                                                   \
        }                                                                                                  \
        PAWL_INLINE bool pawl_any_relaxed_##bits(const pawl_word##bits##_t *p, uint##bits##_t mask)        \
        {                                                                                                  \
            return (__atomic_load_n(p, __ATOMIC_RELAXED) & mask) != 0;                                     \
        }                                                                                                  \
        PAWL_INLINE uint##bits##_t pawl_load_acquire_##bits(const pawl_word##bits##_t *p)                  \
        {                                                                                                  \
            return __atomic_load_n(p, __ATOMIC_ACQUIRE);                                                   \
        }                                                                                                  \
        PAWL_INLINE void pawl_store_relaxed_##bits(pawl_word##bits##_t *p, uint##bits##_t v)               \
        {                                                                                                  \
            __atomic_store_n(p, v, __ATOMIC_RELAXED);                                                      \
        }                                                                                                  \
        PAWL_INLINE void pawl_store_release_##bits(pawl_word##bits##_t *p, uint##bits##_t v)               \
        {                                                                                                  \
            __atomic_store_n(p, v, __ATOMIC_RELEASE);                                                      \
        }                                                                                                  \
        PAWL_INLINE uint##bits##_t pawl_fetch_add_acquire_##bits(pawl_word##bits##_t *p, uint##bits##_t v) \
        {                                                                                                  \
            return __atomic_fetch_add(p, v, __ATOMIC_ACQUIRE);                                             \
        }                                                                                                  \
        PAWL_INLINE uint##bits##_t pawl_fetch_sub_release_##bits(pawl_word##bits##_t *p, uint##bits##_t v) \
        {                                                                                                  \
            return __atomic_fetch_sub(p, v, __ATOMIC_RELEASE);                                             \
        }                                                                                                  \
        PAWL_INLINE bool pawl_cas_relaxed_##bits(pawl_word##bits##_t *p, uint##bits##_t *expected,         \
                                                 uint##bits##_t v)                                         \
        {                                                                                                  \
            return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
        }                                                                                                  \
        PAWL_INLINE bool pawl_cas_acquire_##bits(pawl_word##bits##_t *p, uint##bits##_t *expected,         \
                                                 uint##bits##_t v)                                         \
        {                                                                                                  \
            return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED); \
        }                                                                                                  \
        PAWL_INLINE bool pawl_cas_release_##bits(pawl_word##bits##_t *p, uint##bits##_t *expected,         \
                                                 uint##bits##_t v)                                         \
        {                                                                                                  \
            return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED); \
        }                                                                                                  \
        PAWL_INLINE bool pawl_cas_acq_rel_##bits(pawl_word##bits##_t *p, uint##bits##_t *expected,         \
                                                 uint##bits##_t v)                                         \
        {                                                                                                  \
            return __atomic_compare_exchange_n(p, expected, v, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED); \
        }

PAWL_ATOMIC_OPS(32)
PAWL_ATOMIC_OPS(64)
#    undef PAWL_ATOMIC_OPS

/* One pause: tells the core that this is a spin. On arm64 `yield` does nothing on most cores; `isb` waits
 * about as long as x86's pause does. */
PAWL_INLINE void pawl_cpu_relax(void)
{
#    if defined(__x86_64__) || defined(__i386__)
    __asm__ volatile("pause" ::: "memory");
#    elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#    else
    __asm__ volatile("" ::: "memory");
#    endif
}

/* Fetches a word that is about to be changed, so that a look at it before does not fetch it twice. */
PAWL_INLINE void pawl_prefetch_write(const void *p)
{
#    if defined(__x86_64__)
    __asm__ volatile("prefetchw (%0)" : : "r"(p)); /* does nothing on the oldest, and is never an error */
#    else
    __builtin_prefetch(p, 1);
#    endif
}

/* Under -std=c11 the C library declares neither syscall() nor clock_gettime(): these stand for them under
 * names of our own, bound to the same symbols. */
struct pawl_timespec {
    long sec, nsec;
};
#    ifdef __cplusplus
extern "C" {
#    endif
extern long pawl_libc_syscall_(long number, ...) __asm__("syscall");
extern int pawl_libc_sched_yield_(void) __asm__("sched_yield");
extern int pawl_libc_clock_gettime_(int clock, struct pawl_timespec *t) __asm__("clock_gettime");
#    ifdef __cplusplus
}
#    endif

/* Gives the CPU to another thread that waits for it, if there is one. */
PAWL_INLINE void pawl_yield(void)
{
    pawl_libc_sched_yield_();
}

/* Nanoseconds of CLOCK_MONOTONIC. */
PAWL_INLINE uint64_t pawl_clock_ns(void)
{
    struct pawl_timespec t = {0, 0};
    pawl_libc_clock_gettime_(1 /* CLOCK_MONOTONIC */, &t);
    return (uint64_t)t.sec * 1000000000u + (uint64_t)t.nsec;
}

#    include <errno.h>
#    include <sys/syscall.h>

#    ifdef PAWL_SHARED /* locks in memory shared between processes */
#        define PAWL_FUTEX_FLAG 0
#    else
#        define PAWL_FUTEX_FLAG 128 /* FUTEX_PRIVATE_FLAG */
#    endif

/* Sleeps while *word is `value`, at most until the absolute CLOCK_MONOTONIC time deadline_ns. mask tells
 * which wakes are meant for this sleeper. Returns 0 if it was woken, else why it was not: EAGAIN
 * (*word was another), ETIMEDOUT, EINTR. Never a grant of anything. The caller's errno stays as it was. */
PAWL_INLINE int pawl_futex_wait(const uint32_t *word, uint32_t value, uint32_t mask, uint64_t deadline_ns)
{
    bool never = deadline_ns / 1000000000u > (uint64_t)__LONG_MAX__ || deadline_ns == PAWL_NEVER;
    struct pawl_timespec t = {(long)(deadline_ns / 1000000000u), (long)(deadline_ns % 1000000000u)};
    int saved = errno, why = 0;
    if (pawl_libc_syscall_(SYS_futex, word, 9 /* FUTEX_WAIT_BITSET */ | PAWL_FUTEX_FLAG, value,
                           never ? (struct pawl_timespec *)0 : &t, (void *)0, mask) != 0) {
        why = errno;
    }
    errno = saved;
    return why;
}

/* Wakes at most n sleepers on word whose mask meets this one; returns how many. word is used as an address
 * only: the memory may be gone already. */
PAWL_INLINE int pawl_futex_wake(const uint32_t *word, int n, uint32_t mask)
{
    int saved = errno;
    int woken = (int)pawl_libc_syscall_(SYS_futex, word, 10 /* FUTEX_WAKE_BITSET */ | PAWL_FUTEX_FLAG, n,
                                        (void *)0, (void *)0, mask);
    errno = saved;
    return woken;
}

/* Sleeps until that CLOCK_MONOTONIC time, or less (a signal). Nobody wakes it. */
PAWL_INLINE void pawl_sleep_until(uint64_t deadline_ns)
{
    const uint32_t nothing = 0;
    pawl_futex_wait(&nothing, 0, 1, deadline_ns);
}

#endif /* PAWL_BACKEND_HEADER */

#ifndef __cplusplus
#    pragma GCC diagnostic pop
#endif

#endif
