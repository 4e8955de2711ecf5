/* Builds the JSON report. */
#include "bench/lock/report_json.h"

#include "base/json_text.h"
#include "base/machine.h"

#include <math.h>

#define FORMAT 1

/* null for what has no value: JSON knows no NaN. */
static json_t *number(double v)
{
    return isfinite(v) ? json_real(v) : json_null();
}

/* A measure of a lock: median, interval, and the rounds they come from. NULL where no round has a value. */
static json_t *figure(const struct bench_row *row, size_t rounds, enum bench_measure m)
{
    struct base_interval v;
    json_t *o, *all;

    if (!bench_figure(row->rounds, rounds, m, &v)) {
        return NULL;
    }
    o = json_object();
    all = json_array();
    for (size_t i = 0; i < rounds; i++) {
        json_array_append_new(all, number(row->rounds[i].v[m]));
    }
    json_object_set_new(o, "median", number(v.mid));
    json_object_set_new(o, "low", number(v.low));
    json_object_set_new(o, "high", number(v.high));
    json_object_set_new(o, "rounds", all);
    return o;
}

static json_t *one_row(const struct bench_row *row, size_t rounds)
{
    json_t *o = json_object(), *figures = json_object();
    json_int_t killed = 0, broken = 0, checked = 0;

    json_object_set_new(o, "lock", json_string(row->lock->name));
    if (row->misfit) {
        json_object_set_new(o, "left_out", json_string(row->misfit));
        json_decref(figures);
        return o;
    }
    for (int m = 0; m < BENCH_MEASURES; m++) {
        json_t *f = figure(row, rounds, (enum bench_measure)m);

        if (f) {
            json_object_set_new(figures, bench_measures[m].key, f);
        }
    }
    for (size_t i = 0; i < rounds; i++) {
        killed += row->rounds[i].killed;
        broken += row->rounds[i].broken;
        checked += row->rounds[i].checked;
    }
    json_object_set_new(o, "killed", json_integer(killed));
    json_object_set_new(o, "broken", json_integer(broken));
    json_object_set_new(o, "checked", json_integer(checked));
    json_object_set_new(o, "figures", figures);
    return o;
}

static json_t *one_point(const struct bench_point_result *p, size_t rounds)
{
    const struct bench_case *c = &p->point->of;
    json_t *o = json_object(), *rows = json_array();

    for (size_t i = 0; i < p->n_rows; i++) {
        json_array_append_new(rows, one_row(&p->rows[i], rounds));
    }
    json_object_set_new(o, "name", json_string(p->point->label));
    json_object_set_new(o, "case", json_string(c->name));
    json_object_set_new(o, "title", json_string(c->title));
    json_object_set_new(o, "threads", json_integer(p->point->threads));
    json_object_set_new(o, "write_percent",
                        c->writers || c->readers ? json_null() : number(c->write_percent));
    json_object_set_new(o, "writers", json_integer(c->writers));
    json_object_set_new(o, "readers", json_integer(c->readers));
    json_object_set_new(o, "section_ns", json_integer(c->section_ns));
    json_object_set_new(o, "think_ns", json_integer(c->think_ns));
    json_object_set_new(o, "warm_up_s", number(p->warm_up_ms / 1e3));
    json_object_set_new(o, "seconds", number(p->time_ms / 1e3));
    json_object_set_new(o, "rows", rows);
    return o;
}

static json_t *locks(const struct bench_plan *plan)
{
    json_t *all = json_array();

    for (size_t i = 0; i < plan->n_locks; i++) {
        const struct bench_lock *l = plan->locks[i];
        json_t *o = json_object();

        json_object_set_new(o, "name", json_string(l->name));
        json_object_set_new(o, "what", json_string(l->what));
        json_object_set_new(o, "note", l->note ? json_string(l->note) : json_null());
        json_object_set_new(o, "bytes", json_integer((json_int_t)l->size));
        json_array_append_new(all, o);
    }
    return all;
}

static json_t *machine(const struct base_machine *m)
{
    json_t *o = json_object();

    json_object_set_new(o, "kernel", base_json_text(m->kernel));
    json_object_set_new(o, "cpu", base_json_text(m->cpu));
    json_object_set_new(o, "cores", json_integer(m->cores));
    json_object_set_new(o, "cores_allowed", number(m->allowed));
    json_object_set_new(o, "memory_kib", json_integer(m->memory_kib));
    json_object_set_new(o, "compiler", base_json_text(m->compiler));
    return o;
}

json_t *bench_report_json(const struct bench_result *r, const struct bench_left_out *left_out, size_t n)
{
    json_t *o = json_object(), *points = json_array(), *missing = json_array();
    struct base_machine m;

    base_machine_read(&m);
    for (size_t i = 0; i < r->n_done; i++) {
        json_array_append_new(points, one_point(&r->points[i], r->plan->rounds));
    }
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(missing,
                              json_pack("{s:s, s:s}", "lock", left_out[i].name, "why", left_out[i].why));
    }
    json_object_set_new(o, "format", json_integer(FORMAT));
    json_object_set_new(o, "pawl", json_string(PAWL_VERSION));
    json_object_set_new(o, "date", json_string(m.date));
    json_object_set_new(o, "machine", machine(&m));
    json_object_set_new(o, "rounds", json_integer(r->plan->rounds));
    json_object_set_new(o, "clock",
                        json_pack("{s:s, s:f, s:f}", "source", r->clock.tsc ? "tsc" : "clock_gettime",
                                  "ns_per_tick", r->clock.ns_per_tick, "busy_steps_per_ns",
                                  r->clock.steps_per_ns));
    json_object_set_new(o, "locks", locks(r->plan));
    json_object_set_new(o, "left_out", missing);
    if (json_object_set_new(o, "points", points) < 0) {
        json_decref(o);
        return NULL;
    }
    return o;
}
