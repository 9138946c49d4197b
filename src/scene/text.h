// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Text that grows. The first failure sticks: later calls do nothing, and rh_text_take reports it.
#pragma once
#include <stddef.h>
#include "base/status.h"

typedef struct rh_text {
    char *bytes;  // owned, zero-terminated
    size_t length, capacity;
    rh_status status;
} rh_text;

void rh_text_add(rh_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void rh_text_add_bytes(rh_text *text, const char *bytes, size_t count);
void rh_text_fill(rh_text *text, char letter, int count);
// Number of characters (not bytes) since the last newline.
int rh_text_column(const rh_text *text);
// Words of `words` from the present column on, broken before column `width`; new lines start with `indent` blanks.
void rh_text_wrap(rh_text *text, const char *words, int indent, int width);
// Hands the text to the caller (rh_free), or NULL with the failure.
char *rh_text_take(rh_text *text, rh_status *status);
