/* Message heads: one pass that finds the parts of a sound head, then the rules over the whole (rules.c). A
 * head that is not sound, or not all there, is left to the byte machine (lex.c), which alone says what is
 * wrong and resumes. */
#include "http/chars.h"
#include "http/internal.h"

/* The rarely taken half of http_field_id. */
static enum http_field_id long_field_id(const char *name, size_t n)
{
    switch (n) {
    case 14:
        return http_is_word(name, "content-length", 14) ? HTTP_F_CONTENT_LENGTH : HTTP_F_OTHER;
    case 15:
        return http_is_word(name, "x-forwarded-for", 15) ? HTTP_F_X_FORWARDED_FOR : HTTP_F_OTHER;
    case 16:
        return http_is_word(name, "proxy-connection", 16) ? HTTP_F_PROXY_CONNECTION : HTTP_F_OTHER;
    case 17:
        return http_is_word(name, "transfer-encoding", 17) ? HTTP_F_TRANSFER_ENCODING : HTTP_F_OTHER;
    default:
        return HTTP_F_OTHER;
    }
}

enum http_field_id http_field_id(const char *name, size_t n)
{
    switch (n) {
    case 2:
        return http_is_word(name, "te", 2) ? HTTP_F_TE : HTTP_F_OTHER;
    case 4:
        return http_is_word(name, "host", 4) ? HTTP_F_HOST : HTTP_F_OTHER;
    case 6:
        return http_is_word(name, "expect", 6) ? HTTP_F_EXPECT : HTTP_F_OTHER;
    case 7:
        if (http_is_word(name, "upgrade", 7))
            return HTTP_F_UPGRADE;
        return http_is_word(name, "trailer", 7) ? HTTP_F_TRAILER : HTTP_F_OTHER;
    case 10:
        if (http_is_word(name, "connection", 10))
            return HTTP_F_CONNECTION;
        return http_is_word(name, "keep-alive", 10) ? HTTP_F_KEEP_ALIVE : HTTP_F_OTHER;
    default:
        return long_field_id(name, n);
    }
}

/* Fields that concern one connection only, whatever Connection says. Trailer and TE are among them because
 * trailer sections are not forwarded. */
static bool fixed_hop(enum http_field_id id)
{
    return 1u << id & (1u << HTTP_F_CONNECTION | 1u << HTTP_F_KEEP_ALIVE | 1u << HTTP_F_PROXY_CONNECTION |
                       1u << HTTP_F_TE | 1u << HTTP_F_TRAILER | 1u << HTTP_F_UPGRADE);
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* Reads field lines up to and with the empty one. Returns what follows it, or NULL: a fault, or more is
 * needed. */
static const char *parse_fields(const char *p, const char *end, struct http_field *f, size_t *n,
                                struct http_seen *seen)
{
    memset(seen, 0, sizeof(*seen));
    for (size_t i = 0; p < end; i++, f++) {
        if (*p == '\r') {
            *n = i;
            return end - p >= 2 && p[1] == '\n' ? p + 2 : NULL;
        }
        if (i == HTTP_MAX_FIELDS)
            return NULL;

        const char *colon = http_skip(p, end, HTTP_C_TOKEN);
        if (colon == end || *colon != ':' || colon == p)
            return NULL;
        f->name = (struct http_str){p, (size_t)(colon - p)};
        f->id = http_field_id(p, f->name.n);
        f->hop = fixed_hop(f->id);
        seen->count[f->id]++;
        seen->last[f->id] = (uint8_t)i;

        const char *v = colon + 1;
        while (v < end && is_space(*v))
            v++;
        const char *stop = http_skip_value(v, end);
        if (end - stop < 2 || stop[0] != '\r' || stop[1] != '\n')
            return NULL;
        p = stop + 2;
        while (stop > v && is_space(stop[-1]))
            stop--;
        f->value = (struct http_str){v, (size_t)(stop - v)};
    }
    return NULL;
}

#define IS(text) (!memcmp(p, (text), sizeof(text) - 1))

static enum http_method method_of(const char *p, size_t n)
{
    switch (n) {
    case 3:
        return IS("GET") ? HTTP_GET : IS("PUT") ? HTTP_PUT : HTTP_OTHER;
    case 4:
        return IS("POST") ? HTTP_POST : IS("HEAD") ? HTTP_HEAD : HTTP_OTHER;
    case 5:
        return IS("PATCH") ? HTTP_PATCH : IS("TRACE") ? HTTP_TRACE : HTTP_OTHER;
    case 6:
        return IS("DELETE") ? HTTP_DELETE : HTTP_OTHER;
    case 7:
        return IS("OPTIONS") ? HTTP_OPTIONS : IS("CONNECT") ? HTTP_CONNECT : HTTP_OTHER;
    default:
        return HTTP_OTHER;
    }
}

/* "HTTP/1.d" at p, d into *minor; NULL if it isn't there. A minor version above 1 speaks 1.1 (RFC 9110, 2.5).
 */
static const char *parse_version(const char *p, const char *end, unsigned *minor)
{
    if (end - p < 8 || memcmp(p, "HTTP/1.", 7) || !http_is(p[7], HTTP_C_DIGIT))
        return NULL;
    *minor = p[7] != '0';
    return p + 8;
}

static const char *parse_request_line(struct http_request *r, const char *p, const char *end)
{
    const char *from = p;

    p = http_skip(p, end, HTTP_C_TOKEN);
    if (p == end || *p != ' ' || p == from)
        return NULL;
    r->method_text = (struct http_str){from, (size_t)(p - from)};
    r->method = method_of(from, r->method_text.n);

    from = ++p;
    p = http_skip(p, end, HTTP_C_TARGET);
    if (p == end || *p != ' ' || p == from)
        return NULL;
    r->target = (struct http_str){from, (size_t)(p - from)};

    p = parse_version(p + 1, end, &r->minor);
    if (!p || end - p < 2 || p[0] != '\r' || p[1] != '\n')
        return NULL;
    return p + 2;
}

/* What follows from the fields once their framing and options are known. */
static void request_wishes(struct http_request *r, const struct http_seen *seen, const struct http_options *o)
{
    bool has_body = r->body == HTTP_BODY_CHUNKED || r->content_length;

    r->keep_alive = !o->close && (r->minor || o->keep_alive);
    /* Both are to be ignored in HTTP/1.0 (RFC 9110, 7.8 and 10.1.1). An upgrade with a body is ignored as
     * well: the protocol could change hands in the middle of it. */
    r->upgrade = r->minor && o->upgrade && !has_body && seen->count[HTTP_F_UPGRADE] &&
                 http_rule_upgrade(r->fields, r->nfields);
    r->expect_continue = false;
    if (!seen->count[HTTP_F_EXPECT])
        return;
    for (size_t i = 0; i < r->nfields; i++) {
        struct http_field *f = &r->fields[i];
        if (f->id != HTTP_F_EXPECT || !HTTP_WORD(f->value.p, f->value.n, "100-continue"))
            continue;
        r->expect_continue = r->minor && has_body;
        f->hop = !r->minor; /* or the server's 100 would have nobody to go to */
    }
}

/* > 0: sound, the head's length; < 0: the fault of a head whose bytes are sound; 0: ask the byte machine. */
static long request_pass(struct http_request *r, const char *buf, size_t len)
{
    const char *end = buf + len, *p = buf;
    struct http_options o;
    struct http_seen seen;
    int fault;

    for (int i = 0; i < 2 && end - p >= 2 && p[0] == '\r' && p[1] == '\n'; i++)
        p += 2;
    p = parse_request_line(r, p, end);
    if (p)
        p = parse_fields(p, end, r->fields, &r->nfields, &seen);
    if (!p)
        return 0;
    if ((fault = http_rule_host(r, &seen)) || (fault = http_rule_target(r, &seen)) ||
        (fault = http_rule_connection(r->fields, r->nfields, &seen, &o)) ||
        (fault = http_rule_framing(r->fields, &seen, r->minor, &r->body, &r->content_length)))
        return -fault;
    /* Nobody agrees on what a body of CONNECT is (RFC 9110, 9.3.6: there is none). */
    if (r->method == HTTP_CONNECT && (r->body == HTTP_BODY_CHUNKED || r->content_length))
        return -400;
    request_wishes(r, &seen, &o);
    return p - buf;
}

long http_parse_request(struct http_request *r, const char *buf, size_t len, size_t *scan, bool full)
{
    long head = *scan ? 0 : request_pass(r, buf, len);
    int whole;

    if (head > 0)
        return head;
    whole = http_lex_head(HTTP_LEX_REQUEST, buf, len, scan);
    if (whole < 0)
        return whole;
    if (whole)
        return head ? head : request_pass(r, buf, len);
    if (full)
        return http_lex_in_first_line(*scan) ? -414 : -431;
    return 0;
}

static const char *parse_status_line(struct http_response *r, const char *p, const char *end)
{
    p = parse_version(p, end, &r->minor);
    if (!p || end - p < 6 || p[0] != ' ' || p[1] < '1' || p[1] > '5' || !http_is(p[2], HTTP_C_DIGIT) ||
        !http_is(p[3], HTTP_C_DIGIT))
        return NULL;
    r->status = (unsigned)(p[1] - '0') * 100 + (unsigned)(p[2] - '0') * 10 + (unsigned)(p[3] - '0');
    p += 4;
    if (*p == ' ')
        p++;
    else if (*p != '\r') /* the SP is often left out with an empty reason */
        return NULL;
    const char *from = p;
    p = http_skip_value(p, end);
    r->reason = (struct http_str){from, (size_t)(p - from)};
    return end - p >= 2 && p[0] == '\r' && p[1] == '\n' ? p + 2 : NULL;
}

/* RFC 9112, 6.3, from the framing fields alone to what they mean here; false: they can't be meant. */
static bool response_body(struct http_response *r, enum http_method request_method)
{
    bool interim = r->status < 200;

    if (request_method == HTTP_CONNECT && r->status / 100 == 2) {
        r->body = HTTP_BODY_TUNNEL;
        return true;
    }
    if (interim || r->status == 204) {
        /* Neither field may be sent (RFC 9112, 6.1; 9110, 8.6): who takes them seriously reads another
         * message. A length of 0, which some servers send, says the same as none. */
        if (r->body == HTTP_BODY_CHUNKED || r->content_length)
            return false;
        r->body = r->status == 101 ? HTTP_BODY_TUNNEL : HTTP_BODY_NONE;
        return true;
    }
    if (request_method == HTTP_HEAD || r->status == 304)
        r->body = HTTP_BODY_NONE;
    else if (r->body == HTTP_BODY_NONE)
        r->body = HTTP_BODY_CLOSE;
    return true;
}

static long response_pass(struct http_response *r, const char *buf, size_t len,
                          enum http_method request_method)
{
    const char *end = buf + len, *p;
    struct http_options o;
    struct http_seen seen;

    p = parse_status_line(r, buf, end);
    if (p)
        p = parse_fields(p, end, r->fields, &r->nfields, &seen);
    if (!p)
        return 0;
    if (http_rule_connection(r->fields, r->nfields, &seen, &o) ||
        http_rule_framing(r->fields, &seen, r->minor, &r->body, &r->content_length) ||
        !response_body(r, request_method))
        return -502;
    r->keep_alive =
        !o.close && (r->minor || o.keep_alive) && r->body != HTTP_BODY_CLOSE && r->body != HTTP_BODY_TUNNEL;
    return p - buf;
}

long http_parse_response(struct http_response *r, const char *buf, size_t len, size_t *scan, bool full,
                         enum http_method request_method)
{
    long head = *scan ? 0 : response_pass(r, buf, len, request_method);
    int whole;

    if (head > 0)
        return head;
    whole = http_lex_head(HTTP_LEX_RESPONSE, buf, len, scan);
    if (whole > 0)
        return head ? head : response_pass(r, buf, len, request_method);
    return whole < 0 || full ? -502 : 0;
}

bool http_method_idempotent(enum http_method m)
{
    return m == HTTP_GET || m == HTTP_HEAD || m == HTTP_PUT || m == HTTP_DELETE || m == HTTP_OPTIONS ||
           m == HTTP_TRACE;
}
