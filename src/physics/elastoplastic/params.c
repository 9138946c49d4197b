// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The parameters of elastoplastic matter.
#include "physics/elastoplastic/elastoplastic.h"

static const char *const laws[] = {"hencky", "linear", "stvk", "neo_hookean", NULL};
static const char *const norms[] = {"mises", "full", NULL};
static const char *const strains[] = {"multiplied", "added", NULL};
static const char *const references[] = {"kept", "step", "start", NULL};
static const char *const weights[] = {"smooth", "squared", NULL};

#define KIND_ROWS                                                                                                      \
    {"stiffness",   RH_PARAM_FLOAT,                                                                                    \
     AT(stiffness), "Pa",                                                                                              \
     "1e5",         0,                                                                                                 \
     1e12,          .help = "Young's modulus: bread dough 1e4, jelly 1e4, clay 1e6, rubber 1e6; 0 is a liquid"},       \
        {"poisson",   RH_PARAM_FLOAT,                                                                                  \
         AT(poisson), "",                                                                                              \
         "0.3",       0,                                                                                               \
         0.495,       .help = "Poisson's ratio: how much a stretched piece gets thinner; 0.5 would keep its volume"},  \
        {"yield",                                                                                                      \
         RH_PARAM_FLOAT,                                                                                               \
         AT(yield),                                                                                                    \
         "Pa",                                                                                                         \
         "1e12",                                                                                                       \
         0,                                                                                                            \
         1e12,                                                                                                         \
         .help = "von Mises stress above which it flows and does not come back: dough some 1 % of its stiffness"},     \
        {"flow_rate",   RH_PARAM_FLOAT,                                                                                \
         AT(flow_rate), "1/s",                                                                                         \
         "1e6",         0,                                                                                             \
         1e12,          .help = "rate at which stress beyond yield goes: large flows at once, 1 creeps for a second"}, \
        {"hardening",                                                                                                  \
         RH_PARAM_FLOAT,                                                                                               \
         AT(hardening),                                                                                                \
         "Pa",                                                                                                         \
         "0",                                                                                                          \
         -1e12,                                                                                                        \
         1e12,                                                                                                         \
         .help = "what yield grows by for a plastic strain of 1; below 0 it gets softer the more it flows"},           \
        {"thickening",                                                                                                 \
         RH_PARAM_FLOAT,                                                                                               \
         AT(thickening),                                                                                               \
         "Pa",                                                                                                         \
         "0",                                                                                                          \
         0,                                                                                                            \
         1e12,                                                                                                         \
         .help = "cornstarch: flow_rate is multiplied by this over the stress, so that it runs when left alone and "   \
                 "resists a blow; 0 is off"},                                                                          \
        {"strength",                                                                                                   \
         RH_PARAM_FLOAT,                                                                                               \
         AT(strength),                                                                                                 \
         "Pa",                                                                                                         \
         "0",                                                                                                          \
         0,                                                                                                            \
         1e12,                                                                                                         \
         .help = "tension at which it tears: beyond it a particle bears none any more; 0: it never tears"},            \
        {"viscosity",   RH_PARAM_FLOAT,                                                                                \
         AT(viscosity), "Pa s",                                                                                        \
         "0",           0,                                                                                             \
         1e9,           .help = "resists any change of shape, beside elasticity"},                                     \
    {                                                                                                                  \
        "bulk", RH_PARAM_FLOAT, AT(bulk), "Pa", "2e4", 0, 1e12,                                                        \
            .help = "of a liquid (stiffness 0): what presses it together"                                              \
    }

#define AT(field) offsetof(rh_ep_kind, field)
static const rh_param kind_rows[] = {
    {"name", RH_PARAM_TEXT, AT(name), "", .required = true, .example = "jelly",
     .help = "by which bodies and emitters name it (kind)"},
    KIND_ROWS,
};
#undef AT
static const rh_param_table kind_table = {
    "kind",
    "A kind of matter beside the method's own; kinds touch and stick to each other in one run.",
    kind_rows,
    RH_PARAM_COUNT(kind_rows),
    sizeof(rh_ep_kind),
    NULL};

#define AT(field) offsetof(rh_ep_params, kind.field)
#define OF(field) offsetof(rh_ep_params, field)
static const rh_param rows[] = {
    {"density", RH_PARAM_FLOAT, OF(density), "kg/m^3", "1000", 1e-3, 1e5, .help = "mass per volume, of all kinds"},
    {"particles_per_axis", RH_PARAM_INT, OF(particles_per_axis), "", "2", 2, 4,
     .help = "particles per cell and axis; each feels those within two spacings, a cell when it is 2"},
    KIND_ROWS,
    {"kinds", RH_PARAM_LIST, OF(kinds), "", .table = &kind_table,
     .help = "other matter in the same run: bodies and emitters name it with kind"},
    {"law", RH_PARAM_CHOICE, OF(law), "", "hencky", .choices = laws,
     .help = "stress of a stretch: hencky (logarithm), linear, stvk (St Venant-Kirchhoff) or neo_hookean"},
    {"yield_norm", RH_PARAM_CHOICE, OF(norm), "", "mises", .choices = norms,
     .help = "what is compared with yield: mises (pressure left out) or full (the whole stress, as the source has it)"},
    {"weights", RH_PARAM_CHOICE, OF(weights), "", "squared", .choices = weights,
     .help = "of neighbours in fits: smooth, or squared as the source has them"},
    {"strain", RH_PARAM_CHOICE, OF(strain), "", "multiplied", .choices = strains,
     .help = "how the strain of a step joins the stored one: multiplied, or added (to compare with: what turns does "
             "not come "
             "back to its shape)"},
    {"reference", RH_PARAM_CHOICE, OF(reference), "", "kept", .choices = references,
     .help = "what strains are measured from: links to neighbours that are kept until the matter has flowed or meets "
             "other matter; of each step, as the source has it; of the start, a shape of rest (to compare with: it "
             "breaks down when much flows)"},
    {"volume_relief", RH_PARAM_BOOL, OF(volume_relief), "", "true",
     .help = "plastic flow undoes a change of volume too where that is more than a tenth"},
    {"fuse", RH_PARAM_BOOL, OF(fuse), "", "true",
     .help = "bodies that touch become one; false: they push each other and part again"},
    {"friction", RH_PARAM_FLOAT, OF(friction), "", "0.3", 0, 100,
     .help = "of bodies on each other with fuse: false, Coulomb's coefficient"},
    {"varies", RH_PARAM_BOOL, OF(varies), "", "false",
     .help = "particles have attributes stiffness and yield (Pa) that programs may write; 0 there is the kind's"},
    {"tack", RH_PARAM_FLOAT, OF(tack), "Pa", "0", 0, 1e12,
     .help = "tension across a wall with wall: no_slip up to which it sticks there; 0: it parts freely"},
    {"implicit", RH_PARAM_BOOL, OF(implicit), "", "false",
     .help = "steps by a linear solve: their length is that of the motion, not of sound waves"},
    {"implicit_damping", RH_PARAM_FLOAT, OF(implicit_damping), "", "0.2", 0, 1,
     .help = "of implicit steps: 0 keeps energy, 1 is the backward Euler method"},
    {"restitution", RH_PARAM_FLOAT, OF(restitution), "", "0", 0, 1,
     .help = "of implicit steps: share of its speed that matter keeps in a blow on a wall that is over before the step "
             "is; 0: such a blow takes all. Explicit steps follow blows and need none"},
    {"coherence", RH_PARAM_FLOAT, OF(coherence), "", "0.5", 0, 4,
     .help = "how stiffly particles keep their places among their neighbours, over the stiffness of the matter; 0 lets "
             "tension pull them into clumps"},
    {"damping", RH_PARAM_FLOAT, OF(damping), "", "0.1", 0, 1,
     .help = "of motion from one particle to the next that is no strain; 0 lets it grow"},
    {"cfl", RH_PARAM_FLOAT, OF(cfl), "spacings", "0.4", 0.01, 1, .help = "way of sound in an explicit step"},
    {"strain_step", RH_PARAM_FLOAT, OF(strain_step), "", "0.1", 1e-3, 1,
     .help = "largest strain or turn (radians) in an implicit step"},
    {"time_step", RH_PARAM_FLOAT, OF(time_step), "s", "0", 0, 1,
     .help = "length of fixed steps (a frame is divided into equal ones, none longer); 0: as long as is stable"},
    {"tolerance", RH_PARAM_FLOAT, OF(tolerance), "", "1e-3", 1e-7, 0.1,
     .help = "error of the velocities of an implicit solve, over what the step does to them"},
    {"max_iterations", RH_PARAM_INT, OF(max_iterations), "", "2000", 1, 100000,
     .help = "of one implicit solve; reaching it the step is tried again, half as long"},
};

const rh_param_table rh_ep_table = {"elastoplastic",
                                    "Dough, clay, jelly, rubber: matter that springs back from small strains and flows "
                                    "beyond, on particles.",
                                    rows,
                                    RH_PARAM_COUNT(rows),
                                    sizeof(rh_ep_params),
                                    NULL};
