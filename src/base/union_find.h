// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Which of n things belong together: parent[i] starts as i, joins follow. The lower number wins, so the root of a part
// is its lowest member, whatever the order of the joins.
#pragma once
#include <stdint.h>

static inline int32_t rh_union_root(int32_t *parent, int32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];  // path halving
    return i;
}

// Returns the root of what is now one part.
static inline int32_t rh_union_join(int32_t *parent, int32_t i, int32_t j)
{
    int32_t one = rh_union_root(parent, i), other = rh_union_root(parent, j);
    int32_t low = one < other ? one : other, high = one < other ? other : one;
    parent[high] = low;
    return low;
}
