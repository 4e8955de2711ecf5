#include "sim/report.h"

#include "sim/execution.h"

#include <stdlib.h>
#include <string.h>

#define WORD_WIDTH   24
#define THREAD_WIDTH 34
#define CELL_SIZE    160

static const char *const kinds[] = {
    [SIM_STEP_LOAD] = "load",         [SIM_STEP_STORE] = "store",
    [SIM_STEP_ADD] = "add",           [SIM_STEP_EXCHANGE] = "compare-exchange",
    [SIM_STEP_FENCE] = "fence",       [SIM_STEP_FAILED] = "compare-exchange fails",
    [SIM_STEP_LEAP] = "clock leaps",  [SIM_STEP_CHOICE] = "choice",
    [SIM_STEP_SLEEP] = "futex sleep", [SIM_STEP_REFUSED] = "futex refused",
    [SIM_STEP_WOKEN] = "woken",       [SIM_STEP_EXPIRED] = "time-out",
    [SIM_STEP_SIGNAL] = "signal",     [SIM_STEP_SPURIOUS] = "spurious wake-up",
    [SIM_STEP_WAKE] = "futex wake",   [SIM_STEP_WAITS] = "waits"};

static const char *place_name(unsigned place)
{
    static const char *const names[] = {
        [SIM_WORD] = "word",    [SIM_QUEUE] = "queue",          [SIM_QUEUE_UPPER] = "upper queue",
        [SIM_DATA] = "data",    [SIM_SEEKER] = "seeker's data", [SIM_SHARED] = "shared data",
        [SIM_SIGNAL] = "signal"};
    return place < sizeof names / sizeof *names ? names[place] : "?";
}

static void write_value(const struct sim_failure *x, unsigned place, uint64_t value, char *text, size_t size)
{
    if (place == SIM_WORD) {
        sim_word_print(x->lock, value, text, size);
    } else {
        snprintf(text, size, "%llu", (unsigned long long)value);
    }
}

static void write_threads(uint32_t threads, char *text, size_t size)
{
    size_t used = 0;
    snprintf(text, size, "nobody");
    for (unsigned i = 0; i < SIM_THREADS && used < size; i++) {
        if (threads >> i & 1) {
            used += (size_t)snprintf(text + used, size - used, "%s%u", used ? ", " : "thread ", i);
        }
    }
}

/* What a step did, without what it wrote to the word. */
static void write_cell(const struct sim_failure *x, const struct sim_step *s, char *text, size_t size)
{
    char value[64], threads[64];
    size_t used = 0;
    if (s->kind == SIM_STEP_WAKE) {
        write_threads(s->woken, threads, sizeof threads);
        snprintf(text, size, "%s: %s", kinds[s->kind], threads);
        return;
    }
    if (s->kind <= SIM_STEP_FENCE && !s->plain) {
        used = (size_t)snprintf(text, size, "%s %s", kinds[s->kind], sim_order_name(s->order));
    } else if (s->plain) {
        used = (size_t)snprintf(text, size, "%s %s", s->reads ? "reads" : "writes", place_name(s->place));
    } else {
        used = (size_t)snprintf(text, size, "%s", kinds[s->kind]);
    }
    if (s->kind <= SIM_STEP_FENCE && !s->plain && s->place != SIM_WORD && used < size) {
        used += (size_t)snprintf(text + used, size - used, " %s", place_name(s->place));
    }
    if (s->reads && used < size) {
        write_value(x, s->place, s->read, value, sizeof value);
        used +=
            (size_t)snprintf(text + used, size - used, ": %s [%u]%s", value, s->from, s->late ? " old" : "");
    }
    if (s->writes && s->place != SIM_WORD && used < size) {
        write_value(x, s->place, s->written, value, sizeof value);
        snprintf(text + used, size - used, " = %s", value);
    }
}

static const char *operation_name(const struct sim_failure *x, unsigned thread, unsigned number)
{
    return number
               ? sim_operation_text(number <= x->program->count[thread] ? x->program->op[thread][number - 1]
                                                                        : SIM_OP_unlock)
               : "";
}

static void print_row(FILE *f, const char *number, const char *word, unsigned thread, const char *text)
{
    fprintf(f, "%5s  %-*s  %*s%s\n", number, WORD_WIDTH, word, (int)(thread * THREAD_WIDTH), "", text);
}

static void print_head(FILE *f, unsigned threads)
{
    fprintf(f, "%5s  %-*s", "step", WORD_WIDTH, "word");
    for (unsigned t = 0; t < threads; t++) {
        char name[24];
        snprintf(name, sizeof name, "thread %u", t);
        fprintf(f, "  %-*s", t + 1 < threads ? THREAD_WIDTH - 2 : 0, name);
    }
    fputc('\n', f);
}

static void print_step(FILE *f, const struct sim_failure *x, const struct sim_step *s, unsigned number,
                       unsigned *operation)
{
    char cell[CELL_SIZE], word[64] = "", digits[16];
    if (s->operation != operation[s->thread]) {
        operation[s->thread] = s->operation;
        snprintf(cell, sizeof cell, "%s:", operation_name(x, s->thread, s->operation));
        print_row(f, "", "", s->thread, cell);
    }
    if (s->writes && s->place == SIM_WORD) {
        sim_word_print(x->lock, s->written, word, sizeof word);
    }
    write_cell(x, s, cell, sizeof cell);
    snprintf(digits, sizeof digits, "%u", number);
    print_row(f, digits, word, s->thread, cell);
}

void sim_report_replay(const struct sim_failure *x, char *text, size_t size)
{
    static char line[SIM_LINE_SIZE], program[2048];
    const struct sim_bounds *b = &x->program->bounds;
    bool fits = sim_execution_line(x->graph, x->result->before_step ? x->result->thread : SIM_THREADS, line,
                                   sizeof line);
    sim_program_print(x->program, program, sizeof program);
    snprintf(text, size,
             "pawl check --lock %s --leaps %u --sleeps %u --interruptions %u%s%s --replay %s '%s'",
             x->lock->name, b->leaps, b->sleeps, b->interruptions, b->patient ? " --patient" : "",
             b->timeouts ? " --timeouts" : "", fits ? line : "?", program);
}

void sim_report_failure(FILE *f, const struct sim_failure *x)
{
    static struct sim_step steps[SIM_EVENTS];
    static char text[SIM_LINE_SIZE + 2200];
    unsigned operation[SIM_THREADS] = {0}, n = sim_execution_steps(x->graph, steps);
    print_head(f, x->program->threads);
    for (unsigned i = 0; i < n; i++) {
        print_step(f, x, &steps[i], i + 1, operation);
    }
    if (x->result->before_step) {
        print_row(f, "", "", x->result->thread, "<- its next step");
    }
    for (unsigned t = 0; t < x->program->threads; t++) {
        if (x->result->waiting >> t & 1) {
            print_row(f, "", "", t, "waits for ever");
        }
    }
    fputs("[N]: what step N wrote; 0, from the beginning; old: others had followed by then\n", f);
    sim_report_replay(x, text, sizeof text);
    fprintf(f, "again: %s\n", text);
}

/* ---- for machines */

static void set_value(json_t *o, const struct sim_failure *x, const char *key, unsigned place, uint64_t value)
{
    char text[CELL_SIZE], hex[24];
    write_value(x, place, value, text, sizeof text);
    snprintf(hex, sizeof hex, "0x%llx", (unsigned long long)value);
    json_object_set_new(o, key, json_pack("{s:s, s:s}", "value", hex, "text", text));
}

static json_t *step_json(const struct sim_failure *x, const struct sim_step *s, unsigned number)
{
    json_t *o =
        json_pack("{s:i, s:i, s:s, s:s}", "step", (int)number, "thread", (int)s->thread, "operation",
                  operation_name(x, s->thread, s->operation), "kind", s->plain ? "data" : kinds[s->kind]);
    if (s->kind <= SIM_STEP_FENCE) {
        json_object_set_new(o, "order", json_string(sim_order_name(s->order)));
    }
    if (s->reads || s->writes) {
        json_object_set_new(o, "place", json_string(place_name(s->place)));
    }
    if (s->reads) {
        set_value(o, x, "read", s->place, s->read);
        json_object_set_new(o, "read_from_step", json_integer(s->from));
        json_object_set_new(o, "old", json_boolean(s->late));
    }
    if (s->writes) {
        set_value(o, x, "written", s->place, s->written);
    }
    if (s->kind == SIM_STEP_WAKE) {
        json_t *woken = json_array();
        for (unsigned i = 0; i < SIM_THREADS; i++) {
            if (s->woken >> i & 1) {
                json_array_append_new(woken, json_integer(i));
            }
        }
        json_object_set_new(o, "woken", woken);
    }
    return o;
}

json_t *sim_report_failure_json(const struct sim_failure *x)
{
    static struct sim_step steps[SIM_EVENTS];
    static char text[SIM_LINE_SIZE + 2200];
    unsigned n = sim_execution_steps(x->graph, steps);
    json_t *list = json_array(), *waiting = json_array();
    for (unsigned i = 0; i < n; i++) {
        json_array_append_new(list, step_json(x, &steps[i], i + 1));
    }
    for (unsigned t = 0; t < x->program->threads; t++) {
        if (x->result->waiting >> t & 1) {
            json_array_append_new(waiting, json_integer(t));
        }
    }
    sim_report_replay(x, text, sizeof text);
    return json_pack("{s:s, s:o?, s:o, s:o, s:s}", "what", x->result->text, "thread",
                     x->result->thread < SIM_THREADS ? json_integer(x->result->thread) : NULL, "waiting",
                     waiting, "steps", list, "replay", text);
}
