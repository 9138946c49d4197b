// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Coulomb's law per cut cell. With v the open share of faces pressure q gives the sand of all faces
//      sum over faces of -v (q_high - q_low)  =  sum over cells of q (v_high - v_low)
// so a cell's wall presses by q (v_high - v_low), along the wall's normal n by that times n, and the sum over a wall is
// what the sand weighs on it, to rounding, wherever the wall lies on the grid; but for what the sand on the wall's own
// faces is still falling by, which the wall stops. The tangential velocity is that of the cell's open faces in the
// mean; traction acts on the same faces.
//
// Before, edges between open and closed faces bore the friction of walls, as they do on walls along the grid. Walls
// across it are then steps, every step strains the sand that slides over it, and what edges bear was found from means
// of pressure: thin layers had up to 1.8 times the friction of Coulomb's law at 30 degrees, walls of 5 to 10 degrees
// without any friction held sand, and walls at 45 degrees had none or 1.7 times too much, by where they lay.
#include "physics/sand/wall_friction.h"

#include <math.h>
#include <string.h>
#include "grid/rows.h"

static const float ZEROS[RH_CELLS];
static const float STRAIGHT = 0.9f;       // length of the difference of distances, of the way: less where walls meet
static const float LIGHT = 0.03f;         // filling: faces at the wall count as no lighter
static const float RATE = 0.15f;          // of the gradient, over a cell whose faces have filling 1
static const float ALONG_GRID = 0.9999f;  // largest part of a normal: more, and the wall lies along the grid
static const float LOST = 0.05f;  // share of a wall's tangent along an axis that has no open face: not to be left out

enum { PARTS = RH_STRESS_PARTS };

static rh_i8 bits_of(const uint8_t *bits, int64_t row) { return rh_i8_from_bits(bits[row]); }

// --- geometry --------------------------------------------------------------------------------------------------------
static rh_code take(rh_wall_friction *w, const rh_tiles *tiles, rh_arena *arena, rh_status *status)
{
    size_t rows = (size_t)rh_tiles_values(tiles) / 8 + 1;
    w->cut = rh_arena_take_zero(arena, 3 * rows, status);
    if (!w->cut) return RH_MEMORY;
    w->beside = w->cut + rows, w->bare = w->cut + 2 * rows;
    w->bound = rh_field_new(tiles, arena, status), w->gives = rh_field_new(tiles, arena, status);
    if (!w->bound || !w->gives) return RH_MEMORY;
    memset(w->gives, 0, (size_t)rh_tiles_values(tiles) * sizeof(float));
    w->into = rh_field_new(tiles, arena, status), w->share = rh_field_new(tiles, arena, status);
    w->mark = rh_field_new(tiles, arena, status);
    if (!w->into || !w->share || !w->mark) return RH_MEMORY;
    memset(w->mark, 0, (size_t)rh_tiles_values(tiles) * sizeof(float));
    memset(w->into, 0, (size_t)rh_tiles_values(tiles) * sizeof(float));
    for (int a = 0; a < tiles->dimension; a++) {
        w->normal[a] = rh_field_new(tiles, arena, status), w->inverse_mass[a] = rh_field_new(tiles, arena, status);
        w->slip[a] = rh_field_new(tiles, arena, status), w->area[a] = rh_field_new(tiles, arena, status);
        w->side[a] = rh_field_new(tiles, arena, status);
        if (!w->normal[a] || !w->inverse_mass[a] || !w->side[a] || !w->slip[a] || !w->area[a]) return RH_MEMORY;
    }
    RH_TRY(rh_faces_new(&w->held, tiles, true, arena, status));
    RH_TRY(rh_faces_new(&w->riding, tiles, true, arena, status));
    for (int k = 0; k < 2; k++) {
        RH_TRY(rh_faces_new(&w->carried[k], tiles, true, arena, status));
        RH_TRY(rh_faces_new(&w->now[k], tiles, true, arena, status));
        RH_TRY(rh_faces_new(&w->ahead[k], tiles, true, arena, status));
        RH_TRY(rh_faces_new(&w->change[k], tiles, true, arena, status));
    }
    return RH_OK;
}

// Along one axis: which faces of a row of cells are the wall's, how far the others are open and what they weigh.
typedef struct sides {
    rh_f8 low, high;  // open share, 0 where the wall's
    rh_i8 low_open, high_open;
    rh_f8 low_mass, high_mass;  // 0 where there is no sand
} sides;

static rh_f8 mass_of(rh_f8 inverse)
{
    return rh_f8_select(inverse > rh_f8_all(0), rh_f8_all(1) / rh_f8_max(inverse, rh_f8_all(1e-6f)), rh_f8_all(0));
}

static sides sides_of(const rh_rows *open, const rh_rows *inverse_mass, int a, int r)
{
    rh_f8 low = rh_f8_load(open->here + 8 * r), high = rh_row_above(open, a, r), zero = rh_f8_all(0);
    return (sides){low,
                   high,
                   low > zero,
                   high > zero,
                   mass_of(rh_f8_load(inverse_mass->here + 8 * r)),
                   mass_of(rh_row_above(inverse_mass, a, r))};
}

// Cells whose sand has no open face along the wall leave their load to the neighbour before the wall. Returns which: 1
// + 2 axis + side, or 0 for none.
static rh_f8 gives_row(const rh_wall_friction *w, int64_t at, int dimension)
{
    rh_f8 zero = rh_f8_all(0), one = rh_f8_all(1), most = zero, to = zero;
    rh_i8 lost = zero != zero, cut = bits_of(w->cut, at / 8);
    for (int a = 0; a < dimension; a++) {
        rh_f8 n = rh_f8_load(w->normal[a] + at), up = rh_f8_abs(n);
        lost |= (rh_f8_load(w->inverse_mass[a] + at) == zero) & ((one - n * n > rh_f8_all(LOST)) | ~cut);
        rh_f8 there = rh_f8_select(n > zero, rh_f8_all((float)(2 + 2 * a)), rh_f8_all((float)(1 + 2 * a)));
        to = rh_f8_select(up > most, there, to);
        most = rh_f8_max(most, up);
    }
    return rh_f8_select(lost, to, zero);
}

// Where walls meet, differences of distances lie between both: a cell on a floor beside a wall would seem to lie on a
// slope, and columns in silos stick and slip. So near walls the normal is taken from the nearest wall itself: of the
// cells in `bits` those remain whose nearest wall lies across the grid, and they get its normal.
static int ask_walls(const rh_wall_friction *w, const rh_unilateral_view *view, int32_t t, int r, int bits,
                     const float *distance)
{
    const rh_tiles *tiles = view->tiles;
    const rh_obstacles *walls = view->around->obstacles;
    for (int i = 0; i < 8; i++) {
        if (!(bits >> i & 1) || fabsf(distance[i]) > 2 * tiles->h) continue;
        int which;
        rh_dvec3 x = rh_d3_from(rh_cell_center(tiles, t, i, r & 7, r >> 3));
        rh_obstacles_distance(walls, x, &which);
        if (which < 0) continue;
        rh_vec3 n = rh_v3_from(rh_obstacles_normal(walls, which, x));
        if (rh_max_of(rh_max_of(fabsf(n.x), fabsf(n.y)), fabsf(n.z)) > ALONG_GRID) bits &= ~(1 << i);
        for (int a = 0; a < tiles->dimension; a++) w->normal[a][(int64_t)t * tiles->cells + 8 * r + i] = (&n.x)[a];
    }
    return bits;
}

static void geometry_tile(const rh_wall_friction *w, const rh_unilateral_view *view, const rh_sand_faces *faces,
                          int32_t t)
{
    const rh_tiles *tiles = view->tiles;
    rh_rows pass[3], open[3], wall[3], mass[3],
        distance = rh_rows_apart(tiles, view->cut->distance, t, view->cut->distance[t]);
    rh_f8 zero = rh_f8_all(0), one = rh_f8_all(1);
    float step = view->dt * tiles->inverse_h;
    for (int a = 0; a < tiles->dimension; a++)
        pass[a] = rh_rows_apart(tiles, view->cut->pass[a], t, view->cut->pass[a][t]),
        wall[a] = rh_rows_apart(tiles, view->cut->wall[a], t, ZEROS),
        open[a] = rh_rows_of(tiles, faces->open.axis[a], t, faces->open.axis[a] + (int64_t)t * tiles->cells),
        mass[a] = rh_rows_of(tiles, faces->inverse_mass.axis[a], t, ZEROS);
    for (int r = 0; r < tiles->cells / 8; r++) {
        int64_t at = (int64_t)t * tiles->cells + 8 * r;
        rh_f8 slope[3], all = zero, low_mass = rh_f8_all(1e-6f), high_mass = rh_f8_all(1e-6f);
        rh_i8 cut = zero != zero, moves = zero != zero, bare = zero != zero;
        for (int a = 0; a < tiles->dimension; a++) {
            sides s = sides_of(&open[a], &mass[a], a, r);
            slope[a] = rh_row_above(&distance, a, r) - rh_row_below(&distance, a, r), all += slope[a] * slope[a];
            low_mass += rh_f8_select(s.low_mass > zero, s.low_mass, s.high_mass);
            high_mass += rh_f8_select(s.high_mass > zero, s.high_mass, s.low_mass);
            cut |= s.low != s.high, moves |= s.low_mass + s.high_mass > zero;
            bare |= (s.low_open & (s.low_mass == zero)) | (s.high_open & (s.high_mass == zero));
            rh_f8_store(w->area[a] + at, rh_row_above(&pass[a], a, r) - rh_f8_load(pass[a].here + 8 * r));
            rh_f8_store(w->inverse_mass[a] + at, mass_of(s.low_mass + s.high_mass));
            rh_f8 side = rh_f8_select(~s.low_open & (s.high_mass > zero), one,
                                      rh_f8_select(~s.high_open & (s.low_mass > zero), -one, zero));
            rh_f8_store(w->side[a] + at, side);
            rh_f8 low = rh_f8_load(wall[a].here + 8 * r), high = rh_row_above(&wall[a], a, r);
            rh_f8_store(w->slip[a] + at, step * rh_f8_select(s.low < s.high, low,
                                                             rh_f8_select(s.low > s.high, high, 0.5f * (low + high))));
        }
        rh_f8_store(w->share + at, low_mass / (low_mass + high_mass));
        rh_f8 length = rh_f8_sqrt(all);
        rh_i8 straight = length > rh_f8_all(2 * STRAIGHT * tiles->h);
        for (int a = 0; a < tiles->dimension; a++)
            rh_f8_store(w->normal[a] + at,
                        rh_f8_select(straight, slope[a] / rh_f8_max(length, rh_f8_all(1e-30f)), zero));
        rh_i8 across = straight;
        for (int a = 0; a < tiles->dimension; a++) across &= rh_f8_abs(slope[a]) <= rh_f8_all(ALONG_GRID) * length;
        across = rh_i8_from_bits((uint8_t)ask_walls(w, view, t, r, rh_i8_bits(across), distance.here + 8 * r));
        cut &= across;
        w->cut[at / 8] = (uint8_t)rh_i8_bits(cut & moves);
        w->bare[at / 8] = (uint8_t)rh_i8_bits(cut & bare);
        rh_f8_store(w->gives + at, rh_f8_select(across, gives_row(w, at, tiles->dimension), zero));
    }
}

// Cells that bear for their neighbours have friction too.
static void receive_tile(const rh_wall_friction *w, const rh_tiles *tiles, int32_t t)
{
    rh_rows gives = rh_rows_of(tiles, w->gives, t, ZEROS);
    for (int r = 0; r < tiles->cells / 8; r++) {
        int bits = 0;
        for (int a = 0; a < tiles->dimension; a++)
            bits |= rh_i8_bits((rh_row_below(&gives, a, r) == rh_f8_all((float)(2 + 2 * a))) |
                               (rh_row_above(&gives, a, r) == rh_f8_all((float)(1 + 2 * a))));
        w->cut[(int64_t)t * (tiles->cells / 8) + r] |= (uint8_t)bits;
    }
}

static void carried_tile(const rh_wall_friction *w, const rh_unilateral_view *view, int32_t t)
{
    const rh_tiles *tiles = view->tiles;
    const float(*carried)[9] = rh_points_data(view->points, "stress", RH_POINT_MAT3F);
    for (int c = 0; c < tiles->cells; c++) {
        int64_t cell = (int64_t)t * tiles->cells + c;
        uint32_t begin = tiles->first[cell], end = tiles->first[cell + 1];
        if (begin == end || !(w->cut[cell / 8] >> (cell & 7) & 1)) continue;
        float sum[3] = {0}, scale = 1 / (view->pressure_unit * (float)(end - begin));
        for (uint32_t p = begin; p < end; p++)
            for (int a = 0; a < 3; a++) sum[a] += carried[p][PARTS + a];
        for (int a = 0; a < tiles->dimension; a++) {
            w->carried[0].axis[a][cell] = scale * sum[a] * w->share[cell];
            w->carried[1].axis[a][cell] = scale * sum[a] * (1 - w->share[cell]);
        }
    }
}

static void beside_tile(const rh_wall_friction *w, const rh_tiles *tiles, int32_t t)
{
    rh_bit_rows cut = rh_bit_rows_of(tiles, w->cut, t);
    for (int r = 0; r < tiles->cells / 8; r++) {
        int64_t row = (int64_t)t * (tiles->cells / 8) + r;
        int any = cut.here[r] | (cut.low[0][r] & 128);
        for (int a = 1; a < tiles->dimension; a++) any |= rh_bits_row_below(&cut, a, r);
        w->beside[row] = any != 0;
        int leaves = rh_i8_bits(rh_f8_load(w->gives + 8 * row) > rh_f8_all(0));
        rh_f8_store(w->mark + 8 * row, rh_f8_masked(rh_f8_all(1), cut.here[r] | leaves));
    }
}

// --- sand on faces that are the wall's -------------------------------------------------------------------------------
// Sand on faces that are the wall's moves with the sand beside it: it rides on the open faces of its cell, whose mass
// grows by it, and what forces and pressure give to either is shared along the wall. Before, such faces took the
// velocity of their neighbours and what pressure had given them was lost: the open shares of faces alone form stairs,
// and what pressure takes from the open faces along the wall it gives to the closed ones. Layers without friction had
// 0.9 of their speed at 20 degrees, whatever their thickness, 0.75 at 5, and a quarter of a layer of one cell is on
// such faces.
//
// Mass on the wall's faces of cells along each axis, and its momentum (cells per step). Half of each face for the cells
// on its sides.
typedef struct held {
    rh_faces mass, momentum;  // what forces and pressure have given it in this step; none = not wanted
} held;

static void held_tile(const rh_wall_friction *w, const rh_unilateral_view *view, int32_t t, const held *out)
{
    const rh_tiles *tiles = view->tiles;
    rh_f8 zero = rh_f8_all(0);
    float step = view->dt * tiles->inverse_h;
    for (int a = 0; a < tiles->dimension; a++) {
        rh_rows open = rh_rows_of(tiles, w->open.axis[a], t, w->open.axis[a] + (int64_t)t * tiles->cells),
                fill = rh_rows_of(tiles, view->limit->fill.axis[a], t, ZEROS),
                u = rh_rows_of(tiles, view->velocity.axis[a], t, ZEROS),
                was = rh_rows_of(tiles, view->before.axis[a], t, ZEROS);
        for (int r = 0; r < tiles->cells / 8; r++) {
            int64_t at = (int64_t)t * tiles->cells + 8 * r;
            if (!w->cut[at / 8] && !rh_i8_bits(rh_f8_load(w->gives + at) > zero)) continue;
            rh_f8 low = rh_f8_select(rh_f8_load(open.here + 8 * r) > zero, zero, rh_f8_load(fill.here + 8 * r)),
                  high = rh_f8_select(rh_row_above(&open, a, r) > zero, zero, rh_row_above(&fill, a, r));
            rh_f8_store(out->mass.axis[a] + at, 0.5f * (low + high));
            if (!out->momentum.axis[a]) continue;
            rh_f8_store(out->momentum.axis[a] + at,
                        0.5f * step *
                            (low * (rh_f8_load(u.here + 8 * r) - rh_f8_load(was.here + 8 * r)) +
                             high * (rh_row_above(&u, a, r) - rh_row_above(&was, a, r))));
        }
    }
}

// Values of a row of cells, with those that neighbours leave to them.
static rh_f8 gathered(const rh_rows *gives, const rh_rows *field, int dimension, int r)
{
    rh_f8 zero = rh_f8_all(0);
    rh_f8 sum = rh_f8_select(rh_f8_load(gives->here + 8 * r) == zero, rh_f8_load(field->here + 8 * r), zero);
    for (int a = 0; a < dimension; a++)
        sum +=
            rh_f8_select(rh_row_below(gives, a, r) == rh_f8_all((float)(2 + 2 * a)), rh_row_below(field, a, r), zero) +
            rh_f8_select(rh_row_above(gives, a, r) == rh_f8_all((float)(1 + 2 * a)), rh_row_above(field, a, r), zero);
    return sum;
}

static rh_f8 per_mass(rh_f8 riding, rh_f8 inverse_mass)  // 0 where nothing rides, whatever the other is
{
    return rh_f8_select(riding > rh_f8_all(0), riding * inverse_mass, rh_f8_all(0));
}

// The masses of faces with the sand that rides on them; `plain` are those without. Faces of cells at the wall count
// with their own mass, down to LIGHT: mass that a face counts with and does not have is momentum lost, and with the
// limit used elsewhere (stress.c) the rim of thin layers took 2 % of what drives them.
static void ride_tile(const rh_wall_friction *w, const rh_unilateral_view *view, rh_faces plain, int32_t t,
                      rh_faces out)
{
    const rh_tiles *tiles = view->tiles;
    rh_f8 zero = rh_f8_all(0), one = rh_f8_all(1);
    rh_rows near = rh_rows_of(tiles, w->mark, t, ZEROS);
    for (int a = 0; a < tiles->dimension; a++) {
        rh_rows riding = rh_rows_of(tiles, w->riding.axis[a], t, ZEROS),
                whole = rh_rows_of(tiles, w->inverse_mass[a], t, ZEROS);
        for (int r = 0; r < tiles->cells / 8; r++) {
            int64_t at = (int64_t)t * tiles->cells + 8 * r;
            if (!w->beside[at / 8]) continue;
            rh_f8 inverse = rh_f8_load(plain.axis[a] + at), fill = rh_f8_load(view->limit->fill.axis[a] + at);
            rh_i8 at_wall = (rh_f8_load(near.here + 8 * r) > zero) | (rh_row_below(&near, a, r) > zero);
            rh_f8 own = rh_f8_select(at_wall, rh_f8_max(fill, rh_f8_all(LIGHT)), mass_of(inverse)),
                  more = per_mass(rh_f8_load(riding.here + 8 * r), rh_f8_load(whole.here + 8 * r)) +
                         per_mass(rh_row_below(&riding, a, r), rh_row_below(&whole, a, r));
            rh_f8 loaded = one / rh_f8_max(own * (one + more), rh_f8_all(1e-6f));
            rh_f8_store(out.axis[a] + at, rh_f8_select(inverse > zero, loaded, zero));
        }
    }
}

static void gather_tile(const rh_wall_friction *w, const rh_tiles *tiles, rh_faces from, int32_t t, rh_faces to)
{
    rh_rows gives = rh_rows_of(tiles, w->gives, t, ZEROS);
    for (int a = 0; a < tiles->dimension; a++) {
        rh_rows field = rh_rows_of(tiles, from.axis[a], t, ZEROS);
        for (int r = 0; r < tiles->cells / 8; r++) {
            int64_t at = (int64_t)t * tiles->cells + 8 * r;
            if (w->cut[at / 8])
                rh_f8_store(to.axis[a] + at,
                            rh_f8_masked(gathered(&gives, &field, tiles->dimension, r), w->cut[at / 8]));
        }
    }
}

// Masses of the open faces of cells together, and how much of them is at lower faces.
static void weigh_tile(const rh_wall_friction *w, const rh_tiles *tiles, rh_faces inverse_mass, int32_t t)
{
    for (int r = 0; r < tiles->cells / 8; r++) {
        int64_t at = (int64_t)t * tiles->cells + 8 * r;
        rh_f8 zero = rh_f8_all(0), low_mass = rh_f8_all(1e-6f), high_mass = rh_f8_all(1e-6f);
        if (!w->cut[at / 8]) continue;
        for (int a = 0; a < tiles->dimension; a++) {
            rh_rows mass = rh_rows_of(tiles, inverse_mass.axis[a], t, ZEROS);
            rh_f8 low = mass_of(rh_f8_load(mass.here + 8 * r)), high = mass_of(rh_row_above(&mass, a, r));
            low_mass += rh_f8_select(low > zero, low, high), high_mass += rh_f8_select(high > zero, high, low);
            rh_f8_store(w->inverse_mass[a] + at, mass_of(low + high));
        }
        rh_f8_store(w->share + at, low_mass / (low_mass + high_mass));
    }
}

static bool has_walls(const rh_unilateral_view *view) { return view->around->obstacles->count > 0; }
static bool is_walled(const rh_unilateral_view *view, int32_t t) { return view->cut->kind[t] != RH_TILE_FREE; }

rh_code rh_wall_friction_begin(rh_wall_friction *w, const int32_t *list, int32_t count, const rh_unilateral_view *view,
                               const rh_sand_faces *faces, rh_status *status)
{
    rh_faces inverse_mass = faces->inverse_mass;
    *w = (rh_wall_friction){.list = list, .count = has_walls(view) ? count : 0, .open = faces->open};
    RH_TRY(take(w, view->tiles, view->arena, status));
#pragma omp parallel for schedule(static, 2)
    for (int32_t n = 0; n < w->count; n++)
        if (is_walled(view, list[n])) geometry_tile(w, view, faces, list[n]);
#pragma omp parallel for schedule(static, 2)
    for (int32_t n = 0; n < w->count; n++)
        if (is_walled(view, list[n])) receive_tile(w, view->tiles, list[n]), carried_tile(w, view, list[n]);
#pragma omp parallel for schedule(static, 2)
    for (int32_t n = 0; n < w->count; n++)
        if (is_walled(view, list[n])) held_tile(w, view, list[n], &(held){.mass = w->held});
#pragma omp parallel for schedule(static, 2)
    for (int32_t n = 0; n < w->count; n++) gather_tile(w, view->tiles, w->held, list[n], w->riding);
#pragma omp parallel for schedule(static, 2)
    for (int32_t n = 0; n < w->count; n++) beside_tile(w, view->tiles, list[n]);
    rh_faces plain;
    RH_TRY(rh_faces_copy(&plain, inverse_mass, view->tiles, view->arena, status));
#pragma omp parallel for schedule(static, 2)
    for (int32_t n = 0; n < w->count; n++) ride_tile(w, view, plain, list[n], inverse_mass);
#pragma omp parallel for schedule(static, 2)
    for (int32_t n = 0; n < w->count; n++) weigh_tile(w, view->tiles, inverse_mass, list[n]);
    return RH_OK;
}

static void push_tile(const rh_wall_friction *w, rh_faces inverse_mass, float scale, const rh_tiles *tiles, int32_t t,
                      rh_faces u)
{
    rh_f8 zero = rh_f8_all(0);
    for (int a = 0; a < tiles->dimension; a++) {
        rh_rows above = rh_rows_of(tiles, w->change[1].axis[a], t, ZEROS);
        for (int r = 0; r < tiles->cells / 8; r++) {
            int64_t at = (int64_t)t * tiles->cells + 8 * r;
            if (!w->beside[at / 8]) continue;
            rh_f8 sum = rh_f8_load(w->change[0].axis[a] + at) + rh_row_below(&above, a, r);
            sum = rh_f8_select(rh_f8_load(inverse_mass.axis[a] + at) > zero, scale * sum, zero);
            rh_f8_store(u.axis[a] + at, rh_f8_load(u.axis[a] + at) + sum);
        }
    }
}

// Shares along the wall the velocity that forces and pressure gave to the sand on the wall's faces beyond that of the
// open faces.
static void share_tile(const rh_wall_friction *w, const rh_unilateral_view *view, const rh_faces inverse_mass,
                       rh_faces u, rh_faces momenta, int32_t t)
{
    const rh_tiles *tiles = view->tiles;
    int dimension = tiles->dimension;
    float step = view->dt * tiles->inverse_h;
    rh_rows rows[3], inverse[3], was[3], gives = rh_rows_of(tiles, w->gives, t, ZEROS), momentum[3];
    for (int a = 0; a < dimension; a++)
        momentum[a] = rh_rows_of(tiles, momenta.axis[a], t, ZEROS), rows[a] = rh_rows_of(tiles, u.axis[a], t, ZEROS),
        inverse[a] = rh_rows_of(tiles, inverse_mass.axis[a], t, ZEROS),
        was[a] = rh_rows_of(tiles, view->before.axis[a], t, ZEROS);
    for (int r = 0; r < tiles->cells / 8; r++) {
        int64_t at = (int64_t)t * tiles->cells + 8 * r;
        if (!w->cut[at / 8]) continue;
        rh_f8 zero = rh_f8_all(0), along = zero, into = zero, d[3];
        for (int a = 0; a < dimension; a++) {
            rh_f8 low = mass_of(rh_f8_load(inverse[a].here + 8 * r)), high = mass_of(rh_row_above(&inverse[a], a, r)),
                  whole = rh_f8_load(w->inverse_mass[a] + at);
            rh_f8 mean = whole * (low * (rh_f8_load(rows[a].here + 8 * r) - step * rh_f8_load(was[a].here + 8 * r)) +
                                  high * (rh_row_above(&rows[a], a, r) - step * rh_row_above(&was[a], a, r)));
            rh_f8 all = gathered(&gives, &momentum[a], dimension, r);
            into -= rh_f8_load(w->normal[a] + at) * all;
            rh_f8 given = all - rh_f8_load(w->riding.axis[a] + at) * mean;
            d[a] = rh_f8_select(whole > zero, given, zero);
            along += rh_f8_load(w->normal[a] + at) * d[a];
        }
        rh_f8_store(w->into + at, rh_f8_max(into, zero));
        for (int a = 0; a < dimension; a++) {
            rh_f8 by = rh_f8_load(w->inverse_mass[a] + at) * (d[a] - rh_f8_load(w->normal[a] + at) * along);
            by = rh_f8_masked(by, w->cut[at / 8]);
            rh_f8_store(w->change[0].axis[a] + at, by);
            rh_f8_store(w->change[1].axis[a] + at, by);
        }
    }
}

rh_code rh_wall_friction_share(const rh_wall_friction *w, const rh_unilateral_view *view, rh_faces inverse_mass,
                               rh_faces u, rh_status *status)
{
    const rh_tiles *tiles = view->tiles;
    rh_arena_mark mark = rh_arena_save(view->arena);
    held of = {.mass = w->held};
    RH_TRY(rh_faces_new(&of.momentum, tiles, true, view->arena, status));
#pragma omp parallel for schedule(static, 2)
    for (int32_t n = 0; n < w->count; n++)
        if (is_walled(view, w->list[n])) held_tile(w, view, w->list[n], &of);
#pragma omp parallel for schedule(static, 2)
    for (int32_t n = 0; n < w->count; n++) share_tile(w, view, inverse_mass, u, of.momentum, w->list[n]);
#pragma omp parallel for schedule(static, 2)
    for (int32_t n = 0; n < w->count; n++) push_tile(w, inverse_mass, 1, tiles, w->list[n], u);
    rh_arena_restore(view->arena, mark);
    return RH_OK;
}

// --- how much walls bear ---------------------------------------------------------------------------------------------
static rh_f8 load_row(const rh_wall_friction *w, int64_t at, int dimension, rh_f8 q, float most,
                      const rh_stress *carried)
{
    rh_f8 zero = rh_f8_all(0), sum = zero;
    for (int a = 0; a < dimension; a++) {
        rh_f8 side = rh_f8_load(w->side[a] + at), n = rh_f8_load(w->normal[a] + at);
        sum += n * (q * rh_f8_load(w->area[a] + at) - side * rh_f8_load(carried->part[a] + at));
    }
    rh_i8 any = bits_of(w->cut, at / 8) | (rh_f8_load(w->gives + at) > zero);
    return rh_f8_select(any, rh_f8_min(rh_f8_max(sum, zero), rh_f8_all(most)), zero);
}

static void bound_tile(const rh_wall_friction *w, const rh_tiles *tiles, const float *coefficients, const float *loads,
                       int32_t t)
{
    rh_rows load = rh_rows_of(tiles, loads, t, ZEROS), gives = rh_rows_of(tiles, w->gives, t, ZEROS);
    for (int r = 0; r < tiles->cells / 8; r++) {
        int64_t at = (int64_t)t * tiles->cells + 8 * r;
        if (!w->cut[at / 8]) continue;
        rh_f8 sum = gathered(&gives, &load, tiles->dimension, r) + rh_f8_load(w->into + at);
        rh_f8_store(w->bound + at, sum * rh_f8_load(coefficients + at));
    }
}

rh_code rh_wall_friction_bound(rh_wall_friction *w, const rh_unilateral_view *view, const float *coefficients,
                               const float *q, float most, const rh_stress *carried, rh_status *status)
{
    const rh_tiles *tiles = view->tiles;
    size_t bytes = (size_t)rh_tiles_values(tiles) * sizeof(float);
    rh_arena_mark mark = rh_arena_save(view->arena);
    float *load = rh_field_new(tiles, view->arena, status);
    if (!load) return RH_MEMORY;
    memset(load, 0, bytes);
#pragma omp parallel for schedule(static, 2)
    for (int32_t n = 0; n < w->count; n++)
        for (int r = 0; r < tiles->cells / 8; r++) {
            int64_t at = (int64_t)w->list[n] * tiles->cells + 8 * r;
            if (w->cut[at / 8] || rh_i8_bits(rh_f8_load(w->gives + at) > rh_f8_all(0)))
                rh_f8_store(load + at, load_row(w, at, tiles->dimension, rh_f8_load(q + at), most, carried));
        }
#pragma omp parallel for schedule(static, 2)
    for (int32_t n = 0; n < w->count; n++) bound_tile(w, tiles, coefficients, load, w->list[n]);
    rh_arena_restore(view->arena, mark);
    for (int k = 0; k < 2; k++)
        for (int a = 0; a < tiles->dimension; a++) {
            memcpy(w->now[k].axis[a], w->carried[k].axis[a], bytes);
            memcpy(w->ahead[k].axis[a], w->carried[k].axis[a], bytes);
        }
    return RH_OK;
}

// --- push and strain -------------------------------------------------------------------------------------------------
// The changes that tractions and stress in a row of cells make to the velocities of its lower and upper faces.
static void change_row(const rh_wall_friction *w, const rh_faces traction[2], const rh_stress *stress,
                       const rh_rows inverse_mass[3], int64_t at, int r, int dimension)
{
    rh_f8 zero = rh_f8_all(0), back[3], along = zero;
    for (int a = 0; a < dimension; a++) {
        back[a] = rh_f8_load(w->side[a] + at) * rh_f8_load(stress->part[a] + at);
        along += rh_f8_load(w->normal[a] + at) * back[a];
    }
    for (int a = 0; a < dimension; a++) {
        rh_f8 normal = rh_f8_load(w->inverse_mass[a] + at) * (back[a] - rh_f8_load(w->normal[a] + at) * along);
        rh_f8 low = rh_f8_load(inverse_mass[a].here + 8 * r), high = rh_row_above(&inverse_mass[a], a, r),
              first = rh_f8_load(traction[0].axis[a] + at), second = rh_f8_load(traction[1].axis[a] + at);
        rh_f8 both = first + second, on_low = rh_f8_select(high > zero, first, both),
              on_high = rh_f8_select(low > zero, second, both);
        rh_f8_store(w->change[0].axis[a] + at, rh_f8_masked(normal + low * on_low, w->cut[at / 8]));
        rh_f8_store(w->change[1].axis[a] + at, rh_f8_masked(normal + high * on_high, w->cut[at / 8]));
    }
}

void rh_wall_friction_push(const rh_wall_friction *w, const rh_faces traction[2], const rh_stress *stress,
                           rh_faces inverse_mass, float scale, const rh_tiles *tiles, rh_faces u)
{
#pragma omp parallel for schedule(static, 2)
    for (int32_t n = 0; n < w->count; n++) {
        rh_rows mass[3];
        for (int a = 0; a < tiles->dimension; a++) mass[a] = rh_rows_of(tiles, inverse_mass.axis[a], w->list[n], ZEROS);
        for (int r = 0; r < tiles->cells / 8; r++) {
            int64_t at = (int64_t)w->list[n] * tiles->cells + 8 * r;
            if (w->cut[at / 8]) change_row(w, traction, stress, mass, at, r, tiles->dimension);
        }
    }
#pragma omp parallel for schedule(static, 2)
    for (int32_t n = 0; n < w->count; n++) push_tile(w, inverse_mass, scale, tiles, w->list[n], u);
}

void rh_wall_friction_on_walls(const rh_wall_friction *w, const rh_stress *stress, const rh_tiles *tiles, rh_faces out)
{
#pragma omp parallel for schedule(static, 2)
    for (int32_t n = 0; n < w->count; n++)
        for (int r = 0; r < tiles->cells / 8; r++) {
            int64_t at = (int64_t)w->list[n] * tiles->cells + 8 * r;
            rh_f8 along = rh_f8_all(0), back[3];
            if (!w->cut[at / 8]) continue;
            for (int a = 0; a < tiles->dimension; a++) {
                back[a] = rh_f8_load(w->side[a] + at) * rh_f8_load(stress->part[a] + at);
                along += rh_f8_load(w->normal[a] + at) * back[a];
            }
            for (int a = 0; a < tiles->dimension; a++) {
                rh_f8 given = along * rh_f8_load(w->normal[a] + at) - back[a] - rh_f8_load(w->now[0].axis[a] + at) -
                              rh_f8_load(w->now[1].axis[a] + at);
                rh_f8_store(out.axis[a] + at, rh_f8_load(out.axis[a] + at) + rh_f8_masked(given, w->cut[at / 8]));
            }
        }
}

// Velocity of the sand in the cells of a row against the wall's, from their open faces.
static void velocity_row(const rh_wall_friction *w, const rh_rows u[3], const rh_rows inverse_mass[3], int64_t at,
                         int r, int dimension, rh_f8 v[3])
{
    rh_f8 zero = rh_f8_all(0);
    for (int a = 0; a < dimension; a++) {
        rh_f8 whole = rh_f8_load(w->inverse_mass[a] + at), low = mass_of(rh_f8_load(inverse_mass[a].here + 8 * r)),
              high = mass_of(rh_row_above(&inverse_mass[a], a, r));
        rh_f8 mean = whole * (low * rh_f8_load(u[a].here + 8 * r) + high * rh_row_above(&u[a], a, r));
        v[a] = rh_f8_select(whole > zero, mean - rh_f8_load(w->slip[a] + at), zero);
    }
}

void rh_wall_friction_strain(const rh_wall_friction *w, const rh_rows u[3], const rh_rows inverse_mass[3], int64_t at,
                             int r, int dimension, rh_f8 strain[3])
{
    rh_f8 v[3], away = rh_f8_all(0);
    velocity_row(w, u, inverse_mass, at, r, dimension, v);
    rh_i8 cells = bits_of(w->cut, at / 8);
    for (int a = 0; a < dimension; a++) away += rh_f8_load(w->normal[a] + at) * v[a];
    for (int a = 0; a < dimension; a++) {
        rh_f8 side = rh_f8_load(w->side[a] + at), own = side * rh_f8_load(w->normal[a] + at) * away;
        strain[a] = rh_f8_select(cells & (side != rh_f8_all(0)), own, strain[a]);
    }
}

// One of the two contacts of a row of cells: that of lower faces, or of upper ones; where one has no sand, the other's.
static void climb_row(const rh_wall_friction *w, int k, const rh_rows u[3], const rh_rows inverse_mass[3], int64_t at,
                      int r, int dimension, float momentum, rh_f8 *largest, rh_f8 *uphill)
{
    rh_f8 zero = rh_f8_all(0), v[3], away = zero, light = rh_f8_all(0.1f), trial[3], size = rh_f8_all(1e-30f),
          share = rh_f8_load(w->share + at);
    for (int a = 0; a < dimension; a++) {
        rh_f8 low = rh_f8_load(inverse_mass[a].here + 8 * r), high = rh_row_above(&inverse_mass[a], a, r);
        rh_i8 lower = k == 0 ? low > zero : high <= zero;
        light = rh_f8_max(light, rh_f8_select(lower, low, high));
        v[a] = rh_f8_select(lower, rh_f8_load(u[a].here + 8 * r), rh_row_above(&u[a], a, r));
        v[a] = rh_f8_select((low > zero) | (high > zero), v[a] - rh_f8_load(w->slip[a] + at), zero);
        away += rh_f8_load(w->normal[a] + at) * v[a];
    }
    for (int a = 0; a < dimension; a++) {
        rh_f8 slides = v[a] - away * rh_f8_load(w->normal[a] + at);
        trial[a] = rh_f8_load(w->ahead[k].axis[a] + at) - RATE / light * slides;
        size += trial[a] * trial[a];
    }
    rh_f8 bound = rh_f8_masked((k == 0 ? share : 1.0f - share) * rh_f8_load(w->bound + at), w->cut[at / 8]),
          scale = rh_f8_min(bound / rh_f8_sqrt(size), rh_f8_all(1));
    for (int a = 0; a < dimension; a++) {
        rh_f8 next = scale * trial[a], change = next - rh_f8_load(w->now[k].axis[a] + at);
        *largest = rh_f8_max(*largest, rh_f8_abs(change));
        *uphill += (rh_f8_load(w->ahead[k].axis[a] + at) - next) * change;
        rh_f8_store(w->now[k].axis[a] + at, next);
        rh_f8_store(w->ahead[k].axis[a] + at, next + momentum * change);
    }
}

void rh_wall_friction_climb(const rh_wall_friction *w, const rh_rows u[3], const rh_rows inverse_mass[3], int64_t at,
                            int r, int dimension, float momentum, rh_f8 *largest, rh_f8 *uphill)
{
    for (int k = 0; k < 2; k++) climb_row(w, k, u, inverse_mass, at, r, dimension, momentum, largest, uphill);
}

// --- on particles ----------------------------------------------------------------------------------------------------
void rh_wall_friction_to_particles(const rh_wall_friction *w, const rh_stress_motion *motion, float quiet,
                                   const rh_unilateral_view *view)
{
    const rh_tiles *tiles = view->tiles;
    float(*carried)[9] = rh_points_data(view->points, "stress", RH_POINT_MAT3F);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < w->count; n++) {
        int32_t t = w->list[n];
        if (!is_walled(view, t)) continue;
        for (int c = 0; c < tiles->cells; c++) {
            int64_t cell = (int64_t)t * tiles->cells + c;
            bool cut = w->cut[cell / 8] >> (cell & 7) & 1, rests = motion->rest[cell >> 3] >> (cell & 7) & 1;
            float taken = motion->gradual[cell >> 3] >> (cell & 7) & 1 ? RH_STRESS_TAKEN : 1;
            for (uint32_t i = tiles->first[cell]; i < tiles->first[cell + 1]; i++)
                for (int a = 0; a < 3; a++) {
                    bool has = cut && a < tiles->dimension;
                    float change = 0;
                    for (int k = 0; k < 2 && has; k++) change += w->now[k].axis[a][cell] - w->carried[k].axis[a][cell];
                    if (!has) carried[i][PARTS + a] = 0;
                    else if (!rests || fabsf(change) >= quiet)
                        carried[i][PARTS + a] += view->pressure_unit * taken * change;
                }
        }
    }
}
