// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Eight particles at a time. F F^T = U s^2 U^T gives principal stretches s; all laws are isotropic, so the rotation on
// the other side of F is never needed:
//      flow        F = U (s / s*^gamma) V^T = U s*^-gamma U^T F,   s* = J^(-1/3) s                     multiplicative
//                  gamma = share (|stress| - yield - hardening a) / |stress|,   a += plastic strain
//      stress      T = U diag(t) U^T, Kirchhoff's (over the density): the derivative of the energy by ln s
// A. W. Bargteil, C. Wojtan, J. K. Hodgins, G. Turk, "A finite element method for animating large viscoplastic flow",
// ACM TOG 26(3), 2007, as used by D. Gerszewski, section 4.2 (docs/sources.md). There |stress| is the Frobenius norm of
// the whole stress (`yield_norm: full`); von Mises' leaves pressure out, so that matter under pressure alone does not
// flow. With the law `hencky` and share 1 the flow is the radial return of J2 plasticity (J. C. Simo, Comput. Methods
// Appl. Mech. Eng. 99, 1992). Where F encodes a large change of volume a part of that flows too (`volume_relief`).
//
//      hencky        t = 2 mu ln s + lambda tr ln s             the default: endless stress at s = 0
//      linear        t = s (2 mu (s - 1) + lambda tr (s - 1))   equation 4.9 of the source
//      stvk          t = s^2 (mu (s^2 - 1) + lambda / 2 tr (s^2 - 1))  the source's hyperelastic variant, with its
//      moduli neo_hookean   t = mu (s^2 - 1) + lambda ln J
#include "physics/elastoplastic/stress.h"

#include <math.h>
#include <string.h>
#include "base/eigen.h"

enum { LANES = 8 };
static const float LEAST = 1e-4f;                                           // s^2
static const float RELIEF_FROM = 0.0953101798f, RELIEF_TO = 0.4054651081f;  // |ln J|: of 1.1 and 1.5
static const float FARTHEST = 2;                                            // spacings: longest offset
static const float THREE_HALVES = 1.5f;
static const float LARGEST = 25, SMALLEST = 0.02f;  // |F|^2, det F

typedef struct batch {
    rh_ep_matter *m;
    rh_ep_state *s;
    int64_t at[LANES];  // particles; the last one again where there are fewer
    int count;
    rh_f8 f[9];           // F - 1
    rh_f8 log[3], s2[3];  // ln s, s^2 - 1
    rh_f8 u[3][3];        // axes
    rh_f8 t[3];           // principal stresses
    rh_f8 shear, lame;
} batch;

static void load(batch *b)
{
    for (int n = 0; n < LANES; n++) {
        const float *f = b->s->deformation + 9 * b->at[n];
        for (int c = 0; c < 9; c++) b->f[c][n] = f[c];
        b->shear[n] = b->m->moduli[b->at[n]].shear;
        b->lame[n] = b->m->moduli[b->at[n]].lame;
    }
}

static void find_axes(batch *b)
{
    static const int first[6] = {0, 1, 2, 0, 0, 1}, second[6] = {0, 1, 2, 1, 2, 2};
    rh_f8 e[6];
    for (int n = 0; n < 6; n++) {  // F F^T - 1
        const rh_f8 *p = b->f + 3 * first[n], *q = b->f + 3 * second[n];
        e[n] = p[second[n]] + q[first[n]] + (p[0] * q[0] + p[1] * q[1] + p[2] * q[2]);
    }
    rh_eigen3(e, b->s2, b->u);
    for (int k = 0; k < 3; k++) {
        b->s2[k] = rh_f8_max(b->s2[k], rh_f8_all(LEAST - 1));
        for (int n = 0; n < LANES; n++) b->log[k][n] = 0.5f * log1pf(b->s2[k][n]);
    }
}

static void find_stress(batch *b)
{
    int law = b->m->params->law;
    rh_f8 x[3], sum = rh_f8_all(0);
    for (int k = 0; k < 3; k++) {
        if (law == RH_EP_HENCKY) x[k] = b->log[k];
        else if (law == RH_EP_LINEAR) x[k] = b->s2[k] / (rh_f8_sqrt(1 + b->s2[k]) + 1);  // s - 1
        else x[k] = 0.5f * b->s2[k];
        sum += law == RH_EP_NEO_HOOKEAN ? b->log[k] : x[k];
    }
    for (int k = 0; k < 3; k++) {
        b->t[k] = 2 * b->shear * x[k] + b->lame * sum;
        if (law == RH_EP_LINEAR) b->t[k] *= 1 + x[k];
        if (law == RH_EP_STVK) b->t[k] *= 1 + b->s2[k];
    }
}

// --- flow ------------------------------------------------------------------------------------------------------------
// Over the density, m^2/s^2.
static float mises_of(const float t[3])
{
    float mean = (t[0] + t[1] + t[2]) / 3, sum = 0;
    for (int k = 0; k < 3; k++) sum += (t[k] - mean) * (t[k] - mean);
    return sqrtf(THREE_HALVES * sum);
}

static float norm_of(const batch *b, int n, const float t[3])
{
    if (b->m->params->norm == RH_EP_MISES) return mises_of(t);
    float sum = 0;  // of the first Piola-Kirchhoff stress, t / s
    for (int k = 0; k < 3; k++) sum += t[k] * t[k] / (1 + b->s2[k][n]);
    return sqrtf(sum);
}

static float relief(const batch *b, float volume)
{
    if (!b->m->params->volume_relief) return 0;
    return rh_clamp((fabsf(volume) - RELIEF_FROM) / (RELIEF_TO - RELIEF_FROM), 0, 1);
}

// change[k] = what ln s_k loses to flow and tearing in lane n; false: nothing.
static bool flow_of(batch *b, int n, float change[3])
{
    const rh_ep_moduli *of = &b->m->moduli[b->at[n]];
    const rh_ep_state *s = b->s;
    int64_t i = b->at[n];
    const float t[3] = {b->t[0][n], b->t[1][n], b->t[2][n]}, log[3] = {b->log[0][n], b->log[1][n], b->log[2][n]};
    float norm = norm_of(b, n, t), volume = log[0] + log[1] + log[2];
    float yield = rh_max_of(of->yield + (s->hardened ? of->hardening * s->hardened[i] : 0), 0);
    bool flows = norm > yield && norm > 0;
    change[0] = change[1] = change[2] = 0;
    if (flows) {
        float share = of->flow;
        if (of->thickening > 0) share = 1 - powf(1 - share, of->thickening / norm);
        float gamma = share * (norm - yield) / norm, sum = 0, third = (1 - relief(b, volume)) * volume / 3;
        for (int k = 0; k < 3; k++) change[k] = gamma * (log[k] - third), sum += change[k] * change[k];
        if (s->hardened) s->hardened[i] += sqrtf(sum / THREE_HALVES);
        s->flowed[i] += sqrtf(sum / THREE_HALVES);
        for (int a = 0; a < 3; a++) s->offset[3 * i + a] *= 1 - gamma;
    }
    if (!s->torn || !(of->strength < 1e29f)) return flows;
    float most = rh_max_of(t[0], rh_max_of(t[1], t[2]));
    if (most > of->strength) s->torn[i] = 1;
    if (s->torn[i] == 0) return flows;
    for (int k = 0; k < 3; k++)
        if (log[k] - change[k] > 0) change[k] = log[k], s->flowed[i] += log[k];
    for (int a = 0; a < 3; a++) s->offset[3 * i + a] = 0;
    return true;
}

// F = U exp(-change) U^T F, and what follows from it.
static void apply_flow(batch *b, const rh_f8 change[3])
{
    rh_f8 a[3][3], f[9], by[3];
    for (int k = 0; k < 3; k++) {
        for (int n = 0; n < LANES; n++) by[k][n] = expm1f(-change[k][n]);
        b->log[k] -= change[k];
        for (int n = 0; n < LANES; n++) b->s2[k][n] = expm1f(2 * b->log[k][n]);
    }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)  // less 1
            a[r][c] = by[0] * b->u[0][r] * b->u[0][c] + by[1] * b->u[1][r] * b->u[1][c] +
                      by[2] * b->u[2][r] * b->u[2][c];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            f[3 * r + c] = b->f[3 * r + c] + a[r][c] + a[r][0] * b->f[c] + a[r][1] * b->f[3 + c] +
                           a[r][2] * b->f[6 + c];
    for (int c = 0; c < 9; c++) b->f[c] = f[c];
    find_stress(b);
}

static void flow(batch *b)
{
    rh_f8 change[3] = {rh_f8_all(0), rh_f8_all(0), rh_f8_all(0)};
    bool any = false;
    for (int n = 0; n < b->count; n++) {
        float one[3];
        if (!flow_of(b, n, one)) continue;
        any = true;
        for (int k = 0; k < 3; k++) change[k][n] = one[k];
    }
    if (any) apply_flow(b, change);
}

// --- results ---------------------------------------------------------------------------------------------------------
// A liquid has the pressure of its density and forgets its shape.
static void be_liquid(batch *b, int n, float stress[6])
{
    int64_t i = b->at[n];
    float over = rh_max_of(b->m->density[i] - 1, 0), p = b->m->moduli[i].bulk * over;
    for (int c = 0; c < 6; c++) stress[c] = c < 3 ? -p : 0;
    for (int c = 0; c < 9; c++) b->f[c][n] = 0;
    for (int a = 0; a < 3; a++) b->s->offset[3 * i + a] = 0;
    if (b->m->near_metric) b->m->near_metric[8 * i + 6] = 0;
    b->s->mises[i] = 0;
    b->s->stiffen[i] = 1;
}

static float stiffening(const batch *b, int n)
{
    float most = 1 + rh_max_of(b->s2[0][n], 0);  // the first is the largest
    if (b->m->params->law == RH_EP_HENCKY) return 1;
    return b->m->params->law == RH_EP_STVK ? 3 * most * most - 2 * most : most;
}

static void store(batch *b)
{
    static const int first[6] = {0, 1, 2, 0, 0, 1}, second[6] = {0, 1, 2, 1, 2, 2};
    rh_f8 out[6];
    for (int c = 0; c < 6; c++) {
        out[c] = rh_f8_all(0);
        for (int k = 0; k < 3; k++) out[c] += b->t[k] * (b->u[k][first[c]] * b->u[k][second[c]]);
    }
    for (int n = 0; n < b->count; n++) {
        int64_t i = b->at[n];
        float *stress = b->m->stress + 6 * i, sum = 0;
        for (int k = 0; k < 3; k++) sum += b->t[k][n] * b->t[k][n];
        for (int c = 0; c < 6; c++) stress[c] = out[c][n];
        b->s->mises[i] = mises_of((const float[3]){b->t[0][n], b->t[1][n], b->t[2][n]});
        b->s->stiffen[i] = stiffening(b, n);
        if (b->m->near_metric) b->m->near_metric[8 * i + 6] = sqrtf(sum);
        if (b->m->moduli[i].shear == 0) be_liquid(b, n, stress);
        for (int c = 0; c < 9; c++) b->s->deformation[9 * i + c] = b->f[c][n];
    }
}

void rh_ep_stress(rh_ep_matter *m, rh_ep_state *s)
{
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t first = 0; first < m->count; first += LANES) {
        batch b = {.m = m, .s = s, .count = (int)(m->count - first < LANES ? m->count - first : LANES)};
        for (int n = 0; n < LANES; n++) b.at[n] = first + (n < b.count ? n : b.count - 1);
        load(&b);
        find_axes(&b);
        find_stress(&b);
        flow(&b);
        store(&b);
    }
}

static float determinant(const float g[9])  // of 1 + g
{
    float a = 1 + g[0], e = 1 + g[4], i = 1 + g[8];
    return a * (e * i - g[5] * g[7]) - g[1] * (g[3] * i - g[5] * g[6]) + g[2] * (g[3] * g[7] - e * g[6]);
}

// The offset turns with the matter, keeps its length in that, and is nowhere longer than a share of the spacing.
static void turn_offset(const rh_ep_matter *m, int64_t i, float offset[3])
{
    const float *g = m->gradient + 9 * i, *n = m->apart + 3 * i;
    const float w[3] = {0.5f * (g[7] - g[5]), 0.5f * (g[2] - g[6]), 0.5f * (g[3] - g[1])};
    rh_vec3 old = rh_v3(offset[0], offset[1], offset[2]);
    rh_vec3 now = rh_v3(old.x + w[1] * old.z - w[2] * old.y, old.y + w[2] * old.x - w[0] * old.z,
                        old.z + w[0] * old.y - w[1] * old.x);
    float was = rh_v3_length(old), is = rh_v3_length(now), most = FARTHEST * m->kernel->spacing;
    if (is > 0) now = rh_v3_scale(now, was / is);
    now = rh_v3_add(now, rh_v3(n[0], n[1], n[2]));
    float length = rh_v3_length(now);
    if (length > most) now = rh_v3_scale(now, most / length);
    offset[0] = now.x, offset[1] = now.y, offset[2] = now.z;
}

// Green's strain of the step, added to what is stored: symmetric, blind to turns.
static void add_strain(const float g[9], float f[9])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            f[3 * r + c] += 0.5f *
                            (g[3 * r + c] + g[3 * c + r] + g[r] * g[c] + g[3 + r] * g[3 + c] + g[6 + r] * g[6 + c]);
}

static void multiply(const float g[9], float f[9])
{
    float old[9];
    for (int c = 0; c < 9; c++) old[c] = f[c];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            f[3 * r + c] += g[3 * r + c] + g[3 * r] * old[c] + g[3 * r + 1] * old[3 + c] + g[3 * r + 2] * old[6 + c];
}

// No elastic stretch is larger than some 5, and none turns matter inside out: what few neighbours say of single
// particles has no bound of its own, and one such particle makes steps short for all.
static bool is_sound(const float f[9])
{
    float square = 0;
    for (int c = 0; c < 9; c++) square += (f[c] + (c % 4 == 0)) * (f[c] + (c % 4 == 0));
    return square < LARGEST && determinant(f) > SMALLEST;
}

void rh_ep_compose(const rh_ep_matter *m, float *deformation, float *offset)
{
    bool added = m->params->strain == RH_EP_ADDED;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++) {
        const float *g = m->gradient + 9 * i;
        if (!(determinant(g) > 0.5f)) continue;
        turn_offset(m, i, offset + 3 * i);
        float *f = deformation + 9 * i, old[9];
        memcpy(old, f, sizeof old);
        if (added) add_strain(g, f);
        else multiply(g, f);
        if (!added && !is_sound(f)) memcpy(f, old, sizeof old);
    }
}
