/* The progress bar. */
#include "base/progress.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void the_line_tells_part_time_and_doing(void **state)
{
    char line[200];

    (void)state;
    assert_string_equal(base_progress_line(line, sizeof line, 150, 0.5, 83.4, "queue: round 2"),
                        "[############............]  50 %, 1:23 left  queue: round 2");
    assert_string_equal(base_progress_line(line, sizeof line, 150, 0, -1, "start"),
                        "[........................]   0 %  start");
    assert_string_equal(base_progress_line(line, sizeof line, 150, 1.7, 0, "end"),
                        "[########################] 100 %, 0:00 left  end");
    assert_string_equal(base_progress_line(line, sizeof line, 150, NAN, NAN, "start"),
                        "[........................]   0 %  start");
}

static void the_line_is_cut_to_the_terminal(void **state)
{
    char line[200], small[10];

    (void)state;
    assert_int_equal(strlen(base_progress_line(line, sizeof line, 30, 0.5, 83, "queue: round 2")), 30);
    assert_int_equal(strlen(base_progress_line(small, sizeof small, 150, 0.5, 83, "queue: round 2")), 9);
}

static void nothing_is_drawn_into_a_pipe(void **state)
{
    struct base_progress p;
    int fds[2];
    char c;

    (void)state;
    assert_int_equal(pipe2(fds, O_NONBLOCK), 0);
    base_progress_start(&p, fds[1]);
    base_progress_show(&p, 0.5, 1, "x");
    base_progress_clear(&p);
    assert_int_equal(read(fds[0], &c, 1), -1);
    close(fds[0]);
    close(fds[1]);
}

/* Reads what a terminal got until it is as long as what is expected, and compares. */
static void shows(int master, const char *expected)
{
    char text[400] = "";
    size_t len = 0;

    while (len < strlen(expected)) {
        ssize_t n = read(master, text + len, sizeof text - 1 - len);

        assert_true(n > 0);
        len += (size_t)n;
    }
    assert_string_equal(text, expected);
}

static void a_terminal_gets_the_line_and_loses_it_again(void **state)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
    struct base_progress p;

    (void)state;
    assert_true(master >= 0);
    assert_int_equal(grantpt(master), 0);
    assert_int_equal(unlockpt(master), 0);
    slave = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    setenv("TERM", "xterm", 1);
    base_progress_start(&p, slave);
    base_progress_show(&p, 0.25, 10, "here");
    p.last_ns += INT64_C(3600000000000); /* as if drawn just now, however slow this machine is */
    base_progress_show(&p, 0.26, 9, "too soon after the last");
    p.last_ns -= INT64_C(7200000000000);
    base_progress_show(&p, 0.5, 5, "there");
    base_progress_clear(&p);
    base_progress_clear(&p);
    shows(master, "\r[######..................]  25 %, 0:10 left  here\033[K"
                  "\r[############............]  50 %, 0:05 left  there\033[K\r\033[K");
    close(slave);
    close(master);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_tells_part_time_and_doing),
        cmocka_unit_test(the_line_is_cut_to_the_terminal),
        cmocka_unit_test(nothing_is_drawn_into_a_pipe),
        cmocka_unit_test(a_terminal_gets_the_line_and_loses_it_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
