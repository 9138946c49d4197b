// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The program's commands and what they share: exit codes, messages, the run folder.
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include "base/log.h"
#include "base/status.h"
#include "io/file.h"
#include "options.h"
#include "scene/scene.h"

enum { APP_DONE = 0, APP_FAILED = 1, APP_WRONG = 2, APP_STOPPED = 3 };  // exit codes, part of the interface

extern const app_command app_run, app_check, app_info, app_surface, app_render, app_view, app_ax, app_wedge,
    app_collisions, app_doc;
extern const app_command *const app_commands[];  // NULL-terminated, in the order of the help

int app_exit_code(rh_code code);
// Prints "rheo: error: ..." unless the status is fine or a stop on request; returns the exit code.
int app_report(const rh_status *status);
// Flushes stdout; a full disk or a closed pipe behind it is a failure like any other.
int app_finish_output(void);
void app_log_plain(rh_log_level level, const char *message, void *user);  // the log sink of all commands but run
// From here on Control-C and SIGTERM set the flag that is returned and say that the work stops after `what` ("this
// step"); a second one leaves at once.
atomic_int *app_stop_on_signals(const char *what);
atomic_int *app_stop_due(void);  // set half a second after the first signal, for what would go on much longer
bool app_color(int descriptor);  // a terminal, not "dumb", and NO_COLOR is not set

// Reads a scene as the arguments say: --sandbox, and with `sets` --set.
rh_code app_scene_load(const app_arguments *arguments, const char *path, bool sets, rh_scene *scene, rh_status *status);
#define APP_SANDBOX                                                                         \
    {                                                                                       \
        "sandbox", APP_TEXT, offsetof(app_arguments, sandbox), "DIR",                       \
            "every file that the scene names must lie in this folder, for scenes of others" \
    }

// --- run folders (folder.c) ------------------------------------------------------------------------------------------
typedef struct app_frames {
    int64_t *numbers;  // increasing (owned)
    int count;
    int files;      // more than frames where there are several endings or fractions of time
    int64_t bytes;  // of all files
} app_frames;

// folder/name with a length check.
rh_code app_path(char out[RH_PATH_MAX], const char *folder, const char *name, rh_status *status);
// The path of a run's scene.yaml, which must be there and be a file; `instead`: what else the command takes, or "".
rh_code app_run_scene(char out[RH_PATH_MAX], const char *run, const char *instead, rh_status *status);
bool app_is_folder(const char *path);
// Has a material of the scene (-1: any of them) particles, or does its method live on fields alone?
bool app_has_particles(const rh_scene *scene, int material);
// RH_USER where it has none: surfaces and pictures are made of particles.
rh_code app_require_particles(const rh_scene *scene, int material, const char *run, rh_status *status);
// Files "<stem>.<digits><ending>" of a folder; a missing folder has none. ending NULL = any, also with a fraction of
// time before it ("surface.0001.250.vdb").
rh_code app_frames_list(const char *folder, const char *stem, const char *ending, app_frames *out, rh_status *status);
// Path of such a file. The number of digits differs between runs and is found by looking; four when no such file is
// there.
rh_code app_frame_path(char out[RH_PATH_MAX], const char *folder, const char *stem, int64_t frame, const char *ending,
                       rh_status *status);
// Keeps the frames inside the range; RH_USER when there is none.
rh_code app_frames_choose(app_frames *frames, const app_range *range, rh_status *status);
void app_frames_free(app_frames *frames);
int app_count_files(const char *folder, const char *ending, int64_t *bytes);
int64_t app_disk_use(const char *path);  // bytes of all files below, links not followed
// Removes what an earlier run left in its folder: frames, surfaces, pictures, checkpoints, log. Files that Rheo did not
// make (io/provenance.h) are not touched, whatever their names.
rh_code app_clear_run(const char *run, rh_status *status);
