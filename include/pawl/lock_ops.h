/* The operations on one word size. Part of pawl/lock_size.h. PAWL_L is the lock as users see it, PAWL_WORD(l)
 * its word. */

/* ---- read: shared. Not recursive: a second read_lock by a holder may wait behind a claim for itself. */
PAWL_INLINE void PAWL_F(read_lock)(PAWL_L *l)
{
    PAWL_T v = PAWL_A(fetch_add_acquire)(PAWL_WORD(l), PAWL_R1);
    if (__builtin_expect(!!(v & (PAWL_W | PAWL_A_MASK | PAWL_ASLEEP)), 0)) {
        PAWL_F(counted_read_)(PAWL_WORD(l), v, PAWL_NEVER);
    }
}

/* It does not count itself before it looks: threads that ask again and again, with deadlines that have nearly
 * passed, would keep the count from ever being 0 for one that has claimed. */
PAWL_INLINE bool PAWL_F(read_lock_until)(PAWL_L *l, uint64_t deadline)
{
    return PAWL_F(try_)(PAWL_WORD(l), PAWL_KIND_READ, 0) || PAWL_F(wait_read)(PAWL_WORD(l), deadline);
}

PAWL_INLINE bool PAWL_F(read_trylock)(PAWL_L *l)
{
    return PAWL_F(try_)(PAWL_WORD(l), PAWL_KIND_READ, 0);
}

PAWL_INLINE void PAWL_F(read_unlock)(PAWL_L *l)
{
    PAWL_F(give_)(PAWL_WORD(l), PAWL_R1);
}

/* From a free word (marks and all) to what is asked, in one step. */
PAWL_INLINE bool PAWL_F(quick_)(PAWL_WT *word, PAWL_T grant)
{
    PAWL_T v = 0;
#if PAWL_LOW
    v = PAWL_A(load_relaxed)(word) & PAWL_LOW_MASK;
#endif
    return PAWL_A(cas_acquire)(word, &v, (PAWL_T)(v + grant));
}

/* ---- seek: one holder, beside readers. */
PAWL_INLINE void PAWL_F(seek_lock)(PAWL_L *l)
{
    if (__builtin_expect(!PAWL_F(quick_)(PAWL_WORD(l), PAWL_S), 0)) {
        PAWL_F(wait_seek)(PAWL_WORD(l), PAWL_NEVER);
    }
}

PAWL_INLINE bool PAWL_F(seek_lock_until)(PAWL_L *l, uint64_t deadline)
{
    return PAWL_F(quick_)(PAWL_WORD(l), PAWL_S) || PAWL_F(wait_seek)(PAWL_WORD(l), deadline);
}

PAWL_INLINE bool PAWL_F(seek_trylock)(PAWL_L *l)
{
    return PAWL_F(try_)(PAWL_WORD(l), PAWL_KIND_SEEK, 0);
}

PAWL_INLINE void PAWL_F(seek_unlock)(PAWL_L *l)
{
    PAWL_F(give_)(PAWL_WORD(l), PAWL_S);
}

/* ---- write: alone. */
PAWL_INLINE void PAWL_F(write_lock)(PAWL_L *l)
{
    if (__builtin_expect(!PAWL_F(quick_)(PAWL_WORD(l), PAWL_S | PAWL_W), 0)) {
        PAWL_F(wait_write)(PAWL_WORD(l), PAWL_NEVER);
    }
}

PAWL_INLINE bool PAWL_F(write_lock_until)(PAWL_L *l, uint64_t deadline)
{
    return PAWL_F(quick_)(PAWL_WORD(l), PAWL_S | PAWL_W) || PAWL_F(wait_write)(PAWL_WORD(l), deadline);
}

PAWL_INLINE bool PAWL_F(write_trylock)(PAWL_L *l)
{
    return PAWL_F(try_)(PAWL_WORD(l), PAWL_KIND_WRITE, PAWL_R_MASK);
}

PAWL_INLINE void PAWL_F(write_unlock)(PAWL_L *l)
{
    PAWL_F(give_)(PAWL_WORD(l), PAWL_S | PAWL_W);
}

/* ---- atomic: shared by holders who change the data with atomic operations only. The count is exact, nobody
 * counts itself before it is inside: the multiple-writer protocol compares it. */
PAWL_INLINE void PAWL_F(atomic_lock)(PAWL_L *l)
{
    if (__builtin_expect(!PAWL_F(quick_)(PAWL_WORD(l), PAWL_A1), 0)) {
        PAWL_F(wait_atomic)(PAWL_WORD(l), PAWL_NEVER);
    }
}

PAWL_INLINE bool PAWL_F(atomic_lock_until)(PAWL_L *l, uint64_t deadline)
{
    return PAWL_F(quick_)(PAWL_WORD(l), PAWL_A1) || PAWL_F(wait_atomic)(PAWL_WORD(l), deadline);
}

PAWL_INLINE bool PAWL_F(atomic_trylock)(PAWL_L *l)
{
    return PAWL_F(try_)(PAWL_WORD(l), PAWL_KIND_ATOMIC, 0);
}

PAWL_INLINE void PAWL_F(atomic_unlock)(PAWL_L *l)
{
    PAWL_F(give_)(PAWL_WORD(l), PAWL_A1);
}

/* ---- join: takes part in a common change from outside, alone; see docs/lock.md. */
PAWL_INLINE void PAWL_F(join_lock)(PAWL_L *l)
{
    if (__builtin_expect(!PAWL_F(quick_)(PAWL_WORD(l), (PAWL_T)(PAWL_R1 + PAWL_A1)), 0)) {
        PAWL_F(wait_join)(PAWL_WORD(l), PAWL_NEVER, false);
    }
}

PAWL_INLINE bool PAWL_F(join_lock_until)(PAWL_L *l, uint64_t deadline)
{
    return PAWL_F(quick_)(PAWL_WORD(l), (PAWL_T)(PAWL_R1 + PAWL_A1)) ||
           PAWL_F(wait_join)(PAWL_WORD(l), deadline, false);
}

PAWL_INLINE bool PAWL_F(join_trylock)(PAWL_L *l)
{
    return PAWL_F(try_)(PAWL_WORD(l), PAWL_KIND_JOIN, PAWL_R_MASK);
}

PAWL_INLINE void PAWL_F(join_unlock)(PAWL_L *l)
{
    PAWL_F(shift_)(PAWL_WORD(l), (PAWL_T)(0 - PAWL_R1 - PAWL_A1), 0);
}

/* ---- from S and W */

/* S -> W: refuses new readers and waits for those inside; no other writer gets in between. Never fails. */
PAWL_INLINE void PAWL_F(seek_to_write)(PAWL_L *l)
{
    PAWL_T v = PAWL_A(fetch_add_acquire)(PAWL_WORD(l), PAWL_W);
    if (__builtin_expect(!!(v & PAWL_R_MASK), 0)) {
        PAWL_F(wait_readers)(PAWL_WORD(l), PAWL_NEVER);
    }
}

/* The same until a deadline; false: S is held as before. */
PAWL_INLINE bool PAWL_F(seek_to_write_until)(PAWL_L *l, uint64_t deadline)
{
    PAWL_T v = PAWL_A(fetch_add_acquire)(PAWL_WORD(l), PAWL_W);
    if (!(v & PAWL_R_MASK) || PAWL_F(wait_readers)(PAWL_WORD(l), deadline)) {
        return true;
    }
    PAWL_F(give_)(PAWL_WORD(l), PAWL_W);
    return false;
}

/* W -> S: readers may enter again. */
PAWL_INLINE void PAWL_F(write_to_seek)(PAWL_L *l)
{
    PAWL_F(give_)(PAWL_WORD(l), PAWL_W);
}

/* W -> R: readers and one seeker may enter. */
PAWL_INLINE void PAWL_F(write_to_read)(PAWL_L *l)
{
    PAWL_F(give_)(PAWL_WORD(l), (PAWL_T)(PAWL_S + PAWL_W - PAWL_R1));
}

/* S -> R: another may seek, or claim the write. */
PAWL_INLINE void PAWL_F(seek_to_read)(PAWL_L *l)
{
    PAWL_F(give_)(PAWL_WORD(l), (PAWL_T)(PAWL_S - PAWL_R1));
}

/* ---- from R. One that fails keeps R, and must give it back before it tries again, or may wait for ever for
 * one that waits for it. */

/* Turns the caller's R into `grant` in one step, if nothing in `refuse` is there; alone: and no other reader.
 * Nor may another have the TURN, but to go to A: one that is due beside a reader waits for A itself, and the
 * last reader that goes there lets it in. Releases too: what was read under R was read before another may
 * change it beside A. */
PAWL_INLINE bool PAWL_F(from_read_)(PAWL_WT *word, PAWL_T grant, PAWL_T refuse, bool alone)
{
    PAWL_T v = PAWL_A(load_relaxed)(word);
    while (!(v & refuse) && (grant == PAWL_A1 || !PAWL_F(is_turn_)(v)) &&
           (!alone || (v & PAWL_R_MASK) == PAWL_R1)) {
        PAWL_T next = (PAWL_T)(v - PAWL_R1 + grant);
        if (PAWL_A(cas_acq_rel)(word, &v, next)) {
            PAWL_F(wake_)(word, v, PAWL_F(whom_)(v, next));
            return true;
        }
    }
    return false;
}

PAWL_INLINE bool PAWL_F(read_try_to_seek)(PAWL_L *l)
{
    return PAWL_F(from_read_)(PAWL_WORD(l), PAWL_S, PAWL_S | PAWL_W | PAWL_A_MASK, false);
}

PAWL_INLINE bool PAWL_F(read_try_to_write)(PAWL_L *l)
{
    return PAWL_F(from_read_)(PAWL_WORD(l), PAWL_S | PAWL_W, PAWL_S | PAWL_W | PAWL_A_MASK, true);
}

PAWL_INLINE bool PAWL_F(read_try_to_atomic)(PAWL_L *l)
{
    return PAWL_F(from_read_)(PAWL_WORD(l), PAWL_A1, PAWL_S | PAWL_W | PAWL_A_MASK, true);
}

/* R -> W: fails at once when S or W is claimed, else waits for the other readers until the deadline. */
PAWL_INLINE bool PAWL_F(read_to_write_until)(PAWL_L *l, uint64_t deadline)
{
    if (!PAWL_F(from_read_)(PAWL_WORD(l), PAWL_S | PAWL_W, PAWL_S | PAWL_W | PAWL_A_MASK, false)) {
        return false;
    }
    if (PAWL_F(wait_readers)(PAWL_WORD(l), deadline)) {
        return true;
    }
    PAWL_F(write_to_read)(l);
    return false;
}

/* ---- the multiple-writer protocol: R -> J -> C -> A, and back. No S or W on such a lock at the same time.
 */

/* R -> J: announces a change; waits until every reader has left or joined, or the claim phase has begun. */
PAWL_INLINE void PAWL_F(read_to_join)(PAWL_L *l)
{
    PAWL_F(shift_)(PAWL_WORD(l), PAWL_A1, 0);
    PAWL_F(wait_phase)(PAWL_WORD(l), PAWL_PHASE_JOINED, PAWL_NEVER);
}

/* J -> C: begins the claim phase, or enters it. */
PAWL_INLINE void PAWL_F(join_to_claim)(PAWL_L *l)
{
    PAWL_F(shift_)(PAWL_WORD(l), 0, PAWL_S);
}

PAWL_INLINE void PAWL_F(read_to_claim)(PAWL_L *l)
{
    PAWL_F(read_to_join)(l);
    PAWL_F(join_to_claim)(l);
}

/* C -> A: waits until all claimants have gone to A or left. */
PAWL_INLINE void PAWL_F(claim_to_atomic)(PAWL_L *l)
{
    PAWL_F(shift_)(PAWL_WORD(l), (PAWL_T)(0 - PAWL_R1), 0);
    PAWL_F(wait_phase)(PAWL_WORD(l), PAWL_PHASE_CHANGE, PAWL_NEVER);
}

PAWL_INLINE void PAWL_F(claim_unlock)(PAWL_L *l)
{
    PAWL_F(join_unlock)(l);
}

/* A -> J: takes part in the next round. */
PAWL_INLINE void PAWL_F(atomic_to_join)(PAWL_L *l)
{
    PAWL_F(shift_)(PAWL_WORD(l), PAWL_R1, 0);
}

/* A -> R: waits until the last atomic holder has left or gone to R. Meanwhile W without S keeps everybody
 * out, so that nobody joins the next round, and waits for those here, before one of them has seen that this
 * one is over, and opened. */
PAWL_INLINE void PAWL_F(atomic_to_read)(PAWL_L *l)
{
    PAWL_WT *word = PAWL_WORD(l);
    PAWL_F(shift_)(word, (PAWL_T)(PAWL_R1 - PAWL_A1), PAWL_W);
    PAWL_F(wait_phase)(word, PAWL_PHASE_READ, PAWL_NEVER);
    PAWL_T v = PAWL_A(load_relaxed)(word);
    while ((v & (PAWL_S | PAWL_W)) == PAWL_W && !(v & PAWL_A_MASK)) {
        PAWL_T next = (PAWL_T)(v & ~PAWL_W);
        if (PAWL_A(cas_relaxed)(word, &v, next)) {
            PAWL_F(wake_)(word, v, PAWL_F(whom_)(v, next));
            return;
        }
    }
}

/* Whether no other holds or joins: for what the last one does before it leaves, so it acquires what the
 * others released. */
PAWL_INLINE bool PAWL_F(last_writer)(const PAWL_L *l)
{
    return (PAWL_A(load_acquire)(PAWL_WORD(l)) & PAWL_A_MASK) == PAWL_A1;
}

/* ---- questions, for assertions: what the word says at this moment. Never false for the holder who asks. */

/* Held for write, or claimed. */
PAWL_INLINE bool PAWL_F(write_is_held)(const PAWL_L *l)
{
    return (PAWL_A(load_relaxed)(PAWL_WORD(l)) & (PAWL_S | PAWL_W)) == (PAWL_S | PAWL_W);
}

/* Held for seek, not claimed for write. */
PAWL_INLINE bool PAWL_F(seek_is_held)(const PAWL_L *l)
{
    return (PAWL_A(load_relaxed)(PAWL_WORD(l)) & (PAWL_S | PAWL_W | PAWL_A_MASK)) == PAWL_S;
}

/* By somebody, perhaps one that has counted itself and is about to be refused. */
PAWL_INLINE bool PAWL_F(read_is_held)(const PAWL_L *l)
{
    return (PAWL_A(load_relaxed)(PAWL_WORD(l)) & PAWL_R_MASK) != 0;
}

/* In one of the states A, J and C. */
PAWL_INLINE bool PAWL_F(atomic_is_held)(const PAWL_L *l)
{
    return (PAWL_A(load_relaxed)(PAWL_WORD(l)) & PAWL_A_MASK) != 0;
}

/* ---- claims: fail at once when another has S, W or A (for W), or its turn, else wait for the readers inside
 * and for nothing more (J waits more). Between a try and a lock; what plock calls try. */

PAWL_INLINE bool PAWL_F(write_claim)(PAWL_L *l)
{
    if (!PAWL_F(try_)(PAWL_WORD(l), PAWL_KIND_WRITE, 0)) {
        return false;
    }
    PAWL_F(wait_readers)(PAWL_WORD(l), PAWL_NEVER);
    return true;
}

PAWL_INLINE bool PAWL_F(read_claim_write)(PAWL_L *l)
{
    return PAWL_F(read_to_write_until)(l, PAWL_NEVER);
}

/* Counts itself as atomic holder beside readers, which keeps new ones out, and waits for those inside. */
PAWL_INLINE bool PAWL_F(atomic_claim)(PAWL_L *l)
{
    PAWL_T v = PAWL_A(load_relaxed)(PAWL_WORD(l));
    do {
        if ((v & (PAWL_S | PAWL_W)) || PAWL_F(is_turn_)(v)) {
            return false;
        }
    } while (!PAWL_A(cas_relaxed)(PAWL_WORD(l), &v, (PAWL_T)(v + PAWL_A1)));
    PAWL_F(wait_phase)(PAWL_WORD(l), PAWL_PHASE_ATOMIC, PAWL_NEVER);
    return true;
}

/* R -> A, of any number of readers at once: waits until the others have left or done the same. */
PAWL_INLINE bool PAWL_F(read_claim_atomic)(PAWL_L *l)
{
    if (!PAWL_F(from_read_)(PAWL_WORD(l), PAWL_A1, PAWL_S | PAWL_W, false)) {
        return false;
    }
    PAWL_F(wait_phase)(PAWL_WORD(l), PAWL_PHASE_ATOMIC, PAWL_NEVER);
    return true;
}

/* Waits for the holders of S, W and A first, and fails only when a reader inside joins meanwhile. */
PAWL_INLINE bool PAWL_F(join_claim)(PAWL_L *l)
{
    return PAWL_F(quick_)(PAWL_WORD(l), (PAWL_T)(PAWL_R1 + PAWL_A1)) ||
           PAWL_F(wait_join)(PAWL_WORD(l), PAWL_NEVER, true);
}

/* ---- reading without counting first, so that the word always tells readers from a writer: its holder may
 * then say unlock without saying what it holds. */

PAWL_INLINE void PAWL_F(read_lock_exact)(PAWL_L *l)
{
    if (!PAWL_F(try_)(PAWL_WORD(l), PAWL_KIND_READ, 0)) {
        PAWL_F(wait_read)(PAWL_WORD(l), PAWL_NEVER);
    }
}

PAWL_INLINE void PAWL_F(unlock_any)(PAWL_L *l)
{
    bool readers = PAWL_A(load_relaxed)(PAWL_WORD(l)) & PAWL_R_MASK;
    PAWL_F(give_)(PAWL_WORD(l), readers ? PAWL_R1 : (PAWL_T)(PAWL_S | PAWL_W));
}
