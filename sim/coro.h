/* Coroutines: the simulated threads, on stacks of their own within one thread of the system. Not for use by
 * several threads of the system at once, nor under the thread sanitizer, which would have to be told. */
#ifndef PAWL_SIM_CORO_H
#define PAWL_SIM_CORO_H

#include <stddef.h>

struct sim_coro {
    void *stack; /* owned; as many bytes as it was made with */
    size_t size;
    void *at; /* its stack pointer while it does not run */
    void (*run)(void *);
    void *arg;
    void *frames; /* what the address sanitizer keeps for it while it does not run */
};

/* Makes one with a stack of that size, with a page below that ends the program when it is touched. 0, or -1
 * with errno. */
int sim_coro_make(struct sim_coro *c, size_t size);
void sim_coro_free(struct sim_coro *c);

/* It begins anew with run(arg), at its next turn, which must not return. What it did before is forgotten. */
void sim_coro_begin(struct sim_coro *c, void (*run)(void *), void *arg);

/* From outside: runs it until it yields. From inside: back to outside. */
void sim_coro_resume(struct sim_coro *c);
void sim_coro_yield(struct sim_coro *c);

#endif
