// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The splash method's parameters.
#include "physics/splash/splash.h"
#include "solve/mprgp.h"

static const char *const limits[] = {"unilateral", "bilateral", NULL};
static const char *const advections[] = {"heun", "euler", NULL};
static const char *const predictions[] = {"particles", "flux", NULL};
static const char *const shares[] = {"sampled", "smooth", NULL};
static const char *const forms[] = {"shares", "shares_right", "density", "density_right", NULL};

#define AT(field) offsetof(rh_splash_params, field)
static const rh_param rows[] = {
    {"density", RH_PARAM_FLOAT, AT(flow.density), "kg/m^3", "1000", 1e-3, 1e5,
     .help = "mass per volume; decides pressure, not motion, of a single liquid"},
    {"particles_per_axis", RH_PARAM_INT, AT(flow.particles_per_axis), "", "3", 1, 4,
     .help =
         "particles per cell and axis: 3 gives 27 a cell in 3D; more make finer spray at the same cost of the solve"},
    {"flip", RH_PARAM_FLOAT, AT(flow.flip), "", "0.97", 0, 1,
     .help = "share of FLIP in the FLIP/PIC blend; 1 is pure FLIP"},
    {"incompressibility", RH_PARAM_CHOICE, AT(incompressibility), "", "unilateral", .choices = limits,
     .help = "unilateral: pressure only pushes, liquid may part freely; bilateral: the usual two-sided FLIP, for "
             "comparison"},
    {"advection", RH_PARAM_CHOICE, AT(advection), "", "heun", .choices = advections,
     .help = "of particles: heun (second order) or euler"},
    {"cfl", RH_PARAM_FLOAT, AT(flow.cfl), "cells", "1", 0.01, 4,
     .help = "farthest travel in one time step of all but the fastest ten-thousandth of the particles; prediction: "
             "flux wants 0.25"},
    {"prediction", RH_PARAM_CHOICE, AT(flow.prediction), "", "particles", .choices = predictions,
     .help = "how full a cell will be: from particles moved ahead, or from mass fluxes through faces (overfills moving "
             "fronts unless cfl is small)"},
    {"form", RH_PARAM_CHOICE, AT(form), "", "shares", .choices = forms,
     .help = "what the matrix holds: open shares of faces; nothing (shares_right: unstable); density too (density: "
             "less lively); density_right"},
    {"shares", RH_PARAM_CHOICE, AT(flow.shares), "", "smooth", .choices = shares,
     .help = "room for liquid at walls: smooth, or sampled as in the source: oblique walls are then staircases, "
             "along which sliding water loses its energy"},
    {"well_balanced", RH_PARAM_BOOL, AT(flow.well_balanced), "", "true", .formerly = "balance",
     .help = "gravity and pressure act alike on liquid at rest, however its particles lie; without it water at rest "
             "boils, on slopes most"},
    {"density_correction", RH_PARAM_BOOL, AT(flow.density_correction), "", "true",
     .help = "moves particles out of overfull cells before the solve, so that crowding does not turn into speed"},
    {"suction_depth", RH_PARAM_INT, AT(flow.suction_depth), "cells", "0", 0, 1000,
     .help = "pressure may also pull this far below surface, walls and cells not full; 0: nowhere"},
    {"particle_mass", RH_PARAM_FLOAT, AT(flow.particle_mass), "", "1", 0.5, 1.5, .formerly = "fill",
     .help = "mass of a particle relative to its share of a full cell; 1.00 to 1.02 makes resting liquid look full"},
    {"air", RH_PARAM_FLOAT, AT(flow.limit.air), "", "0.02", 1e-6, 0.5,
     .help = "cells filled less than this share of their room count as air"},
    {"stop_at_walls", RH_PARAM_BOOL, AT(flow.stop_at_walls), "", "true",
     .help = "particles that run into a wall lose their velocity into it"},
    {"preconditioner", RH_PARAM_CHOICE, AT(flow.preconditioner), "", "multigrid", .choices = rh_precondition_names,
     .help = "of the complementarity solves"},
    {"expansion", RH_PARAM_CHOICE, AT(flow.expansion), "", "projected", .choices = rh_expansion_names,
     .help = "solver step at the bounds: projected (fewer steps) or gradient (the classical one)"},
    {"estimate_norm", RH_PARAM_BOOL, AT(flow.estimate_norm), "", "false",
     .help = "find the matrix's norm by power iteration instead of a safe bound"},
    {"tolerance", RH_PARAM_FLOAT, AT(flow.tolerance), "", "1e-5", 1e-7, 0.1,
     .help = "relative residual at which the complementarity solves stop"},
    {"max_iterations", RH_PARAM_INT, AT(flow.max_iterations), "", "1000", 1, 100000,
     .help = "of one solve; reaching it stops the run"},
    {"spray", RH_PARAM_BOOL, AT(spray), "", "true",
     .help = "keeps the groups spray and foam: fast, thin, separating particles, candidates for droplets"},
    {"spray_speed", RH_PARAM_FLOAT, AT(spray_speed), "m/s", "1", 0, 1e4,
     .help = "particles slower than this are neither spray nor foam"},
    {"pressure", RH_PARAM_BOOL, AT(flow.pressure), "", "false",
     .help = "writes the attribute pressure (Pa, against air): what each particle felt during the last step"},
};

const rh_param_table rh_splash_table = {"splash",
                                        "Violent, large-scale liquid: cells may not be overfilled, but pressure never "
                                        "pulls, so that water tears into sheets and spray.",
                                        rows,
                                        RH_PARAM_COUNT(rows),
                                        sizeof(rh_splash_params),
                                        NULL};
