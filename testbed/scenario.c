/* Reads scenarios: `key = value`, a line each; `#` starts a comment. Every key is one row of a table. */
#include "testbed/scenario.h"

#include "testbed/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_SIZE       1280
#define MAX_US_DAY      86400000000
#define MAX_CONNECTIONS 1000000

/* One line under the reader. */
struct line {
    const char *file;
    unsigned number;
    size_t key_column, value_column; /* from 1 */
    char *key, *value;
    char text[LINE_SIZE];
    struct tb_error *err;
};

__attribute__((format(printf, 3, 4))) static int refuse(const struct line *l, size_t column,
                                                        const char *format, ...)
{
    char what[512];
    va_list ap;

    va_start(ap, format);
    vsnprintf(what, sizeof what, format, ap);
    va_end(ap);
    return tb_misuse(l->err, "%s:%u:%zu: %s", l->file, l->number, column, what);
}

static size_t column_of(const struct line *l, const char *word)
{
    return (size_t)(word - l->text) + 1;
}

/* Sets a number from text, which is the line's value or the end of it. */
static int set_number(const struct line *l, const char *text, unsigned low, unsigned high, unsigned *out)
{
    uint64_t n;

    if (!tb_parse_number(text, low, high, &n)) {
        return refuse(l, column_of(l, text), "%s: expected a number from %u to %u, where '%s' stands", l->key,
                      low, high, text);
    }
    *out = (unsigned)n;
    return 0;
}

static int set_duration(const struct line *l, int64_t low, int64_t high, int64_t *out)
{
    if (!tb_parse_duration(l->value, low, high, out)) {
        char from[32], to[32];

        return refuse(l, l->value_column,
                      "%s: expected a duration such as 250us, 1ms or 2s, from %s to %s, where '%s' stands",
                      l->key, tb_format_duration(from, sizeof from, low),
                      tb_format_duration(to, sizeof to, high), l->value);
    }
    return 0;
}

/* The next word of a value, cut off and terminated; NULL at its end. */
static char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t");
    size_t len = strcspn(word, " \t");

    if (!len) {
        return NULL;
    }
    *rest = word + len;
    if (**rest) {
        *(*rest)++ = 0;
    }
    return word;
}

static bool plain_name(const char *name)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");

    return len > 0 && len < 16 && !name[len] && name[0] != '-' && name[0] != '.';
}

static int set_title(struct line *l, struct tb_scenario *s)
{
    if (strlen(l->value) >= sizeof s->title) {
        return refuse(l, l->value_column, "the title is too long: expected at most %zu bytes",
                      sizeof s->title - 1);
    }
    snprintf(s->title, sizeof s->title, "%s", l->value);
    return 0;
}

static int set_threads(struct line *l, struct tb_scenario *s)
{
    char *rest = l->value, *word;

    while ((word = next_word(&rest))) {
        uint64_t n;

        if (!tb_parse_number(word, 1, 4096, &n)) {
            return refuse(l, column_of(l, word), "'%s': expected numbers of threads from 1 to 4096", word);
        }
        if (s->n_threads == TB_MAX_THREAD_COUNTS) {
            return refuse(l, column_of(l, word), "more than %d numbers of threads", TB_MAX_THREAD_COUNTS);
        }
        for (size_t i = 0; i < s->n_threads; i++) {
            if (s->threads[i] == n) {
                return refuse(l, column_of(l, word), "%s threads stand here twice", word);
            }
        }
        s->threads[s->n_threads++] = (unsigned)n;
    }
    return 0;
}

static int set_side(struct line *l, struct tb_scenario *s)
{
    char *rest = l->value, *name = next_word(&rest), *binary = rest + strspn(rest, " \t");
    struct tb_side *side = &s->sides[s->n_sides];

    if (!*binary) {
        return refuse(l, l->value_column, "'%s': expected `side = NAME PROGRAM`", name);
    }
    if (!plain_name(name)) {
        return refuse(l, column_of(l, name),
                      "side '%s': expected a name of 1 to 15 letters, digits, '-', '_', '.'", name);
    }
    if (tb_scenario_side(s, name) < s->n_sides) {
        return refuse(l, column_of(l, name), "there is a side '%s' already", name);
    }
    if (s->n_sides == TB_MAX_SIDES) {
        return refuse(l, l->value_column, "more than %d sides", TB_MAX_SIDES);
    }
    if (strlen(binary) >= sizeof side->binary) {
        return refuse(l, column_of(l, binary), "the program's path is too long: at most %zu bytes",
                      sizeof side->binary - 1);
    }
    snprintf(side->name, sizeof side->name, "%s", name);
    snprintf(side->binary, sizeof side->binary, "%s", binary);
    s->n_sides++;
    return 0;
}

/* The side that a `side.KEY = NAME VALUE` is about, *value set to the rest; NULL after an error. */
static struct tb_side *one_side(const struct line *l, struct tb_scenario *s, char **value)
{
    char *rest = l->value, *name = next_word(&rest);
    size_t i = tb_scenario_side(s, name);

    *value = rest + strspn(rest, " \t");
    if (!**value) {
        refuse(l, l->value_column, "%s: expected a side and a number where '%s' stands", l->key, name);
        return NULL;
    }
    if (i == s->n_sides) {
        refuse(l, column_of(l, name), "no side '%s' stands above this line", name);
        return NULL;
    }
    return &s->sides[i];
}

static int set_side_connections(struct line *l, struct tb_scenario *s)
{
    char *value;
    struct tb_side *side = one_side(l, s, &value);

    if (!side) {
        return -1;
    }
    if (side->own_connections) {
        return refuse(l, l->key_column, "side '%s' has its number of connections already", side->name);
    }
    side->own_connections = true;
    return set_number(l, value, 1, MAX_CONNECTIONS, &side->connections);
}

static int set_side_maxconn(struct line *l, struct tb_scenario *s)
{
    char *value;
    struct tb_side *side = one_side(l, s, &value);

    if (!side) {
        return -1;
    }
    if (side->own_maxconn) {
        return refuse(l, l->key_column, "side '%s' has its maxconn already", side->name);
    }
    side->own_maxconn = true;
    return set_number(l, value, 0, MAX_CONNECTIONS, &side->server_maxconn);
}

static int set_compare(struct line *l, struct tb_scenario *s)
{
    char *rest = l->value, *word;

    while ((word = next_word(&rest))) {
        size_t column = column_of(l, word);
        char *slash = strchr(word, '/');
        struct tb_pair pair;

        if (!slash) {
            return refuse(l, column, "'%s': expected SIDE/SIDE", word);
        }
        *slash = 0;
        pair = (struct tb_pair){tb_scenario_side(s, word), tb_scenario_side(s, slash + 1)};
        if (pair.of == s->n_sides || pair.against == s->n_sides) {
            return refuse(l, column, "no side '%s' stands above this line",
                          pair.of == s->n_sides ? word : slash + 1);
        }
        if (pair.of == pair.against) {
            return refuse(l, column, "'%s' is compared with itself", word);
        }
        if (s->n_pairs == TB_MAX_PAIRS) {
            return refuse(l, column, "more than %d comparisons", TB_MAX_PAIRS);
        }
        s->pairs[s->n_pairs++] = pair;
    }
    return 0;
}

static int set_connections(struct line *l, struct tb_scenario *s)
{
    return set_number(l, l->value, 1, MAX_CONNECTIONS, &s->connections);
}

static int set_driver_threads(struct line *l, struct tb_scenario *s)
{
    return set_number(l, l->value, 1, 4096, &s->driver_threads);
}

static int set_driver_rate(struct line *l, struct tb_scenario *s)
{
    return set_number(l, l->value, 1, 100000000, &s->driver_rate);
}

static int set_driver_timeout(struct line *l, struct tb_scenario *s)
{
    return set_duration(l, 1000, MAX_US_DAY, &s->driver_timeout_us);
}

static int set_endpoints(struct line *l, struct tb_scenario *s)
{
    return set_number(l, l->value, 1, TB_MAX_ENDPOINTS, &s->endpoints);
}

static int set_endpoint_delay(struct line *l, struct tb_scenario *s)
{
    return set_duration(l, 0, 60000000, &s->endpoint_delay_us);
}

static int set_endpoint_bytes(struct line *l, struct tb_scenario *s)
{
    return set_number(l, l->value, 1, 1u << 30, &s->endpoint_bytes);
}

static int set_server_maxconn(struct line *l, struct tb_scenario *s)
{
    return set_number(l, l->value, 1, MAX_CONNECTIONS, &s->server_maxconn);
}

static const struct key {
    const char *name;
    int (*set)(struct line *l, struct tb_scenario *s);
    bool needed, repeatable;
} keys[] = {
    {"title", set_title, true, false},
    {"threads", set_threads, true, false},
    {"connections", set_connections, true, false},
    {"driver.threads", set_driver_threads, false, false},
    {"driver.rate", set_driver_rate, false, false},
    {"driver.timeout", set_driver_timeout, false, false},
    {"endpoints", set_endpoints, true, false},
    {"endpoint.delay", set_endpoint_delay, false, false},
    {"endpoint.bytes", set_endpoint_bytes, false, false},
    {"server.maxconn", set_server_maxconn, false, false},
    {"side", set_side, true, true},
    {"side.connections", set_side_connections, false, true},
    {"side.maxconn", set_side_maxconn, false, true},
    {"compare", set_compare, false, true},
};

#define N_KEYS (sizeof keys / sizeof *keys)

size_t tb_scenario_side(const struct tb_scenario *s, const char *name)
{
    size_t i = 0;

    while (i < s->n_sides && strcmp(s->sides[i].name, name) != 0) {
        i++;
    }
    return i;
}

static int refuse_key(const struct line *l)
{
    char list[300] = "";

    for (size_t i = 0; i < N_KEYS; i++) {
        size_t used = strlen(list);

        snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", keys[i].name);
    }
    return refuse(l, l->key_column, "unknown key '%s': expected one of %s", l->key, list);
}

/* Splits l->text into key and value; the key is NULL on an empty line. */
static int split(struct line *l)
{
    char *text = l->text, *equals, *end;

    l->key = text + strspn(text, " \t");
    l->key_column = column_of(l, l->key);
    l->value = NULL;
    if (!*l->key || *l->key == '#') {
        l->key = NULL;
        return 0;
    }
    equals = strchr(l->key, '=');
    if (!equals) {
        return refuse(l, l->key_column, "expected `key = value`");
    }
    for (end = equals; end > l->key && isblank((unsigned char)end[-1]); end--) {
    }
    *equals = 0;
    *end = 0;
    l->value = equals + 1 + strspn(equals + 1, " \t");
    l->value_column = column_of(l, l->value);
    for (end = l->value + strlen(l->value); end > l->value && isblank((unsigned char)end[-1]); end--) {
    }
    *end = 0;
    if (!*l->value) {
        return refuse(l, l->value_column, "'%s' has no value", l->key);
    }
    return 0;
}

/* Copies the next line from *text, without its end; false at the end of the text. */
static int take_line(const char **text, const char *end, struct line *l)
{
    const char *stop = memchr(*text, '\n', (size_t)(end - *text));
    size_t len = (size_t)((stop ? stop : end) - *text);

    l->number++;
    if (len >= sizeof l->text) {
        return refuse(l, 1, "the line is longer than %zu bytes", sizeof l->text - 1);
    }
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)(*text)[i];

        if ((c < ' ' && c != '\t') || c == 0x7f) {
            return refuse(l, i + 1, "control character 0x%02x: a scenario is plain text", c);
        }
    }
    memcpy(l->text, *text, len);
    l->text[len] = 0;
    *text = stop ? stop + 1 : end;
    return 0;
}

static int read_line(struct line *l, struct tb_scenario *s, unsigned seen[N_KEYS])
{
    size_t k = 0;

    if (split(l) < 0) {
        return -1;
    }
    if (!l->key) {
        return 0;
    }
    while (k < N_KEYS && strcmp(keys[k].name, l->key) != 0) {
        k++;
    }
    if (k == N_KEYS) {
        return refuse_key(l);
    }
    if (seen[k] && !keys[k].repeatable) {
        return refuse(l, l->key_column, "'%s' stands on line %u already", l->key, seen[k]);
    }
    seen[k] = l->number;
    return keys[k].set(l, s);
}

static int set_name(const char *file, struct tb_scenario *s, struct tb_error *err)
{
    const char *base = strrchr(file, '/');
    size_t len;

    base = base ? base + 1 : file;
    len = strlen(base);
    if (len > 4 && !strcmp(base + len - 4, ".cfg")) {
        len -= 4;
    }
    if (len >= sizeof s->name) {
        return tb_misuse(err, "%s: the name is too long: expected at most %zu bytes before .cfg", file,
                         sizeof s->name - 1);
    }
    memcpy(s->name, base, len);
    s->name[len] = 0;
    return 0;
}

/* Without `compare`: the second side against each of the others. */
static void default_pairs(struct tb_scenario *s)
{
    if (s->n_pairs) {
        return;
    }
    for (size_t i = 0; i < s->n_sides; i++) {
        if (i != 1) {
            s->pairs[s->n_pairs++] = (struct tb_pair){1, i};
        }
    }
}

static int complete(struct tb_scenario *s, const unsigned seen[N_KEYS], const char *file,
                    struct tb_error *err)
{
    for (size_t k = 0; k < N_KEYS; k++) {
        if (keys[k].needed && !seen[k]) {
            return tb_misuse(err, "%s: no line sets '%s'", file, keys[k].name);
        }
    }
    if (s->n_sides < 2) {
        return tb_misuse(err, "%s: one side only: expected two to compare", file);
    }
    for (size_t i = 0; i < s->n_sides; i++) {
        struct tb_side *side = &s->sides[i];

        side->connections = side->own_connections ? side->connections : s->connections;
        side->server_maxconn = side->own_maxconn ? side->server_maxconn : s->server_maxconn;
        if (side->connections < s->driver_threads) {
            return tb_misuse(
                err, "%s: %u connections of side '%s' for %u driver threads: expected one a thread at least",
                file, side->connections, side->name, s->driver_threads);
        }
    }
    default_pairs(s);
    return 0;
}

int tb_scenario_parse(const char *text, size_t len, const char *file, struct tb_scenario *out,
                      struct tb_error *err)
{
    struct line l = {.file = file, .err = err};
    const char *end = text + len;
    unsigned seen[N_KEYS] = {0};

    *out = (struct tb_scenario){.driver_threads = 1};
    if (set_name(file, out, err) < 0) {
        return -1;
    }
    while (text < end) {
        if (take_line(&text, end, &l) < 0 || read_line(&l, out, seen) < 0) {
            return -1;
        }
    }
    return complete(out, seen, file, err);
}

int tb_scenario_read(const char *path, struct tb_scenario *out, struct tb_error *err)
{
    char *text = malloc(TB_SCENARIO_BYTES + 1);
    FILE *f = fopen(path, "re");
    size_t len = 0;
    int rc = -1;

    if (!text || !f) {
        tb_misuse(err, "scenario %s: %s; `--list` names those there are", path, strerror(errno));
        goto end;
    }
    len = fread(text, 1, TB_SCENARIO_BYTES + 1, f);
    if (ferror(f)) {
        tb_misuse(err, "scenario %s: %s", path, strerror(errno));
    } else if (len > TB_SCENARIO_BYTES) {
        tb_misuse(err, "scenario %s: longer than %d bytes", path, TB_SCENARIO_BYTES);
    } else {
        rc = tb_scenario_parse(text, len, path, out, err);
    }
end:
    if (f) {
        fclose(f);
    }
    free(text);
    return rc;
}
