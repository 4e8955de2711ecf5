/* The part of `pawl check` that checks the check. */
#ifndef PAWL_CLI_CHECK_MUTANTS_H
#define PAWL_CLI_CHECK_MUTANTS_H

#include "testbed/report_json.h"

#include <stdbool.h>
#include <stdint.h>

struct check_mutants {
    const char *source, *sites, *json; /* as given, or NULL */
    unsigned at_once;                  /* 0: as many as there are cores */
    uint64_t executions;               /* of each case; UINT64_MAX: as is best */
    bool verbose;
};

/* Returns the exit status, with *err set where there is something to say. */
int check_mutants(const struct check_mutants *a, struct tb_error *err);

#endif
