/* The cases that the locks are checked with, in suites, and running them. */
#ifndef PAWL_SIM_SUITE_H
#define PAWL_SIM_SUITE_H

#include "sim/program.h"

#include <signal.h>

struct sim_job {
    const char *suite;
    const struct sim_lock *lock;
    struct sim_program program;
    struct sim_options options;
    struct sim_result result; /* once it has run */
    double seconds;
    bool done;
};

struct sim_jobs {
    struct sim_job *job; /* owned: sim_jobs_free() */
    size_t n, room;
};

/* What is asked for instead of what a suite has: a mode (-1), numbers (UINT64_MAX for executions, else
 * UINT_MAX: as the suite has it). */
struct sim_wish {
    int mode;
    uint64_t executions, seed;
    unsigned leaps, sleeps, interruptions, changes;
};
extern const struct sim_wish sim_no_wish;

struct sim_suite {
    const char *name, *title;
    bool spin;    /* of the locks that only spin; else of those whose waiters sleep */
    bool by_name; /* on the 8-byte lock only when that is named: it takes long, and only waiting for A differs
                     there */
    bool (*fill)(struct sim_jobs *jobs, const struct sim_suite *suite, const struct sim_lock *lock);
};

const struct sim_suite *sim_suites(size_t *n);
const struct sim_suite *sim_suite_find(const char *name);

/* The locks there are; by name, NULL for none. */
#define SIM_LOCKS 4
extern const struct sim_lock *const sim_locks[SIM_LOCKS];
const struct sim_lock *sim_lock_find(const char *name);

/* Adds the suite's cases for a lock, or one program as a case of its own (suite ""). False: no memory. */
bool sim_jobs_add(struct sim_jobs *jobs, const struct sim_suite *suite, const struct sim_lock *lock,
                  const struct sim_wish *wish);
bool sim_jobs_add_program(struct sim_jobs *jobs, const struct sim_program *program,
                          const struct sim_lock *lock, const struct sim_options *options);
void sim_jobs_free(struct sim_jobs *jobs);

/* Runs one, until it ends or *stop is not 0. The execution that fails is left in *g. `tick`, when not NULL,
 * is called now and then. Returns whether it was run to its end. */
bool sim_job_run(struct sim_job *job, struct sim_graph *g, const volatile sig_atomic_t *stop,
                 void (*tick)(const struct sim_job *job, void *arg), void *arg);

#endif
