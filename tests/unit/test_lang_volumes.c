// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Programs on voxels against OpenVDB AX (tests/lang/golden/volumes.txt), over a small host that has the rules of
// volumes: a program runs once for each grid it writes, over that grid's active values; other grids are sampled at the
// nearest voxel of the same place in the world, as they were before the program ran; a grid of that name and type that
// does not exist is zero everywhere. What the run does to the other grids is dropped. A tile is one element, as no
// program of the corpus makes it uneven.
#include "lang_bench.h"
#include "lang/golden.h"

enum { MOST_GRIDS = 24, MOST_VALUES = 64 };

typedef struct cell {
    int32_t at[3];
    int32_t size;      // voxels along an edge: 1, or more for a tile
    double value[16];  // bytes of the grid's type
} cell;

typedef struct grid {
    const char *name;
    rh_lang_type type;
    double scale;
    double background[16];
    cell cells[MOST_VALUES];
    int count;
} grid;

typedef struct grids {
    grid items[MOST_GRIDS];
    int count;
} grids;

static golden_rows inputs;

static void put_words(rh_lang_type type, void *out, char **words)
{
    for (int i = 0; i < rh_lang_type_parts(type); i++) {
        char *at = (char *)out + (size_t)i * rh_lang_element_size(rh_lang_type_element(type));
        switch (rh_lang_type_element(type)) {
        case RH_LANG_E_BOOL: *at = (char)golden_whole(words[i]); break;
        case RH_LANG_E_INT32: *(int32_t *)(void *)at = (int32_t)golden_whole(words[i]); break;
        case RH_LANG_E_INT64: *(int64_t *)(void *)at = golden_whole(words[i]); break;
        case RH_LANG_E_FLOAT: *(float *)(void *)at = (float)golden_real(words[i]); break;
        default: *(double *)(void *)at = golden_real(words[i]); break;
        }
    }
}

static void read_grids(const golden_rows *rows, grids *out)
{
    memset(out, 0, sizeof *out);
    grid *g = NULL;
    for (int i = 0; i < rows->count; i++) {
        const golden_row *row = &rows->rows[i];
        if (strcmp(row->name, "grid") == 0) {
            assert_true(out->count < MOST_GRIDS);
            g = &out->items[out->count++];
            g->name = row->words[0];
            g->type = rh_lang_type_named(row->words[1], strlen(row->words[1]));
            g->scale = golden_real(row->words[2]);
            put_words(g->type, g->background, row->words + 3);
            continue;
        }
        bool tile = strcmp(row->name, "tile") == 0;
        assert_true(g && g->count < MOST_VALUES);
        cell *c = &g->cells[g->count++];
        for (int k = 0; k < 3; k++) c->at[k] = (int32_t)golden_whole(row->words[k]);
        c->size = tile ? (int32_t)golden_whole(row->words[3]) : 1;
        put_words(g->type, c->value, row->words + (tile ? 4 : 3));
    }
}

static grid *find_grid(grids *all, const char *name, rh_lang_type type)
{
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->items[i].name, name) == 0 && all->items[i].type == type) return &all->items[i];
    return NULL;
}

static const void *sample(const grid *g, const double world[3])
{
    int32_t at[3];
    for (int k = 0; k < 3; k++) at[k] = (int32_t)floor(world[k] / g->scale + 0.5);
    for (int i = 0; i < g->count; i++) {
        bool inside = true;
        for (int k = 0; k < 3; k++)
            inside &= at[k] >= g->cells[i].at[k] && at[k] < g->cells[i].at[k] + g->cells[i].size;
        if (inside) return g->cells[i].value;
    }
    return g->background;
}

// One written grid: all its active values at once.
static void run_grid(lang_bench *b, int written, grids *before, grids *after)
{
    const rh_lang_attribute_use *use = &b->listing->attributes[written];
    grid *g = find_grid(before, use->name, use->type), *result = find_grid(after, use->name, use->type);
    if (!g || g->count == 0) return;
    static int32_t coords[MOST_VALUES][3];
    bench_allocate(b, g->count);
    for (int i = 0; i < g->count; i++) {
        double world[3];
        for (int k = 0; k < 3; k++) coords[i][k] = g->cells[i].at[k], world[k] = g->scale * g->cells[i].at[k];
        for (int a = 0; a < b->listing->attribute_count; a++) {
            const grid *other = find_grid(before, b->listing->attributes[a].name, b->listing->attributes[a].type);
            size_t size = rh_lang_type_size(b->listing->attributes[a].type);
            if (other)
                memcpy((char *)b->columns[a].data + (size_t)i * size,
                       other == g ? g->cells[i].value : sample(other, world), size);
        }
    }
    b->scope.coords = (const int32_t(*)[3])coords;
    for (int k = 0; k < 3; k++) b->scope.to_world[k][k] = g->scale;
    if (bench_run(b) != RH_OK) fail_msg("%s", b->status.message);
    size_t size = rh_lang_type_size(use->type);
    for (int i = 0; i < g->count; i++)
        memcpy(result->cells[i].value, (char *)b->columns[written].data + (size_t)i * size, size);
}

static bool same_value(rh_lang_type type, const void *a, const void *b)
{
    for (int i = 0; i < rh_lang_type_parts(type); i++) {
        double x = 0, y = 0, tolerance = type == RH_LANG_DOUBLE || type == RH_LANG_VEC3D ? 1e-12 : 4e-6;
        if (rh_lang_type_element(type) == RH_LANG_E_FLOAT) x = ((const float *)a)[i], y = ((const float *)b)[i];
        else if (rh_lang_type_element(type) == RH_LANG_E_DOUBLE) x = ((const double *)a)[i], y = ((const double *)b)[i];
        else return memcmp(a, b, rh_lang_type_size(type)) == 0;
        if (x != y && !(isnan(x) && isnan(y)) && !(fabs(x - y) <= tolerance * fmax(1, fmax(fabs(x), fabs(y)))))
            return false;
    }
    return true;
}

static bool same_grid(const grid *a, const grid *b)
{
    if (a->count != b->count) return false;
    for (int i = 0; i < a->count; i++) {
        const cell *c = &a->cells[i], *found = NULL;
        for (int k = 0; k < b->count; k++)
            if (memcmp(c->at, b->cells[k].at, sizeof c->at) == 0 && c->size == b->cells[k].size) found = &b->cells[k];
        if (!found || !same_value(a->type, c->value, found->value)) return false;
    }
    return true;
}

// Grids that the original changed are listed; all others are what they were.
static const char *disagreement(grids *before, grids *after, const golden_program *p)
{
    static grids expected;
    read_grids(&p->rows, &expected);
    for (int i = 0; i < after->count; i++) {
        const grid *wanted = find_grid(&expected, after->items[i].name, after->items[i].type);
        if (!same_grid(&after->items[i], wanted ? wanted : &before->items[i])) return after->items[i].name;
    }
    for (int i = 0; i < expected.count; i++)
        if (expected.items[i].count > 0 && !find_grid(after, expected.items[i].name, expected.items[i].type))
            return expected.items[i].name;
    return NULL;
}

static bool is_intended(const char *program)
{
    static char text[1 << 16];
    char key[128];
    FILE *file = fopen(RHEO_SOURCE_DIR "/tests/lang/differences.txt", "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    snprintf(key, sizeof key, "\nvolumes/%s:", program);
    return strstr(text, key) != NULL;
}

static int judge(const golden_program *p)
{
    static grids before, after;
    lang_bench b;
    bool compiled = bench_compile(&b, p->code, RH_LANG_VOLUMES, false), wanted = strcmp(p->verdict, "accepted") == 0;
    const char *wrong = compiled == wanted ? NULL : "verdict";
    int count = compiled ? b.listing->attribute_count : 0;
    bench_free(&b);
    read_grids(&inputs, &before);
    after = before;
    for (int i = 0; i < count && !wrong; i++) {
        lang_bench one;
        assert_true(bench_compile(&one, p->code, RH_LANG_VOLUMES, false));
        if (one.listing->attributes[i].writes) run_grid(&one, i, &before, &after);
        bench_free(&one);
    }
    if (compiled && !wrong) wrong = disagreement(&before, &after, p);
    if ((wrong != NULL) == is_intended(p->name)) return 0;
    print_message("%s: %s\n%s", p->name, wrong ? wrong : "agrees, but is listed as a difference", p->code);
    return 1;
}

static void agrees_with_the_original(void **state)
{
    (void)state;
    golden_file file = golden_open("volumes");
    int wrong = 0;
    inputs = golden_input("volumes");
    for (int i = 0; i < file.count; i++) wrong += judge(&file.programs[i]);
    assert_true(file.count >= 60);
    golden_close(&file);
    golden_free(&inputs);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_the_original)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
