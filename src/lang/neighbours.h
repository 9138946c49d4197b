// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A read-only picture of all points before the pass, for the neighbour functions of the expression language: where they
// are (points/neighbours.h) and what they carry.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"
#include "base/vec.h"
#include "points/neighbours.h"

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
    rh_neighbours near;
} rh_lang_snapshot;

// `cell` (m) is best the radius that will be asked for; 0 lets the number of points decide. Positions that are not
// finite have no neighbours and are nobody's. `arrays` and what they point to stay the caller's and must outlive the
// snapshot; RH_USER when one has a type that is not known here.
rh_code rh_lang_snapshot_init(rh_lang_snapshot *snapshot, const rh_vec3 *positions, int64_t count, double cell,
                              const rh_lang_array *arrays, int array_count, rh_status *status);
void rh_lang_snapshot_free(rh_lang_snapshot *snapshot);
