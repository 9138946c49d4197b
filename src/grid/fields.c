// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Carrying: both lists of tiles are in the same order, but neither's hash table knows the other, so each old tile is
// looked up among the new ones, and tiles are copied one by one, by threads. Old and new arrays change places.
#include "grid/fields.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/hash.h"
#include "base/memory.h"
#include "grid/tile_keys.h"

static const char LABEL[] = "grid.fields.kept";

void rh_fields_init(rh_fields *fields, int dimension, double h)
{
    *fields = (rh_fields){.dimension = dimension, .cells = dimension == 3 ? 512 : 64, .h = h};
}

static void free_arrays(rh_field *field)
{
    for (int a = 0; a < 3; a++) {
        rh_free(field->axis[a]);
        rh_free(field->spare[a]);
        field->axis[a] = field->spare[a] = NULL;
    }
}

void rh_fields_free(rh_fields *fields)
{
    for (int i = 0; i < fields->field_count; i++) free_arrays(&fields->items[i]);
    rh_free(fields->at);
    rh_free(fields->spare_at);
    rh_fields_init(fields, fields->dimension, fields->h);
}

rh_field *rh_fields_find(rh_fields *fields, const char *name)
{
    for (int i = 0; i < fields->field_count; i++)
        if (strcmp(fields->items[i].name, name) == 0) return &fields->items[i];
    return NULL;
}

static bool is_name(const char *name)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && name[i] != '_') return false;
    return length > 0 && length < RH_FIELD_NAME;
}

// Arrays for `room` tiles, 64-byte aligned; what they held is lost.
static rh_code new_arrays(const rh_fields *fields, rh_field *field, int32_t room, rh_status *status)
{
    size_t bytes = (size_t)room * (size_t)fields->cells * sizeof(float);
    for (int a = 0; a < rh_field_components(field->kind); a++) {
        field->axis[a] = rh_alloc(bytes, LABEL, status);
        field->spare[a] = rh_alloc(bytes, LABEL, status);
        if (!field->axis[a] || !field->spare[a]) return RH_MEMORY;
    }
    return RH_OK;
}

static void fill_tile(float *values, int cells, float background)
{
    for (int c = 0; c < cells; c++) values[c] = background;
}

rh_code rh_fields_add(rh_fields *fields, const char *name, rh_field_kind kind, float background, rh_status *status)
{
    if (!is_name(name))
        return rh_fail(status, RH_USER, "field '%s': a name is 1 to %d letters, digits and '_'", name,
                       RH_FIELD_NAME - 1);
    if (rh_fields_find(fields, name)) return rh_fail(status, RH_USER, "there are two fields '%s'", name);
    if (fields->field_count == RH_MAX_FIELDS)
        return rh_fail(status, RH_USER, "field '%s': more than %d", name, RH_MAX_FIELDS);
    rh_field field = {.kind = kind, .background = background};
    snprintf(field.name, sizeof field.name, "%s", name);
    if (new_arrays(fields, &field, fields->room, status) != RH_OK) {
        free_arrays(&field);
        return RH_MEMORY;
    }
    for (int a = 0; a < rh_field_components(kind); a++)
        for (int32_t t = 0; t < fields->count; t++)
            fill_tile(field.axis[a] + (int64_t)t * fields->cells, fields->cells, background);
    fields->items[fields->field_count++] = field;
    return RH_OK;
}

// Room for `count` tiles in the spare arrays. The others keep what they have.
static rh_code make_room(rh_fields *fields, int32_t count, rh_status *status)
{
    if (count <= fields->room) return RH_OK;
    int32_t room = count < INT32_MAX / 4 ? count + count / 4 + 16 : count;  // tiles come a few at a time
    size_t old = (size_t)fields->count * (size_t)fields->cells * sizeof(float);
    rh_tile *at = rh_alloc((size_t)room * sizeof *at, LABEL, status),
            *spare = rh_alloc((size_t)room * sizeof *spare, LABEL, status);
    rh_field fresh[RH_MAX_FIELDS];
    rh_code code = at && spare ? RH_OK : RH_MEMORY;
    int made = 0;
    for (; made < fields->field_count && code == RH_OK; made++) {
        fresh[made] = (rh_field){.kind = fields->items[made].kind};
        code = new_arrays(fields, &fresh[made], room, status);
    }
    if (code != RH_OK) {
        while (made > 0) free_arrays(&fresh[--made]);
        rh_free(at);
        rh_free(spare);
        return code;
    }
    if (fields->count) memcpy(at, fields->at, (size_t)fields->count * sizeof *at);
    rh_free(fields->at);
    rh_free(fields->spare_at);
    fields->at = at;
    fields->spare_at = spare;
    for (int i = 0; i < fields->field_count; i++) {
        rh_field *field = &fields->items[i];
        for (int a = 0; a < rh_field_components(field->kind) && old; a++) memcpy(fresh[i].axis[a], field->axis[a], old);
        free_arrays(field);
        memcpy(field->axis, fresh[i].axis, sizeof field->axis);
        memcpy(field->spare, fresh[i].spare, sizeof field->spare);
    }
    fields->room = room;
    return RH_OK;
}

bool rh_fields_fit(const rh_fields *fields, const rh_tiles *tiles)
{
    return fields->count == tiles->count && fields->cells == tiles->cells &&
           memcmp(fields->at, tiles->at, (size_t)tiles->count * sizeof *tiles->at) == 0;
}

uint64_t rh_fields_hash(const rh_fields *fields)
{
    size_t bytes = (size_t)fields->count * (size_t)fields->cells * sizeof(float);
    uint64_t hash = rh_hash(fields->at, (size_t)fields->count * sizeof *fields->at, (uint64_t)fields->field_count);
    for (int i = 0; i < fields->field_count; i++) {
        const rh_field *field = &fields->items[i];
        hash = rh_hash(field->name, strlen(field->name), hash);
        for (int a = 0; a < rh_field_components(field->kind); a++) hash = rh_hash(field->axis[a], bytes, hash);
    }
    return hash;
}

rh_code rh_fields_carry(rh_fields *fields, const rh_tiles *tiles, rh_status *status)
{
    RH_ASSERT(fields->dimension == tiles->dimension && (float)fields->h == tiles->h);
    if (tiles->count == 0) return fields->count = 0, RH_OK;
    if (fields->at && rh_fields_fit(fields, tiles)) return RH_OK;
    RH_TRY(make_room(fields, tiles->count, status));
    int cells = fields->cells;
    for (int i = 0; i < fields->field_count; i++) {
        rh_field *field = &fields->items[i];
        for (int a = 0; a < rh_field_components(field->kind); a++) {
            float *to = field->spare[a];
#pragma omp parallel for schedule(static)
            for (int32_t t = 0; t < tiles->count; t++) fill_tile(to + (int64_t)t * cells, cells, field->background);
#pragma omp parallel for schedule(static)
            for (int32_t t = 0; t < fields->count; t++) {
                int32_t new_t = rh_tiles_find(tiles, fields->at[t]);
                if (new_t >= 0)
                    memcpy(to + (int64_t)new_t * cells, field->axis[a] + (int64_t)t * cells,
                           (size_t)cells * sizeof(float));
            }
            field->spare[a] = field->axis[a];
            field->axis[a] = to;
        }
    }
    memcpy(fields->at, tiles->at, (size_t)tiles->count * sizeof *tiles->at);
    fields->count = tiles->count;
    return RH_OK;
}

// --- at a place ------------------------------------------------------------------------------------------------------
int32_t rh_fields_tile(const rh_fields *fields, rh_tile at)
{
    int32_t low = 0, high = fields->count;
    uint64_t key = rh_tile_key(at);
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (rh_tile_key(fields->at[middle]) < key) low = middle + 1;
        else high = middle;
    }
    return low < fields->count && rh_tile_key(fields->at[low]) == key ? low : -1;
}

static float cell_value(const rh_fields *fields, const rh_field *field, int component, const int *cell)
{
    int32_t t = rh_fields_tile(fields, (rh_tile){cell[0] >> 3, cell[1] >> 3, cell[2] >> 3});
    if (t < 0) return field->background;
    int c = (cell[0] & 7) + 8 * (cell[1] & 7) + (fields->dimension == 3 ? 64 * (cell[2] & 7) : 0);
    return field->axis[component][(int64_t)t * fields->cells + c];
}

float rh_fields_sample(const rh_fields *fields, const rh_field *field, int component, rh_vec3 place)
{
    int low[3] = {0}, dimension = fields->dimension;
    double way[3] = {0}, sum = 0;
    for (int a = 0; a < dimension; a++) {
        bool face = field->kind == RH_FIELD_FACES && a == component;
        double g = (double)(&place.x)[a] / fields->h - (face ? 0 : 0.5);
        if (!(fabs(g) < RH_FAR_CELLS)) return field->background;
        low[a] = (int)floor(g);
        way[a] = g - low[a];
    }
    for (int n = 0; n < 1 << dimension; n++) {
        double weight = 1;
        int cell[3] = {0};
        for (int a = 0; a < dimension; a++) {
            weight *= n >> a & 1 ? way[a] : 1 - way[a];
            cell[a] = low[a] + (n >> a & 1);
        }
        if (weight > 0) sum += weight * (double)cell_value(fields, field, component, cell);
    }
    return (float)sum;
}

// --- in a store ------------------------------------------------------------------------------------------------------
// "fields" (how many), "fields.tiles" (where), and of field n "field.n" (its name, kind and background) and
// "field.n.a" (values of component a).
typedef struct field_facts {
    char name[RH_FIELD_NAME];
    int32_t kind;
    float background;
} field_facts;

static const char *numbered(char *text, int field, int axis)
{
    if (axis < 0) snprintf(text, RH_STORE_NAME, "field.%d", field);
    else snprintf(text, RH_STORE_NAME, "field.%d.%d", field, axis);
    return text;
}

rh_code rh_fields_put(const rh_fields *fields, const rh_store *to, rh_status *status)
{
    char name[RH_STORE_NAME];
    size_t bytes = (size_t)fields->count * (size_t)fields->cells * sizeof(float);
    RH_TRY(rh_store_put_int(to, "fields", fields->field_count, status));
    RH_TRY(rh_store_put_bytes(to, "fields.tiles", fields->at, (size_t)fields->count * sizeof *fields->at, status));
    for (int i = 0; i < fields->field_count; i++) {
        const rh_field *field = &fields->items[i];
        field_facts facts = {.kind = (int32_t)field->kind, .background = field->background};
        memcpy(facts.name, field->name, sizeof facts.name);
        RH_TRY(rh_store_put_bytes(to, numbered(name, i, -1), &facts, sizeof facts, status));
        for (int a = 0; a < rh_field_components(field->kind); a++)
            RH_TRY(rh_store_put_bytes(to, numbered(name, i, a), field->axis[a], bytes, status));
    }
    return RH_OK;
}

static bool is_before(rh_tile a, rh_tile b) { return rh_tile_key(a) < rh_tile_key(b); }

// Where tiles are, in order, each once, none where no grid can have one.
static bool are_good_tiles(const rh_tile *at, int64_t count, int dimension)
{
    for (int64_t t = 0; t < count; t++) {
        for (int a = 0; a < 3; a++)
            if ((&at[t].x)[a] <= -RH_TILE_BIAS || (&at[t].x)[a] >= RH_TILE_BIAS) return false;
        if ((dimension == 2 && at[t].z != 0) || (t > 0 && !is_before(at[t - 1], at[t]))) return false;
    }
    return true;
}

static rh_code get_tiles(rh_fields *fields, const rh_store *from, rh_status *status)
{
    void *found;
    size_t bytes;
    RH_TRY(rh_store_get_bytes(from, "fields.tiles", &found, &bytes, status));
    size_t count = bytes / sizeof(rh_tile);
    bool good = bytes % sizeof(rh_tile) == 0 && count <= (size_t)(INT32_MAX / fields->cells) &&
                are_good_tiles(found, (int64_t)count, fields->dimension);
    rh_code code = good ? RH_OK : rh_fail(status, RH_IO, "the tiles of its fields are not in order");
    fields->count = 0;  // nothing to keep
    if (code == RH_OK) code = make_room(fields, (int32_t)count, status);
    if (code == RH_OK && count) memcpy(fields->at, found, bytes);
    if (code == RH_OK) fields->count = (int32_t)count;
    rh_free(found);
    return code;
}

static rh_code get_field(rh_fields *fields, int index, const rh_store *from, rh_status *status)
{
    char name[RH_STORE_NAME];
    field_facts facts;
    RH_TRY(rh_store_get_exactly(from, numbered(name, index, -1), &facts, sizeof facts, status));
    facts.name[RH_FIELD_NAME - 1] = 0;
    if (facts.kind < RH_FIELD_FLOAT || facts.kind > RH_FIELD_FACES)
        return rh_fail(status, RH_IO, "field '%s' is of no known kind", facts.name);
    if (!rh_fields_find(fields, facts.name))
        RH_TRY(rh_fields_add(fields, facts.name, (rh_field_kind)facts.kind, facts.background, status));
    rh_field *field = rh_fields_find(fields, facts.name);
    if (field->kind != (rh_field_kind)facts.kind)
        return rh_fail(status, RH_IO, "field '%s' is of another kind than the method's", facts.name);
    size_t bytes = (size_t)fields->count * (size_t)fields->cells * sizeof(float);
    for (int a = 0; a < rh_field_components(field->kind); a++)
        RH_TRY(rh_store_get_exactly(from, numbered(name, index, a), field->axis[a], bytes, status));
    return RH_OK;
}

rh_code rh_fields_get(rh_fields *fields, const rh_store *from, rh_status *status)
{
    int64_t count;
    RH_TRY(rh_store_get_int(from, "fields", &count, status));
    if (count < 0 || count > RH_MAX_FIELDS) return rh_fail(status, RH_IO, "has %lld fields", (long long)count);
    RH_TRY(get_tiles(fields, from, status));
    for (int i = 0; i < fields->field_count; i++)  // of those that the store does not know
        for (int a = 0; a < rh_field_components(fields->items[i].kind); a++)
            for (int32_t t = 0; t < fields->count; t++)
                fill_tile(fields->items[i].axis[a] + (int64_t)t * fields->cells, fields->cells,
                          fields->items[i].background);
    for (int i = 0; i < (int)count; i++) RH_TRY(get_field(fields, i, from, status));
    return RH_OK;
}
