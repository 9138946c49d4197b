// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The friction of sand's own model on its own: a block of sand on tiles without a step around it, free of walls and
// gravity, under any pressure and velocity.
#include "support.h"
#include "grid/transfer.h"
#include "physics/sand/friction.h"
#include "physics/sand/mix.h"

typedef struct block {
    cloud cloud;
    rh_obstacles none;
    rh_surroundings around;
    rh_cut_cells cut;
    rh_limit limit;
    rh_faces velocity;
    float *filling, *q;
    rh_unilateral_view view;
    float (*stress)[9];  // of particles
} block;

enum { SIDE = 12 };

static bool inside(const int cell[3], int dimension)
{
    bool yes = true;
    for (int a = 0; a < dimension; a++) yes = yes && cell[a] >= 0 && cell[a] < SIDE;
    return yes;
}

// All free: the same page of ones for every tile, and one of zeros for the walls' velocities.
static void open_everything(block *b, rh_status *status)
{
    static const float ones[512] = {[0 ... 511] = 1}, zeros[512];
    const rh_tiles *tiles = &b->cloud.tiles;
    const float **one = rh_arena_take(&b->cloud.arena, (size_t)tiles->count * sizeof *one, status);
    const float **zero = rh_arena_take(&b->cloud.arena, (size_t)tiles->count * sizeof *zero, status);
    for (int32_t t = 0; t < tiles->count; t++) one[t] = ones, zero[t] = zeros;
    b->cut = (rh_cut_cells){.room = one, .pass = {one, one, one}, .wall = {zero, zero, zero}};
}

// Fillings as a step finds them. What holds any sand is an unknown of the pressure.
static void fill_grid(block *b, rh_status *status)
{
    const rh_tiles *tiles = &b->cloud.tiles;
    rh_arena *arena = &b->cloud.arena;
    int64_t values = rh_tiles_values(tiles);
    float share = tiles->dimension == 2 ? 0.25f : 0.125f,
          **table = rh_arena_take(arena, (size_t)tiles->count * sizeof *table, status);
    b->filling = rh_field_new(tiles, arena, status), b->q = rh_field_new(tiles, arena, status);
    for (int32_t t = 0; t < tiles->count; t++) table[t] = b->filling + (int64_t)t * tiles->cells;
    rh_particles_to_grid(tiles, b->cloud.p, b->cloud.v, NULL, b->velocity, b->limit.fill, table);
    memset(b->limit.layout.unknown, 0, (size_t)values / 8);
    for (int64_t v = 0; v < values; v++) {
        b->filling[v] *= share;
        for (int a = 0; a < tiles->dimension; a++) b->limit.fill.axis[a][v] *= share;
        if (b->filling[v] > 0.02f) b->limit.layout.unknown[v >> 3] |= (uint8_t)(1 << (v & 7));
    }
}

// A square or cube full of particles, with pressure q in the cells inside it.
static void block_make(block *b, int dimension, float q)
{
    rh_status status = {0};
    *b = (block){0};
    int fine = 2 * SIDE, deep = dimension == 3 ? fine : 1;
    cloud_make(&b->cloud, (int64_t)fine * fine * deep);
    assert_ok(rh_points_add(&b->cloud.points, "stress", RH_POINT_MAT3F, &status));
    cloud_refresh(&b->cloud);
    for (int64_t n = 0; n < b->cloud.points.count; n++)
        b->cloud.p[n] = rh_v3(0.25f + 0.5f * (float)(n % fine), 0.25f + 0.5f * (float)(n / fine % fine),
                              dimension == 3 ? 0.25f + 0.5f * (float)(n / fine / fine) : 0);
    cloud_tile(&b->cloud, dimension, 1, 3);
    const rh_tiles *tiles = &b->cloud.tiles;
    rh_arena *arena = &b->cloud.arena;
    open_everything(b, &status);
    b->limit = (rh_limit){.tiles = tiles, .cut = &b->cut};
    assert_ok(rh_layout_init(&b->limit.layout, tiles, arena, &status));
    assert_ok(rh_faces_new(&b->limit.fill, tiles, true, arena, &status));
    assert_ok(rh_faces_new(&b->velocity, tiles, true, arena, &status));
    fill_grid(b, &status);
    assert_ok(rh_layout_number(&b->limit.layout, arena, &status));
    for (int32_t n = 0; n < b->limit.layout.count; n++)
        for (int c = 0; c < tiles->cells; c++) {
            int cell[3];
            cell_of(tiles, (int64_t)b->limit.layout.listed[n] * tiles->cells + c, cell);
            b->q[(int64_t)n * tiles->cells + c] = inside(cell, dimension) ? q : 0;
        }
    b->around = (rh_surroundings){
        .dimension = dimension, .cell = 1, .obstacles = &b->none, .obstacles_after = &b->none};
    b->view = (rh_unilateral_view){.around = &b->around,
                                   .tiles = tiles,
                                   .cut = &b->cut,
                                   .limit = &b->limit,
                                   .cells = b->filling,
                                   .q = b->q,
                                   .pressure_unit = 100,
                                   .velocity = b->velocity,
                                   .before = b->velocity,
                                   .dt = 0.01f,
                                   .kick = 0.01f,
                                   .arena = arena,
                                   .positions = b->cloud.p,
                                   .velocities = b->cloud.v,
                                   .points = &b->cloud.points};
    b->stress = rh_points_data(&b->cloud.points, "stress", RH_POINT_MAT3F);
    for (int a = 0; a < dimension; a++) memset(b->velocity.axis[a], 0, (size_t)rh_tiles_values(tiles) * sizeof(float));
    memset(b->stress, 0, (size_t)b->cloud.points.count * sizeof *b->stress);
}

static void block_free(block *b)
{
    cloud_free(&b->cloud);
    assert_int_equal(rh_memory_blocks(), 0);
}

// All others are 0: no extra cohesion, no start, no smoothing.
static rh_friction_options strength(double coefficient, int iterations)
{
    return (rh_friction_options){coefficient, 0, 0, 0, 0, iterations};
}

static void rub(block *b, double coefficient, int iterations)
{
    rh_status status = {0};
    rh_friction f;
    rh_friction_options options = strength(coefficient, iterations);
    assert_ok(rh_friction_begin(&f, &options, &b->view, &status));
    assert_ok(rh_friction_solve(&f, &b->view, &status));
}

// Of a face, as friction sees it: nearly empty ones are heavier than they are, and those without sand do not count.
static double mass(const block *b, int a, int64_t v)
{
    float fill = b->limit.fill.axis[a][v];
    return fill < 1e-4f ? 0 : fmax((double)fill, 0.1);
}

typedef struct sums {
    double energy, linear[3], angular[3];
} sums;

static sums sums_of(const block *b)
{
    sums s = {0};
    const rh_tiles *tiles = b->view.tiles;
    for (int a = 0; a < tiles->dimension; a++)
        for (int64_t v = 0; v < rh_tiles_values(tiles); v++) {
            double x[3], u = (double)b->velocity.axis[a][v], m = mass(b, a, v);
            lattice_point(tiles, v, a, x);
            s.energy += 0.5 * m * u * u;
            s.linear[a] += m * u;
            s.angular[(a + 1) % 3] += x[(a + 2) % 3] * m * u;
            s.angular[(a + 2) % 3] -= x[(a + 1) % 3] * m * u;
        }
    return s;
}

static void set_random(block *b, uint64_t salt, float size)
{
    for (int a = 0; a < b->view.tiles->dimension; a++)
        for (int64_t v = 0; v < rh_tiles_values(b->view.tiles); v++)
            b->velocity.axis[a][v] = b->limit.fill.axis[a][v] > 0
                                         ? size * support_random(salt * 1000003 + (uint64_t)v, (uint32_t)a)
                                         : 0;
}

// u_x = rate (y - middle), as seen from the middle.
static void set_shear(block *b, float rate)
{
    for (int64_t v = 0; v < rh_tiles_values(b->view.tiles); v++) {
        double x[3];
        lattice_point(b->view.tiles, v, 0, x);
        if (b->limit.fill.axis[0][v] > 0) b->velocity.axis[0][v] = rate * (float)(x[1] - 0.5 * SIDE);
    }
}

static double face(const block *b, rh_faces field, int a, const int cell[3])
{
    int64_t v = value_at(b->view.tiles, cell[0], cell[1], cell[2]);
    return v < 0 ? 0 : (double)field.axis[a][v];
}

// Of a cell's centre (a = b) or its lower edge, by hand.
static double strain_at(const block *b, rh_faces field, int p, int64_t v)
{
    int c[3], up[3], i = rh_stress_axes[p][0], j = rh_stress_axes[p][1];
    cell_of(b->view.tiles, v, c);
    memcpy(up, c, sizeof up);
    if (i == j) return up[i]++, face(b, field, i, up) - face(b, field, i, c);
    int down_i[3] = {c[0], c[1], c[2]}, down_j[3] = {c[0], c[1], c[2]};
    down_i[i]--, down_j[j]--;
    return 0.5 * (face(b, field, i, c) - face(b, field, i, down_j) + face(b, field, j, c) - face(b, field, j, down_i));
}

// --- the tests -------------------------------------------------------------------------------------------------------
// What a stress does to the faces, against any flow, is minus what the stress does along that flow's strain rate.
static void push_is_strain_transposed(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        block b;
        rh_status status = {0};
        rh_friction f;
        rh_friction_options options = strength(0.5, 10);
        rh_faces other;
        block_make(&b, dimension, 1);
        const rh_tiles *tiles = b.view.tiles;
        for (int64_t i = 0; i < b.cloud.points.count; i++)
            for (int p = 0; p < RH_STRESS_PARTS; p++)
                b.stress[i][p] = rh_stress_has(dimension, p) ? 100 * support_random((uint64_t)i, (uint32_t)p) : 0;
        assert_ok(rh_faces_new(&other, tiles, true, &b.cloud.arena, &status));
        set_random(&b, 3, 1);
        size_t bytes = (size_t)rh_tiles_values(tiles) * sizeof(float);
        for (int a = 0; a < dimension; a++) {
            memcpy(other.axis[a], b.velocity.axis[a], bytes);
            memset(b.velocity.axis[a], 0, bytes);
        }
        assert_ok(rh_friction_begin(&f, &options, &b.view, &status));
        double work = 0, along = 0, size = 0;
        for (int a = 0; a < dimension; a++)
            for (int64_t v = 0; v < rh_tiles_values(tiles); v++)
                work += mass(&b, a, v) * (double)b.velocity.axis[a][v] * (double)other.axis[a][v] * 0.01;  // dt / h
        for (int p = 0; p < RH_STRESS_PARTS; p++)
            for (int64_t v = 0; v < rh_tiles_values(tiles) && rh_stress_has(dimension, p); v++) {
                double part = (p < 3 ? 1 : 2) * (double)f.carried.part[p][v] * strain_at(&b, other, p, v);
                along += part, size += fabs(part);
            }
        assert_true(size > 50);
        assert_near(work, -along, 1e-5 * size);
        block_free(&b);
    }
}

static void friction_takes_energy_and_keeps_momenta(void **state)
{
    (void)state;
    const double coefficients[] = {0.05, 0.5, 5};
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int n = 0; n < 3; n++) {
            block b;
            block_make(&b, dimension, 0.01f);
            set_random(&b, 7, 1);
            sums before = sums_of(&b), after;
            rub(&b, coefficients[n], 200);
            after = sums_of(&b);
            print_message("%dD, coefficient %g: energy %.4g -> %.4g\n", dimension, coefficients[n], before.energy,
                          after.energy);
            assert_true(after.energy < before.energy);
            for (int a = 0; a < 3; a++) {
                assert_near(after.linear[a], before.linear[a], 1e-3);
                assert_near(after.angular[a], before.angular[a], 2e-2);
            }
            block_free(&b);
        }
}

// Friction that may do anything leaves no strain rate but that of volume, which is pressure's. Nothing else: the energy
// left is at least that of the rotation which has the shear's angular momentum.
static void strong_friction_leaves_no_shear(void **state)
{
    (void)state;
    block b;
    block_make(&b, 2, 1);
    set_shear(&b, 1);
    sums before = sums_of(&b);
    rub(&b, 1e3, 4000);
    sums after = sums_of(&b);
    double worst = 0;
    for (int64_t v = 0; v < rh_tiles_values(b.view.tiles); v++) {
        int c[3];
        cell_of(b.view.tiles, v, c);
        if (c[0] < 1 || c[0] > SIDE - 1 || c[1] < 1 || c[1] > SIDE - 1) continue;
        if (c[0] < SIDE - 1 && c[1] < SIDE - 1)
            worst = fmax(worst, fabs(0.5 * (strain_at(&b, b.velocity, 0, v) - strain_at(&b, b.velocity, 1, v))));
        worst = fmax(worst, fabs(strain_at(&b, b.velocity, 3, v)));
    }
    double turning = 0.5 * before.energy;  // shear is half strain, half rotation
    print_message("sheared block: energy %.4g -> %.4g (rotation alone %.4g), strain rate left %.2g of 0.5\n",
                  before.energy, after.energy, turning, worst);
    assert_true(worst < 0.005);
    assert_true(after.energy < 0.7 * before.energy && after.energy > 0.999 * turning);
    assert_near(after.angular[2], before.angular[2], 1e-4 * fabs(before.angular[2]));
    block_free(&b);
}

// Friction too weak for that brakes: every face of the sheared flow keeps its direction and gains no speed.
static void weak_friction_does_not_reverse(void **state)
{
    (void)state;
    block b;
    block_make(&b, 2, 0.01f);
    set_shear(&b, 1);
    rub(&b, 0.5, 200);
    double braked = 0;
    for (int64_t v = 0; v < rh_tiles_values(b.view.tiles); v++) {
        double x[3], u = (double)b.velocity.axis[0][v];
        lattice_point(b.view.tiles, v, 0, x);
        double was = x[1] - 0.5 * SIDE;
        if (b.limit.fill.axis[0][v] == 0) continue;
        assert_true(u * was >= 0);
        braked += fabs(was) - fabs(u);
    }
    assert_true(braked > 0.1);
    block_free(&b);
}

static void no_friction_changes_nothing(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        block b;
        block_make(&b, dimension, 1);
        set_random(&b, 11, 3);
        rh_status status = {0};
        rh_faces before;
        size_t bytes = (size_t)rh_tiles_values(b.view.tiles) * sizeof(float);
        assert_ok(rh_faces_new(&before, b.view.tiles, true, &b.cloud.arena, &status));
        for (int a = 0; a < dimension; a++) memcpy(before.axis[a], b.velocity.axis[a], bytes);
        rub(&b, 0, 60);
        for (int a = 0; a < dimension; a++)  // but for the change of unit and back
            for (int64_t v = 0; v < rh_tiles_values(b.view.tiles); v++)
                assert_near((double)b.velocity.axis[a][v], (double)before.axis[a][v],
                            1.2e-7 * fabs((double)before.axis[a][v]));
        for (int64_t i = 0; i < b.cloud.points.count; i++)
            for (int p = 0; p < RH_STRESS_PARTS; p++) assert_true(b.stress[i][p] == 0);
        block_free(&b);
    }
}

// Matsuoka and Nakai's condition I1 I2 <= k I3 on the stresses that press, k so that plane shear bears S p; 1 on the
// bound.
static double strained(const float s[RH_STRESS_PARTS], double rough, double pressure)
{
    double a = pressure - (double)s[0], b = pressure - (double)s[1], c = pressure - (double)s[2], xy = (double)s[3],
           xz = (double)s[4], yz = (double)s[5];
    double first = a + b + c, second = a * b + b * c + c * a - xy * xy - yz * yz - xz * xz;
    double third = a * b * c - 2 * xy * yz * xz - a * yz * yz - b * xz * xz - c * xy * xy,
           k = (9 - 3 * rough * rough) / (1 - rough * rough);
    return (first * second / third - 9) / (k - 9);
}

// What particles carry away is no more than friction may be in every cell: in plane shear |s| <= sqrt 2 coefficient q.
static void stress_is_within_its_bound(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        block b;
        block_make(&b, dimension, 0.02f);
        set_random(&b, 5, 10);
        rub(&b, 0.5, 300);
        double most = 0, pressure = 0.02 * 100;  // Pa
        for (int64_t i = 0; i < b.cloud.points.count; i++) {
            const float *s = b.stress[i];
            assert_near((double)s[0] + (double)s[1] + (double)s[2], 0, 1e-4 * pressure);
            most = fmax(most, sqrt(strained(s, 0.5, pressure)));
        }
        print_message("%dD: largest stress %.4f of the bound\n", dimension, most);
        assert_true(most > 0.9);
        assert_true(most < 1.05);
        block_free(&b);
    }
}

// Squeezed along one axis, sand bears more than stretched along it, and both as Matsuoka and Nakai say.
static void squeezing_bears_more_than_stretching(void **state)
{
    (void)state;
    double borne[2];
    for (int stretched = 0; stretched < 2; stretched++) {
        block b;
        block_make(&b, 3, 0.02f);
        for (int a = 0; a < 3; a++)
            for (int64_t v = 0; v < rh_tiles_values(b.view.tiles); v++) {
                double x[3];
                lattice_point(b.view.tiles, v, a, x);
                if (b.limit.fill.axis[a][v] > 0)
                    b.velocity.axis[a][v] = (stretched ? 10 : -10) * (a == 1 ? 1.0f : -0.5f) *
                                            (float)(x[a] - 0.5 * SIDE);
            }
        rub(&b, 0.5, 300);
        double worst = 0;
        borne[stretched] = 0;
        int64_t count = 0;
        for (int64_t i = 0; i < b.cloud.points.count; i++) {
            const rh_vec3 *x = &b.cloud.p[i];
            const float middle = 0.5f * SIDE;
            if (fabsf(x->x - middle) > 1 || fabsf(x->y - middle) > 1 || fabsf(x->z - middle) > 1) continue;
            worst = fmax(worst, fabs(sqrt(strained(b.stress[i], 0.5, 2)) - 1));
            borne[stretched] += fabs((double)b.stress[i][1]), count++;
        }
        assert_true(count > 20);
        borne[stretched] /= (double)count;
        print_message("%s: %.3f Pa across a pressure of 2, off the bound by %.2g\n",
                      stretched ? "stretched" : "squeezed", borne[stretched], worst);
        assert_true(worst < 0.02);
        block_free(&b);
    }
    assert_true(borne[0] > 1.2 * borne[1]);
}

// A stress that all particles have in common is on the grid as it is, and back.
static void a_uniform_stress_comes_back(void **state)
{
    (void)state;
    static const float uniform[RH_STRESS_PARTS] = {30, -10, -20, 5, 7, -9};
    for (int dimension = 2; dimension <= 3; dimension++) {
        block b;
        rh_status status = {0};
        rh_stress grid;
        block_make(&b, dimension, 1);
        const rh_tiles *tiles = b.view.tiles;
        for (int64_t i = 0; i < b.cloud.points.count; i++)
            for (int p = 0; p < RH_STRESS_PARTS; p++) b.stress[i][p] = rh_stress_has(dimension, p) ? uniform[p] : 0;
        uint8_t *between = rh_arena_take_zero(&b.cloud.arena, (size_t)tiles->count + 1, &status);
        assert_ok(rh_stress_from_particles(&grid, &b.view, between, &status));
        for (int64_t v = 0; v < rh_tiles_values(tiles); v++) {
            int c[3];
            cell_of(tiles, v, c);
            bool deep = true;  // all cells around the lower edges are in the block
            for (int a = 0; a < dimension; a++) deep = deep && c[a] > 0 && c[a] < SIDE;
            for (int p = 0; p < RH_STRESS_PARTS && deep; p++)
                if (grid.part[p]) assert_near((double)grid.part[p][v], (double)uniform[p] / 100, 1e-6);
        }
        uint8_t *rest = rh_arena_take_zero(&b.cloud.arena, (size_t)rh_tiles_values(tiles) / 8 + 1, &status);
        rh_stress_motion motion = {rest, rest};
        assert_ok(rh_stress_to_particles(&grid, &grid, &motion, 0.5f, &b.view, &status));
        for (int64_t i = 0; i < b.cloud.points.count; i++) {
            const rh_vec3 *x = &b.cloud.p[i];
            bool deep = x->x > 1 && x->x < SIDE - 1 && x->y > 1 && x->y < SIDE - 1 &&
                        (dimension == 2 || (x->z > 1 && x->z < SIDE - 1));
            for (int p = 0; p < RH_STRESS_PARTS; p++)
                if (rh_stress_has(dimension, p) && (p < 3 || deep))
                    assert_near((double)b.stress[i][p], (double)uniform[p], 1e-4);
        }
        block_free(&b);
    }
}

// Grains in a shear of rate 1 wander by 2 mixing rate spacing^2 dt along each axis and step; without pressure nothing
// does, and threads do not matter.
static void grains_wander_as_they_shear(void **state)
{
    (void)state;
    const double mixing = 0.4;
    double other = 0;
    for (int turn = 0; turn < 4; turn++) {
        block b;
        block_make(&b, turn == 2 ? 2 : 3, turn == 3 ? 0 : 0.5f);
        set_shear(&b, 1);
        b.around.step = 7;
        rh_threads_set(turn == 1 ? 3 : 1);
        rh_vec3 *start = rh_arena_take(&b.cloud.arena, (size_t)b.cloud.points.count * sizeof *start, NULL);
        memcpy(start, b.cloud.p, (size_t)b.cloud.points.count * sizeof *start);
        rh_sand_mix(&b.view, mixing, 0.5);
        double sum[3] = {0}, hash = 0;
        int64_t count = 0;
        for (int64_t i = 0; i < b.cloud.points.count; i++) {
            const float *x = &b.cloud.p[i].x, *was = &start[i].x;
            hash += (double)(x[0] + 3 * x[1] + 7 * x[2]) * (double)(i % 13);
            bool deep = true;  // not beside the surface, where the shear ends
            for (int a = 0; a < b.view.tiles->dimension; a++) deep = deep && was[a] > 1 && was[a] < SIDE - 1;
            for (int a = 0; a < 3 && deep; a++) sum[a] += (double)(x[a] - was[a]) * (double)(x[a] - was[a]);
            count += deep;
        }
        for (int a = 0; a < 3; a++) {
            double expected = turn == 3 || a >= b.view.tiles->dimension ? 0 : 2 * mixing * 0.25 * 0.01;
            assert_near(sum[a] / (double)count, expected, 0.1 * expected);
        }
        if (turn == 1) assert_true(hash == other);
        other = hash;
        block_free(&b);
    }
    rh_threads_set(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(push_is_strain_transposed),
                                       cmocka_unit_test(friction_takes_energy_and_keeps_momenta),
                                       cmocka_unit_test(strong_friction_leaves_no_shear),
                                       cmocka_unit_test(weak_friction_does_not_reverse),
                                       cmocka_unit_test(no_friction_changes_nothing),
                                       cmocka_unit_test(stress_is_within_its_bound),
                                       cmocka_unit_test(squeezing_bears_more_than_stretching),
                                       cmocka_unit_test(a_uniform_stress_comes_back),
                                       cmocka_unit_test(grains_wander_as_they_shear)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
