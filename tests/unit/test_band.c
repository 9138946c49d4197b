// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Fields and bands against brute force: distances of single shapes, the minimum over many, attributes, the same bits
// for any number of threads, and what cannot be used.
#include "support.h"
#include "surface/parts.h"

// --- kernels ---------------------------------------------------------------------------------------------------------
static rh_ellipsoid make_ellipsoid(const double a[3], const double axes[3][3])
{
    rh_ellipsoid e = {.most = 0, .least = 1e9f};
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int i = 0; i < 3; i++) {
        e.most = fmaxf(e.most, (float)a[i]);
        e.least = fminf(e.least, (float)a[i]);
        for (int n = 0; n < 6; n++) e.form[n] += (float)(axes[i][row[n]] * axes[i][column[n]] / (a[i] * a[i]));
    }
    return e;
}

static const double TURNED[3][3] = {{0.36, 0.48, -0.8}, {-0.8, 0.6, 0}, {0.48, 0.64, 0.6}};

// All kernels are zero on the ellipsoid, negative inside, positive outside.
static void kernels_share_their_zero(void **state)
{
    (void)state;
    const double a[3] = {2.52, 1.4, 0.63};
    rh_ellipsoid e = make_ellipsoid(a, TURNED);
    for (uint64_t n = 0; n < 500; n++) {
        double u[3], length = 0;
        for (int i = 0; i < 3; i++) u[i] = support_random(n, (uint32_t)i), length += u[i] * u[i];
        for (int scale = -1; scale <= 1; scale++) {
            rh_vec3 v = {0, 0, 0};
            for (int i = 0; i < 3; i++)
                for (int k = 0; k < 3; k++)
                    (&v.x)[k] += (float)((1 + 0.05 * scale) * a[i] * u[i] / sqrt(length) * TURNED[i][k]);
            for (int kernel = RH_KERNEL_BOUNDED; kernel <= RH_KERNEL_EXACT; kernel++) {
                float d = rh_ellipsoid_distance(&e, kernel, v);
                if (scale == 0) assert_near(d, 0, 1e-5);
                else assert_true(scale < 0 ? d < 0 : d > 0);
            }
        }
    }
    for (int kernel = RH_KERNEL_BOUNDED; kernel <= RH_KERNEL_EXACT; kernel++)
        assert_true(rh_ellipsoid_distance(&e, kernel, rh_v3(0, 0, 0)) <= -0.62f);
}

// Largest errors outside, up to three small axes away, against the exact distance. The flattest shape that can occur:
// the aspect is 4.
static void kernels_against_exact(void **state)
{
    (void)state;
    const double a[3] = {1.587, 1.587, 0.397};
    rh_ellipsoid e = make_ellipsoid(a, TURNED);
    double worst[3] = {0};
    for (uint64_t n = 0; n < 20000; n++) {
        rh_vec3 v = rh_v3(3 * support_random(n, 0), 3 * support_random(n, 1), 3 * support_random(n, 2));
        double exact = rh_ellipsoid_distance(&e, RH_KERNEL_EXACT, v);
        if (exact < 0 || exact > 1.2) continue;
        for (int kernel = 0; kernel < 3; kernel++) {
            double d = rh_ellipsoid_distance(&e, kernel, v);
            worst[kernel] = fmax(worst[kernel], fabs(d - exact));
            if (kernel == RH_KERNEL_BOUNDED)
                assert_true(d <= exact + 1e-4);  // never more than the distance: no surface is missed
        }
    }
    print_message("largest error: bounded %.3f, first order %.3f, literal %.3f\n", worst[0], worst[1], worst[2]);
    assert_true(worst[RH_KERNEL_BOUNDED] < 0.3);
    assert_true(worst[RH_KERNEL_BOUNDED] < 0.8 * worst[RH_KERNEL_FIRST_ORDER]);
}

// Against the definition: no point of the surface is nearer, and one is just as near.
static void exact_is_exact(void **state)
{
    (void)state;
    const double a[3] = {2, 1.2, 0.5};
    rh_ellipsoid e = make_ellipsoid(a, TURNED);
    for (uint64_t n = 0; n < 60; n++) {
        rh_vec3 v = rh_v3(3 * support_random(n, 0), 3 * support_random(n, 1), 3 * support_random(n, 2));
        double least = 1e9;
        for (int i = 0; i <= 400; i++)
            for (int k = 0; k < 400; k++) {
                double polar = M_PI * i / 400, turn = 2 * M_PI * k / 400,
                       u[3] = {sin(polar) * cos(turn), sin(polar) * sin(turn), cos(polar)}, sum = 0;
                for (int c = 0; c < 3; c++) {
                    double x = 0;
                    for (int m = 0; m < 3; m++) x += a[m] * u[m] * TURNED[m][c];
                    sum += (x - (&v.x)[c]) * (x - (&v.x)[c]);
                }
                least = fmin(least, sum);
            }
        assert_near(fabs(rh_ellipsoid_distance(&e, RH_KERNEL_EXACT, v)), sqrt(least), 0.02);
    }
}

// --- sets ------------------------------------------------------------------------------------------------------------
typedef struct set {
    rh_points points;
    rh_surfacing_params params;
    rh_surfacing_report report;
    rh_band band;
} set;

static void begin(set *s, int64_t count)
{
    rh_status status = {0};
    *s = (set){.report = {0}};
    rh_points_init(&s->points);
    assert_ok(rh_points_add(&s->points, "P", RH_POINT_VEC3F, &status));
    assert_ok(rh_points_add(&s->points, "v", RH_POINT_VEC3F, &status));
    assert_ok(rh_points_add(&s->points, "radius", RH_POINT_F32, &status));
    assert_ok(rh_points_add(&s->points, "colour", RH_POINT_I32, &status));
    assert_ok(rh_points_resize(&s->points, count, &status));
    assert_ok(rh_params_defaults(&rh_surfacing_table, &s->params, &status));
}

static void set_text(char **field, const char *text)
{
    rh_status status = {0};
    rh_free(*field);
    assert_non_null(*field = rh_strdup(text, "test", &status));
}

static rh_vec3 *positions(set *s) { return rh_points_data(&s->points, "P", RH_POINT_VEC3F); }
static float *radii(set *s) { return rh_points_data(&s->points, "radius", RH_POINT_F32); }

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

static void scatter(set *s, double size, bool varied)
{
    for (int64_t i = 0; i < s->points.count; i++) {
        positions(s)[i] = rh_v3((float)size * support_random((uint64_t)i, 0),
                                (float)size * support_random((uint64_t)i, 1),
                                (float)size * support_random((uint64_t)i, 2));
        radii(s)[i] = 0.5f + (varied ? 0.3f * support_random((uint64_t)i, 3) : 0);
        ((rh_vec3 *)rh_points_data(&s->points, "v", RH_POINT_VEC3F))[i] = rh_v3((float)i, 1, 2);
        ((int32_t *)rh_points_data(&s->points, "colour", RH_POINT_I32))[i] = (int32_t)i;
    }
}

// Spheres, outside: the distance to the nearest of all, and what that one carries. One radius and several take
// different ways.
static void spheres_by_brute_force(void **state)
{
    (void)state;
    for (int varied = 0; varied < 2; varied++) {
        set s;
        begin(&s, 150);
        scatter(&s, 8, varied);
        s.params.mode = RH_SURFACING_SPHERE;
        s.params.voxel = 0.2;
        set_text(&s.params.attributes, "colour");
        build(&s);
        assert_int_equal(s.band.channel_count, 2);
        const rh_band_channel *velocity = rh_band_channel_find(&s.band, "vel"),
                              *colour = rh_band_channel_find(&s.band, "colour");
        assert_true(velocity && colour);
        const rh_vec3 *p = positions(&s);
        const int32_t *ids = rh_points_data(&s.points, "colour", RH_POINT_I32);
        int64_t outside = 0, compared = 0;
        for (int i = -48; i <= 48; i++)
            for (int j = -48; j <= 48; j++)
                for (int k = -48; k <= 48; k++) {
                    double least = 1e9;
                    int64_t nearest = -1;
                    for (int64_t n = 0; n < s.points.count; n++) {
                        double d = sqrt(pow(i * 0.2 - p[n].x, 2) + pow(j * 0.2 - p[n].y, 2) +
                                        pow(k * 0.2 - p[n].z, 2)) -
                                   radii(&s)[n];
                        if (d < least) least = d, nearest = n;
                    }
                    float found = rh_band_at(&s.band, i, j, k);
                    if (least > 1e-4) assert_near(found, fmin(least, s.band.background), 1e-4);
                    else if (least < -1e-4) assert_true(found < 0);
                    outside += least > 0 && least < s.band.background;
                    int32_t leaf = rh_band_find(&s.band, (rh_tile){i >> 3, j >> 3, k >> 3});
                    int at = 64 * (i & 7) + 8 * (j & 7) + (k & 7);
                    if (leaf < 0 || !(s.band.active[leaf].layer[at >> 6] >> (at & 63) & 1)) continue;
                    compared++;
                    int32_t carried = ((const int32_t *)colour->data)[leaf * RH_LEAF + at];
                    assert_int_equal((int)((const rh_vec3 *)velocity->data)[leaf * RH_LEAF + at].x, carried);
                    double other = 1e9;
                    for (int64_t n = 0; n < s.points.count; n++)
                        if (ids[n] == carried)
                            other = sqrt(pow(i * 0.2 - p[n].x, 2) + pow(j * 0.2 - p[n].y, 2) +
                                         pow(k * 0.2 - p[n].z, 2)) -
                                    radii(&s)[n];
                    if (carried != ids[nearest]) assert_near(other, least, 1e-4);
                }
        assert_true(outside > 5000 && compared > 5000);
        end(&s);
    }
}

// The inside is a distance, too: neighbours never differ by more than they are apart, and the band is as wide as it
// should be.
static void both_sides_are_distances(void **state)
{
    (void)state;
    set s;
    begin(&s, 8000);
    scatter(&s, 7, false);
    for (int mode = 0; mode < 5; mode++) {
        s.params.mode = mode;
        build(&s);
        int64_t deep = 0;
        for (int32_t l = 0; l < s.band.count; l++)
            for (int c = 0; c < RH_LEAF; c++) {
                int i = 8 * s.band.at[l].x + (c >> 6), j = 8 * s.band.at[l].y + (c >> 3 & 7),
                    k = 8 * s.band.at[l].z + (c & 7);
                float here = s.band.value[l][c];
                bool active = s.band.active[l].layer[c >> 6] >> (c & 63) & 1;
                assert_int_equal(active, fabsf(here) < s.band.background);
                deep += here == -s.band.background;
                if (rh_band_find(&s.band, (rh_tile){(i + 1) >> 3, j >> 3, k >> 3}) < 0) continue;
                // Bends of a first-order sweep and of the fields that are no distance: a little more than one.
                assert_true(fabsf(rh_band_at(&s.band, i + 1, j, k) - here) <= 1.75f * (float)s.band.voxel);
            }
        assert_true(deep > 0);
        rh_band_free(&s.band);
    }
    end(&s);
}

static void same_bits_for_any_threads(void **state)
{
    (void)state;
    for (int mode = 0; mode < 5; mode++) {
        uint64_t first = 0;
        static const int threads[] = {1, 2, 3, 8};
        for (int n = 0; n < 4; n++) {
            set s;
            rh_threads_set(threads[n]);
            begin(&s, 20000);
            scatter(&s, 14, mode % 2);
            s.params.mode = mode;
            s.params.global_blend = 0.3;
            set_text(&s.params.attributes, "colour");
            build(&s);
            uint64_t hash = rh_band_hash(&s.band);
            if (n == 0) first = hash;
            assert_true(s.band.count > 10);
            assert_true(hash == first);
            end(&s);
        }
    }
    rh_threads_set(0);
}

// Two blobs that do not touch never share a velocity.
static void blobs_keep_their_velocities(void **state)
{
    (void)state;
    set s;
    begin(&s, 2000);
    scatter(&s, 4, false);
    rh_vec3 *v = rh_points_data(&s.points, "v", RH_POINT_VEC3F);
    for (int i = 0; i < 2000; i++) {
        positions(&s)[i].x += i % 2 ? 6.5f : -6.5f;
        v[i] = rh_v3(i % 2 ? 1 : -1, 0, 0);
    }
    build(&s);
    const rh_band_channel *velocity = rh_band_channel_find(&s.band, "vel");
    int64_t seen = 0;
    for (int32_t l = 0; l < s.band.count; l++)
        for (int c = 0; c < RH_LEAF; c++) {
            if (!(s.band.active[l].layer[c >> 6] >> (c & 63) & 1)) continue;
            double x = (8 * s.band.at[l].x + (c >> 6)) * s.band.voxel;
            assert_true(fabs(x) > 0.2);
            assert_near(((const rh_vec3 *)velocity->data)[l * RH_LEAF + c].x, x > 0 ? 1 : -1, 0);
            seen++;
        }
    assert_true(seen > 1000);
    end(&s);
}

// One particle fifty times as large as the others: all are where they should be, and the search for neighbours of the
// small ones is not spoilt (this would take minutes).
static void giants_are_welcome(void **state)
{
    (void)state;
    set s;
    begin(&s, 30001);
    scatter(&s, 15, false);
    positions(&s)[30000] = rh_v3(60, 0, 0);
    radii(&s)[30000] = 25;
    build(&s);
    assert_int_equal(s.report.ellipsoids + s.report.droplets + s.report.deep, 30001);
    // Alone, it is a droplet: half its radius. Outside, above and inside of its surface on the far side.
    int there = (int)lround(72.5 / s.band.voxel), up = (int)lround(12.5 / s.band.voxel),
        centre = (int)lround(60 / s.band.voxel);
    assert_near(rh_band_at(&s.band, there, 0, 0), there * s.band.voxel - 72.5, 0.01);
    assert_near(rh_band_at(&s.band, centre, up, 0), hypot(centre * s.band.voxel - 60, up * s.band.voxel) - 12.5, 0.01);
    assert_true(rh_band_at(&s.band, (int)(20 / s.band.voxel), 0, 0) > 0);
    end(&s);
}

// --- what cannot be used ---------------------------------------------------------------------------------------------
static void bad_points_are_counted(void **state)
{
    (void)state;
    uint64_t hash[2];
    for (int bad = 0; bad < 2; bad++) {
        set s;
        begin(&s, bad ? 1008 : 1000);
        scatter(&s, 5, true);
        if (bad) {  // behind the good ones, so that those keep their order
            positions(&s)[1000].x = NAN;
            positions(&s)[1001].y = INFINITY;
            positions(&s)[1002].z = -1e30f;
            radii(&s)[1003] = 0;
            radii(&s)[1004] = -1;
            radii(&s)[1005] = NAN;
            radii(&s)[1006] = INFINITY;
            positions(&s)[1007].x = NAN, radii(&s)[1007] = 0;
        }
        build(&s);
        assert_int_equal(s.report.points, 1000);
        assert_int_equal(s.report.bad_positions, bad ? 4 : 0);
        assert_int_equal(s.report.bad_radii, bad ? 4 : 0);
        hash[bad] = rh_band_hash(&s.band);
        end(&s);
    }
    assert_true(hash[0] == hash[1]);
}

static void nothing_gives_nothing(void **state)
{
    (void)state;
    for (int mode = 0; mode < 5; mode++) {
        set s;
        begin(&s, mode % 2 ? 3 : 0);
        s.params.mode = mode;
        for (int i = 0; i < (int)s.points.count; i++) positions(&s)[i].x = NAN;
        build(&s);
        assert_int_equal(s.band.count, 0);
        assert_int_equal(s.band.channel_count, 1);
        end(&s);
    }
}

static void fails_with(set *s, const char *words)
{
    rh_status status = {0};
    assert_int_equal(rh_surfacing_build(&s->params, &s->points, &s->band, NULL, &status), RH_USER);
    if (!strstr(status.message, words)) print_error("found \"%s\", expected \"%s\" in it\n", status.message, words);
    assert_non_null(strstr(status.message, words));
    assert_int_equal(s->band.count, 0);
}

static void mistakes_are_named(void **state)
{
    (void)state;
    rh_status status = {0};
    set s;
    begin(&s, 100);
    scatter(&s, 3, false);
    set_text(&s.params.attributes, "color");
    fails_with(&s, "no 'color'; did you mean 'colour'?");
    set_text(&s.params.attributes, "");
    set_text(&s.params.group, "crowd");
    fails_with(&s, "group: found no group or int32 attribute 'crowd'");
    set_text(&s.params.group, "");
    s.params.voxel = 1e-5;
    fails_with(&s, "too many voxels");
    s.params.voxel = 0;
    s.params.stretch = 1e9;  // a constant far from what the particles need: their ellipsoids would fill the world
    fails_with(&s, "too many voxels");
    end(&s);
    rh_points_init(&s.points);
    assert_ok(rh_params_defaults(&rh_surfacing_table, &s.params, &status));
    assert_ok(rh_points_add(&s.points, "P", RH_POINT_VEC3F, &status));
    assert_ok(rh_points_resize(&s.points, 8, &status));
    fails_with(&s, "no attribute radius or pscale");
    end(&s);
}

// Every allocation may fail; nothing is lost and nothing is left.
static void memory_may_run_out(void **state)
{
    (void)state;
    for (int64_t after = 0; after < 400; after++) {
        set s;
        begin(&s, 500);
        scatter(&s, 4, true);
        s.params.diagnostics = after % 2;
        rh_status status = {0};
        rh_memory_fail_after(after);
        rh_code code = rh_surfacing_build(&s.params, &s.points, &s.band, &s.report, &status);
        rh_memory_fail_after(-1);
        bool done = code == RH_OK;
        assert_true(done || code == RH_MEMORY);
        end(&s);
        assert_int_equal(rh_memory_bytes(), 0);
        if (done) return;
    }
    fail();  // never came through
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_share_their_zero),
                                       cmocka_unit_test(kernels_against_exact),
                                       cmocka_unit_test(exact_is_exact),
                                       cmocka_unit_test(spheres_by_brute_force),
                                       cmocka_unit_test(both_sides_are_distances),
                                       cmocka_unit_test(same_bits_for_any_threads),
                                       cmocka_unit_test(blobs_keep_their_velocities),
                                       cmocka_unit_test(giants_are_welcome),
                                       cmocka_unit_test(bad_points_are_counted),
                                       cmocka_unit_test(nothing_gives_nothing),
                                       cmocka_unit_test(mistakes_are_named),
                                       cmocka_unit_test(memory_may_run_out)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
