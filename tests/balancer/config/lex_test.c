/* Lines into words: quoting, escaping, comments, environment variables, and the columns of words and errors.
 */
#include "balancer/config/lex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct cfg_lexer lx;
static const struct cfg_lex_place place = {.file = "a.cfg", .section = "web", .line = 42};

static bool lex(const char *line)
{
    return cfg_lex(&lx, line, strlen(line), &place);
}

/* The words of line as "word|word|", each preceded by its column where columns is set. */
static const char *words(const char *line, bool columns)
{
    static char text[4096];
    size_t n = 0;

    if (!lex(line)) {
        fail_msg("%s: refused at %u: %s", line, lx.error_column, lx.error);
    }
    text[0] = '\0';
    for (size_t i = 0; i < lx.nwords; i++) {
        if (columns) {
            n += (size_t)snprintf(text + n, sizeof text - n, "%u:", lx.words[i].column);
        }
        n += (size_t)snprintf(text + n, sizeof text - n, "%s|", lx.words[i].s);
    }
    return text;
}

struct example {
    const char *line, *words;
};

static void check(const struct example *examples, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(words(examples[i].line, false), examples[i].words) != 0) {
            fail_msg("%s: expected %s, got %s", examples[i].line, examples[i].words,
                     words(examples[i].line, false));
        }
    }
}

#define CHECK(examples) check(examples, sizeof(examples) / sizeof *(examples))

static void blanks_separate_words_and_a_hash_outside_quotes_ends_the_line(void **state)
{
    static const struct example examples[] = {
        {"", ""},
        {" \t ", ""},
        {"# all comment", ""},
        {"a b\tc  d ", "a|b|c|d|"},
        {"a#b c", "a|"},
        {"a #b", "a|"},
        {"a \\#b", "a|#b|"},
        {"a '#b' \"#c\"#d", "a|#b|#c|"},
        {"caf\xc3\xa9", "caf\xc3\xa9|"},
    };

    (void)state;
    CHECK(examples);
}

static void quotes_protect_and_join(void **state)
{
    static const struct example examples[] = {
        {"'a b'", "a b|"},     {"\"a b\"", "a b|"},           {"a' 'b\" \"c", "a b c|"},
        {"\"it's\"", "it's|"}, {"'say \"x\"'", "say \"x\"|"}, {"'a\\nb\\'", "a\\nb\\|"},
        {"''", "|"},           {"a \"\" b", "a||b|"},         {"''''", "|"},
        {"'a''b'", "ab|"},     {"'$HOME'", "$HOME|"},
    };

    (void)state;
    CHECK(examples);
}

static void escapes_are_those_of_the_manual_and_other_backslashes_stay(void **state)
{
    static const struct example examples[] = {
        {"a\\ b", "a b|"},
        {"\\\\", "\\|"},
        {"\\'a\\\"", "'a\"|"},
        {"\"\\'\\\"\\\\\"", "'\"\\|"},
        {"a\\tb\\nc\\rd", "a\tb\nc\rd|"},
        {"\\x41\\x6a\\x6A", "Ajj|"},
        {"\"\\x20\"", " |"},
        {"\\d", "\\d|"},
        {"\\$", "\\$|"},
        {"\"\\$HOME\"", "$HOME|"},
        {"\"a\\ b\"", "a b|"},
    };

    (void)state;
    CHECK(examples);
}

static void variables_are_expanded_in_weak_quotes_only(void **state)
{
    static const struct example examples[] = {
        {"$V", "$V|"},
        {"${V}", "${V}|"},
        {"'$V'", "$V|"},
        {"\"$V\"", "one two|"},
        {"\"${V}\"", "one two|"},
        {"a\"$V\"b", "aone twob|"},
        {"\"$V.x\"", "one two.x|"},
        {"\"${V}x\"", "one twox|"},
        {"\"$UNSET\"", "|"},
        {"\"a$UNSET\" b", "a|b|"},
        {"\"$EMPTY\"", "|"},
        {"\"${UNSET-x y}\"", "x y|"},
        {"\"${UNSET-}\"", "|"},
        {"\"${EMPTY-x}\"", "|"},
        {"\"${V-x}\"", "one two|"},
        {"\"${UNSET-\"}\"", "\"|"},
        {"\"${V[*]}\"", "one|two|"},
        {"\"a${V[*]}b\"", "aone|twob|"},
        {"\"${PADDED[*]}\"", "x|y|"},
        {"\"${UNSET[*]}\"", "|"},
        {"\"${UNSET[*]-p q}\"", "p|q|"},
        {"\"$QUOTES\"", "\"'#\\n|"},
        {"\"${.FILE}:${.LINE}:${.SECTION}\"", "a.cfg:42:web|"},
        {"\"${.OTHER}\"", "|"},
    };

    (void)state;
    setenv("V", "one two", 1);
    setenv("EMPTY", "", 1);
    setenv("PADDED", "  x \t y  ", 1);
    setenv("QUOTES", "\"'#\\n", 1);
    unsetenv("UNSET");
    CHECK(examples);
}

static void a_word_that_variables_left_empty_is_told_from_an_empty_word(void **state)
{
    (void)state;
    unsetenv("UNSET");
    setenv("V", "v", 1);
    assert_string_equal(words("\"$UNSET\" \"\" \"$UNSET\"'' a\"$UNSET\" \"$V\"", false), "|||a|v|");
    assert_true(lx.words[0].expanded);
    assert_false(lx.words[1].expanded);
    assert_true(lx.words[2].expanded);
    assert_false(lx.words[3].expanded);
    assert_true(lx.words[4].expanded);
}

static void columns_are_those_of_the_line_as_written(void **state)
{
    (void)state;
    setenv("V", "one two", 1);
    assert_string_equal(words("a  'b'\tc\\ d \"${V[*]}\" e", true), "1:a|4:b|8:c d|13:one|14:two|23:e|");
    assert_string_equal(words("\\x41 b", true), "1:A|6:b|");
}

static void what_is_wrong_is_refused_at_its_column(void **state)
{
    static const struct {
        const char *line;
        unsigned column;
        const char *says;
    } cases[] = {
        {"a 'b", 3, "quote isn't closed"},
        {"a \"b", 3, "quote isn't closed"},
        {"a 'b' c\"", 8, "quote isn't closed"},
        {"a \\", 3, "can't be continued"},
        {"\"a \\", 4, "can't be continued"},
        {"a\\x4", 2, "two hexadecimal digits"},
        {"a\\xg0", 2, "two hexadecimal digits"},
        {"a\\x0g", 2, "two hexadecimal digits"},
        {"a\\x00", 2, "NUL"},
        {"\"$\"", 3, "variable's name"},
        {"\"$1\"", 3, "variable's name"},
        {"\"${}\"", 4, "variable's name"},
        {"\"$", 2, "variable's name"},
        {"\"${a\"", 3, "brace"},
        {"\"${a-b\"", 3, "brace"},
        {"\"${a b}\"", 3, "brace"},
        {"\"${a[x]}\"", 5, "[*]"},
        {"\"${a[", 5, "[*]"},
        {"a\x01", 2, "control byte"},
        {"# \x7f", 3, "control byte"},
        {"'\x1b[2J'", 2, "control byte"},
        {"a\rb", 2, "control byte"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (lex(cases[i].line) || lx.error_column != cases[i].column || !strstr(lx.error, cases[i].says)) {
            fail_msg("%s: expected '%s' at %u, got '%s' at %u", cases[i].line, cases[i].says, cases[i].column,
                     lx.error, lx.error_column);
        }
    }
    assert_false(cfg_lex(&lx, "a\0b", 3, &place));
    assert_int_equal(lx.error_column, 2);
}

static void reads_no_byte_beyond_the_line(void **state)
{
    static const char *const lines[] = {"a\\x41",  "a\\x4", "\"$V", "\"${V", "\"${V-",
                                        "\"${V[*", "a\\",   "'a",   "\"${"};

    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        for (size_t n = 0; n <= strlen(lines[i]); n++) {
            char *exact = malloc(n ? n : 1); /* the sanitizer watches its end */

            assert_non_null(exact);
            memcpy(exact, lines[i], n);
            cfg_lex(&lx, exact, n, &place);
            free(exact);
        }
    }
}

static void words_and_bytes_of_a_line_are_bounded(void **state)
{
    static char line[CFG_MAX_LINE + 2], value[CFG_MAX_LINE + 2];

    (void)state;
    for (size_t i = 0; i < CFG_MAX_WORDS; i++) {
        memcpy(line + 2 * i, "a ", 3);
    }
    assert_true(lex(line));
    assert_int_equal(lx.nwords, CFG_MAX_WORDS);
    memcpy(line + 2 * CFG_MAX_WORDS, "a", 2);
    assert_false(lex(line));
    assert_int_equal(lx.error_column, 2 * CFG_MAX_WORDS + 1);

    memset(line, 'x', CFG_MAX_LINE + 1);
    assert_true(cfg_lex(&lx, line, CFG_MAX_LINE, &place));
    assert_int_equal(strlen(lx.words[0].s), CFG_MAX_LINE);
    assert_false(cfg_lex(&lx, line, CFG_MAX_LINE + 1, &place));

    memset(value, 'x', CFG_MAX_LINE);
    setenv("BIG", value, 1);
    assert_true(lex("\"$BIG\""));
    assert_false(lex("a\"$BIG\""));
    assert_non_null(strstr(lx.error, "expanded"));
    memset(value, ' ', CFG_MAX_LINE);
    for (size_t i = 0; i < CFG_MAX_LINE; i += 2) {
        value[i] = 'x';
    }
    setenv("BIG", value, 1);
    assert_false(lex("\"${BIG[*]}\""));
    assert_non_null(strstr(lx.error, "too many words"));
    unsetenv("BIG");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blanks_separate_words_and_a_hash_outside_quotes_ends_the_line),
        cmocka_unit_test(quotes_protect_and_join),
        cmocka_unit_test(escapes_are_those_of_the_manual_and_other_backslashes_stay),
        cmocka_unit_test(variables_are_expanded_in_weak_quotes_only),
        cmocka_unit_test(a_word_that_variables_left_empty_is_told_from_an_empty_word),
        cmocka_unit_test(columns_are_those_of_the_line_as_written),
        cmocka_unit_test(what_is_wrong_is_refused_at_its_column),
        cmocka_unit_test(reads_no_byte_beyond_the_line),
        cmocka_unit_test(words_and_bytes_of_a_line_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
