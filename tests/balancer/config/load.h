/* Loads a configuration from a string and keeps what was told about it. */
#ifndef PAWL_TESTS_BALANCER_CONFIG_LOAD_H
#define PAWL_TESTS_BALANCER_CONFIG_LOAD_H

#include "balancer/config/config.h"

struct loaded {
    struct cfg *cfg; /* NULL: refused */
    char *said;      /* all diagnostics */
};

/* The file's name is "f". */
struct loaded load_text(const char *text);
struct loaded load_bytes(const char *text, size_t len);
struct loaded load_files(const char *const *files, size_t nfiles);
void loaded_free(struct loaded *l);

/* Loads text, which must be accepted without a word. */
struct cfg *load_good(const char *text);

/* The text must be refused with exactly one line, an error at line:column ("f" alone where line is 0) that
 * holds says. */
void assert_refused(const char *text, unsigned line, unsigned column, const char *says);

/* The text must be accepted with exactly one warning there. */
void assert_warned(const char *text, unsigned line, unsigned column, const char *says);

/* The start of most texts: what every proxy needs to be silent. */
#define DEFAULTS \
    "defaults\n mode http\n timeout client 1s\n timeout server 1s\n timeout connect 1s\n" /* 5 lines */

#endif
