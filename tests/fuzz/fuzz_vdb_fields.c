// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Whole .vdb files whose contents are not what a file of fields has: the input's bytes choose grids of other types,
// names, kinds, dimensions, cells, values that are no numbers, and voxels anywhere. Damaged bytes end at the seal, or
// in the process that reads files of others; this is what comes after them. The reader must refuse, or give sound
// fields; nothing may stay allocated. A zero chooses what is right, so the empty input is a file that must be read.
//   fuzz_vdb_fields tests/fuzz/corpus/vdb_fields
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <stdio.h>
#include <unistd.h>

#include "base/memory.h"
#include "chooser.h"
#include "field_file.h"
#include "io/vdb_fields.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { MOST_GRIDS = RH_MAX_FIELDS + 2 };

static float choose_value(chooser *c, float right)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, 0, -0.0f, 3e38f, 1e-42f};
    unsigned k = choose(c, 16);
    return k == 0 || k > 7 ? right : odd[k - 1];
}

static int32_t choose_place(chooser *c)
{
    static const int32_t odd[] = {-1,      8,          INT32_MAX,     INT32_MIN, 1 << 20, -(1 << 20),
                                  1 << 23, -(1 << 23), (1 << 23) - 8, 4095,      1 << 30, INT32_MIN + 7};
    unsigned k = choose(c, 64);
    return k == 0 ? 0 : k <= sizeof odd / sizeof *odd ? odd[k - 1] : (int32_t)k - 32;
}

static field_file_grid choose_grid(chooser *c, int number)
{
    static char names[MOST_GRIDS][16];
    static const char *const odd_names[] = {
        "dye", "", "a b", "../../x", "density_that_has_a_name_longer_than_a_name_may", "P", "sea.dye", "sea.", ".dye"};
    static const char *const kinds[] = {"float", "vec3", "faces", NULL, "", "float "};
    static const double cells[] = {0.1, 0, -1, NAN, INFINITY, 1e-300, 1e300};
    static const int64_t dimensions[] = {3, 2, 0, 1, 4, -1, INT64_MAX};
    snprintf(names[number], sizeof names[number], "field%d", number);
    unsigned name = choose(c, 16);
    field_file_grid g = {.type = (int)choose(c, 3), .name = name && name <= 9 ? odd_names[name - 1] : names[number]};
    g.kind = kinds[choose(c, 6)];
    g.dimension = dimensions[choose(c, 7)];
    g.cell = cells[choose(c, 7)];
    unsigned flags = choose(c, 8);
    g.dimension_is_text = flags & 1, g.z_up = flags & 2, g.tile = flags & 4;
    g.background = choose_value(c, 0);
    g.value = choose_value(c, 1);
    g.leaves = 1 + (int)choose(c, FIELD_FILE_LEAVES);
    for (int i = 0; i < g.leaves; i++)
        for (int a = 0; a < 3; a++) g.at[i][a] = choose_place(c);
    return g;
}

static void look_at(rh_fields *fields)
{
    require(fields->dimension == 2 || fields->dimension == 3);
    require(fields->field_count > 0 && fields->field_count <= RH_MAX_FIELDS && fields->count >= 0);
    rh_fields_hash(fields);  // every value
    for (int i = 0; i < fields->field_count; i++) {
        require(rh_fields_find(fields, fields->items[i].name) == &fields->items[i]);
        for (int a = 0; a < rh_field_components(fields->items[i].kind); a++)
            rh_fields_sample(fields, &fields->items[i], a, (rh_vec3){0.05f, 0.05f, 0.05f});
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static int memory = -1;  // a file without a disk
    static char path[64];
    chooser c = {data, bytes, 0};
    field_file_grid grids[MOST_GRIDS];
    if (memory < 0) {
        memory = memfd_create("fuzz_vdb_fields", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    }
    int count = 1 + (int)choose(&c, MOST_GRIDS);
    for (int i = 0; i < count; i++) grids[i] = choose_grid(&c, i);
    require(memory >= 0 && ftruncate(memory, 0) == 0);
    field_file_write(path, grids, count);
    rh_fields fields;
    rh_frame_info info;
    rh_code code = rh_vdb_read_fields(path, choose(&c, 4) == 1 ? "sea" : NULL, &fields, &info, NULL);
    require(code == RH_OK || bytes > 0);
    if (code == RH_OK) look_at(&fields);
    rh_fields_free(&fields);
    require(rh_memory_bytes() == 0);
    return 0;
}
