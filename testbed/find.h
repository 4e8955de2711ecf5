/* Where things lie: this program itself, pawld's variants, the scenarios; in a build tree and once installed.
 */
#ifndef PAWL_TESTBED_FIND_H
#define PAWL_TESTBED_FIND_H

#include "testbed/scenario.h"

/* The path of the running program. Returns 0, or -1 with *err set. */
int tb_find_self(char path[TB_PATH_SIZE], struct tb_error *err);

/* Resolves a side's program. A name with a slash is a path as it stands; any other is looked for in dir or,
 * where that is NULL, beside the running program and in ../balancer from there. Returns 0, or -1 with *err
 * set when no executable file is there. */
int tb_find_program(const char *name, const char *dir, char path[TB_PATH_SIZE], struct tb_error *err);

/* The directory of scenarios: dir, or where that is NULL the first that exists of ../testbed/scenarios and
 * ../share/pawl/scenarios from the running program, and the installed one. Returns 0, or -1 with *err set. */
int tb_find_scenarios(const char *dir, char path[TB_PATH_SIZE], struct tb_error *err);

#endif
