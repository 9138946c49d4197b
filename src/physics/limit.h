// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The limit on how full cells may be, as a linear complementarity problem (Gerszewski 2014, eqs. 3.3 to 3.9; see
// docs/sources.md), and the usual two-sided projection in the same form.
//
// A filling is the mass in a cell, or around a face, where 1 is a cell full of liquid in the open. Pressure is solved
// for as q = p dt kick / (rho h^2), which has the unit of a filling; `kick` is how long forces act in the step
// (physics/step.h).
//   w_c = b_c + sum over the faces f of c of link_f (q_c - q_n)      the room left at the end of the step
//   q >= l,  w >= 0,  one of the two an equality in every cell    l = 0, less where pressure may pull (suction)
//   u_f -= inverse_mass_f (q_high - q_low) h / dt
#pragma once
#include "grid/bits.h"
#include "solid/cut_cells.h"
#include "solve/layout.h"
#include "solve/mprgp.h"

// Where the open shares of faces and the density enter the complementarity problem.
typedef enum rh_limit_form {
    RH_LIMIT_SHARES,         // shares in the matrix
    RH_LIMIT_SHARES_RIGHT,   // shares on the right-hand side: known to be unstable
    RH_LIMIT_DENSITY,        // shares and density in the matrix: stable, less lively
    RH_LIMIT_DENSITY_RIGHT,  // density in the matrix, shares on the right-hand side
} rh_limit_form;

typedef struct rh_limit_options {
    bool two_sided;
    rh_limit_form form;
    double air;  // a cell filled less than this share of its room is air
    // Fillings that count as just full, as shares of a cell's room: a cell short of full by no more than the gap takes
    // nothing in, and one overfull by no more than allowed_overfill pushes nothing out. For grains in contact are
    // packed more or less densely.
    double contact_loss_gap;  // of cells in contact, those with pressure in the step before
    double contact_gain_gap;  // of all others
    double allowed_overfill;
} rh_limit_options;

typedef struct rh_limit {
    const rh_tiles *tiles;
    const rh_cut_cells *cut;
    rh_limit_options options;
    const float **link[3];  // per tile: of lower faces, 0..1 (above 1 with density in the matrix)
    rh_faces fill;          // fillings of faces by the particles as they are: masses for momentum
    int32_t *component;     // per tile: the connected part of the material that it belongs to (grid/tile_components.h)
    bool *in_flight;        // per tile: no solid is near to any of that part
    rh_layout layout;
    rh_poisson matrix;
    // a byte per row of lower faces: bits of those between confined cells (rh_limit_find_confined); NULL = not looked
    // for
    uint8_t *confined[3];
    const rh_bits *pushed;  // per tile: bits of cells that walls push (physics/pushed.h); NULL = none
} rh_limit;

// Finds unknowns and operator for the present filling of cells and faces. Two-sided: a cell with a particle is liquid,
// solids are whole cells. `also` (bits of cells, a byte per row; NULL = none) are unknowns even without material.
rh_code rh_limit_prepare(rh_limit *limit, const rh_limit_options *options, const rh_tiles *tiles,
                         const rh_cut_cells *cut, const float *fill_cells, rh_faces fill_faces, const uint8_t *also,
                         rh_arena *arena, rh_status *status);

// b = the room that each cell has left now; below 0 it is overfull. Cells with `pressed` above 0 were in contact; NULL
// = none were.
void rh_limit_room_left(const rh_limit *limit, const float *fill_cells, const float *pressed, float *b);
// The same where walls have moved since `before`: a cell that was just full in the room it had then, loosely or densely
// packed, counts as just full in the room it has now. Without this a floor could sink by all that `contact_loss_gap`
// allows before what lies on it followed.
void rh_limit_room_left_moved(const rh_limit *limit, const rh_cut_cells *before, const float *fill_cells,
                              const float *pressed, float *b);
// out = the fillings with this share of the overfill in them. In cells that walls push (limit->pushed) all overfill is
// left out that was there before the walls moved (`before`), and all that their motion makes is kept.
void rh_limit_relax_overfill(const rh_limit *limit, const rh_cut_cells *before, const float *fill_cells, float share,
                             float *out);
// b += what flows out of each cell in dt (s) through faces of the given fillings.
void rh_limit_outflow(const rh_limit *limit, rh_faces fill_faces, rh_faces velocity, float dt, float *b);
// b becomes `other` in cells where q is 0, in the cell and in all cells beside it; elsewhere it is only brought to
// within `trust` of `other`. Cells that walls push and partly close keep their b.
void rh_limit_blend(const rh_limit *limit, const float *q, const float *other, float trust, float *b);

// Finds the faces inside liquid that is confined: both cells are nearly full, and pressure (`q` of the last step) was
// in one of them, or at walls beside it. Sets limit->confined. What gravity does there is then taken as if faces were
// as full as they are open:
//   rh_limit_flow_shares      what flows through them
//   rh_limit_scale_forces     velocity = before + what forces did to it, by the faces' inverse mass, as pressure does
// The fillings of faces fluctuate by a tenth as particles happen to lie. With those, gravity is no longer a gradient
// that pressure can cancel: denser spots sink, and water at rest boils. With open shares a pressure linear in depth
// cancels gravity at every face, whatever the fillings, and pressure still keeps momentum.
// Water whose faces were slower than `slow` (m/s) before forces acted counts as confined in emptier cells than water
// that flows.
rh_code rh_limit_find_confined(rh_limit *limit, const float *q, const float *fill_cells, rh_faces before, float slow,
                               rh_arena *arena, rh_status *status);
// The fillings by which flow through faces is counted (`fill` in, out). They become the open shares at confined and at
// closed faces, and where liquid leaves the fuller of two cells; elsewhere they go towards the open share by the part
// of the present velocity that was there `before` forces acted. The reason: pressure gives a face momentum by its open
// share, so the flow that it does work on must be counted by that share. Counted by fillings, pressure did more work on
// a free surface that gives way than the cell behind it lost volume for: a collapsing column gained 1 % of its energy,
// and water over a beach crept. (With open shares for all faces, the rim of a resting surface, whose particles fall
// into the cells below, counted as full cells that fall, and pressure lifted the pool by a third of a cell.)
void rh_limit_flow_shares(const rh_limit *limit, const float *fill_cells, rh_faces before, rh_faces velocity,
                          rh_faces fill);
// The same for cells that walls push (limit->pushed): a face that walls close in part counts as filled by its open
// share at least.
void rh_limit_flow_pushed(const rh_limit *limit, rh_faces fill);
// Faces of pushed cells get no faster along their axis than `most` (m/s), or than they were `before`.
void rh_limit_hold_pushed(const rh_limit *limit, rh_faces before, float most, rh_faces velocity);
void rh_limit_scale_forces(const rh_limit *limit, rh_faces before, rh_faces velocity);
// Material in the cell above the topmost one with pressure, which lies on confined liquid, is not accelerated towards
// it: the faces above that cell get back at most `fall` (m/s), what gravity did to them in the step, until they fall no
// faster than the faces below. So do the faces above a cell with pressure that is not full. Only where the liquid is
// slower than `slow` (m/s): faster sheets would swell. Without this the rim of a resting surface, which no pressure
// reaches, fell into the cells below, the density correction lifted it out again, and surfaces once disturbed never
// came to rest: a dam in a tank still moved at 0.09 sqrt(g h) after 40 s. And when only faces above cells without
// pressure were held, a trace of pressure in a top cell let go what lay above it: pools 10.75 cells deep fell by half a
// cell and moved at 0.02 sqrt(g h).
rh_code rh_limit_support(const rh_limit *limit, const float *q, const float *fill_cells, const float fall[3],
                         float slow, rh_faces velocity, rh_arena *arena, rh_status *status);

// Bits of cells, a byte per row. `wet`: the cell holds some material that is not in flight. `full`: it is wet, nearly
// full and has pressure.
void rh_limit_find_full(const rh_limit *limit, const float *q, const float *fill_cells, uint8_t *wet, uint8_t *full);

// field -= scale inverse_mass (difference of q); `most` bounds what is subtracted, and what remains. given[t] (NULL =
// not wanted) becomes the momentum that tiles in flight got: sums of filling times change.
void rh_limit_subtract_gradient(const rh_limit *limit, const float *q, float scale, float most, rh_faces field,
                                rh_dvec3 *given);
// Takes back from parts in flight what they were `given` as a whole. Pressure gives them nothing, but for faces with
// next to no mass, whose velocity is bounded: an impact at 1.4 cells a step took a thousandth of the momentum.
rh_code rh_limit_restore_momentum(const rh_limit *limit, const rh_dvec3 *given, rh_faces velocity, rh_arena *arena,
                                  rh_status *status);
// The fillings of cells after particles are displaced by the gradient of y (the solution of the density correction),
// and those of faces: the particles' own plus the mean change of the two cells.
rh_code rh_limit_fill_after_shift(const rh_limit *limit, const float *y, float *fill_cells, rh_faces after,
                                  rh_arena *arena, rh_status *status);

// Lower bounds of the pressure: minus infinity, so that it may pull, at unknowns at least `depth` cells from air, from
// walls and from cells where q is 0 (not full the step before); 0 at all others.
rh_code rh_limit_suction(const rh_limit *limit, const float *q, int depth, float *lower, rh_arena *arena,
                         rh_status *status);
