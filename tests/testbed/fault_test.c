/* Whatever fails under the testbed (server, endpoint, driver, the user's patience) ends the run with one
 * clear line, and nothing is left running or lying about. */
#include "tests/testbed/harness.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

static void a_sut_that_dies_in_a_round_ends_the_run(void **state)
{
    struct harness *h = *state;

    setenv("FAKE_SUT", "after:dies", 1);
    harness_run(h, 0, 0, ARGS("--time", "500ms"));
    harness_expect_failure(h, 1,
                           PARTS("SUT 'after'", "signal 6", "the warm-up round of small (after)",
                                 "fake sut: assertion failed", "after.cfg"));
}

static void a_sut_that_refuses_its_configuration_ends_the_run(void **state)
{
    struct harness *h = *state;

    setenv("FAKE_SUT", "before:refuses", 1);
    harness_run(h, 0, 0, NO_ARGS);
    harness_expect_failure(h, 1,
                           PARTS("SUT 'before' exited with status 1", "unknown keyword | fatal errors"));
    assert_int_equal(harness_drivers(h), 0);
}

static void a_sut_that_never_listens_ends_the_run(void **state)
{
    struct harness *h = *state;

    setenv("FAKE_SUT", "before:deaf", 1);
    harness_run(h, 0, 0, NO_ARGS);
    harness_expect_failure(h, 1, PARTS("SUT 'before' did not answer on 127.0.0.1:", "within 5.0 s"));
}

static void a_sut_that_answers_an_error_is_not_measured(void **state)
{
    struct harness *h = *state;

    setenv("FAKE_SUT", "after:unwell", 1);
    harness_run(h, 0, 0, NO_ARGS);
    harness_expect_failure(
        h, 1, PARTS("SUT 'after' answered \"HTTP/1.1 503 Service Unavailable\"", "200 was expected"));
}

static void a_sut_that_crashes_when_asked_to_end_ends_the_run(void **state)
{
    struct harness *h = *state;

    setenv("FAKE_SUT", "after:crashes", 1);
    harness_run(h, 0, 0, NO_ARGS);
    harness_expect_failure(h, 1, PARTS("SUT 'after' was killed by signal 6"));
}

static void a_sut_that_ignores_sigterm_is_killed_and_said_so(void **state)
{
    struct harness *h = *state;

    setenv("FAKE_SUT", "after:stubborn", 1);
    harness_run(h, 0, 0, ARGS("--rounds", "1"));
    harness_expect_success(h);
    has(h->out, "note: after did not end within 3 s of SIGTERM in 2 rounds and was killed.");
}

static void what_a_sut_left_in_another_session_is_killed(void **state)
{
    struct harness *h = *state;

    setenv("FAKE_SUT", "after:forks", 1);
    harness_run(h, 0, 0, NO_ARGS);
    harness_expect_success(h);
}

static void a_program_that_is_not_there_is_told_before_anything_starts(void **state)
{
    struct harness *h = *state;

    harness_run(h, 0, 0, ARGS("--after", "/nonexistent/pawld"));
    harness_expect_failure(h, 1, PARTS("/nonexistent/pawld: no executable program there", "--after"));
    assert_int_equal(harness_drivers(h), 0);
}

static void a_program_that_cannot_run_ends_the_run(void **state)
{
    struct harness *h = *state;

    harness_run(h, 0, 0, ARGS("--after", "/etc/passwd"));
    harness_expect_failure(h, 1, PARTS("/etc/passwd: no executable program there"));
}

static void an_endpoint_that_cannot_start_ends_the_run(void **state)
{
    struct harness *h = *state;

    setenv("FAKE_ENDPOINT", "fails:1", 1);
    harness_run(h, 0, 0, NO_ARGS);
    harness_expect_failure(h, 1,
                           PARTS("endpoint ", "exited with status 3", "no memory for | the second line"));
}

static void an_endpoint_that_dies_in_a_round_ends_the_run(void **state)
{
    struct harness *h = *state;

    setenv("FAKE_ENDPOINT", "dies:0", 1);
    harness_run(h, 0, 0, ARGS("--time", "1000ms"));
    harness_expect_failure(h, 1,
                           PARTS("endpoint ", "exited with status 4", "fake endpoint: gone", "of small"));
}

static void an_endpoint_that_says_something_else_ends_the_run(void **state)
{
    struct harness *h = *state;

    setenv("FAKE_ENDPOINT", "babbles:0", 1);
    harness_run(h, 0, 0, NO_ARGS);
    harness_expect_failure(
        h, 1, PARTS("endpoint ", "serving on port http", "\"listening on ADDRESS:PORT\" was expected"));
}

static void an_endpoint_that_never_listens_ends_the_run(void **state)
{
    struct harness *h = *state;

    setenv("FAKE_ENDPOINT", "silent:1", 1);
    harness_run(h, 0, 0, NO_ARGS);
    harness_expect_failure(h, 1, PARTS("did not say that it listens within 5 s"));
}

static void a_driver_that_prints_garbage_ends_the_run(void **state)
{
    struct harness *h = *state;

    setenv("FAKE_DRIVER", "garbage:2", 1);
    harness_run(h, 0, 0, NO_ARGS);
    harness_expect_failure(h, 1, PARTS("the driver: its report is no JSON object", "Running 2s test"));
    assert_int_equal(harness_drivers(h), 3);
}

static void a_driver_whose_report_is_no_object_ends_the_run(void **state)
{
    struct harness *h = *state;

    setenv("FAKE_DRIVER", "list", 1);
    harness_run(h, 0, 0, NO_ARGS);
    harness_expect_failure(h, 1, PARTS("the driver: its report is no JSON object"));
}

static void a_driver_whose_report_lacks_a_figure_ends_the_run(void **state)
{
    struct harness *h = *state;

    setenv("FAKE_DRIVER", "lacking", 1);
    harness_run(h, 0, 0, NO_ARGS);
    harness_expect_failure(h, 1, PARTS("the driver: its report has no number 'errors.connect'"));
}

static void a_driver_that_dies_ends_the_run(void **state)
{
    struct harness *h = *state;

    setenv("FAKE_DRIVER", "killed:1", 1);
    harness_run(h, 0, 0, NO_ARGS);
    harness_expect_failure(h, 1, PARTS("the driver was killed by signal 9", "fake driver: about to fail"));
}

static void a_fault_leaves_what_was_measured_before_it(void **state)
{
    struct harness *h = *state;

    harness_scenario(h, "title = t\nthreads = 1 2\nconnections = 4\nendpoints = 2\nside = before "
                        "before-program\nside = after after-program\n"
                        "compare = after/before\n");
    setenv("FAKE_DRIVER", "killed:7", 1); /* each case takes six, so this is the second's */
    harness_run(h, 0, 0, NO_ARGS);
    harness_expect_failure(h, 1, PARTS("the driver was killed by signal 9"));
    has(h->out, "/1: t; 1 SUT thread");
    assert_null(strstr(h->out, "/2: t"));
}

static void a_driver_that_says_nothing_ends_the_run(void **state)
{
    struct harness *h = *state;

    setenv("FAKE_DRIVER", "silent", 1);
    harness_run(h, 0, 0, NO_ARGS);
    harness_expect_failure(h, 1, PARTS("the driver exited with status 0", "it said: nothing"));
}

static void a_round_without_any_request_ends_the_run(void **state)
{
    struct harness *h = *state;

    setenv("FAKE_DRIVER", "nothing:3", 1);
    harness_run(h, 0, 0, NO_ARGS);
    harness_expect_failure(h, 1,
                           PARTS("the driver completed no request in round 1 of 2 of small", "time-out 7"));
}

static void sigint_in_a_round_leaves_nothing(void **state)
{
    struct harness *h = *state;

    harness_run(h, SIGINT, 3, ARGS("--time", "600ms"));
    harness_expect_failure(h, 130, PARTS("stopped by SIGINT in round 1 of 2 of small ("));
}

static void sigterm_in_a_round_leaves_nothing(void **state)
{
    struct harness *h = *state;

    harness_run(h, SIGTERM, 1, ARGS("--time", "10000ms"));
    harness_expect_failure(h, 143, PARTS("stopped by SIGTERM in the warm-up round of small (before)"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, harness_setup, harness_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_sut_that_dies_in_a_round_ends_the_run),
        TEST(a_sut_that_refuses_its_configuration_ends_the_run),
        TEST(a_sut_that_never_listens_ends_the_run),
        TEST(a_sut_that_answers_an_error_is_not_measured),
        TEST(a_sut_that_crashes_when_asked_to_end_ends_the_run),
        TEST(a_sut_that_ignores_sigterm_is_killed_and_said_so),
        TEST(what_a_sut_left_in_another_session_is_killed),
        TEST(a_program_that_is_not_there_is_told_before_anything_starts),
        TEST(a_program_that_cannot_run_ends_the_run),
        TEST(an_endpoint_that_cannot_start_ends_the_run),
        TEST(an_endpoint_that_dies_in_a_round_ends_the_run),
        TEST(an_endpoint_that_says_something_else_ends_the_run),
        TEST(an_endpoint_that_never_listens_ends_the_run),
        TEST(a_driver_that_prints_garbage_ends_the_run),
        TEST(a_driver_whose_report_is_no_object_ends_the_run),
        TEST(a_driver_whose_report_lacks_a_figure_ends_the_run),
        TEST(a_driver_that_dies_ends_the_run),
        TEST(a_fault_leaves_what_was_measured_before_it),
        TEST(a_driver_that_says_nothing_ends_the_run),
        TEST(a_round_without_any_request_ends_the_run),
        TEST(sigint_in_a_round_leaves_nothing),
        TEST(sigterm_in_a_round_leaves_nothing),
    };

    harness_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
