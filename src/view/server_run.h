// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A run folder as the server sees it: every answer that needs the disk. Numbers come in, never names. Safe to call from
// several threads.
#pragma once
#include <pthread.h>
#include <stdint.h>
#include "base/status.h"
#include "io/file.h"
#include "scene/scene.h"
#include "view/wire.h"

typedef struct rh_served_run {
    char run[RH_PATH_MAX], sandbox[RH_PATH_MAX];  // the second empty = none
    char only[RH_MATERIAL_NAME + 1];              // the material to show; empty = all
    int folder;  // the run folder, open: every file is opened below it, and no link is followed (base/regular.h)
    pthread_mutex_t lock;  // of the fields below
    rh_scene scene;        // the last one that could be read
    bool has_scene;
    uint64_t scene_version;
    char scene_problem[512];
} rh_served_run;

// RH_USER when the folder has no scene that can be read. Meshes of the scene may lie anywhere, or in the folder
// `sandbox` unless it is NULL. `material`: the one to show; NULL = all.
rh_code rh_served_open(rh_served_run *served, const char *run, const char *material, const char *sandbox,
                       rh_status *status);
void rh_served_close(rh_served_run *served);

// Which version of a file there is: changes when the file is replaced; 0 = none.
uint64_t rh_served_points_version(const rh_served_run *served, int64_t frame);
uint64_t rh_served_surface_version(rh_served_run *served, int64_t frame);
uint64_t rh_served_scene_version(const rh_served_run *served);

rh_code rh_served_state(rh_served_run *served, rh_message *out, rh_status *status);
rh_code rh_served_points(rh_served_run *served, int64_t frame, const rh_wire_view *view, rh_message *out,
                         rh_status *status);
// Of several materials all in one mesh.
rh_code rh_served_surface(rh_served_run *served, int64_t frame, rh_message *out, rh_status *status);
rh_code rh_served_solids(rh_served_run *served, rh_message *out, rh_status *status);
rh_code rh_served_vertices(rh_served_run *served, int64_t frame, rh_message *out, rh_status *status);
rh_code rh_served_scene(rh_served_run *served, rh_message *out, rh_status *status);
// Whole lines from `offset` on, at most RH_SERVED_LOG bytes. A log that was replaced or cut (another version) starts at
// 0 again.
enum { RH_SERVED_LOG = 2 << 20 };
rh_code rh_served_log(rh_served_run *served, uint64_t version, int64_t offset, rh_message *out, rh_status *status);
// The same of probes.csv, or of the file of the material that is shown alone.
rh_code rh_served_probes(rh_served_run *served, uint64_t version, int64_t offset, rh_message *out, rh_status *status);
