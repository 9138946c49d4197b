// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Leapfrog: forces act from the middle of the last step to the middle of this one. The spare block of the sorted
// particles is lent to the step's arena until the next sort.
#include "physics/step.h"

#include "base/clock.h"

void rh_step_stage(rh_step_report *report, double *clock, const char *name)
{
    RH_ASSERT(name && report->stage_count < RH_MAX_STAGES);
    double now = rh_seconds();
    if (report->stage_count < RH_MAX_STAGES) {
        report->stage_names[report->stage_count] = name;
        report->stage_seconds[report->stage_count++] = now - *clock;
    }
    *clock = now;
}

rh_code rh_step_sort(const rh_surroundings *around, int margin, rh_points *points, rh_tiles *tiles, rh_arena *arena,
                     rh_step_report *report, rh_status *status)
{
    points->spare_lent = false;  // the step before has ended, if only by a failure
    const rh_vec3 *unsorted = rh_points_data(points, "P", RH_POINT_VEC3F);
    RH_TRY(rh_tiles_build(tiles, around->dimension, around->cell, unsorted, points->count, margin, arena, status));
    RH_TRY(rh_tiles_sort(tiles, points, arena, status));
    report->tiles = tiles->count;
    rh_arena_lend(arena, points->spare, points->spare_bytes);
    points->spare_lent = true;
    return RH_OK;
}

void rh_step_add_forces(const rh_surroundings *around, double dt, float kick, const rh_tiles *tiles, rh_faces velocity,
                        rh_faces before)
{
    RH_ASSERT(rh_faces_fit(tiles, velocity) && rh_faces_fit(tiles, before) && kick >= 0);
    double to = around->time + 0.5 * dt, from = around->time - 0.5 * around->previous_dt;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int a = 0; a < tiles->dimension; a++) {
            float *u = velocity.axis[a] + (int64_t)t * tiles->cells, *kept = before.axis[a] + (int64_t)t * tiles->cells;
            float force_change = kick * (float)(&around->gravity.x)[a];
            for (int c = 0; c < tiles->cells; c++) {
                if (around->acceleration) {
                    rh_vec3 x = rh_cell_center(tiles, t, c & 7, c >> 3 & 7, c >> 6);
                    (&x.x)[a] -= 0.5f * tiles->h;
                    rh_dvec3 g = around->acceleration(rh_d3_from(x), from, to, around->user);
                    force_change = kick * (float)(&g.x)[a];
                }
                kept[c] = u[c];
                u[c] += force_change;
            }
        }
}

void rh_step_limit_speed(const rh_tiles *tiles, rh_faces velocity, float limit)
{
    int64_t values = rh_tiles_values(tiles);
    for (int a = 0; a < tiles->dimension; a++) {
        float *u = velocity.axis[a];
#pragma omp parallel for schedule(static)
        for (int64_t c = 0; c < values; c++) u[c] = rh_clamp(u[c], -limit, limit);
    }
}
