// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the viewer's page gets: messages that hold a frame's particles, a surface or the solids of a scene, made small.
//
// A message is the four letters of its kind, the length of its description (uint32), the description (JSON, filled up
// with blanks so that the data starts at a multiple of 8 bytes) and the data. All numbers are little endian, all
// coordinates in metres with y up whatever the files say.
//
// Planes: how rows of 16-bit or 32-bit numbers are laid out. Each number becomes its difference to the one before
// (modulo the width), folded to 0, -1, 1, -2 ... = 0, 1, 2, 3 ..., then all lowest bytes come first, then all second
// bytes and so on. Neighbours in a file are neighbours in space, so the upper planes are almost all zeros and deflate
// finds them.
//
//   "RHP1" particles  count x (x, y, z, value): four rows of uint16 in planes, one row after the other
//   "RHM1" surface    vertices x (x, y, z): three rows of uint16 in planes; normals as three rows of int8
//                     (127 = 1), as they are; 3 x triangles indices: one row of uint32 in planes
//   "RHS1" solids     for each: vertices x 3 float32, triangles x 3 uint32, poses x 12 float32 (rows of a
//                     3 x 4 matrix), as they are
//   "RHV1" vertices   of each solid that changes its form: vertices x 3 float32, as they are
//
// A coordinate q stands for box.min + q / 65535 * (box.max - box.min), so it is off by at most half of 1/65535 of the
// box (and the rounding of a float). A value q up to 65534 stands for low + q / 65534 * (high - low); 65535 is a value
// that is not finite.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"
#include "io/frame.h"
#include "points/points.h"
#include "scene/scene.h"
#include "solid/mesh.h"
#include "world/solid_file.h"

enum { RH_WIRE_POINTS = 1000000, RH_WIRE_POSES = 20000, RH_WIRE_NO_VALUE = 65535, RH_WIRE_NAME = RH_POINT_NAME + 2 };

typedef struct rh_message {
    uint8_t *bytes;  // owned
    size_t count, room;
} rh_message;

void rh_message_free(rh_message *message);

typedef struct rh_wire_view {
    const char *attribute;  // "v" (a vector's length), "v.x" (a component), "radius" ...; NULL or unknown = no value,
                            // the description says so
    int64_t limit;          // most particles to send
} rh_wire_view;

// Particles that are not finite are left out. Above the limit a part is sent that depends on the particles' ids alone,
// so that those that are shown stay shown from frame to frame. The description: frame, time, total, finite, count, box,
// attribute, range, typical (the range without the outermost hundredths), radius, and the list of attributes.
rh_code rh_wire_points(const rh_points *points, const rh_frame_info *info, const rh_wire_view *view, rh_message *out,
                       rh_status *status);

// A surface with smooth normals. The mesh is in the axes of its file.
rh_code rh_wire_surface(const rh_mesh *mesh, int64_t frame, bool z_up, rh_message *out, rh_status *status);

// Solids, emitters and sinks of a scene as triangles with their poses at each frame (one pose when they rest). A mesh
// that cannot be read gives an entry that says why, without triangles. The description also has "bounds", the box of
// all that has an end. `frames`: where dynamic solids were, as far as the run has come.
rh_code rh_wire_solids(const rh_scene *scene, const rh_solid_frame *frames, int64_t frame_count, rh_message *out,
                       rh_status *status);

// Where the vertices of solids that follow sequences of meshes are in a frame, in the solids' own space.
rh_code rh_wire_vertices(const rh_scene *scene, int64_t frame, rh_message *out, rh_status *status);

// A shape of a scene as triangles in its own space, counter-clockwise from outside. A plane becomes a square of half
// side `reach` around the point of it nearest to `center`. In two dimensions (`thickness` > 0) it becomes a slab of
// that thickness at z = 0.
rh_code rh_wire_shape(const rh_variant *shape, rh_dvec3 center, double reach, double thickness, rh_mesh *out,
                      rh_status *status);

// The depth of a mesh in two dimensions, which says nothing: all of it within a slab at z = 0.
void rh_wire_flatten(rh_mesh *mesh, double thickness);

// Replaces the bytes by their gzip form.
rh_code rh_wire_gzip(rh_message *message, rh_status *status);

// --- parts for those who write messages ------------------------------------------------------------------------------
rh_code rh_message_append(rh_message *message, const void *bytes, size_t count, rh_status *status);
rh_code rh_message_print(rh_message *message, rh_status *status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
rh_code rh_message_text(rh_message *message, const char *text, rh_status *status);  // a JSON string with its quotes
rh_code rh_message_number(rh_message *message, double value, rh_status *status);    // null when not finite
rh_code rh_message_box(rh_message *message, const char *key, rh_dbox box,
                       rh_status *status);  // "key":[x, y, z, x, y, z]
// Puts the kind and the length before the description in `message` and fills it up.
rh_code rh_message_describe(rh_message *message, const char kind[5], rh_status *status);
// Appends a row of `count` numbers of `width` bytes (2 or 4) in planes.
rh_code rh_message_planes(rh_message *message, const void *numbers, int64_t count, int width, rh_status *status);
