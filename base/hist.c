/* The log-linear histogram. A value's bucket: below 2^SUB_BITS the value itself; above, its highest SUB_BITS
 * + 1 bits (the leading one tells nothing new) behind the number of bits dropped. */
#include "base/hist.h"

#include <math.h>
#include <string.h>

#define SUB (1u << BASE_HIST_SUB_BITS)

static unsigned bucket_of(uint64_t v)
{
    if (v > BASE_HIST_TOP) {
        v = BASE_HIST_TOP;
    }
    if (v < SUB) {
        return (unsigned)v;
    }
    unsigned dropped = 63 - (unsigned)__builtin_clzll(v) - BASE_HIST_SUB_BITS;
    return (dropped << BASE_HIST_SUB_BITS) + (unsigned)(v >> dropped);
}

/* The value in the middle of a bucket, which stands for all of it. */
static uint64_t bucket_middle(unsigned b)
{
    if (b < 2 * SUB) {
        return b;
    }
    unsigned dropped = (b >> BASE_HIST_SUB_BITS) - 1;
    uint64_t low = (uint64_t)(b - (dropped << BASE_HIST_SUB_BITS)) << dropped;
    return low + (UINT64_C(1) << dropped) / 2;
}

void base_hist_init(struct base_hist *h)
{
    memset(h, 0, sizeof *h);
    h->min = UINT64_MAX;
}

void base_hist_add(struct base_hist *h, uint64_t v)
{
    base_hist_add_n(h, v, 1);
}

void base_hist_add_n(struct base_hist *h, uint64_t v, uint64_t times)
{
    if (times == 0) {
        return;
    }
    double d = (double)v, t = (double)times;
    h->n += times;
    h->sum += d * t;
    h->sumsq += d * d * t;
    h->count[bucket_of(v)] += times;
    if (v < h->min) {
        h->min = v;
    }
    if (v > h->max) {
        h->max = v;
    }
}

void base_hist_merge(struct base_hist *h, const struct base_hist *from)
{
    h->n += from->n;
    h->sum += from->sum;
    h->sumsq += from->sumsq;
    for (unsigned b = 0; b < BASE_HIST_BUCKETS; b++) {
        h->count[b] += from->count[b];
    }
    if (from->min < h->min) {
        h->min = from->min;
    }
    if (from->max > h->max) {
        h->max = from->max;
    }
}

uint64_t base_hist_percentile(const struct base_hist *h, double percent)
{
    if (h->n == 0) {
        return 0;
    }
    if (!(percent > 0)) {
        return h->min;
    }
    double rank = ceil(percent / 100 * (double)h->n);
    if (rank >= (double)h->n) {
        return h->max;
    }
    uint64_t seen = 0;
    for (unsigned b = 0; b < BASE_HIST_BUCKETS; b++) {
        seen += h->count[b];
        if ((double)seen >= rank) {
            uint64_t v = bucket_middle(b);
            return v < h->min ? h->min : v > h->max ? h->max : v;
        }
    }
    return h->max;
}

double base_hist_mean(const struct base_hist *h)
{
    return h->n ? h->sum / (double)h->n : 0;
}

double base_hist_stdev(const struct base_hist *h)
{
    if (h->n == 0) {
        return 0;
    }
    double mean = base_hist_mean(h), var = h->sumsq / (double)h->n - mean * mean;
    return var > 0 ? sqrt(var) : 0; /* rounding may leave it a hair below 0 */
}

uint64_t base_hist_within(const struct base_hist *h, double low, double high)
{
    uint64_t n = 0;
    for (unsigned b = 0; b < BASE_HIST_BUCKETS; b++) {
        double v = (double)bucket_middle(b);
        if (v >= low && v <= high) {
            n += h->count[b];
        }
    }
    return n;
}
