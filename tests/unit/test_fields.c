// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Fields that live between steps: tiles come and go and values stay where they are, to the bit; stores and .vdb files
// give back what they got.
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
#include "base/parallel.h"
#include "base/random.h"
#include "grid/fields.h"
#include "io/checkpoint.h"
#include "io/vdb_fields.h"

// A value that belongs to a cell of the world, whatever tile numbers are.
static float value_at(rh_tile at, int cell, int component)
{
    uint64_t key = (uint64_t)(at.x + 5000) << 40 ^ (uint64_t)(at.y + 5000) << 20 ^ (uint64_t)(at.z + 5000);
    return (float)((double)(rh_mix64(key * 1024 + (uint64_t)(2 * cell + component)) >> 40) - 1e6) * 1.7e-3f;
}

static void set_all(rh_fields *fields, rh_field *field)
{
    for (int a = 0; a < rh_field_components(field->kind); a++)
        for (int32_t t = 0; t < fields->count; t++)
            for (int c = 0; c < fields->cells; c++)
                field->axis[a][t * fields->cells + c] = value_at(fields->at[t], c, a);
}

static rh_tiles tiles_at(const rh_tile *keys, int count, int dimension, rh_arena *arena)
{
    rh_tiles tiles;
    rh_status status = {0};
    if (rh_tiles_from_keys(&tiles, dimension, 0.25, keys, count, arena, &status) != RH_OK)
        fail_msg("%s", status.message);
    return tiles;
}

static void tiles_are_made_from_keys(void **state)
{
    (void)state;
    rh_arena arena;
    rh_arena_init(&arena, "test");
    const rh_tile keys[] = {{3, 0, 0}, {-1, 2, 5}, {3, 0, 0}, {2, 0, 0}, {-1, 2, 5}, {2, 1, -1}};
    rh_tiles tiles = tiles_at(keys, 6, 3, &arena);
    assert_int_equal(tiles.count, 4);
    assert_true(rh_tiles_is_valid(&tiles));
    for (int i = 0; i < 6; i++) assert_true(rh_tiles_find(&tiles, keys[i]) >= 0);
    assert_int_equal(rh_tiles_find(&tiles, (rh_tile){0, 0, 0}), -1);
    rh_status status = {0};
    const rh_tile far = {1 << 20, 0, 0}, deep = {0, 0, 1};
    assert_int_equal(rh_tiles_from_keys(&tiles, 3, 0.25, &far, 1, &arena, &status), RH_NUMERIC);
    assert_int_equal(rh_tiles_from_keys(&tiles, 2, 0.25, &deep, 1, &arena, &status), RH_NUMERIC);
    assert_int_equal(rh_tiles_from_keys(&tiles, 2, 0.25, NULL, 0, &arena, &status), RH_OK);
    assert_int_equal(tiles.count, 0);
    rh_arena_free(&arena);
}

static void values_stay_where_they_are(void **state)
{
    (void)state;
    rh_arena arena;
    rh_fields fields;
    rh_arena_init(&arena, "test");
    rh_fields_init(&fields, 3, 0.25);
    assert_int_equal(rh_fields_add(&fields, "heat", RH_FIELD_FLOAT, 0.5f, NULL), RH_OK);
    assert_int_equal(rh_fields_add(&fields, "u", RH_FIELD_FACES, 0, NULL), RH_OK);
    assert_int_equal(rh_fields_add(&fields, "heat", RH_FIELD_VEC3, 0, NULL), RH_USER);
    assert_int_equal(rh_fields_add(&fields, "no/name", RH_FIELD_VEC3, 0, NULL), RH_USER);
    rh_tile keys[40];
    for (int round = 0; round < 12; round++) {  // a window that moves over the tiles, back and forth
        int shift = round < 6 ? round : 12 - round, count = 10 + 2 * shift;
        for (int i = 0; i < count; i++) keys[i] = (rh_tile){i + shift - 8, i % 3 - shift, -shift / 2};
        rh_tiles tiles = tiles_at(keys, count, 3, &arena);
        rh_fields before = fields;  // where they were
        rh_tile old[64];
        if (before.count) memcpy(old, before.at, (size_t)before.count * sizeof *old);
        rh_threads_set(1 + round % 3);
        assert_int_equal(rh_fields_carry(&fields, &tiles, NULL), RH_OK);
        assert_true(rh_fields_fit(&fields, &tiles));
        for (int32_t t = 0; t < fields.count; t++) {
            bool there = false;
            for (int32_t o = 0; o < before.count; o++) there |= memcmp(&old[o], &fields.at[t], sizeof *old) == 0;
            for (int c = 0; c < fields.cells; c++) {
                float heat = there ? value_at(fields.at[t], c, 0) : 0.5f, z = there ? value_at(fields.at[t], c, 2) : 0;
                assert_true(fields.items[0].axis[0][t * 512 + c] == heat && fields.items[1].axis[2][t * 512 + c] == z);
            }
        }
        set_all(&fields, &fields.items[0]);
        set_all(&fields, &fields.items[1]);
        int64_t held = rh_memory_bytes();
        assert_int_equal(rh_fields_carry(&fields, &tiles, NULL), RH_OK);
        assert_int_equal(rh_memory_bytes(), held);
        rh_arena_reset(&arena);
    }
    rh_threads_set(0);
    rh_fields_free(&fields);
    rh_arena_free(&arena);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void make_fields(rh_fields *fields, int dimension, rh_arena *arena)
{
    const rh_tile keys[] = {{3, 0, 0}, {-1, 2, 0}, {2, 0, 0}, {-7, -6, 0}, {1, 1, dimension == 3 ? -4 : 0}};
    rh_tiles tiles = tiles_at(keys, 5, dimension, arena);
    rh_fields_init(fields, dimension, 0.25);
    assert_int_equal(rh_fields_add(fields, "heat", RH_FIELD_FLOAT, 0.5f, NULL), RH_OK);
    assert_int_equal(rh_fields_add(fields, "flow", RH_FIELD_FACES, 0, NULL), RH_OK);
    assert_int_equal(rh_fields_add(fields, "push", RH_FIELD_VEC3, 0, NULL), RH_OK);
    assert_int_equal(rh_fields_carry(fields, &tiles, NULL), RH_OK);
    for (int i = 0; i < 3; i++) set_all(fields, &fields->items[i]);
}

static void assert_same(rh_fields *a, rh_fields *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->field_count, b->field_count);
    assert_true(a->h == b->h && a->dimension == b->dimension);
    assert_memory_equal(a->at, b->at, (size_t)a->count * sizeof *a->at);
    for (int i = 0; i < a->field_count; i++) {
        const rh_field *x = &a->items[i], *y = rh_fields_find(b, x->name);
        assert_non_null(y);
        assert_true(x->kind == y->kind && x->background == y->background);
        for (int c = 0; c < rh_field_components(x->kind); c++)
            assert_memory_equal(x->axis[c], y->axis[c], (size_t)(a->count * a->cells) * sizeof(float));
    }
}

static void stores_give_back_what_they_got(void **state)
{
    (void)state;
    rh_arena arena;
    rh_fields fields, back, other;
    rh_status status = {0};
    rh_arena_init(&arena, "test");
    make_fields(&fields, 3, &arena);
    rh_memory_store *memory = rh_memory_store_create(NULL);
    rh_store store = rh_memory_store_open(memory);
    assert_int_equal(rh_fields_put(&fields, &store, NULL), RH_OK);
    int64_t held = rh_memory_bytes();
    assert_int_equal(rh_fields_put(&fields, &store, NULL), RH_OK);
    assert_int_equal(rh_memory_bytes(), held);
    rh_fields_init(&back, 3, 0.25);
    if (rh_fields_get(&back, &store, &status) != RH_OK) fail_msg("%s", status.message);
    assert_same(&fields, &back);
    assert_int_equal(rh_fields_get(&back, &store, &status), RH_OK);  // over what is there
    assert_same(&fields, &back);
    rh_fields_init(&other, 3, 0.25);  // a method that has another kind under the name
    assert_int_equal(rh_fields_add(&other, "heat", RH_FIELD_VEC3, 0, NULL), RH_OK);
    assert_int_equal(rh_fields_get(&other, &store, &status), RH_IO);
    rh_tile wrong[2] = {{1, 0, 0}, {0, 0, 0}};  // not in order
    assert_int_equal(rh_store_put_bytes(&store, "fields.tiles", wrong, sizeof wrong, NULL), RH_OK);
    assert_int_equal(rh_fields_get(&back, &store, &status), RH_IO);
    rh_memory_store_free(memory);

    char path[64];
    uint64_t hash;
    rh_checkpoint_writer *writer;
    rh_checkpoint_reader *reader;
    snprintf(path, sizeof path, "fields-%d.h5", (int)getpid());
    for (int empty = 0; empty < 2; empty++) {  // also without tiles
        if (empty) {
            rh_tiles none = tiles_at(NULL, 0, 3, &arena);
            assert_int_equal(rh_fields_carry(&fields, &none, NULL), RH_OK);
        }
        assert_int_equal(rh_checkpoint_create(path, 1, &writer, NULL), RH_OK);
        rh_store to = rh_checkpoint_writer_store(writer);
        assert_int_equal(rh_fields_put(&fields, &to, NULL), RH_OK);
        assert_int_equal(rh_checkpoint_commit(writer, NULL), RH_OK);
        assert_int_equal(rh_checkpoint_open(path, &reader, &hash, NULL), RH_OK);
        rh_store from = rh_checkpoint_reader_store(reader);
        if (rh_fields_get(&back, &from, &status) != RH_OK) fail_msg("%s", status.message);
        assert_same(&fields, &back);
        rh_checkpoint_close(reader);
    }
    remove(path);
    rh_fields_free(&fields);
    rh_fields_free(&back);
    rh_fields_free(&other);
    rh_arena_free(&arena);
    assert_int_equal(rh_memory_bytes(), 0);
}

static void files_give_back_what_they_got(void **state)
{
    (void)state;
    rh_arena arena;
    char path[64];
    rh_status status = {0};
    rh_arena_init(&arena, "test");
    snprintf(path, sizeof path, "fields-%d.vdb", (int)getpid());
    for (int dimension = 2; dimension <= 3; dimension++)
        for (int z_up = 0; z_up < 2; z_up++) {
            rh_fields fields, back;
            make_fields(&fields, dimension, &arena);
            rh_frame_info info = {7, 0.25, 24, 0.25, 0x1234, z_up}, read;
            if (rh_vdb_write_fields(path, &(rh_owned_fields){NULL, &fields}, 1, &info, &status) != RH_OK)
                fail_msg("%s", status.message);
            if (rh_vdb_read_fields(path, NULL, &back, &read, &status) != RH_OK) fail_msg("%s", status.message);
            assert_same(&fields, &back);
            assert_true(read.frame == 7 && read.time == 0.25 && read.z_up == z_up && read.scene_hash == 0x1234);
            rh_fields_free(&back);
            rh_fields_free(&fields);
            rh_arena_reset(&arena);
        }
    // One byte changed is noticed: the file is sealed.
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    fseek(file, 2000, SEEK_SET);
    int byte = fgetc(file);
    fseek(file, 2000, SEEK_SET);
    fputc(byte ^ 4, file);
    fclose(file);
    rh_fields back;
    assert_int_equal(rh_vdb_read_fields(path, NULL, &back, NULL, &status), RH_USER);
    remove(path);
    assert_int_equal(rh_vdb_read_fields(path, NULL, &back, NULL, &status), RH_USER);
    assert_non_null(strstr(status.message, path));
    rh_arena_free(&arena);
    assert_int_equal(rh_memory_bytes(), 0);
}

// --- through the public interface ------------------------------------------------------------------------------------
static double sum_of(const rheo_simulation *sim)
{
    rheo_field field = rheo_field_at(sim, 0);
    double sum = 0;
    for (int64_t t = 0; t < field.tile_count; t++)  // by place, not by number
        for (int c = 0; c < field.cells; c++)
            sum += (double)field.values[0][t * field.cells + c] *
                   (2 + sin((double)(field.tiles[t][0] + 3 * field.tiles[t][1] + 7 * field.tiles[t][2] + 11 * c)));
    return sum;
}

static void callers_read_fields(void **state)
{
    (void)state;
    rheo_simulation *sim;
    rheo_error error;
    rheo_snapshot *snapshot = NULL;
    const char *cell = "cell=0.05";
    if (rheo_open(RHEO_SOURCE_DIR "/scenes/dye/stirred.yaml", &cell, 1, &sim, &error) != RHEO_OK)
        fail_msg("%s", error.message);
    assert_int_equal(rheo_point_count(sim), 0);
    assert_int_equal(rheo_field_count(sim), 1);
    rheo_field field = rheo_field_at(sim, 0);
    assert_string_equal(field.name, "dye");
    assert_true(field.components == 1 && field.cell == 0.05 && field.cells == 512 && field.background == 0);
    double inside = 0;
    for (int64_t i = 0; i < field.tile_count * field.cells; i++) inside += (double)field.values[0][i];
    double volume = inside * 0.05 * 0.05 * 0.05, drop = 4.0 / 3 * M_PI * 0.1 * 0.1 * 0.1, bar = 0.3 * 0.1 * 0.1;
    assert_true(fabs(volume - drop - bar) < 0.3 * (drop + bar));  // four cells across
    assert_int_equal(rheo_advance_frame(sim, &error), RHEO_OK);
    assert_int_equal(rheo_snapshot_take(sim, &snapshot, &error), RHEO_OK);
    double then = sum_of(sim);
    assert_int_equal(rheo_advance_frame(sim, &error), RHEO_OK);
    double later = sum_of(sim);
    assert_true(later != then);
    assert_int_equal(rheo_snapshot_restore(sim, snapshot, &error), RHEO_OK);
    assert_true(sum_of(sim) == then);
    assert_int_equal(rheo_advance_frame(sim, &error), RHEO_OK);
    assert_true(sum_of(sim) == later);
    rheo_snapshot_free(snapshot);
    rheo_close(sim);
    assert_int_equal(rheo_memory_bytes(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_are_made_from_keys), cmocka_unit_test(values_stay_where_they_are),
        cmocka_unit_test(stores_give_back_what_they_got), cmocka_unit_test(files_give_back_what_they_got),
        cmocka_unit_test(callers_read_fields)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
