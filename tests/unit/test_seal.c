// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Seals: any flipped byte and any cut is noticed, at the borders of chunks too; the same for any number of threads;
// files of earlier versions are still checked.
#include "check.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "io/file.h"
#include "io/seal.h"
#include "unit/scratch.h"

enum { BYTES = 3 * RH_SEAL_CHUNK + 12345, SEAL = 16 };

static int folder_teardown(void **state)
{
    scratch_remove(*state);
    rh_threads_set(0);
    return nothing_left(state);
}

static void put(const char *path, const char *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    assert_true(file && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0);
}

static char *contents(size_t bytes)
{
    char *data = malloc(bytes + 1);
    for (size_t i = 0; i < bytes; i++) data[i] = (char)rh_mix64(i);
    return data;
}

static char *sealed_file(const char *path, size_t bytes, size_t *length)
{
    char *data = contents(bytes), *all;
    put(path, data, bytes);
    assert_int_equal(rh_seal_write(path, NULL), RH_OK);
    assert_int_equal(rh_file_read(path, (size_t)1 << 30, &all, length, NULL), RH_OK);
    assert_int_equal(*length, bytes + SEAL);
    assert_memory_equal(all, data, bytes);
    free(data);
    return all;
}

static void damage_is_noticed(void **state)
{
    static const size_t places[] = {0,         31,       32, RH_SEAL_CHUNK - 1, RH_SEAL_CHUNK, 2 * RH_SEAL_CHUNK + 77,
                                    BYTES - 1, BYTES + 9};
    scratch_path path = scratch_at(*state, "sealed");
    size_t length;
    bool sealed;
    char *all = sealed_file(path.text, BYTES, &length);
    assert_int_equal(rh_seal_check(path.text, &sealed, NULL), RH_OK);
    assert_true(sealed);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        all[places[i]] ^= 4;
        put(path.text, all, length);
        all[places[i]] ^= 4;
        assert_int_equal(rh_seal_check(path.text, &sealed, NULL), RH_USER);
    }
    // Chunks that changed places, and a file from whose middle a chunk is gone.
    char *swapped = malloc(length);
    memcpy(swapped, all, length);
    memcpy(swapped, all + RH_SEAL_CHUNK, RH_SEAL_CHUNK);
    memcpy(swapped + RH_SEAL_CHUNK, all, RH_SEAL_CHUNK);
    put(path.text, swapped, length);
    assert_int_equal(rh_seal_check(path.text, &sealed, NULL), RH_USER);
    memcpy(swapped, all + RH_SEAL_CHUNK, length - RH_SEAL_CHUNK);
    put(path.text, swapped, length - RH_SEAL_CHUNK);
    assert_int_equal(rh_seal_check(path.text, &sealed, NULL), RH_USER);
    put(path.text, all, length - 1);  // the letters are not where they should be: a file without seal
    assert_int_equal(rh_seal_check(path.text, &sealed, NULL), RH_OK);
    assert_false(sealed);
    free(swapped);
    rh_free(all);
}

static void threads_and_sizes(void **state)
{
    static const size_t sizes[] = {0, 1, 7, 8, 31, 32, 33, RH_SEAL_CHUNK - 1, RH_SEAL_CHUNK, RH_SEAL_CHUNK + 1, BYTES};
    scratch_path path = scratch_at(*state, "sealed");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        size_t length;
        char *all[2];
        bool sealed;
        for (int k = 0; k < 2; k++) {
            rh_threads_set(k ? 3 : 1);
            all[k] = sealed_file(path.text, sizes[i], &length);
        }
        assert_memory_equal(all[0], all[1], length);
        assert_int_equal(rh_seal_check(path.text, &sealed, NULL), RH_OK);
        assert_true(sealed);
        rh_free(all[0]);
        rh_free(all[1]);
    }
}

// One chain over all chunks, with letters of its own.
static void earlier_files(void **state)
{
    scratch_path path = scratch_at(*state, "old");
    char *data = realloc(contents(BYTES), BYTES + SEAL);
    uint64_t sum = 0;
    bool sealed;
    for (size_t at = 0; at < BYTES; at += RH_SEAL_CHUNK)
        sum = rh_hash(data + at, BYTES - at < RH_SEAL_CHUNK ? BYTES - at : RH_SEAL_CHUNK, sum);
    memcpy(data + BYTES, "rheoseal", 8);
    memcpy(data + BYTES + 8, &sum, 8);
    put(path.text, data, BYTES + SEAL);
    assert_int_equal(rh_seal_check(path.text, &sealed, NULL), RH_OK);
    assert_true(sealed);
    data[BYTES / 2] ^= 1;
    put(path.text, data, BYTES + SEAL);
    assert_int_equal(rh_seal_check(path.text, &sealed, NULL), RH_USER);
    free(data);
}

static void what_cannot_be(void **state)
{
    rh_status status = {0};
    bool sealed;
    scratch_path path = scratch_at(*state, "gone");
    assert_int_equal(rh_seal_check(path.text, &sealed, &status), RH_IO);
    rh_status_clear(&status);
    assert_int_equal(rh_seal_write(path.text, &status), RH_IO);
    put(path.text, "some bytes", 10);
    for (int64_t n = 0; n < 2; n++) {
        rh_memory_fail_after(n);
        assert_int_equal(rh_seal_write(path.text, NULL), RH_MEMORY);
        rh_memory_fail_after(-1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(damage_is_noticed), cmocka_unit_test(threads_and_sizes),
                                       cmocka_unit_test(earlier_files), cmocka_unit_test(what_cannot_be)};
    return cmocka_run_group_tests(tests, scratch_setup, folder_teardown);
}
