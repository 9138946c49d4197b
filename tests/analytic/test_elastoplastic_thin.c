// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Elastoplastic rods and sheets two particles thick: they bend, are drawn to twice their length and come back, along
// the lattice and at angles to it.
#include <math.h>
#include "lab.h"

static const double PI = 3.14159265358979;

static rh_points *points_of(lab *l) { return rh_world_points_mutable(l->world); }
static rh_vec3 *velocities(lab *l) { return rh_points_data(points_of(l), "v", RH_POINT_VEC3F); }
static const rh_vec3 *rests(lab *l) { return rh_points_data(points_of(l), "rest", RH_POINT_VEC3F); }

// A rod or sheet along `along`; `held` at both ends, the far one is led.
typedef struct lead {
    rh_dvec3 along, across;  // unit
    double length;           // m: of what is between the grips
    double most;             // m: way of the grip
    double time;             // s: there; then it stays half as long, and goes back
    bool bends;              // across instead of along
} lead;

static double way(const lead *d, double t)
{
    double s = t < d->time ? t / d->time : t < 1.5 * d->time ? 1 : fmax(0, 2.5 - t / d->time);
    return d->most * s * s * (3 - 2 * s);
}

static double place_along(const lead *d, rh_vec3 x) { return rh_d3_dot(d->along, rh_d3_from(x)); }

static void keep_leading(lab *l, void *user)
{
    const lead *d = user;
    const uint8_t *held = rh_points_data(points_of(l), "held", RH_POINT_GROUP);
    double now = lab_time(l), dt = 1e-4, speed = (way(d, now + dt) - way(d, now)) / dt;
    rh_dvec3 to = d->bends ? d->across : d->along;
    for (int64_t i = 0; i < lab_count(l); i++) {
        rh_vec3 moved = rh_v3_sub(lab_positions(l)[i], rests(l)[i]);
        double behind = way(d, now) - rh_d3_dot(to, rh_d3_from(moved));  // steps vary: it must not add up
        if (!held[i]) {  // once it is back, friction of our own ends its swing
            if (now > 2.5 * d->time) velocities(l)[i] = rh_v3_scale(velocities(l)[i], 0.98f);
            continue;
        }
        velocities(l)[i] = rh_v3(0, 0, 0);
        if (place_along(d, rests(l)[i]) > 0) velocities(l)[i] = rh_v3_from(rh_d3_scale(to, speed + behind / 0.02));
    }
}

static void grip(lab *l, const lead *d)
{
    rh_status status = {0};
    lab_check(rh_points_add(points_of(l), "held", RH_POINT_GROUP, &status), &status);
    uint8_t *held = rh_points_data(points_of(l), "held", RH_POINT_GROUP);
    for (int64_t i = 0; i < lab_count(l); i++) held[i] = fabs(place_along(d, lab_positions(l)[i])) > 0.5 * d->length;
}

// Spacings that particles are from where an even stretch (or a bend like that of a clamped beam) has them at most,
// along and across the plane of the motion.
static double farthest_off(lab *l, const lead *d, double spacing)
{
    double most = 0, way_now = way(d, lab_time(l));
    for (int64_t i = 0; i < lab_count(l); i++) {
        double share = fmin(fmax(place_along(d, rests(l)[i]) / d->length + 0.5, 0), 1);
        rh_vec3 moved = rh_v3_sub(lab_positions(l)[i], rests(l)[i]);
        double along = place_along(d, moved) - (d->bends ? 0 : share * way_now);
        double across = rh_d3_dot(d->across, rh_d3_from(moved));
        if (d->bends) across -= share * share * (3 - 2 * share) * way_now;
        most = fmax(most, sqrt(along * along + across * across));
    }
    return most / spacing;
}

// Drawn or bent and led back. A rod that parts is off by half the way of its grip, 7 spacings.
static void there_and_back(lab *l, lead *d, double spacing, const char *name)
{
    grip(l, d);
    keep_leading(l, d);
    lab_run(l, 1.4 * d->time, keep_leading, d);
    double there = farthest_off(l, d, spacing);
    lab_run(l, 3.6 * d->time, keep_leading, d);
    double back = farthest_off(l, d, spacing);
    print_message("%s, %s, %d particles: off by %.2f spacings there, %.3f back\n", name, d->bends ? "bent" : "drawn",
                  (int)lab_count(l), there, back);
    assert_true(there < 2);
    assert_true(back < 0.1);
    lab_close(l);
}

static const char *const MATTER = "gravity: [0, 0, 0]\nrest_position: true\nphysics: {elastoplastic: {stiffness: 1e4, "
                                  "poisson: 0.3, law: neo_hookean, viscosity: 10}}\n";

// The law is one whose force grows with every stretch: with hencky necks grow from 2.7 on.
static void rods(void **state)
{
    (void)state;
    static const double angles[] = {0, 25, 45, 25, 45, 25, 45};
    const double a = 0.01, half = 0.1;
    for (int n = 0; n < 7; n++) {
        if (n % 2 == 0 && !getenv("RHEO_LONG")) continue;  // 25 degrees drawn and bent, and drawn in space
        lab l;
        double angle = angles[n] * PI / 180, c = cos(angle), s = sin(angle);
        lead d = {{c, s, 0}, {-s, c, 0}, 2 * half - 6 * a, 0, 0.4, n == 3 || n == 4};
        char name[80];
        snprintf(name, sizeof name, "rod in %s at %g degrees", n < 5 ? "the plane" : "space", angles[n]);
        d.most = d.bends ? 0.5 * d.length : d.length;
        lab_open(&l,
                 "dimension: %d\ncell: %g\n%sbodies: [{shape: {capsule: {from: [%.9g, %.9g, 0], to: [%.9g, %.9g, 0], "
                 "radius: %g}}}]\n",
                 n < 5 ? 2 : 3, 2 * a, MATTER, -half * c, -half * s, half * c, half * s, 0.999 * a);
        there_and_back(&l, &d, a, name);
    }
}

static void sheets(void **state)
{
    (void)state;
    static const double angles[] = {25, 45, 25};
    const double a = 0.01, half = 0.06;
    for (int n = 0; n < 3; n++) {
        if (n < 2 && !getenv("RHEO_LONG")) continue;
        lab l;
        double angle = angles[n] * PI / 180, c = cos(angle), s = sin(angle);
        lead d = {{c, s, 0}, {-s, c, 0}, 2 * half - 5 * a, 0, 0.4, n == 2};
        char name[80];
        snprintf(name, sizeof name, "sheet at %g degrees", angles[n]);
        d.most = d.bends ? 0.5 * d.length : d.length;
        lab_open(
            &l, "cell: %g\n%sbodies: [{shape: {cylinder: {from: [%.9g, %.9g, 0], to: [%.9g, %.9g, 0], radius: %g}}}]\n",
            2 * a, MATTER, s * a, -c * a, -s * a, c * a, half);
        there_and_back(&l, &d, a, name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rods), cmocka_unit_test(sheets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
