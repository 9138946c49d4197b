// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The mass of a solid: volume, centre of mass and inertia, by integrating its mesh or its signed distance. All in the
// solid's own space (solid/shape.h); a pose turns and moves them. In two dimensions everything is per metre of depth:
// the volume an area (m^2), the mass kg/m, and only the inertia about z means anything.
#pragma once
#include "base/status.h"
#include "base/vec.h"
#include "solid/shape.h"

typedef struct rh_mass {
    double volume;    // m^3
    double mass;      // kg
    rh_dvec3 center;  // m: the centre of mass
    rh_mat3 inertia;  // kg m^2, about the centre of mass
} rh_mass;

// Mass of a closed mesh, exactly (but for rounding), whatever the orientation of its triangles. `density` in kg/m^3.
// RH_USER when it encloses nothing.
rh_code rh_mass_of_mesh(const rh_mesh *mesh, double density, rh_mass *out, rh_status *status);
// Mass of any bounded shape: exact of balls, boxes with sharp edges, and in three dimensions cylinders, capsules and
// rings; of others to some 1e-4 of its size squared. RH_USER when it is unbounded or nothing lies inside.
rh_code rh_mass_of_shape(const rh_shape *shape, double density, rh_mass *out, rh_status *status);
// The same thing, weighing `mass` kg.
rh_mass rh_mass_weighing(const rh_mass *of, double mass);
// The inertia along the axes of the world, of a solid that is placed so.
rh_mat3 rh_mass_inertia(const rh_mass *of, const rh_pose *pose);
