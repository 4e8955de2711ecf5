/* Durations, counts and sizes as people write them: 500ms, 12.3k, 4.5MB. */
#ifndef PAWL_LOAD_UNITS_H
#define PAWL_LOAD_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOAD_UNIT_TEXT 32 /* room enough for any text written here */

/* Reads a duration such as 2, 2s, 1.5s, 500ms, 100us, 1m or 1h (without a unit: seconds) into nanoseconds.
 * False for anything else, a negative one, or one above a day. */
bool load_read_duration(const char *text, uint64_t *ns);

/* Reads a whole number in low..high, decimal digits only. */
bool load_read_number(const char *text, uint64_t low, uint64_t high, uint64_t *out);

/* Each writes into text and returns it: a time given in ns (635.91us), a count (56.20k), a size in bytes
 * (17.76GB, powers of 1024). */
char *load_write_time(char text[LOAD_UNIT_TEXT], double ns);
char *load_write_count(char text[LOAD_UNIT_TEXT], double v);
char *load_write_size(char text[LOAD_UNIT_TEXT], double bytes);

#endif
