/* Places in the source that use locks, by number. Their texts are copied: the object they lie in may be
 * unloaded while records name them still. A place compiled into several objects is one. */
#include "internal.h"

#include <stdio.h>
#include <string.h>

#define BUCKETS 1024u

static struct lib_site sites[LIB_SITES];
static uint32_t used = LIB_OTHER_SITE + 1;
static uint32_t buckets[BUCKETS]; /* first site of each chain; LIB_NO_SITE ends one */

static uint32_t bucket_of(const struct pawl_site *s)
{
    uint32_t h = s->line;
    for (const char *c = s->file; *c; c++) {
        h = h * 31 + (unsigned char)*c;
    }
    return h % BUCKETS;
}

/* With the mutex held. */
static uint32_t enter(const struct pawl_site *s)
{
    uint32_t *bucket = &buckets[bucket_of(s)];
    for (uint32_t i = *bucket; i; i = sites[i].next) {
        if (sites[i].line == s->line && !strcmp(sites[i].file, s->file) &&
            !strcmp(sites[i].function, s->function)) {
            return i;
        }
    }
    if (used == LIB_SITES) {
        lib_count_loss(sites);
        return LIB_OTHER_SITE;
    }
    struct lib_site *n = &sites[used];
    n->file = pawl_lib_copy(s->file);
    n->function = pawl_lib_copy(s->function);
    if (!n->file || !n->function) {
        return LIB_OTHER_SITE;
    }
    n->line = s->line;
    n->next = *bucket;
    *bucket = used;
    return used++;
}

uint32_t pawl_lib_site_id(struct pawl_site *s)
{
    uint32_t id = lib_get_acq(&s->id);
    if (id == LIB_NO_SITE) {
        pawl_lib_lock();
        id = lib_get(&s->id);
        if (id == LIB_NO_SITE) {
            id = enter(s);
            lib_set_rel(&s->id, id);
        }
        pawl_lib_unlock();
    }
    return id;
}

const struct lib_site *pawl_lib_site(uint32_t id)
{
    static const struct lib_site unknown = {.file = "(unknown)", .function = "unknown"};
    return id > LIB_OTHER_SITE && id < LIB_SITES ? &sites[id] : &unknown;
}

uint32_t pawl_lib_site_class(uint32_t id)
{
    if (id <= LIB_OTHER_SITE) {
        return LIB_OTHER_CLASS;
    }
    struct lib_site *s = &sites[id];
    uint32_t class_ = lib_get_acq(&s->class_);
    if (class_ == LIB_NO_CLASS) {
        char name[256];
        snprintf(name, sizeof name, "%s:%u", s->file, s->line);
        pawl_lib_lock();
        class_ = pawl_lib_new_class(name, false);
        lib_set_rel(&s->class_, class_);
        pawl_lib_unlock();
    }
    return class_;
}
