/* Handlers of the keywords that set one value: numbers, times, mode, balance, options. */
#include "balancer/config/keywords.h"
#include "balancer/config/value.h"

#include <stdlib.h>
#include <string.h>

/* Where the keyword's value lies in the section being read. */
static long *target(struct cfg_parser *p)
{
    char *base = p->kind == CFG_GLOBAL ? (char *)p->cfg : (char *)p->section;

    return (long *)(void *)(base + p->keyword->offset);
}

void cfg_set_number(struct cfg_parser *p, const struct cfg_word *args, size_t nargs)
{
    const struct cfg_keyword *k = p->keyword;
    long value;

    (void)nargs;
    if (cfg_number(args->s, k->lowest, k->highest, &value) != CFG_VALUE_OK) {
        cfg_word_alert(p, args, "'%s': not a value for '%s'; expected a whole number from %ld to %ld",
                       cfg_show(args->s).s, k->name, k->lowest, k->highest);
        return;
    }
    if (!value && !strcmp(k->name, "maxconn")) {
        value = -1; /* as in HAProxy: 0 takes a limit set before away */
    }
    *target(p) = value;
}

void cfg_set_time(struct cfg_parser *p, const struct cfg_word *args, size_t nargs)
{
    long ms;

    (void)nargs;
    switch (cfg_time(args->s, &ms)) {
    case CFG_VALUE_OK:
        *target(p) = ms ? ms : -1; /* as in HAProxy: 0 takes a time-out set before away */
        break;
    case CFG_VALUE_SYNTAX:
        cfg_word_alert(
            p, args, "'%s': not a time for '%s'; expected a whole number and us, ms, s, m, h or d (none: ms)",
            cfg_show(args->s).s, p->keyword->name);
        break;
    case CFG_VALUE_RANGE:
        cfg_word_alert(p, args, "'%s': too long for '%s'; expected at most %ld ms (24 days)",
                       cfg_show(args->s).s, p->keyword->name, CFG_MAX_TIME);
        break;
    }
}

void cfg_set_mode(struct cfg_parser *p, const struct cfg_word *args, size_t nargs)
{
    (void)nargs;
    if (!strcmp(args->s, "http")) {
        p->section->mode = CFG_MODE_HTTP;
        return;
    }
    p->section->mode = CFG_MODE_REFUSED;
    if (!strcmp(args->s, "tcp")) {
        cfg_word_alert(p, args, "'mode tcp' is not supported yet; expected 'mode http'");
    } else {
        cfg_word_alert(p, args, "'%s': not a mode; expected 'mode http'", cfg_show(args->s).s);
    }
}

void cfg_set_balance(struct cfg_parser *p, const struct cfg_word *args, size_t nargs)
{
    (void)nargs;
    if (strcmp(args->s, "roundrobin") != 0) {
        cfg_word_alert(p, args, "'%s': not a supported algorithm; expected 'balance roundrobin'",
                       cfg_show(args->s).s);
        return;
    }
    p->section->px.balance = CFG_BALANCE_ROUNDROBIN;
}

void cfg_set_default_backend(struct cfg_parser *p, const struct cfg_word *args, size_t nargs)
{
    struct cfg_section *s = p->section;

    (void)nargs;
    if (!cfg_model_text(&s->default_backend, args->s)) {
        p->no_memory = true;
        return;
    }
    s->default_backend_at = (struct cfg_where){p->at.file, p->at.line, args->column};
}

/* HAProxy's interval says at which retries another server may be tried: -1, its default, means the last one.
 */
void cfg_set_redispatch(struct cfg_parser *p, const struct cfg_word *args, size_t nargs)
{
    if (!nargs || !strcmp(args->s, "-1")) {
        p->section->px.redispatch = !p->negated;
    } else if (!strcmp(args->s, "0")) {
        p->section->px.redispatch = false;
    } else {
        cfg_word_alert(
            p, args,
            "'%s': not a supported interval of 'option redispatch'; expected -1 (the last retry, the "
            "default) or 0 (never)",
            cfg_show(args->s).s);
    }
}

/* Keep-alive on both sides is all there is, with the option and without, as in HAProxy where no other mode is
 * set. */
void cfg_set_keep_alive(struct cfg_parser *p, const struct cfg_word *args, size_t nargs)
{
    (void)p;
    (void)args;
    (void)nargs;
}

/* RFC 9110, 5.6.2: token. */
static bool is_token(const char *s)
{
    return *s &&
           !s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~")];
}

#define HEADER_MAX 128

static bool check_header(struct cfg_parser *p, const struct cfg_word *name)
{
    /* Fields that say where a message ends or goes: another one of them would change its meaning. */
    static const char *const reserved[] = {
        "Connection", "Content-Length",    "Expect",          "Host", "Keep-Alive", "TE", "Trailer",
        "Upgrade",    "Transfer-Encoding", "Proxy-Connection"};

    if (!is_token(name->s) || strlen(name->s) > HEADER_MAX) {
        cfg_word_alert(
            p, name,
            "'%s': not a header field's name; expected at most %d letters, digits and !#$%%&'*+-.^_`|~",
            cfg_show(name->s).s, HEADER_MAX);
        return false;
    }
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++) {
        if (!strcasecmp(name->s, reserved[i])) {
            cfg_word_alert(p, name,
                           "'%s' has another meaning in HTTP and can't carry addresses; choose another name",
                           cfg_show(name->s).s);
            return false;
        }
    }
    return true;
}

void cfg_set_forwardfor(struct cfg_parser *p, const struct cfg_word *args, size_t nargs)
{
    const char *header = NULL;
    bool if_none = false;

    for (size_t i = 0; i < nargs; i++) {
        if (!strcmp(args[i].s, "if-none")) {
            if_none = true;
        } else if (!strcmp(args[i].s, "header") && i + 1 == nargs) {
            cfg_word_alert(p, &args[i],
                           "'header' of 'option forwardfor' needs a name; expected header <name>");
            return;
        } else if (!strcmp(args[i].s, "header")) {
            header = args[++i].s;
            if (!check_header(p, &args[i])) {
                return;
            }
        } else if (!strcmp(args[i].s, "except")) {
            cfg_word_alert(p, &args[i],
                           "'except' of 'option forwardfor' is not supported yet; expected header "
                           "<name> or if-none");
            return;
        } else {
            cfg_word_alert(p, &args[i],
                           "'%s': not known to 'option forwardfor'; expected header <name> or if-none",
                           cfg_show(args[i].s).s);
            return;
        }
    }
    if (!cfg_model_text(&p->section->px.forwardfor_header, header)) {
        p->no_memory = true;
        return;
    }
    p->section->px.forwardfor = true;
    p->section->px.forwardfor_if_none = if_none;
}
