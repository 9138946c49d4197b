// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Narrow bands through OpenVDB: volume, filters against what is known of spheres, meshes (closed, outward, channels
// exact), files, threads.
#include "support.h"
#include "bands.h"
#include <signal.h>
#include <sys/resource.h>
#include "base/hash.h"
#include "io/file.h"
#include "io/surface_grid.h"
#include "io/vdb.h"
#include "unit/foreign_vdb.h"
#include "unit/scratch.h"

static const rh_frame_info facts = {7, 0.25, 24, 0.05, 0xfedcba9876543210ull, 0};
static const band_balls one_ball = {1, {{0.013, -0.021, 0.007, 0.5}}};
static const band_ring ring = {0.6, 0.25};

// No distance at all: noise from voxel to voxel, with every ambiguous cell a mesher can meet.
static double rough(const void *parameters, double x, double y, double z)
{
    const double voxel = *(const double *)parameters;
    uint64_t id = 0;
    for (int a = 0; a < 3; a++) id = id * 1000 + (uint64_t)(lround((a == 0 ? x : a == 1 ? y : z) / voxel) + 500);
    return fmax(sqrt(x * x + y * y + z * z) - 0.5, voxel * support_random(id, 0));
}

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

static const void *channel_of(const rh_surface_mesh *mesh, const char *name)
{
    for (int c = 0; c < mesh->channel_count; c++)
        if (strcmp(mesh->channels[c].name, name) == 0) return mesh->channels[c].data;
    fail_msg("no channel %s", name);
    return NULL;
}

static rh_surface_mesh mesh_of(const rh_surface_grid *grid, double adaptivity)
{
    rh_status status = {0};
    rh_surface_mesh mesh;
    assert_ok(rh_surface_grid_mesh(grid, adaptivity, &mesh, &status));
    return mesh;
}

// --- what a mesh must be ---------------------------------------------------------------------------------------------

static rh_dvec3 vertex(const rh_surface_mesh *mesh, uint32_t v) { return rh_d3_from(mesh->position[v]); }

static double cone(const rh_surface_mesh *s, uint32_t a, uint32_t b, uint32_t c)
{
    return rh_d3_dot(vertex(s, a), rh_d3_cross(vertex(s, b), vertex(s, c))) / 6;
}

// Positive when counter-clockwise from outside.
static double enclosed(const rh_surface_mesh *s)
{
    double sum = 0;
    for (int64_t t = 0; t < s->triangle_count; t++)
        sum += cone(s, s->triangle[t][0], s->triangle[t][1], s->triangle[t][2]);
    for (int64_t q = 0; q < s->quad_count; q++)
        sum += cone(s, s->quad[q][0], s->quad[q][1], s->quad[q][2]) +
               cone(s, s->quad[q][0], s->quad[q][2], s->quad[q][3]);
    return sum;
}

typedef struct edge {
    uint32_t low, high;
    int direction;
} edge;

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
static int64_t check_closed(const rh_surface_mesh *s)
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

static void check_used(const rh_surface_mesh *s)
{
    char *used = calloc((size_t)s->vertex_count + 1, 1);
    for (int64_t t = 0; t < s->triangle_count; t++)
        for (int k = 0; k < 3; k++) used[s->triangle[t][k]] = 1;
    for (int64_t q = 0; q < s->quad_count; q++)
        for (int k = 0; k < 4; k++) used[s->quad[q][k]] = 1;
    for (int64_t v = 0; v < s->vertex_count; v++) assert_true(used[v]);
    free(used);
}

static void check_finite(const rh_surface_mesh *s)
{
    for (int64_t v = 0; v < s->vertex_count; v++) {
        assert_true(isfinite(s->position[v].x) && isfinite(s->position[v].y) && isfinite(s->position[v].z));
        assert_near(rh_v3_length(s->normal[v]), 1, 1e-5);
    }
}

static uint64_t mesh_hash(const rh_surface_mesh *s)
{
    uint64_t h = rh_hash(s->position, (size_t)s->vertex_count * sizeof *s->position, 1);
    h = rh_hash(s->normal, (size_t)s->vertex_count * sizeof *s->normal, h);
    h = rh_hash(s->triangle, (size_t)s->triangle_count * sizeof *s->triangle, h);
    h = rh_hash(s->quad, (size_t)s->quad_count * sizeof *s->quad, h);
    for (int c = 0; c < s->channel_count; c++)
        h = rh_hash(s->channels[c].data, (size_t)s->vertex_count * rh_point_type_size(s->channels[c].type), h);
    return h;
}

// --- tests -----------------------------------------------------------------------------------------------------------

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
    rh_surface_mesh mesh = mesh_of(grid, 0);
    assert_true(mesh.vertex_count == 0 && mesh.quad_count == 0 && rh_surface_grid_volume(grid) == 0);
    assert_ok(rh_surface_grid_write(path.text, grid, &facts, &status));
    assert_ok(rh_surface_grid_read(path.text, &read, NULL, &status));
    assert_int_equal(rh_surface_grid_active(read), 0);
    rh_surface_mesh_free(&mesh);
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
    static const band_balls touching = {
        4, {{-0.3, 0, 0, 0.3}, {0.3, 0, 0, 0.3}, {0, 0.45, 0.01, 0.2}, {0, -0.3, 0, 0.11}}};
    static const band_balls tiny = {5,
                                    {{0, 0, 0, 0.03},
                                     {0.5, 0.01, 0.02, 0.04},
                                     {-0.5, 0.025, 0.025, 0.051},
                                     {0, 0.51, 0, 0.026},
                                     {0.025, -0.5, 0.025, 0.044}}};
    static const struct {
        band_shape *shape;
        const void *parameters;
        double volume, tolerance;
    } cases[] = {{band_of_balls, &one_ball, 4 * M_PI / 3 * 0.125, 0.02},
                 {band_of_ring, &ring, 2 * M_PI * M_PI * 0.6 * 0.0625, 0.03},
                 {band_of_balls, &touching, 0.2, 1},
                 {band_of_balls, &tiny, 1e-4, 1e9}};
    static const double adaptivity[] = {0, 0.05, 0.5, 1};
    for (int c = 0; c < 4; c++)
        for (int a = 0; a < 4; a++) {
            rh_surface_grid *grid = grid_of(cases[c].shape, cases[c].parameters, 0.05, false);
            rh_surface_mesh mesh = mesh_of(grid, adaptivity[a]);
            int64_t crowded = check_closed(&mesh);
            double volume = enclosed(&mesh);
            assert_int_equal(crowded, 0);
            assert_true(volume > 0 && fabs(volume / cases[c].volume - 1) < cases[c].tolerance + adaptivity[a]);
            if (adaptivity[a] == 0) assert_int_equal(mesh.triangle_count, 0);
            check_used(&mesh);
            check_finite(&mesh);
            rh_surface_mesh_free(&mesh);
            rh_surface_grid_free(grid);
        }
}

static void noise_gives_closed_meshes(void **state)
{
    (void)state;
    double voxel = 0.05;
    rh_surface_grid *grid = grid_of(rough, &voxel, voxel, false);
    static const double adaptivity[] = {0, 0.2, 1};
    for (int a = 0; a < 3; a++) {
        rh_surface_mesh mesh = mesh_of(grid, adaptivity[a]);
        int64_t crowded = check_closed(&mesh);
        assert_true(crowded == 0 && mesh.vertex_count > 6000);
        check_used(&mesh);
        check_finite(&mesh);
        rh_surface_mesh_free(&mesh);
    }
    rh_surface_grid_free(grid);
}

static void normals_point_outward_and_channels_are_exact(void **state)
{
    (void)state;
    rh_surface_grid *grid = grid_of(band_of_balls, &one_ball, 0.05, true);
    rh_surface_mesh mesh = mesh_of(grid, 0);
    assert_int_equal(mesh.channel_count, 4);
    for (int64_t v = 0; v < mesh.vertex_count; v++) {
        rh_vec3 p = mesh.position[v];
        rh_vec3 out = rh_v3(p.x - 0.013f, p.y + 0.021f, p.z - 0.007f);
        assert_near(rh_v3_length(out), 0.5, 0.002);
        assert_true(rh_v3_dot(mesh.normal[v], out) / rh_v3_length(out) > 0.999f);
        rh_vec3 u = band_velocity(p.x, p.y, p.z), w = ((const rh_vec3 *)channel_of(&mesh, "vel"))[v];
        assert_near(rh_v3_length(rh_v3_sub(u, w)), 0, 1e-5);
        assert_near(((const float *)channel_of(&mesh, "heat"))[v], band_heat(p.x, p.y, p.z), 1e-5);
        if (fabsf(p.x) < 0.03f) continue;
        assert_int_equal(((const int32_t *)channel_of(&mesh, "side"))[v], band_half(p.x));
        assert_true(((const int64_t *)channel_of(&mesh, "tag"))[v] == ((int64_t)1 << 40) + band_half(p.x));
    }
    rh_surface_mesh_free(&mesh);
    rh_surface_grid_free(grid);
}

static void too_many_vertices_are_refused(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_surface_grid *grid = grid_of(band_of_balls, &one_ball, 0.05, true);
    rh_surface_mesh mesh = mesh_of(grid, 0), none;
    assert_int_equal(rh_surface_grid_mesh_within(grid, 0, mesh.vertex_count - 1, &none, &status), RH_USER);
    assert_non_null(strstr(status.message, "vertices"));
    assert_null(none.position);
    char exact[64];
    snprintf(exact, sizeof exact, " %lld vertices", (long long)mesh.vertex_count);
    assert_non_null(strstr(status.message, exact));  // the count is exact
    rh_surface_mesh_free(&mesh);
    rh_status_clear(&status);
    assert_ok(rh_surface_grid_mesh_within(grid, 0, mesh.vertex_count + 100000, &mesh, &status));
    rh_surface_mesh_free(&mesh);
    assert_int_equal(rh_surface_grid_mesh(grid, NAN, &none, &status), RH_USER);
    rh_code code = RH_MEMORY;
    int tries = 0;
    for (; code != RH_OK; tries++) {
        rh_memory_fail_after(tries);
        code = rh_surface_grid_mesh(grid, 0, &mesh, NULL);
        rh_memory_fail_after(-1);
        assert_true(code == RH_OK || (code == RH_MEMORY && !mesh.position));
    }
    assert_true(tries > 8);
    rh_surface_mesh_free(&mesh);
    rh_surface_grid_free(grid);
}

// --- filters ---------------------------------------------------------------------------------------------------------

static void filter_with(rh_surface_grid *grid, rh_filter_params filter)
{
    rh_status status = {0};
    if (filter.iterations == 0) filter.iterations = 1;
    if (filter.width == 0) filter.width = 1;
    if (filter.mask_max == 0 && filter.mask_min == 0) filter.mask_max = 1;
    assert_ok(rh_surface_grid_filter(grid, &filter, 1, &status));
}

// The radius of a sphere of that volume.
static double radius_after(band_shape *shape, const void *parameters, rh_filter_params filter)
{
    rh_surface_grid *grid = grid_of(shape, parameters, 0.05, false);
    filter_with(grid, filter);
    double radius = cbrt(rh_surface_grid_volume(grid) * 3 / (4 * M_PI));
    rh_surface_grid_free(grid);
    return radius;
}

static void spheres_shrink_by_their_curvature(void **state)
{
    (void)state;
    double step = 0.05 * 0.05 / 3 / 0.5;  // dx^2 / 3 times 1 / R, for both
    double curved = 0.5 - radius_after(band_of_balls, &one_ball,
                                       (rh_filter_params){.kind = RH_FILTER_CURVATURE, .iterations = 10});
    double diffused = 0.5 - radius_after(band_of_balls, &one_ball,
                                         (rh_filter_params){.kind = RH_FILTER_LAPLACIAN, .iterations = 10});
    double kept = 0.5 - radius_after(band_of_balls, &one_ball,
                                     (rh_filter_params){.kind = RH_FILTER_RENORMALISE, .iterations = 10});
    double median = 0.5 - radius_after(band_of_balls, &one_ball,
                                       (rh_filter_params){.kind = RH_FILTER_MEDIAN, .iterations = 3});
    double mean = 0.5 -
                  radius_after(band_of_balls, &one_ball, (rh_filter_params){.kind = RH_FILTER_MEAN, .iterations = 3});
    double four = 0.5 -
                  radius_after(band_of_balls, &one_ball, (rh_filter_params){.kind = RH_FILTER_MEAN, .iterations = 4});
    double gauss = 0.5 - radius_after(band_of_balls, &one_ball,
                                      (rh_filter_params){.kind = RH_FILTER_GAUSSIAN, .iterations = 1});
    assert_near(curved / (10 * step), 1, 0.06);
    assert_near(diffused / (10 * step), 1, 0.06);
    assert_near(kept, 0, 2e-4);
    assert_near(median, 0, 0.01);
    // A box of three voxels along each axis: phi + (3^2 - 1) / 24 dx^2 laplace(phi), laplace = 2 / R.
    assert_near(mean / (3 * 0.05 * 0.05 / 3 * 2 / 0.5), 1, 0.06);
    assert_true(gauss == four);
}

static void offsets_move_by_the_distance(void **state)
{
    (void)state;
    assert_near(radius_after(band_of_balls, &one_ball, (rh_filter_params){.kind = RH_FILTER_DILATE, .distance = 0.3}),
                0.8, 0.005);
    assert_near(radius_after(band_of_balls, &one_ball, (rh_filter_params){.kind = RH_FILTER_DILATE, .distance = 0.02}),
                0.52, 0.001);
    assert_near(radius_after(band_of_balls, &one_ball, (rh_filter_params){.kind = RH_FILTER_DILATE}), 0.55, 0.002);
    assert_near(radius_after(band_of_balls, &one_ball, (rh_filter_params){.kind = RH_FILTER_ERODE, .distance = 0.3}),
                0.2, 0.005);
    assert_near(radius_after(band_of_balls, &one_ball, (rh_filter_params){.kind = RH_FILTER_ERODE, .distance = 0.7}), 0,
                1e-9);
    static const band_balls large_and_small = {2, {{-0.3, 0, 0, 0.4}, {0.6, 0, 0, 0.12}}};
    assert_near(
        radius_after(band_of_balls, &large_and_small, (rh_filter_params){.kind = RH_FILTER_OPEN, .distance = 0.2}), 0.4,
        0.005);
    static const band_balls apart = {2, {{-0.4, 0, 0, 0.36}, {0.4, 0, 0, 0.36}}};
    double before = 0.36 * cbrt(2);
    assert_near(radius_after(band_of_balls, &apart, (rh_filter_params){.kind = RH_FILTER_OPEN, .distance = 0.1}),
                before, 0.005);
    double bridged = radius_after(band_of_balls, &apart, (rh_filter_params){.kind = RH_FILTER_CLOSE, .distance = 0.2});
    assert_true(bridged > before + 0.003 && bridged < before + 0.03);
}

// Smoothing that only adds, and fillets, leave what is convex alone and fill what is hollow.
static void hollows_are_filled(void **state)
{
    (void)state;
    static const band_balls crossing = {2, {{-0.3, 0, 0, 0.4}, {0.3, 0, 0, 0.4}}};
    for (int k = 0; k < 2; k++) {
        rh_filter_params filter = {.kind = k ? RH_FILTER_FILLET : RH_FILTER_FILL, .iterations = 5};
        assert_near(radius_after(band_of_balls, &one_ball, filter), 0.5, 0.001);
        double before = radius_after(band_of_balls, &crossing, (rh_filter_params){.kind = RH_FILTER_RENORMALISE});
        assert_true(radius_after(band_of_balls, &crossing, filter) > before + 0.002);
    }
    // Nothing is taken away: seen from inside the old surface no vertex of the new one lies more than the mesh's own
    // error deep.
    rh_surface_grid *grid = grid_of(band_of_balls, &crossing, 0.05, false);
    filter_with(grid, (rh_filter_params){.kind = RH_FILTER_FILL, .iterations = 3, .width = 2});
    rh_surface_mesh mesh = mesh_of(grid, 0);
    for (int64_t v = 0; v < mesh.vertex_count; v++)
        assert_true(band_of_balls(&crossing, mesh.position[v].x, mesh.position[v].y, mesh.position[v].z) > -0.004);
    rh_surface_mesh_free(&mesh);
    rh_surface_grid_free(grid);
}

static double doubled(const void *parameters, double x, double y, double z)
{
    return 2 * band_of_balls(parameters, x, y, z);
}

static void renormalising_makes_distances(void **state)
{
    (void)state;
    rh_surface_grid *good = grid_of(band_of_balls, &one_ball, 0.05, true),
                    *steep = grid_of(doubled, &one_ball, 0.05, true);
    assert_true(rh_surface_grid_active(steep) < 0.6 * (double)rh_surface_grid_active(good));
    filter_with(steep, (rh_filter_params){.kind = RH_FILTER_RENORMALISE, .iterations = 8});
    assert_near((double)rh_surface_grid_active(steep) / (double)rh_surface_grid_active(good), 1, 0.03);
    assert_near(rh_surface_grid_volume(steep) / rh_surface_grid_volume(good), 1, 0.005);
    rh_surface_grid_free(good);
    rh_surface_grid_free(steep);
}

// heat = x + 2 y + 3 z: where it is below -0.5 nothing happens, above 0.5 all of it; turned round the other way.
static void masks_say_where(void **state)
{
    (void)state;
    for (int turned = 0; turned < 2; turned++) {
        rh_filter_params filter = {.kind = RH_FILTER_DILATE,
                                   .distance = 0.2,
                                   .mask = (char[]){"heat"},
                                   .mask_min = turned ? 0.5 : -0.5,
                                   .mask_max = turned ? -0.5 : 0.5};
        rh_surface_grid *grid = grid_of(band_of_balls, &one_ball, 0.05, true);
        filter_with(grid, filter);
        rh_surface_mesh mesh = mesh_of(grid, 0);
        int64_t moved = 0, kept = 0;
        for (int64_t v = 0; v < mesh.vertex_count; v++) {
            rh_vec3 p = mesh.position[v];
            float heat = ((const float *)channel_of(&mesh, "heat"))[v],
                  r = rh_v3_length(rh_v3(p.x - 0.013f, p.y + 0.021f, p.z - 0.007f));
            if (turned) heat = -heat;
            if (heat > 0.7f) assert_near(r, 0.7, 0.01), moved++;
            if (heat < -0.7f) assert_near(r, 0.5, 0.01), kept++;
        }
        assert_true(moved > 100 && kept > 100);
        rh_surface_mesh_free(&mesh);
        rh_surface_grid_free(grid);
    }
}

static void masks_that_are_none_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {"hat", "side", "vel"};
    for (int i = 0; i < 3; i++) {
        rh_status status = {0};
        rh_filter_params filter = {
            .kind = RH_FILTER_MEAN, .iterations = 1, .width = 1, .mask = (char *)(uintptr_t)wrong[i], .mask_max = 1};
        rh_surface_grid *grid = grid_of(band_of_balls, &one_ball, 0.1, true);
        assert_int_equal(rh_surface_grid_filter(grid, &filter, 1, &status), RH_USER);
        assert_non_null(strstr(status.message, wrong[i]));
        assert_non_null(strstr(status.message, "(heat)"));
        assert_true((strstr(status.message, "did you mean 'heat'?") != NULL) == (i == 0));
        rh_surface_grid_free(grid);
    }
}

// Two balls with labels of their own grow by ten voxels, farther than the band: labels and velocities go with them.
static void channels_follow_the_surface(void **state)
{
    (void)state;
    static const band_balls pair = {2, {{-0.7, 0, 0, 0.2}, {0.7, 0, 0, 0.2}}};
    rh_surface_grid *grid = grid_of(band_of_balls, &pair, 0.04, true);
    filter_with(grid, (rh_filter_params){.kind = RH_FILTER_DILATE, .distance = 0.4});
    filter_with(grid, (rh_filter_params){.kind = RH_FILTER_GAUSSIAN});
    rh_surface_mesh mesh = mesh_of(grid, 0);
    assert_int_equal(check_closed(&mesh), 0);
    for (int64_t v = 0; v < mesh.vertex_count; v++) {
        rh_vec3 p = mesh.position[v];
        assert_int_equal(((const int32_t *)channel_of(&mesh, "side"))[v], band_half(p.x));
        assert_true(((const int64_t *)channel_of(&mesh, "tag"))[v] == ((int64_t)1 << 40) + band_half(p.x));
        // The nearest voxels that the old band had, at its outer border (radius 0.32), in the same direction.
        double side = p.x < 0 ? -0.7 : 0.7, r = rh_v3_length(rh_v3(p.x - (float)side, p.y, p.z)),
               x = side + (p.x - side) * 0.3 / r;
        assert_near(((const rh_vec3 *)channel_of(&mesh, "vel"))[v].x, 1 + x, 0.08);  // two voxels
    }
    rh_surface_mesh_free(&mesh);
    rh_surface_grid_free(grid);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "a.vdb");
    rh_filter_params filters[] = {
        {.kind = RH_FILTER_MEAN, .iterations = 2, .width = 2, .mask = (char[]){"heat"}, .mask_max = 1},
        {.kind = RH_FILTER_GAUSSIAN, .iterations = 1, .width = 1},
        {.kind = RH_FILTER_MEDIAN, .iterations = 1, .width = 1},
        {.kind = RH_FILTER_CURVATURE, .iterations = 2},
        {.kind = RH_FILTER_LAPLACIAN, .iterations = 2},
        {.kind = RH_FILTER_FILLET, .iterations = 2, .mask = (char[]){"heat"}, .mask_min = 1, .mask_max = 0},
        {.kind = RH_FILTER_FILL, .iterations = 2, .width = 2},
        {.kind = RH_FILTER_CLOSE, .iterations = 1, .distance = 0.1},
        {.kind = RH_FILTER_OPEN, .iterations = 1},
        {.kind = RH_FILTER_RENORMALISE, .iterations = 2}};
    uint64_t fine[4], coarse[4], file[4];
    for (int threads = 1; threads <= 3; threads++) {
        rh_status status = {0};
        char *data;
        size_t bytes;
        rh_threads_set(threads);
        rh_surface_grid *grid = grid_of(band_of_ring, &ring, 0.03, true);
        assert_ok(rh_surface_grid_filter(grid, filters, (int)(sizeof filters / sizeof *filters), &status));
        rh_surface_mesh mesh = mesh_of(grid, 0), merged = mesh_of(grid, 0.3);
        fine[threads] = mesh_hash(&mesh), coarse[threads] = mesh_hash(&merged);
        assert_ok(rh_surface_grid_write(path.text, grid, &facts, &status));
        assert_ok(rh_file_read(path.text, 1 << 30, &data, &bytes, &status));
        file[threads] = rh_hash(data, bytes, 0);
        rh_free(data);
        rh_surface_mesh_free(&mesh);
        rh_surface_mesh_free(&merged);
        rh_surface_grid_free(grid);
    }
    rh_threads_set(0);
    for (int t = 2; t <= 3; t++) assert_true(fine[t] == fine[1] && coarse[t] == coarse[1] && file[t] == file[1]);
    assert_true(fine[1] != coarse[1]);
    scratch_remove(&s);
}

// --- files -----------------------------------------------------------------------------------------------------------

static void files_come_back(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "surface.0007.vdb");
    for (int z_up = 0; z_up < 2; z_up++) {
        rh_status status = {0};
        rh_frame_info info = facts, back = {0};
        info.z_up = z_up;
        rh_surface_grid *grid = grid_of(band_of_ring, &ring, 0.05, true), *read;
        assert_ok(rh_surface_grid_write(path.text, grid, &info, &status));
        assert_int_equal(scratch_count(&s), 1);
        assert_ok(rh_surface_grid_read(path.text, &read, &back, &status));
        assert_true(support_same_facts(&back, &info));
        assert_int_equal(rh_surface_grid_active(read), rh_surface_grid_active(grid));
        assert_near(rh_surface_grid_volume(read), rh_surface_grid_volume(grid), 1e-12);
        rh_surface_mesh a = mesh_of(grid, 0), b = mesh_of(read, 0);
        assert_true(a.vertex_count == b.vertex_count && a.quad_count == b.quad_count && b.channel_count == 4);
        assert_memory_equal(a.quad, b.quad, (size_t)a.quad_count * sizeof *a.quad);
        for (int64_t v = 0; v < a.vertex_count; v++) {
            rh_vec3 p = a.position[v], n = a.normal[v], w = ((const rh_vec3 *)channel_of(&a, "vel"))[v];
            if (z_up) p = rh_v3(p.x, -p.z, p.y), n = rh_v3(n.x, -n.z, n.y), w = rh_v3(w.x, -w.z, w.y);
            assert_near(rh_v3_length(rh_v3_sub(p, b.position[v])), 0, 1e-6);
            assert_near(rh_v3_length(rh_v3_sub(n, b.normal[v])), 0, 1e-5);
            assert_near(rh_v3_length(rh_v3_sub(w, ((const rh_vec3 *)channel_of(&b, "vel"))[v])), 0, 1e-5);
            assert_int_equal(((const int32_t *)channel_of(&a, "side"))[v],
                             ((const int32_t *)channel_of(&b, "side"))[v]);
        }
        assert_true(enclosed(&b) > 0);
        filter_with(read, (rh_filter_params){.kind = RH_FILTER_MEAN});  // turned grids are filtered like others
        char *text = rh_vdb_describe(path.text, &status);
        assert_non_null(text);
        assert_non_null(strstr(text, "surface: float, level set"));
        assert_non_null(strstr(text, "vel: vec3s, velocity"));
        assert_non_null(strstr(text, "side: int32, voxel 0.05 m, "));
        assert_non_null(strstr(text, "-7 to 9"));
        assert_true(strstr(strstr(text, "scene_hash") + 1, "scene_hash") == NULL);  // once for all grids
        rh_free(text);
        rh_surface_mesh_free(&a);
        rh_surface_mesh_free(&b);
        rh_surface_grid_free(grid);
        rh_surface_grid_free(read);
    }
    scratch_remove(&s);
}

static void files_that_hold_no_surface_are_refused(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "a.vdb"), nowhere = scratch_at(&s, "no/a.vdb");
    rh_status status = {0};
    rh_surface_grid *grid = grid_of(band_of_balls, &one_ball, 0.05, true), *read;
    char *data;
    size_t bytes;
    assert_int_equal(rh_surface_grid_write(nowhere.text, grid, &facts, &status), RH_IO);
    rh_status_clear(&status);
    assert_ok(rh_surface_grid_write(path.text, grid, &facts, &status));
    assert_ok(rh_file_read(path.text, 1 << 30, &data, &bytes, &status));
    for (size_t cut = 1; cut < 10; cut++) {
        assert_ok(rh_file_write(path.text, data, bytes * cut / 10, &status));
        assert_int_equal(rh_surface_grid_read(path.text, &read, NULL, NULL), RH_USER);
        assert_null(read);
    }
    data[bytes / 2] ^= 1;
    assert_ok(rh_file_write(path.text, data, bytes, &status));
    assert_int_equal(rh_surface_grid_read(path.text, &read, NULL, NULL), RH_USER);
    rh_points points;
    rh_points_init(&points);
    assert_ok(rh_points_add(&points, "P", RH_POINT_VEC3F, &status));
    assert_ok(rh_points_resize(&points, 10, &status));
    assert_ok(rh_vdb_write_points(path.text, &points, &facts, &status));
    assert_int_equal(rh_surface_grid_read(path.text, &read, NULL, &status), RH_USER);
    assert_non_null(strstr(status.message, "points"));
    assert_non_null(strstr(status.message, "level set"));
    rh_points_free(&points);
    rh_surface_grid_free(grid);
    rh_free(data);
    scratch_remove(&s);
}

static void level_sets_of_others_are_read(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "other.vdb"), own = scratch_at(&s, "own.vdb");
    rh_status status = {0};
    rh_surface_grid *grid, *again;
    rh_frame_info info;
    foreign_surface(path.text);
    assert_ok(rh_surface_grid_read(path.text, &grid, &info, &status));
    assert_true(info.fps == 24 && fabs(info.cell - 0.1) < 1e-7 && !info.z_up && info.scene_hash == 0);
    assert_near(rh_surface_grid_volume(grid) / (4 * M_PI / 3), 1, 2e-3);
    filter_with(grid, (rh_filter_params){.kind = RH_FILTER_DILATE, .distance = 0.1});
    rh_surface_mesh mesh = mesh_of(grid, 0);
    assert_int_equal(check_closed(&mesh), 0);
    assert_int_equal(mesh.channel_count, 1);  // not the fog on other voxels, not the bool grid
    const rh_vec3 *colour = channel_of(&mesh, "Cd");
    for (int64_t v = 0; v < mesh.vertex_count; v++) {
        rh_vec3 p = mesh.position[v];
        assert_near(rh_v3_length(rh_v3(p.x - 0.3f, p.y, p.z)), 1.1, 0.01);
        if (p.x > 0.3f && p.y > 0.3f && p.z > 0.3f) assert_near(colour[v].x, 4, 1e-5);
        if (p.x < -0.3f || p.y < -0.3f || p.z < -0.3f) assert_near(colour[v].x, 1, 1e-5);
    }
    assert_ok(rh_surface_grid_write(own.text, grid, &facts, &status));
    assert_ok(rh_surface_grid_read(own.text, &again, NULL, &status));
    assert_int_equal(rh_surface_grid_active(again), rh_surface_grid_active(grid));
    rh_surface_mesh_free(&mesh);
    rh_surface_grid_free(grid);
    rh_surface_grid_free(again);
    foreign_stretched(path.text);
    assert_int_equal(rh_surface_grid_read(path.text, &grid, &info, &status), RH_USER);
    assert_non_null(strstr(status.message, "stretched"));
    scratch_remove(&s);
}

static void a_full_disk_is_noticed(void **state)
{
    (void)state;
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "a.vdb");
    rh_status status = {0};
    rh_surface_grid *grid = grid_of(band_of_balls, &one_ball, 0.02, true);
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 100000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    rh_code code = rh_surface_grid_write(path.text, grid, &facts, &status);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(code, RH_IO);
    assert_non_null(strstr(status.message, "cannot write"));
    assert_int_equal(scratch_count(&s), 0);
    rh_surface_grid_free(grid);
    scratch_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volume_is_that_of_the_shape),
        cmocka_unit_test(an_empty_band_is_an_empty_grid),
        cmocka_unit_test(meshes_are_closed_and_face_outward),
        cmocka_unit_test(noise_gives_closed_meshes),
        cmocka_unit_test(normals_point_outward_and_channels_are_exact),
        cmocka_unit_test(too_many_vertices_are_refused),
        cmocka_unit_test(spheres_shrink_by_their_curvature),
        cmocka_unit_test(offsets_move_by_the_distance),
        cmocka_unit_test(hollows_are_filled),
        cmocka_unit_test(renormalising_makes_distances),
        cmocka_unit_test(masks_say_where),
        cmocka_unit_test(masks_that_are_none_are_refused),
        cmocka_unit_test(channels_follow_the_surface),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(files_come_back),
        cmocka_unit_test(files_that_hold_no_surface_are_refused),
        cmocka_unit_test(level_sets_of_others_are_read),
        cmocka_unit_test(a_full_disk_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
