// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The run: times and frames, failures told and cleaned up, no allocation in a steady step.
#include "support.h"

#define DAM                                                              \
    "rheo: 1\ncell: 0.05\nframes: {last: 4}\nphysics: {liquid: {}}\n"    \
    "bodies: [{shape: {box: {min: [0, 0, 0], max: [0.4, 0.5, 0.3]}}}]\n" \
    "solids: [{inside_out: true, shape: {box: {min: [0, 0, 0], max: [0.8, 1, 0.3]}}}]\n"

typedef struct tale {
    int frames, steps;
    double time, dt_sum;
} tale;

static void listen(const rh_progress *p, bool frame_done, void *user)
{
    tale *t = user;
    t->frames += frame_done;
    if (p->step > t->steps) t->dt_sum += p->dt, t->steps++;
    assert_true(p->time >= t->time && p->frame_fraction >= 0 && p->frame_fraction <= 1);
    t->time = p->time;
    assert_true(p->frame >= 1 && p->frame <= 4 && p->last_frame == 4);
}

// Frame f is at (f - 1) / 24 s to the last bit, and the steps add up to it.
static void frames_come_in_time(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    rh_world *world = world_make(&scene, DAM);
    tale t = {0};
    rh_run_options options = {.progress = listen, .user = &t};
    assert_ok(rh_world_run(world, &options, &status));
    assert_int_equal(t.frames, 4);
    assert_true(rh_world_time(world) == 3.0 / 24);
    assert_near(t.dt_sum, 3.0 / 24, 1e-12);
    rh_progress p;
    rh_world_progress(world, &p);
    assert_int_equal(p.step, t.steps);
    assert_int_equal(p.particles, 16 * 20 * 12);
    assert_true(rh_points_is_valid(rh_world_points(world)));
    world_drop(world, &scene);
}

static void sizes_are_predicted(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    rh_prediction guess;
    scene_make(&scene, DAM);
    assert_ok(rh_world_predict(&scene, &guess, &status));
    assert_int_equal(guess.particles, 16 * 20 * 12);
    assert_int_equal(guess.frames, 4);
    assert_int_equal(guess.amount_count, 1);
    assert_near(guess.amounts[0].asked, 0.4 * 0.5 * 0.3, 1e-9);
    assert_near(guess.amounts[0].given, 0.4 * 0.5 * 0.3, 1e-9);
    rh_prediction_free(&guess);
    rh_world *world;
    rh_run_options options = {0};
    assert_ok(rh_world_create(&scene, &world, &status));
    int64_t before = rh_memory_peak();
    assert_ok(rh_world_run(world, &options, &status));
    // An estimate: right within a factor of three.
    double peak = (double)rh_memory_peak();
    assert_true(rh_memory_peak() > before);  // this run's, not that of a test before it
    assert_true((double)guess.bytes_memory > peak / 3 && (double)guess.bytes_memory < 3 * peak);
    world_drop(world, &scene);
}

// Water at rest: once the arena has grown to its size, a step that may not allocate at all still succeeds.
static void steady_steps_allocate_nothing(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    rh_world *world = world_make(&scene,
                                 "rheo: 1\ncell: 0.05\nphysics: {liquid: {}}\n"
                                 "bodies: [{shape: {box: {min: [0, 0, 0], max: [0.8, 0.4, 0.3]}}}]\n"
                                 "solids: [{inside_out: true, shape: {box: {min: [0, 0, 0], max: [0.8, 1, 0.3]}}}]\n");
    for (int n = 0; n < 6; n++) assert_ok(rh_world_step(world, 0.005, NULL, &status));
    rh_memory_fail_after(0);
    rh_code code = RH_OK;
    for (int n = 0; n < 3 && code == RH_OK; n++) code = rh_world_step(world, 0.005, NULL, &status);
    rh_memory_fail_after(-1);
    if (code != RH_OK) print_message("%s\n", status.message);
    assert_int_equal(code, RH_OK);
    world_drop(world, &scene);
}

// Memory that runs out at any point of creation or of two steps is told, and nothing stays behind; with and without a
// status.
static void running_out_of_memory_is_told(void **state)
{
    (void)state;
    int failures = 0;
    for (int count = 0; count < 400; count++) {
        rh_scene scene;
        rh_world *world = NULL;
        rh_status status = {0}, *told = count % 2 ? &status : NULL;
        scene_make(&scene, DAM);
        rh_memory_fail_after(count);
        rh_code code = rh_world_create(&scene, &world, told);
        for (int n = 0; n < 2 && code == RH_OK; n++) code = rh_world_step(world, 0.01, NULL, told);
        rh_memory_fail_after(-1);
        assert_true(code == RH_OK || code == RH_MEMORY);
        if (told) assert_int_equal(status.code, code);
        if (code == RH_MEMORY && world) assert_true(rh_points_is_valid(rh_world_points(world)));
        failures += code != RH_OK;
        world_drop(world, &scene);
        if (code == RH_OK && count > failures) {  // twice in a row, one of them with a status
            assert_true(failures > 20);
            return;
        }
        assert_true(failures >= count);  // who got through once gets through with more
    }
    fail_msg("still failing after 400 allocations");
}

static void check_ruin(float x, float v, rh_code expected)
{
    rh_scene scene;
    rh_status status = {0};
    rh_world *world = world_make(&scene, DAM);
    rh_points *points = rh_world_points_mutable(world);
    ((rh_vec3 *)rh_points_data(points, "P", RH_POINT_VEC3F))[7].x = x;
    ((rh_vec3 *)rh_points_data(points, "v", RH_POINT_VEC3F))[7].y = v;
    assert_int_equal(rh_world_step(world, 0.01, NULL, &status), expected);
    assert_int_equal(status.code, expected);
    if (expected) assert_non_null(strstr(status.message, "step 1"));
    assert_int_equal(rh_world_step(world, 0.01, NULL, NULL), expected);  // the code alone tells as well
    world_drop(world, &scene);
}

static void ruined_numbers_stop_the_run(void **state)
{
    (void)state;
    check_ruin(0.1f, 0, RH_OK);
    check_ruin(NAN, 0, RH_NUMERIC);
    check_ruin(1e30f, 0, RH_NUMERIC);
    check_ruin(0.1f, NAN, RH_NUMERIC);
    check_ruin(0.1f, INFINITY, RH_NUMERIC);
}

static void nothing_to_move_is_fine(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    rh_run_options options = {0};
    rh_world *world = world_make(
        &scene,
        "rheo: 1\ncell: 0.05\nframes: {last: 6}\nphysics: {liquid: {}}\n"
        "emitters: [{start: 0.1, stop: 0.12, velocity: [1, 0, 0], shape: {sphere: {center: [0, 0, 0], radius: 0.1}}}]\n"
        "sinks: [{start: 0.15, shape: {sphere: {center: [0, 0, 0], radius: 9}}}]\n");
    assert_ok(rh_world_run(world, &options, &status));
    rh_progress p;
    rh_world_progress(world, &p);
    assert_true(p.emitted > 100);
    assert_int_equal(p.emitted, p.removed);
    assert_int_equal(p.particles, 0);
    world_drop(world, &scene);
}

// Particles in each frame of a stream 4.6 cells thick.
static void count_poured(const rh_progress *p, bool frame_done, void *user)
{
    if (!frame_done) return;
    double particle = 0.01 * 0.01, poured = (0.1 * 0.092 + 0.092 * 1.3 * p->time) / particle;
    assert_true(fabs((double)p->particles - poured) <= 1);
    assert_int_equal(p->emitted, p->particles);
    ++*(int *)user;
}

// A frame holds what was poured by its time, to one particle, and not only by the beginning of its last step.
static void frames_hold_what_was_poured(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    int frames = 0;
    rh_world *world = world_make(
        &scene, "rheo: 1\ndimension: 2\ncell: 0.02\nframes: {last: 7}\nphysics: {liquid: {}}\n"
                "emitters: [{velocity: [1.3, 0, 0], shape: {box: {min: [0, 0.3, -1], max: [0.1, 0.392, 1]}}}]\n");
    rh_run_options options = {.progress = count_poured, .user = &frames};
    assert_ok(rh_world_run(world, &options, &status));
    assert_int_equal(frames, 7);
    world_drop(world, &scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_predicted),  // first: the peak of memory is never taken back
        cmocka_unit_test(frames_come_in_time),           cmocka_unit_test(steady_steps_allocate_nothing),
        cmocka_unit_test(running_out_of_memory_is_told), cmocka_unit_test(ruined_numbers_stop_the_run),
        cmocka_unit_test(nothing_to_move_is_fine),       cmocka_unit_test(frames_hold_what_was_poured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
