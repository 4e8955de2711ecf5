/* Giving back, waking and waiting. Part of pawl/lock_size.h.
 *
 * Those who wait stand in one line, whatever they wait for. Its head looks at the word; the others sleep. Who
 * leaves the head's place, with the lock or without, wakes the next sleeper to be the head. Releases
 * therefore wake nobody but a head that sleeps, and the line moves on in order of arrival. A lock that is
 * free goes to whoever comes first; once the head has waited for a turn it claims the TURN, and is the next.
 */

/* The head's place is free and QUEUE stands: wakes the first of those who sleep. Called by one that has the
 * lock or waits for it, so the memory is there. */
PAWL_NOINLINE void PAWL_F(pass_on_)(PAWL_WT *word)
{
    const uint32_t *low = PAWL_F(half_)(word, false);
    if (pawl_futex_wake(low, 1, PAWL_WAKE_QUEUE) > 0) {
        return;
    }
    PAWL_T v = PAWL_A(load_relaxed)(word);
    do {
        if ((v & (PAWL_QUEUE | PAWL_TURN)) != PAWL_QUEUE) {
            return; /* somebody took the place */
        }
    } while (!PAWL_A(cas_relaxed)(word, &v, (PAWL_T)(v & ~PAWL_QUEUE)));
    /* One that went to sleep before the mark was taken away would sleep for ever. */
    pawl_futex_wake(low, 1, PAWL_WAKE_QUEUE);
}

/* Is it the step in which W is given back that was taken with the wake-up of the next one still owed? */
PAWL_INLINE bool PAWL_F(owes_)(PAWL_T v, PAWL_T next)
{
    return (v & PAWL_OWES) && (v & PAWL_W) && !(next & PAWL_W);
}

/* Gives `less` back, with somebody asleep, or likely so. May be the last thing done with the lock: the memory
 * is not touched after the step that releases, only the address is used, for the wake. */
PAWL_NOINLINE void PAWL_F(give_slow_)(PAWL_WT *word, PAWL_T less)
{
    PAWL_T v = PAWL_A(load_relaxed)(word), next;
    uint32_t whom;
    if (PAWL_F(owes_)(v, (PAWL_T)(v - less)) && !(v & PAWL_TURN)) {
        PAWL_F(pass_on_)(word); /* while the memory is there */
        v = PAWL_A(load_relaxed)(word);
    }
    do {
        next = (PAWL_T)(v - less);
        whom = PAWL_F(whom_)(v, next);
        if (whom == PAWL_WAKE_DRAIN || PAWL_F(owes_)(v, next)) {
            next &= (PAWL_T)~PAWL_DRAIN;
        }
        if (whom == PAWL_WAKE_HEAD && !(v & PAWL_HEAD)) {
            /* Asleep before its turn: taken for awake from here on. HIGH goes, too, or the upper half might
             * soon be again what a head compares that is only on its way to sleep. */
            next = (PAWL_T)((next & ~(PAWL_ASLEEP | PAWL_HIGH)) | PAWL_HEAD);
        }
    } while (!PAWL_A(cas_release)(word, &v, next));
    PAWL_F(wake_)(word, v, whom);
}

/* The same after the fact: the marks were set between the look and the step. They stay. */
PAWL_NOINLINE void PAWL_F(gave_)(PAWL_WT *word, PAWL_T v, PAWL_T less)
{
    PAWL_F(wake_)(word, v, PAWL_F(whom_)(v, (PAWL_T)(v - less)));
}

/* Gives `less` back: what was held, or the difference to what is held from now on. */
PAWL_INLINE void PAWL_F(give_)(PAWL_WT *word, PAWL_T less)
{
    pawl_prefetch_write(word); /* so that the look does not cost a transfer of its own */
    if (__builtin_expect(PAWL_A(any_relaxed)(word, PAWL_ASLEEP | PAWL_DRAIN), 0)) {
        PAWL_F(give_slow_)(word, less);
        return;
    }
    PAWL_T v = PAWL_A(fetch_sub_release)(word, less);
    if (__builtin_expect(!!(v & (PAWL_ASLEEP | PAWL_DRAIN)), 0)) {
        PAWL_F(gave_)(word, v, less);
    }
}

/* Changes the word as `add` and `mark` say, for one that stays inside, or waits: so the memory is there. It
 * does not acquire: who needs what others released waits for them next, and acquires by looking. The
 * claim phase (S beside atomic holders) ends with its last reader, which may be one that only came to look,
 * or with the last atomic holder, when such a reader is left behind. */
PAWL_INLINE void PAWL_F(shift_)(PAWL_WT *word, PAWL_T add, PAWL_T mark)
{
    PAWL_T v = PAWL_A(load_relaxed)(word), next;
    do {
        next = (PAWL_T)((v + add) | mark);
        if ((v & PAWL_A_MASK) && !(v & PAWL_W) && (!(next & PAWL_R_MASK) || !(next & PAWL_A_MASK))) {
            next &= (PAWL_T)~PAWL_S;
        }
    } while (!PAWL_A(cas_release)(word, &v, next));
    PAWL_F(wake_)(word, v, PAWL_F(whom_)(v, next));
}

/* Takes a kind if it is free and nothing in `refuse` is there; never waits. *seen: the word as it was, when
 * this returns false. */
PAWL_INLINE bool PAWL_F(try_seen_)(PAWL_WT *word, enum pawl_kind_ kind, PAWL_T refuse, PAWL_T *seen)
{
    PAWL_T v = PAWL_A(load_relaxed)(word);
    while (PAWL_F(free_for_)(v, kind, false) && !(v & refuse)) {
        if (PAWL_A(cas_acquire)(word, &v, (PAWL_T)(v + PAWL_F(grant_)(kind)))) {
            return true;
        }
    }
    *seen = v;
    return false;
}

PAWL_INLINE bool PAWL_F(try_)(PAWL_WT *word, enum pawl_kind_ kind, PAWL_T refuse)
{
    PAWL_T seen;
    return PAWL_F(try_seen_)(word, kind, refuse, &seen);
}

struct PAWL_F(waiter_) {
    enum pawl_kind_ kind;
    bool head;  /* owns the head's place */
    bool turn;  /* and the TURN */
    bool woken; /* from the queue; the place of the head may be meant for it */
    bool busy;  /* the lock changed hands while it looked, or when it was woken */
    unsigned misses, yields;
    uint64_t deadline, since, due, nap; /* since: at the head */
    struct pawl_backoff spin;
};

/* What the word becomes when this waiter leaves the line; *pass: the next is to be woken then. */
PAWL_INLINE PAWL_T PAWL_F(without_)(const struct PAWL_F(waiter_) * w, PAWL_T v, bool *pass)
{
    *pass = false;
    if (w->head) {
        v &= (PAWL_T) ~(PAWL_TURN | PAWL_HIGH);
        *pass = v & PAWL_QUEUE;
    } else if (w->woken) {
        *pass = !(v & PAWL_TURN);
        v |= PAWL_QUEUE; /* there may be more sleepers */
    }
    return v;
}

/* The deadline has passed. */
PAWL_INLINE void PAWL_F(give_up_)(PAWL_WT *word, const struct PAWL_F(waiter_) * w)
{
    bool pass = false;
    if (w->head || w->woken) {
        PAWL_T v = PAWL_A(load_relaxed)(word);
        while (!PAWL_A(cas_relaxed)(word, &v, PAWL_F(without_)(w, v, &pass))) {
        }
    }
    if (pass) {
        PAWL_F(pass_on_)(word);
    }
}

/* Not the head: takes its place if that is free, else sleeps in the line. */
PAWL_INLINE void PAWL_F(queue_)(PAWL_WT *word, PAWL_T v, struct PAWL_F(waiter_) * w, uint64_t now)
{
    if (!(v & PAWL_TURN) && (w->woken || !(v & PAWL_QUEUE))) {
        if (PAWL_A(cas_relaxed)(word, &v, (PAWL_T)(v | PAWL_HEAD | (w->woken ? PAWL_QUEUE : 0)))) {
            w->head = true;
            w->since = now;
            w->due = now + (w->kind == PAWL_KIND_READ ? PAWL_TURN_READ_NS : PAWL_TURN_NS);
            pawl_backoff_init(&w->spin);
        }
        return;
    }
    if (!(v & PAWL_QUEUE)) {
        if (!PAWL_A(cas_relaxed)(word, &v, (PAWL_T)(v | PAWL_QUEUE))) {
            return;
        }
        v |= PAWL_QUEUE;
    }
    uint32_t mask = w->kind == PAWL_KIND_READ ? PAWL_WAKE_QUEUE | PAWL_WAKE_READ : PAWL_WAKE_QUEUE;
    int why = PAWL_F(sleep_)(word, v, false, mask, w->deadline);
    if (why == 0) {
        w->woken = true;
        pawl_backoff_init(&w->spin);
    } else if (why != EAGAIN) { /* but one that was woken, and looked at a word of before, still is */
        w->woken = false;
    } else if (++w->misses % PAWL_MISSES == 0) {
        pawl_sleep_until(pawl_earlier_(now + PAWL_NAP_MIN, w->deadline)); /* the word changes too fast */
    }
}

/* The head: claims the TURN when due, else sleeps until it could enter, or naps while the lock is busy: who
 * is woken by every release of a busy lock mostly finds it taken again. */
PAWL_INLINE void PAWL_F(lead_)(PAWL_WT *word, PAWL_T v, struct PAWL_F(waiter_) * w, uint64_t now)
{
    if (!w->turn) {
        if (now >= w->due) {
            w->turn = PAWL_A(cas_relaxed)(word, &v, (PAWL_T)(v | PAWL_TURN));
            pawl_backoff_init(&w->spin);
            return;
        }
        if (!(v & PAWL_QUEUE) && now < (w->busy ? w->due : w->since + PAWL_ALONE_NS)) {
            if (!w->busy) {
                pawl_yield();
                w->spin.wait = w->spin.wait < PAWL_ALONE_PAUSE ? w->spin.wait : PAWL_ALONE_PAUSE;
            }
            return; /* nobody waits behind: goes on looking, ever more rarely */
        }
        if (w->busy) {
            pawl_sleep_until(pawl_earlier_(now + w->nap < w->due ? now + w->nap : w->due, w->deadline));
            w->nap = w->nap * 2;
            w->busy = false;
            pawl_backoff_init(&w->spin);
            return;
        }
    } else if ((v & PAWL_QUEUE) && PAWL_F(free_for_)(v, PAWL_KIND_READ, false)) {
        /* S is held for long. Readers that sleep behind could enter, and S's holder may wait for one. */
        pawl_futex_wake(PAWL_F(half_)(word, false), INT32_MAX, PAWL_WAKE_READ);
    }
    bool upper = PAWL_N == 64 && w->kind != PAWL_KIND_ATOMIC && (v & PAWL_A_MASK);
    PAWL_T next = (PAWL_T)((v & ~(PAWL_TURN | PAWL_HIGH)) | (w->turn ? PAWL_TURN : PAWL_ASLEEP) |
                           (upper ? PAWL_HIGH : 0));
    if (next != v && !PAWL_A(cas_relaxed)(word, &v, next)) {
        return;
    }
    w->busy = PAWL_F(sleep_)(word, next, upper, PAWL_WAKE_HEAD,
                             w->turn ? w->deadline : pawl_earlier_(w->due, w->deadline)) == 0;
    if (!w->turn) {
        v = PAWL_A(load_relaxed)(word);
        while ((v & PAWL_ASLEEP) &&
               !PAWL_A(cas_relaxed)(word, &v, (PAWL_T)((v & ~PAWL_ASLEEP) | PAWL_HEAD))) {
        }
    }
    pawl_backoff_init(&w->spin);
}

/* One that comes looks for a while, less when others sleep already. When nothing changed meanwhile it gives
 * the CPU away, in case the holder waits for it, and looks again. Returns whether to look again. */
PAWL_INLINE bool PAWL_F(look_on_)(PAWL_T v, struct PAWL_F(waiter_) * w)
{
    bool more = pawl_backoff_step(&w->spin);
#ifndef PAWL_DISABLE_PARK
    if (w->head) {
        return more;
    }
    if ((v & PAWL_QUEUE) && (!more || (w->kind == PAWL_KIND_READ && w->spin.spent >= PAWL_CROWD_LIMIT))) {
        return false;
    }
    if (!more && !w->busy && w->yields < PAWL_YIELDS) {
        w->yields++;
        pawl_yield();
        return true;
    }
#endif
    (void)v;
    return more;
}

/* The wait behind every lock operation. Returns false when the deadline has passed. Builds that only spin
 * stand in no line and claim no TURN: with more threads than cores its owner is mostly not running, and
 * everybody would burn the CPU until it is. */
PAWL_INLINE bool PAWL_F(wait_)(PAWL_WT *word, enum pawl_kind_ kind, uint64_t deadline)
{
    PAWL_T v;
    if (PAWL_F(try_seen_)(word, kind, 0, &v)) {
        return true;
    }
    struct PAWL_F(waiter_) w = {kind, false, false, false, false, 0, 0, deadline, 0, 0, PAWL_NAP_MIN, {0, 0}};
    pawl_backoff_init(&w.spin);
    for (;;) {
        while (PAWL_F(free_for_)(v, kind, w.turn)) {
            bool pass;
            PAWL_T next = (PAWL_T)(PAWL_F(without_)(&w, v, &pass) + PAWL_F(grant_)(kind));
            if (pass && w.turn && kind == PAWL_KIND_WRITE && !(v & PAWL_R_MASK)) {
                next |= PAWL_OWES; /* the lock is held for long: so it may be now */
                pass = false;
            }
            if (PAWL_A(cas_acquire)(word, &v, next)) {
                if (pass && kind == PAWL_KIND_READ && (next & PAWL_R_MASK) >= PAWL_MANY * PAWL_R1) {
                    pawl_futex_wake(PAWL_F(half_)(word, false), 1, PAWL_WAKE_READ);
                }
                if (pass) {
                    PAWL_F(pass_on_)(word);
                }
                return true;
            }
        }
        if (pawl_passed_(deadline)) {
            PAWL_F(give_up_)(word, &w);
            return false;
        }
        bool on = PAWL_F(look_on_)(v, &w);
        if (!on) {
#ifndef PAWL_DISABLE_PARK
            if (w.head) {
                PAWL_F(lead_)(word, v, &w, pawl_clock_ns());
            } else {
                PAWL_F(queue_)(word, v, &w, pawl_clock_ns());
            }
#endif
        }
        PAWL_T last = v;
        v = PAWL_A(load_relaxed)(word);
        w.busy |= on && ((v ^ last) & PAWL_HELD);
    }
}

/* S and W are held: waits until the readers have left, and acquires what they released. False when the
 * deadline has passed. */
PAWL_WAITING bool PAWL_F(wait_readers)(PAWL_WT *word, uint64_t deadline)
{
    struct pawl_backoff b;
    pawl_backoff_init(&b);
    bool marked = false;
    PAWL_T v;
    while (((v = PAWL_A(load_acquire)(word)) & PAWL_R_MASK) && !pawl_passed_(deadline)) {
        if (pawl_backoff_step(&b) || b.spent < PAWL_DRAIN_NS) {
            continue;
        }
#ifndef PAWL_DISABLE_PARK
        if (!(v & PAWL_DRAIN)) {
            if (!PAWL_A(cas_relaxed)(word, &v, (PAWL_T)(v | PAWL_DRAIN))) {
                continue;
            }
            v |= PAWL_DRAIN;
        }
        marked = true;
        PAWL_F(sleep_)(word, v, false, PAWL_WAKE_DRAIN, deadline);
#endif
    }
    bool empty = !(v & PAWL_R_MASK);
    while (marked && (v & PAWL_DRAIN) && !PAWL_A(cas_relaxed)(word, &v, (PAWL_T)(v & ~PAWL_DRAIN))) {
    }
    return empty;
}

/* 1: reached; -1: cannot be reached; 0: not yet. */
PAWL_INLINE int PAWL_F(reached_)(PAWL_T v, enum pawl_phase_ phase)
{
    PAWL_T readers = (PAWL_T)((v & PAWL_R_MASK) / PAWL_R1), atomic = (PAWL_T)((v & PAWL_A_MASK) / PAWL_A1);
    switch (phase) {
    case PAWL_PHASE_JOINED:
        return (v & PAWL_S) || readers == atomic;
    case PAWL_PHASE_ALONE:
        return atomic > 1 ? -1 : readers == 1;
    case PAWL_PHASE_CHANGE:
        return !(v & PAWL_S);
    case PAWL_PHASE_READ:
        return !(v & PAWL_W) || !atomic;
    case PAWL_PHASE_ATOMIC:
    default:
        /* W beside atomic holders: there were no readers, another went in by that and is on its way to R, and
         * is counted as a reader, but reads only when there are no atomic holders left, not the caller
         * either. */
        return !readers || (v & PAWL_W);
    }
}

PAWL_WAITING int PAWL_F(wait_phase)(PAWL_WT *word, enum pawl_phase_ phase, uint64_t deadline)
{
    struct pawl_backoff b;
    pawl_backoff_init(&b);
    bool spins = true;
    uint64_t nap = PAWL_NAP_MIN;
    int r;
    while (!(r = PAWL_F(reached_)(PAWL_A(load_acquire)(word), phase)) && !pawl_passed_(deadline)) {
        if (spins && pawl_backoff_step(&b)) {
            continue;
        }
#ifndef PAWL_DISABLE_PARK
        spins = false; /* one look after each nap: the CPU is for others */
        pawl_sleep_until(pawl_earlier_(pawl_clock_ns() + nap, deadline));
        nap = nap * 2 < PAWL_TURN_NS ? nap * 2 : PAWL_TURN_NS;
#else
        (void)nap;
#endif
    }
    return r;
}

/* Waiting under names of its own, so that a profile shows it apart from work and by kind. */
PAWL_WAITING bool PAWL_F(wait_seek)(PAWL_WT *word, uint64_t deadline)
{
    return PAWL_F(wait_)(word, PAWL_KIND_SEEK, deadline);
}

PAWL_WAITING bool PAWL_F(wait_atomic)(PAWL_WT *word, uint64_t deadline)
{
    return PAWL_F(wait_)(word, PAWL_KIND_ATOMIC, deadline);
}

PAWL_WAITING bool PAWL_F(wait_write)(PAWL_WT *word, uint64_t deadline)
{
    if (!PAWL_F(wait_)(word, PAWL_KIND_WRITE, deadline)) {
        return false;
    }
    PAWL_T v = PAWL_A(load_acquire)(word);
    if (!(v & PAWL_R_MASK)) {
        return true;
    }
    if (v & PAWL_OWES) { /* readers that only came to look; while it waits for them the mark means DRAIN */
        while (!PAWL_A(cas_relaxed)(word, &v, (PAWL_T)(v & ~PAWL_OWES))) {
        }
        PAWL_F(pass_on_)(word);
    }
    if (PAWL_F(wait_readers)(word, deadline)) {
        return true;
    }
    PAWL_F(give_)(word, PAWL_S | PAWL_W);
    return false;
}

PAWL_WAITING bool PAWL_F(wait_read)(PAWL_WT *word, uint64_t deadline)
{
    return PAWL_F(wait_)(word, PAWL_KIND_READ, deadline);
}

/* The quick step added a reader and met v: either that was allowed after all, or it is taken back and waits.
 */
PAWL_WAITING bool PAWL_F(counted_read_)(PAWL_WT *word, PAWL_T v, uint64_t deadline)
{
    if (PAWL_F(free_for_)(v, PAWL_KIND_READ, false)) {
        return true;
    }
    PAWL_F(shift_)(word, (PAWL_T)(0 - PAWL_R1), 0);
    return PAWL_F(wait_read)(word, deadline);
}

/* One that takes part from outside wants to be alone. It closes the door behind the readers inside and waits
 * for them to leave. When one of them joins instead, it steps back, and fails if it was to try only once;
 * else it waits until nobody is inside at all, in the line, where it gets its turn. */
PAWL_WAITING bool PAWL_F(wait_join)(PAWL_WT *word, uint64_t deadline, bool once)
{
    if (!PAWL_F(wait_)(word, PAWL_KIND_JOIN, deadline)) {
        return false;
    }
    int r = PAWL_F(wait_phase)(word, PAWL_PHASE_ALONE, deadline);
    if (r > 0) {
        return true;
    }
    /* the one that joined may have begun the claim phase, and this one be its last reader */
    PAWL_F(shift_)(word, (PAWL_T)(0 - PAWL_R1 - PAWL_A1), 0);
    return r < 0 && !once && PAWL_F(wait_)(word, PAWL_KIND_JOIN_ALONE, deadline);
}
