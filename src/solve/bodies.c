// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Columns are built tile by tile: what falls on one cell from one body is added up. S is factored by Cholesky's method
// within its envelope, bodies numbered from a far one outwards (E. Cuthill, J. McKee, 1969), so that a row of bodies
// that touch costs as much as each of them. Joints are springs so stiff that what they let through is rounding.
#include "solve/bodies.h"

#include <math.h>
#include <string.h>
#include "solve/dense.h"

enum { PARTS = RH_TERM_PARTS, SQUARE = PARTS * PARTS };
static const double STIFF_TIE = 1e7;    // of the mass along the equation
static const double UNMOVED = 1e30;     // mass along velocities that there are not
static const double NOTHING = 1e-10;    // of a body's answer on the finest level: an entry with less is rounding
static const double MOST_WORK = 1e9;    // multiplications for one factor: bodies beyond are left to the iteration
static const double LINKED_EXTENT = 1;  // cells: smaller bodies are links

// --- columns ---------------------------------------------------------------------------------------------------------
typedef struct item {
    int32_t body, next;  // next of the same cell, or -1
    double row[PARTS];
} item;

// The tile in progress, and the lists that grow.
typedef struct builder {
    rh_term *out;
    int cells;
    int32_t head[RH_CELLS];
    item *items;
    int32_t count;
    int32_t *local;  // [bodies]: place among those of the tile, or -1
    int32_t entries, blocks;
    const double *weight;  // [6 bodies]: diagonal of C, over the body's whole answer
} builder;

static rh_code open_lists(builder *b, rh_term *out, const rh_term *like, int cells, int32_t tiles, int64_t entries,
                          rh_arena *arena, rh_status *status)
{
    size_t bodies = (size_t)like->blocks, room = (size_t)entries + 1;
    *out = *like;
    out->tile_count = 0;
    out->tiles = rh_arena_take(arena, ((size_t)tiles + 1) * sizeof *out->tiles, status);
    out->entries = rh_arena_take(arena, room * sizeof *out->entries, status);
    out->block = rh_arena_take(arena, room * sizeof *out->block, status);
    out->sums = rh_arena_take(arena, room * sizeof *out->sums, status);
    *b = (builder){.out = out, .cells = cells};
    b->items = rh_arena_take(arena, room * sizeof *b->items, status);
    b->local = rh_arena_take(arena, (bodies + 1) * sizeof *b->local, status);
    if (!out->tiles || !out->entries || !out->block || !out->sums || !b->items || !b->local) return RH_MEMORY;
    for (int32_t n = 0; n < like->blocks; n++) b->local[n] = -1;
    for (int c = 0; c < RH_CELLS; c++) b->head[c] = -1;
    return RH_OK;
}

static void add(builder *b, int cell, int32_t body, double scale, const double *row)
{
    int32_t *at = &b->head[cell];
    while (*at >= 0 && b->items[*at].body != body) at = &b->items[*at].next;
    if (*at < 0) {
        b->items[b->count] = (item){.body = body, .next = -1};
        *at = b->count++;
    }
    for (int k = 0; k < PARTS; k++) b->items[*at].row[k] += scale * row[k];
}

static bool matters(const builder *b, const item *i)
{
    double sum = 0;
    for (int k = 0; k < PARTS; k++) sum += b->weight[i->body * PARTS + k] * i->row[k] * i->row[k];
    return sum > NOTHING;
}

static uint16_t local_of(builder *b, int32_t first, int32_t body)
{
    if (b->local[body] < 0) {
        b->local[body] = b->blocks - first;
        b->out->block[b->blocks++] = body;
    }
    return (uint16_t)b->local[body];
}

static void close_tile(builder *b, int32_t tile)
{
    rh_term_tile t = {.tile = tile, .entry_first = b->entries, .block_first = b->blocks};
    for (int c = 0; c < b->cells && b->count > 0; c++) {
        for (int32_t i = b->head[c]; i >= 0; i = b->items[i].next) {
            if (!matters(b, &b->items[i])) continue;
            rh_term_entry *e = &b->out->entries[b->entries++];
            *e = (rh_term_entry){(uint16_t)c, local_of(b, t.block_first, b->items[i].body), {0}};
            for (int k = 0; k < PARTS; k++) e->row[k] = (float)b->items[i].row[k];
        }
        b->head[c] = -1;
    }
    t.entry_end = b->entries;
    t.block_count = b->blocks - t.block_first;
    for (int32_t n = t.block_first; n < b->blocks; n++) b->local[b->out->block[n]] = -1;
    if (t.entry_end > t.entry_first) b->out->tiles[b->out->tile_count++] = t;
    b->count = 0;
}

static void add_entry(builder *b, const rh_term *from, const rh_term_tile *t, const rh_term_entry *e, int cell,
                      double scale)
{
    double row[PARTS];
    for (int k = 0; k < PARTS; k++) row[k] = (double)e->row[k];
    add(b, cell, from->block[t->block_first + e->local], scale, row);
}

// --- pockets ---------------------------------------------------------------------------------------------------------
// What a constant pressure in each pocket does to each body, over its cells. Only what does not cancel out, as it does
// around a body that is all inside.
typedef struct pushes {
    rh_pocket_push *items;
    int32_t count;
} pushes;

static void keep_pushes(pushes *p, const rh_pockets *pockets, const double *weight)
{
    int32_t to = 0;
    for (int32_t n = 0; n < p->count; n++) {
        rh_pocket_push *from = &p->items[n];
        double sum = 0;
        for (int k = 0; k < PARTS; k++) {
            from->sum[k] /= (double)pockets->sizes[from->group];
            sum += weight[from->body * PARTS + k] * from->sum[k] * from->sum[k];
        }
        if (sum > NOTHING) p->items[to++] = *from;
    }
    p->count = to;
}

static void lower_piece(builder *b, const rh_pocket_piece *piece, const pushes *p)
{
    for (int32_t n = 0; n < p->count; n++) {
        if (p->items[n].group != piece->group) continue;
        for (int c = 0; c < b->cells; c++)
            if (piece->bits[c >> 6] >> (c & 63) & 1) add(b, c, p->items[n].body, -1, p->items[n].sum);
    }
}

static int64_t entries_with(const rh_term *term, const rh_pockets *pockets, const pushes *p)
{
    int64_t count = term->tile_count > 0 ? term->tiles[term->tile_count - 1].entry_end : 0;
    for (int32_t n = 0; n < p->count; n++) count += pockets->sizes[p->items[n].group];
    return count;
}

// The columns with the mean over pockets taken out.
static rh_code balance_columns(builder *b, rh_term *out, const rh_term *term, int32_t tiles, int cells,
                               const rh_pockets *pockets, const double *weight, rh_arena *arena, rh_status *status)
{
    pushes p;
    RH_TRY(rh_pockets_push(pockets, term, &p.items, &p.count, arena, status));
    keep_pushes(&p, pockets, weight);
    RH_TRY(open_lists(b, out, term, cells, tiles, entries_with(term, pockets, &p), arena, status));
    b->weight = weight;
    int32_t piece = 0, n = 0;
    for (int32_t tile = 0; tile < tiles; tile++) {
        for (; n < term->tile_count && term->tiles[n].tile == tile; n++)
            for (int32_t i = term->tiles[n].entry_first; i < term->tiles[n].entry_end; i++)
                add_entry(b, term, &term->tiles[n], &term->entries[i], term->entries[i].cell, 1);
        for (; piece < pockets->count && pockets->pieces[piece].tile == tile; piece++)
            lower_piece(b, &pockets->pieces[piece], &p);
        close_tile(b, tile);
    }
    return RH_OK;
}

// --- what a level solves for its bodies ------------------------------------------------------------------------------
// Bodies that share a cell or a joint: bits, row after row.
typedef struct graph {
    int count;        // bodies on this level
    int32_t *body;    // [count]
    int32_t *number;  // [blocks]: the other way, or -1
    uint64_t *bits;
    int words;
} graph;

static void connect(graph *g, int32_t a, int32_t b)
{
    a = g->number[a];
    b = g->number[b];
    if (a < 0 || b < 0) return;
    g->bits[(int64_t)a * g->words + b / 64] |= UINT64_C(1) << (b & 63);
    g->bits[(int64_t)b * g->words + a / 64] |= UINT64_C(1) << (a & 63);
}

static int32_t body_of(const rh_term *j, const rh_term_tile *t, const rh_term_entry *e)
{
    return j->block[t->block_first + e->local];
}

// The end of the entries of one cell, which follow each other.
static int32_t end_of_cell(const rh_term *j, const rh_term_tile *t, int32_t i)
{
    int32_t end = i + 1;
    while (end < t->entry_end && j->entries[end].cell == j->entries[i].cell) end++;
    return end;
}

static rh_code find_graph(const rh_bodies *bodies, const rh_term *j, graph *g, rh_arena *arena, rh_status *status)
{
    *g = (graph){0};
    g->body = rh_arena_take(arena, ((size_t)j->blocks + 1) * sizeof *g->body, status);
    g->number = rh_arena_take(arena, ((size_t)j->blocks + 1) * sizeof *g->number, status);
    if (!g->body || !g->number) return RH_MEMORY;
    for (int32_t b = 0; b < j->blocks; b++) g->number[b] = -1;
    for (int32_t n = 0; n < j->tile_count; n++)
        for (int32_t i = j->tiles[n].entry_first; i < j->tiles[n].entry_end; i++)
            g->number[body_of(j, &j->tiles[n], &j->entries[i])] = 0;
    for (int32_t b = 0; b < j->blocks; b++)
        if (g->number[b] == 0) {
            g->number[b] = g->count;
            g->body[g->count++] = b;
        }
    g->words = (g->count + 63) / 64;
    g->bits = rh_arena_take_zero(arena, ((size_t)g->count * (size_t)g->words + 1) * sizeof *g->bits, status);
    if (!g->bits) return RH_MEMORY;
    for (int32_t n = 0; n < j->tile_count; n++) {
        const rh_term_tile *t = &j->tiles[n];
        for (int32_t i = t->entry_first, end; i < t->entry_end; i = end) {
            end = end_of_cell(j, t, i);
            for (int32_t a = i; a < end; a++)
                for (int32_t b = a + 1; b < end; b++)
                    connect(g, body_of(j, t, &j->entries[a]), body_of(j, t, &j->entries[b]));
        }
    }
    for (int i = 0; i < bodies->tie_count; i++)
        if (bodies->ties[i].b >= 0) connect(g, bodies->ties[i].a, bodies->ties[i].b);
    return RH_OK;
}

// Neighbours of `at` that have no place yet get the next ones.
static int reach_out(const graph *g, int at, int placed, int32_t *place, int32_t *order)
{
    for (int w = 0; w < g->words; w++)
        for (uint64_t left = g->bits[(int64_t)at * g->words + w]; left; left &= left - 1) {
            int other = 64 * w + __builtin_ctzll(left);
            if (place[other] >= 0) continue;
            place[other] = placed;
            order[placed++] = other;
        }
    return placed;
}

static int spread_from(const graph *g, int start, int placed, int32_t *place, int32_t *order)
{
    int done = placed;
    place[start] = placed;
    order[placed++] = start;
    for (; done < placed; done++) placed = reach_out(g, order[done], placed, place, order);
    return placed;
}

// place[body of the graph]: each connected part from one of its ends, found by going through it once before.
static void find_order(const graph *g, int32_t *place, int32_t *order)
{
    for (int n = 0; n < g->count; n++) place[n] = -1;
    for (int n = 0, placed = 0; n < g->count; n++) {
        if (place[n] >= 0) continue;
        int end = spread_from(g, n, placed, place, order), last = order[end - 1];
        for (int k = placed; k < end; k++) place[order[k]] = -1;
        placed = spread_from(g, last, placed, place, order);
    }
}

static double *element(const rh_body_level *l, int r, int c)
{
    return c > r ? &l->factor[l->start[c] + r - l->first[c]] : &l->factor[l->start[r] + c - l->first[r]];
}

// The envelope of S; returns the work of its factor.
static rh_code find_envelope(rh_body_level *l, const graph *g, double *work, rh_arena *arena, rh_status *status)
{
    int32_t *place = rh_arena_take(arena, ((size_t)g->count + 1) * sizeof *place, status);
    int32_t *order = rh_arena_take(arena, ((size_t)g->count + 1) * sizeof *order, status);
    l->size = g->count * l->parts;
    l->row = rh_arena_take(arena, ((size_t)l->j.blocks + 1) * sizeof *l->row, status);
    l->first = rh_arena_take(arena, ((size_t)l->size + 1) * sizeof *l->first, status);
    l->start = rh_arena_take(arena, ((size_t)l->size + 1) * sizeof *l->start, status);
    if (!place || !order || !l->row || !l->first || !l->start) return RH_MEMORY;
    find_order(g, place, order);
    for (int32_t b = 0; b < l->j.blocks; b++) l->row[b] = g->number[b] < 0 ? -1 : place[g->number[b]] * l->parts;
    int64_t stored = 0;
    *work = 0;
    for (int r = 0; r < l->size; r++) {
        int at = r / l->parts, lowest = at;
        const uint64_t *bits = g->bits + (int64_t)order[at] * g->words;
        for (int w = 0; w < g->words; w++)
            for (uint64_t left = bits[w]; left; left &= left - 1) {
                int other = place[64 * w + __builtin_ctzll(left)];
                if (other < lowest) lowest = other;
            }
        l->first[r] = lowest * l->parts;
        l->start[r] = stored;
        stored += r - l->first[r] + 1;
        *work += 0.5 * (double)(r - l->first[r]) * (r - l->first[r]);
    }
    l->start[l->size] = stored;
    return RH_OK;
}

static void add_square(const rh_body_level *l, int32_t a, int32_t b, double scale, const double *ja, const double *jb)
{
    int ra = l->row[a], rb = l->row[b];
    if (ra < 0 || rb < 0) return;
    for (int p = 0; p < l->parts; p++)
        for (int q = 0; q < l->parts; q++)
            if (ra + p >= rb + q) *element(l, ra + p, rb + q) += scale * ja[l->part[p]] * jb[l->part[q]];
}

static void add_mass(const rh_bodies *bodies, const rh_body_level *l)
{
    for (int32_t b = 0; b < l->j.blocks; b++) {
        double mass[SQUARE];
        if (l->row[b] < 0) continue;
        rh_symmetric_inverse(bodies->inverse + b * SQUARE, PARTS, mass);
        for (int k = 0; k < SQUARE; k++) mass[k] /= l->j.scale;
        for (int k = 0; k < PARTS; k++)
            if (!(bodies->inverse[b * SQUARE + k * (PARTS + 1)] > 0)) mass[k * (PARTS + 1)] = UNMOVED;
        for (int p = 0; p < l->parts; p++)
            for (int q = 0; q <= p; q++)
                *element(l, l->row[b] + p, l->row[b] + q) += mass[l->part[p] * PARTS + l->part[q]];
        if (l->mass) memcpy(l->mass + b * SQUARE, mass, sizeof mass);
    }
}

// `own`: zeros, [36 blocks]; becomes the squares of each body by itself, which are most of all.
static void add_cells(const rh_body_level *l, double *own)
{
    const rh_term *j = &l->j;
    for (int32_t n = 0; n < j->tile_count; n++) {
        const rh_term_tile *t = &j->tiles[n];
        for (int32_t i = t->entry_first, end; i < t->entry_end; i = end) {
            end = end_of_cell(j, t, i);
            for (int32_t a = i; a < end; a++)
                for (int32_t b = i; b < end; b++) {
                    double ja[PARTS], jb[PARTS];
                    int32_t one = body_of(j, t, &j->entries[a]), other = body_of(j, t, &j->entries[b]);
                    rh_six row = rh_six_widen(l->over[b].row);
                    rh_six_store(ja, rh_six_widen(j->entries[a].row));
                    rh_six_store(jb, row);
                    if (a != b) add_square(l, one, other, 1, ja, jb);
                    for (int k = 0; k < PARTS && a == b; k++) {
                        double *to = own + one * SQUARE + k * PARTS;
                        rh_six_store(to, rh_six_add(rh_six_load(to), rh_six_scale(row, ja[k])));
                    }
                }
        }
    }
    for (int32_t b = 0; b < j->blocks; b++)
        for (int p = 0; p < l->parts && l->row[b] >= 0; p++)
            for (int q = 0; q <= p; q++)
                *element(l, l->row[b] + p, l->row[b] + q) += own[b * SQUARE + l->part[p] * PARTS + l->part[q]];
}

// How easily a body gives way along a row: the inverse of its mass there, by the diagonal of S.
static double ease(const rh_body_level *l, int32_t body, const double *row)
{
    double sum = 0;
    for (int p = 0; p < l->parts; p++)
        sum += row[l->part[p]] * row[l->part[p]] / *element(l, l->row[body] + p, l->row[body] + p);
    return sum;
}

// How stiff each is follows from the bodies as they are without any: with the ties before it in the diagonal, a second
// joint of a body was 1e14 times as stiff as its mass, a third beyond what numbers hold, and the solve stalled.
static rh_code add_ties(const rh_bodies *bodies, const rh_body_level *l, rh_arena *arena, rh_status *status)
{
    double *stiff = rh_arena_take_zero(arena, ((size_t)bodies->tie_count + 1) * sizeof *stiff, status);
    if (!stiff) return RH_MEMORY;
    for (int i = 0; i < bodies->tie_count; i++) {
        const rh_body_tie *t = &bodies->ties[i];
        bool two = t->b >= 0;
        if (l->row[t->a] < 0 || (two && l->row[t->b] < 0)) continue;
        double way = ease(l, t->a, t->ja) + (two ? ease(l, t->b, t->jb) : 0);
        stiff[i] = way > 0 ? STIFF_TIE / way : 0;
    }
    for (int i = 0; i < bodies->tie_count; i++) {
        const rh_body_tie *t = &bodies->ties[i];
        if (stiff[i] == 0) continue;
        add_square(l, t->a, t->a, stiff[i], t->ja, t->ja);
        if (t->b < 0) continue;
        add_square(l, t->b, t->b, stiff[i], t->jb, t->jb);
        add_square(l, t->a, t->b, stiff[i], t->ja, t->jb);
        add_square(l, t->b, t->a, stiff[i], t->jb, t->ja);
    }
    return RH_OK;
}

// Four sums side by side, in fixed order.
static double dot(const double *x, const double *y, int n)
{
    double s[4] = {0};
    int k = 0;
    for (; k + 4 <= n; k += 4)
        for (int i = 0; i < 4; i++) s[i] += x[k + i] * y[k + i];
    for (; k < n; k++) s[0] += x[k] * y[k];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

// The diagonal keeps the inverses of its elements, 0 of what is left out.
static void factor(const rh_body_level *l)
{
    for (int r = 0; r < l->size; r++) {
        double *row = l->factor + l->start[r] - l->first[r], whole = row[r];
        for (int c = l->first[r]; c < r; c++) {
            const double *other = l->factor + l->start[c] - l->first[c];
            int from = l->first[r] > l->first[c] ? l->first[r] : l->first[c];
            row[c] = (row[c] - dot(row + from, other + from, c - from)) * other[c];
        }
        double rest = whole - dot(row + l->first[r], row + l->first[r], r - l->first[r]);
        bool there = whole > 0 && rest > 1e-13 * whole;
        row[r] = there ? 1 / sqrt(rest) : 0;
        if (!there) memset(row + l->first[r], 0, (size_t)(r - l->first[r]) * sizeof *row);
    }
}

static void solve(const rh_body_level *l, double *restrict x)
{
    for (int r = 0; r < l->size; r++) {
        const double *row = l->factor + l->start[r] - l->first[r];
        x[r] = (x[r] - dot(row + l->first[r], x + l->first[r], r - l->first[r])) * row[r];
    }
    for (int r = l->size - 1; r >= 0; r--) {
        const double *restrict row = l->factor + l->start[r] - l->first[r];
        double here = x[r] *= row[r];
        for (int c = l->first[r]; c < r; c++) x[c] -= row[c] * here;
    }
}

// --- six rows at a time ----------------------------------------------------------------------------------------------
// In space the six rows of a body begin at the same column. Its panel is their common columns, six numbers each, and
// then two squares, by columns: the inverse of its diagonal block, and the transpose of that.
static int64_t panel_columns(const rh_body_level *l, int row) { return row - l->first[row] + 2 * PARTS; }

static void fill_panel(const rh_body_level *l, int row, double (*panel)[PARTS])
{
    int columns = row - l->first[row];
    double(*inverse)[PARTS] = panel + columns, (*transpose)[PARTS] = inverse + PARTS;
    for (int c = 0; c < columns; c++)
        for (int k = 0; k < PARTS; k++) panel[c][k] = l->factor[l->start[row + k] + c];
    for (int c = 0; c < PARTS; c++)
        for (int r = 0; r < PARTS; r++) {
            const double *own = l->factor + l->start[row + r] + columns;
            double sum = r == c;
            for (int k = 0; k < r; k++) sum -= own[k] * inverse[c][k];
            inverse[c][r] = transpose[r][c] = sum * own[r];
        }
}

static rh_code make_panels(rh_body_level *l, rh_arena *arena, rh_status *status)
{
    int64_t columns = 0;
    for (int row = 0; row < l->size; row += PARTS) columns += panel_columns(l, row);
    l->panels = rh_arena_take(arena, ((size_t)columns + 1) * sizeof *l->panels, status);
    if (!l->panels) return RH_MEMORY;
    columns = 0;
    for (int row = 0; row < l->size; row += PARTS) {
        fill_panel(l, row, l->panels + columns);
        columns += panel_columns(l, row);
    }
    return RH_OK;
}

// The columns of a square times the numbers of a vector.
static inline rh_six multiply_square(const double (*columns)[PARTS], rh_six v)
{
    double by[PARTS];
    rh_six sum[2] = {rh_six_zero(), rh_six_zero()};
    rh_six_store(by, v);
    for (int c = 0; c < PARTS; c++) sum[c & 1] = rh_six_add(sum[c & 1], rh_six_scale(rh_six_load(columns[c]), by[c]));
    return rh_six_add(sum[0], sum[1]);
}

static void solve_panels(const rh_body_level *l, double *x)
{
    const double(*panel)[PARTS] = (const double(*)[PARTS])l->panels;
    for (int row = 0; row < l->size; panel += panel_columns(l, row), row += PARTS) {
        int columns = row - l->first[row];
        const double *by = x + l->first[row];
        rh_six rest[2] = {rh_six_load(x + row), rh_six_zero()};  // `columns` is a multiple of PARTS
        for (int c = 0; c < columns; c += 2) {
            rest[0] = rh_six_add(rest[0], rh_six_scale(rh_six_load(panel[c]), -by[c]));
            rest[1] = rh_six_add(rest[1], rh_six_scale(rh_six_load(panel[c + 1]), -by[c + 1]));
        }
        rh_six_store(x + row, multiply_square(panel + columns, rh_six_add(rest[0], rest[1])));
    }
    for (int row = l->size - PARTS; row >= 0; row -= PARTS) {
        int columns = row - l->first[row];
        panel -= panel_columns(l, row);
        double *to = x + l->first[row];
        rh_six here = multiply_square(panel + columns + PARTS, rh_six_load(x + row));
        rh_six_store(x + row, here);
        for (int c = 0; c < columns; c++) to[c] -= rh_six_dot(rh_six_load(panel[c]), here);
    }
}

// D^-1 J, and where the columns of each tile are.
static rh_code divide(rh_body_level *l, const rh_poisson *a, rh_arena *arena, rh_status *status)
{
    const rh_term *j = &l->j;
    int32_t entries = j->tile_count > 0 ? j->tiles[j->tile_count - 1].entry_end : 0;
    size_t six = ((size_t)j->blocks + 1) * PARTS * sizeof(double);
    l->over = rh_arena_take(arena, ((size_t)entries + 1) * sizeof *l->over, status);
    l->of_tile = rh_arena_take(arena, ((size_t)a->count + 1) * sizeof *l->of_tile, status);
    l->before = rh_arena_take_zero(arena, six, status);
    l->work = rh_arena_take(arena, six, status);
    l->mass = rh_arena_take_zero(arena, six * PARTS, status);
    l->j.gathered = rh_arena_take(arena, six, status);
    l->j.answer = rh_arena_take(arena, six, status);
    if (!l->over || !l->of_tile || !l->before || !l->work || !l->mass || !l->j.gathered || !l->j.answer)
        return RH_MEMORY;
    for (int32_t n = 0; n < a->count; n++) l->of_tile[n] = -1;
    for (int32_t n = 0; n < j->tile_count; n++) {
        const float *diagonal = rh_poisson_block(a, j->tiles[n].tile);
        l->of_tile[j->tiles[n].tile] = n;
        for (int32_t i = j->tiles[n].entry_first; i < j->tiles[n].entry_end; i++) {
            l->over[i] = j->entries[i];
            for (int k = 0; k < PARTS; k++) l->over[i].row[k] /= diagonal[j->entries[i].cell];
        }
    }
    return RH_OK;
}

// All that a level needs once it has its columns. *out NULL: it has none, or too many that hang together.
static rh_code complete(rh_body_level *l, const rh_bodies *bodies, const rh_poisson *a, rh_arena *arena,
                        rh_body_level **out, rh_status *status)
{
    graph g;
    double work;
    *out = NULL;
    if (l->j.tile_count == 0) return RH_OK;
    for (int k = 0; k < PARTS; k++)
        if (a->dimension == 3 || k < 2 || k == 5) l->part[l->parts++] = k;
    RH_TRY(divide(l, a, arena, status));
    RH_TRY(find_graph(bodies, &l->j, &g, arena, status));
    RH_TRY(find_envelope(l, &g, &work, arena, status));
    if (work > MOST_WORK) return RH_OK;
    l->factor = rh_arena_take_zero(arena, ((size_t)l->start[l->size] + 1) * sizeof *l->factor, status);
    if (!l->factor) return RH_MEMORY;
    add_cells(l, l->mass);
    if (bodies->tie_count > 0) l->mass = NULL;
    add_mass(bodies, l);
    RH_TRY(add_ties(bodies, l, arena, status));
    factor(l);
    if (l->parts == PARTS) RH_TRY(make_panels(l, arena, status));
    *out = l;
    return RH_OK;
}

// --- levels ----------------------------------------------------------------------------------------------------------
// The share of each velocity of a body in its whole answer, by which entries that are only rounding are told.
static rh_code find_weights(const rh_bodies *bodies, double **out, rh_arena *arena, rh_status *status)
{
    const rh_term *term = bodies->term;
    double *whole = rh_arena_take_zero(arena, ((size_t)term->blocks + 1) * sizeof *whole, status);
    *out = rh_arena_take(arena, ((size_t)term->blocks + 1) * PARTS * sizeof **out, status);
    if (!whole || !*out) return RH_MEMORY;
    for (int32_t n = 0; n < term->tile_count; n++)
        for (int32_t i = term->tiles[n].entry_first; i < term->tiles[n].entry_end; i++) {
            const rh_term_entry *e = &term->entries[i];
            int32_t b = body_of(term, &term->tiles[n], e);
            for (int k = 0; k < PARTS; k++)
                whole[b] += bodies->inverse[b * SQUARE + k * PARTS + k] * (double)e->row[k] * (double)e->row[k];
        }
    for (int32_t b = 0; b < term->blocks; b++)
        for (int k = 0; k < PARTS; k++)
            (*out)[b * PARTS + k] = whole[b] > 0 ? bodies->inverse[b * SQUARE + k * PARTS + k] / whole[b] : 0;
    return RH_OK;
}

rh_code rh_bodies_finest(const rh_bodies *bodies, const rh_poisson *a, const rh_pockets *pockets, rh_arena *arena,
                         rh_body_level **out, rh_status *status)
{
    rh_body_level *l = rh_arena_take_zero(arena, sizeof *l, status);
    builder *b = rh_arena_take(arena, sizeof *b, status);
    double *weight;
    if (!l || !b) return RH_MEMORY;
    RH_TRY(find_weights(bodies, &weight, arena, status));
    RH_TRY(balance_columns(b, &l->j, bodies->term, a->count, a->cells, pockets, weight, arena, status));
    return complete(l, bodies, a, arena, out, status);
}

// --- links -----------------------------------------------------------------------------------------------------------
// An entry of a body that is to become links, by its cell on the whole grid.
typedef struct spot {
    int32_t body, tile;
    int cell, at[3];
    double row[3];
} spot;

static void stiffen(rh_poisson *a, int32_t tile, int cell, float by)
{
    if (a->block[tile] != RH_PLAIN) rh_poisson_block(a, tile)[cell] += by;
}

// A link between cells that follow each other along the axis: it is stored with the upper one.
static void link(rh_poisson *a, const spot *low, const spot *high, int axis, float by)
{
    if (a->block[low->tile] == RH_PLAIN || a->block[high->tile] == RH_PLAIN) return;
    stiffen(a, low->tile, low->cell, by);
    stiffen(a, high->tile, high->cell, by);
    rh_poisson_block(a, high->tile)[(axis + 1) * a->cells + high->cell] += by;
}

static const spot *above(const spot *all, int count, const spot *s, int axis)
{
    for (int n = 0; n < count; n++) {
        bool next = true;
        for (int k = 0; k < 3; k++) next = next && all[n].at[k] == s->at[k] + (k == axis);
        if (next) return &all[n];
    }
    return NULL;
}

static bool is_lowest(const spot *all, int count, const spot *s, int axis)
{
    for (int n = 0; n < count; n++) {
        bool below = true;
        for (int k = 0; k < 3; k++) below = below && all[n].at[k] == s->at[k] - (k == axis);
        if (below) return false;
    }
    return true;
}

// Along each line of cells, what the body shuts of each face is the sum of the entries below it. With `by` 0 only the
// sum over all faces is taken.
static double walk(rh_poisson *a, const spot *all, int count, int axis, double by)
{
    double sum = 0;
    for (int n = 0; n < count; n++) {
        if (!is_lowest(all, count, &all[n], axis)) continue;
        double shut = 0;
        for (const spot *s = &all[n], *next; s; s = next) {
            next = above(all, count, s, axis);
            shut += s->row[axis];
            sum += fabs(shut);
            if (by > 0 && next) link(a, s, next, axis, (float)(by * fabs(shut)));
            if (by > 0 && !next) stiffen(a, s->tile, s->cell, (float)(by * fabs(shut)));
        }
    }
    return sum;
}

static void link_body(const rh_bodies *bodies, rh_poisson *a, const spot *all, int count)
{
    for (int axis = 0; axis < a->dimension; axis++) {
        double answer = bodies->term->scale * bodies->inverse[all->body * SQUARE + axis * PARTS + axis];
        walk(a, all, count, axis, answer * walk(a, all, count, axis, 0));
    }
}

static bool is_small(const rh_bodies *bodies, int32_t body, double width)
{
    return bodies->extent[body] <= LINKED_EXTENT * width;
}

static spot spot_of(const rh_poisson *a, int32_t body, int32_t tile, const rh_term_entry *e)
{
    rh_tile at = a->at[tile];
    spot s = {
        body, tile, e->cell, {8 * at.x + (e->cell & 7), 8 * at.y + (e->cell >> 3 & 7), 8 * at.z + (e->cell >> 6)}, {0}};
    for (int k = 0; k < 3; k++) s.row[k] = (double)e->row[k];
    return s;
}

// Small bodies leave the columns and become links.
static rh_code link_small(const rh_bodies *bodies, rh_term *j, rh_poisson *a, double width, rh_arena *arena,
                          rh_status *status)
{
    int32_t entries = j->tile_count > 0 ? j->tiles[j->tile_count - 1].entry_end : 0, to = 0, tiles = 0;
    int32_t *count = rh_arena_take_zero(arena, ((size_t)j->blocks + 1) * sizeof *count, status);
    spot *spots = rh_arena_take(arena, ((size_t)entries + 1) * sizeof *spots, status);
    if (!count || !spots) return RH_MEMORY;
    for (int32_t n = 0; n < j->tile_count; n++)
        for (int32_t i = j->tiles[n].entry_first; i < j->tiles[n].entry_end; i++) {
            int32_t b = body_of(j, &j->tiles[n], &j->entries[i]);
            count[b + 1] += is_small(bodies, b, width);
        }
    for (int32_t b = 0; b < j->blocks; b++) count[b + 1] += count[b];  // now: first place of each body
    for (int32_t n = 0; n < j->tile_count; n++) {
        rh_term_tile t = j->tiles[n];
        int32_t first = to;
        for (int32_t i = t.entry_first; i < t.entry_end; i++) {
            int32_t b = body_of(j, &t, &j->entries[i]);
            if (is_small(bodies, b, width)) spots[count[b]++] = spot_of(a, b, t.tile, &j->entries[i]);
            else j->entries[to++] = j->entries[i];
        }
        t.entry_first = first;
        t.entry_end = to;
        if (to > first) j->tiles[tiles++] = t;
    }
    j->tile_count = tiles;
    for (int32_t b = 0, from = 0; b < j->blocks; from = count[b], b++)
        if (count[b] > from) link_body(bodies, a, spots + from, count[b] - from);
    return RH_OK;
}

static int parent_cell(int cell, rh_tile at, bool deep)
{
    int x = 4 * (at.x & 1) + (cell & 7) / 2, y = 4 * (at.y & 1) + (cell >> 3 & 7) / 2;
    return x + 8 * y + (deep ? 64 * (4 * (at.z & 1) + (cell >> 6) / 2) : 0);
}

rh_code rh_bodies_coarser(const rh_bodies *bodies, const rh_body_level *fine, const rh_poisson *from,
                          const int32_t *parent, rh_poisson *a, double width, rh_arena *arena, rh_body_level **out,
                          rh_status *status)
{
    const rh_term *j = &fine->j;
    bool deep = a->dimension == 3;
    rh_body_level *l = rh_arena_take_zero(arena, sizeof *l, status);
    builder *b = rh_arena_take(arena, sizeof *b, status);
    if (!l || !b) return RH_MEMORY;
    double *weight;
    RH_TRY(find_weights(bodies, &weight, arena, status));
    RH_TRY(open_lists(b, &l->j, j, a->cells, j->tile_count, j->tiles[j->tile_count - 1].entry_end, arena, status));
    b->weight = weight;
    for (int32_t n = 0; n < j->tile_count; n++) {
        const rh_term_tile *t = &j->tiles[n];
        for (int32_t i = t->entry_first; i < t->entry_end; i++)
            add_entry(b, j, t, &j->entries[i], parent_cell(j->entries[i].cell, from->at[t->tile], deep),
                      deep ? sqrt(0.5) : 1);
        if (n + 1 == j->tile_count || parent[j->tiles[n + 1].tile] != parent[t->tile]) close_tile(b, parent[t->tile]);
    }
    RH_TRY(link_small(bodies, &l->j, a, width, arena, status));
    return complete(l, bodies, a, arena, out, status);
}

// --- in the cycle ----------------------------------------------------------------------------------------------------
void rh_bodies_gather(const rh_body_level *l, int cells, const float *x) { rh_term_gather(&l->j, cells, x, l->before); }

// parts = S^-1 rest, both six a body.
static void find(const rh_body_level *l, const double *rest, double *parts)
{
    for (int32_t b = 0; b < l->j.blocks; b++)
        for (int p = 0; p < l->parts && l->row[b] >= 0; p++) l->work[l->row[b] + p] = rest[b * PARTS + l->part[p]];
    if (l->panels) solve_panels(l, l->work);
    else solve(l, l->work);
    memset(parts, 0, (size_t)l->j.blocks * PARTS * sizeof *parts);
    for (int32_t b = 0; b < l->j.blocks; b++)
        for (int p = 0; p < l->parts && l->row[b] >= 0; p++) parts[b * PARTS + l->part[p]] = l->work[l->row[b] + p];
}

// y -= D^-1 J parts.
static void take_off(const rh_body_level *l, int cells, const double *parts, const float *b, float *y, double *sums)
{
    const rh_term *j = &l->j;
#pragma omp parallel for schedule(static) if (j->tile_count > RH_SHORT)
    for (int32_t n = 0; n < j->tile_count; n++) {
        const rh_term_tile *t = &j->tiles[n];
        int64_t at = (int64_t)t->tile * cells;
        double along = 0;
        for (int32_t i = t->entry_first; i < t->entry_end; i++) {
            const rh_term_entry *e = &l->over[i];
            double sum = rh_term_along(e->row, parts + j->block[t->block_first + e->local] * PARTS);
            y[at + e->cell] -= (float)sum;
            if (sums) along += (double)b[at + e->cell] * sum;
        }
        if (sums) sums[t->tile] -= along;
    }
}

// Since (C^-1 + J^T D^-1 J) parts = J^T y0 - (1 - w) J^T x, what J^T y becomes needs no other pass over the cells:
//      J^T y = J^T y0 - J^T D^-1 J parts = (1 - w) J^T x + C^-1 parts
// With ties C^-1 is beyond what numbers hold, and the pass is taken.
static void remember(const rh_body_level *l, int cells, double weight, const double *parts, const float *y)
{
    if (!l->mass) {
        rh_term_gather(&l->j, cells, y, l->before);
        return;
    }
    for (int32_t b = 0; b < l->j.blocks; b++) {
        if (l->row[b] < 0) continue;
        rh_six change = multiply_square((const double(*)[PARTS])(l->mass + b * SQUARE), rh_six_load(parts + b * PARTS));
        double *before = l->before + b * PARTS;
        rh_six_store(before, rh_six_add(rh_six_scale(rh_six_load(before), 1 - weight), change));
    }
}

void rh_bodies_correct(const rh_body_level *l, int cells, double weight, const float *b, float *y, double *sums)
{
    double *rest = l->j.gathered;
    rh_term_gather(&l->j, cells, y, rest);
    for (int k = 0; k < l->j.blocks * PARTS; k++) rest[k] -= (1 - weight) * l->before[k];
    find(l, rest, l->j.answer);
    take_off(l, cells, l->j.answer, b, y, sums);
    remember(l, cells, weight, l->j.answer, y);
}

void rh_bodies_begin(const rh_body_level *l, int cells, float *y) { rh_bodies_correct(l, cells, 1, NULL, y, NULL); }

void rh_bodies_answer(const rh_body_level *l)
{
    l->j.respond(l->j.user, l->before, l->j.answer);
    for (int k = 0; k < l->j.blocks * PARTS; k++) l->j.answer[k] *= l->j.scale;
}

void rh_bodies_subtract_tile(const rh_body_level *l, int32_t tile, float *r)
{
    if (l->of_tile[tile] < 0) return;
    const rh_term_tile *t = &l->j.tiles[l->of_tile[tile]];
    for (int32_t i = t->entry_first; i < t->entry_end; i++) {
        const rh_term_entry *e = &l->j.entries[i];
        r[e->cell] -= (float)rh_term_along(e->row, l->j.answer + l->j.block[t->block_first + e->local] * PARTS);
    }
}
