// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The projection of the liquid. Free surface: ghost fluid, p = 0 at the place where the surface cuts the edge between a
// liquid and an air cell (F. Gibou, R. Fedkiw, L. Cheng, M. Kang, J. Comput. Phys. 176, 2002; D. Enright et al. 2003).
// Solids: each face counts with its open share, the rest of it moves with the wall (Ng, Min, Gibou 2009).
//
//   sum_faces open (q_c - q_n) / theta = - sum_faces n (open u + (1 - open) u_wall)
//
// theta = 1 between liquid cells, the fraction of the way to the surface towards air.
//
// Separating walls: 0 <= p  _|_  div u >= 0 in cells at such walls (Batty, Bertails, Bridson 2007 as a complementarity
// problem), solved by a primal-dual active set: cells with p < 0 let go (p = 0), cells that let go but would be
// squeezed are taken back, until nothing changes (M. Hintermueller, K. Ito, K. Kunisch, SIAM J. Optim. 13, 2003).
//
// All loops go by rows of eight cells, the neighbours of a row being rows too (grid/rows.h).
#include "physics/pressure.h"

#include <math.h>
#include <string.h>
#include "base/parallel.h"

enum { MAX_ROUNDS = 12 };
// Cells: the surface never counts as closer than this to a liquid cell's centre, which bounds the operator. It is the
// distance that is bounded, not each fraction: with fractions bounded alone, a cell whose centre lay in the surface
// kept a pressure that its almost level neighbours divided by far smaller fractions, and resting water trembled.
static const float NEAREST = 0.01f;

static const float ZEROS[RH_CELLS];
static const float ONES[RH_CELLS] = {[0 ... RH_CELLS - 1] = 1};

static rh_bit_rows bits_of(const rh_pressure *p, int32_t t) { return rh_bit_rows_of(p->tiles, p->layout.unknown, t); }

// --- which cells, which tiles ----------------------------------------------------------------------------------------
static inline int released_bits(const rh_pressure *p, int64_t row)
{
    int bits = 0;
    for (int i = 0; p->released && i < 8; i++) bits |= (p->released[8 * row + i] != 0) << i;
    return bits;
}

// Unknowns are inside the surface, have not let go and have an open face.
static void mark_tile(const rh_pressure *p, int32_t t)
{
    const rh_tiles *tiles = p->tiles;
    rh_f8 zero = rh_f8_all(0);
    rh_rows open[3];
    for (int a = 0; a < tiles->dimension; a++) open[a] = rh_rows_apart(tiles, p->cut->open[a], t, ZEROS);
    for (int r = 0; r < tiles->cells / 8; r++) {
        int64_t row = (int64_t)t * (tiles->cells / 8) + r;
        int bits = rh_i8_bits(rh_f8_load(p->surface->phi + 8 * row) < zero) & ~released_bits(p, row);
        if (bits) {
            rh_f8 free = zero;
            for (int a = 0; a < tiles->dimension; a++)
                free += rh_f8_load(open[a].here + 8 * r) + rh_row_above(&open[a], a, r);
            bits &= rh_i8_bits(free > zero);
        }
        p->layout.unknown[row] = (uint8_t)bits;
    }
}

// All of the tile and of the cells around it are unknowns and all faces are open.
static bool is_plain(const rh_pressure *p, int32_t t)
{
    const rh_tiles *tiles = p->tiles;
    int size = tiles->cells / 8;
    if (!rh_layout_is_full(&p->layout, t)) return false;
    rh_i8 full = rh_f8_all(1) == rh_f8_all(1);
    for (int a = 0; a < tiles->dimension; a++) {
        rh_rows open = rh_rows_apart(tiles, p->cut->open[a], t, ZEROS);
        for (int r = 0; r < size; r++)
            full &= (rh_f8_load(open.here + 8 * r) == rh_f8_all(1)) & (rh_row_above(&open, a, r) == rh_f8_all(1));
    }
    return rh_i8_bits(full) == 255;
}

// Lists the tiles that hold liquid before any of it lets go, which does not change while walls are settled.
static rh_code number_tiles(rh_pressure *p, rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = p->tiles;
    RH_TRY(rh_layout_init(&p->layout, tiles, arena, status));
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t t = 0; t < tiles->count; t++) mark_tile(p, t);
    RH_TRY(rh_layout_number(&p->layout, arena, status));
    p->matrix = (rh_poisson){.dimension = tiles->dimension, .cells = tiles->cells, .count = p->layout.count};
    p->q = rh_poisson_vector(&p->matrix, arena, status);
    return p->q ? RH_OK : RH_MEMORY;
}

// --- shores ----------------------------------------------------------------------------------------------------------
// Where liquid ends on a wall it is thinner than the particles can tell, and the centres of its last cells lie inside
// the wall. Their pressure was that of a depth which is not there, and the next cell, without particles, was air with
// no pressure half a cell away: still water was accelerated up a beach by g, at any cell size, and ran at 0.4 sqrt(g
// depth). So between cells along a wall (their centres are about as far from it) a cell with less than SHORE of a cell
// of liquid above the wall does not push into air, and two liquid cells push each other by the part of SHORE that the
// thinner of them has. A face that nothing pushes moves with the liquid behind it. On walls along the grid liquid cells
// have half a cell of liquid at least: nothing changes there.
// (When the links of cells with next to no liquid were cut instead, cells changed sides all the time and set water in
// motion; with SHORE of 3/4 or 1 dam breaks lost 1 to 3 % more of their energy.)
static const float SHORE = 0.5f;
static const float THICK[RH_CELLS] = {[0 ... RH_CELLS - 1] = 1e9f};

// Of eight cells: distance from the surface and from walls, thickness of the liquid on the wall (m; rh_pressure).
typedef struct spot {
    rh_f8 phi, wall, thick;
} spot;

// The same of a tile and those beside it.
typedef struct spots {
    rh_rows phi, wall, thick;
} spots;

static spots spots_of(const rh_pressure *p, int32_t t)
{
    return (spots){rh_rows_of(p->tiles, p->surface->phi, t, ONES), rh_rows_apart(p->tiles, p->cut->distance, t, ONES),
                   rh_rows_apart(p->tiles, p->thick, t, THICK)};
}
static inline spot spot_here(const spots *at, int r)
{
    return (spot){rh_f8_load(at->phi.here + 8 * r), rh_f8_load(at->wall.here + 8 * r),
                  rh_f8_load(at->thick.here + 8 * r)};
}
static inline spot spot_below(const spots *at, int axis, int r)
{
    return (spot){rh_row_below(&at->phi, axis, r), rh_row_below(&at->wall, axis, r), rh_row_below(&at->thick, axis, r)};
}
static inline spot spot_above(const spots *at, int axis, int r)
{
    return (spot){rh_row_above(&at->phi, axis, r), rh_row_above(&at->wall, axis, r), rh_row_above(&at->thick, axis, r)};
}

static inline rh_i8 is_along(spot cell, spot other, float h)
{
    rh_f8 off = other.wall - cell.wall;
    return (off < rh_f8_all(0.5f * h)) & (off > rh_f8_all(-0.5f * h));
}

static inline rh_i8 is_shore(spot cell, spot other, float h)
{
    return (cell.thick < rh_f8_all(SHORE * h)) & is_along(cell, other, h) & ~(other.phi < rh_f8_all(0));
}

// How much two liquid cells push each other, 0..1.
static inline rh_f8 linked(spot cell, spot other, float h)
{
    rh_f8 thin = rh_f8_min(cell.thick, other.thick), one = rh_f8_all(1);
    rh_f8 part = rh_f8_max(rh_f8_min(thin / rh_f8_all(SHORE * h), one), rh_f8_all(0));
    return rh_f8_select(is_along(cell, other, h), part, one);
}

// Liquid lies on a wall as a sheet where the cell next to it, away from the wall, is air. (At the side of a tank that
// cell is liquid.) The air behind a thin wall is no such neighbour: water at rest before a wall of a quarter of a cell
// counted as a sheet on it, lost its pressure and boiled at 0.13 m/s. Returns whether some sheet is thin enough to
// matter.
static bool measure_tile(const rh_pressure *p, int32_t t, float *thick)
{
    const rh_tiles *tiles = p->tiles;
    rh_f8 zero = rh_f8_all(0), away = rh_f8_all(0.5f * tiles->h), least = rh_f8_load(THICK);
    rh_rows phi = rh_rows_of(tiles, p->surface->phi, t, ONES), wall = rh_rows_apart(tiles, p->cut->distance, t, ONES);
    rh_rows open[3];
    bool sided = p->cut->any_thin;
    for (int a = 0; a < tiles->dimension; a++) open[a] = rh_rows_apart(tiles, p->cut->open[a], t, ONES);
    for (int r = 0; r < tiles->cells / 8; r++) {
        rh_f8 inside = rh_f8_load(phi.here + 8 * r), off = rh_f8_load(wall.here + 8 * r);
        rh_i8 sheet = zero > zero;
        for (int a = 0; a < tiles->dimension; a++) {
            rh_f8 one = rh_f8_all(1), low = sided ? rh_f8_load(open[a].here + 8 * r) : one,
                  high = sided ? rh_row_above(&open[a], a, r) : one;
            sheet |= (low > zero) & (rh_row_below(&wall, a, r) - off > away) & ~(rh_row_below(&phi, a, r) < zero);
            sheet |= (high > zero) & (rh_row_above(&wall, a, r) - off > away) & ~(rh_row_above(&phi, a, r) < zero);
        }
        rh_f8 found = off + rh_f8_max(-inside, rh_f8_all(NEAREST * tiles->h));
        found = rh_f8_select(sheet & (inside < zero), found, rh_f8_load(THICK));
        rh_f8_store(thick + 8 * r, found);
        least = rh_f8_min(least, found);
    }
    return rh_i8_bits(least < rh_f8_all(SHORE * tiles->h)) != 0;
}

static rh_code measure_sheets(rh_pressure *p, bool shores, rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = p->tiles;
    p->thick = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *p->thick, status);
    if (!p->thick) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++) {
        float scratch[RH_CELLS];
        bool wet = shores && p->layout.slot[t] >= 0 && p->cut->kind[t] != RH_TILE_FREE;
        p->thick[t] = wet && measure_tile(p, t, scratch) ? NULL : THICK;
    }
    for (int32_t t = 0; t < tiles->count; t++) {
        if (p->thick[t]) continue;
        float *page = rh_arena_take(arena, (size_t)tiles->cells * sizeof *page, status);
        if (!page) return RH_MEMORY;
        measure_tile(p, t, page);
        p->thick[t] = page;
    }
    return RH_OK;
}

// --- the operator ----------------------------------------------------------------------------------------------------
// Factor of the link from liquid cells towards a neighbour without pressure: 1 / theta, theta being the part of the way
// that is liquid; 0 at a shore. A neighbour inside the liquid has let go of a wall: its pressure is zero at its centre.
static inline rh_f8 towards_air(spot cell, spot other, float h)
{
    rh_f8 inside = rh_f8_max(-cell.phi, rh_f8_all(NEAREST * h)), factor = (inside + other.phi) / inside;
    factor = rh_f8_select(other.phi < rh_f8_all(0), rh_f8_all(1), factor);
    return rh_f8_select(is_shore(cell, other, h), rh_f8_all(0), factor);
}

static inline rh_f8 share(rh_f8 open, int bits, spot cell, spot other, float heavier, float h)
{
    rh_f8 link = open * linked(cell, other, h);
    if (bits == 255) return link;
    rh_f8 out = towards_air(cell, other, h);
    if (heavier > 0) out = out / (rh_f8_all(1) + heavier * out);
    return rh_f8_select(rh_i8_from_bits(bits), link, open * out);
}

static void assemble_tile(const rh_pressure *p, int32_t n)
{
    const rh_tiles *tiles = p->tiles;
    int32_t t = p->layout.listed[n];
    float *block = rh_poisson_block(&p->matrix, n);
    rh_bit_rows bits = bits_of(p, t);
    rh_rows open[3];
    spots at = spots_of(p, t);
    for (int a = 0; a < tiles->dimension; a++) open[a] = rh_rows_apart(tiles, p->cut->open[a], t, ZEROS);
    for (int r = 0; r < tiles->cells / 8; r++) {
        int here = bits.here[r];
        rh_f8 diagonal = rh_f8_all(0);
        for (int a = 0; a < tiles->dimension; a++) {
            int low = rh_bits_row_below(&bits, a, r), high = rh_bits_row_above(&bits, a, r);
            rh_f8 own = rh_f8_load(open[a].here + 8 * r);
            rh_f8 link = own * linked(spot_here(&at, r), spot_below(&at, a, r), tiles->h);
            rh_f8_store(block + (a + 1) * tiles->cells + 8 * r, rh_f8_masked(link, here & low));
            if (here == 0) continue;
            diagonal += share(own, low, spot_here(&at, r), spot_below(&at, a, r), p->heavier, tiles->h);
            diagonal += share(rh_row_above(&open[a], a, r), high, spot_here(&at, r), spot_above(&at, a, r), p->heavier,
                              tiles->h);
        }
        here &= rh_i8_bits(diagonal > rh_f8_all(0));  // nothing but shores around it
        rh_f8_store(block + 8 * r, rh_f8_select(rh_i8_from_bits(here), diagonal, rh_f8_all(1)));
    }
}

static void place_tile(rh_pressure *p, int32_t n)
{
    rh_layout_place(&p->layout, n, &p->matrix);
    p->matrix.block[n] = is_plain(p, p->layout.listed[n]) ? RH_PLAIN : -1;
}

static rh_code assemble(rh_pressure *p, rh_arena *arena, rh_status *status)
{
    rh_poisson *m = &p->matrix;
    RH_TRY(rh_poisson_init(m, p->tiles->dimension, m->count, arena, status));
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t n = 0; n < m->count; n++) place_tile(p, n);
    RH_TRY(rh_poisson_take_blocks(m, arena, status));
    RH_TRY(rh_poisson_count(m, arena, status));
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < m->count; n++)
        if (m->block[n] != RH_PLAIN) assemble_tile(p, n);
    RH_TRY(rh_pockets_find(&p->pockets, m, arena, status));
    if (p->solids) RH_TRY(rh_solid_coupling_gather(p->solids, &p->layout, arena, status));
    if (p->solids) RH_TRY(rh_solid_coupling_find_added(p->solids, &p->layout, m, arena, status));
    RH_TRY(rh_pockets_unfelt(&p->pockets, p->solids ? &p->solids->term : NULL, &p->unfelt, arena, status));
    RH_TRY(rh_preconditioner_init(&p->preconditioner, p->which, m, arena, status));
    p->preconditioner.bodies = p->solids ? &p->solids->bodies : NULL;
    p->preconditioner.pockets = &p->unfelt;
    return p->preconditioner.method->prepare(&p->preconditioner, arena, status);
}

rh_code rh_pressure_prepare(rh_pressure *p, const rh_tiles *tiles, const rh_surface *surface, const rh_cut_cells *cut,
                            rh_solid_coupling *solids, bool shores, rh_precondition preconditioner, rh_arena *arena,
                            rh_status *status)
{
    *p = (rh_pressure){.tiles = tiles, .surface = surface, .cut = cut, .solids = solids, .which = preconditioner};
    RH_TRY(number_tiles(p, arena, status));
    RH_TRY(measure_sheets(p, shores, arena, status));
    if (!cut->releases) return assemble(p, arena, status);
    p->released = rh_arena_take_zero(arena, (size_t)rh_tiles_values(tiles), status);
    return p->released ? RH_OK : RH_MEMORY;
}

rh_code rh_pressure_weigh_surface(rh_pressure *p, float heavier, rh_arena *arena, rh_status *status)
{
    if (p->heavier == heavier) return RH_OK;
    p->heavier = heavier;
    return assemble(p, arena, status);
}

rh_code rh_pressure_solve(rh_pressure *p, float *b, double tolerance, int max_iterations, rh_arena *arena,
                          rh_cg_report *report, rh_status *status)
{
    RH_ASSERT(b && tolerance > 0);
    rh_preconditioner still = rh_preconditioner_alone(&p->preconditioner);
    return rh_cg_solve_by(&still, NULL, &p->pockets, b, p->q, tolerance, max_iterations, arena, report, status);
}

// The same with solids that move and a surface with inertia.
static rh_code solve_coupled(rh_pressure *p, float *b, float *q, double tolerance, int max_iterations, rh_arena *arena,
                             rh_cg_report *report, rh_status *status)
{
    bool stiff = p->tension && p->tension->inertia > 0;
    const rh_cg_beside beside = {.term = p->solids ? &p->solids->term : NULL,
                                 .more = {stiff ? rh_surface_tension_resist : NULL, p->tension}};
    RH_ASSERT(b && tolerance > 0);
    return rh_cg_solve_by(&p->preconditioner, &beside, &p->unfelt, b, q, tolerance, max_iterations, arena, report,
                          status);
}

// --- right-hand side and gradient ------------------------------------------------------------------------------------
typedef struct flow {
    rh_rows u[3], open[3], wall[3];
} flow;

static flow flow_of(const rh_pressure *p, rh_faces velocity, int32_t t)
{
    flow f;
    for (int a = 0; a < p->tiles->dimension; a++) {
        f.u[a] = rh_rows_of(p->tiles, velocity.axis[a], t, ZEROS);
        f.open[a] = rh_rows_apart(p->tiles, p->cut->open[a], t, ZEROS);
        f.wall[a] = rh_rows_apart(p->tiles, p->cut->wall[a], t, ZEROS);
    }
    return f;
}

// Net inflow into the cells of a row: minus the divergence of open and wall parts, in m/s.
static inline rh_f8 inflow_row(const flow *f, int dimension, bool plain, int r)
{
    rh_f8 sum = rh_f8_all(0), one = rh_f8_all(1);
    for (int a = 0; a < dimension; a++) {
        rh_f8 in = rh_f8_load(f->u[a].here + 8 * r), out = rh_row_above(&f->u[a], a, r);
        if (!plain) {
            rh_f8 low = rh_f8_load(f->open[a].here + 8 * r), high = rh_row_above(&f->open[a], a, r);
            in = low * in + (one - low) * rh_f8_load(f->wall[a].here + 8 * r);
            out = high * out + (one - high) * rh_row_above(&f->wall[a], a, r);
        }
        sum += in - out;
    }
    return sum;
}

void rh_pressure_inflow(const rh_pressure *p, rh_faces velocity, float *b)
{
    const rh_poisson *m = &p->matrix;
#pragma omp parallel for schedule(static, 4)
    for (int32_t n = 0; n < m->count; n++) {
        int32_t t = p->layout.listed[n];
        flow f = flow_of(p, velocity, t);
        const uint8_t *unknown = p->layout.unknown + (int64_t)t * (m->cells / 8);
        bool plain = m->block[n] == RH_PLAIN;
        for (int r = 0; r < m->cells / 8; r++)
            rh_f8_store(b + (int64_t)n * m->cells + 8 * r,
                        unknown[r] ? rh_f8_masked(inflow_row(&f, m->dimension, plain, r), unknown[r]) : rh_f8_all(0));
    }
}

// The right-hand side with the tension of the surface.
static rh_code load(rh_pressure *p, rh_faces velocity, float *b)
{
    if (p->tension) RH_TRY(rh_surface_tension_gather(p->tension, p, velocity));
    rh_pressure_inflow(p, velocity, b);
    if (!p->tension) return RH_OK;
    return rh_surface_tension_load(p->tension, b);
}

// Eight flags from eight bits.
static inline void store_flags(uint8_t *flags, int bits)
{
    uint64_t picked = ((uint64_t)bits * 0x0101010101010101ull) & 0x8040201008040201ull;
    picked = (picked + 0x7f7f7f7f7f7f7f7full) >> 7 & 0x0101010101010101ull;
    for (int i = 0; i < 8; i++) flags[i] = (uint8_t)(picked >> (8 * i));
}

// Faces of one axis: the difference to subtract, and `known` where there is one. `q` and `phi` are those of the tile.
static inline void subtract_row(const rh_pressure *p, const rh_rows *q, const spots *at, const rh_bit_rows *bits,
                                const float *open, const float *jump, int a, int r, float *field, uint8_t *known)
{
    int low = rh_bits_row_below(bits, a, r), here = bits->here[r], wet = low | here;
    int says = wet ? wet & rh_i8_bits(rh_f8_load(open) > rh_f8_all(0)) : 0;
    if (!says) {
        store_flags(known, says);
        return;
    }
    rh_f8 q_here = rh_f8_load(q->here + 8 * r), q_low = rh_row_below(q, a, r);
    rh_f8 q_surface = jump ? rh_f8_load(jump) : rh_f8_all(0);
    rh_f8 part = linked(spot_here(at, r), spot_below(at, a, r), p->tiles->h), difference = part * (q_here - q_low);
    says &= ~(low & here) | rh_i8_bits(part > rh_f8_all(0));
    if ((low & here) != 255) {
        rh_f8 from_low = towards_air(spot_below(at, a, r), spot_here(at, r), p->tiles->h);
        rh_f8 from_here = towards_air(spot_here(at, r), spot_below(at, a, r), p->tiles->h);
        rh_f8 factor = rh_f8_select(rh_i8_from_bits(low), from_low, from_here);
        rh_f8 only = rh_f8_select(rh_i8_from_bits(low), (q_surface - q_low) * from_low,
                                  (q_here - q_surface) * from_here);
        difference = rh_f8_select(rh_i8_from_bits(low & here), difference, only);
        says &= (low & here) | rh_i8_bits(factor > rh_f8_all(0));
    }
    store_flags(known, says);
    rh_f8_store(field, rh_f8_load(field) - rh_f8_masked(difference, says));
}

static bool touches_liquid(const rh_pressure *p, int32_t t)
{
    bool touches = p->layout.slot[t] >= 0;
    for (int a = 0; a < p->tiles->dimension; a++) {
        int32_t low = p->tiles->near[t][RH_HERE - rh_near_step[a]];
        touches = touches || (low >= 0 && p->layout.slot[low] >= 0);
    }
    return touches;
}

void rh_pressure_subtract_gradient(const rh_pressure *p, rh_faces field, uint8_t *const known[3])
{
    const rh_tiles *tiles = p->tiles;
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < tiles->count; t++) {
        int64_t base = (int64_t)t * tiles->cells;
        if (!touches_liquid(p, t)) {
            for (int a = 0; a < tiles->dimension; a++) memset(known[a] + base, 0, (size_t)tiles->cells);
            continue;
        }
        rh_rows q = rh_layout_rows(&p->layout, p->q, t);
        spots at = spots_of(p, t);
        rh_bit_rows bits = bits_of(p, t);
        for (int r = 0; r < tiles->cells / 8; r++)
            for (int a = 0; a < tiles->dimension; a++) {
                int64_t row = base + 8 * r;
                subtract_row(p, &q, &at, &bits, p->cut->open[a][t] + 8 * r,
                             p->jump.axis[0] ? p->jump.axis[a] + row : NULL, a, r, field.axis[a] + row, known[a] + row);
            }
    }
}

void rh_pressure_face_masses(const rh_pressure *p, int32_t t, int axis, float *mass)
{
    RH_ASSERT(t >= 0 && t < p->tiles->count && axis >= 0 && axis < p->tiles->dimension);
    const rh_tiles *tiles = p->tiles;
    spots at = spots_of(p, t);
    rh_bit_rows bits = bits_of(p, t);
    for (int r = 0; r < tiles->cells / 8; r++) {
        int low = rh_bits_row_below(&bits, axis, r), here = bits.here[r];
        rh_f8 share = linked(spot_here(&at, r), spot_below(&at, axis, r), tiles->h);
        if ((low & here) != 255) {
            rh_f8 from_low = towards_air(spot_below(&at, axis, r), spot_here(&at, r), tiles->h);
            rh_f8 from_here = towards_air(spot_here(&at, r), spot_below(&at, axis, r), tiles->h);
            rh_f8 factor = rh_f8_select(rh_i8_from_bits(low), from_low, from_here);
            rh_f8 only = rh_f8_select(factor > rh_f8_all(0), 1 / factor, rh_f8_all(0));
            share = rh_f8_select(rh_i8_from_bits(low & here), share, only);
        }
        rh_f8_store(mass + 8 * r, rh_f8_masked(share * rh_f8_load(p->cut->open[axis][t] + 8 * r), low | here));
    }
}

void rh_pressure_pushed(const rh_pressure *p, int32_t t, int axis, float *pushed)
{
    spots at = spots_of(p, t);
    rh_bit_rows bits = bits_of(p, t);
    rh_f8 one = rh_f8_all(1);
    for (int r = 0; r < p->tiles->cells / 8; r++) {
        int low = rh_bits_row_below(&bits, axis, r), here = bits.here[r];
        spot own = spot_here(&at, r), below = spot_below(&at, axis, r);
        rh_i8 shore = (rh_i8_from_bits(low & ~here) & is_shore(below, own, p->tiles->h)) |
                      (rh_i8_from_bits(here & ~low) & is_shore(own, below, p->tiles->h));
        rh_f8 share = rh_f8_select(rh_i8_from_bits(low & here), linked(own, below, p->tiles->h), one);
        rh_f8_store(pushed + 8 * r, rh_f8_select(shore, rh_f8_all(0), share));
    }
}

void rh_pressure_push(const rh_pressure *p, const float *q, rh_faces push)
{
    const rh_tiles *tiles = p->tiles;
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < tiles->count; t++) {
        bool touches = touches_liquid(p, t);
        rh_rows of = rh_layout_rows(&p->layout, q, t);
        for (int a = 0; a < tiles->dimension; a++) {
            float *to = push.axis[a] + (int64_t)t * tiles->cells, pushed[RH_CELLS];
            memset(to, 0, (size_t)tiles->cells * sizeof *to);
            if (!touches) continue;
            rh_pressure_pushed(p, t, a, pushed);
            for (int r = 0; r < tiles->cells / 8; r++) {
                rh_f8 open = rh_f8_load(p->cut->open[a][t] + 8 * r) * rh_f8_load(pushed + 8 * r);
                rh_f8_store(to + 8 * r, open * (rh_row_below(&of, a, r) - rh_f8_load(of.here + 8 * r)));
            }
        }
    }
}

// --- separating walls ------------------------------------------------------------------------------------------------
// Net inflow into released cells after the projection: what flowed in before, and what the pressure around pushes in.
// (Their own pressure is 0, and they are liquid, so theta is 1.)
static rh_f8 released_inflow(const rh_pressure *p, const flow *f, const rh_rows *q, const rh_bit_rows *bits, int r)
{
    int dimension = p->tiles->dimension;
    rh_f8 sum = inflow_row(f, dimension, false, r);
    for (int a = 0; a < dimension; a++) {
        sum += rh_f8_load(f->open[a].here + 8 * r) * rh_f8_masked(rh_row_below(q, a, r), rh_bits_row_below(bits, a, r));
        sum += rh_row_above(&f->open[a], a, r) * rh_f8_masked(rh_row_above(q, a, r), rh_bits_row_above(bits, a, r));
    }
    return sum;
}

// One round of the active set in a tile; returns how many cells changed sides.
static int update_tile(rh_pressure *p, rh_faces velocity, int32_t t)
{
    const rh_tiles *tiles = p->tiles;
    flow f = flow_of(p, velocity, t);
    rh_rows q = rh_layout_rows(&p->layout, p->q, t);
    rh_bit_rows bits = bits_of(p, t);
    int changed = 0;
    for (int r = 0; r < tiles->cells / 8; r++) {
        int64_t c = (int64_t)t * tiles->cells + 8 * r;
        int may = p->cut->releases[t][r >> 3] >> (8 * (r & 7)) & 255;
        if (!may) continue;
        rh_f8 inflow = released_inflow(p, &f, &q, &bits, r);
        for (int i = 0; i < 8; i++) {
            if (!(may >> i & 1) || !(p->surface->phi[c + i] < 0)) continue;
            bool let_go = p->released[c + i] ? inflow[i] <= 0 : (bits.here[r] >> i & 1) && q.here[8 * r + i] < 0;
            changed += let_go != (bool)p->released[c + i];
            p->released[c + i] = let_go;
        }
    }
    return changed;
}

static rh_code settle_walls(rh_pressure *p, rh_faces velocity, double tolerance, int max_iterations, float *b,
                            rh_arena *arena, rh_cg_report *report, rh_status *status)
{
    const rh_tiles *tiles = p->tiles;
    rh_arena_mark mark = rh_arena_save(arena);
    // The set is found with a loose solve; the caller's last solve is exact for the set found.
    double loose = fmax(tolerance, 1e-3);
    for (int round = 0; round < MAX_ROUNDS; round++) {
        RH_TRY(assemble(p, arena, status));
        RH_TRY(load(p, velocity, b));
        RH_TRY(solve_coupled(p, b, p->q, loose, max_iterations, arena, report, status));
        int64_t changed = 0;
#pragma omp parallel for schedule(dynamic, 8) reduction(+ : changed)
        for (int32_t n = 0; n < p->matrix.count; n++) changed += update_tile(p, velocity, p->layout.listed[n]);
        if (changed == 0) return RH_OK;
#pragma omp parallel for schedule(dynamic, 16)
        for (int32_t t = 0; t < tiles->count; t++) mark_tile(p, t);
        rh_arena_restore(arena, mark);
    }
    return assemble(p, arena, status);
}

// --- dynamic solids --------------------------------------------------------------------------------------------------
// Impulses of contacts are found for the velocities that pressure leaves the solids with; the liquid answers them by
// another solve, and contacts are found again with what that solve showed of its inertia, until they settle. What a
// solve leaves of its right-hand side the next one takes up: so the first two may be rough, and all together are as
// accurate as the last. (Three accurate ones took 22 iterations for a hundred crates in a dam break, so 15.)
enum { ANSWERS = RH_SOLID_ANSWERS, ROUGH_ANSWERS = 1 };
static const double ROUGH = 1e-2;

static double length(const rh_poisson *a, const float *v, double *sums)
{
    rh_poisson_dot(a, v, v, sums);
    return sqrt(rh_sum(sums, a->count));
}

// A solve for all together: `b` is what is asked for now, `size` the norm of the first right-hand side, which the
// tolerance is relative to. b keeps what is left.
typedef struct motion {
    float *b, *more;
    double size, *sums;
    int max_iterations;
    rh_arena *arena;
    rh_cg_report *report;
} motion;

static void add_to(const rh_pressure *p, const float *more, float *sum)
{
    int64_t values = (int64_t)rh_poisson_values(&p->matrix);
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < values; c++) sum[c] += more[c];
}

// `q`: p->q for the first solve, after which it is all there is, or `more`, which is added to it.
static rh_code move_by(rh_pressure *p, motion *m, float *q, double tolerance, rh_status *status)
{
    rh_cg_report solve;
    bool first = q == p->q;
    double part = first ? m->size : length(&p->matrix, m->b, m->sums);
    if (!(part > tolerance * m->size)) return RH_OK;
    RH_TRY(
        solve_coupled(p, m->b, q, fmin(0.5, tolerance * m->size / part), m->max_iterations, m->arena, &solve, status));
    if (!first) add_to(p, q, p->q);
    rh_solid_coupling_give(p->solids, q, 1);
    m->report->iterations += solve.iterations;
    m->report->residual = solve.residual * part / m->size;
    m->report->converged = m->report->converged && solve.converged;
    return RH_OK;
}

static rh_code move_on(rh_pressure *p, motion *m, double tolerance, rh_status *status)
{
    return move_by(p, m, m->more, tolerance, status);
}

static rh_code answer_contacts(rh_pressure *p, motion *m, double tolerance, rh_status *status)
{
    for (int n = 0; n < ANSWERS; n++) {
        if (!(n ? rh_solid_coupling_touch_again : rh_solid_coupling_touch)(p->solids, 1, m->b)) break;
        RH_TRY(move_on(p, m, n < ROUGH_ANSWERS ? fmax(tolerance, ROUGH) : tolerance, status));
    }
    RH_TRY(move_on(p, m, tolerance, status));
    rh_solid_coupling_touch_last(p->solids);
    rh_solid_coupling_follow(p->solids);
    return RH_OK;
}

// Pressure and solids for the present velocities.
static rh_code move_all(rh_pressure *p, float *b, double tolerance, int max_iterations, rh_arena *arena,
                        rh_cg_report *report, rh_status *status)
{
    if (!p->solids) return solve_coupled(p, b, p->q, tolerance, max_iterations, arena, report, status);
    double *sums = rh_arena_take(arena, ((size_t)p->matrix.count + 1) * sizeof *sums, status);
    float *more = rh_poisson_vector(&p->matrix, arena, status);
    if (!sums || !more) return RH_MEMORY;
    motion m = {b, more, length(&p->matrix, b, sums), sums, max_iterations, arena, report};
    bool touches = rh_dynamics_near(p->solids->dynamics);
    *report = (rh_cg_report){.converged = true};
    rh_poisson_clear(&p->matrix, p->q);
    RH_TRY(move_by(p, &m, p->q, touches ? fmax(tolerance, ROUGH) : tolerance, status));
    return answer_contacts(p, &m, tolerance, status);
}

rh_code rh_pressure_project(rh_pressure *p, rh_faces velocity, uint8_t *const known[3], double tolerance,
                            int max_iterations, rh_arena *arena, rh_cg_report *report, rh_status *status)
{
    rh_arena_mark mark = rh_arena_save(arena);
    float *b = rh_poisson_vector(&p->matrix, arena, status);
    if (!b) return RH_MEMORY;
    if (p->released) RH_TRY(settle_walls(p, velocity, tolerance, max_iterations, b, arena, report, status));
    RH_TRY(load(p, velocity, b));
    RH_TRY(move_all(p, b, tolerance, max_iterations, arena, report, status));
    if (p->tension) RH_TRY(rh_surface_tension_settle(p->tension, p, p->jump));
    rh_pressure_subtract_gradient(p, velocity, known);
    if (!p->released) rh_arena_restore(arena, mark);  // after settle_walls the operator lives above the mark
    return RH_OK;
}

// --- pressure for users ----------------------------------------------------------------------------------------------
enum { WIDE = RH_TILE + 4, LARGE = WIDE * WIDE * WIDE };

typedef struct neighbourhood {
    float q[LARGE], phi[LARGE], slope[3][LARGE];
    bool liquid[LARGE];
} neighbourhood;

// One side of a face.
typedef struct side {
    float q, phi;
    bool liquid;
} side;

static float theta(float phi, float phi_other, float h)
{
    if (phi_other < 0) return 1;
    float inside = rh_max_of(-phi, NEAREST * h);
    return inside / (inside + phi_other);
}

static bool gradient(side low, side high, float open, float jump, float h, float *out)
{
    if (open <= 0 || (!low.liquid && !high.liquid)) return false;
    if (low.liquid && high.liquid) *out = high.q - low.q;
    else
        *out = low.liquid ? (jump - low.q) / theta(low.phi, high.phi, h)
                          : (high.q - jump) / theta(high.phi, low.phi, h);
    return true;
}

// Change of q per cell along axis a: mean of the faces of the cell that know it.
static float slope_of(const neighbourhood *n, const float *open, const float *jump, int low, int here, int high,
                      float h)
{
    side below = {n->q[low], n->phi[low], n->liquid[low]}, above = {n->q[high], n->phi[high], n->liquid[high]};
    side own = {n->q[here], n->phi[here], n->liquid[here]};
    float first = 0, second = 0;
    int known = gradient(below, own, open[here], jump[here], h, &first) +
                gradient(own, above, open[high], jump[high], h, &second);
    return known ? (first + second) / (float)known : 0;
}

// q and whether it is one, with two cells around the tile.
static void load_q(const rh_pressure *p, int32_t t, neighbourhood *n)
{
    const rh_tiles *tiles = p->tiles;
    int deep = tiles->dimension == 3, at = 0;
    for (int k = deep ? -2 : 0; k < (deep ? RH_TILE + 2 : 1); k++)
        for (int j = -2; j < RH_TILE + 2; j++)
            for (int i = -2; i < RH_TILE + 2; i++, at++) {
                int32_t other = tiles->near[t][RH_HERE + (i >> 3) + 3 * (j >> 3) + 9 * (k >> 3)];
                int64_t cell = (int64_t)other * tiles->cells + (i & 7) + 8 * (j & 7) + 64 * (k & 7);
                n->liquid[at] = other >= 0 && rh_pressure_is_unknown(p, cell);
                n->q[at] = n->liquid[at] ? rh_pressure_value(p, cell) : 0;
            }
}

static void load_neighbourhood(const rh_pressure *p, int32_t t, neighbourhood *n)
{
    const rh_tiles *tiles = p->tiles;
    load_q(p, t, n);
    rh_block_load(tiles, p->surface->phi, t, 2, 1, n->phi);
    int deep = tiles->dimension == 3;
    for (int a = 0; a < tiles->dimension; a++) {
        float open[LARGE], jump[LARGE] = {0};
        const int s[3] = {a == 0, a == 1, a == 2};
        rh_block_load_apart(tiles, p->cut->open[a], t, 2, 0, open);
        if (p->jump.axis[0]) rh_block_load(tiles, p->jump.axis[a], t, 2, 0, jump);
        for (int k = -deep; k < tiles->layers + deep; k++)
            for (int j = -1; j <= RH_TILE; j++)
                for (int i = -1; i <= RH_TILE; i++) {
                    int here = rh_block_index(tiles, 2, i, j, k);
                    int low = rh_block_index(tiles, 2, i - s[0], j - s[1], k - s[2]);
                    int high = rh_block_index(tiles, 2, i + s[0], j + s[1], k + s[2]);
                    n->slope[a][here] = slope_of(n, open, jump, low, here, high, tiles->h);
                }
    }
}

// q at a place given in cells from the tile's corner.
static float sample(const rh_tiles *tiles, const neighbourhood *n, const float place[3])
{
    int base[3];
    float way[3], sum = 0, weights = 0;
    for (int a = 0; a < 3; a++) {
        base[a] = a < tiles->dimension ? rh_floor(place[a] - 0.5f) : 0;
        base[a] = base[a] < -1 ? -1 : base[a] > RH_TILE - 1 ? RH_TILE - 1 : base[a];
        way[a] = a < tiles->dimension ? place[a] - 0.5f - (float)base[a] : 0;
    }
    for (int corner = 0; corner < 1 << tiles->dimension; corner++) {
        int up[3] = {corner & 1, corner >> 1 & 1, corner >> 2};
        int cell = rh_block_index(tiles, 2, base[0] + up[0], base[1] + up[1], base[2] + up[2]);
        if (!n->liquid[cell]) continue;
        float weight = 1, value = n->q[cell];
        for (int a = 0; a < tiles->dimension; a++) {
            weight *= up[a] ? way[a] : 1 - way[a];
            value += n->slope[a][cell] * (way[a] - (float)up[a]);
        }
        sum += weight * value;
        weights += weight;
    }
    return weights > 1e-6f ? sum / weights : 0;
}

static float sample_at(const rh_tiles *tiles, int32_t t, const neighbourhood *n, rh_vec3 x)
{
    rh_tile at = tiles->at[t];
    const float place[3] = {x.x * tiles->inverse_h - (float)(at.x * RH_TILE),
                            x.y * tiles->inverse_h - (float)(at.y * RH_TILE),
                            x.z * tiles->inverse_h - (float)(at.z * RH_TILE)};
    return sample(tiles, n, place);
}

void rh_pressure_sample(const rh_pressure *p, const rh_vec3 *positions, float scale, float weight, float *out)
{
    RH_ASSERT(rh_tiles_are_sorted(p->tiles));
    const rh_tiles *tiles = p->tiles;
#pragma omp parallel for schedule(dynamic, 8)
    for (int32_t t = 0; t < tiles->count; t++) {
        uint32_t begin = rh_tile_first(tiles, t), end = tiles->first[(int64_t)(t + 1) * tiles->cells];
        if (begin == end) continue;
        neighbourhood n;
        load_neighbourhood(p, t, &n);
        for (uint32_t i = begin; i < end; i++) {
            float now = scale * sample_at(tiles, t, &n, positions[i]);
            out[i] = weight < 1 ? out[i] + weight * (now - out[i]) : now;
        }
    }
}

float rh_pressure_at(const rh_pressure *p, rh_vec3 place)
{
    int32_t t = rh_tiles_at(p->tiles, place);
    if (t < 0) return 0;
    neighbourhood n;
    load_neighbourhood(p, t, &n);
    return sample_at(p->tiles, t, &n, place);
}
