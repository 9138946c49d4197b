// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the fuzz targets of the mesh readers share. What a reader accepts must be a sound mesh that can be inspected
// and, when small, sampled; what it refuses must come with a message; nothing may stay allocated.
#pragma once
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "io/mesh_build.h"
#include "target.h"

static inline void use(const rh_mesh *mesh)
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

static inline void parse_mesh(rh_mesh_parser *parse, const uint8_t *data, size_t bytes)
{
    char *copy = copy_input(data, bytes);
    rh_mesh mesh;
    rh_status status = {0};
    rh_code code = parse("fuzz", copy, bytes, &mesh, &status);
    free(copy);
    if (code == RH_OK) use(&mesh);
    else require(code == RH_USER && strstr(status.message, "fuzz") == status.message && mesh.vertices == NULL);
    rh_mesh_free(&mesh);
    require(rh_memory_bytes() == 0);
}
