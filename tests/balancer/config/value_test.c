/* Numbers, times, and the nearest word. */
#include "balancer/config/suggest.h"
#include "balancer/config/value.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void numbers_are_digits_within_their_range(void **state)
{
    static const struct {
        const char *text;
        long min, max, value;
        enum cfg_value_result result;
    } cases[] = {
        {"0", 0, 10, 0, CFG_VALUE_OK},
        {"10", 0, 10, 10, CFG_VALUE_OK},
        {"007", 0, 10, 7, CFG_VALUE_OK},
        {"2147483647", 0, CFG_MAX_NUMBER, 2147483647, CFG_VALUE_OK},
        {"11", 0, 10, 0, CFG_VALUE_RANGE},
        {"0", 1, 10, 0, CFG_VALUE_RANGE},
        {"2147483648", 0, CFG_MAX_NUMBER, 0, CFG_VALUE_RANGE},
        {"18446744073709551616", 0, CFG_MAX_NUMBER, 0, CFG_VALUE_RANGE},
        {"99999999999999999999999999999999999999999", 0, CFG_MAX_NUMBER, 0, CFG_VALUE_RANGE},
        {"", 0, 10, 0, CFG_VALUE_SYNTAX},
        {"-1", 0, 10, 0, CFG_VALUE_SYNTAX},
        {"+1", 0, 10, 0, CFG_VALUE_SYNTAX},
        {" 1", 0, 10, 0, CFG_VALUE_SYNTAX},
        {"1 ", 0, 10, 0, CFG_VALUE_SYNTAX},
        {"1.5", 0, 10, 0, CFG_VALUE_SYNTAX},
        {"1k", 0, 10, 0, CFG_VALUE_SYNTAX},
        {"0x1", 0, 10, 0, CFG_VALUE_SYNTAX},
        {"abc", 0, 10, 0, CFG_VALUE_SYNTAX},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        long value = -7;

        if (cfg_number(cases[i].text, cases[i].min, cases[i].max, &value) != cases[i].result ||
            value != (cases[i].result == CFG_VALUE_OK ? cases[i].value : -7)) {
            fail_msg("'%s': %ld", cases[i].text, value);
        }
    }
}

static void times_have_the_units_of_the_language_and_round_up(void **state)
{
    static const struct {
        const char *text;
        long ms;
        enum cfg_value_result result;
    } cases[] = {
        {"0", 0, CFG_VALUE_OK},
        {"250", 250, CFG_VALUE_OK},
        {"250ms", 250, CFG_VALUE_OK},
        {"5s", 5000, CFG_VALUE_OK},
        {"2m", 120000, CFG_VALUE_OK},
        {"3h", 10800000, CFG_VALUE_OK},
        {"1d", 86400000, CFG_VALUE_OK},
        {"0us", 0, CFG_VALUE_OK},
        {"1us", 1, CFG_VALUE_OK},
        {"1000us", 1, CFG_VALUE_OK},
        {"1001us", 2, CFG_VALUE_OK},
        {"2147483647", 2147483647, CFG_VALUE_OK},
        {"2147483647000us", 2147483647, CFG_VALUE_OK},
        {"2147483s", 2147483000, CFG_VALUE_OK},
        {"24d", 2073600000, CFG_VALUE_OK},
        {"2147483648", 0, CFG_VALUE_RANGE},
        {"2147483647001us", 0, CFG_VALUE_RANGE},
        {"2147484s", 0, CFG_VALUE_RANGE},
        {"25d", 0, CFG_VALUE_RANGE},
        {"213503982334602d", 0, CFG_VALUE_RANGE},
        {"99999999999999999999999999s", 0, CFG_VALUE_RANGE},
        {"", 0, CFG_VALUE_SYNTAX},
        {"s", 0, CFG_VALUE_SYNTAX},
        {"-1", 0, CFG_VALUE_SYNTAX},
        {"1.5s", 0, CFG_VALUE_SYNTAX},
        {"5x", 0, CFG_VALUE_SYNTAX},
        {"5S", 0, CFG_VALUE_SYNTAX},
        {"5 s", 0, CFG_VALUE_SYNTAX},
        {"5ss", 0, CFG_VALUE_SYNTAX},
        {"5mss", 0, CFG_VALUE_SYNTAX},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        long ms = -7;

        if (cfg_time(cases[i].text, &ms) != cases[i].result ||
            ms != (cases[i].result == CFG_VALUE_OK ? cases[i].ms : -7)) {
            fail_msg("'%s': %ld", cases[i].text, ms);
        }
    }
}

static const char *nearest(const char *word)
{
    static const char *const known[] = {"maxconn",         "mode",           "server",
                                        "default_backend", "default-server", "bind"};
    struct cfg_suggestion s = {0};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        cfg_suggest(&s, word, known[i]);
    }
    return s.word ? s.word : "";
}

static void slips_of_the_keyboard_find_their_word(void **state)
{
    (void)state;
    assert_string_equal(nearest("maxcon"), "maxconn");
    assert_string_equal(nearest("maxxconn"), "maxconn");
    assert_string_equal(nearest("amxconn"), "maxconn");
    assert_string_equal(nearest("maxocnn"), "maxconn");
    assert_string_equal(nearest("MAXCONN"), "maxconn");
    assert_string_equal(nearest("sever"), "server");
    assert_string_equal(nearest("default-backend"), "default_backend");
    assert_string_equal(nearest("bnid"), "bind");
}

static void words_that_have_nothing_in_common_are_not_suggested(void **state)
{
    (void)state;
    assert_string_equal(nearest(""), "");
    assert_string_equal(nearest("x"), "");
    assert_string_equal(nearest("acl"), "");
    assert_string_equal(nearest("use_backend"), "");
    assert_string_equal(nearest("stats"), "");
    assert_string_equal(nearest("maxconnmaxconnmaxconnmaxconnmaxconnmaxconnmaxconnmaxconn"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_digits_within_their_range),
        cmocka_unit_test(times_have_the_units_of_the_language_and_round_up),
        cmocka_unit_test(slips_of_the_keyboard_find_their_word),
        cmocka_unit_test(words_that_have_nothing_in_common_are_not_suggested),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
