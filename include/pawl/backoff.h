/* Exponential back-off in calibrated time: a pause instruction lasts 10 cycles on one CPU and 140 on the
 * next, so pauses are counted in nanoseconds, measured once per linked object.
 *
 * PAWL_DISABLE_EBO replaces it by plain polling with one pause a turn. */
#ifndef PAWL_BACKOFF_H
#define PAWL_BACKOFF_H

#include "pawl/atomic.h"

#ifndef __cplusplus /* declarations stand where they are first needed */
#    pragma GCC diagnostic push
#    pragma GCC diagnostic ignored "-Wdeclaration-after-statement"
#endif

#ifndef PAWL_BACKEND_BACKOFF

/* First wait between two looks at the word, and the longest while it may come free at any moment: whoever
 * waits then mostly waits for one short critical section. Each look takes the word's cache line from those
 * who use it, so the waits grow with the time already spent: by an eighth of it, and by half of it once it is
 * longer than the spin limit, after which a waiter usually goes to sleep. Nanoseconds. */
#    define PAWL_BACKOFF_FIRST 60u
#    define PAWL_BACKOFF_STEP  200u
#    define PAWL_SPIN_LIMIT    2000u

struct pawl_backoff {
    uint32_t wait;  /* length of the next wait, ns */
    uint32_t spent; /* ns waited so far */
};

/* Pauses in 1024 ns; 0 until measured. Weak and hidden: one to a linked object, whatever its number of files.
 */
__attribute__((weak, visibility("hidden"))) uint32_t pawl_pauses_per_1024ns_;

/* Measures once; a race between threads only measures twice. The shortest of three tries, so that a
 * preemption does not count. */
PAWL_NOINLINE uint32_t pawl_backoff_calibrate(void)
{
    uint64_t best = UINT64_MAX;
    for (int attempt = 0; attempt < 3; attempt++) {
        uint64_t start = pawl_clock_ns();
        for (int i = 0; i < 32; i++) {
            pawl_cpu_relax();
        }
        uint64_t took = pawl_clock_ns() - start;
        best = took < best ? took : best;
    }
    uint64_t pauses = 32u * 1024u / (best ? best : 1);
    uint32_t p = pauses < 1 ? 1 : pauses > 4096 ? 4096 : (uint32_t)pauses;
    pawl_store_relaxed_32(&pawl_pauses_per_1024ns_, p);
    return p;
}

PAWL_INLINE void pawl_backoff_init(struct pawl_backoff *b)
{
    b->wait = PAWL_BACKOFF_FIRST;
    b->spent = 0;
}

/* Waits one step. Returns false once the spin limit is used up: the waiter should sleep, or go on, ever more
 * rarely. */
PAWL_INLINE bool pawl_backoff_step(struct pawl_backoff *b)
{
#    ifdef PAWL_DISABLE_EBO
    pawl_cpu_relax();
    const uint32_t step = 16; /* about what a look costs */
#    else
    uint32_t per = pawl_load_relaxed_32(&pawl_pauses_per_1024ns_);
    if (!per) {
        per = pawl_backoff_calibrate();
    }
    for (uint32_t n = b->wait * per / 1024u + 1; n; n--) {
        pawl_cpu_relax();
    }
    const uint32_t step = b->wait;
    uint32_t most = PAWL_BACKOFF_STEP + (b->spent > PAWL_SPIN_LIMIT ? b->spent / 2 : b->spent / 8);
    b->wait = b->wait * 2 > most ? most : b->wait * 2;
#    endif
    if (b->spent < (1u << 18)) { /* no wait is longer than an eighth of a millisecond */
        b->spent += step;
    }
    return b->spent < PAWL_SPIN_LIMIT;
}

#endif /* PAWL_BACKEND_BACKOFF */

#ifndef __cplusplus
#    pragma GCC diagnostic pop
#endif

#endif
