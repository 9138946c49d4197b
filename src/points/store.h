// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The state of a run by name: whole numbers, floating-point numbers, arrays of bytes and particle sets. What is put
// comes back to the bit. Whoever has state (the world, a method) puts and gets it without knowing where it is kept; the
// backends are checkpoint files (io/checkpoint.h) and memory (below).
//
//   rh_code save(const void *self, const rh_store *store, rh_status *status)
//   {
//       return rh_store_put_float(store, "phase", ((const my_method *)self)->phase, status);
//   }
#pragma once
#include <stddef.h>
#include <stdint.h>
#include "base/status.h"
#include "points/points.h"

// What a backend does. One that can only be written, or only be read, leaves the others NULL.
typedef struct rh_store_backend {
    rh_code (*put_int)(void *self, const char *name, int64_t value, rh_status *status);
    rh_code (*put_float)(void *self, const char *name, double value, rh_status *status);
    rh_code (*put_bytes)(void *self, const char *name, const void *data, size_t bytes, rh_status *status);
    rh_code (*put_points)(void *self, const char *name, const rh_points *points, rh_status *status);
    rh_code (*get_int)(void *self, const char *name, int64_t *value, rh_status *status);
    rh_code (*get_float)(void *self, const char *name, double *value, rh_status *status);
    rh_code (*get_bytes)(void *self, const char *name, void **data, size_t *bytes, rh_status *status);
    rh_code (*get_points)(void *self, const char *name, rh_points *points, rh_status *status);
} rh_store_backend;

enum { RH_STORE_NAME = 96 };

// By value; borrows what `self` points to.
typedef struct rh_store {
    const rh_store_backend *backend;
    void *self;
    char prefix[RH_STORE_NAME];  // of every name: "" or "liquid."
} rh_store;

// The same store for somebody who need not know the names of others: theirs get "part." in front.
rh_store rh_store_within(const rh_store *store, const char *part);

// Names are letters, digits, '_' and '.'; putting a name again replaces its value in memory, and is an error in a file.
rh_code rh_store_put_int(const rh_store *store, const char *name, int64_t value, rh_status *status);
rh_code rh_store_put_float(const rh_store *store, const char *name, double value, rh_status *status);
rh_code rh_store_put_bytes(const rh_store *store, const char *name, const void *data, size_t bytes, rh_status *status);
rh_code rh_store_put_points(const rh_store *store, const char *name, const rh_points *points, rh_status *status);

// RH_IO when there is nothing of that name and kind.
rh_code rh_store_get_int(const rh_store *store, const char *name, int64_t *value, rh_status *status);
rh_code rh_store_get_float(const rh_store *store, const char *name, double *value, rh_status *status);
// *data is the caller's (rh_free).
rh_code rh_store_get_bytes(const rh_store *store, const char *name, void **data, size_t *bytes, rh_status *status);
// The same into `data`, for arrays whose length is known. RH_IO when it is another.
rh_code rh_store_get_exactly(const rh_store *store, const char *name, void *data, size_t bytes, rh_status *status);
// `points` is initialised; what it held is replaced.
rh_code rh_store_get_points(const rh_store *store, const char *name, rh_points *points, rh_status *status);

// --- in memory -------------------------------------------------------------------------------------------------------
// Keeps copies. Filled again with the same names, it allocates nothing.
typedef struct rh_memory_store rh_memory_store;

rh_memory_store *rh_memory_store_create(rh_status *status);  // NULL: no memory
void rh_memory_store_free(rh_memory_store *memory);          // NULL is fine
rh_store rh_memory_store_open(rh_memory_store *memory);      // borrows it
