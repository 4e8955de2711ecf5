/* From start to stop: an orderly end under load, every time-out, clients and servers that dawdle, half-close
 * or stop reading, connection limits, and nothing left behind: no descriptor, no memory. */
#include "harness.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct endpoint *endpoint;

/* A balancer over one endpoint; options: lines of its listen section, server_options its server's. */
static unsigned start_with(unsigned nbthread, const struct ep_script *script, const char *options,
                           const char *server_options)
{
    unsigned port;

    endpoint = endpoint_start(script);
    conf_common(nbthread);
    port = conf_listen("fe");
    conf_text("%s", options);
    conf_server("s", endpoint, server_options);
    balancer_start();
    return port;
}

static unsigned start(unsigned nbthread, const struct ep_script *script, const char *options)
{
    return start_with(nbthread, script, options, "");
}

static struct client *opened(unsigned port)
{
    struct client *c = client_open(port);

    assert_non_null(c);
    return c;
}

/* Memory that the balancer may use on top; sanitizers multiply it. */
static size_t kb(size_t n)
{
    return getenv("PAWL_SANITIZER") ? n * 8 : n;
}

/* --- stopping --- */

static void wait_refused(unsigned port)
{
    int64_t end = wire_now_ms() + PATIENCE_MS;
    struct client *c;

    while ((c = client_open(port))) {
        client_close(c);
        if (wire_now_ms() > end)
            fail_msg("new connections are still accepted");
        usleep(20000);
    }
    assert_int_equal(errno, ECONNREFUSED);
}

static void check_stop_when_idle(int sig)
{
    int status;

    start(4, NULL, "");
    balancer_signal(sig);
    status = balancer_wait(PATIENCE_MS);
    if (status != 0 && !(sig == SIGINT && (status == 128 + SIGINT)))
        fail_msg("exit status %d", status);
    assert_int_equal(ep_stats(endpoint).connections, 0);
}

static void sigterm_ends_an_idle_balancer(void **state)
{
    (void)state;
    check_stop_when_idle(SIGTERM);
}

static void sigint_ends_an_idle_balancer(void **state)
{
    (void)state;
    check_stop_when_idle(SIGINT);
}

static void sigterm_closes_idle_connections_in_order(void **state)
{
    struct client *c[5];
    unsigned port;

    (void)state;
    port = start(2, NULL, "");
    for (unsigned i = 0; i < 5; i++) {
        c[i] = opened(port);
        assert_true(client_text(c[i], GET));
        assert_response(c[i], 200);
    }
    balancer_signal(SIGTERM);
    for (unsigned i = 0; i < 5; i++)
        assert_closed(c[i]);
    assert_int_equal(balancer_wait(PATIENCE_MS), 0);
}

static void sigterm_lets_answers_in_flight_and_queued_requests_finish(void **state)
{
    struct client *c[20];
    unsigned port;

    (void)state;
    port = start_with(4, &(struct ep_script){.gated = true, .body_len = 300000}, "", "maxconn 5");
    for (unsigned i = 0; i < 20; i++) {
        c[i] = opened(port);
        assert_true(client_text(c[i], GET));
        assert_true(client_taken(c[i], PATIENCE_MS));
    }
    assert_true(ep_wait_in_flight(endpoint, 5, PATIENCE_MS));
    balancer_signal(SIGTERM);
    wait_refused(port);
    sleep(4); /* idle connections may be closed by now, these not */
    assert_true(balancer_alive());
    ep_gate_open(endpoint);
    for (unsigned i = 0; i < 20; i++) {
        assert_response(c[i], 200);
        assert_int_equal(c[i]->last.body_len, 300000);
        assert_closed(c[i]);
    }
    assert_int_equal(balancer_wait(PATIENCE_MS), 0);
    assert_int_equal(ep_stats(endpoint).requests, 20);
}

/* Half a head may be on its way when the stop begins, and even its connection may not have been accepted. */
static void a_stop_ends_though_heads_stay_incomplete(void **state)
{
    struct client *c[40];
    unsigned port;

    (void)state;
    port = start_with(1, NULL, "    timeout http-request 1s\n", "");
    balancer_signal(SIGSTOP);
    for (unsigned i = 0; i < 40; i++) {
        c[i] = client_open(port);
        assert_non_null(c[i]);
        assert_true(client_text(c[i], "GET / HTTP/1.1\r\nHo"));
    }
    balancer_signal(SIGTERM);
    balancer_signal(SIGCONT);
    for (unsigned i = 0; i < 40; i++)
        assert_response(c[i], 408);
    assert_int_equal(balancer_wait(PATIENCE_MS), 0);
}

/* Clients that send one request after the other while the balancer stops. Every one that was sent is
 * answered. */
static void check_stop_under_load(unsigned (*listen_section)(const char *))
{
    struct load_run *l;
    struct load_result r;
    unsigned port;

    endpoint = endpoint_start(&(struct ep_script){.delay_ms = 1});
    conf_common(4);
    port = listen_section("fe");
    conf_server("s", endpoint, "");
    balancer_start();
    l = load_start(&(struct load){.port = port, .clients = 40, .requests = UINT_MAX});
    usleep(500000);
    balancer_signal(SIGTERM);
    assert_int_equal(balancer_wait(PATIENCE_MS), 0);
    r = load_stop(l);
    assert_int_equal(r.status[2], r.answered);
    assert_true(r.answered > 40);
    if (r.truncated + r.reset + r.timeout + r.bad + r.closed)
        fail_msg("%u truncated, %u reset, %u timed out, %u bad, %u closed without an answer", r.truncated,
                 r.reset, r.timeout, r.bad, r.closed);
}

static void sigterm_under_keep_alive_load_resets_nobody(void **state)
{
    (void)state;
    check_stop_under_load(conf_listen_address);
}

static void sigterm_under_keep_alive_load_on_an_inherited_socket_resets_nobody(void **state)
{
    (void)state;
    check_stop_under_load(conf_listen);
}

/* --- time-outs --- */

static void one_header_byte_at_a_time_is_cut_off_with_408(void **state)
{
    static const char text[] = "GET / HTTP/1.1\r\nHost: h\r\nX: 0123456789012345678901234567890123456789"
                               "0123456789012345678901234567890123456789012345678901234567890123456789";
    unsigned port;
    struct client *c;

    (void)state;
    port = start(2, NULL, "    timeout http-request 1s\n");
    c = opened(port);
    size_t sent = 0;
    while (sent < sizeof text - 1 && client_quiet(c, 200))
        client_send(c, text + sent++, 1);
    assert_true(sent < sizeof text - 1); /* each byte starts no new time */
    assert_response(c, 408);
    assert_closed(c);
    assert_int_equal(ep_stats(endpoint).connections, 0);
}

static void a_silent_connection_is_closed_without_a_word(void **state)
{
    unsigned port;

    (void)state;
    port = start(2, NULL, "    timeout http-request 300ms\n");
    assert_closed(opened(port));
}

static void a_kept_connection_is_closed_at_its_time_out_without_a_word(void **state)
{
    unsigned port;
    struct client *c;

    (void)state;
    port = start(2, NULL, "    timeout http-keep-alive 300ms\n");
    c = opened(port);
    assert_true(client_text(c, GET));
    assert_response(c, 200);
    assert_closed(c);
}

/* The time for a head starts with its first byte. */
static void a_kept_connection_has_its_own_time_out(void **state)
{
    unsigned port;
    struct client *c;

    (void)state;
    port = start(2, NULL, "    timeout http-request 500ms\n");
    c = opened(port);
    assert_true(client_text(c, GET));
    assert_response(c, 200);
    usleep(1000000);
    assert_true(client_text(c, GET));
    assert_response(c, 200);
    usleep(1000000);
    assert_true(client_text(c, "GET / HTT"));
    assert_response(c, 408);
    assert_closed(c);
}

static void a_body_that_stops_coming_is_408(void **state)
{
    unsigned port;
    struct client *c;

    (void)state;
    port = start(2, NULL, "    timeout client 400ms\n");
    c = opened(port);
    assert_true(client_text(c, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nsome"));
    assert_response(c, 408);
    assert_closed(c);
    assert_true(ep_wait_idle(endpoint, PATIENCE_MS));
    assert_int_equal(ep_stats(endpoint).requests, 0);
}

static void a_server_that_stays_silent_is_a_whole_504(void **state)
{
    unsigned port;
    struct client *c;

    (void)state;
    port = start(2, &(struct ep_script){.gated = true}, "    timeout server 400ms\n");
    c = opened(port);
    assert_true(client_text(c, GET));
    assert_response(c, 504);
    assert_true(ep_wait_idle(endpoint, PATIENCE_MS));
    assert_int_equal(ep_stats(endpoint).requests, 1); /* not sent again */
}

static enum ep_next stop_inside(struct ep_conn *c, const struct wire_msg *m, void *arg)
{
    (void)m, (void)arg;
    ep_send_text(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome");
    return ep_gate_wait(c) ? EP_DONE : EP_CLOSE;
}

static void a_server_that_stops_inside_its_answer_is_cut_off(void **state)
{
    unsigned port;
    struct client *c;
    enum wire_result r;

    (void)state;
    port = start(2, &(struct ep_script){.on_request = stop_inside}, "    timeout server 400ms\n");
    c = opened(port);
    assert_true(client_text(c, GET));
    r = client_read(c, false, PATIENCE_MS);
    assert_true(r == WIRE_TRUNCATED || r == WIRE_RESET);
    assert_true(ep_wait_idle(endpoint, PATIENCE_MS));
}

/* A listener whose queue is full answers no SYN. */
static void a_server_that_does_not_accept_is_a_whole_503(void **state)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    unsigned port, full;
    int fillers[8];
    struct client *c;

    (void)state;
    socket_bound(0, &full);
    a.sin_port = htons((uint16_t)full);
    for (unsigned i = 0; i < 8; i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)!connect(fillers[i], (struct sockaddr *)&a, sizeof a);
    }
    conf_common(2);
    port = conf_listen("fe");
    conf_text("    timeout connect 300ms\n    retries 1\n    server full 127.0.0.1:%u\n", full);
    balancer_start();
    c = opened(port);
    assert_true(client_text(c, GET));
    assert_int_equal(client_read(c, false, PATIENCE_MS), WIRE_OK);
    for (unsigned i = 0; i < 8; i++)
        close(fillers[i]);
    assert_true(c->last.status == 503 || c->last.status == 504);
    assert_true(c->last.body_len > 0);
}

/* --- clients and servers with manners of their own --- */

static enum ep_next continue_first(struct ep_conn *c, const struct wire_msg *m, void *arg)
{
    (void)arg;
    if (wire_field(m, "Expect") && !strcmp(m->target, "/yes"))
        ep_send_text(c, "HTTP/1.1 100 Continue\r\n\r\n");
    if (!strcmp(m->target, "/no")) {
        ep_answered(c);
        ep_send_text(c,
                     "HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno");
        return EP_CLOSE;
    }
    return EP_GO_ON;
}

static enum ep_next echo(struct ep_conn *c, const struct wire_msg *m, void *arg)
{
    (void)arg;
    return ep_respond(c, 200, m->body, m->body_len) ? EP_DONE : EP_CLOSE;
}

static void expect_continue_passes_both_ways(void **state)
{
    unsigned port;
    struct client *c;

    (void)state;
    port = start(2, &(struct ep_script){.on_head = continue_first, .on_request = echo}, "");
    c = opened(port);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(client_text(c, "POST /yes HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n"
                                   "Expect: 100-continue\r\n\r\n"));
        assert_response(c, 100); /* at once: the body isn't sent yet */
        assert_true(client_text(c, "hello"));
        assert_response_body(c, 200, "hello", 5);
    }
    assert_int_equal(ep_stats(endpoint).bad, 0);
}

static void a_refused_expectation_is_answered_without_the_body(void **state)
{
    unsigned port;
    struct client *c;

    (void)state;
    port = start(2, &(struct ep_script){.on_head = continue_first, .on_request = echo}, "");
    c = opened(port);
    assert_true(
        client_text(c, "POST /no HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"));
    assert_response_body(c, 417, "no", 2);
}

static void a_half_closing_client_gets_its_whole_answer(void **state)
{
    char *body = malloc(3000000);
    unsigned port;
    struct client *c;

    (void)state;
    assert_non_null(body);
    ep_pattern(body, 3000000, 0);
    port = start(2, &(struct ep_script){.gated = true, .body_len = 3000000}, "");
    c = opened(port);
    assert_true(client_text(c, GET));
    client_half_close(c);
    assert_true(ep_wait_in_flight(endpoint, 1, PATIENCE_MS));
    usleep(100000);
    ep_gate_open(endpoint);
    assert_response_body(c, 200, body, 3000000);
    assert_closed(c);
    free(body);
}

#define HUGE_BYTES (200u << 20)

/* How much a hook has moved; the test watches it stop. */
static struct {
    pthread_mutex_t lock;
    uint64_t bytes;
    bool finished;
} moved = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void move(uint64_t n, bool finished)
{
    pthread_mutex_lock(&moved.lock);
    moved.bytes += n;
    moved.finished = moved.finished || finished;
    pthread_mutex_unlock(&moved.lock);
}

static uint64_t moved_so_far(bool *finished)
{
    pthread_mutex_lock(&moved.lock);
    uint64_t n = moved.bytes;
    *finished = moved.finished;
    pthread_mutex_unlock(&moved.lock);
    return n;
}

static enum ep_next send_huge(struct ep_conn *c, const struct wire_msg *m, void *arg)
{
    static const char data[1 << 16];
    char head[64];

    (void)m, (void)arg;
    snprintf(head, sizeof head, "HTTP/1.1 200 OK\r\nContent-Length: %u\r\n\r\n", HUGE_BYTES);
    if (!ep_send_text(c, head))
        return EP_CLOSE;
    for (unsigned at = 0; at < HUGE_BYTES; at += sizeof data) {
        if (!ep_send(c, data, sizeof data))
            return EP_CLOSE;
        move(sizeof data, false);
    }
    move(0, true);
    return EP_DONE;
}

static void a_client_that_stops_reading_stops_the_server_not_the_memory(void **state)
{
    uint64_t before = UINT64_MAX, now;
    size_t memory;
    unsigned port;
    bool finished;
    struct client *c;

    (void)state;
    moved.bytes = 0;
    moved.finished = false;
    port = start(2, &(struct ep_script){.on_request = send_huge}, "");
    assert_request(port, "?\r\n\r\n", 400); /* so that its buffers exist */
    memory = balancer_rss_kb();
    c = opened(port);
    assert_true(client_text(c, GET));
    assert_int_equal(wire_read_response_head(&c->w, &c->last, false, wire_now_ms() + PATIENCE_MS), WIRE_OK);
    for (; (now = moved_so_far(&finished)) != before || now == 0; usleep(300000))
        before = now;
    assert_false(finished);
    assert_true(balancer_rss_kb() < memory + kb(8192));
    now = c->w.len - c->w.off; /* what came with the head */
    while (now < HUGE_BYTES) {
        char data[1 << 16];
        ssize_t n = recv(c->w.fd, data, sizeof data, 0);

        assert_true(n > 0);
        now += (uint64_t)n;
    }
    assert_int_equal(now, HUGE_BYTES);
    c->w.off = c->w.len = 0;
    assert_true(client_quiet(c, 50));
    assert_true(balancer_rss_kb() < memory + kb(8192));
}

/* Reads the body itself, once the gate is open. */
static enum ep_next take_huge(struct ep_conn *c, const struct wire_msg *m, void *arg)
{
    static char data[1 << 16]; /* one connection at a time */
    struct wire *w = ep_wire(c);
    uint64_t got = w->len - w->off;

    (void)m, (void)arg;
    if (!ep_gate_wait(c))
        return EP_CLOSE;
    while (got < HUGE_BYTES) {
        ssize_t n = recv(w->fd, data, sizeof data, 0);

        if (n <= 0)
            return EP_CLOSE;
        got += (uint64_t)n;
    }
    move(got, true);
    ep_respond(c, 200, "taken", 5);
    return EP_CLOSE;
}

static void a_server_that_stops_reading_stops_the_client_not_the_memory(void **state)
{
    static const char data[1 << 16];
    uint64_t sent = 0;
    size_t memory;
    unsigned port;
    bool finished;
    struct client *c;

    (void)state;
    moved.bytes = 0;
    moved.finished = false;
    port = start(2, &(struct ep_script){.on_head = take_huge}, "");
    memory = balancer_rss_kb();
    c = opened(port);
    char head[128];
    snprintf(head, sizeof head, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: %u\r\n\r\n", HUGE_BYTES);
    assert_true(client_text(c, head));
    for (unsigned idle = 0; idle < 10;) { /* until nothing more is taken for a while */
        ssize_t n = send(c->w.fd, data, sizeof data, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n > 0) {
            sent += (uint64_t)n;
            idle = 0;
        } else {
            idle++;
            usleep(30000);
        }
        assert_true(sent < HUGE_BYTES / 2);
    }
    assert_true(balancer_rss_kb() < memory + kb(8192));
    ep_gate_open(endpoint);
    while (sent < HUGE_BYTES) {
        size_t n = HUGE_BYTES - sent < sizeof data ? (size_t)(HUGE_BYTES - sent) : sizeof data;

        assert_true(client_send(c, data, n));
        sent += n;
    }
    assert_response_body(c, 200, "taken", 5);
    assert_int_equal(moved_so_far(&finished), HUGE_BYTES);
    assert_true(balancer_rss_kb() < memory + kb(8192));
}

/* A hundred clients that each send as much of a head as is taken. */
static void endless_heads_take_bounded_memory(void **state)
{
    static const char *const starts[] = {
        "GET /", "GET / HTTP/1.1\r\nHost: h\r\n",
        "GET / HTTP/1.1\r\nX: ", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1;"};
    static const char *const pieces[] = {"xxxxxxxxxxxxxxxx", "X-Yyyyyyyyy: z\r\n", "yyyyyyyyyyyyyyyy",
                                         "zzzzzzzzzzzzzzzz"};
    struct client *c[100];
    char piece[16 * 64 + 1] = "";
    size_t memory;
    unsigned port;

    (void)state;
    port = start(2, NULL, "");
    memory = balancer_rss_kb();
    for (unsigned i = 0; i < 100; i++) {
        c[i] = opened(port);
        client_text(c[i], starts[i % 4]);
        for (unsigned k = 0; k < 64; k++)
            memcpy(piece + 16 * k, pieces[i % 4], 17);
        for (unsigned k = 0; k < 128 && client_text(c[i], piece); k++)
            ;
    }
    for (unsigned i = 0; i < 100; i++) {
        enum wire_result r = client_read(c[i], false, PATIENCE_MS);

        if (r != WIRE_OK || c[i]->last.status < 400 || c[i]->last.status > 431)
            fail_msg("%s...: %s, status %u", starts[i % 4], wire_result_text(r), c[i]->last.status);
    }
    assert_int_equal(ep_stats(endpoint).requests, 0);
    assert_true(balancer_rss_kb() < memory + kb(16384));
    assert_request(port, GET, 200);
}

/* --- limits --- */

static void check_connection_limit(unsigned port)
{
    struct client *c[6];

    for (unsigned i = 0; i < 6; i++) {
        c[i] = opened(port);
        assert_true(client_text(c[i], GET));
        if (i < 3)
            assert_response(c[i], 200);
    }
    for (unsigned i = 3; i < 6; i++)
        assert_true(client_quiet(c[i], 150));
    for (unsigned i = 0; i < 3; i++) {
        client_close(c[i]);
        assert_response(c[3 + i], 200);
    }
}

/* Each client served needs two descriptors: with fewer, some wait, but those that were let in are served. */
static void few_open_files_serve_few_clients_at_a_time(void **state)
{
    struct client *c[40];
    unsigned port;

    (void)state;
    if (getenv("PAWL_SANITIZER")) /* whose own files count too */
        skip();
    balancer_limit_files(64);
    port = start_with(2, NULL, "", "");
    for (unsigned i = 0; i < 40; i++) {
        c[i] = opened(port);
        assert_true(client_text(c[i], GET_LAST));
    }
    for (unsigned i = 0; i < 40; i++)
        assert_response(c[i], 200);
}

static void connections_over_a_frontends_maxconn_are_served_later(void **state)
{
    (void)state;
    check_connection_limit(start(2, NULL, "    maxconn 3\n"));
}

static void connections_over_the_global_maxconn_are_served_later(void **state)
{
    unsigned port;

    (void)state;
    endpoint = endpoint_start(NULL);
    conf_text("global\n    nbthread 2\n    maxconn 3\n");
    conf_defaults();
    port = conf_listen("fe");
    conf_server("s", endpoint, "");
    balancer_start();
    check_connection_limit(port);
}

static void a_frontend_and_a_backend_work_as_a_listen_does(void **state)
{
    unsigned port;

    (void)state;
    endpoint = endpoint_start(NULL);
    conf_common(2);
    conf_text("\nbackend be\n    balance roundrobin\n");
    conf_server("s", endpoint, "");
    port = conf_listen("fe");
    conf_text("    default_backend be\n");
    balancer_start();
    assert_request(port, GET, 200);
}

static void a_listener_of_its_own_serves(void **state)
{
    unsigned port;
    struct load_result r;

    (void)state;
    endpoint = endpoint_start(NULL);
    conf_common(4);
    port = conf_listen_address("fe");
    conf_server("s", endpoint, "");
    balancer_start();
    r = load_wait(load_start(&(struct load){.port = port, .clients = 20, .requests = 20, .reconnect = true}));
    assert_int_equal(r.status[2], 400);
    balancer_signal(SIGTERM);
    assert_int_equal(balancer_wait(PATIENCE_MS), 0);
    assert_null(client_open(port));
}

/* --- nothing left behind --- */

static unsigned fds_at_rest(void)
{
    int64_t end = wire_now_ms() + 2000;
    unsigned least = UINT_MAX;

    ep_close_idle(endpoint);
    while (wire_now_ms() < end) {
        unsigned n = balancer_fds();

        least = n < least ? n : least;
        usleep(20000);
    }
    return least;
}

static void errors_of_every_kind_leave_no_descriptor(void **state)
{
    unsigned port, dead, bad_port, base;
    struct endpoint *bad;

    (void)state;
    socket_bound(-1, &dead);
    endpoint = endpoint_start(&(struct ep_script){.delay_ms = 1});
    bad = endpoint_start(
        &(struct ep_script){.answer = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", .close = true});
    conf_common(4);
    port = conf_listen("fe");
    conf_text("    timeout http-request 300ms\n    timeout queue 20ms\n");
    conf_server("s", endpoint, "maxconn 2");
    bad_port = conf_listen("bad");
    conf_text("    balance roundrobin\n    retries 0\n    server dead 127.0.0.1:%u\n", dead);
    conf_server("s", bad, "");
    balancer_start();
    load_wait(load_start(&(struct load){.port = port, .clients = 20, .requests = 5}));
    base = fds_at_rest();
    for (unsigned i = 0; i < 3; i++) {
        load_wait(load_start(&(struct load){
            .port = port, .clients = 30, .requests = 30, .abort_percent = 40, .abort_us = 3000}));
        load_wait(load_start(&(struct load){.port = bad_port, .clients = 10, .requests = 10}));
        load_wait(
            load_start(&(struct load){.port = port, .clients = 10, .requests = 10, .text = "bad\r\n\r\n"}));
        load_wait(load_start(&(struct load){.port = port, .clients = 30, .requests = 1, .text = "GET / HT"}));
    }
    assert_true(fds_at_rest() <= base);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        SYSTEM_TEST(sigterm_ends_an_idle_balancer),
        SYSTEM_TEST(sigint_ends_an_idle_balancer),
        SYSTEM_TEST(sigterm_closes_idle_connections_in_order),
        SYSTEM_TEST(sigterm_lets_answers_in_flight_and_queued_requests_finish),
        SYSTEM_TEST(a_stop_ends_though_heads_stay_incomplete),
        SYSTEM_TEST(sigterm_under_keep_alive_load_resets_nobody),
        SYSTEM_TEST(sigterm_under_keep_alive_load_on_an_inherited_socket_resets_nobody),
        SYSTEM_TEST(one_header_byte_at_a_time_is_cut_off_with_408),
        SYSTEM_TEST(a_silent_connection_is_closed_without_a_word),
        SYSTEM_TEST(a_kept_connection_is_closed_at_its_time_out_without_a_word),
        SYSTEM_TEST(a_kept_connection_has_its_own_time_out),
        SYSTEM_TEST(a_body_that_stops_coming_is_408),
        SYSTEM_TEST(a_server_that_stays_silent_is_a_whole_504),
        SYSTEM_TEST(a_server_that_stops_inside_its_answer_is_cut_off),
        SYSTEM_TEST(a_server_that_does_not_accept_is_a_whole_503),
        SYSTEM_TEST(expect_continue_passes_both_ways),
        SYSTEM_TEST(a_refused_expectation_is_answered_without_the_body),
        SYSTEM_TEST(a_half_closing_client_gets_its_whole_answer),
        SYSTEM_TEST(a_client_that_stops_reading_stops_the_server_not_the_memory),
        SYSTEM_TEST(a_server_that_stops_reading_stops_the_client_not_the_memory),
        SYSTEM_TEST(endless_heads_take_bounded_memory),
        SYSTEM_TEST(few_open_files_serve_few_clients_at_a_time),
        SYSTEM_TEST(connections_over_a_frontends_maxconn_are_served_later),
        SYSTEM_TEST(connections_over_the_global_maxconn_are_served_later),
        SYSTEM_TEST(a_frontend_and_a_backend_work_as_a_listen_does),
        SYSTEM_TEST(a_listener_of_its_own_serves),
        SYSTEM_TEST(errors_of_every_kind_leave_no_descriptor),
    };

    return harness_main(argc, argv, "lifecycle", tests, sizeof tests / sizeof *tests);
}
