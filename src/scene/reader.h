// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A tree of YAML nodes and a parameter table make a struct. The reader knows nothing of scenes: every rule comes from
// the table. It goes on after a mistake and reports up to RH_READER_PROBLEMS of them, one per line, each with its
// place.
#pragma once
#include "base/param.h"
#include "base/status.h"
#include "scene/scene.h"
#include "scene/yaml.h"

enum { RH_READER_PROBLEMS = 8 };

// Reads `root` into `object` (described by `table`). On success the caller owns what the struct owns (rh_params_free);
// on failure there is nothing to free. `sources` may be NULL; it gets one entry for every PATH value.
rh_code rh_reader_read(rh_yaml *yaml, const rh_yaml_node *root, const rh_param_table *table, void *object,
                       rh_scene_sources *sources, rh_status *status);
