/* The life of a request, from the accepted connection to the last byte of the answer, on N threads. */
#ifndef PAWL_BALANCER_PROXY_PROXY_H
#define PAWL_BALANCER_PROXY_PROXY_H

#include "balancer/config/config.h"

/* Binds every listener of the configuration and serves until told to stop. SIGTERM and SIGUSR1 stop
 * gracefully: no new connections, requests in flight are finished. SIGINT, or a second SIGTERM, stops at
 * once. Diagnostics go to stderr. Returns the process's exit status. Call it once, from the main thread,
 * before any other thread exists. */
int proxy_run(const struct cfg *cfg);

/* The number of threads used when the configuration names none: the CPUs this process may run on. */
unsigned proxy_default_threads(void);

#endif
