/* The loops over one lock, with the lock's operations inline: a function call would be a tenth of what is
 * measured. Included once for each lock, after these are defined; all are undefined again at the end:
 *
 *   BL            its name as an identifier; the result is `const struct bench_lock bench_lock_BL`
 *   BL_NAME       its name as --lock takes it; BL_WHAT, BL_NOTE, BL_FLAGS: see struct bench_lock
 *   BL_TYPE       its type; BL_CONTEXT: what it needs of each thread (char where it needs nothing)
 *   BL_INIT(l)    makes *l a free lock
 *   BL_READ(l, c), BL_READ_END(l, c), BL_WRITE ..., and, both or neither, BL_SEEK ..., BL_ATOMIC ...
 *   BL_BEGIN, BL_END   optional: void functions for a thread's beginning and end */
#include "bench/lock/lock.h"

#define BL_PASTE_(a, b) a##_##b
#define BL_PASTE(a, b)  BL_PASTE_(a, b)
#define BL_FUNCTION(f)  BL_PASTE(BL_PASTE(loops, BL), f)
#define BL_BARRIER()    __asm__ volatile("" ::: "memory")

#ifndef BL_CONTEXT
#    define BL_CONTEXT char
#endif

_Static_assert(sizeof(BL_TYPE) <= BENCH_LOCK_SIZE, "the lock does not fit its place");
_Static_assert(sizeof(BL_CONTEXT) <= BENCH_CONTEXT_SIZE, "the context does not fit its place");

#ifndef BENCH_STATES
/* take, drop and solo of one state. */
#    define BENCH_STATES(state, enter, leave)                                            \
        static void BL_FUNCTION(take_##state)(void *lock, void *context)                 \
        {                                                                                \
            BL_TYPE *l = lock;                                                           \
            BL_CONTEXT *c = context;                                                     \
                                                                                         \
            (void)l, (void)c;                                                            \
            enter(l, c);                                                                 \
        }                                                                                \
        static void BL_FUNCTION(drop_##state)(void *lock, void *context)                 \
        {                                                                                \
            BL_TYPE *l = lock;                                                           \
            BL_CONTEXT *c = context;                                                     \
                                                                                         \
            (void)l, (void)c;                                                            \
            leave(l, c);                                                                 \
        }                                                                                \
        static void BL_FUNCTION(solo_##state)(void *lock, void *context, uint64_t times) \
        {                                                                                \
            BL_TYPE *l = lock;                                                           \
            BL_CONTEXT *c = context;                                                     \
                                                                                         \
            (void)l, (void)c;                                                            \
            for (; times; times--) {                                                     \
                enter(l, c);                                                             \
                BL_BARRIER();                                                            \
                leave(l, c);                                                             \
                BL_BARRIER();                                                            \
            }                                                                            \
        }
#endif

BENCH_STATES(read, BL_READ, BL_READ_END)
BENCH_STATES(write, BL_WRITE, BL_WRITE_END)
#ifdef BL_SEEK
BENCH_STATES(seek, BL_SEEK, BL_SEEK_END)
#endif
#ifdef BL_ATOMIC
BENCH_STATES(atomic, BL_ATOMIC, BL_ATOMIC_END)
#endif

static void BL_FUNCTION(init)(void *lock)
{
    BL_TYPE *l = lock;

    (void)l;
    BL_INIT(l);
}

/* A thread's whole work. The wait is published before it begins, so that one that never ends can be seen from
 * outside. A timed wait reads the clock on both sides of it; any other only compares the tick that another
 * thread stores a thousand times a second, which costs two cached loads. */
static void BL_FUNCTION(work)(struct bench_worker *w)
{
    struct bench_arena *a = w->arena;
    BL_TYPE *l = (void *)a->lock;
    BL_CONTEXT *c = (void *)w->context;
    uint64_t random = w->random;
    uint32_t until_timed = 1;

    (void)l, (void)c;
    while (__atomic_load_n(&a->phase, __ATOMIC_RELAXED) != BENCH_OVER) {
        bool write = bench_random(&random) < w->write_below;
        bool timed = w->time_all || --until_timed == 0;
        uint64_t from = timed ? bench_ticks(w->tsc) : bench_load(&a->tick), to;

        bench_store(&w->waiting_since, (from & ~UINT64_C(1)) | write);
        if (write) {
            BL_WRITE(l, c);
        } else {
            BL_READ(l, c);
        }
        to = timed ? bench_ticks(w->tsc) : bench_load(&a->tick);
        bench_store(&w->waiting_since, 0);
        if (write) {
            bench_write_section(w);
            BL_WRITE_END(l, c);
        } else {
            bench_read_section(w);
            BL_READ_END(l, c);
        }
        bench_store(&w->ops[write], w->ops[write] + 1);
        if (timed) {
            w->timed(w, write, from, to);
            until_timed = 1 + (bench_random(&random) & BENCH_SAMPLE);
        } else if (__builtin_expect(from != to, 0)) {
            w->overlong(w, write, from, to);
        }
        if (w->thinks) {
            bench_busy(a->think[bench_random(&random) % BENCH_THINK_SIZE]);
        }
    }
}

extern const struct bench_lock BL_PASTE(bench_lock, BL);
const struct bench_lock BL_PASTE(bench_lock, BL) = {
    .name = BL_NAME,
    .what = BL_WHAT,
    .note = BL_NOTE,
    .flags = BL_FLAGS,
    .size = sizeof(BL_TYPE),
    .init = BL_FUNCTION(init),
#ifdef BL_BEGIN
    .thread_begin = BL_BEGIN,
    .thread_end = BL_END,
#endif
    .take =
        {
            [BENCH_READ] = BL_FUNCTION(take_read),
            [BENCH_WRITE] = BL_FUNCTION(take_write),
#ifdef BL_SEEK
            [BENCH_SEEK] = BL_FUNCTION(take_seek),
#endif
#ifdef BL_ATOMIC
            [BENCH_ATOMIC] = BL_FUNCTION(take_atomic),
#endif
        },
    .drop =
        {
            [BENCH_READ] = BL_FUNCTION(drop_read),
            [BENCH_WRITE] = BL_FUNCTION(drop_write),
#ifdef BL_SEEK
            [BENCH_SEEK] = BL_FUNCTION(drop_seek),
#endif
#ifdef BL_ATOMIC
            [BENCH_ATOMIC] = BL_FUNCTION(drop_atomic),
#endif
        },
    .solo =
        {
            [BENCH_READ] = BL_FUNCTION(solo_read),
            [BENCH_WRITE] = BL_FUNCTION(solo_write),
#ifdef BL_SEEK
            [BENCH_SEEK] = BL_FUNCTION(solo_seek),
#endif
#ifdef BL_ATOMIC
            [BENCH_ATOMIC] = BL_FUNCTION(solo_atomic),
#endif
        },
    .work = BL_FUNCTION(work),
};

#undef BL
#undef BL_NAME
#undef BL_WHAT
#undef BL_NOTE
#undef BL_FLAGS
#undef BL_TYPE
#undef BL_CONTEXT
#undef BL_INIT
#undef BL_READ
#undef BL_READ_END
#undef BL_SEEK
#undef BL_SEEK_END
#undef BL_WRITE
#undef BL_WRITE_END
#undef BL_ATOMIC
#undef BL_ATOMIC_END
#undef BL_BEGIN
#undef BL_END
#undef BL_PASTE_
#undef BL_PASTE
#undef BL_FUNCTION
#undef BL_BARRIER
