// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The same obstacle as a primitive and as a triangle mesh gives nearly the same flow: a dam breaks over a ball. The
// mesh is the ball's inscribed polyhedron of 48 x 24 facets (at most 0.5 % of the radius inside) and its distance is
// sampled on a grid; two runs drift apart as any two splashes do, so bulk measures are compared, and only until shortly
// after the impact.
#include "lab.h"
#include "unit/scratch.h"

enum { AROUND = 48, RINGS = 24, SAMPLES = 6 };
static const double RADIUS = 0.12, CENTER[3] = {0.6, 0.12, 0.2};

static void write_ball(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int j = 0; j <= RINGS; j++)
        for (int i = 0; i < AROUND; i++) {
            double polar = M_PI * j / RINGS, turn = 2 * M_PI * i / AROUND;
            if ((j == 0 || j == RINGS) && i) continue;
            fprintf(file, "v %.9g %.9g %.9g\n", CENTER[0] + RADIUS * sin(polar) * cos(turn),
                    CENTER[1] + RADIUS * cos(polar), CENTER[2] - RADIUS * sin(polar) * sin(turn));
        }
    int last = 2 + (RINGS - 1) * AROUND;
    for (int i = 0; i < AROUND; i++) {
        int next = (i + 1) % AROUND;
        fprintf(file, "f 1 %d %d\n", 2 + i, 2 + next);
        for (int j = 0; j < RINGS - 2; j++) {
            int a = 2 + j * AROUND + i, b = 2 + j * AROUND + next;
            fprintf(file, "f %d %d %d %d\n", a, a + AROUND, b + AROUND, b);
        }
        fprintf(file, "f %d %d %d\n", last, last - AROUND + next, last - AROUND + i);
    }
    assert_int_equal(fclose(file), 0);
}

typedef struct flow {
    rh_dvec3 center[SAMPLES];
    double kinetic[SAMPLES], penetration, volume_error;
} flow;

static void flow_past(const char *obstacle, flow *f)
{
    lab l;
    lab_open(&l,
             "cell: 0.0333333333\ngravity: [0, -9.81, 0]\nphysics: {liquid: {}}\n"
             "bodies: [{shape: {box: {min: [0, 0, 0], max: [0.3, 0.4, 0.4]}}}]\n"
             "solids:\n  - {inside_out: true, shape: {box: {min: [0, 0, 0], max: [1, 0.8, 0.4]}}}\n  - %s\n",
             obstacle);
    *f = (flow){.penetration = -1};
    for (int n = 0; n < SAMPLES; n++) {
        lab_run(&l, 0.1 * (n + 1), NULL, NULL);
        f->center[n] = lab_center(&l);
        f->kinetic[n] = lab_kinetic(&l);
        f->penetration = fmax(f->penetration, l.penetration / l.scene.cell);
    }
    f->volume_error = lab_progress(&l).volume_error;
    lab_close(&l);
}

static void a_mesh_flows_like_the_primitive(void **state)
{
    (void)state;
    scratch folder = scratch_make();
    char mesh[1200], ball[256], path[512];
    snprintf(path, sizeof path, "%s", scratch_at(&folder, "ball.obj").text);
    write_ball(path);
    snprintf(mesh, sizeof mesh, "{shape: {mesh: {file: %s}}}", path);
    snprintf(ball, sizeof ball, "{shape: {sphere: {center: [%g, %g, %g], radius: %g}}}", CENTER[0], CENTER[1],
             CENTER[2], RADIUS);
    flow a, b, none;
    flow_past(ball, &a);
    flow_past(mesh, &b);
    flow_past("{shape: {sphere: {center: [0.6, -0.5, 0.2], radius: 0.12}}}", &none);  // below the floor: no obstacle
    scratch_remove(&folder);
    double apart = 0, energy = 0, matters = 0;
    for (int n = 0; n < SAMPLES; n++) {
        apart = fmax(apart, rh_d3_length(rh_d3_sub(a.center[n], b.center[n])));
        matters = fmax(matters, rh_d3_length(rh_d3_sub(a.center[n], none.center[n])));
        energy = fmax(energy, fabs(b.kinetic[n] / a.kinetic[n] - 1));
    }
    print_message("mesh against primitive, 0.6 s: centres of mass at most %.4f m apart (the ball itself makes %.4f m), "
                  "kinetic energy %.1f %%; "
                  "penetration %.3f and %.3f cells, volume error %+.2f and %+.2f %%\n",
                  apart, matters, 100 * energy, a.penetration, b.penetration, 100 * a.volume_error,
                  100 * b.volume_error);
    assert_true(matters > 0.01);
    assert_true(apart < 0.05 * matters + 0.001);
    assert_true(energy < 0.05);
    assert_true(a.penetration < 0.05 && b.penetration < 0.05);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_mesh_flows_like_the_primitive)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
