/* Writes a SUT's configuration. Its time-outs are far above what a request takes, so that they end nothing
 * but faults; its maxconn is far above what is used, since HAProxy keeps no idle connection to a server once
 * a fifth of the descriptors that maxconn stands for are in use, and would then open one for each request. */
#include "testbed/config.h"

void tb_config_write(FILE *f, const struct tb_config *c)
{
    fprintf(f,
            "global\n"
            "    nbthread %u\n"
            "    maxconn %u\n"
            "\n"
            "defaults\n"
            "    mode http\n"
            "    timeout connect 5s\n"
            "    timeout client 30s\n"
            "    timeout server 30s\n"
            "    timeout queue 30s\n"
            "\n"
            "frontend testbed\n"
            "    bind 127.0.0.1:%u\n"
            "    default_backend endpoints\n"
            "\n"
            "backend endpoints\n"
            "    balance roundrobin\n",
            c->threads, 4 * c->connections + 1024, c->port);
    for (unsigned i = 0; i < c->endpoints; i++) {
        fprintf(f, "    server e%u 127.0.0.1:%u", i + 1, c->endpoint_ports[i]);
        if (c->server_maxconn) {
            fprintf(f, " maxconn %u", c->server_maxconn);
        }
        fputc('\n', f);
    }
}
