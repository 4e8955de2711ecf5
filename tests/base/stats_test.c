/* Medians, ratios and bootstrap intervals. */
#include "base/stats.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define N(a) (sizeof(a) / sizeof *(a))

static void same(double a, double b)
{
    if (!(fabs(a - b) < 1e-9)) {
        fail_msg("%.12g where %.12g was expected", a, b);
    }
}

static void the_median_is_the_middle_or_the_mean_of_both_middles(void **state)
{
    const double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 100}, one[] = {7};

    (void)state;
    same(base_median(odd, 3), 3);
    same(base_median(even, 4), 3.5);
    same(base_median(one, 1), 7);
    same(odd[0], 5); /* not sorted in place */
}

static void no_value_has_no_median(void **state)
{
    const double with_nan[] = {1, NAN, 3};
    double many[BASE_STATS_MAX + 1] = {0};

    (void)state;
    assert_true(isnan(base_median(with_nan, 3)));
    assert_true(isnan(base_median(with_nan, 0)));
    assert_true(isnan(base_median(many, N(many))));
}

static void the_interval_of_five_rounds_goes_from_the_least_to_the_most(void **state)
{
    /* The median of a sample of five is the least value when that is drawn three times: in 6 % of the
     * samples. */
    const double v[] = {1.3, 1.1, 1.5, 1.2, 1.4};
    struct base_interval i;

    (void)state;
    assert_true(base_bootstrap_median(v, 5, 0.95, 10000, 1, &i));
    same(i.mid, 1.3);
    same(i.low, 1.1);
    same(i.high, 1.5);
}

static void the_interval_narrows_with_more_values(void **state)
{
    double v[101];
    struct base_interval i;

    (void)state;
    for (size_t n = 0; n < N(v); n++) {
        v[n] = 1 + (double)n / 100;
    }
    assert_true(base_bootstrap_median(v, N(v), 0.95, 10000, 1, &i));
    same(i.mid, 1.5);
    /* Order statistics give 40 to 60 of 101 for a 95 % interval of the median; the bootstrap comes close to
     * it. */
    assert_true(i.low > 1.36 && i.low < 1.44);
    assert_true(i.high > 1.56 && i.high < 1.64);
}

static void the_same_seed_gives_the_same_interval(void **state)
{
    const double v[] = {1.31, 0.97, 1.52, 1.22, 1.48, 0.88, 1.01, 1.75};
    struct base_interval a, b;

    (void)state;
    assert_true(base_bootstrap_median(v, N(v), 0.9, 5000, 42, &a));
    assert_true(base_bootstrap_median(v, N(v), 0.9, 5000, 42, &b));
    assert_memory_equal(&a, &b, sizeof a);
}

static void equal_values_have_an_interval_without_width(void **state)
{
    const double v[] = {2, 2, 2, 2, 2};
    struct base_interval i;

    (void)state;
    assert_true(base_bootstrap_median(v, N(v), 0.95, 1000, 1, &i));
    same(i.low, 2);
    same(i.high, 2);
}

static void one_value_has_no_interval(void **state)
{
    const double v[] = {2};
    struct base_interval i;

    (void)state;
    assert_true(base_bootstrap_median(v, 1, 0.95, 1000, 1, &i));
    same(i.mid, 2);
    assert_true(isnan(i.low) && isnan(i.high));
}

static void arguments_out_of_range_give_no_value(void **state)
{
    const double v[] = {1, 2, 3}, with_nan[] = {1, NAN, 3};
    struct base_interval i;

    (void)state;
    assert_false(base_bootstrap_median(v, 0, 0.95, 1000, 1, &i));
    assert_false(base_bootstrap_median(v, 3, 0, 1000, 1, &i));
    assert_false(base_bootstrap_median(v, 3, 1, 1000, 1, &i));
    assert_false(base_bootstrap_median(v, 3, NAN, 1000, 1, &i));
    assert_false(base_bootstrap_median(v, 3, 0.95, 99, 1, &i));
    assert_false(base_bootstrap_median(with_nan, 3, 0.95, 1000, 1, &i));
    assert_true(isnan(i.mid) && isnan(i.low) && isnan(i.high));
}

static void ratios_are_of_pairs_and_need_a_divisor(void **state)
{
    const double a[] = {2, 0, 9}, b[] = {4, 5, 3}, zero[] = {4, 0, 3};
    double r[3];

    (void)state;
    assert_true(base_ratios(a, b, 3, r));
    same(r[0], 0.5);
    same(r[1], 0);
    same(r[2], 3);
    assert_false(base_ratios(a, zero, 3, r));
    same(r[2], 3);
    assert_true(isnan(r[1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_median_is_the_middle_or_the_mean_of_both_middles),
        cmocka_unit_test(no_value_has_no_median),
        cmocka_unit_test(the_interval_of_five_rounds_goes_from_the_least_to_the_most),
        cmocka_unit_test(the_interval_narrows_with_more_values),
        cmocka_unit_test(the_same_seed_gives_the_same_interval),
        cmocka_unit_test(equal_values_have_an_interval_without_width),
        cmocka_unit_test(one_value_has_no_interval),
        cmocka_unit_test(arguments_out_of_range_give_no_value),
        cmocka_unit_test(ratios_are_of_pairs_and_need_a_divisor),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
