// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A tile's surroundings, as wide as its fastest neighbour may carry a particle, are copied into a dense block once;
// then all its particles walk through that. Tiles in slow liquid so take small blocks and one sub-step whatever happens
// elsewhere.
//
// The flow is known at one time. A flow that stands still while particles walk through it is right around obstacles and
// in vortices, and wrong for liquid that travels as a whole: after two cells a particle at a crest would do what one in
// a trough did. So a particle walks through the flow as seen from a frame that travels with it, as far as the liquid
// of its tile travels alike, and the frame's own way is added. In a sheet of water that slid at two cells a step the
// volume correction had to lift 1.7 J/kg in six seconds with the flow standing still, 0.06 with the frame. (The frame
// was the mean of the tile's particles before: liquid was pressed together where tiles meet.) Such ways do not quite
// keep volume: grid/shear.h tells by how much.
//
// Third order: A. Ralston, "Runge-Kutta methods with minimum error bounds", Math. Comp. 16, 1962.
#include "grid/advect.h"

#include <math.h>
#include "grid/sample.h"

enum { FARTHEST = 6 };  // cells; with two more for interpolation that is the largest halo

// --- how far ---------------------------------------------------------------------------------------------------------
// The slowest and fastest face of a tile along each axis, m/s.
typedef struct range {
    float low[3], high[3];
} range;

static range range_of(const rh_tiles *tiles, rh_faces velocity, int32_t t)
{
    range r = {{0, 0, 0}, {0, 0, 0}};
    for (int a = 0; a < tiles->dimension; a++) {
        const float *u = velocity.axis[a] + (int64_t)t * tiles->cells;
        rh_f8 low = rh_f8_load(u), high = low;
        for (int c = 8; c < tiles->cells; c += 8)
            low = rh_f8_min(low, rh_f8_load(u + c)), high = rh_f8_max(high, rh_f8_load(u + c));
        r.low[a] = low[0], r.high[a] = high[0];
        for (int i = 1; i < 8; i++) r.low[a] = rh_min(r.low[a], low[i]), r.high[a] = rh_max_of(r.high[a], high[i]);
    }
    return r;
}

// The fastest of the faces in `r` as seen from a frame that moves with a share of the velocity of one in `own`.
static float fastest(const rh_tiles *tiles, const range *r, const range *own, rh_vec3 frame_share)
{
    float most = 0;
    for (int a = 0; a < tiles->dimension; a++) {
        float share = (&frame_share.x)[a];
        most = rh_max_of(most, rh_max_of(r->high[a] - share * own->low[a], share * own->high[a] - r->low[a]));
    }
    return most;
}

// The largest speed of a face of a tile and its neighbours, seen from the frame, bounds every interpolated velocity on
// the way: it sets the block. The tile's own sets the number of sub-steps.
static float travel_of(const rh_tiles *tiles, const range *ranges, rh_vec3 frame_share, int32_t t, float dt)
{
    float most = 0;
    for (int n = 0; n < RH_NEAR; n++) {
        int32_t other = tiles->near[t][n];
        if (other >= 0) most = rh_max_of(most, fastest(tiles, &ranges[other], &ranges[t], frame_share));
    }
    return most * dt * tiles->inverse_h;
}

static range *find_ranges(const rh_tiles *tiles, rh_faces velocity, rh_arena *arena, rh_status *status)
{
    range *ranges = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *ranges, status);
    if (!ranges) return NULL;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) ranges[t] = range_of(tiles, velocity, t);
    return ranges;
}

rh_code rh_faces_farthest(const rh_tiles *tiles, rh_faces velocity, float dt, float *travel, rh_arena *arena,
                          rh_status *status)
{
    RH_ASSERT(rh_faces_fit(tiles, velocity) && dt >= 0);
    rh_arena_mark mark = rh_arena_save(arena);
    const range *ranges = find_ranges(tiles, velocity, arena, status);
    if (!ranges) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) travel[t] = travel_of(tiles, ranges, rh_v3(0, 0, 0), t, dt);
    rh_arena_restore(arena, mark);
    return RH_OK;
}

// --- along the way ---------------------------------------------------------------------------------------------------
RH_INLINE rh_vec3x8 step_along(int dimension, rh_vec3x8 from, float cells, rh_vec3x8 velocity)
{
    for (int a = 0; a < dimension; a++) from.axis[a] += cells * velocity.axis[a];
    return from;
}

RH_INLINE rh_vec3x8 seen_from(int dimension, rh_vec3x8 frame, rh_vec3x8 velocity)
{
    for (int a = 0; a < dimension; a++) velocity.axis[a] -= frame.axis[a];
    return velocity;
}

RH_INLINE rh_vec3x8 flow_at(int dimension, const rh_face_block *block, rh_vec3x8 frame, rh_vec3x8 local)
{
    return seen_from(dimension, frame, rh_sample_faces(dimension, block, local));
}

// One sub-step of `s` cells per (m/s); `first` is the flow where it begins.
RH_INLINE rh_vec3x8 advance(int dimension, const rh_face_block *block, rh_vec3x8 frame, rh_path_rule rule, float s,
                            rh_vec3x8 local, rh_vec3x8 first)
{
    if (rule == RH_PATH_EULER) return step_along(dimension, local, s, first);
    if (rule == RH_PATH_HEUN) {
        rh_vec3x8 last = flow_at(dimension, block, frame, step_along(dimension, local, s, first));
        return step_along(dimension, step_along(dimension, local, 0.5f * s, first), 0.5f * s, last);
    }
    rh_vec3x8 second = flow_at(dimension, block, frame, step_along(dimension, local, 0.5f * s, first));
    if (rule == RH_PATH_MIDPOINT) return step_along(dimension, local, s, second);
    rh_vec3x8 third = flow_at(dimension, block, frame, step_along(dimension, local, 0.75f * s, second));
    for (int a = 0; a < dimension; a++)
        local.axis[a] += s * ((2.0f / 9.0f) * first.axis[a] + (3.0f / 9.0f) * second.axis[a] +
                              (4.0f / 9.0f) * third.axis[a]);
    return local;
}

typedef struct walk {
    const rh_tiles *tiles;
    const rh_paths *paths;
    rh_face_block block, shift;
    rh_vec3 frame_share;
    int steps;
} walk;

// Eight particles. The shift of the volume correction belongs to the place where its error was found: along the way it
// would be read from liquid that another part of the error belongs to (a splash lost 5 % of its volume with the shift
// as part of the velocity).
RH_INLINE void walk_eight(const walk *w, int dimension, rh_path_rule rule, bool shifted, rh_tile at, float *positions)
{
    const rh_tiles *tiles = w->tiles;
    float s = w->paths->dt * tiles->inverse_h / (float)w->steps;
    rh_vec3x8 p;
    rh_f8_load3(positions, &p.axis[0], &p.axis[1], &p.axis[2]);
    rh_vec3x8 start = rh_local_positions8(dimension, tiles, at, p), local = start;
    rh_vec3x8 flow = rh_sample_faces(dimension, &w->block, start), frame = flow;
    for (int a = 0; a < dimension; a++) frame.axis[a] *= (&w->frame_share.x)[a];
    flow = seen_from(dimension, frame, flow);
    for (int n = 0; n < w->steps; n++) {
        if (n > 0) flow = flow_at(dimension, &w->block, frame, local);
        local = advance(dimension, &w->block, frame, rule, s, local, flow);
    }
    for (int a = 0; a < dimension; a++)
        p.axis[a] += (local.axis[a] - start.axis[a]) * tiles->h + frame.axis[a] * w->paths->dt;
    if (shifted) {
        rh_vec3x8 more = rh_sample_faces(dimension, &w->shift, start);
        for (int a = 0; a < dimension; a++) p.axis[a] += more.axis[a];
    }
    rh_f8_store3(positions, p.axis[0], p.axis[1], p.axis[2]);
}

// The last few are padded with the first of them.
RH_INLINE void walk_run(const walk *w, int dimension, rh_path_rule rule, bool shifted, rh_tile at, uint32_t begin,
                        uint32_t end, rh_vec3 *positions)
{
    for (; begin + 8 <= end; begin += 8) walk_eight(w, dimension, rule, shifted, at, &positions[begin].x);
    if (begin == end) return;
    rh_vec3 rest[8];
    for (uint32_t i = 0; i < 8; i++) rest[i] = positions[begin + i < end ? begin + i : begin];
    walk_eight(w, dimension, rule, shifted, at, &rest[0].x);
    memcpy(positions + begin, rest, (end - begin) * sizeof *rest);
}

static void walk_particles(const walk *w, int32_t t, uint32_t begin, uint32_t end, rh_vec3 *positions)
{
    const rh_tile at = w->tiles->at[t];
    rh_path_rule rule = w->paths->rule;
    bool shifted = w->paths->shift.axis[0];
    if (w->tiles->dimension == 2) walk_run(w, 2, rule, shifted, at, begin, end, positions);
    else if (rule == RH_PATH_MIDPOINT) walk_run(w, 3, RH_PATH_MIDPOINT, shifted, at, begin, end, positions);
    else if (rule == RH_PATH_HEUN) walk_run(w, 3, RH_PATH_HEUN, shifted, at, begin, end, positions);
    else walk_run(w, 3, rule, shifted, at, begin, end, positions);
}

static void fly_cell(const walk *w, uint32_t begin, uint32_t end, const rh_vec3 *velocities, rh_vec3 *positions)
{
    float farthest = FARTHEST * w->tiles->h;
    for (uint32_t p = begin; p < end; p++) {
        for (int a = 0; a < w->tiles->dimension; a++)
            (&positions[p].x)[a] += rh_clamp((&velocities[p].x)[a] * w->paths->dt, -farthest, farthest);
    }
}

static rh_vec3 mean_velocity(const rh_tiles *tiles, int32_t t, const rh_vec3 *velocities)
{
    uint32_t begin = rh_tile_first(tiles, t), end = rh_tile_first(tiles, t + 1);
    rh_dvec3 sum = {0, 0, 0};
    for (uint32_t p = begin; p < end; p++) sum = rh_d3_add(sum, rh_d3_from(velocities[p]));
    return rh_v3_from(rh_d3_scale(sum, 1.0 / (double)(end - begin)));
}

static void load_velocity(walk *w, int32_t t, int halo, const rh_vec3 *velocities, float *memory)
{
    bool rim = false;
    for (int n = 0; n < RH_NEAR; n++) rim |= w->tiles->near[t][n] < 0;
    rh_vec3 beyond = rim ? mean_velocity(w->tiles, t, velocities) : rh_v3(0, 0, 0);
    rh_face_block_load(w->tiles, w->paths->velocity, t, halo, beyond, memory, &w->block);
}

static void walk_tile(walk *w, int32_t t, float own, float travel, const rh_vec3 *velocities, rh_vec3 *positions)
{
    static _Thread_local float memory[3 * RH_BLOCK_MAX], more[3 * (RH_TILE + 2) * (RH_TILE + 2) * (RH_TILE + 2)];
    const rh_tiles *tiles = w->tiles;
    const rh_paths *g = w->paths;
    w->steps = own > 1 ? (int)ceilf(own) : 1;
    load_velocity(w, t, (int)ceilf(travel) + 2 < RH_HALO_MAX ? (int)ceilf(travel) + 2 : RH_HALO_MAX, velocities,
                  memory);
    if (g->shift.axis[0]) rh_face_block_load(tiles, g->shift, t, 1, rh_v3(0, 0, 0), more, &w->shift);
    uint32_t begin = rh_tile_first(tiles, t), end = begin;  // a run of cells whose particles follow the grid
    for (int64_t c = (int64_t)t * tiles->cells; c < (int64_t)(t + 1) * tiles->cells; c++) {
        uint32_t next = tiles->first[c + 1];
        if (next > end && g->distance && g->distance[c] > g->free_beyond) {
            walk_particles(w, t, begin, end, positions);
            fly_cell(w, end, next, velocities, positions);
            begin = next;
        }
        end = next;
    }
    walk_particles(w, t, begin, end, positions);
}

rh_code rh_particles_advect(const rh_tiles *tiles, const rh_paths *paths, const rh_vec3 *velocities, rh_vec3 *positions,
                            rh_arena *arena, rh_status *status)
{
    RH_ASSERT(rh_tiles_are_sorted(tiles) && rh_faces_fit(tiles, paths->velocity) && paths->dt >= 0);
    rh_arena_mark mark = rh_arena_save(arena);
    const range *ranges = find_ranges(tiles, paths->velocity, arena, status);
    if (!ranges) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t n = 0; n < tiles->occupied_count; n++) {
        int32_t t = tiles->occupied[n];
        walk w = {
            .tiles = tiles, .paths = paths, .frame_share = paths->frame_share ? paths->frame_share[t] : rh_v3(0, 0, 0)};
        float own = fastest(tiles, &ranges[t], &ranges[t], w.frame_share) * paths->dt * tiles->inverse_h;
        walk_tile(&w, t, own, rh_min(travel_of(tiles, ranges, w.frame_share, t, paths->dt), FARTHEST), velocities,
                  positions);
    }
    rh_arena_restore(arena, mark);
    return RH_OK;
}
