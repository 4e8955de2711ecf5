/* What the files of proxy/ share: workers, connections on both sides, and who may touch what.
 *
 * A client connection stays on the worker that accepted it; only that worker changes it, with one exception:
 * while its request waits in a queue, the thread that frees a slot may take it (BAL_WAIT_TAKEN), write the
 * request to a server connection and hand that connection to the client's worker. A server connection belongs
 * to the worker of the client it serves, or, while idle, to the list of balance/idle that it is in.
 * Connection structures are never given back to the allocator while workers run, so that a late event of the
 * poller meets at worst a connection in another use, and every handler therefore treats events as hints. */
#ifndef PAWL_BALANCER_PROXY_INTERNAL_H
#define PAWL_BALANCER_PROXY_INTERNAL_H

#include "balance/balance.h"
#include "balancer/config/config.h"
#include "balancer/proxy/flow.h"
#include "http/http.h"
#include "net/addr.h"
#include "net/timer.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum source_kind { SOURCE_WAKE, SOURCE_LISTENER, SOURCE_CLIENT, SOURCE_SERVER };

/* First member of everything registered with a poller. */
struct source {
    enum source_kind kind;
};

struct backend {
    const struct cfg_proxy *cfg;
    struct bal_backend bal;
    long queue_ms; /* -1: no limit */
};

struct frontend {
    const struct cfg_proxy *cfg;
    struct backend *backend; /* NULL: every request gets 503 */
    unsigned maxconn;        /* 0: no limit */
    _Atomic(unsigned) nconn;
};

/* A listening socket as one worker sees it. */
struct listener {
    struct source source;
    struct frontend *fe;
    int fd;
    bool shared; /* the other workers poll the same socket */
    bool paused; /* not polled: too many connections */
};

struct sconn {
    struct source source;
    _Atomic(struct client *) client; /* whom it serves; NULL: idle or unused */
    _Atomic(struct bal_server *) server;
    struct bal_idle_link idle;
    struct sconn *next_free;
    uint64_t idle_since; /* ms */
    int fd;
    bool used_before; /* has served a request before this one */
    bool read_ready, hup, eof, failed;
    bool polls_write; /* the poller tells when it is writable again */
};

enum client_state {
    CLIENT_HEAD,   /* waits for a request, or reads its head */
    CLIENT_WAIT,   /* the request waits for a slot */
    CLIENT_PAUSE,  /* waits before the next attempt at a server that refused */
    CLIENT_XFER,   /* has a server connection: sends the request, forwards the answer */
    CLIENT_LINGER, /* everything is written and the sending side shut: reads until the client closes */
    CLIENT_CLOSED
};

struct client {
    struct source source;
    struct worker *worker;
    struct frontend *fe;
    struct backend *be;
    int fd;
    enum client_state state;
    bool read_ready, hup, eof,
        reset;        /* the socket: may be readable, peer shut down, end was read, is broken */
    bool first;       /* no request has been read on this connection yet */
    bool in_run;      /* in the worker's run list */
    bool polls_write; /* the poller tells when the socket is writable again */

    /* the request */
    struct flow up; /* to the server; up.src is the input buffer, up.head the rewritten head */
    size_t scan;
    enum http_method method;
    unsigned minor;
    bool keep_alive, upgrade, repeatable, up_done, up_failed, retried;
    bool has_slot;
    unsigned attempts_left;
    struct bal_waiter wait;
    struct bal_server *bound; /* the next attempt goes to this server */
    struct sconn *srv;
    uint64_t since;     /* ms: when the present phase began */
    uint64_t passed_at; /* ms: when another thread sent the request; 0: none did */

    /* the answer */
    struct flow down; /* to the client; down.src is the server's input, down.head the rewritten head */
    size_t answer_scan;
    bool answered;     /* the head of the final answer has been prepared */
    bool close;        /* the connection ends with this answer */
    bool server_close; /* the server's connection can't be used again */
    bool interim;      /* an interim answer is being written */

    struct net_timer timer;
    struct bal_link run; /* in the run list or the mailbox, or in the list of the closed */
    struct bal_link all; /* in the worker's list of open clients */
    uint32_t lingered;   /* bytes thrown away */
    char peer[64];       /* the client's address for X-Forwarded-For */
    uint8_t peer_len;
};

struct worker {
    struct source source; /* its wake-up descriptor */
    struct proxy *proxy;
    unsigned index;
    int epoll, wake;
    uint64_t now; /* ms, since the last wait */
    struct net_wheel wheel;
    struct listener *listeners;
    size_t nlisteners;
    struct bal_link clients; /* open */
    struct bal_link dead;    /* closed in this round, reused after it */
    struct bal_link run;     /* clients to look at before the next wait */
    struct buf *free_bufs;
    unsigned nfree_bufs;
    struct client *free_clients; /* linked by run.next */
    struct sconn *free_sconns;
    uint64_t next_sweep;     /* of idle server connections, ms */
    uint64_t accept_again;   /* ms: paused listeners are looked at; 0: not waiting for that */
    uint64_t next_complaint; /* ms */
    bool stopping;
    uint64_t stop_idle_at; /* ms: idle clients are closed */
    unsigned nclients;

    /* parsed heads; too large for the stack of every handler */
    struct http_request request;
    struct http_response response;

    /* from other threads */
    _Alignas(BAL_CACHE_LINE) bal_lock_t mail_lock;
    struct bal_link mail; /* clients whose slot was passed on */
    _Atomic(bool) resume; /* look at paused listeners */
};

enum { STOP_NOT, STOP_GRACEFUL, STOP_NOW };

struct proxy {
    const struct cfg *cfg;
    struct frontend *frontends;
    size_t nfrontends;
    struct backend *backends;
    size_t nbackends;
    struct worker *workers;
    unsigned nworkers;
    unsigned maxconn; /* 0: no limit */
    _Atomic(unsigned) nconn;
    _Atomic(unsigned) npaused; /* paused listeners of all workers */
    _Atomic(int) stop;
};

/* circular lists */
static inline void list_init(struct bal_link *l)
{
    l->prev = l->next = l;
}
static inline bool list_empty(const struct bal_link *l)
{
    return l->next == l;
}
static inline void list_push(struct bal_link *list, struct bal_link *l)
{
    l->prev = list->prev;
    l->next = list;
    list->prev->next = l;
    list->prev = l;
}
static inline void list_remove(struct bal_link *l)
{
    l->prev->next = l->next;
    l->next->prev = l->prev;
    l->prev = l->next = l;
}
#define CONTAINER(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* pool.c: buffers and structures of one worker */
struct buf *buf_get(struct worker *w); /* NULL: no memory */
void buf_put(struct worker *w, struct buf **b);
struct client *client_alloc(struct worker *w);
struct sconn *sconn_alloc(struct worker *w);
void sconn_recycle(struct worker *w, struct sconn *sc);
void pool_free(struct worker *w);

/* Reads once into b, made if needed, behind what is there. Returns bytes read; 0 nothing now; -1 end; -2
 * error; -3 no room (or memory). *ready is cleared when the socket is known to be drained. */
long socket_read(struct worker *w, struct buf **b, int fd, bool *ready, bool hup);

/* worker.c */
int worker_init(struct worker *w, struct proxy *p, unsigned index);
void *worker_main(void *arg);
void worker_free(struct worker *w);
void worker_wake(struct worker *w);
void worker_run_later(struct client *c); /* by its own worker */
void worker_mail(struct client *c);      /* by any thread */
/* Adds a socket, edge-triggered. A socket that is writable at once is polled for input alone (write: false):
 * else the poller would report it on the spot and wake the worker for nothing. worker_watch_write() is for
 * the rare case that a write blocks. Return 0 or a negative errno. */
int worker_watch(int epoll, int fd, struct source *s, bool write);
int worker_watch_write(int epoll, int fd, struct source *s);

/* listener.c */
int listeners_open(struct proxy *p);
void listeners_close(struct worker *w);
void listener_event(struct worker *w, struct listener *l);
void listeners_resume(struct worker *w);
void connection_closed(struct client *c); /* gives the places of maxconn back */

/* client.c */
void client_accepted(struct worker *w, struct listener *l, int fd, const struct net_addr *peer);
void client_event(struct client *c, uint32_t events);
void client_run(struct client *c); /* goes on with whatever can go on */
void client_timeout(struct client *c);
void client_close(struct client *c);
void client_free_buffers(struct client *c);
void client_error(struct client *c, unsigned status); /* answers from here and closes */
void client_next(struct client *c);                   /* the answer is complete: next request, or close */
void client_timer(struct client *c, long ms);         /* from now; < 0: none */
void client_stop_idle(struct client *c);

/* request.c */
void request_start(struct client *c);    /* head parsed and rewritten: find a server */
void request_start_on(struct client *c); /* a slot is held: find a connection */
void request_waiting(struct client *c);  /* in CLIENT_WAIT: something happened */
void request_retry_pause_over(struct client *c);
void request_server_failed(struct client *c);          /* the connection broke before any answer */
void slot_release(struct client *c, struct sconn *sc); /* sc: reusable, or NULL */

/* transfer.c */
void transfer_run(struct client *c);
void transfer_timeout(struct client *c);

/* server.c */
struct sconn *sconn_open(struct worker *w, struct bal_server *s, bool fresh, bool check, bool *later);
void sconn_attach(struct sconn *sc, struct client *c);
void sconn_close(struct worker *w, struct sconn *sc);
void sconn_event(struct worker *w, struct sconn *sc, uint32_t events);
void sconn_idle(struct worker *w, struct sconn *sc);
void sconn_pass(struct worker *w, struct sconn *sc, struct client *c);
void sconn_sweep(struct worker *w);      /* those unused for long, at times */
void sconn_close_idle(struct worker *w); /* all of this worker */

#endif
