// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What fuzz targets share.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static inline void require(bool condition)
{
    if (!condition) abort();
}

// A copy of the exact size, so that reading past the end is seen; a zero behind it, as readers are promised.
static inline char *copy_input(const uint8_t *data, size_t bytes)
{
    char *copy = malloc(bytes + 1);
    require(copy != NULL);
    if (bytes > 0) memcpy(copy, data, bytes);
    copy[bytes] = 0;
    return copy;
}
