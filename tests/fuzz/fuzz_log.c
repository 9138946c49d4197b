// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// libFuzzer target: any bytes as a run's log.jsonl, as `rheo info` reads it. A log is never refused, only passed over
// where it makes no sense.
//   fuzz_log -dict=tests/fuzz/log.dict tests/fuzz/corpus/log
#include <stdlib.h>
#include <string.h>
#include "../../app/log_reader.h"
#include "base/memory.h"
#include "target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *copy = copy_input(data, bytes);
    app_log log;
    require(app_log_parse(copy, bytes, &log, NULL) == RH_OK);
    free(copy);
    require(log.count >= 0 && log.count <= log.capacity && log.stage_count >= 0 && log.stage_count <= APP_MOST_STAGES);
    require(log.label_count >= 0 && log.label_count <= APP_MOST_LABELS);
    for (int i = 0; i < log.stage_count; i++) require(memchr(log.stage_names[i], 0, APP_STAGE_NAME) != NULL);
    for (int i = 0; i < log.label_count; i++) require(memchr(log.labels[i].name, 0, APP_LABEL_NAME) != NULL);
    app_log_free(&log);
    require(rh_memory_bytes() == 0);
    return 0;
}
