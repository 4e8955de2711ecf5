/* One measurement of one lock at one point: in a process of its own, which is killed when it does not end. It
 * lies in memory that both processes share, so that what was measured is there even then. */
#ifndef PAWL_BENCH_LOCK_TRIAL_H
#define PAWL_BENCH_LOCK_TRIAL_H

#include "base/hist.h"
#include "bench/lock/calibrate.h"
#include "bench/lock/cases.h"

/* A thread's place: its work, and what it measured. worker comes first. */
struct bench_seat {
    struct bench_worker worker;
    struct base_hist wait[2]; /* ns: reads, writes; of the timed ones */
    uint64_t longest_ns[2];   /* of all that ended while it was measured */
    /* read from outside, at the beginning and at the end of the measured time */
    uint64_t ops_from[2], ops_to[2];
    uint64_t open_ns[2]; /* the wait that was under way at the end; 0: none */
};

struct bench_trial {
    /* what is asked for */
    const struct bench_lock *lock;
    const struct bench_point *point;
    struct bench_clock clock;
    unsigned warm_up_ms, time_ms;
    unsigned grace_ms; /* beyond these: for creating the threads, and for their end */
    /* how it went; written by the child */
    bool measured;      /* the figures below hold */
    bool quiet;         /* every thread ended in time, so what the lock guards could be checked */
    char error[160];    /* why nothing could be measured, or empty */
    uint64_t sum_first; /* what the lock guards, at the end */
    uint64_t sum_second;
    int64_t window_ns, cpu_ns;
    /* BENCH_SOLO and BENCH_HELD: ns for lock and unlock by state, NaN where it has not that state; beside
     * them, at the same time, for two atomic additions; the quotients */
    double solo_ns[BENCH_KINDS], atomics_ns, solo_ratio[BENCH_KINDS];
    /* BENCH_SLEEP: how long the holder had it, what the waiters used meanwhile, and from just before its
     * unlock to the next one having it */
    int64_t held_ns, waiters_cpu_ns;
    struct base_hist hand_off;
    size_t size; /* of the mapping */
    struct bench_arena arena;
    struct bench_seat seats[]; /* point->threads of them */
};

/* A trial with room for its point's threads, everything else zero, in memory that a child shares. NULL, errno
 * set, when there is none. */
struct bench_trial *bench_trial_new(const struct bench_lock *lock, const struct bench_point *point);
void bench_trial_free(struct bench_trial *t);

/* Called while a trial runs, some times a second and when a signal came; false ends it. */
typedef bool bench_tick(void *ctx);

enum bench_end { BENCH_DONE, BENCH_KILLED, BENCH_FAILED, BENCH_STOPPED };

/* Runs a trial in a child process. BENCH_DONE: it ended by itself. BENCH_KILLED: it did not end in the time
 * that it should have taken and some seconds more; the figures hold if t->measured says so. BENCH_FAILED:
 * t->error tells why. BENCH_STOPPED: tick did. Nothing is left running. The calling process has one thread.
 */
enum bench_end bench_trial_run(struct bench_trial *t, bench_tick *tick, void *ctx);

/* The measurements, run in the child. They return when t holds the figures; threads may still be there. */
void bench_solo(struct bench_trial *t);
void bench_contend(struct bench_trial *t);
void bench_sleep(struct bench_trial *t);

/* Ends the child at once with a reason. */
_Noreturn void bench_give_up(struct bench_trial *t, const char *what, int error);

#endif
