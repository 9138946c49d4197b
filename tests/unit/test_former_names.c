// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Keys of scenes under the names they had before: read, told of, written back under the new name, hashed under the old.
#include "check.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "base/memory.h"
#include "physics/sand/sand.h"
#include "scene/include.h"
#include "scene/print.h"
#include "scene/reader.h"
#include "scene/scene.h"
#include "scene/setting.h"

static const char *const small = "rheo: 1\n"
                                 "cell: 0.1\n"
                                 "physics: {liquid: {}}\n"
                                 "bodies: [{shape: {sphere: {radius: 0.5}}}]\n";
enum { HEARD = 512 };

static void hear(rh_log_level level, const char *message, void *user)
{
    if (level == RH_LOG_WARNING) strncat(user, message, HEARD - strlen(user) - 1);
}

static rh_code load_heard(const char *text, const char *const *sets, int count, rh_scene *scene, char heard[HEARD],
                          rh_status *status)
{
    heard[0] = 0;
    *status = (rh_status){0};
    rh_log_set_sink(hear, heard);
    rh_code code = rh_scene_load_text("s.yaml", text, strlen(text), sets, count, scene, status);
    rh_log_set_sink(NULL, NULL);
    return code;
}

// A key goes on working under the name it had, in a file and in a setting, and the user is told of the new one. It is
// written back under the new name, and hashed under the old one, or a run made before could not be resumed.
static void former_names_work(void **state)
{
    (void)state;
    static const char *const set = "rest=true";
    char text[512], heard[HEARD];
    rh_scene scene;
    rh_status status;
    snprintf(text, sizeof text, "%s%s", small, "rest: true\n");
    for (int way = 0; way < 2; way++) {
        assert_int_equal(load_heard(way ? small : text, &set, way, &scene, heard, &status), RH_OK);
        assert_string_equal(heard, way ? "--set rest=true: 'rest' is now called 'rest_position'"
                                       : "s.yaml:5:1: 'rest' is now called 'rest_position'");
        char *full = rh_scene_print(&scene, &status), *hashed = rh_print_decisive(&scene, true, &status);
        assert_true(strstr(full, "\nrest_position: true") && !strstr(full, "\nrest: "));
        assert_true(strstr(hashed, "\nrest: true\n") && !strstr(hashed, "rest_position"));
        rh_scene back;
        assert_int_equal(load_heard(full, NULL, 0, &back, heard, &status), RH_OK);
        assert_true(heard[0] == 0 && back.hash == scene.hash);
        rh_scene_free(&back);
        rh_free(full);
        rh_free(hashed);
        rh_scene_free(&scene);
    }
    snprintf(text, sizeof text, "%s%s", small, "rest_position: false\nrest: true\n");
    assert_int_equal(load_heard(text, NULL, 0, &scene, heard, &status), RH_USER);
    assert_string_equal(status.message, "s.yaml:6:1: 'rest' is the former name of 'rest_position', which is given too: "
                                        "expected one of them");
    char *manual = rh_scene_manual("scene", false, &status);
    assert_non_null(strstr(manual, "formerly 'rest'"));
    rh_free(manual);
    assert_int_equal(rh_memory_bytes(), 0);
}

// Below the root: in tables, items of lists, alternatives and copies of an alias, whose keys are shared.
typedef struct inner {
    double size, start;
} inner;
typedef struct outer {
    inner one;
    rh_list many;
    rh_variant kind;
} outer;
static const rh_param inner_rows[] = {
    {"size", RH_PARAM_FLOAT, offsetof(inner, size), "m", "1", .formerly = "extent", .help = "h"},
    {"start", RH_PARAM_FLOAT, offsetof(inner, start), "s", "2", .help = "h"},
};
static const rh_param other_rows[] = {
    {"extent", RH_PARAM_FLOAT, offsetof(inner, size), "m", "1", .help = "h"},
    {"angle", RH_PARAM_FLOAT, offsetof(inner, start), "degrees", "2", .formerly = "start", .help = "h"},
};
static const rh_param_table inner_table = {"inner", "h", inner_rows, 2, sizeof(inner), NULL},
                            other_table = {"other", "h", other_rows, 2, sizeof(inner), NULL};
static const rh_param_table *const kinds[] = {&other_table, NULL};
static const rh_param outer_rows[] = {
    {"one", RH_PARAM_TABLE, offsetof(outer, one), "", .table = &inner_table, .help = "h"},
    {"many", RH_PARAM_LIST, offsetof(outer, many), "", .table = &inner_table, .formerly = "some", .help = "h"},
    {"kind", RH_PARAM_VARIANT, offsetof(outer, kind), "", .variants = kinds, .help = "h"},
};
static const rh_param_table outer_table = {"outer", "h", outer_rows, 3, sizeof(outer), NULL};

static void read_outer(const char *text, const char *set, outer *out)
{
    rh_status status = {0};
    rh_yaml yaml;
    rh_yaml_node *root = NULL;
    rh_yaml_init(&yaml);
    rh_code code = rh_include_text(&yaml, &outer_table, "o.yaml", text, strlen(text), NULL, false, &root, &status);
    if (code == RH_OK && set) code = rh_setting_apply(&yaml, &outer_table, root, set, &status);
    if (code == RH_OK) code = rh_reader_read(&yaml, root, &outer_table, out, NULL, &status);
    if (code != RH_OK) print_error("%s\n", status.message);
    assert_int_equal(code, RH_OK);
    rh_yaml_free(&yaml);
}

static void former_names_below_the_root(void **state)
{
    (void)state;
    outer o;
    read_outer("one: &a {extent: 3, start: 4}\nsome: [*a, {start: 5}]\nkind: {other: *a}\n", NULL, &o);
    const inner *many = o.many.items, *kind = o.kind.value;
    assert_true(o.one.size == 3 && o.one.start == 4 && o.many.count == 2 && many[0].size == 3 && many[1].start == 5);
    assert_true(kind->size == 3 && kind->start == 4);
    rh_params_free(&outer_table, &o);
    read_outer("one: {extent: 3}\nsome: [{}]\n", "some[0].extent=6", &o);
    assert_true(((const inner *)o.many.items)->size == 6 && o.one.size == 3);
    rh_params_free(&outer_table, &o);
    read_outer("one: {extent: 3}\n", "one={extent: 7}", &o);
    assert_true(o.one.size == 7);
    rh_params_free(&outer_table, &o);

    // A file may use the old name and the one that includes it the new one.
    char folder[] = "scratch-former-XXXXXX", path[64], text[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/old.yaml", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("one: {extent: 3, start: 9}\n", file) >= 0);
    assert_int_equal(fclose(file), 0);
    snprintf(text, sizeof text, "include: %s/old.yaml\none: {size: 8}\n", folder);
    read_outer(text, NULL, &o);
    assert_true(o.one.size == 8 && o.one.start == 9);
    rh_params_free(&outer_table, &o);
    assert_int_equal(remove(path), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(rh_memory_bytes(), 0);
}

// What once was a key of sand that chose its model is a method of its own: scenes as people and as runs wrote them go
// on, a setting is told what to say instead.
static void a_model_became_a_method(void **state)
{
    (void)state;
    static const char head[] = "rheo: 1\ncell: 0.1\nbodies: [{shape: {sphere: {radius: 0.5}}}]\n";
    static const char *const set = "physics.sand.model=incompressible";
    char text[512], heard[HEARD];
    rh_scene scene;
    rh_status status;
    snprintf(text, sizeof text,
             "%sphysics: {sand: {friction_angle: 33, model: incompressible, fade: 0.1, mixing: 0}}\n", head);
    assert_int_equal(load_heard(text, NULL, 0, &scene, heard, &status), RH_OK);
    assert_non_null(
        strstr(heard, "s.yaml:4:38: 'sand: {model: incompressible}' is now the method 'sand_incompressible'"));
    assert_string_equal(rh_physics_tables[scene.physics.kind]->name, "sand_incompressible");
    assert_true(((const rh_sand_incompressible_params *)scene.physics.value)->friction_angle == 33);
    rh_scene_free(&scene);
    snprintf(text, sizeof text, "%smaterials: [{name: a, physics: {sand: {model: unilateral, mixing: 0.5}}}]\n", head);
    assert_int_equal(load_heard(text, NULL, 0, &scene, heard, &status), RH_OK);
    const rh_material_params *a = rh_scene_material(&scene, 0);
    assert_string_equal(rh_physics_tables[a->physics.kind]->name, "sand");
    assert_true(((const rh_sand_params *)a->physics.value)->mixing == 0.5);
    rh_scene_free(&scene);
    snprintf(text, sizeof text, "%sphysics: {sand: {}}\n", head);
    assert_int_equal(load_heard(text, &set, 1, &scene, heard, &status), RH_USER);
    assert_non_null(strstr(status.message, "as in --set physics.sand_incompressible={}"));
    assert_int_equal(rh_memory_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(former_names_work),
        cmocka_unit_test(former_names_below_the_root),
        cmocka_unit_test(a_model_became_a_method),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
