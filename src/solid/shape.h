// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Shapes: the geometry of obstacles, containers, liquid bodies, emitters and sinks. A shape answers one question: the
// signed distance of a point (metres, negative inside). Analytic shapes are exact or a lower bound of the magnitude
// (never an over-estimate), so "distance > radius of a tile" proves that the tile is free of the shape.
//
// A shape stands in its own space; rh_motion places it in the world over time. Parameter tables here describe shapes
// and motion for the scene file.
#pragma once
#include <stdbool.h>
#include "base/param.h"
#include "base/vec.h"
#include "solid/mesh.h"

// What the scene says of each kind of shape. All lengths in metres.
typedef struct rh_sphere_params {
    rh_dvec3 center;
    double radius;
} rh_sphere_params;
typedef struct rh_box_params {
    rh_dvec3 min, max;
    double rounding;
} rh_box_params;
typedef struct rh_plane_params {
    rh_dvec3 point, normal;
} rh_plane_params;  // solid half-space opposite to the normal
typedef struct rh_cylinder_params {
    rh_dvec3 from, to;
    double radius;
} rh_cylinder_params;
typedef struct rh_capsule_params {
    rh_dvec3 from, to;
    double radius;
} rh_capsule_params;
typedef struct rh_torus_params {
    rh_dvec3 center, axis;
    double major, minor;
} rh_torus_params;
typedef struct rh_mesh_params {
    char *file;
    rh_dvec3 translate, rotate;
    double scale;
    rh_dvec3 stretch;
    double thickness;  // of a sheet; 0: what the mesh encloses
} rh_mesh_params;

typedef enum rh_sequence_end { RH_SEQUENCE_HOLD, RH_SEQUENCE_LOOP } rh_sequence_end;
typedef struct rh_mesh_sequence_params {
    char *files;           // with # where the number goes
    int64_t first, last;   // numbers of the first and the last file; last 0 = as many as there are
    double fps;            // files a second
    double start;          // s: time of the first file
    int before, after;     // rh_sequence_end
    rh_mesh_params place;  // of each file; without the file's name
} rh_mesh_sequence_params;

typedef enum rh_shape_kind {
    RH_SHAPE_SPHERE,
    RH_SHAPE_BOX,
    RH_SHAPE_PLANE,
    RH_SHAPE_CYLINDER,
    RH_SHAPE_CAPSULE,
    RH_SHAPE_TORUS,
    RH_SHAPE_MESH,
    RH_SHAPE_MESH_SEQUENCE  // in scenes only, and of solids: at one time it is a mesh (solid/mesh_sequence.h)
} rh_shape_kind;            // same order as rh_shape_tables

extern const rh_param_table *const rh_shape_tables[];  // for RH_PARAM_VARIANT, NULL-terminated

typedef struct rh_shape {
    rh_shape_kind kind;
    union {
        rh_sphere_params sphere;
        rh_box_params box;
        rh_plane_params plane;
        rh_cylinder_params cylinder;
        rh_capsule_params capsule;
        rh_torus_params torus;
    } as;
    rh_mesh_sdf *mesh;  // RH_SHAPE_MESH: owned by whoever made the shape
    double volume;      // m^3, of a mesh that is closed; 0 = not known
    double thickness;   // m: of the walls of a mesh, where it was measured; 0 = not known
    double offset;      // m: the surface of a mesh lies that much further out than its samples say
    bool flat;          // two-dimensional run: distances are taken in the x-y plane (z is ignored)
} rh_shape;

// Signed distance in the shape's own space.
double rh_shape_distance(const rh_shape *shape, rh_dvec3 point);
// Outward unit normal (gradient of the distance); some unit vector where the distance is not differentiable.
rh_dvec3 rh_shape_normal(const rh_shape *shape, rh_dvec3 point);
// Bounds in the shape's own space; infinite for a plane, z = 0 only for a flat shape.
rh_dbox rh_shape_bounds(const rh_shape *shape);
// Bound on the distance (m) of points of the shape from `from`: that of the farthest corner of its bounds; unbounded
// sides do not count.
double rh_shape_reach(const rh_shape *shape, rh_dvec3 from);
// By how much the magnitude of the distance may be over-estimated (m): 0 but for meshes, whose distance is sampled.
double rh_shape_slack(const rh_shape *shape);

struct rh_mesh;
// Puts a mesh where its parameters say: stretch and scale, then rotation, then translation.
void rh_mesh_place(struct rh_mesh *mesh, const rh_mesh_params *params);

// --- motion ----------------------------------------------------------------------------------------------------------
// A key: where the shape is at a time. Rotation is a vector of degrees about x, then y, then z (fixed axes), about
// `pivot` of the motion. Between keys: linear, or smooth (Catmull-Rom through the keys, flat ends); before the first
// and after the last key the shape rests.
typedef struct rh_motion_key {
    double time;
    rh_dvec3 translate, rotate;
} rh_motion_key;

typedef enum rh_interpolation { RH_LINEAR, RH_SMOOTH } rh_interpolation;

typedef struct rh_motion {
    rh_list keys;       // of rh_motion_key, times increasing
    int interpolation;  // rh_interpolation
    rh_dvec3 pivot;
} rh_motion;

extern const rh_param_table rh_motion_table;

// Rigid placement: world = rotation * (local - pivot) + pivot + translation.
typedef struct rh_pose {
    rh_mat3 rotation;
    rh_dvec3 translation, pivot;
} rh_pose;

rh_pose rh_motion_pose(const rh_motion *motion, double time);
// Pose and its exact rates in one go: velocity (m/s) of the pivot and angular velocity (rad/s), so that a point x moves
// with linear + angular x (x - pivot - translation). `flat` keeps to the x-y plane: translation along z and turns about
// x and y are left out.
void rh_motion_place(const rh_motion *motion, double time, bool flat, rh_pose *pose, rh_dvec3 *linear,
                     rh_dvec3 *angular);
// The rotation about x, then y, then z (fixed axes).
rh_mat3 rh_rotation(rh_dvec3 degrees);
bool rh_motion_is_still(const rh_motion *motion);  // no keys, or all equal
// Velocity (m/s) at time of the material point that is at world position `point`; exact derivative of the pose.
rh_dvec3 rh_motion_velocity(const rh_motion *motion, double time, rh_dvec3 point);
rh_dvec3 rh_pose_to_local(const rh_pose *pose, rh_dvec3 world);
rh_dvec3 rh_pose_to_world(const rh_pose *pose, rh_dvec3 local);
rh_dvec3 rh_pose_turn(const rh_pose *pose, rh_dvec3 local_direction);  // to world
