/* Objects built with different switches, linked together, contend for one lock: the switches change neither
 * the word nor who wakes whom. */
#include "torture.h"

void *part_plain(void *), *part_no_backoff(void *), *part_no_park(void *), *part_neither(void *),
    *part_inline(void *), *part_inline_no_park(void *), *part_watched(void *);

static void *(*const parts[])(void *) = {part_plain,  part_no_backoff,     part_no_park, part_neither,
                                         part_inline, part_inline_no_park, part_watched};
#define PARTS (sizeof parts / sizeof *parts)

static void torture_mixed(unsigned each)
{
    static struct torture t;
    static struct torturer all[PARTS * 4];
    memset(&t, 0, sizeof t);
    memset(all, 0, sizeof all);
    const char *soak = getenv("PAWL_SOAK_SECONDS");
    unsigned ms = soak && atoi(soak) > 0 ? (unsigned)atoi(soak) * 1000 : 400;
    alarm(60 + ms / 1000);
    for (unsigned i = 0; i < PARTS * each; i++) {
        all[i].t = &t;
        all[i].seed = i * 2654435761u + 1;
        assert_int_equal(pthread_create(&all[i].thread, NULL, parts[i % PARTS], &all[i]), 0);
    }
    nap_us(ms * 1000);
    __atomic_store_n(&t.stop, 1, __ATOMIC_RELAXED);
    uint64_t writes = 0, adds = 0, ops = 0;
    for (unsigned i = 0; i < PARTS * each; i++) {
        pthread_join(all[i].thread, NULL); /* nobody sleeps on */
        writes += all[i].writes;
        adds += all[i].adds;
        ops += all[i].ops;
    }
    assert_true(ops > PARTS * each);
    for (int i = 0; i < CELLS; i++) {
        assert_true(t.cells[i] == writes);
    }
    assert_true(t.sum == adds && t.inside == 0);
    pawl_write_lock(&t.lock);
    pawl_write_unlock(&t.lock);
    assert_true(t.lock.word == 0);
}

static void objects_built_differently_share_a_lock(void **state)
{
    (void)state;
    torture_mixed(1);
    torture_mixed(2);
    torture_mixed(4);
}

/* A sleeper of one object is woken by the unlock of another. */
static void a_sleeper_is_woken_by_an_object_that_never_sleeps(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PARTS; i++) {
        static struct torture t;
        struct torturer other = {.t = &t, .seed = i};
        struct waiter w;
        memset(&t, 0, sizeof t);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, parts[i], &other), 0);
        for (int n = 0; n < 10; n++) {
            waiter_start(&w, &t.lock, (enum state)(n % STATES));
            waiter_end(&w);
        }
        __atomic_store_n(&t.stop, 1, __ATOMIC_RELAXED);
        pthread_join(thread, NULL);
    }
}

int main(void)
{
    bound_program(120);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objects_built_differently_share_a_lock),
        cmocka_unit_test(a_sleeper_is_woken_by_an_object_that_never_sleeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
