/* The timer wheel. A timer that was pushed back stays in its slot until that is visited, and is then put
 * where it belongs. */
#include "net/timer.h"

#include <stddef.h>
#include <time.h>

uint64_t net_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void net_wheel_init(struct net_wheel *w, uint64_t now)
{
    *w = (struct net_wheel){.now = now};
    for (unsigned i = 0; i < NET_TIMER_SLOTS; i++) {
        w->slots[i].prev = w->slots[i].next = &w->slots[i];
    }
}

static void take_out(struct net_wheel *w, struct net_timer *t)
{
    unsigned i = (unsigned)(t->slot_due % NET_TIMER_SLOTS);
    t->prev->next = t->next;
    t->next->prev = t->prev;
    t->prev = t->next = NULL;
    if (w->slots[i].next == &w->slots[i]) {
        w->used[i / 64] &= ~(UINT64_C(1) << (i % 64));
    }
}

static void put_in(struct net_wheel *w, struct net_timer *t)
{
    t->slot_due = t->due > w->now ? t->due : w->now + 1;
    unsigned i = (unsigned)(t->slot_due % NET_TIMER_SLOTS);
    struct net_timer *head = &w->slots[i];
    t->prev = head->prev;
    t->next = head;
    head->prev->next = t;
    head->prev = t;
    w->used[i / 64] |= UINT64_C(1) << (i % 64);
}

void net_timer_arm(struct net_wheel *w, struct net_timer *t, uint64_t due)
{
    t->due = due;
    if (t->next) {
        if (due >= t->slot_due) {
            return;
        }
        take_out(w, t);
    }
    put_in(w, t);
}

void net_timer_stop(struct net_wheel *w, struct net_timer *t)
{
    t->due = 0;
    if (t->next) {
        take_out(w, t);
    }
}

/* Looks at every timer of one slot; one that is due is taken out and returned, one that belongs elsewhere is
 * moved. */
static struct net_timer *visit(struct net_wheel *w, uint64_t tick, uint64_t now)
{
    struct net_timer *head = &w->slots[tick % NET_TIMER_SLOTS];
    for (struct net_timer *t = head->next, *next; t != head; t = next) {
        next = t->next;
        if (t->slot_due > tick) {
            continue; /* a later round */
        }
        take_out(w, t);
        if (!t->due) {
            continue;
        }
        if (t->due <= now) {
            t->due = 0;
            return t;
        }
        put_in(w, t);
    }
    return NULL;
}

struct net_timer *net_timer_expired(struct net_wheel *w, uint64_t now)
{
    while (w->now < now) {
        /* After a long sleep one round over all slots is enough. */
        if (now - w->now > NET_TIMER_SLOTS) {
            w->now = now - NET_TIMER_SLOTS;
        }
        uint64_t tick = w->now + 1;
        if (w->used[tick % NET_TIMER_SLOTS / 64] & (UINT64_C(1) << (tick % 64))) {
            struct net_timer *t = visit(w, tick, now);
            if (t) {
                return t;
            }
        }
        w->now = tick;
    }
    return NULL;
}

int net_wheel_wait(const struct net_wheel *w, uint64_t now)
{
    for (unsigned k = 0; k < NET_TIMER_SLOTS + 64; k += 64) {
        unsigned first = (unsigned)((w->now + 1 + k) % NET_TIMER_SLOTS);
        uint64_t bits = w->used[first / 64];
        if (k == 0) {
            bits &= ~UINT64_C(0) << (first % 64);
        }
        if (bits) {
            unsigned slot = first / 64 * 64 + (unsigned)__builtin_ctzll(bits);
            uint64_t tick = w->now + 1 + (slot - (w->now + 1)) % NET_TIMER_SLOTS;
            return tick > now ? (int)(tick - now) : 0;
        }
    }
    return -1;
}
