// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Shapes against points sampled on their surfaces, normals against differences of the distance, parameter checks, and
// motion against finite differences in time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/memory.h"
#include "base/random.h"
#include "solid/shape.h"

// cmocka compares in float.
static void assert_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("found %.17g, expected %.17g within %g", found, expected, tolerance);
}

static const double pi = 3.14159265358979323846;

static double uniform(uint64_t id, uint32_t lane, double low, double high)
{
    return low + (high - low) * rh_random(7, id, 0, lane);
}

static rh_dvec3 random_point(uint64_t id, double reach)
{
    return rh_d3(uniform(id, 0, -reach, reach), uniform(id, 1, -reach, reach), uniform(id, 2, -reach, reach));
}

static rh_shape make_sphere(void) { return (rh_shape){.kind = RH_SHAPE_SPHERE, .as.sphere = {{0.2, -0.1, 0.3}, 0.7}}; }
static rh_shape make_box(double rounding)
{
    return (rh_shape){.kind = RH_SHAPE_BOX, .as.box = {{-0.5, -0.3, -0.2}, {0.6, 0.4, 0.9}, rounding}};
}
static rh_shape make_plane(void)
{
    return (rh_shape){.kind = RH_SHAPE_PLANE, .as.plane = {{0.1, 0.2, 0.3}, {1, 2, -2}}};
}
static rh_shape make_cylinder(void)
{
    return (rh_shape){.kind = RH_SHAPE_CYLINDER, .as.cylinder = {{-0.3, -0.4, 0.1}, {0.4, 0.5, -0.2}, 0.3}};
}
static rh_shape make_capsule(void)
{
    return (rh_shape){.kind = RH_SHAPE_CAPSULE, .as.capsule = {{-0.3, -0.4, 0.1}, {0.4, 0.5, -0.2}, 0.3}};
}
static rh_shape make_torus(void)
{
    return (rh_shape){.kind = RH_SHAPE_TORUS, .as.torus = {{0.1, 0, -0.1}, {1, 2, 0.5}, 0.6, 0.25}};
}

// Two unit vectors at right angles to a and each other.
static void frame(rh_dvec3 a, rh_dvec3 *u, rh_dvec3 *v)
{
    *u = rh_d3_unit(rh_d3_cross(a, fabs(a.x) < 0.5 ? rh_d3(1, 0, 0) : rh_d3(0, 1, 0)));
    *v = rh_d3_cross(a, *u);
}

static rh_dvec3 on_circle(rh_dvec3 u, rh_dvec3 v, double radius, double angle)
{
    return rh_d3_add(rh_d3_scale(u, radius * cos(angle)), rh_d3_scale(v, radius * sin(angle)));
}

// --- surfaces by their own parametrisation, independent of the distance code -----------------------------------------

static rh_dvec3 on_sphere(const rh_shape *s, double a, double b, int part)
{
    (void)part;
    double z = 2 * a - 1, r = sqrt(1 - z * z);
    rh_dvec3 n = rh_d3(r * cos(2 * pi * b), r * sin(2 * pi * b), z);
    return rh_d3_add(s->as.sphere.center, rh_d3_scale(n, s->as.sphere.radius));
}

static rh_dvec3 on_box(const rh_shape *s, double a, double b, int part)
{
    double low[3] = {s->as.box.min.x, s->as.box.min.y, s->as.box.min.z};
    double high[3] = {s->as.box.max.x, s->as.box.max.y, s->as.box.max.z}, p[3];
    int axis = part % 3;
    p[axis] = part < 3 ? low[axis] : high[axis];
    p[(axis + 1) % 3] = low[(axis + 1) % 3] + a * (high[(axis + 1) % 3] - low[(axis + 1) % 3]);
    p[(axis + 2) % 3] = low[(axis + 2) % 3] + b * (high[(axis + 2) % 3] - low[(axis + 2) % 3]);
    return rh_d3(p[0], p[1], p[2]);
}

static rh_dvec3 on_cylinder(const rh_shape *s, double a, double b, int part)
{
    rh_dvec3 span = rh_d3_sub(s->as.cylinder.to, s->as.cylinder.from), u, v;
    frame(rh_d3_unit(span), &u, &v);
    double along = part == 0 ? a : part - 1, radius = s->as.cylinder.radius * (part == 0 ? 1 : a);
    return rh_d3_add(rh_d3_add(s->as.cylinder.from, rh_d3_scale(span, along)), on_circle(u, v, radius, 2 * pi * b));
}

static rh_dvec3 on_capsule(const rh_shape *s, double a, double b, int part)
{
    rh_dvec3 span = rh_d3_sub(s->as.capsule.to, s->as.capsule.from), axis = rh_d3_unit(span), u, v;
    frame(axis, &u, &v);
    double r = s->as.capsule.radius;
    if (part == 0)
        return rh_d3_add(rh_d3_add(s->as.capsule.from, rh_d3_scale(span, a)), on_circle(u, v, r, 2 * pi * b));
    double lift = part == 1 ? -a : a;  // half balls
    rh_dvec3 end = part == 1 ? s->as.capsule.from : s->as.capsule.to;
    return rh_d3_add(rh_d3_add(end, rh_d3_scale(axis, r * lift)), on_circle(u, v, r * sqrt(1 - a * a), 2 * pi * b));
}

static rh_dvec3 on_torus(const rh_shape *s, double a, double b, int part)
{
    (void)part;
    rh_dvec3 axis = rh_d3_unit(s->as.torus.axis), u, v;
    frame(axis, &u, &v);
    rh_dvec3 out = on_circle(u, v, 1, 2 * pi * a);
    rh_dvec3 tube = on_circle(out, axis, s->as.torus.minor, 2 * pi * b);
    return rh_d3_add(s->as.torus.center, rh_d3_add(rh_d3_scale(out, s->as.torus.major), tube));
}

typedef rh_dvec3 surface(const rh_shape *shape, double a, double b, int part);

// The nearest of a fine net of surface points is an upper bound of the distance, and close.
static double brute_force(const rh_shape *shape, surface *on, int parts, rh_dvec3 p)
{
    double best = INFINITY;
    enum { N = 120 };
    for (int part = 0; part < parts; part++)
        for (int i = 0; i <= N; i++)
            for (int j = 0; j <= N; j++)
                best = fmin(best, rh_d3_length(rh_d3_sub(p, on(shape, (double)i / N, (double)j / N, part))));
    return best;
}

static void compare(rh_shape shape, surface *on, int parts, bool (*inside)(const rh_shape *, rh_dvec3))
{
    for (uint64_t id = 0; id < 150; id++) {
        rh_dvec3 p = random_point(id, 1.3);
        double exact = rh_shape_distance(&shape, p), near = brute_force(&shape, on, parts, p);
        assert_true(fabs(exact) <= near + 1e-12);
        assert_true(near - fabs(exact) < 0.02);
        assert_int_equal(exact < 0, inside(&shape, p));
    }
}

static bool in_sphere(const rh_shape *s, rh_dvec3 p)
{
    return rh_d3_length(rh_d3_sub(p, s->as.sphere.center)) < s->as.sphere.radius;
}
static bool in_box(const rh_shape *s, rh_dvec3 p)
{
    const rh_box_params *b = &s->as.box;
    return p.x > b->min.x && p.y > b->min.y && p.z > b->min.z && p.x < b->max.x && p.y < b->max.y && p.z < b->max.z;
}
static bool in_cylinder(const rh_shape *s, rh_dvec3 p)
{
    rh_dvec3 span = rh_d3_sub(s->as.cylinder.to, s->as.cylinder.from), q = rh_d3_sub(p, s->as.cylinder.from);
    double t = rh_d3_dot(q, span) / rh_d3_dot(span, span);
    return t > 0 && t < 1 && rh_d3_length(rh_d3_cross(q, rh_d3_unit(span))) < s->as.cylinder.radius;
}
static bool in_capsule(const rh_shape *s, rh_dvec3 p)
{
    rh_shape cylinder = {.kind = RH_SHAPE_CYLINDER,
                         .as.cylinder = {s->as.capsule.from, s->as.capsule.to, s->as.capsule.radius}};
    return in_cylinder(&cylinder, p) || rh_d3_length(rh_d3_sub(p, s->as.capsule.from)) < s->as.capsule.radius ||
           rh_d3_length(rh_d3_sub(p, s->as.capsule.to)) < s->as.capsule.radius;
}
static bool in_torus(const rh_shape *s, rh_dvec3 p)
{
    rh_dvec3 q = rh_d3_sub(p, s->as.torus.center), axis = rh_d3_unit(s->as.torus.axis);
    double along = rh_d3_dot(q, axis), away = rh_d3_length(rh_d3_cross(q, axis)) - s->as.torus.major;
    return along * along + away * away < s->as.torus.minor * s->as.torus.minor;
}

static void distances_agree_with_sampled_surfaces(void **state)
{
    (void)state;
    compare(make_sphere(), on_sphere, 1, in_sphere);
    compare(make_box(0), on_box, 6, in_box);
    compare(make_cylinder(), on_cylinder, 3, in_cylinder);
    compare(make_capsule(), on_capsule, 3, in_capsule);
    compare(make_torus(), on_torus, 1, in_torus);
}

// A rounded box is all points within the rounding of a smaller box.
static void rounded_box_is_a_smaller_box_grown(void **state)
{
    (void)state;
    rh_shape round = make_box(0.15), small = make_box(0);
    small.as.box.min = rh_d3_add(small.as.box.min, rh_d3(0.15, 0.15, 0.15));
    small.as.box.max = rh_d3_sub(small.as.box.max, rh_d3(0.15, 0.15, 0.15));
    for (uint64_t id = 0; id < 500; id++) {
        rh_dvec3 p = random_point(id, 1.3);
        assert_near(rh_shape_distance(&round, p), rh_shape_distance(&small, p) - 0.15, 1e-12);
    }
    assert_near(rh_shape_distance(&round, rh_d3(2, 0, 0.3)), 1.4, 1e-12);
}

static void plane_is_a_half_space(void **state)
{
    (void)state;
    rh_shape plane = make_plane();
    assert_near(rh_shape_distance(&plane, rh_d3(0.1, 0.2, 0.3)), 0, 1e-15);
    assert_near(rh_shape_distance(&plane, rh_d3(1.1, 2.2, -1.7)), 3, 1e-12);
    assert_near(rh_shape_distance(&plane, rh_d3(-0.9, -1.8, 2.3)), -3, 1e-12);
}

static rh_dvec3 gradient(const rh_shape *s, rh_dvec3 p)
{
    const double h = 1e-6;
    rh_dvec3 x = rh_d3(h, 0, 0), y = rh_d3(0, h, 0), z = rh_d3(0, 0, h);
    return rh_d3_scale(rh_d3(rh_shape_distance(s, rh_d3_add(p, x)) - rh_shape_distance(s, rh_d3_sub(p, x)),
                             rh_shape_distance(s, rh_d3_add(p, y)) - rh_shape_distance(s, rh_d3_sub(p, y)),
                             rh_shape_distance(s, rh_d3_add(p, z)) - rh_shape_distance(s, rh_d3_sub(p, z))),
                       0.5 / h);
}

static int all_shapes(rh_shape out[7])
{
    out[0] = make_sphere(), out[1] = make_box(0), out[2] = make_box(0.1), out[3] = make_plane();
    out[4] = make_cylinder(), out[5] = make_capsule(), out[6] = make_torus();
    return 7;
}

static void normals_are_gradients(void **state)
{
    (void)state;
    rh_shape shapes[7];
    int count = all_shapes(shapes);
    for (int i = 0; i < 2 * count; i++) {
        rh_shape shape = shapes[i % count];
        shape.flat = i >= count;
        int tested = 0;
        for (uint64_t id = 0; id < 400; id++) {
            rh_dvec3 p = random_point(id, 1.3), g = gradient(&shape, p), n = rh_shape_normal(&shape, p);
            assert_near(rh_d3_length(n), 1, 1e-9);
            // A tilted torus in a flat run keeps its distance in space, whose slope in the plane is less than 1.
            bool partial = shape.flat && shape.kind == RH_SHAPE_TORUS;
            if (partial ? rh_d3_length(g) < 0.1 : fabs(rh_d3_length(g) - 1) > 1e-6) continue;  // across a ridge
            assert_true(rh_d3_length(rh_d3_sub(rh_d3_unit(g), n)) < 1e-5);
            tested++;
        }
        assert_true(tested > 360);
    }
}

static void normals_exist_everywhere(void **state)
{
    (void)state;
    rh_shape shapes[7];
    int count = all_shapes(shapes);
    rh_dvec3 places[] = {{0.2, -0.1, 0.3}, {0.05, 0.05, 0.35},  {-0.3, -0.4, 0.1},
                         {0.4, 0.5, -0.2}, {0.05, 0.05, -0.05}, {0.1, 0, -0.1},
                         {0, 0, 0},        {1e20, -1e20, 1e20}, {1e-300, 0, 0}};
    for (int i = 0; i < 2 * count; i++) {
        rh_shape shape = shapes[i % count];
        shape.flat = i >= count;
        for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
            assert_near(rh_d3_length(rh_shape_normal(&shape, places[k])), 1, 1e-9);
            assert_true(isfinite(rh_shape_distance(&shape, places[k])));
        }
    }
}

// --- flat shapes -----------------------------------------------------------------------------------------------------

static double flat_at(rh_shape shape, double x, double y)
{
    shape.flat = true;
    double here = rh_shape_distance(&shape, rh_d3(x, y, 0)), above = rh_shape_distance(&shape, rh_d3(x, y, 5));
    assert_true(here == above);
    return here;
}

static void flat_shapes_are_sections(void **state)
{
    (void)state;
    assert_near(flat_at(make_sphere(), 1.2, -0.1), 0.3, 1e-12);
    assert_near(flat_at(make_box(0), 0, 0.3), -0.1, 1e-12);  // z faces do not count
    assert_near(flat_at(make_box(0), 0.9, 0.8), 0.5, 1e-12);
    assert_near(flat_at(make_plane(), 0.1 + 1, 0.2 + 2), sqrt(5), 1e-12);
    rh_shape rod = {.kind = RH_SHAPE_CYLINDER, .as.cylinder = {{0.5, 0.5, -1}, {0.5, 0.5, 1}, 0.25}};
    assert_near(flat_at(rod, 0.5, 1), 0.25, 1e-12);  // along z: a disc
    assert_near(flat_at(rod, 0.5, 0.5), -0.25, 1e-12);
    rh_shape bar = {.kind = RH_SHAPE_CYLINDER, .as.cylinder = {{-1, 0, 0.3}, {1, 0, 0.3}, 0.25}};
    assert_near(flat_at(bar, 0, 1), 0.75, 1e-12);  // in the plane: a rectangle
    assert_near(flat_at(bar, 1.3, 0.65), 0.5, 1e-12);
    assert_near(flat_at(bar, 0.9, 0), -0.1, 1e-12);
    rh_shape pill = {.kind = RH_SHAPE_CAPSULE, .as.capsule = {{-1, 0, 0.3}, {1, 0, -0.3}, 0.25}};
    assert_near(flat_at(pill, 1.3, 0.4), 0.25, 1e-12);
    rh_shape ring = {.kind = RH_SHAPE_TORUS, .as.torus = {{0, 0, 0.3}, {0, 0, 1}, 0.6, 0.2}};
    assert_near(flat_at(ring, 0, 0), 0.4, 1e-12);
    assert_near(flat_at(ring, 0.6, 0), -0.2, 1e-12);
    rh_shape wall = {.kind = RH_SHAPE_PLANE, .as.plane = {{0, 0, 0}, {0, 0, 1}}};
    assert_true(flat_at(wall, 3, 4) >= 1e29);  // never meets the plane of the run
}

static void bounds_hold_the_shape_tightly(void **state)
{
    (void)state;
    struct {
        rh_shape shape;
        surface *on;
        int parts;
    } cases[] = {{make_sphere(), on_sphere, 1},
                 {make_box(0.1), on_box, 6},
                 {make_cylinder(), on_cylinder, 3},
                 {make_capsule(), on_capsule, 3},
                 {make_torus(), on_torus, 1}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        rh_dbox box = rh_shape_bounds(&cases[c].shape), seen = {{9, 9, 9}, {-9, -9, -9}};
        for (uint64_t id = 0; id < 60000; id++) {
            rh_dvec3 p = cases[c].on(&cases[c].shape, uniform(id, 0, 0, 1), uniform(id, 1, 0, 1),
                                     (int)(id % (uint64_t)cases[c].parts));
            seen.min = rh_d3(fmin(seen.min.x, p.x), fmin(seen.min.y, p.y), fmin(seen.min.z, p.z));
            seen.max = rh_d3(fmax(seen.max.x, p.x), fmax(seen.max.y, p.y), fmax(seen.max.z, p.z));
        }
        assert_true(box.min.x <= seen.min.x + 1e-9 && box.min.y <= seen.min.y + 1e-9 && box.min.z <= seen.min.z + 1e-9);
        assert_true(box.max.x >= seen.max.x - 1e-9 && box.max.y >= seen.max.y - 1e-9 && box.max.z >= seen.max.z - 1e-9);
        assert_true(rh_d3_length(rh_d3_sub(box.min, seen.min)) < 0.02 &&
                    rh_d3_length(rh_d3_sub(box.max, seen.max)) < 0.02);
    }
    rh_shape plane = make_plane(), flat = make_sphere();
    assert_true(isinf(rh_shape_bounds(&plane).max.y) && isinf(rh_shape_bounds(&plane).min.x));
    flat.flat = true;
    assert_true(rh_shape_bounds(&flat).min.z == 0 && rh_shape_bounds(&flat).max.z == 0);
}

// --- parameter checks ------------------------------------------------------------------------------------------------

static void refused(rh_shape_kind kind, const void *object, const char *field, const char *part)
{
    rh_status status = {0};
    const char *blamed = NULL;
    assert_int_equal(rh_shape_tables[kind]->check(object, &blamed, &status), RH_USER);
    assert_non_null(blamed);
    assert_string_equal(blamed, field);
    assert_non_null(rh_params_find(rh_shape_tables[kind], blamed));
    if (!strstr(status.message, part)) fail_msg("'%s' lacks '%s'", status.message, part);
}

static void accepted(rh_shape_kind kind, const void *object)
{
    rh_status status = {0};
    const char *blamed = NULL;
    assert_int_equal(rh_shape_tables[kind]->check(object, &blamed, &status), RH_OK);
}

static void wrong_parameters_are_named(void **state)
{
    (void)state;
    refused(RH_SHAPE_SPHERE, &(rh_sphere_params){{0, 0, 0}, 0}, "radius", "above 0");
    refused(RH_SHAPE_SPHERE, &(rh_sphere_params){{0, 0, 0}, NAN}, "radius", "above 0");
    refused(RH_SHAPE_SPHERE, &(rh_sphere_params){{0, INFINITY, 0}, 1}, "center", "finite");
    refused(RH_SHAPE_BOX, &(rh_box_params){{0, 0, 0}, {1, 0, 1}, 0}, "max", "y of max is 0");
    refused(RH_SHAPE_BOX, &(rh_box_params){{0, 0, 0}, {1, 1, 1}, 0.6}, "rounding", "0 to 0.5");
    refused(RH_SHAPE_BOX, &(rh_box_params){{0, 0, 0}, {1, 1, 1}, -0.1}, "rounding", "0 to 0.5");
    refused(RH_SHAPE_PLANE, &(rh_plane_params){{0, 0, 0}, {0, 0, 0}}, "normal", "direction");
    refused(RH_SHAPE_CYLINDER, &(rh_cylinder_params){{1, 2, 3}, {1, 2, 3}, 1}, "to", "two different points");
    refused(RH_SHAPE_CYLINDER, &(rh_cylinder_params){{1, 2, 3}, {1, 2, 4}, -1}, "radius", "above 0");
    refused(RH_SHAPE_CAPSULE, &(rh_capsule_params){{1, 2, 3}, {1, 2, 3}, 1}, "to", "two different points");
    refused(RH_SHAPE_TORUS, &(rh_torus_params){{0, 0, 0}, {0, 1, 0}, 1, 1}, "minor", "less than major");
    refused(RH_SHAPE_TORUS, &(rh_torus_params){{0, 0, 0}, {0, 0, 0}, 1, 0.1}, "axis", "direction");
    refused(RH_SHAPE_MESH, &(rh_mesh_params){NULL, {0, 0, 0}, {0, 0, 0}, 0, {1, 1, 1}, 0}, "scale", "above 0");
    accepted(RH_SHAPE_SPHERE, &(rh_sphere_params){{0, 0, 0}, 1});
    accepted(RH_SHAPE_BOX, &(rh_box_params){{0, 0, 0}, {1, 1, 1}, 0.5});
    accepted(RH_SHAPE_TORUS, &(rh_torus_params){{0, 0, 0}, {0, 2, 0}, 1, 0.5});
    accepted(RH_SHAPE_MESH, &(rh_mesh_params){NULL, {0, 0, 0}, {0, 0, 0}, 0.01, {1, 1, 1}, 0});
    refused(RH_SHAPE_MESH, &(rh_mesh_params){NULL, {0, 0, 0}, {0, 0, 0}, 1, {1, -1, 1}, 0}, "stretch", "above 0");
    refused(RH_SHAPE_MESH, &(rh_mesh_params){NULL, {0, 0, 0}, {0, 0, 0}, 1, {1, 1, 1}, -1}, "thickness", "above");
    rh_motion_key keys[] = {{0, {0, 0, 0}, {0, 0, 0}}, {1, {0, 0, 0}, {0, 0, 0}}, {1, {1, 0, 0}, {0, 0, 0}}};
    rh_motion motion = {.keys = {keys, 3}};
    rh_status status = {0};
    const char *blamed = NULL;
    assert_int_equal(rh_motion_table.check(&motion, &blamed, &status), RH_USER);
    assert_string_equal(blamed, "keys");
    assert_non_null(strstr(status.message, "key 3 has time 1"));
    motion.keys.count = 2;
    assert_int_equal(rh_motion_table.check(&motion, &blamed, NULL), RH_OK);
}

// The tables' own words: defaults parse, names follow rh_shape_kind, every row has help.
static void tables_are_complete(void **state)
{
    (void)state;
    static const char *const names[] = {"sphere",  "box",   "plane", "cylinder",
                                        "capsule", "torus", "mesh",  "mesh_sequence"};
    for (int i = 0; i < 8; i++) {
        assert_string_equal(rh_shape_tables[i]->name, names[i]);
        for (int k = 0; k < rh_shape_tables[i]->count; k++) assert_non_null(rh_shape_tables[i]->rows[k].help);
    }
    assert_null(rh_shape_tables[8]);
    rh_mesh_params mesh;
    assert_int_equal(rh_params_defaults(rh_shape_tables[RH_SHAPE_MESH], &mesh, NULL), RH_OK);
    assert_true(mesh.scale == 1 && mesh.rotate.y == 0 && mesh.file == NULL);
    rh_params_free(rh_shape_tables[RH_SHAPE_MESH], &mesh);
    rh_motion motion;
    assert_int_equal(rh_params_defaults(&rh_motion_table, &motion, NULL), RH_OK);
    assert_true(motion.keys.count == 0 && motion.interpolation == RH_LINEAR && rh_motion_is_still(&motion));
    rh_params_free(&rh_motion_table, &motion);
}

// --- motion ----------------------------------------------------------------------------------------------------------

static rh_motion_key example_keys[] = {
    {0.5, {0, 0, 0}, {0, 0, 0}},
    {1.0, {0.4, 0.1, -0.2}, {30, -50, 400}},
    {2.5, {0.3, 0.9, 0.2}, {-70, 20, 100}},
    {2.9, {-0.5, 0.2, 0}, {10, 80, -60}},
};

static rh_motion example(rh_interpolation how)
{
    return (rh_motion){.keys = {example_keys, 4}, .interpolation = how, .pivot = {0.1, -0.3, 0.2}};
}

static void motion_passes_through_its_keys(void **state)
{
    (void)state;
    for (int how = RH_LINEAR; how <= RH_SMOOTH; how++) {
        rh_motion motion = example((rh_interpolation)how);
        for (int i = 0; i < 4; i++) {
            rh_pose pose = rh_motion_pose(&motion, example_keys[i].time);
            assert_true(rh_d3_length(rh_d3_sub(pose.translation, example_keys[i].translate)) < 1e-12);
            rh_mat3 r = rh_rotation(example_keys[i].rotate);
            for (int k = 0; k < 3; k++) assert_true(rh_d3_length(rh_d3_sub(pose.rotation.row[k], r.row[k])) < 1e-12);
        }
    }
}

// World velocity of a material point against a symmetric difference of its path.
static void velocity_is_the_derivative_of_the_pose(void **state)
{
    (void)state;
    const double h = 1e-6;
    for (int how = RH_LINEAR; how <= RH_SMOOTH; how++) {
        rh_motion motion = example((rh_interpolation)how);
        for (double t = 0.41; t < 3; t += 0.0137) {
            rh_pose before = rh_motion_pose(&motion, t - h), now = rh_motion_pose(&motion, t),
                    after = rh_motion_pose(&motion, t + h);
            rh_dvec3 local = rh_d3(0.7, -0.2, 0.5), point = rh_pose_to_world(&now, local);
            rh_dvec3 measured = rh_d3_scale(
                rh_d3_sub(rh_pose_to_world(&after, local), rh_pose_to_world(&before, local)), 0.5 / h);
            assert_true(rh_d3_length(rh_d3_sub(measured, rh_motion_velocity(&motion, t, point))) < 2e-5);
        }
    }
}

static void motion_rests_outside_its_keys(void **state)
{
    (void)state;
    for (int how = RH_LINEAR; how <= RH_SMOOTH; how++) {
        rh_motion motion = example((rh_interpolation)how);
        rh_dvec3 point = rh_d3(3, 2, 1), before = rh_motion_velocity(&motion, 0.49, point),
                 after = rh_motion_velocity(&motion, 2.9, point);
        assert_true(rh_d3_length(before) == 0 && rh_d3_length(after) == 0);
        assert_true(rh_motion_pose(&motion, -7).translation.x == 0);
        assert_true(rh_motion_pose(&motion, 99).translation.x == -0.5);
        assert_true(isfinite(rh_motion_pose(&motion, NAN).translation.x));
    }
}

// Smooth motion has no jumps of speed, starts and ends at rest, and runs straight through evenly spaced keys.
static void smooth_motion_is_smooth(void **state)
{
    (void)state;
    rh_motion motion = example(RH_SMOOTH);
    rh_dvec3 point = rh_d3(1, 1, 1);
    for (int i = 0; i < 4; i++) {
        double t = example_keys[i].time;
        rh_dvec3 jump = rh_d3_sub(rh_motion_velocity(&motion, t - 1e-9, point),
                                  rh_motion_velocity(&motion, t + 1e-9, point));
        assert_true(rh_d3_length(jump) < 1e-5);
    }
    rh_motion_key even[] = {
        {0, {0, 0, 0}, {0, 0, 0}}, {1, {1, 0, 0}, {0, 0, 0}}, {3, {3, 0, 0}, {0, 0, 0}}, {4, {4, 0, 0}, {0, 0, 0}}};
    motion = (rh_motion){.keys = {even, 4}, .interpolation = RH_SMOOTH};
    assert_near(rh_motion_velocity(&motion, 1.7, point).x, 1, 1e-12);
}

static void still_motion_is_recognised(void **state)
{
    (void)state;
    rh_motion motion = {0};
    assert_true(rh_motion_is_still(&motion));
    rh_pose pose = rh_motion_pose(&motion, 3);
    assert_true(rh_pose_to_world(&pose, rh_d3(1, 2, 3)).z == 3);
    rh_motion_key keys[] = {{0, {1, 0, 0}, {0, 0, 0}}, {1, {1, 0, 0}, {0, 0, 0}}};
    motion.keys = (rh_list){keys, 2};
    assert_true(rh_motion_is_still(&motion));
    keys[1].rotate.z = 1;
    assert_false(rh_motion_is_still(&motion));
}

static void poses_turn_the_right_way_and_back(void **state)
{
    (void)state;
    rh_mat3 r = rh_rotation(rh_d3(90, 0, 90));  // y -> z by x, stays by z; x -> x -> y
    assert_true(rh_d3_length(rh_d3_sub(rh_m3_mul(r, rh_d3(0, 1, 0)), rh_d3(0, 0, 1))) < 1e-15);
    assert_true(rh_d3_length(rh_d3_sub(rh_m3_mul(r, rh_d3(1, 0, 0)), rh_d3(0, 1, 0))) < 1e-15);
    rh_motion motion = example(RH_SMOOTH);
    for (uint64_t id = 0; id < 50; id++) {
        rh_pose pose = rh_motion_pose(&motion, uniform(id, 5, 0, 3));
        rh_dvec3 p = random_point(id, 2), q = rh_pose_to_local(&pose, rh_pose_to_world(&pose, p));
        assert_true(rh_d3_length(rh_d3_sub(p, q)) < 1e-12);
        assert_near(rh_d3_length(rh_pose_turn(&pose, p)), rh_d3_length(p), 1e-12);
    }
}

static void flat_motion_stays_in_the_plane(void **state)
{
    (void)state;
    rh_motion motion = example(RH_SMOOTH);
    rh_pose pose;
    rh_dvec3 linear, angular;
    rh_motion_place(&motion, 1.7, true, &pose, &linear, &angular);
    assert_true(rh_pose_to_world(&pose, rh_d3(1, 2, 0)).z == 0);
    assert_true(linear.z == 0 && angular.x == 0 && angular.y == 0 && angular.z != 0);
}

static int nothing_is_held(void **state)
{
    (void)state;
    return rh_memory_bytes() == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_agree_with_sampled_surfaces),
        cmocka_unit_test(rounded_box_is_a_smaller_box_grown),
        cmocka_unit_test(plane_is_a_half_space),
        cmocka_unit_test(normals_are_gradients),
        cmocka_unit_test(normals_exist_everywhere),
        cmocka_unit_test(flat_shapes_are_sections),
        cmocka_unit_test(bounds_hold_the_shape_tightly),
        cmocka_unit_test(wrong_parameters_are_named),
        cmocka_unit_test(tables_are_complete),
        cmocka_unit_test(motion_passes_through_its_keys),
        cmocka_unit_test(velocity_is_the_derivative_of_the_pose),
        cmocka_unit_test(motion_rests_outside_its_keys),
        cmocka_unit_test(smooth_motion_is_smooth),
        cmocka_unit_test(still_motion_is_recognised),
        cmocka_unit_test(poses_turn_the_right_way_and_back),
        cmocka_unit_test(flat_motion_stays_in_the_plane),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_is_held);
}
