// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Mist: the water that is finer than any drop of a spray, as a density on a grid, and the air that it floats in. A
// layer over the particles of another run (`from:`), spray or droplets, which lose nothing: they shed mist and drag the
// air along; mist makes air heavier, sinks, spreads and dries up. Its fields are `mist` (kg of water in a m^3) and
// `air` (m/s, relative to the wind). docs/theory/mist.md tells the method.
#pragma once
#include "physics/physics.h"

typedef struct rh_mist_params {
    char *over;      // the base run; owned
    char *group;     // only its particles of this group; NULL: all; owned
    double finest;   // m: only particles with radii up to this
    double rate;     // 1/s: share of a particle's mass that becomes mist in a second
    double drag;     // 1/s: how fast a particle and the air come to the same velocity, if it were as heavy as the air
    double density;  // kg/m^3, of the particles
    double air_density;  // kg/m^3
    double fall;         // m/s: mist sinks through the air
    double life;         // s until a share 1/e of it is left; 0: it stays
    double diffusivity;  // m^2/s
    rh_dvec3 wind;       // m/s
    double cfl;          // cells
    double least;        // kg/m^3 that count as none
} rh_mist_params;

extern const rh_param_table rh_mist_table;
extern const rh_physics rh_mist;
