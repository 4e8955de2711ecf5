/* What a run measured, as a table in the layout that wrk made known, and as JSON (docs/load.md has the
 * schema). */
#ifndef PAWL_LOAD_REPORT_H
#define PAWL_LOAD_REPORT_H

#include "load/driver.h"

#include <stdio.h>

/* The line before the run: what will be done. */
void load_report_head(FILE *f, const struct load_options *o);

/* The table. distribution: with the percentiles. */
void load_report_table(FILE *f, const struct load_options *o, const struct load_result *r, bool distribution);

/* One JSON object and a newline; false when memory or the output failed. */
bool load_report_json(FILE *f, const struct load_options *o, const struct load_result *r);

/* Sentences that explain errors where there is something to do about them; nothing otherwise. */
void load_report_advice(FILE *f, const struct load_options *o, const struct load_result *r);

#endif
