// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Expressions on the grids of .vdb files (spec AX-20 to AX-23): a compiled program (lang/lang.h) meets data (io/vdb_data.h).
//
// Points: missing attributes are made, P is in the world, new groups and strings are put in after the pass, then points are moved and deleted. A points
// grid without points is left alone. Volumes: every `@name` is a grid, found by name and type; those the program writes are visited one after
// the other, and read the others as they were before. A missing one is made, empty. After a failure the data are half done: throw them away.
#pragma once
#include "io/vdb_data.h"

typedef struct rh_expression_options {
    const rh_lang_external *externals;
    int external_count;
    const char *group;       // only points of this group; NULL: all
    bool strict;             // a missing attribute or grid is an error
    rh_vdb_states states;    // voxels to visit
    int64_t steps;           // loop steps an element may take; 0: the default
    uint64_t seed;           // of rand() without a seed
} rh_expression_options;

// Adds up over calls; begin with zeros.
typedef struct rh_expression_report {
    int64_t points, deleted, voxels;  // visited; a tile that is not expanded counts as one
    int grids;                        // visited
    char *printed;                    // what print() collected; freed with rh_free
    int64_t printed_length, printed_lost;
} rh_expression_report;

// RH_USER with messages where data and program do not fit.
rh_code rh_expression_points(rh_vdb_data *data, int grid, const rh_lang_program *program, const rh_expression_options *options, rh_expression_report *report,
                             rh_lang_messages *messages, rh_status *status);
rh_code rh_expression_volumes(rh_vdb_data *data, const rh_lang_program *program, const rh_expression_options *options, rh_expression_report *report,
                              rh_lang_messages *messages, rh_status *status);
