/* Time and sleep, as the lock's source sees them. */
#define PAWL_BACKEND_HEADER "sim/backend.h"
#include "pawl/atomic.h"
#include "sim/ask.h"
#include "sim/thread.h"

#include <errno.h>

uint64_t sim_words[SIM_PLACES];

/* Of a thread, from the beginning of an operation on. */
enum { TIME, LEAPS, SLEEPS };
#define LEAP       10000000u
#define FIRST_TIME 1000u

void sim_operation(unsigned leaps, unsigned sleeps)
{
    uint64_t *local = sim_local();
    local[TIME] += local[TIME] ? 0 : FIRST_TIME;
    local[LEAPS] = leaps;
    local[SLEEPS] = sleeps;
}

uint64_t sim_clock(void)
{
    uint64_t *local = sim_local();
    if (local[LEAPS] && sim_choose(2)) {
        local[LEAPS]--;
        local[TIME] += LEAP;
    }
    return local[TIME];
}

/* Between two looks at something that nobody tells of. */
void sim_nap(void)
{
    uint64_t *local = sim_local();
    if (local[LEAPS] && sim_choose(2)) {
        local[LEAPS]--;
        local[TIME] += LEAP;
        return;
    }
    sim_pause(!local[LEAPS]);
}

static unsigned half_of(const uint32_t *half)
{
    return ((uintptr_t)half & 4) != 0;
}

int sim_park(const uint32_t *half, uint32_t value, unsigned mask, uint64_t deadline)
{
    uint64_t *local = sim_local();
    unsigned place = sim_place_of(half), upper = half_of(half);
    bool timed = deadline != UINT64_MAX;
    if (!local[SLEEPS]) {
        sim_bound();
    }
    local[SLEEPS]--;
    if (timed && local[TIME] >= deadline) {
        return ETIMEDOUT;
    }
    int why = sim_futex_wait(place, place + 1 + upper, (uint64_t)value << (32 * upper),
                             (uint64_t)UINT32_MAX << (32 * upper), mask, timed && local[LEAPS]);
    if (why == ETIMEDOUT) {
        local[LEAPS]--;
        local[TIME] = deadline;
    }
    return why;
}

int sim_unpark(const uint32_t *half, int n, unsigned mask)
{
    return sim_futex_wake(sim_place_of(half) + 1 + half_of(half), (unsigned)n, mask);
}
