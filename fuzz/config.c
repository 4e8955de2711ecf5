/* Any bytes as a configuration: refused with a bounded number of errors, or accepted as a model that keeps
 * its promises. */
#include "balancer/config/config.h"

#include "fuzz/fuzz.h"

#include <string.h>

#define MOST_TEXT (71 * 2600) /* 21 errors and 51 warnings at most, none longer than this */

static void check_server(const struct cfg_server *s)
{
    FUZZ_HOLDS(s->name && *s->name && s->addr_text && *s->addr_text);
    FUZZ_HOLDS(s->weight <= 256);
    FUZZ_HOLDS(s->addr.ss.ss_family == AF_UNIX || net_addr_port(&s->addr));
    FUZZ_HOLDS(s->where.line && s->where.column);
}

static void check_bind(const struct cfg_bind *b)
{
    FUZZ_HOLDS(b->text && *b->text);
    FUZZ_HOLDS(b->fd >= 0 || b->addr.ss.ss_family == AF_UNIX || net_addr_port(&b->addr));
    FUZZ_HOLDS(b->where.line && b->where.column);
}

static void check_timeout(long ms)
{
    FUZZ_HOLDS(ms == -1 || (ms > 0 && ms <= 2147483647));
}

static void check_proxy(const struct cfg_proxy *p)
{
    FUZZ_HOLDS(p->name && *p->name && (p->frontend || p->backend));
    FUZZ_HOLDS(p->backend || !p->nservers);
    FUZZ_HOLDS(p->frontend || (!p->nbinds && !p->default_backend));
    FUZZ_HOLDS(!p->default_backend || p->default_backend->backend);
    FUZZ_HOLDS(p->maxconn == -1 || p->maxconn > 0);
    FUZZ_HOLDS(p->retries >= 0);
    check_timeout(p->timeouts.client);
    check_timeout(p->timeouts.server);
    check_timeout(p->timeouts.connect);
    check_timeout(p->timeouts.queue);
    check_timeout(p->timeouts.http_request);
    check_timeout(p->timeouts.http_keep_alive);
    for (size_t i = 0; i < p->nservers; i++) {
        check_server(&p->servers[i]);
    }
    for (size_t i = 0; i < p->nbinds; i++) {
        check_bind(&p->binds[i]);
    }
}

static void check_model(const struct cfg *c)
{
    size_t binds = 0;

    FUZZ_HOLDS(c->nbthread == -1 || (c->nbthread >= 1 && c->nbthread <= 256));
    FUZZ_HOLDS(c->maxconn == -1 || c->maxconn > 0);
    for (size_t i = 0; i < c->nproxies; i++) {
        check_proxy(c->proxies[i]);
        binds += c->proxies[i]->nbinds;
    }
    FUZZ_HOLDS(binds);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *said = NULL;
    size_t length = 0;
    FILE *err = open_memstream(&said, &length);
    struct cfg *c;

    if (!err) {
        return 0;
    }
    setenv("V", "one two", 1);
    setenv("EMPTY", "", 1);
    c = cfg_load_buffer("fuzz", (const char *)data, size, err);
    fclose(err);
    FUZZ_HOLDS(length < MOST_TEXT);
    FUZZ_HOLDS(!c == (strstr(said, "[ALERT]") != NULL));
    if (c) {
        FUZZ_HOLDS((c->nwarnings > 0) == (length > 0));
        check_model(c);
    }
    cfg_free(c);
    free(said);
    return 0;
}
