/* The C library's locks. A mutex has no readers: they take it like writers. */
#include <pthread.h>

static void make_adaptive(pthread_mutex_t *m)
{
    pthread_mutexattr_t a;

    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(m, &a);
    pthread_mutexattr_destroy(&a);
}

static void make_rwlock_writer(pthread_rwlock_t *l)
{
    pthread_rwlockattr_t a;

    pthread_rwlockattr_init(&a);
    pthread_rwlockattr_setkind_np(&a, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(l, &a);
    pthread_rwlockattr_destroy(&a);
}

#define BL                 mutex
#define BL_NAME            "mutex"
#define BL_WHAT            "the C library's mutex"
#define BL_NOTE            NULL
#define BL_FLAGS           0
#define BL_TYPE            pthread_mutex_t
#define BL_INIT(l)         pthread_mutex_init(l, NULL)
#define BL_READ(l, c)      pthread_mutex_lock(l)
#define BL_READ_END(l, c)  pthread_mutex_unlock(l)
#define BL_WRITE(l, c)     pthread_mutex_lock(l)
#define BL_WRITE_END(l, c) pthread_mutex_unlock(l)
#include "bench/lock/loops.h"

#define BL                 adaptive
#define BL_NAME            "adaptive"
#define BL_WHAT            "the C library's mutex that spins first"
#define BL_NOTE            NULL
#define BL_FLAGS           0
#define BL_TYPE            pthread_mutex_t
#define BL_INIT(l)         make_adaptive(l)
#define BL_READ(l, c)      pthread_mutex_lock(l)
#define BL_READ_END(l, c)  pthread_mutex_unlock(l)
#define BL_WRITE(l, c)     pthread_mutex_lock(l)
#define BL_WRITE_END(l, c) pthread_mutex_unlock(l)
#include "bench/lock/loops.h"

#define BL                 rwlock
#define BL_NAME            "rwlock"
#define BL_WHAT            "the C library's reader/writer lock"
#define BL_NOTE            NULL
#define BL_FLAGS           BENCH_SHARED
#define BL_TYPE            pthread_rwlock_t
#define BL_INIT(l)         pthread_rwlock_init(l, NULL)
#define BL_READ(l, c)      pthread_rwlock_rdlock(l)
#define BL_READ_END(l, c)  pthread_rwlock_unlock(l)
#define BL_WRITE(l, c)     pthread_rwlock_wrlock(l)
#define BL_WRITE_END(l, c) pthread_rwlock_unlock(l)
#include "bench/lock/loops.h"

#define BL                 rwlock_writer
#define BL_NAME            "rwlock-writer"
#define BL_WHAT            "the C library's reader/writer lock that prefers writers"
#define BL_NOTE            NULL
#define BL_FLAGS           BENCH_SHARED
#define BL_TYPE            pthread_rwlock_t
#define BL_INIT(l)         make_rwlock_writer(l)
#define BL_READ(l, c)      pthread_rwlock_rdlock(l)
#define BL_READ_END(l, c)  pthread_rwlock_unlock(l)
#define BL_WRITE(l, c)     pthread_rwlock_wrlock(l)
#define BL_WRITE_END(l, c) pthread_rwlock_unlock(l)
#include "bench/lock/loops.h"

#define BL                 spinlock
#define BL_NAME            "spinlock"
#define BL_WHAT            "the C library's spin lock"
#define BL_NOTE            NULL
#define BL_FLAGS           0
#define BL_TYPE            pthread_spinlock_t
#define BL_INIT(l)         pthread_spin_init(l, PTHREAD_PROCESS_PRIVATE)
#define BL_READ(l, c)      pthread_spin_lock(l)
#define BL_READ_END(l, c)  pthread_spin_unlock(l)
#define BL_WRITE(l, c)     pthread_spin_lock(l)
#define BL_WRITE_END(l, c) pthread_spin_unlock(l)
#include "bench/lock/loops.h"
