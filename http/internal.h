/* What the files of this folder share and nobody else needs. */
#ifndef PAWL_HTTP_INTERNAL_H
#define PAWL_HTTP_INTERNAL_H

#include "http/http.h"

#include <string.h>

#define HTTP_FIELD_IDS (HTTP_F_X_FORWARDED_FOR + 1)

/* How often each treated field occurs in a head, and where it last does. */
struct http_seen {
    uint8_t count[HTTP_FIELD_IDS];
    uint8_t last[HTTP_FIELD_IDS];
};

/* What the Connection fields of a head ask for. */
struct http_options {
    bool close, keep_alive, upgrade;
};

enum http_lex_kind { HTTP_LEX_REQUEST, HTTP_LEX_RESPONSE };

/* Checks the bytes of a head against the rules that need no more than their place, from where the last call
 * stopped. Returns 1 (the head is whole), 0 (more is needed) or minus the status. *scan is its state. */
int http_lex_head(enum http_lex_kind kind, const char *buf, size_t len, size_t *scan);
bool http_lex_in_first_line(size_t scan);

/* The rules over a whole head; 0 or the status to answer (as for a request). */
int http_rule_framing(const struct http_field *f, const struct http_seen *seen, unsigned minor,
                      enum http_body *body, uint64_t *length);
int http_rule_connection(struct http_field *f, size_t n, const struct http_seen *seen,
                         struct http_options *o);
int http_rule_host(const struct http_request *r, const struct http_seen *seen);
int http_rule_target(const struct http_request *r, const struct http_seen *seen);
bool http_rule_upgrade(const struct http_field *f, size_t n);

/* Splits an absolute-form target; false if it isn't one for http or https. *rest is what follows the
 * authority. */
bool http_target_split(struct http_str target, struct http_str *authority, struct http_str *rest,
                       unsigned *default_port);

enum http_field_id http_field_id(const char *name, size_t n);

/* The next element of a comma-separated list, trimmed, possibly empty; false at the end. rest starts as the
 * value; its p is NULL once the last element was given. */
bool http_list_next(struct http_str *rest, struct http_str *element);

static inline uint64_t http_differ8(const char *s, const char *lower)
{
    uint64_t a, b;

    memcpy(&a, s, 8);
    memcpy(&b, lower, 8);
    return (a | 0x2020202020202020) ^ b;
}

static inline uint32_t http_differ4(const char *s, const char *lower)
{
    uint32_t a, b;

    memcpy(&a, s, 4);
    memcpy(&b, lower, 4);
    return (a | 0x20202020) ^ b;
}

/* Whether s is the text given in lower case, ignoring case. Both must be of token characters: only then does
 * setting bit 5 map nothing but letters. With n known to the compiler this is a handful of instructions. */
static inline bool http_is_word(const char *s, const char *lower, size_t n)
{
    unsigned char diff = 0;
    uint64_t wide = 0;

    if (n >= 8) {
        for (size_t i = 0; i + 8 < n; i += 8)
            wide |= http_differ8(s + i, lower + i);
        return !(wide | http_differ8(s + n - 8, lower + n - 8));
    }
    if (n >= 4)
        return !(http_differ4(s, lower) | http_differ4(s + n - 4, lower + n - 4));
    for (size_t i = 0; i < n; i++)
        diff |= (unsigned char)((s[i] | 0x20) ^ lower[i]);
    return !diff;
}

#define HTTP_WORD(s, len, lit) ((len) == sizeof(lit) - 1 && http_is_word((s), (lit), sizeof(lit) - 1))

#endif
