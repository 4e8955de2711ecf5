/* The atomic operations of pawl/plock_atomic.h: each one, in each memory order, on words of 1, 2, 4 and 8
 * bytes, signed and not, and on pointers; their values; and that several threads lose nothing. */
#include "lock_under_test.h"
#include "pawl/plock.h"

/* Does `expression`, which changes `word` from `before` to `after`, and compares its value. */
#define CHANGES(T, before, expression, value, after)                                           \
    do {                                                                                       \
        T word = (T)(before);                                                                  \
        if ((expression) != (value) || word != (T)(after)) {                                   \
            fail_msg("%s on %s of %d: %lld", #expression, #T, (int)(before), (long long)word); \
        }                                                                                      \
    } while (0)
#define CHANGES_ONLY(T, before, statement, after)                                             \
    do {                                                                                      \
        T word = (T)(before);                                                                 \
        statement;                                                                            \
        if (word != (T)(after)) {                                                             \
            fail_msg("%s on %s of %d: %lld", #statement, #T, (int)(before), (long long)word); \
        }                                                                                     \
    } while (0)

/* In the orders that each has: all four; and _relc besides. */
#define ORDERS_1(X, T, name) \
    X(T, name)               \
    X(T, name##_lax)         \
    X(T, name##_acq)         \
    X(T, name##_rel)
#define ORDERS(X, T, name) \
    ORDERS_1(X, T, name)   \
    X(T, name##_relc)

#define INC(T, op)                  \
    CHANGES(T, 5, op(&word), 1, 6); \
    CHANGES(T, -1, op(&word), 0, 0);
#define DEC(T, op)                  \
    CHANGES(T, 5, op(&word), 1, 4); \
    CHANGES(T, 1, op(&word), 0, 0);
#define INC_NORET(T, op) CHANGES_ONLY(T, 5, op(&word), 6);
#define DEC_NORET(T, op) CHANGES_ONLY(T, 5, op(&word), 4);
#define ADD(T, op)       CHANGES(T, 5, op(&word, 3), 8, 8);
#define SUB(T, op)       CHANGES(T, 5, op(&word, 3), 2, 2);
#define AND(T, op)       CHANGES(T, 5, op(&word, 6), 4, 4);
#define OR(T, op)        CHANGES(T, 5, op(&word, 6), 7, 7);
#define XOR(T, op)       CHANGES(T, 5, op(&word, 6), 3, 3);
#define ADD_NORET(T, op) CHANGES_ONLY(T, 5, op(&word, 3), 8);
#define SUB_NORET(T, op) CHANGES_ONLY(T, 5, op(&word, 3), 2);
#define AND_NORET(T, op) CHANGES_ONLY(T, 5, op(&word, 6), 4);
#define OR_NORET(T, op)  CHANGES_ONLY(T, 5, op(&word, 6), 7);
#define XOR_NORET(T, op) CHANGES_ONLY(T, 5, op(&word, 6), 3);
#define LDADD(T, op)     CHANGES(T, 5, op(&word, 3), 5, 8);
#define LDSUB(T, op)     CHANGES(T, 5, op(&word, 3), 5, 2);
#define LDAND(T, op)     CHANGES(T, 5, op(&word, 6), 5, 4);
#define LDOR(T, op)      CHANGES(T, 5, op(&word, 6), 5, 7);
#define LDXOR(T, op)     CHANGES(T, 5, op(&word, 6), 5, 3);
#define BTS(T, op)                      \
    CHANGES(T, 5, !op(&word, 1), 1, 7); \
    CHANGES(T, 5, !op(&word, 2), 0, 5); \
    CHANGES(T, 0, !op(&word, sizeof word * 8 - 1), 1, (T)((uint64_t)1 << (sizeof word * 8 - 1)));
#define BTR(T, op)                      \
    CHANGES(T, 5, !op(&word, 1), 1, 5); \
    CHANGES(T, 5, !op(&word, 2), 0, 1);

#define TEST_OF(T, name)                                \
    static void every_operation_on_##name(void **state) \
    {                                                   \
        (void)state;                                    \
        ORDERS_1(INC, T, pl_inc)                        \
        ORDERS_1(DEC, T, pl_dec)                        \
        ORDERS(INC_NORET, T, pl_inc_noret)              \
        ORDERS(DEC_NORET, T, pl_dec_noret)              \
        ORDERS(ADD, T, pl_add)                          \
        ORDERS(SUB, T, pl_sub)                          \
        ORDERS(AND, T, pl_and)                          \
        ORDERS(OR, T, pl_or)                            \
        ORDERS(XOR, T, pl_xor)                          \
        ORDERS_1(ADD_NORET, T, pl_add_noret)            \
        ORDERS_1(SUB_NORET, T, pl_sub_noret)            \
        ORDERS_1(AND_NORET, T, pl_and_noret)            \
        ORDERS_1(OR_NORET, T, pl_or_noret)              \
        ORDERS_1(XOR_NORET, T, pl_xor_noret)            \
        ORDERS(LDADD, T, pl_ldadd)                      \
        ORDERS(LDSUB, T, pl_ldsub)                      \
        ORDERS(LDAND, T, pl_ldand)                      \
        ORDERS(LDOR, T, pl_ldor)                        \
        ORDERS(LDXOR, T, pl_ldxor)                      \
        ORDERS_1(BTS, T, pl_bts)                        \
        ORDERS_1(BTR, T, pl_btr)                        \
        LDADD(T, pl_xadd)                               \
        CHANGES(T, 5, pl_xchg(&word, 9), 5, 9);         \
        CHANGES(T, 5, pl_cmpxchg(&word, 5, 9), 5, 9);   \
        CHANGES(T, 5, pl_cmpxchg(&word, 4, 9), 5, 5);   \
        CHANGES(T, 5, pl_load(&word), 5, 5);            \
        CHANGES(T, 5, pl_load_lax(&word), 5, 5);        \
        CHANGES_ONLY(T, 5, pl_store(&word, 9), 9);      \
        CHANGES_ONLY(T, 5, pl_store_lax(&word, 9), 9);  \
    }

/* clang-format off */
TEST_OF(int8_t, int8)
TEST_OF(uint8_t, uint8)
TEST_OF(short, short)
TEST_OF(unsigned short, unsigned_short)
TEST_OF(int, int)
TEST_OF(unsigned, unsigned)
TEST_OF(long, long)
TEST_OF(unsigned long, unsigned_long)
TEST_OF(long long, long_long)
TEST_OF(volatile unsigned, volatile)
/* clang-format on */

/* Bytes are what a pointer counts in. */
static void operations_on_pointers(void **state)
{
    (void)state;
    char room[16];
    char *p = room, *const other = room + 8;
    void *v = room;
    assert_ptr_equal(pl_add(&p, 4), room + 4);
    assert_ptr_equal(pl_ldadd(&p, 4), room + 4);
    assert_ptr_equal(pl_sub(&p, 8), room);
    assert_ptr_equal(pl_xchg(&p, other), room);
    assert_ptr_equal(pl_cmpxchg(&p, other, NULL), other);
    assert_null(pl_load(&p));
    pl_store(&p, other);
    assert_ptr_equal(pl_load_lax(&p), other);
    pl_or_noret(&v, 1);
    assert_true((uintptr_t)pl_and(&v, ~1L) == (uintptr_t)room);
    assert_false(pl_bts(&v, 0));
    assert_true(pl_btr(&v, 0));
    assert_ptr_equal(v, room);
    long longs[4], *step = longs;
    assert_ptr_equal(pl_add(&step, sizeof *longs), longs + 1);
    assert_ptr_equal(pl_xadd(&v, 3), room);
}

/* The neighbours of a small word are not touched. */
static void a_small_word_has_its_neighbours_left_alone(void **state)
{
    (void)state;
    struct {
        uint8_t before, word, after;
    } s = {0xff, 0xff, 0xff};
    assert_false(pl_inc(&s.word));
    assert_true(pl_dec(&s.word));
    pl_and_noret(&s.word, 0);
    pl_add_noret(&s.word, 300);
    assert_true(s.before == 0xff && s.word == (uint8_t)300 && s.after == 0xff);
}

static void each_argument_is_evaluated_once(void **state)
{
    (void)state;
    int words[8] = {0}, *p = words, x = 1;
    pl_add(p++, x++), pl_inc(p++), pl_xchg(p++, x++), pl_cmpxchg(p++, 0, x++), pl_store(p++, x++);
    pl_bts(p++, x++), pl_or_noret(p++, x++);
    assert_ptr_equal(p, words + 7);
    assert_int_equal(pl_load(p++), 0);
    assert_int_equal(x, 7);
    static const int expected[8] = {1, 1, 2, 3, 4, 1 << 5, 6, 0};
    assert_memory_equal(words, expected, sizeof words);
}

/* Barriers are statements and expressions alike, and harmless. */
static void barriers_can_stand_anywhere(void **state)
{
    (void)state;
    int seen = 0;
    pl_mb(), pl_mb_load(), pl_mb_store(), pl_mb_ato(), pl_mb_ato_load(), pl_mb_ato_store();
    if (seen == 0)
        pl_barrier();
    else
        pl_cpu_relax();
    seen = (pl_cpu_relax(), 1);
    assert_int_equal(seen, 1);
}

struct counters {
    uint8_t small;
    short middle;
    unsigned word;
    long wide;
};

static void *count_main(void *arg)
{
    struct counters *c = arg;
    for (int i = 0; i < 10000; i++) {
        pl_inc_noret_lax(&c->small);
        pl_add_noret(&c->middle, 3);
        pl_dec_noret(&c->word);
        for (long seen = pl_load(&c->wide), was; (was = pl_cmpxchg(&c->wide, seen, seen + 5)) != seen;
             seen = was) {
        }
    }
    return NULL;
}

static void threads_lose_nothing(void **state)
{
    (void)state;
    struct counters c = {0, 0, 0, 0};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, count_main, &c), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(c.small, (uint8_t)40000);
    assert_int_equal(c.middle, (short)(unsigned short)120000);
    assert_true(c.word == 0u - 40000u);
    assert_true(c.wide == 200000);
}

int main(void)
{
    bound_program(60);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_on_int8),
        cmocka_unit_test(every_operation_on_uint8),
        cmocka_unit_test(every_operation_on_short),
        cmocka_unit_test(every_operation_on_unsigned_short),
        cmocka_unit_test(every_operation_on_int),
        cmocka_unit_test(every_operation_on_unsigned),
        cmocka_unit_test(every_operation_on_long),
        cmocka_unit_test(every_operation_on_unsigned_long),
        cmocka_unit_test(every_operation_on_long_long),
        cmocka_unit_test(every_operation_on_volatile),
        cmocka_unit_test(operations_on_pointers),
        cmocka_unit_test(a_small_word_has_its_neighbours_left_alone),
        cmocka_unit_test(each_argument_is_evaluated_once),
        cmocka_unit_test(barriers_can_stand_anywhere),
        cmocka_unit_test(threads_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
