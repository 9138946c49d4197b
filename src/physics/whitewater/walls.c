// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A block of cells is asked about at its middle, and its parts only where that does not make sure that all of a cell is
// clear. What a cell's own ball leaves out is half of a cell that touches a wall: of 920 000 particles in a tank 60 000
// were asked for their distance, with a ball of four cells that touches the same wall 40 000; most of these lie on it.
#include "physics/whitewater/walls.h"

#include <math.h>
#include <string.h>
#include "base/memory.h"
#include "grid/tile_keys.h"

static const double AWAY = 4;  // cells, from a cell near a wall to the centre of its ball

typedef struct survey {
    const rh_obstacles *obstacles;
    const rh_tiles *tiles;
    float *room;  // of the tile's cells
    rh_foam_open *open;
    bool open_known;
    int32_t tile;
} survey;

static rh_foam_open find_open(const survey *s, rh_vec3 at, int nearest)
{
    rh_dvec3 place = rh_d3_from(at), way = rh_obstacles_normal(s->obstacles, nearest, place);
    if (s->tiles->dimension == 2) way.z = 0;
    rh_vec3 center = rh_v3_from(rh_d3_add(place, rh_d3_scale(way, AWAY * (double)s->tiles->h)));
    int which;
    double far = rh_obstacles_distance(s->obstacles, rh_d3_from(center), &which);
    return (rh_foam_open){center, far > 0 && far < 1e6 * (double)s->tiles->h ? (float)far : 0};
}

static void find_room(const survey *s, int i, int j, int k, int side)
{
    const rh_tiles *t = s->tiles;
    bool deep = t->dimension == 3;
    float half = 0.5f * (float)(side - 1) * t->h;
    int which, layers = deep ? side : 1;
    rh_vec3 at = rh_v3_add(rh_cell_center(t, s->tile, i, j, k), rh_v3(half, half, deep ? half : 0));
    double far = rh_obstacles_distance(s->obstacles, rh_d3_from(at), &which);
    double room = which < 0 ? 1e30 : far - sqrt(t->dimension) * (double)half;
    if (side > 1 && room < (double)t->h) {
        for (int n = 0; n < 1 << t->dimension; n++)
            find_room(s, i + (n & 1) * side / 2, j + (n >> 1 & 1) * side / 2, k + (n >> 2) * side / 2, side / 2);
        return;
    }
    const rh_foam_open open = s->open_known && side == 1 ? find_open(s, at, which) : (rh_foam_open){{0, 0, 0}, 0};
    for (int n = 0; n < side * side * layers; n++) {
        int cell = i + n % side + 8 * (j + n / side % side) + 64 * (k + n / (side * side));
        s->room[cell] = (float)room;
        s->open[cell] = open;
    }
}

static void rooms_free(rh_foam_rooms *r)
{
    rh_free(r->at);
    rh_free(r->room);
    rh_free(r->open);
    *r = (rh_foam_rooms){0};
}

void rh_foam_walls_free(rh_foam_walls *walls)
{
    rooms_free(&walls->now);
    rooms_free(&walls->before);
}

static rh_code rooms_grow(rh_foam_rooms *r, const rh_tiles *t, rh_status *status)
{
    r->count = 0;
    if (t->count <= r->most) return RH_OK;
    int32_t most = t->count + t->count / 4 + 8;
    size_t values = (size_t)most * (size_t)t->cells;
    rooms_free(r);
    r->at = rh_alloc((size_t)most * sizeof *r->at, "whitewater", status);
    r->room = r->at ? rh_alloc((values + 1) * sizeof *r->room, "whitewater", status) : NULL;
    r->open = r->room ? rh_alloc(values * sizeof *r->open, "whitewater", status) : NULL;
    if (!r->open) {
        rooms_free(r);
        return RH_MEMORY;
    }
    r->most = most;
    return RH_OK;
}

// The place of each tile in the step before, -1: it is new. Both are in Morton order.
static void match(const rh_foam_rooms *before, const rh_tiles *t, int32_t *from)
{
    int32_t m = 0;
    for (int32_t n = 0; n < t->count; n++) {
        uint64_t key = rh_tile_key(t->at[n]);
        while (m < before->count && rh_tile_key(before->at[m]) < key) m++;
        from[n] = m < before->count && rh_tile_key(before->at[m]) == key ? m : -1;
    }
}

rh_code rh_foam_walls_find(rh_foam_walls *walls, const rh_obstacles *obstacles, rh_foam_flow *flow, rh_arena *arena,
                           rh_status *status)
{
    const rh_tiles *t = &flow->tiles;
    const size_t cells = (size_t)t->cells;
    rh_foam_rooms other = walls->before, *now = &walls->now;
    const rh_foam_rooms *before = &walls->before;
    walls->before = walls->now;
    walls->now = other;
    RH_TRY(rooms_grow(now, t, status));
    int32_t *from = rh_arena_take(arena, ((size_t)t->count + 1) * sizeof *from, status);
    if (!from) return RH_MEMORY;
    match(before, t, from);
    now->room[0] = -1;  // of cell -1
    float *room = now->room + 1, *old = before->room ? before->room + 1 : NULL;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < t->count; n++) {
        const size_t first = (size_t)n * cells;
        now->at[n] = t->at[n];
        if (from[n] >= 0) {
            memcpy(room + first, old + (size_t)from[n] * cells, cells * sizeof *room);
            memcpy(now->open + first, before->open + (size_t)from[n] * cells, cells * sizeof *now->open);
            continue;
        }
        const survey s = {obstacles, t, room + first, now->open + first, !obstacles->any_moving, n};
        find_room(&s, 0, 0, 0, RH_TILE);
    }
    now->count = obstacles->any_moving ? 0 : t->count;  // of what is kept
    flow->room = room;
    flow->open = now->open;
    return RH_OK;
}
