/* Progressive locks: read, seek, write and atomic states in one 4- or 8-byte word; spin, exponential
 * back-off, then sleep. docs/lock.md has the tables of states, transitions, waits and wakes.
 *
 *   pawl_lock_t l = PAWL_LOCK_INIT;           4 bytes, at most 8191 threads on one lock at a time
 *   pawl_lock64_t l = PAWL_LOCK64_INIT;       8 bytes, at most 2^28
 *   pawl_read_lock(&l); ... pawl_read_unlock(&l);
 *
 * Every name takes either size. A lock returns nothing and cannot fail; a trylock never waits and returns
 * true if it got the lock. Lock operations acquire, unlock operations release. A zeroed word is a free lock.
 * Unlock touches no memory of the lock after its releasing step: whoever gets the lock next may free it.
 *
 * Switches, before the include: PAWL_DISABLE_EBO (plain polling instead of exponential back-off),
 * PAWL_DISABLE_PARK (waiters never sleep, and claim no TURN: see docs/lock.md), PAWL_SHARED (the lock lies in
 * memory shared between processes). They change neither the word nor the unlock protocol: objects built with
 * different ones work together. */
#ifndef PAWL_LOCK_H
#define PAWL_LOCK_H

#include "pawl/atomic.h"
#include "pawl/backoff.h"

/* A waiter older than this may claim the TURN: then nobody overtakes it but those already inside.
 * Nanoseconds. */
#define PAWL_TURN_NS 1000000u

typedef struct {
    uint32_t word;
} pawl_lock_t;

typedef struct {
    uint64_t word __attribute__((aligned(8)));
} pawl_lock64_t;

/* clang-format off */
#define PAWL_LOCK_INIT   {0}
#define PAWL_LOCK64_INIT {0}
/* clang-format on */

enum pawl_kind_ { PAWL_KIND_READ, PAWL_KIND_SEEK, PAWL_KIND_WRITE, PAWL_KIND_ATOMIC };

/* Kinds of sleepers, as futex wake masks. */
#define PAWL_WAKE_READ      1u
#define PAWL_WAKE_EXCLUSIVE 2u /* waits for S or W */
#define PAWL_WAKE_ATOMIC    4u
#define PAWL_WAKE_ANY       7u
#define PAWL_WAKE_DRAIN     8u
#define PAWL_WAKE_TURN      16u

PAWL_INLINE uint32_t pawl_wake_mask_(enum pawl_kind_ kind)
{
    return kind == PAWL_KIND_READ     ? PAWL_WAKE_READ
           : kind == PAWL_KIND_ATOMIC ? PAWL_WAKE_ATOMIC
                                      : PAWL_WAKE_EXCLUSIVE;
}

#define PAWL_N       32
#define PAWL_L       pawl_lock_t
#define PAWL_A_SHIFT 19 /* readers: 14 bits; atomic holders: 13 */
#include "pawl/lock_ops.h"
#undef PAWL_N
#undef PAWL_L
#undef PAWL_A_SHIFT

#define PAWL_N       64
#define PAWL_L       pawl_lock64_t
#define PAWL_A_SHIFT 34 /* readers: 29 bits, 27 of them beside the marks; atomic holders: 29; a mark */
#include "pawl/lock_ops.h"
#undef PAWL_N
#undef PAWL_L
#undef PAWL_A_SHIFT

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
PAWL_GENERIC_(void, pawl_read_lock)
PAWL_GENERIC_(bool, pawl_read_trylock)
PAWL_GENERIC_(void, pawl_read_unlock)
PAWL_GENERIC_(void, pawl_seek_lock)
PAWL_GENERIC_(bool, pawl_seek_trylock)
PAWL_GENERIC_(void, pawl_seek_unlock)
PAWL_GENERIC_(void, pawl_write_lock)
PAWL_GENERIC_(bool, pawl_write_trylock)
PAWL_GENERIC_(void, pawl_write_unlock)
PAWL_GENERIC_(void, pawl_atomic_lock)
PAWL_GENERIC_(bool, pawl_atomic_trylock)
PAWL_GENERIC_(void, pawl_atomic_unlock)
PAWL_GENERIC_(void, pawl_seek_to_write)
PAWL_GENERIC_(void, pawl_write_to_seek)
PAWL_GENERIC_(void, pawl_write_to_read)
PAWL_GENERIC_(void, pawl_seek_to_read)
#    undef PAWL_GENERIC_
#else
#    define PAWL_GENERIC_(name, l) _Generic((l), pawl_lock_t * : name##_32, pawl_lock64_t * : name##_64)(l)
#    define pawl_read_lock(l)      PAWL_GENERIC_(pawl_read_lock, l)
#    define pawl_read_trylock(l)   PAWL_GENERIC_(pawl_read_trylock, l)
#    define pawl_read_unlock(l)    PAWL_GENERIC_(pawl_read_unlock, l)
#    define pawl_seek_lock(l)      PAWL_GENERIC_(pawl_seek_lock, l)
#    define pawl_seek_trylock(l)   PAWL_GENERIC_(pawl_seek_trylock, l)
#    define pawl_seek_unlock(l)    PAWL_GENERIC_(pawl_seek_unlock, l)
#    define pawl_write_lock(l)     PAWL_GENERIC_(pawl_write_lock, l)
#    define pawl_write_trylock(l)  PAWL_GENERIC_(pawl_write_trylock, l)
#    define pawl_write_unlock(l)   PAWL_GENERIC_(pawl_write_unlock, l)
#    define pawl_atomic_lock(l)    PAWL_GENERIC_(pawl_atomic_lock, l)
#    define pawl_atomic_trylock(l) PAWL_GENERIC_(pawl_atomic_trylock, l)
#    define pawl_atomic_unlock(l)  PAWL_GENERIC_(pawl_atomic_unlock, l)
#    define pawl_seek_to_write(l)  PAWL_GENERIC_(pawl_seek_to_write, l)
#    define pawl_write_to_seek(l)  PAWL_GENERIC_(pawl_write_to_seek, l)
#    define pawl_write_to_read(l)  PAWL_GENERIC_(pawl_write_to_read, l)
#    define pawl_seek_to_read(l)   PAWL_GENERIC_(pawl_seek_to_read, l)
#endif

#endif
