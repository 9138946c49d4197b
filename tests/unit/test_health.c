// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Numbers that go wrong: told with step and place; a solve that does not converge is tried again with a shorter step,
// from the same state and with the same result whether the run was resumed or not. Solves that fail on demand come from
// a method in front of the real one.
#include <math.h>
#include <unistd.h>
#include "scratch.h"
#include "support.h"
#include "world/parts.h"

#define DAM                                                                         \
    "rheo: 1\ndimension: 2\ncell: 0.05\nframes: {last: 6}\nphysics: {liquid: {}}\n" \
    "bodies: [{shape: {box: {min: [0, 0, -1], max: [0.4, 0.5, 1]}}}]\n"             \
    "solids: [{inside_out: true, shape: {box: {min: [0, 0, -1], max: [0.8, 1, 1]}}}]\n"

// --- a method that fails ---------------------------------------------------------------------------------------------
static const rh_physics *real;
static double longest;   // s: steps beyond do not converge
static int64_t at_step;  // of this one; negative: all
static int failures;
static uint64_t hash_seen;  // of the particles at the last attempt

static rh_code failing_step(void *self, const rh_surroundings *around, double dt, rh_points *points,
                            rh_step_report *report, rh_status *status)
{
    hash_seen = rh_points_hash(points);
    if (dt <= longest || (at_step >= 0 && around->step != at_step))
        return real->step(self, around, dt, points, report, status);
    failures++;
    *report = (rh_step_report){.unconverged = true};
    return rh_fail(status, RH_NUMERIC, "the solve of the test did not converge");
}

static rh_physics failing;

static rh_world *make_failing(rh_scene *scene, const char *text)
{
    rh_world *world = world_make(scene, text);
    real = world->materials[0].physics;
    failing = *real;
    failing.step = failing_step;
    world->materials[0].physics = &failing;
    failures = 0;
    return world;
}

static void a_shorter_step_is_tried(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    rh_world *world = make_failing(&scene, DAM);
    rh_progress progress;
    double dt;
    longest = 0.003, at_step = -1;
    assert_ok(rh_world_step(world, 0.01, &dt, &status));
    rh_world_progress(world, &progress);
    assert_int_equal(failures, 2);
    assert_int_equal(progress.retries, 2);
    assert_near(dt, 0.0025, 1e-12);
    assert_near(rh_world_time(world), dt, 0);
    longest = 1;
    assert_ok(rh_world_step(world, 0.01, NULL, &status));
    rh_world_progress(world, &progress);
    assert_int_equal(progress.retries, 0);
    world_drop(world, &scene);
}

static void giving_up_is_told(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    rh_world *world = make_failing(&scene, DAM);
    longest = 0, at_step = -1;
    assert_int_equal(rh_world_step(world, 0.01, NULL, &status), RH_NUMERIC);
    assert_int_equal(failures, 5);
    assert_non_null(strstr(status.message, "step 1 at time 0 s: the solve of the test did not converge"));
    assert_non_null(strstr(status.message, "the fastest particle: id "));
    world_drop(world, &scene);
}

#if !defined(RHEO_NO_LANG)
// Programs that push run again for the shorter step, on particles as they were before. One that deletes does not delete
// twice as many.
static void pushes_are_undone(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    static const char text[] = DAM
        "expressions: [{at: forces, code: 'v@v += {3, 0, 0} * $dt; if (int64@id == 7) deletepoint();'}]\n";
    uint64_t hash[2];
    for (int retried = 0; retried < 2; retried++) {
        rh_world *world = make_failing(&scene, text);
        longest = 0.006, at_step = -1;
        assert_ok(rh_world_step(world, retried ? 0.01 : 0.005, NULL, &status));
        assert_int_equal(failures, retried);
        assert_int_equal(world->materials[0].seeder.removed, 1);
        hash[retried] = rh_points_hash(world->materials[0].points);
        world_drop(world, &scene);
    }
    assert_true(hash[0] == hash[1]);
}
#endif

static void stop_after_first_step(const rh_progress *p, bool frame_done, void *user)
{
    (void)frame_done;
    if (p->step == 1) atomic_store((atomic_int *)user, 1);
}

// A run whose third step fails at its full length: stopped before and resumed, it does what the uninterrupted one does.
static void a_resumed_run_retries_the_same(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    uint64_t hash[2];
    int64_t steps[2];
    scratch s = scratch_make();
    for (int resumed = 0; resumed < 2; resumed++) {
        rh_world *world = make_failing(&scene, DAM);
        atomic_int stop = 0;
        rh_run_options options = {.folder = s.folder};
        longest = 0.006, at_step = 2;
        if (resumed) {
            rh_run_options first = {
                .folder = s.folder, .stop = &stop, .progress = stop_after_first_step, .user = &stop};
            assert_int_equal(rh_world_run(world, &first, &status), RH_STOPPED);
            rh_status_clear(&status);
            world_drop(world, &scene);
            world = make_failing(&scene, DAM);
            assert_ok(rh_world_resume(world, s.folder, false, &status));
            assert_int_equal(world->step, 1);
        }
        assert_ok(rh_world_run(world, &options, &status));
        assert_true(failures > 0);
        hash[resumed] = rh_points_hash(world->materials[0].points);
        steps[resumed] = world->step;
        world_drop(world, &scene);
        scratch_remove_tree(s.folder);
    }
    assert_true(hash[0] == hash[1]);
    assert_int_equal(steps[0], steps[1]);
}

// What the contract asks of every method: a solve that does not converge leaves the particles as they were, but for
// their order.
static void methods_leave_particles_alone(void **state)
{
    (void)state;
    for (int i = 0; rh_physics_methods[i]; i++) {
        rh_scene scene;
        rh_status status = {0};
        char text[1024];
        const rh_param_table *params = rh_physics_methods[i]->params;
        if (!rh_params_find(params, "max_iterations")) continue;  // nothing to solve
        const char *solve = rh_params_find(params, "implicit") ? "implicit: true, " : "";
        snprintf(text, sizeof text,
                 "rheo: 1\ndimension: 2\ncell: 0.02\nframes: {last: 6}\nphysics: {%s: {%smax_iterations: 1, "
                 "tolerance: 1e-6}}\n"
                 "bodies: [{shape: {box: {min: [0, 0, -1], max: [0.4, 0.5, 1]}}}]\n"
                 "solids: [{inside_out: true, shape: {box: {min: [0, 0, -1], max: [0.4, 1, 1]}}}]\n",
                 rh_physics_methods[i]->name, solve);
        rh_world *world = make_failing(&scene, text);
        longest = 1, at_step = -1;
        rh_code code = RH_OK;
        for (int n = 0; n < 40 && code == RH_OK; n++) code = rh_world_step(world, 0.01, NULL, &status);
        print_message("%s: step %lld, %s\n", real->name, (long long)world->step + 1, status.message);
        assert_int_equal(code, RH_NUMERIC);
        assert_true(world->materials[0].report.unconverged);
        assert_true(rh_points_hash(world->materials[0].points) == hash_seen);
        world_drop(world, &scene);
    }
}

// --- limits ----------------------------------------------------------------------------------------------------------
static void a_runaway_is_told_with_its_place(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    rh_world *world = world_make(&scene, DAM "limits: {speed: 5}\n");
    const int64_t *id = rh_points_data(world->materials[0].points, "id", RH_POINT_I64);
    rh_vec3 *v = rh_points_data(world->materials[0].points, "v", RH_POINT_VEC3F);
    for (int64_t i = 0; i < world->materials[0].points->count; i++) v[i].x = 6;
    v[11].x = 7;
    char who[32];
    snprintf(who, sizeof who, "id %lld at (", (long long)id[11]);
    char worst[RH_HEALTH_WORDS];
    rh_health_worst(world->materials[0].points, INFINITY, worst, sizeof worst);
    assert_non_null(strstr(worst, who));
    assert_int_equal(rh_world_step(world, 0.01, NULL, &status), RH_NUMERIC);
    assert_non_null(strstr(status.message, "step 1 at time"));
    assert_non_null(strstr(status.message, "faster than limits.speed (5 m/s)"));
    assert_non_null(strstr(status.message, "the fastest particle: id "));
    world_drop(world, &scene);
}

static void what_is_not_finite_is_worst(void **state)
{
    (void)state;
    rh_scene scene;
    rh_world *world = world_make(&scene, DAM);
    const int64_t *id = rh_points_data(world->materials[0].points, "id", RH_POINT_I64);
    ((rh_vec3 *)rh_points_data(world->materials[0].points, "v", RH_POINT_VEC3F))[3].x = 1e6f;
    ((rh_vec3 *)rh_points_data(world->materials[0].points, "P", RH_POINT_VEC3F))[5].y = NAN;
    ((rh_vec3 *)rh_points_data(world->materials[0].points, "P", RH_POINT_VEC3F))[6].y = -2e6f;
    char worst[RH_HEALTH_WORDS], who[32];
    snprintf(who, sizeof who, "not finite: id %lld at", (long long)id[5]);
    rh_health_worst(world->materials[0].points, 1e6, worst, sizeof worst);
    assert_non_null(strstr(worst, who));
    ((rh_vec3 *)rh_points_data(world->materials[0].points, "P", RH_POINT_VEC3F))[5].y = 0;
    snprintf(who, sizeof who, "too far away: id %lld at", (long long)id[6]);
    rh_health_worst(world->materials[0].points, 1e6, worst, sizeof worst);
    assert_non_null(strstr(worst, who));
    assert_non_null(strstr(worst, "a sink with"));
    rh_health_limits limits = rh_health_limits_of(&scene, 100);
    assert_near(limits.speed, 4096 * 0.05 * 24, 1e-9);
    assert_int_equal(limits.particles, 100400);
    assert_int_equal(rh_health_check(&limits, world->materials[0].points, NAN, NULL), RH_NUMERIC);
    assert_int_equal(rh_health_check(&limits, world->materials[0].points, limits.speed, NULL), RH_OK);
    world_drop(world, &scene);
}

static void too_many_particles_are_told(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    rh_world *world = world_make(
        &scene, DAM "limits: {particles: 400}\n"
                    "emitters: [{velocity: [1, 0, 0], shape: {box: {min: [0.1, 0.7, -1], max: [0.3, 0.9, 1]}}}]\n");
    rh_code code = RH_OK;
    for (int n = 0; n < 100 && code == RH_OK; n++) code = rh_world_step(world, 0.01, NULL, &status);
    assert_int_equal(code, RH_NUMERIC);
    assert_non_null(strstr(status.message, "more than limits.particles (400)"));
    world_drop(world, &scene);
}

// Emitters that move: what they really pour is what was expected, whether they drift with what they pour, sweep through
// space, turn or spin.
static void what_moving_emitters_pour_is_expected(void **state)
{
    (void)state;
    static const struct {
        const char *what, *emitter;
    } cases[] = {
        {"still", "velocity: [0, -2, 0], shape: {box: {min: [-0.2, 1, -0.2], max: [0.2, 1.4, 0.2]}}"},
        {"sweeps without pouring", "shape: {sphere: {center: [0, 1, 0], radius: 0.2}}, motion: {keys: [{time: 0}, "
                                   "{time: 0.5, translate: [3, 1, 0]}]}"},
        {"with the lattice, then against it",
         "velocity: [2, 0, 0], shape: {sphere: {center: [0, 1, 0], radius: 0.2}}, motion: {keys: [{time: 0}, {time: "
         "0.3, translate: [0.6, 0, 0]}, {time: 0.6}]}"},
        {"turns about a far pivot", "shape: {box: {min: [0.8, 1, -0.1], max: [1, 1.2, 0.1]}}, motion: {pivot: [0, 1, "
                                    "0], keys: [{time: 0}, {time: 0.5, rotate: [0, 300, 0]}]}"},
        {"a box that turns while it pours",
         "velocity: [0, -1.5, 0], shape: {box: {min: [-0.3, 1, -0.05], max: [0.3, 1.2, 0.05]}}, motion: {pivot: [0, "
         "1.1, 0], interpolation: smooth, keys: [{time: 0}, {time: 0.6, rotate: [0, 0, 90]}]}"},
        {"a ball that spins", "shape: {sphere: {center: [0, 1, 0], radius: 0.2}}, motion: {pivot: [0, 1, 0], keys: "
                              "[{time: 0}, {time: 0.5, rotate: [0, 3600, 0]}]}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rh_scene scene;
        rh_status status = {0};
        char text[1024];
        snprintf(text, sizeof text,
                 "rheo: 1\ncell: 0.04\nframes: {last: 16}\nphysics: {liquid: {}}\nemitters: [{%s}]\n",
                 cases[i].emitter);
        rh_world *world = world_make(&scene, text);
        // Emitters alone, at steps shorter than anything they move.
        for (double t = 0; t <= 15 / 24.0; t += 0.0025)
            assert_ok(rh_emit(&world->materials[0].seeder, t, world->materials[0].points, &status));
        double poured = (double)world->materials[0].seeder.emitted,
               expected = rh_material_most_particles(&world->materials[0]);
        print_message("%s: %g of at most %g\n", cases[i].what, poured, expected);
        assert_true(poured >= 0.3 * expected && poured <= 1.1 * expected);
        assert_true(world->materials[0].limits.particles >= (int64_t)poured &&
                    world->materials[0].limits.particles < (int64_t)(100000 + 14 * poured));
        world_drop(world, &scene);
    }
}

// --- memory ----------------------------------------------------------------------------------------------------------
static void a_scene_that_cannot_fit_is_refused(void **state)
{
    (void)state;
    rh_scene scene;
    rh_world *world;
    rh_status status = {0};
    scene_make(
        &scene,
        "rheo: 1\ncell: 0.001\nphysics: {liquid: {}}\nbodies: [{shape: {box: {min: [0, 0, 0], max: [1, 1, 1]}}}]\n");
    int64_t before = rh_memory_peak();
    rh_memory_set_limit((int64_t)8 << 30);
    assert_int_equal(rh_world_create(&scene, &world, &status), RH_MEMORY);
    rh_memory_set_limit(0);
    double told = 0;
    assert_int_equal(sscanf(status.message, "test.yaml: %lf particles will need about", &told), 1);
    assert_near(told, 8e9, 1e8);
    assert_true(rh_memory_peak() < before + (64 << 20));  // before they were made
    rh_scene_free(&scene);
    // A body most of which lies in solids is judged by what is left of it.
    scene_make(
        &scene,
        "rheo: 1\ncell: 0.1\nphysics: {liquid: {}}\nbodies: [{shape: {sphere: {center: [0, 0, 0], radius: 10}}}]\n"
        "solids: [{inside_out: true, shape: {sphere: {center: [0, 0, 0], radius: 1}}}]\n");
    rh_memory_set_limit(32 << 20);
    rh_status_clear(&status);
    assert_ok(rh_world_create(&scene, &world, &status));
    rh_memory_set_limit(0);
    world_drop(world, &scene);
}

static void memory_beyond_the_limit_is_refused(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_memory_set_limit(rh_memory_bytes() + 1000);
    void *a = rh_alloc(600, "test", &status), *b = rh_alloc(600, "test", &status);
    rh_memory_set_limit(0);
    assert_non_null(a);
    assert_null(b);
    assert_int_equal(status.code, RH_MEMORY);
    assert_non_null(strstr(status.message, "more than the limit"));
    rh_free(a);
    assert_true(rh_memory_of_machine() > (64 << 20));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shorter_step_is_tried),
        cmocka_unit_test(giving_up_is_told),
#if !defined(RHEO_NO_LANG)
        cmocka_unit_test(pushes_are_undone),
#endif
        cmocka_unit_test(a_resumed_run_retries_the_same),
        cmocka_unit_test(methods_leave_particles_alone),
        cmocka_unit_test(a_runaway_is_told_with_its_place),
        cmocka_unit_test(what_is_not_finite_is_worst),
        cmocka_unit_test(too_many_particles_are_told),
        cmocka_unit_test(what_moving_emitters_pour_is_expected),
        cmocka_unit_test(a_scene_that_cannot_fit_is_refused),
        cmocka_unit_test(memory_beyond_the_limit_is_refused)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
