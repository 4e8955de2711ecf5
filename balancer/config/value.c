/* Strict reading of numbers: no sign, no blank, no overflow, nothing behind. */
#include "balancer/config/value.h"

#include <stdint.h>
#include <string.h>

/* Reads digits up to *end; a value above limit stays at limit + 1 however many digits follow. */
static bool read_digits(const char *text, uint64_t limit, uint64_t *value, const char **end)
{
    uint64_t v = 0;

    for (*end = text; **end >= '0' && **end <= '9'; ++*end) {
        v = v * 10 + (uint64_t)(**end - '0');
        if (v > limit) {
            v = limit + 1;
        }
    }
    *value = v;
    return *end != text;
}

enum cfg_value_result cfg_number(const char *text, long min, long max, long *out)
{
    const char *end;
    uint64_t v;

    if (!read_digits(text, (uint64_t)max, &v, &end) || *end) {
        return CFG_VALUE_SYNTAX;
    }
    if (v > (uint64_t)max || v < (uint64_t)min) {
        return CFG_VALUE_RANGE;
    }
    *out = (long)v;
    return CFG_VALUE_OK;
}

enum cfg_value_result cfg_time(const char *text, long *ms)
{
    static const struct {
        const char *suffix;
        uint64_t factor;
    } units[] = {{"", 1}, {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
    const char *end;
    uint64_t v;

    /* The limit holds in the smallest unit; with any larger factor the product still fits in 64 bits. */
    if (!read_digits(text, (uint64_t)CFG_MAX_TIME * 1000, &v, &end)) {
        return CFG_VALUE_SYNTAX;
    }
    if (!strcmp(end, "us")) {
        v = (v + 999) / 1000;
        end = "";
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!strcmp(end, units[i].suffix)) {
            if (v > (uint64_t)CFG_MAX_TIME / units[i].factor) {
                return CFG_VALUE_RANGE;
            }
            *ms = (long)(v * units[i].factor);
            return CFG_VALUE_OK;
        }
    }
    return CFG_VALUE_SYNTAX;
}
