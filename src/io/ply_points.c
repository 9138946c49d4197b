// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Points as PLY. Written binary little-endian, one record a vertex. PLY has no 64-bit integers: int64 attributes are
// written as double (as large, so records have the size of the attributes), exact up to 2^53. A group is a uchar that a
// header comment names a group, with its size: any other uchar is a number. Read from anything that io/ply_parts.h
// knows.
#include "io/ply.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/parallel.h"
#include "io/file.h"
#include "io/ply_parts.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the records are copied as they lie in memory: this needs a little-endian machine"
#endif

// --- writing ---------------------------------------------------------------------------------------------------------

static void declare_components(FILE *file, const char *name, int count)
{
    static const char axis[] = "xyz";
    for (int k = 0; k < count; k++) {
        if (strcmp(name, "P") == 0) fprintf(file, "property float %c\n", axis[k]);
        else if (strcmp(name, "v") == 0) fprintf(file, "property float v%c\n", axis[k]);
        else if (count == 3) fprintf(file, "property float %s_%c\n", name, axis[k]);
        else fprintf(file, "property float %s_%d%d\n", name, k / 3, k % 3);
    }
}

// The attribute Cd is a colour, as in Houdini. Beside its numbers it is written as red, green and blue of a byte each,
// which is what other programs look for.
static bool is_colour(const char *name, rh_point_type type)
{
    return type == RH_POINT_VEC3F && strcmp(name, "Cd") == 0;
}

static size_t record_bytes(const rh_attribute *a)
{
    return rh_point_type_size(a->type) + (is_colour(a->name, a->type) ? 3 : 0);
}

static void declare(FILE *file, const rh_attribute *attribute)
{
    switch (attribute->type) {
    case RH_POINT_F32: fprintf(file, "property float %s\n", attribute->name); break;
    case RH_POINT_I32: fprintf(file, "property int %s\n", attribute->name); break;
    case RH_POINT_I64: fprintf(file, "property double %s\n", attribute->name); break;
    case RH_POINT_VEC3F: declare_components(file, attribute->name, 3); break;
    case RH_POINT_MAT3F: declare_components(file, attribute->name, 9); break;
    case RH_POINT_GROUP: fprintf(file, "property uchar %s\n", attribute->name); break;
    }
}

static void write_header(FILE *file, const rh_points *points, const rh_frame_info *info, const rh_attribute **order,
                         int count)
{
    fprintf(file, "ply\nformat binary_little_endian 1.0\n");
    fprintf(file, "comment rheo_version %s\ncomment rheo_scene_hash %016" PRIx64 "\n", RHEO_VERSION, info->scene_hash);
    fprintf(file, "comment rheo_unit m\ncomment rheo_up %s\n", info->z_up ? "z" : "y");
    fprintf(file, "comment rheo_frame %" PRId64 "\ncomment rheo_time %.17g\n", info->frame, info->time);
    fprintf(file, "comment rheo_fps %.17g\ncomment rheo_cell %.17g\n", info->fps, info->cell);
    for (int i = 0; i < count; i++)
        if (order[i]->type == RH_POINT_GROUP)
            fprintf(file, "comment rheo_group %s %" PRId64 "\n", order[i]->name,
                    rh_points_group_size(points, order[i]));
    fprintf(file, "element vertex %" PRId64 "\n", points->count);
    for (int i = 0; i < count; i++) {
        declare(file, order[i]);
        if (is_colour(order[i]->name, order[i]->type))
            fprintf(file, "property uchar red\nproperty uchar green\nproperty uchar blue\n");
    }
    fprintf(file, "end_header\n");
}

static void put_value(char *to, const rh_attribute *attribute, int64_t index, bool z_up)
{
    size_t size = rh_point_type_size(attribute->type);
    const char *from = (const char *)attribute->data + (attribute->uniform ? 0 : (size_t)index * size);
    if (attribute->type == RH_POINT_I64) {
        int64_t whole;
        memcpy(&whole, from, sizeof whole);
        double value = (double)whole;
        memcpy(to, &value, sizeof value);
    } else if (attribute->type == RH_POINT_VEC3F) {
        rh_vec3 p;
        memcpy(&p, from, sizeof p);
        if (is_colour(attribute->name, attribute->type)) rh_ply_put_colour(to + sizeof p, p);
        if (z_up) p = rh_v3(p.x, -p.z, p.y);
        memcpy(to, &p, sizeof p);
    } else {
        memcpy(to, from, size);
    }
}

static rh_code write_records(FILE *file, const rh_points *points, bool z_up, const rh_attribute **order, int count,
                             rh_status *status)
{
    size_t stride = 0;
    for (int i = 0; i < count; i++) stride += record_bytes(order[i]);
    char *rows = rh_alloc(stride * RH_BLOCK, "io.ply", status);
    if (!rows) return RH_MEMORY;
    bool good = true;
    for (int64_t block = 0; good && block < rh_blocks(points->count); block++) {
        char *to = rows;
        for (int64_t p = block * RH_BLOCK; p < rh_block_end(block, points->count); p++)
            for (int i = 0; i < count; to += record_bytes(order[i]), i++) put_value(to, order[i], p, z_up);
        good = fwrite(rows, 1, (size_t)(to - rows), file) == (size_t)(to - rows);
    }
    rh_free(rows);
    return good ? RH_OK : RH_IO;
}

// P first, whatever its place in the set: readers expect x y z at the start.
static int choose(const rh_points *points, const rh_attribute *position, const rh_attribute **order)
{
    int count = 0;
    order[count++] = position;
    for (int i = 0; i < points->attribute_count; i++)
        if (&points->attributes[i] != position && !points->attributes[i].transient)
            order[count++] = &points->attributes[i];
    return count;
}

rh_code rh_ply_write_points(const char *path, const rh_points *points, const rh_frame_info *info, rh_status *status)
{
    const rh_attribute *order[RH_POINTS_MAX_ATTRIBUTES], *position = rh_points_find(points, "P");
    if (!position || position->type != RH_POINT_VEC3F)
        return rh_fail(status, RH_USER, "%s: the points have no positions (attribute P of type vec3f)", path);
    char temporary[RH_PATH_MAX];
    RH_TRY(rh_file_temporary(path, temporary, status));
    FILE *file = fopen(temporary, "wbe");
    if (!file) return rh_fail(status, RH_IO, "%s: cannot create: %s", path, strerror(errno));
    int count = choose(points, position, order);
    write_header(file, points, info, order, count);
    rh_code code = write_records(file, points, info->z_up != 0, order, count, status);
    bool wrong = ferror(file) != 0;
    if ((fclose(file) != 0 || wrong) && code != RH_MEMORY)
        code = rh_fail(status, RH_IO, "%s: cannot write: %s", path, strerror(errno));
    if (code == RH_OK) return rh_file_commit(temporary, path, status);
    rh_file_discard(temporary);
    return code;
}

// --- reading: what the header says -----------------------------------------------------------------------------------

enum { COMPONENTS = 9, SLOTS = RH_POINTS_MAX_ATTRIBUTES * COMPONENTS };

// Where a property goes: a number of an attribute. The role of a property is its slot's index + 1.
typedef struct slot {
    int attribute, component;
    char *data;     // of point 0, once the points are there
    size_t stride;  // to the next point
    rh_point_type type;
    double scale;  // what the number is multiplied with; 0 = 1
} slot;

typedef struct reader {
    rh_ply ply;
    rh_points *points;
    bool ours;
    rh_word groups[RH_POINTS_MAX_ATTRIBUTES];  // named in comments
    int group_count;
    slot slots[SLOTS];
    int slot_count;
} reader;

static bool fact_number(rh_word word, double *value)
{
    char text[RH_NUMBER_TEXT];
    if (word.length >= (int)sizeof text) return false;
    memcpy(text, word.start, (size_t)word.length);
    text[word.length] = 0;
    return rh_number_parse(text, value) == RH_NUMBER_OK;
}

static void read_fact(reader *r, rh_word name, rh_word value, rh_frame_info *info)
{
    double number = 0;
    bool good = fact_number(value, &number);
    if (rh_word_is(name, "rheo_version")) r->ours = true;
    else if (rh_word_is(name, "rheo_group") && r->group_count < RH_POINTS_MAX_ATTRIBUTES)
        r->groups[r->group_count++] = value;
    else if (rh_word_is(name, "rheo_up")) info->z_up = rh_word_is(value, "z");
    else if (rh_word_is(name, "rheo_frame")) rh_word_integer(value, &info->frame);
    else if (rh_word_is(name, "rheo_time") && good) info->time = number;
    else if (rh_word_is(name, "rheo_fps") && good) info->fps = number;
    else if (rh_word_is(name, "rheo_cell") && good) info->cell = number;
    else if (rh_word_is(name, "rheo_scene_hash") && value.length > 0)
        info->scene_hash = strtoull(value.start, NULL, 16);
}

// The comments of a header that was read.
static void read_facts(reader *r, rh_frame_info *info)
{
    *info = (rh_frame_info){.fps = 24};
    rh_text_reader text = rh_text_reader_open(r->ply.text.name, r->ply.data, r->ply.bytes);
    do {
        rh_word word = rh_text_reader_word(&text);
        if (rh_word_is(word, "end_header")) return;
        if (!rh_word_is(word, "comment")) continue;
        rh_word name = rh_text_reader_word(&text);
        read_fact(r, name, rh_text_reader_word(&text), info);
    } while (rh_text_reader_next_line(&text));
}

// Whether a comment of our header calls this property a group.
static bool is_named_group(const reader *r, const rh_ply_property *p)
{
    if (!r->ours || p->type != RH_PLY_UINT8) return false;
    for (int i = 0; i < r->group_count; i++)
        if (r->groups[i].length == p->name.length &&
            memcmp(r->groups[i].start, p->name.start, (size_t)p->name.length) == 0)
            return true;
    return false;
}

// How many numbers make up what this property is part of, by its name: 3 (..._x, vx, nx, x), 9 (..._00) or 1; `tail` is
// what differs.
static int numbers_of(const char *name, size_t length, size_t *tail)
{
    *tail = 1;
    if (length > 3 && name[length - 3] == '_' && strchr("012", name[length - 2]) && strchr("012", name[length - 1]))
        return *tail = 2, 9;
    if (!strchr("xyz", name[length - 1])) return 1;
    bool alone = length == 1, letter = length == 2 && (name[0] == 'v' || name[0] == 'n');
    return alone || letter || (length > 2 && name[length - 2] == '_') ? 3 : 1;
}

static void name_component(char *name, size_t length, int numbers, int component)
{
    if (numbers == 3) name[length - 1] = "xyz"[component];
    if (numbers == 9) name[length - 2] = (char)('0' + component / 3), name[length - 1] = (char)('0' + component % 3);
}

// The name of the attribute a property belongs to.
static void name_attribute(char *name, size_t length, int numbers, size_t tail)
{
    if (numbers == 1) return;
    if (length == 1) strcpy(name, "P");
    else if (length == 2) strcpy(name, name[0] == 'n' ? "N" : "v");
    else name[length - tail - 1] = 0;
    if (numbers == 3 && strcmp(name, "velocity") == 0) strcpy(name, "v");
}

static rh_point_type choose_type(const reader *r, int numbers, rh_ply_type type)
{
    if (numbers == 3) return RH_POINT_VEC3F;
    if (numbers == 9) return RH_POINT_MAT3F;
    if (type < RH_PLY_UINT32) return RH_POINT_I32;
    if (type == RH_PLY_UINT32 || (type == RH_PLY_FLOAT64 && r->ours)) return RH_POINT_I64;
    return RH_POINT_F32;
}

// Looks for the other numbers of a vector or matrix; all must be there and free.
static bool find_parts(reader *r, const rh_ply_element *vertex, const char *name, size_t length, int numbers,
                       rh_ply_property *parts[COMPONENTS])
{
    char other[RH_POINT_NAME + 4];
    for (int k = 0; k < numbers; k++) {
        memcpy(other, name, length + 1);
        name_component(other, length, numbers, k);
        parts[k] = rh_ply_find_property(&r->ply, vertex, other);
        if (!parts[k] || parts[k]->list || parts[k]->role != 0) return false;
    }
    return true;
}

// red, green and blue of a byte each, or of anything whole: Cd from 0 to 1. Where the file has Cd itself that is more
// exact. True when it was taken care of.
static bool add_colour(reader *r, const rh_ply_element *vertex, rh_code *code, rh_status *status)
{
    static const char *const names[] = {"red", "green", "blue"};
    rh_ply_property *parts[3];
    for (int k = 0; k < 3; k++) {
        parts[k] = rh_ply_find_property(&r->ply, vertex, names[k]);
        if (!parts[k] || parts[k]->list || parts[k]->role != 0 || parts[k]->type != RH_PLY_UINT8) return false;
    }
    if (rh_ply_find_property(&r->ply, vertex, "Cd_x")) return r->ours;
    if (rh_points_find(r->points, "Cd") || r->points->attribute_count >= RH_POINTS_MAX_ATTRIBUTES) return false;
    *code = rh_points_add(r->points, "Cd", RH_POINT_VEC3F, status);
    for (int k = 0; k < 3; k++) {
        r->slots[r->slot_count] = (slot){
            .attribute = r->points->attribute_count - 1, .component = k, .scale = 1 / 255.0};
        parts[k]->role = ++r->slot_count;
    }
    return true;
}

static rh_code add_attribute(reader *r, const rh_ply_element *vertex, rh_ply_property *p, rh_status *status)
{
    char name[RH_POINT_NAME + 4];
    size_t length = (size_t)p->name.length, tail = 0;
    rh_ply_property *parts[COMPONENTS] = {p};
    bool fits = length < sizeof name && length > 0;
    bool group = is_named_group(r, p);
    int numbers = 1;
    if (fits) {
        memcpy(name, p->name.start, length);
        name[length] = 0;
        if (!group) numbers = numbers_of(name, length, &tail);
        if (!find_parts(r, vertex, name, length, numbers, parts)) parts[0] = p, numbers = 1;
        name_attribute(name, length, numbers, tail);
    }
    fits = fits && strlen(name) < RH_POINT_NAME && r->points->attribute_count < RH_POINTS_MAX_ATTRIBUTES &&
           !rh_points_find(r->points, name);
    if (!fits) {
        rh_log(
            RH_LOG_WARNING,
            "%s: property %.*s is skipped: there is one of that name, or its name is too long, or there are too many",
            r->ply.text.name, p->name.length < 64 ? p->name.length : 64, p->name.start);
        return RH_OK;
    }
    RH_TRY(rh_points_add(r->points, name, group ? RH_POINT_GROUP : choose_type(r, numbers, p->type), status));
    for (int k = 0; k < numbers; k++) {
        r->slots[r->slot_count] = (slot){.attribute = r->points->attribute_count - 1, .component = k};
        parts[k]->role = ++r->slot_count;
    }
    return RH_OK;
}

static rh_code plan(reader *r, const rh_ply_element *vertex, rh_status *status)
{
    rh_ply_property *x = rh_ply_find_property(&r->ply, vertex, "x"), *parts[COMPONENTS];
    if (!x || !find_parts(r, vertex, "x", 1, 3, parts))
        return rh_fail(
            status, RH_USER,
            "%s:%lld:%lld: found element vertex without properties x, y and z, expected single numbers of these names",
            r->ply.text.name, (long long)vertex->name.line, (long long)vertex->name.column);
    RH_TRY(add_attribute(r, vertex, x, status));  // P comes first
    for (int i = vertex->first; i < vertex->first + vertex->properties; i++) {
        rh_ply_property *p = &r->ply.properties[i];
        rh_code code = RH_OK;
        bool part = rh_word_is(p->name, "red") || rh_word_is(p->name, "green") || rh_word_is(p->name, "blue");
        if (!p->list && p->role == 0 && part && add_colour(r, vertex, &code, status)) RH_TRY(code);
        else if (!p->list && p->role == 0) RH_TRY(add_attribute(r, vertex, p, status));
    }
    return RH_OK;
}

// --- reading: records ------------------------------------------------------------------------------------------------

static bool is_not_finite(rh_word word, double *value)
{
    bool negative = word.length > 0 && word.start[0] == '-';
    if (word.length > 0 && (negative || word.start[0] == '+')) word.start++, word.length--;
    bool infinite = rh_word_is_any_case(word, "inf") || rh_word_is_any_case(word, "infinity");
    if (!infinite && !rh_word_is_any_case(word, "nan")) return false;
    *value = !infinite ? NAN : negative ? -INFINITY : INFINITY;
    return true;
}

// Unlike the corners of a mesh, a point may be no number: whoever uses the points counts those.
static rh_code take_number(rh_ply *r, rh_ply_type type, double *value, rh_status *status)
{
    if (r->encoding == RH_PLY_ASCII && type >= RH_PLY_FLOAT32) {
        rh_text_reader before = r->text;
        if (is_not_finite(rh_text_reader_word(&r->text), value)) return RH_OK;
        r->text = before;
    }
    return rh_ply_take(r, type, "a number", value, NULL, status);
}

static float to_float(double value)
{
    if (fabs(value) <= FLT_MAX || isnan(value)) return (float)value;
    return value < 0 ? -INFINITY : INFINITY;
}

static bool put_number(const slot *s, int64_t index, double value)
{
    char *to = s->data + (size_t)index * s->stride;
    if (s->type == RH_POINT_I32) {
        if (!(value >= INT32_MIN && value <= INT32_MAX)) return false;
        int32_t whole = (int32_t)value;
        memcpy(to, &whole, sizeof whole);
    } else if (s->type == RH_POINT_I64) {
        if (!(fabs(value) <= 0x1p62)) return false;
        int64_t whole = (int64_t)value;
        memcpy(to, &whole, sizeof whole);
    } else if (s->type == RH_POINT_GROUP) {
        if (value != 0 && value != 1) return false;
        *to = value != 0;
    } else {
        float single = to_float(value);
        memcpy(to, &single, sizeof single);
    }
    return true;
}

static rh_code take_property(reader *r, const rh_ply_property *p, int64_t index, rh_status *status)
{
    if (p->role == 0) return rh_ply_skip(&r->ply, p, status);
    double value = 0;
    RH_TRY(take_number(&r->ply, p->type, &value, status));
    if (r->slots[p->role - 1].scale > 0) value *= r->slots[p->role - 1].scale;
    if (put_number(&r->slots[p->role - 1], index, value)) return RH_OK;
    rh_point_type type = r->slots[p->role - 1].type;
    return rh_fail(status, RH_USER, "%s: vertex %lld: found %g for property '%.*s', expected %s", r->ply.text.name,
                   (long long)index, value, p->name.length < 64 ? p->name.length : 64, p->name.start,
                   type == RH_POINT_GROUP ? "0 or 1 (it is a group)"
                   : type == RH_POINT_I32 ? "a whole number of 32 bits"
                                          : "a whole number of 64 bits");
}

static rh_code read_records(reader *r, const rh_ply_element *e, rh_status *status)
{
    if (e->properties == 0) return RH_OK;
    for (int64_t i = 0; i < e->count; i++) {
        RH_TRY(rh_ply_begin_record(&r->ply, e, status));
        for (int k = e->first; k < e->first + e->properties; k++)
            RH_TRY(take_property(r, &r->ply.properties[k], i, status));
        RH_TRY(rh_ply_end_record(&r->ply, status));
    }
    return RH_OK;
}

static rh_code make_points(reader *r, const rh_ply_element *vertex, rh_status *status)
{
    RH_TRY(rh_points_resize(r->points, vertex->count, status));
    for (int i = 0; i < r->slot_count; i++) {
        slot *s = &r->slots[i];
        const rh_attribute *a = &r->points->attributes[s->attribute];
        s->type = a->type;
        s->stride = rh_point_type_size(a->type);
        s->data = (char *)a->data + (size_t)s->component * sizeof(float);  // of vectors and matrices; else component 0
    }
    return RH_OK;
}

static rh_code read_all(reader *r, rh_frame_info *info, rh_status *status)
{
    RH_TRY(rh_ply_read_header(&r->ply, status));
    read_facts(r, info);
    const rh_ply_element *vertex = rh_ply_find_element(&r->ply, "vertex");
    if (!vertex)
        return rh_fail(status, RH_USER,
                       "%s:%lld: found no element 'vertex' in the header, expected one with x, y and z",
                       r->ply.text.name, (long long)r->ply.text.line);
    RH_TRY(plan(r, vertex, status));
    for (int i = 0; i < r->ply.element_count; i++) {
        const rh_ply_element *e = &r->ply.elements[i];
        RH_TRY(rh_ply_check_count(&r->ply, e, status));
        if (e == vertex) RH_TRY(make_points(r, vertex, status));
        RH_TRY(read_records(r, e, status));
        if (e == vertex) break;  // what follows is not looked at
    }
    return RH_OK;
}

rh_code rh_ply_parse_points(const char *name, const char *data, size_t bytes, rh_points *points, rh_frame_info *info,
                            rh_status *status)
{
    rh_frame_info unwanted;
    reader r = {.ply = rh_ply_open(name, data, bytes), .points = points};
    rh_code code = read_all(&r, info ? info : &unwanted, status);
    rh_ply_close(&r.ply);
    if (code != RH_OK) rh_points_free(points);
    return code;
}

rh_code rh_ply_read_points(const char *path, rh_points *points, rh_frame_info *info, rh_status *status)
{
    static const size_t most = (size_t)1 << 40;
    char *data;
    size_t bytes;
    RH_TRY(rh_file_read(path, most, &data, &bytes, status));
    rh_code code = rh_ply_parse_points(path, data, bytes, points, info, status);
    rh_free(data);
    return code;
}
