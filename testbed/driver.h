/* The driver of a round: runs `PAWL load --json` and reads its report. */
#ifndef PAWL_TESTBED_DRIVER_H
#define PAWL_TESTBED_DRIVER_H

#include "testbed/measure.h"
#include "testbed/scenario.h"
#include "testbed/supervise.h"

/* Drives 127.0.0.1:port for time_ms with the load that a scenario has for a side and fills in the sample's
 * requests, rate, latencies, errors and the report itself; *cpu_s is the CPU time the driver used. Requests
 * that failed are data, as long as one completed. service is zeroed, stopped or fresh; its command stays to
 * be read. Returns 0, or -1 with *err set. */
int tb_drive(struct tb_super *super, struct tb_service *service, const char *pawl,
             const struct tb_scenario *scenario, size_t side, unsigned port, unsigned time_ms,
             struct tb_sample *sample, double *cpu_s, struct tb_error *err);

/* Reads a report (docs of `pawl load --json`) into a sample. The text is len bytes. Returns 0, or -1 with
 * *err set: who says whose report it is. */
int tb_driver_report(const char *text, size_t len, const char *who, struct tb_sample *sample,
                     struct tb_error *err);

#endif
