/* `pawl check` as a user calls it: options, lists, a failing execution and its replay, the JSON report. */
#include "cli/cli.h"
#include "tests/command.h"

#include <jansson.h>

static struct command_said said;

static int check(const char *const *args)
{
    return command_run(cli_check, "pawl check", args, &said);
}

#define CHECK(...) check((const char *const[]){__VA_ARGS__, NULL})

static void wrong_usage_is_status_2_with_a_reason(void **state)
{
    static const struct {
        const char *args[6], *reason;
    } cases[] = {
        {{"--suite", "pears"}, "--suite 'pears': expected names that `pawl check --list` prints"},
        {{"--suite", ""}, "--suite '': expected"},
        {{"--lock", "33", "read_lock"}, "--lock '33': expected 32, 64, 32_spin or 64_spin"},
        {{"--lock", "32_spin", "--suite", "pairs"}, "expected a lock that one of the suites is for"},
        {{"--mode", "some"}, "--mode 'some': expected all, random or pct"},
        {{"--mode", "random", "read_lock"}, "expected --executions with it"},
        {{"--executions", "-1"}, "--executions '-1': expected a number"},
        {{"--seed", "x"}, "--seed 'x': expected a number"},
        {{"--sleeps", "1000"}, "--sleeps '1000': expected a number from 0 to 100"},
        {{"--changes", "17"}, "expected a number from 0 to 16"},
        {{"read_lok"}, "'read_lok' is no operation"},
        {{"read_lock |"}, "a thread does nothing"},
        {{"--suite", "pairs", "read_lock"}, "expected either suites or programs"},
        {{"--replay", "00", "read_lock"}, "expected one program, and --lock with one name"},
        {{"--replay", "00", "--lock", "32"}, "expected one program, and --lock with one name"},
        {{"--mutants", "read_lock"}, "expected no suites, programs"},
        {{"--source", "."}, "expected that option, too"},
        {{"--site", "lock_wait.h:1"}, "--site 'without --mutants': expected that option, too"},
        {{"--nothing"}, "--nothing"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int status = check(cases[i].args);
        if (status != 2 || !strstr(said.errors, cases[i].reason) || *said.output) {
            fail_msg("%s %s: status %d, said: %s", cases[i].args[0], cases[i].args[1], status, said.errors);
        }
    }
}

static void lists_and_help(void **state)
{
    (void)state;
    assert_int_equal(CHECK("--list"), 0);
    assert_non_null(strstr(said.output, "pairs"));
    assert_non_null(strstr(said.output, "64_spin"));
    assert_non_null(strstr(said.output, "read_to_write_until"));
    assert_int_equal(CHECK("--help"), 0);
    assert_non_null(strstr(said.output, "usage: pawl check"));
}

static void a_program_is_gone_through_whole(void **state)
{
    (void)state;
    assert_int_equal(CHECK("--lock", "32,64_spin", "write_lock | read_lock"), 0);
    assert_non_null(strstr(said.output, "complete"));
    assert_non_null(strstr(said.output, "64_spin"));
    assert_string_equal(said.errors, "");
    assert_int_equal(CHECK("--lock", "32", "-n", "3", "write_lock | write_lock"), 0);
    assert_non_null(strstr(said.output, "not complete"));
    assert_non_null(strstr(said.output, "1 case was not gone through whole"));
    assert_int_equal(CHECK("--mode", "pct", "-n", "200", "write_lock_until | write_lock | read_lock"), 0);
    assert_non_null(strstr(said.output, "no violation"));
}

/* S beside the multiple-writer protocol, which the documentation forbids. */
#define FORBIDDEN "seek_lock | read_lock read_to_join"

/* The last word of the line that begins with "again:", which is the program, and the one before it, its line.
 */
static void take_replay(char *line, size_t size)
{
    const char *at = strstr(said.output, "--replay ");
    assert_non_null(at);
    at += strlen("--replay ");
    snprintf(line, size, "%.*s", (int)strcspn(at, " "), at);
}

static void a_violation_is_told_and_replayed(void **state)
{
    static char first[sizeof said.output], line[4096];
    (void)state;
    assert_int_equal(CHECK("--lock", "32", FORBIDDEN), 1);
    assert_non_null(strstr(said.output, "VIOLATION"));
    assert_non_null(strstr(said.output, "the word is not free in the end"));
    assert_non_null(strstr(said.output, "compare-exchange acquire: free [0]"));
    assert_non_null(
        strstr(said.output, "again: pawl check --lock 32 --leaps 1 --sleeps 2 --interruptions 0 --replay "));
    take_replay(line, sizeof line);
    assert_non_null(strstr(said.output, " step  word"));
    snprintf(first, sizeof first, "%s", strstr(said.output, " step  word"));
    assert_int_equal(CHECK("--lock", "32", "--replay", line, FORBIDDEN), 1);
    assert_non_null(strstr(said.output, " step  word"));
    assert_string_equal(strstr(said.output, " step  word"), first);
}

static void a_line_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    assert_int_equal(CHECK("--lock", "32", "--replay", "0011", "read_lock"), 1);
    assert_non_null(strstr(said.errors, "does not fit at its character 2"));
    assert_int_equal(CHECK("--lock", "32", "--replay", "0Z", "read_lock"), 1);
    assert_non_null(strstr(said.errors, "does not fit"));
    assert_int_equal(CHECK("--lock", "32", "--replay", "0(99999999999)", "read_lock"), 1);
    assert_non_null(strstr(said.errors, "does not fit"));
    assert_int_equal(CHECK("--lock", "32", "--replay", "rubbish", "read_lock"), 1);
    assert_non_null(strstr(said.errors, "does not fit at its character 0"));
}

static json_t *report(void)
{
    json_error_t error;
    json_t *r = json_loads(said.output, 0, &error);
    assert_non_null(r);
    return r;
}

static void json_has_everything(void **state)
{
    json_t *r, *c, *steps;
    (void)state;
    assert_int_equal(CHECK("--json", "-", "--lock", "64", FORBIDDEN, "read_lock | read_lock"), 1);
    r = report();
    assert_int_equal(json_integer_value(json_object_get(r, "violations")), 1);
    assert_int_equal(json_array_size(json_object_get(r, "cases")), 2);
    c = json_array_get(json_object_get(r, "cases"), 0);
    assert_string_equal(json_string_value(json_object_get(c, "result")), "VIOLATION");
    steps = json_object_get(json_object_get(c, "failure"), "steps");
    assert_true(json_array_size(steps) > 5);
    assert_string_equal(json_string_value(json_object_get(json_array_get(steps, 0), "operation")),
                        "seek_lock");
    c = json_array_get(json_object_get(r, "cases"), 1);
    assert_true(json_is_true(json_object_get(c, "complete")));
    assert_true(json_integer_value(json_object_get(c, "executions")) > 0);
    json_decref(r);
    assert_int_equal(CHECK("--json", "/nonexistent/x.json", "read_lock"), 1);
    assert_non_null(strstr(said.errors, "/nonexistent/x.json"));
}

static void mutants_need_the_sources(void **state)
{
    (void)state;
    assert_int_equal(CHECK("--mutants", "--source", "/nonexistent"), 2);
    assert_non_null(strstr(said.errors, "/nonexistent/include/pawl/lock_word.h"));
    assert_non_null(strstr(said.errors, "expected Pawl's sources in --source DIR"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_usage_is_status_2_with_a_reason),
        cmocka_unit_test(lists_and_help),
        cmocka_unit_test(a_program_is_gone_through_whole),
        cmocka_unit_test(a_violation_is_told_and_replayed),
        cmocka_unit_test(a_line_that_does_not_fit_is_refused),
        cmocka_unit_test(json_has_everything),
        cmocka_unit_test(mutants_need_the_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
