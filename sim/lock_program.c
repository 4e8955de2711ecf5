/* A thread's operations on the lock's own source, and what must hold. Built for each kind of lock: LOCK_BITS,
 * and PAWL_DISABLE_PARK for one whose waiters only spin; LOCK_NAME is what it is called.
 *
 * What the holders do with data is what their states allow, so that two that must not be inside together are
 * a data race, inside or just after (an unlock that releases too little is one, too): readers and seekers
 * read SIM_DATA and SIM_SHARED, a seeker writes SIM_SEEKER, a writer writes all three, an atomic holder reads
 * SIM_DATA and changes SIM_SHARED by atomic operations. */
#define PAWL_BACKEND_HEADER "sim/backend.h"
#include "pawl/lock.h"
#include "sim/program.h"

#if LOCK_BITS == 64
typedef pawl_lock64_t lock_t;
#    define F(name) pawl_##name##_64
#else
typedef pawl_lock_t lock_t;
#    define F(name) pawl_##name##_32
#endif

/* The clock's leaps are far larger than this, and it begins at less. */
#define DEADLINE 5000u

struct self {
    enum sim_held held;
    uint64_t seen; /* what the data were when they could not be changed by others any more */
};

/* Functions with one shape. */
#define VOID_(name)                  \
    static bool do_##name(lock_t *l) \
    {                                \
        F(name)(l);                  \
        return true;                 \
    }
#define BOOL_(name)                  \
    static bool do_##name(lock_t *l) \
    {                                \
        return F(name)(l);           \
    }
#define UNTIL_(name)                 \
    static bool do_##name(lock_t *l) \
    {                                \
        return F(name)(l, DEADLINE); \
    }
VOID_(read_lock)
VOID_(read_lock_exact)
VOID_(read_unlock)
VOID_(seek_lock)
VOID_(seek_unlock)
VOID_(write_lock)
VOID_(write_unlock)
VOID_(atomic_lock)
VOID_(atomic_unlock)
VOID_(join_lock)
VOID_(join_unlock)
VOID_(claim_unlock)
VOID_(seek_to_write)
VOID_(seek_to_read)
VOID_(write_to_seek)
VOID_(write_to_read)
VOID_(read_to_join)
VOID_(read_to_claim)
VOID_(join_to_claim)
VOID_(claim_to_atomic)
VOID_(atomic_to_read)
VOID_(atomic_to_join)
BOOL_(read_trylock)
BOOL_(seek_trylock)
BOOL_(write_trylock)
BOOL_(atomic_trylock)
BOOL_(join_trylock)
BOOL_(read_try_to_seek)
BOOL_(read_try_to_write)
BOOL_(read_try_to_atomic)
BOOL_(write_claim)
BOOL_(atomic_claim)
BOOL_(join_claim)
BOOL_(read_claim_write)
BOOL_(read_claim_atomic)
UNTIL_(read_lock_until)
UNTIL_(seek_lock_until)
UNTIL_(write_lock_until)
UNTIL_(atomic_lock_until)
UNTIL_(join_lock_until)
UNTIL_(seek_to_write_until)
UNTIL_(read_to_write_until)

static const struct operation {
    bool (*run)(lock_t *l);
    enum sim_held needs, gives;
} operations[SIM_OP_unlock] = {
#define ROW_(name, needs, gives) {do_##name, SIM_##needs, SIM_##gives},
    SIM_OPERATIONS_(ROW_)
#undef ROW_
};

static const enum sim_operation_name unlocks[] = {
    [SIM_R] = SIM_OP_read_unlock,   [SIM_S] = SIM_OP_seek_unlock, [SIM_W] = SIM_OP_write_unlock,
    [SIM_A] = SIM_OP_atomic_unlock, [SIM_J] = SIM_OP_join_unlock, [SIM_C] = SIM_OP_claim_unlock};

/* What a holder may do; `same`: nobody can have written since the data were seen. */
static void use(struct self *me, bool same)
{
    switch (me->held) {
    case SIM_R:
    case SIM_S: {
        uint64_t now = sim_read_data(SIM_DATA);
        sim_check(!same || now == me->seen, "another wrote before a transition was over");
        me->seen = now;
        (void)sim_read_data(SIM_SHARED);
        if (me->held == SIM_S) {
            sim_write_data(SIM_SEEKER, sim_self());
        }
        break;
    }
    case SIM_W:
        sim_check(!same || sim_read_data(SIM_DATA) == me->seen, "another wrote before a transition was over");
        me->seen = sim_self() + 1;
        sim_write_data(SIM_DATA, me->seen);
        sim_write_data(SIM_SEEKER, sim_self());
        sim_write_data(SIM_SHARED, 0);
        break;
    case SIM_A:
        (void)sim_read_data(SIM_DATA);
        (void)sim_fetch_add(SIM_SHARED, 1, UINT64_MAX, SIM_RELAXED);
        break;
    case SIM_J:
    case SIM_C:
    case SIM_FREE:
    default:
        break;
    }
}

/* Questions are never answered with no for the holder that asks; and who has S or W has not the other. */
static void ask(const lock_t *l, enum sim_held held)
{
    static bool (*const questions[])(const lock_t *) = {
        [SIM_R] = F(read_is_held),   [SIM_S] = F(seek_is_held),   [SIM_W] = F(write_is_held),
        [SIM_A] = F(atomic_is_held), [SIM_J] = F(atomic_is_held), [SIM_C] = F(atomic_is_held)};
    if (held != SIM_FREE) {
        sim_check(questions[held](l), "held, but the lock says no");
        sim_check(held != SIM_W || !F(seek_is_held)(l), "held for write, but the lock says for seek");
        sim_check(held != SIM_S || !F(write_is_held)(l), "held for seek, but the lock says for write");
    }
}

static bool has_deadline(unsigned op)
{
    switch (op) {
#define UNTIL_OP_(name) case SIM_OP_##name:
        UNTIL_OP_(read_lock_until)
        UNTIL_OP_(seek_lock_until)
        UNTIL_OP_(write_lock_until)
        UNTIL_OP_(atomic_lock_until)
        UNTIL_OP_(join_lock_until)
        UNTIL_OP_(seek_to_write_until)
        UNTIL_OP_(read_to_write_until)
#undef UNTIL_OP_
        return true;
    default:
        return false;
    }
}

static void begin(unsigned op, unsigned number, const struct sim_bounds *bounds)
{
    struct sim_bounds b = *bounds;
    b.leaps = b.patient && !has_deadline(op) ? 0 : b.leaps;
    sim_operation(number, &b);
}

static void one(lock_t *l, struct self *me, unsigned op, unsigned number, const struct sim_bounds *bounds)
{
    if (op == SIM_OP_is_held) {
        begin(op, number, bounds);
        ask(l, me->held);
        return;
    }
    if (op == SIM_OP_signal) {
        begin(op, number, bounds);
        sim_store(SIM_SIGNAL, 1, SIM_RELAXED);
        return;
    }
    if (op == SIM_OP_await) {
        begin(op, number, bounds);
        while (!sim_load(SIM_SIGNAL, SIM_RELAXED)) {
            sim_pause(true);
        }
        return;
    }
    if (op == SIM_OP_unlock_any) {
        if (me->held == SIM_R || me->held == SIM_W) {
            begin(op, number, bounds);
            F(unlock_any)(l);
            me->held = SIM_FREE;
        }
        return;
    }
    if (op == SIM_OP_unlock) {
        if (me->held == SIM_FREE) {
            return;
        }
        op = unlocks[me->held];
    }
    const struct operation *o = &operations[op];
    if (me->held != o->needs) {
        return;
    }
    begin(op, number, bounds);
    bool got = o->run(l), writers = o->needs != SIM_FREE && o->gives <= SIM_W && o->needs <= SIM_W;
    me->held = got ? o->gives : o->needs;
    use(me, writers);
}

static void run(unsigned thread, const void *program)
{
    const struct sim_program *p = program;
    lock_t *l = sim_word(SIM_WORD);
    struct self me = {SIM_FREE, 0};
    for (unsigned i = 0; i < p->count[thread]; i++) {
        one(l, &me, p->op[thread][i], i + 1, &p->bounds);
    }
    one(l, &me, SIM_OP_unlock, p->count[thread] + 1, &p->bounds);
}

#ifdef PAWL_DISABLE_PARK
#    define SLEEPS false
#else
#    define SLEEPS true
#endif
#define TEXT_(name)   #name
#define TEXT(name)    TEXT_(name)
#define OBJECT_(name) sim_lock_##name
#define OBJECT(name)  OBJECT_(name)
const struct sim_lock OBJECT(LOCK_NAME) = {TEXT(LOCK_NAME), LOCK_BITS, SLEEPS, run};
