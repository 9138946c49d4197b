// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The files of the page, part of the program.
#pragma once
#include <stdbool.h>
#include <stddef.h>

typedef struct rh_page_file {
    const char *type;  // media type
    const void *bytes;
    size_t count;
} rh_page_file;

bool rh_page_find(const char *route, rh_page_file *out);  // "/viewer.js"; false when there is none
