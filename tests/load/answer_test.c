/* Where an answer ends: every framing, split at every byte, and everything that is none. */
#include "load/answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* cmocka needs the headers above. */
#include <cmocka.h>

#define OK "HTTP/1.1 200 OK\r\n"

static const struct sample {
    const char *text;
    enum http_method method;
    unsigned status;
    bool keep_alive;
} whole[] = {
    {OK "Content-Length: 12\r\n\r\nHello World!", HTTP_GET, 200, true},
    {OK "Content-Length: 0\r\n\r\n", HTTP_GET, 200, true},
    {OK "Content-Length: 12\r\nConnection: close\r\n\r\nHello World!", HTTP_GET, 200, false},
    {OK "Transfer-Encoding: chunked\r\n\r\n5\r\nHello\r\n7;x=y\r\n World!\r\n0\r\n\r\n", HTTP_GET, 200, true},
    {OK "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Sum: t\r\n\r\n", HTTP_GET, 200, true},
    {"HTTP/1.1 204 No Content\r\n\r\n", HTTP_GET, 204, true},
    {"HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n", HTTP_GET, 304, true},
    {OK "Content-Length: 99\r\n\r\n", HTTP_HEAD, 200, true},
    {OK "Transfer-Encoding: chunked\r\n\r\n", HTTP_HEAD, 200, true},
    {"HTTP/1.1 100 Continue\r\n\r\n" OK "Content-Length: 2\r\n\r\nhi", HTTP_GET, 200, true},
    {"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\n"
     "Content-Length: 2\r\n\r\nno",
     HTTP_GET, 404, true},
    {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", HTTP_GET, 200, false},
    {"HTTP/1.0 503 Busy\r\nContent-Length: 0\r\n\r\n", HTTP_GET, 503, false},
};

/* Feeds text in pieces that end at the offsets a, b and the end; returns the result at which it stopped. */
static enum load_answer_result feed(struct load_answer *a, struct load_answer_memo *memo, const char *text,
                                    size_t n, size_t *total)
{
    char *copy = malloc(n ? n : 1); /* exactly as long, so that reading past it is seen */
    size_t used = 0;
    assert_non_null(copy);
    memcpy(copy, text, n);
    enum load_answer_result r = load_answer_feed(a, memo, copy, n, &used);
    free(copy);
    *total += used;
    return r;
}

static void check_pieces(const struct sample *s, struct load_answer_memo *memo, size_t step, size_t first)
{
    size_t n = strlen(s->text), at = 0, total = 0;
    struct load_answer a = {.phase = LOAD_IN_HEAD};
    enum load_answer_result r = LOAD_ANSWER_MORE;
    while (at < n) {
        assert_int_equal(r, LOAD_ANSWER_MORE);
        size_t piece = at == 0 ? first : step;
        piece = piece < n - at ? piece : n - at;
        r = feed(&a, memo, s->text + at, piece, &total);
        at += piece;
    }
    if (r != LOAD_ANSWER_DONE) {
        print_error("not accepted: %s\n", s->text);
    }
    assert_int_equal(r, LOAD_ANSWER_DONE);
    assert_int_equal(total, n);
    assert_int_equal(a.head.status, s->status);
    assert_int_equal(a.head.keep_alive, s->keep_alive);
    load_answer_free(&a);
}

static void every_framing_ends_where_it_should_however_it_is_split(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        size_t n = strlen(whole[i].text);
        for (size_t first = 1; first <= n; first++) {
            struct load_answer_memo fresh = {.method = whole[i].method};
            check_pieces(&whole[i], &fresh, n, first);
            check_pieces(&whole[i], &fresh, n, first); /* now with the head remembered */
            check_pieces(&whole[i], &fresh, 1, first);
        }
    }
}

static void a_remembered_head_is_not_taken_for_another_one(void **state)
{
    struct load_answer_memo memo = {.method = HTTP_GET};
    (void)state;
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
            if (whole[i].method == HTTP_GET) {
                check_pieces(&whole[i], &memo, strlen(whole[i].text), strlen(whole[i].text));
            }
        }
    }
}

static void bytes_behind_the_answer_are_not_part_of_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        struct load_answer_memo memo = {.method = whole[i].method};
        struct load_answer a = {.phase = LOAD_IN_HEAD};
        size_t n = strlen(whole[i].text), total = 0;
        char *text = malloc(n + 5);
        assert_non_null(text);
        snprintf(text, n + 5, "%sHTTP", whole[i].text);
        assert_int_equal(feed(&a, &memo, text, n + 4, &total), LOAD_ANSWER_DONE);
        assert_int_equal(total, n);
        free(text);
        load_answer_free(&a);
    }
}

static void a_body_until_close_ends_with_the_stream_only(void **state)
{
    struct load_answer_memo memo = {.method = HTTP_GET};
    struct load_answer a = {.phase = LOAD_IN_HEAD};
    size_t total = 0;
    const char *text = OK "\r\nas much as you like";
    (void)state;
    assert_false(load_answer_closed(&a));
    assert_int_equal(feed(&a, &memo, text, strlen(text), &total), LOAD_ANSWER_MORE);
    assert_int_equal(feed(&a, &memo, text, strlen(text), &total), LOAD_ANSWER_MORE);
    assert_true(load_answer_closed(&a));
    assert_false(a.head.keep_alive);
    load_answer_free(&a);
}

static void a_stream_that_ends_early_is_no_answer(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        for (size_t cut = 1; cut < strlen(whole[i].text); cut++) {
            struct load_answer_memo memo = {.method = whole[i].method};
            struct load_answer a = {.phase = LOAD_IN_HEAD};
            size_t total = 0;
            assert_int_equal(feed(&a, &memo, whole[i].text, cut, &total), LOAD_ANSWER_MORE);
            assert_false(load_answer_closed(&a));
            load_answer_free(&a);
        }
    }
}

static void malformed_answers_are_refused(void **state)
{
    static const char *const bad[] = {
        "HTP/1.1 200 OK\r\n\r\n",
        "HTTP/1.1 20 OK\r\n\r\n",
        "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 abc OK\r\n\r\n",
        "HTTP/2.0 200 OK\r\n\r\n",
        "hello\r\n\r\n",
        OK "Content-Length: 5\r\nContent-Length: 6\r\n\r\n",
        OK "Content-Length: -1\r\n\r\n",
        OK "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
        OK "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
        OK "Transfer-Encoding: chunked\r\n\r\n1\r\nab",
        OK "No colon\r\n\r\n",
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        "220 smtp.example ESMTP\r\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        for (size_t step = 1; step <= strlen(bad[i]); step++) {
            struct load_answer_memo memo = {.method = HTTP_GET};
            struct load_answer a = {.phase = LOAD_IN_HEAD};
            enum load_answer_result r = LOAD_ANSWER_MORE;
            size_t total = 0;
            for (size_t at = 0; at < strlen(bad[i]) && r == LOAD_ANSWER_MORE; at += step) {
                size_t left = strlen(bad[i]) - at;
                r = feed(&a, &memo, bad[i] + at, step < left ? step : left, &total);
            }
            if (r != LOAD_ANSWER_BAD) {
                print_error("accepted: %s\n", bad[i]);
            }
            assert_int_equal(r, LOAD_ANSWER_BAD);
            load_answer_free(&a);
        }
    }
}

static void an_endless_head_is_refused(void **state)
{
    struct load_answer_memo memo = {.method = HTTP_GET};
    struct load_answer a = {.phase = LOAD_IN_HEAD};
    enum load_answer_result r = LOAD_ANSWER_MORE;
    size_t total = 0, fed = 0;
    static char filler[1000];
    (void)state;
    memset(filler, 'a', sizeof filler);
    assert_int_equal(feed(&a, &memo, OK "X: ", strlen(OK "X: "), &total), LOAD_ANSWER_MORE);
    while (r == LOAD_ANSWER_MORE && fed < 4 * (size_t)LOAD_ANSWER_MAX_HEAD) {
        r = feed(&a, &memo, filler, sizeof filler, &total);
        fed += sizeof filler;
    }
    assert_int_equal(r, LOAD_ANSWER_BAD);
    assert_true(fed <= LOAD_ANSWER_MAX_HEAD + sizeof filler);
    load_answer_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_framing_ends_where_it_should_however_it_is_split),
        cmocka_unit_test(a_remembered_head_is_not_taken_for_another_one),
        cmocka_unit_test(bytes_behind_the_answer_are_not_part_of_it),
        cmocka_unit_test(a_body_until_close_ends_with_the_stream_only),
        cmocka_unit_test(a_stream_that_ends_early_is_no_answer),
        cmocka_unit_test(malformed_answers_are_refused),
        cmocka_unit_test(an_endless_head_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
