/* Classes by name, and what is known of an address: the class it was given, and its record. Readers take no
 * lock; who changes the tables holds the mutex.
 *
 * Addresses: a hash table with linear probing, at most PROBES long. A place that was left (LEFT) is gone past
 * by a search and may be taken again; it becomes EMPTY, which ends a search, once nothing lies behind it.
 * Ranges: a short array under a sequence number, odd while it changes. */
#include "internal.h"

#include <string.h>

#define EMPTY  ((uintptr_t)0)
#define LEFT   ((uintptr_t)1)
#define PROBES 64u

static struct {
    const char *name;
    bool named;
} classes[LIB_CLASSES];
static uint32_t class_count = LIB_OTHER_CLASS + 1;

static struct lib_lock locks[LIB_LOCKS];

static struct range {
    uintptr_t from, to;
    uint32_t class_;
} ranges[LIB_RANGES];
static uint32_t range_count, range_sequence;

uint32_t pawl_lib_new_class(const char *name, bool named)
{
    for (uint32_t i = LIB_OTHER_CLASS + 1; i < class_count; i++) {
        if (classes[i].named == named && !strcmp(classes[i].name, name)) {
            return i;
        }
    }
    const char *copy = class_count < LIB_CLASSES ? pawl_lib_copy(name) : NULL;
    if (!copy) {
        lib_count_loss(classes);
        return LIB_OTHER_CLASS;
    }
    classes[class_count].name = copy;
    classes[class_count].named = named;
    lib_set_rel(&class_count, class_count + 1);
    return class_count - 1;
}

const char *pawl_lib_class_name(uint32_t class_, bool *named)
{
    if (named) {
        *named = classes[class_].named;
    }
    return class_ == LIB_OTHER_CLASS ? "(other)" : classes[class_].name;
}

uint32_t pawl_lib_class_count(void)
{
    return lib_get_acq(&class_count);
}

static uint32_t place_of(uintptr_t address)
{
    return (uint32_t)(((uint64_t)address >> 2) * 0x9e3779b97f4a7c15u >> 40) & (LIB_LOCKS - 1);
}

static struct lib_lock *at(uint32_t place)
{
    return &locks[place & (LIB_LOCKS - 1)];
}

static struct lib_lock *search(uintptr_t address)
{
    uint32_t place = place_of(address);
    for (uint32_t i = 0; i < PROBES; i++) {
        uintptr_t found = lib_get_acq(&at(place + i)->address);
        if (found == address) {
            return at(place + i);
        }
        if (found == EMPTY) {
            break;
        }
    }
    return NULL;
}

/* The class of the range that an address lies in. */
static uint32_t range_class(uintptr_t address)
{
    if (!lib_get(&range_count)) {
        return LIB_NO_CLASS;
    }
    uint32_t sequence, class_;
    do {
        class_ = LIB_NO_CLASS;
        sequence = lib_get_acq(&range_sequence);
        uint32_t n = lib_get_acq(&range_count);
        for (uint32_t i = 0; i < n && i < LIB_RANGES; i++) {
            if (address >= lib_get_acq(&ranges[i].from) && address < lib_get_acq(&ranges[i].to)) {
                class_ = lib_get_acq(&ranges[i].class_);
                break;
            }
        }
    } while ((sequence & 1) || lib_get(&range_sequence) != sequence);
    return class_;
}

/* With the mutex held. NULL: no room, counted. */
static struct lib_lock *insert(uintptr_t address, uint32_t class_)
{
    struct lib_lock *l = search(address);
    uint32_t place = place_of(address);
    for (uint32_t i = 0; !l && i < PROBES; i++) {
        uintptr_t found = lib_get(&at(place + i)->address);
        if (found == EMPTY || found == LEFT) {
            l = at(place + i);
            lib_set_rel(&l->class_, class_);
            lib_set(&l->ordered, 0);
            lib_set(&l->taken, 0);
            lib_set(&l->given, 0);
            for (int f = 0; f < 2; f++) {
                lib_set(&l->inside[f], 0);
                lib_set(&l->inside_by[f], 0);
            }
            lib_set_rel(&l->address, address);
        }
    }
    if (!l) {
        lib_count_loss(locks);
    }
    return l;
}

struct lib_ref pawl_lib_find(const void *lock, bool make)
{
    uintptr_t address = (uintptr_t)lock;
    struct lib_lock *l = search(address);
    if (!l && make) {
        uint32_t class_ = range_class(address);
        pawl_lib_lock();
        l = insert(address, class_);
        pawl_lib_unlock();
    }
    struct lib_ref ref = {l, l ? lib_get_acq(&l->class_) : LIB_NO_CLASS};
    if (ref.class_ == LIB_NO_CLASS) {
        ref.class_ = range_class(address);
    }
    return ref;
}

uint32_t pawl_lib_record_index(const struct lib_lock *record)
{
    return (uint32_t)(record - locks);
}

struct lib_lock *pawl_lib_record(uint32_t index)
{
    return &locks[index];
}

bool pawl_lock_name(const volatile void *lock, const char *name)
{
    uintptr_t address = (uintptr_t)lock;
    struct lib_lock *l = NULL;
    if (!pawl_lib_enter()) {
        return false;
    }
    pawl_lib_lock();
    if (address > LEFT) {
        uint32_t class_ = pawl_lib_new_class(name, true);
        l = class_ == LIB_OTHER_CLASS ? NULL : insert(address, class_);
        if (l) {
            lib_set_rel(&l->class_, class_);
        }
    }
    pawl_lib_unlock();
    pawl_lib_leave();
    return l != NULL;
}

/* With the mutex held. */
static void remove_record(struct lib_lock *l)
{
    uint32_t place = pawl_lib_record_index(l);
    if (lib_get(&l->ordered)) {
        pawl_lib_order_forget(place);
    }
    lib_set_rel(&l->address, LEFT);
    if (lib_get(&at(place + 1)->address) == EMPTY) {
        while (lib_get(&at(place)->address) == LEFT) {
            lib_set_rel(&at(place)->address, EMPTY);
            place--;
        }
    }
}

static void drop_holds(struct lib_thread *t, uintptr_t from, uintptr_t to)
{
    for (unsigned i = t->depth; i-- > 0;) {
        if (t->holds[i].address >= from && t->holds[i].address < to) {
            pawl_lib_drop(t, &t->holds[i]);
        }
    }
}

void pawl_lock_forget(const volatile void *lock)
{
    struct lib_thread *t = pawl_lib_enter();
    if (!t) {
        return;
    }
    pawl_lib_lock();
    struct lib_lock *l = (uintptr_t)lock > LEFT ? search((uintptr_t)lock) : NULL;
    if (l) {
        remove_record(l);
    }
    pawl_lib_unlock();
    drop_holds(t, (uintptr_t)lock, (uintptr_t)lock + 1);
    pawl_lib_leave();
}

/* With the mutex held. */
static bool enter_range(uintptr_t from, uintptr_t to, uint32_t class_)
{
    uint32_t i = 0;
    while (i < range_count && lib_get(&ranges[i].from) != from) {
        i++;
    }
    if (i == LIB_RANGES) {
        lib_count_loss(ranges);
        return false;
    }
    lib_set_rel(&range_sequence, range_sequence + 1);
    lib_set_rel(&ranges[i].from, from);
    lib_set_rel(&ranges[i].to, to);
    lib_set_rel(&ranges[i].class_, class_);
    if (i == range_count) {
        lib_set_rel(&range_count, i + 1);
    }
    lib_set_rel(&range_sequence, range_sequence + 1);
    return true;
}

bool pawl_lock_name_range(const volatile void *base, size_t bytes, const char *name)
{
    uintptr_t from = (uintptr_t)base;
    if (!bytes || from + bytes < from || !pawl_lib_enter()) {
        return false;
    }
    pawl_lib_lock();
    uint32_t class_ = pawl_lib_new_class(name, true);
    bool ok = class_ != LIB_OTHER_CLASS && enter_range(from, from + bytes, class_);
    pawl_lib_unlock();
    pawl_lib_leave();
    return ok;
}

void pawl_lock_forget_range(const volatile void *base)
{
    struct lib_thread *t = pawl_lib_enter();
    if (!t) {
        return;
    }
    uintptr_t from = (uintptr_t)base, to = 0;
    pawl_lib_lock();
    for (uint32_t i = 0; i < range_count && !to; i++) {
        if (lib_get(&ranges[i].from) == from) {
            struct range last = ranges[range_count - 1];
            to = lib_get(&ranges[i].to);
            lib_set_rel(&range_sequence, range_sequence + 1);
            lib_set_rel(&ranges[i].from, last.from);
            lib_set_rel(&ranges[i].to, last.to);
            lib_set_rel(&ranges[i].class_, last.class_);
            lib_set_rel(&range_count, range_count - 1);
            lib_set_rel(&range_sequence, range_sequence + 1);
        }
    }
    for (uint32_t i = 0; i < LIB_LOCKS && to; i++) {
        uintptr_t address = lib_get(&locks[i].address);
        if (address > LEFT && address >= from && address < to) {
            remove_record(&locks[i]);
        }
    }
    pawl_lib_unlock();
    drop_holds(t, from, to);
    pawl_lib_leave();
}
