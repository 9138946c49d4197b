// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
#include "physics/elastoplastic/solve.h"

static bool is_held(const rh_ep_solve *s, int64_t i) { return s->held && s->held[i]; }

// T += 2 eta dev sym L
static void add_viscosity(rh_ep_matter *m)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++) {
        float eta = m->moduli[i].viscosity, *t = m->stress + 6 * i;
        const float *g = m->gradient + 9 * i;
        if (eta == 0) continue;
        float mean = (g[0] + g[4] + g[8]) / 3;
        t[0] += 2 * eta * (g[0] - mean), t[1] += 2 * eta * (g[4] - mean), t[2] += 2 * eta * (g[8] - mean);
        t[3] += eta * (g[1] + g[3]), t[4] += eta * (g[2] + g[6]), t[5] += eta * (g[5] + g[7]);
    }
}

// What holds offsets, and friction of their rate; `time` (s): how far the rate goes on.
static void find_hold(rh_ep_solve *s, float time)
{
    rh_ep_matter *m = s->matter;
    float a = m->kernel->spacing;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++) {
        float sound = rh_ep_sound(&m->moduli[i]), by = m->loose[i] ? 0 : 1 / m->lean[4 * i + 3];
        float spring = by * (float)m->params->coherence * sound * sound / (a * a);
        float friction = by * (float)m->params->damping * sound / a;
        for (int c = 0; c < 3; c++)
            m->hold[3 * i + c] = spring * s->state->offset[3 * i + c] +
                                 (friction + spring * time) * m->apart[3 * i + c];
    }
}

void rh_ep_explicit(rh_ep_solve *s)
{
    rh_ep_matter *m = s->matter;
    rh_ep_gradients(m);
    add_viscosity(m);
    find_hold(s, 0);
    rh_ep_push(m);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++)
        if (!is_held(s, i))
            for (int a = 0; a < m->dimension; a++) m->flow[4 * i + a] += s->kick * m->push[4 * i + a];
}

void rh_ep_begin(rh_ep_solve *s) { (void)s; }
rh_code rh_ep_implicit(rh_ep_solve *s, rh_arena *arena, rh_step_report *report, rh_status *status)
{
    (void)arena, (void)report, (void)status;
    rh_ep_explicit(s);
    return RH_OK;
}
