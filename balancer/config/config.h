/* The HAProxy configuration language, parsed into a model. Only what is listed in docs/configuration.md is
 * known; everything else is refused with file, line, column and what may stand there. No defaults are applied
 * silently: an unset number is -1. */
#ifndef PAWL_BALANCER_CONFIG_CONFIG_H
#define PAWL_BALANCER_CONFIG_CONFIG_H

#include "net/addr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum cfg_balance { CFG_BALANCE_ROUNDROBIN };

struct cfg_timeouts { /* milliseconds; -1: not set (no time-out; queue: falls back to connect) */
    long client, server, connect, queue, http_request, http_keep_alive;
};

struct cfg_where {
    const char *file;      /* owned by struct cfg */
    unsigned line, column; /* from 1; column counts bytes */
};

struct cfg_server {
    char *name;
    struct net_addr addr;
    char *addr_text;  /* as written */
    unsigned weight;  /* 0..256, default 1; 0: gets no traffic */
    unsigned maxconn; /* 0: no limit */
    struct cfg_where where;
};

struct cfg_bind {
    struct net_addr addr; /* unused when fd >= 0 */
    int fd;               /* fd@N: an inherited listening socket; else -1 */
    char *text;           /* as written, environment expanded */
    struct cfg_where where;
};

struct cfg_proxy {
    char *name;
    bool frontend, backend; /* listen: both */
    struct cfg_bind *binds;
    size_t nbinds;
    struct cfg_server *servers;
    size_t nservers;
    struct cfg_proxy
        *default_backend; /* resolved; a listen's own self when it has servers and names none; or NULL */
    enum cfg_balance balance;
    struct cfg_timeouts timeouts;
    long maxconn;    /* frontend connections; -1: not set */
    long retries;    /* connection attempts after the first; default 3 */
    bool redispatch; /* option redispatch: the last retry may go to another server */
    bool forwardfor; /* option forwardfor */
    bool forwardfor_if_none;
    char *forwardfor_header; /* NULL: X-Forwarded-For */
    struct cfg_where where;
};

struct cfg {
    long nbthread; /* -1: not set */
    long maxconn;  /* -1: not set */
    struct cfg_proxy **proxies;
    size_t nproxies;
    unsigned nwarnings;
    struct cfg_private *priv; /* names, files */
};

/* Parses the files in order as one configuration. Diagnostics go to err, one a line, as
 *   [ALERT]    config: FILE:LINE:COLUMN: what is wrong; what was expected; what to do
 * ([WARNING] likewise). All errors are reported, at most 20 before it gives up. Returns NULL when there was
 * any. The caller frees the result with cfg_free(). */
struct cfg *cfg_load(const char *const *files, size_t nfiles, FILE *err);

/* The same from memory, name standing for the file's. For tests and fuzzing. */
struct cfg *cfg_load_buffer(const char *name, const char *text, size_t len, FILE *err);

void cfg_free(struct cfg *c);

#endif
