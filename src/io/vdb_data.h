// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// All grids of .vdb files in memory, as data for expressions (lang/lang.h): points with all their attributes and groups
// as they are stored, volumes of every value type with their active states and tiles. What is not touched is written
// again as it was read: codecs, uniform arrays, metadata, classes, transforms. C++ behind a C border as in io/vdb.h.
//
// Here is how data are visited; what is done to them is the visitor's affair (io/expression.h). A visitor is called
// from several threads at once, each with a slot of its own (0 to rh_threads() - 1), with blocks that do not depend on
// the number of threads.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"
#include "base/vec.h"
#include "io/frame.h"
#include "lang/lang.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rh_vdb_data rh_vdb_data;

// Somebody who is told how far reading, visiting, moving and writing are, and may stop them: RH_STOPPED then, and
// nothing is written.
typedef struct rh_vdb_watch {
    bool (*go_on)(void *user, const char *stage, double share);  // called often and from any thread; false: stop
    void *user;
} rh_vdb_watch;

// Grids of all files, in the order of files and their grids. RH_USER when a file is none, is damaged, or holds a grid
// of a type that could not be written again. `watch` (may be NULL) must outlive the data. *out is NULL on failure.
rh_code rh_vdb_data_read(const char *const *paths, int count, const rh_vdb_watch *watch, rh_vdb_data **out,
                         rh_status *status);
// Frame, time and so on of the first grid of ours; false when there is none.
bool rh_vdb_data_frame(const rh_vdb_data *data, rh_frame_info *out);
void rh_vdb_data_free(rh_vdb_data *data);
// The metadata of the first file are kept. The same data give the same bytes; whole or not at all.
rh_code rh_vdb_data_write(const char *path, const rh_vdb_data *data, rh_status *status);

typedef enum rh_vdb_kind { RH_VDB_OTHER, RH_VDB_POINTS, RH_VDB_VOLUME } rh_vdb_kind;
typedef struct rh_vdb_grid {
    const char *name;       // lives as long as the data
    const char *value;      // OpenVDB's name of its value type
    rh_vdb_kind kind;       // RH_VDB_OTHER: no type of the language
    rh_lang_type type;      // of a volume's values
    bool linear;            // its transform is affine
    double to_world[4][3];  // then: world = i row0 + j row1 + k row2 + row3
} rh_vdb_grid;
int rh_vdb_data_count(const rh_vdb_data *data);
rh_vdb_grid rh_vdb_data_grid(const rh_vdb_data *data, int grid);

// A visitor of a block: elements begin to end of `elements`, whose columns are in the order of the job. Columns count
// from element 0 even where the memory of a block does not begin there. Failures are the visitor's to remember; a code
// other than RH_OK ends the visit soon.
typedef struct rh_vdb_visitor {
    // Before `count` blocks that are visited in any order, and after them.
    rh_code (*prepare)(void *user, int64_t count, rh_status *status);
    rh_code (*finish)(void *user, rh_status *status);
    rh_code (*visit)(void *user, int slot, int64_t block, const int32_t origin[3], const rh_lang_elements *elements,
                     int64_t begin, int64_t end);
    void *user;
} rh_vdb_visitor;

// ---- points: element e is the e-th point in the order of leaves

typedef struct rh_vdb_points rh_vdb_points;
// A view of a points grid; `data` must outlive it.
rh_code rh_vdb_points_open(rh_vdb_data *data, int grid, rh_vdb_points **out, rh_status *status);
void rh_vdb_points_close(rh_vdb_points *points);
int64_t rh_vdb_points_count(const rh_vdb_points *points);

// Attributes, "P" included (always vec3f), groups not. An array with 2, 3, 4, 9 or 16 numbers a point is a vector or
// matrix: so are stored the types that OpenVDB has no arrays for, vec2 and vec4. RH_LANG_VOID: no type of the language;
// `stored` is then what to call it.
typedef struct rh_vdb_attribute {
    const char *name, *stored;
    rh_lang_type type;
} rh_vdb_attribute;
int rh_vdb_points_attributes(const rh_vdb_points *points);
rh_vdb_attribute rh_vdb_points_attribute(const rh_vdb_points *points, int attribute);
int rh_vdb_points_find(const rh_vdb_points *points, const char *name);  // -1: none
rh_code rh_vdb_points_add(rh_vdb_points *points, const char *name, rh_lang_type type,
                          rh_status *status);  // zeros, no codec
// All values of an attribute that is neither P nor string, decoded, one after the other.
rh_code rh_vdb_points_copy(const rh_vdb_points *points, int attribute, void *out, rh_status *status);
rh_code rh_vdb_points_positions(const rh_vdb_points *points, rh_vec3 *out, rh_status *status);  // in the world (m)

int rh_vdb_points_groups(const rh_vdb_points *points);
const char *rh_vdb_points_group(const rh_vdb_points *points, int group);
rh_code rh_vdb_points_group_read(const rh_vdb_points *points, const char *name, uint8_t *out,
                                 rh_status *status);  // 0 or 1 for each point
// Made when it is not there: names of groups given before are gone then.
rh_code rh_vdb_points_group_write(rh_vdb_points *points, const char *name, const uint8_t *member, rh_status *status);
// For an attribute of strings. Those given live in the points until an attribute or a group is added; those of `texts`
// are copied.
rh_code rh_vdb_points_texts(const rh_vdb_points *points, int attribute, rh_lang_text *out, rh_status *status);
rh_code rh_vdb_points_texts_write(rh_vdb_points *points, int attribute, const rh_lang_text *texts, rh_status *status);

typedef struct rh_vdb_points_job {
    const int *attributes;      // for each column; -1: the column is the visitor's own
    const bool *writes;         // whether it may be written
    const rh_lang_column *own;  // where the attribute is -1
    int count;
    const uint8_t *only;  // visit only points with a 1; NULL: all
} rh_vdb_points_job;
// One block a leaf, `origin` is zero. Columns are the arrays of the file where these have no codec; others are decoded,
// and what changed is encoded again.
rh_code rh_vdb_points_visit(rh_vdb_points *points, const rh_vdb_points_job *job, const rh_vdb_visitor *visitor,
                            rh_status *status);
// Drops the dead points and puts the others where they are now; either may be NULL. A point whose position has not
// changed keeps its bits. The order of points depends on positions and the old order only. Ends the view's usefulness:
// close it.
rh_code rh_vdb_points_rebuild(rh_vdb_points *points, const rh_vec3 *positions, const uint8_t *dead, rh_status *status);

// ---- volumes: an element is a voxel of a leaf, its number is that within the leaf

rh_code rh_vdb_volume_add(rh_vdb_data *data, const char *name, rh_lang_type type, int *grid,
                          rh_status *status);  // empty, zero outside, voxels of 1 m
// From here on readers see a copy of what is in the grid now, until rh_vdb_data_forget.
rh_code rh_vdb_data_remember(rh_vdb_data *data, int grid, rh_status *status);
void rh_vdb_data_forget(rh_vdb_data *data);

typedef enum rh_vdb_states { RH_VDB_ON, RH_VDB_OFF, RH_VDB_ALL } rh_vdb_states;
typedef struct rh_vdb_volume_job {
    const int *grids;    // for each column
    const bool *reads;   // whether its values matter
    const bool *writes;  // what is written to columns other than the target is lost
    int count, target;   // the column whose grid is visited
    rh_vdb_states states;
    unsigned skipped;  // levels of the tree that are left out, a bit each: 0 leaves, 1 to 3 tiles of 8^3, 128^3, 4096^3
                       // voxels
    bool expand;  // visit the voxels of active tiles; a tile whose voxels stay equal stays a tile. Else a tile is one
                  // element
} rh_vdb_volume_job;
// Values of other grids are taken at the same index where the transforms are equal, else at the voxel nearest to the
// voxel's place in the world. An inactive tile is one element (its corner) in any case.
rh_code rh_vdb_volume_visit(rh_vdb_data *data, const rh_vdb_volume_job *job, const rh_vdb_visitor *visitor,
                            rh_status *status);

#ifdef __cplusplus
}
#endif
