// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A frame's particles for the page: 16 bits for each coordinate and for one value, a part of them when there are too
// many.
//
// Which part: a particle is kept when a hash of its id lies below a bound, so the choice is spread evenly over any
// order of the particles, a smaller part lies inside a larger one, and who is shown in one frame is shown in the next.
// Every n-th particle would flicker: the order changes with every sort.
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "base/memory.h"
#include "base/random.h"
#include "view/wire.h"

typedef struct picker {  // reads one number of each particle
    const rh_attribute *attribute;
    int component;  // of a vector; -1 = its length
    bool turn;      // the file has z up
} picker;

typedef struct frame {
    const rh_points *points;
    const rh_vec3 *position;
    bool z_up;
    picker value;
    uint32_t *kept;  // indices (owned)
    int64_t kept_count, finite;
    rh_dbox box;
    double low, high;  // of the values
    double typical[2];
    uint16_t *row;     // scratch, one number a particle (owned)
    uint16_t *values;  // (owned)
} frame;

static rh_vec3 y_up(rh_vec3 p, bool z_up) { return z_up ? rh_v3(p.x, p.z, -p.y) : p; }

static bool finite_vector(rh_vec3 p) { return isfinite(p.x) && isfinite(p.y) && isfinite(p.z); }

static double pick(const picker *p, int64_t i)
{
    const rh_attribute *a = p->attribute;
    int64_t at = a->uniform ? 0 : i;
    switch (a->type) {
    case RH_POINT_F32: return ((const float *)a->data)[at];
    case RH_POINT_I32: return ((const int32_t *)a->data)[at];
    case RH_POINT_I64: return (double)((const int64_t *)a->data)[at];
    case RH_POINT_VEC3F: {
        rh_vec3 v = y_up(((const rh_vec3 *)a->data)[at], p->turn);
        return p->component < 0 ? sqrt((double)v.x * v.x + (double)v.y * v.y + (double)v.z * v.z)
                                : (double)(&v.x)[p->component];
    }
    case RH_POINT_MAT3F: {
        const float *m = (const float *)a->data + 9 * at;
        double sum = 0;
        for (int k = 0; k < 9; k++) sum += (double)m[k] * m[k];
        return sqrt(sum);
    }
    case RH_POINT_GROUP: return ((const uint8_t *)a->data)[at] != 0;
    }
    return NAN;
}

// "v" or "v.x". Leaves the picker empty when there is no such attribute.
static void find_value(frame *f, const char *name)
{
    char stem[RH_WIRE_NAME];
    if (!name || strlen(name) >= sizeof stem) return;
    strcpy(stem, name);
    char *dot = strrchr(stem, '.');
    int component = -1;
    if (dot && dot[1] >= 'x' && dot[1] <= 'z' && !dot[2]) {
        component = dot[1] - 'x';
        *dot = 0;
    }
    const rh_attribute *attribute = rh_points_find(f->points, stem);
    if (!attribute || (component >= 0 && attribute->type != RH_POINT_VEC3F)) return;
    f->value = (picker){attribute, component, f->z_up && !rh_point_is_colour(attribute->name, attribute->type)};
}

static rh_code find_position(frame *f, rh_status *status)
{
    const rh_attribute *p = rh_points_find(f->points, "P");
    if (!p || p->type != RH_POINT_VEC3F || p->uniform)
        return rh_fail(status, RH_USER, "the points have no positions (P)");
    if (f->points->count > UINT32_MAX)
        return rh_fail(status, RH_USER, "found %" PRId64 " points, expected less than 2^32", f->points->count);
    f->position = p->data;
    return RH_OK;
}

static uint64_t hash_of(const rh_attribute *id, int64_t i)
{
    return rh_mix64(id ? (uint64_t)((const int64_t *)id->data)[i] + 1 : (uint64_t)i + 1);
}

static int64_t keep_below(frame *f, const rh_attribute *id, uint64_t bound, int64_t limit)
{
    int64_t count = 0;
    for (int64_t i = 0; i < f->points->count; i++) {
        if (!finite_vector(f->position[i]) || hash_of(id, i) > bound) continue;
        if (count < limit) f->kept[count] = (uint32_t)i;
        count++;
    }
    return count;
}

static rh_code choose(frame *f, int64_t limit, rh_status *status)
{
    const rh_attribute *id = rh_points_find(f->points, "id");
    if (id && (id->type != RH_POINT_I64 || id->uniform)) id = NULL;
    f->finite = 0;
    for (int64_t i = 0; i < f->points->count; i++) f->finite += finite_vector(f->position[i]);
    if (limit < 1) limit = 1;
    int64_t room = f->finite < limit ? f->finite : limit;
    f->kept = rh_alloc((size_t)(room + 1) * sizeof *f->kept, "view.kept", status);
    if (!f->kept) return RH_MEMORY;
    if (f->finite <= limit) {
        f->kept_count = keep_below(f, id, UINT64_MAX, limit);
        return RH_OK;
    }
    // The number below a bound scatters by its square root; where it comes out above the limit the bound is lowered.
    double part = (double)limit / (double)f->finite;
    do {
        f->kept_count = keep_below(f, id, (uint64_t)(part * 0x1p64), limit);
        part *= 0.999 * (double)limit / (double)(f->kept_count + 1);
    } while (f->kept_count > limit);
    return RH_OK;
}

// A group's scale is 0 to 1 always: of a small one the trimmed range would be 0 to 0, and nobody would see it.
static bool is_group(const frame *f) { return f->value.attribute && f->value.attribute->type == RH_POINT_GROUP; }

static void measure(frame *f)
{
    f->box = (rh_dbox){{0, 0, 0}, {0, 0, 0}};
    f->low = DBL_MAX, f->high = -DBL_MAX;
    for (int64_t k = 0; k < f->kept_count; k++) {
        rh_dvec3 p = rh_d3_from(y_up(f->position[f->kept[k]], f->z_up));
        if (k == 0) f->box = (rh_dbox){p, p};
        f->box.min = rh_d3(fmin(f->box.min.x, p.x), fmin(f->box.min.y, p.y), fmin(f->box.min.z, p.z));
        f->box.max = rh_d3(fmax(f->box.max.x, p.x), fmax(f->box.max.y, p.y), fmax(f->box.max.z, p.z));
        double value = f->value.attribute ? pick(&f->value, f->kept[k]) : NAN;
        if (isfinite(value)) f->low = fmin(f->low, value), f->high = fmax(f->high, value);
    }
    if (f->low > f->high) f->low = f->high = 0;
    if (is_group(f)) f->low = 0, f->high = 1;
}

// From the numbers themselves: 65535 bins are fine enough for a legend.
static rh_code find_typical(frame *f, rh_status *status)
{
    uint32_t *bins = rh_alloc_zero(65536 * sizeof *bins, "view.bins", status);
    if (!bins) return RH_MEMORY;
    for (int64_t k = 0; k < f->kept_count; k++) bins[f->values[k]]++;
    int64_t known = f->kept_count - bins[RH_WIRE_NO_VALUE], tail = known / 100, sum = 0;
    int low = 0, high = RH_WIRE_NO_VALUE - 1;
    for (sum = bins[low]; low < RH_WIRE_NO_VALUE - 1 && sum <= tail; sum += bins[low]) low++;
    for (sum = bins[high]; high > low && sum <= tail; sum += bins[high]) high--;
    rh_free(bins);
    double step = (f->high - f->low) / (RH_WIRE_NO_VALUE - 1);
    f->typical[0] = f->low + step * low;
    f->typical[1] = f->low + step * high;
    if (is_group(f)) f->typical[0] = 0, f->typical[1] = 1;
    return RH_OK;
}

static rh_code quantise_values(frame *f, rh_status *status)
{
    f->row = rh_alloc((size_t)(f->kept_count + 1) * sizeof *f->row, "view.row", status);
    f->values = rh_alloc((size_t)(f->kept_count + 1) * sizeof *f->values, "view.row", status);
    if (!f->row || !f->values) return RH_MEMORY;
    double span = f->high - f->low, scale = span > 0 ? (RH_WIRE_NO_VALUE - 1) / span : 0;
    for (int64_t k = 0; k < f->kept_count; k++) {
        double value = f->value.attribute ? pick(&f->value, f->kept[k]) : NAN;
        f->values[k] = isfinite(value) ? (uint16_t)((value - f->low) * scale + 0.5) : RH_WIRE_NO_VALUE;
    }
    return find_typical(f, status);
}

static rh_code write_row(frame *f, int axis, rh_message *out, rh_status *status)
{
    double low = (&f->box.min.x)[axis], span = (&f->box.max.x)[axis] - low, scale = span > 0 ? 65535 / span : 0;
    for (int64_t k = 0; k < f->kept_count; k++) {
        rh_vec3 p = y_up(f->position[f->kept[k]], f->z_up);
        f->row[k] = (uint16_t)(((double)(&p.x)[axis] - low) * scale + 0.5);
    }
    return rh_message_planes(out, f->row, f->kept_count, 2, status);
}

static double radius_of(const frame *f)
{
    const rh_attribute *radius = rh_points_find(f->points, "radius");
    if (!radius || radius->type != RH_POINT_F32 || f->points->count == 0) return 0;
    return pick(&(picker){radius, -1, false}, f->kept_count ? f->kept[0] : 0);
}

static rh_code list_attributes(const frame *f, rh_message *out, rh_status *status)
{
    RH_TRY(rh_message_print(out, status, ",\"attributes\":["));
    for (int i = 0; i < f->points->attribute_count; i++) {
        const rh_attribute *a = &f->points->attributes[i];
        RH_TRY(rh_message_print(out, status, "%s{\"name\":", i ? "," : ""));
        RH_TRY(rh_message_text(out, a->name, status));
        RH_TRY(rh_message_print(out, status, ",\"type\":\"%s\",\"uniform\":%s}", rh_point_type_name(a->type),
                                a->uniform ? "true" : "false"));
    }
    return rh_message_append(out, "]", 1, status);
}

static rh_code write_range(rh_message *out, const char *key, double low, double high, rh_status *status)
{
    RH_TRY(rh_message_print(out, status, ",\"%s\":[", key));
    RH_TRY(rh_message_number(out, low, status));
    RH_TRY(rh_message_append(out, ",", 1, status));
    RH_TRY(rh_message_number(out, high, status));
    return rh_message_append(out, "]", 1, status);
}

static rh_code describe(const frame *f, const rh_frame_info *info, const rh_wire_view *view, rh_message *out,
                        rh_status *status)
{
    RH_TRY(rh_message_print(out, status, "{\"frame\":%" PRId64 ",\"time\":", info->frame));
    RH_TRY(rh_message_number(out, info->time, status));
    RH_TRY(rh_message_print(out, status, ",\"total\":%" PRId64 ",\"finite\":%" PRId64 ",\"count\":%" PRId64 ",",
                            f->points->count, f->finite, f->kept_count));
    RH_TRY(rh_message_box(out, "box", f->box, status));
    RH_TRY(rh_message_append(out, ",\"attribute\":", 13, status));
    RH_TRY(f->value.attribute ? rh_message_text(out, view->attribute, status)
                              : rh_message_append(out, "null", 4, status));
    RH_TRY(write_range(out, "range", f->low, f->high, status));
    RH_TRY(write_range(out, "typical", f->typical[0], f->typical[1], status));
    RH_TRY(rh_message_append(out, ",\"radius\":", 10, status));
    RH_TRY(rh_message_number(out, radius_of(f), status));
    RH_TRY(list_attributes(f, out, status));
    RH_TRY(rh_message_append(out, "}", 1, status));
    return rh_message_describe(out, "RHP1", status);
}

rh_code rh_wire_points(const rh_points *points, const rh_frame_info *info, const rh_wire_view *view, rh_message *out,
                       rh_status *status)
{
    *out = (rh_message){0};
    frame f = {.points = points, .z_up = info->z_up != 0};
    find_value(&f, view->attribute);
    rh_code code = find_position(&f, status);
    if (code == RH_OK) code = choose(&f, view->limit, status);
    if (code == RH_OK) {
        measure(&f);
        code = quantise_values(&f, status);
    }
    if (code == RH_OK) code = describe(&f, info, view, out, status);
    for (int axis = 0; code == RH_OK && axis < 3; axis++) code = write_row(&f, axis, out, status);
    if (code == RH_OK) code = rh_message_planes(out, f.values, f.kept_count, 2, status);
    rh_free(f.kept);
    rh_free(f.row);
    rh_free(f.values);
    if (code != RH_OK) rh_message_free(out);
    return code;
}
