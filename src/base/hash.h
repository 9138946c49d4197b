// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A 64-bit hash for scene identity and golden tests (not for security): FNV-1a folded through a 64-bit mixer, eight
// bytes at a time. Chain calls by passing the previous value as `seed`.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/random.h"

static inline uint64_t rh_hash(const void *data, size_t bytes, uint64_t seed)
{
    const unsigned char *p = data;
    uint64_t h = seed ^ 0xcbf29ce484222325ull ^ bytes;
    for (; bytes >= 8; bytes -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = rh_mix64(h ^ word) * 0x100000001b3ull;
    }
    uint64_t tail = 0;
    memcpy(&tail, p, bytes);
    return rh_mix64(h ^ tail);
}
