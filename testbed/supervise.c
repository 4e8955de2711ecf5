/* Watches over the processes of a run. */
#include "testbed/supervise.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TICK_NS    100000000
#define WORDS_SIZE 700

static void raise_open_files(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit); /* where it fails, the check before a case tells */
    }
}

int tb_super_open(struct tb_super *s, struct tb_error *err)
{
    sigset_t mask;

    *s = (struct tb_super){.signal_fd = -1};
    sigemptyset(&mask);
    sigaddset(&mask, SIGINT);
    sigaddset(&mask, SIGTERM);
    sigaddset(&mask, SIGHUP);
    sigprocmask(SIG_BLOCK, &mask, &s->old_mask);
    signal(SIGPIPE, SIG_IGN);
    raise_open_files();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    s->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
    if (s->signal_fd < 0) {
        sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
        return tb_fail(err, "signalfd: %s", strerror(errno));
    }
    return 0;
}

/* The command as one could type it; words with other than plain characters in quotes. */
static void write_command(char *text, size_t size, char *const *argv)
{
    size_t used = 0;

    text[0] = 0;
    for (; *argv && used < size; argv++) {
        bool plain = **argv && !strpbrk(*argv, " \t'\"\\$`&|;<>()*?[]{}#~!");
        int n = snprintf(text + used, size - used, plain ? "%s%s" : "%s'%s'", used ? " " : "", *argv);

        used += n > 0 ? (size_t)n : 0;
    }
}

int tb_super_start(struct tb_super *s, struct tb_service *service, const char *what, char *const *argv,
                   bool capture, struct tb_error *err)
{
    struct base_proc_spec spec = {.argv = argv, .capture = capture, .pass_fd = -1};
    int rc;

    if (s->n == BASE_PROC_POLL_MAX) {
        return tb_fail(err, "%s: more than %d processes", what, BASE_PROC_POLL_MAX);
    }
    snprintf(service->what, sizeof service->what, "%s", what);
    write_command(service->command, sizeof service->command, argv);
    service->must_run = false;
    rc = base_proc_start(&service->proc, &spec);
    if (rc < 0) {
        return tb_fail(err, "%s: cannot start %s: %s%s", what, argv[0], strerror(-rc),
                       rc == -ENOENT ? "; build it, or name another program" : "");
    }
    s->services[s->n++] = service;
    return 0;
}

static int signalled(const struct tb_super *s, int sig, struct tb_error *err)
{
    tb_fail(err, "stopped by %s%s%s; every process was ended",
            sig == SIGINT    ? "SIGINT"
            : sig == SIGTERM ? "SIGTERM"
                             : "SIGHUP",
            *s->phase ? " " : "", s->phase);
    err->status = 128 + sig;
    return -1;
}

int tb_super_ended(const struct tb_super *s, const struct tb_service *service, struct tb_error *err)
{
    char how[120], words[WORDS_SIZE];

    base_proc_how_ended(&service->proc, how, sizeof how);
    base_proc_last_words(&service->proc, 3, words, sizeof words);
    return tb_fail(err, "%s %s%s%s; it said: %s%s%s; its command was: %.900s", service->what, how,
                   *s->phase ? " " : "", s->phase, *words ? "\"" : "", *words ? words : "nothing",
                   *words ? "\"" : "", service->command);
}

int tb_super_wait(struct tb_super *s, struct pollfd *extra, size_t n_extra, int64_t deadline_ns,
                  struct tb_error *err)
{
    struct base_proc *procs[BASE_PROC_POLL_MAX];
    struct pollfd all[BASE_PROC_EXTRA_MAX];
    int64_t tick = base_now_ns() + TICK_NS;
    struct signalfd_siginfo info;
    int rc;

    if (n_extra + 1 > BASE_PROC_EXTRA_MAX) {
        return tb_fail(err, "more than %d descriptors to wait for", BASE_PROC_EXTRA_MAX - 1);
    }
    for (size_t i = 0; i < s->n; i++) {
        procs[i] = &s->services[i]->proc;
    }
    all[0] = (struct pollfd){.fd = s->signal_fd, .events = POLLIN};
    for (size_t i = 0; i < n_extra; i++) {
        all[i + 1] = extra[i];
    }
    rc = base_proc_poll(procs, s->n, all, n_extra + 1, base_poll_ms(deadline_ns < tick ? deadline_ns : tick));
    if (rc < 0) {
        return tb_fail(err, "watching the processes: %s", strerror(-rc));
    }
    for (size_t i = 0; i < n_extra; i++) {
        extra[i].revents = all[i + 1].revents;
    }
    if (read(s->signal_fd, &info, sizeof info) == sizeof info) {
        return signalled(s, (int)info.ssi_signo, err);
    }
    for (size_t i = 0; i < s->n; i++) {
        if (s->services[i]->must_run && !s->services[i]->proc.pid) {
            return tb_super_ended(s, s->services[i], err);
        }
    }
    if (s->tick) {
        s->tick(s->ctx);
    }
    return 0;
}

static void forget(struct tb_super *s, const struct tb_service *service)
{
    for (size_t i = 0; i < s->n; i++) {
        if (s->services[i] == service) {
            s->services[i] = s->services[--s->n];
            return;
        }
    }
}

int tb_super_stop(struct tb_super *s, struct tb_service *service, int grace_ms)
{
    service->must_run = false;
    forget(s, service);
    return base_proc_stop(&service->proc, SIGTERM, grace_ms);
}

/* A child that made a session of its own left its group, and became ours when its parent ended. */
static void kill_adopted(void)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/task/%ld/children", syscall(SYS_gettid));
    for (int turn = 0; turn < 100; turn++) {
        FILE *f = fopen(path, "re");
        int pid, any = 0;

        while (f && fscanf(f, "%d", &pid) == 1) {
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
            any = 1;
        }
        if (f) {
            fclose(f);
        }
        if (!any) {
            return;
        }
    }
}

void tb_super_end(struct tb_super *s)
{
    for (size_t i = 0; i < s->n; i++) { /* all at once, so that none outlives another by its time to die */
        base_proc_signal(&s->services[i]->proc, SIGKILL);
    }
    for (size_t i = 0; i < s->n; i++) {
        base_proc_free(&s->services[i]->proc);
    }
    s->n = 0;
    if (s->signal_fd >= 0) {
        kill_adopted();
    }
}

void tb_super_close(struct tb_super *s)
{
    struct signalfd_siginfo info;

    tb_super_end(s);
    if (s->signal_fd < 0) {
        return;
    }
    while (read(s->signal_fd, &info, sizeof info) == sizeof info) {
    }
    close(s->signal_fd);
    s->signal_fd = -1;
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
}
