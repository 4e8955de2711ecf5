/* A lock under measurement, and the thread that works on it: what the loops of bench/lock/loops.h and the
 * rest of the benchmark agree on. This file and loops.h need nothing but the C library: they are also
 * compiled at run time against a lock that the user names (bench/lock/plock.c). */
#ifndef PAWL_BENCH_LOCK_LOCK_H
#define PAWL_BENCH_LOCK_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* The states a lock may be taken in. */
enum bench_kind { BENCH_READ, BENCH_SEEK, BENCH_WRITE, BENCH_ATOMIC, BENCH_KINDS };

enum bench_flag {
    BENCH_SHARED = 1,     /* readers are inside together */
    BENCH_ONE_WRITER = 2, /* takes one writing thread at most */
    BENCH_UNCHECKED = 4,  /* writers don't exclude each other: what it guards is not checked */
    BENCH_TORN_READS = 8, /* writers don't exclude readers */
    BENCH_SOLO_ONLY = 16, /* no lock at all, a yardstick for one thread */
    BENCH_VARIANT = 32,   /* a build that is measured when named, or with --full */
};

struct bench_worker;

/* A lock: its description and its loops. Made by bench/lock/loops.h. */
struct bench_lock {
    const char *name; /* as --lock takes it */
    const char *what; /* a few words */
    const char *note; /* what a reader of its figures must know, or NULL */
    unsigned flags;
    size_t size;
    void (*init)(void *lock);
    /* around a thread's life; NULL where there is nothing to do */
    void (*thread_begin)(void), (*thread_end)(void);
    /* one operation, called; NULL for a state it has not */
    void (*take[BENCH_KINDS])(void *lock, void *context);
    void (*drop[BENCH_KINDS])(void *lock, void *context);
    /* n times lock and unlock, inline */
    void (*solo[BENCH_KINDS])(void *lock, void *context, uint64_t n);
    /* a thread's whole work, the lock inline */
    void (*work)(struct bench_worker *w);
};

#define BENCH_LINE         128 /* two cache lines: neighbours are fetched in pairs */
#define BENCH_LOCK_SIZE    256
#define BENCH_CONTEXT_SIZE 128
#define BENCH_THINK_SIZE   1024
#define BENCH_SAMPLE       127 /* one in (127 + 1) / 2 operations is timed, at random */

enum bench_phase { BENCH_WARMING, BENCH_MEASURING, BENCH_OVER };

/* What the threads share; each part on lines of its own. */
struct bench_arena {
    _Alignas(BENCH_LINE) unsigned char lock[BENCH_LOCK_SIZE];
    _Alignas(BENCH_LINE) uint64_t first, second; /* what the lock guards: always equal outside of a write */
    _Alignas(BENCH_LINE) uint32_t phase;
    _Alignas(BENCH_LINE) uint64_t tick;                    /* a recent bench_ticks() */
    _Alignas(BENCH_LINE) uint32_t think[BENCH_THINK_SIZE]; /* steps of bench_busy(), equally likely */
};

struct bench_worker {
    /* settled before it runs */
    _Alignas(BENCH_LINE) struct bench_arena *arena;
    uint64_t random;
    uint64_t write_below; /* writes where 32 random bits are below: 0 never, 2^32 always */
    uint32_t section;     /* steps of bench_busy() within the lock */
    bool thinks;          /* between operations, as arena->think says */
    bool time_all;        /* every operation is timed; otherwise one in 64, the others by arena->tick */
    bool tsc;
    /* called after the unlock: a timed wait; a wait of at least a tick that was not timed. In ticks. */
    void (*timed)(struct bench_worker *w, bool write, uint64_t from, uint64_t to);
    void (*overlong)(struct bench_worker *w, bool write, uint64_t from, uint64_t to);
    _Alignas(BENCH_LINE) unsigned char context[BENCH_CONTEXT_SIZE]; /* a queue lock's place in the queue */
    /* written by the thread alone, read by others at any time: relaxed atomics */
    _Alignas(BENCH_LINE) uint64_t ops[2]; /* reads, writes */
    uint64_t waiting_since;               /* ticks, the lowest bit tells a write; 0: not waiting */
    uint64_t broken;                      /* how often the guarded words were not equal */
};

static inline uint64_t bench_load(const uint64_t *p)
{
    return __atomic_load_n(p, __ATOMIC_RELAXED);
}

static inline void bench_store(uint64_t *p, uint64_t v)
{
    __atomic_store_n(p, v, __ATOMIC_RELAXED);
}

/* A clock that is cheap to read; bench/lock/calibrate.h tells its unit. The time stamp counter where it is
 * good for it (tsc), otherwise nanoseconds. */
static inline uint64_t bench_ticks(bool tsc)
{
    struct timespec t;

#if defined(__x86_64__) || defined(__i386__)
    if (tsc) {
        return __builtin_ia32_rdtsc();
    }
#endif
    (void)tsc;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Keeps the core busy for n steps of a chain of multiplications: as long wherever it is compiled. */
static inline void bench_busy(uint32_t n)
{
    uint64_t x = n;

    for (; n; n--) {
        x = x * 6364136223846793005u + 1;
        __asm__ volatile("" : "+r"(x));
    }
}

/* xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators, scrambled", 2016). */
static inline uint32_t bench_random(uint64_t *state)
{
    uint64_t x = *state;

    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return (uint32_t)((x * 2685821657736338717u) >> 32);
}

/* The critical sections. Relaxed atomics are plain loads and stores to the machine; they keep the benchmark
 * of `none`, where they race, defined. */
static inline void bench_write_section(struct bench_worker *w)
{
    struct bench_arena *a = w->arena;
    uint64_t first = bench_load(&a->first), second = bench_load(&a->second);

    bench_store(&a->first, first + 1);
    bench_busy(w->section);
    bench_store(&a->second, second + 1);
    if (__builtin_expect(first != second, 0)) {
        bench_store(&w->broken, w->broken + 1);
    }
}

static inline void bench_read_section(struct bench_worker *w)
{
    struct bench_arena *a = w->arena;
    uint64_t first = bench_load(&a->first);

    bench_busy(w->section);
    if (__builtin_expect(first != bench_load(&a->second), 0)) {
        bench_store(&w->broken, w->broken + 1);
    }
}

#endif
