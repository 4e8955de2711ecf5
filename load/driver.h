/* The HTTP/1.1 driver: sends one request again and again over many connections and measures the answers.
 *
 * Closed loop (rate 0): every connection sends its next request as soon as the last is answered; latency
 * counts from sending. Open loop (rate > 0): request i of the run is due at start + i / rate, whatever the
 * server does, goes out on a free connection and otherwise waits for one; latency counts from when it was
 * due, so a stall of the server is felt by every request that should have been sent meanwhile (what Gil Tene
 * calls avoiding coordinated omission). */
#ifndef PAWL_LOAD_DRIVER_H
#define PAWL_LOAD_DRIVER_H

#include "base/hist.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOAD_MAX_THREADS     1024
#define LOAD_MAX_CONNECTIONS 1000000
#define LOAD_MAX_RATE        1e8
#define LOAD_MAX_DURATION_NS (UINT64_C(86400) * 1000000000)
#define LOAD_STATUSES        600 /* of the array by status: 0..599 */

struct load_progress {
    uint64_t elapsed_ns, requests, errors; /* errors: of sockets and time-outs, and statuses from 400 */
};

struct load_options {
    const char *url;            /* http://ADDRESS[:PORT][/PATH], see load/request.h */
    const char *method;         /* NULL: GET */
    const char *const *headers; /* lines "Name: value" */
    size_t nheaders;
    unsigned threads, connections; /* connections over all threads, at least one each */
    uint64_t duration_ns;          /* > 0: the run ends then at the latest */
    uint64_t timeout_ns;           /* > 0: how long a connect, or a request once sent, may take */
    double rate;                   /* requests/s over all threads; 0: closed loop */
    uint64_t requests;             /* send exactly so many in all, then stop; 0: no limit */
    const atomic_int *stop;        /* becomes nonzero: end early, within 0.1 s; may be NULL */
    /* Called about four times a second in the thread that called load_run(); may be NULL. */
    void (*progress)(void *arg, const struct load_progress *now);
    void *progress_arg;
};

struct load_result {
    uint64_t duration_ns; /* measured */
    uint64_t requests;    /* complete answers, whatever their status */
    uint64_t bytes;       /* received */
    /* Nanoseconds: every answer; every request that timed out, with the time it waited; and the requests
     * still open at the end where they had waited longer than 99 of 100 of the others. */
    struct base_hist latency;
    struct base_hist per_thread; /* requests/s of one thread over a tenth of a second */
    uint64_t connect_errors, read_errors, write_errors, timeouts,
        status_errors;              /* status_errors: 400 and above */
    uint64_t malformed;             /* of the read errors */
    uint64_t status[LOAD_STATUSES]; /* answers by status */
    uint64_t open;                  /* sent and unanswered at the end, or (open loop) due and not even sent */
    uint64_t longest_open_ns;       /* the longest wait among them */
    int connect_errno, read_errno,
        write_errno;             /* the first of each kind; 0: none, or the server just closed */
    uint64_t user_ns, system_ns; /* CPU time of the driver's threads */
};

enum load_status {
    LOAD_OK,    /* it ran; the result says with what success */
    LOAD_USAGE, /* an option was wrong; nothing was done */
    LOAD_FAILED /* this system can't run it (descriptors, threads, memory) */
};

/* Runs and fills *r. Anything but LOAD_OK comes with a sentence in err. May raise the soft limit of open
 * files. Starts and joins its own threads, which take no signals; every other thread of the process may go on
 * meanwhile. */
enum load_status load_run(const struct load_options *o, struct load_result *r, char *err, size_t err_size);

/* Whether every request that was sent was answered, below 400, and at least one was (all of o->requests,
 * where that is set). */
bool load_succeeded(const struct load_options *o, const struct load_result *r);

#endif
