/* The server line and default-server, which sets what later server lines in its section start from. */
#include "balancer/config/keywords.h"
#include "balancer/config/suggest.h"
#include "balancer/config/value.h"

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

static void unknown_param(struct cfg_parser *p, const struct cfg_word *word)
{
    struct cfg_suggestion near = {0};
    char known[128] = "";

    for (size_t i = 0; i < cfg_nserver_params; i++) {
        size_t n = strlen(known);

        snprintf(known + n, sizeof known - n, "%s%s", n ? ", " : "", cfg_server_params[i].syntax);
        cfg_suggest(&near, word->s, cfg_server_params[i].name);
    }
    if (near.word) {
        cfg_word_alert(p, word, "'%s' is not known to '%s'; did you mean '%s'? expected: %s",
                       cfg_show(word->s).s, p->keyword->name, near.word, known);
    } else {
        cfg_word_alert(p, word, "'%s' is not known to '%s'; expected: %s", cfg_show(word->s).s,
                       p->keyword->name, known);
    }
}

static const struct cfg_server_param *find_param(const char *name)
{
    for (size_t i = 0; i < cfg_nserver_params; i++) {
        if (!strcmp(cfg_server_params[i].name, name)) {
            return &cfg_server_params[i];
        }
    }
    return NULL;
}

/* Reads "name value" pairs into s. Goes on after a wrong value, not after an unknown name:
 * how many words belong to it can't be told. */
static void parse_params(struct cfg_parser *p, const struct cfg_word *args, size_t nargs,
                         struct cfg_server_settings *s)
{
    for (size_t i = 0; i < nargs; i += 2) {
        const struct cfg_server_param *param = find_param(args[i].s);

        if (!param) {
            unknown_param(p, &args[i]);
            return;
        }
        if (i + 1 == nargs) {
            cfg_word_alert(p, &args[i],
                           "'%s' of '%s' needs a value; expected %s, a whole number from 0 to %ld",
                           param->name, p->keyword->name, param->syntax, param->highest);
            return;
        }
        if (cfg_number(args[i + 1].s, 0, param->highest, (long *)(void *)((char *)s + param->offset)) !=
            CFG_VALUE_OK) {
            cfg_word_alert(p, &args[i + 1],
                           "'%s': not a value for '%s'; expected a whole number from 0 to %ld",
                           cfg_show(args[i + 1].s).s, param->name, param->highest);
        }
    }
}

/* 0.0.0.0 and :: mean "where the client wanted to go" to HAProxy; nothing here can do that. */
static bool is_unspecified(const struct net_addr *a)
{
    if (a->ss.ss_family == AF_INET) {
        return ((const struct sockaddr_in *)&a->ss)->sin_addr.s_addr == htonl(INADDR_ANY);
    }
    return a->ss.ss_family == AF_INET6 &&
           IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)&a->ss)->sin6_addr);
}

static bool parse_addr(struct cfg_parser *p, const struct cfg_word *word, struct net_addr *addr)
{
    const char *err, *text = word->s;

    if (strchr(text, '$')) {
        cfg_word_alert(p, word, "'%s': variables are expanded within double quotes only; write \"%s\"",
                       cfg_show(text).s, cfg_show(text).s);
    } else if (!net_addr_parse(addr, text, &err)) {
        cfg_word_alert(p, word, "'%s': %s", cfg_show(text).s, err);
    } else if (is_unspecified(addr)) {
        cfg_word_alert(p, word, "'%s': a server needs an address of its own; expected one as in 192.0.2.1:80",
                       cfg_show(text).s);
    } else if (addr->ss.ss_family != AF_UNIX && !net_addr_port(addr)) {
        cfg_word_alert(p, word, "'%s': port 0 can't be connected to; expected a port from 1 to 65535",
                       cfg_show(text).s);
    } else {
        return true;
    }
    return false;
}

void cfg_set_server(struct cfg_parser *p, const struct cfg_word *args, size_t nargs)
{
    struct cfg_server_settings settings = p->section->servers;
    struct cfg_server *server = cfg_model_server(p->section);

    if (!server) {
        p->no_memory = true;
        return;
    }
    server->where = (struct cfg_where){p->at.file, p->at.line, args[0].column};
    if (!cfg_model_text(&server->name, args[0].s) || !cfg_model_text(&server->addr_text, args[1].s)) {
        p->no_memory = true;
        return;
    }
    cfg_check_name(p, "server", &args[0]);
    parse_addr(p, &args[1], &server->addr);
    parse_params(p, args + 2, nargs - 2, &settings);
    server->weight = (unsigned)settings.weight;
    server->maxconn = (unsigned)settings.maxconn;
}

void cfg_set_default_server(struct cfg_parser *p, const struct cfg_word *args, size_t nargs)
{
    parse_params(p, args, nargs, &p->section->servers);
}
