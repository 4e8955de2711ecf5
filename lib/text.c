/* Strings that come from outside, names of locks above all, as they may be shown: in one line to people, as a
 * valid string to a JSON parser. Both take any bytes. */
#include "internal.h"

#include <string.h>

/* The length of the UTF-8 character that begins here: 1 to 4; 0: none does (RFC 3629, 4: no surrogates,
 * nothing longer than need be). */
static size_t character(const unsigned char *c)
{
    const unsigned char lead = c[0];
    size_t length = lead < 0x80                   ? 1
                    : lead >= 0xc2 && lead < 0xe0 ? 2
                    : lead >= 0xe0 && lead < 0xf0 ? 3
                    : lead >= 0xf0 && lead < 0xf5 ? 4
                                                  : 0;
    for (size_t i = 1; i < length; i++) { /* the terminator ends it, too */
        unsigned char low = i > 1 ? 0x80 : lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
        unsigned char high = i > 1 ? 0xbf : lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
        if (c[i] < low || c[i] > high) {
            return 0;
        }
    }
    return length;
}

/* Does a terminal take it as a command? The second half are the bytes 80 to 9f as characters. */
static bool is_control(const unsigned char *c)
{
    return c[0] < 0x20 || c[0] == 0x7f || (c[0] == 0xc2 && c[1] < 0xa0);
}

/* What to show for the character, or the byte, at *text, and moves *text behind it. Returns its length. */
#define SHOWN 9 /* of two bytes, with the terminator */
static size_t show(const char **text, char shown[SHOWN])
{
    const unsigned char *c = (const unsigned char *)*text;
    size_t length = character(c);
    if (length && !is_control(c)) {
        memcpy(shown, c, length);
        shown[length] = 0;
        *text += length;
        return length;
    }
    const char *named = strchr("n\nt\tr\r", *c); /* each behind its letter; *c is not 0 and no letter */
    length += !length;
    *text += length;
    if (named) {
        return (size_t)snprintf(shown, SHOWN, "\\%c", named[-1]);
    }
    return (size_t)(length == 1 ? snprintf(shown, SHOWN, "\\x%02x", c[0])
                                : snprintf(shown, SHOWN, "\\x%02x\\x%02x", c[0], c[1]));
}

void pawl_lib_append(char *text, size_t size, const char *more, size_t limit)
{
    size_t used = strlen(text), end = used + limit + sizeof "..." < size ? used + limit : size - sizeof "...";
    char shown[SHOWN];
    while (*more) {
        size_t length = show(&more, shown);
        if (used + length > end) {
            snprintf(text + used, size - used, "...");
            return;
        }
        memcpy(text + used, shown, length + 1);
        used += length;
    }
}

void pawl_lib_print(FILE *out, const char *text)
{
    char shown[SHOWN];
    while (*text) {
        show(&text, shown);
        fputs(shown, out);
    }
}

void pawl_lib_print_json(FILE *out, const char *text)
{
    fputc('"', out);
    while (*text) {
        const unsigned char *c = (const unsigned char *)text;
        size_t length = character(c);
        if (!length) {
            fputs("\\ufffd", out);
        } else if (*c < 0x20 || *c == 0x7f) {
            fprintf(out, "\\u%04x", *c);
        } else {
            fprintf(out, *c == '"' || *c == '\\' ? "\\%.*s" : "%.*s", (int)length, text);
        }
        text += length + !length;
    }
    fputc('"', out);
}
