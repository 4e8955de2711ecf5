/* Response heads: how the end of the body is known, and every refusal (always 502). */
#include "tests/http/heads.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define OK           "HTTP/1.1 200 OK\r\n"
#define E            "\r\n"
#define CL           "Content-Length: 5\r\n"
#define TE           "Transfer-Encoding: chunked\r\n"

struct answer {
    enum http_method method;
    const char *text;
    size_t n;
    const char *read; /* NULL: refused */
};

static void check_all(const struct answer *t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_head((struct head_kind){true, t[i].method}, t[i].text, t[i].n, t[i].read ? (long)t[i].n : -502,
                   t[i].read ? t[i].read : "");
}

static void the_status_line_is_exact(void **state)
{
    static const struct answer t[] = {
        {HTTP_GET, TEXT("HTTP/1.1 200 OK\r\n" CL E), "200 [OK] 1.1 length 5 keep\nContent-Length=5"},
        {HTTP_GET, TEXT("HTTP/1.1 200 \r\n" CL E), "200 [] 1.1 length 5 keep\nContent-Length=5"},
        {HTTP_GET, TEXT("HTTP/1.1 200\r\n" CL E), "200 [] 1.1 length 5 keep\nContent-Length=5"},
        {HTTP_GET, TEXT("HTTP/1.1 200  two  words\t\xc3\xa9 \r\n" CL E),
         "200 [ two  words\t\xc3\xa9 ] 1.1 length 5 keep\nContent-Length=5"},
        {HTTP_GET, TEXT("HTTP/1.2 599 x\r\n" CL E), "599 [x] 1.1 length 5 keep\nContent-Length=5"},
        {HTTP_GET, TEXT("HTTP/1.0 200 OK\r\n" CL E), "200 [OK] 1.0 length 5\nContent-Length=5"},
        {HTTP_GET, TEXT("HTTP/1.1 099 x\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1 000 x\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1 600 x\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1 20 OK\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1 20\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1 2000 OK\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1 +20 OK\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1  200 OK\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1\t200 OK\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1 200\tOK\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1 200OK\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1 OK\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/2.0 200 OK\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/0.9 200 OK\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1 200 OK\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.x 200 OK\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.11 200 OK\r\n" CL E), NULL},
        {HTTP_GET, TEXT("http/1.1 200 OK\r\n" CL E), NULL},
        {HTTP_GET, TEXT("ICY 200 OK\r\n" CL E), NULL},
        {HTTP_GET, TEXT("\r\nHTTP/1.1 200 OK\r\n" CL E), NULL},
        {HTTP_GET, TEXT(" HTTP/1.1 200 OK\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1 200 OK\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1 200\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1 200 O\rK\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1 200 O\0K\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1 200 O\x7fK\r\n" CL E), NULL},
        {HTTP_GET, TEXT("<html>not HTTP</html>"), NULL},
    };
    (void)state;
    check_all(t, COUNT(t));
}

static void field_faults_are_those_of_a_request(void **state)
{
    static const struct answer t[] = {
        {HTTP_GET, TEXT(OK CL "A: \xff\r\n" E), "200 [OK] 1.1 length 5 keep\nContent-Length=5\nA=\xff"},
        {HTTP_GET, TEXT(OK " " CL E), NULL},
        {HTTP_GET, TEXT(OK CL " b\r\n" E), NULL},
        {HTTP_GET, TEXT(OK "A : b\r\n" CL E), NULL},
        {HTTP_GET, TEXT(OK ": b\r\n" CL E), NULL},
        {HTTP_GET, TEXT(OK "A: b\n" CL E), NULL},
        {HTTP_GET, TEXT(OK "A: b\rc\r\n" CL E), NULL},
        {HTTP_GET, TEXT(OK "A: \0\r\n" CL E), NULL},
        {HTTP_GET, TEXT(OK "A\x80: b\r\n" CL E), NULL},
        {HTTP_GET, TEXT(OK "A\r\n" CL E), NULL},
        {HTTP_GET, TEXT(OK CL "\n"), NULL},
    };
    (void)state;
    check_all(t, COUNT(t));
}

static void the_body_follows_from_method_status_and_fields(void **state)
{
    static const struct answer t[] = {
        {HTTP_GET, TEXT(OK E), "200 [OK] 1.1 close"},
        {HTTP_GET, TEXT(OK "Connection: keep-alive\r\n" E), "200 [OK] 1.1 close\n-Connection=keep-alive"},
        {HTTP_GET, TEXT(OK "Content-Length: 0\r\n" E), "200 [OK] 1.1 length 0 keep\nContent-Length=0"},
        {HTTP_GET, TEXT(OK TE E), "200 [OK] 1.1 chunked keep\nTransfer-Encoding=chunked"},
        {HTTP_GET, TEXT("HTTP/1.0 200 OK\r\n" E), "200 [OK] 1.0 close"},
        {HTTP_HEAD, TEXT(OK E), "200 [OK] 1.1 none keep"},
        {HTTP_HEAD, TEXT(OK CL E), "200 [OK] 1.1 none keep\nContent-Length=5"},
        {HTTP_HEAD, TEXT(OK TE E), "200 [OK] 1.1 none keep\nTransfer-Encoding=chunked"},
        {HTTP_GET, TEXT("HTTP/1.1 304 x\r\n" CL E), "304 [x] 1.1 none keep\nContent-Length=5"},
        {HTTP_GET, TEXT("HTTP/1.1 304 x\r\n" TE E), "304 [x] 1.1 none keep\nTransfer-Encoding=chunked"},
        {HTTP_GET, TEXT("HTTP/1.1 204 x\r\n" E), "204 [x] 1.1 none keep"},
        {HTTP_GET, TEXT("HTTP/1.1 204 x\r\nContent-Length: 0\r\n" E),
         "204 [x] 1.1 none keep\nContent-Length=0"},
        {HTTP_POST, TEXT("HTTP/1.1 100 Continue\r\n" E), "100 [Continue] 1.1 none keep"},
        {HTTP_GET, TEXT("HTTP/1.1 103 x\r\nLink: y\r\n" E), "103 [x] 1.1 none keep\nLink=y"},
        {HTTP_GET, TEXT("HTTP/1.1 101 x\r\nUpgrade: y\r\nConnection: upgrade\r\n" E),
         "101 [x] 1.1 tunnel\n-Upgrade=y\n-Connection=upgrade"},
        {HTTP_CONNECT, TEXT(OK E), "200 [OK] 1.1 tunnel"},
        {HTTP_CONNECT, TEXT("HTTP/1.1 299 x\r\n" CL E), "299 [x] 1.1 tunnel\nContent-Length=5"},
        {HTTP_CONNECT, TEXT("HTTP/1.1 407 x\r\n" CL E), "407 [x] 1.1 length 5 keep\nContent-Length=5"},
        {HTTP_GET, TEXT(OK CL "Connection: close\r\n" E),
         "200 [OK] 1.1 length 5\nContent-Length=5\n-Connection=close"},
        {HTTP_GET, TEXT("HTTP/1.0 200 OK\r\n" CL "Connection: keep-alive\r\n" E),
         "200 [OK] 1.0 length 5 keep\nContent-Length=5\n-Connection=keep-alive"},
    };
    (void)state;
    check_all(t, COUNT(t));
}

static void framing_that_two_could_read_differently_is_refused(void **state)
{
    static const struct answer t[] = {
        {HTTP_GET, TEXT(OK CL TE E), NULL},
        {HTTP_GET, TEXT(OK TE CL E), NULL},
        {HTTP_HEAD, TEXT(OK TE CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1 304 x\r\n" TE CL E), NULL},
        {HTTP_GET, TEXT(OK CL CL E), NULL},
        {HTTP_GET, TEXT(OK CL "Content-Length: 6\r\n" E), NULL},
        {HTTP_GET, TEXT(OK "Content-Length: 5, 5\r\n" E), NULL},
        {HTTP_GET, TEXT(OK "Content-Length: +5\r\n" E), NULL},
        {HTTP_GET, TEXT(OK "Content-Length:\r\n" E), NULL},
        {HTTP_GET, TEXT(OK "Content-Length: 9223372036854775808\r\n" E), NULL},
        {HTTP_GET, TEXT(OK TE TE E), NULL},
        {HTTP_GET, TEXT(OK "Transfer-Encoding: chunked,\r\n" E), NULL},
        {HTTP_GET, TEXT(OK "Transfer-Encoding: chunked, gzip\r\n" E), NULL},
        {HTTP_GET, TEXT(OK "Transfer-Encoding: gzip, chunked\r\n" E), NULL},
        {HTTP_GET, TEXT(OK "Transfer-Encoding: gzip\r\n" E), NULL},
        {HTTP_GET, TEXT("HTTP/1.0 200 OK\r\n" TE E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1 204 x\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1 204 x\r\n" TE E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1 100 x\r\n" CL E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1 103 x\r\n" TE E), NULL},
        {HTTP_GET, TEXT("HTTP/1.1 101 x\r\nUpgrade: y\r\nConnection: upgrade\r\n" TE E), NULL},
        {HTTP_GET, TEXT(OK CL "Connection: content-length\r\n" E), NULL},
        {HTTP_GET, TEXT(OK CL "Connection: a b\r\n" E), NULL},
    };
    (void)state;
    check_all(t, COUNT(t));
}

static void a_head_beyond_its_bounds_is_502(void **state)
{
    static char text[8192];
    static struct description d;
    struct head_kind k = {true, HTTP_GET};
    size_t scan = 0, n = (size_t)sprintf(text, OK);

    (void)state;
    assert_int_equal(parse_prefix(k, TEXT(OK), &scan, false, &d), 0);
    assert_int_equal(parse_prefix(k, TEXT(OK), &scan, true, &d), -502);
    scan = 0;
    assert_int_equal(parse_prefix(k, TEXT("HTTP/1.1 20"), &scan, true, &d), -502);
    for (size_t i = 0; i < HTTP_MAX_FIELDS; i++)
        n += (size_t)sprintf(text + n, "X-%zu: y\r\n", i);
    stpcpy(text + n, "\r\n");
    scan = 0;
    assert_int_equal(parse_prefix(k, text, n + 2, &scan, false, &d), n + 2);
    n += (size_t)sprintf(text + n, "X: y\r\n\r\n");
    check_head(k, text, n, -502, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_status_line_is_exact),
        cmocka_unit_test(field_faults_are_those_of_a_request),
        cmocka_unit_test(the_body_follows_from_method_status_and_fields),
        cmocka_unit_test(framing_that_two_could_read_differently_is_refused),
        cmocka_unit_test(a_head_beyond_its_bounds_is_502),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
