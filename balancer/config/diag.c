/* Writes diagnostics. Nothing from a configuration reaches the terminal unescaped. */
#include "balancer/config/diag.h"

#include <stdarg.h>
#include <string.h>

/* Bytes of UTF-8 pass; what could move a cursor doesn't. */
static bool printable(unsigned char c)
{
    return c >= 0x20 && c != 0x7f;
}

static void write_file(FILE *out, const char *file)
{
    for (; *file; file++) {
        if (printable((unsigned char)*file)) {
            fputc(*file, out);
        } else {
            fprintf(out, "\\x%02x", (unsigned char)*file);
        }
    }
}

__attribute__((format(printf, 4, 0))) static void tell(struct cfg_diag *d, const char *level,
                                                       const struct cfg_where *where, const char *format,
                                                       va_list args)
{
    fprintf(d->out, "%-10s config: ", level);
    write_file(d->out, where->file);
    if (where->line) {
        fprintf(d->out, ":%u:%u", where->line, where->column);
    }
    fputs(": ", d->out);
    vfprintf(d->out, format, args);
    fputc('\n', d->out);
}

void cfg_alert(struct cfg_diag *d, const struct cfg_where *where, const char *format, ...)
{
    va_list args;

    if (d->nerrors++ < CFG_MAX_ERRORS) {
        va_start(args, format);
        tell(d, "[ALERT]", where, format, args);
        va_end(args);
    }
    if (d->nerrors == CFG_MAX_ERRORS) {
        fprintf(d->out, "%-10s config: %d errors, giving up; correct these and check again\n", "[ALERT]",
                CFG_MAX_ERRORS);
    }
}

void cfg_warn(struct cfg_diag *d, const struct cfg_where *where, const char *format, ...)
{
    va_list args;

    if (d->nwarnings++ < CFG_MAX_WARNINGS) {
        va_start(args, format);
        tell(d, "[WARNING]", where, format, args);
        va_end(args);
    }
    if (d->nwarnings == CFG_MAX_WARNINGS) {
        fprintf(d->out, "%-10s config: %d warnings, further ones are not shown\n", "[WARNING]",
                CFG_MAX_WARNINGS);
    }
}

bool cfg_diag_full(const struct cfg_diag *d)
{
    return d->nerrors >= CFG_MAX_ERRORS;
}

struct cfg_shown cfg_show(const char *word)
{
    struct cfg_shown out;
    size_t n = 0;

    for (; *word; word++) {
        if (n + sizeof "\\xNN..." > sizeof out.s) {
            memcpy(out.s + n, "...", 4);
            return out;
        }
        if (printable((unsigned char)*word)) {
            out.s[n++] = *word;
        } else {
            n += (size_t)snprintf(out.s + n, sizeof out.s - n, "\\x%02x", (unsigned char)*word);
        }
    }
    out.s[n] = '\0';
    return out;
}
