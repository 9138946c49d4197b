// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Programs in a run: when they run, what they may touch, what they see from outside, how they end a run. That threads
// and resuming do not show is tests/golden.
#include "support.h"
#include <stdio.h>
#include "physics/physics.h"

#define HEAD "rheo: 1\ncell: 0.05\nframes: {last: 4}\nphysics: {liquid: {}}\n"
#define BLOCK "bodies:\n - {shape: {box: {min: [0, 0, 0], max: [0.4, 0.4, 0.4]}}}\n"
#define TANK "solids:\n - {inside_out: true, shape: {box: {min: [0, 0, 0], max: [0.8, 0.8, 0.4]}}}\n"

static rh_world *make(rh_scene *scene, const char *text)
{
    rh_status status = {0};
    rh_world *world = NULL;
    scene_make(scene, text);
    assert_ok(rh_world_create(scene, &world, &status));
    return world;
}

static void finish(rh_world *world, rh_scene *scene)
{
    rh_world_free(world);
    rh_scene_free(scene);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void run(rh_world *world)
{
    rh_status status = {0};
    rh_run_options options = {0};
    assert_ok(rh_world_run(world, &options, &status));
}

static void all_are(const rh_world *world, const char *name, double expected, double tolerance)
{
    const rh_points *points = rh_world_points(world);
    const float *values = rh_points_data(points, name, RH_POINT_F32);
    assert_true(points->count > 100);
    for (int64_t i = 0; i < points->count; i++) assert_near((double)values[i], expected, tolerance);
}

// --- when ------------------------------------------------------------------------------------------------------------

#define COUNTERS                                                                                                     \
    HEAD BLOCK TANK "expressions:\n - {at: start, code: 'f@started += 1; f@begin = $time;'}\n - {at: forces, code: " \
                    "'f@pushed += 1; f@sum += $dt;'}\n"                                                              \
                    " - {at: step, code: 'f@stepped += 1; f@last = $step; f@over = $time; f@late = $dt;'}\n"         \
                    " - {at: frame, code: 'f@framed += 1; f@frame = $frame; f@whole = float(int64($frame)) + "       \
                    "0.5f;'}\n - {at: emit, code: f@never = 1;}\n"

static void check_counters(const rh_world *world, double steps, double last_dt)
{
    all_are(world, "started", 1, 0);
    all_are(world, "pushed", steps, 0);
    all_are(world, "stepped", steps, 0);
    all_are(world, "last", steps, 0);
    all_are(world, "framed", 4, 0);  // frames 1 to 4, of which 1 is the start
    all_are(world, "frame", 4, 0);
    all_are(world, "whole", 4.5, 0);
    all_are(world, "never", 0, 0);
    all_are(world, "sum", 3.0 / 24, 1e-6);
    all_are(world, "over", 3.0 / 24, 1e-6);
    all_are(world, "late", last_dt, 1e-8);
}

static void every_moment_has_its_time(void **state)
{
    (void)state;
    rh_scene scene;
    rh_progress progress;
    rh_world *world = make(&scene, COUNTERS);
    all_are(world, "started", 1, 0);
    run(world);
    rh_world_progress(world, &progress);
    assert_true(progress.step >= 3 && progress.compile_seconds > 0);
    check_counters(world, (double)progress.step, progress.dt);
    uint64_t whole = rh_points_hash(rh_world_points(world));
    const rh_step_report *report = rh_world_report(world);
    assert_string_equal(report->stage_names[report->stage_count - 1], "expressions");
    finish(world, &scene);
    // An embedder's frames are those of a run, one by one or in one call.
    for (int jump = 1; jump <= 3; jump += 2) {
        rh_status status = {0};
        world = make(&scene, COUNTERS);
        for (int64_t frame = 1 + jump; frame <= 4; frame += jump) assert_ok(rh_world_advance_to(world, frame, &status));
        assert_true(rh_points_hash(rh_world_points(world)) == whole);
        finish(world, &scene);
    }
}

static void start_and_stop_are_obeyed(void **state)
{
    (void)state;
    rh_scene scene;
    rh_world *world = make(
        &scene, HEAD BLOCK TANK
        "expressions:\n - {at: frame, start: 0.04, stop: 0.1, code: f@n += 1;}\n");  // frames at 0, 1/24, 2/24, 3/24 s
    run(world);
    all_are(world, "n", 2, 0);
    finish(world, &scene);
}

static void emit_is_for_the_new_ones(void **state)
{
    (void)state;
    rh_scene scene;
    rh_world *world = make(
        &scene, HEAD BLOCK TANK
        "emitters:\n - {velocity: [2, 0, 0], start: 0.05, shape: {sphere: {center: [0.6, 0.6, 0.2], radius: 0.1}}}\n"
        "expressions:\n - {at: start, code: f@born = -1;}\n - {at: emit, code: 'f@born = $time; f@visits += 1; if "
        "(v@P.z > 0.2) deletepoint();'}\n");
    run(world);
    const rh_points *points = rh_world_points(world);
    const float *born = rh_points_data(points, "born", RH_POINT_F32),
                *visits = rh_points_data(points, "visits", RH_POINT_F32);
    int64_t old = 0, fresh = 0;
    for (int64_t i = 0; i < points->count; i++) {
        if (born[i] < 0) old++, assert_true(visits[i] == 0);
        else fresh++, assert_true(visits[i] == 1 && born[i] >= 0.05f && born[i] <= 0.125f);
    }
    rh_progress progress;
    rh_world_progress(world, &progress);
    assert_int_equal(old, 16 * 16 * 16);
    assert_true(fresh > 20);
    assert_int_equal(fresh, progress.emitted - progress.removed);
    assert_near((double)progress.removed / (double)progress.emitted, 0.5, 0.1);
    finish(world, &scene);
}

// --- what they do ----------------------------------------------------------------------------------------------------

// A free body under a uniform push: speed a t, whatever the steps. From outside come a vector and a number.
static void a_push_is_an_acceleration(void **state)
{
    (void)state;
    rh_scene scene;
    rh_world *world = make(
        &scene, HEAD BLOCK
        "gravity: [0, 0, 0]\nexpressions:\n - {name: push, at: forces, set: {direction: [1, 2, 0], strength: 3}, "
        "code: v@v += v$direction * $strength * $dt;}\n");
    run(world);
    const rh_points *points = rh_world_points(world);
    const rh_vec3 *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    rh_dvec3 mean = {0};
    for (int64_t i = 0; i < points->count; i++)
        mean = rh_d3_add(mean, rh_d3_scale(rh_d3_from(v[i]), 1 / (double)points->count));
    assert_near(mean.x, 3 * 3.0 / 24, 2e-3);
    assert_near(mean.y, 6 * 3.0 / 24, 4e-3);
    assert_near(mean.z, 0, 1e-3);
    finish(world, &scene);
}

static void values_are_converted(void **state)
{
    (void)state;
    rh_scene scene;
    rh_world *world = make(&scene,
                           HEAD BLOCK "expressions:\n - {at: start, set: {n: 7.9}, code: f@a = i$n;}\n - {at: start, "
                                      "set: {n: 7.9}, code: f@b = $n;}\n"
                                      " - {at: start, set: {w: [1.5, -2.5, 3]}, code: vec3i w = vec3i$w; f@c = w.y;}\n"
                                      " - {at: start, set: {w: [1.5, -2.5, 3]}, code: vec3d w = vec3d$w; f@d = w.y;}\n"
                                      " - {at: start, set: {n: 7.9}, code: 'f@e = external(\"n\");'}\n - {at: start, "
                                      "set: {n: 7.9}, code: f@f = bool$n;}\n"
                                      " - {at: start, set: {n: 7.9}, code: f@g = int64$n + 0.5f;}\n");
    all_are(world, "a", 7, 0);
    all_are(world, "b", 7.9, 1e-6);
    all_are(world, "c", -2, 0);
    all_are(world, "d", -2.5, 0);
    all_are(world, "e", 7.9, 1e-6);
    all_are(world, "f", 1, 0);
    all_are(world, "g", 7.5, 0);
    finish(world, &scene);
}

static void points_go_and_groups_stay(void **state)
{
    (void)state;
    rh_scene scene;
    rh_world *world = make(&scene, HEAD BLOCK TANK
                           "expressions:\n - at: start\n   code: |\n     if (v@P.x > 0.2f) deletepoint();\n     if "
                           "(v@P.y > 0.2f) addtogroup(\"upper\");\n     f@near = neighbours(0.06f);\n"
                           " - {at: step, code: 'if (ingroup(\"upper\")) f@high = 1; string name = \"al\"; name += "
                           "\"l\"; addtogroup(name);'}\n");
    const rh_points *points = rh_world_points(world);
    assert_int_equal(points->count, 8 * 16 * 16);
    const rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F);
    const uint8_t *upper = rh_points_data(points, "upper", RH_POINT_GROUP);
    const float *near = rh_points_data(points, "near", RH_POINT_F32);
    for (int64_t i = 0; i < points->count; i++) {
        assert_true(p[i].x <= 0.2f && upper[i] == (p[i].y > 0.2f));
        if (i % 64) continue;
        // Deleted ones were still there: neighbours see what was before the pass. So count only away from them.
        int count = 0;
        for (int64_t k = 0; k < points->count; k++)
            count += rh_v3_dot(rh_v3_sub(p[i], p[k]), rh_v3_sub(p[i], p[k])) <= 0.06f * 0.06f;
        if (p[i].x < 0.13f) assert_int_equal((int)near[i], count);
    }
    run(world);
    rh_progress progress;
    rh_world_progress(world, &progress);
    assert_int_equal(progress.removed, 8 * 16 * 16);
    const float *high = rh_points_data(points, "high", RH_POINT_F32);
    upper = rh_points_data(points, "upper", RH_POINT_GROUP);
    for (int64_t i = 0; i < points->count; i++)
        assert_true((high[i] == 1) == (upper[i] == 1));  // sorting carries both along
    assert_int_equal(rh_points_group_size(points, rh_points_find(points, "all")), points->count);
    finish(world, &scene);
}

// rand() belongs to the particle and the step: not to its place in the arrays, not to what was drawn before.
static void numbers_belong_to_ids(void **state)
{
    (void)state;
    rh_scene scene;
    const char *text = HEAD BLOCK TANK "expressions:\n - {at: start, code: 'f@a = rand(); f@b = rand();'}\n - {at: "
                                       "step, code: 'if ($step < 1.5f) f@first = rand(); f@c = rand();'}\n";
    rh_world *world = make(&scene, text);
    const rh_points *points = rh_world_points(world);
    enum { COUNT = 16 * 16 * 16 };
    static float before[COUNT];
    assert_int_equal(points->count, COUNT);
    const float *a = rh_points_data(points, "a", RH_POINT_F32), *b = rh_points_data(points, "b", RH_POINT_F32);
    double mean = 0;
    for (int64_t i = 0; i < COUNT; i++) {
        assert_true(a[i] != b[i]);
        mean += (double)a[i] / COUNT;
        before[i] = a[i];
    }
    assert_near(mean, 0.5, 4 * 0.2887 / 64);  // four standard deviations
    run(world);
    const int64_t *id = rh_points_data(points, "id", RH_POINT_I64);
    const float *first = rh_points_data(points, "first", RH_POINT_F32), *c = rh_points_data(points, "c", RH_POINT_F32);
    a = rh_points_data(points, "a", RH_POINT_F32);
    bool moved = false;
    for (int64_t i = 0; i < COUNT; i++) {
        assert_true(a[i] == before[id[i]] && c[i] != first[i] && first[i] != a[i]);
        moved |= id[i] != i;
    }
    assert_true(moved);
    finish(world, &scene);
}

static void the_plane_stays_flat(void **state)
{
    (void)state;
    rh_scene scene;
    rh_world *world = make(&scene,
                           "rheo: 1\ncell: 0.02\ndimension: 2\nframes: {last: 3}\nphysics: {liquid: {}}\n" BLOCK TANK
                           "expressions:\n - {at: forces, code: 'v@v.z = 5; v@P.z += 1;'}\n");
    run(world);
    const rh_points *points = rh_world_points(world);
    const rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    for (int64_t i = 0; i < points->count; i++) assert_true(p[i].z == 0 && v[i].z == 0);
    finish(world, &scene);
}

// --- mistakes --------------------------------------------------------------------------------------------------------

static void refuse(const char *expressions, const char *physics, const char *expected)
{
    char text[2048];
    rh_scene scene;
    rh_world *world;
    rh_prediction prediction;
    snprintf(text, sizeof text, "rheo: 1\ncell: 0.05\nframes: {last: 4}\nphysics: {%s}\n" BLOCK "expressions:\n%s",
             physics, expressions);
    scene_make(&scene, text);
    for (int way = 0; way < 2; way++) {  // `rheo check` finds what a run would
        rh_status status = {0};
        rh_code code = way ? rh_world_create(&scene, &world, &status) : rh_world_predict(&scene, &prediction, &status);
        if (code != RH_USER || !strstr(status.message, expected))
            fail_msg("expected %s\nfound (%d) %s", expected, code, status.message);
    }
    rh_scene_free(&scene);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void what_is_not_theirs_is_refused(void **state)
{
    (void)state;
    refuse(" - {at: step, code: int64@id = 1;}\n", "liquid: {}",
           ":8:21: error: the attribute \"id\" belongs to the simulation and can be read, not written");
    refuse(" - {at: step, code: f@radius = 1;}\n", "liquid: {}", "the attribute \"radius\" belongs to the simulation");
    refuse(" - {at: step, code: f@pressure = 1;}\n", "splash: {}",
           "the attribute \"pressure\" belongs to the simulation");
    refuse(" - {at: step, code: addtogroup(\"spray\");}\n", "splash: {}",
           "the group \"spray\" belongs to the simulation and can be read, not changed");
    refuse(" - {at: step, code: int@id += 1;}\n", "liquid: {}", "the attribute \"id\" belongs to the simulation");
    refuse(" - {at: step, code: f@a = int@id;}\n", "liquid: {}",
           ":8:27: error: the attribute \"id\" is of type int64, the program takes it for int32 (write int64@id)");
    refuse(" - {at: step, code: f@a = f@presure;}\n", "splash: {}",
           "there is no attribute \"presure\" (did you mean @pressure?)");
    refuse(" - {at: step, code: double@a = 1;}\n", "liquid: {}",
           "the attribute \"a\" is double, but particles carry float, int32, int64, vec3f and mat3f");
    refuse(" - {at: step, code: f@a = 1;}\n - {at: step, code: v@a = 1;}\n", "liquid: {}",
           ":9:21: error: the attribute \"a\" is of type float, the program takes it for vec3f");
    refuse(" - {at: step, code: f@a = 1; addtogroup(\"a\");}\n", "liquid: {}",
           "\"a\" is an attribute of the particles and cannot be a group");
    refuse(" - {at: step, code: f@a_name_that_is_much_too_long_for_a_particle = 1;}\n", "liquid: {}",
           "the attribute's name has more than 31 letters");
}

// What a program makes may be read by one before it in the list.
static void order_of_the_list_does_not_matter_for_reading(void **state)
{
    (void)state;
    rh_scene scene;
    rh_world *world = make(&scene, HEAD BLOCK
                           "expressions:\n - {at: step, code: f@b = f@a;}\n - {at: start, code: f@a = 3;}\n");
    run(world);
    all_are(world, "b", 3, 0);
    finish(world, &scene);
}

static void end_run(const char *expressions, const char *expected)
{
    char text[2048];
    rh_scene scene;
    rh_status status = {0};
    rh_run_options options = {0};
    snprintf(text, sizeof text, HEAD BLOCK "expressions:\n%s", expressions);
    rh_world *world = make(&scene, text);
    rh_code code = rh_world_run(world, &options, &status);
    if (code != RH_NUMERIC || !strstr(status.message, expected))
        fail_msg("expected %s\nfound (%d) %s", expected, code, status.message);
    finish(world, &scene);
}

static void runs_end_with_a_place(void **state)
{
    (void)state;
    end_run(" - at: step\n   budget: 1000\n   code: |\n     f@a = 1;\n     while (f@a > 0) f@a += 1;\n",
            ":12:6: expressions[0] at step 1, time");
    end_run(" - {name: odd, at: step, code: 'int i = $step; f@a = v@v[i + 5];'}\n", "('odd') at step 1, time");
    end_run(" - {at: forces, code: v@v /= 0.0f * v@v.x;}\n", "leaves a v that is not finite, of the particle with id ");
    end_run(" - {at: frame, code: 'if (int64@id == 77l) v@P.y = 1 / (v@v.x - v@v.x);'}\n",
            "leaves a P that is not finite, of the particle with id 77 ");
    // What is finite and makes no sense must not get into a checkpoint either: the run could not go on from there.
    end_run(" - {at: frame, code: 'if (int64@id == 77l) v@P.y = 1e12f;'}\n", " m, beyond the reach of the grid (");
    end_run(" - {at: step, code: 'if (int64@id == 77l) v@v.y = 1e12f;'}\n", " m/s, beyond 4096 cells a frame (");
}

// Loading, making and two steps, with every allocation failing in turn.
static void memory_may_run_out(void **state)
{
    (void)state;
    const char *text = "rheo: 1\ncell: 0.1\nframes: {last: 2}\nphysics: {liquid: {}}\n" BLOCK
                       "expressions:\n - {name: a, at: start, set: {k: 1, w: [1, 2, 3]}, code: 'f@a = $k + rand(); v@b "
                       "= v$w; addtogroup(\"g\");'}\n"
                       " - {at: forces, code: 'f@n = neighbours(0.1f); v@v.x += f@n * $dt; if (int64@id % 7l == 0l) "
                       "deletepoint();'}\n";
    rh_code code = RH_MEMORY;
    int64_t failures = 0;
    rh_threads_set(1);
    for (; code != RH_OK; failures++) {
        rh_scene scene;
        rh_world *world = NULL;
        rh_status status = {0};
        rh_memory_fail_after(failures);
        code = rh_scene_load_text("test.yaml", text, strlen(text), NULL, 0, &scene, &status);
        if (code == RH_OK) {
            code = rh_world_create(&scene, &world, &status);
            if (code == RH_OK) code = rh_world_step(world, 0.01, NULL, &status);
            if (code == RH_OK) code = rh_world_step(world, 0.01, NULL, &status);
            rh_memory_fail_after(-1);
            rh_world_free(world);
            rh_scene_free(&scene);
        }
        rh_memory_fail_after(-1);
        if (code != RH_OK && code != RH_MEMORY)
            fail_msg("allocation %lld: code %d, %s", (long long)failures, (int)code, status.message);
        if (rh_memory_bytes() != 0)
            fail_msg("allocation %lld: %lld bytes are left", (long long)failures, (long long)rh_memory_bytes());
    }
    rh_threads_set(0);
    assert_true(failures > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_moment_has_its_time),
        cmocka_unit_test(start_and_stop_are_obeyed),
        cmocka_unit_test(emit_is_for_the_new_ones),
        cmocka_unit_test(a_push_is_an_acceleration),
        cmocka_unit_test(values_are_converted),
        cmocka_unit_test(points_go_and_groups_stay),
        cmocka_unit_test(numbers_belong_to_ids),
        cmocka_unit_test(the_plane_stays_flat),
        cmocka_unit_test(what_is_not_theirs_is_refused),
        cmocka_unit_test(order_of_the_list_does_not_matter_for_reading),
        cmocka_unit_test(runs_end_with_a_place),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
