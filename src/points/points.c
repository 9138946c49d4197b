// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Particle sets. Every attribute owns a block of `capacity` elements (one element when uniform). A permutation gathers
// into one spare block: attributes of the largest size swap with it, smaller ones are copied back, so sorting every
// step allocates nothing once the spare exists, and there is only one (one per type cost a fifth of all memory).
// A failure for lack of memory leaves the values as they were: blocks may be larger than the capacity, never smaller.
#include "points/points.h"

#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/parallel.h"

typedef struct mat3f {
    float m[9];
} mat3f;

typedef struct type_facts {
    size_t size;
    const char *name, *label;
} type_facts;

static const type_facts types[RH_POINT_TYPES] = {
    [RH_POINT_F32] = {sizeof(float), "float", "points.float"},
    [RH_POINT_I32] = {sizeof(int32_t), "int32", "points.int32"},
    [RH_POINT_I64] = {sizeof(int64_t), "int64", "points.int64"},
    [RH_POINT_VEC3F] = {sizeof(rh_vec3), "vec3f", "points.vec3f"},
    [RH_POINT_MAT3F] = {sizeof(mat3f), "mat3f", "points.mat3f"},
    [RH_POINT_GROUP] = {sizeof(uint8_t), "group", "points.group"},
};

size_t rh_point_type_size(rh_point_type type) { return types[type].size; }
const char *rh_point_type_name(rh_point_type type) { return types[type].name; }

void rh_points_init(rh_points *points) { memset(points, 0, sizeof *points); }

void rh_points_free(rh_points *points)
{
    for (int i = 0; i < points->attribute_count; i++) rh_free(points->attributes[i].data);
    rh_free(points->spare);
    rh_points_init(points);
}

bool rh_point_is_colour(const char *name, rh_point_type type)
{
    return type == RH_POINT_VEC3F && strcmp(name, "Cd") == 0;
}

static rh_code check_fits(rh_point_type type, int64_t elements, rh_status *status)
{
    if (elements >= 0 && (uint64_t)elements <= SIZE_MAX / 2 / types[type].size) return RH_OK;
    return rh_fail(status, RH_MEMORY, "out of memory: %lld points of type %s do not fit", (long long)elements,
                   types[type].name);
}

// NULL with a status when the size does not fit or memory runs out.
static void *new_block(rh_point_type type, int64_t elements, rh_status *status)
{
    if (check_fits(type, elements, status) != RH_OK) return NULL;
    return rh_alloc((size_t)elements * types[type].size, types[type].label, status);
}

static rh_code block_resize(rh_point_type type, void **block, int64_t elements, rh_status *status)
{
    RH_TRY(check_fits(type, elements, status));
    void *fresh = rh_realloc(*block, (size_t)elements * types[type].size, types[type].label, status);
    if (!fresh) return RH_MEMORY;
    *block = fresh;
    return RH_OK;
}

rh_attribute *rh_points_find(const rh_points *points, const char *name)
{
    for (int i = 0; i < points->attribute_count; i++)
        if (strcmp(points->attributes[i].name, name) == 0) return (rh_attribute *)&points->attributes[i];
    return NULL;
}

void *rh_points_data(const rh_points *points, const char *name, rh_point_type type)
{
    const rh_attribute *attribute = rh_points_find(points, name);
    RH_ASSERT(attribute && attribute->type == type);
    (void)type;
    return attribute->data;
}

static rh_code check_type(const rh_attribute *found, rh_point_type type, rh_status *status)
{
    if (found->type == type) return RH_OK;
    return rh_fail(status, RH_USER, "point attribute '%s' exists as %s, wanted as %s", found->name,
                   types[found->type].name, types[type].name);
}

static rh_code append(rh_points *points, const char *name, rh_point_type type, void *data, bool uniform)
{
    rh_attribute *fresh = &points->attributes[points->attribute_count++];
    *fresh = (rh_attribute){.type = type, .data = data, .uniform = uniform};
    memcpy(fresh->name, name, strlen(name));
    return RH_OK;
}

static rh_code check_room(const rh_points *points, const char *name, rh_status *status)
{
    if (name[0] == 0) return rh_fail(status, RH_USER, "a point attribute has an empty name");
    if (strlen(name) >= RH_POINT_NAME)
        return rh_fail(status, RH_USER, "point attribute name '%.64s' is longer than %d letters", name,
                       RH_POINT_NAME - 1);
    if (points->attribute_count == RH_POINTS_MAX_ATTRIBUTES)
        return rh_fail(status, RH_USER, "no room for point attribute '%s': there are %d already", name,
                       RH_POINTS_MAX_ATTRIBUTES);
    return RH_OK;
}

static void fill(void *data, const void *value, size_t size, int64_t count)
{
    for (int64_t i = 0; i < count; i++) memcpy((char *)data + (size_t)i * size, value, size);
}

// Who adds an attribute that is uniform so far wants to give each point its own: keep the value, widen the storage.
static rh_code widen(rh_points *points, rh_attribute *attribute, rh_status *status)
{
    void *data = new_block(attribute->type, points->capacity, status);
    if (!data) return RH_MEMORY;
    fill(data, attribute->data, types[attribute->type].size, points->count);
    rh_free(attribute->data);
    attribute->data = data;
    attribute->uniform = false;
    return RH_OK;
}

rh_code rh_points_add(rh_points *points, const char *name, rh_point_type type, rh_status *status)
{
    rh_attribute *found = rh_points_find(points, name);
    if (found) {
        RH_TRY(check_type(found, type, status));
        return found->uniform ? widen(points, found, status) : RH_OK;
    }
    RH_TRY(check_room(points, name, status));
    void *data = new_block(type, points->capacity, status);
    if (!data) return RH_MEMORY;
    memset(data, 0, (size_t)points->count * types[type].size);
    return append(points, name, type, data, false);
}

rh_code rh_points_add_uniform(rh_points *points, const char *name, rh_point_type type, const void *value,
                              rh_status *status)
{
    RH_ASSERT(value);
    const rh_attribute *found = rh_points_find(points, name);
    if (found) return check_type(found, type, status);
    RH_TRY(check_room(points, name, status));
    void *data = new_block(type, 1, status);
    if (!data) return RH_MEMORY;
    memcpy(data, value, types[type].size);
    return append(points, name, type, data, true);
}

// One attribute after the other, so that no more than one has two blocks at a time: with all at once the seeding of a
// run needed more memory than any of its steps. A failure leaves the values, and some blocks as large as was asked.
static rh_code move_to_blocks(rh_points *points, int64_t elements, rh_status *status)
{
    RH_ASSERT(points->count <= elements);
    for (int i = 0; i < points->attribute_count; i++) {
        rh_attribute *attribute = &points->attributes[i];
        if (attribute->uniform) continue;
        RH_TRY(block_resize(attribute->type, &attribute->data, elements, status));
    }
    return RH_OK;
}

rh_code rh_points_reserve(rh_points *points, int64_t capacity, rh_status *status)
{
    RH_ASSERT(points->count <= points->capacity);
    if (capacity <= points->capacity) return RH_OK;
    RH_TRY(move_to_blocks(points, capacity, status));
    points->capacity = capacity;
    return RH_OK;
}

rh_code rh_points_fit(rh_points *points, rh_status *status)
{
    if (points->capacity == points->count) return RH_OK;
    RH_ASSERT(!points->spare_lent);
    points->capacity = points->count;  // a failure leaves some blocks larger than that
    rh_free(points->spare);            // a spare of another size than the blocks could not swap places with them
    points->spare = NULL;
    points->spare_bytes = 0;
    return move_to_blocks(points, points->count, status);
}

rh_code rh_points_resize(rh_points *points, int64_t count, rh_status *status)
{
    RH_ASSERT(count >= 0);
    if (count > points->capacity) {
        // Half as much again: a steady inflow then copies each point a bounded number of times.
        int64_t grown = points->capacity < INT64_MAX / 2 ? points->capacity + points->capacity / 2 : count;
        RH_TRY(rh_points_reserve(points, grown > count ? grown : count, status));
    }
    for (int i = 0; i < points->attribute_count && count > points->count; i++) {
        rh_attribute *attribute = &points->attributes[i];
        size_t size = types[attribute->type].size;
        if (!attribute->uniform)
            memset((char *)attribute->data + (size_t)points->count * size, 0, (size_t)(count - points->count) * size);
    }
    points->count = count;
    return RH_OK;
}

static bool same_attributes(const rh_points *a, const rh_points *b)
{
    bool same = a->attribute_count == b->attribute_count;
    for (int i = 0; i < a->attribute_count && same; i++) {
        const rh_attribute *x = &a->attributes[i], *y = &b->attributes[i];
        same = strcmp(x->name, y->name) == 0 && x->type == y->type && x->uniform == y->uniform;
    }
    return same;
}

static rh_code declare_same(const rh_points *from, rh_points *to, rh_status *status)
{
    rh_points_free(to);
    for (int i = 0; i < from->attribute_count; i++) {
        const rh_attribute *a = &from->attributes[i];
        if (a->uniform) RH_TRY(rh_points_add_uniform(to, a->name, a->type, a->data, status));
        else RH_TRY(rh_points_add(to, a->name, a->type, status));
        to->attributes[i].transient = a->transient;
    }
    return RH_OK;
}

rh_code rh_points_copy(const rh_points *from, rh_points *to, rh_status *status)
{
    RH_ASSERT(from != to && rh_points_is_valid(from));
    if (!same_attributes(from, to) && declare_same(from, to, status) != RH_OK) {
        rh_points_free(to);
        return RH_MEMORY;
    }
    RH_TRY(rh_points_reserve(to, from->count, status));
    for (int i = 0; i < from->attribute_count; i++) {
        const rh_attribute *a = &from->attributes[i];
        memcpy(to->attributes[i].data, a->data, (size_t)(a->uniform ? 1 : from->count) * types[a->type].size);
    }
    to->count = from->count;
    return RH_OK;
}

// The largest attribute decides; its blocks and the spare are interchangeable.
static rh_code ensure_spare(rh_points *points, rh_status *status)
{
    size_t size = 0;
    rh_point_type largest = RH_POINT_F32;
    for (int i = 0; i < points->attribute_count; i++) {
        if (points->attributes[i].uniform || types[points->attributes[i].type].size <= size) continue;
        largest = points->attributes[i].type;
        size = types[largest].size;
    }
    if (points->spare_bytes >= (size_t)points->capacity * size) return RH_OK;
    RH_TRY(block_resize(largest, &points->spare, points->capacity, status));  // its pages are worth keeping
    points->spare_bytes = (size_t)points->capacity * size;
    return RH_OK;
}

#define GATHER(element)                                                                                                \
    do {                                                                                                               \
        const element *source = from;                                                                                  \
        element *target = to;                                                                                          \
        _Pragma("omp parallel for schedule(static)") for (int64_t i = 0; i < count; i++) target[i] = source[order[i]]; \
    } while (0)

static void gather(rh_point_type type, const void *from, void *to, const uint32_t *order, int64_t count)
{
    switch (type) {
    case RH_POINT_F32: GATHER(float); break;
    case RH_POINT_I32: GATHER(int32_t); break;
    case RH_POINT_I64: GATHER(int64_t); break;
    case RH_POINT_VEC3F: GATHER(rh_vec3); break;
    case RH_POINT_MAT3F: GATHER(mat3f); break;
    case RH_POINT_GROUP: GATHER(uint8_t); break;
    }
}

static void copy_back(char *to, const char *from, size_t bytes)
{
    enum { PART = 1 << 18 };
#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < bytes; at += PART) memcpy(to + at, from + at, bytes - at < PART ? bytes - at : PART);
}

rh_code rh_points_permute(rh_points *points, const uint32_t *order, int64_t count, rh_status *status)
{
    RH_ASSERT(count >= 0 && count <= points->count);
    RH_ASSERT(!points->spare_lent);
    RH_TRY(ensure_spare(points, status));
    for (int i = 0; i < points->attribute_count; i++) {
        rh_attribute *attribute = &points->attributes[i];
        if (attribute->uniform) continue;
        size_t size = types[attribute->type].size;
        gather(attribute->type, attribute->data, points->spare, order, count);
        if ((size_t)points->capacity * size == points->spare_bytes) {
            void *old = attribute->data;
            attribute->data = points->spare;
            points->spare = old;
        } else {
            copy_back(attribute->data, points->spare, (size_t)count * size);
        }
    }
    points->count = count;
    return RH_OK;
}

void rh_points_inherit(rh_points *points, int64_t from, int64_t to)
{
    RH_ASSERT(from < points->count && to < points->count);
    for (int i = 0; i < points->attribute_count; i++) {
        const rh_attribute *attribute = &points->attributes[i];
        size_t size = types[attribute->type].size;
        char *data = attribute->data;
        if (!attribute->uniform) memcpy(data + (size_t)to * size, data + (size_t)from * size, size);
    }
}

int64_t rh_points_group_size(const rh_points *points, const rh_attribute *group)
{
    RH_ASSERT(group->type == RH_POINT_GROUP);
    const uint8_t *member = group->data;
    if (group->uniform) return member[0] ? points->count : 0;
    int64_t size = 0;
#pragma omp parallel for schedule(static) reduction(+ : size)
    for (int64_t i = 0; i < points->count; i++) size += member[i] != 0;
    return size;
}

static bool attribute_is_valid(const rh_points *points, int index)
{
    const rh_attribute *attribute = &points->attributes[index];
    if (attribute->name[0] == 0 || !memchr(attribute->name, 0, RH_POINT_NAME)) return false;
    if ((int)attribute->type < 0 || (int)attribute->type >= RH_POINT_TYPES || !attribute->data) return false;
    return rh_points_find(points, attribute->name) == attribute;  // a second one of that name would be found first
}

bool rh_points_is_valid(const rh_points *points)
{
    if (points->count < 0 || points->count > points->capacity) return false;
    if (points->attribute_count < 0 || points->attribute_count > RH_POINTS_MAX_ATTRIBUTES) return false;
    for (int i = 0; i < points->attribute_count; i++)
        if (!attribute_is_valid(points, i)) return false;
    return points->spare || points->spare_bytes == 0;
}

// A point's hash is the sum over its attributes, each seeded with name and type, then mixed; the set's hash is the
// wrapping sum over points. Sums of integers do not depend on order, so neither the sort of the points, nor the order
// of attributes, nor the number of threads shows. `id` ties the values of a point together.
uint64_t rh_points_hash(const rh_points *points)
{
    RH_ASSERT(rh_points_is_valid(points));
    uint64_t seeds[RH_POINTS_MAX_ATTRIBUTES];
    uint64_t total = rh_mix64((uint64_t)points->count);
    for (int a = 0; a < points->attribute_count; a++) {
        const rh_attribute *attribute = &points->attributes[a];
        seeds[a] = rh_hash(attribute->name, strlen(attribute->name), (uint64_t)attribute->type + 1);
        total += rh_mix64(seeds[a]);
        if (attribute->uniform) total += rh_hash(attribute->data, types[attribute->type].size, ~seeds[a]);
    }
#pragma omp parallel for schedule(static) reduction(+ : total)
    for (int64_t i = 0; i < points->count; i++) {
        uint64_t one = 0;
        for (int a = 0; a < points->attribute_count; a++) {
            const rh_attribute *attribute = &points->attributes[a];
            size_t size = types[attribute->type].size;
            if (!attribute->uniform) one += rh_hash((const char *)attribute->data + (size_t)i * size, size, seeds[a]);
        }
        total += rh_mix64(one);
    }
    return rh_mix64(total);
}
