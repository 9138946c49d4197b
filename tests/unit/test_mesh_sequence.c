// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Solids that follow a sequence of meshes: names of files, what is seen before, between and after them, a sphere that
// breathes against the formulas of one, and a mesh that is carried along against the same mesh with keys.
#include <string.h>
#include "base/memory.h"
#include "check.h"
#include "solid/obstacles.h"

#define assert_near(found, expected, error) assert_true(fabs((found) - (expected)) <= (error))

enum { RINGS = 24, SIDES = 36, FILES = 5 };
static const double PI = 3.14159265358979323846, R = 0.5;

// A ball of radius r; triangles run outwards.
static rh_code ball(double r, rh_dvec3 center, rh_mesh *mesh, rh_status *status)
{
    int64_t vertices = 2 + (RINGS - 1) * SIDES, triangles = 2 * (RINGS - 1) * SIDES;
    *mesh = (rh_mesh){.vertex_count = vertices, .triangle_count = triangles};
    mesh->vertices = rh_alloc((size_t)vertices * sizeof *mesh->vertices, "test", status);
    mesh->triangles = rh_alloc((size_t)triangles * sizeof *mesh->triangles, "test", status);
    if (!mesh->vertices || !mesh->triangles) return RH_MEMORY;
    for (int64_t i = 0; i < vertices; i++) {
        int ring = i == vertices - 1 ? RINGS : (int)((i + SIDES - 1) / SIDES), side = (int)((i + SIDES - 1) % SIDES);
        double a = PI * ring / RINGS, b = 2 * PI * side / SIDES;
        rh_dvec3 n = {sin(a) * cos(b), cos(a), sin(a) * sin(b)};
        mesh->vertices[i] = rh_v3_from(rh_d3_add(center, rh_d3_scale(n, r)));
    }
    uint32_t(*t)[3] = mesh->triangles;
    for (uint32_t j = 0; j < SIDES; j++) {
        uint32_t k = (j + 1) % SIDES, last = (uint32_t)vertices - 1;
        for (uint32_t i = 0; i <= RINGS - 1; i++) {
            uint32_t a = 1 + (i - 1) * SIDES, b = 1 + i * SIDES;
            if (i == 0) (*t)[0] = 0, (*t)[1] = 1 + k, (*t)[2] = 1 + j, t++;
            else if (i == RINGS - 1) (*t)[0] = last, (*t)[1] = a + j, (*t)[2] = a + k, t++;
            else {
                (*t)[0] = a + j, (*t)[1] = b + k, (*t)[2] = b + j, t++;
                (*t)[0] = a + j, (*t)[1] = a + k, (*t)[2] = b + k, t++;
            }
        }
    }
    return RH_OK;
}

static int64_t number_in(const char *file)
{
    long long n = 0;
    assert_int_equal(sscanf(file, "ball.%lld.obj", &n), 1);
    return n;
}

// Radius of file n: it breathes.
static double radius(int64_t n) { return R * (1 + 0.1 * sin(0.5 * (double)n)); }

static rh_code read_breathing(const char *file, const rh_mesh_sequence_params *params, const void *user, rh_mesh *mesh,
                              rh_status *status)
{
    (void)params;
    const int64_t *broken = user;  // a file with other triangles; NULL = none
    int64_t n = number_in(file);
    RH_TRY(ball(radius(n), rh_d3(0, 0, 0), mesh, status));
    if (broken && *broken == n) mesh->triangles[7][0] ^= 1;
    if (broken && *broken == -n) mesh->triangle_count--;
    return RH_OK;
}

static rh_code read_carried(const char *file, const rh_mesh_sequence_params *params, const void *user, rh_mesh *mesh,
                            rh_status *status)
{
    (void)params;
    (void)user;
    return ball(R, rh_d3(0.03 * (double)number_in(file), 0.02 * (double)number_in(file), 0), mesh, status);
}

static rh_mesh_sequence_params params_of(int before, int after)
{
    return (rh_mesh_sequence_params){.files = (char *)(uintptr_t) "ball.####.obj",
                                     .first = 1,
                                     .fps = 10,
                                     .start = 0.5,
                                     .before = before,
                                     .after = after};
}

static rh_obstacle follow(const rh_mesh_sequence_params *params, rh_mesh_reader read, const void *user)
{
    rh_status status = {0};
    rh_obstacle o = {.shape = {.kind = RH_SHAPE_MESH}};
    rh_mesh_sequence_options options = {.params = params, .count = FILES, .spacing = 0.02, .read = read, .user = user};
    assert_int_equal(rh_mesh_sequence_create(&options, &o.sequence, &status), RH_OK);
    return o;
}

static void let_go(rh_obstacle *o)
{
    rh_mesh_sequence_release(o->snapshot);
    rh_free(o->velocities);
    rh_mesh_sequence_free(o->sequence);
}

static void names_have_a_number(void **state)
{
    (void)state;
    char file[32];
    assert_true(rh_mesh_sequence_file("a#b.##.obj", 7, file, sizeof file));
    assert_string_equal(file, "a#b.07.obj");
    assert_true(rh_mesh_sequence_file("####", 12345, file, sizeof file));
    assert_string_equal(file, "12345");
    assert_false(rh_mesh_sequence_file("dancer.obj", 1, file, sizeof file));
    assert_false(rh_mesh_sequence_file("######.obj", 1, file, 8));
}

static double radius_at(rh_obstacles *all, double time, double *speed)
{
    rh_dvec3 outside = {0, 0, -0.57};  // beside a vertex
    assert_int_equal(rh_obstacles_at(all, time, 0, all, NULL), RH_OK);
    rh_dvec3 v = rh_obstacles_velocity(all, 0, outside);
    assert_true(fabs(v.x) + fabs(v.y) < 1e-4);
    *speed = -v.z;
    return 0.57 - rh_obstacles_distance(all, outside, NULL);
}

static void time_runs_through_the_files(void **state)
{
    (void)state;
    double speed;
    for (int loops = 0; loops < 2; loops++) {
        rh_mesh_sequence_params params = params_of(loops, loops);
        rh_obstacle o = follow(&params, read_breathing, NULL);
        rh_obstacles all = {.items = &o, .count = 1};
        assert_near(radius_at(&all, 0.5, &speed), radius(1), 2e-3);
        assert_near(speed, (radius(2) - radius(1)) * 10, 2e-3);
        assert_near(radius_at(&all, 0.725, &speed), 0.75 * radius(3) + 0.25 * radius(4), 2e-3);
        assert_near(radius_at(&all, 0.9, &speed), radius(5), 2e-3);
        assert_near(speed, loops ? (radius(1) - radius(5)) * 10 : 0, 2e-3);
        assert_near(radius_at(&all, 1.2, &speed), loops ? radius(3) : radius(5), 2e-3);
        assert_near(radius_at(&all, 0.35, &speed), loops ? 0.5 * (radius(4) + radius(5)) : radius(1), 2e-3);
        assert_near(speed, loops ? (radius(5) - radius(4)) * 10 : 0, 2e-3);
        let_go(&o);
    }
    assert_int_equal(rh_memory_bytes(), 0);
}

// A wall moves through a step as far as its velocity says, also across a file; what it sweeps is the change of volume.
static void a_breathing_ball_displaces_its_volume(void **state)
{
    (void)state;
    rh_mesh_sequence_params params = params_of(RH_SEQUENCE_HOLD, RH_SEQUENCE_HOLD);
    rh_obstacle o = follow(&params, read_breathing, NULL);
    rh_obstacles all = {.items = &o, .count = 1};
    double time = 0.56, dt = 0.08;
    double r = 0.4 * radius(1) + 0.6 * radius(2), after = 0.6 * radius(2) + 0.4 * radius(3);
    assert_int_equal(rh_obstacles_at(&all, time, dt, &all, NULL), RH_OK);
    double flux = 0;
    enum { POINTS = 2000 };
    for (int i = 0; i < POINTS; i++) {  // evenly over the ball, along a spiral
        double y = 1 - (2 * i + 1.0) / POINTS, s = sqrt(1 - y * y), a = 2.39996322972865332 * i;
        rh_dvec3 n = {s * cos(a), y, s * sin(a)};
        rh_dvec3 v = rh_obstacles_velocity(&all, 0, rh_d3_scale(n, r));
        assert_near(rh_d3_dot(v, n), (after - r) / dt, 0.02 * fabs(after - r) / dt);
        flux += rh_d3_dot(v, rh_obstacles_normal(&all, 0, rh_d3_scale(n, r))) * 4 * PI * r * r / POINTS;
    }
    double swept = 4 * PI / 3 * (after * after * after - r * r * r) / dt;
    // first order in the step: the area is that of its start
    assert_near(flux / swept, 1, 0.03);
    assert_near(rh_obstacles_max_speed(&all), (after - r) / dt, 1e-3);
    let_go(&o);
}

static void carried_along_is_as_with_keys(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_mesh_sequence_params params = params_of(RH_SEQUENCE_HOLD, RH_SEQUENCE_HOLD);
    rh_mesh mesh;
    rh_motion_key keys[2] = {{.time = 0.5}, {.time = 0.9, .translate = {0.12, 0.08, 0}}};
    rh_obstacle items[2] = {follow(&params, read_carried, NULL), {.shape = {.kind = RH_SHAPE_MESH}}};
    assert_int_equal(ball(R, rh_d3(0.03, 0.02, 0), &mesh, &status), RH_OK);
    assert_int_equal(rh_mesh_sdf_create(&mesh, 0.02, &items[1].shape.mesh, &status), RH_OK);
    items[1].motion.keys = (rh_list){.items = keys, .count = 2};
    rh_obstacles all = {.items = items, .count = 2};
    for (double time = 0.5; time < 1; time += 0.0371) {
        assert_int_equal(rh_obstacles_at(&all, time, 0, &all, NULL), RH_OK);
        for (int i = 0; i < 50; i++) {
            rh_dvec3 x = {0.6 * sin(i), 0.6 * cos(1.7 * i), 0.5 * sin(2.3 * i)};
            int one = 0, other = 1;
            double d = rh_obstacles_distance_of(&all, &one, 1, x, NULL),
                   e = rh_obstacles_distance_of(&all, &other, 1, x, NULL);
            if (fabs(e) < 0.07) assert_near(d, e, 2e-3);  // both sampled, on other lattices
            rh_dvec3 apart = rh_d3_sub(rh_obstacles_velocity(&all, 0, x), rh_obstacles_velocity(&all, 1, x));
            assert_true(rh_d3_length(apart) < 1e-4);
        }
    }
    assert_near(rh_obstacles_max_speed(&all), 0, 1e-6);  // both have arrived
    rh_mesh_sdf_free(items[1].shape.mesh);
    rh_mesh_free(&mesh);
    let_go(&items[0]);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void other_triangles_are_refused(void **state)
{
    (void)state;
    rh_mesh_sequence_params params = params_of(RH_SEQUENCE_HOLD, RH_SEQUENCE_HOLD);
    for (int64_t broken = -3; broken <= 3; broken += 6) {
        rh_obstacle o = follow(&params, read_breathing, &broken);
        rh_obstacles all = {.items = &o, .count = 1};
        rh_status status = {0};
        assert_int_equal(rh_obstacles_at(&all, 0.55, 0, &all, &status), RH_OK);
        assert_int_equal(rh_obstacles_at(&all, 0.65, 0, &all, &status), RH_USER);
        assert_non_null(strstr(status.message, "ball.0003.obj"));
        let_go(&o);
    }
    assert_int_equal(rh_memory_bytes(), 0);
}

// Once its snapshots have had their largest size, going on between two files needs no more memory: the two copies that
// a step has of its solids, its start and its end, one after the other.
static void steps_between_files_allocate_nothing(void **state)
{
    (void)state;
    rh_mesh_sequence_params params = params_of(RH_SEQUENCE_HOLD, RH_SEQUENCE_HOLD);
    rh_obstacle o = follow(&params, read_breathing, NULL);
    rh_obstacles solids = {.items = &o, .count = 1}, start, end;
    rh_status status = {0};
    assert_int_equal(rh_obstacles_create(&solids, &start, &status), RH_OK);
    assert_int_equal(rh_obstacles_create(&solids, &end, &status), RH_OK);
    const double dt = 0.1 / 24;  // a 24th of the way from one file to the next
    for (int n = 0; n < 20; n++) {
        double time = params.start + 0.1 + n * dt;
        if (n == 10) rh_memory_fail_after(0);
        rh_code code = rh_obstacles_at(&solids, time, dt, &start, &status);
        if (code == RH_OK) code = rh_obstacles_at(&solids, time + dt, 0, &end, &status);
        if (code != RH_OK) {
            rh_memory_fail_after(-1);
            fail_msg("step %d: %s", n, status.message);
        }
    }
    rh_memory_fail_after(-1);
    rh_obstacles_free(&start);
    rh_obstacles_free(&end);
    let_go(&o);
    assert_int_equal(rh_memory_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_have_a_number),
                                       cmocka_unit_test(time_runs_through_the_files),
                                       cmocka_unit_test(a_breathing_ball_displaces_its_volume),
                                       cmocka_unit_test(carried_along_is_as_with_keys),
                                       cmocka_unit_test(other_triangles_are_refused),
                                       cmocka_unit_test(steps_between_files_allocate_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
