/* The statistics as a table for people and as JSON for programs. */
#include "internal.h"

#include <inttypes.h>

static void print_time(FILE *out, uint64_t ns)
{
    static const char *const unit[] = {"ns", "us", "ms", "s"};
    double v = (double)ns;
    int u = 0;
    while (v >= 999.5 && u < 3) {
        v /= 1000;
        u++;
    }
    fprintf(out, " %6.*f %-2s", u && v < 99.95 ? 1 : 0, v, unit[u]);
}

/* The upper end of the bucket that the p-th percentile lies in, the maximum at most. */
static uint64_t percentile(const uint64_t *hist, uint64_t max, unsigned p)
{
    uint64_t total = 0, seen = 0;
    for (int i = 0; i < PAWL_STATS_BUCKETS; i++) {
        total += hist[i];
    }
    for (unsigned i = 0; i < PAWL_STATS_BUCKETS - 1; i++) {
        seen += hist[i];
        if (seen * 100 >= total * p) {
            uint64_t end = (uint64_t)2 << i;
            return end < max ? end : max;
        }
    }
    return max;
}

static bool any(const struct pawl_stats_state *s)
{
    return s->acquisitions || s->waits || s->failed || s->expired;
}

static uint64_t mean(uint64_t sum, uint64_t n)
{
    return n ? sum / n : 0;
}

static uint64_t holds(const struct pawl_stats_state *s)
{
    uint64_t n = 0;
    for (int i = 0; i < PAWL_STATS_BUCKETS; i++) {
        n += s->held_hist[i];
    }
    return n;
}

static void print_class(const struct pawl_stats_class *c, void *out_)
{
    FILE *out = out_;
    pawl_lib_print(out, c->name);
    fputc('\n', out);
    for (unsigned i = 0; i < PAWL_STATES; i++) {
        const struct pawl_stats_state *s = &c->state[i];
        if (!any(s)) {
            continue;
        }
        fprintf(out, "  %-6s %12" PRIu64 " %10" PRIu64 " %8" PRIu64 " %8" PRIu64, pawl_lib_state_name(i),
                s->acquisitions, s->waits, s->failed, s->expired);
        print_time(out, mean(s->wait_ns, s->waits));
        print_time(out, percentile(s->wait_hist, s->wait_max_ns, 99));
        print_time(out, s->wait_max_ns);
        print_time(out, mean(s->held_ns, holds(s)));
        print_time(out, s->held_max_ns);
        fputc('\n', out);
    }
    if (c->last.thread) {
        fprintf(out, "  last taken for %s by thread %ld at ", pawl_lib_state_name(c->last.state),
                c->last.thread);
        pawl_lib_print(out, c->last.file);
        fprintf(out, ":%u (", c->last.line);
        pawl_lib_print(out, c->last.function);
        fputs(")\n", out);
    }
}

void pawl_stats_print(FILE *out)
{
    fprintf(out, "lock     %12s %10s %8s %8s %9s %9s %9s %9s %9s\n", "taken", "waits", "failed", "expired",
            "wait mean", "p99", "max", "held mean", "max");
    if (!pawl_stats_snapshot(print_class, out)) {
        fputs("no watched lock was used (files that use locks must be compiled with PAWL_STATS)\n", out);
    }
    struct pawl_stats_lost lost;
    pawl_stats_losses(&lost);
    static const char *const what[] = {"addresses",
                                       "ranges of addresses",
                                       "class names",
                                       "places in the source",
                                       "holds",
                                       "unlocks of the unwatched",
                                       "pairs of locks in order",
                                       "operations in signal handlers",
                                       "for want of memory"};
    const uint64_t *n = (const uint64_t *)(const void *)&lost;
    _Static_assert(sizeof lost == sizeof what / sizeof *what * sizeof *n, "a name for every loss");
    for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
        if (n[i]) {
            fprintf(out, "not recorded: %" PRIu64 " %s\n", n[i], what[i]);
        }
    }
}

/* Only buckets that are not empty: [from ns, count]. */
static void json_histogram(FILE *out, const char *name, const uint64_t *hist)
{
    const char *comma = "";
    fprintf(out, ",\"%s\":[", name);
    for (unsigned i = 0; i < PAWL_STATS_BUCKETS; i++) {
        if (hist[i]) {
            fprintf(out, "%s[%" PRIu64 ",%" PRIu64 "]", comma, i ? (uint64_t)1 << i : 0, hist[i]);
            comma = ",";
        }
    }
    fputc(']', out);
}

static void json_state(FILE *out, const struct pawl_stats_state *s)
{
    fprintf(out,
            "{\"acquisitions\":%" PRIu64 ",\"waits\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"expired\":%" PRIu64
            ",\"wait_ns\":%" PRIu64 ",\"wait_max_ns\":%" PRIu64 ",\"held_ns\":%" PRIu64
            ",\"held_max_ns\":%" PRIu64,
            s->acquisitions, s->waits, s->failed, s->expired, s->wait_ns, s->wait_max_ns, s->held_ns,
            s->held_max_ns);
    json_histogram(out, "wait_histogram", s->wait_hist);
    json_histogram(out, "held_histogram", s->held_hist);
    fputc('}', out);
}

struct json {
    FILE *out;
    const char *comma;
};

static void json_class(const struct pawl_stats_class *c, void *json_)
{
    struct json *j = json_;
    FILE *out = j->out;
    fprintf(out, "%s\n{\"name\":", j->comma);
    j->comma = ",";
    pawl_lib_print_json(out, c->name);
    fprintf(out, ",\"named\":%s,\"states\":{", c->named ? "true" : "false");
    const char *comma = "";
    for (unsigned i = 0; i < PAWL_STATES; i++) {
        if (any(&c->state[i])) {
            fprintf(out, "%s\"%s\":", comma, pawl_lib_state_name(i));
            json_state(out, &c->state[i]);
            comma = ",";
        }
    }
    fputc('}', out);
    if (c->last.thread) {
        fprintf(out, ",\"last\":{\"thread\":%ld,\"state\":\"%s\",\"file\":", c->last.thread,
                pawl_lib_state_name(c->last.state));
        pawl_lib_print_json(out, c->last.file);
        fprintf(out, ",\"line\":%u,\"function\":", c->last.line);
        pawl_lib_print_json(out, c->last.function);
        fprintf(out, ",\"time_ns\":%" PRIu64 "}", c->last.time_ns);
    }
    fputc('}', out);
}

void pawl_stats_json(FILE *out)
{
    struct json j = {out, ""};
    struct pawl_stats_lost l;
    fprintf(out, "{\"version\":1,\"time_ns\":%" PRIu64 ",\"classes\":[", pawl_clock_ns());
    pawl_stats_snapshot(json_class, &j);
    pawl_stats_losses(&l);
    fprintf(out,
            "],\n\"lost\":{\"locks\":%" PRIu64 ",\"ranges\":%" PRIu64 ",\"classes\":%" PRIu64
            ",\"sites\":%" PRIu64 ",\"holds\":%" PRIu64 ",\"strays\":%" PRIu64 ",\"orders\":%" PRIu64
            ",\"nested\":%" PRIu64 ",\"memory\":%" PRIu64 "}}\n",
            l.locks, l.ranges, l.classes, l.sites, l.holds, l.strays, l.orders, l.nested, l.memory);
}
