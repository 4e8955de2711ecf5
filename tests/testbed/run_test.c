/* The testbed as its users meet it: what it prints and writes when all goes well, and one clear line with
 * nothing left behind when something does not. */
#include "tests/testbed/harness.h"

#include <jansson.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#define ARGS(...)  ((const char *const[]){__VA_ARGS__, NULL})
#define NO_ARGS    ((const char *const[]){NULL})
#define PARTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void has(const char *text, const char *part)
{
    if (!strstr(text, part)) {
        fail_msg("\"%s\" is missing in:\n%s", part, text);
    }
}

static json_t *read_report(const char *path)
{
    json_error_t e;
    json_t *report = json_load_file(path, JSON_REJECT_DUPLICATES, &e);

    if (!report) {
        fail_msg("%s:%d: %s", path, e.line, e.text);
    }
    return report;
}

static void a_run_prints_a_row_for_every_measure_and_a_column_for_every_side(void **state)
{
    static const char *const rows[] = {
        "small: a small case; 1 SUT thread; 2 rounds of 50ms",
        "after/before (95 % CI)",
        "requests/s ",
        "latency  p50 ",
        "\n         p90 ",
        "\n         p99 ",
        "\n         p99.9 ",
        "\n         max ",
        "\n         avg ",
        "\n         stdev ",
        "\nSUT CPU (of 1 cores)",
        "\nSUT CPU per request",
        "\n         user ",
        "\n         system ",
        "\nSUT memory (PSS)",
        "errors   connect",
        "\n         read ",
        "\n         write ",
        "\n         timeout ",
        "\n         status ",
        /* the fake's figures */ "20 000       20 000        1.00 (1.00 to 1.00)",
        "140.00us",
        "2.50ms",
        "12.25us",
    };
    struct harness *h = *state;

    harness_run(h, 0, 0, NO_ARGS);
    harness_expect_success(h);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        has(h->out, rows[i]);
    }
    assert_int_equal(harness_drivers(h), 6); /* two sides, a warm-up and two rounds */
}

static void the_report_has_every_round_in_alternating_order(void **state)
{
    struct harness *h = *state;
    json_t *report, *test_case, *side, *rounds, *ratio;
    double rate, low;

    harness_run(h, 0, 0, ARGS("--rounds", "4"));
    harness_expect_success(h);
    report = read_report(h->report);
    assert_int_equal(json_integer_value(json_object_get(report, "format")), 1);
    test_case = json_array_get(json_object_get(report, "cases"), 0);
    for (size_t s = 0; s < 2; s++) {
        side = json_array_get(json_object_get(test_case, "sides"), s);
        assert_string_equal(json_string_value(json_object_get(side, "version")), "fake 1.2.3");
        rounds = json_object_get(side, "rounds");
        assert_int_equal(json_array_size(rounds), 4);
        for (size_t r = 0; r < 4; r++) { /* the warm-up ran AB, so round 1 runs BA */
            json_t *round = json_array_get(rounds, r);

            assert_int_equal(json_integer_value(json_object_get(round, "place")), (s + r + 1) % 2);
            assert_int_equal(
                json_integer_value(json_object_get(json_object_get(round, "driver"), "requests")), 1000);
            rate = json_real_value(json_object_get(json_object_get(round, "measures"), "requests_per_s"));
            assert_true(rate > 19999 && rate < 20001);
        }
    }
    ratio = json_object_get(
        json_object_get(json_array_get(json_object_get(test_case, "comparisons"), 0), "ratios"),
        "requests_per_s");
    low = json_real_value(json_object_get(ratio, "low"));
    assert_true(low > 0.999 && low < 1.001);
    json_decref(report);
}

static void equal_sides_show_no_difference(void **state)
{
    struct harness *h = *state;

    harness_run(h, 0, 0, ARGS("--rounds", "5"));
    harness_expect_success(h);
    has(h->out, "=> no difference found between after and before (requests/s 1.00 to 1.00");
}

static void few_rounds_bear_no_verdict(void **state)
{
    struct harness *h = *state;

    harness_run(h, 0, 0, ARGS("--rounds", "1"));
    harness_expect_success(h);
    has(h->out, "=> 1 round of after and before: too few for a verdict");
}

static void json_alone_stands_on_standard_output(void **state)
{
    struct harness *h = *state;
    char path[300];
    json_t *report;

    harness_run(h, 0, 0, ARGS("--json"));
    assert_int_equal(h->status, 0);
    snprintf(path, sizeof path, "%s/out", h->dir);
    report = read_report(path);
    assert_string_equal(
        json_string_value(json_object_get(json_array_get(json_object_get(report, "cases"), 0), "name")),
        "small");
    json_decref(report);
}

static void every_number_of_threads_is_a_case_of_its_own(void **state)
{
    struct harness *h = *state;

    harness_scenario(
        h, "title = t\nthreads = 1 3\nconnections = 2\nendpoints = 1\nside = before x\nside = after y\n");
    harness_run(h, 0, 0, ARGS("--rounds", "1"));
    harness_expect_success(h);
    has(h->out, "small/1: t; 1 SUT thread;");
    has(h->out, "small/3: t; 3 SUT threads;");
    assert_int_equal(harness_drivers(h), 8);
}

static void three_sides_are_compared_as_the_scenario_says(void **state)
{
    struct harness *h = *state;
    const char *sut = getenv("FAKE_SUT_PROGRAM");
    char side[600];

    harness_scenario(
        h, "title = t\nthreads = 1\nconnections = 2\nendpoints = 1\nside = before x\nside = after y\n"
           "side = third z\ncompare = after/before after/third\n");
    snprintf(side, sizeof side, "third=%s", sut);
    harness_run(h, 0, 0, ARGS("--side", side));
    harness_expect_success(h);
    has(h->out, "before        after        third     after/before (95 % CI)      after/third (95 % CI)");
}

static void the_servers_configurations_can_be_kept(void **state)
{
    struct harness *h = *state;
    char command[600], line[256] = "";
    FILE *p;

    harness_run(h, 0, 0, ARGS("--keep"));
    assert_int_equal(h->status, 0);
    has(h->err, "the configurations were kept in ");
    snprintf(command, sizeof command, "grep -c 'server e[12] 127.0.0.1:' %s/tmp/pawl-testbed-*/after.cfg",
             h->dir);
    p = popen(command, "r");
    assert_non_null(fgets(line, sizeof line, p));
    pclose(p);
    assert_string_equal(line, "2\n");
}

static void requests_that_failed_are_data(void **state)
{
    struct harness *h = *state;

    setenv("FAKE_DRIVER", "errors", 1);
    harness_run(h, 0, 0, NO_ARGS);
    harness_expect_success(h);
    has(h->out, "timeout                  14           14");
    has(h->out, "with 14 errors in after, 14 in before");
}

static int listener(bool shared, unsigned *port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    if (shared) {
        assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on), 0);
    }
    assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    *port = ntohs(a.sin_port);
    return fd;
}

static void a_taken_port_ends_the_run_before_anything_starts(void **state)
{
    struct harness *h = *state;

    for (int shared = 0; shared < 2; shared++) {
        char text[16], expected[64];
        unsigned port;
        int fd = listener(shared, &port);

        snprintf(text, sizeof text, "%u", port);
        snprintf(expected, sizeof expected, "port %u on 127.0.0.1: Address already in use", port);
        harness_run(h, 0, 0, ARGS("--port", text));
        harness_expect_failure(h, 1, PARTS(expected, "stop what listens there"));
        assert_int_equal(harness_drivers(h), 0);
        close(fd);
    }
}

static void a_given_port_is_used(void **state)
{
    struct harness *h = *state;
    char text[16];
    unsigned port;

    close(listener(false, &port));
    snprintf(text, sizeof text, "%u", port);
    harness_run(h, 0, 0, ARGS("--port", text));
    harness_expect_success(h);
}

static void a_report_that_cannot_be_written_is_told_before_anything_starts(void **state)
{
    struct harness *h = *state;

    harness_run(h, 0, 0, ARGS("--out", "/nonexistent/report.json"));
    harness_expect_failure(
        h, 1, PARTS("report /nonexistent/report.json: No such file or directory", "name a place"));
    assert_int_equal(harness_drivers(h), 0);
}

static void a_program_of_any_name_is_reported(void **state)
{
    struct harness *h = *state;
    const char *program = getenv("FAKE_SUT_PROGRAM");
    char path[300];
    json_t *report;
    json_error_t e;

    if (!program) {
        fail_msg("FAKE_SUT_PROGRAM is not set");
        return;
    }

    snprintf(path, sizeof path, "%s/caf\xe9", h->dir); /* no UTF-8 */
    assert_int_equal(symlink(program, path), 0);
    harness_run(h, 0, 0, ARGS("--after", path, "--json"));
    assert_int_equal(h->status, 0);
    report = json_loads(h->out, 0, &e);
    assert_non_null(report);
    json_decref(report);
    report = json_load_file(h->report, 0, &e);
    assert_non_null(report);
    json_decref(report);
    assert_int_equal(unlink(path), 0);
}

static void a_full_disk_for_the_report_fails_after_the_table(void **state)
{
    struct harness *h = *state;

    harness_run(h, 0, 0, ARGS("--out", "/dev/full"));
    harness_expect_failure(h, 1, PARTS("report /dev/full: No space left on device"));
    has(h->out, "requests/s");
}

static void a_run_that_fails_leaves_the_last_report_alone(void **state)
{
    struct harness *h = *state;
    char line[16] = "";
    FILE *f = fopen(h->report, "w");

    assert_true(fputs("{}", f) >= 0);
    fclose(f);
    setenv("FAKE_SUT", "after:dies", 1);
    harness_run(h, 0, 0, NO_ARGS);
    harness_expect_failure(h, 1, PARTS("SUT 'after'"));
    f = fopen(h->report, "r");
    assert_non_null(fgets(line, sizeof line, f));
    fclose(f);
    assert_string_equal(line, "{}");
}

static void a_tmpdir_that_is_not_there_ends_the_run(void **state)
{
    struct harness *h = *state;

    setenv("HARNESS_TMPDIR", "/nonexistent", 1);
    harness_run(h, 0, 0, NO_ARGS);
    unsetenv("HARNESS_TMPDIR");
    harness_expect_failure(h, 1, PARTS("cannot make a directory in /nonexistent", "TMPDIR"));
}

static void a_scenario_that_cannot_be_read_is_wrong_usage(void **state)
{
    struct harness *h = *state;

    harness_scenario(h, "title = t\nthread = 1\n");
    harness_run(h, 0, 0, NO_ARGS);
    harness_expect_failure(h, 2, PARTS("small.cfg:2:1: unknown key 'thread'"));
}

static void wrong_options_are_wrong_usage(void **state)
{
    static const char *const wrong[][2] = {
        {"--rounds", "0"}, {"--rounds", "101"},        {"--time", "2"},
        {"--time", "1ms"}, {"--port", "65536"},        {"--side", "nothing"},
        {"--side", "x="},  {"--pthread", "/bin/true"}, {"--scenario", "no/such"},
    };
    struct harness *h = *state;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        harness_run(h, 0, 0, ARGS(wrong[i][0], wrong[i][1]));
        if (h->status != 2) {
            fail_msg("%s %s: status %d", wrong[i][0], wrong[i][1], h->status);
        }
        assert_int_equal(harness_drivers(h), 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, harness_setup, harness_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_run_prints_a_row_for_every_measure_and_a_column_for_every_side),
        TEST(the_report_has_every_round_in_alternating_order),
        TEST(equal_sides_show_no_difference),
        TEST(few_rounds_bear_no_verdict),
        TEST(json_alone_stands_on_standard_output),
        TEST(every_number_of_threads_is_a_case_of_its_own),
        TEST(three_sides_are_compared_as_the_scenario_says),
        TEST(the_servers_configurations_can_be_kept),
        TEST(requests_that_failed_are_data),
        TEST(a_taken_port_ends_the_run_before_anything_starts),
        TEST(a_given_port_is_used),
        TEST(a_report_that_cannot_be_written_is_told_before_anything_starts),
        TEST(a_program_of_any_name_is_reported),
        TEST(a_full_disk_for_the_report_fails_after_the_table),
        TEST(a_run_that_fails_leaves_the_last_report_alone),
        TEST(a_tmpdir_that_is_not_there_ends_the_run),
        TEST(a_scenario_that_cannot_be_read_is_wrong_usage),
        TEST(wrong_options_are_wrong_usage),
    };

    harness_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
