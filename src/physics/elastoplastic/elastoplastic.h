// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Dough, clay, jelly, rubber: elastoplastic matter on particles, without a mesh and without a shape of rest.
// docs/theory/elastoplastic.md tells the method.
#pragma once
#include "physics/physics.h"

typedef enum rh_ep_law { RH_EP_HENCKY, RH_EP_LINEAR, RH_EP_STVK, RH_EP_NEO_HOOKEAN } rh_ep_law;
typedef enum rh_ep_norm { RH_EP_MISES, RH_EP_FULL } rh_ep_norm;
typedef enum rh_ep_weights { RH_EP_SMOOTH, RH_EP_SQUARED } rh_ep_weights;
typedef enum rh_ep_reference { RH_EP_KEPT, RH_EP_STEP, RH_EP_START } rh_ep_reference;
typedef enum rh_ep_strain { RH_EP_MULTIPLIED, RH_EP_ADDED } rh_ep_strain;

// One kind of matter. Mass is the same for all.
typedef struct rh_ep_kind {
    char *name;         // NULL for what the method's own rows describe
    double stiffness;   // Pa: Young's modulus; 0 = a liquid
    double poisson;     // Poisson's ratio
    double yield;       // Pa: von Mises stress above which it flows
    double flow_rate;   // 1/s at which stress beyond that goes
    double hardening;   // Pa: what `yield` grows by for a plastic strain of 1; negative softens
    double thickening;  // Pa: flow_rate is multiplied by this over the stress; 0 = it is not
    double strength;    // Pa: largest tension; 0 = never tears
    double viscosity;   // Pa s
    double bulk;        // Pa: of a liquid
} rh_ep_kind;

typedef struct rh_ep_params {
    double density;  // kg/m^3
    int64_t particles_per_axis;
    rh_ep_kind kind;  // of bodies that name none
    rh_list kinds;    // of rh_ep_kind
    int law;          // rh_ep_law
    int norm;         // rh_ep_norm
    int weights;      // rh_ep_weights
    int strain;       // rh_ep_strain
    int reference;    // rh_ep_reference
    bool volume_relief, fuse, varies, implicit;
    double friction;   // of pieces on each other, without `fuse`
    double tack;       // Pa: pull that walls without slip withstand
    double coherence;  // of places among neighbours, over the stiffness of the matter
    double damping;    // of motion that no strain describes
    double implicit_damping;
    double restitution;  // of blows on walls in implicit steps
    double cfl;          // spacings that a sound wave travels in a step, explicit
    double strain_step;  // largest strain or turn in a step, implicit
    double time_step;    // s: of fixed steps; 0 = as they must be
    double tolerance;
    int64_t max_iterations;
} rh_ep_params;

extern const rh_param_table rh_ep_table;
extern const rh_physics rh_elastoplastic;

// Kind n of the parameters: 0 is the method's own, then those of `kinds`; numbers beyond them count as 0.
static inline const rh_ep_kind *rh_ep_kind_of(const rh_ep_params *p, int n)
{
    return n > 0 && n <= p->kinds.count ? (const rh_ep_kind *)p->kinds.items + n - 1 : &p->kind;
}
