/* Runs a case, a few threads on a few places in memory, through all executions that the memory model allows,
 * or through as many as are asked for at random. docs/check.md says what is modelled and how it explores.
 *
 * A case's threads are functions that call what stands in sim/thread.h. They have to be functions of what
 * these return: no state of their own outlives a call of run(), since a thread begins anew whenever the
 * exploration goes back. Not for several threads of the system at once. */
#ifndef PAWL_SIM_ENGINE_H
#define PAWL_SIM_ENGINE_H

#include "sim/graph.h"

struct sim_case {
    const char *name;
    unsigned threads, places;
    uint64_t initial[SIM_PLACES];
    void (*run)(unsigned thread, const void *arg);
    /* After an execution whose threads have all ended: NULL, or what is wrong with it. May be NULL. */
    const char *(*end)(const struct sim_graph *g, const void *arg);
    const void *arg;
};

enum sim_mode {
    SIM_ALL,    /* every execution, each once */
    SIM_RANDOM, /* at each step any thread, and any of what it may read */
    SIM_PCT, /* the thread of highest priority, which changes at a few steps (Burckhardt et al., ASPLOS 2010)
              */
    SIM_REPLAY /* the one that `line` tells (sim/execution.h) */
};

struct sim_result;

struct sim_options {
    enum sim_mode mode;
    uint64_t executions; /* at most; 0: no limit (SIM_ALL only); SIM_REPLAY: 1 */
    uint64_t seed;
    unsigned changes; /* SIM_PCT: of priorities in an execution */
    unsigned steps;   /* SIM_PCT: about so many steps an execution has */
    const char *line; /* SIM_REPLAY */
    bool
        unreduced; /* SIM_ALL: leave out nothing that sim/thread.h says is left out; for tests of just that */
    /* Called now and then, with what has been done so far; true: stop there. May be NULL. */
    bool (*stop)(const struct sim_result *so_far, void *arg);
    void *stop_arg;
};

enum sim_verdict { SIM_FINE, SIM_VIOLATION, SIM_ERROR };

struct sim_result {
    enum sim_verdict verdict;
    bool complete;       /* SIM_ALL: nothing was left out; what met a bound was not followed beyond it */
    uint64_t executions; /* in which all threads ended */
    uint64_t blocked;    /* in which some waited for what another execution has */
    uint64_t cut;        /* at a bound: see sim_bound() */
    uint64_t events;     /* added, in all of them */
    char text[200];      /* what is wrong */
    unsigned thread;     /* whose step showed it, SIM_THREADS for none */
    unsigned waiting;    /* a bit a thread: those that wait for ever */
    bool before_step;    /* and it is not in the graph: thread's next one */
};

/* The execution that showed a violation is left in *g, when g is not NULL. */
struct sim_result sim_explore(const struct sim_case *c, const struct sim_options *o, struct sim_graph *g);

#endif
