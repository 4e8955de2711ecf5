/* Two ways to use a lock that do not go together with all others, each tortured on its own: the
 * multiple-writer protocol (R, J, C, A and nothing else), and locks whose holders give back without saying
 * what they hold (R and W). */
#include "lock_under_test.h"

#define SLOTS   16
#define THREADS (WAITERS_SLEEP ? SLOTS : 8)

struct protocol {
    lock_t lock;
    /* How many are in R that have not announced a change, in C, and in A: 16 bits each. */
    uint64_t inside __attribute__((aligned(64)));
    /* Claimed in C: bit n says that slot n is somebody's, who changes it by plain steps in A. */
    uint32_t claimed;
    uint64_t slots[SLOTS], sum; /* sum: by atomic adds in A */
    int stop, busy;             /* busy: threads still to do their share */
};

struct participant {
    struct protocol *p;
    pthread_t thread;
    uint32_t seed;
    uint64_t changes;
};

#define R_IN ((uint64_t)1)
#define C_IN ((uint64_t)1 << 16)
#define A_IN ((uint64_t)1 << 32)

#define CHECK(cond, p)                                                                                   \
    do {                                                                                                 \
        if (!(cond)) {                                                                                   \
            fprintf(stderr, "%s:%d: not so: %s (inside %#llx, word %#llx)\n", __FILE__, __LINE__, #cond, \
                    (unsigned long long)(p)->inside, (unsigned long long)(p)->lock.word);                \
            abort();                                                                                     \
        }                                                                                                \
    } while (0)

static void count(struct protocol *p, uint64_t change)
{
    uint64_t in = __atomic_add_fetch(&p->inside, change, __ATOMIC_RELAXED);
    bool r = in & 0xffff, c = in >> 16 & 0xffff, a = in >> 32;
    CHECK(r + c + a <= 1, p);
}

static uint32_t dice(struct participant *me, uint32_t sides)
{
    me->seed = me->seed * 1664525u + 1013904223u;
    return (me->seed >> 8) % sides;
}

static void linger(struct participant *me)
{
    uint32_t n = dice(me, 32);
    if (n == 0) {
        nap_us(50);
    } else if (n < 6) {
        sched_yield();
    }
}

/* In R, or alone in J: nothing changes. */
static void look(struct participant *me)
{
    struct protocol *p = me->p;
    uint64_t sum = p->sum, slots = 0;
    linger(me);
    for (int i = 0; i < SLOTS; i++) {
        slots += p->slots[i];
    }
    CHECK(slots == sum && p->sum == sum, p);
    CHECK(p->claimed == 0, p);
}

/* In J; goes to C, claims a slot of its own, changes it in A. */
static void change(struct participant *me)
{
    struct protocol *p = me->p;
    pawl_join_to_claim(&p->lock);
    count(p, C_IN);
    unsigned slot = 0;
    while (__atomic_fetch_or(&p->claimed, 1u << slot, __ATOMIC_RELAXED) & 1u << slot) {
        slot++;
        CHECK(slot < SLOTS, p);
    }
    linger(me);
    count(p, -C_IN);
    if (dice(me, 4) == 0) {
        __atomic_fetch_and(&p->claimed, ~(1u << slot), __ATOMIC_RELAXED);
        pawl_claim_unlock(&p->lock);
        return;
    }
    pawl_claim_to_atomic(&p->lock);
    count(p, A_IN);
    p->slots[slot]++;
    __atomic_fetch_add(&p->sum, 1, __ATOMIC_RELAXED);
    me->changes++;
    linger(me);
    CHECK(pawl_atomic_is_held(&p->lock), p);
    if (pawl_last_writer(&p->lock)) {
        CHECK(p->claimed == 1u << slot, p); /* the others' changes are done */
    }
    __atomic_fetch_and(&p->claimed, ~(1u << slot), __ATOMIC_RELAXED);
    count(p, -A_IN);
    if (dice(me, 3) == 0) {
        pawl_atomic_to_read(&p->lock);
        count(p, R_IN);
        look(me);
        count(p, -R_IN);
        if (dice(me, 2)) {
            pawl_read_to_join(&p->lock); /* and a next round at once */
            pawl_join_unlock(&p->lock);
        } else {
            pawl_read_unlock(&p->lock);
        }
        return;
    }
    pawl_atomic_unlock(&p->lock);
}

static void take_part(struct participant *me)
{
    struct protocol *p = me->p;
    switch (dice(me, 8)) {
    case 0: /* from outside: alone */
        if (dice(me, 2)) {
            pawl_join_lock(&p->lock);
        } else if (!pawl_join_lock_until(&p->lock, in_us((int64_t)dice(me, 2000) - 100))) {
            return;
        }
        look(me);
        if (dice(me, 2)) {
            change(me);
        } else {
            pawl_join_unlock(&p->lock);
        }
        return;
    case 1: /* beside those who change: without a slot, by atomic steps on nothing of theirs */
        if (pawl_atomic_lock_until(&p->lock, in_us((int64_t)dice(me, 500) - 100))) {
            count(p, A_IN);
            linger(me);
            count(p, -A_IN);
            pawl_atomic_unlock(&p->lock);
        }
        return;
    default:
        break;
    }
    if (dice(me, 4)) {
        pawl_read_lock(&p->lock);
    } else if (!pawl_read_lock_until(&p->lock, in_us((int64_t)dice(me, 2000) - 100))) {
        return;
    }
    count(p, R_IN);
    look(me);
    count(p, -R_IN);
    switch (dice(me, 4)) {
    case 0:
        pawl_read_unlock(&p->lock);
        break;
    case 1:
        pawl_read_to_join(&p->lock);
        linger(me);
        pawl_join_unlock(&p->lock);
        break;
    default:
        pawl_read_to_join(&p->lock);
        change(me);
        break;
    }
}

static void *participant_main(void *arg)
{
    struct participant *me = arg;
    for (int n = 0; !__atomic_load_n(&me->p->stop, __ATOMIC_RELAXED); n++) {
        take_part(me);
        if (n == 200) {
            __atomic_fetch_sub(&me->p->busy, 1, __ATOMIC_RELEASE);
        }
    }
    return NULL;
}

static void many_writers_share_the_work_without_meeting(void **state)
{
    (void)state;
    for (int threads = 2; threads <= THREADS; threads *= 2) {
        static struct protocol p;
        static struct participant all[SLOTS];
        memset(&p, 0, sizeof p);
        memset(all, 0, sizeof all);
        p.busy = threads;
        alarm(60);
        for (int i = 0; i < threads; i++) {
            all[i].p = &p;
            all[i].seed = (uint32_t)i * 2654435761u + 1;
            assert_int_equal(pthread_create(&all[i].thread, NULL, participant_main, &all[i]), 0);
        }
        uint64_t end = clock_us(CLOCK_MONOTONIC) + 300000;
        while (clock_us(CLOCK_MONOTONIC) < end ||
               (WAITERS_SLEEP && __atomic_load_n(&p.busy, __ATOMIC_ACQUIRE) > 0)) {
            nap_us(1000);
        }
        __atomic_store_n(&p.stop, 1, __ATOMIC_RELAXED);
        uint64_t changes = 0, slots = 0;
        for (int i = 0; i < threads; i++) {
            pthread_join(all[i].thread, NULL);
            changes += all[i].changes;
        }
        for (int i = 0; i < SLOTS; i++) {
            slots += p.slots[i];
        }
        assert_true(changes > 0 && p.sum == changes && slots == changes);
        assert_true(p.inside == 0 && p.claimed == 0);
        assert_true(p.lock.word == 0);
    }
}

/* The one from outside finds that a reader joined, and steps back after that one has gone on to C and waits
 * to be let into A. */
static void one_that_steps_back_from_joining_does_not_keep_the_claim_phase_open(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        lock_t l = {0};
        struct waiter j;
        pawl_read_lock(&l);
        waiter_start(&j, &l, JOIN);
        nap_us(round % 2 ? 1000 : 50); /* it has counted itself, and waits for the reader to leave */
        pawl_read_to_join(&l);
        pawl_join_to_claim(&l);
        pawl_claim_to_atomic(&l);
        pawl_atomic_unlock(&l);
        waiter_end(&j);
        assert_true(l.word == 0);
    }
}

/* The only claimant leaves while a reader has counted itself, to look and to be refused: held still here. Who
 * takes its count back does not know any more that S was the claim phase's. */
static void the_last_claimant_ends_the_claim_phase_though_a_reader_looks(void **state)
{
    (void)state;
    lock_t l = {0}, one = {0};
    pawl_read_lock(&one);
    pawl_read_lock(&l);
    pawl_read_to_claim(&l);
    __atomic_fetch_add(&l.word, one.word, __ATOMIC_ACQUIRE);
    pawl_claim_unlock(&l);
    assert_false(pawl_seek_is_held(&l));
    assert_true(pawl_seek_trylock(&l));
    pawl_seek_unlock(&l);
    pawl_read_unlock(&l);
    assert_true(l.word == 0);
}

struct back {
    lock_t lock;
    int in;
};

static void *back_to_read(void *arg)
{
    struct back *b = arg;
    pawl_atomic_to_read(&b->lock);
    __atomic_store_n(&b->in, 1, __ATOMIC_RELEASE);
    pawl_read_unlock(&b->lock);
    return NULL;
}

/* It looks rarely by now. Between two looks the round is over, and the next one begins with a reader who
 * joins and waits for it to leave. */
static void one_that_goes_back_to_read_is_not_kept_by_the_next_round(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct back b = {0};
        pthread_t t;
        pawl_atomic_lock(&b.lock);
        pawl_atomic_lock(&b.lock); /* the thread's */
        assert_int_equal(pthread_create(&t, NULL, back_to_read, &b), 0);
        nap_us(3000);
        assert_int_equal(__atomic_load_n(&b.in, __ATOMIC_ACQUIRE), 0);
        pawl_atomic_unlock(&b.lock);
        pawl_read_lock(&b.lock);
        pawl_read_to_join(&b.lock);
        pawl_join_unlock(&b.lock);
        assert_true(reaches(&b.in, 1));
        pthread_join(t, NULL);
        assert_true(b.lock.word == 0);
    }
}

/* ---- holders that do not say what they hold */

struct unsaid {
    lock_t lock;
    uint64_t value, again; /* guarded by the lock: equal but while somebody writes */
    uint64_t writes;
    int stop;
};

static void unsaid_check(bool whole)
{
    if (!whole) {
        fputs("a reader and a writer met, or two writers\n", stderr);
        abort();
    }
}

static void *unsaid_main(void *arg)
{
    struct unsaid *u = arg;
    uint32_t seed = (uint32_t)clock_us(CLOCK_MONOTONIC);
    for (uint64_t n = 0; !__atomic_load_n(&u->stop, __ATOMIC_RELAXED); n++) {
        seed = seed * 1664525u + 1013904223u;
        if (seed >> 28 < 4) {
            if (seed >> 27 & 1) {
                pawl_write_lock(&u->lock);
            } else if (!pawl_write_lock_until(&u->lock, in_us(seed >> 20 & 127))) {
                continue;
            }
            u->value++;
            unsaid_check(u->value == u->again + 1);
            u->again++;
            u->writes++;
        } else {
            LOCK_F(pawl_read_lock_exact)(&u->lock);
            unsaid_check(u->value == u->again);
        }
        if (n % 64 == 0) {
            nap_us(20);
        }
        LOCK_F(pawl_unlock_any)(&u->lock);
    }
    return NULL;
}

static void holders_that_do_not_say_what_they_hold_exclude_each_other(void **state)
{
    (void)state;
    static struct unsaid u;
    memset(&u, 0, sizeof u);
    pthread_t all[6];
    alarm(60);
    for (int i = 0; i < 6; i++) {
        assert_int_equal(pthread_create(&all[i], NULL, unsaid_main, &u), 0);
    }
    nap_us(300000);
    __atomic_store_n(&u.stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 6; i++) {
        pthread_join(all[i], NULL);
    }
    assert_true(u.writes > 0 && u.value == u.writes && u.again == u.writes);
    assert_true(u.lock.word == 0);
}

int main(void)
{
    bound_program(120);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_writers_share_the_work_without_meeting),
        cmocka_unit_test(one_that_steps_back_from_joining_does_not_keep_the_claim_phase_open),
        cmocka_unit_test(the_last_claimant_ends_the_claim_phase_though_a_reader_looks),
        cmocka_unit_test(one_that_goes_back_to_read_is_not_kept_by_the_next_round),
        cmocka_unit_test(holders_that_do_not_say_what_they_hold_exclude_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
