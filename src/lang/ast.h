// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// A program as a tree, and the unit of work that one compilation is. The tree lives in the unit's arena. The parser
// makes it, the checker writes types and slots into it, the emitter only reads it.
#pragma once
#include "base/arena.h"
#include "lang/diagnostics.h"
#include "lang/functions.h"
#include "lang/types.h"

typedef enum rh_lang_operator {
    RH_LANG_NONE,
    RH_LANG_ADD,
    RH_LANG_SUB,
    RH_LANG_MUL,
    RH_LANG_DIV,
    RH_LANG_MOD,
    RH_LANG_BIT_AND,
    RH_LANG_BIT_OR,
    RH_LANG_BIT_XOR,
    RH_LANG_SHL,
    RH_LANG_SHR,
    RH_LANG_EQ,
    RH_LANG_NE,
    RH_LANG_LT,
    RH_LANG_GT,
    RH_LANG_LE,
    RH_LANG_GE,
    RH_LANG_AND,
    RH_LANG_OR,
    RH_LANG_NOT,
    RH_LANG_BIT_NOT,
    RH_LANG_PLUS,
    RH_LANG_MINUS,  // unary
} rh_lang_operator;

typedef enum rh_lang_kind {
    // statements
    RH_LANG_EMPTY,     // also a missing part of a for, and what a syntax error leaves
    RH_LANG_BLOCK,     // statements
    RH_LANG_DECLARE,   // [value]: name, own type, slot
    RH_LANG_DECLARES,  // several of one statement: no scope of their own
    RH_LANG_IF,        // condition, body [, other]
    RH_LANG_FOR,       // first, condition, step, body; while is a for without first and step
    RH_LANG_DO,        // body, condition
    RH_LANG_RETURN,
    RH_LANG_BREAK,
    RH_LANG_CONTINUE,
    // expressions
    RH_LANG_ASSIGN,   // target, value: operation RH_LANG_NONE for plain =
    RH_LANG_CREMENT,  // target: RH_LANG_ADD or RH_LANG_SUB; postfix
    RH_LANG_UNARY,
    RH_LANG_BINARY,
    RH_LANG_TERNARY,  // condition, then, else; or condition, else for a ?: c
    RH_LANG_COMMA,    // values; the last one counts
    RH_LANG_CAST,     // value; type
    RH_LANG_CALL,     // arguments; name, slot: row of the function table
    RH_LANG_ARRAY,    // values
    RH_LANG_INDEX,    // variable, index [, index]
    RH_LANG_LOCAL,
    RH_LANG_ATTRIBUTE,
    RH_LANG_EXTERNAL,
    RH_LANG_INTEGER,
    RH_LANG_REAL,
    RH_LANG_LOGICAL,
    RH_LANG_TEXT,
} rh_lang_kind;

typedef struct rh_lang_node {
    rh_lang_kind kind;
    rh_lang_operator operation;
    rh_lang_type type;  // parser: as written, RH_LANG_VOID when not; after the check: of the value
    rh_lang_type as;    // what the parent wants it converted to; equal to `type` when nothing
    rh_lang_place at;
    bool postfix;      // crement: gives the old value
    bool bounded;      // loop: proved to end soon, so its steps are not counted
    int slot;          // local, attribute, external or function; index: site for run-time reports
    int depth;         // of the tree below
    const char *name;  // ends in 0
    union {
        int64_t integer;
        double real;
        rh_lang_text text;
    } value;
    int count;  // of children
    struct rh_lang_node *first, *last, *next;
} rh_lang_node;

// Deeper trees are refused: lexer, parser, checker and emitter recurse, and a stack has an end. A thousand levels take
// less than 2 MB of it.
enum { RH_LANG_MOST_DEPTH = 1000, RH_LANG_MOST_NODES = 100000, RH_LANG_MOST_SOURCE = 1 << 20 };
// Numbers in all variables and attributes together: they live on the stack of a kernel, up to sixteen elements at a
// time.
enum { RH_LANG_MOST_NUMBERS = 8192 };

typedef struct rh_lang_unit {
    const char *source;
    size_t length;
    rh_arena arena;
    rh_lang_messages *messages;  // the caller's
    rh_status *status;
    bool failed;  // memory ran out: everybody leaves
    int nodes;
    rh_lang_node spare;  // handed out after memory ran out, so that the parser needs no checks
} rh_lang_unit;

rh_lang_node *rh_lang_node_new(rh_lang_unit *unit, rh_lang_kind kind, rh_lang_place at);
void rh_lang_node_add(rh_lang_node *parent, rh_lang_node *child);  // NULL adds nothing
const char *rh_lang_operator_name(rh_lang_operator operation);     // "+"

// Say something about the program. The forms with `hint` add a suggestion; printf style.
void rh_lang_error(rh_lang_unit *unit, rh_lang_place at, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void rh_lang_warn(rh_lang_unit *unit, rh_lang_place at, const char *hint, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// The tree as one line of nested lists, (= @a (+ 1 (* 2 3))): for tests and for looking. Caller frees; NULL when memory
// runs out.
char *rh_lang_tree_print(const rh_lang_node *node, rh_status *status);
