// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Y. Zhu, R. Bridson, "Animating sand as a fluid", ACM TOG 24(3), 2005, and Zhu's thesis of the same name, 2.2 to 2.5
// (docs/theory/sand.md).
//
// A cell holds while the stress that would stop its sliding within the step, rho h^2 D / dt, is inside the yield
// surface; one that yields has the source's friction, sin(phi) p D / (sqrt(1/3) |D|). The source writes both with a
// minus (compression counts positive) and adds the divergence all the same, which would drive the flow; here the push
// is against the strain rate.
//
// The friction of one step, taken at once, would turn motion around where it is more than what stops it, and even rho
// h^2 D / dt is up to 4 times too much for the shortest waves along their own axis (12 beside a wall, strain.c): two
// faces of a cell receive one stress, and each face that of two cells. So it is taken in PORTIONS, each no more than 1
// / PORTIONS of what would stop the flow as it is then: all of the friction where the sand is fast, just enough where
// it comes to rest, and never an amplification.
#include "physics/sand/yield.h"

#include <math.h>
#include <string.h>

enum { PORTIONS = 8 };

// Cells mostly in a wall have some mass all the same: faces are divided by it.
static const float LEAST_MASS = 0.05f;

static void load_mass(const rh_incompressible_view *view, int32_t t, float *mass)
{
    int cells = view->tiles->cells;
    for (int c = 0; c < cells; c++) {
        int64_t at = (int64_t)t * cells + c;
        mass[c] = rh_pressure_is_unknown(view->pressure, at) ? rh_max_of(view->cut->volume[t][c], LEAST_MASS) : 0;
    }
}

// sqrt(3) |rigid stress| / sqrt(2) < sin(phi) p + c.
static bool is_rigid(float size, float q, rh_sand_strength strength)
{
    return 1.2247449f * size < strength.sine * q + strength.cohesion;
}

static int yield_tile(rh_sand_cells *cells, const rh_incompressible_view *view, rh_sand_strength strength, int32_t t)
{
    const rh_tiles *tiles = view->tiles;
    rh_strain_block block;
    rh_strain_load(view, view->velocity, t, &block);
    int yielding = 0;
    for (int c = 0; c < tiles->cells; c++) {
        int64_t at = (int64_t)t * tiles->cells + c;
        if (!rh_pressure_is_unknown(view->pressure, at)) continue;
        float q = rh_pressure_value(view->pressure, at);
        float size = rh_strain_size(
            rh_strain_of(&block, rh_block_index(tiles, RH_STRAIN_HALO, c & 7, c >> 3 & 7, c >> 6)));
        if (is_rigid(size, q, strength)) cells->rigid[at >> 3] |= (uint8_t)(1 << (at & 7));
        else cells->slides[at] = 1.7320508f * strength.sine * rh_max_of(q, 0), yielding++;
    }
    return yielding;
}

rh_code rh_sand_yield(rh_sand_cells *cells, const rh_incompressible_view *view, rh_sand_strength strength,
                      rh_status *status)
{
    const rh_tiles *tiles = view->tiles;
    size_t values = (size_t)rh_tiles_values(tiles);
    *cells = (rh_sand_cells){.mass = rh_arena_take_zero(view->arena, values * sizeof(float), status),
                             .slides = rh_arena_take_zero(view->arena, values * sizeof(float), status),
                             .rigid = rh_arena_take_zero(view->arena, values / 8 + 1, status)};
    if (!cells->mass || !cells->slides || !cells->rigid) return RH_MEMORY;
    const rh_layout *layout = &view->pressure->layout;
    int64_t yielding = 0;
#pragma omp parallel for schedule(dynamic, 4) reduction(+ : yielding)
    for (int32_t n = 0; n < layout->count; n++) {
        int32_t t = layout->listed[n];
        load_mass(view, t, cells->mass + (int64_t)t * tiles->cells);
        yielding += yield_tile(cells, view, strength, t);
    }
    cells->yielding = yielding;
    return RH_OK;
}

float rh_sand_face_mass(const rh_sand_cells *cells, const rh_incompressible_view *view, int64_t face, int axis)
{
    RH_ASSERT(axis >= 0 && axis < view->tiles->dimension && face >= 0 && face < rh_tiles_values(view->tiles));
    const rh_tiles *tiles = view->tiles;
    const uint8_t *known = view->known[axis];
    int64_t low = rh_sand_cell_below(tiles, face, axis), high = rh_sand_cell_above(tiles, face, axis);
    float above = cells->mass[face] * (high >= 0 && known[high] ? 0.5f : 1);
    return low < 0 ? above : above + cells->mass[low] * (known[low] ? 0.5f : 1);
}

// --- friction of cells that yield ------------------------------------------------------------------------------------
// One portion of the friction of a cell, along its strain rate.
static rh_strain portion(rh_strain strain, float mass, float most)
{
    float size = rh_strain_size(strain), limit = most / PORTIONS;
    float by = size > 0 ? mass * rh_min(1.0f / PORTIONS, limit / size) : 0;
    for (int n = 0; n < 6; n++) strain.at[n] *= by;
    return strain;
}

// A cell that yields, in the block of a tile whose faces it acts on: its own tile or one beside it.
typedef struct sliding_cell {
    float mass, most;
    int32_t at;
} sliding_cell;

// What stays the same for all portions.
typedef struct sliding_tile {
    int32_t tile;
    int64_t first, end;  // its cells
    uint8_t known[RH_STRAIN_VALUES];
} sliding_tile;

typedef struct sliding {
    sliding_tile *tiles;
    sliding_cell *cells;
    int32_t count;
} sliding;

// Cells that yield in the tile and one around it; `out` NULL only counts.
static int64_t cells_of(const rh_sand_cells *cells, const rh_tiles *tiles, int32_t t, sliding_cell *out)
{
    float slides[RH_STRAIN_VALUES], mass[RH_STRAIN_VALUES];
    int64_t count = 0;
    int deep = tiles->dimension == 3;
    rh_block_load(tiles, cells->slides, t, RH_STRAIN_HALO, 0, slides);
    if (out) rh_block_load(tiles, cells->mass, t, RH_STRAIN_HALO, 0, mass);
    for (int k = -deep; k < tiles->layers + deep; k++)
        for (int j = -1; j <= RH_TILE; j++)
            for (int i = -1; i <= RH_TILE; i++) {
                int at = rh_block_index(tiles, RH_STRAIN_HALO, i, j, k);
                if (!(slides[at] > 0)) continue;
                if (out) out[count] = (sliding_cell){mass[at], slides[at], at};
                count++;
            }
    return count;
}

static rh_code find_sliding(const rh_sand_cells *cells, const rh_incompressible_view *view, sliding *s,
                            rh_status *status)
{
    const rh_tiles *tiles = view->tiles;
    int64_t *counts = rh_arena_take(view->arena, ((size_t)tiles->count + 1) * sizeof *counts, status), total = 0;
    if (!counts) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t t = 0; t < tiles->count; t++) {
        bool near = false;
        for (int n = 0; n < RH_NEAR && !near; n++)
            near = tiles->near[t][n] >= 0 && view->pressure->layout.slot[tiles->near[t][n]] >= 0;
        counts[t] = near ? cells_of(cells, tiles, t, NULL) : 0;
    }
    s->count = 0;
    for (int32_t t = 0; t < tiles->count; t++) s->count += counts[t] > 0, total += counts[t];
    s->tiles = rh_arena_take(view->arena, ((size_t)s->count + 1) * sizeof *s->tiles, status);
    s->cells = rh_arena_take(view->arena, ((size_t)total + 1) * sizeof *s->cells, status);
    if (!s->tiles || !s->cells) return RH_MEMORY;
    s->count = 0, total = 0;
    for (int32_t t = 0; t < tiles->count; total += counts[t], t++)
        if (counts[t])
            s->tiles[s->count].tile = t, s->tiles[s->count].first = total, s->tiles[s->count++].end = total + counts[t];
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < s->count; n++) {
        cells_of(cells, tiles, s->tiles[n].tile, s->cells + s->tiles[n].first);
        rh_strain_load_known(view, s->tiles[n].tile, s->tiles[n].known);
    }
    return RH_OK;
}

// New velocities of one tile: every tile works out the stress in the cells around it once more, so none writes into
// another.
static void slide_tile(const rh_sand_cells *cells, const rh_incompressible_view *view, const sliding *s, int32_t n,
                       rh_faces from, rh_faces to)
{
    const rh_tiles *tiles = view->tiles;
    const sliding_tile *own = &s->tiles[n];
    int64_t base = (int64_t)own->tile * tiles->cells;
    size_t values = (size_t)rh_block_values(tiles, RH_STRAIN_HALO);
    rh_strain_block block;
    float force[3][RH_STRAIN_VALUES];
    memcpy(block.known, own->known, values);
    rh_strain_load_velocity(tiles, from, own->tile, &block);
    for (int a = 0; a < tiles->dimension; a++) memset(force[a], 0, values * sizeof(float));
    for (int64_t i = own->first; i < own->end; i++) {
        const sliding_cell *c = &s->cells[i];
        rh_strain_add_divergence(&block, c->at, portion(rh_strain_of(&block, c->at), c->mass, c->most), force);
    }
    for (int a = 0; a < tiles->dimension; a++)
        for (int c = 0; c < tiles->cells; c++) {
            float by = force[a][rh_block_index(tiles, RH_STRAIN_HALO, c & 7, c >> 3 & 7, c >> 6)],
                  old = from.axis[a][base + c];
            to.axis[a][base + c] = by == 0 ? old : old + by / rh_sand_face_mass(cells, view, base + c, a);
        }
}

rh_code rh_sand_slide(const rh_sand_cells *cells, const rh_incompressible_view *view, rh_status *status)
{
    if (cells->yielding == 0) return RH_OK;
    const rh_tiles *tiles = view->tiles;
    rh_arena_mark mark = rh_arena_save(view->arena);
    rh_faces spare, here = view->velocity;
    sliding s;
    RH_TRY(rh_faces_new(&spare, tiles, false, view->arena, status));
    RH_TRY(find_sliding(cells, view, &s, status));
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int a = 0; a < tiles->dimension; a++)
            memcpy(spare.axis[a] + (int64_t)t * tiles->cells, here.axis[a] + (int64_t)t * tiles->cells,
                   (size_t)tiles->cells * sizeof(float));
    for (int n = 0; n < PORTIONS; n++) {  // an even number: the last one writes into the view's own
        rh_faces from = n % 2 ? spare : here, to = n % 2 ? here : spare;
#pragma omp parallel for schedule(dynamic, 4)
        for (int32_t i = 0; i < s.count; i++) slide_tile(cells, view, &s, i, from, to);
    }
    rh_arena_restore(view->arena, mark);
    return RH_OK;
}
