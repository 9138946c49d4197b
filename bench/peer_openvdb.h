// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The peer of surfacing: OpenVDB's own rasteriser of particles (openvdb/tools/ParticlesToLevelSet.h), called as its
// documentation says.
#pragma once
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct bench_peer_result {
    double seconds;                 // grid, spheres and pruning; not giving the grid back
    int64_t active, leaves, bytes;  // of the distance grid; bytes: also of the grid of velocities
    char message[256];              // when it failed
} bench_peer_result;

// Spheres of one radius (m) around `count` points, half width 3 voxels. `velocities` (m/s) are carried to the surface
// unless NULL. False when it failed, or left points out.
bool bench_peer_openvdb(const float *positions, const float *velocities, int64_t count, float radius, double voxel,
                        int threads, bench_peer_result *out);

#ifdef __cplusplus
}
#endif
