/* One line of a configuration cut into words: quoting, escapes, comments, environment variables, as the
 * HAProxy manual describes them in sections 2.2 and 2.3. Knows no keyword. */
#ifndef PAWL_BALANCER_CONFIG_LEX_H
#define PAWL_BALANCER_CONFIG_LEX_H

#include <stdbool.h>
#include <stddef.h>

#define CFG_MAX_WORDS 64
#define CFG_MAX_LINE  65536 /* bytes of a line, and of its words once variables are expanded */

struct cfg_word {
    const char *s;   /* terminated; valid until the next line */
    unsigned column; /* from 1, of the first byte in the line */
    bool expanded;   /* nothing but variables stands in it: empty means that they are unset or empty */
};

/* What the pseudo-variables .FILE, .LINE and .SECTION stand for. */
struct cfg_lex_place {
    const char *file, *section;
    unsigned line;
};

struct cfg_lexer {
    struct cfg_word words[CFG_MAX_WORDS];
    size_t nwords;
    const char *error; /* static text */
    unsigned error_column;
    char text[CFG_MAX_LINE + CFG_MAX_WORDS]; /* the words */
};

/* Cuts line[0..len), which holds no line end. false: error and error_column say why not. */
bool cfg_lex(struct cfg_lexer *lx, const char *line, size_t len, const struct cfg_lex_place *place);

#endif
