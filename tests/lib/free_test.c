/* Unlock touches no memory of the lock after its releasing step: the next owner makes the page vanish as soon
 * as it has the lock, so a late access ends the program. */
#include "lock_under_test.h"

#include <sys/mman.h>

#define ROUNDS 300

struct shared {
    lock_t *lock; /* at the start of a page */
    size_t page;
    void (*take)(lock_t *); /* what the one before does */
    void (*give)(lock_t *);
    int round; /* taken by the first thread: the second may ask */
    int gone;  /* rounds whose page has vanished */
};

/* Waits for W each round and takes the page away the moment it has it. */
static void *taker(void *arg)
{
    struct shared *s = arg;
    for (int round = 1; round <= ROUNDS; round++) {
        while (__atomic_load_n(&s->round, __ATOMIC_ACQUIRE) < round) {
            sched_yield();
        }
        pawl_write_lock(s->lock);
        mprotect(s->lock, s->page, PROT_NONE);
        __atomic_store_n(&s->gone, round, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* Joins, claims and goes on to A; what it gives back is said by name. */
static void take_claim(lock_t *l)
{
    pawl_join_lock(l);
    pawl_join_to_claim(l);
}

static void take_atomic_by_claim(lock_t *l)
{
    take_claim(l);
    pawl_claim_to_atomic(l);
}

static void take_read_by_atomic(lock_t *l)
{
    pawl_atomic_lock(l);
    pawl_atomic_to_read(l);
}

static void take_write_by_seek(lock_t *l)
{
    pawl_seek_lock(l);
    pawl_seek_to_write(l);
}

#define KIND(kind)                     \
    static void take_##kind(lock_t *l) \
    {                                  \
        pawl_##kind##_lock(l);         \
    }                                  \
    static void give_##kind(lock_t *l) \
    {                                  \
        pawl_##kind##_unlock(l);       \
    }
KIND(read)
KIND(seek)
KIND(write)
KIND(atomic)
KIND(join)

static void give_claim(lock_t *l)
{
    pawl_claim_unlock(l);
}

static void the_next_owner_may_free_after(void (*first)(lock_t *), void (*last)(lock_t *))
{
    struct shared s = {.page = (size_t)sysconf(_SC_PAGESIZE), .take = first, .give = last};
    void *page = mmap(NULL, s.page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    s.lock = page;
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, taker, &s), 0);
    for (int round = 1; round <= ROUNDS; round++) {
        s.take(s.lock);
        __atomic_store_n(&s.round, round, __ATOMIC_RELEASE);
        /* from "not there yet" over "spinning" to "asleep" */
        if (round % 4 == 0) {
            nap_us((unsigned)round % 100);
        } else {
            for (volatile int i = 0; i < round * 7 % 3000; i++) {
            }
        }
        s.give(s.lock);
        while (__atomic_load_n(&s.gone, __ATOMIC_ACQUIRE) < round) {
            sched_yield();
        }
        assert_int_equal(mprotect(page, s.page, PROT_READ | PROT_WRITE), 0);
        memset(page, 0, sizeof(lock_t));
    }
    pthread_join(t, NULL);
    munmap(page, s.page);
}

static void the_next_owner_may_free_the_lock_after_write(void **state)
{
    (void)state;
    the_next_owner_may_free_after(take_write, give_write);
    the_next_owner_may_free_after(take_write_by_seek, give_write);
}

static void the_next_owner_may_free_the_lock_after_the_last_reader(void **state)
{
    (void)state;
    the_next_owner_may_free_after(take_read, give_read);
    the_next_owner_may_free_after(take_read_by_atomic, give_read);
}

static void the_next_owner_may_free_the_lock_after_seek(void **state)
{
    (void)state;
    the_next_owner_may_free_after(take_seek, give_seek);
}

static void the_next_owner_may_free_the_lock_after_atomic(void **state)
{
    (void)state;
    the_next_owner_may_free_after(take_atomic, give_atomic);
    the_next_owner_may_free_after(take_atomic_by_claim, give_atomic);
}

static void the_next_owner_may_free_the_lock_after_join_or_claim(void **state)
{
    (void)state;
    the_next_owner_may_free_after(take_join, give_join);
    the_next_owner_may_free_after(take_claim, give_claim);
}

/* Several sleep when it is given back, and all but the last leave it before the last, in W, makes it vanish.
 */
struct crowd {
    lock_t *lock;
    size_t page;
    enum state state;
    int left, gone;
};

static void *one_of_crowd(void *arg)
{
    struct crowd *c = arg;
    enum state s = c->state;
    take(c->lock, s);
    give(c->lock, s);
    __atomic_fetch_sub(&c->left, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* Asks last, and only when nobody else will use it again. */
static void *last_of_crowd(void *arg)
{
    struct crowd *c = arg;
    pawl_write_lock(c->lock);
    while (__atomic_load_n(&c->left, __ATOMIC_ACQUIRE) > 0) { /* let in before the others */
        pawl_write_unlock(c->lock);
        nap_us(100);
        pawl_write_lock(c->lock);
    }
    mprotect(c->lock, c->page, PROT_NONE);
    __atomic_store_n(&c->gone, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void the_last_of_many_sleepers_may_free_the_lock(void **state)
{
    (void)state;
    struct crowd c = {.page = (size_t)sysconf(_SC_PAGESIZE)};
    void *page = mmap(NULL, c.page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    c.lock = page;
    for (int round = 0; round < 40; round++) {
        pthread_t t[5];
        c.state = (enum state)(round % KINDS);
        c.left = 4;
        c.gone = 0;
        pawl_write_lock(c.lock);
        for (int i = 0; i < 5; i++) {
            assert_int_equal(pthread_create(&t[i], NULL, i < 4 ? one_of_crowd : last_of_crowd, &c), 0);
        }
        nap_us(round % 2 ? 3000 : 300);
        pawl_write_unlock(c.lock);
        for (int i = 0; i < 5; i++) {
            pthread_join(t[i], NULL);
        }
        assert_int_equal(c.gone, 1);
        assert_int_equal(mprotect(page, c.page, PROT_READ | PROT_WRITE), 0);
        memset(page, 0, sizeof(lock_t));
    }
    munmap(page, c.page);
}

int main(void)
{
    bound_program(120);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_owner_may_free_the_lock_after_write),
        cmocka_unit_test(the_next_owner_may_free_the_lock_after_the_last_reader),
        cmocka_unit_test(the_next_owner_may_free_the_lock_after_seek),
        cmocka_unit_test(the_next_owner_may_free_the_lock_after_atomic),
        cmocka_unit_test(the_next_owner_may_free_the_lock_after_join_or_claim),
        cmocka_unit_test(the_last_of_many_sleepers_may_free_the_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
