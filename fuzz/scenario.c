/* Any bytes as a scenario of the testbed: refused with one bounded sentence, or accepted within every limit.
 */
#include "testbed/scenario.h"

#include "fuzz/fuzz.h"

#include <string.h>

static void check(const struct tb_scenario *s)
{
    FUZZ_HOLDS(s->n_sides >= 1 && s->n_sides <= TB_MAX_SIDES);
    FUZZ_HOLDS(s->n_pairs <= TB_MAX_PAIRS);
    FUZZ_HOLDS(s->n_threads >= 1 && s->n_threads <= TB_MAX_THREAD_COUNTS);
    FUZZ_HOLDS(s->endpoints >= 1 && s->endpoints <= TB_MAX_ENDPOINTS);
    FUZZ_HOLDS(s->connections >= 1 && s->driver_threads >= 1);
    FUZZ_HOLDS(s->endpoint_delay_us >= 0 && s->driver_timeout_us >= 0);
    for (size_t i = 0; i < s->n_sides; i++) {
        FUZZ_HOLDS(memchr(s->sides[i].name, 0, TB_NAME_SIZE) && s->sides[i].name[0]);
        FUZZ_HOLDS(memchr(s->sides[i].binary, 0, TB_PATH_SIZE) && s->sides[i].binary[0]);
        FUZZ_HOLDS(s->sides[i].connections >= 1);
        for (size_t k = 0; k < i; k++) {
            FUZZ_HOLDS(strcmp(s->sides[i].name, s->sides[k].name) != 0);
        }
    }
    for (size_t i = 0; i < s->n_pairs; i++) {
        FUZZ_HOLDS(s->pairs[i].of < s->n_sides && s->pairs[i].against < s->n_sides);
    }
    for (size_t i = 0; i < s->n_threads; i++) {
        FUZZ_HOLDS(s->threads[i] >= 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tb_scenario s;
    struct tb_error err = {0};
    memset(&s, 0, sizeof s);
    if (tb_scenario_parse((const char *)data, size, "fuzz.cfg", &s, &err) == 0) {
        check(&s);
    } else {
        FUZZ_HOLDS(memchr(err.text, 0, sizeof err.text) && err.text[0]);
    }
    return 0;
}
