// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What becomes of two liquid drops that meet in air, from energy balances: they merge, or stretch and part again, or
// flow into each other and part, with drops shed from the neck between them. Two numbers decide for a ratio of radii
// delta = r_small / r_large: the Weber number We = 2 rho r_small |u|^2 / sigma and the impact parameter X, the distance
// of the centres across the relative velocity u over the sum of radii: 0 is head on, 1 grazes.
//
//   stretching, reflexive separation   N. Ashgriz, J. Y. Poo, "Coalescence and separation in binary collisions of
//                                      liquid drops", J. Fluid Mech. 221 (1990)
//   drops shed                         G. H. Ko, H. S. Ryou, "Modeling of droplet collision-induced breakup process",
//                                      Int. J. Multiphase Flow 31 (2005); the neck's radius as it breaks from their
//                                      balance of a cylinder that thins
//   velocities                         P. J. O'Rourke, "Collective drop effects on vaporizing liquid sprays",
//                                      Princeton, 1981
//   bounce                             J.-P. Estrade, H. Carentz, G. Lavergne, Y. Biscos, "Experimental
//                                      investigation of dynamic binary collision of ethanol droplets", Int. J. Heat
//                                      Fluid Flow 20 (1999)
//   all together, for film             R. Jones, "Droplets, Splashes and Sprays", Bournemouth University, 2018
//
// All in double, SI units, pure functions. `i` is the larger drop (of equal ones the older), `j` the other; differences
// of two drops are j less i.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/vec.h"

enum { RH_DROPLET_FRAGMENTS = 256 };  // most that one collision makes

typedef enum rh_droplet_critical { RH_CRITICAL_ASHGRIZ_POO, RH_CRITICAL_OROURKE } rh_droplet_critical;
typedef enum rh_droplet_frame { RH_SCATTER_NECK, RH_SCATTER_WORLD } rh_droplet_frame;

typedef struct rh_droplet_law {
    double density;                 // kg/m^3, of the liquid
    double surface_tension;         // N/m
    double min_radius, max_radius;  // m: no drops are shed below, none merge above
    int64_t max_fragments;          // of one collision
    double scatter;                 // how far velocities of shed drops turn and shrink; 0: momentum and place are exact
    rh_droplet_frame scatter_frame;
    rh_droplet_critical critical;
    double orourke;       // the constant of O'Rourke's critical impact parameter
    bool bounce, mirror;  // drops at low We bounce off; after reflexive separation each flies back
    double restitution;   // of the speed along the line of centres that is left by a bounce
} rh_droplet_law;

typedef struct rh_droplet {
    rh_dvec3 x, u;  // m, m/s
    double r;       // m
} rh_droplet;

typedef enum rh_droplet_kind {
    RH_DROPLETS_MERGE,
    RH_DROPLETS_STRETCH,
    RH_DROPLETS_REFLEX,
    RH_DROPLETS_BOUNCE,
    RH_DROPLETS_PASS,  // they would merge to a drop above the limit: nothing happens
    RH_DROPLETS_KINDS
} rh_droplet_kind;

typedef struct rh_droplet_outcome {
    rh_droplet_kind kind;
    double weber, impact, ratio;  // We, X, delta
    int shed;                     // new drops, all of radius shed_radius
    double shed_radius;           // m
    double share_j;               // of the neck's volume that comes from j
    bool all;                     // reflexive: the whole of both becomes drops of one size, i and j being two of them
    rh_droplet i, j;              // afterwards, at the moment of resolution; merged: i is the new drop, j is gone
} rh_droplet_outcome;

// Shares of the volumes of i and j that overlap as seen along the relative velocity; a cap of height t radii has the
// share t^2 (3 - t) / 4. Where the path of the large drop covers the small one as a whole, its share is 1 and the large
// one's a slice.
void rh_droplet_shares(double delta, double impact, double *phi_i, double *phi_j);
// Thresholds of We: above the first drops stretch and part, above the second they flow into each other and part
// (reflexive separation), below the third they bounce; may be infinite.
double rh_droplet_stretching(double delta, double impact);
double rh_droplet_reflexive(double delta, double impact);
double rh_droplet_bouncing(double delta, double impact);
// The impact parameter above which drops with this We stretch and part.
double rh_droplet_critical_impact(const rh_droplet_law *law, double delta, double weber, double impact);
// Radius of the neck as it breaks over its initial radius r0, where We0 = 2 rho r0 |u|^2 / sigma.
double rh_droplet_neck(double weber0);

// The collision of two drops at their closest approach (places and velocities of that moment), i the larger.
void rh_droplet_collide(const rh_droplet_law *law, const rh_droplet *i, const rh_droplet *j, rh_droplet_outcome *out);
// Places, velocities and radii of the shed drops, outcome->shed of them, from the one next to i on; and, where all
// parts are alike (outcome->all), of i and j again. Random numbers are taken from (seed, key): two for each drop.
void rh_droplet_shed(const rh_droplet_law *law, const rh_droplet *i, const rh_droplet *j, rh_droplet_outcome *outcome,
                     uint64_t seed, uint64_t key, rh_droplet *shed);
