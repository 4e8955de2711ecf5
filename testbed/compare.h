/* What the rounds of a case come to: a figure for each side, ratios with their intervals, a verdict that is
 * as strong as the interval, and remarks on what makes the figures doubtful. Pure functions over results. */
#ifndef PAWL_TESTBED_COMPARE_H
#define PAWL_TESTBED_COMPARE_H

#include "base/stats.h"
#include "testbed/run.h"

#define TB_LEVEL          0.95
#define TB_RESAMPLES      10000
#define TB_SEED           1
#define TB_VERDICT_SIZE   400
#define TB_MAX_REMARKS    16
#define TB_REMARK_SIZE    300

/* Fewer rounds bear no verdict: of five, the interval from the smallest to the largest ratio holds the true
 * median in 94 of 100 cases; of four, in 88. */
#define TB_VERDICT_ROUNDS 5

/* An interval must lie beyond this for a difference to be claimed: where code and data happen to lie moves as
 * much. */
#define TB_MARGIN         0.02

/* A side's figure: the median of its rounds, or for errors their sum. */
double tb_side_value(const struct tb_case_result *c, size_t side, enum tb_measure m, unsigned rounds);

/* The ratio of a pair of sides: median of the rounds' ratios and bootstrap interval. False, and all NaN, when
 * a round has none, and for errors. */
bool tb_pair_ratio(const struct tb_case_result *c, const struct tb_pair *pair, enum tb_measure m,
                   unsigned rounds, struct base_interval *out);

/* Writes the verdict of a pair, a sentence without its full stop. Returns text. */
char *tb_verdict(const struct tb_case_result *c, const struct tb_pair *pair, unsigned rounds,
                 char text[TB_VERDICT_SIZE]);

/* Writes what a reader must know before trusting a case's figures (errors, a driver at its limit, ...), a
 * sentence each. Returns how many there are. */
size_t tb_remarks(const struct tb_case_result *c, unsigned rounds, char text[TB_MAX_REMARKS][TB_REMARK_SIZE]);

#endif
