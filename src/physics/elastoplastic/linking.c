// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// When links are made, kept and renewed (links.h): all at once, when any of them says too little.
#include <string.h>
#include "physics/elastoplastic/small_matrix.h"
#include "physics/elastoplastic/stages.h"
#include "solid/thin.h"

static const float FLOWED = 0.1f;                  // plastic strain after which links are renewed
static const float NARROWEST = 0.5f, WIDEST = 4;   // stretches of patterns
static const float SMALLEST = 0.3f, LONGEST = 16;  // det F, |F|^2 since links were made: beyond, they are renewed

// How far particles are from those that crowd them (forces.c) at most, where that is more than from those that they
// touch; returns whether it is anywhere.
static bool find_near_reach(rh_ep_step *s)
{
    rh_ep_matter *m = &s->matter;
    float touch = RH_EP_TOUCH * m->kernel->spacing;
    int64_t far = 0;
    if (!m->near_metric) return false;
#pragma omp parallel for schedule(static) reduction(+ : far)
    for (int64_t i = 0; i < m->count; i++) {
        m->reach[i] = rh_ep_reach_of(m, s->state.deformation + 9 * i) * touch / m->kernel->support;
        far += m->reach[i] > 1.1f * touch;
    }
    return far > 0;
}

// All within the support when links are made; else only those that touch or crowd each other. With a stored shape of
// rest nothing says who these are: what has flowed is strained by much.
static rh_code find_neighbours(rh_ep_step *s, rh_status *status)
{
    bool all = s->matter.fresh || s->me->params->reference == RH_EP_START;
    bool far = s->matter.fresh || (!all && find_near_reach(s));
    const rh_sph_search search = {.kernel = &s->me->kernel,
                                  .tiles = &s->tiles,
                                  .obstacles = s->around->obstacles,
                                  .walls = &s->walls,
                                  .count = s->matter.count,
                                  .x = s->x,
                                  .y = s->y,
                                  .z = s->z,
                                  .reach = far ? s->matter.reach : NULL,
                                  .within = all ? 0 : 1.1f * RH_EP_TOUCH * s->me->kernel.spacing,
                                  .density = s->matter.density,
                                  .covered = s->matter.covered};
    return rh_sph_lists_build(&s->me->lists, &search, &s->me->arena, status);
}

// All begin anew where they stand. The pattern is that of the elastic strain alone: with all that flowed in it, too,
// the very plastic bar of test_elastoplastic_release flew apart, as particles that have flowed stand in no strained
// lattice.
static void renew_one(rh_ep_step *s, int64_t i, const float place[3])
{
    float *pattern = s->pattern + 9 * i;
    bool follows = s->me->params->reference != RH_EP_STEP;
    memset(pattern, 0, 9 * sizeof(float));
    if (!(s->matter.moduli[i].bulk > 0)) {
        memcpy(pattern, s->state.deformation + 9 * i, 9 * sizeof(float));
        rh_ep_limit(pattern, NARROWEST, follows ? WIDEST : 1.8f);
    }
    s->state.flowed[i] = 0;
    memcpy(s->matter.origin + 4 * i, place, 3 * sizeof(float));
    s->slot[i] = 0;
}

static void find_reach(rh_ep_step *s)
{
    rh_ep_matter *m = &s->matter;
    bool follows = s->me->params->reference != RH_EP_STEP;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++)
        m->reach[i] = follows ? rh_ep_reach_of(m, s->pattern + 9 * i) : m->kernel->support;
}

// Links of the last step by today's numbers.
static rh_code map_links(rh_ep_step *s, rh_status *status)
{
    rh_ep_method *me = s->me;
    rh_ep_matter *m = &s->matter;
    if (!me->links.valid) {
        int64_t slots = 0;
        for (int64_t i = 0; i < m->count; i++) slots = s->slot[i] > slots ? s->slot[i] : slots;
        find_reach(s);
        RH_TRY(rh_ep_links_find(&me->links, m, s->slot, slots, &me->arena, status));
    }
    return rh_ep_links_map(&me->links, m, s->slot, &me->arena, &m->links, status);
}

rh_code rh_ep_find_links(rh_ep_step *s, rh_status *status)
{
    rh_ep_matter *m = &s->matter;
    int64_t without = 0;
    for (int64_t i = 0; i < m->count; i++) without += s->slot[i] == 0;
    m->fresh = without > 0;
    for (int64_t i = 0; i < m->count && without > 0 && without < m->count; i++)  // new ones came among others
        renew_one(s, i, m->place + 4 * i);
    if (!m->fresh) {
        RH_TRY(map_links(s, status));
        return find_neighbours(s, status);
    }
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++) {
        memcpy(m->origin + 4 * i, m->place + 4 * i, 3 * sizeof(float));
        rh_ep_metric_of(s->pattern + 9 * i, m->metric + 8 * i);
        s->slot[i] = (int32_t)i + 1;
    }
    find_reach(s);
    RH_TRY(find_neighbours(s, status));
    RH_TRY(rh_ep_links_make(&s->me->links, m, status));
    m->links = s->me->links.kept;
    return RH_OK;
}

static bool any_liquid(const rh_ep_matter *m)
{
    bool any = false;
    for (int64_t i = 0; i < m->count && !any; i++) any = m->moduli[i].bulk > 0;
    return any;
}

// Can a thin solid be between this one and one that it would be linked with, if links were made now?
static bool has_thin_near(const rh_ep_step *s, int64_t i, rh_vec3 x)
{
    const rh_obstacles *solids = s->around->obstacles_after;
    rh_dvec3 at = rh_d3_from(x);
    rh_thin_list list;
    if (s->matter.dimension == 2) at.z = 0;
    rh_thin_near(solids, at, (double)(WIDEST * s->matter.kernel->support), &list);
    if (list.count == 0) return false;
    double reach = (double)rh_ep_reach_of(&s->matter, s->state.deformation + 9 * i);
    rh_thin_near(solids, at, reach + 0.5 * (double)s->matter.kernel->support, &list);
    return list.count > 0;
}

// While a thin solid can be between two links are made anew in every step: knives cut them. A knife that only waits
// somewhere over the matter must not do that, as matter whose links are renewed all the time tears by itself.
static bool any_thin_near(const rh_ep_step *s)
{
    const rh_vec3 *x = rh_points_data(s->points, "P", RH_POINT_VEC3F);
    int64_t count = 0;
    if (!s->around->obstacles_after->any_thin) return false;
#pragma omp parallel for schedule(static) reduction(+ : count)
    for (int64_t i = 0; i < s->matter.count; i++) count += has_thin_near(s, i, x[i]);
    return count > 0;
}

// Is the deformation since links were made, `f`, so large, or has so much flowed, that they say little?
static bool is_worn(const rh_ep_step *s, int64_t i, const float f[9])
{
    float square = 0;
    for (int n = 0; n < 9; n++) square += f[n] * f[n];
    if (s->matter.lean[4 * i + 3] < RH_EP_FADES * s->matter.around) return false;  // crumbs
    return s->state.flowed[i] > FLOWED || square > LONGEST || rh_matrix_determinant(f) < SMALLEST;
}

// F of the links at the end of the step; false: turned inside out.
static bool since_after(const rh_ep_matter *m, int64_t i, float f[9])
{
    float before[9], last[9];
    if (!(rh_matrix_invert(m->since + 9 * i, before) > 0)) return false;
    for (int n = 0; n < 9; n++) last[n] = m->gradient[9 * i + n] + (n % 4 == 0);
    rh_matrix_times(last, before, f);
    return true;
}

void rh_ep_renew_links(rh_ep_step *s)
{
    rh_ep_matter *m = &s->matter;
    const rh_vec3 *x = rh_points_data(s->points, "P", RH_POINT_VEC3F);
    int reference = s->me->params->reference;
    int64_t worn = 0;
    if (reference == RH_EP_START) return;
#pragma omp parallel for schedule(static) reduction(+ : worn)
    for (int64_t i = 0; i < m->count; i++) {
        float f[9];
        worn += !since_after(m, i, f) || is_worn(s, i, f);
    }
    if (worn == 0 && reference == RH_EP_KEPT && !any_liquid(m) && !any_thin_near(s) &&
        (m->fresh || !rh_ep_links_missing(m)))
        return;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->count; i++)
        renew_one(s, i, (const float[3]){x[i].x, x[i].y, m->dimension == 2 ? 0 : x[i].z});
}
