/* Good messages pass intact both ways: every kind of body, byte for byte, whatever the versions and
 * connections on either side; only what a proxy has to change is changed. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct endpoint *endpoint;

/* A balancer with two threads over one endpoint; returns its port. */
static unsigned start(const struct ep_script *script)
{
    unsigned port;

    endpoint = endpoint_start(script);
    conf_common(2);
    port = conf_listen("fe");
    conf_text("    option forwardfor\n");
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

static enum ep_next echo(struct ep_conn *c, const struct wire_msg *m, void *arg)
{
    (void)arg;
    return ep_respond(c, 200, m->body, m->body_len) ? EP_DONE : EP_CLOSE;
}

/* The body in chunks of a size that changes each time. */
static enum ep_next echo_chunked(struct ep_conn *c, const struct wire_msg *m, void *arg)
{
    size_t piece = 1;
    bool ok = ep_send_text(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");

    (void)arg;
    for (size_t at = 0; ok && at < m->body_len;) {
        size_t n = m->body_len - at < piece ? m->body_len - at : piece;
        char line[32];
        int k = snprintf(line, sizeof line, "%zx\r\n", n);

        ok = ep_send(c, line, (size_t)k) && ep_send(c, m->body + at, n) && ep_send_text(c, "\r\n");
        at += n;
        piece = piece < 100000 ? piece * 3 + 1 : 4096;
    }
    return ok && ep_send_text(c, "0\r\n\r\n") ? EP_DONE : EP_CLOSE;
}

static enum ep_next echo_until_close(struct ep_conn *c, const struct wire_msg *m, void *arg)
{
    (void)arg;
    if (ep_send_text(c, "HTTP/1.1 200 OK\r\n\r\n"))
        ep_send(c, m->body, m->body_len);
    return EP_CLOSE;
}

static const size_t sizes[] = {0, 1, 5, 16384, 16385, 1 << 20, 20 << 20};
#define NSIZES (sizeof sizes / sizeof *sizes)

static char *pattern(size_t n)
{
    char *body = malloc(n + 1);

    assert_non_null(body);
    ep_pattern(body, n, (unsigned)n);
    return body;
}

static void send_with_length(struct client *c, const char *body, size_t n)
{
    char head[128];

    snprintf(head, sizeof head, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: %zu\r\n\r\n", n);
    assert_true(client_text(c, head));
    assert_true(client_send(c, body, n));
}

static void send_chunked(struct client *c, const char *body, size_t n)
{
    char line[32];

    assert_true(client_text(c, "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"));
    for (size_t at = 0, piece = 1; at < n; piece = piece < 50000 ? piece * 5 + 2 : 8192) {
        size_t k = n - at < piece ? n - at : piece;

        snprintf(line, sizeof line, "%zX;ext=\"a b\"\r\n", k);
        assert_true(client_text(c, line));
        assert_true(client_send(c, body + at, k));
        assert_true(client_text(c, "\r\n"));
        at += k;
    }
    assert_true(client_text(c, "0\r\n\r\n"));
}

/* Bodies of all sizes through one balancer, on one connection as long as it lasts. */
static void check_bodies(enum ep_next (*handler)(struct ep_conn *, const struct wire_msg *, void *),
                         void (*send_request)(struct client *, const char *, size_t))
{
    unsigned port = start(&(struct ep_script){.on_request = handler});
    struct client *c = opened(port);

    for (unsigned i = 0; i < NSIZES; i++) {
        char *body = pattern(sizes[i]);
        const struct wire_msg *seen;

        send_request(c, body, sizes[i]);
        assert_response_body(c, 200, body, sizes[i]);
        assert_int_equal(ep_stats(endpoint).requests, i + 1);
        seen = ep_request(endpoint, i);
        assert_int_equal(seen->body_len, sizes[i]);
        assert_memory_equal(seen->body, body, sizes[i]);
        free(body);
        if (c->last.framing == WIRE_UNTIL_CLOSE || wire_field(&c->last, "Connection")) {
            client_close(c);
            c = opened(port);
        }
    }
    assert_int_equal(ep_stats(endpoint).bad, 0);
}

static void bodies_with_a_length_pass_exactly(void **state)
{
    (void)state;
    check_bodies(echo, send_with_length);
}

static void chunked_requests_pass_exactly(void **state)
{
    (void)state;
    check_bodies(echo, send_chunked);
}

static void chunked_answers_pass_exactly(void **state)
{
    (void)state;
    check_bodies(echo_chunked, send_with_length);
}

static void chunked_both_ways_passes_exactly(void **state)
{
    (void)state;
    check_bodies(echo_chunked, send_chunked);
}

static void answers_that_end_with_the_connection_pass_exactly(void **state)
{
    (void)state;
    check_bodies(echo_until_close, send_with_length);
}

static void a_chunked_request_may_be_cut_anywhere(void **state)
{
    static const char request[] =
        "POST /c HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        "5\r\nhello\r\n1;e=f\r\n \r\n00a\r\n0123456789\r\n0\r\nX-Trailer: t\r\n\r\n";
    unsigned port;

    (void)state;
    port = start(&(struct ep_script){.on_request = echo});
    struct client *c = opened(port);
    for (size_t cut = 0; cut < sizeof request - 1; cut++) {
        assert_true(client_send_cut(c, request, sizeof request - 1, cut));
        assert_response_body(c, 200, "hello 0123456789", 16);
    }
    assert_int_equal(ep_stats(endpoint).bad, 0);
}

static enum ep_next answer_slowly(struct ep_conn *c, const struct wire_msg *m, void *arg)
{
    const char *text = m->target[1] == 'c' ? "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                             "5;x\r\nhello\r\n1\r\n \r\n005\r\nworld\r\n0\r\nT: t\r\n\r\n"
                                           : "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world";

    (void)arg;
    for (; *text; text++)
        if (!ep_send(c, text, 1) || !ep_pause(c, 2))
            return EP_CLOSE;
    return EP_DONE;
}

static void an_answer_may_come_byte_by_byte(void **state)
{
    unsigned port;

    (void)state;
    port = start(&(struct ep_script){.on_request = answer_slowly});
    struct client *c = opened(port);
    assert_true(client_text(c, "GET /chunked HTTP/1.1\r\nHost: h\r\n\r\n"));
    assert_response_body(c, 200, "hello world", 11);
    assert_true(client_text(c, "GET /length HTTP/1.1\r\nHost: h\r\n\r\n"));
    assert_response_body(c, 200, "hello world", 11);
}

/* Answers by path: those that have no body whatever their header says. */
static enum ep_next answer_by_path(struct ep_conn *c, const struct wire_msg *m, void *arg)
{
    static const struct {
        const char *path, *answer;
        enum ep_next next;
    } table[] = {
        {"/head", "HTTP/1.1 200 OK\r\nContent-Length: 12345\r\nX-A: b\r\n\r\n", EP_DONE},
        {"/head-chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", EP_DONE},
        {"/head-plain", "HTTP/1.1 200 OK\r\n\r\n", EP_DONE},
        {"/204", "HTTP/1.1 204 No Content\r\n\r\n", EP_DONE},
        {"/304", "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\nContent-Length: 100\r\n\r\n", EP_DONE},
        {"/no-reason", "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nok", EP_DONE},
        {"/1.0", "HTTP/1.0 200 OK\r\n\r\nold", EP_CLOSE},
        {"/1.0-kept", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", EP_DONE},
        {"/close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", EP_CLOSE},
        {"/early",
         "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
         EP_DONE},
        {"/short", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this", EP_CLOSE},
        {"/short-chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", EP_CLOSE},
        {"/bad-chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nx\r\n", EP_DONE},
        {"/fields",
         "HTTP/1.1 200 OK\r\nConnection: x-secret, keep-alive\r\nX-Secret: 1\r\nKeep-Alive: timeout=5\r\n"
         "Proxy-Connection: keep-alive\r\nX-Same: 1\r\nX-Same: 2\r\nX-Spaces: a  b\t c\r\n"
         "Set-Cookie: a=b; Path=/\r\nContent-Length: 2\r\n\r\nok",
         EP_DONE},
        {"/chunked",
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
         EP_DONE},
    };

    (void)arg;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (!strcmp(table[i].path, m->target)) {
            ep_answered(c);
            return ep_send_text(c, table[i].answer) ? table[i].next : EP_CLOSE;
        }
    return EP_GO_ON;
}

static struct client *by_path(void)
{
    return opened(start(&(struct ep_script){.on_request = answer_by_path}));
}

static void ask(struct client *c, const char *method, const char *path)
{
    char text[256];

    snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: h\r\n\r\n", method, path);
    assert_true(client_text(c, text));
}

static void head_gets_the_head_alone(void **state)
{
    static const char *const paths[] = {"/head", "/head-plain", "/head-chunked"};
    struct client *c;

    (void)state;
    c = by_path();
    for (size_t i = 0; i < 3; i++) {
        ask(c, "HEAD", paths[i]);
        assert_response_to_head(c, 200);
        if (i == 0) {
            assert_string_equal(wire_field(&c->last, "Content-Length"), "12345");
            assert_string_equal(wire_field(&c->last, "X-A"), "b");
        }
        ask(c, "GET", "/"); /* nothing of a body is left behind */
        assert_response_body(c, 200, "Hello World!", 12);
    }
    assert_int_equal(ep_stats(endpoint).connections, 1);
}

static void a_refusal_behind_a_head_request_has_its_body(void **state)
{
    struct client *c;
    unsigned port;

    (void)state;
    port = start(NULL);
    c = opened(port);
    assert_true(client_text(c, "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n"));
    assert_response_to_head(c, 200);
    assert_true(client_text(c, "BAD\r\n\r\n"));
    assert_response(c, 400);
    assert_closed(c);
}

static void answers_without_a_body_end_with_their_head(void **state)
{
    struct client *c;

    (void)state;
    c = by_path();
    ask(c, "GET", "/204");
    assert_response_body(c, 204, "", 0);
    assert_int_equal(wire_field_count(&c->last, "Transfer-Encoding"), 0);
    ask(c, "GET", "/304");
    assert_response_body(c, 304, "", 0);
    assert_string_equal(wire_field(&c->last, "ETag"), "\"x\"");
    ask(c, "GET", "/no-reason");
    assert_response_body(c, 200, "ok", 2);
    assert_int_equal(ep_stats(endpoint).connections, 1);
}

static void interim_answers_pass_before_the_final_one(void **state)
{
    struct client *c;

    (void)state;
    c = by_path();
    ask(c, "GET", "/early");
    assert_response(c, 103);
    assert_string_equal(wire_field(&c->last, "Link"), "</a>");
    assert_response_body(c, 200, "ok", 2);
    ask(c, "GET", "/");
    assert_response_body(c, 200, "Hello World!", 12);
}

static void old_servers_answers_pass(void **state)
{
    struct client *c;

    (void)state;
    c = by_path();
    ask(c, "GET", "/1.0-kept");
    assert_response_body(c, 200, "ok", 2);
    ask(c, "GET", "/close");
    assert_response_body(c, 200, "ok", 2);
    ask(c, "GET", "/1.0");
    assert_response_body(c, 200, "old", 3);
}

/* The endpoint closes with `Connection: close`; that's between it and the balancer. */
static void a_server_that_closes_does_not_close_the_client(void **state)
{
    struct client *c;

    (void)state;
    c = by_path();
    for (unsigned i = 0; i < 5; i++) {
        ask(c, "GET", "/close");
        assert_response_body(c, 200, "ok", 2);
    }
    assert_int_equal(ep_stats(endpoint).connections, 5);
}

static void a_cut_off_answer_never_looks_whole(void **state)
{
    static const char *const paths[] = {"/short", "/short-chunked", "/bad-chunk"};
    unsigned port;

    (void)state;
    port = start(&(struct ep_script){.on_request = answer_by_path});
    for (size_t i = 0; i < 3; i++) {
        struct client *c = opened(port);
        enum wire_result r;

        ask(c, "GET", paths[i]);
        r = client_read(c, false, PATIENCE_MS);
        if (r == WIRE_OK && c->last.status == 502) /* nothing was sent on yet: as good */
            continue;
        if (r != WIRE_TRUNCATED && r != WIRE_RESET)
            fail_msg("%s: %s", paths[i], wire_result_text(r));
        client_close(c);
    }
    assert_request(port, GET, 200);
}

static void an_old_client_gets_no_chunks(void **state)
{
    unsigned port;
    struct client *c;

    (void)state;
    port = start(&(struct ep_script){.on_request = answer_by_path});
    c = opened(port);
    assert_true(client_text(c, "GET /chunked HTTP/1.0\r\n\r\n"));
    assert_response_body(c, 200, "hello world", 11);
    assert_int_equal(wire_field_count(&c->last, "Transfer-Encoding"), 0);
    assert_closed(c);
    c = opened(port);
    assert_true(client_text(c, "GET /chunked HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
    assert_response_body(c, 200, "hello world", 11);
    assert_int_equal(wire_field_count(&c->last, "Transfer-Encoding"), 0);
    assert_closed(c); /* its end is the only end such an answer has */
}

static void an_old_client_gets_no_interim_answer(void **state)
{
    struct client *c;

    (void)state;
    c = by_path();
    assert_true(client_text(c, "GET /early HTTP/1.0\r\n\r\n"));
    assert_response_body(c, 200, "ok", 2);
}

static void an_old_client_is_closed_unless_it_asks(void **state)
{
    unsigned port;
    struct client *c;

    (void)state;
    port = start(&(struct ep_script){.on_request = answer_by_path});
    c = opened(port);
    assert_true(client_text(c, "GET / HTTP/1.0\r\n\r\n"));
    assert_response_body(c, 200, "Hello World!", 12);
    assert_closed(c);
    c = opened(port);
    for (int i = 0; i < 3; i++) {
        assert_true(client_text(c, "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
        assert_response_body(c, 200, "Hello World!", 12);
        assert_non_null(wire_field(&c->last, "Connection"));
        assert_int_equal(strcasecmp(wire_field(&c->last, "Connection"), "keep-alive"), 0);
    }
}

static void connection_close_is_honoured(void **state)
{
    struct client *c;

    (void)state;
    c = by_path();
    assert_true(client_text(c, GET_LAST));
    assert_response_body(c, 200, "Hello World!", 12);
    assert_int_equal(strcasecmp(wire_field(&c->last, "Connection"), "close"), 0);
    assert_closed(c);
}

static enum ep_next answer_with_target(struct ep_conn *c, const struct wire_msg *m, void *arg)
{
    (void)arg;
    return ep_respond(c, 200, m->target, strlen(m->target)) ? EP_DONE : EP_CLOSE;
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    char text[4096] = "", want[16];
    unsigned port;
    struct client *c;

    (void)state;
    port = start(&(struct ep_script){.on_request = answer_with_target});
    c = opened(port);
    for (int i = 0; i < 20; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "POST /%d HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc", i);
    assert_true(client_text(c, text));
    for (int i = 0; i < 20; i++) {
        int n = snprintf(want, sizeof want, "/%d", i);

        assert_response_body(c, 200, want, (size_t)n);
    }
    assert_int_equal(ep_stats(endpoint).requests, 20);
}

static void empty_lines_before_a_request_are_skipped(void **state)
{
    struct client *c;

    (void)state;
    c = by_path();
    assert_true(client_text(c, "\r\n" GET));
    assert_response(c, 200);
    assert_true(client_text(c, "\r\n" GET));
    assert_response(c, 200);
}

static void forwarded_for_is_added(void **state)
{
    const struct wire_msg *m;
    struct client *c;
    size_t n;

    (void)state;
    c = by_path();
    assert_true(client_text(c, GET));
    assert_response(c, 200);
    m = ep_request(endpoint, 0);
    assert_int_equal(wire_field_count(m, "X-Forwarded-For"), 1);
    assert_string_equal(wire_field(m, "X-Forwarded-For"), "127.0.0.1");
    assert_true(client_text(c, "GET / HTTP/1.1\r\nHost: h\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n"));
    assert_response(c, 200);
    m = ep_request(endpoint, 1);
    n = wire_field_count(m, "X-Forwarded-For"); /* a line more, or one list: the same (RFC 9110, 5.3) */
    assert_true(n == 1 || n == 2);
    if (n == 1)
        assert_string_equal(wire_field(m, "X-Forwarded-For"), "192.0.2.7, 127.0.0.1");
    else
        assert_string_equal(wire_field(m, "X-Forwarded-For"), "192.0.2.7");
    assert_non_null(strstr(m->head, "127.0.0.1"));
}

static void fields_of_one_connection_stay_there_and_the_rest_pass(void **state)
{
    const struct wire_msg *m;
    const char *same;
    struct client *c;

    (void)state;
    c = by_path();
    assert_true(client_text(c, "GET /fields?a=b&c=%20d HTTP/1.1\r\nHost: example.org:81\r\n"
                               "Connection: x-secret, keep-alive\r\nX-Secret: 1\r\nKeep-Alive: 5\r\n"
                               "Proxy-Connection: keep-alive\r\nTE: trailers\r\nX-Same: 1\r\nX-Same: 2\r\n"
                               "X-Spaces:  a  b\t c \r\nX-Empty:\r\nCookie: a=b; c=d\r\n\r\n"));
    assert_response(c, 200);
    m = ep_request(endpoint, 0);
    assert_string_equal(m->method, "GET");
    assert_string_equal(m->target, "/fields?a=b&c=%20d");
    assert_string_equal(m->version, "HTTP/1.1");
    assert_string_equal(wire_field(m, "Host"), "example.org:81");
    assert_string_equal(wire_field(m, "X-Spaces"), "a  b\t c");
    assert_string_equal(wire_field(m, "X-Empty"), "");
    assert_string_equal(wire_field(m, "Cookie"), "a=b; c=d");
    assert_int_equal(wire_field_count(m, "X-Same"), 2);
    same = strcasestr(m->head, "X-Same: 1");
    assert_true(same && strcasestr(same, "X-Same: 2"));
    assert_int_equal(wire_field_count(m, "X-Secret"), 0);
    assert_int_equal(wire_field_count(m, "Keep-Alive"), 0);
    assert_int_equal(wire_field_count(m, "Proxy-Connection"), 0);
    assert_int_equal(wire_field_count(m, "TE"), 0);
    ask(c, "GET", "/fields");
    assert_response_body(c, 200, "ok", 2);
    m = &c->last;
    assert_int_equal(wire_field_count(m, "X-Same"), 2);
    assert_string_equal(wire_field(m, "X-Spaces"), "a  b\t c");
    assert_string_equal(wire_field(m, "Set-Cookie"), "a=b; Path=/");
    assert_int_equal(wire_field_count(m, "X-Secret"), 0);
    assert_int_equal(wire_field_count(m, "Keep-Alive"), 0);
    assert_int_equal(wire_field_count(m, "Proxy-Connection"), 0);
}

/* The endpoint answers a big POST at its head; the client may go on sending or stop, but gets the answer. */
static enum ep_next answer_early(struct ep_conn *c, const struct wire_msg *m, void *arg)
{
    (void)m, (void)arg;
    ep_respond(c, 413, "too big", 7);
    return EP_GO_ON; /* reads the rest */
}

static enum ep_next nothing_more(struct ep_conn *c, const struct wire_msg *m, void *arg)
{
    (void)c, (void)m, (void)arg;
    return EP_DONE;
}

static void an_answer_before_the_bodys_end_arrives(void **state)
{
    struct client *c;
    unsigned port;

    (void)state;
    port = start(&(struct ep_script){.on_head = answer_early, .on_request = nothing_more});
    c = opened(port);
    assert_true(client_text(c, "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\nsome"));
    assert_response_body(c, 413, "too big", 7);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        SYSTEM_TEST(bodies_with_a_length_pass_exactly),
        SYSTEM_TEST(chunked_requests_pass_exactly),
        SYSTEM_TEST(chunked_answers_pass_exactly),
        SYSTEM_TEST(chunked_both_ways_passes_exactly),
        SYSTEM_TEST(answers_that_end_with_the_connection_pass_exactly),
        SYSTEM_TEST(a_chunked_request_may_be_cut_anywhere),
        SYSTEM_TEST(an_answer_may_come_byte_by_byte),
        SYSTEM_TEST(head_gets_the_head_alone),
        SYSTEM_TEST(a_refusal_behind_a_head_request_has_its_body),
        SYSTEM_TEST(answers_without_a_body_end_with_their_head),
        SYSTEM_TEST(interim_answers_pass_before_the_final_one),
        SYSTEM_TEST(old_servers_answers_pass),
        SYSTEM_TEST(a_server_that_closes_does_not_close_the_client),
        SYSTEM_TEST(a_cut_off_answer_never_looks_whole),
        SYSTEM_TEST(an_old_client_gets_no_chunks),
        SYSTEM_TEST(an_old_client_gets_no_interim_answer),
        SYSTEM_TEST(an_old_client_is_closed_unless_it_asks),
        SYSTEM_TEST(connection_close_is_honoured),
        SYSTEM_TEST(pipelined_requests_are_answered_in_order),
        SYSTEM_TEST(empty_lines_before_a_request_are_skipped),
        SYSTEM_TEST(forwarded_for_is_added),
        SYSTEM_TEST(fields_of_one_connection_stay_there_and_the_rest_pass),
        SYSTEM_TEST(an_answer_before_the_bodys_end_arrives),
    };

    return harness_main(argc, argv, "message", tests, sizeof tests / sizeof *tests);
}
