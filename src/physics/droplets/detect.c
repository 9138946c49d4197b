// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Cells, and the choices. Who meets is found once (meetings.h), and all choices are then made on the list. (Comparing
// each drop with all around it, again for each choice, took two and a half times as long.)
#include "physics/droplets/detect.h"

#include <math.h>
#include <string.h>
#include "base/parallel.h"
#include "base/simd.h"
#include "physics/droplets/meetings.h"

#define NOBODY UINT32_MAX
enum { LANES = 8, SAMPLE = 16, OCTAVES = 512 };
enum { MOST_TESTS = 160, TRIES = 8 };  // comparisons of a drop on average; how often cells are made narrower for it

// Drops in the order of the sort.
typedef struct sorted {
    const uint32_t *index;
    const int64_t *id;  // by number
    float *when;        // s from the start of the step: of the best choice
    uint32_t *best;     // choice; NOBODY: none
    uint8_t *taken;     // has a partner
} sorted;

// --- cells -----------------------------------------------------------------------------------------------------------
// An eighth of an octave each: by the exponent and the three first digits behind the leading one.
static inline int bin_of(float radius)
{
    int32_t bits;
    memcpy(&bits, &radius, sizeof bits);
    int bin = (bits >> 20) + 8 * (40 - 126);
    return bin < 0 ? 0 : bin >= OCTAVES ? OCTAVES - 1 : bin;
}

// The radius that one drop in a thousand is above: larger ones would make cells wide for all.
static double usual_radius(const int64_t bins[OCTAVES], int64_t count)
{
    int64_t below = 0;
    for (int b = 0; b < OCTAVES; b++)
        if ((below += bins[b]) >= count - count / 1000) return ldexp(0.5 + (b % 8 + 1) / 16.0, b / 8 - 40);
    return 0;
}

// The sum of how far velocities differ from their mean, squared.
static inline double spread_of(const rh_vec3 *u, int64_t count)
{
    rh_vec3 mean = {0, 0, 0};
    float sum = 0;
    for (int64_t i = 0; i < count; i++) mean = rh_v3_add(mean, u[i]);
    mean = rh_v3_scale(mean, 1 / (float)count);
    for (int64_t i = 0; i < count; i++) {
        rh_vec3 way = rh_v3_sub(u[i], mean);
        sum += rh_v3_dot(way, way);
    }
    return (double)sum;
}

// Places at the middle of the step; the usual radius (m); and how far velocities of neighbours differ (m/s, root of the
// mean square): drops are in the order of the last sort, so those that follow each other are near each other. Sixteen
// at a time, some cells of a row: with 64 what differs along a hand's breadth of spray made cells twice as wide as the
// drops of one place ask for.
static rh_code survey(const rh_droplet_search *s, rh_vec3 *middle, rh_arena *arena, double *radius, double *spread,
                      rh_status *status)
{
    int64_t samples = (s->count + SAMPLE - 1) / SAMPLE, bins[OCTAVES] = {0};
    double *sums = rh_arena_take(arena, (size_t)(samples + 1) * sizeof *sums, status);
    if (!sums) return RH_MEMORY;
    float half = 0.5f * (float)s->dt;
#pragma omp parallel for schedule(static) reduction(+ : bins[:OCTAVES])
    for (int64_t b = 0; b < rh_blocks(s->count); b++) {
        int64_t begin = b * RH_BLOCK, end = rh_block_end(b, s->count);
        for (int64_t i = begin; i < end; i++) middle[i] = rh_v3_add(s->x[i], rh_v3_scale(s->u[i], half));
        for (int64_t i = begin; i < end; i++) bins[bin_of(s->radius[i])]++;
        for (int64_t i = begin; i < end; i += SAMPLE)
            sums[i / SAMPLE] = spread_of(s->u + i, end - i < SAMPLE ? end - i : SAMPLE);
    }
    *radius = usual_radius(bins, s->count);
    // Less the mean of their own they differ by (SAMPLE - 1) / SAMPLE of what they do from that of all that are there.
    *spread = sqrt(rh_sum(sums, samples) / (double)(s->count ? s->count : 1) * SAMPLE / (SAMPLE - 1));
    return RH_OK;
}

// A number of each of eight cells, as if by chance.
static inline rh_i8 cell_numbers(const rh_vec3 *x, float inverse)
{
    static const uint32_t factors[] = {0x9e3779b1u, 0x85ebca77u, 0xc2b2ae3du};
    rh_f8 at[3];
    rh_i8 sum = {0};
    rh_f8_load3(&x->x, &at[0], &at[1], &at[2]);
    for (int a = 0; a < 3; a++) {
        rh_f8 cell = rh_f8_min(rh_f8_max(at[a] * inverse, rh_f8_all(-1e9f)), rh_f8_all(1e9f));
        sum = (rh_i8)((rh_u8)sum + (rh_u8)rh_f8_floor(cell) * factors[a]);
    }
    rh_u8 k = (rh_u8)sum;
    k ^= k >> 15;
    k *= 0x2c1b3c6du;
    k ^= k >> 12;
    k *= 0x297a2d39u;
    return (rh_i8)(k ^ k >> 15);
}

// With how many others a drop would be compared on average in cells of this width: 27 times the mean of the squares of
// how many share a cell, over an eighth of all cells, those with the last three bits of their numbers unset. (It was
// found by sorting all of them, up to four times a step.) Cells that by chance share a place of the table add twice the
// product of what they hold: what that makes on average is taken off. `x` can be read for seven more.
static rh_code guess_tests(const rh_vec3 *x, int64_t count, double cell, rh_arena *arena, double *tests,
                           rh_status *status)
{
    rh_arena_mark mark = rh_arena_save(arena);
    uint32_t slots = 1024;
    while (slots < count / 4) slots *= 2;
    uint32_t *drops = rh_arena_take_zero(arena, slots * sizeof *drops, status);
    if (!drops) return RH_MEMORY;
    float inverse = (float)(1 / cell);
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < count; i += LANES) {
        rh_i8 numbers = cell_numbers(x + i, inverse);
        int bits = rh_i8_bits((numbers & 7) == 0) & (count - i < LANES ? (1 << (count - i)) - 1 : 255);
        for (; bits; bits &= bits - 1) {
            uint32_t slot = (uint32_t)numbers[__builtin_ctz((unsigned)bits)] >> 3 & (slots - 1);
#pragma omp atomic
            drops[slot]++;
        }
    }
    int64_t squares = 0, seen = 0;
#pragma omp parallel for schedule(static) reduction(+ : squares, seen)
    for (int64_t n = 0; n < (int64_t)slots; n++) {
        squares += (int64_t)drops[n] * drops[n];
        seen += drops[n];
    }
    double shared = ((double)seen * (double)seen - (double)squares) / (double)slots;
    *tests = seen ? 27 * fmax((double)squares - shared, (double)seen) / (double)seen : 0;
    rh_arena_restore(arena, mark);
    return RH_OK;
}

static rh_code choose_cell(rh_droplet_search *s, const rh_vec3 *middle, double radius, double spread, rh_arena *arena,
                           rh_status *status)
{
    double least = 2 * radius;
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
    rh_vec3 *middle = rh_arena_take(arena, (size_t)(s->count + LANES) * sizeof *middle, status);
    if (!middle) return RH_MEMORY;
    memset(middle + s->count, 0, LANES * sizeof *middle);
    double radius, spread;
    RH_TRY(survey(s, middle, arena, &radius, &spread, status));
    if (!(s->cell > 0)) RH_TRY(choose_cell(s, middle, radius, spread, arena, status));
    const rh_neighbours_input input = {3,     middle,           s->radius, s->count, rh_neighbours_cell(s->cell),
                                       false, .rows_only = true};
    return rh_neighbours_build(near, &input, arena, status);
}

// Velocities in the order of the sort. Who rests takes no part.
static rh_code take_velocities(const rh_droplet_search *s, rh_neighbours *near, rh_arena *arena, rh_meeting_drops *out,
                               rh_status *status)
{
    float *u[3], now = (float)(s->time + 1e-4 * s->dt);
    for (int a = 0; a < 3; a++)
        if (!(u[a] = rh_arena_take(arena, (size_t)(near->count + LANES) * sizeof *u[a], status))) return RH_MEMORY;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < near->count; i++) {
        uint32_t from = near->index[i];
        for (int a = 0; a < 3; a++) u[a][i] = (&s->u[from].x)[a];
        if (s->ready && s->ready[from] > now) near->radius[i] = NAN;
    }
    for (int a = 0; a < 3; a++) memset(u[a] + near->count, 0, LANES * sizeof *u[a]);
    *out = (rh_meeting_drops){near, {u[0], u[1], u[2]}, 0.5f * (float)s->dt};
    return RH_OK;
}

// --- choices and pairs -----------------------------------------------------------------------------------------------
static void offer(sorted *s, uint32_t p, uint32_t q, float when)
{
    const uint32_t *index = s->index;
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
static int64_t choose(const rh_droplet_search *search, sorted *s, rh_meetings *list, rh_droplet_pairs *out)
{
    int64_t before = out->count, kept = 0;
    for (int64_t n = 0; n < list->count; n++) s->best[list->items[n].p] = s->best[list->items[n].q] = NOBODY;
    for (int64_t n = 0; n < list->count; n++) {
        const rh_meeting *m = &list->items[n];
        offer(s, m->p, m->q, m->when);
        offer(s, m->q, m->p, m->when);
    }
    for (int64_t n = 0; n < list->count; n++) {
        const rh_meeting *m = &list->items[n];
        if (s->best[m->p] != m->q || s->best[m->q] != m->p || s->taken[m->p]) continue;
        s->taken[m->p] = s->taken[m->q] = true;
        out->items[out->count++] = pair_of(search, s->index[m->p], s->index[m->q]);
    }
    for (int64_t n = 0; n < list->count; n++) {
        const rh_meeting m = list->items[n];
        if (!s->taken[m.p] && !s->taken[m.q]) list->items[kept++] = m;
    }
    list->count = kept;
    return out->count - before;
}

static rh_code take_choices(const rh_neighbours *near, int64_t meetings, rh_arena *arena, sorted *s,
                            rh_droplet_pairs *pairs, rh_status *status)
{
    size_t room = (size_t)near->count + 1, most = (size_t)(meetings < near->count / 2 ? meetings : near->count / 2) + 1;
    s->index = near->index;
    s->when = rh_arena_take(arena, room * sizeof *s->when, status);
    s->best = rh_arena_take(arena, room * sizeof *s->best, status);
    s->taken = rh_arena_take_zero(arena, room * sizeof *s->taken, status);
    pairs->items = rh_arena_take(arena, most * sizeof *pairs->items, status);
    return s->when && s->best && s->taken && pairs->items ? RH_OK : RH_MEMORY;
}

rh_code rh_droplet_detect(rh_droplet_search *search, rh_neighbours *near, rh_arena *arena, rh_droplet_pairs *pairs,
                          rh_status *status)
{
    rh_meeting_drops drops;
    rh_meetings list;
    sorted s = {.id = search->id};
    *pairs = (rh_droplet_pairs){0};
    RH_TRY(sort_drops(search, near, arena, status));
    RH_TRY(take_velocities(search, near, arena, &drops, status));
    RH_TRY(rh_meetings_find(&drops, arena, &list, status));
    RH_TRY(take_choices(near, list.count, arena, &s, pairs, status));
    pairs->tested = list.tested;
    pairs->meetings = list.count;
    pairs->wide = list.wide;
    while (pairs->iterations < search->iterations) {
        pairs->iterations++;
        if (choose(search, &s, &list, pairs) == 0) break;
    }
    return RH_OK;
}

float rh_droplet_contact(const rh_droplet_search *s, int64_t p, int64_t q)
{
    rh_vec3 x = rh_v3_sub(s->x[q], s->x[p]), u = rh_v3_sub(s->u[q], s->u[p]);
    float r = s->radius[p] + s->radius[q], a = rh_v3_dot(u, u), b = rh_v3_dot(u, x), c = rh_v3_dot(x, x) - r * r;
    return b < 0 && b * b - a * c > 0 ? rh_meeting_contact(a, b, c) : INFINITY;
}
