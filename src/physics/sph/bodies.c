// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Products with K, its transpose and the masses of the solids. Loops over holds are serial: they are as many as
// particles beside dynamic solids, and sums keep their order.
#include "physics/sph/bodies.h"

#include <math.h>
#include <string.h>
#include "solve/dense.h"

enum { PARTS = RH_DYNAMICS_PARTS, SQUARE = PARTS * PARTS };

// --- who feels whom --------------------------------------------------------------------------------------------------
// The rows of particle i, solid by solid in the order in which its samples come; counts only where `out` is NULL.
static uint32_t hold_one(const rh_sph_bodies *b, const rh_sph_fluid *f, int64_t i, rh_sph_hold *out)
{
    enum { MOST = 8 };  // solids around one particle; more are not felt
    int32_t solids[MOST];
    uint32_t count = 0;
    RH_SPH_EACH(f->lists->walls, i, near)
    {
        rh_sph_pairs p = rh_sph_pairs_of(f->kernel, f->place + 4 * i, f->walls->place, near);
        rh_f8 w = f->kernel->mirror * p.number * p.slope;
        for (int n = 0; n < 8; n++) {
            uint32_t s = near[n];
            int solid = s == f->lists->walls.nobody ? -1 : b->dynamics->of_obstacle[f->walls->solid[s]];
            if (solid < 0 || b->dynamics->held[solid]) continue;
            uint32_t k = 0;
            while (k < count && solids[k] != solid) k++;
            if (k == MOST) continue;
            if (k == count) {
                solids[count++] = solid;
                if (out) out[k] = (rh_sph_hold){.particle = (uint32_t)i, .solid = solid};
            }
            if (!out) continue;
            rh_vec3 at = f->walls->anchor[s];
            rh_dvec3 center = b->dynamics->start->items[f->walls->solid[s]].origin;
            float x = (float)(at.x - center.x), y = (float)(at.y - center.y), z = (float)(at.z - center.z);
            float fx = w[n] * p.x[n], fy = w[n] * p.y[n], fz = w[n] * p.z[n], *row = out[k].row;
            row[0] += fx, row[1] += fy, row[2] += fz;
            row[3] += y * fz - z * fy, row[4] += z * fx - x * fz, row[5] += x * fy - y * fx;
        }
    }
    return count;
}

rh_code rh_sph_bodies_find(rh_sph_bodies *b, const rh_sph_fluid *f, rh_dynamics *d, double mass, rh_arena *arena,
                           rh_status *status)
{
    *b = (rh_sph_bodies){.dynamics = d && d->count > 0 && d->start ? d : NULL, .mass = mass};
    if (!b->dynamics || f->lists->walls.first[f->count] == 0) return b->dynamics = NULL, RH_OK;
    size_t parts = (size_t)(PARTS * d->count) * sizeof(double);
    b->impulse = rh_arena_take_zero(arena, parts, status);
    b->change = rh_arena_take_zero(arena, parts, status);
    b->inverse = rh_arena_take_zero(arena, PARTS * parts, status);
    uint32_t *first = rh_arena_take(arena, ((size_t)f->count + 1) * sizeof *first, status);
    if (!b->impulse || !b->change || !b->inverse || !first) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < f->count; i++) first[i] = hold_one(b, f, i, NULL);
    uint32_t sum = 0;
    for (int64_t i = 0; i < f->count; i++) {
        uint32_t own = first[i];
        first[i] = sum;
        sum += own;
    }
    first[f->count] = sum;
    if (sum == 0) return b->dynamics = NULL, RH_OK;
    b->count = sum;
    b->holds = rh_arena_take(arena, (size_t)b->count * sizeof *b->holds, status);
    if (!b->holds) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 512)
    for (int64_t i = 0; i < f->count; i++)
        if (first[i] < first[i + 1]) hold_one(b, f, i, b->holds + first[i]);
    return RH_OK;
}

void rh_sph_bodies_scale(rh_sph_bodies *b, const float *factor)
{
    if (!b->dynamics) return;
    for (int64_t n = 0; n < b->count; n++)
        for (int k = 0; k < PARTS; k++) b->holds[n].row[k] *= factor[b->holds[n].particle];
}

// --- products --------------------------------------------------------------------------------------------------------
// impulse = scale K^T x.
static void gather(const rh_sph_bodies *b, double scale, const float *x)
{
    memset(b->impulse, 0, (size_t)(PARTS * b->dynamics->count) * sizeof *b->impulse);
    for (int64_t n = 0; n < b->count; n++) {
        const rh_sph_hold *h = &b->holds[n];
        double value = scale * (double)x[h->particle], *to = b->impulse + (int64_t)PARTS * h->solid;
        for (int k = 0; k < PARTS; k++) to[k] += value * (double)h->row[k];
    }
}

static double row_times(const rh_sph_hold *h, const double *six)
{
    double sum = 0;
    for (int k = 0; k < PARTS; k++) sum += (double)h->row[k] * six[(int64_t)PARTS * h->solid + k];
    return sum;
}

void rh_sph_bodies_add(const rh_sph_bodies *b, double share, const float *x, const uint8_t *unknown, float *y)
{
    if (!b->dynamics) return;
    gather(b, share * b->mass, x);
    rh_dynamics_respond(b->dynamics, b->impulse, b->change);
    for (int64_t n = 0; n < b->count; n++) {
        const rh_sph_hold *h = &b->holds[n];
        if (unknown[h->particle]) y[h->particle] += (float)row_times(h, b->change);
    }
}

double rh_sph_bodies_own(const rh_sph_bodies *b, int64_t n)
{
    const rh_sph_hold *h = &b->holds[n];
    const double *inverse = b->dynamics->inverse + (int64_t)SQUARE * h->solid;
    double sum = 0;
    for (int i = 0; i < PARTS; i++)
        for (int j = 0; j < PARTS; j++) sum += inverse[PARTS * i + j] * (double)h->row[i] * (double)h->row[j];
    return b->mass * sum;
}

void rh_sph_bodies_prepare(const rh_sph_bodies *b, double share, const float *inverse)
{
    if (!b->dynamics) return;
    rh_dynamics_masses(b->dynamics, NULL, b->inverse);
    for (int k = 0; k < SQUARE * b->dynamics->count; k++) b->inverse[k] /= share * b->mass;
    for (int64_t n = 0; n < b->count; n++) {
        const rh_sph_hold *h = &b->holds[n];
        double *block = b->inverse + (int64_t)SQUARE * h->solid, weight = (double)inverse[h->particle];
        for (int i = 0; i < PARTS; i++)
            for (int j = 0; j < PARTS; j++) block[PARTS * i + j] += weight * (double)h->row[i] * (double)h->row[j];
    }
    for (int s = 0; s < b->dynamics->count; s++) {
        double *block = b->inverse + (int64_t)SQUARE * s, all[SQUARE];
        memcpy(all, block, sizeof all);
        rh_symmetric_inverse(all, PARTS, block);
    }
}

void rh_sph_bodies_precondition(const rh_sph_bodies *b, const float *inverse, float *z)
{
    if (!b->dynamics) return;
    gather(b, 1, z);
    for (int s = 0; s < b->dynamics->count; s++)
        for (int i = 0; i < PARTS; i++) {
            double sum = 0;
            for (int j = 0; j < PARTS; j++) sum += b->inverse[SQUARE * s + PARTS * i + j] * b->impulse[PARTS * s + j];
            b->change[PARTS * s + i] = sum;
        }
    for (int64_t n = 0; n < b->count; n++) {
        const rh_sph_hold *h = &b->holds[n];
        z[h->particle] -= inverse[h->particle] * (float)row_times(h, b->change);
    }
}

double rh_sph_bodies_error(const rh_sph_bodies *b, const float *r, float dt, const uint8_t *unknown, int looks)
{
    enum { MOST_LOOKS = 50 };
    static const double PART = 0.1;
    double sum = 0, count = 0;
    if (!b->dynamics || looks > MOST_LOOKS) return 0;
    for (int64_t n = 0; n < b->count; n++) {
        uint32_t i = b->holds[n].particle;
        if (unknown[i]) sum += fabs((double)r[i]), count++;
    }
    return count > 0 ? PART * sum / count * (double)dt * (double)dt : 0;
}

// --- between two pressures -------------------------------------------------------------------------------------------
void rh_sph_walls_follow(const rh_sph_walls *walls, const rh_dynamics *d, const double *change, float *spin)
{
    for (uint32_t s = 0; s < walls->count; s++) {
        int solid = d->of_obstacle[walls->solid[s]];
        if (solid < 0) continue;
        const double *v = change + (int64_t)PARTS * solid;
        rh_dvec3 r = rh_d3_sub(rh_d3_from(walls->anchor[s]), d->start->items[walls->solid[s]].origin);
        const double faster[3] = {v[0] + v[4] * r.z - v[5] * r.y, v[1] + v[5] * r.x - v[3] * r.z,
                                  v[2] + v[3] * r.y - v[4] * r.x};
        for (int k = 0; k < 3; k++) walls->flow[4 * (uint64_t)s + k] += (float)faster[k];
    }
    for (int n = 0; spin && n < d->count; n++)
        for (int k = 0; k < 3; k++) spin[3 * d->items[n].obstacle + k] += (float)change[PARTS * n + 3 + k];
}

void rh_sph_bodies_find_push(const rh_sph_bodies *b, const float *x)
{
    if (b->dynamics) gather(b, -b->mass, x);
}

void rh_sph_bodies_push(const rh_sph_bodies *b, const rh_sph_walls *walls, double time, float *spin)
{
    if (!b->dynamics) return;
    int count = PARTS * b->dynamics->count;
    for (int k = 0; k < count; k++) b->inverse[k] = time * b->impulse[k];
    rh_dynamics_respond(b->dynamics, b->inverse, b->change);
    rh_sph_walls_follow(walls, b->dynamics, b->change, spin);
    rh_dynamics_give(b->dynamics, b->inverse, true);
}

// --- the end of a solve ----------------------------------------------------------------------------------------------
// Contacts have been found for the solids as they came in (rh_dynamics_touch): pressure may have pressed some together.
// Nothing answers these impulses in this step, so masses are the solids' own.
static rh_code touch_again(const rh_sph_bodies *b, rh_arena *arena, rh_status *status)
{
    rh_dynamics *d = b->dynamics;
    if (d->contacts.count == 0) return RH_OK;
    double *masses = rh_arena_take(arena, (size_t)(SQUARE * d->count) * sizeof *masses, status);
    if (!masses) return RH_MEMORY;
    rh_dynamics_masses(d, NULL, masses);
    if (rh_dynamics_touch_again(d, masses, b->impulse)) {
        rh_dynamics_strike(d, b->impulse);
        rh_dynamics_arrive(d);
    }
    return RH_OK;
}

rh_code rh_sph_bodies_give(const rh_sph_bodies *b, const float *x, double dt, rh_arena *arena, rh_status *status)
{
    if (!b->dynamics) return RH_OK;
    gather(b, -b->mass * dt, x);
    rh_dynamics_give(b->dynamics, b->impulse, true);
    return touch_again(b, arena, status);
}
