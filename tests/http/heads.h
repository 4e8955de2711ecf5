/* Checks that a head's result does not depend on how it arrives: whole, cut in two at any byte, or byte by
 * byte. */
#ifndef PAWL_TESTS_HTTP_HEADS_H
#define PAWL_TESTS_HTTP_HEADS_H

#include "http/http.h"
#include "tests/http/describe.h"
#include "tests/http/guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define TEXT(literal) (literal), sizeof(literal) - 1

/* One parse into a description; the head is placed before a page that can't be touched. */
struct head_kind {
    bool response;
    enum http_method request_method;
};

static inline long parse_prefix(struct head_kind k, const char *text, size_t n, size_t *scan, bool full,
                                struct description *d)
{
    static struct http_request request;
    static struct http_response response;
    const char *buf = guard_copy(text, n);
    long rc;

    assert_non_null(buf);
    d->n = 0;
    d->text[0] = '\0';
    if (k.response) {
        rc = http_parse_response(&response, buf, n, scan, full, k.request_method);
        if (rc > 0)
            describe_response(d, &response);
    } else {
        rc = http_parse_request(&request, buf, n, scan, full);
        if (rc > 0)
            describe_request(d, &request);
    }
    return rc;
}

static inline void fail_head(const char *how, size_t at, const char *text, long rc, const char *got,
                             long want, const char *wanted)
{
    print_error("%s, at byte %zu of:\n%s\ngot %ld: %s\nexpected %ld: %s\n", how, at, text, rc, got, want,
                wanted);
    fail();
}

/* A head that is sound must give 0 until it is whole; one that isn't may be refused as soon as that is
 * certain, but always with the same status. */
static inline void check_head(struct head_kind k, const char *text, size_t n, long want, const char *wanted)
{
    static struct description d;
    size_t scan = 0;
    long rc = parse_prefix(k, text, n, &scan, false, &d);

    if (rc != want || (rc > 0 && strcmp(d.text, wanted)))
        fail_head("whole", n, text, rc, d.text, want, wanted);
    for (size_t cut = 0; cut <= n; cut++) {
        scan = 0;
        rc = parse_prefix(k, text, cut, &scan, false, &d);
        if (!rc)
            rc = parse_prefix(k, text, n, &scan, false, &d);
        else if (rc > 0 && cut < (size_t)want)
            fail_head("accepted too early", cut, text, rc, d.text, want, wanted);
        if (rc != want || (rc > 0 && strcmp(d.text, wanted)))
            fail_head("cut in two", cut, text, rc, d.text, want, wanted);
    }
    scan = 0;
    rc = 0;
    size_t at = 0;
    while (!rc && at < n)
        rc = parse_prefix(k, text, ++at, &scan, false, &d);
    if (rc != want || (rc > 0 && (at != (size_t)rc || strcmp(d.text, wanted))))
        fail_head("byte by byte", at, text, rc, d.text, want, wanted);
}

/* The number of bytes after which a head is refused that arrives byte by byte; 0: never. */
static inline size_t refused_after(struct head_kind k, const char *text, size_t n)
{
    static struct description d;
    size_t scan = 0;

    for (size_t at = 1; at <= n; at++)
        if (parse_prefix(k, text, at, &scan, false, &d) < 0)
            return at;
    return 0;
}

#endif
