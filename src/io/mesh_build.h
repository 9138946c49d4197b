// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Shared by the mesh readers: a mesh that grows, words and numbers of text with line and column, and the readers' entry
// points that take a file already in memory.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"
#include "solid/mesh.h"

// --- readers from memory ---------------------------------------------------------------------------------------------
// `name` is used in messages. The byte after the last must be readable and zero, as rh_file_read leaves it. On failure
// the mesh is empty and nothing is held.
rh_code rh_obj_parse_mesh(const char *name, const char *data, size_t bytes, rh_mesh *mesh, rh_status *status);
rh_code rh_stl_parse_mesh(const char *name, const char *data, size_t bytes, rh_mesh *mesh, rh_status *status);
rh_code rh_ply_parse_mesh(const char *name, const char *data, size_t bytes, rh_mesh *mesh, rh_status *status);

typedef rh_code rh_mesh_parser(const char *name, const char *data, size_t bytes, rh_mesh *mesh, rh_status *status);
// Reads the file and hands it to the parser.
rh_code rh_mesh_read_with(rh_mesh_parser *parser, const char *path, rh_mesh *mesh, rh_status *status);

// --- a mesh that grows -----------------------------------------------------------------------------------------------
typedef struct rh_mesh_build {
    rh_mesh mesh;
    int64_t vertex_capacity, triangle_capacity;
} rh_mesh_build;

rh_code rh_mesh_build_vertex(rh_mesh_build *build, rh_vec3 vertex, rh_status *status);
rh_code rh_mesh_build_triangle(rh_mesh_build *build, uint32_t a, uint32_t b, uint32_t c, rh_status *status);
// Hands the mesh over after a last look (rh_mesh_check), or frees it when `code` is a failure.
rh_code rh_mesh_build_finish(rh_mesh_build *build, rh_code code, const char *name, rh_mesh *mesh, rh_status *status);

// --- text ------------------------------------------------------------------------------------------------------------
typedef struct rh_text_reader {
    const char *name;          // for messages
    const char *cursor, *end;  // *end is zero
    const char *line_start;
    int64_t line;    // from 1
    bool continues;  // a backslash at the end of a line joins it to the next
} rh_text_reader;

typedef struct rh_word {
    const char *start;
    int length;            // 0: none left on this line
    int64_t line, column;  // from 1
} rh_word;

rh_text_reader rh_text_reader_open(const char *name, const char *data, size_t bytes);
// The next word of this line (blanks are space, tab, carriage return and other control characters).
rh_word rh_text_reader_word(rh_text_reader *text);
// Moves behind the end of this line; false when that is the end of the text.
bool rh_text_reader_next_line(rh_text_reader *text);
bool rh_word_is(rh_word word, const char *expected);           // exactly
bool rh_word_is_any_case(rh_word word, const char *expected);  // ASCII letters in either case
// A finite number within the range of float; never depends on the locale.
bool rh_word_number(rh_word word, double *value);
bool rh_word_integer(rh_word word, int64_t *value);
// RH_USER: "name:line:column: found 'word', expected ...". An empty word reads "end of line".
rh_code rh_text_reader_expected(const rh_text_reader *text, rh_word word, const char *expected, rh_status *status);
