// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The world from inside, for the files that make it up: world.c (creation, steps), saving.c (checkpoints), run.c
// (frames, files), predict.c, health.c.
#pragma once
#include "lang/cache.h"
#include "points/store.h"
#include "world/geometry.h"
#include "world/health.h"
#include "world/hooks.h"
#include "world/output.h"
#include "world/probes.h"
#include "world/seed.h"
#include "world/world.h"

enum { RH_MAX_INFLOWS = 64 };

struct rh_world {
    const rh_scene *scene;
    const rh_physics *physics;
    void *method;  // the physics' own object
    rh_geometry geometry;
    rh_seeder seeder;
    rh_points points;
    rh_inflow inflows[RH_MAX_INFLOWS];
    rh_obstacles solids_start, solids_end;  // of the step in progress; between steps: geometry.obstacles
    rh_surroundings around;
    rh_lang_cache *programs;  // NULL when the scene has none
    rh_hooks *hooks;
    rh_probes *probes;           // NULL when the scene has none
    const atomic_int *stop_now;  // of the run in progress; NULL = none
    bool begun;                  // the first frame is done: what emitters pour at time 0 and programs say to it
    double time;
    double last_dt;  // s, of the last step; 0 before the first
    int64_t frame;   // in progress, or the last one done when `frame_done`
    bool frame_done;
    int substeps;
    int64_t step;
    int declared;           // attributes of the world and of the method; those after them are of the scene's programs
    rh_memory_store *kept;  // the state before programs pushed the particles, in case the step must be tried again;
                            // NULL without such programs
    int retries;            // of the last step
    int64_t measured;       // particles that had been put in and not taken out when the last step measured the volume
    rh_health_limits limits;
    rh_progress progress;
    rh_step_report report;
};

// Simulated time of a frame, s.
static inline double rh_world_frame_time(const rh_scene *scene, int64_t frame)
{
    return (double)(frame - scene->frames.first) / scene->frames.fps;
}

// The attributes of the world and of the method; what comes later is the user's.
rh_code rh_world_declare(rh_world *w, rh_status *status);
// The scene's programs of a moment, on the particles from `first` on.
rh_code rh_world_moment(rh_world *w, rh_expression_at at, double dt, int64_t first, rh_status *status);
// Emitters that start at once belong to the first frame.
rh_code rh_world_begin(rh_world *w, rh_status *status);
// As rh_world_step towards the end of a frame; a sliver left by rounding counts as arrived.
rh_code rh_world_step_towards(rh_world *w, double end, rh_status *status);
void rh_world_fill_progress(rh_world *w, double dt, double seconds);
// What programs took since they were asked last: a stage of its own, the last one. Returns it (s).
double rh_world_add_stage(rh_world *w);

// All that decides what comes after, into a store and back, but for emitters (get): their number may differ in a file.
rh_code rh_world_put_state(const rh_world *w, const rh_store *to, rh_status *status);
rh_code rh_world_get_state(rh_world *w, const rh_store *from, rh_status *status);

// Writes a checkpoint of the state between two steps and removes the oldest ones.
rh_code rh_world_save(const rh_world *w, const rh_output *output, rh_status *status);
// The newest checkpoint that comes before the end of `frame`; without one the world, just created, stays at its start.
rh_code rh_world_resume_before(rh_world *world, const char *folder, int64_t frame, rh_status *status);

// RH_MEMORY when what the run will need goes beyond rh_memory_limit(). Before bodies are filled.
rh_code rh_world_check_memory(const rh_world *w, rh_status *status);
// How many particles the scene is expected to have at a time, an upper estimate; bodies counted by their bounds.
double rh_world_most_particles(const rh_world *w);
