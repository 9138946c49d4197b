// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The parameters of smoothed particles.
#include "physics/sph/pressure.h"
#include "physics/sph/sph.h"
#include "physics/sph/viscosity.h"
#include "physics/substances.h"

static const char *const solvers[] = {"exact", "multilevel", "isph", "iisph", NULL};
static const char *const kernels[] = {"automatic", "isochoric", "wendland", "mueller", NULL};
static const char *const surfaces[] = {"predicted", "density", "geometric", "ghost", "source", "sparse", NULL};
static const char *const forms[] = {"pairs", "stress", "laplacian", NULL};
static const char *const viscous_solvers[] = {"levels", "diagonal", "assembled", "explicit", NULL};
static const char *const couplings[] = {"strong", "one_way", NULL};
static const char *const wall_terms[] = {"regularised", "mirrored", "unknowns", NULL};

#define AT(field) offsetof(rh_sph_params, field)
static const rh_param rows[] = {
    {"substance", RH_PARAM_CHOICE, AT(substance), "", "none", .choices = rh_substance_names, .presets = &rh_substances,
     .example = "honey",
     .help = "a liquid by its name: density, viscosity and surface_tension as measured, where they are not given here"},
    {"density", RH_PARAM_FLOAT, AT(density), "kg/m^3", "1000", 1e-3, 1e5,
     .help = "mass per volume; decides pressure and what surface tension does"},
    {"particles_per_axis", RH_PARAM_INT, AT(particles_per_axis), "", "2", 2, 4,
     .help = "particles per cell and axis; each feels those within two spacings, a cell when it is 2"},
    {"solver", RH_PARAM_CHOICE, AT(solver), "", "exact", .choices = solvers,
     .help = "of the pressure: exact (conjugate gradients on the operator that the step applies), isph (on a Laplacian "
             "that "
             "resembles it), or iisph (relaxed Jacobi sweeps)"},
    {"kernel", RH_PARAM_CHOICE, AT(kernel), "", "automatic", .choices = kernels,
     .help = "isochoric (shear leaves the density alone: waves swing as they should), wendland (C2; holds particles "
             "firmer), mueller (two that do not belong together, as the source has them); automatic is isochoric "
             "in the plane, but for thick liquids and full vessels, and wendland otherwise"},
    {"cfl", RH_PARAM_FLOAT, AT(cfl), "supports", "0.2", 0.01, 1,
     .help = "farthest travel in one time step of all but the fastest ten-thousandth of the particles, in radii of the "
             "kernel (two particle spacings)"},
    {"time_step", RH_PARAM_FLOAT, AT(time_step), "s", "0", 0, 1,
     .help = "length of fixed steps (a frame is divided into equal ones, none longer); 0: as cfl says"},
    {"density_correction", RH_PARAM_FLOAT, AT(density_correction), "", "0.1", 0, 1,
     .help = "share of a density error that is undone in the longest step that cfl allows, shorter steps undo less; 1: "
             "every step undoes all of it, which throws particles apart when steps are short"},
    {"shifting", RH_PARAM_FLOAT, AT(shifting), "", "0.2", 0, 1,
     .help = "how far particles are moved to where there are fewer (solver exact): 0 leaves rows that a flow has drawn "
             "them into"},
    {"tolerance", RH_PARAM_FLOAT, AT(tolerance), "", "1e-4", 1e-7, 0.1,
     .help = "mean relative density error at which the pressure solve stops"},
    {"max_iterations", RH_PARAM_INT, AT(max_iterations), "", "1000", 1, 100000,
     .help = "of one solve; reaching it the step is tried again, half as long"},
    {"viscosity", RH_PARAM_FLOAT, AT(viscosity), "Pa s", "0", 0, 1e9,
     .help = "resistance to shear: water 0.001, oil 0.1, honey 10, pitch 1e8; 0 is none. It acts along walls that are "
             "no_slip"},
    {"viscosity_varies", RH_PARAM_BOOL, AT(viscosity_varies), "", "false",
     .help = "particles carry the attribute viscosity (Pa s), which programs may write; 0 there is the liquid's"},
    {"viscosity_tolerance", RH_PARAM_FLOAT, AT(viscosity_tolerance), "", "1e-4", 1e-7, 0.1,
     .help =
         "relative error of velocities at which the viscosity solve stops (solvers without levels: residual, a bound "
         "of it)"},
    {"bulk_viscosity", RH_PARAM_FLOAT, AT(bulk_viscosity), "viscosities", "20", 0, 1000,
     .help = "how thick liquid inside which there is no pressure resists growing (viscosity_form: pairs), in place of "
             "pressures below that of the air: threads thin as they are drawn; 0 lets them grow"},
    {"viscosity_form", RH_PARAM_CHOICE, AT(viscous_form), "", "pairs", .choices = forms,
     .help = "pairs (forces between neighbours, along their line: full stress, keeps momentum and angular momentum), "
             "stress (the source's, over neighbours of neighbours) or laplacian (nothing coils), to compare with"},
    {"viscosity_solver", RH_PARAM_CHOICE, AT(viscous_solver), "", "levels", .choices = viscous_solvers,
     .help = "levels (grids precondition: as many iterations at any viscosity and size), diagonal, assembled (form "
             "stress with its matrix stored) or explicit (no solve, short steps), to compare with"},
    {"viscosity_coupling", RH_PARAM_CHOICE, AT(viscosity_coupling), "", "strong", .choices = couplings,
     .help = "how viscosity moves dynamic solids: strong (with the liquid, in one solve) or one_way (not at all), for "
             "comparison"},
    {"viscosity_turns", RH_PARAM_INT, AT(viscosity_turns), "", "30", 0, 1000,
     .help = "at most so many turns of viscosity and pressure in a step of a full vessel (full: true), until both hold "
             "at once"},
    {"artificial_viscosity", RH_PARAM_FLOAT, AT(artificial_viscosity), "m/s", "0.05", 0, 100,
     .help = "Monaghan's alpha times speed of sound: slows down what comes closer, as far as `viscosity` does not"},
    {"wall_viscosity", RH_PARAM_FLOAT, AT(wall_viscosity), "m/s", "0.2", 0, 100,
     .help = "the same at solids with wall: no_slip, where viscosity is 0; others have no friction"},
    {"surface_tension", RH_PARAM_FLOAT, AT(surface_tension), "N/m", "0", 0, 100,
     .help = "of the free surface, by attraction of neighbours; water has 0.072"},
    {"blend_from", RH_PARAM_FLOAT, AT(blend_from), "samples", "5", 0, 100,
     .help = "wall samples in sight, counted as on a flat wall, where there are 9: with more of them the density is "
             "blended with the number density, which keeps particles out of walls in long steps"},
    {"blend_to", RH_PARAM_FLOAT, AT(blend_to), "samples", "15", 0, 100,
     .help = "with so many it is the number density alone"},
    {"surface", RH_PARAM_CHOICE, AT(surface), "", "predicted", .choices = surfaces,
     .help = "who has pressure 0 (solver isph): predicted by one projected sweep; by density, geometry, ghosts, or the "
             "sign of the source, to compare with"},
    {"walls", RH_PARAM_CHOICE, AT(wall_term), "", "regularised", .choices = wall_terms,
     .help =
         "what walls add to the system (solver isph): regularised, mirrored with an amplified source, or unknowns, a "
         "pressure of its own for each wall sample, as it was done before (more unknowns, shorter steps: to compare "
         "with)"},
    {"full", RH_PARAM_BOOL, AT(full), "", "false",
     .help =
         "the liquid fills its vessel, without a free surface (solver exact): the level of the pressure is free, so "
         "that vortices hold"},
    {"pull", RH_PARAM_BOOL, AT(pull), "", "false",
     .help =
         "pressure below that of the air pulls, so that water which turns or is stretched holds together instead of "
         "flying apart like dust (solver exact): for liquid in empty space, scenes without solids"},
    {"levels", RH_PARAM_BOOL, AT(levels), "", "false",
     .help = "coarse grids precondition the system (solver isph), as they do with solver multilevel"},
    {"clamp_source", RH_PARAM_BOOL, AT(clamp_source), "", "false",
     .help = "liquid that parts gives no suction to the solve (solver isph): to compare with"},
};

static rh_code check_wall_unknowns(const rh_sph_params *p, rh_status *status)
{
    if (p->solver != RH_SPH_ISPH || p->levels)
        return rh_fail(status, RH_USER,
                       "found unknowns, which goes with solver: isph and levels: false; found solver: %s%s",
                       solvers[p->solver], p->levels ? ", levels: true" : "");
    if (p->time_step == 0)
        return rh_fail(status, RH_USER,
                       "found unknowns without time_step; expected a length for its steps, as it does not bear those "
                       "that cfl chooses");
    return RH_OK;
}

static rh_code check(const void *object, const char **field, rh_status *status)
{
    const rh_sph_params *p = object;
    if (p->viscous_solver == RH_SPH_VISCOUS_ASSEMBLED && p->viscous_form != RH_SPH_STRESS) {
        *field = "viscosity_solver";
        return rh_fail(status, RH_USER, "found assembled, which is for viscosity_form: stress; it is %s",
                       forms[p->viscous_form]);
    }
    if (p->pull && (p->solver != RH_SPH_EXACT || p->full)) {
        *field = "pull";
        return rh_fail(status, RH_USER, "found true, which goes with solver: exact and full: false; found solver: %s%s",
                       solvers[p->solver], p->full ? ", full: true" : "");
    }
    if (p->wall_term == RH_SPH_UNKNOWNS) {
        *field = "walls";
        RH_TRY(check_wall_unknowns(p, status));
    }
    if (p->blend_to >= p->blend_from) return RH_OK;
    *field = "blend_to";
    return rh_fail(status, RH_USER, "found %g, expected at least blend_from, which is %g", p->blend_to, p->blend_from);
}

const rh_param_table rh_sph_table = {"sph",
                                     "Liquid as smoothed particles without a grid: close-ups, thin films, bodies in "
                                     "motion.",
                                     rows,
                                     RH_PARAM_COUNT(rows),
                                     sizeof(rh_sph_params),
                                     check};
