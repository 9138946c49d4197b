// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Forces of stresses between pairs, and of what holds particles among their neighbours (matter.h):
//      a_i = sum_j w_i (S_i dX + p_i hold_i) + w_j (S_j dX - p_j hold_j),      S = T F^-T K^-1,      p = 1 - g . dx
// Both of a pair compute the same sum, so what one gets the other loses, to the last bit. The source's pair forces
// (D. Gerszewski, equations 4.10 to 4.13; docs/sources.md) have the derivative of a kernel instead of w K^-1 dX: they
// keep momentum too, but not angular momentum, and the stress across a plane is off by what the kernel's sums are off.
#include <string.h>
#include "physics/elastoplastic/matter.h"
#include "physics/elastoplastic/small_matrix.h"

static const float CROWDED = 0.9f, CROWD = 2;  // spacings; over the stress

static void load_one(rh_ep_matter *m, int64_t i)
{
    const float *t = m->stress + 6 * i, *hold = m->hold + 3 * i;
    float *out = m->load + 12 * i, whole[9] = {t[0], t[3], t[4], t[3], t[1], t[5], t[4], t[5], t[2]}, s[9];
    if (m->loose[i] &
        RH_EP_LOOSE) {  // the stress of directions that are not fixed acts on nobody: from both sides, for
        rh_matrix_times_symmetric(m->firm + 9 * i, t, s);  // the torque
        memcpy(whole, s, sizeof s);
    }
    if (m->piece) {  // the torque of friction (pieces.c)
        const float *q = m->touch + 6 * i + 3;
        whole[5] += 0.5f * q[0], whole[6] += 0.5f * q[1], whole[1] += 0.5f * q[2];
        whole[7] -= 0.5f * q[0], whole[2] -= 0.5f * q[1], whole[3] -= 0.5f * q[2];
    }
    if (!m->fresh || m->loose[i]) {
        rh_matrix_times_turned(whole, m->since + 9 * i, s);
        memcpy(whole, s, sizeof s);
    }
    rh_matrix_times_symmetric(whole, m->inverse + 6 * i, s);
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) out[4 * a + b] = s[3 * a + b];
        out[4 * a + 3] = hold[a];
    }
}

// A row of the sum; `s`: the particle's, `n`: the neighbours'.
typedef struct ways {
    rh_f8 own, other;            // weights that it gives them, and that they give it
    rh_f8 own_hold, other_hold;  // w p
    rh_f8 x, y, z;               // at origins
} ways;

static inline rh_f8 row_of(const ways *d, const float s[4], const rh_f8 n[4])
{
    return d->own * (s[0] * d->x + s[1] * d->y + s[2] * d->z) + d->own_hold * s[3] +
           d->other * (n[0] * d->x + n[1] * d->y + n[2] * d->z) - d->other_hold * n[3];
}

static inline ways ways_of(const rh_ep_matter *m, int64_t i, const uint32_t near[8])
{
    const float *from = m->origin + 4 * i, *own = m->place + 4 * i, *lean = m->lean + 4 * i;
    const uint32_t at[8] = {2 * near[0], 2 * near[1], 2 * near[2], 2 * near[3],
                            2 * near[4], 2 * near[5], 2 * near[6], 2 * near[7]};
    rh_f8 p[4], g[4], h[4], l[4];
    rh_sph_gather(m->origin, near, p);
    rh_sph_gather(m->metric, at, g);
    rh_sph_gather(m->metric + 4, at, h);
    rh_sph_gather(m->lean, near, l);
    ways d = {.x = p[0] - from[0], .y = p[1] - from[1], .z = p[2] - from[2]};
    rh_f8 square = d.x * (g[0] * d.x + 2 * (g[3] * d.y + h[0] * d.z)) + d.y * (g[1] * d.y + 2 * h[1] * d.z) +
                   d.z * (g[2] * d.z);
    rh_f8 x = d.x, y = d.y, z = d.z;
    if (!m->fresh) {
        rh_sph_gather(m->place, near, p);
        x = p[0] - own[0], y = p[1] - own[1], z = p[2] - own[2];
    }
    d.own = rh_ep_weight(m, rh_ep_square(m->metric + 8 * i, d.x, d.y, d.z));
    d.other = rh_ep_weight(m, square);
    d.own_hold = d.own * (1 - (lean[0] * x + lean[1] * y + lean[2] * z));
    d.other_hold = d.other * (1 + (l[0] * x + l[1] * y + l[2] * z));
    return d;
}

static void push_one(rh_ep_matter *m, int64_t i)
{
    const float *load = m->load + 12 * i;
    rh_f8 fx = rh_f8_all(0), fy = fx, fz = fx;
    RH_SPH_EACH(m->links, i, near)
    {
        rh_f8 n[4];
        const uint32_t at[8] = {3 * near[0], 3 * near[1], 3 * near[2], 3 * near[3],
                                3 * near[4], 3 * near[5], 3 * near[6], 3 * near[7]};
        ways d = ways_of(m, i, near);
        rh_sph_gather(m->load, at, n);
        fx += row_of(&d, load, n);
        rh_sph_gather(m->load + 4, at, n);
        fy += row_of(&d, load + 4, n);
        rh_sph_gather(m->load + 8, at, n);
        fz += row_of(&d, load + 8, n);
    }
    float *out = m->push + 4 * i;
    out[0] = rh_f8_sum(fx), out[1] = rh_f8_sum(fy), out[2] = rh_f8_sum(fz);
}

// Plastic flow forgets offsets, and tension then draws particles into clumps with holes between. So those nearer than
// they ever are in even matter (by unstrained distances) push each other, along the line between the two, by forces of
// the order of the stress that draws them.
static void push_crowded(rh_ep_matter *m, int64_t i)
{
    const float *own = m->place + 4 * i, *metric = m->near_metric + 8 * i, a = m->kernel->spacing;
    rh_f8 sum[3] = {rh_f8_all(0), rh_f8_all(0), rh_f8_all(0)}, none = rh_f8_all(0);
    RH_SPH_EACH(m->lists->fluid, i, near)
    {
        const uint32_t at[8] = {2 * near[0], 2 * near[1], 2 * near[2], 2 * near[3],
                                2 * near[4], 2 * near[5], 2 * near[6], 2 * near[7]};
        rh_f8 p[4], g[4], h[4];
        rh_sph_gather(m->place, near, p);
        rh_f8 x = p[0] - own[0], y = p[1] - own[1], z = p[2] - own[2];
        rh_f8 mine = rh_ep_square(metric, x, y, z);
        rh_sph_gather(m->near_metric, at, g);
        rh_sph_gather(m->near_metric + 4, at, h);
        rh_f8 square = x * (g[0] * x + 2 * (g[3] * y + h[0] * z)) + y * (g[1] * y + 2 * h[1] * z) + z * (g[2] * z);
        rh_f8 near_by = rh_f8_max(1 - 0.5f * (mine + square) / (CROWDED * CROWDED * a * a), none);
        rh_f8 crowd = m->touch_known * CROWD / (a * a) * (metric[6] + h[2]) * near_by;
        if (m->piece) crowd = rh_f8_select(rh_f8_gather(m->piece, near) == rh_f8_all(m->piece[i]), crowd, none);
        sum[0] += crowd * x, sum[1] += crowd * y, sum[2] += crowd * z;
    }
    for (int c = 0; c < 3; c++) m->push[4 * i + c] -= rh_f8_sum(sum[c]);
}

void rh_ep_push(rh_ep_matter *m)
{
    if (m->piece) rh_ep_touch_pieces(m);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++) load_one(m, i);
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < m->count; i++) {
        push_one(m, i);
        if (m->near_metric && m->touch_known > 0) push_crowded(m, i);
        for (int c = 0; m->piece && c < 3; c++) m->push[4 * i + c] += m->touch[6 * i + c];
    }
}
