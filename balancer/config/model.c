/* Memory of the model: made piece by piece by the parser, freed as a whole. */
#include "balancer/config/model.h"

#include <stdlib.h>
#include <string.h>

/* The array with room for one more element, NULL where memory is short (it is then as before). Its capacity
 * is the next power of two, so that it need not be stored. */
static void *grown(void *items, size_t n, size_t size)
{
    if (n & (n - 1)) {
        return items;
    }
    return reallocarray(items, n ? n * 2 : 1, size);
}

struct cfg *cfg_model_new(void)
{
    struct cfg *c = calloc(1, sizeof *c);

    if (!c) {
        return NULL;
    }
    c->priv = calloc(1, sizeof *c->priv);
    if (!c->priv) {
        free(c);
        return NULL;
    }
    c->nbthread = -1;
    c->maxconn = -1;
    return c;
}

const char *cfg_model_file(struct cfg *c, const char *name)
{
    struct cfg_private *priv = c->priv;
    char **files = grown(priv->files, priv->nfiles, sizeof *files), *copy;

    if (!files) {
        return NULL;
    }
    priv->files = files;
    copy = strdup(name);
    if (copy) {
        priv->files[priv->nfiles++] = copy;
    }
    return copy;
}

static void free_section(struct cfg_section *s)
{
    if (!s) {
        return;
    }
    for (size_t i = 0; i < s->px.nservers; i++) {
        free(s->px.servers[i].name);
        free(s->px.servers[i].addr_text);
    }
    for (size_t i = 0; i < s->px.nbinds; i++) {
        free(s->px.binds[i].text);
    }
    free(s->px.servers);
    free(s->px.binds);
    free(s->px.forwardfor_header);
    free(s->px.name);
    free(s->default_backend);
    free(s);
}

void cfg_free(struct cfg *c)
{
    if (!c) {
        return;
    }
    for (size_t i = 0; i < c->nproxies; i++) {
        free_section((struct cfg_section *)c->proxies[i]);
    }
    for (size_t i = 0; i < c->priv->ndefaults; i++) {
        free_section(c->priv->defaults[i]);
    }
    for (size_t i = 0; i < c->priv->nfiles; i++) {
        free(c->priv->files[i]);
    }
    free(c->proxies);
    free(c->priv->defaults);
    free(c->priv->files);
    free(c->priv);
    free(c);
}

bool cfg_model_text(char **text, const char *s)
{
    char *copy = s ? strdup(s) : NULL;

    if (s && !copy) {
        return false;
    }
    free(*text);
    *text = copy;
    return true;
}

/* What the language sets where a file says nothing. */
static void set_initial(struct cfg_section *s)
{
    s->px.timeouts = (struct cfg_timeouts){-1, -1, -1, -1, -1, -1};
    s->px.balance = CFG_BALANCE_ROUNDROBIN;
    s->px.maxconn = -1;
    s->px.retries = 3;
    s->servers.weight = 1;
}

static bool inherit(struct cfg_section *s, const struct cfg_section *base)
{
    s->px.timeouts = base->px.timeouts;
    s->px.balance = base->px.balance;
    s->px.maxconn = base->px.maxconn;
    s->px.retries = base->px.retries;
    s->px.redispatch = base->px.redispatch;
    s->px.forwardfor = base->px.forwardfor;
    s->px.forwardfor_if_none = base->px.forwardfor_if_none;
    s->mode = base->mode;
    s->default_backend_at = base->default_backend_at;
    s->servers = base->servers;
    return cfg_model_text(&s->px.forwardfor_header, base->px.forwardfor_header) &&
           cfg_model_text(&s->default_backend, base->default_backend);
}

static bool append(struct cfg *c, struct cfg_section *s)
{
    struct cfg_private *priv = c->priv;
    struct cfg_section **defaults;
    struct cfg_proxy **proxies;

    if (s->kind == CFG_DEFAULTS) {
        defaults = grown(priv->defaults, priv->ndefaults, sizeof *defaults);
        if (!defaults) {
            return false;
        }
        priv->defaults = defaults;
        defaults[priv->ndefaults++] = s;
    } else {
        proxies = grown(c->proxies, c->nproxies, sizeof *proxies);
        if (!proxies) {
            return false;
        }
        c->proxies = proxies;
        proxies[c->nproxies++] = &s->px;
    }
    return true;
}

struct cfg_section *cfg_model_section(struct cfg *c, unsigned kind, const char *name, struct cfg_where where,
                                      const struct cfg_section *base)
{
    struct cfg_section *s = calloc(1, sizeof *s);

    if (!s) {
        return NULL;
    }
    s->kind = kind;
    s->px.where = where;
    s->px.frontend = kind == CFG_FRONTEND || kind == CFG_LISTEN;
    s->px.backend = kind == CFG_BACKEND || kind == CFG_LISTEN;
    set_initial(s);
    if (!cfg_model_text(&s->px.name, name) || (base && !inherit(s, base)) || !append(c, s)) {
        free_section(s);
        return NULL;
    }
    return s;
}

struct cfg_server *cfg_model_server(struct cfg_section *s)
{
    struct cfg_proxy *px = &s->px;
    struct cfg_server *servers = grown(px->servers, px->nservers, sizeof *servers);

    if (!servers) {
        return NULL;
    }
    px->servers = servers;
    return memset(&servers[px->nservers++], 0, sizeof *servers);
}

struct cfg_bind *cfg_model_bind(struct cfg_section *s)
{
    struct cfg_proxy *px = &s->px;
    struct cfg_bind *binds = grown(px->binds, px->nbinds, sizeof *binds);

    if (!binds) {
        return NULL;
    }
    px->binds = binds;
    return memset(&binds[px->nbinds++], 0, sizeof *binds);
}

const char *cfg_kind_name(unsigned kind)
{
    switch (kind) {
    case CFG_GLOBAL:
        return "global";
    case CFG_DEFAULTS:
        return "defaults";
    case CFG_FRONTEND:
        return "frontend";
    case CFG_BACKEND:
        return "backend";
    default:
        return "listen";
    }
}
