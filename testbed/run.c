/* Runs a plan. A case:
 *
 *   start the endpoints
 *   for the warm-up and each round, for each side in the round's order:
 *     start the SUT -> it answers 200 -> read the clocks -> drive -> read the clocks -> stop the SUT
 *   stop the endpoints
 *
 * The SUT is started afresh each time, so that a round is an independent sample of everything that a start
 * settles by chance (addresses, places of threads); the endpoints stay. */
#include "testbed/run.h"

#include "base/clock.h"
#include "testbed/driver.h"
#include "testbed/endpoint.h"
#include "testbed/port.h"
#include "testbed/sut.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Everything that lives while a run does. */
struct run {
    const struct tb_plan *plan;
    struct tb_result *result;
    struct tb_super super;
    struct tb_workdir workdir;
    struct tb_endpoints endpoints;
    struct tb_sut sut;
    struct tb_service driver;
    /* the load under way, for the progress bar and the reading of the memory in its middle */
    size_t loads, loads_done;
    int64_t began_ns, load_began_ns; /* load_began_ns is 0 between loads */
    double memory_kib;
    char now[120];
};

size_t tb_run_order(unsigned round, size_t place, size_t n)
{
    return (round + place) % n;
}

static void show_progress(struct run *r)
{
    double load_ns = r->plan->time_ms * 1e6, all = (double)r->loads, done = (double)r->loads_done;
    int64_t now = base_now_ns();
    double each_ns =
        load_ns * 1.03; /* until the first load has told what one takes with its starts and stops */

    if (r->load_began_ns) {
        done += fmin(0.99, (double)(now - r->load_began_ns) / each_ns);
    }
    if (r->loads_done) {
        each_ns = (double)(now - r->began_ns) / done;
    }
    base_progress_show(r->plan->progress, done / all, (all - done) * each_ns / 1e9, r->now);
}

static void on_tick(void *ctx)
{
    struct run *r = ctx;

    show_progress(r);
    if (r->load_began_ns && isnan(r->memory_kib) && r->sut.service.proc.pid &&
        base_now_ns() - r->load_began_ns >
            r->plan->time_ms * INT64_C(600000)) { /* three fifths of the load */
        int64_t kib = base_tree_memory_kib(r->sut.service.proc.pid);

        r->memory_kib = kib > 0 ? (double)kib : -1;
    }
}

static void set_phase(struct run *r, const struct tb_case *c, unsigned round, const char *side)
{
    char text[64], shorter[32];

    if (round) {
        snprintf(text, sizeof text, "round %u of %u", round, r->plan->rounds);
        snprintf(shorter, sizeof shorter, "round %u/%u", round, r->plan->rounds);
    } else {
        snprintf(text, sizeof text, "the warm-up round");
        snprintf(shorter, sizeof shorter, "warm-up");
    }
    snprintf(r->super.phase, sizeof r->super.phase, "in %s of %s (%s)", text, c->label, side);
    snprintf(r->now, sizeof r->now, "%s: %s, %s", c->label, shorter, side);
}

/* The load of a round against the running SUT, between two readings. */
static int measure(struct run *r, const struct tb_case *c, struct tb_case_result *result, size_t side,
                   struct tb_sample *sample, struct tb_error *err)
{
    struct tb_endpoints *e = &r->endpoints;
    pid_t sut = r->sut.service.proc.pid;
    double cpu_s, cores = base_cores(sut);
    struct tb_reading from, to;
    const char *who;
    int rc;

    r->memory_kib = NAN;
    result->sides[side].cores = fmin(cores > 0 ? cores : c->threads, c->threads);
    if ((rc = tb_reading_take(&from, sut, e->pids, e->n, &who)) < 0) {
        return tb_fail(err, "cannot read %s %s: %s", who, r->super.phase, strerror(-rc));
    }
    r->load_began_ns = base_now_ns();
    rc = tb_drive(&r->super, &r->driver, r->plan->pawl, c->scenario, side, r->sut.port, r->plan->time_ms,
                  sample, &cpu_s, err);
    r->load_began_ns = 0;
    if (rc < 0) {
        return rc;
    }
    if ((rc = tb_reading_take(&to, sut, e->pids, e->n, &who)) < 0) {
        return tb_fail(err, "cannot read %s %s: %s", who, r->super.phase, strerror(-rc));
    }
    tb_sample_usage(sample, &from, &to, result->sides[side].cores, result->endpoint_cores, cpu_s,
                    result->driver_cores);
    sample->v[TB_SUT_MEMORY] = r->memory_kib > 0 ? r->memory_kib : NAN;
    return 0;
}

static int run_side(struct run *r, const struct tb_case *c, struct tb_case_result *result, unsigned round,
                    size_t place, struct tb_error *err)
{
    size_t side = tb_run_order(round, place, c->scenario->n_sides);
    const char *name = c->scenario->sides[side].name;
    struct tb_side_result *s = &result->sides[side];
    struct tb_config config = {
        .threads = c->threads,
        .connections = c->scenario->sides[side].connections,
        .port = r->plan->port,
        .endpoint_ports = r->endpoints.ports,
        .endpoints = r->endpoints.n,
        .server_maxconn = c->scenario->sides[side].server_maxconn,
    };
    int rc;

    set_phase(r, c, round, name);
    if (tb_sut_start(&r->sut, name, c->programs[side], r->workdir.path, &config, &r->super, err) < 0 ||
        measure(r, c, result, side, &s->samples[round], err) < 0) {
        return -1;
    }
    s->samples[round].place = place;
    snprintf(s->command, sizeof s->command, "%s", r->sut.service.command);
    snprintf(s->driver_command, sizeof s->driver_command, "%s", r->driver.command);
    rc = tb_sut_stop(&r->sut, &r->super, err);
    s->killed += rc > 0;
    r->loads_done++;
    return rc < 0 ? -1 : 0;
}

/* The open files that the driver and the SUT need, two for each connection of the SUT. */
static int check_open_files(const struct tb_case *c, struct tb_error *err)
{
    struct rlimit limit;
    rlim_t connections = 0, needed;

    for (size_t i = 0; i < c->scenario->n_sides; i++) {
        rlim_t n = c->scenario->sides[i].connections;

        connections = n > connections ? n : connections;
    }
    needed = 2 * connections + 4 * (rlim_t)c->threads + 64;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < needed) {
        return tb_fail(err, "%s needs %lu open files where %lu are allowed; raise the limit (ulimit -n)",
                       c->label, (unsigned long)needed, (unsigned long)limit.rlim_cur);
    }
    return 0;
}

static int prepare_case(struct run *r, const struct tb_case *c, struct tb_case_result *result,
                        struct tb_error *err)
{
    double cores =
        r->result->machine.allowed > 0 ? r->result->machine.allowed : (double)r->result->machine.cores;

    snprintf(r->super.phase, sizeof r->super.phase, "before the first round of %s", c->label);
    snprintf(r->now, sizeof r->now, "%s: starting the endpoints", c->label);
    result->of = c;
    result->driver_cores = fmin(c->scenario->driver_threads, cores);
    result->endpoint_cores = fmin(c->scenario->endpoints, cores);
    for (size_t i = 0; i < c->scenario->n_sides; i++) {
        struct tb_side_result *s = &result->sides[i];

        s->samples = calloc(r->plan->rounds + 1, sizeof *s->samples);
        if (!s->samples) {
            return tb_fail(err, "out of memory");
        }
        for (unsigned round = 0; round <= r->plan->rounds; round++) {
            tb_sample_clear(&s->samples[round]);
        }
        if (tb_sut_version(c->programs[i], s->version, sizeof s->version, &r->super, err) < 0) {
            return -1;
        }
    }
    return check_open_files(c, err);
}

static int run_case(struct run *r, const struct tb_case *c, struct tb_case_result *result,
                    struct tb_error *err)
{
    if (prepare_case(r, c, result, err) < 0 ||
        tb_endpoints_start(&r->endpoints, r->plan->pawl, c->scenario, &r->super, err) < 0) {
        return -1;
    }
    for (unsigned round = 0; round <= r->plan->rounds; round++) {
        for (size_t place = 0; place < c->scenario->n_sides; place++) {
            if (run_side(r, c, result, round, place, err) < 0) {
                return -1;
            }
        }
    }
    snprintf(result->endpoint_command, sizeof result->endpoint_command, "%s",
             r->endpoints.services[0].command);
    tb_endpoints_stop(&r->endpoints, &r->super);
    return 0;
}

static int check_port(const struct tb_plan *plan, struct tb_error *err)
{
    int rc = plan->port ? tb_port_free(plan->port) : 0;

    return rc == 0 ? 0
                   : tb_fail(err, "port %u on 127.0.0.1: %s; stop what listens there, or leave --port out",
                             plan->port, strerror(-rc));
}

int tb_run(const struct tb_plan *plan, struct tb_result *result, struct tb_error *err)
{
    struct run *r = calloc(1, sizeof *r);
    int rc = -1;

    *result = (struct tb_result){.plan = plan, .cases = calloc(plan->n_cases, sizeof *result->cases)};
    if (!r || !result->cases) {
        tb_fail(err, "out of memory");
        goto end;
    }
    r->plan = plan;
    r->result = result;
    base_machine_read(&result->machine);
    for (size_t i = 0; i < plan->n_cases; i++) {
        r->loads += plan->cases[i].scenario->n_sides * (plan->rounds + 1);
    }
    if (check_port(plan, err) < 0 || tb_super_open(&r->super, err) < 0) {
        goto end;
    }
    r->super.tick = on_tick;
    r->super.ctx = r;
    r->began_ns = base_now_ns();
    r->workdir.keep = plan->keep;
    rc = tb_workdir_make(&r->workdir, err);
    for (size_t i = 0; i < plan->n_cases && rc == 0; i++) {
        rc = run_case(r, &plan->cases[i], &result->cases[i], err);
        result->n_done += rc == 0;
    }
    tb_super_end(&r->super);
    snprintf(result->workdir, sizeof result->workdir, "%s", plan->keep ? r->workdir.path : "");
    tb_workdir_remove(&r->workdir);
    base_progress_clear(plan->progress);
    tb_super_close(&r->super);
end:
    free(r);
    return rc;
}

void tb_result_free(struct tb_result *result)
{
    for (size_t i = 0; result->cases && i < result->plan->n_cases; i++) {
        for (size_t s = 0; s < TB_MAX_SIDES; s++) {
            struct tb_sample *samples = result->cases[i].sides[s].samples;

            for (unsigned round = 0; samples && round <= result->plan->rounds; round++) {
                json_decref(samples[round].driver);
            }
            free(samples);
        }
    }
    free(result->cases);
    result->cases = NULL;
}
