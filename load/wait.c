/* Waiting with the precision that latencies of some tens of microseconds need. */
#include "load/wait.h"

#include <errno.h>
#include <limits.h>
#include <sys/prctl.h>
#include <time.h>

uint64_t load_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int load_wait(int epoll, struct epoll_event *events, int max, uint64_t wait_ns)
{
    struct timespec t = {.tv_sec = (time_t)(wait_ns / 1000000000), .tv_nsec = (long)(wait_ns % 1000000000)};
    int n = epoll_pwait2(epoll, events, max, &t, NULL);
    if (n < 0 &&
        (errno == ENOSYS || errno == EPERM)) { /* EPERM: a container's filter that does not know the call */
        uint64_t ms = (wait_ns + 999999) / 1000000;
        n = epoll_wait(epoll, events, max, ms < INT_MAX ? (int)ms : INT_MAX);
    }
    return n < 0 ? 0 : n;
}

void load_wait_precisely(void)
{
    prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
}
