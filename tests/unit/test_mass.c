// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Volume, centre and inertia of shapes and meshes against the closed forms of textbooks (for example L. D. Landau, E.
// M. Lifshitz, "Mechanics", section 32, problem 2; a torus by Pappus).
#include <math.h>
#include <string.h>
#include "solid/mass.h"
#include "support.h"

static const double PI = 3.14159265358979323846, DENSITY = 700;

// Equal to a share of the largest part.
static void assert_inertia(rh_mat3 found, double xx, double yy, double zz, double share)
{
    const double expected[3] = {xx, yy, zz};
    double size = fmax(xx, fmax(yy, zz));
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) assert_near((&found.row[r].x)[c], r == c ? expected[r] : 0, share * size);
}

static void assert_point(rh_dvec3 found, double x, double y, double z, double distance)
{
    assert_true(rh_d3_length(rh_d3_sub(found, rh_d3(x, y, z))) <= distance);
}

static rh_mass mass_of(const rh_shape *shape)
{
    rh_mass m;
    rh_status status = {0};
    assert_ok(rh_mass_of_shape(shape, DENSITY, &m, &status));
    assert_near(m.mass, DENSITY * m.volume, 1e-9 * m.mass);
    return m;
}

static void shapes_have_closed_forms(void **state)
{
    (void)state;
    rh_mass m = mass_of(&(rh_shape){.kind = RH_SHAPE_BOX, .as.box = {{1, -2, 3}, {1.4, -1, 3.7}, 0}});
    double a = 0.4, b = 1, c = 0.7, kg = DENSITY * a * b * c;
    assert_near(m.mass, kg, 1e-9 * kg);
    assert_point(m.center, 1.2, -1.5, 3.35, 1e-9);
    assert_inertia(m.inertia, kg * (b * b + c * c) / 12, kg * (a * a + c * c) / 12, kg * (a * a + b * b) / 12, 1e-9);

    double r = 0.3;
    m = mass_of(&(rh_shape){.kind = RH_SHAPE_SPHERE, .as.sphere = {{5, 0, -1}, r}});
    kg = DENSITY * 4 / 3 * PI * r * r * r;
    assert_near(m.mass, kg, 2e-4 * kg);
    assert_point(m.center, 5, 0, -1, 1e-6);
    assert_inertia(m.inertia, 0.4 * kg * r * r, 0.4 * kg * r * r, 0.4 * kg * r * r, 3e-4);

    double l = 0.9;
    m = mass_of(&(rh_shape){.kind = RH_SHAPE_CYLINDER, .as.cylinder = {{1, 0, 0}, {1, l, 0}, r}});
    kg = DENSITY * PI * r * r * l;
    assert_near(m.mass, kg, 3e-4 * kg);
    assert_point(m.center, 1, 0.5 * l, 0, 1e-6);
    double side = kg * (3 * r * r + l * l) / 12;
    assert_inertia(m.inertia, side, 0.5 * kg * r * r, side, 4e-4);

    m = mass_of(&(rh_shape){.kind = RH_SHAPE_CAPSULE, .as.capsule = {{0, 0, 0}, {l, 0, 0}, r}});
    double rod = DENSITY * PI * r * r * l, ball = DENSITY * 4 / 3 * PI * r * r * r;
    side = rod * (3 * r * r + l * l) / 12 + ball * (0.4 * r * r + 0.25 * l * l + 0.375 * l * r);
    assert_near(m.mass, rod + ball, 3e-4 * (rod + ball));
    assert_inertia(m.inertia, 0.5 * rod * r * r + 0.4 * ball * r * r, side, side, 5e-4);

    double R = 0.5;
    r = 0.15;
    m = mass_of(&(rh_shape){.kind = RH_SHAPE_TORUS, .as.torus = {{0, 1, 0}, {0, 1, 0}, R, r}});
    kg = DENSITY * 2 * PI * PI * R * r * r;
    assert_near(m.mass, kg, 2e-3 * kg);
    side = kg * (0.5 * R * R + 0.625 * r * r);
    assert_inertia(m.inertia, side, kg * (R * R + 0.75 * r * r), side, 2e-3);
}

static void askew_they_weigh_the_same(void **state)
{
    (void)state;
    double r = 0.3, l = 0.9, kg = DENSITY * PI * r * r * l;
    rh_dvec3 axis = rh_d3_unit(rh_d3(2, 1, -2)), from = {0.2, 0.1, 0.3};
    rh_mass m = mass_of(
        &(rh_shape){.kind = RH_SHAPE_CYLINDER, .as.cylinder = {from, rh_d3_add(from, rh_d3_scale(axis, l)), r}});
    double along = 0.5 * kg * r * r, side = kg * (3 * r * r + l * l) / 12;
    assert_near(m.mass, kg, 2e-3 * kg);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            assert_near((&m.inertia.row[i].x)[j], (i == j ? side : 0) + (along - side) * (&axis.x)[i] * (&axis.x)[j],
                        3e-3 * side);
}

static void in_the_plane_all_is_per_metre(void **state)
{
    (void)state;
    double r = 0.25;
    rh_mass m = mass_of(&(rh_shape){.kind = RH_SHAPE_SPHERE, .as.sphere = {{1, 2, 7}, r}, .flat = true});
    assert_near(m.volume, PI * r * r, 2e-4 * PI * r * r);
    assert_point(m.center, 1, 2, 0, 1e-6);
    assert_near(m.inertia.row[2].z, 0.5 * m.mass * r * r, 3e-4 * m.mass * r * r);
}

// A corner of a cube: corners at the origin and at 1 along each axis; the other way round it is the same.
static void meshes_are_exact(void **state)
{
    (void)state;
    rh_vec3 v[8] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    uint32_t out[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}},
             in[4][3] = {{0, 1, 2}, {0, 3, 1}, {0, 2, 3}, {1, 3, 2}};
    rh_status status = {0};
    rh_mass m;
    for (int side = 0; side < 2; side++) {
        rh_mesh mesh = {v, side ? in : out, 4, 4};
        assert_ok(rh_mass_of_mesh(&mesh, DENSITY, &m, &status));
        assert_near(m.volume, 1 / 6.0, 1e-14);
        assert_point(m.center, 0.25, 0.25, 0.25, 1e-14);
        // About the corner: integral x^2 = 1/60, integral x y = 1/120. About the centre less V/16 of each.
        double xx = DENSITY * (1 / 60.0 - 1 / 96.0), xy = DENSITY * (1 / 120.0 - 1 / 96.0);
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 3; c++) assert_near((&m.inertia.row[r].x)[c], r == c ? 2 * xx : -xy, 1e-12 * DENSITY);
    }
    // A cube, turned and far away: as the pose turns it.
    static const uint32_t quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                         {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    uint32_t triangles[12][3];
    for (int q = 0; q < 6; q++) {
        memcpy(triangles[2 * q], (uint32_t[3]){quads[q][0], quads[q][1], quads[q][2]}, sizeof *triangles);
        memcpy(triangles[2 * q + 1], (uint32_t[3]){quads[q][0], quads[q][2], quads[q][3]}, sizeof *triangles);
    }
    for (int k = 0; k < 8; k++) v[k] = rh_v3((float)(k & 1), 0.5f * (float)(k >> 1 & 1), 0.25f * (float)(k >> 2 & 1));
    rh_mesh box = {v, triangles, 8, 12};
    rh_mass straight;
    assert_ok(rh_mass_of_mesh(&box, DENSITY, &straight, &status));
    double kg = DENSITY / 8;
    assert_inertia(straight.inertia, kg * (0.25 + 0.0625) / 12, kg * 1.0625 / 12, kg * 1.25 / 12, 1e-9);
    rh_mesh_transform(&box, 1, rh_d3(20, 30, 40), rh_d3(100, -50, 7));
    assert_ok(rh_mass_of_mesh(&box, DENSITY, &m, &status));
    rh_pose pose = {.rotation = rh_rotation(rh_d3(20, 30, 40))};
    rh_mat3 turned = rh_mass_inertia(&straight, &pose);
    assert_near(m.volume, 0.125, 1e-4);  // corners 100 m away are floats
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) assert_near((&m.inertia.row[r].x)[c], (&turned.row[r].x)[c], 1e-3 * kg);
    rh_mass heavy = rh_mass_weighing(&straight, 2 * straight.mass);
    assert_near(heavy.inertia.row[1].y, 2 * straight.inertia.row[1].y, 1e-9);
    assert_near(heavy.volume, straight.volume, 0);
}

// A mesh by its samples, as obstacles have it, is what its triangles say.
static void samples_agree_with_triangles(void **state)
{
    (void)state;
    rh_vec3 v[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    uint32_t t[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    rh_mesh mesh = {v, t, 4, 4};
    rh_shape shape = {.kind = RH_SHAPE_MESH};
    rh_status status = {0};
    rh_mass exact;
    assert_ok(rh_mesh_sdf_create(&mesh, 0.02, &shape.mesh, &status));
    assert_ok(rh_mass_of_mesh(&mesh, DENSITY, &exact, &status));
    rh_mass m = mass_of(&shape);
    assert_near(m.mass, exact.mass, 0.01 * exact.mass);
    assert_point(m.center, 0.25, 0.25, 0.25, 0.002);
    assert_near(m.inertia.row[0].x, exact.inertia.row[0].x, 0.01 * exact.inertia.row[0].x);
    rh_mesh_sdf_free(shape.mesh);
}

static void what_has_no_mass_is_told(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_mass m;
    rh_shape plane = {.kind = RH_SHAPE_PLANE, .as.plane = {{0, 0, 0}, {0, 1, 0}}};
    assert_int_equal(rh_mass_of_shape(&plane, DENSITY, &m, &status), RH_USER);
    assert_non_null(strstr(status.message, "no end"));
    rh_vec3 v[3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 1}};
    uint32_t t[1][3] = {{0, 1, 2}};
    rh_mesh sheet = {v, t, 3, 1};
    rh_status_clear(&status);
    assert_int_equal(rh_mass_of_mesh(&sheet, DENSITY, &m, &status), RH_USER);
    assert_non_null(strstr(status.message, "encloses nothing"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_have_closed_forms),      cmocka_unit_test(askew_they_weigh_the_same),
        cmocka_unit_test(in_the_plane_all_is_per_metre), cmocka_unit_test(meshes_are_exact),
        cmocka_unit_test(samples_agree_with_triangles),  cmocka_unit_test(what_has_no_mass_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
