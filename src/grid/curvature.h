// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Curvature of the liquid's surface. A surface made of particles is bumpy at their spacing, which second derivatives
// make far worse: curvature is that of a smoothed surface (curvature.c), which moves nothing but the tension of the
// surface.
#pragma once
#include "grid/levelset.h"

typedef struct rh_curvature_input {
    const rh_tiles *tiles;
    const rh_surface *surface;
    const float *const *solid;  // m, tiles apart: distance to solids at cell centres, positive in free space
    double contact;             // cosine of the angle at which the surface meets solids, measured in the liquid
} rh_curvature_input;

// curvature->axis[a]: 1/m, on lower faces of cells of which just one of the two is inside, where the surface cuts the
// way between their centres; the sum of both principal curvatures, positive where the liquid is convex. 0 elsewhere.
// Memory of the result is taken from the arena.
rh_code rh_curvature_build(const rh_curvature_input *of, rh_faces *curvature, rh_arena *arena, rh_status *status);

// Most of k^3 times the part of a wave of wave number k (per cell) that the curvature sees: waves of frequency omega
// under tension alone have omega^2 = at most this times tension / (density h^3).
double rh_curvature_stiffness(void);
