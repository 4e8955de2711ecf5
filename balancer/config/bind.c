/* The bind line: addresses to listen on, and inherited listening sockets. */
#include "balancer/config/keywords.h"
#include "balancer/config/value.h"

#include <stdlib.h>
#include <string.h>

static bool parse_fd(struct cfg_parser *p, const struct cfg_word *word, const char *text, int *fd)
{
    long n;

    if (cfg_number(text + strlen("fd@"), 0, CFG_MAX_NUMBER, &n) != CFG_VALUE_OK) {
        cfg_word_alert(p, word,
                       "'%s': expected the number of an inherited listening socket after fd@, as in fd@3",
                       cfg_show(text).s);
        return false;
    }
    *fd = (int)n;
    return true;
}

static bool parse_addr(struct cfg_parser *p, const struct cfg_word *word, const char *text,
                       struct net_addr *addr)
{
    const char *err;

    if (!*text) {
        cfg_word_alert(p, word,
                       "'bind' names no address before or after a comma; expected an address and a port in "
                       "each place");
        return false;
    }
    if (strchr(text, '$')) {
        cfg_word_alert(p, word, "'%s': variables are expanded within double quotes only; write \"%s\"",
                       cfg_show(text).s, cfg_show(text).s);
        return false;
    }
    if (!net_addr_parse(addr, text, &err)) {
        cfg_word_alert(p, word, "'%s': %s, or fd@N", cfg_show(text).s, err);
        return false;
    }
    if (addr->ss.ss_family != AF_UNIX && !net_addr_port(addr)) {
        cfg_word_alert(p, word, "'%s': port 0 can't be listened on; expected a port from 1 to 65535",
                       cfg_show(text).s);
        return false;
    }
    return true;
}

static bool add_bind(struct cfg_parser *p, const struct cfg_word *word, const char *text)
{
    struct cfg_bind b = {.fd = -1, .where = {p->at.file, p->at.line, word->column}}, *slot;

    if (!strncmp(text, "fd@", 3) ? !parse_fd(p, word, text, &b.fd) : !parse_addr(p, word, text, &b.addr)) {
        return true;
    }
    if (!cfg_model_text(&b.text, text)) {
        return false;
    }
    slot = cfg_model_bind(p->section);
    if (!slot) {
        free(b.text);
        return false;
    }
    *slot = b;
    return true;
}

void cfg_set_bind(struct cfg_parser *p, const struct cfg_word *args, size_t nargs)
{
    char *list = strdup(args->s), *rest = list, *item;
    bool ok = list != NULL;

    (void)nargs;
    while (ok && !cfg_diag_full(&p->diag) && (item = strsep(&rest, ","))) {
        ok = add_bind(p, args, item);
    }
    free(list);
    p->no_memory |= !ok;
}
