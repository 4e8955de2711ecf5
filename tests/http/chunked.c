/* The chunked coding: what is decoded and what is refused, cut at every byte and every pair of bytes. */
#include "http/http.h"
#include "tests/http/guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#define TEXT(literal) (literal), sizeof(literal) - 1
#define COUNT(table)  (sizeof(table) / sizeof((table)[0]))

struct outcome {
    enum http_chunk_result result;
    size_t used, n;
    char payload[1 << 17];
};

/* Feeds one piece, placed before a page that can't be touched. */
static void feed(struct http_chunked *c, const char *text, size_t n, struct outcome *o)
{
    size_t used, payload;
    char *buf = guard_copy(text, n);

    assert_non_null(buf);
    if (o->result != HTTP_CHUNK_MORE)
        return;
    o->result = http_chunked_decode(c, buf, n, &used, &payload);
    assert_true(used <= n && payload <= used);
    if (o->result == HTTP_CHUNK_MORE)
        assert_int_equal(used, n);
    memcpy(o->payload + o->n, buf, payload);
    o->used += used;
    o->n += payload;
    assert_int_equal(c->total, o->n);
}

static void decode(const char *text, size_t n, size_t cut1, size_t cut2, struct outcome *o)
{
    struct http_chunked c = {0};

    o->result = HTTP_CHUNK_MORE;
    o->used = o->n = 0;
    feed(&c, text, cut1, o);
    feed(&c, text + cut1, cut2 - cut1, o);
    feed(&c, text + cut2, n - cut2, o);
}

static void check(const char *text, size_t n, enum http_chunk_result result, size_t used, const char *payload,
                  size_t size)
{
    static struct outcome o;

    for (size_t a = 0; a <= n; a++) {
        for (size_t b = a; b <= n; b++) {
            decode(text, n, a, b, &o);
            if (o.result == result && (result == HTTP_CHUNK_BAD || (o.used == used && o.n == size)) &&
                (result == HTTP_CHUNK_BAD || !memcmp(o.payload, payload, size)))
                continue;
            print_error("%s\ncut at %zu and %zu: result %d, %zu bytes used, %zu of payload\n", text, a, b,
                        o.result, o.used, o.n);
            fail();
        }
    }
    struct http_chunked c = {0};
    o.result = HTTP_CHUNK_MORE;
    o.used = o.n = 0;
    for (size_t i = 0; i < n; i++)
        feed(&c, text + i, 1, &o);
    assert_int_equal(o.result, result);
    if (result != HTTP_CHUNK_BAD)
        assert_int_equal(o.used, used);
}

static void bodies_are_decoded_however_they_are_cut(void **state)
{
    static const struct {
        const char *text;
        size_t n, after; /* bytes after the body: the next message's */
        const char *payload;
    } t[] = {
        {TEXT("0\r\n\r\n"), 0, ""},
        {TEXT("0\r\n\r\nGET /"), 5, ""},
        {TEXT("000\r\n\r\n"), 0, ""},
        {TEXT("5\r\nhello\r\n0\r\n\r\n"), 0, "hello"},
        {TEXT("5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n\r\n"), 2, "hello, world"},
        {TEXT("a\r\n0123456789\r\nA\r\n0123456789\r\n0\r\n\r\n"), 0, "01234567890123456789"},
        {TEXT("0000000000000002\r\n\r\n\r\n0\r\n\r\n"), 0, "\r\n"},
        {TEXT("3\r\n0\r\n\r\n0\r\n\r\n"), 0, "0\r\n"},
        {TEXT("1;a\r\nx\r\n0;b=c\r\n\r\n"), 0, "x"},
        {TEXT("1;a=b;c=\"d\\\"e;\xff \t\";f\r\nx\r\n0\r\n\r\n"), 0, "x"},
        {TEXT("1;a=\"\"\r\nx\r\n0\r\n\r\n"), 0, "x"},
        {TEXT("1\r\nx\r\n0\r\nX-Sum: 12\r\nY:\r\n\r\n"), 0, "x"},
        {TEXT("0\r\nContent-Lengt: 1\r\nContent-Lengthy: 1\r\nTEX: y\r\nT: z\r\n\r\n"), 0, ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(t); i++)
        check(t[i].text, t[i].n, HTTP_CHUNK_DONE, t[i].n - t[i].after, t[i].payload, strlen(t[i].payload));
    for (size_t i = 0; i < COUNT(t); i++) /* every beginning wants more, and is all used */
        for (size_t n = 0; n < t[i].n - t[i].after; n++) {
            static struct outcome o;
            decode(t[i].text, n, 0, 0, &o);
            assert_int_equal(o.result, HTTP_CHUNK_MORE);
            assert_int_equal(o.used, n);
        }
}

static void anything_beside_the_grammar_is_bad(void **state)
{
    static const struct {
        const char *text;
        size_t n;
    } t[] = {
        {TEXT("\r\n")},
        {TEXT("x\r\n")},
        {TEXT("g\r\n")},
        {TEXT("0_0\r\n\r\n")},
        {TEXT("\t5\r\nhello\r\n0\r\n\r\n")},
        {TEXT(" 5\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5 \r\nhello\r\n0\r\n\r\n")},
        {TEXT("5\t\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5x\r\nhello\r\n0\r\n\r\n")},
        {TEXT("+5\r\nhello\r\n0\r\n\r\n")},
        {TEXT("-5\r\nhello\r\n0\r\n\r\n")},
        {TEXT("0x5\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5.\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5,5\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5\0\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5\nhello\r\n0\r\n\r\n")},
        {TEXT("5\rhello\r\n0\r\n\r\n")},
        {TEXT("5\r\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5\r\nhello\n0\r\n\r\n")},
        {TEXT("5\r\nhello\r0\r\n\r\n")},
        {TEXT("5\r\nhello0\r\n\r\n")},
        {TEXT("5\r\nhelloo\r\n0\r\n\r\n")},
        {TEXT("5\r\nhell\r\n0\r\n\r\n")},
        {TEXT("5\r\nhello\r\n\r\n0\r\n\r\n")},
        {TEXT("0\n\n")},
        {TEXT("0\r\n\n")},
        {TEXT("0\r\n\r\r\n")},
        {TEXT("0\r\rX")},
        {TEXT("00000000000000005\r\nhello\r\n0\r\n\r\n")},
        {TEXT("8000000000000000\r\n")},
        {TEXT("ffffffffffffffff\r\n")},
        {TEXT("10000000000000000\r\n")},
        {TEXT("5;\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5 ;a\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5; a\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5;a \r\nhello\r\n0\r\n\r\n")},
        {TEXT("5;a =b\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5;a=\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5;a= b\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5;=b\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5;a=b=c\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5;a;;b\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5;a\nhello\r\n0\r\n\r\n")},
        {TEXT("5;a\rb\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5;a=\"\r\n\"\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5;a=\"b\\\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5;a=\"b\"c\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5;a=\"\n\"\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5;a=\"\x7f\"\r\nhello\r\n0\r\n\r\n")},
        {TEXT("5;\x80\r\nhello\r\n0\r\n\r\n")},
        {TEXT("0\r\n A: b\r\n\r\n")},
        {TEXT("0\r\nA: b\r\n c\r\n\r\n")},
        {TEXT("0\r\nA : b\r\n\r\n")},
        {TEXT("0\r\n: b\r\n\r\n")},
        {TEXT("0\r\nA\r\n\r\n")},
        {TEXT("0\r\nA: b\n\r\n")},
        {TEXT("0\r\nA: b\rc\r\n\r\n")},
        {TEXT("0\r\nA: \0\r\n\r\n")},
        {TEXT("0\r\nA\x80: b\r\n\r\n")},
        {TEXT("0\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n")},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(t); i++)
        check(t[i].text, t[i].n, HTTP_CHUNK_BAD, 0, "", 0);
}

static void fields_that_frame_or_route_may_not_be_trailers(void **state)
{
    static const char *const names[] = {"Content-Length",
                                        "transfer-encoding",
                                        "HOST",
                                        "Connection",
                                        "Content-Encoding",
                                        "Content-Range",
                                        "Expect",
                                        "Te",
                                        "Trailer",
                                        "Upgrade"};
    char text[100];

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        int n = snprintf(text, sizeof(text), "0\r\nA: b\r\n%s: c\r\n\r\n", names[i]);
        check(text, (size_t)n, HTTP_CHUNK_BAD, 0, "", 0);
        n = snprintf(text, sizeof(text), "0\r\nA: b\r\n%sx: c\r\nx%s: d\r\n\r\n", names[i], names[i]);
        check(text, (size_t)n, HTTP_CHUNK_DONE, (size_t)n, "", 0);
    }
}

/* before, n times fill, after: the result of decoding that at once. */
static enum http_chunk_result decode_long(const char *before, size_t n, char fill, const char *after)
{
    static struct outcome o;
    char *text = malloc(strlen(before) + n + strlen(after) + 1), *end;

    assert_non_null(text);
    end = stpcpy(text, before);
    memset(end, fill, n);
    end = stpcpy(end + n, after);
    size_t len = (size_t)(end - text);
    decode(text, len, len / 3, len / 2, &o);
    free(text);
    return o.result;
}

static void extensions_and_trailers_are_bounded(void **state)
{
    (void)state;
    assert_int_equal(decode_long("1;", 100, 'a', "\r\nx\r\n0\r\n\r\n"), HTTP_CHUNK_DONE);
    assert_int_equal(decode_long("1;", 255, 'a', "\r\nx\r\n0\r\n\r\n"), HTTP_CHUNK_DONE);
    assert_int_equal(decode_long("1;", 256, 'a', "\r\nx\r\n0\r\n\r\n"), HTTP_CHUNK_BAD);
    assert_int_equal(decode_long("1;", 100000, 'a', ""), HTTP_CHUNK_BAD);
    assert_int_equal(decode_long("1;a=\"", 100000, 'a', ""), HTTP_CHUNK_BAD);
    assert_int_equal(decode_long("", 17, '0', "\r\n\r\n"), HTTP_CHUNK_BAD);
    assert_int_equal(decode_long("0\r\nA:", 8000, 'a', "\r\n\r\n"), HTTP_CHUNK_DONE);
    assert_int_equal(decode_long("0\r\nA:", 8192 - 5, 'a', "\r\n\r\n"), HTTP_CHUNK_DONE);
    assert_int_equal(decode_long("0\r\nA:", 8192 - 4, 'a', "\r\n\r\n"), HTTP_CHUNK_BAD);
    assert_int_equal(decode_long("0\r\n", 100000, 'a', ""), HTTP_CHUNK_BAD);
}

static void nothing_is_read_after_the_end_or_a_fault(void **state)
{
    struct http_chunked c = {0}, d = {0};
    char end[] = "0\r\n\r\n", bad[] = "x", more[] = "1\r\nx\r\n0\r\n\r\n";
    size_t used, payload;

    (void)state;
    assert_int_equal(http_chunked_decode(&c, end, 5, &used, &payload), HTTP_CHUNK_DONE);
    assert_int_equal(http_chunked_decode(&c, more, sizeof(more) - 1, &used, &payload), HTTP_CHUNK_BAD);
    assert_int_equal(payload, 0);
    assert_int_equal(http_chunked_decode(&d, bad, 1, &used, &payload), HTTP_CHUNK_BAD);
    assert_int_equal(http_chunked_decode(&d, more, sizeof(more) - 1, &used, &payload), HTTP_CHUNK_BAD);
    assert_int_equal(payload, 0);
}

static void what_a_writer_says_is_read_back(void **state)
{
    static const struct {
        uint64_t n;
        const char *line;
    } t[] = {{1, "1\r\n"},
             {15, "f\r\n"},
             {16, "10\r\n"},
             {8000, "1f40\r\n"},
             {0xabcdef, "abcdef\r\n"},
             {INT64_MAX, "7fffffffffffffff\r\n"},
             {UINT64_MAX, "ffffffffffffffff\r\n"}};
    static char body[70000];
    static struct outcome o;

    (void)state;
    for (size_t i = 0; i < COUNT(t); i++) {
        char line[20];
        size_t n = http_write_chunk_size(line, t[i].n);
        assert_int_equal(n, strlen(t[i].line));
        assert_memory_equal(line, t[i].line, n);
    }
    for (size_t size = 1; size < 60000; size = size * 3 + 1) {
        size_t n = http_write_chunk_size(body, size);
        memset(body + n, 'z', size);
        n += size;
        size_t len = (size_t)(stpcpy(body + n, "\r\n0\r\n\r\n") - body);
        decode(body, len, size / 2, size, &o);
        assert_int_equal(o.result, HTTP_CHUNK_DONE);
        assert_int_equal(o.n, size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_are_decoded_however_they_are_cut),
        cmocka_unit_test(anything_beside_the_grammar_is_bad),
        cmocka_unit_test(fields_that_frame_or_route_may_not_be_trailers),
        cmocka_unit_test(extensions_and_trailers_are_bounded),
        cmocka_unit_test(nothing_is_read_after_the_end_or_a_fault),
        cmocka_unit_test(what_a_writer_says_is_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
