/* Cuts a file into lines, finds each line's keyword in the table, checks what holds for all keywords
 * (section, number of arguments, empty words) and calls its handler. */
#include "balancer/config/parse.h"

#include "balancer/config/suggest.h"

#include <string.h>

static const struct cfg_section_type *find_section(const char *name)
{
    for (size_t i = 0; i < cfg_nsection_types; i++) {
        if (!strcmp(cfg_section_types[i].name, name)) {
            return &cfg_section_types[i];
        }
    }
    return NULL;
}

/* Sections of HAProxy's that aren't known here: told by their name, so that their lines aren't taken for
 * errors. */
static bool is_foreign_section(const char *name)
{
    static const char *const names[] = {"cache", "fcgi-app", "http-errors", "log-forward", "mailers",
                                        "peers", "program",  "resolvers",   "ring",        "userlist"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strcmp(names[i], name)) {
            return true;
        }
    }
    return false;
}

static bool first_word_is(const struct cfg_keyword *k, const char *word)
{
    size_t n = strlen(word);

    return n && !strncmp(k->name, word, n) && (!k->name[n] || k->name[n] == ' ');
}

/* The row of a keyword; of the rows of one name, the one that may stand in this section or is ignored there.
 * *two tells whether its name takes two words. NULL: not known; *prefix then tells whether the first word is.
 */
static const struct cfg_keyword *find_keyword(unsigned kind, const struct cfg_word *words, size_t nwords,
                                              bool *two, bool *prefix)
{
    const struct cfg_keyword *found = NULL;

    *two = *prefix = false;
    for (size_t i = 0; i < cfg_nkeywords; i++) {
        const struct cfg_keyword *k = &cfg_keywords[i];
        const char *second = strchr(k->name, ' ');

        if (!first_word_is(k, words[0].s)) {
            continue;
        }
        *prefix = second != NULL;
        if (second && (nwords < 2 || strcmp(second + 1, words[1].s) != 0)) {
            continue;
        }
        *two = second != NULL;
        if (!found || k->allowed & kind || (k->ignored & kind && !(found->allowed & kind))) {
            found = k;
        }
    }
    return found;
}

/* "; did you mean 'x'?" or just the semicolon. */
static struct cfg_list hint(const struct cfg_suggestion *near)
{
    struct cfg_list list = {";"};

    if (near->word) {
        snprintf(list.s, sizeof list.s, "; did you mean '%s'?", near->word);
    }
    return list;
}

/* The first word is no keyword. Where it is nearly a section's name, what follows belongs to that section. */
static void unknown_keyword(struct cfg_parser *p, const struct cfg_word *words, size_t nwords)
{
    struct cfg_suggestion near = {0};
    const struct cfg_section_type *type;

    for (size_t i = 0; i < cfg_nkeywords; i++) {
        if (!strchr(cfg_keywords[i].name, ' ')) {
            cfg_suggest(&near, words[0].s, cfg_keywords[i].name);
        }
    }
    cfg_suggest(&near, words[0].s, "timeout");
    cfg_suggest(&near, words[0].s, "option");
    for (size_t i = 0; i < cfg_nsection_types; i++) {
        cfg_suggest(&near, words[0].s, cfg_section_types[i].name);
    }
    if (p->kind) {
        cfg_word_alert(p, &words[0],
                       "unknown keyword '%s' in a %s section%s expected one of: %s; or a section: %s",
                       cfg_show(words[0].s).s, cfg_kind_name(p->kind), hint(&near).s,
                       cfg_list_keywords(p->kind, NULL).s, cfg_list_sections(~0u).s);
    } else {
        cfg_word_alert(p, &words[0], "unknown keyword '%s' before any section%s expected a section: %s",
                       cfg_show(words[0].s).s, hint(&near).s, cfg_list_sections(~0u).s);
    }
    type = near.word ? find_section(near.word) : NULL;
    if (type) {
        cfg_start_section(p, type, words, nwords);
    }
}

/* The first word is that of "option x" or "timeout x", the second isn't. */
static void unknown_second(struct cfg_parser *p, const struct cfg_word *words, size_t nwords)
{
    struct cfg_suggestion near = {0};

    if (nwords < 2) {
        cfg_word_alert(p, &words[0], "'%s' needs a word behind it; expected one of: %s", words[0].s,
                       cfg_list_keywords(p->kind, words[0].s).s);
        return;
    }
    for (size_t i = 0; i < cfg_nkeywords; i++) {
        if (first_word_is(&cfg_keywords[i], words[0].s)) {
            cfg_suggest(&near, words[1].s, strchr(cfg_keywords[i].name, ' ') + 1);
        }
    }
    cfg_word_alert(p, &words[1], "unknown keyword '%s %s'%s expected one of: %s", words[0].s,
                   cfg_show(words[1].s).s, hint(&near).s, cfg_list_keywords(p->kind, words[0].s).s);
}

/* All sections that a keyword may stand in, whatever it means there. */
static unsigned places(const struct cfg_keyword *k)
{
    unsigned kinds = 0;

    for (size_t i = 0; i < cfg_nkeywords; i++) {
        kinds |= strcmp(cfg_keywords[i].name, k->name) ? 0 : cfg_keywords[i].allowed;
    }
    return kinds;
}

/* The keyword may stand in the section being read; else says where it may, and that it is passed over. */
static bool check_place(struct cfg_parser *p, const struct cfg_keyword *k, const struct cfg_word *word)
{
    if (k->allowed & p->kind) {
        return true;
    }
    if (k->ignored & p->kind) {
        cfg_word_warn(p, word, "'%s' has no effect in a %s section and is ignored; it may stand in: %s",
                      k->name, cfg_kind_name(p->kind), cfg_list_sections(places(k)).s);
    } else if (p->kind) {
        cfg_word_alert(p, word, "'%s' can't stand in a %s section; it may stand in: %s", k->name,
                       cfg_kind_name(p->kind), cfg_list_sections(places(k)).s);
    } else {
        cfg_word_alert(p, word, "'%s' before any section; it may stand in: %s", k->name,
                       cfg_list_sections(places(k)).s);
    }
    return false;
}

/* Drops option words that unset variables left empty; any other empty word is an error. */
static bool drop_empty(struct cfg_parser *p, const struct cfg_keyword *k, struct cfg_word *args,
                       size_t *nargs)
{
    size_t kept = 0;

    for (size_t i = 0; i < *nargs; i++) {
        if (*args[i].s) {
            args[kept++] = args[i];
        } else if (!args[i].expanded) {
            cfg_word_alert(p, &args[i], "an empty word behind '%s'; expected: %s", k->name, k->syntax);
            return false;
        } else if (!k->options || i + 1 < k->options) {
            cfg_word_alert(p, &args[i],
                           "this word is empty: a variable in it is unset or empty; expected: %s; set "
                           "it, or give it a value as in ${NAME-value}",
                           k->syntax);
            return false;
        }
    }
    *nargs = kept;
    return true;
}

static bool check_args(struct cfg_parser *p, const struct cfg_keyword *k, const struct cfg_word *name,
                       struct cfg_word *args, size_t *nargs)
{
    size_t max = p->negated ? 0 : k->max;

    if (*nargs < k->min) {
        cfg_word_alert(p, name, "'%s' lacks %s; expected: %s", k->name,
                       *nargs ? "an argument" : "its arguments", k->syntax);
        return false;
    }
    if (!drop_empty(p, k, args, nargs)) {
        return false;
    }
    if (*nargs > max) {
        cfg_word_alert(p, &args[max], "'%s' is one word too many for '%s%s'; expected: %s",
                       cfg_show(args[max].s).s, p->negated ? "no " : "", k->name, k->syntax);
        return false;
    }
    return true;
}

static void parse_keyword(struct cfg_parser *p, struct cfg_word *words, size_t nwords)
{
    const struct cfg_word *no = p->negated ? words - 1 : NULL;
    const struct cfg_keyword *k;
    bool two, prefix;
    size_t nargs;

    k = find_keyword(p->kind, words, nwords, &two, &prefix);
    if (!k && prefix && *cfg_list_keywords(p->kind, words[0].s).s) {
        unknown_second(p, words, nwords);
        return;
    }
    if (!k) {
        unknown_keyword(p, words, nwords);
        return;
    }
    if (no && !k->negatable) {
        cfg_word_alert(p, no,
                       "'no' can't stand before '%s'; expected it before 'option redispatch' or 'option "
                       "http-keep-alive'",
                       k->name);
        return;
    }
    nargs = nwords - 1 - two;
    if (check_place(p, k, &words[0]) && check_args(p, k, &words[0], words + 1 + two, &nargs)) {
        p->keyword = k;
        k->set(p, words + 1 + two, nargs);
    }
}

static void parse_words(struct cfg_parser *p, struct cfg_word *words, size_t nwords)
{
    const struct cfg_section_type *type = find_section(words[0].s);

    p->at.column = words[0].column;
    p->negated = false;
    if (type) {
        cfg_start_section(p, type, words, nwords);
        return;
    }
    if (is_foreign_section(words[0].s)) {
        cfg_word_alert(p, &words[0], "a '%s' section is not supported; expected a section: %s", words[0].s,
                       cfg_list_sections(~0u).s);
        p->skipping = true;
        return;
    }
    if (p->skipping) {
        return;
    }
    if (!strcmp(words[0].s, "no")) {
        if (nwords == 1 || strcmp(words[1].s, "option") != 0) {
            cfg_word_alert(p, &words[0], "'no' must stand before an option; expected: no option <name>");
            return;
        }
        p->negated = true;
        words++;
        nwords--;
    }
    parse_keyword(p, words, nwords);
}

static const char *section_name(const struct cfg_parser *p)
{
    if (p->section && *p->section->px.name) {
        return p->section->px.name;
    }
    return p->kind ? cfg_kind_name(p->kind) : "";
}

static void parse_line(struct cfg_parser *p, const char *line, size_t len)
{
    struct cfg_lex_place place = {p->at.file, section_name(p), p->at.line};

    if (len && line[len - 1] == '\r') {
        len--;
    }
    if (!cfg_lex(&p->lex, line, len, &place)) {
        p->at.column = p->lex.error_column;
        cfg_alert(&p->diag, &p->at, "%s", p->lex.error);
    } else if (p->lex.nwords) {
        parse_words(p, p->lex.words, p->lex.nwords);
    }
}

void cfg_parse(struct cfg_parser *p, const char *file, const char *text, size_t len)
{
    const char *end = text + len, *next;

    p->at = (struct cfg_where){.file = file};
    p->kind = 0; /* a section ends with its file, as in HAProxy; defaults hold on */
    p->section = NULL;
    p->skipping = false;
    if (!len) {
        cfg_warn(&p->diag, &p->at, "the file is empty; expected sections: %s", cfg_list_sections(~0u).s);
        return;
    }
    if (len >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
        p->at.line = p->at.column = 1;
        cfg_alert(&p->diag, &p->at,
                  "a byte order mark begins the file; expected plain UTF-8 or ASCII without one");
        p->at.line = 0;
        text += 3;
    }
    for (; text < end && !cfg_diag_full(&p->diag) && !p->no_memory; text = next) {
        const char *lf = memchr(text, '\n', (size_t)(end - text));

        p->at.line++;
        if (!lf) {
            p->at.column = (unsigned)(end - text) + 1;
            cfg_warn(&p->diag, &p->at, "no line feed at the end of the file; it may have been cut short");
        }
        next = lf ? lf + 1 : end;
        parse_line(p, text, (size_t)((lf ? lf : end) - text));
    }
}
