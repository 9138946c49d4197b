// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// `--set path=value`: changes one value of the tree before it is read. The path goes along the tables: keys by '.',
// list items by index or by their name, alternatives of a variant by key:
//   cell=0.01   physics.liquid.flip=0.9   solids[0].wall=no_slip   bodies.pool.velocity=[0, -1, 0]   forces=[]
// The value is YAML. What the file did not mention is created.
#pragma once
#include "base/param.h"
#include "base/status.h"
#include "scene/yaml.h"

rh_code rh_setting_apply(rh_yaml *yaml, const rh_param_table *table, rh_yaml_node *root, const char *setting,
                         rh_status *status);
