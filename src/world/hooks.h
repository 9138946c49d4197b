// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The scene's programs at the moments of a run they are hooked to (docs/expressions.md). What they keep from one moment
// to the next are attributes of the particles, so a resumed run goes on as if nothing had happened; random numbers are
// a function of seed, step and id.
#pragma once
#include <stdatomic.h>
#include "lang/cache.h"
#include "points/points.h"
#include "scene/scene.h"

typedef struct rh_hooks rh_hooks;

typedef struct rh_moment {
    rh_expression_at at;
    double time;  // s
    double dt;    // s: of the step to come at `forces`, else of the last one
    int64_t frame, step;
    int64_t first;           // particles before this one are left alone
    int64_t first_id;        // of the material: rand() of a particle is found from its id less this
    const atomic_int *stop;  // loops of programs end (RH_STOPPED) when it is not zero; NULL: nobody asks
} rh_moment;

// Compiles the programs of one of the scene's materials and adds the attributes and groups they make to `points`. What
// is there already, but for P, v, rest and viscosity, belongs to the simulation: programs that write it are refused, as
// are reads of what nobody makes. RH_USER with places in the scene's file. `programs` must outlive the hooks; NULL:
// programs are checked against the points and not compiled, their warnings go to the log, and the hooks cannot be run.
rh_code rh_hooks_create(const rh_scene *scene, int material, rh_points *points, rh_lang_cache *programs, rh_hooks **out,
                        rh_status *status);
void rh_hooks_free(rh_hooks *hooks);  // NULL is fine

// Runs those of a moment in the scene's order; adds the number of particles they delete to *deleted. RH_NUMERIC when a
// program cannot go on (too many steps, an index outside) or leaves a position or velocity that is not finite.
rh_code rh_hooks_run(rh_hooks *hooks, const rh_moment *moment, rh_points *points, int64_t *deleted, rh_status *status);
bool rh_hooks_any(const rh_hooks *hooks, rh_expression_at at);
double rh_hooks_take_seconds(rh_hooks *hooks);  // wall time of all runs since the last call
