/* The layer of PAWL_STATS and PAWL_DEBUG: the generic names stand for functions that tell libpawl what is
 * asked, taken and given back, around the operations of pawl/lock.h, which do not change. Included by
 * pawl/lock.h when one of the switches is defined; not for direct use.
 *
 * A lock that may wait is tried first, so that a wait is known as such and only waits cost a second look at
 * the clock. */
#ifndef PAWL_WATCH_H
#define PAWL_WATCH_H

#include "pawl/lock.h"
#include "pawl/stats.h"

#ifndef __cplusplus /* declarations stand where they are first needed */
#    pragma GCC diagnostic push
#    pragma GCC diagnostic ignored "-Wdeclaration-after-statement"
#endif

/* An operation as libpawl sees it, in one number: the state entered or left, the state before a transition,
 * how it waits, and which switches ask. */
#define PAWL_OP_(state, from, how) \
    ((unsigned)(state) | (unsigned)(from) << 4 | (how) << 8 | PAWL_WATCH_MODE << 12)
#define PAWL_HOW_LOCK    0u /* waits for as long as it takes */
#define PAWL_HOW_UNTIL   1u /* waits until a deadline */
#define PAWL_HOW_TRY     2u
#define PAWL_HOW_SURE    3u /* neither waits nor fails */
#define PAWL_HOW_CLAIM   4u /* fails at once, or waits for as long as it takes */

#define PAWL_WATCH_STATS 1u
#define PAWL_WATCH_DEBUG 2u
#if defined PAWL_STATS && defined PAWL_DEBUG
#    define PAWL_WATCH_MODE 3u
#elif defined PAWL_DEBUG
#    define PAWL_WATCH_MODE 2u
#else
#    define PAWL_WATCH_MODE 1u
#endif

#ifdef __cplusplus
extern "C" {
#endif
/* Before a wait (PAWL_DEBUG only): faults that waiting would turn into a hang. */
PAWL_API void pawl_watch_asks_(const void *lock, unsigned op, struct pawl_site *site);
/* The state was got; since: when the wait began, 0 without one. */
PAWL_API void pawl_watch_took_(const void *lock, unsigned op, struct pawl_site *site, uint64_t since);
/* A try failed, or a wait that began at `since` expired. */
PAWL_API void pawl_watch_missed_(const void *lock, unsigned op, struct pawl_site *site, uint64_t since);
/* Before an unlock. */
PAWL_API void pawl_watch_gives_(const void *lock, unsigned op, struct pawl_site *site);
/* Before and after a transition; the first returns the time, for the second. */
PAWL_API uint64_t pawl_watch_turns_(const void *lock, unsigned op, struct pawl_site *site);
PAWL_API void pawl_watch_turned_(const void *lock, unsigned op, struct pawl_site *site, uint64_t start,
                                 bool ok);
#ifdef __cplusplus
}
#endif

#define PAWL_WATCH_FN_ static inline __attribute__((unused))

/* One operation on one size of lock: `name` on a parameter l is called name_watched, with the site. */
#define PAWL_WATCH_LOCK_(name, STATE, type, bits)                                      \
    PAWL_WATCH_FN_ void name##_lock_watched_##bits(type *l, struct pawl_site *site)    \
    {                                                                                  \
        const unsigned op = PAWL_OP_(STATE, STATE, PAWL_HOW_LOCK);                     \
        uint64_t since = 0;                                                            \
        if (PAWL_WATCH_MODE & PAWL_WATCH_DEBUG) {                                      \
            pawl_watch_asks_(l, op, site);                                             \
        }                                                                              \
        if (!name##_trylock_##bits(l)) {                                               \
            since = pawl_clock_ns();                                                   \
            name##_lock_##bits(l);                                                     \
        }                                                                              \
        pawl_watch_took_(l, op, site, since);                                          \
    }                                                                                  \
    PAWL_WATCH_FN_ bool name##_trylock_watched_##bits(type *l, struct pawl_site *site) \
    {                                                                                  \
        const unsigned op = PAWL_OP_(STATE, STATE, PAWL_HOW_TRY);                      \
        if (!name##_trylock_##bits(l)) {                                               \
            pawl_watch_missed_(l, op, site, 0);                                        \
            return false;                                                              \
        }                                                                              \
        pawl_watch_took_(l, op, site, 0);                                              \
        return true;                                                                   \
    }

#define PAWL_WATCH_UNTIL_(name, STATE, type, bits)                                      \
    PAWL_WATCH_FN_ bool name##_lock_until_watched_##bits(type *l, uint64_t deadline_ns, \
                                                         struct pawl_site *site)        \
    {                                                                                   \
        const unsigned op = PAWL_OP_(STATE, STATE, PAWL_HOW_UNTIL);                     \
        uint64_t since = 0;                                                             \
        if (PAWL_WATCH_MODE & PAWL_WATCH_DEBUG) {                                       \
            pawl_watch_asks_(l, op, site);                                              \
        }                                                                               \
        if (!name##_trylock_##bits(l)) {                                                \
            since = pawl_clock_ns();                                                    \
            if (!name##_lock_until_##bits(l, deadline_ns)) {                            \
                pawl_watch_missed_(l, op, site, since);                                 \
                return false;                                                           \
            }                                                                           \
        }                                                                               \
        pawl_watch_took_(l, op, site, since);                                           \
        return true;                                                                    \
    }

#define PAWL_WATCH_CLAIM_(name, STATE, type, bits)                                   \
    PAWL_WATCH_FN_ bool name##_claim_watched_##bits(type *l, struct pawl_site *site) \
    {                                                                                \
        const unsigned op = PAWL_OP_(STATE, STATE, PAWL_HOW_CLAIM);                  \
        uint64_t since = 0;                                                          \
        if (PAWL_WATCH_MODE & PAWL_WATCH_DEBUG) {                                    \
            pawl_watch_asks_(l, op, site);                                           \
        }                                                                            \
        if (!name##_trylock_##bits(l)) {                                             \
            since = pawl_clock_ns();                                                 \
            if (!name##_claim_##bits(l)) {                                           \
                pawl_watch_missed_(l, op, site, since);                              \
                return false;                                                        \
            }                                                                        \
        }                                                                            \
        pawl_watch_took_(l, op, site, since);                                        \
        return true;                                                                 \
    }

#define PAWL_WATCH_UNLOCK_(name, STATE, type, bits)                                   \
    PAWL_WATCH_FN_ void name##_unlock_watched_##bits(type *l, struct pawl_site *site) \
    {                                                                                 \
        pawl_watch_gives_(l, PAWL_OP_(STATE, STATE, PAWL_HOW_SURE), site);            \
        name##_unlock_##bits(l);                                                      \
    }

#define PAWL_WATCH_TURN_(name, FROM, TO, how, type, bits)                      \
    PAWL_WATCH_FN_ void name##_watched_##bits(type *l, struct pawl_site *site) \
    {                                                                          \
        const unsigned op = PAWL_OP_(TO, FROM, how);                           \
        const uint64_t start = pawl_watch_turns_(l, op, site);                 \
        name##_##bits(l);                                                      \
        pawl_watch_turned_(l, op, site, start, true);                          \
    }

#define PAWL_WATCH_TURN_TRY_(name, FROM, TO, how, type, bits)                  \
    PAWL_WATCH_FN_ bool name##_watched_##bits(type *l, struct pawl_site *site) \
    {                                                                          \
        const unsigned op = PAWL_OP_(TO, FROM, how);                           \
        const uint64_t start = pawl_watch_turns_(l, op, site);                 \
        const bool ok = name##_##bits(l);                                      \
        pawl_watch_turned_(l, op, site, start, ok);                            \
        return ok;                                                             \
    }

#define PAWL_WATCH_TURN_UNTIL_(name, FROM, TO, type, bits)                                           \
    PAWL_WATCH_FN_ bool name##_watched_##bits(type *l, uint64_t deadline_ns, struct pawl_site *site) \
    {                                                                                                \
        const unsigned op = PAWL_OP_(TO, FROM, PAWL_HOW_UNTIL);                                      \
        const uint64_t start = pawl_watch_turns_(l, op, site);                                       \
        const bool ok = name##_##bits(l, deadline_ns);                                               \
        pawl_watch_turned_(l, op, site, start, ok);                                                  \
        return ok;                                                                                   \
    }

/* Every operation of the locks, one a line. A transition whose kind is LOCK may wait. */
#define PAWL_WATCH_ALL_(type, bits)                                                                         \
    PAWL_WATCH_LOCK_(pawl_read, PAWL_STATE_READ, type, bits)                                                \
    PAWL_WATCH_LOCK_(pawl_seek, PAWL_STATE_SEEK, type, bits)                                                \
    PAWL_WATCH_LOCK_(pawl_write, PAWL_STATE_WRITE, type, bits)                                              \
    PAWL_WATCH_LOCK_(pawl_atomic, PAWL_STATE_ATOMIC, type, bits)                                            \
    PAWL_WATCH_LOCK_(pawl_join, PAWL_STATE_JOIN, type, bits)                                                \
    PAWL_WATCH_UNTIL_(pawl_read, PAWL_STATE_READ, type, bits)                                               \
    PAWL_WATCH_UNTIL_(pawl_seek, PAWL_STATE_SEEK, type, bits)                                               \
    PAWL_WATCH_UNTIL_(pawl_write, PAWL_STATE_WRITE, type, bits)                                             \
    PAWL_WATCH_UNTIL_(pawl_atomic, PAWL_STATE_ATOMIC, type, bits)                                           \
    PAWL_WATCH_UNTIL_(pawl_join, PAWL_STATE_JOIN, type, bits)                                               \
    PAWL_WATCH_CLAIM_(pawl_write, PAWL_STATE_WRITE, type, bits)                                             \
    PAWL_WATCH_CLAIM_(pawl_atomic, PAWL_STATE_ATOMIC, type, bits)                                           \
    PAWL_WATCH_CLAIM_(pawl_join, PAWL_STATE_JOIN, type, bits)                                               \
    PAWL_WATCH_UNLOCK_(pawl_read, PAWL_STATE_READ, type, bits)                                              \
    PAWL_WATCH_UNLOCK_(pawl_seek, PAWL_STATE_SEEK, type, bits)                                              \
    PAWL_WATCH_UNLOCK_(pawl_write, PAWL_STATE_WRITE, type, bits)                                            \
    PAWL_WATCH_UNLOCK_(pawl_atomic, PAWL_STATE_ATOMIC, type, bits)                                          \
    PAWL_WATCH_UNLOCK_(pawl_join, PAWL_STATE_JOIN, type, bits)                                              \
    PAWL_WATCH_UNLOCK_(pawl_claim, PAWL_STATE_CLAIM, type, bits)                                            \
    PAWL_WATCH_TURN_(pawl_seek_to_write, PAWL_STATE_SEEK, PAWL_STATE_WRITE, PAWL_HOW_LOCK, type, bits)      \
    PAWL_WATCH_TURN_(pawl_write_to_seek, PAWL_STATE_WRITE, PAWL_STATE_SEEK, PAWL_HOW_SURE, type, bits)      \
    PAWL_WATCH_TURN_(pawl_write_to_read, PAWL_STATE_WRITE, PAWL_STATE_READ, PAWL_HOW_SURE, type, bits)      \
    PAWL_WATCH_TURN_(pawl_seek_to_read, PAWL_STATE_SEEK, PAWL_STATE_READ, PAWL_HOW_SURE, type, bits)        \
    PAWL_WATCH_TURN_(pawl_read_to_join, PAWL_STATE_READ, PAWL_STATE_JOIN, PAWL_HOW_LOCK, type, bits)        \
    PAWL_WATCH_TURN_(pawl_read_to_claim, PAWL_STATE_READ, PAWL_STATE_CLAIM, PAWL_HOW_LOCK, type, bits)      \
    PAWL_WATCH_TURN_(pawl_join_to_claim, PAWL_STATE_JOIN, PAWL_STATE_CLAIM, PAWL_HOW_SURE, type, bits)      \
    PAWL_WATCH_TURN_(pawl_claim_to_atomic, PAWL_STATE_CLAIM, PAWL_STATE_ATOMIC, PAWL_HOW_LOCK, type, bits)  \
    PAWL_WATCH_TURN_(pawl_atomic_to_read, PAWL_STATE_ATOMIC, PAWL_STATE_READ, PAWL_HOW_LOCK, type, bits)    \
    PAWL_WATCH_TURN_(pawl_atomic_to_join, PAWL_STATE_ATOMIC, PAWL_STATE_JOIN, PAWL_HOW_SURE, type, bits)    \
    PAWL_WATCH_TURN_TRY_(pawl_read_try_to_seek, PAWL_STATE_READ, PAWL_STATE_SEEK, PAWL_HOW_TRY, type, bits) \
    PAWL_WATCH_TURN_TRY_(pawl_read_try_to_write, PAWL_STATE_READ, PAWL_STATE_WRITE, PAWL_HOW_TRY, type,     \
                         bits)                                                                              \
    PAWL_WATCH_TURN_TRY_(pawl_read_try_to_atomic, PAWL_STATE_READ, PAWL_STATE_ATOMIC, PAWL_HOW_TRY, type,   \
                         bits)                                                                              \
    PAWL_WATCH_TURN_TRY_(pawl_read_claim_write, PAWL_STATE_READ, PAWL_STATE_WRITE, PAWL_HOW_CLAIM, type,    \
                         bits)                                                                              \
    PAWL_WATCH_TURN_TRY_(pawl_read_claim_atomic, PAWL_STATE_READ, PAWL_STATE_ATOMIC, PAWL_HOW_CLAIM, type,  \
                         bits)                                                                              \
    PAWL_WATCH_TURN_UNTIL_(pawl_seek_to_write_until, PAWL_STATE_SEEK, PAWL_STATE_WRITE, type, bits)         \
    PAWL_WATCH_TURN_UNTIL_(pawl_read_to_write_until, PAWL_STATE_READ, PAWL_STATE_WRITE, type, bits)

PAWL_WATCH_ALL_(pawl_lock_t, 32)
PAWL_WATCH_ALL_(pawl_lock64_t, 64)

/* The generic names, given another meaning: a line to forget the old, a line for the new. */
#ifdef __cplusplus
#    define PAWL_WATCHED_1_(ret, name)                                            \
        PAWL_INLINE ret name##_watched_(pawl_lock_t *l, struct pawl_site *site)   \
        {                                                                         \
            return name##_watched_32(l, site);                                    \
        }                                                                         \
        PAWL_INLINE ret name##_watched_(pawl_lock64_t *l, struct pawl_site *site) \
        {                                                                         \
            return name##_watched_64(l, site);                                    \
        }
#    define PAWL_WATCHED_2_(name)                                                                        \
        PAWL_INLINE bool name##_watched_(pawl_lock_t *l, uint64_t deadline_ns, struct pawl_site *site)   \
        {                                                                                                \
            return name##_watched_32(l, deadline_ns, site);                                              \
        }                                                                                                \
        PAWL_INLINE bool name##_watched_(pawl_lock64_t *l, uint64_t deadline_ns, struct pawl_site *site) \
        {                                                                                                \
            return name##_watched_64(l, deadline_ns, site);                                              \
        }
PAWL_WATCHED_1_(void, pawl_read_lock)
PAWL_WATCHED_1_(bool, pawl_read_trylock)
PAWL_WATCHED_2_(pawl_read_lock_until)
PAWL_WATCHED_1_(void, pawl_read_unlock)
PAWL_WATCHED_1_(void, pawl_seek_lock)
PAWL_WATCHED_1_(bool, pawl_seek_trylock)
PAWL_WATCHED_2_(pawl_seek_lock_until)
PAWL_WATCHED_1_(void, pawl_seek_unlock)
PAWL_WATCHED_1_(void, pawl_write_lock)
PAWL_WATCHED_1_(bool, pawl_write_trylock)
PAWL_WATCHED_2_(pawl_write_lock_until)
PAWL_WATCHED_1_(void, pawl_write_unlock)
PAWL_WATCHED_1_(void, pawl_atomic_lock)
PAWL_WATCHED_1_(bool, pawl_atomic_trylock)
PAWL_WATCHED_2_(pawl_atomic_lock_until)
PAWL_WATCHED_1_(void, pawl_atomic_unlock)
PAWL_WATCHED_1_(void, pawl_join_lock)
PAWL_WATCHED_1_(bool, pawl_join_trylock)
PAWL_WATCHED_2_(pawl_join_lock_until)
PAWL_WATCHED_1_(void, pawl_join_unlock)
PAWL_WATCHED_1_(void, pawl_claim_unlock)
PAWL_WATCHED_1_(void, pawl_seek_to_write)
PAWL_WATCHED_1_(void, pawl_write_to_seek)
PAWL_WATCHED_1_(void, pawl_write_to_read)
PAWL_WATCHED_1_(void, pawl_seek_to_read)
PAWL_WATCHED_1_(void, pawl_read_to_join)
PAWL_WATCHED_1_(void, pawl_read_to_claim)
PAWL_WATCHED_1_(void, pawl_join_to_claim)
PAWL_WATCHED_1_(void, pawl_claim_to_atomic)
PAWL_WATCHED_1_(void, pawl_atomic_to_read)
PAWL_WATCHED_1_(void, pawl_atomic_to_join)
PAWL_WATCHED_1_(bool, pawl_read_try_to_seek)
PAWL_WATCHED_1_(bool, pawl_read_try_to_write)
PAWL_WATCHED_1_(bool, pawl_read_try_to_atomic)
PAWL_WATCHED_1_(bool, pawl_write_claim)
PAWL_WATCHED_1_(bool, pawl_atomic_claim)
PAWL_WATCHED_1_(bool, pawl_join_claim)
PAWL_WATCHED_1_(bool, pawl_read_claim_write)
PAWL_WATCHED_1_(bool, pawl_read_claim_atomic)
PAWL_WATCHED_2_(pawl_seek_to_write_until)
PAWL_WATCHED_2_(pawl_read_to_write_until)
#    define PAWL_WATCHED_(name, l)                 name##_watched_((l), PAWL_SITE_)
#    define PAWL_WATCHED_UNTIL_(name, l, deadline) name##_watched_((l), (deadline), PAWL_SITE_)
#else
#    define PAWL_WATCHED_FOR_(name, l) \
        _Generic((l), pawl_lock_t * : name##_watched_32, pawl_lock64_t * : name##_watched_64)
#    define PAWL_WATCHED_(name, l)                 PAWL_WATCHED_FOR_(name, l)((l), PAWL_SITE_)
#    define PAWL_WATCHED_UNTIL_(name, l, deadline) PAWL_WATCHED_FOR_(name, l)((l), (deadline), PAWL_SITE_)
#endif
#undef pawl_read_lock
#define pawl_read_lock(l) PAWL_WATCHED_(pawl_read_lock, l)
#undef pawl_read_trylock
#define pawl_read_trylock(l) PAWL_WATCHED_(pawl_read_trylock, l)
#undef pawl_read_lock_until
#define pawl_read_lock_until(l, deadline) PAWL_WATCHED_UNTIL_(pawl_read_lock_until, l, deadline)
#undef pawl_read_unlock
#define pawl_read_unlock(l) PAWL_WATCHED_(pawl_read_unlock, l)
#undef pawl_seek_lock
#define pawl_seek_lock(l) PAWL_WATCHED_(pawl_seek_lock, l)
#undef pawl_seek_trylock
#define pawl_seek_trylock(l) PAWL_WATCHED_(pawl_seek_trylock, l)
#undef pawl_seek_lock_until
#define pawl_seek_lock_until(l, deadline) PAWL_WATCHED_UNTIL_(pawl_seek_lock_until, l, deadline)
#undef pawl_seek_unlock
#define pawl_seek_unlock(l) PAWL_WATCHED_(pawl_seek_unlock, l)
#undef pawl_write_lock
#define pawl_write_lock(l) PAWL_WATCHED_(pawl_write_lock, l)
#undef pawl_write_trylock
#define pawl_write_trylock(l) PAWL_WATCHED_(pawl_write_trylock, l)
#undef pawl_write_lock_until
#define pawl_write_lock_until(l, deadline) PAWL_WATCHED_UNTIL_(pawl_write_lock_until, l, deadline)
#undef pawl_write_unlock
#define pawl_write_unlock(l) PAWL_WATCHED_(pawl_write_unlock, l)
#undef pawl_atomic_lock
#define pawl_atomic_lock(l) PAWL_WATCHED_(pawl_atomic_lock, l)
#undef pawl_atomic_trylock
#define pawl_atomic_trylock(l) PAWL_WATCHED_(pawl_atomic_trylock, l)
#undef pawl_atomic_lock_until
#define pawl_atomic_lock_until(l, deadline) PAWL_WATCHED_UNTIL_(pawl_atomic_lock_until, l, deadline)
#undef pawl_atomic_unlock
#define pawl_atomic_unlock(l) PAWL_WATCHED_(pawl_atomic_unlock, l)
#undef pawl_join_lock
#define pawl_join_lock(l) PAWL_WATCHED_(pawl_join_lock, l)
#undef pawl_join_trylock
#define pawl_join_trylock(l) PAWL_WATCHED_(pawl_join_trylock, l)
#undef pawl_join_lock_until
#define pawl_join_lock_until(l, deadline) PAWL_WATCHED_UNTIL_(pawl_join_lock_until, l, deadline)
#undef pawl_join_unlock
#define pawl_join_unlock(l) PAWL_WATCHED_(pawl_join_unlock, l)
#undef pawl_claim_unlock
#define pawl_claim_unlock(l) PAWL_WATCHED_(pawl_claim_unlock, l)
#undef pawl_seek_to_write
#define pawl_seek_to_write(l) PAWL_WATCHED_(pawl_seek_to_write, l)
#undef pawl_write_to_seek
#define pawl_write_to_seek(l) PAWL_WATCHED_(pawl_write_to_seek, l)
#undef pawl_write_to_read
#define pawl_write_to_read(l) PAWL_WATCHED_(pawl_write_to_read, l)
#undef pawl_seek_to_read
#define pawl_seek_to_read(l) PAWL_WATCHED_(pawl_seek_to_read, l)
#undef pawl_read_to_join
#define pawl_read_to_join(l) PAWL_WATCHED_(pawl_read_to_join, l)
#undef pawl_read_to_claim
#define pawl_read_to_claim(l) PAWL_WATCHED_(pawl_read_to_claim, l)
#undef pawl_join_to_claim
#define pawl_join_to_claim(l) PAWL_WATCHED_(pawl_join_to_claim, l)
#undef pawl_claim_to_atomic
#define pawl_claim_to_atomic(l) PAWL_WATCHED_(pawl_claim_to_atomic, l)
#undef pawl_atomic_to_read
#define pawl_atomic_to_read(l) PAWL_WATCHED_(pawl_atomic_to_read, l)
#undef pawl_atomic_to_join
#define pawl_atomic_to_join(l) PAWL_WATCHED_(pawl_atomic_to_join, l)
#undef pawl_read_try_to_seek
#define pawl_read_try_to_seek(l) PAWL_WATCHED_(pawl_read_try_to_seek, l)
#undef pawl_read_try_to_write
#define pawl_read_try_to_write(l) PAWL_WATCHED_(pawl_read_try_to_write, l)
#undef pawl_read_try_to_atomic
#define pawl_read_try_to_atomic(l) PAWL_WATCHED_(pawl_read_try_to_atomic, l)
#undef pawl_write_claim
#define pawl_write_claim(l) PAWL_WATCHED_(pawl_write_claim, l)
#undef pawl_atomic_claim
#define pawl_atomic_claim(l) PAWL_WATCHED_(pawl_atomic_claim, l)
#undef pawl_join_claim
#define pawl_join_claim(l) PAWL_WATCHED_(pawl_join_claim, l)
#undef pawl_read_claim_write
#define pawl_read_claim_write(l) PAWL_WATCHED_(pawl_read_claim_write, l)
#undef pawl_read_claim_atomic
#define pawl_read_claim_atomic(l) PAWL_WATCHED_(pawl_read_claim_atomic, l)
#undef pawl_seek_to_write_until
#define pawl_seek_to_write_until(l, deadline) PAWL_WATCHED_UNTIL_(pawl_seek_to_write_until, l, deadline)
#undef pawl_read_to_write_until
#define pawl_read_to_write_until(l, deadline) PAWL_WATCHED_UNTIL_(pawl_read_to_write_until, l, deadline)

#ifndef __cplusplus
#    pragma GCC diagnostic pop
#endif

#endif
