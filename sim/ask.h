/* Between the calls of a thread (thread.c) and the engine. */
#ifndef PAWL_SIM_ASK_H
#define PAWL_SIM_ASK_H

#include "sim/graph.h"
#include "sim/thread.h"

/* The calling thread's next event is as described (type, place, order, ...): returns it once it is there, at
 * once when the thread only repeats what it has done before. Does not return while the event blocks it. */
const struct sim_event *sim_ask(struct sim_event *request);

/* The calling thread's next event when it only repeats what it has done before (its thread begins anew
 * whenever the exploration goes back); NULL: ask for it. */
const struct sim_event *sim_again(void);

/* What the calling thread has done so far: the number of its events, and any of them. */
unsigned sim_done(void);
const struct sim_event *sim_event_of(unsigned index);

/* May executions be left out that differ from others in nothing that matters? */
bool sim_is_reduced(void);

/* The event of the calling thread whose write its next read must not read, if it is one of that place, and
 * whether it would wait for that for ever; SIM_NONE: none. */
struct sim_spin {
    uint16_t index;
    bool for_ever;
};
struct sim_spin *sim_spin(void);

/* Data of the calling thread, zero when it begins. */
struct sim_own {
    uint64_t time;
    struct sim_bounds left; /* of its operation */
    uint8_t operation;
    bool napped; /* its clock has leapt in a nap, in this operation */
};
struct sim_own *sim_own(void);

/* As sim_choose(), saying what about. */
unsigned sim_choose_about(unsigned n, enum sim_note note);

_Noreturn void sim_leave(const char *violation); /* NULL: a bound */

#endif
