// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Names are joined here, so that backends see whole ones. The store in memory is a list that is searched from its
// start: a run's state has some tens of names.
#include "points/store.h"

#include "base/assert.h"
#include <string.h>
#include "base/memory.h"

typedef struct full_name {
    char text[RH_STORE_NAME];
} full_name;

// Names are words of the program: they fit.
static full_name join(const char *prefix, const char *name, const char *end)
{
    full_name out;
    size_t a = strlen(prefix), b = strlen(name), c = strlen(end);
    RH_ASSERT(b > 0 && a + b + c < RH_STORE_NAME);
    memcpy(out.text, prefix, a);
    memcpy(out.text + a, name, b);
    memcpy(out.text + a + b, end, c + 1);
    return out;
}

rh_store rh_store_within(const rh_store *store, const char *part)
{
    rh_store out = *store;
    memcpy(out.prefix, join(store->prefix, part, ".").text, sizeof out.prefix);
    return out;
}

rh_code rh_store_put_int(const rh_store *store, const char *name, int64_t value, rh_status *status)
{
    return store->backend->put_int(store->self, join(store->prefix, name, "").text, value, status);
}

rh_code rh_store_put_float(const rh_store *store, const char *name, double value, rh_status *status)
{
    return store->backend->put_float(store->self, join(store->prefix, name, "").text, value, status);
}

rh_code rh_store_put_bytes(const rh_store *store, const char *name, const void *data, size_t bytes, rh_status *status)
{
    return store->backend->put_bytes(store->self, join(store->prefix, name, "").text, data, bytes, status);
}

rh_code rh_store_put_points(const rh_store *store, const char *name, const rh_points *points, rh_status *status)
{
    return store->backend->put_points(store->self, join(store->prefix, name, "").text, points, status);
}

rh_code rh_store_get_int(const rh_store *store, const char *name, int64_t *value, rh_status *status)
{
    return store->backend->get_int(store->self, join(store->prefix, name, "").text, value, status);
}

rh_code rh_store_get_float(const rh_store *store, const char *name, double *value, rh_status *status)
{
    return store->backend->get_float(store->self, join(store->prefix, name, "").text, value, status);
}

rh_code rh_store_get_bytes(const rh_store *store, const char *name, void **data, size_t *bytes, rh_status *status)
{
    return store->backend->get_bytes(store->self, join(store->prefix, name, "").text, data, bytes, status);
}

rh_code rh_store_get_exactly(const rh_store *store, const char *name, void *data, size_t bytes, rh_status *status)
{
    void *found = NULL;
    size_t length = 0;
    rh_code code = rh_store_get_bytes(store, name, &found, &length, status);
    if (code == RH_OK && length != bytes)
        code = rh_fail(status, RH_IO, "%s has %zu bytes, expected %zu", join(store->prefix, name, "").text, length,
                       bytes);
    if (code == RH_OK && bytes > 0) memcpy(data, found, bytes);
    rh_free(found);
    return code;
}

rh_code rh_store_get_points(const rh_store *store, const char *name, rh_points *points, rh_status *status)
{
    return store->backend->get_points(store->self, join(store->prefix, name, "").text, points, status);
}

// --- in memory -------------------------------------------------------------------------------------------------------
typedef enum entry_kind { INT, FLOAT, BYTES, POINTS } entry_kind;

typedef struct entry {
    char name[RH_STORE_NAME];
    entry_kind kind;
    int64_t whole;
    double real;
    void *data;  // owned
    size_t bytes, room;
    rh_points points;  // owned
} entry;

struct rh_memory_store {
    entry *entries;  // owned
    int count, room;
};

static const char LABEL[] = "store";

rh_memory_store *rh_memory_store_create(rh_status *status)
{
    return rh_alloc_zero(sizeof(rh_memory_store), LABEL, status);
}

void rh_memory_store_free(rh_memory_store *memory)
{
    if (!memory) return;
    for (int i = 0; i < memory->count; i++) {
        rh_free(memory->entries[i].data);
        rh_points_free(&memory->entries[i].points);
    }
    rh_free(memory->entries);
    rh_free(memory);
}

static entry *find(const rh_memory_store *m, const char *name, entry_kind kind)
{
    for (int i = 0; i < m->count; i++)
        if (m->entries[i].kind == kind && strcmp(m->entries[i].name, name) == 0) return &m->entries[i];
    return NULL;
}

static const entry *expect(const rh_memory_store *m, const char *name, entry_kind kind, rh_status *status)
{
    const entry *e = find(m, name, kind);
    if (!e) rh_fail(status, RH_IO, "the snapshot has no '%s'", name);
    return e;
}

// The entry of that name, made when there is none. NULL: no memory.
static entry *take(rh_memory_store *m, const char *name, entry_kind kind, rh_status *status)
{
    entry *e = find(m, name, kind);
    if (e) return e;
    if (m->count == m->room) {
        int room = m->room ? 2 * m->room : 32;
        entry *more = rh_alloc_zero((size_t)room * sizeof *more, LABEL, status);
        if (!more) return NULL;
        if (m->count) memcpy(more, m->entries, (size_t)m->count * sizeof *more);
        rh_free(m->entries);
        m->entries = more;
        m->room = room;
    }
    e = &m->entries[m->count++];
    *e = (entry){.kind = kind};
    memcpy(e->name, name, strlen(name) + 1);
    rh_points_init(&e->points);
    return e;
}

static rh_code keep_int(void *self, const char *name, int64_t value, rh_status *status)
{
    entry *e = take(self, name, INT, status);
    if (!e) return RH_MEMORY;
    e->whole = value;
    return RH_OK;
}

static rh_code keep_float(void *self, const char *name, double value, rh_status *status)
{
    entry *e = take(self, name, FLOAT, status);
    if (!e) return RH_MEMORY;
    e->real = value;
    return RH_OK;
}

static rh_code keep_bytes(void *self, const char *name, const void *data, size_t bytes, rh_status *status)
{
    entry *e = take(self, name, BYTES, status);
    if (!e) return RH_MEMORY;
    if (bytes > e->room) {
        void *block = rh_alloc(bytes, LABEL, status);
        if (!block) return RH_MEMORY;
        rh_free(e->data);
        e->data = block;
        e->room = bytes;
    }
    if (bytes > 0) memcpy(e->data, data, bytes);
    e->bytes = bytes;
    return RH_OK;
}

static rh_code keep_points(void *self, const char *name, const rh_points *points, rh_status *status)
{
    entry *e = take(self, name, POINTS, status);
    return e ? rh_points_copy(points, &e->points, status) : RH_MEMORY;
}

static rh_code recall_int(void *self, const char *name, int64_t *value, rh_status *status)
{
    const entry *e = expect(self, name, INT, status);
    if (!e) return RH_IO;
    *value = e->whole;
    return RH_OK;
}

static rh_code recall_float(void *self, const char *name, double *value, rh_status *status)
{
    const entry *e = expect(self, name, FLOAT, status);
    if (!e) return RH_IO;
    *value = e->real;
    return RH_OK;
}

static rh_code recall_bytes(void *self, const char *name, void **data, size_t *bytes, rh_status *status)
{
    const entry *e = expect(self, name, BYTES, status);
    *data = NULL;
    *bytes = 0;
    if (!e) return RH_IO;
    *data = rh_alloc(e->bytes + 1, LABEL, status);  // never of no size
    if (!*data) return RH_MEMORY;
    if (e->bytes > 0) memcpy(*data, e->data, e->bytes);
    *bytes = e->bytes;
    return RH_OK;
}

static rh_code recall_points(void *self, const char *name, rh_points *points, rh_status *status)
{
    const entry *e = expect(self, name, POINTS, status);
    return e ? rh_points_copy(&e->points, points, status) : RH_IO;
}

rh_store rh_memory_store_open(rh_memory_store *memory)
{
    static const rh_store_backend backend = {.put_int = keep_int,
                                             .put_float = keep_float,
                                             .put_bytes = keep_bytes,
                                             .put_points = keep_points,
                                             .get_int = recall_int,
                                             .get_float = recall_float,
                                             .get_bytes = recall_bytes,
                                             .get_points = recall_points};
    return (rh_store){.backend = &backend, .self = memory};
}
