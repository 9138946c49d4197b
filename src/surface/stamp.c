// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The distance to the nearest shape (Jones 2018, eqs. 5.1 and 5.2; see docs/sources.md): the minimum over the shapes
// near a leaf, eight voxels of a row at a time. Lengths are in voxels.
//
// Distance to an ellipsoid with axes a, v from its centre, q = v along its axes: k1 = |q / a|, k2 = |q / a^2|. All
// kernels are zero on the ellipsoid:
//   first order   d1 = k1 (k1 - 1) / k2: falls too slowly beside the rim of a flat one (half the distance at an
//                 aspect of 4)
//   bounded       max(d1, |v| - a_0): never less than the distance to the ball around it, which mends just
//                 that; the default
//   literal       r (k1 - 1), r the geometric mean of the axes: as printed in the source
//   exact         Newton on the nearest point; slow, to compare with
#include <math.h>
#include "base/eigen.h"
#include "surface/parts.h"

static inline void first_and_last(float c, float reach, int *first, int *last)
{
    int low = rh_floor(c - reach) + 1, high = rh_floor(c + reach);
    *first = low < 0 ? 0 : low;
    *last = high > RH_TILE - 1 ? RH_TILE - 1 : high;
}

static const rh_f8 STEPS = {0, 1, 2, 3, 4, 5, 6, 7};

static inline float outside_of_row(float z) { return z < 0 ? -z : z > RH_TILE - 1 ? z - (RH_TILE - 1) : 0; }

static inline float largest(rh_f8 a)
{
    rh_f8 b = rh_f8_max(a, __builtin_shufflevector(a, a, 4, 5, 6, 7, 0, 1, 2, 3));
    b = rh_f8_max(b, __builtin_shufflevector(b, b, 2, 3, 0, 1, 6, 7, 4, 5));
    return rh_max_of(b[0], b[1]);
}

static inline void store_nearer(rh_leaf_work *w, int at, rh_i8 nearer, rh_f8 value, rh_f8 old, uint32_t p)
{
    rh_i8 id = {0};
    id += (int32_t)p;
    rh_f8_store(w->field + at, rh_f8_select(nearer, value, old));
    rh_f8_store((float *)(w->nearest + at),
                rh_f8_select(nearer, (rh_f8)id, rh_f8_load((const float *)(w->nearest + at))));
}

static void clear(rh_leaf_work *w, float value)
{
    for (int c = 0; c < RH_LEAF; c++) w->field[c] = value, w->nearest[c] = RH_NO_POINT;
}

// Spheres of one radius: the nearest centre decides, so squares do and no root is taken before the end. `most` of a row
// is the largest square it holds: what is farther away need not be tried.
void rh_stamp_spheres(rh_leaf_work *w, const void *data)
{
    const rh_stamp *stamp = data;
    float inverse = (float)(1 / w->cloud->voxel), reach = stamp->radius + stamp->band, most[RH_TILE * RH_TILE];
    clear(w, reach * reach);
    for (int r = 0; r < RH_TILE * RH_TILE; r++) most[r] = reach * reach;
    for (int n = 0; n < w->run_count; n++)
        for (uint32_t p = w->runs[n].begin; p < w->runs[n].end; p++) {
            rh_vec3 c = rh_v3_sub(rh_v3_scale(w->cloud->position[p], inverse), w->corner);
            int x0, x1, y0, y1;
            float beside = outside_of_row(c.z), z2 = beside * beside;
            if (z2 >= reach * reach) continue;
            first_and_last(c.x, reach, &x0, &x1);
            first_and_last(c.y, reach, &y0, &y1);
            rh_f8 dz = STEPS - c.z, dz2 = dz * dz;
            for (int x = x0; x <= x1; x++)
                for (int y = y0; y <= y1; y++) {
                    float dx = (float)x - c.x, dy = (float)y - c.y, d2 = dx * dx + dy * dy;
                    int row = RH_TILE * x + y;
                    if (d2 + z2 >= most[row]) continue;
                    rh_f8 value = dz2 + d2, old = rh_f8_load(w->field + RH_TILE * row);
                    rh_i8 nearer = value < old;
                    if (!rh_i8_bits(nearer)) continue;
                    store_nearer(w, RH_TILE * row, nearer, value, old, p);
                    most[row] = largest(rh_f8_min(value, old));
                }
        }
    for (int c = 0; c < RH_LEAF; c += RH_TILE)
        rh_f8_store(w->field + c, rh_f8_sqrt(rh_f8_load(w->field + c)) - stamp->radius);
}

// --- ellipsoids ------------------------------------------------------------------------------------------------------
// One row: v has the components x and y of all eight, z of each.
static inline rh_f8 bounded(const rh_ellipsoid *e, float x, float y, rh_f8 z, rh_f8 squared, bool bound)
{
    const float *m = e->form;
    rh_f8 ax = m[4] * z + (m[0] * x + m[3] * y), ay = m[5] * z + (m[3] * x + m[1] * y),
          az = m[2] * z + (m[4] * x + m[5] * y);
    rh_f8 k1 = ax * x + ay * y + az * z, k2 = ax * ax + ay * ay + az * az, none = {0};
    rh_f8 d = (k1 - rh_f8_sqrt(k1)) / rh_f8_sqrt(k2);
    if (bound) d = rh_f8_max(d, rh_f8_sqrt(squared) - e->most);
    return rh_f8_select(k2 == none, rh_f8_all(-e->least), d);
}

static double exact_distance(const double a[3], const double v[3])
{
    double q[3], inside = 0;
    for (int i = 0; i < 3; i++) q[i] = fabs(v[i]), inside += (q[i] / a[i]) * (q[i] / a[i]);
    // The nearest point is a_i^2 q_i / (a_i^2 + t); f(t) = sum (a_i q_i / (a_i^2 + t))^2 - 1 falls from t = -a_2^2 on.
    // Bisection: it cannot fail.
    double low = -a[2] * a[2], high = 0;
    for (int i = 0; i < 3; i++) high += a[i] * a[i] * q[i] * q[i];
    high = sqrt(high);
    for (int n = 0; n < 200; n++) {
        double t = 0.5 * (low + high), f = -1;
        for (int i = 0; i < 3; i++) f += pow(a[i] * q[i] / (a[i] * a[i] + t), 2);
        if (f > 0) low = t;
        else high = t;
    }
    double t = 0.5 * (low + high), sum = 0, at[3], on = 0;
    for (int i = 0; i < 3; i++) at[i] = a[i] * a[i] + t > 1e-12 ? a[i] * a[i] * q[i] / (a[i] * a[i] + t) : 0;
    for (int i = 0; i < 3; i++) on += (at[i] / a[i]) * (at[i] / a[i]);
    if (on < 1 && inside < 1)
        at[2] = a[2] * sqrt(fmax(0, 1 - (at[0] / a[0]) * (at[0] / a[0]) - (at[1] / a[1]) * (at[1] / a[1])));
    for (int i = 0; i < 3; i++) sum += (at[i] - q[i]) * (at[i] - q[i]);
    return inside < 1 ? -sqrt(sum) : sqrt(sum);
}

// Axes and directions of an ellipsoid, from its matrix.
static void principal(const rh_ellipsoid *e, double a[3], double axes[3][3])
{
    rh_f8 m[6], values[3], vectors[3][3];
    for (int n = 0; n < 6; n++) m[n] = rh_f8_all(e->form[n]);
    rh_eigen3(m, values, vectors);
    for (int i = 0; i < 3; i++) {
        a[i] = 1 / sqrt((double)values[2 - i][0]);
        for (int k = 0; k < 3; k++) axes[i][k] = vectors[2 - i][k][0];
    }
}

float rh_ellipsoid_distance(const rh_ellipsoid *e, int kernel, rh_vec3 v)
{
    if (e->most == e->least) return rh_v3_length(v) - e->most;
    if (kernel <= RH_KERNEL_FIRST_ORDER)
        return bounded(e, v.x, v.y, rh_f8_all(v.z), rh_f8_all(rh_v3_dot(v, v)), kernel == RH_KERNEL_BOUNDED)[0];
    double a[3], axes[3][3], q[3], k1 = 0;
    principal(e, a, axes);
    for (int i = 0; i < 3; i++) {
        q[i] = axes[i][0] * v.x + axes[i][1] * v.y + axes[i][2] * v.z;
        k1 += (q[i] / a[i]) * (q[i] / a[i]);
    }
    return (float)(kernel == RH_KERNEL_EXACT ? exact_distance(a, q) : cbrt(a[0] * a[1] * a[2]) * (sqrt(k1) - 1));
}

static rh_f8 slow_row(const rh_ellipsoid *e, int kernel, float x, float y, rh_f8 z)
{
    rh_f8 value;
    for (int n = 0; n < RH_TILE; n++) value[n] = rh_ellipsoid_distance(e, kernel, rh_v3(x, y, z[n]));
    return value;
}

static void stamp_one(rh_leaf_work *w, const rh_stamp *stamp, const rh_ellipsoid *e, uint32_t p, float *most)
{
    rh_vec3 c = rh_v3_sub(e->centre, w->corner);
    float reach = e->most + stamp->band, beside = outside_of_row(c.z), z2 = beside * beside;
    int x0, x1, y0, y1;
    if (z2 >= reach * reach) return;
    first_and_last(c.x, reach, &x0, &x1);
    first_and_last(c.y, reach, &y0, &y1);
    rh_f8 dz = STEPS - c.z, dz2 = dz * dz, none = {0};
    bool round = e->most == e->least;
    for (int x = x0; x <= x1; x++)
        for (int y = y0; y <= y1; y++) {
            float dx = (float)x - c.x, dy = (float)y - c.y, d2 = dx * dx + dy * dy;
            int row = RH_TILE * x + y;
            // Farther from the centre than this is farther from the ellipsoid than what the row holds.
            float limit = most[row] + e->most;
            if (limit <= 0 || d2 + z2 >= limit * limit) continue;
            rh_f8 squared = dz2 + d2, old = rh_f8_load(w->field + RH_TILE * row), room = rh_f8_max(old + e->most, none),
                  value;
            if (!rh_i8_bits(squared < room * room)) continue;
            if (round) value = rh_f8_sqrt(squared) - e->most;
            else if (stamp->kernel <= RH_KERNEL_FIRST_ORDER)
                value = bounded(e, dx, dy, dz, squared, stamp->kernel == RH_KERNEL_BOUNDED);
            else value = slow_row(e, stamp->kernel, dx, dy, dz);
            rh_i8 nearer = value < old;
            if (!rh_i8_bits(nearer)) continue;
            store_nearer(w, RH_TILE * row, nearer, value, old, p);
            most[row] = largest(rh_f8_min(value, old));
        }
}

void rh_stamp_ellipsoids(rh_leaf_work *w, const void *data)
{
    const rh_stamp *stamp = data;
    float most[RH_TILE * RH_TILE];
    clear(w, stamp->band);
    for (int r = 0; r < RH_TILE * RH_TILE; r++) most[r] = stamp->band;
    for (int n = 0; n < w->run_count; n++)
        for (uint32_t p = w->runs[n].begin; p < w->runs[n].end; p++)
            if (stamp->shapes[p].most > 0) stamp_one(w, stamp, &stamp->shapes[p], p, most);
}

// --- blocks ----------------------------------------------------------------------------------------------------------
// One row: how far outside of each pair of faces, and from the block. Exact inside of it, on it, and around one that is
// not sheared; beside the edges of one that is, a little less than the distance.
static inline rh_f8 block_distance(const rh_block *b, float x, float y, rh_f8 z)
{
    rh_f8 none = {0}, square = none, inside = rh_f8_all(-1e30f);
    for (int k = 0; k < 3; k++) {
        const float *a = b->across + 3 * k;
        rh_f8 u = a[2] * z + (a[0] * x + a[1] * y), d = (rh_f8_max(u, -u) - 1) * b->half[k], out = rh_f8_max(d, none);
        square += out * out;
        inside = rh_f8_max(inside, d);
    }
    return rh_f8_select(inside > none, rh_f8_sqrt(square), inside);
}

static void stamp_block(rh_leaf_work *w, const rh_stamp *stamp, const rh_block *b, uint32_t p)
{
    rh_vec3 c = rh_v3_sub(b->centre, w->corner);
    float reach = b->most + stamp->band;
    int x0, x1, y0, y1;
    if (outside_of_row(c.z) >= reach) return;
    first_and_last(c.x, reach, &x0, &x1);
    first_and_last(c.y, reach, &y0, &y1);
    for (int x = x0; x <= x1; x++)
        for (int y = y0; y <= y1; y++) {
            int at = RH_TILE * (RH_TILE * x + y);
            rh_f8 old = rh_f8_load(w->field + at),
                  value = block_distance(b, (float)x - c.x, (float)y - c.y, STEPS - c.z);
            rh_i8 nearer = value < old;
            if (rh_i8_bits(nearer)) store_nearer(w, at, nearer, value, old, p);
        }
}

void rh_stamp_blocks(rh_leaf_work *w, const void *data)
{
    const rh_stamp *stamp = data;
    clear(w, stamp->band);
    for (int n = 0; n < w->run_count; n++)
        for (uint32_t p = w->runs[n].begin; p < w->runs[n].end; p++) stamp_block(w, stamp, &stamp->blocks[p], p);
}
