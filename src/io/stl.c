// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// STL, ascii and binary. The first word does not tell them apart: many binary files begin with "solid" too. The size
// does: a binary file of n triangles has exactly 84 + 50 n bytes, n being stored at byte 80. Corners are repeated per
// triangle in this format, so equal ones are merged. The stored normals are not used: they are often wrong, the order
// of corners seldom.
#include "io/mesh_file.h"

#include <string.h>
#include "io/mesh_build.h"

enum { HEAD = 84, RECORD = 50, FIRST_CORNER = 12 };

// --- binary ----------------------------------------------------------------------------------------------------------

static uint32_t read_u32(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static float read_f32(const char *p)
{
    uint32_t bits = read_u32(p);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static rh_code read_binary_corner(const char *name, const char *data, size_t at, rh_mesh_build *build,
                                  rh_status *status)
{
    float p[3];
    for (int k = 0; k < 3; k++) {
        size_t byte = at + 4 * (size_t)k;
        p[k] = read_f32(data + byte);
        if (!isfinite(p[k]))
            return rh_fail(status, RH_USER, "%s: byte %zu: found the coordinate %g, expected a finite number", name,
                           byte, p[k]);
    }
    return rh_mesh_build_vertex(build, rh_v3(p[0], p[1], p[2]), status);
}

static rh_code read_binary(const char *name, const char *data, size_t bytes, rh_mesh_build *build, rh_status *status)
{
    if (bytes < HEAD)
        return rh_fail(status, RH_USER,
                       "%s: byte %zu: found the end of the file, expected at least %d bytes of binary STL "
                       "(an ascii file begins with 'solid')",
                       name, bytes, HEAD);
    uint64_t count = read_u32(data + 80), needed = HEAD + RECORD * count;
    if (needed != bytes)
        return rh_fail(status, RH_USER,
                       "%s: byte 80: found a count of %llu triangles, which take %llu bytes, expected a file of "
                       "that size, but it has %zu",
                       name, (unsigned long long)count, (unsigned long long)needed, bytes);
    for (uint64_t t = 0; t < count; t++) {
        uint32_t first = (uint32_t)build->mesh.vertex_count;
        if (build->mesh.vertex_count > UINT32_MAX - 3)
            return rh_fail(status, RH_USER, "%s: byte 80: found %llu triangles, expected at most %u", name,
                           (unsigned long long)count, UINT32_MAX / 3);
        for (size_t k = 0; k < 3; k++)
            RH_TRY(read_binary_corner(name, data, HEAD + RECORD * (size_t)t + FIRST_CORNER + 12 * k, build, status));
        RH_TRY(rh_mesh_build_triangle(build, first, first + 1, first + 2, status));
    }
    return RH_OK;
}

// --- ascii -----------------------------------------------------------------------------------------------------------

// The next word on this or a later line; empty only at the end of the file.
static rh_word next_word(rh_text_reader *text)
{
    for (;;) {
        rh_word word = rh_text_reader_word(text);
        if (word.length > 0) return word;
        if (!rh_text_reader_next_line(text)) return rh_text_reader_word(text);
    }
}

static rh_code need(rh_text_reader *text, const char *keyword, const char *expected, rh_status *status)
{
    rh_word word = next_word(text);
    return rh_word_is_any_case(word, keyword) ? RH_OK : rh_text_reader_expected(text, word, expected, status);
}

static rh_code read_corner(rh_text_reader *text, rh_mesh_build *build, rh_status *status)
{
    RH_TRY(need(text, "vertex", "'vertex x y z' (three in a facet)", status));
    double p[3];
    for (int k = 0; k < 3; k++) {
        rh_word word = rh_text_reader_word(text);
        if (!rh_word_number(word, &p[k]))
            return rh_text_reader_expected(text, word, "a finite number (vertex x y z)", status);
    }
    return rh_mesh_build_vertex(build, rh_v3((float)p[0], (float)p[1], (float)p[2]), status);
}

static rh_code read_facet(rh_text_reader *text, rh_mesh_build *build, rh_status *status)
{
    rh_text_reader_next_line(text);  // the normal: not used, and "nan" in files of some programs
    RH_TRY(need(text, "outer", "'outer loop'", status));
    RH_TRY(need(text, "loop", "'loop' after 'outer'", status));
    if (build->mesh.vertex_count > UINT32_MAX - 3)
        return rh_fail(status, RH_USER, "%s:%lld: found more than %u triangles, expected fewer", text->name,
                       (long long)text->line, UINT32_MAX / 3);
    uint32_t first = (uint32_t)build->mesh.vertex_count;
    for (int k = 0; k < 3; k++) RH_TRY(read_corner(text, build, status));
    RH_TRY(need(text, "endloop", "'endloop' after three corners", status));
    RH_TRY(need(text, "endfacet", "'endfacet'", status));
    return rh_mesh_build_triangle(build, first, first + 1, first + 2, status);
}

static rh_code read_ascii(const char *name, const char *data, size_t bytes, rh_mesh_build *build, rh_status *status)
{
    rh_text_reader text = rh_text_reader_open(name, data, bytes);
    bool open = false;  // between 'solid' and 'endsolid'
    for (;;) {
        rh_word word = next_word(&text);
        if (word.length == 0) {
            if (!open) return RH_OK;
            return rh_text_reader_expected(&text, word, "'facet' or 'endsolid'", status);
        }
        if (open && rh_word_is_any_case(word, "facet")) {
            RH_TRY(read_facet(&text, build, status));
        } else if (rh_word_is_any_case(word, open ? "endsolid" : "solid")) {
            open = !open;
            rh_text_reader_next_line(&text);  // the solid's name
        } else {
            return rh_text_reader_expected(&text, word, open ? "'facet' or 'endsolid'" : "'solid'", status);
        }
    }
}

static bool is_ascii(const char *data, size_t bytes)
{
    if (bytes >= HEAD && HEAD + RECORD * (uint64_t)read_u32(data + 80) == bytes) return false;
    rh_text_reader text = rh_text_reader_open("", data, bytes);
    return rh_word_is_any_case(next_word(&text), "solid") && memchr(data, 0, bytes < 512 ? bytes : 512) == NULL;
}

static rh_code parse(const char *name, const char *data, size_t bytes, rh_mesh_build *build, rh_status *status)
{
    if (bytes == 0)
        return rh_fail(status, RH_USER, "%s: byte 0: found an empty file, expected ascii or binary STL", name);
    if (is_ascii(data, bytes)) RH_TRY(read_ascii(name, data, bytes, build, status));
    else RH_TRY(read_binary(name, data, bytes, build, status));
    return rh_mesh_weld(&build->mesh, status);
}

rh_code rh_stl_parse_mesh(const char *name, const char *data, size_t bytes, rh_mesh *mesh, rh_status *status)
{
    rh_mesh_build build = {0};
    rh_code code = parse(name, data, bytes, &build, status);
    return rh_mesh_build_finish(&build, code, name, mesh, status);
}

rh_code rh_stl_read_mesh(const char *path, rh_mesh *mesh, rh_status *status)
{
    return rh_mesh_read_with(rh_stl_parse_mesh, path, mesh, status);
}
