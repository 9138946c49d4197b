// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A buffer that grows as it fills. Columns are counted in characters of UTF-8, not in bytes.
#include "scene/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/memory.h"

static rh_code reserve(rh_text *text, size_t more)
{
    if (text->status.code != RH_OK) return text->status.code;
    if (text->capacity - text->length > more) return RH_OK;
    size_t capacity = 2 * text->capacity + more + 256;
    char *bytes = rh_realloc(text->bytes, capacity, "scene.text", &text->status);
    if (!bytes) return RH_MEMORY;
    text->bytes = bytes;
    text->capacity = capacity;
    return RH_OK;
}

void rh_text_add_bytes(rh_text *text, const char *bytes, size_t count)
{
    if (reserve(text, count) != RH_OK) return;
    memcpy(text->bytes + text->length, bytes, count);
    text->length += count;
    text->bytes[text->length] = 0;
}

void rh_text_add(rh_text *text, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length >= 0 && reserve(text, (size_t)length) == RH_OK) {
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void rh_text_fill(rh_text *text, char letter, int count)
{
    for (int i = 0; i < count; i++) rh_text_add_bytes(text, &letter, 1);
}

int rh_text_column(const rh_text *text)
{
    int column = 0;
    for (size_t i = text->length; i > 0 && text->bytes[i - 1] != '\n'; i--)
        column += ((unsigned char)text->bytes[i - 1] & 0xc0) != 0x80;
    return column;
}

void rh_text_wrap(rh_text *text, const char *words, int indent, int width)
{
    int column = rh_text_column(text);
    while (*words == ' ') words++;
    while (*words) {
        size_t length = strcspn(words, " ");
        if (column > indent && column + 1 + (int)length > width) {
            rh_text_add(text, "\n");
            rh_text_fill(text, ' ', indent);
            column = indent;
        } else if (column > indent) {
            rh_text_add(text, " ");
            column++;
        }
        rh_text_add_bytes(text, words, length);
        column += (int)length;
        words += length;
        while (*words == ' ') words++;
    }
}

char *rh_text_take(rh_text *text, rh_status *status)
{
    reserve(text, 0);  // an empty text is a text too
    if (text->status.code != RH_OK) {
        rh_fail(status, text->status.code, "%s", text->status.message);
        rh_free(text->bytes);
        *text = (rh_text){0};
        return NULL;
    }
    char *bytes = text->bytes;
    bytes[text->length] = 0;
    *text = (rh_text){0};
    return bytes;
}
