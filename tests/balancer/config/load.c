#include "load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct loaded load_bytes(const char *text, size_t len)
{
    struct loaded l = {0};
    size_t size;
    FILE *err = open_memstream(&l.said, &size);

    assert_non_null(err);
    l.cfg = cfg_load_buffer("f", text, len, err);
    fclose(err);
    return l;
}

struct loaded load_text(const char *text)
{
    return load_bytes(text, strlen(text));
}

struct loaded load_files(const char *const *files, size_t nfiles)
{
    struct loaded l = {0};
    size_t size;
    FILE *err = open_memstream(&l.said, &size);

    assert_non_null(err);
    l.cfg = cfg_load(files, nfiles, err);
    fclose(err);
    return l;
}

void loaded_free(struct loaded *l)
{
    cfg_free(l->cfg);
    free(l->said);
}

struct cfg *load_good(const char *text)
{
    struct loaded l = load_text(text);
    struct cfg *c = l.cfg;

    if (!c || *l.said) {
        fail_msg("expected no word about:\n%s\ngot:\n%s", text, l.said);
    }
    l.cfg = NULL;
    loaded_free(&l);
    return c;
}

static void assert_line(const char *text, const char *said, const char *level, unsigned line, unsigned column,
                        const char *says)
{
    char start[64];

    if (line) {
        snprintf(start, sizeof start, "%-10s config: f:%u:%u: ", level, line, column);
    } else {
        snprintf(start, sizeof start, "%-10s config: f: ", level);
    }
    if (strncmp(said, start, strlen(start)) != 0 || !strstr(said, says) ||
        strchr(said, '\n') != strrchr(said, '\n')) {
        fail_msg("expected one line '%s...%s...' about:\n%s\ngot:\n%s", start, says, text, said);
    }
}

void assert_refused(const char *text, unsigned line, unsigned column, const char *says)
{
    struct loaded l = load_text(text);

    assert_line(text, l.said, "[ALERT]", line, column, says);
    assert_null(l.cfg);
    loaded_free(&l);
}

void assert_warned(const char *text, unsigned line, unsigned column, const char *says)
{
    struct loaded l = load_text(text);

    assert_line(text, l.said, "[WARNING]", line, column, says);
    assert_non_null(l.cfg);
    assert_int_equal(l.cfg->nwarnings, 1);
    loaded_free(&l);
}
