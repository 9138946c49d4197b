// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What a method adds to a step that it shares with others (incompressible.h, unilateral.h): its own stages, each placed
// by the name of the stage that it follows, and switches of the step. Set by the program, unlike the step's options,
// which a user sets.
//
//      static const rh_added_stage stages[] = {{.after = "pressure", .name = "friction", .run = apply_friction}};
#pragma once
#include "physics/physics.h"

// `view` is the step's: rh_incompressible_view or rh_unilateral_view. Scratch taken from its arena lasts until the end
// of the step.
typedef rh_code (*rh_stage_function)(const void *view, void *user, rh_status *status);

typedef struct rh_added_stage {
    const char *after;  // of the step, or one that was added
    const char *name;   // in reports
    rh_stage_function run;
} rh_added_stage;

typedef struct rh_step_method {
    const char *name;              // for messages; lives as long as the step, as all pointers here
    const rh_added_stage *stages;  // in the order in which those after the same stage run
    int stage_count;
    void *user;     // handed to the stages
    bool friction;  // friction of walls acts on particles that hit them
    bool drag;      // rough walls hold back what flows along them (drag.h)
    bool slide;     // unilateral: faces closed by half or more move with the material beside them, along walls
    // Incompressible: its stages put forces on faces that do not cancel in pairs as those of the pressure do. Then
    // errors of momentum cannot be found (momentum_error.h), and the step does not support thin films.
    bool unbalanced;
} rh_step_method;

// Does every added stage follow one of the step's (a list that NULL ends), or one added before it?
bool rh_stages_fit(const rh_step_method *method, const char *const *step_stages);
// A stage has ended: reports its time (rh_step_stage) and runs the stages that were added after it, each reported under
// its own name.
rh_code rh_stages_end(const rh_step_method *method, const char *name, const void *view, rh_step_report *report,
                      double *clock, rh_status *status);
