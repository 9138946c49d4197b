// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The inside of a context, for the files of this folder that keep something in it.
#pragma once
#include <stdatomic.h>
#include "base/context.h"
#include "base/log.h"

enum { RH_MEMORY_LABELS = 256 };

typedef struct rh_memory_count {
    atomic_llong bytes, peak, blocks;
} rh_memory_count;

struct rh_context {
    atomic_llong references;  // its owner and its blocks
    atomic_int threads;       // 0: as the process' context says; there: as OpenMP says
    rh_log_sink *sink;        // NULL: as the process' context says; there: messages are dropped
    void *sink_user;
    atomic_llong limit;  // bytes; 0 = none
    rh_memory_count total, labels[RH_MEMORY_LABELS];
};

extern rh_context rh_process_context;
// The owner's or a block's; the last one frees the context.
void rh_context_drop(rh_context *context);
