// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A scene file with everything it includes, as one tree.
//
// `include: other.yaml`, or a list of names, at the root of a file (and only there) reads the other files first, in
// order; then the file's own keys override: blocks merge key by key, a variant (shape, physics) merges when both name
// the same alternative and is replaced otherwise, the lists of the root (bodies, solids, emitters, sinks, forces) are
// joined, and everything else, lists inside blocks too, is replaced. Names of files are relative to the file that
// includes them.
#pragma once
#include "base/param.h"
#include "base/status.h"
#include "scene/yaml.h"

// RH_IO when `path` itself cannot be read; everything else that is wrong is RH_USER. `sandbox` (NULL = none) is a
// folder, absolute and without links: files that are included must lie in it. `alone`: nothing may be included.
rh_code rh_include_file(rh_yaml *yaml, const rh_param_table *table, const char *path, const char *sandbox,
                        rh_yaml_node **root, rh_status *status);
rh_code rh_include_text(rh_yaml *yaml, const rh_param_table *table, const char *name, const char *text, size_t bytes,
                        const char *sandbox, bool alone, rh_yaml_node **root, rh_status *status);
