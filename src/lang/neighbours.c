// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The search itself is that of points/neighbours.h.
#include "lang/neighbours.h"
#include <string.h>
#include "base/memory.h"

static rh_code take_fields(rh_lang_snapshot *s, const rh_lang_array *arrays, int count, rh_status *status)
{
    static const struct {
        const char *type;
        size_t size;
    } kinds[] = {
        [RH_LANG_FLOATS] = {"float", 4},  [RH_LANG_DOUBLES] = {"double", 8}, [RH_LANG_INTS] = {"int32", 4},
        [RH_LANG_LONGS] = {"int64", 8},   [RH_LANG_VECTORS] = {"vec3f", 12}, [RH_LANG_MATRICES] = {"mat3f", 36},
        [RH_LANG_MEMBERS] = {"group", 1},
    };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    s->fields = rh_alloc((size_t)count * sizeof *s->fields, "lang.neighbours", status);
    if (!s->fields) return RH_MEMORY;
    for (int i = 0; i < count; i++) {
        int kind = 0;
        while (kind < KINDS && strcmp(kinds[kind].type, arrays[i].type) != 0) kind++;
        if (kind == KINDS)
            return rh_fail(status, RH_USER,
                           "found \"%s\" of type %s, expected a type that neighbours can be asked for: float, double, "
                           "int32, int64, vec3f, mat3f or group",
                           arrays[i].name, arrays[i].type);
        size_t step = arrays[i].uniform ? 0 : kinds[kind].size;
        s->fields[s->field_count++] = (rh_lang_field){&arrays[i], (rh_lang_array_kind)kind, strlen(arrays[i].name),
                                                      step};
    }
    return RH_OK;
}

static rh_code take_points(rh_lang_snapshot *s, const rh_vec3 *positions, int64_t count, double cell, rh_status *status)
{
    rh_arena arena;
    rh_arena_init(&arena, "lang.neighbours");
    const rh_neighbours_input input = {
        .dimension = 3, .positions = positions, .count = count, .cell = cell, .leave_out = true};
    rh_code code = rh_neighbours_build(&s->near, &input, &arena, status);
    rh_arena_free(&arena);
    return code;
}

rh_code rh_lang_snapshot_init(rh_lang_snapshot *snapshot, const rh_vec3 *positions, int64_t count, double cell,
                              const rh_lang_array *arrays, int array_count, rh_status *status)
{
    *snapshot = (rh_lang_snapshot){0};
    rh_code code = take_fields(snapshot, arrays, array_count, status);
    if (code == RH_OK) code = take_points(snapshot, positions, count, cell, status);
    if (code != RH_OK) rh_lang_snapshot_free(snapshot);
    return code;
}

void rh_lang_snapshot_free(rh_lang_snapshot *snapshot)
{
    rh_free(snapshot->fields);
    rh_neighbours_free(&snapshot->near);
    *snapshot = (rh_lang_snapshot){0};
}
