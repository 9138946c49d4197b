// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Reads RUN/log.jsonl: one JSON object per step, flat but for "stages": {"name": seconds} and, at the end of a frame,
// "peaks": {"label": bytes}. Reads what our own writer writes and survives anything else: a line that is not such an
// object is counted and passed over, a last line without its newline (the run is alive, or was killed) is ignored.
// Unknown names are skipped.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

enum { APP_MOST_STAGES = 32, APP_STAGE_NAME = 24, APP_MOST_LABELS = 256, APP_LABEL_NAME = 32 };

typedef struct app_log_step {
    double step, frame, time, dt, particles, cells, tiles, iterations, residual;
    double volume, volume_error, max_speed, memory, seconds;
    double kinetic_energy, potential_energy, energy_put_in, energy_gained;       // J; 0 but at the end of a frame
    double work_solids, work_inflows, work_tension, work_forces, work_programs;  // J; the same
    double momentum_x, momentum_y, momentum_z, pushed_x, pushed_y, pushed_z;     // kg m/s; the same
    double peak, resident;           // bytes; 0 but at the end of a frame, as the energies and momenta above
    double surface_seconds;          // the same; of a run that makes surfaces
    double compile_seconds;          // the same; of a run with programs, since the process began
    double stages[APP_MOST_STAGES];  // s, in the order of the names of the log
} app_log_step;

// Memory counters belong to a process, so a resumed run starts them anew: these are the highest of the whole log.
typedef struct app_log_label {
    char name[APP_LABEL_NAME];
    double peak;
} app_log_label;

typedef struct app_log {
    app_log_step *steps;  // owned; in the order of the run, a step that was done again after a resume counts once
    int64_t count, capacity;
    char stage_names[APP_MOST_STAGES][APP_STAGE_NAME];
    int stage_count;
    app_log_label labels[APP_MOST_LABELS];
    int label_count;
    int64_t bad_lines;
} app_log;

rh_code app_log_read(const char *path, app_log *log, rh_status *status);
// The same from memory; `text` is zero-terminated at text[bytes].
rh_code app_log_parse(const char *text, size_t bytes, app_log *log, rh_status *status);
void app_log_free(app_log *log);
