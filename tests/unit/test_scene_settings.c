// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What changes a scene: settings of the command line (--set), included files, and the hash that tells changed scenes
// from unchanged ones.
#include "unit/scene_support.h"

// --- settings --------------------------------------------------------------------------------------------------------

static void test_settings(void **state)
{
    (void)state;
    const char *const sets[] = {"cell=0.25",
                                "physics.liquid.flip=0.5",
                                "bodies.pool.velocity=[1, 2, 3]",
                                "bodies[1].shape.sphere.radius=2",
                                "bodies[1].name=ball",
                                "bodies.ball.angular_velocity=[0,0,7]",
                                "frames.last=99",
                                "solids=[{shape: {plane: {}}, name: floor}]",
                                "solids.floor.wall=no_slip",
                                "solids.floor.motion.keys=[{time: 0}]",
                                "solids[0].motion.keys[0].time=3",
                                "bodies[0].shape.torus={major: 2, minor: 1}",
                                "title=a=b",
                                "cell=0.125"};
    rh_scene scene;
    rh_status status;
    rh_code code = load_small(sets, sizeof sets / sizeof *sets, &scene, &status);
    if (code != RH_OK) print_error("%s\n", status.message);
    assert_int_equal(code, RH_OK);
    const rh_body_params *bodies = scene.bodies.items;
    const rh_solid_params *solids = scene.solids.items;
    assert_true(scene.cell == 0.125);
    assert_true(((rh_liquid_params *)scene.physics.value)->flow.flip == 0.5);
    assert_true(bodies[0].velocity.z == 3);
    assert_true(((rh_sphere_params *)bodies[1].shape.value)->radius == 2);
    assert_true(bodies[1].angular_velocity.z == 7);
    assert_int_equal(scene.frames.last, 99);
    assert_int_equal(solids[0].wall, RH_WALL_NO_SLIP);
    assert_true(((rh_motion_key *)solids[0].motion.keys.items)->time == 3);
    assert_int_equal(bodies[0].shape.kind, RH_SHAPE_TORUS);
    assert_string_equal(scene.title, "a=b");
    rh_scene_free(&scene);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void test_wrong_settings(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"cell", "--set cell: expected path=value"},
        {"=1", "--set =1: expected a name"},
        {"cell=", "--set cell=: expected a value after '='"},
        {"cell=abc", "--set cell=abc: cell: expected a number in m, found 'abc'"},
        {"cell=-1", "--set cell=-1: cell: must be between"},
        {"cell=[1", "--set cell=[1: YAML: did not find expected ',' or ']'"},
        {"cell.x=1", "--set cell.x=1: 'cell' has no parts"},
        {"gravity[1]=1", "'gravity' has no parts, it is set as a whole: expected gravity=three numbers"},
        {"cel=1", "--set cel=1: unknown name 'cel'; did you mean 'cell'?"},
        {"physics.liquid.flop=1", "--set physics.liquid.flop=1: unknown name 'flop'; did you mean 'flip'?"},
        {"physics.liqiud.flip=1", "'physics' has no alternative 'liqiud'; did you mean 'liquid'?"},
        {"physics.liquid", "--set physics.liquid: expected path=value"},
        {"physics=liquid",
         "--set physics=liquid: physics: expected a mapping with one of the keys liquid, splash, sand, "
         "sand_incompressible, ballistic, dye, sph, droplets, whitewater, elastoplastic or mist"},
        {"frames=3", "frames: expected a mapping, found '3'"},
        {"frames..last=3", "expected a name at '.last=3'"},
        {"frames[0]=3", "expected '.' or '=' after 'frames', found '['"},
        {"bodies[2].velocity=1", "'bodies' has 2 items, counted from 0; there is no bodies[2]"},
        {"bodies[-1].velocity=1", "there is no bodies[-1]"},
        {"bodies[x].velocity=1", "expected a number and ']' after 'bodies['"},
        {"bodies[0]velocity=1", "expected '.' or '=' after 'bodies', found 'v'"},
        {"bodies.pol.velocity=1", "no item of 'bodies' is called 'pol'; did you mean 'pool'?"},
        {"solids.floor.wall=slip", "no item of 'solids' has a name"},
        {"solids[0].wall=slip", "'solids' has 0 items"},
        {"bodies.pool.shape.sphere.radius=1", "'shape' is a 'box' here, not a 'sphere'"},
        {"bodies.pool.shape.sphere={}", "bodies[0].shape.sphere: 'radius' is missing"},
        {"bodies.pool=3", "--set bodies.pool=3: bodies[0]: expected a mapping, found '3'"},
        {"include=a.yaml", "unknown name 'include'"},
        {"bodies[1].name=pool", "--set bodies[1].name=pool: bodies: the name 'pool' is taken"},
        {"bodies=[]", "nothing to simulate"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rh_scene scene;
        rh_status status;
        assert_int_equal(load_small(&cases[i][0], 1, &scene, &status), RH_USER);
        if (!strstr(status.message, cases[i][1])) print_error("--set %s: %s\n", cases[i][0], status.message);
        assert_non_null(strstr(status.message, cases[i][1]));
        assert_int_equal(rh_memory_bytes(), 0);
    }
}

// --- includes --------------------------------------------------------------------------------------------------------

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void remove_file(const char *folder, const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(remove(path), 0);
}

static void check_included(const rh_scene *scene, const char *folder)
{
    char real[4096], mesh[4200];
    const rh_body_params *bodies = scene->bodies.items;
    const rh_liquid_params *liquid = scene->physics.value;
    assert_true(scene->cell == 0.5);                                   // own key wins
    assert_true(scene->frames.first == 3 && scene->frames.last == 9);  // blocks merge
    assert_true(liquid->flow.flip == 0.25 && liquid->flow.cfl == 1);   // so does the same alternative
    assert_int_equal(scene->bodies.count, 3);                          // root lists are joined, in order
    assert_string_equal(bodies[0].name, "base");
    assert_string_equal(bodies[1].name, "extra");
    assert_string_equal(bodies[2].name, "own");
    assert_int_equal(scene->seed, 11);  // the later include wins
    assert_non_null(realpath(folder, real));
    snprintf(mesh, sizeof mesh, "%s/parts/knot.obj", real);  // relative to the file that says so
    assert_string_equal(((rh_mesh_params *)bodies[1].shape.value)->file, mesh);
    assert_true(
        ends_with(rh_scene_place(scene, ((rh_mesh_params *)bodies[1].shape.value)->file), "parts/extra.yaml:4:26"));
}

static void test_includes(void **state)
{
    (void)state;
    char folder[] = "scratch-scene-XXXXXX", parts[64], path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(parts, sizeof parts, "%s/parts", folder);
    assert_int_equal(mkdir(parts, 0700), 0);
    write_file(folder, "base.yaml",
               "rheo: 1\ncell: 1\nseed: 10\nframes: {first: 2, last: 9}\nphysics: {liquid: {flip: 0.5, cfl: 1}}\n"
               "bodies: [{name: base, shape: {sphere: {radius: 1}}}]\n");
    write_file(parts, "extra.yaml", "seed: 11\nbodies:\n  - name: extra\n    shape: {mesh: {file: knot.obj}}\n");
    write_file(folder, "main.yaml",
               "include: [base.yaml, parts/extra.yaml]\ncell: 0.5\nframes: {first: 3}\n"
               "physics: {liquid: {flip: 0.25}}\nbodies: [{name: own, shape: {box: {min: [0,0,0], max: [1,1,1]}}}]\n");
    snprintf(path, sizeof path, "%s/main.yaml", folder);
    rh_scene scene;
    rh_status status = {0};
    rh_code code = rh_scene_load(path, NULL, 0, &scene, &status);
    if (code != RH_OK) print_error("%s\n", status.message);
    assert_int_equal(code, RH_OK);
    check_included(&scene, folder);
    check_round_trip(&scene);
    rh_scene_free(&scene);
    remove_file(folder, "main.yaml");
    remove_file(folder, "base.yaml");
    remove_file(parts, "extra.yaml");
    assert_int_equal(rmdir(parts), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(rh_memory_bytes(), 0);
}

// --- hash ------------------------------------------------------------------------------------------------------------

static uint64_t hash_with(const char *set)
{
    rh_scene scene;
    rh_status status;
    rh_code code = load_small(&set, set ? 1 : 0, &scene, &status);
    if (code != RH_OK) print_error("%s\n", status.message);
    assert_int_equal(code, RH_OK);
    uint64_t hash = scene.hash;
    rh_scene_free(&scene);
    return hash;
}

static void test_hash(void **state)
{
    (void)state;
    static const char *const same[] = {"title=other",
                                       "look.light.sun=2",
                                       "output.ply=true",
                                       "output.up=z",
                                       "surface.voxel=0.01",
                                       "surface={mesh: true, filters: [{kind: median}]}",
                                       "checkpoint.keep=7",
                                       "frames.last=100",
                                       "cell=1e-1",
                                       "cell=0.1000000000000000055511",
                                       "seed=+1",
                                       "gravity=[0, -9.810, 0.0]"};
    static const char *const other[] = {"cell=0.10000000000000002",
                                        "cell=0.11",
                                        "seed=2",
                                        "gravity=[0, -9.81, 1]",
                                        "frames.fps=25",
                                        "frames.first=2",
                                        "physics.liquid.flip=0.96",
                                        "bodies[0].velocity=[0, 0, 1e-9]",
                                        "bodies[1].shape.box={min: [0,0,0], max: [1,1,1]}",
                                        "solids=[{shape: {plane: {}}}]",
                                        "dimension=2",
                                        "bodies[1].shape.sphere.radius=0.50000000000000011"};
    uint64_t base = hash_with(NULL);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) assert_true(hash_with(same[i]) == base);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) assert_true(hash_with(other[i]) != base);
    uint64_t here = hash_with("bodies[1].shape.mesh={file: /here/a.obj}");
    assert_true(here == hash_with("bodies[1].shape.mesh={file: there/a.obj}"));
    assert_true(here != hash_with("bodies[1].shape.mesh={file: /here/b.obj}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_wrong_settings),
        cmocka_unit_test(test_includes),
        cmocka_unit_test(test_hash),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed ? failed : rh_memory_bytes() != 0;
}
