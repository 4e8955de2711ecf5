/* Asks a server for one answer. */
#ifndef PAWL_TESTBED_PROBE_H
#define PAWL_TESTBED_PROBE_H

#include "testbed/supervise.h"

/* Asks 127.0.0.1:port for "/" until it answers 200, while the supervisor watches. who names the server in
 * errors. A refused connection is tried again until deadline_ns; any other answer fails at once. Returns 0,
 * or -1 with *err set. */
int tb_probe(struct tb_super *s, const char *who, unsigned port, int64_t deadline_ns, struct tb_error *err);

#endif
