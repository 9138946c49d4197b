// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Where particles come from and go to: bodies at the start, emitters, sinks.
//
// All new particles sit on one lattice with the particle spacing, jittered, so that bodies that touch fill space
// without gap or overlap, and every particle stands for the same volume: the number put in is the volume put in, to the
// nearest particle (seed_region.h, emitter_flow.h).
//
// With `rest_position: true` in the scene a particle also gets the attribute `rest` (m), which nothing changes
// afterwards: a coordinate for textures that moves with the material. Of a body it is the place of the particle. What
// an emitter pours is one long rod that comes down its velocity; there it is the place in the rod when the emitter
// starts, P - velocity (time - start). So layers poured at different times differ and the texture has no seam.
#pragma once
#include "points/points.h"
#include "world/balance.h"
#include "world/geometry.h"
#include "world/emitter_flow.h"
#include "world/marks.h"

typedef struct rh_seeded {
    double volume;  // m^3 (m^2 in two dimensions) asked for: of the shape, without solids and earlier bodies
    int64_t count;  // of particles
} rh_seeded;

typedef struct rh_seeder {
    const rh_geometry *geometry;
    int material;    // whose bodies, emitters and sinks count: its number in the scene
    double spacing;  // m between particles
    double jitter;   // share of the usual: 0 = particles start exactly on the lattice; below 1 they are not fitted to
                     // surfaces
    int dimension;
    uint64_t seed;
    double new_radius, unit_radius;  // m: where particles have radii of their own, that of new ones, and of one that
                                     // weighs what `spacing` says; else both 0
    int64_t first_id;                // ids are this and next_id: unique over all materials of a run
    int64_t next_id;
    int64_t received, given;         // particles that came from other materials, and went to them
    int64_t emitted, removed;        // by emitters and sinks so far
    double *emitted_until;           // per emitter: the time of its last emission; negative before the first (owned)
    rh_emitter_flow *emitter_flows;  // per emitter (owned)
    rh_seeded *filled;               // per body, once rh_seed_bodies has filled it (owned)
    rh_balance balance;              // what particles brought and took with them
    double lag;                      // s that velocities are behind places: half of the last step
    rh_sink_scratch sinks;           // (owned)
} rh_seeder;

rh_code rh_seeder_init(rh_seeder *seeder, const rh_geometry *geometry, int material, int particles_per_axis,
                       double jitter, rh_status *status);
void rh_seeder_free(rh_seeder *seeder);
// Is emitter n of its material?
bool rh_seeder_pours(const rh_seeder *seeder, int n);
bool rh_seeder_fills(const rh_seeder *seeder, int n);  // the same of body n

// Fills all bodies. Points need P, v, id and, when the scene says so, rest; viscosity, where a body or emitter has one
// of its own. RH_USER when a body has no end or no
// particle fits into it.
rh_code rh_seed_bodies(rh_seeder *seeder, rh_points *points, rh_status *status);
// Counts without making them: of one body, or of all.
rh_code rh_seed_body_count(const rh_seeder *seeder, int body, rh_seeded *out, rh_status *status);
rh_code rh_seed_count(const rh_seeder *seeder, int64_t *count, rh_status *status);
// What emitter n will have poured by a time (m^3, m^2 in two dimensions), solids in its way not looked at; negative of
// one that moves, which only emitting tells.
rh_code rh_seed_emitted_volume(const rh_seeder *seeder, int n, double time, double *volume, rh_status *status);

// About as many, from a coarser lattice of at most some million sites: quick however large the bodies are, and the
// exact number where they are small.
rh_code rh_seed_estimate(const rh_seeder *seeder, double *count, rh_status *status);

// Emits what enters each active emitter between its last emission and `time`: the volume of the shape once, then
// cross-section times speed times time, exact to one particle whatever the step size (emitter_flow.h). What has entered
// and left again meanwhile appears where it has got to. An emitter that moves is another matter: its liquid is a
// lattice that goes with the emission velocity, and a site becomes a particle when it first lies inside the shape; so
// it pours to within a layer of sites what its shape newly covers.
rh_code rh_emit(rh_seeder *seeder, double time, rh_points *points, rh_status *status);
// Removes particles inside active sinks.
rh_code rh_drain(rh_seeder *seeder, double time, rh_points *points, rh_status *status);
// The active emitters as inflows for the physics; returns how many (at most `max`).
int rh_inflows(const rh_seeder *seeder, double time, rh_inflow *out, int max);
