// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

static rh_log_sink *g_sink;
static void *g_user;

void rh_log_set_sink(rh_log_sink *sink, void *user)
{
    g_sink = sink;
    g_user = user;
}

void rh_log(rh_log_level level, const char *format, ...)
{
    if (!g_sink) return;
    char message[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    g_sink(level, message, g_user);
}
