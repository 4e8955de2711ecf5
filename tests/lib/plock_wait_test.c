/* The rest of pawl/plock.h: the low-overhead read/write lock, the waits on words of the application's, and
 * reads. */
#include "lock_under_test.h"
#include "pawl/plock.h"

static void a_lorw_lock_admits_readers_or_one_writer(void **state)
{
    (void)state;
    unsigned long l = 0;
    pl_lorw_rdlock(&l);
    pl_lorw_rdlock(&l);
    assert_true(pl_cmpxchg(&l, 0, PLOCK_LORW_EXC_BASE) != 0);
    pl_lorw_rdunlock(&l);
    pl_lorw_unlock(&l);
    assert_true(l == 0);
    pl_lorw_wrlock(&l);
    assert_true(pl_cmpxchg(&l, 0, PLOCK_LORW_SHR_BASE) != 0);
    pl_lorw_wrunlock(&l);
    pl_lorw_wrlock(&l);
    pl_lorw_unlock(&l);
    assert_true(l == 0);
}

/* A program may take the lock from 0 by itself: HAProxy's tryrdlock and trywrlock do. */
static void the_base_values_are_one_reader_and_a_writer(void **state)
{
    (void)state;
    unsigned long l = 0;
    pl_lorw_rdlock(&l);
    assert_true(l == PLOCK_LORW_SHR_BASE);
    pl_lorw_unlock(&l);
    pl_lorw_wrlock(&l);
    assert_true(l == PLOCK_LORW_EXC_BASE);
    pl_lorw_unlock(&l);
    assert_true(pl_cmpxchg(&l, 0, PLOCK_LORW_SHR_BASE) == 0);
    pl_lorw_rdlock(&l);
    pl_lorw_unlock(&l);
    pl_lorw_unlock(&l);
    assert_true(pl_cmpxchg(&l, 0, PLOCK_LORW_EXC_BASE) == 0);
    pl_lorw_unlock(&l);
    assert_true(l == 0);
}

struct shared {
    unsigned long lock;
    unsigned long plain[2], faults;
};

#define THREADS 6
#define ROUNDS  5000

/* Never says whether it gives back a read or a write. */
static void *lorw_main(void *arg)
{
    struct shared *s = arg;
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 4) {
            pl_lorw_rdlock(&s->lock);
            if (s->plain[0] != s->plain[1]) {
                pl_inc_noret(&s->faults);
            }
        } else {
            pl_lorw_wrlock(&s->lock);
            s->plain[0]++;
            s->plain[1]++;
        }
        pl_lorw_unlock(&s->lock);
    }
    return NULL;
}

static void unlock_finds_out_what_the_caller_holds(void **state)
{
    (void)state;
    static struct shared s;
    pthread_t threads[THREADS];
    memset(&s, 0, sizeof s);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, lorw_main, &s), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_true(s.faults == 0 && s.plain[0] == THREADS * ROUNDS / 4 && s.plain[1] == s.plain[0]);
    pl_lorw_wrlock(&s.lock);
    pl_lorw_unlock(&s.lock);
    assert_true(s.lock == 0);
}

struct joiner {
    unsigned long lock;
    int ready, done, got;
    pthread_t thread;
};

static void *joiner_main(void *arg)
{
    struct joiner *j = arg;
    __atomic_store_n(&j->ready, 1, __ATOMIC_RELEASE);
    j->got = pl_try_j(&j->lock);
    __atomic_store_n(&j->done, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* As in plock: it waits for S, W and A, and for readers, and fails only when one of these joins. */
static void try_j_waits_for_writers_and_fails_when_a_reader_joins(void **state)
{
    (void)state;
    for (int held = 0; held < 5; held++) {
        struct joiner j = {.lock = 0};
        unsigned long *l = &j.lock;
        int took = held == 0   ? pl_take_s(l)
                   : held == 1 ? pl_take_w(l)
                   : held == 2 ? pl_take_a(l)
                               : pl_take_r(l);
        assert_int_equal(took, 0);
        assert_int_equal(pthread_create(&j.thread, NULL, joiner_main, &j), 0);
        assert_true(reaches(&j.ready, 1));
        settle();
        assert_false(pl_load(&j.done));
        switch (held) {
        case 0:
            pl_drop_s(l);
            break;
        case 1:
            pl_drop_w(l);
            break;
        case 2:
            pl_drop_a(l);
            break;
        case 3:
            pl_drop_r(l);
            break;
        default:
            pl_rtoj(l);
            pl_drop_j(l);
            break;
        }
        assert_true(reaches(&j.done, 1));
        pthread_join(j.thread, NULL);
        /* one that joins and leaves at once may not be seen */
        if (held < 4 && !j.got) {
            fail_msg("try_j failed beside %d", held);
        }
        if (j.got) {
            pl_drop_j(l);
        }
        assert_true(j.lock == 0);
    }
}

/* Waits for one word or the other; data written before the change is seen after. */
struct watcher {
    int (*wait)(struct watcher *);
    unsigned long wide;
    unsigned word;
    int data, ready, done, ok;
    pthread_t thread;
};

static int wait_new_long(struct watcher *w)
{
    return pl_wait_new_long(&w->wide, 5) == 9 && w->data == 1;
}

static int wait_new_int(struct watcher *w)
{
    return pl_wait_new_int(&w->word, 5) == 9 && w->data == 1;
}

static int wait_unlock_long(struct watcher *w)
{
    return pl_wait_unlock_long(&w->wide, 4) == 9 && w->data == 1;
}

static int wait_unlock_int(struct watcher *w)
{
    return pl_wait_unlock_int(&w->word, 4) == 9 && w->data == 1;
}

static void *watcher_main(void *arg)
{
    struct watcher *w = arg;
    __atomic_store_n(&w->ready, 1, __ATOMIC_RELEASE);
    w->ok = w->wait(w);
    __atomic_store_n(&w->done, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void waits_end_when_the_word_changes_and_acquire(void **state)
{
    (void)state;
    static int (*const waits[])(struct watcher *) = {wait_new_long, wait_new_int, wait_unlock_long,
                                                     wait_unlock_int};
    for (unsigned i = 0; i < sizeof waits / sizeof *waits; i++) {
        struct watcher w = {.wait = waits[i], .wide = 5, .word = 5};
        assert_int_equal(pthread_create(&w.thread, NULL, watcher_main, &w), 0);
        assert_true(reaches(&w.ready, 1));
        settle();
        assert_false(pl_load(&w.done));
        w.data = 1;
        pl_store(&w.wide, 9);
        pl_store(&w.word, 9);
        assert_true(reaches(&w.done, 1));
        pthread_join(w.thread, NULL);
        assert_true(w.ok);
    }
}

static void waits_return_at_once_when_there_is_nothing_to_wait_for(void **state)
{
    (void)state;
    unsigned long wide = 9;
    unsigned word = 9;
    assert_true(pl_wait_unlock_long(&wide, 4) == 9 && pl_wait_unlock_int(&word, 4) == 9);
    assert_true(pl_wait_new_long(&wide, 5) == 9 && pl_wait_new_int(&word, 5) == 9);
}

/* Reads of words that were declared as something else. */
static void deref_reads_any_word_as_an_integer(void **state)
{
    (void)state;
    int i = -1;
    void *p = &i;
    const volatile long l = -2;
    assert_true(pl_deref_int(&i) == ~0u);
    assert_true(pl_deref_long(&p) == (unsigned long)(uintptr_t)p);
    assert_true(pl_deref_long(&l) == (unsigned long)-2);
}

int main(void)
{
    bound_program(120);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lorw_lock_admits_readers_or_one_writer),
        cmocka_unit_test(the_base_values_are_one_reader_and_a_writer),
        cmocka_unit_test(unlock_finds_out_what_the_caller_holds),
        cmocka_unit_test(try_j_waits_for_writers_and_fails_when_a_reader_joins),
        cmocka_unit_test(waits_end_when_the_word_changes_and_acquire),
        cmocka_unit_test(waits_return_at_once_when_there_is_nothing_to_wait_for),
        cmocka_unit_test(deref_reads_any_word_as_an_integer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
