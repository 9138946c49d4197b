// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The liquid's parameters.
#include "physics/liquid/liquid.h"
#include "grid/fractions.h"

static const char *const transfers[] = {"flip", "pic", "apic", NULL};
static const char *const advections[] = {"rk2", "rk3", NULL};

#define AT(field) offsetof(rh_liquid_params, flow.field)
static const rh_param rows[] = {
    {"substance", RH_PARAM_CHOICE, offsetof(rh_liquid_params, substance), "", "none", .choices = rh_substance_names,
     .presets = &rh_substances, .example = "honey",
     .help = "a liquid by its name: density, viscosity and surface_tension as measured, where they are not given here"},
    {"density", RH_PARAM_FLOAT, AT(density), "kg/m^3", "1000", 1e-3, 1e5,
     .help = "mass per volume; decides pressure, not motion, of a single liquid"},
    {"surface_tension", RH_PARAM_FLOAT, AT(surface_tension), "N/m", "0", 0, 100,
     .help = "pulls the surface smooth and drops round; water against air: 0.073. 0: none"},
    {"contact_angle", RH_PARAM_FLOAT, AT(contact_angle), "degrees", "90", 0, 180,
     .help = "angle at which the surface meets solids, measured in the liquid: small wets (water on clean glass: about "
             "20), large beads off (on wax: 110); with surface_tension"},
    {"viscosity", RH_PARAM_FLOAT, AT(viscosity), "Pa s", "0", 0, 1e9,
     .help = "resistance to shear: water 0.001, oil 0.1, honey 10, pitch 1e8; 0 is none. It acts along walls that are "
             "no_slip"},
    {"viscosity_varies", RH_PARAM_BOOL, AT(viscosity_varies), "", "false",
     .help = "particles carry the attribute viscosity (Pa s), which programs may write; 0 there is the liquid's"},
    {"viscosity_tolerance", RH_PARAM_FLOAT, AT(viscosity_tolerance), "", "1e-6", 1e-10, 0.1,
     .help = "relative residual at which the viscosity solve stops"},
    {"viscosity_turns", RH_PARAM_INT, AT(viscosity_turns), "", "1", 1, 100,
     .help = "how often viscosity and pressure may take turns in a step: with 20 both hold at once, as in Stokes flow "
             "(it ends sooner, when turns_tolerance is met); 1 is some three times as fast, and softer in long steps"},
    {"turns_tolerance", RH_PARAM_FLOAT, AT(turns_tolerance), "", "0.005", 1e-7, 0.5,
     .help = "share of the first error in the pressure at which viscosity and pressure end their turns"},
    {"viscosity_coupling", RH_PARAM_CHOICE, AT(viscosity_coupling), "", "strong", .choices = rh_viscous_coupling_names,
     .help =
         "how viscosity moves dynamic solids: strong (with the liquid, in one solve), weak (after it) or one_way (not "
         "at all), for comparison"},
    {"viscosity_fractions", RH_PARAM_CHOICE, AT(viscosity_fractions), "", "consistent", .choices = rh_fraction_names,
     .help = "how much of a control volume of viscosity is liquid: consistent (overlapping volumes agree), independent "
             "(each for itself) or sampled (halves of cells count whole or not), for comparison"},
    {"transfer", RH_PARAM_CHOICE, AT(transfer), "", "flip", .choices = transfers,
     .help =
         "how velocity moves between particles and grid: flip (lively), pic (damped), apic (smooth, keeps rotation)"},
    {"flip", RH_PARAM_FLOAT, AT(flip), "", "0.97", 0, 1,
     .help = "share of FLIP in the FLIP/PIC blend of transfer: flip; 1 is pure FLIP"},
    {"advection", RH_PARAM_CHOICE, AT(advection), "", "rk2", .choices = advections,
     .help = "Runge-Kutta order of particle paths"},
    {"cfl", RH_PARAM_FLOAT, AT(cfl), "cells", "2", 0.1, 5,
     .help = "farthest travel in one time step of all but the fastest ten-thousandth of the particles"},
    {"particles_per_axis", RH_PARAM_INT, AT(particles_per_axis), "", "2", 1, 4,
     .help = "particles per cell and axis: 2 gives 8 a cell in 3D, 4 in 2D"},
    {"tolerance", RH_PARAM_FLOAT, AT(tolerance), "", "1e-6", 1e-10, 0.1,
     .help = "relative residual at which the pressure solve stops"},
    {"max_iterations", RH_PARAM_INT, AT(max_iterations), "", "1000", 1, 100000,
     .help = "of the pressure solve; reaching it stops the run"},
    {"preconditioner", RH_PARAM_CHOICE, AT(preconditioner), "", "multigrid", .choices = rh_precondition_names,
     .help = "of all solves (pressure, viscosity, volume correction): multigrid (as many iterations at any "
             "resolution), mic "
             "or none, for comparison"},
    {"volume_correction", RH_PARAM_BOOL, AT(volume_correction), "", "true",
     .help = "moves particles apart where they clump, so that volume does not drift"},
    {"volume_tolerance", RH_PARAM_FLOAT, AT(volume_tolerance), "", "1e-3", 1e-10, 0.5,
     .help = "relative residual of the volume correction's solve"},
    {"position_correction", RH_PARAM_CHOICE, AT(position_correction), "", "none",
     .choices = rh_position_correction_names,
     .help =
         "parts particles that are too close by their neighbours: scaled_density (faster away from solids), density "
         "or distance, for comparison; beside volume_correction, or in its place"},
    {"position_sweeps", RH_PARAM_INT, AT(position_sweeps), "", "3", 1, 100,
     .help = "of the position correction, at most, in a step; it ends sooner when no density is above 1.1"},
    {"pressure", RH_PARAM_BOOL, AT(pressure), "", "false",
     .help = "gives particles the attribute pressure (Pa, against air): what each felt"},
    {"pressure_time", RH_PARAM_FLOAT, AT(pressure_time), "s", "0.01", 0, 1e3,
     .help = "that pressure is a mean over about so long, which does not depend on the time step; 0: of the last step "
             "alone, higher in shorter steps at an impact"},
};

const rh_param_table rh_liquid_table = {
    "liquid",
    "Liquid with a free surface: incompressible, as thin as water or as thick as honey.",
    rows,
    RH_PARAM_COUNT(rows),
    sizeof(rh_liquid_params),
    NULL};
