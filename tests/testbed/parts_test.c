/* The small parts: units, the SUT's configuration, free ports, the driver's report, CPU figures of a round.
 */
#include "testbed/config.h"
#include "testbed/driver.h"
#include "testbed/port.h"
#include "testbed/units.h"

#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static void durations_are_written_as_they_are_read(void **state)
{
    static const char *const texts[] = {"1us", "999us", "1ms", "1500us", "2s", "1m", "61s", "0ms"};

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char text[32];
        int64_t us;

        assert_true(tb_parse_duration(texts[i], 0, INT64_MAX, &us));
        assert_string_equal(tb_format_duration(text, sizeof text, us), texts[i]);
    }
}

static void figures_are_written_for_people(void **state)
{
    char t[32];

    (void)state;
    assert_string_equal(tb_format_latency(t, sizeof t, 0.5), "0.50us");
    assert_string_equal(tb_format_latency(t, sizeof t, 999.999), "1.00ms");
    assert_string_equal(tb_format_latency(t, sizeof t, 3140), "3.14ms");
    assert_string_equal(tb_format_latency(t, sizeof t, 1500000), "1.50s");
    assert_string_equal(tb_format_latency(t, sizeof t, 90000000), "1.50m");
    assert_string_equal(tb_format_latency(t, sizeof t, NAN), "-");
    assert_string_equal(tb_format_count(t, sizeof t, 0), "0");
    assert_string_equal(tb_format_count(t, sizeof t, 999), "999");
    assert_string_equal(tb_format_count(t, sizeof t, 1020400.4), "1 020 400");
    assert_string_equal(tb_format_count(t, sizeof t, NAN), "-");
    assert_string_equal(tb_format_ratio(t, sizeof t, 0.0421), "0.042");
    assert_string_equal(tb_format_ratio(t, sizeof t, 0.099), "0.099");
    assert_string_equal(tb_format_ratio(t, sizeof t, 1.8), "1.80");
    assert_string_equal(tb_format_ratio(t, sizeof t, 9.999), "10.0");
    assert_string_equal(tb_format_ratio(t, sizeof t, 123.4), "123");
}

static void the_configuration_says_what_the_scenario_asks(void **state)
{
    static const unsigned ports[] = {4001, 4002};
    struct tb_config config = {.threads = 8,
                               .connections = 1000,
                               .port = 8080,
                               .endpoint_ports = ports,
                               .endpoints = 2,
                               .server_maxconn = 20};
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    (void)state;
    assert_non_null(f);
    tb_config_write(f, &config);
    config.server_maxconn = 0;
    tb_config_write(f, &config);
    assert_int_equal(fclose(f), 0);
    assert_non_null(strstr(text, "global\n    nbthread 8\n    maxconn 5024\n"));
    assert_non_null(strstr(text, "    mode http\n"));
    assert_non_null(strstr(text, "    bind 127.0.0.1:8080\n"));
    assert_non_null(strstr(text, "    balance roundrobin\n    server e1 127.0.0.1:4001 maxconn 20\n"
                                 "    server e2 127.0.0.1:4002 maxconn 20\n"));
    assert_non_null(strstr(text, "    server e1 127.0.0.1:4001\n    server e2 127.0.0.1:4002\n"));
    free(text);
}

static int listener(bool shared, unsigned *port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    assert_int_equal(setsockopt(fd, SOL_SOCKET, shared ? SO_REUSEPORT : SO_REUSEADDR, &on, sizeof on), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, len), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    *port = ntohs(a.sin_port);
    return fd;
}

static void a_port_that_someone_listens_on_is_taken(void **state)
{
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        unsigned port;
        int fd = listener(shared, &port);

        assert_int_equal(tb_port_free(port), -EADDRINUSE);
        close(fd);
        assert_int_equal(tb_port_free(port), 0);
    }
}

static void a_port_that_a_closed_connection_lingers_on_is_free(void **state)
{
    unsigned port;
    int fd = listener(false, &port), client, server;
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    char c;

    (void)state;
    client = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(client, (struct sockaddr *)&a, sizeof a), 0);
    server = accept(fd, NULL, NULL);
    assert_true(server >= 0);
    close(server); /* first, so that TIME_WAIT is on this side */
    assert_int_equal(read(client, &c, 1), 0);
    close(client);
    close(fd);
    assert_int_equal(tb_port_free(port), 0);
}

static void picked_ports_are_free_and_differ(void **state)
{
    struct tb_error err = {.status = 0};
    int first = tb_port_pick(&err), second = tb_port_pick(&err);

    (void)state;
    assert_true(first > 1024 && second > 1024);
    assert_int_not_equal(first, second);
    assert_int_equal(tb_port_free((unsigned)second), 0);
}

static const char good[] = "{\"requests\": 1000, \"requests_per_s\": 500.5, \"latency_us\": {\"avg\": 1, "
                           "\"stdev\": 2, \"max\": 3, \"p50\": 4,"
                           " \"p75\": 5, \"p90\": 6, \"p99\": 7, \"p99.9\": null}, \"errors\": {\"connect\": "
                           "1, \"read\": 2, \"write\": 3,"
                           " \"timeout\": 4, \"status\": 5}}";

static void a_drivers_report_is_read_into_the_sample(void **state)
{
    struct tb_error err = {.status = 0};
    struct tb_sample s;

    (void)state;
    tb_sample_clear(&s);
    assert_int_equal(tb_driver_report(good, sizeof good - 1, "x", &s, &err), 0);
    assert_true(fabs(s.v[TB_RATE] - 500.5) < 1e-9 && fabs(s.requests - 1000) < 1e-9);
    assert_true(fabs(s.v[TB_AVG] - 1) < 1e-9 && fabs(s.v[TB_P99] - 7) < 1e-9 && isnan(s.v[TB_P999]));
    assert_true(fabs(s.v[TB_ERR_CONNECT] - 1) < 1e-9 && fabs(s.v[TB_ERR_STATUS] - 5) < 1e-9);
    assert_true(json_is_object(s.driver));
    json_decref(s.driver);
}

static void a_drivers_report_with_a_wrong_figure_is_refused(void **state)
{
    static const char *const changes[][2] = {
        {"\"requests\": 1000", "\"requests\": \"many\""},
        {"\"requests\": 1000", "\"requests\": -1"},
        {"\"requests\": 1000", "\"requests\": null"},
        {"\"p90\": 6", "\"p90\": \"6\""},
        {"\"p90\": 6", "\"p91\": 6"},
        {"\"read\": 2", "\"read\": null"},
        {"500.5", "NaN"},
        {"500.5", "1e999"},
        {"\"errors\"", "\"error\""},
        {"\"p90\": 6", "\"p50\": 6"},
        {"{\"requests\"", "\"requests\""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        const char *at = strstr(good, changes[i][0]);
        struct tb_error err = {.status = 0};
        struct tb_sample s;
        char text[800];
        int len;

        assert_non_null(at);
        len = snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, changes[i][1],
                       at + strlen(changes[i][0]));
        tb_sample_clear(&s);
        if (tb_driver_report(text, (size_t)len, "x", &s, &err) == 0) {
            fail_msg("accepted: %s", text);
        }
        assert_int_equal(err.status, TB_EXIT_FAILED);
        json_decref(s.driver);
    }
}

static void cpu_per_request_is_split_by_the_ticks(void **state)
{
    struct tb_reading from = {.at_ns = 0}, to = {.at_ns = 2000000000,
                                                 .sut = {3000000000, 75, 225},
                                                 .endpoints_ns = 400000000,
                                                 .machine = {360, 40, 0}};
    struct tb_sample s;

    (void)state;
    tb_sample_clear(&s);
    s.requests = 100000;
    tb_sample_usage(&s, &from, &to, 2, 4, 0.1, 1);
    assert_true(fabs(s.v[TB_SUT_CPU] - 75) < 1e-9);       /* 3 s of 2 cores x 2 s */
    assert_true(fabs(s.v[TB_REQUEST_CPU] - 30) < 1e-9);   /* us */
    assert_true(fabs(s.v[TB_REQUEST_USER] - 7.5) < 1e-9); /* a quarter of the ticks */
    assert_true(fabs(s.v[TB_REQUEST_SYSTEM] - 22.5) < 1e-9);
    assert_true(fabs(s.v[TB_DRIVER_CPU] - 5) < 1e-9);
    assert_true(fabs(s.v[TB_ENDPOINT_CPU] - 5) < 1e-9); /* 0.4 s of 4 cores x 2 s */
    assert_true(fabs(s.v[TB_MACHINE_BUSY] - 90) < 1e-9);
    if (sysconf(_SC_CLK_TCK) == 100) { /* 3.6 s busy, 3.5 s ours, of 4 s */
        assert_true(fabs(s.v[TB_MACHINE_OTHERS] - 2.5) < 1e-6);
    }
}

static void a_round_without_requests_has_no_cpu_per_request(void **state)
{
    struct tb_reading from = {.at_ns = 0}, to = {.at_ns = 1000000000, .sut = {1000, 1, 1}};
    struct tb_sample s;

    (void)state;
    tb_sample_clear(&s);
    tb_sample_usage(&s, &from, &to, 1, 1, 0, 1);
    assert_true(isnan(s.v[TB_REQUEST_CPU]) && isnan(s.v[TB_REQUEST_USER]));
    assert_true(isnan(s.v[TB_MACHINE_BUSY]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_written_as_they_are_read),
        cmocka_unit_test(figures_are_written_for_people),
        cmocka_unit_test(the_configuration_says_what_the_scenario_asks),
        cmocka_unit_test(a_port_that_someone_listens_on_is_taken),
        cmocka_unit_test(a_port_that_a_closed_connection_lingers_on_is_free),
        cmocka_unit_test(picked_ports_are_free_and_differ),
        cmocka_unit_test(a_drivers_report_is_read_into_the_sample),
        cmocka_unit_test(a_drivers_report_with_a_wrong_figure_is_refused),
        cmocka_unit_test(cpu_per_request_is_split_by_the_ticks),
        cmocka_unit_test(a_round_without_requests_has_no_cpu_per_request),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
