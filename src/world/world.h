// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The run: owns scene, particles and physics, chooses time steps, writes frames, checkpoints and the log. The command
// line and the library's public interface are thin layers over this.
//
//   rh_world_create -> (rh_world_resume) -> rh_world_run -> rh_world_free
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"
#include "physics/physics.h"
#include "points/points.h"
#include "points/sets.h"
#include "points/store.h"
#include "scene/scene.h"
#include "solid/dynamics.h"

typedef struct rh_world rh_world;

// Facts about the step or frame just done, for progress and log.
typedef struct rh_progress {
    const char *material;  // whose step it was; NULL where there is one alone
    int64_t frame, first_frame, last_frame;
    double time;            // s, simulated
    double frame_fraction;  // of the current frame done, 0..1
    int substeps;           // taken so far in this frame, of all materials
    int64_t step;           // since the start of the run
    double dt;              // s, last step
    int64_t particles, cells, tiles;
    int retries;  // how often the last step was tried again, each time half as long, because a solve did not converge
    int iterations;   // of the pressure solve, last step
    double residual;  // relative, last step
    double volume;    // m^3 (m^2 in 2D) that the material takes up, at the start of the last step: inside its surface
    double volume_error;  // that volume over what bodies and emitters put in less what sinks and programs took out,
                          // minus 1: below 0 when the material shrinks or the method loses particles
    double max_speed;     // m/s
    double kinetic_energy, potential_energy;  // J (in 2D of a layer 1 m thick), of the particles in gravity, height
                                              // from the origin; velocities are half a step behind positions; set at
                                              // the end of a frame, as the four below
    double energy_put_in;                     // J: what bodies and emitters brought, less what sinks took
    double work_solids, work_inflows, work_tension, work_forces,
        work_programs;     // J: done on the material by solids that move, by
                           // emitters that hold it at their velocity, by `forces`, by programs
    double energy_gained;  // J: kinetic and potential, at the moment of the velocities, less what was put in and less
                           // those four works: what the method gave (+) or took (-)
    rh_dvec3 momentum;     // kg m/s (in 2D of a layer 1 m thick)
    rh_dvec3 pushed;  // kg m/s: momentum beside what gravity, bodies, emitters and sinks account for: walls, forces,
                      // programs, the method
    int64_t emitted, removed;  // particles, in total
    int64_t received, given;   // particles that came from other materials, and went to them; of one material
    int64_t memory_bytes;
    double seconds;            // wall time of this step
    double surface_seconds;    // wall time of the frame's surface, when the run makes it; 0 but at the end of a frame
    double compile_seconds;    // spent compiling the scene's programs so far
    int64_t surface_failures;  // frames of this run whose surface could not be made; their points are there
} rh_progress;

typedef struct rh_run_options {
    const char *folder;   // run folder; made when missing; the caller holds its lock (io/lock.h). NULL: nothing is
                          // written (library use, tests)
    int64_t first, last;  // frames to do; 0, 0 = as the scene says
    const int64_t (*ranges)[2];  // of these, the frames to write: first and last of each; none = all
    int range_count;
    bool resumed;      // the folder is of this run: a look that was edited in its scene.yaml stays
    double deadline;   // s on the clock of base/clock.h: the run stops with a checkpoint before then (RH_STOPPED), as
                       // far as the times of its steps tell; 0 = none
    atomic_int *stop;  // set to non-zero (by a signal handler) to finish the step, checkpoint and return RH_STOPPED
    atomic_int *stop_now;  // set when the step does not end soon after `stop`: programs in it are broken off, and
                           // nothing of the step is kept. NULL: they are not
    void (*progress)(const rh_progress *progress, bool frame_done, void *user);  // may be NULL; after every step
    void *user;
} rh_run_options;

// What a body or an emitter asks for and gets. Volumes in m^3, in two dimensions m^2.
typedef struct rh_amount {
    const char *name;  // borrowed from the scene; NULL without one
    bool emitter;
    int index;     // in its list
    int material;  // number in the scene
    double asked;  // volume: of a body without solids and earlier bodies; of an emitter by the last frame, solids in
                   // its way not looked at
    double given;  // volume of the particles
    int64_t particles;
    double rate;     // m^3/s of an emitter that stands still
    bool estimated;  // an emitter that moves: what it gives is to within a layer of particles
} rh_amount;

// Sizes before running (`rheo check`): computed from the shapes, not guessed.
typedef struct rh_prediction {
    int64_t particles;   // at the start
    int64_t emitted;     // from emitters until the last frame
    rh_amount *amounts;  // owned: bodies, then emitters
    int amount_count;
    int64_t tiles, cells;     // at the start
    int64_t bytes_memory;     // estimated peak
    int64_t bytes_per_frame;  // on disk, upper estimate
    int64_t frames;
} rh_prediction;

rh_code rh_world_create(const rh_scene *scene, rh_world **out, rh_status *status);  // the scene must outlive the world
void rh_world_free(rh_world *world);
// The size of the run, and what it would find before its first step: fails as it would, and warns of frames that will
// be empty (not for more than 20 million particles). `material` >= 0: the size of that one alone.
rh_code rh_world_rehearse(const rh_scene *scene, int material, rh_prediction *out, rh_status *status);
rh_code rh_world_predict(const rh_scene *scene, rh_prediction *out, rh_status *status);
// The same of one material alone.
rh_code rh_world_predict_material(const rh_scene *scene, int material, rh_prediction *out, rh_status *status);
void rh_prediction_free(rh_prediction *prediction);

// Loads the newest good checkpoint of a run folder and tells the log which. RH_USER when the scene differs, RH_IO when
// there is none. `changed`: a scene that differs is taken all the same, as long as the particles still fit it.
rh_code rh_world_resume(rh_world *world, const char *folder, bool changed, rh_status *status);

// Before rh_world_resume, on a world just created: makes the frames (and surfaces) that are missing in the folder
// although its newest checkpoint comes after them, from the newest checkpoint before them or from the start. Frames
// that are there are not touched, nor are log and checkpoints.
rh_code rh_world_mend(rh_world *world, const rh_run_options *options, rh_status *status);

rh_code rh_world_run(rh_world *world, const rh_run_options *options, rh_status *status);
// The whole state between two steps, copied into memory and back: for steps that are tried again, loops that try many
// things from one state, and embedding. Taken again into the same store, it allocates nothing. RH_USER: a snapshot of
// another scene.
rh_code rh_world_snapshot(const rh_world *world, rh_memory_store *into, rh_status *status);
rh_code rh_world_restore(rh_world *world, rh_memory_store *from, rh_status *status);
// One time step of at most `dt_limit` seconds; returns the step taken in *dt. For tests and embedding.
rh_code rh_world_step(rh_world *world, double dt_limit, double *dt, rh_status *status);

// All steps up to frame `frame`, without writing anything. Programs hooked to frames run as in a run.
rh_code rh_world_advance_to(rh_world *world, int64_t frame, rh_status *status);

// Dynamic solids, and all solids as they are between steps; the name of one, or NULL.
const rh_dynamics *rh_world_dynamics(const rh_world *world);
const rh_obstacles *rh_world_solids(const rh_world *world);
const char *rh_world_solid_name(const rh_world *world, int solid);

const rh_points *rh_world_points(const rh_world *world);  // of the first material
rh_points *rh_world_points_mutable(rh_world *world);      // for tests and embedding, between steps
// Materials in the order of the scene, with their particle sets, main first.
int rh_world_material_count(const rh_world *world);
const char *rh_world_material_name(const rh_world *world, int material);
const rh_sets *rh_world_material_sets(const rh_world *world, int material);
void rh_world_material_progress(const rh_world *world, int material, rh_progress *out);
double rh_world_time(const rh_world *world);
void rh_world_progress(const rh_world *world, rh_progress *out);
// Of all materials that have some, for files; returns how many they are. With one the fields have no owner.
struct rh_owned_fields;
int rh_world_owned_fields(const rh_world *world, struct rh_owned_fields *out);  // room for RH_MAX_MATERIALS
const struct rh_fields *rh_world_fields(const rh_world *world);  // of the first material that has any; grid/fields.h
// world/probes.h; NULL when the material has none
const struct rh_probes *rh_world_probes(const rh_world *world, int material);
const rh_step_report *rh_world_report(const rh_world *world);  // the last step in detail: time by stage
