/* PAWL_STATS: what is counted, under which name, and that the tables' bounds and the world around (threads
 * that end, fork, signals, code that is not watched) harm neither counts nor locks. */
#define PAWL_STATS
#include "lock_under_test.h"
#include "pawl/stats.h"

#include <jansson.h>
#include <sys/wait.h>

#if LOCK_BITS == 64
#    define UNWATCHED(name) name##_64
#else
#    define UNWATCHED(name) name##_32
#endif

static void copy_if_named(const struct pawl_stats_class *c, void *want_)
{
    struct pawl_stats_class *want = want_;
    if (!strcmp(c->name, want->name)) {
        *want = *c;
        want->state[0].held_hist[63] = UINT64_MAX; /* found */
    }
}

/* What a class has counted; false: nothing. */
static bool look(const char *name, struct pawl_stats_class *c)
{
    memset(c, 0, sizeof *c);
    c->name = name;
    pawl_stats_snapshot(copy_if_named, c);
    bool found = c->state[0].held_hist[63] == UINT64_MAX;
    c->state[0].held_hist[63] = 0;
    return found;
}

static uint64_t total(const uint64_t *hist)
{
    uint64_t n = 0;
    for (int i = 0; i < PAWL_STATS_BUCKETS; i++) {
        n += hist[i];
    }
    return n;
}

static void use_all_states(lock_t *l)
{
    for (enum state s = READ; s < STATES; s++) {
        for (unsigned n = 0; n <= (unsigned)s; n++) {
            take(l, s);
            give(l, s);
        }
    }
}

static void each_state_of_a_class_is_counted(void **state)
{
    (void)state;
    lock_t a = PAWL_LOCK_INIT, b = PAWL_LOCK_INIT;
    assert_true(pawl_lock_name(&a, "each state"));
    assert_true(pawl_lock_name(&b, "each state"));
    use_all_states(&a);
    use_all_states(&b);
    struct pawl_stats_class c;
    assert_true(look("each state", &c));
    assert_true(c.named);
    for (unsigned s = 0; s < STATES; s++) {
        assert_int_equal(c.state[s].acquisitions, 2 * (s + 1));
        assert_int_equal(total(c.state[s].held_hist), 2 * (s + 1));
        assert_int_equal(c.state[s].waits + c.state[s].failed + c.state[s].expired, 0);
        assert_int_equal(total(c.state[s].wait_hist), 0);
    }
    assert_int_equal(c.state[PAWL_STATE_JOIN].acquisitions, 0);
    pawl_lock_forget(&a);
    pawl_lock_forget(&b);
}

static void a_transition_ends_one_state_and_enters_the_other(void **state)
{
    (void)state;
    lock_t l = PAWL_LOCK_INIT;
    struct pawl_stats_class c;
    pawl_lock_name(&l, "transitions");
    pawl_seek_lock(&l);
    pawl_seek_to_write(&l);
    pawl_write_to_seek(&l);
    pawl_seek_to_read(&l);
    pawl_read_unlock(&l);
    pawl_write_lock(&l);
    pawl_write_to_read(&l);
    pawl_read_unlock(&l);
    assert_true(look("transitions", &c));
    for (unsigned s = PAWL_STATE_READ; s <= PAWL_STATE_WRITE; s++) {
        assert_int_equal(c.state[s].acquisitions, 2);
        assert_int_equal(total(c.state[s].held_hist), 2);
    }
    pawl_lock_forget(&l);
}

static void time_held_is_that_between_lock_and_unlock(void **state)
{
    (void)state;
    lock_t l = PAWL_LOCK_INIT;
    struct pawl_stats_class c;
    pawl_lock_name(&l, "held");
    uint64_t start = clock_us(CLOCK_MONOTONIC);
    pawl_write_lock(&l);
    nap_us(5000);
    pawl_write_unlock(&l);
    uint64_t took_ns = (clock_us(CLOCK_MONOTONIC) - start + 1) * 1000;
    assert_true(look("held", &c));
    const struct pawl_stats_state *w = &c.state[PAWL_STATE_WRITE];
    assert_true(w->held_ns >= 5000000 && w->held_ns <= took_ns);
    assert_true(w->held_max_ns == w->held_ns);
    unsigned bucket = 63 - (unsigned)__builtin_clzll(w->held_ns);
    assert_int_equal(w->held_hist[bucket], 1);
    pawl_lock_forget(&l);
}

static void a_wait_is_counted_with_its_time(void **state)
{
    (void)state;
    lock_t l = PAWL_LOCK_INIT;
    struct pawl_stats_class c;
    struct waiter w;
    pawl_lock_name(&l, "wait");
    for (enum state s = READ; s < STATES; s++) {
        pawl_write_lock(&l);
        waiter_start(&w, &l, s);
        settle();
        pawl_write_unlock(&l);
        waiter_end(&w);
    }
    assert_true(look("wait", &c));
    for (enum state s = READ; s < STATES; s++) {
        const struct pawl_stats_state *n = &c.state[s];
        assert_int_equal(n->waits, 1);
        assert_int_equal(total(n->wait_hist), 1);
        assert_true(n->wait_ns > 0 && n->wait_max_ns == n->wait_ns);
        assert_int_equal(n->acquisitions, s == WRITE ? STATES + 1 : 1);
    }
    pawl_lock_forget(&l);
}

static void a_seeker_that_waits_for_readers_is_counted_as_waiting_for_write(void **state)
{
    (void)state;
    lock_t l = PAWL_LOCK_INIT;
    struct pawl_stats_class c;
    struct waiter w;
    pawl_lock_name(&l, "upgrade");
    pawl_read_lock(&l);
    waiter_start_upgrade(&w, &l);
    waiter_go(&w);
    settle();
    pawl_read_unlock(&l);
    waiter_end(&w);
    assert_true(look("upgrade", &c));
    assert_int_equal(c.state[PAWL_STATE_WRITE].waits, 1);
    assert_int_equal(c.state[PAWL_STATE_SEEK].waits, 0);
    pawl_lock_forget(&l);
}

static void a_failed_try_is_counted_and_takes_nothing(void **state)
{
    (void)state;
    lock_t l = PAWL_LOCK_INIT;
    struct pawl_stats_class c;
    pawl_lock_name(&l, "try");
    pawl_write_lock(&l);
    for (enum state s = READ; s < STATES; s++) {
        assert_false(try_take(&l, s));
    }
    pawl_write_unlock(&l);
    assert_true(try_take(&l, READ));
    give(&l, READ);
    assert_true(look("try", &c));
    for (enum state s = READ; s < STATES; s++) {
        assert_int_equal(c.state[s].failed, 1);
        assert_int_equal(c.state[s].acquisitions, s == READ || s == WRITE);
    }
    pawl_lock_forget(&l);
}

static uint64_t in_ms(unsigned ms)
{
    return clock_us(CLOCK_MONOTONIC) * 1000 + ms * (uint64_t)1000000;
}

static void an_expired_wait_counts_as_a_wait(void **state)
{
    (void)state;
    lock_t l = PAWL_LOCK_INIT;
    struct pawl_stats_class c;
    pawl_lock_name(&l, "until");
    pawl_write_lock(&l);
    assert_false(pawl_read_lock_until(&l, in_ms(2)));
    assert_false(pawl_seek_lock_until(&l, in_ms(2)));
    assert_false(pawl_write_lock_until(&l, in_ms(2)));
    assert_false(pawl_atomic_lock_until(&l, in_ms(2)));
    assert_false(pawl_join_lock_until(&l, in_ms(2)));
    pawl_write_unlock(&l);
    assert_true(pawl_read_lock_until(&l, in_ms(1000)));
    pawl_seek_lock(&l);
    assert_false(pawl_seek_to_write_until(&l, in_ms(2))); /* its own R is in the way */
    pawl_seek_unlock(&l);
    pawl_read_unlock(&l);
    assert_true(look("until", &c));
    for (unsigned s = PAWL_STATE_READ; s <= PAWL_STATE_JOIN; s++) {
        unsigned times = s == PAWL_STATE_WRITE ? 2 : 1;
        assert_int_equal(c.state[s].waits, times);
        assert_int_equal(c.state[s].expired, times);
        assert_int_equal(c.state[s].failed, 0);
        assert_int_equal(total(c.state[s].wait_hist), times);
        assert_true(c.state[s].wait_max_ns > 0); /* however much of the time passed before it asked */
    }
    assert_int_equal(c.state[PAWL_STATE_READ].acquisitions, 1);
    assert_int_equal(c.state[PAWL_STATE_SEEK].acquisitions, 1);
    assert_int_equal(c.state[PAWL_STATE_WRITE].acquisitions, 1);
    pawl_lock_forget(&l);
}

static void *claims_join(void *arg)
{
    lock_t *l = arg;
    return pawl_join_claim(l) ? l : NULL;
}

static void a_claim_counts_as_got_or_failed(void **state)
{
    (void)state;
    lock_t l = PAWL_LOCK_INIT;
    struct pawl_stats_class c;
    pthread_t thread;
    void *got;
    pawl_lock_name(&l, "claims");
    assert_true(pawl_write_claim(&l));
    assert_false(pawl_write_claim(&l));
    assert_false(pawl_atomic_claim(&l));
    pawl_write_unlock(&l);
    pawl_read_lock(&l);
    assert_true(pawl_read_claim_write(&l));
    pawl_write_unlock(&l);
    pawl_read_lock(&l);
    assert_true(pawl_read_claim_atomic(&l));
    pawl_atomic_unlock(&l);
    assert_true(look("claims", &c));
    assert_int_equal(c.state[PAWL_STATE_WRITE].acquisitions, 2);
    assert_int_equal(c.state[PAWL_STATE_WRITE].failed, 1);
    assert_int_equal(c.state[PAWL_STATE_ATOMIC].acquisitions, 1);
    assert_int_equal(c.state[PAWL_STATE_ATOMIC].failed, 1);
    assert_int_equal(c.state[PAWL_STATE_ATOMIC].expired, 0);
    /* waits for the reader, which joins */
    pawl_read_lock(&l);
    assert_int_equal(pthread_create(&thread, NULL, claims_join, &l), 0);
    while (!pawl_atomic_is_held(&l)) {
        nap_us(100);
    }
    nap_us(2000);
    pawl_read_to_join(&l);
    pthread_join(thread, &got);
    assert_null(got);
    pawl_join_unlock(&l);
    assert_true(look("claims", &c));
    assert_int_equal(c.state[PAWL_STATE_JOIN].failed, 1);
    assert_int_equal(c.state[PAWL_STATE_JOIN].expired, 0);
    assert_true(c.state[PAWL_STATE_JOIN].waits >= 1 && c.state[PAWL_STATE_JOIN].wait_max_ns > 1000000);
    pawl_lock_forget(&l);
}

static void upgrades_from_read_count_by_their_outcome(void **state)
{
    (void)state;
    lock_t l = PAWL_LOCK_INIT;
    struct pawl_stats_class c;
    struct waiter w;
    pawl_lock_name(&l, "from read");
    pawl_read_lock(&l);
    assert_true(pawl_read_try_to_seek(&l));
    pawl_seek_to_read(&l);
    assert_true(pawl_read_to_write_until(&l, in_ms(1000)));
    pawl_write_to_read(&l);
    assert_true(pawl_read_try_to_atomic(&l));
    pawl_atomic_to_read(&l);
    waiter_start(&w, &l, SEEK);
    assert_true(waiter_gets_in(&w));
    assert_false(pawl_read_try_to_seek(&l));
    assert_false(pawl_read_try_to_write(&l));
    assert_false(pawl_read_try_to_atomic(&l));
    pawl_read_unlock(&l);
    waiter_end(&w);
    assert_true(look("from read", &c));
    static const uint64_t taken[] = {4, 2, 1, 1}, failed[] = {0, 1, 1, 1};
    for (unsigned s = PAWL_STATE_READ; s <= PAWL_STATE_ATOMIC; s++) {
        assert_int_equal(c.state[s].acquisitions, taken[s]);
        assert_int_equal(c.state[s].failed, failed[s]);
        assert_int_equal(total(c.state[s].held_hist), taken[s]);
    }
    pawl_lock_forget(&l);
}

static void the_states_of_several_writers_are_counted(void **state)
{
    (void)state;
    lock_t l = PAWL_LOCK_INIT;
    struct pawl_stats_class c;
    pawl_lock_name(&l, "several");
    pawl_join_lock(&l);
    pawl_join_to_claim(&l);
    pawl_claim_to_atomic(&l);
    pawl_atomic_to_join(&l);
    pawl_join_unlock(&l);
    pawl_read_lock(&l);
    pawl_read_to_claim(&l);
    pawl_claim_unlock(&l);
    assert_true(pawl_join_trylock(&l));
    pawl_join_unlock(&l);
    pawl_read_lock(&l);
    pawl_read_to_join(&l);
    pawl_join_unlock(&l);
    assert_true(look("several", &c));
    static const uint64_t taken[PAWL_STATES] = {2, 0, 0, 1, 4, 2};
    for (unsigned s = 0; s < PAWL_STATES; s++) {
        assert_int_equal(c.state[s].acquisitions, taken[s]);
        assert_int_equal(total(c.state[s].held_hist), taken[s]);
    }
    pawl_lock_forget(&l);
}

static void the_last_taker_is_remembered(void **state)
{
    (void)state;
    lock_t l = PAWL_LOCK_INIT;
    struct pawl_stats_class c;
    struct waiter w;
    pawl_lock_name(&l, "last");
    waiter_start(&w, &l, READ);
    waiter_end(&w);
    uint64_t before = clock_us(CLOCK_MONOTONIC) * 1000;
    const unsigned line = __LINE__ + 1;
    pawl_atomic_lock(&l);
    pawl_atomic_unlock(&l);
    assert_true(look("last", &c));
    assert_int_equal(c.last.thread, gettid());
    assert_int_equal(c.last.state, PAWL_STATE_ATOMIC);
    assert_int_equal(c.last.line, line);
    assert_string_equal(c.last.file, __FILE__);
    assert_string_equal(c.last.function, __func__);
    assert_true(c.last.time_ns >= before);
    pawl_lock_forget(&l);
}

static void a_lock_nobody_named_counts_under_the_place_that_takes_it(void **state)
{
    (void)state;
    lock_t locks[3] = {PAWL_LOCK_INIT, PAWL_LOCK_INIT, PAWL_LOCK_INIT};
    const int line = __LINE__ + 2;
    for (int i = 0; i < 3; i++) {
        pawl_seek_lock(&locks[i]);
        pawl_seek_to_write(&locks[i]);
        pawl_write_unlock(&locks[i]);
    }
    char place[300];
    struct pawl_stats_class c;
    snprintf(place, sizeof place, "%s:%d", __FILE__, line);
    assert_true(look(place, &c));
    assert_false(c.named);
    assert_int_equal(c.state[PAWL_STATE_SEEK].acquisitions, 3);
    assert_int_equal(c.state[PAWL_STATE_WRITE].acquisitions, 3); /* the hold goes on under its name */
    assert_int_equal(total(c.state[PAWL_STATE_WRITE].held_hist), 3);
}

static void a_range_names_the_locks_in_it_but_those_with_names_of_their_own(void **state)
{
    (void)state;
    static lock_t locks[16];
    struct pawl_stats_class c;
    assert_true(pawl_lock_name_range(locks, sizeof locks, "range"));
    assert_true(pawl_lock_name(&locks[3], "of its own"));
    for (int i = 0; i < 16; i++) {
        pawl_write_lock(&locks[i]);
        pawl_write_unlock(&locks[i]);
    }
    assert_true(look("range", &c));
    assert_int_equal(c.state[PAWL_STATE_WRITE].acquisitions, 15);
    assert_true(look("of its own", &c));
    assert_int_equal(c.state[PAWL_STATE_WRITE].acquisitions, 1);
    pawl_lock_forget_range(locks);
    pawl_write_lock(&locks[3]);
    pawl_write_unlock(&locks[3]);
    assert_true(look("of its own", &c));
    assert_int_equal(c.state[PAWL_STATE_WRITE].acquisitions, 1);
    assert_false(pawl_lock_name_range(locks, 0, "nothing"));
    assert_false(pawl_lock_name_range(locks, SIZE_MAX, "too much"));
}

static void a_name_can_be_changed_and_forgotten(void **state)
{
    (void)state;
    lock_t l = PAWL_LOCK_INIT;
    struct pawl_stats_class c;
    pawl_lock_name(&l, "first name");
    pawl_write_lock(&l);
    pawl_lock_name(&l, "second name");
    pawl_write_unlock(&l); /* a hold keeps the name it began with */
    pawl_write_lock(&l);
    pawl_lock_forget(&l); /* by its holder, as before freeing it */
    UNWATCHED(pawl_write_unlock)(&l);
    pawl_write_lock(&l);
    pawl_write_unlock(&l);
    assert_true(look("first name", &c));
    assert_int_equal(c.state[PAWL_STATE_WRITE].acquisitions, 1);
    assert_int_equal(total(c.state[PAWL_STATE_WRITE].held_hist), 1);
    assert_true(look("second name", &c));
    assert_int_equal(c.state[PAWL_STATE_WRITE].acquisitions, 1);
    assert_int_equal(total(c.state[PAWL_STATE_WRITE].held_hist), 0);
}

static void a_reset_begins_anew_and_keeps_the_names(void **state)
{
    (void)state;
    lock_t l = PAWL_LOCK_INIT;
    struct pawl_stats_class c;
    pawl_lock_name(&l, "reset");
    pawl_write_lock(&l);
    pawl_write_unlock(&l);
    pawl_stats_reset();
    assert_false(look("reset", &c));
    pawl_read_lock(&l);
    pawl_read_unlock(&l);
    assert_true(look("reset", &c));
    assert_int_equal(c.state[PAWL_STATE_WRITE].acquisitions, 0);
    assert_int_equal(c.state[PAWL_STATE_READ].acquisitions, 1);
    assert_int_equal(c.last.state, PAWL_STATE_READ);
    pawl_lock_forget(&l);
}

#define THREADS 8
#define EACH    3000
static lock_t shared_lock = PAWL_LOCK_INIT;
static uint64_t guarded;
static int stop_reading;

static void *count_up(void *arg)
{
    (void)arg;
    for (int i = 0; i < EACH; i++) {
        pawl_write_lock(&shared_lock);
        guarded++;
        pawl_write_unlock(&shared_lock);
        pawl_read_lock(&shared_lock);
        pawl_read_unlock(&shared_lock);
    }
    return NULL;
}

static void *read_on(void *arg)
{
    FILE *sink = fopen("/dev/null", "w");
    uint64_t last = 0;
    struct pawl_stats_class c;
    while (!__atomic_load_n(&stop_reading, __ATOMIC_RELAXED)) {
        if (look("threads", &c)) {
            if (c.state[PAWL_STATE_WRITE].acquisitions < last) {
                *(bool *)arg = false;
            }
            last = c.state[PAWL_STATE_WRITE].acquisitions;
        }
        pawl_stats_json(sink);
        nap_us(500);
    }
    fclose(sink);
    return NULL;
}

static void counts_of_many_threads_are_exact_and_outlive_them(void **state)
{
    (void)state;
    pthread_t thread[THREADS], reader;
    bool grew = true;
    struct pawl_stats_class c;
    pawl_lock_name(&shared_lock, "threads");
    assert_int_equal(pthread_create(&reader, NULL, read_on, &grew), 0);
    for (int round = 1; round <= 2;
         round++) { /* the second round's threads take over the records of the first's */
        for (int i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_create(&thread[i], NULL, count_up, NULL), 0);
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(thread[i], NULL);
        }
        assert_true(look("threads", &c));
        for (unsigned s = PAWL_STATE_READ; s <= PAWL_STATE_WRITE; s += 2) {
            assert_int_equal(c.state[s].acquisitions, round * THREADS * EACH);
            assert_int_equal(total(c.state[s].held_hist), round * THREADS * EACH);
            assert_int_equal(total(c.state[s].wait_hist), c.state[s].waits);
        }
    }
    __atomic_store_n(&stop_reading, 1, __ATOMIC_RELAXED);
    pthread_join(reader, NULL);
    assert_true(grew);
    assert_int_equal(guarded, 2 * THREADS * EACH);
    pawl_lock_forget(&shared_lock);
}

static void a_full_table_of_addresses_loses_names_and_nothing_else(void **state)
{
    (void)state;
    enum { MANY = 70000 };
    lock_t *many = calloc(MANY, sizeof *many);
    struct pawl_stats_lost lost, before;
    uint64_t refused = 0;
    assert_non_null(many);
    pawl_stats_losses(&before);
    for (int i = 0; i < MANY; i++) {
        refused += !pawl_lock_name(&many[i], "many");
    }
    pawl_stats_losses(&lost);
    assert_true(refused > 0);
    assert_int_equal(lost.locks - before.locks, refused);
    for (int i = 0; i < MANY; i++) {
        pawl_write_lock(&many[i]);
        pawl_write_unlock(&many[i]);
    }
    struct pawl_stats_class c;
    assert_true(look("many", &c));
    assert_int_equal(c.state[PAWL_STATE_WRITE].acquisitions, MANY - refused);
    for (int i = 0; i < MANY; i++) {
        pawl_lock_forget(&many[i]);
    }
    for (int i = 0; i < 1000; i++) { /* room again */
        assert_true(pawl_lock_name(&many[i], "many"));
    }
    for (int i = 0; i < 1000; i++) {
        pawl_lock_forget(&many[i]);
    }
    free(many);
}

static void a_full_table_of_classes_collects_the_rest_under_other(void **state)
{
    (void)state;
    lock_t l = PAWL_LOCK_INIT;
    struct pawl_stats_lost lost;
    struct pawl_stats_class c;
    bool refused = false;
    for (int i = 0; i < 1100; i++) {
        char name[32];
        snprintf(name, sizeof name, "class %d", i);
        refused |= !pawl_lock_name(&l, name);
    }
    assert_true(refused);
    pawl_stats_losses(&lost);
    assert_true(lost.classes > 0);
    pawl_lock_forget(&l);
    pawl_write_lock(&l); /* a place that has no class yet, and gets none */
    pawl_write_unlock(&l);
    assert_true(look("(other)", &c));
    assert_true(c.state[PAWL_STATE_WRITE].acquisitions > 0);
}

static void a_thread_may_hold_more_locks_than_are_listed(void **state)
{
    (void)state;
    enum { DEEP = 100 };
    static lock_t deep[DEEP];
    struct pawl_stats_class c;
    struct pawl_stats_lost before, lost;
    pawl_stats_losses(&before);
    pawl_lock_name_range(deep, sizeof deep, "each state"); /* the table of classes is full now */
    pawl_stats_reset();
    for (int i = 0; i < DEEP; i++) {
        pawl_read_lock(&deep[i]);
    }
    for (int i = 0; i < DEEP; i++) {
        pawl_read_unlock(&deep[i]);
        assert_true(deep[i].word == 0);
    }
    pawl_stats_losses(&lost);
    assert_int_equal(lost.holds - before.holds, DEEP - 64);
    assert_int_equal(lost.strays, before.strays);
    assert_true(look("each state", &c));
    assert_int_equal(c.state[PAWL_STATE_READ].acquisitions, DEEP);
    assert_int_equal(total(c.state[PAWL_STATE_READ].held_hist), 64);
    pawl_lock_forget_range(deep);
}

static void code_that_is_not_watched_may_take_or_give_back(void **state)
{
    (void)state;
    lock_t l = PAWL_LOCK_INIT;
    struct pawl_stats_lost before, lost;
    pawl_stats_losses(&before);
    UNWATCHED(pawl_write_lock)(&l);
    pawl_write_unlock(&l);
    assert_true(l.word == 0);
    for (int i = 0; i < 200; i++) {
        pawl_write_lock(&l);
        UNWATCHED(pawl_write_unlock)(&l);
    }
    UNWATCHED(pawl_seek_lock)(&l);
    pawl_seek_to_write(&l);
    pawl_write_unlock(&l);
    assert_true(l.word == 0);
    pawl_stats_losses(&lost);
    assert_true(lost.strays > before.strays);
    assert_int_equal(lost.holds, before.holds); /* what nobody gave back does not pile up */
    pawl_lock_forget(&l);
}

static lock_t in_handler = PAWL_LOCK_INIT, in_main = PAWL_LOCK_INIT;
static volatile sig_atomic_t handled, ended_handling;

static void handler(int sig)
{
    (void)sig;
    if (!ended_handling && pawl_write_trylock(&in_handler)) {
        handled++;
        pawl_write_unlock(&in_handler);
    }
}

static void a_signal_handler_may_use_locks_of_its_own(void **state)
{
    (void)state;
    struct pawl_stats_class c;
    struct pawl_stats_lost before, lost;
    pawl_stats_losses(&before);
    pawl_stats_reset();
    pawl_lock_name(&in_handler, "each state");
    pawl_lock_name(&in_main, "transitions");
    struct sigaction act = {.sa_handler = handler};
    const timer_t none = 0;
    timer_t timer = none;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec every = {{0, 100000}, {0, 100000}}, never = {{0, 0}, {0, 0}};
    assert_int_equal(sigaction(SIGUSR1, &act, NULL), 0);
    assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
    assert_int_equal(timer_settime(timer, 0, &every, NULL), 0);
    uint64_t ops = 0;
    for (uint64_t end = clock_us(CLOCK_MONOTONIC) + PATIENCE_MS * 1000u;
         handled < 200 && clock_us(CLOCK_MONOTONIC) < end; ops++) {
        pawl_write_lock(&in_main);
        pawl_write_unlock(&in_main);
    }
    timer_settime(timer, 0, &never, NULL);
    timer_delete(timer);
    ended_handling = 1;
    pawl_stats_losses(&lost);
    assert_true(handled >= 200);
    assert_true(look("transitions", &c));
    assert_int_equal(c.state[PAWL_STATE_WRITE].acquisitions, ops);
    assert_int_equal(total(c.state[PAWL_STATE_WRITE].held_hist), ops);
    assert_true(look("each state", &c));
    uint64_t seen = c.state[PAWL_STATE_WRITE].acquisitions;
    assert_true(seen <= (uint64_t)handled);
    assert_int_equal(lost.nested - before.nested, 2 * ((uint64_t)handled - seen));
    pawl_lock_forget(&in_handler);
    pawl_lock_forget(&in_main);
}

static void a_forked_child_goes_on_counting(void **state)
{
    (void)state;
    static lock_t l;
    struct pawl_stats_class c;
    pawl_stats_reset();
    pawl_lock_name(&l, "each state");
    pawl_write_lock(&l);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        alarm(20);
        pawl_write_unlock(&l); /* the child holds what its thread held */
        pawl_read_lock(&l);
        pawl_read_unlock(&l);
        _exit(look("each state", &c) && total(c.state[PAWL_STATE_WRITE].held_hist) == 1 &&
                      c.state[PAWL_STATE_READ].acquisitions == 1 && c.last.thread == gettid()
                  ? 0
                  : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    pawl_write_unlock(&l);
    assert_true(look("each state", &c));
    assert_int_equal(c.state[PAWL_STATE_READ].acquisitions, 0);
    pawl_lock_forget(&l);
}

static void json_says_what_a_snapshot_does(void **state)
{
    (void)state;
    lock_t l = PAWL_LOCK_INIT;
    struct pawl_stats_class c;
    pawl_stats_reset();
    pawl_lock_name(&l, "a \"quoted\\\" name\n");
    use_all_states(&l);
    assert_true(look("a \"quoted\\\" name\n", &c));
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    pawl_stats_json(out);
    fclose(out);
    json_error_t error;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    assert_non_null(root);
    json_t *class_ = json_array_get(json_object_get(root, "classes"), 0);
    assert_int_equal(json_array_size(json_object_get(root, "classes")), 1);
    assert_string_equal(json_string_value(json_object_get(class_, "name")), c.name);
    assert_true(json_is_true(json_object_get(class_, "named")));
    json_t *states = json_object_get(class_, "states");
    assert_int_equal(json_object_size(states), STATES);
    json_t *w = json_object_get(states, "write");
    const struct pawl_stats_state *n = &c.state[PAWL_STATE_WRITE];
    assert_int_equal(json_integer_value(json_object_get(w, "acquisitions")), n->acquisitions);
    assert_int_equal(json_integer_value(json_object_get(w, "held_ns")), n->held_ns);
    uint64_t held = 0;
    size_t i;
    json_t *bucket;
    json_array_foreach(json_object_get(w, "held_histogram"), i, bucket)
    {
        held += (uint64_t)json_integer_value(json_array_get(bucket, 1));
    }
    assert_int_equal(held, n->acquisitions);
    json_t *last = json_object_get(class_, "last");
    assert_int_equal(json_integer_value(json_object_get(last, "thread")), gettid());
    assert_string_equal(json_string_value(json_object_get(last, "state")), "atomic");
    assert_true(json_is_integer(json_object_get(json_object_get(root, "lost"), "locks")));
    json_decref(root);
    free(text);

    out = open_memstream(&text, &size);
    pawl_stats_print(out);
    fclose(out);
    assert_non_null(strstr(text, "a \"quoted\\\" name\\n\n"));
    assert_non_null(strstr(text, "write"));
    assert_non_null(strstr(text, "last taken for atomic"));
    assert_non_null(strstr(text, "not recorded"));
    free(text);
    pawl_lock_forget(&l);
}

/* A name as it is, in JSON, and in print. */
static const struct {
    const char *name, *json, *print;
} odd[] = {
    {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
     "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"\x01\x1f\x7f\b\t\r\n", "\x01\x1f\x7f\b\t\r\n", "\\x01\\x1f\\x7f\\x08\\t\\r\\n"},
    {"\xc2\x9b[31m", "\xc2\x9b[31m", "\\xc2\\x9b[31m"}, /* a command to a terminal */
    {"latin \xe9.", "latin \xef\xbf\xbd.", "latin \\xe9."},
    {"\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd", "\\xff\\xfe"},
    {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd", "\\xc0\\xaf"}, /* longer than need be */
    {"\xe0\x9f\xbf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "\\xe0\\x9f\\xbf"},
    {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "\\xed\\xa0\\x80"}, /* half of a pair */
    {"\xf0\x8f\xbf\xbf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "\\xf0\\x8f\\xbf\\xbf"},
    {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "\\xf4\\x90\\x80\\x80"},
    {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"}, /* the last there is */
    {"cut \xe2\x82", "cut \xef\xbf\xbd\xef\xbf\xbd", "cut \\xe2\\x82"},
    {"cut \xf0", "cut \xef\xbf\xbd", "cut \\xf0"},
    {"", "", ""},
};
#define ODD (sizeof odd / sizeof *odd)

static void any_bytes_in_a_name_leave_json_valid_and_the_table_in_lines(void **state)
{
    (void)state;
    static lock_t l[ODD];
    char *text = NULL;
    size_t size = 0;
    pawl_stats_reset();
    for (size_t i = 0; i < ODD; i++) {
        assert_true(pawl_lock_name(&l[i], odd[i].name));
        pawl_write_lock(&l[i]);
        pawl_write_unlock(&l[i]);
    }
    FILE *out = open_memstream(&text, &size);
    pawl_stats_json(out);
    fclose(out);
    json_error_t error;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error); /* refuses what is no UTF-8 */
    free(text);
    assert_non_null(root);
    json_t *classes = json_object_get(root, "classes");
    assert_int_equal(json_array_size(classes), ODD);
    for (size_t i = 0; i < ODD; i++) {
        assert_string_equal(json_string_value(json_object_get(json_array_get(classes, i), "name")),
                            odd[i].json);
    }
    json_decref(root);

    out = open_memstream(&text, &size);
    pawl_stats_print(out);
    fclose(out);
    const char *at = text;
    for (size_t i = 0; i < ODD; i++) {
        char line[100];
        snprintf(line, sizeof line, "\n%s\n  write ", odd[i].print);
        at = strstr(at, line);
        if (!at) {
            print_error("no line \"%s\" in:\n%s", odd[i].print, text);
        }
        assert_non_null(at);
    }
    free(text);
    for (size_t i = 0; i < ODD; i++) {
        pawl_lock_forget(&l[i]);
    }
}

int main(void)
{
    bound_program(200);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_state_of_a_class_is_counted),
        cmocka_unit_test(a_transition_ends_one_state_and_enters_the_other),
        cmocka_unit_test(time_held_is_that_between_lock_and_unlock),
        cmocka_unit_test(a_wait_is_counted_with_its_time),
        cmocka_unit_test(a_seeker_that_waits_for_readers_is_counted_as_waiting_for_write),
        cmocka_unit_test(a_failed_try_is_counted_and_takes_nothing),
        cmocka_unit_test(an_expired_wait_counts_as_a_wait),
        cmocka_unit_test(a_claim_counts_as_got_or_failed),
        cmocka_unit_test(upgrades_from_read_count_by_their_outcome),
        cmocka_unit_test(the_states_of_several_writers_are_counted),
        cmocka_unit_test(the_last_taker_is_remembered),
        cmocka_unit_test(a_lock_nobody_named_counts_under_the_place_that_takes_it),
        cmocka_unit_test(a_range_names_the_locks_in_it_but_those_with_names_of_their_own),
        cmocka_unit_test(a_name_can_be_changed_and_forgotten),
        cmocka_unit_test(a_reset_begins_anew_and_keeps_the_names),
        cmocka_unit_test(counts_of_many_threads_are_exact_and_outlive_them),
        cmocka_unit_test(a_full_table_of_addresses_loses_names_and_nothing_else),
        cmocka_unit_test(json_says_what_a_snapshot_does),
        cmocka_unit_test(any_bytes_in_a_name_leave_json_valid_and_the_table_in_lines),
        /* fills the table of classes */
        cmocka_unit_test(a_full_table_of_classes_collects_the_rest_under_other),
        cmocka_unit_test(a_thread_may_hold_more_locks_than_are_listed),
        cmocka_unit_test(code_that_is_not_watched_may_take_or_give_back),
        cmocka_unit_test(a_signal_handler_may_use_locks_of_its_own),
        cmocka_unit_test(a_forked_child_goes_on_counting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
