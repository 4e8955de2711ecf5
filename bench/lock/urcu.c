/* Userspace RCU: what reading costs where it excludes nobody. Not the contract of a reader/writer lock: a
 * reader sees the old and the new while a writer is at work. Writers exclude each other by a mutex. */
#define _LGPL_SOURCE /* rcu_read_lock() inline */
#include <pthread.h>
#include <urcu.h>

static void begin(void)
{
    rcu_register_thread();
}

static void end(void)
{
    rcu_unregister_thread();
}

#define BL                 urcu
#define BL_NAME            "urcu"
#define BL_WHAT            "userspace RCU for readers, a mutex for writers"
#define BL_NOTE            "not the same contract: readers exclude nobody"
#define BL_FLAGS           (BENCH_SHARED | BENCH_TORN_READS)
#define BL_TYPE            pthread_mutex_t
#define BL_INIT(l)         pthread_mutex_init(l, NULL)
#define BL_READ(l, c)      rcu_read_lock()
#define BL_READ_END(l, c)  rcu_read_unlock()
#define BL_WRITE(l, c)     pthread_mutex_lock(l)
#define BL_WRITE_END(l, c) pthread_mutex_unlock(l)
#define BL_BEGIN           begin
#define BL_END             end
#include "bench/lock/loops.h"
