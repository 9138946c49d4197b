// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// .vdb files as other programs write them, for the tests of our readers.
#pragma once
#include "base/random.h"

// The points of foreign_points: positions in a cube of 2 m, velocities of order 1 m/s, sizes.
static inline void foreign_point(int i, float position[3], float velocity[3])
{
    for (int a = 0; a < 3; a++) {
        position[a] = 2 * rh_random(5, (uint64_t)i, 0, (uint32_t)a) - 1;
        velocity[a] = 2 * rh_random(6, (uint64_t)i, 0, (uint32_t)a) - 1;
    }
}
static inline float foreign_size(int i) { return 0.01f + 0.02f * rh_random(7, (uint64_t)i, 0, 0); }
// How many of them are in the group "fast".
static inline int foreign_fast(int count)
{
    int fast = 0;
    for (int i = 0; i < count; i++) fast += foreign_size(i) > 0.02f;
    return fast;
}

// Points as Houdini packs them: P in 16-bit fixed point, v and pscale (float) as halves, N as packed directions; those
// of a size above 0.02 in a group "fast", all in a group with the name of an attribute, "v".
void foreign_points(const char *path, int count);
// A ball of 1 m around (0.3, 0, 0) as level set "liquid", in halves, 0.1 m voxels, four to each side; a vec3 grid "Cd"
// on its voxels that is (1, 2, 3) with a tile of (4, 5, 6) over the voxels from 0 to 127; a fog "density" with other
// voxels and a bool grid "mask".
void foreign_surface(const char *path);
// A level set whose voxels are twice as high as wide.
void foreign_stretched(const char *path);
