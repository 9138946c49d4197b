// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Which points are near: a read-only picture of all points before the pass, for the neighbour functions of the
// expression language.
//
// Points are put into the cells of a grid without borders; the occupied cells stand in a hash table, the points in the
// order of cells (by key, then by index). A question about a radius visits the cells around, or all points where that
// is less. The order of the answer depends on the points and the cell's size only, never on threads.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"
#include "base/vec.h"

// A typed array of the snapshot. Types as in the language: "float", "int32", "int64", "double", "vec3f", "mat3f", and
// "group" for bytes 0 / 1.
typedef struct rh_lang_array {
    const char *name, *type;
    const void *data;  // not owned
    bool uniform;      // one value for all
} rh_lang_array;

typedef enum rh_lang_array_kind {
    RH_LANG_FLOATS,
    RH_LANG_DOUBLES,
    RH_LANG_INTS,
    RH_LANG_LONGS,
    RH_LANG_VECTORS,
    RH_LANG_MATRICES,
    RH_LANG_MEMBERS
} rh_lang_array_kind;

// An array as it is asked for: millions of times.
typedef struct rh_lang_field {
    const rh_lang_array *array;
    rh_lang_array_kind kind;
    size_t name_length, step;  // bytes from one element to the next; 0 when uniform
} rh_lang_field;

typedef struct rh_lang_snapshot {
    rh_lang_field *fields;  // of the host's arrays, which must hold still while the pass runs: the host copies what the
                            // program also writes
    int field_count;
    int64_t count;
    double cell;         // m
    rh_vec3 *positions;  // in the order of cells
    int64_t *index;      // element number of each
    uint64_t *keys;      // of the occupied cells, ascending
    int64_t *starts;     // first point of each occupied cell, and one more
    int64_t cells;
    int64_t *table;  // hash table: number of the occupied cell or -1
    uint64_t table_mask;
} rh_lang_snapshot;

// One answer; grows, and is used again and again.
typedef struct rh_lang_found {
    int64_t *index;   // element numbers
    rh_vec3 *offset;  // their position minus the place asked about (m)
    float *distance;  // m
    int64_t count, capacity;
} rh_lang_found;

// `cell` (m) is best the radius that will be asked for; 0 lets the number of points decide. Positions that are not
// finite have no neighbours and are nobody's. `arrays` and what they point to stay the caller's and must outlive the
// snapshot; RH_USER when one has a type that is not known here.
rh_code rh_lang_snapshot_init(rh_lang_snapshot *snapshot, const rh_vec3 *positions, int64_t count, double cell,
                              const rh_lang_array *arrays, int array_count, rh_status *status);
void rh_lang_snapshot_free(rh_lang_snapshot *snapshot);

// All points within `radius` of `place`, the border included, in fixed order.
rh_code rh_lang_find_within(const rh_lang_snapshot *snapshot, rh_vec3 place, float radius, rh_lang_found *found,
                            rh_status *status);
// Of these the `most` nearest, nearest first; at equal distance the smaller element number.
rh_code rh_lang_find_nearest(const rh_lang_snapshot *snapshot, rh_vec3 place, float radius, int64_t most,
                             rh_lang_found *found, rh_status *status);
void rh_lang_found_free(rh_lang_found *found);
