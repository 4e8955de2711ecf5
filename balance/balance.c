/* Making and freeing a backend, and the smooth weighted round robin. */
#include "balance/balance.h"

#include "balance/slot.h"

#include <stdlib.h>

static void list_init(struct bal_link *l)
{
    l->prev = l->next = l;
}

bool bal_backend_init(struct bal_backend *b, unsigned n, unsigned nthreads)
{
    *b = (struct bal_backend){.nservers = n, .nthreads = nthreads};
    bal_lock_init(&b->rr_lock);
    bal_lock_init(&b->queue_lock);
    list_init(&b->queue);
    if (!n) {
        return true;
    }
    b->servers = aligned_alloc(BAL_CACHE_LINE, n * sizeof *b->servers);
    if (!b->servers) {
        return false;
    }
    for (unsigned i = 0; i < n; i++) {
        b->servers[i] = (struct bal_server){.backend = b, .index = i, .weight = 1};
        list_init(&b->servers[i].bound);
    }
    for (unsigned i = 0; i < n; i++) {
        struct bal_idle *idle = aligned_alloc(BAL_CACHE_LINE, nthreads * sizeof *idle);
        if (!idle) {
            bal_backend_free(b);
            return false;
        }
        for (unsigned t = 0; t < nthreads; t++) {
            idle[t] = (struct bal_idle){.count = 0};
            bal_lock_init(&idle[t].lock);
            list_init(&idle[t].list);
        }
        b->servers[i].idle = idle;
    }
    return true;
}

void bal_backend_free(struct bal_backend *b)
{
    for (unsigned i = 0; b->servers && i < b->nservers; i++) {
        free(b->servers[i].idle);
    }
    free(b->servers);
    free(b->schedule);
    b->servers = NULL;
    b->schedule = NULL;
}

static unsigned gcd(unsigned a, unsigned b)
{
    while (b) {
        unsigned r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* One period of the smooth weighted round robin as nginx does it (ngx_http_upstream_round_robin, 2012):
 * everybody gains its weight, the richest is served and pays the sum. Computed once, so that a pick is one
 * step along a table. */
bool bal_backend_start(struct bal_backend *b)
{
    unsigned unit = 0;
    size_t total = 0;
    for (unsigned i = 0; i < b->nservers; i++) {
        unit = gcd(unit, b->servers[i].weight);
        total += b->servers[i].weight;
    }
    if (!total) {
        return true;
    }
    b->period = total / unit;
    b->schedule = malloc(b->period * sizeof *b->schedule);
    long *credit = calloc(b->nservers, sizeof *credit);
    if (!b->schedule || !credit) {
        free(credit);
        return false;
    }
    for (size_t k = 0; k < b->period; k++) {
        unsigned best = 0;
        for (unsigned i = 0; i < b->nservers; i++) {
            credit[i] += b->servers[i].weight / unit;
            if (credit[i] > credit[best]) {
                best = i;
            }
        }
        credit[best] -= (long)b->period;
        b->schedule[k] = best;
    }
    free(credit);
    return true;
}

bool bal_slot_try(struct bal_server *s)
{
    unsigned n = atomic_load_explicit(&s->served, memory_order_relaxed);
    do {
        if (s->maxconn && n >= s->maxconn) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&s->served, &n, n + 1, memory_order_seq_cst,
                                                    memory_order_relaxed));
    return true;
}

static bool usable(struct bal_server *s, const struct bal_server *avoid)
{
    return s != avoid && s->weight && !atomic_load_explicit(&s->nbound, memory_order_relaxed) &&
           bal_slot_try(s);
}

/* The server whose turn it is; if it is full, its turn is lost and the next in line that has a slot gets the
 * request. */
struct bal_server *bal_round_robin(struct bal_backend *b, const struct bal_server *avoid)
{
    if (!b->schedule) {
        return NULL;
    }
    bal_lock(&b->rr_lock);
    size_t at = b->position;
    b->position = at + 1 < b->period ? at + 1 : 0;
    bal_unlock(&b->rr_lock);

    unsigned first = b->schedule[at];
    for (unsigned i = 0; i < b->nservers; i++) {
        struct bal_server *s = &b->servers[(first + i) % b->nservers];
        if (usable(s, avoid)) {
            return s;
        }
    }
    return NULL;
}
