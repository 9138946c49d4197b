// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Loading a scene: include.c makes one tree of the files, setting.c changes it, reader.c makes the struct, print.c hashes it.
#include "scene/scene.h"

#include <string.h>
#include "base/memory.h"
#include "scene/expressions.h"
#include "scene/include.h"
#include "scene/print.h"
#include "scene/reader.h"
#include "scene/setting.h"

static void free_sources(rh_scene_sources *sources)
{
    for (int i = 0; i < sources->count; i++) rh_free(sources->items[i].place);
    rh_free(sources->items);
    *sources = (rh_scene_sources){0};
}

typedef struct host {
    const rh_lang_function *functions;
    int count;
} host;

static rh_code build(rh_yaml *yaml, rh_yaml_node *root, const char *name, const char *const *sets, int set_count, host around,
                     rh_scene *scene, rh_status *status)
{
    for (int i = 0; i < set_count; i++) RH_TRY(rh_setting_apply(yaml, &rh_scene_table, root, sets[i], status));
    rh_scene_sources sources = {0};
    rh_code code = rh_reader_read(yaml, root, &rh_scene_table, scene, &sources, status);
    if (code != RH_OK) {
        free_sources(&sources);
        return code;
    }
    scene->sources = sources;
    scene->functions = around.functions, scene->function_count = around.count;
    scene->file = rh_strdup(name, "scene.file", status);
    code = scene->file ? rh_expressions_load(scene, status) : RH_MEMORY;
    if (code == RH_OK) code = rh_print_hash(scene, &scene->hash, status);
    if (code != RH_OK) rh_scene_free(scene);
    return code;
}

rh_code rh_scene_load(const char *path, const char *const *sets, int set_count, rh_scene *scene, rh_status *status)
{
    return rh_scene_load_with(path, sets, set_count, NULL, 0, scene, status);
}

rh_code rh_scene_load_with(const char *path, const char *const *sets, int set_count, const rh_lang_function *functions, int function_count, rh_scene *scene,
                           rh_status *status)
{
    rh_yaml yaml;
    rh_yaml_node *root = NULL;
    *scene = (rh_scene){0};
    rh_yaml_init(&yaml);
    rh_code code = rh_include_file(&yaml, &rh_scene_table, path, &root, status);
    if (code == RH_OK) code = build(&yaml, root, path, sets, set_count, (host){functions, function_count}, scene, status);
    rh_yaml_free(&yaml);
    return code;
}

rh_code rh_scene_load_text(const char *name, const char *text, size_t bytes, const char *const *sets, int set_count,
                           rh_scene *scene, rh_status *status)
{
    rh_yaml yaml;
    rh_yaml_node *root = NULL;
    *scene = (rh_scene){0};
    rh_yaml_init(&yaml);
    rh_code code = rh_include_text(&yaml, &rh_scene_table, name, text, bytes, &root, status);
    if (code == RH_OK) code = build(&yaml, root, name, sets, set_count, (host){NULL, 0}, scene, status);
    rh_yaml_free(&yaml);
    return code;
}

void rh_scene_free(rh_scene *scene)
{
    rh_params_free(&rh_scene_table, scene);
    free_sources(&scene->sources);
    rh_free(scene->file);
    *scene = (rh_scene){0};
}

const char *rh_scene_place(const rh_scene *scene, const char *value)
{
    for (int i = 0; i < scene->sources.count; i++)
        if (scene->sources.items[i].value == value) return scene->sources.items[i].place;
    return scene->file;
}
