// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// libFuzzer target: any bytes through the three mesh readers. What a reader accepts must be a sound mesh that can be
// inspected and, when small, sampled; what it refuses must come with a message; nothing may stay allocated.
//   fuzz_mesh -dict=tests/fuzz/mesh.dict tests/fuzz/corpus/mesh
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "io/mesh_build.h"
#include "io/ply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool condition)
{
    if (!condition) abort();
}

static void use(const rh_mesh *mesh)
{
    for (int64_t t = 0; t < mesh->triangle_count; t++)
        for (int k = 0; k < 3; k++) require(mesh->triangles[t][k] < mesh->vertex_count);
    rh_mesh_report report;
    require(rh_mesh_inspect(mesh, &report, NULL) == RH_OK);
    if (mesh->triangle_count > 64) return;
    rh_dbox box = rh_mesh_bounds(mesh);
    rh_dvec3 extent = rh_d3_sub(box.max, box.min);
    rh_mesh_sdf *sdf = NULL;
    if (rh_mesh_sdf_create(mesh, fmax(extent.x, fmax(extent.y, extent.z)) / 4, &sdf, NULL) == RH_OK)
        require(!isnan(rh_mesh_sdf_distance(sdf, rh_d3_scale(rh_d3_add(box.min, box.max), 0.5))));
    rh_mesh_sdf_free(sdf);
}

// A surface is read by the same reader, with normals and velocities; it may be empty, and need not have a triangle with an area.
static void read_surface(const uint8_t *data, size_t bytes)
{
    char *copy = malloc(bytes + 1);
    require(copy != NULL);
    if (bytes > 0) memcpy(copy, data, bytes);
    copy[bytes] = 0;
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
    static rh_mesh_parser *const parsers[] = {rh_obj_parse_mesh, rh_stl_parse_mesh, rh_ply_parse_mesh};
    for (int i = 0; i < 3; i++) {
        char *copy = malloc(bytes + 1);  // of the exact size, so that reading past the end is seen
        require(copy != NULL);
        if (bytes > 0) memcpy(copy, data, bytes);
        copy[bytes] = 0;
        rh_mesh mesh;
        rh_status status = {0};
        rh_code code = parsers[i]("fuzz", copy, bytes, &mesh, &status);
        free(copy);
        if (code == RH_OK)
            use(&mesh);
        else
            require(code == RH_USER && strstr(status.message, "fuzz") == status.message && mesh.vertices == NULL);
        rh_mesh_free(&mesh);
        require(rh_memory_bytes() == 0);
    }
    return 0;
}
