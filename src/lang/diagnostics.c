// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The list of a compiler's messages, and how a person sees it.
#include "lang/diagnostics.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/memory.h"

void rh_lang_messages_free(rh_lang_messages *messages)
{
    for (int i = 0; i < messages->count; i++) {
        rh_free(messages->items[i].text);
        rh_free(messages->items[i].suggestion);
    }
    rh_free(messages->items);
    *messages = (rh_lang_messages){0};
}

rh_code rh_lang_messages_add(rh_lang_messages *messages, bool warning, rh_lang_place at, const char *text,
                             const char *suggestion, rh_status *status)
{
    if (!warning) messages->errors++;
    if (messages->count >= RH_LANG_MOST_MESSAGES) return RH_OK;
    if (messages->count == messages->capacity) {
        int capacity = messages->capacity ? 2 * messages->capacity : 8;
        rh_lang_message *items = rh_realloc(messages->items, (size_t)capacity * sizeof *items, "lang.messages", status);
        if (!items) return RH_MEMORY;
        messages->items = items;
        messages->capacity = capacity;
    }
    rh_lang_message message = {.warning = warning, .at = at};
    message.text = rh_strdup(text, "lang.messages", status);
    if (!message.text) return RH_MEMORY;
    if (suggestion && !(message.suggestion = rh_strdup(suggestion, "lang.messages", status))) {
        rh_free(message.text);
        return RH_MEMORY;
    }
    messages->items[messages->count++] = message;
    return RH_OK;
}

static bool comes_after(const rh_lang_place *a, const rh_lang_place *b)
{
    return a->line != b->line ? a->line > b->line : a->column > b->column;
}

void rh_lang_messages_sort(rh_lang_messages *messages)
{
    for (int i = 1; i < messages->count; i++)
        for (int k = i; k > 0 && comes_after(&messages->items[k - 1].at, &messages->items[k].at); k--) {
            rh_lang_message swap = messages->items[k];
            messages->items[k] = messages->items[k - 1];
            messages->items[k - 1] = swap;
        }
}

typedef struct writer {
    char *text;
    size_t length, capacity;
    rh_status *status;
    bool failed;
} writer;

static void put_bytes(writer *w, const char *bytes, size_t count)
{
    if (w->failed) return;
    if (w->length + count + 1 > w->capacity) {
        size_t capacity = 2 * (w->length + count + 1);
        char *text = rh_realloc(w->text, capacity, "lang.messages", w->status);
        if (!text) {
            w->failed = true;
            return;
        }
        w->text = text;
        w->capacity = capacity;
    }
    memcpy(w->text + w->length, bytes, count);
    w->length += count;
    w->text[w->length] = 0;
}

static void put(writer *w, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length < 0) return;
    put_bytes(w, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

// The source line and below it a caret under the place. Bytes that are no printable ASCII become '?', tabs one space,
// so the caret stands right and a terminal is safe; of a very long line only what is near the place is shown.
static void put_excerpt(writer *w, const char *source, size_t length, rh_lang_place at)
{
    enum { BEFORE = 80, MOST = 160 };
    size_t begin = 0;
    for (int line = 1; line < at.line && begin < length; begin++)
        if (source[begin] == '\n') line++;
    size_t end = begin;
    while (end < length && source[end] != '\n') end++;
    size_t column = (size_t)(at.column - 1), from = column > BEFORE ? column - BEFORE : 0;
    if (begin + column > end) return;
    put(w, "    ");
    for (size_t i = begin + from; i < end && i < begin + from + MOST; i++) {
        char c = source[i] == '\t' ? ' ' : source[i];
        put(w, "%c", c >= ' ' && c < 127 ? c : '?');
    }
    put(w, "\n    %*s^", (int)(column - from), "");
    for (int i = 1; i < at.length && column - from + (size_t)i < MOST; i++) put(w, "~");
    put(w, "\n");
}

char *rh_lang_messages_print(const rh_lang_messages *messages, const char *name, const char *source, size_t length,
                             bool warnings, rh_status *status)
{
    writer w = {.status = status};
    put(&w, "%s", "");
    for (int i = 0; i < messages->count; i++) {
        const rh_lang_message *m = &messages->items[i];
        if (m->warning && !warnings) continue;
        put(&w, "%s:%d:%d: %s: ", name, m->at.line, m->at.column, m->warning ? "warning" : "error");
        put_bytes(&w, m->text, strlen(m->text));
        if (m->suggestion) {
            put(&w, " (");
            put_bytes(&w, m->suggestion, strlen(m->suggestion));
            put(&w, ")");
        }
        put(&w, "\n");
        put_excerpt(&w, source, length, m->at);
    }
    if (w.failed) {
        rh_free(w.text);
        return NULL;
    }
    return w.text;
}
