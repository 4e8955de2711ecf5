/* Request heads: what is accepted and how it is read, and every refusal. */
#include "tests/http/heads.h"

static const struct head_kind request = {false, HTTP_GET};

struct accepted {
    const char *text;
    size_t n;
    const char *read;
};

struct refused {
    const char *text;
    size_t n;
    long status;
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))
#define GET          "GET / HTTP/1.1\r\n"
#define H            "Host: a\r\n"
#define E            "\r\n"

static void accept_all(const struct accepted *t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_head(request, t[i].text, t[i].n, (long)t[i].n, t[i].read);
}

static void refuse_all(const struct refused *t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        check_head(request, t[i].text, t[i].n, -t[i].status, "");
}

static void methods_are_told_apart(void **state)
{
    static const struct accepted t[] = {
        {TEXT("GET / HTTP/1.1\r\n" H E), "GET/0 / 1.1 none keep\nHost=a"},
        {TEXT("HEAD / HTTP/1.1\r\n" H E), "HEAD/1 / 1.1 none keep\nHost=a"},
        {TEXT("POST / HTTP/1.1\r\n" H E), "POST/2 / 1.1 none keep\nHost=a"},
        {TEXT("PUT / HTTP/1.1\r\n" H E), "PUT/3 / 1.1 none keep\nHost=a"},
        {TEXT("DELETE / HTTP/1.1\r\n" H E), "DELETE/4 / 1.1 none keep\nHost=a"},
        {TEXT("OPTIONS / HTTP/1.1\r\n" H E), "OPTIONS/5 / 1.1 none keep\nHost=a"},
        {TEXT("TRACE / HTTP/1.1\r\n" H E), "TRACE/6 / 1.1 none keep\nHost=a"},
        {TEXT("CONNECT a:1 HTTP/1.1\r\n" H E), "CONNECT/7 a:1 1.1 none keep\nHost=a"},
        {TEXT("PATCH / HTTP/1.1\r\n" H E), "PATCH/8 / 1.1 none keep\nHost=a"},
        {TEXT("get / HTTP/1.1\r\n" H E), "get/9 / 1.1 none keep\nHost=a"},
        {TEXT("G / HTTP/1.1\r\n" H E), "G/9 / 1.1 none keep\nHost=a"},
        {TEXT("GETT / HTTP/1.1\r\n" H E), "GETT/9 / 1.1 none keep\nHost=a"},
        {TEXT("PROPFIND!#$%&'*+-.^_`|~ / HTTP/1.1\r\n" H E),
         "PROPFIND!#$%&'*+-.^_`|~/9 / 1.1 none keep\nHost=a"},
    };
    (void)state;
    accept_all(t, COUNT(t));
    static const struct refused bad[] = {
        {TEXT("G(T / HTTP/1.1\r\n" H E), 400},       {TEXT("G\0T / HTTP/1.1\r\n" H E), 400},
        {TEXT("G\xc3T / HTTP/1.1\r\n" H E), 400},    {TEXT(" GET / HTTP/1.1\r\n" H E), 400},
        {TEXT("\tGET / HTTP/1.1\r\n" H E), 400},     {TEXT("GET\t/ HTTP/1.1\r\n" H E), 400},
        {TEXT("GET:/ HTTP/1.1\r\n" H E), 400},       {TEXT("/ HTTP/1.1\r\n" H E), 400},
        {TEXT("\x16\x03\x01\x02\x00\x01\x00"), 400}, /* TLS to a plain port */
    };
    refuse_all(bad, COUNT(bad));
    for (int m = HTTP_GET; m <= HTTP_OTHER; m++) {
        bool want = m != HTTP_POST && m != HTTP_PATCH && m != HTTP_CONNECT && m != HTTP_OTHER;
        assert_int_equal(http_method_idempotent((enum http_method)m), want);
    }
}

static void a_target_has_one_of_four_forms_where_it_belongs(void **state)
{
    static const struct accepted t[] = {
        {TEXT("GET /a/b;c?d=e&f=%20|\"{}<>\\^` HTTP/1.1\r\n" H E),
         "GET/0 /a/b;c?d=e&f=%20|\"{}<>\\^` 1.1 none keep\nHost=a"},
        {TEXT("GET //b HTTP/1.1\r\n" H E), "GET/0 //b 1.1 none keep\nHost=a"},
        {TEXT("OPTIONS * HTTP/1.1\r\n" H E), "OPTIONS/5 * 1.1 none keep\nHost=a"},
        {TEXT("GET http://a/x HTTP/1.1\r\n" H E), "GET/0 http://a/x 1.1 none keep\nHost=a"},
        {TEXT("GET http://a HTTP/1.1\r\n" H E), "GET/0 http://a 1.1 none keep\nHost=a"},
        {TEXT("GET http://a?q HTTP/1.1\r\n" H E), "GET/0 http://a?q 1.1 none keep\nHost=a"},
        {TEXT("GET HTTP://A:80/ HTTP/1.1\r\n" H E), "GET/0 HTTP://A:80/ 1.1 none keep\nHost=a"},
        {TEXT("GET https://a/ HTTP/1.1\r\nHost: A:443\r\n" E), "GET/0 https://a/ 1.1 none keep\nHost=A:443"},
        {TEXT("GET http://[::1]:8/ HTTP/1.1\r\nHost: [::1]:8\r\n" E),
         "GET/0 http://[::1]:8/ 1.1 none keep\nHost=[::1]:8"},
        {TEXT("GET http://a/ HTTP/1.0\r\n" E), "GET/0 http://a/ 1.0 none"},
    };
    static const struct refused bad[] = {
        {TEXT("GET  HTTP/1.1\r\n" H E), 400},
        {TEXT("GET HTTP/1.1\r\n" H E), 400},
        {TEXT("GET  / HTTP/1.1\r\n" H E), 400},
        {TEXT("GET /  HTTP/1.1\r\n" H E), 400},
        {TEXT("GET /\tHTTP/1.1\r\n" H E), 400},
        {TEXT("GET /a b HTTP/1.1\r\n" H E), 400},
        {TEXT("GET /\0 HTTP/1.1\r\n" H E), 400},
        {TEXT("GET /\x01 HTTP/1.1\r\n" H E), 400},
        {TEXT("GET /\x7f HTTP/1.1\r\n" H E), 400},
        {TEXT("GET /\x80 HTTP/1.1\r\n" H E), 400},
        {TEXT("GET /\xc3\xa9 HTTP/1.1\r\n" H E), 400},
        {TEXT("GET /\xff HTTP/1.1\r\n" H E), 400},
        {TEXT("GET /a#b HTTP/1.1\r\n" H E), 400},
        {TEXT("GET # HTTP/1.1\r\n" H E), 400},
        {TEXT("GET /\rHTTP/1.1\r\n" H E), 400},
        {TEXT("GET a HTTP/1.1\r\n" H E), 400},
        {TEXT("GET ?a HTTP/1.1\r\n" H E), 400},
        {TEXT("GET * HTTP/1.1\r\n" H E), 400},
        {TEXT("OPTIONS *x HTTP/1.1\r\n" H E), 400},
        {TEXT("GET a:80 HTTP/1.1\r\n" H E), 400},
        {TEXT("GET http: HTTP/1.1\r\n" H E), 400},
        {TEXT("GET http:/a HTTP/1.1\r\n" H E), 400},
        {TEXT("GET http:// HTTP/1.1\r\n" H E), 400},
        {TEXT("GET http:///x HTTP/1.1\r\n" H E), 400},
        {TEXT("GET http://:80/ HTTP/1.1\r\nHost: :80\r\n" E), 400},
        {TEXT("GET http://u@a/ HTTP/1.1\r\n" H E), 400},
        {TEXT("GET http://a:x/ HTTP/1.1\r\n" H E), 400},
        {TEXT("GET http://b/ HTTP/1.1\r\n" H E), 400},
        {TEXT("GET http://a:81/ HTTP/1.1\r\n" H E), 400},
        {TEXT("GET https://a/ HTTP/1.1\r\nHost: a:80\r\n" E), 400},
        {TEXT("GET http://a/ HTTP/1.1\r\nHost:\r\n" E), 400},
        {TEXT("GET http://a/ HTTP/1.1\r\n" E), 400},
        {TEXT("GET ftp://a/ HTTP/1.1\r\n" H E), 400},
        {TEXT("CONNECT / HTTP/1.1\r\n" H E), 400},
        {TEXT("CONNECT a:1 HTTP/1.0\r\n" E), 400},
        {TEXT("CONNECT * HTTP/1.1\r\n" H E), 400},
        {TEXT("CONNECT a HTTP/1.1\r\n" H E), 400},
        {TEXT("CONNECT a: HTTP/1.1\r\n" H E), 400},
        {TEXT("CONNECT :1 HTTP/1.1\r\n" H E), 400},
        {TEXT("CONNECT a:1x HTTP/1.1\r\n" H E), 400},
        {TEXT("CONNECT a:65536 HTTP/1.1\r\n" H E), 400},
        {TEXT("CONNECT http://a:1 HTTP/1.1\r\n" H E), 400},
    };
    (void)state;
    accept_all(t, COUNT(t));
    refuse_all(bad, COUNT(bad));
}

static void the_version_is_exact(void **state)
{
    static const struct accepted t[] = {
        {TEXT("GET / HTTP/1.0\r\n" E), "GET/0 / 1.0 none"},
        {TEXT("GET / HTTP/1.2\r\n" H E), "GET/0 / 1.1 none keep\nHost=a"},
        {TEXT("GET / HTTP/1.9\r\n" H E), "GET/0 / 1.1 none keep\nHost=a"},
    };
    static const struct refused bad[] = {
        {TEXT("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505},
        {TEXT("GET / HTTP/0.9\r\n" H E), 505},
        {TEXT("GET / HTTP/3.0\r\n" H E), 505},
        {TEXT("GET / HTTP/2\r\n" H E), 400},
        {TEXT("GET / HTTP/1\r\n" H E), 400},
        {TEXT("GET / HTTP/1.\r\n" H E), 400},
        {TEXT("GET / HTTP/1.10\r\n" H E), 400},
        {TEXT("GET / HTTP/1.1x\r\n" H E), 400},
        {TEXT("GET / HTTP/1.1 \r\n" H E), 400},
        {TEXT("GET / HTTP/01.1\r\n" H E), 400},
        {TEXT("GET / HTTP/11.1\r\n" H E), 400},
        {TEXT("GET / HTTP/1,1\r\n" H E), 400},
        {TEXT("GET / HTTP/x.1\r\n" H E), 400},
        {TEXT("GET / HTTP/1.x\r\n" H E), 400},
        {TEXT("GET / HTTP /1.1\r\n" H E), 400},
        {TEXT("GET / http/1.1\r\n" H E), 400},
        {TEXT("GET / HTTPS/1.1\r\n" H E), 400},
        {TEXT("GET / ICY/1.1\r\n" H E), 400},
        {TEXT("GET /\r\n" H E), 400},
        {TEXT("GET\r\n" H E), 400},
    };
    (void)state;
    accept_all(t, COUNT(t));
    refuse_all(bad, COUNT(bad));
}

static void lines_end_in_cr_lf_only(void **state)
{
    static const struct accepted t[] = {
        {TEXT("\r\nGET / HTTP/1.1\r\n" H E), "GET/0 / 1.1 none keep\nHost=a"},
        {TEXT("\r\n\r\nGET / HTTP/1.1\r\n" H E), "GET/0 / 1.1 none keep\nHost=a"},
    };
    static const struct refused bad[] = {
        {TEXT("\r\n\r\n\r\nGET / HTTP/1.1\r\n" H E), 400},
        {TEXT("\nGET / HTTP/1.1\r\n" H E), 400},
        {TEXT("\rGET / HTTP/1.1\r\n" H E), 400},
        {TEXT("\r\n GET / HTTP/1.1\r\n" H E), 400},
        {TEXT("GET / HTTP/1.1\n" H E), 400},
        {TEXT("GET / HTTP/1.1\r" H E), 400},
        {TEXT("GET / HTTP/1.1\r\r\n" H E), 400},
        {TEXT(GET "Host: a\n" E), 400},
        {TEXT(GET "Host: a\r" E), 400},
        {TEXT(GET "Host: a\r\r\n" E), 400},
        {TEXT(GET "Host: a\rb\r\n" E), 400},
        {TEXT(GET H "\n"), 400},
        {TEXT(GET H "\rX"), 400},
        {TEXT(GET H "\r\r\n"), 400},
        {TEXT(GET H "X: a\nTransfer-Encoding: chunked\r\n" E), 400},
    };
    (void)state;
    accept_all(t, COUNT(t));
    refuse_all(bad, COUNT(bad));
}

static void field_lines_are_a_token_a_colon_and_a_value(void **state)
{
    static const struct accepted t[] = {
        {TEXT(GET "host:a\r\n" E), "GET/0 / 1.1 none keep\nhost=a"},
        {TEXT(GET "Host: \t a \t \r\n" E), "GET/0 / 1.1 none keep\nHost=a"},
        {TEXT(GET H "A:\r\n" E), "GET/0 / 1.1 none keep\nHost=a\nA="},
        {TEXT(GET H "A: \t \r\n" E), "GET/0 / 1.1 none keep\nHost=a\nA="},
        {TEXT(GET H "A: b:c  d\te\r\n" E), "GET/0 / 1.1 none keep\nHost=a\nA=b:c  d\te"},
        {TEXT(GET H "A: \xc3\xa9\x80\xff, twelve bytes and more \xe2\x82\xac\r\n" E),
         "GET/0 / 1.1 none keep\nHost=a\nA=\xc3\xa9\x80\xff, twelve bytes and more \xe2\x82\xac"},
        {TEXT(GET H "!#$%&'*+-.^_`|~09azAZ: x\r\n" E),
         "GET/0 / 1.1 none keep\nHost=a\n!#$%&'*+-.^_`|~09azAZ=x"},
    };
    static const struct refused bad[] = {
        {TEXT(GET " " H E), 400},
        {TEXT(GET "\t" H E), 400},
        {TEXT(GET "Host: a\r\n b\r\n" E), 400},
        {TEXT(GET "Host: a\r\n\tb\r\n" E), 400},
        {TEXT(GET H "A: b\r\n \r\n" E), 400},
        {TEXT(GET "Host : a\r\n" E), 400},
        {TEXT(GET "Host\t: a\r\n" E), 400},
        {TEXT(GET H "Content-Length : 5\r\n" E), 400},
        {TEXT(GET H "Content Length: 5\r\n" E), 400},
        {TEXT(GET H ": a\r\n" E), 400},
        {TEXT(GET H ":\r\n" E), 400},
        {TEXT(GET H "A\r\n" E), 400},
        {TEXT(GET H "A\0B: c\r\n" E), 400},
        {TEXT(GET H "A\rB: c\r\n" E), 400},
        {TEXT(GET H "A\x7f: c\r\n" E), 400},
        {TEXT(GET H "\xc3\xa9: c\r\n" E), 400},
        {TEXT(GET H "A\x80: c\r\n" E), 400},
        {TEXT(GET H "A(B): c\r\n" E), 400},
        {TEXT(GET H "A[]: c\r\n" E), 400},
        {TEXT(GET H "A: \0\r\n" E), 400},
        {TEXT(GET H "A: b\0c\r\n" E), 400},
        {TEXT(GET H "A: b\x07"
                    "c\r\n" E),
         400},
        {TEXT(GET H "A: \x7f\r\n" E), 400},
        {TEXT(GET H "A: \x1f\r\n" E), 400},
        {TEXT(GET H "A: a longer value with a \x0b somewhere in the middle\r\n" E), 400},
        {TEXT(GET H "A: a longer value with a \x7f somewhere in the middle\r\n" E), 400},
    };
    (void)state;
    accept_all(t, COUNT(t));
    refuse_all(bad, COUNT(bad));
}

/* Every byte in every place, against the RFC's own words rather than the table under test. */
static void each_byte_is_judged_by_its_place(void **state)
{
    static struct description d;
    (void)state;
    for (int c = 0; c < 256; c++) {
        bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool token = alnum || (c && c < 128 && strchr("!#$%&'*+-.^_`|~", c));
        bool value = c == '\t' || (c >= ' ' && c != 0x7f);
        for (size_t pad = 0; pad < 20; pad++) {
            static const char long_text[] = "xxxxxxxxxxxxxxxxxxxx";
            char text[128];
            int n = snprintf(text, sizeof(text), GET H "A%.*s?%.*s: b\r\n" E, (int)pad, long_text, (int)pad,
                             long_text);
            *strchr(text, '?') = (char)c;
            size_t scan = 0;
            long rc = parse_prefix(request, text, (size_t)n, &scan, false, &d);
            assert_int_equal(rc, token || (c == ':') ? n : -400);
            n = snprintf(text, sizeof(text), GET H "A: %.*s?%.*s\r\n" E, (int)pad, long_text, (int)pad,
                         long_text);
            *strchr(text, '?') = (char)c;
            scan = 0;
            rc = parse_prefix(request, text, (size_t)n, &scan, false, &d);
            assert_int_equal(rc, value ? n : -400);
            n = snprintf(text, sizeof(text), "GET /%.*s?%.*s HTTP/1.1\r\n" H E, (int)pad, long_text, (int)pad,
                         long_text);
            *strchr(text, '?') = (char)c;
            scan = 0;
            rc = parse_prefix(request, text, (size_t)n, &scan, false, &d);
            assert_int_equal(rc, c > ' ' && c < 0x7f && c != '#' ? n : -400);
        }
    }
}

static void host_is_there_once_and_well_formed(void **state)
{
    static const struct accepted t[] = {
        {TEXT(GET "Host:\r\n" E), "GET/0 / 1.1 none keep\nHost="},
        {TEXT(GET "HOST: a.b-c_d~:8080\r\n" E), "GET/0 / 1.1 none keep\nHOST=a.b-c_d~:8080"},
        {TEXT(GET "Host: 127.0.0.1:65535\r\n" E), "GET/0 / 1.1 none keep\nHost=127.0.0.1:65535"},
        {TEXT(GET "Host: a:\r\n" E), "GET/0 / 1.1 none keep\nHost=a:"},
        {TEXT(GET "Host: %41%6a\r\n" E), "GET/0 / 1.1 none keep\nHost=%41%6a"},
        {TEXT(GET "Host: [2001:db8::1]:80\r\n" E), "GET/0 / 1.1 none keep\nHost=[2001:db8::1]:80"},
        {TEXT(GET "Host: [::ffff:1.2.3.4]\r\n" E), "GET/0 / 1.1 none keep\nHost=[::ffff:1.2.3.4]"},
        {TEXT("GET / HTTP/1.0\r\n" H E), "GET/0 / 1.0 none\nHost=a"},
    };
    static const struct refused bad[] = {
        {TEXT(GET E), 400},
        {TEXT(GET "A: b\r\n" E), 400},
        {TEXT(GET H H E), 400},
        {TEXT(GET H "X: y\r\nhost: b\r\n" E), 400},
        {TEXT("GET / HTTP/1.0\r\n" H H E), 400},
        {TEXT(GET "Host: a b\r\n" E), 400},
        {TEXT(GET "Host: a, b\r\n" E), 400},
        {TEXT(GET "Host: a,b\r\n" E), 400},
        {TEXT(GET "Host: u@a\r\n" E), 400},
        {TEXT(GET "Host: u:p@a\r\n" E), 400},
        {TEXT(GET "Host: a/b\r\n" E), 400},
        {TEXT(GET "Host: http://a\r\n" E), 400},
        {TEXT(GET "Host: a?b\r\n" E), 400},
        {TEXT(GET "Host: a#b\r\n" E), 400},
        {TEXT(GET "Host: a\\b\r\n" E), 400},
        {TEXT(GET "Host: \"a\"\r\n" E), 400},
        {TEXT(GET "Host: <a>\r\n" E), 400},
        {TEXT(GET "Host: a\xc3\xa9\r\n" E), 400},
        {TEXT(GET "Host: %4\r\n" E), 400},
        {TEXT(GET "Host: %\r\n" E), 400},
        {TEXT(GET "Host: %zz\r\n" E), 400},
        {TEXT(GET "Host: :80\r\n" E), 400},
        {TEXT(GET "Host: :\r\n" E), 400},
        {TEXT(GET "Host: a:b\r\n" E), 400},
        {TEXT(GET "Host: a:80:80\r\n" E), 400},
        {TEXT(GET "Host: a:+80\r\n" E), 400},
        {TEXT(GET "Host: a:65536\r\n" E), 400},
        {TEXT(GET "Host: a:000080\r\n" E), 400},
        {TEXT(GET "Host: ::1\r\n" E), 400},
        {TEXT(GET "Host: [::1\r\n" E), 400},
        {TEXT(GET "Host: [::1]x\r\n" E), 400},
        {TEXT(GET "Host: []\r\n" E), 400},
        {TEXT(GET "Host: [a]\r\n" E), 400},
        {TEXT(GET "Host: [1:2:3:4:5:6:7:8:9]\r\n" E), 400},
        {TEXT(GET "Host: [::1%25eth0]\r\n" E), 400},
        {TEXT(GET "Host: a[::1]\r\n" E), 400},
    };
    (void)state;
    accept_all(t, COUNT(t));
    refuse_all(bad, COUNT(bad));
}

#define POST   "POST / HTTP/1.1\r\n" H
#define POSTED "POST/2 / 1.1 "
#define A      "\nHost=a"

static void content_length_is_one_number(void **state)
{
    static const struct accepted t[] = {
        {TEXT(POST "Content-Length: 0\r\n" E), POSTED "length 0 keep" A "\nContent-Length=0"},
        {TEXT(POST "content-length:5\r\n" E), POSTED "length 5 keep" A "\ncontent-length=5"},
        {TEXT(POST "Content-Length: \t 5 \t\r\n" E), POSTED "length 5 keep" A "\nContent-Length=5"},
        {TEXT(POST "Content-Length: 0005\r\n" E), POSTED "length 5 keep" A "\nContent-Length=0005"},
        {TEXT(POST "Content-Length: 9223372036854775807\r\n" E),
         POSTED "length 9223372036854775807 keep" A "\nContent-Length=9223372036854775807"},
        {TEXT("GET / HTTP/1.0\r\nContent-Length: 5\r\n" E), "GET/0 / 1.0 length 5\nContent-Length=5"},
    };
    static const struct refused bad[] = {
        {TEXT(POST "Content-Length:\r\n" E), 400},
        {TEXT(POST "Content-Length: \r\n" E), 400},
        {TEXT(POST "Content-Length: +5\r\n" E), 400},
        {TEXT(POST "Content-Length: -5\r\n" E), 400},
        {TEXT(POST "Content-Length: 0x5\r\n" E), 400},
        {TEXT(POST "Content-Length: 5_0\r\n" E), 400},
        {TEXT(POST "Content-Length:  5 , 5\r\n" E), 400},
        {TEXT(POST "Content-Length: 5,5\r\n" E), 400},
        {TEXT(POST "Content-Length: 5,\r\n" E), 400},
        {TEXT(POST "Content-Length: 5, 6\r\n" E), 400},
        {TEXT(POST "Content-Length: 5 5\r\n" E), 400},
        {TEXT(POST "Content-Length: 5.0\r\n" E), 400},
        {TEXT(POST "Content-Length: 5e1\r\n" E), 400},
        {TEXT(POST "Content-Length: \"5\"\r\n" E), 400},
        {TEXT(POST "Content-Length: five\r\n" E), 400},
        {TEXT(POST "Content-Length: \xb2\r\n" E), 400},
        {TEXT(POST "Content-Length: 9223372036854775808\r\n" E), 400},
        {TEXT(POST "Content-Length: 18446744073709551616\r\n" E), 400},
        {TEXT(POST "Content-Length: 18446744073709551621\r\n" E), 400},
        {TEXT(POST "Content-Length: 99999999999999999999999999999999\r\n" E), 400},
        {TEXT(POST "Content-Length: 5\r\nContent-Length: 5\r\n" E), 400},
        {TEXT(POST "Content-Length: 5\r\nContent-Length: 6\r\n" E), 400},
        {TEXT(POST "Content-Length: 5\r\nX: y\r\ncontent-length: 0\r\n" E), 400},
    };
    (void)state;
    accept_all(t, COUNT(t));
    refuse_all(bad, COUNT(bad));
}

static void transfer_encoding_is_chunked_alone(void **state)
{
    static const struct accepted t[] = {
        {TEXT(POST "Transfer-Encoding: chunked\r\n" E),
         POSTED "chunked keep" A "\nTransfer-Encoding=chunked"},
        {TEXT(POST "transfer-encoding:\t CHUNKED \r\n" E),
         POSTED "chunked keep" A "\ntransfer-encoding=CHUNKED"},
    };
    static const struct refused bad[] = {
        {TEXT(POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: gzip, chunked\r\nContent-Length: 5\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding:\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding:\r\nContent-Length: 5\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: chunked,\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: ,chunked\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: chunked, gzip\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: chunked, chunked\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: gzip, chunked, chunked\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: gzip\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: identity\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: xchunked\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: chunkedx\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: chunked foo\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: chunked;a=b\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: \"chunked\"\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: 'chunked'\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: gzip chunked\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: gzip;q=\"a, chunked\"\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: (gzip), chunked\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: gzip, , chunked\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: \x0b"
                   "chunked\r\n" E),
         400},
        {TEXT(POST "Transfer-Encoding: chunked\xa0\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: gzip, chunked\r\n" E), 501},
        {TEXT(POST "Transfer-Encoding: gzip;level=1 , Chunked\r\n" E), 501},
        {TEXT(POST "Transfer-Encoding: identity, chunked\r\n" E), 501},
        {TEXT(POST "Transfer-Encoding: gzip, br, chunked\r\n" E), 501},
        {TEXT("POST / HTTP/1.0\r\n" H "Transfer-Encoding: chunked\r\n" E), 400},
        {TEXT("POST / HTTP/1.0\r\n" H "Transfer-Encoding: gzip, chunked\r\n" E), 400},
        {TEXT("CONNECT a:1 HTTP/1.1\r\n" H "Transfer-Encoding: chunked\r\n" E), 400},
        {TEXT("CONNECT a:1 HTTP/1.1\r\n" H "Content-Length: 5\r\n" E), 400},
    };
    (void)state;
    accept_all(t, COUNT(t));
    refuse_all(bad, COUNT(bad));
}

static void connection_decides_what_is_kept_and_what_is_dropped(void **state)
{
    static const struct accepted t[] = {
        {TEXT(GET H "Connection: close\r\n" E), "GET/0 / 1.1 none" A "\n-Connection=close"},
        {TEXT(GET H "Connection: keep-alive, Close\r\n" E),
         "GET/0 / 1.1 none" A "\n-Connection=keep-alive, Close"},
        {TEXT(GET H "Connection: ,, close ,\r\n" E), "GET/0 / 1.1 none" A "\n-Connection=,, close ,"},
        {TEXT(GET H "Connection: close\r\nConnection: keep-alive\r\n" E),
         "GET/0 / 1.1 none" A "\n-Connection=close\n-Connection=keep-alive"},
        {TEXT(GET H "Connection:\r\n" E), "GET/0 / 1.1 none keep" A "\n-Connection="},
        {TEXT("GET / HTTP/1.0\r\n" H "Connection: Keep-Alive\r\n" E),
         "GET/0 / 1.0 none keep" A "\n-Connection=Keep-Alive"},
        {TEXT("GET / HTTP/1.0\r\n" H "Proxy-Connection: keep-alive\r\n" E),
         "GET/0 / 1.0 none" A "\n-Proxy-Connection=keep-alive"},
        {TEXT(GET H "X-A: 1\r\nConnection: x-a\r\nx-A: 2\r\nX-B: 3\r\n" E),
         "GET/0 / 1.1 none keep" A "\n-X-A=1\n-Connection=x-a\n-x-A=2\nX-B=3"},
        {TEXT(GET H "X~: 1\r\nX^: 2\r\nConnection: x^\r\n" E),
         "GET/0 / 1.1 none keep" A "\nX~=1\n-X^=2\n-Connection=x^"},
        {TEXT(GET H "Keep-Alive: timeout=5\r\nTE: trailers\r\nTrailer: x\r\nProxy-Connection: "
                    "close\r\nUpgrade: x\r\n" E),
         "GET/0 / 1.1 none keep" A
         "\n-Keep-Alive=timeout=5\n-TE=trailers\n-Trailer=x\n-Proxy-Connection=close\n-Upgrade=x"},
        /* What is not the client's to remove stays. */
        {TEXT(GET H
              "Cookie: c\r\nX-Forwarded-For: d\r\nAuthorization: e\r\nX-Forwarded-Proto: f\r\nExpect: g\r\n"
              "Content-Type: h\r\nConnection: cookie, x-forwarded-for, authorization, x-forwarded-proto, "
              "expect, "
              "content-type\r\n" E),
         "GET/0 / 1.1 none keep" A
         "\nCookie=c\nX-Forwarded-For=d\nAuthorization=e\nX-Forwarded-Proto=f\nExpect=g"
         "\nContent-Type=h\n-Connection=cookie, x-forwarded-for, authorization, x-forwarded-proto, expect, "
         "content-type"},
    };
    static const struct refused bad[] = {
        {TEXT(GET H "Connection: Host\r\n" E), 400},
        {TEXT(POST "Content-Length: 5\r\nConnection: close, content-length\r\n" E), 400},
        {TEXT(POST "Transfer-Encoding: chunked\r\nConnection: Transfer-Encoding\r\n" E), 400},
        {TEXT(GET H "Connection: a b\r\n" E), 400},
        {TEXT(GET H "Connection: close;\r\n" E), 400},
        {TEXT(GET H "Connection: \"close\"\r\n" E), 400},
        {TEXT(GET H "Connection: a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t,u,v,w,x,y,z,0,1,2,3,4,5,6\r\n" E),
         400},
    };
    (void)state;
    accept_all(t, COUNT(t));
    refuse_all(bad, COUNT(bad));
}

static void expectations_and_upgrades_are_seen(void **state)
{
    static const struct accepted t[] = {
        {TEXT(POST "Content-Length: 5\r\nExpect: 100-Continue\r\n" E),
         POSTED "length 5 keep expect" A "\nContent-Length=5\nExpect=100-Continue"},
        {TEXT(POST "Expect: 100-continue\r\n" E), POSTED "none keep" A "\nExpect=100-continue"},
        {TEXT(POST "Content-Length: 5\r\nExpect: 200-maybe\r\n" E),
         POSTED "length 5 keep" A "\nContent-Length=5\nExpect=200-maybe"},
        {TEXT("POST / HTTP/1.0\r\n" H "Content-Length: 5\r\nExpect: 100-continue\r\n" E),
         "POST/2 / 1.0 length 5" A "\nContent-Length=5\n-Expect=100-continue"},
        {TEXT(GET H "Connection: Upgrade\r\nUpgrade: websocket\r\n" E),
         "GET/0 / 1.1 none keep upgrade" A "\n-Connection=Upgrade\n-Upgrade=websocket"},
        {TEXT(GET H "Upgrade: websocket\r\n" E), "GET/0 / 1.1 none keep" A "\n-Upgrade=websocket"},
        {TEXT(GET H "Connection: upgrade\r\n" E), "GET/0 / 1.1 none keep" A "\n-Connection=upgrade"},
        {TEXT("GET / HTTP/1.0\r\n" H "Connection: upgrade\r\nUpgrade: websocket\r\n" E),
         "GET/0 / 1.0 none" A "\n-Connection=upgrade\n-Upgrade=websocket"},
        {TEXT(POST "Content-Length: 5\r\nConnection: upgrade\r\nUpgrade: websocket\r\n" E),
         POSTED "length 5 keep" A "\nContent-Length=5\n-Connection=upgrade\n-Upgrade=websocket"},
        {TEXT(POST "Content-Length: 0\r\nConnection: upgrade\r\nUpgrade: websocket\r\n" E),
         POSTED "length 0 keep upgrade" A "\nContent-Length=0\n-Connection=upgrade\n-Upgrade=websocket"},
        /* HTTP/2 in clear text would pass unseen. */
        {TEXT(GET H "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: H2C\r\nHTTP2-Settings: AA\r\n" E),
         "GET/0 / 1.1 none keep" A "\n-Connection=Upgrade, HTTP2-Settings\n-Upgrade=H2C\n-HTTP2-Settings=AA"},
        {TEXT(GET H "Connection: upgrade\r\nUpgrade: websocket, h2c\r\n" E),
         "GET/0 / 1.1 none keep" A "\n-Connection=upgrade\n-Upgrade=websocket, h2c"},
        {TEXT(GET H "Connection: upgrade\r\nUpgrade: \"h2c\"\r\n" E),
         "GET/0 / 1.1 none keep" A "\n-Connection=upgrade\n-Upgrade=\"h2c\""},
    };
    (void)state;
    accept_all(t, COUNT(t));
}

/* n fields after Host, then the empty line; returns the length. */
static size_t many_fields(char *text, size_t n)
{
    size_t len = (size_t)sprintf(text, GET H);
    for (size_t i = 1; i < n; i++)
        len += (size_t)sprintf(text + len, "X-%zu: y\r\n", i);
    return len + (size_t)sprintf(text + len, "\r\n");
}

static void more_fields_than_there_is_room_for_are_431_at_once(void **state)
{
    static char text[200000];
    static struct description d;
    size_t n = many_fields(text, HTTP_MAX_FIELDS), scan = 0;

    (void)state;
    assert_int_equal(parse_prefix(request, text, n, &scan, true, &d), n);
    size_t too_many = many_fields(text, HTTP_MAX_FIELDS + 1);
    check_head(request, text, too_many, -431, "");
    /* at the first byte of the line too many, which stands where the empty line would have */
    assert_int_equal(refused_after(request, text, too_many), n - 1);
    scan = 0;
    assert_int_equal(parse_prefix(request, text, many_fields(text, 10000), &scan, false, &d), -431);
}

static void a_head_that_fills_the_buffer_is_414_or_431(void **state)
{
    static char text[65536];
    static struct description d;
    size_t scan = 0;

    (void)state;
    memset(text, 'a', sizeof(text));
    *stpcpy(text, "GET /") = 'a'; /* no end of the text there */
    assert_int_equal(parse_prefix(request, text, sizeof(text), &scan, false, &d), 0);
    assert_int_equal(parse_prefix(request, text, sizeof(text), &scan, true, &d), -414);
    scan = 0;
    assert_int_equal(parse_prefix(request, text, sizeof(text), &scan, true, &d), -414);
    const char line[] = GET "A: ";
    memcpy(text, line, sizeof(line) - 1);
    scan = 0;
    assert_int_equal(parse_prefix(request, text, sizeof(text), &scan, true, &d), -431);
    scan = 0;
    assert_int_equal(parse_prefix(request, TEXT(GET), &scan, true, &d), -431);
    scan = 0;
    assert_int_equal(parse_prefix(request, TEXT("GET / HTTP/1.1\r"), &scan, true, &d), -414);
    scan = 0;
    assert_int_equal(parse_prefix(request, TEXT(GET H "\r"), &scan, true, &d), -431);
    scan = 0;
    assert_int_equal(parse_prefix(request, TEXT(GET H E), &scan, true, &d), sizeof(GET H E) - 1);
    scan = 0; /* a fault is a fault, however full the buffer */
    assert_int_equal(parse_prefix(request, TEXT("GET /\n"), &scan, true, &d), -400);
}

static void a_fault_is_reported_at_its_byte(void **state)
{
    static const struct {
        const char *text;
        size_t n, at;
    } t[] = {
        {TEXT("\x16\x03\x01"), 1},
        {TEXT("GET / HTTP/1.1\n"), 15},
        {TEXT("GET /\x7f/ HTTP/1.1\r\n"), 6},
        {TEXT("GET / HTTP/2.0\r\n"), 14},
        {TEXT(GET "A: b\nC: d\r\n" E), sizeof(GET) - 1 + 5},
        {TEXT(GET "A: b\rC: d\r\n" E), sizeof(GET) - 1 + 6},
        {TEXT(GET "A : b\r\n" E), sizeof(GET) - 1 + 2},
        {TEXT(GET " A: b\r\n" E), sizeof(GET) - 1 + 1},
        {TEXT(GET "A: b\0c\r\n" E), sizeof(GET) - 1 + 5},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(t); i++)
        assert_int_equal(refused_after(request, t[i].text, t[i].n), t[i].at);
}

static void bytes_after_the_head_are_not_looked_at(void **state)
{
    static struct description d;
    size_t scan = 0;
    (void)state;
    assert_int_equal(parse_prefix(request, TEXT(GET H E "\0\n\r garbage"), &scan, false, &d),
                     sizeof(GET H E) - 1);
    assert_string_equal(d.text, "GET/0 / 1.1 none keep\nHost=a");
    scan = 0;
    assert_int_equal(parse_prefix(request, TEXT("GET / "), &scan, false, &d), 0);
    assert_int_equal(parse_prefix(request, TEXT(GET H E "\n"), &scan, false, &d), sizeof(GET H E) - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_are_told_apart),
        cmocka_unit_test(a_target_has_one_of_four_forms_where_it_belongs),
        cmocka_unit_test(the_version_is_exact),
        cmocka_unit_test(lines_end_in_cr_lf_only),
        cmocka_unit_test(field_lines_are_a_token_a_colon_and_a_value),
        cmocka_unit_test(each_byte_is_judged_by_its_place),
        cmocka_unit_test(host_is_there_once_and_well_formed),
        cmocka_unit_test(content_length_is_one_number),
        cmocka_unit_test(transfer_encoding_is_chunked_alone),
        cmocka_unit_test(connection_decides_what_is_kept_and_what_is_dropped),
        cmocka_unit_test(expectations_and_upgrades_are_seen),
        cmocka_unit_test(more_fields_than_there_is_room_for_are_431_at_once),
        cmocka_unit_test(a_head_that_fills_the_buffer_is_414_or_431),
        cmocka_unit_test(a_fault_is_reported_at_its_byte),
        cmocka_unit_test(bytes_after_the_head_are_not_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
