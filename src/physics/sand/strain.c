// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Central differences on the staggered grid, from faces that have a projected velocity and no others: those beyond the
// surface and in walls hold what was there before the projection.
//
// Along its own axis a component is differentiated between the two faces of the cell. Where a wall closes one of them
// the velocity there is not known (sand may slide along an inclined wall), but the flow has no divergence: then that
// part is minus the sum of the others. Across, it is the mean of the faces in the next cell minus that in the one
// before, or one of them against the cell itself. All of it is exact for linear fields, so for rotations.
#include "physics/sand/strain.h"

#include <math.h>
#include <string.h>

void rh_strain_load_known(const rh_incompressible_view *view, int32_t t, uint8_t known[RH_STRAIN_VALUES])
{
    const rh_tiles *tiles = view->tiles;
    int values = rh_block_values(tiles, RH_STRAIN_HALO);
    uint8_t one[RH_STRAIN_VALUES];
    memset(known, 0, (size_t)values);
    for (int a = 0; a < tiles->dimension; a++) {
        rh_block_load_u8(tiles, view->known[a], t, RH_STRAIN_HALO, 0, one);
        for (int n = 0; n < values; n++) known[n] |= (uint8_t)((one[n] != 0) << a);
    }
}

void rh_strain_load_velocity(const rh_tiles *tiles, rh_faces velocity, int32_t t, rh_strain_block *block)
{
    RH_ASSERT(t >= 0 && t < tiles->count);
    block->dimension = tiles->dimension;
    for (int a = 0, step = 1; a < 3; a++, step *= RH_STRAIN_SIDE) block->step[a] = step;
    for (int a = 0; a < tiles->dimension; a++)
        rh_block_load(tiles, velocity.axis[a], t, RH_STRAIN_HALO, 0, block->u[a]);
}

void rh_strain_load(const rh_incompressible_view *view, rh_faces velocity, int32_t t, rh_strain_block *block)
{
    rh_strain_load_known(view, t, block->known);
    rh_strain_load_velocity(view->tiles, velocity, t, block);
}

static inline int is_known(const rh_strain_block *b, int a, int at) { return b->known[at] >> a & 1; }

// How many faces of axis a the cell has that are known; their mean velocity.
static inline int mean_of(const rh_strain_block *b, int a, int at, float *mean)
{
    int low = is_known(b, a, at), high = is_known(b, a, at + b->step[a]);
    *mean = ((float)low * b->u[a][at] + (float)high * b->u[a][at + b->step[a]]) * (low + high == 2 ? 0.5f : 1);
    return low + high;
}

static inline void push_mean(const rh_strain_block *b, int a, int at, float by, float force[3][RH_STRAIN_VALUES])
{
    int low = is_known(b, a, at), high = is_known(b, a, at + b->step[a]);
    float part = low + high == 2 ? 0.5f * by : by;
    if (low) force[a][at] += part;
    if (high) force[a][at + b->step[a]] += part;
}

// The change of component a across the cell along b is plus * next + own * here + minus * last, of the means of its
// faces in the next cell, the cell itself and the last one. `there`: it can be found.
typedef struct across {
    bool there;
    float plus, own, minus;
} across;

static inline across across_of(const rh_strain_block *b, int a, int along, int at)
{
    const uint8_t *known = b->known;
    int to = b->step[a], by = b->step[along];
    bool next = (known[at + by] | known[at + by + to]) >> a & 1, last = (known[at - by] | known[at - by + to]) >> a & 1;
    bool own = (known[at] | known[at + to]) >> a & 1;
    if (next && last) return (across){true, 0.5f, 0, -0.5f};
    if (!own || !(next || last)) return (across){.there = false};
    return next ? (across){true, 1, -1, 0} : (across){true, 0, 1, -1};
}

static inline float value_across(const rh_strain_block *b, int a, int along, int at, across w)
{
    float next = 0, own = 0, last = 0;
    mean_of(b, a, at + b->step[along], &next);
    mean_of(b, a, at, &own);
    mean_of(b, a, at - b->step[along], &last);
    return w.plus * next + w.own * own + w.minus * last;
}

// Which axes have both faces known, and the one that has not, or -1; -2 when there are more than one.
static inline int missing_axis(const rh_strain_block *b, int at, bool both[3])
{
    int missing = -1;
    for (int a = 0; a < b->dimension; a++) {
        both[a] = is_known(b, a, at) && is_known(b, a, at + b->step[a]);
        if (!both[a]) missing = missing == -1 ? a : -2;
    }
    return missing;
}

static const int PAIR[3][2] = {{0, 1}, {0, 2}, {1, 2}};

rh_strain rh_strain_of(const rh_strain_block *b, int at)
{
    rh_strain s = {{0}};
    bool both[3];
    int missing = missing_axis(b, at, both);
    float trace = 0;
    for (int a = 0; a < b->dimension; a++)
        if (both[a]) trace += s.at[a] = b->u[a][at + b->step[a]] - b->u[a][at];
    if (missing >= 0) s.at[missing] = -trace, trace = 0;
    for (int a = 0; a < b->dimension; a++) s.at[a] -= trace / (float)b->dimension;
    for (int n = 0; n < (b->dimension == 3 ? 3 : 1); n++) {
        int a = PAIR[n][0], c = PAIR[n][1];
        across first = across_of(b, a, c, at), second = across_of(b, c, a, at);
        if (first.there && second.there)
            s.at[3 + n] = 0.5f * (value_across(b, a, c, at, first) + value_across(b, c, a, at, second));
    }
    return s;
}

static inline void push_across(const rh_strain_block *b, int a, int along, int at, across w, float by,
                               float force[3][RH_STRAIN_VALUES])
{
    if (w.plus != 0) push_mean(b, a, at + b->step[along], w.plus * by, force);
    if (w.own != 0) push_mean(b, a, at, w.own * by, force);
    if (w.minus != 0) push_mean(b, a, at - b->step[along], w.minus * by, force);
}

void rh_strain_add_divergence(const rh_strain_block *b, int at, rh_strain stress, float force[3][RH_STRAIN_VALUES])
{
    bool both[3];
    int missing = missing_axis(b, at, both);
    for (int a = 0; a < b->dimension; a++) {
        if (!both[a]) continue;
        float by = stress.at[a] - (missing >= 0 ? stress.at[missing] : 0);
        force[a][at] += by;
        force[a][at + b->step[a]] -= by;
    }
    for (int n = 0; n < (b->dimension == 3 ? 3 : 1); n++) {
        int a = PAIR[n][0], c = PAIR[n][1];
        across first = across_of(b, a, c, at), second = across_of(b, c, a, at);
        if (!first.there || !second.there) continue;
        push_across(b, a, c, at, first, -stress.at[3 + n], force);
        push_across(b, c, a, at, second, -stress.at[3 + n], force);
    }
}

float rh_strain_size(rh_strain s)
{
    const float *d = s.at;
    return sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 2 * (d[3] * d[3] + d[4] * d[4] + d[5] * d[5]));
}
