/* What several subcommands have in common: lists in options, signals that end a long run, reports in JSON. */
#ifndef PAWL_CLI_COMMON_H
#define PAWL_CLI_COMMON_H

#include "testbed/report_json.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* The next of a list with commas into text; false at its end. An empty one is one, too. */
bool cli_next_item(const char **rest, char *text, size_t size);

/* SIGINT, SIGTERM or SIGHUP, once one has come; 0 before. What was done by then is reported. */
extern volatile sig_atomic_t cli_stop;
void cli_catch_signals(void);

/* Writes the report into the file, or to standard output where file is NULL, and releases it. NULL for a
 * report: memory ran out. 0, or -1 with *err set; what fails on standard output is seen where that is
 * flushed. */
int cli_write_report(json_t *report, struct tb_report_file *file, struct tb_error *err);

#endif
