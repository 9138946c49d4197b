// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Newton's and Euler's equations with velocities half a step behind poses (leapfrog). Turns are quaternions, moved on
// by the exponential of the angular velocity of the step's middle; the state is angular momentum, so that a free solid
// keeps it to rounding (E. Hairer, C. Lubich, G. Wanner, "Geometric Numerical Integration", VII.5). The angular
// velocity of the middle is that of the solid turned by half a step with it (implicit midpoint rule); with that of the
// start a box that tips over doubles its energy in seconds.
//
// The impulse of a material on the solids is found twice: its solve uses forces on faces, symmetric with how solids
// move the material, so that the two are solved together and no mass is too small; and what its particles really lost
// is measured afterwards (world/wall_impulses.h). The difference, some per cent, is owed and given in the next step,
// where the solve answers it with the inertia of solids and material: a small share of that small share is left over,
// and so on, whatever the solid weighs.
#include "solid/dynamics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/assert.h"
#include "base/memory.h"
#include "solid/contact_solver.h"
#include "solve/dense.h"

enum { PARTS = RH_DYNAMICS_PARTS, SQUARE = PARTS * PARTS };
enum { MANY = 16 };  // solids: what is done for fewer takes less time than waking a second thread
#define EACH_SOLID _Pragma("omp parallel for schedule(static) if (dynamics->count > MANY)")

// --- poses -----------------------------------------------------------------------------------------------------------
rh_mat3 rh_turn_matrix(const double q[4])
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
    return (rh_pose){rh_turn_matrix(turn), rh_d3_sub(position, s->mass.center), s->mass.center};
}

// --- masses ----------------------------------------------------------------------------------------------------------
static rh_mat3 inertia_of(const rh_dynamic_solid *s)
{
    rh_pose pose = pose_of(s, s->position, s->turn);
    return rh_mass_inertia(&s->mass, &pose);
}

// The mass of the solid alone, in its present pose. Directions in which it cannot move have none, and
// rh_symmetric_inverse leaves them out.
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

// Nothing moves a solid that is held: its inverse mass is 0.
static void invert(rh_dynamics *dynamics, int n)
{
    double mass[SQUARE];
    if (dynamics->held[n]) {
        memset(dynamics->inverse + n * SQUARE, 0, sizeof mass);
        return;
    }
    mass_matrix(&dynamics->items[n], dynamics->dimension, mass);
    for (int k = 0; k < SQUARE; k++) mass[k] += dynamics->attached[n * SQUARE + k];
    rh_symmetric_inverse(mass, PARTS, dynamics->inverse + n * SQUARE);
}

// --- making ----------------------------------------------------------------------------------------------------------
static void start(rh_dynamic_solid *s, const rh_obstacle *o, int index)
{
    *s = (rh_dynamic_solid){.obstacle = index, .mass = o->mass, .linear = o->linear};
    s->borne = 1;  // what is in liquid is so at rest, until a step knows better
    turn_of(o->pose.rotation, s->turn);
    s->position = rh_pose_to_world(&o->pose, o->mass.center);
    s->spin = rh_m3_mul(inertia_of(s), o->angular);
}

rh_code rh_dynamics_create(const rh_obstacles *obstacles, int dimension, rh_dynamics *out, rh_status *status)
{
    *out = (rh_dynamics){.dimension = dimension, .obstacle_count = obstacles->count};
    rh_arena_init(&out->arena, "dynamics");
    for (int i = 0; i < obstacles->count; i++) out->count += obstacles->items[i].kind == RH_SOLID_DYNAMIC;
    size_t room = (size_t)out->count + 1, six = room * PARTS * sizeof(double);
    out->items = rh_alloc_zero(room * sizeof *out->items, "dynamics", status);
    out->of_obstacle = rh_alloc_zero(((size_t)obstacles->count + 1) * sizeof *out->of_obstacle, "dynamics", status);
    out->velocity = rh_alloc_zero(six, "dynamics", status);
    out->begun = rh_alloc_zero(six, "dynamics", status);
    out->given = rh_alloc_zero(six, "dynamics", status);
    out->brought = rh_alloc_zero(six, "dynamics", status);
    out->struck = rh_alloc_zero(six, "dynamics", status);
    out->forgiven = rh_alloc_zero(six, "dynamics", status);
    out->padding = rh_alloc_zero(six * PARTS, "dynamics", status);
    out->attached = rh_alloc_zero(six * PARTS, "dynamics", status);
    out->inverse = rh_alloc_zero(six * PARTS, "dynamics", status);
    out->change = rh_alloc_zero(six, "dynamics", status);
    out->entered = rh_alloc_zero(six, "dynamics", status);
    out->payment = rh_alloc_zero(six, "dynamics", status);
    out->displaced = rh_alloc_zero(((size_t)out->count + 1) * sizeof *out->displaced, "dynamics", status);
    out->advance = rh_alloc_zero(six, "dynamics", status);
    out->kick = rh_alloc_zero(room * sizeof *out->kick, "dynamics", status);
    out->turning = rh_alloc_zero(room * sizeof *out->turning, "dynamics", status);
    out->held = rh_alloc_zero(room * sizeof *out->held, "dynamics", status);
    out->obstacle_of = rh_alloc_zero(room * sizeof *out->obstacle_of, "dynamics", status);
    out->moved = rh_alloc_zero(((size_t)obstacles->count + 1) * sizeof *out->moved, "dynamics", status);
    if (!out->items || !out->of_obstacle || !out->velocity || !out->begun || !out->given || !out->brought ||
        !out->struck || !out->forgiven || !out->padding || !out->attached || !out->inverse || !out->change ||
        !out->entered || !out->payment || !out->displaced || !out->advance || !out->turning || !out->kick ||
        !out->held || !out->obstacle_of || !out->moved) {
        rh_dynamics_free(out);
        return RH_MEMORY;
    }
    for (int i = 0, n = 0; i < obstacles->count; i++) {
        bool dynamic = obstacles->items[i].kind == RH_SOLID_DYNAMIC;
        out->of_obstacle[i] = dynamic ? n : -1;
        if (dynamic) out->obstacle_of[n] = i;
        if (dynamic) start(&out->items[n++], &obstacles->items[i], i);
    }
    rh_code code = rh_dynamics_join(out, obstacles, NULL, 0, status);
    if (code != RH_OK) rh_dynamics_free(out);
    return code;
}

rh_code rh_dynamics_join(rh_dynamics *dynamics, const rh_obstacles *obstacles, const rh_joint *joints, int count,
                         rh_status *status)
{
    rh_joints_free(&dynamics->joints);
    return rh_joints_create(joints, count, obstacles, dynamics->of_obstacle, dynamics->obstacle_of, dynamics->count,
                            &dynamics->joints, status);
}

void rh_dynamics_free(rh_dynamics *dynamics)
{
    rh_free(dynamics->items);
    rh_free(dynamics->of_obstacle);
    rh_free(dynamics->velocity);
    rh_free(dynamics->begun);
    rh_free(dynamics->given);
    rh_free(dynamics->brought);
    rh_free(dynamics->struck);
    rh_free(dynamics->forgiven);
    rh_free(dynamics->padding);
    rh_free(dynamics->attached);
    rh_free(dynamics->inverse);
    rh_free(dynamics->change);
    rh_free(dynamics->entered);
    rh_free(dynamics->payment);
    rh_free(dynamics->displaced);
    rh_free(dynamics->advance);
    rh_free(dynamics->added);
    rh_free(dynamics->turning);
    rh_free(dynamics->kick);
    rh_free(dynamics->held);
    rh_free(dynamics->moved);
    rh_free(dynamics->obstacle_of);
    rh_joints_free(&dynamics->joints);
    rh_arena_free(&dynamics->arena);
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

// The pose after a time of dt s with this velocity.
static rh_pose pose_after(const rh_dynamic_solid *s, const double velocity[PARTS], double dt)
{
    double turn[4];
    turn_by(s->turn, rh_d3_scale(*(const rh_dvec3 *)(velocity + 3), dt), turn);
    return pose_of(s, rh_d3_add(s->position, rh_d3_scale(*(const rh_dvec3 *)velocity, dt)), turn);
}

static void place_after(const rh_dynamics *dynamics, double dt)
{
    if (!dynamics->end) return;
    EACH_SOLID
    for (int n = 0; n < dynamics->count; n++) {
        const rh_dynamic_solid *s = &dynamics->items[n];
        dynamics->end->items[s->obstacle].pose = pose_after(s, dynamics->velocity + n * PARTS, dt);
    }
    rh_obstacles_moved(dynamics->end);
}

static void tell(const rh_dynamics *dynamics)
{
    place_after(dynamics, dynamics->ahead + dynamics->dt);
    set_velocities(dynamics, dynamics->start);
    set_velocities(dynamics, dynamics->end);
}

// --- keys ------------------------------------------------------------------------------------------------------------
static bool is_held(const rh_dynamic_rules *rules, double time)
{
    double sliver = 1e-9 * (1 + fabs(time));  // of rounding, between steps and times of a scene
    return time < rules->from - sliver || time >= rules->until - sliver;
}

static void hold(rh_dynamics *dynamics, const rh_obstacles *obstacles, double time, double previous)
{
    dynamics->time = time;
    dynamics->previous = previous;
    for (int n = 0; n < dynamics->count; n++) {
        const rh_dynamic_rules *rules = &obstacles->items[dynamics->items[n].obstacle].rules;
        dynamics->held[n] = is_held(rules, time);
        dynamics->kick[n] = is_held(rules, time - previous) ? -0.5 * previous : 0;  // to be added to
    }
}

// The angle, as a vector, of the turn from q to r.
static rh_dvec3 angle_between(const double q[4], const double r[4])
{
    double w = r[0] * q[0] + r[1] * q[1] + r[2] * q[2] + r[3] * q[3];
    rh_dvec3 v = {-r[0] * q[1] + r[1] * q[0] - r[2] * q[3] + r[3] * q[2],
                  -r[0] * q[2] + r[1] * q[3] + r[2] * q[0] - r[3] * q[1],
                  -r[0] * q[3] - r[1] * q[2] + r[2] * q[1] + r[3] * q[0]};
    double length = rh_d3_length(v), sign = w < 0 ? -1 : 1;
    if (!(length > 1e-15)) return rh_d3(0, 0, 0);
    return rh_d3_scale(v, sign * 2 * atan2(length, fabs(w)) / length);
}

// A held solid moves with its keys: by as much as they move in the step, and so that its distance from them is gone
// when the time to return is over.
static void follow_keys(rh_dynamics *dynamics, int n, const rh_obstacle *o)
{
    const rh_dynamic_solid *s = &dynamics->items[n];
    double *v = dynamics->velocity + n * PARTS, dt = dynamics->span, turn[4], then[4];
    rh_pose pose, next;
    rh_dvec3 linear, angular;
    rh_motion_place(&o->motion, dynamics->time, o->shape.flat, &pose, &linear, &angular);
    turn_of(pose.rotation, turn);
    rh_dvec3 here = rh_pose_to_world(&pose, s->mass.center);
    if (dt > 0) {
        double returned = dynamics->time < o->rules.from ? 0 : o->rules.until + o->rules.return_time - dynamics->time;
        double left = fmax(returned, dt);
        rh_motion_place(&o->motion, dynamics->time + dt, o->shape.flat, &next, &linear, &angular);
        turn_of(next.rotation, then);
        linear = rh_d3_scale(rh_d3_sub(rh_pose_to_world(&next, s->mass.center), here), 1 / dt);
        angular = rh_d3_scale(angle_between(turn, then), 1 / dt);
        linear = rh_d3_add(linear, rh_d3_scale(rh_d3_sub(here, s->position), 1 / left));
        angular = rh_d3_add(angular, rh_d3_scale(angle_between(s->turn, turn), 1 / left));
    } else linear = rh_d3_add(linear, rh_d3_cross(angular, rh_d3_sub(here, rh_d3_add(pose.pivot, pose.translation))));
    memcpy(v, &linear, sizeof linear);
    memcpy(v + 3, &angular, sizeof angular);
}

// --- the parts of a step ---------------------------------------------------------------------------------------------
rh_code rh_dynamics_share(rh_dynamics *dynamics, int materials, rh_status *status)
{
    dynamics->shared = materials > 1;
    dynamics->materials = materials;
    if (!dynamics->shared) return RH_OK;
    size_t room = (size_t)materials * ((size_t)dynamics->count + 1) * SQUARE;
    dynamics->added = rh_alloc_zero(room * sizeof *dynamics->added, "dynamics", status);
    return dynamics->added ? RH_OK : RH_MEMORY;
}

static double *added_of(const rh_dynamics *dynamics, int material)
{
    return dynamics->added + (size_t)material * (size_t)dynamics->count * SQUARE;
}

void rh_dynamics_note_added(rh_dynamics *dynamics, const double *added)
{
    if (!dynamics->shared) return;
    memcpy(added_of(dynamics, dynamics->current), added, (size_t)dynamics->count * SQUARE * sizeof *added);
}

double rh_dynamics_added(const rh_dynamics *dynamics, int material)
{
    double sum = 0;
    for (int n = 0; n < dynamics->count && dynamics->shared; n++)
        for (int k = 0; k < 3; k++) sum += added_of(dynamics, material)[n * SQUARE + k * PARTS + k];
    return sum;
}

void rh_dynamics_open(rh_dynamics *dynamics, double from, double span)
{
    dynamics->from = from;
    dynamics->span = span;
    dynamics->opened = false;
}

// Velocities of solids that no material has moved yet in the interval.
static void fall(rh_dynamics *dynamics, rh_dvec3 gravity)
{
    for (int n = 0; n < dynamics->count; n++) {
        const rh_dynamic_solid *s = &dynamics->items[n];
        double *v = dynamics->velocity + n * PARTS;
        const double spin[PARTS] = {0, 0, 0, s->spin.x, s->spin.y, s->spin.z};
        multiply(dynamics->inverse + n * SQUARE, spin, v);
        for (int a = 0; a < dynamics->dimension; a++) v[a] += (&s->linear.x)[a] + dynamics->kick[n] * (&gravity.x)[a];
    }
}

// Forces act for half of the step before and half of this one; on what was held until now for half of this one alone.
void rh_dynamics_begin(rh_dynamics *dynamics, const rh_obstacles *obstacles, rh_dvec3 gravity, double time,
                       double previous, double dt)
{
    if (!dynamics->shared) {
        rh_dynamics_open(dynamics, time, dt);
        dynamics->last_span = previous;
    }
    double span = dt > 0 ? dynamics->span : 0;
    hold(dynamics, obstacles, dynamics->shared && dt > 0 ? dynamics->from : time, dynamics->last_span);
    dynamics->ahead = dynamics->opened ? time - dynamics->from : 0;
    dynamics->gravity = gravity;
    dynamics->contacts = (rh_contact_list){0};
    dynamics->trouble = (rh_status){0};
    dynamics->touched = dynamics->opened && dynamics->left_touched;
    dynamics->paid = dynamics->opened && dynamics->left_paid;
    size_t six = (size_t)dynamics->count * PARTS * sizeof(double);
    memset(dynamics->payment, 0, six);
    memset(dynamics->displaced, 0, (size_t)dynamics->count * sizeof *dynamics->displaced);
    memset(dynamics->advance, 0, six);
    memset(dynamics->given, 0, six);
    memset(dynamics->brought, 0, six);
    memset(dynamics->struck, 0, six);
    memset(dynamics->forgiven, 0, six);
    memset(dynamics->padding, 0, six * PARTS);
    memset(dynamics->attached, 0, six * PARTS);
    dynamics->start = dynamics->end = NULL;
    EACH_SOLID
    for (int n = 0; n < dynamics->count; n++) {
        invert(dynamics, n);
        dynamics->kick[n] += span > 0 ? 0.5 * (dynamics->last_span + span) : 0;
    }
    if (dynamics->opened) memcpy(dynamics->velocity, dynamics->entered, six);
    else fall(dynamics, gravity);
}

static rh_dvec3 angular_at(const rh_dynamics *dynamics, const rh_dynamic_solid *s)
{
    double mass[SQUARE], inverse[SQUARE], v[PARTS];
    const double spin[PARTS] = {0, 0, 0, s->spin.x, s->spin.y, s->spin.z};
    mass_matrix(s, dynamics->dimension, mass);
    rh_symmetric_inverse(mass, PARTS, inverse);
    multiply(inverse, spin, v);
    return rh_d3(v[3], v[4], v[5]);
}

// The angular velocity of the middle of the step, instead of that of its start.
static void turn_freely(rh_dynamics *dynamics, int n)
{
    enum { LOOKS = 4 };
    const rh_dynamic_solid *s = &dynamics->items[n];
    rh_dynamic_solid half = *s;
    double *v = dynamics->velocity + n * PARTS + 3;
    rh_dvec3 start = angular_at(dynamics, s), middle = start;
    for (int i = 0; i < LOOKS && dynamics->dimension == 3; i++) {
        turn_by(s->turn, rh_d3_scale(middle, 0.5 * dynamics->span), half.turn);
        middle = angular_at(dynamics, &half);
    }
    dynamics->turning[n] = middle;
    for (int a = 0; a < 3; a++) v[a] += (&middle.x)[a] - (&start.x)[a];
}

void rh_dynamics_place(rh_dynamics *dynamics, double dt, rh_obstacles *at_start, rh_obstacles *at_end)
{
    dynamics->dt = dt;
    dynamics->start = at_start;
    dynamics->end = at_end;
    EACH_SOLID
    for (int n = 0; n < dynamics->count; n++) {
        const rh_dynamic_solid *s = &dynamics->items[n];
        const double *v = dynamics->velocity + n * PARTS;
        if (dynamics->held[n]) follow_keys(dynamics, n, &at_start->items[s->obstacle]);
        else if (!dynamics->opened) turn_freely(dynamics, n);
        at_start->items[s->obstacle].pose = pose_after(s, v, dynamics->ahead);
    }
    rh_obstacles_moved(at_start);
    tell(dynamics);
    if (dynamics->joints.rows) {
        place_after(dynamics, dynamics->ahead + 0.5 * dt);
        rh_joints_assemble(&dynamics->joints, at_start, at_end, dynamics->of_obstacle, dynamics->obstacle_of,
                           dynamics->count, dynamics->held, dt);
        rh_joints_factor(&dynamics->joints, dynamics->inverse);
        rh_joints_project(&dynamics->joints, dynamics->inverse, true, dynamics->velocity);
        tell(dynamics);
    }
    memcpy(dynamics->begun, dynamics->velocity, (size_t)dynamics->count * PARTS * sizeof(double));
}

void rh_dynamics_attach(rh_dynamics *dynamics, const double *mass, const double *impulse)
{
    memcpy(dynamics->begun, dynamics->velocity, (size_t)dynamics->count * PARTS * sizeof(double));
    memcpy(dynamics->attached, mass, (size_t)dynamics->count * SQUARE * sizeof *mass);
    for (int i = 0; i < dynamics->materials && dynamics->shared; i++)
        for (int k = 0; k < dynamics->count * SQUARE && i != dynamics->current; k++)
            dynamics->attached[k] += added_of(dynamics, i)[k];
    memcpy(dynamics->brought, impulse, (size_t)dynamics->count * PARTS * sizeof *impulse);
    EACH_SOLID
    for (int n = 0; n < dynamics->count; n++) invert(dynamics, n);
    rh_joints_factor(&dynamics->joints, dynamics->inverse);
    rh_dynamics_give(dynamics, impulse, false);
}

void rh_dynamics_pad(rh_dynamics *dynamics, const double *mass)
{
    memcpy(dynamics->padding, mass, (size_t)dynamics->count * SQUARE * sizeof *mass);
    rh_dynamics_attach(dynamics, mass, dynamics->brought);  // which is nothing
}

void rh_dynamics_forgive(rh_dynamics *dynamics, int n)
{
    const rh_dynamic_solid *s = &dynamics->items[n];
    for (int k = 0; k < PARTS; k++)
        dynamics->forgiven[n * PARTS + k] = s->owed[k] - s->share * (s->owed[k] - s->withheld[k]);
}

void rh_dynamics_respond(const rh_dynamics *dynamics, const double *impulse, double *change)
{
    for (int n = 0; n < dynamics->count; n++)
        multiply(dynamics->inverse + n * SQUARE, impulse + n * PARTS, change + n * PARTS);
    rh_joints_project(&dynamics->joints, dynamics->inverse, false, change);
}

void rh_dynamics_receive(rh_dynamics *dynamics, const double *impulse, bool counted)
{
    rh_dynamics_respond(dynamics, impulse, dynamics->change);
    for (int k = 0; k < dynamics->count * PARTS; k++) {
        dynamics->velocity[k] += dynamics->change[k];
        if (counted) dynamics->given[k] += impulse[k];
    }
    set_velocities(dynamics, dynamics->start);
}

void rh_dynamics_arrive(const rh_dynamics *dynamics) { tell(dynamics); }

void rh_dynamics_strike(rh_dynamics *dynamics, const double *impulse)
{
    rh_dynamics_receive(dynamics, impulse, false);
    for (int k = 0; k < dynamics->count * PARTS; k++) dynamics->struck[k] += dynamics->change[k];
}

void rh_dynamics_give(rh_dynamics *dynamics, const double *impulse, bool counted)
{
    rh_dynamics_receive(dynamics, impulse, counted);
    tell(dynamics);
}

bool rh_dynamics_pay(rh_dynamics *dynamics, double *impulse)
{
    if (dynamics->paid) return false;
    dynamics->paid = true;
    for (int n = 0; n < dynamics->count; n++)
        for (int k = 0; k < PARTS; k++)
            impulse[n * PARTS + k] = dynamics->held[n] ? 0
                                                       : dynamics->items[n].owed[k] - dynamics->forgiven[n * PARTS + k];
    memcpy(dynamics->payment, impulse, (size_t)dynamics->count * PARTS * sizeof *impulse);
    rh_dynamics_give(dynamics, impulse, false);
    return true;
}

// --- what is displaced -----------------------------------------------------------------------------------------------
// The impulse of liquid at rest that so much liquid more would give, `times` it.
static void lift_of(const rh_dynamics *dynamics, int n, const double (*liquid)[PARTS], double times, double out[PARTS])
{
    memset(out, 0, PARTS * sizeof *out);
    for (int a = 0; a < dynamics->dimension; a++)
        for (int k = 0; k < PARTS; k++) out[k] -= times * (&dynamics->gravity.x)[a] * dynamics->kick[n] * liquid[a][k];
}

// Where several materials share the solids, the steps of each are their own, and nothing is done.
void rh_dynamics_displace(rh_dynamics *dynamics, const rh_displaced *displaced)
{
    if (dynamics->shared) return;
    memcpy(dynamics->displaced, displaced, (size_t)dynamics->count * sizeof *displaced);
    for (int n = 0; n < dynamics->count; n++)
        lift_of(dynamics, n, displaced[n].solved, dynamics->held[n] ? 0 : dynamics->items[n].borne,
                dynamics->advance + n * PARTS);
    rh_dynamics_give(dynamics, dynamics->advance, false);
}

// Share of the impulse of liquid at rest that the solve has given: none in free fall.
static double borne_by(const rh_dynamics *dynamics, int n)
{
    double all = 0, given = 0;
    for (int a = 0; a < dynamics->dimension; a++) {
        double rest = -(&dynamics->gravity.x)[a] * dynamics->kick[n] * dynamics->displaced[n].closed[a];
        all += rest * rest;
        given += rest * dynamics->given[n * PARTS + a];
    }
    return all > 0 ? fmin(fmax(given / all, 0), 1) : 0;
}

// --- contacts --------------------------------------------------------------------------------------------------------
double rh_dynamics_longest_step(const rh_dynamics *dynamics, const rh_obstacles *obstacles, rh_dvec3 gravity)
{
    double longest = 1e30, g = rh_d3_length(gravity);
    for (int n = 0; n < dynamics->count; n++) {
        const rh_obstacle *o = &obstacles->items[dynamics->items[n].obstacle];
        double radius = o->features ? o->features->radius : 1, depth = o->features ? o->features->depth : 1;
        double speed = rh_d3_length(o->linear) + radius * rh_d3_length(o->angular);
        // Limits: a turn of a quarter of a radian; a displacement of its size; a fall of some thirtieth of it.
        longest = fmin(longest, 0.25 / fmax(rh_d3_length(o->angular), 1e-30));
        longest = fmin(longest, 2 * depth / fmax(speed, 1e-30));
        longest = fmin(longest, 0.25 * sqrt(depth / fmax(g, 1e-30)));
    }
    return longest;
}

static bool may_touch(const void *user, int a, int b) { return !rh_joints_connect(user, a, b); }

// A solid as contacts see it: with the mass of all that moves with it.
static rh_contact_body contact_body(const rh_dynamics *dynamics, int n, const double *added)
{
    const rh_dynamic_solid *s = &dynamics->items[n];
    rh_contact_body body = {.mass = s->mass.mass,
                            .inertia = inertia_of(s),
                            .center = dynamics->start->items[s->obstacle].origin,
                            .linear = linear_of(dynamics, n),
                            .angular = angular_of(dynamics, n),
                            .held = dynamics->held[n],
                            .kick = dynamics->kick[n],
                            .obstacle = s->obstacle};
    const double *parts[2] = {dynamics->attached + n * SQUARE, added ? added + n * SQUARE : NULL};
    for (int i = 0; i < 2; i++) {
        for (int a = 0; a < dynamics->dimension && parts[i]; a++)
            body.mass += parts[i][a * PARTS + a] / dynamics->dimension;
        for (int r = 0; r < 3 && parts[i]; r++)
            for (int c = 0; c < 3; c++) (&body.inertia.row[r].x)[c] += parts[i][(3 + r) * PARTS + 3 + c];
    }
    return body;
}

static rh_code touch(rh_dynamics *dynamics, const double *added, double *impulse, bool *any, rh_status *status)
{
    rh_contact_list *contacts = &dynamics->contacts;
    rh_arena_reset(&dynamics->arena);
    *contacts = (rh_contact_list){0};
    rh_contact_body *bodies = rh_arena_take(&dynamics->arena, (size_t)dynamics->count * sizeof *bodies, status);
    if (!bodies) return RH_MEMORY;
    EACH_SOLID
    for (int n = 0; n < dynamics->count; n++) {
        bodies[n] = contact_body(dynamics, n, added);
        dynamics->moved[dynamics->items[n].obstacle] = !dynamics->held[n];
    }
    RH_TRY(rh_contacts_find(dynamics->start, dynamics->moved, dynamics->dt, may_touch, &dynamics->joints,
                            &dynamics->arena, contacts, status));
    rh_contact_problem problem = {.solids = dynamics->start,
                                  .of_obstacle = dynamics->of_obstacle,
                                  .bodies = bodies,
                                  .body_count = dynamics->count,
                                  .contacts = contacts,
                                  .joints = &dynamics->joints,
                                  .dimension = dynamics->dimension,
                                  .dt = dynamics->dt,
                                  .gravity = dynamics->gravity,
                                  .first = added != NULL};
    return rh_contact_solve(&problem, &dynamics->arena, impulse, any, status);
}

bool rh_dynamics_near(const rh_dynamics *dynamics)
{
    const rh_obstacles *all = dynamics->start;
    if (!all || dynamics->count > MANY) return all != NULL;
    for (int n = 0; n < dynamics->count; n++) {
        const rh_obstacle *own = &all->items[dynamics->items[n].obstacle];
        const double *v = dynamics->velocity + n * PARTS;
        double reach = (own->features ? own->features->radius : 0) +
                       2 * dynamics->dt * sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        for (int i = 0; i < all->count; i++)
            if (&all->items[i] != own && rh_obstacle_within(all, i, own->origin, reach)) return true;
    }
    return false;
}

bool rh_dynamics_touch(rh_dynamics *dynamics, const double *added, double *impulse)
{
    bool any = false;
    dynamics->touched = true;
    memset(impulse, 0, (size_t)dynamics->count * PARTS * sizeof *impulse);
    if (!(dynamics->dt > 0) || !dynamics->start || dynamics->trouble.code != RH_OK) return false;
    if (touch(dynamics, added, impulse, &any, &dynamics->trouble) == RH_OK) return any;
    memset(impulse, 0, (size_t)dynamics->count * PARTS * sizeof *impulse);
    return false;
}

void rh_dynamics_masses(const rh_dynamics *dynamics, const double *added, double *mass)
{
    EACH_SOLID
    for (int n = 0; n < dynamics->count; n++) {
        mass_matrix(&dynamics->items[n], dynamics->dimension, mass + n * SQUARE);
        for (int k = n * SQUARE; k < (n + 1) * SQUARE; k++) mass[k] += dynamics->attached[k] + (added ? added[k] : 0);
    }
}

static rh_code touch_again(rh_dynamics *dynamics, const double *mass, double *impulse, rh_status *status)
{
    size_t count = (size_t)dynamics->count;
    rh_contact_body *bodies = rh_arena_take(&dynamics->arena, count * sizeof *bodies, status);
    double *inverse = rh_arena_take_zero(&dynamics->arena, count * SQUARE * sizeof *inverse, status);
    double *velocity = rh_arena_take(&dynamics->arena, count * PARTS * sizeof *velocity, status);
    if (!bodies || !inverse || !velocity) return RH_MEMORY;
    memcpy(velocity, dynamics->velocity, count * PARTS * sizeof *velocity);
    EACH_SOLID
    for (int n = 0; n < dynamics->count; n++) {
        double m[SQUARE];
        bodies[n] = (rh_contact_body){.center = dynamics->start->items[dynamics->items[n].obstacle].origin,
                                      .held = dynamics->held[n]};
        memcpy(m, mass + n * SQUARE, sizeof m);
        if (!dynamics->held[n]) rh_symmetric_inverse(m, PARTS, inverse + n * SQUARE);
    }
    return rh_contact_refine(&dynamics->contacts, dynamics->of_obstacle, bodies, dynamics->dimension, inverse,
                             &dynamics->arena, velocity, impulse, status);
}

bool rh_dynamics_touch_again(rh_dynamics *dynamics, const double *mass, double *impulse)
{
    bool any = false;
    size_t six = (size_t)dynamics->count * PARTS;
    memset(impulse, 0, six * sizeof *impulse);
    if (dynamics->contacts.count == 0 || dynamics->trouble.code != RH_OK) return false;
    if (touch_again(dynamics, mass, impulse, &dynamics->trouble) != RH_OK) return false;
    for (size_t k = 0; k < six; k++) any = any || impulse[k] != 0;
    return any;
}

void rh_dynamics_scale_inertia(const rh_dynamics *dynamics, int n, double times, double *added)
{
    double own[SQUARE];
    mass_matrix(&dynamics->items[n], dynamics->dimension, own);
    for (int k = 0; k < SQUARE; k++) {
        int at = n * SQUARE + k;
        added[at] += (times - 1) * (own[k] + dynamics->attached[at] + added[at]);
    }
}

// --- the end of a step -----------------------------------------------------------------------------------------------

// What padding withheld of the impulses of the material, and of payments. Not of contacts, as far as these changed the
// velocity: they ask for a velocity, for which less mass takes a smaller impulse. (A cork that contact with a shelf
// holds below water does not get faster, however hard the two are pressed together: nothing is withheld there.)
static void withheld(const rh_dynamics *dynamics, int n, double out[PARTS])
{
    const double *struck = dynamics->struck + n * PARTS, *padding = dynamics->padding + n * SQUARE;
    double change[PARTS], along[PARTS], both = 0, own = 0;
    for (int k = 0; k < PARTS; k++) change[k] = dynamics->velocity[n * PARTS + k] - dynamics->begun[n * PARTS + k];
    multiply(padding, struck, along);
    for (int k = 0; k < PARTS; k++) both += along[k] * change[k], own += along[k] * struck[k];
    double share = own > 0 ? fmin(fmax(both / own, 0), 1) : 0;
    for (int k = 0; k < PARTS; k++) change[k] -= share * struck[k];
    multiply(padding, change, out);
}

// The impulse of the material on a solid as its solve has it: that of pressure, and what attached material brought less
// what it took up.
static void reckoned(const rh_dynamics *dynamics, int n, double out[PARTS])
{
    double change[PARTS], real[SQUARE], taken[PARTS];
    for (int k = 0; k < SQUARE; k++) real[k] = dynamics->attached[n * SQUARE + k] - dynamics->padding[n * SQUARE + k];
    for (int k = 0; k < PARTS; k++) change[k] = dynamics->velocity[n * PARTS + k] - dynamics->begun[n * PARTS + k];
    multiply(real, change, taken);
    for (int k = 0; k < PARTS; k++)
        out[k] = dynamics->given[n * PARTS + k] + dynamics->brought[n * PARTS + k] - taken[k];
}

// m / (m + p / u): p as much as m u would be if a mass of p / u came along at the speed u and stuck to it.
static double share_alone(const rh_dynamics *dynamics, const rh_dynamic_solid *s, double fastest)
{
    double linear = 0, angular = 0, m = s->mass.mass;
    for (int a = 0; a < 3; a++) {
        double p = s->owed[a] - s->withheld[a], l = s->owed[3 + a] - s->withheld[3 + a];
        linear += p * p, angular += l * l;
    }
    const rh_mat3 *i = &s->mass.inertia;
    double inertia = dynamics->dimension == 2 ? i->row[2].z : (i->row[0].x + i->row[1].y + i->row[2].z) / 3;
    double impulse = sqrt(linear + (inertia > 0 ? angular * m / inertia : 0)), u = fastest;
    return impulse > 0 ? m * u / (m * u + impulse) : 1;
}

static void note_owed(const rh_dynamics *dynamics, int n, const rh_impulse *received, double fastest,
                      rh_dynamic_solid *s)
{
    double known[PARTS], rest[PARTS];
    rh_dvec3 turn = rh_impulse_about(received, s->position);
    reckoned(dynamics, n, known);
    s->borne = borne_by(dynamics, n);
    lift_of(dynamics, n, dynamics->displaced[n].counted, s->borne, rest);
    withheld(dynamics, n, s->withheld);
    for (int k = 0; k < PARTS; k++) rest[k] += s->withheld[k] - dynamics->advance[n * PARTS + k];
    for (int a = 0; a < 3; a++) {
        bool moves = a < dynamics->dimension, turns = dynamics->dimension == 3 || a == 2;
        s->owed[a] += moves ? (&received->linear.x)[a] - known[a] + rest[a] : 0;
        s->owed[3 + a] += turns ? (&turn.x)[a] - known[3 + a] + rest[3 + a] : 0;
    }
    s->share = share_alone(dynamics, s, fastest);
}

void rh_dynamics_leave(rh_dynamics *dynamics, const rh_obstacles *received, double fastest)
{
    for (int n = 0; n < dynamics->count; n++) {
        rh_dynamic_solid *s = &dynamics->items[n];
        for (int k = 0; k < PARTS; k++) {
            double settled = dynamics->payment[n * PARTS + k] + dynamics->forgiven[n * PARTS + k];
            s->owed[k] -= dynamics->held[n] ? s->owed[k] : settled;
            s->withheld[k] = 0;
        }
        s->share = 1;
        if (received && !dynamics->held[n]) note_owed(dynamics, n, &received->items[s->obstacle].received, fastest, s);
    }
    memcpy(dynamics->entered, dynamics->velocity, (size_t)dynamics->count * PARTS * sizeof(double));
    dynamics->opened = true;
    dynamics->left_touched = dynamics->touched;
    dynamics->left_paid = dynamics->paid;
    dynamics->start = dynamics->end = NULL;
}

void rh_dynamics_commit(rh_dynamics *dynamics)
{
    for (int n = 0; n < dynamics->count; n++) {
        rh_dynamic_solid *s = &dynamics->items[n];
        s->linear = linear_of(dynamics, n);
        rh_dvec3 faster = rh_d3_sub(angular_of(dynamics, n), dynamics->turning[n]);
        if (!dynamics->held[n]) s->spin = rh_d3_add(s->spin, rh_m3_mul(inertia_of(s), faster));
        s->position = rh_d3_add(s->position, rh_d3_scale(s->linear, dynamics->span));
        double turn[4];
        turn_by(s->turn, rh_d3_scale(angular_of(dynamics, n), dynamics->span), turn);
        memcpy(s->turn, turn, sizeof turn);
        if (dynamics->held[n]) s->spin = rh_m3_mul(inertia_of(s), angular_of(dynamics, n));
    }
    dynamics->last_span = dynamics->span;
    dynamics->opened = false;
}

void rh_dynamics_pose(const rh_dynamics *dynamics, rh_obstacles *obstacles)
{
    for (int n = 0; n < dynamics->count; n++) {
        const rh_dynamic_solid *s = &dynamics->items[n];
        rh_obstacle *o = &obstacles->items[s->obstacle];
        o->pose = pose_of(s, s->position, s->turn);
        o->linear = s->linear;
        o->angular = angular_at(dynamics, s);
        o->origin = s->position;
    }
    rh_obstacles_moved(obstacles);
}

// --- state -----------------------------------------------------------------------------------------------------------
typedef struct state {
    rh_dvec3 position, linear, spin;
    double turn[4], owed[PARTS], withheld[PARTS], share, borne;
} state;

static state state_of(const rh_dynamic_solid *s)
{
    state out = {.position = s->position, .linear = s->linear, .spin = s->spin, .share = s->share, .borne = s->borne};
    memcpy(out.turn, s->turn, sizeof out.turn);
    memcpy(out.owed, s->owed, sizeof out.owed);
    memcpy(out.withheld, s->withheld, sizeof out.withheld);
    return out;
}

static void name_of(const rh_dynamic_solid *s, char name[32]) { snprintf(name, 32, "solid%d", s->obstacle); }

// State of an interval that some materials have gone through and others have not.
typedef struct interval {
    double from, span, last_span, opened, touched, paid;
} interval;

static rh_code put_interval(const rh_dynamics *dynamics, const rh_store *to, rh_status *status)
{
    interval now = {dynamics->from,   dynamics->span,         dynamics->last_span,
                    dynamics->opened, dynamics->left_touched, dynamics->left_paid};
    size_t count = (size_t)dynamics->count;
    RH_TRY(rh_store_put_bytes(to, "interval", &now, sizeof now, status));
    RH_TRY(rh_store_put_bytes(to, "added", dynamics->added,
                              (size_t)dynamics->materials * count * SQUARE * sizeof *dynamics->added, status));
    RH_TRY(rh_store_put_bytes(to, "entered", dynamics->entered, count * PARTS * sizeof(double), status));
    return rh_store_put_bytes(to, "turning", dynamics->turning, count * sizeof *dynamics->turning, status);
}

static rh_code get_interval(rh_dynamics *dynamics, const rh_store *from, rh_status *status)
{
    interval now;
    size_t count = (size_t)dynamics->count;
    RH_TRY(rh_store_get_exactly(from, "interval", &now, sizeof now, status));
    RH_TRY(rh_store_get_exactly(from, "added", dynamics->added,
                                (size_t)dynamics->materials * count * SQUARE * sizeof *dynamics->added, status));
    RH_TRY(rh_store_get_exactly(from, "entered", dynamics->entered, count * PARTS * sizeof(double), status));
    RH_TRY(rh_store_get_exactly(from, "turning", dynamics->turning, count * sizeof *dynamics->turning, status));
    bool finite = isfinite(now.from) && isfinite(now.span) && isfinite(now.last_span);
    for (size_t i = 0; i < (size_t)dynamics->materials * count * SQUARE; i++)
        finite = finite && isfinite(dynamics->added[i]);
    for (size_t i = 0; i < count * PARTS; i++) finite = finite && isfinite(dynamics->entered[i]);
    if (!finite) return rh_fail(status, RH_IO, "the interval of dynamic solids has numbers that are not finite");
    dynamics->from = now.from;
    dynamics->span = now.span;
    dynamics->last_span = now.last_span;
    dynamics->opened = now.opened != 0;
    dynamics->left_touched = now.touched != 0;
    dynamics->left_paid = now.paid != 0;
    return RH_OK;
}

// A file may say anything: what is not finite, or no turn, must not become a pose.
static bool is_sound(const state *s)
{
    double turn2 = 0;
    bool finite = true;
    const double *all = (const double *)s;
    for (size_t i = 0; i < sizeof *s / sizeof *all; i++) finite = finite && isfinite(all[i]);
    for (int k = 0; k < 4; k++) turn2 += s->turn[k] * s->turn[k];
    return finite && fabs(turn2 - 1) < 1e-3;
}

rh_code rh_dynamics_put(const rh_dynamics *dynamics, const rh_store *to, rh_status *status)
{
    if (dynamics->shared && dynamics->count) RH_TRY(put_interval(dynamics, to, status));
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
    if (dynamics->shared && dynamics->count) RH_TRY(get_interval(dynamics, from, status));
    for (int n = 0; n < dynamics->count; n++) {
        char name[32];
        state s;
        rh_dynamic_solid *to = &dynamics->items[n];
        name_of(to, name);
        RH_TRY(rh_store_get_exactly(from, name, &s, sizeof s, status));
        if (!is_sound(&s))
            return rh_fail(status, RH_IO, "%s has a pose or velocity that is no finite number, or no turn", name);
        to->position = s.position;
        to->linear = s.linear;
        to->spin = s.spin;
        to->share = s.share;
        to->borne = s.borne;
        memcpy(to->turn, s.turn, sizeof s.turn);
        memcpy(to->owed, s.owed, sizeof s.owed);
        memcpy(to->withheld, s.withheld, sizeof s.withheld);
    }
    return RH_OK;
}
