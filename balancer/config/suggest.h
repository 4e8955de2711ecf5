/* "Did you mean": the known word nearest to an unknown one. */
#ifndef PAWL_BALANCER_CONFIG_SUGGEST_H
#define PAWL_BALANCER_CONFIG_SUGGEST_H

#include <stddef.h>

struct cfg_suggestion {
    const char *word; /* NULL: nothing is near enough */
    unsigned distance;
};

/* Considers candidate for word; keeps it in s where it is nearer than what s holds. Start from {0}.
 * candidate must outlive s. */
void cfg_suggest(struct cfg_suggestion *s, const char *word, const char *candidate);

#endif
