/* Compares the sides of a case. */
#include "testbed/compare.h"

#include "testbed/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SATURATED 95 /* percent */
#define STOLEN    5
#define OTHERS    10
#define IDLE_SUT  1

static void rounds_of(const struct tb_case_result *c, size_t side, enum tb_measure m, unsigned rounds,
                      double *out)
{
    for (unsigned r = 0; r < rounds; r++) {
        out[r] = c->sides[side].samples[r + 1].v[m]; /* [0] warmed up */
    }
}

double tb_side_value(const struct tb_case_result *c, size_t side, enum tb_measure m, unsigned rounds)
{
    double v[TB_MAX_ROUNDS], sum = 0;

    rounds_of(c, side, m, rounds, v);
    if (tb_measures[m].unit != TB_ERRORS) {
        return base_median(v, rounds);
    }
    for (unsigned r = 0; r < rounds; r++) {
        sum += v[r];
    }
    return sum;
}

bool tb_pair_ratio(const struct tb_case_result *c, const struct tb_pair *pair, enum tb_measure m,
                   unsigned rounds, struct base_interval *out)
{
    double a[TB_MAX_ROUNDS], b[TB_MAX_ROUNDS], ratios[TB_MAX_ROUNDS];

    *out = (struct base_interval){NAN, NAN, NAN};
    if (tb_measures[m].unit == TB_ERRORS) {
        return false;
    }
    rounds_of(c, pair->of, m, rounds, a);
    rounds_of(c, pair->against, m, rounds, b);
    return base_ratios(a, b, rounds, ratios) &&
           base_bootstrap_median(ratios, rounds, TB_LEVEL, TB_RESAMPLES, TB_SEED, out);
}

/* Whether the whole interval lies beyond the margin on one side of 1. */
static bool differs(const struct base_interval *i)
{
    return i->low > 1 + TB_MARGIN || i->high < 1 - TB_MARGIN;
}

__attribute__((format(printf, 2, 3))) static void add(char text[TB_VERDICT_SIZE], const char *format, ...)
{
    size_t used = strlen(text);
    va_list ap;

    va_start(ap, format);
    vsnprintf(text + used, TB_VERDICT_SIZE - used, format, ap);
    va_end(ap);
}

static void add_interval(char text[TB_VERDICT_SIZE], const struct base_interval *i, bool with_mid)
{
    char mid[32], low[32], high[32];

    tb_format_ratio(mid, sizeof mid, i->mid);
    tb_format_ratio(low, sizeof low, i->low);
    tb_format_ratio(high, sizeof high, i->high);
    if (with_mid) {
        add(text, "%s x (%s to %s)", mid, low, high);
    } else {
        add(text, "%s to %s", low, high);
    }
}

/* A SUT that hardly ran has a CPU time per request that is mostly the reading's own noise. */
static bool cpu_counts(const struct tb_case_result *c, const struct tb_pair *pair, unsigned rounds)
{
    return tb_side_value(c, pair->of, TB_SUT_CPU, rounds) >= IDLE_SUT &&
           tb_side_value(c, pair->against, TB_SUT_CPU, rounds) >= IDLE_SUT;
}

static double errors_of(const struct tb_case_result *c, size_t side, unsigned rounds)
{
    double sum = 0;

    for (int m = TB_ERR_CONNECT; m <= TB_ERR_STATUS; m++) {
        sum += tb_side_value(c, side, (enum tb_measure)m, rounds);
    }
    return sum;
}

static void add_differences(char text[TB_VERDICT_SIZE], const char *of, const char *against,
                            const struct base_interval *rate, const struct base_interval *cpu, bool cpu_known)
{
    bool cpu_differs = cpu_known && differs(cpu);

    if (differs(rate)) {
        add(text, "%s serves ", of);
        add_interval(text, rate, true);
        add(text, " the requests of %s", against);
        if (cpu_differs) {
            add(text, " at ");
            add_interval(text, cpu, true);
            add(text, " the CPU per request");
        } else if (cpu_known) {
            add(text, "; no difference found in CPU per request (");
            add_interval(text, cpu, false);
            add(text, ")");
        }
    } else if (cpu_differs) {
        add(text, "%s needs ", of);
        add_interval(text, cpu, true);
        add(text, " the CPU per request of %s; no difference found in requests/s (", against);
        add_interval(text, rate, false);
        add(text, ")");
    } else {
        add(text, "no difference found between %s and %s (requests/s ", of, against);
        add_interval(text, rate, false);
        if (cpu_known) {
            add(text, ", CPU per request ");
            add_interval(text, cpu, false);
        }
        add(text, ")");
    }
}

char *tb_verdict(const struct tb_case_result *c, const struct tb_pair *pair, unsigned rounds,
                 char text[TB_VERDICT_SIZE])
{
    const struct tb_scenario *s = c->of->scenario;
    const char *of = s->sides[pair->of].name, *against = s->sides[pair->against].name;
    double errors_a = errors_of(c, pair->of, rounds), errors_b = errors_of(c, pair->against, rounds);
    struct base_interval rate, cpu;
    bool rate_known = tb_pair_ratio(c, pair, TB_RATE, rounds, &rate);
    bool cpu_known = tb_pair_ratio(c, pair, TB_REQUEST_CPU, rounds, &cpu) && cpu_counts(c, pair, rounds);

    text[0] = 0;
    if (rounds < TB_VERDICT_ROUNDS) {
        add(text, "%u round%s of %s and %s: too few for a verdict (%d at least)", rounds,
            rounds == 1 ? "" : "s", of, against, TB_VERDICT_ROUNDS);
    } else if (!rate_known) {
        add(text, "no verdict on %s and %s: a round without requests", of, against);
    } else {
        add_differences(text, of, against, &rate, &cpu, cpu_known);
    }
    if (errors_a > 0 || errors_b > 0) {
        add(text, "; with %.0f errors in %s, %.0f in %s", errors_a, of, errors_b, against);
    }
    return text;
}

/* Sentences collected. */
struct remarks {
    char (*text)[TB_REMARK_SIZE];
    size_t n;
};

__attribute__((format(printf, 2, 3))) static void remark(struct remarks *r, const char *format, ...)
{
    va_list ap;

    if (r->n < TB_MAX_REMARKS) {
        va_start(ap, format);
        vsnprintf(r->text[r->n++], TB_REMARK_SIZE, format, ap);
        va_end(ap);
    }
}

static void remark_side(struct remarks *r, const struct tb_case_result *c, size_t side, unsigned rounds)
{
    const char *name = c->of->scenario->sides[side].name;
    double driver = tb_side_value(c, side, TB_DRIVER_CPU, rounds);
    double endpoints = tb_side_value(c, side, TB_ENDPOINT_CPU, rounds);
    double errors = errors_of(c, side, rounds);

    if (driver >= SATURATED) {
        remark(r,
               "the driver used %.0f %% of the CPU its threads can use against %s: it, not the SUT, may set "
               "the limit",
               driver, name);
    }
    if (endpoints >= SATURATED) {
        remark(r,
               "the endpoints used %.0f %% of the CPU they can use behind %s: they, not the SUT, may set the "
               "limit",
               endpoints, name);
    }
    if (errors > 0) {
        remark(r, "%s: %.0f errors in %u rounds; report.json has each round's", name, errors, rounds);
    }
    if (c->sides[side].killed) {
        remark(r, "%s did not end within 3 s of SIGTERM in %u rounds and was killed", name,
               c->sides[side].killed);
    }
}

size_t tb_remarks(const struct tb_case_result *c, unsigned rounds, char text[TB_MAX_REMARKS][TB_REMARK_SIZE])
{
    struct remarks r = {.text = text};
    double busiest = 0, stolen = 0, others = 0, least_cpu = 100;

    for (size_t i = 0; i < c->of->scenario->n_sides; i++) {
        remark_side(&r, c, i, rounds);
        busiest = fmax(busiest, tb_side_value(c, i, TB_MACHINE_BUSY, rounds));
        stolen = fmax(stolen, tb_side_value(c, i, TB_MACHINE_STOLEN, rounds));
        others = fmax(others, tb_side_value(c, i, TB_MACHINE_OTHERS, rounds));
        least_cpu = fmin(least_cpu, tb_side_value(c, i, TB_SUT_CPU, rounds));
    }
    if (busiest >= SATURATED && least_cpu < SATURATED) {
        remark(&r,
               "driver, SUT and endpoints share this machine's cores, which were %.0f %% busy: CPU per "
               "request compares "
               "better than requests/s",
               busiest);
    }
    if (others >= OTHERS) {
        remark(&r, "other processes used %.0f %% of this machine's CPU time: repeat it when it is quiet",
               others);
    }
    if (stolen >= STOLEN) {
        remark(&r, "other virtual machines took %.0f %% of this one's CPU time: repeat it on a quieter host",
               stolen);
    }
    return r.n;
}
