// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Preconditioner: as that of the grid methods (physics/viscous_solids.c, which gives the reasons): with B the liquid's,
// G = -f R C and W = B G, the liquid's answer to impulses,
//      | B + W S W^T    -W S |
//      | -S W^T          S   |      S: inverse of C + C f R^T R C - W^T G - G^T W + W^T A W, solid by solid.
#include "physics/sph/viscous_bodies.h"

#include <string.h>
#include "physics/sph/bodies.h"
#include "solve/dense.h"

enum { PARTS = RH_DYNAMICS_PARTS, SQUARE = PARTS * PARTS };

int64_t rh_sph_viscous_bodies_size(const rh_sph_viscous_bodies *b)
{
    return rh_sph_viscous_size(b->a) + (b->dynamics ? PARTS * b->dynamics->count : 0);
}

static int dynamic_of(const rh_sph_viscous_bodies *b, uint32_t sample)
{
    return b->dynamics->of_obstacle[b->a->fluid->walls->solid[sample]];
}

// Counts the contacts, and lists them where there is room.
static int64_t list_contacts(const rh_sph_viscous_bodies *b, const rh_obstacles *solids, rh_sph_viscous_contact *out)
{
    const rh_sph_viscous *a = b->a;
    const rh_sph_fluid *f = a->fluid;
    int64_t count = 0;
    for (int64_t i = 0; i < f->count; i++) {
        if (a->friction[i] == 0 || (a->fixed && a->fixed[i])) continue;
        float scale = a->how->law.wall * a->how->time * f->place[4 * i + 3],
              close = rh_sph_viscous_near_walls(f, &a->how->law, a->how->grip, i);
        RH_SPH_EACH(f->lists->walls, i, near)
        {
            rh_sph_pairs p = rh_sph_pairs_of(f->kernel, f->place + 4 * i, f->walls->place, near);
            rh_f8 w = scale * p.number * rh_sph_viscous_weight(&a->how->law, p.distance);
            for (int n = 0; n < 8; n++) {
                uint32_t s = near[n];
                if (s == f->lists->walls.nobody || !(w[n] > 0) || dynamic_of(b, s) < 0) continue;
                float friction = w[n] * rh_sph_viscous_grip(a->how->grip[f->walls->solid[s]], close);
                if (friction == 0) continue;
                rh_dvec3 center = solids->items[f->walls->solid[s]].origin;
                const float *at = f->place + 4 * i;
                if (out)
                    out[count] = (rh_sph_viscous_contact){
                        i,
                        s,
                        dynamic_of(b, s),
                        friction,
                        {(float)(at[0] - center.x), (float)(at[1] - center.y), (float)(at[2] - center.z)}};
                count++;
            }
        }
    }
    return count;
}

rh_code rh_sph_viscous_bodies_find(rh_sph_viscous_bodies *b, const rh_sph_viscous *a, rh_arena *arena,
                                   rh_status *status)
{
    rh_dynamics *d = a->how->grip ? a->how->dynamics : NULL;
    *b = (rh_sph_viscous_bodies){.a = a, .dynamics = d && d->count > 0 && d->start ? d : NULL, .mass = a->how->mass};
    if (!b->dynamics) return RH_OK;
    b->count = list_contacts(b, d->start, NULL);
    if (b->count == 0) return b->dynamics = NULL, RH_OK;
    size_t parts = (size_t)(PARTS * d->count) * sizeof(double);
    b->contacts = rh_arena_take(arena, (size_t)b->count * sizeof *b->contacts, status);
    b->impulse = rh_arena_take_zero(arena, parts, status);
    b->velocity = rh_arena_take_zero(arena, parts, status);
    b->force = rh_arena_take_zero(arena, parts, status);
    b->inverse = rh_arena_take_zero(arena, PARTS * parts, status);
    if (!b->contacts || !b->impulse || !b->velocity || !b->force || !b->inverse) return RH_MEMORY;
    list_contacts(b, d->start, b->contacts);
    return RH_OK;
}

// change = C impulse.
static void respond(const rh_sph_viscous_bodies *b, const double *impulse, double *change)
{
    rh_dynamics_respond(b->dynamics, impulse, change);
    for (int k = 0; k < PARTS * b->dynamics->count; k++) change[k] *= b->mass;
}

// The velocity of the wall at a contact, and the transpose: force[6] += R^T f.
static void velocity_at(const rh_sph_viscous_contact *c, const double *all, double out[3])
{
    const double *v = all + (int64_t)PARTS * c->solid, x = c->arm[0], y = c->arm[1], z = c->arm[2];
    out[0] = v[0] + v[4] * z - v[5] * y, out[1] = v[1] + v[5] * x - v[3] * z, out[2] = v[2] + v[3] * y - v[4] * x;
}
static void add_force(const rh_sph_viscous_contact *c, const double f[3], double *all)
{
    double *to = all + (int64_t)PARTS * c->solid, x = c->arm[0], y = c->arm[1], z = c->arm[2];
    for (int k = 0; k < 3; k++) to[k] += f[k];
    to[3] += y * f[2] - z * f[1], to[4] += z * f[0] - x * f[2], to[5] += x * f[1] - y * f[0];
}

// Velocities (over C) of the solids act on the liquid, y -= f R V; force = sum f R^T (R V - u), of u where given.
static void rub(const rh_sph_viscous_bodies *b, const double *velocity, const float *u, float *y, double *force)
{
    memset(force, 0, (size_t)(PARTS * b->dynamics->count) * sizeof *force);
    for (int64_t n = 0; n < b->count; n++) {
        const rh_sph_viscous_contact *c = &b->contacts[n];
        double wall[3], part[3], friction = c->friction;
        velocity_at(c, velocity, wall);
        for (int k = 0; k < 3; k++) {
            part[k] = friction * (wall[k] - (u ? (double)u[4 * c->particle + k] : 0));
            y[4 * c->particle + k] -= (float)(friction * wall[k]);
        }
        add_force(c, part, force);
    }
}

void rh_sph_viscous_bodies_apply(const rh_sph_viscous_bodies *b, const float *x, float *y)
{
    if (!b->dynamics) return;
    int64_t size = rh_sph_viscous_size(b->a);
    int count = PARTS * b->dynamics->count;
    for (int k = 0; k < count; k++) b->impulse[k] = (double)x[size + k];
    respond(b, b->impulse, b->velocity);
    rub(b, b->velocity, x, y, b->force);
    for (int k = 0; k < count; k++) b->impulse[k] += b->force[k];
    respond(b, b->impulse, b->velocity);
    for (int k = 0; k < count; k++) y[size + k] = (float)b->velocity[k];
}

void rh_sph_viscous_bodies_begin(const rh_sph_viscous_bodies *b, float *right)
{
    if (!b->dynamics) return;
    int count = PARTS * b->dynamics->count;
    memset(b->force, 0, (size_t)count * sizeof *b->force);
    for (int64_t n = 0; n < b->count; n++) {
        const rh_sph_viscous_contact *c = &b->contacts[n];
        const rh_sph_fluid *f = b->a->fluid;
        float u[3];
        double part[3];
        rh_sph_wall_velocity(f->walls, c->sample, b->a->how->spin + 3 * f->walls->solid[c->sample],
                             f->place + 4 * c->particle, u);
        for (int k = 0; k < 3; k++) part[k] = -(double)(c->friction * u[k]);
        add_force(c, part, b->force);
    }
    respond(b, b->force, b->velocity);
    for (int k = 0; k < count; k++) right[rh_sph_viscous_size(b->a) + k] = (float)b->velocity[k];
}

static double dot(int64_t size, const float *x, const float *y)
{
    double sum = 0;
    for (int64_t i = 0; i < size; i++) sum += (double)x[i] * (double)y[i];
    return sum;
}

// Column k of the lower right block, and of the upper right one into `pull`.
static void find_column(const rh_sph_viscous_bodies *b, int k, float *pull, double *block)
{
    int first = k / PARTS * PARTS;
    memset(b->impulse, 0, (size_t)(PARTS * b->dynamics->count) * sizeof *b->impulse);
    b->impulse[k] = 1;
    respond(b, b->impulse, b->velocity);
    rub(b, b->velocity, NULL, pull, b->force);
    for (int j = 0; j < PARTS * b->dynamics->count; j++) b->force[j] += b->impulse[j];
    respond(b, b->force, b->velocity);
    for (int j = 0; j < PARTS; j++) block[PARTS * j + k - first] = b->velocity[first + j];
}

static rh_code prepare_solid(rh_sph_viscous_bodies *b, int solid, const rh_operator *m, float *const pull[PARTS],
                             float *product)
{
    int64_t size = m->size;
    float *const *answer = b->answer + (int64_t)PARTS * solid;
    double block[SQUARE];
    for (int j = 0; j < PARTS; j++) {
        memset(pull[j], 0, (size_t)size * sizeof(float));
        find_column(b, PARTS * solid + j, pull[j], block);
        m->apply(m->user, pull[j], answer[j]);
    }
    for (int j = 0; j < PARTS; j++) {
        rh_sph_viscous_apply(b->a, answer[j], product);
        for (int i = 0; i < PARTS; i++)
            block[PARTS * i + j] += dot(size, answer[i], product) - dot(size, pull[i], answer[j]) -
                                    dot(size, pull[j], answer[i]);
    }
    rh_symmetric_inverse(block, PARTS, b->inverse + (int64_t)SQUARE * solid);
    return RH_OK;
}

rh_code rh_sph_viscous_bodies_prepare(rh_sph_viscous_bodies *b, const rh_operator *m, rh_arena *arena,
                                      rh_status *status)
{
    if (!b->dynamics) return RH_OK;
    size_t bytes = ((size_t)m->size + 32) * sizeof(float);
    int count = PARTS * b->dynamics->count;
    float *pull[PARTS], *product = rh_arena_take_zero(arena, bytes, status);
    b->answer = rh_arena_take_zero(arena, (size_t)count * sizeof *b->answer, status);
    if (!b->answer || !product) return RH_MEMORY;
    for (int k = 0; k < count; k++)
        if (!(b->answer[k] = rh_arena_take_zero(arena, bytes, status))) return RH_MEMORY;
    for (int j = 0; j < PARTS; j++)
        if (!(pull[j] = rh_arena_take_zero(arena, bytes, status))) return RH_MEMORY;
    for (int solid = 0; solid < b->dynamics->count; solid++) RH_TRY(prepare_solid(b, solid, m, pull, product));
    return RH_OK;
}

void rh_sph_viscous_bodies_precondition(const rh_sph_viscous_bodies *b, const rh_operator *m, const float *r, float *z)
{
    int64_t size = m->size;
    m->apply(m->user, r, z);
    if (!b->dynamics) return;
    int count = PARTS * b->dynamics->count;
    for (int k = 0; k < count; k++) b->force[k] = (double)r[size + k] - dot(size, b->answer[k], r);
    for (int k = 0; k < count; k++) {
        double sum = 0;
        for (int j = 0; j < PARTS; j++) sum += b->inverse[PARTS * k + j] * b->force[k / PARTS * PARTS + j];
        z[size + k] = (float)sum;
        const float *answer = b->answer[k];
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < size; i++) z[i] -= (float)sum * answer[i];
    }
}

void rh_sph_viscous_bodies_give(const rh_sph_viscous_bodies *b, const float *x)
{
    if (!b->dynamics) return;
    int count = PARTS * b->dynamics->count;
    for (int k = 0; k < count; k++) b->impulse[k] = (double)x[rh_sph_viscous_size(b->a) + k];
    respond(b, b->impulse, b->velocity);
    rh_sph_walls_follow(b->a->fluid->walls, b->dynamics, b->velocity, b->a->how->spin);
    for (int k = 0; k < count; k++) b->impulse[k] *= b->mass;
    rh_dynamics_give(b->dynamics, b->impulse, true);
}
