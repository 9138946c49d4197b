// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What belongs to one run and not to the process, so that many runs can live in one: the number of threads
// (parallel.h), the sink of messages (log.h), the limit of memory and its counters (memory.h). The functions of those
// headers act on the context of the calling thread. There is always one: the context of the process, unless another was
// entered.
//
//   rh_context *mine = rh_context_create(status);
//   rh_context_scope before = rh_context_enter(mine);
//   ... work: allocates, logs and runs threads as `mine` says ...
//   rh_context_leave(before);
//   rh_context_release(mine);
//
// What a context does not say, the process' context says for it: threads and sink that were not set; and its limit of
// memory and its counters take in those of all others. A block of memory remembers its context, so it does not matter
// who frees it, nor where; a context that was released lives on until the last of its blocks is freed.
//
// The threads of a parallel loop are not in the context of the thread that started it. A loop whose body allocates or
// logs enters it there (rh_context_enter on both sides of the body); all others need nothing, and cost nothing.
#pragma once
#include "base/status.h"

typedef struct rh_context rh_context;

typedef struct rh_context_scope {
    rh_context *context;  // of the thread, before
    int threads;          // its number of threads, before
} rh_context_scope;

rh_context *rh_context_create(rh_status *status);  // NULL: no memory
void rh_context_release(rh_context *context);      // by its owner, once nobody is in it; NULL is fine

// Threads from the next rh_context_enter on; 0: as the process' context says.
void rh_context_set_threads(rh_context *context, int count);

rh_context *rh_context_current(void);
// For the calling thread, until rh_context_leave. NULL: the process' own.
rh_context_scope rh_context_enter(rh_context *context);
void rh_context_leave(rh_context_scope before);
