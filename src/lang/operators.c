// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// The rules of operators and signatures.
#include "lang/operators.h"
#include <string.h>

static bool refuse(rh_lang_rule *out, const char *why, const char *hint)
{
    out->why = why;
    out->hint = hint;
    return false;
}

// A number beside a matrix takes the matrix's element, whatever its own: matf * 0.1 is a mat3f.
static bool same_type(rh_lang_rule *out, rh_lang_type left, rh_lang_type right)
{
    rh_lang_type common = rh_lang_common(left, right);
    if (rh_lang_is_matrix(left) && rh_lang_is_number(right)) common = left;
    if (rh_lang_is_matrix(right) && rh_lang_is_number(left)) common = right;
    if (common == RH_LANG_VOID) {
        if (rh_lang_is_matrix(left) != rh_lang_is_matrix(right))
            return refuse(out, "a vector and a matrix do not go together here", NULL);
        return refuse(out, "the sizes differ", "take single components with [ ]");
    }
    out->left = out->right = out->result = common;
    return true;
}

// vec * mat is a row vector's transform, mat * vec a column vector's; a vec3 meets a 4 x 4 matrix as a position.
static bool product_rule(rh_lang_rule *out, rh_lang_type left, rh_lang_type right)
{
    bool vector_left = rh_lang_is_vector(left), vector_right = rh_lang_is_vector(right);
    out->product = true;
    if (!vector_left && !vector_right) return same_type(out, left, right);
    rh_lang_type vector = vector_left ? left : right, matrix = vector_left ? right : left;
    int size = rh_lang_type_parts(vector), side = rh_lang_type_side(matrix);
    if (size != side && !(size == 3 && side == 4))
        return refuse(out, "the sizes differ", "a mat3 goes with a vec3, a mat4 with a vec3 or a vec4");
    rh_lang_element a = rh_lang_type_element(left), b = rh_lang_type_element(right), element = a > b ? a : b;
    out->left = rh_lang_type_with(left, element);
    out->right = rh_lang_type_with(right, element);
    out->result = rh_lang_type_with(vector, element);
    return true;
}

static bool integers_only(rh_lang_rule *out, rh_lang_type left, rh_lang_type right)
{
    if (rh_lang_is_container(left) || rh_lang_is_container(right))
        return refuse(out, "bits are those of single integers", NULL);
    if (!rh_lang_is_integer(left) || !rh_lang_is_integer(right))
        return refuse(out, "bits are those of integers", "convert with int( )");
    return same_type(out, left, right);
}

static bool comparison(rh_lang_rule *out, rh_lang_type left, rh_lang_type right)
{
    if (rh_lang_is_container(left) || rh_lang_is_container(right))
        return refuse(out, "only single numbers have an order", "compare components or length( )");
    if (!same_type(out, left, right)) return false;
    out->result = RH_LANG_BOOL;
    return true;
}

static bool logic(rh_lang_rule *out, rh_lang_type left, rh_lang_type right)
{
    if (!rh_lang_is_number(left) || !rh_lang_is_number(right))
        return refuse(out, "both sides must be single numbers", NULL);
    out->left = out->right = out->result = RH_LANG_BOOL;
    return true;
}

static bool text_rule(rh_lang_operator operation, rh_lang_rule *out, rh_lang_type left, rh_lang_type right)
{
    if (left != right) return refuse(out, "a string goes with strings only", "atoi( ) and atof( ) read numbers");
    if (operation != RH_LANG_ADD)
        return refuse(out, "strings can only be joined with +",
                      operation == RH_LANG_EQ || operation == RH_LANG_NE ? "compare hash( ) of both" : NULL);
    out->left = out->right = out->result = RH_LANG_STRING;
    return true;
}

bool rh_lang_binary_rule(rh_lang_operator operation, rh_lang_type left, rh_lang_type right, rh_lang_rule *out)
{
    *out = (rh_lang_rule){0};
    if (left == RH_LANG_VOID || right == RH_LANG_VOID) return refuse(out, "one side has no value", NULL);
    if (left == RH_LANG_STRING || right == RH_LANG_STRING) return text_rule(operation, out, left, right);
    bool matrix = rh_lang_is_matrix(left) || rh_lang_is_matrix(right);
    switch (operation) {
    case RH_LANG_ADD:
    case RH_LANG_SUB: return same_type(out, left, right);
    case RH_LANG_MUL: return matrix ? product_rule(out, left, right) : same_type(out, left, right);
    case RH_LANG_DIV:
    case RH_LANG_MOD:
        if (matrix) return refuse(out, "matrices cannot be divided", "multiply by inverse( ), or by a number");
        return same_type(out, left, right);
    case RH_LANG_BIT_AND:
    case RH_LANG_BIT_OR:
    case RH_LANG_BIT_XOR:
    case RH_LANG_SHL:
    case RH_LANG_SHR: return integers_only(out, left, right);
    case RH_LANG_EQ:
    case RH_LANG_NE:
        if (!same_type(out, left, right)) return false;
        out->result = RH_LANG_BOOL;
        return true;
    case RH_LANG_LT:
    case RH_LANG_GT:
    case RH_LANG_LE:
    case RH_LANG_GE: return comparison(out, left, right);
    case RH_LANG_AND:
    case RH_LANG_OR: return logic(out, left, right);
    default: return refuse(out, "no such operation", NULL);
    }
}

bool rh_lang_unary_rule(rh_lang_operator operation, rh_lang_type operand, rh_lang_rule *out)
{
    *out = (rh_lang_rule){0};
    if (operand == RH_LANG_VOID) return refuse(out, "there is no value", NULL);
    if (operand == RH_LANG_STRING) return refuse(out, "strings can only be joined with +", NULL);
    bool whole = rh_lang_is_integer(operand);
    if (operation == RH_LANG_BIT_NOT && !whole) return refuse(out, "bits are those of integers", "convert with int( )");
    if (operation == RH_LANG_NOT && rh_lang_is_container(operand) && !whole)
        return refuse(out, "! is for single numbers and vectors of integers", NULL);
    rh_lang_element element = rh_lang_type_element(operand);
    if (operation == RH_LANG_NOT) {  // is it zero? Not-a-number is neither zero nor true
        out->left = operand;
        out->result = rh_lang_type_with(operand, RH_LANG_E_BOOL);
        return true;
    }
    if (operation != RH_LANG_PLUS && operand == RH_LANG_BOOL)
        element = RH_LANG_E_INT32;  // vectors of bools stay what they are
    out->left = out->result = rh_lang_type_with(operand, element);
    return true;
}

bool rh_lang_choice_rule(rh_lang_type a, rh_lang_type b, rh_lang_type *out)
{
    *out = a == b ? a : rh_lang_common(a, b);
    return a == b || *out != RH_LANG_VOID;
}

static rh_lang_type read_type(const char **at, bool *written)
{
    while (**at == ' ') ++*at;
    *written = **at == '&';
    if (*written) ++*at;
    size_t length = strcspn(*at, "(), ");
    rh_lang_type type = rh_lang_type_named(*at, length);
    *at += length;
    return type;
}

bool rh_lang_signature_read(const char *text, rh_lang_signature *out)
{
    *out = (rh_lang_signature){0};
    bool written = false;
    const char *at = text;
    bool is_void = strncmp(text, "void(", 5) == 0;
    out->result = read_type(&at, &written);
    if ((out->result == RH_LANG_VOID && !is_void) || written || *at++ != '(') return false;
    if (strcmp(at, ")") == 0) return true;
    for (;;) {
        if (out->count == RH_LANG_MOST_ARGUMENTS) return false;
        rh_lang_type type = read_type(&at, &written);
        if (type == RH_LANG_VOID) return false;
        out->written[out->count] = written;
        out->arguments[out->count++] = type;
        if (*at != ',') return strcmp(at, ")") == 0;
        at++;
    }
}
