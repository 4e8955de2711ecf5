/* The locks' own source under the C11 memory model: what is small, in all its executions; what is larger, at
 * random. docs/check.md says what is checked. */
#include "sim/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct sim_lock *const locks[] = {&sim_lock_32, &sim_lock_64, &sim_lock_32_spin,
                                               &sim_lock_64_spin};

static struct sim_result check(const struct sim_lock *l, const char *text, struct sim_options o)
{
    struct sim_program p;
    char error[200];
    if (sim_program_read(&p, text, error, sizeof error) < 0) {
        fail_msg("%s", error);
    }
    p.bounds = (struct sim_bounds){.leaps = 1, .sleeps = 2};
    struct sim_case c = sim_lock_case(l, &p, text);
    struct sim_result r = sim_explore(&c, &o, NULL);
    if (r.verdict != SIM_FINE) {
        fail_msg("%s, %s: %s", l->name, text, r.text);
    }
    return r;
}

/* Who takes part in the multiple-writer protocol naps between its looks, and may wait in vain: what
 * docs/lock.md forbids must be seen to hang. Those who go from A to R and those who claim A do not. */
static void naps_hide_no_deadlock(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        enum sim_verdict verdict;
    } cases[] = {
        {"read_lock read_claim_atomic | read_lock read_to_join", SIM_VIOLATION},
        {"read_lock read_claim_atomic atomic_to_read | read_lock read_claim_atomic atomic_to_read", SIM_FINE},
        {"atomic_lock atomic_to_read | atomic_claim", SIM_FINE},
    };
    for (size_t l = 0; l < sizeof locks / sizeof *locks; l++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct sim_program p;
            char error[200];
            assert_true(sim_program_read(&p, cases[i].text, error, sizeof error) >= 0);
            p.bounds = (struct sim_bounds){.leaps = 1, .sleeps = 2};
            struct sim_case c = sim_lock_case(locks[l], &p, cases[i].text);
            struct sim_options o = {.mode = SIM_ALL};
            struct sim_result r = sim_explore(&c, &o, NULL);
            if (r.verdict != cases[i].verdict) {
                fail_msg("%s, %s: %s", locks[l]->name, cases[i].text, *r.text ? r.text : "nothing was found");
            }
        }
    }
}

/* What only a time-out brings on is found in vain, unless time-outs are told to. */
static void a_time_out_ends_a_sleep_when_told_to(void **state)
{
    (void)state;
    struct sim_program p;
    char error[200];
    const char *text = "write_lock write_to_seek await | write_lock | read_lock signal";
    assert_true(sim_program_read(&p, text, error, sizeof error) >= 0);
    for (int timeouts = 0; timeouts < 2; timeouts++) {
        p.bounds = (struct sim_bounds){.leaps = 1, .sleeps = 3, .timeouts = timeouts};
        struct sim_case c = sim_lock_case(&sim_lock_32, &p, text);
        struct sim_options o = {.mode = SIM_RANDOM, .executions = 20000, .seed = 1};
        struct sim_result r = sim_explore(&c, &o, NULL);
        assert_int_equal(r.verdict, timeouts ? SIM_FINE : SIM_VIOLATION);
    }
}

static void two_threads_in_all_executions(void **state)
{
    (void)state;
    static const char *const kinds[] = {"read_lock",
                                        "seek_lock",
                                        "write_lock",
                                        "atomic_lock",
                                        "write_lock_until",
                                        "read_trylock",
                                        "seek_lock seek_to_write",
                                        "read_lock read_try_to_atomic"};
    size_t n = sizeof kinds / sizeof *kinds;
    for (size_t l = 0; l < sizeof locks / sizeof *locks; l++) {
        for (size_t i = 0; i < n; i++) {
            for (size_t k = i; k < n; k++) {
                char text[200];
                snprintf(text, sizeof text, "%s | %s", kinds[i], kinds[k]);
                struct sim_result r =
                    check(locks[l], text, (struct sim_options){.mode = SIM_ALL, .executions = 200000});
                assert_true(r.executions > 0);
            }
        }
    }
}

/* What an execution comes to: every change of the word, in order, and what was read of the data. */
static uint64_t outcomes[1 << 16]; /* a set: 0 for none */
static size_t n_outcomes;
static const char *(*end_of_case)(const struct sim_graph *g, const void *arg);

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t outcome_of(const struct sim_graph *g)
{
    uint64_t hash = 1;
    for (unsigned i = 1; i < g->writes[SIM_WORD]; i++) {
        const struct sim_event *e = &g->e[g->mo[SIM_WORD][i]];
        hash = mix(mix(hash, e->value), e->thread * 100u + e->operation);
    }
    for (unsigned t = 0; t < SIM_THREADS; t++) {
        for (unsigned i = 0; i < g->count[t]; i++) {
            const struct sim_event *e = &g->e[g->of[t][i]];
            hash = e->type == SIM_READ && e->order == SIM_PLAIN ? mix(hash, e->value + 1) : hash;
        }
    }
    return hash | 1;
}

static const char *note_outcome(const struct sim_graph *g, const void *arg)
{
    uint64_t hash = outcome_of(g);
    size_t mask = sizeof outcomes / sizeof *outcomes - 1, at = hash & mask;
    while (outcomes[at] && outcomes[at] != hash) {
        at = (at + 1) & mask;
    }
    n_outcomes += !outcomes[at];
    outcomes[at] = hash;
    return end_of_case(g, arg);
}

/* How many outcomes a program has; *sum tells sets apart. */
static size_t count_outcomes(const char *text, struct sim_bounds bounds, bool unreduced, uint64_t *sum,
                             uint64_t *executions)
{
    struct sim_program p;
    char error[200];
    assert_int_equal(sim_program_read(&p, text, error, sizeof error), 0);
    p.bounds = bounds;
    struct sim_case c = sim_lock_case(&sim_lock_32, &p, text);
    end_of_case = c.end;
    c.end = note_outcome;
    memset(outcomes, 0, sizeof outcomes);
    n_outcomes = 0;
    struct sim_options o = {.mode = SIM_ALL, .unreduced = unreduced};
    struct sim_result r = sim_explore(&c, &o, NULL);
    assert_true(r.verdict == SIM_FINE && r.complete);
    *executions = r.executions;
    *sum = 0;
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        *sum += outcomes[i];
    }
    return n_outcomes;
}

static void what_is_left_out_has_no_outcome_of_its_own(void **state)
{
    static const struct {
        const char *text;
        struct sim_bounds bounds;
    } cases[] = {{"read_lock | write_lock", {.leaps = 1, .sleeps = 2}},
                 {"read_lock_until | write_lock write_to_read", {.leaps = 1, .sleeps = 2}},
                 {"seek_lock seek_to_write_until | read_lock", {.leaps = 1, .sleeps = 2}},
                 {"read_lock read_try_to_atomic | atomic_lock_until", {.leaps = 1, .sleeps = 2}},
                 {"read_lock read_to_write_until | write_lock_until", {.leaps = 1, .sleeps = 2}},
                 {"read_lock read_to_claim claim_to_atomic | read_lock", {.leaps = 0, .sleeps = 1}},
                 {"write_trylock | read_lock read_try_to_seek | seek_trylock", {.leaps = 0, .sleeps = 0}},
                 {"write_lock | write_lock_until", {.leaps = 1, .sleeps = 1}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t sum, sum_all, executions, executions_all;
        size_t n = count_outcomes(cases[i].text, cases[i].bounds, false, &sum, &executions);
        size_t n_all = count_outcomes(cases[i].text, cases[i].bounds, true, &sum_all, &executions_all);
        if (n != n_all || sum != sum_all || n < 2 || executions > executions_all) {
            fail_msg("%s: %zu outcomes in %llu executions, of %zu in %llu", cases[i].text, n,
                     (unsigned long long)executions, n_all, (unsigned long long)executions_all);
        }
    }
}

static void more_at_random(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "write_lock unlock write_lock | write_lock unlock read_lock",
        "read_lock_until | write_lock unlock atomic_lock",
        "seek_lock seek_to_write write_to_seek seek_to_read | write_lock | read_lock",
        "seek_lock seek_to_write_until | read_lock | atomic_lock",
        "read_lock read_to_write_until | read_lock read_try_to_seek | write_lock",
        "read_lock read_try_to_atomic unlock | atomic_lock unlock atomic_lock | write_lock",
        "read_lock read_to_claim claim_to_atomic | join_lock",
        "join_lock | join_lock | read_lock",
        "write_lock | write_lock | write_lock | write_lock",
        "read_lock | read_lock | atomic_lock | write_lock",
        "read_lock | read_lock | read_lock | read_lock unlock write_lock | seek_lock seek_to_write",
        "write_lock_until | read_lock_until | atomic_lock_until | seek_lock_until",
    };
    for (size_t l = 0; l < sizeof locks / sizeof *locks; l++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct sim_options o = {.mode = SIM_RANDOM, .executions = 2000, .seed = 1};
            assert_true(check(locks[l], cases[i], o).executions > 1000);
            o = (struct sim_options){
                .mode = SIM_PCT, .executions = 2000, .seed = 2, .changes = 3, .steps = 100};
            assert_true(check(locks[l], cases[i], o).executions > 1000);
        }
    }
}

static void programs_are_read_as_they_are_printed(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } wrong[] = {{"", "does nothing"},
                 {"read_lock |", "does nothing"},
                 {"| read_lock", "does nothing"},
                 {"read_lok | unlock", "'read_lok' is no operation"},
                 {"unlock|unlock|unlock|unlock|unlock|unlock|unlock|unlock|unlock", "8 threads"},
                 {"unlock unlock unlock unlock unlock unlock unlock unlock unlock unlock unlock unlock "
                  "unlock unlock unlock "
                  "unlock unlock",
                  "16 operations"}};
    struct sim_program p;
    char text[400];
    assert_int_equal(sim_program_read(&p, " read_lock,unlock|  write_trylock ", text, sizeof text), 0);
    sim_program_print(&p, text, sizeof text);
    assert_string_equal(text, "read_lock unlock | write_trylock");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(sim_program_read(&p, wrong[i].text, text, sizeof text), -1);
        assert_non_null(strstr(text, wrong[i].error));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_are_read_as_they_are_printed),
        cmocka_unit_test(naps_hide_no_deadlock),
        cmocka_unit_test(a_time_out_ends_a_sleep_when_told_to),
        cmocka_unit_test(two_threads_in_all_executions),
        cmocka_unit_test(what_is_left_out_has_no_outcome_of_its_own),
        cmocka_unit_test(more_at_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
