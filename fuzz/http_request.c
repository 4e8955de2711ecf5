/* Request heads: the result does not depend on how the head was cut, nothing outside is touched, and an
 * accepted head is written so that it reads as the same request. */
#include "fuzz/fuzz.h"
#include "http/http.h"
#include "tests/http/describe.h"
#include "tests/http/guard.h"

#define MAX_SIZE 6000

static struct http_request r, again;
static struct description once, cut;

static long parse(struct description *d, const char *text, size_t n, size_t *scan)
{
    const char *buf = guard_copy(text, n);
    long rc;

    FUZZ_HOLDS(buf);
    rc = http_parse_request(&r, buf, n, scan, false);
    FUZZ_HOLDS(rc <= (long)n);
    d->n = 0;
    if (rc > 0)
        describe_request(d, &r);
    return rc;
}

/* The head arrives in a first piece and then step bytes at a time, until there is a result. */
static void grow(const char *text, size_t n, size_t first, size_t step, long whole)
{
    size_t scan = 0, have = first;
    long rc = parse(&cut, text, have, &scan);

    while (!rc && have < n) {
        have = n - have > step ? have + step : n;
        rc = parse(&cut, text, have, &scan);
    }
    FUZZ_HOLDS(rc == whole);
    if (rc > 0)
        FUZZ_HOLDS(cut.n == once.n && !memcmp(cut.text, once.text, once.n));
}

/* The fields that go on are the same, in order and unchanged. Only Host may be new, and is then the first. */
static void check_fields(void)
{
    size_t added = again.nfields > 0 && !r.minor;

    for (size_t i = 0; i < r.nfields; i++)
        if (r.fields[i].id == HTTP_F_HOST)
            added = 0;
    once.n = cut.n = 0;
    describe_fields(&once, r.fields, r.nfields, true);
    describe_fields(&cut, again.fields + added, again.nfields - added, true);
    FUZZ_HOLDS(once.n == cut.n && !memcmp(once.text, cut.text, once.n));
}

static void write_and_read(const char *text, size_t head)
{
    static const struct http_request_edit none = {0},
                                          all = {
                                              .forwarded_for = {"2001:db8:1111:2222:3333:4444:5555:6666", 38},
                                              .close = true};
    size_t scan = 0, n;
    char *out;

    FUZZ_HOLDS(http_parse_request(&r, text, head, &scan, true) == (long)head);
    FUZZ_HOLDS(
        http_write_request(guard_copy(NULL, 0) - head - HTTP_HEAD_ROOM, head + HTTP_HEAD_ROOM, &r, &all));
    n = http_write_request(guard_copy(NULL, 0) - head - HTTP_HEAD_ROOM, head + HTTP_HEAD_ROOM, &r, &none);
    FUZZ_HOLDS(n);
    FUZZ_HOLDS(!http_write_request(guard_copy(NULL, 0) - n + 1, n - 1, &r, &none));
    out = guard_copy(NULL, 0) - n;
    FUZZ_HOLDS(http_write_request(out, n, &r, &none) == n);

    if (r.nfields == HTTP_MAX_FIELDS && !r.minor)
        return; /* an added Host may be one field too many to read again */
    scan = 0;
    FUZZ_HOLDS(http_parse_request(&again, out, n, &scan, true) == (long)n);
    FUZZ_HOLDS(again.minor == 1 && again.keep_alive);
    FUZZ_HOLDS(again.method == r.method && again.method_text.n == r.method_text.n);
    FUZZ_HOLDS(again.body == r.body && again.content_length == r.content_length);
    FUZZ_HOLDS(again.upgrade == r.upgrade && again.expect_continue == r.expect_continue);
    check_fields();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    size_t scan = 0;
    long whole;

    if (size > MAX_SIZE)
        return 0;
    whole = parse(&once, text, size, &scan);
    grow(text, size, 0, 1, whole);
    for (size_t first = 1; first < size; first = first * 2 + 1)
        grow(text, size, first, size, whole);
    grow(text, size, size / 3, 7, whole);
    if (whole > 0)
        write_and_read(text, (size_t)whole);
    return 0;
}
