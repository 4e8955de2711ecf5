/* Runs a plan: every point, in rounds that go through all locks, each time beginning with the next one. */
#ifndef PAWL_BENCH_LOCK_RUN_H
#define PAWL_BENCH_LOCK_RUN_H

#include "base/progress.h"
#include "bench/lock/locks.h"
#include "bench/lock/sample.h"

#include <limits.h>
#include <signal.h>

#define BENCH_MAX_POINTS 64
#define BENCH_AUTO       UINT_MAX /* a time: as long as the point needs (bench_times) */

struct bench_plan {
    const struct bench_lock *locks[BENCH_MAX_LOCKS];
    size_t n_locks;
    struct bench_point points[BENCH_MAX_POINTS];
    size_t n_points;
    unsigned rounds;
    unsigned warm_up_ms, time_ms;      /* or BENCH_AUTO */
    double cores;                      /* that may be used */
    struct base_progress *progress;    /* or NULL */
    const volatile sig_atomic_t *stop; /* a signal that came: the run ends; or NULL */
};

/* A lock's rounds at a point. */
struct bench_row {
    const struct bench_lock *lock;
    const char *misfit; /* why it was not measured; NULL where it was */
    struct bench_sample rounds[BENCH_MAX_ROUNDS];
};

struct bench_point_result {
    const struct bench_point *point;
    unsigned warm_up_ms, time_ms;
    size_t n_rows;
    struct bench_row *rows;
};

struct bench_result {
    const struct bench_plan *plan;
    struct bench_clock clock;
    size_t n_done; /* points */
    struct bench_point_result points[BENCH_MAX_POINTS];
    bool broken; /* a lock let two in */
    char error[300];
};

/* How long a point is warmed up and measured. */
void bench_times(const struct bench_plan *plan, const struct bench_point *p, unsigned *warm_up_ms,
                 unsigned *time_ms);

/* Can any of the plan's locks be measured at this point? */
bool bench_any_fits(const struct bench_plan *plan, const struct bench_point *p);

/* How long a plan takes, about. */
double bench_plan_seconds(const struct bench_plan *plan);

/* Called when a point is done. */
typedef void bench_point_done(void *ctx, const struct bench_result *r, const struct bench_point_result *p);

/* Runs a plan. Returns 0, or -1 with r->error set; the points done before hold even then. */
int bench_run(const struct bench_plan *plan, struct bench_result *r, bench_point_done *done, void *ctx);
void bench_result_free(struct bench_result *r);

#endif
