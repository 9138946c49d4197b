// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What solids receive in a step is one measurement: the solids have it, probes tell it as a force, and parts of a solid
// add up to the whole. tests/analytic/test_probes.c holds it against hydrostatics and the momentum of a tank.
#include <math.h>
#include "support.h"
#include "world/parts.h"
#include "world/probes.h"

static const char text[] = "rheo: 1\ndimension: 2\ncell: 0.02\nframes: {last: 3}\nphysics: {liquid: {}}\n"
                           "bodies: [{shape: {box: {min: [0, 0, -1], max: [0.4, 0.3, 1]}}}]\n"
                           "solids:\n - {inside_out: true, shape: {box: {min: [0, 0, -1], max: [0.4, 1, 1]}}}\n"
                           " - {name: ball, shape: {sphere: {center: [0.21, 0.12, 0], radius: 0.08}}, motion: {keys: "
                           "[{time: 0}, {time: 0.2, translate: [0.05, 0, 0]}]}}\n"
                           "probes:\n - {name: ball, where: {solid: {name: ball}}}\n"
                           " - {name: left, where: {solid: {name: ball, max: [0.21, 1e30, 1e30]}}}\n"
                           " - {name: right, where: {solid: {name: ball, min: [0.21, -1e30, -1e30]}}}\n";

static double column(const rh_probes *p, const char *title)
{
    for (int c = 0; c < rh_probes_columns(p); c++)
        if (strncmp(rh_probes_title(p, c), title, strlen(title)) == 0) return rh_probes_latest(p)[c];
    fail_msg("no column %s", title);
    return 0;
}

static void solids_have_what_probes_tell(void **state)
{
    (void)state;
    rh_scene scene;
    rh_world *world;
    rh_status status = {0};
    assert_ok(rh_scene_load_text("s.yaml", text, strlen(text), NULL, 0, &scene, &status));
    assert_ok(rh_world_create(&scene, &world, &status));
    for (int step = 0; step < 5; step++) {
        double dt, before = world->materials[0].last_dt;
        assert_ok(rh_world_step(world, 0.01, &dt, &status));
        const rh_probes *p = rh_world_probes(world, 0);
        const rh_obstacle *ball = &world->materials[0].geometry.obstacles.items[1];
        double kick = step ? 0.5 * (before + dt) : dt;  // how long forces acted
        assert_int_equal(ball->kind, RH_SOLID_KEYED);
        assert_true(ball->received.linear.y > 0);  // lifted
        double y = column(p, "ball.force.y"), x = column(p, "ball.force.x"), m = column(p, "ball.moment.z");
        assert_near(ball->received.linear.y / y, kick, 0.51 * kick);
        double time = ball->received.linear.y / y;
        assert_near(ball->received.linear.x, x * time, 1e-9 * fabs(y * time));
        // A ball feels no moment but what comes of cells: pressure goes through its centre.
        assert_true(fabs(m) < 0.1 * 0.08 * y);
        assert_near(column(p, "left.force.y") + column(p, "right.force.y"), y, 1e-9 * fabs(y));
        assert_near(column(p, "left.force.x") + column(p, "right.force.x"), x, 1e-9 * fabs(y));
        // The tank was not asked for.
        assert_true(world->materials[0].geometry.obstacles.items[0].received.linear.y == 0);
    }
    rh_world_free(world);
    rh_scene_free(&scene);
    assert_int_equal(rh_memory_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(solids_have_what_probes_tell)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
