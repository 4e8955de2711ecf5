/* The table of byte classes, computed by the compiler from their definitions. */
#include "http/chars.h"

#define IN(c, lo, hi) ((c) >= (lo) && (c) <= (hi))
#define DIGIT(c)      IN(c, '0', '9')
#define ALNUM(c)      (DIGIT(c) || IN(c, 'a', 'z') || IN(c, 'A', 'Z'))
#define VISIBLE(c)    IN(c, 0x21, 0x7e)
#define ONE_OF_TOKEN(c)                                                                                 \
    ((c) == '!' || (c) == '#' || (c) == '$' || (c) == '%' || (c) == '&' || (c) == '\'' || (c) == '*' || \
     (c) == '+' || (c) == '-' || (c) == '.' || (c) == '^' || (c) == '_' || (c) == '`' || (c) == '|' ||  \
     (c) == '~')
#define ONE_OF_HOST(c)                                                                                 \
    ((c) == '-' || (c) == '.' || (c) == '_' || (c) == '~' || (c) == '!' || (c) == '$' || (c) == '&' || \
     (c) == '\'' || (c) == '(' || (c) == ')' || (c) == '*' || (c) == '+' || (c) == ';' || (c) == '=')

#define CLASS(c)                                                                                       \
    ((ALNUM(c) || ONE_OF_TOKEN(c) ? HTTP_C_TOKEN : 0) |                                                \
     ((c) == '\t' || (c) == ' ' || VISIBLE(c) || (c) >= 0x80 ? HTTP_C_VALUE : 0) |                     \
     (VISIBLE(c) && (c) != '#' ? HTTP_C_TARGET : 0) | (ALNUM(c) || ONE_OF_HOST(c) ? HTTP_C_HOST : 0) | \
     (DIGIT(c) ? HTTP_C_DIGIT : 0) | (DIGIT(c) || IN(c, 'a', 'f') || IN(c, 'A', 'F') ? HTTP_C_HEX : 0))
#define ROW4(c)  CLASS(c), CLASS((c) + 1), CLASS((c) + 2), CLASS((c) + 3)
#define ROW16(c) ROW4(c), ROW4((c) + 4), ROW4((c) + 8), ROW4((c) + 12)
#define ROW64(c) ROW16(c), ROW16((c) + 16), ROW16((c) + 32), ROW16((c) + 48)

const uint8_t http_class[256] = {ROW64(0), ROW64(64), ROW64(128), ROW64(192)};
