// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// With w the particles' weight on a face (1 = that of a full cell), m the operator's mass, u the velocity and d its
// change by pressure:
//
//      sum m d     momentum that pressure gives: differences of pressure, which cancel from tile to tile
//      sum w d     momentum that the particles get, for any blend of PIC and FLIP: the sum of v is the sum over faces
//      of w u
#include "physics/gains.h"

#include <math.h>
#include <string.h>
#include "grid/tile_parts.h"

// The lower faces of a tile along an axis.
typedef struct faces {
    int count;
    const float *weight, *mass, *open, *before, *after, *push;
    float scale, push_all;
    float slight;  // m/s: changes by less are felt as they are
} faces;

static inline float push_of(const faces *f, int c) { return f->push ? f->push[c] : f->push_all; }

// Changes by pressure up to this part of what forces do in the step are felt as they are, beside those that just bear
// the forces: what rests stays at rest. With all changes weighed, still water moved at 0.1 m/s.
static const float SLIGHT = 0.1f;

static void feel(const faces *f, float *felt)
{
    for (int c = 0; c < f->count; c++) {
        float push = push_of(f, c), d = f->after[c] - f->before[c] - push, w = f->weight[c] * f->scale, m = f->mass[c];
        float low = fminf(-push, 0) - f->slight, high = fmaxf(-push, 0) + f->slight;
        float more = d - fmaxf(low, fminf(high, d));
        bool light = w > m && f->open[c] == 1;  // faces in walls have what walls and the liquid beside them gave
        felt[c] = light ? f->after[c] - (1 - m / w) * more : f->after[c];
    }
}

// Liquid at rest must not be disturbed because its particles weigh a little more or less than what the pressure bears:
// the part of the push that the pressure in the tile takes up counts as not there. (It is none in free fall and all at
// rest.) Returns the other part.
static float unsupported(const faces *f)
{
    double push = 0, pressure = 0;
    for (int c = 0; c < f->count; c++) {
        push += (double)(f->mass[c] * push_of(f, c));
        pressure += (double)(f->mass[c] * (f->after[c] - f->before[c] - push_of(f, c)));
    }
    return push == 0 ? 1 : (float)(1 - fmax(0, fmin(1, -pressure / push)));
}

// Momentum that the particles get beyond what the pressure gives.
static double gain_of(const faces *f, const float *felt)
{
    float part = unsupported(f);
    double sum = 0;
    for (int c = 0; c < f->count; c++) {
        float free = f->before[c] + part * push_of(f, c);
        sum += (double)(f->weight[c] * f->scale * (felt[c] - free) - f->mass[c] * (f->after[c] - free));
    }
    return sum / (double)f->scale;
}

// Whether a wall acts along the axis on liquid of the tile: it does where a cell's two faces are not equally open.
static bool wall_acts(const rh_pressure *p, int32_t t, int axis)
{
    const rh_tiles *tiles = p->tiles;
    static const float closed[RH_CELLS];
    if (p->cut->kind[t] == RH_TILE_FREE) return false;
    rh_rows open = rh_rows_apart(tiles, p->cut->open[axis], t, closed);
    for (int r = 0; r < tiles->cells / 8; r++) {
        int64_t row = (int64_t)t * tiles->cells + 8 * r;
        int uneven = rh_i8_bits(rh_f8_load(open.here + 8 * r) != rh_row_above(&open, axis, r));
        int held = p->layout.unknown[row / 8];
        for (int i = 0; i < 8 && uneven & ~held; i++) held |= (tiles->first[row + i + 1] > tiles->first[row + i]) << i;
        if (uneven & held) return true;
    }
    return false;
}

static rh_gain measure_tile(const rh_gains *b, int32_t t)
{
    const rh_pressure *p = b->pressure;
    int64_t at = (int64_t)t * p->tiles->cells;
    rh_gain gain = {0};
    for (int a = 0; a < p->tiles->dimension; a++) {
        float mass[RH_CELLS], felt[RH_CELLS], *weight = b->weight.axis[a] + at;
        gain.walled[a] = (b->rough && p->cut->kind[t] != RH_TILE_FREE) || wall_acts(p, t, a);
        rh_pressure_face_masses(p, t, a, mass);
        faces f = {.count = p->tiles->cells,
                   .weight = weight,
                   .mass = mass,
                   .open = p->cut->open[a][t],
                   .before = b->before.axis[a] + at,
                   .after = b->after.axis[a] + at,
                   .push = b->push.axis[0] ? b->push.axis[a] + at : NULL,
                   .push_all = (&b->push_everywhere.x)[a],
                   .scale = 1 / b->per_cell,
                   .slight = SLIGHT * rh_v3_length(b->push_everywhere)};
        feel(&f, felt);
        if (!gain.walled[a]) gain.momentum[a] = gain_of(&f, felt);
        memcpy(weight, felt, (size_t)f.count * sizeof *felt);
    }
    return gain;
}

void rh_gains_measure(const rh_gains *b, rh_gain *gains)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < b->pressure->tiles->count; t++) gains[t] = measure_tile(b, t);
}

// --- taking it back --------------------------------------------------------------------------------------------------
// How the liquid of a tile travels: the mean velocity of its particles, as far as they agree on one (all of it when
// they move alike, nothing when their velocities differ as much as they are large).
static rh_dvec3 travel(const rh_tiles *tiles, int32_t t, const rh_vec3 *velocities)
{
    uint32_t begin = rh_tile_first(tiles, t), end = rh_tile_first(tiles, t + 1);
    rh_dvec3 sum = {0, 0, 0};
    double squares = 0;
    for (uint32_t p = begin; p < end; p++) {
        rh_dvec3 v = rh_d3_from(velocities[p]);
        sum = rh_d3_add(sum, v);
        squares += rh_d3_dot(v, v);
    }
    rh_dvec3 mean = rh_d3_scale(sum, 1.0 / (double)(end - begin));
    double square = rh_d3_dot(mean, mean), spread = squares / (double)(end - begin) - square;
    return square > 0 ? rh_d3_scale(mean, fmax(0, 1 - fmax(0, spread) / square)) : mean;
}

// A connected part of the liquid.
typedef struct part {
    rh_gain gain;
    double particles;
} part;

static void add_up(const rh_tiles *tiles, const rh_gain *gains, const int32_t *number, part *parts)
{
    for (int32_t t = 0; t < tiles->count; t++) {
        part *sum = &parts[number[t]];
        sum->particles += (double)(rh_tile_first(tiles, t + 1) - rh_tile_first(tiles, t));
        for (int a = 0; a < tiles->dimension; a++) {
            sum->gain.momentum[a] += gains[t].momentum[a];
            sum->gain.walled[a] = sum->gain.walled[a] || gains[t].walled[a];
        }
    }
}

static void settle_tile(const rh_tiles *tiles, const rh_gain *gain, const part *whole, int32_t t, rh_vec3 *velocities,
                        rh_vec3 *frame)
{
    float back[3] = {0, 0, 0};
    bool any = false;
    rh_dvec3 mean = travel(tiles, t, velocities);
    for (int a = 0; a < tiles->dimension; a++) {
        if (!whole->gain.walled[a]) back[a] = (float)(whole->gain.momentum[a] / whole->particles);
        (&frame->x)[a] = gain->walled[a] ? 0 : (float)(&mean.x)[a];
        any = any || back[a] != 0;
    }
    for (uint32_t p = rh_tile_first(tiles, t); any && p < rh_tile_first(tiles, t + 1); p++)
        velocities[p] = rh_v3_sub(velocities[p], rh_v3(back[0], back[1], back[2]));
}

rh_code rh_gains_take_back(const rh_tiles *tiles, const rh_gain *gains, rh_vec3 *velocities, rh_vec3 *frame,
                           rh_arena *arena, rh_status *status)
{
    RH_ASSERT(rh_tiles_are_sorted(tiles));
    rh_arena_mark mark = rh_arena_save(arena);
    int32_t *number = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *number, status);
    part *parts = rh_arena_take_zero(arena, ((size_t)tiles->count + 1) * sizeof *parts, status);
    if (!number || !parts) return RH_MEMORY;
    rh_tile_parts(tiles, number);
    add_up(tiles, gains, number, parts);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < tiles->occupied_count; n++) {
        int32_t t = tiles->occupied[n];
        settle_tile(tiles, &gains[t], &parts[number[t]], t, velocities, &frame[t]);
    }
    rh_arena_restore(arena, mark);
    return RH_OK;
}
