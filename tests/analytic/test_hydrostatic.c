// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Water at rest stays at rest. Exact solution: u = 0, p = rho g (H - y). Limits are ours: speeds below 0.01 sqrt(g H)
// (the same as for SPH, which settles from a lattice: 0.01 sqrt(g H) after 10 sqrt(H/g)), pressure within 1 % of that
// at the floor, volume within 0.5 %. Floor and surface lie on faces, through cell centres, and between.
#include "lab.h"

typedef struct rest {
    double unit;                // sqrt(g H), m/s
    double start, early, late;  // largest speed / unit: in the first 0.25 s, from then to half time, after
    double half;                // s
    double volume_low, volume_high, volume_first;
} rest;

static void watch(lab *l, void *user)
{
    rest *r = user;
    double t = lab_time(l), speed = lab_max_speed(l) / r->unit, volume = lab_progress(l).volume;
    double *most = t <= 0.25 ? &r->start : t <= r->half ? &r->early : &r->late;
    *most = fmax(*most, speed);
    if (r->volume_first == 0) r->volume_first = r->volume_low = r->volume_high = volume;
    r->volume_low = fmin(r->volume_low, volume);
    r->volume_high = fmax(r->volume_high, volume);
}

// Least squares line p = a + b y through the particles' pressure, and the largest distance from p = rho g (H - y).
static void pressure_line(const lab *l, double height, double *slope, double *worst, double *zero)
{
    const rh_vec3 *x = lab_positions(l);
    const float *p = rh_points_data(rh_world_points(l->world), "pressure", RH_POINT_F32);
    double n = (double)lab_count(l), sy = 0, sp = 0, syy = 0, syp = 0;
    *worst = 0;
    for (int64_t i = 0; i < lab_count(l); i++) {
        double y = (double)x[i].y, q = (double)p[i] / (1000 * 9.81);
        sy += y, sp += q, syy += y * y, syp += y * q;
        *worst = fmax(*worst, fabs(q - (height - y)) / height);
    }
    *slope = (n * syp - sy * sp) / (n * syy - sy * sy);
    *zero = (sp - *slope * sy) / n / -*slope;  // where the line crosses p = 0
}

// Tank floor and water stand `offset` cells above a plane of cell faces, so floor and surface cut the grid there.
// Bodies are seeded in whole layers of particles; the layers are then moved down on the floor together.
static void open_tank(lab *l, int dimension, double cell, double height, double width, double offset)
{
    double floor_at = offset * cell, seeded = ceil(2 * offset - 1e-9) * cell / 2;
    lab_open(l,
             "dimension: %d\ncell: %g\ngravity: [0, -9.81, 0]\nphysics: {liquid: {pressure: true}}\n"
             "bodies: [{shape: {box: {min: [0, %.9g, 0], max: [%g, %.9g, %g]}}}]\n"
             "solids: [{inside_out: true, shape: {box: {min: [0, %.9g, 0], max: [%g, %g, %g]}}}]\n",
             dimension, cell, seeded, width, seeded + height, width, floor_at, width, 2 * height, width);
    rh_vec3 *x = rh_points_data(rh_world_points_mutable(l->world), "P", RH_POINT_VEC3F);
    for (int64_t i = 0; i < lab_count(l); i++) x[i].y += (float)(floor_at - seeded);
    double volume = (double)lab_count(l) * pow(cell / 2, dimension);
    assert_true(fabs(volume / (height * width * (dimension == 3 ? width : 1)) - 1) < 1e-6);
}

// Runs 5 s, prints what it saw and says whether all of it is within the limits.
static bool settle(int dimension, double cell, double height, double width, double offset)
{
    lab l;
    rest r = {.unit = sqrt(9.81 * height), .half = 2.5};
    open_tank(&l, dimension, cell, height, width, offset);
    lab_run(&l, 5, watch, &r);
    double slope, worst, zero, level = offset * cell + height,
                               volume = fmax(r.volume_high / r.volume_first - 1, 1 - r.volume_low / r.volume_first);
    pressure_line(&l, level, &slope, &worst, &zero);
    worst *= level / height;
    print_message("rest %dD, %.1f cells deep, floor %.2f above a face: speed / sqrt(gH): start %.5f, to half %.5f, "
                  "after %.5f; pressure slope "
                  "%+.2f %%, worst %.2f %%, surface at %+.3f cells; volume %.3f %%; penetration %.3f cells\n",
                  dimension, height / cell, offset, r.start, r.early, r.late, 100 * (-slope - 1), 100 * worst,
                  (zero - level) / cell, 100 * volume, l.penetration / cell);
    lab_close(&l);
    return r.start < 0.01 && r.early < 0.01 && r.late < 0.01 && r.late <= 1.2 * fmax(r.start, r.early) &&
           fabs(-slope - 1) < 0.01 && worst < 0.01 && volume < 0.005;
}

static void water_in_two_dimensions_stays_at_rest(void **state)
{
    (void)state;
    static const double offsets[] = {0, 0.25, 0.5, 0.7};
    bool good = settle(2, 0.02, 0.51, 0.5, 0);  // floor on faces, surface through centres
    for (int n = 0; n < 4; n++) good = settle(2, 0.02, 0.5, 0.5, offsets[n]) && good;
    assert_true(good);
}

static void water_in_three_dimensions_stays_at_rest(void **state)
{
    (void)state;
    bool good = settle(3, 0.025, 0.5, 0.2, 0);
    assert_true(settle(3, 0.025, 0.5, 0.2, 0.7) && good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(water_in_two_dimensions_stays_at_rest),
                                       cmocka_unit_test(water_in_three_dimensions_stays_at_rest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
