// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// With w the particles' weight on a face (1 = that of a full cell), m the operator's mass, u the velocity and d its
// change by pressure:
//
//      sum m d     momentum that pressure gives: differences of pressure, which cancel from tile to tile
//      sum w d     momentum that the particles get, for any blend of PIC and FLIP: the sum of v is that of w u
//                  over the faces
#include "physics/momentum_error.h"

#include <math.h>
#include <string.h>
#include "grid/tile_components.h"

// The lower faces of a tile along an axis.
typedef struct faces {
    int count;
    const float *weight, *mass, *open, *before, *after, *force_change;
    const uint8_t *walls;  // bits, a byte per row: momentum lost there goes to a wall; NULL = none does
    float scale, force_change_all;
    float slight;  // m/s: smaller changes are taken over unchanged
    float limit;   // m/s: of what particles receive
} faces;

static inline float force_change_of(const faces *f, int c)
{
    return f->force_change ? f->force_change[c] : f->force_change_all;
}

static inline bool is_walls(const faces *f, int c) { return f->walls && (f->walls[c >> 3] >> (c & 7) & 1); }

// Changes by pressure are taken over unchanged up to this part of what forces do in the step, beyond those that just
// balance the forces: so what rests stays at rest. With all changes damped, still water moved at 0.1 m/s. Forces are
// gravity's, and those of a surface under tension bent as much as a cell: without these a drop's oscillations were 2 %
// slower.
static const float SLIGHT = 0.1f;

static void damp_light_faces(const faces *f, float *felt)
{
    for (int c = 0; c < f->count; c++) {
        float force_change = force_change_of(f, c), d = f->after[c] - f->before[c] - force_change,
              w = f->weight[c] * f->scale, m = f->mass[c];
        float low = fminf(-force_change, 0) - f->slight, high = fmaxf(-force_change, 0) + f->slight;
        float more = d - fmaxf(low, fminf(high, d));
        // Faces in walls have what walls and the liquid beside them gave.
        bool light = w > m && f->open[c] == 1 && !is_walls(f, c);
        felt[c] = rh_clamp(light ? f->after[c] - (1 - m / w) * more : f->after[c], -f->limit, f->limit);
    }
}

// Liquid at rest must not be disturbed because its particles weigh a little more or less than the pressure supports:
// the part of the forces' change that the pressure in the tile balances is left out of the error. (It is none in free
// fall and all at rest.) Returns the other part.
static float unsupported(const faces *f)
{
    double force_change = 0, pressure = 0;
    for (int c = 0; c < f->count; c++) {
        force_change += (double)(f->mass[c] * force_change_of(f, c));
        pressure += (double)(f->mass[c] * (f->after[c] - f->before[c] - force_change_of(f, c)));
    }
    return force_change == 0 ? 1 : (float)(1 - fmax(0, fmin(1, -pressure / force_change)));
}

// Momentum that the particles get beyond what the pressure gives.
static double error_of(const faces *f, const float *felt)
{
    float share = unsupported(f);
    double sum = 0;
    for (int c = 0; c < f->count; c++) {
        float free = f->before[c] + share * force_change_of(f, c);
        if (is_walls(f, c)) continue;
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
        int occupied = p->layout.unknown[row / 8];
        for (int i = 0; i < 8 && uneven & ~occupied; i++)
            occupied |= (tiles->first[row + i + 1] > tiles->first[row + i]) << i;
        if (uneven & occupied) return true;
    }
    return false;
}

// Faces where all momentum that the particles lose or gain counts as a wall's (world/wall_impulses.h): closed ones, and
// those between liquid cells right beside the wall.
static void wall_faces(const rh_pressure *p, int32_t t, int axis, uint8_t *bits)
{
    static const float far[RH_CELLS] = {[0 ... RH_CELLS - 1] = 1e30f};
    const rh_tiles *tiles = p->tiles;
    rh_rows distance = rh_rows_apart(tiles, p->cut->distance, t, far);
    rh_bit_rows wet = rh_bit_rows_of(tiles, p->layout.unknown, t);
    for (int r = 0; r < tiles->cells / 8; r++) {
        rh_f8 open = rh_f8_load(p->cut->open[axis][t] + 8 * r);
        rh_f8 away = rh_f8_load(distance.here + 8 * r) + rh_row_below(&distance, axis, r);
        int beside = wet.here[r] & rh_bits_row_below(&wet, axis, r) & rh_i8_bits(away < rh_f8_all(2 * tiles->h));
        bits[r] = (uint8_t)(rh_i8_bits(open <= rh_f8_all(0)) | beside);
    }
}

// Momentum that the tension at the surface gives the liquid beside the lower faces of a tile, in full cells. Around a
// closed surface it adds up to nothing; of a curvature that is measured it would not quite.
static double tension_on(const rh_pressure *p, int32_t t, int axis, const float *mass)
{
    int64_t at = (int64_t)t * p->tiles->cells;
    double sum = 0;
    for (int c = 0; c < p->tiles->cells; c++) {
        float jump = p->jump.axis[axis][at + c] * p->cut->open[axis][t][c];
        if (jump != 0 && mass[c] > 0) sum += (double)(rh_pressure_is_unknown(p, at + c) ? jump : -jump);
    }
    return sum;
}

static rh_momentum_error measure_tile(const rh_momentum_error_input *b, int32_t t)
{
    const rh_pressure *p = b->pressure;
    int64_t at = (int64_t)t * p->tiles->cells;
    rh_momentum_error error = {0};
    float tension = p->tension ? p->tension->strength * p->tiles->inverse_h : 0;
    for (int a = 0; a < p->tiles->dimension; a++) {
        float mass[RH_CELLS], felt[RH_CELLS], *weight = b->weight.axis[a] + at;
        uint8_t walls[RH_CELLS / 8];
        bool returned = b->walls_return && p->cut->kind[t] != RH_TILE_FREE;
        error.walled[a] = !b->walls_return &&
                          ((b->no_slip_walls && p->cut->kind[t] != RH_TILE_FREE) || wall_acts(p, t, a));
        if (returned) wall_faces(p, t, a, walls);
        rh_pressure_face_masses(p, t, a, mass);
        faces f = {.count = p->tiles->cells,
                   .weight = weight,
                   .mass = mass,
                   .open = p->cut->open[a][t],
                   .walls = returned ? walls : NULL,
                   .before = b->before.axis[a] + at,
                   .after = b->after.axis[a] + at,
                   .force_change = b->force_change.axis[0] ? b->force_change.axis[a] + at : NULL,
                   .force_change_all = (&b->force_change_everywhere.x)[a],
                   .scale = 1 / b->per_cell,
                   .limit = b->speed_limit,
                   .slight = SLIGHT * (rh_v3_length(b->force_change_everywhere) + tension)};
        damp_light_faces(&f, felt);
        if (!error.walled[a]) error.momentum[a] = error_of(&f, felt);
        if (!error.walled[a] && p->jump.axis[0]) error.momentum[a] += (double)b->per_cell * tension_on(p, t, a, mass);
        memcpy(weight, felt, (size_t)f.count * sizeof *felt);
    }
    return error;
}

void rh_momentum_error_measure(const rh_momentum_error_input *b, rh_momentum_error *errors)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t t = 0; t < b->pressure->tiles->count; t++) errors[t] = measure_tile(b, t);
}

// --- taking it back --------------------------------------------------------------------------------------------------
// Share of their motion that the particles of a tile have in common: 1 when they have one velocity, 0 when their
// velocities differ as much as they are large.
static double common_share(const rh_tiles *tiles, int32_t t, const rh_vec3 *velocities)
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
    return square > 0 ? fmax(0, 1 - fmax(0, spread) / square) : 0;
}

// A connected part of the liquid.
typedef struct component {
    rh_momentum_error error;
    double particles;
} component;

static void add_up(const rh_tiles *tiles, const rh_momentum_error *errors, const int32_t *number, component *components)
{
    for (int32_t t = 0; t < tiles->count; t++) {
        component *sum = &components[number[t]];
        sum->particles += (double)(rh_tile_first(tiles, t + 1) - rh_tile_first(tiles, t));
        for (int a = 0; a < tiles->dimension; a++) {
            sum->error.momentum[a] += errors[t].momentum[a];
            sum->error.walled[a] = sum->error.walled[a] || errors[t].walled[a];
        }
    }
}

static void settle_tile(const rh_tiles *tiles, const rh_momentum_error *error, const component *whole, int32_t t,
                        rh_vec3 *velocities, rh_vec3 *frame_share)
{
    float back[3] = {0, 0, 0};
    bool any = false;
    float share = (float)common_share(tiles, t, velocities);
    for (int a = 0; a < tiles->dimension; a++) {
        if (!whole->error.walled[a]) back[a] = (float)(whole->error.momentum[a] / whole->particles);
        (&frame_share->x)[a] = error->walled[a] ? 0 : share;
        any = any || back[a] != 0;
    }
    for (uint32_t p = rh_tile_first(tiles, t); any && p < rh_tile_first(tiles, t + 1); p++)
        velocities[p] = rh_v3_sub(velocities[p], rh_v3(back[0], back[1], back[2]));
}

rh_code rh_momentum_error_correct(const rh_tiles *tiles, const rh_momentum_error *errors, rh_vec3 *velocities,
                                  rh_vec3 *frame_share, rh_arena *arena, rh_status *status)
{
    RH_ASSERT(rh_tiles_are_sorted(tiles));
    rh_arena_mark mark = rh_arena_save(arena);
    int32_t *number = rh_arena_take(arena, ((size_t)tiles->count + 1) * sizeof *number, status);
    component *components = rh_arena_take_zero(arena, ((size_t)tiles->count + 1) * sizeof *components, status);
    if (!number || !components) return RH_MEMORY;
    rh_tile_components(tiles, number);
    add_up(tiles, errors, number, components);
#pragma omp parallel for schedule(dynamic, 4)
    for (int32_t n = 0; n < tiles->occupied_count; n++) {
        int32_t t = tiles->occupied[n];
        settle_tile(tiles, &errors[t], &components[number[t]], t, velocities, &frame_share[t]);
    }
    rh_arena_restore(arena, mark);
    return RH_OK;
}
