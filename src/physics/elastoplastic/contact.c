// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Contact acts on velocities, places follow from them: so a deformation sees the way that particles really went, and
// what rests on a slope does not creep by what gravity moves it before friction takes the velocity. A particle that is
// nearer than half a spacing at the start of a step (seeded there, squeezed) may stay, but comes no nearer: pushed out
// to the full distance at once it would leave with a velocity that depends on the step.
//
// Friction is Coulomb's with the wall's coefficient; walls without slip hold what is pressed to them, and with `tack`
// what rests on them as long as the tension of the matter across the wall is less. (The force on the particle, which
// was compared before, is the tension of a layer only in the mean: of single particles it is several times as much, and
// one that was let go once never came back, so a hand did not hold dough by ten times the stress it flows at.)
#include "physics/elastoplastic/contact.h"

#include <math.h>
#include "physics/sph_contact.h"

static const double GAP = 0.5;      // spacings
static const double NEAREST = 0.1;  // spacings: closer than that nobody stays
static const double CLEAR = 1.2;    // spacings: who sees no wall sample is farther from walls
enum { ROUNDS = 3 };

static rh_dvec3 end_of(const rh_ep_contact *c, int64_t i, rh_vec3 v)
{
    rh_dvec3 x = rh_d3_from(c->start[i]);
    x = rh_d3_add(x, rh_d3_scale(rh_d3_from(v), c->dt));
    if (c->around->dimension == 2) x.z = (double)c->start[i].z;
    return x;
}

static double tension(const float t[6], rh_dvec3 n)
{
    return n.x * ((double)t[0] * n.x + 2 * ((double)t[3] * n.y + (double)t[4] * n.z)) +
           n.y * ((double)t[1] * n.y + 2 * (double)t[5] * n.z) + n.z * (double)t[2] * n.z;
}

rh_ep_touch rh_ep_touch_of(const rh_ep_contact *c, int64_t i, rh_vec3 v)
{
    const rh_obstacles *after = c->around->obstacles_after;
    rh_ep_touch t = {.which = -1};
    rh_dvec3 x = end_of(c, i, v);
    double gap = GAP * c->spacing, distance = rh_obstacles_distance(after, x, &t.which);
    if (t.which < 0) return t;
    double before = rh_obstacles_distance_of(c->around->obstacles, &t.which, 1, rh_d3_from(c->start[i]), NULL);
    bool sticky = after->items[t.which].wall == RH_WALL_NO_SLIP && c->tack > 0 && before < 1.02 * gap;
    double least = fmin(gap, fmax(before, NEAREST * c->spacing));
    if (distance >= least && !sticky) return t.which = -1, t;
    t.normal = rh_obstacles_normal(after, t.which, x);
    if (c->around->dimension == 2) t.normal.z = 0;
    t.normal = rh_d3_unit(t.normal);
    t.sticks = sticky && tension(c->stress + 6 * i, t.normal) < (double)c->tack;
    if (distance >= least && !t.sticks) return t.which = -1, t;
    t.wall = rh_obstacles_velocity(after, t.which, x);
    t.least = rh_d3_dot(rh_d3_from(v), t.normal) + (least - distance) / c->dt;
    return t;
}

rh_vec3 rh_ep_touched(const rh_ep_contact *c, const rh_ep_touch *t, rh_vec3 velocity)
{
    const rh_obstacle *solid = &c->around->obstacles_after->items[t->which];
    rh_dvec3 v = rh_d3_from(velocity);
    if (t->sticks) return rh_v3_from(t->wall);
    double press = t->least - rh_d3_dot(v, t->normal);
    if (press <= 0) return velocity;
    v = rh_d3_add(v, rh_d3_scale(t->normal, press));
    rh_dvec3 slip = rh_d3_sub(v, t->wall);
    slip = rh_d3_sub(slip, rh_d3_scale(t->normal, rh_d3_dot(slip, t->normal)));
    double speed = rh_d3_length(slip);
    bool holds = solid->wall == RH_WALL_NO_SLIP;
    if (speed > 0) v = rh_d3_sub(v, rh_d3_scale(slip, holds ? 1 : fmin(1, press * solid->friction / speed)));
    return rh_v3_from(v);
}

static void meet(const rh_ep_contact *c, int64_t i, rh_vec3 *place, rh_vec3 *velocity)
{
    for (int n = 0; n < ROUNDS; n++) {
        rh_ep_touch t = rh_ep_touch_of(c, i, *velocity);
        if (t.which < 0) return;
        float z = velocity->z;
        *velocity = rh_ep_touched(c, &t, *velocity);
        if (c->around->dimension == 2) velocity->z = z;
        *place = rh_v3_from(end_of(c, i, *velocity));
    }
}

void rh_ep_contact_all(const rh_ep_contact *c, rh_vec3 *places, rh_vec3 *velocities)
{
    double walls = rh_obstacles_max_speed(c->around->obstacles) * c->dt, clear = (CLEAR - GAP) * c->spacing;
    if (c->around->obstacles->count == 0) return;
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < c->count; i++) {
        double way = (double)rh_v3_length(rh_v3_sub(places[i], c->start[i]));
        if ((c->covered[i] == 0 && way + walls < clear) || (c->held && c->held[i])) continue;
        meet(c, i, &places[i], &velocities[i]);
    }
    const rh_sph_contact_options last = {.count = c->count,
                                         .covered = c->covered,
                                         .gap = NEAREST * c->spacing,
                                         .clear = CLEAR * c->spacing,
                                         .dt = c->dt};
    rh_sph_contact(c->around, &last, c->start, places, velocities);
}
