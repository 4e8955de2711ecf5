/* `pawl testbed`: options and output; the work is testbed/run.h's. */
#include "cli/cli.h"
#include "testbed/find.h"
#include "testbed/report_json.h"
#include "testbed/report_text.h"
#include "testbed/units.h"

#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_SCENARIOS 32
#define MAX_OVERRIDES 16

struct arguments {
    const char *scenarios[MAX_SCENARIOS];
    size_t n_scenarios;
    struct {
        char side[TB_NAME_SIZE];
        const char *program;
    } overrides[MAX_OVERRIDES];
    size_t n_overrides;
    const char *scenario_dir, *pawld_dir, *pawl, *out;
    unsigned rounds, time_ms, port;
    bool keep, json, list, help;
};

static void usage(FILE *f)
{
    fputs("usage: pawl testbed [OPTION...]\n"
          "\n"
          "Compares servers before and after: drives each side in turn over loopback, in interleaved rounds, "
          "and prints\n"
          "requests/s, latency, CPU and errors with the ratio between the sides. docs/testbed.md tells the "
          "method.\n"
          "\n"
          "      --scenario NAME    run this scenario; a name that --list prints (round-robin, or "
          "round-robin/8 for one\n"
          "                         number of threads) or the path of a file; may be repeated (default: "
          "round-robin, queue)\n"
          "      --list             print the scenarios there are\n"
          "  -r, --rounds N         rounds after the warm-up (default 5; fewer bear no verdict)\n"
          "  -d, --time T           load of a round: 2s, 500ms (default 2s)\n"
          "      --side NAME=PROG   the program of a side; --before PROG, --after PROG, --pthread PROG "
          "likewise\n"
          "      --pawld-dir DIR    where pawld, pawld-no-backoff and pawld-pthread lie (default: near this "
          "program)\n"
          "      --scenario-dir DIR where the scenarios lie\n"
          "      --pawl PROG        the pawl that is driver and endpoint (default: this program)\n"
          "      --port N           the port of the server under test (default: any free one)\n"
          "  -o, --out PATH         write the report to this file, or to report.json in this directory "
          "(default: report.json)\n"
          "      --json             print the report instead of the table (and write no file without --out)\n"
          "      --keep             keep the servers' configurations and say where\n"
          "  -h, --help             this text\n"
          "\n"
          "Exit status: 0 done; 1 the run failed; 2 wrong usage or scenario; 130 interrupted, 143 "
          "terminated.\n",
          f);
}

static int bad(const char *what, const char *value, const char *expected)
{
    fprintf(stderr, "pawl testbed: %s '%s': expected %s; `pawl testbed --help` tells more\n", what, value,
            expected);
    return -1;
}

static int read_number(unsigned *out, const char *what, const char *value, unsigned low, unsigned high)
{
    char expected[64];
    uint64_t n;

    if (!tb_parse_number(value, low, high, &n)) {
        snprintf(expected, sizeof expected, "a number from %u to %u", low, high);
        return bad(what, value, expected);
    }
    *out = (unsigned)n;
    return 0;
}

static int read_time(unsigned *out_ms, const char *value)
{
    int64_t us;

    if (!tb_parse_duration(value, 10000, INT64_C(3600000000), &us) || us % 1000) {
        return bad("--time", value, "a duration from 10ms to 60m, such as 2s");
    }
    *out_ms = (unsigned)(us / 1000);
    return 0;
}

static int add_override(struct arguments *a, const char *side, size_t side_len, const char *program)
{
    if (a->n_overrides == MAX_OVERRIDES) {
        return bad("--side", side, "at most 16 of these");
    }
    if (!side_len || side_len >= TB_NAME_SIZE || !*program) {
        return bad("--side", side, "NAME=PROGRAM");
    }
    memcpy(a->overrides[a->n_overrides].side, side, side_len);
    a->overrides[a->n_overrides].side[side_len] = 0;
    a->overrides[a->n_overrides++].program = program;
    return 0;
}

enum {
    OPT_SCENARIO = 256,
    OPT_LIST,
    OPT_SIDE,
    OPT_BEFORE,
    OPT_AFTER,
    OPT_PTHREAD,
    OPT_PAWLD_DIR,
    OPT_SCENARIO_DIR,
    OPT_PAWL,
    OPT_PORT,
    OPT_JSON,
    OPT_KEEP
};

static const struct option options[] = {
    {"scenario", required_argument, NULL, OPT_SCENARIO},
    {"list", no_argument, NULL, OPT_LIST},
    {"rounds", required_argument, NULL, 'r'},
    {"time", required_argument, NULL, 'd'},
    {"side", required_argument, NULL, OPT_SIDE},
    {"before", required_argument, NULL, OPT_BEFORE},
    {"after", required_argument, NULL, OPT_AFTER},
    {"pthread", required_argument, NULL, OPT_PTHREAD},
    {"pawld-dir", required_argument, NULL, OPT_PAWLD_DIR},
    {"scenario-dir", required_argument, NULL, OPT_SCENARIO_DIR},
    {"pawl", required_argument, NULL, OPT_PAWL},
    {"port", required_argument, NULL, OPT_PORT},
    {"out", required_argument, NULL, 'o'},
    {"json", no_argument, NULL, OPT_JSON},
    {"keep", no_argument, NULL, OPT_KEEP},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int read_option(struct arguments *a, int option, const char *value)
{
    switch (option) {
    case OPT_SCENARIO:
        if (a->n_scenarios == MAX_SCENARIOS) {
            return bad("--scenario", value, "at most 32 of these");
        }
        a->scenarios[a->n_scenarios++] = value;
        return 0;
    case OPT_LIST:
        a->list = true;
        return 0;
    case 'r':
        return read_number(&a->rounds, "--rounds", value, 1, TB_MAX_ROUNDS);
    case 'd':
        return read_time(&a->time_ms, value);
    case OPT_SIDE:
        return add_override(a, value, strcspn(value, "="), strchr(value, '=') ? strchr(value, '=') + 1 : "");
    case OPT_BEFORE:
        return add_override(a, "before", 6, value);
    case OPT_AFTER:
        return add_override(a, "after", 5, value);
    case OPT_PTHREAD:
        return add_override(a, "pthread", 7, value);
    case OPT_PAWLD_DIR:
        a->pawld_dir = value;
        return 0;
    case OPT_SCENARIO_DIR:
        a->scenario_dir = value;
        return 0;
    case OPT_PAWL:
        a->pawl = value;
        return 0;
    case OPT_PORT:
        return read_number(&a->port, "--port", value, 1, 65535);
    case 'o':
        a->out = value;
        return 0;
    case OPT_JSON:
        a->json = true;
        return 0;
    case OPT_KEEP:
        a->keep = true;
        return 0;
    case 'h':
        a->help = true;
        return 0;
    default:
        fputs("pawl testbed: `pawl testbed --help` lists the options\n", stderr);
        return -1;
    }
}

static int read_arguments(struct arguments *a, int argc, char **argv)
{
    int option;

    *a = (struct arguments){.rounds = 5, .time_ms = 2000};
    optind = 0;
    while ((option = getopt_long(argc, argv, "r:d:o:h", options, NULL)) != -1) {
        if (read_option(a, option, optarg) < 0) {
            return -1;
        }
    }
    if (optind < argc) {
        return bad("argument", argv[optind], "options only");
    }
    if (!a->n_scenarios) {
        a->scenarios[a->n_scenarios++] = "round-robin";
        a->scenarios[a->n_scenarios++] = "queue";
    }
    return 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_scenario(const struct dirent *e)
{
    size_t len = strlen(e->d_name);

    return len > 4 && !strcmp(e->d_name + len - 4, ".cfg");
}

static void list_one(const struct tb_scenario *s)
{
    if (s->n_threads == 1) {
        printf("%-16s %s\n", s->name, s->title);
        return;
    }
    for (size_t i = 0; i < s->n_threads; i++) {
        char label[TB_LABEL_SIZE];

        snprintf(label, sizeof label, "%s/%u", s->name, s->threads[i]);
        printf("%-16s %s; %u threads\n", label, s->title, s->threads[i]);
    }
}

/* Prints every scenario of the directory. */
static int list(const struct arguments *a, struct tb_error *err)
{
    char dir[TB_PATH_SIZE], path[TB_PATH_SIZE + 300];
    struct dirent **entries;
    struct tb_scenario s;
    int n, rc = 0;

    if (tb_find_scenarios(a->scenario_dir, dir, err) < 0) {
        return -1;
    }
    n = scandir(dir, &entries, is_scenario, by_name);
    if (n < 0) {
        return tb_fail(err, "%s: %s", dir, strerror(errno));
    }
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, entries[i]->d_name);
        if (rc == 0 && (rc = tb_scenario_read(path, &s, err)) == 0) {
            list_one(&s);
        }
        free(entries[i]);
    }
    free(entries);
    return rc;
}

/* The file that --scenario's value means, and the number of threads asked for (0: all of its). A path is what
 * has a slash and is there, or ends in .cfg. */
static int find_scenario(const struct arguments *a, const char *value, char path[TB_PATH_SIZE],
                         unsigned *threads, struct tb_error *err)
{
    char dir[TB_PATH_SIZE], name[TB_PATH_SIZE];
    size_t len = strlen(value);
    struct stat st;
    char *slash;

    *threads = 0;
    if ((len > 4 && !strcmp(value + len - 4, ".cfg")) || (strchr(value, '/') && stat(value, &st) == 0)) {
        return snprintf(path, TB_PATH_SIZE, "%s", value) < TB_PATH_SIZE
                   ? 0
                   : tb_misuse(err, "--scenario: the path is too long");
    }
    if (tb_find_scenarios(a->scenario_dir, dir, err) < 0) {
        return -1;
    }
    snprintf(name, sizeof name, "%s", value);
    slash = strchr(name, '/');
    if (slash) {
        uint64_t n;

        *slash = 0;
        if (!tb_parse_number(slash + 1, 1, 4096, &n)) {
            return tb_misuse(
                err, "--scenario %s: expected a name that `pawl testbed --list` prints, or a file", value);
        }
        *threads = (unsigned)n;
    }
    if (snprintf(path, TB_PATH_SIZE, "%s/%s.cfg", dir, name) >= TB_PATH_SIZE || stat(path, &st) < 0) {
        return tb_misuse(err, "no scenario '%s' in %s; `pawl testbed --list` prints those there are", name,
                         dir);
    }
    return 0;
}

static int find_programs(const struct arguments *a, struct tb_case *c, struct tb_error *err)
{
    for (size_t i = 0; i < c->scenario->n_sides; i++) {
        const struct tb_side *side = &c->scenario->sides[i];
        const char *program = side->binary;

        for (size_t o = 0; o < a->n_overrides; o++) {
            if (!strcmp(a->overrides[o].side, side->name)) {
                program = a->overrides[o].program;
            }
        }
        if (tb_find_program(program, a->pawld_dir, c->programs[i], err) < 0) {
            return -1;
        }
    }
    return 0;
}

/* Adds a case for each of a scenario's numbers of threads, or for the one asked for. */
static int add_cases(const struct arguments *a, struct tb_plan *plan, const struct tb_scenario *s,
                     unsigned threads, struct tb_error *err)
{
    size_t before = plan->n_cases;

    for (size_t i = 0; i < s->n_threads; i++) {
        struct tb_case *c = &plan->cases[plan->n_cases];

        if (threads && s->threads[i] != threads) {
            continue;
        }
        if (plan->n_cases == TB_MAX_CASES) {
            return tb_misuse(err, "more than %d cases", TB_MAX_CASES);
        }
        *c = (struct tb_case){.scenario = s, .threads = s->threads[i]};
        snprintf(c->label, sizeof c->label, s->n_threads > 1 ? "%s/%u" : "%s", s->name, s->threads[i]);
        if (find_programs(a, c, err) < 0) {
            return -1;
        }
        plan->n_cases++;
    }
    return plan->n_cases > before
               ? 0
               : tb_misuse(err, "scenario '%s' has no case with %u threads; `--list` prints those there are",
                           s->name, threads);
}

/* A side that no scenario has was meant for something: not to be passed over. */
static int check_overrides(const struct arguments *a, const struct tb_scenario *scenarios, size_t n,
                           struct tb_error *err)
{
    for (size_t o = 0; o < a->n_overrides; o++) {
        bool used = false;

        for (size_t i = 0; i < n; i++) {
            used = used || tb_scenario_side(&scenarios[i], a->overrides[o].side) < scenarios[i].n_sides;
        }
        if (!used) {
            return tb_misuse(err, "no scenario of this run has a side '%s' for %s", a->overrides[o].side,
                             a->overrides[o].program);
        }
    }
    return 0;
}

static int make_plan(const struct arguments *a, struct tb_plan *plan, struct tb_scenario *scenarios,
                     struct tb_error *err)
{
    plan->rounds = a->rounds;
    plan->time_ms = a->time_ms;
    plan->port = a->port;
    plan->keep = a->keep;
    if (a->pawl ? tb_find_program(a->pawl, NULL, plan->pawl, err) : tb_find_self(plan->pawl, err)) {
        return -1;
    }
    for (size_t i = 0; i < a->n_scenarios; i++) {
        char path[TB_PATH_SIZE];
        unsigned threads;

        if (find_scenario(a, a->scenarios[i], path, &threads, err) < 0 ||
            tb_scenario_read(path, &scenarios[i], err) < 0 ||
            add_cases(a, plan, &scenarios[i], threads, err) < 0) {
            return -1;
        }
    }
    return check_overrides(a, scenarios, a->n_scenarios, err);
}

/* The signals that would end this program between a report's first byte and its last. */
static void block_signals(int how)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(how, &set, NULL);
}

static int print_report(const struct arguments *a, const struct tb_result *result, const json_t *report,
                        struct tb_error *err)
{
    int rc = 0;

    if (a->json) {
        rc = json_dumpf(report, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
        fputc('\n', stdout);
    } else {
        tb_report_text(stdout, result);
    }
    if (rc || fflush(stdout) || ferror(stdout)) {
        return tb_fail(err, "the report could not be written to standard output: %s", strerror(errno));
    }
    return 0;
}

static int write_reports(const struct arguments *a, const struct tb_result *result,
                         struct tb_report_file *file, struct tb_error *err)
{
    json_t *report = tb_report_json(result);
    int rc = report ? print_report(a, result, report, err) : tb_fail(err, "out of memory");
    char path[TB_PATH_SIZE];

    if (rc == 0 && file->fd >= 0) {
        snprintf(path, sizeof path, "%s", file->path);
        block_signals(SIG_BLOCK);
        rc = tb_report_write(file, report, err);
        block_signals(SIG_UNBLOCK);
        if (rc == 0) {
            fprintf(a->json ? stderr : stdout, "\nAll rounds, commands and versions: %s\n", path);
        }
    }
    if (*result->workdir) {
        fprintf(stderr, "pawl testbed: the configurations were kept in %s\n", result->workdir);
    }
    json_decref(report);
    return rc;
}

static int run(const struct arguments *a, struct tb_error *err)
{
    struct tb_scenario *scenarios = calloc(a->n_scenarios, sizeof *scenarios);
    struct tb_case *cases = calloc(TB_MAX_CASES, sizeof *cases);
    struct tb_report_file file = {.fd = -1};
    struct base_progress progress;
    struct tb_plan plan = {.cases = cases, .progress = &progress};
    struct tb_result result = {.plan = &plan};
    const char *out = a->out ? a->out : a->json ? NULL : "report.json";
    int rc = -1;

    base_progress_start(&progress, STDERR_FILENO);
    if (!scenarios || !cases) {
        tb_fail(err, "out of memory");
    } else if (make_plan(a, &plan, scenarios, err) == 0 && (!out || tb_report_open(&file, out, err) == 0)) {
        rc = tb_run(&plan, &result, err);
        if (rc == 0) {
            rc = write_reports(a, &result, &file, err);
        } else if (result.n_done && !a->json) { /* what was measured before the fault still holds */
            tb_report_text(stdout, &result);
            fflush(stdout);
        }
    }
    tb_result_free(&result);
    tb_report_close(&file);
    free(cases);
    free(scenarios);
    return rc;
}

int cli_testbed(int argc, char **argv)
{
    struct tb_error *err = calloc(1, sizeof *err);
    struct arguments a;
    int status = TB_EXIT_USAGE;

    if (!err) {
        fputs("pawl testbed: out of memory\n", stderr);
        return TB_EXIT_FAILED;
    }
    if (read_arguments(&a, argc, argv) == 0) {
        if (a.help) {
            usage(stdout);
            status = 0;
        } else {
            status = (a.list ? list(&a, err) : run(&a, err)) < 0 ? err->status : 0;
        }
    }
    if (err->text[0]) {
        fprintf(stderr, "pawl testbed: %s\n", err->text);
    }
    free(err);
    return status;
}
