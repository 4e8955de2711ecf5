#include "cli/common.h"

#include <stdio.h>
#include <string.h>

bool cli_next_item(const char **rest, char *text, size_t size)
{
    size_t length;

    if (!*rest) {
        return false;
    }
    length = strcspn(*rest, ",");
    snprintf(text, size, "%.*s", (int)length, *rest);
    *rest = (*rest)[length] ? *rest + length + 1 : NULL;
    return true;
}

volatile sig_atomic_t cli_stop;

static void on_signal(int signo)
{
    cli_stop = signo;
}

void cli_catch_signals(void)
{
    struct sigaction act = {.sa_handler = on_signal};

    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
    sigaction(SIGHUP, &act, NULL);
}

int cli_write_report(json_t *report, struct tb_report_file *file, struct tb_error *err)
{
    int rc = 0;

    if (!report) {
        rc = tb_fail(err, "out of memory");
    } else if (file) {
        rc = tb_report_write(file, report, err);
    } else if (json_dumpf(report, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(10)) == 0) {
        fputc('\n', stdout);
    } else if (!ferror(stdout)) {
        rc = tb_fail(err, "the report could not be made");
    }
    json_decref(report);
    return rc;
}
