/* Strings of any bytes as JSON. */
#include "base/json_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void becomes(const char *text, const char *expected)
{
    json_t *value = base_json_text(text);
    char *dumped;

    assert_non_null(value);
    assert_string_equal(json_string_value(value), expected);
    dumped = json_dumps(value, JSON_ENCODE_ANY);
    assert_non_null(dumped);
    free(dumped);
    json_decref(value);
}

static void what_is_utf_8_stays(void **state)
{
    (void)state;
    becomes("", "");
    becomes("/usr/bin/nginx -c \"a b\"\n\x01", "/usr/bin/nginx -c \"a b\"\n\x01");
    becomes("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x94\x92", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x94\x92");
}

/* A path in Latin-1; characters cut short; a surrogate; more bytes than needed; above the last character. */
static void each_byte_that_is_no_utf_8_is_replaced(void **state)
{
    (void)state;
#define BAD "\xef\xbf\xbd"
    becomes("/srv/caf\xe9/x", "/srv/caf" BAD "/x");
    becomes("\xc3\xa4\xff\xc3\xa4", "\xc3\xa4" BAD "\xc3\xa4");
    becomes("a\xe2\x82", "a" BAD BAD);
    becomes("\xed\xa0\x80.", BAD BAD BAD ".");
    becomes("\xc0\xaf\xf5\x80\x80\x80", BAD BAD BAD BAD BAD BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_utf_8_stays),
        cmocka_unit_test(each_byte_that_is_no_utf_8_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
