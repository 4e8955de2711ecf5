/* Many threads on one lock. The main thread does not take part: it opens the gate, keeps the tick going,
 * reads everybody's counters at the beginning and at the end of the measured time, and gives the threads some
 * seconds to end. Those that don't (the next in a queue of spinners may wait minutes for its turn on a core)
 * end with the process. */
#include "base/clock.h"
#include "bench/lock/trial.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS 1000000
#define END_MS  3000
#define STACK   (256u << 10)
#define SEED    UINT64_C(0x9e3779b97f4a7c15)

struct crew {
    struct bench_trial *trial;
    pthread_barrier_t gate;
    uint32_t ended; /* atomic: how many threads are done */
};

struct member {
    struct crew *crew;
    struct bench_seat *seat;
};

static struct crew crew;
static struct member members[BENCH_MAX_THREADS];

static bool measuring(const struct bench_worker *w)
{
    return __atomic_load_n(&w->arena->phase, __ATOMIC_RELAXED) == BENCH_MEASURING;
}

static uint64_t ticks_to_ns(uint64_t ticks)
{
    return (uint64_t)((double)ticks * crew.trial->clock.ns_per_tick);
}

/* Counters of two cores may differ by a few ticks: what is less than nothing is nothing. */
static uint64_t span_ns(uint64_t from, uint64_t to)
{
    return to > from ? ticks_to_ns(to - from) : 0;
}

static void timed(struct bench_worker *w, bool write, uint64_t from, uint64_t to)
{
    struct bench_seat *s = (struct bench_seat *)w;
    uint64_t ns = span_ns(from, to);

    if (measuring(w)) {
        base_hist_add(&s->wait[write], ns);
        s->longest_ns[write] = ns > s->longest_ns[write] ? ns : s->longest_ns[write];
    }
}

/* A wait of which only ticks are known began before the tick that followed: it is counted from that one on.
 */
static uint64_t at_least_ns(const struct bench_worker *w, uint64_t from, uint64_t to)
{
    uint64_t ns = span_ns(from, to), slack = w->time_all ? 0 : TICK_NS;

    return ns > slack ? ns - slack : 0;
}

static void overlong(struct bench_worker *w, bool write, uint64_t from, uint64_t to)
{
    struct bench_seat *s = (struct bench_seat *)w;
    uint64_t ns = at_least_ns(w, from, to);

    if (measuring(w) && ns > s->longest_ns[write]) {
        s->longest_ns[write] = ns;
    }
}

static void *run_member(void *arg)
{
    struct member *m = arg;
    const struct bench_lock *lock = m->crew->trial->lock;

    if (lock->thread_begin) {
        lock->thread_begin();
    }
    pthread_barrier_wait(&m->crew->gate);
    lock->work(&m->seat->worker);
    if (lock->thread_end) {
        lock->thread_end();
    }
    __atomic_fetch_add(&m->crew->ended, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void set_up_worker(struct bench_trial *t, unsigned i)
{
    const struct bench_case *c = &t->point->of;
    struct bench_worker *w = &t->seats[i].worker;
    double share = c->write_percent / 100;

    if (c->writers || c->readers) {
        share = i < c->writers;
    }
    w->arena = &t->arena;
    w->random = (i + 1) * SEED;
    w->write_below = (uint64_t)(share * 4294967296.0);
    w->section = (uint32_t)(c->section_ns * t->clock.steps_per_ns);
    w->thinks = c->think_ns > 0;
    w->time_all = c->section_ns >= 500;
    w->tsc = t->clock.tsc;
    w->timed = timed;
    w->overlong = overlong;
}

/* The quantiles of the exponential distribution with the case's mean. */
static void set_up_think(struct bench_trial *t)
{
    double mean = t->point->of.think_ns * t->clock.steps_per_ns;

    for (unsigned i = 0; i < BENCH_THINK_SIZE; i++) {
        t->arena.think[i] = (uint32_t)(-mean * log((i + 0.5) / BENCH_THINK_SIZE));
    }
}

/* Detached: nobody waits longer for them than await_end() does. */
static void start_threads(struct bench_trial *t)
{
    pthread_attr_t attr;
    pthread_t thread;
    int e;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_barrier_init(&crew.gate, NULL, t->point->threads + 1);
    for (unsigned i = 0; i < t->point->threads; i++) {
        members[i] = (struct member){&crew, &t->seats[i]};
        if ((e = pthread_create(&thread, &attr, run_member, &members[i])) != 0) {
            bench_give_up(t, "cannot create the threads; is the limit of processes (ulimit -u) too low?", e);
        }
    }
    pthread_attr_destroy(&attr);
}

/* Passes the time up to a deadline, storing the tick where somebody looks at it. */
static void pass(struct bench_trial *t, int64_t deadline_ns)
{
    bool ticking = !t->seats[0].worker.time_all;
    int64_t next = base_now_ns();

    while (next < deadline_ns) {
        struct timespec at;

        if (ticking) {
            bench_store(&t->arena.tick, bench_ticks(t->clock.tsc));
        }
        next = ticking && next + TICK_NS < deadline_ns ? next + TICK_NS : deadline_ns;
        at = (struct timespec){next / 1000000000, next % 1000000000};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == EINTR) {
        }
        next = next < deadline_ns ? base_now_ns() : next;
    }
}

static int64_t clock_ns(clockid_t clock)
{
    struct timespec ts;

    clock_gettime(clock, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* What the threads have used: the process without this thread. */
static int64_t crew_cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID) - clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void read_ops(struct bench_trial *t, bool end)
{
    for (unsigned i = 0; i < t->point->threads; i++) {
        struct bench_seat *s = &t->seats[i];
        uint64_t *to = end ? s->ops_to : s->ops_from;

        to[0] = bench_load(&s->worker.ops[0]);
        to[1] = bench_load(&s->worker.ops[1]);
    }
}

/* A wait that is under way is one of at least the length it has now. */
static void read_open_waits(struct bench_trial *t)
{
    uint64_t now = bench_ticks(t->clock.tsc);

    for (unsigned i = 0; i < t->point->threads; i++) {
        uint64_t since = bench_load(&t->seats[i].worker.waiting_since);

        if (since) {
            t->seats[i].open_ns[since & 1] = at_least_ns(&t->seats[i].worker, since & ~UINT64_C(1), now);
        }
    }
}

/* Waits a while for all threads to end. */
static bool await_end(struct bench_trial *t)
{
    int64_t deadline = base_now_ns() + END_MS * INT64_C(1000000);

    while (__atomic_load_n(&crew.ended, __ATOMIC_ACQUIRE) < t->point->threads) {
        if (base_now_ns() > deadline) {
            return false;
        }
        usleep(500);
    }
    return true;
}

void bench_contend(struct bench_trial *t)
{
    int64_t start, end, cpu;

    crew.trial = t;
    t->lock->init(t->arena.lock);
    set_up_think(t);
    for (unsigned i = 0; i < t->point->threads; i++) {
        set_up_worker(t, i);
    }
    bench_store(&t->arena.tick, bench_ticks(t->clock.tsc));
    start_threads(t);
    pthread_barrier_wait(&crew.gate);
    pass(t, base_now_ns() + t->warm_up_ms * INT64_C(1000000));

    start = base_now_ns();
    cpu = crew_cpu_ns();
    read_ops(t, false);
    __atomic_store_n(&t->arena.phase, BENCH_MEASURING, __ATOMIC_RELAXED);
    pass(t, start + t->time_ms * INT64_C(1000000));
    end = base_now_ns();
    t->cpu_ns = crew_cpu_ns() - cpu;
    t->window_ns = end - start;
    read_ops(t, true);
    read_open_waits(t);
    __atomic_store_n(&t->arena.phase, BENCH_OVER, __ATOMIC_RELAXED);
    t->measured = true;
    t->quiet = await_end(t);
    t->sum_first = bench_load(&t->arena.first);
    t->sum_second = bench_load(&t->arena.second);
}
