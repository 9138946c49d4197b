// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Settled sand presses sideways with K0 = 1 - sin(friction angle) of what presses down (J. Jaky, "The coefficient of
// earth pressure at rest", Journal of the Society of Hungarian Architects and Engineers, 1944), and slid along upright
// walls while it settled, so that they bear their coefficient of friction times that. Silos so have the load that
// Janssen (1895) found, with K = K0. It is the limit of a packing that yields a little under its load, as that little
// goes to nothing.
//
// Pressure and friction take turns, and between walls what one gets wrong in a step is wrong for all that lies below
// (RH_STRESS_TAKEN in stress.h). So friction changes by no more than a part of a cell's weight in a step, which sand at
// rest does not feel; slower, and what was drawn was less than the changes that sand at rest drops.
#include "physics/sand/settle.h"

#include <math.h>
#include "physics/sand/upright.h"

static const float ZEROS[RH_CELLS];
static const float WALL = -1;    // in place of a load: a cell inside a wall
static const float PACE = 0.9f;  // largest change in a step, of a cell's weight; particles take over a part of it

static float along(rh_dvec3 g, int axis) { return (float)(axis == 0 ? g.x : axis == 1 ? g.y : g.z); }

// What the wall beside a cell at rest would bear: 0 for cells that move or have no pressure.
static void load_tile(const rh_settling *s, const rh_unilateral_view *view, const rh_stress *stress, int axis,
                      int32_t t, float *out)
{
    const rh_tiles *tiles = view->tiles;
    rh_rows q = rh_layout_rows(&view->limit->layout, view->q, t);
    float sideways = (float)(1 - sin(s->friction_angle));
    for (int r = 0; r < tiles->cells / 8; r++) {
        int64_t at = (int64_t)t * tiles->cells + 8 * r;
        rh_f8 zero = rh_f8_all(0), press = rh_f8_load(q.here + 8 * r),
              down = rh_f8_max(press - rh_f8_load(stress->part[axis] + at), zero);
        rh_i8 rests = rh_i8_from_bits(s->rest[at / 8]) & (press > zero);
        rh_f8 load = rh_f8_select(rests, sideways * rh_f8_load(s->coefficients + at) * down, zero);
        rh_i8 solid = rh_f8_load(view->cut->room[t] + 8 * r) < rh_f8_all(RH_SAND_SOLID_ROOM);
        rh_f8_store(out + at, rh_f8_select(solid, rh_f8_all(WALL), load));
    }
}

// Edges between two cells inside a wall and two cells at rest, one above the other.
static void draw_tile(const rh_settling *s, const rh_unilateral_view *view, const float *loads, int axis, int part,
                      int32_t t, float *shear)
{
    const rh_tiles *tiles = view->tiles;
    const int *axes = rh_stress_axes[part];
    int across = axes[0] == axis ? axes[1] : axes[0], down[3] = {0}, low[3] = {0}, both[3] = {0};
    down[axis] = both[axis] = low[across] = both[across] = -1;
    rh_rows_around load = rh_rows_around_of(tiles, loads, t, ZEROS);
    float up = along(view->around->gravity, axis) < 0 ? 1 : -1, most = PACE * s->weight;
    for (int r = 0; r < tiles->cells / 8; r++) {
        rh_f8 here[2] = {rh_row_at(&load, r, 0, 0, 0), rh_row_at(&load, r, down[0], down[1], down[2])},
              there[2] = {rh_row_at(&load, r, low[0], low[1], low[2]), rh_row_at(&load, r, both[0], both[1], both[2])},
              zero = rh_f8_all(0), wall = rh_f8_all(WALL);
        rh_i8 low_wall = (there[0] == wall) & (there[1] == wall) & (here[0] > zero) & (here[1] > zero),
              high_wall = (here[0] == wall) & (here[1] == wall) & (there[0] > zero) & (there[1] > zero);
        // Shear at a cell's lower edge pulls at the face before it and is pulled at by the one behind.
        rh_f8 target = 0.5f * up * rh_f8_select(low_wall, -(here[0] + here[1]), there[0] + there[1]),
              now = rh_f8_load(shear + 8 * r);
        rh_f8 by = rh_f8_max(rh_f8_all(-most), rh_f8_min(rh_f8_all(most), target - now));
        rh_f8_store(shear + 8 * r, rh_f8_select(low_wall | high_wall, now + by, now));
    }
}

rh_code rh_settle(const rh_settling *s, const rh_unilateral_view *view, rh_stress *stress, rh_status *status)
{
    const rh_tiles *tiles = view->tiles;
    int axis = rh_upright_axis(view->around->gravity, tiles->dimension);
    if (axis < 0 || view->around->obstacles->count == 0) return RH_OK;
    rh_arena_mark mark = rh_arena_save(view->arena);
    float *load = rh_arena_take_zero(view->arena, (size_t)rh_tiles_values(tiles) * sizeof *load, status);
    if (!load) return RH_MEMORY;
#pragma omp parallel for schedule(static, 2)
    for (int32_t n = 0; n < s->count; n++) load_tile(s, view, stress, axis, s->list[n], load);
#pragma omp parallel for schedule(static, 2)
    for (int32_t n = 0; n < s->count; n++)
        for (int p = 3; p < RH_STRESS_PARTS; p++)
            if (stress->part[p] && (rh_stress_axes[p][0] == axis || rh_stress_axes[p][1] == axis))
                draw_tile(s, view, load, axis, p, s->list[n], stress->part[p] + (int64_t)s->list[n] * tiles->cells);
    rh_arena_restore(view->arena, mark);
    return RH_OK;
}
