/* Scenarios: what is compared with what, under which load. A scenario is a small file of `key = value` lines
 * (docs/testbed.md lists the keys); reading one is a pure function over its text. */
#ifndef PAWL_TESTBED_SCENARIO_H
#define PAWL_TESTBED_SCENARIO_H

#include "testbed/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TB_MAX_SIDES         4
#define TB_MAX_PAIRS         6
#define TB_MAX_THREAD_COUNTS 8
#define TB_MAX_ENDPOINTS     32
#define TB_NAME_SIZE         32
#define TB_PATH_SIZE         1024

/* The longest scenario file. */
#define TB_SCENARIO_BYTES    65536

struct tb_side {
    char name[TB_NAME_SIZE];
    char binary[TB_PATH_SIZE]; /* as written: a path, or a name looked up among pawld's variants */
    unsigned connections;      /* the scenario's, where no line gives this side its own */
    unsigned server_maxconn;   /* likewise; 0: none */
    bool own_connections, own_maxconn;
};

struct tb_pair {
    size_t of, against; /* sides: the ratio is of / against */
};

struct tb_scenario {
    char name[TB_NAME_SIZE]; /* the file's name without .cfg */
    char title[160];
    unsigned threads[TB_MAX_THREAD_COUNTS]; /* the SUT's; each count is a comparison of its own */
    size_t n_threads;
    unsigned connections;
    unsigned driver_threads;
    unsigned driver_rate;      /* requests/s of an open loop; 0: closed loop */
    int64_t driver_timeout_us; /* 0: the driver's default */
    unsigned endpoints;
    int64_t endpoint_delay_us;
    unsigned endpoint_bytes; /* of a body; 0: the endpoint's default */
    unsigned server_maxconn; /* 0: none */
    struct tb_side sides[TB_MAX_SIDES];
    size_t n_sides;
    struct tb_pair pairs[TB_MAX_PAIRS];
    size_t n_pairs;
};

/* Reads a scenario from len bytes of text; file names it in errors ("FILE:LINE:COLUMN: ..."), and its last
 * part, without .cfg, is the scenario's name. Returns 0, or -1 with *err set (a usage error) and *out
 * unspecified. */
int tb_scenario_parse(const char *text, size_t len, const char *file, struct tb_scenario *out,
                      struct tb_error *err);

/* The same from a file. */
int tb_scenario_read(const char *path, struct tb_scenario *out, struct tb_error *err);

/* The side of that name, or n_sides. */
size_t tb_scenario_side(const struct tb_scenario *s, const char *name);

#endif
