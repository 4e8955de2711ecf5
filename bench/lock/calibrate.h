/* What a tick and a step of the busy loop last on this machine. */
#ifndef PAWL_BENCH_LOCK_CALIBRATE_H
#define PAWL_BENCH_LOCK_CALIBRATE_H

#include <stdbool.h>

struct bench_clock {
    bool tsc; /* ticks are those of the time stamp counter */
    double ns_per_tick;
    double steps_per_ns; /* of bench_busy() */
};

/* Measures for about 30 ms; the shortest of many tries, so that a preemption does not count. */
void bench_calibrate(struct bench_clock *c);

#endif
