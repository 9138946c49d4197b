// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Forces of stresses between pairs, and of what holds particles among their neighbours (matter.h):
//      a_i = sum_j w_i (S_i dx + hold_i) + w_j (S_j dx - hold_j),      S = T K^-1 - hold g^T
// Both of a pair compute the same sum, so what one gets the other loses, to the last bit. The source's pair forces
// (D. Gerszewski, equations 4.10 to 4.13; docs/sources.md) have the derivative of a kernel instead of w K^-1 dx: they
// keep momentum too, but not angular momentum, and the stress across a plane is off by what the kernel's sums are off.
#include "physics/elastoplastic/matter.h"

static const float CROWDED = 0.9f, CROWD = 2;                      // spacings; over the stress
static const float FRICTION = 0.2f;                                // of pieces that touch, over the critical
static const int ENTRY[3][3] = {{0, 3, 4}, {3, 1, 5}, {4, 5, 2}};  // of symmetric matrices: xx yy zz xy xz yz

// a b, of symmetric ones, or with `a` whole.
static void times(const float a[9], const float b[6], float out[9])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            out[3 * r + c] = a[3 * r] * b[ENTRY[0][c]] + a[3 * r + 1] * b[ENTRY[1][c]] + a[3 * r + 2] * b[ENTRY[2][c]];
}

static void load_one(rh_ep_matter *m, int64_t i)
{
    const float *t = m->stress + 6 * i, *k = m->inverse + 6 * i, *g = m->lean + 4 * i, *hold = m->hold + 3 * i;
    float *out = m->load + 12 * i, whole[9], s[9];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) whole[3 * a + b] = t[ENTRY[a][b]];
    if (m->loose[i]) {  // the stress of directions that are not fixed acts on nobody: from both sides, for the torque
        const float *f = m->firm + 6 * i, left[9] = {f[0], f[3], f[4], f[3], f[1], f[5], f[4], f[5], f[2]};
        times(left, t, whole);
    }
    times(whole, k, s);
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) out[4 * a + b] = s[3 * a + b] - hold[a] * g[b];
        out[4 * a + 3] = hold[a];
    }
}

// A row of w_i (S_i dx + hold_i) + w_j (S_j dx - hold_j); `s`: the particle's, `n`: the neighbours'.
typedef struct ways {
    rh_f8 own, other;  // weights that it gives them, and that they give it
    rh_f8 crowd;       // 1/s^2: push of those that are too near
    rh_f8 x, y, z;
} ways;

static inline rh_f8 row_of(const ways *d, const float s[4], const rh_f8 n[4])
{
    return d->own * (s[0] * d->x + s[1] * d->y + s[2] * d->z + s[3]) +
           d->other * (n[0] * d->x + n[1] * d->y + n[2] * d->z - n[3]);
}

// Plastic flow forgets offsets, and tension then draws particles into clumps with holes between. So those nearer than
// they ever are in even matter (by unstrained distances) push each other, along the line between the two, by forces of
// the order of the stress that draws them. Factor of the way between them.
static inline rh_f8 crowd_of(const rh_ep_matter *m, rh_f8 square, rh_f8 stress)
{
    float a = m->kernel->spacing;
    rh_f8 near = rh_f8_max(1 - square / (CROWDED * CROWDED * a * a), rh_f8_all(0));
    return m->touch_known * CROWD / (a * a) * stress * near;
}

static inline ways ways_of(const rh_ep_matter *m, int64_t i, const uint32_t near[8])
{
    const float *own = m->place + 4 * i;
    const uint32_t at[8] = {2 * near[0], 2 * near[1], 2 * near[2], 2 * near[3],
                            2 * near[4], 2 * near[5], 2 * near[6], 2 * near[7]};
    rh_f8 p[4], g[4], h[4];
    rh_sph_gather(m->place, near, p);
    rh_sph_gather(m->metric, at, g);
    rh_sph_gather(m->metric + 4, at, h);
    ways d = {.x = p[0] - own[0], .y = p[1] - own[1], .z = p[2] - own[2]};
    rh_f8 square = d.x * (g[0] * d.x + 2 * (g[3] * d.y + h[0] * d.z)) + d.y * (g[1] * d.y + 2 * h[1] * d.z) +
                   d.z * (g[2] * d.z);
    rh_f8 mine = rh_ep_square(m->metric + 8 * i, d.x, d.y, d.z);
    d.own = rh_ep_of_piece(m, i, near, rh_ep_weight(m, mine));
    d.other = rh_ep_of_piece(m, i, near, rh_ep_weight(m, square));
    d.crowd = crowd_of(m, 0.5f * (mine + square), m->metric[8 * i + 6] + h[2]);
    return d;
}

static void push_one(rh_ep_matter *m, int64_t i)
{
    const float *load = m->load + 12 * i;
    rh_f8 fx = rh_f8_all(0), fy = fx, fz = fx;
    RH_SPH_EACH(m->lists->fluid, i, near)
    {
        rh_f8 n[4];
        const uint32_t at[8] = {3 * near[0], 3 * near[1], 3 * near[2], 3 * near[3],
                                3 * near[4], 3 * near[5], 3 * near[6], 3 * near[7]};
        ways d = ways_of(m, i, near);
        rh_sph_gather(m->load, at, n);
        fx += row_of(&d, load, n) - d.crowd * d.x;
        rh_sph_gather(m->load + 4, at, n);
        fy += row_of(&d, load + 4, n) - d.crowd * d.y;
        rh_sph_gather(m->load + 8, at, n);
        fz += row_of(&d, load + 8, n) - d.crowd * d.z;
    }
    float *out = m->push + 4 * i;
    out[0] = rh_f8_sum(fx), out[1] = rh_f8_sum(fy), out[2] = rh_f8_sum(fz);
}

// Pieces that do not fuse push each other where particles are nearer than a spacing, along the line between the two (so
// angular momentum stays): as stiffly as the matter is, with a little friction of their approach. They slide freely.
static void push_pieces(rh_ep_matter *m, int64_t i)
{
    const float *own = m->place + 4 * i, *flow = m->flow + 4 * i, a = m->kernel->spacing;
    rh_f8 sum[3] = {rh_f8_all(0), rh_f8_all(0), rh_f8_all(0)}, none = rh_f8_all(0);
    RH_SPH_EACH(m->lists->fluid, i, near)
    {
        rh_f8 place[4], other[4], d[3], square = none, apart = none;
        rh_sph_gather(m->place, near, place);
        for (int c = 0; c < 3; c++) d[c] = place[c] - own[c], square += d[c] * d[c];
        rh_f8 r = rh_f8_max(rh_f8_sqrt(square), rh_f8_all(1e-3f * a));
        rh_i8 touches = (r < rh_f8_all(a)) & (rh_f8_gather(m->piece, near) != rh_f8_all(m->piece[i]));
        if (!rh_i8_bits(touches)) continue;
        rh_sph_gather(m->flow, near, other);
        for (int c = 0; c < 3; c++) apart += (other[c] - flow[c]) * d[c] / r;
        rh_f8 spring = 0.5f * (own[3] + place[3]) / (a * a), friction = FRICTION * rh_f8_sqrt(spring);
        rh_f8 force = m->touch_known * spring * (a - r) - (m->touch_time * spring + friction) * apart;
        force = rh_f8_select(touches, force / r, none);
        for (int c = 0; c < 3; c++) sum[c] -= force * d[c];
    }
    for (int c = 0; c < 3; c++) m->push[4 * i + c] += rh_f8_sum(sum[c]);
}

void rh_ep_push(rh_ep_matter *m)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++) load_one(m, i);
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < m->count; i++) {
        push_one(m, i);
        if (m->piece) push_pieces(m, i);
    }
}
