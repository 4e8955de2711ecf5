/* What the fields of a head mean together, and which meanings are refused (RFC 9110, 9112). Where the RFCs
 * let a recipient choose between repairing and refusing, this refuses: the server behind might repair
 * differently. */
#include "http/chars.h"
#include "http/internal.h"

#include <arpa/inet.h>

#define MAX_NAMED_FIELDS 32 /* options of Connection that name fields: each costs a walk over the fields */

bool http_list_next(struct http_str *rest, struct http_str *element)
{
    const char *p = rest->p, *end, *comma;

    if (!p)
        return false;
    end = p + rest->n;
    comma = rest->n ? memchr(p, ',', rest->n) : NULL;
    *rest = comma ? (struct http_str){comma + 1, (size_t)(end - comma - 1)} : (struct http_str){NULL, 0};
    if (comma)
        end = comma;
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    while (p < end && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    *element = (struct http_str){p, (size_t)(end - p)};
    return true;
}

static bool is_token(struct http_str s)
{
    return s.n && http_skip(s.p, s.p + s.n, HTTP_C_TOKEN) == s.p + s.n;
}

static bool same_name(struct http_str a, struct http_str b)
{
    unsigned char diff = 0;

    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++) {
        unsigned char x = (unsigned char)a.p[i], y = (unsigned char)b.p[i];
        diff |= (x ^ y) & (((x | 0x20) >= 'a' && (x | 0x20) <= 'z') ? (unsigned char)~0x20 : 0xff);
    }
    return !diff;
}

/* Transfer-Encoding: chunked alone is understood. A list that ends in it and is otherwise well-formed is the
 * sender's right and beyond us (501); anything else has no certain end (400). */
static int transfer_coding(struct http_str value)
{
    struct http_str coding = {NULL, 0};

    if (HTTP_WORD(value.p, value.n, "chunked"))
        return 0;
    while (http_list_next(&value, &coding)) {
        const char *name_end = http_skip(coding.p, coding.p + coding.n, HTTP_C_TOKEN);
        struct http_str name = {coding.p, (size_t)(name_end - coding.p)};
        if (!name.n)
            return 400;
        if (HTTP_WORD(name.p, name.n, "chunked")) /* with another before it, or it would be the whole value */
            return !value.p && name.n == coding.n ? 501 : 400;
        if (name.n != coding.n && *name_end != ';' && *name_end != ' ' && *name_end != '\t')
            return 400;
    }
    return 400;
}

/* One decimal number up to 2^63 - 1. RFC 9110 (8.6) would let a list of equal numbers pass as one: it is
 * refused, for nobody sends one in good faith. */
static int content_length(struct http_str value, uint64_t *length)
{
    uint64_t n = 0;

    if (!value.n)
        return 400;
    for (size_t i = 0; i < value.n; i++) {
        if (!http_is(value.p[i], HTTP_C_DIGIT))
            return 400;
        unsigned digit = (unsigned)(value.p[i] - '0');
        if (n > ((uint64_t)INT64_MAX - digit) / 10)
            return 400;
        n = n * 10 + digit;
    }
    *length = n;
    return 0;
}

int http_rule_framing(const struct http_field *f, const struct http_seen *seen, unsigned minor,
                      enum http_body *body, uint64_t *length)
{
    unsigned lengths = seen->count[HTTP_F_CONTENT_LENGTH], codings = seen->count[HTTP_F_TRANSFER_ENCODING];

    *length = 0;
    *body = HTTP_BODY_NONE;
    if (codings) {
        /* With a length beside it, or in HTTP/1.0 where it means nothing, somebody on the way reads another
         * message (RFC 9112, 6.1 and 11.2). */
        if (codings > 1 || lengths || !minor)
            return 400;
        *body = HTTP_BODY_CHUNKED;
        return transfer_coding(f[seen->last[HTTP_F_TRANSFER_ENCODING]].value);
    }
    if (!lengths)
        return 0;
    if (lengths > 1)
        return 400;
    *body = HTTP_BODY_LENGTH;
    return content_length(f[seen->last[HTTP_F_CONTENT_LENGTH]].value, length);
}

/* Fields for every recipient: a client that names one in Connection wants a proxy to drop what a proxy before
 * it, or its own policy, put there. Such a name is passed over. */
static bool end_to_end(struct http_str name)
{
    static const char *const names[] = {
        "authorization", "cookie", "set-cookie", "cache-control", "forwarded", "via",
        "x-real-ip",     "origin", "referer",    "location",      "vary",      "date",
        "etag",          "range",  "accept",     "user-agent",    "age",       "expires"};
    static const char *const prefixes[] = {"content-",   "x-forwarded-",    "if-",
                                           "proxy-auth", "access-control-", "sec-"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (name.n == strlen(names[i]) && http_is_word(name.p, names[i], name.n))
            return true;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
        if (name.n >= strlen(prefixes[i]) && http_is_word(name.p, prefixes[i], strlen(prefixes[i])))
            return true;
    return false;
}

/* An option that is the name of a field makes that field hop-by-hop. */
static int named_field(struct http_field *f, size_t n, struct http_str option)
{
    switch (http_field_id(option.p, option.n)) {
    case HTTP_F_HOST:
    case HTTP_F_CONTENT_LENGTH:
    case HTTP_F_TRANSFER_ENCODING:
        return 400; /* a proxy that obeyed would send on another message than the one it read */
    case HTTP_F_OTHER:
        break;
    default:
        return 0; /* hop-by-hop anyway, or (Expect, X-Forwarded-For) not the client's to remove */
    }
    if (end_to_end(option))
        return 0;
    for (size_t i = 0; i < n; i++)
        if (same_name(f[i].name, option))
            f[i].hop = true;
    return 0;
}

int http_rule_connection(struct http_field *f, size_t n, const struct http_seen *seen, struct http_options *o)
{
    unsigned fields = seen->count[HTTP_F_CONNECTION], named = 0;

    *o = (struct http_options){0};
    for (size_t i = 0; fields; i++) {
        if (f[i].id != HTTP_F_CONNECTION)
            continue;
        fields--;
        struct http_str rest = f[i].value, option;
        while (http_list_next(&rest, &option)) {
            if (!option.n)
                continue;
            if (!is_token(option))
                return 400;
            if (HTTP_WORD(option.p, option.n, "close"))
                o->close = true;
            else if (HTTP_WORD(option.p, option.n, "keep-alive"))
                o->keep_alive = true;
            else if (HTTP_WORD(option.p, option.n, "upgrade"))
                o->upgrade = true;
            else if (++named > MAX_NAMED_FIELDS || named_field(f, n, option))
                return 400;
        }
    }
    return 0;
}

/* HTTP/2 in clear text must not be negotiated through a proxy that would then see nothing of it. */
bool http_rule_upgrade(const struct http_field *f, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct http_str rest = f[i].value, protocol;
        if (f[i].id != HTTP_F_UPGRADE)
            continue;
        while (http_list_next(&rest, &protocol)) {
            struct http_str name = {
                protocol.p,
                (size_t)(http_skip(protocol.p, protocol.p + protocol.n, HTTP_C_TOKEN) - protocol.p)};
            if (!name.n || HTTP_WORD(name.p, name.n, "h2c") || HTTP_WORD(name.p, name.n, "h2"))
                return false;
        }
    }
    return true;
}

static bool ipv6(struct http_str s)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr a;

    if (s.n >= sizeof(text))
        return false;
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    return inet_pton(AF_INET6, text, &a) == 1;
}

/* A registered name or IPv4 address, percent-encoding well-formed; returns its end. */
static const char *registered_name(const char *p, const char *end)
{
    for (;;) {
        p = http_skip(p, end, HTTP_C_HOST);
        if (p == end || *p != '%')
            return p;
        if (end - p < 3 || !http_is(p[1], HTTP_C_HEX) || !http_is(p[2], HTTP_C_HEX))
            return p;
        p += 3;
    }
}

/* uri-host [":" port] (RFC 3986, 3.2.2; no user information). *port is -1 where there is none. */
static bool split_authority(struct http_str s, struct http_str *host, long *port)
{
    const char *p = s.p, *end = s.p + s.n;

    *port = -1;
    if (p < end && *p == '[') {
        const char *close = memchr(p, ']', s.n);
        if (!close || !ipv6((struct http_str){p + 1, (size_t)(close - p - 1)}))
            return false;
        p = close + 1;
    } else {
        p = registered_name(p, end);
    }
    *host = (struct http_str){s.p, (size_t)(p - s.p)};
    if (p == end)
        return true;
    if (*p++ != ':' || end - p > 5)
        return false;
    for (; p < end; p++) {
        if (!http_is(*p, HTTP_C_DIGIT))
            return false;
        *port = (*port < 0 ? 0 : *port) * 10 + (*p - '0');
    }
    return *port <= 65535;
}

/* One Host field, in HTTP/1.0 at most one. It may be empty (RFC 9112, 3.2), not two, nor a list. */
int http_rule_host(const struct http_request *r, const struct http_seen *seen)
{
    unsigned hosts = seen->count[HTTP_F_HOST];
    struct http_str host;
    long port;

    if (!hosts)
        return r->minor || r->method == HTTP_CONNECT ? 400 : 0;
    if (hosts > 1)
        return 400;
    struct http_str value = r->fields[seen->last[HTTP_F_HOST]].value;
    if (!split_authority(value, &host, &port) || (!host.n && value.n))
        return 400;
    return 0;
}

bool http_target_split(struct http_str target, struct http_str *authority, struct http_str *rest,
                       unsigned *default_port)
{
    const char *p = target.p, *end = p + target.n;

    if (target.n >= 7 && http_is_word(p, "http", 4) && !memcmp(p + 4, "://", 3)) {
        *default_port = 80;
        p += 7;
    } else if (target.n >= 8 && http_is_word(p, "https", 5) && !memcmp(p + 5, "://", 3)) {
        *default_port = 443;
        p += 8;
    } else {
        return false;
    }
    const char *from = p;
    while (p < end && *p != '/' && *p != '?')
        p++;
    *authority = (struct http_str){from, (size_t)(p - from)};
    *rest = (struct http_str){p, (size_t)(end - p)};
    return true;
}

/* RFC 9112 (3.2.2) lets the target's authority overrule Host. A client must send the same in both (3.2), and
 * a server behind may look at either, so a difference is refused instead. */
static int absolute_form(const struct http_request *r, const struct http_seen *seen)
{
    struct http_str authority, rest, host, other;
    unsigned default_port;
    long port, other_port;

    if (!http_target_split(r->target, &authority, &rest, &default_port) ||
        !split_authority(authority, &host, &port) || !host.n)
        return 400;
    if (!seen->count[HTTP_F_HOST])
        return 0;
    if (!split_authority(r->fields[seen->last[HTTP_F_HOST]].value, &other, &other_port) ||
        !same_name(host, other))
        return 400;
    if ((port < 0 ? (long)default_port : port) != (other_port < 0 ? (long)default_port : other_port))
        return 400;
    return 0;
}

/* The four forms of RFC 9112, 3.2, each where it belongs. */
int http_rule_target(const struct http_request *r, const struct http_seen *seen)
{
    struct http_str host;
    long port;

    if (r->method == HTTP_CONNECT)
        return split_authority(r->target, &host, &port) && host.n && port >= 0 ? 0 : 400;
    if (r->target.p[0] == '/')
        return 0;
    if (r->target.p[0] == '*' && r->target.n == 1)
        return r->method == HTTP_OPTIONS ? 0 : 400;
    return absolute_form(r, seen);
}
