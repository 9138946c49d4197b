// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The parser: recursive descent, binary operators by precedence climbing. After an error it skips to the end of the
// statement and says nothing more about it (the flag `lost`), so one mistake gives one message and the next statement
// is still looked at.
#include "lang/parse.h"
#include <stdio.h>
#include <string.h>
#include "base/param.h"
#include "lang/lex.h"

typedef struct parser {
    rh_lang_unit *unit;
    const rh_lang_token *tokens, *token;  // all, and the one at hand
    bool lost;                            // between an error and the next statement
    int depth;
    int arrays;  // open braces of array literals
} parser;

static rh_lang_node *parse_expression(parser *p);
static rh_lang_node *parse_statement(parser *p);
static void recover(parser *p);

// ---- tokens

static bool is(const parser *p, rh_lang_token_kind kind) { return p->token->kind == kind; }

static void next(parser *p)
{
    if (!is(p, RH_LANG_T_END)) p->token++;
}

static bool take(parser *p, rh_lang_token_kind kind)
{
    if (!is(p, kind)) return false;
    next(p);
    return true;
}

static void describe(const rh_lang_token *token, char *out, size_t size)
{
    if (token->kind == RH_LANG_T_END) snprintf(out, size, "the end of the program");
    else
        snprintf(out, size, "%s%.*s%s", token->kind == RH_LANG_T_STRING ? "" : "\"",
                 token->at.length < 40 ? token->at.length : 40, token->start,
                 token->kind == RH_LANG_T_STRING ? "" : "\"");
}

static void complain(parser *p, const char *hint, const char *expected)
{
    bool known = is(p, RH_LANG_T_WRONG) || p->lost;
    p->lost = true;
    if (known) return;
    char found[64];
    describe(p->token, found, sizeof found);
    // What is missing at the end of a line is missing there, not at the beginning of the next.
    const rh_lang_token *before = p->token > p->tokens ? p->token - 1 : p->token;
    rh_lang_place at = p->token->at;
    if (before->at.line < at.line) at = (rh_lang_place){before->at.line, before->at.column + before->at.length, 1};
    rh_lang_error(p->unit, at, hint, "found %s, expected %s", found, expected);
}

// Nothing is taken while lost: what comes belongs to the next statement, and recover( ) must see it.
static bool want(parser *p, rh_lang_token_kind kind, const char *expected)
{
    if (!p->lost && take(p, kind)) return true;
    complain(p, NULL, expected);
    return false;
}

static rh_lang_node *node_new(parser *p, rh_lang_kind kind, rh_lang_place at)
{
    if (p->unit->nodes == RH_LANG_MOST_NODES && !p->lost) {
        rh_lang_error(p->unit, at, NULL, "the program is too large: more than %d operations", RH_LANG_MOST_NODES);
        p->lost = true;
    }
    return rh_lang_node_new(p->unit, kind, at);
}

static rh_lang_node *empty(parser *p) { return node_new(p, RH_LANG_EMPTY, p->token->at); }

static const char *name_of(parser *p, const rh_lang_token *token)
{
    char *name = rh_arena_take(&p->unit->arena, (size_t)token->at.length + 1, p->unit->status);
    if (!name) {
        p->unit->failed = true;
        return "";
    }
    memcpy(name, token->start, (size_t)token->at.length);
    name[token->at.length] = 0;
    return name;
}

// Every recursion goes through here: a stack has an end.
static bool enter(parser *p)
{
    if (++p->depth < RH_LANG_MOST_DEPTH) return true;
    if (!p->lost)
        rh_lang_error(p->unit, p->token->at, "use variables for parts of it",
                      "the program is nested deeper than %d levels", RH_LANG_MOST_DEPTH);
    p->lost = true;
    return false;
}

// A chain a + b + c is as deep as it is long.
static void check_depth(parser *p, const rh_lang_node *node)
{
    if (node->depth < RH_LANG_MOST_DEPTH || p->lost) return;
    rh_lang_error(p->unit, node->at, "use variables for parts of it",
                  "the expression has more than %d operations in a row", RH_LANG_MOST_DEPTH);
    p->lost = true;
}

static rh_lang_place join(rh_lang_place from, rh_lang_place to)
{
    if (from.line == to.line && to.column + to.length > from.column + from.length)
        from.length = to.column + to.length - from.column;
    return from;
}

// ---- variables

static rh_lang_node *parse_sign(parser *p, rh_lang_type type, rh_lang_place from)
{
    bool attribute = is(p, RH_LANG_T_AT);
    rh_lang_node *node = node_new(p, attribute ? RH_LANG_ATTRIBUTE : RH_LANG_EXTERNAL, join(from, p->token->at));
    node->type = type ? type : p->token->type;
    next(p);
    // Words that are types or keywords elsewhere are fair names after @ in no dialect: say what is expected.
    node->name = is(p, RH_LANG_T_NAME) ? name_of(p, p->token) : "";
    node->at = join(node->at, p->token->at);
    want(p, RH_LANG_T_NAME, attribute ? "the name of an attribute after @" : "the name of a value after $");
    return node;
}

static rh_lang_node *parse_subscript(parser *p, rh_lang_node *variable)
{
    rh_lang_node *node = node_new(p, RH_LANG_INDEX, variable->at);
    rh_lang_node_add(node, variable);
    if (is(p, RH_LANG_T_COMPONENT)) {
        rh_lang_node *index = node_new(p, RH_LANG_INTEGER, p->token->at);
        index->type = RH_LANG_INT32;
        index->value.integer = p->token->value.integer;
        node->postfix = true;  // written as a letter: vectors only
        rh_lang_node_add(node, index);
        node->at = join(node->at, p->token->at);
        next(p);
        return node;
    }
    next(p);
    rh_lang_node_add(node, parse_expression(p));
    if (take(p, RH_LANG_T_COMMA)) rh_lang_node_add(node, parse_expression(p));
    node->at = join(node->at, p->token->at);
    want(p, RH_LANG_T_CLOSE_INDEX, "]");
    return node;
}

// var [comp | index]; what follows a second subscript is an error here rather than "expected ;".
static rh_lang_node *with_subscript(parser *p, rh_lang_node *variable)
{
    if (!is(p, RH_LANG_T_COMPONENT) && !is(p, RH_LANG_T_OPEN_INDEX)) return variable;
    rh_lang_node *node = parse_subscript(p, variable);
    if (is(p, RH_LANG_T_COMPONENT) || is(p, RH_LANG_T_OPEN_INDEX))
        complain(p, "a component has no components", "an operator or ;");
    return node;
}

static rh_lang_node *parse_call(parser *p)
{
    rh_lang_node *node = node_new(p, RH_LANG_CALL, p->token->at);
    node->name = name_of(p, p->token);
    next(p);
    next(p);
    if (!is(p, RH_LANG_T_CLOSE)) {
        do rh_lang_node_add(node, parse_expression(p));
        while (!p->lost && take(p, RH_LANG_T_COMMA));
    }
    node->at = join(node->at, p->token->at);
    want(p, RH_LANG_T_CLOSE, ") or , after an argument");
    return node;
}

// A type begins an attribute, an external or a cast.
static rh_lang_node *parse_typed(parser *p)
{
    const rh_lang_token *type = p->token;
    next(p);
    if (is(p, RH_LANG_T_AT) || is(p, RH_LANG_T_DOLLAR)) {
        if (p->token->type != RH_LANG_VOID) complain(p, "one type is enough", "@ or $");
        rh_lang_node *node = parse_sign(p, type->type, type->at);
        return node->kind == RH_LANG_ATTRIBUTE ? with_subscript(p, node) : node;
    }
    if (!is(p, RH_LANG_T_OPEN)) {
        complain(p, is(p, RH_LANG_T_NAME) ? "a declaration stands at the beginning of a statement" : NULL,
                 "@, $ or ( after a type in an expression");
        return empty(p);
    }
    rh_lang_node *node = node_new(p, RH_LANG_CAST, type->at);
    node->type = type->type;
    if (!rh_lang_is_number(type->type))
        rh_lang_error(p->unit, type->at,
                      rh_lang_is_container(type->type) ? "write {x, y, z}, or assign: conversions are automatic" : NULL,
                      "found a cast to %s, expected one to bool, int, int64, float or double",
                      rh_lang_type_name(type->type));
    next(p);
    rh_lang_node_add(node, parse_expression(p));
    node->at = join(node->at, p->token->at);
    want(p, RH_LANG_T_CLOSE, ")");
    return node;
}

// ---- primaries

static rh_lang_node *parse_literal(parser *p)
{
    const rh_lang_token *t = p->token;
    rh_lang_kind kind = is(p, RH_LANG_T_INTEGER)   ? RH_LANG_INTEGER
                        : is(p, RH_LANG_T_REAL)    ? RH_LANG_REAL
                        : is(p, RH_LANG_T_LOGICAL) ? RH_LANG_LOGICAL
                                                   : RH_LANG_TEXT;
    rh_lang_node *node = node_new(p, kind, t->at);
    node->type = kind == RH_LANG_LOGICAL ? RH_LANG_BOOL : kind == RH_LANG_TEXT ? RH_LANG_STRING : t->type;
    if (kind == RH_LANG_REAL) node->value.real = t->value.real;
    else if (kind == RH_LANG_TEXT)
        node->value.text = (rh_lang_text){t->start + 1, t->at.length >= 2 ? t->at.length - 2 : 0};
    else node->value.integer = t->value.integer;
    next(p);
    return node;
}

static rh_lang_node *parse_comma(parser *p)
{
    rh_lang_node *first = parse_expression(p);
    if (!is(p, RH_LANG_T_COMMA)) return first;
    rh_lang_node *node = node_new(p, RH_LANG_COMMA, first->at);
    rh_lang_node_add(node, first);
    while (!p->lost && take(p, RH_LANG_T_COMMA)) rh_lang_node_add(node, parse_expression(p));
    return node;
}

static rh_lang_node *parse_array(parser *p)
{
    rh_lang_node *node = node_new(p, RH_LANG_ARRAY, p->token->at);
    next(p);
    p->arrays++;
    do rh_lang_node_add(node, parse_expression(p));
    while (!p->lost && take(p, RH_LANG_T_COMMA));
    node->at = join(node->at, p->token->at);
    if (!want(p, RH_LANG_T_CLOSE_BRACE, "} or , after an element")) return node;
    p->arrays--;
    if (node->count != 2 && node->count != 3 && node->count != 4 && node->count != 9 && node->count != 16)
        rh_lang_error(p->unit, node->at, NULL, "found %d element%s between braces, expected 2, 3, 4, 9 or 16",
                      node->count, node->count == 1 ? "" : "s");
    return node;
}

static rh_lang_node *parse_parenthesis(parser *p)
{
    next(p);
    rh_lang_node *node = parse_comma(p);
    want(p, RH_LANG_T_CLOSE, ")");
    return node;
}

static rh_lang_node *parse_primary(parser *p)
{
    switch (p->token->kind) {
    case RH_LANG_T_INTEGER:
    case RH_LANG_T_REAL:
    case RH_LANG_T_LOGICAL:
    case RH_LANG_T_STRING: return parse_literal(p);
    case RH_LANG_T_OPEN: return parse_parenthesis(p);
    case RH_LANG_T_OPEN_BRACE: return parse_array(p);
    case RH_LANG_T_TYPE: return parse_typed(p);
    case RH_LANG_T_AT: return with_subscript(p, parse_sign(p, RH_LANG_VOID, p->token->at));
    case RH_LANG_T_DOLLAR: return parse_sign(p, RH_LANG_VOID, p->token->at);
    case RH_LANG_T_NAME: break;
    default: complain(p, NULL, "an expression"); return empty(p);
    }
    if (p->token[1].kind == RH_LANG_T_OPEN) return parse_call(p);
    rh_lang_node *node = node_new(p, RH_LANG_LOCAL, p->token->at);
    node->name = name_of(p, p->token);
    next(p);
    return with_subscript(p, node);
}

static bool is_place(const rh_lang_node *node)
{
    return node->kind == RH_LANG_LOCAL || node->kind == RH_LANG_ATTRIBUTE || node->kind == RH_LANG_INDEX ||
           (node->kind == RH_LANG_CREMENT && !node->postfix);
}

static const char *kind_in_words(const rh_lang_node *node)
{
    switch (node->kind) {
    case RH_LANG_EXTERNAL: return "a value given from outside";
    case RH_LANG_INTEGER:
    case RH_LANG_REAL:
    case RH_LANG_LOGICAL:
    case RH_LANG_TEXT: return "a literal";
    case RH_LANG_CALL: return "the result of a function";
    case RH_LANG_ARRAY: return "a list between braces";
    case RH_LANG_ASSIGN: return "an assignment";
    default: return "an expression";
    }
}

static rh_lang_node *parse_postfix(parser *p)
{
    const rh_lang_token *start = p->token;
    rh_lang_node *node = parse_primary(p);
    bool parenthesis = start->kind == RH_LANG_T_OPEN;
    if (!p->lost && (is(p, RH_LANG_T_COMPONENT) || is(p, RH_LANG_T_OPEN_INDEX))) {
        rh_lang_error(p->unit, p->token->at, "store it in a variable first",
                      "found a component of %s, expected one of a variable", kind_in_words(node));
        p->lost = true;
    }
    if (!is(p, RH_LANG_T_CREMENT) || p->lost) return node;
    if (parenthesis || !is_place(node)) {
        rh_lang_error(p->unit, p->token->at, NULL, "found \"%.2s\" after %s, expected it after a variable",
                      p->token->start, kind_in_words(node));
        p->lost = true;
        return node;
    }
    rh_lang_node *crement = node_new(p, RH_LANG_CREMENT, join(node->at, p->token->at));
    crement->operation = p->token->operation;
    crement->postfix = true;
    next(p);
    rh_lang_node_add(crement, node);
    return crement;
}

enum { PRODUCTS = 10 };  // rank of * / %

static rh_lang_node *parse_unary(parser *p);
static rh_lang_node *parse_binary(parser *p, int loosest);

static rh_lang_node *parse_prefix_crement(parser *p)
{
    rh_lang_node *node = node_new(p, RH_LANG_CREMENT, p->token->at);
    node->operation = p->token->operation;
    next(p);
    const rh_lang_token *start = p->token;
    rh_lang_node *target = is(p, RH_LANG_T_CREMENT) ? parse_prefix_crement(p) : parse_primary(p);
    if (!p->lost && (start->kind == RH_LANG_T_OPEN || !is_place(target))) {
        rh_lang_error(p->unit, start->at, NULL, "found %s, expected a variable after \"%s%s\"", kind_in_words(target),
                      rh_lang_operator_name(node->operation), rh_lang_operator_name(node->operation));
        p->lost = true;
    }
    rh_lang_node_add(node, target);
    check_depth(p, node);
    return node;
}

static rh_lang_operator unary_operator(const rh_lang_token *token)
{
    if (token->kind == RH_LANG_T_NOT || token->kind == RH_LANG_T_BIT_NOT) return token->operation;
    if (token->kind != RH_LANG_T_OPERATOR) return RH_LANG_NONE;
    return token->operation == RH_LANG_ADD   ? RH_LANG_PLUS
           : token->operation == RH_LANG_SUB ? RH_LANG_MINUS
                                             : RH_LANG_NONE;
}

static rh_lang_node *crement_then_postfix(parser *p)
{
    rh_lang_node *node = parse_prefix_crement(p);
    if (!is(p, RH_LANG_T_CREMENT) || p->lost) return node;
    rh_lang_node *post = node_new(p, RH_LANG_CREMENT, join(node->at, p->token->at));
    post->operation = p->token->operation;
    post->postfix = true;
    next(p);
    rh_lang_node_add(post, node);
    return post;
}

// An assignment may stand wherever its variable may, and takes all that follows for its right side: a && b = 3 is a &&
// (b = 3).
static rh_lang_node *parse_assignment(parser *p, rh_lang_node *target)
{
    rh_lang_node *assign = node_new(p, RH_LANG_ASSIGN, target->at);
    assign->operation = p->token->operation;
    next(p);
    rh_lang_node_add(assign, target);
    rh_lang_node_add(assign, parse_expression(p));
    if (assign->last) assign->at = join(assign->at, assign->last->at);
    check_depth(p, assign);
    return assign;
}

static rh_lang_node *parse_unary(parser *p)
{
    rh_lang_operator operation = unary_operator(p->token);
    rh_lang_node *node;
    if (operation) {
        if (!enter(p)) return empty(p);
        node = node_new(p, RH_LANG_UNARY, p->token->at);
        node->operation = operation;
        next(p);
        // The grammar of OpenVDB AX gives + the rank of the operator with two sides: b * +a % 5 is b * (+(a % 5)).
        rh_lang_node_add(node, operation == RH_LANG_PLUS ? parse_binary(p, PRODUCTS) : parse_unary(p));
        node->at = join(node->at, node->last ? node->last->at : node->at);
        p->depth--;
    } else {
        bool parenthesis = is(p, RH_LANG_T_OPEN);
        node = is(p, RH_LANG_T_CREMENT) ? crement_then_postfix(p) : parse_postfix(p);
        if (is(p, RH_LANG_T_ASSIGN) && !p->lost && !parenthesis && is_place(node)) node = parse_assignment(p, node);
    }
    return node;
}

// ---- binary operators, the loosest first

static int precedence(const rh_lang_token *token)
{
    if (token->kind != RH_LANG_T_OPERATOR) return 0;
    switch (token->operation) {
    case RH_LANG_OR: return 1;
    case RH_LANG_AND: return 2;
    case RH_LANG_BIT_OR: return 3;
    case RH_LANG_BIT_XOR: return 4;
    case RH_LANG_BIT_AND: return 5;
    case RH_LANG_EQ:
    case RH_LANG_NE: return 6;
    case RH_LANG_LT:
    case RH_LANG_GT:
    case RH_LANG_LE:
    case RH_LANG_GE: return 7;
    case RH_LANG_SHL:
    case RH_LANG_SHR: return 8;
    case RH_LANG_ADD:
    case RH_LANG_SUB: return 9;
    case RH_LANG_MUL:
    case RH_LANG_DIV:
    case RH_LANG_MOD: return PRODUCTS;
    default: return 0;
    }
}

static rh_lang_node *parse_binary(parser *p, int loosest)
{
    rh_lang_node *left = parse_unary(p);
    for (int level; !p->lost && (level = precedence(p->token)) >= loosest && level > 0;) {
        rh_lang_operator operation = p->token->operation;
        next(p);
        rh_lang_node *right = parse_binary(p, level + 1);
        rh_lang_node *node = node_new(p, RH_LANG_BINARY, join(left->at, right->at));
        node->operation = operation;
        rh_lang_node_add(node, left);
        rh_lang_node_add(node, right);
        check_depth(p, node);
        left = node;
    }
    return left;
}

static rh_lang_node *parse_conditional(parser *p)
{
    rh_lang_node *condition = parse_binary(p, 1);
    if (!is(p, RH_LANG_T_QUESTION)) return condition;
    rh_lang_node *node = node_new(p, RH_LANG_TERNARY, condition->at);
    next(p);
    rh_lang_node_add(node, condition);
    if (!is(p, RH_LANG_T_COLON)) rh_lang_node_add(node, parse_expression(p));
    if (want(p, RH_LANG_T_COLON, ":")) rh_lang_node_add(node, parse_expression(p));
    if (node->last) node->at = join(node->at, node->last->at);
    return node;
}

static rh_lang_node *parse_expression(parser *p)
{
    if (!enter(p)) return empty(p);
    const rh_lang_token *start = p->token;
    rh_lang_node *node = parse_conditional(p);
    if (is(p, RH_LANG_T_ASSIGN) && !p->lost) {
        rh_lang_error(p->unit, node->at, node->kind == RH_LANG_EXTERNAL ? "copy it into a variable" : NULL,
                      "cannot assign to %s, expected an attribute or a variable",
                      start->kind == RH_LANG_T_OPEN ? "a parenthesis" : kind_in_words(node));
        p->lost = true;
    }
    p->depth--;
    return node;
}

// ---- statements

static rh_lang_node *parse_declaration(parser *p, rh_lang_type type)
{
    rh_lang_node *node = node_new(p, RH_LANG_DECLARE, p->token->at);
    node->type = type;
    node->name = is(p, RH_LANG_T_NAME) ? name_of(p, p->token) : "";
    want(p, RH_LANG_T_NAME, "the name of a variable");
    if (is(p, RH_LANG_T_OPEN)) complain(p, "there are no functions of your own", "= or ; after the name of a variable");
    if (is(p, RH_LANG_T_OPEN_INDEX)) complain(p, "there are no arrays", "= or ; after the name of a variable");
    if (is(p, RH_LANG_T_ASSIGN) && p->token->operation == RH_LANG_NONE) {
        next(p);
        rh_lang_node_add(node, parse_expression(p));
    }
    return node;
}

static bool at_declaration(const parser *p)
{
    rh_lang_token_kind after = is(p, RH_LANG_T_TYPE) ? p->token[1].kind : RH_LANG_T_END;
    return is(p, RH_LANG_T_TYPE) && after != RH_LANG_T_AT && after != RH_LANG_T_DOLLAR && after != RH_LANG_T_OPEN;
}

static rh_lang_node *parse_declarations(parser *p)
{
    rh_lang_node *node = node_new(p, RH_LANG_DECLARES, p->token->at);
    rh_lang_type type = p->token->type;
    next(p);
    do rh_lang_node_add(node, parse_declaration(p, type));
    while (!p->lost && take(p, RH_LANG_T_COMMA));
    return node;
}

static rh_lang_node *parse_condition(parser *p)
{
    if (!at_declaration(p)) return parse_comma(p);
    rh_lang_type type = p->token->type;
    next(p);
    return parse_declaration(p, type);
}

// One link of a chain: if (condition) statement.
static rh_lang_node *parse_link(parser *p)
{
    rh_lang_node *node = node_new(p, RH_LANG_IF, p->token->at);
    next(p);
    want(p, RH_LANG_T_OPEN, "( after if");
    rh_lang_node_add(node, p->lost ? empty(p) : parse_comma(p));
    want(p, RH_LANG_T_CLOSE, ")");
    rh_lang_node_add(node, p->lost ? empty(p) : parse_statement(p));
    return node;
}

// Where a statement in a chain is wrong, the chain goes on: its other links are looked at, and no else stands alone.
static bool more_links(parser *p)
{
    if (p->lost && p->depth < RH_LANG_MOST_DEPTH) {
        const rh_lang_token *before = p->token;
        int arrays = p->arrays;
        recover(p);
        if (take(p, RH_LANG_T_ELSE)) return true;
        p->token = before;
        p->arrays = arrays;
        p->lost = true;
        return false;
    }
    return take(p, RH_LANG_T_ELSE);
}

// A long chain of else if is as deep a tree as it is long, but the parser does not go down with it.
static rh_lang_node *parse_if(parser *p)
{
    rh_lang_node *first = parse_link(p), *last = first;
    int links = 0;
    while (more_links(p)) {
        bool another = is(p, RH_LANG_T_IF);
        links += another;
        if (another && !enter(p)) break;
        rh_lang_node *other = another ? parse_link(p) : parse_statement(p);
        rh_lang_node_add(last, other);
        last = other;
        if (!another) break;
    }
    p->depth -= links;
    return first;
}

static rh_lang_node *parse_for(parser *p)
{
    rh_lang_node *node = node_new(p, RH_LANG_FOR, p->token->at);
    next(p);
    want(p, RH_LANG_T_OPEN, "( after for");
    rh_lang_node_add(node, p->lost || is(p, RH_LANG_T_SEMICOLON) ? empty(p)
                           : at_declaration(p)                   ? parse_declarations(p)
                                                                 : parse_comma(p));
    want(p, RH_LANG_T_SEMICOLON, "; after the first part of for");
    rh_lang_node_add(node, p->lost || is(p, RH_LANG_T_SEMICOLON) ? empty(p) : parse_condition(p));
    want(p, RH_LANG_T_SEMICOLON, "; after the condition of for");
    rh_lang_node_add(node, p->lost || is(p, RH_LANG_T_CLOSE) ? empty(p) : parse_comma(p));
    want(p, RH_LANG_T_CLOSE, ")");
    rh_lang_node_add(node, p->lost ? empty(p) : parse_statement(p));
    return node;
}

static rh_lang_node *parse_while(parser *p)
{
    rh_lang_node *node = node_new(p, RH_LANG_FOR, p->token->at);
    next(p);
    want(p, RH_LANG_T_OPEN, "( after while");
    rh_lang_node_add(node, empty(p));
    rh_lang_node_add(node, p->lost ? empty(p) : parse_condition(p));
    rh_lang_node_add(node, empty(p));
    want(p, RH_LANG_T_CLOSE, ")");
    rh_lang_node_add(node, p->lost ? empty(p) : parse_statement(p));
    return node;
}

static rh_lang_node *parse_do(parser *p)
{
    rh_lang_node *node = node_new(p, RH_LANG_DO, p->token->at);
    next(p);
    rh_lang_node_add(node, parse_statement(p));
    want(p, RH_LANG_T_WHILE, "while after the body of do");
    want(p, RH_LANG_T_OPEN, "( after while");
    rh_lang_node_add(node, p->lost ? empty(p) : parse_condition(p));
    want(p, RH_LANG_T_CLOSE, ")");
    return node;
}

// A { that opens a statement is a block unless a list with commas follows up to its } without any ; in between.
static bool at_array(const parser *p)
{
    int braces = 0, others = 0;
    bool comma = false;
    for (const rh_lang_token *t = p->token; t->kind != RH_LANG_T_END; t++) {
        if (t->kind == RH_LANG_T_SEMICOLON) return false;
        if (t->kind == RH_LANG_T_OPEN_BRACE) braces++;
        if (t->kind == RH_LANG_T_OPEN || t->kind == RH_LANG_T_OPEN_INDEX) others++;
        if (t->kind == RH_LANG_T_CLOSE || t->kind == RH_LANG_T_CLOSE_INDEX) others--;
        if (t->kind == RH_LANG_T_COMMA && braces == 1 && others == 0) comma = true;
        if (t->kind == RH_LANG_T_CLOSE_BRACE && --braces == 0) return comma;
    }
    return false;
}

// After an error: to just behind the next ; or to a } (which closes the block at hand).
static void recover(parser *p)
{
    int braces = p->arrays;
    p->arrays = 0;
    while (!is(p, RH_LANG_T_END)) {
        if (is(p, RH_LANG_T_OPEN_BRACE)) braces++;
        if (is(p, RH_LANG_T_CLOSE_BRACE) && braces-- == 0) break;
        bool done = is(p, RH_LANG_T_SEMICOLON) && braces == 0;
        next(p);
        if (done) break;
    }
    p->lost = p->unit->nodes > RH_LANG_MOST_NODES || p->unit->failed;
    if (p->lost)
        while (!is(p, RH_LANG_T_END)) next(p);
}

static rh_lang_node *parse_block(parser *p)
{
    rh_lang_node *node = node_new(p, RH_LANG_BLOCK, p->token->at);
    const rh_lang_token *open = p->token;
    next(p);
    while (!is(p, RH_LANG_T_CLOSE_BRACE) && !is(p, RH_LANG_T_END)) {
        rh_lang_node_add(node, parse_statement(p));
        if (p->lost) recover(p);
    }
    if (!take(p, RH_LANG_T_CLOSE_BRACE) && !p->lost) {
        rh_lang_error(p->unit, open->at, NULL, "found a { without its }");
        p->lost = true;
    }
    return node;
}

static rh_lang_node *parse_word(parser *p, rh_lang_kind kind, const char *expected)
{
    rh_lang_node *node = node_new(p, kind, p->token->at);
    next(p);
    if (kind == RH_LANG_RETURN && !is(p, RH_LANG_T_SEMICOLON))
        complain(p, "a program returns nothing: write to attributes", expected);
    want(p, RH_LANG_T_SEMICOLON, expected);
    return node;
}

static rh_lang_node *parse_simple(parser *p)
{
    rh_lang_node *node = is(p, RH_LANG_T_SEMICOLON) ? empty(p)
                         : at_declaration(p)        ? parse_declarations(p)
                                                    : parse_comma(p);
    if (is(p, RH_LANG_T_NAME) && node->kind == RH_LANG_LOCAL && !p->lost) {
        static const char *const types[] = {"bool",  "int",   "int32", "int64", "float", "double", "string", "vec2f",
                                            "vec2i", "vec2d", "vec3f", "vec3i", "vec3d", "vec4f",  "vec4i",  "vec4d",
                                            "mat3f", "mat3d", "mat4f", "mat4d", "else",  "while",  "return"};
        const char *near = rh_nearest_name(node->name, types, (int)(sizeof types / sizeof types[0]));
        char hint[64];
        if (near) snprintf(hint, sizeof hint, "did you mean %s?", near);
        rh_lang_error(p->unit, node->at, near ? hint : NULL,
                      "found the name \"%s\" before another name, expected a type or an operator", node->name);
        p->lost = true;
    }
    if (node->kind == RH_LANG_LOCAL && (is(p, RH_LANG_T_AT) || is(p, RH_LANG_T_DOLLAR)))
        complain(p, "before @ stands a type, or v f i s 3 4 without a space", "; or an operator");
    want(p, RH_LANG_T_SEMICOLON, "; or an operator");
    return node;
}

// Said once; what follows it is looked at as if it stood alone.
static rh_lang_node *stray_else(parser *p)
{
    if (!p->lost)
        rh_lang_error(p->unit, p->token->at, "is a { or } missing before it?", "found an else without its if");
    next(p);
    return parse_statement(p);
}

static rh_lang_node *parse_statement(parser *p)
{
    if (!enter(p)) return empty(p);
    rh_lang_node *node;
    switch (p->token->kind) {
    case RH_LANG_T_OPEN_BRACE: node = at_array(p) ? parse_simple(p) : parse_block(p); break;
    case RH_LANG_T_IF: node = parse_if(p); break;
    case RH_LANG_T_ELSE: node = stray_else(p); break;
    case RH_LANG_T_FOR: node = parse_for(p); break;
    case RH_LANG_T_WHILE: node = parse_while(p); break;
    case RH_LANG_T_DO: node = parse_do(p); break;
    case RH_LANG_T_RETURN: node = parse_word(p, RH_LANG_RETURN, "; after return"); break;
    case RH_LANG_T_BREAK: node = parse_word(p, RH_LANG_BREAK, "; after break"); break;
    case RH_LANG_T_CONTINUE: node = parse_word(p, RH_LANG_CONTINUE, "; after continue"); break;
    default: node = parse_simple(p); break;
    }
    p->depth--;
    return node;
}

rh_lang_node *rh_lang_parse(rh_lang_unit *unit)
{
    parser p = {.unit = unit, .tokens = rh_lang_lex(unit)};
    if (!p.tokens) return NULL;
    p.token = p.tokens;
    rh_lang_node *program = rh_lang_node_new(unit, RH_LANG_BLOCK, p.token->at);
    while (!is(&p, RH_LANG_T_END)) {
        p.depth = 0;
        if (is(&p, RH_LANG_T_CLOSE_BRACE)) {
            rh_lang_error(unit, p.token->at, NULL, "found a } without its {");
            next(&p);
            take(&p, RH_LANG_T_ELSE);  // of the same mistake: a missing {
            p.lost = false;
            continue;
        }
        rh_lang_node_add(program, parse_statement(&p));
        if (p.lost) recover(&p);
    }
    return program;
}
