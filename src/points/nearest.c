// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The nearest few of a list: a heap with the farthest on top.
#include "points/neighbours.h"

static bool before(const rh_neighbour_list *f, int64_t a, int64_t b)
{
    return f->distance[a] < f->distance[b] || (f->distance[a] == f->distance[b] && f->index[a] < f->index[b]);
}

static void exchange(rh_neighbour_list *f, int64_t a, int64_t b)
{
    uint32_t index = f->index[a];
    rh_vec3 offset = f->offset[a];
    float distance = f->distance[a];
    f->index[a] = f->index[b], f->offset[a] = f->offset[b], f->distance[a] = f->distance[b];
    f->index[b] = index, f->offset[b] = offset, f->distance[b] = distance;
}

// The farthest on top.
static void sift_down(rh_neighbour_list *f, int64_t at, int64_t count)
{
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= count) return;
        if (child + 1 < count && before(f, child, child + 1)) child++;
        if (!before(f, at, child)) return;
        exchange(f, at, child);
        at = child;
    }
}

rh_code rh_neighbours_nearest(const rh_neighbours *n, rh_vec3 place, float radius, int64_t most,
                              rh_neighbour_list *found, rh_status *status)
{
    RH_TRY(rh_neighbours_within(n, place, radius, found, status));
    int64_t kept = most < 0 ? 0 : most < found->count ? most : found->count;
    for (int64_t i = kept / 2 - 1; i >= 0; i--) sift_down(found, i, kept);
    for (int64_t i = kept; kept > 0 && i < found->count; i++)
        if (before(found, i, 0)) exchange(found, i, 0), sift_down(found, 0, kept);
    for (int64_t end = kept - 1; end > 0; end--) exchange(found, 0, end), sift_down(found, 0, end);
    found->count = kept;
    return RH_OK;
}
