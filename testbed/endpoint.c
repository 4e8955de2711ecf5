/* Starts endpoints. Each says "listening on ADDRESS:PORT" on its standard output once it does. */
#include "testbed/endpoint.h"

#include "base/clock.h"
#include "testbed/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_NS INT64_C(5000000000)
#define STOP_MS  1000

static int start_one(struct tb_endpoints *e, unsigned i, const char *pawl, const struct tb_scenario *scenario,
                     struct tb_super *super, struct tb_error *err)
{
    char program[TB_PATH_SIZE], delay[32], bytes[16], what[32];
    char command[] = "endpoint", listen[] = "--listen", address[] = "127.0.0.1:0", delay_opt[] = "--delay",
         bytes_opt[] = "--bytes";
    char *argv[TB_MAX_ARGS] = {program, command, listen, address};
    size_t n = 4;

    snprintf(program, sizeof program, "%s", pawl);
    snprintf(what, sizeof what, "endpoint %u", i + 1);
    if (scenario->endpoint_delay_us) {
        argv[n++] = delay_opt;
        argv[n++] = tb_format_duration(delay, sizeof delay, scenario->endpoint_delay_us);
    }
    if (scenario->endpoint_bytes) {
        snprintf(bytes, sizeof bytes, "%u", scenario->endpoint_bytes);
        argv[n++] = bytes_opt;
        argv[n++] = bytes;
    }
    if (tb_super_start(super, &e->services[i], what, argv, true, err) < 0) {
        return -1;
    }
    e->services[i].must_run = true;
    e->pids[i] = e->services[i].proc.pid;
    e->n = i + 1;
    return 0;
}

/* The port in "listening on ADDRESS:PORT\n"; 0 while the line is not there, -1 when it is something else. */
static long announced_port(const struct base_proc *p)
{
    static const char start[] = "listening on ";
    char line[160], *colon, *rest;
    size_t len;
    long port;

    if (!p->out || !strchr(p->out, '\n')) {
        return p->out_len < sizeof line ? 0 : -1;
    }
    len = strcspn(p->out, "\n");
    if (len >= sizeof line) {
        return -1;
    }
    memcpy(line, p->out, len);
    line[len] = 0;
    colon = strrchr(line, ':');
    if (strncmp(line, start, sizeof start - 1) != 0 || !colon || colon[1] < '0' || colon[1] > '9') {
        return -1;
    }
    port = strtol(colon + 1, &rest, 10);
    return !*rest && port >= 1 && port <= 65535 ? port : -1;
}

static int await_port(struct tb_endpoints *e, unsigned i, struct tb_super *super, int64_t deadline,
                      struct tb_error *err)
{
    const struct tb_service *s = &e->services[i];
    long port;

    while ((port = announced_port(&s->proc)) == 0) {
        if (base_now_ns() >= deadline) {
            return tb_fail(err, "%s did not say that it listens within %.0f s; its command was: %.900s",
                           s->what, START_NS / 1e9, s->command);
        }
        if (tb_super_wait(super, NULL, 0, deadline, err) < 0) {
            return -1;
        }
    }
    if (port < 0) {
        size_t said = strcspn(s->proc.out, "\n");

        return tb_fail(
            err, "%s said \"%.*s\" where \"listening on ADDRESS:PORT\" was expected; its command was: %.900s",
            s->what, said < 100 ? (int)said : 100, s->proc.out, s->command);
    }
    e->ports[i] = (unsigned)port;
    return 0;
}

int tb_endpoints_start(struct tb_endpoints *e, const char *pawl, const struct tb_scenario *scenario,
                       struct tb_super *super, struct tb_error *err)
{
    int64_t deadline = base_now_ns() + START_NS;

    for (unsigned i = 0; i < scenario->endpoints; i++) {
        if (start_one(e, i, pawl, scenario, super, err) < 0) {
            return -1;
        }
    }
    for (unsigned i = 0; i < e->n; i++) {
        if (await_port(e, i, super, deadline, err) < 0) {
            return -1;
        }
    }
    return 0;
}

void tb_endpoints_stop(struct tb_endpoints *e, struct tb_super *super)
{
    for (unsigned i = 0; i < e->n; i++) {
        tb_super_stop(super, &e->services[i], STOP_MS);
        base_proc_free(&e->services[i].proc);
    }
    e->n = 0;
}
