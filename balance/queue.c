/* Slots and the queue behind them. A backend has one queue for requests that any server may serve, so that
 * nobody waits at one server while another has a free slot; and each server has one for requests bound to it.
 * The older of the two heads goes first. All of a backend's queues are guarded by one lock, which is only
 * taken when somebody waits, or is about to.
 *
 * The empty case takes no lock and loses nobody: a waiter first counts itself (nqueued, nbound), then looks
 * for a slot once more; a release first frees its slot, then looks at the counts. With sequentially
 * consistent operations at least one of the two sees the other (Dekker). Only the waiter that found the queue
 * empty needs to look again: behind it, every release already sees the count.
 *
 *   state of a waiter | event                         | next
 *   NONE, DONE        | bal_acquire: no slot          | QUEUED   (by its owner)
 *   QUEUED            | bal_leave                     | NONE     (by its owner, under queue_lock)
 *   QUEUED            | bal_release                   | TAKEN    (by the passer, under queue_lock)
 *   TAKEN             | bal_settled                   | POKED    (by its owner)
 *   TAKEN             | bal_passed                    | DONE     (by the passer)
 *   POKED             | bal_passed: true              | POKED    (the passer tells the owner)
 *   TAKEN, POKED      | bal_told                      | DONE     (by its owner) */
#include "balance/balance.h"
#include "balance/slot.h"

#define WAITER(l) ((struct bal_waiter *)(void *)((char *)(l)-offsetof(struct bal_waiter, link)))

static void push_tail(struct bal_link *list, struct bal_link *l)
{
    l->prev = list->prev;
    l->next = list;
    list->prev->next = l;
    list->prev = l;
}

static void unlink_(struct bal_link *l)
{
    l->prev->next = l->next;
    l->next->prev = l->prev;
    l->prev = l->next = l;
}

static void set_state(struct bal_waiter *w, enum bal_wait state)
{
    atomic_store_explicit(&w->state, state, memory_order_release);
}

/* Takes w out of its queue. With queue_lock held. */
static void dequeue(struct bal_backend *b, struct bal_waiter *w, enum bal_wait state)
{
    unlink_(&w->link);
    atomic_fetch_sub_explicit(w->server ? &w->server->nbound : &b->nqueued, 1, memory_order_seq_cst);
    set_state(w, state);
}

/* The oldest waiter that may use a slot of s, or NULL. With queue_lock held. */
static struct bal_waiter *oldest(struct bal_server *s)
{
    struct bal_link *any = &s->backend->queue;
    struct bal_waiter *w = NULL;
    if (s->weight && any->next != any) {
        w = WAITER(any->next);
    }
    if (s->bound.next != &s->bound && (!w || WAITER(s->bound.next)->ticket < w->ticket)) {
        w = WAITER(s->bound.next);
    }
    return w;
}

static struct bal_server *try_now(struct bal_backend *b, struct bal_server *bound)
{
    if (bound) {
        return bal_slot_try(bound) ? bound : NULL;
    }
    return bal_round_robin(b, NULL);
}

enum bal_pick bal_acquire(struct bal_backend *b, struct bal_waiter *w, struct bal_server *bound)
{
    _Atomic(unsigned) *count = bound ? &bound->nbound : &b->nqueued;
    if (!bound && !b->schedule) {
        return BAL_NOBODY;
    }
    if (!atomic_load_explicit(count, memory_order_relaxed)) {
        w->server = try_now(b, bound);
        if (w->server) {
            set_state(w, BAL_WAIT_NONE);
            return BAL_PICKED;
        }
    }
    bal_lock(&b->queue_lock);
    w->ticket = b->next_ticket++;
    w->server = bound;
    push_tail(bound ? &bound->bound : &b->queue, &w->link);
    set_state(w, BAL_WAIT_QUEUED);
    if (!atomic_fetch_add_explicit(count, 1, memory_order_seq_cst)) {
        struct bal_server *s = NULL;
        if (bound) {
            s = bal_slot_try(bound) ? bound : NULL;
        } else {
            for (unsigned i = 0; i < b->nservers && !s; i++) {
                s = b->servers[i].weight && bal_slot_try(&b->servers[i]) ? &b->servers[i] : NULL;
            }
        }
        if (s) {
            dequeue(b, w, BAL_WAIT_NONE);
            bal_unlock(&b->queue_lock);
            w->server = s;
            return BAL_PICKED;
        }
    }
    bal_unlock(&b->queue_lock);
    return BAL_QUEUED;
}

struct bal_server *bal_acquire_other(struct bal_backend *b, const struct bal_server *avoid)
{
    if (atomic_load_explicit(&b->nqueued, memory_order_relaxed)) {
        return NULL;
    }
    return bal_round_robin(b, avoid);
}

static bool anybody(struct bal_server *s)
{
    return atomic_load_explicit(&s->backend->nqueued, memory_order_seq_cst) ||
           atomic_load_explicit(&s->nbound, memory_order_seq_cst);
}

struct bal_waiter *bal_release(struct bal_server *s)
{
    struct bal_backend *b = s->backend;
    struct bal_waiter *w = NULL;
    bool freed = false;
    if (!anybody(s)) {
        atomic_fetch_sub_explicit(&s->served, 1, memory_order_seq_cst);
        freed = true;
        if (!anybody(s)) {
            return NULL;
        }
    }
    bal_lock(&b->queue_lock);
    w = oldest(s);
    if (freed) {
        /* Somebody came after the slot was free; unless it has been taken since, pass it on after all. */
        if (w && bal_slot_try(s)) {
            freed = false;
        } else {
            w = NULL;
        }
    }
    if (w) {
        dequeue(b, w, BAL_WAIT_TAKEN);
        w->server = s;
    } else if (!freed) {
        atomic_fetch_sub_explicit(&s->served, 1, memory_order_seq_cst);
    }
    bal_unlock(&b->queue_lock);
    return w;
}

bool bal_passed(struct bal_waiter *w)
{
    int state = BAL_WAIT_TAKEN;
    return !atomic_compare_exchange_strong_explicit(&w->state, &state, BAL_WAIT_DONE, memory_order_acq_rel,
                                                    memory_order_acquire);
}

void bal_told(struct bal_waiter *w)
{
    set_state(w, BAL_WAIT_DONE);
}

bool bal_leave(struct bal_backend *b, struct bal_waiter *w)
{
    if (atomic_load_explicit(&w->state, memory_order_acquire) != BAL_WAIT_QUEUED) {
        return false;
    }
    bal_lock(&b->queue_lock);
    bool queued = atomic_load_explicit(&w->state, memory_order_relaxed) == BAL_WAIT_QUEUED;
    if (queued) {
        dequeue(b, w, BAL_WAIT_NONE);
    }
    bal_unlock(&b->queue_lock);
    return queued;
}

bool bal_settled(struct bal_waiter *w)
{
    int state = BAL_WAIT_TAKEN;
    if (atomic_compare_exchange_strong_explicit(&w->state, &state, BAL_WAIT_POKED, memory_order_acq_rel,
                                                memory_order_acquire)) {
        return false;
    }
    return state != BAL_WAIT_POKED;
}
