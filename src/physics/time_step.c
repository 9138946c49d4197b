// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Two bounds: the shortest surface waves that the grid resolves must be stable, and all but a few particles may travel
// no more than so many cells.
#include "physics/time_step.h"

#include <math.h>
#include <string.h>

// The speed that all but one in ten thousand particles keep below: a few drops thrown up by an impact must not make all
// of the liquid take small steps. (They fly freely, up to 6 cells a step.) From the counts of speeds in classes of 3 %,
// which do not depend on order.
enum { MANTISSA = 5, CLASSES = 1 << (9 + MANTISSA), DROPS = 10000 };

// Speeds of particles that are not pressed count with a share.
typedef struct in_flight {
    const float *pressed;  // [count]; NULL: all are
    float share;
} in_flight;

static double common_speed(const rh_points *points, const in_flight *free)
{
    const rh_vec3 *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    uint32_t counts[CLASSES] = {0};
#pragma omp parallel for schedule(static) reduction(+ : counts)
    for (int64_t p = 0; p < points->count; p++) {
        float share = free->pressed && !(free->pressed[p] > 0) ? free->share : 1,
              square = share * share * rh_v3_dot(v[p], v[p]);
        uint32_t bits;
        memcpy(&bits, &square, sizeof bits);
        counts[bits >> (23 - MANTISSA)]++;
    }
    int64_t left = points->count / DROPS;
    int top = CLASSES - 1;
    for (; top > 0 && counts[top] <= left; top--) left -= counts[top];
    uint32_t edge = (uint32_t)(top + 1) << (23 - MANTISSA);
    float square;
    memcpy(&square, &edge, sizeof square);
    return isfinite(square) ? sqrt((double)square) : INFINITY;
}

// The shortest waves are two cells long, of frequency sqrt(pi g / h); the symplectic step is stable for omega dt < 2;
// we keep to 1.25.
static double limit_of(double cells, const in_flight *free, const rh_surroundings *around, const rh_points *points)
{
    RH_ASSERT(cells > 0 && around->cell > 0);
    double h = around->cell, g = rh_d3_length(around->gravity), travel = cells * h;
    double speed = fmax(common_speed(points, free), rh_obstacles_max_speed(around->obstacles));
    double limit = 1e9;
    if (g > 0) limit = fmin(limit, 0.7 * sqrt(h / g));
    // From v dt + a dt^2 = travel: a particle at rest may fall during the step, or be thrown by an explosion.
    double a = fmax(g, around->strongest);
    if (a > 0 || speed > 0) limit = fmin(limit, 2 * travel / (speed + sqrt(speed * speed + 4 * a * travel)));
    return limit;
}

double rh_time_step_limit(double cells, const rh_surroundings *around, const rh_points *points)
{
    const in_flight none = {NULL, 1};
    return limit_of(cells, &none, around, points);
}

double rh_time_step_limit_in_flight(double cells, double free, const float *pressed, const rh_surroundings *around,
                                    const rh_points *points)
{
    const in_flight some = {pressed, (float)(1 / free)};
    return limit_of(cells, &some, around, points);
}
