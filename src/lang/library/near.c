// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Built-in functions about neighbours. An SPH density:
//   int n = neighbours(h);
//   @density = 0;
//   for (int i = 0; i < n; ++i) @density += neighbour_float("mass", i) * pow(1 - pow(neighbour_distance(i) / h, 2), 3);
// neighbours and nearest ask; the answer stays until the next question or the next element, and the other functions read it by number.
#include <string.h>
#include "lang/library/library.h"

static bool have_snapshot(rh_lang_context *context)
{
    if (context->scope->snapshot) return true;
    rh_lang_stop(context, RH_USER, "neighbours are not known here: the host of this program gave no snapshot of the points");
    return false;
}

static int32_t ask(rh_lang_context *context, rh_vec3 place, int64_t most, float radius)
{
    const rh_lang_snapshot *snapshot = context->scope->snapshot;
    rh_status status = {0};
    rh_code code = most < 0 ? rh_lang_find_within(snapshot, place, radius, &context->found, &status)
                            : rh_lang_find_nearest(snapshot, place, radius, most, &context->found, &status);
    if (code != RH_OK) {
        rh_lang_stop(context, code, "%s", status.message);
        context->found.count = 0;
    }
    if (context->found.count > INT32_MAX) context->found.count = INT32_MAX;
    context->found_element = context->element;
    return (int32_t)context->found.count;
}

int32_t rh_lang_neighbours(rh_lang_context *context, float radius)
{
    return have_snapshot(context) ? ask(context, context->scope->positions[context->element], -1, radius) : 0;
}

int32_t rh_lang_neighbours_at(rh_lang_context *context, const float *place, float radius)
{
    return have_snapshot(context) ? ask(context, rh_v3(place[0], place[1], place[2]), -1, radius) : 0;
}

int32_t rh_lang_nearest(rh_lang_context *context, int32_t most, float radius)
{
    return have_snapshot(context) ? ask(context, context->scope->positions[context->element], most < 0 ? 0 : most, radius) : 0;
}

int32_t rh_lang_nearest_at(rh_lang_context *context, const float *place, int32_t most, float radius)
{
    return have_snapshot(context) ? ask(context, rh_v3(place[0], place[1], place[2]), most < 0 ? 0 : most, radius) : 0;
}

// Whether i is a neighbour of the element at hand; stops the program when it is not.
static bool is_neighbour(rh_lang_context *context, int32_t i)
{
    int64_t count = context->found_element == context->element ? context->found.count : 0;
    if (i >= 0 && i < count) return true;
    if (!context->failed)
        rh_lang_stop(context, RH_USER, "found neighbour number %d, expected 0 to %lld: neighbours() or nearest() said how many there are", i, (long long)count - 1);
    return false;
}

int64_t rh_lang_neighbour_index(rh_lang_context *context, int32_t i) { return is_neighbour(context, i) ? context->found.index[i] : 0; }
float rh_lang_neighbour_distance(rh_lang_context *context, int32_t i) { return is_neighbour(context, i) ? context->found.distance[i] : 0; }

void rh_lang_neighbour_offset(rh_lang_context *context, float *out, int32_t i)
{
    rh_vec3 d = is_neighbour(context, i) ? context->found.offset[i] : rh_v3(0, 0, 0);
    out[0] = d.x, out[1] = d.y, out[2] = d.z;
}

void rh_lang_neighbour_position(rh_lang_context *context, float *out, int32_t i)
{
    rh_vec3 p = is_neighbour(context, i) ? context->scope->positions[context->found.index[i]] : rh_v3(0, 0, 0);
    out[0] = p.x, out[1] = p.y, out[2] = p.z;
}

// -------------------------------------------------------------------------------------------------------------------- attributes

static bool is_named(const rh_lang_array *array, const rh_lang_text *name)
{
    return strlen(array->name) == (size_t)name->length && memcmp(array->name, name->data, (size_t)name->length) == 0;
}

static const rh_lang_array *find_array(rh_lang_context *context, const rh_lang_text *name, bool group)
{
    const rh_lang_snapshot *snapshot = context->scope->snapshot;
    for (int k = 0; k < snapshot->array_count; k++) {
        int at = (context->last_attribute + k) % snapshot->array_count;
        if (!is_named(&snapshot->arrays[at], name) || (strcmp(snapshot->arrays[at].type, "group") == 0) != group) continue;
        context->last_attribute = at;
        return &snapshot->arrays[at];
    }
    return NULL;
}

static void no_such(rh_lang_context *context, const rh_lang_text *name, const char *wanted, const rh_lang_array *found)
{
    if (found)
        rh_lang_stop(context, RH_USER, "neighbour_%s: found \"%s\" of type %s, expected %s", wanted, found->name, found->type, wanted);
    else
        rh_lang_stop(context, RH_USER, "neighbour_%s: found \"%.*s\", which no point has", wanted, (int)(name->length < 64 ? name->length : 64), name->data);
}

static const void *value_of(rh_lang_context *context, const rh_lang_array *array, size_t size, int32_t i)
{
    return (const char *)array->data + (array->uniform ? 0 : size * (size_t)context->found.index[i]);
}

// A number of any type, converted; 0 with a stop when there is none.
#define NUMBERS(result, wanted)                                                                                                     \
    result rh_lang_neighbour_##wanted(rh_lang_context *context, const rh_lang_text *name, int32_t i)                                \
    {                                                                                                                               \
        if (!is_neighbour(context, i)) return 0;                                                                                    \
        const rh_lang_array *array = find_array(context, name, false);                                                              \
        const char *type = array ? array->type : "";                                                                                \
        if (strcmp(type, "float") == 0) return (result) * (const float *)value_of(context, array, sizeof(float), i);                \
        if (strcmp(type, "int32") == 0) return (result) * (const int32_t *)value_of(context, array, sizeof(int32_t), i);            \
        if (strcmp(type, "int64") == 0) return (result) * (const int64_t *)value_of(context, array, sizeof(int64_t), i);            \
        if (strcmp(type, "double") == 0) return (result) * (const double *)value_of(context, array, sizeof(double), i);             \
        no_such(context, name, #wanted, array);                                                                                     \
        return 0;                                                                                                                   \
    }
NUMBERS(float, float)
NUMBERS(double, double)

// Whole numbers come from whole numbers only: a float may be out of their range.
#define WHOLE_NUMBERS(result, wanted)                                                                                               \
    result rh_lang_neighbour_##wanted(rh_lang_context *context, const rh_lang_text *name, int32_t i)                                \
    {                                                                                                                               \
        if (!is_neighbour(context, i)) return 0;                                                                                    \
        const rh_lang_array *array = find_array(context, name, false);                                                              \
        const char *type = array ? array->type : "";                                                                                \
        if (strcmp(type, "int32") == 0) return (result) * (const int32_t *)value_of(context, array, sizeof(int32_t), i);            \
        if (strcmp(type, "int64") == 0) return (result) * (const int64_t *)value_of(context, array, sizeof(int64_t), i);            \
        no_such(context, name, #wanted, array);                                                                                     \
        return 0;                                                                                                                   \
    }
WHOLE_NUMBERS(int32_t, int)
WHOLE_NUMBERS(int64_t, int64)

static void floats_of(rh_lang_context *context, float *out, int count, const char *type, const rh_lang_text *name, int32_t i)
{
    memset(out, 0, (size_t)count * sizeof *out);
    if (!is_neighbour(context, i)) return;
    const rh_lang_array *array = find_array(context, name, false);
    if (array && strcmp(array->type, type) == 0) memcpy(out, value_of(context, array, (size_t)count * sizeof *out, i), (size_t)count * sizeof *out);
    else no_such(context, name, type, array);
}

void rh_lang_neighbour_vec3f(rh_lang_context *context, float *out, const rh_lang_text *name, int32_t i) { floats_of(context, out, 3, "vec3f", name, i); }
void rh_lang_neighbour_mat3f(rh_lang_context *context, float *out, const rh_lang_text *name, int32_t i) { floats_of(context, out, 9, "mat3f", name, i); }

bool rh_lang_neighbour_ingroup(rh_lang_context *context, const rh_lang_text *name, int32_t i)
{
    if (!is_neighbour(context, i)) return false;
    const rh_lang_array *array = find_array(context, name, true);
    return array && *(const uint8_t *)value_of(context, array, 1, i) != 0;
}
