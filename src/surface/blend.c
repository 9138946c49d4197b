// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Fields from weighted means of the particles around a voxel, to compare with. With k(s) = (1 - s^2)^3,
// s = |x - x_i| / R:
//   averaged      |x - xbar| - rbar, xbar = sum k x_i / sum k (Y. Zhu, R. Bridson, "Animating sand as a fluid",
//                 ACM TOG 24(3), 2005)
//   solenthaler   |x - xbar| - rbar f, f falls from 1 to 0 as the largest eigenvalue of d xbar / dx goes from
//                 `low` to `high`: cuts away what averaging leaves in concavities (B. Solenthaler,
//                 J. Schlaefli, R. Pajarola, "A unified particle model for fluid-solid interactions",
//                 CAVW 18(1), 2007)
//   density       a share of the sum of kernels (J. Blinn, "A generalization of algebraic surface drawing",
//                 ACM TOG 1(3), 1982): thick where particles clump
// None is a distance; finish.c makes one of it. Lengths are in voxels.
#include <math.h>
#include <string.h>
#include "base/eigen.h"
#include "surface/parts.h"

enum { MOST_SUMS = 17 };  // sum k, k x, k r, grad k, x grad k^T

typedef struct sums {
    float of[MOST_SUMS][RH_LEAF];
    float best[RH_LEAF];
} sums;

static const rh_f8 STEPS = {0, 1, 2, 3, 4, 5, 6, 7};

static inline void add(float *to, rh_f8 value) { rh_f8_store(to, rh_f8_load(to) + value); }

// Adds one particle at c (from the leaf's corner) to a row of voxels.
static inline void add_to_row(sums *s, rh_leaf_work *w, int row, rh_vec3 c, float x, float y, float radius,
                              float inverse, bool gradients, uint32_t p)
{
    int at = RH_TILE * row;
    float dx = x - c.x, dy = y - c.y;
    rh_f8 dz = STEPS - c.z, none = {0}, one = rh_f8_all(1),
          t = rh_f8_max(one - (dz * dz + (dx * dx + dy * dy)) * inverse, none);
    if (!rh_i8_bits(t > none)) return;
    rh_f8 k = t * t * t, best = rh_f8_load(s->best + at);
    add(s->of[0] + at, k);
    add(s->of[1] + at, k * dx);  // positions from the voxel: small numbers, whatever the place
    add(s->of[2] + at, k * dy);
    add(s->of[3] + at, k * dz);
    add(s->of[4] + at, k * radius);
    rh_i8 more = k > best, id = {0};
    id += (int32_t)p;
    rh_f8_store(s->best + at, rh_f8_select(more, k, best));
    rh_f8_store((float *)(w->nearest + at),
                rh_f8_select(more, (rh_f8)id, rh_f8_load((const float *)(w->nearest + at))));
    if (!gradients) return;
    rh_f8 g = -6 * inverse * t * t, v[3] = {rh_f8_all(dx), rh_f8_all(dy), dz};
    for (int a = 0; a < 3; a++) {
        add(s->of[5 + a] + at, g * v[a]);
        for (int b = 0; b < 3; b++) add(s->of[8 + 3 * a + b] + at, g * v[a] * v[b]);
    }
}

static void add_all(sums *s, rh_leaf_work *w, const rh_blend *blend, bool gradients)
{
    float inverse_voxel = (float)(1 / w->cloud->voxel),
          share = blend->support / (float)(w->cloud->mean_radius / w->cloud->voxel);
    memset(s->of, 0, (size_t)(gradients ? MOST_SUMS : 5) * sizeof s->of[0]);
    memset(s->best, 0, sizeof s->best);
    for (int c = 0; c < RH_LEAF; c++) w->nearest[c] = RH_NO_POINT;
    for (int n = 0; n < w->run_count; n++)
        for (uint32_t p = w->runs[n].begin; p < w->runs[n].end; p++) {
            rh_vec3 c = rh_v3_sub(rh_v3_scale(w->cloud->position[p], inverse_voxel), w->corner);
            float radius = rh_cloud_radius(w->cloud, p) * inverse_voxel, support = share * radius,
                  squared = support * support;
            for (int x = 0; x < RH_TILE; x++)
                for (int y = 0; y < RH_TILE; y++) {
                    float dx = (float)x - c.x, dy = (float)y - c.y;
                    if (dx * dx + dy * dy < squared)
                        add_to_row(s, w, RH_TILE * x + y, c, (float)x, (float)y, radius, 1 / squared, gradients, p);
                }
        }
}

// Below this sum of kernels nothing is near: a quotient of two such sums is rounding.
static const float NEAR = 1e-6f;

static float mean_distance(const sums *s, int c)
{
    float k = s->of[0][c], x = s->of[1][c] / k, y = s->of[2][c] / k, z = s->of[3][c] / k;
    return sqrtf(x * x + y * y + z * z);
}

void rh_blend_averaged(rh_leaf_work *w, const void *data)
{
    const rh_blend *blend = data;
    sums s;
    add_all(&s, w, blend, false);
    for (int c = 0; c < RH_LEAF; c++)
        w->field[c] = s.of[0][c] > NEAR ? rh_min(mean_distance(&s, c) - s.of[4][c] / s.of[0][c], blend->band)
                                        : blend->band;
}

// Largest eigenvalue of the symmetric part of J = d xbar / dx for a row of voxels. With D = sum k (x - x_i), K = sum k,
// G = sum grad k and T = sum (x - x_i) (grad k)^T: xbar = x - D / K, and J = D G^T / K^2 - T / K.
static rh_f8 largest_stretch(const sums *s, int at)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    rh_f8 k = rh_f8_max(rh_f8_load(s->of[0] + at), rh_f8_all(NEAR)), inverse = 1 / k, m[6], values[3], vectors[3][3];
    for (int n = 0; n < 6; n++) {
        int a = row[n], b = column[n];
        rh_f8 product = rh_f8_load(s->of[1 + a] + at) * rh_f8_load(s->of[5 + b] + at) +
                        rh_f8_load(s->of[1 + b] + at) * rh_f8_load(s->of[5 + a] + at);
        rh_f8 sum = rh_f8_load(s->of[8 + 3 * a + b] + at) + rh_f8_load(s->of[8 + 3 * b + a] + at);
        m[n] = 0.5f * inverse * (product * inverse - sum);
    }
    rh_eigen3(m, values, vectors);
    return values[0];
}

void rh_blend_solenthaler(rh_leaf_work *w, const void *data)
{
    const rh_blend *blend = data;
    float low = (float)w->cloud->params->low, high = (float)w->cloud->params->high;
    sums s;
    add_all(&s, w, blend, true);
    for (int at = 0; at < RH_LEAF; at += RH_TILE) {
        rh_f8 stretch = largest_stretch(&s, at);
        for (int n = 0; n < RH_TILE; n++) {
            int c = at + n;
            w->field[c] = blend->band;
            if (s.of[0][c] <= NEAR) continue;
            float e = stretch[n], g = rh_clamp((high - e) / (high - low), 0, 1),
                  f = e < low ? 1 : g * g * g - 3 * g * g + 3 * g;
            w->field[c] = rh_min(mean_distance(&s, c) - f * s.of[4][c] / s.of[0][c], blend->band);
        }
    }
}

// Inside, particles of volume V stand for a density 1 / V each: the sum of kernels is the integral of k over V, 64 pi
// R^3 / 315 / V.
void rh_blend_density(rh_leaf_work *w, const void *data)
{
    const rh_blend *blend = data;
    float radius = (float)(w->cloud->mean_radius / w->cloud->voxel), ratio = radius / blend->support;
    float inside = 64.0f / 315 * 3 / 4 / (ratio * ratio * ratio);
    sums s;
    add_all(&s, w, blend, false);
    for (int c = 0; c < RH_LEAF; c++)
        w->field[c] = rh_min(((float)w->cloud->params->isovalue - s.of[0][c] / inside) * blend->support, blend->band);
}
