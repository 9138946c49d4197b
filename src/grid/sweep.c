// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Distances and extension on tiles. Both work tile by tile on a dense block with one cell of its neighbours around,
// tiles in 2^d colours: a tile sees the newest values of other colours and no two neighbours run at once, so the
// result does not depend on threads.
//
// Distance: fast sweeping (H. Zhao, "A fast sweeping method for eikonal equations", Math. Comp. 74, 2005) inside each tile.
// Extension: grad u . grad phi = 0, upwind, visiting unknown faces once in order of distance.
#include <math.h>
#include <string.h>
#include "grid/levelset.h"

enum { SIDE = RH_TILE + 2, SMALL = SIDE * SIDE * SIDE };

static inline int color_of(rh_tile at) { return (at.x & 1) | (at.y & 1) << 1 | (at.z & 1) << 2; }

// --- distance -----------------------------------------------------------------------------------------------------

// Solution of the upwind eikonal equation from the smallest neighbour along each axis (in cells).
static float eikonal(float a, float b, float c)
{
    float swap;
    if (a > b) swap = a, a = b, b = swap;
    if (b > c) swap = b, b = c, c = swap;
    if (a > b) swap = a, a = b, b = swap;
    float d = a + 1;
    if (d <= b) return d;
    d = 0.5f * (a + b + sqrtf(rh_max_of(2 - (a - b) * (a - b), 0)));
    if (d <= c) return d;
    float sum = a + b + c, squares = a * a + b * b + c * c;
    return (sum + sqrtf(rh_max_of(sum * sum - 3 * (squares - 1), 0))) / 3;
}

// One of the 2^d sweeps; magnitudes in cells.
static bool sweep_once(const rh_tiles *tiles, int order, const bool *frozen, float *d)
{
    bool changed = false;
    int nz = tiles->layers, flat = tiles->dimension == 2;
    for (int kk = 0; kk < nz; kk++)
        for (int jj = 0; jj < RH_TILE; jj++)
            for (int ii = 0; ii < RH_TILE; ii++) {
                int i = order & 1 ? RH_TILE - 1 - ii : ii, j = order & 2 ? RH_TILE - 1 - jj : jj, k = order & 4 ? nz - 1 - kk : kk;
                int n = (i + 1) + SIDE * ((j + 1) + (flat ? 0 : SIDE * (k + 1)));
                if (frozen[n]) continue;
                float a = rh_min(d[n - 1], d[n + 1]), b = rh_min(d[n - SIDE], d[n + SIDE]);
                float c = flat ? 1e10f : rh_min(d[n - SIDE * SIDE], d[n + SIDE * SIDE]);
                float value = eikonal(a, b, c);
                if (value < d[n]) d[n] = value, changed = true;
            }
    return changed;
}

static void sweep_tile(const rh_tiles *tiles, int32_t t, float *phi, const uint8_t *fixed, float band)
{
    float d[SMALL];
    bool frozen[SMALL];
    rh_block_load(tiles, phi, t, 1, band * tiles->h, d);
    bool any = false;
    int n = rh_block_values(tiles, 1);
    for (int i = 0; i < n; i++) {
        d[i] = fabsf(d[i]) * tiles->inverse_h;
        any |= d[i] < band;
        frozen[i] = false;
    }
    if (!any) return;
    float *out = phi + (int64_t)t * tiles->cells;
    const uint8_t *keep = fixed + (int64_t)t * tiles->cells;
    for (int k = 0; k < tiles->layers; k++)
        for (int j = 0; j < RH_TILE; j++)
            for (int i = 0; i < RH_TILE; i++) frozen[rh_block_index(tiles, 1, i, j, k)] = keep[i + RH_TILE * (j + RH_TILE * k)];
    int orders = tiles->dimension == 3 ? 8 : 4;
    // A sweep that changes nothing in one order would change nothing in any.
    for (int order = 0; order < 2 * orders && sweep_once(tiles, order % orders, frozen, d); order++) {}
    for (int k = 0; k < tiles->layers; k++)
        for (int j = 0; j < RH_TILE; j++)
            for (int i = 0; i < RH_TILE; i++) {
                float *value = out + i + RH_TILE * (j + RH_TILE * k);
                float distance = rh_min(d[rh_block_index(tiles, 1, i, j, k)], band) * tiles->h;
                if (!keep[i + RH_TILE * (j + RH_TILE * k)]) *value = *value < 0 ? -distance : distance;
            }
}

void rh_levelset_sweep(const rh_tiles *tiles, float *phi, const uint8_t *fixed, float band)
{
    // The way to a cell at most eight cells off leads through at most one border per axis, dimension + 1 tiles, each of
    // which may have to wait for the next round.
    for (int round = 0; round <= tiles->dimension; round++)
        for (int color = 0; color < 8; color++) {
#pragma omp parallel for schedule(dynamic, 8)
            for (int32_t t = 0; t < tiles->count; t++)
                if (color_of(tiles->at[t]) == color) sweep_tile(tiles, t, phi, fixed, band);
        }
}

// --- extension ----------------------------------------------------------------------------------------------------
typedef struct unknown { float key; int16_t block, cell; } unknown;

// A counting sort into classes of distance, stable inside a class.
static void order_unknowns(const unknown *list, int count, float band, int16_t *order)
{
    enum { CLASSES = 128 };
    int start[CLASSES + 1] = {0};
    float scale = (float)CLASSES / (band + 1);
#define CLASS(u) ((int)rh_min(rh_max_of(((u).key + 1) * scale, 0), CLASSES - 1))
    for (int i = 0; i < count; i++) start[CLASS(list[i]) + 1]++;
    for (int c = 0; c < CLASSES; c++) start[c + 1] += start[c];
    for (int i = 0; i < count; i++) order[start[CLASS(list[i])]++] = (int16_t)i;
#undef CLASS
}

// Upwind mean over the axis neighbours nearer to the known region, weighted by how much nearer they are.
static bool extend_value(const rh_tiles *tiles, int n, const float *key, const uint8_t *known, const float *value, float *out)
{
    static const int step3[3] = {1, SIDE, SIDE * SIDE};
    float sum = 0, weight = 0;
    for (int a = 0; a < tiles->dimension; a++)
        for (int s = -1; s <= 1; s += 2) {
            int m = n + s * step3[a];
            if (!known[m]) continue;
            float w = key[n] - key[m];
            if (w <= 1e-4f) continue;
            sum += w * value[m];
            weight += w;
        }
    if (weight > 0) *out = sum / weight;
    return weight > 0;
}

// Distance at the faces of `axis`, in cells, from cell centres: block of faces needs cells one below.
static void face_distance(const rh_tiles *tiles, const float *distance, int axis, int32_t t, float band, float *key)
{
    float wide[(RH_TILE + 4) * (RH_TILE + 4) * (RH_TILE + 4)];
    rh_block_load(tiles, distance, t, 2, band * tiles->h, wide);
    int low = tiles->dimension == 3 ? -1 : 0, high = tiles->dimension == 3 ? RH_TILE : 0;
    for (int k = low; k <= high; k++)
        for (int j = -1; j <= RH_TILE; j++)
            for (int i = -1; i <= RH_TILE; i++)
                key[rh_block_index(tiles, 1, i, j, k)] =
                    0.5f * tiles->inverse_h * (wide[rh_block_index(tiles, 2, i, j, k)] +
                                               wide[rh_block_index(tiles, 2, i - (axis == 0), j - (axis == 1), k - (axis == 2))]);
}

static void extend_tile(const rh_tiles *tiles, int axis, const float *distance, float band, int32_t t, float *values, uint8_t *known)
{
    uint8_t *known_out = known + (int64_t)t * tiles->cells;
    const float *own = distance + (int64_t)t * tiles->cells;
    bool wanted = false;  // a face without a value, near enough
    for (int c = 0; c < tiles->cells; c++) wanted |= known_out[c] != 1 && own[c] < band * tiles->h;
    if (!wanted) return;
    float key[SMALL], value[SMALL];
    uint8_t have[SMALL];
    rh_block_load_u8(tiles, known, t, 1, 0, have);
    int n = rh_block_values(tiles, 1);
    bool any = false;
    for (int i = 0; i < n && !any; i++) any = have[i];
    if (!any) return;
    rh_block_load(tiles, values, t, 1, 0, value);
    face_distance(tiles, distance, axis, t, band, key);

    unknown list[RH_TILE * RH_TILE * RH_TILE];
    int16_t order[RH_TILE * RH_TILE * RH_TILE];
    int count = 0;
    for (int c = 0; c < tiles->cells; c++) {
        int b = rh_block_index(tiles, 1, c & 7, c >> 3 & 7, c >> 6);
        // Values set in an earlier round are made again: their upwind neighbours may have come since.
        if (have[b] != 1 && key[b] < band) list[count++] = (unknown){key[b], (int16_t)b, (int16_t)c};
    }
    order_unknowns(list, count, band, order);
    float *out = values + (int64_t)t * tiles->cells;
    for (int i = 0; i < count; i++) {
        const unknown *u = &list[order[i]];
        if (!extend_value(tiles, u->block, key, have, value, &value[u->block])) continue;
        have[u->block] = known_out[u->cell] = 2;
        out[u->cell] = value[u->block];
    }
}

void rh_faces_extend(const rh_tiles *tiles, int axis, const float *distance, float band, float *values, uint8_t *known)
{
    // On planes in all directions, values five cells off are wrong by as much as they change over a cell after two rounds, by
    // a thousandth of that after three; a fourth is not worth its tenth of a step.
    for (int round = 0; round < 3; round++)
        for (int color = 0; color < 8; color++) {
#pragma omp parallel for schedule(dynamic, 8)
            for (int32_t t = 0; t < tiles->count; t++)
                if (color_of(tiles->at[t]) == color) extend_tile(tiles, axis, distance, band, t, values, known);
        }
}
