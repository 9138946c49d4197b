// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Built-in functions about neighbours. An SPH density:
//   int n = neighbours(h);
//   @density = 0;
//   for (int i = 0; i < n; ++i) @density += neighbour_float("mass", i) * pow(1 - pow(neighbour_distance(i) / h, 2), 3);
// neighbours and nearest ask; the answer stays until the next question or the next element, and the other functions
// read it by number.
#include <string.h>
#include "lang/library/library.h"

static bool have_snapshot(rh_lang_context *context)
{
    if (context->scope->snapshot) return true;
    rh_lang_stop(context, RH_USER,
                 "neighbours are not known here: the host of this program gave no snapshot of the points");
    return false;
}

static int32_t ask(rh_lang_context *context, rh_vec3 place, int64_t most, float radius)
{
    const rh_neighbours *near = &context->scope->snapshot->near;
    rh_status status = {0};
    rh_code code = most < 0 ? rh_neighbours_within(near, place, radius, &context->found, &status)
                            : rh_neighbours_nearest(near, place, radius, most, &context->found, &status);
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
    return have_snapshot(context)
               ? ask(context, context->scope->positions[context->element], most < 0 ? 0 : most, radius)
               : 0;
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
        rh_lang_stop(context, RH_USER,
                     "found neighbour number %d, expected a number from 0 to below %lld: as many as neighbours() or "
                     "nearest() found",
                     i, (long long)count);
    return false;
}

int64_t rh_lang_neighbour_index(rh_lang_context *context, int32_t i)
{
    return is_neighbour(context, i) ? context->found.index[i] : 0;
}
float rh_lang_neighbour_distance(rh_lang_context *context, int32_t i)
{
    return is_neighbour(context, i) ? context->found.distance[i] : 0;
}

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

// --- attributes ------------------------------------------------------------------------------------------------------

static const rh_lang_field *find_field(rh_lang_context *context, const rh_lang_text *name, bool group)
{
    const rh_lang_snapshot *snapshot = context->scope->snapshot;
    for (int k = 0, at = context->last_field; k < snapshot->field_count; k++, at++) {
        if (at >= snapshot->field_count) at = 0;
        const rh_lang_field *field = &snapshot->fields[at];
        if (field->name_length != (size_t)name->length ||
            memcmp(field->array->name, name->data, field->name_length) != 0)
            continue;
        if ((field->kind == RH_LANG_MEMBERS) != group) continue;
        context->last_field = at;
        return field;
    }
    return NULL;
}

static void no_such(rh_lang_context *context, const rh_lang_text *name, const char *wanted, const rh_lang_field *found)
{
    if (found)
        rh_lang_stop(context, RH_USER, "neighbour_%s: found \"%s\" of type %s, expected %s", wanted, found->array->name,
                     found->array->type, wanted);
    else
        rh_lang_stop(context, RH_USER, "neighbour_%s: found \"%.*s\", which no point has", wanted,
                     (int)(name->length < 64 ? name->length : 64), name->data);
}

static const void *value_of(const rh_lang_context *context, const rh_lang_field *field, int32_t i)
{
    return (const char *)field->array->data + field->step * (size_t)context->found.index[i];
}

// A number of any type; 0 with a stop when there is none.
static double number_of(rh_lang_context *context, const char *wanted, const rh_lang_text *name, int32_t i)
{
    if (!is_neighbour(context, i)) return 0;
    const rh_lang_field *field = find_field(context, name, false);
    const void *value = field ? value_of(context, field, i) : NULL;
    if (field && field->kind == RH_LANG_FLOATS) return *(const float *)value;
    if (field && field->kind == RH_LANG_DOUBLES) return *(const double *)value;
    if (field && field->kind == RH_LANG_INTS) return *(const int32_t *)value;
    if (field && field->kind == RH_LANG_LONGS) return (double)*(const int64_t *)value;
    no_such(context, name, wanted, field);
    return 0;
}

float rh_lang_neighbour_float(rh_lang_context *context, const rh_lang_text *name, int32_t i)
{
    return (float)number_of(context, "float", name, i);
}
double rh_lang_neighbour_double(rh_lang_context *context, const rh_lang_text *name, int32_t i)
{
    return number_of(context, "double", name, i);
}

// Whole numbers come from whole numbers only: a float may be out of their range.
static int64_t whole_of(rh_lang_context *context, const char *wanted, const rh_lang_text *name, int32_t i)
{
    if (!is_neighbour(context, i)) return 0;
    const rh_lang_field *field = find_field(context, name, false);
    if (field && field->kind == RH_LANG_INTS) return *(const int32_t *)value_of(context, field, i);
    if (field && field->kind == RH_LANG_LONGS) return *(const int64_t *)value_of(context, field, i);
    no_such(context, name, wanted, field);
    return 0;
}

int32_t rh_lang_neighbour_int(rh_lang_context *context, const rh_lang_text *name, int32_t i)
{
    return (int32_t)whole_of(context, "int", name, i);
}
int64_t rh_lang_neighbour_int64(rh_lang_context *context, const rh_lang_text *name, int32_t i)
{
    return whole_of(context, "int64", name, i);
}

static void floats_of(rh_lang_context *context, float *out, int count, rh_lang_array_kind kind, const char *wanted,
                      const rh_lang_text *name, int32_t i)
{
    memset(out, 0, (size_t)count * sizeof *out);
    if (!is_neighbour(context, i)) return;
    const rh_lang_field *field = find_field(context, name, false);
    if (field && field->kind == kind) memcpy(out, value_of(context, field, i), (size_t)count * sizeof *out);
    else no_such(context, name, wanted, field);
}

void rh_lang_neighbour_vec3f(rh_lang_context *context, float *out, const rh_lang_text *name, int32_t i)
{
    floats_of(context, out, 3, RH_LANG_VECTORS, "vec3f", name, i);
}

void rh_lang_neighbour_mat3f(rh_lang_context *context, float *out, const rh_lang_text *name, int32_t i)
{
    floats_of(context, out, 9, RH_LANG_MATRICES, "mat3f", name, i);
}

bool rh_lang_neighbour_ingroup(rh_lang_context *context, const rh_lang_text *name, int32_t i)
{
    if (!is_neighbour(context, i)) return false;
    const rh_lang_field *field = find_field(context, name, true);
    return field && *(const uint8_t *)value_of(context, field, i) != 0;
}
