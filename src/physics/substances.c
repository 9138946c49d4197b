// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Liquids by name. Where each value comes from, and how sure it is, stands in docs/substances.md; temperatures are
// those of the measurements. All are taken for Newtonian. What is not (ketchup, shampoo, paint, blood) is left out;
// chocolate and lava are there without their yield stress, which the note says. NULL: no value that we found a source
// for; the liquid's default stays.
#include "physics/substances.h"

// clang-format off
static const rh_preset items[] = {
    // name              density   viscosity   surface tension    note
    {"water",            {"998",   "1.00e-3",  "0.0728"}, "20 C"},
    {"sea_water",        {"1025",  "1.07e-3",  "0.0728"}, "20 C, 30 g of salt a kilogram"},
    {"ethanol",          {"789",   "1.20e-3",  "0.0228"}, "20 C"},
    {"mercury",          {"13550", "1.56e-3",  "0.484"},  "20 C"},
    {"olive_oil",        {"911",   "0.084",    "0.032"},  "20 C"},
    {"maple_syrup",      {"1325",  "0.18",     NULL},     "20 C, as a solution of 66 % sugar"},
    {"motor_oil",        {"891",   "0.29",     "0.035"},  "20 C, SAE 30"},
    {"silicone_oil",     {"970",   "0.97",     "0.0212"}, "25 C, the grade of 1000 cSt"},
    {"castor_oil",       {"961",   "0.986",    NULL},     "20 C"},
    {"glycerol",         {"1260",  "1.49",     "0.0633"}, "20 C"},
    {"chocolate",        {"1250",  "2.5",      NULL},     "40 C, molten milk chocolate, without its yield stress"},
    {"honey",            {"1420",  "10",       NULL},     "25 C, 17 % water; 2 to 40 Pa s for 20 to 14 % water"},
    {"lava",             {"2750",  "70",       "0.35"},   "1130 C, basalt, without its yield stress"},
    {"glass",            {"2350",  "1000",     "0.3"},    "1000 C, soda-lime, the working point"},
    {"pitch",            {"1100",  "2.3e8",    NULL},     "about 20 C"},
};
// clang-format on

enum { SUBSTANCES = RH_PARAM_COUNT(items) };

// clang-format off
const char *const rh_substance_names[SUBSTANCES + 2] = {
    "none", "water", "sea_water", "ethanol", "mercury", "olive_oil", "maple_syrup", "motor_oil", "silicone_oil",
    "castor_oil", "glycerol", "chocolate", "honey", "lava", "glass", "pitch", NULL};
// clang-format on

const rh_presets rh_substances = {{"density", "viscosity", "surface_tension", NULL}, items, SUBSTANCES};
