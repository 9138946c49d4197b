// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A struct and its table as YAML.
#pragma once
#include <stdint.h>
#include "base/param.h"
#include "scene/scene.h"

// Every row of `object` with its help, as rh_scene_print does it for a scene. Caller frees with rh_free.
char *rh_print_block(const rh_param_table *table, const void *object, rh_status *status);
// What decides the result, without comments; `former_names`: rows that have one (rh_param.formerly) go by it. Caller
// frees with rh_free.
char *rh_print_decisive(const rh_scene *scene, bool former_names, rh_status *status);
// Hash of what decides the result; see rh_scene.hash.
rh_code rh_print_hash(const rh_scene *scene, uint64_t *hash, rh_status *status);
