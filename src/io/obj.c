// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Wavefront OBJ: vertices (v) and faces (f); everything else is passed over. Face corners may carry texture and normal
// indices (v/vt/vn), indices may count back from the last vertex (negative) or name a vertex that comes later in the
// file.
#include "io/mesh_file.h"

#include "io/mesh_build.h"

typedef struct reader {
    rh_text_reader text;
    rh_mesh_build build;
    // The highest vertex index used so far and where: checked at the end, when all vertices are known.
    int64_t highest;
    rh_word highest_word;
} reader;

static rh_code read_vertex(reader *r, rh_status *status)
{
    double at[3];
    for (int k = 0; k < 3; k++) {
        rh_word word = rh_text_reader_word(&r->text);
        if (!rh_word_number(word, &at[k]))
            return rh_text_reader_expected(&r->text, word, "a finite number (v x y z)", status);
    }
    return rh_mesh_build_vertex(&r->build, rh_v3((float)at[0], (float)at[1], (float)at[2]), status);
}

// Splits "v", "v/t", "v/t/n" or "v//n"; only the vertex is kept, but the others must be numbers.
static bool split_corner(rh_word word, int64_t *vertex)
{
    int64_t ignored;
    for (int part = 0, start = 0; part < 3; part++) {
        int end = start;
        while (end < word.length && word.start[end] != '/') end++;
        rh_word piece = {word.start + start, end - start, word.line, word.column};
        bool optional = part > 0 && piece.length == 0;
        if (!optional && !rh_word_integer(piece, part == 0 ? vertex : &ignored)) return false;
        if (end == word.length) return true;
        start = end + 1;
    }
    return false;
}

static rh_code read_corner(reader *r, rh_word word, uint32_t *corner, rh_status *status)
{
    int64_t index = 0, count = r->build.mesh.vertex_count;
    if (!split_corner(word, &index) || index == 0)
        return rh_text_reader_expected(
            &r->text, word, "a vertex index from 1 (or from -1 backwards), as v, v/vt, v//vn or v/vt/vn", status);
    if (index < -count)
        return rh_text_reader_expected(&r->text, word, "an index no further back than the first vertex", status);
    int64_t vertex = index > 0 ? index - 1 : count + index;
    if (vertex >= UINT32_MAX) return rh_text_reader_expected(&r->text, word, "an index below 4294967296", status);
    if (vertex + 1 > r->highest) {
        r->highest = vertex + 1;
        r->highest_word = word;
    }
    *corner = (uint32_t)vertex;
    return RH_OK;
}

static rh_code read_face(reader *r, rh_status *status)
{
    uint32_t first = 0, previous = 0, corner = 0;
    int64_t corners = 0;
    for (;; corners++) {
        rh_word word = rh_text_reader_word(&r->text);
        if (word.length == 0 || word.start[0] == '#') {
            if (corners >= 3) return RH_OK;
            return rh_text_reader_expected(&r->text, word, "at least three corners of a face", status);
        }
        RH_TRY(read_corner(r, word, &corner, status));
        if (corners == 0) first = corner;
        if (corners >= 2) RH_TRY(rh_mesh_build_triangle(&r->build, first, previous, corner, status));
        previous = corner;
    }
}

static rh_code read_lines(reader *r, rh_status *status)
{
    do {
        rh_word word = rh_text_reader_word(&r->text);
        if (rh_word_is(word, "v")) RH_TRY(read_vertex(r, status));
        if (rh_word_is(word, "f")) RH_TRY(read_face(r, status));
    } while (rh_text_reader_next_line(&r->text));
    if (r->highest > r->build.mesh.vertex_count)
        return rh_fail(
            status, RH_USER,
            "%s:%lld:%lld: found vertex index %lld, expected at most %lld, the number of vertices in the file",
            r->text.name, (long long)r->highest_word.line, (long long)r->highest_word.column, (long long)r->highest,
            (long long)r->build.mesh.vertex_count);
    if (r->build.mesh.triangle_count == 0)
        return rh_fail(status, RH_USER, "%s:%lld: found the end of the file, expected faces (lines 'f a b c ...')",
                       r->text.name, (long long)r->text.line);
    return RH_OK;
}

rh_code rh_obj_parse_mesh(const char *name, const char *data, size_t bytes, rh_mesh *mesh, rh_status *status)
{
    reader r = {.text = rh_text_reader_open(name, data, bytes)};
    r.text.continues = true;
    rh_code code = read_lines(&r, status);
    return rh_mesh_build_finish(&r.build, code, name, mesh, status);
}

rh_code rh_obj_read_mesh(const char *path, rh_mesh *mesh, rh_status *status)
{
    return rh_mesh_read_with(rh_obj_parse_mesh, path, mesh, status);
}
