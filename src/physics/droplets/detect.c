// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// With x the way between two drops at the middle of the step, u their relative velocity and s the time from the middle:
// |x + u s| = r + r' has the first root s = (-b - sqrt(b^2 - a c)) / a, a = |u|^2, b = x.u, c = |x|^2 - (r + r')^2. It
// counts when they approach at the start of the step, and s is below half the step. a, b and c are the same bits seen
// from either drop, so both agree on the time.
//
// Every two drops are compared once: a drop with those behind it in the order of the sort, eight at a time. The few
// that meet are listed, and all choices are then made on the list. (Comparing each drop with all around it, again for
// each choice, took two and a half times as long.)
#include "physics/droplets/detect.h"

#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "base/simd.h"
#include "points/near_parts.h"

#define NOBODY UINT32_MAX
enum { LANES = 8, SAMPLE = 16, OCTAVES = 512, ROWS = 16 };
enum { MOST_TESTS = 160, TRIES = 8 };  // comparisons of a drop on average; how often cells are made narrower for it

// Two drops that meet, in the order of the sort.
typedef struct meeting {
    uint32_t p, q;
    float when;  // s from the start of the step until they touch
} meeting;

// Drops in the order of the sort.
typedef struct sorted {
    const rh_neighbours *near;
    float *u[3];        // m/s; not a number: rests
    const int64_t *id;  // by number
    float *when;        // s from the start of the step: of the best choice
    uint32_t *best;     // choice; NOBODY: none
    uint8_t *taken;     // has a partner
    float half;         // of the step, s
    meeting *meetings;  // block by block of rows
    int64_t *first;     // of each block in `meetings`, and the end; afterwards all follow each other
    int64_t blocks, count, tested;
} sorted;

// --- cells -----------------------------------------------------------------------------------------------------------
// The radius that one drop in a thousand is above: larger ones would make cells wide for all.
static double usual_radius(const float *radius, int64_t count)
{
    int64_t bins[OCTAVES] = {0}, below = 0;  // an eighth of an octave each
#pragma omp parallel for schedule(static) reduction(+ : bins[:OCTAVES])
    for (int64_t i = 0; i < count; i++) {
        int exponent;
        float part = frexpf(radius[i], &exponent);
        int bin = 8 * (exponent + 40) + (int)(16 * (part - 0.5f));
        bins[bin < 0 ? 0 : bin >= OCTAVES ? OCTAVES - 1 : bin]++;
    }
    for (int b = 0; b < OCTAVES; b++)
        if ((below += bins[b]) >= count - count / 1000) return ldexp(0.5 + (b % 8 + 1) / 16.0, b / 8 - 40);
    return 0;
}

// How far velocities of neighbours differ (m/s, root of the mean square): drops are in the order of the last sort, so
// those that follow each other are near each other. Sixteen at a time, some cells of a row: with 64 what differs along
// a hand's breadth of spray made cells twice as wide as the drops of one place ask for.
static rh_code local_spread(const rh_droplet_search *s, rh_arena *arena, double *spread, rh_status *status)
{
    int64_t blocks = (s->count + SAMPLE - 1) / SAMPLE;
    double *sums = rh_arena_take(arena, (size_t)(blocks + 1) * sizeof *sums, status);
    if (!sums) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int64_t b = 0; b < blocks; b++) {
        int64_t end = (b + 1) * SAMPLE < s->count ? (b + 1) * SAMPLE : s->count;
        rh_vec3 mean = {0, 0, 0};
        float sum = 0;
        for (int64_t i = b * SAMPLE; i < end; i++) mean = rh_v3_add(mean, s->u[i]);
        mean = rh_v3_scale(mean, 1 / (float)(end - b * SAMPLE));
        for (int64_t i = b * SAMPLE; i < end; i++) {
            rh_vec3 way = rh_v3_sub(s->u[i], mean);
            sum += rh_v3_dot(way, way);
        }
        sums[b] = (double)sum;
    }
    // Less the mean of their own they differ by (SAMPLE - 1) / SAMPLE of what they do from that of all that are there.
    *spread = sqrt(rh_sum(sums, blocks) / (double)(s->count ? s->count : 1) * SAMPLE / (SAMPLE - 1));
    return RH_OK;
}

// With how many others a drop would be compared on average in cells of this width: 27 times the mean of the squares of
// how many share a cell, over an eighth of all cells. (It was found by sorting all of them, up to four times a step.)
static rh_code guess_tests(const rh_vec3 *x, int64_t count, double cell, rh_arena *arena, double *tests,
                           rh_status *status)
{
    rh_arena_mark mark = rh_arena_save(arena);
    uint64_t slots = 1024;
    while (slots < (uint64_t)count) slots *= 2;
    uint32_t *drops = rh_arena_take_zero(arena, slots * sizeof *drops, status);
    if (!drops) return RH_MEMORY;
    float inverse = (float)(1 / cell);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i++) {
        uint64_t k = (uint64_t)(int64_t)floorf(x[i].x * inverse) * 0x9e3779b97f4a7c15u +
                     (uint64_t)(int64_t)floorf(x[i].y * inverse) * 0xc2b2ae3d27d4eb4fu +
                     (uint64_t)(int64_t)floorf(x[i].z * inverse) * 0x165667b19e3779f9u;
        k ^= k >> 29;
        k *= 0xbf58476d1ce4e5b9u;
        if (k >> 61) continue;
#pragma omp atomic
        drops[k >> 20 & (slots - 1)]++;
    }
    int64_t squares = 0, seen = 0;
#pragma omp parallel for schedule(static) reduction(+ : squares, seen)
    for (int64_t n = 0; n < (int64_t)slots; n++) {
        squares += (int64_t)drops[n] * drops[n];
        seen += drops[n];
    }
    *tests = seen ? 27 * (double)squares / (double)seen : 0;
    rh_arena_restore(arena, mark);
    return RH_OK;
}

static rh_code choose_cell(rh_droplet_search *s, const rh_vec3 *middle, rh_arena *arena, rh_status *status)
{
    double least = 2 * usual_radius(s->radius, s->count), spread;
    RH_TRY(local_spread(s, arena, &spread, status));
    s->cell = fmax(least + 1.5 * s->dt * spread, 1e-9);
    for (int n = 1; n < TRIES && s->cell > least; n++) {
        double tests;
        RH_TRY(guess_tests(middle, s->count, rh_neighbours_cell(s->cell), arena, &tests, status));
        if (tests < MOST_TESTS) break;
        // In a spray that fills its room tests go with the cube.
        s->cell = fmax(least, s->cell * fmin(0.8, cbrt(0.8 * MOST_TESTS / tests)));
    }
    return RH_OK;
}

static rh_code sort_drops(rh_droplet_search *s, rh_neighbours *near, rh_arena *arena, rh_status *status)
{
    rh_vec3 *middle = rh_arena_take(arena, (size_t)(s->count + 1) * sizeof *middle, status);
    if (!middle) return RH_MEMORY;
    float half = 0.5f * (float)s->dt;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < s->count; i++) middle[i] = rh_v3_add(s->x[i], rh_v3_scale(s->u[i], half));
    if (!(s->cell > 0)) RH_TRY(choose_cell(s, middle, arena, status));
    const rh_neighbours_input input = {3, middle, s->radius, s->count, rh_neighbours_cell(s->cell), false};
    return rh_neighbours_build(near, &input, arena, status);
}

static rh_code take_sorted(const rh_droplet_search *s, const rh_neighbours *near, rh_arena *arena, sorted *out,
                           rh_status *status)
{
    size_t room = (size_t)near->count + LANES;
    *out = (sorted){.near = near, .id = s->id, .half = 0.5f * (float)s->dt, .blocks = (near->rows + ROWS - 1) / ROWS};
    for (int a = 0; a < 3; a++)
        if (!(out->u[a] = rh_arena_take(arena, room * sizeof(float), status))) return RH_MEMORY;
    out->when = rh_arena_take(arena, room * sizeof *out->when, status);
    out->best = rh_arena_take(arena, room * sizeof *out->best, status);
    out->taken = rh_arena_take_zero(arena, room * sizeof *out->taken, status);
    out->first = rh_arena_take(arena, (size_t)(out->blocks + 1) * sizeof *out->first, status);
    if (!out->when || !out->best || !out->taken || !out->first) return RH_MEMORY;
    float now = (float)(s->time + 1e-4 * s->dt);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < near->count; i++) {
        uint32_t from = near->index[i];
        bool rests = s->ready && s->ready[from] > now;
        for (int a = 0; a < 3; a++) out->u[a][i] = rests ? NAN : (&s->u[from].x)[a];
    }
    for (int a = 0; a < 3; a++)
        for (int64_t i = near->count; i < near->count + LANES; i++) out->u[a][i] = NAN;
    return RH_OK;
}

// --- who meets -------------------------------------------------------------------------------------------------------
static float contact(float a, float b, float c)
{
    return c / (-b + sqrtf(fmaxf(b * b - a * c, 0)));  // the form of the first root that does not cancel, for b < 0
}

// Time (s) from the start of the step at which two drops touch that do so in the step.
static float contact_of(const sorted *s, int64_t p, int64_t q)
{
    const rh_neighbours *n = s->near;
    float x = n->x[q] - n->x[p], y = n->y[q] - n->y[p], z = n->z[q] - n->z[p];
    float u = s->u[0][q] - s->u[0][p], v = s->u[1][q] - s->u[1][p], w = s->u[2][q] - s->u[2][p];
    float r = n->radius[q] + n->radius[p], a = u * u + v * v + w * w, b = x * u + y * v + z * w;
    float at_start = b - a * s->half, c = x * x + y * y + z * z - 2 * b * s->half + a * s->half * s->half - r * r;
    return contact(a, at_start, c);
}

// Up to eight drops that follow each other in a row, one a lane.
typedef struct lanes {
    rh_f8 x[3], u[3], r, half;
    int64_t first;
    int bits;  // lanes that hold a drop
} lanes;

static inline lanes lanes_of(const sorted *s, int64_t first, int64_t end)
{
    const rh_neighbours *n = s->near;
    return (lanes){{rh_f8_load(n->x + first), rh_f8_load(n->y + first), rh_f8_load(n->z + first)},
                   {rh_f8_load(s->u[0] + first), rh_f8_load(s->u[1] + first), rh_f8_load(s->u[2] + first)},
                   rh_f8_load(n->radius + first),
                   rh_f8_all(s->half),
                   first,
                   end - first < LANES ? (1 << (end - first)) - 1 : 255};
}

// Bits of the eight that q meets in the step.
static inline int meets(const sorted *s, const lanes *p, int64_t q)
{
    const rh_neighbours *n = s->near;
    rh_f8 x = n->x[q] - p->x[0], y = n->y[q] - p->x[1], z = n->z[q] - p->x[2];
    rh_f8 u = s->u[0][q] - p->u[0], v = s->u[1][q] - p->u[1], w = s->u[2][q] - p->u[2], r = n->radius[q] + p->r;
    rh_f8 a = u * u + v * v + w * w, b = x * u + y * v + z * w, c = x * x + y * y + z * z - r * r;
    rh_f8 inside = b * b - a * c, way = a * p->half, end = b + way;
    rh_i8 hits = (inside > 0.0f) & (b - way < 0.0f) & ((end >= 0.0f) | (inside > end * end));
    return rh_i8_bits(hits) & p->bits;
}

typedef struct found {
    meeting *to;
    int64_t room, count;  // there may be more than there is room for
    int64_t tested;
} found;

static inline void add_meetings(const sorted *s, const lanes *p, int bits, int64_t q, found *f)
{
    for (; bits; bits &= bits - 1, f->count++) {
        int64_t drop = p->first + __builtin_ctz((unsigned)bits);
        if (f->count < f->room) f->to[f->count] = (meeting){(uint32_t)drop, (uint32_t)q, contact_of(s, drop, q)};
    }
}

static inline void meet_run(const sorted *s, const lanes *p, int64_t begin, int64_t end, found *f)
{
    f->tested += (end - begin) * __builtin_popcount((unsigned)p->bits);
    for (int64_t q = begin; q < end; q++) {
        int bits = meets(s, p, q);
        if (bits) add_meetings(s, p, bits, q, f);
    }
}

// Eight drops with each other, and with those of the runs; the first run is that of their own row.
static void meet_eight(const sorted *s, const lanes *p, const rh_neighbours_run *runs, int count, found *f)
{
    int64_t behind = p->first + __builtin_popcount((unsigned)p->bits);
    for (int64_t q = p->first + 1; q < behind; q++)  // with those before it
        add_meetings(s, p, meets(s, p, q) & ((1 << (q - p->first)) - 1), q, f);
    meet_run(s, p, behind, runs[0].end, f);
    for (int r = 1; r < count; r++) meet_run(s, p, runs[r].begin, runs[r].end, f);
}

// The end of the cells from c on that are looked around from together: as many as hold eight drops, side by side.
static int64_t cells_together(const rh_neighbours *n, int64_t c, int64_t row_end)
{
    int64_t end = c + 1;
    while (end < row_end && n->cell_first[end + 1] - n->cell_first[c] <= LANES &&
           n->cell_keys[end] - n->cell_keys[end - 1] <= 2)
        end++;
    return end;
}

// Each drop of some rows with those behind it.
static void meet_rows(const sorted *s, int64_t begin, int64_t end, found *f)
{
    const rh_neighbours *n = s->near;
    for (int64_t row = begin; row < end; row++) {
        rh_near_window window = {.n = n, .reach = 1, .forward = true, .cell = -1};
        for (int64_t c = n->row_first[row], next; c < n->row_first[row + 1]; c = next) {
            next = cells_together(n, c, n->row_first[row + 1]);
            rh_near_window_span(&window, c, next - 1);
            for (int64_t p = n->cell_first[c]; p < n->cell_first[next]; p += LANES) {
                const lanes eight = lanes_of(s, p, n->cell_first[next]);
                meet_eight(s, &eight, window.runs, window.count, f);
            }
        }
    }
}

static int64_t drops_before(const sorted *s, int64_t block)
{
    int64_t row = block * ROWS < s->near->rows ? block * ROWS : s->near->rows;
    return s->near->cell_first[s->near->row_first[row]];
}

// The first try has room for two meetings a drop; where that is too little, the second for as many as it found.
static rh_code find_meetings(sorted *s, rh_arena *arena, rh_status *status)
{
    const rh_neighbours *n = s->near;
    int64_t *counts = rh_arena_take(arena, (size_t)(s->blocks + 1) * sizeof *counts, status), most = 0;
    if (!counts) return RH_MEMORY;
    for (int64_t b = 0; b <= s->blocks; b++) s->first[b] = 2 * drops_before(s, b) + 16 * b;
    for (int again = 0; again < 2; again++) {
        s->meetings = rh_arena_take(arena, (size_t)(s->first[s->blocks] + 1) * sizeof *s->meetings, status);
        if (!s->meetings) return RH_MEMORY;
        int64_t tested = 0;
        most = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : tested) reduction(max : most)
        for (int64_t b = 0; b < s->blocks; b++) {
            int64_t room = s->first[b + 1] - s->first[b], end = (b + 1) * ROWS < n->rows ? (b + 1) * ROWS : n->rows;
            found f = {.to = s->meetings + s->first[b], .room = room};
            meet_rows(s, b * ROWS, end, &f);
            counts[b] = f.count;
            tested += f.tested;
            most = f.count - room > most ? f.count - room : most;
        }
        s->tested = tested;
        if (most == 0) break;
        s->first[0] = 0;
        for (int64_t b = 0; b < s->blocks; b++) s->first[b + 1] = s->first[b] + counts[b];
    }
    for (int64_t b = 0; b < s->blocks; b++) {
        memmove(s->meetings + s->count, s->meetings + s->first[b], (size_t)counts[b] * sizeof *s->meetings);
        s->count += counts[b];
    }
    return RH_OK;
}

// --- drops wider than half a cell ------------------------------------------------------------------------------------
// They look through all cells within reach, and may find what was found already, which does no harm. Few drops, so one
// thread does.
static rh_code find_wide(sorted *s, rh_arena *arena, int64_t *wide, rh_status *status)
{
    const rh_neighbours *n = s->near;
    float limit = 0.5f * (float)n->cell, largest = n->largest;
    found f = {.count = s->count};
    *wide = 0;
    if (!(largest > limit)) return RH_OK;
    for (int fill = 0; fill < 2; fill++) {
        for (int64_t p = 0; p < n->count; p++) {
            if (!(n->radius[p] > limit) || isnan(s->u[0][p])) continue;
            rh_vec3 place = rh_v3(n->x[p], n->y[p], n->z[p]);
            float reach = n->radius[p] + largest + limit;
            rh_arena_mark mark = rh_arena_save(arena);
            int64_t runs = rh_neighbours_box(n, place, reach, NULL);
            rh_neighbours_run *list = rh_arena_take(arena, (size_t)(runs + 1) * sizeof *list, status);
            if (!list) return RH_MEMORY;
            rh_neighbours_box(n, place, reach, list);
            const lanes alone = lanes_of(s, p, p + 1);
            for (int64_t r = 0; r < runs; r++) meet_run(s, &alone, list[r].begin, list[r].end, &f);
            rh_arena_restore(arena, mark);
            if (!fill) ++*wide;
        }
        if (fill) break;
        if (!(f.to = rh_arena_take(arena, (size_t)(f.count + 1) * sizeof *f.to, status))) return RH_MEMORY;
        memcpy(f.to, s->meetings, (size_t)s->count * sizeof *f.to);
        f.room = f.count;
        f.count = s->count;
    }
    s->meetings = f.to;
    s->count = f.count;
    return RH_OK;
}

// --- choices and pairs -----------------------------------------------------------------------------------------------
static void offer(sorted *s, uint32_t p, uint32_t q, float when)
{
    const uint32_t *index = s->near->index;
    bool better = s->best[p] == NOBODY || when < s->when[p] ||
                  (when == s->when[p] && s->id[index[q]] < s->id[index[s->best[p]]]);
    if (!better) return;
    s->when[p] = when;
    s->best[p] = q;
}

static rh_droplet_pair pair_of(const rh_droplet_search *search, uint32_t i, uint32_t j)
{
    rh_vec3 x = rh_v3_sub(search->x[j], search->x[i]), u = rh_v3_sub(search->u[j], search->u[i]);
    float nearest = -rh_v3_dot(x, u) / rh_v3_dot(u, u);
    return (rh_droplet_pair){i, j, rh_clamp(nearest, 0, (float)search->dt)};
}

// One round: every drop of a meeting picks the earliest, and two that pick each other are a pair; meetings of drops
// that have a partner are over. Returns how many pairs were found.
static int64_t choose(const rh_droplet_search *search, sorted *s, rh_droplet_pairs *out)
{
    int64_t before = out->count, kept = 0;
    for (int64_t n = 0; n < s->count; n++) s->best[s->meetings[n].p] = s->best[s->meetings[n].q] = NOBODY;
    for (int64_t n = 0; n < s->count; n++) {
        const meeting *m = &s->meetings[n];
        offer(s, m->p, m->q, m->when);
        offer(s, m->q, m->p, m->when);
    }
    for (int64_t n = 0; n < s->count; n++) {
        const meeting *m = &s->meetings[n];
        if (s->best[m->p] != m->q || s->best[m->q] != m->p || s->taken[m->p]) continue;
        s->taken[m->p] = s->taken[m->q] = true;
        out->items[out->count++] = pair_of(search, s->near->index[m->p], s->near->index[m->q]);
    }
    for (int64_t n = 0; n < s->count; n++) {
        const meeting m = s->meetings[n];
        if (!s->taken[m.p] && !s->taken[m.q]) s->meetings[kept++] = m;
    }
    s->count = kept;
    return out->count - before;
}

rh_code rh_droplet_detect(rh_droplet_search *search, rh_neighbours *near, rh_arena *arena, rh_droplet_pairs *pairs,
                          rh_status *status)
{
    sorted s;
    *pairs = (rh_droplet_pairs){0};
    RH_TRY(sort_drops(search, near, arena, status));
    RH_TRY(take_sorted(search, near, arena, &s, status));
    RH_TRY(find_meetings(&s, arena, status));
    RH_TRY(find_wide(&s, arena, &pairs->wide, status));
    int64_t most = s.count < near->count / 2 ? s.count : near->count / 2;
    pairs->items = rh_arena_take(arena, (size_t)(most + 1) * sizeof *pairs->items, status);
    if (!pairs->items) return RH_MEMORY;
    pairs->tested = s.tested;
    pairs->meetings = s.count;
    while (pairs->iterations < search->iterations) {
        pairs->iterations++;
        if (choose(search, &s, pairs) == 0) break;
    }
    return RH_OK;
}

float rh_droplet_contact(const rh_droplet_search *s, int64_t p, int64_t q)
{
    rh_vec3 x = rh_v3_sub(s->x[q], s->x[p]), u = rh_v3_sub(s->u[q], s->u[p]);
    float r = s->radius[p] + s->radius[q], a = rh_v3_dot(u, u), b = rh_v3_dot(u, x), c = rh_v3_dot(x, x) - r * r;
    return b < 0 && b * b - a * c > 0 ? contact(a, b, c) : INFINITY;
}
