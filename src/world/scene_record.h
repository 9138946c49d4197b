// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// RUN/scene.yaml: the complete scene of a run, which people may edit (its section `look` is read from there). What
// they wrote is never lost.
#pragma once
#include "io/file.h"
#include "scene/scene.h"

// RH_USER when a scene.yaml is there that is not of a run: somebody's own, whose place a run would take. Reads only.
rh_code rh_scene_record_check(const char *folder, rh_status *status);
// Writes it. One that was edited since a run wrote it is kept: as it is when it says the same but for its look, else
// as scene.edited.yaml beside the new one. A run that is `resumed` goes on with the look that was edited.
rh_code rh_scene_record_write(const char *folder, const rh_scene *scene, bool resumed, rh_status *status);
