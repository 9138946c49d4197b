// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Values for the `$name` of expressions, from --set NAME=VALUE, and $time, $frame, $fps and $cell of a frame of ours
// unless they are set. A value takes the type under which the program knows the name; one that the program asks for by
// external("name") is a float, or a vec3f when it is a list of three.
#pragma once
#include "io/frame.h"
#include "lang/lang.h"
#include "options.h"

typedef struct ax_value {
    char name[64];
    double numbers[RH_LANG_MOST_PARTS];  // room for any type: elements of the type stand here one after the other
    rh_lang_text text;                   // borrowed from the command line
} ax_value;

// Owns its arrays.
typedef struct ax_values {
    ax_value *items;
    rh_lang_external *externals;  // of the items, for a scope
    int count;
} ax_values;

// Replaces what was there. `frame` is NULL where the file is no frame of ours. RH_USER when a value is not of its type,
// or the program knows no such name (`source` is searched for "external").
rh_code ax_values_read(ax_values *values, const app_texts *sets, const rh_frame_info *frame, const char *source,
                       size_t length, const rh_lang_listing *listing, rh_status *status);
void ax_values_free(ax_values *values);
