/* The endpoints: the servers behind the server under test, one process each. */
#ifndef PAWL_TESTBED_ENDPOINT_H
#define PAWL_TESTBED_ENDPOINT_H

#include "testbed/scenario.h"
#include "testbed/supervise.h"

struct tb_endpoints {
    struct tb_service services[TB_MAX_ENDPOINTS];
    unsigned ports[TB_MAX_ENDPOINTS];
    pid_t pids[TB_MAX_ENDPOINTS];
    unsigned n;
};

/* Starts a scenario's endpoints (`PAWL endpoint ...`), each on a port of the kernel's choice, and waits until
 * all listen. e is zeroed and stays the caller's until the supervisor has ended. Returns 0, or -1 with *err
 * set. */
int tb_endpoints_start(struct tb_endpoints *e, const char *pawl, const struct tb_scenario *scenario,
                       struct tb_super *super, struct tb_error *err);

/* Ends them. */
void tb_endpoints_stop(struct tb_endpoints *e, struct tb_super *super);

#endif
