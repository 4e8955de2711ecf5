/* Which bytes may stand where in an HTTP/1.x message (RFC 9110, 5.5 and 5.6; RFC 3986, 3.2.2), and the scans
 * over them that parsing and the chunked coding share. */
#ifndef PAWL_HTTP_CHARS_H
#define PAWL_HTTP_CHARS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    HTTP_C_TOKEN = 1,  /* tchar: methods, field names, options */
    HTTP_C_VALUE = 2,  /* field values: HTAB, SP, visible ASCII, obs-text */
    HTTP_C_TARGET = 4, /* request targets: visible ASCII but '#', which no target may hold */
    HTTP_C_HOST =
        8, /* a registered name: unreserved and sub-delims, but not ',', which some read as a list */
    HTTP_C_DIGIT = 16,
    HTTP_C_HEX = 32
};

extern const uint8_t http_class[256];

static inline bool http_is(char c, unsigned classes)
{
    return http_class[(unsigned char)c] & classes;
}

/* The first byte of [p, end) that is in none of the classes, or end. */
static inline const char *http_skip(const char *p, const char *end, unsigned classes)
{
    while (p < end && http_is(*p, classes))
        p++;
    return p;
}

/* The same for field values, eight bytes at a time: a word holds a control byte or DEL, or it doesn't (HTAB,
 * rare, is left to the table). Bit 7 of each byte is masked off first and obs-text excused last, so no carry
 * crosses bytes. */
static inline const char *http_skip_value(const char *p, const char *end)
{
    const uint64_t ones = 0x0101010101010101, low = ones * 0x7f;
    uint64_t w;

    for (;;) {
        while (end - p >= 8) {
            memcpy(&w, p, 8);
            uint64_t not_control = (w & low) + ones * 0x60; /* bit 7 set: 0x20 or more */
            uint64_t is_del = (w & low) + ones;             /* bit 7 set: 0x7f */
            if ((~not_control | is_del) & ~w & (ones * 0x80))
                break;
            p += 8;
        }
        const char *stop = end - p >= 8 ? p + 8 : end;
        p = http_skip(p, stop, HTTP_C_VALUE);
        if (p < stop || p == end)
            return p;
    }
}

#endif
