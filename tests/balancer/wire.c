/* See wire.h. The reader takes no shortcut: a bare LF, a stray space or a second framing field is WIRE_BAD.
 */
#include "wire.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>

#define HEAD_MAX  (1u << 20)
#define READ_SIZE 65536u

int64_t wire_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void *grown(void *p, size_t n)
{
    void *q = realloc(p, n);

    if (!q)
        abort(); /* a test without memory has nothing to say */
    return q;
}

static char *copied(const char *p, size_t n)
{
    char *s = grown(NULL, n + 1);

    memcpy(s, p, n);
    s[n] = '\0';
    return s;
}

void wire_init(struct wire *w, int fd)
{
    memset(w, 0, sizeof *w);
    w->fd = fd;
}

void wire_free(struct wire *w)
{
    free(w->buf);
    memset(w, 0, sizeof *w);
    w->fd = -1;
}

void wire_msg_free(struct wire_msg *m)
{
    for (size_t i = 0; i < m->nfields; i++) {
        free(m->fields[i].name);
        free(m->fields[i].value);
    }
    free(m->fields);
    free(m->method);
    free(m->target);
    free(m->version);
    free(m->head);
    free(m->raw_body);
    free(m->body);
    memset(m, 0, sizeof *m);
}

static enum wire_result wait_ready(int fd, short events, int64_t deadline_ms)
{
    struct pollfd p = {.fd = fd, .events = events};

    for (;;) {
        int64_t left = deadline_ms - wire_now_ms();
        int n = poll(&p, 1, left > 0 ? (int)left : 0);

        if (n > 0)
            return WIRE_OK;
        if (n == 0 && left <= 0)
            return WIRE_TIMEOUT;
        if (n < 0 && errno != EINTR)
            return WIRE_RESET;
    }
}

enum wire_result wire_wait(struct wire *w, int64_t deadline_ms)
{
    return w->off < w->len ? WIRE_OK : wait_ready(w->fd, POLLIN, deadline_ms);
}

/* Gets more bytes behind those held: WIRE_OK, WIRE_CLOSED at the end of the stream, WIRE_RESET, WIRE_TIMEOUT.
 */
static enum wire_result fill(struct wire *w, int64_t deadline_ms)
{
    if (w->off == w->len)
        w->off = w->len = 0;
    if (w->cap - w->len < READ_SIZE) {
        w->cap = w->cap ? w->cap * 2 : READ_SIZE * 2;
        w->buf = grown(w->buf, w->cap);
    }
    for (;;) {
        enum wire_result r;
        ssize_t n = recv(w->fd, w->buf + w->len, w->cap - w->len, MSG_DONTWAIT);

        if (n > 0) {
            w->len += (size_t)n;
            w->received += (uint64_t)n;
            return WIRE_OK;
        }
        if (n == 0)
            return WIRE_CLOSED;
        if (errno == EINTR)
            continue;
        if (errno != EAGAIN)
            return WIRE_RESET;
        r = wait_ready(w->fd, POLLIN, deadline_ms);
        if (r != WIRE_OK)
            return r;
    }
}

static bool token_char(unsigned char c)
{
    return isalnum(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static enum wire_result bad(struct wire_msg *m, const char *why)
{
    m->error = why;
    return WIRE_BAD;
}

/* One header line, p[0..n) without its CRLF. */
static bool take_field(struct wire_msg *m, const char *p, size_t n)
{
    size_t name = 0;

    while (name < n && token_char((unsigned char)p[name]))
        name++;
    if (name == 0 || name == n || p[name] != ':')
        return false;
    const char *v = p + name + 1, *end = p + n;
    while (v < end && (*v == ' ' || *v == '\t'))
        v++;
    while (end > v && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    for (const char *c = v; c < end; c++)
        if ((unsigned char)*c < ' ' && *c != '\t')
            return false;
    m->fields = grown(m->fields, (m->nfields + 1) * sizeof *m->fields);
    m->fields[m->nfields].name = copied(p, name);
    m->fields[m->nfields].value = copied(v, (size_t)(end - v));
    m->nfields++;
    return true;
}

const char *wire_field(const struct wire_msg *m, const char *name)
{
    for (size_t i = 0; i < m->nfields; i++)
        if (!strcasecmp(m->fields[i].name, name))
            return m->fields[i].value;
    return NULL;
}

size_t wire_field_count(const struct wire_msg *m, const char *name)
{
    size_t n = 0;

    for (size_t i = 0; i < m->nfields; i++)
        n += !strcasecmp(m->fields[i].name, name);
    return n;
}

/* Takes the head's bytes, its end included, off the buffer into m->head. */
static enum wire_result take_head(struct wire *w, struct wire_msg *m, int64_t deadline_ms)
{
    for (;;) {
        size_t n = w->len - w->off;
        const char *end = n ? memmem(w->buf + w->off, n, "\r\n\r\n", 4) : NULL;
        enum wire_result r;

        if (end) {
            m->head_len = (size_t)(end + 4 - (w->buf + w->off));
            m->head = copied(w->buf + w->off, m->head_len);
            m->when_ms = wire_now_ms();
            w->off += m->head_len;
            return WIRE_OK;
        }
        if (n > HEAD_MAX)
            return bad(m, "a head of over a megabyte");
        r = fill(w, deadline_ms);
        if (r == WIRE_CLOSED && n > 0)
            return WIRE_TRUNCATED;
        if (r != WIRE_OK)
            return r;
    }
}

/* Splits the lines behind the start line into fields. */
static enum wire_result take_fields(struct wire_msg *m, const char *p)
{
    const char *end = m->head + m->head_len - 2;

    while (p < end) {
        const char *eol = memchr(p, '\r', (size_t)(end - p));

        if (!eol || eol[1] != '\n')
            return bad(m, "a line of the head doesn't end in CRLF");
        if (!take_field(m, p, (size_t)(eol - p)))
            return bad(m, "a malformed header line");
        p = eol + 2;
    }
    return WIRE_OK;
}

static enum wire_result take_framing(struct wire_msg *m, bool may_have_body, enum wire_framing without)
{
    const char *cl = wire_field(m, "Content-Length"), *te = wire_field(m, "Transfer-Encoding");

    if (wire_field_count(m, "Content-Length") > 1 || wire_field_count(m, "Transfer-Encoding") > 1 ||
        (cl && te))
        return bad(m, "more than one framing field");
    if (cl && (!*cl || strspn(cl, "0123456789") != strlen(cl) || strlen(cl) > 18))
        return bad(m, "Content-Length isn't a number");
    if (te && strcmp(te, "chunked") != 0)
        return bad(m, "Transfer-Encoding isn't chunked");
    if (!may_have_body)
        m->framing = WIRE_NONE;
    else if (te)
        m->framing = WIRE_CHUNKED;
    else if (cl)
        m->framing = WIRE_LENGTH;
    else
        m->framing = without;
    return WIRE_OK;
}

enum wire_result wire_read_request_head(struct wire *w, struct wire_msg *m, int64_t deadline_ms)
{
    enum wire_result r = take_head(w, m, deadline_ms);

    if (r != WIRE_OK)
        return r;
    const char *eol = memmem(m->head, m->head_len, "\r\n", 2);
    const char *sp1 = memchr(m->head, ' ', (size_t)(eol - m->head));
    const char *sp2 = sp1 ? memchr(sp1 + 1, ' ', (size_t)(eol - sp1 - 1)) : NULL;
    if (!sp2 || sp1 == m->head || sp2 == sp1 + 1 || strncmp(sp2 + 1, "HTTP/1.", 7) != 0 || eol - sp2 != 9)
        return bad(m, "a malformed request line");
    m->method = copied(m->head, (size_t)(sp1 - m->head));
    m->target = copied(sp1 + 1, (size_t)(sp2 - sp1 - 1));
    m->version = copied(sp2 + 1, (size_t)(eol - sp2 - 1));
    r = take_fields(m, eol + 2);
    return r == WIRE_OK ? take_framing(m, true, WIRE_NONE) : r;
}

enum wire_result wire_read_response_head(struct wire *w, struct wire_msg *m, bool head_only,
                                         int64_t deadline_ms)
{
    enum wire_result r = take_head(w, m, deadline_ms);

    if (r != WIRE_OK)
        return r;
    const char *h = m->head, *eol = memmem(h, m->head_len, "\r\n", 2);
    if (eol - h < 12 || strncmp(h, "HTTP/1.", 7) != 0 || !isdigit((unsigned char)h[7]) || h[8] != ' ' ||
        strspn(h + 9, "0123456789") != 3 || (h[12] != ' ' && h + 12 != eol))
        return bad(m, "a malformed status line");
    m->version = copied(h, 8);
    m->status = (unsigned)atoi(h + 9);
    r = take_fields(m, eol + 2);
    if (r != WIRE_OK)
        return r;
    return take_framing(m, !head_only && m->status >= 200 && m->status != 204 && m->status != 304,
                        WIRE_UNTIL_CLOSE);
}

static void keep_raw(struct wire_msg *m, const char *p, size_t n)
{
    if (m->raw_body_len + n + 1 > m->raw_body_cap) {
        m->raw_body_cap = (m->raw_body_len + n + 1) * 2;
        m->raw_body = grown(m->raw_body, m->raw_body_cap);
    }
    memcpy(m->raw_body + m->raw_body_len, p, n);
    m->raw_body_len += n;
    m->raw_body[m->raw_body_len] = '\0';
}

/* Moves n bytes of the stream (or, with n == SIZE_MAX, all up to its end) to the raw body. */
static enum wire_result take_bytes(struct wire *w, struct wire_msg *m, size_t n, int64_t deadline_ms)
{
    while (n) {
        size_t have = w->len - w->off, take = have < n ? have : n;

        if (take) {
            keep_raw(m, w->buf + w->off, take);
            w->off += take;
            n -= n == SIZE_MAX ? 0 : take;
            continue;
        }
        enum wire_result r = fill(w, deadline_ms);
        if (r == WIRE_CLOSED)
            return n == SIZE_MAX ? WIRE_OK : WIRE_TRUNCATED;
        if (r != WIRE_OK)
            return r;
    }
    return WIRE_OK;
}

/* Moves one line, CRLF included, to the raw body; *at is where it starts there. */
static enum wire_result take_line(struct wire *w, struct wire_msg *m, size_t *at, int64_t deadline_ms)
{
    *at = m->raw_body_len;
    for (;;) {
        enum wire_result r = take_bytes(w, m, 1, deadline_ms);
        size_t n = m->raw_body_len - *at;

        if (r != WIRE_OK)
            return r;
        if (m->raw_body[m->raw_body_len - 1] == '\n')
            return n >= 2 && m->raw_body[m->raw_body_len - 2] == '\r'
                       ? WIRE_OK
                       : bad(m, "a chunk line ends in a bare LF");
        if (n > 8192)
            return bad(m, "a chunk line without an end");
    }
}

static enum wire_result take_chunked(struct wire *w, struct wire_msg *m, int64_t deadline_ms)
{
    size_t cap = 0, at;
    enum wire_result r;

    for (;;) {
        char *end;

        r = take_line(w, m, &at, deadline_ms);
        if (r != WIRE_OK)
            return r;
        if (!isxdigit((unsigned char)m->raw_body[at]))
            return bad(m, "a malformed chunk size");
        size_t size = strtoul(m->raw_body + at, &end, 16);
        if ((*end != '\r' && *end != ';') || m->raw_body[at + 1] == 'x')
            return bad(m, "junk behind a chunk size");
        if (size == 0)
            break;
        at = m->raw_body_len;
        r = take_bytes(w, m, size + 2, deadline_ms);
        if (r != WIRE_OK)
            return r;
        if (memcmp(m->raw_body + m->raw_body_len - 2, "\r\n", 2) != 0)
            return bad(m, "a chunk doesn't end in CRLF");
        if (m->body_len + size + 1 > cap) {
            cap = (m->body_len + size + 1) * 2;
            m->body = grown(m->body, cap);
        }
        memcpy(m->body + m->body_len, m->raw_body + at, size);
        m->body_len += size;
    }
    do { /* the trailer section */
        r = take_line(w, m, &at, deadline_ms);
    } while (r == WIRE_OK && m->raw_body_len - at > 2);
    if (!m->body)
        m->body = grown(NULL, 1);
    m->body[m->body_len] = '\0';
    return r;
}

enum wire_result wire_read_body(struct wire *w, struct wire_msg *m, int64_t deadline_ms)
{
    enum wire_result r = WIRE_OK;
    size_t want = 0;

    if (m->framing == WIRE_CHUNKED)
        return take_chunked(w, m, deadline_ms);
    if (m->framing == WIRE_LENGTH)
        want = strtoul(wire_field(m, "Content-Length"), NULL, 10);
    else if (m->framing == WIRE_UNTIL_CLOSE)
        want = SIZE_MAX;
    r = take_bytes(w, m, want, deadline_ms);
    m->body = copied(m->raw_body ? m->raw_body : "", m->raw_body_len);
    m->body_len = m->raw_body_len;
    return r;
}

enum wire_result wire_drain(struct wire *w, int64_t deadline_ms, char *keep, size_t keep_cap, uint64_t *bytes)
{
    *bytes = 0;
    for (;;) {
        size_t n = w->len - w->off;
        enum wire_result r;

        if (keep && n && *bytes < keep_cap) {
            size_t k = keep_cap - *bytes < n ? keep_cap - *bytes : n;

            memcpy(keep + *bytes, w->buf + w->off, k);
        }
        *bytes += n;
        w->off = w->len = 0;
        r = fill(w, deadline_ms);
        if (r == WIRE_CLOSED)
            return WIRE_OK;
        if (r != WIRE_OK)
            return r;
    }
}

bool wire_send(int fd, const void *data, size_t n, int64_t deadline_ms)
{
    const char *p = data;

    while (n) {
        ssize_t done = send(fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (done >= 0) {
            p += done;
            n -= (size_t)done;
        } else if (errno == EAGAIN) {
            if (wait_ready(fd, POLLOUT, deadline_ms) != WIRE_OK)
                return false;
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

const char *wire_result_text(enum wire_result r)
{
    static const char *const texts[] = {"a whole message",  "closed before its first byte",
                                        "closed inside it", "reset",
                                        "nothing in time",  "malformed"};

    return texts[r];
}
