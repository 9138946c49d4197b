// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Dynamic solids in a pressure solve: liquid and solids are moved by one pressure, found for both at once. Strong
// coupling on cut cells: C. Batty, F. Bertails, R. Bridson, "A fast variational framework for accurate solid-fluid
// coupling", ACM TOG 26(3), 2007, with face shares as in Y. Ng, C. Min, F. Gibou, J. Comput. Phys. 228, 2009.
// solid/dynamics.h says what is meant by impulses that a material answers, and that are owed.
//
//   prepare (which face belongs to which solid; what moves with the solids) -> gather (the term for the operator's
//   unknowns), find_added -> solve with `term` -> give (the solids receive the impulse of the pressure found)
//
// Memory is the step's arena.
#pragma once
#include "solid/cut_cells.h"
#include "solid/cut_tile.h"
#include "solid/dynamics.h"
#include "solve/bodies.h"
#include "solve/layout.h"

enum { RH_SOLID_ANSWERS = 8 };  // most solves in a step by which a material answers the impulses of contacts

typedef struct rh_solid_coupling {
    rh_dynamics *dynamics;
    const rh_obstacles *obstacles;  // of the cut cells: at the start of the step, or at its end
    const rh_tiles *tiles;
    rh_cut_cells *cut;
    const float *const *open[3];  // per tile: shares of faces that pressure moves
    double density;               // kg/m^3
    double mass;                  // kg (kg/m): of a cell full of material
    int16_t **owner;     // per tile: [3 cells], number of the dynamic solid that a face belongs to, or -1; NULL = none
    rh_cut_near **near;  // per tile with owners: the solids near it
    rh_term term;
    rh_bodies bodies;                 // the term as a preconditioner takes it
    double *touch, *before, *change;  // [6 solids]: impulses of contacts, velocities before them, scratch
    double *whole;                    // [6 solids]: all impulses of contacts of the step
    double
        *added;  // [36 solids]: mass of the material that must move with each, at least (rh_solid_coupling_find_added)
    double *masses;  // [36 solids]: of all that moves with each, as estimated from how contacts moved it
    bool learnt;     // `masses` is set
} rh_solid_coupling;

// The material on the faces, from which the part that moves with the solids is found.
typedef struct rh_solid_coupling_faces {
    rh_faces velocity, fill;  // m/s after forces; particles around each face
    float full;               // particles of a full cell
} rh_solid_coupling_faces;

// `faces` NULL: nothing moves with the solids but what pressure moves. Else nothing may have used the velocities of
// walls yet: those of the dynamic solids change when material is attached to them (rh_dynamics_attach).
rh_code rh_solid_coupling_prepare(rh_solid_coupling *c, rh_dynamics *dynamics, const rh_obstacles *obstacles,
                                  const rh_tiles *tiles, rh_cut_cells *cut, const float *const *const open[3],
                                  double density, const rh_solid_coupling_faces *faces, rh_arena *arena,
                                  rh_status *status);
// The term for an operator with these unknowns.
rh_code rh_solid_coupling_gather(rh_solid_coupling *c, const rh_layout *layout, rh_arena *arena, rh_status *status);
// Without `faces`: solids with hardly any mass of their own are made steady where the pressure q of the last step held
// them. After gather, before anything is answered.
rh_code rh_solid_coupling_steady(rh_solid_coupling *c, const float *q, rh_arena *arena, rh_status *status);
// Finds the added mass of each solid (added_mass.c). `matrix` is complete.
rh_code rh_solid_coupling_find_added(rh_solid_coupling *c, const rh_layout *layout, const rh_poisson *matrix,
                                     rh_arena *arena, rh_status *status);
// The row that gives the velocity of a solid along the axis of the lower face of a cell, there.
void rh_solid_coupling_row(const rh_solid_coupling *c, int solid, int32_t tile, int cell, int axis,
                           double row[RH_DYNAMICS_PARTS]);
// The middle of that face.
rh_dvec3 rh_solid_coupling_place(const rh_solid_coupling *c, int32_t tile, int cell, int axis);
// Share of the velocity of a closed face that the wall of its solid decides.
double rh_solid_coupling_decided(const rh_solid_coupling *c, int solid, int32_t tile, int cell, int axis);
// impulse[6 solids] = what the pressure q gives the solids, kg m/s (kg m^2/s). `speed` as below.
void rh_solid_coupling_impulse(const rh_solid_coupling *c, const float *q, double speed, double *impulse);
// The solids receive the impulses of the pressure q; the velocities of their walls follow with
// rh_solid_coupling_follow. `speed`: m/s that a difference of 1 in q gives to a face.
void rh_solid_coupling_give(rh_solid_coupling *c, const float *q, double speed);
// The walls take the velocities that the solids have now, and the obstacles at the end of the step arrive.
void rh_solid_coupling_follow(rh_solid_coupling *c);
// The solids receive the impulses that they are owed (rh_dynamics_pay); b as below. Done by rh_solid_coupling_prepare
// with `faces`.
void rh_solid_coupling_pay(rh_solid_coupling *c, double scale, float *b);
// Contacts of the solids with each other and with walls, for the velocities that they have now: the solids receive the
// impulses, and the change of inflow into cells that these cause, times `scale`, is added to b. False: nothing touches,
// b is as it was.
bool rh_solid_coupling_touch(rh_solid_coupling *c, double scale, float *b);
// Contacts once more, after the material has answered (the solve with b was given): impulses grow where they stopped
// too little of the approach, and shrink where too much. How far the solids were really moved tells how much mass there
// is in that direction. False: the impulses have settled, and b need not be answered.
bool rh_solid_coupling_touch_again(rh_solid_coupling *c, double scale, float *b);
// At last, when the material has answered all that it will: what is still missing to the laws of contact, a small part,
// the solids get without an answer. What rests so stays where it is.
void rh_solid_coupling_touch_last(rh_solid_coupling *c);
