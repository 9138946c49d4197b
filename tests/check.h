// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What every cmocka test needs, in the order cmocka wants it.
#pragma once
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include "base/memory.h"

// Group teardown: a test program that leaves memory behind fails.
static inline int nothing_left(void **state)
{
    (void)state;
    return rh_memory_bytes() == 0 && rh_memory_blocks() == 0 ? 0 : -1;
}
