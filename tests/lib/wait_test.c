/* Waiting: who is kept out, who sleeps (uses no CPU) while kept out, and who is let in by which step. The
 * builds without sleeping must behave the same, the CPU apart. */
#include "lock_under_test.h"

/* A waiter kept out for HOLD_MS may use this much CPU: spinning takes all of it, sleeping a few microseconds
 * (some milliseconds under emulation). */
#define HOLD_MS 50
#define CPU_MS  25

static void assert_slept(const struct waiter *w, const char *what)
{
    if (WAITERS_SLEEP && w->cpu_us > CPU_MS * 1000) {
        fail_msg("%s: %llu us of CPU used to wait %d ms", what, (unsigned long long)w->cpu_us, HOLD_MS);
    }
}

static void assert_kept_out(struct waiter *w, const char *what)
{
    if (waiter_is_in(w)) {
        fail_msg("%s got in", what);
    }
}

static void assert_gets_in(struct waiter *w, const char *what)
{
    if (!waiter_gets_in(w)) {
        fail_msg("%s does not get in (word %#llx)", what, (unsigned long long)w->lock->word);
    }
}

static void a_waiter_sleeps_and_is_woken_by_the_unlock(void **state)
{
    (void)state;
    static const struct {
        enum state held, asked;
    } pairs[] = {{READ, WRITE},  {READ, ATOMIC},  {SEEK, SEEK},   {SEEK, WRITE},   {SEEK, ATOMIC},
                 {WRITE, READ},  {WRITE, SEEK},   {WRITE, WRITE}, {WRITE, ATOMIC}, {ATOMIC, READ},
                 {ATOMIC, SEEK}, {ATOMIC, WRITE}, {JOIN, READ},   {JOIN, SEEK},    {JOIN, WRITE},
                 {JOIN, ATOMIC}, {JOIN, JOIN},    {READ, JOIN},   {SEEK, JOIN},    {WRITE, JOIN},
                 {ATOMIC, JOIN}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        lock_t l = {0};
        struct waiter w;
        char what[32];
        snprintf(what, sizeof what, "%s behind %s", state_names[pairs[i].asked], state_names[pairs[i].held]);
        take(&l, pairs[i].held);
        waiter_start(&w, &l, pairs[i].asked);
        nap_us(HOLD_MS * 1000);
        assert_kept_out(&w, what);
        give(&l, pairs[i].held);
        assert_gets_in(&w, what);
        assert_slept(&w, what);
        waiter_end(&w);
    }
}

static void an_upgrade_sleeps_until_the_readers_have_left(void **state)
{
    (void)state;
    lock_t l = {0};
    struct waiter w;
    pawl_read_lock(&l);
    pawl_read_lock(&l); /* stands for a second reader */
    waiter_start_upgrade(&w, &l);
    assert_true(pawl_read_trylock(&l)); /* only S: not claimed yet */
    waiter_go(&w);
    nap_us(HOLD_MS * 1000);
    assert_kept_out(&w, "S->W behind R");
    assert_false(pawl_read_trylock(&l));
    pawl_read_unlock(&l);
    pawl_read_unlock(&l);
    nap_us(2000);
    assert_kept_out(&w, "S->W behind the last R");
    pawl_read_unlock(&l);
    assert_gets_in(&w, "S->W behind R");
    assert_slept(&w, "S->W behind R");
    waiter_end(&w);
    assert_true(pawl_write_trylock(&l));
}

static void a_reader_enters_while_only_seek_is_held_whoever_waits(void **state)
{
    (void)state;
    lock_t l = {0};
    struct waiter w, s, a, r;
    pawl_seek_lock(&l);
    waiter_start(&w, &l, WRITE);
    waiter_start(&s, &l, SEEK);
    waiter_start(&a, &l, ATOMIC); /* this one claims the turn in the builds that sleep */
    settle();
    waiter_start(&r, &l, READ);
    assert_gets_in(&r, "R beside S, with W, S and A waiting");
    assert_true(pawl_read_trylock(&l));
    pawl_read_unlock(&l);
    assert_kept_out(&w, "W");
    assert_kept_out(&s, "S");
    assert_kept_out(&a, "A");
    waiter_end(&r);
    pawl_seek_unlock(&l);
    struct waiter *all[] = {&w, &s, &a};
    for (int left = 3; left;) { /* in whatever order they come */
        for (int i = 0; i < 3; i++) {
            if (all[i] && waiter_is_in(all[i])) {
                waiter_end(all[i]);
                all[i] = NULL;
                left--;
            }
        }
        nap_us(200);
    }
}

static void a_claimed_write_refuses_new_readers(void **state)
{
    (void)state;
    lock_t l = {0};
    struct waiter w, r;
    pawl_read_lock(&l);
    waiter_start(&w, &l, WRITE);
    for (int tries = 0; pawl_read_trylock(&l); tries++) { /* until W has claimed */
        pawl_read_unlock(&l);
        assert_true(tries < 100000);
        nap_us(100);
    }
    waiter_start(&r, &l, READ);
    settle();
    assert_kept_out(&r, "R behind a claimed W");
    assert_kept_out(&w, "W behind R");
    pawl_read_unlock(&l);
    assert_gets_in(&w, "W");
    settle();
    assert_kept_out(&r, "R behind W");
    waiter_end(&w);
    waiter_end(&r);
}

static void readers_asleep_enter_when_a_write_is_given_down(void **state)
{
    (void)state;
    for (int to_read = 0; to_read < 2; to_read++) {
        lock_t l = {0};
        struct waiter r[4];
        pawl_write_lock(&l);
        for (int i = 0; i < 4; i++) {
            waiter_start(&r[i], &l, READ);
        }
        settle();
        for (int i = 0; i < 4; i++) {
            assert_kept_out(&r[i], "R behind W");
        }
        if (to_read) {
            pawl_write_to_read(&l);
        } else {
            pawl_write_to_seek(&l);
        }
        for (int i = 0; i < 4; i++) {
            assert_gets_in(&r[i], to_read ? "R after W->R" : "R after W->S");
        }
        give(&l, to_read ? READ : SEEK);
        for (int i = 0; i < 4; i++) {
            waiter_end(&r[i]);
        }
    }
}

static void a_seeker_asleep_enters_when_seek_or_write_becomes_read(void **state)
{
    (void)state;
    for (int from_write = 0; from_write < 2; from_write++) {
        for (int readers = 0; readers < 2; readers++) {
            lock_t l = {0};
            struct waiter s, r;
            take(&l, from_write ? WRITE : SEEK);
            if (readers) {
                waiter_start(&r, &l, READ);
            }
            waiter_start(&s, &l, SEEK);
            settle();
            assert_kept_out(&s, "S");
            if (from_write) {
                pawl_write_to_read(&l);
            } else {
                pawl_seek_to_read(&l);
            }
            assert_gets_in(&s, from_write ? "S after W->R" : "S after S->R");
            waiter_end(&s);
            if (readers) {
                waiter_end(&r);
            }
            pawl_read_unlock(&l);
        }
    }
}

static void a_writer_asleep_behind_seek_gets_in_though_readers_came_meanwhile(void **state)
{
    (void)state;
    lock_t l = {0};
    struct waiter w;
    pawl_seek_lock(&l);
    waiter_start(&w, &l, WRITE);
    settle();
    pawl_read_lock(&l);
    pawl_seek_unlock(&l);
    settle();
    assert_kept_out(&w, "W beside R");
    pawl_read_unlock(&l);
    assert_gets_in(&w, "W");
    waiter_end(&w);
}

static void all_who_can_share_the_lock_get_in_together(void **state)
{
    (void)state;
    static const struct {
        enum state held, asked;
    } pairs[] = {{WRITE, READ}, {ATOMIC, READ}, {WRITE, ATOMIC}, {READ, ATOMIC}, {SEEK, ATOMIC}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        lock_t l = {0};
        struct waiter w[6];
        take(&l, pairs[i].held);
        for (int k = 0; k < 6; k++) {
            waiter_start(&w[k], &l, pairs[i].asked);
        }
        settle();
        give(&l, pairs[i].held);
        for (int k = 0; k < 6; k++) { /* none has left yet */
            assert_gets_in(&w[k], state_names[pairs[i].asked]);
        }
        for (int k = 0; k < 6; k++) {
            waiter_end(&w[k]);
        }
    }
}

/* A crowd of every kind, all asleep: each is woken in its turn, none is forgotten. */
static void a_sleeping_crowd_is_served_to_the_last(void **state)
{
    (void)state;
    enum { CROWD = 24 };
    for (enum state held = READ; held < STATES; held++) {
        lock_t l = {0};
        struct waiter w[CROWD];
        take(&l, held);
        for (int i = 0; i < CROWD; i++) {
            waiter_start(&w[i], &l, (enum state)(i % STATES));
            __atomic_store_n(&w[i].leave, 1, __ATOMIC_RELEASE); /* out again at once */
        }
        settle();
        give(&l, held);
        for (int i = 0; i < CROWD; i++) {
            assert_gets_in(&w[i], state_names[w[i].state]);
            pthread_join(w[i].thread, NULL);
        }
        assert_true(pawl_write_trylock(&l));
        pawl_write_unlock(&l);
        assert_true(l.word == 0);
    }
}

/* The unlock wakes a writer, but before that one runs the lock is taken for seek: the writer sleeps again,
 * and the reader that the wake-up passed over must get in beside the seeker. */
static void a_wake_up_that_came_too_late_is_passed_on(void **state)
{
    (void)state;
    for (int round = 0; round < 10; round++) {
        lock_t l = {0};
        struct waiter w, r;
        pawl_write_lock(&l);
        waiter_start(&w, &l, WRITE);
        __atomic_store_n(&w.leave, 1, __ATOMIC_RELEASE);
        nap_us(1000);
        waiter_start(&r, &l, READ);
        nap_us(1000);
        pawl_write_unlock(&l);
        /* Ahead of the writer, mostly. Not by waiting for it: the writer may be waiting for the reader by
         * then. */
        bool ahead = pawl_seek_trylock(&l);
        if (ahead) {
            assert_gets_in(&r, "R beside S, after a W was woken in vain");
        }
        waiter_end(&r);
        if (ahead) {
            pawl_seek_unlock(&l);
        }
        waiter_end(&w);
    }
}

/* read_lock first counts itself, then looks; refused, it takes that back. The tests below hold that moment
 * still: the count is added by hand, as an arriving thread would, and taken back later by the release that
 * such a thread does. (No other kind counts itself before it is inside.) */
static void arrive(lock_t *l, enum state s)
{
    lock_t one = {0};
    take(&one, s);
    __atomic_fetch_add(&l->word, one.word, __ATOMIC_ACQUIRE);
}

static void take_back(lock_t *l, enum state s)
{
    give(l, s);
}

/* Those who wait inside for the others of a phase have nobody to wake them: they nap. Each case: what the
 * holder does first, what the waiter does before it waits, the wait, what each gives back. */
static bool until_next_minute(lock_t *l)
{
    return pawl_join_lock_until(l, in_us(60 * 1000000));
}
static bool read_claim_atomic(lock_t *l)
{
    return LOCK_F(pawl_read_claim_atomic)(l);
}
static bool atomic_claim(lock_t *l)
{
    return LOCK_F(pawl_atomic_claim)(l);
}
static bool join(lock_t *l)
{
    pawl_join_lock(l);
    return true;
}
static bool read_to_join(lock_t *l)
{
    pawl_read_to_join(l);
    return true;
}
static bool claim_to_atomic(lock_t *l)
{
    pawl_claim_to_atomic(l);
    return true;
}
static bool atomic_to_read(lock_t *l)
{
    pawl_atomic_to_read(l);
    return true;
}

/* What is held, as the numbers the word counts: both counts are one in J and C. */
struct phase_wait {
    const char *what;
    enum state held, before, after; /* of the waiter: STATES for none, C as J */
    bool claim;                     /* both begin in C, the holder stays there */
    bool (*wait)(lock_t *l);
};

struct phase_waiter {
    const struct phase_wait *how;
    lock_t lock;
    int ready, entered;
    uint64_t cpu_us;
    pthread_t thread;
};

static void *phase_waiter_main(void *arg)
{
    struct phase_waiter *w = arg;
    __atomic_store_n(&w->ready, 1, __ATOMIC_RELEASE);
    uint64_t cpu = clock_us(CLOCK_THREAD_CPUTIME_ID);
    if (!w->how->wait(&w->lock)) {
        abort();
    }
    w->cpu_us = clock_us(CLOCK_THREAD_CPUTIME_ID) - cpu;
    __atomic_store_n(&w->entered, 1, __ATOMIC_RELEASE);
    give(&w->lock, w->how->after);
    return NULL;
}

/* What a sleep of a millisecond, again and again, costs on this machine for so long. */
static uint64_t naps_cost_us(uint64_t long_us)
{
    uint64_t cpu = clock_us(CLOCK_THREAD_CPUTIME_ID), end = clock_us(CLOCK_MONOTONIC) + long_us;
    while (clock_us(CLOCK_MONOTONIC) < end) {
        nap_us(1000);
    }
    return clock_us(CLOCK_THREAD_CPUTIME_ID) - cpu;
}

static void who_waits_for_a_phase_leaves_the_cpu_to_others(void **state)
{
    (void)state;
    static const struct phase_wait all[] = {
        {"J behind R", READ, STATES, JOIN, false, join},
        {"J until behind R", READ, STATES, JOIN, false, until_next_minute},
        {"R->J beside R", READ, READ, JOIN, false, read_to_join},
        {"C->A beside C", JOIN, JOIN, ATOMIC, true, claim_to_atomic},
        {"A->R beside A", ATOMIC, ATOMIC, READ, false, atomic_to_read},
        {"R->A claimed, beside R", READ, READ, ATOMIC, false, read_claim_atomic},
        {"A claimed, behind R", READ, STATES, ATOMIC, false, atomic_claim},
    };
    enum { WAITS = sizeof all / sizeof *all, LONG_US = WAITERS_SLEEP ? 400000 : 20000 };
    struct phase_waiter w[WAITS];
    memset(w, 0, sizeof w);
    for (int i = 0; i < WAITS; i++) {
        w[i].how = &all[i];
        if (all[i].claim) { /* two in J, one after the other, then in C */
            pawl_read_lock(&w[i].lock);
            arrive(&w[i].lock, JOIN);
            pawl_read_to_claim(&w[i].lock);
        } else {
            take(&w[i].lock, all[i].held);
            if (all[i].before != STATES) {
                take(&w[i].lock, all[i].before);
            }
        }
        assert_int_equal(pthread_create(&w[i].thread, NULL, phase_waiter_main, &w[i]), 0);
        assert_true(reaches(&w[i].ready, 1));
    }
    uint64_t cost = naps_cost_us(LONG_US);
    for (int i = 0; i < WAITS; i++) {
        if (__atomic_load_n(&w[i].entered, __ATOMIC_ACQUIRE)) {
            fail_msg("%s: did not wait", all[i].what);
        }
        give(&w[i].lock, all[i].held);
        assert_true(reaches(&w[i].entered, 1));
        pthread_join(w[i].thread, NULL);
        if (w[i].lock.word != 0) {
            fail_msg("%s: the word is %#llx in the end", all[i].what, (unsigned long long)w[i].lock.word);
        }
        if (WAITERS_SLEEP && w[i].cpu_us > 2 * cost + LONG_US / 20) {
            fail_msg("%s: %llu us of CPU used to wait %d ms, where naps of a millisecond use %llu",
                     all[i].what, (unsigned long long)w[i].cpu_us, LONG_US / 1000, (unsigned long long)cost);
        }
    }
}

static void an_atomic_misled_by_an_arriving_reader_gets_in_beside_atomic(void **state)
{
    (void)state;
    lock_t l = {0};
    struct waiter a[2];
    pawl_atomic_lock(&l);
    arrive(&l, READ);
    waiter_start(&a[0], &l, ATOMIC);
    waiter_start(&a[1], &l, ATOMIC);
    settle(); /* one of them owns the turn by now and sleeps without a time limit */
    take_back(&l, READ);
    assert_gets_in(&a[0], "A beside A, after an R came by");
    assert_gets_in(&a[1], "A beside A, after an R came by");
    waiter_end(&a[0]);
    waiter_end(&a[1]);
    pawl_atomic_unlock(&l);
    assert_true(pawl_write_trylock(&l));
}

static void a_writer_draining_is_not_fooled_by_readers_that_bounce(void **state)
{
    (void)state;
    lock_t l = {0};
    struct waiter w;
    pawl_read_lock(&l);
    waiter_start(&w, &l, WRITE);
    settle();
    arrive(&l, READ);
    pawl_read_unlock(&l); /* the true reader leaves first */
    settle();
    assert_kept_out(&w, "W");
    take_back(&l, READ);
    assert_gets_in(&w, "W after the last count is gone");
    waiter_end(&w);
    assert_true(l.word == 0);
}

static void the_word_is_initial_again_after_all_have_left(void **state)
{
    (void)state;
    for (enum state first = READ; first < KINDS; first++) {
        for (enum state second = READ; second < KINDS; second++) {
            lock_t l = {0};
            struct waiter a, b;
            pawl_write_lock(&l);
            waiter_start(&a, &l, first);
            waiter_start(&b, &l, second);
            nap_us(3000);
            pawl_write_unlock(&l);
            __atomic_store_n(&a.leave, 1, __ATOMIC_RELEASE);
            __atomic_store_n(&b.leave, 1, __ATOMIC_RELEASE);
            waiter_end(&a);
            waiter_end(&b);
            assert_true(l.word == 0);
        }
    }
}

int main(void)
{
    bound_program(120);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_waiter_sleeps_and_is_woken_by_the_unlock),
        cmocka_unit_test(an_upgrade_sleeps_until_the_readers_have_left),
        cmocka_unit_test(a_reader_enters_while_only_seek_is_held_whoever_waits),
        cmocka_unit_test(a_claimed_write_refuses_new_readers),
        cmocka_unit_test(readers_asleep_enter_when_a_write_is_given_down),
        cmocka_unit_test(a_seeker_asleep_enters_when_seek_or_write_becomes_read),
        cmocka_unit_test(a_writer_asleep_behind_seek_gets_in_though_readers_came_meanwhile),
        cmocka_unit_test(all_who_can_share_the_lock_get_in_together),
        cmocka_unit_test(a_sleeping_crowd_is_served_to_the_last),
        cmocka_unit_test(a_wake_up_that_came_too_late_is_passed_on),
        cmocka_unit_test(who_waits_for_a_phase_leaves_the_cpu_to_others),
        cmocka_unit_test(an_atomic_misled_by_an_arriving_reader_gets_in_beside_atomic),
        cmocka_unit_test(a_writer_draining_is_not_fooled_by_readers_that_bounce),
        cmocka_unit_test(the_word_is_initial_again_after_all_have_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
