/* Progressive locks: read, seek, write and atomic states in one 4- or 8-byte word; spin, exponential
 * back-off, then sleep. docs/lock.md has the tables of states, transitions, waits and wakes.
 *
 *   pawl_lock_t l = PAWL_LOCK_INIT;           4 bytes, at most 8191 threads on one lock at a time
 *   pawl_lock64_t l = PAWL_LOCK64_INIT;       8 bytes, at most 2^28
 *   pawl_read_lock(&l); ... pawl_read_unlock(&l);
 *
 * Every name takes either size. A lock returns nothing and cannot fail; a trylock never waits and returns
 * true if it got the lock; an `until` waits at most to an absolute CLOCK_MONOTONIC time in nanoseconds
 * (pawl_clock_ns() plus so many; one that has passed, as 0, fails at once unless the lock is free; PAWL_NEVER
 * never passes) and returns false when it expired: then the caller holds what it held before. Lock operations
 * acquire, unlock operations release. A zeroed word is a free lock.
 * Unlock touches no memory of the lock after its releasing step: whoever gets the lock next may free it.
 *
 * Switches, before the include: PAWL_DISABLE_EBO (plain polling instead of exponential back-off, in the
 * caller), PAWL_DISABLE_PARK (waiters never sleep, and claim no TURN: see docs/lock.md), PAWL_INLINE_WAIT
 * (waiting is done in the caller, so that a profile shows who contends), PAWL_STATS and PAWL_DEBUG (counts
 * and checks, with libpawl: docs/stats.md). They change neither the word nor the unlock protocol: objects
 * built with different ones work together. PAWL_SHARED (the lock lies in memory shared between processes)
 * must be the same for all users of a lock. PAWL_BACKEND_HEADER: see pawl/atomic.h. */
#ifndef PAWL_LOCK_H
#define PAWL_LOCK_H

#include "pawl/park.h"

typedef struct {
    uint32_t word;
} pawl_lock_t;

typedef struct {
    pawl_word64_t word; /* aligned to 8 bytes everywhere */
} pawl_lock64_t;

/* clang-format off */
#define PAWL_LOCK_INIT   {0}
#define PAWL_LOCK64_INIT {0}
/* clang-format on */

#define PAWL_N       32
#define PAWL_L       pawl_lock_t
#define PAWL_WORD(l) (&(l)->word)
#define PAWL_PREFIX  pawl
#define PAWL_LOW     0
#include "pawl/lock_size.h"

#define PAWL_N       64
#define PAWL_L       pawl_lock64_t
#define PAWL_WORD(l) (&(l)->word)
#define PAWL_PREFIX  pawl
#define PAWL_LOW     0
#include "pawl/lock_size.h"

/* One name for both sizes. */
#ifdef __cplusplus
#    define PAWL_GENERIC_(type, name)           \
        PAWL_INLINE type name(pawl_lock_t *l)   \
        {                                       \
            return name##_32(l);                \
        }                                       \
        PAWL_INLINE type name(pawl_lock64_t *l) \
        {                                       \
            return name##_64(l);                \
        }
#    define PAWL_GENERIC_UNTIL_(name)                              \
        PAWL_INLINE bool name(pawl_lock_t *l, uint64_t deadline)   \
        {                                                          \
            return name##_32(l, deadline);                         \
        }                                                          \
        PAWL_INLINE bool name(pawl_lock64_t *l, uint64_t deadline) \
        {                                                          \
            return name##_64(l, deadline);                         \
        }
#    define PAWL_GENERIC_ASK_(name)                   \
        PAWL_INLINE bool name(const pawl_lock_t *l)   \
        {                                             \
            return name##_32(l);                      \
        }                                             \
        PAWL_INLINE bool name(const pawl_lock64_t *l) \
        {                                             \
            return name##_64(l);                      \
        }
PAWL_GENERIC_(void, pawl_read_lock)
PAWL_GENERIC_(void, pawl_read_unlock)
PAWL_GENERIC_(void, pawl_seek_lock)
PAWL_GENERIC_(void, pawl_seek_unlock)
PAWL_GENERIC_(void, pawl_write_lock)
PAWL_GENERIC_(void, pawl_write_unlock)
PAWL_GENERIC_(void, pawl_atomic_lock)
PAWL_GENERIC_(void, pawl_atomic_unlock)
PAWL_GENERIC_(void, pawl_join_lock)
PAWL_GENERIC_(void, pawl_join_unlock)
PAWL_GENERIC_(void, pawl_claim_unlock)
PAWL_GENERIC_(void, pawl_seek_to_write)
PAWL_GENERIC_(void, pawl_write_to_seek)
PAWL_GENERIC_(void, pawl_write_to_read)
PAWL_GENERIC_(void, pawl_seek_to_read)
PAWL_GENERIC_(void, pawl_read_to_join)
PAWL_GENERIC_(void, pawl_read_to_claim)
PAWL_GENERIC_(void, pawl_join_to_claim)
PAWL_GENERIC_(void, pawl_claim_to_atomic)
PAWL_GENERIC_(void, pawl_atomic_to_read)
PAWL_GENERIC_(void, pawl_atomic_to_join)
PAWL_GENERIC_(bool, pawl_read_trylock)
PAWL_GENERIC_(bool, pawl_seek_trylock)
PAWL_GENERIC_(bool, pawl_write_trylock)
PAWL_GENERIC_(bool, pawl_atomic_trylock)
PAWL_GENERIC_(bool, pawl_join_trylock)
PAWL_GENERIC_(bool, pawl_read_try_to_seek)
PAWL_GENERIC_(bool, pawl_read_try_to_write)
PAWL_GENERIC_(bool, pawl_read_try_to_atomic)
PAWL_GENERIC_(bool, pawl_write_claim)
PAWL_GENERIC_(bool, pawl_atomic_claim)
PAWL_GENERIC_(bool, pawl_join_claim)
PAWL_GENERIC_(bool, pawl_read_claim_write)
PAWL_GENERIC_(bool, pawl_read_claim_atomic)
PAWL_GENERIC_UNTIL_(pawl_read_lock_until)
PAWL_GENERIC_UNTIL_(pawl_seek_lock_until)
PAWL_GENERIC_UNTIL_(pawl_write_lock_until)
PAWL_GENERIC_UNTIL_(pawl_atomic_lock_until)
PAWL_GENERIC_UNTIL_(pawl_join_lock_until)
PAWL_GENERIC_UNTIL_(pawl_seek_to_write_until)
PAWL_GENERIC_UNTIL_(pawl_read_to_write_until)
PAWL_GENERIC_ASK_(pawl_read_is_held)
PAWL_GENERIC_ASK_(pawl_seek_is_held)
PAWL_GENERIC_ASK_(pawl_write_is_held)
PAWL_GENERIC_ASK_(pawl_atomic_is_held)
PAWL_GENERIC_ASK_(pawl_last_writer)
#    undef PAWL_GENERIC_
#    undef PAWL_GENERIC_UNTIL_
#    undef PAWL_GENERIC_ASK_
#else
#    define PAWL_GENERIC_(name, l) _Generic((l), pawl_lock_t * : name##_32, pawl_lock64_t * : name##_64)
#    define PAWL_GENERIC_ASK_(name, l) \
        _Generic((l), pawl_lock_t * : name##_32, const pawl_lock_t * : name##_32, pawl_lock64_t * : name##_64, const pawl_lock64_t * : name##_64)
#    define pawl_read_lock(l)                     PAWL_GENERIC_(pawl_read_lock, l)(l)
#    define pawl_read_unlock(l)                   PAWL_GENERIC_(pawl_read_unlock, l)(l)
#    define pawl_seek_lock(l)                     PAWL_GENERIC_(pawl_seek_lock, l)(l)
#    define pawl_seek_unlock(l)                   PAWL_GENERIC_(pawl_seek_unlock, l)(l)
#    define pawl_write_lock(l)                    PAWL_GENERIC_(pawl_write_lock, l)(l)
#    define pawl_write_unlock(l)                  PAWL_GENERIC_(pawl_write_unlock, l)(l)
#    define pawl_atomic_lock(l)                   PAWL_GENERIC_(pawl_atomic_lock, l)(l)
#    define pawl_atomic_unlock(l)                 PAWL_GENERIC_(pawl_atomic_unlock, l)(l)
#    define pawl_join_lock(l)                     PAWL_GENERIC_(pawl_join_lock, l)(l)
#    define pawl_join_unlock(l)                   PAWL_GENERIC_(pawl_join_unlock, l)(l)
#    define pawl_claim_unlock(l)                  PAWL_GENERIC_(pawl_claim_unlock, l)(l)
#    define pawl_seek_to_write(l)                 PAWL_GENERIC_(pawl_seek_to_write, l)(l)
#    define pawl_write_to_seek(l)                 PAWL_GENERIC_(pawl_write_to_seek, l)(l)
#    define pawl_write_to_read(l)                 PAWL_GENERIC_(pawl_write_to_read, l)(l)
#    define pawl_seek_to_read(l)                  PAWL_GENERIC_(pawl_seek_to_read, l)(l)
#    define pawl_read_to_join(l)                  PAWL_GENERIC_(pawl_read_to_join, l)(l)
#    define pawl_read_to_claim(l)                 PAWL_GENERIC_(pawl_read_to_claim, l)(l)
#    define pawl_join_to_claim(l)                 PAWL_GENERIC_(pawl_join_to_claim, l)(l)
#    define pawl_claim_to_atomic(l)               PAWL_GENERIC_(pawl_claim_to_atomic, l)(l)
#    define pawl_atomic_to_read(l)                PAWL_GENERIC_(pawl_atomic_to_read, l)(l)
#    define pawl_atomic_to_join(l)                PAWL_GENERIC_(pawl_atomic_to_join, l)(l)
#    define pawl_read_trylock(l)                  PAWL_GENERIC_(pawl_read_trylock, l)(l)
#    define pawl_seek_trylock(l)                  PAWL_GENERIC_(pawl_seek_trylock, l)(l)
#    define pawl_write_trylock(l)                 PAWL_GENERIC_(pawl_write_trylock, l)(l)
#    define pawl_atomic_trylock(l)                PAWL_GENERIC_(pawl_atomic_trylock, l)(l)
#    define pawl_join_trylock(l)                  PAWL_GENERIC_(pawl_join_trylock, l)(l)
#    define pawl_read_try_to_seek(l)              PAWL_GENERIC_(pawl_read_try_to_seek, l)(l)
#    define pawl_read_try_to_write(l)             PAWL_GENERIC_(pawl_read_try_to_write, l)(l)
#    define pawl_read_try_to_atomic(l)            PAWL_GENERIC_(pawl_read_try_to_atomic, l)(l)
#    define pawl_write_claim(l)                   PAWL_GENERIC_(pawl_write_claim, l)(l)
#    define pawl_atomic_claim(l)                  PAWL_GENERIC_(pawl_atomic_claim, l)(l)
#    define pawl_join_claim(l)                    PAWL_GENERIC_(pawl_join_claim, l)(l)
#    define pawl_read_claim_write(l)              PAWL_GENERIC_(pawl_read_claim_write, l)(l)
#    define pawl_read_claim_atomic(l)             PAWL_GENERIC_(pawl_read_claim_atomic, l)(l)
#    define pawl_read_lock_until(l, deadline)     PAWL_GENERIC_(pawl_read_lock_until, l)(l, deadline)
#    define pawl_seek_lock_until(l, deadline)     PAWL_GENERIC_(pawl_seek_lock_until, l)(l, deadline)
#    define pawl_write_lock_until(l, deadline)    PAWL_GENERIC_(pawl_write_lock_until, l)(l, deadline)
#    define pawl_atomic_lock_until(l, deadline)   PAWL_GENERIC_(pawl_atomic_lock_until, l)(l, deadline)
#    define pawl_join_lock_until(l, deadline)     PAWL_GENERIC_(pawl_join_lock_until, l)(l, deadline)
#    define pawl_seek_to_write_until(l, deadline) PAWL_GENERIC_(pawl_seek_to_write_until, l)(l, deadline)
#    define pawl_read_to_write_until(l, deadline) PAWL_GENERIC_(pawl_read_to_write_until, l)(l, deadline)
#    define pawl_read_is_held(l)                  PAWL_GENERIC_ASK_(pawl_read_is_held, l)(l)
#    define pawl_seek_is_held(l)                  PAWL_GENERIC_ASK_(pawl_seek_is_held, l)(l)
#    define pawl_write_is_held(l)                 PAWL_GENERIC_ASK_(pawl_write_is_held, l)(l)
#    define pawl_atomic_is_held(l)                PAWL_GENERIC_ASK_(pawl_atomic_is_held, l)(l)
#    define pawl_last_writer(l)                   PAWL_GENERIC_ASK_(pawl_last_writer, l)(l)
#endif

#if defined PAWL_STATS || defined PAWL_DEBUG
#    include "pawl/watch.h"
#endif

#endif
