/* Who goes first: nobody overtakes a head that has its turn; sleepers come in the order in which they came;
 * readers go in beside S though a writer is queued before them. And faults that locks of this kind once had,
 * each under its name. Only for builds whose waiters sleep, and so stand in a line. */
#include "lock_under_test.h"

#include <sys/mman.h>
#include <sys/syscall.h>

/* Marks of the word (docs/lock.md); HEAD and ASLEEP are the turn. */
#define QUEUE 1
#define TURN  6
#define DRAIN 8

static bool turn_is_taken(const lock_t *l)
{
    return (__atomic_load_n(&l->word, __ATOMIC_ACQUIRE) & TURN) == TURN;
}

static bool turn_gets_taken(const lock_t *l)
{
    for (uint64_t end = clock_us(CLOCK_MONOTONIC) + PATIENCE_MS * 1000u; clock_us(CLOCK_MONOTONIC) < end;) {
        if (turn_is_taken(l)) {
            return true;
        }
        nap_us(50);
    }
    return false;
}

struct barge {
    lock_t lock;
    enum state kind; /* of those who barge */
    int asked;       /* number of the wait that is under way */
    int stop;
    int turns, overtakings; /* attempts made under a turn; those that went in before its owner */
    int running;
};

struct barger {
    struct barge *b;
    unsigned number;
    pthread_t thread;
};

static void *barger_main(void *arg)
{
    struct barger *me = arg;
    struct barge *b = me->b;
    __atomic_fetch_add(&b->running, 1, __ATOMIC_RELEASE);
    for (unsigned n = me->number; !__atomic_load_n(&b->stop, __ATOMIC_RELAXED); n++) {
        int asked = __atomic_load_n(&b->asked, __ATOMIC_ACQUIRE);
        bool turn = turn_is_taken(&b->lock);
        if (turn) {
            __atomic_fetch_add(&b->turns, 1, __ATOMIC_RELAXED);
        }
        bool in = n % 2 ? try_take(&b->lock, b->kind) : take_until(&b->lock, b->kind, 1);
        if (!in) {
            sched_yield();
            continue;
        }
        /* The turn stood before and still stands, and it is the same one's. */
        if (turn && turn_is_taken(&b->lock) && __atomic_load_n(&b->asked, __ATOMIC_ACQUIRE) == asked) {
            __atomic_fetch_add(&b->overtakings, 1, __ATOMIC_RELAXED);
        }
        if (n % 4 == 0) {
            nap_us(100 + me->number * 70); /* overlapping */
        }
        give(&b->lock, b->kind);
    }
    return NULL;
}

static void nobody_overtakes_one_that_has_the_turn(void **state)
{
    (void)state;
    int turns = 0;
    for (enum state kind = READ; kind < KINDS; kind++) {
        for (enum state lone = READ; lone < KINDS; lone++) {
            struct barge b = {.kind = kind};
            struct barger all[2];
            for (unsigned i = 0; i < 2; i++) {
                all[i] = (struct barger){&b, i, 0};
                assert_int_equal(pthread_create(&all[i].thread, NULL, barger_main, &all[i]), 0);
            }
            assert_true(reaches(&b.running, 2));
            for (int i = 0; i < 3; i++) {
                struct waiter w;
                pawl_write_lock(&b.lock); /* long enough for the waiter to take the turn */
                __atomic_fetch_add(&b.asked, 1, __ATOMIC_RELEASE);
                waiter_start(&w, &b.lock, lone);
                assert_true(turn_gets_taken(&b.lock));
                if (i == 1) {
                    pawl_write_to_read(&b.lock);
                    nap_us(300);
                    pawl_read_unlock(&b.lock);
                } else {
                    pawl_write_unlock(&b.lock);
                }
                if (!waiter_gets_in(&w)) {
                    fail_msg("%s against %s: starves", state_names[lone], state_names[kind]);
                }
                waiter_end(&w);
            }
            __atomic_store_n(&b.stop, 1, __ATOMIC_RELAXED);
            for (unsigned i = 0; i < 2; i++) {
                pthread_join(all[i].thread, NULL);
            }
            if (b.overtakings != 0) {
                fail_msg("%s has the turn: overtaken by %s %d times", state_names[lone], state_names[kind],
                         b.overtakings);
            }
            turns += b.turns;
            assert_true(b.lock.word == 0);
        }
    }
    assert_true(turns > 0);
}

/* The turn's owner waits for the holder; everybody else, by whatever way, is refused meanwhile, but for
 * readers beside S. */
static void a_turn_refuses_every_way_in(void **state)
{
    (void)state;
    static const struct {
        enum state held, waits;
    } cases[] = {{READ, ATOMIC},  {ATOMIC, READ}, {ATOMIC, SEEK},
                 {ATOMIC, WRITE}, {SEEK, WRITE},  {SEEK, ATOMIC}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lock_t l = {0};
        struct waiter w;
        take(&l, cases[i].held);
        waiter_start(&w, &l, cases[i].waits);
        assert_true(turn_gets_taken(&l));
        for (enum state asked = READ; asked < KINDS; asked++) {
            bool may = cases[i].held == SEEK && asked == READ;
            bool tried = try_take(&l, asked);
            if (tried) {
                give(&l, asked);
            }
            bool waited = take_until(&l, asked, in_us(500));
            if (waited) {
                give(&l, asked);
            }
            if (tried != may || waited != may) {
                fail_msg("%s held, %s has the turn: %s was let in: try %d, until %d",
                         state_names[cases[i].held], state_names[cases[i].waits], state_names[asked], tried,
                         waited);
            }
        }
        assert_true(turn_is_taken(&l));
        give(&l, cases[i].held);
        waiter_end(&w);
        assert_true(l.word == 0);
    }
}

/* A reader inside joins, and the one from outside steps back. Were it to count itself again as soon as that
 * one has gone back to reading, it could be made to step back for ever; so it waits for its turn instead. */
static void one_that_stepped_back_from_joining_gets_its_turn(void **state)
{
    (void)state;
    lock_t l = {0};
    struct waiter j;
    pawl_read_lock(&l);
    waiter_start(&j, &l, JOIN);
    while (!pawl_atomic_is_held(&l)) {
        nap_us(100);
    }
    for (int i = 0; i < 3; i++) {
        pawl_read_to_claim(&l);
        pawl_claim_to_atomic(&l); /* after it has stepped back */
        assert_true(turn_gets_taken(&l));
        pawl_atomic_to_read(&l);
        nap_us(2000);
        assert_false(pawl_atomic_is_held(&l));
        assert_true(turn_is_taken(&l));
        assert_false(pawl_read_trylock(&l));
    }
    assert_false(waiter_is_in(&j));
    pawl_read_unlock(&l);
    waiter_end(&j);
    assert_true(l.word == 0);
}

/* From R to S or W nobody goes past one that is due. From R to A the last reader opens the lock for it. */
static void a_reader_inside_does_not_overtake_one_that_is_due_but_lets_it_in_beside_a(void **state)
{
    (void)state;
    for (int claims = 0; claims < 2; claims++) {
        lock_t l = {0};
        struct waiter a;
        pawl_read_lock(&l);
        waiter_start(&a, &l, ATOMIC);
        assert_true(turn_gets_taken(&l));
        assert_false(pawl_read_try_to_seek(&l));
        assert_false(pawl_read_try_to_write(&l));
        assert_false(pawl_read_to_write_until(&l, in_us(1000)));
        assert_false(waiter_is_in(&a));
        settle(); /* it sleeps */
        assert_true(claims ? LOCK_F(pawl_read_claim_atomic)(&l) : pawl_read_try_to_atomic(&l));
        assert_true(waiter_gets_in(&a));
        pawl_atomic_unlock(&l);
        waiter_end(&a);
        assert_true(l.word == 0);
    }
}

/* ---- the line */

struct runner {
    lock_t *lock;
    enum state state;
    int number, *order, *count;
    int id; /* the kernel's, once it is about to ask */
    pthread_t thread;
};

/* Whether the thread sleeps in the kernel. */
static bool is_asleep(int id)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", id);
    FILE *f = fopen(path, "re");
    assert_non_null(f);
    const char *end = fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
    fclose(f);
    return end && end[1] == ' ' && end[2] == 'S';
}

static bool falls_asleep(const int *id)
{
    if (!reaches(id, 1)) {
        return false;
    }
    int looks = 0;
    for (uint64_t until = clock_us(CLOCK_MONOTONIC) + PATIENCE_MS * 1000u;
         looks < 5 && clock_us(CLOCK_MONOTONIC) < until;) {
        nap_us(300);
        looks = is_asleep(*id) ? looks + 1 : 0;
    }
    return looks == 5;
}

static void *runner_main(void *arg)
{
    struct runner *me = arg;
    __atomic_store_n(&me->id, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
    take(me->lock, me->state);
    me->order[__atomic_fetch_add(me->count, 1, __ATOMIC_RELAXED)] = me->number;
    nap_us(300); /* so that those behind are not woken all at once */
    give(me->lock, me->state);
    return NULL;
}

static void sleepers_enter_in_the_order_in_which_they_came(void **state)
{
    (void)state;
    for (int mixed = 0; mixed < 2; mixed++) {
        enum { RUNNERS = 8 };
        lock_t l = {0};
        struct runner all[RUNNERS];
        int order[RUNNERS], count = 0;
        pawl_write_lock(&l);
        for (int i = 0; i < RUNNERS; i++) {
            static const enum state kinds[] = {WRITE, ATOMIC, WRITE, READ, SEEK, JOIN};
            all[i] = (struct runner){&l, mixed ? kinds[i % 6] : WRITE, i, order, &count, 0, 0};
            assert_int_equal(pthread_create(&all[i].thread, NULL, runner_main, &all[i]), 0);
            assert_true(falls_asleep(&all[i].id));
        }
        pawl_write_unlock(&l);
        for (int i = 0; i < RUNNERS; i++) {
            pthread_join(all[i].thread, NULL);
        }
        assert_int_equal(count, RUNNERS);
        for (int i = 0; i < RUNNERS && !mixed; i++) {
            if (order[i] != i) {
                fail_msg("place %d went to number %d", i, order[i]);
            }
        }
        assert_true(l.word == 0);
    }
}

/* Waking the next one takes longer than many sections: it would be part of every hand-over of a lock that is
 * held for long, whose next holder comes too early then, and goes to sleep again. */
static void one_that_had_its_turn_leaves_the_next_asleep_until_it_goes(void **state)
{
    (void)state;
    for (enum state asked = READ; asked < KINDS; asked++) {
        lock_t l = {0};
        struct waiter first;
        int order[1], count = 0;
        struct runner next = {&l, asked, 0, order, &count, 0, 0};
        pawl_write_lock(&l);
        waiter_start(&first, &l, WRITE);
        assert_true(turn_gets_taken(&l));
        assert_int_equal(pthread_create(&next.thread, NULL, runner_main, &next), 0);
        assert_true(falls_asleep(&next.id));
        pawl_write_unlock(&l);
        assert_true(waiter_gets_in(&first));
        for (int i = 0; i < 5; i++) {
            nap_us(300);
            assert_true(is_asleep(next.id));
            assert_true((__atomic_load_n(&l.word, __ATOMIC_RELAXED) & (TURN | DRAIN | QUEUE)) ==
                        (DRAIN | QUEUE));
            assert_false(pawl_read_lock_until(&l, pawl_clock_ns() + 1000));
            assert_false(pawl_write_trylock(&l));
        }
        waiter_end(&first);
        pthread_join(next.thread, NULL);
        assert_true(l.word == 0);
    }
}

/* ---- readers, writers that wait, and S */

/* A reader sleeps behind a head of each kind; W goes down to S and stays there. S's holder waits for that
 * reader: were it kept out, both would wait for ever. */
static void a_reader_asleep_behind_a_queued_writer_is_let_in_beside_seek(void **state)
{
    (void)state;
    for (enum state first = SEEK; first < KINDS; first++) {
        for (int due = 0; due < 2; due++) {
            lock_t l = {0};
            struct waiter w, r[2];
            pawl_write_lock(&l);
            waiter_start(&w, &l, first);
            nap_us(due ? 5000 : 300);
            waiter_start(&r[0], &l, READ);
            waiter_start(&r[1], &l, READ);
            nap_us(due ? 5000 : 100);
            pawl_write_to_seek(&l);
            for (int i = 0; i < 2; i++) {
                if (!waiter_gets_in(&r[i])) {
                    fail_msg("R behind %s, beside S: kept out (word %#llx)", state_names[first],
                             (unsigned long long)l.word);
                }
            }
            assert_false(waiter_is_in(&w));
            waiter_end(&r[0]);
            waiter_end(&r[1]);
            pawl_seek_unlock(&l);
            waiter_end(&w);
            assert_true(l.word == 0);
        }
    }
}

static void a_reader_is_let_in_beside_seek_however_often_it_was_write_between(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 12; round++) {
        lock_t l = {0};
        struct waiter w, r;
        pawl_write_lock(&l);
        waiter_start(&w, &l, round % 2 ? WRITE : ATOMIC);
        nap_us(round % 3 ? 3000 : 300);
        waiter_start(&r, &l, READ);
        nap_us(2000);
        __atomic_store_n(&r.leave, 1, __ATOMIC_RELEASE); /* it does not keep the upgrades waiting */
        for (unsigned i = 0; i < 20; i++) {
            pawl_write_to_seek(&l);
            for (volatile unsigned k = 0; k < i * round * 50; k++) {
            }
            pawl_seek_to_write(&l);
        }
        pawl_write_to_seek(&l);
        if (!waiter_gets_in(&r)) {
            fail_msg("R beside S after W and S in turns: kept out (word %#llx)", (unsigned long long)l.word);
        }
        waiter_end(&r);
        pawl_seek_unlock(&l);
        waiter_end(&w);
        assert_true(l.word == 0);
    }
}

/* W is given back, and somebody new takes S before the head does. */
static void a_reader_asleep_is_let_in_beside_a_newcomer_that_took_seek(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        lock_t l = {0};
        struct waiter w, r;
        pawl_write_lock(&l);
        waiter_start(&w, &l, WRITE);
        nap_us(round * 10);
        waiter_start(&r, &l, READ);
        nap_us(100);
        pawl_write_unlock(&l);
        bool ahead = pawl_seek_trylock(&l);
        if (ahead && !waiter_gets_in(&r)) {
            fail_msg("R beside a newcomer's S: kept out (word %#llx)", (unsigned long long)l.word);
        }
        __atomic_store_n(&w.leave, 1, __ATOMIC_RELEASE);
        waiter_end(&r);
        if (ahead) {
            pawl_seek_unlock(&l);
        }
        waiter_end(&w);
        assert_true(l.word == 0);
    }
}

/* ---- faults of the past */

/* It counted its own reader's place as free, or compared with one too many. */
static void a_write_lock_does_not_ignore_exactly_one_reader(void **state)
{
    (void)state;
    for (int readers = 1; readers <= 3; readers++) {
        lock_t l = {0};
        struct waiter w;
        for (int i = 0; i < readers; i++) {
            pawl_read_lock(&l);
        }
        assert_false(pawl_write_trylock(&l));
        assert_false(pawl_write_lock_until(&l, 1));
        assert_false(pawl_write_lock_until(&l, in_us(3000)));
        waiter_start(&w, &l, WRITE);
        for (int i = 0; i < readers; i++) {
            nap_us(3000);
            if (waiter_is_in(&w)) {
                fail_msg("W beside %d of %d readers", readers - i, readers);
            }
            pawl_read_unlock(&l);
        }
        waiter_end(&w);
        assert_true(l.word == 0);
    }
}

/* It read 8 bytes of a lock of 4: here the last bytes before a page that is not there. */
static void a_lock_is_touched_within_its_own_bytes_only(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(two != MAP_FAILED);
    assert_int_equal(mprotect(two + page, page, PROT_NONE), 0);
    memset(two, 0x5a, page);
    lock_t *l = (lock_t *)(void *)(two + page - sizeof(lock_t));
    memset(l, 0, sizeof *l);
    for (enum state held = READ; held < KINDS; held++) {
        for (enum state asked = READ; asked < KINDS; asked++) {
            struct waiter w[2];
            take(l, held);
            waiter_start(&w[0], l, asked);
            waiter_start(&w[1], l, asked);
            nap_us(2000);
            __atomic_store_n(&w[0].leave, 1, __ATOMIC_RELEASE);
            __atomic_store_n(&w[1].leave, 1, __ATOMIC_RELEASE);
            give(l, held);
            waiter_end(&w[0]);
            waiter_end(&w[1]);
            assert_true(l->word == 0);
        }
    }
    pawl_seek_lock(l);
    pawl_seek_to_write(l);
    pawl_write_to_seek(l);
    pawl_seek_to_read(l);
    pawl_read_to_claim(l);
    pawl_claim_to_atomic(l);
    pawl_atomic_to_read(l);
    assert_true(pawl_read_to_write_until(l, 1));
    pawl_write_unlock(l);
    for (char *p = two; p < (char *)l; p++) {
        assert_int_equal(*p, 0x5a);
    }
    munmap(two, 2 * page);
}

struct upgraders {
    lock_t lock;
    int stop, running;
};

static void *upgrader_main(void *arg)
{
    struct upgraders *u = arg;
    __atomic_fetch_add(&u->running, 1, __ATOMIC_RELEASE);
    for (unsigned n = 0; !__atomic_load_n(&u->stop, __ATOMIC_RELAXED); n++) {
        pawl_seek_lock(&u->lock);
        if (n % 8 == 0) {
            nap_us(100);
        }
        pawl_seek_to_write(&u->lock);
        pawl_write_unlock(&u->lock);
    }
    return NULL;
}

static void *reader_main(void *arg)
{
    struct upgraders *u = arg;
    __atomic_fetch_add(&u->running, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&u->stop, __ATOMIC_RELAXED)) {
        pawl_read_lock(&u->lock);
        nap_us(150);
        pawl_read_unlock(&u->lock);
    }
    return NULL;
}

static void starved_by(void *(*others)(void *), enum state lone, bool upgrade, const char *what)
{
    struct upgraders u = {0};
    pthread_t t[3];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&t[i], NULL, others, &u), 0);
    }
    assert_true(reaches(&u.running, 3));
    for (int i = 0; i < 10; i++) {
        struct waiter w;
        if (upgrade) {
            waiter_start_upgrade(&w, &u.lock);
            waiter_go(&w);
        } else {
            waiter_start(&w, &u.lock, lone);
        }
        if (!waiter_gets_in(&w)) {
            fail_msg("%s: starves (word %#llx)", what, (unsigned long long)u.lock.word);
        }
        waiter_end(&w);
    }
    __atomic_store_n(&u.stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++) {
        pthread_join(t[i], NULL);
    }
    assert_true(u.lock.word == 0);
}

static void writers_are_not_starved_by_upgraders(void **state)
{
    (void)state;
    starved_by(upgrader_main, WRITE, false, "W against S->W");
    starved_by(upgrader_main, ATOMIC, false, "A against S->W");
    starved_by(upgrader_main, READ, false, "R against S->W");
    starved_by(upgrader_main, JOIN, false, "J against S->W");
}

static void an_upgrade_is_not_starved_by_readers(void **state)
{
    (void)state;
    starved_by(reader_main, WRITE, true, "S->W against R");
    starved_by(reader_main, JOIN, false, "J against R");
}

/* It waited behind one that asked for S to upgrade, whose holder waited for it. */
static void a_reader_is_not_blocked_behind_a_queued_upgrader(void **state)
{
    (void)state;
    lock_t l = {0};
    struct waiter s, w, r;
    pawl_seek_lock(&l);
    waiter_start(&s, &l, SEEK);
    waiter_start(&w, &l, WRITE);
    assert_true(turn_gets_taken(&l));
    waiter_start(&r, &l, READ);
    assert_true(waiter_gets_in(&r));
    waiter_end(&r);
    pawl_seek_to_write(&l);
    pawl_write_unlock(&l);
    __atomic_store_n(&s.leave, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&w.leave, 1, __ATOMIC_RELEASE);
    waiter_end(&s);
    waiter_end(&w);
    assert_true(l.word == 0);
}

int main(void)
{
    bound_program(240);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_overtakes_one_that_has_the_turn),
        cmocka_unit_test(a_turn_refuses_every_way_in),
        cmocka_unit_test(one_that_stepped_back_from_joining_gets_its_turn),
        cmocka_unit_test(a_reader_inside_does_not_overtake_one_that_is_due_but_lets_it_in_beside_a),
        cmocka_unit_test(sleepers_enter_in_the_order_in_which_they_came),
        cmocka_unit_test(one_that_had_its_turn_leaves_the_next_asleep_until_it_goes),
        cmocka_unit_test(a_reader_asleep_behind_a_queued_writer_is_let_in_beside_seek),
        cmocka_unit_test(a_reader_is_let_in_beside_seek_however_often_it_was_write_between),
        cmocka_unit_test(a_reader_asleep_is_let_in_beside_a_newcomer_that_took_seek),
        cmocka_unit_test(a_write_lock_does_not_ignore_exactly_one_reader),
        cmocka_unit_test(a_lock_is_touched_within_its_own_bytes_only),
        cmocka_unit_test(writers_are_not_starved_by_upgraders),
        cmocka_unit_test(an_upgrade_is_not_starved_by_readers),
        cmocka_unit_test(a_reader_is_not_blocked_behind_a_queued_upgrader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
