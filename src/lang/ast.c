// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Nodes, messages and the printed form of a tree.
#include "lang/ast.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/memory.h"

rh_lang_node *rh_lang_node_new(rh_lang_unit *unit, rh_lang_kind kind, rh_lang_place at)
{
    rh_lang_node *node = unit->failed ? NULL : rh_arena_take_zero(&unit->arena, sizeof *node, unit->status);
    if (!node) {
        unit->failed = true;
        node = &unit->spare;
        *node = (rh_lang_node){0};
    }
    node->kind = kind;
    node->at = at;
    node->slot = -1;
    node->depth = 1;
    unit->nodes++;
    return node;
}

void rh_lang_node_add(rh_lang_node *parent, rh_lang_node *child)
{
    if (!child || parent == child) return;
    if (parent->last) parent->last->next = child;
    else parent->first = child;
    parent->last = child;
    parent->count++;
    if (child->depth >= parent->depth) parent->depth = child->depth + 1;
}

const char *rh_lang_operator_name(rh_lang_operator operation)
{
    static const char *const names[] = {"",   "+", "-", "*",  "/",  "%",  "&",  "|", "^", "<<", ">>", "==",
                                        "!=", "<", ">", "<=", ">=", "&&", "||", "!", "~", "+",  "-"};
    return names[operation];
}

static void say(rh_lang_unit *unit, bool warning, rh_lang_place at, const char *hint, const char *format,
                va_list arguments)
{
    char text[800];
    vsnprintf(text, sizeof text, format, arguments);
    // A string of the program may hold any bytes; half a character of UTF-8 or an escape sequence is nothing for a
    // terminal or a log.
    for (char *c = text; *c; c++)
        if (*c < ' ' || *c > '~') *c = '?';
    if (!unit->failed && rh_lang_messages_add(unit->messages, warning, at, text, hint, unit->status) != RH_OK)
        unit->failed = true;
}

void rh_lang_error(rh_lang_unit *unit, rh_lang_place at, const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(unit, false, at, hint, format, arguments);
    va_end(arguments);
}

void rh_lang_warn(rh_lang_unit *unit, rh_lang_place at, const char *hint, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(unit, true, at, hint, format, arguments);
    va_end(arguments);
}

static const char *head_of(const rh_lang_node *node)
{
    switch (node->kind) {
    case RH_LANG_EMPTY: return "empty";
    case RH_LANG_BLOCK: return "block";
    case RH_LANG_DECLARE: return "declare";
    case RH_LANG_DECLARES: return "declares";
    case RH_LANG_IF: return "if";
    case RH_LANG_FOR: return "for";
    case RH_LANG_DO: return "do";
    case RH_LANG_RETURN: return "return";
    case RH_LANG_BREAK: return "break";
    case RH_LANG_CONTINUE: return "continue";
    case RH_LANG_TERNARY: return "?";
    case RH_LANG_COMMA: return ",";
    case RH_LANG_CAST: return "cast";
    case RH_LANG_CALL: return "call";
    case RH_LANG_ARRAY: return "array";
    case RH_LANG_INDEX: return "index";
    default: return "";
    }
}

static void print_leaf(const rh_lang_node *node, FILE *out)
{
    switch (node->kind) {
    case RH_LANG_LOCAL: fprintf(out, "%s", node->name); break;
    case RH_LANG_ATTRIBUTE: fprintf(out, "%s@%s", node->type ? rh_lang_type_name(node->type) : "", node->name); break;
    case RH_LANG_EXTERNAL: fprintf(out, "%s$%s", node->type ? rh_lang_type_name(node->type) : "", node->name); break;
    case RH_LANG_INTEGER:
        fprintf(out, "%" PRId64 "%s", node->value.integer, node->type == RH_LANG_INT64 ? "l" : "");
        break;
    case RH_LANG_REAL: fprintf(out, "%.17g%s", node->value.real, node->type == RH_LANG_FLOAT ? "f" : ""); break;
    case RH_LANG_LOGICAL: fprintf(out, "%s", node->value.integer ? "true" : "false"); break;
    case RH_LANG_TEXT: fprintf(out, "\"%.*s\"", (int)node->value.text.length, node->value.text.data); break;
    default: fprintf(out, "%s", head_of(node)); break;
    }
}

static void print_head(const rh_lang_node *node, FILE *out)
{
    const char *sign = rh_lang_operator_name(node->operation);
    if (node->kind == RH_LANG_ASSIGN) fprintf(out, "%s=", sign);
    else if (node->kind == RH_LANG_CREMENT) fprintf(out, node->postfix ? "post%s%s" : "%s%s", sign, sign);
    else if (node->kind == RH_LANG_UNARY || node->kind == RH_LANG_BINARY) fprintf(out, "%s", sign);
    else fprintf(out, "%s", head_of(node));
    if (node->kind == RH_LANG_DECLARE || node->kind == RH_LANG_CAST) fprintf(out, " %s", rh_lang_type_name(node->type));
    if (node->kind == RH_LANG_DECLARE || node->kind == RH_LANG_CALL) fprintf(out, " %s", node->name);
}

static void print_node(const rh_lang_node *node, FILE *out)
{
    bool list = node->count > 0 || node->kind == RH_LANG_BLOCK || node->kind == RH_LANG_DECLARE ||
                node->kind == RH_LANG_CALL;
    if (!list) {
        print_leaf(node, out);
        return;
    }
    fputc('(', out);
    print_head(node, out);
    for (const rh_lang_node *child = node->first; child; child = child->next) {
        fputc(' ', out);
        print_node(child, out);
    }
    fputc(')', out);
}

char *rh_lang_tree_print(const rh_lang_node *node, rh_status *status)
{
    char *text = NULL, *copy = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out) {
        print_node(node, out);
        if (fclose(out) == 0) copy = rh_strdup(text, "lang.tree", status);
    }
    if (!copy) rh_fail(status, RH_MEMORY, "no memory to print an expression");
    free(text);
    return copy;
}
