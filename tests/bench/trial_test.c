/* Trials as they run, in processes of their own: every lock there is guards its words; locks of our own that
 * are unfair, broken, stuck or crash are found out. */
#include "bench/lock/locks.h"
#include "bench/lock/sample.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* cmocka needs the headers above. */
#include <cmocka.h>

#if defined(__SANITIZE_THREAD__)
#    define THREAD_SANITIZER 1
#elif defined(__has_feature)
#    if __has_feature(thread_sanitizer)
#        define THREAD_SANITIZER 1
#    endif
#endif
#ifndef THREAD_SANITIZER
#    define THREAD_SANITIZER 0
#endif

/* Serves the thread that came first and nobody else, ever. */
static uint32_t first_thread;
static __thread uint32_t this_thread;

static void unfair_begin(void)
{
    this_thread = __atomic_add_fetch(&first_thread, 1, __ATOMIC_RELAXED);
}

static void unfair_end(void)
{
}

static void unfair_take(void)
{
    while (this_thread != 1) {
        pause();
    }
}

#define BL                 unfair
#define BL_NAME            "unfair"
#define BL_WHAT            "serves the first"
#define BL_NOTE            NULL
#define BL_FLAGS           0
#define BL_TYPE            uint32_t
#define BL_INIT(l)         (*(l) = 0)
#define BL_READ(l, c)      unfair_take()
#define BL_READ_END(l, c)  ((void)0)
#define BL_WRITE(l, c)     unfair_take()
#define BL_WRITE_END(l, c) ((void)0)
#define BL_BEGIN           unfair_begin
#define BL_END             unfair_end
#include "bench/lock/loops.h"

/* Loses an update of each thread's first write, as a lock that let two in would. */
static void lose_update(void *lock)
{
    static __thread bool lost;
    struct bench_arena *a = lock; /* the lock lies at its beginning */

    if (!lost) {
        lost = true;
        bench_store(&a->second, bench_load(&a->second) - 1);
    }
}

#define BL                 leaky
#define BL_NAME            "leaky"
#define BL_WHAT            "loses an update"
#define BL_NOTE            NULL
#define BL_FLAGS           0
#define BL_TYPE            pthread_mutex_t
#define BL_INIT(l)         pthread_mutex_init(l, NULL)
#define BL_READ(l, c)      pthread_mutex_lock(l)
#define BL_READ_END(l, c)  pthread_mutex_unlock(l)
#define BL_WRITE(l, c)     pthread_mutex_lock(l)
#define BL_WRITE_END(l, c) (lose_update(l), pthread_mutex_unlock(l))
#include "bench/lock/loops.h"

/* Nobody gets it, not even a thread alone. */
static void wait_for_ever(void)
{
    for (;;) {
        pause();
    }
}

#define BL                 stuck
#define BL_NAME            "stuck"
#define BL_WHAT            "serves nobody"
#define BL_NOTE            NULL
#define BL_FLAGS           0
#define BL_TYPE            uint32_t
#define BL_INIT(l)         (*(l) = 0)
#define BL_READ(l, c)      wait_for_ever()
#define BL_READ_END(l, c)  ((void)0)
#define BL_WRITE(l, c)     wait_for_ever()
#define BL_WRITE_END(l, c) ((void)0)
#include "bench/lock/loops.h"

#define BL                 failing
#define BL_NAME            "failing"
#define BL_WHAT            "ends the process"
#define BL_NOTE            NULL
#define BL_FLAGS           0
#define BL_TYPE            uint32_t
#define BL_INIT(l)         (*(l) = 0)
#define BL_READ(l, c)      _exit(3)
#define BL_READ_END(l, c)  ((void)0)
#define BL_WRITE(l, c)     _exit(3)
#define BL_WRITE_END(l, c) ((void)0)
#include "bench/lock/loops.h"

static struct bench_clock ticking;

static int calibrate(void **state)
{
    (void)state;
    bench_calibrate(&ticking);
    return 0;
}

/* Runs a trial of 50 ms; how it ended is in *end, the trial's error in error. */
static struct bench_sample measure(const struct bench_lock *lock, const struct bench_point *p,
                                   unsigned grace_ms, enum bench_end *end, char error[200])
{
    struct bench_trial *t = bench_trial_new(lock, p);
    struct bench_sample s;

    assert_non_null(t);
    t->clock = ticking;
    t->warm_up_ms = 5;
    t->time_ms = 50;
    t->grace_ms = grace_ms ? grace_ms : t->grace_ms;
    *end = bench_trial_run(t, NULL, NULL);
    snprintf(error, 200, "%s", t->error);
    bench_sample_take(&s, t, *end);
    bench_trial_free(t);
    return s;
}

static struct bench_sample run(const struct bench_lock *lock, const char *name, unsigned threads)
{
    struct bench_point p;
    enum bench_end end;
    char error[200];
    struct bench_sample s;

    bench_point_make(&p, bench_case_find(name), threads);
    s = measure(lock, &p, 0, &end, error);
    if (end != BENCH_DONE) {
        print_error("%s with %s: end %d %s\n", name, lock->name, (int)end, error);
    }
    assert_int_equal(end, BENCH_DONE);
    assert_true(s.measured);
    return s;
}

/* The thread sanitizer does not see through other libraries' inline assembly. */
static bool is_foreign(const struct bench_lock *lock)
{
    return !strncmp(lock->name, "ck-", 3) || !strcmp(lock->name, "urcu");
}

/* Every lock that fits a case, the words it guards checked. */
static void smoke(const char *name, unsigned threads)
{
    size_t n;
    const struct bench_lock *const *locks = bench_locks(&n);
    struct bench_point p;

    bench_point_make(&p, bench_case_find(name), threads);
    for (size_t i = 0; i < n; i++) {
        struct bench_sample s;

        if (bench_misfit(locks[i], &p) || (THREAD_SANITIZER && is_foreign(locks[i]))) {
            continue;
        }
        s = run(locks[i], name, threads);
        if (s.broken) {
            print_error("%s with %s: broken\n", name, locks[i]->name);
        }
        assert_false(s.broken);
        assert_true(s.checked || s.unchecked || locks[i]->flags & BENCH_UNCHECKED);
        assert_true(s.v[BENCH_OPS] >= 0);
    }
}

static void every_lock_excludes_writers(void **state)
{
    (void)state;
    smoke("w100-tiny", 3);
}

static void every_lock_keeps_readers_from_seeing_half_a_write(void **state)
{
    (void)state;
    smoke("starve-writer", 5);
    smoke("w10-1us", 3);
}

static void every_lock_has_a_price_when_alone(void **state)
{
    size_t n;
    const struct bench_lock *const *locks = bench_locks(&n);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        struct bench_sample s = run(locks[i], "uncontended", 1);

        for (int k = 0; k < BENCH_KINDS; k++) {
            assert_true(locks[i]->solo[k] ? s.v[BENCH_SOLO_READ + k] >= 0 : isnan(s.v[BENCH_SOLO_READ + k]));
        }
    }
}

static void readers_get_in_beside_a_parked_one(void **state)
{
    struct bench_sample s = run(bench_lock_find("pawl"), "read-held", 1);

    (void)state;
    assert_true(s.v[BENCH_SOLO_READ] > 0);
    assert_true(isnan(s.v[BENCH_SOLO_WRITE]));
}

static void a_sleeping_holder_hands_over(void **state)
{
    static const char *const names[] = {"pawl", "pawl64", "mutex", "rwlock"};

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct bench_sample s = run(bench_lock_find(names[i]), "sleep", 5);

        assert_true(s.v[BENCH_HAND_OFF_P50] > 0);
        assert_true(s.v[BENCH_WAITERS_CPU] > 0);
    }
}

static void thinking_threads_are_served(void **state)
{
    struct bench_sample s = run(bench_lock_find("pawl"), "think", 2);

    (void)state;
    assert_true(s.checked);
    assert_false(s.broken);
    assert_true(s.v[BENCH_P50] >= 0);
}

static void threads_never_served_are_reported(void **state)
{
    struct bench_sample s = run(&bench_lock_unfair, "w100-tiny", 4);

    (void)state;
    assert_true(s.v[BENCH_UNSERVED] >= 3); /* the fourth may not have had a core */
    assert_true(s.v[BENCH_LONGEST] > 0);
    assert_true(isnan(s.v[BENCH_JAIN]) || fabs(s.v[BENCH_JAIN] - 0.25) < 1e-9);
    assert_true(s.unchecked);
}

static void a_lock_that_loses_updates_is_found(void **state)
{
    struct bench_sample s = run(&bench_lock_leaky, "w100-tiny", 2);

    (void)state;
    assert_true(s.checked);
    assert_true(s.broken);
}

static void a_trial_that_hangs_is_killed_and_has_no_figures(void **state)
{
    struct bench_point p;
    enum bench_end end;
    char error[200];
    struct bench_sample s;

    (void)state;
    bench_point_make(&p, bench_case_find("uncontended"), 1);
    s = measure(&bench_lock_stuck, &p, 100, &end, error);
    assert_int_equal(end, BENCH_KILLED);
    assert_true(s.killed);
    assert_false(s.measured);
}

static void a_trial_that_fails_says_how(void **state)
{
    struct bench_point p;
    enum bench_end end;
    char error[200];

    (void)state;
    bench_point_make(&p, bench_case_find("w100-tiny"), 2);
    measure(&bench_lock_failing, &p, 0, &end, error);
    assert_int_equal(end, BENCH_FAILED);
    assert_non_null(strstr(error, "status 3"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_lock_excludes_writers),
        cmocka_unit_test(every_lock_keeps_readers_from_seeing_half_a_write),
        cmocka_unit_test(every_lock_has_a_price_when_alone),
        cmocka_unit_test(readers_get_in_beside_a_parked_one),
        cmocka_unit_test(a_sleeping_holder_hands_over),
        cmocka_unit_test(thinking_threads_are_served),
        cmocka_unit_test(threads_never_served_are_reported),
        cmocka_unit_test(a_lock_that_loses_updates_is_found),
        cmocka_unit_test(a_trial_that_hangs_is_killed_and_has_no_figures),
        cmocka_unit_test(a_trial_that_fails_says_how),
    };

    return cmocka_run_group_tests(tests, calibrate, NULL);
}
