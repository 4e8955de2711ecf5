/* Time and sleep, as the lock's source sees them. */
#define PAWL_BACKEND_HEADER "sim/backend.h"
#include "pawl/atomic.h"
#include "sim/ask.h"
#include "sim/thread.h"

#include <errno.h>

uint64_t sim_words[SIM_PLACES];

#define LEAP       10000000u
#define FIRST_TIME 1000u

void sim_operation(unsigned number, const struct sim_bounds *bounds)
{
    struct sim_own *own = sim_own();
    own->time += own->time ? 0 : FIRST_TIME;
    own->left = *bounds;
    own->napped = false;
    own->operation = (uint8_t)number;
}

static bool leaps(struct sim_own *own)
{
    if (!own->left.leaps || !sim_choose_about(2, SIM_NOTE_LEAP)) {
        return false;
    }
    own->left.leaps--;
    own->time += LEAP;
    return true;
}

uint64_t sim_clock(void)
{
    leaps(sim_own());
    return sim_own()->time;
}

/* Between two looks at something that nobody tells of. Its clock leaps once more, when it has leapt as often
 * as it may by choice: time does not stand still for one that looks again and again, and may be all that it
 * waits for. */
void sim_nap(void)
{
    struct sim_own *own = sim_own();
    bool later = leaps(own);
    if (!later && !own->left.leaps && !own->napped) {
        own->napped = true;
        own->time += LEAP;
        later = true;
    }
    if (later) { /* looks again, be it at the same */
        sim_spin()->index = SIM_NONE;
    } else {
        sim_pause(!own->left.leaps);
    }
}

static unsigned half_of(const uint32_t *half)
{
    return ((uintptr_t)half & 4) != 0;
}

int sim_park(const uint32_t *half, uint32_t value, unsigned mask, uint64_t deadline)
{
    struct sim_own *own = sim_own();
    unsigned place = sim_place_of(half), upper = half_of(half);
    bool timed = deadline != UINT64_MAX;
    if (!own->left.sleeps) {
        sim_bound();
    }
    own->left.sleeps--;
    bool over = timed && own->time >= deadline; /* the kernel compares all the same */
    int why = sim_futex_wait(place, place + 1 + upper, (uint64_t)value << (32 * upper),
                             (uint64_t)UINT32_MAX << (32 * upper), mask,
                             over                          ? SIM_EXPIRES
                             : timed && own->left.timeouts ? SIM_WILL_EXPIRE
                             : timed && own->left.leaps    ? SIM_MAY_EXPIRE
                                                           : SIM_UNTIMED);
    if (why == ETIMEDOUT && !over) {
        own->left.leaps -= own->left.leaps > 0;
        own->time = deadline;
    }
    return why;
}

int sim_unpark(const uint32_t *half, int n, unsigned mask)
{
    return sim_futex_wake(sim_place_of(half) + 1 + half_of(half), (unsigned)n, mask);
}
