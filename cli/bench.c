/* `pawl bench`: options and output; the work is bench/lock/run.h's. */
#include "base/usage.h"
#include "bench/lock/plock.h"
#include "bench/lock/plot.h"
#include "bench/lock/report_json.h"
#include "bench/lock/report_text.h"
#include "cli/cli.h"
#include "cli/common.h"
#include "load/units.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUICK_ROUNDS  1
#define QUICK_TIME_MS 500
#define QUICK_WARM_MS 200

struct arguments {
    const char *cases, *locks, *threads; /* lists with commas, or NULL */
    const char *json, *plot, *plock;
    unsigned counts[BENCH_MAX_COUNTS]; /* --threads */
    size_t n_counts;
    unsigned rounds; /* 0: as the set has it */
    unsigned warm_up_ms, time_ms;
    uint64_t think_ns, section_ns;
    unsigned write_percent;
    bool has_think, has_section, has_writes, quick, full, list, help;
};

static void usage(FILE *f)
{
    fputs("usage: pawl bench [OPTION...]\n"
          "\n"
          "Measures locks: this library's, the C library's and others', each under the same work, in rounds "
          "that "
          "go\n"
          "through all locks. Prints throughput, waits, CPU and fairness. docs/bench.md tells the method.\n"
          "\n"
          "      --case NAME[,...]  these workloads, by a name that --list prints, or NAME/THREADS for one "
          "number "
          "of\n"
          "                         threads (default: a choice from all)\n"
          "      --lock NAME[,...]  these locks (default: all but builds with switches)\n"
          "  -t, --threads N[,...]  these numbers of threads, in the cases that are about many\n"
          "      --list             print the cases and locks there are, and what was left out\n"
          "      --quick            within a minute: few cases, the most important locks, one short round\n"
          "      --full             every case, number of threads and lock: hours\n"
          "  -r, --rounds N         rounds (default 5; with --quick 1)\n"
          "  -d, --time T           measure for T in each round: 2s, 500ms (default 2s; 6s with more threads "
          "than "
          "cores)\n"
          "      --warmup T         after T of warming up (default 300ms; 2s with more threads than cores)\n"
          "      --think T          mean time between operations, in the cases think (5us) and custom (0)\n"
          "      --section T        time inside the lock, in the case custom (0)\n"
          "      --writes P         per cent of operations that write, in the case custom (100)\n"
          "      --plock DIR        measure plock, too: DIR has plock.h and atomic-ops.h (a C compiler is "
          "needed\n"
          "                         when one of its locks is measured)\n"
          "      --json FILE        write everything to this file (- for standard output, instead of the "
          "table)\n"
          "      --plot DIR         draw plots into this directory (gnuplot is needed)\n"
          "  -h, --help             this text\n"
          "\n"
          "Exit status: 0 done; 1 the run failed, or a lock let two in; 2 wrong usage; 130 interrupted, 143\n"
          "terminated: the points that were done are reported.\n",
          f);
}

static int bad(const char *what, const char *value, const char *expected)
{
    fprintf(stderr, "pawl bench: %s '%s': expected %s; `pawl bench --help` tells more\n", what, value,
            expected);
    return -1;
}

static int read_number(unsigned *out, const char *what, const char *value, unsigned low, unsigned high)
{
    char expected[64];
    uint64_t n;

    if (!load_read_number(value, low, high, &n)) {
        snprintf(expected, sizeof expected, "a number from %u to %u", low, high);
        return bad(what, value, expected);
    }
    *out = (unsigned)n;
    return 0;
}

/* "5us", "200ns", "1.5ms" or 0: what load_read_duration() reads, less minutes, hours and numbers without
 * unit. */
static int read_time(uint64_t *out_ns, const char *what, const char *value, uint64_t low_ns, uint64_t high_ns,
                     const char *expected)
{
    size_t len = strlen(value);
    bool in_seconds = len && value[len - 1] == 's';

    if ((in_seconds || !strcmp(value, "0")) && load_read_duration(value, out_ns) && *out_ns >= low_ns &&
        *out_ns <= high_ns) {
        return 0;
    }
    return bad(what, value, expected);
}

static int read_ms(unsigned *out_ms, const char *what, const char *value, uint64_t low_ms)
{
    uint64_t ns;

    if (read_time(&ns, what, value, low_ms * 1000000, UINT64_C(600000000000),
                  "a time up to 600s, such as 2s or 500ms") < 0) {
        return -1;
    }
    *out_ms = (unsigned)(ns / 1000000);
    return 0;
}

static int read_counts(struct arguments *a)
{
    const char *list = a->threads;
    char item[64];

    while (cli_next_item(&list, item, sizeof item)) {
        if (a->n_counts == BENCH_MAX_COUNTS) {
            return bad("--threads", a->threads, "at most 16 numbers");
        }
        if (read_number(&a->counts[a->n_counts++], "--threads", item, 1, BENCH_MAX_THREADS) < 0) {
            return -1;
        }
    }
    return 0;
}

enum {
    OPT_CASE = 256,
    OPT_LOCK,
    OPT_LIST,
    OPT_QUICK,
    OPT_FULL,
    OPT_WARMUP,
    OPT_THINK,
    OPT_SECTION,
    OPT_WRITES,
    OPT_PLOCK,
    OPT_JSON,
    OPT_PLOT
};

static const struct option options[] = {
    {"case", required_argument, NULL, OPT_CASE},
    {"lock", required_argument, NULL, OPT_LOCK},
    {"threads", required_argument, NULL, 't'},
    {"list", no_argument, NULL, OPT_LIST},
    {"quick", no_argument, NULL, OPT_QUICK},
    {"full", no_argument, NULL, OPT_FULL},
    {"rounds", required_argument, NULL, 'r'},
    {"time", required_argument, NULL, 'd'},
    {"warmup", required_argument, NULL, OPT_WARMUP},
    {"think", required_argument, NULL, OPT_THINK},
    {"section", required_argument, NULL, OPT_SECTION},
    {"writes", required_argument, NULL, OPT_WRITES},
    {"plock", required_argument, NULL, OPT_PLOCK},
    {"json", required_argument, NULL, OPT_JSON},
    {"plot", required_argument, NULL, OPT_PLOT},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

#define SPAN "a time up to 100ms, such as 5us or 200ns"

static int read_option(struct arguments *a, int option, const char *value)
{
    switch (option) {
    case OPT_CASE:
        a->cases = value;
        return 0;
    case OPT_LOCK:
        a->locks = value;
        return 0;
    case 't':
        a->threads = value;
        a->n_counts = 0;
        return read_counts(a);
    case OPT_LIST:
        a->list = true;
        return 0;
    case OPT_QUICK:
        a->quick = true;
        return 0;
    case OPT_FULL:
        a->full = true;
        return 0;
    case 'r':
        return read_number(&a->rounds, "--rounds", value, 1, BENCH_MAX_ROUNDS);
    case 'd':
        return read_ms(&a->time_ms, "--time", value, 1);
    case OPT_WARMUP:
        return read_ms(&a->warm_up_ms, "--warmup", value, 0);
    case OPT_THINK:
        a->has_think = true;
        return read_time(&a->think_ns, "--think", value, 0, 100000000, SPAN);
    case OPT_SECTION:
        a->has_section = true;
        return read_time(&a->section_ns, "--section", value, 0, 100000000, SPAN);
    case OPT_WRITES:
        a->has_writes = true;
        return read_number(&a->write_percent, "--writes", value, 0, 100);
    case OPT_PLOCK:
        a->plock = value;
        return 0;
    case OPT_JSON:
        a->json = value;
        return 0;
    case OPT_PLOT:
        a->plot = value;
        return 0;
    case 'h':
        a->help = true;
        return 0;
    default:
        fputs("pawl bench: `pawl bench --help` lists the options\n", stderr);
        return -1;
    }
}

/* Does --case name this one, with or without a number of threads? */
static bool names_case(const struct arguments *a, const char *name)
{
    const char *rest = a->cases;
    char item[BENCH_LABEL_SIZE];

    while (cli_next_item(&rest, item, sizeof item)) {
        item[strcspn(item, "/")] = 0;
        if (!strcmp(item, name)) {
            return true;
        }
    }
    return false;
}

/* An option that would change nothing was meant for something. */
static int check_arguments(const struct arguments *a)
{
    bool custom = names_case(a, "custom");

    if (a->quick && a->full) {
        return bad("--quick", "--full", "one of them");
    }
    if ((a->has_writes || a->has_section) && !custom) {
        return bad(a->has_writes ? "--writes" : "--section", "without --case custom", "that case");
    }
    if (a->has_think && a->cases && !custom && !names_case(a, "think")) {
        return bad("--think", a->cases, "the case think or custom");
    }
    return 0;
}

static int read_arguments(struct arguments *a, int argc, char **argv)
{
    int option;

    *a = (struct arguments){.warm_up_ms = BENCH_AUTO, .time_ms = BENCH_AUTO};
    optind = 0;
    while ((option = getopt_long(argc, argv, "t:r:d:h", options, NULL)) != -1) {
        if (read_option(a, option, optarg) < 0) {
            return -1;
        }
    }
    return optind < argc ? bad("argument", argv[optind], "options only") : check_arguments(a);
}

static void list_counts(const unsigned *counts)
{
    for (size_t i = 0; counts[i]; i++) {
        printf("%s%u", i ? "," : " ", counts[i]);
    }
}

static void list(void)
{
    size_t n;
    const struct bench_case *c = bench_cases(&n);
    const struct bench_lock *const *locks;
    struct bench_left_out out[BENCH_MAX_LEFT_OUT];

    puts("cases (threads in all, by default, with --quick):");
    for (size_t i = 0; i < n; i++) {
        printf("  %-14s %s;", c[i].name, c[i].title);
        list_counts(c[i].threads);
        printf(";");
        list_counts(c[i].few);
        printf(";");
        list_counts(c[i].quick);
        putchar('\n');
    }
    puts("locks:");
    locks = bench_locks(&n);
    for (size_t i = 0; i < n; i++) {
        printf("  %-18s %4zu bytes  %s%s%s\n", locks[i]->name, locks[i]->size, locks[i]->what,
               locks[i]->note ? "; " : "", locks[i]->note ? locks[i]->note : "");
    }
    n = bench_locks_left_out(out);
    for (size_t i = 0; i < n; i++) {
        printf("  %-18s left out: %s\n", out[i].name, out[i].why);
    }
}

static int add_point(struct bench_plan *plan, const struct arguments *a, const struct bench_case *named,
                     unsigned threads)
{
    struct bench_case c = *named;

    if (plan->n_points == BENCH_MAX_POINTS) {
        return bad("--case", named->name, "fewer cases and numbers of threads: 64 at most");
    }
    if (a->has_think && (c.think_ns || c.named_only)) {
        c.think_ns = (unsigned)a->think_ns;
    }
    if (c.named_only) {
        c.section_ns = (unsigned)a->section_ns;
        c.write_percent = a->has_writes ? a->write_percent : c.write_percent;
    }
    bench_point_make(&plan->points[plan->n_points++], &c, threads);
    return 0;
}

/* A case is about many threads where it does not set their number itself. */
static bool takes_threads(const struct bench_case *c)
{
    return c->type == BENCH_CONTEND && !c->writers && !c->readers;
}

static int add_counts(struct bench_plan *plan, const struct arguments *a, const struct bench_case *c,
                      const unsigned *counts)
{
    if (a->n_counts && takes_threads(c)) {
        for (size_t i = 0; i < a->n_counts; i++) {
            if (add_point(plan, a, c, a->counts[i]) < 0) {
                return -1;
            }
        }
        return 0;
    }
    for (size_t i = 0; counts[i]; i++) {
        if (add_point(plan, a, c, counts[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* "NAME" or "NAME/THREADS". */
static int add_named(struct bench_plan *plan, const struct arguments *a, char *name)
{
    char *slash = strchr(name, '/');
    const struct bench_case *c;
    unsigned threads;

    if (slash) {
        *slash = 0;
    }
    c = bench_case_find(name);
    if (!c) {
        return bad("--case", name, "names that `pawl bench --list` prints");
    }
    if (!slash) {
        return add_counts(plan, a, c, c->threads);
    }
    if (!takes_threads(c)) {
        return bad("--case", name, "no number of threads behind this name: it sets them itself");
    }
    return read_number(&threads, "--case: the threads", slash + 1, 1, BENCH_MAX_THREADS) < 0
               ? -1
               : add_point(plan, a, c, threads);
}

static int choose_points(struct bench_plan *plan, const struct arguments *a)
{
    const char *rest = a->cases;
    const struct bench_case *cases;
    char item[BENCH_LABEL_SIZE];
    size_t n;

    while (cli_next_item(&rest, item, sizeof item)) {
        if (add_named(plan, a, item) < 0) {
            return -1;
        }
    }
    cases = bench_cases(&n);
    for (size_t i = 0; i < n && !a->cases; i++) {
        const struct bench_case *c = &cases[i];
        const unsigned *counts = a->quick ? c->quick : a->full ? c->threads : c->few;

        if (!c->named_only && counts[0] && add_counts(plan, a, c, counts) < 0) {
            return -1;
        }
    }
    return 0;
}

/* What --quick measures: each kind of lock once. */
static bool is_quick(const struct bench_lock *l)
{
    static const char *const names[] = {"none",   "atomics",   "pawl",      "pawl64", "mutex",
                                        "rwlock", "ck-pflock", "ck-ticket", "plock64"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strcmp(l->name, names[i])) {
            return true;
        }
    }
    return false;
}

static int add_lock(struct bench_plan *plan, const struct bench_lock *lock)
{
    for (size_t i = 0; i < plan->n_locks; i++) {
        if (plan->locks[i] == lock) {
            return 0;
        }
    }
    if (plan->n_locks == BENCH_MAX_LOCKS) {
        return bad("--lock", lock->name, "fewer locks");
    }
    plan->locks[plan->n_locks++] = lock;
    return 0;
}

static int choose_locks(struct bench_plan *plan, const struct arguments *a)
{
    const char *rest = a->locks;
    const struct bench_lock *const *all;
    char item[64];
    size_t n;

    while (cli_next_item(&rest, item, sizeof item)) {
        const struct bench_lock *lock = bench_lock_find(item);

        if (!lock) {
            return bad("--lock", item, "names that `pawl bench --list` prints");
        }
        if (add_lock(plan, lock) < 0) {
            return -1;
        }
    }
    all = bench_locks(&n);
    for (size_t i = 0; i < n && !a->locks; i++) {
        bool wanted = a->full || (a->quick ? is_quick(all[i]) : !(all[i]->flags & BENCH_VARIANT));

        if (wanted && add_lock(plan, all[i]) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Where a case was asked for, and none of the locks that were can be measured in it. */
static int refuse_point(const struct bench_plan *plan, const struct bench_point *p)
{
    const struct bench_lock *const *all;
    const char *between = "";
    size_t n;

    fprintf(stderr, "pawl bench: nothing to measure in %s: ", p->label);
    for (size_t i = 0; i < plan->n_locks; i++) {
        fprintf(stderr, "%s%s: %s", i ? "; " : "", plan->locks[i]->name, bench_misfit(plan->locks[i], p));
    }
    fputs(". Expected at least one of these with --lock: ", stderr);
    all = bench_locks(&n);
    for (size_t i = 0; i < n; i++) {
        if (!(all[i]->flags & BENCH_VARIANT) && !bench_misfit(all[i], p)) {
            fprintf(stderr, "%s%s", between, all[i]->name);
            between = ", ";
        }
    }
    fputs("; `pawl bench --list` tells more\n", stderr);
    return -1;
}

/* Cases that nobody named are left out, and the report says so; but something has to be left. */
static int check_points(const struct bench_plan *plan, const struct arguments *a)
{
    bool any = false;

    for (size_t i = 0; i < plan->n_points; i++) {
        bool fits = bench_any_fits(plan, &plan->points[i]);

        if (!fits && a->cases) {
            return refuse_point(plan, &plan->points[i]);
        }
        any = any || fits;
    }
    return any ? 0 : refuse_point(plan, &plan->points[0]);
}

static int make_plan(struct bench_plan *plan, const struct arguments *a)
{
    bool quick = a->quick;
    double cores = base_cores(getpid());

    plan->rounds = a->rounds ? a->rounds : quick ? QUICK_ROUNDS : 5;
    plan->time_ms = a->time_ms != BENCH_AUTO ? a->time_ms : quick ? QUICK_TIME_MS : BENCH_AUTO;
    plan->warm_up_ms = a->warm_up_ms != BENCH_AUTO ? a->warm_up_ms : quick ? QUICK_WARM_MS : BENCH_AUTO;
    plan->cores = cores > 0 ? cores : 1;
    return choose_points(plan, a) < 0 || choose_locks(plan, a) < 0 || check_points(plan, a) < 0 ? -1 : 0;
}

static void print_point(void *ctx, const struct bench_result *r, const struct bench_point_result *p)
{
    bench_report_point(ctx, r, p);
}

static int write_json(const struct arguments *a, const struct bench_result *r, struct tb_report_file *file,
                      struct tb_error *err)
{
    struct bench_left_out out[BENCH_MAX_LEFT_OUT];
    json_t *report = bench_report_json(r, out, bench_locks_left_out(out));

    return cli_write_report(report, strcmp(a->json, "-") != 0 ? file : NULL, err);
}

/* The machine, what is left out, and how long it will take. */
static void print_head(const struct bench_plan *plan)
{
    struct bench_left_out out[BENCH_MAX_LEFT_OUT];
    double seconds = bench_plan_seconds(plan);

    bench_report_head(stdout, plan, out, bench_locks_left_out(out));
    printf("%zu lock%s, %zu point%s, %u round%s: about %.0f %s\n", plan->n_locks,
           plan->n_locks == 1 ? "" : "s", plan->n_points, plan->n_points == 1 ? "" : "s", plan->rounds,
           plan->rounds == 1 ? "" : "s", seconds < 120 ? seconds : seconds / 60, seconds < 120 ? "s" : "min");
    fflush(stdout);
}

/* plock's names have to be there before locks are chosen by name. */
static int add_plock(const struct arguments *a)
{
    char error[2000];

    if (!a->plock) {
        return 0;
    }
    if (bench_plock_find(a->plock, error, sizeof error) < 0) {
        fprintf(stderr, "pawl bench: %s; `pawl bench --help` tells more\n", error);
        return -1;
    }
    for (size_t i = 0; i < BENCH_PLOCK_LOCKS; i++) {
        bench_locks_add(&bench_plock_described[i]);
    }
    return 0;
}

/* Puts what is compiled in the place of its description, where that was chosen. */
static int compile_plock(const struct arguments *a, struct bench_plan *plan, struct tb_error *err)
{
    const struct bench_lock *plock[BENCH_PLOCK_LOCKS] = {NULL};
    char error[2000];

    for (size_t i = 0; i < plan->n_locks; i++) {
        for (size_t p = 0; p < BENCH_PLOCK_LOCKS; p++) {
            if (plan->locks[i] != &bench_plock_described[p]) {
                continue;
            }
            if (!plock[p] && bench_plock_load(a->plock, plock, error, sizeof error) < 0) {
                return tb_fail(err, "%s", error);
            }
            plan->locks[i] = plock[p];
        }
    }
    return 0;
}

/* Where reports go is opened before hours are spent. */
static int open_reports(const struct arguments *a, struct tb_report_file *file, struct tb_error *err)
{
    char error[2000];

    if (a->plot && bench_plot_prepare(a->plot, error, sizeof error) < 0) {
        return tb_fail(err, "%s", error);
    }
    return a->json && strcmp(a->json, "-") != 0 ? tb_report_open(file, a->json, err) : 0;
}

/* Everything but the tables, and the end of those. Each is tried, whatever became of the one before. */
static int write_reports(const struct arguments *a, const struct bench_result *r, struct tb_report_file *file,
                         struct tb_error *err)
{
    int rc = a->json ? write_json(a, r, file, err) : 0;
    char error[2000];

    if (a->plot && r->n_done && bench_plot(r, a->plot, error, sizeof error) < 0) {
        rc = tb_fail(err, "%s", error);
    }
    if (fflush(stdout) || ferror(stdout)) {
        rc = tb_fail(err, "the figures could not be written to standard output: %s", strerror(errno));
    }
    return rc;
}

static int run_plan(const struct arguments *a, const struct bench_plan *plan, struct bench_result *r,
                    struct tb_error *err)
{
    bool table = !a->json || strcmp(a->json, "-") != 0;
    struct tb_report_file file = {.fd = -1};
    int rc = open_reports(a, &file, err);

    if (rc < 0) {
        return rc;
    }
    if (table) {
        print_head(plan);
    }
    rc = bench_run(plan, r, table ? print_point : NULL, stdout);
    base_progress_clear(plan->progress);
    if (rc < 0) {
        fprintf(stderr, "pawl bench: %s\n", r->error);
    } else if (r->broken) {
        fputs("pawl bench: a lock let two in; the report says which\n", stderr);
        rc = -1;
    }
    if (write_reports(a, r, &file, err) < 0) {
        rc = -1;
    }
    tb_report_close(&file);
    return rc;
}

static int run(const struct arguments *a, struct tb_error *err)
{
    struct bench_plan *plan = calloc(1, sizeof *plan);
    struct bench_result *r = calloc(1, sizeof *r);
    struct base_progress progress;
    int status = 1;

    base_progress_start(&progress, STDERR_FILENO);
    if (!plan || !r) {
        tb_fail(err, "out of memory");
    } else if (make_plan(plan, a) < 0) {
        status = 2;
    } else {
        plan->progress = &progress;
        plan->stop = &cli_stop;
        cli_catch_signals();
        status = compile_plock(a, plan, err) < 0 || run_plan(a, plan, r, err) < 0;
        status = cli_stop ? 128 + cli_stop : status;
    }
    if (r) {
        bench_result_free(r);
    }
    free(r);
    free(plan);
    return status;
}

int cli_bench(int argc, char **argv)
{
    struct tb_error err = {0};
    struct arguments a;
    int status = 1;

    if (read_arguments(&a, argc, argv) < 0) {
        return 2;
    }
    if (a.help) {
        usage(stdout);
        return 0;
    }
    if (add_plock(&a) < 0) {
        return 2;
    }
    if (a.list) {
        list();
        status = 0;
    } else {
        status = run(&a, &err);
    }
    if (err.text[0]) {
        fprintf(stderr, "pawl bench: %s\n", err.text);
    }
    return status;
}
