// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Any bytes as a .vdb file: our own look at it must say yes or no, and never read or seek outside.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/vdb_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static int memory = -1;  // a file without a disk: ten times as many of them a second
    static char path[64];
    if (memory < 0) {
        memory = memfd_create("fuzz_vdb_check", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    }
    if (memory < 0 || ftruncate(memory, 0) != 0 || pwrite(memory, data, bytes, 0) != (ssize_t)bytes) abort();
    rh_vdb_check(path, NULL);
    if (rh_memory_bytes() != 0) abort();
    return 0;
}
