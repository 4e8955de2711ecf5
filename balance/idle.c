/* The idle connections to a server: a list a thread, each with its own lock, so that in the common case a
 * thread meets nobody. A thread without one of its own takes another's: moving a connection is cheaper than
 * opening one, and keeps the number of connections within the number of slots. */
#include "balance/balance.h"

#define CONN(l) ((struct bal_idle_link *)(void *)((char *)(l)-offsetof(struct bal_idle_link, link)))

/* A list's count is only written with its lock held, and read without as a hint. */
static void count(struct bal_server *s, struct bal_idle *i, unsigned by)
{
    unsigned n = atomic_load_explicit(&i->count, memory_order_relaxed);
    atomic_store_explicit(&i->count, n + by, memory_order_relaxed);
    atomic_fetch_add_explicit(&s->nidle, by, memory_order_relaxed);
}

static void take_out(struct bal_server *s, struct bal_idle *i, struct bal_idle_link *c)
{
    c->link.prev->next = c->link.next;
    c->link.next->prev = c->link.prev;
    atomic_store_explicit(&c->in, NULL, memory_order_relaxed);
    count(s, i, -1u);
}

void bal_idle_put(struct bal_server *s, unsigned thread, struct bal_idle_link *c)
{
    struct bal_idle *i = &s->idle[thread];
    bal_lock(&i->lock);
    c->link.prev = &i->list;
    c->link.next = i->list.next;
    i->list.next->prev = &c->link;
    i->list.next = &c->link;
    atomic_store_explicit(&c->in, i, memory_order_relaxed);
    count(s, i, 1);
    bal_unlock(&i->lock);
}

/* Takes the first or the last of a list, if `wanted` (where given) agrees. */
static struct bal_idle_link *take(struct bal_server *s, struct bal_idle *i, bool last,
                                  bool (*wanted)(const struct bal_idle_link *c, const void *arg),
                                  const void *arg)
{
    struct bal_idle_link *c = NULL;
    if (!atomic_load_explicit(&i->count, memory_order_relaxed)) {
        return NULL;
    }
    bal_lock(&i->lock);
    struct bal_link *l = last ? i->list.prev : i->list.next;
    if (l != &i->list && (!wanted || wanted(CONN(l), arg))) {
        c = CONN(l);
        take_out(s, i, c);
    }
    bal_unlock(&i->lock);
    return c;
}

struct bal_idle_link *bal_idle_take(struct bal_server *s, unsigned thread, unsigned *owner)
{
    unsigned n = s->backend->nthreads;
    for (unsigned k = 0; k < n; k++) {
        if (k && !atomic_load_explicit(&s->nidle, memory_order_relaxed)) {
            return NULL;
        }
        *owner = (thread + k) % n;
        struct bal_idle_link *c = take(s, &s->idle[*owner], false, NULL, NULL);
        if (c) {
            return c;
        }
    }
    return NULL;
}

bool bal_idle_remove(struct bal_server *s, unsigned thread, struct bal_idle_link *c)
{
    struct bal_idle *i = &s->idle[thread];
    bal_lock(&i->lock);
    bool here = atomic_load_explicit(&c->in, memory_order_relaxed) == i;
    if (here) {
        take_out(s, i, c);
    }
    bal_unlock(&i->lock);
    return here;
}

struct bal_idle_link *bal_idle_expire(struct bal_server *s, unsigned thread,
                                      bool (*too_old)(const struct bal_idle_link *c, const void *arg),
                                      const void *arg)
{
    return take(s, &s->idle[thread], true, too_old, arg);
}
