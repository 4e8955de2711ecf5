/* Timers of one thread: a wheel of millisecond slots. Arming later than before costs a store, so that a
 * time-out which is pushed back with every request is nearly free. Not thread-safe: one wheel a thread. */
#ifndef PAWL_NET_TIMER_H
#define PAWL_NET_TIMER_H

#include <stdbool.h>
#include <stdint.h>

#define NET_TIMER_SLOTS 4096u /* a power of two; a timer beyond that many ms goes round more than once */

struct net_timer {
    struct net_timer *prev, *next; /* in a slot; NULL: in none */
    uint64_t due;                  /* ms; 0: not armed */
    uint64_t slot_due;             /* the ms of the slot it is in */
};

struct net_wheel {
    struct net_timer slots[NET_TIMER_SLOTS]; /* list heads */
    uint64_t used[NET_TIMER_SLOTS / 64];     /* slots that hold something */
    uint64_t now;                            /* ms; all slots up to this have been visited */
};

/* Milliseconds of CLOCK_MONOTONIC. */
uint64_t net_now_ms(void);

void net_wheel_init(struct net_wheel *w, uint64_t now);

/* Arms t for the time `due` (ms, > 0), whatever it was. */
void net_timer_arm(struct net_wheel *w, struct net_timer *t, uint64_t due);

/* Disarms t; it may then be freed. */
void net_timer_stop(struct net_wheel *w, struct net_timer *t);

/* Takes one timer that is due at `now` and disarms it; NULL when there is none left. */
struct net_timer *net_timer_expired(struct net_wheel *w, uint64_t now);

/* Milliseconds until the next slot to visit, -1 when no timer is in the wheel. */
int net_wheel_wait(const struct net_wheel *w, uint64_t now);

#endif
