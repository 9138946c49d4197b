// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Writes surfaces through the library for the client scripts: a ball in a ring, with velocity 1 + x, 2 y - z, 3 z and
// three other channels.
//   make_surface DIR    surface/surface.0001.vdb, .ply, .obj; surface/z_up.0001.vdb, .ply with z up; surface/empty.vdb
// Prints the numbers of vertices, quads and active voxels.
#include <stdio.h>

#include "bands.h"
#include "io/file.h"
#include "io/surface_mesh_file.h"
#include "io/surface_grid.h"

static double ball_in_ring(const void *parameters, double x, double y, double z)
{
    (void)parameters;
    static const band_balls ball = {1, {{0.02, 0.11, 0, 0.3}}};
    static const band_ring ring = {0.8, 0.2};
    return fmin(band_of_balls(&ball, x, y, z), band_of_ring(&ring, x, y - 0.3 * x, z));
}

static rh_code write_named(const char *folder, const char *name, const rh_surface_grid *grid,
                           const rh_surface_mesh *mesh, int z_up, rh_status *status)
{
    char path[RH_PATH_MAX];
    rh_frame_info info = {1, 0, 24, 0.05, 0x0123456789abcdefull, z_up};
    snprintf(path, sizeof path, "%s/%s.vdb", folder, name);
    RH_TRY(rh_surface_grid_write(path, grid, &info, status));
    if (!mesh) return RH_OK;
    snprintf(path, sizeof path, "%s/%s.ply", folder, name);
    RH_TRY(rh_surface_mesh_write_ply(path, mesh, &info, status));
    snprintf(path, sizeof path, "%s/%s.obj", folder, name);
    RH_TRY(rh_surface_mesh_write_obj(path, mesh, &info, status));
    snprintf(path, sizeof path, "%s/%s.vtp", folder, name);
    return rh_surface_mesh_write_vtp(path, mesh, &info, status);
}

static rh_code write_surface(const char *folder, rh_status *status)
{
    rh_band band = band_make(ball_in_ring, NULL, 1.2, 0.04, 3, true);
    rh_surface_grid *grid;
    rh_surface_mesh mesh;
    RH_TRY(rh_surface_grid_create(&band, &grid, status));
    rh_band_free(&band);
    RH_TRY(rh_surface_grid_mesh(grid, 0, &mesh, status));
    printf("%lld %lld %lld\n", (long long)mesh.vertex_count, (long long)mesh.quad_count,
           (long long)rh_surface_grid_active(grid));
    RH_TRY(write_named(folder, "surface.0001", grid, &mesh, 0, status));
    RH_TRY(write_named(folder, "z_up.0001", grid, &mesh, 1, status));
    rh_surface_mesh_free(&mesh);
    rh_surface_grid_free(grid);
    return RH_OK;
}

static rh_code write_empty(const char *folder, rh_status *status)
{
    rh_band none = {.voxel = 0.04, .background = 0.12f};
    rh_surface_grid *grid;
    RH_TRY(rh_surface_grid_create(&none, &grid, status));
    RH_TRY(write_named(folder, "empty", grid, NULL, 0, status));
    rh_surface_grid_free(grid);
    return RH_OK;
}

int main(int count, char **words)
{
    rh_status status = {0};
    char folder[RH_PATH_MAX];
    if (count != 2) return fprintf(stderr, "usage: make_surface DIR\n"), 2;
    snprintf(folder, sizeof folder, "%s/surface", words[1]);
    rh_code code = rh_folder_make(folder, &status);
    if (code == RH_OK) code = write_surface(folder, &status);
    if (code == RH_OK) code = write_empty(folder, &status);
    if (code != RH_OK) fprintf(stderr, "make_surface: %s\n", status.message);
    return code == RH_OK && rh_memory_bytes() == 0 ? 0 : 1;
}
