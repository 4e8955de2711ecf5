/* The tests of the plock interface for one type of word: included by plock_test.c once for each, with T (the
 * type) and NAME(x) (x under the type's own name). */

/* The word with only these of the application's two bits set, as initially. */
static T NAME(word)(unsigned app)
{
    return (T)(uintptr_t)app;
}

static unsigned long NAME(value)(T const *w)
{
    return sizeof *w == sizeof(int) ? pl_deref_int(w) : pl_deref_long(w);
}

static void NAME(assert_free)(T const *w, unsigned app, const char *after)
{
    if (NAME(value)(w) != app) {
        fail_msg("%s: the word is %#lx, expected %#x", after, NAME(value)(w), app);
    }
}

static void NAME(assert_app_bits)(T const *w, unsigned app, const char *during)
{
    if ((NAME(value)(w) & 3) != app) {
        fail_msg("%s: the application's bits are %lu, expected %u", during, NAME(value)(w) & 3, app);
    }
}

static void NAME(take)(void *w, enum plock_state s)
{
    switch (s) {
    case PLOCK_R:
        assert_int_equal(pl_take_r((T *)w), 0);
        break;
    case PLOCK_S:
        assert_int_equal(pl_take_s((T *)w), 0);
        break;
    case PLOCK_W:
        assert_int_equal(pl_take_w((T *)w), 0);
        break;
    case PLOCK_A:
        assert_int_equal(pl_take_a((T *)w), 0);
        break;
    case PLOCK_J:
        assert_int_equal(pl_take_j((T *)w), 0);
        break;
    default:
        pl_take_r((T *)w);
        pl_rtoc((T *)w);
        break;
    }
}

static void NAME(drop)(void *w, enum plock_state s)
{
    switch (s) {
    case PLOCK_R:
        pl_drop_r((T *)w);
        break;
    case PLOCK_S:
        pl_drop_s((T *)w);
        break;
    case PLOCK_W:
        pl_drop_w((T *)w);
        break;
    case PLOCK_A:
        pl_drop_a((T *)w);
        break;
    case PLOCK_J:
        pl_drop_j((T *)w);
        break;
    default:
        pl_drop_c((T *)w);
        break;
    }
}

static void NAME(each_state_leaves_the_applications_bits)(void **state)
{
    (void)state;
    for (unsigned app = 0; app < 4; app++) {
        for (enum plock_state s = 0; s < PLOCK_STATES; s++) {
            T w = NAME(word)(app);
            NAME(take)(&w, s);
            assert_true(NAME(value)(&w) != app);
            NAME(assert_app_bits)(&w, app, plock_names[s]);
            NAME(drop)(&w, s);
            NAME(assert_free)(&w, app, plock_names[s]);
        }
    }
}

static void NAME(the_application_changes_its_bits_while_the_lock_is_held)(void **state)
{
    (void)state;
    for (enum plock_state s = 0; s < PLOCK_STATES; s++) {
        T w = NAME(word)(1);
        NAME(take)(&w, s);
        pl_or(&w, 2);
        NAME(assert_app_bits)(&w, 3, plock_names[s]);
        pl_and_noret(&w, ~1L);
        NAME(drop)(&w, s);
        NAME(assert_free)(&w, 2, plock_names[s]);
    }
}

/* What a try that does not wait says beside one holder. */
static void NAME(tries_fail_at_once_beside_who_may_stay)(void **state)
{
    (void)state;
    static const struct {
        int r, s, w, w_nowait, a; /* -1: would wait */
    } expected[PLOCK_STATES] = {
        [PLOCK_R] = {1, 1, -1, 0, -1}, [PLOCK_S] = {1, 0, 0, 0, 0},  [PLOCK_W] = {0, 0, 0, 0, 0},
        [PLOCK_A] = {0, 0, 0, 0, 1},   [PLOCK_J] = {0, 0, 0, 0, -1}, [PLOCK_C] = {0, 0, 0, 0, 0},
    };
    for (unsigned app = 0; app < 4; app++) {
        for (enum plock_state s = 0; s < PLOCK_STATES; s++) {
            T w = NAME(word)(app);
            NAME(take)(&w, s);
            unsigned long before = NAME(value)(&w);
            int got = pl_try_r(&w);
            assert_int_equal(!!got, expected[s].r);
            if (got) {
                pl_drop_r(&w);
            }
            got = pl_try_s(&w);
            assert_int_equal(!!got, expected[s].s);
            if (got) {
                pl_drop_s(&w);
            }
            assert_int_equal(!!pl_try_w_nowait(&w), expected[s].w_nowait);
            if (expected[s].w == 0) {
                assert_int_equal(!!pl_try_w(&w), 0);
            }
            if (expected[s].a >= 0) {
                got = pl_try_a(&w);
                assert_int_equal(!!got, expected[s].a);
                if (got) {
                    pl_drop_a(&w);
                }
            }
            assert_true(NAME(value)(&w) == before);
            NAME(drop)(&w, s);
            NAME(assert_free)(&w, app, plock_names[s]);
        }
    }
}

static void NAME(tries_get_a_free_lock)(void **state)
{
    (void)state;
    for (unsigned app = 0; app < 4; app++) {
        T w = NAME(word)(app);
        assert_true(pl_try_r(&w));
        pl_drop_r(&w);
        assert_true(pl_try_s(&w));
        pl_drop_s(&w);
        assert_true(pl_try_w(&w));
        NAME(assert_app_bits)(&w, app, "try_w");
        pl_drop_w(&w);
        assert_true(pl_try_w_nowait(&w));
        assert_false(pl_try_r(&w));
        pl_drop_w(&w);
        assert_true(pl_try_a(&w));
        pl_drop_a(&w);
        assert_true(pl_try_j(&w));
        assert_false(pl_try_r(&w));
        NAME(assert_app_bits)(&w, app, "try_j");
        pl_drop_j(&w);
        NAME(assert_free)(&w, app, "tries");
    }
}

/* The word tells what is held: by what others are let in. */
static void NAME(assert_held)(T *w, enum plock_state s, unsigned app, const char *how)
{
    NAME(assert_app_bits)(w, app, how);
    int r = pl_try_r(w);
    if (r) {
        pl_drop_r(w);
    }
    int seek = pl_try_s(w);
    if (seek) {
        pl_drop_s(w);
    }
    bool shared = s == PLOCK_R || s == PLOCK_S;
    if (!!r != shared || !!seek != (s == PLOCK_R)) {
        fail_msg("%s: not held as %s (word %#lx)", how, plock_names[s], NAME(value)(w));
    }
    if (s == PLOCK_A) {
        assert_true(pl_try_a(w));
        pl_drop_a(w);
    }
}

static void NAME(each_transition_leaves_exactly_its_state)(void **state)
{
    (void)state;
    for (unsigned app = 0; app < 4; app++) {
        T w = NAME(word)(app);
        pl_take_s(&w);
        pl_stow(&w);
        NAME(assert_held)(&w, PLOCK_W, app, "stow");
        pl_wtos(&w);
        NAME(assert_held)(&w, PLOCK_S, app, "wtos");
        pl_stow(&w);
        pl_wtor(&w);
        NAME(assert_held)(&w, PLOCK_R, app, "wtor");
        assert_true(pl_try_rtos(&w));
        NAME(assert_held)(&w, PLOCK_S, app, "try_rtos");
        pl_stor(&w);
        NAME(assert_held)(&w, PLOCK_R, app, "stor");
        assert_true(pl_try_rtow(&w));
        NAME(assert_held)(&w, PLOCK_W, app, "try_rtow");
        pl_wtor(&w);
        assert_true(pl_try_rtoa(&w));
        NAME(assert_held)(&w, PLOCK_A, app, "try_rtoa");
        pl_ator(&w);
        NAME(assert_held)(&w, PLOCK_R, app, "ator");
        pl_rtoj(&w);
        NAME(assert_held)(&w, PLOCK_J, app, "rtoj");
        pl_jtoc(&w);
        NAME(assert_held)(&w, PLOCK_C, app, "jtoc");
        pl_ctoa(&w);
        NAME(assert_held)(&w, PLOCK_A, app, "ctoa");
        pl_atoj(&w);
        NAME(assert_held)(&w, PLOCK_J, app, "atoj");
        pl_drop_j(&w);
        NAME(assert_free)(&w, app, "drop_j");
        pl_take_r(&w);
        pl_rtoc(&w);
        NAME(assert_held)(&w, PLOCK_C, app, "rtoc");
        pl_drop_c(&w);
        NAME(assert_free)(&w, app, "drop_c");
        pl_take_j(&w);
        pl_jtoc(&w);
        pl_drop_c(&w);
        NAME(assert_free)(&w, app, "take_j, jtoc, drop_c");
    }
}

static void NAME(a_refused_upgrade_leaves_the_caller_reading)(void **state)
{
    (void)state;
    for (unsigned app = 0; app < 4; app++) {
        T w = NAME(word)(app);
        pl_take_s(&w);
        pl_take_r(&w);
        unsigned long before = NAME(value)(&w);
        assert_false(pl_try_rtos(&w));
        assert_false(pl_try_rtow(&w));
        assert_false(pl_try_rtoa(&w));
        assert_true(NAME(value)(&w) == before);
        pl_drop_r(&w);
        NAME(assert_held)(&w, PLOCK_S, app, "refused");
        pl_drop_s(&w);
        NAME(assert_free)(&w, app, "refused");
    }
}

static void NAME(last_writer_is_who_is_alone)(void **state)
{
    (void)state;
    T w = NAME(word)(2);
    pl_take_a(&w);
    assert_true(pl_last_writer(&w));
    pl_take_a(&w);
    assert_false(pl_last_writer(&w));
    pl_drop_a(&w);
    assert_true(pl_last_writer(&w));
    pl_atoj(&w);
    assert_true(pl_last_writer(&w));
    pl_jtoc(&w);
    assert_true(pl_last_writer(&w));
    pl_drop_c(&w);
    NAME(assert_free)(&w, 2, "last_writer");
}

/* As functions, for threads. */
static int NAME(do_try_w)(void *w)
{
    return pl_try_w((T *)w);
}

static int NAME(do_try_a)(void *w)
{
    return pl_try_a((T *)w);
}

static int NAME(do_try_j)(void *w)
{
    return pl_try_j((T *)w);
}

static int NAME(do_take_w)(void *w)
{
    return 1 + pl_take_w((T *)w);
}

static int NAME(do_stow)(void *w)
{
    pl_take_s((T *)w);
    pl_stow((T *)w);
    return 1;
}

static int NAME(do_rtow)(void *w)
{
    pl_take_r((T *)w);
    return pl_try_rtow((T *)w);
}

static int NAME(do_rtoa)(void *w)
{
    pl_take_r((T *)w);
    return pl_try_rtoa((T *)w);
}

static int NAME(do_rtoj)(void *w)
{
    pl_take_r((T *)w);
    pl_rtoj((T *)w);
    return 1;
}

/* What in plock waits for the readers waits for them here; others see it coming and are refused meanwhile.
 * The application changes its bits while they wait. */
static void NAME(some_tries_wait_for_the_readers)(void **state)
{
    (void)state;
    static const struct {
        int (*ask)(void *);
        enum plock_state then;
        const char *name;
    } asks[] = {
        {NAME(do_try_w), PLOCK_W, "try_w"}, {NAME(do_take_w), PLOCK_W, "take_w"},
        {NAME(do_stow), PLOCK_W, "stow"},   {NAME(do_rtow), PLOCK_W, "try_rtow"},
        {NAME(do_try_a), PLOCK_A, "try_a"}, {NAME(do_rtoa), PLOCK_A, "try_rtoa"},
        {NAME(do_try_j), PLOCK_J, "try_j"}, {NAME(do_rtoj), PLOCK_J, "rtoj"},
    };
    for (unsigned i = 0; i < sizeof asks / sizeof *asks; i++) {
        T w = NAME(word)(1);
        struct actor a;
        pl_take_r(&w);
        actor_start(&a, asks[i].ask, &w);
        settle();
        if (actor_is_done(&a)) {
            fail_msg("%s did not wait for the reader", asks[i].name);
        }
        pl_xor(&w, 3);
        pl_drop_r(&w);
        int got = actor_end(&a);
        if (!got) {
            fail_msg("%s failed though the reader left", asks[i].name);
        }
        NAME(assert_held)(&w, asks[i].then, 2, asks[i].name);
        NAME(drop)(&w, asks[i].then);
        NAME(assert_free)(&w, 2, asks[i].name);
    }
}

/* Two readers go to A at once: both get there, neither can wait for the other to leave. */
static void NAME(readers_become_atomic_together)(void **state)
{
    (void)state;
    T w = NAME(word)(3);
    struct actor a;
    pl_take_r(&w);
    actor_start(&a, NAME(do_rtoa), &w);
    settle();
    assert_true(pl_try_rtoa(&w));
    assert_int_equal(!!actor_end(&a), 1);
    assert_false(pl_last_writer(&w));
    pl_drop_a(&w);
    pl_drop_a(&w);
    NAME(assert_free)(&w, 3, "try_rtoa by two");
}

/* Everything at random by several threads, while one keeps changing the application's bits: no exclusion
 * broken, nothing lost, the bits as they were last set. */
struct NAME(crowd) {
    T word;
    unsigned long plain[2]; /* equal whenever nobody holds W */
    unsigned long atomic;   /* changed under A */
    int stop;
    unsigned long rounds;
};

static void NAME(write)(struct NAME(crowd) * c)
{
    c->plain[0]++;
    c->plain[1]++;
}

static unsigned long NAME(read)(struct NAME(crowd) * c)
{
    return c->plain[0] == c->plain[1] ? 0 : 1;
}

static void *NAME(crowd_main)(void *arg)
{
    struct crowd_arg *a = arg;
    struct NAME(crowd) *c = a->crowd;
    T *w = &c->word;
    for (unsigned long n = 0; n < c->rounds; n++) {
        unsigned pick = plock_random(&a->seed) % 10;
        switch (pick) {
        case 0:
            pl_take_r(w);
            a->faults += NAME(read)(c);
            pl_drop_r(w);
            break;
        case 1:
            pl_take_w(w);
            NAME(write)(c), a->writes++;
            pl_drop_w(w);
            break;
        case 2: /* seen under S, true under W */
            pl_take_s(w);
            unsigned long seen = c->plain[0];
            pl_stow(w);
            a->faults += c->plain[1] != seen;
            NAME(write)(c), a->writes++;
            pl_wtos(w);
            a->faults += c->plain[0] != seen + 1;
            pl_drop_s(w);
            break;
        case 3:
            pl_take_a(w);
            pl_inc(&c->atomic), a->adds++;
            pl_drop_a(w);
            break;
        case 4:
            pl_take_r(w);
            if (pl_try_rtow(w)) {
                NAME(write)(c), a->writes++;
                pl_wtor(w);
            }
            a->faults += NAME(read)(c);
            pl_drop_r(w);
            break;
        case 5:
            pl_take_r(w);
            if (pl_try_rtos(w)) {
                pl_stow(w);
                NAME(write)(c), a->writes++;
                pl_wtos(w);
                pl_stor(w);
            }
            a->faults += NAME(read)(c);
            pl_drop_r(w);
            break;
        case 6:
            if (pl_try_w(w)) {
                NAME(write)(c), a->writes++;
                pl_drop_w(w);
            }
            break;
        case 7:
            if (pl_try_w_nowait(w)) {
                NAME(write)(c), a->writes++;
                pl_wtor(w);
                pl_drop_r(w);
            }
            break;
        case 8:
            if (pl_try_a(w)) {
                pl_inc(&c->atomic), a->adds++;
                pl_drop_a(w);
            }
            break;
        default:
            if (pl_try_s(w)) {
                a->faults += NAME(read)(c);
                pl_drop_s(w);
            }
            if (pl_try_r(w)) {
                a->faults += NAME(read)(c);
                pl_drop_r(w);
            }
            break;
        }
    }
    return NULL;
}

static void *NAME(toggle_main)(void *arg)
{
    struct crowd_arg *a = arg;
    struct NAME(crowd) *c = a->crowd;
    while (!pl_load(&c->stop)) {
        unsigned bits = plock_random(&a->seed) & 3;
        pl_xor(&c->word, bits);
        a->bits ^= bits;
        nap_us(20);
    }
    return NULL;
}

static void NAME(the_applications_bits_survive_a_crowd)(void **state)
{
    (void)state;
    static struct NAME(crowd) c;
    struct crowd_arg args[CROWD + 1];
    pthread_t threads[CROWD + 1];
    unsigned long writes = 0, adds = 0;
    memset(&c, 0, sizeof c);
    c.word = NAME(word)(2);
    c.rounds = CROWD_ROUNDS;
    for (unsigned i = 0; i <= CROWD; i++) {
        args[i] = (struct crowd_arg){.crowd = &c, .seed = i + 1, .bits = 2};
        assert_int_equal(
            pthread_create(&threads[i], NULL, i < CROWD ? NAME(crowd_main) : NAME(toggle_main), &args[i]), 0);
    }
    for (unsigned i = 0; i < CROWD; i++) {
        pthread_join(threads[i], NULL);
        assert_true(args[i].faults == 0);
        writes += args[i].writes;
        adds += args[i].adds;
    }
    pl_store(&c.stop, 1);
    pthread_join(threads[CROWD], NULL);
    assert_true(c.plain[0] == writes && c.plain[1] == writes && c.atomic == adds);
    /* a mark left by a sleeper that came too late to sleep may stand until the next release */
    pl_take_w(&c.word);
    pl_drop_w(&c.word);
    NAME(assert_free)(&c.word, args[CROWD].bits, "crowd");
}

/* The protocol of several writers: whoever reads may join, claim, and change things with the others;
 * meanwhile nobody reads, and nobody changes anything while others still claim. */
struct NAME(museum) {
    T word;
    int reading, claiming, changing;
    unsigned long changes, last;
    unsigned long rounds;
};

static void *NAME(visitor_main)(void *arg)
{
    struct crowd_arg *a = arg;
    struct NAME(museum) *m = a->crowd;
    T *w = &m->word;
    for (unsigned long n = 0; n < m->rounds; n++) {
        unsigned pick = plock_random(&a->seed) % 4;
        pl_take_r(w);
        pl_inc(&m->reading);
        a->faults += pl_load(&m->changing) != 0 || pl_load(&m->claiming) != 0;
        pl_dec(&m->reading);
        if (pick == 0) {
            pl_drop_r(w);
            continue;
        }
        if (pick == 1) {
            pl_rtoj(w);
            a->faults += pl_load(&m->reading) != 0;
            pl_jtoc(w);
        } else {
            pl_rtoc(w);
        }
        pl_inc(&m->claiming);
        a->faults += pl_load(&m->reading) != 0 || pl_load(&m->changing) != 0;
        pl_dec(&m->claiming);
        if (pick == 2) {
            pl_drop_c(w);
            continue;
        }
        pl_ctoa(w);
        pl_inc(&m->changing);
        a->faults += pl_load(&m->reading) != 0 || pl_load(&m->claiming) != 0;
        pl_inc(&m->changes), a->adds++;
        pl_dec(&m->changing);
        pl_drop_a(w);
    }
    return NULL;
}

static void NAME(readers_join_claim_and_change_together)(void **state)
{
    (void)state;
    static struct NAME(museum) m;
    struct crowd_arg args[CROWD];
    pthread_t threads[CROWD];
    unsigned long adds = 0;
    memset(&m, 0, sizeof m);
    m.word = NAME(word)(1);
    m.rounds = CROWD_ROUNDS / 4;
    for (unsigned i = 0; i < CROWD; i++) {
        args[i] = (struct crowd_arg){.crowd = &m, .seed = i + 1};
        assert_int_equal(pthread_create(&threads[i], NULL, NAME(visitor_main), &args[i]), 0);
    }
    for (unsigned i = 0; i < CROWD; i++) {
        pthread_join(threads[i], NULL);
        assert_true(args[i].faults == 0);
        adds += args[i].adds;
    }
    assert_true(m.changes == adds);
    pl_take_w(&m.word);
    pl_drop_w(&m.word);
    NAME(assert_free)(&m.word, 1, "museum");
}

static int NAME(do_ctoa)(void *w)
{
    pl_ctoa((T *)w);
    return 1;
}

/* A reader that arrives counts itself before it sees that it may not enter; the two halves of that. */
static unsigned long NAME(arrive)(T *w)
{
    return (unsigned long)(uintptr_t)pl_ldadd(w, PLOCK_LORW_SHR_BASE);
}

static void NAME(take_back)(T *w, unsigned long seen)
{
    bool got = sizeof *w == 4 ? pawl_pl_counted_read__32((pawl_word32_t *)(void *)w, (uint32_t)seen, 1)
                              : pawl_pl_counted_read__64((pawl_word64_t *)(void *)w, seen, 1);
    if (got) { /* meanwhile the lock had become free */
        pl_drop_r(w);
    }
}

/* It does not keep the claim phase open: neither for who goes on to change things nor after the last has
 * left. */
static void NAME(an_arriving_reader_does_not_keep_the_claim_phase_open)(void **state)
{
    (void)state;
    static T w;
    w = NAME(word)(1);
    struct actor a;
    pl_take_r(&w);
    pl_rtoc(&w);
    unsigned long seen = NAME(arrive)(&w);
    actor_start(&a, NAME(do_ctoa), &w);
    settle();
    NAME(take_back)(&w, seen);
    if (!reaches(&a.done, 1)) {
        fail_msg("ctoa does not end (word %#lx)", NAME(value)(&w));
    }
    actor_end(&a);
    NAME(assert_held)(&w, PLOCK_A, 1, "ctoa");
    pl_drop_a(&w);
    NAME(assert_free)(&w, 1, "drop_a");

    pl_take_r(&w);
    pl_rtoc(&w);
    seen = NAME(arrive)(&w);
    pl_drop_c(&w);
    NAME(take_back)(&w, seen);
    NAME(assert_free)(&w, 1, "drop_c beside an arriving reader");
}

/* Writers are not starved by readers that upgrade, nor by readers that follow each other. */
static void *NAME(upgrader_main)(void *arg)
{
    struct crowd_arg *a = arg;
    struct NAME(crowd) *c = a->crowd;
    while (!pl_load(&c->stop)) {
        pl_take_s(&c->word);
        pl_stow(&c->word);
        NAME(write)(c), a->writes++;
        pl_drop_w(&c->word);
    }
    return NULL;
}

static void NAME(a_writer_gets_through_upgraders)(void **state)
{
    (void)state;
    static struct NAME(crowd) c;
    struct crowd_arg args[3];
    pthread_t threads[3];
    memset(&c, 0, sizeof c);
    c.word = NAME(word)(3);
    for (unsigned i = 0; i < 3; i++) {
        args[i] = (struct crowd_arg){.crowd = &c, .seed = i + 1};
        assert_int_equal(pthread_create(&threads[i], NULL, NAME(upgrader_main), &args[i]), 0);
    }
    unsigned long writes = 0;
    for (int n = 0; n < 5; n++) {
        struct actor a;
        actor_start(&a, NAME(do_take_w), &c.word);
        if (!reaches(&a.done, 1)) {
            fail_msg("a writer starves against upgraders (word %#lx)", NAME(value)(&c.word));
        }
        actor_end(&a);
        NAME(write)(&c), writes++;
        pl_drop_w(&c.word);
    }
    pl_store(&c.stop, 1);
    for (unsigned i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        writes += args[i].writes;
    }
    assert_true(c.plain[0] == writes && c.plain[1] == writes);
    pl_take_w(&c.word);
    pl_drop_w(&c.word);
    NAME(assert_free)(&c.word, 3, "upgraders");
}

/* A lock at the very end of a page: whoever reads or writes more than its size is killed. */
static void NAME(nothing_beyond_the_word_is_touched)(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(two != MAP_FAILED);
    assert_int_equal(mprotect(two + page, page, PROT_NONE), 0);
    T *w = (T *)(void *)(two + page - sizeof *w);
    for (enum plock_state s = 0; s < PLOCK_STATES; s++) {
        struct actor a;
        NAME(take)(w, s);
        pl_try_r(w) ? pl_drop_r(w) : (void)0;
        pl_try_s(w) ? pl_drop_s(w) : (void)0;
        pl_try_w_nowait(w) ? pl_drop_w(w) : (void)0;
        actor_start(&a, NAME(do_take_w), w);
        settle();
        NAME(drop)(w, s);
        actor_end(&a);
        pl_drop_w(w);
        NAME(assert_free)(w, 0, plock_names[s]);
    }
    pl_take_r(w);
    assert_true(pl_try_rtoa(w));
    pl_ator(w);
    pl_rtoj(w);
    assert_true(pl_last_writer(w));
    pl_jtoc(w);
    pl_ctoa(w);
    pl_atoj(w);
    pl_drop_j(w);
    munmap(two, 2 * page);
}

static void NAME(arguments_are_evaluated_once)(void **state)
{
    (void)state;
    T words[64];
    for (unsigned i = 0; i < 64; i++) {
        words[i] = NAME(word)(i & 3);
    }
    T *p = words;
    pl_take_r(p++), pl_take_s(p++), pl_take_w(p++), pl_take_a(p++), pl_take_j(p++);
    assert_ptr_equal(p, words + 5);
    p = words;
    assert_true(pl_try_rtos(p++));
    pl_stow(p++), pl_wtos(p++), pl_ator(p++), pl_jtoc(p++);
    assert_ptr_equal(p, words + 5);
    p = words;
    pl_stor(p++), pl_wtor(p++), pl_stor(p++), pl_rtoj(p++), pl_ctoa(p++);
    assert_ptr_equal(p, words + 5);
    p = words;
    assert_true(pl_try_rtow(p++));
    assert_true(pl_try_rtoa(p++));
    pl_rtoc(p++), pl_jtoc(p++), pl_atoj(p++);
    assert_ptr_equal(p, words + 5);
    p = words;
    pl_drop_w(p++), pl_drop_a(p++), pl_drop_c(p++), pl_drop_c(p++);
    assert_true(pl_last_writer(p++));
    assert_ptr_equal(p, words + 5);
    pl_drop_j(--p);
    p = words + 5;
    assert_true(pl_try_r(p++) && pl_try_s(p++) && pl_try_w(p++) && pl_try_a(p++) && pl_try_j(p++));
    assert_true(pl_try_w_nowait(p++));
    assert_ptr_equal(p, words + 11);
    p = words + 5;
    pl_drop_r(p++), pl_drop_s(p++), pl_drop_w(p++), pl_drop_a(p++), pl_drop_j(p++), pl_drop_w(p++);
    for (unsigned i = 0; i < 64; i++) {
        NAME(assert_free)(&words[i], i & 3, "each dropped");
    }
}
