// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Any bytes as a checkpoint: refused, or read without harm.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/fuzz_checkpoint.%ld", (long)getpid());
    FILE *file = fopen(path, "wb");
    if (!file) return 0;
    fwrite(data, 1, bytes, file);
    fclose(file);
    rh_checkpoint_reader *reader;
    uint64_t hash;
    rh_points points;
    rh_points_init(&points);
    if (rh_checkpoint_open(path, &reader, &hash, NULL) == RH_OK) {
        rh_checkpoint_get_points(reader, &points, NULL);
        rh_points_free(&points);
        rh_checkpoint_close(reader);
    }
    unlink(path);
    if (rh_memory_bytes() != 0) abort();
    return 0;
}
