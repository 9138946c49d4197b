// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// D. J. Gerszewski, A. W. Bargteil, "Physics-based animation of large-scale splashing liquids", ACM TOG 32(6), 2013,
// after R. Narain, A. Golas, M. C. Lin, "Free-flowing granular materials with two-way solid coupling", ACM TOG 29(6),
// 2010.
//
//   form             link       1/mass    flow        room
//   shares           v          v / f     f u         room - fill
//   shares_right     1          1 / f     v f u       room (room - fill)
//   density          v / f      1 / f     v u         room - fill
//   density_right    1 / f      1 / f     v u         room (room - fill)
//   two-sided        v = 0, 1   v         v u         0
// with v the open share of a face and f its filling.
#include "physics/limit.h"

#include <math.h>
#include <string.h>

#include "grid/bits.h"
#include "grid/rows.h"
#include "grid/tile_components.h"

// The filling of a face never counts as less than this share of its open share: little liquid would else take all of
// the pressure and be shot away. It counts as more at walls, which take the momentum: faces open by a hundredth and
// filled by a ten-thousandth shot drops through the ground of a valley, at 5 cells a step.
static const float EMPTIEST = 0.02f, EMPTIEST_AT_WALLS = 0.3f;
// Overfilled by so little, a cell counts as just full: rounding must not cause pressure in free flight.
static const float SLACK = 1e-4f;
static const float NOTHING = 1e-5f;  // filling: less is no liquid
// Shares of its room below which a cell is not confined. From 0.5 to 0.95 the results are alike for most tanks at rest,
// but water boils in tanks whose top cells are filled by about this share. Slow water boils less with the lower limit;
// sheets along walls would gain energy by it.
static const float CONFINED = 0.8f, CONFINED_SLOW = 0.5f;
// Share of its room below which a cell with pressure is not full: what lies above would fall into the rest of its room.
// With 0.85 pools of some depths rock; with 0.95 and more the water around a plank rises by 2e-4 of its depth.
static const float FULL = 0.9f;
static const float SLIVER = 0.05f;  // room: a cell that had less before walls moved counts as newly opened
static const float ZEROS[RH_CELLS];

static bool is_right(int form) { return form == RH_LIMIT_SHARES_RIGHT || form == RH_LIMIT_DENSITY_RIGHT; }

static inline rh_f8 filled(rh_f8 fill, rh_f8 share)
{
    return rh_f8_max(fill, share * (EMPTIEST + EMPTIEST_AT_WALLS * (rh_f8_all(1) - share)));
}

// --- links -----------------------------------------------------------------------------------------------------------
static inline rh_f8 link_row(int form, rh_f8 pass, rh_f8 fill)
{
    rh_f8 one = rh_f8_all(1);
    if (form == RH_LIMIT_SHARES_RIGHT) return one;
    if (form == RH_LIMIT_DENSITY) return pass / filled(fill, one);
    return form == RH_LIMIT_DENSITY_RIGHT ? one / filled(fill, one) : pass;
}

// Solids are whole cells: a face is open between two cells whose centres are free.
static void voxel_links(const rh_limit *l, int a, int32_t t, float *out)
{
    const rh_tiles *tiles = l->tiles;
    rh_rows distance = rh_rows_apart(tiles, l->cut->distance, t, ZEROS);
    rh_f8 zero = rh_f8_all(0), one = rh_f8_all(1);
    for (int r = 0; r < tiles->cells / 8; r++) {
        rh_i8 open = (rh_f8_load(distance.here + 8 * r) > zero) & (rh_row_below(&distance, a, r) > zero);
        rh_f8_store(out + 8 * r, rh_f8_select(open, one, zero));
    }
    for (int c = 0; c < tiles->cells && l->cut->inflow && l->cut->inflow[t]; c++)
        if (l->cut->inflow[t][c] >> a & 1) out[c] = 0;
}

static rh_code make_links(rh_limit *l, rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = l->tiles;
    bool given = !l->options.two_sided && l->options.form == RH_LIMIT_SHARES;
    rh_faces own = {{NULL, NULL, NULL}};
    if (!given) RH_TRY(rh_faces_new(&own, tiles, false, arena, status));
    for (int a = 0; a < tiles->dimension; a++) {
        l->link[a] = given ? l->cut->pass[a]
                           : rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *l->link[a], status);
        if (!l->link[a]) return RH_MEMORY;
        if (given) continue;
#pragma omp parallel for schedule(static)
        for (int32_t t = 0; t < tiles->count; t++) {
            float *out = own.axis[a] + (int64_t)t * tiles->cells;
            l->link[a][t] = out;
            if (l->options.two_sided) {
                voxel_links(l, a, t, out);
                continue;
            }
            for (int r = 0; r < tiles->cells; r += 8)
                rh_f8_store(out + r, link_row(l->options.form, rh_f8_load(l->cut->pass[a][t] + r),
                                              rh_f8_load(l->fill.axis[a] + (int64_t)t * tiles->cells + r)));
        }
    }
    return RH_OK;
}

// --- unknowns and operator -------------------------------------------------------------------------------------------
static int liquid_bits(const rh_limit *l, const float *fill, int32_t t, int r)
{
    const rh_tiles *tiles = l->tiles;
    int64_t cell = (int64_t)t * tiles->cells + 8 * r;
    if (l->options.two_sided) {
        int bits = 0;
        for (int i = 0; i < 8; i++) bits |= (tiles->first[cell + i + 1] > tiles->first[cell + i]) << i;
        return bits & rh_i8_bits(rh_f8_load(l->cut->distance[t] + 8 * r) > rh_f8_all(0));
    }
    rh_f8 here = rh_f8_load(fill + cell), room = rh_f8_load(l->cut->room[t] + 8 * r);
    return rh_i8_bits((here >= (float)l->options.air * room) & (here >= NOTHING));
}

static rh_f8 links_around(const rh_limit *l, const rh_rows link[3], int r)
{
    rh_f8 sum = rh_f8_all(0);
    for (int a = 0; a < l->tiles->dimension; a++)
        sum += rh_f8_load(link[a].here + 8 * r) + rh_row_above(&link[a], a, r);
    return sum;
}

static void link_rows(const rh_limit *l, int32_t t, rh_rows link[3])
{
    for (int a = 0; a < l->tiles->dimension; a++) link[a] = rh_rows_apart(l->tiles, l->link[a], t, ZEROS);
}

static void mark_tile(const rh_limit *l, const float *fill, const uint8_t *also, int32_t t)
{
    int size = l->tiles->cells / 8;
    rh_rows link[3];
    link_rows(l, t, link);
    for (int r = 0; r < size; r++) {
        int bits = liquid_bits(l, fill, t, r) | (also && !l->options.two_sided ? also[(int64_t)t * size + r] : 0);
        if (bits) bits &= rh_i8_bits(links_around(l, link, r) > rh_f8_all(0));
        l->layout.unknown[(int64_t)t * size + r] = (uint8_t)bits;
    }
}

static bool is_plain(const rh_limit *l, int32_t t)
{
    if (!rh_layout_is_full(&l->layout, t)) return false;
    rh_rows link[3];
    link_rows(l, t, link);
    rh_i8 full = rh_f8_all(1) == rh_f8_all(1);
    for (int a = 0; a < l->tiles->dimension; a++)
        for (int r = 0; r < l->tiles->cells / 8; r++)
            full &= (rh_f8_load(link[a].here + 8 * r) == rh_f8_all(1)) & (rh_row_above(&link[a], a, r) == rh_f8_all(1));
    return rh_i8_bits(full) == 255;
}

static void assemble_tile(const rh_limit *l, int32_t n)
{
    const rh_tiles *tiles = l->tiles;
    int32_t t = l->layout.listed[n];
    float *block = rh_poisson_block(&l->matrix, n);
    rh_bit_rows bits = rh_bit_rows_of(tiles, l->layout.unknown, t);
    rh_rows link[3];
    link_rows(l, t, link);
    for (int r = 0; r < tiles->cells / 8; r++) {
        int here = bits.here[r];
        for (int a = 0; a < tiles->dimension; a++)
            rh_f8_store(block + (a + 1) * tiles->cells + 8 * r,
                        rh_f8_masked(rh_f8_load(link[a].here + 8 * r), here & rh_bits_row_below(&bits, a, r)));
        rh_f8_store(block + 8 * r, rh_f8_select(rh_i8_from_bits(here), links_around(l, link, r), rh_f8_all(1)));
    }
}

// --- material in flight ----------------------------------------------------------------------------------------------
// Tiles of connected material that no solid is near to: nothing can hold such material, and pressure leaves its
// momentum as it is. (A ball in flight whose cells were seeded a little too full had pressure inside, and with gravity
// weighed as in confined liquid it fell by a hundredth too slowly.)
static rh_code find_in_flight(rh_limit *l, rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = l->tiles;
    l->component = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *l->component, status);
    l->in_flight = rh_arena_take(arena, (size_t)tiles->count + 1, status);
    rh_arena_mark mark = rh_arena_save(arena);
    bool *wall = rh_arena_take_zero(arena, (size_t)tiles->count + 1, status);
    if (!l->component || !l->in_flight || !wall) return RH_MEMORY;
    rh_tile_components(tiles, l->component);
    for (int32_t t = 0; t < tiles->count; t++)
        wall[l->component[t]] = wall[l->component[t]] || l->cut->kind[t] != RH_TILE_FREE;
    for (int32_t t = 0; t < tiles->count; t++) l->in_flight[t] = !wall[l->component[t]];
    rh_arena_restore(arena, mark);
    return RH_OK;
}

rh_code rh_limit_prepare(rh_limit *limit, const rh_limit_options *options, const rh_tiles *tiles,
                         const rh_cut_cells *cut, const float *fill_cells, rh_faces fill_faces, const uint8_t *also,
                         rh_arena *arena, rh_status *status)
{
    *limit = (rh_limit){.tiles = tiles, .cut = cut, .options = *options, .fill = fill_faces};
    RH_TRY(find_in_flight(limit, arena, status));
    RH_TRY(make_links(limit, arena, status));
    RH_TRY(rh_layout_init(&limit->layout, tiles, arena, status));
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t t = 0; t < tiles->count; t++) mark_tile(limit, fill_cells, also, t);
    RH_TRY(rh_layout_number(&limit->layout, arena, status));
    rh_poisson *m = &limit->matrix;
    RH_TRY(rh_poisson_init(m, tiles->dimension, limit->layout.count, arena, status));
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t n = 0; n < m->count; n++) {
        rh_layout_place(&limit->layout, n, m);
        m->block[n] = is_plain(limit, limit->layout.listed[n]) ? RH_PLAIN : -1;
    }
    RH_TRY(rh_poisson_take_blocks(m, arena, status));
    RH_TRY(rh_poisson_count(m, arena, status));
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < m->count; n++)
        if (m->block[n] != RH_PLAIN) assemble_tile(limit, n);
    return RH_OK;
}

// --- right-hand side -------------------------------------------------------------------------------------------------

// Room left in cells of these rooms and fillings; below 0: the overfill.
static inline rh_f8 left_row(const rh_limit *l, rh_f8 room, rh_f8 fill, rh_i8 touched)
{
    rh_f8 zero = rh_f8_all(0), free = (1 + SLACK) * room - fill;
    rh_f8 short_by = rh_f8_select(touched, rh_f8_all((float)l->options.contact_loss_gap),
                                  rh_f8_all((float)l->options.contact_gain_gap));
    return rh_f8_max(free - short_by * room, zero) + rh_f8_min(free + (float)l->options.allowed_overfill * room, zero);
}

static inline rh_i8 touched_row(const float *pressed, int64_t at)
{
    return pressed ? rh_f8_load(pressed + at) > rh_f8_all(0) : rh_f8_all(0) != rh_f8_all(0);
}

void rh_limit_room_left(const rh_limit *l, const float *fill_cells, const float *pressed, float *b)
{
    const rh_tiles *tiles = l->tiles;
    bool right = is_right(l->options.form);
#pragma omp parallel for schedule(static, 4)
    for (int32_t n = 0; n < l->matrix.count; n++) {
        int32_t t = l->layout.listed[n];
        for (int r = 0; r < tiles->cells / 8; r++) {
            rh_f8 left = rh_f8_all(0);
            if (!l->options.two_sided) {
                rh_f8 room = rh_f8_load(l->cut->room[t] + 8 * r);
                left = left_row(l, room, rh_f8_load(fill_cells + (int64_t)t * tiles->cells + 8 * r),
                                touched_row(pressed, (int64_t)n * tiles->cells + 8 * r));
                if (right) left *= room;
            }
            rh_f8_store(b + (int64_t)n * tiles->cells + 8 * r,
                        rh_f8_masked(left, l->layout.unknown[(int64_t)t * (tiles->cells / 8) + r]));
        }
    }
}

void rh_limit_room_left_moved(const rh_limit *l, const rh_cut_cells *before, const float *fill_cells,
                              const float *pressed, float *b)
{
    const rh_tiles *tiles = l->tiles;
    const rh_limit_options *o = &l->options;
    if (o->two_sided || is_right(o->form) ||
        (o->contact_loss_gap == 0 && o->contact_gain_gap == 0 && o->allowed_overfill == 0))
        return;
#pragma omp parallel for schedule(static, 4)
    for (int32_t n = 0; n < l->matrix.count; n++) {
        int32_t t = l->layout.listed[n];
        for (int r = 0; r < tiles->cells / 8; r++) {
            rh_f8 is = rh_f8_load(l->cut->room[t] + 8 * r), was = rh_f8_load(before->room[t] + 8 * r);
            int changed = rh_i8_bits((is != was) & (was > rh_f8_all(SLIVER))) &
                          l->layout.unknown[(int64_t)t * (tiles->cells / 8) + r];
            if (!changed) continue;
            int64_t at = (int64_t)n * tiles->cells + 8 * r;
            rh_f8 fill = rh_f8_load(fill_cells + (int64_t)t * tiles->cells + 8 * r),
                  takes = fill + left_row(l, was, fill, touched_row(pressed, at));
            rh_f8_store(b + at,
                        rh_f8_select(rh_i8_from_bits(changed), takes * is / rh_f8_max(was, rh_f8_all(SLIVER)) - fill,
                                     rh_f8_load(b + at)));
        }
    }
}

void rh_limit_relax_overfill(const rh_limit *l, const rh_cut_cells *before, const float *fill_cells, float share,
                             float *out)
{
    const rh_tiles *tiles = l->tiles;
    float most = 1 + SLACK + (float)l->options.allowed_overfill;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int c = 0; c < tiles->cells; c += 8) {
            int64_t at = (int64_t)t * tiles->cells + c;
            rh_f8 room = rh_f8_load(l->cut->room[t] + c), full = most * room, fill = rh_f8_load(fill_cells + at);
            rh_f8 eased = fill - (1 - share) * rh_f8_max(fill - full, rh_f8_all(0));
            int pushed = l->pushed ? rh_bits_row(&l->pushed[t], c >> 3 & 7, c >> 6) : 0;
            if (pushed) {
                rh_f8 had = most * rh_f8_max(room, rh_f8_load(before->room[t] + c));
                eased = rh_f8_select(rh_i8_from_bits(pushed), rh_f8_min(fill, had), eased);
            }
            rh_f8_store(out + at, eased);
        }
}

// Faces of a tile with a cell that walls push on either side.
static rh_bits pushed_faces(const rh_limit *l, int32_t t, int a)
{
    rh_bits out = {{0}};
    if (!l->pushed) return out;
    out = rh_bits_below(l->tiles, l->pushed, t, a);
    for (int k = 0; k < l->tiles->layers; k++) out.layer[k] |= l->pushed[t].layer[k];
    return out;
}

// The filling that a row of faces counts with: at pushed faces that walls close in part, their open share at least.
static inline rh_f8 as_pushed(int pushed, rh_f8 open, rh_f8 fill)
{
    if (!pushed) return fill;
    rh_i8 narrow = rh_i8_from_bits(pushed) & (open < rh_f8_all(1)) & (fill > rh_f8_all(NOTHING));
    return rh_f8_select(narrow, rh_f8_max(fill, open), fill);
}

void rh_limit_flow_pushed(const rh_limit *l, rh_faces fill)
{
    const rh_tiles *tiles = l->tiles;
    if (!l->pushed) return;
#pragma omp parallel for schedule(static, 4)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int a = 0; a < tiles->dimension; a++) {
            rh_bits pushed = pushed_faces(l, t, a);
            for (int r = 0; r < tiles->cells / 8; r++) {
                float *out = fill.axis[a] + (int64_t)t * tiles->cells + 8 * r;
                rh_f8_store(out, as_pushed(rh_bits_row(&pushed, r & 7, r >> 3), rh_f8_load(l->cut->pass[a][t] + 8 * r),
                                           rh_f8_load(out)));
            }
        }
}

void rh_limit_hold_pushed(const rh_limit *l, rh_faces before, float most, rh_faces velocity)
{
    const rh_tiles *tiles = l->tiles;
    if (!l->pushed) return;
#pragma omp parallel for schedule(static, 4)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int a = 0; a < tiles->dimension; a++) {
            rh_bits pushed = pushed_faces(l, t, a);
            for (int r = 0; r < tiles->cells / 8; r++) {
                int bits = rh_bits_row(&pushed, r & 7, r >> 3);
                int64_t at = (int64_t)t * tiles->cells + 8 * r;
                if (!bits) continue;
                rh_f8 u = rh_f8_load(velocity.axis[a] + at),
                      limit = rh_f8_max(rh_f8_all(most), rh_f8_abs(rh_f8_load(before.axis[a] + at)));
                rh_f8 held = rh_f8_max(rh_f8_min(u, limit), -limit);
                rh_f8_store(velocity.axis[a] + at, rh_f8_select(rh_i8_from_bits(bits), held, u));
            }
        }
}

// Cells of a row that walls push and close in on: what leaves them is found by fluxes.
static rh_i8 pushed_row(const rh_limit *l, int32_t t, int r)
{
    int bits = l->pushed ? rh_bits_row(&l->pushed[t], r & 7, r >> 3) : 0;
    rh_i8 narrow = rh_i8_from_bits(0);
    for (int a = 0; a < l->tiles->dimension && bits; a++) {
        rh_rows pass = rh_rows_apart(l->tiles, l->cut->pass[a], t, ZEROS);
        narrow |= (rh_f8_load(pass.here + 8 * r) < rh_f8_all(1)) | (rh_row_above(&pass, a, r) < rh_f8_all(1));
    }
    return narrow & rh_i8_from_bits(bits);
}

// The fields that make up the flow through faces of one axis. Below, `above` selects the upper faces of the row.
typedef struct flow {
    rh_rows u, pass, fill, wall;
} flow;

static flow flow_of(const rh_limit *l, rh_faces fill, rh_faces velocity, int a, int32_t t)
{
    const rh_tiles *tiles = l->tiles;
    return (flow){rh_rows_of(tiles, velocity.axis[a], t, ZEROS),
                  rh_rows_apart(tiles, l->options.two_sided ? l->link[a] : l->cut->pass[a], t, ZEROS),
                  rh_rows_of(tiles, fill.axis[a], t, ZEROS), rh_rows_apart(tiles, l->cut->wall[a], t, ZEROS)};
}

static inline rh_f8 flow_row(const rh_limit *l, const flow *f, int a, int r, bool above)
{
#define ROW(field) (above ? rh_row_above(&f->field, a, r) : rh_f8_load(f->field.here + 8 * r))
    rh_f8 u = ROW(u);
    if (l->options.two_sided) {
        rh_f8 pass = ROW(pass);
        return pass * u + (rh_f8_all(1) - pass) * ROW(wall);
    }
    if (l->options.form == RH_LIMIT_SHARES) return ROW(fill) * u;
    return l->options.form == RH_LIMIT_SHARES_RIGHT ? ROW(pass) * ROW(fill) * u : ROW(pass) * u;
#undef ROW
}

void rh_limit_outflow(const rh_limit *l, rh_faces fill_faces, rh_faces velocity, float dt, float *b)
{
    RH_ASSERT(rh_faces_fit(l->tiles, fill_faces) && rh_faces_fit(l->tiles, velocity) && dt >= 0);
    const rh_tiles *tiles = l->tiles;
    float scale = dt * tiles->inverse_h;
#pragma omp parallel for schedule(static, 4)
    for (int32_t n = 0; n < l->matrix.count; n++) {
        int32_t t = l->layout.listed[n];
        for (int a = 0; a < tiles->dimension; a++) {
            flow f = flow_of(l, fill_faces, velocity, a, t);
            for (int r = 0; r < tiles->cells / 8; r++) {
                int bits = l->layout.unknown[(int64_t)t * (tiles->cells / 8) + r];
                if (!bits) continue;
                float *out = b + (int64_t)n * tiles->cells + 8 * r;
                rh_f8 leaves = flow_row(l, &f, a, r, true) - flow_row(l, &f, a, r, false);
                rh_f8_store(out, rh_f8_load(out) + rh_f8_masked(scale * leaves, bits));
            }
        }
    }
}

void rh_limit_blend(const rh_limit *l, const float *q, const float *other, float trust, float *b)
{
    RH_ASSERT(q != b && other != b && trust >= 0);
    const rh_tiles *tiles = l->tiles;
    rh_f8 zero = rh_f8_all(0);
#pragma omp parallel for schedule(static, 4)
    for (int32_t n = 0; n < l->matrix.count; n++) {
        rh_rows rows = rh_layout_rows(&l->layout, q, l->layout.listed[n]);
        for (int r = 0; r < tiles->cells / 8; r++) {
            int64_t at = (int64_t)n * tiles->cells + 8 * r;
            rh_i8 confined = rh_f8_load(rows.here + 8 * r) != zero;
            for (int a = 0; a < tiles->dimension; a++)
                confined |= (rh_row_below(&rows, a, r) != zero) | (rh_row_above(&rows, a, r) != zero);
            rh_f8 here = rh_f8_load(b + at), there = rh_f8_load(other + at);
            rh_f8 near = rh_f8_min(rh_f8_max(here, there - trust), there + trust);
            near = rh_f8_select(pushed_row(l, l->layout.listed[n], r), here, near);
            rh_f8_store(b + at, rh_f8_select(confined, near, there));
        }
    }
}

// --- what pressure does ----------------------------------------------------------------------------------------------
static inline rh_f8 inverse_mass_row(const rh_limit *l, rh_f8 pass, rh_f8 fill)
{
    rh_f8 one = rh_f8_all(1);
    if (l->options.two_sided) return pass;
    rh_f8 inverse_mass = l->options.form == RH_LIMIT_SHARES ? pass / filled(fill, pass) : one / filled(fill, one);
    return rh_f8_select((fill > rh_f8_all(NOTHING)) & (pass > rh_f8_all(0)), inverse_mass, rh_f8_all(0));
}

// --- confined liquid -------------------------------------------------------------------------------------------------
// Of a row of cells: 0 = not full, 1 = full, 2 = full and under pressure. Cells at walls are often without a particle
// to carry pressure to them: there the pressure of a neighbour counts.
static rh_f8 state_row(const rh_limit *l, const rh_rows *q, rh_f8 fill, rh_f8 room, rh_i8 slow, int r)
{
    rh_f8 zero = rh_f8_all(0), one = rh_f8_all(1),
          least = rh_f8_select(slow, rh_f8_all(CONFINED_SLOW), rh_f8_all(CONFINED));
    rh_i8 full = (fill >= least * room) & (fill > rh_f8_all(NOTHING)), pressed = rh_f8_load(q->here + 8 * r) > zero;
    for (int a = 0; a < l->tiles->dimension; a++)
        pressed |= ((rh_row_below(q, a, r) > zero) | (rh_row_above(q, a, r) > zero)) & (room < one);
    return rh_f8_select(full, rh_f8_select(pressed, one + one, one), zero);
}

// Cells of a row all of whose faces are slower than `slow`.
static rh_i8 slow_cells(const rh_limit *l, const rh_rows u[3], float slow, int r)
{
    rh_f8 most = rh_f8_all(0);
    for (int a = 0; a < l->tiles->dimension; a++)
        most = rh_f8_max(most,
                         rh_f8_max(rh_f8_abs(rh_f8_load(u[a].here + 8 * r)), rh_f8_abs(rh_row_above(&u[a], a, r))));
    return most < rh_f8_all(slow);
}

rh_code rh_limit_find_confined(rh_limit *l, const float *q, const float *fill_cells, rh_faces before, float slow,
                               rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = l->tiles;
    for (int a = 0; a < tiles->dimension; a++) {
        l->confined[a] = rh_arena_take(arena, (size_t)rh_tiles_values(tiles) / 8 + 8, status);
        if (!l->confined[a]) return RH_MEMORY;
    }
    rh_arena_mark mark = rh_arena_save(arena);
    float *state = rh_field_new(tiles, arena, status);
    if (!state) return RH_MEMORY;
#pragma omp parallel for schedule(static, 4)
    for (int32_t t = 0; t < tiles->count; t++) {
        rh_rows rows = rh_layout_rows(&l->layout, q, t), u[3];
        for (int a = 0; a < tiles->dimension; a++) u[a] = rh_rows_of(tiles, before.axis[a], t, ZEROS);
        for (int c = 0; c < tiles->cells; c += 8) {
            int64_t at = (int64_t)t * tiles->cells + c;
            rh_f8 fill = rh_f8_load(fill_cells + at), room = rh_f8_load(l->cut->room[t] + c);
            rh_i8 rests = slow_cells(l, u, slow, c / 8);
            rh_f8_store(state + at, l->in_flight[t] ? rh_f8_all(0) : state_row(l, &rows, fill, room, rests, c / 8));
        }
    }
#pragma omp parallel for schedule(static, 4)
    for (int32_t t = 0; t < tiles->count; t++) {
        rh_rows rows = rh_rows_of(tiles, state, t, ZEROS);
        for (int a = 0; a < tiles->dimension; a++)
            for (int r = 0; r < tiles->cells / 8; r++) {
                rh_f8 here = rh_f8_load(rows.here + 8 * r), below = rh_row_below(&rows, a, r);
                // beside walls that move nothing rests
                rh_i8 still = rh_f8_load(l->cut->wall[a][t] + 8 * r) == rh_f8_all(0);
                rh_i8 confined = (rh_f8_min(here, below) >= rh_f8_all(1)) & (here + below >= rh_f8_all(3)) & still;
                l->confined[a][(int64_t)t * (tiles->cells / 8) + r] = (uint8_t)rh_i8_bits(confined);
            }
    }
    rh_arena_restore(arena, mark);
    return RH_OK;
}

// Nothing flows through closed faces of walls at rest: the weight of particles there is the rim of those beside the
// wall. Where a face in the wall was confined in one step and not in the next, as cells with next to no room are full
// or not by chance, the cell above lost the material that gravity pulled through the closed face, and all the water
// above fell after it: a trembling of 0.04 to 0.1 sqrt(g H) at the bed of slopes, and a jet along it.
void rh_limit_flow_shares(const rh_limit *l, const float *fill_cells, rh_faces before, rh_faces velocity, rh_faces fill)
{
    RH_ASSERT(rh_faces_fit(l->tiles, velocity) && rh_faces_fit(l->tiles, fill));
    const rh_tiles *tiles = l->tiles;
    rh_f8 zero = rh_f8_all(0), one = rh_f8_all(1);
#pragma omp parallel for schedule(static, 4)
    for (int32_t t = 0; t < tiles->count; t++) {
        rh_rows cells = rh_rows_of(tiles, fill_cells, t, ZEROS);
        for (int a = 0; a < tiles->dimension; a++)
            for (int r = 0; r < tiles->cells / 8; r++) {
                int64_t at = (int64_t)t * tiles->cells + 8 * r;
                rh_f8 own = rh_f8_load(fill.axis[a] + at), open = rh_f8_load(l->cut->pass[a][t] + 8 * r);
                rh_i8 closed = (open == zero) & (rh_f8_load(l->cut->wall[a][t] + 8 * r) == zero);
                rh_i8 whole = closed | rh_i8_from_bits(l->confined[a][at / 8]);
                rh_f8 u = rh_f8_load(velocity.axis[a] + at), old = rh_f8_load(before.axis[a] + at);
                rh_f8 fuller_below = rh_row_below(&cells, a, r) - rh_f8_load(cells.here + 8 * r);
                rh_f8 had = rh_f8_select(u != zero, rh_f8_max(rh_f8_min(old / u, one), zero), zero);
                rh_f8 weight = rh_f8_select(whole | (u * fuller_below > zero), one, had);
                rh_i8 any = whole | (own > rh_f8_all(NOTHING));
                rh_f8_store(fill.axis[a] + at, rh_f8_select(any, own + weight * (open - own), own));
            }
    }
}

void rh_limit_scale_forces(const rh_limit *l, rh_faces before, rh_faces velocity)
{
    RH_ASSERT(rh_faces_fit(l->tiles, before) && rh_faces_fit(l->tiles, velocity));
    const rh_tiles *tiles = l->tiles;
#pragma omp parallel for schedule(static, 4)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int a = 0; a < tiles->dimension; a++)
            for (int c = 0; c < tiles->cells; c += 8) {
                int64_t at = (int64_t)t * tiles->cells + c;
                int bits = l->confined[a][at / 8];
                if (!bits) continue;
                rh_f8 old = rh_f8_load(before.axis[a] + at), u = rh_f8_load(velocity.axis[a] + at);
                rh_f8 inverse_mass = inverse_mass_row(l, rh_f8_load(l->cut->pass[a][t] + c),
                                                      rh_f8_load(l->fill.axis[a] + at));
                rh_f8_store(velocity.axis[a] + at,
                            rh_f8_select(rh_i8_from_bits(bits), old + inverse_mass * (u - old), u));
            }
}

// Is the liquid around a row of cells slow? By all its faces but the upper one: what lies above may fall.
static rh_i8 slow_row(const rh_limit *l, const rh_rows u[3], int a, bool down_is_low, float slow, int r)
{
    rh_f8 most = rh_f8_all(0);
    for (int b = 0; b < l->tiles->dimension; b++) {
        rh_f8 low = rh_f8_load(u[b].here + 8 * r), high = rh_row_above(&u[b], b, r);
        if (b == a) low = high = down_is_low ? low : high;
        most = rh_f8_max(most, rh_f8_max(rh_f8_max(low, -low), rh_f8_max(high, -high)));
    }
    return most < rh_f8_all(slow);
}

// What is held up by the cell below it. Down is towards lower cells of the axis, or higher ones.
typedef struct support {
    const float *q, *fill;  // pressure, and fillings of cells
    int axis;
    bool down_is_low;
    float slow;  // m/s
} support;

// Slow cells that lie on one with pressure: 1, others 0. Those without pressure, or (`pressed`) those with pressure
// that are not full.
static void mark_lying(const rh_limit *l, const support *s, bool pressed, rh_faces velocity, float *lying)
{
    const rh_tiles *tiles = l->tiles;
    int a = s->axis;
    rh_f8 zero = rh_f8_all(0), one = rh_f8_all(1);
#pragma omp parallel for schedule(static, 4)
    for (int32_t t = 0; t < tiles->count; t++) {
        rh_rows rows = rh_layout_rows(&l->layout, s->q, t), u[3];
        for (int b = 0; b < tiles->dimension; b++) u[b] = rh_rows_of(tiles, velocity.axis[b], t, ZEROS);
        for (int r = 0; r < tiles->cells / 8; r++) {
            int64_t at = (int64_t)t * tiles->cells + 8 * r;
            rh_f8 under = s->down_is_low ? rh_row_below(&rows, a, r) : rh_row_above(&rows, a, r),
                  here = rh_f8_load(rows.here + 8 * r);
            rh_i8 part = rh_f8_load(s->fill + at) < FULL * rh_f8_load(l->cut->room[t] + 8 * r),
                  lies = (pressed ? (here > zero) & part : here == zero) & (under > zero);
            if (l->in_flight[t]) lies = zero > zero;
            if (rh_i8_bits(lies)) lies &= slow_row(l, u, a, s->down_is_low, s->slow, r);
            rh_f8_store(lying + at, rh_f8_select(lies, one, zero));
        }
    }
}

// Velocities of faces above cells that lie on others, with no pressure in the cell above. No velocity is read here that
// is written: below a cell that lies on another there is pressure on the lower side of the face at least.
static void support_axis(const rh_limit *l, const support *s, const float *lying, float fall, float *velocity)
{
    const rh_tiles *tiles = l->tiles;
    int a = s->axis;
    rh_f8 zero = rh_f8_all(0), most = rh_f8_all(fabsf(fall));
#pragma omp parallel for schedule(static, 4)
    for (int32_t t = 0; t < tiles->count; t++) {
        rh_rows rows = rh_layout_rows(&l->layout, s->q, t);
        rh_rows lies = rh_rows_of(tiles, lying, t, ZEROS), u = rh_rows_of(tiles, velocity, t, ZEROS);
        for (int r = 0; r < tiles->cells / 8; r++) {
            rh_f8 here = rh_f8_load(u.here + 8 * r);
            rh_i8 free = (fall < 0 ? rh_f8_load(rows.here + 8 * r) : rh_row_below(&rows, a, r)) == zero;
            rh_i8 top = free & ((fall < 0 ? rh_row_below(&lies, a, r) : rh_f8_load(lies.here + 8 * r)) > zero);
            if (!rh_i8_bits(top)) continue;
            rh_f8 lag = fall < 0 ? rh_row_below(&u, a, r) - here : here - rh_row_above(&u, a, r);
            rh_f8 back = rh_f8_max(rh_f8_min(lag, most), zero), confined = fall < 0 ? here + back : here - back;
            rh_f8_store(velocity + (int64_t)t * tiles->cells + 8 * r, rh_f8_select(top, confined, here));
        }
    }
}

// First above cells with pressure, then above those that lie on them.
rh_code rh_limit_support(const rh_limit *l, const float *q, const float *fill_cells, const float fall[3], float slow,
                         rh_faces velocity, rh_arena *arena, rh_status *status)
{
    rh_arena_mark mark = rh_arena_save(arena);
    float *lying = rh_field_new(l->tiles, arena, status);
    if (!lying) return RH_MEMORY;
    for (int a = 0; a < l->tiles->dimension; a++) {
        if (fall[a] == 0) continue;
        support s = {q, fill_cells, a, fall[a] < 0, slow};
        for (int pressed = 1; pressed >= 0; pressed--) {
            mark_lying(l, &s, pressed, velocity, lying);
            support_axis(l, &s, lying, fall[a], velocity.axis[a]);
        }
    }
    rh_arena_restore(arena, mark);
    return RH_OK;
}

void rh_limit_find_full(const rh_limit *l, const float *q, const float *fill_cells, uint8_t *wet, uint8_t *full)
{
    const rh_tiles *tiles = l->tiles;
#pragma omp parallel for schedule(static, 4)
    for (int32_t t = 0; t < tiles->count; t++) {
        rh_rows rows = rh_layout_rows(&l->layout, q, t);
        for (int r = 0; r < tiles->cells / 8; r++) {
            int64_t row = (int64_t)t * (tiles->cells / 8) + r;
            rh_f8 fill = rh_f8_load(fill_cells + 8 * row), room = rh_f8_load(l->cut->room[t] + 8 * r);
            wet[row] = (uint8_t)(l->in_flight[t] ? 0 : rh_i8_bits(fill > rh_f8_all(NOTHING)));
            full[row] = (uint8_t)(wet[row] & rh_i8_bits((fill >= CONFINED * room) &
                                                        (rh_f8_load(rows.here + 8 * r) > rh_f8_all(0))));
        }
    }
}

// Are there unknowns in the tile or in one beside it?
static bool touches(const rh_limit *l, int32_t t)
{
    bool any = l->layout.slot[t] >= 0;
    for (int a = 0; a < l->tiles->dimension; a++)
        for (int side = -1; side <= 1; side += 2) {
            int32_t other = l->tiles->near[t][RH_HERE + side * rh_near_step[a]];
            any = any || (other >= 0 && l->layout.slot[other] >= 0);
        }
    return any;
}

// The faces of a tile; returns the sums of filling times what is added to the field.
static rh_dvec3 subtract_gradient_tile(const rh_limit *l, const float *q, float scale, float most, int32_t t,
                                       rh_faces field)
{
    const rh_tiles *tiles = l->tiles;
    rh_rows rows = rh_layout_rows(&l->layout, q, t);
    rh_f8 limit = rh_f8_all(most);
    rh_dvec3 given = {0, 0, 0};
    for (int a = 0; a < tiles->dimension; a++) {
        rh_bits pushed = pushed_faces(l, t, a);
        const float *pass = l->options.two_sided ? l->link[a][t] : l->cut->pass[a][t];
        const float *fill = l->fill.axis[a] + (int64_t)t * tiles->cells;
        float *out = field.axis[a] + (int64_t)t * tiles->cells;
        for (int r = 0; r < tiles->cells / 8; r++) {
            rh_f8 difference = rh_f8_load(rows.here + 8 * r) - rh_row_below(&rows, a, r),
                  full = rh_f8_load(fill + 8 * r), open = rh_f8_load(pass + 8 * r),
                  carries = as_pushed(rh_bits_row(&pushed, r & 7, r >> 3), open, full);
            rh_f8 gradient = scale * inverse_mass_row(l, open, carries) * difference, old = rh_f8_load(out + 8 * r);
            gradient = rh_f8_max(rh_f8_min(gradient, limit), -limit);
            rh_f8 now = rh_f8_max(rh_f8_min(old - gradient, limit), -limit);
            rh_f8_store(out + 8 * r, now);
            if (l->in_flight[t]) (&given.x)[a] += (double)rh_f8_sum(full * (now - old));
        }
    }
    return given;
}

void rh_limit_subtract_gradient(const rh_limit *l, const float *q, float scale, float most, rh_faces field,
                                rh_dvec3 *given)
{
    RH_ASSERT(rh_faces_fit(l->tiles, field));
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < l->tiles->count; t++) {
        rh_dvec3 sum = {0, 0, 0};
        if (touches(l, t)) sum = subtract_gradient_tile(l, q, scale, most, t, field);
        if (given) given[t] = sum;
    }
}

// Filling of a tile's faces along each axis.
static rh_dvec3 weigh_tile(const rh_limit *l, int32_t t)
{
    rh_dvec3 sum = {0, 0, 0};
    for (int a = 0; a < l->tiles->dimension; a++) {
        const float *fill = l->fill.axis[a] + (int64_t)t * l->tiles->cells;
        rh_f8 row = rh_f8_all(0);
        for (int c = 0; c < l->tiles->cells; c += 8) row += rh_f8_load(fill + c);
        (&sum.x)[a] = (double)rh_f8_sum(row);
    }
    return sum;
}

rh_code rh_limit_restore_momentum(const rh_limit *l, const rh_dvec3 *given, rh_faces velocity, rh_arena *arena,
                                  rh_status *status)
{
    typedef struct component {
        rh_dvec3 given, mass;
    } component;
    const rh_tiles *tiles = l->tiles;
    rh_arena_mark mark = rh_arena_save(arena);
    component *components = rh_arena_take_zero(arena, ((size_t)tiles->count + 1) * sizeof *components, status);
    if (!components) return RH_MEMORY;
    for (int32_t t = 0; t < tiles->count; t++) {
        if (!l->in_flight[t]) continue;
        component *of = &components[l->component[t]];
        of->given = rh_d3_add(of->given, given[t]);
        of->mass = rh_d3_add(of->mass, weigh_tile(l, t));
    }
#pragma omp parallel for schedule(static, 4)
    for (int32_t t = 0; t < tiles->count; t++)
        for (int a = 0; a < tiles->dimension && l->in_flight[t]; a++) {
            const component *of = &components[l->component[t]];
            double mass = (&of->mass.x)[a];
            float back = mass > 0 ? (float)((&of->given.x)[a] / mass) : 0,
                  *u = velocity.axis[a] + (int64_t)t * tiles->cells;
            for (int c = 0; c < tiles->cells; c++) u[c] -= back;
        }
    rh_arena_restore(arena, mark);
    return RH_OK;
}

rh_code rh_limit_fill_after_shift(const rh_limit *l, const float *y, float *fill_cells, rh_faces after, rh_arena *arena,
                                  rh_status *status)
{
    RH_ASSERT(rh_faces_fit(l->tiles, after));
    const rh_tiles *tiles = l->tiles;
    rh_arena_mark mark = rh_arena_save(arena);
    float *change = rh_field_new(tiles, arena, status);
    if (!change) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < tiles->count; t++) {
        float *out = change + (int64_t)t * tiles->cells, *fill = fill_cells + (int64_t)t * tiles->cells;
        rh_rows rows = rh_layout_rows(&l->layout, y, t), link[3];
        link_rows(l, t, link);
        for (int r = 0; r < tiles->cells / 8; r++) {
            rh_f8 sum = rh_f8_all(0), here = rh_f8_load(rows.here + 8 * r);
            for (int a = 0; a < tiles->dimension; a++)
                sum += rh_f8_load(link[a].here + 8 * r) * (rh_row_below(&rows, a, r) - here) +
                       rh_row_above(&link[a], a, r) * (rh_row_above(&rows, a, r) - here);
            rh_f8_store(out + 8 * r, sum);
            rh_f8_store(fill + 8 * r, rh_f8_load(fill + 8 * r) + sum);
        }
    }
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < tiles->count; t++) {
        rh_rows rows = rh_rows_of(tiles, change, t, ZEROS);
        for (int a = 0; a < tiles->dimension; a++)
            for (int r = 0; r < tiles->cells / 8; r++) {
                int64_t at = (int64_t)t * tiles->cells + 8 * r;
                rh_f8 old = rh_f8_load(l->fill.axis[a] + at),
                      now = old + 0.5f * (rh_f8_load(rows.here + 8 * r) + rh_row_below(&rows, a, r));
                rh_f8_store(after.axis[a] + at, rh_f8_select(old > rh_f8_all(0), rh_f8_max(now, rh_f8_all(0)), old));
            }
    }
    rh_arena_restore(arena, mark);
    return RH_OK;
}

// --- suction ---------------------------------------------------------------------------------------------------------

// Bits of cells where pressure may not pull at any depth.
static rh_bits shallow_tile(const rh_limit *l, const float *q, int32_t t)
{
    const rh_tiles *tiles = l->tiles;
    rh_bits out = {{0}};
    rh_rows rows = rh_layout_rows(&l->layout, q, t);
    for (int r = 0; r < tiles->cells / 8; r++) {
        int bits = ~l->layout.unknown[(int64_t)t * (tiles->cells / 8) + r] & 255;
        bits |= rh_i8_bits((rh_f8_load(rows.here + 8 * r) == rh_f8_all(0)) |
                           (rh_f8_load(l->cut->room[t] + 8 * r) < rh_f8_all(1)));
        out.layer[r >> 3] |= (uint64_t)bits << (8 * (r & 7));
    }
    return out;
}

rh_code rh_limit_suction(const rh_limit *l, const float *q, int depth, float *lower, rh_arena *arena, rh_status *status)
{
    RH_ASSERT(depth >= 0 && lower);
    const rh_tiles *tiles = l->tiles;
    rh_arena_mark mark = rh_arena_save(arena);
    rh_bits *near = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *near, status);
    rh_bits *next = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *next, status);
    if (!near || !next) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int32_t t = 0; t < tiles->count; t++) near[t] = shallow_tile(l, q, t);
    for (int n = 1; n < depth; n++) {
#pragma omp parallel for schedule(static)
        for (int32_t t = 0; t < tiles->count; t++) {
            next[t] = near[t];
            for (int a = 0; a < tiles->dimension; a++) {
                rh_bits below = rh_bits_below(tiles, near, t, a), above = rh_bits_above(tiles, near, t, a);
                for (int k = 0; k < tiles->layers; k++) next[t].layer[k] |= below.layer[k] | above.layer[k];
            }
        }
        rh_bits *swap = near;
        near = next;
        next = swap;
    }
#pragma omp parallel for schedule(static)
    for (int32_t n = 0; n < l->matrix.count; n++)
        for (int r = 0; r < tiles->cells / 8; r++) {
            int bits = rh_bits_row(&near[l->layout.listed[n]], r & 7, r >> 3);
            rh_f8_store(lower + (int64_t)n * tiles->cells + 8 * r,
                        rh_f8_select(rh_i8_from_bits(bits), rh_f8_all(0), rh_f8_all(-INFINITY)));
        }
    rh_arena_restore(arena, mark);
    return RH_OK;
}
