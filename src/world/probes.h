// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The probes of a run: measure every step and make rows of it (docs/probes.md has the definitions). A value is either
//      a mean     over the time since the row before: impulse / time (pressure, force, moment), volume / time (flow),
//                 way / time (velocity); so that it does not depend on the time step
//      a sample   at the time of the row: heights, and what is in boxes
// With a rate, rows are at even times: a step's impulse is spread evenly over the step, samples are taken on the
// straight line between the ends of the step.
//
//   create -> each step: begin, (the observer sees the step), stepped, measure -> rows, forget_rows -> free
#pragma once
#include "physics/observer.h"
#include "scene/scene.h"

typedef struct rh_probes rh_probes;

// Those of one material. The scene must outlive the probes, and the obstacles: as many as the scene's solids, in their
// order. `spacing` (m) is that of the particles, `density` (kg/m^3) their material's.
rh_code rh_probes_create(const rh_scene *scene, int material, rh_obstacles *obstacles, double spacing, double density,
                         rh_probes **out, rh_status *status);
void rh_probes_free(rh_probes *probes);  // NULL is fine

const rh_observer *rh_probes_observer(const rh_probes *probes);
// Before a step, and before it is tried again.
void rh_probes_begin(rh_probes *probes);
// Right after the method's step: what particles did in it.
rh_code rh_probes_stepped(rh_probes *probes, const rh_points *points, rh_status *status);
// At the end of the step, which went over the times from < to: adds rows.
rh_code rh_probes_measure(rh_probes *probes, const rh_points *points, double from, double to, rh_status *status);

int rh_probes_columns(const rh_probes *probes);
const char *rh_probes_title(const rh_probes *probes, int column);  // "P1.pressure [Pa]"
const double *rh_probes_latest(const rh_probes *probes);           // the last row's values; 0 before the first
double rh_probes_latest_time(const rh_probes *probes);             // s; 0 before the first row

// Rows not yet forgotten, each the time (s) and the columns.
int64_t rh_probes_rows(const rh_probes *probes, const double **rows);
void rh_probes_forget_rows(rh_probes *probes);
int64_t rh_probes_row_count(const rh_probes *probes);  // since the start of the run

// All that later rows depend on, for checkpoints. A state of other probes, or of another rate, is not taken: then
// measuring starts anew.
const double *rh_probes_state(rh_probes *probes, size_t *bytes);
bool rh_probes_set_state(rh_probes *probes, const void *state, size_t bytes, double time);

// Warns of probes that cannot measure anything: outside of all containers, or inside of solids.
void rh_probes_warn(const rh_probes *probes, rh_dbox container);
