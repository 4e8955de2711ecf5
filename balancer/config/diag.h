/* What is told about a configuration: errors and warnings, one line each, with a bound on how many. */
#ifndef PAWL_BALANCER_CONFIG_DIAG_H
#define PAWL_BALANCER_CONFIG_DIAG_H

#include "balancer/config/config.h"

#define CFG_MAX_ERRORS   20
#define CFG_MAX_WARNINGS 50

struct cfg_diag {
    FILE *out;
    unsigned nerrors, nwarnings;
};

/* An error (warning) at a place; where->line 0 stands for the file as a whole. Beyond the bound nothing is
 * written, only counted. Which part is wrong, what was expected and what to do belong in the text. */
void cfg_alert(struct cfg_diag *d, const struct cfg_where *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void cfg_warn(struct cfg_diag *d, const struct cfg_where *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Enough errors: the reader of the configuration should give up. */
bool cfg_diag_full(const struct cfg_diag *d);

/* A word as it may be shown: unprintable bytes as \xNN, long ones cut with "...". Lives until the end of the
 * full expression: pass cfg_show(word).s as an argument. */
struct cfg_shown {
    char s[96];
};
struct cfg_shown cfg_show(const char *word);

#endif
