// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// All solids of a run as one: distance, normal, velocity and kind of wall at a point. Distance is positive in free
// space. rh_obstacles_at computes the solids at a time, into a copy of its own which all threads may read.
#pragma once
#include <stdbool.h>
#include "base/status.h"
#include "solid/ball_tree.h"
#include "solid/features.h"
#include "solid/mass.h"
#include "solid/mesh_sequence.h"
#include "solid/shape.h"

typedef enum rh_wall {
    RH_WALL_SLIP,      // liquid slides along, never leaves by itself
    RH_WALL_NO_SLIP,   // liquid takes the wall's velocity
    RH_WALL_SEPARATE,  // slides along and may leave freely: the wall never pulls
} rh_wall;
extern const char *const rh_wall_names[];  // NULL-terminated, in the order of rh_wall

// What determines the pose of a solid.
typedef enum rh_solid_kind {
    RH_SOLID_FIXED,     // never moves
    RH_SOLID_KEYED,     // as the keys of its motion say
    RH_SOLID_SEQUENCE,  // a sequence of meshes; keys may move it, too
    RH_SOLID_DYNAMIC,   // pose and velocity are state (dynamics.h): rh_obstacles_at leaves them as they are
} rh_solid_kind;

// What a solid received in a step. (In two dimensions per metre of depth.)
typedef struct rh_impulse {
    rh_dvec3 linear;   // kg m/s
    rh_dvec3 angular;  // kg m^2/s, about the origin of the world
} rh_impulse;
rh_dvec3 rh_impulse_about(const rh_impulse *impulse, rh_dvec3 point);  // the angular part, about a point

// How a dynamic solid is to move.
typedef struct rh_dynamic_rules {
    double restitution;  // share of the speed of an impact that it leaves with
    unsigned locks;      // bits: it does not move along x, y, z, nor turn about x, y, z of the world
    double from, until;  // s: follows its keys before and after
    double return_time;  // s: in which it goes back to them
} rh_dynamic_rules;

// A solid, of any kind.
typedef struct rh_obstacle {
    rh_solid_kind kind;
    rh_shape shape;
    bool inside_out;  // a container: free space is inside the shape
    rh_wall wall;
    double friction;     // Coulomb's coefficient of the wall, for sand and other solids; not used by liquids
    double roughness;    // m: height of grains of sand that roughen it so much, for liquids; 0 = smooth
    double manning;      // s/m^(1/3): Manning's n, instead of it; 0 = none
    double slip_length;  // m: of a wall without slip, for liquids with viscosity: where the velocity along it would be
                         // the wall's, so far beyond its surface (Navier)
    bool thin;           // has walls thinner than cells: thin.h
    double thickness;    // m: of its thinnest walls, when thin
    rh_motion motion;    // its key list is borrowed
    // At the time given to rh_obstacles_at.
    rh_pose pose;
    rh_dvec3 linear, angular;  // rigid velocity: v(x) = linear + angular x (x - origin); m/s, rad/s
    rh_dvec3 origin;
    bool rests;    // never moves
    rh_ball own;   // around its shape, in its own space; no end: a container, a plane, or not known
    rh_ball ball;  // the same where it is
    // For the code that moves it. Zeros where nothing needs them.
    rh_mass mass;                 // in its own space: solid/mass.h
    rh_impulse received;          // from the material whose solids these are, in its last step: world/wall_impulses.h
    const rh_features *features;  // borrowed; NULL: contacts are not looked for
    int group;                    // solids of one group do not touch each other; 0 = of none
    rh_dynamic_rules rules;       // of a dynamic one
    // Of a solid that follows a sequence of meshes; then the shape is the mesh of that time.
    rh_mesh_sequence *sequence;  // borrowed; NULL = rigid
    rh_mesh_snapshot *snapshot;  // held
    rh_vec3 *velocities;         // owned: m/s of its vertices, in its own space
    double span;                 // s: length of the step; in this time the velocities lead to the vertices at its end
    int64_t ticks[2];            // of the sequence, at both ends of `span`
} rh_obstacle;

typedef struct rh_obstacles {
    rh_obstacle *items;  // owned
    int count;
    bool any_separating, any_moving, any_thin, any_dynamic;  // set by rh_obstacles_at
    // Where there are many: the balls around them, side by side, and their tree. Owned; NULL = not taken.
    rh_ball *balls;
    rh_ball_tree tree;
} rh_obstacles;

// Allocates `out` for the result of rh_obstacles_at of `solids`.
rh_code rh_obstacles_create(const rh_obstacles *solids, rh_obstacles *out, rh_status *status);
void rh_obstacles_free(rh_obstacles *obstacles);  // not meshes and sequences: world owns those
// The solids at `time`: poses then; velocities as at the middle of a step of `dt` that starts then, so that a wall
// moves through the step as far as its velocity says (dt = 0: velocities at `time`). `out` has room for as many, or is
// `solids` itself. Only where solids follow sequences of meshes can it fail.
rh_code rh_obstacles_at(const rh_obstacles *solids, double time, double dt, rh_obstacles *out, rh_status *status);
// For whoever changes a pose in `items`: what is known of where the solids are follows.
void rh_obstacles_moved(rh_obstacles *obstacles);
// Upper bound of the speed (m/s) of any point of a moving solid; solids without end count at their pivot.
double rh_obstacles_max_speed(const rh_obstacles *obstacles);

// Signed distance (m) to the nearest solid, positive in free space; +1e30 when there is none. `which` (may be NULL)
// gets its index or -1.
double rh_obstacles_distance(const rh_obstacles *obstacles, rh_dvec3 point, int *which);
// The same of one solid.
double rh_obstacle_distance(const rh_obstacle *obstacle, rh_dvec3 point);
// Whether solid `which` is not farther than `radius` from a point. Quick where it is far.
bool rh_obstacle_within(const rh_obstacles *obstacles, int which, rh_dvec3 point, double radius);
// Unit normal of solid `which` pointing into free space.
rh_dvec3 rh_obstacles_normal(const rh_obstacles *obstacles, int which, rh_dvec3 point);
// Velocity (m/s) of the wall of solid `which` next to a point.
rh_dvec3 rh_obstacles_velocity(const rh_obstacles *obstacles, int which, rh_dvec3 point);
// Velocity (m/s) next to a point by the change of form; both in the solid's own space. 0 for rigid solids.
rh_dvec3 rh_obstacle_deforms(const rh_obstacle *obstacle, rh_dvec3 local);
// Only the solids that come within `radius` of `point` (for a tile): indices into `out` (max of them, the nearest when
// there are more), returns how many are listed.
// A tile with none is free; a tile deep inside one solid is listed with it.
int rh_obstacles_near(const rh_obstacles *obstacles, rh_dvec3 point, double radius, int *out, int max);
// As rh_obstacles_distance, among a list from rh_obstacles_near.
double rh_obstacles_distance_of(const rh_obstacles *obstacles, const int *list, int count, rh_dvec3 point, int *which);
