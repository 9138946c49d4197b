// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The balance of energy and momentum that a run keeps, and the volume that material takes up.
#include "support.h"
#include "grid/extent.h"
#include "grid/transfer.h"
#include "world/world.h"

static rh_progress last;
static double highest;  // J: the most energy that was ever gained
static double hardest;  // J: the most that moving solids had ever done

static void listen(const rh_progress *p, bool frame_done, void *user)
{
    (void)user;
    if (!frame_done || p->step == 0) return;
    last = *p;
    highest = fmax(highest, p->energy_gained);
    hardest = fmax(hardest, p->work_solids);
}

static void run(const char *text)
{
    rh_scene scene;
    rh_status status = {0};
    rh_run_options options = {.progress = listen};
    last = (rh_progress){0};
    highest = hardest = -1e30;
    rh_world *world = world_make(&scene, text);
    assert_ok(rh_world_run(world, &options, &status));
    world_drop(world, &scene);
}

static double length(rh_dvec3 a) { return rh_d3_length(a); }

// Drops that fly, meet nothing and are taken away by a sink at the end: nothing is gained, nothing pushes, and all
// that came has gone.
static void free_flight_balances(void **state)
{
    (void)state;
    static const char *const methods[] = {"liquid", "splash", "sand"};
    for (int n = 0; n < 3; n++)
        for (int gone = 0; gone < 2; gone++) {
            char text[1024];
            snprintf(text, sizeof text,
                     "rheo: 1\ncell: 0.05\ndimension: 2\nframes: {last: 10}\nphysics: {%s: {}}\n"
                     "bodies: [{velocity: [1, 2, 0], shape: {sphere: {center: [0, 1, 0], radius: 0.2}}}]\n"
                     "sinks: [{start: %g, shape: {sphere: {center: [0, 0, 0], radius: 99}}}]\n",
                     methods[n], gone ? 0.3 : 99.0);
            run(text);
            double mass = 1000 * 3.14159265 * 0.04, unit = mass * 9.81;
            print_message("%s%s: gained %.4f J of %.1f, pushed %.5f kg m/s, %lld particles\n", methods[n],
                          gone ? " and gone" : "", last.energy_gained, unit, length(last.pushed),
                          (long long)last.particles);
            assert_true(fabs(last.energy_gained) < 5e-3 * unit);
            assert_true(length(last.pushed) < 2e-3 * mass * 2);
            assert_int_equal(last.particles == 0, gone);
            if (gone) assert_true(last.kinetic_energy == 0 && length(last.momentum) == 0);
        }
}

// A dam break in a closed tank: energy never above the start; much of it is gone in the end, and walls have borne the
// weight.
static void a_closed_tank_only_loses(void **state)
{
    (void)state;
    run("rheo: 1\ncell: 0.05\ndimension: 2\nframes: {last: 25}\nphysics: {liquid: {}}\n"
        "bodies: [{shape: {box: {min: [0, 0, 0], max: [0.5, 1, 1]}}}]\nsolids: [{inside_out: true, shape: {box: {min: "
        "[0, 0, -1], max: [1, 2, 1]}}}]\n");
    double mass = 500, start = mass * 9.81 * 0.5;
    print_message("dam: put in %.1f J, gained %.1f J at the end, %.2f at the most; pushed up %.1f of %.1f kg m/s\n",
                  last.energy_put_in, last.energy_gained, highest, last.pushed.y, mass * 9.81 * last.time);
    assert_near(last.energy_put_in, start, 0.01 * start);
    assert_true(highest < 1e-3 * start);
    assert_true(last.energy_gained < -0.1 * start);
    assert_near(last.pushed.y, mass * 9.81 * last.time, 0.15 * mass * 9.81 * last.time);
}

// A piston pushes into a tank and comes back: its work is known, and what is left over is a small part of the most of
// it. (Pressure of splash also does work of its own on cells that the piston has overfilled.)
static void the_work_of_a_piston_is_known(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        double cell, most;
    } cases[] = {{"liquid", 0.04, 0.06}, {"splash", 0.04, 0.15}};
    for (int n = 0; n < 2; n++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "rheo: 1\ncell: %g\ndimension: 2\nframes: {last: 40}\nphysics: {%s: {}}\n"
                 "bodies: [{shape: {box: {min: [0, 0, -1], max: [1, 0.4, 1]}}}]\n"
                 "solids:\n - {inside_out: true, shape: {box: {min: [0, 0, -1], max: [1, 1.5, 1]}}}\n"
                 " - {shape: {box: {min: [-0.5, -0.2, -1], max: [0, 2, 1]}}, motion: {interpolation: smooth, keys: "
                 "[{time: 0}, {time: 0.8, translate: [0.5, 0, 0]}, {time: 1.6}]}}\n",
                 cases[n].cell, cases[n].method);
        run(text);
        // Half of the room: the same water twice as high.
        double least = 1000 * 9.81 * 0.4 * 0.2;
        print_message("piston, %s: %.0f J at the most, %.1f left over at the most\n", cases[n].method, hardest,
                      highest);
        assert_true(hardest > least && hardest < 1.5 * least);
        assert_true(highest < cases[n].most * hardest);
    }
}

// A drop in free flight that a force, or a program, pulls upwards: its work is all that the drop has more.
static void the_work_of_forces_and_programs_is_known(void **state)
{
    (void)state;
    static const char *const pulls[] = {
        "forces: [{force: {uniform: {acceleration: [1, 12, 0]}}}]\n",
#ifndef RHEO_NO_LANG
        "expressions: [{at: forces, code: 'v@v += {1.0f, 12.0f, 0.0f} * float($dt);'}]\n",
#endif
    };
    for (size_t n = 0; n < sizeof pulls / sizeof *pulls; n++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "rheo: 1\ncell: 0.05\ndimension: 2\nframes: {last: 12}\nphysics: {liquid: {}}\n"
                 "bodies: [{velocity: [1, 2, 0], shape: {sphere: {center: [0, 1, 0], radius: 0.2}}}]\n%s",
                 pulls[n]);
        run(text);
        double work = n ? last.work_programs : last.work_forces;
        print_message("pull %d: work %.1f J, left over %.2f J\n", (int)n, work, last.energy_gained);
        assert_true(work > 500);
        assert_true(fabs(last.energy_gained) < 0.02 * work);
    }
}

// --- the volume of cells that are filled -----------------------------------------------------------------------------
// A pool of particles on a lattice with its surface anywhere between cells is found within a tenth of a cell; crammed
// to twice the particles it takes hardly more.
static void filled_cells_have_their_volume(void **state)
{
    (void)state;
    enum { AXIS = 4, WIDE = 32 * AXIS };
    for (int n = 0; n < 8; n++) {
        double height = 12 + n / 8.0, spacing = 1.0 / AXIS;
        int layers = (int)(height * AXIS), count = WIDE * layers;
        rh_status status = {0};
        rh_points points;
        rh_arena arena;
        rh_tiles tiles;
        rh_points_init(&points);
        rh_arena_init(&arena, "test");
        assert_ok(rh_points_add(&points, "P", RH_POINT_VEC3F, &status));
        assert_ok(rh_points_resize(&points, count, &status));
        rh_vec3 *p = rh_points_data(&points, "P", RH_POINT_VEC3F);
        for (int i = 0; i < count; i++)
            p[i] = (rh_vec3){(float)((i % WIDE + 0.5) * spacing), (float)(height - (i / WIDE + 0.5) * spacing), 0};
        assert_ok(rh_tiles_build(&tiles, 2, 1, p, count, 3, &arena, &status));
        float *filled = rh_arena_take_zero(&arena, (size_t)rh_tiles_values(&tiles) * sizeof *filled, &status),
              *open = rh_arena_take(&arena, 64 * sizeof *open, &status);
        const float **room = rh_arena_take(&arena, (size_t)tiles.count * sizeof *room, &status);
        for (int c = 0; c < 64; c++) open[c] = 1;
        for (int32_t t = 0; t < tiles.count; t++) {
            room[t] = open;
            for (int c = 0; c < 64; c++) {
                rh_vec3 x = rh_cell_center(&tiles, t, c & 7, c >> 3 & 7, 0);
                double sum = 0;
                for (int i = 0; i < count; i++)
                    sum += fmax(0, 1 - fabs((double)(p[i].x - x.x))) * fmax(0, 1 - fabs((double)(p[i].y - x.y)));
                filled[(int64_t)t * 64 + c] = (float)(sum * spacing * spacing);
            }
        }
        double volume = rh_extent_volume(&tiles, filled, room, &arena, &status), wanted = count * spacing * spacing,
               border = 2 * (32 + layers * spacing);
        print_message("pool of %.3f cells: volume %+.3f cells of border\n", height, (volume - wanted) / border);
        assert_near(volume, wanted, 0.05 * border);
        for (int64_t c = 0; c < rh_tiles_values(&tiles); c++) filled[c] *= 2;
        assert_true(rh_extent_volume(&tiles, filled, room, &arena, &status) < wanted + 0.5 * border);
        rh_points_free(&points);
        rh_arena_free(&arena);
    }
    assert_int_equal(rh_memory_bytes(), 0);
}

// Particles that vanish without a sink or a program are volume that is missing: a tenth of a tank, by each method.
static void lost_particles_show(void **state)
{
    (void)state;
    static const char *const methods[] = {"liquid", "splash", "sand"};
    for (int n = 0; n < 3; n++) {
        char text[512];
        rh_scene scene;
        rh_status status = {0};
        rh_progress whole, robbed;
        snprintf(text, sizeof text,
                 "rheo: 1\ncell: 0.05\ndimension: 2\nframes: {last: 10}\nphysics: {%s: {}}\n"
                 "bodies: [{shape: {box: {min: [0, 0, 0], max: [2, 1, 1]}}}]\n"
                 "solids: [{inside_out: true, shape: {box: {min: [0, 0, -1], max: [2, 2, 1]}}}]\n",
                 methods[n]);
        rh_world *world = world_make(&scene, text);
        rh_points *points = rh_world_points_mutable(world);
        assert_ok(rh_world_step(world, 0.005, NULL, &status));
        rh_world_progress(world, &whole);
        assert_ok(rh_points_resize(points, points->count * 9 / 10, &status));
        assert_ok(rh_world_step(world, 0.005, NULL, &status));
        rh_world_progress(world, &robbed);
        print_message("%s: volume off by %+.4f, with a tenth lost %+.4f\n", methods[n], whole.volume_error,
                      robbed.volume_error);
        assert_true(fabs(whole.volume_error) < 0.02);
        assert_true(fabs(robbed.volume_error + 0.1) < 0.03);
        world_drop(world, &scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_flight_balances),           cmocka_unit_test(a_closed_tank_only_loses),
        cmocka_unit_test(the_work_of_a_piston_is_known),  cmocka_unit_test(the_work_of_forces_and_programs_is_known),
        cmocka_unit_test(filled_cells_have_their_volume), cmocka_unit_test(lost_particles_show)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
