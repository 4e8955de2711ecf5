/* pawld's command line: what an operator's scripts rely on. The first argument behind the program's path
 * names the locks it was built with. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Runs the program; checks the status and that its output (either stream) contains the text. */
static void check_run(const char *const *args, int status, const char *text)
{
    char *out, *err;
    int got = program_run(args, &out, &err);
    bool ok = got == status && (strstr(out, text) || strstr(err, text));

    if (!ok)
        print_error("status %d, expected %d; expected the text \"%s\", got:\n%s%s\n", got, status, text, out,
                    err);
    free(out);
    free(err);
    assert_true(ok);
}

#define CHECK_RUN(status, text, ...) check_run((const char *const[]){__VA_ARGS__, NULL}, status, text)

static void check_refused(const char *file_text, const char *where, const char *what)
{
    const char *path = scratch_file("bad.cfg", file_text);
    char *out, *err, at[128];
    int status;

    status = program_run((const char *const[]){"-c", "-f", path, NULL}, &out, &err);
    snprintf(at, sizeof at, "%s:%s:", path, where);
    bool ok = status == 1 && strstr(err, at) && strstr(err, what) && !strstr(out, "is valid");
    if (!ok)
        print_error("status %d, expected 1; expected \"%s\" and \"%s\", got:\n%s%s\n", status, at, what, out,
                    err);
    free(out);
    free(err);
    assert_true(ok);
}

#define GOOD                                                                                                \
    "global\n    nbthread 2\n    maxconn 100\ndefaults\n    mode http\n    timeout client 1s\n    timeout " \
    "server 1s\n"                                                                                           \
    "    timeout connect 1s\n    timeout queue 1s\n    timeout http-request 1s\n    timeout "               \
    "http-keep-alive 1s\n"                                                                                  \
    "frontend fe\n    bind 127.0.0.1:8000\n    maxconn 50\n    option forwardfor\n    default_backend be\n" \
    "backend be\n    balance roundrobin\n    retries 2\n    option redispatch\n"                            \
    "    server s1 127.0.0.1:8001 weight 10 maxconn 20\n    server s2 127.0.0.1:8002\n"

static void a_good_file_is_valid(void **state)
{
    (void)state;
    CHECK_RUN(0, "Configuration file is valid", "-c", "-f", scratch_file("good.cfg", GOOD));
}

/* Checking must not need the addresses: the running instance has them. */
static void checking_binds_nothing(void **state)
{
    char text[512];
    unsigned port;

    (void)state;
    socket_bound(1, &port);
    snprintf(text, sizeof text,
             "defaults\n    mode http\n    timeout client 1s\n    timeout server 1s\n    timeout connect 1s\n"
             "listen fe\n    bind 127.0.0.1:%u\n    server s 127.0.0.1:8001\n",
             port);
    CHECK_RUN(0, "Configuration file is valid", "-c", "-f", scratch_file("good.cfg", text));
}

static void an_unknown_keyword_is_refused_with_its_place(void **state)
{
    (void)state;
    check_refused(GOOD "    blance roundrobin\n", "23:5", "blance");
}

static void a_bad_value_is_refused_with_its_place(void **state)
{
    (void)state;
    check_refused("global\n    nbthread many\n" GOOD, "2:14", "many");
}

static void a_missing_backend_is_refused_with_its_place(void **state)
{
    (void)state;
    check_refused(
        "defaults\n    mode http\n    timeout client 1s\n    timeout server 1s\n    timeout connect 1s\n"
        "frontend fe\n    bind 127.0.0.1:8000\n    default_backend nowhere\n",
        "8:21", "nowhere");
}

static void a_missing_file_is_an_error(void **state)
{
    (void)state;
    CHECK_RUN(1, "/nonexistent/pawld.cfg", "-c", "-f", "/nonexistent/pawld.cfg");
    CHECK_RUN(1, "/nonexistent/pawld.cfg", "-f", "/nonexistent/pawld.cfg");
}

static void version_is_printed(void **state)
{
    (void)state;
    CHECK_RUN(0, PAWL_VERSION, "-v");
    CHECK_RUN(0, "pawld", "-v");
}

static void the_locks_in_use_are_named(void **state)
{
    const char *locks = harness_argument(0);
    char *out, *err, *line;

    (void)state;
    assert_non_null(locks);
    assert_int_equal(program_run((const char *const[]){"-vv", NULL}, &out, &err), 0);
    assert_non_null(strstr(out, PAWL_VERSION));
    line = strcasestr(out, "locks");
    assert_non_null(line);
    line[strcspn(line, "\n")] = '\0';
    if (!strstr(line, locks))
        fail_msg("expected the locks to be %s: %s", locks, line);
    free(out);
    free(err);
}

static void an_unknown_option_is_an_error(void **state)
{
    (void)state;
    CHECK_RUN(1, "-y", "-y");
    CHECK_RUN(1, "--nonsense", "--nonsense");
}

static void an_option_without_its_value_is_an_error(void **state)
{
    (void)state;
    CHECK_RUN(1, "-f", "-f");
}

static void no_file_at_all_is_an_error(void **state)
{
    char *out, *err;
    int status;

    (void)state;
    status = program_run((const char *const[]){NULL}, &out, &err);
    assert_int_equal(status, 1);
    assert_non_null(strstr(err, "-f"));
    free(out);
    free(err);
}

static void a_taken_port_is_an_error_that_names_it(void **state)
{
    char text[512], address[32];
    unsigned port;

    (void)state;
    socket_bound(1, &port);
    snprintf(address, sizeof address, "127.0.0.1:%u", port);
    snprintf(text, sizeof text,
             "defaults\n    mode http\n    timeout client 1s\n    timeout server 1s\n    timeout connect 1s\n"
             "listen fe\n    bind %s\n    server s 127.0.0.1:8001\n",
             address);
    CHECK_RUN(1, address, "-f", scratch_file("taken.cfg", text));
}

static void a_descriptor_that_does_not_listen_is_an_error(void **state)
{
    const char *path = scratch_file(
        "fd.cfg", "defaults\n    mode http\n    timeout client 1s\n    timeout server 1s\n"
                  "    timeout connect 1s\nlisten fe\n    bind fd@0\n    server s 127.0.0.1:8001\n");
    char *out, *err;

    (void)state;
    assert_int_equal(program_run((const char *const[]){"-f", path, NULL}, &out, &err), 1);
    if (!strstr(err, "fd@0") && !strstr(err, "descriptor"))
        fail_msg("expected a word on fd@0: %s", err);
    free(out);
    free(err);
}

/* Two files are one configuration, in order. */
static void several_files_are_read_in_order(void **state)
{
    const char *first =
        scratch_file("1.cfg", "defaults\n    mode http\n    timeout client 1s\n    timeout server 1s\n"
                              "    timeout connect 1s\n");
    const char *second =
        scratch_file("2.cfg", "listen fe\n    bind 127.0.0.1:8000\n    server s 127.0.0.1:8001\n");

    (void)state;
    CHECK_RUN(0, "Configuration file is valid", "-c", "-f", first, "-f", second);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        SYSTEM_TEST(a_good_file_is_valid),
        SYSTEM_TEST(checking_binds_nothing),
        SYSTEM_TEST(an_unknown_keyword_is_refused_with_its_place),
        SYSTEM_TEST(a_bad_value_is_refused_with_its_place),
        SYSTEM_TEST(a_missing_backend_is_refused_with_its_place),
        SYSTEM_TEST(a_missing_file_is_an_error),
        SYSTEM_TEST(version_is_printed),
        SYSTEM_TEST(the_locks_in_use_are_named),
        SYSTEM_TEST(an_unknown_option_is_an_error),
        SYSTEM_TEST(an_option_without_its_value_is_an_error),
        SYSTEM_TEST(no_file_at_all_is_an_error),
        SYSTEM_TEST(a_taken_port_is_an_error_that_names_it),
        SYSTEM_TEST(a_descriptor_that_does_not_listen_is_an_error),
        SYSTEM_TEST(several_files_are_read_in_order),
    };

    return harness_main(argc, argv, "cli", tests, sizeof tests / sizeof *tests);
}
