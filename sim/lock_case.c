/* What must hold of the lock's word, over a whole execution: every change of it is there, in the order of its
 * writes. The layout is that of include/pawl/lock_size.h, with no bits of the application. */
#include "sim/program.h"

#include <stdio.h>
#include <string.h>

enum { QUEUE = 1, HEAD = 2, ASLEEP = 4, TURN = 6, DRAIN = 8, S = 16, W = 32 };

struct fields {
    unsigned readers, atomic;
    bool seek, write, turn;
};

static struct fields decode(uint64_t word, unsigned bits)
{
    unsigned a = bits == 64 ? 34 : 19, top = bits == 64 ? 63 : 32;
    return (struct fields){(unsigned)(word >> 6 & ((1u << (a - 6)) - 1)),
                           (unsigned)(word >> a & (((uint64_t)1 << (top - a)) - 1)), word & S, word & W,
                           (word & TURN) == TURN};
}

void sim_word_print(const struct sim_lock *l, uint64_t word, char *text, size_t size)
{
    static const char *const marks[] = {"QUEUE", "HEAD", "ASLEEP", "DRAIN", "S", "W"};
    struct fields f = decode(word, l->bits);
    size_t used = 0;
    *text = 0;
    for (unsigned i = 6; i-- > 0 && used < size;) {
        bool turn = (i == 1 || i == 2) && f.turn;
        if (word >> i & 1 && (!turn || i == 1)) {
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "", turn ? "TURN" : marks[i]);
        }
    }
    if (f.readers && used < size) {
        used += (size_t)snprintf(text + used, size - used, "%sR%u", used ? " " : "", f.readers);
    }
    if (f.atomic && used < size) {
        used += (size_t)snprintf(text + used, size - used, "%sA%u", used ? " " : "", f.atomic);
    }
    if (l->bits == 64 && word >> 63 && used < size) {
        used += (size_t)snprintf(text + used, size - used, "%sHIGH", used ? " " : "");
    }
    if (!used) {
        snprintf(text, size, "free");
    }
}

/* A change of the word, by one write. */
struct change {
    const struct sim_graph *g;
    const struct sim_event *e;
    uint64_t word; /* before it */
    struct fields before, after;
};

/* Has this event's thread counted itself, looked, and taken that back? Else it is in. */
static bool takes_it_back(const struct sim_graph *g, const struct sim_event *e)
{
    for (unsigned i = e->index + 1u; i < g->count[e->thread]; i++) {
        const struct sim_event *later = &g->e[g->of[e->thread][i]];
        if (later->operation != e->operation) {
            return false;
        }
        if (later->type == SIM_WRITE && later->place == SIM_WORD) {
            return true;
        }
    }
    return false;
}

/* Who has its turn keeps it until it gives it up itself, and is overtaken by nobody: none is let in from
 * outside, by a step that takes the lock from the word as it is, but readers beside S; and no reader inside
 * goes to S or W. (A reader that counts itself before it looks may, if it takes that back.) *owner: who has
 * the turn. */
static const char *overtaken(const struct change *c, unsigned *owner)
{
    const struct sim_event *e = c->e;
    const struct fields *before = &c->before, *after = &c->after;
    const struct sim_event *read = e->exclusive ? &c->g->e[c->g->of[e->thread][e->half]] : NULL;
    if (before->turn && *owner != e->thread && read && read->note == SIM_NOTE_ADD &&
        after->readers > before->readers && !before->seek && !before->write && !takes_it_back(c->g, e)) {
        return "one that had its turn was overtaken";
    }
    if (before->turn && *owner != e->thread && read && read->read.compares) {
        bool outside = e->order == SIM_RELAXED && read->order == SIM_ACQUIRE;
        bool beside_seek = before->seek && !before->write && after->readers > before->readers;
        bool enters = after->readers > before->readers || after->atomic > before->atomic ||
                      (after->seek && !before->seek);
        if ((outside && enters && !beside_seek) || (!outside && after->readers < before->readers &&
                                                    after->seek && !before->seek && !after->atomic)) {
            return "one that had its turn was overtaken";
        }
    }
    if (before->turn && !after->turn && *owner != e->thread) {
        return "one that had its turn lost it";
    }
    *owner = !after->turn ? SIM_THREADS : before->turn ? *owner : e->thread;
    return NULL;
}

/* Has this event's thread slept before it, in the same operation? */
static bool has_slept(const struct sim_graph *g, const struct sim_event *e)
{
    for (unsigned i = e->index; i-- > 0;) {
        const struct sim_event *earlier = &g->e[g->of[e->thread][i]];
        if (earlier->operation != e->operation) {
            return false;
        }
        if (earlier->kernel && (earlier->read.clear || earlier->note == SIM_NOTE_LEAVE)) {
            return true;
        }
    }
    return false;
}

/* While threads sleep in the line, its head comes from it. */
static const char *past_the_line(const struct change *c)
{
    return (c->word & (QUEUE | TURN)) == QUEUE && (c->e->value & HEAD) && !has_slept(c->g, c->e)
               ? "one went past those who sleep in the line"
               : NULL;
}

/* The head's steps all change something: one that does not has lost the mark it was to set. *head: who it is.
 */
static const char *marks_nothing(const struct change *c, unsigned *head)
{
    unsigned was = *head;
    *head = !(c->e->value & TURN) ? SIM_THREADS : c->word & TURN ? *head : c->e->thread;
    return c->e->thread == was && c->e->value == c->word ? "the head set a mark that is not there" : NULL;
}

/* What the source relies on without asking: W beside atomic holders is without S (one that went from A to R
 * closes the door), and one that does so is counted as a reader until it has opened it again. */
static const char *out_of_order(const struct fields *f)
{
    if (f->write && f->seek && f->atomic) {
        return "S, W and atomic holders at once";
    }
    return f->write && !f->seek && !f->readers ? "W without S, and nobody who would take it away" : NULL;
}

/* The last one leaves the word as it was, but for a mark that costs the next one a futex call. */
static const char *left(const struct sim_graph *g)
{
    return sim_graph_final(g, SIM_WORD) & ~(uint64_t)QUEUE ? "the word is not free in the end" : NULL;
}

static const char *wrong(const struct sim_graph *g, unsigned bits)
{
    unsigned owner = SIM_THREADS, head = SIM_THREADS;
    struct change c = {.g = g, .word = g->e[g->mo[SIM_WORD][0]].value};
    const char *text = left(g);
    c.before = decode(c.word, bits);
    for (unsigned i = 1; i < g->writes[SIM_WORD] && !text; i++) {
        c.e = &g->e[g->mo[SIM_WORD][i]];
        c.after = decode(c.e->value, bits);
        text = out_of_order(&c.after);
        text = text ? text : past_the_line(&c);
        text = text ? text : overtaken(&c, &owner);
        text = text ? text : marks_nothing(&c, &head);
        c.word = c.e->value;
        c.before = c.after;
    }
    return text;
}

static const char *end_32(const struct sim_graph *g, const void *program)
{
    (void)program;
    return wrong(g, 32);
}

static const char *end_64(const struct sim_graph *g, const void *program)
{
    (void)program;
    return wrong(g, 64);
}

struct sim_case sim_lock_case(const struct sim_lock *l, const struct sim_program *p, const char *name)
{
    return (struct sim_case){.name = name,
                             .threads = p->threads,
                             .places = SIM_LOCK_PLACES,
                             .run = l->run,
                             .end = l->bits == 64 ? end_64 : end_32,
                             .arg = p};
}
