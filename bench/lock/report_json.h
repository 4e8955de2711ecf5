/* The report as JSON: every figure of every round. */
#ifndef PAWL_BENCH_LOCK_REPORT_JSON_H
#define PAWL_BENCH_LOCK_REPORT_JSON_H

#include "bench/lock/run.h"

#include <jansson.h>

/* The report of the points that are done; the caller's. NULL when memory ran out. docs/bench.md has its
 * format. */
json_t *bench_report_json(const struct bench_result *r, const struct bench_left_out *left_out, size_t n);

#endif
