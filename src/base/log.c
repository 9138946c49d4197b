// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// One message is formatted into a buffer of fixed length, so that telling of a lack of memory takes none.
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include "base/context_parts.h"

void rh_log_set_sink(rh_log_sink *sink, void *user)
{
    rh_context *context = rh_context_current();
    context->sink = sink;
    context->sink_user = user;
}

void rh_log(rh_log_level level, const char *format, ...)
{
    const rh_context *context = rh_context_current();
    if (!context->sink) context = &rh_process_context;
    if (!context->sink) return;
    char message[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    context->sink(level, message, context->sink_user);
}
