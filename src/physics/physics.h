// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A physics method is a small table of functions. A new method is a new folder under physics/ and one line in
// registry.c. The world gives each step its surroundings (rh_surroundings) and the particles; the method keeps its own
// scratch between steps. State that the particles do not carry it saves and loads (`save`, `load`).
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/param.h"
#include "base/status.h"
#include "points/points.h"
#include "points/sets.h"
#include "points/store.h"
#include "solid/obstacles.h"

// A region that pours liquid in at a fixed velocity: inside it the method must not change the flow.
typedef struct rh_inflow {
    const rh_shape *shape;
    rh_pose pose;
    rh_dvec3 velocity;  // m/s
    rh_dbox bounds;     // m: around the region
} rh_inflow;

// What surrounds the material during one step.
typedef struct rh_surroundings {
    int dimension;  // 2 or 3
    double cell;    // m
    uint64_t seed;
    int64_t first_id;  // of the material: random numbers of a particle are a function of its id less this
    int64_t *next_id;  // less first_id: a method that makes particles increases it. NULL where there is no world around
    rh_dvec3 gravity;
    // Acceleration (m/s^2) of all body forces at a point, gravity included: the mean over the times from < to, so that
    // intervals without gap or overlap miss no short pulse and count none twice. NULL = gravity alone from the middle
    // of the last step to the end of this one.
    rh_dvec3 (*acceleration)(rh_dvec3 point, double from, double to, const void *user);
    const void *user;
    double strongest;  // m/s^2: bound of the acceleration until the end of the frame, for the choice of a time step
    // Solids at the start of the step, with the velocities of its middle (max_step: of its start), and at its end.
    const rh_obstacles *obstacles, *obstacles_after;
    const rh_inflow *inflows;  // active ones
    int inflow_count;
    double time;         // at the start of the step
    double previous_dt;  // s: length of the step before this one; 0 at the start of a run
    int64_t step;
    rh_sets *sets;  // of the material: the particles are the main one, a method's `create` may add others. NULL where
                    // there is no world around (tests)
    struct rh_fields *fields;  // of the material, which live between steps (grid/fields.h): a method's `create` adds
                               // its own. NULL where there is no world around (tests)
    const rh_shape *const *bodies;  // of the material, in the world: where it is at the start. Methods with particles
                                    // need not look
    int body_count;
    const struct rh_base_run *const *bases;  // base runs (`from:`, physics/base_run.h), at the middle of the
    int base_count;                          // step; at its start for max_step
    const struct rh_observer *observer;      // who measures the step (physics/observer.h); NULL = nobody
    struct rh_dynamics *dynamics;  // dynamic solids (solid/dynamics.h), which a step may move; NULL = there are none
} rh_surroundings;

enum { RH_MAX_STAGES = 24, RH_MAX_SOLVES = 3 };

// What a solve with bounds did, by kind of solver step (solve/mprgp.h).
typedef struct rh_solve_report {
    const char *stage;  // the stage that the solve belongs to
    int iterations;     // all kinds
    int cg, expansions, proportionings;
    int preparations;  // of the preconditioner
} rh_solve_report;

enum { RH_SQUEEZE_SOLIDS = 4 };

// Walls press material into less room than its volume needs (physics/sealed.h).
typedef struct rh_squeeze {
    bool found;
    double content, room;           // m^3 (m^2 in 2D): what the particles stand for, and what walls leave
    rh_dvec3 place;                 // m: the cell with the largest excess
    int solids[RH_SQUEEZE_SOLIDS];  // some of its walls, as numbers of obstacles: those that can move first
    int solid_count;
} rh_squeeze;

// What a step reports, for log and progress.
typedef struct rh_step_report {
    int64_t cells, tiles;  // material cells, all tiles
    int64_t wall_samples;  // of methods that see walls as samples: how many there were
    int iterations;        // pressure solve; of all solves where they are told apart below
    double residual;       // relative
    double volume;  // m^3 (m^2 in 2D) that the material takes up at the start of the step: inside the level set, or as
                    // grid/extent.h has it
    double max_speed;  // m/s, after the step
    const char *stage_names[RH_MAX_STAGES];
    double stage_seconds[RH_MAX_STAGES];
    int stage_count;
    rh_solve_report solves[RH_MAX_SOLVES];  // of methods with bounds
    int solve_count;
    bool unconverged;  // the step failed (RH_NUMERIC) because a solve did not converge, and has changed nothing of the
                       // points but their order: the world may try again with a shorter step
    rh_squeeze squeeze;  // the step failed (RH_NUMERIC) because of it, and has changed nothing but that order either
} rh_step_report;

typedef struct rh_physics {
    const char *name;
    const rh_param_table *params;
    // Creates the method's private object (parameters are borrowed) and adds the attributes it needs to `points`.
    rh_code (*create)(const void *params, const rh_surroundings *around, rh_points *points, void **self,
                      rh_status *status);
    void (*destroy)(void *self);  // NULL: nothing to give back
    // Largest stable and accurate time step from the present state (s).
    double (*max_step)(void *self, const rh_surroundings *around, const rh_points *points);
    rh_code (*step)(void *self, const rh_surroundings *around, double dt, rh_points *points, rh_step_report *report,
                    rh_status *status);
    // Particles per cell and axis: one that is seeded or emitted fills 1 / per_cell_axis^dimension of a cell.
    int (*per_cell_axis)(const void *params);  // 2 -> 8 a cell in 3D
    double (*density)(const void *params);     // kg/m^3 of the material at rest
    // Radius (m) of the particles that bodies and emitters make, where particles have radii of their own (attribute
    // `radius`), which say what they weigh; `filling` is the radius of a ball as large as the room of one particle.
    // NULL: all particles have that radius and weigh the same.
    double (*own_radius)(const void *params, double filling);
    // Most particles that the method makes by itself, for limits; NULL: none to speak of.
    double (*most_made)(const void *params);
    // How far seeded particles are displaced from the lattice at random, as a share of what suits a liquid: 0 for
    // methods that are sensitive to the mass in each cell. NULL is 1, and then particles are fitted to the surfaces of
    // bodies too.
    double (*jitter)(const void *params);
    // Bytes the method needs at its peak for so many particles and grid tiles, particles included (for `rheo check`).
    int64_t (*predict_bytes)(const void *params, int dimension, int64_t particles, int64_t tiles);
    // State that the particles do not carry, for checkpoints, snapshots and steps that are tried again; NULL = none.
    // `load` may find less than `save` puts, in checkpoints of earlier versions.
    rh_code (*save)(const void *self, const rh_store *to, rh_status *status);
    rh_code (*load)(void *self, const rh_store *from, rh_status *status);
    // Name of the run in `from:` that the parameters refer to; NULL: none. The function may be NULL.
    const char *(*base)(const void *params);
    const char *(*other_base)(const void *params);  // a second one
    // The least density of dynamic solids, as a share of its own, below which they would be thrown about. NULL: a
    // quarter where it pushes late, else any.
    double (*lightest)(const void *params);
    // Whether its surface is under tension, which does work (rh_step_view.jump). NULL: never.
    bool (*has_tension)(const void *params);
    bool base_points_only;   // it reads the particles of its base and asks about no places (rh_base_ask)
    bool without_particles;  // bodies and emitters make none: the method lives on fields alone
    bool moves_solids;       // its solve moves dynamic solids with the material (physics/solid_coupling.h)
    bool pushes_late;        // impulses that it gives to solids act one step later, or it does not share them
    bool walls_separate;     // walls with slip let the material part from them as well, whatever the scene says
} rh_physics;

static inline double rh_physics_jitter(const rh_physics *physics, const void *params)
{
    return physics->jitter ? physics->jitter(params) : 1;
}

extern const rh_physics *const rh_physics_methods[];     // NULL-terminated
extern const rh_param_table *const rh_physics_tables[];  // the same order, for RH_PARAM_VARIANT; NULL-terminated
