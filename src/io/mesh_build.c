// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the mesh readers share. Arrays grow with what was really read, so a lying header cannot make us allocate.
#include "io/mesh_build.h"

#include <float.h>
#include <stdio.h>
#include <string.h>
#include "base/memory.h"
#include "io/file.h"

static const size_t file_limit = (size_t)1 << 33;

rh_code rh_mesh_read_with(rh_mesh_parser *parser, const char *path, rh_mesh *mesh, rh_status *status)
{
    *mesh = (rh_mesh){0};
    char *data;
    size_t bytes;
    RH_TRY(rh_file_read(path, file_limit, &data, &bytes, status));
    rh_code code = parser(path, data, bytes, mesh, status);
    rh_free(data);
    return code;
}

// --- a mesh that grows -----------------------------------------------------------------------------------------------

// Room for one more; at least doubles, so that the copies stay linear in total.
static rh_code make_room(void **items, int64_t count, int64_t *capacity, size_t size, rh_status *status)
{
    if (count < *capacity) return RH_OK;
    if (count >= UINT32_MAX) return rh_fail(status, RH_USER, "found more than %u items, expected fewer", UINT32_MAX);
    int64_t larger = *capacity < 32 ? 64 : *capacity * 2;
    void *grown = rh_realloc(*items, (size_t)larger * size, "mesh.read", status);
    if (!grown) return RH_MEMORY;
    *items = grown;
    *capacity = larger;
    return RH_OK;
}

rh_code rh_mesh_build_vertex(rh_mesh_build *build, rh_vec3 vertex, rh_status *status)
{
    rh_mesh *mesh = &build->mesh;
    void *items = mesh->vertices;
    RH_TRY(make_room(&items, mesh->vertex_count, &build->vertex_capacity, sizeof *mesh->vertices, status));
    mesh->vertices = items;
    mesh->vertices[mesh->vertex_count++] = vertex;
    return RH_OK;
}

rh_code rh_mesh_build_triangle(rh_mesh_build *build, uint32_t a, uint32_t b, uint32_t c, rh_status *status)
{
    rh_mesh *mesh = &build->mesh;
    void *items = mesh->triangles;
    RH_TRY(make_room(&items, mesh->triangle_count, &build->triangle_capacity, sizeof *mesh->triangles, status));
    mesh->triangles = items;
    uint32_t *triangle = mesh->triangles[mesh->triangle_count++];
    triangle[0] = a;
    triangle[1] = b;
    triangle[2] = c;
    return RH_OK;
}

rh_code rh_mesh_build_finish(rh_mesh_build *build, rh_code code, const char *name, rh_mesh *mesh, rh_status *status)
{
    *mesh = (rh_mesh){0};
    if (code == RH_OK) {
        code = rh_mesh_check(&build->mesh, status);
        if (code != RH_OK) rh_status_prefix(status, "%s", name);
    }
    if (code == RH_OK) *mesh = build->mesh;
    else rh_mesh_free(&build->mesh);
    *build = (rh_mesh_build){0};
    return code;
}

// --- text ------------------------------------------------------------------------------------------------------------

rh_text_reader rh_text_reader_open(const char *name, const char *data, size_t bytes)
{
    return (rh_text_reader){.name = name, .cursor = data, .end = data + bytes, .line_start = data, .line = 1};
}

// Length of "\\\n" or "\\\r\n" here, else 0.
static int continuation(const rh_text_reader *text)
{
    const char *p = text->cursor;
    if (!text->continues || p >= text->end || p[0] != '\\') return 0;
    if (p[1] == '\n') return 2;
    return p[1] == '\r' && p + 2 < text->end && p[2] == '\n' ? 3 : 0;
}

static bool is_blank(char c) { return (unsigned char)c <= ' ' && c != '\n'; }

static void skip_blanks(rh_text_reader *text)
{
    for (;;) {
        int skip = continuation(text);
        if (skip) {
            text->cursor += skip;
            text->line_start = text->cursor;
            text->line++;
        } else if (text->cursor < text->end && is_blank(*text->cursor)) {
            text->cursor++;
        } else {
            return;
        }
    }
}

rh_word rh_text_reader_word(rh_text_reader *text)
{
    skip_blanks(text);
    rh_word word = {text->cursor, 0, text->line, text->cursor - text->line_start + 1};
    while (text->cursor < text->end && *text->cursor != '\n' && !is_blank(*text->cursor) && !continuation(text)) {
        text->cursor++;
        if (word.length < INT32_MAX) word.length++;
    }
    return word;
}

bool rh_text_reader_next_line(rh_text_reader *text)
{
    while (text->cursor < text->end && *text->cursor != '\n') {
        int skip = continuation(text);
        text->line += skip > 0;
        text->cursor += skip ? skip : 1;
    }
    if (text->cursor >= text->end) return false;
    text->line_start = ++text->cursor;
    text->line++;
    return text->cursor < text->end;
}

bool rh_word_is(rh_word word, const char *expected)
{
    return strlen(expected) == (size_t)word.length && memcmp(word.start, expected, (size_t)word.length) == 0;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

bool rh_word_is_any_case(rh_word word, const char *expected)
{
    if (strlen(expected) != (size_t)word.length) return false;
    for (int i = 0; i < word.length; i++)
        if (lower(word.start[i]) != lower(expected[i])) return false;
    return true;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Digits of the mantissa: the first 19 count, later ones only move the decimal point.
static const char *read_digits(const char *p, const char *end, uint64_t *digits, int64_t *exponent, bool *any)
{
    bool fraction = false;
    for (; p < end; p++) {
        if (*p == '.' && !fraction) {
            fraction = true;
            continue;
        }
        if (!is_digit(*p)) break;
        *any = true;
        if (*digits < UINT64_C(1000000000000000000)) {
            *digits = *digits * 10 + (uint64_t)(*p - '0');
            *exponent -= fraction;
        } else {
            *exponent += !fraction;
        }
    }
    return p;
}

static const char *read_exponent(const char *p, const char *end, int64_t *exponent, bool *good)
{
    if (p >= end || (*p != 'e' && *p != 'E')) return p;
    p++;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    int64_t value = 0;
    *good = p < end;
    for (; p < end && is_digit(*p); p++)
        if (value < 100000) value = value * 10 + (*p - '0');
    *exponent += negative ? -value : value;
    return p;
}

bool rh_word_number(rh_word word, double *value)
{
    const char *p = word.start, *end = p + word.length;
    bool negative = p < end && *p == '-', any = false, good = true;
    if (p < end && (*p == '-' || *p == '+')) p++;
    uint64_t digits = 0;
    int64_t exponent = 0;
    p = read_digits(p, end, &digits, &exponent, &any);
    p = read_exponent(p, end, &exponent, &good);
    if (!any || !good || p != end) return false;
    // Scaling in long double leaves an error far below the last bit of the float this becomes.
    if (exponent > 400) exponent = 400;
    if (exponent < -4000) exponent = -4000;
    long double scaled = digits == 0 ? 0 : (long double)digits * powl(10, (long double)exponent);
    if (!(scaled <= FLT_MAX)) return false;
    *value = negative ? -(double)scaled : (double)scaled;
    return true;
}

bool rh_word_integer(rh_word word, int64_t *value)
{
    const char *p = word.start, *end = p + word.length;
    bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) p++;
    if (p >= end || end - p > 18) return false;
    int64_t sum = 0;
    for (; p < end; p++) {
        if (!is_digit(*p)) return false;
        sum = sum * 10 + (*p - '0');
    }
    *value = negative ? -sum : sum;
    return true;
}

rh_code rh_text_reader_expected(const rh_text_reader *text, rh_word word, const char *expected, rh_status *status)
{
    char shown[40] = "end of line";
    if (word.length == 0 && word.start >= text->end) snprintf(shown, sizeof shown, "end of file");
    if (word.length > 0) {
        int used = word.length < 24 ? word.length : 24;
        shown[0] = '\'';
        for (int i = 0; i < used; i++)  // what a terminal cannot show becomes '?'
            shown[1 + i] = word.start[i] > ' ' && word.start[i] < 127 ? word.start[i] : '?';
        snprintf(shown + 1 + used, sizeof shown - 1 - (size_t)used, "%s", word.length > used ? "...'" : "'");
    }
    return rh_fail(status, RH_USER, "%s:%lld:%lld: found %s, expected %s", text->name, (long long)word.line,
                   (long long)word.column, shown, expected);
}
