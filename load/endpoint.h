/* A small HTTP/1.1 server that answers every request alike: the thing behind a server under test. It counts
 * what it was asked and how much of that at once, so that a limit on concurrency can be checked where it
 * matters. */
#ifndef PAWL_LOAD_ENDPOINT_H
#define PAWL_LOAD_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOAD_ENDPOINT_MAX_BYTES   (UINT64_C(1) << 30)
#define LOAD_ENDPOINT_MAX_THREADS 256

struct load_endpoint_options {
    int listener;      /* a listening stream socket; stays the caller's, is made non-blocking */
    unsigned threads;  /* connections are dealt out to them in turn */
    uint64_t delay_ns; /* from the whole request's arrival to its answer */
    bool sized;        /* answer with `bytes` bytes instead of "Hello World!" */
    uint64_t bytes;
};

struct load_endpoint_stats {
    uint64_t requests;        /* received whole */
    uint64_t connections;     /* accepted */
    uint64_t max_connections; /* open at once */
    /* The most requests ever in flight at once: from when the head has been received until the answer is
     * about to be handed to the kernel, or the asker has closed its side. Never too high by a race within one
     * thread. */
    uint64_t max_concurrent;
};

struct load_endpoint;

/* Starts the threads (all signals blocked in them) and returns at once; NULL and a sentence in err on
 * failure. */
struct load_endpoint *load_endpoint_start(const struct load_endpoint_options *o, char *err, size_t err_size);

/* Closes all connections, joins the threads, frees e. stats may be NULL. */
void load_endpoint_stop(struct load_endpoint *e, struct load_endpoint_stats *stats);

#endif
