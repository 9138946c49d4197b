// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The particles of a step of elastoplastic matter, with the arrays that its stages hand to each other. Memory is the
// arena's; particles are sorted. All forces are accelerations: stresses are divided by the density of rest.
//
// Particles are linked with neighbours (links.h), and links remember where both stood when they were made. With dX the
// way to a neighbour then, dx the way now, and weights w of dX (1 at distance 0, by distances as of the lattice before
// it was strained, so that stretched matter does not lose its neighbours)
//      K = sum w dX dX^T,   F = (sum w dx dX^T) K^-1,   L = (sum w dv dX^T) K^-1 F^-1
// F is the deformation since the links were made, L the gradient of a velocity v, exact for affine motion. A stress T
// acts on each neighbour with -w T F^-T K^-1 dX and on the particle itself with the opposite: the derivative of its
// energy by its neighbours' places. With T symmetric neither momentum nor angular momentum changes: the torque of all
// of them is the antisymmetric part of T F^-T K^-1 sum w dX dx^T = T. Strains of steps add up to F whatever the way, so
// nothing drifts while links last. With links that are renewed in every step (`reference: step`) F is 1, and this is
// the method of the source; with links that are never renewed (`reference: start`) it is that of a stored shape of
// rest.
//
// No stress sees motion that alternates from one particle to the next, and tension makes it grow: a pair that comes
// closer weighs more. So every particle remembers how far it has come away from where its neighbours would carry it,
//      offset += dt n,      n = sum w (1 - g . dx) dv / sum w,      g = (sum w dx dx^T)^-1 sum w dx
// turned with the matter, and a spring holds it. Its force on neighbours has the weights w (1 - g . dx), of which the
// sum of w (1 - g . dx) dx is zero: so neither it, nor friction of n, changes momentum or angular momentum. Affine
// motion has no n, so they do not act on it.
#pragma once
#include <math.h>
#include "physics/elastoplastic/elastoplastic.h"
#include "physics/sph_pairs.h"

// Moduli of a particle, over the density: m^2/s^2; viscosity m^2/s.
typedef struct rh_ep_moduli {
    float shear, lame;       // mu and lambda
    float yield, hardening;  // mises
    float flow;              // share of the stress beyond yield that goes in this step
    float thickening;
    float strength;  // 1e30: never tears
    float viscosity;
    float bulk;  // of a liquid; 0: it is none
} rh_ep_moduli;

// m/s: of its fastest waves.
static inline float rh_ep_sound(const rh_ep_moduli *m) { return sqrtf(m->lame + 2 * m->shear + m->bulk); }

// Neighbours do not fix a strain; or not where a particle is among them.
enum rh_ep_loose { RH_EP_FIRM = 0, RH_EP_LOOSE = 1, RH_EP_ADRIFT = 2 };

typedef struct rh_ep_matter {
    const rh_ep_params *params;
    const rh_sph_kernel *kernel;
    const rh_sph_lists *lists;  // of all that are near now
    rh_sph_list links;          // of those linked
    bool fresh;                 // links were made in this step: all stand at their origins
    int64_t count;
    int dimension;
    float dt;
    float lattice;  // m^2: K on the lattice, along an axis
    float around;   // sum of weights on the lattice
    bool squared;   // weights
    // per particle
    float *place;        // [4 (count + 8)]: x, y, z (m), square of the speed of sound (m^2/s^2)
    float *flow;         // [4 (count + 8)]: velocity (m/s), or another field that gradients are taken of, and 0
    float *origin;       // [4 (count + 8)]: x, y, z (m) where links were made, 0
    float *load;         // [12 (count + 8)]: rows of T F^-T K^-1, each followed by a component of hold
    float *metric;       // [8 (count + 8)] (P P^T)^-1 of the pattern P, xx yy zz xy xz yz, 0, 0: of distances on the
                         // lattice before it was strained, from ways at origins
    float *near_metric;  // [8 (count + 8)] the same of present ways, size of the stress, 0; NULL: nobody can crowd
    float *reach;        // [count + 8] m: farthest that a neighbour can be at origins
    float *inverse;      // [6 count] K^-1, 1/m^2: xx yy zz xy xz yz
    float *since;        // [9 count] F^-1; zeros: turned inside out
    float *firm;         // [9 count] of loose ones: A = (sum w dx dX^T) K^+ F^-1, 1 where neighbours fix all
    float *lean;         // [4 (count + 8)] g (1/m), and the sum of weights
    float *gradient;     // [9 count] 1/s
    float *apart;        // [3 count] n, m/s
    float *hold;         // [3 count] force that holds the offset, over the sum of weights, m/s^2
    float *stress;       // [6 count] T
    float *push;         // [4 (count + 8)]: acceleration, m/s^2
    const float *piece;  // [count + 8]: links are within a piece, others just push; NULL: all are one
    float touch_known, touch_time;  // of particles that are too near: share of the present
                                    // overlap, s that it goes on to change
    // of pieces that do not fuse (pieces.c); NULL where all fuse
    float rub;     // their coefficient of friction
    float *slide;  // [4 (count + 8)]: velocities at the start of the step, m/s
    float *grip;   // [4 (count + 8)]: m, how far this one's half of a hold is drawn; 1: it can be turned
    float *spin;   // [4 (count + 8)]: turn of the field in `flow`
    float *touch;  // [6 count]: acceleration, m/s^2, and torque over the mass, m^2/s^2
    rh_ep_moduli *moduli;
    uint8_t *loose;  // [count] rh_ep_loose
    float *density;  // [count] relative, of the search
    float *covered;  // [count] wall samples in sight
} rh_ep_matter;

// --- fits (fit.c) ----------------------------------------------------------------------------------------------------
// `inverse`, `since`, `lean`, and `loose`, of the present places.
void rh_ep_prepare(rh_ep_matter *matter);
// `near_metric`, without the size of the stress.
void rh_ep_present_metric(rh_ep_matter *matter);
// `gradient` of the field in `flow`, and `apart`.
void rh_ep_gradients(rh_ep_matter *matter);
// `gradient` of a displacement in `flow` (m): without unit, F - 1 of the step. Where neighbours do not fix it, what is
// missing turns with the rest.
void rh_ep_step_gradients(rh_ep_matter *matter);

// --- forces (forces.c) -----------------------------------------------------------------------------------------------
// push = what `stress` and `hold` do.
void rh_ep_push(rh_ep_matter *matter);

// --- pieces (pieces.c) -----------------------------------------------------------------------------------------------
// `touch`, of `flow` and `gradient`.
void rh_ep_touch_pieces(rh_ep_matter *matter);
// `grip` ([3 count]) after a step of the displacement in `flow`, with its `gradient`.
void rh_ep_draw_grips(rh_ep_matter *matter, float *grip);

// Of the square of a distance where the matter was not strained.
static inline rh_f8 rh_ep_weight(const rh_ep_matter *m, rh_f8 square)
{
    rh_f8 none = rh_f8_all(0), left = rh_f8_max(1 - m->kernel->inverse * m->kernel->inverse * square, none);
    // On a lattice the outermost neighbours have a rounding error of weight, whose powers are denormal numbers: slow
    // ones.
    left = rh_f8_select(left > rh_f8_all(1e-3f), left, none);
    rh_f8 w = left * left * left;
    return m->squared ? w * w : w;
}
// That square, by the metric of a particle.
static inline rh_f8 rh_ep_square(const float g[8], rh_f8 x, rh_f8 y, rh_f8 z)
{
    return x * (g[0] * x + 2 * (g[3] * y + g[4] * z)) + y * (g[1] * y + 2 * g[5] * z) + z * (g[2] * z);
}
