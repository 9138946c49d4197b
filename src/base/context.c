// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The current context is a pointer of the thread. Handing a context to every function that may allocate was the other
// way: some eight hundred calls would have carried it, nearly all for nothing.
#include "base/context.h"

#include <omp.h>
#include "base/assert.h"
#include "base/context_parts.h"
#include "base/memory.h"

rh_context rh_process_context;

static _Thread_local rh_context *t_current;  // NULL: the process' own

rh_context *rh_context_current(void) { return t_current ? t_current : &rh_process_context; }

rh_context *rh_context_create(rh_status *status)
{
    rh_context_scope before = rh_context_enter(NULL);  // its own bytes are the process'
    rh_context *context = rh_alloc_zero(sizeof *context, "context", status);
    rh_context_leave(before);
    if (context) atomic_store(&context->references, 1);
    return context;
}

void rh_context_drop(rh_context *context)
{
    if (context == &rh_process_context || atomic_fetch_sub(&context->references, 1) > 1) return;
    rh_free(context);
}

void rh_context_release(rh_context *context)
{
    if (!context) return;
    RH_ASSERT(context != &rh_process_context && context != t_current);
    rh_context_drop(context);
}

void rh_context_set_threads(rh_context *context, int count) { atomic_store(&context->threads, count > 0 ? count : 0); }

rh_context_scope rh_context_enter(rh_context *context)
{
    rh_context_scope before = {t_current, omp_get_max_threads()};
    t_current = context == &rh_process_context ? NULL : context;
    int threads = atomic_load(&rh_context_current()->threads);
    if (threads == 0) threads = atomic_load(&rh_process_context.threads);
    if (threads > 0 && threads != before.threads) omp_set_num_threads(threads);
    return before;
}

void rh_context_leave(rh_context_scope before)
{
    t_current = before.context;
    if (omp_get_max_threads() != before.threads) omp_set_num_threads(before.threads);
}
