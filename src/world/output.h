// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The run folder: scene.yaml (complete), log.jsonl (one line per step), probes.csv, points/points.####.vdb|ply,
// fields/fields.####.vdb of methods that have fields, checkpoint/, and surface/ when the scene asks for surfaces
// while running.
#pragma once
#include <stdio.h>
#include "grid/fields.h"
#include "io/file.h"
#include "io/frame.h"
#include "io/vdb_fields.h"
#include "io/vdb_sets.h"
#include "lang/cache.h"
#include "physics/physics.h"
#include "world/probes.h"
#include "world/world.h"

typedef struct rh_output {
    const rh_scene *scene;
    char folder[RH_PATH_MAX];
    int digits;  // of frame numbers in names: 4, or more when the last frame needs it
    FILE *log;
    FILE *probes[RH_MAX_MATERIALS];  // of each material; NULL without probes
} rh_output;

// Makes the folders, sweeps leftovers, writes scene.yaml and opens the log; lines of steps after `last_step` (from a
// run that went on after the checkpoint it is resumed from) are dropped. Nothing is touched when rh_output_check
// refuses. `resumed`: scene_record.h.
rh_code rh_output_open(rh_output *output, const rh_scene *scene, const char *folder, int64_t last_frame,
                       int64_t last_step, bool resumed, rh_status *status);
// For frames alone, in a folder that is there: no log, no scene.
rh_code rh_output_reopen(rh_output *output, const rh_scene *scene, const char *folder, int64_t last_frame,
                         rh_status *status);
// RH_USER when the folder holds a file that Rheo did not make where a run would write one of its own. Reads only.
rh_code rh_output_check(const char *folder, const rh_scene *scene, rh_status *status);
// Are all files of a frame there, and not empty? Of its surface, as the scene wants them?
bool rh_output_has_frame(const char *folder, const rh_scene *scene, int64_t frame);
bool rh_output_has_surface(const char *folder, const rh_scene *scene, int64_t frame);
void rh_output_close(rh_output *output);

// The file of the probes, after rh_output_open: probe_file.h.
// probes.csv, or probes.NAME.csv for the probes of another material than the first.
rh_code rh_output_open_probes(rh_output *output, int material, const rh_probes *probes, double time, bool begun,
                              rh_status *status);
rh_code rh_output_probes(rh_output *output, int material, const rh_probes *probes, rh_status *status);
// Rows are on their way to the disk.
rh_code rh_output_flush(rh_output *output, rh_status *status);

// All particle sets of a frame: in one .vdb, a grid each; a .ply for each, which with several has the set's name in its
// own.
rh_code rh_output_frame(const rh_output *output, const rh_frame_set *sets, int count, const rh_frame_info *info,
                        rh_status *status);
// Beside the points, where there are any. Their folder is made with the first; from then on a frame without its fields
// counts as missing.
rh_code rh_output_fields(const rh_output *output, const rh_owned_fields *fields, int count, const rh_frame_info *info,
                         rh_status *status);
// RUN/from.txt: the text of the first base, or of another after it.
rh_code rh_output_bases(const rh_output *output, const char *text, bool first, rh_status *status);
// Size of the files that a frame has in the run folder, points and surface.
int64_t rh_output_frame_bytes(const rh_output *output, int64_t frame);
// RUN/debug/points.0012.ply: of a run that has gone wrong. `path` gets its name.
rh_code rh_output_debug(const rh_output *output, const rh_points *points, const rh_frame_info *info,
                        char path[RH_PATH_MAX], rh_status *status);
// The surface of a frame that was written, from its file on disk, so that `rheo surface` would give the same bytes.
// `material` NULL: of the run's only one. Its wall time is added to *seconds. `programs` may be NULL unless the scene's
// surface has an expression.
rh_code rh_output_surface(const rh_output *output, int64_t frame, int material, rh_lang_cache *programs,
                          double *seconds, rh_status *status);
// One line for the step just done. A line that ends a frame (`frame_done`) also holds the memory peaks of this process
// so far: "peaks" by label, "peak" of all at one time, "resident" of the whole process, and "surface_seconds" when the
// run makes surfaces, "compile_seconds" when the scene has programs; and the energies of the particles. With several
// materials a line says whose step it was; numbers of particles, cells and energies are of all, and at the end of a
// frame "water.particles" and others have them one by one (`materials`, `count` of them).
rh_code rh_output_log(rh_output *output, const rh_progress *progress, const rh_step_report *report,
                      const rh_progress *materials, int count, bool frame_done, rh_status *status);
// RUN/checkpoint/checkpoint.<frame>.<step>.h5, or checkpoint.<frame>-<step>.h5 inside a frame; nine digits of the step.
rh_code rh_output_checkpoint_path(const rh_output *output, int64_t frame, int64_t step, bool whole_frame,
                                  char path[RH_PATH_MAX], rh_status *status);
// Keeps the newest `keep` checkpoints of the folder.
void rh_output_prune(const rh_output *output, int64_t keep);
// Paths of a folder's checkpoints, newest first (by step in their name), at most `max`.
int rh_output_checkpoints(const char *folder, char (*paths)[RH_PATH_MAX], int max);
// The newest alone, without any memory of its own; false when there is none.
bool rh_output_newest(const char *folder, char path[RH_PATH_MAX]);
// The last frame that was done when it was made, by its name.
bool rh_output_newest_frame(const char *folder, int64_t *frame);
// Does a run that goes on from this checkpoint come to the end of `frame`?
bool rh_output_is_before(const char *path, int64_t frame);
