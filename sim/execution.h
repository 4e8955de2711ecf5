/* An execution as people read it: its events in an order in which they could have happened one after the
 * other, as steps of which each is one thing that a thread did, and as a line of text that replays it. */
#ifndef PAWL_SIM_EXECUTION_H
#define PAWL_SIM_EXECUTION_H

#include "sim/graph.h"

#include <stddef.h>

enum sim_step_kind {
    SIM_STEP_LOAD,
    SIM_STEP_STORE,
    SIM_STEP_ADD,
    SIM_STEP_EXCHANGE, /* also a compare-exchange that stored */
    SIM_STEP_FAILED,   /* a compare-exchange that did not */
    SIM_STEP_FENCE,
    SIM_STEP_LEAP,     /* what follows are a thread's own affairs: its clock leaps, */
    SIM_STEP_CHOICE,   /* it chose `read` of several ways */
    SIM_STEP_SLEEP,    /* futex wait: has gone to sleep, */
    SIM_STEP_REFUSED,  /* was refused, since the word was another */
    SIM_STEP_WOKEN,    /* was woken, */
    SIM_STEP_EXPIRED,  /* or its time was over, */
    SIM_STEP_SPURIOUS, /* or it returned for no reason, */
    SIM_STEP_SIGNAL,   /* or for a signal */
    SIM_STEP_WAKE,     /* futex wake, of `woken`: a bit a thread */
    SIM_STEP_WAITS     /* a read that its thread cannot go on with */
};

struct sim_step {
    uint8_t kind, thread, operation, place, order;
    bool plain;         /* of data that are not atomic */
    bool reads, writes; /* which of these it has: */
    bool late;          /* the read is of a write that others had followed by then */
    unsigned from;      /* the step that wrote what it read, from 1 on; 0: it was there from the beginning */
    uint64_t read, written;
    uint32_t woken;
};

/* Tells the execution: at most SIM_EVENTS steps, in an order in which each read comes after the write it
 * reads, and, as far as there is such an order, before the next one. Returns how many. Not reentrant. */
unsigned sim_execution_steps(const struct sim_graph *g, struct sim_step *steps);

/* The line for SIM_REPLAY (sim/engine.h): a digit a step's thread, and behind it how many newer writes it
 * could have read, or been put behind: nothing for none, a to z for 1 to 26, A to Z for 27 to 52, (N) for
 * more; for a choice, which. `then`: the thread whose next step is the violation, or SIM_THREADS. False: no
 * room. */
bool sim_execution_line(const struct sim_graph *g, unsigned then, char *text, size_t size);

const char *sim_order_name(unsigned order);

#endif
