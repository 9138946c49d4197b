// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The parameters of both methods of sand.
#include "physics/sand/sand.h"

// Rows that both methods have; `flow` is where they are in the struct. Defaults and ranges are the same.
#define SHARED_ROWS(flow)                                                                                    \
    {"density",                                                                                              \
     RH_PARAM_FLOAT,                                                                                         \
     AT(flow density),                                                                                       \
     "kg/m^3",                                                                                               \
     "1600",                                                                                                 \
     1e-3,                                                                                                   \
     1e5,                                                                                                    \
     .help = "mass per volume as it lies; decides pressure, and what cohesion does"},                        \
        {"flip",                                                                                             \
         RH_PARAM_FLOAT,                                                                                     \
         AT(flow flip),                                                                                      \
         "",                                                                                                 \
         "0",                                                                                                \
         0,                                                                                                  \
         1,                                                                                                  \
         .help = "share of FLIP in the FLIP/PIC blend; 0 is pure PIC, as suits sand"},                       \
        {"cfl",                                                                                              \
         RH_PARAM_FLOAT,                                                                                     \
         AT(flow cfl),                                                                                       \
         "cells",                                                                                            \
         "1",                                                                                                \
         0.1,                                                                                                \
         5,                                                                                                  \
         .help = "farthest travel in one time step of all but the fastest ten-thousandth of the particles"}, \
    {                                                                                                        \
        "particles_per_axis", RH_PARAM_INT, AT(flow particles_per_axis), "", "2", 1, 4,                      \
            .help = "particles per cell and axis: 2 gives 8 a cell in 3D, 4 in 2D"                           \
    }

#define MORE_SHARED_ROWS(flow)                                                              \
    {"max_iterations",                                                                      \
     RH_PARAM_INT,                                                                          \
     AT(flow max_iterations),                                                               \
     "",                                                                                    \
     "1000",                                                                                \
     1,                                                                                     \
     100000,                                                                                \
     .help = "of the pressure solve; reaching it stops the run"},                           \
    {                                                                                       \
        "volume_correction", RH_PARAM_BOOL, AT(flow volume_correction), "", "true",         \
            .help = "moves particles apart where they clump, so that volume does not drift" \
    }

#define PRESSURE_ROW(flow)                                                                                          \
    {                                                                                                               \
        "pressure", RH_PARAM_BOOL, AT(flow pressure), "", "false",                                                  \
            .help = "gives particles the attribute pressure (Pa, against air): what each felt during the last step" \
    }

#define AT(field) offsetof(rh_sand_params, field)
static const rh_param rows[] = {
    {"friction_angle", RH_PARAM_FLOAT, AT(friction_angle), "degrees", "30", 0, 80,
     .help = "layers on slopes below it hold; above 25 they hold more than it says, 44 for 35, and from 45 on at any "
             "slope"},
    {"cohesion", RH_PARAM_FLOAT, AT(cohesion), "Pa", "0", 0, 1e6,
     .help = "shear stress that sand bears without pressure: damp sand"},
    {"cohesion_cells", RH_PARAM_FLOAT, AT(cohesion_cells), "cells", "0.15", 0, 10,
     .help = "more strength, against creep of resting piles: friction as under so many more cells of sand; vanishes "
             "with the cell size"},
    {"static_excess_angle", RH_PARAM_FLOAT, AT(static_excess_angle), "degrees", "4", 0, 20, .formerly = "start",
     .help = "sand at rest starts to flow where it is steeper by so much than where flowing sand stops"},
    {"contact_loss_gap", RH_PARAM_FLOAT, AT(contact_loss_gap), "", "0.2", 0, 0.5, .formerly = "loose",
     .help = "cells with grains in contact stay so while they are short of full by up to this share"},
    {"contact_gain_gap", RH_PARAM_FLOAT, AT(contact_gain_gap), "", "0.05", 0, 0.5, .formerly = "touch",
     .help = "cells short of full by up to this share come into contact"},
    {"allowed_overfill", RH_PARAM_FLOAT, AT(allowed_overfill), "", "0.05", 0, 0.5, .formerly = "dense",
     .help = "cells overfull by up to this share are left so"},
    {"stress_smoothing", RH_PARAM_FLOAT, AT(stress_smoothing), "", "0.05", 0, 1, .formerly = "fade",
     .help = "share of the carried stress that is smoothed in a step"},
    {"mixing", RH_PARAM_FLOAT, AT(mixing), "", "0.1", 0, 1,
     .help = "how far grains wander that slide past each other: D = mixing * rate of shear * (spacing of particles)^2; "
             "0.1 was measured of beads"},
    {"friction_iterations", RH_PARAM_INT, AT(friction_iterations), "", "60", 1, 10000,
     .help = "at most so many of the friction solve in a step"},
    SHARED_ROWS(),
    {"tolerance", RH_PARAM_FLOAT, AT(tolerance), "", "1e-6", 1e-10, 0.1,
     .help = "relative residual at which the pressure solve stops, and that of the density correction"},
    MORE_SHARED_ROWS(),
    PRESSURE_ROW(),
};
#undef AT

const rh_param_table rh_sand_table = {"sand",
                                      "Dry sand: holds its shape where friction can, and flows where it cannot.",
                                      rows,
                                      RH_PARAM_COUNT(rows),
                                      sizeof(rh_sand_params),
                                      NULL};

#define AT(field) offsetof(rh_sand_incompressible_params, field)
static const rh_param incompressible_rows[] = {
    {"friction_angle", RH_PARAM_FLOAT, AT(friction_angle), "degrees", "30", 0, 80,
     .help = "of internal friction; piles are flatter"},
    {"cohesion", RH_PARAM_FLOAT, AT(cohesion), "Pa", "0", 0, 1e6,
     .help = "shear stress that sand bears without pressure: damp sand"},
    {"cohesion_cells", RH_PARAM_FLOAT, AT(cohesion_cells), "cells", "0.15", 0, 10,
     .help = "more cohesion, against creep of resting piles: the weight of so many cells of sand; vanishes with the "
             "cell size"},
    SHARED_ROWS(flow.),
    {"tolerance", RH_PARAM_FLOAT, AT(flow.tolerance), "", "1e-6", 1e-10, 0.1,
     .help = "relative residual at which the pressure solve stops"},
    MORE_SHARED_ROWS(flow.),
    {"volume_tolerance", RH_PARAM_FLOAT, AT(flow.volume_tolerance), "", "1e-3", 1e-10, 0.5,
     .help = "relative residual of the volume correction's solve"},
    PRESSURE_ROW(flow.),
};
#undef AT

const rh_param_table rh_sand_incompressible_table = {
    "sand_incompressible",
    "Dry sand after Zhu and Bridson: a liquid's pressure with friction after it. Piles are flatter and creep; for "
    "comparison with `sand`.",
    incompressible_rows,
    RH_PARAM_COUNT(incompressible_rows),
    sizeof(rh_sand_incompressible_params),
    NULL};
