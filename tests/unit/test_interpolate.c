// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Particles between frames: a curve that is exact for motion of the third order, what happens to those that come and
// go, frames without ids or velocities, the same bits for any number of threads.
#include "support.h"
#include <stdlib.h>
#include "points/interpolate.h"

static const double dt = 1.0 / 24;

static void make(rh_points *points, int64_t count, bool velocity, bool id)
{
    rh_status status = {0};
    rh_points_init(points);
    assert_ok(rh_points_add(points, "P", RH_POINT_VEC3F, &status));
    if (velocity) assert_ok(rh_points_add(points, "v", RH_POINT_VEC3F, &status));
    if (id) assert_ok(rh_points_add(points, "id", RH_POINT_I64, &status));
    assert_ok(rh_points_resize(points, count, &status));
}

static rh_vec3 *P(const rh_points *points) { return rh_points_data(points, "P", RH_POINT_VEC3F); }
static rh_vec3 *V(const rh_points *points) { return rh_points_data(points, "v", RH_POINT_VEC3F); }
static int64_t *ID(const rh_points *points) { return rh_points_data(points, "id", RH_POINT_I64); }

// x = 1 + 2 t - 30 t^2 + 400 t^3, y a throw, z at rest.
static void put(rh_points *points, int64_t i, int64_t id, double t)
{
    P(points)[i] = rh_v3_from(rh_d3(1 + 2 * t - 30 * t * t + 400 * t * t * t, 3 * t - 4.905 * t * t, 0.5));
    V(points)[i] = rh_v3_from(rh_d3(2 - 60 * t + 1200 * t * t, 3 - 9.81 * t, 0));
    ID(points)[i] = id;
}

static void the_curve_is_cubic(void **state)
{
    (void)state;
    for (double s = 0.125; s < 1; s += 0.125) {
        rh_points a, b, expected;
        rh_status status = {0};
        rh_interpolate_report report;
        make(&a, 1, true, true);
        make(&b, 1, true, true);
        make(&expected, 1, true, true);
        put(&a, 0, 7, 0);
        put(&b, 0, 7, dt);
        put(&expected, 0, 7, s * dt);
        assert_ok(rh_points_interpolate(&a, &b, s, dt, &report, &status));
        assert_int_equal(report.both, 1);
        for (int k = 0; k < 3; k++) {
            assert_near((&P(&a)->x)[k], (&P(&expected)->x)[k], 2e-7);
            assert_near((&V(&a)->x)[k], (&V(&expected)->x)[k], 2e-5);
        }
        rh_points_free(&a);
        rh_points_free(&b);
        rh_points_free(&expected);
    }
}

// 1 and 2 are in both, in another order; 3 goes, -4 comes.
static void some_come_and_go(void **state)
{
    (void)state;
    for (double s = 0.25; s < 1; s += 0.25) {
        rh_points a, b;
        rh_status status = {0};
        rh_interpolate_report report;
        float small = 0.1f;
        make(&a, 3, true, true);
        make(&b, 3, true, true);
        assert_ok(rh_points_add_uniform(&a, "radius", RH_POINT_F32, &small, &status));
        assert_ok(rh_points_add(&b, "radius", RH_POINT_F32, &status));
        assert_ok(rh_points_add(&a, "spray", RH_POINT_GROUP, &status));
        assert_ok(rh_points_add(&b, "spray", RH_POINT_GROUP, &status));
        ((uint8_t *)rh_points_data(&a, "spray", RH_POINT_GROUP))[1] =
            ((uint8_t *)rh_points_data(&b, "spray", RH_POINT_GROUP))[0] = 1;
        const int64_t ids_a[3] = {1, 2, 3}, ids_b[3] = {-4, 2, 1};
        for (int i = 0; i < 3; i++) {
            put(&a, i, ids_a[i], 0);
            put(&b, i, ids_b[i], dt);
            ((float *)rh_points_data(&b, "radius", RH_POINT_F32))[i] = 0.2f;
        }
        assert_ok(rh_points_interpolate(&a, &b, s, dt, &report, &status));
        assert_int_equal(report.both, 2);
        assert_int_equal(report.first_only, 1);
        assert_int_equal(report.appeared, s < 0.5 ? 0 : 1);
        assert_int_equal(a.count, s < 0.5 ? 3 : 4);
        assert_true(rh_points_is_valid(&a));
        assert_true(memcmp(&P(&a)[0], &P(&a)[1], sizeof(rh_vec3)) == 0);
        assert_near(P(&a)[2].x, 1 + 2 * s * dt, 1e-6);  // in a straight line
        assert_near(V(&a)[2].x, 2, 0);
        assert_memory_equal(rh_points_data(&a, "spray", RH_POINT_GROUP), "\0\1\0\1",
                            (size_t)a.count);  // those of this frame, and the newcomer's
        const rh_attribute *radius = rh_points_find(&a, "radius");
        assert_true(radius->uniform == (s < 0.5));
        if (s >= 0.5) {
            const float *r = radius->data;
            assert_true(r[0] == 0.1f && r[2] == 0.1f && r[3] == 0.2f);
            assert_int_equal(ID(&a)[3], -4);
            assert_near(P(&a)[3].x, P(&b)[0].x - V(&b)[0].x * (1 - s) * dt, 1e-6);
        }
        rh_points_free(&a);
        rh_points_free(&b);
    }
}

static void without_ids_they_go_straight_on(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {  // no next frame; no ids; ids that are all the same
        rh_points a, b;
        rh_status status = {0};
        rh_interpolate_report report;
        make(&a, 2, true, kind != 1);
        make(&b, 2, true, true);
        for (int i = 0; i < 2; i++) V(&a)[i] = rh_v3((float)i, 0, 2), P(&b)[i] = rh_v3(9, 9, 9);
        assert_ok(rh_points_interpolate(&a, kind == 0 ? NULL : &b, 0.5, dt, &report, &status));
        assert_int_equal(a.count, 2);
        assert_int_equal(report.same_ids, kind == 2);
        assert_near(P(&a)[1].x, 0.5 * dt, 1e-8);
        assert_near(P(&a)[1].z, dt, 1e-8);
        rh_points_free(&a);
        rh_points_free(&b);
    }
}

static void without_velocities_they_go_straight_there(void **state)
{
    (void)state;
    rh_points a, b;
    rh_status status = {0};
    make(&a, 2, false, true);
    make(&b, 2, false, true);
    for (int i = 0; i < 2; i++) ID(&a)[i] = i, ID(&b)[1 - i] = i, P(&b)[i] = rh_v3((float)i, 0, 0);
    assert_ok(rh_points_interpolate(&a, &b, 0.25, dt, NULL, &status));
    assert_near(P(&a)[0].x, 0.25, 1e-7);
    assert_near(P(&a)[1].x, 0, 1e-7);
    // Nothing tells where they go.
    assert_int_equal(rh_points_interpolate(&a, NULL, 0.25, dt, NULL, &status), RH_USER);
    assert_non_null(strstr(status.message, "expected an attribute v"));
    ID(&b)[0] = ID(&b)[1];
    status = (rh_status){0};
    assert_int_equal(rh_points_interpolate(&a, &b, 0.25, dt, NULL, &status), RH_USER);
    rh_points_free(&a);
    rh_points_free(&b);
}

// The first frame of a tap: nothing, then something.
static void an_empty_frame_fills(void **state)
{
    (void)state;
    rh_points a, b;
    rh_status status = {0};
    float radius = 0.25f;
    make(&b, 2, true, true);
    assert_ok(rh_points_add_uniform(&b, "radius", RH_POINT_F32, &radius, &status));
    for (int i = 0; i < 2; i++) put(&b, i, i, dt);
    make(&a, 0, false, false);
    assert_ok(rh_points_interpolate(&a, &b, 0.25, dt, NULL, &status));
    assert_int_equal(a.count, 0);
    assert_ok(rh_points_interpolate(&a, &b, 0.75, dt, NULL, &status));
    assert_int_equal(a.count, 2);
    assert_true(*(float *)rh_points_find(&a, "radius")->data == radius);
    // The other way round: a last particle flies on.
    rh_points empty;
    make(&empty, 0, false, false);
    assert_ok(rh_points_interpolate(&b, &empty, 0.75, dt, NULL, &status));
    assert_int_equal(b.count, 2);
    rh_points_free(&a);
    rh_points_free(&b);
    rh_points_free(&empty);
}

static void many(rh_points *points, int64_t count, double t, int64_t shift)
{
    make(points, count, true, true);
    for (int64_t i = 0; i < count; i++) {
        int64_t who = (i * 7919 + shift) % count;  // 7919 and count have no common factor: another order
        put(points, i, who * who * 1000003 + (t > 0 && who % 10 == 0 ? 1 : 0), t);
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        rh_points a, b;
        rh_status status = {0};
        rh_interpolate_report report;
        rh_threads_set(k ? 3 : 1);
        many(&a, 20011, 0, 0);
        many(&b, 20011, dt, 5);
        assert_ok(rh_points_interpolate(&a, &b, 0.7, dt, &report, &status));
        assert_int_equal(report.both, 20011 - 2002);
        assert_int_equal(report.appeared, 2002);
        hash[k] = rh_points_hash(&a);
        rh_points_free(&a);
        rh_points_free(&b);
    }
    rh_threads_set(0);
    assert_true(hash[0] == hash[1]);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    rh_code code = RH_MEMORY;
    int failures = 0;
    for (; code != RH_OK; failures++) {
        rh_points a, b;
        rh_status status = {0};
        many(&a, 101, 0, 0);
        many(&b, 101, dt, 5);
        rh_memory_fail_after(failures);
        code = rh_points_interpolate(&a, &b, 0.7, dt, NULL, &status);
        rh_memory_fail_after(-1);
        assert_true(code == RH_OK || code == RH_MEMORY);
        assert_true(rh_points_is_valid(&a));
        rh_points_free(&a);
        rh_points_free(&b);
        assert_int_equal(rh_memory_bytes(), 0);
    }
    assert_true(failures > 3);
}

static void copy(rh_points *to, const rh_points *from)
{
    make(to, from->count, true, true);
    memcpy(P(to), P(from), (size_t)from->count * sizeof(rh_vec3));
    memcpy(V(to), V(from), (size_t)from->count * sizeof(rh_vec3));
    memcpy(ID(to), ID(from), (size_t)from->count * sizeof(int64_t));
}

// Root mean square distance between the particles of two sets, by id (ids are 0 .. count - 1).
static double distance(const rh_points *a, const rh_points *b)
{
    rh_vec3 *at = calloc((size_t)b->count, sizeof *at);
    assert_non_null(at);
    double sum = 0;
    for (int64_t i = 0; i < b->count; i++) at[ID(b)[i]] = P(b)[i];
    for (int64_t i = 0; i < a->count; i++) {
        double d = rh_v3_length(rh_v3_sub(P(a)[i], at[ID(a)[i]]));
        sum += d * d;
    }
    free(at);
    return sqrt(sum / (double)a->count);
}

// A falling column of water, three frames: the middle one made from the others is near the true one, nearer than half
// way along a straight line.
static void near_the_simulation(void **state)
{
    (void)state;
    rh_scene scene;
    rh_status status = {0};
    rh_points three[3], line;
    rh_world *world = world_make(
        &scene,
        "rheo: 1\ncell: 0.05\nphysics: {liquid: {}}\nbodies: [{shape: {box: {min: [0, 0, 0], max: [0.4, 0.5, 0.3]}}}]\n"
        "solids: [{inside_out: true, shape: {box: {min: [0, 0, 0], max: [0.8, 1, 0.3]}}}]\n");
    for (int k = 0; k < 3; k++) {
        assert_ok(rh_world_advance_to(world, 3 + k, &status));
        copy(&three[k], rh_world_points(world));
    }
    copy(&line, &three[0]);
    memcpy(rh_points_find(&line, "v")->name, "w", 2);
    assert_ok(rh_points_interpolate(&line, &three[2], 0.5, 2 * dt, NULL, &status));
    assert_ok(rh_points_interpolate(&three[0], &three[2], 0.5, 2 * dt, NULL, &status));
    double curved = distance(&three[0], &three[1]), straight = distance(&line, &three[1]);
    print_message("rms distance from the true frame: curve %.5f m, straight line %.5f m\n", curved, straight);
    assert_true(curved < 0.01 && curved < 0.5 * straight);
    for (int k = 0; k < 3; k++) rh_points_free(&three[k]);
    rh_points_free(&line);
    world_drop(world, &scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_curve_is_cubic),
                                       cmocka_unit_test(some_come_and_go),
                                       cmocka_unit_test(without_ids_they_go_straight_on),
                                       cmocka_unit_test(without_velocities_they_go_straight_there),
                                       cmocka_unit_test(an_empty_frame_fills),
                                       cmocka_unit_test(threads_do_not_matter),
                                       cmocka_unit_test(near_the_simulation),
                                       cmocka_unit_test(memory_may_run_out)};
    return cmocka_run_group_tests(tests, NULL, nothing_left);
}
