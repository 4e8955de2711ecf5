/* The private directory of a run, for the configurations of its servers. */
#ifndef PAWL_TESTBED_WORKDIR_H
#define PAWL_TESTBED_WORKDIR_H

#include "testbed/error.h"

#include <stdbool.h>

#define TB_WORKDIR_SIZE 256

struct tb_workdir {
    char path[TB_WORKDIR_SIZE]; /* empty: none */
    bool keep;                  /* leave it where it is */
};

/* Makes $TMPDIR/pawl-testbed-XXXXXX (/tmp without TMPDIR), readable by its owner alone. Returns 0, or -1 with
 * *err set. */
int tb_workdir_make(struct tb_workdir *w, struct tb_error *err);

/* Removes it with all that lies in it, unless it is to be kept. Returns 0 or -errno. */
int tb_workdir_remove(struct tb_workdir *w);

#endif
