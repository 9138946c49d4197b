// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Face values beyond where they are known, without a distance: in each sweep a face takes the mean of its known
// neighbours of the same component (Gerszewski 2014, section 3.2.2). For material without a tracked surface; liquid
// with a level set uses grid/levelset.h's extension.
#pragma once
#include "grid/bits.h"

// known[a] has the bits of component a's faces per tile; faces that get a value become known. The same bits for any
// number of threads.
rh_code rh_faces_spread(const rh_tiles *tiles, rh_faces field, rh_bits *const known[3], int sweeps, rh_arena *arena,
                        rh_status *status);
