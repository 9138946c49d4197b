// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Liquids by name, as values of the key `substance` of methods that know density (kg/m^3), viscosity (Pa s) and surface
// tension (N/m). docs/substances.md lists them.
#pragma once
#include "base/param.h"

extern const rh_presets rh_substances;
extern const char *const rh_substance_names[];  // "none", then those of rh_substances; ends with NULL
