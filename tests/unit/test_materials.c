// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Several materials in one run: each gives the bits it gives alone, also when the run is stopped and resumed; particles
// that change their material keep mass, momentum and id exactly; names that are wrong are told.
#include <math.h>
#include <rheo/rheo.h>
#include "io/vdb_sets.h"
#include "scratch.h"
#include "support.h"
#include "world/exchange.h"
#include "world/parts.h"

#define HEAD "rheo: 1\ndimension: 2\ncell: 0.05\nframes: {last: 5}\n"
// Three tanks side by side; each with a wall that moves, or an emitter and a sink.
#define TANKS                                                                                            \
    "solids:\n - {inside_out: true, shape: {box: {min: [0, 0, -1], max: [3, 1, 1]}}}\n"                  \
    " - {shape: {box: {min: [0.95, 0, -1], max: [1.05, 1, 1]}}}\n"                                       \
    " - {shape: {box: {min: [1.95, 0, -1], max: [2.05, 1, 1]}}}\n"                                       \
    " - {shape: {box: {min: [0.7, 0, -1], max: [0.8, 0.5, 1]}}, motion: {keys: [{time: 0}, {time: 0.3, " \
    "translate: [-0.2, 0, 0]}]}}\n"
#define WATER_BODY "{name: dam, %sshape: {box: {min: [0, 0, -1], max: [0.4, 0.6, 1]}}}"
#define SAND_BODY "{name: pile, %sshape: {box: {min: [1.1, 0, -1], max: [1.5, 0.5, 1]}}}"
#define SPLASH_BODY "{name: pool, %sshape: {box: {min: [2.05, 0, -1], max: [2.4, 0.4, 1]}}}"
#define HOSE "{%svelocity: [-1, 0.5, 0], shape: {box: {min: [2.7, 0.6, -1], max: [2.85, 0.75, 1]}}}"
#define STIR "{%sat: forces, code: 'v@v += {0, 1, 0} * rand() * $dt; i@age += 1;'}"

static const char *const physics[] = {"{liquid: {}}", "{sand: {}}", "{splash: {}}"};
static const char *const names[] = {"water", "dune", "spill"};
enum { MATERIALS = 3 };

static void tour_text(char *out, size_t size, int only)
{
    char bodies[MATERIALS][300], hose[300], stir[300], of[MATERIALS][40];
    for (int i = 0; i < MATERIALS; i++) {
        if (only < 0) snprintf(of[i], sizeof of[i], "material: %s, ", names[i]);
        else of[i][0] = 0;
    }
    snprintf(bodies[0], sizeof bodies[0], WATER_BODY, of[0]);
    snprintf(bodies[1], sizeof bodies[1], SAND_BODY, of[1]);
    snprintf(bodies[2], sizeof bodies[2], SPLASH_BODY, of[2]);
    snprintf(hose, sizeof hose, HOSE, of[2]);
    snprintf(stir, sizeof stir, STIR, of[1]);
    if (only < 0)
        snprintf(out, size,
                 HEAD "materials:\n - {name: water, physics: %s}\n - {name: dune, physics: %s}\n"
                      " - {name: spill, physics: %s}\nbodies:\n - %s\n - %s\n - %s\nemitters: [%s]\n" TANKS
#ifndef RHEO_NO_LANG
                      "expressions: [%s]\n"
#endif
                 ,
                 physics[0], physics[1], physics[2], bodies[0], bodies[1], bodies[2], hose, stir);
    else
        snprintf(out, size,
                 HEAD "physics: %s\nbodies: [%s]\n%s%s%s" TANKS
#ifndef RHEO_NO_LANG
                      "%s%s%s"
#endif
                 ,
                 physics[only], bodies[only], only == 2 ? "emitters: [" : "", only == 2 ? hose : "",
                 only == 2 ? "]\n" : "", only == 1 ? "expressions: [" : "", only == 1 ? stir : "",
                 only == 1 ? "]\n" : "");
}

// Of a material's particles; ids as if it were the first.
static uint64_t hash_of(rh_world *world, int material)
{
    rh_material *m = &world->materials[material];
    int64_t *id = rh_points_data(m->points, "id", RH_POINT_I64);
    for (int64_t i = 0; i < m->points->count; i++) id[i] -= m->seeder.first_id;
    uint64_t hash = rh_points_hash(m->points);
    for (int64_t i = 0; i < m->points->count; i++) id[i] += m->seeder.first_id;
    return hash;
}

static void stop_after(const rh_progress *p, bool frame_done, void *user)
{
    (void)frame_done;
    if (p->step == 11) atomic_store((atomic_int *)user, 1);
}

// Without a name readers get the first material, though OpenVDB lists grids by name.
static void frames_have_a_grid_each(const rh_world *world, const char *folder)
{
    static const char *const asked[] = {NULL, "water", "dune", "spill"};
    const int of[] = {0, 0, 1, 2};
    char path[RH_PATH_MAX];
    rh_status status = {0};
    snprintf(path, sizeof path, "%s/points/points.0005.vdb", folder);
    for (int i = 0; i < 4; i++) {
        rh_points read;
        rh_points_init(&read);
        assert_ok(rh_vdb_read_set(path, asked[i], &read, NULL, &status));
        assert_int_equal(read.count, world->materials[of[i]].points->count);
        rh_points_free(&read);
    }
    rh_points none;
    rh_points_init(&none);
    assert_int_equal(rh_vdb_read_set(path, "dunes", &none, NULL, &status), RH_USER);
    assert_non_null(strstr(status.message, "found dune, spill, water"));
}

static void the_library_names_sets(void **state)
{
    (void)state;
    char text[4096];
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "tour.yaml");
    tour_text(text, sizeof text, -1);
    assert_int_equal(rh_file_write(path.text, text, strlen(text), NULL), RH_OK);
    rheo_simulation *sim = NULL;
    rheo_error error;
    assert_int_equal(rheo_open(path.text, NULL, 0, &sim, &error), RHEO_OK);
    assert_int_equal(rheo_advance_frame(sim, &error), RHEO_OK);
    assert_int_equal(rheo_set_count(sim), MATERIALS);
    for (int i = 0; i < MATERIALS; i++) {
        assert_string_equal(rheo_set_name(sim, i), names[i]);
        assert_int_equal(rheo_set_find(sim, names[i]), i);
        assert_true(rheo_set_point_count(sim, i) > 0 && rheo_set_float(sim, i, "P", 3) && rheo_set_radius(sim, i) > 0);
        assert_true(rheo_set_id(sim, i)[0] >> 40 == i);
    }
    assert_int_equal(rheo_set_find(sim, "mud"), -1);
    assert_true(rheo_points_float(sim, "P", 3) == rheo_set_float(sim, 0, "P", 3));
    rheo_close(sim);
    scratch_remove(&s);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void each_gives_the_bits_it_gives_alone(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    char text[4096];
    uint64_t alone[MATERIALS], together[2][MATERIALS];
    int64_t steps[MATERIALS];
    for (int i = 0; i < MATERIALS; i++) {
        tour_text(text, sizeof text, i);
        rh_world *world = world_make(&scene, text);
        assert_ok(rh_world_run(world, &(rh_run_options){0}, &status));
        alone[i] = hash_of(world, 0);
        steps[i] = world->step;
        world_drop(world, &scene);
    }
    assert_false(steps[0] == steps[1] && steps[1] == steps[2]);  // or nothing is shown
    tour_text(text, sizeof text, -1);
    scratch s = scratch_make();
    for (int resumed = 0; resumed < 2; resumed++) {
        rh_world *world = world_make(&scene, text);
        if (resumed) {
            atomic_int stop = 0;
            rh_run_options first = {.folder = s.folder, .stop = &stop, .progress = stop_after, .user = &stop};
            assert_int_equal(rh_world_run(world, &first, &status), RH_STOPPED);
            rh_status_clear(&status);
            world_drop(world, &scene);
            world = world_make(&scene, text);
            assert_ok(rh_world_resume(world, s.folder, false, &status));
            assert_int_equal(world->step, 11);
        }
        assert_ok(rh_world_run(world, &(rh_run_options){.folder = resumed ? s.folder : NULL}, &status));
        if (resumed) frames_have_a_grid_each(world, s.folder);
        for (int i = 0; i < MATERIALS; i++) {
            together[resumed][i] = hash_of(world, i);
            assert_int_equal(world->materials[i].step, steps[i]);
        }
        world_drop(world, &scene);
    }
    for (int i = 0; i < MATERIALS; i++) {
        assert_true(together[0][i] == alone[i]);
        assert_true(together[1][i] == alone[i]);
    }
    scratch_remove_tree(s.folder);
}

// --- exchange --------------------------------------------------------------------------------------------------------
typedef struct sums {
    int64_t count, ids;
    double momentum[3];
} sums;

static sums sum_up(const rh_points *points)
{
    sums s = {.count = points->count};
    const rh_vec3 *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    const int64_t *id = rh_points_data(points, "id", RH_POINT_I64);
    for (int64_t i = 0; i < points->count; i++) {
        s.ids += id[i];
        for (int a = 0; a < 3; a++) s.momentum[a] += (double)(&v[i].x)[a];
    }
    return s;
}

static void make_set(rh_points *points, int64_t count, int64_t first_id, const char *own)
{
    rh_status status = {0};
    float radius = 0.1f;
    rh_points_init(points);
    assert_ok(rh_points_add(points, "P", RH_POINT_VEC3F, &status));
    assert_ok(rh_points_add(points, "v", RH_POINT_VEC3F, &status));
    assert_ok(rh_points_add(points, "id", RH_POINT_I64, &status));
    assert_ok(rh_points_add(points, "age", RH_POINT_F32, &status));
    assert_ok(rh_points_add(points, own, RH_POINT_F32, &status));
    assert_ok(rh_points_add_uniform(points, "radius", RH_POINT_F32, &radius, &status));
    assert_ok(rh_points_resize(points, count, &status));
    for (int64_t i = 0; i < count; i++) {
        ((int64_t *)rh_points_data(points, "id", RH_POINT_I64))[i] = first_id + i;
        ((float *)rh_points_data(points, "age", RH_POINT_F32))[i] = (float)(first_id + i);
        ((float *)rh_points_data(points, own, RH_POINT_F32))[i] = 7;
        // eighths: sums of them are exact
        ((rh_vec3 *)rh_points_data(points, "v", RH_POINT_VEC3F))[i] = rh_v3((float)i / 8, (float)(3 * i) / 8, -1);
    }
}

static void what_moves_is_neither_lost_nor_changed(void **state)
{
    (void)state;
    enum { A = 100, B = 30 };
    rh_points a, b;
    rh_status status = {0};
    uint8_t moves[A];
    int64_t moved = 0, expected = 0;
    make_set(&a, A, 0, "only_a");
    make_set(&b, B, 1000, "only_b");
    sums before[2] = {sum_up(&a), sum_up(&b)};
    for (int i = 0; i < A; i++) expected += moves[i] = i % 7 == 3;
    assert_ok(rh_exchange_points(&a, &b, moves, &moved, &status));
    assert_int_equal(moved, expected);
    sums after[2] = {sum_up(&a), sum_up(&b)};
    assert_int_equal(after[0].count, A - moved);
    assert_int_equal(after[1].count, B + moved);
    assert_int_equal(after[0].ids + after[1].ids, before[0].ids + before[1].ids);
    for (int k = 0; k < 3; k++)
        assert_true(after[0].momentum[k] + after[1].momentum[k] == before[0].momentum[k] + before[1].momentum[k]);
    const int64_t *id = rh_points_data(&b, "id", RH_POINT_I64);
    const float *age = rh_points_data(&b, "age", RH_POINT_F32), *own = rh_points_data(&b, "only_b", RH_POINT_F32);
    for (int64_t i = B; i < b.count; i++) {
        assert_int_equal(id[i] % 7, 3);
        assert_true(age[i] == (float)id[i] && own[i] == 0);
    }
    rh_points_free(&a);
    rh_points_free(&b);
}

#ifndef RHEO_NO_LANG
#define SPRAY                                                                                                       \
    HEAD "materials:\n - {name: water, physics: {liquid: {}}}\n - {name: spray, physics: {ballistic: {drag: 0}}}\n" \
         "bodies: [{velocity: [0, 3, 0], shape: {box: {min: [0.2, 0.2, -1], max: [0.6, 0.6, 1]}}}]\n"               \
         "expressions:\n - {at: step, code: 'if (v@P.y > 0.62) addtogroup(\"leaving\");'}\n"                        \
         " - {material: spray, at: step, code: 'if (v@v.y < 2.5) addtogroup(\"back\");'}\n"

static void a_run_keeps_mass_momentum_and_ids(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    rh_world *world = world_make(
        &scene, SPRAY "exchanges: [{from: water, to: spray, group: leaving}, {from: spray, to: water, group: back}]\n");
    int64_t all = world->materials[0].points->count, ids = sum_up(world->materials[0].points).ids;
    rh_material *water = &world->materials[0], *spray = &world->materials[1];
    bool seen = false;
    for (int n = 0; n < 12; n++) {
        assert_ok(rh_world_step(world, 0.02, NULL, &status));
        assert_true(water->time == spray->time && world->time == water->time);
        sums w = sum_up(water->points), s = sum_up(spray->points);
        assert_int_equal(w.count + s.count, all);
        assert_int_equal(w.ids + s.ids, ids);
        seen |= s.count > 0;
    }
    assert_true(seen && water->seeder.received > 0);
    assert_int_equal(water->seeder.given - water->seeder.received, spray->points->count);
    assert_int_equal(spray->seeder.received - spray->seeder.given, spray->points->count);
    // Nothing but gravity pushes: what the balances do not account for is rounding.
    rh_world_finish_frame(world);
    double mass = 1000 * 0.025 * 0.025 * (double)all;
    assert_true(fabs(world->progress.pushed.x) + fabs(world->progress.pushed.y) < 1e-3 * mass * 3);
    world_drop(world, &scene);
}

static void expect_refused(const char *text, const char *words)
{
    rh_scene scene;
    rh_status status = {0};
    rh_world *world = NULL;
    rh_code code = rh_scene_load_text("test.yaml", text, strlen(text), NULL, 0, &scene, &status);
    if (code == RH_OK) {
        code = rh_world_create(&scene, &world, &status);
        rh_scene_free(&scene);
    }
    print_message("%s\n", status.message);
    assert_int_equal(code, RH_USER);
    assert_non_null(strstr(status.message, words));
    assert_int_equal(rh_memory_bytes(), 0);
}

static void mistakes_are_told(void **state)
{
    (void)state;
    expect_refused(SPRAY "exchanges: [{from: watr, to: spray, group: leaving}]\n", "did you mean 'water'");
    expect_refused(SPRAY "exchanges: [{from: water, to: spray, group: leving}]\n", "nobody makes the group 'leving'");
    expect_refused(HEAD
                   "materials:\n - {name: a, physics: {liquid: {}}}\n - {name: b, physics: {liquid: {density: 5}}}\n"
                   "bodies: [{shape: {sphere: {radius: 1}}}]\n"
                   "expressions: [{at: step, code: 'addtogroup(\"g\");'}]\n"
                   "exchanges: [{from: a, to: b, group: g}]\n",
                   "weighs");
    expect_refused(HEAD "materials:\n - {name: a, physics: {liquid: {}}}\n - {name: a, physics: {liquid: {}}}\n"
                        "bodies: [{shape: {sphere: {radius: 1}}}]\n",
                   "the name 'a' is taken");
    expect_refused(HEAD "physics: {droplets: {}}\nbodies: [{shape: {sphere: {radius: 1}}}]\n", "droplets are balls");
    expect_refused(HEAD "physics: {liquid: {}}\nbodies: [{material: liqid, shape: {sphere: {radius: 1}}}]\n",
                   "did you mean 'liquid'");
    expect_refused(HEAD "physics: {liquid: {}}\nmaterials: [{name: a, physics: {liquid: {}}}]\n"
                        "bodies: [{shape: {sphere: {radius: 1}}}]\n",
                   "expected one of the two");
}
#endif

// --- sub-steps -------------------------------------------------------------------------------------------------------
static void shared_steps_are_the_strictest(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    char text[4096];
    tour_text(text, sizeof text, -1);
    char *at = strstr(text, "{name: dune,");
    assert_non_null(at);
    memmove(at + 16, at + 1, strlen(at + 1) + 1);
    memcpy(at, "{steps: shared, ", 16);
    rh_world *world = world_make(&scene, text);
    double dt;
    assert_ok(rh_world_step(world, 1 / 24.0, &dt, &status));
    assert_true(dt < 1 / 24.0 - 1e-6);  // as long as the sand allows; the others divide it as they need to
    for (int i = 0; i < MATERIALS; i++) assert_true(world->materials[i].time == world->time);
    assert_int_equal(world->materials[1].step, 1);
    world_drop(world, &scene);
}

// --- surfaces --------------------------------------------------------------------------------------------------------
// What a material does not say of its surface comes from the scene's section, also when the scene was written back and
// read again, and when a setting changes either; none of it decides the result.
static void each_has_its_own_surface(void **state)
{
    (void)state;
    static const char text[] = HEAD
        "surface: {mesh: true, voxel: 0.01}\nmaterials:\n - {name: water, physics: {liquid: {}}}\n"
        " - {name: dune, physics: {sand: {}}, surface: {voxel: 0.02, mode: sphere, while_running: true}}\n"
        "bodies: [{shape: {sphere: {radius: 1}}}]\n";
    static const char *const sets[] = {"surface.adaptivity=0.5", "materials.dune.surface.mode=density"};
    rh_scene scene, again, plain;
    rh_status status = {0};
    assert_ok(rh_scene_load_text("s.yaml", text, strlen(text), sets, 2, &scene, &status));
    char *printed = rh_scene_print(&scene, &status);
    assert_non_null(printed);
    assert_ok(rh_scene_load_text("t.yaml", printed, strlen(printed), NULL, 0, &again, &status));
    const rh_scene *const both[] = {&scene, &again};
    for (int i = 0; i < 2; i++) {
        const rh_surfacing_params *water = rh_scene_surface(both[i], 0), *dune = rh_scene_surface(both[i], 1);
        assert_ptr_equal(water, &both[i]->surface);
        assert_true(water->mesh && dune->mesh && !water->while_running && dune->while_running);
        assert_true(water->voxel == 0.01 && dune->voxel == 0.02);
        assert_int_equal(water->mode, RH_SURFACING_ELLIPSOID);
        assert_int_equal(dune->mode, RH_SURFACING_DENSITY);
        assert_true(dune->adaptivity == 0.5);
        assert_true(rh_scene_surfaces_while_running(both[i]));
    }
    char *reprinted = rh_scene_print(&again, &status);
    assert_string_equal(printed, reprinted);
    static const char bare[] = HEAD
        "materials: [{name: water, physics: {liquid: {}}}, {name: dune, physics: {sand: {}}}]\n"
        "bodies: [{shape: {sphere: {radius: 1}}}]\n";
    assert_ok(rh_scene_load_text("u.yaml", bare, strlen(bare), NULL, 0, &plain, &status));
    assert_true(plain.hash == scene.hash && plain.hash == again.hash);
    rh_free(printed);
    rh_free(reprinted);
    rh_scene_free(&plain);
    rh_scene_free(&again);
    rh_scene_free(&scene);
    assert_int_equal(rh_memory_bytes(), 0);
}

// --- drops ----------------------------------------------------------------------------------------------------------
// Mass (kg) and momentum of a material, drops by their radius.
static double weigh(const rh_material *m, double momentum[3])
{
    const rh_vec3 *v = rh_points_data(m->points, "v", RH_POINT_VEC3F);
    const rh_weights weights = rh_weights_of(m->points, m->seeder.unit_radius);
    double mass = 0, unit = rh_material_particle_mass(m);
    for (int64_t i = 0; i < m->points->count; i++) {
        double one = unit * rh_weight(&weights, i);
        mass += one;
        for (int a = 0; a < 3; a++) momentum[a] += one * (double)(&v[i].x)[a];
    }
    return mass;
}

// A cloud of water in free fall, fast on one side: what is fast becomes drops, which merge and fall back into water of
// another density of particles. Mass is kept to the rounding of radii, with the rests of drops that are not whole
// particles; an exchange by itself keeps momentum.
static void drops_keep_mass_and_momentum(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    rh_world *world = world_make(
        &scene,
        "rheo: 1\ncell: 0.05\nframes: {last: 9}\nmax_step: 0.005\n"
        "materials:\n - {name: sea, physics: {splash: {particles_per_axis: 2}}}\n"
        " - {name: spray, physics: {droplets: {density: 700, max_radius: 0.1, drag: none, rest_time: 0.001}}}\n"
        "exchanges:\n - {from: sea, to: spray, when: {faster: 1.0, thinner: 0.9}}\n"
        " - {from: spray, to: sea, when: {into: 0}}\n"
        "bodies:\n - {material: sea, shape: {box: {min: [0, 0, 0], max: [0.3, 0.3, 0.3]}}}\n"
        " - {material: sea, velocity: [0, -2, 0], shape: {sphere: {center: [0.15, 0.55, 0.15], radius: 0.12}}}\n"
        "solids: [{inside_out: true, shape: {box: {min: [0, 0, 0], max: [0.3, 2, 0.3]}}}]\n");
    rh_material *sea = &world->materials[0], *spray = &world->materials[1];
    double before[3] = {0}, mass = weigh(sea, before);
    int64_t most = 0;
    for (int n = 0; n < 60; n++) {
        double after[3] = {0};
        assert_ok(rh_world_step(world, 0.01, NULL, &status));
        double now = weigh(sea, after) + weigh(spray, after) + world->rests[0].mass + world->rests[1].mass;
        assert_near(now, mass, 2e-6 * mass);
        assert_true(world->rests[1].mass < rh_material_particle_mass(sea) && world->rests[1].mass > -1e-6);
        most = spray->points->count > most ? spray->points->count : most;
    }
    assert_true(most > 50 && sea->seeder.received > 20);
    // An exchange by itself, of all drops that are left and some more.
    double both[2][3] = {{0}};
    weigh(sea, both[0]);
    weigh(spray, both[0]);
    for (int a = 0; a < 3; a++) both[0][a] += (&world->rests[1].momentum.x)[a];
    assert_ok(rh_exchange_run(world, &status));
    weigh(sea, both[1]);
    weigh(spray, both[1]);
    for (int a = 0; a < 3; a++) assert_near(both[1][a] + (&world->rests[1].momentum.x)[a], both[0][a], 1e-6 * mass);
    rh_world_free(world);
    rh_scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_gives_the_bits_it_gives_alone),
        cmocka_unit_test(what_moves_is_neither_lost_nor_changed),
        cmocka_unit_test(the_library_names_sets),
        cmocka_unit_test(shared_steps_are_the_strictest),
        cmocka_unit_test(each_has_its_own_surface),
#ifndef RHEO_NO_LANG
        cmocka_unit_test(a_run_keeps_mass_momentum_and_ids),
        cmocka_unit_test(mistakes_are_told),
#endif
        cmocka_unit_test(drops_keep_mass_and_momentum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
