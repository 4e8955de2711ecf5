/* plock, where the user has a copy: compiled and loaded while the program runs. */
#ifndef PAWL_BENCH_LOCK_PLOCK_H
#define PAWL_BENCH_LOCK_PLOCK_H

#include "bench/lock/lock.h"

#define BENCH_PLOCK_LOCKS 2

/* What plock32 and plock64 are, for lists and choices before they are compiled: no more than names, size and
 * flags. */
extern const struct bench_lock bench_plock_described[BENCH_PLOCK_LOCKS];

/* Is there a plock in this directory? 0, or -1 with the reason in error. */
int bench_plock_find(const char *dir, char *error, size_t size);

/* Compiles dir/plock.h (which includes atomic-ops.h beside it) in the benchmark's loops, with $CC or the
 * compiler that this program was made with, and loads the result. 0, and locks are plock32 and plock64, for
 * as long as the program runs; or -1 with the reason in error. Nothing is left in the file system. One
 * thread. */
int bench_plock_load(const char *dir, const struct bench_lock *locks[BENCH_PLOCK_LOCKS], char *error,
                     size_t size);

#endif
