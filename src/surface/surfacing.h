// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// From particles to a narrow band. Every frame stands alone: the result depends on the points and the parameters only,
// to the bit, for any number of threads. docs/theory/surface.md has the methods.
//
//   rh_points (of any origin) -> rh_surfacing_build -> rh_band -> io/surface_grid.h: filters, mesh, file
#pragma once
#include "base/param.h"
#include "base/status.h"
#include "points/points.h"
#include "surface/band.h"

// Order of the names in the table.
typedef enum rh_surfacing_mode {
    RH_SURFACING_ELLIPSOID,
    RH_SURFACING_SPHERE,
    RH_SURFACING_AVERAGED,
    RH_SURFACING_SOLENTHALER,
    RH_SURFACING_DENSITY,
    RH_SURFACING_BLOCKS
} rh_surfacing_mode;
typedef enum rh_surfacing_kernel {
    RH_KERNEL_BOUNDED,
    RH_KERNEL_FIRST_ORDER,
    RH_KERNEL_LITERAL,
    RH_KERNEL_EXACT
} rh_surfacing_kernel;
typedef enum rh_surfacing_search { RH_SEARCH_OWN, RH_SEARCH_LARGEST } rh_surfacing_search;
typedef enum rh_filter_kind {
    RH_FILTER_MEAN,
    RH_FILTER_GAUSSIAN,
    RH_FILTER_MEDIAN,
    RH_FILTER_CURVATURE,
    RH_FILTER_LAPLACIAN,
    RH_FILTER_FILLET,
    RH_FILTER_DILATE,
    RH_FILTER_ERODE,
    RH_FILTER_OPEN,
    RH_FILTER_CLOSE,
    RH_FILTER_FILL,
    RH_FILTER_RENORMALISE,
} rh_filter_kind;

typedef struct rh_filter_params {
    int kind;  // rh_filter_kind
    int64_t iterations;
    int64_t width;              // voxels: half width of mean, gaussian and median
    double distance;            // m: of dilate, erode, open, close
    char *mask;                 // attribute that says how much of the filter is applied; NULL = all of it
    double mask_min, mask_max;  // values of the mask for none and for all of it
} rh_filter_params;

typedef struct rh_surfacing_params {
    int mode;       // rh_surfacing_mode
    double voxel;   // m; 0 = from the particles' radius
    double radius;  // m, for all particles; 0 = their own attribute
    double radius_scale;
    int64_t half_band;  // voxels
    char *attributes;   // names to carry to the surface besides velocity, separated by blanks; NULL = none
    char *expression;   // a program that runs on the points first (docs/expressions.md); NULL = none. Not used
                        // here: world/surfacing.c runs it
    // Point group or integer attribute: only points in it, or where it is not 0, get ellipsoids; NULL = all.
    char *group;
    bool skip_deep;  // points far inside are not looked at
    // ellipsoid
    double search_radius;  // particle radii
    int search;            // rh_surfacing_search: whose radius, when they differ
    double anisotropy;     // least ratio of the variances, in (0, 1]
    int64_t droplet_neighbours;
    double droplet_scale;  // radius of a droplet, particle radii
    double droplet_blend;  // width of the passage from droplet to ellipsoid, in droplet_neighbours; 0 = a hard switch
    double smoothing;      // of centres, 0..1
    bool recentre;         // take the inward pull of a free surface out of the smoothing
    double global_blend;   // 0 = local normalisation, 1 = global
    double stretch;        // k_s for all particles (1/m^2); 0 = computed
    bool literal;          // normalise with variances that are not clamped, as printed in the source
    int64_t max_per_cell;  // points looked at per search cell (about half a search radius wide); 0 = all
    int kernel;            // rh_surfacing_kernel
    double close;          // particle radii: gaps narrower than twice this are closed
    // averaged, solenthaler, density
    double kernel_radius;  // particle radii
    double low, high;      // thresholds of solenthaler
    double isovalue;       // of density
    bool diagnostics;      // keep what was found of every particle as attributes of the points
    // what follows the band
    rh_list filters;     // of rh_filter_params
    bool mesh;           // write a mesh beside the level set
    int mesh_format;     // 0 ply, 1 obj, 2 vtp
    double adaptivity;   // of the mesh, 0..1
    bool vdb;            // write the level set
    bool while_running;  // a run makes the surface of each frame it writes
} rh_surfacing_params;

extern const rh_param_table rh_surfacing_table;  // "surface"

enum { RH_SURFACING_STAGES = 8, RH_SURFACING_HISTOGRAM = 16 };

// What happened, for people and for the log. Times are wall seconds.
typedef struct rh_surfacing_report {
    int64_t points;                      // used
    int64_t bad_positions, bad_radii;    // left out: not finite (or absurdly far away); not positive or not finite
    int64_t deep, droplets, ellipsoids;  // skipped inside, spheres for lack of neighbours, the rest
    double radius;                       // m, mean
    double voxel;                        // m
    double k_min, k_mean, k_max;         // k_s of the ellipsoids, 1/m^2
    double k_global;
    int64_t neighbours[RH_SURFACING_HISTOGRAM];  // how many have 2^i .. 2^(i+1)-1 neighbours, themselves included
    int64_t leaves, active, bytes;               // of the band
    const char *stage_names[RH_SURFACING_STAGES];
    double stage_seconds[RH_SURFACING_STAGES];
    int stage_count;
} rh_surfacing_report;

// Makes the band. The points are put into another order, points that cannot be used are removed, and with `diagnostics`
// they get the attributes k_s, neighbours, stretch, rotation, centre and ellipsoid. Channel "vel" is made when there is
// an attribute v, "rest" when there is one of that name (both vec3f); one channel for each name in params->attributes.
// No points at all give an empty band. RH_USER: no radius, an attribute that is missing or of a type that cannot be
// carried. `report` may be NULL.
rh_code rh_surfacing_build(const rh_surfacing_params *params, rh_points *points, rh_band *band,
                           rh_surfacing_report *report, rh_status *status);
