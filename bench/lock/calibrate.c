/* Calibration of the cheap clock and of the busy loop. */
#include "bench/lock/calibrate.h"

#include "base/clock.h"
#include "bench/lock/lock.h"

#if defined(__x86_64__) || defined(__i386__)
#    include <cpuid.h>
#endif

#define CLOCK_NS   20000000
#define BUSY_STEPS 20000u
#define BUSY_TRIES 300

/* The counter runs evenly and never stops (CPUID 8000_0007h, EDX bit 8). */
static bool tsc_is_invariant(void)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned a, b, c, d;

    return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
#else
    return false;
#endif
}

static double ns_per_tick(void)
{
    int64_t start_ns = base_now_ns(), ns;
    uint64_t start = bench_ticks(true);

    do {
        ns = base_now_ns() - start_ns;
    } while (ns < CLOCK_NS);
    return (double)ns / (double)(bench_ticks(true) - start);
}

void bench_calibrate(struct bench_clock *c)
{
    int64_t best = INT64_MAX;

    c->tsc = tsc_is_invariant();
    c->ns_per_tick = c->tsc ? ns_per_tick() : 1;
    for (int i = 0; i < BUSY_TRIES; i++) {
        int64_t start = base_now_ns(), took;

        bench_busy(BUSY_STEPS);
        took = base_now_ns() - start;
        best = took < best ? took : best;
    }
    c->steps_per_ns = BUSY_STEPS / (double)(best > 0 ? best : 1);
}
