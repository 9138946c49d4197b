// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Conversions and operators. What C leaves undefined has a meaning here, chosen so that nothing traps and code still
// vectorises:
//   integers wrap around; x / 0 is 0 and x % 0 is x; the smallest integer divided by -1 is itself
//   shifts use the low bits of their count
//   a real number outside the range of int32 or int64 becomes the nearest integer there is, not-a-number 0
// Floating point is IEEE as written: nothing is reassociated, no a * b + c is fused.
#include <math.h>
#include "lang/emit.h"
#include "lang/operators.h"

int rh_lang_value_parts(rh_lang_type type) { return type == RH_LANG_STRING ? 2 : rh_lang_type_parts(type); }

static bool is_real(rh_lang_element element) { return element == RH_LANG_E_FLOAT || element == RH_LANG_E_DOUBLE; }

LLVMValueRef rh_lang_emit_integer(rh_lang_emitter *e, rh_lang_element element, int64_t value)
{
    return LLVMConstInt(e->element[element], (unsigned long long)value, 1);
}

LLVMValueRef rh_lang_emit_number(rh_lang_emitter *e, rh_lang_element element, double value)
{
    return is_real(element) ? LLVMConstReal(e->element[element], value)
                            : rh_lang_emit_integer(e, element, (int64_t)value);
}

LLVMValueRef rh_lang_emit_choose(rh_lang_emitter *e, LLVMValueRef condition, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildSelect(e->builder, condition, a, b, "");
}

// ---- conversions

// LLVM's conversion is undefined outside the range; a select that does not take it makes that harmless. An int16 is an
// int32 cut short.
static LLVMValueRef real_to_integer(rh_lang_emitter *e, LLVMValueRef value, rh_lang_element from, rh_lang_element to)
{
    if (to == RH_LANG_E_INT16)
        return LLVMBuildTrunc(e->builder, real_to_integer(e, value, from, RH_LANG_E_INT32), e->element[to], "");
    int bits = to == RH_LANG_E_INT32 ? 32 : 64;
    double limit = ldexp(1.0, bits - 1);
    uint64_t lowest = (uint64_t)1 << (bits - 1);
    LLVMValueRef high = LLVMBuildFCmp(e->builder, LLVMRealOGE, value, LLVMConstReal(e->element[from], limit), "");
    LLVMValueRef low = LLVMBuildFCmp(e->builder, LLVMRealOLT, value, LLVMConstReal(e->element[from], -limit), "");
    LLVMValueRef nan = LLVMBuildFCmp(e->builder, LLVMRealUNO, value, value, "");
    LLVMValueRef whole = LLVMBuildFPToSI(e->builder, value, e->element[to], "");
    whole = rh_lang_emit_choose(e, low, LLVMConstInt(e->element[to], lowest, 0), whole);
    whole = rh_lang_emit_choose(e, high, LLVMConstInt(e->element[to], lowest - 1, 0), whole);
    return rh_lang_emit_choose(e, nan, rh_lang_emit_integer(e, to, 0), whole);
}

static LLVMValueRef to_bool(rh_lang_emitter *e, LLVMValueRef value, rh_lang_element from)
{
    LLVMValueRef zero = rh_lang_emit_number(e, from, 0);
    return is_real(from) ? LLVMBuildFCmp(e->builder, LLVMRealONE, value, zero, "")
                         : LLVMBuildICmp(e->builder, LLVMIntNE, value, zero, "");
}

LLVMValueRef rh_lang_emit_cast(rh_lang_emitter *e, LLVMValueRef value, rh_lang_element from, rh_lang_element to)
{
    if (from == to) return value;
    if (to == RH_LANG_E_BOOL) return to_bool(e, value, from);
    LLVMTypeRef type = e->element[to];
    if (is_real(from))
        return is_real(to) ? LLVMBuildFPCast(e->builder, value, type, "") : real_to_integer(e, value, from, to);
    if (from == RH_LANG_E_BOOL)
        return is_real(to) ? LLVMBuildUIToFP(e->builder, value, type, "") : LLVMBuildZExt(e->builder, value, type, "");
    if (is_real(to)) return LLVMBuildSIToFP(e->builder, value, type, "");
    return from < to ? LLVMBuildSExt(e->builder, value, type, "") : LLVMBuildTrunc(e->builder, value, type, "");
}

rh_lang_value rh_lang_emit_zero(rh_lang_emitter *e, rh_lang_type type)
{
    rh_lang_value out = {.type = type};
    if (type == RH_LANG_STRING) {
        out.part[0] = LLVMConstNull(e->bytes);
        out.part[1] = LLVMConstInt(e->i64, 0, 0);
        return out;
    }
    for (int i = 0; i < rh_lang_type_parts(type); i++)
        out.part[i] = rh_lang_emit_number(e, rh_lang_type_element(type), 0);
    return out;
}

rh_lang_value rh_lang_emit_convert(rh_lang_emitter *e, const rh_lang_value *value, rh_lang_type to)
{
    if (value->type == to || to == RH_LANG_VOID || to == RH_LANG_STRING) return *value;
    rh_lang_element from = rh_lang_type_element(value->type), element = rh_lang_type_element(to);
    rh_lang_value out = {.type = to};
    int parts = rh_lang_type_parts(to), side = rh_lang_type_side(to);
    if (!rh_lang_is_number(value->type)) {
        for (int i = 0; i < parts; i++) out.part[i] = rh_lang_emit_cast(e, value->part[i], from, element);
        return out;
    }
    LLVMValueRef one = rh_lang_emit_cast(e, value->part[0], from, element);
    for (int i = 0; i < parts; i++)
        out.part[i] = side == 0 || i % (side + 1) == 0 ? one : rh_lang_emit_number(e, element, 0);
    return out;
}

// ---- integers that never trap

static LLVMValueRef equals(rh_lang_emitter *e, rh_lang_element element, LLVMValueRef a, int64_t value)
{
    return LLVMBuildICmp(e->builder, LLVMIntEQ, a, rh_lang_emit_integer(e, element, value), "");
}

// A divisor without 0 and -1, whose results are put in afterwards.
static LLVMValueRef safe_divisor(rh_lang_emitter *e, rh_lang_element element, LLVMValueRef b)
{
    LLVMValueRef unsafe = LLVMBuildOr(e->builder, equals(e, element, b, 0), equals(e, element, b, -1), "");
    return rh_lang_emit_choose(e, unsafe, rh_lang_emit_integer(e, element, 1), b);
}

static LLVMValueRef divide_integers(rh_lang_emitter *e, rh_lang_element element, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef quotient = LLVMBuildSDiv(e->builder, a, safe_divisor(e, element, b), "");
    quotient = rh_lang_emit_choose(e, equals(e, element, b, -1), LLVMBuildNeg(e->builder, a, ""), quotient);
    return rh_lang_emit_choose(e, equals(e, element, b, 0), rh_lang_emit_integer(e, element, 0), quotient);
}

LLVMValueRef rh_lang_emit_remainder(rh_lang_emitter *e, rh_lang_element element, LLVMValueRef a, LLVMValueRef b)
{
    if (element == RH_LANG_E_FLOAT) {
        rh_lang_value operands[] = {{.type = RH_LANG_FLOAT, .part = {a}}, {.type = RH_LANG_FLOAT, .part = {b}}}, out;
        if (rh_lang_emit_lanes(e, "fmod", RH_LANG_FLOAT, operands, 2, &out)) return out.part[0];
    }
    if (is_real(element)) return LLVMBuildFRem(e->builder, a, b, "");
    LLVMValueRef rest = LLVMBuildSRem(e->builder, a, safe_divisor(e, element, b), "");
    return rh_lang_emit_choose(e, equals(e, element, b, 0), a, rest);
}

// The remainder takes the divisor's sign: where it is not zero and has the other one, a divisor is added.
static LLVMValueRef floored_modulo(rh_lang_emitter *e, rh_lang_element element, LLVMValueRef a, LLVMValueRef b)
{
    LLVMValueRef rest = rh_lang_emit_remainder(e, element, a, b), zero = rh_lang_emit_number(e, element, 0);
    LLVMValueRef different = rh_lang_emit_compare(e, RH_LANG_NE, element, rest, zero);
    LLVMValueRef signs = LLVMBuildXor(e->builder, rh_lang_emit_compare(e, RH_LANG_LT, element, rest, zero),
                                      rh_lang_emit_compare(e, RH_LANG_LT, element, b, zero), "");
    LLVMValueRef up = LLVMBuildAnd(e->builder, different, signs, "");
    if (!is_real(element))
        up = LLVMBuildAnd(e->builder, up, LLVMBuildNot(e->builder, equals(e, element, b, 0), ""), "");
    LLVMValueRef sum = is_real(element) ? LLVMBuildFAdd(e->builder, rest, b, "")
                                        : LLVMBuildAdd(e->builder, rest, b, "");
    return rh_lang_emit_choose(e, up, sum, rest);
}

static LLVMValueRef shift_count(rh_lang_emitter *e, rh_lang_element element, LLVMValueRef b)
{
    int highest = element == RH_LANG_E_INT64 ? 63 : element == RH_LANG_E_INT32 ? 31 : 15;
    return LLVMBuildAnd(e->builder, b, rh_lang_emit_integer(e, element, highest), "");
}

// ---- operators on numbers

LLVMValueRef rh_lang_emit_operation(rh_lang_emitter *e, rh_lang_operator operation, rh_lang_element element,
                                    LLVMValueRef a, LLVMValueRef b)
{
    LLVMBuilderRef builder = e->builder;
    bool real = is_real(element);
    switch (operation) {
    case RH_LANG_ADD: return real ? LLVMBuildFAdd(builder, a, b, "") : LLVMBuildAdd(builder, a, b, "");
    case RH_LANG_SUB: return real ? LLVMBuildFSub(builder, a, b, "") : LLVMBuildSub(builder, a, b, "");
    case RH_LANG_MUL: return real ? LLVMBuildFMul(builder, a, b, "") : LLVMBuildMul(builder, a, b, "");
    case RH_LANG_DIV: return real ? LLVMBuildFDiv(builder, a, b, "") : divide_integers(e, element, a, b);
    case RH_LANG_MOD: return floored_modulo(e, element, a, b);
    case RH_LANG_BIT_AND: return LLVMBuildAnd(builder, a, b, "");
    case RH_LANG_BIT_OR: return LLVMBuildOr(builder, a, b, "");
    case RH_LANG_BIT_XOR: return LLVMBuildXor(builder, a, b, "");
    case RH_LANG_SHL: return LLVMBuildShl(builder, a, shift_count(e, element, b), "");
    case RH_LANG_SHR: return LLVMBuildAShr(builder, a, shift_count(e, element, b), "");
    default: return rh_lang_emit_compare(e, operation, element, a, b);
    }
}

// Comparisons of reals are ordered, != too: with not-a-number every one is false.
LLVMValueRef rh_lang_emit_compare(rh_lang_emitter *e, rh_lang_operator operation, rh_lang_element element,
                                  LLVMValueRef a, LLVMValueRef b)
{
    static const LLVMRealPredicate real[] = {LLVMRealOEQ, LLVMRealONE, LLVMRealOLT,
                                             LLVMRealOGT, LLVMRealOLE, LLVMRealOGE};
    static const LLVMIntPredicate whole[] = {LLVMIntEQ, LLVMIntNE, LLVMIntSLT, LLVMIntSGT, LLVMIntSLE, LLVMIntSGE};
    int which = operation - RH_LANG_EQ;
    return is_real(element) ? LLVMBuildFCmp(e->builder, real[which], a, b, "")
                            : LLVMBuildICmp(e->builder, whole[which], a, b, "");
}

// ---- operators on values

static rh_lang_value join_texts(rh_lang_emitter *e, const rh_lang_value *left, const rh_lang_value *right)
{
    LLVMValueRef arguments[] = {e->thread, e->spills[2], rh_lang_emit_spill(e, left, 0),
                                rh_lang_emit_spill(e, right, 1)};
    rh_lang_emit_c(e, (void (*)(void))rh_lang_text_join, LLVMVoidTypeInContext(e->context), arguments, 4, false);
    return rh_lang_emit_unspill(e, RH_LANG_STRING, arguments[1]);
}

static rh_lang_value compare_all(rh_lang_emitter *e, rh_lang_operator operation, const rh_lang_value *left,
                                 const rh_lang_value *right)
{
    rh_lang_element element = rh_lang_type_element(left->type);
    rh_lang_value out = {.type = RH_LANG_BOOL};
    if (rh_lang_is_number(left->type)) {
        out.part[0] = rh_lang_emit_compare(e, operation, element, left->part[0], right->part[0]);
        return out;
    }
    // All are equal, or one is unequal. With not-a-number, which is neither, both are false.
    for (int i = 0; i < rh_lang_type_parts(left->type); i++) {
        LLVMValueRef one = rh_lang_emit_compare(e, operation, element, left->part[i], right->part[i]);
        if (i == 0) out.part[0] = one;
        else
            out.part[0] = operation == RH_LANG_EQ ? LLVMBuildAnd(e->builder, out.part[0], one, "")
                                                  : LLVMBuildOr(e->builder, out.part[0], one, "");
    }
    return out;
}

// Sum of products in order of the index, from the first product on.
static LLVMValueRef sum_of_products(rh_lang_emitter *e, rh_lang_element element, const LLVMValueRef *a, int a_step,
                                    const LLVMValueRef *b, int b_step, int count)
{
    LLVMValueRef sum = NULL;
    for (int k = 0; k < count; k++) {
        LLVMValueRef product = rh_lang_emit_operation(e, RH_LANG_MUL, element, a[k * a_step], b[k * b_step]);
        sum = sum ? rh_lang_emit_operation(e, RH_LANG_ADD, element, sum, product) : product;
    }
    return sum;
}

rh_lang_value rh_lang_emit_product(rh_lang_emitter *e, const rh_lang_value *left, const rh_lang_value *right)
{
    bool vector_left = rh_lang_is_vector(left->type), vector_right = rh_lang_is_vector(right->type);
    rh_lang_element element = rh_lang_type_element(left->type);
    rh_lang_value out = {.type = vector_right ? right->type : left->type};
    int side = rh_lang_type_side(vector_left ? right->type : left->type);
    LLVMValueRef row[4];
    const rh_lang_value *vector = vector_left ? left : right;
    for (int k = 0; k < side && (vector_left || vector_right); k++)
        row[k] = k < rh_lang_type_parts(vector->type) ? vector->part[k] : rh_lang_emit_number(e, element, 1);
    for (int i = 0; i < rh_lang_type_parts(out.type); i++) {
        int r = i / side, c = i % side;
        if (vector_left) out.part[i] = sum_of_products(e, element, row, 1, right->part + i, side, side);
        else if (vector_right) out.part[i] = sum_of_products(e, element, left->part + i * side, 1, row, 1, side);
        else out.part[i] = sum_of_products(e, element, left->part + r * side, 1, right->part + c, side, side);
    }
    return out;
}

// Operands have the types of the operator's rule.
rh_lang_value rh_lang_emit_binary(rh_lang_emitter *e, rh_lang_operator operation, const rh_lang_value *left,
                                  const rh_lang_value *right)
{
    if (left->type == RH_LANG_STRING) return join_texts(e, left, right);
    if (operation >= RH_LANG_EQ && operation <= RH_LANG_GE) return compare_all(e, operation, left, right);
    if (operation == RH_LANG_MUL && (rh_lang_is_matrix(left->type) || rh_lang_is_matrix(right->type)))
        return rh_lang_emit_product(e, left, right);
    rh_lang_value out = {.type = left->type};
    for (int i = 0; i < rh_lang_type_parts(left->type); i++)
        out.part[i] = rh_lang_emit_operation(e, operation, rh_lang_type_element(left->type), left->part[i],
                                             right->part[i]);
    return out;
}

rh_lang_value rh_lang_emit_unary(rh_lang_emitter *e, rh_lang_operator operation, const rh_lang_value *operand)
{
    rh_lang_value out = {.type = operand->type};
    bool real = rh_lang_is_floating(operand->type);
    rh_lang_element element = rh_lang_type_element(operand->type);
    if (operation == RH_LANG_NOT) out.type = rh_lang_type_with(operand->type, RH_LANG_E_BOOL);
    for (int i = 0; i < rh_lang_type_parts(operand->type); i++) {
        LLVMValueRef x = operand->part[i];
        if (operation == RH_LANG_PLUS) out.part[i] = x;
        else if (operation == RH_LANG_MINUS)
            out.part[i] = real ? LLVMBuildFNeg(e->builder, x, "") : LLVMBuildNeg(e->builder, x, "");
        else if (operation == RH_LANG_NOT)
            out.part[i] = rh_lang_emit_compare(e, RH_LANG_EQ, element, x, rh_lang_emit_number(e, element, 0));
        else out.part[i] = LLVMBuildNot(e->builder, x, "");
    }
    return out;
}
