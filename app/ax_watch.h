// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Watches over work on one file of `rheo ax`: a live line on a terminal, and Control-C ends the work at the next block.
#pragma once
#include <stdatomic.h>
#include <stdbool.h>
#include "io/vdb_data.h"

typedef struct ax_watch {
    rh_vdb_watch watch;  // for rh_vdb_data_read
    atomic_int *stop;
    const char *file;
    bool live, shown;
    atomic_flag drawing;  // by one thread at a time; the others have work to do
    double last;          // drawn, s
} ax_watch;

// The watch must stay where it is as long as its data live.
void ax_watch_begin(ax_watch *watch, atomic_int *stop, const char *file, bool quiet);
void ax_watch_clear(ax_watch *watch);  // takes the line away
