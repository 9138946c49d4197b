// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A wall receives the opposite of what it gives: -m dt V_s p / rho^2 grad W for each particle and sample, at the
// sample's anchor (push.c); and what viscosity rubs off the particle.
#include "physics/sph/measure.h"

#include "base/parallel.h"
#include "physics/sph/viscosity.h"
#include "physics/sph_values.h"

// --- touches ---------------------------------------------------------------------------------------------------------
static void touch_walls(const rh_sph_measure *m, int64_t i, rh_wall_touch *out)
{
    const rh_sph_fluid *f = m->fluid;
    const float *own = f->place + 4 * i;
    float whole = (float)m->mass * f->dt, mirrored = whole * (f->q[i] + f->level) / (f->density[i] * f->density[i]);
    RH_SPH_EACH(f->lists->walls, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(f->kernel, own, f->walls->place, near);
        for (int n = 0; n < 8; n++, out++) {
            uint32_t s = near[n];
            *out = (rh_wall_touch){.solid = RH_TOUCH_NOBODY};
            if (s == f->lists->walls.nobody) continue;
            float scale = f->wall_q ? mirrored + whole * f->wall_q[s] : mirrored;
            if (scale == 0) continue;
            float factor = -scale * f->kernel->mirror * p.number[n] * p.slope[n];
            const float *u = f->walls->flow + 4 * (uint64_t)s;
            *out = (rh_wall_touch){.place = f->walls->anchor[s],
                                   .impulse = {factor * p.x[n], factor * p.y[n], factor * p.z[n]},
                                   .velocity = {u[0], u[1], u[2]},
                                   .solid = f->walls->solid[s]};
        }
    }
}

// What viscosity rubs off the particle, at its place.
static void touch_roughly(const rh_sph_measure *m, int64_t i, rh_wall_touch *out)
{
    const rh_sph_fluid *f = m->fluid;
    const rh_sph_rubbed *rubbed = m->rubbed;
    const float *own = f->place + 4 * i, *left = rubbed->flow + 4 * i, rough = (float)m->mass * rubbed->friction[i];
    float close = rh_sph_viscous_near_walls(f, rubbed->law, rubbed->grip, i);
    RH_SPH_EACH(f->lists->walls, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(f->kernel, own, f->walls->place, near);
        rh_f8 w = rough * p.number * rh_sph_viscous_weight(rubbed->law, p.distance);
        for (int n = 0; n < 8; n++, out++) {
            uint32_t s = near[n];
            *out = (rh_wall_touch){.solid = RH_TOUCH_NOBODY};
            if (s == f->lists->walls.nobody || rubbed->grip[f->walls->solid[s]] == 0) continue;
            float u[3], part = w[n] * rh_sph_viscous_grip(rubbed->grip[f->walls->solid[s]], close);
            rh_sph_wall_velocity(f->walls, s, rubbed->spin + 3 * f->walls->solid[s], own, u);
            *out = (rh_wall_touch){
                .place = {own[0], own[1], own[2]},
                .impulse = {part * (left[0] - u[0]), part * (left[1] - u[1]), part * (left[2] - u[2])},
                .velocity = {u[0], u[1], u[2]},
                .solid = f->walls->solid[s]};
        }
    }
}

// A particle that an inflow holds does not follow what pressure and forces do to it: the inflow takes that impulse.
static rh_wall_touch touch_inflow(const rh_sph_measure *m, int64_t i)
{
    const rh_sph_fluid *f = m->fluid;
    const float *x = f->place + 4 * i, *push = f->push + 4 * i;
    float scale = (float)m->mass * f->dt;
    return (rh_wall_touch){.place = {x[0], x[1], x[2]},
                           .impulse = {scale * push[0], scale * push[1], scale * push[2]},
                           .velocity = m->velocities[i],
                           .solid = RH_TOUCH_INFLOW};
}

static rh_code show_touches(const rh_sph_measure *m, rh_step_view *view, rh_status *status)
{
    const rh_sph_fluid *f = m->fluid;
    int64_t once = 8 * (int64_t)f->lists->walls.first[f->count], pairs = m->rubbed ? 2 * once : once, held = 0;
    for (int64_t i = 0; m->held && i < f->count; i++) held += m->held[i];
    rh_wall_touch *touches = rh_arena_take(view->arena, (size_t)(pairs + held + 1) * sizeof *touches, status);
    if (!touches) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < f->count; i++) {
        uint64_t first = 8 * (uint64_t)f->lists->walls.first[i];
        touch_walls(m, i, touches + first);
        if (m->rubbed) touch_roughly(m, i, touches + once + first);
    }
    for (int64_t i = 0, n = pairs; m->held && i < f->count; i++)
        if (m->held[i]) touches[n++] = touch_inflow(m, i);
    view->what = RH_SIGHT_TOUCHED;
    view->touches = touches;
    view->touch_count = pairs + held;
    return rh_observe(view, status);
}

rh_code rh_sph_show(const rh_sph_measure *m, const rh_surroundings *around, const rh_points *points, rh_arena *arena,
                    rh_status *status)
{
    if (!around->observer) return RH_OK;
    const rh_sph_fluid *f = m->fluid;
    const rh_sph_values values = {f->kernel, m->tiles, f->place, f->q, m->velocities};
    rh_step_view view = {.what = RH_SIGHT_PRESSED,
                         .around = around,
                         .dt = f->dt,
                         .kick = m->kick,
                         .density = m->density,
                         .tiles = m->tiles,
                         .points = points,
                         .arena = arena,
                         .obstacles = around->obstacles,
                         .speed = f->dt * f->kernel->gradient / m->tiles->h,
                         .q_at = rh_sph_q_at,
                         .velocity_at = rh_sph_velocity_at,
                         .solver = &values};
    rh_arena_mark mark = rh_arena_save(arena);
    rh_code code = rh_observe(&view, status);
    view.what = RH_SIGHT_FLOWS;
    if (code == RH_OK) code = rh_observe(&view, status);
    if (code == RH_OK) code = show_touches(m, &view, status);
    rh_arena_restore(arena, mark);
    return code;
}
