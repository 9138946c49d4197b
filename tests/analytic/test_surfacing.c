// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Known shapes filled with jittered particles come back (docs/sources.md: Zhu 2005, chapter 4; Jones 2018, chapter 5):
// a plane, a tilted plane, a ball, a cone, thin slabs, a sheet of one layer, a rim, a drop. Lengths in particle
// spacings. What is measured is the outermost surface along columns of voxels, against the true shape: `mean` is its
// bias, `deviation` its bumpiness. Stated: bias within 0.12, bumps (root mean square) within 0.12 spacings, and at
// least a quarter less than by averages, blobs or spheres.
#include "support.h"
#include "io/surface_grid.h"
#include "surface/surfacing.h"

static const double RADIUS = 0.62035;  // of the ball with a particle's volume

typedef double shape(double x, double y, double z);  // distance, negative inside

static double plane(double x, double y, double z) { return (void)x, (void)z, y; }
static double tilted(double x, double y, double z) { return 0.36 * x + 0.8 * y + 0.48 * z; }
static double ball(double x, double y, double z) { return sqrt(x * x + y * y + z * z) - 10; }
static double cone(double x, double y, double z) { return fmax((sqrt(x * x + z * z) + y - 12) * sqrt(0.5), -8 - y); }
static double slab(double x, double y, double z) { return (void)x, (void)z, fabs(y) - 1; }
static double sheet(double x, double y, double z) { return (void)x, (void)z, fabs(y - 0.5) - 0.5; }
static double block(double x, double y, double z) { return fmax(fmax(fabs(x) - 10, fabs(y) - 6), fabs(z) - 8); }
static double rim(double x, double y, double z) { return fmax(slab(x, y, z), z); }

// Particles of a jittered lattice that are inside; `crowd` times as many where x > 0.
static void fill(rh_points *points, shape *inside, uint64_t seed, int crowd)
{
    enum { SIDE = 16 };
    rh_status status = {0};
    rh_points_init(points);
    assert_ok(rh_points_add(points, "P", RH_POINT_VEC3F, &status));
    assert_ok(rh_points_resize(points, (int64_t)8 * SIDE * SIDE * SIDE * (crowd + 1), &status));
    rh_vec3 *p = rh_points_data(points, "P", RH_POINT_VEC3F);
    int64_t count = 0;
    for (int n = 0; n < 8 * SIDE * SIDE * SIDE; n++)
        for (int c = 0; c < crowd; c++) {
            int i = n % (2 * SIDE) - SIDE, j = n / (2 * SIDE) % (2 * SIDE) - SIDE, k = n / (4 * SIDE * SIDE) - SIDE;
            if (c > 0 && i < 0) continue;
            uint64_t id = (uint64_t)n * 64 + (uint64_t)c;
            double x = i + rh_random(seed, id, 0, 0), y = j + rh_random(seed, id, 0, 1),
                   z = k + rh_random(seed, id, 0, 2);
            if (inside(x, y, z) < 0) p[count++] = rh_v3((float)x, (float)y, (float)z);
        }
    assert_ok(rh_points_resize(points, count, &status));
}

static void make_band(rh_points *points, int mode, double voxel, rh_band *band)
{
    rh_status status = {0};
    rh_surfacing_params params;
    assert_ok(rh_params_defaults(&rh_surfacing_table, &params, &status));
    params.mode = mode;
    params.radius = RADIUS;
    params.voxel = voxel;
    assert_ok(rh_surfacing_build(&params, points, band, NULL, &status));
    rh_params_free(&rh_surfacing_table, &params);
}

typedef struct relief {
    double mean, deviation, most;
    int64_t columns, holes;
} relief;

// Along columns parallel to y from above, |x|, |z| <= size: where the surface is first met. A column without surface is
// a hole. The tip of the cone is one particle or none and is left out.
static relief look_down(const rh_band *band, shape *truth, double size)
{
    relief r = {0};
    int side = (int)(size / band->voxel), top = (int)(20 / band->voxel);
    double sum = 0, squares = 0;
    for (int i = -side; i <= side; i++)
        for (int k = -side; k <= side; k++) {
            int j = top;
            if (truth == cone && hypot(i, k) * band->voxel < 1.5) continue;
            while (j > -top && rh_band_at(band, i, j, k) > 0) j--;
            if (j == -top) {
                r.holes++;
                continue;
            }
            float above = rh_band_at(band, i, j + 1, k), here = rh_band_at(band, i, j, k);
            double d = truth(i * band->voxel, (j + here / (here - above)) * band->voxel, k * band->voxel);
            sum += d;
            squares += d * d;
            r.most = fmax(r.most, fabs(d));
            r.columns++;
        }
    if (r.columns == 0) return r;
    r.mean = sum / (double)r.columns;
    r.deviation = sqrt(fmax(0, squares / (double)r.columns - r.mean * r.mean));
    return r;
}

static relief measure(shape *truth, int mode, double voxel, double size, uint64_t seed, const char *name)
{
    static const char *const modes[] = {"ellipsoid", "sphere", "averaged", "solenthaler", "density"};
    rh_points points;
    rh_band band;
    fill(&points, truth, seed, 1);
    make_band(&points, mode, voxel, &band);
    relief r = look_down(&band, truth, size);
    print_message("%-8s %-11s voxel %.2f: mean %+.3f, deviation %.3f, most %.3f, %lld holes\n", name, modes[mode],
                  voxel, r.mean, r.deviation, r.most, (long long)r.holes);
    rh_band_free(&band);
    rh_points_free(&points);
    return r;
}

static void shapes_come_back(void **state)
{
    (void)state;
    static const struct {
        shape *truth;
        const char *name;
        double size;
    } cases[] = {{plane, "plane", 10}, {tilted, "tilted", 8}, {ball, "ball", 5}, {cone, "cone", 5}, {slab, "slab", 10}};
    for (int n = 0; n < 5; n++)
        for (int fine = 0; fine < 2; fine++)
            for (uint64_t seed = 1; seed <= (fine ? 1 : 3); seed++) {
                relief r = measure(cases[n].truth, RH_SURFACING_ELLIPSOID, fine ? 0.25 : 0.5, cases[n].size, seed,
                                   cases[n].name);
                assert_int_equal(r.holes, 0);
                assert_near(r.mean, 0, 0.12);
                assert_true(r.deviation < 0.12);
                assert_true(r.most < 0.7);
            }
}

static void flatter_than_others(void **state)
{
    (void)state;
    static const struct {
        shape *truth;
        const char *name;
        double size;
    } cases[] = {{plane, "plane", 10}, {tilted, "tilted", 8}, {ball, "ball", 5}, {cone, "cone", 5}};
    for (int n = 0; n < 4; n++) {
        double ours = measure(cases[n].truth, RH_SURFACING_ELLIPSOID, 0.25, cases[n].size, 4, cases[n].name).deviation;
        for (int mode = RH_SURFACING_SPHERE; mode <= RH_SURFACING_DENSITY; mode++)
            assert_true(ours < 0.75 * measure(cases[n].truth, mode, 0.25, cases[n].size, 4, cases[n].name).deviation);
    }
}

// A block of 20 x 12 x 16 spacings keeps its volume; drawn in by smoothing, it would lose a spacing on each side.
static void volume_stays(void **state)
{
    (void)state;
    double share[2];
    for (int n = 0; n < 2; n++) {
        rh_status status = {0};
        rh_points points;
        rh_band band;
        rh_surfacing_params params;
        rh_surface_grid *grid;
        fill(&points, block, 5, 1);
        assert_ok(rh_params_defaults(&rh_surfacing_table, &params, &status));
        params.radius = RADIUS;
        params.recentre = n == 0;
        assert_ok(rh_surfacing_build(&params, &points, &band, NULL, &status));
        assert_ok(rh_surface_grid_create(&band, &grid, &status));
        share[n] = rh_surface_grid_volume(grid) / (20.0 * 12 * 16) - 1;
        rh_surface_grid_free(grid);
        rh_band_free(&band);
        rh_points_free(&points);
        rh_params_free(&rh_surfacing_table, &params);
    }
    print_message("volume of a block: %+.2f %%, smoothed without recentre %+.2f %%\n", 100 * share[0], 100 * share[1]);
    assert_near(share[0], 0, 0.02);
    assert_true(share[1] < -0.1);
}

// One layer of particles, jittered by a whole spacing in all directions; voxels from coarse to fine.
static void sheet_has_no_holes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        for (int n = 0; n < 3; n++) {
            double voxel = (double[]){0.5, 0.3, 0.2}[n];
            rh_points points;
            rh_band band;
            fill(&points, sheet, seed, 1);
            make_band(&points, RH_SURFACING_ELLIPSOID, voxel, &band);
            relief r = look_down(&band, sheet, 11);
            print_message("sheet, voxel %.2f: %lld columns, %lld holes, top %+.3f\n", voxel, (long long)r.columns,
                          (long long)r.holes, r.mean);
            assert_true(r.columns > 1000);
            assert_int_equal(r.holes, 0);
            assert_near(r.mean, 0, 0.2);
            rh_band_free(&band);
            rh_points_free(&points);
        }
}

// The rim of a slab stays where it is: without `recentre` it would draw back by more than a spacing.
static void rims_stay(void **state)
{
    (void)state;
    rh_points points;
    rh_band band;
    fill(&points, rim, 2, 1);
    make_band(&points, RH_SURFACING_ELLIPSOID, 0.25, &band);
    double sum = 0;
    int columns = 0;
    for (int i = -36; i <= 36; i++, columns++) {
        int k = 40;
        while (k > -40 && rh_band_at(&band, i, 0, k) > 0) k--;
        sum += k * 0.25;
    }
    print_message("rim at %+.3f\n", sum / columns);
    assert_near(sum / columns, 0, 0.4);
    rh_band_free(&band);
    rh_points_free(&points);
}

// Four times as many particles in one half: sums of kernels swell there, the minimum of distances must not.
static void crowds_do_not_bulge(void **state)
{
    (void)state;
    double step[2];
    for (int density = 0; density < 2; density++) {
        rh_points points;
        rh_band band;
        fill(&points, plane, 3, 4);
        make_band(&points, density ? RH_SURFACING_DENSITY : RH_SURFACING_ELLIPSOID, 0.5, &band);
        double height[2] = {0};
        int columns = 0;
        for (int i = 6; i <= 20; i++)
            for (int k = -20; k <= 20; k++, columns++)
                for (int side = 0; side < 2; side++) {
                    int j = 20;
                    while (j > -20 && rh_band_at(&band, side ? i : -i, j, k) > 0) j--;
                    height[side] += 0.5 * j;
                }
        step[density] = (height[1] - height[0]) / columns;
        rh_band_free(&band);
        rh_points_free(&points);
    }
    print_message("where particles are four times as dense the surface is %+.3f spacings higher, by density %+.3f\n",
                  step[0], step[1]);
    assert_true(fabs(step[0]) < 0.25);
    assert_true(step[1] > 2 * fabs(step[0]));
}

// A particle alone is its sphere: half its radius by default, all of it in mode sphere and averaged. Anywhere against
// the grid.
static void alone_is_a_sphere(void **state)
{
    (void)state;
    static const struct {
        int mode;
        double radius;
    } cases[] = {{RH_SURFACING_ELLIPSOID, 0.5}, {RH_SURFACING_SPHERE, 1}, {RH_SURFACING_AVERAGED, 1}};
    for (int n = 0; n < 3; n++)
        for (uint64_t place = 0; place < 5; place++) {
            rh_status status = {0};
            rh_points points;
            rh_band band;
            rh_points_init(&points);
            assert_ok(rh_points_add(&points, "P", RH_POINT_VEC3F, &status));
            assert_ok(rh_points_resize(&points, 1, &status));
            rh_vec3 p = rh_v3(3 * support_random(place, 0), 3 * support_random(place, 1), 3 * support_random(place, 2));
            *(rh_vec3 *)rh_points_data(&points, "P", RH_POINT_VEC3F) = p;
            make_band(&points, cases[n].mode, 0.1, &band);
            double radius = cases[n].radius * RADIUS, worst = 0;
            int seen = 0;
            for (int32_t l = 0; l < band.count; l++)
                for (int c = 0; c < RH_LEAF; c++) {
                    if (!(band.active[l].layer[c >> 6] >> (c & 63) & 1)) continue;
                    double x = (8 * band.at[l].x + (c >> 6)) * 0.1 - p.x,
                           y = (8 * band.at[l].y + (c >> 3 & 7)) * 0.1 - p.y,
                           z = (8 * band.at[l].z + (c & 7)) * 0.1 - p.z;
                    worst = fmax(worst, fabs(band.value[l][c] - (sqrt(x * x + y * y + z * z) - radius)));
                    seen++;
                }
            // Outside exact; inside and for averages a first-order sweep from the sphere itself.
            assert_true(seen > 200 && worst < 0.05);
            rh_band_free(&band);
            rh_points_free(&points);
        }
}

// A box of particles that is stretched and turned askew, as blocks: faces, edges and corners stay where they are, to a
// fifth of a spacing in all voxels next to the surface (beside an edge that were round by a spacing it would be 0.4),
// and each voxel knows its place before.
static void boxes_keep_their_edges(void **state)
{
    (void)state;
    static const int half[3] = {5, 3, 4};
    static const double stretch[3] = {1.2, 1, 0.9},
                        turn[3][3] = {{0.8, -0.48, 0.36}, {0.6, 0.64, -0.48}, {0, 0.6, 0.8}};
    rh_status status = {0};
    rh_points points;
    rh_band band;
    rh_points_init(&points);
    assert_ok(rh_points_add(&points, "P", RH_POINT_VEC3F, &status));
    assert_ok(rh_points_add(&points, "rest", RH_POINT_VEC3F, &status));
    assert_ok(rh_points_add(&points, "deformation", RH_POINT_MAT3F, &status));
    assert_ok(rh_points_resize(&points, 8 * half[0] * half[1] * half[2], &status));
    rh_vec3 *place = rh_points_data(&points, "P", RH_POINT_VEC3F),
            *rest = rh_points_data(&points, "rest", RH_POINT_VEC3F);
    float *deformation = rh_points_data(&points, "deformation", RH_POINT_MAT3F);
    for (int n = 0; n < points.count; n++) {
        const double at[3] = {n % (2 * half[0]) - half[0] + 0.5, n / (2 * half[0]) % (2 * half[1]) - half[1] + 0.5,
                              n / (4 * half[0] * half[1]) - half[2] + 0.5};
        rest[n] = rh_v3((float)at[0], (float)at[1], (float)at[2]);
        for (int r = 0; r < 3; r++) {
            double x = 0;
            for (int c = 0; c < 3; c++) {
                deformation[9 * n + 3 * r + c] = (float)(turn[r][c] * stretch[c] - (r == c));
                x += turn[r][c] * stretch[c] * at[c];
            }
            (&place[n].x)[r] = (float)x;
        }
    }
    make_band(&points, RH_SURFACING_BLOCKS, 0.5, &band);
    const rh_band_channel *channel = rh_band_channel_find(&band, "rest");
    assert_non_null(channel);
    double worst = 0, farthest = 0;
    int seen = 0;
    for (int32_t l = 0; l < band.count; l++)
        for (int c = 0; c < RH_LEAF; c++) {
            const double x[3] = {0.5 * (8 * band.at[l].x + (c >> 6)), 0.5 * (8 * band.at[l].y + (c >> 3 & 7)),
                                 0.5 * (8 * band.at[l].z + (c & 7))};
            double out = 0, in = -1e9, apart = 0;
            for (int k = 0; k < 3; k++) {
                double q = turn[0][k] * x[0] + turn[1][k] * x[1] + turn[2][k] * x[2];
                double d = fabs(q) - stretch[k] * half[k];
                out += fmax(d, 0) * fmax(d, 0), in = fmax(in, d);
                const rh_vec3 *from = (const rh_vec3 *)channel->data + (int64_t)RH_LEAF * l + c;
                apart = fmax(apart, fabs(q / stretch[k] - (double)(&from->x)[k]));
            }
            double truth = in > 0 ? sqrt(out) : in;
            if (fabs(truth) > 0.5) continue;
            worst = fmax(worst, fabs((double)band.value[l][c] - truth));
            farthest = fmax(farthest, apart);
            seen++;
        }
    print_message("box in blocks: %d voxels, off by %.3f at most; rest positions by %.3f\n", seen, worst, farthest);
    assert_true(seen > 1000 && worst < 0.2);
    assert_true(farthest < 1.1);  // half a spacing to the nearest particle, and half of one outside
    rh_band_free(&band);
    rh_points_free(&points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shapes_come_back),  cmocka_unit_test(flatter_than_others),
                                       cmocka_unit_test(volume_stays),      cmocka_unit_test(sheet_has_no_holes),
                                       cmocka_unit_test(rims_stay),         cmocka_unit_test(crowds_do_not_bulge),
                                       cmocka_unit_test(alone_is_a_sphere), cmocka_unit_test(boxes_keep_their_edges)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
