/* The model while it is being built: what struct cfg keeps for itself. Used by the parser and its checks
 * only. */
#ifndef PAWL_BALANCER_CONFIG_MODEL_H
#define PAWL_BALANCER_CONFIG_MODEL_H

#include "balancer/config/config.h"

#define CFG_MAX_SECTIONS 20000 /* proxies and defaults together */

/* What default-server and server set alike. */
struct cfg_server_settings {
    long weight, maxconn;
};

/* A proxy or a defaults section, with what its users need not see. */
struct cfg_section {
    struct cfg_proxy px;   /* first: a struct cfg_proxy * of the model points to its section */
    unsigned kind;         /* CFG_DEFAULTS, CFG_FRONTEND, CFG_BACKEND or CFG_LISTEN */
    long mode;             /* enum cfg_mode */
    char *default_backend; /* by name; NULL: none */
    struct cfg_where default_backend_at;
    struct cfg_server_settings servers; /* of those that say nothing else */
};

enum cfg_mode { CFG_MODE_UNSET, CFG_MODE_HTTP, CFG_MODE_REFUSED };

/* Bits, so that a keyword can name all sections it may stand in. */
enum {
    CFG_GLOBAL = 1,
    CFG_DEFAULTS = 2,
    CFG_FRONTEND = 4,
    CFG_BACKEND = 8,
    CFG_LISTEN = 16,
};

struct cfg_private {
    char **files;
    size_t nfiles;
    struct cfg_section **defaults;
    size_t ndefaults;
};

/* All return NULL (false) where memory is short, and leave the model as it was. */
struct cfg *cfg_model_new(void);
const char *cfg_model_file(struct cfg *c, const char *name);

/* A new section that starts from the settings of base (NULL: from the language's defaults); appended to the
 * defaults sections or to the proxies. */
struct cfg_section *cfg_model_section(struct cfg *c, unsigned kind, const char *name, struct cfg_where where,
                                      const struct cfg_section *base);

/* Room for one more, zeroed, counted. */
struct cfg_server *cfg_model_server(struct cfg_section *s);
struct cfg_bind *cfg_model_bind(struct cfg_section *s);

/* Replaces *text by a copy of s (NULL: by NULL). */
bool cfg_model_text(char **text, const char *s);

/* "frontend", "backend", ... */
const char *cfg_kind_name(unsigned kind);

#endif
