// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Picks the mesh reader by the ending of the file's name, in upper or lower case.
#include "io/mesh_file.h"

#include <string.h>
#include <strings.h>
#include "io/ply.h"

rh_code rh_mesh_read(const char *path, rh_mesh *mesh, rh_status *status)
{
    *mesh = (rh_mesh){0};
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    const char *ending = strrchr(file, '.');
    if (!ending) ending = "";
    if (strcasecmp(ending, ".obj") == 0) return rh_obj_read_mesh(path, mesh, status);
    if (strcasecmp(ending, ".ply") == 0) return rh_ply_read_mesh(path, mesh, status);
    if (strcasecmp(ending, ".stl") == 0) return rh_stl_read_mesh(path, mesh, status);
    return rh_fail(status, RH_USER, "%s: found the ending '%s', expected a mesh file: .obj, .ply or .stl", path, ending);
}
