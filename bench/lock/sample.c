/* From counters and histograms to figures. */
#include "bench/lock/sample.h"

#include <math.h>
#include <stdlib.h>

const struct bench_measure_info bench_measures[BENCH_MEASURES] = {
    [BENCH_OPS] = {"ops_per_s", BENCH_RATE},
    [BENCH_CPU_OP] = {"cpu_ns_per_op", BENCH_NS},
    [BENCH_CORES] = {"cores", BENCH_RATIO},
    [BENCH_P50] = {"wait_p50_ns", BENCH_NS},
    [BENCH_P90] = {"wait_p90_ns", BENCH_NS},
    [BENCH_P99] = {"wait_p99_ns", BENCH_NS},
    [BENCH_P999] = {"wait_p99.9_ns", BENCH_NS},
    [BENCH_LONGEST] = {"wait_longest_ns", BENCH_NS},
    [BENCH_UNSERVED] = {"threads_unserved", BENCH_COUNT},
    [BENCH_JAIN] = {"jain", BENCH_RATIO},
    [BENCH_READ_OPS] = {"read_ops_per_s", BENCH_RATE},
    [BENCH_READ_P50] = {"read_wait_p50_ns", BENCH_NS},
    [BENCH_READ_P99] = {"read_wait_p99_ns", BENCH_NS},
    [BENCH_READ_P999] = {"read_wait_p99.9_ns", BENCH_NS},
    [BENCH_READ_LONGEST] = {"read_wait_longest_ns", BENCH_NS},
    [BENCH_WRITE_OPS] = {"write_ops_per_s", BENCH_RATE},
    [BENCH_WRITE_P50] = {"write_wait_p50_ns", BENCH_NS},
    [BENCH_WRITE_P99] = {"write_wait_p99_ns", BENCH_NS},
    [BENCH_WRITE_P999] = {"write_wait_p99.9_ns", BENCH_NS},
    [BENCH_WRITE_LONGEST] = {"write_wait_longest_ns", BENCH_NS},
    [BENCH_SOLO_READ] = {"read_ns", BENCH_NS},
    [BENCH_SOLO_SEEK] = {"seek_ns", BENCH_NS},
    [BENCH_SOLO_WRITE] = {"write_ns", BENCH_NS},
    [BENCH_SOLO_ATOMIC] = {"atomic_ns", BENCH_NS},
    [BENCH_RATIO_READ] = {"read_by_two_atomics", BENCH_RATIO},
    [BENCH_RATIO_SEEK] = {"seek_by_two_atomics", BENCH_RATIO},
    [BENCH_RATIO_WRITE] = {"write_by_two_atomics", BENCH_RATIO},
    [BENCH_RATIO_ATOMIC] = {"atomic_by_two_atomics", BENCH_RATIO},
    [BENCH_TWO_ATOMICS] = {"two_atomics_ns", BENCH_NS},
    [BENCH_WAITERS_CPU] = {"waiters_cpu_ns_per_50ms", BENCH_NS},
    [BENCH_HAND_OFF_P50] = {"hand_off_p50_ns", BENCH_NS},
    [BENCH_HAND_OFF_P99] = {"hand_off_p99_ns", BENCH_NS},
};

double bench_jain(const double *share, size_t n)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < n; i++) {
        sum += share[i];
        squares += share[i] * share[i];
    }
    return squares > 0 ? sum * sum / ((double)n * squares) : NAN;
}

/* The waits of one kind, or of both where kind is 2, into five measures from `first` on; p90 is NULL where it
 * is not asked for. */
struct waits {
    enum bench_measure p50, p90, p99, p999, longest;
    bool has_p90;
};

static void take_waits(struct bench_sample *s, struct bench_trial *t, int kind, struct base_hist *all,
                       const struct waits *to)
{
    uint64_t longest = 0;

    base_hist_init(all);
    for (unsigned i = 0; i < t->point->threads; i++) {
        struct bench_seat *seat = &t->seats[i];

        for (int k = 0; k < 2; k++) {
            if (kind != 2 && kind != k) {
                continue;
            }
            base_hist_merge(all, &seat->wait[k]);
            if (seat->open_ns[k]) {
                base_hist_add(all, seat->open_ns[k]);
            }
            longest = seat->longest_ns[k] > longest ? seat->longest_ns[k] : longest;
        }
    }
    if (!all->n) {
        return;
    }
    s->v[to->p50] = (double)base_hist_percentile(all, 50);
    s->v[to->p99] = (double)base_hist_percentile(all, 99);
    s->v[to->p999] = (double)base_hist_percentile(all, 99.9);
    if (to->has_p90) {
        s->v[to->p90] = (double)base_hist_percentile(all, 90);
    }
    s->v[to->longest] = (double)(all->max > longest ? all->max : longest);
}

/* The threads' operations while it was measured. */
static void take_ops(struct bench_sample *s, const struct bench_trial *t)
{
    double share[BENCH_MAX_THREADS], reads = 0, writes = 0, unserved = 0;
    double seconds = (double)t->window_ns / 1e9;

    for (unsigned i = 0; i < t->point->threads; i++) {
        const struct bench_seat *seat = &t->seats[i];
        double r = (double)(seat->ops_to[0] - seat->ops_from[0]);
        double w = (double)(seat->ops_to[1] - seat->ops_from[1]);

        reads += r;
        writes += w;
        share[i] = r + w;
        unserved += share[i] <= 0;
    }
    s->v[BENCH_OPS] = (reads + writes) / seconds;
    s->v[BENCH_READ_OPS] = reads / seconds;
    s->v[BENCH_WRITE_OPS] = writes / seconds;
    s->v[BENCH_CORES] = (double)t->cpu_ns / (double)t->window_ns;
    s->v[BENCH_CPU_OP] = reads + writes > 0 ? (double)t->cpu_ns / (reads + writes) : NAN;
    s->v[BENCH_UNSERVED] = unserved;
    s->v[BENCH_JAIN] = bench_jain(share, t->point->threads);
}

/* Both words have been incremented by every write, and no section found them apart. */
static void take_check(struct bench_sample *s, const struct bench_trial *t)
{
    uint64_t writes = 0, broken = 0;

    s->checked = t->quiet && !(t->lock->flags & BENCH_UNCHECKED);
    s->unchecked = !t->quiet && !(t->lock->flags & BENCH_UNCHECKED);
    if (!s->checked) {
        return;
    }
    for (unsigned i = 0; i < t->point->threads; i++) {
        writes += t->seats[i].worker.ops[1];
        broken += t->seats[i].worker.broken;
    }
    s->broken =
        t->sum_first != writes || t->sum_second != writes || (broken && !(t->lock->flags & BENCH_TORN_READS));
}

static void take_contend(struct bench_sample *s, struct bench_trial *t)
{
    static const struct waits all = {BENCH_P50, BENCH_P90, BENCH_P99, BENCH_P999, BENCH_LONGEST, true};
    static const struct waits reads = {BENCH_READ_P50,     0,    BENCH_READ_P99, BENCH_READ_P999,
                                       BENCH_READ_LONGEST, false};
    static const struct waits writes = {BENCH_WRITE_P50,     0,    BENCH_WRITE_P99, BENCH_WRITE_P999,
                                        BENCH_WRITE_LONGEST, false};
    struct base_hist *h = malloc(sizeof *h);

    take_ops(s, t);
    take_check(s, t);
    if (h) {
        take_waits(s, t, 2, h, &all);
        take_waits(s, t, 0, h, &reads);
        take_waits(s, t, 1, h, &writes);
        free(h);
    }
}

static void take_solo(struct bench_sample *s, const struct bench_trial *t)
{
    for (int k = 0; k < BENCH_KINDS; k++) {
        s->v[BENCH_SOLO_READ + k] = t->solo_ns[k];
        s->v[BENCH_RATIO_READ + k] = t->solo_ratio[k];
    }
    s->v[BENCH_TWO_ATOMICS] = t->atomics_ns;
}

static void take_sleep(struct bench_sample *s, const struct bench_trial *t)
{
    double held = (double)t->held_ns;

    s->v[BENCH_WAITERS_CPU] = (double)t->waiters_cpu_ns / held * (BENCH_HOLD_MS * 1e6);
    s->v[BENCH_CORES] = (double)t->waiters_cpu_ns / held;
    s->v[BENCH_HAND_OFF_P50] = (double)base_hist_percentile(&t->hand_off, 50);
    s->v[BENCH_HAND_OFF_P99] = (double)base_hist_percentile(&t->hand_off, 99);
}

void bench_sample_take(struct bench_sample *s, struct bench_trial *t, enum bench_end end)
{
    *s = (struct bench_sample){.killed = end == BENCH_KILLED, .measured = t->measured};
    for (int m = 0; m < BENCH_MEASURES; m++) {
        s->v[m] = NAN;
    }
    if (!t->measured) {
        return;
    }
    switch (t->point->of.type) {
    case BENCH_SOLO:
    case BENCH_HELD:
        take_solo(s, t);
        break;
    case BENCH_CONTEND:
        take_contend(s, t);
        break;
    case BENCH_SLEEP:
        take_sleep(s, t);
        break;
    }
}

bool bench_figure(const struct bench_sample *rounds, size_t n, enum bench_measure m,
                  struct base_interval *out)
{
    double v[BENCH_MAX_ROUNDS];
    size_t have = 0;

    for (size_t i = 0; i < n && i < BENCH_MAX_ROUNDS; i++) {
        if (!isnan(rounds[i].v[m])) {
            v[have++] = rounds[i].v[m];
        }
    }
    return base_bootstrap_median(v, have, 0.95, 2000, 1, out);
}
