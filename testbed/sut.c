/* Starts and stops the server under test. */
#include "testbed/sut.h"

#include "base/clock.h"
#include "testbed/port.h"
#include "testbed/probe.h"
#include "testbed/scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define START_NS   INT64_C(5000000000)
#define STOP_MS    3000
#define VERSION_NS INT64_C(2000000000)

static int write_config(const char *path, const struct tb_config *config, struct tb_error *err)
{
    FILE *f = fopen(path, "we");
    int bad;

    if (!f) {
        return tb_fail(err, "cannot write %s: %s", path, strerror(errno));
    }
    tb_config_write(f, config);
    bad = ferror(f);
    if (fclose(f) != 0 || bad) {
        return tb_fail(err, "cannot write %s: %s; free some space or set TMPDIR", path, strerror(errno));
    }
    return 0;
}

/* The port asked for, seen to be free, or a free one. */
static int settle_port(struct tb_sut *sut, const char *what, unsigned asked, struct tb_error *err)
{
    int port;

    if (asked) {
        int rc = tb_port_free(asked);

        sut->port = asked;
        return rc == 0 ? 0
                       : tb_fail(err,
                                 "port %u on 127.0.0.1, meant for %s: %s; stop what listens there, or leave "
                                 "--port out",
                                 asked, what, strerror(-rc));
    }
    port = tb_port_pick(err);
    sut->port = port > 0 ? (unsigned)port : 0;
    return port > 0 ? 0 : -1;
}

int tb_sut_start(struct tb_sut *sut, const char *name, const char *program, const char *dir,
                 const struct tb_config *config, struct tb_super *super, struct tb_error *err)
{
    char path[TB_PATH_SIZE], binary[TB_PATH_SIZE], what[64], file[] = "-f";
    char *argv[] = {binary, file, path, NULL};
    struct tb_config own = *config;

    snprintf(what, sizeof what, "SUT '%s'", name);
    snprintf(binary, sizeof binary, "%s", program);
    snprintf(path, sizeof path, "%s/%s.cfg", dir, name);
    if (settle_port(sut, what, config->port, err) < 0) {
        return -1;
    }
    own.port = sut->port;
    if (write_config(path, &own, err) < 0 ||
        tb_super_start(super, &sut->service, what, argv, false, err) < 0) {
        return -1;
    }
    sut->service.must_run = true;
    return tb_probe(super, what, sut->port, base_now_ns() + START_NS, err);
}

int tb_sut_stop(struct tb_sut *sut, struct tb_super *super, struct tb_error *err)
{
    int rc = tb_super_stop(super, &sut->service, STOP_MS), status = sut->service.proc.status;

    if (rc < 0) {
        return tb_fail(err, "%s (pid %d) could not be killed: %s", sut->service.what,
                       (int)sut->service.proc.pid, strerror(-rc));
    }
    /* Asked to end by SIGTERM: done (0), or as shells put it (143), or by that very signal. */
    if (rc == 0 &&
        !(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 128 + SIGTERM)) &&
        !(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM)) {
        rc = tb_super_ended(super, &sut->service, err);
    }
    base_proc_free(&sut->service.proc);
    return rc;
}

int tb_sut_version(const char *program, char *version, size_t size, struct tb_super *super,
                   struct tb_error *err)
{
    char binary[TB_PATH_SIZE], option[] = "-v";
    char *argv[] = {binary, option, NULL};
    int64_t deadline = base_now_ns() + VERSION_NS;
    struct tb_service service = {.proc = BASE_PROC_INIT};
    int rc;

    version[0] = 0;
    snprintf(binary, sizeof binary, "%s", program);
    if (tb_super_start(super, &service, "the SUT's version", argv, true, err) < 0) {
        return -1;
    }
    do {
        rc = tb_super_wait(super, NULL, 0, deadline, err);
    } while (rc == 0 && service.proc.pid && base_now_ns() < deadline);
    tb_super_stop(super, &service, 0);
    if (rc == 0 && service.proc.out) {
        snprintf(version, size, "%.*s", (int)strcspn(service.proc.out, "\r\n"), service.proc.out);
    }
    base_proc_free(&service.proc);
    return rc;
}
