// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The sparse grid's topology: what the margin must cover, what it need not, neighbours, blocks, particles that are
// lost.
#include "support.h"

static int cell(const rh_tiles *tiles, float x) { return (int)floorf(x * tiles->inverse_h); }

// Every cell within `margin` cells of a particle's cell is covered (corners of the box suffice: tiles are larger than
// any margin), and no tile is without an occupied neighbour.
static void check_cover(const cloud *c, int margin)
{
    const rh_tiles *tiles = &c->tiles;
    for (int64_t i = 0; i < c->points.count; i++)
        for (int n = 0; n < 27; n++) {
            int x = cell(tiles, c->p[i].x) + margin * (n % 3 - 1),
                y = cell(tiles, c->p[i].y) + margin * (n / 3 % 3 - 1);
            int z = tiles->dimension == 3 ? cell(tiles, c->p[i].z) + margin * (n / 9 - 1) : 0;
            assert_true(value_at(tiles, x, y, z) >= 0);
        }
    for (int32_t t = 0; t < tiles->count; t++) {
        bool occupied = false;
        for (int n = 0; n < RH_NEAR; n++) {
            int32_t other = tiles->near[t][n];
            if (other >= 0 && rh_tile_first(tiles, other) < rh_tile_first(tiles, other + 1)) occupied = true;
        }
        assert_true(occupied);
    }
}

static void check_neighbours(const rh_tiles *tiles)
{
    for (int32_t t = 0; t < tiles->count; t++) {
        rh_tile at = tiles->at[t];
        assert_int_equal(rh_tiles_find(tiles, at), t);
        for (int n = 0; n < RH_NEAR; n++) {
            rh_tile other = {at.x + n % 3 - 1, at.y + n / 3 % 3 - 1, at.z + n / 9 - 1};
            int32_t found = -1;
            for (int32_t u = 0; u < tiles->count; u++)
                if (tiles->at[u].x == other.x && tiles->at[u].y == other.y && tiles->at[u].z == other.z) found = u;
            assert_int_equal(tiles->near[t][n], found);
        }
    }
}

static void margins_are_covered(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int margin = 1; margin <= 8; margin++) {
            cloud c;
            cloud_random(&c, dimension, 0.1, 60, rh_v3(-0.3f, 0.2f, 0.1f), rh_v3(4, 4, 4), margin);
            check_cover(&c, margin);
            check_neighbours(&c.tiles);
            cloud_free(&c);
        }
    assert_int_equal(rh_memory_bytes(), 0);
}

// One particle in a chosen cell: exactly the tiles that the margin touches, no others.
static void one_particle_takes_what_it_needs(void **state)
{
    (void)state;
    for (int at = 0; at < 8; at++)
        for (int margin = 1; margin <= 8; margin++) {
            cloud c;
            cloud_make(&c, 1);
            c.p[0] = rh_v3((float)at + 0.5f, 4.5f, -3.5f);  // cells of 1 m; -3.5 is cell 4 of tile -1
            cloud_tile(&c, 3, 1, margin);
            int x = 1 + (at - margin < 0) + (at + margin > 7), middle = 1 + (4 - margin < 0) + (4 + margin > 7);
            assert_int_equal(c.tiles.count, x * middle * middle);
            check_cover(&c, margin);
            cloud_free(&c);
        }
}

static void check_far(int dimension, float x, float y, float z)
{
    cloud c;
    cloud_make(&c, 2);
    c.p[0] = rh_v3(x, y, z);
    c.p[1] = rh_v3(-x, -y, -z);
    cloud_tile(&c, dimension, 0.5, 3);
    check_cover(&c, 3);
    check_neighbours(&c.tiles);
    cloud_free(&c);
}

static void far_and_negative_places_work(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        check_far(dimension, 4e6f, -4e6f, 4e6f);
        check_far(dimension, 1e-30f, -1e-30f, 1e-30f);
        check_far(dimension, 4, 4, 4);
        check_far(dimension, 3.9999998f, 4e6f, -0.0f);
    }
}

static void empty_sets_work(void **state)
{
    (void)state;
    cloud c;
    cloud_make(&c, 0);
    cloud_tile(&c, 3, 1, 2);
    assert_int_equal(c.tiles.count, 0);
    assert_int_equal(rh_tiles_find(&c.tiles, (rh_tile){0, 0, 0}), -1);
    cloud_free(&c);
}

// The first lost particle is named, whatever the number of threads.
static void lost_particles_are_named(void **state)
{
    (void)state;
    const float bad[] = {NAN, INFINITY, -INFINITY, 1e30f, -1e30f, 9e6f};
    enum { COUNT = 20000 };
    for (int n = 0; n < 6; n++)
        for (int axis = 0; axis < 3; axis++)
            for (int threads = 1; threads <= 3; threads++) {
                cloud c;
                cloud_make(&c, COUNT);
                (&c.p[4321].x)[axis] = bad[n];
                (&c.p[COUNT - 1].x)[axis] = bad[n];
                rh_threads_set(threads);
                rh_status status = {0};
                assert_int_equal(rh_tiles_build(&c.tiles, 3, 1, c.p, COUNT, 2, &c.arena, &status), RH_NUMERIC);
                assert_non_null(strstr(status.message, "index 4321 "));
                cloud_free(&c);
                assert_int_equal(rh_memory_bytes(), 0);
            }
    rh_threads_set(0);
}

// Tiles come in the same order for any number of threads and any order of particles.
static void order_is_unique(void **state)
{
    (void)state;
    cloud a, b;
    cloud_random(&a, 3, 0.1, 30000, rh_v3(0, 0, 0), rh_v3(3, 3, 3), 3);
    for (int threads = 1; threads <= 8; threads++) {
        rh_threads_set(threads);
        cloud_make(&b, 30000);
        for (int64_t i = 0; i < 30000; i++) b.p[i] = a.p[29999 - i];
        cloud_tile(&b, 3, 0.1, 3);
        assert_int_equal(a.tiles.count, b.tiles.count);
        assert_memory_equal(a.tiles.at, b.tiles.at, (size_t)a.tiles.count * sizeof *a.tiles.at);
        cloud_free(&b);
    }
    rh_threads_set(0);
    cloud_free(&a);
}

static void running_out_of_memory_is_clean(void **state)
{
    (void)state;
    for (int count = 0; count < 64; count++) {
        cloud c;
        cloud_make(&c, 100);
        for (int i = 0; i < 100; i++) c.p[i] = rh_v3((float)i * 9, 0, 0);
        rh_status status = {0};
        rh_memory_fail_after(count);
        rh_code code = rh_tiles_build(&c.tiles, 3, 1, c.p, 100, 2, &c.arena, &status);
        if (code == RH_OK) code = rh_tiles_sort(&c.tiles, &c.points, &c.arena, &status);
        rh_memory_fail_after(-1);
        assert_int_equal(status.code, code);
        assert_true(code == RH_OK || code == RH_MEMORY);
        assert_true(code == RH_MEMORY || count > 5);
        cloud_free(&c);
        assert_int_equal(rh_memory_bytes(), 0);
        if (code == RH_OK) return;
    }
    fail();
}

// --- blocks ----------------------------------------------------------------------------------------------------------
static void check_block(const rh_tiles *tiles, const float *field, const uint8_t *bytes, int32_t t, int halo)
{
    static float block[RH_BLOCK_MAX];
    static uint8_t block_bytes[RH_BLOCK_MAX];
    rh_block_load(tiles, field, t, halo, -7, block);
    rh_block_load_u8(tiles, bytes, t, halo, 255, block_bytes);
    rh_tile at = tiles->at[t];
    int deep = tiles->dimension == 3 ? halo : 0, last = tiles->dimension == 3 ? 7 : 0;
    for (int k = -deep; k <= last + deep; k++)
        for (int j = -halo; j < RH_TILE + halo; j++)
            for (int i = -halo; i < RH_TILE + halo; i++) {
                int64_t v = value_at(tiles, at.x * 8 + i, at.y * 8 + j, at.z * 8 + k);
                int b = rh_block_index(tiles, halo, i, j, k);
                if (block[b] != (v < 0 ? -7 : field[v]) || block_bytes[b] != (v < 0 ? 255 : bytes[v])) fail();
            }
}

static void blocks_match_brute_force(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        cloud c;
        cloud_random(&c, dimension, 0.1, 12, rh_v3(0, 0, 0), rh_v3(2, 2, 2), 4);
        int64_t values = rh_tiles_values(&c.tiles);
        float *field = rh_field_new(&c.tiles, &c.arena, NULL);
        uint8_t *bytes = rh_arena_take(&c.arena, (size_t)values, NULL);
        for (int64_t i = 0; i < values; i++) field[i] = (float)i, bytes[i] = (uint8_t)(i % 251);
        for (int halo = 1; halo <= RH_HALO_MAX; halo++)
            for (int32_t t = 0; t < c.tiles.count; t++) check_block(&c.tiles, field, bytes, t, halo);
        cloud_free(&c);
    }
}

static void faces_have_as_many_axes_as_the_world(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++) {
        cloud c;
        cloud_random(&c, dimension, 0.1, 10, rh_v3(0, 0, 0), rh_v3(1, 1, 1), 2);
        rh_faces faces;
        assert_int_equal(rh_faces_new(&faces, &c.tiles, true, &c.arena, NULL), RH_OK);
        assert_true((faces.axis[2] != NULL) == (dimension == 3));
        for (int a = 0; a < dimension; a++)
            for (int64_t i = 0; i < rh_tiles_values(&c.tiles); i++) assert_true(faces.axis[a][i] == 0);
        cloud_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(margins_are_covered),
        cmocka_unit_test(one_particle_takes_what_it_needs),
        cmocka_unit_test(far_and_negative_places_work),
        cmocka_unit_test(empty_sets_work),
        cmocka_unit_test(lost_particles_are_named),
        cmocka_unit_test(order_is_unique),
        cmocka_unit_test(running_out_of_memory_is_clean),
        cmocka_unit_test(blocks_match_brute_force),
        cmocka_unit_test(faces_have_as_many_axes_as_the_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
