/* The driver against servers that behave, misbehave, stall, or are not there. */
#include "load/driver.h"
#include "load/endpoint.h"
#include "load/report.h"
#include "net/sock.h"
#include "server.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* cmocka needs the headers above. */
#include <cmocka.h>

#define MS     UINT64_C(1000000)
#define SECOND (1000 * MS)
#define HELLO  "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello World!"

static struct server server;
static struct load_result result;
static char err[512];

static struct load_options options(const char *url)
{
    return (struct load_options){.url = url,
                                 .threads = 1,
                                 .connections = 2,
                                 .duration_ns = 20 * SECOND, /* a bound; most tests limit the requests */
                                 .timeout_ns = 10 * SECOND};
}

static void run_against(server_script *script, void *arg, struct load_options *o)
{
    server_start(&server, script, arg);
    o->url = server.url;
    enum load_status status = load_run(o, &result, err, sizeof err);
    server_stop(&server);
    assert_int_equal(status, LOAD_OK);
}

static uint64_t socket_errors(void)
{
    return result.connect_errors + result.read_errors + result.write_errors + result.timeouts;
}

static void sleep_ms(long ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* Scripts. */

static void say_nothing(struct server *s, int fd)
{
    (void)s;
    while (server_read(fd)) {
    }
}

/* Answers each request with the text that is s->arg. */
static void answer_with(struct server *s, int fd)
{
    while (server_read(fd) && server_send(fd, s->arg)) {
        atomic_fetch_add(&s->count, 1);
    }
}

static void answer_once_and_close(struct server *s, int fd)
{
    if (server_read(fd)) {
        atomic_fetch_add(&s->count, 1);
        server_send(fd, s->arg);
    }
}

static void answer_byte_by_byte(struct server *s, int fd)
{
    while (server_read(fd)) {
        for (const char *p = s->arg; *p; p++) {
            char one[2] = {*p, '\0'};
            if (!server_send(fd, one)) {
                return;
            }
            sleep_ms(1);
        }
    }
}

static void close_at_once(struct server *s, int fd)
{
    (void)s;
    (void)fd;
}

static void half_close_and_listen(struct server *s, int fd)
{
    (void)s;
    if (server_read(fd)) {
        shutdown(fd, SHUT_WR);
        server_read(fd); /* until the driver closes */
    }
}

static void reset_after_request(struct server *s, int fd)
{
    struct sockaddr nobody = {.sa_family = AF_UNSPEC};
    (void)s;
    if (server_read(fd) && connect(fd, &nobody, sizeof nobody)) { /* on Linux: a reset */
        abort();
    }
}

/* Answers 50 requests over all connections, then none. */
static void fall_silent(struct server *s, int fd)
{
    while (server_read(fd)) {
        if (atomic_fetch_add(&s->count, 1) < 50 && !server_send(fd, HELLO)) {
            return;
        }
    }
}

/* Serves; the request that comes as number 100 is the start of a second in which nothing is answered. */
static void pause_for_a_second(struct server *s, int fd)
{
    while (server_read(fd)) {
        if (atomic_fetch_add(&s->count, 1) == 100) {
            sleep_ms(1000);
        }
        if (!server_send(fd, HELLO)) {
            return;
        }
    }
}

/* Tests. */

static void a_silent_server_shows_as_timeouts_and_failure(void **state)
{
    struct load_options o = options(NULL);
    (void)state;
    o.duration_ns = 300 * MS;
    o.timeout_ns = 50 * MS;
    run_against(say_nothing, NULL, &o);
    assert_true(result.timeouts >= 2);
    assert_int_equal(result.requests, 0);
    assert_int_equal(result.connect_errors + result.read_errors + result.write_errors, 0);
    assert_false(load_succeeded(&o, &result));
}

static char *written(void (*write)(FILE *, const struct load_options *), const struct load_options *o)
{
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    write(f, o);
    fclose(f);
    return text;
}

static void write_both(FILE *f, const struct load_options *o)
{
    load_report_table(f, o, &result, true);
    assert_true(load_report_json(f, o, &result));
}

static void without_an_answer_no_figure_is_made_up(void **state)
{
    struct load_options o = options(NULL);
    (void)state;
    o.duration_ns = 100 * MS;
    run_against(say_nothing, NULL, &o);
    assert_int_equal(result.open, 2);
    char *text = written(write_both, &o);
    static const char *const made_up[] = {" nan", "-nan", ":nan", " inf", "-inf", ":inf", "0.00us"};
    for (size_t i = 0; i < sizeof made_up / sizeof *made_up; i++) {
        assert_null(strcasestr(text, made_up[i]));
    }
    assert_non_null(strstr(text, "\"p50\":null"));
    assert_non_null(strstr(text, "\"avg\":null"));
    assert_non_null(strstr(text, "\"p99.9\":null"));
    free(text);
    assert_false(load_succeeded(&o, &result));
}

static void a_refusing_port_shows_as_connect_errors_without_a_storm(void **state)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    char url[64];
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); /* bound and not listening: refuses */
    (void)state;
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", ntohs(a.sin_port));
    struct load_options o = options(url);
    o.duration_ns = 300 * MS;
    assert_int_equal(load_run(&o, &result, err, sizeof err), LOAD_OK);
    close(fd);
    assert_true(result.connect_errors >= 2);
    assert_true(result.connect_errors <= 2 * 11); /* pauses double from 1 ms: more can't fit into the time */
    assert_int_equal(result.connect_errno, ECONNREFUSED);
    assert_int_equal(result.requests, 0);
    assert_false(load_succeeded(&o, &result));
}

static void check_read_errors(server_script *script, const char *text, bool malformed)
{
    struct load_options o = options(NULL);
    char copy[512];
    snprintf(copy, sizeof copy, "%s", text ? text : "");
    o.requests = 4;
    run_against(script, copy, &o);
    assert_int_equal(result.requests, 0);
    assert_int_equal(result.read_errors, 4);
    assert_int_equal(result.malformed, malformed ? 4 : 0);
    assert_int_equal(socket_errors(), 4);
    assert_false(load_succeeded(&o, &result));
}

static void a_server_that_half_closes_shows_as_read_errors(void **state)
{
    (void)state;
    check_read_errors(half_close_and_listen, NULL, false);
}

static void a_body_cut_short_is_a_read_error(void **state)
{
    (void)state;
    check_read_errors(answer_once_and_close, "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello", false);
    check_read_errors(answer_once_and_close,
                      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n", false);
    check_read_errors(answer_once_and_close, "HTTP/1.1 200 OK\r\nContent-Le", false);
}

static void a_reset_is_a_read_error(void **state)
{
    (void)state;
    check_read_errors(reset_after_request, NULL, false);
    assert_int_equal(result.read_errno, ECONNRESET);
}

static void a_malformed_answer_is_an_error_of_its_own_count(void **state)
{
    (void)state;
    check_read_errors(answer_once_and_close, "HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n", true);
    check_read_errors(answer_once_and_close, "250 ok\r\n", true);
    check_read_errors(answer_once_and_close,
                      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
                      true);
    check_read_errors(answer_once_and_close, HELLO "and more than was asked", true);
}

static void a_server_that_only_ever_closes_is_in_error(void **state)
{
    struct load_options o = options(NULL);
    (void)state;
    o.duration_ns = 300 * MS;
    run_against(close_at_once, NULL, &o);
    assert_int_equal(result.requests, 0);
    assert_true(socket_errors() >= 1);
    assert_true(socket_errors() <= 2 * 11);
    assert_false(load_succeeded(&o, &result));
}

/* Twelve requests against a script, all of which must succeed. */
static void check_answered(server_script *script, const char *text, const char *method)
{
    struct load_options o = options(NULL);
    char copy[512];
    snprintf(copy, sizeof copy, "%s", text);
    o.requests = 12;
    o.method = method;
    run_against(script, copy, &o);
    assert_int_equal(socket_errors(), 0);
    assert_int_equal(result.requests, 12);
    assert_int_equal(result.status[200], 12);
    assert_int_equal(result.bytes, 12 * strlen(text));
    assert_true(load_succeeded(&o, &result));
}

static void every_framing_is_understood(void **state)
{
    (void)state;
    check_answered(answer_with, HELLO, NULL);
    check_answered(answer_with, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", NULL);
    check_answered(answer_with,
                   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n", NULL);
    check_answered(answer_with, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", "HEAD");
}

static void interim_answers_are_passed_over(void **state)
{
    (void)state;
    check_answered(answer_with,
                   "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" HELLO, NULL);
}

static void an_answer_may_come_one_byte_at_a_time(void **state)
{
    (void)state;
    check_answered(answer_byte_by_byte,
                   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n0\r\n\r\n", NULL);
}

static void a_connection_that_must_close_is_opened_again(void **state)
{
    (void)state;
    check_answered(answer_once_and_close,
                   "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi", NULL);
    assert_true(atomic_load(&server.accepted) >= 12);
    check_answered(answer_once_and_close, "HTTP/1.1 200 OK\r\n\r\nuntil the end", NULL);
    check_answered(answer_once_and_close, "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", NULL);
}

static void statuses_are_counted_one_by_one(void **state)
{
    struct load_options o = options(NULL);
    char text[] = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n";
    (void)state;
    o.requests = 7;
    run_against(answer_with, text, &o);
    assert_int_equal(result.requests, 7);
    assert_int_equal(result.status[503], 7);
    assert_int_equal(result.status_errors, 7);
    assert_int_equal(socket_errors(), 0);
    assert_false(load_succeeded(&o, &result));
    char redirect[] = "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n";
    run_against(answer_with, redirect, &o);
    assert_int_equal(result.status[302], 7);
    assert_true(load_succeeded(&o, &result));
}

static void requests_left_open_count_with_the_time_they_waited(void **state)
{
    struct load_options o = options(NULL);
    (void)state;
    o.duration_ns = 500 * MS;
    run_against(fall_silent, NULL, &o);
    assert_int_equal(result.requests, 50);
    assert_int_equal(result.open, 2);
    assert_int_equal(socket_errors(), 0);
    assert_true(result.longest_open_ns > 0);
    assert_true(result.latency.max >= result.longest_open_ns);
    assert_true(base_hist_percentile(&result.latency, 100) >= result.longest_open_ns);
}

static void a_fixed_rate_is_kept(void **state)
{
    struct load_options o = options(NULL);
    (void)state;
    o.threads = 2;
    o.connections = 8;
    o.rate = 1000;
    o.duration_ns = 1 * SECOND;
    run_against(answer_with, (char[]){HELLO}, &o);
    uint64_t due = result.requests + result.open; /* what a busy machine left undone at the end is open */
    assert_in_range(due, 990, 1010);
    assert_in_range(atomic_load(&server.count), result.requests, due);
    assert_int_equal(socket_errors(), 0);
}

static void at_a_fixed_rate_a_paused_second_shows_in_the_latency(void **state)
{
    struct load_options o = options(NULL);
    (void)state;
    o.connections = 1; /* the server reads nothing else meanwhile */
    o.rate = 200;
    o.duration_ns = 3 * SECOND;
    run_against(pause_for_a_second, NULL, &o);
    assert_int_equal(socket_errors(), 0);
    assert_true(result.latency.max >= 990 * MS);
    /* 200 of 600 were due in that second and waited for its end: the longest 6 of them at least 0.96 s */
    assert_true(base_hist_percentile(&result.latency, 99) >= 900 * MS);
    assert_in_range(result.requests + result.open, 594, 606);
}

static void at_a_fixed_rate_what_was_never_sent_is_open(void **state)
{
    struct load_options o = options(NULL);
    (void)state;
    o.connections = 1;
    o.rate = 1000;
    o.duration_ns = 500 * MS;
    run_against(fall_silent, NULL, &o);
    assert_int_equal(result.requests, 50);
    assert_in_range(result.requests + result.open, 495, 505);
    assert_true(base_hist_percentile(&result.latency, 99) >= 400 * MS);
}

static void against_endpoint(const struct load_endpoint_options *e, struct load_options *o,
                             struct load_endpoint_stats *stats)
{
    struct load_endpoint_options with = *e;
    struct net_addr addr;
    const char *why;
    char text[NET_ADDR_TEXT], url[NET_ADDR_TEXT + 16];
    assert_true(net_addr_parse(&addr, "127.0.0.1:0", &why));
    with.listener = net_listen(&addr, 512, false);
    assert_true(with.listener >= 0);
    assert_int_equal(net_sock_local(with.listener, &addr), 0);
    snprintf(url, sizeof url, "http://%s/", net_addr_format(&addr, text, sizeof text));
    o->url = url;
    struct load_endpoint *endpoint = load_endpoint_start(&with, err, sizeof err);
    assert_non_null(endpoint);
    enum load_status status = load_run(o, &result, err, sizeof err);
    load_endpoint_stop(endpoint, stats);
    close(with.listener);
    o->url = NULL;
    assert_int_equal(status, LOAD_OK);
}

static void a_limit_of_requests_is_exact_over_threads_and_connections(void **state)
{
    struct load_options o = options(NULL);
    struct load_endpoint_options e = {.threads = 2};
    struct load_endpoint_stats stats;
    (void)state;
    o.threads = 8;
    o.connections = 64;
    o.requests = 4000;
    against_endpoint(&e, &o, &stats);
    assert_int_equal(result.requests, 4000);
    assert_int_equal(stats.requests, 4000);
    assert_int_equal(result.status[200], 4000);
    assert_int_equal(stats.connections, 64);
    assert_true(load_succeeded(&o, &result));
    o.requests = 3; /* fewer than connections */
    against_endpoint(&e, &o, &stats);
    assert_int_equal(stats.requests, 3);
}

static void a_limit_of_requests_holds_at_a_fixed_rate_too(void **state)
{
    struct load_options o = options(NULL);
    struct load_endpoint_options e = {.threads = 1};
    struct load_endpoint_stats stats;
    (void)state;
    o.threads = 2;
    o.rate = 5000;
    o.requests = 500;
    against_endpoint(&e, &o, &stats);
    assert_int_equal(result.requests, 500);
    assert_int_equal(stats.requests, 500);
    assert_int_equal(result.open, 0);
}

static void large_answers_are_read_whole(void **state)
{
    struct load_options o = options(NULL);
    struct load_endpoint_options e = {.threads = 1, .sized = true, .bytes = 3000000};
    struct load_endpoint_stats stats;
    (void)state;
    o.requests = 10;
    against_endpoint(&e, &o, &stats);
    assert_int_equal(result.requests, 10);
    assert_true(result.bytes > 10 * 3000000);
    assert_true(result.bytes < 10 * 3000200);
    assert_int_equal(socket_errors(), 0);
}

static void rates_of_threads_add_up_to_the_whole(void **state)
{
    struct load_options o = options(NULL);
    struct load_endpoint_options e = {.threads = 1};
    (void)state;
    o.duration_ns = 450 * MS;
    o.threads = 2;
    against_endpoint(&e, &o, NULL);
    assert_true(result.per_thread.n >= 2);
    assert_true(result.requests > 0);
    assert_true(result.user_ns + result.system_ns > 0);
    assert_true(result.latency.n >= result.requests);
    assert_true(result.latency.n <= result.requests + result.open);
}

static void count_progress(void *arg, const struct load_progress *p)
{
    atomic_int *stop = arg;
    assert_true(p->elapsed_ns > 0);
    if (p->requests > 0) {
        atomic_store(stop, 1);
    }
}

static void a_stopped_run_ends_early_and_keeps_what_it_measured(void **state)
{
    struct load_options o = options(NULL);
    atomic_int stop = 0;
    (void)state;
    o.duration_ns = 600 * SECOND;
    o.stop = &stop;
    o.progress = count_progress;
    o.progress_arg = &stop;
    run_against(answer_with, (char[]){HELLO}, &o);
    assert_true(result.requests > 0);
    assert_true(result.duration_ns < 600 * SECOND);
}

static void wrong_options_are_told_apart_from_a_failed_run(void **state)
{
    struct load_options good = options("http://127.0.0.1:1/"), bad[8];
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        bad[i] = good;
    }
    bad[0].threads = 0;
    bad[1].connections = 0;
    bad[2].threads = 3;
    bad[3].duration_ns = 0;
    bad[4].timeout_ns = 0;
    bad[5].rate = -1;
    bad[6].rate = 1e12;
    bad[7].url = "ftp://127.0.0.1/";
    for (size_t i = 0; i < 8; i++) {
        err[0] = '\0';
        assert_int_equal(load_run(&bad[i], &result, err, sizeof err), LOAD_USAGE);
        assert_true(strlen(err) > 0);
    }
}

static void too_few_open_files_are_said_before_anything_starts(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rlimit limit = {.rlim_cur = 100, .rlim_max = 100};
        struct load_options o = options("http://127.0.0.1:1/");
        o.connections = 1000;
        setrlimit(RLIMIT_NOFILE, &limit);
        enum load_status status = load_run(&o, &result, err, sizeof err);
        _exit(status == LOAD_FAILED && strstr(err, "open files") ? 0 : 1);
    }
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
}

static void the_soft_limit_of_open_files_is_raised_when_needed(void **state)
{
    struct rlimit old, low;
    struct net_addr addr;
    const char *why;
    char text[NET_ADDR_TEXT], url[NET_ADDR_TEXT + 16];
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    if (old.rlim_max < 1000) {
        skip();
    }
    assert_true(net_addr_parse(&addr, "127.0.0.1:0", &why));
    int fd = net_listen(&addr, 1024, false); /* the kernel accepts; nobody takes the connections out */
    assert_true(fd >= 0);
    assert_int_equal(net_sock_local(fd, &addr), 0);
    snprintf(url, sizeof url, "http://%s/", net_addr_format(&addr, text, sizeof text));
    low = old;
    low.rlim_cur = 256;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
    struct load_options o = options(url);
    o.connections = 400;
    o.duration_ns = 100 * MS;
    assert_int_equal(load_run(&o, &result, err, sizeof err), LOAD_OK);
    close(fd);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(result.connect_errors, 0);
    assert_int_equal(result.open, 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_silent_server_shows_as_timeouts_and_failure),
        cmocka_unit_test(without_an_answer_no_figure_is_made_up),
        cmocka_unit_test(a_refusing_port_shows_as_connect_errors_without_a_storm),
        cmocka_unit_test(a_server_that_half_closes_shows_as_read_errors),
        cmocka_unit_test(a_body_cut_short_is_a_read_error),
        cmocka_unit_test(a_reset_is_a_read_error),
        cmocka_unit_test(a_malformed_answer_is_an_error_of_its_own_count),
        cmocka_unit_test(a_server_that_only_ever_closes_is_in_error),
        cmocka_unit_test(every_framing_is_understood),
        cmocka_unit_test(interim_answers_are_passed_over),
        cmocka_unit_test(an_answer_may_come_one_byte_at_a_time),
        cmocka_unit_test(a_connection_that_must_close_is_opened_again),
        cmocka_unit_test(statuses_are_counted_one_by_one),
        cmocka_unit_test(requests_left_open_count_with_the_time_they_waited),
        cmocka_unit_test(a_fixed_rate_is_kept),
        cmocka_unit_test(at_a_fixed_rate_a_paused_second_shows_in_the_latency),
        cmocka_unit_test(at_a_fixed_rate_what_was_never_sent_is_open),
        cmocka_unit_test(a_limit_of_requests_is_exact_over_threads_and_connections),
        cmocka_unit_test(a_limit_of_requests_holds_at_a_fixed_rate_too),
        cmocka_unit_test(large_answers_are_read_whole),
        cmocka_unit_test(rates_of_threads_add_up_to_the_whole),
        cmocka_unit_test(a_stopped_run_ends_early_and_keeps_what_it_measured),
        cmocka_unit_test(wrong_options_are_told_apart_from_a_failed_run),
        cmocka_unit_test(too_few_open_files_are_said_before_anything_starts),
        cmocka_unit_test(the_soft_limit_of_open_files_is_raised_when_needed),
    };
    signal(SIGALRM, SIG_DFL);
    alarm(120); /* a bound against hanging */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
