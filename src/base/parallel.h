// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The rules that make every result the same for any number of threads:
//  * a parallel loop writes only what its own index owns (a tile, a block of particles); who runs it does not matter;
//  * a sum is taken per block of fixed size (a tile, RH_BLOCK particles) into an array of partial sums, which are then
//    added in a fixed pairwise order by rh_sum; blocks never depend on the number of threads;
//  * random numbers come from counters (random.h), never from a per-thread state.
// Loops are plain OpenMP (`#pragma omp parallel for schedule(dynamic, n)`).
#pragma once
#include <stdint.h>

enum { RH_BLOCK = 4096 };  // particles per block of a blocked loop or sum

static inline int64_t rh_blocks(int64_t count) { return (count + RH_BLOCK - 1) / RH_BLOCK; }
static inline int64_t rh_block_end(int64_t block, int64_t count)
{
    int64_t end = (block + 1) * RH_BLOCK;
    return end < count ? end : count;
}

// Pairwise sum in fixed order; error grows like log2(count).
double rh_sum(const double *values, int64_t count);
double rh_max(const double *values, int64_t count);  // 0 for none

void rh_threads_set(int count);  // of the current context (context.h); 0 = all cores
int rh_threads(void);
int rh_thread(void);  // 0 .. rh_threads() - 1 inside a parallel loop: picks scratch memory, never a result
