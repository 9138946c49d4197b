// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Particles to grid: every tile scatters its own particles into a small dense block that overhangs by one cell, then
// adds the block to itself and its neighbours. Tiles go in 2^d colours (parity of their coordinates): two tiles of one colour never
// touch the same value, and colours follow each other in fixed order, so sums come out the same for any number
// of threads, each particle is visited once, and no second copy of the grid is needed. (A gather would visit every
// particle about twice.)
//
// Grid to particles: a tile's surroundings are copied into a dense block once, then all its particles read from there.
//
// APIC: C. Jiang, C. Schroeder, A. Selle, J. Teran, A. Stomakhin, "The affine particle-in-cell method", ACM TOG 34(4),
// 2015; on a staggered grid row a of C is the gradient of the interpolated component a.
#include "grid/transfer.h"

#include <math.h>
#include <string.h>

// Small blocks with an overhang of one cell: cells -1 .. 8.
enum { SIDE = RH_TILE + 2, SMALL = SIDE * SIDE * SIDE };

typedef struct place { int base; float fraction; } place;  // lattice cell and position in it

static inline place place_on(float g)
{
    int cell = rh_floor(g);
    return (place){cell, g - (float)cell};
}

// Position of a particle in cells relative to its tile's corner. The difference of nearby floats is exact.
static inline void local_position(const rh_tiles *tiles, rh_tile at, rh_vec3 p, float out[3])
{
    out[0] = p.x * tiles->inverse_h - (float)(at.x * RH_TILE);
    out[1] = p.y * tiles->inverse_h - (float)(at.y * RH_TILE);
    out[2] = tiles->dimension == 3 ? p.z * tiles->inverse_h - (float)(at.z * RH_TILE) : 0;
}

// Offset of the lattice of component `axis` along `along` (3 = cell centres), in cells.
static inline float lattice(int axis, int along) { return axis == along ? 0.0f : 0.5f; }

// --- particles to grid --------------------------------------------------------------------------------------------

// Adds one particle's value (with slope per cell along each axis) to the 2^d lattice points around it.
static inline void scatter(int dimension, int axis, const float local[3], float value, const float slope[3], bool affine,
                           float *values, float *weights)
{
    place x = place_on(local[0] - lattice(axis, 0)), y = place_on(local[1] - lattice(axis, 1)), z = {0, 0};
    if (dimension == 3) z = place_on(local[2] - lattice(axis, 2));
    int start = (x.base + 1) + SIDE * ((y.base + 1) + (dimension == 3 ? SIDE * (z.base + 1) : 0));
    for (int dz = 0; dz < (dimension == 3 ? 2 : 1); dz++) {
        float wz = dimension == 3 ? (dz ? z.fraction : 1 - z.fraction) : 1;
        for (int dy = 0; dy < 2; dy++) {
            float wyz = wz * (dy ? y.fraction : 1 - y.fraction);
            for (int dx = 0; dx < 2; dx++) {
                float w = wyz * (dx ? x.fraction : 1 - x.fraction);
                float v = value;
                if (affine) v += slope[0] * ((float)dx - x.fraction) + slope[1] * ((float)dy - y.fraction) + slope[2] * ((float)dz - z.fraction);
                int n = start + dx + SIDE * (dy + SIDE * dz);
                if (values) values[n] += w * v;
                weights[n] += w;
            }
        }
    }
}

// Adds a small block to the tile it belongs to and to the neighbours it overhangs.
static void flush(const rh_tiles *tiles, int32_t t, const float *block, float *field)
{
    bool flat = tiles->dimension == 2;
    for (int n = flat ? 9 : 0; n < (flat ? 18 : RH_NEAR); n++) {
        int32_t other = tiles->near[t][n];
        if (other < 0) continue;  // nothing reaches a tile outside the margin
        int d[3] = {n % 3 - 1, n / 3 % 3 - 1, flat ? 0 : n / 9 - 1};
        int from[3], to[3], count[3];
        for (int a = 0; a < 3; a++) {
            count[a] = d[a] ? 1 : RH_TILE;
            from[a] = d[a] < 0 ? 0 : d[a] > 0 ? SIDE - 1 : 1;
            to[a] = d[a] < 0 ? RH_TILE - 1 : 0;
        }
        if (flat) from[2] = 0, count[2] = 1;
        float *target = field + (int64_t)other * tiles->cells;
        for (int k = 0; k < count[2]; k++)
            for (int j = 0; j < count[1]; j++) {
                const float *source = block + from[0] + SIDE * ((from[1] + j) + SIDE * (from[2] + k));
                float *sum = target + to[0] + RH_TILE * ((to[1] + j) + RH_TILE * (to[2] + k));
                for (int i = 0; i < count[0]; i++) sum[i] += source[i];
            }
    }
}

typedef struct scatter_job {
    const rh_tiles *tiles;
    const rh_vec3 *positions, *velocities;
    const float (*affine)[9];
    rh_faces velocity, weight;  // faces; or
    float *cells;               // cell weights only
} scatter_job;

static inline void scatter_component(const scatter_job *job, int dimension, bool affine, int axis, int32_t t)
{
    const rh_tiles *tiles = job->tiles;
    size_t bytes = (dimension == 3 ? SMALL : SIDE * SIDE) * sizeof(float);
    float values[SMALL], weights[SMALL];
    memset(values, 0, bytes);
    memset(weights, 0, bytes);
    uint32_t end = rh_tile_first(tiles, t + 1);
    for (uint32_t p = rh_tile_first(tiles, t); p < end; p++) {
        float local[3], slope[3] = {0, 0, 0};
        local_position(tiles, tiles->at[t], job->positions[p], local);
        if (affine)
            for (int a = 0; a < dimension; a++) slope[a] = job->affine[p][3 * axis + a] * tiles->h;
        float v = axis == 3 ? 0 : (&job->velocities[p].x)[axis];
        scatter(dimension, axis, local, v, slope, affine, axis == 3 ? NULL : values, weights);
    }
    if (axis == 3) {
        flush(tiles, t, weights, job->cells);
    } else {
        flush(tiles, t, values, job->velocity.axis[axis]);
        flush(tiles, t, weights, job->weight.axis[axis]);
    }
}

// Constant dimension and kind let the compiler unroll the corner loops.
static void scatter_tile(const scatter_job *job, int32_t t)
{
    int dimension = job->tiles->dimension;
    if (job->cells) {
        if (dimension == 3) scatter_component(job, 3, false, 3, t);
        else scatter_component(job, 2, false, 3, t);
        return;
    }
    for (int axis = 0; axis < dimension; axis++) {
        if (dimension == 3 && job->affine) scatter_component(job, 3, true, axis, t);
        else if (dimension == 3) scatter_component(job, 3, false, axis, t);
        else if (job->affine) scatter_component(job, 2, true, axis, t);
        else scatter_component(job, 2, false, axis, t);
    }
}

static void scatter_all(const scatter_job *job)
{
    const rh_tiles *tiles = job->tiles;
    for (int color = 0; color < (tiles->dimension == 3 ? 8 : 4); color++) {
#pragma omp parallel for schedule(dynamic, 8)
        for (int32_t t = 0; t < tiles->count; t++) {
            rh_tile at = tiles->at[t];
            if (((at.x & 1) | (at.y & 1) << 1 | (at.z & 1) << 2) != color) continue;
            if (rh_tile_first(tiles, t) < rh_tile_first(tiles, t + 1)) scatter_tile(job, t);
        }
    }
}

void rh_particles_to_faces(const rh_tiles *tiles, const rh_vec3 *positions, const rh_vec3 *velocities,
                           const float (*affine)[9], rh_faces velocity, rh_faces weight)
{
    for (int a = 0; a < tiles->dimension; a++) {
        memset(velocity.axis[a], 0, (size_t)rh_tiles_values(tiles) * sizeof(float));
        memset(weight.axis[a], 0, (size_t)rh_tiles_values(tiles) * sizeof(float));
    }
    scatter_job job = {tiles, positions, velocities, affine, velocity, weight, NULL};
    scatter_all(&job);
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int a = 0; a < tiles->dimension; a++) {
            float *v = velocity.axis[a] + (int64_t)t * tiles->cells;
            const float *w = weight.axis[a] + (int64_t)t * tiles->cells;
            for (int c = 0; c < tiles->cells; c++) v[c] = w[c] > 1e-9f ? v[c] / w[c] : 0;
        }
}

void rh_particles_to_cells(const rh_tiles *tiles, const rh_vec3 *positions, float *weight)
{
    memset(weight, 0, (size_t)rh_tiles_values(tiles) * sizeof(float));
    scatter_job job = {.tiles = tiles, .positions = positions, .cells = weight};
    scatter_all(&job);
}

// --- grid to particles --------------------------------------------------------------------------------------------
typedef struct face_block {
    const float *axis[3];
    int side, halo;
} face_block;

// Interpolates component `axis` at a local position; `slope` (may be NULL) gets the gradient per cell.
static inline float sample(int dimension, const face_block *block, int axis, const float local[3], float *slope)
{
    place x = place_on(local[0] - lattice(axis, 0)), y = place_on(local[1] - lattice(axis, 1)), z = {0, 0};
    if (dimension == 3) z = place_on(local[2] - lattice(axis, 2));
    int side = block->side, halo = block->halo;
    const float *f = block->axis[axis] + (x.base + halo) + side * ((y.base + halo) + (dimension == 3 ? side * (z.base + halo) : 0));
    int sy = side, sz = dimension == 3 ? side * side : 0;
    float fx = x.fraction, fy = y.fraction, fz = z.fraction;
    float a00 = f[0] + fx * (f[1] - f[0]), a10 = f[sy] + fx * (f[sy + 1] - f[sy]);
    float near = a00 + fy * (a10 - a00), far = near;
    if (dimension == 3) {
        float a01 = f[sz] + fx * (f[sz + 1] - f[sz]), a11 = f[sz + sy] + fx * (f[sz + sy + 1] - f[sz + sy]);
        far = a01 + fy * (a11 - a01);
        if (slope) {
            slope[1] = (a10 - a00) + fz * ((a11 - a01) - (a10 - a00));
            float d0 = (f[1] - f[0]) + fy * ((f[sy + 1] - f[sy]) - (f[1] - f[0]));
            float d1 = (f[sz + 1] - f[sz]) + fy * ((f[sz + sy + 1] - f[sz + sy]) - (f[sz + 1] - f[sz]));
            slope[0] = d0 + fz * (d1 - d0);
            slope[2] = far - near;
        }
    } else if (slope) {
        slope[0] = (f[1] - f[0]) + fy * ((f[sy + 1] - f[sy]) - (f[1] - f[0]));
        slope[1] = a10 - a00;
        slope[2] = 0;
    }
    return near + fz * (far - near);
}

static inline void sample_velocity(int dimension, const face_block *block, const float local[3], float out[3])
{
    // Nothing within max_travel leaves the block; the clamp only keeps rounding at its rim inside.
    float low = 0.5f - (float)block->halo, high = (float)(RH_TILE - 1 + block->halo) - 1e-3f, at[3] = {0, 0, 0};
    for (int a = 0; a < dimension; a++) at[a] = rh_clamp(local[a], low, high);
    out[2] = 0;
    for (int a = 0; a < dimension; a++) out[a] = sample(dimension, block, a, at, NULL);
}

static inline void step_along(const float from[3], const float velocity[3], float cells, float to[3])
{
    for (int a = 0; a < 3; a++) to[a] = from[a] + cells * velocity[a];
}

// One sub-step of `s` cells per (m/s), starting with the velocity at the start already known.
static inline void advect(int dimension, const face_block *block, int order, float s, const float start[3], float local[3])
{
    float middle[3], second[3], third[3];
    if (order == 2) {
        step_along(local, start, 0.5f * s, middle);
        sample_velocity(dimension, block, middle, second);
        step_along(local, second, s, local);
        return;
    }
    // Ralston's third-order method: stages at 1/2 and 3/4, weights 2/9, 3/9, 4/9.
    step_along(local, start, 0.5f * s, middle);
    sample_velocity(dimension, block, middle, second);
    step_along(local, second, 0.75f * s, middle);
    sample_velocity(dimension, block, middle, third);
    for (int a = 0; a < 3; a++)
        local[a] += s * ((2.0f / 9.0f) * start[a] + (3.0f / 9.0f) * second[a] + (4.0f / 9.0f) * third[a]);
}

typedef struct gather_blocks { face_block velocity, change, shift; } gather_blocks;

static inline void gather_particle(int dimension, const rh_tiles *tiles, const rh_gather *g, const gather_blocks *b, rh_tile at,
                                   rh_vec3 *position, rh_vec3 *velocity, float *affine)
{
    float local[3], here[3] = {0, 0, 0};
    local_position(tiles, at, *position, local);
    float *v = &velocity->x;
    for (int a = 0; a < dimension; a++) {
        float slope[3];
        here[a] = sample(dimension, &b->velocity, a, local, g->update == RH_UPDATE_APIC ? slope : NULL);
        if (g->update == RH_UPDATE_FLIP) {
            float full = v[a] + sample(dimension, &b->change, a, local, NULL);
            v[a] = full + (1 - g->flip) * (here[a] - full);
        } else {
            v[a] = here[a];
        }
        if (g->update == RH_UPDATE_APIC)
            for (int d = 0; d < 3; d++) affine[3 * a + d] = slope[d] * tiles->inverse_h;
    }
    float move[3] = {0, 0, 0};
    if (g->dt > 0) {
        float start[3] = {local[0], local[1], local[2]};
        int steps = (int)ceilf(g->max_travel);
        if (steps < 1) steps = 1;
        float s = g->dt * tiles->inverse_h / (float)steps;
        for (int n = 0; n < steps; n++) {
            if (n) sample_velocity(dimension, &b->velocity, local, here);
            advect(dimension, &b->velocity, g->order, s, here, local);
        }
        for (int a = 0; a < dimension; a++) move[a] = (local[a] - start[a]) * tiles->h;
        if (g->shift.axis[0])
            for (int a = 0; a < dimension; a++) move[a] += sample(dimension, &b->shift, a, start, NULL);
    }
    position->x += move[0];
    position->y += move[1];
    position->z += move[2];
}

static void load_faces(const rh_tiles *tiles, rh_faces faces, int32_t t, int halo, float *memory, face_block *block)
{
    *block = (face_block){.side = rh_block_side(halo), .halo = halo};
    for (int a = 0; a < tiles->dimension; a++) {
        rh_block_load(tiles, faces.axis[a], t, halo, 0, memory);
        block->axis[a] = memory;
        memory += rh_block_values(tiles, halo);
    }
}

static void gather_tile(const rh_tiles *tiles, const rh_gather *g, int32_t t, int halo, rh_vec3 *positions, rh_vec3 *velocities, float (*affine)[9])
{
    static _Thread_local float wide[3 * RH_BLOCK_MAX];
    float change[3 * SMALL], shift[3 * SMALL];
    gather_blocks b;
    load_faces(tiles, g->velocity, t, halo, wide, &b.velocity);
    if (g->update == RH_UPDATE_FLIP) load_faces(tiles, g->change, t, 1, change, &b.change);
    if (g->shift.axis[0]) load_faces(tiles, g->shift, t, 1, shift, &b.shift);
    uint32_t end = rh_tile_first(tiles, t + 1);
    for (uint32_t p = rh_tile_first(tiles, t); p < end; p++) {
        float *c = affine ? affine[p] : NULL;
        if (tiles->dimension == 3) gather_particle(3, tiles, g, &b, tiles->at[t], &positions[p], &velocities[p], c);
        else gather_particle(2, tiles, g, &b, tiles->at[t], &positions[p], &velocities[p], c);
    }
}

void rh_faces_to_particles(const rh_tiles *tiles, const rh_gather *gather, rh_vec3 *positions, rh_vec3 *velocities,
                           float (*affine)[9])
{
    int halo = rh_floor(gather->dt > 0 ? gather->max_travel : 0) + 2;
    if (halo > RH_HALO_MAX) halo = RH_HALO_MAX;
#pragma omp parallel for schedule(dynamic, 2)
    for (int32_t t = 0; t < tiles->count; t++)
        if (rh_tile_first(tiles, t) < rh_tile_first(tiles, t + 1)) gather_tile(tiles, gather, t, halo, positions, velocities, affine);
}
