// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Y. Zhu, R. Bridson, "Animating sand as a fluid", ACM TOG 24(3), 2005, and Zhu's thesis of the same name, 2.2 to 2.5 (docs/theory/sand.md).
//
// A cell holds while the stress that would stop its sliding within the step, rho h^2 D / dt, is inside the yield surface; one that yields feels the
// source's friction, sin(phi) p D / (sqrt(1/3) |D|). The source writes both with a minus (compression counts positive) and adds the divergence all the
// same, which would drive the flow; here the push is against the strain rate.
//
// The friction of one step, taken at once, would turn motion around where it is more than what stops it, and even rho h^2 D / dt is up to 4 times too
// much for the shortest waves along their own axis (12 beside a wall, strain.c): two faces of a cell feel one stress, and each face two cells. So it is
// taken in PORTIONS, each no more than 1 / PORTIONS of what would stop the flow as it is then: all of the friction where the sand is
// fast, just enough where it comes to rest, and never an amplification.
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
static bool holds(float size, float q, rh_sand_strength strength) { return 1.2247449f * size < strength.sine * q + strength.cohesion; }

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
        float size = rh_strain_size(rh_strain_of(&block, rh_block_index(tiles, RH_STRAIN_HALO, c & 7, c >> 3 & 7, c >> 6)));
        if (holds(size, q, strength)) cells->holds[at >> 3] |= (uint8_t)(1 << (at & 7));
        else cells->slides[at] = 1.7320508f * strength.sine * rh_max_of(q, 0), yielding++;
    }
    return yielding;
}

rh_code rh_sand_yield(rh_sand_cells *cells, const rh_incompressible_view *view, rh_sand_strength strength, rh_status *status)
{
    const rh_tiles *tiles = view->tiles;
    size_t values = (size_t)rh_tiles_values(tiles);
    *cells = (rh_sand_cells){.mass = rh_arena_take_zero(view->arena, values * sizeof(float), status),
                             .slides = rh_arena_take_zero(view->arena, values * sizeof(float), status),
                             .holds = rh_arena_take_zero(view->arena, values / 8 + 1, status)};
    if (!cells->mass || !cells->slides || !cells->holds) return RH_MEMORY;
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
    const rh_tiles *tiles = view->tiles;
    const uint8_t *known = view->known[axis];
    int64_t low = rh_sand_cell_below(tiles, face, axis), high = rh_sand_cell_above(tiles, face, axis);
    float above = cells->mass[face] * (high >= 0 && known[high] ? 0.5f : 1);
    return low < 0 ? above : above + cells->mass[low] * (known[low] ? 0.5f : 1);
}

// --- friction of cells that yield ---------------------------------------------------------------------------------------
// One portion of the friction of a cell, along its strain rate.
static rh_strain portion(rh_strain strain, float mass, float most)
{
    float size = rh_strain_size(strain), limit = most / PORTIONS;
    float by = size > 0 ? mass * rh_min(1.0f / PORTIONS, limit / size) : 0;
    for (int n = 0; n < 6; n++) strain.at[n] *= by;
    return strain;
}

typedef struct scratch {
    rh_strain_block block;
    float slides[RH_STRAIN_VALUES], mass[RH_STRAIN_VALUES], push[3][RH_STRAIN_VALUES];
} scratch;

// Whether any cell around the tile yields; loads what there is.
static bool load_sliding(const rh_sand_cells *cells, const rh_tiles *tiles, int32_t t, scratch *s)
{
    bool any = false;
    for (int n = 0; n < RH_NEAR && !any; n++) {
        int32_t other = tiles->near[t][n];
        if (other < 0) continue;
        const float *slides = cells->slides + (int64_t)other * tiles->cells;
        for (int c = 0; c < tiles->cells && !any; c++) any = slides[c] > 0;
    }
    if (any) rh_block_load(tiles, cells->slides, t, RH_STRAIN_HALO, 0, s->slides);
    if (any) rh_block_load(tiles, cells->mass, t, RH_STRAIN_HALO, 0, s->mass);
    return any;
}

// New velocities of one tile: every tile works out the stress in the cells around it once more, so none writes into another.
static void slide_tile(const rh_sand_cells *cells, const rh_incompressible_view *view, rh_faces from, rh_faces to, int32_t t)
{
    const rh_tiles *tiles = view->tiles;
    int64_t base = (int64_t)t * tiles->cells;
    scratch s;
    for (int a = 0; a < tiles->dimension; a++) memcpy(to.axis[a] + base, from.axis[a] + base, (size_t)tiles->cells * sizeof(float));
    if (!load_sliding(cells, tiles, t, &s)) return;
    rh_strain_load(view, from, t, &s.block);
    memset(s.push, 0, sizeof s.push);
    int deep = tiles->dimension == 3;
    for (int k = -deep; k < tiles->layers + deep; k++)
        for (int j = -1; j <= RH_TILE; j++)
            for (int i = -1; i <= RH_TILE; i++) {
                int at = rh_block_index(tiles, RH_STRAIN_HALO, i, j, k);
                if (s.slides[at] > 0) rh_strain_push(&s.block, at, portion(rh_strain_of(&s.block, at), s.mass[at], s.slides[at]), s.push);
            }
    for (int a = 0; a < tiles->dimension; a++)
        for (int c = 0; c < tiles->cells; c++) {
            int at = rh_block_index(tiles, RH_STRAIN_HALO, c & 7, c >> 3 & 7, c >> 6);
            if (s.push[a][at] == 0) continue;
            to.axis[a][base + c] += s.push[a][at] / rh_sand_face_mass(cells, view, base + c, a);
        }
}

rh_code rh_sand_slide(const rh_sand_cells *cells, const rh_incompressible_view *view, rh_status *status)
{
    if (cells->yielding == 0) return RH_OK;
    const rh_tiles *tiles = view->tiles;
    rh_arena_mark mark = rh_arena_save(view->arena);
    rh_faces spare, here = view->velocity;
    RH_TRY(rh_faces_new(&spare, tiles, false, view->arena, status));
    for (int n = 0; n < PORTIONS; n++) {  // an even number: the last one writes into the view's own
        rh_faces from = n % 2 ? spare : here, to = n % 2 ? here : spare;
#pragma omp parallel for schedule(dynamic, 4)
        for (int32_t t = 0; t < tiles->count; t++) slide_tile(cells, view, from, to, t);
    }
    rh_arena_restore(view->arena, mark);
    return RH_OK;
}
