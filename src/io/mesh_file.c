// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Picks the mesh reader by the ending of the file's name, in upper or lower case.
#include "io/mesh_file.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include "io/ply.h"

static const char *ending_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    return dot ? dot : "";
}

static rh_code (*reader_for(const char *ending))(const char *, rh_mesh *, rh_status *)
{
    if (strcasecmp(ending, ".obj") == 0) return rh_obj_read_mesh;
    if (strcasecmp(ending, ".ply") == 0) return rh_ply_read_mesh;
    return strcasecmp(ending, ".stl") == 0 ? rh_stl_read_mesh : NULL;
}

rh_code rh_mesh_read(const char *path, rh_mesh *mesh, rh_status *status)
{
    char real[PATH_MAX];
    rh_status why = {0};
    *mesh = (rh_mesh){0};
    const char *ending = ending_of(path);
    rh_code (*read)(const char *, rh_mesh *, rh_status *) = reader_for(ending);
    if (!read)
        return rh_fail(status, RH_USER, "%s: found the ending '%s', expected a mesh file: .obj, .ply or .stl", path,
                       ending);
    rh_code code = read(path, mesh, &why);
    if (code == RH_OK) return RH_OK;
    // Messages quote the words they found. A link that leads to a file of another kind may lead to somebody's secret.
    struct stat facts;
    if (code == RH_USER && stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && realpath(path, real) &&
        !reader_for(ending_of(real)))
        return rh_fail(status, RH_USER, "%s: leads to a file that is no mesh", path);
    return rh_fail(status, code, "%s", why.message);
}
