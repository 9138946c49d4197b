// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Mesh readers: the same mesh through every format and layout, the example mesh, files that are broken in every way we
// could think of (tests/bad/meshes, with the message each must give), and failing memory.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/memory.h"
#include "base/random.h"
#include "io/mesh_build.h"
#include "io/mesh_file.h"

static const double pi = 3.14159265358979323846;

// Bytes under construction.
typedef struct bytes {
    char data[16384];
    size_t count;
} bytes;

static void put(bytes *b, const void *data, size_t count)
{
    assert_true(b->count + count < sizeof b->data);
    memcpy(b->data + b->count, data, count);
    b->count += count;
    b->data[b->count] = 0;
}
static void text(bytes *b, const char *line) { put(b, line, strlen(line)); }

static void put_number(bytes *b, const void *value, size_t size, bool big)
{
    char raw[8];
    for (size_t i = 0; i < size; i++) raw[i] = ((const char *)value)[big ? size - 1 - i : i];
    put(b, raw, size);
}
static void put_f32(bytes *b, float value, bool big) { put_number(b, &value, sizeof value, big); }
static void put_f64(bytes *b, double value, bool big) { put_number(b, &value, sizeof value, big); }
static void put_u32(bytes *b, uint32_t value, bool big) { put_number(b, &value, sizeof value, big); }
static void put_u16(bytes *b, uint16_t value, bool big) { put_number(b, &value, sizeof value, big); }
static void put_u8(bytes *b, uint8_t value) { put(b, &value, 1); }

// A tetrahedron of volume 1/6, outward.
static const float corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
static const uint32_t face[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};

static void check_tetrahedron(rh_mesh_parser *parser, const bytes *b)
{
    rh_status status = {0};
    rh_mesh mesh;
    if (parser("test", b->data, b->count, &mesh, &status) != RH_OK) fail_msg("%s", status.message);
    assert_int_equal(mesh.vertex_count, 4);
    assert_int_equal(mesh.triangle_count, 4);
    rh_mesh_report r;
    assert_int_equal(rh_mesh_inspect(&mesh, &r, NULL), RH_OK);
    assert_true(r.open_edges == 0 && r.odd_edges == 0 && r.flipped_edges == 0 && fabs(r.volume - 1.0 / 6) < 1e-12);
    rh_mesh_free(&mesh);
}

// --- OBJ -------------------------------------------------------------------------------------------------------------

static void obj_in_all_its_spellings(void **state)
{
    (void)state;
    static const char *const files[] = {
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
        "# c\r\nv 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nv 0 0 1\r\nf 1 3 2\r\nf 1 2 4\r\nf 1 4 3\r\nf 2 3 4",  // no end of
                                                                                                        // line
        ("mtllib a.mtl\no x\nv 0 0 0 1\nv 1.0 0 0 0.5 0.5 0.5\nv 0 +1 0\nv 0 0 10e-1\nvt 0 0\nvn 0 0 1\ns off\nusemtl "
         "m\n"
         "f 1/1 3/1 2/1\nf 1/1/1 2/1/1 4/1/1\nf 1//1 4//1 3//1\nf 2/ 3 4 # last\n"),
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -1 -2\nv 0 0 1\nf -4 -3 -1\nf 1 -1 \\\n3\nf 2 \\\r\n 3 \\\n 4\n",
        "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n\tv\t0 0  0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n",  // faces first
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nl 1 2\np 1\ncurv 0 1\nfoo bar\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        bytes b = {0};
        text(&b, files[i]);
        check_tetrahedron(rh_obj_parse_mesh, &b);
    }
}

static void polygons_become_fans(void **state)
{
    (void)state;
    const char *cube = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\n"
                       "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    rh_mesh mesh;
    rh_status status = {0};
    assert_int_equal(rh_obj_parse_mesh("cube", cube, strlen(cube), &mesh, &status), RH_OK);
    rh_mesh_report r;
    rh_mesh_inspect(&mesh, &r, NULL);
    assert_int_equal(mesh.triangle_count, 12);
    assert_true(r.open_edges == 0 && r.flipped_edges == 0 && r.volume == 1);
    rh_mesh_free(&mesh);
}

// Our number reader against the C library's, which is right by the standard (in the C locale of this test).
static void numbers_agree_with_the_library(void **state)
{
    (void)state;
    for (uint64_t id = 0; id < 20000; id++) {
        char word[64];
        uint32_t bits = rh_random_bits(1, id, 0, 0);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        static const char *const formats[] = {"%.9g", "%.3f", "%.17e", "%+.6G"};
        snprintf(word, sizeof word, formats[id % 4], (double)value);
        double found = 0;
        assert_true(rh_word_number((rh_word){.start = word, .length = (int)strlen(word)}, &found));
        assert_true((float)found == strtof(word, NULL));
    }
    static const char *const bad[] = {"",     "-",  "+",   ".",   "e5",   "1e",  "1e+", "1..2", "1.2.3",
                                      "0x10", "1f", "nan", "inf", "1e39", "--1", "1,5", "1 "};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double ignored;
        assert_false(rh_word_number((rh_word){.start = bad[i], .length = (int)strlen(bad[i])}, &ignored));
    }
    double tiny = 1;
    assert_true(rh_word_number((rh_word){.start = "1e-99999999999", .length = 14}, &tiny) && tiny == 0);
    assert_true(rh_word_number((rh_word){.start = ".5", .length = 2}, &tiny) && tiny == 0.5);
    assert_true(rh_word_number((rh_word){.start = "0e99999", .length = 7}, &tiny) && tiny == 0);
}

// --- STL -------------------------------------------------------------------------------------------------------------

static void stl_binary_even_when_it_says_solid(void **state)
{
    (void)state;
    static const char *const heads[] = {"made here", "solid looks like text"};
    for (int i = 0; i < 2; i++) {
        bytes b = {0};
        char head[80] = {0};
        strcpy(head, heads[i]);
        put(&b, head, sizeof head);
        put_u32(&b, 4, false);
        for (int t = 0; t < 4; t++) {
            for (int k = 0; k < 3; k++) put_f32(&b, NAN, false);  // the stored normal is not looked at
            for (int k = 0; k < 9; k++) put_f32(&b, corner[face[t][k / 3]][k % 3], false);
            put_u16(&b, 0, false);
        }
        check_tetrahedron(rh_stl_parse_mesh, &b);
    }
}

static void stl_ascii(void **state)
{
    (void)state;
    bytes b = {0};
    text(&b, "  Solid my part\r\n");
    for (int t = 0; t < 4; t++) {
        if (t == 2) text(&b, "endsolid my part\nsolid\n");
        text(&b, "FACET normal nan nan nan\n outer loop\n");
        for (int k = 0; k < 3; k++) {
            char line[80];
            const float *p = corner[face[t][k]];
            snprintf(line, sizeof line, "  vertex %g %e %+g\n", p[0], p[1], p[2]);
            text(&b, line);
        }
        text(&b, " endloop\nendfacet\n");
    }
    text(&b, "endsolid");
    check_tetrahedron(rh_stl_parse_mesh, &b);
}

// --- PLY -------------------------------------------------------------------------------------------------------------

static void ply_ascii(void **state)
{
    (void)state;
    bytes b = {0};
    text(&b, "ply\r\nformat ascii 1.0\r\ncomment any words at all\r\nobj_info x\r\nelement vertex 4\r\nproperty uchar "
             "red\r\n"
             "property float z\r\nproperty double y\r\nproperty list uchar float32 quality\r\nproperty float32 x\r\n"
             "element nothing 77\r\nelement face 2\r\nproperty list uint8 int32 vertex_index\r\nproperty int flag\r\n"
             "element edge 2\r\nproperty int a\r\nend_header\r\n");
    text(&b, "1 0 0 0 0\r\n2 0 0 2 nan 7 1\r\n\r\n3 0 1 0 0\r\n4 1 0 1 -inf 0\r\n");
    text(&b, "3 0 2 1 5\r\n3 0 1 3 5\r\n9\r\n9");
    rh_mesh mesh;
    rh_status status = {0};
    if (rh_ply_parse_mesh("test", b.data, b.count, &mesh, &status) != RH_OK) fail_msg("%s", status.message);
    assert_int_equal(mesh.vertex_count, 4);
    assert_int_equal(mesh.triangle_count, 2);
    for (int i = 0; i < 4; i++)
        assert_true(mesh.vertices[i].x == corner[i][0] && mesh.vertices[i].y == corner[i][1] &&
                    mesh.vertices[i].z == corner[i][2]);
    rh_mesh_free(&mesh);
}

// Faces before vertices, doubles among shorts, other elements before, between and after; both byte orders.
static void ply_binary_in_any_layout(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        bytes b = {0};
        text(&b, big ? "ply\nformat binary_big_endian 1.0\n" : "ply\nformat binary_little_endian 1.0\n");
        text(&b,
             "element junk 2\nproperty list ushort double values\nproperty char c\nelement face 4\nproperty double "
             "area\n"
             "property list uint ushort vertex_indices\nelement more 1\nproperty int i\nelement vertex 4\nproperty "
             "short s\n"
             "property double x\nproperty float y\nproperty double z\nelement tail 1\nproperty float f\nend_header\n");
        for (int i = 0; i < 2; i++) {
            put_u16(&b, (uint16_t)i, big);
            for (int k = 0; k < i; k++) put_f64(&b, 1e300, big);
            put_u8(&b, 200);
        }
        for (int t = 0; t < 4; t++) {
            put_f64(&b, 0.5, big);
            put_u32(&b, 3, big);
            for (int k = 0; k < 3; k++) put_u16(&b, (uint16_t)face[t][k], big);
        }
        put_u32(&b, 1, big);
        for (int i = 0; i < 4; i++) {
            put_u16(&b, 7, big);
            put_f64(&b, corner[i][0], big);
            put_f32(&b, corner[i][1], big);
            put_f64(&b, corner[i][2], big);
        }
        put_f32(&b, 1, big);
        check_tetrahedron(rh_ply_parse_mesh, &b);
    }
}

// --- files -----------------------------------------------------------------------------------------------------------

static void the_torus_knot_is_sound(void **state)
{
    (void)state;
    rh_mesh mesh;
    rh_status status = {0};
    if (rh_mesh_read(RHEO_SOURCE_DIR "/scenes/meshes/torus_knot.obj", &mesh, &status) != RH_OK)
        fail_msg("%s", status.message);
    rh_mesh_report r;
    assert_int_equal(rh_mesh_inspect(&mesh, &r, NULL), RH_OK);
    assert_true(r.open_edges == 0 && r.odd_edges == 0 && r.flipped_edges == 0 && r.degenerate == 0 && !r.inside_out);
    assert_true(mesh.triangle_count > 5000 && mesh.triangle_count < 7000);
    rh_dbox box = rh_mesh_bounds(&mesh);
    assert_true(box.max.x - box.min.x > 0.3 && box.max.x - box.min.x < 0.45);
    // A tube: volume = area of its section (a 20-gon) times the length of the curve, here within the discretisation.
    assert_true(r.volume > 0.9 * pi * 0.035 * 0.035 * 1.7 && r.volume < 1.1 * pi * 0.035 * 0.035 * 1.8);
    rh_mesh_free(&mesh);
}

// The ending decides, in any case; the same bytes under the three readers.
static void ending_chooses_the_reader(void **state)
{
    (void)state;
    char folder[] = "scratch-mesh-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    static const char *const files[][2] = {
        {"a.OBJ", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"},
        {"b.Stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 "
                  "0\nendloop\nendfacet\nendsolid\n"},
        {"c.x.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float "
                    "z\nelement face 1\n"
                    "property list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"}};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i][0]);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        fputs(files[i][1], file);
        fclose(file);
        rh_mesh mesh;
        rh_status status = {0};
        if (rh_mesh_read(path, &mesh, &status) != RH_OK) fail_msg("%s", status.message);
        assert_int_equal(mesh.triangle_count, 1);
        rh_mesh_free(&mesh);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/missing.obj", folder);
    rh_mesh mesh;
    rh_status status = {0};
    assert_int_equal(rh_mesh_read(path, &mesh, &status), RH_IO);
    assert_non_null(strstr(status.message, "missing.obj"));
    rmdir(folder);
}

static void broken_file(const char *name, const char *expected)
{
    char path[8192];
    snprintf(path, sizeof path, "%s/tests/bad/meshes/%s", RHEO_SOURCE_DIR, name);
    rh_mesh mesh;
    rh_status status = {0};
    rh_code code = rh_mesh_read(path, &mesh, &status);
    if (code != RH_USER) fail_msg("%s: code %d, expected RH_USER; %s", name, (int)code, status.message);
    if (!strstr(status.message, expected)) fail_msg("%s gives\n  %s\nexpected\n  %s", name, status.message, expected);
    if (!strstr(status.message, name)) fail_msg("'%s' does not name %s", status.message, name);
    assert_true(mesh.vertices == NULL && mesh.triangles == NULL);
}

static void broken_files_are_explained(void **state)
{
    (void)state;
    FILE *list = fopen(RHEO_SOURCE_DIR "/tests/bad/meshes/expected.txt", "r");
    assert_non_null(list);
    char line[512];
    int count = 0;
    while (fgets(line, sizeof line, list)) {
        char *tab = strchr(line, '\t');
        assert_non_null(tab);
        *tab = 0;
        tab[1 + strcspn(tab + 1, "\n")] = 0;
        broken_file(line, tab + 1);
        count++;
    }
    fclose(list);
    assert_true(count >= 25);
}

// Every prefix of a good file is refused or read, never a crash, and nothing leaks.
static void every_truncation_is_survived(void **state)
{
    (void)state;
    static const char *const names[] = {"obj/cube.obj",       "stl/triangle.stl",    "stl/triangle_binary.stl",
                                        "ply_mesh/ascii.ply", "ply_mesh/little.ply", "ply_mesh/big.ply"};
    rh_mesh_parser *const parsers[] = {rh_obj_parse_mesh, rh_stl_parse_mesh, rh_stl_parse_mesh,
                                       rh_ply_parse_mesh, rh_ply_parse_mesh, rh_ply_parse_mesh};
    for (int i = 0; i < 6; i++) {
        char path[8192], whole[4096];
        snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s", RHEO_SOURCE_DIR, names[i]);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        size_t size = fread(whole, 1, sizeof whole, file);
        fclose(file);
        for (size_t cut = 0; cut <= size; cut++) {
            char *copy = malloc(cut + 1);
            memcpy(copy, whole, cut);
            copy[cut] = 0;
            rh_mesh mesh;
            rh_status status = {0};
            rh_code code = parsers[i](names[i], copy, cut, &mesh, &status);
            free(copy);
            assert_true(code == RH_OK || code == RH_USER);
            if (cut == size) assert_int_equal(code, RH_OK);
            rh_mesh_free(&mesh);
            assert_int_equal(rh_memory_bytes(), 0);
        }
    }
}

static void failing_memory_is_survived(void **state)
{
    (void)state;
    static const char *const files[] = {"/scenes/meshes/torus_knot.obj", "/tests/fuzz/corpus/stl/triangle_binary.stl",
                                        "/tests/fuzz/corpus/ply_mesh/big.ply"};
    for (int i = 0; i < 3; i++) {
        char path[8192];
        snprintf(path, sizeof path, "%s%s", RHEO_SOURCE_DIR, files[i]);
        int failures = 0;
        for (;; failures++) {
            rh_mesh mesh;
            rh_status status = {0};
            rh_memory_fail_after(failures);
            rh_code code = rh_mesh_read(path, &mesh, &status);
            rh_memory_fail_after(-1);
            rh_mesh_free(&mesh);
            assert_int_equal(rh_memory_bytes(), 0);
            if (code == RH_OK) break;
            assert_int_equal(code, RH_MEMORY);
        }
        assert_true(failures >= 3);
    }
}

static int nothing_is_held(void **state)
{
    (void)state;
    return rh_memory_bytes() == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(obj_in_all_its_spellings),
        cmocka_unit_test(polygons_become_fans),
        cmocka_unit_test(numbers_agree_with_the_library),
        cmocka_unit_test(stl_binary_even_when_it_says_solid),
        cmocka_unit_test(stl_ascii),
        cmocka_unit_test(ply_ascii),
        cmocka_unit_test(ply_binary_in_any_layout),
        cmocka_unit_test(the_torus_knot_is_sound),
        cmocka_unit_test(ending_chooses_the_reader),
        cmocka_unit_test(broken_files_are_explained),
        cmocka_unit_test(every_truncation_is_survived),
        cmocka_unit_test(failing_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_is_held);
}
