/* PAWL_BACKEND_HEADER for the checker: the lock's atomics, futex calls, clock and pauses as events of a
 * case's thread (sim/thread.h). A lock lies at sim_word(place); its memory is never touched. The places
 * behind it are the queues of its two halves.
 *
 * Time passes by choice. A thread's clock stands still until it leaps, once in each of its operations, at any
 * look at it, by more than a turn; and a sleep with a time-out may end by it. Back-off is no event: one look
 * follows another only when what was seen has changed (sim_pause()). */
#ifndef PAWL_SIM_BACKEND_H
#define PAWL_SIM_BACKEND_H

#include "sim/thread.h"

#include <stdbool.h>
#include <stdint.h>

extern uint64_t sim_words[SIM_PLACES];

static inline void *sim_word(unsigned place)
{
    return &sim_words[place];
}

static inline unsigned sim_place_of(const void *p)
{
    return (unsigned)(((uintptr_t)p - (uintptr_t)sim_words) / sizeof *sim_words);
}

uint64_t sim_clock(void);
void sim_nap(void);
int sim_park(const uint32_t *half, uint32_t value, unsigned mask, uint64_t deadline);
int sim_unpark(const uint32_t *half, int n, unsigned mask);

/* The relaxed ones are for mutants (sim/mutants.h). */
#define SIM_BACKEND_OPS_(bits, all)                                                                    \
    PAWL_INLINE uint##bits##_t pawl_load_relaxed_##bits(const pawl_word##bits##_t *p)                  \
    {                                                                                                  \
        return (uint##bits##_t)sim_load(sim_place_of(p), SIM_RELAXED);                                 \
    }                                                                                                  \
    PAWL_INLINE bool pawl_any_relaxed_##bits(const pawl_word##bits##_t *p, uint##bits##_t mask)        \
    {                                                                                                  \
        return sim_load_any(sim_place_of(p), mask, SIM_RELAXED);                                       \
    }                                                                                                  \
    PAWL_INLINE uint##bits##_t pawl_load_acquire_##bits(const pawl_word##bits##_t *p)                  \
    {                                                                                                  \
        return (uint##bits##_t)sim_load(sim_place_of(p), SIM_ACQUIRE);                                 \
    }                                                                                                  \
    PAWL_INLINE void pawl_store_relaxed_##bits(pawl_word##bits##_t *p, uint##bits##_t v)               \
    {                                                                                                  \
        sim_store(sim_place_of(p), v, SIM_RELAXED);                                                    \
    }                                                                                                  \
    PAWL_INLINE void pawl_store_release_##bits(pawl_word##bits##_t *p, uint##bits##_t v)               \
    {                                                                                                  \
        sim_store(sim_place_of(p), v, SIM_RELEASE);                                                    \
    }                                                                                                  \
    PAWL_INLINE uint##bits##_t pawl_fetch_add_acquire_##bits(pawl_word##bits##_t *p, uint##bits##_t v) \
    {                                                                                                  \
        return (uint##bits##_t)sim_fetch_add(sim_place_of(p), v, all, SIM_ACQUIRE);                    \
    }                                                                                                  \
    PAWL_INLINE uint##bits##_t pawl_fetch_add_relaxed_##bits(pawl_word##bits##_t *p, uint##bits##_t v) \
    {                                                                                                  \
        return (uint##bits##_t)sim_fetch_add(sim_place_of(p), v, all, SIM_RELAXED);                    \
    }                                                                                                  \
    PAWL_INLINE uint##bits##_t pawl_fetch_sub_relaxed_##bits(pawl_word##bits##_t *p, uint##bits##_t v) \
    {                                                                                                  \
        return (uint##bits##_t)sim_fetch_add(sim_place_of(p), 0 - (uint64_t)v, all, SIM_RELAXED);      \
    }                                                                                                  \
    PAWL_INLINE uint##bits##_t pawl_fetch_sub_release_##bits(pawl_word##bits##_t *p, uint##bits##_t v) \
    {                                                                                                  \
        return (uint##bits##_t)sim_fetch_add(sim_place_of(p), 0 - (uint64_t)v, all, SIM_RELEASE);      \
    }                                                                                                  \
    SIM_BACKEND_CAS_(bits, relaxed, SIM_RELAXED)                                                       \
    SIM_BACKEND_CAS_(bits, acquire, SIM_ACQUIRE)                                                       \
    SIM_BACKEND_CAS_(bits, release, SIM_RELEASE)                                                       \
    SIM_BACKEND_CAS_(bits, acq_rel, SIM_ACQ_REL)
#define SIM_BACKEND_CAS_(bits, name, order)                                                     \
    PAWL_INLINE bool pawl_cas_##name##_##bits(pawl_word##bits##_t *p, uint##bits##_t *expected, \
                                              uint##bits##_t v)                                 \
    {                                                                                           \
        uint64_t seen = *expected;                                                              \
        bool stored = sim_confirm_exchange(sim_place_of(p), &seen, v, order, SIM_RELAXED);      \
        *expected = (uint##bits##_t)seen;                                                       \
        return stored;                                                                          \
    }
SIM_BACKEND_OPS_(32, UINT32_MAX)
SIM_BACKEND_OPS_(64, UINT64_MAX)
#undef SIM_BACKEND_OPS_
#undef SIM_BACKEND_CAS_

PAWL_INLINE void pawl_prefetch_write(const void *p)
{
    (void)p;
}

PAWL_INLINE void pawl_cpu_relax(void)
{
}

PAWL_INLINE void pawl_yield(void)
{
}

PAWL_INLINE uint64_t pawl_clock_ns(void)
{
    return sim_clock();
}

PAWL_INLINE void pawl_sleep_until(uint64_t deadline_ns)
{
    (void)deadline_ns;
    sim_nap();
}

PAWL_INLINE int pawl_futex_wait(const uint32_t *word, uint32_t value, uint32_t mask, uint64_t deadline_ns)
{
    return sim_park(word, value, mask, deadline_ns);
}

PAWL_INLINE int pawl_futex_wake(const uint32_t *word, int n, uint32_t mask)
{
    return sim_unpark(word, n, mask);
}

#define PAWL_BACKEND_BACKOFF
struct pawl_backoff {
    uint32_t wait, spent;
};

PAWL_INLINE void pawl_backoff_init(struct pawl_backoff *b)
{
    b->wait = b->spent = 0;
}

/* Builds whose waiters sleep look once, and then do what they do after looking in vain; if that is to look
 * again, there has to be something new. The others do nothing else. */
PAWL_INLINE bool pawl_backoff_step(struct pawl_backoff *b)
{
    b->spent = 1;
#ifdef PAWL_DISABLE_PARK
    sim_pause(true);
#else
    sim_pause(false);
#endif
    return false;
}

#define PAWL_BACKEND_TIMES
#define PAWL_TURN_NS      1000000u
#define PAWL_TURN_READ_NS 1000000u
#define PAWL_CROWD_LIMIT  0u
#define PAWL_YIELDS       0u
#define PAWL_ALONE_NS     0u
#define PAWL_ALONE_PAUSE  0u
#define PAWL_DRAIN_NS     0u
#define PAWL_MANY         2u
#define PAWL_NAP_MIN      1u
#define PAWL_MISSES       1000000u

#endif
