/* What the threads of a case do: each call is an event of the execution (sim/graph.h). To be called by a
 * case's run() only. Places are numbers below the case's `places`. */
#ifndef PAWL_SIM_THREAD_H
#define PAWL_SIM_THREAD_H

#include "sim/graph.h"

uint64_t sim_load(unsigned place, enum sim_order order);
/* Is one of these bits set? Where all executions are explored, writes that answer alike are not told apart:
 * the next thing its thread does at this place must be a read-modify-write, which knows of the newest anyway.
 */
bool sim_load_any(unsigned place, uint64_t bits, enum sim_order order);
void sim_store(unsigned place, uint64_t value, enum sim_order order);
void sim_fence(enum sim_order order);

/* Strong; *expected is what was read. `failure`: the order when it did not store. */
bool sim_compare_exchange(unsigned place, uint64_t *expected, uint64_t value, enum sim_order success,
                          enum sim_order failure);

/* Weak: it may fail though it reads what is expected, by choice. */
bool sim_compare_exchange_weak(unsigned place, uint64_t *expected, uint64_t value, enum sim_order success,
                               enum sim_order failure);

/* The strong one in a loop that reads, decides, and compares, until it stores what it decided on: when all
 * executions are explored, an attempt that fails on what its thread has read just before is left out. What
 * follows it is what follows when that read reads the newer value at once, which is another execution. The
 * loop must have no other effect. */
bool sim_confirm_exchange(unsigned place, uint64_t *expected, uint64_t value, enum sim_order success,
                          enum sim_order failure);

/* They return the value from before. */
uint64_t sim_exchange(unsigned place, uint64_t value, enum sim_order order);
uint64_t sim_fetch_add(unsigned place, uint64_t value, uint64_t mask, enum sim_order order);

/* Data that is not atomic: an access that does not happen before or after another thread's, one of the two
 * writing, is a violation. */
uint64_t sim_read_data(unsigned place);
void sim_write_data(unsigned place, uint64_t value);

/* 0 to n - 1: all of them are explored. */
unsigned sim_choose(unsigned n);

/* A spin: the thread goes on once its next load of what it loaded last reads another write. `for_ever`: when
 * there is none, it waits in vain; else other executions show what it does instead. */
void sim_pause(bool for_ever);

/* Ends this execution: what happens beyond is not looked at (a bound was met), or is another execution's. */
void sim_bound(void);

/* A violation unless it is true. */
void sim_check(bool holds, const char *text);

/* The futex calls on a place, for threads that sleep until what they compare has changed. `queue`: another
 * place, initially 0, the kernel's. Return as the system's do: 0, EAGAIN, ETIMEDOUT, EINTR; how many were
 * woken. mask: 1 to 15. */
/* timing: never ends by a time-out; may, and must be woken all the same; may, and does when nothing else ends
 * it; does, once the kernel has compared. */
enum sim_timing { SIM_UNTIMED, SIM_MAY_EXPIRE, SIM_WILL_EXPIRE, SIM_EXPIRES };
/* A wait on another value than what the thread has seen there last is a violation: it would not sleep, but go
 * round and round. */
int sim_futex_wait(unsigned place, unsigned queue, uint64_t value, uint64_t of_bits, unsigned mask,
                   enum sim_timing timing);
int sim_futex_wake(unsigned queue, unsigned n, unsigned mask);

/* How often, in one operation, a thread's clock may leap; it may go to sleep before the execution is cut; its
 * sleep may end without a wake-up, for no reason or by a signal. */
struct sim_bounds {
    unsigned leaps, sleeps, interruptions;
    bool patient;  /* only operations with a deadline see the clock leap */
    bool timeouts; /* a sleep with a time-out ends by it when nothing else ends it */
};

/* A new operation begins, the thread's number'th, from 1 on. */
void sim_operation(unsigned number, const struct sim_bounds *bounds);

/* The thread that calls. */
unsigned sim_self(void);

#endif
