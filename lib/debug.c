/* Faults in the use of locks: what they are, and the words for them. A message names the operation at fault
 * and the place, and what it conflicts with and where; then the program is aborted. */
#include "internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pawl_debug_hook *hook;

void pawl_debug_on_fault(pawl_debug_hook *new_hook)
{
    lib_set_rel(&hook, new_hook);
}

const char *pawl_lib_state_name(unsigned state)
{
    static const char *const name[] = {"read", "seek", "write", "atomic", "join", "claim"};
    return state < PAWL_STATES ? name[state] : "any state";
}

struct message {
    char text[LIB_MESSAGE];
};

static __attribute__((format(printf, 2, 3))) void say(struct message *m, const char *format, ...)
{
    size_t used = strlen(m->text);
    va_list args;
    va_start(args, format);
    vsnprintf(m->text + used, sizeof m->text - used, format, args);
    va_end(args);
}

static void say_text(struct message *m, const char *text, size_t limit)
{
    pawl_lib_append(m->text, sizeof m->text, text, limit);
}

static void say_site(struct message *m, uint32_t id)
{
    const struct lib_site *s = pawl_lib_site(id);
    say_text(m, s->file, LIB_PLACE_SHOWN);
    say(m, ":%u (", s->line);
    say_text(m, s->function, LIB_PLACE_SHOWN);
    say(m, ")");
}

/* Begins a message: what is wrong, then who does what to which lock where. */
static void begin(struct message *m, struct lib_thread *t, const char *what, const char *doing,
                  const void *lock, uint32_t site)
{
    struct lib_ref ref = pawl_lib_find(lock, false);
    m->text[0] = 0;
    say(m, "pawl: %s\n  thread %ld %s ", what, t->id, doing);
    if (ref.class_ != LIB_NO_CLASS) {
        say(m, "\"");
        say_text(m, pawl_lib_class_name(ref.class_, NULL), LIB_NAME_SHOWN);
        say(m, "\" (%p) at ", lock);
    } else {
        say(m, "the lock at %p at ", lock);
    }
    say_site(m, site);
    say(m, "\n");
}

static void say_event(struct message *m, const char *what, lib_event e)
{
    say(m, "  %s for %s by thread %ld at ", what, pawl_lib_state_name(lib_event_state(e)),
        lib_event_thread(e));
    say_site(m, lib_event_site(e));
    say(m, "\n");
}

static void say_hold(struct message *m, const struct lib_hold *h)
{
    say(m, "  it holds the lock for %s, taken at ", pawl_lib_state_name(h->state));
    say_site(m, h->site);
    say(m, "\n");
}

/* What is known of a lock that the thread was expected to hold, and does not. */
static void say_history(struct message *m, const void *lock)
{
    const struct lib_lock *record = pawl_lib_find(lock, false).record;
    lib_event taken = record ? lib_get(&record->taken) : 0, given = record ? lib_get(&record->given) : 0;
    uint64_t lost = lib_get(&pawl_lib_lost.locks);
    say(m, "  the thread does not hold it in any state\n");
    if (taken) {
        say_event(m, "it was last taken", taken);
    } else {
        say(m, "  nobody was seen taking it in a file compiled with PAWL_DEBUG\n");
    }
    if (!taken && lost) {
        say(m, "  (that may be unknown: the table of addresses was full, %" PRIu64 " times so far)\n", lost);
    }
    if (given) {
        say_event(m, "it was last given back", given);
    }
}

/* The end of a message, and of the program. The hook may leave by longjmp: nothing may be held here. */
static _Noreturn void end(struct message *m, const char *advice)
{
    say(m, "  %s\n", advice);
    pawl_lib_leave();
    pawl_debug_hook *h = lib_get_acq(&hook);
    if (h) {
        h(m->text);
    } else {
        fflush(stdout);
        for (size_t done = 0, size = strlen(m->text); done < size;) {
            ssize_t n = write(STDERR_FILENO, m->text + done, size - done);
            if (n <= 0) {
                break;
            }
            done += (size_t)n;
        }
    }
    abort();
}

void pawl_lib_check_unlock(struct lib_thread *t, const void *lock, unsigned op, uint32_t site)
{
    struct message m;
    char doing[64];
    const struct lib_hold *other = pawl_lib_held(t, lock, PAWL_STATES);
    snprintf(doing, sizeof doing, "gives back %s of", pawl_lib_state_name(lib_op_state(op)));
    begin(&m, t, other ? "unlock of a state that is not the one held" : "unlock of a lock that is not held",
          doing, lock, site);
    if (other) {
        say_hold(&m, other);
    } else {
        say_history(&m, lock);
    }
    end(&m, "a lock is given back once, by the thread that took it, in the state it holds");
}

static void say_turn(char *doing, size_t size, unsigned op)
{
    snprintf(doing, size, "turns %s into %s of", pawl_lib_state_name(lib_op_from(op)),
             pawl_lib_state_name(lib_op_state(op)));
}

static _Noreturn void fault_turn(struct lib_thread *t, const void *lock, unsigned op, uint32_t site)
{
    struct message m;
    char doing[64];
    const struct lib_hold *other = pawl_lib_held(t, lock, PAWL_STATES);
    say_turn(doing, sizeof doing, op);
    begin(&m, t, "transition from a state that is not held", doing, lock, site);
    if (other) {
        say_hold(&m, other);
    } else {
        say_history(&m, lock);
    }
    end(&m, "take the lock in the state that the transition begins with");
}

static void say_ask(char *doing, size_t size, unsigned op)
{
    snprintf(doing, size, "asks for %s of", pawl_lib_state_name(lib_op_state(op)));
}

static _Noreturn void fault_self(struct lib_thread *t, const void *lock, const char *doing,
                                 const struct lib_hold *own, uint32_t site)
{
    struct message m;
    begin(&m, t, "a thread waits for itself", doing, lock, site);
    say_hold(&m, own);
    end(&m, "locks are not recursive: give it back first, use a transition, or a trylock");
}

static void check_order(struct lib_thread *t, const void *lock, unsigned op, uint32_t site)
{
    char account[LIB_MESSAGE / 2] = "", doing[64];
    if (pawl_lib_order(t, lock, pawl_lib_find(lock, true), site, account, sizeof account)) {
        return;
    }
    struct message m;
    say_ask(doing, sizeof doing, op);
    begin(&m, t, "locks taken in opposite orders", doing, lock, site);
    say(&m, "%s", account);
    end(&m, "threads that do both at once wait for each other for ever: choose one order, or use a trylock");
}

/* Whether a thread that holds `own` would wait for itself. A claim fails at once beside what is no reader,
 * but for join's, which waits for everybody, and atomic's beside join. */
static bool waits_for_itself(const struct lib_hold *own, unsigned op)
{
    if (lib_op_how(op) == PAWL_HOW_CLAIM) {
        return own->state == PAWL_STATE_READ || lib_op_state(op) == PAWL_STATE_JOIN ||
               (own->state == PAWL_STATE_JOIN && lib_op_state(op) == PAWL_STATE_ATOMIC);
    }
    return lib_op_how(op) == PAWL_HOW_LOCK;
}

void pawl_lib_check_ask(struct lib_thread *t, const void *lock, unsigned op, uint32_t site)
{
    const struct lib_hold *own = pawl_lib_held(t, lock, PAWL_STATES);
    if (own && (own->mode & PAWL_WATCH_DEBUG) && waits_for_itself(own, op)) {
        char doing[64];
        say_ask(doing, sizeof doing, op);
        fault_self(t, lock, doing, own, site);
    }
    bool waits_for_all = lib_op_how(op) == PAWL_HOW_LOCK ||
                         (lib_op_how(op) == PAWL_HOW_CLAIM && lib_op_state(op) == PAWL_STATE_JOIN);
    if (waits_for_all && t->depth) {
        check_order(t, lock, op, site);
    }
    pawl_lib_goes_in(t, lock, lib_op_state(op), site);
}

/* A transition that may wait does so for all others of a kind: for this thread itself, if it holds the lock a
 * second time (by a trylock) in a state that has to go. NULL, or that hold. */
static const struct lib_hold *held_twice(const struct lib_thread *t, const void *lock,
                                         const struct lib_hold *h, unsigned op)
{
    for (unsigned i = 0; i < t->depth; i++) {
        const struct lib_hold *o = &t->holds[i];
        bool beside = o->state == PAWL_STATE_SEEK || o->state == PAWL_STATE_WRITE; /* a claim fails at once */
        if (o != h && o->address == (uintptr_t)lock && !(beside && lib_op_how(op) == PAWL_HOW_CLAIM)) {
            return o;
        }
    }
    return NULL;
}

void pawl_lib_check_turn(struct lib_thread *t, const void *lock, unsigned op, uint32_t site)
{
    struct lib_hold *h = pawl_lib_held(t, lock, lib_op_from(op));
    if (!h) {
        if (!t->unlisted) {
            fault_turn(t, lock, op, site);
        }
        return;
    }
    if (lib_op_how(op) == PAWL_HOW_LOCK || lib_op_how(op) == PAWL_HOW_CLAIM) {
        const struct lib_hold *own = held_twice(t, lock, h, op);
        if (own && (own->mode & PAWL_WATCH_DEBUG)) {
            char doing[64];
            say_turn(doing, sizeof doing, op);
            fault_self(t, lock, doing, own, site);
        }
        check_order(t, lock, op, site);
    }
}

/* S and W, J and C: the two families that must not be in use at once. */
static int family_of(unsigned state)
{
    return state == PAWL_STATE_SEEK || state == PAWL_STATE_WRITE   ? 0
           : state == PAWL_STATE_JOIN || state == PAWL_STATE_CLAIM ? 1
                                                                   : -1;
}

uint8_t pawl_lib_goes_in(struct lib_thread *t, const void *lock, unsigned state, uint32_t site)
{
    int family = family_of(state);
    struct lib_lock *record = family < 0 ? NULL : pawl_lib_find(lock, true).record;
    if (!record) {
        return 0;
    }
    lib_set(&record->inside_by[family], lib_event_of(t->id, site, state));
    __atomic_fetch_add(&record->inside[family], 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&record->inside[!family], __ATOMIC_SEQ_CST)) {
        struct message m;
        char doing[64];
        lib_event other = lib_get(&record->inside_by[!family]);
        pawl_lib_goes_out(lock, (uint8_t)(family + 1));
        snprintf(doing, sizeof doing, "asks for %s of", pawl_lib_state_name(state));
        begin(&m, t, "seek or write together with join or claim of one lock", doing, lock, site);
        say_event(&m, "it is in use", other);
        end(&m, "a lock has one writer at a time (seek, write) or several (join, claim, atomic), not both");
    }
    return (uint8_t)(family + 1);
}

void pawl_lib_goes_out(const void *lock, uint8_t inside)
{
    struct lib_lock *record = inside ? pawl_lib_find(lock, false).record : NULL;
    uint32_t n = record ? lib_get(&record->inside[inside - 1]) : 0;
    while (n && !__atomic_compare_exchange_n(&record->inside[inside - 1], &n, n - 1, false, __ATOMIC_SEQ_CST,
                                             __ATOMIC_RELAXED)) {
    }
}

void pawl_lib_fault_thread_ends(struct lib_thread *t, const struct lib_hold *hold)
{
    struct message m;
    begin(&m, t, "a thread ends with a lock held", "ends with", (const void *)hold->address, hold->site);
    say_hold(&m, hold);
    end(&m, "nobody else may give it back");
}

void pawl_debug_assert_held_(const volatile void *lock_, int state, struct pawl_site *s)
{
    const void *lock = (const void *)(uintptr_t)lock_;
    struct lib_thread *t = pawl_lib_enter();
    if (!t) {
        return;
    }
    const struct lib_hold *h = pawl_lib_held(t, lock, state < 0 ? (unsigned)PAWL_STATES : (unsigned)state);
    if ((state < 0) != !h && !t->unlisted) {
        struct message m;
        char doing[64];
        uint32_t site = pawl_lib_site_id(s);
        const struct lib_hold *other = pawl_lib_held(t, lock, PAWL_STATES);
        snprintf(doing, sizeof doing, "asserts that it holds %s of",
                 state < 0 ? "nothing" : pawl_lib_state_name((unsigned)state));
        begin(&m, t, "an assertion about a lock does not hold", doing, lock, site);
        if (other) {
            say_hold(&m, other);
        } else {
            say_history(&m, lock);
        }
        end(&m, "the code that leads here was to have taken, or given back, the lock");
    }
    pawl_lib_leave();
}
