// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The whole state of a run in one HDF5 file, to the bit, each dataset checksummed (Fletcher-32) so that damage is
// noticed. Layout: root attributes (format version, rheo version, scene hash, frame, time, step ...), group "points"
// with one dataset per attribute (and such a group for every other particle set, "sand.points"), group "state" with
// named blobs that the world and the physics put there.
#pragma once
#include <stdint.h>
#include "base/status.h"
#include "points/points.h"
#include "points/store.h"

typedef struct rh_checkpoint_writer rh_checkpoint_writer;
typedef struct rh_checkpoint_reader rh_checkpoint_reader;

// Everything goes to a temporary file; rh_checkpoint_commit makes it appear under `path`, rh_checkpoint_abandon drops
// it. Either ends the writer.
rh_code rh_checkpoint_create(const char *path, uint64_t scene_hash, rh_checkpoint_writer **out, rh_status *status);
rh_code rh_checkpoint_put_points(rh_checkpoint_writer *w, const rh_points *points, rh_status *status);
// Another particle set, as a group of that name.
rh_code rh_checkpoint_put_set(rh_checkpoint_writer *w, const char *name, const rh_points *points, rh_status *status);
rh_code rh_checkpoint_put_int(rh_checkpoint_writer *w, const char *name, int64_t value, rh_status *status);
rh_code rh_checkpoint_put_float(rh_checkpoint_writer *w, const char *name, double value, rh_status *status);
rh_code rh_checkpoint_put_blob(rh_checkpoint_writer *w, const char *name, const void *data, size_t bytes,
                               rh_status *status);
rh_code rh_checkpoint_commit(rh_checkpoint_writer *w, rh_status *status);
void rh_checkpoint_abandon(rh_checkpoint_writer *w);

rh_code rh_checkpoint_open(const char *path, rh_checkpoint_reader **out, uint64_t *scene_hash, rh_status *status);
// `points` is an initialised empty set; attributes are added as found in the file.
rh_code rh_checkpoint_get_points(rh_checkpoint_reader *r, rh_points *points, rh_status *status);
rh_code rh_checkpoint_get_set(rh_checkpoint_reader *r, const char *name, rh_points *points, rh_status *status);
rh_code rh_checkpoint_get_int(rh_checkpoint_reader *r, const char *name, int64_t *value, rh_status *status);
rh_code rh_checkpoint_get_float(rh_checkpoint_reader *r, const char *name, double *value, rh_status *status);
// *data is allocated (rh_free) and *bytes set; RH_IO when there is no such blob.
rh_code rh_checkpoint_get_blob(rh_checkpoint_reader *r, const char *name, void **data, size_t *bytes,
                               rh_status *status);
void rh_checkpoint_close(rh_checkpoint_reader *r);

// The same as a store (points/store.h).
rh_store rh_checkpoint_writer_store(rh_checkpoint_writer *w);
rh_store rh_checkpoint_reader_store(rh_checkpoint_reader *r);

// What is in a checkpoint, for `rheo info` (caller: rh_free).
char *rh_checkpoint_describe(const char *path, rh_status *status);
