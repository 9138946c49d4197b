// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The parts all messages are made of: a buffer that grows, JSON by hand, planes, gzip (zlib, RFC 1952).
#include "view/wire.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include "base/memory.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "messages are little endian and written as they lie in memory"
#endif

void rh_message_free(rh_message *message)
{
    rh_free(message->bytes);
    memset(message, 0, sizeof *message);
}

static rh_code make_room(rh_message *m, size_t more, rh_status *status)
{
    if (more > SIZE_MAX / 4 - m->count) return rh_fail(status, RH_MEMORY, "a message of the viewer is too large");
    if (m->count + more <= m->room) return RH_OK;
    size_t room = m->count + more + (m->count + more) / 2 + 256;
    uint8_t *grown = rh_realloc(m->bytes, room, "view.message", status);
    if (!grown) return RH_MEMORY;
    m->bytes = grown;
    m->room = room;
    return RH_OK;
}

rh_code rh_message_append(rh_message *m, const void *bytes, size_t count, rh_status *status)
{
    if (count == 0) return RH_OK;
    RH_TRY(make_room(m, count, status));
    memcpy(m->bytes + m->count, bytes, count);
    m->count += count;
    return RH_OK;
}

rh_code rh_message_print(rh_message *m, rh_status *status, const char *format, ...)
{
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    RH_ASSERT(length >= 0 && length < (int)sizeof line);
    return rh_message_append(m, line, (size_t)length, status);
}

// Bytes beyond ASCII pass as they are: names and titles come from UTF-8 files. What is not UTF-8 there the page shows
// as a replacement mark.
rh_code rh_message_text(rh_message *m, const char *text, rh_status *status)
{
    RH_TRY(rh_message_append(m, "\"", 1, status));
    for (const char *c = text; *c; c++) {
        if (*c == '"' || *c == '\\') RH_TRY(rh_message_print(m, status, "\\%c", *c));
        else if ((unsigned char)*c < 0x20) RH_TRY(rh_message_print(m, status, "\\u%04x", (unsigned)(unsigned char)*c));
        else RH_TRY(rh_message_append(m, c, 1, status));
    }
    return rh_message_append(m, "\"", 1, status);
}

rh_code rh_message_number(rh_message *m, double value, rh_status *status)
{
    return isfinite(value) ? rh_message_print(m, status, "%.9g", value) : rh_message_append(m, "null", 4, status);
}

rh_code rh_message_box(rh_message *m, const char *key, rh_dbox box, rh_status *status)
{
    RH_TRY(rh_message_print(m, status, "\"%s\":[", key));
    for (int i = 0; i < 6; i++) {
        if (i) RH_TRY(rh_message_append(m, ",", 1, status));
        RH_TRY(rh_message_number(m, i < 3 ? (&box.min.x)[i] : (&box.max.x)[i - 3], status));
    }
    return rh_message_append(m, "]", 1, status);
}

rh_code rh_message_describe(rh_message *m, const char kind[5], rh_status *status)
{
    static const char blanks[8] = "        ";
    RH_TRY(rh_message_append(m, blanks, (8 - m->count % 8) % 8, status));
    uint32_t length = (uint32_t)m->count;
    RH_TRY(make_room(m, 8, status));
    memmove(m->bytes + 8, m->bytes, m->count);
    memcpy(m->bytes, kind, 4);
    memcpy(m->bytes + 4, &length, 4);
    m->count += 8;
    return RH_OK;
}

rh_code rh_message_planes(rh_message *m, const void *numbers, int64_t count, int width, rh_status *status)
{
    RH_TRY(make_room(m, (size_t)count * (size_t)width, status));
    uint8_t *to = m->bytes + m->count;
    uint32_t before = 0;
    for (int64_t i = 0; i < count; i++) {
        uint32_t value = width == 2 ? ((const uint16_t *)numbers)[i] : ((const uint32_t *)numbers)[i];
        uint32_t difference = value - before, folded;
        before = value;
        if (width == 2) {
            int16_t d = (int16_t)difference;
            folded = (uint16_t)((uint32_t)d << 1 ^ (uint32_t)(d >> 15));
        } else {
            folded = difference << 1 ^ (uint32_t)((int32_t)difference >> 31);
        }
        for (int b = 0; b < width; b++) to[b * count + i] = (uint8_t)(folded >> 8 * b);
    }
    m->count += (size_t)count * (size_t)width;
    return RH_OK;
}

static void *zip_alloc(void *user, unsigned items, unsigned size)
{
    (void)user;
    return rh_alloc((size_t)items * size, "view.zip", NULL);
}

static void zip_free(void *user, void *block)
{
    (void)user;
    rh_free(block);
}

// The page is on the same machine or a fast network away: level 1 takes a quarter of the time of the usual level
// and gives up a thirtieth of the size.
rh_code rh_wire_gzip(rh_message *message, rh_status *status)
{
    z_stream zip = {.zalloc = zip_alloc, .zfree = zip_free};
    if (message->count > UINT32_MAX) return rh_fail(status, RH_MEMORY, "a message of the viewer is too large");
    if (deflateInit2(&zip, 1, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        return rh_fail(status, RH_MEMORY, "not enough memory to compress a message of the viewer");
    rh_message packed = {.room = deflateBound(&zip, message->count)};
    packed.bytes = rh_alloc(packed.room, "view.message", status);
    if (!packed.bytes) {
        deflateEnd(&zip);
        return RH_MEMORY;
    }
    zip.next_in = message->bytes, zip.avail_in = (uInt)message->count;
    zip.next_out = packed.bytes, zip.avail_out = (uInt)packed.room;
    int end = deflate(&zip, Z_FINISH);
    packed.count = packed.room - zip.avail_out;
    deflateEnd(&zip);
    RH_ASSERT(end == Z_STREAM_END);
    (void)end;
    rh_message_free(message);
    *message = packed;
    return RH_OK;
}
