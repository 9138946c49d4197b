// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A method that keeps a particle set beside the main one: it is in frames, checkpoints and snapshots, the library names
// it, and what runs away in it stops the run. The method is the test's own: every particle falls, and leaves one behind
// in the set "trail" each step. The lists below take the place of src/physics/registry.c.
#include <math.h>
#include <rheo/rheo.h>
#include "io/vdb_sets.h"
#include "physics/liquid/liquid.h"
#include "scratch.h"
#include "support.h"
#include "world/parts.h"

typedef struct shedding_params {
    double wild;  // m/s: of what is left behind
} shedding_params;

static const rh_param rows[] = {
    {"wild", RH_PARAM_FLOAT, offsetof(shedding_params, wild), "m/s", "0", 0, 1e30, .help = "speed of the trail"}};
static const rh_param_table shedding_table = {"shedding", "For a test.", rows, 1, sizeof(shedding_params), NULL};

static rh_code shed_create(const void *params, const rh_surroundings *around, rh_points *points, void **self,
                           rh_status *status)
{
    rh_points *trail;
    (void)points;
    *self = (void *)(uintptr_t)params;
    RH_TRY(rh_sets_add(around->sets, "trail", &trail, status));
    RH_TRY(rh_points_add(trail, "P", RH_POINT_VEC3F, status));
    RH_TRY(rh_points_add(trail, "v", RH_POINT_VEC3F, status));
    return rh_points_add(trail, "id", RH_POINT_I64, status);
}

static double shed_max_step(void *self, const rh_surroundings *around, const rh_points *points)
{
    (void)self, (void)around, (void)points;
    return 0.02;
}

static rh_code shed_step(void *self, const rh_surroundings *around, double dt, rh_points *points,
                         rh_step_report *report, rh_status *status)
{
    const shedding_params *p = self;
    rh_points *trail = rh_sets_find(around->sets, "trail");
    int64_t before = trail->count;
    RH_TRY(rh_points_resize(trail, before + 1, status));
    rh_vec3 *x = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    ((rh_vec3 *)rh_points_data(trail, "P", RH_POINT_VEC3F))[before] = x[0];
    ((rh_vec3 *)rh_points_data(trail, "v", RH_POINT_VEC3F))[before] = rh_v3(0, p->wild > 1e29 ? NAN : (float)p->wild,
                                                                            0);
    ((int64_t *)rh_points_data(trail, "id", RH_POINT_I64))[before] = before;
    for (int64_t i = 0; i < points->count; i++) {
        v[i].y += (float)(around->gravity.y * dt);
        x[i].y += v[i].y * (float)dt;
    }
    *report = (rh_step_report){.max_speed = fabs((double)v[0].y), .volume = 1};
    return RH_OK;
}

static int shed_axis(const void *params) { return (void)params, 2; }
static double shed_density(const void *params) { return (void)params, 1000; }
static int64_t shed_bytes(const void *params, int dimension, int64_t particles, int64_t tiles)
{
    (void)params, (void)dimension, (void)tiles;
    return 64 * particles;
}

static const rh_physics shedding = {.name = "shedding",
                                    .params = &shedding_table,
                                    .create = shed_create,
                                    .max_step = shed_max_step,
                                    .step = shed_step,
                                    .per_cell_axis = shed_axis,
                                    .density = shed_density,
                                    .predict_bytes = shed_bytes};
const rh_physics *const rh_physics_methods[] = {&rh_liquid, &shedding, NULL};
const rh_param_table *const rh_physics_tables[] = {&rh_liquid_table, &shedding_table, NULL};

#define SCENE(wild)                                                                                \
    "rheo: 1\ncell: 0.1\nframes: {last: 4}\nmaterials:\n - {name: water, physics: {liquid: {}}}\n" \
    " - {name: drops, physics: {shedding: {wild: " wild "}}}\nbodies:\n"                           \
    " - {material: water, shape: {box: {min: [0, 0, 0], max: [0.2, 0.2, 0.2]}}}\n"                 \
    " - {material: drops, shape: {box: {min: [0.5, 0.5, 0], max: [0.7, 0.7, 0.2]}}}\n"             \
    "solids: [{inside_out: true, shape: {box: {min: [0, 0, 0], max: [1, 1, 0.2]}}}]\n"

static rh_world *make(rh_scene *scene, const char *text)
{
    rh_world *world;
    rh_status status = {0};
    assert_ok(rh_scene_load_text("s.yaml", text, strlen(text), NULL, 0, scene, &status));
    assert_ok(rh_world_create(scene, &world, &status));
    return world;
}

static uint64_t trail_hash(rh_world *world) { return rh_points_hash(rh_sets_find(&world->materials[1].sets, "trail")); }

static void stop_early(const rh_progress *p, bool frame_done, void *user)
{
    (void)frame_done;
    if (p->step == 7) atomic_store((atomic_int *)user, 1);
}

static void sets_are_saved_and_written(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path folder = scratch_at(&s, "run"), other = scratch_at(&s, "whole");
    rh_scene scene;
    rh_status status = {0};
    atomic_int stop = 0;
    rh_world *world = make(&scene, SCENE("1"));
    assert_ok(rh_world_run(world, &(rh_run_options){.folder = other.text}, &status));
    uint64_t hash = trail_hash(world);
    int64_t count = rh_sets_find(&world->materials[1].sets, "trail")->count;
    assert_int_equal(count, world->materials[1].step);
    rh_world_free(world);
    assert_ok(rh_world_create(&scene, &world, &status));
    rh_run_options options = {.folder = folder.text, .progress = stop_early, .user = &stop, .stop = &stop};
    assert_int_equal(rh_world_run(world, &options, &status), RH_STOPPED);
    rh_world_free(world);
    rh_status_clear(&status);
    assert_ok(rh_world_create(&scene, &world, &status));
    assert_ok(rh_world_resume(world, folder.text, false, &status));
    assert_ok(rh_world_run(world, &(rh_run_options){.folder = folder.text, .resumed = true}, &status));
    assert_true(trail_hash(world) == hash);
    // In the frame, by name; a snapshot goes back to it.
    char path[RH_PATH_MAX + 40];
    rh_points read;
    rh_points_init(&read);
    snprintf(path, sizeof path, "%s/points/points.0004.vdb", folder.text);
    assert_ok(rh_vdb_read_set(path, "drops.trail", &read, NULL, &status));
    assert_int_equal(read.count, count);
    rh_points_free(&read);
    rh_memory_store *kept = rh_memory_store_create(&status);
    assert_non_null(kept);
    double dt;
    assert_ok(rh_world_snapshot(world, kept, &status));
    assert_ok(rh_world_step(world, 1, &dt, &status));
    assert_ok(rh_world_step(world, 1, &dt, &status));
    assert_true(trail_hash(world) != hash);
    assert_ok(rh_world_restore(world, kept, &status));
    assert_true(trail_hash(world) == hash);
    rh_memory_store_free(kept);
    rh_world_free(world);
    rh_scene_free(&scene);
    scratch_remove_tree(s.folder);
    assert_int_equal(rh_memory_bytes(), 0);
}

// The main set is well; what runs away is told by its name.
static void what_runs_away_is_told(void **state)
{
    (void)state;
    static const char *const texts[] = {SCENE("1e20"), SCENE("1e30")};
    static const char *const words[] = {"a particle of 'trail' moves at", "a particle of 'trail' is not finite"};
    for (int i = 0; i < 2; i++) {
        rh_scene scene;
        rh_status status = {0};
        rh_world *world = make(&scene, texts[i]);
        assert_int_equal(rh_world_advance_to(world, 2, &status), RH_NUMERIC);
        assert_non_null(strstr(status.message, words[i]));
        rh_world_free(world);
        rh_scene_free(&scene);
    }
    assert_int_equal(rh_memory_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sets_are_saved_and_written),
                                       cmocka_unit_test(what_runs_away_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
