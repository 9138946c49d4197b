// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Which side of a thin wall places, particles and faces are on.
#include "base/memory.h"
#include "check.h"
#include "solid/thin.h"

enum { SHEETS = 2 };
static const double H = 0.1;

// A plate of a tenth of a cell across x, and one across y.
static rh_obstacles plates(rh_obstacle items[SHEETS], double x, double y, bool flat)
{
    for (int i = 0; i < SHEETS; i++) {
        rh_dvec3 low = {-1, -1, -1}, high = {1, 1, 1};
        (&low.x)[i] = (i ? y : x) - 0.05 * H;
        (&high.x)[i] = (i ? y : x) + 0.05 * H;
        items[i] = (rh_obstacle){.shape = {.kind = RH_SHAPE_BOX, .as.box = {.min = low, .max = high}, .flat = flat},
                                 .thin = true};
    }
    rh_obstacles all = {.items = items, .count = SHEETS};
    rh_obstacles_at(&all, 0, 0, &all, NULL);
    return all;
}

static void sides_are_told_by_the_way(void **state)
{
    (void)state;
    rh_obstacle items[SHEETS];
    rh_obstacles all = plates(items, 0.02, -0.5, true);
    rh_thin_list list;
    rh_thin_near(&all, rh_d3(0, 0, 0), H, &list);
    assert_int_equal(list.count, 1);
    rh_thin_place left = rh_thin_center(&all, &list, H, rh_d3(-0.05, 0.05, 0)),
                  right = rh_thin_center(&all, &list, H, rh_d3(0.05, 0.05, 0)),
                  up = rh_thin_center(&all, &list, H, rh_d3(0.05, 0.15, 0));
    assert_true(rh_thin_between(&all, &list, H, &left, &right));
    assert_false(rh_thin_between(&all, &list, H, &right, &up));
    // One whose centre is in the wall is on no side.
    rh_thin_place in = rh_thin_center(&all, &list, H, rh_d3(0.02, 0.05, 0));
    assert_true(rh_thin_between(&all, &list, H, &in, &up));
}

// A place is seen where all cells around lie on its own side, and nowhere else when they do.
static void the_grid_sees_one_side(void **state)
{
    (void)state;
    rh_obstacle items[SHEETS];
    rh_obstacles all = plates(items, 0.02, 0.01, true);
    rh_thin_list list;
    rh_thin_near(&all, rh_d3(0, 0, 0), H, &list);
    assert_int_equal(list.count, 2);
    rh_dvec3 seen;
    assert_true(rh_thin_view(&all, &list, 2, H, rh_d3(0.03, 0.03, 0), &seen));  // into the corner's own cell
    assert_true(fabs(seen.x - 0.05) < 1e-9 && fabs(seen.y - 0.05) < 1e-9);
    assert_true(rh_thin_view(&all, &list, 2, H, rh_d3(0.01, 0.3, 0), &seen));  // across x only, and to the left
    assert_true(fabs(seen.x + 0.05) < 1e-9 && seen.y == 0.3);
    assert_false(rh_thin_view(&all, &list, 2, H, rh_d3(0.07, 0.33, 0), &seen));  // the wall is behind the centre
    assert_true(seen.x == 0.07 && seen.y == 0.33);
}

// A way that leads through ends at the gap, slid along; one beside is left alone.
static void no_way_leads_through(void **state)
{
    (void)state;
    rh_obstacle items[SHEETS];
    plates(items, 0.02, -0.5, false);
    const rh_shape *shape = &items[0].shape;
    rh_thin_way way = {.from = {-0.3, 0, 0}, .to = {0.5, 0.4, 0.2}, .gap = 0.005};
    assert_true(rh_thin_walk(shape, &way));
    assert_true(fabs(way.to.x - (0.015 - 0.005)) < 1e-6);
    assert_true(fabs(way.to.y - 0.4) < 1e-6 && fabs(way.to.z - 0.2) < 1e-6);
    assert_true(way.normal.x == -1);
    way = (rh_thin_way){.from = {-0.3, 0, 0}, .to = {-0.02, 0.4, 0.2}, .gap = 0.005};
    assert_false(rh_thin_walk(shape, &way));
    // Step by step against the wall for ever: it never gets nearer.
    rh_dvec3 x = {-0.01, 0, 0};
    for (int n = 0; n < 1000; n++) {
        way = (rh_thin_way){.from = x, .to = {x.x + 0.05, x.y + 1e-4, x.z}, .gap = 0.005};
        rh_thin_walk(shape, &way);
        x = rh_d3_from(rh_v3_from(way.to));
    }
    assert_true(fabs(x.x - 0.01) < 1e-5);
}

// A hollow box of triangles with walls of 0.02, and a full one; turned inside out the answer is the same.
static void thickness_of(const double inner, bool inwards, double *thickness)
{
    static const uint32_t quads[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                         {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    rh_vec3 vertices[16];
    uint32_t triangles[24][3];
    for (int n = 0; n < 16; n++) {
        float r = n < 8 ? 0.5f : (float)inner;
        vertices[n] = rh_v3(n & 1 ? r : -r, n & 2 ? r : -r, n & 4 ? r : -r);
    }
    for (int shell = 0; shell < 2; shell++)
        for (int q = 0; q < 6; q++)
            for (int half = 0; half < 2; half++) {
                uint32_t *t = triangles[12 * shell + 2 * q + half], base = 8 * (uint32_t)shell;
                bool turned = (shell == 1) != inwards;
                t[0] = base + quads[q][0];
                t[turned ? 2 : 1] = base + quads[q][half ? 2 : 1];
                t[turned ? 1 : 2] = base + quads[q][half ? 3 : 2];
            }
    rh_mesh mesh = {vertices, triangles, inner > 0 ? 16 : 8, inner > 0 ? 24 : 12};
    rh_status status = {0};
    assert_int_equal(rh_mesh_thickness(&mesh, 0.16, thickness, &status), RH_OK);
}

static void meshes_are_measured(void **state)
{
    (void)state;
    int64_t blocks = rh_memory_blocks();
    double thickness;
    thickness_of(0, false, &thickness);
    assert_true(thickness == 0.16);
    thickness_of(0.48, false, &thickness);
    assert_true(fabs(thickness - 0.02) < 0.011);
    thickness_of(0.48, true, &thickness);
    assert_true(fabs(thickness - 0.02) < 0.011);
    thickness_of(0.25, false, &thickness);
    assert_true(thickness == 0.16);
    assert_int_equal(rh_memory_blocks(), blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sides_are_told_by_the_way),
        cmocka_unit_test(the_grid_sees_one_side),
        cmocka_unit_test(no_way_leads_through),
        cmocka_unit_test(meshes_are_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
