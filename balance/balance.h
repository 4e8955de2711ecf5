/* The balancer's shared state and hot paths alone: picking a server (smooth weighted round robin), its slots
 * (maxconn), the queue of requests that found none, and the idle connections to the servers. No input or
 * output: what to do with a slot, a waiter or a connection is the caller's affair.
 *
 * Every function may be called by any thread at any time, except bal_backend_init() and bal_backend_free().
 */
#ifndef PAWL_BALANCE_BALANCE_H
#define PAWL_BALANCE_BALANCE_H

#include "balance/lock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BAL_CACHE_LINE 64

/* A list link; a list is a circular one through its head. */
struct bal_link {
    struct bal_link *prev, *next;
};

/* The state of a request with regard to the queue. */
enum bal_wait {
    BAL_WAIT_NONE,   /* not queued */
    BAL_WAIT_QUEUED, /* in a queue */
    BAL_WAIT_TAKEN,  /* a thread that freed a slot took it out and is passing the slot on */
    BAL_WAIT_POKED,  /* the owner wants to be told when that is done */
    BAL_WAIT_DONE    /* the slot has been passed on */
};

/* Embedded in a request. Zeroed before its first use. */
struct bal_waiter {
    struct bal_link link;
    uint64_t ticket;           /* order of arrival in the backend */
    struct bal_server *server; /* whose slot it holds; while queued: the one it is bound to, or NULL */
    _Atomic(int) state;        /* enum bal_wait */
};

/* Embedded in a connection to a server. Zeroed before its first use. */
struct bal_idle_link {
    struct bal_link link;
    _Atomic(struct bal_idle *) in; /* the list it is in, or NULL; changed with that list's lock held */
};

/* The idle connections of one thread to one server, last used first. */
struct bal_idle {
    _Alignas(BAL_CACHE_LINE) bal_lock_t lock;
    _Atomic(unsigned) count;
    struct bal_link list;
};

struct bal_server {
    /* read-mostly */
    struct bal_backend *backend;
    unsigned index;        /* in the backend */
    unsigned weight;       /* 0..256 */
    unsigned maxconn;      /* 0: no limit */
    void *user;            /* the caller's */
    struct bal_idle *idle; /* one a thread */

    _Alignas(BAL_CACHE_LINE) _Atomic(unsigned) served; /* slots in use: requests in flight */
    _Atomic(unsigned) nbound;                          /* waiters bound to this server */
    _Atomic(unsigned) nidle;                           /* idle connections of all threads; a hint */
    _Atomic(unsigned) nconn;                           /* connections, idle ones included */
    struct bal_link bound;                             /* guarded by the backend's queue_lock */
};

struct bal_backend {
    unsigned nservers, nthreads;
    struct bal_server *servers;
    uint32_t *schedule; /* server indices of one period of the round robin; NULL when all weights are 0 */
    size_t period;

    _Alignas(BAL_CACHE_LINE) bal_lock_t rr_lock; /* guards position */
    size_t position;

    _Alignas(BAL_CACHE_LINE) bal_lock_t queue_lock; /* guards the queues and tickets */
    uint64_t next_ticket;
    struct bal_link queue;
    _Atomic(unsigned) nqueued; /* waiters in `queue` */
};

/* Makes a backend of n servers; set weight, maxconn and user of each before bal_backend_start(). False: no
 * memory. */
bool bal_backend_init(struct bal_backend *b, unsigned n, unsigned nthreads);

/* Computes the round robin's schedule. False: no memory. */
bool bal_backend_start(struct bal_backend *b);

void bal_backend_free(struct bal_backend *b);

enum bal_pick {
    BAL_PICKED, /* w->server is set and one of its slots taken */
    BAL_QUEUED, /* w waits; bal_release() of some thread will return it */
    BAL_NOBODY  /* no server has a weight */
};

/* Takes a slot of the next server in turn that has one (bound == NULL), or of that very server; else queues
 * w, first come first served. Nobody is queued while a server it may use has a free slot, and nobody
 * overtakes a queued one. */
enum bal_pick bal_acquire(struct bal_backend *b, struct bal_waiter *w, struct bal_server *bound);

/* A server other than `avoid` in turn that has a free slot, taken at once; NULL when there is none. For a
 * request whose server failed. Does not overtake the queue. */
struct bal_server *bal_acquire_other(struct bal_backend *b, const struct bal_server *avoid);

/* Gives a slot of s back. If somebody waits for it, the oldest such waiter is taken from the queue, owns the
 * slot and is returned in state BAL_WAIT_TAKEN: the caller must serve it, then call bal_passed(). Else NULL.
 */
struct bal_waiter *bal_release(struct bal_server *s);

/* The slot has been passed on to w, which belongs to its owner from here on. True: the owner asked in between
 * to be told, and waits for that. */
bool bal_passed(struct bal_waiter *w);

/* For the owner of w, when it has been told (after bal_passed() returned true, or instead of calling it). */
void bal_told(struct bal_waiter *w);

/* For the owner of w. Leaves the queue; false if w is not queued any more (a slot has been, or is being,
 * passed on). */
bool bal_leave(struct bal_backend *b, struct bal_waiter *w);

/* For the owner of w: whether the slot has been passed on wholly. If not, and w is being passed on, its
 * passer's bal_passed() will return true. */
bool bal_settled(struct bal_waiter *w);

/* Idle connections. A connection must be put back before its slot is
 * released: so there are never more connections than slots. */
void bal_idle_put(struct bal_server *s, unsigned thread, struct bal_idle_link *c);

/* Takes the one used last, of this thread if it has any, else of another; *owner is the thread it belonged
 * to. */
struct bal_idle_link *bal_idle_take(struct bal_server *s, unsigned thread, unsigned *owner);

/* Takes this very one out; false if another thread has taken it. */
bool bal_idle_remove(struct bal_server *s, unsigned thread, struct bal_idle_link *c);

/* Takes the one unused for longest, if too_old(c, arg) says so; NULL if none is. */
struct bal_idle_link *bal_idle_expire(struct bal_server *s, unsigned thread,
                                      bool (*too_old)(const struct bal_idle_link *c, const void *arg),
                                      const void *arg);

#endif
