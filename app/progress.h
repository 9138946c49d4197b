// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// How a run shows that it is alive, on stderr: one live line with a bar on a terminal, one plain line per frame
// otherwise. Messages pass through here too, so that they never land in the middle of the bar.
#pragma once
#include <stdbool.h>
#include "base/log.h"
#include "world/world.h"

typedef struct app_progress {
    bool live, color, quiet;
    bool line_shown;       // the live line is on the screen
    double last_draw;      // s on the monotonic clock
    double started;        // of the run
    double frame_started;  // of the frame being worked on
    double frame_seconds;  // weighted mean of the wall time of a frame, recent ones weighing more; 0 = none yet
    int64_t frames_done;
} app_progress;

void app_progress_begin(app_progress *progress, bool quiet);
void app_progress_update(const rh_progress *step, bool frame_done, void *user);  // user: app_progress
void app_progress_end(app_progress *progress);                                   // takes the live line away
void app_progress_log(rh_log_level level, const char *message, void *user);      // user: app_progress
