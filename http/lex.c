/* The bytes of a message head, checked one after the other by a machine that stops and resumes anywhere. It
 * knows where a head ends and every fault that shows in a single byte; what the head means is parse.c's.
 *
 *   request:   START method SP target SP version CR LF, fields        response: version SP status [SP reason]
 * CR LF, ... fields:    LINE (name ':' value CR LF)*, LINE CR LF END
 *
 * A byte that the state doesn't expect is the fault. The state, the number of fields and the position are
 * packed into the caller's *scan, so that nothing else need be kept between calls. */
#include "http/chars.h"
#include "http/internal.h"

enum lex_state {
    START,    /* request: before the method, where CR LF may come twice */
    START_LF, /* the LF of such an empty line */
    METHOD,
    TARGET_FIRST,
    TARGET,
    VERSION, /* "HTTP/d.d": eight states, one a byte */
    VERSION_MAJOR = VERSION + 5,
    VERSION_MINOR = VERSION + 7,
    VERSION_END, /* request: CR; response: SP */
    STATUS1,
    STATUS2,
    STATUS3,
    STATUS_END, /* SP or CR */
    REASON,
    FIRST_LF, /* the LF that ends the first line */
    LINE,     /* the start of a field line, or the CR of the empty one */
    NAME,
    VALUE,
    VALUE_LF,
    END_LF,
    END
};

#define STATE_BITS     5
#define FIELD_BITS     7
#define POSITION_SHIFT (STATE_BITS + FIELD_BITS)
_Static_assert(END < 1 << STATE_BITS && HTTP_MAX_FIELDS < 1 << FIELD_BITS, "the packed state is too small");

static const char version_text[8] = "HTTP/?.?";

struct lexer {
    const char *start, *p, *end;
    unsigned state, fields;
};

static int expect(struct lexer *l, bool ok, unsigned next)
{
    if (!ok)
        return 400;
    l->state = next;
    l->p++;
    return 0;
}

/* Skips the run of bytes that the state allows, then wants the one that ends it. */
static int run(struct lexer *l, const char *stop, char wanted, unsigned next)
{
    l->p = stop;
    return stop == l->end ? 0 : expect(l, *stop == wanted, next);
}

static int version_byte(struct lexer *l, bool request)
{
    unsigned i = l->state - VERSION;
    char c = *l->p;

    if (i >= sizeof(version_text))
        return 400; /* a *scan of the other kind of head: the caller's fault, but it must not lead us astray
                     */
    if (version_text[i] != '?')
        return expect(l, c == version_text[i], l->state + 1);
    if (!http_is(c, HTTP_C_DIGIT))
        return 400;
    /* Well-formed, but another protocol: only now is that known. */
    if (l->state == VERSION_MINOR && l->p[-2] != '1')
        return request ? 505 : 400;
    return expect(l, true, l->state + 1);
}

/* The start of a field line. White space here would be folding, or a field hidden from some; both are refused
 * by being no token. */
static int line_start(struct lexer *l)
{
    if (*l->p == '\r')
        return expect(l, true, END_LF);
    if (!http_is(*l->p, HTTP_C_TOKEN))
        return 400;
    if (l->fields == HTTP_MAX_FIELDS)
        return 431;
    l->fields++;
    return expect(l, true, NAME);
}

static int request_byte(struct lexer *l)
{
    char c = *l->p;

    switch (l->state) {
    case START:
        if (c == '\r' && l->p - l->start < 4)
            return expect(l, true, START_LF);
        return expect(l, http_is(c, HTTP_C_TOKEN), METHOD);
    case START_LF:
        return expect(l, c == '\n', START);
    case METHOD:
        return run(l, http_skip(l->p, l->end, HTTP_C_TOKEN), ' ', TARGET_FIRST);
    case TARGET_FIRST:
        return expect(l, http_is(c, HTTP_C_TARGET), TARGET);
    case TARGET:
        return run(l, http_skip(l->p, l->end, HTTP_C_TARGET), ' ', VERSION);
    case VERSION_END:
        return expect(l, c == '\r', FIRST_LF);
    default:
        return version_byte(l, true);
    }
}

static int response_byte(struct lexer *l)
{
    char c = *l->p;

    switch (l->state) {
    case VERSION_END:
        return expect(l, c == ' ', STATUS1);
    case STATUS1:
        return expect(l, c >= '1' && c <= '5', STATUS2);
    case STATUS2:
    case STATUS3:
        return expect(l, http_is(c, HTTP_C_DIGIT), l->state + 1);
    case STATUS_END:
        return c == '\r' ? expect(l, true, FIRST_LF) : expect(l, c == ' ', REASON);
    case REASON:
        return run(l, http_skip_value(l->p, l->end), '\r', FIRST_LF);
    default:
        return version_byte(l, false);
    }
}

static int field_byte(struct lexer *l)
{
    char c = *l->p;

    switch (l->state) {
    case LINE:
        return line_start(l);
    case NAME:
        return run(l, http_skip(l->p, l->end, HTTP_C_TOKEN), ':', VALUE);
    case VALUE:
        return run(l, http_skip_value(l->p, l->end), '\r', VALUE_LF);
    case END_LF:
        return expect(l, c == '\n', END);
    default: /* FIRST_LF, VALUE_LF */
        return expect(l, c == '\n', LINE);
    }
}

int http_lex_head(enum http_lex_kind kind, const char *buf, size_t len, size_t *scan)
{
    struct lexer l = {.start = buf,
                      .p = buf + (*scan >> POSITION_SHIFT),
                      .end = buf + len,
                      .state = *scan & ((1u << STATE_BITS) - 1),
                      .fields = *scan >> STATE_BITS & ((1u << FIELD_BITS) - 1)};
    int fault = 0;

    if (!*scan && kind == HTTP_LEX_RESPONSE)
        l.state = VERSION;
    while (l.p < l.end && l.state != END && !fault) {
        if (l.state >= FIRST_LF)
            fault = field_byte(&l);
        else
            fault = kind == HTTP_LEX_REQUEST ? request_byte(&l) : response_byte(&l);
    }
    *scan = (size_t)(l.p - buf) << POSITION_SHIFT | l.fields << STATE_BITS | l.state;
    return fault ? -fault : l.state == END;
}

bool http_lex_in_first_line(size_t scan)
{
    return (scan & ((1u << STATE_BITS) - 1)) <= FIRST_LF;
}
