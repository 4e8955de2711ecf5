/* Edit distance with transpositions of neighbours (optimal string alignment; Damerau 1964, Wagner and Fischer
 * 1974), case ignored, three rows of the matrix at a time. */
#include "balancer/config/suggest.h"

#include <ctype.h>
#include <string.h>

#define LONGEST 40 /* no keyword is longer */

static unsigned min2(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static int lower(char c)
{
    return tolower((unsigned char)c);
}

static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
    unsigned rows[3][LONGEST + 1];
    unsigned *before = rows[0], *last = rows[1], *now = rows[2], *spare;

    for (size_t j = 0; j <= nb; j++) {
        last[j] = (unsigned)j;
    }
    for (size_t i = 1; i <= na; i++) {
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            unsigned differs = lower(a[i - 1]) != lower(b[j - 1]);

            now[j] = min2(min2(last[j], now[j - 1]) + 1, last[j - 1] + differs);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1])) {
                now[j] = min2(now[j], before[j - 2] + 1);
            }
        }
        spare = before;
        before = last;
        last = now;
        now = spare;
    }
    return last[nb];
}

void cfg_suggest(struct cfg_suggestion *s, const char *word, const char *candidate)
{
    size_t na = strlen(word), nb = strlen(candidate);
    unsigned d;

    if (na > LONGEST || nb > LONGEST || !strcmp(word, candidate)) {
        return;
    }
    d = distance(word, na, candidate, nb);
    /* A third of the letters may be wrong: more, and the words have nothing to do with each other. */
    if (d <= (nb > 3 ? nb / 3 : 1) && d < nb && (!s->word || d < s->distance)) {
        s->word = candidate;
        s->distance = d;
    }
}
