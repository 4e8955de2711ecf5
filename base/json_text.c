#include "base/json_text.h"

#include <stdlib.h>
#include <string.h>

/* The length of the UTF-8 character that begins here; 0: none does. Jansson decides. */
static size_t character(const char *text)
{
    for (size_t len = 1; len <= 4 && text[len - 1]; len++) {
        json_t *one = json_stringn(text, len);
        if (one) {
            json_decref(one);
            return len;
        }
    }
    return 0;
}

json_t *base_json_text(const char *text)
{
    static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */
    json_t *value = json_string(text);
    char *valid, *end;

    if (value) {
        return value;
    }
    valid = malloc(strlen(text) * (sizeof replacement - 1) + 1);
    if (!valid) {
        return NULL;
    }
    end = valid;
    while (*text) {
        size_t len = character(text);

        memcpy(end, len ? text : replacement, len ? len : sizeof replacement - 1);
        end += len ? len : sizeof replacement - 1;
        text += len ? len : 1;
    }
    *end = 0;
    value = json_string(valid);
    free(valid);
    return value;
}
