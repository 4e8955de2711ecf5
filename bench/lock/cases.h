/* The workloads by name, and which locks fit which. */
#ifndef PAWL_BENCH_LOCK_CASES_H
#define PAWL_BENCH_LOCK_CASES_H

#include "bench/lock/lock.h"

enum bench_type {
    BENCH_SOLO,    /* one thread: nanoseconds for lock and unlock in each state */
    BENCH_HELD,    /* one thread reads while another is parked inside as a reader */
    BENCH_CONTEND, /* threads that lock, work, unlock and think */
    BENCH_SLEEP    /* a holder sleeps, others wait */
};

#define BENCH_MAX_THREADS 1024
#define BENCH_MAX_COUNTS  16
#define BENCH_LABEL_SIZE  64
#define BENCH_SLEEPERS    4
#define BENCH_HOLD_MS     50

struct bench_case {
    const char *name, *title;
    enum bench_type type;
    double write_percent;      /* 0 to 100, of each thread's operations; of no meaning with sides */
    unsigned writers, readers; /* sides: that many threads only write, that many only read; 0, 0: no sides */
    unsigned section_ns, think_ns;      /* mean, exponential; 0: none */
    unsigned threads[BENCH_MAX_COUNTS]; /* 0 at the end */
    unsigned few[BENCH_MAX_COUNTS];     /* of these, what is run by default; 0 at the end */
    unsigned quick[BENCH_MAX_COUNTS];   /* and with --quick */
    bool named_only;                    /* not even with --full */
};

/* A case with its number of threads. */
struct bench_point {
    struct bench_case of;
    unsigned threads;
    char label[BENCH_LABEL_SIZE]; /* "w10-tiny/8", or the case's name where it has one number only */
};

/* All named cases. Constant. */
const struct bench_case *bench_cases(size_t *n);

/* The case with that name, or NULL. */
const struct bench_case *bench_case_find(const char *name);

/* Makes a point of a case. */
void bench_point_make(struct bench_point *p, const struct bench_case *c, unsigned threads);

/* Why a lock cannot be measured at a point; NULL where it can. */
const char *bench_misfit(const struct bench_lock *lock, const struct bench_point *p);

#endif
