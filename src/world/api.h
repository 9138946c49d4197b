// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the files of the public interface share.
#pragma once
#include <rheo/rheo.h>
#include "base/status.h"
#include "lang/functions.h"

// Our code and status as the caller's; `error` may be NULL. Returns the code.
rheo_code rh_api_return(rh_code code, const rh_status *status, rheo_error *error);

// The caller's functions with texts of our own.
typedef struct rh_api_functions {
    rh_lang_function *items;
    int count;
} rh_api_functions;
rh_code rh_api_functions_copy(rh_api_functions *out, const rheo_function *functions, int count,
                              rh_status *status);  // after a failure, too, to be freed
void rh_api_functions_free(rh_api_functions *functions);
