// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A mesh that changes its form over time: files of the same topology, one a frame, as animation programs write them.
// Vertices move along straight lines from one frame to the next. The velocity of a vertex in a step is its displacement
// over the length of the step, so that a wall moves in the step by just its velocity times dt; a place between vertices
// moves as the nearest triangle does there.
//
// A sequence reads a file when it is first needed and keeps a few. A snapshot is the mesh at one time, and many may
// hold it; snapshots that nobody holds are kept until their memory is needed, as the end of a step is the start of the
// next. A sequence is not for several threads at once; snapshots are.
#pragma once
#include "base/status.h"
#include "solid/shape.h"

typedef struct rh_mesh_sequence rh_mesh_sequence;

// Reads and places one file of a sequence.
typedef rh_code (*rh_mesh_reader)(const char *file, const rh_mesh_sequence_params *params, const void *user,
                                  rh_mesh *mesh, rh_status *status);

typedef struct rh_mesh_sequence_options {
    const rh_mesh_sequence_params *params;  // borrowed for as long as the sequence lives
    int64_t count;                          // files, from params->first on
    double spacing;                         // m, of samples of the distance
    bool thin;                              // keeps triangles for exact distances (solid/thin.h)
    rh_mesh_reader read;
    const void *user;
} rh_mesh_sequence_options;

// The mesh of the sequence at one time.
typedef struct rh_mesh_snapshot {
    int64_t tick;      // when: two times with the same tick look the same
    rh_mesh_sdf *sdf;  // owned by the sequence
    int holders;       // how many hold it
    int64_t used;      // when it was last held, in uses of the sequence
} rh_mesh_snapshot;

// Name of the file with that number: the last run of # in the pattern stands for it, with leading zeros. False when
// there is none, or no room.
bool rh_mesh_sequence_file(const char *pattern, int64_t number, char *file, size_t room);

rh_code rh_mesh_sequence_create(const rh_mesh_sequence_options *options, rh_mesh_sequence **out, rh_status *status);
void rh_mesh_sequence_free(rh_mesh_sequence *sequence);  // when nobody holds a snapshot
// Reads every file: RH_USER when one cannot be read or has other triangles than the first.
rh_code rh_mesh_sequence_check(rh_mesh_sequence *sequence, rh_status *status);
int64_t rh_mesh_sequence_vertices(const rh_mesh_sequence *sequence);
bool rh_mesh_sequence_is_still(const rh_mesh_sequence *sequence);
// The tick of a time (s): 2^20 ticks are a frame. Times before the first and after the last file have the tick of what
// is seen then.
int64_t rh_mesh_sequence_tick(const rh_mesh_sequence *sequence, double time);

rh_code rh_mesh_sequence_hold(rh_mesh_sequence *sequence, double time, rh_mesh_snapshot **out, rh_status *status);
void rh_mesh_sequence_release(rh_mesh_snapshot *snapshot);  // NULL is nothing
// Velocities (m/s) of all vertices: how far they come in `dt` s from `time` on; with dt = 0 at that time.
rh_code rh_mesh_sequence_velocities(rh_mesh_sequence *sequence, double time, double dt, rh_vec3 *out,
                                    rh_status *status);
// Velocity of the surface next to a point, of velocities of vertices as above.
rh_dvec3 rh_mesh_sequence_velocity(const rh_mesh_sequence *sequence, const rh_mesh_snapshot *at,
                                   const rh_vec3 *velocities, rh_dvec3 point);
// Vertices at a time, as many as rh_mesh_sequence_vertices says.
rh_code rh_mesh_sequence_place(rh_mesh_sequence *sequence, double time, rh_vec3 *out, rh_status *status);
