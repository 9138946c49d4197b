// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// With x the way between two drops at the middle of the step, u their relative velocity and s the time from the middle:
// |x + u s| = r + r' has the first root s = (-b - sqrt(b^2 - a c)) / a, a = |u|^2, b = x.u, c = |x|^2 - (r + r')^2. It
// counts when they approach at the start of the step, and s is below half the step. a, b and c are the same bits seen
// from either drop, so both agree on the time.
#include "physics/droplets/detect.h"

#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "base/simd.h"
#include "points/near_parts.h"

#define NOBODY UINT32_MAX
enum { LANES = 8, SAMPLE = 64, OCTAVES = 512 };
enum { MOST_TESTS = 160, TRIES = 8 };  // comparisons of a drop on average; how often cells are made narrower for it

// Drops in the order of the sort.
typedef struct sorted {
    const rh_neighbours *near;
    float *u[3];        // m/s; not a number: rests
    uint32_t *cell;     // each is in
    const int64_t *id;  // by number
    float *when;        // s from the start of the step: of the best choice
    uint32_t *best, *mate;
    float half;  // of the step, s
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
// those that follow each other are near each other.
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
    *spread = sqrt(rh_sum(sums, blocks) / (double)(s->count ? s->count : 1));
    return RH_OK;
}

static double tests_per_drop(const rh_neighbours *near)
{
    double sum = 0;
    for (int64_t c = 0; c < near->cells; c++) {
        double here = near->cell_first[c + 1] - near->cell_first[c];
        sum += here * here;
    }
    return near->count ? 27 * sum / (double)near->count : 0;
}

static rh_code sort_drops(rh_droplet_search *s, rh_neighbours *near, rh_arena *arena, rh_status *status)
{
    rh_vec3 *middle = rh_arena_take(arena, (size_t)(s->count + 1) * sizeof *middle, status);
    if (!middle) return RH_MEMORY;
    float half = 0.5f * (float)s->dt;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < s->count; i++) middle[i] = rh_v3_add(s->x[i], rh_v3_scale(s->u[i], half));
    double least = 2 * usual_radius(s->radius, s->count), spread = 0;
    bool chosen = s->cell > 0;
    if (!chosen) {
        RH_TRY(local_spread(s, arena, &spread, status));
        s->cell = fmax(least + 1.5 * s->dt * spread, 1e-9);
    }
    for (int n = 0; n < TRIES; n++) {
        const rh_neighbours_input input = {3, middle, s->radius, s->count, rh_neighbours_cell(s->cell), false};
        RH_TRY(rh_neighbours_build(near, &input, arena, status));
        if (chosen || s->cell <= least || tests_per_drop(near) < MOST_TESTS) break;
        s->cell = fmax(least, 0.7 * s->cell);
    }
    return RH_OK;
}

static rh_code take_sorted(const rh_droplet_search *s, const rh_neighbours *near, rh_arena *arena, sorted *out,
                           rh_status *status)
{
    size_t room = (size_t)near->count + LANES;
    *out = (sorted){.near = near, .id = s->id, .half = 0.5f * (float)s->dt};
    for (int a = 0; a < 3; a++)
        if (!(out->u[a] = rh_arena_take(arena, room * sizeof(float), status))) return RH_MEMORY;
    out->cell = rh_arena_take(arena, room * sizeof *out->cell, status);
    out->when = rh_arena_take(arena, room * sizeof *out->when, status);
    out->best = rh_arena_take(arena, room * sizeof *out->best, status);
    out->mate = rh_arena_take(arena, room * sizeof *out->mate, status);
    if (!out->cell || !out->when || !out->best || !out->mate) return RH_MEMORY;
    float now = (float)(s->time + 1e-4 * s->dt);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < near->count; i++) {
        uint32_t from = near->index[i];
        bool rests = s->ready && s->ready[from] > now;
        for (int a = 0; a < 3; a++) out->u[a][i] = rests ? NAN : (&s->u[from].x)[a];
        out->best[i] = out->mate[i] = NOBODY;
    }
#pragma omp parallel for schedule(static)
    for (int64_t c = 0; c < near->cells; c++)
        for (uint32_t i = near->cell_first[c]; i < near->cell_first[c + 1]; i++) out->cell[i] = (uint32_t)c;
    for (int a = 0; a < 3; a++)
        for (int64_t i = near->count; i < near->count + LANES; i++) out->u[a][i] = NAN;
    return RH_OK;
}

// --- choices ---------------------------------------------------------------------------------------------------------
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

static void offer(sorted *s, int64_t p, int64_t q)
{
    if (s->mate[q] != NOBODY) return;
    float when = contact_of(s, p, q);
    const uint32_t *index = s->near->index;
    bool better = s->best[p] == NOBODY || when < s->when[p] ||
                  (when == s->when[p] && s->id[index[q]] < s->id[index[s->best[p]]]);
    if (!better) return;
    s->when[p] = when;
    s->best[p] = (uint32_t)q;
}

// Bits of the eight from q on that p meets in the step.
static inline int meets(const sorted *s, int64_t p, int64_t q)
{
    const rh_neighbours *n = s->near;
    rh_f8 x = rh_f8_load(n->x + q) - n->x[p], y = rh_f8_load(n->y + q) - n->y[p], z = rh_f8_load(n->z + q) - n->z[p];
    rh_f8 u = rh_f8_load(s->u[0] + q) - s->u[0][p], v = rh_f8_load(s->u[1] + q) - s->u[1][p],
          w = rh_f8_load(s->u[2] + q) - s->u[2][p], r = rh_f8_load(n->radius + q) + n->radius[p];
    rh_f8 a = u * u + v * v + w * w, b = x * u + y * v + z * w, c = x * x + y * y + z * z - r * r;
    rh_f8 inside = b * b - a * c, end = b + a * s->half;
    rh_i8 hits = (inside > 0.0f) & (b - a * s->half < 0.0f) & ((end >= 0.0f) | (inside > end * end));
    return rh_i8_bits(hits);
}

static void choose(sorted *s, int64_t p, const rh_neighbours_run *runs, int count)
{
    s->best[p] = NOBODY;
    for (int r = 0; r < count; r++)
        for (int64_t q = runs[r].begin; q < runs[r].end; q += LANES) {
            int bits = meets(s, p, q);
            if (runs[r].end - q < LANES) bits &= (1 << (runs[r].end - q)) - 1;
            for (; bits; bits &= bits - 1) offer(s, p, q + __builtin_ctz((unsigned)bits));
        }
}

static int64_t choose_in_cell(sorted *s, int64_t cell, const rh_neighbours_run *runs, int count)
{
    int64_t begin = s->near->cell_first[cell], end = s->near->cell_first[cell + 1], tested = 0;
    for (int r = 0; r < count; r++) tested += (end - begin) * (runs[r].end - runs[r].begin);
    for (int64_t p = begin; p < end; p++)
        if (!isnan(s->u[0][p])) choose(s, p, runs, count);
    return tested;
}

static int64_t choose_all(sorted *s)
{
    int64_t tested = 0;
#pragma omp parallel for schedule(dynamic, 16) reduction(+ : tested)
    for (int64_t r = 0; r < s->near->rows; r++) {
        rh_near_window window = {.n = s->near, .reach = 1, .cell = -1};
        for (int64_t c = s->near->row_first[r]; c < s->near->row_first[r + 1]; c++) {
            rh_near_window_to(&window, c);
            tested += choose_in_cell(s, c, window.runs, window.count);
        }
    }
    return tested;
}

// Those whose choice was taken choose again.
static void choose_again(sorted *s)
{
#pragma omp parallel for schedule(dynamic, 4096)
    for (int64_t p = 0; p < s->near->count; p++) {
        if (s->best[p] == NOBODY || s->mate[p] != NOBODY || s->mate[s->best[p]] == NOBODY) continue;
        rh_near_window window = {.n = s->near, .reach = 1, .cell = -1};
        rh_near_window_to(&window, s->cell[p]);
        choose(s, p, window.runs, window.count);
    }
}

// --- drops wider than half a cell ------------------------------------------------------------------------------------
typedef struct wide_drop {
    uint32_t drop;
    rh_neighbours_run *runs;
    int64_t count;
} wide_drop;

static rh_code find_wide(const sorted *s, rh_arena *arena, wide_drop **out, int64_t *count, rh_status *status)
{
    const rh_neighbours *n = s->near;
    float limit = 0.5f * (float)n->cell, largest = n->largest;
    *count = 0;
    *out = NULL;
    if (!(largest > limit)) return RH_OK;
    for (int64_t p = 0; p < n->count; p++) *count += n->radius[p] > limit && !isnan(s->u[0][p]);
    wide_drop *all = rh_arena_take(arena, (size_t)(*count + 1) * sizeof *all, status);
    if (!all) return RH_MEMORY;
    *out = all;
    for (int64_t p = 0, k = 0; p < n->count; p++) {
        if (!(n->radius[p] > limit) || isnan(s->u[0][p])) continue;
        rh_vec3 place = rh_v3(n->x[p], n->y[p], n->z[p]);
        float reach = n->radius[p] + largest + limit;
        int64_t room = rh_neighbours_box(n, place, reach, NULL);
        all[k] = (wide_drop){(uint32_t)p, rh_arena_take(arena, (size_t)(room + 1) * sizeof *all[k].runs, status), room};
        if (!all[k].runs) return RH_MEMORY;
        rh_neighbours_box(n, place, reach, all[k++].runs);
    }
    return RH_OK;
}

// Both ends of a pair get the offer. Few drops, so one thread does.
static void choose_wide(sorted *s, const wide_drop *wide, int64_t count)
{
    for (int64_t k = 0; k < count; k++) {
        int64_t p = wide[k].drop;
        if (s->mate[p] != NOBODY) continue;
        for (int64_t r = 0; r < wide[k].count; r++)
            for (int64_t q = wide[k].runs[r].begin; q < wide[k].runs[r].end; q += LANES) {
                int bits = meets(s, p, q);
                if (wide[k].runs[r].end - q < LANES) bits &= (1 << (wide[k].runs[r].end - q)) - 1;
                for (; bits; bits &= bits - 1) {
                    int64_t other = q + __builtin_ctz((unsigned)bits);
                    offer(s, p, other);
                    if (s->mate[other] == NOBODY) offer(s, other, p);
                }
            }
    }
}

// --- pairs -----------------------------------------------------------------------------------------------------------
static int64_t take_mates(sorted *s)
{
    int64_t found = 0;
#pragma omp parallel for schedule(static) reduction(+ : found)
    for (int64_t p = 0; p < s->near->count; p++) {
        if (s->best[p] == NOBODY || s->mate[p] != NOBODY || s->best[s->best[p]] != (uint32_t)p) continue;
        s->mate[p] = s->best[p];
        found++;
    }
    return found / 2;
}

static rh_code list_pairs(const rh_droplet_search *search, const sorted *s, int64_t count, rh_arena *arena,
                          rh_droplet_pairs *out, rh_status *status)
{
    out->items = rh_arena_take(arena, (size_t)(count + 1) * sizeof *out->items, status);
    if (!out->items) return RH_MEMORY;
    for (int64_t p = 0; p < s->near->count; p++) {
        if (s->mate[p] == NOBODY || s->mate[p] < p) continue;
        uint32_t i = s->near->index[p], j = s->near->index[s->mate[p]];
        rh_vec3 x = rh_v3_sub(search->x[j], search->x[i]), u = rh_v3_sub(search->u[j], search->u[i]);
        float nearest = -rh_v3_dot(x, u) / rh_v3_dot(u, u);
        out->items[out->count++] = (rh_droplet_pair){i, j, rh_clamp(nearest, 0, (float)search->dt)};
    }
    return RH_OK;
}

rh_code rh_droplet_detect(rh_droplet_search *search, rh_neighbours *near, rh_arena *arena, rh_droplet_pairs *pairs,
                          rh_status *status)
{
    sorted s;
    wide_drop *wide;
    int64_t count = 0;
    *pairs = (rh_droplet_pairs){0};
    RH_TRY(sort_drops(search, near, arena, status));
    RH_TRY(take_sorted(search, near, arena, &s, status));
    RH_TRY(find_wide(&s, arena, &wide, &pairs->wide, status));
    pairs->tested = choose_all(&s);
    for (int64_t n = 0; n < search->iterations; n++) {
        if (n > 0) choose_again(&s);
        choose_wide(&s, wide, pairs->wide);
        int64_t found = take_mates(&s);
        count += found;
        pairs->iterations = n + 1;
        if (found == 0) break;
    }
    return list_pairs(search, &s, count, arena, pairs, status);
}

float rh_droplet_contact(const rh_droplet_search *s, int64_t p, int64_t q)
{
    rh_vec3 x = rh_v3_sub(s->x[q], s->x[p]), u = rh_v3_sub(s->u[q], s->u[p]);
    float r = s->radius[p] + s->radius[q], a = rh_v3_dot(u, u), b = rh_v3_dot(u, x), c = rh_v3_dot(x, x) - r * r;
    return b < 0 && b * b - a * c > 0 ? contact(a, b, c) : INFINITY;
}
