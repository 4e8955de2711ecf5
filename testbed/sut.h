/* The server under test: a pawld (or what takes its command line and language), started afresh for each
 * round. */
#ifndef PAWL_TESTBED_SUT_H
#define PAWL_TESTBED_SUT_H

#include "testbed/config.h"
#include "testbed/supervise.h"

struct tb_sut {
    struct tb_service service;
    unsigned port; /* 127.0.0.1:port, where it serves */
};

/* Writes the configuration into dir/NAME.cfg, starts `program -f` it, and waits until it has answered a
 * request with 200. config->port is the port to use or 0 for a free one. Returns 0, or -1 with *err set. */
int tb_sut_start(struct tb_sut *sut, const char *name, const char *program, const char *dir,
                 const struct tb_config *config, struct tb_super *super, struct tb_error *err);

/* Ends it. Returns 0, 1 when it had to be killed, or -1 with *err set when it ended in another way than one
 * that was asked to (a crash). */
int tb_sut_stop(struct tb_sut *sut, struct tb_super *super, struct tb_error *err);

/* Asks a program for its version (`-v`) and keeps the first line; empty when it tells none within two
 * seconds. Returns 0, or -1 with *err set when the run has to end. */
int tb_sut_version(const char *program, char *version, size_t size, struct tb_super *super,
                   struct tb_error *err);

#endif
