// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What goes to the viewer's page: a decoder of its own (written from the description in view/wire.h) gets back what
// went in, within the bound that 16 bits allow; the choice of particles depends on their ids alone; shapes are closed
// and have the volume they should.
#include "support.h"
#include <stdlib.h>
#include <zlib.h>
#include "view/wire.h"

#define PI 3.14159265358979323846

// --- a decoder -------------------------------------------------------------------------------------------------------

static const char *description(const rh_message *m, const char *kind, const uint8_t **data)
{
    uint32_t length;
    assert_true(m->count >= 8);
    assert_memory_equal(m->bytes, kind, 4);
    memcpy(&length, m->bytes + 4, 4);
    assert_int_equal(length % 8, 0);
    assert_true(8 + (size_t)length <= m->count);
    *data = m->bytes + 8 + length;
    static char text[1 << 16];
    assert_true(length < sizeof text);
    memcpy(text, m->bytes + 8, length);
    text[length] = 0;
    return text;
}

static const char *after(const char *text, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(text, quoted);
    assert_non_null(at);
    return at + strlen(quoted);
}

static double number_of(const char *text, const char *key) { return strtod(after(text, key), NULL); }

static void numbers_of(const char *text, const char *key, double *out, int count)
{
    const char *at = after(text, key) + 1;
    for (int i = 0; i < count; i++) {
        char *end;
        out[i] = strtod(at, &end);
        at = end + 1;
    }
}

static uint32_t unfold(uint32_t folded) { return folded >> 1 ^ (0u - (folded & 1)); }

static const uint8_t *unpack(const uint8_t *from, int64_t count, int width, uint32_t *out)
{
    uint32_t value = 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t folded = 0;
        for (int b = 0; b < width; b++) folded |= (uint32_t)from[b * count + i] << 8 * b;
        value += unfold(folded);
        if (width == 2) value &= 0xffff;
        out[i] = value;
    }
    return from + count * width;
}

// --- particles -------------------------------------------------------------------------------------------------------

enum { COUNT = 5000 };

static void make_points(rh_points *points, int64_t count)
{
    rh_status status = {0};
    float radius = 0.25f;
    rh_points_init(points);
    assert_ok(rh_points_add(points, "P", RH_POINT_VEC3F, &status));
    assert_ok(rh_points_add(points, "v", RH_POINT_VEC3F, &status));
    assert_ok(rh_points_add(points, "id", RH_POINT_I64, &status));
    assert_ok(rh_points_add_uniform(points, "radius", RH_POINT_F32, &radius, &status));
    assert_ok(rh_points_resize(points, count, &status));
    rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F), *v = rh_points_data(points, "v", RH_POINT_VEC3F);
    int64_t *id = rh_points_data(points, "id", RH_POINT_I64);
    for (int64_t i = 0; i < count; i++) {
        uint64_t n = (uint64_t)i;
        p[i] = rh_v3(100 + 3 * support_random(n, 0), -2 * support_random(n, 1), 0.01f * support_random(n, 2));
        v[i] = rh_v3(support_random(n, 3), support_random(n, 4), 5 * support_random(n, 5));
        id[i] = 7 * i;
    }
}

typedef struct decoded {
    double box[6], range[2], typical[2];
    int64_t count;
    uint32_t *rows[4];
} decoded;

static void decode(const rh_message *m, decoded *d)
{
    const uint8_t *data;
    const char *text = description(m, "RHP1", &data);
    d->count = (int64_t)number_of(text, "count");
    numbers_of(text, "box", d->box, 6);
    numbers_of(text, "range", d->range, 2);
    numbers_of(text, "typical", d->typical, 2);
    for (int r = 0; r < 4; r++) {
        d->rows[r] = malloc((size_t)(d->count + 1) * 4);
        data = unpack(data, d->count, 2, d->rows[r]);
    }
    assert_ptr_equal(data, m->bytes + m->count);
}

static void free_decoded(decoded *d)
{
    for (int r = 0; r < 4; r++) free(d->rows[r]);
}

static double place(const decoded *d, int axis, int64_t i)
{
    return d->box[axis] + d->rows[axis][i] / 65535.0 * (d->box[axis + 3] - d->box[axis]);
}

static void check_frame(bool z_up)
{
    rh_status status = {0};
    rh_points points;
    rh_message m;
    decoded d;
    make_points(&points, COUNT);
    rh_vec3 *p = rh_points_data(&points, "P", RH_POINT_VEC3F), *v = rh_points_data(&points, "v", RH_POINT_VEC3F);
    rh_frame_info info = {.frame = 12, .time = 0.5, .z_up = z_up};
    rh_wire_view view = {"v", 1 << 20};
    assert_ok(rh_wire_points(&points, &info, &view, &m, &status));
    decode(&m, &d);
    assert_int_equal(d.count, COUNT);
    double worst = 0;
    for (int64_t i = 0; i < COUNT; i++) {
        rh_vec3 q = z_up ? rh_v3(p[i].x, p[i].z, -p[i].y) : p[i];
        for (int a = 0; a < 3; a++) {
            double half = 0.5 * (d.box[a + 3] - d.box[a]) / 65535, error = fabs(place(&d, a, i) - (double)(&q.x)[a]);
            assert_true(error <= half * 1.001 + 1e-7 * fabs((&q.x)[a]));  // the box is written with nine digits
            worst = fmax(worst, error / half);
        }
        double speed = d.range[0] + d.rows[3][i] / 65534.0 * (d.range[1] - d.range[0]);
        assert_near(speed, rh_v3_length(v[i]), 0.51 * (d.range[1] - d.range[0]) / 65534 + 1e-6);
    }
    assert_true(worst > 0.5);  // the bound is the right one, not a wide one
    free_decoded(&d);
    rh_message_free(&m);
    rh_points_free(&points);
}

static void positions_and_values_come_back(void **state)
{
    (void)state;
    check_frame(false);
    check_frame(true);
}

static void components_and_unknown_names(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_points points;
    rh_message m;
    decoded d;
    make_points(&points, COUNT);
    rh_vec3 *v = rh_points_data(&points, "v", RH_POINT_VEC3F);
    rh_frame_info info = {.frame = 1};
    assert_ok(rh_wire_points(&points, &info, &(rh_wire_view){"v.z", COUNT}, &m, &status));
    decode(&m, &d);
    for (int64_t i = 0; i < COUNT; i++)
        assert_near(d.range[0] + d.rows[3][i] / 65534.0 * (d.range[1] - d.range[0]), v[i].z,
                    0.51 * (d.range[1] - d.range[0]) / 65534 + 1e-6);
    // A hundredth on either side is left out of what is typical: v.z is uniform in [-5, 5].
    assert_near(d.typical[0], -4.9, 0.05);
    assert_near(d.typical[1], 4.9, 0.05);
    free_decoded(&d);
    rh_message_free(&m);
    static const char *const unknown[] = {"w", "v.w",  "id.x",
                                          "",  "P..x", "a name that is much too long for any attribute of ours"};
    for (int i = 0; i < 6; i++) {
        const uint8_t *data;
        assert_ok(rh_wire_points(&points, &info, &(rh_wire_view){unknown[i], COUNT}, &m, &status));
        assert_memory_equal(after(description(&m, "RHP1", &data), "attribute"), "null", 4);
        rh_message_free(&m);
    }
    rh_points_free(&points);
}

// A group of one in two hundred: trimmed to what is typical it would not be seen.
static void groups_are_0_and_1(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_points points;
    rh_message m;
    decoded d;
    make_points(&points, COUNT);
    assert_ok(rh_points_add(&points, "spray", RH_POINT_GROUP, &status));
    uint8_t *spray = rh_points_data(&points, "spray", RH_POINT_GROUP);
    for (int part = 200; part >= 0; part -= 200) {  // and nobody
        for (int64_t i = 0; i < COUNT; i++) spray[i] = part && i % part == 0;
        assert_ok(rh_wire_points(&points, &(rh_frame_info){.frame = 1}, &(rh_wire_view){"spray", COUNT}, &m, &status));
        const uint8_t *data;
        assert_non_null(
            strstr(description(&m, "RHP1", &data), "{\"name\":\"spray\",\"type\":\"group\",\"uniform\":false}"));
        decode(&m, &d);
        assert_true(d.range[0] == 0 && d.range[1] == 1 && d.typical[0] == 0 && d.typical[1] == 1);
        for (int64_t i = 0; i < COUNT; i++) assert_int_equal(d.rows[3][i], spray[i] ? 65534 : 0);
        free_decoded(&d);
        rh_message_free(&m);
    }
    rh_points_free(&points);
}

static void what_is_not_finite(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_points points;
    rh_message m;
    decoded d;
    make_points(&points, COUNT);
    rh_vec3 *p = rh_points_data(&points, "P", RH_POINT_VEC3F), *v = rh_points_data(&points, "v", RH_POINT_VEC3F);
    p[17].y = NAN;
    p[18].x = INFINITY;
    v[20].x = NAN;
    rh_frame_info info = {.frame = 1};
    assert_ok(rh_wire_points(&points, &info, &(rh_wire_view){"v", COUNT}, &m, &status));
    decode(&m, &d);
    assert_int_equal(d.count, COUNT - 2);
    assert_int_equal(d.rows[3][18], RH_WIRE_NO_VALUE);  // number 20 after two were left out
    for (int64_t i = 0; i < d.count; i++) assert_true(i == 18 || d.rows[3][i] < RH_WIRE_NO_VALUE);
    free_decoded(&d);
    rh_message_free(&m);
    assert_ok(rh_points_resize(&points, 0, &status));
    assert_ok(rh_wire_points(&points, &info, &(rh_wire_view){"v", COUNT}, &m, &status));
    decode(&m, &d);
    assert_int_equal(d.count, 0);
    free_decoded(&d);
    rh_message_free(&m);
    rh_points_free(&points);
}

// Which ids were sent: the positions carry them.
static void kept_ids(const rh_points *points, int64_t limit, bool *kept, int64_t *count)
{
    rh_status status = {0};
    rh_message m;
    decoded d;
    assert_ok(rh_wire_points(points, &(rh_frame_info){.frame = 1}, &(rh_wire_view){"P.x", limit}, &m, &status));
    decode(&m, &d);
    memset(kept, 0, COUNT);
    *count = d.count;
    for (int64_t i = 0; i < d.count; i++) {
        int64_t number = llround(place(&d, 0, i));
        assert_true(number >= 0 && number < COUNT && !kept[number]);
        kept[number] = true;
    }
    free_decoded(&d);
    rh_message_free(&m);
}

static void the_choice_depends_on_ids_alone(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_points points;
    static bool kept[COUNT], again[COUNT], fewer[COUNT];
    static uint32_t order[COUNT];
    int64_t count, same, less;
    make_points(&points, COUNT);
    rh_vec3 *p = rh_points_data(&points, "P", RH_POINT_VEC3F);
    for (int i = 0; i < COUNT; i++) p[i] = rh_v3((float)i, 0, 0), order[i] = (uint32_t)(COUNT - 1 - i);
    kept_ids(&points, 1000, kept, &count);
    assert_in_range(count, 900, 1000);
    assert_ok(rh_points_permute(&points, order, COUNT, &status));
    kept_ids(&points, 1000, again, &same);
    assert_int_equal(count, same);
    assert_memory_equal(kept, again, sizeof kept);
    kept_ids(&points, 300, fewer, &less);
    assert_in_range(less, 250, 300);
    int by_part[5] = {0};
    for (int i = 0; i < COUNT; i++) {
        assert_true(!fewer[i] || kept[i]);  // a smaller part lies inside a larger one
        by_part[i / (COUNT / 5)] += kept[i];
    }
    for (int i = 0; i < 5; i++) assert_in_range(by_part[i], 140, 260);  // spread evenly: 200 expected, deviation 13
    for (int64_t limit = 1; limit < 40; limit++) {
        kept_ids(&points, limit, again, &same);
        assert_true(same <= limit);
    }
    rh_points_free(&points);
}

// --- parts -----------------------------------------------------------------------------------------------------------

static void planes_come_back(void **state)
{
    (void)state;
    rh_status status = {0};
    const uint32_t wide[] = {0, 0xffffffff, 0x80000000, 1, 0x7fffffff, 12345678, 0};
    const uint16_t narrow[] = {0, 65535, 32768, 32767, 1, 65534, 77};
    uint32_t out[7];
    rh_message m = {0};
    assert_ok(rh_message_planes(&m, wide, 7, 4, &status));
    assert_ok(rh_message_planes(&m, narrow, 7, 2, &status));
    const uint8_t *next = unpack(m.bytes, 7, 4, out);
    assert_memory_equal(out, wide, sizeof wide);
    unpack(next, 7, 2, out);
    for (int i = 0; i < 7; i++) assert_int_equal(out[i], narrow[i]);
    rh_message_free(&m);
}

static void text_is_json(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_message m = {0};
    assert_ok(rh_message_text(&m, "a\"b\\c\n\x01 ü", &status));
    assert_ok(rh_message_number(&m, NAN, &status));
    assert_ok(rh_message_append(&m, "", 1, &status));
    assert_string_equal((char *)m.bytes, "\"a\\\"b\\\\c\\u000a\\u0001 ü\"null");
    rh_message_free(&m);
}

static void gzip_comes_back(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_message m = {0};
    for (int i = 0; i < 100000; i++) assert_ok(rh_message_append(&m, &(uint8_t){(uint8_t)(i % 251 * i)}, 1, &status));
    uint8_t *before = malloc(m.count), *after_all = malloc(m.count + 1);
    size_t count = m.count;
    memcpy(before, m.bytes, count);
    assert_ok(rh_wire_gzip(&m, &status));
    z_stream zip = {.next_in = m.bytes, .avail_in = (uInt)m.count, .next_out = after_all, .avail_out = (uInt)count + 1};
    assert_int_equal(inflateInit2(&zip, 15 + 16), Z_OK);
    assert_int_equal(inflate(&zip, Z_FINISH), Z_STREAM_END);
    assert_int_equal(zip.total_out, count);
    inflateEnd(&zip);
    assert_memory_equal(before, after_all, count);
    free(before);
    free(after_all);
    rh_message_free(&m);
}

// --- shapes and solids -----------------------------------------------------------------------------------------------

static void check_shape(rh_shape_kind kind, void *params, double volume, double part)
{
    rh_status status = {0};
    rh_mesh mesh;
    rh_mesh_report report;
    assert_ok(rh_wire_shape(&(rh_variant){(int)kind, params}, rh_d3(0, 0, 0), 1, 0, &mesh, &status));
    assert_ok(rh_mesh_weld(&mesh, &status));
    assert_ok(rh_mesh_inspect(&mesh, &report, &status));
    assert_int_equal(report.flipped_edges, 0);
    assert_near(report.volume, volume, part * volume);  // outside is outside: the sign is right
    rh_mesh_free(&mesh);
}

static void shapes_have_their_volume(void **state)
{
    (void)state;
    check_shape(RH_SHAPE_SPHERE, &(rh_sphere_params){{1, 2, 3}, 0.5}, 4 * PI / 3 * 0.125, 0.01);
    check_shape(RH_SHAPE_BOX, &(rh_box_params){{-1, 0, 2}, {1, 3, 2.5}, 0}, 3, 1e-6);
    // A box of 2 x 3 x 1 rounded by r: inner box, slabs, quarter cylinders, a ball.
    double r = 0.2, a = 1.6, b = 2.6, c = 0.6;
    check_shape(RH_SHAPE_BOX, &(rh_box_params){{-1, 0, 2}, {1, 3, 3}, r},
                a * b * c + 2 * r * (a * b + b * c + c * a) + PI * r * r * (a + b + c) + 4 * PI / 3 * r * r * r, 0.01);
    check_shape(RH_SHAPE_CYLINDER, &(rh_cylinder_params){{0, 0, 0}, {0, 0, 2}, 0.5}, PI * 0.25 * 2, 0.01);
    check_shape(RH_SHAPE_CYLINDER, &(rh_cylinder_params){{0, 1, 0}, {1, -1, 2}, 0.5}, PI * 0.25 * 3, 0.01);
    check_shape(RH_SHAPE_CAPSULE, &(rh_capsule_params){{0, 0, 0}, {0, 2, 0}, 0.5}, PI * 0.25 * 2 + 4 * PI / 3 * 0.125,
                0.01);
    check_shape(RH_SHAPE_TORUS, &(rh_torus_params){{0, 0, 0}, {1, 1, 0}, 1, 0.25}, 2 * PI * PI * 0.0625, 0.01);
}

static void shapes_fill_their_bounds(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_sphere_params ball = {{1, 2, 3}, 0.5};
    rh_plane_params floor = {{0, -1, 0}, {0, 1, 0}};
    rh_box_params thin = {{0, 0, 0}, {2, 1, 0}, 0};
    rh_mesh mesh;
    assert_ok(rh_wire_shape(&(rh_variant){RH_SHAPE_PLANE, &floor}, rh_d3(5, 5, 5), 3, 0, &mesh, &status));
    rh_dbox box = rh_mesh_bounds(&mesh);
    assert_near(box.min.x, 2, 1e-6);
    assert_near(box.max.z, 8, 1e-6);
    assert_near(box.min.y, -1, 1e-6);
    assert_near(box.max.y, -1, 1e-6);
    rh_mesh_free(&mesh);
    // Two dimensions: slabs around z = 0, whatever depth the scene gives.
    assert_ok(rh_wire_shape(&(rh_variant){RH_SHAPE_SPHERE, &ball}, rh_d3(0, 0, 0), 1, 0.1, &mesh, &status));
    box = rh_mesh_bounds(&mesh);
    assert_near(box.min.z, -0.05, 1e-6);
    assert_near(box.max.z, 0.05, 1e-6);
    assert_near(box.max.x - box.min.x, 1, 0.01);
    rh_mesh_free(&mesh);
    assert_ok(rh_wire_shape(&(rh_variant){RH_SHAPE_BOX, &thin}, rh_d3(0, 0, 0), 1, 0.1, &mesh, &status));
    box = rh_mesh_bounds(&mesh);
    assert_near(box.min.z, -0.05, 1e-6);
    assert_near(box.max.z, 0.05, 1e-6);
    rh_mesh_free(&mesh);
}

static void surfaces_come_back(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_sphere_params ball = {{1, 2, 3}, 0.5};
    rh_mesh mesh;
    rh_message m;
    const uint8_t *data;
    double box[6];
    assert_ok(rh_wire_shape(&(rh_variant){RH_SHAPE_SPHERE, &ball}, rh_d3(0, 0, 0), 1, 0, &mesh, &status));
    assert_ok(rh_mesh_weld(&mesh, &status));
    assert_ok(rh_wire_surface(&mesh, 9, true, &m, &status));
    const char *text = description(&m, "RHM1", &data);
    int64_t vertices = (int64_t)number_of(text, "vertices"), triangles = (int64_t)number_of(text, "triangles");
    assert_int_equal(vertices, mesh.vertex_count);
    assert_int_equal(triangles, mesh.triangle_count);
    numbers_of(text, "box", box, 6);
    uint32_t *rows = malloc((size_t)vertices * 12), *corners = malloc((size_t)triangles * 12);
    for (int a = 0; a < 3; a++) data = unpack(data, vertices, 2, rows + a * vertices);
    const int8_t *normals = (const int8_t *)data;
    unpack(data + 3 * vertices, 3 * triangles, 4, corners);
    assert_memory_equal(corners, mesh.triangles, (size_t)triangles * 12);
    for (int64_t i = 0; i < vertices; i++) {
        rh_vec3 p = mesh.vertices[i], turned = rh_v3(p.x, p.z, -p.y);
        const double center[3] = {1, 3, -2};
        for (int a = 0; a < 3; a++) {
            double at = box[a] + rows[a * vertices + i] / 65535.0 * (box[a + 3] - box[a]);
            assert_near(at, (&turned.x)[a], 1e-5);
            assert_near(normals[a * vertices + i] / 127.0, ((&turned.x)[a] - center[a]) / 0.5,
                        0.03);  // triangles at the poles are lopsided
        }
    }
    free(rows);
    free(corners);
    rh_message_free(&m);
    mesh.vertices[3].y = NAN;
    assert_int_equal(rh_wire_surface(&mesh, 9, false, &m, &status), RH_USER);
    rh_mesh_free(&mesh);
}

static const char scene_text[] = "rheo: 1\ncell: 0.1\nframes: {last: 11, fps: 10}\nphysics: {liquid: {}}\n"
                                 "bodies: [{name: water, shape: {box: {min: [0, 0, 0], max: [1, 1, 1]}}}]\n"
                                 "solids:\n"
                                 "  - {name: tank, inside_out: true, shape: {box: {min: [0, 0, 0], max: [4, 2, 1]}}}\n"
                                 "  - {name: floor, shape: {plane: {point: [0, 0, 0], normal: [0, 1, 0]}}}\n"
                                 "  - name: arm\n    shape: {box: {min: [1, 0, 0], max: [2, 1, 1]}}\n"
                                 "    motion: {pivot: [1, 0, 0], interpolation: linear, keys: [{time: 0}, {time: 1, "
                                 "translate: [1, 0, 0], rotate: [0, 0, 90]}]}\n"
                                 "  - {name: lost, shape: {mesh: {file: no_such_file.obj}}}\n";

static void solids_have_their_poses(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_scene scene;
    rh_message m;
    const uint8_t *data;
    double bounds[6];
    assert_ok(rh_scene_load_text("test.yaml", scene_text, strlen(scene_text), NULL, 0, &scene, &status));
    assert_ok(rh_wire_solids(&scene, NULL, 0, &m, &status));
    const char *text = description(&m, "RHS1", &data);
    numbers_of(text, "bounds", bounds, 6);
    assert_near(bounds[3], 4, 1e-6);
    assert_near(bounds[4], 2, 1e-6);
    const char *arm = strstr(strstr(text, "\"poses\":11"), "\"name\":\"arm\""),
               *lost = strstr(text, "\"name\":\"lost\"");
    assert_non_null(arm);
    assert_non_null(lost);
    assert_non_null(strstr(lost, "no_such_file.obj"));
    // tank: 24 vertices, 12 triangles, 1 pose; floor: 4, 2, 1; arm: 24, 12, 11.
    const uint8_t *at = data + (24 * 12 + 12 * 12 + 48) + (4 * 12 + 2 * 12 + 48) + (24 * 12 + 12 * 12);
    float last[12];
    memcpy(last, at + 10 * 48, sizeof last);
    // The last pose turns the far lower edge (2, 0) about (1, 0) up to (1, 1) and moves it to (2, 1).
    assert_near(last[0] * 2 + last[1] * 0 + last[3], 2, 1e-5);
    assert_near(last[4] * 2 + last[5] * 0 + last[7], 1, 1e-5);
    assert_ptr_equal(at + 11 * 48 + 48, m.bytes + m.count);
    rh_message_free(&m);
    rh_scene_free(&scene);
}

// Dynamic solids are where the run says; in a frame that is missing as in the one before it.
static void dynamic_solids_have_the_poses_of_the_run(void **state)
{
    (void)state;
    static const char text[] =
        "rheo: 1\ncell: 0.1\nphysics: {liquid: {}}\nframes: {first: 5, last: 20}\n"
        "bodies: [{shape: {box: {min: [0, 0, 0], max: [1, 1, 1]}}}]\n"
        "solids: [{name: ball, shape: {sphere: {center: [0, 0, 0], radius: 0.2}}, dynamic: {}}]\n";
    const rh_solid_frame frames[] = {{.frame = 5, .turn = {1, 0, 0, 0}, .origin = {1, 0, 0}},
                                     {.frame = 7, .turn = {0, 0, 0, 1}, .origin = {2, 3, 0}}};
    rh_status status = {0};
    rh_scene scene;
    rh_message m;
    const uint8_t *data;
    assert_ok(rh_scene_load_text("test.yaml", text, strlen(text), NULL, 0, &scene, &status));
    assert_ok(rh_wire_solids(&scene, frames, 2, &m, &status));
    assert_non_null(strstr(description(&m, "RHS1", &data), "\"poses\":3"));
    float poses[3][12];
    memcpy(poses, m.bytes + m.count - sizeof poses, sizeof poses);
    assert_near(poses[0][3], 1, 1e-6);
    assert_near(poses[1][3], 1, 1e-6);
    assert_near(poses[2][3], 2, 1e-6);
    assert_near(poses[2][7], 3, 1e-6);
    assert_near(poses[2][0], -1, 1e-6);  // half a turn about z
    rh_message_free(&m);
    rh_scene_free(&scene);
}

// Memory may run out anywhere: nothing is left behind, nothing is half made.
static void memory_runs_out(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_points points;
    rh_scene scene;
    make_points(&points, 100);
    assert_ok(rh_scene_load_text("test.yaml", scene_text, strlen(scene_text), NULL, 0, &scene, &status));
    int64_t before = rh_memory_bytes();
    for (int kind = 0; kind < 2; kind++) {
        rh_code code = RH_MEMORY;
        for (int n = 0; code != RH_OK; n++) {
            assert_true(n < 200);
            rh_message m;
            rh_status told = {0};
            rh_memory_fail_after(n);
            code = kind ? rh_wire_solids(&scene, NULL, 0, &m, &told)
                        : rh_wire_points(&points, &(rh_frame_info){0}, &(rh_wire_view){"v", 50}, &m, &told);
            if (code == RH_OK) code = rh_wire_gzip(&m, &told);
            rh_memory_fail_after(-1);
            assert_true(code == RH_OK || code == RH_MEMORY);
            rh_message_free(&m);
            assert_int_equal(rh_memory_bytes(), before);
        }
    }
    rh_scene_free(&scene);
    rh_points_free(&points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes_come_back),
        cmocka_unit_test(text_is_json),
        cmocka_unit_test(gzip_comes_back),
        cmocka_unit_test(positions_and_values_come_back),
        cmocka_unit_test(components_and_unknown_names),
        cmocka_unit_test(groups_are_0_and_1),
        cmocka_unit_test(what_is_not_finite),
        cmocka_unit_test(the_choice_depends_on_ids_alone),
        cmocka_unit_test(shapes_have_their_volume),
        cmocka_unit_test(shapes_fill_their_bounds),
        cmocka_unit_test(surfaces_come_back),
        cmocka_unit_test(solids_have_their_poses),
        cmocka_unit_test(dynamic_solids_have_the_poses_of_the_run),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
