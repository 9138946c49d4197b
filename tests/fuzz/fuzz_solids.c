// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// libFuzzer target: any bytes as a run's solids.csv. It is refused, or every pose read is one that pictures can be made
// of: finite, and a turn.
//   fuzz_solids -dict=tests/fuzz/solids.dict tests/fuzz/corpus/solids
#include <math.h>
#include "base/memory.h"
#include "target.h"
#include "world/solid_file.h"

static bool is_finite(rh_dvec3 v) { return isfinite(v.x) && isfinite(v.y) && isfinite(v.z); }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *copy = copy_input(data, bytes);
    rh_solid_frame *items;
    int64_t count;
    rh_status status = {0};
    rh_code code = rh_solid_file_parse(copy, bytes, "solids.csv", &items, &count, &status);
    free(copy);
    require(code == RH_OK || (code == RH_USER && !items && count == 0 && status.message[0]));
    for (int64_t i = 0; i < count; i++) {
        const rh_solid_frame *f = &items[i];
        require(f->solid >= 0 && isfinite(f->time));
        require(is_finite(f->origin) && is_finite(f->center) && is_finite(f->linear) && is_finite(f->angular));
        double turn2 = 0;
        for (int k = 0; k < 4; k++) turn2 += f->turn[k] * f->turn[k];
        require(fabs(turn2 - 1) < 1e-3);
        rh_pose pose = rh_solid_frame_pose(f);
        require(is_finite(rh_pose_to_world(&pose, rh_d3(1, 1, 1))));
    }
    rh_free(items);
    require(rh_memory_bytes() == 0);
    return 0;
}
