// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Open faces are taken as the links of an operator (solve/poisson.h) that is never applied: its pockets, the parts that
// touch no air, are the rooms. Air is only what lies beyond the tiles. Those stand around the material with a margin,
// so what is connected to the outside of the tiles has a way out.
#include "physics/sealed.h"

#include <math.h>
#include <string.h>
#include "solve/layout.h"
#include "solve/pockets.h"

static const double NEARLY_FULL = 0.8;
// Cells of volume that may be missing in any room, however small: a blade that passes a corner shuts a few particles in
// for a moment, and the volume of a room of few cells is known to a few tenths of a cell at each of its walls.
static const double FEW_FLAT = 4, FEW_DEEP = 16;
// Of a room's volume: as much may be missing where a dynamic solid is among its walls, for that gives way in the next
// steps. Heavy crates that fall on light ones in water shut in a tenth to a half more than there is room for, and are
// lifted off again; with the tolerance of other rooms that ended 5 of 12 runs.
static const double GIVEN_WAY = 1;

typedef struct rooms {
    const rh_sealed_options *options;
    const rh_tiles *tiles;
    const rh_cut_cells *cut;
    const float *const *open[3];
    float *beyond;  // open shares of a tile that is not there
    rh_layout layout;
    rh_poisson matrix;
    rh_pockets pockets;
    double *volume, *content;  // in cells; per piece, then per room
} rooms;

// --- finding rooms ---------------------------------------------------------------------------------------------------
static void open_rows(const rooms *s, int32_t t, rh_rows open[3])
{
    for (int a = 0; a < s->tiles->dimension; a++) open[a] = rh_rows_apart(s->tiles, s->open[a], t, s->beyond);
}

static inline rh_f8 wide(rh_f8 open)
{
    return rh_f8_select(open > rh_f8_all(RH_NARROWEST_EXIT), rh_f8_all(1), rh_f8_all(0));
}

static rh_f8 open_around(const rooms *s, const rh_rows open[3], int r)
{
    rh_f8 sum = rh_f8_all(0);
    for (int a = 0; a < s->tiles->dimension; a++)
        sum += wide(rh_f8_load(open[a].here + 8 * r)) + wide(rh_row_above(&open[a], a, r));
    return sum;
}

static void mark_tile(const rooms *s, int32_t t)
{
    int size = s->tiles->cells / 8;
    rh_rows open[3];
    open_rows(s, t, open);
    for (int r = 0; r < size; r++)
        s->layout.unknown[(int64_t)t * size + r] = (uint8_t)rh_i8_bits(open_around(s, open, r) > rh_f8_all(0));
}

static void assemble_tile(const rooms *s, int32_t n)
{
    int32_t t = s->layout.listed[n];
    float *block = rh_poisson_block(&s->matrix, n);
    rh_bit_rows bits = rh_bit_rows_of(s->tiles, s->layout.unknown, t);
    rh_rows open[3];
    open_rows(s, t, open);
    for (int r = 0; r < s->tiles->cells / 8; r++) {
        int here = bits.here[r];
        for (int a = 0; a < s->tiles->dimension; a++)
            rh_f8_store(block + (a + 1) * s->tiles->cells + 8 * r,
                        rh_f8_masked(wide(rh_f8_load(open[a].here + 8 * r)), here & rh_bits_row_below(&bits, a, r)));
        rh_f8_store(block + 8 * r, rh_f8_select(rh_i8_from_bits(here), open_around(s, open, r), rh_f8_all(1)));
    }
}

static rh_code find_rooms(rooms *s, rh_arena *arena, rh_status *status)
{
    const rh_tiles *tiles = s->tiles;
    rh_poisson *m = &s->matrix;
    s->beyond = rh_arena_take(arena, RH_CELLS * sizeof *s->beyond, status);
    if (!s->beyond) return RH_MEMORY;
    for (int c = 0; c < RH_CELLS; c++) s->beyond[c] = 1;
    RH_TRY(rh_layout_init(&s->layout, tiles, arena, status));
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t t = 0; t < tiles->count; t++) mark_tile(s, t);
    RH_TRY(rh_layout_number(&s->layout, arena, status));
    RH_TRY(rh_poisson_init(m, tiles->dimension, s->layout.count, arena, status));
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t n = 0; n < m->count; n++) {
        int32_t t = s->layout.listed[n];
        rh_layout_place(&s->layout, n, m);
        m->block[n] = s->cut->kind[t] == RH_TILE_FREE && rh_layout_is_full(&s->layout, t) ? RH_PLAIN : -1;
    }
    RH_TRY(rh_poisson_take_blocks(m, arena, status));
    RH_TRY(rh_poisson_count(m, arena, status));
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < m->count; n++)
        if (m->block[n] != RH_PLAIN) assemble_tile(s, n);
    return rh_pockets_find(&s->pockets, m, arena, status);
}

// --- how much is in them ---------------------------------------------------------------------------------------------
static bool is_in(const rh_pocket_piece *p, int c) { return p->bits[c >> 6] >> (c & 63) & 1; }

// What is too much in a cell, in cells.
static double excess_of(const rooms *s, int32_t t, int c)
{
    const uint32_t *first = s->tiles->first + (int64_t)t * s->tiles->cells + c;
    return (first[1] - first[0]) / s->options->per_cell - (double)s->cut->volume[t][c];
}

static void measure_piece(const rooms *s, int32_t n)
{
    const rh_pocket_piece *p = &s->pockets.pieces[n];
    int32_t t = s->layout.listed[p->tile];
    double volume = 0, excess = 0;
    for (int c = 0; c < s->tiles->cells; c++) {
        if (!is_in(p, c)) continue;
        volume += (double)s->cut->volume[t][c];
        excess += excess_of(s, t, c);
    }
    s->volume[n] = volume;
    s->content[n] = volume + excess;
}

static rh_code measure_rooms(rooms *s, rh_arena *arena, rh_status *status)
{
    const rh_pockets *k = &s->pockets;
    s->volume = rh_arena_take(arena, ((size_t)k->count + 1) * sizeof(double), status);
    s->content = rh_arena_take(arena, ((size_t)k->count + 1) * sizeof(double), status);
    double *volume = rh_arena_take_zero(arena, ((size_t)k->groups + 1) * sizeof(double), status);
    double *content = rh_arena_take_zero(arena, ((size_t)k->groups + 1) * sizeof(double), status);
    if (!s->volume || !s->content || !volume || !content) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int32_t n = 0; n < k->count; n++) measure_piece(s, n);
    for (int32_t n = 0; n < k->count; n++) {
        volume[k->pieces[n].group] += s->volume[n];
        content[k->pieces[n].group] += s->content[n];
    }
    s->volume = volume;
    s->content = content;
    return RH_OK;
}

// Whole tiles and those around them: particles beside a wall are also seen in cells beyond its surface, through faces
// that are less than wide.
static void mark_tight(const rooms *s, uint8_t *tight)
{
    int size = s->tiles->cells / 8;
    for (int32_t n = 0; n < s->pockets.count; n++) {
        const rh_pocket_piece *p = &s->pockets.pieces[n];
        if (s->content[p->group] < NEARLY_FULL * s->volume[p->group]) continue;
        const int32_t *near = s->tiles->near[s->layout.listed[p->tile]];
        for (int i = 0; i < RH_NEAR; i++)
            if (near[i] >= 0) memset(tight + (int64_t)near[i] * size, 255, (size_t)size);
    }
}

// --- the worst of them -----------------------------------------------------------------------------------------------
static rh_dvec3 center_of(const rh_tiles *tiles, int32_t t, int c)
{
    rh_tile at = tiles->at[t];
    double h = (double)tiles->h, flat = tiles->dimension == 2;
    return rh_d3((at.x * RH_TILE + (c & 7) + 0.5) * h, (at.y * RH_TILE + (c >> 3 & 7) + 0.5) * h,
                 flat ? 0 : (at.z * RH_TILE + (c >> 6) + 0.5) * h);
}

static void note_solid(int which, rh_squeeze *q)
{
    for (int i = 0; i < q->solid_count; i++)
        if (q->solids[i] == which) return;
    if (q->solid_count < RH_SQUEEZE_SOLIDS) q->solids[q->solid_count++] = which;
}

// Walls of the room: those that can move, or the others.
static void note_solids(const rooms *s, int32_t group, const rh_obstacles *obstacles, bool moving, rh_squeeze *q)
{
    for (int32_t n = 0; n < s->pockets.count; n++) {
        const rh_pocket_piece *p = &s->pockets.pieces[n];
        int32_t t = s->layout.listed[p->tile];
        for (int c = 0; c < s->tiles->cells && p->group == group; c++) {
            int which = -1;
            if (!is_in(p, c) || s->cut->kind[t] == RH_TILE_FREE) continue;
            double distance = rh_obstacles_distance(obstacles, center_of(s->tiles, t, c), &which);
            if (which >= 0 && distance < (double)s->tiles->h && obstacles->items[which].rests != moving)
                note_solid(which, q);
        }
    }
}

static void note_place(const rooms *s, int32_t group, rh_squeeze *q)
{
    double most = -INFINITY;
    for (int32_t n = 0; n < s->pockets.count; n++) {
        const rh_pocket_piece *p = &s->pockets.pieces[n];
        int32_t t = s->layout.listed[p->tile];
        for (int c = 0; c < s->tiles->cells && p->group == group; c++)
            if (is_in(p, c) && excess_of(s, t, c) > most) {
                most = excess_of(s, t, c);
                q->place = center_of(s->tiles, t, c);
            }
    }
}

// Is a dynamic solid among the walls of the room?
static bool gives_way(const rooms *s, int32_t group, const rh_obstacles *obstacles)
{
    rh_squeeze walls = {0};
    bool any = false;
    note_solids(s, group, obstacles, true, &walls);
    for (int i = 0; i < walls.solid_count; i++) any = any || obstacles->items[walls.solids[i]].kind == RH_SOLID_DYNAMIC;
    return any;
}

static void find_worst(const rooms *s, const rh_obstacles *obstacles, rh_squeeze *q)
{
    int32_t worst = -1;
    double few = s->tiles->dimension == 2 ? FEW_FLAT : FEW_DEEP, most = 0;
    double cell = pow((double)s->tiles->h, s->tiles->dimension);
    for (int32_t g = 0; g < s->pockets.groups; g++) {
        double missing = s->content[g] - s->volume[g];
        if (missing <= s->options->tolerance * s->volume[g] + few || missing <= most) continue;
        if (missing <= GIVEN_WAY * s->volume[g] && gives_way(s, g, obstacles)) continue;
        worst = g;
        most = missing;
    }
    if (worst < 0) return;
    *q = (rh_squeeze){.found = true, .content = s->content[worst] * cell, .room = s->volume[worst] * cell};
    note_place(s, worst, q);
    note_solids(s, worst, obstacles, true, q);
    note_solids(s, worst, obstacles, false, q);
}

rh_code rh_sealed_find(rh_sealed *sealed, const rh_sealed_options *options, const rh_surroundings *around,
                       const rh_tiles *tiles, const rh_cut_cells *cut, rh_arena *arena, rh_status *status)
{
    rooms s = {.options = options, .tiles = tiles, .cut = cut};
    *sealed = (rh_sealed){0};
    if (around->obstacles->count == 0 || !(around->obstacles->any_moving || around->inflow_count > 0)) return RH_OK;
    for (int a = 0; a < tiles->dimension; a++) s.open[a] = options->blurred ? cut->pass[a] : cut->open[a];
    rh_arena_mark before = rh_arena_save(arena);
    uint8_t *tight = rh_arena_take_zero(arena, (size_t)rh_tiles_values(tiles) / 8 + 1, status);
    if (!tight) return RH_MEMORY;
    rh_arena_mark mark = rh_arena_save(arena);
    RH_TRY(find_rooms(&s, arena, status));
    if (s.pockets.count > 0) {
        RH_TRY(measure_rooms(&s, arena, status));
        mark_tight(&s, tight);
        find_worst(&s, around->obstacles, &sealed->squeeze);
        sealed->tight = tight;
    }
    rh_arena_restore(arena, s.pockets.count > 0 ? mark : before);
    return RH_OK;
}

rh_code rh_sealed_judge(const rh_sealed *sealed, rh_step_report *report, rh_status *status)
{
    const rh_squeeze *q = &sealed->squeeze;
    if (!q->found) return RH_OK;
    report->squeeze = *q;
    return rh_fail(status, RH_NUMERIC, "material for %.4g fills a room without an exit of %.4g at (%.4g, %.4g, %.4g) m",
                   q->content, q->room, q->place.x, q->place.y, q->place.z);
}
