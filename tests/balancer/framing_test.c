/* What cannot be framed beyond doubt never reaches an endpoint: requests two programs might read differently
 * are answered with an error and the connection is closed; malformed answers become a 502. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

struct refusal {
    const char *what, *text;
    size_t n;
    unsigned status, or_status; /* or_status: 0, or as good */
};

#define BAD(what, status, text)                \
    {                                          \
        what, text, sizeof text - 1, status, 0 \
    }
#define BAD2(what, status, other, text)            \
    {                                              \
        what, text, sizeof text - 1, status, other \
    }
#define POST(fields) "POST /p HTTP/1.1\r\nHost: h\r\n" fields "\r\n"
#define BODY         "5\r\nhello\r\n0\r\n\r\n"
#define SMUGGLED     "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"

static const struct refusal framing[] = {
    BAD("length, then coding", 400,
        POST("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n") BODY SMUGGLED),
    BAD("coding, then length", 400,
        POST("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n") BODY SMUGGLED),
    BAD("an empty coding behind chunked", 400, POST("Transfer-Encoding: chunked,\r\n") BODY),
    BAD("a coding behind chunked", 400, POST("Transfer-Encoding: chunked, gzip\r\n") BODY),
    BAD("chunked twice", 400, POST("Transfer-Encoding: chunked, chunked\r\n") BODY),
    BAD("chunked on two lines", 400,
        POST("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") BODY),
    BAD("an unknown coding before chunked", 501, POST("Transfer-Encoding: gzip, chunked\r\n") BODY),
    BAD2("an unknown coding alone", 400, 501, POST("Transfer-Encoding: xchunked\r\n") BODY),
    BAD2("an empty coding", 400, 501, POST("Transfer-Encoding: \r\n") BODY),
    BAD2("a coding with a control character", 400, 501,
         POST("Transfer-Encoding: \x0b"
              "chunked\r\n") BODY),
    BAD2("chunked in HTTP/1.0", 400, 505,
         "POST /p HTTP/1.0\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" BODY),
    BAD("an empty length", 400, POST("Content-Length:\r\n") "hello"),
    BAD("a length with a sign", 400, POST("Content-Length: +5\r\n") "hello"),
    BAD("a negative length", 400, POST("Content-Length: -5\r\n") "hello"),
    BAD("a hexadecimal length", 400, POST("Content-Length: 0x5\r\n") "hello"),
    BAD("a length with an underscore", 400, POST("Content-Length: 5_0\r\n") "hello"),
    BAD("a list of lengths", 400, POST("Content-Length:  5 , 5\r\n") "hello"),
    BAD("lengths that differ", 400, POST("Content-Length: 5\r\nContent-Length: 6\r\n") "hello!"),
    BAD("a list of lengths that differ", 400, POST("Content-Length: 5, 6\r\n") "hello!"),
    BAD("a length with a space inside", 400, POST("Content-Length: 5 0\r\n") "hello"),
    BAD2("a length beyond 64 bits", 400, 413, POST("Content-Length: 99999999999999999999999\r\n") "hello"),
};

static const struct refusal heads[] = {
    BAD("NUL in a value", 400, "GET / HTTP/1.1\r\nHost: h\r\nX: a\0b\r\n\r\n"),
    BAD("BEL in a value", 400, "GET / HTTP/1.1\r\nHost: h\r\nX: a\ab\r\n\r\n"),
    BAD("DEL in a value", 400, "GET / HTTP/1.1\r\nHost: h\r\nX: a\x7f\r\n\r\n"),
    BAD("escape in a value", 400, "GET / HTTP/1.1\r\nHost: h\r\nX: \x1b[2J\r\n\r\n"),
    BAD("a bare CR in a value", 400, "GET / HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n"),
    BAD("a byte over 0x7f in the target", 400, "GET /\xc3\xa9 HTTP/1.1\r\nHost: h\r\n\r\n"),
    BAD("a control character in the target", 400, "GET /\x01 HTTP/1.1\r\nHost: h\r\n\r\n"),
    BAD("NUL in the target", 400, "GET /a\0b HTTP/1.1\r\nHost: h\r\n\r\n"),
    BAD("no Host", 400, "GET / HTTP/1.1\r\nX: y\r\n\r\n"),
    BAD("two Hosts", 400, "GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n\r\n"),
    BAD("two Hosts that differ", 400, "GET / HTTP/1.1\r\nHost: h\r\nHost: i\r\n\r\n"),
    BAD("a space in a name", 400, "GET / HTTP/1.1\r\nHost: h\r\nX Y: z\r\n\r\n"),
    BAD("a space behind a name", 400, "GET / HTTP/1.1\r\nHost: h\r\nX : z\r\n\r\n"),
    BAD("a space behind Content-Length", 400, POST("Content-Length : 5\r\n") "hello"),
    BAD("a space before the first name", 400, "GET / HTTP/1.1\r\n Host: h\r\n\r\n"),
    BAD("NUL in a name", 400, "GET / HTTP/1.1\r\nHost: h\r\nX\0Y: z\r\n\r\n"),
    BAD("a bare CR in a name", 400, "GET / HTTP/1.1\r\nHost: h\r\nX\rY: z\r\n\r\n"),
    BAD("a byte over 0x7f in a name", 400, "GET / HTTP/1.1\r\nHost: h\r\nX\xe9: z\r\n\r\n"),
    BAD("an empty name", 400, "GET / HTTP/1.1\r\nHost: h\r\n: z\r\n\r\n"),
    BAD("a line without a colon", 400, "GET / HTTP/1.1\r\nHost: h\r\nX\r\n\r\n"),
    BAD("a folded line", 400, "GET / HTTP/1.1\r\nHost: h\r\nX: a\r\n b\r\n\r\n"),
    BAD("bare LF behind the request line", 400, "GET / HTTP/1.1\nHost: h\r\n\r\n"),
    BAD("bare LF behind a header", 400, "GET / HTTP/1.1\r\nHost: h\nX: y\r\n\r\n"),
    BAD("bare LF at the end", 400, "GET / HTTP/1.1\r\nHost: h\r\n\n"),
    BAD("two spaces in the request line", 400, "GET  / HTTP/1.1\r\nHost: h\r\n\r\n"),
    BAD("a tab in the request line", 400, "GET\t/ HTTP/1.1\r\nHost: h\r\n\r\n"),
    BAD("a space behind the version", 400, "GET / HTTP/1.1 \r\nHost: h\r\n\r\n"),
    BAD("no version", 400, "GET /\r\nHost: h\r\n\r\n"),
    BAD("a method that is no token", 400, "G@T / HTTP/1.1\r\nHost: h\r\n\r\n"),
    BAD2("another protocol", 400, 505, "GET / HTTQ/1.1\r\nHost: h\r\n\r\n"),
    BAD2("a version yet to come", 505, 400, "GET / HTTP/3.0\r\nHost: h\r\n\r\n"),
    BAD2("a version of two digits", 400, 505, "GET / HTTP/1.10\r\nHost: h\r\n\r\n"),
};

#define CHUNKED POST("Transfer-Encoding: chunked\r\n")

static const struct refusal chunks[] = {
    BAD("a chunk size with an underscore", 400, CHUNKED "0_0\r\n\r\n"),
    BAD("a tab before a chunk size", 400, CHUNKED "\t5\r\nhello\r\n0\r\n\r\n"),
    BAD("a space before a chunk size", 400, CHUNKED " 5\r\nhello\r\n0\r\n\r\n"),
    BAD("junk behind a chunk size", 400, CHUNKED "5x\r\nhello\r\n0\r\n\r\n"),
    BAD("junk behind a space behind a chunk size", 400, CHUNKED "5 x\r\nhello\r\n0\r\n\r\n"),
    BAD("a prefix before a chunk size", 400, CHUNKED "0x5\r\nhello\r\n0\r\n\r\n"),
    BAD("a sign before a chunk size", 400, CHUNKED "+5\r\nhello\r\n0\r\n\r\n"),
    BAD("a negative chunk size", 400, CHUNKED "-5\r\nhello\r\n0\r\n\r\n"),
    BAD("no chunk size", 400, CHUNKED "\r\nhello\r\n0\r\n\r\n"),
    BAD("a chunk size beyond 64 bits", 400, CHUNKED "10000000000000005\r\nhello\r\n0\r\n\r\n"),
    BAD("bare LF behind a chunk size", 400, CHUNKED "5\nhello\r\n0\r\n\r\n"),
    BAD("CR inside a chunk size", 400, CHUNKED "5\r\r\nhello\r\n0\r\n\r\n"),
    BAD("bare LF behind a chunk", 400, CHUNKED "5\r\nhello\n0\r\n\r\n"),
    BAD("no line end behind a chunk", 400, CHUNKED "5\r\nhello0\r\n\r\n"),
    BAD("bare LF behind the last chunk's size", 400, CHUNKED "5\r\nhello\r\n0\n\r\n"),
    BAD("bare LF at the body's end", 400, CHUNKED "5\r\nhello\r\n0\r\n\n"),
    BAD("CR inside a chunk extension", 400, CHUNKED "5;a\rb\r\nhello\r\n0\r\n\r\n"),
    BAD("bare LF inside a chunk extension", 400, CHUNKED "5;a\nb\r\nhello\r\n0\r\n\r\n"),
};

static bool refused(struct client *c, const struct refusal *b, bool after_another)
{
    enum wire_result r, end;

    if (!client_send(c, b->text, b->n))
        return false;
    if (after_another && (client_read(c, false, PATIENCE_MS) != WIRE_OK || c->last.status != 200)) {
        print_error("%s: the request before it isn't answered\n", b->what);
        return false;
    }
    r = client_read(c, false, PATIENCE_MS);
    if (r != WIRE_OK || (c->last.status != b->status && c->last.status != b->or_status)) {
        print_error("%s: expected %u, got: %s, status %u\n", b->what, b->status, wire_result_text(r),
                    c->last.status);
        return false;
    }
    if (c->last.body_len == 0) {
        print_error("%s: the answer has no body\n", b->what);
        return false;
    }
    uint64_t more;
    end = client_end(c, PATIENCE_MS, &more); /* bytes that nobody read make the end a reset */
    if ((end != WIRE_OK && end != WIRE_RESET) || more) {
        print_error("%s: the connection isn't closed: %s, %lu bytes\n", b->what, wire_result_text(end),
                    (unsigned long)more);
        return false;
    }
    return true;
}

/* Whether the endpoint has seen more than `good` requests since. */
static bool reached(const struct ep_stats *before, struct ep_stats after, unsigned good, bool unseen)
{
    if (after.requests != before->requests + good)
        return true;
    if (!unseen)
        return false;
    return after.heads + after.bad != before->heads + before->bad + good ||
           (!good && (after.bytes != before->bytes || after.connections != before->connections));
}

/* Each refusal on a connection of its own, then behind a good request. unseen: nothing of it may reach the
 * endpoint; else its head may, but never a whole request. */
static void check_refusals(const struct refusal *list, size_t n, bool unseen)
{
    struct endpoint *e = endpoint_start(NULL);
    unsigned failures = 0, port;

    conf_common(2);
    port = conf_listen("fe");
    conf_server("s", e, "");
    balancer_start();
    for (size_t i = 0; i < n; i++) {
        for (unsigned second = 0; second < 2; second++) {
            struct ep_stats before = ep_stats(e);
            struct client *c = client_open(port);

            assert_non_null(c);
            if (second)
                assert_true(client_text(c, GET));
            failures += !refused(c, &list[i], second);
            client_close(c);
            if (reached(&before, ep_stats(e), second, unseen)) {
                print_error("%s: something of it reached the endpoint\n", list[i].what);
                failures++;
            }
        }
    }
    assert_int_equal(failures, 0);
    assert_request(port, GET_LAST, 200);
}

#define CHECK_REFUSALS(list, unseen) check_refusals(list, sizeof(list) / sizeof *(list), unseen)

static void ambiguous_framing_is_refused_and_the_endpoint_sees_nothing(void **state)
{
    (void)state;
    CHECK_REFUSALS(framing, true);
}

static void malformed_heads_are_refused_and_the_endpoint_sees_nothing(void **state)
{
    (void)state;
    CHECK_REFUSALS(heads, true);
}

static void malformed_chunks_are_refused_and_never_make_a_whole_request(void **state)
{
    (void)state;
    CHECK_REFUSALS(chunks, false);
}

/* A fault deep inside a body whose head and first chunks were forwarded already. */
static void a_fault_inside_a_body_ends_both_connections(void **state)
{
    struct endpoint *e = endpoint_start(NULL);
    unsigned port;
    struct client *c;

    (void)state;
    conf_common(2);
    port = conf_listen("fe");
    conf_server("s", e, "");
    balancer_start();
    c = client_open(port);
    assert_non_null(c);
    assert_true(client_text(c, CHUNKED "5\r\nhello\r\n"));
    assert_true(ep_wait_in_flight(e, 1, PATIENCE_MS));
    assert_true(client_text(c, "5x\r\nhello\r\n0\r\n\r\n"));
    assert_response(c, 400);
    assert_true(ep_wait_idle(e, PATIENCE_MS));
    assert_int_equal(ep_stats(e).requests, 0);
    assert_request(port, GET_LAST, 200);
}

/* Closing with unread input would reset the connection, and over a real network take the answer back (RFC
 * 9112, 9.6). */
static void a_refusal_is_followed_by_no_reset_though_more_bytes_come(void **state)
{
    struct endpoint *e = endpoint_start(NULL);
    static char text[128 << 10];
    unsigned port;

    (void)state;
    memset(text, 'x', sizeof text);
    memcpy(text, POST("Content-Length: +5\r\n"), sizeof POST("Content-Length: +5\r\n") - 1);
    conf_common(2);
    port = conf_listen("fe");
    conf_server("s", e, "");
    balancer_start();
    for (int i = 0; i < 20; i++) {
        struct client *c = client_open(port);

        assert_non_null(c);
        assert_true(client_send(c, text, sizeof text));
        assert_response(c, 400);
        assert_closed(c);
        client_close(c);
    }
    assert_int_equal(ep_stats(e).connections, 0);
}

/* head, then piece n times, then nothing: the balancer must answer without waiting for an end. */
static void check_oversized(const char *head, const char *piece, size_t n, unsigned status)
{
    struct endpoint *e = endpoint_start(NULL);
    struct client *c;
    unsigned port;

    conf_common(1);
    port = conf_listen("fe");
    conf_server("s", e, "");
    balancer_start();
    c = client_open(port);
    assert_non_null(c);
    assert_true(client_text(c, head));
    for (size_t i = 0; i < n && client_text(c, piece); i++)
        ;
    assert_response(c, status);
    assert_int_equal(ep_stats(e).connections, 0);
    assert_request(port, GET_LAST, 200);
}

static void a_request_line_of_64_KB_is_refused(void **state)
{
    (void)state;
    check_oversized("GET /", "0123456789abcdef", 4096, 414);
}

static void ten_thousand_header_lines_are_refused(void **state)
{
    (void)state;
    check_oversized("GET / HTTP/1.1\r\nHost: h\r\n", "X-Y: z\r\n", 10000, 431);
}

static void one_endless_header_is_refused(void **state)
{
    (void)state;
    check_oversized("GET / HTTP/1.1\r\nHost: h\r\nX-Y: ", "0123456789abcdef", 65536, 431);
}

static void malformed_answers_become_502(void **state)
{
    static const char *const answers[] = {
        "Hello World!\r\n\r\n",
        "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTQ/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0x3\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nX Y: z\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX\x01: z\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Len",
        "",
    };

    (void)state;
    struct endpoint *e[sizeof answers / sizeof *answers];
    unsigned ports[sizeof answers / sizeof *answers], failures = 0;

    conf_common(2);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        char name[16];

        e[i] = endpoint_start(&(struct ep_script){.answer = answers[i], .close = true});
        snprintf(name, sizeof name, "fe%zu", i);
        ports[i] = conf_listen(name);
        conf_server("s", e[i], "");
    }
    balancer_start();
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct client *c = client_open(ports[i]);
        enum wire_result r;

        assert_non_null(c);
        assert_true(client_text(c, GET));
        r = client_read(c, false, PATIENCE_MS);
        if (r != WIRE_OK || c->last.status != 502 || c->last.body_len == 0) {
            print_error("%s\n gave: %s, status %u\n", answers[i], wire_result_text(r), c->last.status);
            failures++;
        }
        client_close(c);
        assert_int_equal(ep_stats(e[i]).requests, 1);
    }
    assert_int_equal(failures, 0);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        SYSTEM_TEST(ambiguous_framing_is_refused_and_the_endpoint_sees_nothing),
        SYSTEM_TEST(malformed_heads_are_refused_and_the_endpoint_sees_nothing),
        SYSTEM_TEST(malformed_chunks_are_refused_and_never_make_a_whole_request),
        SYSTEM_TEST(a_fault_inside_a_body_ends_both_connections),
        SYSTEM_TEST(a_refusal_is_followed_by_no_reset_though_more_bytes_come),
        SYSTEM_TEST(a_request_line_of_64_KB_is_refused),
        SYSTEM_TEST(ten_thousand_header_lines_are_refused),
        SYSTEM_TEST(one_endless_header_is_refused),
        SYSTEM_TEST(malformed_answers_become_502),
    };

    return harness_main(argc, argv, "framing", tests, sizeof tests / sizeof *tests);
}
