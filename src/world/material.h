// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A material of a run: one method with its parameters and particle sets, and all that belongs to it alone: where its
// particles come from, programs, probes, balance, limits, reports, and a clock. Materials meet at certain times (all of
// them at frames) and take steps of their own in between; nothing a material does before it meets others depends on
// them, so it gives the bits it gives alone.
//
// A part of world.c, saving.c, run.c and predict.c, as parts.h is.
#pragma once
#include "grid/fields.h"
#include "lang/cache.h"
#include "points/sets.h"
#include "points/store.h"
#include "solid/dynamics.h"
#include "world/base_frames.h"
#include "world/geometry.h"
#include "world/health.h"
#include "world/hooks.h"
#include "world/marks.h"
#include "world/probes.h"
#include "world/seed.h"
#include "world/wall_impulses.h"
#include "world/world.h"

enum { RH_MAX_INFLOWS = 64 };

typedef struct rh_material {
    const rh_scene *scene;  // borrowed
    int index;              // in the scene's list
    const char *name;       // borrowed from the scene
    const rh_physics *physics;
    const void *params;    // of the method; borrowed from the scene
    void *method;          // the physics' own object
    rh_geometry geometry;  // shares all but the walls, which are as the method sees them
    rh_seeder seeder;
    rh_sets sets;
    rh_points *points;        // the main one of the sets
    rh_fields fields;         // of the method, which live between steps
    const rh_shape **bodies;  // its own of the geometry's
    rh_inflow inflows[RH_MAX_INFLOWS];
    rh_obstacles solids_start, solids_end;  // of the step in progress; between steps: geometry.obstacles
    rh_surroundings around;
    rh_hooks *hooks;         // NULL without programs
    rh_marks marks;          // age, way, masks
    rh_probes *probes;       // NULL without probes
    rh_wall_impulses walls;  // the work of what moves; only where something does
    bool has_work;
    rh_dynamics *dynamics;  // of the world; NULL without dynamic solids
    double *touched;        // owned: impulses of contacts, [6 a dynamic solid]
    rh_observer observer;   // of steps, for both
    int declared;           // attributes of the world and of the method; those after them are of programs
    rh_memory_store *kept;  // the state before a step that may have to be tried again; NULL where none is needed

    double time;       // s: how far it has come
    double last_dt;    // s, of its last step; 0 before the first
    int64_t step;      // steps it has taken
    int substeps;      // of these in the frame in progress
    int retries;       // of the last step
    int64_t measured;  // particles that had been put in and not taken out when the last step measured the volume
    rh_health_limits limits;
    rh_progress progress;
    rh_step_report report;
} rh_material;

// What all materials of a run know of it in one call.
typedef struct rh_material_moment {
    int64_t frame;
    rh_base_frames *const *bases;         // runs that this one stands on
    const rh_base_run *const *base_runs;  // the same as methods see them
    int base_count;
    const atomic_int *stop;  // programs are broken off when it is not zero; NULL: nobody asks
} rh_material_moment;

// Everything but its particles: `geometry` and dynamic solids are the run's, `programs` its cache (NULL when the scene
// has none). On failure what was made is freed with rh_material_free.
rh_code rh_material_init(rh_material *m, const rh_scene *scene, int index, const rh_geometry *geometry,
                         rh_dynamics *dynamics, rh_lang_cache *programs, rh_status *status);
void rh_material_free(rh_material *m);

// Fills its bodies and runs what programs have to say to it.
rh_code rh_material_seed(rh_material *m, const rh_material_moment *now, rh_status *status);
// Emits what is due.
rh_code rh_material_emit(rh_material *m, const rh_material_moment *now, rh_status *status);
// Its programs of a moment, on the particles from `first` on.
rh_code rh_material_hooks(rh_material *m, const rh_material_moment *now, rh_expression_at at, double dt, int64_t first,
                          rh_status *status);
// One step of at most `limit` s; *dt gets its length.
rh_code rh_material_step(rh_material *m, const rh_material_moment *now, double limit, double *dt, rh_status *status);
// The longest step that its method allows now, s; without particles as far as emitters go.
rh_code rh_material_longest_step(rh_material *m, const rh_material_moment *now, double limit, double *step,
                                 rh_status *status);

void rh_material_fill_progress(rh_material *m, double dt, double seconds);
// What programs took since they were asked last: a stage of its own, the last one. Returns it (s).
double rh_material_add_stage(rh_material *m);
// RH_USER, naming `who` and the groups that there are, when the material has no group of this name.
rh_code rh_material_find_group(const rh_material *m, const char *who, const char *group, rh_status *status);
double rh_material_particle_mass(const rh_material *m);  // kg (kg/m in two dimensions)
// The balance at the end of a frame, into its progress.
void rh_material_balance(rh_material *m);

// All that decides what comes after, into a store and back (saving.c), but for emitters (get): their number may differ
// in a file.
rh_code rh_material_put_state(const rh_material *m, const rh_store *to, rh_status *status);
rh_code rh_material_get_state(rh_material *m, const rh_store *from, rh_status *status);

// How many particles it is expected to have at a time, an upper estimate; bodies counted by their bounds.
double rh_material_most_particles(const rh_material *m);
