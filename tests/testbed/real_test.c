/* The testbed with the programs it is made for: pawld, pawl load and pawl endpoint. Whether they fit
 * together, not how fast they are. */
#include "tests/testbed/harness.h"

#include <jansson.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char queue[] = "title = a queue\n"
                            "threads = 2\n"
                            "connections = 40\n"
                            "driver.timeout = 20s\n"
                            "endpoints = 2\n"
                            "endpoint.delay = 1ms\n"
                            "server.maxconn = 4\n"
                            "side = before pawld-no-backoff\n"
                            "side = after pawld\n"
                            "side = pthread pawld-pthread\n"
                            "compare = after/before after/pthread\n";

static double measure(json_t *round, const char *key)
{
    json_t *v = json_object_get(json_object_get(round, "measures"), key);

    if (!json_is_number(v)) {
        fail_msg("no value for %s", key);
    }
    return json_number_value(v);
}

static void check_round(json_t *round)
{
    json_t *driver = json_object_get(round, "driver");

    assert_true(measure(round, "requests_per_s") > 0);
    assert_true(measure(round, "latency_p50_us") >= 1000); /* the endpoints' delay */
    assert_true(measure(round, "latency_max_us") >= measure(round, "latency_p50_us"));
    assert_true(measure(round, "sut_cpu_per_request_us") > 0);
    assert_true(measure(round, "sut_memory_kib") > 0);
    assert_true(measure(round, "errors_connect") < 1 && measure(round, "errors_read") < 1);
    assert_true(measure(round, "errors_write") < 1 && measure(round, "errors_status") < 1);
    assert_true(json_integer_value(json_object_get(json_object_get(driver, "status"), "200")) > 0);
}

static void the_queue_runs_on_every_lock(void **state)
{
    struct harness *h = *state;
    char pthread_side[1200];
    json_error_t e;
    json_t *report, *sides, *side, *round;
    size_t i, r;

    harness_scenario(h, queue);
    snprintf(pthread_side, sizeof pthread_side, "pthread=%s", getenv("PAWLD_PTHREAD"));
    harness_run(h, 0, 0,
                ARGS("--before", getenv("PAWLD_NO_BACKOFF"), "--side", pthread_side, "--time", "300ms",
                     "--rounds", "2"));
    harness_expect_success(h);
    report = json_load_file(h->report, 0, &e);
    assert_non_null(report);
    sides = json_object_get(json_array_get(json_object_get(report, "cases"), 0), "sides");
    assert_int_equal(json_array_size(sides), 3);
    json_array_foreach(sides, i, side)
    {
        assert_non_null(strstr(json_string_value(json_object_get(side, "version")), "pawl"));
        json_array_foreach(json_object_get(side, "rounds"), r, round)
        {
            check_round(round);
        }
    }
    json_decref(report);
}

static void an_interrupted_run_leaves_nothing(void **state)
{
    struct harness *h = *state;

    setenv("HARNESS_SIGNAL_AFTER_MS", "1500", 1);
    harness_run(h, SIGINT, 0, ARGS("--time", "20s"));
    unsetenv("HARNESS_SIGNAL_AFTER_MS");
    harness_expect_failure(h, 130, ARGS("stopped by SIGINT"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_queue_runs_on_every_lock, harness_setup, harness_teardown),
        cmocka_unit_test_setup_teardown(an_interrupted_run_leaves_nothing, harness_setup, harness_teardown),
    };

    harness_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
