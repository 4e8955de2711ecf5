/* Message heads as they go out: fields in their order and spelling, hop-by-hop ones dropped, framing said
 * once, at the end, from what was understood rather than from what was written. */
#include "http/internal.h"

/* A cursor over the output; full once something did not fit, and from then on nothing is written. */
struct out {
    char *p, *end;
    bool full;
};

/* Most pieces are short: two overlapping moves of a fixed size beat a call. */
static inline void copy(char *to, const char *from, size_t n)
{
    if (n > 32) {
        memcpy(to, from, n);
    } else if (n >= 16) {
        memcpy(to, from, 16);
        memcpy(to + n - 16, from + n - 16, 16);
    } else if (n >= 8) {
        memcpy(to, from, 8);
        memcpy(to + n - 8, from + n - 8, 8);
    } else if (n >= 4) {
        memcpy(to, from, 4);
        memcpy(to + n - 4, from + n - 4, 4);
    } else {
        for (size_t i = 0; i < n; i++)
            to[i] = from[i];
    }
}

static inline bool room(struct out *o, size_t n)
{
    if ((size_t)(o->end - o->p) < n)
        o->full = true;
    return !o->full;
}

static inline void put(struct out *o, const char *s, size_t n)
{
    if (!room(o, n))
        return;
    copy(o->p, s, n);
    o->p += n;
}

#define PUT(o, literal) put((o), (literal), sizeof(literal) - 1)

static void put_str(struct out *o, struct http_str s)
{
    put(o, s.p, s.n);
}

static void put_number(struct out *o, uint64_t number)
{
    size_t digits = 1;

    for (uint64_t rest = number; rest >= 10; rest /= 10)
        digits++;
    if (!room(o, digits))
        return;
    for (size_t i = digits; i--; number /= 10)
        o->p[i] = (char)('0' + number % 10);
    o->p += digits;
}

static void put_field(struct out *o, const struct http_field *f)
{
    struct http_str name = f->name, value = f->value;

    /* As a rule the field stands in its buffer just as it goes out. */
    if (value.p == name.p + name.n + 2 && name.p[name.n] == ':' && name.p[name.n + 1] == ' ') {
        put(o, name.p, name.n + 2 + value.n);
    } else {
        put_str(o, name);
        PUT(o, ": ");
        put_str(o, value);
    }
    PUT(o, "\r\n");
}

static void put_length(struct out *o, uint64_t length)
{
    PUT(o, "Content-Length: ");
    put_number(o, length);
    PUT(o, "\r\n");
}

/* The fields that go on; those of framing and the connection follow in the caller's own words. Returns which
 * of the treated fields were seen, a bit for each. */
static unsigned put_fields(struct out *o, const struct http_field *f, size_t n, bool upgrade)
{
    unsigned seen = 0;

    for (size_t i = 0; i < n; i++, f++) {
        seen |= 1u << f->id;
        if (f->id == HTTP_F_CONTENT_LENGTH || f->id == HTTP_F_TRANSFER_ENCODING)
            continue;
        if (!f->hop || (upgrade && f->id == HTTP_F_UPGRADE))
            put_field(o, f);
    }
    return seen;
}

static bool has_field(const struct http_field *f, size_t n, enum http_field_id id)
{
    for (size_t i = 0; i < n; i++)
        if (f[i].id == id)
            return true;
    return false;
}

/* To a server the target goes in origin form (RFC 9112, 3.2.1 and 3.2.4), which every server reads alike. */
static void put_target(struct out *o, const struct http_request *r)
{
    struct http_str authority = {NULL, 0}, rest = r->target;
    unsigned port;

    if (r->target.p[0] == '/' || r->method == HTTP_CONNECT ||
        !http_target_split(r->target, &authority, &rest, &port)) {
        put_str(o, r->target);
        return;
    }
    if (!rest.n && r->method == HTTP_OPTIONS)
        PUT(o, "*");
    else if (!rest.n || rest.p[0] != '/')
        PUT(o, "/");
    put_str(o, rest);
}

/* An HTTP/1.0 request may come without Host, an HTTP/1.1 request may not go out without. */
static void put_missing_host(struct out *o, const struct http_request *r)
{
    struct http_str authority = {NULL, 0}, rest;
    unsigned port;

    if (r->minor || has_field(r->fields, r->nfields, HTTP_F_HOST))
        return;
    PUT(o, "Host: ");
    if (http_target_split(r->target, &authority, &rest, &port))
        put_str(o, authority);
    PUT(o, "\r\n");
}

/* HTTP/1.0 keeps a connection only if told so, HTTP/1.1 closes it only if told so. */
static void put_connection(struct out *o, bool upgrade, bool close, bool keep_alive)
{
    if (!upgrade && !close && !keep_alive)
        return;
    PUT(o, "Connection: ");
    if (upgrade)
        PUT(o, "upgrade");
    if (upgrade && close)
        PUT(o, ", ");
    if (close)
        PUT(o, "close");
    else if (!upgrade)
        PUT(o, "keep-alive");
    PUT(o, "\r\n");
}

size_t http_write_request(char *out, size_t cap, const struct http_request *r,
                          const struct http_request_edit *e)
{
    struct out o = {out, out + cap, false};

    put_str(&o, r->method_text);
    PUT(&o, " ");
    put_target(&o, r);
    PUT(&o, " HTTP/1.1\r\n");
    put_missing_host(&o, r);
    put_fields(&o, r->fields, r->nfields, r->upgrade);
    if (e->forwarded_for.n) {
        if (e->forwarded_name.n)
            put_str(&o, e->forwarded_name);
        else
            PUT(&o, "X-Forwarded-For");
        PUT(&o, ": ");
        put_str(&o, e->forwarded_for);
        PUT(&o, "\r\n");
    }
    if (r->body == HTTP_BODY_LENGTH)
        put_length(&o, r->content_length);
    else if (r->body == HTTP_BODY_CHUNKED)
        PUT(&o, "Transfer-Encoding: chunked\r\n");
    put_connection(&o, r->upgrade, e->close, false);
    PUT(&o, "\r\n");
    return o.full ? 0 : (size_t)(o.p - out);
}

/* How the body goes out, and whether the connection must end after it. */
static void decide(const struct http_response *r, const struct http_response_edit *e, bool *close,
                   bool *chunked)
{
    bool unbounded = r->body == HTTP_BODY_CHUNKED || r->body == HTTP_BODY_CLOSE;
    bool interim = r->status < 200 && r->body != HTTP_BODY_TUNNEL;

    *chunked = unbounded && e->client_minor >= 1;
    *close = !interim && (e->force_close || !e->client_keep_alive || r->body == HTTP_BODY_TUNNEL ||
                          (unbounded && !*chunked));
}

/* The framing fields of an answer without a body (to HEAD, or 304) tell of the body there would be. */
static void put_framing(struct out *o, const struct http_response *r, unsigned seen, bool chunked,
                        unsigned client_minor)
{
    bool told = r->body == HTTP_BODY_NONE && r->status >= 200 && r->status != 204;

    if (r->body == HTTP_BODY_LENGTH || (told && seen & 1u << HTTP_F_CONTENT_LENGTH))
        put_length(o, r->content_length);
    else if (chunked || (told && client_minor && seen & 1u << HTTP_F_TRANSFER_ENCODING))
        PUT(o, "Transfer-Encoding: chunked\r\n");
}

size_t http_write_response(char *out, size_t cap, const struct http_response *r,
                           const struct http_response_edit *e, bool *close, bool *chunked)
{
    struct out o = {out, out + cap, false};
    bool upgrade =
        r->status == 101 || r->status == 426; /* the two answers that must say to what (RFC 9110, 7.8) */
    char status[] = {(char)('0' + r->status / 100), (char)('0' + r->status / 10 % 10),
                     (char)('0' + r->status % 10)};

    decide(r, e, close, chunked);
    PUT(&o, "HTTP/1.1 ");
    put(&o, status, sizeof(status));
    PUT(&o, " ");
    put_str(&o, r->reason);
    PUT(&o, "\r\n");
    unsigned seen = put_fields(&o, r->fields, r->nfields, upgrade);
    upgrade = upgrade && seen & 1u << HTTP_F_UPGRADE;
    put_framing(&o, r, seen, *chunked, e->client_minor);
    put_connection(&o, upgrade, *close && r->body != HTTP_BODY_TUNNEL,
                   !*close && !e->client_minor && r->status >= 200);
    PUT(&o, "\r\n");
    return o.full ? 0 : (size_t)(o.p - out);
}

size_t http_write_chunk_size(char out[20], uint64_t n)
{
    static const char digits[] = "0123456789abcdef";
    size_t len = 1;

    while (len < 16 && n >> (4 * len))
        len++;
    for (size_t i = len; i--; n >>= 4)
        out[i] = digits[n & 15];
    out[len] = '\r';
    out[len + 1] = '\n';
    return len + 2;
}
