/* What a fuzz target and its runner agree on: libFuzzer's interface, and how a property that doesn't hold
 * ends the program so that either runner reports the input. */
#ifndef PAWL_FUZZ_FUZZ_H
#define PAWL_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Must hold for every input, in every build. */
#define FUZZ_HOLDS(condition)                                                              \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                       \
        }                                                                                  \
    } while (0)

#endif
