/* The engine against doubles: small locks, each written once and right, that a fault known of real locks of
 * this kind can be put into. Without it all executions are gone through and nothing is found; with it the
 * violation that it leads to is found, in all executions and at random. Not the locks themselves: see
 * lock_test.c. */
#include "sim/engine.h"
#include "sim/thread.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define RLX SIM_RELAXED
#define ACQ SIM_ACQUIRE
#define REL SIM_RELEASE

/* WORD is the lock, QUEUE the kernel's of its sleepers, MORE a second word of the lock or of those who use
 * it; DATA is what it protects. */
enum { WORD, QUEUE, MORE, DATA, PLACES };

enum fault {
    NONE,
    IGNORES_A_READER,
    UPGRADES_BY_THE_QUEUE,
    COUNTS_ELSEWHERE,
    CLEARS_THE_MARK_OF_ALL,
    WAKES_FIRST,
    COMPARES_ANEW,
    KEEPS_ITS_TICKET,
    WEAK_WRITE_UNLOCK,
    WEAK_READ_UNLOCK,
    WEAK_DOWNGRADE
};

/* How it is run: the writer unlocks by way of R; the access after the unlock is left out. */
enum { DOWNGRADES = 1, ACCESSES_NOT = 2 };

struct lock_double {
    const char *name;
    unsigned threads;
    void (*run)(unsigned thread, const void *d);
    enum fault fault;
    const char *text; /* what the fault leads to; NULL: nothing that shows */
    uint64_t word;    /* initially */
    unsigned how;
};

static const char race[] = "data race";
static const char in_vain[] = "all threads that have not ended wait, for ever";
static const char changed[] = "the data changed between S and W";

/* ---- one word: readers are counted, W, S and a queued writer have a bit each */

enum { READER = 1, READERS = 15, WRITER = 16, SEEKER = 32, QUEUED = 64 };

/* Adds to the word once no more than `allowed` of `keep_out` is in it. */
static void take(uint64_t keep_out, uint64_t allowed, uint64_t add)
{
    uint64_t seen = sim_load(WORD, RLX);
    for (;;) {
        if ((seen & keep_out) > allowed) {
            sim_pause(true);
            seen = sim_load(WORD, RLX);
        } else if (sim_compare_exchange(WORD, &seen, seen + add, ACQ, RLX)) {
            return;
        }
    }
}

static uint64_t give(unsigned place, uint64_t held, enum sim_order order)
{
    return sim_fetch_add(place, -held, UINT64_MAX, order);
}

static void add_to_data(void)
{
    sim_write_data(DATA, sim_read_data(DATA) + 1);
}

/* The faulty writer is kept out by two readers, and not by one. */
static void write_lock_of_readers(unsigned thread, const void *arg)
{
    const struct lock_double *d = arg;
    if (thread == 0) {
        take(WRITER | READERS, d->fault == IGNORES_A_READER ? READER : 0, WRITER);
        add_to_data();
        give(WORD, WRITER, REL);
    } else {
        take(WRITER, 0, READER);
        sim_read_data(DATA);
        give(WORD, READER, REL);
    }
}

/* One that has to wait keeps out the readers that come later. */
static void write_lock_in_turn(void)
{
    uint64_t seen = sim_load(WORD, RLX);
    for (;;) {
        if (!(seen & (WRITER | SEEKER | READERS))) {
            if (sim_compare_exchange(WORD, &seen, WRITER, ACQ, RLX)) {
                return;
            }
        } else if (seen & QUEUED) {
            sim_pause(true);
            seen = sim_load(WORD, RLX);
        } else if (sim_compare_exchange(WORD, &seen, seen | QUEUED, RLX, RLX)) {
            seen |= QUEUED;
        }
    }
}

/* S goes to W over the head of the queue, or else what was seen under S need not be so any more. */
static void upgrade(enum fault fault)
{
    if (fault == UPGRADES_BY_THE_QUEUE && sim_load(WORD, RLX) & QUEUED) {
        give(WORD, SEEKER, REL);
        write_lock_in_turn();
    } else {
        take(READERS, 0, WRITER - SEEKER);
    }
}

static void seek_lock_to_write(unsigned thread, const void *arg)
{
    const struct lock_double *d = arg;
    if (thread == 0) {
        take(WRITER | SEEKER, 0, SEEKER);
        uint64_t seen = sim_read_data(DATA);
        upgrade(d->fault);
        sim_check(sim_read_data(DATA) == seen, changed);
        sim_write_data(DATA, seen + 1);
        give(WORD, WRITER, REL);
    } else if (thread == 1) {
        write_lock_in_turn();
        add_to_data();
        give(WORD, WRITER, REL);
    } else {
        take(WRITER | QUEUED, 0, READER);
        sim_read_data(DATA);
        give(WORD, READER, REL);
    }
}

/* The writer enters the word, then waits for the readers. A reader that looks for it there and is counted
 * elsewhere is not seen when the writer comes in between. */
static void two_words(unsigned thread, const void *arg)
{
    const struct lock_double *d = arg;
    unsigned counted = d->fault == COUNTS_ELSEWHERE ? MORE : WORD;
    if (thread == 0) {
        take(WRITER, 0, WRITER);
        while (sim_load(counted, ACQ) & READERS) {
            sim_pause(true);
        }
        add_to_data();
        give(WORD, WRITER, REL);
        return;
    }
    if (counted == WORD) {
        take(WRITER, 0, READER);
    } else {
        while (sim_load(WORD, ACQ) & WRITER) {
            sim_pause(true);
        }
        sim_fetch_add(MORE, READER, UINT64_MAX, ACQ);
    }
    sim_read_data(DATA);
    give(counted, READER, REL);
}

/* ---- sleepers: a mutex of two bits, taken and somebody sleeps. All sleepers share the mark, so all are
 * woken */

enum { TAKEN = 1, MARK = 2 };

static void clear_mark(void)
{
    uint64_t seen = sim_load(WORD, RLX);
    while (seen & MARK && !sim_compare_exchange(WORD, &seen, seen & ~(uint64_t)MARK, RLX, RLX)) {
    }
}

static bool mutex_lock(const struct lock_double *d, bool timed)
{
    uint64_t seen = sim_load(WORD, RLX);
    for (;;) {
        if (!(seen & TAKEN)) {
            if (sim_compare_exchange(WORD, &seen, seen | TAKEN, ACQ, RLX)) {
                return true;
            }
        } else if (seen & MARK || sim_compare_exchange(WORD, &seen, seen | MARK, RLX, RLX)) {
            if (sim_futex_wait(WORD, QUEUE, TAKEN | MARK, UINT64_MAX, 1, timed) == ETIMEDOUT) {
                if (d->fault == CLEARS_THE_MARK_OF_ALL) {
                    clear_mark();
                }
                return false;
            }
            seen = sim_load(WORD, RLX);
        }
    }
}

static void mutex_unlock(const struct lock_double *d)
{
    if (d->fault == WAKES_FIRST) { /* who is woken, or comes, finds it taken still */
        if (sim_load(WORD, RLX) & MARK) {
            sim_futex_wake(QUEUE, SIM_THREADS, 1);
        }
        sim_exchange(WORD, 0, REL);
    } else if (sim_exchange(WORD, 0, REL) & MARK) {
        sim_futex_wake(QUEUE, SIM_THREADS, 1);
    }
}

static void mutex(unsigned thread, const void *arg)
{
    mutex_lock(arg, false);
    add_to_data();
    mutex_unlock(arg);
    (void)thread;
}

/* Thread 0 has it from the start. */
static void mutex_until(unsigned thread, const void *arg)
{
    if (thread == 0 || mutex_lock(arg, thread == 1)) {
        add_to_data();
        mutex_unlock(arg);
    }
}

/* A condition and a count of its changes: the count is to be read before the condition, since to sleep on one
 * that is newer is to sleep through the change. */
static void event_count(unsigned thread, const void *arg)
{
    const struct lock_double *d = arg;
    if (thread == 0) {
        sim_write_data(DATA, 1);
        sim_store(MORE, 1, REL);
        sim_fetch_add(WORD, 1, UINT64_MAX, REL);
        sim_futex_wake(QUEUE, SIM_THREADS, 1);
        return;
    }
    for (;;) {
        uint64_t count = sim_load(WORD, ACQ);
        if (sim_load(MORE, ACQ)) {
            break;
        }
        if (d->fault == COMPARES_ANEW) {
            count = sim_load(WORD, ACQ);
        }
        sim_futex_wait(WORD, QUEUE, count, UINT64_MAX, 1, false);
    }
    sim_check(sim_read_data(DATA) == 1, "what was told of is not there");
}

/* ---- tickets: MORE has the next one; the word whose turn it is, and a bit for each ticket given back */

enum { TURN = 15, GIVEN_BACK = 16 };

static void next_turn(void)
{
    uint64_t seen = sim_load(WORD, RLX), turn;
    do {
        turn = (seen & TURN) + 1;
        while (seen & (uint64_t)GIVEN_BACK << turn) {
            turn++;
        }
    } while (!sim_compare_exchange(WORD, &seen, (seen & ~(uint64_t)TURN) | turn, REL, RLX));
}

/* The turn may come while it gives up: then it passes it on. Relaxed, since it touches no data, and its
 * exchange continues what the one before has released. */
static void give_ticket_back(uint64_t ticket)
{
    uint64_t seen = sim_load(WORD, RLX);
    while ((seen & TURN) != ticket) {
        if (sim_compare_exchange(WORD, &seen, seen | (uint64_t)GIVEN_BACK << ticket, RLX, RLX)) {
            return;
        }
    }
    next_turn();
}

static void ticket_lock(unsigned thread, const void *arg)
{
    const struct lock_double *d = arg;
    bool timed = thread == 1;
    uint64_t ticket = sim_fetch_add(MORE, 1, UINT64_MAX, RLX);
    while ((sim_load(WORD, ACQ) & TURN) != ticket) {
        if (timed && sim_choose(2)) {
            if (d->fault != KEEPS_ITS_TICKET) {
                give_ticket_back(ticket);
            }
            return;
        }
        sim_pause(!timed);
    }
    add_to_data();
    next_turn();
}

/* ---- releases: a lock with R, W, and W to R, one unlock of which is relaxed */

static enum sim_order unless(enum fault fault, const struct lock_double *d)
{
    return d->fault == fault ? RLX : REL;
}

static void write_unlock(const struct lock_double *d)
{
    if (d->how & DOWNGRADES) {
        give(WORD, WRITER - READER, unless(WEAK_DOWNGRADE, d));
        give(WORD, READER, unless(WEAK_READ_UNLOCK, d));
    } else {
        give(WORD, WRITER, unless(WEAK_WRITE_UNLOCK, d));
    }
}

static void accessed_inside(unsigned thread, const void *arg)
{
    if (thread == 0) {
        take(WRITER | READERS, 0, WRITER);
        sim_write_data(DATA, 1);
        write_unlock(arg);
    } else {
        take(WRITER, 0, READER);
        sim_read_data(DATA);
        give(WORD, READER, unless(WEAK_READ_UNLOCK, arg));
    }
}

/* Inside nothing but an atomic flag is touched: the data is written before, and read after the unlock by who
 * was told there that it may. */
static void handed_over(unsigned thread, const void *arg)
{
    const struct lock_double *d = arg;
    if (thread == 0) {
        sim_write_data(DATA, 1);
        take(WRITER | READERS, 0, WRITER);
        sim_store(MORE, 1, RLX);
        write_unlock(d);
    } else {
        take(WRITER, 0, READER);
        bool told = sim_load(MORE, RLX);
        give(WORD, READER, unless(WEAK_READ_UNLOCK, d));
        if (told && !(d->how & ACCESSES_NOT)) {
            sim_check(sim_read_data(DATA) == 1, "what was handed over is not there");
        }
    }
}

/* Readers use it until a writer says no more; it reclaims it after its unlock, when no reader can be left. */
static void retired(unsigned thread, const void *arg)
{
    const struct lock_double *d = arg;
    if (thread == 0) {
        take(WRITER | READERS, 0, WRITER);
        sim_store(MORE, 1, RLX);
        write_unlock(d);
        if (!(d->how & ACCESSES_NOT)) {
            sim_write_data(DATA, 1);
        }
    } else {
        take(WRITER, 0, READER);
        if (!sim_load(MORE, RLX)) {
            sim_check(sim_read_data(DATA) == 0, "it was reclaimed from under a reader");
        }
        give(WORD, READER, unless(WEAK_READ_UNLOCK, d));
    }
}

/* All are inside, as readers; who is the last out reclaims it. */
static void last_out(unsigned thread, const void *arg)
{
    const struct lock_double *d = arg;
    sim_read_data(DATA);
    if (give(WORD, READER, d->fault == WEAK_READ_UNLOCK ? ACQ : SIM_ACQ_REL) == READER &&
        !(d->how & ACCESSES_NOT)) {
        sim_write_data(DATA, 1);
    }
    (void)thread;
}

/* ---- the doubles */

static const struct lock_double doubles[] = {
    {"a writer ignores one reader", 3, write_lock_of_readers, IGNORES_A_READER, race, 0, 0},
    {"an upgrade lets a writer in", 2, seek_lock_to_write, UPGRADES_BY_THE_QUEUE, changed, 0, 0},
    {"an upgrade lets a writer in, a reader by", 3, seek_lock_to_write, UPGRADES_BY_THE_QUEUE, changed, 0, 0},
    {"decided here, counted there", 2, two_words, COUNTS_ELSEWHERE, race, 0, 0},
    {"decided here, counted there, two readers", 3, two_words, COUNTS_ELSEWHERE, race, 0, 0},
    {"a mark lost", 3, mutex_until, CLEARS_THE_MARK_OF_ALL, in_vain, TAKEN, 0},
    {"woken before the change", 2, mutex, WAKES_FIRST, in_vain, 0, 0},
    {"woken before the change, by one of two", 3, mutex_until, WAKES_FIRST, in_vain, TAKEN, 0},
    {"compared with what was read anew", 2, event_count, COMPARES_ANEW, in_vain, 0, 0},
    {"compared with what was read anew, by two", 3, event_count, COMPARES_ANEW, in_vain, 0, 0},
    {"a ticket kept", 3, ticket_lock, KEEPS_ITS_TICKET, in_vain, 0, 0},
    {"a weak W unlock, inside", 2, accessed_inside, WEAK_WRITE_UNLOCK, race, 0, 0},
    {"a weak R unlock, inside", 2, accessed_inside, WEAK_READ_UNLOCK, race, 0, 0},
    {"a weak W to R, inside", 2, accessed_inside, WEAK_DOWNGRADE, race, 0, DOWNGRADES},
    {"a weak W unlock, handed over", 2, handed_over, WEAK_WRITE_UNLOCK, race, 0, 0},
    {"a weak W to R, handed over", 2, handed_over, WEAK_DOWNGRADE, race, 0, DOWNGRADES},
    {"a weak R unlock, retired", 2, retired, WEAK_READ_UNLOCK, race, 0, 0},
    {"a weak R unlock, two readers, retired", 3, retired, WEAK_READ_UNLOCK, race, 0, 0},
    {"a weak R unlock, last out", 2, last_out, WEAK_READ_UNLOCK, race, 2 * READER, 0},
    {"a weak R unlock, last out of three", 3, last_out, WEAK_READ_UNLOCK, race, 3 * READER, 0},
};

/* Those whose fault shows by the access after the unlock alone. */
static const struct lock_double shown_by_nothing[] = {
    {"a weak W unlock, handed over", 2, handed_over, WEAK_WRITE_UNLOCK, NULL, 0, ACCESSES_NOT},
    {"a weak W to R, handed over", 2, handed_over, WEAK_DOWNGRADE, NULL, 0, DOWNGRADES | ACCESSES_NOT},
    {"a weak R unlock, retired", 2, retired, WEAK_READ_UNLOCK, NULL, 0, ACCESSES_NOT},
    {"a weak R unlock, last out", 2, last_out, WEAK_READ_UNLOCK, NULL, 2 * READER, ACCESSES_NOT},
};

static struct sim_result explore(const struct lock_double *d, enum fault fault, enum sim_mode mode,
                                 uint64_t executions)
{
    struct lock_double with = *d;
    with.fault = fault;
    struct sim_case c = {.name = d->name,
                         .threads = d->threads,
                         .places = PLACES,
                         .initial = {[WORD] = d->word},
                         .run = d->run,
                         .arg = &with};
    struct sim_options o = {.mode = mode, .executions = executions, .seed = 1};
    return sim_explore(&c, &o, NULL);
}

static void is_fine(const struct lock_double *d, enum fault fault)
{
    struct sim_result r = explore(d, fault, SIM_ALL, 0);
    if (r.verdict != SIM_FINE || !r.complete || r.cut || r.executions < 2) {
        fail_msg("%s: %s, after %llu executions", d->name, r.verdict == SIM_FINE ? "not complete" : r.text,
                 (unsigned long long)r.executions);
    }
    r = explore(d, fault, SIM_RANDOM, 2000);
    if (r.verdict != SIM_FINE) {
        fail_msg("%s, at random: %s", d->name, r.text);
    }
}

static void without_its_fault_a_double_is_right(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) {
        is_fine(&doubles[i], NONE);
    }
}

static void each_fault_is_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) {
        const struct lock_double *d = &doubles[i];
        for (enum sim_mode mode = SIM_ALL; mode <= SIM_RANDOM; mode++) {
            struct sim_result r = explore(d, d->fault, mode, mode == SIM_ALL ? 0 : 20000);
            if (r.verdict != SIM_VIOLATION || strcmp(r.text, d->text) != 0) {
                fail_msg("%s, %s: %s, not %s", d->name, mode == SIM_ALL ? "all" : "at random",
                         r.verdict == SIM_FINE ? "nothing found" : r.text, d->text);
            }
        }
    }
}

/* So that a case that has accesses inside only is known to be too little. */
static void a_weak_unlock_may_show_by_what_follows_it_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof shown_by_nothing / sizeof *shown_by_nothing; i++) {
        is_fine(&shown_by_nothing[i], shown_by_nothing[i].fault);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_its_fault_a_double_is_right),
        cmocka_unit_test(each_fault_is_found),
        cmocka_unit_test(a_weak_unlock_may_show_by_what_follows_it_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
