// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The pressure system of T. Takahashi (chapters 2 and 3; docs/sources.md), with
//      A_ij = -(V_i + V_j) x_ij . grad W_ij / (|x_ij|^2 + 0.01 h^2)  >= 0,   V = m / rho
// so that the matrix is symmetric with a dominant diagonal. On the lattice it is 0.92 of the Laplacian in space.
#include <math.h>
#include "base/parallel.h"
#include "base/union_find.h"
#include "physics/sph/pressure.h"

const float rh_sph_foresight = 0.5f;    // share of the last pressure that the sweep of RH_SPH_PREDICTED begins with
static const float THIN = 0.97f;        // RH_SPH_DENSITY: less dense is surface
static const float SPARSE = 0.01f;      // RH_SPH_SPARSE: less dense by more than this
static const float ONE_SIDED = 0.2f;    // RH_SPH_GEOMETRIC: h |sum V grad W| of surface particles
static const float MOST_AMPLIFIED = 5;  // RH_SPH_MIRRORED: of the source

// What a particle sums up over its neighbours.
typedef struct row {
    float links, wall_links;   // sums of A_ij and A_is, 1/m^2
    float drawn, wall_drawn;   // sums of A_ij q_j and A_is q_s
    rh_dvec3 gradient, walls;  // sum of (V_i + V_j) / 2 grad W over particles and over walls, 1/m
    rh_dvec3 samples;          // sum of V_s grad W, 1/m
    rh_dvec3 neighbours;       // sum of V_j grad W, 1/m
} row;

static rh_dvec3 minus(rh_f8 x, rh_f8 y, rh_f8 z)
{
    return rh_d3(-(double)rh_f8_sum(x), -(double)rh_f8_sum(y), -(double)rh_f8_sum(z));
}

static void sum_fluid(rh_sph_system *s, int64_t i, row *r)
{
    const rh_sph_fluid *f = s->fluid;
    const rh_sph_kernel *k = f->kernel;
    const float *own = f->place + 4 * i;
    rh_f8 zero = rh_f8_all(0), links = zero, drawn = zero, x = zero, y = zero, z = zero, nx = zero, ny = zero,
          nz = zero;
    float *out = s->links + 8 * (uint64_t)s->list->first[i];
    RH_SPH_EACH(f->lists->fluid, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(k, own, f->place, near);
        rh_f8 both = own[3] + p.number, a = both * p.slope * p.square / (p.square + k->softening);
        rh_f8_store(out, a);
        out += 8;
        links += a;
        drawn += a * rh_f8_gather(f->q, near);
        rh_f8 half = 0.5f * both * p.slope, whole = p.number * p.slope;
        x += half * p.x, y += half * p.y, z += half * p.z;
        nx += whole * p.x, ny += whole * p.y, nz += whole * p.z;
    }
    r->links = rh_f8_sum(links), r->drawn = rh_f8_sum(drawn);
    r->gradient = minus(x, y, z), r->neighbours = minus(nx, ny, nz);
}

// Where samples are unknowns they have links too, after those of particles, and pressures of their own; else the
// particle's.
static void sum_walls(const rh_sph_system *s, int64_t i, row *r)
{
    const rh_sph_fluid *f = s->fluid;
    const rh_sph_kernel *k = f->kernel;
    const float *own = f->place + 4 * i, *q = s->size > f->count ? s->q + f->count : NULL;
    const uint32_t *first = f->lists->fluid.first;
    float *out = s->links + 8 * ((uint64_t)s->list->first[i] + first[i + 1] - first[i]);
    rh_f8 zero = rh_f8_all(0), links = zero, drawn = zero, x = zero, y = zero, z = zero, sx = zero, sy = zero,
          sz = zero;
    RH_SPH_EACH(f->lists->walls, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(k, own, f->walls->place, near);
        rh_f8 both = own[3] + p.number, half = 0.5f * both * p.slope, whole = p.number * p.slope;
        rh_f8 a = both * p.slope * p.square / (p.square + k->softening);
        links += a;
        if (q) {
            rh_f8_store(out, a);
            out += 8;
            drawn += a * rh_f8_gather(q, near);
        }
        x += half * p.x, y += half * p.y, z += half * p.z;
        sx += whole * p.x, sy += whole * p.y, sz += whole * p.z;
    }
    r->wall_links = rh_f8_sum(links);
    r->wall_drawn = q ? rh_f8_sum(drawn) : f->q[i] * r->wall_links;
    r->walls = minus(x, y, z), r->samples = minus(sx, sy, sz);
}

static float source_of(const rh_sph_fluid *f, const rh_sph_solve_options *o, int64_t i)
{
    float excess = o->clamp_source ? rh_max_of(f->excess[i], 0) : f->excess[i];
    return excess / (f->dt * f->dt);
}

bool rh_sph_is_surface(int surface, const rh_sph_judged *by)
{
    switch ((rh_sph_surface)surface) {
    case RH_SPH_DENSITY: return by->density < THIN;
    case RH_SPH_GEOMETRIC: return by->one_sided > (double)ONE_SIDED;
    case RH_SPH_GHOST: return false;
    case RH_SPH_SOURCE: return by->excess <= 0;
    case RH_SPH_SPARSE: return by->predicted < -SPARSE;
    case RH_SPH_PREDICTED: break;
    }
    return !(by->sweep > 0);
}

static bool is_surface(const rh_sph_fluid *f, const rh_sph_solve_options *o, const row *r, int64_t i)
{
    float all = o->surface == RH_SPH_SPARSE ? r->links : r->links + r->wall_links;
    const rh_sph_judged by = {f->density[i], f->excess[i], f->predicted[i],
                              source_of(f, o, i) + rh_sph_foresight * (r->drawn + r->wall_drawn),
                              (double)f->kernel->support * rh_d3_length(rh_d3_add(r->neighbours, r->samples))};
    return rh_sph_is_surface(o->surface, &by) || all <= 0;
}

// What the wall adds to the diagonal, 1/m^2.
static float wall_term(const rh_sph_fluid *f, const rh_sph_solve_options *o, const row *r, int64_t i)
{
    if (o->wall_term == RH_SPH_UNKNOWNS) return 0;
    if (o->wall_term == RH_SPH_MIRRORED)
        return (float)rh_d3_dot(r->samples, r->samples) / (f->density[i] * f->density[i]);
    return (float)fmax(0, rh_d3_dot(rh_d3_add(r->gradient, r->walls), r->walls));
}

float rh_sph_amplified(float links, float wall)
{
    return links > 0 ? rh_min(MOST_AMPLIFIED, (links + wall) / links) : 1;
}

static void make_row(rh_sph_system *s, const rh_sph_solve_options *o, int64_t i)
{
    const rh_sph_fluid *f = s->fluid;
    row r;
    sum_fluid(s, i, &r);
    sum_walls(s, i, &r);
    s->unknown[i] = !is_surface(f, o, &r, i);
    s->wall[i] = wall_term(f, o, &r, i);
    if (o->surface == RH_SPH_GHOST) s->wall[i] += rh_max_of(f->kernel->stiffness - r.links - r.wall_links, 0);
    if (o->wall_term == RH_SPH_UNKNOWNS) r.links += r.wall_links;
    s->diagonal[i] = s->unknown[i] ? r.links + s->wall[i] : 1;
    s->source[i] = s->unknown[i] ? source_of(f, o, i) : 0;
    if (o->wall_term != RH_SPH_MIRRORED || !s->unknown[i]) return;
    s->source[i] = (s->source[i] > 0 ? rh_sph_amplified(r.links, s->wall[i]) : 1) * s->source[i] + s->wall[i] * f->q[i];
}

static rh_code take(rh_sph_system *s, rh_arena *arena, rh_status *status)
{
    size_t count = (size_t)s->size + 8, links = 8 * (size_t)s->list->first[s->size];
    s->links = rh_arena_take(arena, (links + 8) * sizeof(float), status);
    s->diagonal = rh_arena_take(arena, count * sizeof(float), status);
    s->wall = rh_arena_take(arena, count * sizeof(float), status);
    s->source = rh_arena_take(arena, count * sizeof(float), status);
    s->unknown = rh_arena_take_zero(arena, count, status);
    return s->links && s->diagonal && s->wall && s->source && s->unknown ? RH_OK : RH_MEMORY;
}

rh_code rh_sph_system_make(rh_sph_system *s, rh_sph_fluid *f, const rh_sph_solve_options *o, rh_arena *arena,
                           rh_status *status)
{
    *s = (rh_sph_system){.fluid = f, .size = f->count, .list = &f->lists->fluid, .q = f->q, .sums = f->sums};
    bool joined = o->wall_term == RH_SPH_UNKNOWNS;
    if (joined) RH_TRY(rh_sph_walls_join(s, arena, status));
    RH_TRY(take(s, arena, status));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < f->count; i++) f->place[4 * i + 3] = f->kernel->volume / f->density[i];
    int64_t unknowns = 0;
#pragma omp parallel for schedule(dynamic, 512) reduction(+ : unknowns)
    for (int64_t i = 0; i < f->count; i++) {
        make_row(s, o, i);
        unknowns += s->unknown[i];
    }
    s->unknowns = unknowns;
    return joined ? rh_sph_walls_rows(s, o, arena, status) : RH_OK;
}

double rh_sph_system_apply(const rh_sph_system *s, const float *x, float *y)
{
    int64_t blocks = rh_blocks(s->size);
#pragma omp parallel for schedule(dynamic, 1)
    for (int64_t b = 0; b < blocks; b++) {
        double sum = 0;
        for (int64_t i = b * RH_BLOCK; i < rh_block_end(b, s->size); i++) {
            y[i] = 0;
            if (!s->unknown[i]) continue;
            const float *links = s->links + 8 * (uint64_t)s->list->first[i];
            rh_f8 drawn = rh_f8_all(0);
            RH_SPH_EACH(*s->list, i, near)
            {
                drawn += rh_f8_load(links) * rh_f8_gather(x, near);
                links += 8;
            }
            y[i] = s->diagonal[i] * x[i] - rh_f8_sum(drawn);
            sum += (double)x[i] * (double)y[i];
        }
        s->sums[b] = sum;
    }
    return rh_sum(s->sums, blocks);
}

// --- parts without a level -------------------------------------------------------------------------------------------
static bool has_level(const rh_sph_system *s, int64_t i)
{
    const rh_sph_list *list = s->list;
    if (s->wall[i] > 0) return true;
    for (uint64_t n = 8 * (uint64_t)list->first[i]; n < 8 * (uint64_t)list->first[i + 1]; n++)
        if (s->links[n] > 0 && !s->unknown[list->near[n]]) return true;
    return false;
}

static void join_parts(const rh_sph_system *s, int32_t *parent)
{
    const rh_sph_list *list = s->list;
    for (int64_t i = 0; i < s->size; i++) parent[i] = (int32_t)i;
    for (int64_t i = 0; i < s->size; i++)
        for (uint64_t n = 8 * (uint64_t)list->first[i]; s->unknown[i] && n < 8 * (uint64_t)list->first[i + 1]; n++)
            if (s->links[n] > 0 && list->near[n] < (uint32_t)i && s->unknown[list->near[n]])
                rh_union_join(parent, (int32_t)i, (int32_t)list->near[n]);
}

rh_code rh_sph_system_anchor(rh_sph_system *s, rh_arena *arena, int64_t *anchored, rh_status *status)
{
    int64_t count = s->size;
    *anchored = 0;
    int32_t *parent = rh_arena_take(arena, ((size_t)count + 1) * sizeof *parent, status),
            *least = rh_arena_take(arena, ((size_t)count + 1) * sizeof *least, status);
    if (!parent || !least) return RH_MEMORY;
    join_parts(s, parent);
    // least[root]: of each part the unknown with the smallest source; -1: its pressure is determined.
    for (int64_t i = 0; i < count; i++) least[i] = (int32_t)i;
    for (int64_t i = 0; i < count; i++) {
        int32_t root = rh_union_root(parent, (int32_t)i);
        if (!s->unknown[i] || least[root] < 0) continue;
        if (has_level(s, i)) least[root] = -1;
        else if (s->source[i] < s->source[least[root]]) least[root] = (int32_t)i;
    }
    for (int64_t i = 0; i < count; i++) {
        if (parent[i] != i || !s->unknown[i] || least[i] < 0) continue;
        int32_t chosen = least[i];
        s->unknown[chosen] = 0, s->diagonal[chosen] = 1, s->source[chosen] = 0;
        ++*anchored;
    }
    s->unknowns -= *anchored;
    return RH_OK;
}
