// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Every slot of the visitor has a thread of the language (rh_lang_thread). What blocks collect (prints, counts of
// changes) is kept block by block and merged in their order at the end.
#include "io/expression_runner.h"
#include <string.h>
#include "base/memory.h"

static rh_code prepare(void *user, int64_t count, rh_status *status)
{
    rh_expression_runner *r = user;
    r->block_count = 0;
    r->failed_block = INT64_MAX;
    r->blocks = rh_alloc_zero((size_t)count * sizeof *r->blocks, "expression.blocks", status);
    if (!r->blocks) return RH_MEMORY;
    r->block_count = count;
    return RH_OK;
}

static void drop_blocks(rh_expression_runner *r)
{
    for (int64_t i = 0; i < r->block_count; i++) rh_lang_result_free(&r->blocks[i]);
    rh_free(r->blocks);
    r->blocks = NULL;
    r->block_count = 0;
}

static rh_code keep_print(rh_expression_report *report, const rh_lang_result *result, rh_status *status)
{
    report->printed_lost += result->printed_lost;
    if (result->printed_length == 0) return RH_OK;
    char *grown = rh_realloc(report->printed, (size_t)(report->printed_length + result->printed_length),
                             "expression.print", status);
    if (!grown) return RH_MEMORY;
    memcpy(grown + report->printed_length, result->printed, (size_t)result->printed_length);
    report->printed = grown;
    report->printed_length += result->printed_length;
    return RH_OK;
}

static rh_code finish(void *user, rh_status *status)
{
    rh_expression_runner *r = user;
    rh_code code = r->failure.code;
    if (code != RH_OK) rh_fail(status, code, "%s", r->failure.message);
    rh_lang_result_free(&r->result);
    if (code == RH_OK) code = rh_lang_results_merge(r->blocks, r->block_count, &r->result, status);
    if (code == RH_OK) code = keep_print(r->report, &r->result, status);
    drop_blocks(r);
    return code;
}

static void remember_failure(rh_expression_runner *r, int64_t block, const rh_status *failure)
{
    if (block >= r->failed_block) return;
    r->failed_block = block;
    r->failure = *failure;
}

static rh_code visit(void *user, int slot, int64_t block, const int32_t origin[3], const rh_lang_elements *elements,
                     int64_t begin, int64_t end)
{
    rh_expression_runner *r = user;
    // Blocks after one that failed are left out: a program that never ends would take its time for each. Those before
    // it are run, so the first is told.
    pthread_mutex_lock(&r->lock);
    bool late = block > r->failed_block;
    pthread_mutex_unlock(&r->lock);
    if (late) return RH_USER;
    rh_lang_thread *thread = &r->pool.threads[slot];
    rh_status own = {0};
    rh_context_scope before = rh_context_enter(r->context);
    rh_lang_context_begin(&thread->context, elements->selection ? elements->selection[begin] : begin);
    memcpy(thread->context.origin, origin, sizeof thread->context.origin);
    rh_code code = rh_lang_run(r->program, thread, elements, begin, end, &own);
    rh_code ended = rh_lang_context_end(&thread->context, &r->blocks[block], &own);
    rh_context_leave(before);
    if (code == RH_OK) code = ended;
    pthread_mutex_lock(&r->lock);
    r->elements += end - begin;
    if (code != RH_OK) remember_failure(r, block, &own);
    pthread_mutex_unlock(&r->lock);
    return code;
}

rh_code rh_expression_runner_init(rh_expression_runner *runner, const rh_lang_program *program,
                                  const rh_lang_scope *scope, rh_expression_report *report, rh_status *status)
{
    *runner = (rh_expression_runner){.program = program, .report = report, .context = rh_context_current()};
    RH_TRY(rh_lang_pool_init(&runner->pool, program, scope, status));
    pthread_mutex_init(&runner->lock, NULL);
    return RH_OK;
}

void rh_expression_runner_free(rh_expression_runner *runner)
{
    if (!runner->pool.threads) return;
    drop_blocks(runner);
    rh_lang_result_free(&runner->result);
    rh_lang_pool_free(&runner->pool);
    pthread_mutex_destroy(&runner->lock);
}

rh_vdb_visitor rh_expression_runner_visitor(rh_expression_runner *runner)
{
    return (rh_vdb_visitor){.prepare = prepare, .finish = finish, .visit = visit, .user = runner};
}
