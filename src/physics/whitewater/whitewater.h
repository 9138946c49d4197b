// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Spray, foam and bubbles over the frames of another run (`from:`), after M. Ihmsen, N. Akinci, G. Akinci, M. Teschner,
// "Unified spray, foam and air bubbles for particle-based fluids", The Visual Computer 28 (2012). The base makes
// secondary particles where it is fast and traps air, where waves break, or where it whirls. Where a particle is
// relative to the surface decides its class (spray, foam or bubble), and the class decides how it moves.
// docs/theory/whitewater.md tells the method.
#pragma once
#include "physics/physics.h"

// The attribute `class`.
typedef enum rh_foam_class { RH_CLASS_SPRAY, RH_CLASS_FOAM, RH_CLASS_BUBBLE, RH_CLASSES } rh_foam_class;

// The values between which a potential grows from 0 to 1, and how much is made at 1.
typedef struct rh_potential {
    double low, high;
    double rate;  // particles a second that a particle of the base makes
} rh_potential;

typedef struct rh_whitewater_params {
    char *over;                                       // the base run; owned
    char *drops;                                      // the run of drops that fall into it, or NULL; owned
    double entry;                                     // bubbles that a drop leaves
    double entry_speed;                               // m/s: slower drops leave none
    rh_potential trapped_air, wave_crest, vorticity;  // m/s; 1; 1/s
    double speed_low, speed_high;                     // m/s: nothing is made below, all above
    double thinnest;                                  // share of liquid below which nothing is made
    double interval;                                  // s between emissions
    double amount;                                    // factor of all rates
    int64_t max_particles;
    double min_radius, max_radius;     // m
    double min_life, max_life;         // s of foam, of the smallest and the largest
    double max_age;                    // s, of any
    double spray_below, bubble_above;  // shares of the liquid around a place
    double spray_drag;                 // 1/s
    rh_dvec3 wind;                     // m/s
    double buoyancy, bubble_drag;      // in units of gravity; 1/s
    double gather;                     // m/s
    double cfl;                        // cells a step
    double restitution;
    bool spray, foam, bubbles;  // which are kept
} rh_whitewater_params;

extern const rh_param_table rh_whitewater_table;
extern const rh_physics rh_whitewater;
