/* Rounds, interleaved. */
#include "bench/lock/run.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Starting and ending a trial, beside the times. */
#define OVERHEAD_S 0.05

struct run {
    const struct bench_plan *plan;
    struct bench_result *result;
    double done_s, all_s; /* of the times planned */
    double now_s;         /* of the trial under way */
    int64_t began_ns, trial_ns;
    char what[120];
};

void bench_times(const struct bench_plan *plan, const struct bench_point *p, unsigned *warm_up_ms,
                 unsigned *time_ms)
{
    bool crowded = p->of.type == BENCH_CONTEND && p->threads > plan->cores;

    *warm_up_ms = plan->warm_up_ms != BENCH_AUTO ? plan->warm_up_ms : crowded ? 2000 : 300;
    *time_ms = plan->time_ms != BENCH_AUTO   ? plan->time_ms
               : crowded                     ? 6000
               : p->of.type == BENCH_CONTEND ? 2000
                                             : 1000;
    if (p->of.type != BENCH_CONTEND) {
        *warm_up_ms = 0;
    }
}

static double trial_seconds(const struct bench_plan *plan, const struct bench_point *p)
{
    unsigned warm_up_ms, time_ms;

    bench_times(plan, p, &warm_up_ms, &time_ms);
    return (warm_up_ms + time_ms) / 1e3 + OVERHEAD_S;
}

bool bench_any_fits(const struct bench_plan *plan, const struct bench_point *p)
{
    for (size_t i = 0; i < plan->n_locks; i++) {
        if (!bench_misfit(plan->locks[i], p)) {
            return true;
        }
    }
    return false;
}

double bench_plan_seconds(const struct bench_plan *plan)
{
    double sum = 0;

    for (size_t i = 0; i < plan->n_points; i++) {
        for (size_t l = 0; l < plan->n_locks; l++) {
            if (!bench_misfit(plan->locks[l], &plan->points[i])) {
                sum += trial_seconds(plan, &plan->points[i]) * plan->rounds;
            }
        }
    }
    return sum;
}

/* Draws the progress; whether to go on. */
static bool show(void *ctx)
{
    struct run *r = ctx;
    double in_trial = (double)(base_now_ns() - r->trial_ns) / 1e9;
    double done = r->done_s + (in_trial < r->now_s ? in_trial : r->now_s);

    if (r->plan->progress) {
        base_progress_show(r->plan->progress, done / r->all_s, r->all_s - done, r->what);
    }
    return !r->plan->stop || !*r->plan->stop;
}

static int run_trial(struct run *r, struct bench_point_result *p, struct bench_row *row, unsigned round)
{
    struct bench_trial *t = bench_trial_new(row->lock, p->point);
    enum bench_end end;

    snprintf(r->what, sizeof r->what, "%s: round %u of %u, %s", p->point->label, round + 1, r->plan->rounds,
             row->lock->name);
    if (!t) {
        snprintf(r->result->error, sizeof r->result->error, "%s: no memory for the figures of %u threads: %s",
                 p->point->label, p->point->threads, strerror(errno));
        return -1;
    }
    t->clock = r->result->clock;
    t->warm_up_ms = p->warm_up_ms;
    t->time_ms = p->time_ms;
    r->trial_ns = base_now_ns();
    r->now_s = trial_seconds(r->plan, p->point);
    show(r);
    end = bench_trial_run(t, show, r);
    r->done_s += r->now_s;
    if (!show(r)) { /* the child may have seen the signal first */
        end = BENCH_STOPPED;
    }
    bench_sample_take(&row->rounds[round], t, end);
    r->result->broken = r->result->broken || row->rounds[round].broken;
    if (end == BENCH_FAILED) {
        snprintf(r->result->error, sizeof r->result->error, "%s with %s: %s", p->point->label,
                 row->lock->name, t->error);
    } else if (end == BENCH_STOPPED) {
        snprintf(r->result->error, sizeof r->result->error, "stopped by a signal in round %u of %s",
                 round + 1, p->point->label);
    }
    bench_trial_free(t);
    return end == BENCH_FAILED || end == BENCH_STOPPED ? -1 : 0;
}

static int run_point(struct run *r, struct bench_point_result *p)
{
    for (unsigned round = 0; round < r->plan->rounds; round++) {
        for (size_t i = 0; i < p->n_rows; i++) {
            struct bench_row *row = &p->rows[(i + round) % p->n_rows];

            if (!row->misfit && run_trial(r, p, row, round) < 0) {
                return -1;
            }
        }
    }
    return 0;
}

static int prepare_point(struct run *r, struct bench_point_result *p, const struct bench_point *point)
{
    const struct bench_plan *plan = r->plan;

    *p = (struct bench_point_result){.point = point, .n_rows = plan->n_locks};
    bench_times(plan, point, &p->warm_up_ms, &p->time_ms);
    p->rows = calloc(p->n_rows, sizeof *p->rows);
    if (!p->rows) {
        snprintf(r->result->error, sizeof r->result->error, "out of memory");
        return -1;
    }
    for (size_t i = 0; i < p->n_rows; i++) {
        p->rows[i].lock = plan->locks[i];
        p->rows[i].misfit = bench_misfit(plan->locks[i], point);
    }
    return 0;
}

int bench_run(const struct bench_plan *plan, struct bench_result *result, bench_point_done *done, void *ctx)
{
    struct run r = {.plan = plan, .result = result, .all_s = bench_plan_seconds(plan)};

    memset(result, 0, sizeof *result);
    result->plan = plan;
    bench_calibrate(&result->clock);
    r.began_ns = base_now_ns();
    for (size_t i = 0; i < plan->n_points; i++) {
        struct bench_point_result *p = &result->points[i];

        if (prepare_point(&r, p, &plan->points[i]) < 0 || run_point(&r, p) < 0) {
            return -1;
        }
        result->n_done++;
        if (plan->progress) {
            base_progress_clear(plan->progress);
        }
        if (done) {
            done(ctx, result, p);
        }
    }
    return 0;
}

void bench_result_free(struct bench_result *r)
{
    for (size_t i = 0; i < BENCH_MAX_POINTS; i++) {
        free(r->points[i].rows);
        r->points[i].rows = NULL;
    }
}
