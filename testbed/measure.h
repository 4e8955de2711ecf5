/* What is measured in a round: one table of measures, from which the printed table, the comparison and
 * report.json are all made. A round's sample is one value for each. */
#ifndef PAWL_TESTBED_MEASURE_H
#define PAWL_TESTBED_MEASURE_H

#include "base/usage.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum tb_measure {
    TB_RATE,
    TB_P50,
    TB_P90,
    TB_P99,
    TB_P999,
    TB_MAX,
    TB_AVG,
    TB_STDEV,
    TB_SUT_CPU,
    TB_REQUEST_CPU,
    TB_REQUEST_USER,
    TB_REQUEST_SYSTEM,
    TB_SUT_MEMORY,
    TB_ERR_CONNECT,
    TB_ERR_READ,
    TB_ERR_WRITE,
    TB_ERR_TIMEOUT,
    TB_ERR_STATUS,
    TB_DRIVER_CPU,
    TB_ENDPOINT_CPU,
    TB_MACHINE_BUSY,
    TB_MACHINE_STOLEN,
    TB_MACHINE_OTHERS,
    TB_MEASURES
};

enum tb_unit { TB_PER_SECOND, TB_LATENCY_US, TB_PERCENT, TB_CPU_US, TB_KIB, TB_ERRORS };

struct tb_measure_info {
    const char *key;          /* in report.json */
    const char *group, *name; /* the row's label; group is NULL where the row above has it */
    enum tb_unit unit;
    bool in_table;
};

extern const struct tb_measure_info tb_measures[TB_MEASURES];

/* One round of one side. NaN: no value. */
struct tb_sample {
    double v[TB_MEASURES];
    double seconds;  /* between the two readings of the CPU times */
    double requests; /* completed */
    size_t place;    /* 0: it ran first in its round */
    json_t *driver;  /* the driver's report as it came; owned */
};

/* What is read before and after the load. */
struct tb_reading {
    int64_t at_ns;
    struct base_cpu_time sut;
    int64_t endpoints_ns; /* all of them */
    struct base_machine_time machine;
};

/* Reads them. endpoints are n processes. Returns 0, or a negative errno and *who set to what could not be
 * read. */
int tb_reading_take(struct tb_reading *r, pid_t sut, const pid_t *endpoints, size_t n, const char **who);

/* Fills in what follows from two readings. The sample's requests are set; sut_cores and endpoint_cores are
 * the cores they may use, driver_cpu_s the driver's CPU time in seconds, driver_cores likewise. */
void tb_sample_usage(struct tb_sample *sample, const struct tb_reading *from, const struct tb_reading *to,
                     double sut_cores, double endpoint_cores, double driver_cpu_s, double driver_cores);

/* All values NaN, nothing owned. */
void tb_sample_clear(struct tb_sample *sample);

/* The value as the table prints it. Returns text. */
char *tb_measure_format(enum tb_unit unit, double value, char *text, size_t size);

#endif
