// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Messages live in the status itself, in a buffer of fixed length: to fail takes no memory.
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

rh_code rh_fail(rh_status *status, rh_code code, const char *format, ...)
{
    RH_ASSERT(code != RH_OK);
    if (!status) return code;
    if (status->code != RH_OK) return status->code;
    status->code = code;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(status->message, sizeof status->message, format, arguments);
    va_end(arguments);
    return code;
}

rh_code rh_status_prefix(rh_status *status, const char *format, ...)
{
    if (!status || status->code == RH_OK) return status ? status->code : RH_OK;
    char old[sizeof status->message];
    memcpy(old, status->message, sizeof old);
    va_list arguments;
    va_start(arguments, format);
    int used = vsnprintf(status->message, sizeof status->message, format, arguments);
    va_end(arguments);
    // Not snprintf: cutting a long message short is meant here, and gcc warns of it there.
    size_t at = used < 0 ? 0 : (size_t)used, last = sizeof status->message - 1;
    const char *const parts[] = {": ", old};
    for (int i = 0; i < 2 && at < last; i++) {
        size_t length = strlen(parts[i]), room = last - at;
        if (length > room) length = room;
        memcpy(status->message + at, parts[i], length);
        at += length;
        status->message[at] = 0;
    }
    return status->code;
}

void rh_status_clear(rh_status *status)
{
    if (!status) return;
    status->code = RH_OK;
    status->message[0] = 0;
}
