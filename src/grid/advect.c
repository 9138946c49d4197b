// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A tile's surroundings, as wide as its fastest neighbour may carry a particle, are copied into a dense block once; then all its
// particles walk through that. Tiles in slow liquid so take small blocks and one sub-step whatever happens elsewhere.
//
// Third order: A. Ralston, "Runge-Kutta methods with minimum error bounds", Math. Comp. 16, 1962.
#include "grid/advect.h"

#include <math.h>
#include "grid/lattice.h"

enum { FARTHEST = 6 };  // cells; with two more for interpolation that is the largest halo

// --- how far --------------------------------------------------------------------------------------------------------
static float fastest_face(const rh_tiles *tiles, rh_faces velocity, int32_t t)
{
    rh_f8 most = rh_f8_all(0);
    for (int a = 0; a < tiles->dimension; a++)
        for (int c = 0; c < tiles->cells; c += 8) most = rh_f8_max(most, rh_f8_abs(rh_f8_load(velocity.axis[a] + (int64_t)t * tiles->cells + c)));
    float one = 0;
    for (int i = 0; i < 8; i++) one = most[i] > one ? most[i] : one;
    return one;
}

// The largest face speed of a tile and its neighbours bounds every interpolated velocity on the way: it sets the block. The
// tile's own sets the number of sub-steps.
static float travel_of(const rh_tiles *tiles, const float *fastest, int32_t t, float dt)
{
    float most = 0;
    for (int n = 0; n < RH_NEAR; n++)
        if (tiles->near[t][n] >= 0) most = rh_max_of(most, fastest[tiles->near[t][n]]);
    return rh_min(most * dt * tiles->inverse_h, FARTHEST);
}

// --- along the way --------------------------------------------------------------------------------------------------
typedef struct face_block {
    const float *axis[3];
    int side, halo;
    float low, high;  // cells: where all components can be interpolated
} face_block;

static inline __attribute__((always_inline)) float sample(int dimension, const face_block *block, int component, const rh_spot *s)
{
    int kx = rh_lattice(component, 0), ky = rh_lattice(component, 1), kz = rh_lattice(component, 2);
    int side = block->side, start = s->cell[kx][0] + side * (s->cell[ky][1] + (dimension == 3 ? side * s->cell[kz][2] : 0));
    const float *f = block->axis[component] + start;
    rh_f4 r = rh_f4_pairs(f, f + side);
    if (dimension == 3) {
        f += side * side;
        r += s->way[kz][2] * (rh_f4_pairs(f, f + side) - r);
    }
    float fx = s->way[kx][0], fy = s->way[ky][1];
    float low = r[0] + fy * (r[2] - r[0]), high = r[1] + fy * (r[3] - r[1]);
    return low + fx * (high - low);
}

static inline __attribute__((always_inline)) rh_f4 sample_velocity(int dimension, const face_block *block, rh_f4 local)
{
    // Nothing within the block's travel leaves it; the clamp keeps what was cut down to FARTHEST, and rounding, inside.
    rh_f4 inside = rh_f4_min(rh_f4_max(local, rh_f4_all(block->low)), rh_f4_all(block->high));
    rh_spot s = rh_spot_of(inside);
    return (rh_f4){sample(dimension, block, 0, &s), sample(dimension, block, 1, &s), dimension == 3 ? sample(dimension, block, 2, &s) : 0, 0};
}

// One sub-step of `s` cells per (m/s).
static inline __attribute__((always_inline)) rh_f4 advance(int dimension, const face_block *block, int order, float s, rh_f4 local)
{
    rh_f4 first = sample_velocity(dimension, block, local);
    rh_f4 second = sample_velocity(dimension, block, local + 0.5f * s * first);
    if (order == 2) return local + s * second;
    rh_f4 third = sample_velocity(dimension, block, local + 0.75f * s * second);
    return local + s * ((2.0f / 9.0f) * first + (3.0f / 9.0f) * second + (4.0f / 9.0f) * third);
}

typedef struct walk {
    const rh_tiles *tiles;
    const rh_paths *paths;
    face_block block, shift;
    int steps;
} walk;

static inline void move_by(rh_vec3 *p, rh_f4 way, int dimension)
{
    p->x += way[0];
    p->y += way[1];
    if (dimension == 3) p->z += way[2];
}

// The shift of the volume correction belongs to the place where its error was found: along the way it would be read from liquid that
// another part of the error belongs to (a splash lost 5 % of its volume with the shift as part of the velocity).
static inline __attribute__((always_inline)) void walk_cell(const walk *w, int dimension, int order, bool shifted, rh_tile at, uint32_t begin, uint32_t end, rh_vec3 *positions)
{
    float s = w->paths->dt * w->tiles->inverse_h / (float)w->steps;
    for (uint32_t p = begin; p < end; p++) {
        rh_f4 start = rh_local_position(w->tiles, at, positions[p]), local = start;
        for (int n = 0; n < w->steps; n++) local = advance(dimension, &w->block, order, s, local);
        rh_f4 way = (local - start) * w->tiles->h;
        if (shifted) way += sample_velocity(dimension, &w->shift, start);
        move_by(&positions[p], way, dimension);
    }
}

static void fly_cell(const walk *w, uint32_t begin, uint32_t end, const rh_vec3 *velocities, rh_vec3 *positions)
{
    float farthest = FARTHEST * w->tiles->h;
    for (uint32_t p = begin; p < end; p++) {
        rh_f4 way = (rh_f4){velocities[p].x, velocities[p].y, velocities[p].z, 0} * w->paths->dt;
        move_by(&positions[p], rh_f4_min(rh_f4_max(way, rh_f4_all(-farthest)), rh_f4_all(farthest)), w->tiles->dimension);
    }
}

static rh_vec3 mean_velocity(const rh_tiles *tiles, int32_t t, const rh_vec3 *velocities)
{
    uint32_t begin = rh_tile_first(tiles, t), end = rh_tile_first(tiles, t + 1);
    rh_dvec3 sum = {0, 0, 0};
    for (uint32_t p = begin; p < end; p++) sum = rh_d3_add(sum, rh_d3_from(velocities[p]));
    return rh_v3_from(rh_d3_scale(sum, 1.0 / (double)(end - begin)));
}

static void load_faces(const rh_tiles *tiles, rh_faces field, int32_t t, int halo, rh_vec3 beyond, float *memory, face_block *block)
{
    int count = rh_block_values(tiles, halo), corner = rh_block_index(tiles, halo, 0, 0, 0);
    *block = (face_block){.side = rh_block_side(halo), .halo = halo, .low = 0.5f - (float)halo, .high = (float)(RH_TILE - 1 + halo) - 1e-3f};
    for (int a = 0; a < tiles->dimension; a++) {
        rh_block_load(tiles, field.axis[a], t, halo, (&beyond.x)[a], memory + (int64_t)a * count);
        block->axis[a] = memory + (int64_t)a * count + corner;
    }
}

static void load_velocity(walk *w, int32_t t, int halo, const rh_vec3 *velocities, float *memory)
{
    bool rim = false;
    for (int n = 0; n < RH_NEAR; n++) rim |= w->tiles->near[t][n] < 0;
    rh_vec3 beyond = rim ? mean_velocity(w->tiles, t, velocities) : rh_v3(0, 0, 0);
    load_faces(w->tiles, w->paths->velocity, t, halo, beyond, memory, &w->block);
}

static void walk_tile(walk *w, int32_t t, float own, float travel, const rh_vec3 *velocities, rh_vec3 *positions)
{
    static _Thread_local float memory[3 * RH_BLOCK_MAX], more[3 * (RH_TILE + 2) * (RH_TILE + 2) * (RH_TILE + 2)];
    const rh_tiles *tiles = w->tiles;
    const rh_paths *g = w->paths;
    w->steps = own > 1 ? (int)ceilf(own) : 1;
    load_velocity(w, t, (int)ceilf(travel) + 2 < RH_HALO_MAX ? (int)ceilf(travel) + 2 : RH_HALO_MAX, velocities, memory);
    bool shifted = g->shift.axis[0];
    if (shifted) load_faces(tiles, g->shift, t, 1, rh_v3(0, 0, 0), more, &w->shift);
    for (int64_t c = (int64_t)t * tiles->cells; c < (int64_t)(t + 1) * tiles->cells; c++) {
        uint32_t begin = tiles->first[c], end = tiles->first[c + 1];
        if (begin == end) continue;
        if (g->distance && g->distance[c] > g->free_beyond) fly_cell(w, begin, end, velocities, positions);
        else if (tiles->dimension == 2) walk_cell(w, 2, g->order, shifted, tiles->at[t], begin, end, positions);
        else if (g->order == 2) walk_cell(w, 3, 2, shifted, tiles->at[t], begin, end, positions);
        else walk_cell(w, 3, 3, shifted, tiles->at[t], begin, end, positions);
    }
}

rh_code rh_particles_advect(const rh_tiles *tiles, const rh_paths *paths, const rh_vec3 *velocities, rh_vec3 *positions,
                            rh_arena *arena, rh_status *status)
{
    rh_arena_mark mark = rh_arena_save(arena);
    float *fastest = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *fastest, status);
    if (!fastest) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) fastest[t] = fastest_face(tiles, paths->velocity, t);
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t n = 0; n < tiles->occupied_count; n++) {
        walk w = {.tiles = tiles, .paths = paths};
        int32_t t = tiles->occupied[n];
        walk_tile(&w, t, fastest[t] * paths->dt * tiles->inverse_h, travel_of(tiles, fastest, t, paths->dt), velocities, positions);
    }
    rh_arena_restore(arena, mark);
    return RH_OK;
}
