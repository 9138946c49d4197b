// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The probes from inside, for the files that make them up: probes.c (columns and rows, and forces), probe_places.c
// (points, gauges, boxes, rectangles).
#pragma once
#include "base/arena.h"
#include "world/probes.h"
#include "world/wall_impulses.h"

typedef struct rh_probe {
    const rh_probe_params *params;
    int first;        // of its columns
    int solid;        // solids: number of the obstacle, -1 = all
    int region;       // solids: number in `walls`
    rh_dvec3 centre;  // solids: m, what moments are taken about, in the step in progress
} rh_probe;

typedef struct rh_probe_column {
    char title[80];
    bool mean;  // else a sample
} rh_probe_column;

struct rh_probes {
    const rh_scene *scene;
    rh_obstacles *obstacles;  // between steps
    rh_wall_impulses walls;   // when there are probes of solids
    int material;             // number of the one whose probes they are
    int dimension;
    double spacing, density, particle;  // m; kg/m^3; m^3 (m^2) that a particle stands for
    double filling;                     // m: radius of a ball of that volume
    rh_probe *items;
    int count;
    rh_probe_column *columns;
    int column_count;
    bool wants[RH_PROBE_POSE + 1];  // is there any of this kind
    rh_observer observer;
    rh_arena arena;    // scratch of a measurement
    rh_cut_cache cut;  // solids near gauges
    rh_points near;    // particles near a gauge

    // of the step in progress, by column: means are sum / weight
    double *sum, *weight, *sample;
    rh_vec3 *start;  // places of the particles when the step began
    int64_t start_count, start_room;

    double *state;  // all that goes into checkpoints, see probes.c
    double *latest;
    double latest_time;
    double *rows;
    int64_t row_count, row_room;
};

// Means of the step in progress.
void rh_probe_point_pressed(rh_probes *probes, const rh_step_view *view);
void rh_probe_point_flows(rh_probes *probes, const rh_step_view *view);
void rh_probe_rectangles(rh_probes *probes, const rh_points *points);
rh_code rh_probe_rectangles_pieces(rh_probes *probes, const rh_step_view *view, rh_status *status);
// Samples at the end of a step.
rh_code rh_probe_boxes(rh_probes *probes, const rh_points *points, rh_status *status);
void rh_probe_poses(rh_probes *probes);
rh_code rh_probe_gauges(rh_probes *probes, const rh_points *points, rh_status *status);
