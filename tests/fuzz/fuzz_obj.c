// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// libFuzzer target: any bytes through the reader of OBJ meshes.
//   fuzz_obj -dict=tests/fuzz/obj.dict tests/fuzz/corpus/obj
#include "mesh_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    parse_mesh(rh_obj_parse_mesh, data, bytes);
    return 0;
}
