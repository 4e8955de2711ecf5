/* No waiter starves: against others that follow each other without a gap, each kind gets through. Only for
 * builds whose waiters sleep; those that only spin promise nothing here (docs/lock.md). */
#include "lock_under_test.h"

#define MOST_OTHERS 4
#define ENTRIES     5 /* times that the lone one must get in */

struct other {
    lock_t *lock;
    enum state state;
    unsigned hold_us;
    int *stop, *running;
    pthread_t thread;
};

/* Takes the lock over and over, the next time right after the last. */
static void *other_main(void *arg)
{
    struct other *o = arg;
    bool first = true;
    while (!__atomic_load_n(o->stop, __ATOMIC_RELAXED)) {
        take(o->lock, o->state);
        if (first) {
            __atomic_fetch_add(o->running, 1, __ATOMIC_RELEASE);
            first = false;
        }
        if (o->hold_us) {
            nap_us(o->hold_us);
        }
        give(o->lock, o->state);
    }
    return NULL;
}

struct crowd {
    int stop, running, count;
    struct other others[MOST_OTHERS];
};

static void crowd_start(struct crowd *c, lock_t *l, enum state s, int count, unsigned hold_us)
{
    memset(c, 0, sizeof *c);
    c->count = count;
    for (int i = 0; i < count; i++) {
        /* different times, so that shared holders overlap and drift */
        c->others[i] =
            (struct other){l, s, hold_us ? hold_us + (unsigned)i * 130 : 0, &c->stop, &c->running, 0};
        assert_int_equal(pthread_create(&c->others[i].thread, NULL, other_main, &c->others[i]), 0);
    }
}

static void crowd_end(struct crowd *c)
{
    __atomic_store_n(&c->stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < c->count; i++) {
        pthread_join(c->others[i].thread, NULL);
    }
}

static void one_gets_through(enum state lone, enum state crowd, int count, unsigned hold_us)
{
    lock_t l = {0};
    struct crowd c;
    crowd_start(&c, &l, crowd, count, hold_us);
    assert_true(reaches(&c.running, 1));
    for (int i = 0; i < ENTRIES; i++) {
        struct waiter w;
        waiter_start(&w, &l, lone);
        if (!waiter_gets_in(&w)) {
            fail_msg("one %s against %d %s: starves (word %#llx)", state_names[lone], count,
                     state_names[crowd], (unsigned long long)l.word);
        }
        waiter_end(&w);
    }
    crowd_end(&c);
    pawl_write_lock(&l);
    pawl_write_unlock(&l);
    assert_true(l.word == 0);
}

static void a_writer_gets_through_overlapping_readers(void **state)
{
    (void)state;
    one_gets_through(WRITE, READ, 4, 300);
}

static void an_atomic_gets_through_overlapping_readers(void **state)
{
    (void)state;
    one_gets_through(ATOMIC, READ, 4, 300);
}

static void readers_seekers_and_writers_get_through_overlapping_atomics(void **state)
{
    (void)state;
    one_gets_through(READ, ATOMIC, 4, 300);
    one_gets_through(SEEK, ATOMIC, 4, 300);
    one_gets_through(WRITE, ATOMIC, 4, 300);
}

static void every_kind_gets_through_writers(void **state)
{
    (void)state;
    for (enum state lone = READ; lone < KINDS; lone++) {
        one_gets_through(lone, WRITE, 4, 0);
        one_gets_through(lone, WRITE, 4, 300);
    }
}

static void every_kind_gets_through_seekers(void **state)
{
    (void)state;
    for (enum state lone = READ; lone < KINDS; lone++) {
        one_gets_through(lone, SEEK, 4, 0);
        one_gets_through(lone, SEEK, 4, 300);
    }
}

/* A reader went to sleep behind W; then atomics took over, one of them first by the wake-up that followed W,
 * and since then always one is inside: nothing frees the lock, so nothing would wake the reader. */
static void a_reader_asleep_gets_through_atomics_that_came_to_stay(void **state)
{
    (void)state;
    lock_t l = {0};
    struct waiter a, r;
    struct crowd c;
    pawl_write_lock(&l);
    waiter_start(&a, &l, ATOMIC);
    settle(); /* it owns the turn */
    waiter_start(&r, &l, READ);
    settle();
    pawl_write_unlock(&l);
    assert_true(waiter_gets_in(&a));
    crowd_start(&c, &l, ATOMIC, 4, 300); /* beside it, unless the reader owns the turn by now */
    nap_us(3000);
    __atomic_store_n(&a.leave, 1, __ATOMIC_RELEASE);
    if (!waiter_gets_in(&r)) {
        fail_msg("R asleep, then A without a gap: starves (word %#llx)", (unsigned long long)l.word);
    }
    waiter_end(&r);
    waiter_end(&a);
    crowd_end(&c);
}

/* The same, where W left while an atomic was just arriving (counted, to take it back: frozen here), and
 * others slipped in beside that count. */
static void a_reader_asleep_gets_through_atomics_that_slipped_in(void **state)
{
    (void)state;
    lock_t l = {0}, one = {0};
    struct waiter r;
    struct crowd c;
    pawl_atomic_lock(&one);
    pawl_write_lock(&l);
    waiter_start(&r, &l, READ);
    settle();
    __atomic_fetch_add(&l.word, one.word, __ATOMIC_ACQUIRE);
    pawl_write_unlock(&l);
    bool beside = pawl_atomic_trylock(&l); /* beside the count that stands; or the reader owns the turn */
    pawl_atomic_unlock(&l);                /* the count is taken back */
    crowd_start(&c, &l, ATOMIC, 4, 300);
    nap_us(3000);
    if (beside) {
        pawl_atomic_unlock(&l);
    }
    if (!waiter_gets_in(&r)) {
        fail_msg("R asleep, then A without a gap: starves (word %#llx)", (unsigned long long)l.word);
    }
    waiter_end(&r);
    crowd_end(&c);
}

int main(void)
{
    bound_program(240);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_writer_gets_through_overlapping_readers),
        cmocka_unit_test(an_atomic_gets_through_overlapping_readers),
        cmocka_unit_test(readers_seekers_and_writers_get_through_overlapping_atomics),
        cmocka_unit_test(every_kind_gets_through_writers),
        cmocka_unit_test(every_kind_gets_through_seekers),
        cmocka_unit_test(a_reader_asleep_gets_through_atomics_that_came_to_stay),
        cmocka_unit_test(a_reader_asleep_gets_through_atomics_that_slipped_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
