/* The processes of a run under one watch: whoever waits for anything here also learns that a process died or
 * that the user wants to stop. Nothing that was started outlives tb_super_end(). One thread. */
#ifndef PAWL_TESTBED_SUPERVISE_H
#define PAWL_TESTBED_SUPERVISE_H

#include "base/proc.h"
#include "testbed/error.h"

#include <signal.h>
#include <stdint.h>

#define TB_COMMAND_SIZE 4096
#define TB_MAX_ARGS     32

/* A process with a role. Zeroed before its first start. */
struct tb_service {
    char what[80];                 /* for messages: "SUT 'before'", "endpoint 2" */
    char command[TB_COMMAND_SIZE]; /* as one could type it */
    struct base_proc proc;
    bool must_run; /* its end, while this is set, ends the run */
};

struct tb_super {
    struct tb_service *services[BASE_PROC_POLL_MAX];
    size_t n;
    int signal_fd;
    sigset_t old_mask;
    char phase[160];         /* for messages: "in round 2 of 5 of queue" */
    void (*tick)(void *ctx); /* called at every turn of a wait, ten times a second at least; may be NULL */
    void *ctx;
};

/* Takes over SIGINT, SIGTERM and SIGHUP, ignores SIGPIPE, raises the limit of open files to what is allowed,
 * and adopts what the processes leave behind. Returns 0, or -1 with *err set. */
int tb_super_open(struct tb_super *s, struct tb_error *err);

/* Starts argv as `what` and watches it. The service stays the caller's and must live until tb_super_stop() or
 * tb_super_end(). Returns 0, or -1 with *err set. */
int tb_super_start(struct tb_super *s, struct tb_service *service, const char *what, char *const *argv,
                   bool capture, struct tb_error *err);

/* One turn of waiting, until something happens or deadline_ns (base_now_ns's clock) has come, at most a tenth
 * of a second. Returns 0, or -1 with *err set when a signal came or a process that must run ended. */
int tb_super_wait(struct tb_super *s, struct pollfd *extra, size_t n_extra, int64_t deadline_ns,
                  struct tb_error *err);

/* Ends a service with SIGTERM, or SIGKILL after grace_ms, and forgets it; its proc can still be read. Returns
 * what base_proc_stop() returns. */
int tb_super_stop(struct tb_super *s, struct tb_service *service, int grace_ms);

/* Says that a service ended that should not have, with its last words. Returns -1. */
int tb_super_ended(const struct tb_super *s, const struct tb_service *service, struct tb_error *err);

/* Kills and reaps every service and whatever they left behind. Signals stay taken over, so that no second ^C
 * cuts the rest of the clean-up short. */
void tb_super_end(struct tb_super *s);

/* tb_super_end(), then gives the signals back; those that came meanwhile are dropped. Safe on what never
 * opened when signal_fd is -1. */
void tb_super_close(struct tb_super *s);

#endif
