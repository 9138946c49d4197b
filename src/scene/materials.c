// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The materials of a scene: their tables, and who names which. A scene with `physics` alone has one material, called by
// the method's name.
#include <string.h>
#include "scene/look.h"
#include "scene/scene.h"
#include "scene/words.h"

static const char *const steps_names[] = {"auto", "own", "shared", NULL};  // order of rh_material_steps

#define AT(field) offsetof(rh_material_params, field)
static const rh_param material_rows[] = {
    {"name", RH_PARAM_TEXT, AT(name), "", .required = true,
     .help = "what bodies and others call it, and files: letters, digits and '_'"},
    {"physics", RH_PARAM_VARIANT, AT(physics), "", .variants = rh_physics_tables, .required = true,
     .help = "what the material is"},
    {"steps", RH_PARAM_CHOICE, AT(steps), "", "auto", .choices = steps_names,
     .help =
         "own: takes time steps of its own between frames; shared: meets the other shared ones after each step, the "
         "strictest says how long it is; auto: shared where particles are exchanged, else own"},
    {"surface", RH_PARAM_OPTIONAL, AT(surface), "", .table = &rh_surfacing_table,
     .help = "how its surface is made; keys that are left out are those of the scene's section surface"},
    {"look", RH_PARAM_VARIANT, AT(look), "", .variants = rh_look_tables,
     .help = "what its surface looks like; without it look.liquid of the scene"},
};
#undef AT

static rh_code check_name(const char *name, const char **field, rh_status *status)
{
    size_t length = strlen(name ? name : ""),
           good = strspn(name ? name : "", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (good > 0 && good == length && length <= RH_MATERIAL_NAME && !(name[0] >= '0' && name[0] <= '9')) return RH_OK;
    *field = "name";
    return rh_fail(status, RH_USER,
                   "expected 1 to %d letters, digits or '_', no digit first: the name is part of files' names",
                   RH_MATERIAL_NAME);
}

static rh_code check_material(const void *object, const char **field, rh_status *status)
{
    return check_name(((const rh_material_params *)object)->name, field, status);
}

const rh_param_table rh_material_table = {"material",
                                          "Something that flows: a method with its parameters, and a name.",
                                          material_rows,
                                          RH_PARAM_COUNT(material_rows),
                                          sizeof(rh_material_params),
                                          check_material};

#define AT(field) offsetof(rh_exchange_when, field)
static const rh_param when_rows[] = {
    {"faster", RH_PARAM_FLOAT, AT(faster), "m/s", "0", 0, 1e6, .example = "2", .help = "than this"},
    {"thinner", RH_PARAM_FLOAT, AT(thinner), "", "0", 0, 1,
     .help = "than this share of a full neighbourhood: particles of their own material within one and a half cells"},
    {"into", RH_PARAM_FLOAT, AT(into), "m", "1e9", -1e9, 1e9,
     .help = "this near the surface of the material that they become, or so deep in it: 0 is at the surface, below 0 "
             "inside"},
};
#undef AT
static rh_code check_when(const void *object, const char **field, rh_status *status)
{
    const rh_exchange_when *w = object;
    *field = "faster";
    if (w->faster > 0 || w->thinner > 0 || w->into < 1e9) return RH_OK;
    return rh_fail(status, RH_USER, "found no condition, expected faster, thinner or into: all particles would go");
}
static const rh_param_table when_table = {"when",
                                          "Which particles go: those that all of it is true of.",
                                          when_rows,
                                          RH_PARAM_COUNT(when_rows),
                                          sizeof(rh_exchange_when),
                                          check_when};

#define AT(field) offsetof(rh_exchange_params, field)
static const rh_param exchange_rows[] = {
    {"name", RH_PARAM_TEXT, AT(name), "", .help = "for messages, and to find it with --set"},
    {"from", RH_PARAM_TEXT, AT(from), "", .required = true, .help = "the material that particles leave"},
    {"to", RH_PARAM_TEXT, AT(to), "", .required = true, .help = "the material that they become"},
    {"group", RH_PARAM_TEXT, AT(group), "", .example = "\"spray\"",
     .help = "particles of this group go, and leave it; a program (addtogroup) or the method puts them in"},
    {"when", RH_PARAM_OPTIONAL, AT(when), "", .table = &when_table,
     .help = "particles that this is true of go; with a group, those of the group"},
};
#undef AT

static rh_code check_exchange(const void *object, const char **field, rh_status *status)
{
    const rh_exchange_params *e = object;
    *field = "from";
    return e->group || e->when
               ? RH_OK
               : rh_fail(status, RH_USER, "found neither group nor when, expected who changes its material");
}

const rh_param_table rh_exchange_table = {
    "exchange",
    "Particles change from one material to another where both end a step: place, velocity, id and attributes that both "
    "have are kept, and mass and momentum are.",
    exchange_rows,
    RH_PARAM_COUNT(exchange_rows),
    sizeof(rh_exchange_params),
    check_exchange};

// --- names -----------------------------------------------------------------------------------------------------------
int rh_scene_material_count(const rh_scene *scene) { return scene->materials.count ? scene->materials.count : 1; }

const rh_material_params *rh_scene_material(const rh_scene *scene, int index)
{
    return scene->materials.count ? (const rh_material_params *)scene->materials.items + index : &scene->sole;
}

// The method whose key `substance`, or another that stands for several values, has this name.
static const rh_param_table *method_with_preset(const char *name, const rh_param **row)
{
    for (int i = 0; rh_physics_tables[i]; i++)
        for (int k = 0; k < rh_physics_tables[i]->count; k++) {
            *row = &rh_physics_tables[i]->rows[k];
            for (int n = 0; (*row)->presets && n < (*row)->presets->count; n++)
                if (strcmp((*row)->presets->items[n].name, name) == 0) return rh_physics_tables[i];
        }
    return NULL;
}

rh_code rh_scene_find_material(const rh_scene *scene, const char *name, int *index, rh_status *status)
{
    const char *names[RH_MAX_MATERIALS];
    char hint[320];
    int count = rh_scene_material_count(scene);
    *index = 0;
    if (!name) return RH_OK;
    for (int i = 0; i < count; i++) {
        names[i] = rh_scene_material(scene, i)->name;
        if (strcmp(names[i], name) == 0) return *index = i, RH_OK;
    }
    const rh_param *row;
    const rh_param_table *table = method_with_preset(name, &row);
    if (table)
        return rh_fail(status, RH_USER,
                       "unknown material '%.60s'; it is a %s, of a material with physics: {%s: {%s: %s}}", name,
                       row->name, table->name, row->name, name);
    return rh_fail(status, RH_USER, "unknown material '%.60s'; %s", name,
                   rh_words_suggest(name, names, count, hint, sizeof hint));
}

// --- surfaces --------------------------------------------------------------------------------------------------------
const rh_surfacing_params *rh_scene_surface(const rh_scene *scene, int material)
{
    const rh_surfacing_params *own = rh_scene_material(scene, material)->surface;
    return own ? own : &scene->surface;
}

bool rh_scene_surfaces_while_running(const rh_scene *scene)
{
    bool any = false;
    for (int i = 0; i < rh_scene_material_count(scene); i++) any |= rh_scene_surface(scene, i)->while_running;
    return any;
}

bool rh_scene_surface_programs(const rh_scene *scene)
{
    bool any = false;
    for (int i = 0; i < rh_scene_material_count(scene); i++) any |= rh_scene_surface(scene, i)->expression != NULL;
    return any;
}

// --- who names which -------------------------------------------------------------------------------------------------
// The material an item of a list names.
static rh_code find(const rh_scene *scene, const char *kind, int number, const void *item, const char *item_name,
                    const char *material, int *index, rh_status *status)
{
    rh_status local = {0};
    if (rh_scene_find_material(scene, material, index, &local) == RH_OK) return RH_OK;
    return rh_fail(status, RH_USER, "%s: %s", rh_scene_item(scene, kind, number, item, item_name).text, local.message);
}

#define FIND_ALL(list, type, kind)                                                                     \
    for (int i = 0; i < scene->list.count; i++) {                                                      \
        type *item = (type *)scene->list.items + i;                                                    \
        RH_TRY(find(scene, kind, i, item, item->name, item->material, &item->material_index, status)); \
    }

static rh_code find_exchanges(rh_scene *scene, rh_status *status)
{
    rh_exchange_params *all = scene->exchanges.items;
    for (int i = 0; i < scene->exchanges.count; i++) {
        RH_TRY(find(scene, "exchange", i, &all[i], all[i].name, all[i].from, &all[i].from_index, status));
        RH_TRY(find(scene, "exchange", i, &all[i], all[i].name, all[i].to, &all[i].to_index, status));
        if (all[i].from_index != all[i].to_index) continue;
        return rh_fail(status, RH_USER, "%s: from and to are both '%s', expected two materials",
                       rh_scene_item(scene, "exchange", i, &all[i], all[i].name).text, all[i].to);
    }
    return RH_OK;
}

static bool is_exchanged(const rh_scene *scene, int material)
{
    const rh_exchange_params *all = scene->exchanges.items;
    for (int i = 0; i < scene->exchanges.count; i++)
        if (all[i].from_index == material || all[i].to_index == material) return true;
    return false;
}

// Dynamic solids are moved by all materials, in steps that they take together.
static bool shares_solids(const rh_scene *scene)
{
    const rh_solid_params *solids = scene->solids.items;
    bool any = false;
    for (int i = 0; i < scene->solids.count; i++) any = any || solids[i].dynamic;
    return any;
}

// A body or an emitter with a viscosity of its own: the particles of its material carry theirs.
static rh_code let_viscosity_vary(const rh_scene *scene, int material, rh_scene_words item, rh_status *status)
{
    const rh_variant *physics = &rh_scene_material(scene, material)->physics;
    const rh_param_table *table = rh_physics_tables[physics->kind];
    const rh_param *row = rh_params_find(table, "viscosity_varies");
    if (!row) return rh_fail(status, RH_USER, "%s: has a viscosity, but '%s' knows none", item.text, table->name);
    *(bool *)((char *)physics->value + row->offset) = true;
    return RH_OK;
}

static rh_code find_viscosities(const rh_scene *scene, rh_status *status)
{
    const rh_body_params *b = scene->bodies.items;
    const rh_emitter_params *e = scene->emitters.items;
    for (int i = 0; i < scene->bodies.count; i++)
        if (b[i].viscosity > 0)
            RH_TRY(let_viscosity_vary(scene, b[i].material_index, rh_scene_item(scene, "body", i, &b[i], b[i].name),
                                      status));
    for (int i = 0; i < scene->emitters.count; i++)
        if (e[i].viscosity > 0)
            RH_TRY(let_viscosity_vary(scene, e[i].material_index, rh_scene_item(scene, "emitter", i, &e[i], e[i].name),
                                      status));
    return RH_OK;
}

// The kinds of a material, as a list of structs that begin with a name; NULL when its method knows none.
static const rh_list *kinds_of(const rh_scene *scene, int material, const rh_param_table **table)
{
    const rh_variant *physics = &rh_scene_material(scene, material)->physics;
    const rh_param *row = rh_params_find(rh_physics_tables[physics->kind], "kinds");
    if (!row) return NULL;
    *table = row->table;
    return (const rh_list *)((const char *)physics->value + row->offset);
}

static rh_code find_kind(const rh_scene *scene, int material, const char *kind, rh_scene_words item, int *index,
                         rh_status *status)
{
    const rh_param_table *table = NULL;
    const rh_list *kinds = kinds_of(scene, material, &table);
    const char *names[64];
    *index = 0;
    if (!kind) return RH_OK;
    if (!kinds)
        return rh_fail(status, RH_USER, "%s: is of kind '%s', but '%s' knows none", item.text, kind,
                       rh_physics_tables[rh_scene_material(scene, material)->physics.kind]->name);
    size_t at = rh_params_find(table, "name")->offset;
    int count = kinds->count < 64 ? kinds->count : 64;
    for (int i = 0; i < count; i++) {
        names[i] = *(char *const *)((const char *)kinds->items + (size_t)i * table->size + at);
        if (strcmp(names[i], kind) == 0) return *index = i + 1, RH_OK;
    }
    const char *near = rh_nearest_name(kind, names, count);
    return rh_fail(status, RH_USER, "%s: unknown kind '%s'%s%s%s", item.text, kind, near ? "; did you mean '" : "",
                   near ? near : "", near ? "'?" : "");
}

static rh_code find_kinds(const rh_scene *scene, rh_status *status)
{
    rh_body_params *b = scene->bodies.items;
    rh_emitter_params *e = scene->emitters.items;
    for (int i = 0; i < scene->bodies.count; i++)
        RH_TRY(find_kind(scene, b[i].material_index, b[i].kind, rh_scene_item(scene, "body", i, &b[i], b[i].name),
                         &b[i].kind_index, status));
    for (int i = 0; i < scene->emitters.count; i++)
        RH_TRY(find_kind(scene, e[i].material_index, e[i].kind, rh_scene_item(scene, "emitter", i, &e[i], e[i].name),
                         &e[i].kind_index, status));
    return RH_OK;
}

rh_code rh_scene_resolve_materials(rh_scene *scene, rh_status *status)
{
    if (!scene->materials.count)  // nobody writes through it
        scene->sole = (rh_material_params){.name = (char *)(uintptr_t)rh_physics_tables[scene->physics.kind]->name,
                                           .physics = scene->physics};
    if (scene->materials.count > RH_MAX_MATERIALS)
        return rh_fail(status, RH_USER, "%s: %d materials, expected at most %d", scene->file, scene->materials.count,
                       RH_MAX_MATERIALS);
    FIND_ALL(bodies, rh_body_params, "body")
    FIND_ALL(emitters, rh_emitter_params, "emitter")
    FIND_ALL(sinks, rh_sink_params, "sink")
    FIND_ALL(expressions, rh_expression_params, "expression")
    FIND_ALL(probes, rh_probe_params, "probe")
    FIND_ALL(masks, rh_mask_params, "mask")
    rh_sink_params *sinks = scene->sinks.items;
    for (int i = 0; i < scene->sinks.count; i++)
        if (!sinks[i].material) sinks[i].material_index = -1;
    RH_TRY(find_exchanges(scene, status));
    RH_TRY(find_viscosities(scene, status));
    RH_TRY(find_kinds(scene, status));
    rh_material_params *all = scene->materials.items;
    for (int i = 0; i < scene->materials.count; i++)
        all[i].steps_together = all[i].steps == RH_STEPS_SHARED || shares_solids(scene) ||
                                (all[i].steps == RH_STEPS_AUTO && is_exchanged(scene, i));
    return RH_OK;
}
