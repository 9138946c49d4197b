// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A solid that moves has to accelerate the liquid around it, and a light one has hardly any inertia but that. The
// pressure for each of its six velocities is a potential around the solid that no cheap formula gives for all shapes; a
// rough one is enough:
//
//      z = (n, r x n / size) (1 - d / D)^2
//
// with d the distance from the solid, D the reach within which distances are known, n its normal and r the arm from the
// centre of mass: the pressure on the solid's own surface, continued outwards and faded. By the principle of least
// energy the mass found with it,
//
//      added = m (J^T Z) (Z^T A Z)^-1 (Z^T J)
//
// is never more than the true one (0.6 to 0.9 of it). Cells beside those of two solids belong to neither, so that one
// product with A serves all solids.
#include <math.h>
#include <string.h>
#include "physics/solid_coupling.h"
#include "solve/dense.h"

enum { PARTS = RH_DYNAMICS_PARTS, SQUARE = PARTS * PARTS };
static const double NOTHING = 1e-6;  // of the largest: velocities with less move no liquid, as the turning of a ball

typedef struct work {
    rh_solid_coupling *c;
    const rh_layout *layout;
    const rh_poisson *a;
    int16_t **nearest;      // per tile of the grid: the solid of each cell, or -1; NULL = none in the tile
    float *spread, *zeros;  // vectors of the operator
    rh_term z;              // the directions, as the columns of a term
    double *energy, *grip;  // [36 solids]: Z^T A Z, Z^T J
    double *parts;          // [6 solids]: scratch
    rh_arena *arena;
} work;

static bool is_unknown(const work *w, int32_t t, int i)
{
    return w->layout->unknown[((int64_t)t * w->c->tiles->cells + i) >> 3] >> (i & 7) & 1;
}

static double reach(const work *w) { return RH_CUT_REACH * (double)w->c->tiles->h; }

// --- which cells -----------------------------------------------------------------------------------------------------
static void find_nearest(const work *w, int32_t t)
{
    const rh_solid_coupling *c = w->c;
    for (int i = 0; i < c->tiles->cells; i++) {
        int which = -1;
        w->nearest[t][i] = -1;
        if (!is_unknown(w, t, i) || !((double)c->cut->distance[t][i] < reach(w))) continue;
        rh_dvec3 x = rh_d3_from(rh_cell_center(c->tiles, t, i & 7, i >> 3 & 7, i >> 6));
        rh_cut_tile_distance(c->obstacles, c->near[t], x, &which);
        if (which >= 0) w->nearest[t][i] = (int16_t)c->dynamics->of_obstacle[which];
    }
}

static rh_code find_cells(work *w, rh_status *status)
{
    const rh_tiles *tiles = w->c->tiles;
    w->nearest = rh_arena_take_zero(w->arena, ((size_t)tiles->count + 1) * sizeof *w->nearest, status);
    if (!w->nearest) return RH_MEMORY;
    for (int32_t t = 0; t < tiles->count; t++) {
        if (!w->c->owner[t] || w->layout->slot[t] < 0) continue;
        w->nearest[t] = rh_arena_take(w->arena, (size_t)tiles->cells * sizeof **w->nearest, status);
        if (!w->nearest[t]) return RH_MEMORY;
    }
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < tiles->count; t++)
        if (w->nearest[t]) find_nearest(w, t);
    return RH_OK;
}

static int nearest_beside(const work *w, int32_t t, int i, int axis, int step)
{
    static const int stride[3] = {1, 8, 64};
    int at = axis == 0 ? i & 7 : axis == 1 ? i >> 3 & 7 : i >> 6, to = at + step;
    if (to >= 0 && to < 8) return w->nearest[t][i + step * stride[axis]];
    int32_t other = w->c->tiles->near[t][RH_HERE + step * rh_near_step[axis]];
    return other < 0 || !w->nearest[other] ? -1 : w->nearest[other][i - 7 * step * stride[axis]];
}

// Cells beside those of another solid belong to none.
static bool stands_apart(const work *w, int32_t t, int i)
{
    int own = w->nearest[t][i];
    bool apart = own >= 0;
    for (int a = 0; a < w->c->tiles->dimension && apart; a++)
        for (int step = -1; step <= 1; step += 2) {
            int other = nearest_beside(w, t, i, a, step);
            apart = apart && (other < 0 || other == own);
        }
    return apart;
}

// Cells with a face of another solid, as the term has them, belong to none either.
static void leave_shared(const work *w)
{
    const rh_term *term = &w->c->term;
    for (int32_t n = 0; n < term->tile_count; n++) {
        const rh_term_tile *t = &term->tiles[n];
        int16_t *nearest = w->nearest[w->layout->listed[t->tile]];
        for (int32_t e = t->entry_first; e < t->entry_end && nearest; e++) {
            int16_t *own = &nearest[term->entries[e].cell];
            if (*own >= 0 && *own != term->block[t->block_first + term->entries[e].local]) *own = -1;
        }
    }
}

// --- the directions --------------------------------------------------------------------------------------------------
static double size_of(const rh_solid_coupling *c, int solid)
{
    double volume = c->dynamics->items[solid].mass.volume;
    return c->tiles->dimension == 3 ? cbrt(volume) : sqrt(volume);
}

static void direction_at(const work *w, int solid, rh_dvec3 x, float row[PARTS])
{
    const rh_solid_coupling *c = w->c;
    int which = c->dynamics->items[solid].obstacle;
    const rh_obstacle *o = &c->obstacles->items[which];
    double d = rh_shape_distance(&o->shape, rh_pose_to_local(&o->pose, x)), fade = fmin(1, fmax(0, 1 - d / reach(w)));
    rh_dvec3 n = rh_obstacles_normal(c->obstacles, which, x),
             turn = rh_d3_scale(rh_d3_cross(rh_d3_sub(x, o->origin), n), 1 / size_of(c, solid));
    bool flat = c->tiles->dimension == 2;
    for (int a = 0; a < 3; a++) {
        row[a] = flat && a == 2 ? 0 : (float)(fade * fade * (&n.x)[a]);
        row[3 + a] = flat && a < 2 ? 0 : (float)(fade * fade * (&turn.x)[a]);
    }
}

// Room for as many entries, blocks of tiles and tiles.
static rh_code take_lists(rh_term *z, int solids, int32_t tiles, int64_t entries, int64_t blocks, rh_arena *arena,
                          rh_status *status)
{
    *z = (rh_term){.blocks = solids};
    z->tiles = rh_arena_take(arena, ((size_t)tiles + 1) * sizeof *z->tiles, status);
    z->entries = rh_arena_take(arena, ((size_t)entries + 1) * sizeof *z->entries, status);
    z->block = rh_arena_take(arena, ((size_t)blocks + 1) * sizeof *z->block, status);
    z->sums = rh_arena_take(arena, ((size_t)blocks + 1) * sizeof *z->sums, status);
    z->answer = rh_arena_take(arena, ((size_t)solids + 1) * PARTS * sizeof *z->answer, status);
    return z->tiles && z->entries && z->block && z->sums && z->answer ? RH_OK : RH_MEMORY;
}

// The block of a solid in the tile in progress, which ends the lists.
static uint16_t block_in(rh_term *z, rh_term_tile *t, int solid)
{
    int n = 0;
    while (n < t->block_count && z->block[t->block_first + n] != solid) n++;
    if (n == t->block_count) z->block[t->block_first + t->block_count++] = solid;
    return (uint16_t)n;
}

static void open_tile(rh_term *z, int32_t n, rh_term_tile *t)
{
    const rh_term_tile *last = z->tile_count > 0 ? &z->tiles[z->tile_count - 1] : NULL;
    int32_t entries = last ? last->entry_end : 0, blocks = last ? last->block_first + last->block_count : 0;
    *t = (rh_term_tile){n, entries, entries, blocks, 0};
}

static void close_tile(rh_term *z, const rh_term_tile *t)
{
    if (t->entry_end > t->entry_first) z->tiles[z->tile_count++] = *t;
}

static rh_code find_directions(work *w, rh_term *z, rh_status *status)
{
    const rh_tiles *tiles = w->c->tiles;
    int64_t cells = 0;
    int32_t listed = 0;
    for (int32_t t = 0; t < tiles->count; t++) {
        listed += w->nearest[t] != NULL;
        for (int i = 0; i < tiles->cells && w->nearest[t]; i++) cells += w->nearest[t][i] >= 0;
    }
    RH_TRY(take_lists(z, w->c->dynamics->count, listed, cells, cells, w->arena, status));
    for (int32_t n = 0; n < w->layout->count; n++) {
        int32_t at = w->layout->listed[n];
        rh_term_tile t;
        open_tile(z, n, &t);
        for (int i = 0; i < tiles->cells && w->nearest[at]; i++) {
            if (!stands_apart(w, at, i)) continue;
            rh_term_entry *e = &z->entries[t.entry_end++];
            *e = (rh_term_entry){.cell = (uint16_t)i, .local = block_in(z, &t, w->nearest[at][i])};
        }
        close_tile(z, &t);
    }
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < z->tile_count; n++) {
        const rh_term_tile *t = &z->tiles[n];
        int32_t at = w->layout->listed[t->tile];
        for (int32_t k = t->entry_first; k < t->entry_end; k++) {
            int i = z->entries[k].cell;
            rh_vec3 x = rh_cell_center(tiles, at, i & 7, i >> 3 & 7, i >> 6);
            direction_at(w, w->nearest[at][i], rh_d3_from(x), z->entries[k].row);
        }
    }
    return RH_OK;
}

// --- the operator on them --------------------------------------------------------------------------------------------
// One of the six directions of all solids at once: they have no cell in common, and none beside each other.
static void fill(const work *w, const rh_term *z, int part, bool clear)
{
    for (int32_t n = 0; n < z->tile_count; n++) {
        const rh_term_tile *t = &z->tiles[n];
        float *here = w->spread + (int64_t)t->tile * w->a->cells;
        for (int32_t e = t->entry_first; e < t->entry_end; e++)
            here[z->entries[e].cell] = clear ? 0 : z->entries[e].row[part];
    }
}

static void gather_tile(const work *w, const rh_term_tile *t)
{
    float product[RH_CELLS];  // less than zero
    double(*sums)[PARTS] = w->z.sums + t->block_first;
    rh_poisson_residual_tile(w->a, t->tile, w->zeros, w->spread, product);
    memset(sums, 0, (size_t)t->block_count * sizeof *sums);
    for (int32_t n = t->entry_first; n < t->entry_end; n++) {
        const rh_term_entry *e = &w->z.entries[n];
        for (int k = 0; k < PARTS; k++) sums[e->local][k] -= (double)product[e->cell] * (double)e->row[k];
    }
}

// parts = Z^T A spread: a product on the few tiles where the directions live.
static void gather(const work *w)
{
    const rh_term *z = &w->z;
#pragma omp parallel for schedule(static) if (z->tile_count > RH_SHORT)
    for (int32_t n = 0; n < z->tile_count; n++) gather_tile(w, &z->tiles[n]);
    rh_term_add_up(z, w->parts);
}

// The blocks of Z^T A Z, and of Z^T J (rows of z, columns of J).
static void find_blocks(const work *w)
{
    int solids = w->c->dynamics->count;
    for (int part = 0; part < PARTS; part++) {
        fill(w, &w->z, part, false);
        gather(w);
        rh_term_gather(&w->c->term, w->a->cells, w->spread, w->c->term.gathered);
        fill(w, &w->z, part, true);
        for (int n = 0; n < solids; n++)
            for (int k = 0; k < PARTS; k++) {
                w->energy[n * SQUARE + k * PARTS + part] = w->parts[n * PARTS + k];
                w->grip[n * SQUARE + part * PARTS + k] = w->c->term.gathered[n * PARTS + k];
            }
    }
}

// Directions without effect are left out.
static void drop_idle(double m[SQUARE])
{
    double most = 0;
    for (int k = 0; k < PARTS; k++) most = fmax(most, m[k * PARTS + k]);
    for (int k = 0; k < PARTS; k++)
        for (int j = 0; j < PARTS && m[k * PARTS + k] < NOTHING * most; j++) m[k * PARTS + j] = m[j * PARTS + k] = 0;
}

// out = a^T b c, six by six; a NULL or c NULL: the identity.
static void product(const double *a, const double *b, const double *c, double out[SQUARE])
{
    double half[SQUARE];
    for (int r = 0; r < PARTS; r++)
        for (int k = 0; k < PARTS; k++) {
            half[r * PARTS + k] = c ? 0 : b[r * PARTS + k];
            for (int j = 0; j < PARTS && c; j++) half[r * PARTS + k] += b[r * PARTS + j] * c[j * PARTS + k];
        }
    for (int r = 0; r < PARTS; r++)
        for (int k = 0; k < PARTS; k++) {
            out[r * PARTS + k] = a ? 0 : half[r * PARTS + k];
            for (int j = 0; j < PARTS && a; j++) out[r * PARTS + k] += a[j * PARTS + r] * half[j * PARTS + k];
        }
}

static void find_added(const double *energy, const double *grip, double scale, double added[SQUARE])
{
    double kept[SQUARE], inverse[SQUARE];
    memcpy(kept, energy, sizeof kept);
    drop_idle(kept);
    rh_symmetric_inverse(kept, PARTS, inverse);
    product(grip, inverse, grip, added);
    for (int k = 0; k < SQUARE; k++) added[k] *= scale;
}

static rh_code take_room(work *w, rh_status *status)
{
    size_t solids = (size_t)w->c->dynamics->count + 1, bytes = solids * SQUARE * sizeof(double);
    w->c->added = rh_arena_take_zero(w->arena, bytes, status);
    w->energy = rh_arena_take_zero(w->arena, bytes, status);
    w->grip = rh_arena_take_zero(w->arena, bytes, status);
    w->parts = rh_arena_take_zero(w->arena, solids * PARTS * sizeof(double), status);
    w->spread = rh_poisson_vector(w->a, w->arena, status);
    w->zeros = rh_poisson_vector(w->a, w->arena, status);
    return w->c->added && w->energy && w->grip && w->parts && w->spread && w->zeros ? RH_OK : RH_MEMORY;
}

rh_code rh_solid_coupling_find_added(rh_solid_coupling *c, const rh_layout *layout, const rh_poisson *matrix,
                                     rh_arena *arena, rh_status *status)
{
    work w = {.c = c, .layout = layout, .a = matrix, .arena = arena};
    RH_TRY(take_room(&w, status));
    RH_TRY(find_cells(&w, status));
    leave_shared(&w);
    RH_TRY(find_directions(&w, &w.z, status));
    find_blocks(&w);
    for (int n = 0; n < c->dynamics->count; n++)
        find_added(w.energy + n * SQUARE, w.grip + n * SQUARE, c->mass, c->added + n * SQUARE);
    rh_dynamics_note_added(c->dynamics, c->added);
    return RH_OK;
}
