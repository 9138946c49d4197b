// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Ending programs that run: their loops look at a flag of the host's. Apart from runtime.h, which C++ reads, too, and
// C++ has no atomic_int.
#pragma once
#include <stdatomic.h>
#include "lang/lang.h"

// Loops of all threads of the pool end soon (RH_STOPPED) when *stop is not zero. NULL: nobody asks. Before a pass.
void rh_lang_pool_watch(rh_lang_pool *pool, const atomic_int *stop);

// For compiled code and its host.
#define RH_LANG_ASKED_TO_STOP INT64_MIN  // what a kernel gives back
void rh_lang_context_watch(rh_lang_context *context, const atomic_int *stop);
