/* Coroutines: they go on where they left, and one that begins anew leaves nothing behind. */
#include "sim/coro.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>

#include <cmocka.h>

enum { STACK_SIZE = 64 * 1024, BEGUN_ANEW = 5000, MOST_GROWTH_KIB = 64 * 1024 };

static struct sim_coro coros[2];
static int steps[2];

static void step_for_ever(void *arg)
{
    int me = *(int *)arg;
    volatile int here[32] = {0}; /* on its own stack, whatever the other does */
    for (;;) {
        steps[me] += ++here[me] - here[1 - me];
        sim_coro_yield(&coros[me]);
    }
}

static void they_go_on_where_they_left(void **state)
{
    int who[2] = {0, 1};
    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sim_coro_make(&coros[i], STACK_SIZE), 0);
        sim_coro_begin(&coros[i], step_for_ever, &who[i]);
    }
    for (int turn = 0; turn < 10; turn++) {
        sim_coro_resume(&coros[0]);
        sim_coro_resume(&coros[1]);
        sim_coro_resume(&coros[0]);
    }
    assert_int_equal(steps[0], 20 * 21 / 2);
    assert_int_equal(steps[1], 10 * 11 / 2);
    for (int i = 0; i < 2; i++) {
        sim_coro_free(&coros[i]);
    }
}

static long most_memory_kib(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

static void one_that_begins_anew_leaves_nothing_behind(void **state)
{
    int who = 0;
    long before;
    (void)state;
    assert_int_equal(sim_coro_make(&coros[0], STACK_SIZE), 0);
    before = most_memory_kib();
    for (int i = 0; i < BEGUN_ANEW; i++) {
        steps[0] = 0;
        sim_coro_begin(&coros[0], step_for_ever, &who);
        sim_coro_resume(&coros[0]);
        sim_coro_resume(&coros[0]);
        assert_int_equal(steps[0], 3);
    }
    assert_in_range(most_memory_kib() - before, 0, MOST_GROWTH_KIB);
    sim_coro_free(&coros[0]);
}

static void one_that_never_ran_is_freed(void **state)
{
    int who = 0;
    (void)state;
    assert_int_equal(sim_coro_make(&coros[0], STACK_SIZE), 0);
    sim_coro_free(&coros[0]);
    assert_null(coros[0].stack);
    assert_int_equal(sim_coro_make(&coros[0], STACK_SIZE), 0);
    sim_coro_begin(&coros[0], step_for_ever, &who);
    sim_coro_free(&coros[0]);
    assert_null(coros[0].stack);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_go_on_where_they_left),
        cmocka_unit_test(one_that_begins_anew_leaves_nothing_behind),
        cmocka_unit_test(one_that_never_ran_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
