/* The locks' operations for one word size. Included by pawl/lock.h once for each size, with PAWL_N (bits of
 * the word), PAWL_L (the lock's type), and the shifts of its fields; not for direct use, hence no include
 * guard.
 *
 * The word: five marks, the number of readers, the number of atomic holders.
 *   S        held for seek, or for write
 *   W        held for write, or claimed: the claimant waits for the readers to leave, no new one enters
 *   PARKED   somebody may sleep on the word until it is released (on the 8-byte word one such mark in each
 * half, since the kernel compares only 4 bytes and a mark taken away must show there) DRAIN    the holder of
 * the claim sleeps until the last reader has left TURN     one waiter has waited longer than a turn: it goes
 * next, nobody overtakes it any more
 *
 *   asked | may be taken when                                    | becomes
 *   R     | no W, no A; a TURN counts only while S is free       | readers + 1
 *   S     | no S, no W, no A, no TURN of another                 | + S
 *   W     | as S                                                 | + S + W, then waits for readers to be 0
 *   A     | no S, no W, no R, no TURN of another                 | atomic holders + 1
 * A reader must be let in while S is only held for seek: that is S's meaning, and refusing would deadlock a
 * seeker that waits for such a reader. Once S is free the TURN's owner takes it at once, so refusing costs a
 * reader little.
 *
 * Who wakes whom. A sleeper sets PARKED before it sleeps. Whoever leaves the word wholly free takes PARKED
 * away in the same atomic step and wakes one sleeper; the woken one puts PARKED back when it takes the lock
 * or sleeps again, and so passes the duty on (the "baton"). A release that leaves the word still held keeps
 * PARKED and wakes one of those who can now proceed. A stale PARKED costs one futex call. After the releasing
 * step the memory is not touched: only the address is used, for the wake. */

#define PAWL_CAT_(a, b) a##b
#define PAWL_CAT(a, b)  PAWL_CAT_(a, b)
#define PAWL_F(name)    PAWL_CAT(PAWL_CAT(name, _), PAWL_N)
#define PAWL_T          PAWL_CAT(PAWL_CAT(uint, PAWL_N), _t)
#define PAWL_PARKED     ((PAWL_T)1)
#define PAWL_DRAIN      ((PAWL_T)2)
#define PAWL_TURN       ((PAWL_T)4)
#define PAWL_S          ((PAWL_T)8)
#define PAWL_W          ((PAWL_T)16)
#define PAWL_R1         ((PAWL_T)32)
#define PAWL_A1         ((PAWL_T)((PAWL_T)1 << PAWL_A_SHIFT))
#define PAWL_R_MASK     ((PAWL_T)(PAWL_A1 - PAWL_R1))
#if PAWL_N == 64
#    define PAWL_PARKED_A ((PAWL_T)1 << 63)
#else
#    define PAWL_PARKED_A PAWL_PARKED
#endif
#define PAWL_ASLEEP ((PAWL_T)(PAWL_PARKED | PAWL_PARKED_A))
#define PAWL_A_MASK ((PAWL_T)(~(PAWL_A1 - 1) & ~PAWL_ASLEEP))
#define PAWL_HELD   ((PAWL_T)(PAWL_S | PAWL_W | PAWL_R_MASK | PAWL_A_MASK))

/* The 32 bits that hold the marks and the readers' count; and, on the 8-byte word, those with the atomic
 * holders'. A sleeper compares the half where what it waits for changes. */
PAWL_INLINE const uint32_t *PAWL_F(pawl_half_)(const PAWL_T *word, bool atomic_half)
{
    const uint32_t *h = (const uint32_t *)(const void *)word;
#if PAWL_N == 64
#    if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return h + !atomic_half;
#    else
    return h + atomic_half;
#    endif
#else
    (void)atomic_half;
    return h;
#endif
}

/* Sleeps while the half that v was read from is unchanged. */
PAWL_INLINE bool PAWL_F(pawl_sleep_)(const PAWL_T *word, PAWL_T v, bool atomic_half, uint32_t mask,
                                     uint64_t deadline)
{
    uint32_t value = (uint32_t)v;
#if PAWL_N == 64
    if (atomic_half) {
        value = (uint32_t)(v >> 32);
    }
#endif
    return pawl_futex_wait(PAWL_F(pawl_half_)(word, atomic_half), value, mask, deadline);
}

/* Wakes up to n sleepers of those kinds, wherever they sleep. */
PAWL_INLINE void PAWL_F(pawl_wake_)(const PAWL_T *word, int n, uint32_t mask)
{
    int woken = pawl_futex_wake(PAWL_F(pawl_half_)(word, false), n, mask);
#if PAWL_N == 64
    if (woken < n) {
        pawl_futex_wake(PAWL_F(pawl_half_)(word, true), n - woken, mask);
    }
#else
    (void)woken;
#endif
}

/* The word went to v by a release that found PARKED or DRAIN set: wakes who can proceed now. */
PAWL_NOINLINE void PAWL_F(pawl_wake_after_)(const PAWL_T *word, PAWL_T v, PAWL_T released, PAWL_T before)
{
    if (v & PAWL_W) { /* claimed: only its holder waits for readers, only the last reader matters */
        if (!(v & PAWL_R_MASK) && (before & PAWL_DRAIN)) {
            PAWL_F(pawl_wake_)(word, 1, PAWL_WAKE_DRAIN);
        }
        return;
    }
    if (!(before & PAWL_ASLEEP)) {
        return;
    }
    if (v & (PAWL_S | PAWL_A_MASK)) {
        /* Still held, and the sleepers stay as they were. But a quick step that is taken back may have sent
         * some to sleep that can share the lock: readers beside S, atomic ones beside A. And atomic holders
         * may slip in behind one such step and never leave it free: one of the others must count the time to
         * a TURN. */
        if ((released & PAWL_A_MASK) && !(v & PAWL_A_MASK)) {
            PAWL_F(pawl_wake_)(word, INT32_MAX, PAWL_WAKE_READ);
        } else if ((released & PAWL_R_MASK) && !(v & (PAWL_S | PAWL_R_MASK))) {
            PAWL_F(pawl_wake_)(word, INT32_MAX, v & PAWL_TURN ? PAWL_WAKE_TURN : PAWL_WAKE_ATOMIC);
        } else if (released & PAWL_S) {
            PAWL_F(pawl_wake_)(word, INT32_MAX, PAWL_WAKE_ATOMIC);
            PAWL_F(pawl_wake_)(word, 1, PAWL_WAKE_READ | PAWL_WAKE_EXCLUSIVE);
        }
        return;
    }
    if (v & PAWL_TURN) {
        PAWL_F(pawl_wake_)(word, 1, PAWL_WAKE_TURN);
    } else if (!(v & PAWL_R_MASK)) {
        PAWL_F(pawl_wake_)(word, 1, PAWL_WAKE_ANY);
    } else if (released & (PAWL_S | PAWL_A_MASK)) { /* S or A became free beside readers */
        PAWL_F(pawl_wake_)(word, 1, PAWL_WAKE_EXCLUSIVE | PAWL_WAKE_READ);
    }
}

/* A release with somebody asleep, or likely so. */
PAWL_NOINLINE void PAWL_F(pawl_release_slow_)(PAWL_L *l, PAWL_T held)
{
    PAWL_T v = PAWL_F(pawl_load_relaxed)(&l->word), next;
    do {
        next = (PAWL_T)(v - held);
        if (!(next & (PAWL_HELD | PAWL_TURN))) {
            next = 0; /* whoever is woken puts PARKED back */
        }
    } while (!PAWL_F(pawl_cas_release)(&l->word, &v, next));
    PAWL_F(pawl_wake_after_)(&l->word, next, held, v);
}

/* Gives back what is held. The look before the atomic step lets the marks be cleared by it when they are set.
 */
PAWL_INLINE void PAWL_F(pawl_release_)(PAWL_L *l, PAWL_T held)
{
    if (__builtin_expect(!!(PAWL_F(pawl_load_relaxed)(&l->word) & (PAWL_ASLEEP | PAWL_DRAIN)), 0)) {
        PAWL_F(pawl_release_slow_)(l, held);
        return;
    }
    PAWL_T v = PAWL_F(pawl_fetch_sub_release)(&l->word, held);
    if (__builtin_expect(!!(v & (PAWL_ASLEEP | PAWL_DRAIN)), 0)) {
        PAWL_F(pawl_wake_after_)(&l->word, (PAWL_T)(v - held), held, v); /* marked in between */
    }
}

/* Changes what is held into something less exclusive. The caller still holds the lock, so PARKED may stay. */
PAWL_INLINE void PAWL_F(pawl_downgrade_)(PAWL_L *l, PAWL_T less, uint32_t wake_all, uint32_t wake_one)
{
    PAWL_T v = PAWL_F(pawl_fetch_sub_release)(&l->word, less);
    if (__builtin_expect(!!(v & PAWL_ASLEEP), 0)) {
        if (wake_all) {
            PAWL_F(pawl_wake_)(&l->word, INT32_MAX, wake_all);
        }
        if (wake_one) {
            PAWL_F(pawl_wake_)(&l->word, 1, v & PAWL_TURN ? PAWL_WAKE_TURN : wake_one);
        }
    }
}

/* Whether a waiter of this kind may take the lock in state v; mine: it owns the TURN. */
PAWL_INLINE bool PAWL_F(pawl_free_for_)(PAWL_T v, enum pawl_kind_ kind, bool mine)
{
    bool turn = (v & PAWL_TURN) && !mine;
    switch (kind) {
    case PAWL_KIND_READ:
        return !(v & (PAWL_W | PAWL_A_MASK)) && (!turn || (v & PAWL_S));
    case PAWL_KIND_ATOMIC:
        return !(v & (PAWL_S | PAWL_W | PAWL_R_MASK)) && !turn;
    case PAWL_KIND_SEEK:
    case PAWL_KIND_WRITE:
    default:
        return !(v & (PAWL_S | PAWL_W | PAWL_A_MASK)) && !turn;
    }
}

PAWL_INLINE PAWL_T PAWL_F(pawl_grant_)(enum pawl_kind_ kind)
{
    switch (kind) {
    case PAWL_KIND_READ:
        return PAWL_R1;
    case PAWL_KIND_ATOMIC:
        return PAWL_A1;
    case PAWL_KIND_SEEK:
        return PAWL_S;
    case PAWL_KIND_WRITE:
    default:
        return (PAWL_T)(PAWL_S | PAWL_W);
    }
}

/* A waiter got a shared state, with sleepers about: those who can share it are let in now, since nobody else
 * would wake them before it is given back. */
PAWL_INLINE void PAWL_F(pawl_let_in_)(PAWL_L *l, enum pawl_kind_ kind)
{
    switch (kind) {
    case PAWL_KIND_READ:
        PAWL_F(pawl_wake_)(&l->word, INT32_MAX, PAWL_WAKE_READ);
        PAWL_F(pawl_wake_)(&l->word, 1, PAWL_WAKE_EXCLUSIVE);
        break;
    case PAWL_KIND_SEEK:
        PAWL_F(pawl_wake_)(&l->word, INT32_MAX, PAWL_WAKE_READ);
        break;
    case PAWL_KIND_ATOMIC: /* and one of the others, so that one of them is counting the time to a TURN */
        PAWL_F(pawl_wake_)(&l->word, INT32_MAX, PAWL_WAKE_ATOMIC);
        PAWL_F(pawl_wake_)(&l->word, 1, PAWL_WAKE_READ | PAWL_WAKE_EXCLUSIVE);
        break;
    case PAWL_KIND_WRITE:
    default:
        break;
    }
}

/* A woken waiter found the lock taken again and goes back to sleep: the wake was meant for whoever can use
 * the lock as it is now, so it is passed on to the kinds that can. */
PAWL_INLINE void PAWL_F(pawl_pass_on_)(PAWL_L *l, PAWL_T v, enum pawl_kind_ kind)
{
    if (kind != PAWL_KIND_READ && PAWL_F(pawl_free_for_)(v, PAWL_KIND_READ, false)) {
        PAWL_F(pawl_wake_)(&l->word, INT32_MAX, PAWL_WAKE_READ);
    }
    if (kind != PAWL_KIND_ATOMIC && (v & PAWL_A_MASK) && PAWL_F(pawl_free_for_)(v, PAWL_KIND_ATOMIC, false)) {
        PAWL_F(pawl_wake_)(&l->word, INT32_MAX, PAWL_WAKE_ATOMIC);
    }
    if (kind == PAWL_KIND_ATOMIC && PAWL_F(pawl_free_for_)(v, PAWL_KIND_SEEK, false)) {
        PAWL_F(pawl_wake_)(&l->word, 1, PAWL_WAKE_EXCLUSIVE);
    }
}

/* The wait behind every lock operation: spin with back-off, then sleep; after a turn (PAWL_TURN_NS) claim the
 * TURN. Waiters that only spin claim none: with more threads than cores its owner is mostly not running, and
 * everybody would burn the CPU until it is. */
PAWL_INLINE void PAWL_F(pawl_wait_)(PAWL_L *l, enum pawl_kind_ kind)
{
    struct pawl_backoff b;
    pawl_backoff_init(&b);
    bool mine = false, woken = false;
#ifndef PAWL_DISABLE_PARK
    uint64_t start = 0, nap = PAWL_TURN_NS;
#endif
    for (;;) {
        PAWL_T v = PAWL_F(pawl_load_relaxed)(&l->word);
        while (PAWL_F(pawl_free_for_)(v, kind, mine)) {
            PAWL_T next = (PAWL_T)(v + PAWL_F(pawl_grant_)(kind));
            if (mine) {
                next &= (PAWL_T)~PAWL_TURN;
            }
            if (woken) {
                next |= PAWL_PARKED;
            }
            if (PAWL_F(pawl_cas_acquire)(&l->word, &v, next)) {
                if ((next & PAWL_ASLEEP) && (woken || mine)) {
                    PAWL_F(pawl_let_in_)(l, kind);
                }
                return;
            }
        }
        if (pawl_backoff_step(&b)) {
            continue;
        }
#ifndef PAWL_DISABLE_PARK
        uint64_t now = pawl_clock_ns();
        if (!start) {
            start = now;
        }
        if (!mine && !(v & PAWL_TURN) && now - start >= PAWL_TURN_NS) {
            mine = PAWL_F(pawl_cas_relaxed)(&l->word, &v, v | PAWL_TURN);
            pawl_backoff_init(&b);
            continue;
        }
        bool atomic_half = kind != PAWL_KIND_ATOMIC && (v & PAWL_A_MASK);
        PAWL_T mark = atomic_half ? PAWL_PARKED_A : PAWL_PARKED;
        if (!(v & mark)) {
            if (!PAWL_F(pawl_cas_relaxed)(&l->word, &v, v | mark)) {
                continue;
            }
            v |= mark;
        }
        if (woken) {
            PAWL_F(pawl_pass_on_)(l, v, kind);
            woken = false; /* PARKED stands again: the next release wakes somebody */
        }
        /* Readers that follow each other never leave the word free, so nobody would wake an atomic waiter,
         * nor the others behind atomic holders that do: such a waiter looks by itself, ever more rarely,
         * until it owns the TURN, which holds them back. */
        uint64_t until = 0;
        if ((kind == PAWL_KIND_ATOMIC || (v & PAWL_A_MASK)) && !mine) {
            until = now + nap;
            nap = nap < 64 * PAWL_TURN_NS ? nap * 2 : nap;
        }
        if (PAWL_F(pawl_sleep_)(&l->word, v, atomic_half, pawl_wake_mask_(kind) | (mine ? PAWL_WAKE_TURN : 0),
                                until)) {
            woken = true;
        }
#endif
    }
}

/* Under names of their own, so that a profile shows waiting apart from work and by kind. */
PAWL_NOINLINE void PAWL_F(pawl_wait_seek)(PAWL_L *l)
{
    PAWL_F(pawl_wait_)(l, PAWL_KIND_SEEK);
}

/* S and W are held: waits until the readers have left. Acquires what they released. */
PAWL_NOINLINE void PAWL_F(pawl_wait_readers)(PAWL_L *l)
{
    struct pawl_backoff b;
    pawl_backoff_init(&b);
    bool marked = false;
    for (;;) {
        PAWL_T v = PAWL_F(pawl_load_acquire)(&l->word);
        if (!(v & PAWL_R_MASK)) {
            break;
        }
        if (pawl_backoff_step(&b)) {
            continue;
        }
#ifndef PAWL_DISABLE_PARK
        if (!(v & PAWL_DRAIN)) {
            if (!PAWL_F(pawl_cas_relaxed)(&l->word, &v, v | PAWL_DRAIN)) {
                continue;
            }
            marked = true;
            v |= PAWL_DRAIN;
        }
        PAWL_F(pawl_sleep_)(&l->word, v, false, PAWL_WAKE_DRAIN, 0);
#endif
    }
    if (marked) {
        PAWL_F(pawl_fetch_and_relaxed)(&l->word, (PAWL_T)~PAWL_DRAIN);
    }
}

PAWL_NOINLINE void PAWL_F(pawl_wait_write)(PAWL_L *l)
{
    PAWL_F(pawl_wait_)(l, PAWL_KIND_WRITE);
    PAWL_F(pawl_wait_readers)(l);
}

/* The quick step added a reader and met v: either that was allowed after all, or it is taken back and waits.
 */
PAWL_NOINLINE void PAWL_F(pawl_wait_read)(PAWL_L *l, PAWL_T v)
{
    if (PAWL_F(pawl_free_for_)(v, PAWL_KIND_READ, false)) {
        return;
    }
    PAWL_F(pawl_release_)(l, PAWL_R1);
    PAWL_F(pawl_wait_)(l, PAWL_KIND_READ);
}

PAWL_NOINLINE void PAWL_F(pawl_wait_atomic)(PAWL_L *l)
{
    PAWL_F(pawl_release_)(l, PAWL_A1);
    PAWL_F(pawl_wait_)(l, PAWL_KIND_ATOMIC);
}

PAWL_INLINE bool PAWL_F(pawl_try_)(PAWL_L *l, enum pawl_kind_ kind, PAWL_T refuse)
{
    PAWL_T v = PAWL_F(pawl_load_relaxed)(&l->word);
    while (PAWL_F(pawl_free_for_)(v, kind, false) && !(v & refuse)) {
        if (PAWL_F(pawl_cas_acquire)(&l->word, &v, (PAWL_T)(v + PAWL_F(pawl_grant_)(kind)))) {
            return true;
        }
    }
    return false;
}

/* Read: shared. Not recursive: a second read_lock by a holder may wait behind a claim for itself. */
PAWL_INLINE void PAWL_F(pawl_read_lock)(PAWL_L *l)
{
    PAWL_T v = PAWL_F(pawl_fetch_add_acquire)(&l->word, PAWL_R1);
    if (__builtin_expect(!!(v & (PAWL_W | PAWL_A_MASK | PAWL_TURN)), 0)) {
        PAWL_F(pawl_wait_read)(l, v);
    }
}

PAWL_INLINE bool PAWL_F(pawl_read_trylock)(PAWL_L *l)
{
    return PAWL_F(pawl_try_)(l, PAWL_KIND_READ, 0);
}

PAWL_INLINE void PAWL_F(pawl_read_unlock)(PAWL_L *l)
{
    PAWL_F(pawl_release_)(l, PAWL_R1);
}

/* Seek: one holder, beside readers. */
PAWL_INLINE void PAWL_F(pawl_seek_lock)(PAWL_L *l)
{
    PAWL_T v = 0;
    if (__builtin_expect(!PAWL_F(pawl_cas_acquire)(&l->word, &v, PAWL_S), 0)) {
        PAWL_F(pawl_wait_seek)(l);
    }
}

PAWL_INLINE bool PAWL_F(pawl_seek_trylock)(PAWL_L *l)
{
    return PAWL_F(pawl_try_)(l, PAWL_KIND_SEEK, 0);
}

PAWL_INLINE void PAWL_F(pawl_seek_unlock)(PAWL_L *l)
{
    PAWL_F(pawl_release_)(l, PAWL_S);
}

/* Write: alone. */
PAWL_INLINE void PAWL_F(pawl_write_lock)(PAWL_L *l)
{
    PAWL_T v = 0;
    if (__builtin_expect(!PAWL_F(pawl_cas_acquire)(&l->word, &v, PAWL_S | PAWL_W), 0)) {
        PAWL_F(pawl_wait_write)(l);
    }
}

PAWL_INLINE bool PAWL_F(pawl_write_trylock)(PAWL_L *l)
{
    return PAWL_F(pawl_try_)(l, PAWL_KIND_WRITE, PAWL_R_MASK);
}

PAWL_INLINE void PAWL_F(pawl_write_unlock)(PAWL_L *l)
{
    PAWL_F(pawl_release_)(l, PAWL_S | PAWL_W);
}

/* Atomic: shared by holders who change the data with atomic operations only. */
PAWL_INLINE void PAWL_F(pawl_atomic_lock)(PAWL_L *l)
{
    PAWL_T v = PAWL_F(pawl_fetch_add_acquire)(&l->word, PAWL_A1);
    if (__builtin_expect(!!(v & (PAWL_S | PAWL_W | PAWL_R_MASK | PAWL_TURN)), 0)) {
        PAWL_F(pawl_wait_atomic)(l);
    }
}

PAWL_INLINE bool PAWL_F(pawl_atomic_trylock)(PAWL_L *l)
{
    return PAWL_F(pawl_try_)(l, PAWL_KIND_ATOMIC, 0);
}

PAWL_INLINE void PAWL_F(pawl_atomic_unlock)(PAWL_L *l)
{
    PAWL_F(pawl_release_)(l, PAWL_A1);
}

/* S -> W: refuses new readers and waits for those inside; no other writer gets in between. Never fails. */
PAWL_INLINE void PAWL_F(pawl_seek_to_write)(PAWL_L *l)
{
    PAWL_T v = PAWL_F(pawl_fetch_add_acquire)(&l->word, PAWL_W);
    if (__builtin_expect(!!(v & PAWL_R_MASK), 0)) {
        PAWL_F(pawl_wait_readers)(l);
    }
}

/* W -> S: readers may enter again. */
PAWL_INLINE void PAWL_F(pawl_write_to_seek)(PAWL_L *l)
{
    PAWL_F(pawl_downgrade_)(l, PAWL_W, PAWL_WAKE_READ, 0);
}

/* W -> R: readers and one seeker may enter. */
PAWL_INLINE void PAWL_F(pawl_write_to_read)(PAWL_L *l)
{
    PAWL_F(pawl_downgrade_)(l, (PAWL_T)(PAWL_S + PAWL_W - PAWL_R1), PAWL_WAKE_READ, PAWL_WAKE_EXCLUSIVE);
}

/* S -> R: another may seek, or claim the write. */
PAWL_INLINE void PAWL_F(pawl_seek_to_read)(PAWL_L *l)
{
    PAWL_F(pawl_downgrade_)(l, (PAWL_T)(PAWL_S - PAWL_R1), 0, PAWL_WAKE_EXCLUSIVE);
}

#undef PAWL_CAT_
#undef PAWL_CAT
#undef PAWL_F
#undef PAWL_T
#undef PAWL_PARKED
#undef PAWL_DRAIN
#undef PAWL_TURN
#undef PAWL_S
#undef PAWL_W
#undef PAWL_R1
#undef PAWL_A1
#undef PAWL_R_MASK
#undef PAWL_PARKED_A
#undef PAWL_ASLEEP
#undef PAWL_A_MASK
#undef PAWL_HELD
