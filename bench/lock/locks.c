/* The table of locks. Which of the peers are there is the build's doing: BENCH_CK, BENCH_URCU. */
#include "bench/lock/locks.h"

#include <string.h>

#define OWN(x) X(pawl_##x) X(pawl64_##x)
#define LOCKS  X(none) X(atomics) OWN(normal) OWN(no_backoff) OWN(no_park) OWN(bare) GLIBC CK URCU
#define GLIBC  X(mutex) X(adaptive) X(rwlock) X(rwlock_writer) X(spinlock)
#ifdef BENCH_CK
#    define CK X(ck_rwlock) X(ck_pflock) X(ck_tflock) X(ck_swlock) X(ck_mcs) X(ck_fas) X(ck_ticket)
#else
#    define CK
#endif
#ifdef BENCH_URCU
#    define URCU X(urcu)
#else
#    define URCU
#endif

#define X(x) extern const struct bench_lock bench_lock_##x;
LOCKS
#undef X

#define X(x) &bench_lock_##x,
static const struct bench_lock *locks[BENCH_MAX_LOCKS] = {LOCKS};
#undef X

#define X(x) +1
static size_t n_locks = 0 LOCKS;
#undef X

const struct bench_lock *const *bench_locks(size_t *n)
{
    *n = n_locks;
    return locks;
}

void bench_locks_add(const struct bench_lock *lock)
{
    if (n_locks < BENCH_MAX_LOCKS) {
        locks[n_locks++] = lock;
    }
}

size_t bench_locks_left_out(struct bench_left_out out[BENCH_MAX_LEFT_OUT])
{
    size_t n = 0;

#ifndef BENCH_CK
    out[n++] = (struct bench_left_out){"ck-*", "built without Concurrency Kit; Debian: libck-dev"};
#endif
#ifndef BENCH_URCU
    out[n++] = (struct bench_left_out){"urcu", "built without userspace RCU; Debian: liburcu-dev"};
#endif
    if (!bench_lock_find("plock32")) {
        out[n++] = (struct bench_left_out){"plock32, plock64", "no --plock DIR names a copy of plock"};
    }
    return n;
}

const struct bench_lock *bench_lock_find(const char *name)
{
    for (size_t i = 0; i < n_locks; i++) {
        if (!strcmp(locks[i]->name, name)) {
            return locks[i];
        }
    }
    return NULL;
}
