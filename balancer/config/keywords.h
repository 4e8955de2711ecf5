/* The keywords of the language: one table that drives parsing, the "what may stand here" lists and the check
 * of docs/configuration.md. */
#ifndef PAWL_BALANCER_CONFIG_KEYWORDS_H
#define PAWL_BALANCER_CONFIG_KEYWORDS_H

#include "balancer/config/diag.h"
#include "balancer/config/lex.h"
#include "balancer/config/model.h"

struct cfg_keyword;

/* The parser's state as handlers see it. */
struct cfg_parser {
    struct cfg *cfg;
    struct cfg_diag diag;
    struct cfg_where at;         /* the line being read, the column of its first word */
    unsigned kind;               /* of the section being read; 0: none yet */
    bool skipping;               /* that section isn't known: its lines are passed over */
    struct cfg_section *section; /* NULL in global */
    struct cfg_section *base;    /* the latest defaults section */
    const struct cfg_keyword *keyword;
    bool negated;   /* "no" stands before it */
    bool no_memory; /* give up */
    struct cfg_lexer lex;
};

/* Gets the words behind the keyword, as many as the table allows, none of them empty. */
typedef void cfg_set_fn(struct cfg_parser *p, const struct cfg_word *args, size_t nargs);

struct cfg_keyword {
    const char *name;   /* one word or two */
    const char *syntax; /* as documented */
    unsigned allowed;   /* sections it may stand in */
    unsigned ignored;   /* sections where it has no effect and is passed over with a warning, as in HAProxy */
    unsigned char min, max; /* number of arguments */
    unsigned char
        options;    /* from this argument on (the first is 1) words that variables left empty are dropped */
    bool negatable; /* "no" may stand before it */
    cfg_set_fn *set;
    size_t offset;        /* of the value in struct cfg (global) or struct cfg_section */
    long lowest, highest; /* of a number */
};

/* A parameter that may follow on a server line. */
struct cfg_server_param {
    const char *name, *syntax;
    long highest;
    size_t offset; /* in struct cfg_server_settings */
};

struct cfg_section_type {
    const char *name, *syntax;
    unsigned kind;
};

extern const struct cfg_keyword cfg_keywords[];
extern const size_t cfg_nkeywords;
extern const struct cfg_server_param cfg_server_params[];
extern const size_t cfg_nserver_params;
extern const struct cfg_section_type cfg_section_types[];
extern const size_t cfg_nsection_types;

/* Lists of names, joined with ", ", cut where they don't fit; in a struct so that it can be passed as an
 * argument. */
struct cfg_list {
    char s[1024];
};
struct cfg_list cfg_list_sections(unsigned kinds);
struct cfg_list cfg_list_keywords(unsigned kind, const char *first_word); /* first_word NULL: all */

/* An error (warning) at a word of the line being read. */
#define cfg_word_alert(p, word, ...) \
    cfg_alert(&(p)->diag, &(struct cfg_where){(p)->at.file, (p)->at.line, (word)->column}, __VA_ARGS__)
#define cfg_word_warn(p, word, ...) \
    cfg_warn(&(p)->diag, &(struct cfg_where){(p)->at.file, (p)->at.line, (word)->column}, __VA_ARGS__)

/* Handlers, by file: settings.c, bind.c, server.c. */
cfg_set_fn cfg_set_number, cfg_set_time, cfg_set_mode, cfg_set_balance, cfg_set_default_backend,
    cfg_set_redispatch, cfg_set_forwardfor, cfg_set_keep_alive, cfg_set_bind, cfg_set_server,
    cfg_set_default_server;

/* Starts the section that words announce; words[0] is its type's name. section.c */
void cfg_start_section(struct cfg_parser *p, const struct cfg_section_type *type,
                       const struct cfg_word *words, size_t nwords);

/* A name of a proxy, a defaults section or a server: letters, digits and -_.: only. Tells what is wrong. */
bool cfg_check_name(struct cfg_parser *p, const char *what, const struct cfg_word *word);

/* Checks what only the whole configuration can tell, resolves default_backend. check.c */
void cfg_check(struct cfg_parser *p);

#endif
