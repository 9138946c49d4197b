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
    rh_dvec3 v = rh_d3_scale(d->bends ? d->across : d->along, speed);
    for (int64_t i = 0; i < lab_count(l); i++)
        if (held[i]) velocities(l)[i] = place_along(d, rests(l)[i]) > 0 ? rh_v3_from(v) : rh_v3(0, 0, 0);
}

static void grip(lab *l, const lead *d)
{
    rh_status status = {0};
    lab_check(rh_points_add(points_of(l), "held", RH_POINT_GROUP, &status), &status);
    uint8_t *held = rh_points_data(points_of(l), "held", RH_POINT_GROUP);
    for (int64_t i = 0; i < lab_count(l); i++)
        held[i] = fabs(place_along(d, lab_positions(l)[i])) > 0.5 * d->length;
}

// m: farthest of the nearest neighbours; and how far particles are from where an even stretch has them, root mean
// square, over the spacing.
static void look_at(lab *l, const lead *d, double spacing, const char *name)
{
    double worst = 0, sum = 0, most = 0;
    double w = way(d, lab_time(l));
    for (int64_t i = 0; i < lab_count(l); i++) {
        double nearest = 1e9, at = place_along(d, rests(l)[i]);
        for (int64_t j = 0; j < lab_count(l); j++) {
            double r = (double)rh_v3_length(rh_v3_sub(lab_positions(l)[i], lab_positions(l)[j]));
            if (j != i) nearest = fmin(nearest, r);
        }
        worst = fmax(worst, nearest / spacing);
        double share = fmin(fmax(at / d->length + 0.5, 0), 1);
        double off = place_along(d, rh_v3_sub(lab_positions(l)[i], rests(l)[i])) - (d->bends ? 0 : share * w);
        double aside = rh_d3_dot(d->across, rh_d3_from(rh_v3_sub(lab_positions(l)[i], rests(l)[i])));
        if (d->bends) aside -= share * share * (3 - 2 * share) * w;
        double o = off * off + aside * aside;
        sum += o, most = fmax(most, o);
    }
    double strain = 0;
    const float *f = rh_points_data(points_of(l), "deformation", RH_POINT_MAT3F);
    for (int64_t i = 0; i < 9 * lab_count(l); i++) strain = fmax(strain, fabs((double)f[i]));
    print_message("%s t %.3f way %.3f: nearest at most %.3f spacings, off %.4f (most %.4f), |F-1| %.4f speed %.3f\n", name,
                  lab_time(l), w, worst, sqrt(sum / (double)lab_count(l)) / spacing, sqrt(most) / spacing, strain,
                  lab_max_speed(l));
}

static void run_rod(double angle, int dimension, bool bends, double to, const char *more)
{
    lab l;
    double c = cos(angle * PI / 180), s = sin(angle * PI / 180), a = 0.01, half = 0.1;
    lead d = {{c, s, 0}, {-s, c, 0}, 2 * half - 6 * a, 0, 1.0, bends};
    d.most = (to - 1) * d.length;
    lab_open(&l,
             "dimension: %d\ncell: %g\ngravity: [0, 0, 0]\nrest_position: true\nphysics: {elastoplastic: {stiffness: "
             "1e5, poisson: 0.3, viscosity: 20, %s}}\nbodies: [{shape: {capsule: {from: [%.9g, %.9g, 0], to: [%.9g, %.9g, "
             "0], radius: %g}}}]\n",
             dimension, 2 * a, more, -half * c, -half * s, half * c, half * s, 0.999 * a);
    grip(&l, &d);
    keep_leading(&l, &d);
    char name[100];
    snprintf(name, sizeof name, "rod %dD at %g, %s", dimension, angle, bends ? "bends" : "drawn");
    print_message("%lld particles\n", (long long)lab_count(&l));
    for (int n = 1; n <= 6; n++) {
        lab_run(&l, 0.5 * n, keep_leading, &d);
        look_at(&l, &d, a, name);
    }
    lab_close(&l);
}

static void rods(void **state)
{
    (void)state;
    const char *more = getenv("MORE") ? getenv("MORE") : "fuse: true";
    double to = getenv("TO") ? atof(getenv("TO")) : 2;
    for (int dim = 2; dim <= 3; dim++)
        for (int b = 0; b < 2; b++) {
            run_rod(0, dim, b, b ? 1.5 : to, more);
            run_rod(25, dim, b, b ? 1.5 : to, more);
            run_rod(45, dim, b, b ? 1.5 : to, more);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rods)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
