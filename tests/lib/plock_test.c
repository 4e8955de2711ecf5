/* The plock interface (pawl/plock.h) over each type of word that a program may use: what each macro does,
 * what it waits for, what it returns, and that the application's two bits stay the application's. */
#include "lock_under_test.h"
#include "pawl/plock.h"

#include <sys/mman.h>

#define CROWD        5
#define CROWD_ROUNDS 4000

enum plock_state { PLOCK_R, PLOCK_S, PLOCK_W, PLOCK_A, PLOCK_J, PLOCK_C, PLOCK_STATES };
static const char *const plock_names[PLOCK_STATES] = {"R", "S", "W", "A", "J", "C"};

/* A thread that asks for something once and keeps the answer. */
struct actor {
    int (*ask)(void *);
    void *word;
    int ready, done, answer;
    pthread_t thread;
};

static void *actor_main(void *arg)
{
    struct actor *a = arg;
    __atomic_store_n(&a->ready, 1, __ATOMIC_RELEASE);
    a->answer = a->ask(a->word);
    __atomic_store_n(&a->done, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void actor_start(struct actor *a, int (*ask)(void *), void *word)
{
    memset(a, 0, sizeof *a);
    a->ask = ask;
    a->word = word;
    assert_int_equal(pthread_create(&a->thread, NULL, actor_main, a), 0);
    assert_true(reaches(&a->ready, 1));
}

static bool actor_is_done(struct actor *a)
{
    return __atomic_load_n(&a->done, __ATOMIC_ACQUIRE);
}

static int actor_end(struct actor *a)
{
    assert_true(reaches(&a->done, 1));
    pthread_join(a->thread, NULL);
    return a->answer;
}

/* What a thread of a crowd is given, and counts. */
struct crowd_arg {
    void *crowd;
    unsigned seed, bits;
    unsigned long writes, adds, faults;
};

static unsigned plock_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

/* clang-format off */
#define T int
#define NAME(x) int_##x
#include "plock_one_type.h"
#undef T
#undef NAME
#define T unsigned
#define NAME(x) unsigned_##x
#include "plock_one_type.h"
#undef T
#undef NAME
#define T long
#define NAME(x) long_##x
#include "plock_one_type.h"
#undef T
#undef NAME
#define T unsigned long
#define NAME(x) unsigned_long_##x
#include "plock_one_type.h"
#undef T
#undef NAME
#define T void *
#define NAME(x) pointer_##x
#include "plock_one_type.h"
#undef T
#undef NAME
/* clang-format on */

#define TESTS_OF(type)                                                                    \
    cmocka_unit_test(type##_each_state_leaves_the_applications_bits),                     \
        cmocka_unit_test(type##_the_application_changes_its_bits_while_the_lock_is_held), \
        cmocka_unit_test(type##_tries_fail_at_once_beside_who_may_stay),                  \
        cmocka_unit_test(type##_tries_get_a_free_lock),                                   \
        cmocka_unit_test(type##_each_transition_leaves_exactly_its_state),                \
        cmocka_unit_test(type##_a_refused_upgrade_leaves_the_caller_reading),             \
        cmocka_unit_test(type##_last_writer_is_who_is_alone),                             \
        cmocka_unit_test(type##_some_tries_wait_for_the_readers),                         \
        cmocka_unit_test(type##_readers_become_atomic_together),                          \
        cmocka_unit_test(type##_the_applications_bits_survive_a_crowd),                   \
        cmocka_unit_test(type##_readers_join_claim_and_change_together),                  \
        cmocka_unit_test(type##_an_arriving_reader_does_not_keep_the_claim_phase_open),   \
        cmocka_unit_test(type##_nothing_beyond_the_word_is_touched),                      \
        cmocka_unit_test(type##_arguments_are_evaluated_once)
#define WRITER_TEST_OF(type) cmocka_unit_test(type##_a_writer_gets_through_upgraders)

int main(void)
{
    bound_program(240);
    const struct CMUnitTest tests[] = {
        TESTS_OF(int),
        TESTS_OF(unsigned),
        TESTS_OF(long),
        TESTS_OF(unsigned_long),
        TESTS_OF(pointer),
#if WAITERS_SLEEP /* those that only spin may starve */
        WRITER_TEST_OF(int),
        WRITER_TEST_OF(unsigned),
        WRITER_TEST_OF(long),
        WRITER_TEST_OF(unsigned_long),
        WRITER_TEST_OF(pointer),
#endif
    };
#if !WAITERS_SLEEP
    (void)int_a_writer_gets_through_upgraders, (void)unsigned_a_writer_gets_through_upgraders;
    (void)long_a_writer_gets_through_upgraders, (void)unsigned_long_a_writer_gets_through_upgraders;
    (void)pointer_a_writer_gets_through_upgraders;
#endif
    return cmocka_run_group_tests(tests, NULL, NULL);
}
