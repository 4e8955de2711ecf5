/* What the threads of a case do with one lock: lists of operations, in words. */
#ifndef PAWL_SIM_PROGRAM_H
#define PAWL_SIM_PROGRAM_H

#include "sim/engine.h"
#include "sim/thread.h"

#include <stddef.h>

#define SIM_OPERATIONS 16 /* of a thread */

enum sim_held { SIM_FREE, SIM_R, SIM_S, SIM_W, SIM_A, SIM_J, SIM_C };

/* Every operation of the locks on one lock: its name, what has to be held for it, and what is held when it
 * has succeeded. One that needs something else than what is held is left out, as after a try that failed. */
#define SIM_OPERATIONS_(X)        \
    X(read_lock, FREE, R)         \
    X(read_trylock, FREE, R)      \
    X(read_lock_exact, FREE, R)   \
    X(read_lock_until, FREE, R)   \
    X(read_unlock, R, FREE)       \
    X(seek_lock, FREE, S)         \
    X(seek_trylock, FREE, S)      \
    X(seek_lock_until, FREE, S)   \
    X(seek_unlock, S, FREE)       \
    X(write_lock, FREE, W)        \
    X(write_trylock, FREE, W)     \
    X(write_lock_until, FREE, W)  \
    X(write_unlock, W, FREE)      \
    X(atomic_lock, FREE, A)       \
    X(atomic_trylock, FREE, A)    \
    X(atomic_lock_until, FREE, A) \
    X(atomic_unlock, A, FREE)     \
    X(join_lock, FREE, J)         \
    X(join_trylock, FREE, J)      \
    X(join_lock_until, FREE, J)   \
    X(join_unlock, J, FREE)       \
    X(claim_unlock, C, FREE)      \
    X(seek_to_write, S, W)        \
    X(seek_to_write_until, S, W)  \
    X(seek_to_read, S, R)         \
    X(write_to_seek, W, S)        \
    X(write_to_read, W, R)        \
    X(read_try_to_seek, R, S)     \
    X(read_try_to_write, R, W)    \
    X(read_try_to_atomic, R, A)   \
    X(read_to_write_until, R, W)  \
    X(read_to_join, R, J)         \
    X(read_to_claim, R, C)        \
    X(join_to_claim, J, C)        \
    X(claim_to_atomic, C, A)      \
    X(atomic_to_read, A, R)       \
    X(atomic_to_join, A, J)       \
    X(write_claim, FREE, W)       \
    X(atomic_claim, FREE, A)      \
    X(join_claim, FREE, J)        \
    X(read_claim_write, R, W)     \
    X(read_claim_atomic, R, A)

enum sim_operation_name {
#define SIM_NAME_(name, needs, gives) SIM_OP_##name,
    SIM_OPERATIONS_(SIM_NAME_)
#undef SIM_NAME_
        SIM_OP_unlock, /* whatever is held */
    SIM_OP_unlock_any, /* the function of this name: R or W */
    SIM_OP_is_held,    /* asks the lock whether it is held as it is */
    SIM_OP_signal,     /* tells those that await it; */
    SIM_OP_await,      /* waits for a signal, with whatever is held */
    SIM_OPS
};

struct sim_program {
    unsigned threads;
    unsigned count[SIM_THREADS];
    uint8_t op[SIM_THREADS][SIM_OPERATIONS];
    struct sim_bounds bounds; /* of each operation */
};

/* "write_lock unlock | seek_lock seek_to_write unlock": 0, or -1 with what is wrong, and where, in error. A
 * thread that ends with the lock held unlocks it. */
int sim_program_read(struct sim_program *p, const char *text, char *error, size_t size);

/* The same in words, as sim_program_read() takes them. */
void sim_program_print(const struct sim_program *p, char *text, size_t size);

/* An operation's name. */
const char *sim_operation_text(unsigned op);

/* The places of such a case. */
enum { SIM_WORD, SIM_QUEUE, SIM_QUEUE_UPPER, SIM_DATA, SIM_SEEKER, SIM_SHARED, SIM_SIGNAL, SIM_LOCK_PLACES };

/* The kinds of lock that can be run: 4 or 8 bytes, whose waiters sleep or only spin. */
struct sim_lock {
    const char *name;
    unsigned bits;
    bool sleeps;
    void (*run)(unsigned thread, const void *program);
};
extern const struct sim_lock sim_lock_32, sim_lock_64, sim_lock_32_spin, sim_lock_64_spin;

/* The case: the program's threads on a free lock, with what is to hold of it. p must outlive it. */
struct sim_case sim_lock_case(const struct sim_lock *l, const struct sim_program *p, const char *name);

/* The word's value in words: "W R2 QUEUE HEAD". */
void sim_word_print(const struct sim_lock *l, uint64_t word, char *text, size_t size);

#endif
