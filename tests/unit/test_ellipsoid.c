// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Ellipsoids against closed forms. With weights 1 - (d/R)^3 the variances of an even density are integrals over the
// ball, the half ball, the disc and the line: inside 0.150 R^2 in all directions (9/60 by integration of r^4 (1 -
// r^3)), at a flat free surface (0.150, 0.150, 0.0467) R^2 with the mean 0.321 R inside, in a sheet 0.1786 R^2, on a
// line 0.222 R^2. A lattice of R/10 comes near enough.
#include "support.h"
#include "surface/surfacing.h"

typedef struct set {
    rh_points points;
    rh_surfacing_params params;
    rh_band band;
    rh_surfacing_report report;
} set;

static void begin(set *s)
{
    rh_status status = {0};
    rh_points_init(&s->points);
    assert_ok(rh_points_add(&s->points, "P", RH_POINT_VEC3F, &status));
    assert_ok(rh_points_add(&s->points, "id", RH_POINT_I64, &status));
    assert_ok(rh_params_defaults(&rh_surfacing_table, &s->params, &status));
    s->params.diagnostics = true;
    s->params.skip_deep = false;
    s->params.radius = 0.5;
    s->params.search_radius = 20;  // ten spacings
    s->params.recentre = false;    // the source's own centres
    s->params.voxel = 1;
    s->band = (rh_band){0};
}

static void put(set *s, double x, double y, double z)
{
    rh_status status = {0};
    int64_t n = s->points.count;
    assert_ok(rh_points_resize(&s->points, n + 1, &status));
    ((rh_vec3 *)rh_points_data(&s->points, "P", RH_POINT_VEC3F))[n] = rh_v3((float)x, (float)y, (float)z);
    ((int64_t *)rh_points_data(&s->points, "id", RH_POINT_I64))[n] = n;
}

static void build(set *s)
{
    rh_status status = {0};
    assert_ok(rh_surfacing_build(&s->params, &s->points, &s->band, &s->report, &status));
}

static void end(set *s)
{
    rh_band_free(&s->band);
    rh_points_free(&s->points);
    rh_params_free(&rh_surfacing_table, &s->params);
}

// Where the particle that was put as number `id` is now.
static int64_t where(const set *s, int64_t id)
{
    const int64_t *ids = rh_points_data(&s->points, "id", RH_POINT_I64);
    for (int64_t i = 0; i < s->points.count; i++)
        if (ids[i] == id) return i;
    fail();
    return -1;
}

static rh_vec3 stretch_of(const set *s, int64_t id)
{
    return ((rh_vec3 *)rh_points_data(&s->points, "stretch", RH_POINT_VEC3F))[where(s, id)];
}
static double k_of(const set *s, int64_t id)
{
    return ((float *)rh_points_data(&s->points, "k_s", RH_POINT_F32))[where(s, id)];
}
static int neighbours_of(const set *s, int64_t id)
{
    return ((int32_t *)rh_points_data(&s->points, "neighbours", RH_POINT_I32))[where(s, id)];
}
static rh_vec3 centre_of(const set *s, int64_t id)
{
    return ((rh_vec3 *)rh_points_data(&s->points, "centre", RH_POINT_VEC3F))[where(s, id)];
}

static void assert_stretch(rh_vec3 found, double a, double b, double c, double tolerance)
{
    assert_near(found.x, a, tolerance * a);
    assert_near(found.y, b, tolerance * b);
    assert_near(found.z, c, tolerance * c);
}

enum { R = 10 };  // spacings

static void inside(void **state)
{
    (void)state;
    set s;
    begin(&s);
    put(&s, 0, 0, 0);
    for (int i = -R; i <= R; i++)
        for (int j = -R; j <= R; j++)
            for (int k = -R; k <= R; k++)
                if (i || j || k) put(&s, i, j, k);
    build(&s);
    assert_near(k_of(&s, 0) * R * R, 20.0 / 3, 0.02);
    assert_stretch(stretch_of(&s, 0), 1, 1, 1, 0.003);
    end(&s);
}

static void free_surface(void **state)
{
    (void)state;
    set s;
    begin(&s);
    put(&s, 0, 0, 0);
    for (int i = -R; i <= R; i++)
        for (int j = -2 * R; j < 0; j++)  // half as far apart downwards: the layer that the surface cuts matters most
            for (int k = -R; k <= R; k++) put(&s, i, 0.5 * j + 0.25, k);
    build(&s);
    assert_near(k_of(&s, 0) * R * R, 9.84, 0.05);
    assert_stretch(stretch_of(&s, 0), 1.476, 1.476, 0.459, 0.006);
    assert_near(centre_of(&s, 0).y, -0.321 * R, 0.01 * R);
    end(&s);
}

// A disc of particles: the least ratio of variances (0.25) holds across it.
static void sheet_and_line(void **state)
{
    (void)state;
    for (int line = 0; line < 2; line++) {
        set s;
        begin(&s);
        put(&s, 0, 0, 0);
        for (int i = -4 * R; i <= 4 * R; i++)
            for (int k = -4 * R; k <= 4 * R; k++)
                if ((i || k) && (!line || k == 0)) put(&s, 0.25 * i, 0, 0.25 * k);
        build(&s);
        double variance = line ? 0.222 : 0.1786;
        if (line) assert_stretch(stretch_of(&s, 0), 2.520, 0.630, 0.630, 0.003);
        else assert_stretch(stretch_of(&s, 0), 1.587, 1.587, 0.397, 0.003);
        double clamped = line ? 0.25 * 0.25 : 0.25;  // of the product of the variances
        assert_near(k_of(&s, 0) * R * R, pow(variance * variance * variance * clamped, -1.0 / 3), 0.05);
        end(&s);
    }
}

// The source's formula as it is printed: an exactly flat sheet has a determinant of zero, falls back to k_s = 1, and
// vanishes.
static void literal_normalisation(void **state)
{
    (void)state;
    set s;
    begin(&s);
    s.params.literal = true;
    s.params.search_radius = 8;
    for (int i = -8; i <= 8; i++)
        for (int k = -8; k <= 8; k++) put(&s, i, 0, k);
    build(&s);
    assert_near(k_of(&s, 17 * 8 + 8) * 16, 1, 1e-4);  // R = 4
    assert_true(stretch_of(&s, 17 * 8 + 8).x < 0.2f);
    end(&s);
}

// --- what must hold for any particles --------------------------------------------------------------------------------
static void scatter(set *s, int count, double size)
{
    for (int i = 0; i < count; i++)
        put(s, size * (double)support_random((uint64_t)i, 0), size * (double)support_random((uint64_t)i, 1),
            size * (double)support_random((uint64_t)i, 2));
}

static void volume_and_bounds(void **state)
{
    (void)state;
    set s;
    begin(&s);
    s.params.search_radius = 5;
    s.params.droplet_blend = 0;
    scatter(&s, 6000, 10);
    build(&s);
    const rh_vec3 *stretch = rh_points_data(&s.points, "stretch", RH_POINT_VEC3F);
    const int32_t *ellipsoid = rh_points_data(&s.points, "ellipsoid", RH_POINT_I32);
    int64_t seen = 0;
    for (int64_t i = 0; i < s.points.count; i++) {
        if (!ellipsoid[i]) {
            assert_stretch(stretch[i], 0.5, 0.5, 0.5, 1e-6);
            continue;
        }
        seen++;
        assert_near((double)stretch[i].x * stretch[i].y * stretch[i].z, 1, 1e-4);
        assert_true(stretch[i].x <= 2.5203f && stretch[i].z >= 0.3967f && stretch[i].x >= stretch[i].y &&
                    stretch[i].y >= stretch[i].z);
    }
    assert_int_equal(seen, s.report.ellipsoids);
    assert_int_equal(s.report.ellipsoids + s.report.droplets, s.points.count);
    assert_true(seen > 1000 && seen < s.points.count);
    end(&s);
}

// Mean and covariance once more, in double and two passes (Jones 2018, eqs. 5.3 and 5.4), and the eigenvalues through
// their invariants.
static void against_two_passes(void **state)
{
    (void)state;
    set s;
    begin(&s);
    s.params.search_radius = 5;
    s.params.droplet_neighbours = 0;
    s.params.droplet_blend = 0;
    s.params.anisotropy = 0.01;
    scatter(&s, 1500, 6);
    build(&s);
    const rh_vec3 *p = rh_points_data(&s.points, "P", RH_POINT_VEC3F);
    const rh_vec3 *centre = rh_points_data(&s.points, "centre", RH_POINT_VEC3F),
                  *stretch = rh_points_data(&s.points, "stretch", RH_POINT_VEC3F);
    const float *k_s = rh_points_data(&s.points, "k_s", RH_POINT_F32);
    const int32_t *neighbours = rh_points_data(&s.points, "neighbours", RH_POINT_I32);
    double radius = 2.5;
    for (int64_t i = 0; i < s.points.count; i += 7) {
        double weight = 0, mean[3] = {0}, c[3][3] = {{0}};
        int count = 0;
        for (int pass = 0; pass < 2; pass++) {
            for (int64_t j = 0; j < s.points.count; j++) {
                double d[3], r = 0;
                for (int a = 0; a < 3; a++) d[a] = (double)(&p[j].x)[a] - (&p[i].x)[a], r += d[a] * d[a];
                r = sqrt(r) / radius;
                double w = r < 1 ? 1 - r * r * r : 0;
                if (pass == 0) weight += w, count += r < 1;
                for (int a = 0; a < 3 && pass == 0; a++) mean[a] += w * d[a];
                for (int n = 0; n < 9 && pass == 1; n++)
                    c[n / 3][n % 3] += w * (d[n / 3] - mean[n / 3]) * (d[n % 3] - mean[n % 3]) / weight;
            }
            for (int a = 0; a < 3 && pass == 0; a++) mean[a] /= weight;
        }
        assert_int_equal(neighbours[i], count);
        for (int a = 0; a < 3; a++) assert_near((&centre[i].x)[a] - (&p[i].x)[a], mean[a], 2e-5);
        if (count < 8 || stretch[i].z <= 0.0101f * stretch[i].x) continue;  // clamped: the invariants would differ
        double trace = c[0][0] + c[1][1] + c[2][2];
        double det = c[0][0] * (c[1][1] * c[2][2] - c[1][2] * c[2][1]) -
                     c[0][1] * (c[1][0] * c[2][2] - c[1][2] * c[2][0]) +
                     c[0][2] * (c[1][0] * c[2][1] - c[1][1] * c[2][0]);
        double sum = (double)stretch[i].x + stretch[i].y + stretch[i].z;
        assert_near(sum / k_s[i], trace, 2e-5 * trace + 1e-6);
        assert_near(k_s[i], pow(det, -1.0 / 3), 2e-3 * k_s[i]);
    }
    end(&s);
}

static void droplets(void **state)
{
    (void)state;
    set s;
    begin(&s);
    s.params.search_radius = 6;  // R = 3
    s.params.droplet_neighbours = 20;
    s.params.droplet_blend = 0;
    put(&s, 0, 0, 0);                                           // alone
    for (int i = 0; i < 20; i++) put(&s, 50 + 0.1 * i, 0, 0);   // twenty: just a droplet
    for (int i = 0; i < 21; i++) put(&s, 100 + 0.1 * i, 0, 0);  // twenty-one: just none
    for (int i = 0; i < 30; i++) put(&s, 150, 0, 0);            // all in one place
    build(&s);
    assert_int_equal(neighbours_of(&s, 0), 1);
    assert_stretch(stretch_of(&s, 0), 0.5, 0.5, 0.5, 1e-6);
    assert_int_equal(neighbours_of(&s, 5), 20);
    assert_stretch(stretch_of(&s, 5), 0.5, 0.5, 0.5, 1e-6);
    assert_int_equal(neighbours_of(&s, 30), 21);
    assert_stretch(stretch_of(&s, 30), 2.520, 0.630, 0.630, 1e-3);
    assert_stretch(stretch_of(&s, 45), 1, 1, 1, 1e-6);
    end(&s);
}

// From droplet to ellipsoid without a jump (the source's hard switch blinks).
static void droplets_pass_smoothly(void **state)
{
    (void)state;
    set s;
    begin(&s);
    s.params.search_radius = 6;
    s.params.droplet_blend = 1;
    for (int n = 15; n <= 45; n++)
        for (int i = 0; i < n; i++) put(&s, 10 * n + 0.02 * i, 0, 0);
    build(&s);
    float last = 0.5f;
    int64_t id = 0;
    for (int n = 15; n <= 45; id += n, n++) {
        float now = stretch_of(&s, id).x;
        assert_true(now >= last - 1e-4f && now - last < 0.2f);
        if (n <= 20) assert_near(now, 0.5, 1e-6);
        if (n >= 40) assert_near(now, 2.520, 2e-3);
        last = now;
    }
    end(&s);
}

static void global_normalisation(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++) {
        set s;
        begin(&s);
        s.params.search_radius = 5;
        s.params.global_blend = both ? 0.5 : 1;
        scatter(&s, 6000, 10);
        build(&s);
        const float *k_s = rh_points_data(&s.points, "k_s", RH_POINT_F32);
        const int32_t *ellipsoid = rh_points_data(&s.points, "ellipsoid", RH_POINT_I32);
        double low = 1e30, high = 0;
        for (int64_t i = 0; i < s.points.count; i++)
            if (ellipsoid[i]) low = fmin(low, k_s[i]), high = fmax(high, k_s[i]);
        if (!both) assert_near(low, s.report.k_global, 1e-4 * low);
        if (!both) assert_near(high, s.report.k_global, 1e-4 * high);
        if (both) assert_true(low < 0.95 * high && low > 0.5 * s.report.k_global);
        assert_near(s.report.k_min, low, 1e-4 * low);
        assert_near(s.report.k_max, high, 1e-4 * high);
        end(&s);
    }
}

// Turned and moved particles have turned and moved ellipsoids.
static void turning(void **state)
{
    (void)state;
    set s, t;
    begin(&s);
    begin(&t);
    s.params.search_radius = t.params.search_radius = 5;
    s.params.recentre = t.params.recentre = true;
    const double m[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}};
    for (int i = 0; i < 3000; i++) {
        double x[3], y[3];
        for (int a = 0; a < 3; a++) x[a] = 7 * (double)support_random((uint64_t)i, (uint32_t)a) * (a == 1 ? 0.3 : 1);
        for (int a = 0; a < 3; a++) y[a] = m[a][0] * x[0] + m[a][1] * x[1] + m[a][2] * x[2] + 3 * a - 5;
        put(&s, x[0], x[1], x[2]);
        put(&t, y[0], y[1], y[2]);
    }
    build(&s);
    build(&t);
    for (int i = 0; i < 3000; i += 11) {
        if (neighbours_of(&s, i) != neighbours_of(&t, i)) continue;  // one just on the sphere
        rh_vec3 a = stretch_of(&s, i), b = stretch_of(&t, i), c = centre_of(&s, i), d = centre_of(&t, i);
        assert_near(b.x, a.x, 2e-3);
        assert_near(b.y, a.y, 2e-3);
        assert_near(b.z, a.z, 2e-3);
        assert_near(k_of(&t, i), k_of(&s, i), 1e-3 * k_of(&s, i));
        for (int n = 0; n < 3; n++)
            assert_near((&d.x)[n], m[n][0] * c.x + m[n][1] * c.y + m[n][2] * c.z + 3 * n - 5, 1e-2);
    }
    end(&s);
    end(&t);
}

static void chosen_points(void **state)
{
    (void)state;
    static const rh_point_type types[] = {RH_POINT_I32, RH_POINT_GROUP};
    for (int t = 0; t < 2; t++) {
        rh_status status = {0};
        set s;
        begin(&s);
        s.params.search_radius = 5;
        rh_free(s.params.group);
        assert_non_null(s.params.group = rh_strdup("chosen", "test", &status));
        scatter(&s, 3000, 7);
        assert_ok(rh_points_add(&s.points, "chosen", types[t], &status));
        void *chosen = rh_points_data(&s.points, "chosen", types[t]);
        for (int i = 0; i < 3000; i += 3) {
            if (t == 0) ((int32_t *)chosen)[i] = 1;
            else ((uint8_t *)chosen)[i] = 1;
        }
        build(&s);
        assert_int_equal(s.report.ellipsoids + s.report.droplets, 1000);
        assert_stretch(stretch_of(&s, 1), 1, 1, 1, 1e-6);  // a ball of full size, so that no hole opens
        end(&s);
    }
}

// Looking at some of many neighbours only gives nearly the same shape.
static void thinned_neighbours(void **state)
{
    (void)state;
    rh_vec3 found[2];
    for (int thin = 0; thin < 2; thin++) {
        set s;
        begin(&s);
        s.params.search_radius = 8;
        s.params.max_per_cell = thin ? 16 : 0;
        put(&s, 0, 0, 0);
        for (int i = 0; i < 20000; i++)
            put(&s, 5 * (double)support_random((uint64_t)i, 0), 2 * (double)support_random((uint64_t)i, 1) - 2,
                5 * (double)support_random((uint64_t)i, 2));
        build(&s);
        found[thin] = stretch_of(&s, 0);
        if (thin) assert_true(neighbours_of(&s, 0) < 4000);
        else assert_true(neighbours_of(&s, 0) > 6000);
        end(&s);
    }
    assert_stretch(found[1], found[0].x, found[0].y, found[0].z, 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(inside),
                                       cmocka_unit_test(free_surface),
                                       cmocka_unit_test(sheet_and_line),
                                       cmocka_unit_test(literal_normalisation),
                                       cmocka_unit_test(volume_and_bounds),
                                       cmocka_unit_test(against_two_passes),
                                       cmocka_unit_test(droplets),
                                       cmocka_unit_test(droplets_pass_smoothly),
                                       cmocka_unit_test(global_normalisation),
                                       cmocka_unit_test(turning),
                                       cmocka_unit_test(chosen_points),
                                       cmocka_unit_test(thinned_neighbours)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
