// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// State by name comes back to the bit from memory and from a checkpoint file, and a simulation goes on from a snapshot
// as if nothing had happened in between.
#include <math.h>
#include <rheo/rheo.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "io/checkpoint.h"
#include "points/store.h"

static void make_points(rh_points *points, int64_t count)
{
    rh_points_init(points);
    assert_int_equal(rh_points_add(points, "P", RH_POINT_VEC3F, NULL), RH_OK);
    assert_int_equal(rh_points_add(points, "id", RH_POINT_I64, NULL), RH_OK);
    assert_int_equal(rh_points_resize(points, count, NULL), RH_OK);
    for (int64_t i = 0; i < count; i++) {
        ((int64_t *)rh_points_data(points, "id", RH_POINT_I64))[i] = 7 * i;
        ((rh_vec3 *)rh_points_data(points, "P", RH_POINT_VEC3F))[i] = rh_v3((float)i, 0.1f, -1e-30f);
    }
}

static const double REALS[] = {0.1, -0.0, 1e-310, 3e300};

static void put_all(const rh_store *store, const rh_points *points)
{
    rh_store own = rh_store_within(store, "method"), deeper = rh_store_within(&own, "part");
    assert_int_equal(rh_store_put_points(store, "points", points, NULL), RH_OK);
    assert_int_equal(rh_store_put_int(store, "whole", INT64_MIN, NULL), RH_OK);
    assert_int_equal(rh_store_put_int(&own, "whole", 5, NULL), RH_OK);
    assert_int_equal(rh_store_put_float(&deeper, "real", 1.0 / 3, NULL), RH_OK);
    assert_int_equal(rh_store_put_bytes(&own, "reals", REALS, sizeof REALS, NULL), RH_OK);
    assert_int_equal(rh_store_put_bytes(&own, "none", NULL, 0, NULL), RH_OK);
}

static void get_all(const rh_store *store, const rh_points *points)
{
    rh_store own = rh_store_within(store, "method"), deeper = rh_store_within(&own, "part");
    rh_points found;
    rh_points_init(&found);
    assert_int_equal(rh_store_get_points(store, "points", &found, NULL), RH_OK);
    assert_true(rh_points_hash(&found) == rh_points_hash(points));
    rh_points_free(&found);
    int64_t whole;
    double real, reals[4];
    assert_int_equal(rh_store_get_int(store, "whole", &whole, NULL), RH_OK);
    assert_true(whole == INT64_MIN);
    assert_int_equal(rh_store_get_int(&own, "whole", &whole, NULL), RH_OK);
    assert_int_equal(whole, 5);
    assert_int_equal(rh_store_get_float(&deeper, "real", &real, NULL), RH_OK);
    assert_true(real == 1.0 / 3);
    assert_int_equal(rh_store_get_exactly(&own, "reals", reals, sizeof reals, NULL), RH_OK);
    assert_memory_equal(reals, REALS, sizeof reals);
    assert_int_equal(rh_store_get_exactly(&own, "none", reals, 0, NULL), RH_OK);
    rh_status status = {0};
    assert_int_equal(rh_store_get_exactly(&own, "reals", reals, 8, &status), RH_IO);
    assert_non_null(strstr(status.message, "method.reals has 32 bytes, expected 8"));
    assert_int_equal(rh_store_get_int(&own, "nothing", &whole, &status), RH_IO);
    assert_int_equal(rh_store_get_float(&own, "whole", &real, &status), RH_IO);  // of another kind
}

static void memory_gives_back_what_it_got(void **state)
{
    (void)state;
    int64_t before = rh_memory_bytes();
    rh_points points, fewer;
    make_points(&points, 1000);
    make_points(&fewer, 10);
    rh_memory_store *memory = rh_memory_store_create(NULL);
    assert_non_null(memory);
    rh_store store = rh_memory_store_open(memory);
    put_all(&store, &points);
    get_all(&store, &points);
    int64_t held = rh_memory_bytes();
    put_all(&store, &fewer);
    get_all(&store, &fewer);
    put_all(&store, &points);
    get_all(&store, &points);
    assert_int_equal(rh_memory_bytes(), held);  // used again
    rh_memory_store_free(memory);
    rh_points_free(&points);
    rh_points_free(&fewer);
    assert_int_equal(rh_memory_bytes(), before);
}

static void a_file_gives_back_what_it_got(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "store-%d.h5", (int)getpid());
    rh_points points;
    make_points(&points, 1000);
    rh_checkpoint_writer *writer;
    assert_int_equal(rh_checkpoint_create(path, 1, &writer, NULL), RH_OK);
    rh_store to = rh_checkpoint_writer_store(writer);
    put_all(&to, &points);
    assert_int_equal(rh_checkpoint_commit(writer, NULL), RH_OK);
    rh_checkpoint_reader *reader;
    uint64_t hash;
    assert_int_equal(rh_checkpoint_open(path, &reader, &hash, NULL), RH_OK);
    rh_store from = rh_checkpoint_reader_store(reader);
    get_all(&from, &points);
    rh_checkpoint_close(reader);
    rh_points_free(&points);
    remove(path);
}

// --- snapshots through the public interface
// ---------------------------------------------------------------------------
static rheo_simulation *open_scene(const char *path, const char *cell)
{
    rheo_simulation *sim;
    rheo_error error;
    if (rheo_open(path, &cell, 1, &sim, &error) != RHEO_OK) fail_msg("%s", error.message);
    return sim;
}

static void advance(rheo_simulation *sim, int frames)
{
    rheo_error error;
    for (int n = 0; n < frames; n++)
        if (rheo_advance_frame(sim, &error) != RHEO_OK) fail_msg("%s", error.message);
}

// Positions by id, added up with weights: any particle elsewhere shows.
static double print_of(const rheo_simulation *sim)
{
    const float *P = rheo_points_float(sim, "P", 3);
    const int64_t *id = rheo_points_id(sim);
    double sum = 0;
    for (int64_t i = 0; i < 3 * rheo_point_count(sim); i++) sum += (double)P[i] * sin((double)(3 * id[i / 3] + i % 3));
    return sum;
}

static void a_snapshot_is_gone_back_to(void **state)
{
    (void)state;
    static const struct {
        const char *scene, *cell;
    } cases[] = {{"dam_break_2d", "cell=0.004"},
                 {"fountain", "cell=0.04"},
                 {"splash/colliding_streams", "cell=0.3"},
                 {"sand/column", "cell=0.04"}};
    for (int n = 0; n < 4; n++) {
        char path[512];
        snprintf(path, sizeof path, RHEO_SOURCE_DIR "/scenes/%s.yaml", cases[n].scene);
        rheo_simulation *sim = open_scene(path, cases[n].cell), *other = open_scene(path, cases[n].cell);
        rheo_snapshot *snapshot = NULL;
        int64_t first = rheo_frame(sim);
        advance(sim, 2);
        assert_int_equal(rheo_snapshot_take(sim, &snapshot, NULL), RHEO_OK);
        advance(sim, 3);
        double later = print_of(sim);
        int64_t count = rheo_point_count(sim);
        assert_int_equal(rheo_snapshot_restore(sim, snapshot, NULL), RHEO_OK);
        assert_int_equal(rheo_frame(sim), first + 2);
        advance(sim, 3);
        assert_true(print_of(sim) == later && rheo_point_count(sim) == count);
        // Another simulation of the scene goes on from there too.
        assert_int_equal(rheo_snapshot_restore(other, snapshot, NULL), RHEO_OK);
        advance(other, 3);
        assert_true(print_of(other) == later);
        // A state further on, into the same memory.
        assert_int_equal(rheo_snapshot_take(other, &snapshot, NULL), RHEO_OK);
        advance(other, 1);
        assert_int_equal(rheo_snapshot_restore(other, snapshot, NULL), RHEO_OK);
        assert_true(print_of(other) == later);
        rheo_close(sim);
        rheo_close(other);
        rheo_snapshot_free(snapshot);
    }
    assert_int_equal(rheo_memory_bytes(), 0);
}

static void a_snapshot_of_another_scene_is_refused(void **state)
{
    (void)state;
    rheo_simulation *sim = open_scene(RHEO_SOURCE_DIR "/scenes/dam_break.yaml", "cell=0.1"),
                    *other = open_scene(RHEO_SOURCE_DIR "/scenes/dam_break.yaml", "cell=0.2");
    rheo_snapshot *snapshot = NULL;
    rheo_error error;
    assert_int_equal(rheo_snapshot_take(sim, &snapshot, &error), RHEO_OK);
    assert_int_equal(rheo_snapshot_restore(other, snapshot, &error), RHEO_USER);
    assert_non_null(strstr(error.message, "another scene"));
    advance(other, 1);
    rheo_snapshot_free(snapshot);
    rheo_close(sim);
    rheo_close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_gives_back_what_it_got), cmocka_unit_test(a_file_gives_back_what_it_got),
        cmocka_unit_test(a_snapshot_is_gone_back_to), cmocka_unit_test(a_snapshot_of_another_scene_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
