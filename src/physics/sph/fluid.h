// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The particles of a step with the arrays that its stages hand to each other, and the loop over pairs that all stages
// are made of. Every particle sums up the contributions of its neighbours; both of a pair compute the same product, so
// what one gets the other loses, to the last bit of the sums. Memory is the arena's.
#pragma once
#include "physics/sph_pairs.h"

typedef struct rh_sph_fluid {
    const rh_sph_kernel *kernel;
    const rh_sph_walls *walls;
    const rh_sph_lists *lists;
    const rh_tiles *tiles;  // sorted
    int64_t count;
    float dt;          // s
    float *place;      // [4 (count + 8)]: x, y, z (m); and a value that the present stage reads of neighbours
    float *flow;       // [4 (count + 8)]: velocity (m/s) before pressure acts; and such a value
    float *density;    // [count] relative to rest
    float *covered;    // [count] wall samples seen, as of a flat wall (9 on one)
    float *excess;     // [count] the part of `predicted` that this step is to undo
    float *predicted;  // [count] the density at the end of the step without pressure, less 1
    float *q;          // [count + 8] m^2/s^2: pressure / density of rest; comes in as the last step's
    float level;       // m^2/s^2: pushes go by q + level (full vessels, where q is 0 at its lowest; else 0)
    float *wall_q;     // [walls.count + 8] the same of samples, where they have their own; NULL: the particle's
    float *push;       // [4 (count + 8)]: acceleration by pressure, m/s^2; and such a value
    float *uneven;     // [4 count] 1/m: -sum V grad W of particles and walls, towards where there are fewer
    double *sums;      // [4 rh_blocks(count)] scratch
} rh_sph_fluid;

// The sum over blocks of particles of what was put into fluid->sums.
double rh_sph_sum(const rh_sph_fluid *fluid);
// Mean over the unknowns of the density error at the end of the step that a residual r (1/s^2) stands for. Densities
// that are too low count like those that are too high: begun with a pressure that is too high, a solve that saw only
// what is too dense would stop at once and keep on pushing.
double rh_sph_mean_error(const rh_sph_fluid *fluid, const float *r, int64_t unknowns);
// The same of a system of another size; sums [rh_blocks(size)] is scratch.
double rh_sph_mean_error_of(double *sums, int64_t size, float dt, const float *r, int64_t unknowns);

// --- densities (density.c) -------------------------------------------------------------------------------------------
// Sets `predicted` and `excess`, from the density at the end of the step if velocities stay as they are. Where walls
// cover a particle the density is blended with the number density (T. Takahashi, equations 2.1 to 2.4), from blend_from
// to blend_to wall samples in sight. Of densities above `most` (relative, above 1) the part beyond it is left for later
// steps.
typedef struct rh_sph_prediction {
    double blend_from, blend_to;
    float most;
    float undone;  // share of the present density error, of either sign, that is undone in this step
} rh_sph_prediction;
void rh_sph_predict(rh_sph_fluid *fluid, const rh_sph_prediction *how);
// The same for one particle, of which the density and its rate of change (1/s) are known.
static inline void rh_sph_predict_one(rh_sph_fluid *f, const rh_sph_prediction *how, int64_t i, float now, float rate)
{
    float change = f->dt * rate;
    f->predicted[i] = now - 1 + change;
    f->excess[i] = how->undone * ((now < how->most ? now : how->most) - 1) + change;
}

// --- forces beside pressure (forces.c) -------------------------------------------------------------------------------
typedef struct rh_sph_forces {
    float viscosity;       // m/s: alpha c of Monaghan's artificial viscosity
    float wall_viscosity;  // m/s: the same at walls without slip
    float tension;         // m^3/s^2 (m^2/s^2 x m in two dimensions): attraction of neighbours
} rh_sph_forces;
// flow += time (s) times what they do. `sticky`: by solid, whether its walls have no slip. Scratch is `push`.
void rh_sph_add_forces(rh_sph_fluid *fluid, const rh_sph_forces *forces, float time, const bool *sticky);

// --- what pressure does not do (bulk.c) ------------------------------------------------------------------------------
// share [count], 0..1: who has bulk viscosity; whether anybody has. `growth` [count + 8] is scratch, `tolerance` the
// share of the volume that may grow in a step.
bool rh_sph_find_bulk(const rh_sph_fluid *fluid, float tolerance, float *growth, float *share);

// --- what pressure does (push.c) -------------------------------------------------------------------------------------
// push = acceleration by q, of particles and walls. Overwrites the number in `place`.
void rh_sph_push(rh_sph_fluid *fluid);
// The change of density that `push` makes in the step, and what it would be for q_i = 1 and no other pressure (the
// diagonal; negative).
float rh_sph_change(const rh_sph_fluid *fluid, int64_t i);
float rh_sph_own_change(const rh_sph_fluid *fluid, int64_t i);
