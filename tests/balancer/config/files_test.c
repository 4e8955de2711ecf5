/* Files: several form one configuration; what can't be read is refused with its reason. */
#include "load.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/pawl-config-XXXXXX";
static char paths[3][64];

static int make_dir(void **state)
{
    (void)state;
    if (!mkdtemp(dir)) {
        return -1;
    }
    for (int i = 0; i < 3; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%d.cfg", dir, i);
    }
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        unlink(paths[i]);
    }
    return rmdir(dir);
}

static const char *write_file(int i, const char *text)
{
    FILE *f = fopen(paths[i], "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    return paths[i];
}

static struct loaded load_one(const char *path)
{
    return load_files(&path, 1);
}

static void assert_unreadable(const char *path, const char *reason)
{
    struct loaded l = load_one(path);
    char start[128];

    snprintf(start, sizeof start, "[ALERT]    config: %s: can't read the file: ", path);
    assert_null(l.cfg);
    if (strncmp(l.said, start, strlen(start)) != 0 || !strstr(l.said, reason)) {
        fail_msg("%s: expected '%s', got '%s'", path, reason, l.said);
    }
    assert_ptr_equal(strchr(l.said, '\n'), strrchr(l.said, '\n'));
    loaded_free(&l);
}

static void several_files_form_one_configuration(void **state)
{
    const char *files[] = {write_file(0, DEFAULTS),
                           write_file(1, "frontend w\n bind :80\n default_backend b\n"),
                           write_file(2, "\nbackend b\n server a 127.0.0.1:81\n")};
    struct loaded l = load_files(files, 3);

    (void)state;
    assert_string_equal(l.said, "");
    assert_int_equal(l.cfg->nproxies, 2);
    assert_ptr_equal(l.cfg->proxies[0]->default_backend, l.cfg->proxies[1]);
    assert_int_equal(l.cfg->proxies[0]->timeouts.client, 1000);
    assert_string_equal(l.cfg->proxies[1]->where.file, paths[2]);
    assert_int_equal(l.cfg->proxies[1]->where.line, 2);
    loaded_free(&l);
}

static void a_section_ends_with_its_file(void **state)
{
    const char *files[] = {write_file(0, DEFAULTS "listen l\n bind :80\n"),
                           write_file(1, " server a 127.0.0.1:81\n")};
    struct loaded l = load_files(files, 2);

    (void)state;
    assert_null(l.cfg);
    assert_non_null(strstr(l.said, "1.cfg:1:2: 'server' before any section"));
    loaded_free(&l);
}

static void a_name_used_in_two_files_is_told_with_both(void **state)
{
    const char *files[] = {write_file(0, DEFAULTS "backend b\n"),
                           write_file(1, "frontend b\n bind :80\nbackend b\n")};
    struct loaded l = load_files(files, 2);

    (void)state;
    assert_null(l.cfg);
    assert_non_null(strstr(l.said, "1.cfg:3:1: backend 'b' has the name of the backend at "));
    assert_non_null(strstr(l.said, "0.cfg:6; "));
    loaded_free(&l);
}

static void what_is_no_readable_file_is_refused(void **state)
{
    char missing[96];

    (void)state;
    snprintf(missing, sizeof missing, "%s/missing.cfg", dir);
    assert_unreadable(missing, "No such file");
    assert_unreadable("", "No such file");
    assert_unreadable(dir, "Is a directory; expected a file");
}

static void a_file_that_may_not_be_read_is_refused(void **state)
{
    bool root = geteuid() == 0;

    (void)state;
    write_file(0, DEFAULTS);
    assert_int_equal(chmod(paths[0], 0), 0);
    assert_int_equal(chmod(dir, 0755), 0);
    if (root) {
        assert_int_equal(seteuid(65534), 0);
    }
    assert_unreadable(paths[0], "Permission denied; expected a file that this user may read");
    if (root) {
        assert_int_equal(seteuid(0), 0);
    }
}

static void one_unreadable_file_does_not_hide_the_errors_of_another(void **state)
{
    const char *files[] = {"/nonexistent/a.cfg", write_file(1, "foo\n")};
    struct loaded l = load_files(files, 2);

    (void)state;
    assert_null(l.cfg);
    assert_non_null(strstr(l.said, "/nonexistent/a.cfg: can't read"));
    assert_non_null(strstr(l.said, "1.cfg:1:1: unknown keyword 'foo'"));
    loaded_free(&l);
}

static void no_file_at_all_is_refused(void **state)
{
    struct loaded l = load_files(NULL, 0);

    (void)state;
    assert_null(l.cfg);
    assert_non_null(strstr(l.said, "no file given"));
    loaded_free(&l);
}

static void an_empty_file_is_warned_about(void **state)
{
    const char *files[] = {write_file(0, ""),
                           write_file(1, DEFAULTS "listen l\n bind :80\n server a 127.0.0.1:81\n")};
    struct loaded l = load_files(files, 2);

    (void)state;
    assert_non_null(l.cfg);
    assert_int_equal(l.cfg->nwarnings, 1);
    assert_non_null(strstr(l.said, "0.cfg: the file is empty"));
    loaded_free(&l);
}

static void a_file_of_16_mebibytes_is_read_a_larger_one_refused(void **state)
{
    static const char end[] = DEFAULTS "listen l\n bind :80\n server a 127.0.0.1:81\n";
    static char comment[4096];
    size_t left = ((size_t)16 << 20) - (sizeof end - 1);
    FILE *f = fopen(paths[0], "w");
    struct loaded l;

    (void)state;
    assert_non_null(f);
    memset(comment, '#', sizeof comment);
    comment[sizeof comment - 1] = '\n';
    for (; left; left -= left < sizeof comment ? left : sizeof comment) {
        size_t n = left < sizeof comment ? left : sizeof comment;

        assert_int_equal(fwrite(comment + sizeof comment - n, 1, n, f), n);
    }
    fputs(end, f);
    assert_int_equal(fclose(f), 0);
    l = load_one(paths[0]);
    assert_string_equal(l.said, "");
    assert_non_null(l.cfg);
    loaded_free(&l);
    assert_int_equal(truncate(paths[0], ((off_t)16 << 20) + 1), 0);
    assert_unreadable(paths[0], "expected at most 16 MiB");
}

static void a_pipe_is_read_to_its_end(void **state)
{
    static const char text[] = DEFAULTS "listen l\n bind :80\n server a 127.0.0.1:81\n";
    int fds[2];
    char path[32];
    struct loaded l;

    (void)state;
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], text, sizeof text - 1), sizeof text - 1);
    close(fds[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", fds[0]);
    l = load_one(path);
    assert_non_null(l.cfg);
    loaded_free(&l);
    close(fds[0]);
}

static void a_files_name_cannot_forge_a_line(void **state)
{
    struct loaded l = load_one("/nonexistent/\n[ALERT] x\x1b[2J");

    (void)state;
    assert_non_null(strstr(l.said, "/nonexistent/\\x0a[ALERT] x\\x1b[2J: can't read"));
    loaded_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_files_form_one_configuration),
        cmocka_unit_test(a_section_ends_with_its_file),
        cmocka_unit_test(a_name_used_in_two_files_is_told_with_both),
        cmocka_unit_test(what_is_no_readable_file_is_refused),
        cmocka_unit_test(one_unreadable_file_does_not_hide_the_errors_of_another),
        cmocka_unit_test(no_file_at_all_is_refused),
        cmocka_unit_test(an_empty_file_is_warned_about),
        cmocka_unit_test(a_file_of_16_mebibytes_is_read_a_larger_one_refused),
        cmocka_unit_test(a_pipe_is_read_to_its_end),
        cmocka_unit_test(a_files_name_cannot_forge_a_line),
        cmocka_unit_test(a_file_that_may_not_be_read_is_refused),
    };

    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
