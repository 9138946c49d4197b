// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Meshes made here (spheres, tori, boxes) against what is known of them: volume, edges, distance and side, also when
// faces are missing or turned over; the tree against brute force; failing memory; any number of threads.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "solid/bvh.h"
#include "solid/mesh.h"
#include "solid/mesh_parts.h"

static const double pi = 3.14159265358979323846;

// cmocka compares in float.
static void assert_near(double found, double expected, double tolerance)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("found %.17g, expected %.17g within %g", found, expected, tolerance);
}

static rh_dvec3 random_point(uint64_t id, double reach)
{
    return rh_d3(reach * (2 * rh_random(5, id, 0, 0) - 1), reach * (2 * rh_random(5, id, 0, 1) - 1),
                 reach * (2 * rh_random(5, id, 0, 2) - 1));
}

// A closed torus from a periodic net of rings x sides.
static rh_mesh make_torus(int rings, int sides, double major, double minor)
{
    rh_mesh m = {.vertex_count = rings * sides, .triangle_count = 2 * rings * sides};
    m.vertices = rh_alloc((size_t)m.vertex_count * sizeof *m.vertices, "test", NULL);
    m.triangles = rh_alloc((size_t)m.triangle_count * sizeof *m.triangles, "test", NULL);
    assert_true(m.vertices && m.triangles);
    for (int i = 0; i < rings; i++)
        for (int k = 0; k < sides; k++) {
            double u = 2 * pi * i / rings, v = 2 * pi * k / sides, r = major + minor * cos(v);
            m.vertices[i * sides + k] = rh_v3((float)(r * cos(u)), (float)(minor * sin(v)), (float)(-r * sin(u)));
            uint32_t a = (uint32_t)(i * sides + k), b = (uint32_t)(i * sides + (k + 1) % sides);
            uint32_t c = (uint32_t)((i + 1) % rings * sides + (k + 1) % sides),
                     d = (uint32_t)((i + 1) % rings * sides + k);
            uint32_t two[2][3] = {{a, d, c}, {a, c, b}};
            memcpy(m.triangles[2 * (i * sides + k)], two, sizeof two);
        }
    return m;
}

// Each face of a cube divided n x n and blown up to a ball; vertices repeated per face, so it also tests places.
static rh_mesh make_sphere(int n, double radius)
{
    rh_mesh m = {.vertex_count = 6 * (n + 1) * (n + 1), .triangle_count = 12 * n * n};
    m.vertices = rh_alloc((size_t)m.vertex_count * sizeof *m.vertices, "test", NULL);
    m.triangles = rh_alloc((size_t)m.triangle_count * sizeof *m.triangles, "test", NULL);
    assert_true(m.vertices && m.triangles);
    int64_t t = 0;
    for (int face = 0; face < 6; face++)
        for (int i = 0; i <= n; i++)
            for (int k = 0; k <= n; k++) {
                double p[3], side = face < 3 ? 1 : -1;
                p[face % 3] = side;
                p[(face + 1) % 3] = tan(pi / 4 * (2.0 * i / n - 1));
                p[(face + 2) % 3] = side * tan(pi / 4 * (2.0 * k / n - 1));
                // Cut to a raster, so that the same place on two faces is the same number.
                for (int c = 0; c < 3; c++) p[c] = round(p[c] * 0x1p20) * 0x1p-20;
                rh_dvec3 v = rh_d3_scale(rh_d3_unit(rh_d3(p[0], p[1], p[2])), radius);
                uint32_t at = (uint32_t)((face * (n + 1) + i) * (n + 1) + k), row = (uint32_t)(n + 1);
                m.vertices[at] = rh_v3((float)(round(v.x * 0x1p22) * 0x1p-22), (float)(round(v.y * 0x1p22) * 0x1p-22),
                                       (float)(round(v.z * 0x1p22) * 0x1p-22));
                if (i == n || k == n) continue;
                uint32_t two[2][3] = {{at, at + row, at + row + 1}, {at, at + row + 1, at + 1}};
                memcpy(m.triangles[t], two, sizeof two);
                t += 2;
            }
    return m;
}

static void flip(rh_mesh *m, int64_t t)
{
    uint32_t swap = m->triangles[t][1];
    m->triangles[t][1] = m->triangles[t][2];
    m->triangles[t][2] = swap;
}

static void flip_share(rh_mesh *m, double share)
{
    for (int64_t t = 0; t < m->triangle_count; t++)
        if (rh_random(9, (uint64_t)t, 0, 0) < share) flip(m, t);
}

static rh_vec3 middle_of(const rh_mesh *m, int64_t t)
{
    rh_vec3 c[3];
    rh_mesh_corners(m, t, c);
    return rh_v3_scale(rh_v3_add(c[0], rh_v3_add(c[1], c[2])), 1.0f / 3);
}

static double torus_distance(rh_dvec3 p, double major, double minor)
{
    double ring = sqrt(p.x * p.x + p.z * p.z) - major;
    return sqrt(ring * ring + p.y * p.y) - minor;
}

static rh_mesh_sdf *sample(const rh_mesh *mesh, double spacing)
{
    rh_status status = {0};
    rh_mesh_sdf *sdf = NULL;
    if (rh_mesh_sdf_create(mesh, spacing, &sdf, &status) != RH_OK) fail_msg("%s", status.message);
    return sdf;
}

// --- meshes ----------------------------------------------------------------------------------------------------------

static void volume_and_edges_of_sound_meshes(void **state)
{
    (void)state;
    rh_mesh torus = make_torus(96, 48, 0.6, 0.25), sphere = make_sphere(24, 0.5);
    rh_mesh_report r;
    assert_int_equal(rh_mesh_inspect(&torus, &r, NULL), RH_OK);
    assert_near(r.volume, 2 * pi * pi * 0.6 * 0.25 * 0.25, 0.004);
    assert_true(r.degenerate == 0 && r.open_edges == 0 && r.odd_edges == 0 && r.flipped_edges == 0 && !r.inside_out);
    assert_int_equal(rh_mesh_inspect(&sphere, &r, NULL), RH_OK);
    assert_near(r.volume, pi / 6, 0.002);
    assert_true(r.open_edges == 0 && r.odd_edges == 0 && r.flipped_edges == 0);  // though seams repeat vertices
    for (int64_t t = 0; t < sphere.triangle_count; t++) flip(&sphere, t);
    assert_int_equal(rh_mesh_inspect(&sphere, &r, NULL), RH_OK);
    assert_true(r.inside_out && r.volume < 0);
    rh_mesh_free(&torus);
    rh_mesh_free(&sphere);
}

static void faults_are_counted(void **state)
{
    (void)state;
    rh_mesh m = make_torus(12, 8, 0.6, 0.25);
    rh_mesh_report r;
    m.triangle_count--;
    rh_mesh_inspect(&m, &r, NULL);
    assert_int_equal(r.open_edges, 3);
    m.triangle_count++;
    flip(&m, 40);
    rh_mesh_inspect(&m, &r, NULL);
    assert_int_equal(r.flipped_edges, 3);
    flip(&m, 40);
    memcpy(m.triangles[7], m.triangles[100], sizeof m.triangles[7]);  // 100 twice, 7 missing
    rh_mesh_inspect(&m, &r, NULL);
    assert_int_equal(r.odd_edges, 3);
    assert_int_equal(r.open_edges, 3);
    m.triangles[7][1] = m.triangles[7][0];
    rh_mesh_inspect(&m, &r, NULL);
    assert_int_equal(r.degenerate, 1);
    assert_int_equal(r.odd_edges, 0);
    rh_mesh_free(&m);
}

static void transform_scales_turns_moves(void **state)
{
    (void)state;
    rh_mesh m = make_torus(48, 24, 0.6, 0.25);
    rh_mesh_transform(&m, 2, rh_d3(90, 0, 0), rh_d3(1, 2, 3));
    rh_dbox box = rh_mesh_bounds(&m);
    assert_near(box.min.x, 1 - 1.7, 1e-6);
    assert_near(box.max.y, 2 + 1.7, 0.01);
    assert_near(box.max.z, 3 + 0.5, 1e-6);
    rh_mesh_free(&m);
    box = rh_mesh_bounds(&m);
    assert_true(box.min.x > box.max.x);
}

static void welding_merges_equal_places_only(void **state)
{
    (void)state;
    rh_mesh m = make_sphere(8, 0.5);
    int64_t before = m.vertex_count;
    assert_int_equal(rh_mesh_weld(&m, NULL), RH_OK);
    assert_int_equal(before, 6 * 81);
    assert_int_equal(m.vertex_count, 6 * 8 * 8 + 2);  // Euler: v = faces / 2 + 2
    rh_mesh_report r;
    rh_mesh_inspect(&m, &r, NULL);
    assert_true(r.open_edges == 0);
    assert_near(r.volume, pi / 6, 0.02);
    rh_mesh_free(&m);
}

static void useless_meshes_are_refused(void **state)
{
    (void)state;
    rh_mesh m = make_torus(12, 8, 0.6, 0.25);
    rh_mesh_sdf *sdf = NULL;
    rh_status status = {0};
    assert_int_equal(rh_mesh_sdf_create(&m, 0, &sdf, &status), RH_USER);
    assert_non_null(strstr(status.message, "spacing is 0"));
    rh_status_clear(&status);
    assert_int_equal(rh_mesh_sdf_create(&m, 1e-5, &sdf, &status), RH_USER);
    assert_non_null(strstr(status.message, "spacing of at least"));
    double fits = strtod(strstr(status.message, "at least") + 8, NULL);
    assert_true(fits > 1e-3 && fits < 3e-3);  // 1.7 x 0.5 x 1.7 m in 512 million samples
    rh_status_clear(&status);
    m.vertices[3].y = NAN;
    assert_int_equal(rh_mesh_sdf_create(&m, 0.1, &sdf, &status), RH_USER);
    assert_non_null(strstr(status.message, "vertex 3 is not finite"));
    rh_status_clear(&status);
    m.vertices[3].y = -2e12f;
    assert_int_equal(rh_mesh_sdf_create(&m, 0.1, &sdf, &status), RH_USER);
    assert_non_null(strstr(status.message, "vertex 3 is at ["));
    rh_status_clear(&status);
    m.vertices[3].y = 0;
    m.triangles[5][2] = 96;
    assert_int_equal(rh_mesh_sdf_create(&m, 0.1, &sdf, &status), RH_USER);
    assert_non_null(strstr(status.message, "uses vertex 96"));
    rh_status_clear(&status);
    for (int64_t t = 0; t < m.triangle_count; t++) m.triangles[t][2] = m.triangles[t][1];
    assert_int_equal(rh_mesh_sdf_create(&m, 0.1, &sdf, &status), RH_USER);
    assert_non_null(strstr(status.message, "none with an area"));
    assert_null(sdf);
    rh_mesh_free(&m);
}

// --- tree ------------------------------------------------------------------------------------------------------------

static rh_bvh tree_of(const rh_mesh *m)
{
    rh_bvh_triangle *t = rh_alloc((size_t)m->triangle_count * sizeof *t, "test", NULL);
    for (int64_t i = 0; i < m->triangle_count; i++) rh_mesh_corners(m, i, t[i].corner);
    rh_bvh bvh;
    assert_int_equal(rh_bvh_build(t, m->triangle_count, &bvh, NULL), RH_OK);
    return bvh;
}

// Nearest of a dense net of points on every triangle.
static double sampled_distance(const rh_bvh *bvh, rh_dvec3 p)
{
    double best = INFINITY;
    enum { N = 24 };
    for (int32_t t = 0; t < bvh->triangle_count; t++) {
        rh_dvec3 a = rh_d3_from(bvh->triangles[t].corner[0]), b = rh_d3_from(bvh->triangles[t].corner[1]);
        rh_dvec3 c = rh_d3_from(bvh->triangles[t].corner[2]);
        for (int i = 0; i <= N; i++)
            for (int k = 0; k + i <= N; k++) {
                double u = (double)i / N, v = (double)k / N;
                rh_dvec3 q = rh_d3_add(rh_d3_scale(a, 1 - u - v), rh_d3_add(rh_d3_scale(b, u), rh_d3_scale(c, v)));
                best = fmin(best, rh_d3_length(rh_d3_sub(p, q)));
            }
    }
    return best;
}

static void nearest_triangle_agrees_with_brute_force(void **state)
{
    (void)state;
    rh_mesh m = make_torus(10, 6, 0.6, 0.25);
    rh_bvh bvh = tree_of(&m);
    for (uint64_t id = 0; id < 200; id++) {
        rh_dvec3 p = random_point(id, 1.2);
        int32_t hint = id % 3 ? (int32_t)(id % 120) : -1, other = -1;
        double d = sqrt(rh_bvh_distance2(&bvh, p, 0, &hint)), sampled = sampled_distance(&bvh, p);
        assert_true(d <= sampled + 1e-9 && sampled - d < 0.01);
        double loose = sqrt(rh_bvh_distance2(&bvh, p, 0.01, &other));
        assert_true(loose >= d - 1e-12 && loose <= d + 0.01 && (d > 0.16 || loose == d));
    }
    rh_bvh_free(&bvh);
    rh_mesh_free(&m);
}

// Any shape of input must give a tree of bounded depth: all in one place, exponentially spread, one alone.
static void odd_inputs_make_trees(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        int64_t count = kind == 2 ? 1 : 3000;
        rh_bvh_triangle *t = rh_alloc((size_t)count * sizeof *t, "test", NULL);
        for (int64_t i = 0; i < count; i++) {
            float x = kind == 1 ? powf(1.05f, (float)(i - count / 2)) : 1;
            t[i] = (rh_bvh_triangle){{rh_v3(x, 0, 0), rh_v3(x, 1, 0), rh_v3(x, 0, 1)}, 0};
        }
        rh_bvh bvh;
        assert_int_equal(rh_bvh_build(t, count, &bvh, NULL), RH_OK);
        int32_t hint = -1;
        assert_near(rh_bvh_distance2(&bvh, rh_d3(1, 0.25, 0.25), 0, &hint), 0, 1e-3);
        rh_bvh_free(&bvh);
    }
}

static void winding_number_counts_turns(void **state)
{
    (void)state;
    rh_mesh m = make_torus(64, 32, 0.6, 0.25);
    rh_bvh bvh = tree_of(&m);
    int inside = 0;
    for (uint64_t id = 0; id < 2000; id++) {
        rh_dvec3 p = random_point(id, 1);
        double d = torus_distance(p, 0.6, 0.25);
        if (fabs(d) < 0.005) continue;
        assert_near(rh_bvh_winding(&bvh, p), d < 0 ? 1 : 0, 0.04);
        inside += d < 0;
    }
    assert_true(inside > 100);
    rh_bvh_free(&bvh);
    rh_mesh_free(&m);
}

// --- distance fields -------------------------------------------------------------------------------------------------

static void distance_field_of_a_torus(void **state)
{
    (void)state;
    const double h = 0.02;
    rh_mesh m = make_torus(192, 96, 0.6, 0.25);
    rh_mesh_sdf *sdf = sample(&m, h);
    assert_true(rh_mesh_sdf_bytes(sdf) > 4 * 85 * 25 * 85);
    for (uint64_t id = 0; id < 20000; id++) {
        rh_dvec3 p = random_point(id, 1.0);
        double d = torus_distance(p, 0.6, 0.25), found = rh_mesh_sdf_distance(sdf, p);
        bool sampled = fabs(p.y) < 0.29 && fabs(p.x) < 0.88 && fabs(p.z) < 0.88;
        if (sampled) assert_near(found, d, fmax(0.5 * h, 0.01 * fabs(d)));
        if (fabs(d) < 2 * h) assert_near(found, d, 0.06 * h + 3e-4);  // the mesh itself is 3e-4 off the torus
        assert_true(fabs(found) <= fabs(d) + rh_mesh_sdf_slack(sdf));
        if (fabs(d) > 1e-3) assert_int_equal(found < 0, d < 0);
        if (fabs(d) > 2 * h) continue;
        rh_dvec3 ring = rh_d3_scale(rh_d3_unit(rh_d3(p.x, 0, p.z)), 0.6), n = rh_d3_unit(rh_d3_sub(p, ring));
        assert_true(rh_d3_dot(n, rh_mesh_sdf_normal(sdf, p)) > 0.995);
    }
    rh_mesh_sdf_free(sdf);
    rh_mesh_free(&m);
}

static void distance_outside_the_samples_is_a_lower_bound(void **state)
{
    (void)state;
    rh_mesh m = make_sphere(24, 0.5);
    rh_mesh_sdf *sdf = sample(&m, 0.05);
    for (uint64_t id = 0; id < 3000; id++) {
        rh_dvec3 p = random_point(id, 4);
        double d = rh_d3_length(p) - 0.5, found = rh_mesh_sdf_distance(sdf, p);
        if (d < 0.2) continue;
        assert_true(found <= d + 0.01 && found >= 0.7 * d);
        assert_near(rh_d3_length(rh_mesh_sdf_normal(sdf, p)), 1, 1e-9);
    }
    rh_mesh_sdf_free(sdf);
    rh_mesh_free(&m);
}

static void sides_agree(const rh_mesh_sdf *sdf, double margin, rh_dvec3 hole, double clear)
{
    int inside = 0;
    for (uint64_t id = 0; id < 20000; id++) {
        rh_dvec3 p = random_point(id, 0.8);
        double d = rh_d3_length(p) - 0.5;
        if (fabs(d) < margin || rh_d3_length(rh_d3_sub(p, hole)) < clear) continue;
        if ((rh_mesh_sdf_distance(sdf, p) < 0) != (d < 0)) fail_msg("wrong side at %g %g %g", p.x, p.y, p.z);
        inside += d < 0;
    }
    assert_true(inside > 1000);
}

static void sides_survive_turned_faces(void **state)
{
    (void)state;
    const double shares[] = {0.05, 0.3, 1};
    for (int i = 0; i < 3; i++) {
        rh_mesh m = make_sphere(24, 0.5);
        flip_share(&m, shares[i]);
        rh_mesh_sdf *sdf = sample(&m, 0.04);
        sides_agree(sdf, 0.004, rh_d3(0, 0, 0), 0);
        assert_near(rh_mesh_sdf_distance(sdf, rh_d3(0, 0, 0)), -0.5, rh_mesh_sdf_slack(sdf));
        rh_mesh_sdf_free(sdf);
        rh_mesh_free(&m);
    }
}

// Loose triangles know no neighbours, so orientation cannot be repaired and the winding number alone has to do: right
// away from the turned ones.
static void sides_survive_turned_faces_in_a_soup(void **state)
{
    (void)state;
    rh_mesh m = make_sphere(24, 0.5);
    rh_vec3 *loose = rh_alloc((size_t)m.triangle_count * 3 * sizeof *loose, "test", NULL);
    for (int64_t t = 0; t < m.triangle_count; t++) {  // each shrunk a little about its middle: no shared corners
        rh_vec3 c = middle_of(&m, t), corner[3];
        rh_mesh_corners(&m, t, corner);
        for (int k = 0; k < 3; k++) {
            loose[3 * t + k] = rh_v3_add(c, rh_v3_scale(rh_v3_sub(corner[k], c), 0.98f));
            m.triangles[t][k] = (uint32_t)(3 * t + k);
        }
    }
    rh_free(m.vertices);
    m.vertices = loose;
    m.vertex_count = 3 * m.triangle_count;
    flip_share(&m, 0.05);
    rh_mesh_sdf *sdf = sample(&m, 0.04);
    sides_agree(sdf, 0.08, rh_d3(0, 0, 0), 0);
    rh_mesh_sdf_free(sdf);
    rh_mesh_free(&m);
}

// A hole of 4 % of the area: sides right away from it, and a field without jumps across the lid.
static void holes_are_closed_by_a_lid(void **state)
{
    (void)state;
    rh_mesh m = make_sphere(24, 0.5);
    int64_t kept = 0;
    for (int64_t t = 0; t < m.triangle_count; t++) {
        if (middle_of(&m, t).y > 0.46f) continue;  // a cap of height 0.04: 4 % of the sphere, 0.2 m radius
        memcpy(m.triangles[kept++], m.triangles[t], sizeof *m.triangles);
    }
    assert_true(kept < m.triangle_count && kept > 0.93 * (double)m.triangle_count);
    m.triangle_count = kept;
    const double h = 0.03;
    rh_mesh_sdf *sdf = sample(&m, h);
    sides_agree(sdf, 0.004, rh_d3(0, 0.47, 0), 0.25);
    for (double x = -0.1; x <= 0.1; x += 0.05) {
        double before = rh_mesh_sdf_distance(sdf, rh_d3(x, 0.3, 0));
        assert_true(before < 0);
        for (double y = 0.3; y < 0.6; y += 0.1 * h) {
            double d = rh_mesh_sdf_distance(sdf, rh_d3(x, y, 0));
            assert_true(fabs(d - before) < 0.25 * h);  // a distance changes by the way walked; lids are coarser
            before = d;
        }
        assert_true(before > 0);
    }
    rh_mesh_sdf_free(sdf);
    rh_mesh_free(&m);
}

static void a_cavity_is_outside(void **state)
{
    (void)state;
    rh_mesh outer = make_sphere(16, 0.5), inner = make_sphere(16, 0.25);
    rh_mesh both = {.vertex_count = outer.vertex_count + inner.vertex_count,
                    .triangle_count = outer.triangle_count + inner.triangle_count};
    both.vertices = rh_alloc((size_t)both.vertex_count * sizeof *both.vertices, "test", NULL);
    both.triangles = rh_alloc((size_t)both.triangle_count * sizeof *both.triangles, "test", NULL);
    memcpy(both.vertices, outer.vertices, (size_t)outer.vertex_count * sizeof *both.vertices);
    memcpy(both.vertices + outer.vertex_count, inner.vertices, (size_t)inner.vertex_count * sizeof *both.vertices);
    memcpy(both.triangles, outer.triangles, (size_t)outer.triangle_count * sizeof *both.triangles);
    for (int64_t t = 0; t < inner.triangle_count; t++) {
        flip(&inner, t);
        for (int k = 0; k < 3; k++)
            both.triangles[outer.triangle_count + t][k] = inner.triangles[t][k] + (uint32_t)outer.vertex_count;
    }
    rh_mesh_sdf *sdf = sample(&both, 0.04);
    assert_near(rh_mesh_sdf_distance(sdf, rh_d3(0, 0, 0)), 0.25, rh_mesh_sdf_slack(sdf));
    assert_near(rh_mesh_sdf_distance(sdf, rh_d3(0.375, 0, 0)), -0.125, 0.02);
    rh_mesh_sdf_free(sdf);
    rh_mesh_free(&both);
    rh_mesh_free(&outer);
    rh_mesh_free(&inner);
}

static uint64_t field_hash(const rh_mesh *m, int threads)
{
    rh_threads_set(threads);
    rh_mesh_sdf *sdf = sample(m, 0.05);
    uint64_t hash = 0;
    for (uint64_t id = 0; id < 5000; id++) {
        double d = rh_mesh_sdf_distance(sdf, random_point(id, 1));
        hash = rh_hash(&d, sizeof d, hash);
    }
    rh_mesh_sdf_free(sdf);
    rh_threads_set(0);
    return hash;
}

static void same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    rh_mesh m = make_torus(40, 20, 0.6, 0.25);
    m.triangle_count -= 30;  // with a hole, so that lids are made
    uint64_t one = field_hash(&m, 1);
    assert_true(field_hash(&m, 2) == one && field_hash(&m, 5) == one);
    rh_mesh_free(&m);
}

// Samples are taken when somebody asks: in another order, or by several threads at once, they are the same.
static void same_bits_whoever_asks_first(void **state)
{
    (void)state;
    enum { POINTS = 20000 };
    rh_mesh m = make_torus(40, 20, 0.6, 0.25);
    rh_mesh_sdf *forth = sample(&m, 0.02), *back = sample(&m, 0.02), *crowd = sample(&m, 0.02);
    static double found[3][POINTS];
    for (int i = 0; i < POINTS; i++) found[0][i] = rh_mesh_sdf_distance(forth, random_point((uint64_t)i, 1));
    for (int i = POINTS - 1; i >= 0; i--) found[1][i] = rh_mesh_sdf_distance(back, random_point((uint64_t)i, 1));
#pragma omp parallel for schedule(dynamic, 1) num_threads(8)
    for (int i = 0; i < POINTS; i++) found[2][i] = rh_mesh_sdf_distance(crowd, random_point((uint64_t)i, 1));
    assert_memory_equal(found[0], found[1], sizeof found[0]);
    assert_memory_equal(found[0], found[2], sizeof found[0]);
    rh_mesh_sdf_free(forth);
    rh_mesh_sdf_free(back);
    rh_mesh_sdf_free(crowd);
    rh_mesh_free(&m);
}

static void failing_memory_is_survived(void **state)
{
    (void)state;
    rh_mesh m = make_torus(12, 8, 0.6, 0.25);
    m.triangle_count -= 20;
    int64_t held = rh_memory_bytes(), failures = 0;
    for (;; failures++) {
        rh_status status = {0};
        rh_mesh_sdf *sdf = NULL;
        rh_memory_fail_after(failures);
        rh_code code = rh_mesh_sdf_create(&m, 0.1, &sdf, &status);
        rh_memory_fail_after(-1);
        if (code == RH_OK) {
            rh_mesh_sdf_free(sdf);
            break;
        }
        assert_int_equal(code, RH_MEMORY);
        assert_null(sdf);
        assert_int_equal(rh_memory_bytes(), held);
    }
    assert_true(failures > 8);
    assert_int_equal(rh_memory_bytes(), held);
    rh_mesh_free(&m);
}

static int nothing_is_held(void **state)
{
    (void)state;
    return rh_memory_bytes() == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volume_and_edges_of_sound_meshes),
        cmocka_unit_test(faults_are_counted),
        cmocka_unit_test(transform_scales_turns_moves),
        cmocka_unit_test(welding_merges_equal_places_only),
        cmocka_unit_test(useless_meshes_are_refused),
        cmocka_unit_test(nearest_triangle_agrees_with_brute_force),
        cmocka_unit_test(odd_inputs_make_trees),
        cmocka_unit_test(winding_number_counts_turns),
        cmocka_unit_test(distance_field_of_a_torus),
        cmocka_unit_test(distance_outside_the_samples_is_a_lower_bound),
        cmocka_unit_test(sides_survive_turned_faces),
        cmocka_unit_test(sides_survive_turned_faces_in_a_soup),
        cmocka_unit_test(holes_are_closed_by_a_lid),
        cmocka_unit_test(a_cavity_is_outside),
        cmocka_unit_test(same_bits_for_any_number_of_threads),
        cmocka_unit_test(same_bits_whoever_asks_first),
        cmocka_unit_test(failing_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_is_held);
}
