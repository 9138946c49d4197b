// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Keys that have got another name since a scene was written (rh_param.formerly): the tree gets the new names before
// anything else looks at it, so that merging, settings and reading know only those.
#pragma once
#include "base/param.h"
#include "scene/yaml.h"

// Renames the keys of a block described by `table`, and of all blocks in it. The log is told of each, with its place.
// RH_USER when a block has both names.
rh_code rh_renamed_apply(rh_yaml *yaml, const rh_param_table *table, rh_yaml_node *block, rh_status *status);

// The method that a key of another once chose, "sand_incompressible" for "model" of "sand"; NULL when there is none.
// Scenes that have such a key become ones of that method, with a warning.
const char *rh_renamed_split(const char *method, const char *key);
