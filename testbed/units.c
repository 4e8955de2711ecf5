/* Numbers and durations, parsed and printed. */
#include "testbed/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct unit {
    const char *name;
    int64_t us;
} units[] = {{"m", 60000000}, {"s", 1000000}, {"ms", 1000}, {"us", 1}};

/* Reads digits from *text on and moves it behind them; false when there is none or the number exceeds high.
 */
static bool digits(const char **text, uint64_t high, uint64_t *out)
{
    const char *c = *text;
    uint64_t n = 0;

    for (; *c >= '0' && *c <= '9'; c++) {
        uint64_t digit = (uint64_t)(*c - '0');

        if (n > (high - digit) / 10 || digit > high) {
            return false;
        }
        n = n * 10 + digit;
    }
    if (c == *text) {
        return false;
    }
    *text = c;
    *out = n;
    return true;
}

bool tb_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
    return digits(&text, high, out) && !*text && *out >= low;
}

bool tb_parse_duration(const char *text, int64_t low_us, int64_t high_us, int64_t *out_us)
{
    uint64_t n;

    if (!digits(&text, INT64_MAX / 60000000, &n)) {
        return false;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!strcmp(text, units[i].name)) {
            *out_us = (int64_t)n * units[i].us;
            return *out_us >= low_us && *out_us <= high_us;
        }
    }
    return false;
}

char *tb_format_duration(char *text, size_t size, int64_t us)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (us % units[i].us == 0 && (us || units[i].us == 1000)) {
            snprintf(text, size, "%lld%s", (long long)(us / units[i].us), units[i].name);
            break;
        }
    }
    return text;
}

char *tb_format_latency(char *text, size_t size, double us)
{
    if (isnan(us)) {
        snprintf(text, size, "-");
    } else if (us < 999.995) {
        snprintf(text, size, "%.2fus", us);
    } else if (us < 999995) {
        snprintf(text, size, "%.2fms", us / 1e3);
    } else if (us < 59995000) {
        snprintf(text, size, "%.2fs", us / 1e6);
    } else {
        snprintf(text, size, "%.2fm", us / 6e7);
    }
    return text;
}

char *tb_format_count(char *text, size_t size, double count)
{
    char plain[32];
    size_t used = 0, len;

    if (isnan(count) || count < 0 || count > 1e18) {
        snprintf(text, size, "-");
        return text;
    }
    snprintf(plain, sizeof plain, "%.0f", count);
    len = strlen(plain);
    for (size_t i = 0; i < len && used + 2 < size; i++) {
        if (i && (len - i) % 3 == 0) {
            text[used++] = ' ';
        }
        text[used++] = plain[i];
    }
    if (size) {
        text[used] = 0;
    }
    return text;
}

char *tb_format_ratio(char *text, size_t size, double ratio)
{
    if (isnan(ratio)) {
        snprintf(text, size, "-");
    } else {
        snprintf(text, size, "%.*f", ratio < 0.0995 ? 3 : ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0, ratio);
    }
    return text;
}
