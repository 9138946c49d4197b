// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The path tracer against what is known exactly: white things in even white light cannot be seen (the furnace test),
// Fresnel's and Snell's formulas, the share of a slab of absorbing glass, the outline of a sphere, light of the sun on
// a plane, and the same bytes for any number of threads.
#include "support.h"
#include "view/optics.h"
#include "view/rays.h"
#include "view/sampler.h"
#include "view/trace.h"

enum { W = 64, H = 48, CORNERS = 8 };
static const rh_vec3 white = {1, 1, 1};

static rh_trace_options furnace(void)
{
    rh_view view = {rh_d3(0, 0, 4), rh_d3(0, 0, 0), 36};
    return (rh_trace_options){.width = W,
                              .height = H,
                              .open = view,
                              .close = view,
                              .samples = 16,
                              .seed = 1,
                              .light = {.zenith = white, .horizon = white, .to_sun = {0, 1, 0}, .sun_cosine = 0.999f}};
}

static rh_trace *new_trace(void)
{
    rh_status status = {0};
    rh_trace *trace;
    assert_ok(rh_trace_create(0, &trace, &status));
    return trace;
}

static void add_sphere(rh_trace *trace, rh_vec3 center, float radius, rh_appearance appearance)
{
    rh_status status = {0};
    rh_trace_spheres spheres = {.center = &center, .radius = &radius, .count = 1, .appearance = appearance};
    assert_ok(rh_trace_add_spheres(trace, &spheres, &status));
}

// A sphere of triangles with the sphere's normals: what a surface mesh is.
static void add_globe(rh_trace *trace, float radius, rh_appearance appearance, int rows)
{
    rh_status status = {0};
    int columns = 2 * rows, vertices = (rows + 1) * columns, faces = 0;
    rh_vec3 *position = test_malloc((size_t)vertices * sizeof *position),
            *normal = test_malloc((size_t)vertices * sizeof *normal);
    uint32_t(*triangle)[3] = test_malloc((size_t)(2 * rows * columns) * sizeof *triangle);
    for (int i = 0; i <= rows; i++)
        for (int k = 0; k < columns; k++) {
            double down = 3.14159265358979 * i / rows, around = 2 * 3.14159265358979 * k / columns;
            rh_vec3 n = rh_v3((float)(sin(down) * cos(around)), (float)cos(down), (float)(-sin(down) * sin(around)));
            normal[i * columns + k] = n;
            position[i * columns + k] = rh_v3_scale(n, radius);
            if (i == rows) continue;
            uint32_t a = (uint32_t)(i * columns + k), b = (uint32_t)(i * columns + (k + 1) % columns),
                     down_row = (uint32_t)columns;
            if (i > 0) memcpy(triangle[faces++], (uint32_t[3]){a, a + down_row, b}, sizeof *triangle);
            if (i < rows - 1) memcpy(triangle[faces++], (uint32_t[3]){b, a + down_row, b + down_row}, sizeof *triangle);
        }
    assert_ok(rh_trace_add_mesh(trace,
                                &(rh_trace_mesh){.position = position,
                                                 .normal = normal,
                                                 .vertex_count = vertices,
                                                 .triangle = (const uint32_t(*)[3])triangle,
                                                 .triangle_count = faces,
                                                 .appearance = appearance},
                                &status));
    test_free(position);
    test_free(normal);
    test_free(triangle);
}

static void add_box(rh_trace *trace, rh_vec3 low, rh_vec3 high, rh_appearance appearance)
{
    rh_status status = {0};
    rh_vec3 p[CORNERS];
    for (int i = 0; i < CORNERS; i++)
        p[i] = rh_v3(i & 1 ? high.x : low.x, i & 2 ? high.y : low.y, i & 4 ? high.z : low.z);
    static const uint32_t t[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                      {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    assert_ok(rh_trace_add_mesh(
        trace,
        &(rh_trace_mesh){
            .position = p, .vertex_count = CORNERS, .triangle = t, .triangle_count = 12, .appearance = appearance},
        &status));
}

static void draw(rh_trace *trace, const rh_trace_options *o, rh_vec3 *picture)
{
    rh_status status = {0};
    assert_ok(rh_trace_render(trace, o, picture, &status));
    rh_trace_free(trace);
}

static void everything_is(const rh_vec3 *picture, double value, double tolerance)
{
    for (int i = 0; i < W * H; i++) {
        assert_near(picture[i].x, value, tolerance);
        assert_near(picture[i].y, value, tolerance);
        assert_near(picture[i].z, value, tolerance);
    }
}

// Every path ends in the sky with all of its weight: there is no noise to allow for.
static void white_is_invisible_in_white_light(void **state)
{
    (void)state;
    static rh_vec3 picture[W * H];
    rh_trace_options o = furnace();
    rh_trace *trace = new_trace();
    add_sphere(trace, rh_v3(0, 0, 0), 1, (rh_appearance){.kind = RH_APPEARANCE_MATTE, .color = white});
    draw(trace, &o, picture);
    everything_is(picture, 1, 1e-6);
    trace = new_trace();  // and grey by exactly its colour
    add_sphere(trace, rh_v3(0, 0, 0), 100, (rh_appearance){.kind = RH_APPEARANCE_MATTE, .color = {0.5f, 0.5f, 0.5f}});
    o.open.eye = o.close.eye = rh_d3(0, 0, 102);
    draw(trace, &o, picture);
    everything_is(picture, 0.5, 1e-6);
}

static void glass_is_invisible_in_white_light(void **state)
{
    (void)state;
    static rh_vec3 picture[W * H];
    const float indices[] = {1.333f, 1.5f, 2.4f};
    for (int i = 0; i < 3; i++) {
        rh_trace_options o = furnace();
        o.bounces = 1000;  // light may go round inside for long; nothing but the count of bounces can lose it
        rh_trace *trace = new_trace();
        add_globe(trace, 1, (rh_appearance){.kind = RH_APPEARANCE_CLEAR, .ior = indices[i]}, 64);
        draw(trace, &o, picture);
        everything_is(picture, 1, 2e-5);
    }
    rh_trace_options o = furnace();  // the default number of bounces loses little
    rh_trace *trace = new_trace();
    add_globe(trace, 1, (rh_appearance){.kind = RH_APPEARANCE_CLEAR, .ior = 1.333f}, 64);
    draw(trace, &o, picture);
    everything_is(picture, 1, 0.02);
}

// What comes back from matte and glossy surfaces in even light, by a sum over directions: never more than comes in, and
// nearly all of it when white.
static void surfaces_keep_energy(void **state)
{
    (void)state;
    enum { N = 4096 };
    for (int kind = 0; kind < 2; kind++)
        for (int rough = 0; rough <= 5; rough++)
            for (int slant = 0; slant < 5; slant++) {
                rh_appearance m = {.kind = kind ? RH_APPEARANCE_GLOSSY : RH_APPEARANCE_MATTE,
                                   .color = white,
                                   .roughness = (float)rough / 5,
                                   .ior = 1.5f};
                float cosine = 0.15f + 0.2f * (float)slant;
                rh_vec3 n = rh_v3(0, 1, 0), out = rh_v3(sqrtf(1 - cosine * cosine), cosine, 0);
                double sum = 0;
                for (uint32_t i = 0; i < N; i++) {
                    rh_sampler sampler = {.seed = 3, .sample = i};
                    float u[2], choice[2], pdf;
                    rh_scatter s;
                    rh_sampler_pair(&sampler, u);
                    rh_sampler_pair(&sampler, choice);
                    if (!rh_appearance_sample(&m, white, n, out, choice[0], u, &s)) continue;
                    rh_vec3 answer = rh_appearance_evaluate(&m, white, n, out, s.direction, &pdf);
                    assert_near(pdf, s.pdf, 1e-4 * s.pdf + 1e-6);  // sampling and asking agree
                    assert_near(answer.x / pdf, s.weight.x, 1e-3 * s.weight.x + 1e-5);
                    sum += s.weight.x / N;
                }
                assert_true(sum < 1.01);
                // Facets that shadow each other lose what a second bounce would bring back; it shows at a slant on
                // rough coats.
                assert_true(sum > (rough <= 1 ? 0.94 : kind ? 0.60 : 0.77));
            }
}

// Densities of directions must sum to one over the hemisphere, or the balance with the sun is wrong.
static void densities_sum_to_one(void **state)
{
    (void)state;
    enum { N = 400 };
    for (int rough = 1; rough <= 4; rough++) {
        rh_appearance m = {
            .kind = RH_APPEARANCE_GLOSSY, .color = white, .roughness = 0.25f * (float)rough, .ior = 1.5f};
        rh_vec3 n = rh_v3(0, 1, 0), out = rh_v3_unit(rh_v3(0.6f, 0.8f, 0));
        double sum = 0;
        for (int i = 0; i < N; i++)
            for (int k = 0; k < N; k++) {
                double y = (i + 0.5) / N, around = 2 * 3.14159265358979 * (k + 0.5) / N, flat = sqrt(1 - y * y);
                float pdf;
                rh_appearance_evaluate(&m, white, n, out,
                                       rh_v3((float)(flat * cos(around)), (float)y, (float)(flat * sin(around))), &pdf);
                sum += pdf * 2 * 3.14159265358979 / ((double)N * N);
            }
        // Some facets send light below the surface: those directions are drawn in vain, rougher ones more often.
        assert_true(sum < 1.002 && sum > 1 - 0.16 * rough * rough / 16.0 - 0.01);
    }
}

// Born and Wolf: at normal incidence ((n-1)/(n+1))^2, nothing at Brewster's angle for light in the plane, all beyond
// the critical angle.
static void fresnel_and_snell(void **state)
{
    (void)state;
    for (double n = 1.1; n < 2.5; n += 0.2) {
        assert_near(rh_fresnel(1, (float)(1 / n)), pow((n - 1) / (n + 1), 2), 1e-6);
        assert_near(rh_fresnel(1, (float)n), pow((n - 1) / (n + 1), 2), 1e-6);
        double brewster = atan(n),
               across = pow(sin(brewster - asin(sin(brewster) / n)) / sin(brewster + asin(sin(brewster) / n)), 2);
        assert_near(rh_fresnel((float)cos(brewster), (float)(1 / n)), across / 2, 1e-6);
        double critical = asin(1 / n);
        assert_near(rh_fresnel((float)cos(critical + 0.001), (float)n), 1, 0);
        assert_true(rh_fresnel((float)cos(critical - 0.01), (float)n) < 0.99f);
        for (double angle = 0.01; angle < 1.55; angle += 0.05) {
            rh_vec3 in = rh_v3((float)sin(angle), (float)-cos(angle), 0), out = {0};
            assert_true(rh_refract(in, rh_v3(0, 1, 0), (float)(1 / n), &out));
            assert_near(out.x, sin(angle) / n, 1e-6);  // Snell
            assert_near(rh_v3_length(out), 1, 1e-6);
            assert_true(out.y < 0);
            rh_vec3 back;
            bool passes = rh_refract(in, rh_v3(0, 1, 0), (float)n, &back);
            if (fabs(angle - critical) > 1e-3) assert_int_equal(passes, angle < critical);
            // The way back: the same share from the other side.
            assert_near(rh_fresnel((float)cos(angle), (float)(1 / n)), rh_fresnel(-out.y, (float)n), 1e-4);
            rh_vec3 mirrored = rh_reflect(in, rh_v3(0, 1, 0));
            assert_near(mirrored.x, sin(angle), 1e-6);
            assert_near(mirrored.y, cos(angle), 1e-6);
        }
    }
}

// Light that goes straight through a slab of thickness d with absorption a: each pass leaves t = exp(-a d), each
// boundary reflects R, and out of both faces comes the even light: R + (1-R)^2 t / (1 - R t).
static void a_slab_absorbs_after_beer(void **state)
{
    (void)state;
    static rh_vec3 picture[16 * 16];
    rh_trace_options o = furnace();
    o.width = o.height = 16;
    o.open.fov = o.close.fov = 0.5;  // nearly parallel
    o.open.eye = o.close.eye = rh_d3(0, 0, 20);
    o.samples = 64;
    rh_vec3 absorption = {0.2f, 1, 3};
    float index = 1.5f, thick = 0.7f;
    rh_trace *trace = new_trace();
    add_box(trace, rh_v3(-50, -50, -thick), rh_v3(50, 50, 0),
            (rh_appearance){.kind = RH_APPEARANCE_CLEAR, .ior = index, .absorption = absorption});
    draw(trace, &o, picture);
    double found[3] = {0};
    for (int i = 0; i < 16 * 16; i++)
        for (int c = 0; c < 3; c++) found[c] += (&picture[i].x)[c] / (16 * 16);
    for (int c = 0; c < 3; c++) {
        double r = pow((index - 1) / (index + 1), 2), t = exp(-(&absorption.x)[c] * thick);
        assert_near(found[c], r + (1 - r) * (1 - r) * t / (1 - r * t), 2e-4);
    }
}

// Balls of water in air and of air in water, as drops and bubbles are: nothing is lost or made at them either.
static void drops_and_bubbles_are_invisible_in_white_light(void **state)
{
    (void)state;
    static rh_vec3 picture[W * H];
    rh_appearance water = {.kind = RH_APPEARANCE_CLEAR, .ior = 1.333f},
                  air = {.kind = RH_APPEARANCE_CLEAR, .ior = 0.75f};
    rh_trace_options o = furnace();
    o.bounces = 1000;
    rh_trace *trace = new_trace();
    add_sphere(trace, rh_v3(0, 0, 0), 1, water);
    draw(trace, &o, picture);
    everything_is(picture, 1, 2e-5);
    trace = new_trace();
    add_globe(trace, 1.2f, water, 64);
    add_sphere(trace, rh_v3(0.2f, 0.1f, 0.3f), 0.4f, air);
    draw(trace, &o, picture);
    everything_is(picture, 1, 2e-5);
}

// Straight through a bubble in the middle of a slab: only the water before and behind it absorbs.
static void water_behind_a_bubble_absorbs(void **state)
{
    (void)state;
    static rh_vec3 picture[16 * 16];
    rh_trace_options o = furnace();
    o.width = o.height = 16;
    o.open.fov = o.close.fov = 0.02;
    o.open.eye = o.close.eye = rh_d3(0, 0, 20);
    o.samples = 64;
    double thick = 1, radius = 0.2, a = 1, n = 1.333, r = pow((n - 1) / (n + 1), 2), pass = 1 - r,
           side = 0.5 * thick - radius, t = exp(-a * side), mean = 0;
    rh_trace *trace = new_trace();
    add_box(trace, rh_v3(-50, -50, (float)-thick), rh_v3(50, 50, 0),
            (rh_appearance){.kind = RH_APPEARANCE_CLEAR, .ior = (float)n, .absorption = {1, 1, 1}});
    add_sphere(trace, rh_v3(0, 0, (float)(-0.5 * thick)), (float)radius,
               (rh_appearance){.kind = RH_APPEARANCE_CLEAR, .ior = (float)(1 / n)});
    draw(trace, &o, picture);
    for (int i = 0; i < 16 * 16; i++) mean += picture[i].x / (16 * 16);
    // Mirrored at the face, at the bubble's front, at its back, at the other face; and through all.
    double through = r + pass * pass * r * t * t + pow(pass, 4) * r * t * t + pow(pass, 6) * r * pow(t, 4) +
                     pow(pass, 4) * t * t;
    assert_near(mean, through, 0.01);
}

// From the middle of a ball of glass: each way to the boundary leaves t = exp(-a r), the boundary lets 1 - R of the sky
// in with n^2 of its radiance and sends R back through the whole ball: n^2 (1 - R) t / (1 - R t^2).
static void a_camera_inside(void **state)
{
    (void)state;
    static rh_vec3 picture[16 * 16];
    rh_trace_options o = furnace();
    o.width = o.height = 16;
    o.open = o.close = (rh_view){rh_d3(0, 0, 0), rh_d3(0, 0, -1), 0.1};
    o.samples = 64;
    float index = 1.5f, absorption = 0.4f;
    rh_trace *trace = new_trace();
    add_globe(
        trace, 2,
        (rh_appearance){.kind = RH_APPEARANCE_CLEAR, .ior = index, .absorption = {absorption, absorption, absorption}},
        64);
    draw(trace, &o, picture);
    double mean = 0, r = pow((index - 1) / (index + 1), 2), t = exp(-absorption * 2);
    for (int i = 0; i < 16 * 16; i++) mean += picture[i].x / (16 * 16);
    assert_near(mean, index * index * (1 - r) * t / (1 - r * t * t), 2e-3);  // the ball is made of flat pieces
}

// Seen from distance L a sphere of radius R covers a disc of tangent tan(asin(R/L)).
static void a_sphere_has_its_outline(void **state)
{
    (void)state;
    static rh_vec3 picture[W * H];
    rh_trace_options o = furnace();
    o.samples = 256;
    o.open.fov = o.close.fov = 50;
    rh_trace *trace = new_trace();
    add_sphere(trace, rh_v3(0, 0, 0), 1, (rh_appearance){.kind = RH_APPEARANCE_MATTE, .color = {0, 0, 0}});
    draw(trace, &o, picture);
    double covered = 0, x = 0, y = 0;
    for (int i = 0; i < W * H; i++)
        covered += 1 - picture[i].x, x += (1 - picture[i].x) * (i % W + 0.5), y += (1 - picture[i].x) * (i / W + 0.5);
    double radius = tan(asin(1 / 4.0)) / tan(25 * 3.14159265358979 / 180) * H / 2;
    assert_near(covered / (3.14159265358979 * radius * radius), 1, 1e-3);
    assert_near(x / covered, W / 2.0, 0.01);
    assert_near(y / covered, H / 2.0, 0.01);
}

// A sun of irradiance E on a plane at a slant gives color E cos / pi, with and without water above it (less what the
// boundary reflects and the water keeps).
static void the_sun_lights_a_plane(void **state)
{
    (void)state;
    static rh_vec3 picture[W * H];
    for (int wet = 0; wet < 2; wet++) {
        rh_trace_options o = furnace();
        float slant = 0.6f;
        o.light = (rh_light){.to_sun = {0.8f, slant, 0}, .sun = {2, 2, 2}, .sun_cosine = 0.9995f};
        o.ground = (rh_ground){.style = RH_GROUND_PLAIN, .reach = 1000, .tile = 1, .color = {0.5f, 0.5f, 0.5f}};
        o.open = o.close = (rh_view){rh_d3(0, 10, 0), rh_d3(0, 0, 0), 1};
        o.samples = 64;
        o.bounces = wet ? 0 : 1;
        rh_trace *trace = new_trace();
        rh_appearance water = {.kind = RH_APPEARANCE_CLEAR, .ior = 1.333f, .absorption = {0.1f, 0.1f, 0.1f}};
        if (wet) add_box(trace, rh_v3(-500, -1, -500), rh_v3(500, 2, 500), water);
        draw(trace, &o, picture);
        double expected = 0.5 * 2 * slant;
        if (wet) {  // first light only: down along the straight way, up to the camera straight; radiance shrinks by the
                    // square of the index
            double in = 1 - rh_fresnel(slant, 1 / 1.333f), out = 1 - rh_fresnel(1, 1 / 1.333f);
            expected *= in * exp(-0.1 * 2 / slant) * out * exp(-0.2) / (1.333 * 1.333);
        }
        double mean = 0;
        for (int i = 0; i < W * H; i++) mean += picture[i].x / (W * H);
        if (!wet) assert_near(mean, expected, 2e-3 * expected);
        else
            assert_true(mean > expected * 0.99 &&
                        mean < expected * 1.9);  // and what the surface sends back to the ground
    }
}

// A matte sphere without anything around it: each place has the mean of the sky over its hemisphere, here summed up
// over directions with brute force.
static void the_sky_lights_a_slope(void **state)
{
    (void)state;
    static rh_vec3 picture[W * H];
    enum { N = 500 };
    for (int i = 0; i <= 6; i++) {
        double tilt = -1.4 + 0.45 * i, height = sin(tilt);  // of the normal above the horizon
        rh_trace_options o = furnace();
        o.light.zenith = rh_v3(0.2f, 0.4f, 2), o.light.horizon = rh_v3(1, 0.5f, 0.1f);
        o.open = o.close = (rh_view){rh_d3(0, 4 * sin(tilt), 4 * cos(tilt)), rh_d3(0, 0, 0), 0.05};
        o.samples = 4;
        rh_trace *trace = new_trace();
        add_sphere(trace, rh_v3(0, 0, 0), 1, (rh_appearance){.kind = RH_APPEARANCE_MATTE, .color = {0.5f, 0.5f, 0.5f}});
        draw(trace, &o, picture);
        double expected[3] = {0}, mean[3] = {0};
        for (int a = 0; a < N; a++)
            for (int b = 0; b < N; b++) {
                double up = 1 - 2 * (a + 0.5) / N, around = 2 * 3.14159265358979 * (b + 0.5) / N,
                       flat = sqrt(1 - up * up);
                double cosine = up * height + flat * cos(around) * cos(tilt);
                rh_vec3 sky = rh_light_sky(&o.light, rh_v3(0, (float)up, 0));
                for (int c = 0; c < 3 && cosine > 0; c++)
                    expected[c] += 0.5 * (&sky.x)[c] * cosine * 4 / ((double)N * N);
            }
        for (int k = 0; k < W * H; k++)
            for (int c = 0; c < 3; c++) mean[c] += (&picture[k].x)[c] / (W * H);
        for (int c = 0; c < 3; c++) assert_near(mean[c], expected[c], 3e-3 * expected[c]);
    }
}

// Level water over level ground of reflectance q under an even sky, seen from straight above. Of the sky's flux 1 - r
// enters (r: Fresnel's share, mean over a diffuse hemisphere); of what comes up from the ground, 1 - (1 - r) / n^2 is
// sent back down. So the ground receives (1 - r) / (1 - q (1 - (1 - r) / n^2)), and the camera sees R + (1 - R) q / n^2
// of that, with R at normal incidence.
static void light_under_water(void **state)
{
    (void)state;
    static rh_vec3 picture[W * H];
    const float index = 1.333f, q[3] = {0.1f, 0.3f, 0.5f};
    rh_trace_options o = furnace();
    o.ground = (rh_ground){.style = RH_GROUND_PLAIN, .reach = 1e5f, .tile = 1, .color = {q[0], q[1], q[2]}};
    o.open = o.close = (rh_view){rh_d3(0.1, 10, 0.2), rh_d3(0.1, 0, 0.2), 1};
    o.samples = 32;
    rh_trace *trace = new_trace();
    add_box(trace, rh_v3(-5000, -1, -5000), rh_v3(5000, 2, 5000),
            (rh_appearance){.kind = RH_APPEARANCE_CLEAR, .ior = index});
    draw(trace, &o, picture);
    double enters = 0, n2 = (double)index * index, normal = pow((index - 1) / (index + 1), 2), mean[3] = {0};
    for (int i = 0; i < 10000; i++) enters += (1 - rh_fresnel(sqrtf(((float)i + 0.5f) / 10000), 1 / index)) / 10000;
    for (int k = 0; k < W * H; k++)
        for (int c = 0; c < 3; c++) mean[c] += (&picture[k].x)[c] / (W * H);
    for (int c = 0; c < 3; c++) {
        double ground = enters / (1 - q[c] * (1 - enters / n2));
        assert_near(mean[c], normal + (1 - normal) * q[c] / n2 * ground, 3e-3);
    }
}

static uint32_t picture_hash(int threads, uint64_t seed)
{
    static rh_vec3 picture[W * H];
    rh_status status = {0};
    rh_threads_set(threads);
    rh_trace *trace;
    assert_ok(rh_trace_create(0.02f, &trace, &status));
    enum { N = 500 };
    rh_vec3 center[N], velocity[N];
    float radius[N];
    for (uint32_t i = 0; i < N; i++) {
        center[i] = rh_v3(support_random(i, 0), support_random(i, 1), support_random(i, 2));
        velocity[i] = rh_v3(support_random(i, 3), 3, 0);
        radius[i] = 0.05f;
    }
    rh_trace_spheres spheres = {.center = center,
                                .velocity = velocity,
                                .radius = radius,
                                .color = center,
                                .count = N,
                                .appearance = {.kind = RH_APPEARANCE_GLOSSY, .roughness = 0.3f, .ior = 1.5f}};
    for (int i = 0; i < N; i++) center[i].x = fabsf(center[i].x), center[i].y = fabsf(center[i].y);
    assert_ok(rh_trace_add_spheres(trace, &spheres, &status));
    add_globe(trace, 0.8f, (rh_appearance){.kind = RH_APPEARANCE_CLEAR, .ior = 1.333f, .absorption = {1, 0.3f, 0.1f}},
              24);
    rh_trace_options o = furnace();
    o.light.sun = rh_v3(3, 3, 3);
    o.light.to_sun = rh_v3_unit(rh_v3(1, 1, 1));
    o.ground = (rh_ground){
        .style = RH_GROUND_CHECKER, .height = -0.7f, .reach = 4, .tile = 0.4f, .color = {0.6f, 0.6f, 0.6f}};
    o.noise = 0.02f;
    o.seed = seed;
    draw(trace, &o, picture);
    rh_threads_set(0);
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < sizeof picture; i++) hash = (hash ^ ((const unsigned char *)picture)[i]) * 16777619u;
    return hash;
}

static void same_bytes_for_any_threads(void **state)
{
    (void)state;
    uint32_t one = picture_hash(1, 1);
    for (int threads = 2; threads <= 8; threads *= 2) assert_int_equal(picture_hash(threads, 1), one);
    assert_int_not_equal(picture_hash(2, 2), one);
}

// A fast sphere covers its whole way, each pixel for the time it was there: the sum stays, the peak falls.
static void motion_blur_keeps_the_area(void **state)
{
    (void)state;
    static rh_vec3 still[W * H], moving[W * H];
    rh_status status = {0};
    rh_vec3 center = {0, 0, 0}, velocity = {10, 0, 0};
    float radius = 0.2f;
    rh_trace_spheres spheres = {.center = &center,
                                .velocity = &velocity,
                                .radius = &radius,
                                .count = 1,
                                .appearance = {.kind = RH_APPEARANCE_MATTE, .color = {0, 0, 0}}};
    double area[2] = {0}, reach[2] = {0};
    for (int k = 0; k < 2; k++) {
        rh_trace *trace;
        assert_ok(rh_trace_create(k ? 0.1f : 0, &trace, &status));
        assert_ok(rh_trace_add_spheres(trace, &spheres, &status));
        rh_trace_options o = furnace();
        o.samples = 128;
        rh_vec3 *picture = k ? moving : still;
        draw(trace, &o, picture);
        for (int i = 0; i < W * H; i++)
            area[k] += 1 - picture[i].x,
                reach[k] = fmax(reach[k], picture[i].x < 0.99f ? fabs(i % W + 0.5 - W / 2.0) : 0);
    }
    double scale = H / 2.0 / tan(18 * 3.14159265358979 / 180) / 4;  // pixels a metre
    assert_near(area[1] / area[0], 1, 0.02);
    assert_near(reach[1] - reach[0], 0.5 * scale, 1.5);
}

static void samples_are_stratified(void **state)
{
    (void)state;
    for (uint64_t pixel = 0; pixel < 4; pixel++) {
        int cells[16][16] = {{0}}, rows[256] = {0};
        for (uint32_t i = 0; i < 256; i++) {
            rh_sampler s = {.seed = 9, .pixel = pixel, .sample = i, .pair = 3};
            float u[2];
            rh_sampler_pair(&s, u);
            assert_true(u[0] >= 0 && u[0] < 1 && u[1] >= 0 && u[1] < 1);
            cells[(int)(u[0] * 16)][(int)(u[1] * 16)]++;
            rows[(int)(u[0] * 256)]++;
        }
        for (int i = 0; i < 256; i++) assert_true(cells[i / 16][i % 16] == 1 && rows[i] == 1);  // a (0,2)-sequence
    }
}

static void memory_that_runs_out(void **state)
{
    (void)state;
    rh_code code = RH_MEMORY;
    int tries = 0;
    for (; code != RH_OK; tries++) {
        rh_trace *trace = NULL;
        rh_vec3 center = {0, 0, 0};
        float radius = 1;
        rh_memory_fail_after(tries);
        code = rh_trace_create(0, &trace, NULL);
        rh_trace_spheres spheres = {.center = &center, .radius = &radius, .color = &white, .count = 1};
        if (code == RH_OK) code = rh_trace_add_spheres(trace, &spheres, NULL);
        rh_memory_fail_after(-1);
        rh_trace_free(trace);
        assert_true(code == RH_OK || code == RH_MEMORY);
    }
    assert_true(tries > 3);
}

static void without_embree(void **state)
{
    (void)state;
    rh_trace *trace;
    rh_status status = {0};
    assert_int_equal(rh_trace_create(0, &trace, &status), RH_USER);
    assert_non_null(strstr(status.message, "Embree"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(white_is_invisible_in_white_light),
        cmocka_unit_test(glass_is_invisible_in_white_light),
        cmocka_unit_test(drops_and_bubbles_are_invisible_in_white_light),
        cmocka_unit_test(water_behind_a_bubble_absorbs),
        cmocka_unit_test(surfaces_keep_energy),
        cmocka_unit_test(densities_sum_to_one),
        cmocka_unit_test(fresnel_and_snell),
        cmocka_unit_test(a_slab_absorbs_after_beer),
        cmocka_unit_test(a_sphere_has_its_outline),
        cmocka_unit_test(the_sun_lights_a_plane),
        cmocka_unit_test(same_bytes_for_any_threads),
        cmocka_unit_test(motion_blur_keeps_the_area),
        cmocka_unit_test(samples_are_stratified),
        cmocka_unit_test(memory_that_runs_out),
        cmocka_unit_test(the_sky_lights_a_slope),
        cmocka_unit_test(light_under_water),
        cmocka_unit_test(a_camera_inside),
    };
    const struct CMUnitTest bare[] = {cmocka_unit_test(surfaces_keep_energy), cmocka_unit_test(densities_sum_to_one),
                                      cmocka_unit_test(fresnel_and_snell), cmocka_unit_test(samples_are_stratified),
                                      cmocka_unit_test(without_embree)};
    if (!rh_rays_built_in()) return cmocka_run_group_tests(bare, NULL, nothing_left);
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
