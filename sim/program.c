#include "sim/program.h"

#include <stdio.h>
#include <string.h>

static const char *const names[SIM_OPS] = {
#define SIM_NAME_(name, needs, gives) #name,
    SIM_OPERATIONS_(SIM_NAME_)
#undef SIM_NAME_
        "unlock",
    "unlock_any", "is_held", "signal", "await"};

const char *sim_operation_text(unsigned op)
{
    return names[op];
}

static int find(const char *word, size_t length)
{
    for (int i = 0; i < SIM_OPS; i++) {
        if (strlen(names[i]) == length && memcmp(names[i], word, length) == 0) {
            return i;
        }
    }
    return -1;
}

int sim_program_read(struct sim_program *p, const char *text, char *error, size_t size)
{
    memset(p, 0, sizeof *p);
    p->threads = 1;
    for (const char *at = text; *(at += strspn(at, " ,"));) {
        size_t length = strcspn(at, " ,|");
        unsigned thread = p->threads - 1;
        if (*at == '|') {
            if (!p->count[thread] || p->threads == SIM_THREADS) {
                snprintf(error, size, "'%s': %s", text,
                         p->count[thread] ? "more than 8 threads"
                                          : "a thread does nothing; expected an operation before '|'");
                return -1;
            }
            p->threads++;
            at++;
            continue;
        }
        int op = find(at, length);
        if (op < 0) {
            snprintf(error, size,
                     "'%.*s' is no operation; expected read_lock, write_trylock, seek_to_write, unlock, ...",
                     length < 40 ? (int)length : 40, at);
            return -1;
        }
        if (p->count[thread] == SIM_OPERATIONS) {
            snprintf(error, size, "'%s': a thread has more than %d operations", text, SIM_OPERATIONS);
            return -1;
        }
        p->op[thread][p->count[thread]++] = (uint8_t)op;
        at += length;
    }
    if (!p->count[p->threads - 1]) {
        snprintf(error, size, "'%s': a thread does nothing; expected operations, threads separated by '|'",
                 text);
        return -1;
    }
    return 0;
}

void sim_program_print(const struct sim_program *p, char *text, size_t size)
{
    size_t used = 0;
    *text = 0;
    for (unsigned t = 0; t < p->threads; t++) {
        for (unsigned i = 0; i < p->count[t] && used < size; i++) {
            used += (size_t)snprintf(text + used, size - used, "%s%s",
                                     i   ? " "
                                     : t ? " | "
                                         : "",
                                     names[p->op[t][i]]);
        }
    }
}
