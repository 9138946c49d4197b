// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Transfers against sums in double over all pairs of particle and face, and particle paths against the exact result of
// the Runge-Kutta formulas in a linear velocity field (which linear interpolation reproduces).
//
// Tolerances: positions are floats of up to 20 cells, so a particle's place in its cell is known to 20 * 2^-24 = 1e-6
// cells; values are of order one. 1e-5 leaves room for the sums.
#include "support.h"
#include "base/hash.h"
#include "grid/advect.h"
#include "grid/transfer.h"

static const double CELL = 0.125;

static double hat(double d) { return fabs(d) < 1 ? 1 - fabs(d) : 0; }

static double weight_of(const rh_tiles *tiles, rh_vec3 p, const double face[3], double offset[3])
{
    double w = 1;
    for (int a = 0; a < tiles->dimension; a++) {
        offset[a] = face[a] - (double)(&p.x)[a] / CELL;
        w *= hat(offset[a]);
    }
    return w;
}

static void check_face(const cloud *c, bool affine, int axis, int64_t value, float velocity, float weight)
{
    double face[3], offset[3] = {0, 0, 0}, sum = 0, momentum = 0;
    lattice_point(&c->tiles, value, axis, face);
    for (int64_t p = 0; p < c->points.count; p++) {
        double w = weight_of(&c->tiles, c->p[p], face, offset);
        if (w == 0) continue;
        double v = (double)(&c->v[p].x)[axis];
        for (int a = 0; affine && a < c->tiles.dimension; a++) v += (double)c->c[p][3 * axis + a] * offset[a] * CELL;
        sum += w;
        momentum += w * v;
    }
    assert_near((double)weight, sum, 1e-5 * fmax(1, sum));
    if (weight == 0) assert_true(velocity == 0);
    assert_near((double)(velocity * weight), momentum, 1e-5 * fmax(1, sum));
}

static void faces_get_the_weighted_mean(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int affine = 0; affine < 2; affine++) {
            cloud c;
            cloud_random(&c, dimension, CELL, 700, rh_v3(0.1f, 0, -0.1f), rh_v3(2, 0.7f, 0.5f), 2);
            rh_faces velocity, weight;
            assert_int_equal(rh_faces_new(&velocity, &c.tiles, false, &c.arena, NULL), RH_OK);
            assert_int_equal(rh_faces_new(&weight, &c.tiles, false, &c.arena, NULL), RH_OK);
            rh_particles_to_grid(&c.tiles, c.p, c.v, affine ? (const float(*)[9])c.c : NULL, velocity, weight, NULL);
            for (int axis = 0; axis < dimension; axis++)
                for (int64_t v = 0; v < rh_tiles_values(&c.tiles); v++)
                    check_face(&c, affine, axis, v, velocity.axis[axis][v], weight.axis[axis][v]);
            cloud_free(&c);
        }
}

// The tiles of a field, one by one.
static float *const *tiles_of(cloud *c, float *field)
{
    float **tiles = rh_arena_take(&c->arena, ((size_t)c->tiles.count + 1) * sizeof *tiles, NULL);
    for (int32_t t = 0; t < c->tiles.count; t++) tiles[t] = field + (int64_t)t * c->tiles.cells;
    return tiles;
}

static void cells_get_the_weights(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        cloud c;
        cloud_random(&c, dimension, CELL, 700, rh_v3(0, 0, 0), rh_v3(1, 1, 1), 2);
        rh_faces velocity, unused;
        assert_int_equal(rh_faces_new(&velocity, &c.tiles, false, &c.arena, NULL), RH_OK);
        assert_int_equal(rh_faces_new(&unused, &c.tiles, false, &c.arena, NULL), RH_OK);
        float *weight = rh_field_new(&c.tiles, &c.arena, NULL);
        rh_particles_to_grid(&c.tiles, c.p, c.v, NULL, velocity, unused, tiles_of(&c, weight));
        double total = 0;
        for (int64_t v = 0; v < rh_tiles_values(&c.tiles); v++) {
            double center[3], offset[3], sum = 0;
            lattice_point(&c.tiles, v, 3, center);
            for (int64_t p = 0; p < c.points.count; p++) sum += weight_of(&c.tiles, c.p[p], center, offset);
            assert_near((double)weight[v], sum, 1e-5 * fmax(1, sum));
            total += (double)weight[v];
        }
        assert_near(total, 700, 700e-6);  // every particle counts once
        cloud_free(&c);
    }
}

static uint64_t transfer_hash(int dimension, int threads, bool affine)
{
    cloud c;
    rh_threads_set(threads);
    cloud_random(&c, dimension, CELL, 20000, rh_v3(0, 0, 0), rh_v3(2, 2, 2), 3);
    rh_faces velocity, weight, before;
    size_t bytes = (size_t)rh_tiles_values(&c.tiles) * sizeof(float);
    assert_int_equal(rh_faces_new(&velocity, &c.tiles, false, &c.arena, NULL), RH_OK);
    assert_int_equal(rh_faces_new(&weight, &c.tiles, false, &c.arena, NULL), RH_OK);
    assert_int_equal(rh_faces_new(&before, &c.tiles, true, &c.arena, NULL), RH_OK);
    float *cells = rh_field_new(&c.tiles, &c.arena, NULL);
    rh_particles_to_grid(&c.tiles, c.p, c.v, affine ? (const float(*)[9])c.c : NULL, velocity, weight,
                         tiles_of(&c, cells));
    uint64_t hash = 0;
    for (int a = 0; a < dimension; a++) hash = rh_hash(weight.axis[a], bytes, rh_hash(velocity.axis[a], bytes, hash));
    hash = rh_hash(cells, bytes, hash);
    rh_velocity_update g = {
        .velocity = velocity, .before = before, .update = affine ? RH_UPDATE_APIC : RH_UPDATE_FLIP, .flip = 0.9f};
    rh_grid_to_velocities(&c.tiles, &g, c.p, c.v, c.c);
    rh_paths way = {.velocity = velocity, .dt = 0.1f, .rule = RH_PATH_RALSTON};
    assert_int_equal(rh_particles_advect(&c.tiles, &way, c.v, c.p, &c.arena, NULL), RH_OK);
    hash ^= rh_points_hash(&c.points);
    cloud_free(&c);
    return hash;
}

static void threads_do_not_show(void **state)
{
    (void)state;
    const int threads[] = {2, 3, 8};
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int affine = 0; affine < 2; affine++) {
            uint64_t one = transfer_hash(dimension, 1, affine);
            for (int n = 0; n < 3; n++) assert_true(transfer_hash(dimension, threads[n], affine) == one);
        }
    rh_threads_set(0);
}

// --- grid to particles -----------------------------------------------------------------------------------------------
static void random_faces(const cloud *c, rh_faces *faces, uint32_t lane)
{
    rh_arena *arena = (rh_arena *)&c->arena;
    assert_int_equal(rh_faces_new(faces, &c->tiles, false, arena, NULL), RH_OK);
    for (int a = 0; a < c->tiles.dimension; a++)
        for (int64_t v = 0; v < rh_tiles_values(&c->tiles); v++)
            faces->axis[a][v] = support_random((uint64_t)v, lane + (uint32_t)a);
}

// Interpolated value and gradient (per metre) of component `axis` at a particle.
static double interpolate(const rh_tiles *tiles, const float *field, int axis, rh_vec3 p, double gradient[3])
{
    double at[3] = {0, 0, 0}, value = 0;
    int base[3] = {0, 0, 0};
    for (int a = 0; a < tiles->dimension; a++) {
        at[a] = (double)(&p.x)[a] / CELL - (a == axis ? 0 : 0.5);
        base[a] = (int)floor(at[a]);
        gradient[a] = 0;
    }
    for (int n = 0; n < (tiles->dimension == 3 ? 8 : 4); n++) {
        int corner[3] = {n & 1, n >> 1 & 1, n >> 2};
        double f = (double)field[value_at(tiles, base[0] + corner[0], base[1] + corner[1], base[2] + corner[2])],
               w[3] = {1, 1, 1};
        for (int a = 0; a < tiles->dimension; a++) w[a] = corner[a] ? at[a] - base[a] : 1 - (at[a] - base[a]);
        value += f * w[0] * w[1] * w[2];
        for (int a = 0; a < tiles->dimension; a++)
            gradient[a] += f * (corner[a] ? 1 : -1) / CELL * w[(a + 1) % 3] * w[(a + 2) % 3];
    }
    return value;
}

static void check_particle(const cloud *before, const rh_velocity_update *g, int64_t p, const rh_vec3 *v,
                           const float (*affine)[9])
{
    for (int a = 0; a < before->tiles.dimension; a++) {
        double gradient[3] = {0, 0, 0}, unused[3],
               here = interpolate(&before->tiles, g->velocity.axis[a], a, before->p[p], gradient);
        double expected = here;
        if (g->update == RH_UPDATE_FLIP) {
            double full = (double)(&before->v[p].x)[a] + here -
                          interpolate(&before->tiles, g->before.axis[a], a, before->p[p], unused);
            expected = (double)g->flip * full + (1 - (double)g->flip) * here;
        }
        assert_near((double)(&v[p].x)[a], expected, 1e-5);
        for (int b = 0; g->update == RH_UPDATE_APIC && b < before->tiles.dimension; b++)
            assert_near((double)affine[p][3 * a + b], gradient[b], 1e-5 / CELL);
    }
}

static void particles_get_the_interpolated_value(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (rh_update update = RH_UPDATE_PIC; update <= RH_UPDATE_APIC; update++) {
            cloud c, old;
            cloud_random(&c, dimension, CELL, 3000, rh_v3(0, 0, 0), rh_v3(2, 2, 2), 2);
            cloud_random(&old, dimension, CELL, 3000, rh_v3(0, 0, 0), rh_v3(2, 2, 2), 2);
            rh_velocity_update g = {.update = update, .flip = 0.8f};
            random_faces(&c, &g.velocity, 20);
            random_faces(&c, &g.before, 23);
            rh_grid_to_velocities(&c.tiles, &g, c.p, c.v, c.c);
            for (int64_t p = 0; p < 3000; p++) check_particle(&old, &g, p, c.v, (const float(*)[9])c.c);
            cloud_free(&old);
            cloud_free(&c);
        }
}

// u = A x + b: a Runge-Kutta step of order r gives x + sum_{k=1..r} dt^k / k! A^(k-1) (A x + b) for r = 2 (midpoint), 3
// (Ralston).
static const double A[3][3] = {{0.3, -1, 0.2}, {0.9, -0.1, 0.4}, {-0.3, 0.2, -0.2}}, B[3] = {0.2, -0.1, 0.15};

static void linear_field(int dimension, const double x[3], double out[3])
{
    for (int a = 0; a < 3; a++) {
        out[a] = a < dimension ? B[a] : 0;
        for (int b = 0; b < dimension && a < dimension; b++) out[a] += A[a][b] * x[b];
    }
}

static void runge_kutta(int dimension, int order, double dt, double x[3])
{
    double term[3], next[3], sum[3], factor = dt;
    linear_field(dimension, x, term);
    for (int a = 0; a < 3; a++) sum[a] = factor * term[a];
    for (int k = 2; k <= order; k++) {
        factor *= dt / k;
        for (int a = 0; a < 3; a++) {
            next[a] = 0;
            for (int b = 0; b < dimension && a < dimension; b++) next[a] += A[a][b] * term[b];
        }
        memcpy(term, next, sizeof term);
        for (int a = 0; a < 3; a++) sum[a] += factor * term[a];
    }
    for (int a = 0; a < dimension; a++) x[a] += sum[a];
}

// Largest face speed of the particle's tile: it sets the number of sub-steps.
static double fastest_around(const cloud *c, rh_faces velocity, uint32_t p)
{
    int32_t t = 0;
    double most = 0;
    while (rh_tile_first(&c->tiles, t + 1) <= p) t++;
    for (int v = 0; v < c->tiles.cells; v++)
        for (int a = 0; a < c->tiles.dimension; a++)
            most = fmax(most, (double)fabsf(velocity.axis[a][(int64_t)t * c->tiles.cells + v]));
    return most;
}

static void check_paths(int dimension, rh_path_rule rule, double travel)
{
    static const int orders[] = {
        [RH_PATH_EULER] = 1, [RH_PATH_MIDPOINT] = 2, [RH_PATH_HEUN] = 2, [RH_PATH_RALSTON] = 3};
    cloud c;
    int margin = (int)travel + 3;
    cloud_random(&c, dimension, CELL, 2000, rh_v3(0, 0, 0), rh_v3(1, 1, 1), margin);
    rh_paths g = {.rule = rule};
    assert_int_equal(rh_faces_new(&g.velocity, &c.tiles, false, &c.arena, NULL), RH_OK);
    double fastest = 0;
    for (int a = 0; a < dimension; a++)
        for (int64_t v = 0; v < rh_tiles_values(&c.tiles); v++) {
            double x[3], u[3];
            lattice_point(&c.tiles, v, a, x);
            for (int b = 0; b < 3; b++) x[b] *= CELL;
            linear_field(dimension, x, u);
            g.velocity.axis[a][v] = (float)u[a];
            fastest = fmax(fastest, fabs(u[a]));
        }
    double dt = travel * CELL / fastest;
    g.dt = (float)dt;
    rh_vec3 *before = rh_alloc(2000 * sizeof *before, "test", NULL);
    memcpy(before, c.p, 2000 * sizeof *before);
    assert_int_equal(rh_particles_advect(&c.tiles, &g, c.v, c.p, &c.arena, NULL), RH_OK);
    int several = 0;
    for (uint32_t p = 0; p < 2000; p++) {
        double x[3] = {(double)before[p].x, (double)before[p].y, (double)before[p].z};
        int steps = (int)fmax(1, ceil(fastest_around(&c, g.velocity, p) * dt / CELL - 1e-6));
        several += steps > 1;
        for (int n = 0; n < steps; n++) runge_kutta(dimension, orders[rule], dt / steps, x);
        for (int a = 0; a < dimension; a++) assert_near((double)(&c.p[p].x)[a], x[a], 1e-5 * CELL * (1 + travel));
    }
    assert_true((several > 0) == (travel > 1));
    rh_free(before);
    cloud_free(&c);
}

static void paths_follow_the_formulas(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (rh_path_rule rule = RH_PATH_EULER; rule <= RH_PATH_RALSTON; rule++)
            for (int n = 0; n < 4; n++) check_paths(dimension, rule, (double[]){0.3, 1, 2.5, 5}[n]);
}

// Particles in cells marked as far from the liquid keep to a straight line, the others do not.
static void spray_flies_straight(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        cloud c, old;
        cloud_random(&c, dimension, CELL, 2000, rh_v3(0, 0, 0), rh_v3(1, 1, 1), 3);
        cloud_random(&old, dimension, CELL, 2000, rh_v3(0, 0, 0), rh_v3(1, 1, 1), 3);
        rh_paths g = {.dt = 0.05f,
                      .rule = RH_PATH_MIDPOINT,
                      .distance = rh_field_new(&c.tiles, &c.arena, NULL),
                      .free_beyond = 0.5f};
        random_faces(&c, &g.velocity, 20);
        for (int64_t v = 0; v < rh_tiles_values(&c.tiles); v++) ((float *)g.distance)[v] = v & 1 ? 0.6f : 0.4f;
        assert_int_equal(rh_particles_advect(&c.tiles, &g, c.v, c.p, &c.arena, NULL), RH_OK);
        int straight = 0;
        for (int64_t v = 0; v < rh_tiles_values(&c.tiles); v++)
            for (uint32_t p = c.tiles.first[v]; p < c.tiles.first[v + 1]; p++) {
                double off = 0;
                for (int a = 0; a < dimension; a++)
                    off = fmax(off,
                               fabs((double)(&c.p[p].x)[a] - (double)(&old.p[p].x)[a] - 0.05 * (double)(&c.v[p].x)[a]));
                if (v & 1) assert_true(off < 1e-6);
                else straight += off < 1e-6;
            }
        assert_true(straight < 10);
        cloud_free(&old);
        cloud_free(&c);
    }
}

// A uniform flow carries particles at the rim as fast beyond the tiles as within.
static void the_flow_goes_on_beyond_the_tiles(void **state)
{
    (void)state;
    cloud c, old;
    cloud_random(&c, 3, CELL, 500, rh_v3(0, 0, 0), rh_v3(0.3f, 0.3f, 0.3f), 2);
    cloud_random(&old, 3, CELL, 500, rh_v3(0, 0, 0), rh_v3(0.3f, 0.3f, 0.3f), 2);
    rh_paths g = {.dt = 0.6f, .rule = RH_PATH_MIDPOINT};
    assert_int_equal(rh_faces_new(&g.velocity, &c.tiles, true, &c.arena, NULL), RH_OK);
    for (int64_t v = 0; v < rh_tiles_values(&c.tiles); v++) g.velocity.axis[0][v] = 1;  // 4.8 cells
    for (int p = 0; p < 500; p++) c.v[p] = rh_v3(1, 0, 0);
    assert_int_equal(rh_particles_advect(&c.tiles, &g, c.v, c.p, &c.arena, NULL), RH_OK);
    for (int p = 0; p < 500; p++) assert_near((double)c.p[p].x, (double)old.p[p].x + 0.6, 1e-5);
    cloud_free(&old);
    cloud_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faces_get_the_weighted_mean),
        cmocka_unit_test(cells_get_the_weights),
        cmocka_unit_test(threads_do_not_show),
        cmocka_unit_test(particles_get_the_interpolated_value),
        cmocka_unit_test(paths_follow_the_formulas),
        cmocka_unit_test(spray_flies_straight),
        cmocka_unit_test(the_flow_goes_on_beyond_the_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
