#include "sim/graph.h"

#include <stddef.h>
#include <string.h>

static void join(struct sim_clock *c, const struct sim_clock *more)
{
    for (unsigned t = 0; t < SIM_THREADS; t++) {
        c->of[t] = c->of[t] > more->of[t] ? c->of[t] : more->of[t];
    }
}

static bool acquires(unsigned order)
{
    return order == SIM_ACQUIRE || order == SIM_ACQ_REL || order == SIM_SEQ_CST;
}

static bool releases(unsigned order)
{
    return order == SIM_RELEASE || order == SIM_ACQ_REL || order == SIM_SEQ_CST;
}

void sim_graph_init(struct sim_graph *g, unsigned places, const uint64_t *initial)
{
    g->n = g->places = places;
    g->seq_cst = false;
    memset(g->count, 0, sizeof g->count);
    memset(g->e, 0, places * sizeof *g->e);
    for (unsigned p = 0; p < places; p++) {
        g->e[p].type = SIM_WRITE;
        g->e[p].thread = SIM_INIT;
        g->e[p].place = (uint8_t)p;
        g->e[p].value = initial[p];
        g->writes[p] = 1;
        g->mo[p][0] = (sim_id)p;
    }
}

void sim_graph_copy(struct sim_graph *to, const struct sim_graph *from)
{
    memcpy(to, from, offsetof(struct sim_graph, of));
    for (unsigned t = 0; t < SIM_THREADS; t++) {
        memcpy(to->of[t], from->of[t], from->count[t] * sizeof(sim_id));
    }
    for (unsigned p = 0; p < from->places; p++) {
        memcpy(to->mo[p], from->mo[p], from->writes[p] * sizeof(sim_id));
    }
    memcpy(to->e, from->e, from->n * sizeof *to->e);
}

const struct sim_event *sim_graph_last(const struct sim_graph *g, unsigned thread)
{
    static const struct sim_event nothing;
    return g->count[thread] ? &g->e[g->of[thread][g->count[thread] - 1]] : &nothing;
}

void sim_graph_meaning(const struct sim_graph *g, const struct sim_event *read, sim_id write, bool *exclusive,
                       bool *blocked)
{
    const struct sim_read *r = &read->read;
    uint64_t value = g->e[write].value;
    *exclusive = r->changes && (!r->compares || value == r->expected);
    *blocked = (value & r->clear) || (r->confirms && !*exclusive) ||
               (!*exclusive && r->unlike != SIM_NONE && g->e[g->of[read->thread][r->unlike]].from == write);
}

/* What follows for a read from the write it reads. */
static void set_read(struct sim_graph *g, struct sim_event *e)
{
    e->value = g->e[e->from].value;
    sim_graph_meaning(g, e, e->from, &e->exclusive, &e->blocked);
    e->order = e->read.changes && !e->exclusive ? e->read.otherwise : e->read.order;
}

/* Clocks that follow from the event before and what is read. */
static void set_clocks(struct sim_graph *g, struct sim_event *e)
{
    static const struct sim_event nothing;
    const struct sim_event *before = e->index ? &g->e[g->of[e->thread][e->index - 1]] : &nothing;
    e->hb = before->hb;
    e->porf = before->porf;
    e->fence = before->fence;
    e->pending = before->pending;
    if (e->type == SIM_READ) {
        const struct sim_event *write = &g->e[e->from];
        join(&e->porf, &write->porf);
        if (e->order != SIM_PLAIN && !e->kernel) {
            join(&e->pending, &write->release);
        }
        if (acquires(e->order)) {
            join(&e->hb, &write->release);
        }
    } else if (e->type == SIM_FENCE && acquires(e->order)) {
        join(&e->hb, &e->pending);
    }
    e->hb.of[e->thread] = e->porf.of[e->thread] = (uint16_t)(e->index + 1);
    if (e->type == SIM_FENCE && releases(e->order)) {
        e->fence = e->hb;
    }
    if (e->type == SIM_WRITE) {
        e->release = e->fence;
        if (releases(e->order) || e->kernel) {
            e->release = e->hb;
        } else if (e->order == SIM_PLAIN) {
            memset(&e->release, 0, sizeof e->release);
        }
        if (e->exclusive) { /* it continues the release sequence of what it read */
            join(&e->release, &g->e[g->e[g->of[e->thread][e->half]].from].release);
        }
    }
}

sim_id sim_graph_add(struct sim_graph *g, const struct sim_event *event)
{
    if (g->n == SIM_EVENTS) {
        return SIM_NONE;
    }
    sim_id id = (sim_id)g->n++;
    struct sim_event *e = &g->e[id];
    *e = *event;
    e->index = g->count[e->thread];
    g->of[e->thread][g->count[e->thread]++] = id;
    if (e->type == SIM_READ) {
        set_read(g, e);
    } else if (e->type == SIM_WRITE) {
        g->mo[e->place][g->writes[e->place]++] = id;
    }
    g->seq_cst |= e->order == SIM_SEQ_CST && e->type != SIM_CHOICE;
    set_clocks(g, e);
    return id;
}

void sim_graph_cut(struct sim_graph *g, unsigned n)
{
    for (unsigned t = 0; t < SIM_THREADS; t++) {
        while (g->count[t] && g->of[t][g->count[t] - 1] >= n) {
            g->count[t]--;
        }
    }
    for (unsigned p = 0; p < g->places; p++) {
        unsigned kept = 0;
        for (unsigned i = 0; i < g->writes[p]; i++) {
            if (g->mo[p][i] < n) {
                g->mo[p][kept++] = g->mo[p][i];
            }
        }
        g->writes[p] = (uint16_t)kept;
    }
    g->n = n;
}

void sim_graph_restrict(struct sim_graph *to, const struct sim_graph *g, const bool *keep, sim_id open,
                        sim_id *numbers)
{
    to->n = 0;
    to->places = g->places;
    to->seq_cst = g->seq_cst;
    memset(to->count, 0, sizeof to->count);
    for (unsigned i = 0; i < g->n; i++) {
        numbers[i] = keep[i] ? (sim_id)to->n++ : SIM_NONE;
    }
    for (unsigned i = 0; i < g->n; i++) {
        if (!keep[i]) {
            continue;
        }
        struct sim_event *e = &to->e[numbers[i]];
        *e = g->e[i];
        if (e->type == SIM_READ && i != open) {
            e->from = numbers[e->from];
        }
        if (e->thread != SIM_INIT) {
            to->of[e->thread][to->count[e->thread]++] = numbers[i];
        }
    }
    for (unsigned p = 0; p < g->places; p++) {
        to->writes[p] = 0;
        for (unsigned i = 0; i < g->writes[p]; i++) {
            if (keep[g->mo[p][i]]) {
                to->mo[p][to->writes[p]++] = numbers[g->mo[p][i]];
            }
        }
    }
}

void sim_graph_read_from(struct sim_graph *g, sim_id read, sim_id write)
{
    struct sim_event *e = &g->e[read];
    e->from = write;
    set_read(g, e);
    g->seq_cst |= e->order == SIM_SEQ_CST;
    set_clocks(g, e);
}

static unsigned position_of(const struct sim_graph *g, unsigned place, sim_id write)
{
    unsigned i = g->writes[place] - 1u;
    while (g->mo[place][i] != write) {
        i--;
    }
    return i;
}

unsigned sim_graph_position(const struct sim_graph *g, sim_id write)
{
    return position_of(g, g->e[write].place, write);
}

void sim_graph_place(struct sim_graph *g, sim_id write, unsigned position)
{
    sim_id *mo = g->mo[g->e[write].place];
    unsigned at = sim_graph_position(g, write);
    for (; at < position; at++) {
        mo[at] = mo[at + 1];
    }
    for (; at > position; at--) {
        mo[at] = mo[at - 1];
    }
    mo[position] = write;
}

/* What a thread knows of a place is what its last event there wrote or read: by coherence that stands behind
 * all earlier ones. */
unsigned sim_graph_known(const struct sim_graph *g, unsigned place, const struct sim_clock *hb)
{
    unsigned known = 0;
    for (unsigned t = 0; t < SIM_THREADS; t++) {
        for (unsigned i = hb->of[t]; i-- > 0;) {
            sim_id id = g->of[t][i];
            const struct sim_event *e = &g->e[id];
            if (e->place == place && e->type <= SIM_READ) {
                unsigned position = position_of(g, place, e->type == SIM_READ ? e->from : id);
                known = known > position ? known : position;
                break;
            }
        }
    }
    return known;
}

const struct sim_clock *sim_graph_before(const struct sim_graph *g, const struct sim_event *e)
{
    static const struct sim_clock nothing;
    return e->index ? &g->e[g->of[e->thread][e->index - 1]].hb : &nothing;
}

unsigned sim_graph_oldest(const struct sim_graph *g, const struct sim_event *read)
{
    const sim_id *own = g->of[read->thread];
    unsigned oldest = sim_graph_known(g, read->place, sim_graph_before(g, read));
    if (read->read.behind != SIM_NONE) {
        const struct sim_event *call = &g->e[own[read->read.behind]];
        unsigned seen = sim_graph_known(g, read->place, &g->e[call->from].release);
        oldest = oldest > seen ? oldest : seen;
    }
    return oldest;
}

bool sim_graph_may_place(const struct sim_graph *g, sim_id write, unsigned position)
{
    const struct sim_event *e = &g->e[write];
    const sim_id *mo = g->mo[e->place];
    unsigned at = sim_graph_position(g, write);
    unsigned next = position < at ? position : position + 1; /* what would follow, as things stand */
    unsigned prior = position <= at ? position - 1 : position;
    if (e->exclusive && mo[prior] != g->e[g->of[e->thread][e->half]].from) {
        return false;
    }
    if (next < g->writes[e->place]) {
        const struct sim_event *follower = &g->e[mo[next]];
        if (follower->exclusive) {
            return g->e[g->of[follower->thread][follower->half]].from == write;
        }
    }
    return true;
}
