// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Surface meshes as PLY, OBJ and VTP: every byte of a small one, every bit of random numbers, and what our own readers
// make of them.
#include "support.h"
#include <float.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include "io/file.h"
#include "io/mesh_file.h"
#include "io/ply.h"
#include "io/surface_mesh_file.h"
#include "unit/scratch.h"

static const rh_frame_info facts = {3, 0.125, 24, 0.5, 0xabcull, 0};

static void *block(size_t bytes)
{
    void *p = rh_alloc_zero(bytes, "test.surface", NULL);
    assert_non_null(p);
    return p;
}

static void add_channel(rh_surface_mesh *surface, const char *name, rh_point_type type)
{
    rh_band_channel *c = &surface->channels[surface->channel_count++];
    snprintf(c->name, sizeof c->name, "%s", name);
    c->type = type;
    c->data = block((size_t)surface->vertex_count * rh_point_type_size(type));
}

// A pyramid: four triangles on a quad.
static rh_surface_mesh pyramid(void)
{
    rh_surface_mesh surface = {.vertex_count = 5, .triangle_count = 4, .quad_count = 1};
    surface.position = block(5 * sizeof *surface.position);
    surface.normal = block(5 * sizeof *surface.normal);
    surface.triangle = block(4 * sizeof *surface.triangle);
    surface.quad = block(sizeof *surface.quad);
    static const rh_vec3 at[5] = {{0, 0, 0}, {0, 0, 1}, {1, 0, 1}, {1, 0, 0}, {0.5f, 0.75f, -0.1f}};
    static const uint32_t side[4][3] = {{4, 0, 1}, {4, 1, 2}, {4, 2, 3}, {4, 3, 0}}, base[4] = {0, 3, 2, 1};
    memcpy(surface.position, at, sizeof at);
    memcpy(surface.triangle, side, sizeof side);
    memcpy(surface.quad, base, sizeof base);
    add_channel(&surface, "vel", RH_POINT_VEC3F);
    add_channel(&surface, "heat", RH_POINT_F32);
    add_channel(&surface, "side", RH_POINT_I32);
    add_channel(&surface, "tag", RH_POINT_I64);
    add_channel(&surface, "uvw", RH_POINT_VEC3F);
    for (int v = 0; v < 5; v++) {
        surface.normal[v] = rh_v3(0, 0, -1);
        ((rh_vec3 *)surface.channels[0].data)[v] = rh_v3(1, 2, (float)v);
        ((float *)surface.channels[1].data)[v] = 0.5f * (float)v;
        ((int32_t *)surface.channels[2].data)[v] = -v;
        ((int64_t *)surface.channels[3].data)[v] = ((int64_t)1 << 40) + v;
        ((rh_vec3 *)surface.channels[4].data)[v] = rh_v3(7, 8, 9);
    }
    return surface;
}

static void ply_is_exact(void **state)
{
    (void)state;
    static const char header[] = "comment rheo_fps 24\ncomment rheo_cell 0.5\nelement vertex 5\n"
                                 "property float x\nproperty float y\nproperty float z\nproperty float nx\nproperty "
                                 "float ny\nproperty float nz\n"
                                 "property float vx\nproperty float vy\nproperty float vz\nproperty float "
                                 "heat\nproperty int side\nproperty double tag\n"
                                 "property float uvw_x\nproperty float uvw_y\nproperty float uvw_z\n"
                                 "element face 5\nproperty list uchar uint vertex_indices\nend_header\n";
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "surface.0003.ply");
    rh_surface_mesh surface = pyramid();
    for (int z_up = 0; z_up < 2; z_up++) {
        rh_status status = {0};
        rh_frame_info info = facts;
        info.z_up = z_up;
        char *data;
        size_t bytes;
        assert_ok(rh_surface_mesh_write_ply(path.text, &surface, &info, &status));
        assert_ok(rh_file_read(path.text, 1 << 20, &data, &bytes, &status));
        assert_memory_equal(data, "ply\nformat binary_little_endian 1.0\ncomment rheo_version ", 57);
        assert_non_null(strstr(data, z_up ? "comment rheo_up z\ncomment rheo_frame 3\n"
                                          : "comment rheo_up y\ncomment rheo_frame 3\n"));
        const char *at = strstr(data, "comment rheo_fps");
        assert_memory_equal(at, header, sizeof header - 1);
        at += sizeof header - 1;
        assert_int_equal(bytes - (size_t)(at - data), 5 * 64 + 4 * 13 + 17);
        for (int v = 0; v < 5; v++, at += 64) {
            rh_vec3 p = surface.position[v];
            struct __attribute__((packed)) {
                rh_vec3 p, n, v;
                float heat;
                int32_t side;
                double tag;
                rh_vec3 u;
            } want = {p,        {0, 0, -1}, {1, 2, (float)v}, 0.5f * (float)v, -v, (double)(((int64_t)1 << 40) + v),
                      {7, 8, 9}};
            if (z_up)
                want.p = rh_v3(p.x, -p.z, p.y), want.n = rh_v3(0, 1, 0), want.v = rh_v3(1, -(float)v, 2),
                want.u = rh_v3(7, -9, 8);
            assert_memory_equal(at, &want, sizeof want);
        }
        for (int t = 0; t < 4; t++, at += 13) assert_true(at[0] == 3 && memcmp(at + 1, surface.triangle[t], 12) == 0);
        assert_true(at[0] == 4 && memcmp(at + 1, surface.quad[0], 16) == 0);
        rh_free(data);
    }
    rh_surface_mesh_free(&surface);
    scratch_remove(&s);
}

static void our_readers_agree(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path ply = scratch_at(&s, "a.ply"), obj = scratch_at(&s, "a.obj");
    rh_status status = {0};
    rh_surface_mesh surface = pyramid();
    assert_ok(rh_surface_mesh_write_ply(ply.text, &surface, &facts, &status));
    assert_ok(rh_surface_mesh_write_obj(obj.text, &surface, &facts, &status));
    for (int f = 0; f < 2; f++) {
        rh_mesh mesh;
        rh_mesh_report report;
        assert_ok(rh_mesh_read(f ? obj.text : ply.text, &mesh, &status));
        assert_int_equal(mesh.vertex_count, 5);
        assert_int_equal(mesh.triangle_count, 6);
        assert_memory_equal(mesh.vertices, surface.position, 5 * sizeof(rh_vec3));
        assert_ok(rh_mesh_inspect(&mesh, &report, &status));
        rh_mesh_free(&mesh);
    }
    rh_surface_mesh_free(&surface);
    scratch_remove(&s);
}

// Random bits over all exponents, and those that scenes are made of.
static float number(int i)
{
    uint32_t bits = rh_random_bits(3, (uint64_t)i, 0, 0);
    float value;
    memcpy(&value, &bits, 4);
    if (i % 4 == 0) return isfinite(value) ? value : 0;
    if (i % 4 == 1) return (float)(i % 2000 - 1000) / 8;
    return ldexpf(support_random((uint64_t)i, 1), (int)(bits % 32) - 14);
}

static void obj_numbers_come_back(void **state)
{
    (void)state;
    enum { COUNT = 40000 };
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "a.obj");
    rh_status status = {0};
    rh_surface_mesh surface = {.vertex_count = COUNT};
    surface.position = block(COUNT * sizeof *surface.position);
    surface.normal = block(COUNT * sizeof *surface.normal);
    for (int i = 0; i < COUNT; i++) surface.position[i] = rh_v3(number(3 * i), number(3 * i + 1), number(3 * i + 2));
    surface.position[0] = rh_v3(1, 1e-3f, 999999.94f);
    surface.position[1] = rh_v3(9.9999999e-5f, 1e6f, 0.1f);
    surface.position[2] = rh_v3(FLT_MAX, FLT_TRUE_MIN, -0.0f);
    assert_ok(rh_surface_mesh_write_obj(path.text, &surface, &facts, &status));
    char *data, *at;
    size_t bytes;
    assert_ok(rh_file_read(path.text, 1 << 30, &data, &bytes, &status));
    at = strstr(data, "\nv ") + 1;
    assert_memory_equal(at, "v 1 0.001 999999.94\nv ", 22);
    for (int i = 0; i < COUNT; i++) {
        assert_memory_equal(at, "v ", 2);
        at += 2;
        for (int k = 0; k < 3; k++) {
            float want = (&surface.position[i].x)[k], found = strtof(at, &at);
            if (found != want) print_error("%.9g became %.9g\n", (double)want, (double)found);
            assert_true(found == want);
        }
        assert_true(*at++ == '\n');
    }
    assert_memory_equal(at, "vn 0 0 0\n", 9);
    rh_free(data);
    rh_surface_mesh_free(&surface);
    scratch_remove(&s);
}

static void failures_leave_nothing(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "a.ply"), nowhere = scratch_at(&s, "no/a.ply");
    rh_surface_mesh surface = pyramid(), large = {.vertex_count = 100000};
    large.position = block(100000 * sizeof *large.position);
    large.normal = block(100000 * sizeof *large.normal);
    for (int f = 0; f < 2; f++) {
        rh_code (*write)(const char *, const rh_surface_mesh *, const rh_frame_info *,
                         rh_status *) = f ? rh_surface_mesh_write_obj : rh_surface_mesh_write_ply;
        rh_status status = {0};
        assert_int_equal(write(nowhere.text, &surface, &facts, &status), RH_IO);
        assert_non_null(strstr(status.message, "No such file"));
        rh_memory_fail_after(0);
        assert_int_equal(write(path.text, &surface, &facts, NULL), RH_MEMORY);
        rh_memory_fail_after(-1);
        struct rlimit before, small;
        getrlimit(RLIMIT_FSIZE, &before);
        small = before;
        small.rlim_cur = 100000;
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &small);
        rh_status_clear(&status);
        rh_code code = write(path.text, &large, &facts, &status);
        setrlimit(RLIMIT_FSIZE, &before);
        assert_int_equal(code, RH_IO);
        assert_non_null(strstr(status.message, "cannot write: File too large"));
        assert_int_equal(scratch_count(&s), 0);
    }
    rh_surface_mesh_free(&surface);
    rh_surface_mesh_free(&large);
    scratch_remove(&s);
}

// The appended array of the given name: where its header says, after the count of its bytes.
static const char *vtp_array(const char *data, size_t bytes, const char *name, uint64_t *size)
{
    char words[64];
    snprintf(words, sizeof words, "Name=\"%s\"", name);
    const char *at = strstr(data, words), *appended = strstr(data, "encoding=\"raw\">\n_");
    assert_true(at && appended);
    const char *start = appended + strlen("encoding=\"raw\">\n_") + strtoll(strstr(at, "offset=\"") + 8, NULL, 10);
    assert_true(start + sizeof *size < data + bytes);
    memcpy(size, start, sizeof *size);
    assert_true(start + sizeof *size + *size < data + bytes);
    return start + sizeof *size;
}

static void vtp_arrays_are_where_they_should(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "surface.0003.vtp");
    rh_surface_mesh surface = pyramid();
    rh_status status = {0};
    char *data;
    size_t bytes;
    uint64_t size;
    assert_ok(rh_surface_mesh_write_vtp(path.text, &surface, &facts, &status));
    assert_ok(rh_file_read(path.text, 1 << 20, &data, &bytes, &status));
    assert_non_null(strstr(
        data, "NumberOfPoints=\"5\" NumberOfVerts=\"0\" NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"5\""));
    assert_memory_equal(vtp_array(data, bytes, "Points", &size), surface.position, 60);
    assert_int_equal(size, 60);
    assert_memory_equal(vtp_array(data, bytes, "Normals", &size), surface.normal, 60);
    assert_memory_equal(vtp_array(data, bytes, "v", &size), surface.channels[0].data, 60);
    assert_memory_equal(vtp_array(data, bytes, "heat", &size), surface.channels[1].data, 20);
    assert_memory_equal(vtp_array(data, bytes, "tag", &size), surface.channels[3].data, 40);
    static const int64_t corners[16] = {4, 0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 0, 3, 2, 1}, ends[5] = {3, 6, 9, 12, 16};
    assert_memory_equal(vtp_array(data, bytes, "connectivity", &size), corners, sizeof corners);
    const char *last = vtp_array(data, bytes, "offsets", &size);
    assert_memory_equal(last, ends, sizeof ends);
    assert_string_equal(last + size, "\n</AppendedData>\n</VTKFile>\n");
    rh_free(data);
    rh_surface_mesh_free(&surface);
    scratch_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ply_is_exact),           cmocka_unit_test(our_readers_agree),
        cmocka_unit_test(obj_numbers_come_back),  cmocka_unit_test(vtp_arrays_are_where_they_should),
        cmocka_unit_test(failures_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
