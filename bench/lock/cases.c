/* The table of cases. */
#include "bench/lock/cases.h"

#include <stdio.h>
#include <string.h>

/* clang-format off */
#define GRID       .threads = {2, 8, 32, 128, 512}
static const struct bench_case cases[] = {
    {.name = "uncontended", .title = "one thread: lock and unlock in each state, beside two atomic additions",
     .type = BENCH_SOLO, .threads = {1}, .few = {1}, .quick = {1}},
    {.name = "read-held", .title = "one thread: read lock and unlock while another reader is parked inside",
     .type = BENCH_HELD, .threads = {1}, .few = {1}, .quick = {1}},
    {.name = "w100-1us", .title = "all write, sections of 1 us",
     .type = BENCH_CONTEND, .write_percent = 100, .section_ns = 1000, GRID, .few = {2, 32}, .quick = {2, 32}},
    {.name = "w10-1us", .title = "10 % write, sections of 1 us",
     .type = BENCH_CONTEND, .write_percent = 10, .section_ns = 1000, GRID, .few = {2}},
    {.name = "w1-1us", .title = "1 % write, sections of 1 us",
     .type = BENCH_CONTEND, .write_percent = 1, .section_ns = 1000, GRID},
    {.name = "w100-tiny", .title = "all write, sections of a few instructions",
     .type = BENCH_CONTEND, .write_percent = 100, GRID, .few = {8, 32, 512}},
    {.name = "w10-tiny", .title = "10 % write, sections of a few instructions",
     .type = BENCH_CONTEND, .write_percent = 10, GRID, .few = {2, 8, 32, 512}, .quick = {2}},
    {.name = "w1-tiny", .title = "1 % write, sections of a few instructions",
     .type = BENCH_CONTEND, .write_percent = 1, GRID},
    {.name = "think", .title = "all write, sections of 1 us, then thinking",
     .type = BENCH_CONTEND, .write_percent = 100, .section_ns = 1000, .think_ns = 5000, .threads = {2, 8, 32},
     .few = {2, 8}, .quick = {2}},
    {.name = "starve-writer", .title = "1 thread writes, 4 read, sections of 1 us",
     .type = BENCH_CONTEND, .writers = 1, .readers = 4, .section_ns = 1000, .threads = {5}, .few = {5}},
    {.name = "starve-reader", .title = "4 threads write, 1 reads, sections of 1 us",
     .type = BENCH_CONTEND, .writers = 4, .readers = 1, .section_ns = 1000, .threads = {5}, .few = {5}},
    {.name = "sleep", .title = "a writer sleeps 50 ms inside, 4 wait to write",
     .type = BENCH_SLEEP, .threads = {1 + BENCH_SLEEPERS}, .few = {1 + BENCH_SLEEPERS},
     .quick = {1 + BENCH_SLEEPERS}},
    {.name = "custom", .title = "as --writes, --section, --think and --threads say",
     .type = BENCH_CONTEND, .write_percent = 100, .threads = {2}, .named_only = true},
};
/* clang-format on */

const struct bench_case *bench_cases(size_t *n)
{
    *n = sizeof cases / sizeof *cases;
    return cases;
}

const struct bench_case *bench_case_find(const char *name)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!strcmp(cases[i].name, name)) {
            return &cases[i];
        }
    }
    return NULL;
}

void bench_point_make(struct bench_point *p, const struct bench_case *c, unsigned threads)
{
    p->of = *c;
    p->threads = threads;
    snprintf(p->label, sizeof p->label, c->threads[1] ? "%s/%u" : "%s", c->name, threads);
}

const char *bench_misfit(const struct bench_lock *lock, const struct bench_point *p)
{
    const struct bench_case *c = &p->of;
    unsigned writers = c->writers || c->readers ? c->writers : c->write_percent > 0 ? p->threads : 0;

    if (lock->flags & BENCH_SOLO_ONLY && c->type != BENCH_SOLO) {
        return "is no lock";
    }
    if (c->type == BENCH_HELD && !(lock->flags & BENCH_SHARED)) {
        return "has no readers";
    }
    if (c->type == BENCH_SLEEP && lock->flags & BENCH_UNCHECKED) {
        return "nobody waits for it";
    }
    if (lock->flags & BENCH_ONE_WRITER &&
        (c->type == BENCH_SLEEP || (c->type == BENCH_CONTEND && writers > 1))) {
        return "takes one writing thread only";
    }
    return NULL;
}
