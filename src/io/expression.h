// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Expressions on the grids of .vdb files: a compiled program (lang/lang.h) meets data (io/vdb_data.h).
//
// Points: missing attributes are made, P is in the world, new groups and strings are put in after the pass, then points
// are moved and deleted. A points grid without points is left alone. Volumes: every `@name` is a grid, found by name
// and type; those the program writes are visited one after the other, and read the others as they were before. A
// missing one is made, empty. After a failure the data are half done: throw them away.
#pragma once
#include <stdatomic.h>
#include "io/vdb_data.h"

// The program's @name is the data's attribute or grid of another name. One to one: a name that is bound away is free
// for others, so two can be swapped. P is always P.
typedef struct rh_expression_binding {
    const char *name, *data;
} rh_expression_binding;

typedef enum rh_expression_stream { RH_STREAM_AUTO, RH_STREAM_ON, RH_STREAM_OFF } rh_expression_stream;

typedef struct rh_expression_options {
    const rh_lang_external *externals;
    int external_count;
    const rh_expression_binding *bindings;
    int binding_count;
    const char *group;            // only points of this group; NULL: all
    bool strict;                  // a missing attribute or grid is an error
    rh_vdb_states states;         // voxels to visit
    unsigned skipped;             // levels of volumes that are left out, as in rh_vdb_volume_job
    rh_expression_stream stream;  // whether active tiles are visited voxel by voxel; automatic: where their voxels
                                  // could become different
    int64_t steps;                // loop steps an element may take; 0: the default
    uint64_t seed;                // of rand() without a seed
    const atomic_int *stop;       // loops end (RH_STOPPED) when it is not zero; NULL: nobody asks
} rh_expression_options;

// Adds up over calls; begin with zeros.
typedef struct rh_expression_report {
    int64_t points, deleted, voxels;  // visited; a tile that is not expanded counts as one
    int grids;                        // visited
    char *printed;                    // what print() collected; freed with rh_free
    int64_t printed_length, printed_lost;
} rh_expression_report;

// What the data call the program's @name.
const char *rh_expression_bound(const rh_expression_options *options, const char *name);
// RH_USER when bindings are not one to one, name P, or let two names of the program mean the same data.
rh_code rh_expression_bindings_check(const rh_expression_options *options, const rh_lang_listing *listing,
                                     rh_status *status);

// RH_USER with messages where data and program do not fit. RH_STOPPED when whoever watches the data wants it.
rh_code rh_expression_points(rh_vdb_data *data, int grid, const rh_lang_program *program,
                             const rh_expression_options *options, rh_expression_report *report,
                             rh_lang_messages *messages, rh_status *status);
rh_code rh_expression_volumes(rh_vdb_data *data, const rh_lang_program *program, const rh_expression_options *options,
                              rh_expression_report *report, rh_lang_messages *messages, rh_status *status);
