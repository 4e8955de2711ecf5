/* The locks that can be measured: all that this program was built with, and those that a build left out. */
#ifndef PAWL_BENCH_LOCK_LOCKS_H
#define PAWL_BENCH_LOCK_LOCKS_H

#include "bench/lock/lock.h"

#define BENCH_MAX_LOCKS 64

/* Every lock this program has, in the order of a report; n is how many. Constant. */
const struct bench_lock *const *bench_locks(size_t *n);

/* What is not there, and why. */
struct bench_left_out {
    const char *name, *why;
};

/* The locks that were left out when this program was built. Constant. */
const struct bench_left_out *bench_locks_left_out(size_t *n);

/* The lock with that name, or NULL. */
const struct bench_lock *bench_lock_find(const char *name);

#endif
