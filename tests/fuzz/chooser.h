// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Choices that the bytes of a fuzzer's input make, one byte each; behind the last one every choice is 0.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct chooser {
    const uint8_t *data;
    size_t bytes, at;
} chooser;

static inline unsigned choose(chooser *c, unsigned count)
{
    return c->at < c->bytes ? c->data[c->at++] % count : 0;
}

static inline void require(bool condition)
{
    if (!condition) abort();
}
