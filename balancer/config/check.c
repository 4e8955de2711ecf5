/* What only the whole configuration can tell: names used twice, backends that don't exist, proxies that can't
 * work. Errors are told in the order of the lines they are about, kind by kind. */
#include "balancer/config/keywords.h"

#include <stdlib.h>
#include <string.h>

static struct cfg_section *section_of(struct cfg_proxy *px)
{
    return (struct cfg_section *)px; /* its first member */
}

static const char *kind_of(struct cfg_proxy *px)
{
    return cfg_kind_name(section_of(px)->kind);
}

/* A thing with a name, sorted to find the others of that name and then in the order of the file. */
struct named {
    const char *name;
    size_t index;
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order ? order : (x->index > y->index) - (x->index < y->index);
}

static int by_name_only(const void *key, const void *item)
{
    return strcmp(key, ((const struct named *)item)->name);
}

static void tell_same_name(struct cfg_parser *p, struct cfg_proxy *first, struct cfg_proxy *second)
{
    cfg_alert(&p->diag, &second->where, "%s '%s' has the name of the %s at %s:%u; expected different names",
              kind_of(second), second->name, kind_of(first), cfg_show(first->where.file).s,
              first->where.line);
}

/* names: all proxies, sorted. A frontend and a backend may share a name, two of a kind may not; a listen is
 * of both. Names that were wrong are empty and not compared. */
static void check_proxy_names(struct cfg_parser *p, const struct named *names)
{
    struct cfg_proxy *frontend = NULL, *backend = NULL;

    for (size_t i = 0; i < p->cfg->nproxies; i++) {
        struct cfg_proxy *px = p->cfg->proxies[names[i].index];

        if (i && strcmp(names[i - 1].name, names[i].name) != 0) {
            frontend = backend = NULL;
        }
        if (!*px->name) {
            continue;
        }
        if (px->frontend && frontend) {
            tell_same_name(p, frontend, px);
        } else if (px->backend && backend) {
            tell_same_name(p, backend, px);
        }
        frontend = frontend || !px->frontend ? frontend : px;
        backend = backend || !px->backend ? backend : px;
    }
}

static bool check_server_names(struct cfg_parser *p, struct cfg_proxy *px)
{
    struct named *names = calloc(px->nservers + 1, sizeof *names);

    if (!names) {
        return false;
    }
    for (size_t i = 0; i < px->nservers; i++) {
        names[i] = (struct named){px->servers[i].name, i};
    }
    qsort(names, px->nservers, sizeof *names, by_name);
    for (size_t i = 1; i < px->nservers; i++) {
        const struct cfg_server *a = &px->servers[names[i - 1].index], *b = &px->servers[names[i].index];

        if (!strcmp(a->name, b->name)) {
            cfg_alert(&p->diag, &b->where,
                      "%s '%s' has a server '%s' already, at %s:%u; expected different names", kind_of(px),
                      px->name, cfg_show(b->name).s, cfg_show(a->where.file).s, a->where.line);
        }
    }
    free(names);
    return true;
}

/* The proxy with servers of that name; a frontend may have the same one. */
static struct cfg_proxy *find_backend(struct cfg *c, const struct named *names, const char *name)
{
    const struct named *at = bsearch(name, names, c->nproxies, sizeof *names, by_name_only);

    if (!at) {
        return NULL;
    }
    while (at > names && !strcmp(at[-1].name, name)) {
        at--;
    }
    for (; at < names + c->nproxies && !strcmp(at->name, name); at++) {
        if (c->proxies[at->index]->backend) {
            return c->proxies[at->index];
        }
    }
    return NULL;
}

static void resolve_default_backend(struct cfg_parser *p, const struct named *names, struct cfg_proxy *px)
{
    struct cfg_section *s = section_of(px);

    if (!px->frontend) {
        return;
    }
    if (!s->default_backend) {
        px->default_backend = px->nservers ? px : NULL;
        return;
    }
    px->default_backend = find_backend(p->cfg, names, s->default_backend);
    if (!px->default_backend) {
        cfg_alert(&p->diag, &s->default_backend_at,
                  "%s '%s': no backend or listen section '%s' in the configuration; expected the name of one",
                  kind_of(px), px->name, cfg_show(s->default_backend).s);
    } else if (px->default_backend == px) {
        cfg_alert(&p->diag, &s->default_backend_at,
                  "listen '%s' is its own default_backend; expected another one, or none to use its servers",
                  px->name);
    } else if (px->nservers) {
        cfg_warn(&p->diag, &s->default_backend_at,
                 "listen '%s': its own servers are never used, since default_backend has precedence",
                 px->name);
    }
}

static void check_mode(struct cfg_parser *p, struct cfg_proxy *px)
{
    if (section_of(px)->mode == CFG_MODE_UNSET) {
        cfg_alert(&p->diag, &px->where,
                  "%s '%s' has no mode, and the language's default, tcp, is not supported yet; expected "
                  "'mode http' in "
                  "it or in its defaults section",
                  kind_of(px), px->name);
    }
}

static void check_timeouts(struct cfg_parser *p, struct cfg_proxy *px)
{
    bool client = px->frontend && px->timeouts.client < 0;
    bool connect = px->backend && px->nservers && px->timeouts.connect < 0;
    bool server = px->backend && px->nservers && px->timeouts.server < 0;

    if (client || connect || server) {
        cfg_warn(
            &p->diag, &px->where,
            "missing timeouts for %s '%s': a peer that goes silent holds its place for ever; expected%s%s%s",
            kind_of(px), px->name, client ? " 'timeout client'" : "", connect ? " 'timeout connect'" : "",
            server ? " 'timeout server'" : "");
    }
}

static void check_use(struct cfg_parser *p, struct cfg_proxy *px)
{
    if (px->frontend && !px->nbinds) {
        cfg_warn(&p->diag, &px->where,
                 "%s '%s' has no 'bind': nothing can reach it; expected a bind line, or a "
                 "backend section",
                 kind_of(px), px->name);
    }
    if (px->frontend && !px->default_backend && !section_of(px)->default_backend) {
        cfg_warn(&p->diag, &px->where, "%s '%s' has no %s: every request is answered with 503", kind_of(px),
                 px->name, px->backend ? "server and no default_backend" : "default_backend");
    }
    if (px->backend && !px->frontend && !px->nservers) {
        cfg_warn(&p->diag, &px->where, "backend '%s' has no server: every request is answered with 503",
                 px->name);
    }
}

static int by_address(const void *a, const void *b)
{
    const struct cfg_bind *x = *(const struct cfg_bind *const *)a, *y = *(const struct cfg_bind *const *)b;
    int order = (x->fd > y->fd) - (x->fd < y->fd);

    order = order ? order : memcmp(&x->addr.ss, &y->addr.ss, sizeof x->addr.ss);
    return order ? order : (x > y) - (x < y);
}

/* Two listeners on one address: the kernel would share connections out between them, or refuse the second. */
static bool check_binds(struct cfg_parser *p)
{
    struct cfg *c = p->cfg;
    const struct cfg_bind **all;
    size_t n = 0;

    for (size_t i = 0; i < c->nproxies; i++) {
        n += c->proxies[i]->nbinds;
    }
    if (!n) {
        cfg_alert(&p->diag, &(struct cfg_where){p->at.file, 0, 0},
                  "nothing to listen on; expected a frontend or listen section with a bind line");
    }
    all = calloc(n + 1, sizeof *all);
    if (!all) {
        return false;
    }
    n = 0;
    for (size_t i = 0; i < c->nproxies; i++) {
        for (size_t j = 0; j < c->proxies[i]->nbinds; j++) {
            all[n++] = &c->proxies[i]->binds[j];
        }
    }
    qsort(all, n, sizeof *all, by_address);
    for (size_t i = 1; i < n; i++) {
        if (all[i]->fd == all[i - 1]->fd &&
            !memcmp(&all[i]->addr.ss, &all[i - 1]->addr.ss, sizeof all[i]->addr.ss)) {
            cfg_warn(&p->diag, &all[i]->where, "'%s' is listened on already, at %s:%u",
                     cfg_show(all[i]->text).s, cfg_show(all[i - 1]->where.file).s, all[i - 1]->where.line);
        }
    }
    free(all);
    return true;
}

/* What is wrong with each proxy by itself, and where its requests go. */
static bool check_proxies(struct cfg_parser *p, const struct named *names)
{
    struct cfg *c = p->cfg;

    for (size_t i = 0; i < c->nproxies && !cfg_diag_full(&p->diag); i++) {
        check_mode(p, c->proxies[i]);
        resolve_default_backend(p, names, c->proxies[i]);
        if (!check_server_names(p, c->proxies[i])) {
            return false;
        }
    }
    return true;
}

static bool check_all(struct cfg_parser *p, struct named *names)
{
    struct cfg *c = p->cfg;

    for (size_t i = 0; i < c->nproxies; i++) {
        names[i] = (struct named){c->proxies[i]->name, i};
    }
    qsort(names, c->nproxies, sizeof *names, by_name);
    check_proxy_names(p, names);
    if (!check_proxies(p, names)) {
        return false;
    }
    if (p->diag.nerrors) {
        return true;
    }
    for (size_t i = 0; i < c->nproxies; i++) {
        check_use(p, c->proxies[i]);
        check_timeouts(p, c->proxies[i]);
    }
    return check_binds(p);
}

void cfg_check(struct cfg_parser *p)
{
    struct named *names = calloc(p->cfg->nproxies + 1, sizeof *names);

    p->no_memory |= !names || !check_all(p, names);
    free(names);
}
