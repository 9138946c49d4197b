// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A particle set: structure of arrays, attributes by name and type. The names are what lands in files and what users
// see: P (position, m), v (velocity, m/s), id (stable for ever), radius (m) ...
//
// Order: whoever needs it sorted by tile and cell sorts it (rh_tiles_sort); nothing here depends on order. `id` tells
// who is who.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"
#include "base/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum rh_point_type {
    RH_POINT_F32,    // float
    RH_POINT_I32,    // int32_t
    RH_POINT_I64,    // int64_t
    RH_POINT_VEC3F,  // rh_vec3
    RH_POINT_MAT3F,  // float[9], rows
    RH_POINT_GROUP,  // uint8_t, 1: the point is in the group of that name, 0: it is not; no other value
} rh_point_type;

// Room for 32 groups beside what methods and users need.
enum { RH_POINT_TYPES = 6, RH_POINTS_MAX_ATTRIBUTES = 64, RH_POINT_NAME = 32 };

typedef struct rh_attribute {
    char name[RH_POINT_NAME];
    rh_point_type type;
    void *data;      // capacity elements, or one element when uniform
    bool uniform;    // one value for all points (radius usually)
    bool transient;  // not written to frame files (still part of checkpoints)
} rh_attribute;

typedef struct rh_points {
    int64_t count, capacity;
    rh_attribute attributes[RH_POINTS_MAX_ATTRIBUTES];
    int attribute_count;
    void *spare;  // the buffer a permutation writes into: capacity elements of the largest attribute's size
    size_t spare_bytes;
    bool spare_lent;  // the spare holds a step's grid until the step ends: no permutation meanwhile; for assertions
} rh_points;

void rh_points_init(rh_points *points);
void rh_points_free(rh_points *points);

size_t rh_point_type_size(rh_point_type type);
const char *rh_point_type_name(rh_point_type type);  // "float", "int32", "int64", "vec3f", "mat3f", "group"
// Cd is a colour (linear, 0 to 1), as in Houdini: three numbers that are no direction, so files with z up do not turn
// them.
bool rh_point_is_colour(const char *name, rh_point_type type);

// Adds an attribute (zero for existing points); does nothing when it exists with that type, RH_USER when with another.
rh_code rh_points_add(rh_points *points, const char *name, rh_point_type type, rh_status *status);
rh_code rh_points_add_uniform(rh_points *points, const char *name, rh_point_type type, const void *value,
                              rh_status *status);
rh_attribute *rh_points_find(const rh_points *points, const char *name);  // NULL when missing
// Data by name; asserts existence and type (for attributes a physics method requires).
void *rh_points_data(const rh_points *points, const char *name, rh_point_type type);

rh_code rh_points_reserve(rh_points *points, int64_t capacity, rh_status *status);
// Gives back what growing has left over.
rh_code rh_points_fit(rh_points *points, rh_status *status);
// New points are zero in every attribute.
rh_code rh_points_resize(rh_points *points, int64_t count, rh_status *status);
// Point i becomes what point order[i] was, for i < count; count may be smaller than the old one (that is how points are
// removed).
rh_code rh_points_permute(rh_points *points, const uint32_t *order, int64_t count, rh_status *status);

// Point `to` gets every attribute of point `from`, id included.
void rh_points_inherit(rh_points *points, int64_t from, int64_t to);

// Makes `to` the same as `from`, blocks it already has being used again. `to` is empty or an earlier copy. A failure
// leaves it as it was, or empty.
rh_code rh_points_copy(const rh_points *from, rh_points *to, rh_status *status);

int64_t rh_points_group_size(const rh_points *points, const rh_attribute *group);  // how many points are in it

bool rh_points_is_valid(const rh_points *points);  // structure only; for assertions and tests
uint64_t rh_points_hash(const rh_points *points);  // of all bits, in id order when "id" exists: independent of the sort

#ifdef __cplusplus
}
#endif
