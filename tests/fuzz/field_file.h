// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Files of fields as a wrong or hostile program would write them, made with OpenVDB itself: for fuzz_vdb_fields.c.
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum { FIELD_FILE_LEAVES = 4 };

typedef struct field_file_grid {
    int type;          // 0: float, 1: vec3s, 2: int32
    const char *name;  // of the grid
    const char *kind;  // what it says it is; NULL: nothing
    int64_t dimension;
    bool dimension_is_text, z_up, tile;  // tile: also one active tile, which is no leaf
    double cell;                         // m
    float background, value;
    int leaves;
    int32_t at[FIELD_FILE_LEAVES][3];  // voxels that have the value
} field_file_grid;

#ifdef __cplusplus
extern "C"
#endif
    void
    field_file_write(const char *path, const field_file_grid *grids, int count);
