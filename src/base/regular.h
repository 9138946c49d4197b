// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Opening files whose names come from others: a scene, a run folder. Only regular files are opened, for a FIFO would
// have us wait for ever and a device may never end; and, where asked for, only those inside of a folder.
#pragma once
#include <stdbool.h>
#include <stddef.h>

// A descriptor to read from, or -1 with *why in words. Links are followed.
int rh_open_regular(const char *path, const char **why);
// The same below an open folder, by a name with slashes ("points/points.0001.vdb"). No link is followed on the way,
// neither out of the folder nor inside.
int rh_open_beneath(int folder, const char *name);
// A folder below an open folder, likewise; "." is the folder itself.
int rh_open_folder_beneath(int folder, const char *name);
// Is what `path` leads to, all links followed, inside of `folder`, which has no links in it? What is not there is
// judged by its name.
bool rh_path_is_inside(const char *path, const char *folder);
// Does a name end in `ending` (".vdb"), with something before it?
bool rh_path_has_ending(const char *path, const char *ending);
