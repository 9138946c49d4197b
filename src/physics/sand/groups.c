// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Each tile is flooded on its own, in parallel; the pieces found are joined across borders of tiles by union-find in
// order of tiles. Sums are per piece, and added in the order of pieces: the same for any number of threads.
#include "physics/sand/groups.h"

#include <string.h>
#include "base/union_find.h"
#include "grid/flood.h"

static const int NEAR_STEP[3] = {1, 3, 9};

// --- connected cells -------------------------------------------------------------------------------------------------
static void load_tile(const rh_sand_cells *cells, const rh_incompressible_view *view, int32_t t, uint64_t bits[RH_TILE],
                      rh_flood_links *links)
{
    const rh_tiles *tiles = view->tiles;
    int64_t base = (int64_t)t * tiles->cells;
    memset(bits, 0, RH_TILE * sizeof *bits);
    memset(links, 0, sizeof *links);
    memcpy(bits, cells->rigid + base / 8, (size_t)tiles->cells / 8);
    for (int a = 0; a < tiles->dimension; a++)
        for (int c = 0; c < tiles->cells; c++)
            links->axis[a][c >> 6] |= (uint64_t)(view->known[a][base + c] != 0) << (c & 63);
    for (int a = 0; a < tiles->dimension; a++)
        for (int k = 0; k < tiles->layers; k++) {
            uint64_t from = bits[k], lower = a == 0 ? from << 1 : a == 1 ? from << 8 : k > 0 ? bits[k - 1] : 0;
            uint64_t edge = a == 0 ? RH_FLOOD_WEST : a == 1 ? RH_FLOOD_SOUTH : k == 0 ? ~0ull : 0;
            links->axis[a][k] &= from & (lower | edge);  // across the tile's border the other piece decides
        }
}

// Pieces of one tile; `out` NULL only counts. Their groups are not known yet.
static int32_t tile_pieces(const rh_sand_cells *cells, const rh_incompressible_view *view, int32_t t,
                           rh_sand_piece *out)
{
    uint64_t left[RH_TILE];
    rh_flood_links links;
    load_tile(cells, view, t, left, &links);
    int32_t count = 0;
    for (int first = 0; first < view->tiles->layers; first++)
        while (left[first]) {
            rh_sand_piece p = {.tile = t};
            p.bits[first] = left[first] & (~left[first] + 1);
            rh_flood(&links, view->tiles->layers, p.bits);
            for (int k = 0; k < view->tiles->layers; k++) left[k] &= ~p.bits[k];
            if (out) out[count] = p;
            count++;
        }
    return count;
}

// Cells of a piece at the tile's lower border whose face there is open.
static uint64_t lower_border(const rh_incompressible_view *view, const rh_sand_piece *p, int axis)
{
    int layers = view->tiles->layers;
    uint64_t open[RH_TILE] = {0};
    const uint8_t *known = view->known[axis] + (int64_t)p->tile * view->tiles->cells;
    for (int k = 0; k < layers; k++)
        for (uint64_t left = p->bits[k]; left; left &= left - 1) {
            int c = __builtin_ctzll(left);
            open[k] |= (uint64_t)(known[c + 64 * k] != 0) << c;
        }
    return rh_flood_border(open, axis, layers, false);
}

static void join_all(rh_sand_groups *groups, const rh_incompressible_view *view, int32_t *parent)
{
    const rh_tiles *tiles = view->tiles;
    for (int32_t p = 0; p < groups->count; p++) parent[p] = p;
    for (int32_t p = 0; p < groups->count; p++)
        for (int a = 0; a < tiles->dimension; a++) {
            int32_t other = tiles->near[groups->pieces[p].tile][RH_HERE - NEAR_STEP[a]];
            uint64_t border = other < 0 ? 0 : lower_border(view, &groups->pieces[p], a);
            for (int32_t q = border ? groups->first[other] : 0; border && q < groups->first[other + 1]; q++) {
                if (border & rh_flood_border(groups->pieces[q].bits, a, tiles->layers, true))
                    rh_union_join(parent, p, q);
            }
        }
}

static rh_code find_pieces(rh_sand_groups *groups, const rh_sand_cells *cells, const rh_incompressible_view *view,
                           rh_status *status)
{
    const rh_tiles *tiles = view->tiles;
    int32_t total = 0;
    groups->first = rh_arena_take(view->arena, ((size_t)tiles->count + 1) * sizeof *groups->first, status);
    if (!groups->first) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t t = 0; t < tiles->count; t++)
        groups->first[t] = view->pressure->layout.slot[t] < 0 ? 0 : tile_pieces(cells, view, t, NULL);
    for (int32_t t = 0; t < tiles->count; t++) {
        int32_t here = groups->first[t];
        groups->first[t] = total;
        total += here;
    }
    groups->first[tiles->count] = groups->count = total;
    groups->pieces = rh_arena_take(view->arena, ((size_t)total + 1) * sizeof *groups->pieces, status);
    if (!groups->pieces) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t t = 0; t < tiles->count; t++)
        if (groups->first[t + 1] > groups->first[t]) {
            int32_t found = tile_pieces(cells, view, t, groups->pieces + groups->first[t]);
            RH_ASSERT(found == groups->first[t + 1] - groups->first[t]);  // as many as were counted
        }
    return RH_OK;
}

// Groups are numbered in the order of their first pieces.
static rh_code number_groups(rh_sand_groups *groups, const rh_incompressible_view *view, rh_status *status)
{
    size_t room = (size_t)groups->count + 1;
    int32_t *parent = rh_arena_take(view->arena, room * sizeof *parent, status);
    groups->origin = rh_arena_take(view->arena, room * sizeof *groups->origin, status);
    if (!parent || !groups->origin) return RH_MEMORY;
    join_all(groups, view, parent);
    for (int32_t p = 0; p < groups->count; p++) {
        int32_t root = rh_union_root(parent, p);
        if (root == p) groups->origin[groups->groups] = view->tiles->at[groups->pieces[p].tile];
        groups->pieces[p].group = root == p ? groups->groups++ : groups->pieces[root].group;
    }
    return RH_OK;
}

// --- faces of a group ------------------------------------------------------------------------------------------------
rh_dvec3 rh_sand_group_place(const rh_sand_groups *groups, const rh_tiles *tiles, int32_t group, int32_t t, int c)
{
    RH_ASSERT(group >= 0 && group < groups->groups && t >= 0 && t < tiles->count);
    rh_tile from = groups->origin[group], at = tiles->at[t];
    return rh_d3(RH_TILE * (at.x - from.x) + (c & 7) + 0.5, RH_TILE * (at.y - from.y) + (c >> 3 & 7) + 0.5,
                 tiles->dimension == 3 ? RH_TILE * (at.z - from.z) + (c >> 6) + 0.5 : 0);
}

typedef struct visit {
    const rh_sand_groups *groups;
    const rh_sand_cells *cells;
    const rh_incompressible_view *view;
    rh_rigid *sums;  // of the piece; NULL = velocities are set
    const rh_rigid *body;
    int32_t group;
} visit;

static void visit_face(const visit *v, int axis, int64_t face, rh_dvec3 place)
{
    float *u = v->view->velocity.axis[axis] + face;
    if (v->sums)
        rh_rigid_add(v->sums, axis, place, (double)rh_sand_face_mass(v->cells, v->view, face, axis), (double)*u);
    else {
        rh_dvec3 moves = rh_rigid_velocity(v->body, place);
        *u = (float)(&moves.x)[axis];
    }
}

// Lower faces of all cells, and the upper ones that are not the lower face of another cell that holds.
static void visit_cell(const visit *v, int32_t t, int c)
{
    const rh_tiles *tiles = v->view->tiles;
    rh_dvec3 center = rh_sand_group_place(v->groups, tiles, v->group, t, c);
    for (int a = 0; a < tiles->dimension; a++) {
        int64_t low = (int64_t)t * tiles->cells + c, high = rh_sand_cell_above(tiles, low, a);
        rh_dvec3 place = center;
        (&place.x)[a] -= 0.5;
        if (v->view->known[a][low]) visit_face(v, a, low, place);
        (&place.x)[a] += 1;
        if (high >= 0 && v->view->known[a][high] && !rh_sand_cell_holds(v->cells, high)) visit_face(v, a, high, place);
    }
}

static void visit_piece(const visit *v, const rh_sand_piece *p)
{
    for (int k = 0; k < v->view->tiles->layers; k++)
        for (uint64_t left = p->bits[k]; left; left &= left - 1) visit_cell(v, p->tile, __builtin_ctzll(left) + 64 * k);
}

rh_code rh_sand_groups_find(rh_sand_groups *groups, const rh_sand_cells *cells, const rh_incompressible_view *view,
                            rh_status *status)
{
    *groups = (rh_sand_groups){0};
    RH_TRY(find_pieces(groups, cells, view, status));
    RH_TRY(number_groups(groups, view, status));
    groups->bodies = rh_arena_take_zero(view->arena, ((size_t)groups->groups + 1) * sizeof *groups->bodies, status);
    rh_rigid *sums = rh_arena_take_zero(view->arena, ((size_t)groups->count + 1) * sizeof *sums, status);
    if (!groups->bodies || !sums) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t p = 0; p < groups->count; p++) {
        visit v = {.groups = groups, .cells = cells, .view = view, .sums = &sums[p], .group = groups->pieces[p].group};
        visit_piece(&v, &groups->pieces[p]);
    }
    for (int32_t p = 0; p < groups->count; p++) rh_rigid_merge(&groups->bodies[groups->pieces[p].group], &sums[p]);
#pragma omp parallel for schedule(dynamic, 64)
    for (int32_t g = 0; g < groups->groups; g++) rh_rigid_solve(&groups->bodies[g]);
    return RH_OK;
}

void rh_sand_groups_move(const rh_sand_groups *groups, const rh_sand_cells *cells, const rh_incompressible_view *view)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t p = 0; p < groups->count; p++) {
        int32_t group = groups->pieces[p].group;
        visit v = {.groups = groups, .cells = cells, .view = view, .body = &groups->bodies[group], .group = group};
        visit_piece(&v, &groups->pieces[p]);
    }
}

int32_t rh_sand_group_of(const rh_sand_groups *groups, int32_t t, int c)
{
    for (int32_t p = groups->first[t]; p < groups->first[t + 1]; p++)
        if (groups->pieces[p].bits[c >> 6] >> (c & 63) & 1) return groups->pieces[p].group;
    return -1;
}
