/* Child processes that are started, watched and reaped: each in its own process group, killed with its
 * parent, its output read without blocking. One thread, the one that starts them, calls everything here (a
 * child is tied to that thread's life). */
#ifndef PAWL_BASE_PROC_H
#define PAWL_BASE_PROC_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

/* How many processes, and how many further descriptors, one base_proc_poll() takes. */
#define BASE_PROC_POLL_MAX  72
#define BASE_PROC_EXTRA_MAX 8

/* The bytes of an output's end that are kept, and the most that is captured. */
#define BASE_PROC_TAIL      4096
#define BASE_PROC_CAPTURE   (4u << 20)

struct base_proc_spec {
    char *const *argv; /* argv[0] is looked up in PATH unless it has a slash; NULL at the end */
    bool capture; /* standard output is kept whole in out[]; otherwise it goes the way of standard error */
    int pass_fd;  /* a descriptor the child inherits under the same number, or -1 */
};

struct base_proc {
    pid_t pid; /* 0 while nothing runs */
    int pidfd;
    int out_fd, err_fd;
    char *out; /* what was captured, terminated; owned; NULL when nothing came */
    size_t out_len, out_size;
    bool out_overflow; /* more than BASE_PROC_CAPTURE came: the rest was dropped */
    char tail[2 * BASE_PROC_TAIL + 1];
    size_t tail_len;
    bool ended; /* it ran and was reaped: status and usage are set */
    int status; /* as waitpid() gives it */
    struct rusage usage;
};

/* A struct base_proc that base_proc_free() may be called on. */
#define BASE_PROC_INIT                          \
    {                                           \
        .pidfd = -1, .out_fd = -1, .err_fd = -1 \
    }

/* Starts a program: standard input empty, signals at their defaults and unblocked, SIGKILL when the calling
 * thread ends. p is BASE_PROC_INIT or freed. Returns 0 or a negative errno (-ENOENT: no such program), and
 * then nothing runs. */
int base_proc_start(struct base_proc *p, const struct base_proc_spec *spec);

/* Waits at most timeout_ms (-1: without end) until one of n processes ends or says something, or one of the
 * further descriptors is ready; reads what was said and reaps what ended (what is left of its process group
 * is killed). Processes that don't run are passed over. Returns 0 or a negative errno; a signal or the
 * time-out is 0. */
int base_proc_poll(struct base_proc *const *procs, size_t n, struct pollfd *extra, size_t n_extra,
                   int timeout_ms);

/* Sends a signal to the process and its group; nothing when it does not run. */
void base_proc_signal(struct base_proc *p, int sig);

/* Ends a process: sig to its group, SIGKILL after grace_ms, and reaps it. Returns 0, 1 when it had to be
 * killed after the grace time, or -ETIMEDOUT when even that did not end it within five seconds. 0 when it
 * does not run. */
int base_proc_stop(struct base_proc *p, int sig, int grace_ms);

/* Kills what still runs (base_proc_stop with SIGKILL) and releases everything; p can be started again. */
void base_proc_free(struct base_proc *p);

/* Writes how an ended process ended: "exited with status 3", "was killed by signal 11 (Segmentation fault)".
 * Returns text, terminated. */
char *base_proc_how_ended(const struct base_proc *p, char *text, size_t size);

/* Writes the last lines of its standard error as one line: at most `lines` of them, joined by " | ", control
 * characters replaced, cut from the front where text is too short. Empty when it said nothing. Returns text.
 */
char *base_proc_last_words(const struct base_proc *p, size_t lines, char *text, size_t size);

#endif
