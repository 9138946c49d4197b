// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What tests of sand measure in two dimensions: the profile of a pile over a level floor at y = 0, its front and slope,
// and who moved.
#pragma once
#include <stdlib.h>
#include "lab.h"

enum { SAND_COLUMNS = 2048 };
static const double SAND_DEGREE = 0.017453292519943295;

// Sand over each column of cells, from x = 0: height of the same sand at the packing it was seeded with.
typedef struct sand_profile {
    double cell;
    int count;
    double height[SAND_COLUMNS];
} sand_profile;

static inline void sand_measure(const lab *l, sand_profile *p)
{
    *p = (sand_profile){.cell = l->scene.cell};
    const rh_vec3 *x = lab_positions(l);
    for (int64_t i = 0; i < lab_count(l); i++) {
        int n = (int)floor((double)x[i].x / p->cell);
        if (n < 0 || n >= SAND_COLUMNS) continue;
        p->height[n] += 0.25 * p->cell;  // two particles per cell and axis
        if (n >= p->count) p->count = n + 1;
    }
}

// Where the sand that hangs together with that over `from` ends: the first column less than half a cell high, single
// grains ahead do not count.
static inline double sand_front(const sand_profile *p, double from)
{
    int n = (int)(from / p->cell);
    while (n < p->count && p->height[n] >= 0.5 * p->cell) n++;
    return n * p->cell;
}

// Angle (degrees) of the line of least squares through the surface where it falls from 60 to 15 % of its height beside
// the wall at x = 0: above, strong sand stands as it stood.
static inline double sand_slope(const sand_profile *p)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0, top = 0;
    for (int i = 0; i < 4; i++) top = fmax(top, p->height[i]);
    for (int i = 0; i < p->count && p->height[i] > 0.15 * top; i++) {
        double at = (i + 0.5) * p->cell, h = p->height[i];
        if (h < 0.6 * top) n++, x += at, y += h, xx += at * at, xy += at * h;
    }
    return atan(-(n * xy - x * y) / (n * xx - x * x)) / SAND_DEGREE;
}

// Owned by the caller: rh_free.
static inline rh_vec3 *sand_positions_by_id(const lab *l, rh_status *status)
{
    const int64_t *id = rh_points_data(rh_world_points(l->world), "id", RH_POINT_I64);
    rh_vec3 *out = rh_alloc((size_t)lab_count(l) * sizeof *out, "test", status);
    assert_non_null(out);
    for (int64_t i = 0; i < lab_count(l); i++) out[id[i]] = lab_positions(l)[i];
    return out;
}

// Share of the particles that are farther than `way` from where they were.
static inline double sand_moved(const lab *l, const rh_vec3 *start, double way)
{
    const int64_t *id = rh_points_data(rh_world_points(l->world), "id", RH_POINT_I64);
    int64_t far = 0;
    for (int64_t i = 0; i < lab_count(l); i++)
        far += (double)rh_v3_length(rh_v3_sub(start[id[i]], lab_positions(l)[i])) > way;
    return (double)far / (double)lab_count(l);
}

static inline double sand_farthest(const lab *l, const rh_vec3 *start)
{
    const int64_t *id = rh_points_data(rh_world_points(l->world), "id", RH_POINT_I64);
    double most = 0;
    for (int64_t i = 0; i < lab_count(l); i++)
        most = fmax(most, (double)rh_v3_length(rh_v3_sub(start[id[i]], lab_positions(l)[i])));
    return most;
}
