/* Numbers and times of the configuration language as values. Pure functions. */
#ifndef PAWL_BALANCER_CONFIG_VALUE_H
#define PAWL_BALANCER_CONFIG_VALUE_H

#include <stdbool.h>

#define CFG_MAX_NUMBER 2147483647L
#define CFG_MAX_TIME   2147483647L /* ms, nearly 25 days */

enum cfg_value_result {
    CFG_VALUE_OK,
    CFG_VALUE_SYNTAX, /* not a number at all */
    CFG_VALUE_RANGE   /* a number too small or too large */
};

/* Decimal digits only, min..max with 0 <= min and max <= CFG_MAX_NUMBER. */
enum cfg_value_result cfg_number(const char *text, long min, long max, long *out);

/* A time with one of the suffixes us ms s m h d, or none for ms, as milliseconds. Parts of a millisecond are
 * rounded up, as HAProxy does. At most CFG_MAX_TIME. */
enum cfg_value_result cfg_time(const char *text, long *ms);

#endif
