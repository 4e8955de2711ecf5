/* What the headers call around each operation: keeps the thread's holds, counts for PAWL_STATS, has
 * PAWL_DEBUG's checks made. */
#include "internal.h"

/* A transition cannot be tried first: it has waited when it took longer than this. */
#define WAIT_NS 500u

static bool counts(unsigned op)
{
    return lib_op_mode(op) & PAWL_WATCH_STATS;
}

static bool checks(unsigned op)
{
    return lib_op_mode(op) & PAWL_WATCH_DEBUG;
}

/* What the operation counts under. */
static struct lib_cell *cell_of(struct lib_thread *t, struct lib_ref ref, uint32_t site, unsigned state)
{
    return pawl_lib_cell(t, ref.class_ != LIB_NO_CLASS ? ref.class_ : pawl_lib_site_class(site), state);
}

static uint8_t in_family(unsigned state)
{
    return state == PAWL_STATE_SEEK || state == PAWL_STATE_WRITE   ? 1
           : state == PAWL_STATE_JOIN || state == PAWL_STATE_CLAIM ? 2
                                                                   : 0;
}

static void describe(struct lib_hold *h, struct lib_ref ref, unsigned op, uint32_t site, uint64_t now)
{
    h->class_ = ref.class_ != LIB_NO_CLASS ? ref.class_
                : counts(op)               ? pawl_lib_site_class(site)
                                           : LIB_NO_CLASS;
    h->named = ref.class_ == LIB_OTHER_CLASS ? LIB_NO_CLASS : ref.class_;
    h->record = ref.record ? pawl_lib_record_index(ref.record) + 1 : 0;
    h->site = site;
    h->state = (uint8_t)lib_op_state(op);
    h->mode = (uint8_t)lib_op_mode(op);
    h->since = now;
}

/* The thread has the lock. */
static void put(struct lib_thread *t, const void *lock, struct lib_ref ref, unsigned op, uint32_t site,
                uint64_t now, uint8_t inside)
{
    const unsigned state = lib_op_state(op);
    struct lib_hold *h = NULL;
    if (in_family(state) == 1 && (h = pawl_lib_held(t, lock, state))) {
        lib_count_loss(strays); /* given back by code that is not watched */
    } else if (t->depth < LIB_HOLDS) {
        h = &t->holds[t->depth++];
    }
    if (!h) {
        t->unlisted++;
        lib_count_loss(holds);
        return;
    }
    describe(h, ref, op, site, now);
    h->address = (uintptr_t)lock;
    h->inside = inside;
}

static void count_end(struct lib_thread *t, const struct lib_hold *h, uint64_t now)
{
    if ((h->mode & PAWL_WATCH_STATS) && h->class_ != LIB_NO_CLASS) {
        struct lib_cell *c = pawl_lib_cell(t, h->class_, h->state);
        if (c) {
            pawl_lib_count_held(c, now - h->since);
        }
    }
}

void pawl_watch_asks_(const void *lock, unsigned op, struct pawl_site *site)
{
    struct lib_thread *t = pawl_lib_enter();
    if (t) {
        pawl_lib_check_ask(t, lock, op, pawl_lib_site_id(site));
        pawl_lib_leave();
    }
}

void pawl_watch_took_(const void *lock, unsigned op, struct pawl_site *s, uint64_t since)
{
    const uint64_t now = pawl_clock_ns();
    const unsigned state = lib_op_state(op);
    struct lib_thread *t = pawl_lib_enter();
    if (!t) {
        return;
    }
    uint32_t site = pawl_lib_site_id(s);
    struct lib_ref ref = pawl_lib_find(lock, checks(op));
    struct lib_cell *c = counts(op) ? cell_of(t, ref, site, state) : NULL;
    uint8_t inside = 0;
    if (c) {
        pawl_lib_count_took(c, lib_event_of(t->id, site, state), now);
        if (since) {
            pawl_lib_count_wait(c, now - since);
        }
    }
    if (checks(op)) {
        inside = lib_op_how(op) == PAWL_HOW_TRY ? pawl_lib_goes_in(t, lock, state, site) : in_family(state);
        if (ref.record) {
            lib_set(&ref.record->taken, lib_event_of(t->id, site, state));
        }
    }
    put(t, lock, ref, op, site, now, inside);
    pawl_lib_leave();
}

void pawl_watch_missed_(const void *lock, unsigned op, struct pawl_site *s, uint64_t since)
{
    struct lib_thread *t = pawl_lib_enter();
    if (!t) {
        return;
    }
    if (checks(op) && lib_op_how(op) != PAWL_HOW_TRY) {
        pawl_lib_goes_out(lock, in_family(lib_op_state(op)));
    }
    uint32_t site = pawl_lib_site_id(s);
    struct lib_cell *c = counts(op) ? cell_of(t, pawl_lib_find(lock, false), site, lib_op_state(op)) : NULL;
    /* A claim mostly fails at once, but join's may have waited. */
    uint64_t waited = since ? pawl_clock_ns() - since : 0;
    bool claim = lib_op_how(op) == PAWL_HOW_CLAIM;
    if (c && since && (!claim || waited >= WAIT_NS)) {
        pawl_lib_count_wait(c, waited);
    }
    if (c) {
        pawl_lib_bump(since && !claim ? &c->n.expired : &c->n.failed, 1);
    }
    pawl_lib_leave();
}

void pawl_watch_gives_(const void *lock, unsigned op, struct pawl_site *s)
{
    const uint64_t now = pawl_clock_ns();
    struct lib_thread *t = pawl_lib_enter();
    if (!t) {
        return;
    }
    struct lib_hold *h = pawl_lib_held(t, lock, lib_op_state(op));
    if (checks(op) && (h || t->unlisted)) {
        struct lib_lock *record = pawl_lib_find(lock, false).record;
        if (record) {
            lib_set(&record->given, lib_event_of(t->id, pawl_lib_site_id(s), lib_op_state(op)));
        }
    }
    if (h) {
        count_end(t, h, now);
        pawl_lib_goes_out(lock, h->inside);
        pawl_lib_drop(t, h);
    } else if (t->unlisted) {
        t->unlisted--;
        pawl_lib_goes_out(lock, checks(op) ? in_family(lib_op_state(op)) : 0);
    } else if (checks(op)) {
        pawl_lib_check_unlock(t, lock, op, pawl_lib_site_id(s));
    } else {
        lib_count_loss(strays);
    }
    pawl_lib_leave();
}

/* The families change with the state: before a transition that cannot fail or that may wait, after one that
 * is a try. What is left must be left before the word changes, what is entered may be entered early. */
static void change_family(struct lib_thread *t, const void *lock, struct lib_hold *h, unsigned state,
                          uint32_t site)
{
    if (in_family(state) != h->inside) {
        pawl_lib_goes_out(lock, h->inside);
        h->inside = 0;
        h->inside = pawl_lib_goes_in(t, lock, state, site);
    }
}

uint64_t pawl_watch_turns_(const void *lock, unsigned op, struct pawl_site *s)
{
    struct lib_thread *t = checks(op) ? pawl_lib_enter() : NULL;
    if (t) {
        uint32_t site = pawl_lib_site_id(s);
        pawl_lib_check_turn(t, lock, op, site);
        struct lib_hold *h = pawl_lib_held(t, lock, lib_op_from(op));
        if (h && lib_op_how(op) != PAWL_HOW_TRY) {
            change_family(t, lock, h, lib_op_state(op), site);
        }
        pawl_lib_leave();
    }
    return pawl_clock_ns();
}

static void count_turn(struct lib_cell *c, unsigned op, lib_event who, uint64_t start, uint64_t now, bool ok)
{
    const unsigned how = lib_op_how(op);
    bool may_wait = how == PAWL_HOW_LOCK || how == PAWL_HOW_UNTIL || (how == PAWL_HOW_CLAIM && ok);
    bool waited = may_wait && now - start >= WAIT_NS;
    if (waited) {
        pawl_lib_count_wait(c, now - start);
    }
    if (ok) {
        pawl_lib_count_took(c, who, now);
    } else {
        pawl_lib_bump(waited ? &c->n.expired : &c->n.failed, 1);
    }
}

/* The hold goes on in another state. Null h: the lock was not taken under watch. */
static void turn_hold(struct lib_thread *t, const void *lock, struct lib_hold *h, struct lib_ref ref,
                      unsigned op, uint32_t site, uint64_t start, uint64_t now)
{
    const unsigned state = lib_op_state(op);
    if (checks(op) && ref.record) {
        lib_set(&ref.record->taken, lib_event_of(t->id, site, state));
    }
    if (!h) {
        if (!t->unlisted) {
            lib_count_loss(strays);
            put(t, lock, ref, op, site, now, 0);
        }
        return;
    }
    count_end(t, h, start);
    if (checks(op)) {
        change_family(t, lock, h, state, site);
    }
    describe(h, ref, op, site, now);
}

void pawl_watch_turned_(const void *lock, unsigned op, struct pawl_site *s, uint64_t start, bool ok)
{
    const uint64_t now = pawl_clock_ns();
    struct lib_thread *t = pawl_lib_enter();
    if (!t) {
        return;
    }
    uint32_t site = pawl_lib_site_id(s);
    struct lib_hold *h = pawl_lib_held(t, lock, lib_op_from(op));
    struct lib_ref ref = pawl_lib_find(lock, checks(op));
    /* A hold keeps what it counts under, unless the lock has been named since. */
    struct lib_ref under = ref;
    if (under.class_ == LIB_NO_CLASS && h) {
        under.class_ = h->class_;
    }
    struct lib_cell *c = counts(op) ? cell_of(t, under, site, lib_op_state(op)) : NULL;
    if (c) {
        count_turn(c, op, lib_event_of(t->id, site, lib_op_state(op)), start, now, ok);
    }
    if (ok) {
        uint32_t class_ = under.class_;
        turn_hold(t, lock, h, ref, op, site, start, now);
        if (h && class_ != LIB_NO_CLASS) {
            h->class_ = class_;
        }
    } else if (h && checks(op) && lib_op_how(op) != PAWL_HOW_TRY) {
        pawl_lib_goes_out(lock, h->inside);
        h->inside = 0;
        change_family(t, lock, h, h->state, site);
    }
    pawl_lib_leave();
}
