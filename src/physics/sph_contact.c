// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A particle that went far in the step follows its path again in steps of the distance to the nearest solid (sphere
// tracing: J. C. Hart, The Visual Computer 12, 1996) and stops where that falls below the gap; one that is too near is
// pushed out along the normal, a few times for corners.
#include "physics/sph_contact.h"

#include <math.h>
#include "physics/sides.h"
#include "physics/walls.h"

enum { ROUNDS = 4 };

// The last place along its way up to which it is free: each distance proves a part of it.
static rh_dvec3 walk(const rh_obstacles *solids, double gap, rh_dvec3 from, rh_dvec3 to)
{
    rh_dvec3 way = rh_d3_sub(to, from);
    double length = rh_d3_length(way), done = 0;
    if (!(rh_obstacles_distance(solids, from, NULL) > gap)) return to;  // a wall came to it: pushed out below
    while (done < length) {
        double free = rh_obstacles_distance(solids, rh_d3_add(from, rh_d3_scale(way, done / length)), NULL);
        if (free <= gap) return rh_d3_add(from, rh_d3_scale(way, done / length));
        done += free - 0.5 * gap;
    }
    return to;
}

// The best place seen so far: farthest from the solids that do not give way, as far as the gap asks for, then from all.
typedef struct freest {
    rh_dvec3 x;
    double firm, distance;  // m
} freest;

static double firm_distance(const rh_obstacles *solids, rh_dvec3 x, double gap)
{
    double least = gap;
    for (int i = 0; i < solids->count; i++)
        if (solids->items[i].kind != RH_SOLID_DYNAMIC) least = fmin(least, rh_obstacle_distance(&solids->items[i], x));
    return least;
}

static void look_at(const rh_obstacles *solids, rh_dvec3 x, double gap, freest *best)
{
    double firm = firm_distance(solids, x, gap), distance = rh_obstacles_distance(solids, x, NULL);
    if (firm > best->firm || (firm == best->firm && distance > best->distance)) *best = (freest){x, firm, distance};
}

// Pushed out of one solid and then of another that touches it, in turns.
typedef struct pushed {
    rh_dvec3 places[ROUNDS + 1];
    int count;
} pushed;

// Between two solids that touch, each push leads into the other one, as deep as both together are thick there: the last
// of the places would then be anyone's (particles below crates that lay on a floor went through it, and fell for ever).
// The best place counts: where it came from, or was pushed to, or halfway between two pushes.
static rh_dvec3 choose(const rh_obstacles *solids, double gap, rh_dvec3 start, const pushed *p)
{
    freest best = {.firm = -INFINITY};
    look_at(solids, start, gap, &best);
    for (int n = 0; n < p->count; n++) {
        look_at(solids, p->places[n], gap, &best);
        if (n > 0) look_at(solids, rh_d3_scale(rh_d3_add(p->places[n - 1], p->places[n]), 0.5), gap, &best);
    }
    return best.x;
}

static void keep_out(const rh_surroundings *around, double gap, bool far, rh_vec3 start, rh_vec3 *position,
                     rh_vec3 *velocity)
{
    const rh_obstacles *solids = around->obstacles_after;
    rh_dvec3 x = rh_d3_from(*position);
    pushed p = {.count = 0};
    bool moved = false;
    if (far) x = walk(solids, gap, rh_d3_from(start), x), moved = true;
    for (int n = 0; n <= ROUNDS; n++) {
        int which = -1;
        double distance = rh_obstacles_distance(solids, x, &which);
        if (which < 0 || distance >= gap) break;
        p.places[p.count++] = x;
        if (n == ROUNDS) break;
        rh_dvec3 normal = rh_obstacles_normal(solids, which, x);
        x = rh_d3_add(x, rh_d3_scale(normal, 1.001 * gap - distance));
        rh_walls_stop(solids, which, x, normal, false, velocity);
        moved = true;
    }
    if (p.count == ROUNDS + 1) x = choose(solids, gap, rh_d3_from(start), &p);
    if (!moved) return;
    if (around->dimension == 2) x.z = (double)position->z;
    *position = rh_v3_from(x);
}

void rh_sph_contact(const rh_surroundings *around, const rh_sph_contact_options *o, const rh_vec3 *start,
                    rh_vec3 *positions, rh_vec3 *velocities)
{
    double walls = rh_obstacles_max_speed(around->obstacles) * o->dt;
    if (around->obstacles->count == 0) return;
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t i = 0; i < o->count; i++) {
        double way = (double)rh_v3_length(rh_v3_sub(positions[i], start[i]));
        if (o->covered[i] == 0 && way + walls < o->clear) continue;
        keep_out(around, o->gap, way > o->clear, start[i], &positions[i], &velocities[i]);
    }
    const rh_collision thin = {.gap = o->gap, .stop = true};
    rh_sides_hold(around, &thin, o->count, start, positions, velocities);
}
