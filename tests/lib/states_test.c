/* Which states go together, what each transition leaves behind, and the room in the word's counters. One
 * thread suffices: a trylock tells what the lock would let another do. */
#include "lock_under_test.h"

#if LOCK_BITS == 64
_Static_assert(sizeof(lock_t) == 8, "an 8-byte lock");
_Static_assert(_Alignof(lock_t) == 8, "an 8-byte lock, aligned");
#    define LOCK_INIT PAWL_LOCK64_INIT
#else
_Static_assert(sizeof(lock_t) == 4, "a 4-byte lock");
_Static_assert(_Alignof(lock_t) == 4, "a 4-byte lock, aligned");
#    define LOCK_INIT PAWL_LOCK_INIT
#endif

/* compatible[held][asked], as the design has it. */
static const bool compatible[KINDS][KINDS] = {
    [READ] = {[READ] = true, [SEEK] = true},
    [SEEK] = {[READ] = true},
    [ATOMIC] = {[ATOMIC] = true},
};

/* The lock grants exactly what it should beside one holder in state s. */
static void assert_held_as(lock_t *l, enum state s, const char *how)
{
    for (enum state asked = READ; asked < KINDS; asked++) {
        bool got = try_take(l, asked);
        if (got != compatible[s][asked]) {
            fail_msg("%s: beside %s, %s was %s", how, state_names[s], state_names[asked],
                     got ? "granted" : "refused");
        }
        if (got) {
            give(l, asked);
        }
    }
}

static void assert_free(const lock_t *l, const char *how)
{
    if (l->word != 0) {
        fail_msg("%s: the word is %#llx, not initial", how, (unsigned long long)l->word);
    }
}

static void a_zeroed_word_is_a_free_lock(void **state)
{
    (void)state;
    lock_t init = LOCK_INIT, zeroed;
    memset(&zeroed, 0, sizeof zeroed);
    assert_memory_equal(&init, &zeroed, sizeof init);
}

static void states_go_together_as_designed(void **state)
{
    (void)state;
    for (enum state held = READ; held < KINDS; held++) {
        lock_t l = LOCK_INIT;
        take(&l, held);
        assert_held_as(&l, held, "lock");
        give(&l, held);
        assert_free(&l, "unlock");
        assert_true(try_take(&l, held));
        assert_held_as(&l, held, "trylock");
        give(&l, held);
        assert_free(&l, "unlock after trylock");
    }
}

static void a_seek_beside_readers_keeps_out_all_but_readers(void **state)
{
    (void)state;
    lock_t l = LOCK_INIT;
    pawl_read_lock(&l);
    pawl_seek_lock(&l);
    assert_held_as(&l, SEEK, "S beside R");
    pawl_read_unlock(&l);
    assert_held_as(&l, SEEK, "S after R left");
    pawl_seek_unlock(&l);
    assert_free(&l, "unlocks");
}

static void several_share_read_and_atomic(void **state)
{
    (void)state;
    static const enum state shared[] = {READ, ATOMIC};
    for (unsigned i = 0; i < 2; i++) {
        lock_t l = LOCK_INIT;
        for (int n = 0; n < 5; n++) {
            take(&l, shared[i]);
            assert_held_as(&l, shared[i], "one more");
        }
        for (int n = 0; n < 5; n++) {
            assert_held_as(&l, shared[i], "one less");
            give(&l, shared[i]);
        }
        assert_free(&l, "all left");
    }
}

static void each_transition_leaves_exactly_its_state(void **state)
{
    (void)state;
    lock_t l = LOCK_INIT;
    pawl_seek_lock(&l);
    pawl_seek_to_write(&l);
    assert_held_as(&l, WRITE, "S->W");
    pawl_write_to_seek(&l);
    assert_held_as(&l, SEEK, "W->S");
    pawl_seek_to_write(&l);
    pawl_write_to_read(&l);
    assert_held_as(&l, READ, "W->R");
    pawl_read_unlock(&l);
    assert_free(&l, "W->R, unlock");

    pawl_seek_lock(&l);
    pawl_seek_to_read(&l);
    assert_held_as(&l, READ, "S->R");
    assert_true(pawl_seek_trylock(&l));
    pawl_seek_to_read(&l); /* the second one's: two readers now */
    pawl_read_unlock(&l);
    assert_held_as(&l, READ, "S->R twice, one left");
    pawl_read_unlock(&l);
    assert_free(&l, "S->R, unlock");

    pawl_write_lock(&l);
    pawl_write_to_seek(&l);
    pawl_seek_unlock(&l);
    assert_free(&l, "W->S, unlock");
    pawl_seek_lock(&l);
    pawl_seek_to_write(&l);
    pawl_write_unlock(&l);
    assert_free(&l, "S->W, unlock");
}

static void a_refused_trylock_leaves_no_trace(void **state)
{
    (void)state;
    for (enum state held = READ; held < KINDS; held++) {
        lock_t l = LOCK_INIT;
        take(&l, held);
        lock_t before = l;
        for (enum state asked = READ; asked < KINDS; asked++) {
            if (!compatible[held][asked]) {
                assert_false(try_take(&l, asked));
                assert_memory_equal(&l, &before, sizeof l);
            }
        }
        give(&l, held);
    }
}

/* A deadline that has passed still takes what is free, and refuses the rest without a trace. */
static void an_until_whose_deadline_is_past_is_a_try(void **state)
{
    (void)state;
    for (enum state held = READ; held < KINDS; held++) {
        for (enum state asked = READ; asked < KINDS; asked++) {
            lock_t l = LOCK_INIT;
            assert_true(take_until(&l, held, 1));
            assert_held_as(&l, held, "until, past");
            lock_t before = l;
            bool got = take_until(&l, asked, 1);
            if (got != compatible[held][asked]) {
                fail_msg("until, past: beside %s, %s was %s", state_names[held], state_names[asked],
                         got ? "granted" : "refused");
            }
            if (got) {
                give(&l, asked);
            }
            assert_memory_equal(&l, &before, sizeof l);
            give(&l, held);
            assert_free(&l, "unlock");
        }
    }
}

static void each_upgrade_from_read_succeeds_or_leaves_read(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum state to;
        bool beside_reader; /* succeeds though another reads */
    } ways[] = {{"R->S try", SEEK, true},
                {"R->W try", WRITE, false},
                {"R->A try", ATOMIC, false},
                {"R->W until, past", WRITE, false}};
    for (int way = 0; way < 4; way++) {
        for (int other = -1; other < SEEK + 1; other++) { /* nobody, R, S */
            lock_t l = LOCK_INIT;
            if (other >= 0) {
                take(&l, (enum state)other);
            }
            pawl_read_lock(&l);
            lock_t before = l;
            bool got = way == 0   ? pawl_read_try_to_seek(&l)
                       : way == 1 ? pawl_read_try_to_write(&l)
                       : way == 2 ? pawl_read_try_to_atomic(&l)
                                  : pawl_read_to_write_until(&l, 1);
            bool should = other < 0 || (other == READ && ways[way].beside_reader);
            if (got != should) {
                fail_msg("%s beside %s: %d", ways[way].name, other < 0 ? "nobody" : state_names[other], got);
            }
            if (got) {
                assert_held_as(&l, ways[way].to, ways[way].name);
                give(&l, ways[way].to);
            } else {
                assert_memory_equal(&l, &before, sizeof l);
                give(&l, READ);
            }
            if (other >= 0) {
                give(&l, (enum state)other);
            }
            assert_free(&l, ways[way].name);
        }
    }
}

static void an_upgrade_from_seek_whose_deadline_is_past_leaves_seek(void **state)
{
    (void)state;
    lock_t l = LOCK_INIT;
    pawl_read_lock(&l);
    pawl_seek_lock(&l);
    lock_t before = l;
    assert_false(pawl_seek_to_write_until(&l, 1));
    assert_memory_equal(&l, &before, sizeof l);
    assert_held_as(&l, SEEK, "S->W given up");
    pawl_read_unlock(&l);
    assert_true(pawl_seek_to_write_until(&l, 1));
    assert_held_as(&l, WRITE, "S->W until");
    pawl_write_unlock(&l);
    assert_free(&l, "S->W until, unlock");
}

/* One participant alone never waits; each state of the protocol keeps everybody out, but A lets A in. */
static void the_protocol_of_many_writers_leaves_exactly_its_states(void **state)
{
    (void)state;
    lock_t l = LOCK_INIT;
    pawl_read_lock(&l);
    pawl_read_to_join(&l);
    assert_held_as(&l, JOIN, "R->J");
    pawl_join_unlock(&l);
    assert_free(&l, "J unlock");
    pawl_read_lock(&l);
    pawl_read_to_join(&l);
    pawl_join_to_claim(&l);
    assert_held_as(&l, JOIN, "J->C");
    pawl_claim_unlock(&l);
    assert_free(&l, "C unlock");
    pawl_read_lock(&l);
    pawl_read_to_claim(&l);
    assert_held_as(&l, JOIN, "R->C");
    pawl_claim_to_atomic(&l);
    assert_held_as(&l, ATOMIC, "C->A");
    pawl_atomic_to_join(&l);
    assert_held_as(&l, JOIN, "A->J");
    pawl_join_to_claim(&l);
    pawl_claim_to_atomic(&l);
    pawl_atomic_to_read(&l);
    assert_held_as(&l, READ, "A->R");
    pawl_read_unlock(&l);
    assert_free(&l, "A->R unlock");
    pawl_join_lock(&l);
    pawl_join_to_claim(&l);
    pawl_claim_to_atomic(&l);
    assert_true(pawl_last_writer(&l));
    pawl_atomic_lock(&l);
    assert_false(pawl_last_writer(&l));
    pawl_atomic_unlock(&l);
    pawl_atomic_unlock(&l);
    assert_free(&l, "A unlock");
}

static void claims_fail_at_once_when_another_has_the_lock(void **state)
{
    (void)state;
    for (enum state held = READ; held < KINDS; held++) {
        lock_t l = LOCK_INIT;
        take(&l, held);
        lock_t before = l;
        if (held != READ) { /* behind R they wait */
            assert_false(LOCK_F(pawl_write_claim)(&l));
        }
        if (held == SEEK || held == WRITE) {
            assert_false(LOCK_F(pawl_atomic_claim)(&l));
        }
        assert_memory_equal(&l, &before, sizeof l);
        give(&l, held);
        assert_free(&l, "claims refused");
    }
    lock_t l = LOCK_INIT;
    assert_true(LOCK_F(pawl_write_claim)(&l));
    assert_held_as(&l, WRITE, "claim of W");
    pawl_write_unlock(&l);
    assert_true(LOCK_F(pawl_join_claim)(&l));
    assert_held_as(&l, JOIN, "claim of J");
    pawl_join_unlock(&l);
    assert_true(LOCK_F(pawl_atomic_claim)(&l));
    assert_held_as(&l, ATOMIC, "claim of A");
    assert_true(LOCK_F(pawl_atomic_claim)(&l));
    pawl_atomic_unlock(&l);
    pawl_atomic_unlock(&l);
    pawl_read_lock(&l);
    assert_true(LOCK_F(pawl_read_claim_write)(&l));
    assert_held_as(&l, WRITE, "R claims W");
    pawl_write_to_read(&l);
    assert_true(LOCK_F(pawl_read_claim_atomic)(&l));
    assert_held_as(&l, ATOMIC, "R claims A");
    pawl_atomic_unlock(&l);
    assert_free(&l, "claims given back");
    pawl_seek_lock(&l);
    pawl_read_lock(&l);
    assert_false(LOCK_F(pawl_read_claim_write)(&l));
    assert_false(LOCK_F(pawl_read_claim_atomic)(&l));
    pawl_seek_unlock(&l);
    assert_held_as(&l, READ, "claims from R refused");
    pawl_read_unlock(&l);
    assert_free(&l, "claims from R refused");
}

static void a_holder_need_not_say_whether_it_read_or_wrote(void **state)
{
    (void)state;
    lock_t l = LOCK_INIT;
    LOCK_F(pawl_read_lock_exact)(&l);
    LOCK_F(pawl_read_lock_exact)(&l);
    assert_held_as(&l, READ, "exact R");
    LOCK_F(pawl_unlock_any)(&l);
    assert_held_as(&l, READ, "one of two R left");
    LOCK_F(pawl_unlock_any)(&l);
    assert_free(&l, "R given back unsaid");
    pawl_write_lock(&l);
    LOCK_F(pawl_unlock_any)(&l);
    assert_free(&l, "W given back unsaid");
}

static void the_questions_tell_what_is_held(void **state)
{
    (void)state;
    for (enum state held = READ; held < KINDS; held++) {
        lock_t l = LOCK_INIT;
        const lock_t *asked = &l;
        take(&l, held);
        assert_true(pawl_read_is_held(asked) == (held == READ || held == JOIN));
        assert_true(pawl_seek_is_held(asked) == (held == SEEK));
        assert_true(pawl_write_is_held(asked) == (held == WRITE));
        assert_true(pawl_atomic_is_held(asked) == (held == ATOMIC || held == JOIN));
        give(&l, held);
        assert_false(pawl_read_is_held(asked) || pawl_seek_is_held(asked) || pawl_write_is_held(asked) ||
                     pawl_atomic_is_held(asked));
    }
}

/* As many holders as promised are counted right, each way. */
static void counts_up_to_8191_holders(void **state)
{
    (void)state;
    static const enum state shared[] = {READ, ATOMIC};
    for (unsigned i = 0; i < 2; i++) {
        lock_t l = LOCK_INIT;
        for (int n = 0; n < 8191; n++) {
            take(&l, shared[i]);
        }
        assert_held_as(&l, shared[i], "8191 holders");
        for (int n = 0; n < 8190; n++) {
            give(&l, shared[i]);
        }
        assert_held_as(&l, shared[i], "the last of 8191");
        give(&l, shared[i]);
        assert_free(&l, "8191 left");
    }
}

/* All threads may be in the first step of a lock operation at once, each counted for a moment on top of those
 * inside: with one holder and the rest arriving, in either counter, nothing spills. */
static void counters_hold_all_threads_arriving_at_once(void **state)
{
    (void)state;
#if LOCK_BITS == 64
    const uint64_t threads = ((uint64_t)1 << 28) - 1;
#else
    const uint32_t threads = 8191;
#endif
    static const enum state shared[] = {READ, ATOMIC};
    for (unsigned i = 0; i < 2; i++) {
        lock_t one = LOCK_INIT, l = LOCK_INIT;
        take(&one, shared[i]);
        for (enum state held = READ; held < KINDS; held++) {
            take(&l, held);
            lock_t before = l;
            l.word = (__typeof__(l.word))(l.word + (threads - 1) * one.word);
            assert_true(l.word > before.word);
            if (held == WRITE || held == SEEK) {
                assert_false(try_take(&l, SEEK));
                assert_false(try_take(&l, WRITE));
            }
            l.word = (__typeof__(l.word))(l.word - (threads - 1) * one.word);
            give(&l, held);
            assert_free(&l, "counted up and down");
        }
        l.word = (__typeof__(l.word))(threads * one.word);
        assert_held_as(&l, shared[i], "all of them holders");
    }
}

int main(void)
{
    bound_program(60);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_zeroed_word_is_a_free_lock),
        cmocka_unit_test(states_go_together_as_designed),
        cmocka_unit_test(a_seek_beside_readers_keeps_out_all_but_readers),
        cmocka_unit_test(several_share_read_and_atomic),
        cmocka_unit_test(each_transition_leaves_exactly_its_state),
        cmocka_unit_test(a_refused_trylock_leaves_no_trace),
        cmocka_unit_test(an_until_whose_deadline_is_past_is_a_try),
        cmocka_unit_test(each_upgrade_from_read_succeeds_or_leaves_read),
        cmocka_unit_test(an_upgrade_from_seek_whose_deadline_is_past_leaves_seek),
        cmocka_unit_test(the_protocol_of_many_writers_leaves_exactly_its_states),
        cmocka_unit_test(claims_fail_at_once_when_another_has_the_lock),
        cmocka_unit_test(a_holder_need_not_say_whether_it_read_or_wrote),
        cmocka_unit_test(the_questions_tell_what_is_held),
        cmocka_unit_test(counts_up_to_8191_holders),
        cmocka_unit_test(counters_hold_all_threads_arriving_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
