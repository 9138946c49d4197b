// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Whole and sealed HDF5 files whose contents are not what a checkpoint has: the input's bytes choose what is missing,
// of another type, another shape or another value. Damaged bytes end at the seal (fuzz_checkpoint); this is what comes
// after it. The reader must refuse, or give sound points; nothing may stay allocated. A zero chooses what is right, so
// the empty input is a checkpoint that must be read.
//   fuzz_checkpoint_parts tests/fuzz/corpus/checkpoint_parts
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define H5_USE_110_API
#include <hdf5.h>
#include "base/memory.h"
#include "chooser.h"
#include "io/checkpoint.h"
#include "io/seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static int64_t choose_number(chooser *c, int64_t right)
{
    static const int64_t odd[] = {0, 1, -1, 2, 7, INT32_MAX, INT64_MAX, INT64_MIN, (int64_t)1 << 40};
    unsigned k = choose(c, 16);
    return k == 0 || k > 9 ? right : odd[k - 1];
}

static hid_t text_type(size_t size)
{
    hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, size);
    return type;
}

// An attribute as it should be, or missing, of another type, or of more than one value.
static void put(chooser *c, hid_t node, const char *name, hid_t type, const void *value, size_t size)
{
    char room[8 * 64] = {0};
    hsize_t two = 2;
    unsigned k = choose(c, 16);
    if (k == 1) return;
    memcpy(room, value, size);
    hid_t other = text_type(5),
          space = k == 3 ? H5Screate_simple(1, &two, NULL) : H5Screate(k == 4 ? H5S_NULL : H5S_SCALAR);
    hid_t stored = k == 2 ? H5T_IEEE_F64LE : k == 5 ? H5T_STD_I32LE : k == 6 ? other : k == 7 ? H5T_STD_U8LE : type;
    hid_t attribute = H5Acreate2(node, name, stored, space, H5P_DEFAULT, H5P_DEFAULT);
    if (attribute >= 0) {
        H5Awrite(attribute, stored, room);
        H5Aclose(attribute);
    }
    H5Sclose(space);
    H5Tclose(other);
}

static void put_int(chooser *c, hid_t node, const char *name, int64_t right)
{
    int64_t value = choose_number(c, right);
    put(c, node, name, H5T_STD_I64LE, &value, sizeof value);
}

static void put_text(chooser *c, hid_t node, const char *name, const char *right)
{
    char text[64];
    memset(text, 'x', sizeof text);
    if (choose(c, 16) != 1) snprintf(text, sizeof text, "%s", right);
    hid_t type = text_type(sizeof text);
    put(c, node, name, type, text, sizeof text);
    H5Tclose(type);
}

// Rows x columns of a type; a zero chooses what a checkpoint has.
static hid_t put_set(chooser *c, hid_t node, const char *name, hid_t right, int columns, hsize_t rows)
{
    static const uint8_t zeros[4096];
    hid_t types[] = {right, right, right, H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_STD_I32LE, H5T_STD_I64BE, H5T_STD_U8LE},
          type = types[choose(c, 8)];
    int rank = columns > 1 ? 2 : 1;
    unsigned k = choose(c, 12);
    hsize_t dims[3] = {rows, (hsize_t)columns, 1}, chunk[3];
    if (k == 1) dims[0] = rows + 1;
    if (k == 2) rank = 3;
    if (k == 3) dims[1] = 2, rank = 2;
    if (k == 4) dims[0] = 0;
    for (int i = 0; i < 3; i++) chunk[i] = dims[i] > 2 ? 2 : 1;
    hid_t space = k == 5 ? H5Screate(H5S_SCALAR) : H5Screate_simple(rank, dims, NULL),
          plan = H5Pcreate(H5P_DATASET_CREATE);
    if (k != 5 && k != 6) H5Pset_chunk(plan, rank, chunk);
    if (k != 5 && k != 6 && k != 7) H5Pset_fletcher32(plan);
    hid_t set = H5Dcreate2(node, name, type, space, H5P_DEFAULT, plan, H5P_DEFAULT);
    // Without data there is no storage, whatever the shape says.
    if (set >= 0 && k != 8) H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, zeros);
    H5Pclose(plan);
    H5Sclose(space);
    return set;
}

static void put_points(chooser *c, hid_t file)
{
    static const struct {
        const char *name, *type;
        int columns;
        bool whole;
    } parts[] = {{"P", "vec3f", 3, false},
                 {"v", "vec3f", 3, false},
                 {"id", "int64", 1, true},
                 {"a", "float", 1, false},
                 {"C", "mat3f", 9, false},
                 {"P/inner", "float", 1, false},
                 {"a_name_that_is_longer_than_the_room_that_names_of_attributes_have_in_points", "float", 1, false}};
    hsize_t rows = 3;
    hid_t group = H5Gcreate2(file, choose(c, 16) == 1 ? "other" : "points", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    unsigned count = 2 + choose(c, 6);
    put_int(c, group, "count", (int64_t)rows);
    put_int(c, group, "attributes", count);
    for (unsigned i = 0; i < count; i++) {
        unsigned which = (i + choose(c, 7)) % 7;
        hid_t set = put_set(c, group, parts[which].name, parts[which].whole ? H5T_STD_I64LE : H5T_IEEE_F32LE,
                            parts[which].columns, choose(c, 8) == 1 ? 1 : rows);
        if (set < 0) continue;
        put_int(c, set, "order", i);
        put_text(c, set, "type", parts[choose(c, 8) == 1 ? choose(c, 7) : which].type);
        put_int(c, set, "uniform", 0);
        put_int(c, set, "transient", 0);
        H5Dclose(set);
    }
    H5Gclose(group);
}

static void make_file(chooser *c, const char *path)
{
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    uint64_t hash = 7;
    require(file >= 0);
    put_int(c, file, "format", 1);
    put_text(c, file, "rheo_version", "0.1.0");
    put(c, file, "scene_hash", H5T_STD_U64LE, &hash, sizeof hash);
    put_points(c, file);
    hid_t state = H5Gcreate2(file, "state", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t blob = put_set(c, state, "blob", H5T_STD_U8LE, 1, 16);
    if (blob >= 0) H5Dclose(blob);
    H5Gclose(state);
    put_int(c, file, "frame", 1);
    put_int(c, file, "complete", 1);
    H5Fclose(file);
    require(rh_seal_write(path, NULL) == RH_OK);
}

// True when all of it was there.
static bool read_file(const char *path)
{
    rh_checkpoint_reader *reader;
    uint64_t hash;
    int64_t frame;
    double time;
    void *blob = NULL;
    size_t bytes = 0;
    rh_status status = {0};
    rh_points points;
    rh_points_init(&points);
    if (rh_checkpoint_open(path, &reader, &hash, &status) != RH_OK) {
        require(strncmp(status.message, path, strlen(path)) == 0);
        return false;
    }
    bool all = rh_checkpoint_get_points(reader, &points, &status) == RH_OK;
    require(all || status.message[0]);
    if (all) require(rh_points_is_valid(&points));
    if (all) rh_points_hash(&points);  // touches every byte
    rh_points_free(&points);
    all = rh_checkpoint_get_int(reader, "frame", &frame, NULL) == RH_OK && all;
    rh_checkpoint_get_float(reader, "frame", &time, NULL);
    if (rh_checkpoint_get_blob(reader, "blob", &blob, &bytes, NULL) != RH_OK) all = false;
    for (size_t i = 0; i < bytes && blob; i++) require(((const char *)blob)[i] == 0);
    rh_free(blob);
    rh_checkpoint_close(reader);
    return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    chooser c = {data, bytes, 0};
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    snprintf(path, sizeof path, "/tmp/fuzz_checkpoint_parts.%ld", (long)getpid());
    make_file(&c, path);
    bool read = read_file(path);
    require(read || bytes > 0);
    unlink(path);
    require(rh_memory_bytes() == 0);
    return 0;
}
