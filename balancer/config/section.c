/* The lines that start a section: its name, and the defaults section it takes its settings from. */
#include "balancer/config/keywords.h"

#include <string.h>

#define NAME_MAX_BYTES 255

bool cfg_check_name(struct cfg_parser *p, const char *what, const struct cfg_word *word)
{
    size_t ok = strspn(word->s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:");

    if (!*word->s) {
        cfg_word_alert(p, word, "an empty name for this %s; expected letters, digits and -_.:", what);
    } else if (word->s[ok]) {
        cfg_word_alert(p, word,
                       "'%s': a character that can't stand in the name of a %s; expected letters, digits "
                       "and -_.: only",
                       cfg_show(word->s).s, what);
    } else if (ok > NAME_MAX_BYTES) {
        cfg_word_alert(p, word, "'%s': too long for the name of a %s; expected at most %d bytes",
                       cfg_show(word->s).s, what, NAME_MAX_BYTES);
    } else {
        return true;
    }
    return false;
}

/* The defaults section that "from" names; it must come before and be the only one of that name. */
static struct cfg_section *find_defaults(struct cfg_parser *p, const struct cfg_word *name)
{
    const struct cfg_private *priv = p->cfg->priv;
    struct cfg_section *found = NULL;

    for (size_t i = 0; i < priv->ndefaults; i++) {
        struct cfg_section *s = priv->defaults[i];

        if (strcmp(s->px.name, name->s) != 0) {
            continue;
        }
        if (found) {
            cfg_word_alert(p, name,
                           "'%s' could be the defaults section at %s:%u or the one at %s:%u; give them "
                           "different names",
                           cfg_show(name->s).s, cfg_show(found->px.where.file).s, found->px.where.line,
                           cfg_show(s->px.where.file).s, s->px.where.line);
            return NULL;
        }
        found = s;
    }
    if (!found) {
        cfg_word_alert(p, name, "no defaults section '%s' before this line; expected the name of one",
                       cfg_show(name->s).s);
    }
    return found;
}

static void begin(struct cfg_parser *p, unsigned kind, const char *name, struct cfg_section *base)
{
    if (p->cfg->nproxies + p->cfg->priv->ndefaults >= CFG_MAX_SECTIONS) {
        cfg_alert(&p->diag, &p->at, "more than %d sections; expected fewer", CFG_MAX_SECTIONS);
        p->skipping = true;
        return;
    }
    p->section = cfg_model_section(p->cfg, kind, name, p->at, base);
    if (!p->section) {
        p->no_memory = true;
    } else if (kind == CFG_DEFAULTS) {
        p->base = p->section;
    }
}

/* [from <defaults>] and the end of the line; words[i] is the first behind the name. A wrong line still starts
 * its section, so that what follows is checked too. */
static void parse_from(struct cfg_parser *p, const struct cfg_section_type *type,
                       const struct cfg_word *words, size_t nwords, size_t i, struct cfg_section **base)
{
    if (i < nwords && !strcmp(words[i].s, "from")) {
        if (i + 1 == nwords) {
            cfg_word_alert(p, &words[i], "'from' needs the name of a defaults section; expected: %s",
                           type->syntax);
            return;
        }
        if (cfg_check_name(p, "defaults section", &words[i + 1])) {
            *base = find_defaults(p, &words[i + 1]);
        }
        i += 2;
    }
    if (i < nwords) {
        cfg_word_alert(p, &words[i], "'%s' is one word too many; expected: %s", cfg_show(words[i].s).s,
                       type->syntax);
    }
}

void cfg_start_section(struct cfg_parser *p, const struct cfg_section_type *type,
                       const struct cfg_word *words, size_t nwords)
{
    struct cfg_section *base = p->base;
    const char *name = "";
    size_t i = 1;

    p->kind = type->kind;
    p->section = NULL;
    p->skipping = false;
    if (type->kind == CFG_GLOBAL) {
        if (nwords > 1) {
            cfg_word_alert(p, &words[1], "'%s' is one word too many; expected: %s", cfg_show(words[1].s).s,
                           type->syntax);
        }
        return;
    }
    if (type->kind == CFG_DEFAULTS) {
        base = NULL; /* starts anew */
    }
    if (i < nwords && (type->kind != CFG_DEFAULTS || strcmp(words[i].s, "from") != 0)) {
        /* As in HAProxy any name will do for a defaults section that nothing refers to. */
        if (type->kind == CFG_DEFAULTS || cfg_check_name(p, type->name, &words[i])) {
            name = words[i].s;
        }
        i++;
    } else if (type->kind != CFG_DEFAULTS) {
        cfg_word_alert(p, &words[0], "'%s' needs a name; expected: %s", type->name, type->syntax);
    }
    parse_from(p, type, words, nwords, i, &base);
    begin(p, type->kind, name, base);
}
