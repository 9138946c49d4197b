// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the files of the public interface share.
#pragma once
#include <rheo/rheo.h>
#include "base/status.h"

// Our code and status as the caller's; `error` may be NULL. Returns the code.
rheo_code rh_api_give(rh_code code, const rh_status *status, rheo_error *error);
