// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Walls with pressures of their own, as before T. Takahashi's wall terms, who compares with them (section 2.4.3): wall
// samples are unknowns like particles, linked to particles and to each other by the same A_ij, with a source of their
// own, and have pressure 0 by the same rules (S. Koshizuka, H. Tamako, Y. Oka, Computational Fluid Dynamics Journal
// 4(1), 1996; S. Premoze et al., Computer Graphics Forum 22(3), 2003; S. Shao, E. Y. M. Lo, Advances in Water Resources
// 26, 2003). Walls push with p_i + p_s, as particles do (push.c). (With the particle's pressure alone, which is how the
// source has walls push, a tank burst within ten steps of 0.25 ms: pressure that is the same everywhere is nothing to
// the system, but presses the lowest particles into the floor.)
//
// The methods named have several layers of wall particles, which lie as liquid does; ours is one, with volumes by which
// a solid is as dense as the liquid at rest, to itself. So a sample's density is that of its solid, 1, and what the
// liquid around adds, less what it adds at rest on a flat wall:
//      rho_s = 1 + sum_j m W_sj - wet,     predicted + dt sum_j m u_sj . grad W_sj
// A dry sample is less dense than the liquid by `wet`, and has pressure 0 unless its neighbours press it. Pressures of
// samples are not kept from step to step: both the sweep that finds who has pressure 0 and the solve begin with the
// mean of those of the particles around.
#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "physics/sph/pressure.h"
#include "physics/sph_runs.h"

enum { LANES = 8 };

static uint32_t eights_of(uint32_t count) { return (count + LANES - 1) / LANES; }

// --- who is near a sample --------------------------------------------------------------------------------------------
// Writes who is within the support of sample s among the runs around its cell; returns how many. `out` may be NULL.
static uint32_t samples_near(const rh_sph_system *sys, const rh_sph_run *runs, int run_count, int64_t s, uint32_t *out)
{
    const rh_sph_walls *w = sys->fluid->walls;
    float most = sys->fluid->kernel->support * sys->fluid->kernel->support;
    uint32_t found = 0;
    for (int r = 0; r < run_count; r++)
        for (uint32_t n = runs[r].begin; n < runs[r].end; n++) {
            float x = w->x[n] - w->x[s], y = w->y[n] - w->y[s], z = w->z[n] - w->z[s];
            if (n == s || !(x * x + y * y + z * z < most)) continue;
            if (out) out[found] = (uint32_t)sys->fluid->count + n;
            found++;
        }
    return found;
}

// For all samples: counts their neighbours among samples, or, where the list has been laid out, writes them behind
// those among particles (`wet` of them).
static void search(const rh_sph_system *sys, rh_sph_list *list, const uint32_t *wet, uint32_t *counts)
{
    const rh_tiles *tiles = sys->fluid->tiles;
    const rh_sph_walls *w = sys->fluid->walls;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int c = 0; c < tiles->cells; c++) {
            const uint32_t *first = w->first + (int64_t)t * tiles->cells + c;
            rh_sph_run runs[RH_SPH_MOST_RUNS];
            if (first[0] == first[1]) continue;
            int count = rh_sph_runs(tiles, w->first, t, c & 7, c >> 3 & 7, c >> 6, runs);
            for (int64_t s = first[0]; s < first[1]; s++) {
                uint32_t *at = NULL;
                if (list->near)
                    at = list->near + LANES * ((uint64_t)list->first[sys->fluid->count + s] + eights_of(wet[s]));
                uint32_t found = samples_near(sys, runs, count, s, at);
                if (!at) counts[s] = found;
            }
        }
}

static void count_wet(const rh_sph_system *sys, uint32_t *wet)
{
    const rh_sph_list *walls = &sys->fluid->lists->walls;
    for (uint64_t n = 0; n < LANES * (uint64_t)walls->first[sys->fluid->count]; n++)
        if (walls->near[n] != walls->nobody) wet[walls->near[n]]++;
}

static void lay_out(const rh_sph_system *sys, rh_sph_list *list, const uint32_t *wet, const uint32_t *dry)
{
    const rh_sph_lists *from = sys->fluid->lists;
    int64_t count = sys->fluid->count;
    uint32_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        list->first[i] = sum;
        sum += from->fluid.first[i + 1] - from->fluid.first[i] + from->walls.first[i + 1] - from->walls.first[i];
    }
    for (int64_t i = count; i < sys->size; i++) {
        list->first[i] = sum;
        sum += eights_of(wet[i - count]) + eights_of(dry[i - count]);
    }
    list->first[sys->size] = sum;
}

// Of particles: their lists of particles and of samples, one after the other.
static void copy_lists(const rh_sph_system *sys, const rh_sph_list *list)
{
    const rh_sph_lists *from = sys->fluid->lists;
    int64_t count = sys->fluid->count;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) {
        uint32_t *to = list->near + LANES * (uint64_t)list->first[i];
        for (uint64_t n = LANES * (uint64_t)from->fluid.first[i]; n < LANES * (uint64_t)from->fluid.first[i + 1]; n++)
            *to++ = from->fluid.near[n] == from->fluid.nobody ? list->nobody : from->fluid.near[n];
        for (uint64_t n = LANES * (uint64_t)from->walls.first[i]; n < LANES * (uint64_t)from->walls.first[i + 1]; n++)
            *to++ = (uint32_t)count + from->walls.near[n];
    }
}

// Of samples: the particles that see them, in their order. `wet` counts again.
static void turn_around(const rh_sph_system *sys, const rh_sph_list *list, uint32_t *wet)
{
    const rh_sph_list *walls = &sys->fluid->lists->walls;
    int64_t count = sys->fluid->count;
    memset(wet, 0, (size_t)(sys->size - count) * sizeof *wet);
    for (int64_t i = 0; i < count; i++) RH_SPH_EACH(*walls, i, near)
    for (int n = 0; n < LANES; n++)
        if (near[n] != walls->nobody)
            list->near[LANES * (uint64_t)list->first[count + near[n]] + wet[near[n]]++] = (uint32_t)i;
}

// Mean of the last pressures of the particles around a sample, by the kernel; 0 where there are none.
static float last_q(const rh_sph_system *sys, int64_t s)
{
    const rh_sph_fluid *f = sys->fluid;
    double sum = 0, weight = 0;
    const uint32_t *near = sys->list->near + LANES * (uint64_t)sys->list->first[f->count + s];
    for (; *near < f->count; near++) {
        const float *at = f->place + 4 * (uint64_t)*near, *own = f->walls->place + 4 * s;
        float x = at[0] - own[0], y = at[1] - own[1], z = at[2] - own[2];
        double w = (double)rh_sph_value_of(f->kernel, x * x + y * y + z * z);
        sum += w * (double)f->q[*near], weight += w;
    }
    return weight > 0 ? (float)(sum / weight) : 0;
}

static rh_code make_list(rh_sph_system *sys, rh_sph_list *list, rh_arena *arena, rh_status *status)
{
    size_t samples = (size_t)(sys->size - sys->fluid->count) + 1;
    uint32_t *wet = rh_arena_take_zero(arena, samples * sizeof *wet, status),
             *dry = rh_arena_take_zero(arena, samples * sizeof *dry, status);
    list->nobody = (uint32_t)sys->size;
    list->first = rh_arena_take(arena, ((size_t)sys->size + 1) * sizeof *list->first, status);
    if (!wet || !dry || !list->first) return RH_MEMORY;
    count_wet(sys, wet);
    search(sys, list, wet, dry);
    lay_out(sys, list, wet, dry);
    // One eight more: whoever goes through a list to its first nobody finds one.
    size_t all = LANES * ((size_t)list->first[sys->size] + 1);
    list->near = rh_arena_take(arena, all * sizeof *list->near, status);
    if (!list->near) return RH_MEMORY;
    for (size_t n = 0; n < all; n++) list->near[n] = list->nobody;
    copy_lists(sys, list);
    turn_around(sys, list, wet);
    search(sys, list, wet, dry);
    return RH_OK;
}

rh_code rh_sph_walls_join(rh_sph_system *sys, rh_arena *arena, rh_status *status)
{
    const rh_sph_fluid *f = sys->fluid;
    sys->size = f->count + f->walls->count;
    rh_sph_list *list = rh_arena_take_zero(arena, sizeof *list, status);
    sys->q = rh_arena_take_zero(arena, ((size_t)sys->size + 8) * sizeof *sys->q, status);
    sys->sums = rh_arena_take(arena, 4 * ((size_t)rh_blocks(sys->size) + 1) * sizeof *sys->sums, status);
    if (!list || !sys->q || !sys->sums) return RH_MEMORY;
    RH_TRY(make_list(sys, list, arena, status));
    sys->list = list;
    memcpy(sys->q, f->q, (size_t)f->count * sizeof *f->q);
#pragma omp parallel for schedule(static)
    for (int64_t s = 0; s < f->walls->count; s++) sys->q[f->count + s] = last_q(sys, s);
    return RH_OK;
}

// --- rows ------------------------------------------------------------------------------------------------------------
// Places (and volumes) and velocities of all.
typedef struct all {
    float *place, *flow;  // [4 (size + 8)]
} all;

static rh_code take_all(all *a, const rh_sph_system *sys, rh_arena *arena, rh_status *status)
{
    const rh_sph_fluid *f = sys->fluid;
    size_t bytes = 4 * ((size_t)sys->size + 8) * sizeof(float), own = 4 * (size_t)f->count;
    a->place = rh_arena_take(arena, bytes, status);
    a->flow = rh_arena_take(arena, bytes, status);
    if (!a->place || !a->flow) return RH_MEMORY;
    memcpy(a->place, f->place, own * sizeof(float));
    memcpy(a->flow, f->flow, own * sizeof(float));
    memcpy(a->place + own, f->walls->place, bytes - own * sizeof(float));
    memcpy(a->flow + own, f->walls->flow, bytes - own * sizeof(float));
    return RH_OK;
}

static void judge(const rh_sph_system *sys, const rh_sph_solve_options *o, float density, float rate, rh_sph_judged *by)
{
    static const rh_sph_prediction by_velocity = {.most = 1, .undone = 0};
    const rh_sph_prediction *how = o->at_walls ? o->at_walls : &by_velocity;
    float change = sys->fluid->dt * rate;
    by->density = density;
    by->predicted = density - 1 + change;
    by->excess = how->undone * (rh_min(density, how->most) - 1) + change;
    if (o->clamp_source) by->excess = rh_max_of(by->excess, 0);
}

static void make_row(rh_sph_system *sys, const rh_sph_solve_options *o, const all *a, int64_t n)
{
    const rh_sph_fluid *f = sys->fluid;
    const rh_sph_kernel *k = f->kernel;
    const float *own = a->place + 4 * n, *flow = a->flow + 4 * n;
    float *out = sys->links + LANES * (uint64_t)sys->list->first[n];
    rh_f8 zero = rh_f8_all(0), links = zero, drawn = zero, wet = zero, nearer = zero;
    RH_SPH_EACH(*sys->list, n, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(k, own, a->place, near);
        rh_f8 link = (own[3] + p.number) * p.slope * p.square / (p.square + k->softening);
        rh_f8_store(out, link);
        out += LANES;
        links += link;
        drawn += link * rh_f8_gather(sys->q, near);
        if (near[0] >= f->count) continue;  // particles come first, in eights of their own
        wet += rh_sph_value(k, p.square);
        nearer += p.slope * rh_sph_approach(&p, flow, a->flow, near);
    }
    rh_sph_judged by = {0};
    judge(sys, o, 1 + k->volume * rh_f8_sum(wet) - k->flat_wet, -k->volume * rh_f8_sum(nearer), &by);
    float source = by.excess / (f->dt * f->dt), sum = rh_f8_sum(links);
    by.sweep = source + rh_sph_foresight * rh_f8_sum(drawn);
    // One-sided they all are; neither by that nor with ghosts has a sample pressure without liquid.
    bool dry = !(rh_f8_sum(wet) > 0) && (o->surface == RH_SPH_GEOMETRIC || o->surface == RH_SPH_GHOST);
    sys->unknown[n] = sum > 0 && !dry && !rh_sph_is_surface(o->surface, &by);
    sys->wall[n] = 0;
    sys->diagonal[n] = sys->unknown[n] ? sum : 1;
    sys->source[n] = sys->unknown[n] ? source : 0;
}

rh_code rh_sph_walls_rows(rh_sph_system *sys, const rh_sph_solve_options *o, rh_arena *arena, rh_status *status)
{
    all a;
    rh_arena_mark mark = rh_arena_save(arena);
    RH_TRY(take_all(&a, sys, arena, status));
    int64_t unknowns = 0;
#pragma omp parallel for schedule(dynamic, 512) reduction(+ : unknowns)
    for (int64_t n = sys->fluid->count; n < sys->size; n++) {
        make_row(sys, o, &a, n);
        unknowns += sys->unknown[n];
    }
    sys->unknowns += unknowns;
    rh_arena_restore(arena, mark);
    return RH_OK;
}
