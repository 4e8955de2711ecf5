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
static const struct bench_lock *const locks[] = {LOCKS};
#undef X

static const struct bench_left_out left_out[] = {
#ifndef BENCH_CK
    {"ck-*", "built without Concurrency Kit (Debian: libck-dev)"},
#endif
#ifndef BENCH_URCU
    {"urcu", "built without userspace RCU (Debian: liburcu-dev)"},
#endif
    {NULL, NULL},
};

const struct bench_lock *const *bench_locks(size_t *n)
{
    *n = sizeof locks / sizeof *locks;
    return locks;
}

const struct bench_left_out *bench_locks_left_out(size_t *n)
{
    *n = sizeof left_out / sizeof *left_out - 1;
    return left_out;
}

const struct bench_lock *bench_lock_find(const char *name)
{
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++) {
        if (!strcmp(locks[i]->name, name)) {
            return locks[i];
        }
    }
    return NULL;
}
