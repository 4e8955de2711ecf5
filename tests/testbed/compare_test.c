/* What rounds come to: figures, ratios, verdicts, remarks, the printed table and the report, from made-up
 * rounds. */
#include "testbed/compare.h"
#include "testbed/report_json.h"
#include "testbed/report_text.h"
#include "testbed/sut.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ROUNDS 5

static struct tb_scenario scenario;
static struct tb_case one_case;
static struct tb_plan plan;
static struct tb_result result;
static struct tb_case_result *c;

/* Two sides whose every measure is 100 in every round, on a quiet machine. */
static int setup(void **state)
{
    (void)state;
    scenario = (struct tb_scenario){.name = "made-up",
                                    .title = "made up",
                                    .n_sides = 2,
                                    .sides = {{.name = "before"}, {.name = "after"}},
                                    .n_pairs = 1,
                                    .pairs = {{1, 0}},
                                    .endpoints = 1};
    one_case = (struct tb_case){.scenario = &scenario, .threads = 2, .label = "made-up"};
    plan = (struct tb_plan){.cases = &one_case, .n_cases = 1, .rounds = ROUNDS, .time_ms = 2000};
    result = (struct tb_result){.plan = &plan, .cases = calloc(1, sizeof *result.cases), .n_done = 1};
    c = result.cases;
    assert_non_null(c);
    c->of = &one_case;
    for (size_t s = 0; s < 2; s++) {
        c->sides[s].cores = 2;
        c->sides[s].samples = calloc(ROUNDS + 1, sizeof *c->sides[s].samples);
        assert_non_null(c->sides[s].samples);
        for (unsigned r = 0; r <= ROUNDS; r++) {
            struct tb_sample *sample = &c->sides[s].samples[r];

            tb_sample_clear(sample);
            for (int m = 0; m < TB_MEASURES; m++) {
                sample->v[m] = r ? 100 : 12345; /* the warm-up must not show anywhere */
            }
            for (int m = TB_ERR_CONNECT; m <= TB_ERR_STATUS; m++) {
                sample->v[m] = 0;
            }
            sample->v[TB_SUT_CPU] = sample->v[TB_MACHINE_BUSY] = 90;
            sample->v[TB_DRIVER_CPU] = sample->v[TB_ENDPOINT_CPU] = 50;
            sample->v[TB_MACHINE_STOLEN] = sample->v[TB_MACHINE_OTHERS] = 0;
        }
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    tb_result_free(&result);
    return 0;
}

static void set(size_t side, enum tb_measure m, double a, double b, double d, double e, double f)
{
    const double v[ROUNDS] = {a, b, d, e, f};

    for (size_t r = 0; r < ROUNDS; r++) {
        c->sides[side].samples[r + 1].v[m] = v[r];
    }
}

static const char *verdict(void)
{
    static char text[TB_VERDICT_SIZE];

    return tb_verdict(c, &scenario.pairs[0], ROUNDS, text);
}

static void starts(const char *text, const char *start)
{
    if (strncmp(text, start, strlen(start)) != 0) {
        fail_msg("\"%s\" does not start with \"%s\"", text, start);
    }
}

static void a_sides_figure_is_the_median_of_its_rounds(void **state)
{
    (void)state;
    set(0, TB_RATE, 10, 50, 20, 40, 30);
    assert_true(fabs(tb_side_value(c, 0, TB_RATE, ROUNDS) - 30) < 1e-9);
}

static void errors_are_added_up_and_have_no_ratio(void **state)
{
    struct base_interval i;

    (void)state;
    set(0, TB_ERR_READ, 1, 0, 2, 0, 4);
    assert_true(fabs(tb_side_value(c, 0, TB_ERR_READ, ROUNDS) - 7) < 1e-9);
    assert_false(tb_pair_ratio(c, &scenario.pairs[0], TB_ERR_READ, ROUNDS, &i));
}

static void the_ratio_is_the_median_of_the_rounds_ratios(void **state)
{
    struct base_interval i;

    (void)state;
    /* Rounds that share a disturbance keep their ratio: 2 in four rounds, 3 in one; the ratio of the medians
     * is 2.5. */
    set(0, TB_RATE, 100, 10, 50, 80, 40);
    set(1, TB_RATE, 200, 20, 100, 160, 120);
    assert_true(tb_pair_ratio(c, &scenario.pairs[0], TB_RATE, ROUNDS, &i));
    assert_true(fabs(i.mid - 2) < 1e-9 && fabs(i.low - 2) < 1e-9 && fabs(i.high - 3) < 1e-9);
}

static void a_difference_is_claimed_with_its_interval(void **state)
{
    (void)state;
    set(1, TB_RATE, 160, 180, 200, 175, 190);
    set(1, TB_REQUEST_CPU, 50, 45, 52, 55, 48);
    assert_string_equal(
        verdict(), "after serves 1.80 x (1.60 to 2.00) the requests of before at 0.50 x (0.45 to 0.55) the "
                   "CPU per request");
}

static void an_interval_that_holds_one_claims_nothing(void **state)
{
    (void)state;
    set(1, TB_RATE, 160, 180, 99, 175, 190);
    set(1, TB_REQUEST_CPU, 50, 45, 52, 101, 48);
    starts(verdict(), "no difference found between after and before (requests/s 0.99 to 1.90, CPU per "
                      "request 0.45 to 1.01)");
}

static void a_difference_within_the_margin_claims_nothing(void **state)
{
    (void)state;
    set(1, TB_RATE, 101, 103, 104, 105, 110); /* all above 1, but one by less than 2 % */
    starts(verdict(), "no difference found");
    set(1, TB_RATE, 103, 103, 104, 105, 110);
    starts(
        verdict(),
        "after serves 1.04 x (1.03 to 1.10) the requests of before; no difference found in CPU per request");
    set(1, TB_RATE, 99, 97, 97, 97, 96);
    starts(verdict(), "no difference found");
}

static void a_difference_in_cpu_alone_is_told_as_such(void **state)
{
    (void)state;
    set(1, TB_REQUEST_CPU, 50, 45, 52, 55, 48);
    assert_string_equal(
        verdict(), "after needs 0.50 x (0.45 to 0.55) the CPU per request of before; no difference found in "
                   "requests/s (1.00 to 1.00)");
}

static void an_idle_suts_cpu_is_not_compared(void **state)
{
    (void)state;
    set(1, TB_REQUEST_CPU, 50, 45, 52, 55, 48);
    set(0, TB_SUT_CPU, 0.5, 0.5, 0.5, 0.5, 0.5);
    assert_string_equal(verdict(), "no difference found between after and before (requests/s 1.00 to 1.00)");
}

static void fewer_than_five_rounds_bear_no_verdict(void **state)
{
    char text[TB_VERDICT_SIZE];

    (void)state;
    set(1, TB_RATE, 900, 900, 900, 900, 900);
    starts(tb_verdict(c, &scenario.pairs[0], 4, text),
           "4 rounds of after and before: too few for a verdict (5 at least)");
}

static void a_round_without_requests_bears_no_verdict(void **state)
{
    (void)state;
    set(0, TB_RATE, 100, 0, 100, 100, 100);
    starts(verdict(), "no verdict on after and before");
}

static void errors_stand_in_the_verdict(void **state)
{
    (void)state;
    set(1, TB_RATE, 160, 180, 200, 175, 190);
    set(1, TB_ERR_TIMEOUT, 0, 0, 3, 0, 0);
    assert_non_null(strstr(verdict(), "; with 3 errors in after, 0 in before"));
}

/* Draws around 100 with a spread of 10 %, from a generator of the test's own. */
static double draw(uint64_t *state)
{
    double sum = 0;

    for (int i = 0; i < 12; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(*state >> 40) / (1 << 24);
    }
    return 100 * (1 + (sum - 6) / 10);
}

static void runs_of_equal_sides_hardly_ever_claim_a_difference(void **state)
{
    uint64_t seed = 7;
    int claims = 0;

    (void)state;
    for (int run = 0; run < 200; run++) {
        for (size_t s = 0; s < 2; s++) {
            for (size_t r = 1; r <= ROUNDS; r++) {
                c->sides[s].samples[r].v[TB_RATE] = draw(&seed);
                c->sides[s].samples[r].v[TB_REQUEST_CPU] = draw(&seed);
            }
        }
        claims += strncmp(verdict(), "no difference found", 19) != 0;
    }
    /* Two measures, each claimed by chance when five ratios fall beyond the margin on one side: 2 in 2^5
     * without it. */
    assert_true(claims < 200 * 12 / 100);
}

static size_t remarks(char text[TB_MAX_REMARKS][TB_REMARK_SIZE])
{
    return tb_remarks(c, ROUNDS, text);
}

static void a_quiet_run_needs_no_remark(void **state)
{
    char text[TB_MAX_REMARKS][TB_REMARK_SIZE];

    (void)state;
    assert_int_equal(remarks(text), 0);
}

static void whatever_makes_figures_doubtful_is_remarked(void **state)
{
    static const struct {
        enum tb_measure m;
        double v;
        const char *remark;
    } cases[] = {
        {TB_DRIVER_CPU, 97, "the driver used 97 % of the CPU its threads can use against after"},
        {TB_ENDPOINT_CPU, 96, "the endpoints used 96 % of the CPU they can use behind after"},
        {TB_MACHINE_BUSY, 98, "driver, SUT and endpoints share this machine's cores, which were 98 % busy"},
        {TB_MACHINE_STOLEN, 6, "other virtual machines took 6 % of this one's CPU time"},
        {TB_MACHINE_OTHERS, 20, "other processes used 20 % of this machine's CPU time"},
        {TB_ERR_STATUS, 2, "after: 10 errors in 5 rounds"},
    };
    char text[TB_MAX_REMARKS][TB_REMARK_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        teardown(NULL);
        setup(NULL);
        set(1, cases[i].m, cases[i].v, cases[i].v, cases[i].v, cases[i].v, cases[i].v);
        assert_int_equal(remarks(text), 1);
        starts(text[0], cases[i].remark);
    }
}

static char *table(void)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    assert_non_null(f);
    tb_report_text(f, &result);
    assert_int_equal(fclose(f), 0);
    return text;
}

static void the_tables_columns_stand_below_each_other(void **state)
{
    static const char *const lines[] = {
        "made-up: made up; 2 SUT threads; 5 rounds of 2s",
        "                              before        after     after/before (95 % CI)",
        "requests/s                 1 234 567    2 000 000        1.62 (1.62 to 1.62)",
        "latency  p50                  3.14ms     999.99us        0.32 (0.32 to 0.32)",
        "         p99.9                     -     100.00us                          -",
        "SUT CPU (of 2 cores)          90.0 %       90.0 %        1.00 (1.00 to 1.00)",
        "SUT CPU per request         100.0 us     100.0 us        1.00 (1.00 to 1.00)",
        "         system             100.0 us     100.0 us        1.00 (1.00 to 1.00)",
        "SUT memory (PSS)             0.1 MiB      0.1 MiB        1.00 (1.00 to 1.00)",
        "errors   connect                   0            5",
    };
    char *text;

    (void)state;
    set(0, TB_RATE, 1234567, 1234567, 1234567, 1234567, 1234567);
    set(1, TB_RATE, 2000000, 2000000, 2000000, 2000000, 2000000);
    set(0, TB_P50, 3140, 3140, 3140, 3140, 3140);
    set(1, TB_P50, 999.99, 999.99, 999.99, 999.99, 999.99);
    set(0, TB_P999, NAN, NAN, NAN, NAN, NAN);
    set(1, TB_ERR_CONNECT, 1, 1, 1, 1, 1);
    text = table();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char line[200];

        snprintf(line, sizeof line, "\n%s\n", lines[i]);
        if (!strstr(text, line)) {
            fail_msg("no line \"%s\" in:\n%s", lines[i], text);
        }
    }
    free(text);
}

static void the_report_writes_null_for_what_has_no_value(void **state)
{
    json_t *report, *figures;

    (void)state;
    set(0, TB_P999, NAN, NAN, NAN, NAN, NAN);
    report = tb_report_json(&result);
    assert_non_null(report);
    figures = json_object_get(
        json_array_get(json_object_get(json_array_get(json_object_get(report, "cases"), 0), "sides"), 0),
        "figures");
    assert_true(json_is_null(json_object_get(figures, "latency_p99.9_us")));
    assert_true(json_is_real(json_object_get(figures, "latency_p99_us")));
    json_decref(report);
}

static void sides_alternate_and_three_rotate(void **state)
{
    (void)state;
    for (unsigned r = 0; r < 6; r++) {
        assert_int_equal(tb_run_order(r, 0, 2), r % 2);
        assert_int_equal(tb_run_order(r, 1, 2), (r + 1) % 2);
        assert_int_equal(tb_run_order(r, 2, 3), (r + 2) % 3);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_sides_figure_is_the_median_of_its_rounds),
        TEST(errors_are_added_up_and_have_no_ratio),
        TEST(the_ratio_is_the_median_of_the_rounds_ratios),
        TEST(a_difference_is_claimed_with_its_interval),
        TEST(an_interval_that_holds_one_claims_nothing),
        TEST(a_difference_within_the_margin_claims_nothing),
        TEST(a_difference_in_cpu_alone_is_told_as_such),
        TEST(an_idle_suts_cpu_is_not_compared),
        TEST(fewer_than_five_rounds_bear_no_verdict),
        TEST(a_round_without_requests_bears_no_verdict),
        TEST(errors_stand_in_the_verdict),
        TEST(runs_of_equal_sides_hardly_ever_claim_a_difference),
        TEST(a_quiet_run_needs_no_remark),
        TEST(whatever_makes_figures_doubtful_is_remarked),
        TEST(the_tables_columns_stand_below_each_other),
        TEST(the_report_writes_null_for_what_has_no_value),
        TEST(sides_alternate_and_three_rotate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
