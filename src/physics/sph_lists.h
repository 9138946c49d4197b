// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Lists of neighbours: for every particle the particles and the wall samples within the support, for loops over eight
// at a time. A list is filled up to a multiple of eight with the number `nobody` = the number of particles (samples),
// whose record is far away. A particle is not in its own list. The relation is symmetric. Beside thin walls a pair
// counts only when the line between the two does not cross the wall.
//
// Numbers are stored as they are, 4 bytes each, some 40 a particle, and are read from memory in one stream. A loop that
// searched again would read less, but test some 165 candidates for 30 neighbours: the search takes a third of a step in
// which lists are read eight times.
#pragma once
#include "physics/sph_walls.h"

typedef struct rh_sph_list {
    uint32_t *first;  // [count + 1] where the list of each begins, in eights
    uint32_t *near;   // [8 first[count]]
    uint32_t nobody;
    int64_t room;  // eights that there is memory for; owned by whoever keeps the list between steps
} rh_sph_list;

typedef struct rh_sph_lists {
    rh_sph_list fluid, walls;
    int64_t first_room;
} rh_sph_lists;

void rh_sph_lists_free(rh_sph_lists *lists);

typedef struct rh_sph_search {
    const rh_sph_kernel *kernel;
    const rh_tiles *tiles;  // sorted
    const rh_obstacles *obstacles;
    const rh_sph_walls *walls;
    int64_t count;
    const float *x, *y, *z;  // [count + 8]
    float *density;          // [count] out: of particles and walls, relative, the particle itself included
    float *covered;          // [count] out: samples seen, each counted by its volume, as of a flat wall
    const float *reach;  // [count + 8] m: pairs nearer than the larger of the two count, where that is more than the
                         // support (`within`), up to RH_SPH_FARTHEST cells; NULL: all within the support
    float within;        // m: pairs of particles nearer than this count, instead of the support, also for the density;
                         // 0: the support
} rh_sph_search;

// Fills the lists, and density and covered on the way. `*lists` is all zeros before the first time; its memory is used
// again.
rh_code rh_sph_lists_build(rh_sph_lists *lists, const rh_sph_search *search, rh_arena *arena, rh_status *status);

// Eight records of four floats each, by number: out[c][lane] is float c of record near[lane].
static inline void rh_sph_gather(const float *records, const uint32_t near[8], rh_f8 out[4])
{
    rh_f4 r[8];
    for (int n = 0; n < 8; n++) r[n] = rh_f4_load(records + 4 * (uint64_t)near[n]);
    rh_f8 a = __builtin_shufflevector(r[0], r[4], 0, 1, 2, 3, 4, 5, 6, 7),
          b = __builtin_shufflevector(r[1], r[5], 0, 1, 2, 3, 4, 5, 6, 7),
          c = __builtin_shufflevector(r[2], r[6], 0, 1, 2, 3, 4, 5, 6, 7),
          d = __builtin_shufflevector(r[3], r[7], 0, 1, 2, 3, 4, 5, 6, 7);
    rh_f8 ab = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13),  // x0 x1 y0 y1
        cd = __builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13),
          AB = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15),  // z0 z1 w0 w1
        CD = __builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
    out[0] = __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13);
    out[1] = __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
    out[2] = __builtin_shufflevector(AB, CD, 0, 1, 8, 9, 4, 5, 12, 13);
    out[3] = __builtin_shufflevector(AB, CD, 2, 3, 10, 11, 6, 7, 14, 15);
}
