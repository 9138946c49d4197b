// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Random scenes made from the tables of parameters survive being written and read back bit by bit: a parameter that is
// not printed, or not read as it is printed, is found here without a test of its own.
#include "unit/scene_support.h"

// --- random scenes from the tables -----------------------------------------------------------------------------------

typedef struct dice {
    uint64_t seed, next;
} dice;

static uint32_t roll(dice *d, uint32_t sides) { return rh_random_bits(d->seed, d->next++, 0, 0) % sides; }

static double random_number(dice *d, const rh_param *row)
{
    bool limited = row->min != 0 || row->max != 0;
    double u = rh_random_bits(d->seed, d->next++, 1, 0) * 0x1p-32;
    if (limited) return row->min + u * ((row->max > 1e6 ? row->min + 100 : row->max) - row->min);
    switch (roll(d, 4)) {
    case 0: return (double)roll(d, 10);
    case 1: return u;
    case 2: return -u * 1e-7;
    default: return u * 1e12;
    }
}

// Control characters but tabs and ends of lines are refused: tests/bad/scenes.
static char *random_text(dice *d)
{
    static const char *const parts[] = {"a",
                                        "Z",
                                        " ",
                                        "\"",
                                        "\\",
                                        "'",
                                        ": ",
                                        "#",
                                        "\n",
                                        "\t",
                                        "-",
                                        "{",
                                        "\xc3\xa9",
                                        "\xe2\x80\xa8",
                                        "\xef\xbb\xbf",
                                        "\xf0\x9f\x92\xa7",
                                        "%",
                                        "~",
                                        "\xc2\xa0",
                                        "\xef\xbf\xbf"};
    char text[256] = "";
    int count = (int)roll(d, 12);
    for (int i = 0; i < count; i++) strcat(text, parts[roll(d, sizeof parts / sizeof *parts)]);
    return rh_strdup(text, "test", NULL);
}

static char *random_path(dice *d)
{
    char *text = random_text(d), path[300];
    snprintf(path, sizeof path, "/%s.obj", text);
    rh_free(text);
    return rh_strdup(path, "test", NULL);
}

// Programs laid out in every way that YAML could spoil: blanks before and behind, empty lines, none to many newlines at
// the end, carriage returns.
static char *random_code(dice *d)
{
    static const char *const lines[] = {
        "f@a = 1;", "   v@v *= 0.5f;  ", "\tf@b = 2;", "// \"quoted\": {a: 'b'} # \\ \xc3\xa4", "", "", "f@d = 4;\r"};
    char text[1024] = "";
    int count = 1 + (int)roll(d, 6);
    for (int i = 0; i < count; i++) {
        uint32_t which = roll(d, RH_PARAM_COUNT(lines));
        strcat(text, lines[which]);
        if (i + 1 < count || roll(d, 2)) strcat(text, "\n");
    }
    for (uint32_t n = roll(d, 3); n > 0; n--) strcat(text, "\n");
    return rh_strdup(text, "test", NULL);
}

static void random_block(dice *d, const rh_param_table *table, void *object);

static void random_values(dice *d, rh_list *list)
{
    list->count = (int)roll(d, 4);
    rh_named_value *values = list->items = list->count
                                               ? rh_alloc_zero((size_t)list->count * sizeof *values, "test", NULL)
                                               : NULL;
    for (int i = 0; i < list->count; i++) {
        char name[] = {'n', (char)('0' + i), 0};
        values[i] = (rh_named_value){.name = rh_strdup(name, "test", NULL), .is_vector = roll(d, 2)};
        if (values[i].is_vector) values[i].vector = rh_d3(roll(d, 100) / 7.0, -1e-9, roll(d, 9) * 1e20);
        else values[i].number = roll(d, 1000) / 3.0;
    }
}

// Programs come from `code` here, and read what is set.
static void fit_expressions(dice *d, rh_scene *scene)
{
    rh_expression_params *items = scene->expressions.items;
    for (int i = 0; i < scene->expressions.count; i++) {
        rh_free(items[i].file);
        items[i].file = NULL;
        if (!items[i].code) items[i].code = random_code(d);
        const rh_named_value *values = items[i].set.items;
        for (int k = 0; k < items[i].set.count; k++) {
            size_t room = strlen(items[i].code) + 64;
            char *longer = rh_alloc(room, "params.text", NULL);
            snprintf(longer, room, "%s\n%s@r%d = %s$%s;", items[i].code, values[k].is_vector ? "v" : "f", k,
                     values[k].is_vector ? "v" : "f", values[k].name);
            rh_free(items[i].code);
            items[i].code = longer;
        }
    }
}

// Names that differ, and solids that are there: all of them, or no probes.
static void aim_at_a_solid(rh_scene *scene, rh_pose_probe *pose)
{
    rh_solid_params *solid = scene->solids.items;
    if (!solid->name || !solid->name[0]) {
        rh_free(solid->name);
        solid->name = rh_strdup("posed", "test", NULL);
    }
    rh_free(pose->name);
    pose->name = rh_strdup(solid->name, "test", NULL);
}

static void fit_probes(rh_scene *scene)
{
    rh_probe_params *items = scene->probes.items;
    for (int i = 0; i < scene->probes.count; i++) {
        char name[] = {'p', (char)('0' + i), 0};
        rh_free(items[i].name);
        items[i].name = rh_strdup(name, "test", NULL);
        rh_solid_probe *solid = items[i].where.kind == RH_PROBE_SOLID ? items[i].where.value : NULL;
        if (solid) rh_free(solid->name), solid->name = NULL;
        if (items[i].where.kind == RH_PROBE_POSE && scene->solids.count > 0)
            aim_at_a_solid(scene, items[i].where.value);
        if (scene->solids.count == 0) rh_params_free(&rh_probe_table, &items[i]);
    }
    if (scene->solids.count > 0) return;
    rh_free(items);
    scene->probes = (rh_list){NULL, 0};
}

static void fit_from(rh_scene *scene)
{
    rh_from_params *items = scene->from.items;
    for (int i = 0; i < scene->from.count; i++) {
        char name[] = {'b', '_', (char)('0' + i), 0};
        rh_free(items[i].name);
        items[i].name = rh_strdup(name, "test", NULL);
        if (!items[i].run) items[i].run = rh_strdup("/some/run", "test", NULL);
    }
}

static void random_value(dice *d, const rh_param *row, void *field)
{
    rh_list *list = field;
    rh_variant *variant = field;
    int count = 0;
    switch (row->type) {
    case RH_PARAM_BOOL: *(bool *)field = roll(d, 2); break;
    case RH_PARAM_INT: *(int64_t *)field = (int64_t)random_number(d, row); break;
    case RH_PARAM_FLOAT: *(double *)field = random_number(d, row); break;
    case RH_PARAM_VEC3:
        *(rh_dvec3 *)field = rh_d3(random_number(d, row), random_number(d, row), random_number(d, row));
        break;
    case RH_PARAM_CHOICE:
        while (row->choices[count]) count++;
        *(int *)field = (int)roll(d, (uint32_t)count);
        break;
    case RH_PARAM_TEXT:
    case RH_PARAM_PATH:
        rh_free(*(char **)field);
        *(char **)field = row->type == RH_PARAM_TEXT ? random_text(d) : random_path(d);
        break;
    case RH_PARAM_CODE:
        rh_free(*(char **)field);
        *(char **)field = random_code(d);
        break;
    case RH_PARAM_VALUES: random_values(d, list); break;
    case RH_PARAM_TABLE:
        rh_params_free(row->table, field);
        random_block(d, row->table, field);
        break;
    case RH_PARAM_OPTIONAL:
        *(void **)field = rh_alloc_zero(row->table->size, "test", NULL);
        random_block(d, row->table, *(void **)field);
        break;
    case RH_PARAM_LIST:
        list->count = (int)roll(d, 4);
        list->items = list->count ? rh_alloc_zero((size_t)list->count * row->table->size, "test", NULL) : NULL;
        for (int i = 0; i < list->count; i++)
            random_block(d, row->table, (char *)list->items + (size_t)i * row->table->size);
        break;
    case RH_PARAM_VARIANT:
        while (row->variants[count]) count++;
        variant->kind = (int)roll(d, (uint32_t)count);
        variant->value = rh_alloc_zero(row->variants[variant->kind]->size, "test", NULL);
        random_block(d, row->variants[variant->kind], variant->value);
        break;
    }
}

// Fills by chance until the table's own rules hold.
static void random_block(dice *d, const rh_param_table *table, void *object)
{
    for (int attempt = 0; attempt < 20000; attempt++) {
        assert_int_equal(rh_params_defaults(table, object, NULL), RH_OK);
        for (int i = 0; i < table->count; i++) {
            const rh_param *row = &table->rows[i];
            bool needed = row->required || (!row->initial && row->type <= RH_PARAM_CHOICE);
            if (needed || roll(d, 2)) random_value(d, row, (char *)object + row->offset);
        }
        const char *field = NULL;
        if (!table->check || table->check(object, &field, NULL) == RH_OK) return;
        rh_params_free(table, object);
    }
    fail_msg("no valid '%s' found by chance", table->name);
}

// Two names of one list may be the same by chance; the reader would refuse them.
static void drop_names(rh_scene *scene)
{
    rh_body_params *bodies = scene->bodies.items;
    for (int i = 1; i < scene->bodies.count; i++) rh_free(bodies[i].name), bodies[i].name = NULL;
    rh_solid_params *solids = scene->solids.items;
    for (int i = 1; i < scene->solids.count; i++) rh_free(solids[i].name), solids[i].name = NULL;
    rh_emitter_params *emitters = scene->emitters.items;
    for (int i = 1; i < scene->emitters.count; i++) rh_free(emitters[i].name), emitters[i].name = NULL;
    rh_sink_params *sinks = scene->sinks.items;
    for (int i = 1; i < scene->sinks.count; i++) rh_free(sinks[i].name), sinks[i].name = NULL;
    rh_mask_params *masks = scene->masks.items;
    for (int i = 1; i < scene->masks.count; i++) snprintf(masks[i].name, strlen(masks[i].name) + 1, "%c", 'a' + i);
    rh_force_params *forces = scene->forces.items;
    for (int i = 1; i < scene->forces.count; i++) rh_free(forces[i].name), forces[i].name = NULL;
    rh_expression_params *expressions = scene->expressions.items;
    for (int i = 1; i < scene->expressions.count; i++) rh_free(expressions[i].name), expressions[i].name = NULL;
}

static void rename_text(char **text, const char *name)
{
    rh_free(*text);
    *text = name ? rh_strdup(name, "params.text", NULL) : NULL;
}

// Materials have names of their own, and others name one of them.
static void fit_materials(rh_scene *scene)
{
    char name[16] = "";
    rh_material_params *materials = scene->materials.items;
    for (int i = 0; i < scene->materials.count; i++) {
        snprintf(name, sizeof name, "m%d", i);
        rename_text(&materials[i].name, name);
        // What a material does not say of its surface is the scene's.
        rh_surfacing_params *own = materials[i].surface;
        if (own && !own->expression) rename_text(&own->expression, scene->surface.expression);
    }
    const char *last = scene->materials.count ? name : NULL;
#define NAME_ALL(list, type)                    \
    for (int i = 0; i < scene->list.count; i++) \
    rename_text(&((type *)scene->list.items)[i].material, i % 2 ? last : NULL)
    NAME_ALL(bodies, rh_body_params);
    NAME_ALL(emitters, rh_emitter_params);
    NAME_ALL(sinks, rh_sink_params);
    NAME_ALL(expressions, rh_expression_params);
    NAME_ALL(masks, rh_mask_params);
    NAME_ALL(probes, rh_probe_params);
    rh_exchange_params *exchanges = scene->exchanges.items;
    for (int i = 0; i < scene->exchanges.count; i++) {
        rename_text(&exchanges[i].from, "m0");
        rename_text(&exchanges[i].to, last);
        if (i > 0) rename_text(&exchanges[i].name, NULL);
        if (scene->materials.count < 2) rh_params_free(&rh_exchange_table, &exchanges[i]);
    }
    if (scene->materials.count >= 2) return;
    rh_free(exchanges);
    scene->exchanges = (rh_list){0};
}

// A viscosity is for bodies and emitters of a method that knows it, whose particles then carry theirs (bodies and
// emitters with an odd number are of the last material, the others of the first: fit_materials).
static double fitting_viscosity(rh_scene *scene, int item, double viscosity)
{
    rh_material_params *materials = scene->materials.items;
    rh_variant *physics = !scene->materials.count ? &scene->physics
                                                  : &materials[item % 2 ? scene->materials.count - 1 : 0].physics;
    const rh_param *row = physics->value ? rh_params_find(rh_physics_tables[physics->kind], "viscosity_varies") : NULL;
    if (!row || !(viscosity > 0)) return 0;
    *(bool *)((char *)physics->value + row->offset) = true;
    return viscosity;
}

static void fit_viscosities(rh_scene *scene)
{
    rh_body_params *bodies = scene->bodies.items;
    rh_emitter_params *emitters = scene->emitters.items;
    for (int i = 0; i < scene->bodies.count; i++)
        bodies[i].viscosity = fitting_viscosity(scene, i, bodies[i].viscosity);
    for (int i = 0; i < scene->emitters.count; i++)
        emitters[i].viscosity = fitting_viscosity(scene, i, emitters[i].viscosity);
}

// Kinds, which name items of a material's list, have scenes of their own (tests/bad/scenes, scenes/elastoplastic).
static void drop_kinds(rh_scene *scene)
{
    rh_body_params *bodies = scene->bodies.items;
    rh_emitter_params *emitters = scene->emitters.items;
    for (int i = 0; i < scene->bodies.count; i++) {
        rh_free(bodies[i].kind);
        bodies[i].kind = NULL;
    }
    for (int i = 0; i < scene->emitters.count; i++) {
        rh_free(emitters[i].kind);
        emitters[i].kind = NULL;
    }
}

// Solids that weigh something, in scenes of one material, may be dynamic; joints, which name them, have scenes of their
// own (tests/bad/scenes, scenes/waterwheel.yaml).
static void fit_solids(rh_scene *scene)
{
    rh_solid_params *solids = scene->solids.items;
    for (int i = 0; i < scene->solids.count; i++) {
        rh_shape_kind kind = (rh_shape_kind)solids[i].shape.kind;
        bool weighs = kind == RH_SHAPE_SPHERE || kind == RH_SHAPE_BOX || kind == RH_SHAPE_CYLINDER;
        if (!solids[i].dynamic || (weighs && !solids[i].inside_out && scene->materials.count <= 1)) continue;
        rh_params_free(&rh_dynamic_table, solids[i].dynamic);
        rh_free(solids[i].dynamic);
        solids[i].dynamic = NULL;
    }
    rh_joint_params *joints = scene->joints.items;
    for (int i = 0; i < scene->joints.count; i++) rh_params_free(&rh_joint_table, &joints[i]);
    rh_free(joints);
    scene->joints = (rh_list){0};
}

static void test_random_scenes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        dice d = {seed, 0};
        rh_scene scene, first;
        rh_status status = {0};
        random_block(&d, &rh_scene_table, &scene);
        drop_names(&scene);
        fit_expressions(&d, &scene);
        fit_probes(&scene);
        fit_from(&scene);
        fit_materials(&scene);
        fit_viscosities(&scene);
        drop_kinds(&scene);
        fit_solids(&scene);
        if (rh_scene_table.check(&scene, &(const char *){NULL}, NULL) != RH_OK) {  // nothing is left to simulate
            rh_params_free(&rh_scene_table, &scene);
            continue;
        }
        char *text = rh_scene_print(&scene, &status);  // the hash comes with loading, so the first loading gives it
        assert_non_null(text);
        rh_code code = rh_scene_load_text("x/first.yaml", text, strlen(text), NULL, 0, &first, &status);
        if (code != RH_OK) print_error("seed %d: %s\n%s\n", (int)seed, status.message, text);
        assert_int_equal(code, RH_OK);
        assert_true(same_block(&rh_scene_table, &scene, &first));
        check_round_trip(&first);
        rh_free(text);
        rh_scene_free(&first);
        rh_params_free(&rh_scene_table, &scene);
        assert_int_equal(rh_memory_bytes(), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_scenes),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed ? failed : rh_memory_bytes() != 0;
}
