// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Least squares of the motion of neighbours: M. Mueller et al., "Point based animation of elastic, plastic and melting
// objects", SCA 2004, from where links were made (matter.h); D. Gerszewski, chapter 4, equations 4.1 to 4.7
// (docs/sources.md), makes them anew in every step. Weights are those of the sum of squares; the source multiplies both
// sides by them before squaring (`weights: squared`).
//
// Neighbours that lie in a plane, on a line, or are few fix only a part of a strain. There the source keeps the old
// deformation whole. We keep what is not fixed, turned with what is: directions of K with small eigenvalues are left
// out (a smooth cut), and the step turns them as the others turn.
#include <math.h>
#include <string.h>
#include "physics/elastoplastic/matter.h"
#include "physics/elastoplastic/small_matrix.h"

static const float FIRM = 0.3f;    // det K over that of the lattice: below it is looked at closely; surfaces have 0.5
static const float SMALL = 0.1f;   // eigenvalues of K over the lattice's: half of one as small is left out. Forces go
                                   // with their inverse: with 0.02 what was rolled thin flew apart
static const float WHOLE = 0.99f;  // share of a direction from which on it counts as fixed
static const float LEAST = 0.02f;  // det F: less is inside out
static const float FLAT = 1e-3f;   // det (sum w dx dx^T) over that of the lattice: less says nothing of offsets

// Eight neighbours: weights and ways to them, at origins (X) and now.
typedef struct ways {
    rh_f8 w, X, Y, Z, x, y, z;
} ways;

static inline ways ways_of(const rh_ep_matter *m, int64_t i, const uint32_t near[8])
{
    const float *own = m->origin + 4 * i, *now = m->place + 4 * i;
    rh_f8 record[4];
    rh_sph_gather(m->origin, near, record);
    ways d = {.X = record[0] - own[0], .Y = record[1] - own[1], .Z = record[2] - own[2]};
    d.w = rh_ep_weight(m, rh_ep_square(m->metric + 8 * i, d.X, d.Y, d.Z));
    d.x = d.X, d.y = d.Y, d.z = d.Z;
    if (m->fresh) return d;
    rh_sph_gather(m->place, near, record);
    // Nobody's record is far away, in both: with a weight of zero, but its way must not become infinite.
    d.x = record[0] - now[0], d.y = record[1] - now[1], d.z = record[2] - now[2];
    return d;
}

typedef struct sums {
    float k[6];      // w dX dX^T
    float now[6];    // w dx dx^T
    float both[9];   // w dx dX^T
    float place[3];  // w dx
    float weight;
} sums;

// All neighbours stand at their origins.
static void sum_fresh(const rh_ep_matter *m, int64_t i, sums *s)
{
    rh_f8 o = rh_f8_all(0), xx = o, yy = o, zz = o, xy = o, xz = o, yz = o, x = o, y = o, z = o, w = o;
    RH_SPH_EACH(m->links, i, near)
    {
        ways d = ways_of(m, i, near);
        rh_f8 wx = d.w * d.X, wy = d.w * d.Y, wz = d.w * d.Z;
        xx += wx * d.X, yy += wy * d.Y, zz += wz * d.Z, xy += wx * d.Y, xz += wx * d.Z, yz += wy * d.Z;
        x += wx, y += wy, z += wz, w += d.w;
    }
    const rh_f8 k[6] = {xx, yy, zz, xy, xz, yz}, place[3] = {x, y, z};
    for (int n = 0; n < 6; n++) s->k[n] = s->now[n] = rh_f8_sum(k[n]);
    for (int n = 0; n < 3; n++) s->place[n] = rh_f8_sum(place[n]);
    s->weight = rh_f8_sum(w);
    const float *f = s->k, whole[9] = {f[0], f[3], f[4], f[3], f[1], f[5], f[4], f[5], f[2]};
    memcpy(s->both, whole, sizeof whole);
}

static void sum_moved(const rh_ep_matter *m, int64_t i, sums *s)
{
    rh_f8 k[6] = {{0}}, now[6] = {{0}}, both[9] = {{0}}, place[3] = {{0}}, w = rh_f8_all(0);
    RH_SPH_EACH(m->links, i, near)
    {
        ways d = ways_of(m, i, near);
        rh_f8 X = d.w * d.X, Y = d.w * d.Y, Z = d.w * d.Z, x = d.w * d.x, y = d.w * d.y, z = d.w * d.z;
        k[0] += X * d.X, k[1] += Y * d.Y, k[2] += Z * d.Z, k[3] += X * d.Y, k[4] += X * d.Z, k[5] += Y * d.Z;
        now[0] += x * d.x, now[1] += y * d.y, now[2] += z * d.z;
        now[3] += x * d.y, now[4] += x * d.z, now[5] += y * d.z;
        both[0] += x * d.X, both[1] += x * d.Y, both[2] += x * d.Z;
        both[3] += y * d.X, both[4] += y * d.Y, both[5] += y * d.Z;
        both[6] += z * d.X, both[7] += z * d.Y, both[8] += z * d.Z;
        place[0] += x, place[1] += y, place[2] += z, w += d.w;
    }
    for (int n = 0; n < 6; n++) s->k[n] = rh_f8_sum(k[n]), s->now[n] = rh_f8_sum(now[n]);
    for (int n = 0; n < 9; n++) s->both[n] = rh_f8_sum(both[n]);
    for (int n = 0; n < 3; n++) s->place[n] = rh_f8_sum(place[n]);
    s->weight = rh_f8_sum(w);
}

static void sum_places(const rh_ep_matter *m, int64_t i, sums *s)
{
    if (m->fresh) sum_fresh(m, i, s);
    else sum_moved(m, i, s);
    if (m->dimension == 3) return;
    s->k[2] = s->now[2] = s->both[8] = m->lattice;
    s->k[4] = s->k[5] = s->now[4] = s->now[5] = s->both[2] = s->both[5] = s->both[6] = s->both[7] = 0;
}

// `out`: rows of the field, each with the three of the way at origins; `apart`: sum of w (1 - g . dx) du.
static void sum_field(const rh_ep_matter *m, int64_t i, float out[9], float apart[3])
{
    const float *own = m->flow + 4 * i, *g = m->lean + 4 * i;
    rh_f8 o = rh_f8_all(0), xx = o, xy = o, xz = o, yx = o, yy = o, yz = o, zx = o, zy = o, zz = o, x = o, y = o, z = o;
    RH_SPH_EACH(m->links, i, near)
    {
        rh_f8 u[4];
        ways d = ways_of(m, i, near);
        rh_sph_gather(m->flow, near, u);
        rh_f8 ux = d.w * (u[0] - own[0]), uy = d.w * (u[1] - own[1]), uz = d.w * (u[2] - own[2]);
        rh_f8 c = 1 - (g[0] * d.x + g[1] * d.y + g[2] * d.z);
        xx += ux * d.X, xy += ux * d.Y, xz += ux * d.Z, x += c * ux;
        yx += uy * d.X, yy += uy * d.Y, yz += uy * d.Z, y += c * uy;
        zx += uz * d.X, zy += uz * d.Y, zz += uz * d.Z, z += c * uz;
    }
    const rh_f8 all[9] = {xx, xy, xz, yx, yy, yz, zx, zy, zz};
    for (int n = 0; n < 9; n++) out[n] = rh_f8_sum(all[n]);
    apart[0] = rh_f8_sum(x), apart[1] = rh_f8_sum(y), apart[2] = rh_f8_sum(z);
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

// What neighbours fix: K^+ and K^+ K, and for each axis of K how much of it, 0..1.
typedef struct hold {
    rh_matrix_axes axes;
    float inverse[6], firm[9], share[3];
} hold;

static hold hold_of(const rh_ep_matter *m, const float k[6])
{
    static const int first[6] = {0, 1, 2, 0, 0, 1}, second[6] = {0, 1, 2, 1, 2, 2};
    hold h = {.axes = rh_matrix_axes_of(k)};
    for (int e = 0; e < 3; e++) {
        float value = h.axes.value[e], least = SMALL * m->lattice;
        const float *v = h.axes.vector[e];
        if (!(value > 1e-6f * m->lattice)) continue;
        float ratio = least * least / (value * value);
        h.share[e] = 1 / (1 + ratio * ratio);
        for (int n = 0; n < 6; n++) h.inverse[n] += h.share[e] / value * v[first[n]] * v[second[n]];
        for (int n = 0; n < 9; n++) h.firm[n] += h.share[e] * v[n / 3] * v[n % 3];
        if (m->dimension == 2 && fabsf(v[2]) > 0.5f) h.share[e] = 1;
    }
    return h;
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

// `f`: a deformation as far as neighbours fix it, becomes whole.
static void complete(const hold *h, float f[9])
{
    rh_dvec3 axis[3];
    float g[9];
    for (int e = 0; e < 3; e++) {
        const float *v = h->axes.vector[e];
        axis[e] = rh_d3(v[0], v[1], v[2]);
    }
    for (int n = 0; n < 9; n++) g[n] = f[n] - h->firm[n], f[n] = g[n] + (n % 4 == 0);
    for (int e = 0; e < 3; e++) {
        rh_dvec3 missing = rh_d3_scale(rh_d3_sub(turned(g, axis, h->share, e), axis[e]), 1 - (double)h->share[e]);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) f[3 * r + c] += (float)((&missing.x)[r] * (&axis[e].x)[c]);
    }
}

static void invert_since(const rh_ep_matter *m, int64_t i, const float f[9])
{
    float *out = m->since + 9 * i;
    if (!(rh_matrix_invert(f, out) > LEAST)) memset(out, 0, 9 * sizeof(float));
}

static bool is_whole(const hold *h) { return h->share[0] > WHOLE && h->share[1] > WHOLE && h->share[2] > WHOLE; }

static void prepare_loose(const rh_ep_matter *m, int64_t i, const sums *s, hold h)
{
    float f[9], whole[9];
    memcpy(m->inverse + 6 * i, h.inverse, sizeof h.inverse);
    rh_matrix_times_symmetric(s->both, h.inverse, f);
    memcpy(whole, f, sizeof f);
    complete(&h, whole);
    invert_since(m, i, whole);
    rh_matrix_times(f, m->since + 9 * i, m->firm + 9 * i);
}

static void prepare_one(rh_ep_matter *m, int64_t i)
{
    float whole = m->lattice * m->lattice * m->lattice, f[9], now[6], *lean = m->lean + 4 * i;
    sums s;
    sum_places(m, i, &s);
    hold h;
    m->loose[i] = RH_EP_FIRM;
    if (!(invert(s.k, m->inverse + 6 * i) > FIRM * whole)) {
        h = hold_of(m, s.k);
        if (!is_whole(&h)) m->loose[i] = RH_EP_LOOSE | RH_EP_ADRIFT;
    }
    if (m->loose[i]) prepare_loose(m, i, &s, h);
    else if (m->fresh) {
        for (int n = 0; n < 9; n++) m->since[9 * i + n] = n % 4 == 0;
    } else {
        rh_matrix_times_symmetric(s.both, m->inverse + 6 * i, f);
        invert_since(m, i, f);
    }
    if (!(invert(s.now, now) > FLAT * whole)) m->loose[i] |= RH_EP_ADRIFT;
    const float b[9] = {s.place[0], s.place[1], s.place[2]};
    float g[9];
    rh_matrix_times_symmetric(b, now, g);
    for (int a = 0; a < 3; a++) lean[a] = m->loose[i] & RH_EP_ADRIFT ? 0 : g[a];
    lean[3] = s.weight;
}

void rh_ep_prepare(rh_ep_matter *m)
{
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < m->count; i++) prepare_one(m, i);
}

void rh_ep_present_metric(rh_ep_matter *m)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++) {
        const float *g = m->metric + 8 * i, *f = m->since + 9 * i;
        const float whole[9] = {g[0], g[3], g[4], g[3], g[1], g[5], g[4], g[5], g[2]};
        float half[9], out[9];
        rh_matrix_turned_times(f, whole, half);
        rh_matrix_times(half, f, out);
        const float now[6] = {out[0], out[4], out[8], out[1], out[2], out[5]};
        memcpy(m->near_metric + 8 * i, now, sizeof now);
    }
}

// --- gradients -------------------------------------------------------------------------------------------------------
static void fit_one(rh_ep_matter *m, int64_t i)
{
    float sum[9], across[9], *n = m->apart + 3 * i;
    sum_field(m, i, sum, n);
    rh_matrix_times_symmetric(sum, m->inverse + 6 * i, across);
    if (m->fresh && !m->loose[i]) memcpy(m->gradient + 9 * i, across, sizeof across);
    else rh_matrix_times(across, m->since + 9 * i, m->gradient + 9 * i);
    float by = m->loose[i] & RH_EP_ADRIFT ? 0 : 1 / m->lean[4 * i + 3];
    for (int a = 0; a < 3; a++) n[a] *= by;
}

// Of a loose particle only what is fixed, from both sides: a turn is no strain that way.
static void leave_loose_out(const rh_ep_matter *m, int64_t i, float g[9])
{
    float out[9];
    rh_matrix_turned_times(m->firm + 9 * i, g, out);
    memcpy(g, out, sizeof out);
}

void rh_ep_gradients(rh_ep_matter *m)
{
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < m->count; i++) {
        fit_one(m, i);
        if (m->loose[i] & RH_EP_LOOSE) leave_loose_out(m, i, m->gradient + 9 * i);
    }
}

// Where neighbours do not fix a strain: the deformation since links were made, completed, after the step over before.
static void fit_loose(const rh_ep_matter *m, int64_t i, float g[9])
{
    sums s;
    float sum[9], apart[3], f[9];
    sum_places(m, i, &s);
    sum_field(m, i, sum, apart);
    hold h = hold_of(m, s.k);
    for (int n = 0; n < 9; n++) s.both[n] += sum[n];
    rh_matrix_times_symmetric(s.both, h.inverse, f);
    complete(&h, f);
    rh_matrix_times(f, m->since + 9 * i, g);
    for (int n = 0; n < 9; n += 4) g[n] -= 1;
}

void rh_ep_step_gradients(rh_ep_matter *m)
{
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < m->count; i++) {
        fit_one(m, i);
        if (m->loose[i] & RH_EP_LOOSE) fit_loose(m, i, m->gradient + 9 * i);
    }
}
