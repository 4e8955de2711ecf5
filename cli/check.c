/* `pawl check`: options and output; the work is sim/suite.h's. */
#include "base/clock.h"
#include "base/progress.h"
#include "cli/check_mutants.h"
#include "cli/cli.h"
#include "cli/common.h"
#include "load/units.h"
#include "sim/report.h"
#include "sim/suite.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    const char *suites, *locks; /* lists with commas, or NULL */
    const char *json, *replay, *source, *sites;
    unsigned at_once;
    bool mutants, patient, timeouts;
    struct sim_wish wish;
    bool list, verbose, help;
    char **programs;
    size_t n_programs;
};

/* What is done and said while it runs. */
struct run {
    const struct arguments *a;
    struct sim_jobs jobs;
    size_t now; /* the job that runs */
    struct sim_graph graph;
    struct base_progress progress;
    bool table; /* standard output is for people */
    json_t *cases, *failures;
    unsigned bad, incomplete;
    char text[SIM_LINE_SIZE + 2200];
};

static void usage(FILE *f)
{
    fputs("usage: pawl check [OPTION...] [PROGRAM...]\n"
          "\n"
          "Runs the locks' own source under a model of C11's memory and of futexes: through all executions, "
          "stale\n"
          "reads included, or many at random. Looks for data races, two inside that must not be, lost "
          "wake-ups,\n"
          "waits without end, and one overtaken that had its turn. docs/check.md tells what is modelled.\n"
          "\n"
          "A PROGRAM is what each thread does with one lock: 'write_lock unlock | seek_lock seek_to_write'. "
          "Without\n"
          "one, the suites run that --list prints.\n"
          "\n"
          "      --suite NAME[,...]   these suites\n"
          "      --lock NAME[,...]    these locks: 32, 64, 32_spin, 64_spin (default: all that fit)\n"
          "      --mode MODE          all, random or pct (default: as the suite has it; programs: all)\n"
          "  -n, --executions N       at most so many executions of each case (0: no limit)\n"
          "      --seed N             of random and pct\n"
          "      --changes N          of priorities in an execution, with pct (0 to 16)\n"
          "      --leaps N            how often a thread's clock may leap in an operation (programs: 1)\n"
          "      --patient            clocks leap only in operations that have a deadline\n"
          "      --timeouts           a sleep with a time-out ends by it when nothing else ends it (else it "
          "must be "
          "woken)\n"
          "      --sleeps N           how often an operation may go to sleep before it is cut (programs: 2)\n"
          "      --interruptions N    how often a sleep may end for no reason, or by a signal (0)\n"
          "      --replay LINE        the one execution that a failing run has printed, step by step\n"
          "      --mutants            weaken each memory order of the locks' source, leave out each wake-up "
          "and each mark,\n"
          "                           one at a time, and tell which of these mutants the suites find\n"
          "      --site FILE:LINE[:COLUMN][,...]   only the mutants there\n"
          "      --source DIR         where that source is (default: here); a C compiler is needed\n"
          "  -j, --jobs N             so many mutants at once (default: the cores there are)\n"
          "      --list               print suites, locks and operations\n"
          "  -v, --verbose            a line for every case\n"
          "      --json FILE          write everything to this file (- for standard output, instead of the "
          "table)\n"
          "  -h, --help               this text\n"
          "\n"
          "Exit status: 0 nothing was found; 1 a violation, or the run failed; 2 wrong usage; 130 "
          "interrupted, 143\n"
          "terminated.\n",
          f);
}

static int bad(const char *what, const char *value, const char *expected)
{
    fprintf(stderr, "pawl check: %s '%s': expected %s; `pawl check --help` tells more\n", what, value,
            expected);
    return -1;
}

static int read_number(unsigned *out, const char *what, const char *value, unsigned high)
{
    char expected[64];
    uint64_t n;
    if (!load_read_number(value, 0, high, &n)) {
        snprintf(expected, sizeof expected, "a number from 0 to %u", high);
        return bad(what, value, expected);
    }
    *out = (unsigned)n;
    return 0;
}

static int read_mode(struct sim_wish *w, const char *value)
{
    static const char *const names[] = {[SIM_ALL] = "all", [SIM_RANDOM] = "random", [SIM_PCT] = "pct"};
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++) {
        if (!strcmp(value, names[i])) {
            w->mode = i;
            return 0;
        }
    }
    return bad("--mode", value, "all, random or pct");
}

static int read_large(uint64_t *out, const char *what, const char *value)
{
    return load_read_number(value, 0, UINT64_C(1000000000000000), out)
               ? 0
               : bad(what, value, "a number up to 10^15");
}

enum {
    OPT_SUITE = 256,
    OPT_LOCK,
    OPT_MODE,
    OPT_SEED,
    OPT_CHANGES,
    OPT_LEAPS,
    OPT_SLEEPS,
    OPT_INTERRUPTIONS,
    OPT_REPLAY,
    OPT_PATIENT,
    OPT_TIMEOUTS,
    OPT_MUTANTS,
    OPT_SOURCE,
    OPT_SITE,
    OPT_LIST,
    OPT_JSON
};

static const struct option options[] = {
    {"suite", required_argument, NULL, OPT_SUITE},
    {"lock", required_argument, NULL, OPT_LOCK},
    {"mode", required_argument, NULL, OPT_MODE},
    {"executions", required_argument, NULL, 'n'},
    {"seed", required_argument, NULL, OPT_SEED},
    {"changes", required_argument, NULL, OPT_CHANGES},
    {"leaps", required_argument, NULL, OPT_LEAPS},
    {"sleeps", required_argument, NULL, OPT_SLEEPS},
    {"interruptions", required_argument, NULL, OPT_INTERRUPTIONS},
    {"replay", required_argument, NULL, OPT_REPLAY},
    {"patient", no_argument, NULL, OPT_PATIENT},
    {"timeouts", no_argument, NULL, OPT_TIMEOUTS},
    {"mutants", no_argument, NULL, OPT_MUTANTS},
    {"source", required_argument, NULL, OPT_SOURCE},
    {"site", required_argument, NULL, OPT_SITE},
    {"jobs", required_argument, NULL, 'j'},
    {"list", no_argument, NULL, OPT_LIST},
    {"verbose", no_argument, NULL, 'v'},
    {"json", required_argument, NULL, OPT_JSON},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int read_option(struct arguments *a, int option, const char *value)
{
    switch (option) {
    case OPT_SUITE:
        a->suites = value;
        return 0;
    case OPT_LOCK:
        a->locks = value;
        return 0;
    case OPT_MODE:
        return read_mode(&a->wish, value);
    case 'n':
        return read_large(&a->wish.executions, "--executions", value);
    case OPT_SEED:
        return read_large(&a->wish.seed, "--seed", value);
    case OPT_CHANGES:
        return read_number(&a->wish.changes, "--changes", value, 16);
    case OPT_LEAPS:
        return read_number(&a->wish.leaps, "--leaps", value, 100);
    case OPT_SLEEPS:
        return read_number(&a->wish.sleeps, "--sleeps", value, 100);
    case OPT_INTERRUPTIONS:
        return read_number(&a->wish.interruptions, "--interruptions", value, 100);
    case OPT_REPLAY:
        a->replay = value;
        return 0;
    case OPT_PATIENT:
        a->patient = true;
        return 0;
    case OPT_TIMEOUTS:
        a->timeouts = true;
        return 0;
    case OPT_MUTANTS:
        a->mutants = true;
        return 0;
    case OPT_SOURCE:
        a->source = value;
        return 0;
    case OPT_SITE:
        a->sites = value;
        return 0;
    case 'j':
        return read_number(&a->at_once, "--jobs", value, 16);
    case OPT_LIST:
        a->list = true;
        return 0;
    case 'v':
        a->verbose = true;
        return 0;
    case OPT_JSON:
        a->json = value;
        return 0;
    case 'h':
        a->help = true;
        return 0;
    default:
        fputs("pawl check: `pawl check --help` lists the options\n", stderr);
        return -1;
    }
}

/* An option that would change nothing was meant for something. */
static int check_arguments(const struct arguments *a)
{
    int mode = a->wish.mode;
    if (a->suites && a->n_programs) {
        return bad("--suite", a->suites, "either suites or programs");
    }
    if (a->replay && (a->n_programs != 1 || !a->locks || strchr(a->locks, ','))) {
        return bad("--replay", a->replay, "one program, and --lock with one name");
    }
    if (a->mutants && (a->suites || a->n_programs || a->locks || a->replay || mode >= 0)) {
        return bad("--mutants", "with cases", "no suites, programs, locks or modes beside it");
    }
    if (!a->mutants && (a->source || a->at_once || a->sites)) {
        return bad(a->source  ? "--source"
                   : a->sites ? "--site"
                              : "--jobs",
                   "without --mutants", "that option, too");
    }
    if (a->replay && mode >= 0) {
        return bad("--replay", a->replay, "no --mode beside it");
    }
    if (a->n_programs && (mode == SIM_RANDOM || mode == SIM_PCT) &&
        (a->wish.executions == UINT64_MAX || !a->wish.executions)) {
        return bad("--mode", mode == SIM_PCT ? "pct" : "random", "--executions with it, from 1 on");
    }
    return 0;
}

static int read_arguments(struct arguments *a, int argc, char **argv)
{
    int option;
    *a = (struct arguments){.wish = sim_no_wish};
    optind = 0;
    while ((option = getopt_long(argc, argv, "n:j:vh", options, NULL)) != -1) {
        if (read_option(a, option, optarg) < 0) {
            return -1;
        }
    }
    a->programs = argv + optind;
    a->n_programs = (size_t)(argc - optind);
    return check_arguments(a);
}

static void list(void)
{
    size_t n;
    const struct sim_suite *suites = sim_suites(&n);
    puts("suites:");
    for (size_t i = 0; i < n; i++) {
        struct sim_jobs jobs = {NULL, 0, 0};
        size_t cases = 0;
        for (size_t l = 0; l < SIM_LOCKS; l++) {
            if (sim_jobs_add(&jobs, &suites[i], sim_locks[l], &sim_no_wish)) {
                cases = jobs.n;
            }
        }
        printf("  %-14s %5zu cases  %s\n", suites[i].name, cases, suites[i].title);
        sim_jobs_free(&jobs);
    }
    puts("locks:");
    for (size_t i = 0; i < SIM_LOCKS; i++) {
        printf("  %-14s %u bytes, %s\n", sim_locks[i]->name, sim_locks[i]->bits / 8,
               sim_locks[i]->sleeps ? "whose waiters sleep" : "whose waiters only spin (PAWL_DISABLE_PARK)");
    }
    puts("operations:");
    for (unsigned i = 0; i < SIM_OPS; i++) {
        printf("%s%-22s%s", i % 4 ? "" : "  ", sim_operation_text(i),
               i % 4 == 3 || i + 1 == SIM_OPS ? "\n" : "");
    }
}

/* Which locks are asked for: a bit each. Negative: an unknown name. */
static int read_locks(const struct arguments *a)
{
    const char *rest = a->locks;
    char item[32];
    int wanted = a->locks ? 0 : (1 << SIM_LOCKS) - 1;
    while (cli_next_item(&rest, item, sizeof item)) {
        const struct sim_lock *l = sim_lock_find(item);
        if (!l) {
            return bad("--lock", item, "32, 64, 32_spin or 64_spin");
        }
        for (int i = 0; i < SIM_LOCKS; i++) {
            wanted |= (sim_locks[i] == l) << i;
        }
    }
    return wanted;
}

static int no_memory(void)
{
    fputs("pawl check: out of memory\n", stderr);
    return -1;
}

static int add_suite(struct run *r, const struct sim_suite *suite, int locks)
{
    for (int i = 0; i < SIM_LOCKS; i++) {
        bool left_out = suite->by_name && !r->a->locks && sim_locks[i]->bits == 64;
        if ((locks >> i & 1) && !left_out && !sim_jobs_add(&r->jobs, suite, sim_locks[i], &r->a->wish)) {
            return no_memory();
        }
    }
    return 0;
}

static unsigned wished(unsigned value, unsigned otherwise)
{
    return value != UINT_MAX ? value : otherwise;
}

static int add_program(struct run *r, const char *text, int locks)
{
    const struct sim_wish *w = &r->a->wish;
    struct sim_program p;
    char error[400];
    struct sim_options o = {.mode = r->a->replay   ? SIM_REPLAY
                                    : w->mode >= 0 ? (enum sim_mode)w->mode
                                                   : SIM_ALL,
                            .executions = w->executions == UINT64_MAX ? 0 : w->executions,
                            .seed = w->seed == UINT64_MAX ? 1 : w->seed,
                            .changes = wished(w->changes, 3),
                            .steps = 200,
                            .line = r->a->replay};
    if (sim_program_read(&p, text, error, sizeof error) < 0) {
        fprintf(stderr, "pawl check: %s; `pawl check --list` prints the operations\n", error);
        return -1;
    }
    p.bounds = (struct sim_bounds){wished(w->leaps, 1), wished(w->sleeps, 2), wished(w->interruptions, 0),
                                   r->a->patient, r->a->timeouts};
    for (int i = 0; i < SIM_LOCKS; i++) {
        if ((locks >> i & 1) && !sim_jobs_add_program(&r->jobs, &p, sim_locks[i], &o)) {
            return no_memory();
        }
    }
    return 0;
}

static int make_jobs(struct run *r)
{
    const struct arguments *a = r->a;
    const char *rest = a->suites;
    const struct sim_suite *suites;
    char item[32];
    size_t n;
    int locks = read_locks(a);
    if (locks < 0) {
        return -1;
    }
    for (size_t i = 0; i < a->n_programs; i++) {
        if (add_program(r, a->programs[i], locks) < 0) {
            return -1;
        }
    }
    while (cli_next_item(&rest, item, sizeof item)) {
        const struct sim_suite *suite = sim_suite_find(item);
        if (!suite) {
            return bad("--suite", item, "names that `pawl check --list` prints");
        }
        if (add_suite(r, suite, locks) < 0) {
            return -1;
        }
    }
    suites = sim_suites(&n);
    for (size_t i = 0; i < n && !a->suites && !a->n_programs; i++) {
        if (add_suite(r, &suites[i], locks) < 0) {
            return -1;
        }
    }
    return r->jobs.n ? 0
                     : bad("--lock", a->locks, "a lock that one of the suites is for: `pawl check --list`");
}

/* ---- running */

static void tick(const struct sim_job *job, void *arg)
{
    struct run *r = arg;
    char what[160], program[100];
    sim_program_print(&job->program, program, sizeof program);
    snprintf(what, sizeof what, "%s %s: %s", job->suite, job->lock->name, program);
    base_progress_show(&r->progress, (double)r->now / (double)r->jobs.n, -1, what);
}

static const char *result_text(const struct sim_job *j)
{
    if (j->result.verdict == SIM_VIOLATION) {
        return "VIOLATION";
    }
    if (j->result.verdict == SIM_ERROR) {
        return "failed";
    }
    if (j->options.mode != SIM_ALL) {
        return j->done ? "no violation" : "interrupted";
    }
    return j->result.complete ? "complete" : j->done ? "not complete" : "interrupted";
}

/* The result is one within the bounds that the job has. */
static void print_line(const struct sim_job *j, size_t cases, const struct sim_result *s, double seconds,
                       const char *text)
{
    const struct sim_bounds *b = &j->program.bounds;
    printf("%-14s %-8s %6zu %12llu %11llu %10llu %8.1f s  %s (leaps %u%s", j->suite, j->lock->name, cases,
           (unsigned long long)s->executions, (unsigned long long)s->blocked, (unsigned long long)s->cut,
           seconds, text, b->leaps, b->leaps && b->patient ? " for deadlines" : "");
    if (j->lock->sleeps) {
        printf(", sleeps %u", b->sleeps);
    }
    if (b->timeouts) {
        printf(", time-outs");
    }
    if (b->interruptions) {
        printf(", interruptions %u", b->interruptions);
    }
    puts(")");
    fflush(stdout);
}

static void print_head(void)
{
    printf("%-14s %-8s %6s %12s %11s %10s %10s  %s\n", "suite", "lock", "cases", "executions", "blocked",
           "cut", "time", "result (bounds, for each operation)");
}

static void report_case(struct run *r, const struct sim_job *j)
{
    if (!r->table) {
        return;
    }
    base_progress_clear(&r->progress);
    if (r->a->verbose || r->a->n_programs) {
        sim_program_print(&j->program, r->text, sizeof r->text);
        print_line(j, 1, &j->result, j->seconds, result_text(j));
        printf("               %s\n", r->text);
    }
}

/* The sum of a suite's cases for a lock, at the last of them. */
static void report_suite(struct run *r, size_t last)
{
    const struct sim_job *jobs = r->jobs.job, *j = &jobs[last];
    struct sim_result sum = {.complete = true};
    size_t first = last, cases = 0;
    double seconds = 0;
    const char *text = result_text(j);
    while (first && !strcmp(jobs[first - 1].suite, j->suite) && jobs[first - 1].lock == j->lock) {
        first--;
    }
    for (size_t i = first; i <= last; i++) {
        const char *its = result_text(&jobs[i]);
        cases++;
        seconds += jobs[i].seconds;
        sum.executions += jobs[i].result.executions;
        sum.blocked += jobs[i].result.blocked;
        sum.cut += jobs[i].result.cut;
        text = strcmp(its, "complete") != 0 && strcmp(its, "no violation") != 0 ? its : text;
    }
    if (r->table && *j->suite) {
        base_progress_clear(&r->progress);
        print_line(j, cases, &sum, seconds, text);
    }
}

static json_t *bounds_json(const struct sim_bounds *b)
{
    return json_pack("{s:i, s:b, s:b, s:i, s:i}", "leaps", (int)b->leaps, "patient", b->patient, "timeouts",
                     b->timeouts, "sleeps", (int)b->sleeps, "interruptions", (int)b->interruptions);
}

static void record(struct run *r, const struct sim_job *j, bool failed)
{
    static const char *const modes[] = {"all", "random", "pct", "replay"};
    const struct sim_failure x = {j->lock, &j->program, &r->graph, &j->result};
    json_t *o;
    sim_program_print(&j->program, r->text, sizeof r->text);
    o = json_pack("{s:s, s:s, s:s, s:s, s:I, s:o, s:I, s:I, s:I, s:I, s:b, s:f, s:s}", "suite", j->suite,
                  "lock", j->lock->name, "program", r->text, "mode", modes[j->options.mode], "seed",
                  (json_int_t)j->options.seed, "bounds", bounds_json(&j->program.bounds), "executions",
                  (json_int_t)j->result.executions, "blocked", (json_int_t)j->result.blocked, "cut",
                  (json_int_t)j->result.cut, "events", (json_int_t)j->result.events, "complete",
                  j->options.mode == SIM_ALL && j->result.complete, "seconds", j->seconds, "result",
                  result_text(j));
    if (failed || (j->options.mode == SIM_REPLAY && j->result.verdict != SIM_ERROR)) {
        json_object_set_new(o, failed ? "failure" : "execution", sim_report_failure_json(&x));
    }
    json_array_append_new(r->cases, o);
}

static void run_job(struct run *r, struct sim_job *j)
{
    const struct sim_failure x = {j->lock, &j->program, &r->graph, &j->result};
    bool failed, shown;
    sim_job_run(j, &r->graph, &cli_stop, tick, r);
    failed = j->result.verdict == SIM_VIOLATION;
    shown = failed || (r->a->replay && j->result.verdict != SIM_ERROR);
    r->bad += j->result.verdict != SIM_FINE;
    r->incomplete += j->options.mode == SIM_ALL && !j->result.complete;
    report_case(r, j);
    record(r, j, failed);
    if (r->table && shown) {
        sim_program_print(&j->program, r->text, sizeof r->text);
        printf("\n%s, lock %s: %s\n", r->text, j->lock->name, failed ? j->result.text : "no violation");
        sim_report_failure(stdout, &x);
        putchar('\n');
    }
    if (j->result.verdict == SIM_ERROR) {
        base_progress_clear(&r->progress);
        fprintf(stderr, "pawl check: %s\n", j->result.text);
    }
}

static void run_jobs(struct run *r)
{
    const struct sim_job *jobs = r->jobs.job;
    if (r->table) {
        print_head();
    }
    for (r->now = 0; r->now < r->jobs.n && !cli_stop; r->now++) {
        const struct sim_job *j = &jobs[r->now], *next = r->now + 1 < r->jobs.n ? j + 1 : NULL;
        run_job(r, &r->jobs.job[r->now]);
        if (cli_stop || !next || strcmp(next->suite, j->suite) != 0 || next->lock != j->lock) {
            report_suite(r, r->now);
        }
    }
    base_progress_clear(&r->progress);
}

static json_t *report_json(const struct run *r)
{
    return json_pack("{s:s, s:s, s:b, s:i, s:O}", "pawl", PAWL_VERSION, "command", "check", "interrupted",
                     cli_stop != 0, "violations", (int)r->bad, "cases", r->cases);
}

static int run(struct run *r, struct tb_error *err)
{
    const struct arguments *a = r->a;
    struct tb_report_file file = {.fd = -1};
    int rc = 0;
    r->table = !a->json || strcmp(a->json, "-") != 0;
    r->cases = json_array();
    if (!r->cases) {
        return tb_fail(err, "out of memory");
    }
    if (a->json && r->table && tb_report_open(&file, a->json, err) < 0) {
        return -1;
    }
    cli_catch_signals();
    base_progress_start(&r->progress, STDERR_FILENO);
    run_jobs(r);
    if (a->json && cli_write_report(report_json(r), r->table ? &file : NULL, err) < 0) {
        rc = -1;
    }
    tb_report_close(&file);
    if (r->table && r->incomplete && !r->bad) {
        printf("%u case%s not gone through whole: a limit of --executions, or interrupted\n", r->incomplete,
               r->incomplete == 1 ? " was" : "s were");
    }
    if (fflush(stdout) || ferror(stdout)) {
        rc = tb_fail(err, "the results could not be written to standard output: %s", strerror(errno));
    }
    return rc;
}

int cli_check(int argc, char **argv)
{
    struct tb_error err = {0};
    struct arguments a;
    struct run *r;
    int status = 2;
    if (read_arguments(&a, argc, argv) < 0) {
        return 2;
    }
    if (a.help || a.list) {
        a.help ? usage(stdout) : list();
        return fflush(stdout) || ferror(stdout);
    }
    if (a.mutants) {
        status = check_mutants(
            &(struct check_mutants){a.source, a.sites, a.json, a.at_once, a.wish.executions, a.verbose},
            &err);
        if (err.text[0]) {
            fprintf(stderr, "pawl check: %s\n", err.text);
        }
        return status;
    }
    r = calloc(1, sizeof *r);
    if (!r) {
        no_memory();
        return 1;
    }
    r->a = &a;
    if (make_jobs(r) == 0) {
        status = run(r, &err) < 0 || r->bad;
        status = cli_stop ? 128 + cli_stop : status;
    }
    if (err.text[0]) {
        fprintf(stderr, "pawl check: %s\n", err.text);
    }
    json_decref(r->cases);
    sim_jobs_free(&r->jobs);
    free(r);
    return status;
}
