// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// With x the way between two drops at the middle of the step, u their relative velocity and s the time from the middle:
// |x + u s| = r + r' has the first root s = (-b - sqrt(b^2 - a c)) / a, a = |u|^2, b = x.u, c = |x|^2 - (r + r')^2. It
// counts when they approach at the start of the step, and s is below half the step. a, b and c are the same bits seen
// from either drop, so both agree on the time.
//
// Every two drops are compared once. A row of cells is gone through by groups of eight drops that follow each other;
// against a group come those behind it in its own row, and those of the four rows beside it that are behind. Of a
// hundred that are near enough by their cells one meets, so these are looked at eight at a time first: within the step
// no drop of a group is nearer to another one along an axis than the gap between the box around the group and the other
// one's place, less what they go past each other, which is at most half a step times the gap between their velocities
// and the extent of the group's. Who passes (about one in eight) is compared with the eight of the group at once.
// (With runs of cells, and all of them compared with all, it took twice as long.)
#include "physics/droplets/meetings.h"

#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "base/simd.h"
#include "points/near_parts.h"

enum { LANES = 8, ROWS = 16, BEHIND = 4, CANDIDATES = 64 };
// Of a cell: how far rounding may carry two drops that touch apart. |x + u s|^2 is off by some 1e-7 |x|^2, x at most
// two or three cells long.
static const float ROUNDING = 0.005f;

typedef struct finder {
    rh_meeting_drops d;
    const float *x[3], *r;
    double cell, inverse;  // m, 1/m
    bool clipped;          // some are so far out along x that the outermost cell may be long: all of a row are compared
    uint8_t order[256][LANES];  // lanes whose bits are set, first
} finder;

typedef struct found {
    rh_meeting *to;
    int64_t room, count;  // there may be more than there is room for
    int64_t tested;
} found;

// --- two drops -------------------------------------------------------------------------------------------------------
float rh_meeting_contact(float a, float b, float c)
{
    return c / (-b + sqrtf(fmaxf(b * b - a * c, 0)));  // the form of the first root that does not cancel, for b < 0
}

// Time (s) from the start of the step at which two drops touch that do so in the step.
static float contact_of(const finder *s, int64_t p, int64_t q)
{
    const float *const *at = s->x, *const *v = s->d.u;
    float x = at[0][q] - at[0][p], y = at[1][q] - at[1][p], z = at[2][q] - at[2][p], half = s->d.half;
    float ux = v[0][q] - v[0][p], uy = v[1][q] - v[1][p], uz = v[2][q] - v[2][p];
    float r = s->r[q] + s->r[p], a = ux * ux + uy * uy + uz * uz, b = x * ux + y * uy + z * uz;
    float at_start = b - a * half, c = x * x + y * y + z * z - 2 * b * half + a * half * half - r * r;
    return rh_meeting_contact(a, at_start, c);
}

static void add(const finder *s, int64_t p, int64_t q, found *f)
{
    if (f->count < f->room) f->to[f->count] = (rh_meeting){(uint32_t)p, (uint32_t)q, contact_of(s, p, q)};
    f->count++;
}

// --- groups ----------------------------------------------------------------------------------------------------------
// Up to eight drops that follow each other in a row, one a lane.
typedef struct group {
    rh_f8 x[3], u[3], r, half;
    int64_t first, end;
    int bits;                             // lanes that hold a drop
    rh_f8 middle[3], speed[3], reach[3];  // of the box: m, m/s; m: how far from its middle one may be that comes near
    float low, high;                      // m: x of the cells beside those of the group
    int candidates;
    uint32_t candidate[CANDIDATES + LANES];
} group;

static inline void take_group(const finder *s, int64_t first, int64_t end, group *g)
{
    for (int a = 0; a < 3; a++) g->x[a] = rh_f8_load(s->x[a] + first), g->u[a] = rh_f8_load(s->d.u[a] + first);
    g->r = rh_f8_load(s->r + first);
    g->half = rh_f8_all(s->d.half);
    g->first = first, g->end = end;
    g->bits = (1 << (end - first)) - 1;
    g->candidates = 0;
}

// Lanes that meet: x, u from the group's to the others, r of both.
static inline int hits(const rh_f8 x[3], const rh_f8 u[3], rh_f8 r, rh_f8 half)
{
    rh_f8 a = u[0] * u[0] + u[1] * u[1] + u[2] * u[2], b = x[0] * u[0] + x[1] * u[1] + x[2] * u[2];
    rh_f8 c = x[0] * x[0] + x[1] * x[1] + x[2] * x[2] - r * r;
    rh_f8 inside = b * b - a * c, way = a * half, end = b + way;
    return rh_i8_bits((inside > 0.0f) & (b - way < 0.0f) & ((end >= 0.0f) | (inside > end * end)));
}

// Bits of the group that q meets in the step.
static inline int meets(const finder *s, const group *g, int64_t q)
{
    rh_f8 x[3], u[3];
    for (int a = 0; a < 3; a++) x[a] = s->x[a][q] - g->x[a], u[a] = s->d.u[a][q] - g->u[a];
    return hits(x, u, s->r[q] + g->r, g->half) & g->bits;
}

static void meet_candidates(const finder *s, const group *g, int count, found *f)
{
    for (int n = 0; n < count; n++)
        for (int bits = meets(s, g, g->candidate[n]); bits; bits &= bits - 1)
            add(s, g->first + __builtin_ctz((unsigned)bits), g->candidate[n], f);
}

// Each of a group with those behind it in the group: with the next, the next but one and so on. In a row cells rise, so
// once all are two cells apart the rest is, too.
static void meet_each_other(const finder *s, const group *g, found *f)
{
    int64_t count = g->end - g->first;
    rh_f8 apart = rh_f8_all(s->clipped ? INFINITY : (float)(2.01 * s->cell)), x[3], u[3];
    for (int64_t k = 1; k < count; k++) {
        int64_t q = g->first + k;
        int lanes = g->bits >> k;
        x[0] = rh_f8_load(s->x[0] + q) - g->x[0];
        if ((rh_i8_bits(x[0] <= apart) & lanes) == 0) return;
        u[0] = rh_f8_load(s->d.u[0] + q) - g->u[0];
        for (int a = 1; a < 3; a++)
            x[a] = rh_f8_load(s->x[a] + q) - g->x[a], u[a] = rh_f8_load(s->d.u[a] + q) - g->u[a];
        int bits = lanes & hits(x, u, rh_f8_load(s->r + q) + g->r, g->half);
        f->tested += count - k;
        for (; bits; bits &= bits - 1) {
            int64_t p = g->first + __builtin_ctz((unsigned)bits);
            add(s, p, p + k, f);
        }
    }
}

// --- the box around a group ------------------------------------------------------------------------------------------
// The lower side (m) of the cell that is some cells on from that of x, and some slack down (-1) or up (1) for rounding.
// (The cells beside those of a group have the sides -1 and +2.)
static inline float edge(const finder *s, float x, int cells_on, int slack)
{
    double cell = floor((double)x * s->inverse);
    return (float)((cell + cells_on + slack * (0.01 + 2.5e-7 * fabs(cell))) * s->cell);
}

static inline void box_in(const finder *s, group *g)
{
    rh_f8 r = rh_f8_max(g->r, rh_f8_all(0));  // zero for those that take no part
    rh_f8 all[8] = {g->x[0], g->x[1], g->x[2], r, g->u[0], g->u[1], g->u[2], r};
    if (g->bits != 255)
        for (int k = 0; k < 8; k++) all[k] = rh_f8_select(rh_i8_from_bits(g->bits), all[k], rh_f8_all(all[k][0]));
    rh_f8 least = rh_f8_least(all), most = rh_f8_most(all), middle = 0.5f * (least + most);
    rh_f8 extent = most - middle + 1e-6f * rh_f8_abs(middle);
    for (int a = 0; a < 3; a++) {
        g->middle[a] = rh_f8_all(middle[a]), g->speed[a] = rh_f8_all(middle[4 + a]);
        g->reach[a] = rh_f8_all(extent[a] + s->d.half * extent[4 + a] + most[3] + ROUNDING * (float)s->cell);
    }
    g->low = s->clipped ? -INFINITY : edge(s, s->x[0][g->first], -1, -1);
    g->high = s->clipped ? INFINITY : edge(s, s->x[0][g->end - 1], 2, 1);
}

// Bits of the eight from q on that may come near the group. (Not those that take no part: nothing is at most no
// number.)
static inline int may_meet(const finder *s, const group *g, int64_t q)
{
    rh_f8 gap[3];
    for (int a = 0; a < 3; a++)
        gap[a] = rh_f8_abs(rh_f8_load(s->x[a] + q) - g->middle[a]) - g->reach[a] -
                 rh_f8_abs(rh_f8_load(s->d.u[a] + q) - g->speed[a]) * g->half;
    return rh_i8_bits(rh_f8_max(rh_f8_max(gap[0], gap[1]), gap[2]) <= rh_f8_load(s->r + q));
}

// A group with those of a row from `begin` on, up to those that are two cells on. Cells rise along it. Mostly none or
// one passes: as nobody can foretell which, there is no branch for it.
static inline void meet_run(const finder *s, group *g, int64_t begin, int64_t end, found *f)
{
    static const rh_u8 counting = {0, 1, 2, 3, 4, 5, 6, 7};
    int count = g->candidates;
    int64_t q = begin;
    for (; q < end && s->x[0][q] < g->high; q += LANES) {
        int near = may_meet(s, g, q) & (255 >> (end - q < LANES ? LANES - (end - q) : 0));
        rh_i8 who = rh_i8_pick((rh_i8)(counting + (uint32_t)q), s->order[near]);
        memcpy(g->candidate + count, &who, sizeof who);
        count += __builtin_popcount((unsigned)near);
        if (count <= CANDIDATES) continue;
        meet_candidates(s, g, count, f);
        count = 0;
    }
    f->tested += q - begin;
    g->candidates = count;
}

// --- rows ------------------------------------------------------------------------------------------------------------
typedef struct run {
    int64_t begin, end;  // drops of a row; begin moves on from group to group
} run;

static run run_of(const rh_neighbours *n, int64_t row) { return (run){n->row_first[row], n->row_first[row + 1]}; }

static int64_t first_row_from(const rh_neighbours *n, uint64_t key)
{
    int64_t begin = 0, end = n->rows;
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        if (n->row_keys[middle] < key) begin = middle + 1;
        else end = middle;
    }
    return begin;
}

// Rows behind one and beside it: the next of its layer, three of the layer above. `above` moves on from row to row: the
// first of that layer; -1 = to be searched for.
static int rows_behind(const rh_neighbours *n, int64_t row, int64_t *above, run runs[BEHIND])
{
    uint64_t key = n->row_keys[row], last = (1ull << n->bits[1]) - 1, y = key & last, up = key + last + 1;
    uint64_t from = up - (y > 0), to = up + (y < last);
    int count = 0;
    if (y < last && row + 1 < n->rows && n->row_keys[row + 1] == key + 1) runs[count++] = run_of(n, row + 1);
    if (*above < 0) *above = first_row_from(n, from);
    while (*above < n->rows && n->row_keys[*above] < from) ++*above;
    for (int64_t r = *above; r < n->rows && n->row_keys[r] <= to; r++) runs[count++] = run_of(n, r);
    return count;
}

// By p, then by q. (Shell's sort, gaps of M. Ciura: mostly one or two.)
static void put_in_order(rh_meeting *m, int64_t count)
{
    static const int64_t gaps[] = {701, 301, 132, 57, 23, 10, 4, 1};
    for (int g = 0; g < 8; g++)
        for (int64_t i = gaps[g]; i < count; i++) {
            rh_meeting here = m[i];
            uint64_t key = (uint64_t)here.p << 32 | here.q;
            int64_t j = i;
            for (; j >= gaps[g] && ((uint64_t)m[j - gaps[g]].p << 32 | m[j - gaps[g]].q) > key; j -= gaps[g])
                m[j] = m[j - gaps[g]];
            m[j] = here;
        }
}

// Past those of a row that are two cells before the group, at least.
static inline int64_t skip(const finder *s, const group *g, run r)
{
    const float *x = s->x[0];
    while (r.begin + 64 <= r.end && x[r.begin + 63] < g->low) r.begin += 64;
    for (; r.begin < r.end; r.begin += LANES) {
        unsigned before = (unsigned)rh_i8_bits(rh_f8_load(x + r.begin) < g->low);
        if (r.end - r.begin < LANES) before &= (1u << (r.end - r.begin)) - 1;
        if (before < 128) return r.begin + 31 - __builtin_clz(before << 1 | 1);  // past the last of them
    }
    return r.end;
}

static void meet_row(const finder *s, run own, run *behind, int count, found *f)
{
    group g;
    for (int64_t p = own.begin, end; p < own.end; p = end) {
        end = p + LANES < own.end ? p + LANES : own.end;  // however far apart: shorter ones cost more than they save
        int64_t before = f->count;
        take_group(s, p, end, &g);
        box_in(s, &g);
        meet_each_other(s, &g, f);
        meet_run(s, &g, end, own.end, f);
        for (int r = 0; r < count; r++) {
            behind[r].begin = skip(s, &g, behind[r]);
            meet_run(s, &g, behind[r].begin, behind[r].end, f);
        }
        meet_candidates(s, &g, g.candidates, f);
        if (f->count - before > 1 && f->count <= f->room) put_in_order(f->to + before, f->count - before);
    }
}

static void meet_rows(const finder *s, int64_t begin, int64_t end, found *f)
{
    int64_t above = -1;
    for (int64_t row = begin; row < end; row++) {
        run behind[BEHIND];
        int count = rows_behind(s->d.near, row, &above, behind);
        meet_row(s, run_of(s->d.near, row), behind, count, f);
    }
}

static int64_t drops_before(const rh_neighbours *n, int64_t block)
{
    int64_t row = block * ROWS < n->rows ? block * ROWS : n->rows;
    return n->row_first[row];
}

// The first try has room for two meetings a drop; where that is too little, the second for as many as it found.
static rh_code find_usual(const finder *s, rh_arena *arena, rh_meetings *out, rh_status *status)
{
    const rh_neighbours *n = s->d.near;
    int64_t blocks = (n->rows + ROWS - 1) / ROWS, most = 0;
    int64_t *counts = rh_arena_take(arena, (size_t)(blocks + 1) * sizeof *counts, status),
            *first = rh_arena_take(arena, (size_t)(blocks + 1) * sizeof *first, status);
    if (!counts || !first) return RH_MEMORY;
    for (int64_t b = 0; b <= blocks; b++) first[b] = 2 * drops_before(n, b) + 16 * b;
    for (int again = 0; again < 2; again++) {
        out->items = rh_arena_take(arena, (size_t)(first[blocks] + 1) * sizeof *out->items, status);
        if (!out->items) return RH_MEMORY;
        int64_t tested = 0;
        most = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : tested) reduction(max : most)
        for (int64_t b = 0; b < blocks; b++) {
            int64_t room = first[b + 1] - first[b], end = (b + 1) * ROWS < n->rows ? (b + 1) * ROWS : n->rows;
            found f = {.to = out->items + first[b], .room = room};
            meet_rows(s, b * ROWS, end, &f);
            counts[b] = f.count;
            tested += f.tested;
            most = f.count - room > most ? f.count - room : most;
        }
        out->tested = tested;
        if (most == 0) break;
        first[0] = 0;
        for (int64_t b = 0; b < blocks; b++) first[b + 1] = first[b] + counts[b];
    }
    for (int64_t b = 0; b < blocks; b++) {
        memmove(out->items + out->count, out->items + first[b], (size_t)counts[b] * sizeof *out->items);
        out->count += counts[b];
    }
    return RH_OK;
}

// --- drops wider than half a cell ------------------------------------------------------------------------------------
// The cells along an axis, counted from the lowest, that come within reach of a place.
static void cells_within(const finder *s, int axis, float place, float reach, int64_t *low, int64_t *high)
{
    const rh_neighbours *n = s->d.near;
    double from = floor(((double)place - (double)reach) / n->cell),
           to = floor(((double)place + (double)reach) / n->cell);
    *low = (int64_t)fmax(fmin(from, (double)n->high[axis]), (double)n->low[axis]) - n->low[axis];
    *high = (int64_t)fmax(fmin(to, (double)n->high[axis]), (double)n->low[axis]) - n->low[axis];
}

static void meet_alone(const finder *s, int64_t p, found *f)
{
    const rh_neighbours *n = s->d.near;
    float reach = s->r[p] + n->largest + 0.5f * (float)n->cell, along = reach + 1.01f * (float)n->cell;
    int64_t z[2], y[2];
    group g;
    take_group(s, p, p + 1, &g);
    box_in(s, &g);
    if (!s->clipped) g.low = n->x[p] - along, g.high = n->x[p] + along;
    cells_within(s, 2, n->z[p], reach, &z[0], &z[1]);
    cells_within(s, 1, n->y[p], reach, &y[0], &y[1]);
    for (; z[0] <= z[1]; z[0]++) {
        uint64_t layer = (uint64_t)z[0] << n->bits[1], last = layer | (uint64_t)y[1];
        for (int64_t row = first_row_from(n, layer | (uint64_t)y[0]); row < n->rows && n->row_keys[row] <= last;
             row++) {
            run here = run_of(n, row);
            meet_run(s, &g, skip(s, &g, here), here.end, f);
        }
    }
    meet_candidates(s, &g, g.candidates, f);
}

// They look through all cells within reach, and may find what was found already, which does no harm. Few drops, so one
// thread does.
static rh_code find_wide(const finder *s, rh_arena *arena, rh_meetings *out, rh_status *status)
{
    const rh_neighbours *n = s->d.near;
    float limit = 0.5f * (float)n->cell;
    found f = {.count = out->count};
    if (!(n->largest > limit)) return RH_OK;
    for (int fill = 0; fill < 2; fill++) {
        for (int64_t p = 0; p < n->count; p++) {
            if (!(s->r[p] > limit)) continue;
            meet_alone(s, p, &f);
            if (!fill) out->wide++;
        }
        if (fill) break;
        if (!(f.to = rh_arena_take(arena, (size_t)(f.count + 1) * sizeof *f.to, status))) return RH_MEMORY;
        memcpy(f.to, out->items, (size_t)out->count * sizeof *f.to);
        f.room = f.count;
        f.count = out->count;
    }
    out->items = f.to;
    out->count = f.count;
    return RH_OK;
}

rh_code rh_meetings_find(const rh_meeting_drops *drops, rh_arena *arena, rh_meetings *out, rh_status *status)
{
    const rh_neighbours *n = drops->near;
    finder s = {.d = *drops,
                .x = {n->x, n->y, n->z},
                .r = n->radius,
                .cell = n->cell,
                .inverse = 1 / n->cell,
                .clipped = rh_neighbours_clips(n)};
    for (int bits = 0; bits < 256; bits++)
        for (int i = 0, to = 0; i < LANES; i++)
            if (bits >> i & 1) s.order[bits][to++] = (uint8_t)i;
    *out = (rh_meetings){0};
    RH_TRY(find_usual(&s, arena, out, status));
    return find_wide(&s, arena, out, status);
}
