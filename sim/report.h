/* A failing execution of a lock's case: a column a thread, a row a step, the word in words, which step wrote
 * what was read, and the command that replays it. */
#ifndef PAWL_SIM_REPORT_H
#define PAWL_SIM_REPORT_H

#include "sim/program.h"

#include <jansson.h>
#include <stdio.h>

/* Room for a line to replay: of every execution that there is room for. */
#define SIM_LINE_SIZE (SIM_EVENTS * 7 + 8)

struct sim_failure {
    const struct sim_lock *lock;
    const struct sim_program *program;
    const struct sim_graph *graph;
    const struct sim_result *result;
};

void sim_report_failure(FILE *f, const struct sim_failure *x);

/* The same for machines; the caller's reference, NULL without memory. */
json_t *sim_report_failure_json(const struct sim_failure *x);

/* The command that shows it again, into text. */
void sim_report_replay(const struct sim_failure *x, char *text, size_t size);

#endif
