/* One connection of the endpoint: reads requests, holds each for the delay, answers. Accepting and threads
 * are load/endpoint.c's.
 *
 *   state    event                       next     done
 *   HEAD     a whole head                BODY     counted in flight; 100 Continue where it was expected
 *            a malformed one             DRAIN    error answer, our side closed
 *   BODY     the body's end, no delay    HEAD     answered (closed where the answer says so)
 *            the body's end, delay       HELD     queued until its time
 *            malformed chunks            DRAIN    error answer, our side closed
 *   HELD     its time                    HEAD     answered
 *            the peer closed its side    HELD     no longer in flight, still answered
 *   DRAIN    bytes                       DRAIN    dropped, so that the error answer is not lost to a reset
 *   any      socket error, end of stream closed
 *
 * One request of a connection is treated at a time: what a client sends ahead waits in c->part, and once an
 * answer can't be sent, nothing more is read. */
#ifndef PAWL_LOAD_SERVE_H
#define PAWL_LOAD_SERVE_H

#include "http/http.h"
#include "load/endpoint.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>
#include <sys/uio.h>

#define SERVE_BUFFER 65536 /* also the longest head */

/* How an answer leaves the connection. */
enum serve_kind { SERVE_KEEP, SERVE_KEEP_10, SERVE_CLOSE, SERVE_KINDS };

struct serve_shared {
    struct load_endpoint_options options;
    char *text; /* the heads, the last one with the body behind it; allocated */
    struct iovec head[SERVE_KINDS], body;
    atomic_uint_least64_t in_flight, max_in_flight, open, max_open;
};

/* What of a request's head matters here. */
struct serve_request {
    enum http_body body;
    uint64_t content_length;
    enum serve_kind kind;
    bool head_only, expect_continue, tunnel;
};

struct serve_conn {
    int fd;
    enum { SERVE_HEAD, SERVE_BODY, SERVE_HELD, SERVE_DRAIN } state;
    bool counted;  /* in flight */
    bool readable; /* there may be more to read */
    bool ended;    /* the peer closed its side: reading ends with the end of stream */
    struct serve_request request;
    uint64_t left;
    struct http_chunked chunked;
    char *part; /* bytes received and not yet treated; allocated when first needed */
    size_t part_len, scan;
    unsigned owed; /* answers of c->request's kind to send, the first of them partly sent */
    size_t offset; /* of that first one */
    uint64_t due;  /* held: when to answer */
    TAILQ_ENTRY(serve_conn) in_delayed;
    TAILQ_ENTRY(serve_conn) in_all;
};

TAILQ_HEAD(serve_list, serve_conn);

struct serve_worker {
    struct serve_shared *shared;
    int epoll;
    int inbox[2]; /* a pipe of descriptors (int) of accepted connections; -1 ends the thread */
    pthread_t thread;
    char *buf;
    size_t memo_len; /* the last head, as in load/answer.h */
    struct serve_request memo;
    char memo_text[1024];
    struct serve_list delayed; /* in the order of c->due, since the delay is the same for all */
    struct serve_list all;
    uint64_t requests;
};

/* Makes a connection of fd, which it owns from now on, and puts it into w's poller; 0 or a negative errno (fd
 * is closed then). This and the next two: in w's thread. */
int serve_open(struct serve_worker *w, int fd);

/* Handles epoll's events; c may be freed. */
void serve_event(struct serve_worker *w, struct serve_conn *c, uint32_t events);

/* Answers what has been held until now (ns). */
void serve_due(struct serve_worker *w, uint64_t now);

/* Closes and frees c. In w's thread, or after it ended. */
void serve_close(struct serve_worker *w, struct serve_conn *c);

/* Raises *max to at least now. */
void serve_raise(atomic_uint_least64_t *max, uint64_t now);

#endif
