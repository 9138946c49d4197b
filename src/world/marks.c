// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Ways are sums of speed times step. Neighbours are counted by the search of points/neighbours.h, a particle itself not
// among them.
#include "world/marks.h"

#include <math.h>
#include "base/memory.h"
#include "base/parallel.h"
#include "points/near_parts.h"

static const char LABEL[] = "world.marks";

static bool is_given(rh_mask_ramp r) { return r.from != r.to; }

// --- attributes ------------------------------------------------------------------------------------------------------
static rh_code add_masks(const rh_scene *scene, int material, rh_points *points, rh_marks *marks, rh_status *status)
{
    const rh_mask_params *masks = scene->masks.items;
    for (int i = 0; i < scene->masks.count; i++) {
        const rh_mask_params *m = &masks[i];
        if (m->material_index != material) continue;
        if (rh_points_find(points, m->name))
            return rh_fail(status, RH_USER, "%s: particles have an attribute of this name already, expected another",
                           rh_scene_item(scene, "mask", i, m, m->name).text);
        RH_TRY(rh_points_add(points, m->name, RH_POINT_F32, status));
        marks->masks = true;
    }
    return RH_OK;
}

rh_code rh_marks_declare(const rh_scene *scene, int material, rh_points *points, rh_marks *marks, rh_status *status)
{
    const rh_sink_params *sinks = scene->sinks.items;
    const rh_mask_params *masks = scene->masks.items;
    *marks = (rh_marks){0};
    for (int i = 0; i < scene->sinks.count; i++) {
        if (!sinks[i].when || (sinks[i].material_index >= 0 && sinks[i].material_index != material)) continue;
        marks->age = marks->age || sinks[i].when->older > 0;
        marks->travelled = marks->travelled || sinks[i].when->travelled > 0;
    }
    for (int i = 0; i < scene->masks.count; i++) {
        if (masks[i].material_index != material) continue;
        marks->age = marks->age || is_given(masks[i].age);
        marks->travelled = marks->travelled || is_given(masks[i].travelled);
    }
    marks->age = marks->age && !rh_points_find(points, "age");
    if (marks->age) RH_TRY(rh_points_add(points, "age", RH_POINT_F32, status));
    if (marks->travelled) RH_TRY(rh_points_add(points, "travelled", RH_POINT_F32, status));
    return add_masks(scene, material, points, marks, status);
}

void rh_marks_step(const rh_marks *marks, double dt, rh_points *points)
{
    float *age = marks->age ? rh_points_data(points, "age", RH_POINT_F32) : NULL,
          *way = marks->travelled ? rh_points_data(points, "travelled", RH_POINT_F32) : NULL, step = (float)dt;
    const rh_vec3 *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    if (!age && !way) return;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < points->count; i++) {
        if (age) age[i] += step;
        if (way) way[i] += step * rh_v3_length(v[i]);
    }
}

// --- neighbours ------------------------------------------------------------------------------------------------------
// Around the points of a cell; a point itself is among those that are found.
static void count_cell(const rh_near_window *window, int64_t cell, float within, int32_t *counts)
{
    const rh_neighbours *n = window->n;
    rh_f8 square = rh_f8_all(within * within), way[3];
    for (int64_t i = n->cell_first[cell]; i < n->cell_first[cell + 1]; i++) {
        rh_vec3 place = rh_v3(n->x[i], n->y[i], n->z[i]);
        int32_t found = 0;
        for (int r = 0; r < window->count; r++)
            for (int64_t p = window->runs[r].begin; p < window->runs[r].end; p += 8) {
                int bits = rh_near_bits(rh_near_eight(n, p, place, way) <= square, p, window->runs[r].end);
                found += __builtin_popcount((unsigned)bits);
            }
        counts[n->index[i]] = found - 1;
    }
}

// *counts is the arena's.
static rh_code count_neighbours(const rh_points *points, int dimension, double within, rh_sink_scratch *scratch,
                                int32_t **counts, rh_status *status)
{
    const rh_neighbours_input input = {.dimension = dimension,
                                       .positions = rh_points_data(points, "P", RH_POINT_VEC3F),
                                       .count = points->count,
                                       .cell = rh_neighbours_cell(within),
                                       .leave_out = true};
    const rh_neighbours *n = &scratch->near;
    *counts = rh_arena_take_zero(&scratch->arena, (size_t)(points->count + 1) * sizeof **counts, status);
    if (!*counts) return RH_MEMORY;
    RH_TRY(rh_neighbours_build(&scratch->near, &input, &scratch->arena, status));
#pragma omp parallel for schedule(dynamic, 16)
    for (int64_t row = 0; row < n->rows; row++) {
        rh_near_window window = {.n = n, .reach = 1, .cell = -1};
        for (int64_t c = n->row_first[row]; c < n->row_first[row + 1]; c++) {
            rh_near_window_to(&window, c);
            count_cell(&window, c, (float)within, *counts);
        }
    }
    return RH_OK;
}

// --- masks -----------------------------------------------------------------------------------------------------------
static float ramp(rh_mask_ramp r, double value)
{
    return is_given(r) ? (float)fmin(fmax((value - r.from) / (r.to - r.from), 0), 1) : 1;
}

static rh_code fill_mask(const rh_scene *scene, const rh_mask_params *m, rh_points *points, rh_status *status)
{
    float *out = rh_points_data(points, m->name, RH_POINT_F32), *age, *way;
    const rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    int32_t *near = NULL;
    rh_sink_scratch scratch = {0};
    rh_code code = RH_OK;
    rh_arena_init(&scratch.arena, LABEL);
    age = is_given(m->age) ? rh_points_data(points, "age", RH_POINT_F32) : NULL;
    way = is_given(m->travelled) ? rh_points_data(points, "travelled", RH_POINT_F32) : NULL;
    if (is_given(m->neighbours))
        code = count_neighbours(points, (int)scene->dimension, m->within > 0 ? m->within : scene->cell, &scratch, &near,
                                status);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < (code == RH_OK ? points->count : 0); i++)
        out[i] = ramp(m->speed, (double)rh_v3_length(v[i])) * ramp(m->height, (double)p[i].y) *
                 (age ? ramp(m->age, (double)age[i]) : 1) * (way ? ramp(m->travelled, (double)way[i]) : 1) *
                 (near ? ramp(m->neighbours, near[i]) : 1);
    rh_neighbours_free(&scratch.near);
    rh_arena_free(&scratch.arena);
    return code;
}

rh_code rh_marks_frame(const rh_marks *marks, const rh_scene *scene, int material, rh_points *points, rh_status *status)
{
    const rh_mask_params *masks = scene->masks.items;
    for (int i = 0; i < scene->masks.count && marks->masks && points->count; i++)
        if (masks[i].material_index == material) RH_TRY(fill_mask(scene, &masks[i], points, status));
    return RH_OK;
}

// --- sinks -----------------------------------------------------------------------------------------------------------
static rh_code ask_neighbours(const rh_sink_when *when, int dimension, double cell, const rh_points *points,
                              rh_sink_scratch *scratch, uint8_t *gone, rh_status *status)
{
    int32_t *near;
    RH_TRY(count_neighbours(points, dimension, when->within > 0 ? when->within : cell, scratch, &near, status));
    for (int64_t i = 0; i < points->count; i++)
        gone[i] = gone[i] && (when->fewer == 0 || near[i] < when->fewer) && (when->more == 0 || near[i] > when->more);
    return RH_OK;
}

rh_code rh_sink_ask(const rh_sink_when *when, int dimension, double cell, const rh_points *points,
                    rh_sink_scratch *scratch, uint8_t *gone, rh_status *status)
{
    const rh_vec3 *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    const float *age = when->older > 0 ? rh_points_data(points, "age", RH_POINT_F32) : NULL,
                *way = when->travelled > 0 ? rh_points_data(points, "travelled", RH_POINT_F32) : NULL;
    const rh_attribute *group = when->group ? rh_points_find(points, when->group) : NULL;
    const uint8_t *member = group && group->type == RH_POINT_GROUP ? group->data : NULL;
    bool any = false;
#pragma omp parallel for schedule(static) reduction(|| : any)
    for (int64_t i = 0; i < points->count; i++) {
        double speed = (double)rh_v3_length(v[i]);
        bool in = !when->group || (member && member[group->uniform ? 0 : i]);
        gone[i] = gone[i] && in && (!age || (double)age[i] > when->older) &&
                  (!way || (double)way[i] > when->travelled) && (when->slower == 0 || speed < when->slower) &&
                  (when->faster == 0 || speed > when->faster);
        any = any || gone[i];
    }
    if (!any || (when->fewer == 0 && when->more == 0)) return RH_OK;
    return ask_neighbours(when, dimension, cell, points, scratch, gone, status);
}
