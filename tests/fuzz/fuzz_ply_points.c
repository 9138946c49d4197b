// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// libFuzzer target: any bytes through the reader of PLY points. What it accepts must be a sound set of points; what it
// refuses must come with a message; nothing may stay allocated.
//   fuzz_ply_points -dict=tests/fuzz/ply_points.dict tests/fuzz/corpus/ply_points
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "io/ply_parts.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *copy = copy_input(data, bytes);
    rh_points points;
    rh_points_init(&points);
    rh_frame_info info;
    rh_status status = {0};
    rh_code code = rh_ply_parse_points("fuzz", copy, bytes, &points, &info, &status);
    free(copy);
    if (code == RH_OK) {
        require(rh_points_is_valid(&points) && rh_points_find(&points, "P") == &points.attributes[0]);
        rh_points_hash(&points);  // touches every byte
    } else {
        require(code == RH_USER && strstr(status.message, "fuzz") == status.message && points.attribute_count == 0);
    }
    rh_points_free(&points);
    require(rh_memory_bytes() == 0);
    return 0;
}
