/* Waiting for epoll's events and the clock, in nanoseconds. */
#ifndef PAWL_LOAD_WAIT_H
#define PAWL_LOAD_WAIT_H

#include <stdint.h>
#include <sys/epoll.h>

/* CLOCK_MONOTONIC. */
uint64_t load_now(void);

/* epoll_wait() for at most wait_ns; the number of events, 0 also for an interrupted wait. On a kernel without
 * epoll_pwait2 (before 5.11) the wait is rounded up to a millisecond. */
int load_wait(int epoll, struct epoll_event *events, int max, uint64_t wait_ns);

/* Makes the calling thread's waits end when asked: by default the kernel may add 50 us. */
void load_wait_precisely(void);

#endif
