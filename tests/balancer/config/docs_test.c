/* docs/configuration.md describes every keyword of the table, in its order and in its words, and its examples
 * work. */
#include "balancer/config/keywords.h"
#include "load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *manual; /* the whole file */
static const char *path;

static int read_manual(void **state)
{
    FILE *f = fopen(path, "r");
    size_t n;

    (void)state;
    if (!f || !(manual = calloc(1, 1 << 20))) {
        return -1;
    }
    n = fread(manual, 1, (1 << 20) - 1, f);
    fclose(f);
    return n ? 0 : -1;
}

static int free_manual(void **state)
{
    (void)state;
    free(manual);
    return 0;
}

/* The text of the next "### `name`" entry after *at, up to the next heading; NULL: no more. */
static char *next_entry(const char **at, char *name, size_t size)
{
    const char *head = strstr(*at, "\n### `"), *end, *close;

    if (!head) {
        return NULL;
    }
    head += strlen("\n### `");
    close = strchr(head, '`');
    assert_non_null(close);
    snprintf(name, size, "%.*s", (int)(close - head), head);
    end = strstr(close, "\n## ");
    if (strstr(close, "\n### ") && (!end || strstr(close, "\n### ") < end)) {
        end = strstr(close, "\n### ");
    }
    *at = end ? end : close + strlen(close);
    return strndup(close, (size_t)(*at - close));
}

static void assert_has(const char *entry, const char *name, const char *before, const char *value,
                       const char *after)
{
    char wanted[512];

    snprintf(wanted, sizeof wanted, "%s%s%s", before, value, after);
    if (!strstr(entry, wanted)) {
        fail_msg("%s: '%s': expected '%s'", path, name, wanted);
    }
}

static void every_keyword_is_documented_with_syntax_default_place_and_example(void **state)
{
    const char *at = manual;
    char name[128], *entry;
    size_t i = 0;

    (void)state;
    for (; (entry = next_entry(&at, name, sizeof name)); i++) {
        if (i == cfg_nkeywords) {
            fail_msg("%s: '%s' is documented but not known", path, name);
        }
        assert_string_equal(name, cfg_keywords[i].name);
        assert_has(entry, name, "\n- Syntax: `", cfg_keywords[i].syntax, "`\n");
        assert_has(entry, name, "\n- May stand in: ", cfg_list_sections(cfg_keywords[i].allowed).s, "\n");
        assert_has(entry, name, "\n- Default: ", "", "");
        assert_has(entry, name, "\n```haproxy\n", "", "");
        assert_non_null(strstr(strstr(entry, "```haproxy"), strrchr(cfg_keywords[i].name, ' ')
                                                                ? strrchr(cfg_keywords[i].name, ' ') + 1
                                                                : cfg_keywords[i].name));
        free(entry);
    }
    assert_int_equal(i, cfg_nkeywords);
}

static void every_section_and_server_parameter_is_documented(void **state)
{
    (void)state;
    for (size_t i = 0; i < cfg_nsection_types; i++) {
        assert_has(manual, "Sections", "\n| `", cfg_section_types[i].syntax, "` |");
    }
    for (size_t i = 0; i < cfg_nserver_params; i++) {
        assert_has(strstr(manual, "\n### `server`"), "server", "[", cfg_server_params[i].syntax, "]");
    }
}

static void every_example_of_the_manual_is_accepted(void **state)
{
    static const char fence[] = "\n```haproxy\n";
    const char *at = manual;
    size_t n = 0;

    (void)state;
    unsetenv("LISTENER");
    for (; (at = strstr(at, fence)); n++) {
        const char *end = strstr(at += sizeof fence - 1, "\n```");
        struct loaded l;

        assert_non_null(end);
        l = load_bytes(at, (size_t)(end + 1 - at));
        if (!l.cfg) {
            fail_msg("%.*s\n%s", (int)(end - at), at, l.said);
        }
        loaded_free(&l);
    }
    assert_true(n > cfg_nkeywords);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_keyword_is_documented_with_syntax_default_place_and_example),
        cmocka_unit_test(every_section_and_server_parameter_is_documented),
        cmocka_unit_test(every_example_of_the_manual_is_accepted),
    };

    if (argc != 2) {
        fputs("usage: docs_test docs/configuration.md\n", stderr);
        return 2;
    }
    path = argv[1];
    return cmocka_run_group_tests(tests, read_manual, free_manual);
}
