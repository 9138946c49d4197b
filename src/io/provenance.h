// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Which files are Rheo's own: by name, and by the mark that every writer leaves. A command replaces or removes
// nothing else: whoever names a folder of theirs as a run folder, or keeps files of theirs in one, must not lose
// them.
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "base/status.h"

// "<stem>.<digits>.<ending>" with an ending that is written under this stem ("points", "fields", "surface",
// "ellipsoids", "picture"); surfaces and ellipsoids also with a fraction of time ("surface.0001.250.vdb"). `number` may
// be NULL.
bool rh_provenance_frame_name(const char *name, const char *stem, int64_t *number);
// "checkpoint.<frame>.<step>.h5", or with '-' before the step inside of a frame. The pointers may be NULL.
bool rh_provenance_checkpoint_name(const char *name, int64_t *frame, bool *whole_frame, int64_t *step);
// Any name of a file in a run folder.
bool rh_provenance_name(const char *name);

// Was this file written by Rheo? By its contents: the first and last bytes. False for what is no regular file.
bool rh_provenance_is_ours(const char *path);
// RH_USER when something is there that is not ours.
rh_code rh_provenance_may_replace(const char *path, rh_status *status);
// The same file under two names? False when one of them is missing.
bool rh_provenance_same_file(const char *one, const char *other);
