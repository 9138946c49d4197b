// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The scene reader: every broken scene of tests/bad/scenes gives its message, every good one survives being written and
// read back bit by bit (examples, and random scenes made from the tables), includes, settings, hash, manual, and no
// memory is lost wherever an allocation fails.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/memory.h"
#include "base/random.h"
#include "physics/liquid/liquid.h"
#include "scene/reader.h"
#include "scene/scene.h"

static const char *const small = "rheo: 1\n"
                                 "cell: 0.1\n"
                                 "physics: {liquid: {}}\n"
                                 "bodies:\n"
                                 "  - name: pool\n"
                                 "    shape: {box: {min: [0, 0, 0], max: [1, 1, 1]}}\n"
                                 "  - shape: {sphere: {radius: 0.5}}\n";

static rh_code load_small(const char *const *sets, int count, rh_scene *scene, rh_status *status)
{
    *status = (rh_status){0};
    return rh_scene_load_text("small.yaml", small, strlen(small), sets, count, scene, status);
}

static void load_good(const char *text, rh_scene *scene)
{
    rh_status status = {0};
    rh_code code = rh_scene_load_text("good.yaml", text, strlen(text), NULL, 0, scene, &status);
    if (code != RH_OK) print_error("%s\n", status.message);
    assert_int_equal(code, RH_OK);
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

// --- equality by table -----------------------------------------------------------------------------------------------

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool same_block(const rh_param_table *table, const void *a, const void *b);

static bool same_value(const rh_param *row, const void *a, const void *b)
{
    const rh_list *p = a, *q = b;
    const rh_variant *v = a, *w = b;
    switch (row->type) {
    case RH_PARAM_BOOL: return *(const bool *)a == *(const bool *)b;
    case RH_PARAM_INT: return *(const int64_t *)a == *(const int64_t *)b;
    case RH_PARAM_FLOAT: return memcmp(a, b, sizeof(double)) == 0;
    case RH_PARAM_VEC3: return memcmp(a, b, sizeof(rh_dvec3)) == 0;
    case RH_PARAM_CHOICE: return *(const int *)a == *(const int *)b;
    case RH_PARAM_TEXT:
    case RH_PARAM_CODE:
    case RH_PARAM_PATH: return same_text(*(char *const *)a, *(char *const *)b);
    case RH_PARAM_TABLE: return same_block(row->table, a, b);
    case RH_PARAM_OPTIONAL: {
        const void *one = *(void *const *)a, *other = *(void *const *)b;
        return one && other ? same_block(row->table, one, other) : one == other;
    }
    case RH_PARAM_LIST:
        if (p->count != q->count) return false;
        for (int i = 0; i < p->count; i++) {
            size_t at = (size_t)i * row->table->size;
            if (!same_block(row->table, (char *)p->items + at, (char *)q->items + at)) return false;
        }
        return true;
    case RH_PARAM_VALUES:
        if (p->count != q->count) return false;
        for (int i = 0; i < p->count; i++) {
            const rh_named_value *m = (const rh_named_value *)p->items + i, *n = (const rh_named_value *)q->items + i;
            if (!same_text(m->name, n->name) || m->is_vector != n->is_vector || m->number != n->number ||
                memcmp(&m->vector, &n->vector, sizeof m->vector) != 0)
                return false;
        }
        return true;
    case RH_PARAM_VARIANT:
        if (v->kind != w->kind || !v->value != !w->value) return false;
        return !v->value || same_block(row->variants[v->kind], v->value, w->value);
    }
    return false;
}

static bool same_block(const rh_param_table *table, const void *a, const void *b)
{
    for (int i = 0; i < table->count; i++) {
        const rh_param *row = &table->rows[i];
        if (same_value(row, (const char *)a + row->offset, (const char *)b + row->offset)) continue;
        print_error("%s.%s differs\n", table->name, row->name);
        return false;
    }
    return true;
}

// Writes, reads, compares.
static void check_round_trip(const rh_scene *scene)
{
    rh_status status = {0};
    rh_scene back;
    char *text = rh_scene_print(scene, &status);
    assert_non_null(text);
    rh_code code = rh_scene_load_text("elsewhere/back.yaml", text, strlen(text), NULL, 0, &back, &status);
    if (code != RH_OK) print_error("%s\n%s\n", status.message, text);
    assert_int_equal(code, RH_OK);
    assert_true(same_block(&rh_scene_table, scene, &back));
    assert_true(scene->hash == back.hash);
    char *again = rh_scene_print(&back, &status);
    assert_string_equal(text, again);
    rh_free(again);
    rh_free(text);
    rh_scene_free(&back);
}

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
                                        "\r",
                                        "-",
                                        "\x7f",
                                        "{",
                                        "\x01",
                                        "\xc3\xa9",
                                        "\xc2\x85",
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
static void fit_probes(rh_scene *scene)
{
    rh_probe_params *items = scene->probes.items;
    for (int i = 0; i < scene->probes.count; i++) {
        char name[] = {'p', (char)('0' + i), 0};
        rh_free(items[i].name);
        items[i].name = rh_strdup(name, "test", NULL);
        rh_solid_probe *solid = items[i].where.kind == RH_PROBE_SOLID ? items[i].where.value : NULL;
        if (solid) rh_free(solid->name), solid->name = NULL;
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
         "sand_incompressible, ballistic or dye"},
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
    char folder[] = "scene_test_XXXXXX", parts[64], path[64];
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

// --- manual ----------------------------------------------------------------------------------------------------------

// The example behind each row must read as that row, alone.
static void check_examples(const rh_param_table *table, const char *text)
{
    char start[24];  // two tables may share a name: ours begins with its help
    snprintf(start, sizeof start, "%.20s", table->help);
    const char *at = strstr(text, start);
    assert_non_null(at);
    for (int i = 0; i < table->count; i++) {
        at = strstr(at, "example: ");
        assert_non_null(at);
        at += strlen("example: ");
        const rh_param_table one = {table->name, table->help, &table->rows[i], 1, table->size, NULL};
        void *object = calloc(1, table->size);
        assert_non_null(object);
        rh_yaml yaml;
        rh_yaml_node *root;
        rh_status status = {0};
        rh_yaml_init(&yaml);
        int file = rh_yaml_add_file(&yaml, table->name, "/", false, &status);
        assert_int_equal(rh_yaml_parse(&yaml, file, at, strcspn(at, "\n"), &root, &status), RH_OK);
        rh_code code = rh_reader_read(&yaml, root, &one, object, NULL, &status);
        if (code != RH_OK) print_error("%s\n", status.message);
        assert_int_equal(code, RH_OK);
        rh_params_free(&one, object);
        rh_yaml_free(&yaml);
        free(object);
    }
}

static void check_width(const char *text)
{
    for (const char *line = text; *line;) {
        size_t width = strcspn(line, "\n");
        if (width > 100) print_error("%.*s\n", (int)width, line);
        assert_true(width <= 100);
        line += width + (line[width] == '\n');
    }
}

// Every table that the root reaches: a topic, sound defaults, and rows that help.
static const rh_param_table *checked[128];
static int checked_count;

static void check_table(const rh_param_table *table, const char *path)
{
    for (int i = 0; i < checked_count; i++)
        if (checked[i] == table) return;
    assert_true(checked_count < 128);
    checked[checked_count++] = table;
    rh_status status = {0};
    char *text = rh_scene_manual(path, false, &status), *marked = rh_scene_manual(path, true, &status);
    assert_non_null(text);
    assert_non_null(marked);
    check_width(text);
    check_examples(table, text);
    void *object = calloc(1, table->size);
    assert_int_equal(rh_params_defaults(table, object, &status), RH_OK);
    for (int i = 0; i < table->count; i++) {
        const rh_param *row = &table->rows[i];
        char cell[96];
        double value = row->type == RH_PARAM_FLOAT ? *(double *)((char *)object + row->offset)
                       : row->type == RH_PARAM_INT ? (double)*(int64_t *)((char *)object + row->offset)
                                                   : 0;
        if (row->initial && (row->type == RH_PARAM_FLOAT || row->type == RH_PARAM_INT) &&
            (row->min != 0 || row->max != 0))
            assert_true(value >= row->min && value <= row->max);
        snprintf(cell, sizeof cell, "| `%s` |", row->name);
        assert_non_null(strstr(marked, cell));
        assert_true(row->help && row->help[0] && row->help[strlen(row->help) - 1] != '.');
        assert_ptr_equal(rh_params_find(table, row->name), row);               // no name twice
        assert_true(!row->formerly || !rh_params_find(table, row->formerly));  // nor one that a row had before
        assert_true(!row->formerly || rh_params_find_former(table, row->formerly) == row);
        char below[160], deeper[256];
        snprintf(below, sizeof below, "%s%s%s%s", table == &rh_scene_table ? "" : path,
                 table == &rh_scene_table ? "" : ".", row->name, row->type == RH_PARAM_LIST ? "[0]" : "");
        if (row->table && row->type != RH_PARAM_OPTIONAL) check_table(row->table, below);
        for (int k = 0; row->variants && row->variants[k]; k++) {
            snprintf(deeper, sizeof deeper, "%s.%s", below, row->variants[k]->name);
            check_table(row->variants[k], deeper);
        }
    }
    rh_params_free(table, object);
    free(object);
    rh_free(text);
    rh_free(marked);
}

static void test_manual(void **state)
{
    (void)state;
    checked_count = 0;
    check_table(&rh_scene_table, "scene");
    rh_status status = {0};
    char *text = rh_scene_manual(NULL, false, &status);
    assert_non_null(text);
    check_width(text);
    assert_non_null(strstr(text, "\n  liquid "));
    rh_free(text);
    text = rh_scene_manual("bodies", false, &status);  // the key instead of the table
    assert_true(strncmp(text, "body\n", 5) == 0);
    rh_free(text);
    assert_null(rh_scene_manual("liqiud", false, &status));
    assert_int_equal(status.code, RH_USER);
    assert_non_null(strstr(status.message, "did you mean 'liquid'?"));
    rh_status_clear(&status);
    assert_null(rh_scene_manual("quantum", false, &status));
    assert_non_null(strstr(status.message, "expected scene, frames"));
    assert_int_equal(rh_memory_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broken_scenes),  cmocka_unit_test(test_unreadable_root),
        cmocka_unit_test(test_large_inputs),   cmocka_unit_test(test_eight_problems),
        cmocka_unit_test(test_defaults),       cmocka_unit_test(test_examples),
        cmocka_unit_test(test_random_scenes),  cmocka_unit_test(test_settings),
        cmocka_unit_test(test_wrong_settings), cmocka_unit_test(test_includes),
        cmocka_unit_test(test_hash),           cmocka_unit_test(test_memory_failures),
        cmocka_unit_test(test_manual),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed ? failed : rh_memory_bytes() != 0;
}
