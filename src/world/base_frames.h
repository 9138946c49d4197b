// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The frames of a run that another one stands on (`from:`), read as they are needed: never more than two at a time. The
// folder is only read. What was read is remembered, frame by frame, by the checksum that its file ends in: a layer that
// goes on from a checkpoint says so when its base has changed meanwhile.
#pragma once
#include "physics/base_run.h"
#include "points/store.h"
#include "scene/scene.h"

typedef struct rh_base_frames rh_base_frames;

// Finds the frames; reads the first for its rate and cell. `until` (s) is how far the layer will go: RH_USER when the
// base ends before, or has no frames.
rh_code rh_base_frames_open(const rh_from_params *from, const char *place, int dimension, double until,
                            rh_base_frames **out, rh_status *status);
void rh_base_frames_free(rh_base_frames *frames);  // NULL is fine

// As the base is at `time` (s). RH_USER when a frame is missing or damaged, naming its file, or is not the one that was
// read before.
rh_code rh_base_frames_move(rh_base_frames *frames, double time, rh_status *status);
// The same without the search for neighbours: particles and their fastest are there, questions about places cannot be
// asked.
rh_code rh_base_frames_move_points(rh_base_frames *frames, double time, rh_status *status);
const rh_base_run *rh_base_frames_run(const rh_base_frames *frames);  // at that time

// Which frames were read and their checksums, for checkpoints. Getting looks at those files again: RH_USER, naming the
// first, when one is another now. `changed`: a warning instead, and what they are now counts.
rh_code rh_base_frames_put(const rh_base_frames *frames, const rh_store *to, rh_status *status);
rh_code rh_base_frames_get(rh_base_frames *frames, const rh_store *from, bool changed, rh_status *status);
// The same as a text for people, a line for the run and one for each frame (RUN/from.txt; rheo info). Caller: rh_free.
char *rh_base_frames_describe(const rh_base_frames *frames, rh_status *status);
