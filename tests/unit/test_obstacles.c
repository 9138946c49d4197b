// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Solids as one: nearest, signs of containers, rigid velocity, and the promise of rh_obstacles_near that a tile whose
// list is empty is free of solids.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/memory.h"
#include "base/random.h"
#include "solid/obstacles.h"

// cmocka compares in float.
static void assert_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("found %.17g, expected %.17g within %g", found, expected, tolerance);
}

static rh_motion_key spin[] = {{0, {0, 0, 0}, {0, 0, 0}}, {2, {1, 0, 0}, {20, 40, 90}}};

static rh_obstacles example(void)
{
    rh_obstacles all = {.count = 4};
    all.items = rh_alloc_zero(4 * sizeof *all.items, "test", NULL);
    assert_non_null(all.items);
    all.items[0] = (rh_obstacle){.shape = {.kind = RH_SHAPE_BOX, .as.box = {{-2, -1, -2}, {2, 1, 2}, 0}},
                                 .inside_out = true};
    all.items[1] = (rh_obstacle){.shape = {.kind = RH_SHAPE_PLANE, .as.plane = {{0, -0.5, 0}, {0, 1, 0}}},
                                 .wall = RH_WALL_SEPARATE};
    all.items[2] = (rh_obstacle){.shape = {.kind = RH_SHAPE_SPHERE, .as.sphere = {{-1, 0, 0}, 0.3}}};
    all.items[3] = (rh_obstacle){.shape = {.kind = RH_SHAPE_BOX, .as.box = {{-0.2, -0.2, -0.2}, {0.2, 0.2, 0.2}, 0}},
                                 .motion = {.keys = {spin, 2}}};
    rh_obstacles_at(&all, 1, 0, &all, NULL);
    return all;
}

static rh_dvec3 random_point(uint64_t id, double reach)
{
    return rh_d3(reach * (2 * rh_random(3, id, 0, 0) - 1), reach * (2 * rh_random(3, id, 0, 1) - 1),
                 reach * (2 * rh_random(3, id, 0, 2) - 1));
}

static void nearest_solid_wins(void **state)
{
    (void)state;
    rh_obstacles all = example();
    int which = -7;
    assert_near(rh_obstacles_distance(&all, rh_d3(-1, 0, 0), &which), -0.3, 1e-12);
    assert_int_equal(which, 2);
    assert_near(rh_obstacles_distance(&all, rh_d3(1.9, 0.5, 1.9), &which), 0.1, 1e-12);  // container wall
    assert_int_equal(which, 0);
    assert_near(rh_obstacles_distance(&all, rh_d3(3, 0.5, 0), &which), -1, 1e-12);  // beyond the wall
    assert_int_equal(which, 0);
    assert_near(rh_obstacles_distance(&all, rh_d3(1, -0.45, 1), &which), 0.05, 1e-12);
    assert_int_equal(which, 1);
    assert_near(rh_obstacles_distance(&all, rh_d3(0.5, 0, 0), NULL), -0.2, 1e-12);  // the mover's middle
    rh_obstacles_free(&all);
    assert_true(rh_obstacles_distance(&all, rh_d3(0, 0, 0), &which) == 1e30);
    assert_int_equal(which, -1);
}

static void placing_sets_flags_and_rates(void **state)
{
    (void)state;
    rh_obstacles all = example();
    assert_true(all.any_moving && all.any_separating);
    assert_true(all.items[3].linear.x == 0.5 && all.items[3].origin.x == 0.5);
    all.items[1].wall = RH_WALL_SLIP;
    all.items[3].motion.keys.count = 1;
    rh_obstacles_at(&all, 1, 0, &all, NULL);
    assert_false(all.any_moving || all.any_separating);
    rh_obstacles_free(&all);
    assert_string_equal(rh_wall_names[RH_WALL_SEPARATE], "separate");
    assert_null(rh_wall_names[RH_WALL_SEPARATE + 1]);
}

// Asking where solids are changes nothing but the answer, and the answer depends on the time alone.
static void asking_moves_nothing(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_obstacles all = example(), first, again;
    size_t bytes = (size_t)all.count * sizeof *all.items;
    rh_obstacle kept[8];
    assert_true(all.count <= 8);
    memcpy(kept, all.items, bytes);
    assert_int_equal(rh_obstacles_create(&all, &first, &status), RH_OK);
    assert_int_equal(rh_obstacles_create(&all, &again, &status), RH_OK);
    rh_obstacles_at(&all, 1.5, 0, &first, NULL);
    rh_obstacles_at(&all, 0.2, 0.1, &again, NULL);
    assert_memory_equal(kept, all.items, bytes);
    assert_true(first.items[2].rests && !first.items[3].rests && first.any_moving);
    assert_true(first.items[3].pose.translation.x != again.items[3].pose.translation.x);
    rh_obstacles_at(&first, 1.5, 0, &again, NULL);
    assert_memory_equal(first.items, again.items, bytes);
    rh_obstacles_free(&first);
    rh_obstacles_free(&again);
    rh_obstacles_free(&all);
}

// Walking along the normal into free space lengthens the distance by the way walked.
static void normals_point_into_free_space(void **state)
{
    (void)state;
    rh_obstacles all = example();
    int tested = 0;
    for (uint64_t id = 0; id < 3000; id++) {
        rh_dvec3 p = random_point(id, 2);
        int which;
        double d = rh_obstacles_distance(&all, p, &which);
        if (fabs(d) > 0.05) continue;
        rh_dvec3 n = rh_obstacles_normal(&all, which, p);
        double walked = rh_obstacles_distance_of(&all, &which, 1, rh_d3_add(p, rh_d3_scale(n, 1e-4)), NULL);
        assert_near(walked - d, 1e-4, 1e-9);
        tested++;
    }
    assert_true(tested > 100);
    rh_obstacles_free(&all);
}

static void velocity_is_that_of_the_moving_solid(void **state)
{
    (void)state;
    rh_obstacles all = example();
    for (uint64_t id = 0; id < 100; id++) {
        rh_dvec3 p = random_point(id, 1), v = rh_obstacles_velocity(&all, 3, p);
        assert_true(rh_d3_length(rh_d3_sub(v, rh_motion_velocity(&all.items[3].motion, 1, p))) < 1e-12);
        assert_true(rh_d3_length(rh_obstacles_velocity(&all, 2, p)) == 0);
    }
    assert_true(rh_d3_length(rh_obstacles_velocity(&all, 3, rh_d3(0.5, 0.2, 0))) > 0.1);
    rh_obstacles_free(&all);
}

// Every solid that is nearest anywhere in the ball must be on the ball's list, with the same distance.
static void near_lists_miss_nothing(void **state)
{
    (void)state;
    rh_obstacles all = example();
    int lists = 0, empty = 0;
    for (uint64_t id = 0; id < 400; id++) {
        rh_dvec3 middle = random_point(id, 2.5);
        double radius = 0.02 + 0.5 * rh_random(3, id, 0, 3);
        int list[4], count = rh_obstacles_near(&all, middle, radius, list, 4);
        lists += count > 0;
        empty += count == 0;
        for (uint64_t k = 0; k < 50; k++) {
            rh_dvec3 step = rh_d3_scale(random_point(1000 + 50 * id + k, 1), radius / sqrt(3));
            rh_dvec3 p = rh_d3_add(middle, step);
            int which, listed;
            double d = rh_obstacles_distance(&all, p, &which),
                   near = rh_obstacles_distance_of(&all, list, count, p, &listed);
            if (d > 0 && count == 0) continue;  // free, as the empty list says
            if (d <= 0) {
                assert_true(near == d);
                assert_int_equal(which, listed);
            }
        }
    }
    assert_true(lists > 50 && empty > 20);
    rh_obstacles_free(&all);
}

// A mesh's distance is sampled, here very coarsely; the lists must still hold, for a solid and for a container.
static void near_lists_allow_for_sampled_meshes(void **state)
{
    (void)state;
    rh_vec3 corners[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    uint32_t sides[8][3] = {{0, 2, 4}, {2, 1, 4}, {1, 3, 4}, {3, 0, 4}, {2, 0, 5}, {1, 2, 5}, {3, 1, 5}, {0, 3, 5}};
    rh_mesh octahedron = {corners, sides, 6, 8};
    rh_mesh_sdf *sdf = NULL;
    assert_int_equal(rh_mesh_sdf_create(&octahedron, 0.08, &sdf, NULL), RH_OK);
    rh_obstacle solid = {.shape = {.kind = RH_SHAPE_MESH, .mesh = sdf}};
    for (int inside_out = 0; inside_out < 2; inside_out++) {
        solid.inside_out = inside_out;
        rh_obstacles all = {.items = &solid, .count = 1};
        rh_obstacles_at(&all, 0, 0, &all, NULL);
        int list, empty = 0;
        for (uint64_t id = 0; id < 4000; id++) {
            rh_dvec3 p = random_point(id, 1.3);
            double radius = 0.02 + 0.3 * rh_random(3, id, 0, 3);
            if (rh_obstacles_near(&all, p, radius, &list, 1) > 0) continue;
            empty++;
            for (uint64_t k = 0; k < 50; k++) {
                rh_dvec3 q = rh_d3_add(p, rh_d3_scale(rh_d3_unit(random_point(50 * id + k, 1)), radius));
                assert_int_equal(fabs(q.x) + fabs(q.y) + fabs(q.z) < 1, inside_out);
            }
        }
        if (empty <= 25) fail_msg("only %d of 4000 balls came out free", empty);
    }
    rh_mesh_sdf_free(sdf);
}

static void a_short_list_keeps_the_nearest(void **state)
{
    (void)state;
    rh_obstacles all = example();
    int list[2], count = rh_obstacles_near(&all, rh_d3(-1, 0, 0), 50, list, 2);
    assert_int_equal(count, 2);
    int which;
    assert_near(rh_obstacles_distance_of(&all, list, count, rh_d3(-1, 0, 0), &which), -0.3, 1e-12);
    assert_int_equal(which, 2);
    assert_true(list[0] < list[1]);
    count = rh_obstacles_near(&all, rh_d3(0, -9, 0), 0.1, list, 2);  // deep below the plane and beyond the container
    assert_int_equal(count, 2);
    rh_obstacles_free(&all);
}

static void flat_solids_ignore_the_third_axis(void **state)
{
    (void)state;
    rh_obstacles all = example();
    for (int i = 0; i < all.count; i++) all.items[i].shape.flat = true;
    rh_obstacles_at(&all, 1.5, 0, &all, NULL);
    for (uint64_t id = 0; id < 200; id++) {
        rh_dvec3 p = random_point(id, 2), q = rh_d3(p.x, p.y, 0);
        int which, other;
        assert_true(rh_obstacles_distance(&all, p, &which) == rh_obstacles_distance(&all, q, &other) && which == other);
        assert_true(rh_obstacles_normal(&all, which, q).z == 0);
        assert_true(rh_obstacles_velocity(&all, 3, q).z == 0);
    }
    rh_obstacles_free(&all);
}

// One that others move has the pose and the velocity it was given, whatever time is asked for.
static void dynamic_solids_are_where_their_state_says(void **state)
{
    (void)state;
    rh_obstacles all = example(), then;
    rh_obstacle *box = &all.items[3];
    box->kind = RH_SOLID_DYNAMIC;
    box->pose = (rh_pose){.rotation = rh_rotation(rh_d3(0, 0, 90)), .translation = {0, 2, 0}, .pivot = {0.1, 0, 0}};
    box->linear = rh_d3(1, 0, 0), box->angular = rh_d3(0, 0, 3);
    box->mass.mass = 7;
    assert_int_equal(rh_obstacles_create(&all, &then, NULL), RH_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rh_obstacles_at(&all, 5.0 * i, 0.1, &then, NULL), RH_OK);
        const rh_obstacle *o = &then.items[3];
        assert_memory_equal(&o->pose, &box->pose, sizeof o->pose);
        assert_true(!o->rests && then.any_moving && o->mass.mass == 7);
        rh_dvec3 v = rh_obstacles_velocity(&then, 3, rh_d3(0.1, 2.5, 0));  // half a metre above its origin
        assert_near(v.x, 1 - 1.5, 1e-12);
        assert_near(v.y, 0, 1e-12);
    }
    rh_obstacles_free(&then);
    rh_obstacles_free(&all);
}

static void impulses_turn_about_any_point(void **state)
{
    (void)state;
    // 2 kg m/s along y at x = 3 m.
    rh_impulse i = {.linear = {0, 2, 0}, .angular = {0, 0, 6}};
    assert_near(rh_impulse_about(&i, rh_d3(3, 8, 0)).z, 0, 1e-12);
    assert_near(rh_impulse_about(&i, rh_d3(1, 0, 0)).z, 4, 1e-12);
    assert_near(rh_impulse_about(&i, rh_d3(3, 0, 1)).x, 2, 1e-12);
}

static int nothing_is_held(void **state)
{
    (void)state;
    return rh_memory_bytes() == 0 ? 0 : -1;
}

// Many solids are in a tree: the nearest is that of a loop over all, to the bit, the first of several as near.
static void many_are_asked_as_few(void **state)
{
    (void)state;
    enum { COUNT = 80, TWIN = 40 };
    rh_status status = {0};
    rh_obstacles all = {.count = COUNT};
    all.items = rh_alloc_zero(COUNT * sizeof *all.items, "test", NULL);
    assert_non_null(all.items);
    all.items[0] = (rh_obstacle){.shape = {.kind = RH_SHAPE_BOX, .as.box = {{-4, -4, -4}, {4, 4, 4}, 0}},
                                 .inside_out = true};
    for (int i = 1; i < COUNT; i++) {
        rh_dvec3 c = random_point((uint64_t)(1000 + i), 3);
        double size = 0.1 + 0.5 * rh_random(5, (uint64_t)i, 0, 0);
        if (i > TWIN) all.items[i] = all.items[i - TWIN];  // in the same place
        else if (i & 1) all.items[i].shape = (rh_shape){.kind = RH_SHAPE_SPHERE, .as.sphere = {c, size}};
        else
            all.items[i] = (rh_obstacle){
                .shape = {.kind = RH_SHAPE_BOX, .as.box = {c, rh_d3_add(c, rh_d3(size, 2 * size, 0.5 * size)), 0}},
                .motion = {.keys = {spin, 2}}};
    }
    assert_int_equal(rh_obstacles_at(&all, 0.7, 0, &all, &status), RH_OK);
    assert_non_null(all.tree.nodes);
    for (uint64_t n = 0; n < 3000; n++) {
        rh_dvec3 x = random_point(n, 5);
        int which, first = -1;
        double least = 1e30, found = rh_obstacles_distance(&all, x, &which);
        for (int i = 0; i < COUNT; i++) {
            double d = rh_obstacle_distance(&all.items[i], x);
            if (d < least) least = d, first = i;
            assert_true(rh_obstacle_within(&all, i, x, 0.5) == (d <= 0.5));
        }
        assert_true(found == least && which == first);
    }
    // Poses that change without the solids' being asked for a time.
    all.items[1].pose.translation = rh_d3(0.5, 0, 0);
    rh_obstacles_moved(&all);
    rh_dvec3 middle = rh_d3_add(all.items[1].shape.as.sphere.center, rh_d3(0.5, 0, 0));
    assert_true(rh_obstacles_distance(&all, middle, NULL) <= -all.items[1].shape.as.sphere.radius);
    rh_obstacles_free(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_solid_wins),
        cmocka_unit_test(placing_sets_flags_and_rates),
        cmocka_unit_test(asking_moves_nothing),
        cmocka_unit_test(normals_point_into_free_space),
        cmocka_unit_test(velocity_is_that_of_the_moving_solid),
        cmocka_unit_test(near_lists_miss_nothing),
        cmocka_unit_test(near_lists_allow_for_sampled_meshes),
        cmocka_unit_test(a_short_list_keeps_the_nearest),
        cmocka_unit_test(flat_solids_ignore_the_third_axis),
        cmocka_unit_test(dynamic_solids_are_where_their_state_says),
        cmocka_unit_test(impulses_turn_about_any_point),
        cmocka_unit_test(many_are_asked_as_few),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_is_held);
}
