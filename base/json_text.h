/* Strings from outside (paths, arguments, URLs) as JSON values, whatever bytes they are. */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include <jansson.h>

/* A new string (the caller's reference), or NULL without memory. Bytes that are no UTF-8 become U+FFFD each.
 */
json_t *base_json_text(const char *text);

#endif
