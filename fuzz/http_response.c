/* Response heads: the result does not depend on how the head was cut, nothing outside is touched, and an
 * accepted head is written so that its reader finds the end of the body where it is. The first byte chooses
 * the request's method and the client. */
#include "fuzz/fuzz.h"
#include "http/http.h"
#include "tests/http/describe.h"
#include "tests/http/guard.h"

#define MAX_SIZE 6000

static struct http_response r, again;
static struct description once, cut;

static long parse(struct description *d, const char *text, size_t n, size_t *scan, enum http_method m)
{
    const char *buf = guard_copy(text, n);
    long rc;

    FUZZ_HOLDS(buf);
    rc = http_parse_response(&r, buf, n, scan, false, m);
    FUZZ_HOLDS(rc <= (long)n && (rc >= 0 || rc == -502));
    d->n = 0;
    if (rc > 0)
        describe_response(d, &r);
    return rc;
}

/* The head arrives in a first piece and then step bytes at a time, until there is a result. */
static void grow(const char *text, size_t n, size_t first, size_t step, enum http_method m, long whole)
{
    size_t scan = 0, have = first;
    long rc = parse(&cut, text, have, &scan, m);

    while (!rc && have < n) {
        have = n - have > step ? have + step : n;
        rc = parse(&cut, text, have, &scan, m);
    }
    FUZZ_HOLDS(rc == whole);
    if (rc > 0)
        FUZZ_HOLDS(cut.n == once.n && !memcmp(cut.text, once.text, once.n));
}

/* How a client must see the body that is sent as *chunked says. */
static enum http_body expected_body(bool chunked)
{
    if (chunked)
        return HTTP_BODY_CHUNKED;
    return r.body == HTTP_BODY_CHUNKED ? HTTP_BODY_CLOSE : r.body;
}

static void write_and_read(const char *text, size_t head, enum http_method m,
                           const struct http_response_edit *e)
{
    size_t scan = 0, n, cap = head + HTTP_HEAD_ROOM;
    bool close, chunked;
    char *out;

    FUZZ_HOLDS(http_parse_response(&r, text, head, &scan, true, m) == (long)head);
    n = http_write_response(guard_copy(NULL, 0) - cap, cap, &r, e, &close, &chunked);
    FUZZ_HOLDS(n);
    FUZZ_HOLDS(!http_write_response(guard_copy(NULL, 0) - n + 1, n - 1, &r, e, &close, &chunked));
    out = guard_copy(NULL, 0) - n;
    FUZZ_HOLDS(http_write_response(out, n, &r, e, &close, &chunked) == n);
    FUZZ_HOLDS(!chunked || e->client_minor);

    if (r.nfields > HTTP_MAX_FIELDS - 2)
        return; /* the fields added may be too many to read again */
    scan = 0;
    FUZZ_HOLDS(http_parse_response(&again, out, n, &scan, true, m) == (long)n);
    FUZZ_HOLDS(again.status == r.status && again.reason.n == r.reason.n);
    FUZZ_HOLDS(again.body == expected_body(chunked));
    FUZZ_HOLDS(again.body != HTTP_BODY_LENGTH || again.content_length == r.content_length);
    FUZZ_HOLDS(again.body != HTTP_BODY_CLOSE || close);
    if (r.status >= 200)
        FUZZ_HOLDS(again.keep_alive == !close);
    once.n = cut.n = 0;
    describe_fields(&once, r.fields, r.nfields, true);
    describe_fields(&cut, again.fields, again.nfields, true);
    FUZZ_HOLDS(once.n == cut.n && !memcmp(once.text, cut.text, once.n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum http_method methods[] = {HTTP_GET, HTTP_HEAD, HTTP_CONNECT, HTTP_POST};
    size_t scan = 0;
    long whole;

    if (!size || size > MAX_SIZE)
        return 0;
    enum http_method m = methods[*data & 3];
    struct http_response_edit e = {
        .client_minor = !(*data & 4), .client_keep_alive = !(*data & 8), .force_close = *data & 16};
    const char *text = (const char *)data + 1;
    size--;

    whole = parse(&once, text, size, &scan, m);
    grow(text, size, 0, 1, m, whole);
    for (size_t first = 1; first < size; first = first * 2 + 1)
        grow(text, size, first, size, m, whole);
    grow(text, size, size / 3, 7, m, whole);
    if (whole > 0)
        write_and_read(text, (size_t)whole, m, &e);
    return 0;
}
