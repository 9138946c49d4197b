// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A struct and its table as YAML.
#pragma once
#include <stdint.h>
#include "base/param.h"
#include "scene/scene.h"

// Hash of what decides the result; see rh_scene.hash.
rh_code rh_print_hash(const rh_scene *scene, uint64_t *hash, rh_status *status);
