/* Heads as written: what is dropped, added and said anew; and that a written head reads as the one it came
 * from. */
#include "tests/http/heads.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

struct request_case {
    const char *in, *out;
    struct http_request_edit edit;
};

static void read_request(struct http_request *r, const char *text)
{
    size_t scan = 0;
    assert_int_equal(http_parse_request(r, text, strlen(text), &scan, false), strlen(text));
}

static void read_response(struct http_response *r, const char *text, enum http_method m)
{
    size_t scan = 0;
    assert_int_equal(http_parse_response(r, text, strlen(text), &scan, false, m), strlen(text));
}

/* Writes into memory that ends with the text; every smaller room must be refused without writing beyond it.
 */
static void check_request(const struct request_case *t)
{
    static struct http_request r;
    size_t n = strlen(t->out);

    read_request(&r, t->in);
    for (size_t cap = 0; cap <= n; cap++) {
        char *out = guard_copy(NULL, 0) - cap;
        size_t got = http_write_request(out, cap, &r, &t->edit);
        assert_int_equal(got, cap == n ? n : 0);
        if (got)
            assert_memory_equal(out, t->out, n);
    }
    assert_true(n <= strlen(t->in) + HTTP_HEAD_ROOM);
}

#define PLAIN          \
    {                  \
        .close = false \
    }
#define XFF                                \
    {                                      \
        .forwarded_for = { "10.0.0.1", 8 } \
    }

static void a_request_goes_out_in_http_1_1_without_hop_by_hop_fields(void **state)
{
    static const struct request_case t[] = {
        {"GET /x HTTP/1.1\r\nHost: a\r\nAccept:  b \r\n\r\n",
         "GET /x HTTP/1.1\r\nHost: a\r\nAccept: b\r\n\r\n", PLAIN},
        {"GET / HTTP/1.1\r\nHost:a\r\nConnection: close, X-A\r\nX-A: b\r\nX-C: d\r\nKeep-Alive: 5\r\nTE: "
         "trailers\r\n"
         "Trailer: X\r\nProxy-Connection: close\r\nUpgrade: y\r\n\r\n",
         "GET / HTTP/1.1\r\nHost: a\r\nX-C: d\r\n\r\n", PLAIN},
        {"\r\n\r\nGET / HTTP/1.9\r\nHost: a\r\n\r\n",
         "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 10.0.0.1\r\n\r\n", XFF},
        {"GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: b\r\n\r\n",
         "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: b\r\nX-Client: 10.0.0.1\r\nConnection: close\r\n\r\n",
         {.forwarded_for = {"10.0.0.1", 8}, .forwarded_name = {"X-Client", 8}, .close = true}},
        {"GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost: \r\n\r\n", PLAIN},
        {"GET / HTTP/1.0\r\nA: b\r\nhost: c\r\nConnection: keep-alive\r\n\r\n",
         "GET / HTTP/1.1\r\nA: b\r\nhost: c\r\n\r\n", PLAIN},
        {"POST / HTTP/1.0\r\nHost: a\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n",
         "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n", PLAIN},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(t); i++)
        check_request(&t[i]);
}

static void a_request_s_framing_is_said_once_and_plainly(void **state)
{
    static const struct request_case t[] = {
        {"POST / HTTP/1.1\r\nContent-Length: 0005\r\nHost: a\r\n\r\n",
         "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n", PLAIN},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
         "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n", PLAIN},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775807\r\n\r\n",
         "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775807\r\n\r\n", PLAIN},
        {"POST / HTTP/1.1\r\ntransfer-encoding: CHUNKED\r\nHost: a\r\n\r\n",
         "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", PLAIN},
        {"POST / HTTP/1.1\r\nHost: a\r\n\r\n", "POST / HTTP/1.1\r\nHost: a\r\n\r\n", PLAIN},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(t); i++)
        check_request(&t[i]);
}

static void an_absolute_target_goes_out_in_origin_form(void **state)
{
    static const struct request_case t[] = {
        {"GET http://a/x?y HTTP/1.1\r\nHost: a\r\n\r\n", "GET /x?y HTTP/1.1\r\nHost: a\r\n\r\n", PLAIN},
        {"GET http://a HTTP/1.1\r\nHost: a\r\n\r\n", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", PLAIN},
        {"GET https://a:8?y/z HTTP/1.1\r\nHost: a:8\r\n\r\n", "GET /?y/z HTTP/1.1\r\nHost: a:8\r\n\r\n",
         PLAIN},
        {"GET http://a:8/ HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost: a:8\r\n\r\n", PLAIN},
        {"OPTIONS http://a HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", PLAIN},
        {"OPTIONS http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS / HTTP/1.1\r\nHost: a\r\n\r\n", PLAIN},
        {"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", PLAIN},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(t); i++)
        check_request(&t[i]);
}

static void an_upgrade_is_passed_on_with_its_option(void **state)
{
    static const struct request_case t[] = {
        {"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n\r\n",
         "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n", PLAIN},
        {"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
         "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade, close\r\n\r\n",
         {.close = true}},
        {"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nHTTP2-Settings: b\r\nConnection: Upgrade, "
         "HTTP2-Settings\r\n\r\n",
         "GET / HTTP/1.1\r\nHost: a\r\n\r\n", PLAIN},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(t); i++)
        check_request(&t[i]);
}

struct response_case {
    enum http_method method;
    const char *in;
    struct http_response_edit edit;
    const char *out;
    bool close, chunked;
};

static void check_response(const struct response_case *t)
{
    static struct http_response r;
    size_t n = strlen(t->out);
    bool close, chunked;

    read_response(&r, t->in, t->method);
    for (size_t cap = 0; cap <= n; cap++) {
        char *out = guard_copy(NULL, 0) - cap;
        size_t got = http_write_response(out, cap, &r, &t->edit, &close, &chunked);
        assert_int_equal(got, cap == n ? n : 0);
        if (got)
            assert_memory_equal(out, t->out, n);
    }
    assert_int_equal(close, t->close);
    assert_int_equal(chunked, t->chunked);
    assert_true(n <= strlen(t->in) + HTTP_HEAD_ROOM);
}

#define KEEP           \
    {                  \
        1, true, false \
    }
#define CLOSE           \
    {                   \
        1, false, false \
    }
#define FORCE         \
    {                 \
        1, true, true \
    }
#define OLD             \
    {                   \
        0, false, false \
    }
#define OLD_KEEP       \
    {                  \
        0, true, false \
    }
#define OK "HTTP/1.1 200 OK\r\n"
#define CL "Content-Length: 5\r\n"
#define TE "Transfer-Encoding: chunked\r\n"
#define CC "Connection: close\r\n"
#define CK "Connection: keep-alive\r\n"
#define E  "\r\n"

static void an_answer_is_kept_alive_where_client_and_body_allow(void **state)
{
    static const struct response_case t[] = {
        {HTTP_GET, OK CL E, KEEP, OK CL E, false, false},
        {HTTP_GET, "HTTP/1.0 200 OK\r\n" CL E, KEEP, OK CL E, false, false},
        {HTTP_GET, OK CC CL E, KEEP, OK CL E, false, false},
        {HTTP_GET, OK CL E, CLOSE, OK CL CC E, true, false},
        {HTTP_GET, OK CL E, FORCE, OK CL CC E, true, false},
        {HTTP_GET, OK CL E, OLD, OK CL CC E, true, false},
        {HTTP_GET, OK CL E, OLD_KEEP, OK CL CK E, false, false},
        {HTTP_GET, OK TE E, KEEP, OK TE E, false, true},
        {HTTP_GET, OK TE E, CLOSE, OK TE CC E, true, true},
        {HTTP_GET, OK TE E, OLD_KEEP, OK CC E, true, false},
        {HTTP_GET, OK E, KEEP, OK TE E, false, true},
        {HTTP_GET, OK E, CLOSE, OK TE CC E, true, true},
        {HTTP_GET, OK E, OLD_KEEP, OK CC E, true, false},
        {HTTP_GET, "HTTP/1.1 200\r\n" CL E, KEEP, "HTTP/1.1 200 \r\n" CL E, false, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(t); i++)
        check_response(&t[i]);
}

static void an_answer_without_a_body_tells_the_length_there_would_be(void **state)
{
    static const struct response_case t[] = {
        {HTTP_HEAD, OK "Content-Length: 05\r\n" E, KEEP, OK CL E, false, false},
        {HTTP_HEAD, OK TE E, KEEP, OK TE E, false, false},
        {HTTP_HEAD, OK TE E, OLD_KEEP, OK CK E, false, false},
        {HTTP_HEAD, OK E, KEEP, OK E, false, false},
        {HTTP_GET, "HTTP/1.1 304 x\r\n" CL E, KEEP, "HTTP/1.1 304 x\r\n" CL E, false, false},
        {HTTP_GET, "HTTP/1.1 204 x\r\nContent-Length: 0\r\n" E, KEEP, "HTTP/1.1 204 x\r\n" E, false, false},
        {HTTP_GET, "HTTP/1.1 204 x\r\n" E, CLOSE, "HTTP/1.1 204 x\r\n" CC E, true, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(t); i++)
        check_response(&t[i]);
}

static void interim_answers_say_nothing_of_the_connection(void **state)
{
    static const struct response_case t[] = {
        {HTTP_POST, "HTTP/1.1 100 Continue\r\n" E, KEEP, "HTTP/1.1 100 Continue\r\n" E, false, false},
        {HTTP_POST, "HTTP/1.1 100 Continue\r\n" CC E, FORCE, "HTTP/1.1 100 Continue\r\n" E, false, false},
        {HTTP_GET, "HTTP/1.1 103 x\r\nLink: y\r\n" E, CLOSE, "HTTP/1.1 103 x\r\nLink: y\r\n" E, false, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(t); i++)
        check_response(&t[i]);
}

static void answers_to_an_upgrade_name_the_protocol(void **state)
{
#define UP "Upgrade: websocket\r\nConnection: upgrade"
    static const struct response_case t[] = {
        {HTTP_GET, "HTTP/1.1 101 x\r\n" UP E E, KEEP, "HTTP/1.1 101 x\r\n" UP E E, true, false},
        {HTTP_GET, "HTTP/1.1 426 x\r\n" CL UP E E, KEEP,
         "HTTP/1.1 426 x\r\nUpgrade: websocket\r\n" CL "Connection: upgrade\r\n" E, false, false},
        {HTTP_GET, "HTTP/1.1 426 x\r\n" CL UP E E, CLOSE,
         "HTTP/1.1 426 x\r\nUpgrade: websocket\r\n" CL "Connection: upgrade, close\r\n" E, true, false},
        {HTTP_GET,
         OK "Upgrade: h2,h2c\r\n" CL "Connection: Upgrade, Keep-Alive\r\nKeep-Alive: timeout=5\r\n" E, KEEP,
         OK CL E, false, false},
        {HTTP_CONNECT, OK E, KEEP, OK E, true, false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(t); i++)
        check_response(&t[i]);
}

/* What a server reads of a request is what was read of it here, whatever stood between. */
static void a_written_request_reads_the_same(void **state)
{
    static const char *const heads[] = {
        "GET / HTTP/1.1\r\nHost:  a \r\nA:\r\nB: \xff\t c\r\n\r\n",
        "\r\nPOST /x?y HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 000\r\nConnection: z\r\nZ: 1\r\n\r\n",
        "PUT http://a?y HTTP/1.1\r\nHost: A:80\r\nTransfer-Encoding:Chunked\r\nExpect: 100-continue\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n",
    };
    static struct http_request r, again;
    static struct description before, after;
    static const struct http_request_edit edit = {0};
    char out[1024];

    (void)state;
    for (size_t i = 0; i < COUNT(heads); i++) {
        size_t scan = 0, n;
        read_request(&r, heads[i]);
        n = http_write_request(out, sizeof(out), &r, &edit);
        assert_int_equal(http_parse_request(&again, out, n, &scan, false), n);
        before.n = after.n = 0;
        describe_fields(&before, r.fields, r.nfields, true);
        describe_fields(&after, again.fields, again.nfields, true);
        assert_string_equal(before.text, after.text);
        assert_int_equal(r.method, again.method);
        assert_int_equal(r.body, again.body);
        assert_int_equal(r.content_length, again.content_length);
        assert_int_equal(r.expect_continue, again.expect_continue);
        assert_int_equal(r.upgrade, again.upgrade);
    }
}

/* A field need not stand in a buffer as "Name: value": whoever changes one points it elsewhere. */
static void fields_may_point_anywhere(void **state)
{
    static struct http_request r;
    static const struct http_request_edit edit = {0};
    char out[256];
    size_t n;

    (void)state;
    read_request(&r, "GET / HTTP/1.1\r\nHost: a\r\nB: c\r\n\r\n");
    r.fields[1].value = (struct http_str){"elsewhere, and longer than any register is wide", 47};
    n = http_write_request(out, sizeof(out), &r, &edit);
    static const char want[] =
        "GET / HTTP/1.1\r\nHost: a\r\nB: elsewhere, and longer than any register is wide\r\n\r\n";
    assert_int_equal(n, sizeof(want) - 1);
    assert_memory_equal(out, want, n);
}

static void error_answers_are_whole_and_well_formed(void **state)
{
    static const unsigned all[] = {400, 403, 404, 408, 413, 414, 417, 431, 500, 501, 502, 503, 504, 505};
    static struct http_response r;

    (void)state;
    for (size_t i = 0; i < COUNT(all); i++) {
        struct http_str whole = http_error_answer(all[i], false), head = http_error_answer(all[i], true);
        char title[64];
        size_t scan = 0;
        long n = http_parse_response(&r, whole.p, whole.n, &scan, false, HTTP_GET);
        assert_true(n > 0);
        assert_int_equal(r.status, all[i]);
        assert_int_equal(r.body, HTTP_BODY_LENGTH);
        assert_int_equal((size_t)n + r.content_length, whole.n);
        assert_false(r.keep_alive);
        assert_int_equal(r.reason.n, strlen(http_reason(all[i])));
        assert_memory_equal(r.reason.p, http_reason(all[i]), r.reason.n);
        snprintf(title, sizeof(title), "<h1>%u %s</h1>", all[i], http_reason(all[i]));
        assert_non_null(strstr(whole.p, title));
        assert_non_null(strstr(whole.p, "\r\nCache-Control: no-cache\r\n"));
        assert_non_null(strstr(whole.p, "\r\nContent-Type: text/html\r\n"));
        assert_int_equal(head.n, n);
        assert_memory_equal(head.p, whole.p, head.n);
    }
    assert_memory_equal(http_error_answer(499, false).p, "HTTP/1.1 500 ", 13);
    assert_string_equal(http_reason(200), "OK");
    assert_string_equal(http_reason(599), "Unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_goes_out_in_http_1_1_without_hop_by_hop_fields),
        cmocka_unit_test(a_request_s_framing_is_said_once_and_plainly),
        cmocka_unit_test(an_absolute_target_goes_out_in_origin_form),
        cmocka_unit_test(an_upgrade_is_passed_on_with_its_option),
        cmocka_unit_test(an_answer_is_kept_alive_where_client_and_body_allow),
        cmocka_unit_test(an_answer_without_a_body_tells_the_length_there_would_be),
        cmocka_unit_test(interim_answers_say_nothing_of_the_connection),
        cmocka_unit_test(answers_to_an_upgrade_name_the_protocol),
        cmocka_unit_test(a_written_request_reads_the_same),
        cmocka_unit_test(fields_may_point_anywhere),
        cmocka_unit_test(error_answers_are_whole_and_well_formed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
