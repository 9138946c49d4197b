// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Rheo authors
//
// Functions that are emitted in place of a call: those of a few instructions, so that loops over them still vectorise.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "lang/emit.h"

typedef struct call {
    rh_lang_emitter *e;
    rh_lang_type result;
    const rh_lang_value *arguments;
    int count;
    rh_lang_element element;  // of the first argument, where there is one
} call;

// ---- small steps

static LLVMValueRef op(const call *c, rh_lang_operator operation, LLVMValueRef a, LLVMValueRef b)
{
    return rh_lang_emit_operation(c->e, operation, c->element, a, b);
}
static LLVMValueRef number(const call *c, double value) { return rh_lang_emit_number(c->e, c->element, value); }
static LLVMValueRef choose(const call *c, LLVMValueRef condition, LLVMValueRef a, LLVMValueRef b)
{
    return rh_lang_emit_choose(c->e, condition, a, b);
}
static LLVMValueRef less(const call *c, LLVMValueRef a, LLVMValueRef b) { return op(c, RH_LANG_LT, a, b); }
static LLVMValueRef smaller(const call *c, LLVMValueRef a, LLVMValueRef b) { return choose(c, less(c, b, a), b, a); }
static LLVMValueRef larger(const call *c, LLVMValueRef a, LLVMValueRef b) { return choose(c, less(c, a, b), b, a); }
static bool real(const call *c) { return c->element == RH_LANG_E_FLOAT || c->element == RH_LANG_E_DOUBLE; }

static LLVMValueRef intrinsic(const call *c, const char *name, LLVMValueRef x)
{
    LLVMTypeRef type = c->e->element[c->element];
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(c->e->module, id, &type, 1);
    return LLVMBuildCall2(c->e->builder, LLVMIntrinsicGetType(c->e->context, id, &type, 1), function, &x, 1, "");
}

static LLVMValueRef absolute(const call *c, LLVMValueRef x)
{
    if (real(c)) return intrinsic(c, "llvm.fabs", x);
    return choose(c, less(c, x, number(c, 0)), LLVMBuildNeg(c->e->builder, x, ""), x);
}

static LLVMValueRef sign_is_minus(const call *c, LLVMValueRef x)
{
    LLVMTypeRef type = c->element == RH_LANG_E_FLOAT ? c->e->i32 : c->e->i64;
    return LLVMBuildICmp(c->e->builder, LLVMIntSLT, LLVMBuildBitCast(c->e->builder, x, type, ""),
                         LLVMConstInt(type, 0, 0), "");
}

// ---- one number at a time; `x` holds the arguments

static LLVMValueRef do_abs(const call *c, const LLVMValueRef *x) { return absolute(c, x[0]); }
static LLVMValueRef do_ceil(const call *c, const LLVMValueRef *x) { return intrinsic(c, "llvm.ceil", x[0]); }
static LLVMValueRef do_floor(const call *c, const LLVMValueRef *x) { return intrinsic(c, "llvm.floor", x[0]); }
static LLVMValueRef do_sqrt(const call *c, const LLVMValueRef *x) { return intrinsic(c, "llvm.sqrt", x[0]); }
// What they give of not-a-number is as in OpenVDB AX: min the first of the two, max the second.
static LLVMValueRef first_or_larger(const call *c, LLVMValueRef a, LLVMValueRef b)
{
    return choose(c, less(c, b, a), a, b);
}
static LLVMValueRef do_min(const call *c, const LLVMValueRef *x) { return smaller(c, x[0], x[1]); }
static LLVMValueRef do_max(const call *c, const LLVMValueRef *x) { return first_or_larger(c, x[0], x[1]); }
static LLVMValueRef do_clamp(const call *c, const LLVMValueRef *x)
{
    return smaller(c, first_or_larger(c, x[0], x[1]), x[2]);
}
static LLVMValueRef do_degrees(const call *c, const LLVMValueRef *x)
{
    return op(c, RH_LANG_MUL, x[0], number(c, 180.0 / M_PI));
}
static LLVMValueRef do_radians(const call *c, const LLVMValueRef *x)
{
    return op(c, RH_LANG_MUL, x[0], number(c, M_PI / 180.0));
}
static LLVMValueRef do_floormod(const call *c, const LLVMValueRef *x) { return op(c, RH_LANG_MOD, x[0], x[1]); }
static LLVMValueRef do_truncatemod(const call *c, const LLVMValueRef *x)
{
    return rh_lang_emit_remainder(c->e, c->element, x[0], x[1]);
}
static LLVMValueRef do_signbit(const call *c, const LLVMValueRef *x) { return sign_is_minus(c, x[0]); }

static LLVMValueRef do_euclideanmod(const call *c, const LLVMValueRef *x)
{
    LLVMValueRef rest = rh_lang_emit_remainder(c->e, c->element, x[0], x[1]);
    return choose(c, less(c, rest, number(c, 0)), op(c, RH_LANG_ADD, rest, absolute(c, x[1])), rest);
}

// The processor rounds halves to even, so: cut, and where half or more was cut off go one away from zero.
static LLVMValueRef do_round(const call *c, const LLVMValueRef *x)
{
    LLVMValueRef cut = intrinsic(c, "llvm.trunc", x[0]);
    LLVMValueRef rest = absolute(c, op(c, RH_LANG_SUB, x[0], cut));
    LLVMValueRef one = choose(c, sign_is_minus(c, x[0]), number(c, -1), number(c, 1));
    return choose(c, op(c, RH_LANG_GE, rest, number(c, 0.5)), op(c, RH_LANG_ADD, cut, one), cut);
}

static LLVMValueRef do_sign(const call *c, const LLVMValueRef *x)
{
    LLVMBuilderRef b = c->e->builder;
    LLVMValueRef above = LLVMBuildZExt(b, less(c, number(c, 0), x[0]), c->e->i32, "");
    LLVMValueRef below = LLVMBuildZExt(b, less(c, x[0], number(c, 0)), c->e->i32, "");
    return LLVMBuildSub(b, above, below, "");
}

// Exact at both ends and monotonic: the algorithm of C++20's std::lerp (P0811R3).
static LLVMValueRef do_lerp(const call *c, const LLVMValueRef *x)
{
    LLVMBuilderRef b = c->e->builder;
    LLVMValueRef from = x[0], to = x[1], t = x[2], zero = number(c, 0), one = number(c, 1);
    LLVMValueRef up = LLVMBuildAnd(b, op(c, RH_LANG_LE, from, zero), op(c, RH_LANG_GE, to, zero), "");
    LLVMValueRef down = LLVMBuildAnd(b, op(c, RH_LANG_GE, from, zero), op(c, RH_LANG_LE, to, zero), "");
    LLVMValueRef both = op(c, RH_LANG_ADD, op(c, RH_LANG_MUL, t, to),
                           op(c, RH_LANG_MUL, op(c, RH_LANG_SUB, one, t), from));
    LLVMValueRef line = op(c, RH_LANG_ADD, from, op(c, RH_LANG_MUL, t, op(c, RH_LANG_SUB, to, from)));
    LLVMValueRef beyond = LLVMBuildICmp(b, LLVMIntEQ, less(c, one, t), less(c, from, to), "");
    LLVMValueRef bent = choose(c, beyond, larger(c, to, line), smaller(c, to, line));
    bent = choose(c, op(c, RH_LANG_EQ, t, one), to, bent);
    return choose(c, LLVMBuildOr(b, up, down, ""), both, bent);
}

// The ends of the old range may stand in either order. A range without width, or with an end that is not a number, maps
// to the middle of the new one.
static LLVMValueRef do_fit(const call *c, const LLVMValueRef *x)
{
    LLVMValueRef low = smaller(c, x[1], x[2]), high = larger(c, x[1], x[2]);
    LLVMValueRef cut = smaller(c, first_or_larger(c, x[0], low), high), width = op(c, RH_LANG_SUB, x[2], x[1]);
    LLVMValueRef wide = op(c, RH_LANG_SUB, x[4], x[3]);
    LLVMValueRef way = op(c, RH_LANG_DIV, op(c, RH_LANG_MUL, wide, op(c, RH_LANG_SUB, cut, x[1])), width);
    way = choose(c, op(c, RH_LANG_NE, x[1], x[2]), way, op(c, RH_LANG_MUL, wide, number(c, 0.5)));
    return op(c, RH_LANG_ADD, x[3], way);
}

static const struct {
    const char *name;
    LLVMValueRef (*emit)(const call *c, const LLVMValueRef *x);
} number_functions[] = {
    {"abs", do_abs},
    {"fabs", do_abs},
    {"ceil", do_ceil},
    {"floor", do_floor},
    {"round", do_round},
    {"sqrt", do_sqrt},
    {"min", do_min},
    {"max", do_max},
    {"clamp", do_clamp},
    {"degrees", do_degrees},
    {"radians", do_radians},
    {"floormod", do_floormod},
    {"truncatemod", do_truncatemod},
    {"euclideanmod", do_euclideanmod},
    {"sign", do_sign},
    {"signbit", do_signbit},
    {"lerp", do_lerp},
    {"fit", do_fit},
};

// ---- vectors and matrices

static LLVMValueRef dot_product(const call *c, const rh_lang_value *a, const rh_lang_value *b)
{
    LLVMValueRef sum = NULL;
    for (int i = 0; i < rh_lang_type_parts(a->type); i++) {
        LLVMValueRef product = op(c, RH_LANG_MUL, a->part[i], b->part[i]);
        sum = sum ? op(c, RH_LANG_ADD, sum, product) : product;
    }
    return sum;
}

static rh_lang_value do_dot(const call *c)
{
    return (rh_lang_value){.type = c->result, .part = {dot_product(c, &c->arguments[0], &c->arguments[1])}};
}
static rh_lang_value do_lengthsq(const call *c)
{
    return (rh_lang_value){.type = c->result, .part = {dot_product(c, c->arguments, c->arguments)}};
}

static rh_lang_value do_length(const call *c)
{
    call real_call = *c;
    real_call.element = rh_lang_type_element(c->result);
    rh_lang_value v = rh_lang_emit_convert(c->e, c->arguments,
                                           rh_lang_type_with(c->arguments->type, real_call.element));
    return (rh_lang_value){.type = c->result,
                           .part = {intrinsic(&real_call, "llvm.sqrt", dot_product(&real_call, &v, &v))}};
}

static rh_lang_value do_normalize(const call *c)
{
    call real_call = *c;
    real_call.element = rh_lang_type_element(c->result);
    rh_lang_value v = rh_lang_emit_convert(c->e, c->arguments, c->result);
    LLVMValueRef length = intrinsic(&real_call, "llvm.sqrt", dot_product(&real_call, &v, &v));
    for (int i = 0; i < rh_lang_type_parts(v.type); i++) v.part[i] = op(&real_call, RH_LANG_DIV, v.part[i], length);
    return v;
}

static rh_lang_value do_cross(const call *c)
{
    const LLVMValueRef *a = c->arguments[0].part, *b = c->arguments[1].part;
    rh_lang_value out = {.type = c->result};
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        out.part[i] = op(c, RH_LANG_SUB, op(c, RH_LANG_MUL, a[j], b[k]), op(c, RH_LANG_MUL, a[k], b[j]));
    }
    return out;
}

static rh_lang_value do_diag(const call *c)
{
    rh_lang_value out = rh_lang_emit_zero(c->e, c->result);
    bool build = rh_lang_is_matrix(c->result);
    int side = rh_lang_type_side(build ? c->result : c->arguments->type);
    for (int i = 0; i < side; i++)
        out.part[build ? i * (side + 1) : i] = c->arguments->part[build ? i : i * (side + 1)];
    return out;
}

static rh_lang_value do_identity(const call *c)
{
    rh_lang_value one = {.type = RH_LANG_FLOAT, .part = {rh_lang_emit_number(c->e, RH_LANG_E_FLOAT, 1)}};
    return rh_lang_emit_convert(c->e, &one, c->result);
}

static rh_lang_value do_trace(const call *c)
{
    int side = rh_lang_type_side(c->arguments->type);
    rh_lang_value out = {.type = c->result, .part = {c->arguments->part[0]}};
    for (int i = 1; i < side; i++) out.part[0] = op(c, RH_LANG_ADD, out.part[0], c->arguments->part[i * (side + 1)]);
    return out;
}

static rh_lang_value do_transpose(const call *c)
{
    int side = rh_lang_type_side(c->result);
    rh_lang_value out = {.type = c->result};
    for (int i = 0; i < side * side; i++) out.part[i] = c->arguments->part[i % side * side + i / side];
    return out;
}

static rh_lang_value do_transform(const call *c)
{
    return rh_lang_emit_product(c->e, &c->arguments[0], &c->arguments[1]);
}

// ---- determinants and cofactors, in double for floats too; library/matrices.c has the same in C, for matrices that no
// program made

// The matrix in double; `wide` is the call with operations of doubles.
static rh_lang_value widened(const call *c, call *wide)
{
    *wide = *c;
    wide->element = RH_LANG_E_DOUBLE;
    return rh_lang_emit_convert(c->e, c->arguments, rh_lang_type_with(c->arguments->type, RH_LANG_E_DOUBLE));
}

static LLVMValueRef minor_of(const call *c, LLVMValueRef a, LLVMValueRef b, LLVMValueRef d, LLVMValueRef e)
{
    return op(c, RH_LANG_SUB, op(c, RH_LANG_MUL, a, b), op(c, RH_LANG_MUL, d, e));
}

static rh_lang_value cofactors(const call *c, const LLVMValueRef *m)
{
    rh_lang_value out = {.type = RH_LANG_MAT3D};
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) {
            const LLVMValueRef *a = m + 3 * ((r + 1) % 3), *b = m + 3 * ((r + 2) % 3);
            out.part[3 * r + k] = minor_of(c, a[(k + 1) % 3], b[(k + 2) % 3], a[(k + 2) % 3], b[(k + 1) % 3]);
        }
    return out;
}

static rh_lang_value transposed(const rh_lang_value *m)
{
    rh_lang_value out = {.type = m->type};
    for (int i = 0; i < 9; i++) out.part[i] = m->part[i % 3 * 3 + i / 3];
    return out;
}

static LLVMValueRef determinant_3(const call *c, const LLVMValueRef *m, const rh_lang_value *cofactor)
{
    LLVMValueRef sum = op(c, RH_LANG_MUL, m[0], cofactor->part[0]);
    for (int k = 1; k < 3; k++) sum = op(c, RH_LANG_ADD, sum, op(c, RH_LANG_MUL, m[k], cofactor->part[k]));
    return sum;
}

// By the 2 x 2 minors of the upper and the lower two rows (Laplace).
static LLVMValueRef determinant_4(const call *c, const LLVMValueRef *m)
{
    LLVMValueRef sum = number(c, 0);
    for (int i = 0; i < 3; i++)
        for (int j = i + 1; j < 4; j++) {
            int k = i == 0 ? (j == 1 ? 2 : 1) : 0, l = 6 - i - j - k;
            LLVMValueRef upper = minor_of(c, m[i], m[4 + j], m[j], m[4 + i]),
                         lower = minor_of(c, m[8 + k], m[12 + l], m[8 + l], m[12 + k]);
            sum = op(c, (i + j) % 2 == 1 ? RH_LANG_ADD : RH_LANG_SUB, sum, op(c, RH_LANG_MUL, upper, lower));
        }
    return sum;
}

static rh_lang_value do_determinant(const call *c)
{
    call wide;
    rh_lang_value m = widened(c, &wide), cofactor = {0}, out = {.type = RH_LANG_DOUBLE};
    if (m.type == RH_LANG_MAT3D) cofactor = cofactors(&wide, m.part);
    out.part[0] = m.type == RH_LANG_MAT3D ? determinant_3(&wide, m.part, &cofactor) : determinant_4(&wide, m.part);
    return rh_lang_emit_convert(c->e, &out, c->result);
}

static rh_lang_value do_cofactor(const call *c)
{
    call wide;
    rh_lang_value m = widened(c, &wide), out = cofactors(&wide, m.part);
    return rh_lang_emit_convert(c->e, &out, c->result);
}

static rh_lang_value do_adjoint(const call *c)
{
    call wide;
    rh_lang_value m = widened(c, &wide), cofactor = cofactors(&wide, m.part), out = transposed(&cofactor);
    return rh_lang_emit_convert(c->e, &out, c->result);
}

// A singular matrix is given back as it is.
static rh_lang_value do_inverse(const call *c)
{
    call wide;
    rh_lang_value m = widened(c, &wide), cofactor = cofactors(&wide, m.part), out = transposed(&cofactor);
    LLVMValueRef determinant = determinant_3(&wide, m.part, &cofactor),
                 one_over = op(&wide, RH_LANG_DIV, number(&wide, 1), determinant);
    LLVMValueRef regular = LLVMBuildAnd(c->e->builder, op(&wide, RH_LANG_NE, determinant, number(&wide, 0)),
                                        less(&wide, absolute(&wide, one_over), number(&wide, INFINITY)), "");
    for (int i = 0; i < 9; i++)
        out.part[i] = choose(&wide, regular, op(&wide, RH_LANG_DIV, out.part[i], determinant), m.part[i]);
    return rh_lang_emit_convert(c->e, &out, c->result);
}

// ---- sorting

// Insertion as exchanges of neighbours: equal ones stay in order; a value that is not a number is below and above
// nothing, and stays.
static void insert_all(const call *c, LLVMValueRef *value, LLVMValueRef *index, int count)
{
    for (int last = 1; last < count; last++)
        for (int i = last; i > 0; i--) {
            LLVMValueRef swap = less(c, value[i], value[i - 1]), a = value[i - 1], b = value[i], k = index[i - 1],
                         l = index[i];
            value[i - 1] = choose(c, swap, b, a), value[i] = choose(c, swap, a, b);
            index[i - 1] = choose(c, swap, l, k), index[i] = choose(c, swap, k, l);
        }
}

static rh_lang_value sorted(const call *c, bool indices)
{
    rh_lang_value values = c->arguments[0], order = {.type = c->result};
    int count = rh_lang_type_parts(values.type);
    for (int i = 0; i < count; i++) order.part[i] = rh_lang_emit_integer(c->e, RH_LANG_E_INT32, i);
    insert_all(c, values.part, order.part, count);
    return indices ? order : values;
}

static rh_lang_value do_sort(const call *c) { return sorted(c, false); }
static rh_lang_value do_argsort(const call *c) { return sorted(c, true); }

// ---- colours: A. R. Smith, "Color gamut transform pairs", SIGGRAPH 1978 (the hexcone model)

// One component: the value, rising, falling or low, by the sixth of the circle.
static LLVMValueRef by_sector(const call *c, LLVMValueRef sector, const LLVMValueRef *six)
{
    LLVMValueRef out = six[5];
    for (int i = 5; i-- > 0;) out = choose(c, op(c, RH_LANG_LE, sector, number(c, i)), six[i], out);
    return out;
}

// Hue is a part of the circle, [0, 1). Value is not limited: light may be brighter than one. Without a hue (not a
// number) there is no colour.
static rh_lang_value do_hsvtorgb(const call *c)
{
    const LLVMValueRef *hsv = c->arguments[0].part;
    LLVMValueRef zero = number(c, 0), one = number(c, 1), six = number(c, 6);
    LLVMValueRef hue = op(c, RH_LANG_MUL, six, op(c, RH_LANG_SUB, hsv[0], intrinsic(c, "llvm.floor", hsv[0])));
    LLVMValueRef saturation = smaller(c, first_or_larger(c, hsv[1], zero), one),
                 v = choose(c, op(c, RH_LANG_EQ, hue, hue), hsv[2], zero);
    hue = choose(c, less(c, hue, six), hue, zero);  // 6 by rounding
    LLVMValueRef sector = intrinsic(c, "llvm.floor", hue), part = op(c, RH_LANG_SUB, hue, sector);
    LLVMValueRef low = op(c, RH_LANG_MUL, v, op(c, RH_LANG_SUB, one, saturation));
    LLVMValueRef falling = op(c, RH_LANG_MUL, v, op(c, RH_LANG_SUB, one, op(c, RH_LANG_MUL, saturation, part)));
    LLVMValueRef rest = op(c, RH_LANG_SUB, one, part);
    LLVMValueRef rising = op(c, RH_LANG_MUL, v, op(c, RH_LANG_SUB, one, op(c, RH_LANG_MUL, saturation, rest)));
    const LLVMValueRef red[] = {v, falling, low, low, rising, v}, green[] = {rising, v, v, falling, low, low},
                       blue[] = {low, low, rising, v, v, falling};
    return (rh_lang_value){
        .type = c->result,
        .part = {by_sector(c, sector, red), by_sector(c, sector, green), by_sector(c, sector, blue)}};
}

// Black has no hue and no saturation.
static rh_lang_value do_rgbtohsv(const call *c)
{
    const LLVMValueRef *rgb = c->arguments[0].part;
    LLVMValueRef red = rgb[0], green = rgb[1], blue = rgb[2], zero = number(c, 0),
                 most = first_or_larger(c, red, first_or_larger(c, green, blue));
    LLVMValueRef range = op(c, RH_LANG_SUB, most, smaller(c, red, smaller(c, green, blue)));
    LLVMValueRef from_red = op(c, RH_LANG_DIV, op(c, RH_LANG_SUB, green, blue), range);
    LLVMValueRef from_green = op(c, RH_LANG_ADD, number(c, 2),
                                 op(c, RH_LANG_DIV, op(c, RH_LANG_SUB, blue, red), range));
    LLVMValueRef from_blue = op(c, RH_LANG_ADD, number(c, 4),
                                op(c, RH_LANG_DIV, op(c, RH_LANG_SUB, red, green), range));
    LLVMValueRef hue = choose(c, op(c, RH_LANG_EQ, green, most), from_green, from_blue);
    hue = op(c, RH_LANG_DIV, choose(c, op(c, RH_LANG_EQ, red, most), from_red, hue), number(c, 6));
    hue = choose(c, less(c, hue, zero), op(c, RH_LANG_ADD, hue, number(c, 1)), hue);
    LLVMValueRef black = op(c, RH_LANG_EQ, most, zero),
                 coloured = LLVMBuildAnd(c->e->builder, less(c, zero, range), LLVMBuildNot(c->e->builder, black, ""),
                                         "");
    LLVMValueRef saturation = choose(c, black, zero, op(c, RH_LANG_DIV, range, most));
    return (rh_lang_value){.type = c->result, .part = {choose(c, coloured, hue, zero), saturation, most}};
}

// ---- questions about any or all elements

static LLVMValueRef is_nan(const call *c, LLVMValueRef x)
{
    return LLVMBuildFCmp(c->e->builder, LLVMRealUNO, x, x, "");
}
static LLVMValueRef is_inf(const call *c, LLVMValueRef x)
{
    return op(c, RH_LANG_EQ, absolute(c, x), number(c, INFINITY));
}
static LLVMValueRef is_finite(const call *c, LLVMValueRef x) { return less(c, absolute(c, x), number(c, INFINITY)); }

static rh_lang_value ask(const call *c, LLVMValueRef (*question)(const call *, LLVMValueRef), bool all)
{
    rh_lang_value out = {.type = RH_LANG_BOOL};
    for (int i = 0; i < rh_lang_type_parts(c->arguments->type); i++) {
        LLVMValueRef answer = question(c, c->arguments->part[i]);
        if (i == 0) out.part[0] = answer;
        else
            out.part[0] = all ? LLVMBuildAnd(c->e->builder, out.part[0], answer, "")
                              : LLVMBuildOr(c->e->builder, out.part[0], answer, "");
    }
    return out;
}

static rh_lang_value do_isnan(const call *c) { return ask(c, is_nan, false); }
static rh_lang_value do_isinf(const call *c) { return ask(c, is_inf, false); }
static rh_lang_value do_isfinite(const call *c) { return ask(c, is_finite, true); }

static const struct {
    const char *name;
    rh_lang_value (*emit)(const call *c);
} value_functions[] = {
    {"dot", do_dot},
    {"cross", do_cross},
    {"length", do_length},
    {"lengthsq", do_lengthsq},
    {"normalize", do_normalize},
    {"diag", do_diag},
    {"identity3", do_identity},
    {"identity4", do_identity},
    {"trace", do_trace},
    {"transpose", do_transpose},
    {"transform", do_transform},
    {"pretransform", do_transform},
    {"isnan", do_isnan},
    {"isinf", do_isinf},
    {"isfinite", do_isfinite},
    {"determinant", do_determinant},
    {"cofactor", do_cofactor},
    {"adjoint", do_adjoint},
    {"inverse", do_inverse},
    {"sort", do_sort},
    {"argsort", do_argsort},
    {"hsvtorgb", do_hsvtorgb},
    {"rgbtohsv", do_rgbtohsv},
};

// ---- powers

// The exponent, when it is a literal: a whole number that products can do without being less exact than the C library's
// function. In float these are taken in double and rounded once; a double has nothing wider, so there only the square,
// which is one rounding, too.
static bool whole_exponent(const call *c, int *out)
{
    LLVMValueRef exponent = c->arguments[1].part[0];
    double value;
    LLVMBool lost;
    if (LLVMIsAConstantFP(exponent)) value = LLVMConstRealGetDouble(exponent, &lost);
    else if (LLVMIsAConstantInt(exponent)) value = (double)LLVMConstIntGetSExtValue(exponent);
    else return false;
    int most = c->element == RH_LANG_E_FLOAT ? 8 : 2, least = c->element == RH_LANG_E_FLOAT ? -8 : 1;
    if (!(value >= least && value <= most) || value != floor(value) || value == 0) return false;
    *out = (int)value;
    return true;
}

// x^n by repeated squares; a negative n is one over it. Zeros, infinities and not-a-numbers come out as they do from
// pow.
static LLVMValueRef emit_power(const call *c, int exponent)
{
    call wide = *c;
    wide.element = RH_LANG_E_DOUBLE;
    LLVMValueRef square = rh_lang_emit_cast(c->e, c->arguments[0].part[0], c->element, RH_LANG_E_DOUBLE),
                 product = NULL;
    for (unsigned n = (unsigned)abs(exponent); n; n >>= 1) {
        if (n & 1) product = product ? op(&wide, RH_LANG_MUL, product, square) : square;
        if (n > 1) square = op(&wide, RH_LANG_MUL, square, square);
    }
    if (exponent < 0) product = LLVMBuildFDiv(c->e->builder, number(&wide, 1), product, "");
    return rh_lang_emit_cast(c->e, product, RH_LANG_E_DOUBLE, c->element);
}

bool rh_lang_emit_builtin(rh_lang_emitter *e, const char *name, rh_lang_type result, const rh_lang_value *arguments,
                          int count, rh_lang_value *out)
{
    call c = {.e = e, .result = result, .arguments = arguments, .count = count};
    if (count > 0) c.element = rh_lang_type_element(arguments[0].type);
    int exponent;
    if (strcmp(name, "pow") == 0 && whole_exponent(&c, &exponent)) {
        *out = (rh_lang_value){.type = result, .part = {emit_power(&c, exponent)}};
        return true;
    }
    for (size_t i = 0; i < sizeof value_functions / sizeof value_functions[0]; i++)
        if (strcmp(name, value_functions[i].name) == 0) {
            *out = value_functions[i].emit(&c);
            return true;
        }
    for (size_t i = 0; i < sizeof number_functions / sizeof number_functions[0]; i++) {
        if (strcmp(name, number_functions[i].name) != 0) continue;
        // fit( ) of integers computes in double.
        bool as_result = strcmp(name, "fit") == 0;
        LLVMValueRef x[8];
        for (int k = 0; k < count; k++)
            x[k] = as_result ? rh_lang_emit_cast(e, arguments[k].part[0], c.element, rh_lang_type_element(result))
                             : arguments[k].part[0];
        if (as_result) c.element = rh_lang_type_element(result);
        *out = (rh_lang_value){.type = result, .part = {number_functions[i].emit(&c, x)}};
        return true;
    }
    return false;
}
