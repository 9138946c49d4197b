// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// All memory goes through here, with a label that says what it is for ("points.P", "grid.fields", ...). Labels must be
// string literals (kept by pointer). Blocks are 64-byte aligned. Counters are per label and in total, of the context
// that the calling thread is in (context.h): of the whole process where none was entered. Tests require the total to be
// zero at the end.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"

// Returns NULL with a status when memory runs out (or a test asked for failure). Size 0 gives a valid empty block.
void *rh_alloc(size_t bytes, const char *label, rh_status *status);
void *rh_alloc_zero(size_t bytes, const char *label, rh_status *status);
// Keeps the old block untouched on failure. `block` may be NULL.
void *rh_realloc(void *block, size_t bytes, const char *label, rh_status *status);
void rh_free(void *block);  // NULL is fine

char *rh_strdup(const char *text, const char *label, rh_status *status);

int64_t rh_memory_bytes(void);       // now
int64_t rh_memory_blocks(void);      // now
int64_t rh_memory_peak(void);        // highest rh_memory_bytes() so far
int64_t rh_memory_of_process(void);  // bytes now, of all contexts
// Highest resident size of the process so far, as the system counts it: with code, libraries and what they allocate.
int64_t rh_memory_resident_peak(void);

typedef struct rh_memory_label {
    const char *label;
    int64_t bytes, peak, blocks;
} rh_memory_label;
// Copies up to `max` labels (largest peak first) and returns how many.
int rh_memory_labels(rh_memory_label *out, int max);

// No more than this at a time (bytes, counted as rh_memory_bytes): what would go beyond fails like memory that has run
// out. 0 = no limit. Of the calling thread's context; the process' own limit is one for all contexts together.
void rh_memory_set_limit(int64_t bytes);
int64_t rh_memory_limit(void);  // the lower of the two
// What this process may have of the machine, as far as the system tells: the physical memory, or less where a container
// or batch system allows less (cgroups).
int64_t rh_memory_of_machine(void);

// Tests only: the allocation after `count` more successful ones fails, in whatever context; negative switches it off.
void rh_memory_fail_after(int64_t count);
