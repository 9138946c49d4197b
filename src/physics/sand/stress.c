// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A face is pushed by differences of normal stress across it and of shears beside it. A cell's stress is the mean of
// what its particles carry, an edge's that of the four cells around it, and particles get the change back.
#include "physics/sand/stress.h"

#include <math.h>
#include <string.h>
#include "grid/rows.h"
#include "physics/sand/upright.h"

static const float ZEROS[RH_CELLS], ONES[RH_CELLS] = {[0 ... RH_CELLS - 1] = 1};
static const float LIGHTEST = 0.1f;  // filling: a face counts as no lighter, or friction would move nothing else
static const float NOTHING = 1e-4f;  // filling: less is no sand

rh_code rh_stress_new(rh_stress *stress, const rh_tiles *tiles, bool clear, rh_arena *arena, rh_status *status)
{
    *stress = (rh_stress){{NULL}};
    for (int p = 0; p < RH_STRESS_PARTS; p++) {
        if (!rh_stress_has(tiles->dimension, p)) continue;
        stress->part[p] = rh_field_new(tiles, arena, status);
        if (!stress->part[p]) return RH_MEMORY;
        if (clear) memset(stress->part[p], 0, (size_t)rh_tiles_values(tiles) * sizeof(float));
    }
    return RH_OK;
}

// Open shares of a tile's lower faces along an axis, 0 for those of walls. Along an upright wall through the middles of
// cells all faces are half open, and would be the wall's with all that hangs there: so of the faces that gravity pulls
// sand through, between upright walls (`hangs`), only those of a cell inside a wall are. (The same for all faces: sand
// that a piston presses through a slit of 0.9 cells left at 53 m/s for 26. Everywhere: a layer of a cell on a wall of
// 10 degrees without friction had 0.73 of its speed.)
static void open_tile(const rh_unilateral_view *view, bool hangs, int axis, int32_t t, float *out)
{
    rh_rows room = rh_rows_apart(view->tiles, view->cut->room, t, ONES);
    for (int r = 0; r < view->tiles->cells / 8; r++) {
        rh_f8 open = rh_f8_load(view->cut->pass[axis][t] + 8 * r),
              least = rh_f8_min(rh_f8_load(room.here + 8 * r), rh_row_below(&room, axis, r));
        rh_i8 closed = open <= rh_f8_all(RH_SAND_CLOSED);
        if (hangs) closed &= least < rh_f8_all(RH_SAND_SOLID_ROOM);
        rh_f8_store(out + 8 * r, rh_f8_select(closed, rh_f8_all(0), open));
    }
}

rh_code rh_sand_faces_make(rh_sand_faces *faces, const rh_unilateral_view *view, const uint8_t *between,
                           rh_status *status)
{
    const rh_tiles *tiles = view->tiles;
    RH_TRY(rh_faces_new(&faces->inverse_mass, tiles, false, view->arena, status));
    RH_TRY(rh_faces_new(&faces->start, tiles, false, view->arena, status));
    RH_TRY(rh_faces_new(&faces->open, tiles, false, view->arena, status));
    float scale = view->dt * tiles->inverse_h;
    int upright = rh_upright_axis(view->around->gravity, tiles->dimension);
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int a = 0; a < tiles->dimension; a++) {
            float *open = faces->open.axis[a] + (int64_t)t * tiles->cells;
            open_tile(view, between[t] && a == upright, a, t, open);
            for (int c = 0; c < tiles->cells; c += 8) {
                int64_t at = (int64_t)t * tiles->cells + c;
                rh_f8 fill = rh_f8_load(view->limit->fill.axis[a] + at);
                rh_i8 closed = rh_f8_load(open + c) == rh_f8_all(0);
                rh_f8 inverse_mass = rh_f8_all(1) / rh_f8_max(fill, rh_f8_all(LIGHTEST));
                rh_f8_store(faces->inverse_mass.axis[a] + at,
                            rh_f8_select(closed | (fill < rh_f8_all(NOTHING)), rh_f8_all(0), inverse_mass));
                rh_f8 u = rh_f8_select(closed, rh_f8_load(view->cut->wall[a][t] + c),
                                       rh_f8_load(view->velocity.axis[a] + at));
                rh_f8_store(faces->start.axis[a] + at, scale * u);
            }
        }
    return RH_OK;
}

static int shear_of(int a, int b) { return a + b + 2; }  // part of two different axes

static void add_divergence_tile(const rh_stress *stress, rh_faces inverse_mass, rh_faces from, float scale,
                                const rh_tiles *tiles, int32_t t, const uint8_t *moved, rh_faces out)
{
    for (int a = 0; a < tiles->dimension; a++) {
        rh_rows normal = rh_rows_of(tiles, stress->part[a], t, ZEROS), shear[3];
        for (int b = 0; b < tiles->dimension; b++)
            if (b != a) shear[b] = rh_rows_of(tiles, stress->part[shear_of(a, b)], t, ZEROS);
        for (int r = 0; r < tiles->cells / 8; r++) {
            int64_t at = (int64_t)t * tiles->cells + 8 * r;
            if (moved && !moved[at >> 3]) continue;
            rh_f8 force = rh_f8_load(normal.here + 8 * r) - rh_row_below(&normal, a, r);
            for (int b = 0; b < tiles->dimension; b++)
                if (b != a) force += rh_row_above(&shear[b], b, r) - rh_f8_load(shear[b].here + 8 * r);
            rh_f8_store(out.axis[a] + at,
                        rh_f8_load(from.axis[a] + at) + scale * rh_f8_load(inverse_mass.axis[a] + at) * force);
        }
    }
}

void rh_stress_add_divergence(const rh_stress *stress, rh_faces inverse_mass, rh_faces from, float scale,
                              const rh_tiles *tiles, const rh_stress_rows *rows, rh_faces out)
{
#pragma omp parallel for schedule(static, 2)
    for (int32_t n = 0; n < rows->count; n++)
        add_divergence_tile(stress, inverse_mass, from, scale, tiles, rows->list[n], rows->moved, out);
}

// --- on particles ----------------------------------------------------------------------------------------------------
static rh_code means_of_cells(rh_stress *mean, const rh_unilateral_view *view, rh_status *status)
{
    const rh_tiles *tiles = view->tiles;
    float(*carried)[9] = rh_points_data(view->points, "stress", RH_POINT_MAT3F);
    RH_TRY(rh_stress_new(mean, tiles, true, view->arena, status));
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < tiles->occupied_count; n++)
        for (int c = 0; c < tiles->cells; c++) {
            int64_t cell = (int64_t)tiles->occupied[n] * tiles->cells + c;
            uint32_t begin = tiles->first[cell], end = tiles->first[cell + 1];
            if (begin == end) continue;
            float sum[RH_STRESS_PARTS] = {0}, scale = 1 / (view->pressure_unit * (float)(end - begin));
            for (uint32_t p = begin; p < end; p++)
                for (int i = 0; i < RH_STRESS_PARTS; i++) sum[i] += carried[p][i];
            for (int i = 0; i < RH_STRESS_PARTS; i++)
                if (mean->part[i]) mean->part[i][cell] = scale * sum[i];
        }
    return RH_OK;
}

// 1 in cells that count in the mean around an edge, 0 inside walls beside sand that hangs between upright ones. A wall
// has no stress of its own: with its cells in the mean an edge on a wall took over half of what the sand beside it
// carried, so that floors of silos had to bear the rest. Elsewhere that half steadies sand which walls press together:
// without it, sand in a box whose lid closed by 4 % too much left at 900 m/s.
static float *counted_cells(const rh_unilateral_view *view, const uint8_t *between, rh_status *status)
{
    const rh_tiles *tiles = view->tiles;
    float *out = rh_field_new(tiles, view->arena, status);
    if (!out) return NULL;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int c = 0; c < tiles->cells; c += 8) {
            float solid = between[t] ? RH_SAND_SOLID_ROOM : -1;
            rh_f8_store(
                out + (int64_t)t * tiles->cells + c,
                rh_f8_select(rh_f8_load(view->cut->room[t] + c) < rh_f8_all(solid), rh_f8_all(0), rh_f8_all(1)));
        }
    return out;
}

rh_code rh_stress_from_particles(rh_stress *stress, const rh_unilateral_view *view, const uint8_t *between,
                                 rh_status *status)
{
    const rh_tiles *tiles = view->tiles;
    rh_stress mean;
    RH_TRY(rh_stress_new(stress, tiles, false, view->arena, status));
    rh_arena_mark mark = rh_arena_save(view->arena);
    RH_TRY(means_of_cells(&mean, view, status));
    float *counted = counted_cells(view, between, status);
    if (!counted) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int p = 0; p < RH_STRESS_PARTS; p++) {
            if (!mean.part[p]) continue;
            const int *axes = rh_stress_axes[p];
            float *out = stress->part[p] + (int64_t)t * tiles->cells;
            if (axes[0] == axes[1]) {
                memcpy(out, mean.part[p] + (int64_t)t * tiles->cells, (size_t)tiles->cells * sizeof(float));
                continue;
            }
            rh_rows_around f = rh_rows_around_of(tiles, mean.part[p], t, ZEROS),
                           count = rh_rows_around_of(tiles, counted, t, ONES);
            for (int r = 0; r < tiles->cells / 8; r++)
                rh_f8_store(out + 8 * r, rh_row_around_edge(&f, r, axes) /
                                             rh_f8_max(rh_row_around_edge(&count, r, axes), rh_f8_all(1)));
        }
    rh_arena_restore(view->arena, mark);
    return RH_OK;
}

// A shear part at the centres of a row, from the edges around them.
static rh_f8 centred(const rh_rows_around *f, int r, const int *axes)
{
    int d[2][3] = {{0}};
    d[0][axes[0]] = d[1][axes[1]] = 1;
    return 0.25f * (rh_row_at(f, r, 0, 0, 0) + rh_row_at(f, r, d[0][0], d[0][1], d[0][2]) +
                    rh_row_at(f, r, d[1][0], d[1][1], d[1][2]) +
                    rh_row_at(f, r, d[0][0] + d[1][0], d[0][1] + d[1][1], d[0][2] + d[1][2]));
}

// The mean of a normal part over the cells around that have particles, weights 4 2 1 (8 4 2 1).
static rh_f8 smoothed(const rh_rows_around *f, const rh_rows_around *has, int r, int deep)
{
    rh_f8 sum = rh_f8_all(0), weights = rh_f8_all(0);
    for (int dk = -deep; dk <= deep; dk++)
        for (int dj = -1; dj <= 1; dj++)
            for (int di = -1; di <= 1; di++) {
                float w = (float)((di ? 1 : 2) * (dj ? 1 : 2) * (dk ? 1 : 2));
                rh_f8 there = w * rh_row_at(has, r, di, dj, dk);
                sum += there * rh_row_at(f, r, di, dj, dk);
                weights += there;
            }
    return sum / rh_f8_max(weights, rh_f8_all(1));
}

typedef struct change {
    float now[RH_CELLS], target[RH_CELLS];
} change;  // of one part on a tile: what particles add, and what they are drawn to

static void change_tile(const rh_stress *stress, const rh_stress *before, const float *has, const rh_tiles *tiles,
                        int32_t t, int p, change *out)
{
    const int *axes = rh_stress_axes[p];
    rh_rows_around f = rh_rows_around_of(tiles, stress->part[p], t, ZEROS),
                   old = rh_rows_around_of(tiles, before->part[p], t, ZEROS);
    rh_rows_around there = rh_rows_around_of(tiles, has, t, ZEROS);
    for (int r = 0; r < tiles->cells / 8; r++) {
        bool normal = axes[0] == axes[1];
        rh_f8 now = normal ? rh_f8_load(f.at[RH_HERE] + 8 * r) : centred(&f, r, axes),
              was = normal ? rh_f8_load(old.at[RH_HERE] + 8 * r) : centred(&old, r, axes);
        rh_f8_store(out->now + 8 * r, now - was);
        rh_f8_store(out->target + 8 * r, normal ? smoothed(&f, &there, r, tiles->dimension == 3) : now);
    }
}

static void carry_tile(const rh_stress *stress, const rh_stress *before, const float *has,
                       const rh_stress_motion *motion, float stress_smoothing, const rh_unilateral_view *view,
                       int32_t t)
{
    const rh_tiles *tiles = view->tiles;
    float(*carried)[9] = rh_points_data(view->points, "stress", RH_POINT_MAT3F);
    float quiet = RH_STRESS_QUIET * (float)rh_d3_length(view->around->gravity) * view->kick * view->dt *
                  tiles->inverse_h;
    for (int p = 0; p < RH_STRESS_PARTS; p++) {
        if (!stress->part[p]) continue;
        change by;
        change_tile(stress, before, has, tiles, t, p, &by);
        for (int c = 0; c < tiles->cells; c++) {
            int64_t cell = (int64_t)t * tiles->cells + c;
            bool rests = motion->rest[cell >> 3] >> (cell & 7) & 1,
                 gradual = motion->gradual[cell >> 3] >> (cell & 7) & 1;
            if (rests && fabsf(by.now[c]) < quiet) continue;
            float now = view->pressure_unit * (gradual ? RH_STRESS_TAKEN : 1) * by.now[c],
                  target = view->pressure_unit * by.target[c], share = rests ? 0 : stress_smoothing;
            for (uint32_t i = tiles->first[cell]; i < tiles->first[cell + 1]; i++) {
                float sum = carried[i][p] + now;
                carried[i][p] = sum + share * (target - sum);
            }
        }
    }
}

rh_code rh_stress_to_particles(const rh_stress *stress, const rh_stress *before, const rh_stress_motion *motion,
                               float stress_smoothing, const rh_unilateral_view *view, rh_status *status)
{
    const rh_tiles *tiles = view->tiles;
    rh_arena_mark mark = rh_arena_save(view->arena);
    float *has = rh_field_new(tiles, view->arena, status);
    if (!has) return RH_MEMORY;
    int64_t values = rh_tiles_values(tiles);
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < values; c++) has[c] = tiles->first[c + 1] > tiles->first[c];
#pragma omp parallel for schedule(dynamic, 2)
    for (int32_t n = 0; n < tiles->occupied_count; n++)
        carry_tile(stress, before, has, motion, stress_smoothing, view, tiles->occupied[n]);
    rh_arena_restore(view->arena, mark);
    return RH_OK;
}
