/* The two yardsticks. `none` does everything but the lock: what is left is what the work and the scheduler
 * cost. `atomics` is two atomic additions on the same word: the least that a lock and an unlock can be. */
#include "bench/lock/lock.h"

#define BL                 none
#define BL_NAME            "none"
#define BL_WHAT            "no lock: the floor of what work and scheduling cost"
#define BL_NOTE            "guards nothing"
#define BL_FLAGS           (BENCH_SHARED | BENCH_UNCHECKED | BENCH_TORN_READS)
#define BL_TYPE            uint32_t
#define BL_INIT(l)         (*(l) = 0)
#define BL_READ(l, c)      ((void)0)
#define BL_READ_END(l, c)  ((void)0)
#define BL_WRITE(l, c)     ((void)0)
#define BL_WRITE_END(l, c) ((void)0)
#include "bench/lock/loops.h"

#define BL                 atomics
#define BL_NAME            "atomics"
#define BL_WHAT            "two atomic additions on the same word"
#define BL_NOTE            "guards nothing"
#define BL_FLAGS           (BENCH_SHARED | BENCH_UNCHECKED | BENCH_TORN_READS | BENCH_SOLO_ONLY)
#define BL_TYPE            uint32_t
#define BL_INIT(l)         (*(l) = 0)
#define BL_READ(l, c)      ((void)__atomic_fetch_add(l, 1, __ATOMIC_ACQUIRE))
#define BL_READ_END(l, c)  ((void)__atomic_fetch_sub(l, 1, __ATOMIC_RELEASE))
#define BL_WRITE(l, c)     ((void)__atomic_fetch_add(l, 1, __ATOMIC_ACQUIRE))
#define BL_WRITE_END(l, c) ((void)__atomic_fetch_sub(l, 1, __ATOMIC_RELEASE))
#include "bench/lock/loops.h"
