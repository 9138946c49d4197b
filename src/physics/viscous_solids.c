// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Preconditioner: with B the multigrid cycle and W = B A_uw R C, the liquid's answer to the impulses (about),
//
//      | B + W S W^T    -W S |
//      | -S W^T          S   |      S: inverse of C + C R^T A_ww R C - W^T G - G^T W + W^T A_uu W, G = A_uw R C,
//                                      solid by solid
//
// is the inverse of the whole matrix when B is that of A_uu; and as what S inverts is the energy of moving solid and
// liquid so, it is positive for any B. Thick liquid moves along with a solid, and how hard it is
// to move is the small difference in S: with the inverse of the lower right block alone in its place a ball of six
// cells in liquid of 1e6 Pa s took hundreds of iterations.
#include "physics/viscous_solids.h"

#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "solve/dense.h"

enum { PARTS = RH_DYNAMICS_PARTS, SQUARE = PARTS * PARTS };

const char *const rh_viscous_coupling_names[] = {"strong", "weak", "one_way", NULL};

int64_t rh_viscous_solids_size(const rh_viscous_solids *s)
{
    return rh_viscous_size(s->a) + PARTS * s->dynamics->count;
}

// change = C impulse, in units of the operator.
static void respond(const rh_viscous_solids *s, const double *impulse, double *change)
{
    rh_dynamics_respond(s->dynamics, impulse, change);
    for (int k = 0; k < PARTS * s->dynamics->count; k++) change[k] *= s->mass;
}

static double speed_of(const rh_viscous_face *f, const double *velocity)
{
    double u = 0;
    for (int k = 0; k < PARTS; k++) u += (double)f->row[k] * velocity[PARTS * f->solid + k];
    return u;
}

// Wall faces follow the solids; all others stay.
static void move_faces(const rh_viscous_solids *s, const double *velocity, float *all)
{
    for (int64_t n = 0; n < s->face_count; n++) {
        const rh_viscous_face *f = &s->faces[n];
        all[f->at] = (float)speed_of(f, velocity);
    }
}

// R^T of the values on wall faces, and what springs pull at solids of these velocities: k (R v - u).
static void gather(const rh_viscous_solids *s, const float *pull, const float *all, const double *velocity,
                   double *force)
{
    memset(force, 0, (size_t)(PARTS * s->dynamics->count) * sizeof *force);
    for (int64_t n = 0; n < s->face_count; n++) {
        const rh_viscous_face *f = &s->faces[n];
        for (int k = 0; k < PARTS; k++) force[PARTS * f->solid + k] += (double)f->row[k] * (double)pull[f->at];
    }
    for (int64_t n = 0; n < s->spring_count; n++) {
        const rh_viscous_face *f = &s->springs[n];
        double stretch = (double)f->spring * (speed_of(f, velocity) - (double)all[f->at]);
        for (int k = 0; k < PARTS; k++) force[PARTS * f->solid + k] += (double)f->row[k] * stretch;
    }
}

// Stress on all faces, of these velocities there and of the solids. The part k u of springs is in the operator's
// masses.
static void pull_all(const rh_viscous_solids *s, const float *all, const double *velocity, float *pull)
{
    rh_viscous_pull(s->a, all, pull);
    for (int64_t n = 0; n < s->spring_count; n++)
        pull[s->springs[n].at] -= s->springs[n].spring * (float)speed_of(&s->springs[n], velocity);
}

static void keep_unknowns(const rh_viscous *a, float *y)
{
    for (int d = 0; d < a->tiles.dimension; d++) {
        const float *inverse = a->inverse[d];
        float *to = y + d * a->lane;
#pragma omp parallel for schedule(static)
        for (int64_t c = 0; c < a->lane; c++) to[c] = inverse[c] > 0 ? to[c] : 0;
    }
}

void rh_viscous_solids_apply(void *solids, const float *x, float *y)
{
    const rh_viscous_solids *s = solids;
    int64_t size = rh_viscous_size(s->a);
    int count = PARTS * s->dynamics->count;
    for (int k = 0; k < count; k++) s->impulse[k] = (double)x[size + k];
    respond(s, s->impulse, s->velocity);
    memcpy(s->all, x, (size_t)size * sizeof *x);
    move_faces(s, s->velocity, s->all);
    pull_all(s, s->all, s->velocity, y);
    gather(s, y, s->all, s->velocity, s->force);
    keep_unknowns(s->a, y);
    for (int k = 0; k < count; k++) s->impulse[k] += s->force[k];
    respond(s, s->impulse, s->velocity);
    for (int k = 0; k < count; k++) y[size + k] = (float)s->velocity[k];
}

static double dot(int64_t size, const float *x, const float *y)
{
    double sum = 0;  // eight sums, so that the compiler may take them at once
    double part[8] = {0};
    for (int64_t i = 0; i + 8 <= size; i += 8)
        for (int n = 0; n < 8; n++) part[n] += (double)x[i + n] * (double)y[i + n];
    for (int n = 0; n < 8; n++) sum += part[n];
    return sum;
}

void rh_viscous_solids_precondition(void *solids, const float *r, float *z)
{
    const rh_viscous_solids *s = solids;
    int64_t size = rh_viscous_size(s->a);
    int count = PARTS * s->dynamics->count;
    s->m.apply(s->m.user, r, z);
    for (int k = 0; k < count; k++) {
        s->force[k] = (double)r[size + k];
        if (s->answer && s->answer[k]) s->force[k] -= dot(size, s->answer[k], r);
    }
    for (int k = 0; k < count; k++) {
        double sum = 0;
        for (int j = 0; j < PARTS; j++) sum += s->inverse[PARTS * k + j] * s->force[k / PARTS * PARTS + j];
        z[size + k] = (float)sum;
        if (!s->answer || !s->answer[k]) continue;
        const float *answer = s->answer[k];
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < size; i++) z[i] -= (float)sum * answer[i];
    }
}

void rh_viscous_solids_begin(const rh_viscous_solids *s, const float *pull, const float *velocities, float *b)
{
    gather(s, pull, velocities, s->dynamics->velocity, s->force);
    respond(s, s->force, s->velocity);
    for (int k = 0; k < PARTS * s->dynamics->count; k++) b[rh_viscous_size(s->a) + k] = (float)-s->velocity[k];
}

void rh_viscous_solids_push(const rh_viscous_solids *s, const double *impulse, float *b)
{
    rh_dynamics_respond(s->dynamics, impulse, s->velocity);
    for (int k = 0; k < PARTS * s->dynamics->count; k++) b[k] = (float)s->velocity[k];
}

void rh_viscous_solids_give(const rh_viscous_solids *s, const float *x, float *velocities)
{
    int count = PARTS * s->dynamics->count;
    for (int k = 0; k < count; k++) s->impulse[k] = (double)x[rh_viscous_size(s->a) + k];
    respond(s, s->impulse, s->velocity);
    for (int64_t n = 0; n < s->face_count; n++) {
        const rh_viscous_face *f = &s->faces[n];
        velocities[f->at] += (float)speed_of(f, s->velocity);
    }
    for (int k = 0; k < count; k++) s->impulse[k] *= s->mass;
    rh_dynamics_give(s->dynamics, s->impulse, true);
}

void rh_viscous_solids_follow(const rh_viscous_solids *s, const float *pull, const float *velocities)
{
    gather(s, pull, velocities, s->dynamics->velocity, s->force);
    respond(s, s->force, s->velocity);
    for (int k = 0; k < PARTS * s->dynamics->count; k++) {
        double sum = 0;
        for (int j = 0; j < PARTS; j++) sum -= s->inverse[PARTS * k + j] * s->velocity[k / PARTS * PARTS + j];
        s->impulse[k] = s->mass * sum;
    }
    rh_dynamics_give(s->dynamics, s->impulse, false);
}

void rh_viscous_solids_tell_springs(const rh_viscous_solids *s, float *const pulled[3])
{
    for (int64_t n = 0; n < s->spring_count; n++) {
        const rh_viscous_face *f = &s->springs[n];
        pulled[f->at / s->a->lane][f->at % s->a->lane] = f->spring * (float)speed_of(f, s->dynamics->velocity);
    }
}

// Column k of the lower right block less what the liquid's answer takes off it, of the same solid. Locked axes have
// none.
static void find_column(rh_viscous_solids *s, int k, float *pull, double *block)
{
    int count = PARTS * s->dynamics->count, first = k / PARTS * PARTS;
    int64_t size = rh_viscous_size(s->a);
    memset(s->impulse, 0, (size_t)count * sizeof *s->impulse);
    s->impulse[k] = 1;
    respond(s, s->impulse, s->velocity);
    memset(s->all, 0, (size_t)size * sizeof *s->all);
    move_faces(s, s->velocity, s->all);
    pull_all(s, s->all, s->velocity, pull);
    gather(s, pull, s->all, s->velocity, s->force);
    for (int j = 0; j < count; j++) s->force[j] += s->impulse[j];
    respond(s, s->force, s->velocity);
    for (int j = 0; j < PARTS; j++) block[PARTS * j + k - first] = s->velocity[first + j];
    keep_unknowns(s->a, pull);
}

// The liquid's answers to the impulses on one solid, and their work.
static void find_answers(rh_viscous_solids *s, int solid, float *const pulls[PARTS], double *block)
{
    int64_t size = rh_viscous_size(s->a);
    float *const *answer = s->answer + PARTS * solid;
    for (int j = 0; j < PARTS; j++) s->m.apply(s->m.user, pulls[j], answer[j]);
    for (int j = 0; j < PARTS; j++) {
        rh_viscous_apply(s->a, answer[j], s->all);
        for (int i = 0; i < PARTS; i++)
            block[PARTS * i + j] += dot(size, answer[i], s->all) - dot(size, pulls[i], answer[j]) -
                                    dot(size, pulls[j], answer[i]);
    }
}

static rh_code take_memory(rh_viscous_solids *s, bool answers, float *pulls[PARTS], rh_arena *arena, rh_status *status)
{
    size_t count = (size_t)(PARTS * s->dynamics->count) + 1;
    s->all = rh_viscous_vector(s->a, arena, status);
    s->impulse = rh_arena_take_zero(arena, count * sizeof(double), status);
    s->force = rh_arena_take_zero(arena, count * sizeof(double), status);
    s->velocity = rh_arena_take_zero(arena, count * sizeof(double), status);
    s->inverse = rh_arena_take_zero(arena, count * PARTS * sizeof(double), status);
    for (int j = 0; j < PARTS; j++) pulls[j] = rh_viscous_vector(s->a, arena, status);
    if (!s->all || !s->impulse || !s->force || !s->velocity || !s->inverse || !pulls[PARTS - 1]) return RH_MEMORY;
    if (!answers) return RH_OK;
    s->answer = rh_arena_take_zero(arena, count * sizeof *s->answer, status);
    for (int k = 0; s->answer && k < PARTS * s->dynamics->count; k++) {
        s->answer[k] = rh_viscous_vector(s->a, arena, status);
        if (!s->answer[k]) return RH_MEMORY;
    }
    return s->answer ? RH_OK : RH_MEMORY;
}

rh_code rh_viscous_solids_prepare(rh_viscous_solids *s, bool answers, rh_arena *arena, rh_status *status)
{
    float *pulls[PARTS];
    RH_TRY(take_memory(s, answers, pulls, arena, status));
    for (int solid = 0; solid < s->dynamics->count; solid++) {
        double block[SQUARE];
        for (int j = 0; j < PARTS; j++) find_column(s, PARTS * solid + j, pulls[j], block);
        if (s->answer) find_answers(s, solid, pulls, block);
        rh_symmetric_inverse(block, PARTS, s->inverse + SQUARE * solid);
    }
    return RH_OK;
}
