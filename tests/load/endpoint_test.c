/* The endpoint: framing of requests, pipelining, the delay, and what it counts. */
#include "load/endpoint.h"
#include "load/wait.h"
#include "net/sock.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* cmocka needs the headers above. */
#include <cmocka.h>

#define MS    UINT64_C(1000000)
#define GET   "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
#define HELLO "HTTP/1.1 200 OK\r\nContent-Length: 12\r\nContent-Type: text/plain\r\n\r\nHello World!"
#define CLOSED                                                                                             \
    "HTTP/1.1 200 OK\r\nContent-Length: 12\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nHello " \
    "World!"

static struct load_endpoint *endpoint;
static struct load_endpoint_stats stats;
static struct net_addr addr;
static int listener;
static char err[256];

static void start(struct load_endpoint_options o)
{
    const char *why;
    assert_true(net_addr_parse(&addr, "127.0.0.1:0", &why));
    o.listener = listener = net_listen(&addr, 128, false);
    assert_true(listener >= 0);
    assert_int_equal(net_sock_local(listener, &addr), 0);
    o.threads = o.threads ? o.threads : 1;
    endpoint = load_endpoint_start(&o, err, sizeof err);
    assert_non_null(endpoint);
}

static void stop(void)
{
    load_endpoint_stop(endpoint, &stats);
    close(listener);
}

static int connected(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
    struct timeval bound = {.tv_sec = 20};
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&addr.ss, addr.len), 0);
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof bound), 0);
    assert_int_equal(setsockopt(fd, 6, 1, &one, sizeof one), 0); /* TCP_NODELAY */
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* The next bytes are exactly these. */
static void hear(int fd, const char *text)
{
    char got[1024];
    size_t n = strlen(text), at = 0;
    assert_true(n < sizeof got);
    while (at < n) {
        ssize_t more = recv(fd, got + at, n - at, 0);
        assert_true(more > 0);
        at += (size_t)more;
    }
    got[n] = '\0';
    assert_string_equal(got, text);
}

static void hear_end(int fd)
{
    char c;
    assert_int_equal(recv(fd, &c, 1, 0), 0);
}

static void one_exchange(const char *request, const char *answer, bool ends)
{
    start((struct load_endpoint_options){0});
    int fd = connected();
    say(fd, request);
    hear(fd, answer);
    if (ends) {
        hear_end(fd);
    } else {
        say(fd, GET); /* still good */
        hear(fd, HELLO);
    }
    close(fd);
    stop();
}

static void every_request_is_answered_with_hello_world(void **state)
{
    (void)state;
    one_exchange(GET, HELLO, false);
    assert_int_equal(stats.requests, 2);
    assert_int_equal(stats.connections, 1);
    one_exchange("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", CLOSED, true);
    one_exchange("GET / HTTP/1.0\r\n\r\n", CLOSED, true);
    one_exchange("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
                 "HTTP/1.1 200 OK\r\nContent-Length: 12\r\nContent-Type: text/plain\r\nConnection: "
                 "keep-alive\r\n\r\nHello World!",
                 false);
    one_exchange("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n",
                 "HTTP/1.1 200 OK\r\nContent-Length: 12\r\nContent-Type: text/plain\r\n\r\n", false);
}

static void bodies_are_read_to_their_end(void **state)
{
    (void)state;
    one_exchange("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nGET /", HELLO, false);
    assert_int_equal(stats.requests, 2);
    one_exchange(
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nGET /\r\n0\r\nX: y\r\n\r\n",
        HELLO, false);
    assert_int_equal(stats.requests, 2);
}

static void a_client_that_expects_100_gets_it_before_the_body(void **state)
{
    (void)state;
    start((struct load_endpoint_options){0});
    int fd = connected();
    say(fd, "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    hear(fd, "HTTP/1.1 100 Continue\r\n\r\n");
    say(fd, "hi");
    hear(fd, HELLO);
    close(fd);
    stop();
}

static void a_request_may_be_split_anywhere(void **state)
{
    static const char text[] =
        "POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" GET;
    (void)state;
    start((struct load_endpoint_options){0});
    int fd = connected();
    for (size_t cut = 1; cut < sizeof text - 1; cut++) {
        assert_int_equal(send(fd, text, cut, MSG_NOSIGNAL), cut);
        usleep(200); /* mostly enough for a receive of its own; the outcome is the same */
        say(fd, text + cut);
        hear(fd, HELLO HELLO);
    }
    close(fd);
    stop();
    assert_int_equal(stats.requests, 2 * (sizeof text - 2));
    assert_int_equal(stats.connections, 1);
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    (void)state;
    start((struct load_endpoint_options){0});
    int fd = connected();
    say(fd, GET GET "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" GET
                    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" GET
                    "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n" GET);
    hear(
        fd, HELLO HELLO
        "HTTP/1.1 200 OK\r\nContent-Length: 12\r\nContent-Type: text/plain\r\n\r\n" HELLO HELLO HELLO CLOSED);
    close(fd);
    stop();
    assert_int_equal(stats.requests, 7);
}

static void pipelined_requests_with_a_delay_are_all_answered(void **state)
{
    (void)state;
    start((struct load_endpoint_options){.delay_ns = 2 * MS});
    int fd = connected();
    uint64_t before = load_now();
    say(fd, GET GET GET);
    hear(fd, HELLO HELLO HELLO);
    assert_true(load_now() - before >= 2 * MS);
    close(fd);
    stop();
    assert_int_equal(stats.requests, 3);
    assert_int_equal(stats.max_concurrent, 1);
}

static void many_pipelined_requests_and_a_slow_reader_lose_nothing(void **state)
{
    enum { COUNT = 300, BYTES = 100000 };
    static char sink[65536];
    size_t wanted, got = 0;
    char head[128];
    (void)state;
    start((struct load_endpoint_options){.sized = true, .bytes = BYTES});
    int fd = connected();
    for (int i = 0; i < COUNT; i++) {
        say(fd, GET);
    }
    shutdown(fd, SHUT_WR); /* a client that has said all still gets all */
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\nContent-Type: text/plain\r\n\r\n",
             BYTES);
    wanted = COUNT * (strlen(head) + BYTES);
    for (;;) {
        ssize_t n = recv(fd, sink, sizeof sink, 0);
        assert_true(n >= 0);
        if (n == 0) {
            break;
        }
        got += (size_t)n;
    }
    assert_int_equal(got, wanted);
    close(fd);
    stop();
    assert_int_equal(stats.requests, COUNT);
}

static void malformed_requests_get_the_parsers_status_and_the_end(void **state)
{
    static const struct {
        const char *request, *status;
    } bad[] = {
        {"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "},
        {"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
         "HTTP/1.1 400 "},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "HTTP/1.1 400 "},
        {GET "nonsense\r\n\r\n", HELLO "HTTP/1.1 400 "},
        {"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", "HTTP/1.1 501 "}};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char rest[4096];
        start((struct load_endpoint_options){0});
        int fd = connected();
        say(fd, bad[i].request);
        hear(fd, bad[i].status);
        while (recv(fd, rest, sizeof rest, 0) > 0) {
        }
        close(fd);
        stop();
    }
}

static void an_answer_comes_no_sooner_than_the_delay(void **state)
{
    (void)state;
    start((struct load_endpoint_options){.delay_ns = 30 * MS});
    int fd = connected();
    for (int i = 0; i < 3; i++) {
        uint64_t before = load_now();
        say(fd, GET);
        hear(fd, HELLO);
        assert_true(load_now() - before >= 30 * MS);
    }
    close(fd);
    stop();
}

/* n requests on as many connections, all sent before the first can be answered; returns with all answered. */
static void all_at_once(int n)
{
    int fds[64];
    assert_true(n <= 64);
    for (int i = 0; i < n; i++) {
        fds[i] = connected();
    }
    for (int i = 0; i < n; i++) {
        say(fds[i], GET);
    }
    for (int i = 0; i < n; i++) {
        hear(fds[i], HELLO);
    }
    for (int i = 0; i < n; i++) {
        close(fds[i]);
    }
}

static void concurrency_is_counted_over_connections_and_threads(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 3; threads++) {
        start((struct load_endpoint_options){.threads = threads, .delay_ns = 500 * MS});
        all_at_once(40);
        stop();
        assert_int_equal(stats.max_concurrent, 40);
        assert_int_equal(stats.max_connections, 40);
        assert_int_equal(stats.connections, 40);
        assert_int_equal(stats.requests, 40);
    }
}

static void one_after_the_other_is_never_counted_as_two(void **state)
{
    (void)state;
    start((struct load_endpoint_options){.threads = 2});
    int a = connected(), b = connected();
    for (int i = 0; i < 2000; i++) { /* on connections of both threads in turn */
        say(i % 2 ? a : b, GET);
        hear(i % 2 ? a : b, HELLO);
    }
    close(a);
    close(b);
    stop();
    assert_int_equal(stats.requests, 4000 / 2);
    assert_int_equal(stats.max_concurrent, 1);
    assert_int_equal(stats.max_connections, 2);
}

static void a_client_that_left_is_not_in_flight(void **state)
{
    (void)state;
    start((struct load_endpoint_options){.delay_ns = 1000 * MS});
    for (int i = 0; i < 5; i++) {
        int fd = connected();
        say(fd, GET);
        close(fd);
    }
    int fd = connected();
    say(fd, GET);
    hear(fd, HELLO);
    close(fd);
    stop();
    assert_int_equal(stats.max_concurrent, 1);
    assert_int_equal(stats.requests, 6);
}

static void a_client_that_half_closed_is_answered_after_the_delay(void **state)
{
    (void)state;
    start((struct load_endpoint_options){.delay_ns = 20 * MS});
    int fd = connected();
    say(fd, GET);
    shutdown(fd, SHUT_WR);
    hear(fd, HELLO);
    hear_end(fd);
    close(fd);
    stop();
}

static void an_answer_has_the_size_asked_for(void **state)
{
    (void)state;
    start((struct load_endpoint_options){.sized = true, .bytes = 0});
    int fd = connected();
    say(fd, GET);
    hear(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Type: text/plain\r\n\r\n");
    say(fd, GET);
    hear(fd, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Type: text/plain\r\n\r\n");
    close(fd);
    stop();
    start((struct load_endpoint_options){.sized = true, .bytes = 17});
    fd = connected();
    say(fd, GET);
    hear(fd, "HTTP/1.1 200 OK\r\nContent-Length: 17\r\nContent-Type: text/plain\r\n\r\nHello World!Hello");
    close(fd);
    stop();
}

static void stopping_closes_what_is_open_and_held(void **state)
{
    (void)state;
    start((struct load_endpoint_options){.threads = 2, .delay_ns = 3600000 * MS});
    int a = connected(), b = connected();
    say(a, GET);
    say(b, GET);
    usleep(10000);
    stop();
    char c;
    assert_true(recv(a, &c, 1, 0) <= 0);
    assert_true(recv(b, &c, 1, 0) <= 0);
    close(a);
    close(b);
}

static void only_a_listening_socket_will_do(void **state)
{
    int pipes[2], fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    (void)state;
    assert_int_equal(pipe(pipes), 0);
    struct load_endpoint_options o = {.listener = fd, .threads = 1};
    assert_null(load_endpoint_start(&o, err, sizeof err));
    assert_non_null(strstr(err, "listen"));
    o.listener = pipes[0];
    assert_null(load_endpoint_start(&o, err, sizeof err));
    o.listener = 1 << 19;
    assert_null(load_endpoint_start(&o, err, sizeof err));
    close(fd);
    close(pipes[0]);
    close(pipes[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_request_is_answered_with_hello_world),
        cmocka_unit_test(bodies_are_read_to_their_end),
        cmocka_unit_test(a_client_that_expects_100_gets_it_before_the_body),
        cmocka_unit_test(a_request_may_be_split_anywhere),
        cmocka_unit_test(pipelined_requests_are_answered_in_order),
        cmocka_unit_test(pipelined_requests_with_a_delay_are_all_answered),
        cmocka_unit_test(many_pipelined_requests_and_a_slow_reader_lose_nothing),
        cmocka_unit_test(malformed_requests_get_the_parsers_status_and_the_end),
        cmocka_unit_test(an_answer_comes_no_sooner_than_the_delay),
        cmocka_unit_test(concurrency_is_counted_over_connections_and_threads),
        cmocka_unit_test(one_after_the_other_is_never_counted_as_two),
        cmocka_unit_test(a_client_that_left_is_not_in_flight),
        cmocka_unit_test(a_client_that_half_closed_is_answered_after_the_delay),
        cmocka_unit_test(an_answer_has_the_size_asked_for),
        cmocka_unit_test(stopping_closes_what_is_open_and_held),
        cmocka_unit_test(only_a_listening_socket_will_do),
    };
    alarm(120); /* a bound against hanging */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
