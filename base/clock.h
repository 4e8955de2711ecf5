/* The one clock that measured spans and deadlines are read from. */
#ifndef PAWL_BASE_CLOCK_H
#define PAWL_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC in nanoseconds. Any thread. */
static inline int64_t base_now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* The time left until deadline_ns as poll()'s timeout: whole milliseconds, rounded up, 0 when it has passed.
 */
static inline int base_poll_ms(int64_t deadline_ns)
{
    int64_t left = deadline_ns - base_now_ns();

    if (left <= 0) {
        return 0;
    }
    left = (left + 999999) / 1000000;
    return left > INT32_MAX ? INT32_MAX : (int)left;
}

#endif
