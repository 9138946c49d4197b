// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Viscosity in a step of the liquid: between two projections, or together with the pressure, which take turns until the
// velocities fulfil both (a step of Stokes flow). All pointers are the caller's, memory the arena's.
#pragma once
#include "physics/incompressible.h"
#include "physics/pressure.h"
#include "physics/solid_coupling.h"

typedef struct rh_viscous_step {
    const rh_incompressible_options *params;
    const rh_surroundings *around;
    const rh_tiles *tiles;
    const rh_surface *surface;
    const rh_cut_cells *cut;
    const char *name;  // of the method, for messages
    rh_points *points;
    float kick;  // s: how long it acts
    rh_pressure *pressure;
    rh_solid_coupling *solids;  // with dynamic solids
    rh_faces velocity;          // m/s: projected once; projected again afterwards
    uint8_t *const *known;
    rh_faces weight;  // particles around each face, `per_cell` of a full cell
    float per_cell;
    rh_faces change;    // m/s: what viscosity did
    rh_faces to_walls;  // m/s of a full cell: what walls got; axis[0] NULL: not asked for
    float *pressed;     // out: the part of q whose effect on walls is not in `to_walls`; NULL: all of it
    rh_code (*project)(void *user, rh_status *status);
    void *user;
    rh_arena *arena;
    rh_step_report *report;
} rh_viscous_step;

static inline bool rh_is_viscous(const rh_incompressible_options *o) { return o->viscosity > 0 || o->viscosity_varies; }

// Velocities, dynamic solids and q (then that of all projections together) are changed.
rh_code rh_viscous_act(rh_viscous_step *s, rh_status *status);

// Mean viscosity (Pa s) of the particles of a tile.
double rh_viscous_of_tile(const rh_incompressible_options *options, const rh_tiles *tiles, const rh_points *points,
                          int32_t t);
