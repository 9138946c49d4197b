// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The parts of `rheo info`: each prints to stdout what is in one kind of thing.
#pragma once
#include "base/status.h"
#include "scene/scene.h"

rh_code app_info_run(const char *run, const char *material, rh_status *status);  // of one material, or NULL
// How an attribute of a points file is spread.
rh_code app_info_histogram(const char *path, const char *material, const char *name, rh_status *status);
rh_code app_info_ply(const char *path, rh_status *status);
// Dynamic solids of a run, if it has any; `scene` NULL: nothing.
rh_code app_info_solids(const char *run, const rh_scene *scene, rh_status *status);
// What the probes of a run have measured; nothing when it has none.
rh_code app_info_probes(const char *run, const char *material, rh_status *status);
