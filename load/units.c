/* Reading and writing quantities with units. */
#include "load/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    const char *name;
    double size;
};

bool load_read_duration(const char *text, uint64_t *ns)
{
    static const struct unit units[] = {{"", 1e9},   {"s", 1e9},  {"ms", 1e6},  {"us", 1e3},
                                        {"ns", 1.0}, {"m", 60e9}, {"h", 3600e9}};
    size_t digits = strspn(text, "0123456789"), fraction = 0;
    if (text[digits] == '.') {
        fraction = strspn(text + digits + 1, "0123456789");
        digits += 1 + fraction;
    }
    if (digits == 0 || digits > 20 || text[digits - 1] == '.' || text[0] == '.') {
        return false;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!strcmp(text + digits, units[i].name)) {
            double v = strtod(text, NULL) * units[i].size + 0.5;
            if (v > 86400e9 + 1) {
                return false;
            }
            *ns = (uint64_t)v;
            return true;
        }
    }
    return false;
}

bool load_read_number(const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
    size_t n = strlen(text);
    if (n == 0 || strspn(text, "0123456789") != n) {
        return false;
    }
    errno = 0;
    unsigned long long v = strtoull(text, NULL, 10);
    if (errno || v < low || v > high) {
        return false;
    }
    *out = v;
    return true;
}

/* With the largest unit that leaves at least 1. */
static char *write_scaled(char text[LOAD_UNIT_TEXT], double v, const struct unit *units, size_t n)
{
    size_t i = n - 1;
    while (i > 0 && v < units[i].size) {
        i--;
    }
    snprintf(text, LOAD_UNIT_TEXT, "%.2f%s", v / units[i].size, units[i].name);
    return text;
}

char *load_write_time(char text[LOAD_UNIT_TEXT], double ns)
{
    static const struct unit units[] = {{"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
    return write_scaled(text, ns, units, sizeof units / sizeof *units);
}

char *load_write_count(char text[LOAD_UNIT_TEXT], double v)
{
    static const struct unit units[] = {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}};
    return write_scaled(text, v, units, sizeof units / sizeof *units);
}

char *load_write_size(char text[LOAD_UNIT_TEXT], double bytes)
{
    static const struct unit units[] = {
        {"B", 1}, {"KB", 1024.0}, {"MB", 1048576.0}, {"GB", 1073741824.0}, {"TB", 1099511627776.0}};
    return write_scaled(text, bytes, units, sizeof units / sizeof *units);
}
