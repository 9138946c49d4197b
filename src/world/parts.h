// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The world from inside, for the files that make it up: world.c (creation, time), material.c (steps), saving.c
// (checkpoints), run.c (frames, files), predict.c, health.c.
#pragma once
#include "world/exchange.h"
#include "world/material.h"
#include "world/output.h"

struct rh_world {
    const rh_scene *scene;
    rh_geometry geometry;
    rh_dynamics dynamics;    // the dynamic solids among its obstacles
    rh_material *materials;  // owned
    int material_count;
    rh_base_frames **bases;         // runs that this one stands on; owned
    const rh_base_run **base_runs;  // owned
    int base_count;
    rh_exchange_rest *rests;     // of each exchange; owned
    int stepped;                 // the material that took the last step
    rh_lang_cache *programs;     // NULL when the scene has none
    const atomic_int *stop_now;  // of the run in progress; NULL = none
    bool begun;                  // the first frame is done: what emitters pour at time 0 and programs say to it
    double time;                 // s: that all materials have reached
    double meeting;              // s: to which each material goes on its own; reached when `time` is there
    int64_t step;                // steps of all materials
    int64_t frame;               // in progress, or the last one done when `frame_done`
    bool frame_done;
    rh_progress progress;
};

// Simulated time of a frame, s.
static inline double rh_world_frame_time(const rh_scene *scene, int64_t frame)
{
    return (double)(frame - scene->frames.first) / scene->frames.fps;
}

rh_material_moment rh_world_now(const rh_world *w);
// The programs of all materials of a moment.
rh_code rh_world_moment(rh_world *w, rh_expression_at at, rh_status *status);
// What a frame has beyond its last step: what emitters have poured by then, and what programs at frames make of it.
// (Without the first, a stream would hang a step's way off its emitter in every frame.)
rh_code rh_world_complete_frame(rh_world *w, rh_status *status);
// The first frame, which has no step: called before anything else moves, once or often.
rh_code rh_world_begin(rh_world *w, rh_status *status);
void rh_world_start_frame(rh_world *w, int64_t frame);
// A step towards the end of a frame, of the material that is furthest behind; a sliver left by rounding counts as
// arrived.
rh_code rh_world_step_towards(rh_world *w, double end, rh_status *status);
void rh_world_fill_progress(rh_world *w);
// Progress at the end of a frame: what programs did at it, and the balance.
void rh_world_finish_frame(rh_world *w);

// All that decides what comes after, into a store and back, but for emitters (get): their number may differ in a file.
rh_code rh_world_put_state(const rh_world *w, const rh_store *to, rh_status *status);
rh_code rh_world_get_state(rh_world *w, const rh_store *from, rh_status *status);

// Writes a checkpoint of the state between two steps and removes the oldest ones.
rh_code rh_world_save(const rh_world *w, const rh_output *output, rh_status *status);
// The newest checkpoint that comes before the end of `frame`; without one the world, just created, stays at its start.
rh_code rh_world_resume_before(rh_world *world, const char *folder, int64_t frame, rh_status *status);

// About how many particles there are at the start; a bound by boxes where that is below `enough`, which is quicker.
rh_code rh_world_expect_start(const rh_geometry *geometry, double enough, double *particles, rh_status *status);
// Of materials first to end - 1. `made`: a world of the same scene at its start, which has counted its particles; or
// NULL.
rh_code rh_world_predict_from(const rh_geometry *geometry, const rh_world *made, int first, int end, rh_prediction *out,
                              rh_status *status);
// A world of shapes that are there already: `geometry` becomes the world's, and empty.
rh_code rh_world_create_from(const rh_scene *scene, rh_geometry *geometry, rh_world **out, rh_status *status);
// RH_MEMORY when what the run will need goes beyond rh_memory_limit(). Before bodies are filled.
rh_code rh_world_check_memory(const rh_world *w, rh_status *status);
