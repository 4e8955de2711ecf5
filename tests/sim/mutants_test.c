/* Where mutants are found in a source: code, not comments; calls whole, not the heads of functions. */
#include "sim/mutants.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64];

static void path_of(const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s/%s", dir, name);
}

static void write_file(const char *below, const char *text)
{
    char path[128];
    path_of(below, path, sizeof path);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void write_header(const char *name, const char *text)
{
    char below[64];
    snprintf(below, sizeof below, "include/pawl/%s", name);
    write_file(below, text);
}

static int make_source(void **state)
{
    static const char *const names[] = {"include", "include/pawl", "docs"};
    char path[128];
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/pawl-mutants-test-XXXXXX");
    if (!mkdtemp(dir)) {
        return -1;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_of(names[i], path, sizeof path);
        if (mkdir(path, 0700) < 0) {
            return -1;
        }
    }
    return 0;
}

static int remove_source(void **state)
{
    static const char *const names[] = {"include/pawl/lock_word.h",
                                        "include/pawl/lock_wait.h",
                                        "include/pawl/lock_ops.h",
                                        "include/pawl",
                                        "include",
                                        "docs/check.md",
                                        "docs",
                                        "."};
    char path[128];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        path_of(names[i], path, sizeof path);
        if (unlink(path) < 0) {
            rmdir(path);
        }
    }
    return rmdir(dir) < 0 && access(dir, F_OK) == 0 ? -1 : 0;
}

static void sites_are_code_and_nothing_else(void **state)
{
    static const struct {
        unsigned line, column;
        enum sim_mutation mutation;
        const char *from;
    } expected[] = {
        {5, 20, SIM_WEAKER_ORDER, "PAWL_A(cas_acq_rel)"},
        {5, 20, SIM_WEAKER_ORDER, "PAWL_A(cas_acq_rel)"},
        {5, 55, SIM_NO_MARK, "PAWL_QUEUE"},
        {6, 9, SIM_NO_WAKE, "pawl_futex_wake(half(word, 1), 1, PAWL_WAKE_QUE"}, /* as much as fits */
        {8, 5, SIM_NO_WAKE, "PAWL_F(wake_)(word)"},
    };
    struct sim_mutants m;
    char error[200];
    (void)state;
    write_header("lock_word.h", "");
    write_header("lock_wait.h", "/* PAWL_QUEUE and\n * PAWL_HEAD */\n"
                                "#define X PAWL_S\n"
                                "PAWL_INLINE void PAWL_F(wake_)(int *word)\n{"
                                "    return (void)(PAWL_A(cas_acq_rel)(word, &v, (v | PAWL_QUEUE)));\n"
                                "        pawl_futex_wake(half(word, 1), 1, PAWL_WAKE_QUEUE);\n"
                                "    /* pawl_futex_wake( */\n"
                                "    PAWL_F(wake_)(word);\n}\n");
    write_header("lock_ops.h", "PAWL_SOMETHING PAWL_WAITING\n");
    assert_int_equal(sim_mutants_find(&m, dir, error, sizeof error), 0);
    for (size_t i = 0; i < m.n && i < sizeof expected / sizeof *expected; i++) {
        assert_string_equal(m.mutant[i].file, "lock_wait.h");
        assert_string_equal(m.mutant[i].from, expected[i].from);
        assert_int_equal(m.mutant[i].mutation, expected[i].mutation);
        assert_int_equal(m.mutant[i].line, expected[i].line);
        assert_int_equal(m.mutant[i].column, expected[i].column);
        assert_int_equal(m.mutant[i].fate, SIM_NOT_RUN);
    }
    assert_int_equal(m.n, sizeof expected / sizeof *expected);
    assert_string_equal(m.mutant[0].to, "PAWL_A(cas_acquire)");
    assert_string_equal(m.mutant[1].to, "PAWL_A(cas_release)");
    sim_mutants_free(&m);
}

static void write_three_sites(void)
{
    write_header("lock_word.h", "");
    write_header("lock_wait.h", "int x = PAWL_QUEUE | PAWL_HEAD | PAWL_QUEUE;\n"
                                "    return cas(PAWL_A(cas_acq_rel), PAWL_W);   \n");
    write_header("lock_ops.h", "");
}

static void arguments_in_the_document_are_found_at_their_sites(void **state)
{
    struct sim_mutants m;
    char error[400];
    (void)state;
    write_three_sites();
    write_file("docs/check.md",
               "# Text\n\n"
               "- `lock_wait.h`: `PAWL_QUEUE (2)` in `int x = PAWL_QUEUE | PAWL_HEAD | PAWL_QUEUE;`: why\n"
               "- `lock_wait.h`: `PAWL_A(cas_acq_rel) -> PAWL_A(cas_release)` in\n"
               "- `lock_wait.h`: `PAWL_A(cas_acq_rel) -> PAWL_A(cas_release)` in `return "
               "cas(PAWL_A(cas_acq_rel), PAWL_W);`\n");
    assert_int_equal(sim_mutants_find(&m, dir, error, sizeof error), 0);
    if (sim_mutants_argued(&m, error, sizeof error) < 0) {
        fail_msg("%s", error);
    }
    static const bool argued[] = {false, false, true, false, true, false};
    assert_int_equal(m.n, sizeof argued / sizeof *argued);
    for (size_t i = 0; i < m.n; i++) {
        if (m.mutant[i].argued != argued[i]) {
            fail_msg("%s at column %u: %d", m.mutant[i].from, m.mutant[i].column, m.mutant[i].argued);
        }
    }
    write_file(
        "docs/check.md",
        "\n- `lock_wait.h`: `PAWL_QUEUE (3)` in `int x = PAWL_QUEUE | PAWL_HEAD | PAWL_QUEUE;`: why\n");
    assert_int_equal(sim_mutants_argued(&m, error, sizeof error), -1);
    assert_non_null(strstr(error, "docs/check.md:2: no site PAWL_QUEUE (3) in 'int x"));
    sim_mutants_free(&m);
}

static void sites_are_chosen_by_line_and_column(void **state)
{
    struct sim_mutants m;
    char error[400];
    (void)state;
    write_three_sites();
    assert_int_equal(sim_mutants_find(&m, dir, error, sizeof error), 0);
    assert_int_equal(sim_mutants_select(&m, "lock_wait.h:1:9,lock_wait.h:2", error, sizeof error), 0);
    static const bool skipped[] = {false, true, true, false, false, false};
    for (size_t i = 0; i < m.n; i++) {
        assert_int_equal(m.mutant[i].skipped, skipped[i]);
    }
    assert_int_equal(sim_mutants_select(&m, "lock_wait.h:1,lock_wait.h:10", error, sizeof error), -1);
    assert_non_null(strstr(error, "'lock_wait.h:10': no mutant there; expected sites as FILE:LINE"));
    sim_mutants_free(&m);
}

static void a_missing_source_is_named(void **state)
{
    struct sim_mutants m;
    char error[200];
    (void)state;
    assert_int_equal(sim_mutants_find(&m, "/nonexistent", error, sizeof error), -1);
    assert_string_equal(error, "/nonexistent/include/pawl/lock_word.h: No such file or directory");
    sim_mutants_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sites_are_code_and_nothing_else, make_source, remove_source),
        cmocka_unit_test_setup_teardown(arguments_in_the_document_are_found_at_their_sites, make_source,
                                        remove_source),
        cmocka_unit_test_setup_teardown(sites_are_chosen_by_line_and_column, make_source, remove_source),
        cmocka_unit_test(a_missing_source_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
