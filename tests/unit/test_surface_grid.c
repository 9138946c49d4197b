// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Narrow bands through OpenVDB: volume, filters against what is known of spheres, meshes (closed, outward, channels exact), files, threads.
#include "support.h"
#include "bands.h"
#include <signal.h>
#include <sys/resource.h>
#include "base/hash.h"
#include "io/file.h"
#include "io/surface_grid.h"
#include "io/vdb.h"
#include "unit/scratch.h"

static const rh_frame_info facts = {7, 0.25, 24, 0.05, 0xfedcba9876543210ull, 0};
static const band_balls one_ball = {1, {{0.013, -0.021, 0.007, 0.5}}};
static const band_ring ring = {0.6, 0.25};

static rh_surface_grid *grid_of(band_shape *shape, const void *parameters, double voxel, bool channels)
{
    rh_status status = {0};
    rh_surface_grid *grid;
    rh_band band = band_make(shape, parameters, 1.2, voxel, 3, channels);
    assert_ok(rh_surface_grid_create(&band, &grid, &status));
    assert_int_equal(rh_surface_grid_active(grid), rh_band_active(&band));
    rh_band_free(&band);
    return grid;
}

static rh_skin mesh_of(const rh_surface_grid *grid, double adaptivity)
{
    rh_status status = {0};
    rh_skin skin;
    assert_ok(rh_surface_grid_mesh(grid, adaptivity, &skin, &status));
    return skin;
}

// --- what a mesh must be -------------------------------------------------------------------------------------------

static rh_dvec3 vertex(const rh_skin *skin, uint32_t v) { return rh_d3_from(skin->position[v]); }

static double cone(const rh_skin *s, uint32_t a, uint32_t b, uint32_t c)
{
    return rh_d3_dot(vertex(s, a), rh_d3_cross(vertex(s, b), vertex(s, c))) / 6;
}

// Positive when counter-clockwise from outside.
static double enclosed(const rh_skin *s)
{
    double sum = 0;
    for (int64_t t = 0; t < s->triangle_count; t++) sum += cone(s, s->triangle[t][0], s->triangle[t][1], s->triangle[t][2]);
    for (int64_t q = 0; q < s->quad_count; q++)
        sum += cone(s, s->quad[q][0], s->quad[q][1], s->quad[q][2]) + cone(s, s->quad[q][0], s->quad[q][2], s->quad[q][3]);
    return sum;
}

typedef struct edge { uint32_t low, high; int direction; } edge;

static int edge_order(const void *a, const void *b)
{
    const edge *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    return p->high < q->high ? -1 : p->high > q->high;
}

static void add_edges(edge *edges, int64_t *count, const uint32_t *corner, int corners, int64_t vertices)
{
    for (int k = 0; k < corners; k++) {
        uint32_t a = corner[k], b = corner[(k + 1) % corners];
        assert_true(a < vertices && a != b);
        edges[(*count)++] = (edge){a < b ? a : b, a < b ? b : a, a < b ? 1 : -1};
    }
}

// Every edge is run through as often in one direction as in the other; returns how many are used more than twice.
static int64_t check_closed(const rh_skin *s)
{
    int64_t count = 0, crowded = 0;
    edge *edges = malloc((size_t)(3 * s->triangle_count + 4 * s->quad_count + 1) * sizeof *edges);
    for (int64_t t = 0; t < s->triangle_count; t++) add_edges(edges, &count, s->triangle[t], 3, s->vertex_count);
    for (int64_t q = 0; q < s->quad_count; q++) add_edges(edges, &count, s->quad[q], 4, s->vertex_count);
    qsort(edges, (size_t)count, sizeof *edges, edge_order);
    for (int64_t i = 0; i < count;) {
        int sum = 0;
        int64_t first = i;
        for (; i < count && edge_order(&edges[first], &edges[i]) == 0; i++) sum += edges[i].direction;
        assert_int_equal(sum, 0);
        crowded += i - first != 2;
    }
    free(edges);
    return crowded;
}

static void check_used(const rh_skin *s)
{
    char *used = calloc((size_t)s->vertex_count + 1, 1);
    for (int64_t t = 0; t < s->triangle_count; t++)
        for (int k = 0; k < 3; k++) used[s->triangle[t][k]] = 1;
    for (int64_t q = 0; q < s->quad_count; q++)
        for (int k = 0; k < 4; k++) used[s->quad[q][k]] = 1;
    for (int64_t v = 0; v < s->vertex_count; v++) assert_true(used[v]);
    free(used);
}

static void check_finite(const rh_skin *s)
{
    for (int64_t v = 0; v < s->vertex_count; v++) {
        assert_true(isfinite(s->position[v].x) && isfinite(s->position[v].y) && isfinite(s->position[v].z));
        assert_near(rh_v3_length(s->normal[v]), 1, 1e-5);
    }
}

static uint64_t skin_hash(const rh_skin *s)
{
    uint64_t h = rh_hash(s->position, (size_t)s->vertex_count * sizeof *s->position, 1);
    h = rh_hash(s->normal, (size_t)s->vertex_count * sizeof *s->normal, h);
    h = rh_hash(s->triangle, (size_t)s->triangle_count * sizeof *s->triangle, h);
    h = rh_hash(s->quad, (size_t)s->quad_count * sizeof *s->quad, h);
    for (int c = 0; c < s->channel_count; c++)
        h = rh_hash(s->channels[c].data, (size_t)s->vertex_count * rh_point_type_size(s->channels[c].type), h);
    return h;
}

// --- tests ---------------------------------------------------------------------------------------------------------

static void volume_is_that_of_the_shape(void **state)
{
    (void)state;
    double ball = 4 * M_PI / 3 * 0.125, torus = 2 * M_PI * M_PI * 0.6 * 0.25 * 0.25;
    rh_surface_grid *grid = grid_of(band_of_balls, &one_ball, 0.05, false);
    assert_near(rh_surface_grid_volume(grid) / ball, 1, 2e-3);  // ten voxels a radius
    rh_surface_grid_free(grid);
    grid = grid_of(band_of_balls, &one_ball, 0.0125, false);  // with tiles inside
    assert_near(rh_surface_grid_volume(grid) / ball, 1, 1e-4);
    rh_surface_grid_free(grid);
    grid = grid_of(band_of_ring, &ring, 0.025, false);
    assert_near(rh_surface_grid_volume(grid) / torus, 1, 1e-3);
    rh_surface_grid_free(grid);
}

static void an_empty_band_is_an_empty_grid(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "empty.vdb");
    rh_status status = {0};
    rh_band band = {.voxel = 0.1, .background = 0.3f};
    rh_surface_grid *grid, *read;
    rh_filter_params filter = {.kind = RH_FILTER_FILL, .iterations = 2, .width = 1};
    assert_ok(rh_surface_grid_create(&band, &grid, &status));
    assert_ok(rh_surface_grid_filter(grid, &filter, 1, &status));
    rh_skin skin = mesh_of(grid, 0);
    assert_true(skin.vertex_count == 0 && skin.quad_count == 0 && rh_surface_grid_volume(grid) == 0);
    assert_ok(rh_surface_grid_write(path.text, grid, &facts, &status));
    assert_ok(rh_surface_grid_read(path.text, &read, NULL, &status));
    assert_int_equal(rh_surface_grid_active(read), 0);
    rh_skin_free(&skin);
    rh_surface_grid_free(grid);
    rh_surface_grid_free(read);
    band.voxel = 0;
    assert_int_equal(rh_surface_grid_create(&band, &grid, &status), RH_USER);
    assert_null(grid);
    scratch_remove(&s);
}

static void meshes_are_closed_and_face_outward(void **state)
{
    (void)state;
    static const band_balls touching = {4, {{-0.3, 0, 0, 0.3}, {0.3, 0, 0, 0.3}, {0, 0.45, 0.01, 0.2}, {0, -0.3, 0, 0.11}}};
    static const band_balls tiny = {5, {{0, 0, 0, 0.03}, {0.5, 0.01, 0.02, 0.04}, {-0.5, 0.025, 0.025, 0.051}, {0, 0.51, 0, 0.026}, {0.025, -0.5, 0.025, 0.044}}};
    static const struct { band_shape *shape; const void *parameters; double volume, tolerance; } cases[] = {
        {band_of_balls, &one_ball, 4 * M_PI / 3 * 0.125, 0.02}, {band_of_ring, &ring, 2 * M_PI * M_PI * 0.6 * 0.0625, 0.03},
        {band_of_balls, &touching, 0.2, 1}, {band_of_balls, &tiny, 1e-4, 1e9}};
    static const double adaptivity[] = {0, 0.05, 0.5, 1};
    for (int c = 0; c < 4; c++)
        for (int a = 0; a < 4; a++) {
            rh_surface_grid *grid = grid_of(cases[c].shape, cases[c].parameters, 0.05, false);
            rh_skin skin = mesh_of(grid, adaptivity[a]);
            int64_t crowded = check_closed(&skin);
            double volume = enclosed(&skin);
            printf("case %d adaptivity %g: %lld vertices, %lld triangles, %lld quads, volume %g, %lld crowded edges\n", c, adaptivity[a], (long long)skin.vertex_count,
                   (long long)skin.triangle_count, (long long)skin.quad_count, volume, (long long)crowded);
            assert_int_equal(crowded, 0);
            assert_true(volume > 0 && fabs(volume / cases[c].volume - 1) < cases[c].tolerance + adaptivity[a]);
            if (adaptivity[a] == 0) assert_int_equal(skin.triangle_count, 0);
            check_used(&skin);
            check_finite(&skin);
            rh_skin_free(&skin);
            rh_surface_grid_free(grid);
        }
}

static void normals_point_outward_and_channels_are_exact(void **state)
{
    (void)state;
    rh_surface_grid *grid = grid_of(band_of_balls, &one_ball, 0.05, true);
    rh_skin skin = mesh_of(grid, 0);
    assert_int_equal(skin.channel_count, 4);
    for (int64_t v = 0; v < skin.vertex_count; v++) {
        rh_vec3 p = skin.position[v];
        rh_vec3 out = rh_v3(p.x - 0.013f, p.y + 0.021f, p.z - 0.007f);
        assert_near(rh_v3_length(out), 0.5, 0.002);
        assert_true(rh_v3_dot(skin.normal[v], out) / rh_v3_length(out) > 0.999f);
        rh_vec3 u = band_velocity(p.x, p.y, p.z), w = ((rh_vec3 *)skin.channels[0].data)[v];
        assert_near(rh_v3_length(rh_v3_sub(u, w)), 0, 1e-5);
        assert_near(((float *)skin.channels[1].data)[v], band_heat(p.x, p.y, p.z), 1e-5);
        if (fabsf(p.x) < 0.03f) continue;
        assert_int_equal(((int32_t *)skin.channels[2].data)[v], band_half(p.x));
        assert_true(((int64_t *)skin.channels[3].data)[v] == ((int64_t)1 << 40) + band_half(p.x));
    }
    rh_skin_free(&skin);
    rh_surface_grid_free(grid);
}

static void too_many_vertices_are_refused(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_surface_grid *grid = grid_of(band_of_balls, &one_ball, 0.05, true);
    rh_skin skin = mesh_of(grid, 0), none;
    assert_int_equal(rh_surface_grid_mesh_within(grid, 0, skin.vertex_count - 1, &none, &status), RH_USER);
    assert_non_null(strstr(status.message, "vertices"));
    assert_null(none.position);
    char exact[64];
    snprintf(exact, sizeof exact, " %lld vertices", (long long)skin.vertex_count);
    assert_non_null(strstr(status.message, exact));  // the count is exact
    rh_skin_free(&skin);
    rh_status_clear(&status);
    assert_ok(rh_surface_grid_mesh_within(grid, 0, skin.vertex_count + 100000, &skin, &status));
    rh_skin_free(&skin);
    assert_int_equal(rh_surface_grid_mesh(grid, NAN, &none, &status), RH_USER);
    rh_code code = RH_MEMORY;
    int tries = 0;
    for (; code != RH_OK; tries++) {
        rh_memory_fail_after(tries);
        code = rh_surface_grid_mesh(grid, 0, &skin, NULL);
        rh_memory_fail_after(-1);
        assert_true(code == RH_OK || (code == RH_MEMORY && !skin.position));
    }
    assert_true(tries > 8);
    rh_skin_free(&skin);
    rh_surface_grid_free(grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volume_is_that_of_the_shape),
        cmocka_unit_test(an_empty_band_is_an_empty_grid),
        cmocka_unit_test(meshes_are_closed_and_face_outward),
        cmocka_unit_test(normals_point_outward_and_channels_are_exact),
        cmocka_unit_test(too_many_vertices_are_refused),
    };
    (void)skin_hash;
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
