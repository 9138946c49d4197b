// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Projected Gauss-Seidel sweeps over contacts (M. Jean, J. J. Moreau, "Unilaterality and dry friction in the dynamics
// of rigid body collections", 1992), which begin with impulses that are nearly right. ODE has one mass for all
// directions; the added mass of a liquid around a solid is larger in one direction than in another (a slab on a floor:
// far more upwards than along it), and with one mass for all a stone under water was thrown to and fro by its own
// friction and crept away at 4 mm/s.
#include <math.h>
#include <string.h>
#include "solid/contact_solver.h"

enum { PARTS = 6, SQUARE = PARTS * PARTS, SWEEPS = 200, FEW_SWEEPS = 30 };
static const double SETTLED = 1e-7;  // of the largest impulse: changes by less end the sweeps

// One direction of a contact.
typedef struct row {
    double along[2][PARTS];   // what a velocity of a, and of b, adds to the speed along it
    double change[2][PARTS];  // what an impulse of 1 does to the velocities of both
    double stiffness;         // 1/kg: what it does to the speed
} row;

typedef struct pair {
    int body[2];  // -1: not moved by it
    double wall[3];
    row rows[3];
} pair;

static void set_row(const double *inverse, const rh_contact_body *bodies, const pair *p, rh_dvec3 at, rh_dvec3 along,
                    row *r)
{
    *r = (row){0};
    for (int side = 0; side < 2; side++) {
        int n = p->body[side];
        if (n < 0) continue;
        double sign = side ? -1 : 1;
        rh_dvec3 turn = rh_d3_cross(rh_d3_sub(at, bodies[n].center), along);
        for (int k = 0; k < 3; k++) {
            r->along[side][k] = sign * (&along.x)[k];
            r->along[side][3 + k] = sign * (&turn.x)[k];
        }
        for (int k = 0; k < PARTS; k++)
            for (int j = 0; j < PARTS; j++)
                r->change[side][k] += inverse[n * SQUARE + k * PARTS + j] * r->along[side][j];
        for (int k = 0; k < PARTS; k++) r->stiffness += r->along[side][k] * r->change[side][k];
    }
}

static double speed_along(const pair *p, const row *r, const double *velocity)
{
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        if (p->body[side] < 0) continue;
        const double *v = velocity + p->body[side] * PARTS;
        for (int k = 0; k < PARTS; k++) sum += r->along[side][k] * v[k];
    }
    return sum;
}

static void push(const pair *p, const row *r, double impulse, double *velocity, double *given)
{
    if (impulse == 0) return;
    for (int side = 0; side < 2; side++) {
        if (p->body[side] < 0) continue;
        double *v = velocity + p->body[side] * PARTS, *g = given + p->body[side] * PARTS;
        for (int k = 0; k < PARTS; k++) v[k] += impulse * r->change[side][k];
        for (int k = 0; k < PARTS; k++) g[k] += impulse * r->along[side][k];
    }
}

// Changes the three parts of the impulse; returns by how much at most.
static inline double meet(const rh_contact *c, const pair *p, double part[3], double *velocity, double *given)
{
    double before[3] = {part[0], part[1], part[2]}, most = 0;
    const row *n = &p->rows[0];
    if (!(n->stiffness > 0)) return 0;
    part[0] = fmax(0, part[0] + (c->least + p->wall[0] - speed_along(p, n, velocity)) / n->stiffness);
    push(p, n, part[0] - before[0], velocity, given);
    if (part[0] == 0 && part[1] == 0 && part[2] == 0) return before[0];  // apart: most of those that are near
    for (int k = 1; k < 3; k++)
        if (p->rows[k].stiffness > 0)
            part[k] += (p->wall[k] - speed_along(p, &p->rows[k], velocity)) / p->rows[k].stiffness;
    double sideways = sqrt(part[1] * part[1] + part[2] * part[2]), bound = c->friction * part[0];
    for (int k = 1; k < 3; k++) {
        if (sideways > bound) part[k] *= bound / sideways;
        push(p, &p->rows[k], part[k] - before[k], velocity, given);
    }
    for (int k = 0; k < 3; k++) most = fmax(most, fabs(part[k] - before[k]));
    return most;
}

static pair pair_of(const rh_contact *c, const int *of_obstacle, const rh_contact_body *bodies, int dimension,
                    const double *inverse)
{
    pair p = {.body = {of_obstacle[c->a], c->fixed ? -1 : of_obstacle[c->b]}};
    rh_dvec3 directions[3] = {c->normal, c->slide, rh_d3_cross(c->normal, c->slide)};
    for (int k = 0; k < dimension; k++) {
        set_row(inverse, bodies, &p, c->at, directions[k], &p.rows[k]);
        p.wall[k] = c->fixed ? rh_d3_dot(directions[k], c->wall) : 0;
    }
    return p;
}

// `parts`: impulses along the rows of each contact.
static double sweep(const rh_contact_list *contacts, const pair *pairs, double (*parts)[3], double *velocity,
                    double *impulse, double *largest)
{
    double most = 0;
    for (int i = 0; i < contacts->count; i++) {
        if (!contacts->items[i].acts) continue;
        most = fmax(most, meet(&contacts->items[i], &pairs[i], parts[i], velocity, impulse));
        *largest = fmax(*largest, parts[i][0]);
    }
    return most;
}

rh_code rh_contact_refine(rh_contact_list *contacts, const int *of_obstacle, const rh_contact_body *bodies,
                          int dimension, const double *inverse, rh_arena *arena, double *velocity, double *impulse,
                          rh_status *status)
{
    double largest = 0;
    int sweeps = contacts->count > RH_CONTACTS_MANY ? FEW_SWEEPS : SWEEPS;
    pair *pairs = rh_arena_take(arena, ((size_t)contacts->count + 1) * sizeof *pairs, status);
    double(*parts)[3] = rh_arena_take(arena, ((size_t)contacts->count + 1) * sizeof *parts, status);
    if (!pairs || !parts) return RH_MEMORY;
    for (int i = 0; i < contacts->count; i++) {
        const rh_contact *c = &contacts->items[i];
        pairs[i] = pair_of(c, of_obstacle, bodies, dimension, inverse);
        parts[i][0] = rh_d3_dot(c->impulse, c->normal);
        parts[i][1] = rh_d3_dot(c->impulse, c->slide);
        parts[i][2] = dimension == 3 ? rh_d3_dot(c->impulse, rh_d3_cross(c->normal, c->slide)) : 0;
    }
    for (int i = 0; i < sweeps; i++) {
        double change = sweep(contacts, pairs, parts, velocity, impulse, &largest);
        if (!(change > SETTLED * largest)) break;
    }
    for (int i = 0; i < contacts->count; i++) {
        rh_contact *c = &contacts->items[i];
        if (!c->acts) continue;
        rh_dvec3 sum = rh_d3_add(rh_d3_scale(c->normal, parts[i][0]), rh_d3_scale(c->slide, parts[i][1]));
        c->impulse = rh_d3_add(sum, rh_d3_scale(rh_d3_cross(c->normal, c->slide), parts[i][2]));
    }
    return RH_OK;
}
