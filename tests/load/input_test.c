/* What people type: durations, numbers, URLs, header fields; and how quantities are written. */
#include "load/request.h"
#include "load/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* cmocka needs the headers above. */
#include <cmocka.h>

static void durations_are_read_with_their_unit(void **state)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } good[] = {{"2", 2000000000},
                {"2s", 2000000000},
                {"500ms", 500000000},
                {"1m", 60000000000},
                {"1h", 3600000000000},
                {"250us", 250000},
                {"0", 0},
                {"1.5s", 1500000000},
                {"0.25ms", 250000},
                {"24h", 86400000000000},
                {"7ns", 7}};
    static const char *const bad[] = {"",
                                      "s",
                                      "-1",
                                      "+1",
                                      "1 s",
                                      " 1",
                                      "1x",
                                      "1sec",
                                      "25h",
                                      "1e3",
                                      "0x10",
                                      ".5",
                                      "1.",
                                      "1..2",
                                      "inf",
                                      "nan",
                                      "99999999999999999999999999"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t ns = 1;
        assert_true(load_read_duration(good[i].text, &ns));
        assert_int_equal(ns, good[i].ns);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t ns;
        assert_false(load_read_duration(bad[i], &ns));
    }
}

static void numbers_are_digits_within_their_range(void **state)
{
    static const char *const bad[] = {"", "-1", "+1", "1 ", "0x1", "1k", "0", "101", "18446744073709551617"};
    uint64_t n;
    (void)state;
    assert_true(load_read_number("100", 1, 100, &n));
    assert_int_equal(n, 100);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(load_read_number(bad[i], 1, 100, &n));
    }
}

static void quantities_are_written_with_the_largest_unit_below_them(void **state)
{
    char text[LOAD_UNIT_TEXT];
    (void)state;
    assert_string_equal(load_write_time(text, 635910), "635.91us");
    assert_string_equal(load_write_time(text, 0), "0.00us");
    assert_string_equal(load_write_time(text, 1.5e6), "1.50ms");
    assert_string_equal(load_write_time(text, 2e9), "2.00s");
    assert_string_equal(load_write_count(text, 999), "999.00");
    assert_string_equal(load_write_count(text, 56200), "56.20k");
    assert_string_equal(load_write_size(text, 1536), "1.50KB");
    assert_string_equal(load_write_size(text, 17.76 * 1073741824), "17.76GB");
}

static void check_request(const char *url, const char *method, const char *const *fields, size_t n,
                          const char *wanted)
{
    struct load_request r;
    char err[256];
    assert_true(load_request_build(&r, url, method, fields, n, err, sizeof err));
    assert_int_equal(r.len, strlen(wanted));
    assert_memory_equal(r.bytes, wanted, r.len);
    load_request_free(&r);
}

static void a_request_says_what_was_asked_and_no_more(void **state)
{
    static const char *const fields[] = {"X-A:  b c\t ", "Empty:"};
    static const char *const host[] = {"host: example.org"};
    (void)state;
    check_request("http://127.0.0.1:8080/a?b=c", NULL, NULL, 0,
                  "GET /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n");
    check_request("http://127.0.0.1", NULL, NULL, 0, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    check_request("http://localhost:81?q", "HEAD", NULL, 0,
                  "HEAD /?q HTTP/1.1\r\nHost: localhost:81\r\n\r\n");
    check_request("http://[::1]:82/", "POST", NULL, 0,
                  "POST / HTTP/1.1\r\nHost: [::1]:82\r\nContent-Length: 0\r\n\r\n");
    check_request("http://127.0.0.1/", "PURGE", fields, 2,
                  "PURGE / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: b c\r\nEmpty: \r\n\r\n");
    check_request("HTTP://127.0.0.1/", "GET", host, 1, "GET / HTTP/1.1\r\nhost: example.org\r\n\r\n");
}

static void the_address_is_that_of_the_url(void **state)
{
    static const struct {
        const char *url, *address;
    } samples[] = {{"http://127.0.0.1", "127.0.0.1:80"},
                   {"http://LocalHost:9/", "127.0.0.1:9"},
                   {"http://[::1]/x", "[::1]:80"},
                   {"http://[::1]:443/x", "[::1]:443"}};
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct load_request r;
        char err[256], text[NET_ADDR_TEXT];
        assert_true(load_request_build(&r, samples[i].url, NULL, NULL, 0, err, sizeof err));
        assert_string_equal(net_addr_format(&r.addr, text, sizeof text), samples[i].address);
        load_request_free(&r);
    }
}

static void bad_urls_are_refused_with_their_text(void **state)
{
    static const char *const bad[] = {"",
                                      "127.0.0.1:80",
                                      "https://127.0.0.1/",
                                      "http://",
                                      "http:///x",
                                      "http://example.org/",
                                      "http://127.0.0.1:0/",
                                      "http://127.0.0.1:65536/",
                                      "http://127.0.0.1:8x/",
                                      "http://127.0.0.1:/",
                                      "http://*:80/",
                                      "http://:80/",
                                      "http://unix@a:80/",
                                      "http://me@127.0.0.1/",
                                      "http://[::1/",
                                      "http://::1/",
                                      "http://127.0.0.1/a b",
                                      "http://127.0.0.1/a\r\nX: y",
                                      "http://127.0.0.1/#part",
                                      "http://127.0.0.1/\xc3\xa4"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct load_request r;
        char err[256] = "";
        if (load_request_build(&r, bad[i], NULL, NULL, 0, err, sizeof err)) {
            print_error("accepted: %s\n", bad[i]);
            fail();
        }
        assert_non_null(strstr(err, bad[i]));
    }
}

static void bad_headers_and_methods_are_refused(void **state)
{
    static const char *const fields[] = {"",
                                         "X",
                                         ": v",
                                         "a b: c",
                                         "X : y",
                                         "X: \r",
                                         "X: a\nY: b",
                                         "X: \x7f",
                                         "Content-Length: 5",
                                         "transfer-encoding: chunked"};
    static const char *const names[] = {"", "GE T", "GET\r\n", "CONNECT", "G(T"};
    struct load_request r;
    char err[256];
    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        assert_false(load_request_build(&r, "http://127.0.0.1/", NULL, &fields[i], 1, err, sizeof err));
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_false(load_request_build(&r, "http://127.0.0.1/", names[i], NULL, 0, err, sizeof err));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_are_read_with_their_unit),
        cmocka_unit_test(numbers_are_digits_within_their_range),
        cmocka_unit_test(quantities_are_written_with_the_largest_unit_below_them),
        cmocka_unit_test(a_request_says_what_was_asked_and_no_more),
        cmocka_unit_test(the_address_is_that_of_the_url),
        cmocka_unit_test(bad_urls_are_refused_with_their_text),
        cmocka_unit_test(bad_headers_and_methods_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
