/* Random lock operations with every invariant checked while inside and again after the unlock. Shared by
 * torture_test.c (one build) and mixed_test.c (objects built with different switches on one lock): each file
 * that includes it gets its own copy, built with its own switches. */
#ifndef TORTURE_H
#define TORTURE_H

#include "lock_under_test.h"

/* Who is inside, each kind in some bits of one word, so that any thread can look at all of it at one moment.
 * J stands for J and C. */
#define IN_R  ((uint64_t)1)
#define IN_S  ((uint64_t)1 << 16)
#define IN_W  ((uint64_t)1 << 24)
#define IN_J  ((uint64_t)1 << 32)
#define IN_A  ((uint64_t)1 << 48)

#define CELLS 8

/* Watched locks have either one writer at a time or the multiple-writer protocol. */
#if defined PAWL_STATS || defined PAWL_DEBUG
#    define TORTURE_KINDS STATES
#else
#    define TORTURE_KINDS KINDS
#endif

struct torture {
    lock_t lock;
    uint64_t inside __attribute__((aligned(64)));
    /* Plain memory, guarded by the lock alone: changed in W, except `sum`, also changed in A by atomic adds.
     */
    uint64_t cells[CELLS] __attribute__((aligned(64)));
    uint64_t sum;
    int done; /* threads that have done their share */
    int stop;
    uint64_t share; /* operations that each thread must get through */
};

struct torturer {
    struct torture *t;
    pthread_t thread;
    uint32_t seed;
    uint64_t ops, writes, adds; /* what it has done: operations, changes to the cells, additions to sum */
    uint64_t seen;              /* the last value of the cells it saw: they never go back */
};

#define TORTURE_CHECK(cond, t)                                                                           \
    do {                                                                                                 \
        if (!(cond)) {                                                                                   \
            fprintf(stderr, "%s:%d: not so: %s (inside %#llx, word %#llx)\n", __FILE__, __LINE__, #cond, \
                    (unsigned long long)(t)->inside, (unsigned long long)(t)->lock.word);                \
            abort();                                                                                     \
        }                                                                                                \
    } while (0)

static inline void torture_check_inside_(struct torture *t, uint64_t in)
{
    uint64_t r = in & 0xffff, s = in >> 16 & 0xff, w = in >> 24 & 0xff, j = in >> 32 & 0xffff, a = in >> 48;
    TORTURE_CHECK(w <= 1 && s <= 1 && j <= 1, t);
    TORTURE_CHECK(!w || (!r && !s && !a && !j), t);
    TORTURE_CHECK(!a || (!r && !s && !j), t);
    TORTURE_CHECK(!j || (!r && !s), t);
}

/* Comes in, goes out (before the unlock), or changes kind. */
static inline void torture_count_(struct torture *t, uint64_t change)
{
    torture_check_inside_(t, __atomic_add_fetch(&t->inside, change, __ATOMIC_RELAXED));
}

static inline void torture_look_(struct torture *t)
{
    torture_check_inside_(t, __atomic_load_n(&t->inside, __ATOMIC_RELAXED));
}

static inline uint32_t torture_random_(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* Now and then somebody stays long enough for the others to go to sleep. */
static inline void torture_linger_(struct torturer *me)
{
    uint32_t n = torture_random_(&me->seed) % 64;
    if (n == 0) {
        nap_us(50);
    } else if (n < 8) {
        sched_yield();
    }
}

/* In R, S or W: all cells are equal, and stay so, and sum stands still. */
static inline void torture_read_(struct torturer *me)
{
    struct torture *t = me->t;
    uint64_t first = t->cells[0], sum = t->sum;
    TORTURE_CHECK(first >= me->seen, t);
    me->seen = first;
    torture_linger_(me);
    for (int i = 0; i < CELLS; i++) {
        TORTURE_CHECK(t->cells[i] == first, t);
    }
    TORTURE_CHECK(t->sum == sum, t);
}

/* In W. */
static inline void torture_write_(struct torturer *me)
{
    struct torture *t = me->t;
    TORTURE_CHECK(pawl_write_is_held(&t->lock) && !pawl_seek_is_held(&t->lock), t);
    torture_read_(me);
    for (int i = 0; i < CELLS; i++) {
        t->cells[i]++;
    }
    t->sum++;
    me->writes++;
    me->adds++;
    me->seen = t->cells[CELLS - 1];
}

/* What follows W, the lock held in it and counted. */
static inline void torture_leave_write_(struct torturer *me, uint32_t how)
{
    struct torture *t = me->t;
    switch (how % 4) {
    case 0:
        torture_count_(t, IN_S - IN_W);
        pawl_write_to_seek(&t->lock);
        torture_read_(me);
        torture_count_(t, -IN_S);
        pawl_seek_unlock(&t->lock);
        break;
    case 1:
        torture_count_(t, IN_R - IN_W);
        pawl_write_to_read(&t->lock);
        torture_read_(me);
        torture_count_(t, -IN_R);
        pawl_read_unlock(&t->lock);
        break;
    default:
        torture_count_(t, -IN_W);
        pawl_write_unlock(&t->lock);
        break;
    }
}

/* Past, at once, soon, or so far away that it mostly is not reached. */
static inline uint64_t torture_deadline_(struct torturer *me)
{
    static const int64_t most[] = {-1000, 0, 20, 200, 2000, 100000};
    int64_t us = most[torture_random_(&me->seed) % 6];
    return in_us(us > 1 ? (int64_t)torture_random_(&me->seed) % us : us);
}

/* What follows S. Between S and W nobody changes the cells. */
static inline void torture_leave_seek_(struct torturer *me, uint32_t how)
{
    struct torture *t = me->t;
    uint64_t seen = me->seen;
    TORTURE_CHECK(pawl_seek_is_held(&t->lock), t);
    if (how % 4 == 0) {
        if (how / 4 % 2) {
            pawl_seek_to_write(&t->lock);
        } else if (!pawl_seek_to_write_until(&t->lock, torture_deadline_(me))) {
            TORTURE_CHECK(pawl_seek_is_held(&t->lock), t);
            torture_look_(t);
            torture_read_(me);
            TORTURE_CHECK(me->seen == seen, t); /* S was held all the time */
            torture_count_(t, -IN_S);
            pawl_seek_unlock(&t->lock);
            return;
        }
        torture_count_(t, IN_W - IN_S);
        TORTURE_CHECK(t->cells[0] == seen, t);
        torture_write_(me);
        torture_leave_write_(me, how / 8);
    } else if (how % 4 == 1) {
        torture_count_(t, IN_R - IN_S);
        pawl_seek_to_read(&t->lock);
        torture_read_(me);
        torture_count_(t, -IN_R);
        pawl_read_unlock(&t->lock);
    } else {
        torture_count_(t, -IN_S);
        pawl_seek_unlock(&t->lock);
    }
}

/* In A, counted; then leaves, perhaps by way of R. */
static inline void torture_atomic_(struct torturer *me, uint32_t how)
{
    struct torture *t = me->t;
    TORTURE_CHECK(pawl_atomic_is_held(&t->lock), t);
    __atomic_fetch_add(&t->sum, 1, __ATOMIC_RELAXED);
    me->adds++;
    torture_linger_(me);
    if (how % 4 == 0) {
        torture_count_(t, -IN_A);
        pawl_atomic_to_read(&t->lock);
        torture_count_(t, IN_R);
        torture_read_(me);
        torture_count_(t, -IN_R);
        pawl_read_unlock(&t->lock);
        return;
    }
    torture_count_(t, -IN_A);
    pawl_atomic_unlock(&t->lock);
}

/* What follows R: leaves, or tries to go up. Whatever fails leaves R, in which nothing has changed. */
static inline void torture_leave_read_(struct torturer *me, uint32_t how)
{
    struct torture *t = me->t;
    uint64_t seen = me->seen;
    TORTURE_CHECK(pawl_read_is_held(&t->lock), t);
    switch (how % 8) {
    case 0:
        if (pawl_read_try_to_seek(&t->lock)) {
            torture_count_(t, IN_S - IN_R);
            TORTURE_CHECK(t->cells[0] == seen, t);
            torture_leave_seek_(me, how / 8);
            return;
        }
        break;
    case 1:
    case 2:
        if (how % 8 == 1 ? pawl_read_try_to_write(&t->lock)
                         : pawl_read_to_write_until(&t->lock, torture_deadline_(me))) {
            torture_count_(t, IN_W - IN_R);
            TORTURE_CHECK(t->cells[0] == seen, t);
            torture_write_(me);
            torture_leave_write_(me, how / 8);
            return;
        }
        break;
    case 3:
        torture_count_(t, -IN_R); /* before: once it is A, others may come in beside it */
        if (pawl_read_try_to_atomic(&t->lock)) {
            torture_count_(t, IN_A);
            torture_atomic_(me, how / 8);
            return;
        }
        torture_count_(t, IN_R);
        break;
    default:
        break;
    }
    torture_look_(t);
    torture_read_(me);
    TORTURE_CHECK(me->seen == seen, t);
    torture_count_(t, -IN_R);
    pawl_read_unlock(&t->lock);
}

/* In J, from outside and so alone, counted; leaves from there, from C, or as A. */
static inline void torture_leave_join_(struct torturer *me, uint32_t how)
{
    struct torture *t = me->t;
    TORTURE_CHECK(pawl_last_writer(&t->lock), t);
    if (how % 2) {
        torture_count_(t, -IN_J);
        pawl_join_unlock(&t->lock);
        return;
    }
    pawl_join_to_claim(&t->lock);
    torture_read_(me);
    torture_count_(t, -IN_J);
    if (how / 2 % 2) {
        pawl_claim_unlock(&t->lock);
        return;
    }
    pawl_claim_to_atomic(&t->lock);
    torture_count_(t, IN_A);
    torture_atomic_(me, how / 4);
}

/* By lock, trylock or until. */
static inline bool torture_take_(struct torturer *me, enum state s, uint32_t how)
{
    lock_t *l = &me->t->lock;
    switch (how % 4) {
    case 0:
        return try_take(l, s);
    case 1:
        return take_until(l, s, torture_deadline_(me));
    default:
        take(l, s);
        return true;
    }
}

/* One operation: a random kind taken in a random way, some work, perhaps transitions, unlock. */
static inline void torture_step(struct torturer *me)
{
    struct torture *t = me->t;
    uint32_t dice = torture_random_(&me->seed);
    enum state s = (enum state)(dice % TORTURE_KINDS);
    dice /= TORTURE_KINDS;
    if (!torture_take_(me, s, dice)) {
        torture_look_(t);
        return;
    }
    dice /= 4;
    switch (s) {
    case READ:
        torture_count_(t, IN_R);
        torture_read_(me);
        torture_leave_read_(me, dice);
        break;
    case SEEK:
        torture_count_(t, IN_S);
        torture_read_(me);
        torture_leave_seek_(me, dice);
        break;
    case WRITE:
        torture_count_(t, IN_W);
        torture_write_(me);
        torture_leave_write_(me, dice);
        break;
    case ATOMIC:
        torture_count_(t, IN_A);
        torture_atomic_(me, dice);
        break;
    default:
        torture_count_(t, IN_J);
        torture_read_(me);
        torture_leave_join_(me, dice);
        break;
    }
    torture_look_(t);
    me->ops++;
}

/* Goes on until told to stop, so that the last ones' shares are done against all the others. */
static inline void *torture_thread(void *arg)
{
    struct torturer *me = arg;
    struct torture *t = me->t;
    bool counted = false;
    while (!__atomic_load_n(&t->stop, __ATOMIC_RELAXED)) {
        torture_step(me);
        if (!counted && me->ops >= t->share) {
            counted = true;
            __atomic_fetch_add(&t->done, 1, __ATOMIC_RELEASE);
        }
    }
    return NULL;
}

#endif
