// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the processor must have for this build; asked before anything else, so that an old machine gets a sentence, not
// a crash.
#pragma once
#include <stddef.h>

// What is missing, or NULL.
static inline const char *rh_cpu_lacks(void)
{
#ifdef __AVX2__
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2"))
        return "AVX2; build with -DRHEO_SIMD=portable for this machine (the results are the same bits)";
#endif
    return NULL;
}
