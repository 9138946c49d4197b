// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// From the fields of the leaves to a distance on both sides of the surface.
//
// Inside, the minimum over shapes is no distance: it ripples between the centres, and gaps between particles are holes.
// What is right is the field outside. So the inside is made anew: with D(x) the distance of a voxel inside to the front
// {field = close}, by fast sweeping, the result is close - D. That is a morphological closing - dilation by `close`,
// then erosion by as much: gaps and voids that a ball of radius `close` cannot enter are filled, everything else stays
// where it was. Voxels outside keep their field: a point at least `close` away from the shapes is as far from the
// closed set as from the shapes.
//
// Leaves far inside are not stored; the band reaches 8 voxels at most and touches only leaves next to one that is not
// wholly inside.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "base/parallel.h"
#include "grid/bits.h"
#include "grid/levelset.h"
#include "surface/parts.h"

typedef struct finisher {
    const rh_finish *finish;
    const rh_leaves *from;
    rh_tiles tiles;       // the leaves that are kept, axes turned round
    int32_t *source;      // of each: its leaf in `from`
    const float **field;  // [count] voxels, as the shapes say; where they say nothing, deep inside, all are `deep`
    float *deep;          // a leaf of the same value, inside of the front
    float *phi;           // [count * 512] m from the front, a distance: becomes the band's values
    rh_bits *inside, *todo;
    rh_band *band;
} finisher;

// --- which leaves ----------------------------------------------------------------------------------------------------
// Leaves wholly inside that are near to others: `rings` leaves far.
static rh_code mark_kept(const rh_leaves *leaves, int rings, uint8_t *kept, rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = &leaves->tiles;
    rh_arena_mark mark = rh_arena_save(arena);
    uint8_t *next = rh_arena_take(arena, (size_t)tiles->count + 1, status);
    if (!next) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) kept[t] = leaves->field[t] && !leaves->inside[t];
    for (int ring = 0; ring < rings; ring++) {
#pragma omp parallel for schedule(static)
        for (int32_t t = 0; t < tiles->count; t++) {
            next[t] = kept[t];
            for (int n = 0; n < RH_NEAR && leaves->inside[t] && !next[t]; n++) {
                int32_t other = tiles->near[t][n];
                next[t] = other < 0 || !leaves->inside[other] || kept[other];
            }
        }
        memcpy(kept, next, (size_t)tiles->count);
    }
    rh_arena_restore(arena, mark);
    return RH_OK;
}

static rh_code choose_leaves(finisher *f, rh_arena *arena, rh_status *status)
{
    const rh_leaves *from = f->from;
    double voxel = f->finish->cloud->voxel;
    int rings = 1 + (int)((f->finish->close + f->finish->band) / RH_TILE);
    rh_arena_mark mark = rh_arena_save(arena);
    uint8_t *kept = rh_arena_take(arena, (size_t)from->tiles.count + 1, status);
    rh_vec3 *centres = rh_arena_take(arena, ((size_t)from->tiles.count + 1) * sizeof *centres, status);
    if (!kept || !centres) return RH_MEMORY;
    RH_TRY(mark_kept(from, rings, kept, arena, status));
    int64_t count = 0;
    for (int32_t t = 0; t < from->tiles.count; t++) {
        rh_tile at = from->tiles.at[t];
        if (kept[t])
            centres[count++] = rh_v3(((float)(8 * at.x) + 4.5f) * (float)voxel,
                                     ((float)(8 * at.y) + 4.5f) * (float)voxel,
                                     ((float)(8 * at.z) + 4.5f) * (float)voxel);
    }
    RH_TRY(rh_leaf_tiles(&f->tiles, voxel, centres, count, mark, arena, status));
    f->source = rh_arena_take(arena, ((size_t)f->tiles.count + 1) * sizeof *f->source, status);
    if (!f->source) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < f->tiles.count; t++) f->source[t] = rh_tiles_find(&from->tiles, f->tiles.at[t]);
    return RH_OK;
}

// --- distances -------------------------------------------------------------------------------------------------------
// The fields of the leaves that were kept; which voxels are inside.
static void find_inside(finisher *f)
{
    float close = f->finish->close;
    for (int c = 0; c < RH_LEAF; c++) f->deep[c] = close - 1;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < f->tiles.count; t++) {
        const float *field = f->from->field[f->source[t]];
        rh_bits bits = {{0}};
        f->field[t] = field ? field : f->deep;
        for (int c = 0; c < RH_LEAF; c += RH_TILE)
            bits.layer[c >> 6] |= (uint64_t)rh_i8_bits(rh_f8_load(f->field[t] + c) < close) << (c & 63);
        f->inside[t] = bits;
    }
}

// Voxels with a neighbour on the other side of the front.
static rh_bits next_to_front(const finisher *f, int32_t t)
{
    rh_bits out = {{0}};
    for (int axis = 0; axis < 3; axis++) {
        rh_bits below = rh_bits_below(&f->tiles, f->inside, t, axis),
                above = rh_bits_above(&f->tiles, f->inside, t, axis);
        for (int k = 0; k < RH_TILE; k++)
            out.layer[k] |= (below.layer[k] ^ f->inside[t].layer[k]) | (above.layer[k] ^ f->inside[t].layer[k]);
    }
    return out;
}

// Distance to the front from where it cuts the edges to the neighbours, voxels: along each axis the nearer cut, and of
// the plane through them.
static float distance_to_cuts(const float *block, int at, float close)
{
    static const int step[3] = {1, RH_TILE + 2, (RH_TILE + 2) * (RH_TILE + 2)};
    float own = block[at] - close, sum = 0;
    for (int a = 0; a < 3; a++) {
        float nearest = 2;
        for (int d = -1; d <= 1; d += 2) {
            float other = block[at + d * step[a]] - close;
            if ((other < 0) == (own < 0)) continue;
            nearest = rh_min(nearest, own / (own - other));
        }
        if (nearest <= 1) sum += 1 / (rh_max_of(nearest, 1e-4f) * rh_max_of(nearest, 1e-4f));
    }
    return 1 / sqrtf(sum);
}

// The start values of one leaf, metres from the front; the sweep does the rest.
static void start_leaf(const finisher *f, int32_t t, float *out)
{
    const rh_finish *finish = f->finish;
    float block[(RH_TILE + 2) * (RH_TILE + 2) * (RH_TILE + 2)], voxel = (float)finish->cloud->voxel,
                                                                far = (finish->close + finish->band) * voxel;
    rh_bits front = next_to_front(f, t);
    bool any = rh_bits_any(&f->tiles, &front);
    if (any) rh_block_load_apart(&f->tiles, f->field, t, 1, finish->far, block);
    for (int k = 0; k < RH_TILE; k++)
        f->todo[t].layer[k] = finish->is_distance ? f->inside[t].layer[k] & ~front.layer[k] : ~front.layer[k];
    for (int c = 0; c < RH_LEAF; c++) {
        bool inside = f->inside[t].layer[c >> 6] >> (c & 63) & 1, edge = front.layer[c >> 6] >> (c & 63) & 1;
        float d = far;
        if (finish->is_distance && !inside) d = (f->field[t][c] - finish->close) * voxel;
        else if (edge)
            d = voxel * distance_to_cuts(block, rh_block_index(&f->tiles, 1, c & 7, c >> 3 & 7, c >> 6), finish->close);
        out[c] = inside ? -d : d;
    }
}

static rh_code make_distances(finisher *f, rh_arena *arena, rh_status *status)
{
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < f->tiles.count; t++) start_leaf(f, t, f->phi + (int64_t)t * RH_LEAF);
    return rh_levelset_sweep(&f->tiles, f->phi, f->todo, f->finish->close + f->finish->band, arena, status);
}

// --- the band --------------------------------------------------------------------------------------------------------
// From the distance to the front to that of the surface; which voxels are active. Filling can only add: nothing is
// farther outside than the shapes say. A sweep of first order falls short in the middle of small things and would
// shrink droplets.
static void cut_band(finisher *f)
{
    float voxel = (float)f->finish->cloud->voxel, close = f->finish->close * voxel, most = f->band->background;
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < f->tiles.count; t++) {
        rh_bits active = {{0}};
        bool bound = f->finish->is_distance && f->field[t] != f->deep;
        for (int c = 0; c < RH_LEAF; c += RH_TILE) {
            float *row = f->phi + (int64_t)t * RH_LEAF + c;
            rh_f8 value = rh_f8_load(row) + close;
            if (bound) value = rh_f8_min(value, rh_f8_load(f->field[t] + c) * voxel);
            active.layer[c >> 6] |= (uint64_t)rh_i8_bits(rh_f8_abs(value) < most) << (c & 63);
            rh_f8_store(row, rh_f8_max(rh_f8_min(value, rh_f8_all(most)), rh_f8_all(-most)));
        }
        f->inside[t] = active;
    }
}

static int compare_places(const void *a, const void *b, void *user)
{
    const rh_tile *at = user;
    rh_tile x = at[*(const int32_t *)a], y = at[*(const int32_t *)b];
    if (x.x != y.x) return x.x < y.x ? -1 : 1;
    if (x.y != y.y) return x.y < y.y ? -1 : 1;
    return x.z < y.z ? -1 : x.z > y.z;
}

// Moves leaves without an active voxel out; what stays keeps its order.
static rh_code pack(finisher *f, rh_status *status)
{
    rh_band *band = f->band;
    size_t most = (size_t)f->tiles.count + 1;
    band->at = rh_alloc(most * sizeof *band->at, "surface.band", status);
    band->active = rh_alloc(most * sizeof *band->active, "surface.band", status);
    band->by_place = rh_alloc(most * sizeof *band->by_place, "surface.band", status);
    if (!band->at || !band->active || !band->by_place) return RH_MEMORY;
    int32_t count = 0;
    for (int32_t t = 0; t < f->tiles.count; t++) {
        if (!rh_bits_any(&f->tiles, &f->inside[t])) continue;
        band->at[count] = rh_leaf_turned(f->tiles.at[t]);
        band->active[count] = f->inside[t];
        f->source[count] = f->source[t];
        if (count != t)
            memcpy(f->phi + (int64_t)count * RH_LEAF, f->phi + (int64_t)t * RH_LEAF, RH_LEAF * sizeof(float));
        band->by_place[count] = count;
        count++;
    }
    band->count = count;
    // Only when it pays: a smaller block is a copy.
    float *fit = (int64_t)count < (int64_t)f->tiles.count * 3 / 4
                     ? rh_realloc(f->phi, ((size_t)count * RH_LEAF + 1) * sizeof(float), "surface.band", NULL)
                     : NULL;
    band->value = (float(*)[RH_LEAF])(fit ? fit : f->phi);
    f->phi = NULL;
    qsort_r(band->by_place, (size_t)count, sizeof *band->by_place, compare_places, band->at);
    return RH_OK;
}

// --- attributes ------------------------------------------------------------------------------------------------------
// A group is float on the surface, 0 or 1: so it can be the mask of a filter, and a mesh can interpolate it.
static rh_point_type channel_type(const rh_attribute *attribute)
{
    return attribute->type == RH_POINT_GROUP ? RH_POINT_F32 : attribute->type;
}

static void copy_value(const rh_attribute *attribute, uint32_t point, char *to)
{
    size_t size = rh_point_type_size(attribute->type), at = attribute->uniform ? 0 : point;
    const char *from = (const char *)attribute->data + at * size;
    float member = from[0] != 0;
    if (attribute->type == RH_POINT_GROUP) memcpy(to, &member, sizeof member);
    else memcpy(to, from, size);
}

static void fill_channel(const finisher *f, const rh_attribute *attribute, rh_band_channel *channel)
{
    size_t size = rh_point_type_size(channel->type);
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t l = 0; l < f->band->count; l++) {
        const uint32_t *nearest = f->from->nearest[f->source[l]];
        char *out = (char *)channel->data + (size_t)l * RH_LEAF * size;
        memset(out, 0, RH_LEAF * size);
        for (int k = 0; k < RH_TILE && nearest; k++)
            for (uint64_t bits = f->band->active[l].layer[k]; bits; bits &= bits - 1) {
                int c = 64 * k + __builtin_ctzll(bits);
                if (nearest[c] != RH_NO_POINT) copy_value(attribute, nearest[c], out + (size_t)c * size);
            }
    }
}

static rh_code add_channel(finisher *f, const char *attribute, const char *name, rh_status *status)
{
    const rh_points *points = f->finish->cloud->points;
    const rh_attribute *found = rh_points_find(points, attribute);
    rh_band *band = f->band;
    RH_ASSERT(found && band->channel_count < RH_BAND_CHANNELS);  // rh_surfacing_build has looked
    rh_band_channel *channel = &band->channels[band->channel_count];
    snprintf(channel->name, sizeof channel->name, "%s", name);
    channel->type = channel_type(found);
    channel->data = rh_alloc((size_t)band->count * RH_LEAF * rh_point_type_size(channel->type) + 1, "surface.band",
                             status);
    if (!channel->data) return RH_MEMORY;
    band->channel_count++;
    fill_channel(f, found, channel);
    return RH_OK;
}

static rh_code add_channels(finisher *f, const rh_channel_list *list, rh_status *status)
{
    for (int i = 0; i < list->count; i++) RH_TRY(add_channel(f, list->attribute[i], list->name[i], status));
    return RH_OK;
}

rh_code rh_band_finish(const rh_finish *finish, rh_leaves *leaves, const rh_channel_list *channels, rh_band *band,
                       rh_arena *arena, rh_status *status)
{
    *band = (rh_band){.voxel = finish->cloud->voxel, .background = finish->band * (float)finish->cloud->voxel};
    finisher f = {.finish = finish, .from = leaves, .band = band};
    RH_TRY(choose_leaves(&f, arena, status));
    size_t count = (size_t)f.tiles.count + 1;
    f.inside = rh_arena_take(arena, count * sizeof *f.inside, status);
    f.todo = rh_arena_take_zero(arena, count * sizeof *f.todo, status);
    f.phi = rh_alloc(count * RH_LEAF * sizeof *f.phi, "surface.band", status);
    f.field = rh_arena_take(arena, count * sizeof *f.field, status);
    f.deep = rh_arena_take(arena, RH_LEAF * sizeof *f.deep, status);
    rh_code code = f.inside && f.todo && f.phi && f.field && f.deep ? RH_OK : RH_MEMORY;
    if (code == RH_OK) find_inside(&f);
    if (code == RH_OK) code = make_distances(&f, arena, status);
    if (code == RH_OK) cut_band(&f);
    if (code == RH_OK) code = pack(&f, status);
    if (code == RH_OK) code = add_channels(&f, channels, status);
    rh_free(f.phi);
    if (code != RH_OK) rh_band_free(band);
    return code;
}
