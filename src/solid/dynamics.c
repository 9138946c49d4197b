// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Newton's and Euler's equations with velocities half a step behind poses (leapfrog). Turns are quaternions, moved on
// by the exponential of the angular velocity of the step's middle; the state is angular momentum, so that a free solid
// keeps it to rounding (E. Hairer, C. Lubich, G. Wanner, "Geometric Numerical Integration", VII.5).
//
// What a material gives is found twice: its solve reckons with forces on faces, symmetric with how solids move the
// material, so that the two are solved together and no mass is too small; what its particles really lost is measured
// afterwards (world/wall_impulses.h). The difference, some per cent, is owed and given in the next step, where the
// solve answers it with all the inertia there is: a share of a share is left over, and so on, whatever the solid
// weighs.
#include "solid/dynamics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/assert.h"
#include "base/memory.h"
#include "solve/dense.h"

enum { PARTS = RH_DYNAMICS_PARTS, SQUARE = PARTS * PARTS };

// --- poses -----------------------------------------------------------------------------------------------------------
static rh_mat3 rotation_of(const double q[4])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    return (rh_mat3){{{1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)},
                      {2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)},
                      {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)}}};
}

static void turn_of(rh_mat3 r, double q[4])
{
    double trace = r.row[0].x + r.row[1].y + r.row[2].z;
    int most = 0;  // the largest part: 1 + trace, or 1 + 2 r_ii - trace
    double parts[4] = {1 + trace, 1 + 2 * r.row[0].x - trace, 1 + 2 * r.row[1].y - trace, 1 + 2 * r.row[2].z - trace};
    for (int k = 1; k < 4; k++)
        if (parts[k] > parts[most]) most = k;
    double yz = r.row[2].y, zy = r.row[1].z, zx = r.row[0].z, xz = r.row[2].x, xy = r.row[1].x, yx = r.row[0].y;
    const double all[4][4] = {{parts[0], yz - zy, zx - xz, xy - yx},
                              {yz - zy, parts[1], xy + yx, zx + xz},
                              {zx - xz, xy + yx, parts[2], yz + zy},
                              {xy - yx, zx + xz, yz + zy, parts[3]}};
    double scale = 0.5 / sqrt(parts[most]);
    for (int k = 0; k < 4; k++) q[k] = all[most][k] * scale;
}

static void turn_by(const double q[4], rh_dvec3 angle, double out[4])
{
    double length = rh_d3_length(angle), half = 0.5 * length, s = length > 1e-12 ? sin(half) / length : 0.5;
    double w = cos(half), x = s * angle.x, y = s * angle.y, z = s * angle.z, norm = 0;
    out[0] = w * q[0] - x * q[1] - y * q[2] - z * q[3];
    out[1] = w * q[1] + x * q[0] + y * q[3] - z * q[2];
    out[2] = w * q[2] + y * q[0] + z * q[1] - x * q[3];
    out[3] = w * q[3] + z * q[0] + x * q[2] - y * q[1];
    for (int k = 0; k < 4; k++) norm += out[k] * out[k];
    for (int k = 0; k < 4; k++) out[k] /= sqrt(norm);
}

static rh_pose pose_of(const rh_dynamic_solid *s, rh_dvec3 position, const double turn[4])
{
    return (rh_pose){rotation_of(turn), rh_d3_sub(position, s->mass.center), s->mass.center};
}

// --- masses ----------------------------------------------------------------------------------------------------------
static rh_mat3 inertia_of(const rh_dynamic_solid *s)
{
    rh_pose pose = pose_of(s, s->position, s->turn);
    return rh_mass_inertia(&s->mass, &pose);
}

// Of the solid alone, where it is. What cannot move has no mass here, which rh_symmetric_inverse leaves out.
static void mass_matrix(const rh_dynamic_solid *s, int dimension, double m[SQUARE])
{
    rh_mat3 inertia = inertia_of(s);
    memset(m, 0, SQUARE * sizeof *m);
    for (int a = 0; a < dimension; a++) m[a * PARTS + a] = s->mass.mass;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            if (dimension == 3 || (r == 2 && c == 2)) m[(3 + r) * PARTS + 3 + c] = (&inertia.row[r].x)[c];
}

static void multiply(const double *m, const double *x, double *y)
{
    for (int r = 0; r < PARTS; r++) {
        y[r] = 0;
        for (int c = 0; c < PARTS; c++) y[r] += m[r * PARTS + c] * x[c];
    }
}

static void invert(rh_dynamics *dynamics, int n)
{
    double mass[SQUARE];
    mass_matrix(&dynamics->items[n], dynamics->dimension, mass);
    for (int k = 0; k < SQUARE; k++) mass[k] += dynamics->attached[n * SQUARE + k];
    rh_symmetric_inverse(mass, PARTS, dynamics->inverse + n * SQUARE);
}

// --- making ----------------------------------------------------------------------------------------------------------
static void start(rh_dynamic_solid *s, const rh_obstacle *o, int index)
{
    *s = (rh_dynamic_solid){.obstacle = index, .mass = o->mass, .linear = o->linear};
    turn_of(o->pose.rotation, s->turn);
    s->position = rh_pose_to_world(&o->pose, o->mass.center);
    s->spin = rh_m3_mul(inertia_of(s), o->angular);
}

rh_code rh_dynamics_create(const rh_obstacles *obstacles, int dimension, rh_dynamics *out, rh_status *status)
{
    *out = (rh_dynamics){.dimension = dimension, .obstacle_count = obstacles->count};
    for (int i = 0; i < obstacles->count; i++) out->count += obstacles->items[i].kind == RH_SOLID_DYNAMIC;
    size_t room = (size_t)out->count + 1, six = room * PARTS * sizeof(double);
    out->items = rh_alloc_zero(room * sizeof *out->items, "dynamics", status);
    out->of_obstacle = rh_alloc_zero(((size_t)obstacles->count + 1) * sizeof *out->of_obstacle, "dynamics", status);
    out->velocity = rh_alloc_zero(six, "dynamics", status);
    out->begun = rh_alloc_zero(six, "dynamics", status);
    out->given = rh_alloc_zero(six, "dynamics", status);
    out->brought = rh_alloc_zero(six, "dynamics", status);
    out->attached = rh_alloc_zero(six * PARTS, "dynamics", status);
    out->inverse = rh_alloc_zero(six * PARTS, "dynamics", status);
    if (!out->items || !out->of_obstacle || !out->velocity || !out->begun || !out->given || !out->brought ||
        !out->attached || !out->inverse) {
        rh_dynamics_free(out);
        return RH_MEMORY;
    }
    for (int i = 0, n = 0; i < obstacles->count; i++) {
        bool dynamic = obstacles->items[i].kind == RH_SOLID_DYNAMIC;
        out->of_obstacle[i] = dynamic ? n : -1;
        if (dynamic) start(&out->items[n++], &obstacles->items[i], i);
    }
    return RH_OK;
}

void rh_dynamics_free(rh_dynamics *dynamics)
{
    rh_free(dynamics->items);
    rh_free(dynamics->of_obstacle);
    rh_free(dynamics->velocity);
    rh_free(dynamics->begun);
    rh_free(dynamics->given);
    rh_free(dynamics->brought);
    rh_free(dynamics->attached);
    rh_free(dynamics->inverse);
    *dynamics = (rh_dynamics){0};
}

// --- a step ----------------------------------------------------------------------------------------------------------
static rh_dvec3 linear_of(const rh_dynamics *dynamics, int n)
{
    return *(const rh_dvec3 *)(dynamics->velocity + n * PARTS);
}
static rh_dvec3 angular_of(const rh_dynamics *dynamics, int n)
{
    return *(const rh_dvec3 *)(dynamics->velocity + n * PARTS + 3);
}

static void set_velocities(const rh_dynamics *dynamics, rh_obstacles *obstacles)
{
    for (int n = 0; n < dynamics->count && obstacles; n++) {
        rh_obstacle *o = &obstacles->items[dynamics->items[n].obstacle];
        o->linear = linear_of(dynamics, n);
        o->angular = angular_of(dynamics, n);
        o->origin = rh_d3_add(o->pose.pivot, o->pose.translation);
    }
}

static void place_end(const rh_dynamics *dynamics)
{
    for (int n = 0; n < dynamics->count && dynamics->end; n++) {
        const rh_dynamic_solid *s = &dynamics->items[n];
        double turn[4];
        turn_by(s->turn, rh_d3_scale(angular_of(dynamics, n), dynamics->dt), turn);
        rh_dvec3 position = rh_d3_add(s->position, rh_d3_scale(linear_of(dynamics, n), dynamics->dt));
        dynamics->end->items[s->obstacle].pose = pose_of(s, position, turn);
    }
}

static void tell(const rh_dynamics *dynamics)
{
    place_end(dynamics);
    set_velocities(dynamics, dynamics->start);
    set_velocities(dynamics, dynamics->end);
}

void rh_dynamics_begin(rh_dynamics *dynamics, rh_dvec3 gravity, double kick)
{
    size_t six = (size_t)dynamics->count * PARTS * sizeof(double);
    memset(dynamics->given, 0, six);
    memset(dynamics->brought, 0, six);
    memset(dynamics->attached, 0, six * PARTS);
    dynamics->start = dynamics->end = NULL;
    for (int n = 0; n < dynamics->count; n++) {
        const rh_dynamic_solid *s = &dynamics->items[n];
        double mass[SQUARE], change[PARTS], *v = dynamics->velocity + n * PARTS;
        const double spin[PARTS] = {0, 0, 0, s->spin.x, s->spin.y, s->spin.z};
        mass_matrix(s, dynamics->dimension, mass);
        rh_symmetric_inverse(mass, PARTS, dynamics->inverse + n * SQUARE);
        multiply(dynamics->inverse + n * SQUARE, spin, v);
        for (int a = 0; a < dynamics->dimension; a++) v[a] += (&s->linear.x)[a] + kick * (&gravity.x)[a];
        multiply(dynamics->inverse + n * SQUARE, s->owed, change);
        for (int k = 0; k < PARTS; k++) v[k] += change[k];
        memcpy(dynamics->begun + n * PARTS, v, PARTS * sizeof *v);
    }
}

void rh_dynamics_place(rh_dynamics *dynamics, double dt, rh_obstacles *at_start, rh_obstacles *at_end)
{
    dynamics->dt = dt;
    dynamics->start = at_start;
    dynamics->end = at_end;
    for (int n = 0; n < dynamics->count; n++) {
        const rh_dynamic_solid *s = &dynamics->items[n];
        at_start->items[s->obstacle].pose = pose_of(s, s->position, s->turn);
    }
    tell(dynamics);
}

void rh_dynamics_attach(rh_dynamics *dynamics, const double *mass, const double *impulse)
{
    memcpy(dynamics->attached, mass, (size_t)dynamics->count * SQUARE * sizeof *mass);
    memcpy(dynamics->brought, impulse, (size_t)dynamics->count * PARTS * sizeof *impulse);
    for (int n = 0; n < dynamics->count; n++) invert(dynamics, n);
    rh_dynamics_give(dynamics, impulse, false);
}

void rh_dynamics_respond(const rh_dynamics *dynamics, const double *impulse, double *change)
{
    for (int n = 0; n < dynamics->count; n++)
        multiply(dynamics->inverse + n * SQUARE, impulse + n * PARTS, change + n * PARTS);
}

void rh_dynamics_give(rh_dynamics *dynamics, const double *impulse, bool counted)
{
    for (int n = 0; n < dynamics->count; n++) {
        double change[PARTS];
        multiply(dynamics->inverse + n * SQUARE, impulse + n * PARTS, change);
        for (int k = 0; k < PARTS; k++) {
            dynamics->velocity[n * PARTS + k] += change[k];
            if (counted) dynamics->given[n * PARTS + k] += impulse[n * PARTS + k];
        }
    }
    tell(dynamics);
}

// What the material gave by the reckoning of its solve: impulses of pressure, and what was attached brought less what
// it took along.
static void reckoned(const rh_dynamics *dynamics, int n, double out[PARTS])
{
    double change[PARTS], taken[PARTS];
    for (int k = 0; k < PARTS; k++) change[k] = dynamics->velocity[n * PARTS + k] - dynamics->begun[n * PARTS + k];
    multiply(dynamics->attached + n * SQUARE, change, taken);
    for (int k = 0; k < PARTS; k++)
        out[k] = dynamics->given[n * PARTS + k] + dynamics->brought[n * PARTS + k] - taken[k];
}

static void note_owed(const rh_dynamics *dynamics, int n, const rh_impulse *received, rh_dynamic_solid *s)
{
    double known[PARTS];
    rh_dvec3 turn = rh_impulse_about(received, s->position);
    reckoned(dynamics, n, known);
    for (int a = 0; a < 3; a++) {
        bool moves = a < dynamics->dimension, turns = dynamics->dimension == 3 || a == 2;
        s->owed[a] = moves ? (&received->linear.x)[a] - known[a] : 0;
        s->owed[3 + a] = turns ? (&turn.x)[a] - known[3 + a] : 0;
    }
}

void rh_dynamics_commit(rh_dynamics *dynamics, const rh_obstacles *received)
{
    for (int n = 0; n < dynamics->count; n++) {
        rh_dynamic_solid *s = &dynamics->items[n];
        memset(s->owed, 0, sizeof s->owed);
        if (received) note_owed(dynamics, n, &received->items[s->obstacle].received, s);
        s->linear = linear_of(dynamics, n);
        s->spin = rh_m3_mul(inertia_of(s), angular_of(dynamics, n));
        s->position = rh_d3_add(s->position, rh_d3_scale(s->linear, dynamics->dt));
        double turn[4];
        turn_by(s->turn, rh_d3_scale(angular_of(dynamics, n), dynamics->dt), turn);
        memcpy(s->turn, turn, sizeof turn);
    }
    dynamics->start = dynamics->end = NULL;
}

void rh_dynamics_pose(const rh_dynamics *dynamics, rh_obstacles *obstacles)
{
    for (int n = 0; n < dynamics->count; n++) {
        const rh_dynamic_solid *s = &dynamics->items[n];
        rh_obstacle *o = &obstacles->items[s->obstacle];
        double mass[SQUARE], inverse[SQUARE], v[PARTS];
        const double spin[PARTS] = {0, 0, 0, s->spin.x, s->spin.y, s->spin.z};
        mass_matrix(s, dynamics->dimension, mass);
        rh_symmetric_inverse(mass, PARTS, inverse);
        multiply(inverse, spin, v);
        o->pose = pose_of(s, s->position, s->turn);
        o->linear = s->linear;
        o->angular = rh_d3(v[3], v[4], v[5]);
        o->origin = s->position;
    }
}

// --- state -----------------------------------------------------------------------------------------------------------
typedef struct state {
    rh_dvec3 position, linear, spin;
    double turn[4], owed[PARTS];
} state;

static state state_of(const rh_dynamic_solid *s)
{
    state out = {s->position, s->linear, s->spin, {0}, {0}};
    memcpy(out.turn, s->turn, sizeof out.turn);
    memcpy(out.owed, s->owed, sizeof out.owed);
    return out;
}

static void name_of(const rh_dynamic_solid *s, char name[32]) { snprintf(name, 32, "solid%d", s->obstacle); }

rh_code rh_dynamics_put(const rh_dynamics *dynamics, const rh_store *to, rh_status *status)
{
    for (int n = 0; n < dynamics->count; n++) {
        char name[32];
        state s = state_of(&dynamics->items[n]);
        name_of(&dynamics->items[n], name);
        RH_TRY(rh_store_put_bytes(to, name, &s, sizeof s, status));
    }
    return RH_OK;
}

rh_code rh_dynamics_get(rh_dynamics *dynamics, const rh_store *from, rh_status *status)
{
    for (int n = 0; n < dynamics->count; n++) {
        char name[32];
        state s;
        rh_dynamic_solid *to = &dynamics->items[n];
        name_of(to, name);
        RH_TRY(rh_store_get_exactly(from, name, &s, sizeof s, status));
        to->position = s.position;
        to->linear = s.linear;
        to->spin = s.spin;
        memcpy(to->turn, s.turn, sizeof s.turn);
        memcpy(to->owed, s.owed, sizeof s.owed);
    }
    return RH_OK;
}
