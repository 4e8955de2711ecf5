/* Children: started, read, watched, stopped, reaped; and what is said of how they ended. */
#include "base/clock.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void start_shell(struct base_proc *p, const char *script, bool capture)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    struct base_proc_spec spec = {.argv = (char *const *)(uintptr_t)argv, .capture = capture, .pass_fd = -1};

    assert_int_equal(base_proc_start(p, &spec), 0);
    assert_true(p->pid > 0);
}

static void await_end(struct base_proc *p)
{
    int64_t deadline = base_now_ns() + INT64_C(20000000000);

    while (p->pid) {
        assert_true(base_now_ns() < deadline);
        assert_int_equal(base_proc_poll(&p, 1, NULL, 0, 1000), 0);
    }
}

static void standard_output_is_kept_apart_when_captured(void **state)
{
    struct base_proc p = BASE_PROC_INIT;
    char words[64], how[64];

    (void)state;
    start_shell(&p, "echo one; echo two; echo bad >&2; exit 3", true);
    await_end(&p);
    assert_string_equal(p.out, "one\ntwo\n");
    assert_int_equal(p.out_len, 8);
    assert_string_equal(base_proc_last_words(&p, 3, words, sizeof words), "bad");
    assert_string_equal(base_proc_how_ended(&p, how, sizeof how), "exited with status 3");
    base_proc_free(&p);
    assert_null(p.out);
}

static void both_outputs_go_one_way_when_not_captured(void **state)
{
    struct base_proc p = BASE_PROC_INIT;
    char words[64];

    (void)state;
    start_shell(&p, "echo one; echo two >&2; echo three", false);
    await_end(&p);
    assert_null(p.out);
    assert_string_equal(base_proc_last_words(&p, 3, words, sizeof words), "one | two | three");
    assert_string_equal(base_proc_last_words(&p, 1, words, sizeof words), "three");
    base_proc_free(&p);
}

static void output_that_overflows_the_pipe_is_read_while_it_runs(void **state)
{
    struct base_proc p = BASE_PROC_INIT;
    char words[16];

    (void)state;
    start_shell(&p, "head -c 1000000 /dev/zero | tr '\\0' a; head -c 300000 /dev/zero | tr '\\0' b >&2",
                true);
    await_end(&p);
    assert_int_equal(p.out_len, 1000000);
    assert_false(p.out_overflow);
    assert_int_equal(strlen(p.out), 1000000);
    assert_string_equal(base_proc_last_words(&p, 3, words, sizeof words),
                        "bbbbbbb"); /* 16 less three line ends */
    base_proc_free(&p);
}

static void output_beyond_the_limit_is_dropped_and_said_so(void **state)
{
    struct base_proc p = BASE_PROC_INIT;

    (void)state;
    start_shell(&p, "head -c 5000000 /dev/zero | tr '\\0' a", true);
    await_end(&p);
    assert_true(p.out_overflow);
    assert_true(p.out_len <= BASE_PROC_CAPTURE);
    base_proc_free(&p);
}

static void last_words_are_one_plain_line_that_fits(void **state)
{
    struct base_proc p = BASE_PROC_INIT;
    char words[200], tiny[1] = {'x'};

    (void)state;
    start_shell(&p, "printf 'first\\nsecond\\tred \\033[31m\\nlast\\r\\n\\n' >&2", false);
    await_end(&p);
    assert_string_equal(base_proc_last_words(&p, 2, words, sizeof words), "second red  [31m | last");
    base_proc_last_words(&p, 2, tiny, sizeof tiny);
    assert_int_equal(tiny[0], 0);
    base_proc_free(&p);
}

static void a_program_that_is_not_there_is_an_error_and_leaves_nothing(void **state)
{
    const char *const argv[] = {"/nonexistent/program", NULL};
    struct base_proc_spec spec = {.argv = (char *const *)(uintptr_t)argv, .pass_fd = -1};
    struct base_proc p = BASE_PROC_INIT;

    (void)state;
    assert_int_equal(base_proc_start(&p, &spec), -ENOENT);
    assert_int_equal(p.pid, 0);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    base_proc_free(&p);
}

static void death_by_a_signal_is_told_by_name(void **state)
{
    struct base_proc p = BASE_PROC_INIT;
    char how[64];

    (void)state;
    start_shell(&p, "kill -SEGV $$", false);
    await_end(&p);
    assert_string_equal(base_proc_how_ended(&p, how, sizeof how),
                        "was killed by signal 11 (Segmentation fault)");
    base_proc_free(&p);
}

static void stop_is_gentle_first_and_reaches_the_whole_group(void **state)
{
    struct base_proc p = BASE_PROC_INIT;

    (void)state;
    start_shell(&p, "trap 'exit 7' TERM; sleep 60 & echo ready; wait", true);
    while (!p.out) {
        struct base_proc *one = &p;

        assert_int_equal(base_proc_poll(&one, 1, NULL, 0, 1000), 0);
    }
    assert_int_equal(base_proc_stop(&p, SIGTERM, 10000), 0);
    assert_true(p.ended && WIFEXITED(p.status));
    assert_int_equal(WEXITSTATUS(p.status), 7);
    base_proc_free(&p);
}

static void what_ignores_the_signal_is_killed_after_the_grace_time(void **state)
{
    struct base_proc p = BASE_PROC_INIT;

    (void)state;
    start_shell(&p, "trap '' TERM; echo ready; while :; do sleep 1; done", true);
    while (!p.out) {
        struct base_proc *one = &p;

        assert_int_equal(base_proc_poll(&one, 1, NULL, 0, 1000), 0);
    }
    assert_int_equal(base_proc_stop(&p, SIGTERM, 100), 1);
    assert_true(p.ended && WIFSIGNALED(p.status));
    assert_int_equal(WTERMSIG(p.status), SIGKILL);
    base_proc_free(&p);
}

/* Whether the processes of a group all end; bounded. */
static bool group_ends(pid_t group)
{
    for (int i = 0; i < 5000; i++) {
        if (kill(-group, 0) < 0 && errno == ESRCH) {
            return true;
        }
        while (waitpid(-1, NULL, WNOHANG) > 0) { /* what we adopted */
        }
        usleep(1000);
    }
    return false;
}

static void what_an_ended_process_left_in_its_group_is_killed(void **state)
{
    struct base_proc p = BASE_PROC_INIT;
    pid_t group;

    (void)state;
    start_shell(&p, "sleep 60 & exit 0", false);
    group = p.pid;
    await_end(&p);
    base_proc_free(&p);
    assert_true(group_ends(group));
}

static void children_end_with_their_parent(void **state)
{
    int tell[2];
    pid_t middle, group = 0;

    (void)state;
    assert_int_equal(pipe(tell), 0);
    middle = fork();
    if (middle == 0) {
        struct base_proc p = BASE_PROC_INIT;

        start_shell(&p, "exec sleep 60", false);
        if (write(tell[1], &p.pid, sizeof p.pid) != sizeof p.pid) {
            _exit(1);
        }
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(read(tell[0], &group, sizeof group), sizeof group);
    assert_int_equal(waitpid(middle, NULL, 0), middle);
    assert_true(group_ends(group));
    close(tell[0]);
    close(tell[1]);
}

static void a_child_starts_with_default_signals_and_a_named_descriptor(void **state)
{
    const char *const argv[] = {"sh", "-c", "echo said >&$0; kill -PIPE $$; echo survived", NULL, NULL};
    const char *full[5];
    struct base_proc_spec spec = {.argv = (char *const *)(uintptr_t)full};
    struct base_proc p = BASE_PROC_INIT;
    char number[16], said[16] = "";
    int fds[2];
    sigset_t mask;

    (void)state;
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    snprintf(number, sizeof number, "%d", fds[1]);
    memcpy(full, argv, sizeof full);
    full[3] = number;
    spec.pass_fd = fds[1];
    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&mask);
    sigaddset(&mask, SIGTERM);
    sigprocmask(SIG_BLOCK, &mask, NULL);
    assert_int_equal(base_proc_start(&p, &spec), 0);
    sigprocmask(SIG_UNBLOCK, &mask, NULL);
    await_end(&p);
    assert_true(WIFSIGNALED(p.status));
    assert_int_equal(WTERMSIG(p.status), SIGPIPE);
    assert_int_equal(read(fds[0], said, sizeof said - 1), 5);
    assert_string_equal(said, "said\n");
    base_proc_free(&p);
    close(fds[0]);
    close(fds[1]);
}

static void further_descriptors_wake_the_poll(void **state)
{
    struct base_proc p = BASE_PROC_INIT, *one = &p;
    struct pollfd extra;
    int fds[2];

    (void)state;
    assert_int_equal(pipe(fds), 0);
    start_shell(&p, "sleep 60", false);
    assert_int_equal(write(fds[1], "x", 1), 1);
    extra = (struct pollfd){.fd = fds[0], .events = POLLIN};
    assert_int_equal(base_proc_poll(&one, 1, &extra, 1, 20000), 0);
    assert_true(extra.revents & POLLIN);
    assert_true(p.pid > 0);
    base_proc_free(&p);
    close(fds[0]);
    close(fds[1]);
}

static void what_was_used_is_known_after_the_end(void **state)
{
    struct base_proc p = BASE_PROC_INIT;

    (void)state;
    start_shell(&p, "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done", false);
    await_end(&p);
    assert_true(p.usage.ru_utime.tv_sec * 1000000 + p.usage.ru_utime.tv_usec + p.usage.ru_stime.tv_usec > 0);
    base_proc_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standard_output_is_kept_apart_when_captured),
        cmocka_unit_test(both_outputs_go_one_way_when_not_captured),
        cmocka_unit_test(output_that_overflows_the_pipe_is_read_while_it_runs),
        cmocka_unit_test(output_beyond_the_limit_is_dropped_and_said_so),
        cmocka_unit_test(last_words_are_one_plain_line_that_fits),
        cmocka_unit_test(a_program_that_is_not_there_is_an_error_and_leaves_nothing),
        cmocka_unit_test(death_by_a_signal_is_told_by_name),
        cmocka_unit_test(stop_is_gentle_first_and_reaches_the_whole_group),
        cmocka_unit_test(what_ignores_the_signal_is_killed_after_the_grace_time),
        cmocka_unit_test(what_an_ended_process_left_in_its_group_is_killed),
        cmocka_unit_test(children_end_with_their_parent),
        cmocka_unit_test(a_child_starts_with_default_signals_and_a_named_descriptor),
        cmocka_unit_test(further_descriptors_wake_the_poll),
        cmocka_unit_test(what_was_used_is_known_after_the_end),
    };

    prctl(PR_SET_CHILD_SUBREAPER, 1);
    alarm(120);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
