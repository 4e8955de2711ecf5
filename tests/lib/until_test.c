/* Deadlines that expire at every step of an acquisition: the caller holds what it held, those it held back
 * get in, and no trace is left in the word. And errno, which no operation changes, waits included. */
#include "lock_under_test.h"

#include <errno.h>

#define ERRNO_BEFORE 4711

enum { TO_WRITE_FROM_SEEK = KINDS, TO_WRITE_FROM_READ, OPS };
static const char *const op_names[OPS] = {"R", "S", "W", "A", "J", "S->W", "R->W"};

/* A thread that asks for one thing until a deadline, after it was told to. */
struct asker {
    lock_t *lock;
    int op;
    int64_t us;
    int ready, go, leave;
    int done; /* 1: got it, 2: expired */
    bool early, changed_errno;
    pthread_t thread;
};

static enum state before(int op)
{
    return op == TO_WRITE_FROM_SEEK ? SEEK : READ;
}

static bool ask(lock_t *l, int op, uint64_t deadline)
{
    switch (op) {
    case TO_WRITE_FROM_SEEK:
        return pawl_seek_to_write_until(l, deadline);
    case TO_WRITE_FROM_READ:
        return pawl_read_to_write_until(l, deadline);
    default:
        return take_until(l, (enum state)op, deadline);
    }
}

/* Ends of a range of deadlines: 0, and one that never passes. */
#define ZERO  (-2)
#define NEVER INT64_MAX

static uint64_t deadline_in(int64_t us)
{
    return us == ZERO ? 0 : us < 0 ? 1 : us == NEVER ? PAWL_NEVER : in_us(us);
}

static void *asker_main(void *arg)
{
    struct asker *a = arg;
    if (a->op >= KINDS) {
        take(a->lock, before(a->op));
    }
    __atomic_store_n(&a->ready, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&a->go, __ATOMIC_ACQUIRE)) {
        nap_us(100);
    }
    uint64_t deadline = deadline_in(a->us);
    errno = ERRNO_BEFORE;
    bool got = ask(a->lock, a->op, deadline);
    a->changed_errno = errno != ERRNO_BEFORE;
    a->early = !got && clock_us(CLOCK_MONOTONIC) * 1000 + 1000 < deadline;
    __atomic_store_n(&a->done, got ? 1 : 2, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&a->leave, __ATOMIC_ACQUIRE)) {
        nap_us(100);
    }
    if (a->op >= KINDS) {
        give(a->lock, got ? WRITE : before(a->op));
    } else if (got) {
        give(a->lock, (enum state)a->op);
    }
    a->changed_errno |= errno != ERRNO_BEFORE;
    return NULL;
}

static void asker_start(struct asker *a, lock_t *l, int op, int64_t us)
{
    *a = (struct asker){.lock = l, .op = op, .us = us};
    assert_int_equal(pthread_create(&a->thread, NULL, asker_main, a), 0);
    assert_true(reaches(&a->ready, 1));
}

static void asker_go(struct asker *a)
{
    __atomic_store_n(&a->go, 1, __ATOMIC_RELEASE);
}

/* What came of it: 1 or 2, and not before its time. */
static int asker_result(struct asker *a)
{
    assert_true(reaches(&a->done, 1));
    assert_false(a->early);
    return a->done;
}

static void asker_end(struct asker *a)
{
    __atomic_store_n(&a->leave, 1, __ATOMIC_RELEASE);
    pthread_join(a->thread, NULL);
    if (a->changed_errno) {
        fail_msg("%s until: errno is not as before", op_names[a->op]);
    }
}

/* Whether the one keeps the other waiting; a transition's other is a reader. */
static bool excludes(enum state held, int op)
{
    if (op >= KINDS) {
        return held == READ;
    }
    return !((held == READ && (op == READ || op == SEEK)) || (held == SEEK && op == READ) ||
             (held == ATOMIC && op == ATOMIC));
}

/* Past, twice; while spinning; as head looking and napping; as head asleep; with the turn; long after it. */
static const int64_t steps_us[] = {ZERO, -1, 2, 8, 70, 300, 900, 1500};
#define STEPS (sizeof steps_us / sizeof *steps_us)

static void a_deadline_that_expires_at_any_step_leaves_what_was_held(void **state)
{
    (void)state;
    for (enum state held = READ; held < KINDS; held++) {
        for (int op = 0; op < OPS; op++) {
            for (unsigned i = 0; i < STEPS && excludes(held, op); i++) {
                lock_t l = {0}, with;
                struct asker a;
                take(&l, held);
                asker_start(&a, &l, op, steps_us[i]);
                with = l;
                asker_go(&a);
                if (asker_result(&a) != 2) {
                    fail_msg("%s behind %s got in", op_names[op], state_names[held]);
                }
                if (l.word != with.word) {
                    fail_msg("%s behind %s expired after %d us: the word is %#llx, was %#llx", op_names[op],
                             state_names[held], (int)steps_us[i], (unsigned long long)l.word,
                             (unsigned long long)with.word);
                }
                give(&l, held);
                asker_end(&a);
                assert_true(l.word == 0);
            }
        }
    }
}

static void an_until_is_more_than_a_try(void **state)
{
    (void)state;
    for (enum state held = READ; held < KINDS; held++) {
        for (int op = 0; op < OPS; op++) {
            if (!excludes(held, op)) {
                continue;
            }
            lock_t l = {0};
            struct asker a;
            take(&l, held);
            asker_start(&a, &l, op, held % 2 ? NEVER : PATIENCE_MS * 1000);
            asker_go(&a);
            nap_us(4000);
            assert_int_equal(__atomic_load_n(&a.done, __ATOMIC_ACQUIRE), 0);
            give(&l, held);
            if (asker_result(&a) != 1) {
                fail_msg("%s behind %s: did not wait", op_names[op], state_names[held]);
            }
            asker_end(&a);
            assert_true(l.word == 0);
        }
    }
}

/* The one that waits holds others back, by its claim or its turn. It gives up: they get in at once, though
 * the holder is still there. */
static void those_held_back_by_one_that_gives_up_get_in(void **state)
{
    (void)state;
    static const struct {
        enum state held;
        int op;
        enum state back;
    } cases[] = {
        {ATOMIC, WRITE, ATOMIC},
        {ATOMIC, SEEK, ATOMIC},
        {ATOMIC, READ, ATOMIC},
        {ATOMIC, JOIN, ATOMIC},
        {READ, ATOMIC, READ},
        {READ, ATOMIC, SEEK},
        {READ, WRITE, READ},
        {READ, WRITE, SEEK},
        {READ, JOIN, READ},
        {READ, JOIN, SEEK},
        {SEEK, WRITE, READ},
        {READ, TO_WRITE_FROM_SEEK, READ},
        {READ, TO_WRITE_FROM_READ, READ},
        {READ, TO_WRITE_FROM_READ, SEEK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int several = 0; several < 2; several++) {
            lock_t l = {0};
            struct asker a;
            struct waiter w[3];
            int n = several && cases[i].back != SEEK ? 3 : 1;
            take(&l, cases[i].held);
            asker_start(&a, &l, cases[i].op, 40000);
            asker_go(&a);
            nap_us(10000);
            for (int k = 0; k < n; k++) {
                waiter_start(&w[k], &l, cases[i].back);
            }
            nap_us(5000);
            assert_int_equal(asker_result(&a), 2);
            for (int k = 0; k < n; k++) {
                if (!waiter_gets_in(&w[k])) {
                    fail_msg("%s beside %s after a %s that gave up: kept out (word %#llx)",
                             state_names[cases[i].back], state_names[cases[i].held], op_names[cases[i].op],
                             (unsigned long long)l.word);
                }
            }
            for (int k = 0; k < n; k++) {
                waiter_end(&w[k]);
            }
            give(&l, cases[i].held);
            asker_end(&a);
            assert_true(l.word == 0);
        }
    }
}

/* In the line behind a head, or itself the head with others behind; it gives up, the others get the lock when
 * it is free. */
static void a_timed_out_waiter_does_not_block_those_behind_it(void **state)
{
    (void)state;
    for (int op = 0; op < KINDS; op++) {
        for (int first = 0; first < 2; first++) {
            lock_t l = {0};
            struct asker a;
            struct waiter w[3];
            pawl_write_lock(&l);
            if (!first) {
                waiter_start(&w[0], &l, WRITE);
                nap_us(3000);
            }
            asker_start(&a, &l, op, 20000);
            asker_go(&a);
            nap_us(3000);
            if (first) {
                waiter_start(&w[0], &l, WRITE);
            }
            waiter_start(&w[1], &l, READ);
            waiter_start(&w[2], &l, ATOMIC);
            assert_int_equal(asker_result(&a), 2);
            asker_end(&a);
            nap_us(3000);
            pawl_write_unlock(&l);
            for (bool ended[3] = {false, false, false}; !ended[0] || !ended[1] || !ended[2];) {
                for (int i = 0; i < 3; i++) {
                    if (!ended[i] && waiter_is_in(&w[i])) {
                        waiter_end(&w[i]);
                        ended[i] = true;
                    }
                }
                nap_us(200);
            }
            assert_true(l.word == 0);
        }
    }
}

/* Many in the line, each with a deadline of its own, some of which expire while they are being woken. */
static void no_trace_is_left_by_a_line_that_gave_up(void **state)
{
    (void)state;
    for (int round = 0; round < 30; round++) {
        lock_t l = {0};
        struct asker a[8];
        pawl_write_lock(&l);
        for (int i = 0; i < 8; i++) {
            asker_start(&a[i], &l, (i + round) % KINDS, 1000 + i * 150 + round * 20);
            asker_go(&a[i]);
        }
        nap_us(round < 5 ? 20000 : 1500);
        pawl_write_unlock(&l);
        for (int i = 0; i < 8; i++) {
            __atomic_store_n(&a[i].leave, 1, __ATOMIC_RELEASE);
        }
        for (int i = 0; i < 8; i++) {
            (void)asker_result(&a[i]); /* on a slow machine some get it */
            asker_end(&a[i]);
        }
        if (l.word != 0) {
            fail_msg("round %d: the word is %#llx", round, (unsigned long long)l.word);
        }
    }
}

struct poller {
    lock_t *lock;
    int stop;
    pthread_t thread;
};

static void *poller_main(void *arg)
{
    struct poller *p = arg;
    while (!__atomic_load_n(&p->stop, __ATOMIC_RELAXED)) {
        assert_false(pawl_read_lock_until(p->lock, 0));
        assert_false(pawl_read_trylock(p->lock));
    }
    return NULL;
}

/* Were they counted while they look, then with many of them the count would never be 0 for one that has
 * claimed, and waits for the readers inside. */
static void readers_that_ask_again_and_again_are_not_counted_as_inside(void **state)
{
    (void)state;
    lock_t l = {0};
    struct poller p = {.lock = &l};
    unsigned counted = 0;
    pawl_write_lock(&l);
    assert_int_equal(pthread_create(&p.thread, NULL, poller_main, &p), 0);
    for (uint64_t end = clock_us(CLOCK_MONOTONIC) + 100000; clock_us(CLOCK_MONOTONIC) < end;) {
        for (int i = 0; i < 1000; i++) {
            counted += pawl_read_is_held(&l);
        }
    }
    __atomic_store_n(&p.stop, 1, __ATOMIC_RELAXED);
    pthread_join(p.thread, NULL);
    pawl_write_unlock(&l);
    assert_int_equal(counted, 0);
    assert_true(l.word == 0);
}

static void on_usr1(int sig)
{
    (void)sig;
}

/* A signal ends a sleep early: that is no grant, and no expiry either. */
static void a_signal_neither_grants_nor_expires(void **state)
{
    (void)state;
    struct sigaction sa = {.sa_handler = on_usr1}; /* no SA_RESTART */
    sigaction(SIGUSR1, &sa, NULL);
    for (enum state held = READ; held < KINDS; held++) {
        for (int op = 0; op < OPS; op++) {
            if (!excludes(held, op)) {
                continue;
            }
            lock_t l = {0};
            struct asker a, b;
            bool two = op < KINDS;
            take(&l, held);
            asker_start(&a, &l, op, PATIENCE_MS * 1000);
            asker_go(&a);
            if (two) { /* one of them is in the line behind the other */
                asker_start(&b, &l, op, PATIENCE_MS * 1000);
                asker_go(&b);
            }
            for (int i = 0; i < 10; i++) {
                nap_us(400);
                pthread_kill(a.thread, SIGUSR1);
                if (two) {
                    pthread_kill(b.thread, SIGUSR1);
                }
            }
            assert_int_equal(__atomic_load_n(&a.done, __ATOMIC_ACQUIRE), 0);
            assert_true(!two || __atomic_load_n(&b.done, __ATOMIC_ACQUIRE) == 0);
            give(&l, held);
            __atomic_store_n(&a.leave, 1, __ATOMIC_RELEASE);
            if (two) {
                __atomic_store_n(&b.leave, 1, __ATOMIC_RELEASE);
                assert_int_equal(asker_result(&b), 1);
                asker_end(&b);
            }
            assert_int_equal(asker_result(&a), 1);
            asker_end(&a);
            assert_true(l.word == 0);
        }
    }
}

/* Against holders that come and go, with deadlines of every length: whatever comes of it is true. */
static void deadlines_expire_while_the_lock_is_busy(void **state)
{
    (void)state;
    lock_t l = {0};
    struct asker a[6];
    uint64_t end = clock_us(CLOCK_MONOTONIC) + 400000;
    for (unsigned round = 0; clock_us(CLOCK_MONOTONIC) < end; round++) {
        for (unsigned i = 0; i < 6; i++) {
            asker_start(&a[i], &l, (int)((i + round) % KINDS), steps_us[(i * 5 + round) % STEPS]);
            __atomic_store_n(&a[i].leave, 1, __ATOMIC_RELEASE);
        }
        for (unsigned i = 0; i < 6; i++) {
            asker_go(&a[i]);
        }
        for (unsigned i = 0; i < 6; i++) {
            (void)asker_result(&a[i]);
            asker_end(&a[i]);
        }
        assert_true(l.word == 0);
    }
}

int main(void)
{
    bound_program(240);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_deadline_that_expires_at_any_step_leaves_what_was_held),
        cmocka_unit_test(an_until_is_more_than_a_try),
        cmocka_unit_test(those_held_back_by_one_that_gives_up_get_in),
        cmocka_unit_test(a_timed_out_waiter_does_not_block_those_behind_it),
        cmocka_unit_test(no_trace_is_left_by_a_line_that_gave_up),
        cmocka_unit_test(readers_that_ask_again_and_again_are_not_counted_as_inside),
        cmocka_unit_test(a_signal_neither_grants_nor_expires),
        cmocka_unit_test(deadlines_expire_while_the_lock_is_busy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
