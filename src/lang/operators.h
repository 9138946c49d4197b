// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// What an operator makes of its operands' types, and how a function's signature is read (as OpenVDB AX; see
// docs/sources.md). Checker and emitter both ask here, so they cannot disagree.
#pragma once
#include "lang/ast.h"

typedef struct rh_lang_rule {
    rh_lang_type left, right;  // what the operands are converted to
    rh_lang_type result;
    bool product;     // * with a matrix: rows times columns
    const char *why;  // where there is no rule: the reason; `hint` may be NULL
    const char *hint;
} rh_lang_rule;

// False: no such operation, `why` is set.
bool rh_lang_binary_rule(rh_lang_operator operation, rh_lang_type left, rh_lang_type right, rh_lang_rule *out);
bool rh_lang_unary_rule(rh_lang_operator operation, rh_lang_type operand, rh_lang_rule *out);  // left and result
// The type of `c ? a : b`.
bool rh_lang_choice_rule(rh_lang_type a, rh_lang_type b, rh_lang_type *out);

enum { RH_LANG_MOST_ARGUMENTS = 8 };
typedef struct rh_lang_signature {
    rh_lang_type result, arguments[RH_LANG_MOST_ARGUMENTS];
    bool written[RH_LANG_MOST_ARGUMENTS];
    int count;
} rh_lang_signature;
// Reads "float(vec3f, &mat3f)". False when it is not one (a mistake in a table, never a user's).
bool rh_lang_signature_read(const char *text, rh_lang_signature *out);
