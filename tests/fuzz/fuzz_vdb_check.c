// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Any bytes as a .vdb file: our own look at it must say yes or no, and never read or seek outside.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/vdb_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/fuzz_vdb_check.%ld", (long)getpid());
    FILE *file = fopen(path, "wb");
    if (!file) return 0;
    fwrite(data, 1, bytes, file);
    fclose(file);
    rh_vdb_check(path, NULL);
    unlink(path);
    if (rh_memory_bytes() != 0) abort();
    return 0;
}
