/* The progress bar. */
#include "base/progress.h"

#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BAR_WIDTH 24
#define REDRAW_NS 100000000

void base_progress_start(struct base_progress *p, int fd)
{
    const char *term = getenv("TERM");

    *p = (struct base_progress){.fd = fd, .shown = isatty(fd) && (!term || strcmp(term, "dumb") != 0)};
}

char *base_progress_line(char *text, size_t size, size_t columns, double done, double seconds_left,
                         const char *what)
{
    char left[32] = "";
    char bar[BAR_WIDTH + 1];
    size_t full;
    int n;

    done = done > 0 ? (done < 1 ? done : 1) : 0; /* NaN is nothing done */
    full = (size_t)(done * BAR_WIDTH);
    memset(bar, '#', full);
    memset(bar + full, '.', BAR_WIDTH - full);
    bar[BAR_WIDTH] = 0;
    if (seconds_left >= 0 && seconds_left < 360000) {
        snprintf(left, sizeof left, ", %d:%02d left", (int)seconds_left / 60, (int)seconds_left % 60);
    }
    n = snprintf(text, size, "[%s] %3d %%%s  %s", bar, (int)(done * 100), left, what);
    if (n > 0 && (size_t)n > columns && columns < size) {
        text[columns] = 0;
    }
    return text;
}

static size_t terminal_columns(int fd)
{
    struct winsize w;

    return ioctl(fd, TIOCGWINSZ, &w) == 0 && w.ws_col > 1 ? w.ws_col - 1u : 79;
}

/* A terminal that refuses the bytes loses nothing but the bar. */
static void put(struct base_progress *p, const char *text)
{
    if (write(p->fd, text, strlen(text)) < 0) {
        p->shown = false;
    }
}

void base_progress_show(struct base_progress *p, double done, double seconds_left, const char *what)
{
    char line[300], out[320];
    int64_t now = base_now_ns();

    if (!p->shown || (p->drawn && now - p->last_ns < REDRAW_NS)) {
        return;
    }
    base_progress_line(line, sizeof line, terminal_columns(p->fd), done, seconds_left, what);
    snprintf(out, sizeof out, "\r%s\033[K", line);
    put(p, out);
    p->drawn = true;
    p->last_ns = now;
}

void base_progress_clear(struct base_progress *p)
{
    if (p->drawn) {
        put(p, "\r\033[K");
        p->drawn = false;
    }
}
