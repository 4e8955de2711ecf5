/* The memory model against textbook cases, whose outcome is known: each outcome that RC11 allows is found by
 * the exhaustive search, each that it forbids is not, and searching at random agrees. The sources are
 *   [RC11]  Lahav et al., Repairing Sequential Consistency in C/C++11, PLDI 2017
 *   [C20]   ISO C++20, 6.9.2.2 (release sequences without the stores of the same thread, after P0982), 31.8.2
 *   [LB]    [RC11], no-thin-air: sb | rf has no circle
 *   [Boehm] Boehm, Can Seqlocks Get Along With Programming Language Memory Models?, MSPC 2012 */
#include "sim/engine.h"
#include "sim/thread.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { X, Y, Z, A, B, C, D, PLACES };

struct litmus {
    const char *name;
    unsigned threads;
    void (*run)(unsigned thread, const void *l);
    enum sim_order load, store, fence; /* fence: SIM_PLAIN for none */
    struct {
        unsigned place;
        uint64_t value;
    } outcome[4]; /* what A to D, or places, hold in the end; those with place X and value 0 count not */
    bool allowed;
    uint64_t executions; /* 0: not known from a source */
    const char *source;
};

static uint64_t met;

static const char *count_outcome(const struct sim_graph *g, const void *arg)
{
    const struct litmus *l = arg;
    for (unsigned i = 0; i < sizeof l->outcome / sizeof *l->outcome; i++) {
        if ((l->outcome[i].place || l->outcome[i].value) &&
            sim_graph_final(g, l->outcome[i].place) != l->outcome[i].value) {
            return NULL;
        }
    }
    met++;
    return NULL;
}

static void fence(const struct litmus *l)
{
    if (l->fence != SIM_PLAIN) {
        sim_fence(l->fence);
    }
}

static void message_passing(unsigned thread, const void *arg)
{
    const struct litmus *l = arg;
    if (thread == 0) {
        sim_store(X, 1, SIM_RELAXED);
        fence(l);
        sim_store(Y, 1, l->store);
    } else {
        sim_write_data(A, sim_load(Y, l->load));
        fence(l);
        sim_write_data(B, sim_load(X, SIM_RELAXED));
    }
}

static void store_buffering(unsigned thread, const void *arg)
{
    const struct litmus *l = arg;
    sim_store(thread ? Y : X, 1, l->store);
    fence(l);
    sim_write_data(thread ? B : A, sim_load(thread ? X : Y, l->load));
}

static void load_buffering(unsigned thread, const void *arg)
{
    const struct litmus *l = arg;
    uint64_t seen = sim_load(thread ? Y : X, l->load);
    sim_store(thread ? X : Y, 1, l->store);
    sim_write_data(thread ? B : A, seen);
}

static void independent_reads(unsigned thread, const void *arg)
{
    const struct litmus *l = arg;
    if (thread < 2) {
        sim_store(thread ? Y : X, 1, l->store);
        return;
    }
    sim_write_data(thread == 2 ? A : C, sim_load(thread == 2 ? X : Y, l->load));
    fence(l);
    sim_write_data(thread == 2 ? B : D, sim_load(thread == 2 ? Y : X, l->load));
}

static void two_plus_two_writes(unsigned thread, const void *arg)
{
    const struct litmus *l = arg;
    sim_store(thread ? Y : X, 1, l->store);
    fence(l);
    sim_store(thread ? X : Y, 2, l->store);
}

static void coherent_reads(unsigned thread, const void *arg)
{
    const struct litmus *l = arg;
    if (thread < 2) {
        sim_store(X, thread + 1, l->store);
        return;
    }
    sim_write_data(thread == 2 ? A : C, sim_load(X, l->load));
    sim_write_data(thread == 2 ? B : D, sim_load(X, l->load));
}

static void increments(unsigned thread, const void *arg)
{
    const struct litmus *l = arg;
    (void)thread;
    sim_fetch_add(X, 1, UINT64_MAX, l->store);
}

static void increments_by_compare(unsigned thread, const void *arg)
{
    const struct litmus *l = arg;
    (void)thread;
    uint64_t v = 0;
    while (!sim_compare_exchange(X, &v, v + 1, l->store, SIM_RELAXED)) {
    }
}

/* One attempt on what is there: it stores, or not, though nobody else does anything. */
static void weak_attempt(unsigned thread, const void *arg)
{
    const struct litmus *l = arg;
    uint64_t expected = 0;
    if (thread == 0) {
        bool stored = sim_compare_exchange_weak(X, &expected, 1, l->store, l->load);
        sim_store(A, stored ? 1 : 2 + expected, SIM_RELAXED);
    }
}

/* A failure for no reason loses nothing. Twice at most, since it might fail for ever. */
static void increments_by_weak_compare(unsigned thread, const void *arg)
{
    uint64_t seen = sim_load(X, SIM_RELAXED);
    (void)thread;
    (void)arg;
    for (int i = 0; i < 2; i++) {
        if (sim_compare_exchange_weak(X, &seen, seen + 1, SIM_RELAXED, SIM_RELAXED)) {
            return;
        }
    }
    while (!sim_compare_exchange(X, &seen, seen + 1, SIM_RELAXED, SIM_RELAXED)) {
    }
}

/* The release of thread 0 is continued by thread 1's read-modify-write. */
static void release_sequence(unsigned thread, const void *arg)
{
    const struct litmus *l = arg;
    if (thread == 0) {
        sim_store(X, 1, SIM_RELAXED);
        sim_store(Y, 1, l->store);
    } else if (thread == 1) {
        sim_fetch_add(Y, 1, UINT64_MAX, SIM_RELAXED);
    } else {
        sim_write_data(A, sim_load(Y, l->load));
        sim_write_data(B, sim_load(X, SIM_RELAXED));
    }
}

/* It is not continued by a plain store of the same thread. */
static void release_then_store(unsigned thread, const void *arg)
{
    const struct litmus *l = arg;
    if (thread == 0) {
        sim_store(X, 1, SIM_RELAXED);
        sim_store(Y, 1, l->store);
        sim_store(Y, 2, SIM_RELAXED);
    } else {
        sim_write_data(A, sim_load(Y, l->load));
        sim_write_data(B, sim_load(X, SIM_RELAXED));
    }
}

/* Dekker's entry: both inside? */
static void both_enter(unsigned thread, const void *arg)
{
    const struct litmus *l = arg;
    sim_store(thread ? Y : X, 1, l->store);
    fence(l);
    if (sim_load(thread ? X : Y, l->load) == 0) {
        sim_write_data(thread ? B : A, 1);
    }
}

/* Peterson's lock for two, waiting left out: it enters if it may at once. */
static void peterson(unsigned thread, const void *arg)
{
    const struct litmus *l = arg;
    sim_store(thread ? Y : X, 1, l->store);
    fence(l);
    sim_store(Z, thread + 1, l->store);
    fence(l);
    if (sim_load(thread ? X : Y, l->load) == 0 || sim_load(Z, l->load) != thread + 1) {
        sim_write_data(thread ? B : A, 1);
    }
}

/* One writer; a reader that sees the same even number before and after has seen both data of one time. */
static void seqlock(unsigned thread, const void *arg)
{
    const struct litmus *l = arg;
    if (thread == 0) {
        sim_store(X, 1, SIM_RELAXED);
        fence(l);
        sim_store(Y, 1, SIM_RELAXED);
        sim_store(Z, 1, SIM_RELAXED);
        sim_store(X, 2, l->store);
        return;
    }
    uint64_t before = sim_load(X, l->load), y = sim_load(Y, SIM_RELAXED), z = sim_load(Z, SIM_RELAXED);
    fence(l);
    if (before % 2 == 0 && sim_load(X, SIM_RELAXED) == before) {
        sim_write_data(A, y);
        sim_write_data(B, z);
        sim_write_data(C, 1);
    }
}

#define RLX SIM_RELAXED
#define ACQ SIM_ACQUIRE
#define REL SIM_RELEASE
#define SC  SIM_SEQ_CST
#define NO  SIM_PLAIN

static const struct litmus all[] = {
    {"MP", 2, message_passing, RLX, RLX, NO, {{A, 1}, {B, 0}}, true, 4, "[RC11] 2"},
    {"MP rel+acq", 2, message_passing, ACQ, REL, NO, {{A, 1}, {B, 0}}, false, 3, "[RC11] 2"},
    {"MP rel+rlx", 2, message_passing, RLX, REL, NO, {{A, 1}, {B, 0}}, true, 4, "[RC11] 2"},
    {"MP rlx+acq", 2, message_passing, ACQ, RLX, NO, {{A, 1}, {B, 0}}, true, 4, "[RC11] 2"},
    {"MP fences", 2, message_passing, RLX, RLX, SIM_ACQ_REL, {{A, 1}, {B, 0}}, false, 3, "[RC11] 2"},
    {"SB rel+acq", 2, store_buffering, ACQ, REL, NO, {{A, 0}, {B, 0}}, true, 4, "[RC11] 2"},
    {"SB sc", 2, store_buffering, SC, SC, NO, {{A, 0}, {B, 0}}, false, 3, "[RC11] 2"},
    {"SB sc fences", 2, store_buffering, RLX, RLX, SC, {{A, 0}, {B, 0}}, false, 3, "[RC11] 3"},
    {"SB acq_rel fences", 2, store_buffering, RLX, RLX, SIM_ACQ_REL, {{A, 0}, {B, 0}}, true, 4, "[RC11] 3"},
    {"LB", 2, load_buffering, RLX, RLX, NO, {{A, 1}, {B, 1}}, false, 3, "[LB]"},
    {"IRIW acq", 4, independent_reads, ACQ, REL, NO, {{A, 1}, {B, 0}, {C, 1}, {D, 0}}, true, 16, "[RC11] 2"},
    {"IRIW sc", 4, independent_reads, SC, SC, NO, {{A, 1}, {B, 0}, {C, 1}, {D, 0}}, false, 15, "[RC11] 2"},
    {"IRIW sc fences",
     4,
     independent_reads,
     RLX,
     RLX,
     SC,
     {{A, 1}, {B, 0}, {C, 1}, {D, 0}},
     false,
     15,
     "[RC11] 3"},
    {"2+2W", 2, two_plus_two_writes, RLX, RLX, NO, {{X, 1}, {Y, 1}}, true, 4, "[RC11] 2"},
    {"2+2W rel", 2, two_plus_two_writes, RLX, REL, NO, {{X, 1}, {Y, 1}}, true, 4, "[RC11] 2"},
    {"2+2W sc", 2, two_plus_two_writes, SC, SC, NO, {{X, 1}, {Y, 1}}, false, 3, "[RC11] 2"},
    {"2+2W sc fences", 2, two_plus_two_writes, RLX, RLX, SC, {{X, 1}, {Y, 1}}, false, 3, "[RC11] 3"},
    {"CoRR",
     4,
     coherent_reads,
     RLX,
     RLX,
     NO,
     {{A, 1}, {B, 2}, {C, 2}, {D, 1}},
     false,
     72,
     "[RC11] coherence"},
    {"increments lost", 3, increments, RLX, RLX, NO, {{X, 2}}, false, 6, "[RC11] atomicity"},
    {"increments", 4, increments, RLX, RLX, NO, {{X, 4}}, true, 24, "[RC11] atomicity"},
    {"increments by CAS", 3, increments_by_compare, RLX, RLX, NO, {{X, 3}}, true, 0, "[RC11] atomicity"},
    {"weak CAS stores", 1, weak_attempt, RLX, RLX, NO, {{A, 1}, {X, 1}}, true, 0, "[C20] 31.8.2"},
    {"weak CAS fails", 1, weak_attempt, RLX, RLX, NO, {{A, 2}}, true, 0, "[C20] 31.8.2"},
    {"weak CAS invents", 1, weak_attempt, RLX, RLX, NO, {{A, 3}}, false, 0, "[C20] 31.8.2"},
    {"increments by weak CAS",
     2,
     increments_by_weak_compare,
     RLX,
     RLX,
     NO,
     {{X, 2}},
     true,
     0,
     "[C20] 31.8.2"},
    {"lost by weak CAS", 2, increments_by_weak_compare, RLX, RLX, NO, {{X, 1}}, false, 0, "[C20] 31.8.2"},
    {"release sequence", 3, release_sequence, ACQ, REL, NO, {{A, 2}, {B, 0}}, false, 0, "[C20]"},
    {"release, store", 2, release_then_store, ACQ, REL, NO, {{A, 2}, {B, 0}}, true, 0, "[C20]"},
    {"Dekker", 2, both_enter, ACQ, REL, NO, {{A, 1}, {B, 1}}, true, 0, "[RC11] SB"},
    {"Dekker sc", 2, both_enter, SC, SC, NO, {{A, 1}, {B, 1}}, false, 0, "[RC11] SB"},
    {"Dekker sc fences", 2, both_enter, RLX, RLX, SC, {{A, 1}, {B, 1}}, false, 0, "[RC11] SB"},
    {"Peterson", 2, peterson, ACQ, REL, NO, {{A, 1}, {B, 1}}, true, 0, "[RC11] SB"},
    {"Peterson sc", 2, peterson, SC, SC, NO, {{A, 1}, {B, 1}}, false, 0, "[RC11] SB"},
    {"seqlock", 2, seqlock, ACQ, REL, SIM_ACQ_REL, {{C, 1}, {A, 1}, {B, 0}}, false, 0, "[Boehm] 4"},
    {"seqlock, no fences", 2, seqlock, ACQ, REL, NO, {{C, 1}, {A, 1}, {B, 0}}, true, 0, "[Boehm] 3"},
    {"seqlock, relaxed", 2, seqlock, RLX, RLX, NO, {{C, 1}, {A, 0}, {B, 1}}, true, 0, "[Boehm] 3"},
    {"Peterson sc fences", 2, peterson, RLX, RLX, SC, {{A, 1}, {B, 1}}, false, 0, "[RC11] SB"},
};

static struct sim_result explore(const struct litmus *l, enum sim_mode mode, uint64_t executions)
{
    struct sim_case c = {.name = l->name,
                         .threads = l->threads,
                         .places = PLACES,
                         .run = l->run,
                         .end = count_outcome,
                         .arg = l};
    struct sim_options o = {.mode = mode, .executions = executions, .seed = 1, .changes = 2, .steps = 10};
    met = 0;
    return sim_explore(&c, &o, NULL);
}

static void outcomes_are_as_published(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct sim_result r = explore(&all[i], SIM_ALL, 0);
        if (r.verdict != SIM_FINE || !r.complete) {
            fail_msg("%s: %s", all[i].name, r.text);
        }
        if ((met > 0) != all[i].allowed) {
            fail_msg("%s: the outcome is %s by %s", all[i].name, all[i].allowed ? "allowed" : "forbidden",
                     all[i].source);
        }
        if (all[i].executions && r.executions != all[i].executions) {
            fail_msg("%s: %llu executions, not %llu", all[i].name, (unsigned long long)r.executions,
                     (unsigned long long)all[i].executions);
        }
    }
}

static void executions_at_random_are_among_them(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        for (enum sim_mode mode = SIM_RANDOM; mode <= SIM_PCT; mode++) {
            struct sim_result r = explore(&all[i], mode, 2000);
            assert_int_equal(r.verdict, SIM_FINE);
            assert_int_equal(r.executions, 2000);
            if (met && !all[i].allowed) {
                fail_msg("%s: met at random, mode %d", all[i].name, (int)mode);
            }
            if (!met && all[i].allowed && mode == SIM_RANDOM) {
                fail_msg("%s: not met at random", all[i].name);
            }
        }
    }
}

/* ---- races, waiting in vain */

static void publishes(unsigned thread, const void *arg)
{
    const struct litmus *l = arg;
    if (thread == 0) {
        sim_write_data(X, 1);
        sim_store(Y, 1, l->store);
    } else if (sim_load(Y, l->load)) {
        sim_check(sim_read_data(X) == 1, "what was published is not there");
    }
}

static void a_data_race_is_found_and_only_that(void **state)
{
    (void)state;
    static const struct litmus ordered = {"ordered", 2, publishes, ACQ, REL, NO, {{0, 0}}, true, 2, ""};
    static const struct litmus loose[] = {{"released", 2, publishes, RLX, REL, NO, {{0, 0}}, true, 0, ""},
                                          {"acquired", 2, publishes, ACQ, RLX, NO, {{0, 0}}, true, 0, ""}};
    assert_int_equal(explore(&ordered, SIM_ALL, 0).verdict, SIM_FINE);
    for (size_t i = 0; i < 2; i++) {
        struct sim_result r = explore(&loose[i], SIM_ALL, 0);
        assert_int_equal(r.verdict, SIM_VIOLATION);
        assert_string_equal(r.text, "data race");
    }
}

static void waits_for_a_value(unsigned thread, const void *arg)
{
    const struct litmus *l = arg;
    if (thread == 0) {
        sim_store(X, 1, SIM_RELEASE);
    } else {
        while (sim_load(X, SIM_ACQUIRE) != l->executions) {
            sim_pause(true);
        }
    }
}

static void a_spin_ends_when_it_can_and_is_found_when_it_cannot(void **state)
{
    (void)state;
    static const struct litmus ends = {"ends", 2, waits_for_a_value, RLX, RLX, NO, {{0, 0}}, true, 1, ""};
    static const struct litmus never = {"never", 2, waits_for_a_value, RLX, RLX, NO, {{0, 0}}, true, 2, ""};
    assert_int_equal(explore(&ends, SIM_ALL, 0).verdict, SIM_FINE);
    assert_int_equal(explore(&ends, SIM_RANDOM, 100).executions, 100);
    assert_int_equal(explore(&never, SIM_ALL, 0).verdict, SIM_VIOLATION);
    assert_int_equal(explore(&never, SIM_RANDOM, 100).verdict, SIM_VIOLATION);
}

/* A bound that one thread meets does not keep the others from writing what it reads in another execution. */
static void meets_a_bound(unsigned thread, const void *arg)
{
    (void)arg;
    if (thread == 1) {
        sim_store(X, 1, SIM_RELAXED);
    } else if (sim_load(X, SIM_RELAXED) == 0) {
        sim_bound();
    }
}

static void a_bound_hides_no_execution_without_it(void **state)
{
    (void)state;
    static const struct litmus l = {"bound", 2, meets_a_bound, RLX, RLX, NO, {{X, 1}}, true, 1, ""};
    struct sim_result r = explore(&l, SIM_ALL, 0);
    assert_true(r.verdict == SIM_FINE && r.complete);
    assert_int_equal(r.executions, 1);
    assert_int_equal(r.cut, 1);
}

/* Attempts that fail are left out, and nothing else. */
static void increments_in_a_loop(unsigned thread, const void *arg)
{
    const struct litmus *l = arg;
    uint64_t v = sim_load(X, SIM_RELAXED);
    (void)thread;
    while (!sim_confirm_exchange(X, &v, v + 1, l->store, SIM_RELAXED)) {
    }
}

static void failed_attempts_of_a_loop_are_left_out_and_nothing_else(void **state)
{
    (void)state;
    for (unsigned threads = 2; threads <= 4; threads++) {
        struct litmus l = {"loop", threads, increments_in_a_loop, RLX, RLX, NO, {{X, threads}}, true, 1, ""};
        struct sim_result r = explore(&l, SIM_ALL, 0);
        assert_true(r.verdict == SIM_FINE && r.complete);
        assert_int_equal(r.executions, threads == 2 ? 2 : threads == 3 ? 6 : 24);
        assert_int_equal(met, r.executions);
        assert_int_equal(explore(&l, SIM_RANDOM, 500).executions, 500);
    }
}

/* ---- MCS (Mellor-Crummey and Scott, 1991): X is the tail, Y and Z are who comes next, B and C are 1 while a
 * thread waits, D are the data. */
static void mcs(unsigned thread, const void *arg)
{
    const struct litmus *l = arg;
    unsigned my_next = thread ? Z : Y, waits = thread ? C : B;
    sim_store(waits, 1, SIM_RELAXED);
    uint64_t before = sim_exchange(X, thread + 1, SIM_ACQ_REL), next, v = thread + 1;
    if (before) {
        sim_store(before == 1 ? Y : Z, thread + 1, SIM_RELEASE);
        while (sim_load(waits, l->load)) {
            sim_pause(true);
        }
    }
    sim_write_data(D, sim_read_data(D) + 1);
    next = sim_load(my_next, SIM_ACQUIRE);
    if (!next && sim_compare_exchange(X, &v, 0, l->store, SIM_RELAXED)) {
        return;
    }
    while (!next) {
        sim_pause(true);
        next = sim_load(my_next, SIM_ACQUIRE);
    }
    sim_store(next == 1 ? B : C, 0, l->store);
}

static void mcs_is_right_and_needs_its_orders(void **state)
{
    (void)state;
    static const struct litmus right = {"MCS", 2, mcs, ACQ, REL, NO, {{D, 2}}, true, 1, ""};
    static const struct litmus wrong[] = {{"acquires", 2, mcs, RLX, REL, NO, {{D, 2}}, true, 1, ""},
                                          {"releases", 2, mcs, ACQ, RLX, NO, {{D, 2}}, true, 1, ""}};
    struct sim_result r = explore(&right, SIM_ALL, 0);
    assert_string_equal(r.text, "");
    assert_true(r.complete && met == r.executions && met > 1);
    for (size_t i = 0; i < 2; i++) {
        r = explore(&wrong[i], SIM_ALL, 0);
        assert_int_equal(r.verdict, SIM_VIOLATION);
        assert_string_equal(r.text, "data race");
    }
}

/* ---- futexes: the mutex of three states (0 free, 1 taken, 2 taken with sleepers; Drepper, Futexes Are
 * Tricky, 2011, mutex 2). Y is the kernel's queue. */

enum fault { NONE, NO_WAKE, WAKES_BEFORE };

static void futex_mutex(unsigned thread, const void *arg)
{
    const struct litmus *l = arg;
    enum fault fault = (enum fault)l->executions;
    uint64_t v = 0;
    if (!sim_compare_exchange(X, &v, 1, SIM_ACQUIRE, SIM_RELAXED)) {
        if (v != 2) {
            v = sim_exchange(X, 2, SIM_ACQUIRE);
        }
        while (v != 0) {
            sim_futex_wait(X, Y, 2, UINT64_MAX, 1, false);
            v = sim_exchange(X, 2, SIM_ACQUIRE);
        }
    }
    sim_write_data(A, sim_read_data(A) + 1);
    if (fault == WAKES_BEFORE) {
        sim_futex_wake(Y, 1, 1);
    }
    if (sim_exchange(X, 0, SIM_RELEASE) == 2 && fault == NONE) {
        sim_futex_wake(Y, 1, 1);
    }
    (void)thread;
}

static void a_futex_mutex_is_right_and_its_lost_wakes_are_found(void **state)
{
    (void)state;
    for (unsigned threads = 2; threads <= 3; threads++) {
        for (enum fault f = NONE; f <= WAKES_BEFORE; f++) {
            struct litmus l = {"futex mutex",  threads, futex_mutex, RLX, RLX, NO,
                               {{A, threads}}, true,    f,           ""};
            struct sim_result r = explore(&l, SIM_ALL, 0);
            if (f == NONE) {
                assert_string_equal(r.text, "");
                assert_true(r.complete && met == r.executions && met > 1);
            } else {
                assert_int_equal(r.verdict, SIM_VIOLATION);
                assert_string_equal(r.text, "all threads that have not ended wait, for ever");
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(outcomes_are_as_published),
        cmocka_unit_test(executions_at_random_are_among_them),
        cmocka_unit_test(a_data_race_is_found_and_only_that),
        cmocka_unit_test(a_spin_ends_when_it_can_and_is_found_when_it_cannot),
        cmocka_unit_test(a_bound_hides_no_execution_without_it),
        cmocka_unit_test(failed_attempts_of_a_loop_are_left_out_and_nothing_else),
        cmocka_unit_test(mcs_is_right_and_needs_its_orders),
        cmocka_unit_test(a_futex_mutex_is_right_and_its_lost_wakes_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
