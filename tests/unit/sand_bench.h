// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A piece of sand on tiles for tests, without a step around it: any set of cells, any velocities, any pressure, no
// walls but faces closed on request.
#pragma once
#include "support.h"
#include "physics/sand/groups.h"

typedef struct bench {
    cloud cloud;
    rh_cut_cells cut;
    rh_pressure pressure;
    rh_surroundings around;
    rh_faces velocity;
    uint8_t *known[3];
    rh_incompressible_view view;
    rh_sand_cells cells;
} bench;

typedef bool bench_rule(const int cell[3], uint64_t salt);

static inline void bench_mark_known(bench *b, bench_rule *closed, uint64_t salt)
{
    const rh_tiles *tiles = b->view.tiles;
    for (int a = 0; a < tiles->dimension; a++)
        for (int64_t v = 0; v < rh_tiles_values(tiles); v++) {
            int cell[3];
            cell_of(tiles, v, cell);
            int64_t low = value_at(tiles, cell[0] - (a == 0), cell[1] - (a == 1), cell[2] - (a == 2));
            bool touches = rh_pressure_is_unknown(&b->pressure, v) ||
                           (low >= 0 && rh_pressure_is_unknown(&b->pressure, low));
            b->known[a][v] = touches && !(closed && closed(cell, salt + (uint64_t)a));
            b->velocity.axis[a][v] = 0;
        }
}

// Cells from 0 to side - 1 that `sand` picks; `closed` (may be NULL) picks faces, told apart by salt + axis.
static inline void bench_make(bench *b, int dimension, int side, bench_rule *sand, bench_rule *closed, uint64_t salt,
                              float q)
{
    static const float ones[512] = {[0 ... 511] = 1};
    rh_status status = {0};
    *b = (bench){0};
    int deep = dimension == 3 ? side : 1;
    int64_t count = 0;
    cloud_make(&b->cloud, (int64_t)side * side * deep);
    for (int64_t n = 0; n < b->cloud.points.count; n++) {
        const int cell[3] = {(int)(n % side), (int)(n / side % side), (int)(n / side / side)};
        if (sand(cell, salt))
            b->cloud.p[count++] = rh_v3((float)cell[0] + 0.5f, (float)cell[1] + 0.5f,
                                        dimension == 3 ? (float)cell[2] + 0.5f : 0);
    }
    b->cloud.points.count = count;
    cloud_tile(&b->cloud, dimension, 1, 3);
    const rh_tiles *tiles = &b->cloud.tiles;
    rh_arena *arena = &b->cloud.arena;
    size_t values = (size_t)rh_tiles_values(tiles);
    b->cut.volume = rh_arena_take(arena, (size_t)tiles->count * sizeof *b->cut.volume, &status);
    b->pressure = (rh_pressure){.tiles = tiles, .cut = &b->cut};
    assert_ok(rh_layout_init(&b->pressure.layout, tiles, arena, &status));
    memset(b->pressure.layout.unknown, 0, values / 8);
    for (int32_t t = 0; t < tiles->count; t++) b->cut.volume[t] = ones;
    for (int64_t v = 0; v < (int64_t)values; v++) {
        int cell[3];
        cell_of(tiles, v, cell);
        bool inside = cell[0] >= 0 && cell[0] < side && cell[1] >= 0 && cell[1] < side && cell[2] >= 0 &&
                      cell[2] < deep;
        if (inside && sand(cell, salt)) b->pressure.layout.unknown[v >> 3] |= (uint8_t)(1 << (v & 7));
    }
    assert_ok(rh_layout_number(&b->pressure.layout, arena, &status));
    b->pressure.q = rh_arena_take(arena, values * sizeof(float), &status);
    for (size_t v = 0; v < values; v++) b->pressure.q[v] = q;
    assert_ok(rh_faces_new(&b->velocity, tiles, true, arena, &status));
    for (int a = 0; a < dimension; a++) b->known[a] = rh_arena_take_zero(arena, values, &status);
    b->view = (rh_incompressible_view){.around = &b->around,
                                       .tiles = tiles,
                                       .cut = &b->cut,
                                       .pressure = &b->pressure,
                                       .velocity = b->velocity,
                                       .known = b->known,
                                       .dt = 0.01f,
                                       .kick = 0.01f,
                                       .arena = arena,
                                       .points = &b->cloud.points};
    bench_mark_known(b, closed, salt);
}

static inline void bench_free(bench *b) { cloud_free(&b->cloud); }

typedef double bench_field(int axis, const double place[3]);

static inline void bench_set(bench *b, bench_field *field)
{
    const rh_tiles *tiles = b->view.tiles;
    for (int a = 0; a < tiles->dimension; a++)
        for (int64_t v = 0; v < rh_tiles_values(tiles); v++) {
            double x[3];
            lattice_point(tiles, v, a, x);
            if (b->known[a][v]) b->velocity.axis[a][v] = (float)field(a, x);
        }
}

static inline void bench_set_random(bench *b, uint64_t salt)
{
    const rh_tiles *tiles = b->view.tiles;
    for (int a = 0; a < tiles->dimension; a++)
        for (int64_t v = 0; v < rh_tiles_values(tiles); v++)
            if (b->known[a][v]) b->velocity.axis[a][v] = support_random(salt * 1000003 + (uint64_t)v, (uint32_t)a);
}

typedef struct motion_sums {
    double linear[3], angular[3], energy, size;
} motion_sums;

// Of all faces that move, with their masses.
static inline motion_sums bench_sums(const bench *b)
{
    motion_sums s = {0};
    const rh_tiles *tiles = b->view.tiles;
    for (int a = 0; a < tiles->dimension; a++)
        for (int64_t v = 0; v < rh_tiles_values(tiles); v++) {
            if (!b->known[a][v]) continue;
            double x[3], m = (double)rh_sand_face_mass(&b->cells, &b->view, v, a),
                         p = m * (double)b->velocity.axis[a][v];
            lattice_point(tiles, v, a, x);
            s.linear[a] += p;
            s.angular[(a + 1) % 3] += x[(a + 2) % 3] * p;
            s.angular[(a + 2) % 3] -= x[(a + 1) % 3] * p;
            s.energy += 0.5 * p * (double)b->velocity.axis[a][v];
            s.size += fabs(p) * (1 + fabs(x[0]) + fabs(x[1]) + fabs(x[2]));
        }
    return s;
}

static inline void assert_same_momenta(motion_sums a, motion_sums b, double tolerance)
{
    for (int n = 0; n < 3; n++) {
        assert_near(b.linear[n], a.linear[n], tolerance * a.size);
        assert_near(b.angular[n], a.angular[n], tolerance * a.size);
    }
}
