// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Which sand lies between upright walls. Boxes of sand between walls along the grid do, on every axis that gravity may
// pull along, however wide the shaft and in tiles beyond the walls' own; sand beside a single wall, between walls that
// lean by 20 degrees, in a round bowl, or under gravity across the grid does not.
#include "support.h"
#include "physics/sand/upright.h"
#include "solid/cut_cells.h"

enum { MOST_TILES = 4096 };

typedef struct pit {
    cloud c;
    rh_obstacle items[2];
    rh_obstacles all;
    rh_cut_cells cut;
    rh_cut_cache cache;
    rh_surroundings around;
} pit;

// Sand in the box around the origin, cells of 1; returns the shares of tiles with sand that lie between upright walls.
static double share_between(pit *p, int dimension, int solids, rh_vec3 reach, rh_dvec3 gravity)
{
    rh_status status = {0};
    int32_t list[MOST_TILES], count = 0, yes = 0;
    cloud_random(&p->c, dimension, 1, 4000, rh_v3(0, 0, 0), reach, 3);
    p->all = (rh_obstacles){.items = p->items, .count = solids};
    for (int i = 0; i < solids; i++) p->items[i].shape.flat = dimension == 2;
    rh_obstacles_at(&p->all, 0, 0.01, &p->all, NULL);
    p->cache.blur = 2;
    assert_ok(rh_cut_cells_build(&p->cut, &p->cache, &p->c.tiles, &p->all, &p->c.arena, &status));
    p->around = (rh_surroundings){.gravity = gravity, .obstacles = &p->all};
    rh_unilateral_view view = {.around = &p->around, .tiles = &p->c.tiles, .cut = &p->cut, .arena = &p->c.arena};
    assert_true(p->c.tiles.count <= MOST_TILES);
    for (int32_t t = 0; t < p->c.tiles.count; t++)
        if (rh_tile_first(&p->c.tiles, t) < rh_tile_first(&p->c.tiles, t + 1)) list[count++] = t;
    const uint8_t *between = rh_between_upright_walls(list, count, &view, &status);
    assert_non_null(between);
    for (int32_t n = 0; n < count; n++) yes += between[list[n]];
    rh_cut_cache_free(&p->cache);
    cloud_free(&p->c);
    return (double)yes / count;
}

static rh_obstacle shaft(rh_dvec3 low, rh_dvec3 high)
{
    return (rh_obstacle){.shape = {.kind = RH_SHAPE_BOX, .as.box = {low, high, 0}}, .inside_out = true};
}

static void gravity_along_the_grid_has_an_axis(void **state)
{
    (void)state;
    assert_int_equal(rh_upright_axis(rh_d3(0, -9.81, 0), 2), 1);
    assert_int_equal(rh_upright_axis(rh_d3(0, 0, 3), 3), 2);
    assert_int_equal(rh_upright_axis(rh_d3(-1, 0.01, 0), 3), 0);
    assert_int_equal(rh_upright_axis(rh_d3(1, 1, 0), 2), -1);
    assert_int_equal(rh_upright_axis(rh_d3(0, 0, 0), 3), -1);
}

static void shafts_are_upright_along_every_axis(void **state)
{
    (void)state;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int a = 0; a < dimension; a++)
            for (int n = 0; n < 2; n++) {
                float wide = n ? 22 : 5;  // cells to either side: walls far apart are in other tiles
                double half[3] = {wide, wide, wide}, pull[3] = {0, 0, 0};
                half[a] = 30;
                pull[a] = n ? 9.81 : -9.81;
                pit p = {0};
                p.items[0] = shaft(rh_d3(-half[0], -half[1], -half[2]), rh_d3(half[0], half[1], half[2]));
                rh_vec3 reach = rh_v3(wide - 0.5f, wide - 0.5f, wide - 0.5f);
                double share = share_between(&p, dimension, 1, reach, rh_d3(pull[0], pull[1], pull[2]));
                assert_true(share == 1);
            }
}

static void others_are_not(void **state)
{
    (void)state;
    rh_dvec3 down = rh_d3(0, -9.81, 0);
    pit one = {0}, none = {0}, leaning = {0}, bowl = {0}, across = {0};
    one.items[0].shape = (rh_shape){.kind = RH_SHAPE_BOX, .as.box = {{-40, -40, -40}, {-5, 40, 40}, 0}};
    assert_true(share_between(&one, 2, 1, rh_v3(4.5f, 8, 0), down) == 0);
    assert_true(share_between(&none, 2, 0, rh_v3(4.5f, 8, 0), down) == 0);
    for (int n = 0; n < 2; n++)
        leaning.items[n].shape = (rh_shape){.kind = RH_SHAPE_PLANE,
                                            .as.plane = {{n ? 9 : -9, 0, 0}, {n ? -0.94 : 0.94, 0.342, 0}}};
    assert_true(share_between(&leaning, 2, 2, rh_v3(4, 8, 0), down) == 0);
    bowl.items[0] = (rh_obstacle){.shape = {.kind = RH_SHAPE_SPHERE, .as.sphere = {{0, 9, 0}, 9}}, .inside_out = true};
    assert_true(share_between(&bowl, 2, 1, rh_v3(3, 3, 0), down) == 0);
    across.items[0] = shaft(rh_d3(-5, -30, -5), rh_d3(5, 30, 5));
    assert_true(share_between(&across, 2, 1, rh_v3(4.5f, 8, 0), rh_d3(1, -3, 0)) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gravity_along_the_grid_has_an_axis),
                                       cmocka_unit_test(shafts_are_upright_along_every_axis),
                                       cmocka_unit_test(others_are_not)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
