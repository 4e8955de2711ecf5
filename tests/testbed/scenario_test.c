/* Scenario files: what they may say, and how they are refused. */
#include "testbed/scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BASE             \
    "title = t\n"        \
    "threads = 2\n"      \
    "connections = 10\n" \
    "endpoints = 4\n"
#define SIDES                          \
    "side = before pawld-no-backoff\n" \
    "side = after pawld\n"

static struct tb_scenario s;
static struct tb_error err;

static int parse(const char *text)
{
    err = (struct tb_error){.status = 0};
    return tb_scenario_parse(text, strlen(text), "dir/case.cfg", &s, &err);
}

static void refused(const char *text, const char *message)
{
    if (parse(text) == 0) {
        fail_msg("accepted: %s", text);
    }
    assert_int_equal(err.status, TB_EXIT_USAGE);
    if (!strstr(err.text, message)) {
        fail_msg("\"%s\" is missing in \"%s\"", message, err.text);
    }
}

static void every_key_is_read(void **state)
{
    (void)state;
    assert_int_equal(parse("# a comment\n\n"
                           "  title\t=  two  words # and more  \n"
                           "threads = 2 8 64\n"
                           "connections = 1000\n"
                           "driver.threads = 3\n"
                           "driver.rate = 5000\n"
                           "driver.timeout = 2s\n"
                           "endpoints = 2\n"
                           "endpoint.delay = 250us\n"
                           "endpoint.bytes = 77\n"
                           "server.maxconn = 20\n"
                           "side = before /opt/a b/pawld\n"
                           "side = after pawld\n"
                           "side = third pawld-pthread\n"
                           "side.connections = after 40\n"
                           "side.maxconn = third 0\n"
                           "compare = after/before after/third"),
                     0);
    assert_string_equal(s.name, "case");
    assert_string_equal(s.title, "two  words # and more");
    assert_int_equal(s.n_threads, 3);
    assert_int_equal(s.threads[2], 64);
    assert_int_equal(s.driver_threads, 3);
    assert_int_equal(s.driver_rate, 5000);
    assert_int_equal(s.driver_timeout_us, 2000000);
    assert_int_equal(s.endpoints, 2);
    assert_int_equal(s.endpoint_delay_us, 250);
    assert_int_equal(s.endpoint_bytes, 77);
    assert_int_equal(s.n_sides, 3);
    assert_string_equal(s.sides[0].binary, "/opt/a b/pawld");
    assert_int_equal(s.sides[0].connections, 1000);
    assert_int_equal(s.sides[0].server_maxconn, 20);
    assert_int_equal(s.sides[1].connections, 40);
    assert_int_equal(s.sides[2].server_maxconn, 0);
    assert_int_equal(s.n_pairs, 2);
    assert_int_equal(s.pairs[1].of, 1);
    assert_int_equal(s.pairs[1].against, 2);
}

static void without_compare_the_second_side_is_set_against_the_others(void **state)
{
    (void)state;
    assert_int_equal(parse(BASE SIDES "side = third x\n"), 0);
    assert_int_equal(s.n_pairs, 2);
    assert_int_equal(s.pairs[0].of, 1);
    assert_int_equal(s.pairs[0].against, 0);
    assert_int_equal(s.pairs[1].of, 1);
    assert_int_equal(s.pairs[1].against, 2);
    assert_int_equal(s.driver_threads, 1);
    assert_int_equal(s.sides[0].server_maxconn, 0);
}

static void what_is_not_a_key_is_refused_with_its_place(void **state)
{
    (void)state;
    refused(BASE SIDES "  endpoint.dely = 1ms\n",
            "dir/case.cfg:7:3: unknown key 'endpoint.dely': expected one of title,");
    refused(BASE SIDES "nonsense\n", "dir/case.cfg:7:1: expected `key = value`");
    refused(BASE SIDES "= 4\n", "dir/case.cfg:7:1: unknown key ''");
    refused(BASE SIDES "endpoint.delay =  \n", "dir/case.cfg:7:19: 'endpoint.delay' has no value");
    refused(BASE SIDES "Title = t\n", "unknown key 'Title'");
}

static void a_key_may_stand_once(void **state)
{
    (void)state;
    refused(BASE SIDES "endpoints = 3\n", "dir/case.cfg:7:1: 'endpoints' stands on line 4 already");
}

static void numbers_outside_their_range_are_refused(void **state)
{
    static const char *const wrong[] = {"connections = 0",    "connections = 1000001",
                                        "connections = -1",   "connections = 1x",
                                        "connections = 0x10", "connections = 99999999999999999999",
                                        "connections = 1 2",  "connections = +5"};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[200];

        snprintf(text, sizeof text, "title = t\nthreads = 2\nendpoints = 1\n%s\n" SIDES, wrong[i]);
        refused(text, "dir/case.cfg:4:15: connections: expected a number from 1 to 1000000, where '");
    }
    refused(BASE SIDES "server.maxconn = 0\n", "server.maxconn: expected a number from 1");
    refused("threads = 2 0\n", "dir/case.cfg:1:13: '0': expected numbers of threads");
    refused("threads = 2 2\n", "2 threads stand here twice");
    refused("threads = 1 2 3 4 5 6 7 8 9\n", "more than 8 numbers of threads");
    refused("endpoints = 33\n", "expected a number from 1 to 32");
}

static void durations_need_a_unit(void **state)
{
    static const char *const wrong[] = {"1",     "ms",  "1 ms", "-1ms",
                                        "1.5ms", "61s", "1h",   "99999999999999999999s"};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[200];

        snprintf(text, sizeof text, "endpoint.delay = %s\n", wrong[i]);
        refused(text, "dir/case.cfg:1:18: endpoint.delay: expected a duration such as 250us, 1ms or 2s, from "
                      "0ms to 1m");
    }
}

static void sides_have_plain_and_different_names(void **state)
{
    (void)state;
    refused(BASE "side = before\n", "expected `side = NAME PROGRAM`");
    refused(BASE "side = be/fore x\n", "side 'be/fore': expected a name of 1 to 15 letters");
    refused(BASE "side = ..x y\n", "expected a name");
    refused(BASE "side = abcdefghijklmnop x\n", "expected a name");
    refused(BASE SIDES "side = after x\n", "dir/case.cfg:7:8: there is a side 'after' already");
    refused(BASE SIDES "side = c x\nside = d x\nside = e x\n", "more than 4 sides");
    refused(BASE "side = before x\n", "dir/case.cfg: one side only: expected two to compare");
}

static void comparisons_name_sides_that_stand_above(void **state)
{
    (void)state;
    refused(BASE SIDES "compare = after\n", "dir/case.cfg:7:11: 'after': expected SIDE/SIDE");
    refused(BASE SIDES "compare = after/before after/thrid\n",
            "dir/case.cfg:7:24: no side 'thrid' stands above this line");
    refused(BASE SIDES "compare = after/after\n", "'after' is compared with itself");
    refused(BASE "compare = after/before\n" SIDES, "no side 'after' stands above this line");
    refused(BASE SIDES "side.maxconn = thrid 4\n", "dir/case.cfg:7:16: no side 'thrid' stands above");
    refused(BASE SIDES "side.connections = after\n", "expected a side and a number");
    refused(BASE SIDES "side.connections = after 0\n",
            "dir/case.cfg:7:26: side.connections: expected a number from 1");
    refused(BASE SIDES "side.maxconn = after 1\nside.maxconn = after 2\n",
            "side 'after' has its maxconn already");
}

static void a_scenario_must_be_complete(void **state)
{
    (void)state;
    refused("", "dir/case.cfg: no line sets 'title'");
    refused("title = t\nconnections = 1\nendpoints = 1\n" SIDES, "no line sets 'threads'");
    refused(BASE, "no line sets 'side'");
    refused(BASE SIDES "driver.threads = 11\n", "10 connections of side 'before' for 11 driver threads");
}

static void only_plain_text_is_read(void **state)
{
    char nul[] = BASE "tit\0le = x\n", *text;

    (void)state;
    refused(BASE "driver.rate = 1\r\n", "dir/case.cfg:5:16: control character 0x0d");
    refused(BASE "driver.rate = 1\033\n", "control character 0x1b");
    err = (struct tb_error){.status = 0};
    assert_int_equal(tb_scenario_parse(nul, sizeof nul - 1, "x.cfg", &s, &err), -1);
    assert_non_null(strstr(err.text, "x.cfg:5:4: control character 0x00"));
    text = malloc(3001);
    assert_non_null(text);
    memset(text, 'a', 3000);
    text[3000] = 0;
    refused(text, "dir/case.cfg:1:1: the line is longer than");
    free(text);
}

static void any_cut_of_a_scenario_is_read_or_refused(void **state)
{
    static const char whole[] =
        BASE SIDES "side.connections = after 40\nside.maxconn = after 1\nendpoint.delay = 1ms\n"
                   "compare = after/before\n# end";

    (void)state;
    for (size_t from = 0; from < sizeof whole;
         from++) { /* in a block of its own size, so that a read beyond shows */
        for (size_t len = 0; from + len < sizeof whole; len += 7) {
            char *part = malloc(len ? len : 1);
            int rc;

            assert_non_null(part);
            memcpy(part, whole + from, len);
            err = (struct tb_error){.status = 0};
            rc = tb_scenario_parse(part, len, "x.cfg", &s, &err);
            assert_int_equal(err.status, rc < 0 ? TB_EXIT_USAGE : 0);
            free(part);
        }
    }
}

static void the_scenarios_of_the_demo_are_in_order(void **state)
{
    const char *dir = getenv("SCENARIO_DIR");
    char path[1024];

    (void)state;
    assert_non_null(dir);
    err = (struct tb_error){.status = 0};
    snprintf(path, sizeof path, "%s/round-robin.cfg", dir);
    assert_int_equal(tb_scenario_read(path, &s, &err), 0);
    assert_string_equal(s.name, "round-robin");
    assert_int_equal(s.n_threads, 2);
    assert_int_equal(s.threads[0], 2);
    assert_int_equal(s.threads[1], 8);
    assert_int_equal(s.connections, 512);
    assert_int_equal(s.endpoints, 4);
    assert_int_equal(s.n_sides, 2);
    snprintf(path, sizeof path, "%s/queue.cfg", dir);
    assert_int_equal(tb_scenario_read(path, &s, &err), 0);
    assert_int_equal(s.n_sides, 3);
    assert_int_equal(s.sides[2].server_maxconn, 20);
    assert_int_equal(s.endpoint_delay_us, 1000);
    assert_int_equal(s.connections, 1000);
    assert_int_equal(s.n_pairs, 2);
}

static void a_file_that_is_not_there_is_told(void **state)
{
    (void)state;
    err = (struct tb_error){.status = 0};
    assert_int_equal(tb_scenario_read("/nonexistent/x.cfg", &s, &err), -1);
    assert_non_null(strstr(err.text, "scenario /nonexistent/x.cfg: No such file or directory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_read),
        cmocka_unit_test(without_compare_the_second_side_is_set_against_the_others),
        cmocka_unit_test(what_is_not_a_key_is_refused_with_its_place),
        cmocka_unit_test(a_key_may_stand_once),
        cmocka_unit_test(numbers_outside_their_range_are_refused),
        cmocka_unit_test(durations_need_a_unit),
        cmocka_unit_test(sides_have_plain_and_different_names),
        cmocka_unit_test(comparisons_name_sides_that_stand_above),
        cmocka_unit_test(a_scenario_must_be_complete),
        cmocka_unit_test(only_plain_text_is_read),
        cmocka_unit_test(any_cut_of_a_scenario_is_read_or_refused),
        cmocka_unit_test(the_scenarios_of_the_demo_are_in_order),
        cmocka_unit_test(a_file_that_is_not_there_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
