// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A narrow band in the hands of OpenVDB: its filters, its mesher, its files. C++ behind a C border as in io/vdb.h.
#pragma once
#include "base/status.h"
#include "io/frame.h"
#include "surface/surfacing.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rh_surface_grid rh_surface_grid;  // a level set named "surface" and a grid for each channel

// Takes over the contents of the band (copied; the band stays the caller's). An empty band gives an empty grid.
rh_code rh_surface_grid_create(const rh_band *band, rh_surface_grid **out, rh_status *status);
void rh_surface_grid_free(rh_surface_grid *grid);

// Applies the filters in order (K. Museth, ACM TOG 32(3), 2013, and Zhu 2005, chapter 4) and brings the channels to the
// topology of the result: voxels that were not there take the value of their nearest neighbour. Smoothing filters know
// a mask (0 where a channel's value is no number). RH_USER when a mask is no float channel: what came before that
// filter in the list has been applied.
rh_code rh_surface_grid_filter(rh_surface_grid *grid, const rh_filter_params *filters, int count, rh_status *status);

// One file with the level set and the channels (blosc, sealed); vector channels are marked as velocities for those who
// look for it.
rh_code rh_surface_grid_write(const char *path, const rh_surface_grid *grid, const rh_frame_info *info,
                              rh_status *status);
// A level set of any origin with the other grids of its file that share its transform (float, vec3, int32, int64). The
// level set is the grid named "surface", else the first float grid of class level set; channels come in the order of
// their names. Coordinates are those of the file, as with points: `info` (may be NULL) says whether z is up there, and
// writing with that info again would turn it twice.
rh_code rh_surface_grid_read(const char *path, rh_surface_grid **out, rh_frame_info *info, rh_status *status);

int64_t rh_surface_grid_active(const rh_surface_grid *grid);  // voxels of the level set
double rh_surface_grid_volume(const rh_surface_grid *grid);   // m^3 inside

// A closed surface, outward normals, counter-clockwise from outside. Owns its arrays.
typedef struct rh_surface_mesh {
    int64_t vertex_count, triangle_count, quad_count;
    rh_vec3 *position;  // m
    rh_vec3 *normal;    // unit, from the gradient of the level set
    uint32_t (*triangle)[3];
    uint32_t (*quad)[4];
    rh_band_channel channels[RH_BAND_CHANNELS];  // data is [vertex_count] here
    int channel_count;
} rh_surface_mesh;

// Adaptivity 0 (all polygons of one size) to 1. Channels: numbers are interpolated between active voxels, integers are
// those of the nearest.
rh_code rh_surface_grid_mesh(const rh_surface_grid *grid, double adaptivity, rh_surface_mesh *out, rh_status *status);
// The same with another limit on the number of vertices than 2^32 - 1; RH_USER beyond it.
rh_code rh_surface_grid_mesh_within(const rh_surface_grid *grid, double adaptivity, int64_t most, rh_surface_mesh *out,
                                    rh_status *status);
void rh_surface_mesh_free(rh_surface_mesh *mesh);

#ifdef __cplusplus
}
#endif
