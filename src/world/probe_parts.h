// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The probes from inside, for the files that make them up: probes.c (columns and rows), probe_walls.c (forces),
// probe_places.c (points, gauges, boxes, rectangles).
#pragma once
#include "base/arena.h"
#include "world/probes.h"

typedef struct rh_probe {
    const rh_probe_params *params;
    int first;  // of its columns
    int solid;  // solids: number of the obstacle, -1 = all
} rh_probe;

typedef struct rh_probe_column {
    char title[80];
    bool mean;  // else a sample
} rh_probe_column;

struct rh_probes {
    const rh_scene *scene;
    const rh_obstacles *obstacles;  // between steps
    const rh_obstacles *met;        // as what presses on them now meets them
    int material;                   // number of the one whose probes they are
    int dimension;
    double spacing, density, particle;  // m; kg/m^3; m^3 (m^2) that a particle stands for
    rh_probe *items;
    int count;
    rh_probe_column *columns;
    int column_count;
    bool wants[RH_PROBE_SOLID + 1];  // is there any of this kind
    rh_observer observer;
    rh_arena arena;    // scratch of a measurement
    rh_cut_cache cut;  // solids near gauges
    rh_points near;    // particles near a gauge

    // of the step in progress, by column: means are sum / weight
    double *sum, *weight, *sample;
    rh_vec3 *start, *speed;  // of the particles when the step began, and before they met walls
    int64_t start_count, start_room, speed_count, speed_room;

    double *state;  // all that goes into checkpoints, see probes.c
    double *latest;
    double latest_time;
    double *rows;
    int64_t row_count, row_room;
};

// Means of the step in progress.
void rh_probe_point_pressed(rh_probes *probes, const rh_step_view *view);
void rh_probe_point_flows(rh_probes *probes, const rh_step_view *view);
rh_code rh_probe_walls_pressed(rh_probes *probes, const rh_step_view *view, rh_status *status);
rh_code rh_probe_walls_friction(rh_probes *probes, const rh_step_view *view, rh_status *status);
rh_code rh_probe_walls_held(rh_probes *probes, const rh_step_view *view, rh_status *status);
rh_code rh_probe_walls_hit(rh_probes *probes, const rh_points *points, rh_status *status);
void rh_probe_rectangles(rh_probes *probes, const rh_points *points);
// Samples at the end of a step.
rh_code rh_probe_boxes(rh_probes *probes, const rh_points *points, rh_status *status);
rh_code rh_probe_gauges(rh_probes *probes, const rh_points *points, rh_status *status);
