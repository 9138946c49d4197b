// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Triangle meshes from PLY: ascii and binary of both byte orders, any elements and properties in any order. Used are x, y, z of element
// "vertex" (of a surface also nx ny nz and vx vy vz) and the list vertex_indices (or vertex_index) of element "face"; the rest is passed
// over. Order of work: header -> roles of the properties -> elements one by one as they come -> indices against the vertices. Counts of
// the header are compared with the size of the file before anything is read by them.
#include <stdio.h>
#include <string.h>
#include "base/memory.h"
#include "io/file.h"
#include "io/mesh_build.h"
#include "io/ply.h"

enum { MAX_ELEMENTS = 256, MAX_PROPERTIES = 65536 };  // far above any real file; keeps look-ups by name cheap

typedef enum value_type { INT8, UINT8, INT16, UINT16, INT32, UINT32, FLOAT32, FLOAT64, VALUE_TYPES } value_type;

static const int type_size[VALUE_TYPES] = {1, 1, 2, 2, 4, 4, 4, 8};
static const char *const type_names[VALUE_TYPES][2] = {{"char", "int8"}, {"uchar", "uint8"}, {"short", "int16"},
    {"ushort", "uint16"}, {"int", "int32"}, {"uint", "uint32"}, {"float", "float32"}, {"double", "float64"}};
static const char known_types[] = "a type: char, uchar, short, ushort, int, uint, float or double (or int8 ... float64)";

// Of a vertex: position, normal, velocity; three numbers each.
enum { VECTORS = 3, NUMBERS = 3 * VECTORS };
typedef enum role { PASS_OVER, FIRST_NUMBER, LAST_NUMBER = FIRST_NUMBER + NUMBERS - 1, CORNERS } role;

typedef struct property {
    rh_word name;
    bool list;
    value_type count_type, type;
    role role;
} property;

typedef struct element {
    rh_word name, count_word;
    int64_t count;
    int first, properties;  // range of reader.properties
} element;

typedef enum encoding { ASCII, LITTLE, BIG, UNKNOWN } encoding;

typedef struct reader {
    rh_text text;       // the header; for ascii files also the data
    encoding encoding;
    const char *data;   // whole file
    size_t at, bytes;   // binary data: where we are
    element *elements;  // owned
    property *properties;  // owned
    int element_count, element_capacity, property_count, property_capacity;
    rh_mesh_build build;
    bool surface;          // normals and velocities are wanted too
    rh_vec3 *more[2];      // those, per vertex (owned; NULL when the file has none)
    int64_t more_capacity;
    int64_t highest;    // vertex index used so far, and where; checked at the end, when all vertices are known
    char highest_place[64];
} reader;

// --- header -----------------------------------------------------------------------------------------------------

static rh_code grow(void **items, int count, int *capacity, size_t size, rh_status *status)
{
    if (count < *capacity) return RH_OK;
    void *grown = rh_realloc(*items, (size_t)(*capacity + 16) * 2 * size, "mesh.ply", status);
    if (!grown) return RH_MEMORY;
    *items = grown;
    *capacity = (*capacity + 16) * 2;
    return RH_OK;
}

static rh_code read_type(reader *r, value_type *type, rh_status *status)
{
    rh_word word = rh_text_word(&r->text);
    for (int i = 0; i < VALUE_TYPES; i++)
        if (rh_word_is(word, type_names[i][0]) || rh_word_is(word, type_names[i][1])) {
            *type = (value_type)i;
            return RH_OK;
        }
    return rh_text_expected(&r->text, word, known_types, status);
}

static rh_code read_name(reader *r, rh_word *name, rh_status *status)
{
    *name = rh_text_word(&r->text);
    return name->length > 0 ? RH_OK : rh_text_expected(&r->text, *name, "a name", status);
}

static rh_code read_element(reader *r, rh_status *status)
{
    if (r->element_count >= MAX_ELEMENTS)
        return rh_fail(status, RH_USER, "%s:%lld: found more than %d elements, expected fewer", r->text.name,
                       (long long)r->text.line, MAX_ELEMENTS);
    void *items = r->elements;
    RH_TRY(grow(&items, r->element_count, &r->element_capacity, sizeof *r->elements, status));
    r->elements = items;
    element *e = &r->elements[r->element_count];
    *e = (element){.first = r->property_count};
    RH_TRY(read_name(r, &e->name, status));
    for (int i = 0; i < r->element_count; i++)
        if (e->name.length == r->elements[i].name.length &&
            memcmp(e->name.start, r->elements[i].name.start, (size_t)e->name.length) == 0)
            return rh_text_expected(&r->text, e->name, "an element that was not declared before", status);
    e->count_word = rh_text_word(&r->text);
    if (!rh_word_integer(e->count_word, &e->count) || e->count < 0)
        return rh_text_expected(&r->text, e->count_word, "how many of the element there are", status);
    r->element_count++;
    return RH_OK;
}

static rh_code read_property(reader *r, rh_word keyword, rh_status *status)
{
    if (r->property_count >= MAX_PROPERTIES)
        return rh_fail(status, RH_USER, "%s:%lld: found more than %d properties, expected fewer", r->text.name,
                       (long long)r->text.line, MAX_PROPERTIES);
    if (r->element_count == 0) return rh_text_expected(&r->text, keyword, "'element' before the first property", status);
    void *items = r->properties;
    RH_TRY(grow(&items, r->property_count, &r->property_capacity, sizeof *r->properties, status));
    r->properties = items;
    property *p = &r->properties[r->property_count];
    *p = (property){0};
    rh_text before = r->text;
    if (rh_word_is(rh_text_word(&r->text), "list")) {
        p->list = true;
        rh_text at_count = r->text;
        RH_TRY(read_type(r, &p->count_type, status));
        if (p->count_type >= FLOAT32)
            return rh_text_expected(&r->text, rh_text_word(&at_count), "a whole-number type for the length of a list", status);
    } else {
        r->text = before;
    }
    RH_TRY(read_type(r, &p->type, status));
    RH_TRY(read_name(r, &p->name, status));
    r->property_count++;
    r->elements[r->element_count - 1].properties++;
    return RH_OK;
}

static rh_code read_format(reader *r, rh_status *status)
{
    static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    rh_word word = rh_text_word(&r->text);
    for (int i = 0; i < UNKNOWN; i++)
        if (rh_word_is(word, names[i])) r->encoding = (encoding)i;
    if (r->encoding == UNKNOWN)
        return rh_text_expected(&r->text, word, "ascii, binary_little_endian or binary_big_endian", status);
    word = rh_text_word(&r->text);
    return rh_word_is(word, "1.0") ? RH_OK : rh_text_expected(&r->text, word, "version 1.0", status);
}

static rh_code read_header_line(reader *r, rh_word word, rh_status *status)
{
    if (rh_word_is(word, "format")) return read_format(r, status);
    if (rh_word_is(word, "element")) return read_element(r, status);
    if (rh_word_is(word, "property")) return read_property(r, word, status);
    if (rh_word_is(word, "comment") || rh_word_is(word, "obj_info")) return RH_OK;
    return rh_text_expected(&r->text, word, "format, comment, obj_info, element, property or end_header", status);
}

static rh_code read_header(reader *r, rh_status *status)
{
    rh_word word = rh_text_word(&r->text);
    if (!rh_word_is(word, "ply")) return rh_text_expected(&r->text, word, "'ply', the first word of every PLY file", status);
    while (rh_text_next_line(&r->text)) {
        word = rh_text_word(&r->text);
        if (!rh_word_is(word, "end_header")) {
            RH_TRY(read_header_line(r, word, status));
            continue;
        }
        if (r->encoding == UNKNOWN) return rh_text_expected(&r->text, word, "a format line before the end of the header", status);
        rh_text_next_line(&r->text);
        r->at = (size_t)(r->text.cursor - r->data);
        return RH_OK;
    }
    word = rh_text_word(&r->text);
    return rh_text_expected(&r->text, word, "'end_header'", status);
}

// --- roles ------------------------------------------------------------------------------------------------------

static element *find_element(reader *r, const char *name)
{
    for (int i = 0; i < r->element_count; i++)
        if (rh_word_is(r->elements[i].name, name)) return &r->elements[i];
    return NULL;
}

static property *find_property(reader *r, const element *e, const char *name)
{
    for (int i = e->first; i < e->first + e->properties; i++)
        if (rh_word_is(r->properties[i].name, name)) return &r->properties[i];
    return NULL;
}

static rh_code cast_coordinate(reader *r, const element *vertex, const char *name, role part, rh_status *status)
{
    property *p = find_property(r, vertex, name);
    if (!p)
        return rh_fail(status, RH_USER, "%s:%lld:%lld: found element vertex without property '%s', expected x, y and z",
                       r->text.name, (long long)vertex->name.line, (long long)vertex->name.column, name);
    if (p->list) return rh_text_expected(&r->text, p->name, "a single number for a coordinate, not a list", status);
    p->role = part;
    return RH_OK;
}

static bool has_vector(reader *r, const element *vertex, const char *const names[3])
{
    return find_property(r, vertex, names[0]) && find_property(r, vertex, names[1]) && find_property(r, vertex, names[2]);
}

static rh_code cast_roles(reader *r, rh_status *status)
{
    const element *vertex = find_element(r, "vertex"), *face = find_element(r, "face");
    if (!vertex || !face)
        return rh_fail(status, RH_USER, "%s:%lld: found no element '%s' in the header, expected 'vertex' and 'face'", r->text.name,
                       (long long)r->text.line, vertex ? "face" : "vertex");
    static const char *const names[VECTORS][3] = {{"x", "y", "z"}, {"nx", "ny", "nz"}, {"vx", "vy", "vz"}};
    for (int i = 0; i < (r->surface ? VECTORS : 1); i++)
        for (int k = 0; k < 3; k++)
            if (i == 0 || has_vector(r, vertex, names[i])) RH_TRY(cast_coordinate(r, vertex, names[i][k], FIRST_NUMBER + 3 * i + k, status));
    property *corners = find_property(r, face, "vertex_indices");
    if (!corners) corners = find_property(r, face, "vertex_index");
    if (!corners)
        return rh_fail(status, RH_USER, "%s:%lld:%lld: found element face without its corners, expected a list vertex_indices or vertex_index",
                       r->text.name, (long long)face->name.line, (long long)face->name.column);
    if (!corners->list || corners->type >= FLOAT32)
        return rh_text_expected(&r->text, corners->name, "a list of whole numbers for the corners of a face", status);
    corners->role = CORNERS;
    return RH_OK;
}

// --- values -----------------------------------------------------------------------------------------------------

static rh_code ended(const reader *r, const char *expected, rh_status *status)
{
    return rh_fail(status, RH_USER, "%s: byte %zu: found the end of the file, expected %s", r->text.name, r->bytes, expected);
}

static uint64_t take_bits(reader *r, int size)
{
    uint64_t bits = 0;
    const unsigned char *p = (const unsigned char *)r->data + r->at;
    for (int i = 0; i < size; i++) bits |= (uint64_t)p[r->encoding == BIG ? size - 1 - i : i] << (8 * i);
    r->at += (size_t)size;
    return bits;
}

static double to_number(uint64_t bits, value_type type)
{
    float single;
    double whole;
    uint32_t low = (uint32_t)bits;
    switch (type) {
    case INT8: return (int8_t)bits;
    case INT16: return (int16_t)bits;
    case INT32: return (int32_t)bits;
    case FLOAT32: memcpy(&single, &low, sizeof single); return single;
    case FLOAT64: memcpy(&whole, &bits, sizeof whole); return whole;
    default: return (double)bits;
    }
}

static void describe_place(const reader *r, rh_word word, size_t byte, char *out, size_t room)
{
    if (r->encoding == ASCII)
        snprintf(out, room, ":%lld:%lld", (long long)word.line, (long long)word.column);
    else
        snprintf(out, room, ": byte %zu", byte);
}

// One number; `place` (64 characters, may be NULL) receives where it stands.
static rh_code take(reader *r, value_type type, const char *expected, double *value, char *place, rh_status *status)
{
    size_t byte = r->at;
    rh_word word = {0};
    if (r->encoding == ASCII) {
        word = rh_text_word(&r->text);
        int64_t whole = 0;
        bool good = type < FLOAT32 ? rh_word_integer(word, &whole) : rh_word_number(word, value);
        if (!good) return rh_text_expected(&r->text, word, expected, status);
        if (type < FLOAT32) *value = (double)whole;
    } else {
        if (r->bytes - r->at < (size_t)type_size[type]) return ended(r, expected, status);
        *value = to_number(take_bits(r, type_size[type]), type);
    }
    if (place) describe_place(r, word, byte, place, 64);
    return RH_OK;
}

// Values nobody needs may be anything: "nan" is common in colour and quality channels.
static rh_code pass_over(reader *r, value_type type, int64_t count, rh_status *status)
{
    if (r->encoding != ASCII) {
        if ((r->bytes - r->at) / (size_t)type_size[type] < (size_t)count) return ended(r, "more values of an element", status);
        r->at += (size_t)count * (size_t)type_size[type];
        return RH_OK;
    }
    for (int64_t i = 0; i < count; i++) {
        rh_word word = rh_text_word(&r->text);
        if (word.length == 0) return rh_text_expected(&r->text, word, "another value of this record", status);
    }
    return RH_OK;
}

static rh_code take_length(reader *r, const property *p, int64_t *length, char *place, rh_status *status)
{
    double value = 0;
    RH_TRY(take(r, p->count_type, "the length of a list", &value, place, status));
    if (value < 0)
        return rh_fail(status, RH_USER, "%s%s: found a list of length %g, expected 0 or more", r->text.name, place, value);
    *length = (int64_t)value;
    return RH_OK;
}

// --- records ----------------------------------------------------------------------------------------------------

static rh_code take_coordinate(reader *r, const property *p, float *out, rh_status *status)
{
    char place[64];
    double value = 0;
    RH_TRY(take(r, p->type, "a finite coordinate", &value, place, status));
    *out = (float)value;
    if (isfinite(*out)) return RH_OK;
    return rh_fail(status, RH_USER, "%s%s: found the coordinate %g, expected a finite number", r->text.name, place, value);
}

static rh_code take_corner(reader *r, const property *p, uint32_t *corner, rh_status *status)
{
    char place[64];
    double value = 0;
    RH_TRY(take(r, p->type, "the index of a vertex", &value, place, status));
    if (value < 0 || value >= UINT32_MAX)
        return rh_fail(status, RH_USER, "%s%s: found vertex index %g, expected 0 or more", r->text.name, place, value);
    *corner = (uint32_t)value;
    if (*corner >= r->highest) {
        r->highest = (int64_t)*corner + 1;
        memcpy(r->highest_place, place, sizeof place);
    }
    return RH_OK;
}

static rh_code take_face(reader *r, const property *p, rh_status *status)
{
    char place[64];
    int64_t length = 0;
    RH_TRY(take_length(r, p, &length, place, status));
    if (length < 3)
        return rh_fail(status, RH_USER, "%s%s: found a face with %lld corners, expected at least 3", r->text.name, place,
                       (long long)length);
    uint32_t first, previous, corner;
    RH_TRY(take_corner(r, p, &first, status));
    RH_TRY(take_corner(r, p, &previous, status));
    for (int64_t i = 2; i < length; i++, previous = corner) {
        RH_TRY(take_corner(r, p, &corner, status));
        RH_TRY(rh_mesh_build_triangle(&r->build, first, previous, corner, status));
    }
    return RH_OK;
}

static rh_code take_property(reader *r, const property *p, float at[NUMBERS], rh_status *status)
{
    if (p->role == CORNERS) return take_face(r, p, status);
    if (p->role != PASS_OVER) return take_coordinate(r, p, &at[p->role - FIRST_NUMBER], status);
    int64_t length = 1;
    char place[64];
    if (p->list) RH_TRY(take_length(r, p, &length, place, status));
    return pass_over(r, p->type, length, status);
}

// An ascii record is one line; blank lines between records are let pass.
static rh_code begin_record(reader *r, const element *e, rh_status *status)
{
    if (r->encoding != ASCII) return RH_OK;
    for (;;) {
        rh_text before = r->text;
        rh_word word = rh_text_word(&r->text);
        if (word.length > 0) {
            r->text = before;
            return RH_OK;
        }
        if (rh_text_next_line(&r->text)) continue;
        char expected[96];
        snprintf(expected, sizeof expected, "%lld records of element %.*s in all", (long long)e->count,
                 e->name.length < 24 ? e->name.length : 24, e->name.start);
        return rh_text_expected(&r->text, rh_text_word(&r->text), expected, status);
    }
}

static rh_code end_record(reader *r, rh_status *status)
{
    if (r->encoding != ASCII) return RH_OK;
    rh_word word = rh_text_word(&r->text);
    if (word.length > 0) return rh_text_expected(&r->text, word, "the end of the line after the last property", status);
    rh_text_next_line(&r->text);
    return RH_OK;
}

// The least a record can take: lists empty, ascii numbers of one digit with a blank behind.
static rh_code check_count(const reader *r, const element *e, rh_status *status)
{
    uint64_t least = 0;
    for (int i = e->first; i < e->first + e->properties; i++) {
        const property *p = &r->properties[i];
        least += r->encoding == ASCII ? 2 : (uint64_t)type_size[p->list ? p->count_type : p->type];
    }
    size_t at = r->encoding == ASCII ? (size_t)(r->text.cursor - r->data) : r->at;
    uint64_t room = r->bytes - at + (r->encoding == ASCII);  // the last line may lack its end
    if (least == 0 || (uint64_t)e->count <= room / least) return RH_OK;
    return rh_fail(status, RH_USER, "%s:%lld:%lld: found a count of %lld, expected at most %llu, as many as the rest of the file can hold",
                   r->text.name, (long long)e->count_word.line, (long long)e->count_word.column, (long long)e->count,
                   (unsigned long long)(room / least));
}

static rh_code keep_vertex(reader *r, const float at[NUMBERS], rh_status *status)
{
    int64_t index = r->build.mesh.vertex_count;
    RH_TRY(rh_mesh_build_vertex(&r->build, rh_v3(at[0], at[1], at[2]), status));
    if (!r->surface) return RH_OK;
    bool full = index >= r->more_capacity;
    for (int i = 0; i < 2; i++) {
        if (full) {  // as much as the positions have
            void *grown = rh_realloc(r->more[i], (size_t)r->build.vertex_capacity * sizeof *r->more[i], "mesh.ply", status);
            if (!grown) return RH_MEMORY;
            r->more[i] = grown;
        }
        r->more[i][index] = rh_v3(at[3 * i + 3], at[3 * i + 4], at[3 * i + 5]);
    }
    r->more_capacity = r->build.vertex_capacity;
    return RH_OK;
}

static rh_code read_records(reader *r, const element *e, rh_status *status)
{
    if (e->properties == 0) return RH_OK;
    bool vertex = rh_word_is(e->name, "vertex");
    RH_TRY(check_count(r, e, status));
    for (int64_t i = 0; i < e->count; i++) {
        float at[NUMBERS] = {0};
        RH_TRY(begin_record(r, e, status));
        for (int k = e->first; k < e->first + e->properties; k++) RH_TRY(take_property(r, &r->properties[k], at, status));
        RH_TRY(end_record(r, status));
        if (vertex) RH_TRY(keep_vertex(r, at, status));
    }
    return RH_OK;
}

static rh_code read_all(reader *r, rh_status *status)
{
    RH_TRY(read_header(r, status));
    RH_TRY(cast_roles(r, status));
    for (int i = 0; i < r->element_count; i++) RH_TRY(read_records(r, &r->elements[i], status));
    if (r->highest <= r->build.mesh.vertex_count) return RH_OK;
    return rh_fail(status, RH_USER, "%s%s: found vertex index %lld, expected less than %lld, the number of vertices", r->text.name,
                   r->highest_place, (long long)r->highest - 1, (long long)r->build.mesh.vertex_count);
}

rh_code rh_ply_parse_mesh(const char *name, const char *data, size_t bytes, rh_mesh *mesh, rh_status *status)
{
    reader r = {.text = rh_text_open(name, data, bytes), .encoding = UNKNOWN, .data = data, .bytes = bytes};
    rh_code code = read_all(&r, status);
    rh_free(r.elements);
    rh_free(r.properties);
    return rh_mesh_build_finish(&r.build, code, name, mesh, status);
}

rh_code rh_ply_read_mesh(const char *path, rh_mesh *mesh, rh_status *status)
{
    return rh_mesh_read_with(rh_ply_parse_mesh, path, mesh, status);
}

void rh_ply_surface_free(rh_ply_surface *surface)
{
    rh_mesh_free(&surface->mesh);
    rh_free(surface->normal);
    rh_free(surface->velocity);
    *surface = (rh_ply_surface){0};
}

static bool named(reader *r, const char *name)
{
    const element *vertex = find_element(r, "vertex");
    const property *p = vertex ? find_property(r, vertex, name) : NULL;
    return p && p->role != PASS_OVER;
}

rh_code rh_ply_parse_surface(const char *name, const char *data, size_t bytes, rh_ply_surface *surface, rh_status *status)
{
    reader r = {.text = rh_text_open(name, data, bytes), .encoding = UNKNOWN, .data = data, .bytes = bytes, .surface = true};
    rh_code code = read_all(&r, status);
    bool has_normal = named(&r, "nx"), has_velocity = named(&r, "vx");
    rh_free(r.elements);
    rh_free(r.properties);
    // No look for triangles with an area as at other meshes: a frame without liquid has none.
    *surface = (rh_ply_surface){r.build.mesh, r.more[0], r.more[1]};
    if (code != RH_OK) rh_ply_surface_free(surface);
    if (!has_normal) rh_free(surface->normal), surface->normal = NULL;
    if (!has_velocity) rh_free(surface->velocity), surface->velocity = NULL;
    return code;
}

rh_code rh_ply_read_surface(const char *path, rh_ply_surface *surface, rh_status *status)
{
    char *data;
    size_t bytes;
    *surface = (rh_ply_surface){0};
    RH_TRY(rh_file_read(path, (size_t)1 << 34, &data, &bytes, status));
    rh_code code = rh_ply_parse_surface(path, data, bytes, surface, status);
    rh_free(data);
    return code;
}
