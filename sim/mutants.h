/* Is the check any good? The locks' source with one thing taken away, at each of its sites in turn: a memory
 * order weakened, a wake-up left out, a mark or state bit not there. Each such mutant is compiled and
 * checked; one that survives is either no different from the original, or shows what is not checked. */
#ifndef PAWL_SIM_MUTANTS_H
#define PAWL_SIM_MUTANTS_H

#include "sim/suite.h"

enum sim_mutation { SIM_WEAKER_ORDER, SIM_NO_WAKE, SIM_NO_MARK };

enum sim_fate { SIM_NOT_RUN, SIM_KILLED, SIM_SURVIVED, SIM_NO_COMPILE };

struct sim_mutant {
    const char *file;      /* below include/pawl/ */
    unsigned line, column; /* from 1 on */
    size_t at, length;     /* what is replaced, in the file */
    enum sim_mutation mutation;
    char from[48], to[32];
    unsigned nth; /* of its kind in its line, from 1 on */
    bool skipped; /* not asked for */
    bool argued;  /* said to be no fault: sim_mutants_argued() */
    enum sim_fate fate;
    char by[400]; /* KILLED: the case and what was wrong; NO_COMPILE: the compiler's words; SURVIVED: what was
                     left out */
    double seconds;
};

struct sim_mutants {
    char source[3000];         /* directory of Pawl's sources: include/pawl and sim are in it */
    struct sim_mutant *mutant; /* owned: sim_mutants_free() */
    size_t n, room;
};

/* Lists every site in the sources. 0, or -1 with the reason in error. */
int sim_mutants_find(struct sim_mutants *m, const char *source, char *error, size_t size);
void sim_mutants_free(struct sim_mutants *m);

/* Keeps those at these sites, `FILE:LINE` or `FILE:LINE:COLUMN`, in a list with commas; the others are
 * skipped. 0, or -1 with the reason in error. */
int sim_mutants_select(struct sim_mutants *m, const char *sites, char *error, size_t size);

/* Reads why mutants survive that are no faults, from the items of docs/check.md in the source that are
 *   - `FILE`: `WHAT` in `LINE`: why
 * (WHAT the beginning of what is replaced, with ` -> TO` where there are two, and ` (2)` for the second in
 * the line; LINE without comments and the blanks around it). An item that fits no site is an error. */
int sim_mutants_argued(struct sim_mutants *m, char *error, size_t size);

/* Compiles and checks those that are still SIM_NOT_RUN, `at_once` at a time, each in a process of its own
 * that has `seconds` for its cases; one that does not answer in twice that time does not end, and counts as
 * killed. `executions`: of each case, at most; UINT64_MAX: as the suites have it, and a part where that is
 * all. `told`, when not NULL, is called after each. Stops when *stop is not 0. 0, or -1 with the reason in
 * error.
 */
int sim_mutants_run(struct sim_mutants *m, unsigned at_once, unsigned seconds, uint64_t executions,
                    const volatile sig_atomic_t *stop,
                    void (*told)(const struct sim_mutant *mutant, void *arg), void *arg, char *error,
                    size_t size);

#endif
