/* What all locks share about waiting, whatever their size. */
#ifndef PAWL_PARK_H
#define PAWL_PARK_H

#include "pawl/atomic.h"
#include "pawl/backoff.h"

#include <errno.h>

#ifndef __cplusplus /* declarations stand where they are first needed */
#    pragma GCC diagnostic push
#    pragma GCC diagnostic ignored "-Wdeclaration-after-statement"
#endif

#ifndef PAWL_BACKEND_TIMES

/* The head of those who wait is due after this time: then nobody overtakes it but those already inside.
 * Nanoseconds. */
#    define PAWL_TURN_NS      1000000u

/* A reader at the head is due earlier: it shares what it gets, and writers that follow each other would leave
 * it little. Nanoseconds. */
#    define PAWL_TURN_READ_NS 250000u

/* How long a reader that comes looks when others sleep already: readers that look take the cache line from
 * each other and from the writer. (Writers look as long as ever: with sections of a microsecond they would
 * sleep one after the other, and leave the CPU idle.) How often one gives the CPU away when it has seen
 * nothing change, before it is the first in the line: the holder may be waiting for just this CPU. */
#    define PAWL_CROWD_LIMIT  300u
#    define PAWL_YIELDS       3u

/* How long a head goes on looking before it sleeps, when nobody waits behind it, and the longest pause
 * between two looks while nothing changes; how long one that has claimed W looks for the readers inside to
 * leave, since it keeps everybody else out. About what it costs to be woken, on a virtual machine.
 * Nanoseconds. */
#    define PAWL_ALONE_NS     50000u
#    define PAWL_ALONE_PAUSE  10000u
#    define PAWL_DRAIN_NS     30000u

/* With so many readers inside, a reader that gets in from the line wakes another reader besides the next in
 * the line: they may all go in, and one after the other would take as long as it takes each to be given a
 * CPU. With few inside that costs more than it gains. */
#    define PAWL_MANY         6u

/* First nap of a head that finds the lock busy, each next one twice as long; and of one that cannot get to
 * sleep because the word changes faster, after that many attempts. Nanoseconds. */
#    define PAWL_NAP_MIN      50000u
#    define PAWL_MISSES       8u

#endif /* PAWL_BACKEND_TIMES */

/* The functions that wait are real ones under their own names, so that a profile shows waiting apart from
 * work. PAWL_INLINE_WAIT puts them into the caller, and so does PAWL_DISABLE_EBO, which is for finding out
 * who contends. */
#if defined PAWL_INLINE_WAIT || defined PAWL_DISABLE_EBO
#    define PAWL_WAITING PAWL_INLINE
#else
#    define PAWL_WAITING PAWL_NOINLINE
#endif

enum pawl_kind_ {
    PAWL_KIND_READ,
    PAWL_KIND_SEEK,
    PAWL_KIND_WRITE,
    PAWL_KIND_ATOMIC,
    PAWL_KIND_JOIN,
    PAWL_KIND_JOIN_ALONE /* once another joined while it waited behind readers */
};

/* Kinds of sleepers, as futex wake masks. */
#define PAWL_WAKE_QUEUE 1u /* in the line */
#define PAWL_WAKE_READ  2u /* in the line, and could enter beside S */
#define PAWL_WAKE_HEAD  4u /* at its head */
#define PAWL_WAKE_DRAIN 8u /* has the claim, waits for readers */

/* What those wait for who take part in the multiple-writer protocol. They are few and wait for each other
 * inside the lock: no mark tells of them, they look themselves, at last once in a millisecond. */
enum pawl_phase_ {
    PAWL_PHASE_JOINED, /* all readers have joined, or the claim phase has begun */
    PAWL_PHASE_ALONE,  /* no reader but the caller; in vain when another writer has joined */
    PAWL_PHASE_CHANGE, /* the claim phase is over */
    PAWL_PHASE_READ,   /* no atomic holder now, or once since the caller waits */
    PAWL_PHASE_ATOMIC  /* no reader now, or once since the caller waits */
};

PAWL_INLINE uint64_t pawl_earlier_(uint64_t at, uint64_t deadline)
{
    return deadline < at ? deadline : at;
}

PAWL_INLINE bool pawl_passed_(uint64_t deadline)
{
    return deadline != PAWL_NEVER && pawl_clock_ns() >= deadline;
}

#ifndef __cplusplus
#    pragma GCC diagnostic pop
#endif

#endif
