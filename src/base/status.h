// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// How functions report failure. A function that can fail returns rh_code and takes an rh_status* as its last
// parameter; on failure the status carries the message a user will read. The library never prints and never exits.
//
//   rh_code load(const char *path, thing *out, rh_status *status)
//   {
//       RH_TRY(open_it(path, status));
//       if (bad) return rh_fail(status, RH_USER, "%s:%d:%d: ...", path, line, column);
//       return RH_OK;
//   }
//
// `status` may be NULL when the caller only wants the code.
#pragma once
#include "base/assert.h"

typedef enum rh_code {
    RH_OK = 0,
    RH_USER,     // wrong input: scene, mesh, file or command line; message names file, line, column (exit 2)
    RH_IO,       // the system refused: missing file, full disk, permission (exit 1)
    RH_MEMORY,   // allocation failed (exit 1)
    RH_NUMERIC,  // NaN, runaway values, solver did not converge (exit 1)
    RH_STOPPED,  // stopped on request, with a checkpoint (exit 3)
} rh_code;

typedef struct rh_status {
    rh_code code;
    char message[2048];  // one or more lines without a trailing newline; empty while code is RH_OK
} rh_status;

// Sets code and message (printf style) and returns the code. The first failure wins: a status that already carries
// one is left alone, so clean-up code cannot hide the cause.
rh_code rh_fail(rh_status *status, rh_code code, const char *format, ...) __attribute__((format(printf, 3, 4)));

// Puts "prefix: " before an existing message; nothing happens on RH_OK. Returns the status' code.
rh_code rh_status_prefix(rh_status *status, const char *format, ...) __attribute__((format(printf, 2, 3)));

void rh_status_clear(rh_status *status);

#define RH_TRY(call)                                    \
    do {                                                \
        rh_code rh_try_code_ = (call);                  \
        if (rh_try_code_ != RH_OK) return rh_try_code_; \
    } while (0)
