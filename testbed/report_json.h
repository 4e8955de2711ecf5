/* report.json: everything that was measured and how (docs/testbed.md has the schema). */
#ifndef PAWL_TESTBED_REPORT_JSON_H
#define PAWL_TESTBED_REPORT_JSON_H

#include "testbed/run.h"

/* The whole report; NULL when memory ran out. The caller releases it. */
json_t *tb_report_json(const struct tb_result *result);

/* A report file that is made ready before the run, so that a path that cannot be written ends it at once, and
 * that replaces what was there only once it is whole. */
struct tb_report_file {
    char path[TB_PATH_SIZE]; /* where the report will be */
    char
        partial[TB_PATH_SIZE + 8]; /* where it is written first; empty: into path itself (a pipe, a device) */
    int fd;                        /* -1: none */
};

/* Opens it. where is a file, or a directory (that exists, or ends in a slash and is made) for report.json in
 * it. Returns 0, or -1 with *err set. */
int tb_report_open(struct tb_report_file *r, const char *where, struct tb_error *err);

/* Writes the report and puts it in its place. Returns 0, or -1 with *err set and what was written taken away.
 */
int tb_report_write(struct tb_report_file *r, const json_t *report, struct tb_error *err);

/* Takes away what was opened and not written. */
void tb_report_close(struct tb_report_file *r);

#endif
