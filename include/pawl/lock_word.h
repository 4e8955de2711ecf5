/* The lock's word: its layout, who may enter, who is to be woken by a change. Part of pawl/lock_size.h.
 *
 * From the lowest bit: PAWL_LOW bits of the application, six marks, the number of readers, the number of
 * atomic holders; on the 8-byte word, one more mark on top.
 *   QUEUE  threads sleep, in order of arrival, until they are at the head of those who wait
 *   HEAD   one waiter, the head, looks at the word itself
 *   ASLEEP the head sleeps and is to be woken when it could enter
 *   DRAIN  the holder of the claim sleeps until the last reader has left
 *   OWES   the same bit while W is held with no reader inside: nobody has been woken to be the
 *          head yet; who gives W back does so first
 *   SEEK   held for seek, or for write; with atomic holders: the multiple-writer protocol's claim phase
 *   WRITE  held for write, or claimed: the claimant waits for the readers, no new one enters
 *   HIGH   (8 bytes) the head, if asleep, sleeps on the upper half
 *
 * HEAD and ASLEEP together are the TURN: the head is due, nobody overtakes it any more. QUEUE without either:
 * a sleeper has been woken to be the head, and is on its way, or (OWES) will be.
 *
 *   asked | may be taken when                                    | becomes
 *   R     | no W, no A; a TURN counts only while S is free       | readers + 1
 *   S     | no S, no W, no A, no TURN of another                 | + S
 *   W     | as S                                                 | + S + W, then waits for readers to be 0
 *   A     | no S, no W, no R, no TURN of another                 | atomic holders + 1
 *   J     | as S                                                 | both + 1, then waits for the readers;
 *         | had another joined meanwhile: nobody inside, no TURN | both + 1
 *
 * A reader must be let in while S is only held for seek: that is S's meaning, and refusing would deadlock a
 * seeker that waits for such a reader. Once S is free the TURN's owner takes it at once, so refusing costs a
 * reader little. */

/* The kernel compares 4 bytes when a thread goes to sleep. All marks but HIGH, and the readers, are in the
 * lower half, so that it changes with every one of them; who waits for atomic holders sleeps on the upper. */
PAWL_INLINE const uint32_t *PAWL_F(half_)(const PAWL_WT *word, bool upper)
{
    const uint32_t *h = (const uint32_t *)(const void *)word;
#if PAWL_N == 64
#    if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return h + !upper;
#    else
    return h + upper;
#    endif
#else
    (void)upper;
    return h;
#endif
}

/* Sleeps while the half that v was read from is unchanged. Returns as pawl_futex_wait(). */
PAWL_INLINE int PAWL_F(sleep_)(const PAWL_WT *word, PAWL_T v, bool upper, uint32_t mask, uint64_t deadline)
{
    uint32_t value = (uint32_t)v;
#if PAWL_N == 64
    if (upper) {
        value = (uint32_t)(v >> 32);
    }
#endif
    return pawl_futex_wait(PAWL_F(half_)(word, upper), value, mask, deadline);
}

PAWL_INLINE bool PAWL_F(is_turn_)(PAWL_T v)
{
    return (v & PAWL_TURN) == PAWL_TURN;
}

/* Whether one that asks for this kind may take the lock in state v; mine: it owns the TURN. */
PAWL_INLINE bool PAWL_F(free_for_)(PAWL_T v, enum pawl_kind_ kind, bool mine)
{
    bool turn = !mine && PAWL_F(is_turn_)(v);
    switch (kind) {
    case PAWL_KIND_READ:
        return !(v & (PAWL_W | PAWL_A_MASK)) && (!turn || (v & PAWL_S));
    case PAWL_KIND_ATOMIC:
        return !(v & (PAWL_S | PAWL_W | PAWL_R_MASK)) && !turn;
    case PAWL_KIND_JOIN_ALONE:
        return !(v & PAWL_HELD) && !turn;
    case PAWL_KIND_SEEK:
    case PAWL_KIND_WRITE:
    case PAWL_KIND_JOIN:
    default:
        return !(v & (PAWL_S | PAWL_W | PAWL_A_MASK)) && !turn;
    }
}

PAWL_INLINE PAWL_T PAWL_F(grant_)(enum pawl_kind_ kind)
{
    switch (kind) {
    case PAWL_KIND_READ:
        return PAWL_R1;
    case PAWL_KIND_ATOMIC:
        return PAWL_A1;
    case PAWL_KIND_SEEK:
        return PAWL_S;
    case PAWL_KIND_JOIN:
    case PAWL_KIND_JOIN_ALONE:
        return (PAWL_T)(PAWL_R1 + PAWL_A1);
    case PAWL_KIND_WRITE:
    default:
        return (PAWL_T)(PAWL_S | PAWL_W);
    }
}

/* Whom the change of what is held, from v to next, may let go on: 0, PAWL_WAKE_HEAD or PAWL_WAKE_DRAIN. */
PAWL_INLINE uint32_t PAWL_F(whom_)(PAWL_T v, PAWL_T next)
{
    if (next & PAWL_W) { /* claimed: only its holder waits for readers, only the last reader matters */
        return (v & PAWL_DRAIN) && !(next & PAWL_R_MASK) ? PAWL_WAKE_DRAIN : 0;
    }
    bool opened = (v & ~next & (PAWL_S | PAWL_W)) || ((v & PAWL_R_MASK) && !(next & PAWL_R_MASK)) ||
                  ((v & PAWL_A_MASK) && !(next & PAWL_A_MASK));
    return (v & PAWL_ASLEEP) && opened ? PAWL_WAKE_HEAD : 0;
}

/* Wakes whom the change of v concerns, if anybody. */
PAWL_INLINE void PAWL_F(wake_)(const PAWL_WT *word, PAWL_T v, uint32_t whom)
{
    if (whom) {
        pawl_futex_wake(PAWL_F(half_)(word, whom == PAWL_WAKE_HEAD && (v & PAWL_HIGH)), 1, whom);
    }
}
