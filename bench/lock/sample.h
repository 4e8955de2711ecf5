/* What a trial comes to in figures, and what the rounds of a lock come to. */
#ifndef PAWL_BENCH_LOCK_SAMPLE_H
#define PAWL_BENCH_LOCK_SAMPLE_H

#include "base/stats.h"
#include "bench/lock/trial.h"

enum bench_measure {
    BENCH_OPS,    /* operations a second */
    BENCH_CPU_OP, /* ns of CPU for an operation */
    BENCH_CORES,  /* busy on average */
    BENCH_P50,    /* waits for the lock, ns, reads and writes together */
    BENCH_P90,
    BENCH_P99,
    BENCH_P999,
    BENCH_LONGEST,
    BENCH_UNSERVED, /* threads without an operation */
    BENCH_JAIN,     /* Jain's index over the threads' operations */
    BENCH_READ_OPS, /* the same of reads alone, where there are writes too */
    BENCH_READ_P50,
    BENCH_READ_P99,
    BENCH_READ_P999,
    BENCH_READ_LONGEST,
    BENCH_WRITE_OPS, /* and of writes */
    BENCH_WRITE_P50,
    BENCH_WRITE_P99,
    BENCH_WRITE_P999,
    BENCH_WRITE_LONGEST,
    BENCH_SOLO_READ, /* ns for lock and unlock; in the order of enum bench_kind */
    BENCH_SOLO_SEEK,
    BENCH_SOLO_WRITE,
    BENCH_SOLO_ATOMIC,
    BENCH_RATIO_READ, /* by two atomic additions */
    BENCH_RATIO_SEEK,
    BENCH_RATIO_WRITE,
    BENCH_RATIO_ATOMIC,
    BENCH_TWO_ATOMICS,
    BENCH_WAITERS_CPU, /* ns of CPU of all waiters together in 50 ms */
    BENCH_HAND_OFF_P50,
    BENCH_HAND_OFF_P99,
    BENCH_MEASURES
};

enum bench_unit { BENCH_RATE, BENCH_NS, BENCH_COUNT, BENCH_RATIO };

struct bench_measure_info {
    const char *key; /* in the JSON report, which has the plain numbers */
    enum bench_unit unit;
};

extern const struct bench_measure_info bench_measures[BENCH_MEASURES];

#define BENCH_MAX_ROUNDS 100

struct bench_sample {
    double v[BENCH_MEASURES]; /* NaN: no value */
    bool killed;              /* the process had to be killed */
    bool measured;            /* v holds */
    bool checked;             /* what the lock guards was compared with what was written */
    bool unchecked;           /* it should have been, but threads did not end in time */
    bool broken;              /* and it was wrong, or a section saw another's half of a change */
};

/* Jain's fairness index (Jain, Chiu and Hawe, DEC-TR-301, 1984): 1 where all n are equal, 1/n where one has
 * all. NaN where n or the sum is 0. */
double bench_jain(const double *share, size_t n);

/* Reads a trial that has ended. Waits still open at the end are counted as waits of the length they had. */
void bench_sample_take(struct bench_sample *s, struct bench_trial *t, enum bench_end end);

/* The median over rounds and its 95 % bootstrap interval, of the rounds that have a value. False where none
 * has. */
bool bench_figure(const struct bench_sample *rounds, size_t n, enum bench_measure m,
                  struct base_interval *out);

#endif
