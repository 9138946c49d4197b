// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Loops run in eights past the end of a run of cells. What they find there does not count: the next cells of the row
// are farther away than R, and behind each row stand eight particles that are nowhere near.
#include "grid/vicinity.h"

#include "base/simd.h"

enum { LANES = 8, MAX_ROWS = RH_VICINITY_SIDE * RH_VICINITY_SIDE };

static const float NOWHERE = 1e9f;

int64_t rh_vicinity_room(const rh_tiles *tiles)
{
    RH_ASSERT(rh_tiles_are_sorted(tiles));
    int64_t most = 0;
    int layer = RH_TILE * RH_TILE, halo = tiles->dimension == 3 ? RH_VICINITY_HALO : 0;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int32_t t = 0; t < tiles->count; t++) {
        int64_t sum = 0;  // whole layers: more than needed along x and y, but one look each
        for (int n = 0; n < RH_NEAR; n++) {
            if (tiles->near[t][n] < 0) continue;
            const uint32_t *first = tiles->first + (int64_t)tiles->near[t][n] * tiles->cells;
            int from = n / 9 == 0 ? RH_TILE - halo : 0, to = n / 9 == 2 ? halo : tiles->layers;
            if (to > from) sum += first[to * layer] - first[from * layer];
        }
        if (sum > most) most = sum;
    }
    most += LANES * MAX_ROWS + LANES;
    return (most + 8191) / 8192 * 8192;  // so that the need of one step is that of the next
}

// Particles [from, to) to place `at`; up to seven of the following ones are copied as well.
static void copy_particles(rh_vicinity *v, rh_vec3 origin, uint32_t from, uint32_t to, uint32_t at)
{
    uint32_t count = v->tiles->first[rh_tiles_values(v->tiles)];
    rh_f8 scale = rh_f8_all(v->tiles->inverse_h);
    for (uint32_t p = from; p < to; p += LANES, at += LANES) {
        float last[3 * LANES] = {0};
        const float *source = &v->positions[p].x;
        if (p + LANES > count) source = memcpy(last, source, (count - p) * sizeof(rh_vec3));
        rh_f8 x, y, z;
        rh_f8_load3(source, &x, &y, &z);
        rh_f8_store(v->x + at, x * scale - origin.x);
        rh_f8_store(v->y + at, y * scale - origin.y);
        rh_f8_store(v->z + at, z * scale - origin.z);
        rh_f8_store(v->share + at, rh_f8_all(1));
    }
}

// Row (j, k) of cells relative to the tile, with its halo; returns the place behind it.
static uint32_t load_row(rh_vicinity *v, int32_t t, rh_vec3 origin, int j, int k, uint32_t at)
{
    const rh_tiles *tiles = v->tiles;
    int halo = v->halo, cell = 0, side = 3 * ((j >> 3) + 1) + 9 * ((k >> 3) + 1),
        row = RH_TILE * ((j & 7) + RH_TILE * (k & 7));
    uint32_t *start = v->start[(j + halo) + RH_VICINITY_SIDE * (tiles->dimension == 3 ? k + halo : 0)];
    for (int n = 0; n < 3; n++) {
        int from = n == 0 ? RH_TILE - halo : 0, to = n == 2 ? halo : RH_TILE;
        int32_t other = tiles->near[t][n + side];
        if (other < 0) {
            for (int i = from; i < to; i++) start[cell++] = at;
            continue;
        }
        const uint32_t *first = tiles->first + (int64_t)other * tiles->cells + row;
        for (int i = from; i < to; i++) start[cell++] = at + first[i] - first[from];
        if (first[to] == first[from]) continue;
        copy_particles(v, origin, first[from], first[to], at);
        at += first[to] - first[from];
    }
    start[cell] = at;
    for (int c = 0; c < cell; c++) {
        uint32_t count = start[c + 1] - start[c];
        if ((float)count <= v->crowded) continue;
        for (uint32_t p = start[c]; p < start[c + 1]; p++) v->share[p] = v->crowded / (float)count;
    }
    rh_f8_store(v->x + at, rh_f8_all(NOWHERE));
    rh_f8_store(v->y + at, rh_f8_all(NOWHERE));
    rh_f8_store(v->z + at, rh_f8_all(NOWHERE));
    rh_f8_store(v->share + at, rh_f8_all(1));
    return at + LANES;
}

// Marks the rows within `grow` cells of the given ones: per layer of the halo a bit for each row.
static void want_rows(const rh_vicinity *v, uint64_t rows, int grow, uint32_t wanted[RH_VICINITY_SIDE])
{
    bool flat = v->tiles->dimension == 2;
    for (int k = 0; k < v->tiles->layers; k++) {
        uint32_t row = (uint32_t)(rows >> (8 * k) & 0xff) << v->halo, wide = row;
        for (int g = 1; g <= grow; g++) wide |= row << g | row >> g;
        for (int g = flat ? 0 : -grow; g <= (flat ? 0 : grow); g++) wanted[flat ? 0 : k + g + v->halo] |= wide;
    }
}

void rh_vicinity_load(rh_vicinity *v, int32_t t, uint64_t near, uint64_t far, int grow)
{
    bool flat = v->tiles->dimension == 2;
    rh_tile corner = v->tiles->at[t];
    rh_vec3 origin = {(float)(corner.x * RH_TILE), (float)(corner.y * RH_TILE), flat ? 0 : (float)(corner.z * RH_TILE)};
    uint32_t wanted[RH_VICINITY_SIDE] = {0}, at = 0;
    int grow_far = grow + 2 < RH_VICINITY_HALO ? grow + 2 : RH_VICINITY_HALO;
    v->halo = far ? grow_far : grow;
    want_rows(v, near, grow, wanted);
    if (far) want_rows(v, far, grow_far, wanted);
    int side = RH_TILE + 2 * v->halo;
    for (int k = 0; k < (flat ? 1 : side); k++)
        for (int j = 0; j < side; j++) {
            if (wanted[k] >> j & 1) at = load_row(v, t, origin, j - v->halo, flat ? 0 : k - v->halo, at);
            else memset(v->start[j + RH_VICINITY_SIDE * k], 0, (size_t)(side + 1) * sizeof(uint32_t));
        }
}

static inline int clamp(int i, int low, int high) { return i < low ? low : i > high ? high : i; }

bool rh_vicinity_average(const rh_vicinity *v, rh_vec3 x, rh_vec3 *offset)
{
    int low = v->reach, high = RH_TILE - 1 + 2 * v->halo - v->reach, layers = v->tiles->dimension == 3 ? v->reach : 0;
    int i = clamp(rh_floor(x.x) + v->halo, low, high), j = clamp(rh_floor(x.y) + v->halo, low, high);
    int k = layers ? clamp(rh_floor(x.z) + v->halo, low, high) : 0;
    rh_f8 sum = {0}, sx = {0}, sy = {0}, sz = {0}, none = {0}, one = rh_f8_all(1),
          inverse = rh_f8_all(1 / (v->radius * v->radius));
    for (int n = k - layers; n <= k + layers; n++)
        for (int m = j - v->reach; m <= j + v->reach; m++) {
            const uint32_t *start = v->start[m + RH_VICINITY_SIDE * n];
            for (uint32_t p = start[i - v->reach]; p < start[i + v->reach + 1]; p += LANES) {
                rh_f8 dx = rh_f8_load(v->x + p) - x.x, dy = rh_f8_load(v->y + p) - x.y, dz = rh_f8_load(v->z + p) - x.z;
                rh_f8 s = rh_f8_max(one - (dx * dx + dy * dy + dz * dz) * inverse, none);
                rh_f8 w = s * s * s * rh_f8_load(v->share + p);
                sum += w;
                sx += w * dx;
                sy += w * dy;
                sz += w * dz;
            }
        }
    float weight = rh_f8_sum(sum);
    if (weight <= 1e-12f) return false;
    *offset = rh_v3(rh_f8_sum(sx) / weight, rh_f8_sum(sy) / weight, rh_f8_sum(sz) / weight);
    return true;
}
