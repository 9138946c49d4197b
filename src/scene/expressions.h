// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The programs of a scene: their table, their files, and mistakes in them as places in the scene file.
#pragma once
#include "scene/scene.h"

extern const rh_param_table rh_expression_table;  // "expression"

// Puts the text of program files into the scene and checks all programs, that of the surface included, as far as that
// is possible without knowing the particles' attributes: grammar, types, functions, values from outside.
rh_code rh_expressions_load(rh_scene *scene, rh_status *status);

// The numbers every program may read as $name, in any scalar type, beside those its scene gives. NULL-terminated.
extern const char *const rh_expression_given[];          // in a run: "time", "dt" ...
extern const char *const rh_surface_expression_given[];  // before surfacing
