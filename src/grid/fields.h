// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Named fields that live between steps: heat, dye, a gas. All fields of a material share one set of tiles, known by
// where each tile is, not by its number: numbers change whenever tiles come and go. A step brings the fields to its own
// tiles (rh_fields_carry), and from then on until the next carrying they are plain arrays over these tiles like any
// other field (grid/tiles.h): value c of tile t is axis[a][t * tiles.cells + c].
//
//   rh_tiles_from_keys(&tiles, 3, h, keys, count, arena, status)      or rh_tiles_build, around particles
//   rh_fields_carry(fields, &tiles, status)                           values of tiles that stay, background in new ones
//   float *heat = rh_fields_find(fields, "heat")->axis[0];
//
// Tiles are in the order of rh_tiles (Morton). Memory belongs to the fields; a carrying that needs no more tiles than
// an earlier one allocates nothing.
#pragma once
#include "grid/tiles.h"
#include "points/store.h"

enum { RH_MAX_FIELDS = 16, RH_FIELD_NAME = 32 };

typedef enum rh_field_kind {
    RH_FIELD_FLOAT,  // at cell centres
    RH_FIELD_VEC3,   // at cell centres
    RH_FIELD_FACES   // three components, each at its lower faces
} rh_field_kind;

typedef struct rh_field {
    char name[RH_FIELD_NAME];  // letters, digits and '_': it ends up in files
    rh_field_kind kind;
    float background;  // in tiles that are not there; of every component
    float *axis[3];    // [count * cells] each; axis[1] and axis[2] are NULL for floats
    float *spare[3];   // where a carrying copies to
} rh_field;

typedef struct rh_fields {
    int dimension;  // 2 or 3
    int cells;      // of a tile
    double h;       // m, of a cell
    int32_t count;  // tiles
    rh_tile *at, *spare_at;
    int32_t room;  // tiles that the arrays have room for
    rh_field items[RH_MAX_FIELDS];
    int field_count;
} rh_fields;

void rh_fields_init(rh_fields *fields, int dimension, double h);
void rh_fields_free(rh_fields *fields);

// Another field, everywhere its background; RH_USER when the name is taken or not fit for files, or there are too many.
rh_code rh_fields_add(rh_fields *fields, const char *name, rh_field_kind kind, float background, rh_status *status);
rh_field *rh_fields_find(rh_fields *fields, const char *name);  // NULL when missing

// The fields over `tiles`, which have the same dimension and cells: what is on tiles of both stays to the bit, tiles
// that are new get the background, others are dropped.
rh_code rh_fields_carry(rh_fields *fields, const rh_tiles *tiles, rh_status *status);

// For files: the whole of the fields by name, and back. `fields` has been initialised with the same dimension and cell
// and may already have fields: a stored field of another kind is RH_IO, and so is anything else that does not fit.
rh_code rh_fields_put(const rh_fields *fields, const rh_store *to, rh_status *status);
rh_code rh_fields_get(rh_fields *fields, const rh_store *from, rh_status *status);

// The number of the tile at a place among the tiles; -1 when it is not there. And a component of a field there (m),
// linear between the places of its values.
int32_t rh_fields_tile(const rh_fields *fields, rh_tile at);
float rh_fields_sample(const rh_fields *fields, const rh_field *field, int component, rh_vec3 place);

static inline int rh_field_components(rh_field_kind kind) { return kind == RH_FIELD_FLOAT ? 1 : 3; }
uint64_t rh_fields_hash(const rh_fields *fields);  // of all bits, names and places included, to compare runs
bool rh_fields_fit(const rh_fields *fields, const rh_tiles *tiles);  // for assertions: carried to these tiles
