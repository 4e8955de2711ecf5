/* Builds and writes report.json. */
#include "testbed/report_json.h"

#include "base/json_text.h"
#include "testbed/compare.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORMAT 1

/* null for what has no value: JSON knows no NaN. */
static json_t *number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

static json_t *text_or_null(const char *text)
{
    return *text ? base_json_text(text) : json_null();
}

static json_t *figures(const struct tb_case_result *c, size_t side, unsigned rounds)
{
    json_t *o = json_object();

    for (int m = 0; m < TB_MEASURES; m++) {
        json_object_set_new(o, tb_measures[m].key,
                            number(tb_side_value(c, side, (enum tb_measure)m, rounds)));
    }
    return o;
}

static json_t *sample(const struct tb_sample *s)
{
    json_t *o = json_object(), *measures = json_object();

    for (int m = 0; m < TB_MEASURES; m++) {
        json_object_set_new(measures, tb_measures[m].key, number(s->v[m]));
    }
    json_object_set_new(o, "place", json_integer((json_int_t)s->place));
    json_object_set_new(o, "seconds", number(s->seconds));
    json_object_set_new(o, "measures", measures);
    json_object_set(o, "driver", s->driver);
    return o;
}

static json_t *side(const struct tb_case_result *c, size_t i, unsigned rounds)
{
    const struct tb_side_result *r = &c->sides[i];
    const struct tb_side *s = &c->of->scenario->sides[i];
    json_t *o = json_object(), *all = json_array();

    for (unsigned n = 1; n <= rounds; n++) {
        json_array_append_new(all, sample(&r->samples[n]));
    }
    json_object_set_new(o, "name", base_json_text(s->name));
    json_object_set_new(o, "program", base_json_text(c->of->programs[i]));
    json_object_set_new(o, "version", text_or_null(r->version));
    json_object_set_new(o, "command", base_json_text(r->command));
    json_object_set_new(o, "driver_command", base_json_text(r->driver_command));
    json_object_set_new(o, "connections", json_integer(s->connections));
    json_object_set_new(o, "server_maxconn",
                        s->server_maxconn ? json_integer(s->server_maxconn) : json_null());
    json_object_set_new(o, "cores", number(r->cores));
    json_object_set_new(o, "killed", json_integer(r->killed));
    json_object_set_new(o, "figures", figures(c, i, rounds));
    json_object_set_new(o, "warm_up", sample(&r->samples[0]));
    json_object_set_new(o, "rounds", all);
    return o;
}

static json_t *comparison(const struct tb_case_result *c, const struct tb_pair *pair, unsigned rounds)
{
    const struct tb_scenario *s = c->of->scenario;
    json_t *o = json_object(), *ratios = json_object();
    char verdict[TB_VERDICT_SIZE];

    for (int m = 0; m < TB_MEASURES; m++) {
        struct base_interval i;

        if (tb_measures[m].in_table && tb_pair_ratio(c, pair, (enum tb_measure)m, rounds, &i)) {
            json_object_set_new(ratios, tb_measures[m].key,
                                json_pack("{s:o, s:o, s:o}", "ratio", number(i.mid), "low", number(i.low),
                                          "high", number(i.high)));
        }
    }
    json_object_set_new(o, "of", base_json_text(s->sides[pair->of].name));
    json_object_set_new(o, "against", base_json_text(s->sides[pair->against].name));
    json_object_set_new(o, "verdict", base_json_text(tb_verdict(c, pair, rounds, verdict)));
    json_object_set_new(o, "ratios", ratios);
    return o;
}

static json_t *load(const struct tb_case_result *c)
{
    const struct tb_scenario *s = c->of->scenario;
    json_t *o = json_object();

    json_object_set_new(o, "driver_threads", json_integer(s->driver_threads));
    json_object_set_new(o, "driver_rate", s->driver_rate ? json_integer(s->driver_rate) : json_null());
    json_object_set_new(o, "driver_cores", number(c->driver_cores));
    json_object_set_new(o, "endpoints", json_integer(s->endpoints));
    json_object_set_new(o, "endpoint_delay_us", json_integer(s->endpoint_delay_us));
    json_object_set_new(o, "endpoint_cores", number(c->endpoint_cores));
    json_object_set_new(o, "endpoint_command", base_json_text(c->endpoint_command));
    return o;
}

static json_t *one_case(const struct tb_case_result *c, unsigned rounds)
{
    const struct tb_scenario *s = c->of->scenario;
    json_t *o = json_object(), *sides = json_array(), *comparisons = json_array(), *remarks = json_array();
    char text[TB_MAX_REMARKS][TB_REMARK_SIZE];
    size_t n = tb_remarks(c, rounds, text);

    for (size_t i = 0; i < s->n_sides; i++) {
        json_array_append_new(sides, side(c, i, rounds));
    }
    for (size_t i = 0; i < s->n_pairs; i++) {
        json_array_append_new(comparisons, comparison(c, &s->pairs[i], rounds));
    }
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(remarks, base_json_text(text[i]));
    }
    json_object_set_new(o, "name", base_json_text(c->of->label));
    json_object_set_new(o, "scenario", base_json_text(s->name));
    json_object_set_new(o, "title", base_json_text(s->title));
    json_object_set_new(o, "sut_threads", json_integer(c->of->threads));
    json_object_set_new(o, "load", load(c));
    json_object_set_new(o, "sides", sides);
    json_object_set_new(o, "comparisons", comparisons);
    json_object_set_new(o, "remarks", remarks);
    return o;
}

static json_t *machine(const struct base_machine *m)
{
    json_t *o = json_object();

    json_object_set_new(o, "kernel", text_or_null(m->kernel));
    json_object_set_new(o, "cpu", text_or_null(m->cpu));
    json_object_set_new(o, "cores", json_integer(m->cores));
    json_object_set_new(o, "cores_allowed", number(m->allowed));
    json_object_set_new(o, "memory_kib", json_integer(m->memory_kib));
    return o;
}

static json_t *method(const struct tb_plan *plan)
{
    json_t *o = json_object();

    json_object_set_new(o, "rounds", json_integer(plan->rounds));
    json_object_set_new(o, "warm_up_rounds", json_integer(1));
    json_object_set_new(o, "seconds", json_real(plan->time_ms / 1e3));
    json_object_set_new(o, "level", json_real(TB_LEVEL));
    json_object_set_new(o, "resamples", json_integer(TB_RESAMPLES));
    json_object_set_new(o, "seed", json_integer(TB_SEED));
    json_object_set_new(o, "margin", json_real(TB_MARGIN));
    return o;
}

json_t *tb_report_json(const struct tb_result *result)
{
    json_t *o = json_object(), *cases = json_array();

    for (size_t i = 0; i < result->plan->n_cases; i++) {
        json_array_append_new(cases, one_case(&result->cases[i], result->plan->rounds));
    }
    json_object_set_new(o, "format", json_integer(FORMAT));
    json_object_set_new(o, "pawl", json_string(PAWL_VERSION));
    json_object_set_new(o, "date", json_string(result->machine.date));
    json_object_set_new(o, "machine", machine(&result->machine));
    json_object_set_new(o, "method", method(result->plan));
    if (json_object_set_new(o, "cases", cases) < 0) {
        json_decref(o);
        return NULL;
    }
    return o;
}

/* The file that `where` means: itself, or report.json in the directory it is. */
static int settle_path(struct tb_report_file *r, const char *where, struct tb_error *err)
{
    size_t len = strlen(where);
    struct stat st;
    bool directory;

    if (len && where[len - 1] == '/' && mkdir(where, 0777) < 0 && errno != EEXIST) {
        return tb_fail(err, "report directory %s: %s; name another with --out", where, strerror(errno));
    }
    directory = stat(where, &st) == 0 && S_ISDIR(st.st_mode);
    if (snprintf(r->path, sizeof r->path, directory ? "%s/report.json" : "%s", where) >=
        (int)sizeof r->path) {
        return tb_fail(err, "report %s: the path is too long", where);
    }
    if (stat(r->path, &st) == 0 && !S_ISREG(st.st_mode)) {
        r->partial[0] = 0; /* /dev/stdout and the like: nothing to replace */
    } else {
        snprintf(r->partial, sizeof r->partial, "%s.part", r->path);
    }
    return 0;
}

int tb_report_open(struct tb_report_file *r, const char *where, struct tb_error *err)
{
    const char *path;

    *r = (struct tb_report_file){.fd = -1};
    if (settle_path(r, where, err) < 0) {
        return -1;
    }
    path = *r->partial ? r->partial : r->path;
    r->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (r->fd < 0) {
        int e = errno;

        r->partial[0] = 0;
        return tb_fail(err, "report %s: %s; name a place that can be written", r->path, strerror(e));
    }
    return 0;
}

/* json_dump_callback's: 0, or -1 with errno set. */
static int write_all(const char *data, size_t len, void *ctx)
{
    const int *fd = ctx;

    while (len) {
        ssize_t n = write(*fd, data, len);

        if (n < 0 && errno != EINTR) {
            return -1;
        }
        if (n > 0) {
            data += n;
            len -= (size_t)n;
        }
    }
    return 0;
}

int tb_report_write(struct tb_report_file *r, const json_t *report, struct tb_error *err)
{
    bool replace = *r->partial;
    int rc;

    errno = 0;
    rc = json_dump_callback(report, write_all, &r->fd, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    if (rc == 0) {
        rc = write_all("\n", 1, &r->fd);
    }
    if (rc == 0 && replace) {
        rc = fsync(r->fd) < 0 || rename(r->partial, r->path) < 0 ? -1 : 0;
    }
    if (rc < 0) {
        tb_fail(err, "report %s: %s; the figures stand above, the file was not written", r->path,
                strerror(errno ? errno : ENOMEM));
    } else {
        r->partial[0] = 0;
    }
    tb_report_close(r);
    return rc < 0 ? -1 : 0;
}

void tb_report_close(struct tb_report_file *r)
{
    if (r->fd >= 0) {
        close(r->fd);
        r->fd = -1;
    }
    if (*r->partial) {
        unlink(r->partial);
        r->partial[0] = 0;
    }
}
