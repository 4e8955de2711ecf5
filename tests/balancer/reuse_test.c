/* Connections are kept and used again on both sides, and a connection that proves dead or dirty costs no
 * client more than it must: nothing is sent twice that may have been processed, no stray byte becomes an
 * answer. */
#include "harness.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct endpoint *endpoint;

static unsigned start(unsigned nbthread, const struct ep_script *script)
{
    unsigned port;

    endpoint = endpoint_start(script);
    conf_common(nbthread);
    port = conf_listen("fe");
    conf_text("    retries 3\n    option redispatch\n");
    conf_server("s", endpoint, "");
    balancer_start();
    return port;
}

static struct client *opened(unsigned port)
{
    struct client *c = client_open(port);

    assert_non_null(c);
    return c;
}

#define POST "POST /post HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"

static void requests_of_a_client_share_a_connection(void **state)
{
    unsigned port;
    struct client *c;

    (void)state;
    port = start(4, NULL);
    c = opened(port);
    for (unsigned i = 0; i < 50; i++) {
        assert_true(client_text(c, i % 2 ? POST : GET));
        assert_response(c, 200);
    }
    assert_int_equal(ep_stats(endpoint).connections, 1);
    assert_int_equal(ep_stats(endpoint).requests, 50);
}

static void another_client_gets_the_idle_connection(void **state)
{
    unsigned port;

    (void)state;
    port = start(1, NULL);
    for (unsigned i = 0; i < 20; i++)
        assert_request(port, i % 2 ? GET : GET_LAST, 200);
    assert_int_equal(ep_stats(endpoint).connections, 1);
}

static void requests_at_once_have_connections_of_their_own(void **state)
{
    struct client *c[10];
    unsigned port;

    (void)state;
    port = start(2, &(struct ep_script){.gated = true});
    for (unsigned i = 0; i < 10; i++) {
        c[i] = opened(port);
        assert_true(client_text(c[i], GET));
    }
    assert_true(ep_wait_in_flight(endpoint, 10, PATIENCE_MS));
    assert_int_equal(ep_stats(endpoint).connections, 10);
    ep_gate_open(endpoint);
    for (unsigned i = 0; i < 10; i++)
        assert_response(c[i], 200);
}

/* The balancer has been told that its idle connection is over: nothing may be sent on it. */
static void a_connection_closed_while_idle_is_not_used(void **state)
{
    unsigned port;
    struct client *c;

    (void)state;
    port = start(2, NULL);
    c = opened(port);
    for (unsigned i = 0; i < 10; i++) {
        assert_true(client_text(c, POST));
        assert_response(c, 200);
        ep_close_idle(endpoint);
        assert_true(ep_wait_idle(endpoint, PATIENCE_MS));
        usleep(20000);
    }
    assert_int_equal(ep_stats(endpoint).connections, 10);
    assert_int_equal(ep_stats(endpoint).requests, 10);
}

/* Counts what arrives, and closes the connection, unread, at the first byte of its second request. */
struct arrivals {
    pthread_mutex_t lock;
    unsigned seconds; /* second requests of a connection: closed at once */
    unsigned firsts;
    bool always; /* close at the first request too */
};

static enum ep_next close_at_second(struct ep_conn *c, unsigned nth, void *arg)
{
    struct arrivals *a = arg;
    enum ep_next next;

    (void)c;
    pthread_mutex_lock(&a->lock);
    nth ? a->seconds++ : a->firsts++;
    next = nth || (a->always && a->firsts > 1) ? EP_CLOSE : EP_GO_ON;
    pthread_mutex_unlock(&a->lock);
    return next;
}

static struct arrivals counted(struct arrivals *a)
{
    struct arrivals now;

    pthread_mutex_lock(&a->lock);
    now = *a;
    pthread_mutex_unlock(&a->lock);
    return now;
}

static void a_post_on_a_dying_connection_is_sent_once_and_answered_502(void **state)
{
    static struct arrivals a;
    unsigned port;
    struct client *c;

    (void)state;
    a = (struct arrivals){.lock = PTHREAD_MUTEX_INITIALIZER};
    port = start(2, &(struct ep_script){.on_bytes = close_at_second, .arg = &a});
    c = opened(port);
    assert_true(client_text(c, POST));
    assert_response(c, 200);
    assert_true(client_text(c, POST));
    assert_response(c, 502);
    assert_int_equal(counted(&a).seconds, 1);
    assert_int_equal(counted(&a).firsts, 1); /* it wasn't sent again */
    assert_int_equal(ep_stats(endpoint).requests, 1);
    assert_request(port, POST, 200); /* on a new connection */
    assert_int_equal(ep_stats(endpoint).connections, 2);
}

static void a_get_on_a_dying_connection_is_sent_again(void **state)
{
    static struct arrivals a;
    unsigned port;
    struct client *c;

    (void)state;
    a = (struct arrivals){.lock = PTHREAD_MUTEX_INITIALIZER};
    port = start(2, &(struct ep_script){.on_bytes = close_at_second, .arg = &a});
    c = opened(port);
    for (unsigned i = 0; i < 10; i++) {
        assert_true(client_text(c, GET));
        assert_response_body(c, 200, "Hello World!", 12);
    }
    assert_int_equal(counted(&a).seconds, 9);
    assert_int_equal(counted(&a).firsts, 10);
}

/* A new connection that dies is no accident of keeping connections: the one retry is used up. */
static void a_get_is_sent_at_most_twice(void **state)
{
    static struct arrivals a;
    unsigned port;
    struct client *c;

    (void)state;
    a = (struct arrivals){.lock = PTHREAD_MUTEX_INITIALIZER, .always = true};
    port = start(2, &(struct ep_script){.on_bytes = close_at_second, .arg = &a});
    c = opened(port);
    assert_true(client_text(c, GET));
    assert_response(c, 200);
    assert_true(client_text(c, GET));
    assert_response(c, 502);
    assert_int_equal(counted(&a).seconds, 1);
    assert_int_equal(counted(&a).firsts, 2);
}

static void a_new_connection_closed_without_an_answer_is_502(void **state)
{
    unsigned port;

    (void)state;
    port = start(2, &(struct ep_script){.answer = "", .close = true});
    assert_request(port, POST, 502);
    assert_int_equal(ep_stats(endpoint).requests, 1);
}

/* Each connection is closed at about the moment at which the next request comes. */
static enum ep_next close_around_next(struct ep_conn *c, const struct wire_msg *m, void *arg)
{
    static const unsigned us[] = {0, 20, 50, 100, 150, 200, 300, 400};

    (void)arg, (void)m;
    if (!ep_respond(c, 200, "Hello World!", 12))
        return EP_CLOSE;
    usleep(us[ep_conn_number(c) % (sizeof us / sizeof *us)]);
    return EP_CLOSE;
}

/* How often each POST was read as a whole by the endpoint. */
static void check_never_twice(unsigned n)
{
    unsigned *seen = calloc(n, sizeof *seen);
    const struct wire_msg *m;
    unsigned at;

    assert_non_null(seen);
    for (unsigned i = 0; (m = ep_request(endpoint, i)); i++)
        if (sscanf(m->target, "/%u", &at) == 1 && at < n)
            seen[at]++;
    for (unsigned i = 0; i < n; i++)
        if (seen[i] > 1)
            fail_msg("POST %u was sent %u times", i, seen[i]);
    free(seen);
}

static void a_post_racing_with_a_close_is_never_sent_twice(void **state)
{
    unsigned port, good = 0;
    struct client *c;
    char text[128];

    (void)state;
    port = start(2, &(struct ep_script){.on_request = close_around_next});
    c = opened(port);
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(text, sizeof text, "POST /%u HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", i);
        assert_true(client_text(c, text));
        assert_int_equal(client_read(c, false, PATIENCE_MS), WIRE_OK);
        assert_true(c->last.status == 200 || (c->last.status == 502 && c->last.body_len));
        good += c->last.status == 200;
        if (c->last.status == 502) {
            client_close(c);
            c = opened(port);
        }
        usleep(i % 7 * 50);
    }
    check_never_twice(1000);
    assert_true(good > 0);
}

/* --- stray bytes --- */

#define EVIL "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"

/* To /late: an answer, and another behind it, a moment later. To /at-once: in the same packet. Both on the
 * first connection only. */
static enum ep_next too_much(struct ep_conn *c, const struct wire_msg *m, void *arg)
{
    (void)arg;
    if (!strcmp(m->target, "/late")) {
        ep_respond(c, 200, "Hello World!", 12);
        ep_pause(c, 50);
        ep_send_text(c, EVIL);
        return EP_DONE;
    }
    if (!strcmp(m->target, "/at-once")) {
        ep_answered(c);
        ep_send_text(c, "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello World!" EVIL);
        return EP_DONE;
    }
    if (!strcmp(m->target, "/204")) {
        ep_answered(c);
        ep_send_text(c, "HTTP/1.1 204 No Content\r\n\r\n" EVIL);
        return EP_DONE;
    }
    if (!strcmp(m->target, "/before")) { /* an answer to nothing, on a fresh idle connection's next request */
        ep_answered(c);
        ep_send_text(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" EVIL);
        return EP_DONE;
    }
    return EP_GO_ON;
}

static void check_no_smuggling(const char *path, unsigned status)
{
    char text[128];
    unsigned port;
    struct client *c, *other;

    port = start(1, &(struct ep_script){.on_request = too_much});
    c = opened(port);
    other = opened(port);
    snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: h\r\n\r\n", path);
    assert_true(client_text(c, text));
    assert_response(c, status);
    usleep(150000); /* the stray answer has arrived */
    assert_true(client_quiet(c, 0));
    assert_true(client_text(other, "GET /clean HTTP/1.1\r\nHost: h\r\n\r\n"));
    assert_response_body(other, 200, "Hello World!", 12);
    assert_true(client_text(c, "GET /clean HTTP/1.1\r\nHost: h\r\n\r\n"));
    assert_response_body(c, 200, "Hello World!", 12);
    assert_int_equal(ep_stats(endpoint).requests, 3);
    assert_int_not_equal(ep_request(endpoint, 1)->connection, 0);
    assert_int_not_equal(ep_request(endpoint, 2)->connection, 0);
}

static void an_answer_nobody_asked_for_reaches_nobody(void **state)
{
    (void)state;
    check_no_smuggling("/late", 200);
}

static void bytes_behind_an_answer_reach_nobody(void **state)
{
    (void)state;
    check_no_smuggling("/at-once", 200);
}

static void bytes_behind_a_chunked_answer_reach_nobody(void **state)
{
    (void)state;
    check_no_smuggling("/before", 200);
}

static void bytes_behind_an_answer_without_a_body_reach_nobody(void **state)
{
    (void)state;
    check_no_smuggling("/204", 204);
}

/* The same at once, without a moment's rest between: what was there before the next request is not its
 * answer. */
static void a_pipelined_request_does_not_get_the_bytes_behind_an_answer(void **state)
{
    unsigned port;
    struct client *c;

    (void)state;
    port = start(1, &(struct ep_script){.on_request = too_much});
    c = opened(port);
    assert_true(
        client_text(c, "GET /at-once HTTP/1.1\r\nHost: h\r\n\r\nGET /clean HTTP/1.1\r\nHost: h\r\n\r\n"));
    assert_response_body(c, 200, "Hello World!", 12);
    assert_response_body(c, 200, "Hello World!", 12);
}

/* --- servers that can't be reached --- */

static void a_refusing_server_is_passed_over(void **state)
{
    unsigned port, dead;

    (void)state;
    socket_bound(-1, &dead);
    endpoint = endpoint_start(NULL);
    conf_common(2);
    port = conf_listen("fe");
    conf_text("    balance roundrobin\n    timeout connect 100ms\n    retries 1\n    option redispatch\n"
              "    server dead 127.0.0.1:%u\n",
              dead);
    conf_server("s", endpoint, "");
    balancer_start();
    for (unsigned i = 0; i < 10; i++)
        assert_request(port, i % 2 ? GET : POST, 200);
    assert_int_equal(ep_stats(endpoint).requests, 10);
}

static void all_servers_refusing_is_a_whole_503(void **state)
{
    unsigned port, dead[2];
    struct client *c;

    (void)state;
    conf_common(2);
    port = conf_listen("fe");
    conf_text("    balance roundrobin\n    timeout connect 100ms\n    retries 2\n    option redispatch\n");
    for (unsigned i = 0; i < 2; i++) {
        socket_bound(-1, &dead[i]);
        conf_text("    server dead%u 127.0.0.1:%u\n", i, dead[i]);
    }
    balancer_start();
    for (unsigned i = 0; i < 4; i++) {
        c = opened(port);
        assert_true(client_text(c, i % 2 ? GET : POST));
        assert_response(c, 503);
        client_close(c);
    }
}

/* It refuses at first and listens then. */
static void a_server_that_comes_up_is_used(void **state)
{
    unsigned port, late;
    int listener;
    struct client *c;

    (void)state;
    listener = socket_bound(-1, &late);
    conf_common(2);
    port = conf_listen("fe");
    conf_text("    timeout connect 100ms\n    retries 0\n    server late 127.0.0.1:%u\n", late);
    balancer_start();
    assert_request(port, GET, 503);
    assert_int_equal(listen(listener, 16), 0);
    c = opened(port);
    assert_true(client_text(c, GET));
    int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(fd >= 0);
    bool sent =
        wire_send(fd, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 40, wire_now_ms() + PATIENCE_MS);
    assert_response_body(c, 200, "ok", 2);
    close(fd);
    assert_true(sent);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        SYSTEM_TEST(requests_of_a_client_share_a_connection),
        SYSTEM_TEST(another_client_gets_the_idle_connection),
        SYSTEM_TEST(requests_at_once_have_connections_of_their_own),
        SYSTEM_TEST(a_connection_closed_while_idle_is_not_used),
        SYSTEM_TEST(a_post_on_a_dying_connection_is_sent_once_and_answered_502),
        SYSTEM_TEST(a_get_on_a_dying_connection_is_sent_again),
        SYSTEM_TEST(a_get_is_sent_at_most_twice),
        SYSTEM_TEST(a_new_connection_closed_without_an_answer_is_502),
        SYSTEM_TEST(a_post_racing_with_a_close_is_never_sent_twice),
        SYSTEM_TEST(an_answer_nobody_asked_for_reaches_nobody),
        SYSTEM_TEST(bytes_behind_an_answer_reach_nobody),
        SYSTEM_TEST(bytes_behind_a_chunked_answer_reach_nobody),
        SYSTEM_TEST(bytes_behind_an_answer_without_a_body_reach_nobody),
        SYSTEM_TEST(a_pipelined_request_does_not_get_the_bytes_behind_an_answer),
        SYSTEM_TEST(a_refusing_server_is_passed_over),
        SYSTEM_TEST(all_servers_refusing_is_a_whole_503),
        SYSTEM_TEST(a_server_that_comes_up_is_used),
    };

    return harness_main(argc, argv, "reuse", tests, sizeof tests / sizeof *tests);
}
