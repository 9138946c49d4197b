// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Least squares of the motion of neighbours: M. Mueller et al., "Point based animation of elastic, plastic and melting
// objects", SCA 2004, over a step instead of from a shape of rest: D. Gerszewski, chapter 4, equations 4.1 to 4.7
// (docs/sources.md). Weights are those of the sum of squares; the source multiplies both sides by them before squaring
// (`weights: squared`).
//
// Neighbours that lie in a plane, on a line, or are few fix only a part of a strain. There the source keeps the old
// deformation whole. We keep what is not fixed, turned with what is: directions of K with small eigenvalues are left
// out (a smooth cut), and the step turns them as the others turn.
#include <math.h>
#include "base/eigen.h"
#include "physics/elastoplastic/matter.h"

static const float FIRM = 0.02f;   // det K over that of the lattice: below it is looked at closely
static const float SMALL = 0.02f;  // eigenvalues of K over the lattice's: half of one as small is left out

// Eight neighbours: weights and ways to them.
typedef struct ways {
    rh_f8 w, x, y, z;
} ways;

static inline ways ways_of(const rh_ep_matter *m, int64_t i, const uint32_t near[8])
{
    const float *own = m->place + 4 * i;
    rh_f8 record[4];
    rh_sph_gather(m->place, near, record);
    ways d = {.x = record[0] - own[0], .y = record[1] - own[1], .z = record[2] - own[2]};
    d.w = rh_ep_of_piece(m, i, near, rh_ep_weight(m, rh_ep_square(m->metric + 8 * i, d.x, d.y, d.z)));
    return d;
}

// `lean`: sum of w dx, and of w.
static void sum_places(const rh_ep_matter *m, int64_t i, float k[6], float lean[4])
{
    rh_f8 o = rh_f8_all(0), xx = o, yy = o, zz = o, xy = o, xz = o, yz = o, x = o, y = o, z = o, w = o;
    RH_SPH_EACH(m->lists->fluid, i, near)
    {
        ways d = ways_of(m, i, near);
        rh_f8 wx = d.w * d.x, wy = d.w * d.y, wz = d.w * d.z;
        xx += wx * d.x, yy += wy * d.y, zz += wz * d.z, xy += wx * d.y, xz += wx * d.z, yz += wy * d.z;
        x += wx, y += wy, z += wz, w += d.w;
    }
    k[0] = rh_f8_sum(xx), k[1] = rh_f8_sum(yy), k[2] = rh_f8_sum(zz);
    k[3] = rh_f8_sum(xy), k[4] = rh_f8_sum(xz), k[5] = rh_f8_sum(yz);
    lean[0] = rh_f8_sum(x), lean[1] = rh_f8_sum(y), lean[2] = rh_f8_sum(z), lean[3] = rh_f8_sum(w);
    if (m->dimension == 2) k[2] = m->lattice, k[4] = k[5] = 0;
}

// Rows of the field, each with the three of the place; the last three: sum of w du.
static void sum_field(const rh_ep_matter *m, int64_t i, float out[12])
{
    const float *own = m->flow + 4 * i;
    rh_f8 o = rh_f8_all(0), xx = o, xy = o, xz = o, yx = o, yy = o, yz = o, zx = o, zy = o, zz = o, x = o, y = o, z = o;
    RH_SPH_EACH(m->lists->fluid, i, near)
    {
        rh_f8 u[4];
        ways d = ways_of(m, i, near);
        rh_sph_gather(m->flow, near, u);
        rh_f8 ux = d.w * (u[0] - own[0]), uy = d.w * (u[1] - own[1]), uz = d.w * (u[2] - own[2]);
        xx += ux * d.x, xy += ux * d.y, xz += ux * d.z, x += ux;
        yx += uy * d.x, yy += uy * d.y, yz += uy * d.z, y += uy;
        zx += uz * d.x, zy += uz * d.y, zz += uz * d.z, z += uz;
    }
    const rh_f8 all[12] = {xx, xy, xz, yx, yy, yz, zx, zy, zz, x, y, z};
    for (int n = 0; n < 12; n++) out[n] = rh_f8_sum(all[n]);
}

static void times_inverse(const float m[9], const float k[6], float out[9])
{
    for (int a = 0; a < 3; a++) {
        const float *r = m + 3 * a;
        out[3 * a] = r[0] * k[0] + r[1] * k[3] + r[2] * k[4];
        out[3 * a + 1] = r[0] * k[3] + r[1] * k[1] + r[2] * k[5];
        out[3 * a + 2] = r[0] * k[4] + r[1] * k[5] + r[2] * k[2];
    }
}

// --- inverses --------------------------------------------------------------------------------------------------------
// The adjugate of K over its determinant; returns the determinant.
static float invert(const float k[6], float out[6])
{
    float xx = k[1] * k[2] - k[5] * k[5], xy = k[4] * k[5] - k[3] * k[2], xz = k[3] * k[5] - k[1] * k[4];
    float det = k[0] * xx + k[3] * xy + k[4] * xz, by = 1 / det;
    out[0] = by * xx, out[3] = by * xy, out[4] = by * xz;
    out[1] = by * (k[0] * k[2] - k[4] * k[4]), out[2] = by * (k[0] * k[1] - k[3] * k[3]);
    out[5] = by * (k[3] * k[4] - k[0] * k[5]);
    return det;
}

typedef struct axes {
    float value[3], vector[3][3];
} axes;

static axes axes_of(const float k[6])
{
    rh_f8 in[6], values[3], vectors[3][3];
    axes out;
    for (int n = 0; n < 6; n++) in[n] = rh_f8_all(k[n]);
    rh_eigen3(in, values, vectors);
    for (int a = 0; a < 3; a++) {
        out.value[a] = values[a][0];
        for (int b = 0; b < 3; b++) out.vector[a][b] = vectors[a][b][0];
    }
    return out;
}

// How much of direction a is fixed by neighbours, 0..1.
static float firmness(const rh_ep_matter *m, const axes *k, int a)
{
    float square = k->value[a] * k->value[a], least = SMALL * m->lattice;
    return square / (square + least * least);
}

static void invert_loosely(const rh_ep_matter *m, const float k[6], float out[6], float firm[6])
{
    static const int first[6] = {0, 1, 2, 0, 0, 1}, second[6] = {0, 1, 2, 1, 2, 2};
    axes a = axes_of(k);
    for (int n = 0; n < 6; n++) out[n] = firm[n] = 0;
    for (int e = 0; e < 3; e++) {
        if (!(a.value[e] > 1e-6f * m->lattice)) continue;
        float share = firmness(m, &a, e), by = share / a.value[e];
        for (int n = 0; n < 6; n++) {
            float both = a.vector[e][first[n]] * a.vector[e][second[n]];
            out[n] += by * both, firm[n] += share * both;
        }
    }
}

void rh_ep_prepare(rh_ep_matter *m)
{
    float whole = m->lattice * m->lattice * m->lattice;
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < m->count; i++) {
        float k[6], *out = m->inverse + 6 * i, *lean = m->lean + 4 * i;
        sum_places(m, i, k, lean);
        m->loose[i] = !(invert(k, out) > FIRM * whole);
        if (m->loose[i]) invert_loosely(m, k, out, m->firm + 6 * i);
        const float b[9] = {lean[0], lean[1], lean[2]};
        float g[9];
        times_inverse(b, out, g);
        for (int a = 0; a < 3; a++) lean[a] = m->loose[i] ? 0 : g[a];
    }
}

// --- gradients -------------------------------------------------------------------------------------------------------
static void fit_one(rh_ep_matter *m, int64_t i)
{
    float sum[12], *n = m->apart + 3 * i;
    const float *g = m->lean + 4 * i;
    sum_field(m, i, sum);
    times_inverse(sum, m->inverse + 6 * i, m->gradient + 9 * i);
    float by = m->loose[i] ? 0 : 1 / g[3];
    for (int a = 0; a < 3; a++) {
        const float *r = sum + 3 * a;
        n[a] = by * (sum[9 + a] - (r[0] * g[0] + r[1] * g[1] + r[2] * g[2]));
    }
}

// Of a loose particle only what is fixed, from both sides: a turn is none that way.
static void leave_loose_out(const rh_ep_matter *m, int64_t i, float g[9])
{
    float turned[9], out[9];
    for (int n = 0; n < 9; n++) turned[n] = g[n % 3 * 3 + n / 3];
    times_inverse(turned, m->firm + 6 * i, out);
    for (int n = 0; n < 9; n++) g[n] = out[n % 3 * 3 + n / 3];
}

void rh_ep_gradients(rh_ep_matter *m)
{
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < m->count; i++) {
        fit_one(m, i);
        if (m->loose[i]) leave_loose_out(m, i, m->gradient + 9 * i);
    }
}

static rh_dvec3 image(const float g[9], rh_dvec3 v)  // (1 + g) v
{
    rh_dvec3 out = v;
    for (int a = 0; a < 3; a++)
        (&out.x)[a] += (double)g[3 * a] * v.x + (double)g[3 * a + 1] * v.y + (double)g[3 * a + 2] * v.z;
    return out;
}

// What becomes of the axis e that neighbours do not fix: it stays across the images of the other two, with its length;
// where these are not fixed either, it turns by the least turn that takes the first axis to its image.
static rh_dvec3 turned(const float g[9], const rh_dvec3 axis[3], const float firm[3], int e)
{
    int n = (e + 1) % 3, o = (e + 2) % 3;
    if (firm[n] > 0.5f && firm[o] > 0.5f) return rh_d3_unit(rh_d3_cross(image(g, axis[n]), image(g, axis[o])));
    if (!(firm[0] > 0.5f)) return axis[e];
    rh_dvec3 to = rh_d3_unit(image(g, axis[0])), both = rh_d3_add(axis[0], to);
    double way = rh_d3_dot(axis[e], both) / fmax(1 + rh_d3_dot(axis[0], to), 1e-6);
    return rh_d3_sub(axis[e], rh_d3_scale(both, way));
}

static void complete(const rh_ep_matter *m, int64_t i, float g[9])
{
    float k[6], firm[3], lean[4];
    sum_places(m, i, k, lean);
    axes a = axes_of(k);
    rh_dvec3 axis[3];
    for (int e = 0; e < 3; e++) {
        axis[e] = rh_d3(a.vector[e][0], a.vector[e][1], a.vector[e][2]);
        firm[e] = a.value[e] > 1e-6f * m->lattice ? firmness(m, &a, e) : 0;
        if (m->dimension == 2 && fabsf(a.vector[e][2]) > 0.5f) firm[e] = 1;
    }
    float whole[9];
    for (int n = 0; n < 9; n++) whole[n] = g[n];
    for (int e = 0; e < 3; e++) {
        rh_dvec3 missing = rh_d3_scale(rh_d3_sub(turned(whole, axis, firm, e), axis[e]), 1 - (double)firm[e]);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) g[3 * r + c] += (float)((&missing.x)[r] * (&axis[e].x)[c]);
    }
}

void rh_ep_step_gradients(rh_ep_matter *m)
{
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < m->count; i++) {
        fit_one(m, i);
        if (m->loose[i]) complete(m, i, m->gradient + 9 * i);
    }
}
