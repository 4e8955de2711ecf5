/* The order in which locks are taken: a graph with an edge from what a thread holds to what it waits for. An
 * edge that closes a circle means that threads can wait for each other for ever, whether or not they do in
 * this run.
 *
 * Its nodes are the classes of named locks and the addresses of others; two locks of one class are told apart
 * by address, since taking several of a kind in the order of their addresses is right. The edges are a hash
 * table with linear probing, looked up without a lock, and a list for each node. Depth-first search when an
 * edge is new: each pair of places pays once. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NODES  ((uint32_t)LIB_CLASSES + LIB_LOCKS)
#define EMPTY  ((uint64_t)0)
#define LEFT   ((uint64_t)1)
#define PROBES 64u

static struct edge {
    uint64_t key;  /* from << 32 | to */
    uint32_t next; /* of the same from; index + 1 */
    uint32_t held_site, asked_site;
    long thread;
} edges[LIB_EDGES];
static uint32_t first[NODES]; /* index + 1 */

/* Scratch of the search, with the mutex held: how a node was reached (edge's index + 1), and nodes to go on
 * from. */
static uint32_t reached_by[NODES], to_visit[NODES];

static uint32_t edge_to(const struct edge *e)
{
    return (uint32_t)e->key;
}

static uint32_t edge_from(const struct edge *e)
{
    return (uint32_t)(e->key >> 32);
}

static uint32_t place_of(uint64_t key)
{
    return (uint32_t)(key * 0x9e3779b97f4a7c15u >> 40) & (LIB_EDGES - 1);
}

static bool is_known(uint64_t key)
{
    uint32_t place = place_of(key);
    for (uint32_t i = 0; i < PROBES; i++) {
        uint64_t found = lib_get(&edges[(place + i) & (LIB_EDGES - 1)].key);
        if (found == key || found == EMPTY) {
            return found == key;
        }
    }
    return false;
}

/* Is there a way between the nodes? Then reached_by leads back from its end. */
static bool find_way(uint32_t from, uint32_t to)
{
    uint32_t n = 0;
    if (!first[from]) {
        return false;
    }
    memset(reached_by, 0, sizeof reached_by);
    to_visit[n++] = from;
    while (n) {
        uint32_t node = to_visit[--n];
        for (uint32_t i = first[node]; i; i = edges[i - 1].next) {
            uint32_t next = edge_to(&edges[i - 1]);
            if (next == from || reached_by[next]) {
                continue;
            }
            reached_by[next] = i;
            if (next == to) {
                return true;
            }
            to_visit[n++] = next;
        }
    }
    return false;
}

static void enter(uint64_t key, uint32_t held_site, uint32_t asked_site, long thread)
{
    uint32_t place = place_of(key);
    for (uint32_t i = 0; i < PROBES; i++) {
        struct edge *e = &edges[(place + i) & (LIB_EDGES - 1)];
        if (e->key == EMPTY || e->key == LEFT) {
            uint32_t *head = &first[key >> 32];
            e->held_site = held_site;
            e->asked_site = asked_site;
            e->thread = thread;
            e->next = *head;
            *head = (uint32_t)(e - edges) + 1;
            lib_set(&e->key, key);
            return;
        }
    }
    lib_count_loss(orders);
}

static __attribute__((format(printf, 3, 4))) size_t append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
    return used;
}

static void append_node(char *text, size_t size, uint32_t node)
{
    if (node < LIB_CLASSES) {
        append(text, size, "\"");
        pawl_lib_append(text, size, pawl_lib_class_name(node, NULL), LIB_NAME_SHOWN);
        append(text, size, "\"");
    } else {
        append(text, size, "the lock at %p", (void *)lib_get(&pawl_lib_record(node - LIB_CLASSES)->address));
    }
}

static void append_place(char *text, size_t size, const struct lib_site *s)
{
    pawl_lib_append(text, size, s->file, LIB_PLACE_SHOWN);
    append(text, size, ":%u (", s->line);
    pawl_lib_append(text, size, s->function, LIB_PLACE_SHOWN);
    append(text, size, ")");
}

/* The way that find_way found to node `end`, an edge a line, from its beginning. */
static void tell_way(char *text, size_t size, uint32_t end)
{
    uint32_t n = 0;
    for (uint32_t i = reached_by[end]; i; i = reached_by[edge_from(&edges[i - 1])]) {
        to_visit[n++] = i - 1;
    }
    while (n) {
        const struct edge *e = &edges[to_visit[--n]];
        append(text, size, "  the other order: thread %ld asked for ", e->thread);
        append_node(text, size, edge_to(e));
        append(text, size, " at ");
        append_place(text, size, pawl_lib_site(e->asked_site));
        append(text, size, "\n    while it held ");
        append_node(text, size, edge_from(e));
        append(text, size, ", taken at ");
        append_place(text, size, pawl_lib_site(e->held_site));
        append(text, size, "\n");
    }
}

/* The nodes for a lock held and one asked for; false: one of them has none. */
static bool nodes_of(const struct lib_hold *h, uint32_t named, uint32_t record, uint32_t *from, uint32_t *to)
{
    bool same = h->named == named;
    bool held_by_name = h->named && !same, asked_by_name = named && !same;
    if ((!held_by_name && !h->record) || (!asked_by_name && !record)) {
        return false;
    }
    *from = held_by_name ? h->named : LIB_CLASSES + h->record - 1;
    *to = asked_by_name ? named : LIB_CLASSES + record - 1;
    return *from != *to;
}

static void mark_ordered(uint32_t node)
{
    if (node >= LIB_CLASSES) {
        lib_set(&pawl_lib_record(node - LIB_CLASSES)->ordered, 1);
    }
}

/* Enters the edge unless it closes a circle; then tells of it. */
static bool enter_or_tell(struct lib_thread *t, const struct lib_hold *h, uint32_t from, uint32_t to,
                          uint32_t site, char *text, size_t size)
{
    uint64_t key = (uint64_t)from << 32 | to;
    pawl_lib_lock();
    bool circle = !is_known(key) && find_way(to, from);
    if (circle) {
        append(text, size, "  while it holds ");
        append_node(text, size, from);
        append(text, size, " for %s, taken at ", pawl_lib_state_name(h->state));
        append_place(text, size, pawl_lib_site(h->site));
        append(text, size, "\n");
        tell_way(text, size, from);
    } else if (!is_known(key)) {
        enter(key, h->site, site, t->id);
        mark_ordered(from);
        mark_ordered(to);
    }
    pawl_lib_unlock();
    return !circle;
}

bool pawl_lib_order(struct lib_thread *t, const void *lock, struct lib_ref ref, uint32_t site, char *text,
                    size_t size)
{
    uint32_t named = ref.class_ == LIB_OTHER_CLASS ? LIB_NO_CLASS : ref.class_;
    uint32_t record = ref.record ? pawl_lib_record_index(ref.record) + 1 : 0;
    for (unsigned i = 0; i < t->depth; i++) {
        const struct lib_hold *h = &t->holds[i];
        uint32_t from, to;
        if (h->address == (uintptr_t)lock || !(h->mode & PAWL_WATCH_DEBUG) ||
            !nodes_of(h, named, record, &from, &to) || is_known((uint64_t)from << 32 | to)) {
            continue;
        }
        if (!enter_or_tell(t, h, from, to, site, text, size)) {
            return false;
        }
    }
    return true;
}

void pawl_lib_order_forget(uint32_t record)
{
    uint32_t node = LIB_CLASSES + record;
    for (uint32_t i = 0; i < LIB_EDGES; i++) {
        struct edge *e = &edges[i];
        if (e->key <= LEFT || (edge_from(e) != node && edge_to(e) != node)) {
            continue;
        }
        uint32_t *link = &first[edge_from(e)];
        while (*link != i + 1) {
            link = &edges[*link - 1].next;
        }
        *link = e->next;
        lib_set(&e->key, LEFT);
    }
}
