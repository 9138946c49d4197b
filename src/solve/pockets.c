// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Each tile is flooded on its own, a layer of 64 cells in one word, in parallel; a tile has one piece or a few, and
// only the pieces are joined across tile borders by union-find, in order of tiles. A piece with air that reaches no
// border is finished and forgotten: spray costs nothing here.
#include "solve/pockets.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include "base/union_find.h"
#include "grid/flood.h"

// Unknowns, links to the lower neighbours and cells that touch air, as bits.
typedef struct layers {
    uint64_t unknown[RH_TILE], air[RH_TILE];
    rh_flood_links link;
} layers;

typedef struct piece {
    uint64_t bits[RH_TILE];
    uint64_t faces[3];  // links out of its lower faces: bit j + 8 k (x), i + 8 k (y), i + 8 j (z)
    int32_t tile;
    bool air;
} piece;

static void load_layers(const rh_poisson *a, int32_t n, layers *l)
{
    *l = (layers){0};
    if (a->block[n] == RH_PLAIN) {
        memset(l->unknown, 255, (size_t)a->layers * sizeof(uint64_t));
        for (int axis = 0; axis < a->dimension; axis++)
            memset(l->link.axis[axis], 255, (size_t)a->layers * sizeof(uint64_t));
        return;
    }
    memcpy(l->unknown, a->unknown + (int64_t)n * (a->cells / 8), (size_t)a->cells / 8);
    const float *block = rh_poisson_block(a, n);
    float excess[RH_CELLS];
    rh_poisson_excess_tile(a, n, excess);
    rh_f8 zero = rh_f8_all(0);
    for (int r = 0; r < a->cells / 8; r++) {
        int k = r >> 3, shift = 8 * (r & 7);
        l->air[k] |= (uint64_t)rh_i8_bits(rh_f8_load(excess + 8 * r) > zero) << shift;
        for (int axis = 0; axis < a->dimension; axis++)
            l->link.axis[axis][k] |= (uint64_t)rh_i8_bits(rh_f8_load(block + (axis + 1) * a->cells + 8 * r) > zero)
                                     << shift;
    }
}

static bool reaches_border(const rh_poisson *a, const uint64_t bits[RH_TILE])
{
    for (int axis = 0; axis < a->dimension; axis++)
        if (rh_flood_border(bits, axis, a->layers, false) | rh_flood_border(bits, axis, a->layers, true)) return true;
    return false;
}

// Pieces of one tile that matter; `out` NULL only counts.
static int32_t tile_pieces(const rh_poisson *a, int32_t n, piece *out)
{
    layers l;
    load_layers(a, n, &l);
    int32_t count = 0;
    for (int first = 0; first < a->layers; first++)
        while (l.unknown[first]) {
            piece p = {.tile = n};
            p.bits[first] = l.unknown[first] & (~l.unknown[first] + 1);
            rh_flood(&l.link, a->layers, p.bits);
            for (int k = 0; k < a->layers; k++) {
                l.unknown[k] &= ~p.bits[k];
                p.air = p.air || (p.bits[k] & l.air[k]);
            }
            if (p.air && !reaches_border(a, p.bits)) continue;
            for (int axis = 0; out && axis < a->dimension; axis++)
                p.faces[axis] = rh_flood_border(p.bits, axis, a->layers, false) &
                                rh_flood_border(l.link.axis[axis], axis, a->layers, false);
            if (out) out[count] = p;
            count++;
        }
    return count;
}

static void join(piece *pieces, int32_t *parent, int32_t p, int32_t q)
{
    bool air = pieces[rh_union_root(parent, p)].air || pieces[rh_union_root(parent, q)].air;
    pieces[rh_union_join(parent, p, q)].air = air;
}

static void join_all(const rh_poisson *a, const int32_t *start, piece *pieces, int32_t *parent)
{
    for (int32_t p = 0; p < start[a->count]; p++) parent[p] = p;
    for (int32_t p = 0; p < start[a->count]; p++)
        for (int axis = 0; axis < a->dimension; axis++) {
            int32_t other = a->near[pieces[p].tile][2 * axis];
            if (other == a->count || !pieces[p].faces[axis]) continue;
            for (int32_t q = start[other]; q < start[other + 1]; q++)
                if (pieces[p].faces[axis] & rh_flood_border(pieces[q].bits, axis, a->layers, true))
                    join(pieces, parent, p, q);
        }
}

// Keeps the pieces without air and numbers their groups in order of the first piece.
static rh_code keep_sealed(rh_pockets *pockets, const piece *pieces, int32_t *parent, int32_t total, rh_arena *arena,
                           rh_status *status)
{
    int32_t count = 0;
    for (int32_t p = 0; p < total; p++) count += !pieces[rh_union_root(parent, p)].air;
    if (count == 0) return RH_OK;
    int32_t *number = rh_arena_take(arena, (size_t)total * sizeof *number, status);
    pockets->pieces = rh_arena_take(arena, (size_t)count * sizeof *pockets->pieces, status);
    pockets->sums = rh_arena_take(arena, (size_t)count * sizeof(double), status);
    pockets->means = rh_arena_take(arena, (size_t)count * sizeof(double), status);
    pockets->sizes = rh_arena_take_zero(arena, (size_t)count * sizeof(int64_t), status);
    if (!number || !pockets->pieces || !pockets->sums || !pockets->means || !pockets->sizes) return RH_MEMORY;
    for (int32_t p = 0; p < total; p++) {
        int32_t root = rh_union_root(parent, p);
        if (pieces[root].air) continue;
        if (root == p) number[p] = pockets->groups++;
        rh_pocket_piece *kept = &pockets->pieces[pockets->count++];
        *kept = (rh_pocket_piece){.tile = pieces[p].tile, .group = number[root]};
        memcpy(kept->bits, pieces[p].bits, sizeof kept->bits);
        for (int k = 0; k < RH_TILE; k++) pockets->sizes[kept->group] += __builtin_popcountll(kept->bits[k]);
    }
    return RH_OK;
}

rh_code rh_pockets_find(rh_pockets *pockets, const rh_poisson *a, rh_arena *arena, rh_status *status)
{
    *pockets = (rh_pockets){0};
    rh_arena_mark mark = rh_arena_save(arena);
    int32_t *start = rh_arena_take(arena, ((size_t)a->count + 1) * sizeof *start, status), total = 0;
    if (!start) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t n = 0; n < a->count; n++) start[n] = a->block[n] == RH_PLAIN ? 1 : tile_pieces(a, n, NULL);
    for (int32_t n = 0; n < a->count; n++) {
        int32_t here = start[n];
        start[n] = total;
        total += here;
    }
    start[a->count] = total;
    piece *pieces = rh_arena_take(arena, ((size_t)total + 1) * sizeof *pieces, status);
    int32_t *parent = rh_arena_take(arena, ((size_t)total + 1) * sizeof *parent, status);
    if (!pieces || !parent) return RH_MEMORY;
#pragma omp parallel for schedule(dynamic, 16)
    for (int32_t n = 0; n < a->count; n++) {
        int32_t found = tile_pieces(a, n, pieces + start[n]);
        RH_ASSERT(found == start[n + 1] - start[n]);  // as many as were counted
    }
    join_all(a, start, pieces, parent);
    RH_TRY(keep_sealed(pockets, pieces, parent, total, arena, status));
    if (pockets->count == 0) rh_arena_restore(arena, mark);
    return RH_OK;
}

// --- bodies ----------------------------------------------------------------------------------------------------------
static int32_t group_at(const rh_pockets *pockets, int32_t *at, int32_t tile, int cell)
{
    while (*at < pockets->count && pockets->pieces[*at].tile < tile) ++*at;
    for (int32_t p = *at; p < pockets->count && pockets->pieces[p].tile == tile; p++)
        if (pockets->pieces[p].bits[cell >> 6] >> (cell & 63) & 1) return pockets->pieces[p].group;
    return -1;
}

static rh_pocket_push *push_of(rh_pocket_push *pushes, int32_t *count, int32_t group, int32_t body)
{
    for (int32_t n = *count - 1; n >= 0; n--)
        if (pushes[n].group == group && pushes[n].body == body) return &pushes[n];
    pushes[*count] = (rh_pocket_push){.group = group, .body = body};
    return &pushes[(*count)++];
}

static void push_by(const rh_term_entry *e, rh_pocket_push *p)
{
    for (int k = 0; k < RH_TERM_PARTS; k++) {
        p->sum[k] += (double)e->row[k];
        p->size[k] += fabs((double)e->row[k]);
    }
}

rh_code rh_pockets_push(const rh_pockets *pockets, const rh_term *term, rh_pocket_push **out, int32_t *count,
                        rh_arena *arena, rh_status *status)
{
    int32_t room = 0, at = 0;
    for (int32_t n = 0; n < term->tile_count; n++) room += term->tiles[n].entry_end - term->tiles[n].entry_first;
    *count = 0;
    *out = rh_arena_take(arena, ((size_t)room + 1) * sizeof **out, status);
    if (!*out) return RH_MEMORY;
    for (int32_t n = 0; n < term->tile_count && pockets->count > 0; n++)
        for (int32_t i = term->tiles[n].entry_first; i < term->tiles[n].entry_end; i++) {
            const rh_term_entry *e = &term->entries[i];
            int32_t group = group_at(pockets, &at, term->tiles[n].tile, e->cell);
            if (group >= 0) push_by(e, push_of(*out, count, group, term->block[term->tiles[n].block_first + e->local]));
        }
    return RH_OK;
}

static double energy_of(const rh_term *term, const double *parts)
{
    double sum = 0;
    term->respond(term->user, parts, term->answer);
    for (int k = 0; k < term->blocks * RH_TERM_PARTS; k++) sum += parts[k] * term->answer[k];
    return sum;
}

// Of the energy with which a level would move bodies if nothing cancelled out: less than this is rounding, and errors
// of cut cells around a body that is all inside.
static const double FELT = 1e-2;

rh_code rh_pockets_unfelt(const rh_pockets *pockets, const rh_term *term, rh_pockets *out, rh_arena *arena,
                          rh_status *status)
{
    *out = *pockets;
    if (pockets->count == 0 || !term || term->blocks == 0 || term->tile_count == 0) return RH_OK;
    size_t parts = (size_t)term->blocks * RH_TERM_PARTS;
    rh_pocket_push *pushes;
    int32_t count;
    RH_TRY(rh_pockets_push(pockets, term, &pushes, &count, arena, status));
    if (count == 0) return RH_OK;
    double *one = rh_arena_take(arena, parts * sizeof *one, status);
    bool *felt = rh_arena_take_zero(arena, (size_t)pockets->groups * sizeof *felt, status);
    out->pieces = rh_arena_take(arena, (size_t)pockets->count * sizeof *out->pieces, status);
    if (!one || !felt || !out->pieces) return RH_MEMORY;
    for (int32_t g = 0; g < pockets->groups; g++) {
        double moved[2];
        for (int whole = 0; whole < 2; whole++) {
            memset(one, 0, parts * sizeof *one);
            for (int32_t n = 0; n < count; n++)
                if (pushes[n].group == g)
                    memcpy(one + pushes[n].body * RH_TERM_PARTS, whole ? pushes[n].size : pushes[n].sum,
                           sizeof pushes[n].sum);
            moved[whole] = energy_of(term, one);
        }
        felt[g] = moved[0] > FELT * moved[1];
    }
    out->count = 0;
    for (int32_t p = 0; p < pockets->count; p++)
        if (!felt[pockets->pieces[p].group]) out->pieces[out->count++] = pockets->pieces[p];
    return RH_OK;
}

// --- means -----------------------------------------------------------------------------------------------------------
static inline rh_i8 row_mask(const rh_pocket_piece *p, int r)
{
    return rh_i8_from_bits((int)(p->bits[r >> 3] >> (8 * (r & 7)) & 255));
}

static double piece_sum(const rh_pocket_piece *p, const rh_poisson *a, const float *v)
{
    double sum = 0;
    for (int r = 0; r < a->cells / 8; r++)
        sum += (double)rh_f8_sum((rh_f8)((rh_i8)rh_f8_load(v + (int64_t)p->tile * a->cells + 8 * r) & row_mask(p, r)));
    return sum;
}

static void piece_lower(const rh_pocket_piece *p, const rh_poisson *a, float mean, float *v)
{
    for (int r = 0; r < a->cells / 8; r++) {
        float *row = v + (int64_t)p->tile * a->cells + 8 * r;
        rh_f8_store(row, rh_f8_load(row) - (rh_f8)((rh_i8)rh_f8_all(mean) & row_mask(p, r)));
    }
}

static void find_means(const rh_pockets *pockets, const rh_poisson *a, const float *v)
{
#pragma omp parallel for schedule(static) if (pockets->count > 8)
    for (int32_t p = 0; p < pockets->count; p++) pockets->sums[p] = piece_sum(&pockets->pieces[p], a, v);
    for (int32_t g = 0; g < pockets->groups; g++) pockets->means[g] = 0;
    for (int32_t p = 0; p < pockets->count; p++) pockets->means[pockets->pieces[p].group] += pockets->sums[p];
    for (int32_t g = 0; g < pockets->groups; g++) pockets->means[g] /= (double)pockets->sizes[g];
}

static void take_out_means(const rh_pockets *pockets, const rh_poisson *a, float *v)
{
#pragma omp parallel for schedule(static) if (pockets->count > 8)
    for (int32_t p = 0; p < pockets->count; p++) {
        int32_t tile = pockets->pieces[p].tile;
        if (p > 0 && pockets->pieces[p - 1].tile == tile)
            continue;  // pieces of one tile share rows: one thread does them all
        for (int32_t q = p; q < pockets->count && pockets->pieces[q].tile == tile; q++)
            piece_lower(&pockets->pieces[q], a, (float)pockets->means[pockets->pieces[q].group], v);
    }
}

void rh_pockets_balance(const rh_pockets *pockets, const rh_poisson *a, float *v)
{
    if (pockets->count == 0) return;
    find_means(pockets, a, v);
    take_out_means(pockets, a, v);
}

void rh_pockets_balance_free(const rh_pockets *pockets, const rh_poisson *a, const uint8_t *free, float *v)
{
    if (pockets->count == 0) return;
    find_means(pockets, a, v);
    for (int32_t p = 0; p < pockets->count; p++) {
        const rh_pocket_piece *part = &pockets->pieces[p];
        const uint8_t *own = free + (int64_t)part->tile * (a->cells / 8);
        for (int r = 0; r < a->cells / 8; r++)
            if (part->bits[r >> 3] >> (8 * (r & 7)) & 255 & ~(uint64_t)own[r]) pockets->means[part->group] = 0;
    }
    take_out_means(pockets, a, v);
}

// How far a row of the pocket lies above its bound; infinite for other cells.
static rh_f8 above_bound(const rh_pocket_piece *p, const rh_poisson *a, const float *lower, const float *x, int r)
{
    int64_t c = (int64_t)p->tile * a->cells + 8 * r;
    rh_f8 l = lower ? rh_f8_load(lower + c) : rh_f8_all(0);
    return rh_f8_select(row_mask(p, r), rh_f8_load(x + c) - l, rh_f8_all(INFINITY));
}

bool rh_pockets_lower(const rh_pockets *pockets, const rh_poisson *a, const float *lower, const float *g, float *x)
{
    if (pockets->count == 0) return false;
    find_means(pockets, a, g);
    double *depth = pockets->sums;  // per piece; then per pocket in means
    for (int32_t p = 0; p < pockets->count; p++) {
        rh_f8 least = rh_f8_all(INFINITY);
        for (int r = 0; r < a->cells / 8; r++)
            least = rh_f8_min(least, above_bound(&pockets->pieces[p], a, lower, x, r));
        depth[p] = INFINITY;
        for (int i = 0; i < 8; i++) depth[p] = fmin(depth[p], (double)least[i]);
    }
    for (int32_t n = 0; n < pockets->groups; n++) pockets->means[n] = pockets->means[n] > 0 ? INFINITY : 0;
    for (int32_t p = 0; p < pockets->count; p++)
        pockets->means[pockets->pieces[p].group] = fmin(pockets->means[pockets->pieces[p].group], depth[p]);
    bool any = false;
    for (int32_t n = 0; n < pockets->groups; n++) {
        if (!isfinite(pockets->means[n])) pockets->means[n] = 0;
        any = any || pockets->means[n] > 0;
    }
    if (any) take_out_means(pockets, a, x);
    return any;
}

static bool has_bound(const rh_pocket_piece *p, const rh_poisson *a, const float *lower)
{
    for (int r = 0; r < a->cells / 8; r++) {
        rh_i8 bound = rh_f8_load(lower + (int64_t)p->tile * a->cells + 8 * r) > -FLT_MAX;
        if (rh_i8_bits(bound & row_mask(p, r))) return true;
    }
    return false;
}

// Twice: a mean is taken out of floats, and equal values are rounded alike. What was left, 1e-9 of a cell in each of a
// full box pressed together by 4 %, was more than the tolerance of what else was asked of it, and now and then the
// solve went on to its last step.
void rh_pockets_relieve(const rh_pockets *pockets, const rh_poisson *a, const float *lower, float *v)
{
    for (int pass = 0; pass < 2 && pockets->count > 0; pass++) {
        find_means(pockets, a, v);
        for (int32_t p = 0; p < pockets->count; p++) {
            double *mean = &pockets->means[pockets->pieces[p].group];
            if (*mean > 0 && (!lower || has_bound(&pockets->pieces[p], a, lower))) *mean = 0;
        }
        take_out_means(pockets, a, v);
    }
}
