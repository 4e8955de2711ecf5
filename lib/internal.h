/* What the files of libpawl share. The library keeps all of a lock's records outside its word, in tables of
 * fixed size; what finds no room is counted (pawl_stats_losses) and never fails a lock.
 *
 *   memory.c   memory that is never given back; the mutex of all tables; fork
 *   sites.c    places in the source, by number
 *   names.c    classes; which class and which record an address has
 *   threads.c  what a thread holds; its start, end, and signal handlers
 *   counts.c   counting, and adding up over threads
 *   report.c   the table and the JSON
 *   text.c     strings from outside, as they may be shown
 *   order.c    the order in which locks are taken
 *   debug.c    faults: finding them, wording them
 *   watch.c    what the headers call
 *
 * The order of locks here: only the one mutex. It is never held while user code runs. */
#ifndef PAWL_LIB_INTERNAL_H
#define PAWL_LIB_INTERNAL_H

#define PAWL_STATS
#define PAWL_DEBUG
#include "pawl/watch.h"

enum {
    LIB_CLASSES = 1024,
    LIB_LOCKS = 1 << 16,
    LIB_RANGES = 64,
    LIB_SITES = 1 << 14,
    LIB_HOLDS = 64,
    LIB_EDGES = 1 << 15,
    LIB_MESSAGE = 4096,
    LIB_NAME_SHOWN = 200,  /* bytes of a name in a message */
    LIB_PLACE_SHOWN = 500, /* and of a file or function */
};

/* Class and site numbers that are nobody's. */
#define LIB_NO_CLASS    0u
#define LIB_OTHER_CLASS 1u
#define LIB_NO_SITE     0u
#define LIB_OTHER_SITE  1u

/* Who did what where, in one word: thread 24 bits, site 24 bits, state 8 bits, a mark that it is set. */
typedef uint64_t lib_event;

static inline lib_event lib_event_of(long thread, uint32_t site, unsigned state)
{
    return ((uint64_t)thread & 0xffffff) << 40 | (uint64_t)(site & 0xffffff) << 16 | state << 8 | 1;
}
static inline long lib_event_thread(lib_event e)
{
    return (long)(e >> 40);
}
static inline uint32_t lib_event_site(lib_event e)
{
    return (uint32_t)(e >> 16) & 0xffffff;
}
static inline unsigned lib_event_state(lib_event e)
{
    return (unsigned)(e >> 8) & 0xff;
}

/* Fields that other threads read are accessed through these. */
#define lib_get(p)         __atomic_load_n((p), __ATOMIC_RELAXED)
#define lib_set(p, v)      __atomic_store_n((p), (v), __ATOMIC_RELAXED)
#define lib_get_acq(p)     __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define lib_set_rel(p, v)  __atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define lib_add(p, v)      __atomic_fetch_add((p), (v), __ATOMIC_RELAXED)
#define lib_count_loss(of) ((void)lib_add(&pawl_lib_lost.of, 1))

extern struct pawl_stats_lost pawl_lib_lost;

/* memory.c */
void *pawl_lib_alloc(size_t size);           /* zeroed; NULL: none, counted. With the mutex held */
const char *pawl_lib_copy(const char *text); /* NULL: no memory. With the mutex held */
void pawl_lib_lock(void), pawl_lib_unlock(void);

/* sites.c */
struct lib_site {
    const char *file, *function;
    unsigned line;
    uint32_t class_; /* of locks nobody named that are taken here */
    uint32_t next;
};
uint32_t pawl_lib_site_id(struct pawl_site *site);
const struct lib_site *pawl_lib_site(uint32_t id);
uint32_t pawl_lib_site_class(uint32_t id);

/* names.c */
struct lib_lock { /* the record of one address */
    uintptr_t address;
    uint32_t class_;        /* LIB_NO_CLASS: nobody named it */
    uint32_t ordered;       /* the order of locks knows it by address */
    lib_event taken, given; /* PAWL_DEBUG: the last of each */
    uint32_t inside[2];     /* PAWL_DEBUG: holders of and waiters for S or W; J or C */
    lib_event inside_by[2];
};
struct lib_ref {
    struct lib_lock *record; /* NULL: none */
    uint32_t class_;         /* LIB_NO_CLASS: nobody named it */
};
struct lib_ref pawl_lib_find(const void *lock, bool make); /* make: a record, when there is none */
uint32_t pawl_lib_record_index(const struct lib_lock *record);
struct lib_lock *pawl_lib_record(uint32_t index);
uint32_t pawl_lib_new_class(const char *name, bool named); /* with the mutex held */
const char *pawl_lib_class_name(uint32_t class_, bool *named);
uint32_t pawl_lib_class_count(void);

/* threads.c */
struct lib_hold {
    uintptr_t address;
    uint32_t class_; /* what it counts under; LIB_NO_CLASS without PAWL_STATS and a name */
    uint32_t named;  /* its class by name, else LIB_NO_CLASS */
    uint32_t record; /* index + 1; 0: none */
    uint32_t site;   /* where it was taken */
    uint8_t state, mode, inside;
    uint64_t since;
};
struct lib_cell;
struct lib_thread {
    struct lib_thread *next;
    bool in_use;
    unsigned depth;    /* of holds */
    unsigned unlisted; /* held beyond LIB_HOLDS */
    long id;
    struct lib_hold holds[LIB_HOLDS];
    struct lib_cell *cells[LIB_CLASSES * PAWL_STATES]; /* counts, made when first used */
};
/* The calling thread's, for the time until leave; NULL: this is a signal handler that interrupted that, or
 * there is no memory. */
struct lib_thread *pawl_lib_enter(void);
void pawl_lib_leave(void);
struct lib_thread *pawl_lib_threads(void); /* all there ever were */
/* The hold of that lock in that state (PAWL_STATES: in any), the latest; NULL: none. */
struct lib_hold *pawl_lib_held(struct lib_thread *t, const void *lock, unsigned state);
void pawl_lib_drop(struct lib_thread *t, struct lib_hold *hold);

/* counts.c */
struct lib_cell {
    uint64_t epoch;
    struct pawl_stats_state n;
    lib_event last;
    uint64_t last_ns;
};
struct lib_cell *pawl_lib_cell(struct lib_thread *t, uint32_t class_, unsigned state);
void pawl_lib_count_took(struct lib_cell *c, lib_event who, uint64_t now);
void pawl_lib_count_wait(struct lib_cell *c, uint64_t ns);
void pawl_lib_count_held(struct lib_cell *c, uint64_t ns);
void pawl_lib_bump(uint64_t *counter, uint64_t by); /* of a cell */

/* text.c: control characters and bytes that are no UTF-8 are shown as \n, \x07; in JSON they are escaped, and
 * what is no UTF-8 is U+FFFD. */
/* Appends it to text, which holds size bytes; "..." ends what is longer than limit or finds no room. */
void pawl_lib_append(char *text, size_t size, const char *more, size_t limit);
void pawl_lib_print(FILE *out, const char *text);
void pawl_lib_print_json(FILE *out, const char *text); /* with its quotes */

/* order.c */
/* Before the thread waits for the lock: enters the pairs (what it holds, this lock). Returns false when one
 * of them closes a circle, with an account of it in text. */
bool pawl_lib_order(struct lib_thread *t, const void *lock, struct lib_ref ref, uint32_t site, char *text,
                    size_t size);
void pawl_lib_order_forget(uint32_t record); /* with the mutex held */

/* debug.c */
const char *pawl_lib_state_name(unsigned state);
void pawl_lib_check_ask(struct lib_thread *t, const void *lock, unsigned op, uint32_t site);
void pawl_lib_check_unlock(struct lib_thread *t, const void *lock, unsigned op, uint32_t site);
void pawl_lib_check_turn(struct lib_thread *t, const void *lock, unsigned op, uint32_t site);
void pawl_lib_fault_thread_ends(struct lib_thread *t, const struct lib_hold *hold);
/* Someone comes into or leaves states of one of the two families that must not meet; a fault if they do.
 * Returns the family + 1 for a hold's `inside`, 0 when the state is of neither. */
uint8_t pawl_lib_goes_in(struct lib_thread *t, const void *lock, unsigned state, uint32_t site);
void pawl_lib_goes_out(const void *lock, uint8_t inside);

/* Parts of an op (PAWL_OP_). */
static inline unsigned lib_op_state(unsigned op)
{
    return op & 15;
}
static inline unsigned lib_op_from(unsigned op)
{
    return op >> 4 & 15;
}
static inline unsigned lib_op_how(unsigned op)
{
    return op >> 8 & 15;
}
static inline unsigned lib_op_mode(unsigned op)
{
    return op >> 12;
}

#endif
