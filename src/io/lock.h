// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// One run at a time in a folder. The lock is the system's lock on the file FOLDER/.lock (flock), so it ends with its
// process however that ends: a killed run never blocks the next one. The file tells whose it is and is removed by who
// held it last.
#pragma once
#include "base/status.h"
#include "io/file.h"

typedef struct rh_folder_lock {
    int descriptor;  // -1: none is held
    char path[RH_PATH_MAX];
} rh_folder_lock;

// Makes the folder when it is missing. RH_USER when another process holds the lock, naming it. A file system that has
// no locks gives a warning in the log.
rh_code rh_folder_lock_take(rh_folder_lock *lock, const char *folder, rh_status *status);
void rh_folder_lock_release(rh_folder_lock *lock);
