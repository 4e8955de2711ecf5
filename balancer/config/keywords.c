/* The table itself, and lists made from it. A keyword that isn't here isn't known. */
#include "balancer/config/keywords.h"

#include "balancer/config/value.h"

#include <stddef.h>
#include <string.h>

#define PROXIES   (CFG_DEFAULTS | CFG_FRONTEND | CFG_BACKEND | CFG_LISTEN)
#define FRONTENDS (CFG_DEFAULTS | CFG_FRONTEND | CFG_LISTEN)
#define BACKENDS  (CFG_DEFAULTS | CFG_BACKEND | CFG_LISTEN)

#define TIMEOUT(word, field, sections)                                                       \
    {                                                                                        \
        .name = "timeout " word, .syntax = "timeout " word " <time>", .allowed = (sections), \
        .ignored = PROXIES & ~(unsigned)(sections), .min = 1, .max = 1, .set = cfg_set_time, \
        .offset = offsetof(struct cfg_section, px.timeouts.field)                            \
    }

/* Sorted as the lists are shown. maxconn is there twice: it means something else in global. */
const struct cfg_keyword cfg_keywords[] = {
    {.name = "balance",
     .syntax = "balance roundrobin",
     .allowed = BACKENDS,
     .ignored = CFG_FRONTEND,
     .min = 1,
     .max = 1,
     .set = cfg_set_balance},
    {.name = "bind",
     .syntax = "bind <address>[,<address>...]",
     .allowed = CFG_FRONTEND | CFG_LISTEN,
     .ignored = CFG_BACKEND,
     .min = 1,
     .max = 1,
     .options = 2,
     .set = cfg_set_bind},
    {.name = "default-server",
     .syntax = "default-server [weight <number>] [maxconn <number>]",
     .allowed = BACKENDS,
     .min = 1,
     .max = CFG_MAX_WORDS,
     .options = 1,
     .set = cfg_set_default_server},
    {.name = "default_backend",
     .syntax = "default_backend <backend>",
     .allowed = FRONTENDS,
     .ignored = CFG_BACKEND,
     .min = 1,
     .max = 1,
     .set = cfg_set_default_backend},
    {.name = "maxconn",
     .syntax = "maxconn <number>",
     .allowed = CFG_GLOBAL,
     .min = 1,
     .max = 1,
     .set = cfg_set_number,
     .offset = offsetof(struct cfg, maxconn),
     .highest = CFG_MAX_NUMBER},
    {.name = "maxconn",
     .syntax = "maxconn <number>",
     .allowed = FRONTENDS,
     .ignored = CFG_BACKEND,
     .min = 1,
     .max = 1,
     .set = cfg_set_number,
     .offset = offsetof(struct cfg_section, px.maxconn),
     .highest = CFG_MAX_NUMBER},
    {.name = "mode", .syntax = "mode http", .allowed = PROXIES, .min = 1, .max = 1, .set = cfg_set_mode},
    {.name = "nbthread",
     .syntax = "nbthread <number>",
     .allowed = CFG_GLOBAL,
     .min = 1,
     .max = 1,
     .set = cfg_set_number,
     .offset = offsetof(struct cfg, nbthread),
     .lowest = 1,
     .highest = 256},
    {.name = "option forwardfor",
     .syntax = "option forwardfor [header <name>] [if-none]",
     .allowed = PROXIES,
     .max = CFG_MAX_WORDS,
     .options = 1,
     .set = cfg_set_forwardfor},
    {.name = "option http-keep-alive",
     .syntax = "[no] option http-keep-alive",
     .allowed = PROXIES,
     .negatable = true,
     .set = cfg_set_keep_alive},
    {.name = "option redispatch",
     .syntax = "[no] option redispatch [<interval>]",
     .allowed = BACKENDS,
     .ignored = CFG_FRONTEND,
     .max = 1,
     .options = 1,
     .negatable = true,
     .set = cfg_set_redispatch},
    {.name = "retries",
     .syntax = "retries <number>",
     .allowed = BACKENDS,
     .ignored = CFG_FRONTEND,
     .min = 1,
     .max = 1,
     .set = cfg_set_number,
     .offset = offsetof(struct cfg_section, px.retries),
     .highest = CFG_MAX_NUMBER},
    {.name = "server",
     .syntax = "server <name> <address> [weight <number>] [maxconn <number>]",
     .allowed = CFG_BACKEND | CFG_LISTEN,
     .min = 2,
     .max = CFG_MAX_WORDS,
     .options = 3,
     .set = cfg_set_server},
    TIMEOUT("client", client, FRONTENDS),
    TIMEOUT("connect", connect, BACKENDS),
    TIMEOUT("http-keep-alive", http_keep_alive, PROXIES),
    TIMEOUT("http-request", http_request, PROXIES),
    TIMEOUT("queue", queue, BACKENDS),
    TIMEOUT("server", server, BACKENDS),
};
const size_t cfg_nkeywords = sizeof cfg_keywords / sizeof *cfg_keywords;

const struct cfg_server_param cfg_server_params[] = {
    {"maxconn", "maxconn <number>", CFG_MAX_NUMBER, offsetof(struct cfg_server_settings, maxconn)},
    {"weight", "weight <number>", 256, offsetof(struct cfg_server_settings, weight)},
};
const size_t cfg_nserver_params = sizeof cfg_server_params / sizeof *cfg_server_params;

const struct cfg_section_type cfg_section_types[] = {
    {"global", "global", CFG_GLOBAL},
    {"defaults", "defaults [<name>] [from <defaults>]", CFG_DEFAULTS},
    {"frontend", "frontend <name> [from <defaults>]", CFG_FRONTEND},
    {"backend", "backend <name> [from <defaults>]", CFG_BACKEND},
    {"listen", "listen <name> [from <defaults>]", CFG_LISTEN},
};
const size_t cfg_nsection_types = sizeof cfg_section_types / sizeof *cfg_section_types;

static void add(struct cfg_list *list, const char *name)
{
    size_t n = strlen(list->s);

    snprintf(list->s + n, sizeof list->s - n, "%s%s", n ? ", " : "", name);
}

struct cfg_list cfg_list_sections(unsigned kinds)
{
    struct cfg_list list = {""};

    for (size_t i = 0; i < cfg_nsection_types; i++) {
        if (cfg_section_types[i].kind & kinds) {
            add(&list, cfg_section_types[i].name);
        }
    }
    return list;
}

struct cfg_list cfg_list_keywords(unsigned kind, const char *first_word)
{
    struct cfg_list list = {""};
    size_t n = first_word ? strlen(first_word) : 0;

    for (size_t i = 0; i < cfg_nkeywords; i++) {
        const char *name = cfg_keywords[i].name;

        if (cfg_keywords[i].allowed & kind && (!n || (!strncmp(name, first_word, n) && name[n] == ' '))) {
            add(&list, name);
        }
    }
    return list;
}
