// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Zhu 2005, eq. 2.7 (docs/sources.md), prints the sum of masses where the inertia tensor belongs; here it is the Gram
// matrix of the six motions, which holds masses, centre and inertia tensor. Masses are multiples of a half and places
// of a half but for cells cut by walls, so its sums are exact.
#include "physics/sand/rigid.h"

#include <math.h>
#include <string.h>
#include "base/assert.h"

// The six motions' velocities at a place, along an axis.
static inline void motions_along(int axis, rh_dvec3 place, double out[6])
{
    const double r[3] = {place.x, place.y, place.z};
    int b = (axis + 1) % 3, c = (axis + 2) % 3;
    memset(out, 0, 6 * sizeof *out);
    out[axis] = 1;
    out[3 + b] = r[c];  // (omega x r)_a = omega_b r_c - omega_c r_b
    out[3 + c] = -r[b];
}

void rh_rigid_add(rh_rigid *body, int axis, rh_dvec3 place, double mass, double velocity)
{
    RH_ASSERT(axis >= 0 && axis < 3 && mass >= 0);
    double f[6];
    motions_along(axis, place, f);
    for (int i = 0; i < 6; i++) {
        if (f[i] == 0) continue;
        body->momentum[i] += mass * f[i] * velocity;
        for (int j = i; j < 6; j++) body->gram[i][j] += mass * f[i] * f[j];
    }
}

void rh_rigid_merge(rh_rigid *body, const rh_rigid *part)
{
    for (int i = 0; i < 6; i++) {
        body->momentum[i] += part->momentum[i];
        for (int j = i; j < 6; j++) body->gram[i][j] += part->gram[i][j];
    }
}

// Gauss-Jordan in place; motions whose pivot vanishes stay out: cells that share faces can only miss rotations about
// axes of the grid, and those have a pivot of exactly 0 but for rounding, while two cells already have one of a quarter
// of their mass.
static void invert(double a[6][6])
{
    bool in[6];
    double mass = fmax(a[0][0], fmax(a[1][1], a[2][2]));
    for (int k = 0; k < 6; k++) {
        in[k] = a[k][k] > 1e-6 * mass;
        if (!in[k]) continue;
        double d = 1 / a[k][k];
        a[k][k] = 1;
        for (int j = 0; j < 6; j++) a[k][j] *= d;
        for (int i = 0; i < 6; i++) {
            double f = a[i][k];
            if (i == k) continue;
            a[i][k] = 0;
            for (int j = 0; j < 6; j++) a[i][j] -= f * a[k][j];
        }
    }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            if (!in[i] || !in[j]) a[i][j] = 0;
}

static void apply(double a[6][6], const double x[6], double y[6])
{
    for (int i = 0; i < 6; i++) {
        y[i] = 0;
        for (int j = 0; j < 6; j++) y[i] += a[i][j] * x[j];
    }
}

void rh_rigid_solve(rh_rigid *body)
{
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++) body->gram[i][j] = body->gram[j][i];
    memcpy(body->inverse, body->gram, sizeof body->inverse);
    invert(body->inverse);
    apply(body->inverse, body->momentum, body->motion);
    double held[6], more[6];  // once more for what rounding left: the origin is a corner of the group, not its centre
    apply(body->gram, body->motion, held);
    for (int i = 0; i < 6; i++) held[i] = body->momentum[i] - held[i];
    apply(body->inverse, held, more);
    for (int i = 0; i < 6; i++) body->motion[i] += more[i];
}

rh_dvec3 rh_rigid_velocity(const rh_rigid *body, rh_dvec3 place)
{
    const double *m = body->motion;
    return rh_d3_add(rh_d3(m[0], m[1], m[2]), rh_d3_cross(rh_d3(m[3], m[4], m[5]), place));
}

static void general(rh_dvec3 place, rh_dvec3 impulse, double out[6])
{
    rh_dvec3 turn = rh_d3_cross(place, impulse);
    const double all[6] = {impulse.x, impulse.y, impulse.z, turn.x, turn.y, turn.z};
    memcpy(out, all, sizeof all);
}

void rh_rigid_apply_impulse(rh_rigid *body, rh_dvec3 place, rh_dvec3 impulse)
{
    double force[6], change[6];
    general(place, impulse, force);
    apply(body->inverse, force, change);
    for (int i = 0; i < 6; i++) body->motion[i] += change[i];
}

double rh_rigid_inverse_mass(const rh_rigid *body, rh_dvec3 place, rh_dvec3 way)
{
    double force[6], sum = 0;
    general(place, way, force);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) sum += force[i] * body->inverse[i][j] * force[j];
    return sum;
}
