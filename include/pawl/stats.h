/* What programs ask of libpawl: names for locks, statistics, assertions, and what a caught fault does. Locks
 * are watched in files compiled with PAWL_STATS (counts and times) or PAWL_DEBUG (checks), which link to
 * libpawl (pkg-config: pawl). docs/stats.md says what is counted and caught, and at what cost.
 *
 * In a file with neither switch the names and assertions here are nothing, and nothing need be linked for
 * them; pawl_stats_*() and pawl_debug_on_fault() are always functions of libpawl. All may be called by any
 * thread at any time, signal handlers excepted. */
#ifndef PAWL_STATS_H
#define PAWL_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PAWL_API __attribute__((visibility("default")))

enum pawl_state {
    PAWL_STATE_READ,
    PAWL_STATE_SEEK,
    PAWL_STATE_WRITE,
    PAWL_STATE_ATOMIC,
    PAWL_STATE_JOIN,
    PAWL_STATE_CLAIM,
    PAWL_STATES
};

/* A place in the source that uses a lock; id is the library's. */
struct pawl_site {
    const char *file, *function;
    unsigned line, id;
};

#define PAWL_SITE_                                                              \
    __extension__({                                                             \
        static struct pawl_site pawl_site_ = {__FILE__, __func__, __LINE__, 0}; \
        &pawl_site_;                                                            \
    })

#if defined PAWL_STATS || defined PAWL_DEBUG
/* Puts the lock at this address into the class `name` (copied), from now on; a lock has one class at a time.
 * What memory was before it became a lock does not matter. False: no room for it; the loss is counted, and
 * the lock works on as one that nobody named. */
PAWL_API bool pawl_lock_name(const volatile void *lock, const char *name);

/* The same for every lock that lies in these bytes, present or future: one entry for an array or a mapped
 * file. A name given to a lock itself goes first. At most 64 ranges at a time. */
PAWL_API bool pawl_lock_name_range(const volatile void *base, size_t bytes, const char *name);

/* The lock is none any more: before its memory is freed or used otherwise. Whoever holds it may call this.
 * Forgets the order in which it was taken, and the caller's hold. Counts stay with the class. */
PAWL_API void pawl_lock_forget(const volatile void *lock);

/* Forgets the range that begins at base, and every lock in it. */
PAWL_API void pawl_lock_forget_range(const volatile void *base);
#else
/* Functions, not macros: as statements their value is not missed, by any compiler's warnings. */
static inline __attribute__((unused)) bool pawl_lock_name(const volatile void *lock, const char *name)
{
    (void)lock, (void)name;
    return true;
}

static inline __attribute__((unused)) bool pawl_lock_name_range(const volatile void *base, size_t bytes,
                                                                const char *name)
{
    (void)base, (void)bytes, (void)name;
    return true;
}

static inline __attribute__((unused)) void pawl_lock_forget(const volatile void *lock)
{
    (void)lock;
}

static inline __attribute__((unused)) void pawl_lock_forget_range(const volatile void *base)
{
    (void)base;
}
#endif

/* Times in nanoseconds. Bucket 0 of a histogram counts times of 0 and 1 ns, bucket i those from 2^i to
 * 2^(i+1) - 1. */
#define PAWL_STATS_BUCKETS 64
struct pawl_stats_state {
    uint64_t acquisitions; /* times this state was entered, by a lock or a transition */
    uint64_t waits;        /* how often somebody had to wait for it, expired waits included */
    uint64_t failed;       /* tries that did not get it */
    uint64_t expired;      /* waits that reached their deadline */
    uint64_t wait_ns, wait_max_ns;
    uint64_t held_ns, held_max_ns; /* of holds that have ended */
    uint64_t wait_hist[PAWL_STATS_BUCKETS], held_hist[PAWL_STATS_BUCKETS];
};

/* Who took a lock of the class last. */
struct pawl_stats_last {
    long thread; /* 0: nobody yet */
    enum pawl_state state;
    const char *file, *function;
    unsigned line;
    uint64_t time_ns; /* CLOCK_MONOTONIC */
};

struct pawl_stats_class {
    const char *name; /* valid as long as libpawl is loaded */
    bool named;       /* false: `file:line`, the place that takes locks nobody named */
    struct pawl_stats_state state[PAWL_STATES];
    struct pawl_stats_last last;
};

/* What could not be recorded, since the program began: the tables are bounded and never fail a lock. */
struct pawl_stats_lost {
    uint64_t locks;   /* addresses that found no room */
    uint64_t ranges;  /* ranges that found no room */
    uint64_t classes; /* class names that found no room: counted under "(other)" */
    uint64_t sites;   /* places in the source that found no room: shown as "(unknown)" */
    uint64_t holds;   /* locks taken by a thread that held 64 already: counted, their time is not */
    uint64_t strays;  /* unlocks and transitions of what the thread did not take under watch */
    uint64_t orders;  /* pairs for the order of locks that found no room */
    uint64_t nested;  /* operations in a signal handler that interrupted the record keeping itself */
    uint64_t memory;  /* records for which the system gave no memory */
};

/* Calls each() for every class that was used since the last reset, in the order of first use. What it is
 * given is valid during the call. Others go on counting: each number is exact, two of them may differ by what
 * happened between reading them. Returns the number of classes. each() may use locks and these functions. */
typedef void pawl_stats_each(const struct pawl_stats_class *c, void *arg);
PAWL_API size_t pawl_stats_snapshot(pawl_stats_each *each, void *arg);

PAWL_API void pawl_stats_losses(struct pawl_stats_lost *lost);

/* Starts counting anew, names kept. What happens during the call may be counted before or after; a hold that
 * spans it counts whole, after. */
PAWL_API void pawl_stats_reset(void);

/* A table for people. */
PAWL_API void pawl_stats_print(FILE *out);

/* One JSON object and a newline; docs/stats.md has its form. */
PAWL_API void pawl_stats_json(FILE *out);

/* When PAWL_DEBUG has caught a fault, hook is called with its message (several lines; valid during the call)
 * instead of writing it to standard error; NULL: standard error again. It may leave by exit or longjmp (then
 * the operation has not taken place); when it returns, the program is aborted. */
typedef void pawl_debug_hook(const char *message);
PAWL_API void pawl_debug_on_fault(pawl_debug_hook *hook);

/* Of this file's own locks: nothing without PAWL_DEBUG. Use the macros. */
PAWL_API void pawl_debug_assert_held_(const volatile void *lock, int state, struct pawl_site *site);

#ifdef PAWL_DEBUG
#    define PAWL_ASSERT_(lock, state) pawl_debug_assert_held_((lock), (state), PAWL_SITE_)
#else
#    define PAWL_ASSERT_(lock, state) ((void)(lock))
#endif

/* This thread holds the lock in just this state; in any; not at all. A fault otherwise. */
#define pawl_assert_read_held(lock)   PAWL_ASSERT_(lock, PAWL_STATE_READ)
#define pawl_assert_seek_held(lock)   PAWL_ASSERT_(lock, PAWL_STATE_SEEK)
#define pawl_assert_write_held(lock)  PAWL_ASSERT_(lock, PAWL_STATE_WRITE)
#define pawl_assert_atomic_held(lock) PAWL_ASSERT_(lock, PAWL_STATE_ATOMIC)
#define pawl_assert_join_held(lock)   PAWL_ASSERT_(lock, PAWL_STATE_JOIN)
#define pawl_assert_claim_held(lock)  PAWL_ASSERT_(lock, PAWL_STATE_CLAIM)
#define pawl_assert_held(lock)        PAWL_ASSERT_(lock, PAWL_STATES)
#define pawl_assert_not_held(lock)    PAWL_ASSERT_(lock, -1)

#ifdef __cplusplus
}
#endif

#endif
