/* One thread of the driver: when to send on which of its connections, and the count of what came of it. */
#ifndef PAWL_LOAD_WORKER_H
#define PAWL_LOAD_WORKER_H

#include "load/conn.h"
#include "load/driver.h"

#include <pthread.h>

/* What the threads of a run share. The gate holds them after connecting until all are ready. */
struct load_shared {
    const struct load_options *options;
    struct load_request request;
    pthread_mutex_t lock;
    pthread_cond_t changed;    /* on CLOCK_MONOTONIC */
    unsigned ready, finished;  /* threads; under the lock */
    bool go, abort;            /* under the lock */
    uint64_t start, end;       /* CLOCK_MONOTONIC, ns; set before go */
    atomic_int_least64_t left; /* requests that may still be sent, where options->requests limits them */
};

struct load_worker {
    struct load_shared *shared;
    unsigned index;
    pthread_t thread;
    struct load_io io;
    struct load_conn *conns;
    unsigned nconns, busy;
    bool running;
    struct load_conn_list waiting;              /* connecting or busy, the longest wait first */
    struct load_conn_list idle;                 /* the longest idle first */
    struct load_conn_list closed;               /* to be opened again, at c->since */
    uint64_t next_reopen;                       /* no one in closed is due before */
    uint64_t slot;                              /* open loop: the next of this thread's requests */
    uint64_t next_sample, last_sample, sampled; /* of the rate: when, and requests until then */
    uint64_t ended;                             /* when this thread stopped measuring */
    atomic_uint_least64_t done, failed;         /* read by the thread that reports progress */
    /* As in struct load_result, of this thread: */
    struct base_hist latency, per_thread;
    uint64_t connect_errors, read_errors, write_errors, timeouts, status_errors, malformed, user_ns,
        system_ns;
    int connect_errno, read_errno, write_errno;
    uint64_t status[LOAD_STATUSES];
};

/* Prepares a worker with its connections, all closed; 0 or a negative errno. */
int load_worker_init(struct load_worker *w, struct load_shared *shared, unsigned index, unsigned nconns);

/* The thread: opens the connections, waits at the gate, runs to the end. arg is the worker. */
void *load_worker_main(void *arg);

/* When request i of this worker is due in the open loop. */
uint64_t load_worker_due(const struct load_worker *w, uint64_t i);

/* After the thread has been joined, or was never started. */
void load_worker_free(struct load_worker *w);

#endif
