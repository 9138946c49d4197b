// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Running: a kernel wants dense columns. Where all of a host's are dense a range is one call; else it goes in short
// blocks, and columns that are strided, one value for all, or seen through a selection are copied into dense ones and
// back. A block stays in the nearest cache, so that costs little, and there is one kernel instead of one for each
// mixture of layouts.
#include <stdio.h>
#include <string.h>
#include "base/context.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "lang/program.h"
#include "lang/stop.h"

enum { LANES = 1024 };  // elements of a staged block

int rh_lang_program_columns(const rh_lang_program *program)
{
    return program->listing.attribute_count + program->listing.group_count + program->listing.deletes;
}

size_t rh_lang_program_column_size(const rh_lang_program *program, int column)
{
    return column < program->listing.attribute_count ? rh_lang_type_size(program->listing.attributes[column].type) : 1;
}

static size_t lane_bytes(const rh_lang_program *program)
{
    size_t bytes = 0;
    for (int i = 0; i < rh_lang_program_columns(program); i++) bytes += rh_lang_program_column_size(program, i);
    return bytes;
}

rh_code rh_lang_thread_init(rh_lang_thread *thread, const rh_lang_program *program, const rh_lang_scope *scope,
                            rh_status *status)
{
    *thread = (rh_lang_thread){0};
    size_t columns = (size_t)rh_lang_program_columns(program), externals = (size_t)program->listing.external_count;
    thread->columns = rh_alloc_zero((columns + 1) * sizeof *thread->columns, "lang.thread", status);
    thread->externals = rh_alloc_zero((externals + 1) * sizeof *thread->externals, "lang.thread", status);
    // A column's lanes begin at a multiple of LANES bytes, so they are aligned for any element.
    thread->staging = rh_alloc_zero(lane_bytes(program) * LANES, "lang.thread", status);
    if (!thread->columns || !thread->externals || !thread->staging ||
        rh_lang_context_init(&thread->context, scope, status) != RH_OK) {
        rh_free(thread->columns);
        rh_free(thread->externals);
        rh_free(thread->staging);
        *thread = (rh_lang_thread){0};
        return RH_MEMORY;
    }
    return RH_OK;
}

void rh_lang_thread_free(rh_lang_thread *thread)
{
    if (thread->columns) rh_lang_context_free(&thread->context);
    rh_free(thread->columns);
    rh_free(thread->externals);
    rh_free(thread->staging);
    *thread = (rh_lang_thread){0};
}

// ---- where a column is

typedef struct source {
    char *data;
    int64_t stride;
    size_t size;
    bool writes;
} source;

static source group_source(const rh_lang_group_use *use, const rh_lang_scope *scope)
{
    for (int i = 0; i < scope->group_count; i++)
        if (strcmp(scope->groups[i].name, use->name) == 0)
            return (source){
                .data = (char *)scope->groups[i].member, .stride = 1, .size = 1, .writes = use->adds || use->removes};
    return (source){.size = 1};
}

static source column_source(const rh_lang_program *program, const rh_lang_thread *thread,
                            const rh_lang_elements *elements, int column)
{
    const rh_lang_listing *l = &program->listing;
    if (column < l->attribute_count) {
        const rh_lang_column *c = &elements->attributes[column];
        return (source){.data = c->data,
                        .stride = c->stride,
                        .size = rh_lang_type_size(l->attributes[column].type),
                        .writes = l->attributes[column].writes};
    }
    column -= l->attribute_count;
    if (column < l->group_count) return group_source(&l->groups[column], thread->context.scope);
    return (source){.data = (char *)thread->context.scope->dead, .stride = 1, .size = 1, .writes = true};
}

static bool is_dense(const source *s, const rh_lang_elements *elements)
{
    return s->data && !elements->selection && s->stride == (int64_t)s->size;
}

static void bind_externals(const rh_lang_program *program, rh_lang_thread *thread, const rh_lang_scope *scope)
{
    static const double zero[RH_LANG_MOST_PARTS];
    for (int i = 0; i < program->listing.external_count; i++) {
        const rh_lang_external_use *use = &program->listing.externals[i];
        thread->externals[i] = zero;
        for (int k = 0; k < scope->external_count; k++) {
            const rh_lang_external *given = &scope->externals[k];
            if (strcmp(given->name, use->name) == 0 && given->value &&
                rh_lang_type_named(given->type, strlen(given->type)) == use->type)
                thread->externals[i] = given->value;
        }
    }
}

// ---- copies

static int64_t element_of(const rh_lang_elements *elements, int64_t i)
{
    return elements->selection ? elements->selection[i] : i;
}

// Of a size known to the compiler, so that it becomes a load and a store.
#define COPY_LANES(bytes, to, from)                                  \
    case bytes:                                                      \
        for (int64_t i = 0; i < count; i++) memcpy(to, from, bytes); \
        break

static void gather(const source *s, const rh_lang_elements *elements, int64_t begin, int64_t count, char *lanes)
{
    size_t size = s->size;
    if (!s->data) {
        memset(lanes, 0, (size_t)count * size);
        return;
    }
    switch (size) {
        COPY_LANES(1, lanes + i, s->data + element_of(elements, begin + i) * s->stride);
        COPY_LANES(4, lanes + 4 * i, s->data + element_of(elements, begin + i) * s->stride);
        COPY_LANES(8, lanes + 8 * i, s->data + element_of(elements, begin + i) * s->stride);
        COPY_LANES(12, lanes + 12 * i, s->data + element_of(elements, begin + i) * s->stride);
    default:
        for (int64_t i = 0; i < count; i++)
            memcpy(lanes + (size_t)i * size, s->data + element_of(elements, begin + i) * s->stride, size);
    }
}

static void scatter(const source *s, const rh_lang_elements *elements, int64_t begin, int64_t count, const char *lanes)
{
    size_t size = s->size;
    if (!s->data || !s->writes) return;
    switch (size) {
        COPY_LANES(1, s->data + element_of(elements, begin + i) * s->stride, lanes + i);
        COPY_LANES(4, s->data + element_of(elements, begin + i) * s->stride, lanes + 4 * i);
        COPY_LANES(8, s->data + element_of(elements, begin + i) * s->stride, lanes + 8 * i);
        COPY_LANES(12, s->data + element_of(elements, begin + i) * s->stride, lanes + 12 * i);
    default:
        for (int64_t i = 0; i < count; i++)
            memcpy(s->data + element_of(elements, begin + i) * s->stride, lanes + (size_t)i * size, size);
    }
}

// ---- running

static rh_code explain_index(const rh_lang_program *program, const rh_lang_thread *thread,
                             const rh_lang_elements *elements, int64_t begin, int64_t reason, rh_status *status)
{
    const int64_t index = (reason & ((1 << RH_LANG_INDEX_BITS) - 1)) - (1 << (RH_LANG_INDEX_BITS - 1));
    const rh_lang_site *site = &program->facts.sites[reason >> RH_LANG_INDEX_BITS & (RH_LANG_MOST_SITES - 1)];
    const int64_t element = element_of(elements, begin + (reason >> (RH_LANG_SITE_BITS + RH_LANG_INDEX_BITS)));
    char where[64];
    int32_t voxel[3];
    if (program->domain == RH_LANG_VOLUMES) {
        rh_lang_context there = thread->context;
        there.element = element;
        rh_lang_coordinate(&there, voxel);
        snprintf(where, sizeof where, "voxel (%d, %d, %d)", voxel[0], voxel[1], voxel[2]);
    } else {
        snprintf(where, sizeof where, "element %lld", (long long)element);
    }
    return rh_fail(status, RH_USER, "%d:%d: the index %lld is outside of the %s, expected 0 to %d (%s, the first)",
                   site->at.line, site->at.column, (long long)index, site->matrix ? "matrix" : "vector",
                   site->limit - 1, where);
}

static rh_code explain(const rh_lang_program *program, rh_lang_thread *thread, const rh_lang_elements *elements,
                       int64_t begin, int64_t reason, rh_status *status)
{
    if (thread->context.failed) {
        rh_fail(status, thread->context.status.code, "%s", thread->context.status.message);
        return thread->context.status.code;
    }
    if (reason == RH_LANG_ASKED_TO_STOP) return rh_fail(status, RH_STOPPED, "stopped on request");
    if (reason > 0) return explain_index(program, thread, elements, begin, reason, status);
    const rh_lang_place *at = &program->facts.loops[-(reason + 1)];
    const rh_lang_scope *scope = thread->context.scope;
    return rh_fail(status, RH_USER,
                   "%d:%d: an element took more than %lld steps and was in this loop (if the program is right, allow "
                   "more: --budget of rheo ax, budget "
                   "in a scene)",
                   at->line, at->column, (long long)(scope->steps > 0 ? scope->steps : RH_LANG_STEPS_DEFAULT));
}

static rh_code call_kernel(const rh_lang_program *program, rh_lang_thread *thread, const rh_lang_elements *elements,
                           int64_t begin, int64_t count, rh_status *status)
{
    const rh_lang_scope *scope = thread->context.scope;
    thread->context.steps_left = scope->steps > 0 ? scope->steps : RH_LANG_STEPS_DEFAULT;
    const int64_t *selection = elements->selection ? elements->selection + begin : NULL;
    int64_t reason = program->kernel(&thread->context, thread->columns, thread->externals, begin, selection, count);
    return reason || thread->context.failed ? explain(program, thread, elements, begin, reason, status) : RH_OK;
}

static rh_code run_staged(const rh_lang_program *program, rh_lang_thread *thread, const rh_lang_elements *elements,
                          int64_t begin, int64_t end, rh_status *status)
{
    int columns = rh_lang_program_columns(program);
    for (bool first = true; begin < end; begin += LANES, first = false) {
        int64_t count = end - begin < LANES ? end - begin : LANES;
        char *lanes = thread->staging;
        for (int i = 0; i < columns; i++) {
            source s = column_source(program, thread, elements, i);
            bool dense = is_dense(&s, elements);
            thread->columns[i] = dense ? s.data + begin * s.stride : lanes;
            bool constant = s.stride == 0 && !s.writes &&
                            !first;  // the block before, which was not shorter, left its lanes full
            if (!dense && !constant) gather(&s, elements, begin, count, lanes);
            lanes += s.size * LANES;
        }
        rh_code code = call_kernel(program, thread, elements, begin, count, status);
        for (int i = 0; i < columns; i++) {
            source s = column_source(program, thread, elements, i);
            if (!is_dense(&s, elements)) scatter(&s, elements, begin, count, thread->columns[i]);
        }
        RH_TRY(code);
    }
    return RH_OK;
}

static rh_code check_scope(const rh_lang_program *program, const rh_lang_scope *scope, rh_status *status)
{
    const rh_lang_listing *l = &program->listing;
    if (l->deletes && !scope->dead)
        return rh_fail(status, RH_USER, "the program deletes points, but here they cannot be deleted");
    for (int i = 0; i < l->group_count; i++) {
        source s = group_source(&l->groups[i], scope);
        if (l->groups[i].adds && !s.data)
            return rh_fail(status, RH_USER, "the program adds points to the group \"%s\", which was not made",
                           l->groups[i].name);
    }
    return RH_OK;
}

rh_code rh_lang_run(const rh_lang_program *program, rh_lang_thread *thread, const rh_lang_elements *elements,
                    int64_t begin, int64_t end, rh_status *status)
{
    if (begin >= end) return RH_OK;
    RH_TRY(check_scope(program, thread->context.scope, status));
    bind_externals(program, thread, thread->context.scope);
    bool dense = true;
    int columns = rh_lang_program_columns(program);
    for (int i = 0; i < columns; i++) {
        source s = column_source(program, thread, elements, i);
        RH_ASSERT(!s.writes || !s.data || s.stride != 0);
        dense &= is_dense(&s, elements);
        thread->columns[i] = s.data + begin * s.stride;
    }
    if (!dense) return run_staged(program, thread, elements, begin, end, status);
    return call_kernel(program, thread, elements, begin, end - begin, status);
}

// ---- all elements

rh_code rh_lang_pool_init(rh_lang_pool *pool, const rh_lang_program *program, const rh_lang_scope *scope,
                          rh_status *status)
{
    int count = rh_threads();
    *pool = (rh_lang_pool){.threads = rh_alloc_zero((size_t)count * sizeof *pool->threads, "lang.pool", status)};
    if (!pool->threads) return RH_MEMORY;
    for (; pool->count < count; pool->count++) {
        rh_code code = rh_lang_thread_init(&pool->threads[pool->count], program, scope, status);
        if (code != RH_OK) {
            rh_lang_pool_free(pool);
            return code;
        }
    }
    return RH_OK;
}

void rh_lang_pool_watch(rh_lang_pool *pool, const atomic_int *stop)
{
    for (int i = 0; i < pool->count; i++) rh_lang_context_watch(&pool->threads[i].context, stop);
}

void rh_lang_pool_free(rh_lang_pool *pool)
{
    for (int i = 0; i < pool->count; i++) rh_lang_thread_free(&pool->threads[i]);
    rh_free(pool->threads);
    *pool = (rh_lang_pool){0};
}

static rh_code run_block(const rh_lang_program *program, rh_lang_thread *thread, const rh_lang_elements *elements,
                         int64_t block, int64_t count, rh_context *context, rh_lang_result *result, rh_status *status)
{
    int64_t begin = block * RH_BLOCK, end = rh_block_end(block, count);
    rh_context_scope before = rh_context_enter(context);
    rh_lang_context_begin(&thread->context, element_of(elements, begin));
    rh_code code = rh_lang_run(program, thread, elements, begin, end, status);
    rh_code ended = rh_lang_context_end(&thread->context, result, status);
    rh_context_leave(before);
    return code != RH_OK ? code : ended;
}

rh_code rh_lang_pass(const rh_lang_program *program, rh_lang_pool *pool, const rh_lang_elements *elements,
                     int64_t count, rh_lang_result *result, rh_status *status)
{
    *result = (rh_lang_result){0};
    int64_t blocks = rh_blocks(count), failed_block = INT64_MAX;
    rh_lang_result *results = rh_alloc_zero((size_t)blocks * sizeof *results, "lang.results", status);
    if (!results) return RH_MEMORY;
    rh_status failure = {0};
    rh_context *context = rh_context_current();
#pragma omp parallel for schedule(dynamic, 4) num_threads(pool->count)
    for (int64_t block = 0; block < blocks; block++) {
        rh_status own = {0};
        // Blocks after one that failed are left out: a program that never ends would take its time for each. Those
        // before it are run, so which one is reported, the first, does not depend on threads.
        int64_t failed;
#pragma omp atomic read
        failed = failed_block;
        if (block > failed || run_block(program, &pool->threads[rh_thread()], elements, block, count, context,
                                        &results[block], &own) == RH_OK)
            continue;
#pragma omp critical
        if (block < failed_block) {
#pragma omp atomic write
            failed_block = block;
            failure = own;
        }
    }
    rh_code code = failure.code;
    if (code == RH_OK) code = rh_lang_results_merge(results, blocks, result, status);
    else rh_fail(status, code, "%s", failure.message);
    for (int64_t block = 0; block < blocks; block++) rh_lang_result_free(&results[block]);
    rh_free(results);
    return code;
}
