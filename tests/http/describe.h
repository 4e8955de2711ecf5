/* A parsed head as text, so that two parses can be compared (and a difference read) whatever buffers they
 * point into. Used by the tests and the fuzz targets of http/. */
#ifndef PAWL_TESTS_HTTP_DESCRIBE_H
#define PAWL_TESTS_HTTP_DESCRIBE_H

#include "http/http.h"

#include <stdio.h>
#include <string.h>

#define DESCRIBE_ROOM (1 << 17)

struct description {
    size_t n;
    char text[DESCRIBE_ROOM];
};

static inline void describe_str(struct description *d, const char *label, struct http_str s)
{
    d->n += (size_t)snprintf(d->text + d->n, sizeof(d->text) - d->n, "%s", label);
    if (d->n + s.n < sizeof(d->text)) {
        if (s.n)
            memcpy(d->text + d->n, s.p, s.n);
        d->n += s.n;
    }
    d->text[d->n] = '\0';
}

static inline void describe_number(struct description *d, const char *label, unsigned long long v)
{
    d->n += (size_t)snprintf(d->text + d->n, sizeof(d->text) - d->n, "%s%llu", label, v);
}

/* One line a field: name, value, and '-' before one that isn't forwarded. forwarded_only: leave those out,
 * and the framing fields, which a writer says anew. */
static inline void describe_fields(struct description *d, const struct http_field *f, size_t n,
                                   bool forwarded_only)
{
    for (size_t i = 0; i < n; i++) {
        bool framing = f[i].id == HTTP_F_CONTENT_LENGTH || f[i].id == HTTP_F_TRANSFER_ENCODING;
        if (forwarded_only && (f[i].hop || framing))
            continue;
        describe_str(d, f[i].hop ? "\n-" : "\n", f[i].name);
        describe_str(d, "=", f[i].value);
    }
}

static inline const char *describe_body(enum http_body b)
{
    static const char *const names[] = {"none", "length", "chunked", "close", "tunnel"};
    return names[b];
}

static inline void describe_request(struct description *d, const struct http_request *r)
{
    d->n = 0;
    describe_str(d, "", r->method_text);
    describe_number(d, "/", r->method);
    describe_str(d, " ", r->target);
    describe_number(d, " 1.", r->minor);
    d->n += (size_t)snprintf(d->text + d->n, sizeof(d->text) - d->n, " %s", describe_body(r->body));
    if (r->body == HTTP_BODY_LENGTH)
        describe_number(d, " ", r->content_length);
    d->n += (size_t)snprintf(d->text + d->n, sizeof(d->text) - d->n, "%s%s%s", r->keep_alive ? " keep" : "",
                             r->expect_continue ? " expect" : "", r->upgrade ? " upgrade" : "");
    describe_fields(d, r->fields, r->nfields, false);
}

static inline void describe_response(struct description *d, const struct http_response *r)
{
    d->n = 0;
    describe_number(d, "", r->status);
    describe_str(d, " [", r->reason);
    describe_number(d, "] 1.", r->minor);
    d->n += (size_t)snprintf(d->text + d->n, sizeof(d->text) - d->n, " %s", describe_body(r->body));
    if (r->body == HTTP_BODY_LENGTH)
        describe_number(d, " ", r->content_length);
    d->n += (size_t)snprintf(d->text + d->n, sizeof(d->text) - d->n, "%s", r->keep_alive ? " keep" : "");
    describe_fields(d, r->fields, r->nfields, false);
}

#endif
