// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Source text to tokens (those of OpenVDB AX; see docs/sources.md): longest match, white space and // comments dropped.
#pragma once
#include "lang/ast.h"

typedef enum rh_lang_token_kind {
    RH_LANG_T_END,
    RH_LANG_T_NAME,
    RH_LANG_T_TYPE,  // type
    RH_LANG_T_INTEGER,
    RH_LANG_T_REAL,
    RH_LANG_T_LOGICAL,
    RH_LANG_T_STRING,
    RH_LANG_T_AT,
    RH_LANG_T_DOLLAR,     // type: of v@ and its like, RH_LANG_VOID for the bare sign
    RH_LANG_T_COMPONENT,  // value.integer: 0 to 2
    RH_LANG_T_IF,
    RH_LANG_T_ELSE,
    RH_LANG_T_FOR,
    RH_LANG_T_WHILE,
    RH_LANG_T_DO,
    RH_LANG_T_RETURN,
    RH_LANG_T_BREAK,
    RH_LANG_T_CONTINUE,
    RH_LANG_T_OPEN,
    RH_LANG_T_CLOSE,
    RH_LANG_T_OPEN_BRACE,
    RH_LANG_T_CLOSE_BRACE,
    RH_LANG_T_OPEN_INDEX,
    RH_LANG_T_CLOSE_INDEX,
    RH_LANG_T_COMMA,
    RH_LANG_T_SEMICOLON,
    RH_LANG_T_QUESTION,
    RH_LANG_T_COLON,
    RH_LANG_T_OPERATOR,  // operation
    RH_LANG_T_NOT,
    RH_LANG_T_BIT_NOT,
    RH_LANG_T_CREMENT,  // operation: RH_LANG_ADD or RH_LANG_SUB
    RH_LANG_T_ASSIGN,   // operation, RH_LANG_NONE for plain =
    RH_LANG_T_WRONG,    // reported already
} rh_lang_token_kind;

typedef struct rh_lang_token {
    rh_lang_token_kind kind;
    rh_lang_operator operation;
    rh_lang_type type;
    rh_lang_place at;
    const char *start;  // in the source, at.length bytes
    union {
        int64_t integer;
        double real;
    } value;
} rh_lang_token;

// All tokens of the unit's source in its arena, the last one RH_LANG_T_END; reports what it finds wrong and goes on.
// NULL when memory runs out.
const rh_lang_token *rh_lang_lex(rh_lang_unit *unit);
