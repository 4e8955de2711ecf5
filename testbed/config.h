/* The configuration a server under test runs with, in the HAProxy language. */
#ifndef PAWL_TESTBED_CONFIG_H
#define PAWL_TESTBED_CONFIG_H

#include <stdio.h>

struct tb_config {
    unsigned threads, connections, port; /* on 127.0.0.1 */
    const unsigned *endpoint_ports;
    unsigned endpoints;
    unsigned server_maxconn; /* 0: none */
};

/* Writes it. The caller checks the stream for errors. */
void tb_config_write(FILE *f, const struct tb_config *c);

#endif
