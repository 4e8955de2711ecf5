/* Counting, without an atomic read-modify-write and without a cache line that two threads write: each thread
 * has a cell for each class and state that it uses, and only it writes there. Reading adds the cells up. A
 * reset starts a new epoch: a cell of an older one counts as empty, and its thread clears it at its next use.
 */
#include "internal.h"

#include <string.h>

#define WORDS (sizeof(struct pawl_stats_state) / sizeof(uint64_t))

static uint64_t epoch = 1;

void pawl_lib_bump(uint64_t *counter, uint64_t by)
{
    lib_set(counter, lib_get(counter) + by);
}

static void raise_to(uint64_t *maximum, uint64_t value)
{
    if (value > lib_get(maximum)) {
        lib_set(maximum, value);
    }
}

/* floor(log2(ns)) */
static unsigned bucket_of(uint64_t ns)
{
    return 63u - (unsigned)__builtin_clzll(ns | 1);
}

static void clear(struct lib_cell *c, uint64_t now)
{
    uint64_t *word = (uint64_t *)(void *)&c->n;
    for (size_t i = 0; i < WORDS; i++) {
        lib_set(&word[i], 0);
    }
    lib_set(&c->last, 0);
    lib_set(&c->last_ns, 0);
    lib_set_rel(&c->epoch, now);
}

struct lib_cell *pawl_lib_cell(struct lib_thread *t, uint32_t class_, unsigned state)
{
    struct lib_cell **slot = &t->cells[class_ * PAWL_STATES + state], *c = lib_get(slot);
    if (!c) {
        pawl_lib_lock();
        c = pawl_lib_alloc(sizeof *c);
        pawl_lib_unlock();
        if (!c) {
            return NULL;
        }
        lib_set_rel(slot, c);
    }
    uint64_t now = lib_get(&epoch);
    if (lib_get(&c->epoch) != now) {
        clear(c, now);
    }
    return c;
}

void pawl_lib_count_took(struct lib_cell *c, lib_event who, uint64_t now)
{
    pawl_lib_bump(&c->n.acquisitions, 1);
    lib_set(&c->last, who);
    lib_set(&c->last_ns, now);
}

void pawl_lib_count_wait(struct lib_cell *c, uint64_t ns)
{
    pawl_lib_bump(&c->n.waits, 1);
    pawl_lib_bump(&c->n.wait_ns, ns);
    raise_to(&c->n.wait_max_ns, ns);
    pawl_lib_bump(&c->n.wait_hist[bucket_of(ns)], 1);
}

void pawl_lib_count_held(struct lib_cell *c, uint64_t ns)
{
    pawl_lib_bump(&c->n.held_ns, ns);
    raise_to(&c->n.held_max_ns, ns);
    pawl_lib_bump(&c->n.held_hist[bucket_of(ns)], 1);
}

static void add_state(struct pawl_stats_state *sum, struct pawl_stats_state *n)
{
    uint64_t wait_max = sum->wait_max_ns, held_max = sum->held_max_ns;
    uint64_t *to = (uint64_t *)(void *)sum, *from = (uint64_t *)(void *)n;
    for (size_t i = 0; i < WORDS; i++) {
        to[i] += lib_get(&from[i]);
    }
    sum->wait_max_ns = wait_max;
    sum->held_max_ns = held_max;
    raise_to(&sum->wait_max_ns, lib_get(&n->wait_max_ns));
    raise_to(&sum->held_max_ns, lib_get(&n->held_max_ns));
}

static void add_last(struct pawl_stats_last *last, struct lib_cell *c)
{
    lib_event e = lib_get(&c->last);
    uint64_t ns = lib_get(&c->last_ns);
    if (e && ns >= last->time_ns) {
        const struct lib_site *site = pawl_lib_site(lib_event_site(e));
        *last = (struct pawl_stats_last){lib_event_thread(e), (enum pawl_state)lib_event_state(e),
                                         site->file,          site->function,
                                         site->line,          ns};
    }
}

/* Adds up what all threads counted of a class. False: nothing. */
static bool add_up(struct pawl_stats_class *sum, uint32_t class_)
{
    bool used = false;
    uint64_t now = lib_get(&epoch);
    memset(sum, 0, sizeof *sum);
    sum->name = pawl_lib_class_name(class_, &sum->named);
    for (struct lib_thread *t = pawl_lib_threads(); t; t = t->next) {
        for (unsigned s = 0; s < PAWL_STATES; s++) {
            struct lib_cell *c = lib_get_acq(&t->cells[class_ * PAWL_STATES + s]);
            if (c && lib_get_acq(&c->epoch) == now) {
                used = true;
                add_state(&sum->state[s], &c->n);
                add_last(&sum->last, c);
            }
        }
    }
    return used;
}

size_t pawl_stats_snapshot(pawl_stats_each *each, void *arg)
{
    struct pawl_stats_class sum;
    size_t n = 0;
    for (uint32_t i = LIB_OTHER_CLASS + 1; i <= pawl_lib_class_count(); i++) {
        uint32_t class_ =
            i < pawl_lib_class_count() ? i : LIB_OTHER_CLASS; /* the collected rest comes last */
        if (add_up(&sum, class_)) {
            n++;
            each(&sum, arg);
        }
    }
    return n;
}

void pawl_stats_losses(struct pawl_stats_lost *lost)
{
    uint64_t *to = (uint64_t *)(void *)lost, *from = (uint64_t *)(void *)&pawl_lib_lost;
    for (size_t i = 0; i < sizeof *lost / sizeof *to; i++) {
        to[i] = lib_get(&from[i]);
    }
}

void pawl_stats_reset(void)
{
    __atomic_fetch_add(&epoch, 1, __ATOMIC_RELAXED);
}
