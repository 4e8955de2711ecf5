/* Writes a gnuplot script and runs it. Names of cases and locks are words of our own (letters, digits,
 * dashes), so that nothing needs quoting. */
#include "bench/lock/plot.h"

#include "base/proc.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SCRIPT    "plots.gp"
#define DRAW_MS   60000
#define PATH_SIZE 4096

/* The panels of a plot: measures that share an axis, in units of `unit`. */
struct panel {
    const char *title;
    double unit;
    bool log;
    size_t n;
    struct {
        enum bench_measure measure;
        const char *name;
    } of[5];
};

static const struct panel contend[] = {
    {"operations a second", 1, true, 1, {{BENCH_OPS, "operations/s"}}},
    {"wait for the lock (us)",
     1e3,
     true,
     4,
     {{BENCH_P50, "p50"}, {BENCH_P99, "p99"}, {BENCH_P999, "p99.9"}, {BENCH_LONGEST, "longest"}}},
    {"CPU for an operation (us)", 1e3, true, 1, {{BENCH_CPU_OP, "CPU/operation"}}},
};
static const struct panel sides[] = {
    {"operations a second", 1, true, 2, {{BENCH_READ_OPS, "reads/s"}, {BENCH_WRITE_OPS, "writes/s"}}},
    {"wait for the lock (us)",
     1e3,
     true,
     4,
     {{BENCH_READ_P99, "reads p99"},
      {BENCH_READ_LONGEST, "reads longest"},
      {BENCH_WRITE_P99, "writes p99"},
      {BENCH_WRITE_LONGEST, "writes longest"}}},
    {"CPU for an operation (us)", 1e3, true, 1, {{BENCH_CPU_OP, "CPU/operation"}}},
};
static const struct panel solo[] = {
    {"lock and unlock (ns)",
     1,
     false,
     5,
     {{BENCH_SOLO_READ, "R"},
      {BENCH_SOLO_SEEK, "S"},
      {BENCH_SOLO_WRITE, "W"},
      {BENCH_SOLO_ATOMIC, "A"},
      {BENCH_TWO_ATOMICS, "two atomic additions"}}},
};
static const struct panel sleeping[] = {
    {"CPU of the waiters in 50 ms (ms)", 1e6, true, 1, {{BENCH_WAITERS_CPU, "CPU"}}},
    {"hand-off (us)", 1e3, true, 2, {{BENCH_HAND_OFF_P50, "p50"}, {BENCH_HAND_OFF_P99, "p99"}}},
};

/* Over the number of threads, a line a lock. */
static const struct panel over_threads[] = {
    {"operations a second", 1, true, 1, {{BENCH_OPS, ""}}},
    {"longest wait (ms)", 1e6, true, 1, {{BENCH_LONGEST, ""}}},
    {"CPU for an operation (us)", 1e3, true, 1, {{BENCH_CPU_OP, ""}}},
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static size_t panels_of(const struct bench_case *c, const struct panel **panels)
{
    if (c->type == BENCH_SOLO || c->type == BENCH_HELD) {
        *panels = solo;
        return COUNT(solo);
    }
    if (c->type == BENCH_SLEEP) {
        *panels = sleeping;
        return COUNT(sleeping);
    }
    if (c->writers || c->readers) {
        *panels = sides;
        return COUNT(sides);
    }
    *panels = contend;
    return COUNT(contend);
}

/* A value in the data: gnuplot takes "?" for none, and so it does for 0 where the axis is logarithmic. */
static void put(FILE *f, const struct panel *p, double v)
{
    if (isnan(v) || (p->log && v <= 0)) {
        fputs(" ?", f);
    } else {
        fprintf(f, " %.10g", v / p->unit);
    }
}

static void begin_plot(FILE *f, const char *name, const char *title, unsigned threads, size_t panels)
{
    char file[BENCH_LABEL_SIZE];

    snprintf(file, sizeof file, "%s", name);
    for (char *c = file; *c; c++) {
        *c = *c == '/' ? '-' : *c;
    }
    fprintf(f, "\nset output '%s.svg'\nset terminal svg size 900,%zu dynamic background rgb 'white'\n", file,
            320 * panels + 40);
    fprintf(f, "set multiplot layout %zu,1 title \"%s: %s", panels, name, title);
    if (threads) {
        fprintf(f, "; %u thread%s", threads, threads == 1 ? "" : "s");
    }
    fputs("\" noenhanced\n", f);
}

static void axis(FILE *f, const struct panel *p)
{
    fprintf(f, "set ylabel '%s'\n%s\n%s\n", p->title, p->log ? "set logscale y" : "unset logscale y",
            p->log ? "set yrange [*:*]" : "set yrange [0:*]");
}

/* A row a lock: median, low and high of each measure. */
static void point_data(FILE *f, const struct bench_point_result *p, size_t rounds, const struct panel *panel)
{
    fputs("$data << EOD\n", f);
    for (size_t i = 0; i < p->n_rows; i++) {
        if (p->rows[i].misfit) {
            continue;
        }
        for (size_t m = 0; m < panel->n; m++) {
            struct base_interval v;

            bench_figure(p->rows[i].rounds, rounds, panel->of[m].measure, &v);
            put(f, panel, v.mid);
            put(f, panel, isnan(v.low) ? v.mid : v.low);
            put(f, panel, isnan(v.high) ? v.mid : v.high);
        }
        fputc('\n', f);
    }
    fputs("EOD\n", f);
}

/* The locks' names below the axis, in the order of point_data(). */
static void name_locks(FILE *f, const struct bench_point_result *p)
{
    size_t n = 0;

    fputs("unset logscale x\nunset xlabel\nset xtics rotate by -35 noenhanced (", f);
    for (size_t i = 0; i < p->n_rows; i++) {
        if (!p->rows[i].misfit) {
            fprintf(f, "%s'%s' %zu", n ? ", " : "", p->rows[i].lock->name, n);
            n++;
        }
    }
    fprintf(f, ")\nset xrange [-0.6:%zu.6]\n", n ? n - 1 : 0);
}

static void draw_point(FILE *f, const struct bench_point_result *p, size_t rounds)
{
    const struct panel *panels;
    size_t n = panels_of(&p->point->of, &panels);

    begin_plot(f, p->point->label, p->point->of.title, p->point->threads, n);
    name_locks(f, p);
    for (size_t i = 0; i < n; i++) {
        point_data(f, p, rounds, &panels[i]);
        axis(f, &panels[i]);
        fputs("plot", f);
        for (size_t m = 0; m < panels[i].n; m++) {
            double shift = 0.12 * ((double)m - (double)(panels[i].n - 1) / 2);

            fprintf(f, "%s $data using ($0+%.3f):%zu:%zu:%zu with yerrorbars pt 7 ps 0.6 title '%s'",
                    m ? "," : "", shift, 3 * m + 1, 3 * m + 2, 3 * m + 3, panels[i].of[m].name);
        }
        fputc('\n', f);
    }
    fputs("unset multiplot\n", f);
}

/* Does a lock have a figure at any point of this case? */
static bool is_in_case(const struct bench_result *r, const struct bench_case *c, size_t lock)
{
    for (size_t p = 0; p < r->n_done; p++) {
        if (!strcmp(r->points[p].point->of.name, c->name) && !r->points[p].rows[lock].misfit) {
            return true;
        }
    }
    return false;
}

/* A case's points over the number of threads, from `first` on. */
static void draw_case(FILE *f, const struct bench_result *r, size_t first)
{
    const struct bench_case *c = &r->points[first].point->of;
    const struct bench_plan *plan = r->plan;

    begin_plot(f, c->name, c->title, 0, COUNT(over_threads));
    fputs("set xtics norotate autofreq\nset xlabel 'threads'\nset logscale x 2\nset xrange [*:*]\n", f);
    for (size_t i = 0; i < COUNT(over_threads); i++) {
        const struct panel *panel = &over_threads[i];

        axis(f, panel);
        for (size_t l = 0; l < plan->n_locks; l++) {
            fprintf(f, "$lock%zu << EOD\n", l);
            for (size_t p = first; p < r->n_done; p++) {
                struct base_interval v;

                if (!strcmp(r->points[p].point->of.name, c->name) && !r->points[p].rows[l].misfit) {
                    bench_figure(r->points[p].rows[l].rounds, plan->rounds, panel->of[0].measure, &v);
                    fprintf(f, "%u", r->points[p].point->threads);
                    put(f, panel, v.mid);
                    fputc('\n', f);
                }
            }
            fputs("EOD\n", f);
        }
        fputs("plot", f);
        for (size_t l = 0, drawn = 0; l < plan->n_locks; l++) {
            if (is_in_case(r, c, l)) {
                fprintf(f, "%s $lock%zu using 1:2 with linespoints lw 1.5 title '%s' noenhanced",
                        drawn++ ? "," : "", l, plan->locks[l]->name);
            }
        }
        fputc('\n', f);
    }
    fputs("unset multiplot\n", f);
}

/* The points of the case of point i that have figures: how many, and whether i is the first. */
static size_t siblings(const struct bench_result *r, size_t i, bool *first)
{
    size_t n = 0;

    *first = true;
    for (size_t j = 0; j < r->n_done; j++) {
        if (bench_any_fits(r->plan, r->points[j].point) &&
            !strcmp(r->points[j].point->of.name, r->points[i].point->of.name)) {
            *first = *first && (n > 0 || j == i);
            n++;
        }
    }
    return n;
}

static void write_script(FILE *f, const struct bench_result *r)
{
    fputs("# Drawn by: gnuplot " SCRIPT
          "\nset datafile missing '?'\nset grid\nset key outside right top noenhanced\n",
          f);
    for (size_t i = 0; i < r->n_done; i++) {
        bool first;

        if (!bench_any_fits(r->plan, r->points[i].point)) {
            continue;
        }
        draw_point(f, &r->points[i], r->plan->rounds);
        if (siblings(r, i, &first) > 1 && first) {
            draw_case(f, r, i);
        }
    }
}

/* Runs gnuplot in dir with one argument. */
static int run_gnuplot(const char *dir, const char *argument, char *error, size_t size)
{
    char text[100], words[800], sh[] = "sh", flag[] = "-c", script[] = "cd -- \"$1\" && exec gnuplot \"$2\"";
    char *where = strdup(dir), *what = strdup(argument), *argv[] = {sh, flag, script, sh, where, what, NULL};
    struct base_proc_spec spec = {.argv = argv, .pass_fd = -1};
    struct base_proc proc = BASE_PROC_INIT, *procs = &proc;
    int rc = where && what ? base_proc_start(&proc, &spec) : -ENOMEM;

    for (int left_ms = DRAW_MS; rc == 0 && !proc.ended && left_ms > 0; left_ms -= 100) {
        rc = base_proc_poll(&procs, 1, NULL, 0, 100);
    }
    if (rc < 0) {
        snprintf(error, size, "cannot run gnuplot: %s; --plot needs it (Debian: gnuplot-nox)", strerror(-rc));
    } else if (!proc.ended) {
        snprintf(error, size, "gnuplot did not end within a minute");
    } else if (proc.status != 0) {
        snprintf(error, size, "gnuplot %s in %s %s: %s; --plot needs it (Debian: gnuplot-nox)", argument, dir,
                 base_proc_how_ended(&proc, text, sizeof text),
                 base_proc_last_words(&proc, 4, words, sizeof words));
    }
    rc = rc < 0 || !proc.ended || proc.status != 0 ? -1 : 0;
    base_proc_free(&proc);
    free(what);
    free(where);
    return rc;
}

int bench_plot_prepare(const char *dir, char *error, size_t size)
{
    struct stat st;

    if (mkdir(dir, 0777) < 0 && errno != EEXIST) {
        snprintf(error, size, "cannot make the directory %s for the plots: %s", dir, strerror(errno));
        return -1;
    }
    if (stat(dir, &st) < 0 || !S_ISDIR(st.st_mode)) {
        snprintf(error, size, "%s is no directory; --plot names one for the plots", dir);
        return -1;
    }
    return run_gnuplot(dir, "--version", error, size);
}

int bench_plot(const struct bench_result *r, const char *dir, char *error, size_t size)
{
    char path[PATH_SIZE];
    FILE *f;
    bool bad;

    if (snprintf(path, sizeof path, "%s/" SCRIPT, dir) >= (int)sizeof path) {
        snprintf(error, size, "%s: the path is too long", dir);
        return -1;
    }
    f = fopen(path, "we");
    if (f) {
        write_script(f, r);
    }
    bad = !f || ferror(f);
    bad = (f && fclose(f)) || bad;
    if (bad) {
        snprintf(error, size, "%s: %s", path, strerror(errno));
        return -1;
    }
    return run_gnuplot(dir, SCRIPT, error, size);
}
