/* Ports for the servers of a run: free ones, checked. */
#ifndef PAWL_TESTBED_PORT_H
#define PAWL_TESTBED_PORT_H

#include "testbed/error.h"

/* Whether a server could listen on 127.0.0.1:port now. A port that several sockets share (SO_REUSEPORT)
 * counts as taken: the kernel would give a part of the connections to the other. Returns 0, or -errno
 * (-EADDRINUSE: taken). */
int tb_port_free(unsigned port);

/* Picks a free port on 127.0.0.1 outside the range that the kernel gives to outgoing connections, a different
 * one each time as far as there are. Returns it, or -1 with *err set. */
int tb_port_pick(struct tb_error *err);

#endif
