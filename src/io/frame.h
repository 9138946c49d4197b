// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What every frame file carries besides its data.
#pragma once
#include <stdint.h>

typedef struct rh_frame_info {
    int64_t frame;  // number, from 1
    double time;    // s, simulated
    double fps;
    double cell;  // m, grid spacing of the simulation
    uint64_t scene_hash;
    int z_up;  // 1: coordinates are exported with z up: (x, y, z) -> (x, -z, y)
} rh_frame_info;
