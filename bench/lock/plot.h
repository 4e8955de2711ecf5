/* Plots of a report, drawn by gnuplot. */
#ifndef PAWL_BENCH_LOCK_PLOT_H
#define PAWL_BENCH_LOCK_PLOT_H

#include "bench/lock/run.h"

/* Makes the directory where it is missing and tries gnuplot, so that a long run does not end without plots.
 * Returns 0, or -1 with the reason in error. One thread. */
int bench_plot_prepare(const char *dir, char *error, size_t size);

/* Writes dir/plots.gp, which holds the data too, and has gnuplot draw from it: an SVG for each point, and for
 * each case with more than one number of threads one over these. Returns as above. One thread. */
int bench_plot(const struct bench_result *r, const char *dir, char *error, size_t size);

#endif
