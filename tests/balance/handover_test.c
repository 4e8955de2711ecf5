/* One slot, given back by one thread at the very moment at which another asks for it: either the asking one
 * finds it or it is passed on to it, never neither. A litmus test: each round is judged when both are done,
 * so that no later release can hide a loss. */
#include "balance/balance.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define ROUNDS     400000u
#define SECONDS    4 /* as many rounds as a busy machine makes of it */
#define MAX_OFFSET 64

static struct {
    struct bal_backend b;
    bool bound;
    _Alignas(BAL_CACHE_LINE) _Atomic(unsigned) asker_at, giver_at; /* rounds begun */
    _Alignas(BAL_CACHE_LINE) _Atomic(unsigned) asked;              /* rounds the asker is done with */
    _Atomic(bool) over;
    enum bal_pick pick; /* what the asker got in the last round it is done with */
    struct bal_waiter waiter;
} race;

static void meet(_Atomic(unsigned) *mine, _Atomic(unsigned) *other, unsigned round)
{
    atomic_store(mine, round);
    for (unsigned spins = 1; atomic_load(other) < round && !atomic_load(&race.over); spins++) {
        if (spins % 4096 == 0) {
            sched_yield();
        }
    }
}

/* A few nanoseconds for each step, so that the two meet at every offset. */
static void delay(unsigned steps)
{
    for (volatile unsigned i = 0; i < steps; i++) {
    }
}

static void *ask(void *arg)
{
    (void)arg;
    for (unsigned round = 1;; round++) {
        meet(&race.asker_at, &race.giver_at, round);
        if (atomic_load(&race.over)) {
            return NULL;
        }
        delay(round / MAX_OFFSET % MAX_OFFSET);
        race.pick = bal_acquire(&race.b, &race.waiter, race.bound ? &race.b.servers[0] : NULL);
        atomic_store(&race.asked, round);
    }
}

/* True if the round went as it must. The slot is free again afterwards. */
static bool settled(struct bal_waiter *passed)
{
    if (race.pick == BAL_PICKED && !passed) {
        return bal_release(race.waiter.server) == NULL;
    }
    if (race.pick == BAL_QUEUED && passed == &race.waiter) {
        return !bal_passed(passed) && bal_settled(passed) && bal_release(passed->server) == NULL;
    }
    return false;
}

static void race_for_a_slot(bool bound)
{
    time_t end = time(NULL) + SECONDS;
    unsigned lost = 0;
    pthread_t asker;

    memset(&race, 0, sizeof race);
    race.bound = bound;
    assert_true(bal_backend_init(&race.b, 1, 2));
    race.b.servers[0].weight = race.b.servers[0].maxconn = 1;
    assert_true(bal_backend_start(&race.b));
    assert_int_equal(pthread_create(&asker, NULL, ask, NULL), 0);
    for (unsigned round = 1; round <= ROUNDS && !lost && time(NULL) < end; round++) {
        struct bal_waiter held = {0}, *passed;

        if (bal_acquire(&race.b, &held, NULL) != BAL_PICKED) {
            lost = round;
            break;
        }
        meet(&race.giver_at, &race.asker_at, round);
        delay(round % MAX_OFFSET);
        passed = bal_release(held.server);
        for (unsigned spins = 1; atomic_load(&race.asked) < round; spins++) {
            if (spins % 4096 == 0) {
                sched_yield();
            }
        }
        lost = settled(passed) ? 0 : round;
    }
    atomic_store(&race.over, true);
    pthread_join(asker, NULL);
    bal_backend_free(&race.b);
    if (lost) {
        fail_msg("round %u: the slot is free and somebody waits for it", lost);
    }
}

static void a_slot_freed_as_somebody_asks_is_not_lost(void **state)
{
    (void)state;
    race_for_a_slot(false);
}

static void a_bound_servers_slot_freed_as_somebody_asks_is_not_lost(void **state)
{
    (void)state;
    race_for_a_slot(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slot_freed_as_somebody_asks_is_not_lost),
        cmocka_unit_test(a_bound_servers_slot_freed_as_somebody_asks_is_not_lost),
    };

    return cmocka_run_group_tests_name("handover", tests, NULL, NULL);
}
