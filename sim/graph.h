/* An execution: the events of every thread in program order, for each read the write it reads from, for each
 * place in memory the order of the writes to it (the modification order). Of RC11 (Lahav, Vafeiadis, Kang,
 * Hur, Dreyer: Repairing Sequential Consistency in C/C++11, PLDI 2017) it keeps, for every event, what
 * happens before it, so that only coherent choices are offered. docs/check.md has the model.
 *
 * Events are numbered in the order in which they were added, which is no order of time: an event may read
 * from a write that was added later. The first ones are the initial writes, one a place. */
#ifndef PAWL_SIM_GRAPH_H
#define PAWL_SIM_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_THREADS 8
#define SIM_PLACES  16
#define SIM_EVENTS  1024
#define SIM_INIT    SIM_THREADS /* the thread of the initial writes: before everything */
#define SIM_NONE    UINT16_MAX

typedef uint16_t sim_id; /* of an event */

enum sim_order { SIM_PLAIN, SIM_RELAXED, SIM_ACQUIRE, SIM_RELEASE, SIM_ACQ_REL, SIM_SEQ_CST };

enum sim_type { SIM_WRITE, SIM_READ, SIM_FENCE, SIM_CHOICE }; /* those with a place first */

/* What an event is part of, for people who read executions. */
enum sim_note {
    SIM_NOTE_NONE,
    SIM_NOTE_ADD,       /* of a fetch-add */
    SIM_NOTE_LEAP,      /* choice: 1, the clock leaps */
    SIM_NOTE_EXPIRES,   /* choice: 1, a sleep ends by its time-out */
    SIM_NOTE_INTERRUPT, /* choice: 1, a sleep ends for no reason; 2, by a signal */
    SIM_NOTE_WHO,       /* choice: which sleeper is woken */
    SIM_NOTE_WAIT,      /* the kernel's part of a futex wait, */
    SIM_NOTE_WAKE,      /* of a wake, */
    SIM_NOTE_LEAVE      /* and of a wait that ends without one */
};

/* of[t]: how many events of thread t are included, the first so many in program order. */
struct sim_clock {
    uint16_t of[SIM_THREADS];
};

/* What a read is for, so that it is known what follows from reading another write. */
struct sim_read {
    bool changes;  /* a read-modify-write; if `compares`, only when it reads `expected` */
    bool compares; /* then its order is `order`, else `otherwise` */
    bool confirms; /* blocked when it does not change */
    bool ends;     /* a sleep that in another execution ends by itself */
    uint8_t order, otherwise;
    uint16_t unlike; /* spins: blocked if it reads the write that this event of its thread read, too */
    uint16_t behind; /* sees what the write that this event of its thread read has released (futex) */
    uint64_t expected, clear; /* blocked while one of these bits is set */
    uint64_t any;             /* all that matters is whether one of these bits is set; 0: everything does */
};

struct sim_event {
    uint8_t type, order, thread, place;
    bool exclusive; /* the read, or the write, of a read-modify-write that succeeded */
    bool blocked;   /* a read whose value its thread cannot go on with */
    bool kernel;    /* of a futex call: ordered among themselves, its thread learns nothing */
    uint8_t note;
    uint8_t operation; /* which of its thread's operations it is part of, from 1 on; 0: none */
    uint16_t index;    /* among the thread's events */
    uint16_t half;     /* an exclusive write: its read, among the thread's events */
    sim_id from;       /* READ: the write */
    uint64_t value;    /* read or written; CHOICE: what was chosen */
    struct sim_read read;
    /* Of the thread, with this event: what happens before; what is before by program order and reads-from;
     * what happened before its last release fence; what an acquire fence would acquire. */
    struct sim_clock hb, porf, fence, pending;
    struct sim_clock release; /* WRITE: what one acquires that reads it */
};

struct sim_graph {
    unsigned n, places;
    bool seq_cst; /* has an event of this order */
    uint16_t count[SIM_THREADS];
    uint16_t writes[SIM_PLACES];
    sim_id of[SIM_THREADS][SIM_EVENTS];
    sim_id mo[SIM_PLACES][SIM_EVENTS];
    struct sim_event e[SIM_EVENTS];
};

/* Starts anew, with one write of initial[p] to each place. */
void sim_graph_init(struct sim_graph *g, unsigned places, const uint64_t *initial);

void sim_graph_copy(struct sim_graph *to, const struct sim_graph *from);

/* Adds an event at the end of its thread; of what is passed, type, order, thread, place, exclusive, kernel
 * and value count, and of a READ read and from instead of order, exclusive and value. A write is added at the
 * end of its place's order. SIM_NONE: no room. */
sim_id sim_graph_add(struct sim_graph *g, const struct sim_event *event);

/* Removes the events from number n on. */
void sim_graph_cut(struct sim_graph *g, unsigned n);

/* Makes *to what is left of g without the events for which keep[] is false: these must be closed downwards
 * but for reads-from edges of `open`, the last event of its thread that is kept. numbers[i]: what i is called
 * now. */
void sim_graph_restrict(struct sim_graph *to, const struct sim_graph *g, const bool *keep, sim_id open,
                        sim_id *numbers);

/* What it means for a read, or one about to be added, to read from this write: whether it is the first half
 * of a read-modify-write then, whether its thread cannot go on. */
void sim_graph_meaning(const struct sim_graph *g, const struct sim_event *read, sim_id write, bool *exclusive,
                       bool *blocked);

/* Has the read, the last event of its thread, read from another write. */
void sim_graph_read_from(struct sim_graph *g, sim_id read, sim_id write);

/* Places the write, which must be the newest event or the last of its thread, at this position of its place's
 * order (1: after the initial write). */
void sim_graph_place(struct sim_graph *g, sim_id write, unsigned position);
unsigned sim_graph_position(const struct sim_graph *g, sim_id write);

/* Does a happen before an event whose clock (hb; or porf) is c? */
static inline bool sim_is_before(const struct sim_event *a, const struct sim_clock *c)
{
    return a->thread == SIM_INIT || a->index < c->of[a->thread];
}

/* The thread's newest event, or one with clocks of zero. */
const struct sim_event *sim_graph_last(const struct sim_graph *g, unsigned thread);

/* What happens before the event, or the one that is about to be added, but for what it acquires itself. */
const struct sim_clock *sim_graph_before(const struct sim_graph *g, const struct sim_event *e);

/* The first position in the order of writes to `place` that something with this hb clock may read from, or
 * (plus one) be written behind: what it knows of stands before. */
unsigned sim_graph_known(const struct sim_graph *g, unsigned place, const struct sim_clock *hb);

/* The first position that this read may read from: as things stand, or about to be added. */
unsigned sim_graph_oldest(const struct sim_graph *g, const struct sim_event *read);

/* May a write stand at this position? Not between a write and the read-modify-write that follows it. */
bool sim_graph_may_place(const struct sim_graph *g, sim_id write, unsigned position);

/* What a place holds in the end. */
static inline uint64_t sim_graph_final(const struct sim_graph *g, unsigned place)
{
    return g->e[g->mo[place][g->writes[place] - 1]].value;
}

/* Is the order of sequentially consistent events and fences without a circle (RC11's psc)? */
bool sim_graph_is_seq_cst(const struct sim_graph *g);

#endif
