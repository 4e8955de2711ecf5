/* A thread's calls, made of single events. */
#include "sim/thread.h"

#include "sim/ask.h"

#include <errno.h>
#include <string.h>

static struct sim_event event(enum sim_type type, unsigned place, enum sim_order order)
{
    struct sim_event e;
    memset(&e, 0, sizeof e);
    e.type = (uint8_t)type;
    e.place = (uint8_t)place;
    e.order = (uint8_t)order;
    e.read.order = (uint8_t)order;
    e.read.unlike = e.read.behind = SIM_NONE;
    e.operation = sim_own()->operation;
    return e;
}

/* A spin that looks elsewhere, or writes, is none. */
static uint16_t spun(unsigned place)
{
    struct sim_spin *s = sim_spin();
    uint16_t index = s->index;
    s->index = SIM_NONE;
    return index != SIM_NONE && sim_event_of(index)->place == place ? index : SIM_NONE;
}

uint64_t sim_load(unsigned place, enum sim_order order)
{
    const struct sim_event *again = sim_again();
    if (again) {
        sim_spin()->index = SIM_NONE;
        return again->value;
    }
    struct sim_event e = event(SIM_READ, place, order);
    e.read.unlike = spun(place);
    return sim_ask(&e)->value;
}

bool sim_load_any(unsigned place, uint64_t bits, enum sim_order order)
{
    const struct sim_event *again = sim_again();
    if (again) {
        sim_spin()->index = SIM_NONE;
        return (again->value & bits) != 0;
    }
    struct sim_event e = event(SIM_READ, place, order);
    e.read.unlike = spun(place);
    e.read.any = bits;
    return (sim_ask(&e)->value & bits) != 0;
}

void sim_store(unsigned place, uint64_t value, enum sim_order order)
{
    sim_spin()->index = SIM_NONE;
    if (!sim_again()) {
        struct sim_event e = event(SIM_WRITE, place, order);
        e.value = value;
        sim_ask(&e);
    }
}

void sim_fence(enum sim_order order)
{
    struct sim_event e = event(SIM_FENCE, 0, order);
    sim_ask(&e);
}

/* The orders of the two halves of a read-modify-write. */
static enum sim_order reading(enum sim_order order)
{
    return order == SIM_RELEASE ? SIM_RELAXED : order == SIM_ACQ_REL ? SIM_ACQUIRE : order;
}

static enum sim_order writing(enum sim_order order)
{
    return order == SIM_ACQUIRE ? SIM_RELAXED : order == SIM_ACQ_REL ? SIM_RELEASE : order;
}

static void ask_write_half(unsigned place, unsigned half, uint64_t value, enum sim_order order,
                           enum sim_note note)
{
    struct sim_event w = event(SIM_WRITE, place, order);
    w.exclusive = true;
    w.half = (uint16_t)half;
    w.value = value;
    w.note = (uint8_t)note;
    sim_ask(&w);
}

/* A read-modify-write that its thread has done before, if it has: *value is what it read. */
static bool repeats(unsigned place, uint64_t (*to)(uint64_t, uint64_t, uint64_t), uint64_t a, uint64_t b,
                    enum sim_order order, uint64_t *value, bool *changed)
{
    const struct sim_event *r = sim_again();
    if (!r) {
        return false;
    }
    sim_spin()->index = SIM_NONE;
    *value = r->value;
    *changed = r->exclusive;
    if (*changed && !sim_again()) {
        ask_write_half(place, sim_done() - 1, to(*value, a, b), writing(order), (enum sim_note)r->note);
    }
    return true;
}

static uint64_t change(struct sim_event *read, uint64_t (*to)(uint64_t, uint64_t, uint64_t), uint64_t a,
                       uint64_t b, enum sim_order order, bool *changed)
{
    read->read.changes = true;
    const struct sim_event *r = sim_ask(read);
    uint64_t before = r->value;
    *changed = r->exclusive;
    if (*changed) {
        ask_write_half(read->place, sim_done() - 1, to(before, a, b), writing(order),
                       (enum sim_note)read->note);
    }
    return before;
}

static uint64_t to_value(uint64_t before, uint64_t value, uint64_t unused)
{
    (void)before, (void)unused;
    return value;
}

static uint64_t to_sum(uint64_t before, uint64_t value, uint64_t mask)
{
    return (before + value) & mask;
}

/* Has the thread, as the last thing in this operation, read this value there? */
static bool has_just_read(unsigned place, uint64_t value)
{
    if (!sim_done()) {
        return false;
    }
    const struct sim_event *e = sim_event_of(sim_done() - 1);
    return e->type == SIM_READ && e->place == place && !e->exclusive && e->value == value &&
           e->operation == sim_own()->operation;
}

static bool compare_exchange(unsigned place, uint64_t *expected, uint64_t value, enum sim_order success,
                             enum sim_order failure, bool confirms)
{
    bool changed;
    if (repeats(place, to_value, value, 0, success, expected, &changed)) {
        return changed;
    }
    struct sim_event e = event(SIM_READ, place, reading(success));
    e.read.compares = true;
    e.read.expected = *expected;
    e.read.confirms = confirms;
    e.read.otherwise = (uint8_t)failure;
    e.read.unlike = spun(place);
    *expected = change(&e, to_value, value, 0, success, &changed);
    return changed;
}

bool sim_compare_exchange(unsigned place, uint64_t *expected, uint64_t value, enum sim_order success,
                          enum sim_order failure)
{
    return compare_exchange(place, expected, value, success, failure, false);
}

bool sim_compare_exchange_weak(unsigned place, uint64_t *expected, uint64_t value, enum sim_order success,
                               enum sim_order failure)
{
    if (sim_choose(2)) {
        *expected = sim_load(place, failure);
        return false;
    }
    return compare_exchange(place, expected, value, success, failure, false);
}

bool sim_confirm_exchange(unsigned place, uint64_t *expected, uint64_t value, enum sim_order success,
                          enum sim_order failure)
{
    bool confirms = sim_is_reduced() && has_just_read(place, *expected);
    return compare_exchange(place, expected, value, success, failure, confirms);
}

uint64_t sim_exchange(unsigned place, uint64_t value, enum sim_order order)
{
    bool changed;
    uint64_t before;
    if (repeats(place, to_value, value, 0, order, &before, &changed)) {
        return before;
    }
    struct sim_event e = event(SIM_READ, place, reading(order));
    e.read.unlike = spun(place);
    return change(&e, to_value, value, 0, order, &changed);
}

uint64_t sim_fetch_add(unsigned place, uint64_t value, uint64_t mask, enum sim_order order)
{
    bool changed;
    uint64_t before;
    if (repeats(place, to_sum, value, mask, order, &before, &changed)) {
        return before;
    }
    struct sim_event e = event(SIM_READ, place, reading(order));
    e.note = SIM_NOTE_ADD;
    e.read.unlike = spun(place);
    return change(&e, to_sum, value, mask, order, &changed);
}

uint64_t sim_read_data(unsigned place)
{
    const struct sim_event *again = sim_again();
    if (again) {
        return again->value;
    }
    struct sim_event e = event(SIM_READ, place, SIM_PLAIN);
    return sim_ask(&e)->value;
}

void sim_write_data(unsigned place, uint64_t value)
{
    if (!sim_again()) {
        struct sim_event e = event(SIM_WRITE, place, SIM_PLAIN);
        e.value = value;
        sim_ask(&e);
    }
}

unsigned sim_choose_about(unsigned n, enum sim_note note)
{
    if (n < 2) {
        return 0;
    }
    const struct sim_event *again = sim_again();
    if (again) {
        return (unsigned)again->value;
    }
    struct sim_event e = event(SIM_CHOICE, 0, SIM_PLAIN);
    e.note = (uint8_t)note;
    e.read.expected = n;
    return (unsigned)sim_ask(&e)->value;
}

unsigned sim_choose(unsigned n)
{
    return sim_choose_about(n, SIM_NOTE_NONE);
}

void sim_pause(bool for_ever)
{
    for (unsigned i = sim_done(); i-- > 0;) {
        if (sim_event_of(i)->type == SIM_READ) {
            *sim_spin() = (struct sim_spin){(uint16_t)i, for_ever};
            return;
        }
    }
}

void sim_bound(void)
{
    sim_leave(NULL);
}

void sim_check(bool holds, const char *text)
{
    if (!holds) {
        sim_leave(text);
    }
}

/* ---- futexes. The kernel's queue is a place, whose value has four bits for each thread: the mask with which
 * it sleeps, 0 when it does not. What is done under the kernel's lock is done between the two halves of a
 * read-modify-write of the queue, so these calls have an order; but their threads learn nothing from it. */

/* Returns the queue's value; *half is its event. */
static uint64_t queue_read(unsigned queue, enum sim_note note, unsigned *half)
{
    sim_spin()->index = SIM_NONE;
    *half = sim_done();
    const struct sim_event *again = sim_again();
    if (again) {
        return again->value;
    }
    struct sim_event e = event(SIM_READ, queue, SIM_RELAXED);
    e.read.changes = true;
    e.kernel = true;
    e.note = (uint8_t)note;
    return sim_ask(&e)->value;
}

static void queue_write(unsigned queue, enum sim_note note, unsigned half, uint64_t value)
{
    if (sim_again()) {
        return;
    }
    struct sim_event e = event(SIM_WRITE, queue, SIM_RELAXED);
    e.exclusive = e.kernel = true;
    e.note = (uint8_t)note;
    e.half = (uint16_t)half;
    e.value = value;
    sim_ask(&e);
}

static uint64_t place_of(unsigned thread, uint64_t mask)
{
    return mask << (4 * thread);
}

/* Takes the thread out of the queue: false when somebody has done so, who counts on it to have been woken. */
static bool leave_queue(unsigned queue)
{
    unsigned half;
    uint64_t sleepers = queue_read(queue, SIM_NOTE_LEAVE, &half);
    queue_write(queue, SIM_NOTE_LEAVE, half, sleepers & ~place_of(sim_self(), 15));
    return sleepers & place_of(sim_self(), 15);
}

/* What the thread has read or written there last. False: nothing. */
static bool last_seen(unsigned place, uint64_t *value)
{
    for (unsigned i = sim_done(); i-- > 0;) {
        const struct sim_event *e = sim_event_of(i);
        if ((e->type == SIM_READ || e->type == SIM_WRITE) && e->place == place) {
            *value = e->value;
            return true;
        }
    }
    return false;
}

int sim_futex_wait(unsigned place, unsigned queue, uint64_t value, uint64_t of_bits, unsigned mask,
                   enum sim_timing timing)
{
    struct sim_event looks = event(SIM_READ, place, SIM_RELAXED), wakes = event(SIM_READ, queue, SIM_RELAXED);
    unsigned half, interrupted = 0;
    uint64_t seen;
    sim_check(!last_seen(place, &seen) || (seen & of_bits) == value,
              "it sleeps on a value that it has not seen: it would never get to sleep");
    uint64_t sleepers = queue_read(queue, SIM_NOTE_WAIT, &half);
    looks.read.behind = (uint16_t)half;
    if ((sim_ask(&looks)->value & of_bits) != value) {
        queue_write(queue, SIM_NOTE_WAIT, half, sleepers);
        return EAGAIN;
    }
    queue_write(queue, SIM_NOTE_WAIT, half, sleepers | place_of(sim_self(), mask));
    bool may = timing == SIM_MAY_EXPIRE || timing == SIM_WILL_EXPIRE;
    if (timing == SIM_EXPIRES || (may && sim_choose_about(2, SIM_NOTE_EXPIRES))) {
        return leave_queue(queue) ? ETIMEDOUT : 0;
    }
    if (sim_own()->left.interruptions) {
        interrupted = sim_choose_about(3, SIM_NOTE_INTERRUPT);
    }
    if (interrupted) {
        sim_own()->left.interruptions--;
        return leave_queue(queue) && interrupted == 2 ? EINTR : 0;
    }
    wakes.kernel = true;
    wakes.read.ends = timing == SIM_WILL_EXPIRE;
    wakes.read.clear = place_of(sim_self(), 15);
    sim_ask(&wakes);
    return 0;
}

int sim_futex_wake(unsigned queue, unsigned n, unsigned mask)
{
    unsigned half, who[SIM_THREADS], count = 0;
    int woken = 0;
    uint64_t sleepers = queue_read(queue, SIM_NOTE_WAKE, &half);
    for (unsigned t = 0; t < SIM_THREADS; t++) {
        if (sleepers & place_of(t, mask)) {
            who[count++] = t;
        }
    }
    while (count && n) { /* whichever of them */
        unsigned i = n < count ? sim_choose_about(count, SIM_NOTE_WHO) : 0;
        sleepers &= ~place_of(who[i], 15);
        who[i] = who[--count];
        n--;
        woken++;
    }
    queue_write(queue, SIM_NOTE_WAKE, half, sleepers);
    return woken;
}
