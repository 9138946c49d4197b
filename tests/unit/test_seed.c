// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Where particles come from and go to. Every particle stands for spacing^d, so numbers are volumes.
#include "unit/seed_support.h"
#include <stdlib.h>
#include "io/mesh_file.h"
#include "physics/liquid/liquid.h"

static const double PI = 3.14159265358979323846;

static int64_t seed(setting *s)
{
    rh_status status = {0};
    int64_t counted;
    assert_ok(rh_seed_count(&s->seeder, &counted, &status));
    assert_ok(rh_seed_bodies(&s->seeder, &s->points, &status));
    assert_int_equal(counted, s->points.count);
    const int64_t *id = rh_points_data(&s->points, "id", RH_POINT_I64);
    for (int64_t i = 0; i < s->points.count; i++) assert_int_equal(id[i], i);
    return counted;
}

static const rh_vec3 *positions(const setting *s) { return rh_points_data(&s->points, "P", RH_POINT_VEC3F); }

#define HEAD "rheo: 1\nphysics: {liquid: {}}\n"

// The number of lattice points in a body differs from its volume by a random walk over the sites at its surface: 3
// standard deviations with one half per site.
static double lattice_error(double area, double spacing, int dimension)
{
    return 3 * 0.5 * sqrt(area / pow(spacing, dimension - 1)) * pow(spacing, dimension);
}

static void numbers_are_volumes(void **state)
{
    (void)state;
    const struct {
        const char *text;
        double volume, area;
        int dimension;
    } bodies[] = {
        {HEAD "cell: 0.05\nbodies: [{shape: {sphere: {center: [0.013, 0.021, -0.034], radius: 0.5}}}]\n",
         4.0 / 3 * PI * 0.125, PI, 3},
        {HEAD "cell: 0.05\ndimension: 2\nbodies: [{shape: {sphere: {center: [0.013, 0.021, 0], radius: 0.5}}}]\n",
         PI * 0.25, PI, 2},
        {HEAD
         "cell: 0.05\nbodies: [{shape: {torus: {center: [0.01, 0, 0], axis: [1, 2, 3], major: 0.5, minor: 0.2}}}]\n",
         2 * PI * PI * 0.5 * 0.04, 4 * PI * PI * 0.1, 3},
        {HEAD "cell: 0.05\nbodies: [{shape: {capsule: {from: [0, 0, 0], to: [0.3, 0.4, 0.5], radius: 0.3}}}]\n",
         PI * 0.09 * sqrt(0.5) + 4.0 / 3 * PI * 0.027, 2 * PI * 0.3 * sqrt(0.5) + 4 * PI * 0.09, 3},
    };
    for (int n = 0; n < 4; n++) {
        setting s;
        setting_make(&s, 2, 1, bodies[n].text);
        double found = (double)seed(&s) * pow(s.seeder.spacing, bodies[n].dimension);
        assert_near(found, bodies[n].volume, lattice_error(bodies[n].area, s.seeder.spacing, bodies[n].dimension));
        setting_free(&s);
    }
    assert_int_equal(rh_memory_bytes(), 0);
}

static void boxes_on_the_lattice_are_exact(void **state)
{
    (void)state;
    setting s;
    setting_make(&s, 2, 1, HEAD "cell: 0.1\nbodies: [{shape: {box: {min: [-0.3, 0.1, 0], max: [0.5, 0.4, 0.7]}}}]\n");
    assert_int_equal(seed(&s), 16 * 6 * 14);
    setting_free(&s);
    setting_make(&s, 2, 1,
                 HEAD
                 "cell: 0.1\ndimension: 2\nbodies: [{shape: {box: {min: [-0.3, 0.1, -1], max: [0.5, 0.4, 1]}}}]\n");
    assert_int_equal(seed(&s), 16 * 6);
    for (int64_t i = 0; i < s.points.count; i++) assert_true(positions(&s)[i].z == 0);
    setting_free(&s);
}

// A mesh whose volume is known by the divergence theorem; its distance is sampled at half a cell, so its surface may
// lie off by a small part of that (a tenth of the sample spacing over the whole surface is granted; the tube's area is
// 2 V / r).
static void meshes_are_filled(void **state)
{
    (void)state;
    setting s;
    rh_status status = {0};
    rh_mesh mesh;
    rh_mesh_report report;
    const char *file = RHEO_SOURCE_DIR "/scenes/meshes/torus_knot.obj";
    char text[512];
    assert_ok(rh_mesh_read(file, &mesh, &status));
    assert_ok(rh_mesh_inspect(&mesh, &report, &status));
    rh_dbox box = rh_mesh_bounds(&mesh);
    double size = box.max.x - box.min.x, cell = size / 64;
    rh_mesh_free(&mesh);
    snprintf(text, sizeof text, HEAD "cell: %.9g\nbodies: [{shape: {mesh: {file: %s}}}]\n", cell, file);
    setting_make(&s, 2, 1, text);
    double found = (double)seed(&s) * pow(s.seeder.spacing, 3);
    print_message("knot: volume %.6g of %.6g (%lld particles)\n", found, report.volume, (long long)s.points.count);
    assert_near(found, report.volume, 0.01 * report.volume);
    setting_free(&s);
    assert_int_equal(rh_memory_bytes(), 0);
}

static double smallest_gap(const rh_vec3 *p, int64_t count)
{
    double least = 1e9;
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < i; k++)
            least = fmin(least, rh_d3_length(rh_d3_sub(rh_d3_from(p[i]), rh_d3_from(p[k]))));
    return least;
}

// Two boxes that touch off the lattice: as many particles as one box, none on top of another, no empty cell between.
static void touching_bodies_fill_space(void **state)
{
    (void)state;
    setting one, two;
    setting_make(&one, 2, 1, HEAD "cell: 0.1\nbodies: [{shape: {box: {min: [0, 0, 0], max: [1, 0.5, 0.5]}}}]\n");
    setting_make(&two, 2, 1,
                 HEAD "cell: 0.1\nbodies:\n - {shape: {box: {min: [0, 0, 0], max: [0.437, 0.5, 0.5]}}}\n"
                      " - {shape: {box: {min: [0.437, 0, 0], max: [1, 0.5, 0.5]}}}\n");
    assert_int_equal(seed(&one), seed(&two));
    // The layers at the common face stand half a spacing off it, the next ones may come a quarter nearer by their
    // jitter.
    assert_true(smallest_gap(positions(&two), two.points.count) > 0.2 * two.seeder.spacing);
    int cells[10][5][5] = {0};
    for (int64_t i = 0; i < two.points.count; i++) {
        rh_vec3 p = positions(&two)[i];
        cells[(int)(p.x * 10)][(int)(p.y * 10)][(int)(p.z * 10)]++;
    }
    for (int i = 0; i < 250; i++) assert_true((&cells[0][0][0])[i] >= 3);
    setting_free(&one);
    setting_free(&two);
}

static void overlapping_bodies_are_filled_once(void **state)
{
    (void)state;
    setting s;
    setting_make(&s, 2, 1,
                 HEAD "cell: 0.1\nbodies:\n - {shape: {box: {min: [0, 0, 0], max: [0.6, 0.5, 0.5]}}}\n"
                      " - {shape: {box: {min: [0.2, 0, 0], max: [1, 0.5, 0.5]}}, velocity: [1, 0, 0]}\n");
    assert_int_equal(seed(&s), 20 * 10 * 10);
    const rh_vec3 *v = rh_points_data(&s.points, "v", RH_POINT_VEC3F);
    for (int64_t i = 0; i < s.points.count; i++) assert_true((v[i].x == 1) == (positions(&s)[i].x > 0.6f));
    setting_free(&s);
}

// The outermost layer lies half a spacing inside, nothing is nearer to the surface, and the layer is complete: one
// particle per spacing^2, up to the sites that a sphere's surface cuts at odd angles.
static void the_surface_layer_is_smooth(void **state)
{
    (void)state;
    setting s;
    setting_make(&s, 2, 1, HEAD "cell: 0.05\nbodies: [{shape: {sphere: {center: [0, 0, 0], radius: 0.5}}}]\n");
    seed(&s);
    double spacing = s.seeder.spacing;
    int64_t layer = 0;
    for (int64_t i = 0; i < s.points.count; i++) {
        double depth = (0.5 - rh_d3_length(rh_d3_from(positions(&s)[i]))) / spacing;
        assert_true(depth > 0.499);
        layer += depth < 0.501;
    }
    double shell = 4.0 / 3 * PI * (pow(0.5, 3) - pow(0.5 - spacing, 3)) /
                   pow(spacing, 3);  // sites less than a spacing deep
    assert_near((double)layer, shell, 3 * sqrt(shell));
    setting_free(&s);
}

static void solids_are_left_free(void **state)
{
    (void)state;
    setting s;
    setting_make(&s, 2, 1,
                 HEAD "cell: 0.1\nbodies: [{shape: {plane: {point: [0, 0.5, 0], normal: [0, 1, 0]}}}]\nsolids:\n"
                      " - {inside_out: true, shape: {box: {min: [0, 0, 0], max: [1, 1, 1]}}}\n"
                      " - {shape: {box: {min: [0, 0, 0], max: [0.5, 1, 1]}}}\n");
    assert_int_equal(seed(&s), 10 * 10 * 20);
    for (int64_t i = 0; i < s.points.count; i++)
        assert_true(rh_obstacles_distance(&s.geometry.obstacles, rh_d3_from(positions(&s)[i]), NULL) > 0);
    setting_free(&s);
}

static void check_refused(const char *text, const char *word)
{
    setting s;
    rh_status status = {0};
    setting_make(&s, 2, 1, text);
    assert_int_equal(rh_seed_bodies(&s.seeder, &s.points, &status), RH_USER);
    if (!strstr(status.message, word)) fail_msg("'%s' is not in '%s'", word, status.message);
    setting_free(&s);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void impossible_bodies_are_refused(void **state)
{
    (void)state;
    check_refused(HEAD "cell: 0.1\nbodies: [{name: sea, shape: {plane: {}}}]\n", "sea");
    check_refused(HEAD "cell: 0.1\nbodies: [{name: dot, shape: {sphere: {center: [0, 0, 0], radius: 0.01}}}]\n", "dot");
    check_refused(HEAD "cell: 1e-5\nbodies: [{name: sea, shape: {sphere: {radius: 1}}}]\n", "sites");
}

static void spinning_bodies_turn_about_their_centre(void **state)
{
    (void)state;
    setting s;
    setting_make(&s, 2, 1,
                 HEAD "cell: 0.1\nbodies: [{shape: {box: {min: [1, 0, 0], max: [2, 1, 1]}}, velocity: [1, 2, 3], "
                      "angular_velocity: [0, 0, 2]}]\n");
    seed(&s);
    const rh_vec3 *v = rh_points_data(&s.points, "v", RH_POINT_VEC3F);
    for (int64_t i = 0; i < s.points.count; i++) {
        rh_vec3 p = positions(&s)[i];
        assert_near((double)v[i].x, 1 - 2 * ((double)p.y - 0.5), 1e-5);
        assert_near((double)v[i].y, 2 + 2 * ((double)p.x - 1.5), 1e-5);
        assert_near((double)v[i].z, 3, 1e-6);
    }
    setting_free(&s);
}

// --- emitters --------------------------------------------------------------------------------------------------------
typedef struct spot {
    int64_t x, y, z;
} spot;

static int by_place(const void *a, const void *b)
{
    const spot *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    if (p->y != q->y) return p->y < q->y ? -1 : 1;
    return p->z < q->z ? -1 : p->z > q->z;
}

// Emits over one second in `steps` steps; gives the sites on the moving lattice (rounded to a thousandth of a spacing),
// sorted.
static spot *emit(setting *s, int steps, rh_dvec3 velocity, int64_t *count)
{
    rh_status status = {0};
    spot *spots = NULL;
    *count = 0;
    for (int n = 0; n <= steps; n++) {
        double time = (double)n / steps;
        assert_ok(rh_emit(&s->seeder, time, &s->points, &status));
        spots = rh_realloc(spots, (size_t)(s->points.count + 1) * sizeof *spots, "test", NULL);
        for (; *count < s->points.count; (*count)++) {
            rh_dvec3 x = rh_d3_sub(rh_d3_from(positions(s)[*count]), rh_d3_scale(velocity, time));
            double unit = 1e-3 * s->seeder.spacing;
            spots[*count] = (spot){(int64_t)floor(x.x / unit + 0.25), (int64_t)floor(x.y / unit + 0.25),
                                   (int64_t)floor(x.z / unit + 0.25)};
        }
    }
    qsort(spots, (size_t)*count, sizeof *spots, by_place);
    assert_int_equal(s->seeder.emitted, *count);
    return spots;
}

// Same sites to a few thousandths of a spacing (positions are floats).
static bool same_spots(const spot *a, const spot *b, int64_t count)
{
    int64_t far = 0;
    for (int64_t i = 0, k = 0; i < count; i++) {
        bool found = false;
        while (k < count && b[k].x < a[i].x - 3) k++;
        for (int64_t m = k; m < count && b[m].x <= a[i].x + 3 && !found; m++)
            found = llabs(b[m].y - a[i].y) <= 3 && llabs(b[m].z - a[i].z) <= 3;
        far += !found;
    }
    return far == 0;
}

static void check_emitter(const char *name, const char *text, rh_dvec3 velocity, double volume, double area)
{
    const int steps[] = {50, 37, 120, 240};
    spot *first = NULL;
    int64_t expected = 0;
    for (int n = 0; n < 4; n++) {
        setting s;
        int64_t count;
        setting_make(&s, 2, 1, text);
        spot *spots = emit(&s, steps[n], velocity, &count);
        double ideal = (volume + area * rh_d3_length(velocity)) / pow(s.seeder.spacing, s.seeder.dimension);
        print_message("%s, %d steps: %lld particles, %.1f expected\n", name, steps[n], (long long)count, ideal);
        assert_near((double)count, ideal, 0.01 * ideal);
        if (n == 0) first = spots, expected = count;
        assert_int_equal(count, expected);
        assert_true(same_spots(first, spots, count));
        if (n) rh_free(spots);
        setting_free(&s);
    }
    rh_free(first);
    assert_int_equal(rh_memory_bytes(), 0);
}

// The flow of an emitter: its shape once, then cross-section times speed times time. Speeds and steps are such that the
// liquid moves up to 1.2 cells a step, as in a run.
static void emitters_pour_what_they_say(void **state)
{
    (void)state;
    check_emitter(
        "box",
        HEAD
        "cell: 0.05\nemitters: [{velocity: [0, 3, 0], shape: {box: {min: [-0.2, 0, -0.3], max: [0.2, 0.2, 0.3]}}}]\n",
        rh_d3(0, 3, 0), 0.4 * 0.2 * 0.6, 0.24);
    check_emitter("disc",
                  HEAD "cell: 0.05\nemitters: [{velocity: [3, 0, 0], shape: {cylinder: {from: [0, 0.007, 0.011], to: "
                       "[0.03, 0.007, 0.011], radius: 0.3}}}]\n",
                  rh_d3(3, 0, 0), PI * 0.09 * 0.03, PI * 0.09);
    check_emitter("ball",
                  HEAD
                  "cell: 0.05\nemitters: [{velocity: [1, 2, 2], shape: {sphere: {center: [0, 0, 0], radius: 0.3}}}]\n",
                  rh_d3(1, 2, 2), 4.0 / 3 * PI * 0.027, PI * 0.09);
    check_emitter("flat box",
                  HEAD "cell: 0.02\ndimension: 2\nemitters: [{velocity: [1, 0, 0], shape: {box: {min: [-0.2, 0, -1], "
                       "max: [0.2, 0.2, 1]}}}]\n",
                  rh_d3(1, 0, 0), 0.4 * 0.2, 0.2);
}

static void emitters_keep_their_hours(void **state)
{
    (void)state;
    setting s;
    rh_status status = {0};
    setting_make(&s, 2, 1,
                 HEAD "cell: 0.05\nemitters: [{velocity: [0, 1, 0], start: 0.5, stop: 0.75, shape: {box: {min: [0, "
                      "0, 0], max: [0.2, 0.2, 0.2]}}}]\n");
    rh_inflow inflow[4];
    for (int n = 0; n <= 100; n++) {
        double time = n / 100.0;
        int64_t before = s.points.count;
        assert_ok(rh_emit(&s.seeder, time, &s.points, &status));
        bool open = n >= 50 && n < 75;
        if (n < 50 || n > 75) assert_int_equal(s.points.count, before);  // step 75 brings what came in before the stop
        assert_int_equal(rh_inflows(&s.seeder, time, inflow, 4), open);
        assert_int_equal(rh_inflows(&s.seeder, time, inflow, 0), 0);
    }
    assert_near((double)s.points.count * pow(0.025, 3), 0.008 + 0.04 * 0.25, 0.04 * 0.025);  // to a layer of sites
    setting_free(&s);
}

// --- sinks -----------------------------------------------------------------------------------------------------------
static void check_sink(const char *sink, bool inside_out, double time, bool open)
{
    setting s;
    rh_status status = {0};
    char text[512];
    snprintf(text, sizeof text,
             HEAD "cell: 0.05\nbodies: [{shape: {box: {min: [0, 0, 0], max: [1, 1, 1]}}}]\nsinks: [{%s, shape: "
                  "{sphere: {center: [0.4, 0.5, 0.6], radius: 0.3}}}]\n",
             sink);
    setting_make(&s, 2, 1, text);
    int64_t count = seed(&s), kept = 0;
    rh_vec3 *before = rh_alloc((size_t)count * sizeof *before, "test", NULL);
    memcpy(before, positions(&s), (size_t)count * sizeof *before);
    assert_ok(rh_drain(&s.seeder, time, &s.points, &status));
    const int64_t *id = rh_points_data(&s.points, "id", RH_POINT_I64);
    for (int64_t i = 0; i < count; i++) {
        bool inside = rh_d3_length(rh_d3_sub(rh_d3_from(before[i]), rh_d3(0.4, 0.5, 0.6))) < 0.3;
        if (open && inside != inside_out) continue;
        assert_int_equal(id[kept], i);  // who stays keeps order and place
        assert_memory_equal(&positions(&s)[kept], &before[i], sizeof *before);
        kept++;
    }
    assert_int_equal(s.points.count, kept);
    assert_int_equal(s.seeder.removed, count - kept);
    rh_free(before);
    setting_free(&s);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void sinks_take_what_is_inside(void **state)
{
    (void)state;
    check_sink("inside_out: false", false, 0, true);
    check_sink("inside_out: true", true, 0, true);
    check_sink("start: 1, stop: 2", false, 0.99, false);
    check_sink("start: 1, stop: 2", false, 1, true);
    check_sink("start: 1, stop: 2", false, 2, false);
}

// Who stays keeps its groups, who comes is in none.
static void groups_outlive_coming_and_going(void **state)
{
    (void)state;
    setting s;
    rh_status status = {0};
    setting_make(&s, 2, 1,
                 HEAD "cell: 0.05\nbodies: [{shape: {box: {min: [0, 0, 0], max: [1, 1, 1]}}}]\n"
                      "emitters: [{velocity: [0, 1, 0], shape: {box: {min: [0, 2, 0], max: [0.2, 2.2, 0.2]}}}]\n"
                      "sinks: [{shape: {sphere: {center: [0.4, 0.5, 0.6], radius: 0.3}}}, {start: 0.2, shape: "
                      "{sphere: {center: [0, 2.2, 0], radius: 0.1}}}]\n");
    int64_t seeded = seed(&s), spray = 0;
    assert_ok(rh_points_add(&s.points, "spray", RH_POINT_GROUP, &status));
    for (int64_t i = 0; i < seeded; i += 3) ((uint8_t *)rh_points_data(&s.points, "spray", RH_POINT_GROUP))[i] = 1;
    for (int n = 0; n <= 10; n++) {
        assert_ok(rh_emit(&s.seeder, n / 20.0, &s.points, &status));
        assert_ok(rh_drain(&s.seeder, n / 20.0, &s.points, &status));
    }
    const int64_t *id = rh_points_data(&s.points, "id", RH_POINT_I64);
    const uint8_t *member = rh_points_data(&s.points, "spray", RH_POINT_GROUP);
    for (int64_t i = 0; i < s.points.count; spray += member[i], i++)
        assert_int_equal(member[i], id[i] < seeded && id[i] % 3 == 0);
    assert_true(s.seeder.emitted > 100 && s.seeder.removed > 100 && spray > 100);
    setting_free(&s);
}

static void draining_everything_works(void **state)
{
    (void)state;
    setting s;
    rh_status status = {0};
    setting_make(
        &s, 2, 1,
        HEAD
        "cell: 0.1\nbodies: [{shape: {box: {min: [0, 0, 0], max: [1, 1, 1]}}}]\nsinks:\n"
        " - {shape: {sphere: {center: [0, 0, 0], radius: 9}}}\n - {shape: {sphere: {center: [0, 0, 0], radius: 8}}}\n");
    int64_t count = seed(&s);
    assert_ok(rh_drain(&s.seeder, 0, &s.points, &status));
    assert_int_equal(s.points.count, 0);
    assert_int_equal(s.seeder.removed, count);
    setting_free(&s);
}

// Of a body, rest is the place itself.
static void bodies_rest_where_they_are(void **state)
{
    (void)state;
    setting s;
    setting_make(&s, 2, 1,
                 HEAD
                 "cell: 0.1\nrest_position: true\nbodies: [{shape: {sphere: {center: [0, 1, 0], radius: 0.3}}}]\n");
    assert_true(seed(&s) > 100);
    assert_memory_equal(rh_points_data(&s.points, "rest", RH_POINT_VEC3F), positions(&s),
                        (size_t)s.points.count * sizeof(rh_vec3));
    setting_free(&s);
}

static int compare_rest(const void *a, const void *b)
{
    const rh_vec3 *p = a, *q = b;
    if (p->y != q->y) return p->y < q->y ? -1 : 1;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return (p->z > q->z) - (p->z < q->z);
}

// What an emitter has poured at 1 s, in so many steps: P - velocity (time - start) when it came, and the same set of
// bits whatever the steps. Sorted.
static rh_vec3 *poured_rest(int steps, int64_t *count)
{
    rh_status status = {0};
    setting s;
    const double start = 0.25, speed = 2;
    setting_make(&s, 2, 1,
                 HEAD "cell: 0.1\nrest: true\nemitters: [{start: 0.25, velocity: [0, -2, 0], shape: {box: {min: "
                      "[0, 3, 0], max: [0.4, 3.1, 0.4]}}}]\n");
    for (int n = 0; n <= steps; n++) {
        double time = (double)n / steps;
        int64_t before = s.points.count;
        assert_ok(rh_emit(&s.seeder, time, &s.points, &status));
        const rh_vec3 *rest = rh_points_data(&s.points, "rest", RH_POINT_VEC3F);
        for (int64_t i = before; i < s.points.count; i++) {
            assert_near(rest[i].y, (double)positions(&s)[i].y + speed * (time - start), 1e-6);
            assert_true(rest[i].x == positions(&s)[i].x && rest[i].z == positions(&s)[i].z);
        }
    }
    *count = s.points.count;
    rh_vec3 *copy = rh_alloc((size_t)*count * sizeof *copy, "test", &status);
    assert_non_null(copy);
    memcpy(copy, rh_points_data(&s.points, "rest", RH_POINT_VEC3F), (size_t)*count * sizeof *copy);
    qsort(copy, (size_t)*count, sizeof *copy, compare_rest);
    setting_free(&s);
    return copy;
}

static void what_is_poured_is_one_rod(void **state)
{
    (void)state;
    int64_t count, other;
    rh_vec3 *a = poured_rest(60, &count), *b = poured_rest(37, &other);
    assert_int_equal(count, other);
    assert_memory_equal(a, b, (size_t)count * sizeof *a);
    // 0.1 m of the shape and 1.5 m of flow, without a gap: the layers of the lattice follow each other at half a cell,
    // give or take the jitter.
    assert_near(a[count - 1].y - a[0].y, 1.6, 0.06);
    for (int64_t i = 1; i < count; i++) assert_true(a[i].y - a[i - 1].y < 0.05f);
    rh_free(a);
    rh_free(b);
    assert_int_equal(rh_memory_bytes(), 0);
}

// Particles have the viscosity of the body or emitter that they come from, or 0, which stands for the liquid's.
static void viscosity_comes_from_bodies_and_emitters(void **state)
{
    (void)state;
    setting s;
    rh_status status = {0};
    setting_make(&s, 2, 1,
                 HEAD "cell: 0.1\nbodies:\n - {shape: {box: {min: [0, 0, 0], max: [0.4, 0.4, 0.4]}}}\n"
                      " - {viscosity: 7, shape: {box: {min: [1, 0, 0], max: [1.4, 0.4, 0.4]}}}\n"
                      "emitters:\n - {viscosity: 30, velocity: [0, -1, 0], shape: {box: {min: [3, 0, 0], max: [3.4, "
                      "0.4, 0.4]}}}\n"
                      " - {viscosity: 9, shape: {box: {min: [5, 0, 0], max: [5.4, 0.4, 0.4]}}}\n"
                      " - {velocity: [0, -1, 0], shape: {box: {min: [7, 0, 0], max: [7.4, 0.4, 0.4]}}}\n");
    assert_true(((const rh_liquid_params *)s.scene.physics.value)->flow.viscosity_varies);
    assert_ok(rh_points_add(&s.points, "viscosity", RH_POINT_F32, &status));
    seed(&s);
    assert_ok(rh_emit(&s.seeder, 0, &s.points, &status));
    assert_ok(rh_emit(&s.seeder, 0.3, &s.points, &status));
    const float *of = rh_points_data(&s.points, "viscosity", RH_POINT_F32), expected[] = {0, 7, 30, 9, 0};
    int64_t found[5] = {0};
    for (int64_t i = 0; i < s.points.count; i++) {
        int place = (int)lroundf((positions(&s)[i].x - 0.2f) / 2 + 0.3f);
        assert_in_range(place, 0, 4);
        assert_true(of[i] == expected[place]);
        found[place]++;
    }
    for (int n = 0; n < 5; n++) assert_true(found[n] >= 512);
    setting_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_volumes),
        cmocka_unit_test(boxes_on_the_lattice_are_exact),
        cmocka_unit_test(meshes_are_filled),
        cmocka_unit_test(touching_bodies_fill_space),
        cmocka_unit_test(overlapping_bodies_are_filled_once),
        cmocka_unit_test(the_surface_layer_is_smooth),
        cmocka_unit_test(solids_are_left_free),
        cmocka_unit_test(impossible_bodies_are_refused),
        cmocka_unit_test(spinning_bodies_turn_about_their_centre),
        cmocka_unit_test(emitters_pour_what_they_say),
        cmocka_unit_test(emitters_keep_their_hours),
        cmocka_unit_test(sinks_take_what_is_inside),
        cmocka_unit_test(draining_everything_works),
        cmocka_unit_test(groups_outlive_coming_and_going),
        cmocka_unit_test(bodies_rest_where_they_are),
        cmocka_unit_test(what_is_poured_is_one_rod),
        cmocka_unit_test(viscosity_comes_from_bodies_and_emitters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
