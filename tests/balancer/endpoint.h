/* Scripted endpoints: the servers behind the balancer under test, one thread a connection, in the test's
 * process. They record everything that reaches them. Every function may be called from any thread; none
 * asserts. */
#ifndef PAWL_TESTS_BALANCER_ENDPOINT_H
#define PAWL_TESTS_BALANCER_ENDPOINT_H

#include "wire.h"

struct endpoint;
struct ep_conn; /* one connection; valid inside its hooks only */

enum ep_next {
    EP_GO_ON, /* the usual course: read on, answer, keep the connection */
    EP_CLOSE, /* close the connection; bytes not read yet make that a reset */
    EP_DONE   /* on_request: it has answered itself; keep the connection */
};

/* What an endpoint does. All zero: it answers each request with 200 and "Hello World!" and keeps the
 * connection. */
struct ep_script {
    /* Hooks, called in the connection's thread; each may be NULL. */
    enum ep_next (*on_bytes)(struct ep_conn *c, unsigned nth,
                             void *arg); /* the nth request's (from 0) first byte has
                                            arrived and is not read yet */
    enum ep_next (*on_head)(struct ep_conn *c, const struct wire_msg *m,
                            void *arg); /* its body is not read yet */
    enum ep_next (*on_request)(struct ep_conn *c, const struct wire_msg *m, void *arg);
    void *arg;

    /* The built-in answer. */
    bool gated;         /* each answer first waits for ep_gate_open() or ep_gate_let() */
    unsigned delay_ms;  /* then so long */
    const char *answer; /* its exact bytes; NULL: a 200 with a body of body_len bytes of ep_pattern(), or
                           Hello World! */
    size_t body_len;
    bool close; /* close after the answer */
};

struct ep_stats {
    unsigned connections, open, max_open; /* accepted; open now; at most at once */
    unsigned requests, in_flight,
        max_flight;      /* read as a whole; heads read and not yet answered; at most at once */
    unsigned heads, bad; /* heads read; connections given up for malformed or cut off requests */
    uint64_t bytes;      /* received */
};

/* Starts one on 127.0.0.1, port from the kernel; the script is copied. NULL: the default script. Aborts the
 * program when there are no sockets or threads left. Stopped by ep_stop(), which closes and joins everything.
 */
struct endpoint *ep_start(const struct ep_script *script);
void ep_stop(struct endpoint *e);
unsigned ep_port(const struct endpoint *e);

/* A connection whose balancer's side is closed counts as neither open nor in flight, whatever its thread
 * does. */
struct ep_stats ep_stats(struct endpoint *e);

/* The ith whole request, in order of arrival; NULL when there is none. Lives as long as the endpoint. */
const struct wire_msg *ep_request(struct endpoint *e, unsigned i);

/* Wait until at least n requests were read, or are in flight, or (ep_wait_free) none is in flight, or
 * (ep_wait_idle) no connection is open either; false after timeout_ms. */
bool ep_wait_requests(struct endpoint *e, unsigned n, int timeout_ms);
bool ep_wait_in_flight(struct endpoint *e, unsigned n, int timeout_ms);
bool ep_wait_free(struct endpoint *e, int timeout_ms);
bool ep_wait_idle(struct endpoint *e, int timeout_ms);

/* The gate: open it for good, shut it again, or let n answers through (now or later). */
void ep_gate_open(struct endpoint *e);
void ep_gate_shut(struct endpoint *e);
void ep_gate_let(struct endpoint *e, unsigned n);

/* Closes every connection that has no request in flight. */
void ep_close_idle(struct endpoint *e);

/* For hooks. Sending returns false when the peer is gone. ep_answered() tells that the last byte is about to
 * go out: from then on the request is not in flight. ep_respond() calls it. */
bool ep_gate_wait(struct ep_conn *c); /* false: the endpoint is being stopped */
bool ep_pause(struct ep_conn *c, unsigned ms);
bool ep_send(struct ep_conn *c, const void *data, size_t n);
bool ep_send_text(struct ep_conn *c, const char *text);
void ep_answered(struct ep_conn *c);
bool ep_respond(struct ep_conn *c, unsigned status, const void *body, size_t n);
unsigned ep_conn_number(const struct ep_conn *c);
struct wire *ep_wire(struct ep_conn *c);

/* Fills n bytes with a fixed sequence that differs at every place a mix-up could bring together. */
void ep_pattern(char *out, size_t n, unsigned seed);

#endif
