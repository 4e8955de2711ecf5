/* One thread, nobody in its way (or one reader parked inside): batches of lock and unlock in each state and
 * of two atomic additions, in turn; the shortest of each counts, for what disturbs a batch can only lengthen
 * it. A second thread is there in any case: the C library leaves out the atomics of a process that has only
 * one. */
#include "base/clock.h"
#include "bench/lock/locks.h"
#include "bench/lock/trial.h"

#include <math.h>
#include <pthread.h>

#define BATCH_NS 100000

struct guest {
    struct bench_trial *trial;
    pthread_barrier_t there, leave;
    pthread_t thread;
};

static _Alignas(BENCH_LINE) unsigned char word[BENCH_LOCK_SIZE];
static _Alignas(BENCH_LINE) unsigned char contexts[2][BENCH_CONTEXT_SIZE];

static void *be_there(void *arg)
{
    struct guest *g = arg;
    const struct bench_lock *lock = g->trial->lock;
    bool held = g->trial->point->of.type == BENCH_HELD;

    if (lock->thread_begin) {
        lock->thread_begin();
    }
    if (held) {
        lock->take[BENCH_READ](g->trial->arena.lock, contexts[1]);
    }
    pthread_barrier_wait(&g->there);
    pthread_barrier_wait(&g->leave);
    if (held) {
        lock->drop[BENCH_READ](g->trial->arena.lock, contexts[1]);
    }
    if (lock->thread_end) {
        lock->thread_end();
    }
    return NULL;
}

static void invite(struct guest *g, struct bench_trial *t)
{
    int e;

    g->trial = t;
    pthread_barrier_init(&g->there, NULL, 2);
    pthread_barrier_init(&g->leave, NULL, 2);
    if ((e = pthread_create(&g->thread, NULL, be_there, g)) != 0) {
        bench_give_up(t, "cannot create a thread", e);
    }
    pthread_barrier_wait(&g->there);
}

static void see_out(struct guest *g)
{
    pthread_barrier_wait(&g->leave);
    pthread_join(g->thread, NULL);
}

/* Nanoseconds for one of `times`. */
static double batch(const struct bench_lock *lock, void *on, enum bench_kind kind, uint64_t times)
{
    int64_t start = base_now_ns();

    lock->solo[kind](on, contexts[0], times);
    return (double)(base_now_ns() - start) / (double)times;
}

/* How many make a batch. */
static uint64_t fit(const struct bench_lock *lock, void *on, enum bench_kind kind)
{
    uint64_t times = 1000;

    while (batch(lock, on, kind, times) * (double)times < BATCH_NS && times < UINT64_C(1) << 30) {
        times *= 2;
    }
    return times;
}

static void keep_least(double *least, double v)
{
    *least = v < *least ? v : *least;
}

/* Runs batches of everything until the time is over. */
static void run_batches(struct bench_trial *t, const struct bench_lock *atomics)
{
    bool held = t->point->of.type == BENCH_HELD;
    uint64_t times[BENCH_KINDS], times_atomics = fit(atomics, word, BENCH_READ);
    int64_t end;

    t->atomics_ns = INFINITY;
    for (int k = 0; k < BENCH_KINDS; k++) {
        bool wanted = t->lock->solo[k] && (!held || k == BENCH_READ);

        times[k] = wanted ? fit(t->lock, t->arena.lock, (enum bench_kind)k) : 0;
        t->solo_ns[k] = wanted ? INFINITY : NAN;
    }
    end = base_now_ns() + t->time_ms * INT64_C(1000000);
    do {
        keep_least(&t->atomics_ns, batch(atomics, word, BENCH_READ, times_atomics));
        for (int k = 0; k < BENCH_KINDS; k++) {
            if (times[k]) {
                keep_least(&t->solo_ns[k], batch(t->lock, t->arena.lock, (enum bench_kind)k, times[k]));
            }
        }
    } while (base_now_ns() < end);
    for (int k = 0; k < BENCH_KINDS; k++) {
        t->solo_ratio[k] = t->solo_ns[k] / t->atomics_ns; /* NaN stays NaN */
    }
}

void bench_solo(struct bench_trial *t)
{
    const struct bench_lock *atomics = bench_lock_find("atomics");
    struct guest guest;

    t->lock->init(t->arena.lock);
    atomics->init(word);
    if (t->lock->thread_begin) {
        t->lock->thread_begin();
    }
    invite(&guest, t);
    run_batches(t, atomics);
    see_out(&guest);
    if (t->lock->thread_end) {
        t->lock->thread_end();
    }
    t->measured = t->quiet = true;
}
