// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The preview picture: the points are where they should be, nearer ones hide farther ones, colour follows speed, the
// picture does not depend on threads or on the order of points, and odd input does no harm.

#include "check.h"
#include <png.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "io/png.h"
#include "unit/scratch.h"
#include "view/preview.h"

enum { W = 320, H = 180 };

static rh_points make(int64_t count)
{
    rh_points points;
    rh_points_init(&points);
    assert_int_equal(rh_points_add(&points, "P", RH_POINT_VEC3F, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "v", RH_POINT_VEC3F, NULL), RH_OK);
    assert_int_equal(rh_points_resize(&points, count, NULL), RH_OK);
    rh_vec3 *P = rh_points_data(&points, "P", RH_POINT_VEC3F), *v = rh_points_data(&points, "v", RH_POINT_VEC3F);
    for (int64_t i = 0; i < count; i++) {
        uint64_t u = (uint64_t)i;
        P[i] = rh_v3(rh_random(1, u, 0, 0), 0.4f * rh_random(1, u, 0, 1), rh_random(1, u, 0, 2));
        v[i] = rh_v3(3 * P[i].x, 0, 0);
    }
    return points;
}

static rh_preview_options options(int dimension)
{
    return (rh_preview_options){.width = W, .height = H, .dimension = dimension, .frame = {{0, 0, 0}, {1, 0.4, 1}}};
}

static const uint8_t *at(const uint8_t *rgb, int x, int y) { return rgb + 3 * (y * W + x); }
static int blueness(const uint8_t *p) { return p[2] - p[0]; }  // the background is nearly grey
static int lightness(const uint8_t *p) { return p[0] + p[1] + p[2]; }

// Where the blue pixels are: count and mean place.
static int blue_pixels(const uint8_t *rgb, double *x, double *y)
{
    int count = 0;
    *x = *y = 0;
    for (int j = 0; j < H * 8 / 10; j++)  // above the legend
        for (int i = 0; i < W; i++)
            if (blueness(at(rgb, i, j)) > 45) count++, *x += i, *y += j;
    if (count) *x /= count, *y /= count;
    return count;
}

static void one_sphere_is_where_it_should_be(void **state)
{
    (void)state;
    static uint8_t rgb[3 * W * H];
    float radius = 0.05f;
    rh_points points = make(1);
    assert_int_equal(rh_points_add_uniform(&points, "radius", RH_POINT_F32, &radius, NULL), RH_OK);
    rh_vec3 *P = rh_points_data(&points, "P", RH_POINT_VEC3F), *v = rh_points_data(&points, "v", RH_POINT_VEC3F);
    v[0] = rh_v3(0, 0, 0);
    rh_preview_options o = options(2);
    double x, y;
    // Flat view: the box, 1 m wide, takes 86 % of the width.
    double scale = 0.86 * W / 1.0;
    P[0] = rh_v3(0.5f, 0.2f, 0);
    assert_int_equal(rh_preview_render(&points, &o, rgb, NULL), RH_OK);
    int count = blue_pixels(rgb, &x, &y);
    assert_true(fabs(x + 0.5 - W / 2.0) < 0.6 && fabs(y + 0.5 - H / 2.0) < 0.6);
    assert_true(fabs(count / (3.14159 * pow(1.7 * radius * scale, 2)) - 1) < 0.08);
    P[0] = rh_v3(0.6f, 0.3f, 0);
    assert_int_equal(rh_preview_render(&points, &o, rgb, NULL), RH_OK);
    blue_pixels(rgb, &x, &y);
    assert_true(fabs(x + 0.5 - W / 2.0 - 0.1 * scale) < 1 && fabs(y + 0.5 - H / 2.0 + 0.1 * scale) < 1);

    // In depth: up is up, whatever the axis is called, and the same point gives the same picture.
    static uint8_t turned[3 * W * H];
    o = options(3);
    double low;
    P[0] = rh_v3(0.5f, 0.05f, 0.3f);
    assert_int_equal(rh_preview_render(&points, &o, rgb, NULL), RH_OK);
    assert_true(blue_pixels(rgb, &x, &low) > 20);
    P[0] = rh_v3(0.5f, 0.35f, 0.3f);
    assert_int_equal(rh_preview_render(&points, &o, rgb, NULL), RH_OK);
    assert_true(blue_pixels(rgb, &x, &y) > 20);
    assert_true(y < low - 20);
    P[0] = rh_v3(0.5f, -0.3f, 0.35f);
    o.z_up = true;
    o.frame = (rh_dbox){{0, -1, 0}, {1, 0, 0.4}};
    assert_int_equal(rh_preview_render(&points, &o, turned, NULL), RH_OK);
    assert_memory_equal(rgb, turned, sizeof rgb);
    rh_points_free(&points);
}

static void near_hides_far_and_speed_is_bright(void **state)
{
    (void)state;
    static uint8_t rgb[3 * W * H];
    float radius = 0.08f;
    rh_points points = make(2);
    assert_int_equal(rh_points_add_uniform(&points, "radius", RH_POINT_F32, &radius, NULL), RH_OK);
    rh_vec3 *P = rh_points_data(&points, "P", RH_POINT_VEC3F), *v = rh_points_data(&points, "v", RH_POINT_VEC3F);
    rh_preview_options o = options(2);
    o.color_max = 1;
    int seen[2];
    for (int fast = 0; fast < 2; fast++) {  // the flat view looks along -z: larger z is nearer
        P[0] = rh_v3(0.5f, 0.2f, fast == 0 ? 0.9f : 0.1f);
        P[1] = rh_v3(0.5f, 0.2f, fast == 0 ? 0.1f : 0.9f);
        v[0] = rh_v3(0.05f, 0, 0);
        v[1] = rh_v3(0.9f, 0, 0);
        assert_int_equal(rh_preview_render(&points, &o, rgb, NULL), RH_OK);
        seen[fast] = lightness(at(rgb, W / 2, H / 2));
    }
    assert_true(seen[1] > seen[0] + 150);
    rh_points_free(&points);
}

// A disc of a quarter of the picture's width in a flat picture is grey to its edge, which is where it should be; and
// what a camera that looks at a corner shows is what there is.
static void flat_pictures_show_solids(void **state)
{
    (void)state;
    static uint8_t rgb[3 * W * H], without[3 * W * H];
    rh_points points = make(1);
    rh_vec3 *P = rh_points_data(&points, "P", RH_POINT_VEC3F);
    P[0] = rh_v3(0.02f, 0.02f, 0);
    rh_obstacle disc = {.shape = {.kind = RH_SHAPE_SPHERE, .as.sphere = {{0.5, 0.2, 0}, 0.125}, .flat = true},
                        .pose = {.rotation = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}};
    rh_obstacles solids = {.items = &disc, .count = 1};
    rh_preview_options o = options(2);
    assert_int_equal(rh_preview_render(&points, &o, without, NULL), RH_OK);
    o.solids = &solids;
    assert_int_equal(rh_preview_render(&points, &o, rgb, NULL), RH_OK);
    double scale = 0.86 * W;
    int changed = 0;
    for (int i = 0; i < W * H; i++) changed += memcmp(rgb + 3 * i, without + 3 * i, 3) != 0;
    assert_true(fabs(changed / (3.14159 * pow(0.125 * scale, 2)) - 1) < 0.06);
    const uint8_t *middle = rgb + 3 * (H / 2 * W + W / 2);
    assert_true(middle[0] < 180 && abs(middle[0] - middle[2]) < 16);

    rh_view view = {{2, 2, 5}, {2, 2, 0}, 10};
    o.camera = &view;
    assert_int_equal(rh_preview_render(&points, &o, rgb, NULL), RH_OK);
    middle = rgb + 3 * (H / 2 * W + W / 2);
    assert_true(middle[0] > 180);  // far from the disc
    view = (rh_view){{0.5, 0.2, 1}, {0.5, 0.2, 0}, 6};
    assert_int_equal(rh_preview_render(&points, &o, rgb, NULL), RH_OK);
    for (int x = 0; x < W; x++) assert_true(rgb[3 * (H / 2 * W + x)] < 180);  // nothing but the disc
    rh_points_free(&points);
}

// A ball of radius 0.1 looked at from 2 m: as large as perspective makes it, before the particle behind it and behind
// the one in front.
static void deep_pictures_show_solids(void **state)
{
    (void)state;
    static uint8_t rgb[3 * W * H], without[3 * W * H];
    rh_points points = make(2);
    rh_vec3 *P = rh_points_data(&points, "P", RH_POINT_VEC3F);
    P[0] = rh_v3(0.5f, 0.5f, -0.5f), P[1] = rh_v3(0.9f, 0.5f, 0);
    rh_obstacle ball = {.shape = {.kind = RH_SHAPE_SPHERE, .as.sphere = {{0.5, 0.5, 0}, 0.1}},
                        .pose = {.rotation = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}}};
    rh_obstacles solids = {.items = &ball, .count = 1};
    rh_view view = {{0.5, 0.5, 2}, {0.5, 0.5, 0}, 20};
    rh_preview_options o = options(3);
    o.camera = &view;
    o.solids = &solids;
    assert_int_equal(rh_preview_render(&points, &o, rgb, NULL), RH_OK);
    const uint8_t *middle = rgb + 3 * (H / 2 * W + W / 2);
    assert_true(abs(middle[0] - middle[2]) < 16 && middle[0] < 220);  // grey
    P[0].z = 0.5f;
    assert_int_equal(rh_preview_render(&points, &o, rgb, NULL), RH_OK);
    assert_true(middle[2] > middle[0] + 30);  // blue

    P[0] = P[1];
    o.solids = NULL;
    assert_int_equal(rh_preview_render(&points, &o, without, NULL), RH_OK);
    o.solids = &solids;
    assert_int_equal(rh_preview_render(&points, &o, rgb, NULL), RH_OK);
    double scale = fmin(W, H) / 2.0 / tan(10 * 3.14159 / 180), radius = scale * tan(asin(0.1 / 2));
    int changed = 0;
    for (int i = 0; i < W * H; i++) changed += memcmp(rgb + 3 * i, without + 3 * i, 3) != 0;
    print_message("%d pixels changed, a disc of %.0f\n", changed, 3.14159 * radius * radius);
    assert_true(fabs(changed / (3.14159 * radius * radius) - 1) < 0.1);
    rh_points_free(&points);
}

static void threads_and_order_do_not_show(void **state)
{
    (void)state;
    static uint8_t first[3 * W * H], rgb[3 * W * H];
    enum { N = 20000 };
    rh_points points = make(N);
    rh_preview_options o = options(3);
    o.title = "threads \x01\xff";
    for (int threads = 1; threads <= 4; threads++) {
        rh_threads_set(threads);
        memset(rgb, threads, sizeof rgb);
        assert_int_equal(rh_preview_render(&points, &o, threads == 1 ? first : rgb, NULL), RH_OK);
        if (threads > 1) assert_memory_equal(first, rgb, sizeof rgb);
    }
    rh_threads_set(0);
    uint32_t *order = malloc(N * sizeof *order);
    for (uint32_t i = 0; i < N; i++) order[i] = N - 1 - i;
    assert_int_equal(rh_points_permute(&points, order, N, NULL), RH_OK);
    assert_int_equal(rh_preview_render(&points, &o, rgb, NULL), RH_OK);
    assert_memory_equal(first, rgb, sizeof rgb);
    free(order);
    rh_points_free(&points);
}

static void odd_input_does_no_harm(void **state)
{
    (void)state;
    static uint8_t rgb[3 * W * H];
    rh_status status = {0};
    rh_points points = make(100), none;
    rh_points_init(&none);
    rh_preview_options o = options(3);
    assert_int_equal(rh_preview_render(&none, &o, rgb, &status), RH_USER);
    rh_points_add(&none, "P", RH_POINT_VEC3F, NULL);
    rh_vec3 *P = rh_points_data(&points, "P", RH_POINT_VEC3F), *v = rh_points_data(&points, "v", RH_POINT_VEC3F);
    P[3].x = NAN, P[4].y = INFINITY, P[5].z = 3e38f, P[6].x = -1e20f, v[7].x = NAN, v[8].y = INFINITY;
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int boxed = 0; boxed < 4; boxed++) {
            o = options(dimension);
            if (boxed == 0) o.frame = (rh_dbox){{0, 0, 0}, {0, 0, 0}};
            if (boxed == 1) o.frame = (rh_dbox){{1, 1, 1}, {-1, -1, -1}};
            if (boxed == 2) o.frame = (rh_dbox){{0.5, 0.2, 0.5}, {0.5, 0.2, 0.5}};  // a point
            assert_int_equal(rh_preview_render(&points, &o, rgb, NULL), RH_OK);
            assert_int_equal(rh_preview_render(&none, &o, rgb, NULL), RH_OK);
        }
    o.width = 15;
    assert_int_equal(rh_preview_render(&points, &o, rgb, NULL), RH_USER);
    o.width = RH_PREVIEW_LARGEST + 1;
    assert_int_equal(rh_preview_render(&points, &o, rgb, NULL), RH_USER);
    o = options(4);
    assert_int_equal(rh_preview_render(&points, &o, rgb, NULL), RH_USER);
    o = options(3);
    o.width = o.height = 16;  // no room for the legend
    o.title = "a title that is much longer than the picture is wide";
    assert_int_equal(rh_preview_render(&points, &o, rgb, NULL), RH_OK);
    rh_code code = RH_MEMORY;
    int tries = 0;
    for (; code != RH_OK; tries++) {
        rh_memory_fail_after(tries);
        code = rh_preview_render(&points, &o, rgb, NULL);
        rh_memory_fail_after(-1);
        assert_true(code == RH_OK || code == RH_MEMORY);
    }
    assert_true(tries > 1);
    rh_points_free(&points);
    rh_points_free(&none);
}

// Two points side by side in two bands, one far above the range: strata go round, so that the seventh band looks like
// the first.
static void values_paint(void **state)
{
    (void)state;
    static uint8_t rgb[3 * W * H];
    float radius = 0.06f, values[3] = {0.5f, 1.5f, 6.5f};
    rh_points points = make(3);
    assert_int_equal(rh_points_add_uniform(&points, "radius", RH_POINT_F32, &radius, NULL), RH_OK);
    rh_vec3 *P = rh_points_data(&points, "P", RH_POINT_VEC3F);
    for (int i = 0; i < 3; i++) P[i] = rh_v3(0.2f + 0.3f * (float)i, 0.2f, 0);
    rh_paint paint = {.attribute = (char[]){"rest.y"}, .bands = 2, .palette = RH_PALETTE_STRATA};
    rh_preview_options o = options(2);
    o.paint = &paint, o.values = values, o.high = 2, o.matte = true;
    assert_int_equal(rh_preview_render(&points, &o, rgb, NULL), RH_OK);
    const uint8_t *p[3];
    for (int i = 0; i < 3; i++) p[i] = at(rgb, (int)(W / 2.0 + 0.86 * W * ((double)P[i].x - 0.5)), H / 2);
    assert_true(p[0][0] > p[0][2] + 20 && p[1][0] > p[1][2] + 20);  // browns
    assert_true(lightness(p[0]) > lightness(p[1]) + 90);
    for (int c = 0; c < 3; c++) assert_true(abs(p[0][c] - p[2][c]) < 6);
    o.values = NULL, o.color = rh_v3(0, 0.6f, 0);
    assert_int_equal(rh_preview_render(&points, &o, rgb, NULL), RH_OK);
    for (int i = 0; i < 3; i++) assert_true(p[i][1] > p[i][0] + 60 && p[i][1] > p[i][2] + 60);
    rh_points_free(&points);
}

static void a_png_reads_back(void **state)
{
    (void)state;
    static uint8_t rgb[3 * W * H], back[3 * W * H];
    for (size_t i = 0; i < sizeof rgb; i++) rgb[i] = (uint8_t)rh_random_bits(4, i, 0, 0);
    scratch s = scratch_make();
    scratch_path path = scratch_at(&s, "a.png"), nowhere = scratch_at(&s, "no/a.png");
    rh_status status = {0};
    assert_int_equal(rh_png_write(path.text, W, H, rgb, &status), RH_OK);
    assert_int_equal(scratch_count(&s), 1);
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&image, path.text));
    assert_int_equal(image.width, W);
    assert_int_equal(image.height, H);
    image.format = PNG_FORMAT_RGB;
    assert_true(png_image_finish_read(&image, NULL, back, 0, NULL));
    assert_memory_equal(rgb, back, sizeof rgb);
    assert_int_equal(rh_png_write(nowhere.text, W, H, rgb, &status), RH_IO);
    assert_non_null(strstr(status.message, "No such file"));
    assert_int_equal(rh_png_write(path.text, 0, H, rgb, NULL), RH_USER);
    assert_int_equal(rh_png_write(path.text, 2000000, 1, rgb, NULL), RH_IO);  // wider than libpng allows
    rh_code code = RH_MEMORY;
    for (int tries = 0; code != RH_OK; tries++) {
        rh_memory_fail_after(tries);
        code = rh_png_write(path.text, W, H, rgb, NULL);
        rh_memory_fail_after(-1);
    }
    assert_int_equal(scratch_count(&s), 1);
    scratch_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sphere_is_where_it_should_be),
        cmocka_unit_test(near_hides_far_and_speed_is_bright),
        cmocka_unit_test(flat_pictures_show_solids),
        cmocka_unit_test(deep_pictures_show_solids),
        cmocka_unit_test(threads_and_order_do_not_show),
        cmocka_unit_test(odd_input_does_no_harm),
        cmocka_unit_test(values_paint),
        cmocka_unit_test(a_png_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
