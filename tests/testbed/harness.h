/* Runs `pawl testbed` over the fakes and looks at what it leaves: output, status, processes, files. */
#ifndef PAWL_TESTS_TESTBED_HARNESS_H
#define PAWL_TESTS_TESTBED_HARNESS_H

#include <stdbool.h>
#include <stddef.h>

#define HARNESS_MAX_ARGS 32

struct harness {
    char dir[256];    /* scratch: scenario.cfg, report.json, count/, tmp/ (the run's TMPDIR) */
    char report[300]; /* dir/report.json, where --out points */
    char *out, *err;  /* what the last run printed; owned */
    int status;       /* its exit status, or 1000 + the signal that killed it */
    unsigned strays;  /* processes that it left behind, dead or alive */
};

/* Called once, before any test: the programs to run come from the environment (TESTBED, FAKE_PAWL,
 * FAKE_SUT_PROGRAM). */
void harness_init(void);

/* A cmocka setup and teardown: *state is a struct harness with a small scenario of two sides, before and
 * after. */
int harness_setup(void **state);
int harness_teardown(void **state);

/* Replaces the scenario. */
void harness_scenario(struct harness *h, const char *text);

/* Runs it with further arguments (NULL at the end) after those every run needs: scenario, programs, --out,
 * two rounds of 50 ms. sig is sent to it once `loads` drivers have started, when it is not 0. Fails the test
 * after a minute. */
void harness_run(struct harness *h, int sig, int loads, const char *const *arguments);

/* The number of drivers that were started. */
int harness_drivers(const struct harness *h);

/* Fails the test unless the run ended with that status, printed one line on standard error that has all the
 * parts (NULL at the end), left no process and no file in its TMPDIR, and no unfinished report. */
void harness_expect_failure(const struct harness *h, int status, const char *const *parts);

/* Fails the test unless the run ended well and left nothing. */
void harness_expect_success(const struct harness *h);

#endif
