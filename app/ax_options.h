// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The options of `rheo ax` as the host of expressions wants them.
#pragma once
#include "io/expression.h"
#include "options.h"

typedef struct ax_options {
    rh_expression_options host;       // externals are not its affair
    rh_expression_binding *bindings;  // owned
    char **texts;                     // their names (owned)
    int text_count;
} ax_options;

// RH_USER with the option's name. On failure there is something to free, too.
rh_code ax_options_read(ax_options *options, const app_arguments *arguments, rh_status *status);
void ax_options_free(ax_options *options);
