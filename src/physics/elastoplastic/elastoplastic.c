// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// One step of elastoplastic matter (D. Gerszewski, chapter 4; docs/theory/elastoplastic.md):
//      sort           by tile and cell
//      samples        of walls near particles
//      neighbours     lists, densities on the way; links, made or mapped                        linking.c, links.c
//      stress         plastic flow of the step before, principal stresses                       stress.c
//      fit            sums over neighbours                                                     fit.c
//      forces         of stress between pairs, gravity; or the implicit solve                   forces.c, solve.c
//      motion         velocities, places, walls                                                 contact.c
//      deformation    of the step, by the way that particles went, onto the stored one          fit.c, stress.c
// Velocities are half a step behind places (physics/step.h). Fits and forces of a step use the places of its start:
// with the torque of every stress zero about them, sum x x v is kept to rounding.
#include "physics/elastoplastic/elastoplastic.h"

#include <math.h>
#include <string.h>
#include "base/clock.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "physics/elastoplastic/contact.h"
#include "physics/elastoplastic/moduli.h"
#include "physics/elastoplastic/solve.h"
#include "physics/elastoplastic/stages.h"
#include "physics/inflow.h"
#include "physics/sph_values.h"
#include "physics/time_step.h"

enum { MARGIN = 3 };                // cells: as wall samples need them
static const float GONE = 0.1f;     // share of the lattice's weights: who has less is nobody's
static const double TRAVEL = 0.25;  // cells that a particle travels in a step

static void elastoplastic_destroy(void *self)
{
    rh_ep_method *me = self;
    if (!me) return;
    rh_sph_wall_cache_free(me->walls);
    rh_sph_lists_free(&me->lists);
    rh_ep_links_free(&me->links);
    rh_arena_free(&me->arena);
    rh_free(me);
}

// Whether a property is other than `none` in any kind.
static bool any_kind(const rh_ep_params *p, size_t offset, double none)
{
    for (int n = 0; n <= p->kinds.count; n++)
        if (*(const double *)((const char *)rh_ep_kind_of(p, n) + offset) != none) return true;
    return false;
}

static rh_code add_attributes(const rh_ep_params *p, rh_points *points, rh_status *status)
{
    RH_TRY(rh_points_add(points, "deformation", RH_POINT_MAT3F, status));
    RH_TRY(rh_points_add(points, "offset", RH_POINT_VEC3F, status));
    rh_points_find(points, "offset")->transient = true;
    if (!p->implicit) RH_TRY(rh_points_add(points, "drift", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_add(points, "origin", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_add(points, "pattern", RH_POINT_MAT3F, status));
    RH_TRY(rh_points_add(points, "slot", RH_POINT_I32, status));
    RH_TRY(rh_points_add(points, "flowed", RH_POINT_F32, status));
    static const char *const own[] = {"drift", "origin", "pattern", "slot", "flowed"};
    for (size_t n = p->implicit; n < sizeof own / sizeof *own; n++) rh_points_find(points, own[n])->transient = true;
    RH_TRY(rh_points_add(points, "stress", RH_POINT_F32, status));
    if (any_kind(p, offsetof(rh_ep_kind, hardening), 0))
        RH_TRY(rh_points_add(points, "hardened", RH_POINT_F32, status));
    if (any_kind(p, offsetof(rh_ep_kind, strength), 0)) RH_TRY(rh_points_add(points, "torn", RH_POINT_F32, status));
    if (p->kinds.count > 0) RH_TRY(rh_points_add(points, "kind", RH_POINT_I32, status));
    if (!p->fuse) {
        RH_TRY(rh_points_add(points, "piece", RH_POINT_I32, status));
        RH_TRY(rh_points_add(points, "grip", RH_POINT_VEC3F, status));
        rh_points_find(points, "grip")->transient = true;
    }
    if (!p->varies) return RH_OK;
    RH_TRY(rh_points_add(points, "stiffness", RH_POINT_F32, status));
    return rh_points_add(points, "yield", RH_POINT_F32, status);
}

static rh_code elastoplastic_create(const void *params, const rh_surroundings *around, rh_points *points, void **self,
                                    rh_status *status)
{
    const rh_ep_params *p = params;
    rh_ep_method *me = rh_alloc_zero(sizeof *me, "elastoplastic", status);
    if (!me) return RH_MEMORY;
    *self = me;
    me->params = p;
    rh_arena_init(&me->arena, "elastoplastic.step");
    const rh_sph_kernel_options kernel = {.dimension = around->dimension,
                                          .spacing = around->cell / (double)p->particles_per_axis,
                                          .support = 2,
                                          .kind = RH_SPH_WENDLAND,
                                          .blend_from = 1e9,
                                          .blend_to = 1e9,
                                          .mirrored = true};
    rh_sph_kernel_init(&me->kernel, &kernel);
    RH_TRY(rh_sph_wall_cache_create(&me->walls, status));
    return add_attributes(p, points, status);
}

static double elastoplastic_max_step(void *self, const rh_surroundings *around, const rh_points *points)
{
    const rh_ep_method *me = self;
    const rh_ep_params *p = me->params;
    if (p->time_step > 0) return p->time_step;
    double step = rh_time_step_limit(TRAVEL, around, points);
    if (!p->implicit) return fmin(step, rh_ep_sound_limit(p, (double)me->kernel.spacing, points));
    if (!(me->rate > 0)) return step;
    return fmin(step, fmax(p->strain_step / me->rate, rh_ep_sound_limit(p, (double)me->kernel.spacing,
                                                                        points)));  // never shorter than explicit ones
}

// --- stages ----------------------------------------------------------------------------------------------------------
static void stage(rh_ep_step *s, const char *name) { rh_step_stage(s->report, &s->clock, name); }

static void *take_floats(rh_ep_step *s, int per, bool zero, rh_status *status)
{
    size_t bytes = (size_t)per * ((size_t)s->points->count + 8) * sizeof(float);
    return zero ? rh_arena_take_zero(&s->me->arena, bytes, status) : rh_arena_take(&s->me->arena, bytes, status);
}

// Weights of the lattice: their sum, and K along an axis.
static void sum_lattice(rh_ep_matter *m)
{
    double a = (double)m->kernel->spacing, around = 0, k = 0;
    int deep = m->dimension == 3 ? 2 : 0;
    for (int z = -deep; z <= deep; z++)
        for (int y = -2; y <= 2; y++)
            for (int x = -2; x <= 2; x++) {
                double square = (x * x + y * y + z * z) * a * a;
                double w = (double)rh_ep_weight(m, rh_f8_all((float)square))[0];
                if (square > 0) around += w, k += w * x * x * a * a;
            }
    m->around = (float)around, m->lattice = (float)k;
}

static rh_code take(rh_ep_step *s, rh_status *status)
{
    rh_ep_matter *m = &s->matter;
    const rh_ep_params *p = s->me->params;
    bool flows = p->varies || any_kind(p, offsetof(rh_ep_kind, yield), 1e12) ||
                 any_kind(p, offsetof(rh_ep_kind, strength), 0);
    *m = (rh_ep_matter){
        .params = p,
        .kernel = &s->me->kernel,
        .lists = &s->me->lists,
        .count = s->points->count,
        .dimension = s->around->dimension,
        .dt = m->dt,
        .squared = p->weights == RH_EP_SQUARED,
        .place = take_floats(s, 4, false, status),
        .flow = take_floats(s, 4, true, status),
        .load = take_floats(s, 12, true, status),
        .origin = take_floats(s, 4, false, status),
        .metric = take_floats(s, 8, true, status),
        .near_metric = flows ? take_floats(s, 8, true, status) : NULL,
        .reach = take_floats(s, 1, true, status),
        .inverse = take_floats(s, 6, false, status),
        .since = take_floats(s, 9, false, status),
        .firm = take_floats(s, 9, false, status),
        .lean = take_floats(s, 4, true, status),
        .gradient = take_floats(s, 9, false, status),
        .apart = take_floats(s, 3, false, status),
        .hold = take_floats(s, 3, false, status),
        .stress = take_floats(s, 6, false, status),
        .push = take_floats(s, 4, true, status),
        .density = take_floats(s, 1, false, status),
        .covered = take_floats(s, 1, false, status),
        .loose = rh_arena_take(&s->me->arena, (size_t)s->points->count + 8, status),
        .moduli = rh_arena_take(&s->me->arena, (size_t)(s->points->count + 8) * sizeof *m->moduli, status)};
    s->state = (rh_ep_state){.deformation = take_floats(s, 9, false, status),
                             .offset = take_floats(s, 3, false, status),
                             .flowed = take_floats(s, 1, false, status),
                             .mises = take_floats(s, 1, false, status),
                             .stiffen = take_floats(s, 1, false, status)};
    s->pressure = take_floats(s, 1, true, status), s->pattern = take_floats(s, 9, false, status);
    s->slot = take_floats(s, 1, false, status);
    s->x = take_floats(s, 1, false, status), s->y = take_floats(s, 1, false, status);
    s->z = take_floats(s, 1, false, status), s->start = take_floats(s, 3, false, status);
    s->sums = rh_arena_take(&s->me->arena, (size_t)(rh_blocks(s->points->count) + 1) * sizeof(double), status);
    if (!m->origin || (flows && !m->near_metric) || !m->reach || !m->since || !s->state.flowed || !s->pattern ||
        !s->slot || !m->place || !m->flow || !m->load || !m->inverse || !m->metric || !m->lean || !m->firm ||
        !m->apart || !m->hold || !s->state.offset || !s->pressure || !m->gradient || !m->stress || !m->push ||
        !m->density || !m->covered || !m->loose || !m->moduli || !s->state.deformation || !s->state.mises ||
        !s->state.stiffen || !s->x || !s->y || !s->z || !s->start || !s->sums)
        return RH_MEMORY;
    sum_lattice(m);
    return RH_OK;
}

// A copy of a float attribute, or NULL when the particles have none.
static rh_code copy_attribute(rh_ep_step *s, const char *name, float **out, rh_status *status)
{
    const rh_attribute *of = rh_points_find(s->points, name);
    *out = NULL;
    if (!of) return RH_OK;
    *out = take_floats(s, 1, false, status);
    if (!*out) return RH_MEMORY;
    memcpy(*out, of->data, (size_t)s->points->count * sizeof(float));
    return RH_OK;
}

static rh_code fill_pieces(rh_ep_step *s, rh_status *status)
{
    const rh_attribute *of = s->me->params->fuse ? NULL : rh_points_find(s->points, "piece");
    rh_ep_matter *m = &s->matter;
    if (!of) return RH_OK;
    float *piece = take_floats(s, 1, true, status);
    m->slide = take_floats(s, 4, true, status), m->grip = take_floats(s, 4, true, status);
    m->spin = take_floats(s, 4, true, status), m->touch = take_floats(s, 6, true, status);
    if (!piece || !m->slide || !m->grip || !m->spin || !m->touch) return RH_MEMORY;
    const rh_vec3 *grip = rh_points_data(s->points, "grip", RH_POINT_VEC3F);
    for (int64_t i = 0; i < s->points->count; i++) {
        piece[i] = (float)((const int32_t *)of->data)[i];
        memcpy(m->grip + 4 * i, &grip[i], sizeof *grip);
    }
    m->piece = piece;
    m->rub = (float)s->me->params->friction;
    return RH_OK;
}

static void fill_places(rh_ep_step *s)
{
    rh_ep_matter *m = &s->matter;
    const rh_vec3 *x = rh_points_data(s->points, "P", RH_POINT_VEC3F),
                  *v = rh_points_data(s->points, "v", RH_POINT_VEC3F);
    const rh_ep_params *p = s->me->params;
    const rh_ep_source from = rh_ep_source_of(p, s->points, s->around->previous_dt);
    bool flat = m->dimension == 2;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++) {
        rh_ep_moduli_of(&from, i, &m->moduli[i]);
        float sound = rh_ep_sound(&m->moduli[i]);
        s->start[i] = x[i];
        s->x[i] = x[i].x, s->y[i] = x[i].y, s->z[i] = flat ? 0 : x[i].z;
        memcpy(m->place + 4 * i, (const float[4]){s->x[i], s->y[i], s->z[i], sound * sound}, 16);
        memcpy(m->flow + 4 * i, (const float[4]){v[i].x, v[i].y, flat ? 0 : v[i].z, 0}, 16);
    }
    for (int64_t i = m->count; i < m->count + 8; i++) {
        s->x[i] = s->y[i] = s->z[i] = 1e15f;
        memcpy(m->place + 4 * i, (const float[4]){1e15f, 1e15f, 1e15f, 0}, 16);
        memcpy(m->origin + 4 * i, (const float[4]){1e15f, 1e15f, 1e15f, 0}, 16);
    }
}

static void fill_links(rh_ep_step *s)
{
    rh_ep_matter *m = &s->matter;
    const rh_vec3 *origin = rh_points_data(s->points, "origin", RH_POINT_VEC3F);
    const float *pattern = rh_points_data(s->points, "pattern", RH_POINT_MAT3F);
    size_t count = (size_t)m->count;
    memcpy(s->pattern, pattern, 9 * count * sizeof(float));
    memcpy(s->slot, rh_points_data(s->points, "slot", RH_POINT_I32), count * sizeof(int32_t));
    memcpy(s->state.flowed, rh_points_data(s->points, "flowed", RH_POINT_F32), count * sizeof(float));
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++) {
        float z = m->dimension == 2 ? 0 : origin[i].z;
        memcpy(m->origin + 4 * i, (const float[4]){origin[i].x, origin[i].y, z, 0}, 16);
        rh_ep_metric_of(s->pattern + 9 * i, m->metric + 8 * i);
    }
}

static rh_code fill(rh_ep_step *s, rh_status *status)
{
    memcpy(s->state.deformation, rh_points_data(s->points, "deformation", RH_POINT_MAT3F),
           (size_t)s->points->count * 9 * sizeof(float));
    memcpy(s->state.offset, rh_points_data(s->points, "offset", RH_POINT_VEC3F),
           (size_t)s->points->count * 3 * sizeof(float));
    if (!s->me->params->implicit) s->state.drift = rh_points_data(s->points, "drift", RH_POINT_VEC3F);
    RH_TRY(copy_attribute(s, "hardened", &s->state.hardened, status));
    RH_TRY(copy_attribute(s, "torn", &s->state.torn, status));
    RH_TRY(fill_pieces(s, status));
    fill_places(s);
    fill_links(s);
    return RH_OK;
}

// Who loses its neighbours gets soft, and is nobody's any more when they weigh next to nothing: fits by few far
// neighbours are as strong as others, and what a coarse figure lost in a fall left it at three times the speed of the
// fall. Corners of lattices have 0.46 of the weights, threads of single particles 0.28.
static void fade(rh_ep_step *s)
{
    const rh_ep_matter *m = &s->matter;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++) {
        float weight = m->lean[4 * i + 3] / m->around;
        float share = rh_clamp((weight - GONE) / (RH_EP_FADES - GONE), 0, 1);
        if (share == 1 || m->moduli[i].bulk > 0) continue;
        m->moduli[i].shear *= share, m->moduli[i].lame *= share;
        for (int c = 0; c < 6; c++) m->stress[6 * i + c] *= share;
        for (int c = 0; c < 9 && share == 0; c++) s->state.deformation[9 * i + c] = 0;
        for (int c = 0; c < 3 && share == 0; c++) s->state.offset[3 * i + c] = 0;
    }
}

// Particles that others move: in inflows, and those of the group `held`, which keep their velocity.
static rh_code find_held(rh_ep_step *s, rh_status *status)
{
    const rh_attribute *group = rh_points_find(s->points, "held");
    bool grouped = group && group->type == RH_POINT_GROUP;
    if (!grouped && s->around->inflow_count == 0) return RH_OK;
    s->held = rh_arena_take_zero(&s->me->arena, (size_t)s->matter.count + 1, status);
    if (!s->held) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < s->matter.count; i++) {
        rh_dvec3 velocity;
        if (grouped) s->held[i] = ((const uint8_t *)group->data)[i];
        if (!rh_inflow_at(s->around, rh_d3_from(s->start[i]), &velocity)) continue;
        s->held[i] = 1;
        for (int a = 0; a < s->around->dimension; a++) s->matter.flow[4 * i + a] = (float)(&velocity.x)[a];
    }
    return RH_OK;
}

// m/s that forces of the scene give in the step.
static void add_gravity(rh_ep_step *s)
{
    const rh_surroundings *around = s->around;
    rh_ep_matter *m = &s->matter;
    double from = around->time - 0.5 * around->previous_dt, to = around->time + 0.5 * (double)m->dt;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++) {
        rh_dvec3 g = around->gravity;
        if (s->held && s->held[i]) continue;
        if (around->acceleration) g = around->acceleration(rh_d3_from(s->start[i]), from, to, around->user);
        for (int a = 0; a < around->dimension; a++) m->flow[4 * i + a] += s->kick * (float)(&g.x)[a];
    }
}

static rh_ep_contact contact_of(const rh_ep_step *s)
{
    return (rh_ep_contact){.around = s->around,
                           .count = s->matter.count,
                           .spacing = (double)s->me->kernel.spacing,
                           .dt = (double)s->matter.dt,
                           .tack = (float)(s->me->params->tack / s->me->params->density),
                           .stress = s->matter.stress,
                           .covered = s->matter.covered,
                           .held = s->held,
                           .start = s->start};
}

static rh_code find_velocities(rh_ep_step *s, rh_status *status)
{
    rh_ep_contact contact = contact_of(s);
    if (s->matter.piece) memcpy(s->matter.slide, s->matter.flow, 4 * (size_t)s->matter.count * sizeof(float));
    rh_ep_solve solve = {.matter = &s->matter,
                         .state = &s->state,
                         .contact = &contact,
                         .held = s->held,
                         .kick = s->kick,
                         .previous_dt = (float)s->around->previous_dt};
    if (!s->me->params->implicit) {
        rh_ep_explicit(&solve);
        add_gravity(s);
        return RH_OK;
    }
    RH_TRY(rh_ep_begin(&solve, &s->me->arena, status));
    add_gravity(s);
    RH_TRY(rh_ep_implicit(&solve, &s->me->arena, s->report, status));
    s->before = solve.before;
    memcpy(s->matter.stress, solve.stress, 6 * (size_t)s->matter.count * sizeof(float));  // for contact
    return RH_OK;
}

static rh_code look(rh_ep_step *s, rh_sight what, rh_status *status)
{
    const rh_step_view view = {.what = what,
                               .around = s->around,
                               .dt = s->matter.dt,
                               .kick = s->kick,
                               .density = s->me->params->density,
                               .tiles = &s->tiles,
                               .points = s->points,
                               .obstacles = s->around->obstacles_after,
                               .arena = &s->me->arena};
    return rh_observe(&view, status);
}

// Velocities and, by them, places.
static void go(rh_ep_step *s, const float *flow)
{
    rh_vec3 *x = rh_points_data(s->points, "P", RH_POINT_VEC3F), *v = rh_points_data(s->points, "v", RH_POINT_VEC3F);
    const rh_ep_matter *m = &s->matter;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++)
        for (int a = 0; a < m->dimension; a++) {
            (&v[i].x)[a] = flow[4 * i + a];
            (&x[i].x)[a] = (&s->start[i].x)[a] + m->dt * flow[4 * i + a];
        }
}

// What observers see at places: pressure is the mean of the principal stresses, its sign turned.
static rh_code show(rh_ep_step *s, rh_status *status)
{
    const rh_ep_matter *m = &s->matter;
    if (!s->around->observer) return RH_OK;
    float *q = take_floats(s, 1, true, status);
    rh_vec3 *v = take_floats(s, 3, true, status);
    if (!q || !v) return RH_MEMORY;
    for (int64_t i = 0; i < m->count; i++) {
        const float *u = m->flow + 4 * i;
        q[i] = s->pressure[i];
        v[i] = rh_v3(u[0], u[1], u[2]);
    }
    const rh_sph_values values = {&s->me->kernel, &s->tiles, m->place, q, v};
    rh_step_view view = {.what = RH_SIGHT_PRESSED,
                         .around = s->around,
                         .dt = m->dt,
                         .kick = s->kick,
                         .density = s->me->params->density,
                         .tiles = &s->tiles,
                         .points = s->points,
                         .arena = &s->me->arena,
                         .obstacles = s->around->obstacles,
                         .speed = m->dt / s->tiles.h,
                         .q_at = rh_sph_q_at,
                         .velocity_at = rh_sph_velocity_at,
                         .solver = &values};
    static const rh_sight sights[] = {RH_SIGHT_PRESSED, RH_SIGHT_FLOWS, RH_SIGHT_TOUCHED};
    for (size_t n = 0; n < sizeof sights / sizeof *sights; n++) {  // TOUCHED says how long forces acted: walls get the
        view.what = sights[n];                                     // rest by contact
        RH_TRY(rh_observe(&view, status));
    }
    return RH_OK;
}

// Moves the particles. Nothing fails after this but for lack of memory of an observer. What walls do in an implicit
// solve is what observers see between the velocities before and after.
static rh_code move(rh_ep_step *s, rh_status *status)
{
    const rh_ep_contact contact = contact_of(s);
    RH_TRY(show(s, status));
    go(s, s->before ? s->before : s->matter.flow);
    RH_TRY(look(s, RH_SIGHT_MOVED, status));
    if (s->before) go(s, s->matter.flow);
    rh_ep_contact_all(&contact, rh_points_data(s->points, "P", RH_POINT_VEC3F),
                      rh_points_data(s->points, "v", RH_POINT_VEC3F));
    stage(s, "motion");
    return RH_OK;
}

static double largest_rate(rh_ep_step *s)
{
    const rh_ep_matter *m = &s->matter;
    float most = 0;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t i = 0; i < m->count; i++) {
        float sum = 0;
        if ((m->loose[i] & RH_EP_LOOSE) || m->lean[4 * i + 3] < RH_EP_FADES * m->around) continue;  // crumbs
        for (int c = 0; c < 9; c++) sum += m->gradient[9 * i + c] * m->gradient[9 * i + c];
        most = rh_max_of(most, sum);
    }
    return sqrt((double)most) / (double)m->dt;
}

static void write_back(rh_ep_step *s)
{
    const rh_ep_matter *m = &s->matter;
    size_t bytes = (size_t)m->count * sizeof(float);
    float *stress = rh_points_data(s->points, "stress", RH_POINT_F32), density = (float)s->me->params->density;
    memcpy(rh_points_data(s->points, "deformation", RH_POINT_MAT3F), s->state.deformation, 9 * bytes);
    memcpy(rh_points_data(s->points, "offset", RH_POINT_VEC3F), s->state.offset, 3 * bytes);
    if (s->state.hardened) memcpy(rh_points_data(s->points, "hardened", RH_POINT_F32), s->state.hardened, bytes);
    if (s->state.torn) memcpy(rh_points_data(s->points, "torn", RH_POINT_F32), s->state.torn, bytes);
    rh_vec3 *origin = rh_points_data(s->points, "origin", RH_POINT_VEC3F);
    rh_vec3 *drift = s->state.drift ? rh_points_data(s->points, "drift", RH_POINT_VEC3F) : NULL;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++) {
        const float *n = m->apart + 3 * i, *at = m->origin + 4 * i;
        stress[i] = density * s->state.mises[i];
        origin[i] = rh_v3(at[0], at[1], at[2]);
        if (drift) drift[i] = rh_v3(n[0] / m->dt, n[1] / m->dt, n[2] / m->dt);
    }
    memcpy(rh_points_data(s->points, "pattern", RH_POINT_MAT3F), s->pattern, 9 * bytes);
    memcpy(rh_points_data(s->points, "slot", RH_POINT_I32), s->slot, bytes);
    memcpy(rh_points_data(s->points, "flowed", RH_POINT_F32), s->state.flowed, bytes);
    s->me->links.valid = true;
}

static void deform(rh_ep_step *s)
{
    rh_ep_matter *m = &s->matter;
    const rh_vec3 *x = rh_points_data(s->points, "P", RH_POINT_VEC3F);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++)
        for (int a = 0; a < m->dimension; a++) m->flow[4 * i + a] = (&x[i].x)[a] - (&s->start[i].x)[a];
    rh_ep_step_gradients(m);
    s->me->rate = largest_rate(s);
    if (m->rub > 0) rh_ep_draw_grips(m, rh_points_data(s->points, "grip", RH_POINT_VEC3F));
    rh_ep_compose(m, s->state.deformation, s->state.offset);
    rh_ep_renew_links(s);
    write_back(s);
    stage(s, "deformation");
}

static void measure_all(rh_ep_step *s)
{
    const rh_vec3 *v = rh_points_data(s->points, "v", RH_POINT_VEC3F);
    float most = 0;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t i = 0; i < s->matter.count; i++) most = rh_max_of(most, rh_v3_dot(v[i], v[i]));
    s->report->max_speed = sqrt((double)most);
    s->report->volume = (double)s->matter.count * pow((double)s->me->kernel.spacing, s->matter.dimension);
}

static void note_pressure(rh_ep_step *s)
{
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < s->matter.count; i++) {
        const float *t = s->matter.stress + 6 * i;
        s->pressure[i] = -(t[0] + t[1] + t[2]) / 3;
    }
}

static rh_code run(rh_ep_step *s, rh_status *status)
{
    rh_arena *arena = &s->me->arena;
    rh_arena_reset(arena);
    RH_TRY(rh_step_sort(s->around, MARGIN, s->points, &s->tiles, arena, s->report, status));
    RH_TRY(look(s, RH_SIGHT_SORTED, status));
    RH_TRY(take(s, status));
    RH_TRY(fill(s, status));
    stage(s, "sort");
    RH_TRY(rh_sph_walls_build(&s->walls, s->me->walls, &s->me->kernel, s->around, &s->tiles, arena, status));
    stage(s, "samples");
    RH_TRY(rh_ep_find_links(s, status));
    stage(s, "neighbours");
    rh_ep_stress(&s->matter, &s->state);
    if (s->around->observer) note_pressure(s);
    stage(s, "stress");
    rh_ep_prepare(&s->matter);
    if (s->matter.near_metric) rh_ep_present_metric(&s->matter);
    fade(s);
    stage(s, "fit");
    RH_TRY(find_held(s, status));
    RH_TRY(find_velocities(s, status));
    stage(s, "forces");
    RH_TRY(move(s, status));
    deform(s);
    measure_all(s);
    return RH_OK;
}

static rh_code elastoplastic_step(void *self, const rh_surroundings *around, double dt, rh_points *points,
                                  rh_step_report *report, rh_status *status)
{
    rh_ep_step s = {.me = self,
                    .around = around,
                    .points = points,
                    .report = report,
                    .clock = rh_seconds(),
                    .kick = rh_step_kick(around, dt),
                    .matter = {.dt = (float)dt}};
    *report = (rh_step_report){0};
    if (points->count == 0) return RH_OK;
    return run(&s, status);
}

// --- the table -------------------------------------------------------------------------------------------------------
static int elastoplastic_per_axis(const void *params)
{
    return (int)((const rh_ep_params *)params)->particles_per_axis;
}
static double elastoplastic_density(const void *params) { return ((const rh_ep_params *)params)->density; }
static double elastoplastic_jitter(const void *params)
{
    (void)params;
    return 0;
}

// Per particle: attributes and the spare block (264), the arrays of a step (460), lists, links, and these by today's
// numbers (170 each in space), and those of the search before they are in order (200).
static int64_t elastoplastic_predict_bytes(const void *params, int dimension, int64_t particles, int64_t tiles)
{
    int64_t lists = dimension == 3 ? 510 : 240, search = dimension == 3 ? 200 : 104, cells = dimension == 3 ? 512 : 64;
    (void)params;
    return particles * (264 + 460 + lists + search) + tiles * (cells * 8 + 200);
}

static rh_code elastoplastic_save(const void *self, const rh_store *to, rh_status *status)
{
    return rh_store_put_float(to, "rate", ((const rh_ep_method *)self)->rate, status);
}
static rh_code elastoplastic_load(void *self, const rh_store *from, rh_status *status)
{
    ((rh_ep_method *)self)->links.valid = false;
    return rh_store_get_float(from, "rate", &((rh_ep_method *)self)->rate, status);
}

const rh_physics rh_elastoplastic = {.name = "elastoplastic",
                                     .params = &rh_ep_table,
                                     .create = elastoplastic_create,
                                     .destroy = elastoplastic_destroy,
                                     .max_step = elastoplastic_max_step,
                                     .step = elastoplastic_step,
                                     .per_cell_axis = elastoplastic_per_axis,
                                     .density = elastoplastic_density,
                                     .jitter = elastoplastic_jitter,
                                     .predict_bytes = elastoplastic_predict_bytes,
                                     .save = elastoplastic_save,
                                     .load = elastoplastic_load,
                                     .pushes_late = true,
                                     .walls_separate = true};
