// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// libFuzzer target: any bytes through the reader of STL meshes.
//   fuzz_stl -dict=tests/fuzz/stl.dict tests/fuzz/corpus/stl
#include "mesh_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    parse_mesh(rh_stl_parse_mesh, data, bytes);
    return 0;
}
