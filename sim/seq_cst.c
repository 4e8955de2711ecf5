/* RC11's condition on sequentially consistent events: psc = pscbase | pscF has no circle, with
 *   scb     = sb | sb-to-another-place; hb; sb-to-another-place | hb-on-one-place | mo | fr
 *   pscbase = ([Esc] | [Fsc]; hb?); scb; ([Esc] | hb?; [Fsc])
 *   pscF    = [Fsc]; (hb | hb; eco; hb); [Fsc]
 * (the paper named in graph.h, section 3). Sets of events are rows of bits; it is called for small executions
 * only, those with such events. */
#include "sim/graph.h"

#include <string.h>

#define WORDS (SIM_EVENTS / 64)

typedef uint64_t row[WORDS];

static struct relations {
    row sb, apart; /* program order; to another place (fences are elsewhere) */
    row hb, eco, scb;
} rel[SIM_EVENTS];
static row psc[SIM_EVENTS];

static void set(row r, unsigned i)
{
    r[i / 64] |= (uint64_t)1 << (i % 64);
}

static bool has(const row r, unsigned i)
{
    return r[i / 64] >> (i % 64) & 1;
}

static void add(row r, const row more)
{
    for (unsigned w = 0; w < WORDS; w++) {
        r[w] |= more[w];
    }
}

static bool at_one_place(const struct sim_event *a, const struct sim_event *b)
{
    return a->type <= SIM_READ && b->type <= SIM_READ && a->place == b->place;
}

static void program_order_and_hb(const struct sim_graph *g)
{
    for (unsigned i = 0; i < g->n; i++) {
        memset(&rel[i], 0, sizeof rel[i]);
        for (unsigned k = 0; k < g->n; k++) {
            const struct sim_event *a = &g->e[i], *b = &g->e[k];
            if (i == k || b->thread == SIM_INIT) {
                continue;
            }
            if (a->thread == SIM_INIT || (a->thread == b->thread && a->index < b->index)) {
                set(rel[i].sb, k);
                if (!at_one_place(a, b)) {
                    set(rel[i].apart, k);
                }
            }
            if (sim_is_before(a, &b->hb)) {
                set(rel[i].hb, k);
                if (at_one_place(a, b)) {
                    set(rel[i].scb, k);
                }
            }
        }
        add(rel[i].scb, rel[i].sb);
    }
}

/* mo, rf and fr are total or nearly so on one place: eco is what stands behind in the order of writes, reads
 * counted with the write they read, plus from a write to its own readers. */
static void extended_coherence(const struct sim_graph *g)
{
    for (unsigned i = 0; i < g->n; i++) {
        const struct sim_event *a = &g->e[i];
        if (a->type > SIM_READ) {
            continue;
        }
        unsigned at = sim_graph_position(g, a->type == SIM_READ ? a->from : (sim_id)i);
        for (unsigned k = 0; k < g->n; k++) {
            const struct sim_event *b = &g->e[k];
            if (k == i || !at_one_place(a, b)) {
                continue;
            }
            unsigned then = sim_graph_position(g, b->type == SIM_READ ? b->from : (sim_id)k);
            if (then > at || (then == at && a->type == SIM_WRITE && b->type == SIM_READ)) {
                set(rel[i].eco, k);
            }
            if (then > at && b->type == SIM_WRITE) {
                set(rel[i].scb, k); /* mo, fr */
            }
        }
    }
}

/* sb-to-another-place; hb; sb-to-another-place */
static void around_by_hb(const struct sim_graph *g)
{
    for (unsigned i = 0; i < g->n; i++) {
        row over = {0};
        for (unsigned k = 0; k < g->n; k++) {
            if (has(rel[i].apart, k)) {
                add(over, rel[k].hb);
            }
        }
        for (unsigned k = 0; k < g->n; k++) {
            if (has(over, k)) {
                add(rel[i].scb, rel[k].apart);
            }
        }
    }
}

static bool is_fence(const struct sim_graph *g, unsigned i)
{
    return g->e[i].type == SIM_FENCE;
}

static bool is_seq_cst(const struct sim_graph *g, unsigned i)
{
    return g->e[i].order == SIM_SEQ_CST && g->e[i].type != SIM_CHOICE;
}

/* The row of psc of event i, to those that are sequentially consistent. */
static void psc_from(const struct sim_graph *g, unsigned i)
{
    row reach = {0}, hb_eco = {0};
    memset(psc[i], 0, sizeof psc[i]);
    add(reach, rel[i].scb);
    for (unsigned x = 0; is_fence(g, i) && x < g->n; x++) {
        if (has(rel[i].hb, x)) {
            add(reach, rel[x].scb);
            add(hb_eco, rel[x].eco);
        }
    }
    for (unsigned k = 0; k < g->n; k++) {
        bool before = has(reach, k);
        if (!is_seq_cst(g, k)) {
            continue;
        }
        for (unsigned y = 0; is_fence(g, k) && !before && y < g->n; y++) {
            before = has(rel[y].hb, k) && (has(reach, y) || (is_fence(g, i) && has(hb_eco, y)));
        }
        if (before || (is_fence(g, i) && is_fence(g, k) && has(rel[i].hb, k))) {
            set(psc[i], k);
        }
    }
}

bool sim_graph_is_seq_cst(const struct sim_graph *g)
{
    program_order_and_hb(g);
    extended_coherence(g);
    around_by_hb(g);
    for (unsigned i = 0; i < g->n; i++) {
        if (is_seq_cst(g, i)) {
            psc_from(g, i);
        }
    }
    for (unsigned via = 0; via < g->n; via++) {
        for (unsigned i = 0; is_seq_cst(g, via) && i < g->n; i++) {
            if (is_seq_cst(g, i) && has(psc[i], via)) {
                add(psc[i], psc[via]);
            }
        }
    }
    for (unsigned i = 0; i < g->n; i++) {
        if (is_seq_cst(g, i) && has(psc[i], i)) {
            return false;
        }
    }
    return true;
}
