// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The limit on how full cells may be, as a linear complementarity problem (Gerszewski 2014, eqs. 3.3 to 3.9; see
// docs/sources.md), and the usual two-sided projection in the same form.
//
// Fillings are relative to the liquid's density: 1 is a full cell in the open. Pressure is carried as q = p dt kick /
// (rho h^2), a filling too.
//   w_c = b_c + sum over the faces f of c of link_f (q_c - q_n)      the room left at the end of the step
//   q >= l,  w >= 0,  one of them tight in every cell
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
    double air;               // a cell filled less than this share of its room is air
    double contact_loss_gap;  // cells in contact (with pressure before) filled by so much less than their room are full
                              // too, as far as they let anything in,
    double contact_gain_gap;  // others by so much less,
    double allowed_overfill;  // and by so much more, as far as anything is pushed out of them: grains in contact are
                              // packed more or less densely
} rh_limit_options;

typedef struct rh_limit {
    const rh_tiles *tiles;
    const rh_cut_cells *cut;
    rh_limit_options options;
    const float **link[3];  // per tile: of lower faces, 0..1 (above 1 with density in the matrix)
    rh_faces fill;          // of faces, as the particles are: momentum is theirs
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

// b = room left now: how much each cell still holds. Cells with `pressed` above 0 were in contact; NULL = none.
void rh_limit_room_left(const rh_limit *limit, const float *fill_cells, const float *pressed, float *b);
// The same where walls have moved since `before`: what counted as full then, loosely or densely packed, counts so in
// the room it has now. Else a floor could sink by all that `contact_loss_gap` allows before what lies on it would
// follow.
void rh_limit_room_left_moved(const rh_limit *limit, const rh_cut_cells *before, const float *fill_cells,
                              const float *pressed, float *b);
// out = fillings, of what is too much only this share; where walls push nothing of what was too much `before` they
// moved.
void rh_limit_relax_overfill(const rh_limit *limit, const rh_cut_cells *before, const float *fill_cells, float share,
                             float *out);
// b += what flows out in dt through faces of the given fillings.
void rh_limit_outflow(const rh_limit *limit, rh_faces fill_faces, rh_faces velocity, float dt, float *b);
// b becomes `other`, all the way in cells where q is 0 and 0 in all cells beside, and to within `trust` elsewhere.
void rh_limit_blend(const rh_limit *limit, const float *q, const float *other, float trust, float *b);

// Finds the faces inside liquid that is confined: both cells are nearly full, and pressure (`q` of the last step) was
// in one of them, or at walls beside it. Sets limit->confined. What gravity does there is then taken as if faces were
// as full as they are open:
//   rh_limit_flow_shares      what flows through them
//   rh_limit_scale_forces     velocity = before + what forces did to it, by the faces' inverse mass, as pressure does
// The fillings of faces fluctuate by a tenth as particles happen to lie. With those, gravity is no longer a gradient
// that pressure can cancel: denser spots sink, and water at rest boils. With open shares a pressure linear in depth
// cancels gravity at every face, whatever the fillings, and pressure still keeps momentum.
// Water whose faces were slower than `slow` before forces acted counts as confined in emptier cells than water that
// flows.
rh_code rh_limit_find_confined(rh_limit *limit, const float *q, const float *fill_cells, rh_faces before, float slow,
                               rh_arena *arena, rh_status *status);
// What flows through faces (`fill` in, out): by open shares where confined or closed, where liquid leaves the fuller of
// two cells, and elsewhere as far as the velocity was there `before` forces acted. For pressure gives a face momentum
// by its open share, so the flow that it does work on is by that share. With fillings it did more work on a free
// surface that gives way than the cell behind it lost volume for: a collapsing column gained 1 % of its energy, and
// water over a beach crept. (With open shares for all, the rim of a resting surface, which falls into the cells below,
// counts as full cells that do, and pressure lifts the pool by a third of a cell.)
void rh_limit_flow_shares(const rh_limit *limit, const float *fill_cells, rh_faces before, rh_faces velocity,
                          rh_faces fill);
// The same where walls push (limit->pushed): faces that walls close in part let as much through as they are open.
void rh_limit_flow_pushed(const rh_limit *limit, rh_faces fill);
// Faces of pushed cells get no faster along their axis than `most`, or than they were `before`.
void rh_limit_hold_pushed(const rh_limit *limit, rh_faces before, float most, rh_faces velocity);
void rh_limit_scale_forces(const rh_limit *limit, rh_faces before, rh_faces velocity);
// What lies on confined liquid, in the cell above the topmost one with pressure, is not accelerated towards it:
// velocities of faces above that cell get back at most `fall`, what gravity did to them in the step, until they fall no
// faster than those below; where the liquid is slower than `slow`, as faster sheets would swell. Without this the rim
// of a resting surface, which no pressure reaches, fell into the cells below, the density correction lifted it out
// again, and surfaces once disturbed never came to rest: a dam in a tank still moved at 0.09 sqrt(g h) after 40 s.
rh_code rh_limit_support(const rh_limit *limit, const float *q, const float fall[3], float slow, rh_faces velocity,
                         rh_arena *arena, rh_status *status);

// Bits of cells, a byte per row: with some material, not in flight; nearly full, and with pressure.
void rh_limit_find_full(const rh_limit *limit, const float *q, const float *fill_cells, uint8_t *wet, uint8_t *full);

// field -= scale inverse_mass (difference of q); `most` bounds what is subtracted, and what remains. given[t] (NULL =
// not wanted) becomes the momentum that tiles in flight got: sums of filling times change.
void rh_limit_subtract_gradient(const rh_limit *limit, const float *q, float scale, float most, rh_faces field,
                                rh_dvec3 *given);
// Takes back from parts in flight what they were `given` as a whole. Pressure gives them nothing, but for faces with
// next to no mass, whose velocity is bounded: an impact at 1.4 cells a step took a thousandth of the momentum.
rh_code rh_limit_restore_momentum(const rh_limit *limit, const rh_dvec3 *given, rh_faces velocity, rh_arena *arena,
                                  rh_status *status);
// What pushing by y does to the fillings of cells, and through their means to those of faces: after = those of the
// particles + the change.
rh_code rh_limit_fill_after_shift(const rh_limit *limit, const float *y, float *fill_cells, rh_faces after,
                                  rh_arena *arena, rh_status *status);

// Lower bounds for pressure that may pull at unknowns at least `depth` cells from air, from walls and from cells where
// q is 0 (not full the step before).
rh_code rh_limit_suction(const rh_limit *limit, const float *q, int depth, float *lower, rh_arena *arena,
                         rh_status *status);
