/* From counters to figures: fairness, open waits, unserved threads, the check of what a lock guards; which
 * lock fits which workload. Nothing runs here: the trials are filled in by hand. */
#include "bench/lock/locks.h"
#include "bench/lock/report_text.h"
#include "bench/lock/sample.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* cmocka needs the headers above. */
#include <cmocka.h>

static struct bench_point point;

/* A second of measured time, in which each thread wrote ten times and waited 1000 ns each time. */
static struct bench_trial *a_trial(const char *lock, unsigned threads)
{
    struct bench_trial *t;

    bench_point_make(&point, bench_case_find("w100-tiny"), threads);
    t = bench_trial_new(bench_lock_find(lock), &point);
    assert_non_null(t);
    t->measured = t->quiet = true;
    t->window_ns = 1000000000;
    t->cpu_ns = 500000000;
    for (unsigned i = 0; i < threads; i++) {
        t->seats[i].ops_to[1] = t->seats[i].worker.ops[1] = 10;
        t->seats[i].longest_ns[1] = 1000;
        base_hist_add_n(&t->seats[i].wait[1], 1000, 10);
    }
    t->sum_first = t->sum_second = 10 * threads;
    return t;
}

static struct bench_sample sample_of(struct bench_trial *t)
{
    struct bench_sample s;

    bench_sample_take(&s, t, BENCH_DONE);
    bench_trial_free(t);
    return s;
}

static void near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-9 * fabs(wanted))) {
        print_error("got %g, not %g\n", got, wanted);
    }
    assert_true(fabs(got - wanted) <= 1e-9 * fabs(wanted));
}

/* The report of one point, `none` having used so many cores of two. */
static void report_none(double cores, char *text, size_t size)
{
    static struct bench_row row;
    static struct bench_plan plan = {.rounds = 1, .cores = 2};
    static struct bench_result r = {.plan = &plan};
    struct bench_point_result p = {.point = &point, .time_ms = 1000, .n_rows = 1, .rows = &row};
    FILE *f = fmemopen(text, size, "w");

    assert_non_null(f);
    row.rounds[0] = sample_of(a_trial("none", 4));
    row.rounds[0].v[BENCH_CORES] = cores;
    row.lock = plan.locks[0] = bench_lock_find("none");
    plan.n_locks = 1;
    bench_report_point(f, &r, &p);
    fclose(f);
}

static void a_machine_used_by_others_is_told_of(void **state)
{
    char text[4000];

    (void)state;
    report_none(1.9, text, sizeof text);
    assert_null(strstr(text, "note:"));
    report_none(0.3, text, sizeof text);
    assert_non_null(strstr(text, "note: even without a lock (none) these threads got 0.30 of 2 cores"));
}

static void jain_is_one_for_equal_shares_and_a_quarter_when_one_of_four_has_all(void **state)
{
    static const double equal[] = {7, 7, 7, 7}, all[] = {0, 9, 0, 0}, two[] = {1, 3}, nothing[] = {0, 0};

    (void)state;
    near(bench_jain(equal, 4), 1);
    near(bench_jain(all, 4), 0.25);
    near(bench_jain(two, 2), 16.0 / 20);
    assert_true(isnan(bench_jain(nothing, 2)));
    assert_true(isnan(bench_jain(equal, 0)));
}

static void counters_become_rates(void **state)
{
    struct bench_sample s = sample_of(a_trial("mutex", 4));

    (void)state;
    assert_true(s.measured && s.checked && !s.broken && !s.killed);
    near(s.v[BENCH_OPS], 40);
    near(s.v[BENCH_WRITE_OPS], 40);
    near(s.v[BENCH_CORES], 0.5);
    near(s.v[BENCH_CPU_OP], 12.5e6);
    near(s.v[BENCH_UNSERVED], 0);
    near(s.v[BENCH_JAIN], 1);
    near(s.v[BENCH_LONGEST], 1000);
    assert_true(isnan(s.v[BENCH_READ_P50]));
    assert_true(isnan(s.v[BENCH_SOLO_READ]));
}

static void a_wait_still_open_at_the_end_is_the_longest(void **state)
{
    struct bench_trial *t = a_trial("mutex", 4);
    struct bench_sample s;

    (void)state;
    t->seats[2].open_ns[1] = 900000000;
    s = sample_of(t);
    near(s.v[BENCH_LONGEST], 900000000);
    near(s.v[BENCH_WRITE_LONGEST], 900000000);
    assert_true(s.v[BENCH_P999] > 890000000); /* one of 41 */
    assert_true(s.v[BENCH_P50] < 1010);
}

static void a_wait_that_was_not_timed_can_be_the_longest_too(void **state)
{
    struct bench_trial *t = a_trial("mutex", 2);
    struct bench_sample s;

    (void)state;
    t->seats[1].longest_ns[0] = 5000000;
    t->seats[1].longest_ns[1] = 70000000;
    s = sample_of(t);
    near(s.v[BENCH_LONGEST], 70000000);
    near(s.v[BENCH_WRITE_LONGEST], 70000000);
}

static void operations_of_the_warm_up_serve_nobody(void **state)
{
    struct bench_trial *t = a_trial("mutex", 4);
    struct bench_sample s;

    (void)state;
    t->seats[3].ops_from[1] = 10; /* all it did, it did before */
    s = sample_of(t);
    near(s.v[BENCH_UNSERVED], 1);
    near(s.v[BENCH_JAIN], 0.75);
    near(s.v[BENCH_OPS], 30);
    assert_false(s.broken);
}

static void a_lost_update_breaks_a_lock(void **state)
{
    struct bench_trial *t = a_trial("mutex", 2);

    (void)state;
    t->sum_second--;
    assert_true(sample_of(t).broken);
    t = a_trial("mutex", 2);
    t->seats[1].worker.broken = 1;
    assert_true(sample_of(t).broken);
}

static void what_guards_nothing_is_not_checked(void **state)
{
    struct bench_trial *t = a_trial("none", 2);
    struct bench_sample s;

    (void)state;
    t->sum_first = 0;
    s = sample_of(t);
    assert_false(s.checked);
    assert_false(s.unchecked);
    assert_false(s.broken);
}

static void threads_that_did_not_end_leave_a_lock_unchecked(void **state)
{
    struct bench_trial *t = a_trial("mutex", 2);
    struct bench_sample s;

    (void)state;
    t->quiet = false;
    t->sum_first = 0;
    s = sample_of(t);
    assert_true(s.unchecked);
    assert_false(s.broken);
    near(s.v[BENCH_OPS], 20);
}

static void a_killed_trial_without_figures_has_none(void **state)
{
    struct bench_trial *t = a_trial("mutex", 2);
    struct bench_sample s;

    (void)state;
    t->measured = false;
    bench_sample_take(&s, t, BENCH_KILLED);
    bench_trial_free(t);
    assert_true(s.killed);
    assert_false(s.measured);
    for (int m = 0; m < BENCH_MEASURES; m++) {
        assert_true(isnan(s.v[m]));
    }
}

static void a_figure_is_the_median_of_the_rounds_that_have_one(void **state)
{
    struct bench_sample rounds[4] = {0};
    struct base_interval v;

    (void)state;
    for (int i = 0; i < 4; i++) {
        rounds[i].v[BENCH_OPS] = (double[]){30, NAN, 10, 20}[i];
        rounds[i].v[BENCH_JAIN] = NAN;
    }
    assert_true(bench_figure(rounds, 4, BENCH_OPS, &v));
    near(v.mid, 20);
    assert_true(v.low >= 10 && v.high <= 30);
    assert_false(bench_figure(rounds, 4, BENCH_JAIN, &v));
    assert_true(isnan(v.mid));
}

static const char *misfit(const struct bench_lock *lock, const char *name, unsigned threads)
{
    bench_point_make(&point, bench_case_find(name), threads);
    return bench_misfit(lock, &point);
}

static void locks_are_measured_only_where_they_fit(void **state)
{
    static const struct bench_lock one_writer = {.name = "x", .flags = BENCH_SHARED | BENCH_ONE_WRITER};

    (void)state;
    assert_non_null(misfit(&one_writer, "w1-tiny", 2));
    assert_non_null(misfit(&one_writer, "starve-reader", 5));
    assert_non_null(misfit(&one_writer, "sleep", 5));
    assert_null(misfit(&one_writer, "starve-writer", 5));
    assert_null(misfit(&one_writer, "w100-tiny", 1));
    assert_null(misfit(&one_writer, "uncontended", 1));
    assert_non_null(misfit(bench_lock_find("mutex"), "read-held", 1));
    assert_null(misfit(bench_lock_find("rwlock"), "read-held", 1));
    assert_non_null(misfit(bench_lock_find("atomics"), "w100-tiny", 2));
    assert_null(misfit(bench_lock_find("atomics"), "uncontended", 1));
    assert_non_null(misfit(bench_lock_find("none"), "sleep", 5));
}

static void names_are_unique_and_words(void **state)
{
    size_t n, cases;
    const struct bench_lock *const *locks = bench_locks(&n);
    const struct bench_case *c = bench_cases(&cases);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        assert_ptr_equal(bench_lock_find(locks[i]->name), locks[i]);
        assert_int_equal(strspn(locks[i]->name, "abcdefghijklmnopqrstuvwxyz0123456789-"),
                         strlen(locks[i]->name));
    }
    for (size_t i = 0; i < cases; i++) {
        assert_ptr_equal(bench_case_find(c[i].name), &c[i]);
    }
}

static void figures_are_printed_with_three_digits(void **state)
{
    static const struct {
        enum bench_unit unit;
        double v;
        const char *text;
    } cases[] = {
        {BENCH_NS, 9.449, "9.45ns"},  {BENCH_NS, 99.94, "99.9ns"}, {BENCH_NS, 999.4, "999ns"},
        {BENCH_NS, 999.6, "1.00us"},  {BENCH_NS, 2.5e9, "2.50s"},  {BENCH_NS, 0, "0.00ns"},
        {BENCH_RATE, 1e6, "1.00M"},   {BENCH_RATE, 12, "12.0"},    {BENCH_COUNT, 501, "501"},
        {BENCH_RATIO, 0.98, "0.980"}, {BENCH_NS, NAN, "-"},        {BENCH_COUNT, NAN, "-"},
    };
    char text[BENCH_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(bench_format(text, cases[i].unit, cases[i].v), cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_machine_used_by_others_is_told_of),
        cmocka_unit_test(jain_is_one_for_equal_shares_and_a_quarter_when_one_of_four_has_all),
        cmocka_unit_test(counters_become_rates),
        cmocka_unit_test(a_wait_still_open_at_the_end_is_the_longest),
        cmocka_unit_test(a_wait_that_was_not_timed_can_be_the_longest_too),
        cmocka_unit_test(operations_of_the_warm_up_serve_nobody),
        cmocka_unit_test(a_lost_update_breaks_a_lock),
        cmocka_unit_test(what_guards_nothing_is_not_checked),
        cmocka_unit_test(threads_that_did_not_end_leave_a_lock_unchecked),
        cmocka_unit_test(a_killed_trial_without_figures_has_none),
        cmocka_unit_test(a_figure_is_the_median_of_the_rounds_that_have_one),
        cmocka_unit_test(locks_are_measured_only_where_they_fit),
        cmocka_unit_test(names_are_unique_and_words),
        cmocka_unit_test(figures_are_printed_with_three_digits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
