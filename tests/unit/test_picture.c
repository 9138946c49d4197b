// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What stands around the path tracer: the camera's aim and keys, shapes as triangles, values and ranges of attributes,
// surfaces from PLY files, colours, and a whole picture from a scene.
#include "support.h"
#include "io/ply.h"
#include "unit/scratch.h"
#include "view/camera.h"
#include "view/caption.h"
#include "view/colors.h"
#include "view/picture.h"
#include "view/rays.h"
#include "view/solids.h"
#include "view/values.h"

// --- camera ----------------------------------------------------------------------------------------------------------

// Where a point falls in the picture: -1 to 1 both ways.
static void project(const rh_view *v, int width, int height, rh_dvec3 p, double out[2])
{
    rh_dvec3 forward = rh_d3_unit(rh_d3_sub(v->target, v->eye)),
             right = rh_d3_unit(rh_d3_cross(forward, rh_d3(0, 1, 0)));
    rh_dvec3 up = rh_d3_cross(right, forward), at = rh_d3_sub(p, v->eye);
    double side = fmin(width, height), half = tan(v->fov * 3.14159265358979 / 360), depth = rh_d3_dot(at, forward);
    assert_true(depth > 0);
    out[0] = rh_d3_dot(at, right) / depth / (half * width / side);
    out[1] = rh_d3_dot(at, up) / depth / (half * height / side);
}

static void the_box_fills_the_picture(void **state)
{
    (void)state;
    const rh_dbox boxes[] = {{{0, 0, 0}, {1, 1, 1}},
                             {{-50, 3, 7}, {60, 4, 8}},
                             {{0, 0, 0}, {0.001, 5, 0.001}},
                             {{1e3, 0, 0}, {1.001e3, 0.4, 9}}};
    const int sizes[][2] = {{1280, 720}, {720, 1280}, {500, 500}};
    for (int b = 0; b < 4; b++)
        for (int s = 0; s < 3; s++)
            for (double fov = 5; fov < 80; fov += 25) {
                rh_view v = rh_view_frame(boxes[b], fov, sizes[s][0], sizes[s][1]);
                double most[2] = {0};
                for (int k = 0; k < 8; k++) {
                    double at[2];
                    project(&v, sizes[s][0], sizes[s][1],
                            rh_d3(k & 1 ? boxes[b].max.x : boxes[b].min.x, k & 2 ? boxes[b].max.y : boxes[b].min.y,
                                  k & 4 ? boxes[b].max.z : boxes[b].min.z),
                            at);
                    most[0] = fmax(most[0], fabs(at[0])), most[1] = fmax(most[1], fabs(at[1]));
                }
                assert_true(most[0] <= 0.9 && most[1] <= 0.82);  // all of it is seen
                assert_true(most[0] > 0.82 || most[1] > 0.74);   // and not from farther than needed
            }
}

static void keys_are_met_and_joined(void **state)
{
    (void)state;
    rh_camera_key keys[] = {
        {1, {0, 1, 5}, {0, 0, 0}, 30}, {2, {4, 1, 5}, {1, 0, 0}, 40}, {4, {8, 3, 5}, {1, 1, 0}, 20}};
    rh_camera_params camera = {.keys = {keys, 3}};
    assert_true(rh_camera_given(&camera));
    for (int i = 0; i < 3; i++) {
        rh_view v = rh_camera_at(&camera, keys[i].time);
        assert_near(rh_d3_length(rh_d3_sub(v.eye, keys[i].position)), 0, 1e-12);
        assert_near(rh_d3_length(rh_d3_sub(v.target, keys[i].target)), 0, 1e-12);
        assert_near(v.fov, keys[i].fov, 1e-12);
    }
    assert_near(rh_camera_at(&camera, -9).eye.x, 0, 0);
    assert_near(rh_camera_at(&camera, 99).eye.x, 8, 0);
    double speed[2], step = 1e-5;  // no kink at a key, at rest at the ends
    for (int i = 0; i < 2; i++)
        speed[i] = (rh_camera_at(&camera, 2 + i * step).eye.x - rh_camera_at(&camera, 2 - step + i * step).eye.x) /
                   step;
    assert_near(speed[0], speed[1], 1e-3);
    assert_near(speed[0], 8 / 3.0, 1e-3);
    assert_near((rh_camera_at(&camera, 1 + step).eye.x - 0) / step, 0, 1e-3);
    camera = (rh_camera_params){0};
    assert_false(rh_camera_given(&camera));
}

// --- solids ----------------------------------------------------------------------------------------------------------

static void check_shape(int kind, const void *params, rh_shape shape, double volume, double tolerance)
{
    rh_status status = {0};
    rh_mesh mesh;
    rh_vec3 *normal;
    rh_mesh_report report;
    assert_ok(rh_shape_triangles(kind, params, &mesh, &normal, &status));
    assert_ok(rh_mesh_inspect(&mesh, &report, &status));
    assert_near(report.volume / volume, 1, tolerance);
    assert_int_equal(report.open_edges, 0);
    assert_int_equal(report.flipped_edges, 0);
    shape.kind = (rh_shape_kind)kind;
    for (int64_t i = 0; i < mesh.vertex_count; i++) {
        rh_dvec3 p = rh_d3_from(mesh.vertices[i]), n = rh_d3_from(normal[i]);
        assert_near(rh_shape_distance(&shape, p), 0, 1e-6);
        assert_near(rh_d3_length(n), 1, 1e-6);
        assert_true(rh_shape_distance(&shape, rh_d3_add(p, rh_d3_scale(n, 1e-3))) > 0.9e-3);  // outwards
    }
    for (int64_t t = 0; t < mesh.triangle_count; t++) {  // faces look the way of their normals
        const uint32_t *c = mesh.triangles[t];
        rh_dvec3 a = rh_d3_from(mesh.vertices[c[0]]), b = rh_d3_from(mesh.vertices[c[1]]),
                 d = rh_d3_from(mesh.vertices[c[2]]);
        rh_dvec3 face = rh_d3_cross(rh_d3_sub(b, a), rh_d3_sub(d, a));
        if (rh_d3_length(face) > 1e-9) assert_true(rh_d3_dot(rh_d3_unit(face), rh_d3_from(normal[c[0]])) > 0.5);
    }
    rh_mesh_free(&mesh);
    rh_free(normal);
}

static void shapes_become_triangles(void **state)
{
    (void)state;
    const double pi = 3.14159265358979;
    rh_sphere_params sphere = {{1, 2, 3}, 0.7};
    check_shape(RH_SHAPE_SPHERE, &sphere, (rh_shape){.as.sphere = sphere}, 4 / 3.0 * pi * 0.343, 4e-3);
    rh_box_params box = {{0, 1, 2}, {2, 2, 5}, 0};
    check_shape(RH_SHAPE_BOX, &box, (rh_shape){.as.box = box}, 6, 1e-6);
    rh_box_params rounded = {{0, 1, 2}, {2, 2, 5}, 0.2};
    double core = 1.6 * 0.6 * 2.6, faces = 2 * 0.2 * (1.6 * 0.6 + 0.6 * 2.6 + 2.6 * 1.6),
           edges = pi * 0.04 * (1.6 + 0.6 + 2.6), corners = 4 / 3.0 * pi * 0.008;
    check_shape(RH_SHAPE_BOX, &rounded, (rh_shape){.as.box = rounded}, core + faces + edges + corners, 3e-3);
    rh_cylinder_params cylinder = {{0, 0, 0}, {1, 2, 2}, 0.5};
    check_shape(RH_SHAPE_CYLINDER, &cylinder, (rh_shape){.as.cylinder = cylinder}, pi * 0.25 * 3, 3e-3);
    rh_capsule_params capsule = {{0, 0, 0}, {0, 0, 2}, 0.5};
    check_shape(RH_SHAPE_CAPSULE, &capsule, (rh_shape){.as.capsule = capsule}, pi * 0.25 * 2 + 4 / 3.0 * pi * 0.125,
                4e-3);
    rh_torus_params torus = {{1, 0, 0}, {0, 2, 0}, 1, 0.25};
    check_shape(RH_SHAPE_TORUS, &torus, (rh_shape){.as.torus = torus}, 2 * pi * pi * 0.0625, 8e-3);
}

// --- attributes ------------------------------------------------------------------------------------------------------

static rh_points some_points(int64_t count)
{
    rh_points points;
    rh_points_init(&points);
    assert_int_equal(rh_points_add(&points, "P", RH_POINT_VEC3F, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "v", RH_POINT_VEC3F, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "age", RH_POINT_F32, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "C", RH_POINT_MAT3F, NULL), RH_OK);
    assert_int_equal(rh_points_resize(&points, count, NULL), RH_OK);
    rh_vec3 *P = rh_points_data(&points, "P", RH_POINT_VEC3F), *v = rh_points_data(&points, "v", RH_POINT_VEC3F);
    float *age = rh_points_data(&points, "age", RH_POINT_F32);
    for (int64_t i = 0; i < count; i++) {
        P[i] = rh_v3(support_random((uint64_t)i, 0), 0.5f + 0.5f * support_random((uint64_t)i, 1),
                     support_random((uint64_t)i, 2));
        v[i] = rh_v3(0, 3 * P[i].y, 4 * P[i].y);
        age[i] = -1 - (float)i / (float)count;
    }
    return points;
}

static void attributes_become_numbers(void **state)
{
    (void)state;
    enum { N = 20000 };
    static float values[N];
    rh_status status = {0};
    rh_points points = some_points(N);
    rh_vec3 *P = rh_points_data(&points, "P", RH_POINT_VEC3F), *v = rh_points_data(&points, "v", RH_POINT_VEC3F);
    assert_ok(rh_values_take(&points, "speed", false, values, &status));
    assert_near(values[7], 5 * P[7].y, 1e-5);
    double low = 0, high = 0;
    v[3] = rh_v3(1e6f, 0, 0), v[4] = rh_v3(NAN, 0, 0);  // strays
    P[5] = rh_v3(900, 0, 0), P[6].x = INFINITY;
    for (int i = 0; i < 60; i++) v[100 + i] = rh_v3(40, 0, 0);
    assert_ok(rh_values_range(&points, "age", false, &low, &high, &status));
    assert_near(low, -2, 0.02);
    assert_near(high, -1, 0.02);
    low = high = 0;
    v[3] = rh_v3(0, 0, 0);
    assert_ok(rh_values_range(&points, "speed", false, &low, &high, &status));
    assert_near(low, 0, 0);
    assert_near(high, 5, 1.01);  // 5 or the next round number
    assert_int_equal(rh_values_take(&points, "spede", false, values, &status), RH_USER);
    assert_non_null(strstr(status.message, "did you mean speed?"));
    rh_status_clear(&status);
    assert_int_equal(rh_values_take(&points, "C", false, values, &status), RH_USER);
    rh_status_clear(&status);
    assert_ok(rh_points_add(&points, "spray", RH_POINT_GROUP, &status));
    ((uint8_t *)rh_points_data(&points, "spray", RH_POINT_GROUP))[7] = 1;
    assert_ok(rh_values_take(&points, "spray", false, values, &status));
    assert_true(values[6] == 0 && values[7] == 1);
    low = high = 0;
    assert_ok(rh_values_range(&points, "spray", false, &low, &high, &status));
    assert_true(low == 0 && high == 1);  // one of 20000, and yet seen
    rh_dbox box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    P[5] = rh_v3(9, 0, 0);
    rh_values_bounds(P, N, 0.0005, false, &box);
    assert_near(box.min.x, -1, 0.02);
    assert_near(box.max.x, 1, 0.03);
    rh_values_bounds(P, N, 0, false, &box);
    assert_near(box.max.x, 9, 1e-6);
    rh_points_free(&points);
}

// --- surfaces --------------------------------------------------------------------------------------------------------

static const char quad[] = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float nx\nproperty float ny\nproperty "
                           "float nz\nproperty float x\n"
                           "property float y\nproperty float z\nproperty float quality\nproperty float vx\nproperty "
                           "float vy\nproperty float vz\nelement face 1\n"
                           "property list uchar int vertex_indices\nend_header\n0 1 0 0 0 0 nan 5 6 7\n0 1 0 0 0 1 2 5 "
                           "6 8\n0 1 0 1 0 1 2 5 6 9\n0 1 0 1 0 0 2 5 6 10\n4 0 1 2 3\n";

static rh_code parse(const char *text, rh_ply_surface *surface, rh_status *status)
{
    return rh_ply_parse_surface("quad.ply", text, strlen(text), surface, status);
}

static void surfaces_have_normals_and_velocities(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_ply_surface s;
    assert_ok(parse(quad, &s, &status));
    assert_int_equal(s.mesh.vertex_count, 4);
    assert_int_equal(s.mesh.triangle_count, 2);
    for (int i = 0; i < 4; i++) {
        assert_near(s.normal[i].y, 1, 0);
        assert_near(s.velocity[i].z, 7 + i, 0);
    }
    assert_near(s.mesh.vertices[2].x, 1, 0);
    rh_ply_surface_free(&s);
    const char bare[] = "ply\nformat ascii 1.0\nelement vertex 0\nproperty float x\nproperty float y\nproperty float "
                        "z\nelement face 0\n"
                        "property list uchar int vertex_indices\nend_header\n";
    assert_ok(parse(bare, &s, &status));  // no liquid in sight
    assert_true(s.mesh.triangle_count == 0 && !s.normal && !s.velocity);
    rh_ply_surface_free(&s);
    char broken[sizeof quad];
    memcpy(broken, quad, sizeof quad);
    *strstr(broken, "3\n") = '9';  // the last corner
    assert_int_equal(parse(broken, &s, NULL), RH_USER);
    assert_true(!s.mesh.vertices && !s.normal && !s.velocity);
    rh_code code = RH_MEMORY;
    for (int tries = 0; code != RH_OK; tries++) {
        rh_memory_fail_after(tries);
        code = parse(quad, &s, NULL);
        rh_memory_fail_after(-1);
        assert_true(code == RH_OK || (code == RH_MEMORY && rh_memory_bytes() == 0));
    }
    rh_ply_surface_free(&s);
}

// A part of a vector by its letter, in the axes of the scene whichever way the file stands; names with dots that
// somebody gave come first.
static void parts_of_vectors_become_numbers(void **state)
{
    (void)state;
    enum { N = 50 };
    float values[N];
    rh_status status = {0};
    rh_points points = some_points(N);
    const rh_vec3 *P = rh_points_data(&points, "P", RH_POINT_VEC3F);
    const char *const names[] = {"P.x", "P.y", "P.z"};
    for (int part = 0; part < 3; part++) {
        assert_ok(rh_values_take(&points, names[part], false, values, &status));
        for (int i = 0; i < N; i++) assert_true(values[i] == (&P[i].x)[part]);
        assert_ok(rh_values_take(&points, names[part], true, values, &status));
        for (int i = 0; i < N; i++) assert_true(values[i] == (part == 0 ? P[i].x : part == 1 ? P[i].z : -P[i].y));
    }
    const struct {
        const char *name, *words;
    } wrong[] = {{"age.y", "age is of type float and has no parts"},
                 {"age.q", "expected one of speed, P"},
                 {"ag.y", "did you mean age?"},
                 {".y", "expected one of"},
                 {"C.x", "mat3f"}};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(rh_values_take(&points, wrong[i].name, false, values, &status), RH_USER);
        assert_non_null(strstr(status.message, wrong[i].words));
        rh_status_clear(&status);
    }
    assert_ok(rh_points_add(&points, "P.y", RH_POINT_F32, &status));
    assert_ok(rh_values_take(&points, "P.y", false, values, &status));
    assert_true(values[3] == 0 && P[3].y != 0);
    rh_points_free(&points);
}

// --- colours ---------------------------------------------------------------------------------------------------------

static float lightness_of(rh_vec3 c) { return 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z; }
static bool same_color(rh_vec3 a, rh_vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

static void bands_are_even_steps(void **state)
{
    (void)state;
    for (int palette = 0; rh_palette_names[palette]; palette++)
        for (int bands = 1; bands < 12; bands++)
            for (int k = 0; k < bands; k++) {
                rh_vec3 begin = rh_palette_color((rh_palette)palette, bands, (k + 0.01) / bands),
                        end = rh_palette_color((rh_palette)palette, bands, (k + 0.99) / bands);
                assert_true(same_color(begin, end));
                rh_vec3 next = rh_palette_color((rh_palette)palette, bands, (k + 1.01) / bands);
                if (k + 1 < bands) assert_true(fabsf(lightness_of(begin) - lightness_of(next)) > 0.01f);
                for (int c = 0; c < 3; c++) assert_true((&begin.x)[c] >= 0 && (&begin.x)[c] <= 1);
            }
    // Beyond its ends a scale stays what it is there; strata go round.
    assert_true(same_color(rh_palette_color(RH_PALETTE_SAND, 4, 7.3), rh_palette_color(RH_PALETTE_SAND, 4, 0.99)));
    assert_true(same_color(rh_palette_color(RH_PALETTE_SAND, 4, -7.3), rh_palette_color(RH_PALETTE_SAND, 4, 0.01)));
    for (int k = -20; k < 20; k++)
        assert_true(same_color(rh_palette_color(RH_PALETTE_STRATA, 8, (k + 0.5) / 8),
                               rh_palette_color(RH_PALETTE_STRATA, 8, (k + 6.5) / 8)));
    assert_true(same_color(rh_palette_color(RH_PALETTE_STRATA, 8, 1), rh_palette_color(RH_PALETTE_STRATA, 8, 0.99)));
    for (int i = 0; i < 100; i++) {  // smooth
        rh_vec3 a = rh_palette_color(RH_PALETTE_SAND, 0, i / 100.0),
                b = rh_palette_color(RH_PALETTE_SAND, 0, (i + 1) / 100.0);
        assert_true(lightness_of(b) > lightness_of(a) && lightness_of(b) - lightness_of(a) < 0.03f);
        assert_true(same_color(rh_palette_color(RH_PALETTE_BLUE, 0, i / 100.0), rh_color_of(i / 100.0)));
    }
    const double odd[] = {NAN, INFINITY, -INFINITY, 1e300};
    for (int i = 0; i < 4; i++)
        for (int palette = 0; palette < 3; palette++)
            assert_true(rh_palette_color((rh_palette)palette, 5, odd[i]).x >= 0);
}

static void colours_and_tones(void **state)
{
    (void)state;
    float last = -1;
    for (int i = 0; i <= 100; i++) {  // the scale gets lighter all the way
        rh_vec3 c = rh_color_of(i / 100.0);
        float light = 0.2126f * c.x + 0.7152f * c.y + 0.0722f * c.z;
        assert_true(light > last && light < 1);
        last = light;
    }
    last = -1;
    for (float x = 0; x < 50; x += 0.01f) {  // brighter is never darker, and never above white
        rh_vec3 c = rh_tone_map(rh_v3(x, x, x));
        assert_true(c.x >= last && c.x <= 1 && fabsf(c.x - c.y) < 1e-6f);
        last = c.x;
    }
    assert_true(last > 0.98f);
    rh_vec3 linear[2] = {{-1, 0, 0.5f}, {0.04f + 0.2140f, 100, 3}};
    uint16_t deep[6];
    uint8_t bytes[6];
    rh_encode_srgb16(linear, 2, 0, deep);
    assert_int_equal(deep[0], 0);
    rh_to_8_bits(deep, 2, bytes);
    for (int i = 0; i < 6; i++) assert_near(bytes[i], deep[i] / 257.0, 1);
    for (int i = 0; i < 6; i++) deep[i] = (uint16_t)(257 * (50 * i));
    rh_to_8_bits(deep, 2, bytes);
    for (int i = 0; i < 6; i++) assert_int_equal(bytes[i], 50 * i);  // exact values are kept
    assert_near(rh_srgb(0.2140f), 0.5, 1e-3);
    assert_near(rh_round_number_above(3.7), 4, 1e-12);
    assert_near(rh_grid_step(12), 1, 1e-12);
}

// --- whole pictures --------------------------------------------------------------------------------------------------

static const char scene_text[] =
    "rheo: 1\ncell: 0.05\nphysics: {liquid: {}}\nbodies: [{shape: {sphere: {center: [0, 0.5, 0], radius: 0.4}}}]\n"
    "solids:\n  - {inside_out: true, shape: {box: {min: [-1, 0, -1], max: [1, 2, 1]}}}\n"
    "  - {shape: {sphere: {center: [0.5, 0.3, 0.5], radius: 0.2}}, motion: {keys: [{time: 0}, {time: 1, translate: [0, "
    "1, 0]}]}}\n"
    "  - {shape: {mesh: {file: nowhere.obj}}}\n"
    "look: {ground: {style: checker}}\n";
enum { W = 64, H = 36 };

static rh_code draw(const rh_scene *scene, const rh_points *points, const rh_ply_surface *surface, bool z_up,
                    uint16_t *rgb, rh_status *status)
{
    rh_picture_options o = {.width = W,
                            .height = H,
                            .samples = 4,
                            .box = {{-1, 0, -1}, {1, 1, 1}},
                            .particles = {0, 5},
                            .surface = surface != NULL};
    rh_picture *picture;
    RH_TRY(rh_picture_create(scene, &o, &picture, status));
    rh_picture_frame frame = {
        .number = 1, .time = 0.5, .points = points, .surface = surface, .z_up = z_up, .title = "title"};
    rh_code code = rh_picture_draw(picture, &frame, rgb, status);
    rh_picture_free(picture);
    return code;
}

static int differences(const uint16_t *a, const uint16_t *b)
{
    int count = 0;
    for (int i = 0; i < 3 * W * H; i++) count += abs(a[i] - b[i]) > 257 * 8;
    return count;
}

static void a_scene_becomes_a_picture(void **state)
{
    (void)state;
    static uint16_t empty[3 * W * H], with_points[3 * W * H], turned[3 * W * H], with_surface[3 * W * H];
    rh_status status = {0};
    rh_scene scene;
    scene_make(&scene, scene_text);
    rh_points points = some_points(200);
    rh_points none;
    rh_points_init(&none);
    assert_ok(rh_points_add(&none, "P", RH_POINT_VEC3F, &status));
    assert_ok(draw(&scene, &none, NULL, false, empty, &status));
    assert_ok(draw(&scene, &points, NULL, false, with_points, &status));
    assert_true(differences(empty, with_points) > 200);
    rh_vec3 *P = rh_points_data(&points, "P", RH_POINT_VEC3F), *v = rh_points_data(&points, "v", RH_POINT_VEC3F);
    for (int i = 0; i < 200; i++) P[i] = rh_v3(P[i].x, -P[i].z, P[i].y), v[i] = rh_v3(v[i].x, -v[i].z, v[i].y);
    assert_ok(draw(&scene, &points, NULL, true, turned, &status));  // the same things with another axis up
    assert_memory_equal(with_points, turned, sizeof turned);
    rh_ply_surface s;
    assert_ok(parse(quad, &s, &status));
    for (int i = 0; i < 4; i++) s.mesh.vertices[i].y = 0.3f;
    assert_ok(draw(&scene, NULL, &s, false, with_surface, &status));
    assert_true(differences(empty, with_surface) > 50);
    assert_int_equal(draw(&scene, &(rh_points){.count = 1}, NULL, false, empty, &status),
                     RH_USER);  // points without a place
    rh_code code = RH_MEMORY;
    int64_t before = rh_memory_bytes();
    for (int tries = 0; code != RH_OK; tries++) {
        rh_memory_fail_after(tries);
        code = draw(&scene, &points, &s, true, turned, NULL);
        rh_memory_fail_after(-1);
        assert_true(code == RH_OK || (code == RH_MEMORY && rh_memory_bytes() == before));
    }
    rh_ply_surface_free(&s);
    rh_points_free(&points);
    rh_points_free(&none);
    rh_scene_free(&scene);
}

// A mesh of any origin gives the same picture: faces that look inwards, and normals that are missing (here a cube's
// corners, where the means are known).
static void surfaces_of_any_origin(void **state)
{
    (void)state;
    static uint16_t first[3 * W * H], other[3 * W * H];
    rh_status status = {0};
    rh_scene scene;
    scene_make(&scene, scene_text);
    rh_vec3 corner[8], normal[8];
    uint32_t out[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                           {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}},
             in[12][3];
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 3; k++) in[i][k] = out[i][2 - k];
    for (int i = 0; i < 8; i++) {
        corner[i] = rh_v3(i & 1 ? 0.5f : -0.5f, i & 2 ? 1.2f : 0.2f, i & 4 ? 0.5f : -0.5f);
        normal[i] = rh_v3(0, 0, 0);
    }
    for (int i = 0; i < 12; i++)
        for (int k = 0; k < 3; k++) {  // the weights are equal: all faces have the same area
            rh_dvec3 a = rh_d3_from(corner[out[i][0]]), b = rh_d3_from(corner[out[i][1]]),
                     c = rh_d3_from(corner[out[i][2]]);
            normal[out[i][k]] = rh_v3_add(normal[out[i][k]], rh_v3_from(rh_d3_cross(rh_d3_sub(b, a), rh_d3_sub(c, a))));
        }
    for (int i = 0; i < 8; i++) normal[i] = rh_v3_scale(normal[i], 1 / rh_v3_length(normal[i]));
    rh_ply_surface s = {.mesh = {corner, out, 8, 12}, .normal = normal};
    assert_ok(draw(&scene, NULL, &s, false, first, &status));
    s.normal = NULL;
    assert_ok(draw(&scene, NULL, &s, false, other, &status));
    assert_int_equal(differences(first, other), 0);
    s.mesh.triangles = in;
    assert_ok(draw(&scene, NULL, &s, false, other, &status));
    assert_int_equal(differences(first, other), 0);
    rh_scene_free(&scene);
}

// A box whose upper half carries 1 and whose lower half 0, painted in two bands of strata, and the same as grains.
static void what_is_carried_paints(void **state)
{
    (void)state;
    static uint16_t plain[3 * W * H], painted[3 * W * H], clear[3 * W * H];
    rh_status status = {0};
    rh_scene scene;
    scene_make(
        &scene,
        "rheo: 1\ncell: 0.05\nphysics: {liquid: {}}\nbodies: [{shape: {sphere: {center: [0, 0.5, 0], radius: 0.4}}}]\n"
        "look: {ground: {style: none}, liquid: {plaster: {color: [0.5, 0.5, 0.5]}}, paint: {attribute: none, bands: 2, "
        "palette: strata}, "
        "camera: {position: [0, 0.7, 3.5], target: [0, 0.7, 0]}}\n");
    rh_vec3 corner[8];
    uint32_t out[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                           {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    for (int i = 0; i < 8; i++) corner[i] = rh_v3(i & 1 ? 0.5f : -0.5f, i & 2 ? 1.2f : 0.2f, i & 4 ? 0.5f : -0.5f);
    rh_vec3 normal[8];  // of front and back alone: the front is lit evenly
    for (int i = 0; i < 8; i++) normal[i] = rh_v3(0, 0, i & 4 ? 1 : -1);
    rh_ply_surface s = {.mesh = {corner, out, 8, 12}, .normal = normal};
    rh_points vertices;
    rh_points_init(&vertices);
    assert_ok(rh_points_resize(&vertices, 8, &status));
    assert_ok(rh_points_add(&vertices, "rest", RH_POINT_VEC3F, &status));
    memcpy(rh_points_data(&vertices, "rest", RH_POINT_VEC3F), corner, sizeof corner);
    rh_picture_options o = {
        .width = W, .height = H, .samples = 8, .box = {{-1, 0, -1}, {1, 1, 1}}, .paint = {0.2, 1.2}, .surface = true};
    rh_picture_frame frame = {.number = 1, .surface = &s, .vertices = &vertices};
    rh_picture *picture;
    assert_ok(rh_picture_create(&scene, &o, &picture, &status));
    assert_ok(rh_picture_draw(picture, &frame, plain, &status));
    rh_free(scene.look.paint.attribute);
    scene.look.paint.attribute = rh_strdup("rest.y", "test", &status);
    assert_ok(rh_picture_draw(picture, &frame, painted, &status));
    // In the middle of the picture the light above and below is alike; cream is much lighter than rust, which has the
    // upper half.
    size_t above = 3 * ((size_t)(H * 6 / 20) * W + W / 2), below = 3 * ((size_t)(H * 14 / 20) * W + W / 2);
    assert_true(abs(plain[above + 1] - plain[below + 1]) < 257 * 25);
    assert_true(painted[below + 1] > painted[above + 1] + 257 * 40);
    // Clear things are opaque when painted, and no paint leaves them as they are.
    scene.look.liquid.kind = RH_LOOK_WATER;
    assert_ok(rh_picture_draw(picture, &frame, clear, &status));
    assert_true(clear[below + 1] > clear[above + 1] + 257 * 40);
    rh_free(scene.look.paint.attribute);
    scene.look.paint.attribute = rh_strdup("rets.y", "test", &status);
    assert_int_equal(rh_picture_draw(picture, &frame, clear, &status), RH_USER);
    assert_non_null(strstr(status.message, "did you mean rest?"));
    rh_picture_free(picture);
    rh_points_free(&vertices);
    rh_scene_free(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_box_fills_the_picture),
        cmocka_unit_test(keys_are_met_and_joined),
        cmocka_unit_test(shapes_become_triangles),
        cmocka_unit_test(attributes_become_numbers),
        cmocka_unit_test(surfaces_have_normals_and_velocities),
        cmocka_unit_test(colours_and_tones),
        cmocka_unit_test(parts_of_vectors_become_numbers),
        cmocka_unit_test(bands_are_even_steps),
        cmocka_unit_test(a_scene_becomes_a_picture),
        cmocka_unit_test(surfaces_of_any_origin),
        cmocka_unit_test(what_is_carried_paints),
    };
    size_t count = sizeof tests / sizeof tests[0];
    return _cmocka_run_group_tests("picture", tests, rh_rays_built_in() ? count : count - 3, NULL, nothing_left);
}
