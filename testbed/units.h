/* Numbers and durations as people write them in options and scenarios, and figures as the table prints them.
 */
#ifndef PAWL_TESTBED_UNITS_H
#define PAWL_TESTBED_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A decimal number without sign, low to high. The whole text must be it. */
bool tb_parse_number(const char *text, uint64_t low, uint64_t high, uint64_t *out);

/* "250us", "1ms", "2s", "1m" in microseconds, from low to high; a number alone is refused, for it could be
 * any. */
bool tb_parse_duration(const char *text, int64_t low_us, int64_t high_us, int64_t *out_us);

/* The shortest of the texts above that names exactly this duration ("1ms", not "1000us"). Returns text. */
char *tb_format_duration(char *text, size_t size, int64_t us);

/* A latency as wrk prints it: "812.00us", "3.14ms", "1.20s", "2.00m". Returns text. */
char *tb_format_latency(char *text, size_t size, double us);

/* A count with a blank between thousands: "1 020 400". Returns text. */
char *tb_format_count(char *text, size_t size, double count);

/* A ratio with three significant digits or so: "0.042", "1.80", "12.5". Returns text. */
char *tb_format_ratio(char *text, size_t size, double ratio);

#endif
