/* Medians, ratios of paired rounds and their bootstrap intervals: what a comparison of repeated measurements
 * needs, and no more. NaN stands for "no value"; nothing here allocates for longer than a call. Any thread.
 */
#ifndef PAWL_BASE_STATS_H
#define PAWL_BASE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most values any of these functions takes. */
#define BASE_STATS_MAX 1000

/* The median of n values, the mean of the two middle ones when n is even. v is not changed. NaN when n is 0,
 * above BASE_STATS_MAX, or a value is NaN. */
double base_median(const double *v, size_t n);

struct base_interval {
    double mid;       /* the median of the values */
    double low, high; /* its interval; NaN when there are fewer than two values */
};

/* The median of n values and a percentile bootstrap interval for it: `resamples` samples of n are drawn with
 * replacement, and low and high cut (1 - level) / 2 of their medians off at either end (Efron and Tibshirani,
 * "An Introduction to the Bootstrap", 1993, section 13.3). The same values and seed give the same interval on
 * every machine. level lies in (0, 1), resamples in 100..1000000. Returns false, all three NaN, when a value
 * is NaN, n is 0 or above BASE_STATS_MAX, an argument is out of range, or memory ran out. */
bool base_bootstrap_median(const double *v, size_t n, double level, unsigned resamples, uint64_t seed,
                           struct base_interval *out);

/* ratios[i] = a[i] / b[i] for n pairs. Returns false when one of them has no value (b is 0, or one is NaN).
 */
bool base_ratios(const double *a, const double *b, size_t n, double *ratios);

#endif
