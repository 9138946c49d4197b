// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What methods have in common whose values live on fields (grid/fields.h) and are carried by a flow: tiles where there
// is something, advection, diffusion, a flow without divergence. Values and flow are at cell centres; beyond the tiles
// both are zero. Memory is the arena's.
#pragma once
#include "grid/fields.h"
#include "physics/physics.h"

enum { RH_TRANSPORT_VALUES = 4 };

typedef struct rh_transport_value {
    float *at;        // over the tiles
    float low, high;  // it is kept between
} rh_transport_value;

// The tiles in which a field (floats, or the first component) is above `least`, and `more`, which may be named often,
// with all their neighbours; the fields are carried over to them.
rh_code rh_transport_tiles(rh_fields *fields, const char *name, double least, const rh_tile *more, int64_t more_count,
                           rh_arena *arena, rh_tiles *tiles, rh_status *status);
// Values after `dt` (s) in the flow (m/s), which they may be components of. Paths are at most four cells long.
rh_code rh_transport_advect(const rh_tiles *tiles, rh_faces flow, double dt, const rh_transport_value *values,
                            int count, rh_arena *arena, rh_status *status);
// `share`: diffusivity times step over the square of a cell. Nothing goes into solids.
rh_code rh_transport_diffuse(const rh_tiles *tiles, double share, const uint8_t *solid, float *values, rh_arena *arena,
                             rh_step_report *report, rh_status *status);
// Takes from a flow what diverges, with open air around the tiles and no flow through the walls of solids.
rh_code rh_transport_project(const rh_tiles *tiles, const uint8_t *solid, rh_faces flow, rh_arena *arena,
                             rh_step_report *report, rh_status *status);
// What is below `least` is none: what spreads without end would fill tiles and files with numbers that nobody sees, and
// slow ones at that.
void rh_transport_forget(const rh_tiles *tiles, double least, float *values);
