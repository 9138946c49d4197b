// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the PLY readers share: the header, and numbers of records one by one with the place where they stand. Ascii and
// binary of both byte orders, any elements and properties in any order. Order of work: open -> header -> the reader
// gives roles to the properties it wants -> elements as they come: count checked against the size of the file, then
// record by record -> close.
#pragma once
#include "base/vec.h"
#include "io/frame.h"
#include "io/mesh_build.h"
#include "points/points.h"

typedef enum rh_ply_type {
    RH_PLY_INT8,
    RH_PLY_UINT8,
    RH_PLY_INT16,
    RH_PLY_UINT16,
    RH_PLY_INT32,
    RH_PLY_UINT32,
    RH_PLY_FLOAT32,
    RH_PLY_FLOAT64,
    RH_PLY_TYPES
} rh_ply_type;
extern const int rh_ply_type_size[RH_PLY_TYPES];  // bytes

typedef struct rh_ply_property {
    rh_word name;
    bool list;
    rh_ply_type count_type, type;
    int role;  // the reader's own; 0 is for what is passed over
} rh_ply_property;

typedef struct rh_ply_element {
    rh_word name, count_word;
    int64_t count;
    int first, properties;  // range of rh_ply.properties
} rh_ply_element;

typedef enum rh_ply_encoding { RH_PLY_ASCII, RH_PLY_LITTLE, RH_PLY_BIG, RH_PLY_UNKNOWN } rh_ply_encoding;

typedef struct rh_ply {
    rh_text_reader text;  // the header; for ascii files also the data
    rh_ply_encoding encoding;
    const char *data;  // whole file; the caller's
    size_t at, bytes;  // binary data: where we are
    rh_ply_element *elements;
    rh_ply_property *properties;
    int element_count, element_capacity, property_count, property_capacity;
} rh_ply;

// `name` is used in messages. The byte after the last must be readable and zero, as rh_file_read leaves it.
rh_ply rh_ply_open(const char *name, const char *data, size_t bytes);
void rh_ply_close(rh_ply *r);
rh_code rh_ply_read_header(rh_ply *r, rh_status *status);
rh_ply_element *rh_ply_find_element(rh_ply *r, const char *name);                             // NULL when missing
rh_ply_property *rh_ply_find_property(rh_ply *r, const rh_ply_element *e, const char *name);  // NULL when missing

// Refuses a count that the rest of the file cannot hold, before anything is allocated by it.
rh_code rh_ply_check_count(const rh_ply *r, const rh_ply_element *e, rh_status *status);
rh_code rh_ply_begin_record(rh_ply *r, const rh_ply_element *e, rh_status *status);
rh_code rh_ply_end_record(rh_ply *r, rh_status *status);
enum { RH_PLY_PLACE = 64 };
// One number; `place` (RH_PLY_PLACE characters, may be NULL) receives where it stands.
rh_code rh_ply_take(rh_ply *r, rh_ply_type type, const char *expected, double *value, char *place, rh_status *status);
rh_code rh_ply_take_length(rh_ply *r, const rh_ply_property *p, int64_t *length, char *place, rh_status *status);
// Moves over numbers that may be anything.
rh_code rh_ply_pass_over(rh_ply *r, rh_ply_type type, int64_t count, rh_status *status);
rh_code rh_ply_skip(rh_ply *r, const rh_ply_property *p, rh_status *status);  // a property of a record, list or not

// rh_ply_read_points from memory.
rh_code rh_ply_parse_points(const char *name, const char *data, size_t bytes, rh_points *points, rh_frame_info *info,
                            rh_status *status);

// A colour from 0 to 1 as three bytes.
void rh_ply_put_colour(char to[3], rh_vec3 colour);
