/* The lexer of the configuration language: a scan over one line with one byte of state, the quote it is
 * inside. */
#include "balancer/config/lex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct scan {
    struct cfg_lexer *lx;
    const char *start, *p, *end;
    const struct cfg_lex_place *place;
    size_t used;        /* of lx->text */
    char quote;         /* 0, ' or " */
    const char *opened; /* where that quote stands */
    bool in_word;
    bool pure; /* no byte of this word stood in the line itself */
};

static bool fail(struct scan *s, const char *at, const char *error)
{
    s->lx->error = error;
    s->lx->error_column = (unsigned)(at - s->start) + 1;
    return false;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

static bool is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name(char c)
{
    return is_alpha(c) || (c >= '0' && c <= '9') || c == '_';
}

static int hex(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Makes sure that a word has begun; at is where it does. */
static bool begin_word(struct scan *s, const char *at)
{
    struct cfg_word *w;

    if (s->in_word) {
        return true;
    }
    if (s->lx->nwords == CFG_MAX_WORDS) {
        return fail(s, at, "too many words; a line holds at most 64");
    }
    w = &s->lx->words[s->lx->nwords++];
    w->s = s->lx->text + s->used;
    w->column = (unsigned)(at - s->start) + 1;
    w->expanded = false;
    s->in_word = true;
    s->pure = true;
    return true;
}

static void end_word(struct scan *s)
{
    if (s->in_word) {
        s->lx->text[s->used++] = '\0'; /* the room for it was kept by emit() */
        s->in_word = false;
    }
}

/* One byte of a word; keeps room for the terminators of all words. */
static bool emit(struct scan *s, const char *at, char c)
{
    if (!begin_word(s, at)) {
        return false;
    }
    if (s->used >= sizeof s->lx->text - CFG_MAX_WORDS) {
        return fail(s, at, "the line's words exceed 65536 bytes once its variables are expanded");
    }
    s->lx->text[s->used++] = c;
    return true;
}

static bool emit_literal(struct scan *s, const char *at, char c)
{
    if (!emit(s, at, c)) {
        return false;
    }
    s->pure = false;
    s->lx->words[s->lx->nwords - 1].expanded = false;
    return true;
}

/* \xNN; p stands on the backslash. */
static bool scan_hex(struct scan *s)
{
    const char *at = s->p;
    int high = s->end - at >= 4 ? hex(at[2]) : -1;
    int low = high >= 0 ? hex(at[3]) : -1;

    if (low < 0) {
        return fail(s, at, "expected two hexadecimal digits after \\x");
    }
    if (!high && !low) {
        return fail(s, at, "a NUL byte can't be part of a word");
    }
    s->p += 4;
    return emit_literal(s, at, (char)(high * 16 + low));
}

/* A backslash outside strong quotes. What is no escape sequence keeps its backslash, as in HAProxy. */
static bool scan_escape(struct scan *s)
{
    static const char plain[] = " \\#'\"";
    const char *at = s->p;
    char c;

    if (s->end - at < 2) {
        return fail(s, at,
                    "nothing to escape: a line can't be continued on the next; write \\\\ for a backslash");
    }
    c = at[1];
    if (c == 'x') {
        return scan_hex(s);
    }
    s->p += 2;
    switch (c) {
    case 'n':
        return emit_literal(s, at, '\n');
    case 'r':
        return emit_literal(s, at, '\r');
    case 't':
        return emit_literal(s, at, '\t');
    case '$':
        if (s->quote == '"') {
            return emit_literal(s, at, c);
        }
        break;
    default:
        if (memchr(plain, c, sizeof plain - 1)) {
            return emit_literal(s, at, c);
        }
    }
    s->p = at + 1;
    return emit_literal(s, at, '\\');
}

struct variable {
    char name[256];
    const char *fallback; /* ${NAME-fallback}, not terminated; NULL: none */
    size_t fallback_len;
    bool split; /* ${NAME[*]}: every space begins a new word */
};

/* [*], -fallback and the closing brace; p stands behind the name. */
static bool scan_brace(struct scan *s, struct variable *v, const char *brace)
{
    if (s->p < s->end && *s->p == '[') {
        if (s->end - s->p < 3 || memcmp(s->p, "[*]", 3) != 0) {
            return fail(s, s->p, "expected [*] behind the variable's name, or a closing brace");
        }
        v->split = true;
        s->p += 3;
    }
    if (s->p < s->end && *s->p == '-') {
        v->fallback = ++s->p;
        while (s->p < s->end && *s->p != '}') {
            s->p++;
        }
        v->fallback_len = (size_t)(s->p - v->fallback);
    }
    if (s->p == s->end || *s->p != '}') {
        return fail(s, brace, "this brace of a variable isn't closed; expected ${NAME} or ${NAME-value}");
    }
    s->p++;
    return true;
}

/* The name and, in braces, what follows it; p stands on the dollar. */
static bool scan_variable(struct scan *s, struct variable *v)
{
    const char *name, *brace = NULL;

    *v = (struct variable){0};
    s->p++;
    if (s->p < s->end && *s->p == '{') {
        brace = s->p++;
    }
    name = s->p;
    if (name == s->end || (!is_alpha(*name) && *name != '_' && *name != '.')) {
        return fail(s, name < s->end ? name : name - 1,
                    "expected a variable's name after $: a letter or _ first; write \\$ for a dollar");
    }
    for (s->p++; s->p < s->end && is_name(*s->p); s->p++) {
    }
    if ((size_t)(s->p - name) >= sizeof v->name) {
        return fail(s, name, "the variable's name is longer than 255 bytes");
    }
    memcpy(v->name, name, (size_t)(s->p - name));
    v->name[s->p - name] = '\0';
    return !brace || scan_brace(s, v, brace);
}

static const char *lookup(const struct scan *s, const char *name, char number[16])
{
    if (*name != '.') {
        return getenv(name);
    }
    if (!strcmp(name, ".FILE")) {
        return s->place->file;
    }
    if (!strcmp(name, ".SECTION")) {
        return s->place->section;
    }
    if (!strcmp(name, ".LINE")) {
        snprintf(number, 16, "%u", s->place->line);
        return number;
    }
    return NULL;
}

/* A space within ${NAME[*]}: the word ends, unless it is still empty. */
static void split_word(struct scan *s)
{
    if (s->in_word && s->lx->text + s->used > s->lx->words[s->lx->nwords - 1].s) {
        end_word(s);
    }
}

/* p stands on a dollar within weak quotes. */
static bool expand(struct scan *s)
{
    const char *at = s->p, *value;
    struct variable v;
    char number[16];
    size_t len;

    if (!scan_variable(s, &v)) {
        return false;
    }
    value = lookup(s, v.name, number);
    len = value ? strlen(value) : v.fallback_len;
    value = value ? value : v.fallback;
    s->lx->words[s->lx->nwords - 1].expanded |= s->pure;
    for (size_t i = 0; i < len; i++) {
        if (v.split && (is_space(value[i]) || value[i] == '\n')) {
            split_word(s);
            continue;
        }
        if (!emit(s, at, value[i])) {
            return false;
        }
        s->lx->words[s->lx->nwords - 1].expanded = s->pure;
    }
    return true;
}

/* An opening quote begins a word, so that "" is an empty one. */
static bool scan_quote(struct scan *s)
{
    if (s->quote) {
        s->quote = 0;
    } else {
        if (!begin_word(s, s->p)) {
            return false;
        }
        s->quote = *s->p;
        s->opened = s->p;
    }
    s->p++;
    return true;
}

static bool scan_byte(struct scan *s)
{
    char c = *s->p;

    if (c == s->quote || (!s->quote && (c == '"' || c == '\''))) {
        return scan_quote(s);
    }
    if (c == '\\' && s->quote != '\'') {
        return scan_escape(s);
    }
    if (c == '$' && s->quote == '"') {
        return expand(s);
    }
    if (is_space(c) && !s->quote) {
        end_word(s);
        s->p++;
        return true;
    }
    return emit_literal(s, s->p++, c);
}

static bool check_bytes(struct scan *s)
{
    if ((size_t)(s->end - s->start) > CFG_MAX_LINE) {
        return fail(s, s->start, "the line is longer than 65536 bytes");
    }
    for (const char *p = s->start; p < s->end; p++) {
        if (((unsigned char)*p < 0x20 && *p != '\t') || *p == 0x7f) {
            return fail(s, p, "a control byte; only printable characters, spaces and tabs are expected");
        }
    }
    return true;
}

bool cfg_lex(struct cfg_lexer *lx, const char *line, size_t len, const struct cfg_lex_place *place)
{
    struct scan s = {.lx = lx, .start = line, .p = line, .end = line + len, .place = place};

    lx->nwords = 0;
    if (!check_bytes(&s)) {
        return false;
    }
    while (s.p < s.end && (s.quote || *s.p != '#')) {
        if (!scan_byte(&s)) {
            return false;
        }
    }
    if (s.quote) {
        return fail(&s, s.opened, "this quote isn't closed on its line");
    }
    end_word(&s);
    return true;
}
