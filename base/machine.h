/* What a report says about the machine it was made on. */
#ifndef PAWL_BASE_MACHINE_H
#define PAWL_BASE_MACHINE_H

#include <stdint.h>

struct base_machine {
    char kernel[200]; /* "Linux 6.1.0-18-amd64 x86_64" */
    char cpu[160];    /* model name; empty when the kernel tells none */
    long cores;       /* online */
    double allowed;   /* that this process may use: affinity and control group's quota */
    int64_t memory_kib;
    char compiler[100]; /* that this program was compiled with: "gcc 12.2.0" */
    char date[32];      /* UTC, "2025-01-31T12:00:00Z" */
};

/* Never fails: what cannot be told is empty or 0. */
void base_machine_read(struct base_machine *m);

#endif
