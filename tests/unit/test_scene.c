// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The scene reader: every broken scene of tests/bad/scenes gives its message, every example survives being written and
// read back bit by bit; and no memory is lost wherever an allocation fails. Random scenes, settings and the manual have
// tests of their own.
#include "unit/scene_support.h"

// --- broken scenes ---------------------------------------------------------------------------------------------------

static void check_bad(const char *file, const char *expected)
{
    rh_scene scene;
    rh_status status = {0};
    rh_code code = rh_scene_load(file, NULL, 0, &scene, &status);
    if (strncmp(expected, "@place ", 7) == 0) {
        assert_int_equal(code, RH_OK);
        const rh_body_params *body = scene.bodies.items;
        assert_string_equal(rh_scene_place(&scene, ((rh_mesh_params *)body->shape.value)->file), expected + 7);
        assert_string_equal(rh_scene_place(&scene, "somewhere else"), file);
        rh_scene_free(&scene);
    } else {
        if (!strstr(status.message, expected))
            print_error("%s:\n  expected %s\n  found    %s\n", file, expected, status.message);
        assert_non_null(strstr(status.message, expected));
        assert_int_equal(code, RH_USER);
    }
    assert_int_equal(rh_memory_bytes(), 0);
}

static int count_scenes(void)
{
    int count = 0;
    DIR *folder = opendir(".");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        count += ends_with(entry->d_name, ".yaml") && strncmp(entry->d_name, "part_", 5) != 0;
    closedir(folder);
    return count;
}

static void test_broken_scenes(void **state)
{
    (void)state;
    char old[4096], line[2048];
    assert_non_null(getcwd(old, sizeof old));
    assert_int_equal(chdir(RHEO_SOURCE_DIR "/tests/bad/scenes"), 0);  // so that messages show the bare file name
    FILE *table = fopen("expected.txt", "r");
    assert_non_null(table);
    int count = 0;
    while (fgets(line, sizeof line, table)) {
        line[strcspn(line, "\n")] = 0;
        char *tab = strchr(line, '\t');
        if (line[0] == '#') continue;
        assert_non_null(tab);
        *tab = 0;
        check_bad(line, tab + 1);
        count++;
    }
    fclose(table);
    assert_int_equal(count, count_scenes());  // none without an expected message
    assert_true(count >= 100);
    assert_int_equal(chdir(old), 0);
}

static void test_unreadable_root(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    assert_int_equal(rh_scene_load("no/such/scene.yaml", NULL, 0, &scene, &status), RH_IO);
    assert_non_null(strstr(status.message, "no/such/scene.yaml: cannot read: No such file"));
    rh_status_clear(&status);
    assert_int_equal(rh_scene_load(".", NULL, 0, &scene, &status), RH_IO);
    assert_int_equal(rh_scene_load(".", NULL, 0, &scene, NULL), RH_IO);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void test_large_inputs(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    size_t bytes = 3 << 20;
    char *text = malloc(bytes + 1);
    assert_non_null(text);
    memset(text, '-', bytes);  // one long word
    text[bytes] = 0;
    assert_int_equal(rh_scene_load_text("a.yaml", text, bytes, NULL, 0, &scene, &status), RH_USER);
    assert_true(strlen(status.message) < 400);

    // 200 000 different unknown keys: eight messages, then a stop, and no quadratic search for duplicates.
    size_t used = 0;
    for (int i = 0; i < 200000; i++) used += (size_t)snprintf(text + used, bytes - used, "k%d: 1\n", i);
    rh_status_clear(&status);
    assert_int_equal(rh_scene_load_text("a.yaml", text, used, NULL, 0, &scene, &status), RH_USER);
    assert_non_null(strstr(status.message, "a.yaml:1:1: unknown key 'k0'"));
    assert_true(ends_with(status.message, "(there may be more)"));
    free(text);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void test_eight_problems(void **state)
{
    (void)state;
    const char *text = "a: 1\nb: 1\nc: 1\nd: 1\n";
    char many[512] = "rheo: 1\ncell: 1\nphysics: {liquid: {}}\noutput: {vdb: 1, ply: 2, initial: 3}\n"
                     "checkpoint: {frames: x, keep: x}\nframes: {first: x, last: x, fps: x}\nseed: x\n";
    rh_scene scene;
    rh_status status = {0};
    assert_int_equal(rh_scene_load_text("m", many, strlen(many), NULL, 0, &scene, &status), RH_USER);
    int lines = 1;
    for (const char *p = status.message; *p; p++) lines += *p == '\n';
    assert_int_equal(lines, 9);
    assert_non_null(strstr(status.message, "m:6:34: frames.fps: expected a number in 1/s, found 'x'"));
    assert_null(strstr(status.message, "seed"));
    rh_status_clear(&status);
    assert_int_equal(rh_scene_load_text("m", text, strlen(text), NULL, 0, &scene, &status), RH_USER);
    assert_non_null(strstr(status.message, "m:4:1: unknown key 'd'"));
}

// A material's surface takes over what the scene's says: a mistake there is told once.
static void test_shared_mistakes(void **state)
{
    (void)state;
    const char *text = "rheo: 1\ncell: 1\nsurface: {voxel: x, voxl: 1}\n"
                       "materials: [{name: a, physics: {liquid: {}}, surface: {}}, {name: b, physics: {liquid: {}}, "
                       "surface: {smoothing: x}}]\n";
    rh_scene scene;
    rh_status status = {0};
    assert_int_equal(rh_scene_load_text("m", text, strlen(text), NULL, 0, &scene, &status), RH_USER);
    const char *first = strstr(status.message, "m:3:18: "), *key = strstr(status.message, "m:3:21: ");
    assert_true(first && key);
    assert_null(strstr(first + 1, "m:3:18: "));
    assert_null(strstr(key + 1, "m:3:21: "));
    assert_non_null(strstr(status.message, "m:4:"));
}

// --- good scenes -----------------------------------------------------------------------------------------------------

static void test_defaults(void **state)
{
    (void)state;
    rh_scene scene;
    load_good(small, &scene);
    assert_int_equal(scene.version, 1);
    assert_int_equal(scene.dimension, 3);
    assert_true(scene.gravity.x == 0 && scene.gravity.y == -9.81 && scene.gravity.z == 0);
    assert_true(scene.frames.first == 1 && scene.frames.last == 24 && scene.frames.fps == 24);
    assert_true(scene.output.vdb && !scene.output.ply);
    assert_string_equal(scene.title, "");
    assert_string_equal(scene.file, "good.yaml");
    assert_int_equal(scene.physics.kind, 0);
    assert_true(((rh_liquid_params *)scene.physics.value)->flow.flip == 0.97);
    assert_int_equal(scene.bodies.count, 2);
    const rh_body_params *bodies = scene.bodies.items;
    assert_string_equal(bodies[0].name, "pool");
    assert_null(bodies[1].name);
    assert_int_equal(bodies[0].shape.kind, RH_SHAPE_BOX);
    assert_true(((rh_box_params *)bodies[0].shape.value)->max.z == 1);
    assert_int_equal(bodies[1].shape.kind, RH_SHAPE_SPHERE);
    rh_scene_free(&scene);
    assert_int_equal(rh_memory_bytes(), 0);
}

// Every scene of a folder is read, and survives being written. Returns how many there are.
static int check_folder(const char *path)
{
    int count = 0;
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        if (!ends_with(entry->d_name, ".yaml")) continue;
        char file[1024];
        rh_scene scene;
        rh_status status = {0};
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        rh_code code = rh_scene_load(file, NULL, 0, &scene, &status);
        if (code != RH_OK) print_error("%s\n", status.message);
        assert_int_equal(code, RH_OK);
        check_round_trip(&scene);
        rh_scene_free(&scene);
        count++;
    }
    closedir(folder);
    return count;
}

static void test_examples(void **state)
{
    (void)state;
    assert_true(check_folder(RHEO_SOURCE_DIR "/scenes") >= 9);
    assert_true(check_folder(RHEO_SOURCE_DIR "/scenes/expressions") >= 5);
    assert_true(check_folder(RHEO_SOURCE_DIR "/scenes/small") >= 5);
    assert_int_equal(check_folder(RHEO_SOURCE_DIR "/scenes/thick"),
                     check_folder(RHEO_SOURCE_DIR "/scenes/thick/small"));
    assert_true(check_folder(RHEO_SOURCE_DIR "/scenes/sph") >= 6);
    assert_true(check_folder(RHEO_SOURCE_DIR "/scenes/sph/small") >= 4);
    // Every full-size scene of the splash method has its small twin.
    int full = check_folder(RHEO_SOURCE_DIR "/scenes/splash"),
        twins = check_folder(RHEO_SOURCE_DIR "/scenes/splash/small");
    assert_true(full >= 10);
    assert_int_equal(full, twins);
    full = check_folder(RHEO_SOURCE_DIR "/scenes/sand"), twins = check_folder(RHEO_SOURCE_DIR "/scenes/sand/small");
    assert_true(full >= 9);
    assert_int_equal(full, twins);
    assert_int_equal(rh_memory_bytes(), 0);
}

// --- memory ----------------------------------------------------------------------------------------------------------

static const char *const rich =
    "rheo: 1\ntitle: x\ncell: 0.1\nphysics: {liquid: {}}\nbodies:\n  - &b {name: a, shape: {mesh: {file: m.obj}}}\n"
    "solids:\n  - {name: p, shape: {plane: {}}, motion: {keys: [{time: 0}, {time: 1}]}}\n"
    "forces:\n  - {force: {uniform: {keys: [{time: 0, acceleration: [0, 0, 0]}]}}}\n";

static void test_memory_failures(void **state)
{
    (void)state;
    const char *const sets[] = {"bodies.a.velocity=[1, 2, 3]", "output.ply=true"};
    int failures = 0;
    for (int n = 0;; n++) {
        rh_scene scene;
        rh_status status = {0};
        char *text = NULL, *manual = NULL;
        rh_memory_fail_after(n);
        rh_code code = rh_scene_load_text("r.yaml", rich, strlen(rich), sets, 2, &scene, &status);
        if (code == RH_OK) {
            text = rh_scene_print(&scene, &status);
            if (text) manual = rh_scene_manual("all", n % 2, &status);
        }
        rh_memory_fail_after(-1);
        if (code == RH_OK) rh_scene_free(&scene);
        bool done = manual != NULL;
        rh_free(text);
        rh_free(manual);
        assert_int_equal(rh_memory_bytes(), 0);
        if (done) break;
        assert_int_equal(status.code, RH_MEMORY);
        assert_non_null(strstr(status.message, "out of memory"));
        failures++;
    }
    assert_true(failures > 20);
}

// --- substances ------------------------------------------------------------------------------------------------------

static const rh_liquid_params *liquid_of(const rh_scene *scene) { return scene->physics.value; }

static void read_back(const rh_scene *scene, rh_scene *again)
{
    rh_status status = {0};
    char *text = rh_scene_print(scene, &status);
    assert_non_null(text);
    load_good(text, again);
    rh_free(text);
}

// Each name is a choice, in the order of the table, and brings its values; those that the scene gives stay, wherever
// they stand; written back the scene is the same.
static void test_substances(void **state)
{
    (void)state;
    rh_scene scene, again;
    rh_status status;
    for (int i = 0; i < rh_substances.count; i++) {
        const rh_preset *one = &rh_substances.items[i];
        char set[96];
        snprintf(set, sizeof set, "physics.liquid.substance=%s", one->name);
        const char *sets[] = {set};
        assert_int_equal(load_small(sets, 1, &scene, &status), RH_OK);
        assert_int_equal(liquid_of(&scene)->substance, i + 1);
        assert_true(liquid_of(&scene)->flow.density == strtod(one->values[0], NULL));
        assert_true(liquid_of(&scene)->flow.viscosity == strtod(one->values[1], NULL));
        assert_true(liquid_of(&scene)->flow.surface_tension == (one->values[2] ? strtod(one->values[2], NULL) : 0));
        rh_scene_free(&scene);
    }
    assert_null(rh_substance_names[rh_substances.count + 1]);
    const char *sets[] = {"physics.liquid.viscosity=12", "physics.liquid.substance=lava"};
    assert_int_equal(load_small(sets, 2, &scene, &status), RH_OK);
    assert_true(liquid_of(&scene)->flow.viscosity == 12);
    assert_true(liquid_of(&scene)->flow.density == 2750);
    read_back(&scene, &again);
    assert_true(again.hash == scene.hash);
    assert_true(liquid_of(&again)->flow.viscosity == 12);
    rh_scene_free(&again);
    rh_scene_free(&scene);
    assert_int_equal(rh_memory_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broken_scenes),   cmocka_unit_test(test_unreadable_root),
        cmocka_unit_test(test_large_inputs),    cmocka_unit_test(test_eight_problems),
        cmocka_unit_test(test_shared_mistakes), cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_examples),        cmocka_unit_test(test_memory_failures),
        cmocka_unit_test(test_substances),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed ? failed : rh_memory_bytes() != 0;
}
