/* Unlock touches no memory of the lock after its releasing step: the next owner makes the page vanish as soon
 * as it has the lock, so a late access ends the program. */
#include "lock_under_test.h"

#include <sys/mman.h>

#define ROUNDS 600

struct shared {
    lock_t *lock; /* at the start of a page */
    size_t page;
    enum state last; /* what the one before gives back */
    int round;       /* taken by the first thread: the second may ask */
    int gone;        /* rounds whose page has vanished */
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

static void the_next_owner_may_free_after(enum state last)
{
    struct shared s = {.page = (size_t)sysconf(_SC_PAGESIZE), .last = last};
    void *page = mmap(NULL, s.page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    s.lock = page;
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, taker, &s), 0);
    for (int round = 1; round <= ROUNDS; round++) {
        take(s.lock, last);
        __atomic_store_n(&s.round, round, __ATOMIC_RELEASE);
        /* from "not there yet" over "spinning" to "asleep" */
        if (round % 4 == 0) {
            nap_us((unsigned)round % 100);
        } else {
            for (volatile int i = 0; i < round * 7 % 3000; i++) {
            }
        }
        give(s.lock, last);
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
    the_next_owner_may_free_after(WRITE);
}

static void the_next_owner_may_free_the_lock_after_the_last_reader(void **state)
{
    (void)state;
    the_next_owner_may_free_after(READ);
}

static void the_next_owner_may_free_the_lock_after_seek(void **state)
{
    (void)state;
    the_next_owner_may_free_after(SEEK);
}

static void the_next_owner_may_free_the_lock_after_atomic(void **state)
{
    (void)state;
    the_next_owner_may_free_after(ATOMIC);
}

int main(void)
{
    bound_program(120);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_owner_may_free_the_lock_after_write),
        cmocka_unit_test(the_next_owner_may_free_the_lock_after_the_last_reader),
        cmocka_unit_test(the_next_owner_may_free_the_lock_after_seek),
        cmocka_unit_test(the_next_owner_may_free_the_lock_after_atomic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
