/* The printed table: a row a measure, a column a side, then the ratios. */
#include "testbed/report_text.h"

#include "testbed/compare.h"
#include "testbed/units.h"

#include <math.h>
#include <string.h>

#define LABEL_WIDTH 23
#define CELL_WIDTH  12
#define RATIO_WIDTH 26
#define RATIO_SIZE  80

/* Columns are as wide as their figures, or as the names above them where those are longer. */
static int cell_width(const struct tb_scenario *s)
{
    int width = CELL_WIDTH;

    for (size_t i = 0; i < s->n_sides; i++) {
        int name = (int)strlen(s->sides[i].name);

        width = name > width ? name : width;
    }
    return width;
}

static char *ratio_head(const struct tb_scenario *s, size_t pair, char text[RATIO_SIZE])
{
    snprintf(text, RATIO_SIZE, "%s/%s (95 %% CI)", s->sides[s->pairs[pair].of].name,
             s->sides[s->pairs[pair].against].name);
    return text;
}

static int ratio_width(const struct tb_scenario *s, size_t pair)
{
    char text[RATIO_SIZE];
    int head = (int)strlen(ratio_head(s, pair, text));

    return head > RATIO_WIDTH ? head : RATIO_WIDTH;
}

static void label(FILE *f, const struct tb_case_result *c, enum tb_measure m)
{
    const struct tb_measure_info *info = &tb_measures[m];
    char text[64];

    if (m == TB_SUT_CPU) {
        snprintf(text, sizeof text, "%s (of %.3g cores)", info->group, c->sides[0].cores);
    } else if (*info->name) {
        snprintf(text, sizeof text, "%-8s %s", info->group ? info->group : "", info->name);
    } else {
        snprintf(text, sizeof text, "%s", info->group);
    }
    fprintf(f, "%-*s", LABEL_WIDTH, text);
}

static void ratio_cell(FILE *f, const struct base_interval *i, int width)
{
    char mid[RATIO_SIZE / 4], low[RATIO_SIZE / 4], high[RATIO_SIZE / 4], text[RATIO_SIZE];

    tb_format_ratio(mid, sizeof mid, i->mid);
    if (isnan(i->low)) {
        snprintf(text, sizeof text, "%s", mid);
    } else {
        snprintf(text, sizeof text, "%s (%s to %s)", mid, tb_format_ratio(low, sizeof low, i->low),
                 tb_format_ratio(high, sizeof high, i->high));
    }
    fprintf(f, " %*s", width, text);
}

static void row(FILE *f, const struct tb_case_result *c, enum tb_measure m, unsigned rounds)
{
    const struct tb_scenario *s = c->of->scenario;
    char text[64];

    label(f, c, m);
    for (size_t i = 0; i < s->n_sides; i++) {
        tb_measure_format(tb_measures[m].unit, tb_side_value(c, i, m, rounds), text, sizeof text);
        fprintf(f, " %*s", cell_width(s), text);
    }
    for (size_t i = 0; i < s->n_pairs && tb_measures[m].unit != TB_ERRORS; i++) {
        struct base_interval interval;

        tb_pair_ratio(c, &s->pairs[i], m, rounds, &interval);
        ratio_cell(f, &interval, ratio_width(s, i));
    }
    fputc('\n', f);
}

static void head(FILE *f, const struct tb_scenario *s)
{
    fprintf(f, "%-*s", LABEL_WIDTH, "");
    for (size_t i = 0; i < s->n_sides; i++) {
        fprintf(f, " %*s", cell_width(s), s->sides[i].name);
    }
    for (size_t i = 0; i < s->n_pairs; i++) {
        char text[RATIO_SIZE];

        fprintf(f, " %*s", ratio_width(s, i), ratio_head(s, i, text));
    }
    fputc('\n', f);
}

static void verdicts(FILE *f, const struct tb_case_result *c, unsigned rounds)
{
    const struct tb_scenario *s = c->of->scenario;
    char text[TB_VERDICT_SIZE], remarks[TB_MAX_REMARKS][TB_REMARK_SIZE];
    size_t n;

    for (size_t i = 0; i < s->n_pairs; i++) {
        fprintf(f, "=> %s.\n", tb_verdict(c, &s->pairs[i], rounds, text));
    }
    n = tb_remarks(c, rounds, remarks);
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "   note: %s.\n", remarks[i]);
    }
}

static void one_case(FILE *f, const struct tb_case_result *c, const struct tb_plan *plan)
{
    char time[32];

    fprintf(f, "\n%s: %s; %u SUT thread%s; %u round%s of %s\n", c->of->label, c->of->scenario->title,
            c->of->threads, c->of->threads == 1 ? "" : "s", plan->rounds, plan->rounds == 1 ? "" : "s",
            tb_format_duration(time, sizeof time, (int64_t)plan->time_ms * 1000));
    head(f, c->of->scenario);
    for (int m = 0; m < TB_MEASURES; m++) {
        if (tb_measures[m].in_table) {
            row(f, c, (enum tb_measure)m, plan->rounds);
        }
    }
    verdicts(f, c, plan->rounds);
}

void tb_report_text(FILE *f, const struct tb_result *result)
{
    const struct base_machine *m = &result->machine;

    fprintf(f, "pawl %s testbed, %s\n%s%s%ld core%s%s, %s\n", PAWL_VERSION, m->date, m->cpu,
            *m->cpu ? ", " : "", m->cores, m->cores == 1 ? "" : "s",
            m->allowed < (double)m->cores ? " (fewer allowed)" : "", m->kernel);
    for (size_t i = 0; i < result->n_done; i++) {
        one_case(f, &result->cases[i], result->plan);
    }
}
