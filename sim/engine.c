/* Exploration. All executions: the algorithm TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis: Truly
 * Stateless, Optimal Dynamic Partial Order Reduction, POPL 2022). An execution grows event by event; where a
 * read may read from several writes, or a write stand at several places of its place's order, the others are
 * noted to be gone back to; and a new write may be read by reads that are there already, if what has been
 * added after them could be added again in the same way, so that each execution is met once. */
#include "sim/engine.h"

#include "sim/ask.h"
#include "sim/coro.h"
#include "sim/thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STACK (64u * 1024u)

enum state { RUNS, ASKS, STUCK, LEFT, ENDED };

struct thread {
    struct sim_coro coro;
    enum state state;
    unsigned cursor; /* how many of its events it has got */
    struct sim_event *request;
    struct sim_spin spin;
    struct sim_own own;
    bool for_ever; /* STUCK: nothing else could happen to it */
};

enum item_kind { READ_FROM, PLACE_AT, CHOOSE, REVISIT };

/* Something to go back to, in the graph as it was when this event was the newest. */
struct item {
    uint16_t kind;
    sim_id event;
    uint32_t what; /* a write; a position; a value; the read that reads from the event */
};

/* Items are undone in the order opposite to that in which they were noted. A revisit has a graph of its own.
 */
struct branch {
    struct sim_graph graph;
    struct item *items;
    size_t n, room;
};

#define MOST_BRANCHES 64

static struct {
    const struct sim_case *of;
    const struct sim_options *o;
    struct sim_result *result;
    struct thread threads[SIM_THREADS];
    unsigned running;
    struct branch *branches[MOST_BRANCHES];
    unsigned depth;
    struct sim_graph *g; /* the newest branch's */
    uint64_t random;
    unsigned priority[SIM_THREADS];
    const char *line; /* SIM_REPLAY: what is left of it */
    unsigned data;    /* a bit a place that was accessed as data, in whatever execution */
    bool over;
} sim;

/* ---- what threads call */

unsigned sim_self(void)
{
    return sim.running;
}

unsigned sim_done(void)
{
    return sim.threads[sim.running].cursor;
}

const struct sim_event *sim_event_of(unsigned index)
{
    return &sim.g->e[sim.g->of[sim.running][index]];
}

struct sim_spin *sim_spin(void)
{
    return &sim.threads[sim.running].spin;
}

struct sim_own *sim_own(void)
{
    return &sim.threads[sim.running].own;
}

static _Noreturn void stay(struct thread *t, enum state s)
{
    t->state = s;
    for (;;) {
        sim_coro_yield(&t->coro);
    }
}

const struct sim_event *sim_again(void)
{
    struct thread *t = &sim.threads[sim.running];
    if (t->cursor == sim.g->count[sim.running]) {
        return NULL;
    }
    const struct sim_event *e = &sim.g->e[sim.g->of[sim.running][t->cursor]];
    if (e->blocked) {
        return NULL;
    }
    t->cursor++;
    return e;
}

const struct sim_event *sim_ask(struct sim_event *request)
{
    unsigned self = sim.running;
    struct thread *t = &sim.threads[self];
    request->thread = (uint8_t)self;
    request->index = (uint16_t)t->cursor;
    if (t->cursor == sim.g->count[self]) {
        t->request = request;
        t->state = ASKS;
        sim_coro_yield(&t->coro);
    }
    const struct sim_event *e = &sim.g->e[sim.g->of[self][t->cursor++]];
    if (e->blocked) {
        t->for_ever = !e->read.confirms && !e->read.ends && (e->read.unlike == SIM_NONE || t->spin.for_ever);
        stay(t, STUCK);
    }
    return e;
}

static void violates(const char *text, unsigned thread)
{
    sim.result->verdict = SIM_VIOLATION;
    sim.result->thread = thread;
    snprintf(sim.result->text, sizeof sim.result->text, "%s", text);
    sim.over = true;
}

static void fails(const char *text)
{
    sim.result->verdict = SIM_ERROR;
    snprintf(sim.result->text, sizeof sim.result->text, "%s", text);
    sim.over = true;
}

_Noreturn void sim_leave(const char *violation)
{
    if (violation) {
        violates(violation, sim.running);
    }
    stay(&sim.threads[sim.running], LEFT);
}

static void thread_main(void *arg)
{
    (void)arg;
    unsigned self = sim.running;
    sim.of->run(self, sim.of->arg);
    stay(&sim.threads[self], ENDED);
}

/* ---- threads, seen from outside */

static void reset(unsigned t)
{
    struct thread *me = &sim.threads[t];
    sim_coro_begin(&me->coro, thread_main, NULL);
    me->state = RUNS;
    me->cursor = 0;
    me->spin = (struct sim_spin){SIM_NONE, false};
    memset(&me->own, 0, sizeof me->own);
}

static void reset_all(void)
{
    for (unsigned t = 0; t < sim.of->threads; t++) {
        reset(t);
    }
}

static void resume(unsigned t)
{
    sim.running = t;
    sim.threads[t].state = RUNS;
    sim_coro_resume(&sim.threads[t].coro);
}

/* Those who stand before the cut need not begin anew. */
static void cut(unsigned n, unsigned changed)
{
    sim_graph_cut(sim.g, n);
    for (unsigned t = 0; t < sim.of->threads; t++) {
        struct thread *me = &sim.threads[t];
        if (t == changed || me->cursor > sim.g->count[t]) {
            reset(t);
        } else if (me->state == ASKS && me->cursor < sim.g->count[t]) {
            me->state = RUNS; /* what it asked for is there */
        }
    }
}

/* ---- going back */

static void note(enum item_kind kind, sim_id event, unsigned what)
{
    struct branch *b = sim.branches[sim.depth];
    if (b->n == b->room) {
        size_t room = b->room ? b->room * 2 : 256;
        struct item *more = realloc(b->items, room * sizeof *more);
        if (!more) {
            fails("no memory for what is to be explored");
            return;
        }
        b->items = more;
        b->room = room;
    }
    b->items[b->n++] = (struct item){(uint16_t)kind, event, what};
}

static bool push_branch(void)
{
    if (sim.depth + 1 == MOST_BRANCHES) {
        fails("too many revisits within each other");
        return false;
    }
    struct branch **b = &sim.branches[sim.depth + 1];
    if (!*b) {
        *b = calloc(1, sizeof **b);
    }
    if (!*b) {
        fails("no memory for another branch");
        return false;
    }
    (*b)->n = 0;
    sim.depth++;
    sim.g = &(*b)->graph;
    return true;
}

/* Would it be added like this again, were it added with nothing behind it but what is before w? It reads
 * from, or is, the last write of its place, and nobody that came earlier reads from it. */
static bool is_maximal(sim_id id, const struct sim_clock *porf_of_w, sim_id w)
{
    const struct sim_graph *g = sim.g;
    const struct sim_event *e = &g->e[id];
    if (e->type == SIM_CHOICE) {
        return e->value == 0;
    }
    if (e->type == SIM_FENCE) {
        return true;
    }
    for (unsigned i = g->places; e->type == SIM_WRITE && i < g->n; i++) {
        if (g->e[i].type == SIM_READ && g->e[i].from == id &&
            (i <= id || sim_is_before(&g->e[i], porf_of_w))) {
            return false;
        }
    }
    sim_id write = e->type == SIM_READ ? e->from : id;
    const sim_id *mo = g->mo[e->place];
    for (unsigned i = g->writes[e->place]; i-- > 0 && mo[i] != write;) {
        if (mo[i] != w && (mo[i] <= id || sim_is_before(&g->e[mo[i]], porf_of_w))) {
            return false;
        }
    }
    return true;
}

/* The new write w may be read by these reads. */
static void note_revisits(sim_id w)
{
    const struct sim_graph *g = sim.g;
    const struct sim_event *write = &g->e[w];
    for (sim_id r = 0; r < w; r++) {
        const struct sim_event *read = &g->e[r];
        if (read->type != SIM_READ || read->place != write->place || read->order == SIM_PLAIN ||
            sim_is_before(read, &write->porf)) {
            continue;
        }
        bool may = true;
        for (unsigned e = r; may && e < w; e++) {
            may = sim_is_before(&g->e[e], &write->porf) || is_maximal((sim_id)e, &write->porf, w);
        }
        if (may) {
            note(REVISIT, w, r);
        }
    }
}

/* Is what reads from this write still coherent, where the write stands now? */
static bool readers_are_coherent(sim_id write)
{
    const struct sim_graph *g = sim.g;
    unsigned position = sim_graph_position(g, write);
    for (unsigned i = g->places; i < g->n; i++) {
        if (g->e[i].type == SIM_READ && g->e[i].from == write && sim_graph_oldest(g, &g->e[i]) > position) {
            return false;
        }
    }
    return true;
}

static bool is_consistent(void)
{
    return !sim.g->seq_cst || sim_graph_is_seq_cst(sim.g);
}

/* Which positions the write, the newest event, may have: writes them into at[] and returns how many. Data
 * that are not atomic are written in order. */
static unsigned positions(sim_id w, uint16_t at[SIM_EVENTS])
{
    const struct sim_event *e = &sim.g->e[w];
    unsigned n = 0, last = sim.g->writes[e->place] - 1u,
             p = e->order == SIM_PLAIN ? last
                                       : sim_graph_known(sim.g, e->place, sim_graph_before(sim.g, e)) + 1;
    for (; p <= last; p++) {
        if (sim_graph_may_place(sim.g, w, p)) {
            at[n++] = (uint16_t)p;
        }
    }
    return n;
}

/* Notes every position but the last, where the write stands now. Returns whether that is allowed. */
static bool note_positions(sim_id w)
{
    static uint16_t at[SIM_EVENTS];
    unsigned n = positions(w, at);
    bool stays = n && at[n - 1] == sim_graph_position(sim.g, w);
    for (unsigned i = 0; i < n - stays; i++) {
        note(PLACE_AT, w, at[i]);
    }
    return stays;
}

static bool revisit(sim_id w, sim_id r)
{
    static bool keep[SIM_EVENTS];
    static sim_id numbers[SIM_EVENTS];
    const struct sim_graph *from = sim.g;
    sim_graph_cut(sim.g, w + 1u);
    for (unsigned i = 0; i < from->n; i++) {
        keep[i] = i <= r || i == w || sim_is_before(&from->e[i], &from->e[w].porf);
    }
    if (!push_branch()) {
        return false;
    }
    sim_graph_restrict(sim.g, from, keep, r, numbers);
    r = numbers[r];
    w = numbers[w];
    sim_graph_place(sim.g, w, sim.g->writes[sim.g->e[w].place] - 1u);
    sim_graph_read_from(sim.g, r, w);
    reset_all();
    return note_positions(w) && readers_are_coherent(w) && is_consistent();
}

/* Goes back to what was noted last. Returns whether that is an execution; sets sim.over at the end. */
static bool go_back(void)
{
    while (!sim.branches[sim.depth]->n) {
        if (sim.depth == 0) {
            sim.over = true;
            return false;
        }
        sim.g = &sim.branches[--sim.depth]->graph;
        reset_all();
    }
    struct item i = sim.branches[sim.depth]->items[--sim.branches[sim.depth]->n];
    unsigned thread = sim.g->e[i.event].thread;
    switch (i.kind) {
    case READ_FROM:
        cut(i.event + 1u, thread);
        sim_graph_read_from(sim.g, i.event, (sim_id)i.what);
        break;
    case PLACE_AT:
        cut(i.event + 1u, SIM_THREADS);
        sim_graph_place(sim.g, i.event, i.what);
        if (!readers_are_coherent(i.event)) {
            return false;
        }
        break;
    case CHOOSE:
        cut(i.event + 1u, thread);
        sim.g->e[i.event].value = i.what;
        break;
    default:
        return revisit(i.event, (sim_id)i.what);
    }
    return is_consistent();
}

/* ---- going on */

static uint64_t draw(uint64_t n)
{
    sim.random ^= sim.random << 13;
    sim.random ^= sim.random >> 7;
    sim.random ^= sim.random << 17;
    return (sim.random >> 11) % n;
}

bool sim_is_reduced(void)
{
    return sim.o->mode == SIM_ALL && !sim.o->unreduced;
}

static bool explores_all(void)
{
    return sim.o->mode == SIM_ALL;
}

static bool replays(void)
{
    return sim.o->mode == SIM_REPLAY;
}

static bool does_not_fit(void)
{
    char text[120];
    snprintf(text, sizeof text,
             "the line to replay does not fit at its character %zu: it was printed for another case, lock or "
             "version",
             (size_t)(sim.line - sim.o->line));
    fails(text);
    return false;
}

/* What stands behind a step's thread: see sim_execution_line(). */
static unsigned told(void)
{
    char c = *sim.line;
    if (c == '(') {
        char *end;
        unsigned long n = strtoul(sim.line + 1, &end, 10);
        sim.line = end + (*end == ')');
        return n < SIM_EVENTS ? (unsigned)n : SIM_EVENTS;
    }
    sim.line += (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return c >= 'a' && c <= 'z'   ? (unsigned)(c - 'a' + 1)
           : c >= 'A' && c <= 'Z' ? (unsigned)(c - 'A' + 27)
                                  : 0;
}

/* The position so many before the last; false: it is not one of those from `least` on. */
static bool told_position(unsigned place, unsigned least, unsigned *position)
{
    unsigned back = told(), last = sim.g->writes[place] - 1u;
    *position = last - back;
    return back <= last && *position >= least ? true : does_not_fit();
}

/* Two accesses of one place, one of them a write and one of them of data, have to be ordered. */
static bool races(const struct sim_event *e)
{
    const struct sim_graph *g = sim.g;
    const struct sim_clock *hb = sim_graph_before(g, e);
    if (e->order == SIM_PLAIN) {
        sim.data |= 1u << e->place;
    } else if (!(sim.data >> e->place & 1)) {
        return false; /* only ever accessed atomically so far */
    }
    for (unsigned t = 0; t < sim.of->threads; t++) {
        for (unsigned i = t == e->thread ? 0 : g->count[t]; i-- > hb->of[t];) {
            const struct sim_event *other = &g->e[g->of[t][i]];
            if (other->type <= SIM_READ && other->place == e->place &&
                (e->type == SIM_WRITE || other->type == SIM_WRITE) &&
                (e->order == SIM_PLAIN || other->order == SIM_PLAIN)) {
                return true;
            }
        }
    }
    return false;
}

/* Has another thread read this write to change it, and not done so yet? */
static bool is_taken(sim_id write, unsigned but)
{
    const struct sim_graph *g = sim.g;
    for (unsigned t = 0; t < sim.of->threads; t++) {
        for (unsigned i = t == but ? 0 : g->count[t]; i-- > 0;) {
            const struct sim_event *e = &g->e[g->of[t][i]];
            if (e->type == SIM_WRITE && e->exclusive) {
                break;
            }
            if (e->type == SIM_READ && e->exclusive) {
                if (e->from == write) {
                    return true;
                }
                break;
            }
        }
    }
    return false;
}

/* A read that a thread could go on with. */
static bool is_useful(const struct sim_event *request, unsigned position)
{
    const struct sim_graph *g = sim.g;
    const sim_id *mo = g->mo[request->place];
    bool exclusive, blocked;
    sim_graph_meaning(g, request, mo[position], &exclusive, &blocked);
    if (blocked) {
        return false;
    }
    return !exclusive || ((position + 1u == g->writes[request->place] || !g->e[mo[position + 1]].exclusive) &&
                          !is_taken(mo[position], request->thread));
}

/* Its thread could not go on then. */
static bool is_in_vain(const struct sim_event *request, unsigned position)
{
    bool exclusive, blocked;
    sim_graph_meaning(sim.g, request, sim.g->mo[request->place][position], &exclusive, &blocked);
    return blocked;
}

/* The oldest of those that answer yes, and of those that answer no: reading it, a thread depends on least;
 * and the newest of all, without which what comes later would not be met in other orders (engine.c's
 * is_maximal()). */
static unsigned differing(const struct sim_event *request, uint16_t at[SIM_EVENTS])
{
    const struct sim_graph *g = sim.g;
    const sim_id *mo = g->mo[request->place];
    unsigned last = g->writes[request->place] - 1u, n = 0;
    bool met[2] = {false, false};
    for (unsigned p = sim_graph_oldest(g, request); p <= last; p++) {
        bool answer = (g->e[mo[p]].value & request->read.any) != 0;
        if (!met[answer] || p == last) {
            at[n++] = (uint16_t)p;
        }
        met[answer] = true;
    }
    return n;
}

/* Which positions the read may read from: writes them into at[] and returns how many. */
static unsigned choices(const struct sim_event *request, uint16_t at[SIM_EVENTS])
{
    unsigned n = 0;
    unsigned last = sim.g->writes[request->place] - 1u;
    if (sim_is_reduced() && request->read.any) {
        return differing(request, at);
    }
    for (unsigned p = sim_graph_oldest(sim.g, request); p <= last; p++) {
        /* the last even if in vain: a newer write may come, and be read instead */
        if (explores_all() ? p == last || !is_in_vain(request, p) : is_useful(request, p)) {
            at[n++] = (uint16_t)p;
        }
    }
    return n;
}

static bool add_told_read(struct sim_event *request)
{
    unsigned p;
    if (!told_position(request->place, sim_graph_oldest(sim.g, request), &p)) {
        return false;
    }
    request->from = sim.g->mo[request->place][p];
    sim_graph_add(sim.g, request);
    return is_consistent();
}

static bool add_told_write(sim_id id)
{
    unsigned place = sim.g->e[id].place, p;
    if (!told_position(place, sim_graph_known(sim.g, place, sim_graph_before(sim.g, &sim.g->e[id])) + 1,
                       &p)) {
        return false;
    }
    if (!sim_graph_may_place(sim.g, id, p)) {
        return does_not_fit();
    }
    sim_graph_place(sim.g, id, p);
    return is_consistent();
}

/* At random: what the read of the thread that was chosen may read from. */
static struct {
    unsigned n;
    uint16_t at[SIM_EVENTS];
} found;

static bool add_read(struct sim_event *request)
{
    if (replays() && request->order != SIM_PLAIN) {
        return add_told_read(request);
    }
    if (explores_all() || replays()) {
        found.n = choices(request, found.at);
    }
    unsigned n = found.n;
    const uint16_t *at = found.at;
    if (!n) {
        return false;
    }
    unsigned chosen = explores_all() || request->order == SIM_PLAIN ? n - 1 : (unsigned)draw(n);
    request->from = sim.g->mo[request->place][at[chosen]];
    sim_id id = sim_graph_add(sim.g, request);
    for (unsigned i = 0; explores_all() && request->order != SIM_PLAIN && i < n - 1; i++) {
        note(READ_FROM, id, sim.g->mo[request->place][at[i]]);
    }
    return is_consistent();
}

static bool add_write(const struct sim_event *request)
{
    sim_id id = sim_graph_add(sim.g, request);
    if (explores_all()) {
        bool last = note_positions(id);
        if (request->order != SIM_PLAIN) {
            note_revisits(id);
        }
        return last && is_consistent();
    }
    if (request->order == SIM_PLAIN) {
        return true;
    }
    if (replays()) {
        return add_told_write(id);
    }
    static uint16_t at[SIM_EVENTS];
    unsigned n = positions(id, at);
    if (!n) {
        return false;
    }
    sim_graph_place(sim.g, id, at[draw(n)]);
    return is_consistent();
}

static bool add_choice(struct sim_event *request)
{
    unsigned options = (unsigned)request->read.expected;
    request->value = explores_all() ? 0 : replays() ? told() : draw(options);
    if (request->value >= options) {
        return does_not_fit();
    }
    sim_id id = sim_graph_add(sim.g, request);
    for (unsigned i = 1; explores_all() && i < options; i++) {
        note(CHOOSE, id, i);
    }
    return true;
}

/* Adds the event that the thread asks for. Returns whether that is an execution. */
static bool add(unsigned t)
{
    struct sim_event *request = sim.threads[t].request;
    sim.result->events++;
    if (sim.g->n == SIM_EVENTS) {
        fails("an execution has too many events");
        return false;
    }
    if (request->type <= SIM_READ && races(request)) {
        violates("data race", t);
        sim.result->before_step = true;
        return false;
    }
    switch (request->type) {
    case SIM_READ:
        return add_read(request);
    case SIM_WRITE:
        return add_write(request);
    case SIM_CHOICE:
        return add_choice(request);
    default:
        sim_graph_add(sim.g, request);
        return is_consistent();
    }
}

/* Runs every thread until it asks, has ended or is stuck. False: one met a bound, or a violation. */
static bool run_all(void)
{
    for (unsigned t = 0; t < sim.of->threads && !sim.over; t++) {
        if (sim.threads[t].state == RUNS) {
            resume(t);
        }
        /* The others go on: they may write what this one reads instead, before it meets the bound. */
        if (sim.threads[t].state == LEFT && !explores_all()) {
            return false;
        }
    }
    return !sim.over;
}

static unsigned told_thread(void)
{
    unsigned t = (unsigned)(*sim.line - '0');
    if (!*sim.line) {
        return SIM_THREADS;
    }
    if (t >= sim.of->threads || sim.threads[t].state != ASKS) {
        does_not_fit();
        return SIM_THREADS;
    }
    sim.line++;
    return t;
}

/* Which of these threads has the highest priority. */
static unsigned first_of(const unsigned *threads, unsigned n)
{
    unsigned best = 0;
    for (unsigned i = 1; i < n; i++) {
        best = sim.priority[threads[i]] > sim.priority[threads[best]] ? i : best;
    }
    return best;
}

/* In all executions the order of threads does not matter; the first that asks is taken. At random one whose
 * read-modify-write is half done goes on, and one that could only read in vain does not. */
static unsigned next_thread(void)
{
    if (replays()) {
        return told_thread();
    }
    unsigned asks[SIM_THREADS], n = 0;
    for (unsigned t = 0; t < sim.of->threads; t++) {
        if (sim.threads[t].state == ASKS) {
            asks[n++] = t;
            if (explores_all() || sim.threads[t].request->exclusive) {
                return t;
            }
        }
    }
    while (n) {
        unsigned i = sim.o->mode == SIM_PCT ? first_of(asks, n) : (unsigned)draw(n), t = asks[i];
        const struct sim_event *request = sim.threads[t].request;
        if (request->type != SIM_READ || (found.n = choices(request, found.at))) {
            return t;
        }
        asks[i] = asks[--n];
    }
    return SIM_THREADS;
}

/* ---- the end of an execution */

/* Could a read that blocks its thread read something newer than it does? */
static bool may_read_on(unsigned t)
{
    const struct sim_graph *g = sim.g;
    const struct sim_event *e = sim_graph_last(g, t);
    if (!explores_all()) {
        return false; /* it would have */
    }
    return e->from != g->mo[e->place][g->writes[e->place] - 1];
}

static void finish(void)
{
    bool ended = true, in_vain = true, cut = false;
    unsigned stuck = SIM_THREADS, waiting = 0;
    for (unsigned t = 0; t < sim.of->threads; t++) {
        const struct thread *me = &sim.threads[t];
        cut = cut || me->state == LEFT;
        if (me->state == STUCK || me->state == ASKS) {
            bool for_ever =
                me->state == STUCK
                    ? me->for_ever
                    : !me->request->read.ends && (me->request->read.unlike == SIM_NONE || me->spin.for_ever);
            ended = false;
            waiting |= 1u << t;
            in_vain = in_vain && for_ever && !(me->state == STUCK && may_read_on(t));
            stuck = t;
        }
    }
    if (cut) {
        sim.result->cut++;
    } else if (ended) {
        sim.result->executions++;
        const char *wrong = sim.of->end ? sim.of->end(sim.g, sim.of->arg) : NULL;
        if (wrong) {
            violates(wrong, SIM_THREADS);
        }
    } else if (in_vain) {
        violates("all threads that have not ended wait, for ever", stuck);
        sim.result->waiting = waiting;
    } else {
        sim.result->blocked++;
    }
}

/* Goes on until all threads have ended, or none can. Returns false when what has been begun is no execution.
 */
static bool go_on(void)
{
    unsigned change_at[16] = {0}, changes = sim.o->mode == SIM_PCT ? sim.o->changes : 0;
    for (unsigned i = 0; i < changes; i++) {
        change_at[i] = (unsigned)draw(sim.o->steps) + 1;
    }
    for (unsigned step = 1; !sim.over; step++) {
        if (!run_all()) {
            return true;
        }
        unsigned t = next_thread();
        if (t == SIM_THREADS) {
            return true;
        }
        for (unsigned i = 0; i < changes; i++) {
            if (change_at[i] == step) {
                sim.priority[t] = i;
            }
        }
        if (!add(t)) {
            return false;
        }
        sim.threads[t].state = RUNS;
    }
    return true;
}

static void begin_at_random(void)
{
    sim_graph_init(sim.g, sim.of->places, sim.of->initial);
    reset_all();
    for (unsigned t = 0; t < sim.of->threads; t++) { /* a permutation, above the numbers of changes */
        unsigned at = (unsigned)draw(t + 1u);
        sim.priority[t] = sim.priority[at];
        sim.priority[at] = t + 16;
    }
}

#define TURNS_BETWEEN 4096 /* questions whether to stop */

static void explore(void)
{
    bool good = true;
    unsigned turns = 0;
    sim_graph_init(sim.g, sim.of->places, sim.of->initial);
    reset_all();
    while (!sim.over) {
        if (!explores_all()) {
            begin_at_random();
        }
        if (sim.o->stop && ++turns % TURNS_BETWEEN == 0 && sim.o->stop(sim.result, sim.o->stop_arg)) {
            return;
        }
        if (good && go_on() && !sim.over) {
            finish();
        }
        uint64_t done = sim.result->executions + sim.result->blocked + sim.result->cut;
        if (replays() && !done && !sim.over) {
            does_not_fit();
        }
        if (sim.over || replays() || (sim.o->executions && done >= sim.o->executions)) {
            return;
        }
        if (explores_all()) {
            good = go_back();
        }
    }
    sim.result->complete = sim.result->verdict == SIM_FINE;
}

struct sim_result sim_explore(const struct sim_case *c, const struct sim_options *o, struct sim_graph *g)
{
    struct sim_result result = {.verdict = SIM_FINE, .thread = SIM_THREADS};
    memset(&sim, 0, sizeof sim);
    sim.of = c;
    sim.o = o;
    sim.line = o->line;
    sim.result = &result;
    sim.random = o->seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du;
    bool ready = true;
    for (unsigned t = 0; t < c->threads; t++) {
        ready = ready && sim_coro_make(&sim.threads[t].coro, STACK) == 0;
    }
    sim.branches[0] = calloc(1, sizeof *sim.branches[0]);
    if (ready && sim.branches[0]) {
        sim.g = &sim.branches[0]->graph;
        explore();
        if (g) {
            sim_graph_copy(g, sim.g);
        }
    } else {
        fails("no memory for the threads");
    }
    for (unsigned t = 0; t < c->threads; t++) {
        sim_coro_free(&sim.threads[t].coro);
    }
    for (unsigned i = 0; i < MOST_BRANCHES; i++) {
        if (sim.branches[i]) {
            free(sim.branches[i]->items);
            free(sim.branches[i]);
        }
    }
    return result;
}
