/* One connection of the driver: connects, sends, receives, recognises the end of the answer. Knows nothing of
 * schedule, counting or other connections: those are the worker's.
 *
 *   state       event                          next state    returned
 *   CLOSED      load_conn_open                 CONNECTING    WAIT
 *                                              CLOSED        CONNECT_FAILED
 *   CONNECTING  connected                      IDLE          CONNECTED
 *               refused                        CLOSED        CONNECT_FAILED
 *               connected, and ended again     CLOSED        LOST
 *   IDLE        load_conn_request              BUSY          WAIT, or as below
 *               bytes, or end of stream        CLOSED        LOST
 *   BUSY        part of the answer             BUSY          WAIT
 *               the answer's end               IDLE          ANSWERED
 *               the same, and must close       CLOSED        ANSWERED
 *               send fails                     CLOSED        WRITE_FAILED
 *               bytes that are no answer       CLOSED        MALFORMED
 *               read fails, stream ends early  CLOSED        READ_FAILED
 *   any         load_conn_close                CLOSED        */
#ifndef PAWL_LOAD_CONN_H
#define PAWL_LOAD_CONN_H

#include "load/answer.h"
#include "load/request.h"

#include <sys/queue.h>

struct load_conn {
    int fd;
    enum { LOAD_CLOSED, LOAD_CONNECTING, LOAD_IDLE, LOAD_BUSY } state;
    int error;   /* errno of the last failure; 0 where the server just closed */
    size_t sent; /* of the request */
    struct load_answer answer;
    /* The worker's: */
    TAILQ_ENTRY(load_conn) link;
    struct load_conn_list *in;
    uint64_t since;    /* when connecting began, or the request was sent (ns); when to open again if closed */
    uint64_t due;      /* when the request was due */
    unsigned failures; /* since the last answer */
};

TAILQ_HEAD(load_conn_list, load_conn);

enum load_step {
    LOAD_WAIT,
    LOAD_CONNECTED,
    LOAD_ANSWERED,
    LOAD_LOST, /* the server ended a connection that carried no request */
    LOAD_CONNECT_FAILED,
    LOAD_READ_FAILED,
    LOAD_WRITE_FAILED,
    LOAD_MALFORMED
};

/* What the connections of a thread share. */
struct load_io {
    int epoll;
    const struct load_request *request;
    struct load_answer_memo memo;
    uint64_t bytes; /* received */
    char *buf;
    size_t cap;
};

enum load_step load_conn_open(struct load_conn *c, struct load_io *io);

/* Sends the request on an idle connection. */
enum load_step load_conn_request(struct load_conn *c, struct load_io *io);

/* Handles epoll's events for c. */
enum load_step load_conn_event(struct load_conn *c, struct load_io *io, uint32_t events);

void load_conn_close(struct load_conn *c);

#endif
