// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Any bytes as what the process that reads .vdb files of others hands back: they may come from a process that such a
// file has taken over.
#include <stdint.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "io/vdb_helper.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void silent(rh_log_level level, const char *message, void *user) { (void)level, (void)message, (void)user; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    rh_points points;
    rh_frame_info info;
    rh_log_set_sink(silent, NULL);
    rh_points_init(&points);
    if (rh_vdb_result_points(data, bytes, &points, &info, NULL) == RH_OK && !rh_points_is_valid(&points)) abort();
    rh_points_free(&points);
    rh_free(rh_vdb_result_text(data, bytes, NULL));
    if (rh_memory_bytes() != 0) abort();
    return 0;
}
