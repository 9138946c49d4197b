// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Loading a scene: include.c makes one tree of the files, setting.c changes it, reader.c makes the struct, print.c
// hashes it.
#include "scene/scene.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/regular.h"
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

// Every file that the scene names, now that all are known.
static rh_code confine(const rh_scene *scene, const rh_scene_options *options, rh_status *status)
{
    const rh_expression_params *e = scene->expressions.items;
    for (int i = 0; options->alone && i < scene->expressions.count; i++)
        if (e[i].file)
            return rh_fail(status, RH_USER, "%s: found a program in a file, expected a complete scene as runs write it",
                           rh_scene_place(scene, e[i].file));
    for (int i = 0; scene->sandbox && i < scene->sources.count; i++) {
        const rh_scene_source *source = &scene->sources.items[i];
        if (source->is_path && !rh_path_is_inside(source->value, scene->sandbox))
            return rh_fail(status, RH_USER, "%s: '%.300s' lies outside of the folder given by --sandbox", source->place,
                           source->value);
    }
    return RH_OK;
}

// A material's section `surface` begins from the scene's: what it does not say is taken from there, before anything is
// read, so that a scene written back has all of it in both places.
static rh_code inherit_surface(rh_yaml *yaml, rh_yaml_node *root, rh_status *status)
{
    const rh_yaml_node *all = rh_yaml_find(root, "surface"), *materials = rh_yaml_find(root, "materials");
    bool some = all && materials && all->kind == RH_YAML_MAPPING && materials->kind == RH_YAML_SEQUENCE;
    for (int i = 0; some && i < materials->count; i++) {
        rh_yaml_node *material = materials->items[i].value;
        rh_yaml_node *own = material->kind == RH_YAML_MAPPING ? rh_yaml_find(material, "surface") : NULL;
        for (int k = 0; own && own->kind == RH_YAML_MAPPING && k < all->count; k++)
            if (!rh_yaml_find(own, all->items[k].key->text))
                RH_TRY(rh_yaml_append(yaml, own, all->items[k].key, all->items[k].value, status));
    }
    return RH_OK;
}

static rh_code build(rh_yaml *yaml, rh_yaml_node *root, const char *name, const char *const *sets, int set_count,
                     const rh_scene_options *options, const char *sandbox, rh_scene *scene, rh_status *status)
{
    for (int i = 0; i < set_count; i++) RH_TRY(rh_setting_apply(yaml, &rh_scene_table, root, sets[i], status));
    RH_TRY(inherit_surface(yaml, root, status));
    rh_scene_sources sources = {0};
    rh_code code = rh_reader_read(yaml, root, &rh_scene_table, scene, &sources, status);
    if (code != RH_OK) {
        free_sources(&sources);
        return code;
    }
    scene->sources = sources;
    scene->functions = options->functions, scene->function_count = options->function_count;
    scene->file = rh_strdup(name, "scene.file", status);
    if (!scene->file) code = RH_MEMORY;
    if (code == RH_OK && sandbox && !(scene->sandbox = rh_strdup(sandbox, "scene.file", status))) code = RH_MEMORY;
    if (code == RH_OK) code = confine(scene, options, status);
    if (code == RH_OK) code = rh_expressions_load(scene, status);
    if (code == RH_OK) code = rh_probes_check(scene, status);
    if (code == RH_OK) code = rh_scene_resolve_joints(scene, status);
    if (code == RH_OK) code = rh_scene_resolve_materials(scene, status);
    if (code == RH_OK) code = rh_print_hash(scene, &scene->hash, status);
    if (code != RH_OK) rh_scene_free(scene);
    return code;
}

rh_code rh_scene_load_options(const char *path, const char *const *sets, int set_count, const rh_scene_options *options,
                              rh_scene *scene, rh_status *status)
{
    char sandbox[PATH_MAX];
    rh_yaml yaml;
    rh_yaml_node *root = NULL;
    *scene = (rh_scene){0};
    if (options->sandbox && !realpath(options->sandbox, sandbox))
        return rh_fail(status, RH_USER, "--sandbox: %.300s: %s, expected a folder", options->sandbox, strerror(errno));
    const char *inside = options->sandbox ? sandbox : NULL;
    rh_yaml_init(&yaml);
    rh_code code = options->text ? rh_include_text(&yaml, &rh_scene_table, path, options->text, options->bytes, inside,
                                                   options->alone, &root, status)
                                 : rh_include_file(&yaml, &rh_scene_table, path, inside, &root, status);
    if (code == RH_OK) code = build(&yaml, root, path, sets, set_count, options, inside, scene, status);
    rh_yaml_free(&yaml);
    return code;
}

rh_code rh_scene_load(const char *path, const char *const *sets, int set_count, rh_scene *scene, rh_status *status)
{
    return rh_scene_load_options(path, sets, set_count, &(rh_scene_options){0}, scene, status);
}

rh_code rh_scene_load_with(const char *path, const char *const *sets, int set_count, const rh_lang_function *functions,
                           int function_count, rh_scene *scene, rh_status *status)
{
    return rh_scene_load_options(path, sets, set_count,
                                 &(rh_scene_options){.functions = functions, .function_count = function_count}, scene,
                                 status);
}

rh_code rh_scene_load_text(const char *name, const char *text, size_t bytes, const char *const *sets, int set_count,
                           rh_scene *scene, rh_status *status)
{
    return rh_scene_load_options(name, sets, set_count, &(rh_scene_options){.text = text, .bytes = bytes}, scene,
                                 status);
}

void rh_scene_free(rh_scene *scene)
{
    rh_params_free(&rh_scene_table, scene);
    free_sources(&scene->sources);
    rh_free(scene->file);
    rh_free(scene->sandbox);
    *scene = (rh_scene){0};
}

rh_scene_words rh_scene_item(const rh_scene *scene, const char *kind, int index, const void *item, const char *name)
{
    rh_scene_words words;
    bool named = name && name[0];
    snprintf(words.text, sizeof words.text, "%.256s: %s %d%s%.100s%s", rh_scene_place(scene, item), kind, index,
             named ? " ('" : "", named ? name : "", named ? "')" : "");
    return words;
}

const char *rh_scene_place(const rh_scene *scene, const char *value)
{
    for (int i = 0; i < scene->sources.count; i++)
        if (scene->sources.items[i].value == value) return scene->sources.items[i].place;
    return scene->file;
}
