// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What a scene says of dynamic solids and of the joints between solids (solid/dynamics.h, solid/joints.h). Angles are
// in degrees.
#pragma once
#include <stdbool.h>
#include "base/param.h"
#include "base/vec.h"

struct rh_scene;

// Directions in which a solid does not move, of the world.
typedef struct rh_lock_params {
    bool x, y, z, rx, ry, rz;
} rh_lock_params;

// A solid that moves by itself.
typedef struct rh_dynamic_params {
    double density;             // kg/m^3
    double mass;                // kg (kg/m in two dimensions); 0 = by the density
    rh_dvec3 inertia;           // kg m^2, about the centre of mass along the axes of its own space; 0 = by the shape
    rh_dvec3 velocity;          // m/s, of the centre of mass at the start
    rh_dvec3 angular_velocity;  // rad/s
    double restitution;
    rh_lock_params lock;
    double from, until;  // s: moves by itself in between, and by its keys before and after
    double return_time;  // s
} rh_dynamic_params;
extern const rh_param_table rh_dynamic_table;

typedef struct rh_limit_params {
    double low, high;  // degrees, or m
} rh_limit_params;
typedef struct rh_motor_params {
    double speed;     // degrees/s, or m/s
    double strength;  // N m, or N
} rh_motor_params;

typedef struct rh_hinge_params {
    rh_dvec3 point, axis;
    rh_limit_params *limits;  // NULL = none
    rh_motor_params *motor;   // NULL = none
} rh_hinge_params;
typedef struct rh_slider_params {
    rh_dvec3 axis;
    rh_limit_params *limits;
    rh_motor_params *motor;
} rh_slider_params;
typedef struct rh_ball_params {
    rh_dvec3 point;
} rh_ball_params;
typedef struct rh_fixed_params {
    rh_dvec3 point;
} rh_fixed_params;

typedef struct rh_joint_params {
    char *name;
    char *solid, *to;           // names of solids; to NULL = the world
    rh_variant joint;           // kind: rh_joint_kind
    int solid_index, to_index;  // found when the scene was read; to_index -1 = the world
} rh_joint_params;
extern const rh_param_table rh_joint_table;

// Finds the solids that joints name, and refuses what cannot be dynamic.
rh_code rh_scene_resolve_joints(struct rh_scene *scene, rh_status *status);
