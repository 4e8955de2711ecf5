/* A log-linear histogram of whole numbers (nanoseconds, mostly): 128 equal buckets in every power of two, so
 * a value read back is within 0.4 % of one recorded; what is below 256 is exact. The idea of buckets linear
 * within powers of two is that of Gil Tene's HdrHistogram. Not thread safe: one a thread, merged afterwards.
 */
#ifndef PAWL_BASE_HIST_H
#define PAWL_BASE_HIST_H

#include <stdint.h>

#define BASE_HIST_SUB_BITS 7
#define BASE_HIST_TOP_BITS 42 /* values up to 2^42 - 1: 73 minutes in nanoseconds */
#define BASE_HIST_BUCKETS  ((BASE_HIST_TOP_BITS - BASE_HIST_SUB_BITS + 1) << BASE_HIST_SUB_BITS)
#define BASE_HIST_TOP      ((UINT64_C(1) << BASE_HIST_TOP_BITS) - 1)

struct base_hist {
    uint64_t n;        /* values recorded */
    uint64_t min, max; /* exact; meaningful where n > 0 */
    double sum, sumsq; /* of the exact values */
    uint64_t count[BASE_HIST_BUCKETS];
};

/* Empties h; needed before anything else. */
void base_hist_init(struct base_hist *h);

/* Records v, times times. A value above BASE_HIST_TOP is counted in the last bucket; min, max, mean and
 * deviation still see it exactly. */
void base_hist_add(struct base_hist *h, uint64_t v);
void base_hist_add_n(struct base_hist *h, uint64_t v, uint64_t times);

/* Adds what from holds to h. */
void base_hist_merge(struct base_hist *h, const struct base_hist *from);

/* The smallest recorded value that at least percent (0..100) of all values do not exceed, within 0.4 %; 0
 * gives the minimum, 100 the maximum, both exact. 0 where nothing is recorded. */
uint64_t base_hist_percentile(const struct base_hist *h, double percent);

/* Exact; 0 where nothing is recorded. The deviation is that of the whole population. */
double base_hist_mean(const struct base_hist *h);
double base_hist_stdev(const struct base_hist *h);

/* How many values lie in [low, high], to the width of a bucket at either end. */
uint64_t base_hist_within(const struct base_hist *h, double low, double high);

#endif
