// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What a scene measures (docs/probes.md). What a probe writes follows from where it is:
//      point       pressure, velocity
//      line        height of the surface, wet length
//      rectangle   flow through it
//      box         volume, mass, centre, energies of the material inside
//      solid       force and moment of the material on it
//      pose        where a solid is and how it moves
// A probe measures one material: the one that it names, or the first.
#pragma once
#include "base/param.h"
#include "base/status.h"

typedef struct rh_point_probe {
    rh_dvec3 position;  // m
} rh_point_probe;

typedef struct rh_line_probe {
    rh_dvec3 from, to;  // m
} rh_line_probe;

// Corner, and the two sides that meet there. In two dimensions a segment: side_a alone.
typedef struct rh_rectangle_probe {
    rh_dvec3 corner, side_a, side_b;  // m
} rh_rectangle_probe;

typedef struct rh_box_probe {
    rh_dvec3 min, max;  // m
} rh_box_probe;

typedef struct rh_solid_probe {
    char *name;         // of the solid; NULL = all solids
    rh_dvec3 min, max;  // m: only what lies in this box
} rh_solid_probe;

typedef struct rh_pose_probe {
    char *name;  // of the solid
} rh_pose_probe;

typedef enum rh_probe_kind {
    RH_PROBE_POINT,
    RH_PROBE_LINE,
    RH_PROBE_RECTANGLE,
    RH_PROBE_BOX,
    RH_PROBE_SOLID,
    RH_PROBE_POSE
} rh_probe_kind;  // same order as the variants of `where`

typedef struct rh_probe_params {
    char *name;
    char *material;      // name of the material that it measures; NULL = the first
    rh_variant where;    // kind: rh_probe_kind
    int material_index;  // found when the scene was read
} rh_probe_params;

extern const rh_param_table rh_probe_table;  // "probe"

// The name of the solid that the probe is about; NULL = none in particular.
const char *rh_probe_solid_name(const rh_probe_params *probe);

struct rh_scene;
// Names that must be there and differ, solids that must exist. RH_USER with the place of the probe.
rh_code rh_probes_check(const struct rh_scene *scene, rh_status *status);
