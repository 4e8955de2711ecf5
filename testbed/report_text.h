/* The report as a table for people. */
#ifndef PAWL_TESTBED_REPORT_TEXT_H
#define PAWL_TESTBED_REPORT_TEXT_H

#include "testbed/run.h"

#include <stdio.h>

/* Writes the whole report: for each case the table, the verdicts, and what makes them doubtful. The caller
 * checks the stream. */
void tb_report_text(FILE *f, const struct tb_result *result);

#endif
