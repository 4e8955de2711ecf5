/* `pawl bench` as a user calls it: options, lists, the JSON report, plots, plock from a directory. The
 * subcommand runs in a child, with its said.output in files. */
#include "bench/lock/locks.h"
#include "bench/lock/sample.h"
#include "cli/cli.h"
#include "tests/command.h"

#include <jansson.h>

static struct command_said said;
static char dir[64];

/* Runs `pawl bench` with these arguments, NULL at the end; returns its exit status. */
static int bench(const char *const *args)
{
    return command_run(cli_bench, "pawl bench", args, &said);
}

static void write_file(const char *name, const char *text)
{
    char path[128];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static bool take_file(const char *name, const char *needle)
{
    static char text[65536];
    char path[128];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "r");
    if (!f) {
        return false;
    }
    command_slurp(f, text, sizeof text);
    unlink(path);
    return strstr(text, needle) != NULL;
}

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/pawl-bench-test-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int remove_dir(void **state)
{
    (void)state;
    return rmdir(dir); /* fails where something was left there */
}

static void wrong_usage_is_status_2_with_a_reason(void **state)
{
    static const char *const cases[][7] = {
        {"--case", "w100"},
        {"--case", ""},
        {"--case", "w100-tiny,"},
        {"--case", "w100-tiny/0"},
        {"--case", "w100-tiny/2x"},
        {"--case", "sleep/5"},
        {"--lock", "pawl,nothing"},
        {"--lock", ""},
        {"--threads", "0"},
        {"--threads", "1025"},
        {"--threads", "2,,8"},
        {"--threads", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"},
        {"--rounds", "0"},
        {"--rounds", "101"},
        {"--rounds", "+5"},
        {"--time", "0"},
        {"--time", "5"},
        {"--time", "-1s"},
        {"--time", "1.s"},
        {"--time", "nan"},
        {"--time", "601s"},
        {"--warmup", "1h"},
        {"--think", "1s"},
        {"--section", "5 us"},
        {"--writes", "101"},
        {"--writes", "10", "--case", "w100-tiny"},
        {"--section", "1us", "--case", "w100-tiny"},
        {"--think", "1us", "--case", "w100-tiny"},
        {"--quick", "--full"},
        {"--nonsense"},
        {"extra"},
        {"--json"},
        {"--case", "sleep", "--lock", "none"},
        {"--case", "read-held", "--lock", "mutex,spinlock"},
        {"--case", "uncontended,sleep", "--lock", "atomics"},
        {"--case", "w100-tiny", "--lock", "atomics", "--threads", "1"},
        {"--case", "custom", "--lock", "atomics"},
        {"--plock", "/nonexistent"},
        {"--plock", "/nonexistent", "--list"},
        {"--plock", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = bench(cases[i]);

        if (status != 2 || !said.errors[0] || said.output[0]) {
            print_error("accepted (%d): %s %s\n", status, cases[i][0], cases[i][1] ? cases[i][1] : "");
        }
        assert_int_equal(status, 2);
        assert_true(said.errors[0]);
        assert_string_equal(said.output, "");
    }
}

static void help_and_list_tell_what_there_is(void **state)
{
    static const char *const help[] = {"--help", NULL}, *const list[] = {"--list", NULL};
    struct bench_left_out out[BENCH_MAX_LEFT_OUT];
    size_t n;
    const struct bench_lock *const *locks = bench_locks(&n);

    (void)state;
    assert_int_equal(bench(help), 0);
    assert_non_null(strstr(said.output, "--plock"));
    assert_int_equal(bench(list), 0);
    for (size_t i = 0; i < n; i++) {
        assert_non_null(strstr(said.output, locks[i]->name));
    }
    assert_non_null(strstr(said.output, "starve-reader"));
    n = bench_locks_left_out(out);
    for (size_t i = 0; i < n; i++) {
        assert_non_null(strstr(said.output, out[i].name));
        assert_non_null(strstr(said.output, out[i].why));
    }
}

static json_t *get(json_t *o, const char *key)
{
    json_t *v = json_object_get(o, key);

    if (!v) {
        print_error("no %s\n", key);
    }
    assert_non_null(v);
    return v;
}

/* A measure's object: a median, its interval, the rounds. */
static void check_figure(json_t *figures, const char *key, size_t rounds)
{
    json_t *f = get(figures, key);

    assert_true(json_is_number(get(f, "median")));
    assert_int_equal(json_array_size(get(f, "rounds")), rounds);
    assert_true(json_is_number(get(f, "low")) && json_is_number(get(f, "high")));
}

static void check_row(json_t *row)
{
    json_t *figures = get(row, "figures");

    assert_int_equal(json_integer_value(get(row, "broken")), 0);
    check_figure(figures, "ops_per_s", 2);
    check_figure(figures, "threads_unserved", 2);
    check_figure(figures, "cores", 2);
    assert_null(json_object_get(figures, "read_ns"));
}

static void the_json_report_is_whole_and_nothing_else_is_printed(void **state)
{
    static const char *const args[] = {"--case",    "custom",  "--writes", "50",     "--section",
                                       "200ns",     "--think", "1us",      "--lock", "pawl,none,atomics",
                                       "--threads", "2",       "--rounds", "2",      "--warmup",
                                       "0",         "--time",  "20ms",     "--json", "-",
                                       NULL};
    json_error_t e;
    json_t *j, *point, *machine;

    (void)state;
    assert_int_equal(bench(args), 0);
    assert_string_equal(said.errors, "");
    j = json_loads(said.output, JSON_REJECT_DUPLICATES, &e);
    assert_non_null(j);
    assert_int_equal(json_integer_value(get(j, "format")), 1);
    assert_int_equal(json_array_size(get(j, "locks")), 3);
    machine = get(j, "machine");
    assert_true(json_integer_value(get(machine, "cores")) > 0);
    assert_true(*json_string_value(get(machine, "compiler")));
    assert_int_equal(json_array_size(get(j, "points")), 1);
    point = json_array_get(get(j, "points"), 0);
    assert_int_equal(json_integer_value(get(point, "threads")), 2);
    assert_int_equal(json_integer_value(get(point, "section_ns")), 200);
    assert_int_equal(json_integer_value(get(point, "think_ns")), 1000);
    assert_true(json_number_value(get(point, "write_percent")) > 49);
    assert_int_equal(json_array_size(get(point, "rows")), 3);
    check_row(json_array_get(get(point, "rows"), 0));
    check_row(json_array_get(get(point, "rows"), 1));
    assert_true(json_is_string(get(json_array_get(get(point, "rows"), 2), "left_out")));
    json_decref(j);
}

static void the_table_has_a_row_for_each_lock_and_tells_who_is_left_out(void **state)
{
    static const char *const args[] = {"--case", "read-held", "--lock", "pawl,mutex,rwlock", "--rounds", "1",
                                       "--time", "5ms",       NULL};

    (void)state;
    assert_int_equal(bench(args), 0);
    assert_string_equal(said.errors, ""); /* no progress where nobody looks */
    assert_non_null(strstr(said.output, "\n  pawl "));
    assert_non_null(strstr(said.output, "\n  rwlock "));
    assert_non_null(strstr(said.output, "left out (has no readers): mutex\n"));
    assert_non_null(strstr(said.output, "plock32, plock64"));
}

static void a_case_that_no_lock_asked_for_fits_is_refused_with_those_that_do(void **state)
{
    static const char *const args[] = {"--case", "sleep", "--lock", "atomics,none", NULL};
    static const char *const one_writer[] = {"--case", "sleep", "--lock", "ck-swlock", NULL};

    (void)state;
    assert_int_equal(bench(args), 2);
    assert_non_null(
        strstr(said.errors, "nothing to measure in sleep: atomics: is no lock; none: nobody waits for it"));
    assert_non_null(strstr(said.errors, "with --lock: pawl, "));
    assert_non_null(strstr(said.errors, " mutex, "));
    assert_null(strstr(said.errors, "pawl-bare"));
    assert_string_equal(said.output, "");
    assert_int_equal(bench(one_writer), 2);
    if (bench_lock_find("ck-swlock")) {
        assert_non_null(strstr(said.errors, "takes one writing thread only"));
        assert_null(strstr(said.errors, "ck-swlock, "));
    }
}

/* Whatever was not asked for by name is left out where it does not fit. */
static void cases_nobody_named_are_left_out_where_no_lock_fits(void **state)
{
    const char *args[] = {"--lock", "atomics", "--rounds", "1",  "--time", "5ms",
                          "--json", "-",       NULL,       NULL, NULL};
    size_t measured = 0, n;
    json_t *j, *points;

    (void)state;
    assert_int_equal(bench(args), 0);
    assert_string_equal(said.errors, "");
    j = json_loads(said.output, JSON_REJECT_DUPLICATES, NULL);
    points = get(j, "points");
    n = json_array_size(points);
    assert_true(n > 5);
    for (size_t i = 0; i < n; i++) {
        json_t *row = json_array_get(get(json_array_get(points, i), "rows"), 0);

        measured += json_object_get(row, "figures") != NULL;
        assert_true(json_object_get(row, "figures") || json_is_string(get(row, "left_out")));
    }
    assert_int_equal(measured, 1);
    json_decref(j);
    args[6] = NULL;
    assert_int_equal(bench(args), 0);
    assert_non_null(strstr(
        said.output, "\n  nothing measured: none of the locks fits\n  left out (is no lock): atomics\n"));
    args[6] = "--plot";
    args[7] = dir;
    if (system("gnuplot --version >/dev/null 2>&1") == 0) { /* it fails where there is nothing to draw */
        assert_int_equal(bench(args), 0);
        assert_true(take_file("plots.gp", "uncontended.svg"));
        assert_true(take_file("uncontended.svg", "</svg>"));
    }
}

static void a_report_that_cannot_be_written_fails_before_anything_is_measured(void **state)
{
    static const char *const args[] = {"--case", "uncontended", "--json", "/nonexistent/x.json", NULL};

    (void)state;
    assert_int_equal(bench(args), 1);
    assert_non_null(strstr(said.errors, "/nonexistent/x.json"));
    assert_null(strstr(said.output, "uncontended:"));
}

/* A stand-in for plock.h with the names it has: a spin lock. */
static const char stand_in[] =
    "#include \"atomic-ops.h\"\n"
    "#define pl_take_r(l) take(l)\n#define pl_drop_r(l) drop(l)\n#define pl_take_s(l) take(l)\n"
    "#define pl_drop_s(l) drop(l)\n#define pl_take_w(l) take(l)\n#define pl_drop_w(l) drop(l)\n"
    "#define pl_take_a(l) take(l)\n#define pl_drop_a(l) drop(l)\n";
static const char stand_in_ops[] =
    "#include <sched.h>\n"
    "#define take(l) do { while (__atomic_exchange_n(l, 1, __ATOMIC_ACQUIRE)) sched_yield(); } while (0)\n"
    "#define drop(l) __atomic_store_n(l, 0, __ATOMIC_RELEASE)\n";

static void plock_is_compiled_from_the_directory_named(void **state)
{
    const char *const args[] = {"--plock",         dir,         "--case",   "w100-tiny", "--lock",
                                "plock32,plock64", "--threads", "2",        "--rounds",  "1",
                                "--time",          "20ms",      "--warmup", "0",         NULL};

    (void)state;
    write_file("plock.h", stand_in);
    write_file("atomic-ops.h", stand_in_ops);
    assert_int_equal(bench(args), 0);
    assert_non_null(strstr(said.output, "\n  plock32 "));
    assert_non_null(strstr(said.output, "\n  plock64 "));
    assert_null(strstr(said.output, "no --plock DIR"));
    assert_true(take_file("plock.h", "take"));
    assert_true(take_file("atomic-ops.h", "take"));
}

static void plock_is_listed_and_left_alone_without_a_compiler(void **state)
{
    const char *const list[] = {"--plock", dir, "--list", NULL};
    const char *const other[] = {"--plock", dir,   "--lock",   "pawl", "--case", "uncontended",
                                 "--time",  "5ms", "--rounds", "1",    NULL};

    (void)state;
    write_file("plock.h", "#error this is no lock\n");
    write_file("atomic-ops.h", "");
    setenv("CC", "/nonexistent/cc", 1);
    assert_int_equal(bench(list), 0);
    assert_non_null(strstr(said.output, "\n  plock32 "));
    assert_non_null(strstr(said.output, "\n  plock64 "));
    assert_null(strstr(said.output, "no --plock DIR"));
    assert_int_equal(bench(other), 0);
    unsetenv("CC");
    take_file("plock.h", "");
    take_file("atomic-ops.h", "");
}

static void a_plock_that_does_not_compile_is_a_clear_error(void **state)
{
    const char *const args[] = {"--plock", dir, "--lock", "plock64", "--case", "uncontended", NULL};

    (void)state;
    assert_int_equal(bench(args), 2); /* the directory is empty */
    assert_non_null(strstr(said.errors, "plock.h and atomic-ops.h"));
    write_file("plock.h", "#error this is no lock\n");
    write_file("atomic-ops.h", "");
    assert_int_equal(bench(args), 1);
    assert_non_null(strstr(said.errors, "this is no lock"));
    setenv("CC", "/nonexistent/cc", 1);
    assert_int_equal(bench(args), 1);
    unsetenv("CC");
    assert_non_null(strstr(said.errors, "/nonexistent/cc"));
    take_file("plock.h", "");
    take_file("atomic-ops.h", "");
}

static void plots_are_drawn_by_gnuplot_and_missed_before_anything_is_measured(void **state)
{
    const char *const args[] = {"--plot",   dir,          "--case",    "w100-tiny,uncontended",
                                "--lock",   "pawl,mutex", "--threads", "1,2",
                                "--rounds", "1",          "--time",    "20ms",
                                "--warmup", "0",          NULL};
    const char *before = getenv("PATH");
    char *path = strdup(before ? before : "/usr/bin:/bin");
    bool there = system("gnuplot --version >/dev/null 2>&1") == 0;

    (void)state;
    assert_non_null(path);
    setenv("PATH", "/nonexistent:/nonexistent", 1);
    assert_int_equal(bench(args), 1);
    setenv("PATH", path, 1);
    free(path);
    assert_non_null(strstr(said.errors, "gnuplot"));
    assert_string_equal(said.output, "");
    if (!there) {
        skip();
    }
    assert_int_equal(bench(args), 0);
    assert_true(take_file("plots.gp", "w100-tiny-2.svg"));
    assert_true(take_file("w100-tiny-1.svg", "</svg>"));
    assert_true(take_file("w100-tiny-2.svg", "mutex"));
    assert_true(take_file("w100-tiny.svg", "threads"));
    assert_true(take_file("uncontended.svg", "</svg>"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_usage_is_status_2_with_a_reason),
        cmocka_unit_test(help_and_list_tell_what_there_is),
        cmocka_unit_test(the_json_report_is_whole_and_nothing_else_is_printed),
        cmocka_unit_test(the_table_has_a_row_for_each_lock_and_tells_who_is_left_out),
        cmocka_unit_test(a_report_that_cannot_be_written_fails_before_anything_is_measured),
        cmocka_unit_test(plock_is_compiled_from_the_directory_named),
        cmocka_unit_test(a_case_that_no_lock_asked_for_fits_is_refused_with_those_that_do),
        cmocka_unit_test(cases_nobody_named_are_left_out_where_no_lock_fits),
        cmocka_unit_test(plock_is_listed_and_left_alone_without_a_compiler),
        cmocka_unit_test(a_plock_that_does_not_compile_is_a_clear_error),
        cmocka_unit_test(plots_are_drawn_by_gnuplot_and_missed_before_anything_is_measured),
    };

    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
