/* A progress bar: one line on a terminal that is drawn over itself; silent where standard error is a file or
 * a pipe. One thread. */
#ifndef PAWL_BASE_PROGRESS_H
#define PAWL_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct base_progress {
    int fd;
    bool shown; /* fd is a terminal that can draw */
    bool drawn; /* a line stands there now */
    int64_t last_ns;
};

/* Draws on fd (standard error, 2) from now on, if that is a terminal. */
void base_progress_start(struct base_progress *p, int fd);

/* Draws, at most ten times a second: how much is done (0 to 1), the seconds left (negative: not known), and
 * what is going on. */
void base_progress_show(struct base_progress *p, double done, double seconds_left, const char *what);

/* Takes the line away, so that something else can be printed; the next show draws it again. */
void base_progress_clear(struct base_progress *p);

/* The line itself, without control characters, at most `columns` wide; for whoever draws it another way.
 * Returns text, terminated. */
char *base_progress_line(char *text, size_t size, size_t columns, double done, double seconds_left,
                         const char *what);

#endif
