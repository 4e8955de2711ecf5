/* Medians and bootstrap intervals. The random numbers are splitmix64's, so that a report can be computed
 * again. */
#include "base/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The few rounds of a comparison are sorted ten thousand times: insertion is many times faster than qsort()
 * there. */
static void sort(double *v, size_t n)
{
    if (n > 24) {
        qsort(v, n, sizeof *v, by_value);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        double x = v[i];
        size_t j = i;

        for (; j > 0 && v[j - 1] > x; j--) {
            v[j] = v[j - 1];
        }
        v[j] = x;
    }
}

static double sorted_median(double *v, size_t n)
{
    sort(v, n);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static bool all_values(const double *v, size_t n)
{
    if (!n || n > BASE_STATS_MAX) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (isnan(v[i])) {
            return false;
        }
    }
    return true;
}

double base_median(const double *v, size_t n)
{
    double copy[BASE_STATS_MAX];

    if (!all_values(v, n)) {
        return NAN;
    }
    memcpy(copy, v, n * sizeof *v);
    return sorted_median(copy, n);
}

/* splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014, figure
 * 17). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A number below n, n at most BASE_STATS_MAX: the high half of a product, whose bias of n / 2^32 does not
 * show. */
static size_t random_below(uint64_t *state, size_t n)
{
    return (size_t)(((next_random(state) >> 32) * n) >> 32);
}

bool base_bootstrap_median(const double *v, size_t n, double level, unsigned resamples, uint64_t seed,
                           struct base_interval *out)
{
    double sample[BASE_STATS_MAX];
    double *medians;
    size_t cut;

    *out = (struct base_interval){NAN, NAN, NAN};
    if (!all_values(v, n) || !(level > 0 && level < 1) || resamples < 100 || resamples > 1000000) {
        return false;
    }
    if (n == 1) {
        out->mid = v[0];
        return true;
    }
    medians = malloc(resamples * sizeof *medians);
    if (!medians) {
        return false;
    }
    for (unsigned r = 0; r < resamples; r++) {
        for (size_t i = 0; i < n; i++) {
            sample[i] = v[random_below(&seed, n)];
        }
        medians[r] = sorted_median(sample, n);
    }
    qsort(medians, resamples, sizeof *medians, by_value);
    cut = (size_t)floor((1 - level) / 2 * resamples);
    out->mid = base_median(v, n);
    out->low = medians[cut];
    out->high = medians[resamples - 1 - cut];
    free(medians);
    return true;
}

bool base_ratios(const double *a, const double *b, size_t n, double *ratios)
{
    bool whole = true;

    for (size_t i = 0; i < n; i++) {
        ratios[i] = b[i] > 0 || b[i] < 0 ? a[i] / b[i] : NAN;
        whole = whole && !isnan(ratios[i]);
    }
    return whole;
}
