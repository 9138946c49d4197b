// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Which cells without room count as full: those under sand on a floor half a cell off a plane of the grid, as long as
// it does not sink; none on a plane of the grid, where such cells have an eighth of their room; none on slopes, but
// those at a floor and a wall that are turned against the grid together with gravity.
#include "support.h"
#include "physics/dead_cells.h"

typedef struct bed {
    cloud c;
    rh_obstacle item;
    rh_obstacles all;
    rh_cut_cells cut;
    rh_cut_cache cache;
} bed;

// Cells of 1, all of them filled; returns how many count. The floor goes through `at`, `normal` points to the sand.
static int count_dead(rh_dvec3 at, rh_dvec3 normal, rh_dvec3 gravity, double speed)
{
    bed b = {0};
    rh_status status = {0};
    rh_motion_key keys[2] = {{.time = 0}, {.time = 1, .translate = {0, speed, 0}}};
    cloud_random(&b.c, 2, 1, 4000, rh_v3(0, 0, 0), rh_v3(12, 12, 0), 3);
    b.item.shape = (rh_shape){.kind = RH_SHAPE_PLANE, .as.plane = {at, normal}, .flat = true};
    if (speed != 0) b.item.kind = RH_SOLID_KEYED, b.item.motion = (rh_motion){.keys = {keys, 2}};
    b.all = (rh_obstacles){.items = &b.item, .count = 1};
    rh_obstacles_at(&b.all, 0, 0.001, &b.all, NULL);
    b.cache.blur = 2;
    assert_ok(rh_cut_cells_build(&b.cut, &b.cache, &b.c.tiles, &b.all, &b.c.arena, &status));
    int64_t values = rh_tiles_values(&b.c.tiles);
    float *fill = rh_arena_take(&b.c.arena, (size_t)values * sizeof *fill, &status);
    assert_non_null(fill);
    for (int64_t i = 0; i < values; i++) fill[i] = 1;
    rh_dead_cells of = {&b.c.tiles, &b.cut, &b.all, fill, 0.02f, gravity};
    uint8_t *bits;
    assert_ok(rh_dead_cells_find(&of, NULL, &b.c.arena, &bits, &status));
    int found = 0;
    for (int64_t i = 0; i < values / 8; i++) found += __builtin_popcount(bits[i]);
    rh_cut_cache_free(&b.cache);
    cloud_free(&b.c);
    return found;
}

static void only_where_sand_can_rest(void **state)
{
    (void)state;
    rh_dvec3 up = rh_d3(0, 1, 0), down = rh_d3(0, -9.81, 0), along = rh_d3(-0.5, 0.8660254, 0),
             upright = rh_d3(0.8660254, 0.5, 0), pull = rh_d3_scale(along, -9.81);
    assert_int_equal(count_dead(rh_d3(0, 0, 0), up, down, 0), 0);
    assert_true(count_dead(rh_d3(0, 0.5, 0), up, down, 0) >= 24);
    assert_true(count_dead(rh_d3(0, 0.5, 0), up, pull, 0) >= 24);  // along the grid, whatever gravity does
    assert_int_equal(count_dead(rh_d3(0, 0.2, 0), along, down, 0), 0);
    assert_true(count_dead(rh_d3(0, 0.2, 0), along, pull, 0) > 5);    // level
    assert_true(count_dead(rh_d3(0, 0.2, 0), upright, pull, 0) > 5);  // upright
}

static void not_where_the_wall_recedes(void **state)
{
    (void)state;
    rh_dvec3 up = rh_d3(0, 1, 0), down = rh_d3(0, -9.81, 0);
    assert_int_equal(count_dead(rh_d3(0, 0.5, 0), up, down, -0.1), 0);
    assert_true(count_dead(rh_d3(0, 0.5, 0), up, down, 0.1) >= 24);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(only_where_sand_can_rest),
                                       cmocka_unit_test(not_where_the_wall_recedes)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
