/* The lock's invariants under 2, 8 and 64 (spinning only: 16; TORTURE_THREADS if defined) threads doing
 * everything at random, and progress for each of them. PAWL_SOAK_SECONDS in the environment makes each of the
 * three last that long. */
#include "torture.h"

/* Spinning only, far more threads than cores mostly wait for one that is not running: 64 would take minutes.
 */
#ifdef TORTURE_THREADS
#    define MOST_THREADS TORTURE_THREADS
#else
#    define MOST_THREADS (WAITERS_SLEEP ? 64 : 16)
#endif

static unsigned soak_ms(void)
{
    const char *s = getenv("PAWL_SOAK_SECONDS");
    return s ? (unsigned)strtoul(s, NULL, 10) * 1000 : 0;
}

static void torture_with(int threads, uint64_t share)
{
    static struct torturer all[MOST_THREADS];
    static struct torture t;
    memset(&t, 0, sizeof t);
    memset(all, 0, sizeof all);
    t.share = share;
    unsigned least_ms = soak_ms() ? soak_ms() : 100;
    alarm(60 + least_ms / 1000);
    uint64_t start = clock_us(CLOCK_MONOTONIC);
    for (int i = 0; i < threads; i++) {
        all[i].t = &t;
        all[i].seed = (uint32_t)(i * 2654435761u + 1);
        assert_int_equal(pthread_create(&all[i].thread, NULL, torture_thread, &all[i]), 0);
    }
    /* Builds that only spin promise no thread its share: they get a time instead. */
    if (WAITERS_SLEEP) {
        while (__atomic_load_n(&t.done, __ATOMIC_ACQUIRE) < threads) {
            nap_us(1000);
        }
    }
    for (uint64_t end = start + (WAITERS_SLEEP ? 1 : 5) * least_ms * 1000u;
         clock_us(CLOCK_MONOTONIC) < end;) {
        nap_us(1000);
    }
    __atomic_store_n(&t.stop, 1, __ATOMIC_RELAXED);
    uint64_t writes = 0, adds = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(all[i].thread, NULL);
        writes += all[i].writes;
        adds += all[i].adds;
    }
    assert_true(writes > 0);
    for (int i = 0; i < CELLS; i++) {
        assert_true(t.cells[i] == writes); /* no change was lost */
    }
    assert_true(t.sum == adds);
    assert_true(t.inside == 0);
    assert_true(pawl_write_trylock(&t.lock)); /* nothing is left over */
    pawl_write_unlock(&t.lock);
    assert_true(t.lock.word == 0);
}

static void invariants_hold_with_2_threads(void **state)
{
    (void)state;
    torture_with(2, 2000);
}

static void invariants_hold_with_8_threads(void **state)
{
    (void)state;
    torture_with(8, 500);
}

static void invariants_hold_with_many_threads(void **state)
{
    (void)state;
    torture_with(MOST_THREADS, MOST_THREADS > 64 ? 15 : 50);
}

int main(void)
{
    bound_program(120);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invariants_hold_with_2_threads),
        cmocka_unit_test(invariants_hold_with_8_threads),
        cmocka_unit_test(invariants_hold_with_many_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
