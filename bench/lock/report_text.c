/* The printed tables. */
#include "bench/lock/report_text.h"

#include "base/machine.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

struct column {
    enum bench_measure measure;
    const char *head;
    bool interval; /* with the interval beside it */
};

static const struct column contend[] = {
    {BENCH_OPS, "ops/s", true},   {BENCH_CPU_OP, "CPU/op", false},  {BENCH_CORES, "cores", false},
    {BENCH_P50, "p50", false},    {BENCH_P90, "p90", false},        {BENCH_P99, "p99", false},
    {BENCH_P999, "p99.9", false}, {BENCH_LONGEST, "longest", true}, {BENCH_UNSERVED, "unserved", false},
    {BENCH_JAIN, "Jain", false},
};
static const struct column sides[] = {
    {BENCH_READ_OPS, "reads/s", true},     {BENCH_READ_P50, "p50", false},
    {BENCH_READ_P99, "p99", false},        {BENCH_READ_P999, "p99.9", false},
    {BENCH_READ_LONGEST, "longest", true}, {BENCH_WRITE_OPS, "writes/s", true},
    {BENCH_WRITE_P50, "p50", false},       {BENCH_WRITE_P99, "p99", false},
    {BENCH_WRITE_P999, "p99.9", false},    {BENCH_WRITE_LONGEST, "longest", true},
};
static const struct column solo[] = {
    {BENCH_TWO_ATOMICS, "2 atomics", false}, {BENCH_SOLO_READ, "R", true},
    {BENCH_RATIO_READ, "ratio", false},      {BENCH_SOLO_SEEK, "S", false},
    {BENCH_RATIO_SEEK, "ratio", false},      {BENCH_SOLO_WRITE, "W", true},
    {BENCH_RATIO_WRITE, "ratio", false},     {BENCH_SOLO_ATOMIC, "A", false},
    {BENCH_RATIO_ATOMIC, "ratio", false},
};
static const struct column held[] = {
    {BENCH_TWO_ATOMICS, "2 atomics", false},
    {BENCH_SOLO_READ, "R", true},
    {BENCH_RATIO_READ, "ratio", false},
};
static const struct column sleeping[] = {
    {BENCH_WAITERS_CPU, "CPU/50 ms", true},
    {BENCH_CORES, "cores", false},
    {BENCH_HAND_OFF_P50, "hand-off p50", true},
    {BENCH_HAND_OFF_P99, "p99", false},
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

char *bench_format(char text[BENCH_TEXT_SIZE], enum bench_unit unit, double v)
{
    static const char *const times[] = {"ns", "us", "ms", "s"};
    static const char *const counts[] = {"", "k", "M", "G"};
    const char *const *names = unit == BENCH_NS ? times : counts;
    int step = 0;

    if (isnan(v)) {
        snprintf(text, BENCH_TEXT_SIZE, "-");
        return text;
    }
    if (unit == BENCH_COUNT) {
        snprintf(text, BENCH_TEXT_SIZE, "%.0f", v);
        return text;
    }
    if (unit == BENCH_RATIO) {
        snprintf(text, BENCH_TEXT_SIZE, "%.3f", v);
        return text;
    }
    for (; step < 3 && v >= 999.5; step++) {
        v /= 1000;
    }
    snprintf(text, BENCH_TEXT_SIZE, v < 9.995 ? "%.2f%s" : v < 99.95 ? "%.1f%s" : "%.0f%s", v, names[step]);
    return text;
}

#define NAME_WIDTH     18
#define CELL_WIDTH     9
#define INTERVAL_WIDTH 17

static void head(FILE *f, const struct column *columns, size_t n)
{
    fprintf(f, "  %-*s", NAME_WIDTH, "");
    for (size_t i = 0; i < n; i++) {
        fprintf(f, " %*s%*s", CELL_WIDTH, columns[i].head, columns[i].interval ? INTERVAL_WIDTH : 0, "");
    }
    fputc('\n', f);
}

static void cell(FILE *f, const struct bench_row *row, size_t rounds, const struct column *c)
{
    enum bench_unit unit = bench_measures[c->measure].unit;
    char mid[BENCH_TEXT_SIZE], low[BENCH_TEXT_SIZE], high[BENCH_TEXT_SIZE], both[3 * BENCH_TEXT_SIZE] = "";
    struct base_interval v;

    bench_figure(row->rounds, rounds, c->measure, &v);
    if (c->interval && !isnan(v.low)) {
        snprintf(both, sizeof both, " %s..%s", bench_format(low, unit, v.low),
                 bench_format(high, unit, v.high));
    }
    fprintf(f, " %*s%-*s", CELL_WIDTH, bench_format(mid, unit, v.mid), c->interval ? INTERVAL_WIDTH : 0,
            both);
}

/* Says something after a row's figures. */
__attribute__((format(printf, 3, 4))) static void remark(FILE *f, unsigned *n, const char *format, ...)
{
    va_list args;

    fputs((*n)++ ? "; " : "  ", f);
    va_start(args, format);
    vfprintf(f, format, args);
    va_end(args);
}

/* What the figures of a row don't say themselves. */
static void remarks(FILE *f, const struct bench_row *row, size_t rounds)
{
    size_t killed = 0, broken = 0, unmeasured = 0, unchecked = 0;
    unsigned n = 0;

    for (size_t i = 0; i < rounds; i++) {
        const struct bench_sample *s = &row->rounds[i];

        killed += s->killed;
        broken += s->broken;
        unmeasured += !s->measured;
        unchecked += s->unchecked;
    }
    if (broken) {
        remark(f, &n, "BROKEN in %zu of %zu rounds: it let two in", broken, rounds);
    }
    if (unmeasured) {
        remark(f, &n, "no figures in %zu of %zu rounds: it had to be killed", unmeasured, rounds);
    } else if (killed) {
        remark(f, &n, "had to be killed in %zu of %zu rounds", killed, rounds);
    }
    if (unchecked) {
        remark(f, &n, "unchecked in %zu of %zu rounds: its threads did not end in time", unchecked, rounds);
    }
    if (row->lock->note) {
        remark(f, &n, "%s", row->lock->note);
    }
}

static void table(FILE *f, const struct bench_point_result *p, size_t rounds, const struct column *columns,
                  size_t n, bool notes)
{
    head(f, columns, n);
    for (size_t i = 0; i < p->n_rows; i++) {
        if (p->rows[i].misfit) {
            continue;
        }
        fprintf(f, "  %-*s", NAME_WIDTH, p->rows[i].lock->name);
        for (size_t c = 0; c < n; c++) {
            cell(f, &p->rows[i], rounds, &columns[c]);
        }
        if (notes) {
            remarks(f, &p->rows[i], rounds);
        }
        fputc('\n', f);
    }
}

/* The locks left out, those with the same reason together. A yardstick for one thread is not missed
 * elsewhere, unless nothing else was asked for (all). */
static void misfits(FILE *f, const struct bench_point_result *p, bool all)
{
    for (size_t i = 0; i < p->n_rows; i++) {
        const char *why = p->rows[i].misfit;
        bool said = !why || (p->rows[i].lock->flags & BENCH_SOLO_ONLY && !all);

        for (size_t j = 0; j < i && !said; j++) {
            said = p->rows[j].misfit && !strcmp(p->rows[j].misfit, why);
        }
        if (said) {
            continue;
        }
        fprintf(f, "  left out (%s): %s", why, p->rows[i].lock->name);
        for (size_t j = i + 1; j < p->n_rows; j++) {
            if (p->rows[j].misfit && !strcmp(p->rows[j].misfit, why)) {
                fprintf(f, ", %s", p->rows[j].lock->name);
            }
        }
        fputc('\n', f);
    }
}

/* Without a lock threads that never rest use all cores they may. Less means that others use the machine. */
static void disturbed(FILE *f, const struct bench_result *r, const struct bench_point_result *p)
{
    double could = fmin(p->point->threads, r->plan->cores);
    struct base_interval got;

    for (size_t i = 0; i < p->n_rows; i++) {
        const struct bench_row *row = &p->rows[i];

        if (!strcmp(row->lock->name, "none") && !row->misfit &&
            bench_figure(row->rounds, r->plan->rounds, BENCH_CORES, &got) && got.mid < 0.9 * could) {
            fprintf(f,
                    "  note: even without a lock (none) these threads got %.2f of %.3g cores: something else "
                    "uses the machine, and these figures are its as well\n",
                    got.mid, could);
        }
    }
}

void bench_report_point(FILE *f, const struct bench_result *r, const struct bench_point_result *p)
{
    const struct bench_case *c = &p->point->of;
    size_t rounds = r->plan->rounds;

    fprintf(f, "\n%s: %s; %u thread%s; %zu round%s of %.3g s", p->point->label, c->title, p->point->threads,
            p->point->threads == 1 ? "" : "s", rounds, rounds == 1 ? "" : "s", p->time_ms / 1e3);
    if (p->warm_up_ms) {
        fprintf(f, " after %.3g s", p->warm_up_ms / 1e3);
    }
    fputc('\n', f);
    if (!bench_any_fits(r->plan, p->point)) {
        fputs("  nothing measured: none of the locks fits\n", f);
        misfits(f, p, true);
        fflush(f);
        return;
    }
    switch (c->type) {
    case BENCH_SOLO:
        table(f, p, rounds, solo, COUNT(solo), true);
        break;
    case BENCH_HELD:
        table(f, p, rounds, held, COUNT(held), true);
        break;
    case BENCH_SLEEP:
        table(f, p, rounds, sleeping, COUNT(sleeping), true);
        break;
    case BENCH_CONTEND:
        table(f, p, rounds, contend, COUNT(contend), true);
        if (c->writers || c->readers || (c->write_percent > 0 && c->write_percent < 100)) {
            table(f, p, rounds, sides, COUNT(sides), false);
        }
        disturbed(f, r, p);
        break;
    }
    misfits(f, p, false);
    fflush(f);
}

void bench_report_head(FILE *f, const struct bench_plan *plan, const struct bench_left_out *left_out,
                       size_t n)
{
    struct base_machine m;

    base_machine_read(&m);
    fprintf(f, "pawl %s bench, %s\n%s%s%ld core%s%s, %s, compiled with %s\n", PAWL_VERSION, m.date, m.cpu,
            *m.cpu ? ", " : "", m.cores, m.cores == 1 ? "" : "s",
            plan->cores < (double)m.cores ? " (fewer allowed)" : "", m.kernel, m.compiler);
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "left out: %s (%s)\n", left_out[i].name, left_out[i].why);
    }
}
