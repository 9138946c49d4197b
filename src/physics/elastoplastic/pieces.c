// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Pieces that do not fuse push each other where particles are nearer than a spacing, along the line between the two: as
// stiffly as the matter is, with a little friction of their approach. Across that line a softer spring holds them, by
// no more than Coulomb's share of the push; how far it is drawn is remembered by particles (`grip`), half of it by
// either of the two, and what is beyond Coulomb's share slips.
//
// Friction of two particles acts in the middle between them, so it turns both. A torque q on a particle is one that its
// links take up: an antisymmetric stress, T_ab = epsilon_abc q_c / 2, of which the forces on neighbours have that
// torque (matter.h). So neither momentum changes. What slides is the velocity there, v + omega x way with the turn
// omega of the same fit: so the forces are symmetric in velocities, as implicit steps ask for. Particles whose
// neighbours do not fix a turn slide freely.
#include <string.h>
#include "physics/elastoplastic/matter.h"

static const float FRICTION = 0.2f;  // of approach and of slip, over the critical
static const float ACROSS = 0.5f;    // stiffness of the hold, over that of the push

typedef struct touch {
    rh_i8 bits;      // who is touched
    rh_f8 d[3], r;   // m: way to the other
    rh_f8 spring;    // 1/s^2
    rh_f8 drawn[3];  // m: across, this one's side over the other's
    rh_f8 share;     // of the hold that Coulomb's law leaves
    rh_f8 slip[3];   // of the field in `flow`, across: this one's over the other's
    rh_f8 approach;  // of that field, along: the other's over this one's
} touch;

static inline rh_f8 dot(const rh_f8 a[3], const rh_f8 b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static inline void take_along_out(rh_f8 v[3], const rh_f8 d[3], rh_f8 r)
{
    rh_f8 along = dot(v, d) / (r * r);
    for (int c = 0; c < 3; c++) v[c] -= along * d[c];
}

// Whether any of eight others, of other pieces, is touched.
static inline bool touches(const rh_ep_matter *m, int64_t i, const uint32_t near[8], touch *t)
{
    const float *own = m->place + 4 * i, a = m->kernel->spacing;
    rh_f8 place[4], square = rh_f8_all(0);
    rh_sph_gather(m->place, near, place);
    for (int c = 0; c < 3; c++) t->d[c] = place[c] - own[c], square += t->d[c] * t->d[c];
    t->r = rh_f8_max(rh_f8_sqrt(square), rh_f8_all(1e-3f * a));
    t->bits = (t->r < rh_f8_all(a)) & (rh_f8_gather(m->piece, near) != rh_f8_all(m->piece[i]));
    t->spring = 0.5f * (own[3] + place[3]) / (a * a);
    return rh_i8_bits(t->bits);
}

static inline void find_velocities(const rh_ep_matter *m, int64_t i, const uint32_t near[8], touch *t)
{
    const float *flow = m->flow + 4 * i, *spin = m->spin + 4 * i;
    rh_f8 other[4], turn[4];
    rh_sph_gather(m->flow, near, other);
    rh_sph_gather(m->spin, near, turn);
    for (int c = 0; c < 3; c++) t->slip[c] = flow[c] - other[c], turn[c] = 0.5f * (spin[c] + turn[c]);
    t->approach = -dot(t->slip, t->d) / t->r;
    for (int c = 0; c < 3; c++) {
        int n = (c + 1) % 3, o = (c + 2) % 3;
        t->slip[c] += turn[n] * t->d[o] - turn[o] * t->d[n];
    }
    take_along_out(t->slip, t->d, t->r);
}

// By velocities at the start of the step: in an implicit one the share must not change while it is solved.
static inline void find_hold(const rh_ep_matter *m, int64_t i, const uint32_t near[8], touch *t)
{
    const float *grip = m->grip + 4 * i, *slide = m->slide + 4 * i;
    rh_f8 other[4], fast[4], pull[3], none = rh_f8_all(0), one = rh_f8_all(1);
    rh_sph_gather(m->grip, near, other);
    rh_sph_gather(m->slide, near, fast);
    for (int c = 0; c < 3; c++) t->drawn[c] = grip[c] - other[c];
    take_along_out(t->drawn, t->d, t->r);
    rh_f8 rate = ACROSS * m->dt * t->spring + FRICTION * rh_f8_sqrt(t->spring);
    for (int c = 0; c < 3; c++) pull[c] = rate * (slide[c] - fast[c]);
    take_along_out(pull, t->d, t->r);
    for (int c = 0; c < 3; c++) pull[c] += ACROSS * t->spring * t->drawn[c];
    rh_f8 size = rh_f8_sqrt(dot(pull, pull));
    rh_f8 most = m->rub * t->spring * (m->kernel->spacing - t->r);
    t->share = rh_f8_select(size > most, most / rh_f8_max(size, rh_f8_all(1e-30f)), one);
    t->share = rh_f8_select((other[3] > none) & (rh_f8_all(grip[3]) > none), t->share, none);
}

static void push_one(rh_ep_matter *m, int64_t i)
{
    const float a = m->kernel->spacing;
    rh_f8 sum[3] = {rh_f8_all(0), rh_f8_all(0), rh_f8_all(0)}, turn[3] = {sum[0], sum[0], sum[0]}, none = sum[0];
    touch t;
    RH_SPH_EACH(m->lists->fluid, i, near)
    {
        if (!touches(m, i, near, &t)) continue;
        find_velocities(m, i, near, &t);
        rh_f8 friction = FRICTION * rh_f8_sqrt(t.spring), f[3];
        rh_f8 push = m->touch_known * t.spring * (a - t.r) - (m->touch_time * t.spring + friction) * t.approach;
        for (int c = 0; c < 3; c++) f[c] = -push / t.r * t.d[c];
        if (m->rub > 0) {
            find_hold(m, i, near, &t);
            rh_f8 known = m->touch_known * ACROSS * t.spring, rate = m->touch_time * ACROSS * t.spring + friction;
            for (int c = 0; c < 3; c++) f[c] -= t.share * (known * t.drawn[c] + rate * t.slip[c]);
        }
        for (int c = 0; c < 3; c++) f[c] = rh_f8_select(t.bits, f[c], none), sum[c] += f[c];
        for (int c = 0; c < 3; c++) {
            int n = (c + 1) % 3, o = (c + 2) % 3;
            turn[c] += 0.5f * (t.d[n] * f[o] - t.d[o] * f[n]);
        }
    }
    for (int c = 0; c < 3; c++) m->touch[6 * i + c] = rh_f8_sum(sum[c]), m->touch[6 * i + 3 + c] = rh_f8_sum(turn[c]);
}

// The turn of the matter, of the gradient at hand.
static void find_spin(rh_ep_matter *m)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++) {
        const float *g = m->gradient + 9 * i;
        bool turns = m->rub > 0 && !m->loose[i];
        float w[4] = {0.5f * (g[7] - g[5]), 0.5f * (g[2] - g[6]), 0.5f * (g[3] - g[1]), 0};
        for (int c = 0; c < 4; c++) m->spin[4 * i + c] = turns ? w[c] : 0;
        m->grip[4 * i + 3] = turns;
    }
}

void rh_ep_touch_pieces(rh_ep_matter *m)
{
    find_spin(m);
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < m->count; i++) push_one(m, i);
}

// The mean of what the holds are drawn by, of which either side keeps half.
static void draw_one(rh_ep_matter *m, int64_t i, float grip[3])
{
    rh_f8 sum[3] = {rh_f8_all(0), rh_f8_all(0), rh_f8_all(0)}, count = sum[0], none = sum[0];
    touch t;
    RH_SPH_EACH(m->lists->fluid, i, near)
    {
        if (!touches(m, i, near, &t)) continue;
        find_velocities(m, i, near, &t);
        find_hold(m, i, near, &t);
        count += rh_f8_select(t.bits, rh_f8_all(1), none);
        for (int c = 0; c < 3; c++) sum[c] += rh_f8_select(t.bits, 0.5f * t.share * (t.drawn[c] + t.slip[c]), none);
    }
    float all = rh_f8_sum(count);
    for (int c = 0; c < 3; c++) grip[c] = all > 0 ? rh_f8_sum(sum[c]) / all : 0;
}

void rh_ep_draw_grips(rh_ep_matter *m, float *grip)
{
    find_spin(m);
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < m->count; i++) draw_one(m, i, grip + 3 * i);
}
