// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
#include "physics/liquid/walls.h"

#include <math.h>
#include "base/parallel.h"

enum { SIDE = RH_TILE + 2, SMALL = SIDE * SIDE * SIDE };

// Component `b` of the velocity at the centre of a face of axis `a`: mean of the four surrounding faces of axis b.
static float across(const rh_tiles *tiles, float blocks[3][SMALL], int a, int b, const int at[3])
{
    if (a == b) return blocks[b][rh_block_index(tiles, 1, at[0], at[1], at[2])];
    float sum = 0;
    for (int n = 0; n < 4; n++) {
        int cell[3] = {at[0], at[1], at[2]};
        cell[a] -= n & 1;
        cell[b] += n >> 1;
        sum += blocks[b][rh_block_index(tiles, 1, cell[0], cell[1], cell[2])];
    }
    return 0.25f * sum;
}

static float wall_component(const rh_obstacles *obstacles, int which, rh_dvec3 x, rh_dvec3 u, int axis)
{
    const rh_obstacle *solid = &obstacles->items[which];
    rh_dvec3 wall = rh_obstacles_velocity(obstacles, which, x);
    if (solid->wall == RH_WALL_NO_SLIP) return (float)(&wall.x)[axis];
    rh_dvec3 n = rh_obstacles_normal(obstacles, which, x);
    double into = rh_d3_dot(rh_d3_sub(u, wall), n);
    if (solid->wall == RH_WALL_SEPARATE && into > 0) return (float)(&u.x)[axis];
    return (float)((&u.x)[axis] - into * (&n.x)[axis]);
}

static void constrain_tile(const rh_tiles *tiles, const rh_cut_cells *cut, const rh_obstacles *obstacles, rh_faces from,
                           rh_faces velocity, int32_t t)
{
    float blocks[3][SMALL];
    for (int a = 0; a < tiles->dimension; a++) rh_block_load(tiles, from.axis[a], t, 1, 0, blocks[a]);
    for (int c = 0; c < tiles->cells; c++) {
        int64_t at = (int64_t)t * tiles->cells + c;
        if (cut->distance[at] < -3 * tiles->h || cut->distance[at] > 2 * tiles->h) continue;
        int cell[3] = {c & 7, c >> 3 & 7, c >> 6};
        for (int a = 0; a < tiles->dimension; a++) {
            if (cut->open.axis[a][at] > 0) continue;
            rh_vec3 x = rh_cell_center(tiles, t, cell[0], cell[1], cell[2]);
            (&x.x)[a] -= 0.5f * tiles->h;
            int which;
            double distance = rh_obstacles_distance(obstacles, rh_d3_from(x), &which);
            if (which < 0 || distance > 0.25 * (double)tiles->h) continue;  // closed by an inflow, not by a solid
            rh_dvec3 u = {0, 0, 0};
            for (int b = 0; b < tiles->dimension; b++) (&u.x)[b] = (double)across(tiles, blocks, a, b, cell);
            velocity.axis[a][at] = wall_component(obstacles, which, rh_d3_from(x), u, a);
        }
    }
}

void rh_walls_constrain(const rh_tiles *tiles, const rh_cut_cells *cut, const rh_obstacles *obstacles, rh_faces from,
                        rh_faces velocity)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++)
        if (cut->kind[t] == RH_TILE_CUT) constrain_tile(tiles, cut, obstacles, from, velocity, t);
}

static void collide(const rh_obstacles *obstacles, double gap, int dimension, rh_vec3 *position, rh_vec3 *velocity)
{
    // A few times, so that a particle pushed out of one wall into another (a corner) leaves both.
    for (int n = 0; n < 3; n++) {
        int which;
        rh_dvec3 x = rh_d3_from(*position);
        double distance = rh_obstacles_distance(obstacles, x, &which);
        if (which < 0 || distance >= gap * 0.999) return;
        rh_dvec3 normal = rh_obstacles_normal(obstacles, which, x);
        if (dimension == 2) normal.z = 0;
        x = rh_d3_add(x, rh_d3_scale(normal, gap - distance));
        *position = rh_v3_from(x);
        rh_dvec3 v = rh_d3_from(*velocity), wall = rh_obstacles_velocity(obstacles, which, x);
        double into = rh_d3_dot(rh_d3_sub(v, wall), normal);
        if (into < 0) *velocity = rh_v3_from(rh_d3_sub(v, rh_d3_scale(normal, into)));
    }
}

void rh_walls_collide(const rh_obstacles *obstacles, double gap, int dimension, int64_t count, rh_vec3 *positions, rh_vec3 *velocities)
{
    if (obstacles->count == 0) return;
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t b = 0; b < rh_blocks(count); b++)
        for (int64_t p = b * RH_BLOCK; p < rh_block_end(b, count); p++)
            collide(obstacles, gap, dimension, &positions[p], &velocities[p]);
}
