// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Walls thinner than cells. The distance to a wall tells too little there: the corners and centres of the cells on both
// sides of it are all in free space. What counts is on which side of the wall a place lies, and two places are on the
// same side when the straight line between them does not cross the wall. Parts of the line that a distance proves to be
// free need not be looked at (J. C. Hart, "Sphere tracing", The Visual Computer 12, 1996), so a wall without any
// thickness is found, too.
//
// Every cell belongs to one side, that of its centre; one whose centre is in the wall belongs to none, and is solid.
// (Given to the nearer side, with the sliver of it that is free there, such cells were wide open and hardly filled, and
// water sank along the wall.) A particle with cell centres around it that lie on the other side is treated by the grid
// as if it stood where all cells that it gives weight to are on its own side: rh_thin_view.
#pragma once
#include <stdint.h>
#include "solid/obstacles.h"

enum { RH_THIN_NEAR = 64 };
// Thin solids near a place, in order.
typedef struct rh_thin_list {
    int items[RH_THIN_NEAR], count;
} rh_thin_list;

// Would a wall as thick as this let something through: is it thinner than a solid of whole cells must be at any angle?
// The diagonal of a cell always has a corner of the grid in it.
bool rh_thin_is(double thickness, double cell, int dimension);
// Least thickness (m) of a shape; 1e30 for a plane, and a mesh that was not measured.
double rh_thin_thickness(const rh_shape *shape);

// The thin solids within `radius` of a place (the first 64 by number).
void rh_thin_near(const rh_obstacles *obstacles, rh_dvec3 point, double radius, rh_thin_list *list);
// A place and its distance from thin solids (m).
typedef struct rh_thin_place {
    rh_dvec3 at;
    double distance;
} rh_thin_place;
// The centre of a cell; a little beside it, so that a wall that lies right on the centres of a row of cells has them
// all on one side, not as rounding has it.
rh_thin_place rh_thin_center(const rh_obstacles *obstacles, const rh_thin_list *list, double h, rh_dvec3 center);
// Does the straight way between two places go through one of the solids? One that begins or ends in a solid does.
bool rh_thin_between(const rh_obstacles *obstacles, const rh_thin_list *list, double h, const rh_thin_place *from,
                     const rh_thin_place *to);
// The place at which the grid treats something that is at x: moved, axis by axis, onto centres of cells, until all
// cells that it has a linear weight in lie on its own side. False when it need not be moved.
bool rh_thin_view(const rh_obstacles *obstacles, const rh_thin_list *list, int dimension, double h, rh_dvec3 x,
                  rh_dvec3 *seen);
// The same, with the centres of the cells around given: bit a of their number is 1 for the upper ones along
// axis a.
bool rh_thin_view_of(const rh_obstacles *obstacles, const rh_thin_list *list, int dimension, double h,
                     const rh_thin_place *x, const rh_thin_place around[8], rh_dvec3 *seen);
// Nothing farther from thin solids than this (m) is moved by rh_thin_view.
double rh_thin_reach(int dimension, double h);
// Number of the lower of the two centres of cells around a coordinate.
int64_t rh_thin_below(double x, double h);

// A way in a solid's own space, which may end at the solid.
typedef struct rh_thin_way {
    rh_dvec3 from, to;
    double gap;       // m: how near it may come
    rh_dvec3 normal;  // out: of the solid where the way met it first
} rh_thin_way;
// Follows the way on the side where it begins: the part that would go through the wall slides along it. False when
// nothing was in the way; else `to` is where it ends. One that begins in the solid is left alone.
bool rh_thin_walk(const rh_shape *shape, rh_thin_way *way);
