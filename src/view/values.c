// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The range of colours leaves out a share of the values at either end, found with a histogram, so that single fast
// drops do not take the colours of all others.
#include "view/values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/memory.h"
#include "view/colors.h"

enum { BINS = 1024, WHOLE = -1 };

static rh_vec3 upright(rh_vec3 p, bool z_up) { return z_up ? rh_v3(p.x, p.z, -p.y) : p; }

bool rh_values_none(const char *attribute) { return !attribute || !attribute[0] || strcmp(attribute, "none") == 0; }

static rh_code no_such_attribute(const rh_points *points, const char *attribute, rh_status *status)
{
    const char *names[RH_POINTS_MAX_ATTRIBUTES + 1] = {"speed"};
    char list[640] = "speed";
    int count = 1;
    bool vectors = false;
    for (int i = 0; i < points->attribute_count; i++) {
        if (points->attributes[i].type == RH_POINT_MAT3F) continue;
        vectors |= points->attributes[i].type == RH_POINT_VEC3F;
        names[count++] = points->attributes[i].name;
        size_t at = strlen(list);
        snprintf(list + at, sizeof list - at, ", %s", points->attributes[i].name);
    }
    const char *near = rh_nearest_name(attribute, names, count);
    return rh_fail(status, RH_USER, "found attribute \"%.64s\", expected one of %s%s%s%s%s", attribute, list,
                   vectors ? " (vectors also by part: P.x, P.y, P.z)" : "", near ? "; did you mean " : "",
                   near ? near : "", near ? "?" : "");
}

// The attribute that is meant, and which part of it. One of exactly that name comes first: other programs may put dots
// into names.
static rh_code look_up(const rh_points *points, const char *attribute, const rh_attribute **out, int *part,
                       rh_status *status)
{
    *part = WHOLE;
    *out = rh_points_find(points, attribute);
    if (!*out && strcmp(attribute, "speed") == 0) *out = rh_points_find(points, "v");
    char name[RH_POINT_NAME];
    size_t length = strlen(attribute);
    bool dotted = !*out && length > 2 && length - 2 < sizeof name && attribute[length - 2] == '.' &&
                  strchr("xyz", attribute[length - 1]);
    if (dotted) {
        snprintf(name, sizeof name, "%.*s", (int)length - 2, attribute);
        *out = rh_points_find(points, name);
        *part = attribute[length - 1] - 'x';
        if (!*out) return no_such_attribute(points, name, status);
        if ((*out)->type != RH_POINT_VEC3F)
            return rh_fail(status, RH_USER, "found \"%.64s\", but %s is of type %s and has no parts", attribute, name,
                           rh_point_type_name((*out)->type));
    }
    return *out && (*out)->type != RH_POINT_MAT3F ? RH_OK : no_such_attribute(points, attribute, status);
}

static float vector_value(rh_vec3 v, int part, bool z_up)
{
    if (part == WHOLE) return rh_v3_length(v);
    v = upright(v, z_up);
    return (&v.x)[part];
}

rh_code rh_values_take(const rh_points *points, const char *attribute, bool z_up, float *values, rh_status *status)
{
    const rh_attribute *a;
    int part;
    RH_TRY(look_up(points, attribute, &a, &part, status));
    bool turn = z_up && !rh_point_is_colour(a->name, a->type);
    for (int64_t i = 0; i < points->count; i++) {
        int64_t k = a->uniform ? 0 : i;
        switch (a->type) {
        case RH_POINT_F32: values[i] = ((const float *)a->data)[k]; break;
        case RH_POINT_I32: values[i] = (float)((const int32_t *)a->data)[k]; break;
        case RH_POINT_I64: values[i] = (float)((const int64_t *)a->data)[k]; break;
        case RH_POINT_GROUP: values[i] = ((const uint8_t *)a->data)[k] != 0; break;
        default: values[i] = vector_value(((const rh_vec3 *)a->data)[k], part, turn);
        }
    }
    return RH_OK;
}

// The values below which a share of them lies, by counting into bins; values that are not finite do not count.
static void trimmed(const float *values, int64_t count, int stride, double share, double *low, double *high)
{
    double least = INFINITY, most = -INFINITY;
    int64_t bins[BINS] = {0}, known = 0, seen = 0;
    for (int64_t i = 0; i < count; i++) {
        float v = values[i * stride];
        if (fabsf(v) < 1e15f) least = fmin(least, v), most = fmax(most, v), known++;
    }
    *low = least, *high = most;
    if (share <= 0 || known < 1000 || !(most > least)) return;
    for (int64_t i = 0; i < count; i++) {
        float v = values[i * stride];
        if (fabsf(v) < 1e15f) bins[(int)((v - least) / (most - least) * (BINS - 1))]++;
    }
    int at = 0, end = BINS - 1;
    while (at < BINS - 1 && (double)(seen += bins[at]) < share * (double)known) at++;
    for (seen = 0; end > at && (double)(seen += bins[end]) < share * (double)known;) end--;
    *low = least + (most - least) * at / BINS;
    *high = least + (most - least) * (end + 1) / BINS;
}

rh_code rh_values_range(const rh_points *points, const char *attribute, bool z_up, double *low, double *high,
                        rh_status *status)
{
    double from, to;
    float *values = rh_alloc((size_t)points->count * sizeof *values, "view.values", status);
    if (!values) return RH_MEMORY;
    rh_code code = rh_values_take(points, attribute, z_up, values, status);
    if (code == RH_OK) trimmed(values, points->count, 1, 0.005, &from, &to);
    rh_free(values);
    const rh_attribute *named = rh_points_find(points, attribute);
    if (named && named->type == RH_POINT_GROUP) from = 0, to = 1;  // a small group would be trimmed away
    if (code != RH_OK || !(from <= to)) return code;
    if (from >= 0 && from < 0.5 * to) from = 0;  // a scale that begins at zero is easier to read
    if (from == 0 && to > 0) to = rh_round_number_above(to);
    *high = *low < *high ? fmax(*high, to) : to;
    *low = *low < *high ? fmin(*low, from) : from;
    return RH_OK;
}

void rh_values_bounds(const rh_vec3 *position, int64_t count, double strays, bool z_up, rh_dbox *box)
{
    if (count == 0) return;
    rh_dbox found;
    for (int a = 0; a < 3; a++) trimmed(&position->x + a, count, 3, strays, &(&found.min.x)[a], &(&found.max.x)[a]);
    if (!(found.min.x <= found.max.x && found.min.y <= found.max.y && found.min.z <= found.max.z)) return;
    if (z_up)
        found = (rh_dbox){rh_d3(found.min.x, found.min.z, -found.max.y), rh_d3(found.max.x, found.max.z, -found.min.y)};
    for (int a = 0; a < 3; a++) {
        (&box->min.x)[a] = fmin((&box->min.x)[a], (&found.min.x)[a]);
        (&box->max.x)[a] = fmax((&box->max.x)[a], (&found.max.x)[a]);
    }
}

static float byte_of(float part) { return part > 0 ? part < 1 ? floorf(255 * part + 0.5f) : 255 : 0; }

rh_code rh_values_pack(const rh_points *points, float *values, rh_status *status)
{
    const rh_attribute *a = rh_points_find(points, "Cd");
    if (!a) return no_such_attribute(points, "Cd", status);
    if (a->type != RH_POINT_VEC3F)
        return rh_fail(status, RH_USER, "found Cd of type %s, expected three numbers, a colour",
                       rh_point_type_name(a->type));
    for (int64_t i = 0; i < points->count; i++) {
        rh_vec3 c = ((const rh_vec3 *)a->data)[a->uniform ? 0 : i];
        values[i] = 65536 * byte_of(c.x) + 256 * byte_of(c.y) + byte_of(c.z);  // below 2^24: exact
    }
    return RH_OK;
}

rh_vec3 rh_values_unpack(float value)
{
    uint32_t bits = value > 0 && value < 0x1p24f ? (uint32_t)value : 0;
    return rh_v3((float)(bits >> 16) / 255, (float)(bits >> 8 & 255) / 255, (float)(bits & 255) / 255);
}
