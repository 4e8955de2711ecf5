/* `pawl load` and `pawl endpoint` as a user calls them: exit status, output, signals. The subcommands run in
 * a child, with their output in a file. */
#include "cli/cli.h"

#include <jansson.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* cmocka needs the headers above. */
#include <cmocka.h>

typedef int command(int argc, char **argv);

static char output[65536], errors[65536];

struct child {
    pid_t pid;
    FILE *out, *err;
};

static struct child spawn(command *run, const char *const *args)
{
    struct child c = {.out = tmpfile(), .err = tmpfile()};
    assert_non_null(c.out);
    assert_non_null(c.err);
    c.pid = fork();
    assert_true(c.pid >= 0);
    if (c.pid == 0) {
        char *argv[32], *text[32];
        int argc = 0;
        dup2(fileno(c.out), STDOUT_FILENO);
        dup2(fileno(c.err), STDERR_FILENO);
        while (args[argc] && argc < 31) {
            argv[argc] = text[argc] = strdup(args[argc]);
            argc++;
        }
        argv[argc] = NULL;
        int status = run(argc, argv);
        while (argc) {
            free(text[--argc]);
        }
        exit(status);
    }
    return c;
}

static void slurp(FILE *f, char *to, size_t size)
{
    rewind(f);
    size_t n = fread(to, 1, size - 1, f);
    to[n] = '\0';
}

/* Waits for the child's end; its output is in output and errors. */
static int finish(struct child *c)
{
    int how;
    assert_int_equal(waitpid(c->pid, &how, 0), c->pid);
    slurp(c->out, output, sizeof output);
    slurp(c->err, errors, sizeof errors);
    fclose(c->out);
    fclose(c->err);
    assert_true(WIFEXITED(how));
    return WEXITSTATUS(how);
}

static int call(command *run, const char *const *args)
{
    struct child c = spawn(run, args);
    return finish(&c);
}

static struct child start_endpoint(const char *option, const char *value, char url[128])
{
    const char *args[] = {"endpoint", "--stats", option, value, NULL};
    struct child c = spawn(cli_endpoint, args);
    char address[100] = "";
    for (int i = 0; i < 2000 && !address[0]; i++) {
        usleep(5000);
        char text[256] = "";
        ssize_t n = pread(fileno(c.out), text, sizeof text - 1, 0); /* the child shares the file's position */
        text[n > 0 ? n : 0] = '\0';
        if (strchr(text, '\n')) {
            assert_int_equal(sscanf(text, "listening on %99s", address), 1);
        }
    }
    assert_true(address[0]);
    snprintf(url, 128, "http://%s/", address);
    return c;
}

static json_t *json_of(const char *text)
{
    json_error_t e;
    json_t *j = json_loads(text, 0, &e);
    if (!j) {
        print_error("%s in: %s\n", e.text, text);
    }
    assert_non_null(j);
    return j;
}

static long number(json_t *j, const char *name)
{
    json_t *v = json_object_get(j, name);
    assert_true(json_is_integer(v));
    return (long)json_integer_value(v);
}

static void check_schema(json_t *j)
{
    static const char *const top[] = {"duration_s", "requests_per_s", "bytes_per_s"};
    static const char *const latency[] = {"avg", "stdev", "max", "p50", "p75", "p90", "p99", "p99.9"};
    static const char *const kinds[] = {"connect", "read", "write", "timeout", "status"};
    for (size_t i = 0; i < sizeof top / sizeof *top; i++) {
        assert_true(json_is_number(json_object_get(j, top[i])));
    }
    for (size_t i = 0; i < sizeof latency / sizeof *latency; i++) {
        assert_true(json_is_real(json_object_get(json_object_get(j, "latency_us"), latency[i])));
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        assert_int_equal(number(json_object_get(j, "errors"), kinds[i]), 0);
    }
    assert_true(json_is_string(json_object_get(j, "url")));
    assert_true(json_is_real(json_object_get(json_object_get(j, "cpu_s"), "user")));
    assert_true(json_is_real(json_object_get(json_object_get(j, "cpu_s"), "system")));
    assert_true(json_is_null(json_object_get(j, "rate")));
    assert_int_equal(number(j, "open"), 0);
}

static void a_run_gives_one_json_object_and_the_endpoint_agrees(void **state)
{
    char url[128];
    (void)state;
    struct child e = start_endpoint("--threads", "2", url);
    const char *args[] = {"load", "--json", "-t", "2", "-c", "4", "--requests", "100", url, NULL};
    assert_int_equal(call(cli_load, args), 0);
    json_t *j = json_of(output);
    check_schema(j);
    assert_int_equal(number(j, "requests"), 100);
    assert_int_equal(number(j, "threads"), 2);
    assert_int_equal(number(j, "connections"), 4);
    assert_int_equal(number(json_object_get(j, "status"), "200"), 100);
    json_decref(j);
    assert_string_equal(errors, ""); /* no progress into a file */
    kill(e.pid, SIGTERM);
    assert_int_equal(finish(&e), 0);
    j = json_of(strchr(output, '\n'));
    assert_int_equal(number(j, "requests"), 100);
    assert_int_equal(number(j, "connections"), 4);
    assert_int_equal(number(j, "max_connections"), 4);
    assert_in_range(number(j, "max_concurrent"), 1, 2);
    json_decref(j);
}

static void the_table_has_wrks_lines(void **state)
{
    static const char *const lines[] = {"Running 300.00ms test @ http://",
                                        "  1 threads and 3 connections",
                                        "  Thread Stats   Avg      Stdev     Max   +/- Stdev",
                                        "\n    Latency ",
                                        "\n    Req/Sec ",
                                        "  Latency Distribution",
                                        " requests in ",
                                        "99.9%",
                                        "\nRequests/sec: ",
                                        "\nTransfer/sec: "};
    char url[128];
    (void)state;
    struct child e = start_endpoint("--delay", "100us", url);
    const char *args[] = {"load", "-t1", "-c3", "-d", "300ms", "--latency", "-H", "X: y", url, NULL};
    assert_int_equal(call(cli_load, args), 0);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (!strstr(output, lines[i])) {
            print_error("missing: %s\n%s", lines[i], output);
            fail();
        }
    }
    assert_null(strstr(output, "errors"));
    kill(e.pid, SIGINT);
    assert_int_equal(finish(&e), 0);
}

static void nobody_there_is_a_failure_with_its_reason(void **state)
{
    const char *args[] = {"load", "--json", "-d100ms", "http://127.0.0.1:1/", NULL};
    (void)state;
    assert_int_equal(call(cli_load, args), 1);
    assert_non_null(strstr(errors, "refused"));
    json_t *j = json_of(output);
    assert_int_equal(number(j, "requests"), 0);
    assert_true(json_is_null(json_object_get(json_object_get(j, "latency_us"), "p99")));
    json_decref(j);
}

static void an_interrupt_prints_what_was_measured(void **state)
{
    char url[128];
    (void)state;
    struct child e = start_endpoint("--bytes", "100", url);
    const char *args[] = {"load", "--json", "-d1h", url, NULL};
    struct child c = spawn(cli_load, args);
    usleep(300000);
    kill(c.pid, SIGINT);
    int status = finish(&c);
    if (status != 130) {
        print_error("%s%s", output, errors);
    }
    assert_int_equal(status, 130);
    json_t *j = json_of(output);
    assert_true(json_real_value(json_object_get(j, "duration_s")) < 3600);
    json_decref(j);
    kill(e.pid, SIGTERM);
    assert_int_equal(finish(&e), 0);
}

static void check_refused(command *run, const char *const (*cases)[4], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *args[] = {"x", cases[i][0], cases[i][1], cases[i][2], NULL};
        int status = call(run, args);
        if (status != 2 || !errors[0]) {
            print_error("accepted (%d): %s\n", status, cases[i][0] ? cases[i][0] : "nothing");
        }
        assert_int_equal(status, 2);
        assert_true(errors[0]);
        assert_string_equal(output, "");
    }
}

static void wrong_usage_is_status_2_with_a_reason(void **state)
{
    static const char *const load[][4] = {{NULL},
                                          {"http://127.0.0.1:1/", "http://127.0.0.1:2/"},
                                          {"-t0", "http://127.0.0.1:1/"},
                                          {"-c", "x", "http://127.0.0.1:1/"},
                                          {"-t11", "http://127.0.0.1:1/"},
                                          {"-d", "-1s", "http://127.0.0.1:1/"},
                                          {"-d", "0", "http://127.0.0.1:1/"},
                                          {"-R", "0", "http://127.0.0.1:1/"},
                                          {"-R", "nan", "http://127.0.0.1:1/"},
                                          {"-R", "1k", "http://127.0.0.1:1/"},
                                          {"--requests", "0", "http://127.0.0.1:1/"},
                                          {"--timeout", "soon", "http://127.0.0.1:1/"},
                                          {"-H", "no colon", "http://127.0.0.1:1/"},
                                          {"-m", "G T", "http://127.0.0.1:1/"},
                                          {"--no-such", "http://127.0.0.1:1/"},
                                          {"-d"},
                                          {"example.org"}};
    static const char *const endpoint[][4] = {
        {"--listen", "here"}, {"--listen", "127.0.0.1"},   {"--threads", "0"}, {"--delay", "-1"},
        {"--bytes", "1e9"},   {"--bytes", "1073741825"},   {"--fd", "stdin"},  {"surplus"},
        {"--no-such"},        {"--listen=:0", "--fd", "3"}};
    (void)state;
    check_refused(cli_load, load, sizeof load / sizeof *load);
    check_refused(cli_endpoint, endpoint, sizeof endpoint / sizeof *endpoint);
}

static void help_goes_to_the_standard_output(void **state)
{
    const char *args[] = {"x", "--help", NULL};
    (void)state;
    assert_int_equal(call(cli_load, args), 0);
    assert_non_null(strstr(output, "usage: pawl load"));
    assert_int_equal(call(cli_endpoint, args), 0);
    assert_non_null(strstr(output, "usage: pawl endpoint"));
}

static void a_taken_port_is_one_clear_line(void **state)
{
    char url[128], address[128];
    (void)state;
    struct child e = start_endpoint("--threads", "1", url);
    snprintf(address, sizeof address, "%.*s", (int)(strlen(url) - 8), url + 7);
    const char *args[] = {"endpoint", "--listen", address, NULL};
    assert_int_equal(call(cli_endpoint, args), 1);
    assert_non_null(strstr(errors, address));
    assert_non_null(strstr(errors, "in use"));
    kill(e.pid, SIGTERM);
    assert_int_equal(finish(&e), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_gives_one_json_object_and_the_endpoint_agrees),
        cmocka_unit_test(the_table_has_wrks_lines),
        cmocka_unit_test(nobody_there_is_a_failure_with_its_reason),
        cmocka_unit_test(an_interrupt_prints_what_was_measured),
        cmocka_unit_test(wrong_usage_is_status_2_with_a_reason),
        cmocka_unit_test(help_goes_to_the_standard_output),
        cmocka_unit_test(a_taken_port_is_one_clear_line),
    };
    alarm(120); /* a bound against hanging */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
