// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Tension of the liquid's surface as part of the projection (docs/theory/surface_tension.md): the pressure on the
// liquid's side of the surface is tension times curvature, and in long steps the surface gets inertia of its own, so
// that no step is too long.
//
// Lives in the step's arena. Used by pressure.c in this order: gather, load; in the solve: resist; then settle.
#pragma once
#include "grid/tiles.h"

struct rh_pressure;

enum { RH_TENSION_JOINS = 3 };

// A face between liquid and air.
typedef struct rh_tension_face {
    int64_t at;                      // its place in a face field
    int32_t cell;                    // of the liquid: its place in vectors of the pressure's operator
    int8_t axis;                     // of the face
    int8_t side;                     // 1: the liquid is below it, -1: above
    int32_t next[RH_TENSION_JOINS];  // faces that it is joined to, as are others to it; -1 = none
    float join[RH_TENSION_JOINS];    // 1 / cells between them
    float open, mass;                // shares: of the face in free space, of a full cell's mass that it moves
    float jump;                      // m/s: q on the liquid's side of the surface
} rh_tension_face;

typedef struct rh_surface_tension {
    rh_faces curvature;  // 1/m: rh_curvature_build
    float strength;      // m^2/s: q is so many times the curvature
    float inertia;       // of the surface against being bent, in masses of full cells; 0 = none
    float calming;       // of ripples, in the same unit
    float heavier;       // rh_pressure.heavier
    rh_tension_face *faces;
    int32_t count;
    int32_t *tile_first;                   // per tile, one more: its first face
    float *speed, *load, *bent, *inverse;  // scratch, a value a face
    rh_arena *arena;
    rh_status *status;  // of the first failure inside the solve
} rh_surface_tension;

// For `tension` (N/m) in a step of `dt` in which forces act for `kick` (s).
void rh_surface_tension_init(rh_surface_tension *s, rh_faces curvature, double tension, double density, double h,
                             double dt, double kick, rh_arena *arena, rh_status *status);
// Lists the faces; `velocity` is that before the projection.
rh_code rh_surface_tension_gather(rh_surface_tension *s, const struct rh_pressure *p, rh_faces velocity);
// b += what the tension adds to the right-hand side.
rh_code rh_surface_tension_load(rh_surface_tension *s, float *b);
// y += what the inertia of the surface changes in the operator's answer to x; returns x times what was added.
double rh_surface_tension_resist(void *s, const float *x, float *y);
// jump becomes the q at the surface that drives the faces, 0 on others.
rh_code rh_surface_tension_settle(rh_surface_tension *s, const struct rh_pressure *p, rh_faces jump);
