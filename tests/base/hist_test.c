/* The histogram: its error bound over the whole range, merging, percentiles, mean and deviation. */
#include "base/hist.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* cmocka needs the headers above. */
#include <cmocka.h>

#define US   UINT64_C(1000) /* in nanoseconds */
#define HOUR (UINT64_C(3600000000) * US)

static struct base_hist a, b, both;

static double error_of(uint64_t got, uint64_t wanted)
{
    return fabs((double)got - (double)wanted) / (double)wanted;
}

static void any_value_from_a_microsecond_to_an_hour_is_read_back_within_one_percent(void **state)
{
    (void)state;
    for (uint64_t wanted = US; wanted <= HOUR; wanted += wanted / 271 + 1) {
        base_hist_init(&a);
        base_hist_add(&a, 1); /* so that the ends, which are exact, don't hide the bucket */
        base_hist_add_n(&a, wanted, 98);
        base_hist_add(&a, 2 * HOUR);
        assert_true(error_of(base_hist_percentile(&a, 50), wanted) <= 0.01);
    }
}

static void values_at_both_sides_of_a_power_of_two_are_kept_apart(void **state)
{
    (void)state;
    for (unsigned bit = 7; bit < BASE_HIST_TOP_BITS; bit++) {
        uint64_t high = UINT64_C(1) << bit, low = high - 1;
        base_hist_init(&a);
        base_hist_add(&a, low);
        base_hist_add(&a, high);
        assert_true(error_of(base_hist_percentile(&a, 50), low) <= 0.01);
        assert_int_equal(base_hist_percentile(&a, 100), high);
    }
}

static void small_values_are_exact(void **state)
{
    (void)state;
    for (uint64_t v = 0; v < 256; v++) {
        base_hist_init(&a);
        base_hist_add(&a, 0);
        base_hist_add_n(&a, v, 3);
        base_hist_add(&a, 1000);
        assert_int_equal(base_hist_percentile(&a, 50), v);
    }
}

static void percentiles_are_those_of_the_sorted_values(void **state)
{
    static const double percents[] = {0, 1, 25, 50, 75, 90, 99, 99.9, 100};
    (void)state;
    base_hist_init(&a);
    for (uint64_t i = 1; i <= 1000; i++) {
        base_hist_add(&a, i * US);
    }
    for (size_t i = 0; i < sizeof percents / sizeof *percents; i++) {
        double rank = ceil(percents[i] * 10);
        uint64_t wanted = (uint64_t)(rank < 1 ? 1 : rank) * US;
        assert_true(error_of(base_hist_percentile(&a, percents[i]), wanted) <= 0.01);
    }
    assert_int_equal(base_hist_percentile(&a, 0), 1 * US);
    assert_int_equal(base_hist_percentile(&a, 100), 1000 * US);
}

static void percentiles_never_leave_the_recorded_range(void **state)
{
    (void)state;
    base_hist_init(&a);
    base_hist_add_n(&a, 1000003, 10);
    for (int half = 0; half <= 200; half++) {
        assert_int_equal(base_hist_percentile(&a, half / 2.0), 1000003);
    }
}

static void merging_equals_recording_everything_in_one(void **state)
{
    (void)state;
    base_hist_init(&a);
    base_hist_init(&b);
    base_hist_init(&both);
    uint64_t v = 12345;
    for (int i = 0; i < 20000; i++) {
        v = v * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t value = v >> (24 + v % 30);
        base_hist_add(i % 3 ? &a : &b, value);
        base_hist_add(&both, value);
    }
    base_hist_merge(&a, &b);
    assert_int_equal(a.n, both.n);
    assert_int_equal(a.min, both.min);
    assert_int_equal(a.max, both.max);
    assert_memory_equal(a.count, both.count, sizeof a.count);
    assert_true(fabs(base_hist_mean(&a) / base_hist_mean(&both) - 1) < 1e-9);
    assert_true(fabs(base_hist_stdev(&a) / base_hist_stdev(&both) - 1) < 1e-9);
}

static void merging_an_empty_one_changes_nothing(void **state)
{
    (void)state;
    base_hist_init(&a);
    base_hist_init(&b);
    base_hist_add(&a, 77);
    base_hist_merge(&a, &b);
    assert_int_equal(a.n, 1);
    assert_int_equal(a.min, 77);
    assert_int_equal(a.max, 77);
}

static void mean_and_deviation_are_exact(void **state)
{
    static const uint64_t values[] = {2, 4, 4, 4, 5, 5, 7, 9};
    (void)state;
    base_hist_init(&a);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        base_hist_add(&a, values[i] * 1000000);
    }
    assert_true(fabs(base_hist_mean(&a) - 5e6) < 1e-3);
    assert_true(fabs(base_hist_stdev(&a) - 2e6) < 1e-3);
    assert_int_equal(base_hist_within(&a, 3e6, 7.02e6), 6);
}

static void equal_values_have_no_deviation(void **state)
{
    (void)state;
    base_hist_init(&a);
    base_hist_add_n(&a, 123456789, 1000);
    assert_true(base_hist_stdev(&a) < 1);
}

static void an_empty_one_gives_zeros(void **state)
{
    (void)state;
    base_hist_init(&a);
    assert_int_equal(base_hist_percentile(&a, 50), 0);
    assert_true(base_hist_mean(&a) == 0);
    assert_true(base_hist_stdev(&a) == 0);
    assert_int_equal(base_hist_within(&a, 0, 1e18), 0);
}

static void values_above_the_range_keep_their_exact_maximum(void **state)
{
    (void)state;
    base_hist_init(&a);
    base_hist_add_n(&a, 1000, 9);
    base_hist_add(&a, UINT64_MAX);
    assert_int_equal(a.max, UINT64_MAX);
    assert_int_equal(base_hist_percentile(&a, 100), UINT64_MAX);
    assert_int_equal(base_hist_percentile(&a, 50), 1002); /* the middle of its bucket */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_value_from_a_microsecond_to_an_hour_is_read_back_within_one_percent),
        cmocka_unit_test(values_at_both_sides_of_a_power_of_two_are_kept_apart),
        cmocka_unit_test(small_values_are_exact),
        cmocka_unit_test(percentiles_are_those_of_the_sorted_values),
        cmocka_unit_test(percentiles_never_leave_the_recorded_range),
        cmocka_unit_test(merging_equals_recording_everything_in_one),
        cmocka_unit_test(merging_an_empty_one_changes_nothing),
        cmocka_unit_test(mean_and_deviation_are_exact),
        cmocka_unit_test(equal_values_have_no_deviation),
        cmocka_unit_test(an_empty_one_gives_zeros),
        cmocka_unit_test(values_above_the_range_keep_their_exact_maximum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
