/* `pawl check --mutants`: output; the work is sim/mutants.h's. */
#include "cli/check_mutants.h"

#include "base/progress.h"
#include "base/usage.h"
#include "cli/common.h"
#include "sim/mutants.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MUTANT_SECONDS 300

static const char *const mutations[] = {"weaker order", "no wake-up", "no mark"};
static const char *const fates[] = {"not run", "killed", "survived", "does not compile"};

struct mutation_run {
    struct sim_mutants mutants;
    struct base_progress progress;
    size_t done, asked;
    bool table, verbose;
};

static void print_mutant(const struct sim_mutant *x)
{
    printf("%-9s %-12s %s:%u:%u  %s -> %s%s%s%s\n", fates[x->fate], mutations[x->mutation], x->file, x->line,
           x->column, x->from, x->to,
           x->argued ? x->fate == SIM_SURVIVED ? " (argued)" : " (argued all the same)" : "",
           *x->by ? x->fate == SIM_KILLED ? "\n          by " : "\n          " : "", x->by);
}

static void mutant_told(const struct sim_mutant *x, void *arg)
{
    struct mutation_run *r = arg;
    char what[100];
    r->done++;
    if (r->table && (r->verbose || x->argued || x->fate != SIM_KILLED)) {
        base_progress_clear(&r->progress);
        print_mutant(x);
        fflush(stdout);
    }
    snprintf(what, sizeof what, "%s:%u %s", x->file, x->line, fates[x->fate]);
    base_progress_show(&r->progress, (double)r->done / (double)r->asked, -1, what);
}

static json_t *mutants_json(const struct sim_mutants *m)
{
    json_t *list = json_array();
    for (size_t i = 0; i < m->n; i++) {
        const struct sim_mutant *x = &m->mutant[i];
        if (x->skipped) {
            continue;
        }
        json_array_append_new(list, json_pack("{s:s, s:i, s:i, s:s, s:s, s:s, s:s, s:b, s:s, s:f}", "file",
                                              x->file, "line", (int)x->line, "column", (int)x->column,
                                              "mutation", mutations[x->mutation], "from", x->from, "to",
                                              x->to, "fate", fates[x->fate], "argued", x->argued, "by", x->by,
                                              "seconds", x->seconds));
    }
    return json_pack("{s:s, s:s, s:b, s:o}", "pawl", PAWL_VERSION, "command", "check --mutants",
                     "interrupted", cli_stop != 0, "mutants", list);
}

/* Returns whether nothing is left to be explained. */
static bool sum_up(const struct sim_mutants *m, bool print)
{
    size_t n[4] = {0}, argued = 0, killed = 0;
    for (size_t i = 0; i < m->n; i++) {
        const struct sim_mutant *x = &m->mutant[i];
        n[x->fate] += !x->skipped;
        argued += !x->skipped && x->argued && x->fate == SIM_SURVIVED;
        killed += !x->skipped && x->argued && x->fate == SIM_KILLED;
    }
    if (print) {
        printf("%zu mutants: %zu killed, %zu survived (%zu of them argued in docs/check.md), %zu do not "
               "compile, "
               "%zu not run\n",
               n[0] + n[1] + n[2] + n[3], n[SIM_KILLED], n[SIM_SURVIVED], argued, n[SIM_NO_COMPILE],
               n[SIM_NOT_RUN]);
    }
    return n[SIM_SURVIVED] == argued && !killed && !n[SIM_NO_COMPILE];
}

int check_mutants(const struct check_mutants *a, struct tb_error *err)
{
    static struct mutation_run r;
    struct tb_report_file file = {.fd = -1};
    char error[1500];
    double cores = base_cores(getpid());
    bool explained;
    int rc;
    r.table = !a->json || strcmp(a->json, "-") != 0;
    r.verbose = a->verbose;
    if (sim_mutants_find(&r.mutants, a->source ? a->source : ".", error, sizeof error) < 0) {
        tb_fail(err, "%s; expected Pawl's sources in --source DIR", error);
        return 2;
    }
    if (a->sites && sim_mutants_select(&r.mutants, a->sites, error, sizeof error) < 0) {
        tb_fail(err, "--site %s", error);
        sim_mutants_free(&r.mutants);
        return 2;
    }
    if (sim_mutants_argued(&r.mutants, error, sizeof error) < 0) {
        tb_fail(err, "%s", error);
        sim_mutants_free(&r.mutants);
        return 1;
    }
    for (size_t i = 0; i < r.mutants.n; i++) {
        r.asked += !r.mutants.mutant[i].skipped;
    }
    if (a->json && r.table && tb_report_open(&file, a->json, err) < 0) {
        sim_mutants_free(&r.mutants);
        return 1;
    }
    cli_catch_signals();
    base_progress_start(&r.progress, STDERR_FILENO);
    rc = sim_mutants_run(&r.mutants,
                         a->at_once   ? a->at_once
                         : cores >= 1 ? (unsigned)cores
                                      : 1,
                         MUTANT_SECONDS, a->executions, &cli_stop, mutant_told, &r, error, sizeof error);
    base_progress_clear(&r.progress);
    if (rc < 0) {
        tb_fail(err, "%s", error);
    }
    if (a->json) {
        rc = cli_write_report(mutants_json(&r.mutants), r.table ? &file : NULL, err) < 0 ? -1 : rc;
    }
    tb_report_close(&file);
    explained = sum_up(&r.mutants, r.table);
    sim_mutants_free(&r.mutants);
    if (cli_stop) {
        return 128 + cli_stop;
    }
    return rc < 0 || !explained || fflush(stdout) || ferror(stdout);
}
