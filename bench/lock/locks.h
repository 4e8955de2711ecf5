/* The locks that can be measured: all that this program was built with, and those that
 * were added or left out. One thread. */
#ifndef PAWL_BENCH_LOCK_LOCKS_H
#define PAWL_BENCH_LOCK_LOCKS_H

#include "bench/lock/lock.h"

#define BENCH_MAX_LOCKS 64

/* Every lock there is, in the order of a report; n is how many. */
const struct bench_lock *const *bench_locks(size_t *n);

/* One more lock, of a name that none has yet. It stays the caller's, and has to stay. */
void bench_locks_add(const struct bench_lock *lock);

/* What is not there, and why. */
struct bench_left_out {
    const char *name, *why;
};

/* The locks that were left out when this program was built, and plock where it was not added; at most
 * BENCH_MAX_LEFT_OUT of them. */
#define BENCH_MAX_LEFT_OUT 4
size_t bench_locks_left_out(struct bench_left_out out[BENCH_MAX_LEFT_OUT]);

/* The lock with that name, or NULL. */
const struct bench_lock *bench_lock_find(const char *name);

#endif
