// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A visitor (io/vdb_data.h) that runs a program on the blocks it is shown. Of several failures the one of the first
// block is told, whatever the number of threads.
#pragma once
#include <pthread.h>
#include "base/context.h"
#include "io/expression.h"

typedef struct rh_expression_runner {
    const rh_lang_program *program;
    rh_lang_pool pool;
    rh_context *context;     // of whoever made the runner: visits come from threads of OpenVDB's
    rh_lang_result *blocks;  // of the visit at hand
    int64_t block_count;
    rh_lang_result result;  // of the last visit
    rh_expression_report *report;
    int64_t elements;  // visited so far
    int64_t failed_block;
    rh_status failure;
    pthread_mutex_t lock;
} rh_expression_runner;

rh_code rh_expression_runner_init(rh_expression_runner *runner, const rh_lang_program *program,
                                  const rh_lang_scope *scope, rh_expression_report *report, rh_status *status);
void rh_expression_runner_free(rh_expression_runner *runner);
rh_vdb_visitor rh_expression_runner_visitor(rh_expression_runner *runner);
