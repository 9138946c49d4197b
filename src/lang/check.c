// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The checker walks the tree once. A wrong expression gets the type RH_LANG_WRONG, about which nobody complains again,
// so one mistake gives one message and the rest of the program is still looked at.
#include "lang/check_parts.h"
#include <stdio.h>
#include <string.h>
#include "base/param.h"
#include "lang/operators.h"

static void check_statement(rh_lang_checker *c, rh_lang_node *node);

void *rh_lang_grown(rh_lang_checker *c, void *array, int count, size_t size)
{
    if (count > 0 && (count & (count - 1)) != 0) return array;
    void *wider = rh_arena_take_zero(&c->unit->arena, (size_t)(count ? 2 * count : 1) * size, c->unit->status);
    if (!wider) c->unit->failed = true;
    else if (count) memcpy(wider, array, (size_t)count * size);
    return wider;
}

const char *rh_lang_did_you_mean(const char *near, const char *before, char *out, size_t size)
{
    if (!near) return NULL;
    snprintf(out, size, "did you mean %s%s?", before, near);
    return out;
}

// ---- names

static void open_scope(rh_lang_checker *c) { c->depth++; }

static void close_scope(rh_lang_checker *c)
{
    c->depth--;
    while (c->local_count > 0 && c->locals[c->local_count - 1].depth > c->depth) c->local_count--;
}

static rh_lang_local *find_local(rh_lang_checker *c, const char *name)
{
    for (int i = c->local_count; i-- > 0;)
        if (strcmp(c->locals[i].name, name) == 0) return &c->locals[i];
    return NULL;
}

static void declare(rh_lang_checker *c, rh_lang_node *node)
{
    rh_lang_local *before = find_local(c, node->name);
    if (before && before->depth == c->depth)
        rh_lang_error(c->unit, node->at, NULL, "the variable \"%s\" is declared already, in line %d", node->name,
                      before->at.line);
    else if (before)
        rh_lang_warn(c->unit, node->at, NULL, "the variable \"%s\" hides the one of line %d", node->name,
                     before->at.line);
    rh_lang_facts *f = c->facts;
    f->locals = rh_lang_grown(c, f->locals, f->local_count, sizeof *f->locals);
    c->locals = rh_lang_grown(c, c->locals, f->local_count, sizeof *c->locals);  // as many as slots is enough
    if (c->unit->failed) return;
    node->slot = f->local_count;
    f->locals[f->local_count++] = node->type;
    c->locals[c->local_count++] = (rh_lang_local){
        .name = node->name, .type = node->type, .at = node->at, .slot = node->slot, .depth = c->depth};
}

static rh_lang_type check_local(rh_lang_checker *c, rh_lang_node *node)
{
    rh_lang_local *found = find_local(c, node->name);
    if (found) {
        node->slot = found->slot;
        return found->type;
    }
    const char *names[64];
    int count = 0;
    for (int i = c->local_count; i-- > 0 && count < 64;) names[count++] = c->locals[i].name;
    char hint[128];
    const char *near = rh_lang_did_you_mean(rh_nearest_name(node->name, names, count), "", hint, sizeof hint);
    for (int i = 0; i < c->facts->attribute_count && !near; i++)
        if (strcmp(c->facts->attributes[i].name, node->name) == 0)
            near = rh_lang_did_you_mean(node->name, "@", hint, sizeof hint);
    if (!near && rh_lang_known_function(c, node->name)) near = "it is a function: add ( )";
    rh_lang_error(c->unit, node->at, near, "the variable \"%s\" is not declared", node->name);
    return RH_LANG_WRONG;
}

static rh_lang_type attribute_default(const rh_lang_checker *c, const char *name)
{
    static const char *const vectors[] = {"P", "v", "N", "Cd"};
    for (int i = 0; i < 4 && c->options->domain == RH_LANG_POINTS; i++)
        if (strcmp(name, vectors[i]) == 0) return RH_LANG_VEC3F;
    return RH_LANG_FLOAT;
}

static rh_lang_type two_types(rh_lang_checker *c, const rh_lang_node *node, char sign, rh_lang_type before,
                              rh_lang_type now, int line)
{
    char hint[128];
    // The one that was written out is the one that was meant.
    snprintf(hint, sizeof hint, "write %s%c%s everywhere", rh_lang_type_name(node->type ? now : before), sign,
             node->name);
    rh_lang_error(c->unit, node->at, hint, "%c%s is %s here and %s in line %d", sign, node->name,
                  rh_lang_type_name(now), rh_lang_type_name(before), line);
    return RH_LANG_WRONG;
}

static rh_lang_type check_attribute(rh_lang_checker *c, rh_lang_node *node, bool reads, bool writes)
{
    rh_lang_facts *f = c->facts;
    rh_lang_type type = node->type ? node->type : attribute_default(c, node->name);
    int i = 0;
    while (i < f->attribute_count && strcmp(f->attributes[i].name, node->name) != 0) i++;
    if (i == f->attribute_count) {
        f->attributes = rh_lang_grown(c, f->attributes, i, sizeof *f->attributes);
        if (c->unit->failed) return RH_LANG_WRONG;
        f->attributes[f->attribute_count++] = (rh_lang_attribute_use){.name = node->name, .type = type, .at = node->at};
    }
    rh_lang_attribute_use *use = &f->attributes[i];
    if (use->type != type) return two_types(c, node, '@', use->type, type, use->at.line);
    use->reads |= reads;
    use->writes |= writes;
    f->strings |= type == RH_LANG_STRING;
    node->slot = i;
    return type;
}

int rh_lang_external_slot(rh_lang_checker *c, const rh_lang_node *node, const char *name, rh_lang_type type)
{
    rh_lang_facts *f = c->facts;
    int i = 0;
    while (i < f->external_count && strcmp(f->externals[i].name, name) != 0) i++;
    if (i < f->external_count) return i;
    f->externals = rh_lang_grown(c, f->externals, i, sizeof *f->externals);
    if (c->unit->failed) return -1;
    f->externals[f->external_count++] = (rh_lang_external_use){.name = name, .type = type, .at = node->at};
    return i;
}

static rh_lang_type check_external(rh_lang_checker *c, rh_lang_node *node)
{
    rh_lang_type type = node->type ? node->type : RH_LANG_FLOAT;
    node->slot = rh_lang_external_slot(c, node, node->name, type);
    if (node->slot < 0) return RH_LANG_WRONG;
    const rh_lang_external_use *use = &c->facts->externals[node->slot];
    return use->type == type ? type : two_types(c, node, '$', use->type, type, use->at.line);
}

// ---- conversions

static bool loses(rh_lang_type to, rh_lang_type from)
{
    rh_lang_element a = rh_lang_type_element(to), b = rh_lang_type_element(from);
    return a < b || (a == RH_LANG_E_FLOAT && b == RH_LANG_E_INT64);
}

bool rh_lang_is_literal(const rh_lang_node *node)
{
    if (node->kind == RH_LANG_UNARY) return rh_lang_is_literal(node->first);
    bool literal = node->kind >= RH_LANG_INTEGER || node->kind == RH_LANG_ARRAY;
    for (const rh_lang_node *child = node->first; child && literal; child = child->next)
        literal = rh_lang_is_literal(child);
    return literal;
}

// The value will be stored where a `to` is.
static void convert_for(rh_lang_checker *c, rh_lang_node *value, rh_lang_type to, rh_lang_place at)
{
    rh_lang_type from = value->type;
    if (from == RH_LANG_WRONG || to == RH_LANG_WRONG) return;
    if (!rh_lang_assignable(to, from)) {
        bool scalar = rh_lang_is_number(to) && rh_lang_is_container(from);
        if (from == RH_LANG_VOID)
            rh_lang_error(c->unit, value->at, NULL, "this has no value, expected one of type %s",
                          rh_lang_type_name(to));
        else
            rh_lang_error(c->unit, at, scalar ? "take one element with [ ]" : NULL, "cannot convert %s to %s here",
                          rh_lang_type_name(from), rh_lang_type_name(to));
        return;
    }
    // Literals are read as double or int32 for want of a better way to write them: x = 0.5 deserves no warning.
    if (loses(to, from) && !(rh_lang_is_literal(value) && rh_lang_is_floating(to)))
        rh_lang_warn(c->unit, at, NULL, "%s becomes %s here and may lose something", rh_lang_type_name(from),
                     rh_lang_type_name(to));
    value->as = to;
}

static void operand_as(rh_lang_checker *c, rh_lang_node *operand, rh_lang_type to)
{
    if (rh_lang_is_matrix(to) && rh_lang_is_number(operand->type))
        rh_lang_warn(c->unit, operand->at, NULL, "a number beside a matrix counts as the number times the identity");
    operand->as = to;
}

// A condition: one number.
static void check_condition(rh_lang_checker *c, rh_lang_node *node)
{
    if (node->kind == RH_LANG_EMPTY) return;
    if (node->kind == RH_LANG_DECLARE) check_statement(c, node);
    else rh_lang_check_expression(c, node);
    if (node->type == RH_LANG_WRONG) return;
    if (!rh_lang_is_number(node->type))
        rh_lang_error(c->unit, node->at,
                      rh_lang_is_container(node->type) ? "compare it with something, or take length( )" : NULL,
                      "found a condition of type %s, expected a single number", rh_lang_type_name(node->type));
    else node->as = RH_LANG_BOOL;
}

// ---- expressions

static const rh_lang_node *root_of(const rh_lang_node *target)
{
    while (target->kind == RH_LANG_INDEX || target->kind == RH_LANG_CREMENT) target = target->first;
    return target;
}

static rh_lang_type check_index(rh_lang_checker *c, rh_lang_node *node, bool reads, bool writes);

// A place that is read or written. What is written in part is read too: the other elements stay.
rh_lang_type rh_lang_check_place(rh_lang_checker *c, rh_lang_node *node, bool reads, bool writes)
{
    rh_lang_type type;
    if (node->kind == RH_LANG_ATTRIBUTE) type = check_attribute(c, node, reads, writes);
    else if (node->kind == RH_LANG_INDEX) type = check_index(c, node, reads, writes);
    else if (node->kind == RH_LANG_LOCAL) type = check_local(c, node);
    else type = rh_lang_check_expression(c, node);
    node->type = node->as = type;
    return type;
}

// The value of an index that is the same for all elements: literals and what can be made of them with - + ~ + - * / %.
static bool constant_index(const rh_lang_node *node, int64_t *out)
{
    int64_t a, b;
    *out = node->value.integer;
    if (node->kind == RH_LANG_INTEGER || node->kind == RH_LANG_LOGICAL) return true;
    bool operation = node->kind == RH_LANG_UNARY || node->kind == RH_LANG_BINARY;
    if (!operation || !constant_index(node->first, &a) || !constant_index(node->last, &b)) return false;
    if (a > INT32_MAX || a < -INT32_MAX || b > INT32_MAX || b < -INT32_MAX)
        return false;  // rather no answer than one that wraps otherwise
    switch (node->operation) {
    case RH_LANG_PLUS: *out = a; return true;
    case RH_LANG_MINUS: *out = -a; return true;
    case RH_LANG_ADD: *out = a + b; return true;
    case RH_LANG_SUB: *out = a - b; return true;
    case RH_LANG_MUL: *out = a * b; return true;
    case RH_LANG_DIV: *out = b != 0 ? a / b : 0; return true;
    default: return false;
    }
}

static bool check_one_index(rh_lang_checker *c, rh_lang_node *node, rh_lang_node *index, int limit)
{
    rh_lang_type type = rh_lang_check_expression(c, index);
    if (type == RH_LANG_WRONG) return false;
    if (!rh_lang_is_integer(type) || rh_lang_is_container(type)) {
        rh_lang_error(c->unit, index->at, "convert with int( )", "found an index of type %s, expected an integer",
                      rh_lang_type_name(type));
        return false;
    }
    int64_t value;
    if (constant_index(index, &value) && (value < 0 || value >= limit)) {
        if (node->postfix)
            rh_lang_error(c->unit, node->at, NULL, "a vector of %d elements has no such component", limit);
        else
            rh_lang_error(c->unit, index->at, NULL, "found the index %lld, expected 0 to %d", (long long)value,
                          limit - 1);
        return false;
    }
    index->as = RH_LANG_INT64;
    return true;
}

static rh_lang_type check_index(rh_lang_checker *c, rh_lang_node *node, bool reads, bool writes)
{
    rh_lang_node *variable = node->first, *index = variable->next, *second = index->next;
    rh_lang_type type = rh_lang_check_place(c, variable, reads || writes, writes);
    if (type == RH_LANG_WRONG) return RH_LANG_WRONG;
    if (!rh_lang_is_container(type) || (node->postfix && !rh_lang_is_vector(type))) {
        rh_lang_error(c->unit, node->at, node->postfix && rh_lang_is_matrix(type) ? "write [row, column]" : NULL,
                      "\"%s\" is of type %s and has no such elements", variable->name, rh_lang_type_name(type));
        return RH_LANG_WRONG;
    }
    if (second && !rh_lang_is_matrix(type)) {
        rh_lang_error(c->unit, node->at, "write [index]",
                      "found two indices, but \"%s\" is of type %s: only matrices have rows and columns",
                      variable->name, rh_lang_type_name(type));
        return RH_LANG_WRONG;
    }
    int limit = second ? rh_lang_type_side(type) : rh_lang_type_parts(type);
    bool good = check_one_index(c, node, index, limit);
    if (second) good &= check_one_index(c, node, second, limit);
    if (index->kind != RH_LANG_INTEGER || (second && second->kind != RH_LANG_INTEGER)) {
        rh_lang_facts *f = c->facts;
        f->sites = rh_lang_grown(c, f->sites, f->site_count, sizeof *f->sites);
        if (c->unit->failed) return RH_LANG_WRONG;
        node->slot = f->site_count;
        f->sites[f->site_count++] = (rh_lang_site){.at = node->at, .limit = limit, .matrix = rh_lang_is_matrix(type)};
    }
    return good ? RH_LANG_TYPE(RH_LANG_SCALAR, rh_lang_type_element(type)) : RH_LANG_WRONG;
}

static rh_lang_type refuse_operation(rh_lang_checker *c, rh_lang_place at, const rh_lang_rule *rule, const char *sign,
                                     const char *types)
{
    rh_lang_error(c->unit, at, rule->hint, "no operator %s for %s: %s", sign, types, rule->why);
    return RH_LANG_WRONG;
}

static void warn_zero(rh_lang_checker *c, rh_lang_operator operation, const rh_lang_node *right)
{
    if (operation != RH_LANG_DIV && operation != RH_LANG_MOD) return;
    if ((right->kind == RH_LANG_INTEGER && right->value.integer == 0) ||
        (right->kind == RH_LANG_REAL && right->value.real == 0))
        rh_lang_warn(c->unit, right->at, NULL, "%s by zero", operation == RH_LANG_DIV ? "division" : "modulo");
}

static rh_lang_type check_operation(rh_lang_checker *c, rh_lang_operator operation, rh_lang_place at, rh_lang_type left,
                                    rh_lang_node *right, rh_lang_rule *rule)
{
    if (left == RH_LANG_WRONG || right->type == RH_LANG_WRONG) return RH_LANG_WRONG;
    warn_zero(c, operation, right);
    if (rh_lang_binary_rule(operation, left, right->type, rule)) return rule->result;
    char types[48];
    snprintf(types, sizeof types, "%s and %s", rh_lang_type_name(left), rh_lang_type_name(right->type));
    return refuse_operation(c, at, rule, rh_lang_operator_name(operation), types);
}

static rh_lang_type check_binary(rh_lang_checker *c, rh_lang_node *node)
{
    rh_lang_node *left = node->first, *right = node->last;
    rh_lang_rule rule;
    rh_lang_check_expression(c, left);
    rh_lang_check_expression(c, right);
    rh_lang_type type = check_operation(c, node->operation, node->at, left->type, right, &rule);
    if (type == RH_LANG_WRONG) return RH_LANG_WRONG;
    operand_as(c, left, rule.left);
    operand_as(c, right, rule.right);
    c->facts->strings |= type == RH_LANG_STRING;
    return type;
}

static rh_lang_type check_unary(rh_lang_checker *c, rh_lang_node *node)
{
    rh_lang_rule rule;
    rh_lang_type type = rh_lang_check_expression(c, node->first);
    if (type == RH_LANG_WRONG) return RH_LANG_WRONG;
    if (!rh_lang_unary_rule(node->operation, type, &rule))
        return refuse_operation(c, node->at, &rule, rh_lang_operator_name(node->operation), rh_lang_type_name(type));
    node->first->as = rule.left;
    return rule.result;
}

static rh_lang_type check_assign(rh_lang_checker *c, rh_lang_node *node)
{
    rh_lang_node *target = node->first, *value = node->last;
    bool compound = node->operation != RH_LANG_NONE;
    rh_lang_check_expression(c, value);
    rh_lang_type type = rh_lang_check_place(c, target, compound, true);
    if (type == RH_LANG_WRONG) return RH_LANG_WRONG;
    c->facts->strings |= type == RH_LANG_STRING;
    if (!compound) {
        convert_for(c, value, type, node->at);
        return type;
    }
    rh_lang_rule rule;
    rh_lang_type result = check_operation(c, node->operation, node->at, type, value, &rule);
    if (result == RH_LANG_WRONG) return RH_LANG_WRONG;
    operand_as(c, value, rule.right);
    if (!rh_lang_assignable(type, result)) {
        rh_lang_error(c->unit, node->at, NULL, "%s= of %s and %s gives %s, which does not fit back",
                      rh_lang_operator_name(node->operation), rh_lang_type_name(type), rh_lang_type_name(value->type),
                      rh_lang_type_name(result));
        return RH_LANG_WRONG;
    }
    if (loses(type, result) && !(rh_lang_is_literal(value) && rh_lang_is_floating(type)))
        rh_lang_warn(c->unit, node->at, NULL, "%s becomes %s here and may lose something", rh_lang_type_name(result),
                     rh_lang_type_name(type));
    return type;
}

static rh_lang_type check_crement(rh_lang_checker *c, rh_lang_node *node)
{
    rh_lang_type type = rh_lang_check_place(c, node->first, true, true);
    if (type == RH_LANG_WRONG) return RH_LANG_WRONG;
    if (!rh_lang_is_number(type) || type == RH_LANG_BOOL) {
        rh_lang_error(c->unit, node->at, NULL, "%s%s is for single numbers other than bool, \"%s\" is of type %s",
                      rh_lang_operator_name(node->operation), rh_lang_operator_name(node->operation),
                      root_of(node)->name, rh_lang_type_name(type));
        return RH_LANG_WRONG;
    }
    return type;
}

static rh_lang_type check_ternary(rh_lang_checker *c, rh_lang_node *node)
{
    bool is_short = node->count == 2;
    rh_lang_node *condition = node->first, *other = node->last, *then = is_short ? condition : condition->next;
    rh_lang_type type;
    check_condition(c, condition);
    if (!is_short) rh_lang_check_expression(c, then);
    rh_lang_check_expression(c, other);
    if (condition->type == RH_LANG_WRONG || then->type == RH_LANG_WRONG || other->type == RH_LANG_WRONG)
        return RH_LANG_WRONG;
    if (!rh_lang_choice_rule(then->type, other->type, &type)) {
        rh_lang_error(c->unit, node->at, NULL,
                      "the two values of ?: have the types %s and %s, which do not go together",
                      rh_lang_type_name(then->type), rh_lang_type_name(other->type));
        return RH_LANG_WRONG;
    }
    if (!is_short) operand_as(c, then, type);
    operand_as(c, other, type);
    return type;
}

static rh_lang_type check_array(rh_lang_checker *c, rh_lang_node *node)
{
    rh_lang_element highest = RH_LANG_E_BOOL;
    bool wrong = false;
    for (rh_lang_node *child = node->first; child; child = child->next) {
        rh_lang_type type = rh_lang_check_expression(c, child);
        if (type != RH_LANG_WRONG && !rh_lang_is_number(type))
            rh_lang_error(c->unit, child->at, NULL, "found a value of type %s between braces, expected single numbers",
                          rh_lang_type_name(type));
        wrong |= !rh_lang_is_number(type);
        if (!wrong && rh_lang_type_element(type) > highest) highest = rh_lang_type_element(type);
    }
    if (wrong) return RH_LANG_WRONG;
    rh_lang_shape shape = node->count == 2   ? RH_LANG_VEC2
                          : node->count == 3 ? RH_LANG_VEC3
                          : node->count == 4 ? RH_LANG_VEC4
                          : node->count == 9 ? RH_LANG_MAT3
                                             : RH_LANG_MAT4;
    for (rh_lang_node *child = node->first; child; child = child->next)
        child->as = RH_LANG_TYPE(RH_LANG_SCALAR, highest);
    return RH_LANG_TYPE(shape, highest);
}

static rh_lang_type check_cast(rh_lang_checker *c, rh_lang_node *node)
{
    rh_lang_type type = rh_lang_check_expression(c, node->first);
    if (type == RH_LANG_WRONG) return RH_LANG_WRONG;
    if (!rh_lang_is_number(type)) {
        rh_lang_error(c->unit, node->at,
                      rh_lang_is_container(type) ? "take one element with [ ]" : "atoi( ) and atof( ) read numbers",
                      "found a value of type %s to cast, expected a single number", rh_lang_type_name(type));
        return RH_LANG_WRONG;
    }
    node->first->as = node->type;
    return node->type;
}

static rh_lang_type check_kind(rh_lang_checker *c, rh_lang_node *node)
{
    switch (node->kind) {
    case RH_LANG_ASSIGN: return check_assign(c, node);
    case RH_LANG_CREMENT: return check_crement(c, node);
    case RH_LANG_UNARY: return check_unary(c, node);
    case RH_LANG_BINARY: return check_binary(c, node);
    case RH_LANG_TERNARY: return check_ternary(c, node);
    case RH_LANG_CAST: return check_cast(c, node);
    case RH_LANG_CALL: return rh_lang_check_call(c, node);
    case RH_LANG_ARRAY: return check_array(c, node);
    case RH_LANG_INDEX:
    case RH_LANG_LOCAL:
    case RH_LANG_ATTRIBUTE: return rh_lang_check_place(c, node, true, false);
    case RH_LANG_EXTERNAL: return check_external(c, node);
    case RH_LANG_COMMA:
        for (rh_lang_node *child = node->first; child; child = child->next) rh_lang_check_expression(c, child);
        return node->last->type;
    case RH_LANG_INTEGER:
    case RH_LANG_REAL:
    case RH_LANG_LOGICAL:
    case RH_LANG_TEXT: return node->type;
    default: return RH_LANG_WRONG;
    }
}

rh_lang_type rh_lang_check_expression(rh_lang_checker *c, rh_lang_node *node)
{
    rh_lang_type type = c->unit->failed ? RH_LANG_WRONG : check_kind(c, node);
    node->type = node->as = type;
    return type;
}

// ---- statements

static void check_body(rh_lang_checker *c, rh_lang_node *node)
{
    open_scope(c);
    check_statement(c, node);
    close_scope(c);
}

static bool writes_local(const rh_lang_node *node, int slot)
{
    bool target = node->kind == RH_LANG_ASSIGN || node->kind == RH_LANG_CREMENT;
    if (target && root_of(node->first)->kind == RH_LANG_LOCAL && root_of(node->first)->slot == slot) return true;
    for (const rh_lang_node *child = node->first; child; child = child->next) {
        // An argument may be written by the function: any mention in a call counts.
        if (node->kind == RH_LANG_CALL && child->kind == RH_LANG_LOCAL && child->slot == slot) return true;
        if (writes_local(child, slot)) return true;
    }
    return false;
}

static bool is_counter(const rh_lang_node *node, int slot) { return node->kind == RH_LANG_LOCAL && node->slot == slot; }

// How often `for (int i = a; i < b; i += s)` runs its body, all three literals; -1 where the loop is not of that form.
static int64_t trips(const rh_lang_node *loop)
{
    const rh_lang_node *first = loop->first, *condition = first->next, *step = condition->next, *body = step->next;
    if (first->kind != RH_LANG_DECLARES || first->count != 1 || first->first->type != RH_LANG_INT32 ||
        first->first->count != 1)
        return -1;
    const rh_lang_node *start = first->first->first;
    int slot = first->first->slot;
    if (start->kind != RH_LANG_INTEGER || condition->kind != RH_LANG_BINARY || !is_counter(condition->first, slot))
        return -1;
    if (condition->last->kind != RH_LANG_INTEGER ||
        (condition->operation != RH_LANG_LT && condition->operation != RH_LANG_LE))
        return -1;
    int64_t by = 0;
    if (step->kind == RH_LANG_CREMENT && step->operation == RH_LANG_ADD && is_counter(step->first, slot)) by = 1;
    else if (step->kind == RH_LANG_ASSIGN && step->operation == RH_LANG_ADD && is_counter(step->first, slot) &&
             step->last->kind == RH_LANG_INTEGER)
        by = step->last->value.integer;
    if (by <= 0 || writes_local(body, slot)) return -1;
    int64_t end = condition->last->value.integer + (condition->operation == RH_LANG_LE);
    if (end > INT32_MAX - by) return -1;  // the counter would wrap
    int64_t distance = end - start->value.integer;
    return distance <= 0 ? 0 : (distance + by - 1) / by;
}

enum { MOST_PROVED = 4096 };  // trips of nested loops together that run uncounted

static void check_for(rh_lang_checker *c, rh_lang_node *node)
{
    rh_lang_node *first = node->first, *condition = first->next, *step = condition->next, *body = step->next;
    open_scope(c);
    check_statement(c, first);
    check_condition(c, condition);
    if (step->kind != RH_LANG_EMPTY) rh_lang_check_expression(c, step);
    int64_t outside = c->proved, count = c->unit->messages->errors ? -1 : trips(node);
    node->bounded = count >= 0 && count * outside <= MOST_PROVED;
    if (node->bounded) c->proved *= count ? count : 1;
    c->loops++;
    check_body(c, body);
    c->loops--;
    c->proved = outside;
    // The body's slots are known only now: whoever writes the counter there takes the proof away.
    node->bounded = node->bounded && !c->unit->messages->errors && trips(node) >= 0;
    close_scope(c);
}

static void check_do(rh_lang_checker *c, rh_lang_node *node)
{
    c->loops++;
    check_body(c, node->first);
    c->loops--;
    open_scope(c);
    check_condition(c, node->last);
    close_scope(c);
}

static void note_loop(rh_lang_checker *c, rh_lang_node *node)
{
    rh_lang_facts *f = c->facts;
    f->all_loops++;
    if (node->bounded || c->unit->failed) return;
    f->loops = rh_lang_grown(c, f->loops, f->loop_count, sizeof *f->loops);
    if (c->unit->failed) return;
    node->slot = f->loop_count;
    f->loops[f->loop_count++] = node->at;
}

static void check_declare(rh_lang_checker *c, rh_lang_node *node)
{
    rh_lang_type type = node->type;
    c->facts->strings |= type == RH_LANG_STRING;
    if (node->count) {
        rh_lang_check_expression(c, node->first);
        convert_for(c, node->first, type, node->at);
    }
    declare(c, node);
    node->as = type;
}

static void check_statement(rh_lang_checker *c, rh_lang_node *node)
{
    if (c->unit->failed) return;
    switch (node->kind) {
    case RH_LANG_EMPTY:
    case RH_LANG_RETURN: break;
    case RH_LANG_BLOCK:
        open_scope(c);
        for (rh_lang_node *child = node->first; child; child = child->next) check_statement(c, child);
        close_scope(c);
        break;
    case RH_LANG_DECLARES:
        for (rh_lang_node *child = node->first; child; child = child->next) check_statement(c, child);
        break;
    case RH_LANG_DECLARE: check_declare(c, node); break;
    case RH_LANG_IF:
        check_condition(c, node->first);
        for (rh_lang_node *child = node->first->next; child; child = child->next) check_body(c, child);
        break;
    case RH_LANG_FOR:
        check_for(c, node);
        note_loop(c, node);
        break;
    case RH_LANG_DO:
        check_do(c, node);
        note_loop(c, node);
        break;
    case RH_LANG_BREAK:
    case RH_LANG_CONTINUE:
        if (c->loops == 0)
            rh_lang_error(c->unit, node->at,
                          node->kind == RH_LANG_BREAK ? "return ends the program for this element" : NULL,
                          "found %s outside of a loop", node->kind == RH_LANG_BREAK ? "break" : "continue");
        break;
    default: rh_lang_check_expression(c, node); break;
    }
}

static void check_size(rh_lang_checker *c, rh_lang_place at)
{
    const rh_lang_facts *f = c->facts;
    int64_t numbers = 2 * (int64_t)f->group_count;
    for (int i = 0; i < f->local_count; i++) numbers += rh_lang_type_parts(f->locals[i]);
    for (int i = 0; i < f->attribute_count; i++) numbers += rh_lang_type_parts(f->attributes[i].type);
    for (int i = 0; i < f->external_count; i++) numbers += rh_lang_type_parts(f->externals[i].type);
    if (numbers > RH_LANG_MOST_NUMBERS)
        rh_lang_error(c->unit, at, "use variables again, or several programs",
                      "all variables and attributes together hold %lld numbers, expected at most %d",
                      (long long)numbers, RH_LANG_MOST_NUMBERS);
}

bool rh_lang_check(rh_lang_unit *unit, rh_lang_node *program, const rh_lang_options *options, rh_lang_facts *facts)
{
    *facts = (rh_lang_facts){.named_groups = true};
    rh_lang_checker c = {.unit = unit, .options = options, .facts = facts, .proved = 1};
    check_statement(&c, program);
    check_size(&c, program->at);
    if (!facts->named_groups) facts->calls_library = true;
    return !unit->failed;
}
