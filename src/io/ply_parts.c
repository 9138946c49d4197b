// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// G. Turk, "The PLY polygon file format" (1994), as programs write it today: any elements and properties, ascii and
// both byte orders. The file is in memory and walked once; counts are checked against its size before anything is
// allocated for them.
#include "io/ply_parts.h"

#include <stdio.h>
#include <string.h>
#include "base/memory.h"

enum { MAX_ELEMENTS = 256, MAX_PROPERTIES = 65536 };  // far above any real file; keeps look-ups by name cheap

const int rh_ply_type_size[RH_PLY_TYPES] = {1, 1, 2, 2, 4, 4, 4, 8};
static const char *const type_names[RH_PLY_TYPES][2] = {{"char", "int8"},     {"uchar", "uint8"},   {"short", "int16"},
                                                        {"ushort", "uint16"}, {"int", "int32"},     {"uint", "uint32"},
                                                        {"float", "float32"}, {"double", "float64"}};
static const char known_types[] =
    "a type: char, uchar, short, ushort, int, uint, float or double (or int8 ... float64)";

// --- header ----------------------------------------------------------------------------------------------------------

static rh_code grow(void **items, int count, int *capacity, size_t size, rh_status *status)
{
    if (count < *capacity) return RH_OK;
    void *grown = rh_realloc(*items, (size_t)(*capacity + 16) * 2 * size, "mesh.ply", status);
    if (!grown) return RH_MEMORY;
    *items = grown;
    *capacity = (*capacity + 16) * 2;
    return RH_OK;
}

static rh_code read_type(rh_ply *r, rh_ply_type *type, rh_status *status)
{
    rh_word word = rh_text_reader_word(&r->text);
    for (int i = 0; i < RH_PLY_TYPES; i++)
        if (rh_word_is(word, type_names[i][0]) || rh_word_is(word, type_names[i][1])) {
            *type = (rh_ply_type)i;
            return RH_OK;
        }
    return rh_text_reader_expected(&r->text, word, known_types, status);
}

static rh_code read_name(rh_ply *r, rh_word *name, rh_status *status)
{
    *name = rh_text_reader_word(&r->text);
    return name->length > 0 ? RH_OK : rh_text_reader_expected(&r->text, *name, "a name", status);
}

static rh_code read_element(rh_ply *r, rh_status *status)
{
    if (r->element_count >= MAX_ELEMENTS)
        return rh_fail(status, RH_USER, "%s:%lld: found more than %d elements, expected fewer", r->text.name,
                       (long long)r->text.line, MAX_ELEMENTS);
    void *items = r->elements;
    RH_TRY(grow(&items, r->element_count, &r->element_capacity, sizeof *r->elements, status));
    r->elements = items;
    rh_ply_element *e = &r->elements[r->element_count];
    *e = (rh_ply_element){.first = r->property_count};
    RH_TRY(read_name(r, &e->name, status));
    for (int i = 0; i < r->element_count; i++)
        if (e->name.length == r->elements[i].name.length &&
            memcmp(e->name.start, r->elements[i].name.start, (size_t)e->name.length) == 0)
            return rh_text_reader_expected(&r->text, e->name, "an element that was not declared before", status);
    e->count_word = rh_text_reader_word(&r->text);
    if (!rh_word_integer(e->count_word, &e->count) || e->count < 0)
        return rh_text_reader_expected(&r->text, e->count_word, "how many of the element there are", status);
    r->element_count++;
    return RH_OK;
}

static rh_code read_property(rh_ply *r, rh_word keyword, rh_status *status)
{
    if (r->property_count >= MAX_PROPERTIES)
        return rh_fail(status, RH_USER, "%s:%lld: found more than %d properties, expected fewer", r->text.name,
                       (long long)r->text.line, MAX_PROPERTIES);
    if (r->element_count == 0)
        return rh_text_reader_expected(&r->text, keyword, "'element' before the first property", status);
    void *items = r->properties;
    RH_TRY(grow(&items, r->property_count, &r->property_capacity, sizeof *r->properties, status));
    r->properties = items;
    rh_ply_property *p = &r->properties[r->property_count];
    *p = (rh_ply_property){0};
    rh_text_reader before = r->text;
    if (rh_word_is(rh_text_reader_word(&r->text), "list")) {
        p->list = true;
        rh_text_reader at_count = r->text;
        RH_TRY(read_type(r, &p->count_type, status));
        if (p->count_type >= RH_PLY_FLOAT32)
            return rh_text_reader_expected(&r->text, rh_text_reader_word(&at_count),
                                           "a whole-number type for the length of a list", status);
    } else {
        r->text = before;
    }
    RH_TRY(read_type(r, &p->type, status));
    RH_TRY(read_name(r, &p->name, status));
    r->property_count++;
    r->elements[r->element_count - 1].properties++;
    return RH_OK;
}

static rh_code read_format(rh_ply *r, rh_status *status)
{
    static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    rh_word word = rh_text_reader_word(&r->text);
    for (int i = 0; i < RH_PLY_UNKNOWN; i++)
        if (rh_word_is(word, names[i])) r->encoding = (rh_ply_encoding)i;
    if (r->encoding == RH_PLY_UNKNOWN)
        return rh_text_reader_expected(&r->text, word, "ascii, binary_little_endian or binary_big_endian", status);
    word = rh_text_reader_word(&r->text);
    return rh_word_is(word, "1.0") ? RH_OK : rh_text_reader_expected(&r->text, word, "version 1.0", status);
}

static rh_code read_header_line(rh_ply *r, rh_word word, rh_status *status)
{
    if (rh_word_is(word, "format")) return read_format(r, status);
    if (rh_word_is(word, "element")) return read_element(r, status);
    if (rh_word_is(word, "property")) return read_property(r, word, status);
    if (rh_word_is(word, "comment") && rh_word_is(rh_text_reader_word(&r->text), "rheo_up"))
        r->up = rh_word_is(rh_text_reader_word(&r->text), "z") ? 'z' : 'y';
    if (rh_word_is(word, "comment") || rh_word_is(word, "obj_info")) return RH_OK;
    return rh_text_reader_expected(&r->text, word, "format, comment, obj_info, element, property or end_header",
                                   status);
}

rh_code rh_ply_read_header(rh_ply *r, rh_status *status)
{
    rh_word word = rh_text_reader_word(&r->text);
    if (!rh_word_is(word, "ply"))
        return rh_text_reader_expected(&r->text, word, "'ply', the first word of every PLY file", status);
    while (rh_text_reader_next_line(&r->text)) {
        word = rh_text_reader_word(&r->text);
        if (!rh_word_is(word, "end_header")) {
            RH_TRY(read_header_line(r, word, status));
            continue;
        }
        if (r->encoding == RH_PLY_UNKNOWN)
            return rh_text_reader_expected(&r->text, word, "a format line before the end of the header", status);
        rh_text_reader_next_line(&r->text);
        r->at = (size_t)(r->text.cursor - r->data);
        return RH_OK;
    }
    word = rh_text_reader_word(&r->text);
    return rh_text_reader_expected(&r->text, word, "'end_header'", status);
}

// --- looking up ------------------------------------------------------------------------------------------------------

rh_ply_element *rh_ply_find_element(rh_ply *r, const char *name)
{
    for (int i = 0; i < r->element_count; i++)
        if (rh_word_is(r->elements[i].name, name)) return &r->elements[i];
    return NULL;
}

rh_ply_property *rh_ply_find_property(rh_ply *r, const rh_ply_element *e, const char *name)
{
    for (int i = e->first; i < e->first + e->properties; i++)
        if (rh_word_is(r->properties[i].name, name)) return &r->properties[i];
    return NULL;
}

// --- values ----------------------------------------------------------------------------------------------------------

static rh_code ended(const rh_ply *r, const char *expected, rh_status *status)
{
    return rh_fail(status, RH_USER, "%s: byte %zu: found the end of the file, expected %s", r->text.name, r->bytes,
                   expected);
}

static uint64_t take_bits(rh_ply *r, int size)
{
    uint64_t bits = 0;
    const unsigned char *p = (const unsigned char *)r->data + r->at;
    for (int i = 0; i < size; i++) bits |= (uint64_t)p[r->encoding == RH_PLY_BIG ? size - 1 - i : i] << (8 * i);
    r->at += (size_t)size;
    return bits;
}

static double to_number(uint64_t bits, rh_ply_type type)
{
    float single;
    double whole;
    uint32_t low = (uint32_t)bits;
    switch (type) {
    case RH_PLY_INT8: return (int8_t)bits;
    case RH_PLY_INT16: return (int16_t)bits;
    case RH_PLY_INT32: return (int32_t)bits;
    case RH_PLY_FLOAT32: memcpy(&single, &low, sizeof single); return single;
    case RH_PLY_FLOAT64: memcpy(&whole, &bits, sizeof whole); return whole;
    default: return (double)bits;
    }
}

static void describe_place(const rh_ply *r, rh_word word, size_t byte, char *out, size_t room)
{
    if (r->encoding == RH_PLY_ASCII) snprintf(out, room, ":%lld:%lld", (long long)word.line, (long long)word.column);
    else snprintf(out, room, ": byte %zu", byte);
}

rh_code rh_ply_take(rh_ply *r, rh_ply_type type, const char *expected, double *value, char *place, rh_status *status)
{
    size_t byte = r->at;
    rh_word word = {0};
    if (r->encoding == RH_PLY_ASCII) {
        word = rh_text_reader_word(&r->text);
        int64_t whole = 0;
        bool good = type < RH_PLY_FLOAT32 ? rh_word_integer(word, &whole) : rh_word_number(word, value);
        if (!good) return rh_text_reader_expected(&r->text, word, expected, status);
        if (type < RH_PLY_FLOAT32) *value = (double)whole;
    } else {
        if (r->bytes - r->at < (size_t)rh_ply_type_size[type]) return ended(r, expected, status);
        *value = to_number(take_bits(r, rh_ply_type_size[type]), type);
    }
    if (place) describe_place(r, word, byte, place, RH_PLY_PLACE);
    return RH_OK;
}

// Values nobody needs may be anything: "nan" is common in colour and quality channels.
rh_code rh_ply_pass_over(rh_ply *r, rh_ply_type type, int64_t count, rh_status *status)
{
    if (r->encoding != RH_PLY_ASCII) {
        if ((r->bytes - r->at) / (size_t)rh_ply_type_size[type] < (size_t)count)
            return ended(r, "more values of an element", status);
        r->at += (size_t)count * (size_t)rh_ply_type_size[type];
        return RH_OK;
    }
    for (int64_t i = 0; i < count; i++) {
        rh_word word = rh_text_reader_word(&r->text);
        if (word.length == 0) return rh_text_reader_expected(&r->text, word, "another value of this record", status);
    }
    return RH_OK;
}

rh_code rh_ply_take_length(rh_ply *r, const rh_ply_property *p, int64_t *length, char *place, rh_status *status)
{
    double value = 0;
    RH_TRY(rh_ply_take(r, p->count_type, "the length of a list", &value, place, status));
    if (value < 0)
        return rh_fail(status, RH_USER, "%s%s: found a list of length %g, expected 0 or more", r->text.name, place,
                       value);
    *length = (int64_t)value;
    return RH_OK;
}

rh_code rh_ply_skip(rh_ply *r, const rh_ply_property *p, rh_status *status)
{
    int64_t length = 1;
    char place[RH_PLY_PLACE];
    if (p->list) RH_TRY(rh_ply_take_length(r, p, &length, place, status));
    return rh_ply_pass_over(r, p->type, length, status);
}

// --- records ---------------------------------------------------------------------------------------------------------

// An ascii record is one line; blank lines between records are let pass.
rh_code rh_ply_begin_record(rh_ply *r, const rh_ply_element *e, rh_status *status)
{
    if (r->encoding != RH_PLY_ASCII) return RH_OK;
    for (;;) {
        rh_text_reader before = r->text;
        rh_word word = rh_text_reader_word(&r->text);
        if (word.length > 0) {
            r->text = before;
            return RH_OK;
        }
        if (rh_text_reader_next_line(&r->text)) continue;
        char expected[96];
        snprintf(expected, sizeof expected, "%lld records of element %.*s in all", (long long)e->count,
                 e->name.length < 24 ? e->name.length : 24, e->name.start);
        return rh_text_reader_expected(&r->text, rh_text_reader_word(&r->text), expected, status);
    }
}

rh_code rh_ply_end_record(rh_ply *r, rh_status *status)
{
    if (r->encoding != RH_PLY_ASCII) return RH_OK;
    rh_word word = rh_text_reader_word(&r->text);
    if (word.length > 0)
        return rh_text_reader_expected(&r->text, word, "the end of the line after the last property", status);
    rh_text_reader_next_line(&r->text);
    return RH_OK;
}

// The least a record can take: lists empty, ascii numbers of one digit with a blank behind.
rh_code rh_ply_check_count(const rh_ply *r, const rh_ply_element *e, rh_status *status)
{
    uint64_t least = 0;
    for (int i = e->first; i < e->first + e->properties; i++) {
        const rh_ply_property *p = &r->properties[i];
        least += r->encoding == RH_PLY_ASCII ? 2 : (uint64_t)rh_ply_type_size[p->list ? p->count_type : p->type];
    }
    size_t at = r->encoding == RH_PLY_ASCII ? (size_t)(r->text.cursor - r->data) : r->at;
    uint64_t room = r->bytes - at + (r->encoding == RH_PLY_ASCII);  // the last line may lack its end
    if (least == 0 || (uint64_t)e->count <= room / least) return RH_OK;
    return rh_fail(
        status, RH_USER,
        "%s:%lld:%lld: found a count of %lld, expected at most %llu, as many as the rest of the file can hold",
        r->text.name, (long long)e->count_word.line, (long long)e->count_word.column, (long long)e->count,
        (unsigned long long)(room / least));
}

rh_ply rh_ply_open(const char *name, const char *data, size_t bytes)
{
    return (rh_ply){
        .text = rh_text_reader_open(name, data, bytes), .encoding = RH_PLY_UNKNOWN, .data = data, .bytes = bytes};
}

void rh_ply_close(rh_ply *r)
{
    rh_free(r->elements);
    rh_free(r->properties);
}

void rh_ply_put_colour(char to[3], rh_vec3 colour)
{
    const float parts[3] = {colour.x, colour.y, colour.z};
    for (int k = 0; k < 3; k++) {
        float value = parts[k] > 0 ? parts[k] < 1 ? parts[k] : 1 : 0;  // what is no number is black
        to[k] = (char)(unsigned char)(255 * value + 0.5f);
    }
}
