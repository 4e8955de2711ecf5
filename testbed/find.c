/* Where things lie. */
#include "testbed/find.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int tb_find_self(char path[TB_PATH_SIZE], struct tb_error *err)
{
    ssize_t n = readlink("/proc/self/exe", path, TB_PATH_SIZE - 1);

    if (n < 0 || n >= TB_PATH_SIZE - 1) {
        return tb_fail(err, "cannot tell where this program lies (/proc/self/exe: %s); name it with --pawl",
                       n < 0 ? strerror(errno) : "too long");
    }
    path[n] = 0;
    return 0;
}

static int own_directory(char path[TB_PATH_SIZE], struct tb_error *err)
{
    char *slash;

    if (tb_find_self(path, err) < 0) {
        return -1;
    }
    slash = strrchr(path, '/');
    if (slash) {
        *slash = 0;
    }
    return 0;
}

/* Joins into path; false when it is too long. */
static bool join(char path[TB_PATH_SIZE], const char *a, const char *b)
{
    return snprintf(path, TB_PATH_SIZE, "%s/%s", a, b) < TB_PATH_SIZE;
}

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static bool is_directory(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int tb_find_program(const char *name, const char *dir, char path[TB_PATH_SIZE], struct tb_error *err)
{
    char own[TB_PATH_SIZE], beside[TB_PATH_SIZE];

    if (strchr(name, '/')) {
        snprintf(path, TB_PATH_SIZE, "%s", name);
        if (is_program(path)) {
            return 0;
        }
        return tb_fail(
            err, "%s: no executable program there; build it, or name another (--before, --after, --side)",
            path);
    }
    if (dir) {
        if (join(path, dir, name) && is_program(path)) {
            return 0;
        }
        return tb_fail(
            err, "%s: no such program in %s; build it there, or name another directory with --pawld-dir",
            name, dir);
    }
    if (own_directory(own, err) < 0) {
        return -1;
    }
    if ((join(path, own, name) && is_program(path)) ||
        (join(beside, own, "../balancer") && join(path, beside, name) && is_program(path))) {
        return 0;
    }
    return tb_fail(
        err, "%s: no such program in %s or %s/../balancer; build it, or name its directory with --pawld-dir",
        name, own, own);
}

int tb_find_scenarios(const char *dir, char path[TB_PATH_SIZE], struct tb_error *err)
{
    char own[TB_PATH_SIZE];

    if (dir) {
        snprintf(path, TB_PATH_SIZE, "%s", dir);
        return is_directory(path) ? 0 : tb_misuse(err, "--scenario-dir %s: no such directory", dir);
    }
    if (own_directory(own, err) < 0) {
        return -1;
    }
    if ((join(path, own, "../testbed/scenarios") && is_directory(path)) ||
        (join(path, own, "../share/pawl/scenarios") && is_directory(path))) {
        return 0;
    }
    snprintf(path, TB_PATH_SIZE, "%s", PAWL_SCENARIO_DIR);
    return is_directory(path)
               ? 0
               : tb_misuse(err,
                           "no scenarios in %s/../testbed/scenarios, %s/../share/pawl/scenarios or "
                           "%s; name their directory with --scenario-dir",
                           own, own, PAWL_SCENARIO_DIR);
}
