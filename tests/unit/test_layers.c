// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A run that stands on another one: its base at any time between frames. The base is free fall, written frame by frame
// from the formula: the cubic through two frames is the parabola itself, so places and velocities between them are
// exact.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/parallel.h"
#include "io/vdb.h"
#include "io/vdb_fields.h"
#include "world/base_frames.h"

enum { SIDE = 6, COUNT = SIDE * SIDE * SIDE, LAST = 5 };
static const double CELL = 0.1, FPS = 24;

static rh_dvec3 start_of(int64_t id)
{
    return rh_d3(0.05 * (double)(id % SIDE), 1 + 0.05 * (double)(id / SIDE % SIDE), 0.05 * (double)(id / SIDE / SIDE));
}
static rh_dvec3 speed_of(int64_t id) { return rh_d3(0.3, 0.1 * (double)(id % 3), -0.2); }

static rh_dvec3 place_at(int64_t id, double t)
{
    rh_dvec3 p = rh_d3_add(start_of(id), rh_d3_scale(speed_of(id), t));
    p.y -= 0.5 * 9.81 * t * t;
    return p;
}

static rh_dvec3 velocity_at(int64_t id, double t)
{
    rh_dvec3 v = speed_of(id);
    v.y -= 9.81 * t;
    return v;
}

// From frame 3 on one particle more; from frame 4 on without particle 0. `shift` makes another run of it.
static void write_frame(const char *folder, int frame, double shift)
{
    char path[256];
    rh_status status = {0};
    rh_points points;
    double t = (frame - 1) / FPS;
    int64_t count = COUNT + (frame >= 3) - (frame >= 4);
    float radius = 0.031f;
    rh_points_init(&points);
    assert_int_equal(rh_points_add(&points, "P", RH_POINT_VEC3F, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "v", RH_POINT_VEC3F, NULL), RH_OK);
    assert_int_equal(rh_points_add(&points, "id", RH_POINT_I64, NULL), RH_OK);
    assert_int_equal(rh_points_add_uniform(&points, "radius", RH_POINT_F32, &radius, NULL), RH_OK);
    assert_int_equal(rh_points_resize(&points, count, NULL), RH_OK);
    for (int64_t i = 0; i < count; i++) {
        int64_t id = (i * 5) % count + (frame >= 4);  // another order in every frame, as in real ones
        ((int64_t *)rh_points_data(&points, "id", RH_POINT_I64))[i] = id;
        ((rh_vec3 *)rh_points_data(&points, "P", RH_POINT_VEC3F))[i] = rh_v3_from(
            rh_d3_add(place_at(id, t), rh_d3(shift, 0, 0)));
        ((rh_vec3 *)rh_points_data(&points, "v", RH_POINT_VEC3F))[i] = rh_v3_from(velocity_at(id, t));
    }
    rh_frame_info info = {frame, t, FPS, CELL, 0xabcd, 0};
    snprintf(path, sizeof path, "%s/points/points.%04d.vdb", folder, frame);
    if (rh_vdb_write_points(path, &points, &info, &status) != RH_OK) fail_msg("%s", status.message);
    rh_points_free(&points);

    rh_arena arena;
    rh_tiles tiles;
    rh_fields fields;
    const rh_tile keys[] = {{0, 0, 0}, {0, 1, 0}};
    rh_arena_init(&arena, "test");
    rh_fields_init(&fields, 3, CELL);
    assert_int_equal(rh_fields_add(&fields, "heat", RH_FIELD_FLOAT, 0, NULL), RH_OK);
    assert_int_equal(rh_tiles_from_keys(&tiles, 3, CELL, keys, 2, &arena, NULL), RH_OK);
    assert_int_equal(rh_fields_carry(&fields, &tiles, NULL), RH_OK);
    for (int i = 0; i < 2 * 512; i++) {  // linear in space and time: exact between cells and frames
        int32_t tile = i / 512;
        fields.items[0].axis[0][i] = (float)(1 + t + (8 * fields.at[tile].y + (i % 512 >> 3 & 7) + 0.5) * CELL);
    }
    snprintf(path, sizeof path, "%s/fields/fields.%04d.vdb", folder, frame);
    if (rh_vdb_write_fields(path, &(rh_owned_fields){NULL, &fields}, 1, &info, &status) != RH_OK)
        fail_msg("%s", status.message);
    rh_fields_free(&fields);
    rh_arena_free(&arena);
}

static char base_folder[64];

static int write_base(void **state)
{
    (void)state;
    char path[128];
    snprintf(base_folder, sizeof base_folder, "layers-%d", (int)getpid());
    const char *const parts[] = {"", "/points", "/fields"};
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", base_folder, parts[i]);
        mkdir(path, 0755);
    }
    for (int frame = 1; frame <= LAST; frame++) write_frame(base_folder, frame, 0);
    return 0;
}

static int remove_base(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", base_folder);
    return system(command);
}

static rh_code open_base(double until, rh_base_frames **out, rh_status *status)
{
    rh_from_params from = {(char *)(uintptr_t) "water", base_folder};
    return rh_base_frames_open(&from, "layer.yaml:3:9", 3, until, out, status);
}

static rh_base_frames *must_open(void)
{
    rh_status status = {0};
    rh_base_frames *frames;
    if (open_base((LAST - 1) / FPS, &frames, &status) != RH_OK) fail_msg("%s", status.message);
    return frames;
}

static void free_fall_is_exact_between_frames(void **state)
{
    (void)state;
    rh_base_frames *frames = must_open();
    const rh_base_run *run = rh_base_frames_run(frames);
    rh_status status = {0};
    double worst = 0, worst_speed = 0;
    for (int n = 0; n <= 40; n++) {
        int m = n <= 20 ? 2 * n : 80 - 2 * n;  // forwards, and back again
        double t = m / 40.0 * (LAST - 1) / FPS, frame = 1 + t * FPS;
        if (rh_base_frames_move(frames, t, &status) != RH_OK) fail_msg("%s", status.message);
        const rh_vec3 *P = rh_points_data(&run->points, "P", RH_POINT_VEC3F),
                      *v = rh_points_data(&run->points, "v", RH_POINT_VEC3F);
        const int64_t *id = rh_points_data(&run->points, "id", RH_POINT_I64);
        bool born = frame >= 2.5 - 1e-9, gone = frame >= 4 - 1e-9;
        if (fabs(frame - 2.5) > 1e-6) assert_int_equal(run->points.count, COUNT + born - gone);
        for (int64_t i = 0; i < run->points.count; i++) {
            bool lone = (id[i] == COUNT && frame < 3) ||
                        (id[i] == 0 && frame > 3);  // in one frame only: a straight line
            rh_dvec3 way = rh_d3_sub(rh_d3_from(P[i]), place_at(id[i], t)),
                     off = rh_d3_sub(rh_d3_from(v[i]), velocity_at(id[i], t));
            if (lone) {
                assert_true(rh_d3_length(way) < 0.5 * 9.81 / FPS / FPS + 1e-5);
                continue;
            }
            worst = fmax(worst, rh_d3_length(way));
            worst_speed = fmax(worst_speed, rh_d3_length(off));
        }
    }
    print_message("free fall between frames: places to %.1g m, velocities to %.1g m/s\n", worst, worst_speed);
    assert_true(worst < 1e-6 && worst_speed < 3e-5);  // rounding of floats
    rh_base_frames_free(frames);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void places_can_be_asked(void **state)
{
    (void)state;
    rh_base_frames *frames = must_open();
    const rh_base_run *run = rh_base_frames_run(frames);
    rh_neighbour_list found = {0};
    rh_base_answer inside, outside;
    rh_vec3 heat;
    double t = 1.5 / FPS;
    assert_int_equal(rh_base_frames_move(frames, t, NULL), RH_OK);
    rh_dvec3 middle = rh_d3_scale(rh_d3_add(place_at(0, t), place_at(COUNT - 1, t)), 0.5);
    assert_int_equal(rh_base_ask(run, rh_v3_from(middle), &found, &inside, NULL), RH_OK);
    assert_true(inside.near && inside.distance < 0);
    assert_true(fabs((double)inside.velocity.x - 0.3) < 1e-4 && fabs((double)inside.velocity.z + 0.2) < 1e-4);
    assert_true(fabs((double)inside.velocity.y - (0.1 - 9.81 * t)) < 0.03);  // a mean of three speeds
    rh_vec3 far = rh_v3_from(rh_d3_add(middle, rh_d3(3, 0, 0)));
    assert_int_equal(rh_base_ask(run, far, &found, &outside, NULL), RH_OK);
    assert_true(!outside.near && outside.distance == run->reach && outside.velocity.x == 0);
    // Just off a face of the cube the distance is about how far off.
    rh_dvec3 off = middle;
    off.x = place_at(SIDE - 1, t).x + 0.08;
    assert_int_equal(rh_base_ask(run, rh_v3_from(off), &found, &outside, NULL), RH_OK);
    print_message("0.08 m off the outermost particles, radius %.3f m: distance %.3f m\n", (double)run->radius,
                  (double)outside.distance);
    assert_true(outside.near && fabs((double)outside.distance - (0.08 - (double)run->radius)) < 0.03);
    for (int n = 0; n < 20; n++) {
        double y = 0.1 + 0.07 * n, when = n / 20.0 * (LAST - 1) / FPS;
        assert_int_equal(rh_base_frames_move(frames, when, NULL), RH_OK);
        assert_true(rh_base_field(run, "heat", rh_v3(0.33f, (float)y, 0.4f), &heat));
        assert_true(fabs((double)heat.x - (1 + when + y)) < 1e-5);
    }
    assert_false(rh_base_field(run, "cold", rh_v3(0, 0, 0), &heat));
    rh_neighbour_list_free(&found);
    rh_base_frames_free(frames);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    uint64_t first = 0;
    for (int threads = 1; threads <= 3; threads++) {
        rh_threads_set(threads);
        rh_base_frames *frames = must_open();
        assert_int_equal(rh_base_frames_move(frames, 0.07, NULL), RH_OK);
        uint64_t hash = rh_points_hash(&rh_base_frames_run(frames)->points);
        if (threads == 1) first = hash;
        assert_true(hash == first);
        rh_base_frames_free(frames);
    }
    rh_threads_set(0);
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_base_frames *frames;
    assert_int_equal(open_base(LAST / FPS, &frames, &status), RH_USER);  // a frame more than there is
    assert_null(frames);
    assert_non_null(strstr(status.message, "layer.yaml:3:9: 'water' ends at"));
    rh_from_params from = {(char *)(uintptr_t) "water", (char *)(uintptr_t) "no_such_run"};
    rh_status_clear(&status);
    assert_int_equal(rh_base_frames_open(&from, "layer.yaml:3:9", 3, 0, &frames, &status), RH_USER);
    assert_non_null(strstr(status.message, "no such folder"));
    // A frame that is missing: its file is named. It was there when the run began.
    char path[256], aside[256];
    snprintf(path, sizeof path, "%s/points/points.0003.vdb", base_folder);
    snprintf(aside, sizeof aside, "%s/aside", base_folder);
    frames = must_open();
    assert_int_equal(rename(path, aside), 0);
    rh_status_clear(&status);
    assert_int_equal(rh_base_frames_move(frames, 1.5 / FPS, &status), RH_USER);
    assert_non_null(strstr(status.message, "points.0003.vdb"));
    assert_int_equal(rename(aside, path), 0);
    assert_int_equal(rh_base_frames_move(frames, 1.5 / FPS, NULL), RH_OK);
    rh_base_frames_free(frames);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void a_changed_base_is_noticed(void **state)
{
    (void)state;
    rh_status status = {0};
    rh_memory_store *memory = rh_memory_store_create(NULL);
    rh_store store = rh_memory_store_open(memory);
    rh_base_frames *frames = must_open();
    assert_int_equal(rh_base_frames_move(frames, 2.5 / FPS, NULL), RH_OK);  // frames 1 (at the start), 3 and 4
    assert_int_equal(rh_base_frames_put(frames, &store, NULL), RH_OK);
    char *text = rh_base_frames_describe(frames, NULL);
    assert_non_null(strstr(text, "frame 4, checksum"));
    assert_null(strstr(text, "frame 2, checksum"));
    rh_free(text);
    rh_base_frames_free(frames);
    frames = must_open();
    assert_int_equal(rh_base_frames_get(frames, &store, false, &status), RH_OK);
    rh_base_frames_free(frames);
    write_frame(base_folder, 2, 0.5);  // one that was not read: nothing to say
    frames = must_open();
    assert_int_equal(rh_base_frames_get(frames, &store, false, &status), RH_OK);
    rh_base_frames_free(frames);
    write_frame(base_folder, 3, 0.5);
    frames = must_open();
    assert_int_equal(rh_base_frames_get(frames, &store, false, &status), RH_USER);
    assert_non_null(strstr(status.message, "points.0003.vdb"));
    rh_base_frames_free(frames);
    frames = must_open();
    assert_int_equal(rh_base_frames_get(frames, &store, true, &status), RH_OK);
    assert_int_equal(rh_base_frames_move(frames, 1.5 / FPS, NULL), RH_OK);
    // Made again under a run that goes on.
    write_frame(base_folder, 3, 0);
    assert_int_equal(rh_base_frames_move(frames, 3.5 / FPS, NULL), RH_OK);
    assert_int_equal(rh_base_frames_move(frames, 1.5 / FPS, &status), RH_USER);
    rh_base_frames_free(frames);
    write_frame(base_folder, 2, 0);
    rh_memory_store_free(memory);
    assert_int_equal(rh_memory_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(free_fall_is_exact_between_frames),
                                       cmocka_unit_test(places_can_be_asked), cmocka_unit_test(threads_change_nothing),
                                       cmocka_unit_test(what_is_wrong_is_said),
                                       cmocka_unit_test(a_changed_base_is_noticed)};
    return cmocka_run_group_tests(tests, write_base, remove_base);
}
