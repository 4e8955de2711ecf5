/* A writer that sleeps inside for 50 ms while others wait to write, again and again. What the waiters use of
 * the CPU is read from their own clocks, from just before the lock to having it; the hand-off lasts from just
 * before the unlock to the first of them having it. */
#include "base/clock.h"
#include "bench/lock/trial.h"

#include <pthread.h>
#include <time.h>
#include <unistd.h>

struct scene {
    struct bench_trial *trial;
    pthread_barrier_t begin, end; /* of a cycle: the holder is inside; everybody is out again */
    uint32_t ready;               /* atomic: waiters about to lock, counted over all cycles */
    bool over;                    /* written between end and begin */
    int64_t released_ns;          /* atomic: just before the unlock; 0 once the first has it */
    int64_t cpu_ns;               /* atomic */
};

static struct scene scene;
static _Alignas(BENCH_LINE) unsigned char contexts[1 + BENCH_SLEEPERS][BENCH_CONTEXT_SIZE];

static int64_t own_cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Inside the lock: the first to get here after the holder takes the time, and leaves 0 for the others. */
static void note_hand_off(struct bench_trial *t)
{
    int64_t now = base_now_ns();
    int64_t released = __atomic_exchange_n(&scene.released_ns, 0, __ATOMIC_RELAXED);

    if (released) {
        base_hist_add(&t->hand_off, (uint64_t)(now > released ? now - released : 0));
    }
}

static void *wait_again(void *context)
{
    struct bench_trial *t = scene.trial;

    if (t->lock->thread_begin) {
        t->lock->thread_begin();
    }
    for (;;) {
        int64_t cpu;

        pthread_barrier_wait(&scene.begin);
        if (scene.over) {
            break;
        }
        __atomic_fetch_add(&scene.ready, 1, __ATOMIC_RELAXED);
        cpu = own_cpu_ns();
        t->lock->take[BENCH_WRITE](t->arena.lock, context);
        note_hand_off(t);
        cpu = own_cpu_ns() - cpu;
        t->lock->drop[BENCH_WRITE](t->arena.lock, context);
        __atomic_fetch_add(&scene.cpu_ns, cpu, __ATOMIC_RELAXED);
        pthread_barrier_wait(&scene.end);
    }
    if (t->lock->thread_end) {
        t->lock->thread_end();
    }
    return NULL;
}

/* One cycle of the holder; returns how long the waiters had to wait for it. */
static int64_t hold(struct bench_trial *t, uint32_t ready)
{
    struct timespec hold_time = {0, BENCH_HOLD_MS * 1000000};
    int64_t start, released;

    t->lock->take[BENCH_WRITE](t->arena.lock, contexts[0]);
    pthread_barrier_wait(&scene.begin);
    while (__atomic_load_n(&scene.ready, __ATOMIC_RELAXED) != ready) {
        usleep(50);
    }
    start = base_now_ns();
    clock_nanosleep(CLOCK_MONOTONIC, 0, &hold_time, NULL);
    released = base_now_ns();
    __atomic_store_n(&scene.released_ns, released, __ATOMIC_RELAXED);
    t->lock->drop[BENCH_WRITE](t->arena.lock, contexts[0]);
    pthread_barrier_wait(&scene.end);
    return released - start;
}

void bench_sleep(struct bench_trial *t)
{
    pthread_t threads[BENCH_SLEEPERS];
    int64_t start = base_now_ns(), end = start + t->time_ms * INT64_C(1000000);
    uint32_t ready = 0;

    scene.trial = t;
    t->lock->init(t->arena.lock);
    pthread_barrier_init(&scene.begin, NULL, BENCH_SLEEPERS + 1);
    pthread_barrier_init(&scene.end, NULL, BENCH_SLEEPERS + 1);
    for (unsigned i = 0; i < BENCH_SLEEPERS; i++) {
        int e = pthread_create(&threads[i], NULL, wait_again, contexts[1 + i]);

        if (e) {
            bench_give_up(t, "cannot create a thread", e);
        }
    }
    do {
        t->held_ns += hold(t, ready += BENCH_SLEEPERS);
    } while (base_now_ns() < end);
    t->window_ns = base_now_ns() - start;
    t->waiters_cpu_ns = scene.cpu_ns;
    scene.over = true;
    pthread_barrier_wait(&scene.begin);
    for (unsigned i = 0; i < BENCH_SLEEPERS; i++) {
        pthread_join(threads[i], NULL);
    }
    t->measured = t->quiet = true;
}
