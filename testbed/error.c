/* Errors of a run. */
#include "testbed/error.h"

#include <stdarg.h>
#include <stdio.h>

__attribute__((format(printf, 3, 0))) static int keep_first(struct tb_error *err, int status,
                                                            const char *format, va_list ap)
{
    if (!err->status) {
        err->status = status;
        vsnprintf(err->text, sizeof err->text, format, ap);
        for (char *c = err->text; *c; c++) { /* it may quote what a program said: still one line */
            *c = (unsigned char)*c < ' ' || *c == 0x7f ? ' ' : *c;
        }
    }
    return -1;
}

int tb_fail(struct tb_error *err, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    keep_first(err, TB_EXIT_FAILED, format, ap);
    va_end(ap);
    return -1;
}

int tb_misuse(struct tb_error *err, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    keep_first(err, TB_EXIT_USAGE, format, ap);
    va_end(ap);
    return -1;
}
