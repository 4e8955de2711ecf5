/* Runs the driver and reads its report. */
#include "testbed/driver.h"

#include "base/clock.h"
#include "testbed/units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define GRACE_NS                                                                              \
    INT64_C(15000000000) /* beyond its duration: connecting, time-outs at the end, the report \
                          */
#define STOP_MS 1000

static const struct field {
    const char *group, *name;
    enum tb_measure measure;
} fields[] = {
    {"latency_us", "p50", TB_P50},         {"latency_us", "p90", TB_P90},
    {"latency_us", "p99", TB_P99},         {"latency_us", "p99.9", TB_P999},
    {"latency_us", "max", TB_MAX},         {"latency_us", "avg", TB_AVG},
    {"latency_us", "stdev", TB_STDEV},     {"errors", "connect", TB_ERR_CONNECT},
    {"errors", "read", TB_ERR_READ},       {"errors", "write", TB_ERR_WRITE},
    {"errors", "timeout", TB_ERR_TIMEOUT}, {"errors", "status", TB_ERR_STATUS},
    {NULL, "requests_per_s", TB_RATE},
};

/* A number that is not negative, or null (NaN) for a latency. */
static int take_number(const json_t *root, const char *group, const char *name, const char *who, double *out,
                       struct tb_error *err)
{
    const json_t *parent = group ? json_object_get(root, group) : root;
    const json_t *value = json_object_get(parent, name);

    if (json_is_number(value) && json_number_value(value) >= 0) {
        *out = json_number_value(value);
        return 0;
    }
    if (json_is_null(value) && group && !strcmp(group, "latency_us")) {
        *out = NAN;
        return 0;
    }
    return tb_fail(err, "%s: its report has no number '%s%s%s'; is it this version's `pawl load`?", who,
                   group ? group : "", group ? "." : "", name);
}

int tb_driver_report(const char *text, size_t len, const char *who, struct tb_sample *sample,
                     struct tb_error *err)
{
    json_error_t where;
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where);

    if (!json_is_object(root)) {
        char start[60];

        snprintf(start, sizeof start, "%.*s", (int)(len < 50 ? len : 50), len ? text : "");
        start[strcspn(start, "\r\n")] = 0;
        tb_fail(err, "%s: its report is no JSON object (line %d: %s); it starts with \"%s\"", who,
                root ? 1 : where.line, root ? "not an object" : where.text, start);
        json_decref(root);
        return -1;
    }
    json_decref(sample->driver);
    sample->driver = root;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (take_number(root, fields[i].group, fields[i].name, who, &sample->v[fields[i].measure], err) < 0) {
            return -1;
        }
    }
    return take_number(root, NULL, "requests", who, &sample->requests, err);
}

static int start(struct tb_super *super, struct tb_service *service, const char *pawl,
                 const struct tb_scenario *scenario, size_t side, unsigned port, unsigned time_ms,
                 struct tb_error *err)
{
    char program[TB_PATH_SIZE], threads[16], connections[16], duration[32], rate[16], timeout[32], url[64];
    char command[] = "load", json[] = "--json", t[] = "-t", c[] = "-c", d[] = "-d", r[] = "-R",
         to[] = "--timeout";
    char *argv[TB_MAX_ARGS] = {program, command, json, t, threads, c, connections, d, duration};
    size_t n = 9;

    snprintf(program, sizeof program, "%s", pawl);
    snprintf(threads, sizeof threads, "%u", scenario->driver_threads);
    snprintf(connections, sizeof connections, "%u", scenario->sides[side].connections);
    tb_format_duration(duration, sizeof duration, (int64_t)time_ms * 1000);
    if (scenario->driver_rate) {
        snprintf(rate, sizeof rate, "%u", scenario->driver_rate);
        argv[n++] = r;
        argv[n++] = rate;
    }
    if (scenario->driver_timeout_us) {
        argv[n++] = to;
        argv[n++] = tb_format_duration(timeout, sizeof timeout, scenario->driver_timeout_us);
    }
    snprintf(url, sizeof url, "http://127.0.0.1:%u/", port);
    argv[n++] = url;
    return tb_super_start(super, service, "the driver", argv, true, err);
}

/* What a driver that ended left: its report, or the reason why there is none. */
static int finish(struct tb_super *super, struct tb_service *service, struct tb_sample *sample,
                  struct tb_error *err)
{
    const struct base_proc *p = &service->proc;
    char words[700];

    /* Status 1 with a report says that requests failed; that is a result. */
    if (!WIFEXITED(p->status) || WEXITSTATUS(p->status) > 1 || !p->out_len) {
        return tb_super_ended(super, service, err);
    }
    if (p->out_overflow) {
        return tb_fail(err, "the driver: its report is longer than %u MiB", BASE_PROC_CAPTURE >> 20);
    }
    if (tb_driver_report(p->out, p->out_len, "the driver", sample, err) < 0) {
        return -1;
    }
    if (sample->requests < 1) {
        base_proc_last_words(p, 3, words, sizeof words);
        return tb_fail(
            err,
            "the driver completed no request %s (errors: connect %.0f, read %.0f, write %.0f, time-out %.0f, "
            "status %.0f)%s%s%s; its command was: %.900s",
            super->phase, sample->v[TB_ERR_CONNECT], sample->v[TB_ERR_READ], sample->v[TB_ERR_WRITE],
            sample->v[TB_ERR_TIMEOUT], sample->v[TB_ERR_STATUS], *words ? "; it said: \"" : "", words,
            *words ? "\"" : "", service->command);
    }
    return 0;
}

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int tb_drive(struct tb_super *super, struct tb_service *service, const char *pawl,
             const struct tb_scenario *scenario, size_t side, unsigned port, unsigned time_ms,
             struct tb_sample *sample, double *cpu_s, struct tb_error *err)
{
    int64_t deadline = base_now_ns() + (int64_t)time_ms * 1000000 + GRACE_NS;
    int rc = start(super, service, pawl, scenario, side, port, time_ms, err);

    if (rc < 0) {
        return rc;
    }
    while (rc == 0 && service->proc.pid) {
        if (base_now_ns() >= deadline) {
            rc = tb_fail(err, "the driver did not end %.0f s after its %.1f s %s; its command was: %.900s",
                         GRACE_NS / 1e9, time_ms / 1e3, super->phase, service->command);
        } else {
            rc = tb_super_wait(super, NULL, 0, deadline, err);
        }
    }
    tb_super_stop(super, service, STOP_MS);
    if (rc == 0) {
        rc = finish(super, service, sample, err);
    }
    *cpu_s = seconds(service->proc.usage.ru_utime) + seconds(service->proc.usage.ru_stime);
    base_proc_free(&service->proc);
    return rc;
}
