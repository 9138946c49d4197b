// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What walls add to the system of smoothed particles (`solver: isph`): a drop that falls on a solid with air all around
// it (T. Takahashi, figure 2.8), and a paddle in a tank, with each of the terms.
#include "lab.h"

static const char *const terms[] = {"regularised", "mirrored", "unknowns"};

typedef struct watch {
    double most, last;  // J/kg: the largest gain from one look to the next
} watch;

static void look(lab *l, void *user)
{
    watch *w = user;
    double now = lab_energy(l);
    w->most = fmax(w->most, now - w->last);
    w->last = now;
    for (int64_t i = 0; i < lab_count(l); i++) assert_true(isfinite(lab_positions(l)[i].y));
}

// 0.16 m of water on a ball of 0.12 m, 0.45 m above nothing: it lands at 1.4 m/s, runs down and drops off.
static void a_drop_on_a_floating_solid(void **state)
{
    (void)state;
    for (int n = 0; n < 3; n++) {
        lab l;
        lab_open(&l,
                 "cell: 0.04\nphysics: {sph: {solver: isph, walls: %s, kernel: mueller, time_step: 0.001}}\n"
                 "bodies: [{shape: {sphere: {center: [0.02, 0.3, 0], radius: 0.08}}}]\n"
                 "solids: [{shape: {sphere: {center: [0, 0, 0], radius: 0.12}}}]\n",
                 terms[n]);
        int64_t all = lab_count(&l);
        watch w = {.last = lab_energy(&l)};
        double before = w.last;
        lab_run(&l, 0.4, look, &w);
        int64_t below = 0;
        for (int64_t i = 0; i < all; i++) below += lab_positions(&l)[i].y < 0;
        print_message("drop on a ball, %s: energy from %.3f to %.3f J/kg, largest gain of a step %.2g; %lld of %lld "
                      "below its middle\n",
                      terms[n], before, lab_energy(&l), w.most, (long long)below, (long long)all);
        assert_int_equal(lab_count(&l), all);
        assert_true(w.most < 0.01 && lab_energy(&l) < before);
        assert_true(l.penetration < 0);
        assert_true(below > all / 10);
        lab_close(&l);
    }
}

// A plate pushes water 0.2 m deep along a tank at 0.3 m/s, from 0 to 0.15 m: nothing stays behind it, and the level
// before it rises by the water that it takes away.
static void a_paddle(void **state)
{
    (void)state;
    for (int n = 0; n < 3; n++) {
        lab l;
        lab_open(&l,
                 "dimension: 2\ncell: 0.04\nphysics: {sph: {solver: isph, walls: %s, kernel: mueller, time_step: "
                 "0.001, artificial_viscosity: 0.5, density_correction: 1}}\n"
                 "bodies: [{shape: {box: {min: [0, 0, -1], max: [0.6, 0.2, 1]}}}]\n"
                 "solids:\n - {inside_out: true, shape: {box: {min: [-0.3, 0, -1], max: [0.6, 1, 1]}}}\n"
                 " - {shape: {box: {min: [-0.1, -0.1, -1], max: [0, 0.8, 1]}}, motion: {keys: [{time: 0}, {time: 0.5, "
                 "translate: [0.15, 0, 0]}]}}\n",
                 terms[n]);
        int64_t all = lab_count(&l), behind = 0;
        double low = lab_center(&l).y;
        lab_run(&l, 1.5, NULL, NULL);
        for (int64_t i = 0; i < all; i++) behind += lab_positions(&l)[i].x < 0.15f;
        double high = lab_center(&l).y;
        print_message("paddle, %s: centre from %.4f to %.4f m, rms speed %.3f m/s\n", terms[n], low, high,
                      sqrt(2 * lab_kinetic(&l)));
        assert_int_equal(behind, 0);
        assert_true(fabs(high / low - 0.6 / 0.45) < 0.06 && sqrt(2 * lab_kinetic(&l)) < 0.15);
        assert_true(l.penetration < 0);
        lab_close(&l);
    }
}

// Water 0.5 m deep at rest: the line through the pressures of the particles between 0.1 and 0.4 m, p = p0 - slope y,
// and the pressure of the lowest layer, in rho g and rho g times its depth; means over 0.2 s.
typedef struct rest {
    double slope, floor, looks;
} rest;

static void watch_rest(lab *l, void *user)
{
    rest *r = user;
    const rh_vec3 *x = lab_positions(l);
    const float *p = rh_points_data(rh_world_points(l->world), "pressure", RH_POINT_F32);
    double n = 0, sy = 0, sp = 0, syy = 0, syp = 0, low = 0, lowest = 0;
    if (lab_time(l) < 1) return;
    for (int64_t i = 0; i < lab_count(l); i++) {
        double y = (double)x[i].y, q = (double)p[i] / (1000 * 9.81);
        if (y < 0.02) low += q / (0.5 - y), lowest++;
        if (y > 0.1 && y < 0.4) n++, sy += y, sp += q, syy += y * y, syp += y * q;
    }
    r->slope += (n * syp - sy * sp) / (n * syy - sy * sy), r->floor += low / lowest, r->looks++;
}

static void pressure_at_rest(void **state)
{
    (void)state;
    for (int n = 0; n < 3; n++) {
        lab l;
        rest r = {0};
        lab_open(&l,
                 "dimension: 2\ncell: 0.04\nphysics: {sph: {solver: isph, walls: %s, kernel: mueller, time_step: "
                 "0.001, artificial_viscosity: 0.5, density_correction: 1}}\n"
                 "bodies: [{shape: {box: {min: [0, 0, -1], max: [0.4, 0.5, 1]}}}]\n"
                 "solids: [{inside_out: true, shape: {box: {min: [0, 0, -1], max: [0.4, 1, 1]}}}]\n",
                 terms[n]);
        lab_run(&l, 1.2, watch_rest, &r);
        print_message("rest, %s: pressure's slope %.3f, of the lowest layer %.3f, rms speed %.4f m/s\n", terms[n],
                      r.slope / r.looks, r.floor / r.looks, sqrt(2 * lab_kinetic(&l)));
        assert_true(fabs(r.slope / r.looks + 1) < 0.1 && l.penetration < 0);
        if (n == 2) assert_true(fabs(r.floor / r.looks - 1) < 0.2);
        lab_close(&l);
    }
}

static void unknowns_go_without_dynamic_solids(void **state)
{
    (void)state;
    static const char text[] = "rheo: 1\ncell: 0.1\nphysics: {sph: {solver: isph, walls: unknowns, time_step: 0.001}}\n"
                               "bodies: [{shape: {sphere: {center: [0, 1, 0], radius: 0.3}}}]\n"
                               "solids: [{shape: {sphere: {radius: 0.2}}, dynamic: {density: 500}}]\n";
    rh_scene scene;
    rh_world *world = NULL;
    rh_status status = {0};
    lab_check(rh_scene_load_text("lab.yaml", text, strlen(text), NULL, 0, &scene, &status), &status);
    assert_int_equal(rh_world_create(&scene, &world, &status), RH_USER);
    assert_non_null(strstr(status.message, "found walls: unknowns in a scene with dynamic solids"));
    rh_status_clear(&status);
    rh_scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_drop_on_a_floating_solid), cmocka_unit_test(a_paddle),
                                       cmocka_unit_test(pressure_at_rest),
                                       cmocka_unit_test(unknowns_go_without_dynamic_solids)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
