// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// libFuzzer target: any bytes through the readers of PLY meshes and surfaces.
//   fuzz_ply_mesh -dict=tests/fuzz/ply_mesh.dict tests/fuzz/corpus/ply_mesh
#include "io/ply.h"
#include "mesh_target.h"

// A surface is read by the same reader, with normals and velocities; it may be empty, and need not have a triangle with
// an area.
static void read_surface(const uint8_t *data, size_t bytes)
{
    char *copy = copy_input(data, bytes);
    rh_ply_surface surface;
    rh_code code = rh_ply_parse_surface("fuzz", copy, bytes, &surface, NULL);
    free(copy);
    float sum = 0;
    for (int64_t i = 0; i < surface.mesh.vertex_count; i++) {
        if (surface.normal) sum += surface.normal[i].z;
        if (surface.velocity) sum += surface.velocity[i].z;
    }
    require(code == RH_OK || (code == RH_USER && surface.mesh.vertex_count == 0 && sum == 0));
    for (int64_t t = 0; t < surface.mesh.triangle_count; t++)
        for (int k = 0; k < 3; k++) require(surface.mesh.triangles[t][k] < surface.mesh.vertex_count);
    rh_ply_surface_free(&surface);
    require(rh_memory_bytes() == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    read_surface(data, bytes);
    parse_mesh(rh_ply_parse_mesh, data, bytes);
    return 0;
}
