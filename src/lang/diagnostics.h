// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What the compiler has to say about a program: errors and warnings with their place, and where one helps a suggestion.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include "base/status.h"

typedef struct rh_lang_place {
    int line, column;  // from 1, in bytes
    int length;        // bytes from there, on that line
} rh_lang_place;

typedef struct rh_lang_message {
    bool warning;
    rh_lang_place at;
    char *text;        // what was found and what was expected, without a full stop
    char *suggestion;  // what to write instead, or NULL
} rh_lang_message;

// An empty one is all zeros. Owns its texts.
typedef struct rh_lang_messages {
    rh_lang_message *items;
    int count, capacity, errors;
} rh_lang_messages;

enum { RH_LANG_MOST_MESSAGES = 100 };  // what comes after the hundredth is dropped, except that errors are counted

void rh_lang_messages_free(rh_lang_messages *messages);
// Appends; `suggestion` may be NULL. RH_MEMORY when memory runs out.
rh_code rh_lang_messages_add(rh_lang_messages *messages, bool warning, rh_lang_place at, const char *text,
                             const char *suggestion, rh_status *status);
// By place; those of one place stay in order.
void rh_lang_messages_sort(rh_lang_messages *messages);
// All of them for a reader, each as
//   name:3:14: error: text (suggestion)
//       float a = @x ++ 2;
//                    ^~
// Warnings only where asked for. Caller frees with rh_free; NULL when memory runs out.
char *rh_lang_messages_print(const rh_lang_messages *messages, const char *name, const char *source, size_t length,
                             bool warnings, rh_status *status);
