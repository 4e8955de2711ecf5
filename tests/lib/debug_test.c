/* PAWL_DEBUG: each fault is caught before it does harm, its message names the lock, the states, the threads
 * and both places; use that is right goes unremarked. Each case runs in a child, since the default is to
 * print and abort. */
#define PAWL_DEBUG
#include "lock_under_test.h"
#include "pawl/stats.h"

#include <sys/mman.h>
#include <sys/wait.h>

#if LOCK_BITS == 64
#    define UNWATCHED(name) name##_64
#else
#    define UNWATCHED(name) name##_32
#endif

static lock_t a = PAWL_LOCK_INIT, b = PAWL_LOCK_INIT, c = PAWL_LOCK_INIT;

/* A place of the fault under test, written by the child where the parent sees it. */
static struct places {
    int first, second;
    int tid;
} * seen;
#define FIRST_HERE  (seen->first = __LINE__)
#define SECOND_HERE (seen->second = __LINE__)

static char text[8192];

/* Runs fn in a child; its standard error lies in `text` afterwards. Returns its status. */
static int run(void (*fn)(void))
{
    int pipe_[2];
    assert_int_equal(pipe(pipe_), 0);
    fflush(stdout);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        signal(SIGALRM, SIG_DFL);
        alarm(30);
        dup2(pipe_[1], STDERR_FILENO);
        close(pipe_[0]);
        seen->tid = gettid();
        fn();
        _exit(0);
    }
    close(pipe_[1]);
    size_t n = 0;
    ssize_t got;
    while (n < sizeof text - 1 && (got = read(pipe_[0], text + n, sizeof text - 1 - n)) > 0) {
        n += (size_t)got;
    }
    text[n] = 0;
    close(pipe_[0]);
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void assert_says(const char *part)
{
    if (!strstr(text, part)) {
        print_error("no \"%s\" in:\n%s", part, text);
        fail();
    }
}

static void assert_says_not(const char *part)
{
    if (strstr(text, part)) {
        print_error("\"%s\" in:\n%s", part, text);
        fail();
    }
}

static void assert_says_place(int line)
{
    char place[300];
    snprintf(place, sizeof place, "%s:%d ", __FILE__, line);
    assert_says(place);
}

/* The child must die of a fault that says all this. */
static void assert_fault(void (*fn)(void), const char *what, const char *name)
{
    char thread[64];
    memset(seen, 0, sizeof *seen);
    int status = run(fn);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT) {
        print_error("status %#x, not SIGABRT; said:\n%s", (unsigned)status, text);
        fail();
    }
    assert_says(what);
    assert_says(name);
    snprintf(thread, sizeof thread, "thread %d", seen->tid);
    assert_says(thread);
    assert_true(seen->second);
    assert_says_place(seen->second);
    if (seen->first) {
        assert_says_place(seen->first);
    }
}

static void assert_no_fault(void (*fn)(void))
{
    int status = run(fn);
    if (status || text[0]) {
        print_error("status %#x; said:\n%s", (unsigned)status, text);
        fail();
    }
}

static void never_taken(void)
{
    pawl_lock_name(&a, "alpha");
    SECOND_HERE, pawl_write_unlock(&a);
}

static void never_taken_nor_named(void)
{
    SECOND_HERE, pawl_write_unlock(&b);
}

static void unlocks_twice(void)
{
    pawl_lock_name(&a, "alpha");
    pawl_read_lock(&a);
    FIRST_HERE, pawl_read_unlock(&a);
    SECOND_HERE, pawl_read_unlock(&a);
}

static void unlocks_the_wrong_state(void)
{
    pawl_lock_name(&a, "alpha");
    FIRST_HERE, pawl_seek_lock(&a);
    SECOND_HERE, pawl_write_unlock(&a);
}

static void *takes_alpha(void *arg)
{
    FIRST_HERE, pawl_write_lock(&a);
    __atomic_store_n((int *)arg, 1, __ATOMIC_RELEASE);
    nap_us(10 * 1000 * 1000);
    return NULL;
}

static void unlocks_what_another_holds(void)
{
    pthread_t t;
    int taken = 0;
    pawl_lock_name(&a, "alpha");
    pthread_create(&t, NULL, takes_alpha, &taken);
    reaches(&taken, 1);
    SECOND_HERE, pawl_write_unlock(&a);
}

static void an_unlock_of_what_is_not_held_is_caught(void **state)
{
    (void)state;
    assert_fault(never_taken, "unlock of a lock that is not held", "\"alpha\"");
    assert_says("the thread does not hold it in any state");
    assert_says("nobody was seen taking it");
    assert_says_not("full");
    assert_fault(never_taken_nor_named, "unlock of a lock that is not held", "the lock at");
    assert_says("the thread does not hold it in any state");
    assert_says("nobody was seen taking it");
    assert_says_not("full");
    assert_says_not("room");
    assert_fault(unlocks_twice, "unlock of a lock that is not held", "\"alpha\"");
    assert_says("last given back for read by thread");
    assert_fault(unlocks_the_wrong_state, "unlock of a state that is not the one held", "\"alpha\"");
    assert_says("gives back write");
    assert_says("for seek, taken at");
    assert_fault(unlocks_what_another_holds, "unlock of a lock that is not held", "\"alpha\"");
    assert_says("last taken for write by thread");
}

#define ASKS_TWICE(name, one, other)          \
    static void name(void)                    \
    {                                         \
        FIRST_HERE, pawl_##one##_lock(&b);    \
        SECOND_HERE, pawl_##other##_lock(&b); \
    }
ASKS_TWICE(write_then_write, write, write)
ASKS_TWICE(write_then_read, write, read)
ASKS_TWICE(read_then_read, read, read)
ASKS_TWICE(read_then_write, read, write)
ASKS_TWICE(seek_then_write, seek, write)
ASKS_TWICE(atomic_then_read, atomic, read)
#define CLAIMS_TOO(name, one, other)           \
    static void name(void)                     \
    {                                          \
        FIRST_HERE, pawl_##one##_lock(&b);     \
        SECOND_HERE, pawl_##other##_claim(&b); \
    }
CLAIMS_TOO(read_then_write_claim, read, write)
CLAIMS_TOO(read_then_atomic_claim, read, atomic)
CLAIMS_TOO(join_then_join_claim, join, join)

static void a_thread_that_would_wait_for_itself_is_caught(void **state)
{
    (void)state;
    void (*const all[])(void) = {write_then_write,      write_then_read,        read_then_read,
                                 read_then_write,       seek_then_write,        atomic_then_read,
                                 read_then_write_claim, read_then_atomic_claim, join_then_join_claim};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char address[64];
        snprintf(address, sizeof address, "the lock at %p", (void *)&b);
        assert_fault(all[i], "a thread waits for itself", address);
        assert_says("it holds the lock for");
    }
}

/* The lock is held twice, the second time by a trylock: the transition waits for that. */
#define TURNS_TWICE(name, one, other, turn)            \
    static void name(void)                             \
    {                                                  \
        pawl_##one##_lock(&b);                         \
        if (FIRST_HERE, !pawl_##other##_trylock(&b)) { \
            _exit(3);                                  \
        }                                              \
        SECOND_HERE, (void)turn(&b);                   \
    }
TURNS_TWICE(seek_and_read_to_write, seek, read, pawl_seek_to_write)
TURNS_TWICE(read_and_read_to_write, read, read, pawl_read_claim_write)
TURNS_TWICE(read_and_read_to_atomic, read, read, pawl_read_claim_atomic)
TURNS_TWICE(read_and_read_to_join, read, read, pawl_read_to_join)
TURNS_TWICE(atomic_and_atomic_to_read, atomic, atomic, pawl_atomic_to_read)

static void a_transition_that_would_wait_for_its_own_thread_is_caught(void **state)
{
    (void)state;
    void (*const all[])(void) = {seek_and_read_to_write, read_and_read_to_write, read_and_read_to_atomic,
                                 read_and_read_to_join, atomic_and_atomic_to_read};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_fault(all[i], "a thread waits for itself", "the lock at");
        assert_says("turns ");
    }
}

/* A claim waits for readers only: beside W it fails at once, so opposite orders are no fault. */
static void claims_in_opposite_orders(void)
{
    for (int i = 0; i < 2; i++) {
        lock_t *first = i ? &b : &a, *second = i ? &a : &b;
        pawl_write_lock(first);
        if (!pawl_write_claim(second)) {
            abort();
        }
        pawl_write_unlock(second);
        if (!pawl_atomic_claim(second)) {
            abort();
        }
        pawl_atomic_unlock(second);
        pawl_write_unlock(first);
    }
}

static void joins_in_opposite_orders(void)
{
    pawl_write_lock(&a);
    FIRST_HERE, pawl_join_lock(&b);
    pawl_join_unlock(&b);
    pawl_write_unlock(&a);
    pawl_join_lock(&b);
    SECOND_HERE, (void)pawl_join_claim(&a);
}

static void claims_have_no_order_but_that_of_join(void **state)
{
    (void)state;
    assert_no_fault(claims_in_opposite_orders);
    assert_fault(joins_in_opposite_orders, "locks taken in opposite orders", "the lock at");
}

static void tries_what_it_holds(void)
{
    pawl_write_lock(&a);
    for (enum state s = READ; s < STATES; s++) {
        if (try_take(&a, s)) {
            abort();
        }
    }
    pawl_write_to_seek(&a);
    if (!pawl_read_trylock(&a)) { /* readers may enter beside S, be it its holder */
        abort();
    }
    pawl_read_unlock(&a);
    pawl_seek_unlock(&a);
}

static void a_trylock_of_what_the_thread_holds_simply_answers(void **state)
{
    (void)state;
    assert_no_fault(tries_what_it_holds);
}

static void turns_read_into_seek_wrongly(void)
{
    pawl_lock_name(&a, "alpha");
    FIRST_HERE, pawl_read_lock(&a);
    SECOND_HERE, pawl_seek_to_write(&a);
}

static void turns_what_nobody_holds(void)
{
    pawl_lock_name(&a, "alpha");
    pawl_write_lock(&a);
    FIRST_HERE, pawl_write_unlock(&a);
    SECOND_HERE, pawl_write_to_read(&a);
}

static void a_transition_from_a_state_not_held_is_caught(void **state)
{
    (void)state;
    assert_fault(turns_read_into_seek_wrongly, "transition from a state that is not held", "\"alpha\"");
    assert_says("turns seek into write");
    assert_says("for read, taken at");
    assert_fault(turns_what_nobody_holds, "transition from a state that is not held", "\"alpha\"");
    assert_says("last given back for write");
}

static uint64_t soon(void)
{
    return (clock_us(CLOCK_MONOTONIC) + 2000) * 1000;
}

static void goes_through_all_states(void)
{
    for (int i = 0; i < 3; i++) {
        pawl_read_lock(&a);
        pawl_read_to_join(&a);
        pawl_assert_join_held(&a);
        pawl_join_to_claim(&a);
        pawl_assert_claim_held(&a);
        pawl_claim_to_atomic(&a);
        pawl_atomic_to_join(&a);
        pawl_join_unlock(&a);
        pawl_read_lock(&a);
        pawl_read_to_claim(&a);
        pawl_claim_to_atomic(&a);
        pawl_atomic_to_read(&a);
        if (!pawl_read_try_to_seek(&a)) {
            abort();
        }
        pawl_seek_to_write(&a);
        pawl_write_to_read(&a);
        if (!pawl_read_to_write_until(&a, soon())) {
            abort();
        }
        pawl_write_unlock(&a);
        if (!pawl_join_trylock(&a)) {
            abort();
        }
        pawl_join_unlock(&a);
    }
    pawl_write_lock(&a);
    if (pawl_read_lock_until(&a, soon()) || pawl_join_trylock(&a)) { /* gives up: no deadlock */
        abort();
    }
    pawl_write_unlock(&a);
    if (pawl_write_claim(&a)) {
        pawl_assert_write_held(&a);
        if (pawl_write_claim(&a) || pawl_atomic_claim(&a)) { /* fail at once: no deadlock */
            abort();
        }
        pawl_write_to_read(&a);
        if (!pawl_read_claim_atomic(&a)) {
            abort();
        }
        pawl_assert_atomic_held(&a);
        pawl_atomic_unlock(&a);
        pawl_read_lock(&a);
        if (!pawl_read_claim_write(&a)) {
            abort();
        }
        pawl_write_unlock(&a);
    }
    if (pawl_atomic_claim(&a)) {
        pawl_atomic_unlock(&a);
    }
    if (pawl_join_claim(&a)) {
        pawl_join_unlock(&a);
    }
    pawl_join_lock(&a); /* nothing of those above is left over */
    pawl_join_unlock(&a);
}

static void every_way_through_the_states_goes_unremarked(void **state)
{
    (void)state;
    assert_no_fault(goes_through_all_states);
}

static void unlocks_join_as_claim(void)
{
    pawl_lock_name(&a, "alpha");
    FIRST_HERE, pawl_join_lock(&a);
    SECOND_HERE, pawl_claim_unlock(&a);
}

static void claims_without_joining(void)
{
    pawl_lock_name(&a, "alpha");
    FIRST_HERE, pawl_read_lock(&a);
    SECOND_HERE, pawl_join_to_claim(&a);
}

static void tries_to_upgrade_what_it_does_not_hold(void)
{
    pawl_lock_name(&a, "alpha");
    if (SECOND_HERE, pawl_read_try_to_write(&a)) {
        abort();
    }
}

static void claims_from_what_it_does_not_hold(void)
{
    pawl_lock_name(&a, "alpha");
    FIRST_HERE, pawl_seek_lock(&a);
    if (SECOND_HERE, pawl_read_claim_write(&a)) {
        abort();
    }
}

static void misuse_of_join_claim_and_upgrades_is_caught(void **state)
{
    (void)state;
    assert_fault(unlocks_join_as_claim, "unlock of a state that is not the one held", "\"alpha\"");
    assert_says("for join, taken at");
    assert_fault(claims_without_joining, "transition from a state that is not held", "\"alpha\"");
    assert_fault(claims_from_what_it_does_not_hold, "transition from a state that is not held", "\"alpha\"");
    assert_fault(tries_to_upgrade_what_it_does_not_hold, "transition from a state that is not held",
                 "\"alpha\"");
}

static void *takes_join(void *arg)
{
    FIRST_HERE, pawl_join_lock(&a);
    __atomic_store_n((int *)arg, 1, __ATOMIC_RELEASE);
    nap_us(10 * 1000 * 1000);
    return NULL;
}

static void writes_where_another_joins(void)
{
    pthread_t t;
    int taken = 0;
    pawl_lock_name(&a, "alpha");
    pthread_create(&t, NULL, takes_join, &taken);
    reaches(&taken, 1);
    SECOND_HERE, pawl_write_lock(&a);
}

static void *takes_seek(void *arg)
{
    FIRST_HERE, pawl_seek_lock(&a);
    __atomic_store_n((int *)arg, 1, __ATOMIC_RELEASE);
    nap_us(10 * 1000 * 1000);
    return NULL;
}

static void joins_where_another_seeks(void)
{
    pthread_t t;
    int taken = 0;
    pawl_lock_name(&a, "alpha");
    pawl_read_lock(&a);
    pthread_create(&t, NULL, takes_seek, &taken);
    reaches(&taken, 1);
    SECOND_HERE, pawl_read_to_join(&a);
}

static void one_writer_and_several_on_one_lock_are_caught(void **state)
{
    (void)state;
    const char *what = "seek or write together with join or claim of one lock";
    assert_fault(writes_where_another_joins, what, "\"alpha\"");
    assert_says("it is in use for join");
    assert_fault(joins_where_another_seeks, what, "\"alpha\"");
    assert_says("it is in use for seek");
}

static void takes_two_in_both_orders(void)
{
    pawl_write_lock(&a);
    FIRST_HERE, pawl_read_lock(&b);
    pawl_read_unlock(&b);
    pawl_write_unlock(&a);
    pawl_seek_lock(&b);
    SECOND_HERE, pawl_read_lock(&a);
}

static void takes_two_of_named_classes(void)
{
    pawl_lock_name(&a, "alpha");
    pawl_lock_name(&b, "beta");
    pawl_lock_name(&c, "beta");
    pawl_write_lock(&a);
    FIRST_HERE, pawl_write_lock(&b);
    pawl_write_unlock(&b);
    pawl_write_unlock(&a);
    pawl_write_lock(&c); /* another lock of b's class */
    SECOND_HERE, pawl_write_lock(&a);
}

static void takes_three_in_a_circle(void)
{
    pawl_lock_name(&a, "alpha");
    pawl_write_lock(&a);
    pawl_write_lock(&b);
    pawl_write_unlock(&a); /* not nested: what counts is what is held when asking */
    FIRST_HERE, pawl_write_lock(&c);
    pawl_write_unlock(&b);
    SECOND_HERE, pawl_write_lock(&a);
}

static void takes_two_of_one_class_in_both_orders(void)
{
    pawl_lock_name(&a, "same");
    pawl_lock_name(&b, "same");
    pawl_write_lock(&a);
    FIRST_HERE, pawl_write_lock(&b);
    pawl_write_unlock(&b);
    pawl_write_unlock(&a);
    pawl_write_lock(&b);
    SECOND_HERE, pawl_write_lock(&a);
}

static void upgrades_while_holding_one_taken_later(void)
{
    pawl_lock_name(&a, "alpha");
    pawl_seek_lock(&a);
    FIRST_HERE, pawl_write_lock(&b);
    SECOND_HERE, pawl_seek_to_write(&a); /* waits for a reader of a, that may wait for b */
}

static void *takes_a_then_b(void *arg)
{
    pawl_write_lock(&a);
    FIRST_HERE, pawl_write_lock(&b);
    pawl_write_unlock(&b);
    pawl_write_unlock(&a);
    return arg;
}

static void two_threads_take_two_in_both_orders(void)
{
    pthread_t t;
    pthread_create(&t, NULL, takes_a_then_b, NULL);
    pthread_join(t, NULL); /* at different times: nothing hangs in this run */
    pawl_write_lock(&b);
    SECOND_HERE, pawl_write_lock(&a);
}

static void locks_taken_in_opposite_orders_are_caught_though_nothing_hangs(void **state)
{
    (void)state;
    const char *what = "locks taken in opposite orders";
    char address[64];
    snprintf(address, sizeof address, "the lock at %p", (void *)&b);
    assert_fault(takes_two_in_both_orders, what, address);
    assert_says("while it holds");
    assert_says("the other order: thread");
    assert_says("asks for read");
    assert_fault(takes_two_of_named_classes, what, "\"beta\"");
    assert_says("\"alpha\"");
    assert_fault(takes_three_in_a_circle, what, "\"alpha\"");
    assert_fault(takes_two_of_one_class_in_both_orders, what, "\"same\"");
    assert_fault(upgrades_while_holding_one_taken_later, what, "\"alpha\"");
    assert_says("asks for write");
    assert_fault(two_threads_take_two_in_both_orders, what, address);
}

static void two(lock_t *first, lock_t *second)
{
    pawl_write_lock(first);
    pawl_write_lock(second);
    pawl_write_unlock(first);
    pawl_write_unlock(second);
}

static void keeps_to_an_order(void)
{
    pawl_lock_name(&a, "same");
    pawl_lock_name(&b, "same");
    for (int i = 0; i < 3; i++) {
        two(&a, &b);
        two(&b, &c);
        two(&a, &c);
    }
}

static void tries_against_the_order(void)
{
    two(&a, &b);
    pawl_write_lock(&b);
    if (!pawl_write_trylock(&a)) {
        abort();
    }
    pawl_write_unlock(&a);
    pawl_write_unlock(&b);
}

static void forgets_and_uses_the_memory_otherwise(void)
{
    two(&a, &b);
    pawl_lock_forget(&a);
    pawl_lock_forget(&b);
    two(&b, &a);
}

static void frees_what_it_holds(void)
{
    for (int i = 0; i < 3; i++) {
        lock_t *l = calloc(1, sizeof *l);
        pawl_lock_name(l, "freed");
        pawl_write_lock(l);
        pawl_lock_forget(l);
        free(l);
    }
}

static void use_that_is_right_goes_unremarked(void **state)
{
    (void)state;
    assert_no_fault(keeps_to_an_order);
    assert_no_fault(tries_against_the_order);
    assert_no_fault(forgets_and_uses_the_memory_otherwise);
    assert_no_fault(frees_what_it_holds);
}

static void holds_a_tried_lock_and_waits(void)
{
    two(&a, &b);
    if (!pawl_write_trylock(&b)) {
        abort();
    }
    FIRST_HERE, pawl_write_lock(&c);
    SECOND_HERE, pawl_write_lock(&a); /* whoever holds a waits for b, however b was taken */
}

static void a_lock_taken_by_a_try_counts_as_held_in_the_order(void **state)
{
    (void)state;
    memset(seen, 0, sizeof *seen);
    int status = run(holds_a_tried_lock_and_waits);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_says("locks taken in opposite orders");
    assert_says_place(seen->second);
}

static void *ends_with_a_lock(void *arg)
{
    seen->tid = gettid();
    SECOND_HERE, pawl_write_lock(&a);
    return arg;
}

static void a_thread_leaves_a_lock(void)
{
    pthread_t t;
    pawl_lock_name(&a, "alpha");
    pthread_create(&t, NULL, ends_with_a_lock, NULL);
    pthread_join(t, NULL);
}

static void a_thread_that_ends_with_a_lock_held_is_caught(void **state)
{
    (void)state;
    assert_fault(a_thread_leaves_a_lock, "a thread ends with a lock held", "\"alpha\"");
}

static void asserts_what_is_so(void)
{
    pawl_assert_not_held(&a);
    pawl_seek_lock(&a);
    pawl_assert_seek_held(&a);
    pawl_assert_held(&a);
    pawl_seek_to_write(&a);
    pawl_assert_write_held(&a);
    pawl_write_to_read(&a);
    pawl_assert_read_held(&a);
    pawl_read_unlock(&a);
    pawl_atomic_lock(&a);
    pawl_assert_atomic_held(&a);
    pawl_atomic_unlock(&a);
    pawl_assert_not_held(&a);
}

static void asserts_write_of_what_it_reads(void)
{
    pawl_lock_name(&a, "alpha");
    FIRST_HERE, pawl_read_lock(&a);
    SECOND_HERE, pawl_assert_write_held(&a);
}

static void asserts_of_what_it_gave_back(void)
{
    pawl_lock_name(&a, "alpha");
    pawl_read_lock(&a);
    FIRST_HERE, pawl_read_unlock(&a);
    SECOND_HERE, pawl_assert_held(&a);
}

static void asserts_not_of_what_it_holds(void)
{
    pawl_lock_name(&a, "alpha");
    FIRST_HERE, pawl_seek_lock(&a);
    SECOND_HERE, pawl_assert_not_held(&a);
}

static void an_assertion_tells_who_holds_what(void **state)
{
    (void)state;
    const char *what = "an assertion about a lock does not hold";
    assert_no_fault(asserts_what_is_so);
    assert_fault(asserts_write_of_what_it_reads, what, "\"alpha\"");
    assert_says("for read, taken at");
    assert_fault(asserts_of_what_it_gave_back, what, "\"alpha\"");
    assert_fault(asserts_not_of_what_it_holds, what, "\"alpha\"");
}

static sigjmp_buf back;
static char hooked[8192];

static void hook(const char *message)
{
    snprintf(hooked, sizeof hooked, "%s", message);
    siglongjmp(back, 1);
}

static void a_hook_may_take_the_message_and_leave(void **state)
{
    (void)state;
    static lock_t l;
    pawl_debug_on_fault(hook);
    pawl_lock_name(&l, "hooked");
    for (volatile int i = 0; i < 3; i++) { /* again and again: nothing stays locked inside */
        hooked[0] = 0;
        if (!sigsetjmp(back, 1)) {
            pawl_write_unlock(&l);
        }
        assert_non_null(strstr(hooked, "\"hooked\""));
        assert_true(l.word == 0); /* the unlock has not taken place */
    }
    pawl_debug_on_fault(NULL);
    pawl_write_lock(&l);
    pawl_write_unlock(&l);
    pawl_lock_forget(&l);
}

static void returns(const char *message)
{
    (void)message;
}

static void a_hook_returns(void)
{
    pawl_debug_on_fault(returns);
    pawl_write_unlock(&a);
}

static void the_program_is_aborted_when_a_hook_returns(void **state)
{
    (void)state;
    int status = run(a_hook_returns);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_null(strstr(text, "pawl:")); /* (an emulator may say something) */
}

static void goes_through_more_locks_than_there_is_room_for(void)
{
    enum { MANY = 80000 };
    lock_t *many = calloc(MANY, sizeof *many);
    for (int i = 0; i < MANY; i++) {
        pawl_write_lock(&a);
        pawl_read_lock(&many[i]);
        pawl_read_unlock(&many[i]);
        pawl_write_unlock(&a);
    }
    struct pawl_stats_lost lost;
    pawl_stats_losses(&lost);
    if (!lost.locks || !lost.orders) {
        abort();
    }
    SECOND_HERE, pawl_read_unlock(&many[MANY - 1]);
}

static void full_tables_weaken_checks_and_invent_no_faults(void **state)
{
    (void)state;
    assert_fault(goes_through_more_locks_than_there_is_room_for, "unlock of a lock that is not held",
                 "the lock at");
    assert_says("the table of addresses was full");
}

static void names_of_any_bytes(void)
{
    pawl_lock_name(&a, "al\npha \x1b[31m\xff \xc3\xa4");
    SECOND_HERE, pawl_write_unlock(&a);
}

/* Names longer than a message, in each of its parts. */
static void names_without_end(void)
{
    static char first[6000], second[6000];
    memset(first, 'x', sizeof first - 1);
    memset(second, '\n', sizeof second - 1);
    pawl_lock_name(&a, first);
    pawl_lock_name(&b, second);
    pawl_write_lock(&a);
    FIRST_HERE, pawl_write_lock(&b);
    pawl_write_unlock(&b);
    pawl_write_unlock(&a);
    pawl_write_lock(&b);
    SECOND_HERE, pawl_write_lock(&a);
}

static void names_are_shown_in_one_line_and_leave_room_for_the_rest(void **state)
{
    (void)state;
    assert_fault(names_of_any_bytes, "unlock of a lock that is not held",
                 "\"al\\npha \\x1b[31m\\xff \xc3\xa4\" (");
    assert_fault(names_without_end, "locks taken in opposite orders", "xxx...\" (");
    assert_says("\\n\\n...\" for write, taken at");
    assert_says("choose one order");
}

static void *both_in_order(void *arg)
{
    for (int i = 0; i < 2000; i++) {
        pawl_read_lock(&a);
        pawl_seek_lock(&b);
        pawl_seek_to_write(&b);
        pawl_write_unlock(&b);
        pawl_read_unlock(&a);
        if (i % 16 == 0) {
            pawl_write_lock(&a);
            pawl_atomic_lock(&c);
            pawl_atomic_unlock(&c);
            pawl_write_unlock(&a);
        }
    }
    return arg;
}

static void threads_use_locks_rightly(void)
{
    pthread_t t[6];
    pawl_lock_name(&a, "alpha");
    for (int i = 0; i < 6; i++) {
        pthread_create(&t[i], NULL, both_in_order, NULL);
    }
    for (int i = 0; i < 6; i++) {
        pthread_join(t[i], NULL);
    }
}

static void many_threads_that_use_locks_rightly_go_unremarked(void **state)
{
    (void)state;
    assert_no_fault(threads_use_locks_rightly);
}

int main(void)
{
    bound_program(280);
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (seen == MAP_FAILED) {
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unlock_of_what_is_not_held_is_caught),
        cmocka_unit_test(a_thread_that_would_wait_for_itself_is_caught),
        cmocka_unit_test(a_trylock_of_what_the_thread_holds_simply_answers),
        cmocka_unit_test(a_transition_from_a_state_not_held_is_caught),
        cmocka_unit_test(every_way_through_the_states_goes_unremarked),
        cmocka_unit_test(a_transition_that_would_wait_for_its_own_thread_is_caught),
        cmocka_unit_test(claims_have_no_order_but_that_of_join),
        cmocka_unit_test(misuse_of_join_claim_and_upgrades_is_caught),
        cmocka_unit_test(one_writer_and_several_on_one_lock_are_caught),
        cmocka_unit_test(locks_taken_in_opposite_orders_are_caught_though_nothing_hangs),
        cmocka_unit_test(use_that_is_right_goes_unremarked),
        cmocka_unit_test(a_lock_taken_by_a_try_counts_as_held_in_the_order),
        cmocka_unit_test(a_thread_that_ends_with_a_lock_held_is_caught),
        cmocka_unit_test(an_assertion_tells_who_holds_what),
        cmocka_unit_test(a_hook_may_take_the_message_and_leave),
        cmocka_unit_test(the_program_is_aborted_when_a_hook_returns),
        cmocka_unit_test(full_tables_weaken_checks_and_invent_no_faults),
        cmocka_unit_test(names_are_shown_in_one_line_and_leave_room_for_the_rest),
        cmocka_unit_test(many_threads_that_use_locks_rightly_go_unremarked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
