/* A run: every case (a scenario with one number of SUT threads) in turn, its sides interleaved round by
 * round. */
#ifndef PAWL_TESTBED_RUN_H
#define PAWL_TESTBED_RUN_H

#include "base/machine.h"
#include "base/progress.h"
#include "testbed/measure.h"
#include "testbed/scenario.h"
#include "testbed/workdir.h"

#define TB_MAX_CASES  64
#define TB_MAX_ROUNDS 100
#define TB_LABEL_SIZE (TB_NAME_SIZE + 16)

struct tb_case {
    const struct tb_scenario *scenario;
    unsigned threads;
    char label[TB_LABEL_SIZE];                 /* "queue"; "round-robin/8" where the scenario has several */
    char programs[TB_MAX_SIDES][TB_PATH_SIZE]; /* a path for each side */
};

struct tb_plan {
    struct tb_case *cases;
    size_t n_cases;
    unsigned rounds;  /* that count, 1 to TB_MAX_ROUNDS; one more before them warms up */
    unsigned time_ms; /* of load in a round */
    unsigned port;    /* of the SUT; 0: any free one */
    bool keep;        /* leave the working directory */
    char pawl[TB_PATH_SIZE];
    struct base_progress *progress;
};

struct tb_side_result {
    char version[200];                        /* what the program says of itself; may be empty */
    char command[4096], driver_command[4096]; /* of the last round */
    double cores;              /* the SUT may use: the least of its threads, its affinity and its quota */
    unsigned killed;           /* rounds after which it did not end within the grace time */
    struct tb_sample *samples; /* rounds + 1: [0] is the warm-up */
};

struct tb_case_result {
    const struct tb_case *of;
    struct tb_side_result sides[TB_MAX_SIDES];
    char endpoint_command[4096];
    double driver_cores, endpoint_cores; /* as many as they can use */
};

struct tb_result {
    const struct tb_plan *plan;
    struct base_machine machine;
    char workdir[TB_WORKDIR_SIZE]; /* what --keep left; empty */
    struct tb_case_result *cases;  /* plan->n_cases */
    size_t n_done;                 /* cases measured to their end: all of them unless the run failed */
};

/* Runs a plan. On return nothing that was started still runs, and the working directory is gone unless it is
 * kept. Returns 0, or -1 with *err set; tb_result_free() either way. The plan outlives the result. */
int tb_run(const struct tb_plan *plan, struct tb_result *result, struct tb_error *err);

void tb_result_free(struct tb_result *result);

/* The side that runs at a place (0: first) of a round (0: the warm-up), of n: each round starts one further,
 * so two sides alternate AB, BA and three rotate ABC, BCA, CAB. */
size_t tb_run_order(unsigned round, size_t place, size_t n);

#endif
