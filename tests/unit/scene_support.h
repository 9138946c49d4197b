// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the tests of the scene reader share: a small scene, and whether two scenes are the same, by the tables of their
// parameters.
#pragma once
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

static inline rh_code load_small(const char *const *sets, int count, rh_scene *scene, rh_status *status)
{
    *status = (rh_status){0};
    return rh_scene_load_text("small.yaml", small, strlen(small), sets, count, scene, status);
}

static inline void load_good(const char *text, rh_scene *scene)
{
    rh_status status = {0};
    rh_code code = rh_scene_load_text("good.yaml", text, strlen(text), NULL, 0, scene, &status);
    if (code != RH_OK) print_error("%s\n", status.message);
    assert_int_equal(code, RH_OK);
}

static inline bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

// --- equality by table -----------------------------------------------------------------------------------------------

static inline bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static inline bool same_block(const rh_param_table *table, const void *a, const void *b);

static inline bool same_value(const rh_param *row, const void *a, const void *b)
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

static inline bool same_block(const rh_param_table *table, const void *a, const void *b)
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
static inline void check_round_trip(const rh_scene *scene)
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
