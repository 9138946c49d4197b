// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The particles of a step of elastoplastic matter, with the arrays that its stages hand to each other. Memory is the
// arena's; particles are sorted. All forces are accelerations: stresses are divided by the density of rest.
//
// Every particle has weights w of its neighbours (1 at distance 0): by distances where it was not strained elastically,
// so that a stretched body does not lose its neighbours before they are out of sight. With dx = x_j - x_i
//      K = sum w dx dx^T,      L = (sum w dv dx^T) K^-1      the gradient of a velocity v, exact for affine motion
// A stress T of the particle acts on each neighbour with -w T K^-1 dx and on itself with the opposite: what is the
// derivative of its energy by its neighbours' places. With T symmetric neither momentum nor angular momentum changes:
// the torque of all of them is the antisymmetric part of T K^-1 K.
//
// No stress sees motion that alternates from one particle to the next, and tension makes it grow: a pair that comes
// closer weighs more. So every particle remembers how far it has come away from where its neighbours would carry it,
//      offset += dt n,      n = sum w (dv - L dx) / sum w = sum w (1 - g . dx) dv / sum w,      g = K^-1 sum w dx
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

typedef struct rh_ep_matter {
    const rh_ep_params *params;
    const rh_sph_kernel *kernel;
    const rh_sph_lists *lists;
    int64_t count;
    int dimension;
    float dt;
    float lattice;  // m^2: K on the lattice, along an axis
    float around;   // sum of weights on the lattice
    bool squared;   // weights
    // per particle
    float *place;        // [4 (count + 8)]: x, y, z (m), square of the speed of sound (m^2/s^2)
    float *flow;         // [4 (count + 8)]: velocity (m/s), or another field that gradients are taken of, and 0
    float *load;         // [12 (count + 8)]: rows of T K^-1 - hold g^T, each followed by a component of hold
    float *metric;       // [8 (count + 8)] (F F^T)^-1, xx yy zz xy xz yz, size of the stress, 0: weights are those of
                         // unstrained matter
    float *inverse;      // [6 count] K^-1, 1/m^2: xx yy zz xy xz yz
    float *firm;         // [6 count] of loose ones: share of each direction that neighbours fix, K^+ K
    float *lean;         // [4 count] g (1/m), and the sum of weights
    float *gradient;     // [9 count] 1/s
    float *apart;        // [3 count] n, m/s
    float *hold;         // [3 count] force that holds the offset, over the sum of weights, m/s^2
    float *stress;       // [6 count] T
    float *push;         // [4 (count + 8)]: acceleration, m/s^2
    const float *piece;  // [count + 8]: pairs of one piece only, others just push; NULL: all
    float touch_known, touch_time;  // of particles that are too near: share of the present
                                    // overlap, s that it goes on to change
    rh_ep_moduli *moduli;
    uint8_t *loose;  // [count] its neighbours do not fix a strain
    float *density;  // [count] relative, of the search
    float *covered;  // [count] wall samples in sight
} rh_ep_matter;

// --- fits (fit.c) ----------------------------------------------------------------------------------------------------
// `inverse`, `lean`, and `loose`, of the present places.
void rh_ep_prepare(rh_ep_matter *matter);
// `gradient` of the field in `flow`, and `apart`.
void rh_ep_gradients(rh_ep_matter *matter);
// `gradient` of a displacement in `flow` (m): without unit, F - 1 of the step. Where neighbours do not fix it, what is
// missing turns with the rest.
void rh_ep_step_gradients(rh_ep_matter *matter);

// --- forces (forces.c) -----------------------------------------------------------------------------------------------
// push = what `stress` and `hold` do.
void rh_ep_push(rh_ep_matter *matter);

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
// Zero for neighbours of another piece.
static inline rh_f8 rh_ep_of_piece(const rh_ep_matter *m, int64_t i, const uint32_t near[8], rh_f8 w)
{
    if (!m->piece) return w;
    return rh_f8_select(rh_f8_gather(m->piece, near) == rh_f8_all(m->piece[i]), w, rh_f8_all(0));
}
