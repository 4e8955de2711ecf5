/* Tables for people: a row a lock. */
#ifndef PAWL_BENCH_LOCK_REPORT_TEXT_H
#define PAWL_BENCH_LOCK_REPORT_TEXT_H

#include "bench/lock/run.h"

#include <stdio.h>

/* What a report begins with: program, machine, compiler, and what was left out. */
void bench_report_head(FILE *f, const struct bench_plan *plan, const struct bench_left_out *left_out,
                       size_t n);

/* The table of a point. */
void bench_report_point(FILE *f, const struct bench_result *r, const struct bench_point_result *p);

/* Three significant digits with a unit: "812 ns", "9.41 us", "1.2 s"; "4.53 M". Returns text. */
#define BENCH_TEXT_SIZE 24
char *bench_format(char text[BENCH_TEXT_SIZE], enum bench_unit unit, double v);

#endif
