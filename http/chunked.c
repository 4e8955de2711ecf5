/* The chunked transfer coding (RFC 9112, 7.1), decoded in place by a machine that stops and resumes anywhere.
 * Stricter than the grammar in one thing: white space around chunk extensions ("bad white space") is refused,
 * as are fields that say how to read a message in the trailer section. Extensions and trailers are checked
 * and dropped. */
#include "http/chars.h"
#include "http/internal.h"

#define MAX_SIZE_DIGITS 16
#define MAX_EXTENSIONS  256  /* bytes of one chunk's: they cost the reader more than they carry */
#define MAX_TRAILER     8192 /* bytes of the trailer section */

/* state           expects                                  next
 * SIZE_FIRST      hex digit                                SIZE
 * SIZE            hex digit; ';' CR                        SIZE; EXT_NAME_FIRST SIZE_LF
 * EXT_NAME_FIRST  token character                          EXT_NAME
 * EXT_NAME        token character; '=' ';' CR              EXT_NAME; EXT_VALUE_FIRST EXT_NAME_FIRST SIZE_LF
 * EXT_VALUE_FIRST '"'; token character                     EXT_QUOTED; EXT_VALUE
 * EXT_VALUE       token character; ';' CR                  EXT_VALUE; EXT_NAME_FIRST SIZE_LF
 * EXT_QUOTED      '"'; '\'; value character                EXT_END; EXT_ESCAPE; EXT_QUOTED
 * EXT_ESCAPE      value character                          EXT_QUOTED
 * EXT_END         ';' CR                                   EXT_NAME_FIRST SIZE_LF
 * SIZE_LF         LF                                       DATA, or LINE after the last chunk
 * DATA            payload                                  DATA_CR after the last byte
 * DATA_CR         CR                                       DATA_LF
 * DATA_LF         LF                                       SIZE_FIRST
 * LINE            CR; token character                      END_LF; NAME
 * NAME            token character; ':'                     NAME; VALUE
 * VALUE           value character; CR                      VALUE; VALUE_LF
 * VALUE_LF        LF                                       LINE
 * END_LF          LF                                       done */
enum state {
    SIZE_FIRST,
    SIZE,
    EXT_NAME_FIRST,
    EXT_NAME,
    EXT_VALUE_FIRST,
    EXT_VALUE,
    EXT_QUOTED,
    EXT_ESCAPE,
    EXT_END,
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    LINE,
    NAME,
    VALUE,
    VALUE_LF,
    END_LF,
    BROKEN,
    STATE_BITS = 8
};

/* Fields that may not come after the body. A trailer's name is matched without keeping it: beside the state
 * there is one bit for each of these, set as long as the name read so far is the beginning of it. */
static const char *const forbidden[] = {"content-length",
                                        "transfer-encoding",
                                        "host",
                                        "connection",
                                        "content-encoding",
                                        "content-range",
                                        "expect",
                                        "te",
                                        "trailer",
                                        "upgrade"};
#define FORBIDDEN     (sizeof(forbidden) / sizeof(forbidden[0]))
#define ALL_FORBIDDEN (((1u << FORBIDDEN) - 1) << STATE_BITS)

static unsigned state_of(const struct http_chunked *c)
{
    return c->state & ((1u << STATE_BITS) - 1);
}

static bool go(struct http_chunked *c, bool ok, unsigned next)
{
    c->state = next;
    return ok;
}

static unsigned hex(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a' + 10);
}

static bool size_digit(struct http_chunked *c, char b)
{
    if (!http_is(b, HTTP_C_HEX) || c->line == MAX_SIZE_DIGITS)
        return false;
    c->line++;
    c->left = c->left << 4 | hex(b);
    return go(c, c->left <= INT64_MAX, SIZE);
}

/* After a size, an extension's name or its value. */
static bool size_end(struct http_chunked *c, char b)
{
    if (b == '\r')
        return go(c, true, SIZE_LF);
    return go(c, b == ';', EXT_NAME_FIRST);
}

static bool extension_byte(struct http_chunked *c, char b)
{
    bool token = http_is(b, HTTP_C_TOKEN);

    if (++c->line > MAX_SIZE_DIGITS + MAX_EXTENSIONS)
        return false;
    switch (c->state) {
    case EXT_NAME_FIRST:
        return go(c, token, EXT_NAME);
    case EXT_NAME:
        return token || (b == '=' ? go(c, true, EXT_VALUE_FIRST) : size_end(c, b));
    case EXT_VALUE_FIRST:
        return b == '"' ? go(c, true, EXT_QUOTED) : go(c, token, EXT_VALUE);
    case EXT_VALUE:
        return token || size_end(c, b);
    case EXT_QUOTED:
        if (b == '"')
            return go(c, true, EXT_END);
        return go(c, http_is(b, HTTP_C_VALUE), b == '\\' ? EXT_ESCAPE : EXT_QUOTED);
    case EXT_ESCAPE:
        return go(c, http_is(b, HTTP_C_VALUE), EXT_QUOTED);
    default:
        return size_end(c, b);
    }
}

static bool size_byte(struct http_chunked *c, char b)
{
    switch (c->state) {
    case SIZE_FIRST:
        c->line = 0;
        c->left = 0;
        return size_digit(c, b);
    case SIZE:
        if (http_is(b, HTTP_C_HEX))
            return size_digit(c, b);
        c->line = MAX_SIZE_DIGITS; /* counts the extensions from here */
        return size_end(c, b);
    case SIZE_LF:
        return go(c, b == '\n', c->left ? DATA : LINE);
    case DATA_CR:
        return go(c, b == '\r', DATA_LF);
    case DATA_LF:
        return go(c, b == '\n', SIZE_FIRST);
    default:
        return extension_byte(c, b);
    }
}

static bool name_byte(struct http_chunked *c, char b)
{
    unsigned matching = c->state >> STATE_BITS;

    for (size_t i = 0; i < FORBIDDEN; i++) {
        char expected = c->line <= strlen(forbidden[i]) ? forbidden[i][c->line] : '\0';
        if (!(matching & 1u << i))
            continue;
        if (b == ':' && !expected)
            return false;
        if ((b | 0x20) != expected)
            matching &= ~(1u << i);
    }
    if (b == ':')
        return go(c, true, VALUE);
    c->line++;
    return go(c, http_is(b, HTTP_C_TOKEN), NAME | matching << STATE_BITS);
}

static bool trailer_byte(struct http_chunked *c, char b)
{
    if (++c->trailer > MAX_TRAILER)
        return false;
    switch (state_of(c)) {
    case LINE:
        if (b == '\r')
            return go(c, true, END_LF);
        c->line = 0;
        c->state = NAME | ALL_FORBIDDEN;
        return b != ':' && name_byte(c, b);
    case NAME:
        return name_byte(c, b);
    case VALUE:
        return b == '\r' ? go(c, true, VALUE_LF) : go(c, http_is(b, HTTP_C_VALUE), VALUE);
    default: /* VALUE_LF */
        return go(c, b == '\n', LINE);
    }
}

/* Moves the payload at hand to the front; returns how much that was. */
static size_t take_data(struct http_chunked *c, char *to, const char *from, size_t n)
{
    if (n > c->left)
        n = (size_t)c->left;
    if (to != from)
        memmove(to, from, n);
    c->left -= n;
    c->total += n;
    if (!c->left)
        c->state = DATA_CR;
    return n;
}

enum http_chunk_result http_chunked_decode(struct http_chunked *c, char *buf, size_t len, size_t *used,
                                           size_t *payload)
{
    enum http_chunk_result result = HTTP_CHUNK_MORE;
    size_t in = 0, out = 0;

    while (in < len && result == HTTP_CHUNK_MORE) {
        unsigned state = state_of(c);
        if (state == DATA) {
            size_t n = take_data(c, buf + out, buf + in, len - in);
            in += n;
            out += n;
            continue;
        }
        char b = buf[in++];
        if (state < DATA || state == DATA_CR || state == DATA_LF) {
            if (!size_byte(c, b))
                result = HTTP_CHUNK_BAD;
        } else if (state == END_LF) {
            result = b == '\n' ? HTTP_CHUNK_DONE : HTTP_CHUNK_BAD;
        } else if (state == BROKEN || !trailer_byte(c, b)) {
            result = HTTP_CHUNK_BAD;
        }
    }
    if (result != HTTP_CHUNK_MORE)
        c->state = BROKEN; /* a caller that goes on after the end, or a fault, reads nothing more */
    *used = in;
    *payload = out;
    return result;
}
