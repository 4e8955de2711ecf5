#include "sim/execution.h"

#include <stdio.h>
#include <string.h>

/* A part of a thread that is told at once: an event, or a read-modify-write with what the kernel does between
 * its halves. */
struct unit {
    uint8_t thread;
    uint16_t first, n; /* among the thread's events */
};

struct telling {
    const struct sim_graph *g;
    bool told[SIM_EVENTS];
    uint16_t position[SIM_EVENTS]; /* of a write, or of what a read reads, in its place's order */
    uint16_t next[SIM_THREADS];
};

static const struct sim_event *event_of(const struct sim_graph *g, unsigned thread, unsigned index)
{
    return &g->e[g->of[thread][index]];
}

static struct unit unit_of(const struct telling *t, unsigned thread)
{
    const struct sim_graph *g = t->g;
    struct unit u = {(uint8_t)thread, t->next[thread], 1};
    const struct sim_event *e = event_of(g, thread, u.first);
    if (e->type != SIM_READ || !e->exclusive) {
        return u;
    }
    for (unsigned i = u.first; i < g->count[thread]; i++) {
        const struct sim_event *w = event_of(g, thread, i);
        u.n = (uint16_t)(i - u.first + 1);
        if (w->type == SIM_WRITE && w->exclusive && w->half == u.first) {
            break;
        }
    }
    return u;
}

static bool is_in(const struct telling *t, const struct unit *u, sim_id id)
{
    const struct sim_event *e = &t->g->e[id];
    return t->told[id] || e->thread == SIM_INIT ||
           (e->thread == u->thread && e->index >= u->first && e->index < u->first + u->n);
}

/* Everything older of this place has been told, and read by those who read it, but for what a thread does
 * later than this itself. */
static bool is_in_order(const struct telling *t, const struct unit *u, const struct sim_event *e,
                        unsigned position)
{
    const struct sim_graph *g = t->g;
    for (unsigned i = 0; i < g->n; i++) {
        const struct sim_event *other = &g->e[i];
        bool concerns = other->place == e->place &&
                        (other->type == SIM_WRITE || (e->type == SIM_WRITE && other->type == SIM_READ));
        if (concerns && other->thread != e->thread &&
            t->position[i] < position + (e->type == SIM_READ && other->type == SIM_WRITE) &&
            !is_in(t, u, (sim_id)i)) {
            return false;
        }
    }
    return true;
}

/* Can it be told now? strictly: so that nothing looks strange. */
static bool is_ready(const struct telling *t, const struct unit *u, bool strictly)
{
    for (unsigned i = u->first; i < u->first + u->n; i++) {
        sim_id id = t->g->of[u->thread][i];
        const struct sim_event *e = &t->g->e[id];
        if (e->type == SIM_READ && !is_in(t, u, e->from)) {
            return false;
        }
        if (strictly && e->type <= SIM_READ && !is_in_order(t, u, e, t->position[id])) {
            return false;
        }
    }
    return true;
}

static void begin(struct telling *t, const struct sim_graph *g)
{
    memset(t, 0, sizeof *t);
    t->g = g;
    for (unsigned p = 0; p < g->places; p++) {
        for (unsigned i = 0; i < g->writes[p]; i++) {
            t->position[g->mo[p][i]] = (uint16_t)i;
        }
        t->told[p] = true;
    }
    for (unsigned i = g->places; i < g->n; i++) {
        if (g->e[i].type == SIM_READ) {
            t->position[i] = t->position[g->e[i].from];
        }
    }
}

/* The next unit, which is told by this; false at the end. A thread goes on as long as it can. */
static bool next(struct telling *t, struct unit *u)
{
    unsigned before = u->thread;
    for (int strictly = 1; strictly >= 0; strictly--) {
        for (unsigned i = 0; i < SIM_THREADS; i++) {
            unsigned thread = (before + i) % SIM_THREADS;
            if (t->next[thread] == t->g->count[thread]) {
                continue;
            }
            *u = unit_of(t, thread);
            if (is_ready(t, u, strictly)) {
                for (unsigned k = u->first; k < u->first + u->n; k++) {
                    t->told[t->g->of[thread][k]] = true;
                }
                t->next[thread] = (uint16_t)(u->first + u->n);
                return true;
            }
        }
    }
    return false;
}

/* How many writes that have been told stand behind this position. */
static unsigned newer(const struct telling *t, unsigned place, unsigned position)
{
    unsigned n = 0;
    for (unsigned i = position + 1; i < t->g->writes[place]; i++) {
        n += t->told[t->g->mo[place][i]];
    }
    return n;
}

/* ---- steps */

static void set_kind(struct sim_step *s, const struct sim_event *e, const struct sim_event *before)
{
    static const uint8_t ends[] = {SIM_STEP_WOKEN, SIM_STEP_SPURIOUS, SIM_STEP_SIGNAL};
    if (e->type == SIM_FENCE) {
        s->kind = SIM_STEP_FENCE;
    } else if (e->type == SIM_CHOICE) {
        s->kind = e->note == SIM_NOTE_LEAP ? SIM_STEP_LEAP : SIM_STEP_CHOICE;
        s->read = e->value;
    } else if (e->type == SIM_WRITE) {
        s->kind = SIM_STEP_STORE;
    } else if (e->note == SIM_NOTE_LEAVE) {
        s->kind = before->note == SIM_NOTE_INTERRUPT ? ends[before->value % 3] : SIM_STEP_EXPIRED;
    } else if (e->note == SIM_NOTE_WAIT) {
        s->kind = SIM_STEP_SLEEP;
    } else if (e->note == SIM_NOTE_WAKE) {
        s->kind = SIM_STEP_WAKE;
    } else if (e->blocked) {
        s->kind = SIM_STEP_WAITS;
    } else if (e->kernel) {
        s->kind = SIM_STEP_WOKEN;
    } else if (e->exclusive) {
        s->kind = e->note == SIM_NOTE_ADD ? SIM_STEP_ADD : SIM_STEP_EXCHANGE;
    } else {
        s->kind = e->read.compares ? SIM_STEP_FAILED : SIM_STEP_LOAD;
    }
}

/* Threads whose four bits are in the one and not in the other. */
static uint32_t missing(uint64_t one, uint64_t other)
{
    uint32_t threads = 0;
    for (unsigned i = 0; i < SIM_THREADS; i++) {
        if ((one >> 4 * i & 15) && !(other >> 4 * i & 15)) {
            threads |= 1u << i;
        }
    }
    return threads;
}

static const struct sim_event nothing;

static struct sim_step step_of(const struct telling *t, const struct unit *u, const unsigned *number)
{
    const struct sim_graph *g = t->g;
    const struct sim_event *e = event_of(g, u->thread, u->first),
                           *last = event_of(g, u->thread, u->first + u->n - 1u), *read = NULL;
    struct sim_step s = {.thread = u->thread,
                         .operation = e->operation,
                         .place = e->place,
                         .order = e->order,
                         .plain = e->order == SIM_PLAIN && e->type <= SIM_READ};
    set_kind(&s, e, u->first ? event_of(g, u->thread, u->first - 1u) : &nothing);
    if (e->kernel) { /* of the queue only what it says; a wait looked at the word */
        if (s.kind == SIM_STEP_SLEEP) {
            read = event_of(g, u->thread, u->first + (u->n > 1));
            read = read->kernel ? NULL : read;
            s.kind = last->type == SIM_WRITE && last->value == e->value ? SIM_STEP_REFUSED : SIM_STEP_SLEEP;
        } else if (s.kind == SIM_STEP_WAKE && last->type == SIM_WRITE) {
            s.woken = missing(e->value, last->value);
        }
    } else {
        read = e->type == SIM_READ ? e : NULL;
        s.writes = last->type == SIM_WRITE;
        s.written = last->value;
    }
    if (read) {
        s.reads = true;
        s.place = read->place;
        s.read = read->value;
        s.from = number[read->from];
        s.late = newer(t, read->place, t->position[g->of[read->thread][read->index]]) > s.writes;
    }
    if (e->exclusive && s.writes) {
        bool releases = last->order == SIM_RELEASE, acquires = e->order == SIM_ACQUIRE;
        s.order = acquires && releases ? SIM_ACQ_REL : releases ? SIM_RELEASE : e->order;
    }
    return s;
}

/* Nothing came of it: a clock that did not leap, a sleep that went on; the rest is told by what follows. */
static bool is_silent(const struct sim_step *s, const struct sim_event *e)
{
    return (s->kind == SIM_STEP_LEAP && !s->read) || (s->kind == SIM_STEP_CHOICE && e->note != SIM_NOTE_NONE);
}

unsigned sim_execution_steps(const struct sim_graph *g, struct sim_step *steps)
{
    static struct telling t;
    static unsigned number[SIM_EVENTS];
    struct unit u = {0, 0, 0};
    unsigned n = 0;
    begin(&t, g);
    memset(number, 0, g->places * sizeof *number);
    while (next(&t, &u)) {
        struct sim_step s = step_of(&t, &u, number);
        if (is_silent(&s, event_of(g, u.thread, u.first))) {
            continue;
        }
        steps[n++] = s;
        for (unsigned i = u.first; i < u.first + u.n; i++) {
            number[g->of[u.thread][i]] = n;
        }
    }
    return n;
}

/* ---- lines */

static size_t put_number(char *text, size_t size, unsigned n)
{
    if (n > 52) {
        return (size_t)snprintf(text, size, "(%u)", n);
    }
    return n ? (size_t)snprintf(text, size, "%c", n <= 26 ? 'a' + (int)n - 1 : 'A' + (int)n - 27) : 0;
}

bool sim_execution_line(const struct sim_graph *g, unsigned then, char *text, size_t size)
{
    static struct telling t;
    struct unit u = {0, 0, 0};
    size_t used = 0;
    begin(&t, g);
    while (next(&t, &u)) {
        for (unsigned i = u.first; i < u.first + u.n && used < size; i++) {
            sim_id id = g->of[u.thread][i];
            const struct sim_event *e = &g->e[id];
            unsigned n = e->type == SIM_CHOICE ? (unsigned)e->value
                         : e->type == SIM_FENCE || e->order == SIM_PLAIN
                             ? 0
                             : newer(&t, e->place, t.position[id]);
            if (e->type == SIM_READ && u.n > 1 && e->exclusive) {
                n--; /* its own write has been told with it */
            }
            used += (size_t)snprintf(text + used, size - used, "%u", u.thread);
            if (used < size) {
                used += put_number(text + used, size - used, n);
            }
        }
    }
    if (then < SIM_THREADS && used < size) {
        used += (size_t)snprintf(text + used, size - used, "%u", then);
    }
    return used < size;
}

const char *sim_order_name(unsigned order)
{
    static const char *const names[] = {"plain", "relaxed", "acquire", "release", "acq_rel", "seq_cst"};
    return order < sizeof names / sizeof *names ? names[order] : "?";
}
